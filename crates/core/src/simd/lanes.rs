//! One feature of 8 or 16 windows side by side, aligned to a vector register.
//!
//! A register of sixteen lanes is half empty with eight windows, as two threads have them of a batch of sixteen. The
//! units of a hidden layer then stand in pairs ([`Paired8`]): lanes 2k and 2k + 1 are window k of a unit and of the next
//! one. A weight pair is one broadcast of eight bytes, a state stands twice, and what comes out of a layer is the sum of
//! the two units' parts.

use fearless_simd::prelude::{Bytes, SimdBase, SimdFloat};
use fearless_simd::{ExtractToken, Simd, f32x8, f32x16, u64x4, u64x8};

/// Lanes are summed in groups of so many; a register holds one or two groups.
pub(crate) const GROUP: usize = 8;

/// A vector's worth of numbers in memory.
pub(crate) trait Lanes: Copy + Send + Sync + 'static {
    /// Number of lanes.
    const WIDTH: usize;
    /// Zero in every lane.
    const ZERO: Self;
    /// The register.
    type Vector<S: Simd>: SimdFloat<S, Element = f32>;

    /// From memory to a register.
    fn load<S: Simd>(&self, simd: S) -> Self::Vector<S>;

    /// From a register to memory.
    fn store<S: Simd>(&mut self, v: Self::Vector<S>);

    /// A group of lanes, from a register to memory.
    fn store_group<S: Simd>(&mut self, group: usize, v: f32x8<S>);

    /// A group of lanes in every group of a register.
    fn repeat<S: Simd>(simd: S, group: &Lanes8) -> Self::Vector<S>;

    /// The lanes as numbers.
    fn lanes(&self) -> &[f32];

    /// The lanes as numbers to be set.
    fn lanes_mut(&mut self) -> &mut [f32];

    /// The sum over each group of lanes; the second is 0 where there is one group.
    fn group_sums<S: Simd>(v: Self::Vector<S>) -> [f32; 2];

    /// Whether registers are wider than AVX2 has them; there are then 32 of them instead of 16.
    const NEEDS_AVX512: bool;

    /// Units of a layer that stand side by side in a register.
    const ABREAST: usize;

    /// Such registers in memory.
    type Units: Lanes;

    /// Every lane once for each unit abreast.
    fn widen<S: Simd>(v: Self::Vector<S>) -> UnitVector<Self, S>;

    /// Rows of lanes, each lane once for each unit abreast; where there is one unit, the rows themselves.
    fn widen_all<'a, S: Simd>(
        simd: S,
        rows: &'a [Self],
        room: &'a mut [Self::Units],
    ) -> &'a [Self::Units];

    /// The lanes for the first of the units abreast, zero for others.
    fn first<S: Simd>(v: Self::Vector<S>) -> UnitVector<Self, S>;

    /// The lanes of one of the units abreast.
    fn unit<S: Simd>(v: UnitVector<Self, S>, place: usize) -> Self::Vector<S>;

    /// The sum over the units abreast.
    fn narrow<S: Simd>(v: UnitVector<Self, S>) -> Self::Vector<S>;

    /// Two numbers in turn in all lanes.
    fn in_turn<S: Simd>(simd: S, numbers: [f32; 2]) -> Self::Vector<S>;
}

/// A register of units.
pub(crate) type UnitVector<P, S> = <<P as Lanes>::Units as Lanes>::Vector<S>;

/// A weight that all lanes share.
pub(crate) trait Weight {
    /// The weight in every lane.
    fn spread<S: Simd, P: Lanes>(&self, simd: S) -> P::Vector<S>;
}

impl Weight for f32 {
    #[inline(always)]
    fn spread<S: Simd, P: Lanes>(&self, simd: S) -> P::Vector<S> {
        P::Vector::splat(simd, *self)
    }
}

impl Weight for Lanes8 {
    #[inline(always)]
    fn spread<S: Simd, P: Lanes>(&self, simd: S) -> P::Vector<S> {
        P::repeat(simd, self)
    }
}

