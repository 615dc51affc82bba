//! One feature of 8 or 16 windows side by side, aligned to a vector register.

use fearless_simd::prelude::{SimdBase, SimdFloat};
use fearless_simd::{ExtractToken, Simd, f32x8, f32x16};

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

    /// A group of lanes, from memory to a register.
    fn load_group<S: Simd>(&self, simd: S, group: usize) -> f32x8<S>;

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
}

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

/// Eight lanes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Lanes8([f32; 8]);

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
    fn load_group<S: Simd>(&self, simd: S, _group: usize) -> f32x8<S> {
        self.load(simd)
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
    fn load_group<S: Simd>(&self, simd: S, group: usize) -> f32x8<S> {
        f32x8::load_array_ref(simd, &self.0.as_chunks::<GROUP>().0[group])
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
}

/// The sum of a group in a fixed order, the same on every instruction set: halves, then pairs.
#[inline(always)]
pub(super) fn sum<S: Simd>(v: f32x8<S>) -> f32 {
    let (low, high) = v.token().split_f32x8(v);
    let [a, b, c, d] = *(low + high);
    (a + c) + (b + d)
}