/// Weights of two units abreast.
impl Weight for [f32; 2] {
    #[inline(always)]
    fn spread<S: Simd, P: Lanes>(&self, simd: S) -> P::Vector<S> {
        P::in_turn(simd, *self)
    }
}

/// Eight lanes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Lanes8([f32; 8]);

/// Eight lanes beside registers of sixteen, in which units stand in pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paired8(Lanes8);

/// Sixteen lanes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Lanes16([f32; 16]);

impl Lanes for Lanes8 {
    const WIDTH: usize = 8;
    const ZERO: Lanes8 = Lanes8([0.0; 8]);
    type Vector<S: Simd> = f32x8<S>;

    #[inline(always)]
    fn load<S: Simd>(&self, simd: S) -> f32x8<S> {
        f32x8::load_array_ref(simd, &self.0)
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, v: f32x8<S>) {
        v.store_array(&mut self.0);
    }

    #[inline(always)]
    fn store_group<S: Simd>(&mut self, _group: usize, v: f32x8<S>) {
        self.store(v);
    }

    #[inline(always)]
    fn repeat<S: Simd>(simd: S, group: &Lanes8) -> f32x8<S> {
        group.load(simd)
    }

    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        &self.0
    }

    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }

    #[inline(always)]
    fn group_sums<S: Simd>(v: f32x8<S>) -> [f32; 2] {
        [sum(v), 0.0]
    }

    const NEEDS_AVX512: bool = false;
    const ABREAST: usize = 1;
    type Units = Self;

    #[inline(always)]
    fn widen<S: Simd>(v: f32x8<S>) -> f32x8<S> {
        v
    }

    #[inline(always)]
    fn widen_all<'a, S: Simd>(_simd: S, rows: &'a [Self], _room: &'a mut [Self]) -> &'a [Self] {
        rows
    }

    #[inline(always)]
    fn first<S: Simd>(v: f32x8<S>) -> f32x8<S> {
        v
    }

    #[inline(always)]
    fn unit<S: Simd>(v: f32x8<S>, _place: usize) -> f32x8<S> {
        v
    }

    #[inline(always)]
    fn narrow<S: Simd>(v: f32x8<S>) -> f32x8<S> {
        v
    }

    #[inline(always)]
    fn in_turn<S: Simd>(simd: S, numbers: [f32; 2]) -> f32x8<S> {
        u64x4::splat(simd, bits_of(numbers)).bitcast()
    }
}

impl Lanes for Lanes16 {
    const WIDTH: usize = 16;
    const ZERO: Lanes16 = Lanes16([0.0; 16]);
    type Vector<S: Simd> = f32x16<S>;

    #[inline(always)]
    fn load<S: Simd>(&self, simd: S) -> f32x16<S> {
        f32x16::load_array_ref(simd, &self.0)
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, v: f32x16<S>) {
        v.store_array(&mut self.0);
    }

    #[inline(always)]
    fn store_group<S: Simd>(&mut self, group: usize, v: f32x8<S>) {
        v.store_array(&mut self.0.as_chunks_mut::<GROUP>().0[group]);
    }

    #[inline(always)]
    fn repeat<S: Simd>(simd: S, group: &Lanes8) -> f32x16<S> {
        let group = group.load(simd);
        simd.combine_f32x8(group, group)
    }

    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        &self.0
    }

    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }

    #[inline(always)]
    fn group_sums<S: Simd>(v: f32x16<S>) -> [f32; 2] {
        let simd = v.token();
        let (low, high) = simd.split_f32x16(v);
        [sum(low), sum(high)]
    }

    const NEEDS_AVX512: bool = true;
    const ABREAST: usize = 1;
    type Units = Self;

    #[inline(always)]
    fn widen<S: Simd>(v: f32x16<S>) -> f32x16<S> {
        v
    }

    #[inline(always)]
    fn widen_all<'a, S: Simd>(_simd: S, rows: &'a [Self], _room: &'a mut [Self]) -> &'a [Self] {
        rows
    }

    #[inline(always)]
    fn first<S: Simd>(v: f32x16<S>) -> f32x16<S> {
        v
    }

    #[inline(always)]
    fn unit<S: Simd>(v: f32x16<S>, _place: usize) -> f32x16<S> {
        v
    }

    #[inline(always)]
    fn narrow<S: Simd>(v: f32x16<S>) -> f32x16<S> {
        v
    }

    #[inline(always)]
    fn in_turn<S: Simd>(simd: S, numbers: [f32; 2]) -> f32x16<S> {
        u64x8::splat(simd, bits_of(numbers)).bitcast()
    }
}

impl Lanes for Paired8 {
    const WIDTH: usize = 8;
    const ZERO: Paired8 = Paired8(Lanes8::ZERO);
    type Vector<S: Simd> = f32x8<S>;

    #[inline(always)]
    fn load<S: Simd>(&self, simd: S) -> f32x8<S> {
        self.0.load(simd)
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, v: f32x8<S>) {
        self.0.store(v);
    }

    #[inline(always)]
    fn store_group<S: Simd>(&mut self, group: usize, v: f32x8<S>) {
        self.0.store_group(group, v);
    }

    #[inline(always)]
    fn repeat<S: Simd>(simd: S, group: &Lanes8) -> f32x8<S> {
        Lanes8::repeat(simd, group)
    }

    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        self.0.lanes()
    }

    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        self.0.lanes_mut()
    }

    #[inline(always)]
    fn group_sums<S: Simd>(v: f32x8<S>) -> [f32; 2] {
        Lanes8::group_sums(v)
    }

    const NEEDS_AVX512: bool = true;
    const ABREAST: usize = 2;
    type Units = Lanes16;

    #[inline(always)]
    fn widen<S: Simd>(v: f32x8<S>) -> f32x16<S> {
        let simd = v.token();
        let twice = simd.combine_f32x8(v, v);
        simd.zip_low_f32x16(twice, twice)
    }

    #[inline(always)]
    fn widen_all<'a, S: Simd>(
        simd: S,
        rows: &'a [Paired8],
        room: &'a mut [Lanes16],
    ) -> &'a [Lanes16] {
        let room = &mut room[..rows.len()];
        for (to, row) in room.iter_mut().zip(rows) {
            to.store(Paired8::widen(row.load(simd)));
        }
        room
    }

    #[inline(always)]
    fn first<S: Simd>(v: f32x8<S>) -> f32x16<S> {
        let simd = v.token();
        let twice = simd.combine_f32x8(v, v);
        simd.zip_low_f32x16(twice, f32x16::splat(simd, 0.0))
    }

    #[inline(always)]
    fn unit<S: Simd>(v: f32x16<S>, place: usize) -> f32x8<S> {
        let simd = v.token();
        let unit = match place {
            0 => simd.unzip_low_f32x16(v, v),
            _ => simd.unzip_high_f32x16(v, v),
        };
        simd.split_f32x16(unit).0
    }

    #[inline(always)]
    fn narrow<S: Simd>(v: f32x16<S>) -> f32x8<S> {
        Paired8::unit(v, 0) + Paired8::unit(v, 1)
    }

    #[inline(always)]
    fn in_turn<S: Simd>(simd: S, numbers: [f32; 2]) -> f32x8<S> {
        Lanes8::in_turn(simd, numbers)
    }
}

/// [f(0), f(1), …]. What `std::array::from_fn` calls is not always inlined into kernels: its registers then go through memory.
#[inline(always)]
pub(crate) fn filled<T: Copy, const N: usize>(blank: T, f: impl Fn(usize) -> T) -> [T; N] {
    let mut all = [blank; N];
    for (i, to) in all.iter_mut().enumerate() {
        *to = f(i);
    }
    all
}

/// Two numbers as the bits of one.
#[inline(always)]
fn bits_of([a, b]: [f32; 2]) -> u64 {
    u64::from(a.to_bits()) | u64::from(b.to_bits()) << 32
}

/// The sum of a group in a fixed order, the same on every instruction set: halves, then pairs.
#[inline(always)]
pub(super) fn sum<S: Simd>(v: f32x8<S>) -> f32 {
    let (low, high) = v.token().split_f32x8(v);
    let [a, b, c, d] = *(low + high);
    (a + c) + (b + d)
}
