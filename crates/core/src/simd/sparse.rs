//! The pull-back through open units alone.
//!
//! A clipped unit passes a cotangent on only where it is open, 0 < v < 1. In a trained model most are shut: then it is
//! cheaper to go window by window through the few that are open than to multiply by all. For a window,
//!
//! ```text
//! q_l = in_l · d        dz += q_l out_l        G_l += q_l z        over its open units l,
//! ```
//!
//! with vectors along the latent states. Each group of lanes decides for itself, so that the bits do not depend on how
//! many groups stand in a register.

use std::ops::Range;

use fearless_simd::prelude::{SimdBase, SimdFloat};
use fearless_simd::{Simd, f32x8};

use super::lanes::sum;
use super::{GROUP, Groups, Lanes, Lanes8, UnitVector};

/// Most latent states: what is kept of a window then fits into registers.
pub(crate) const MOST_LATENT: usize = 4 * GROUP;

/// Groups with a smaller share of open units go through these alone: an open one costs about four times as much as one
/// of a product.
const FEW: f64 = 0.25;

/// Every so many steps open units are counted.
const COUNTED: usize = 4;

/// Rows of M weights, one a unit, padded to whole vectors.
#[derive(Debug, Clone)]
pub(crate) struct UnitRows {
    latent: usize,
    rows: Vec<Lanes8>,
}

impl UnitRows {
    /// Room for `hidden` rows of `latent` weights, zero.
    pub(crate) fn new(latent: usize, hidden: usize) -> UnitRows {
        UnitRows {
            latent,
            rows: vec![Lanes8::ZERO; hidden * latent.div_ceil(GROUP)],
        }
    }

    /// The row of a unit.
    #[inline(always)]
    pub(crate) fn of(&self, unit: usize) -> &[Lanes8] {
        let vectors = self.latent.div_ceil(GROUP);
        &self.rows[unit * vectors..][..vectors]
    }

    /// Takes an L × M matrix, row by row.
    pub(crate) fn fill_rows(&mut self, w: &[f32]) {
        let latent = self.latent;
        let units = self.rows.chunks_exact_mut(latent.div_ceil(GROUP));
        for (unit, row) in units.zip(w.chunks_exact(latent)) {
            for (to, from) in unit.iter_mut().zip(row.chunks(GROUP)) {
                to.lanes_mut()[..from.len()].copy_from_slice(from);
            }
        }
    }

    /// Takes an L × M matrix, column by column.
    pub(crate) fn fill_columns(&mut self, w: &[f32]) {
        let vectors = self.latent.div_ceil(GROUP);
        let hidden = self.rows.len() / vectors;
        for (v, columns) in w.chunks(GROUP * hidden).enumerate() {
            let units = self.rows[v..].iter_mut().step_by(vectors);
            for (unit, to) in units.enumerate() {
                let places = to.lanes_mut().iter_mut();
                let from = columns[unit..].iter().step_by(hidden);
                places.zip(from).for_each(|(to, &from)| *to = from);
            }
        }
    }
}

/// Room for pull-backs through open units, and the sums G.
#[derive(Debug, Clone)]
pub(crate) struct OpenUnits<P> {
    latent: usize,
    hidden: usize,
    /// Whether a group goes through open units alone.
    groups: [bool; 2],
    /// Open units of each lane of a group, and how many there are. Eight are written at a time.
    lists: [Vec<u32>; GROUP],
    counts: [usize; GROUP],
    /// d, z and dz of each lane of a group, padded to whole vectors.
    d: Vec<Lanes8>,
    z: Vec<Lanes8>,
    dz: Vec<Lanes8>,
    /// G of each group.
    sums: [Vec<Lanes8>; 2],
    /// dz of all lanes.
    pulled: Vec<P>,
}

impl<P: Lanes> OpenUnits<P> {
    /// Room for these sizes.
    pub(crate) fn new(latent: usize, hidden: usize) -> OpenUnits<P> {
        let vectors = latent.div_ceil(GROUP);
        let of_lanes = vec![Lanes8::ZERO; GROUP * vectors];
        let sums = vec![Lanes8::ZERO; hidden * vectors];
        OpenUnits {
            latent,
            hidden,
            groups: [false; 2],
            lists: std::array::from_fn(|_| vec![0; hidden + GROUP]),
            counts: [0; GROUP],
            d: of_lanes.clone(),
            z: of_lanes.clone(),
            dz: of_lanes,
            sums: [sums.clone(), sums],
            pulled: vec![P::ZERO; latent],
        }
    }

    /// Whether any group goes through open units alone.
    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.groups != [false; 2]
    }

    /// Whether all groups go through open units alone.
    #[inline(always)]
    pub(crate) fn all(&self) -> bool {
        self.groups[..P::WIDTH / GROUP].iter().all(|&alone| alone)
    }

    /// Whether a group goes through open units alone.
    pub(crate) fn alone(&self, group: usize) -> bool {
        self.groups[group]
    }

    /// Puts G, L × M, into the given place of the groups that went through open units alone.
    pub(crate) fn put_sums(&self, place: &Range<usize>, groups: &mut Groups<'_>) {
        let vectors = self.latent.div_ceil(GROUP);
        let all = groups.0.iter_mut().zip(&self.sums).zip(self.groups);
        for ((to, sums), _) in all.filter(|(_, alone)| *alone) {
            let rows = to[place.clone()].chunks_exact_mut(self.latent);
            for (to, row) in rows.zip(sums.chunks_exact(vectors)) {
                for (to, sums) in to.chunks_mut(GROUP).zip(row) {
                    to.copy_from_slice(&sums.lanes()[..to.len()]);
                }
            }
        }
    }

    /// dz of all lanes, of the last step.
    pub(crate) fn pulled(&mut self) -> &mut [P] {
        &mut self.pulled
    }

    /// Starts a sweep over windows whose units have these values, step by step: each group chooses its way.
    #[inline(always)]
    pub(crate) fn start<'a, S: Simd>(
        &mut self,
        simd: S,
        steps: impl Iterator<Item = &'a [P::Units]>,
        is_open: impl Fn(UnitVector<P, S>) -> u64,
    ) {
        let (mut open, mut of) = ([0; 2], 0);
        for values in steps.step_by(COUNTED) {
            of += GROUP * self.hidden;
            for value in values {
                let mask = is_open(value.load(simd));
                for (group, open) in open.iter_mut().enumerate() {
                    *open += of_group::<P>(mask, group).count_ones() as usize;
                }
            }
        }
        for (group, open) in open.into_iter().enumerate().take(P::WIDTH / GROUP) {
            self.groups[group] = (open as f64) < FEW * of as f64;
            self.sums[group].fill(Lanes8::ZERO);
        }
    }

    /// One step back for a group: its lanes of dz, and what it adds to G, from z, the units' values and d.
    pub(crate) fn pull_back<S: Simd>(
        &mut self,
        simd: S,
        group: usize,
        (z, values, d): (&[P], &[P::Units], &[P]),
        weights: (&UnitRows, &UnitRows),
        is_open: impl Fn(UnitVector<P, S>) -> u64,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                self.list(simd, group, values, is_open);
                transpose(z, group, &mut self.z);
                transpose(d, group, &mut self.d);
                match self.latent.div_ceil(GROUP) {
                    1 => self.pull_lanes::<S, 1>(simd, group, weights),
                    2 => self.pull_lanes::<S, 2>(simd, group, weights),
                    3 => self.pull_lanes::<S, 3>(simd, group, weights),
                    _ => self.pull_lanes::<S, 4>(simd, group, weights),
                }
                transpose_back(&self.dz, group, &mut self.pulled);
            },
        );
    }

    /// Lists the open units of each lane.
    #[inline(always)]
    fn list<S: Simd>(
        &mut self,
        simd: S,
        group: usize,
        values: &[P::Units],
        is_open: impl Fn(UnitVector<P, S>) -> u64,
    ) {
        self.counts = [0; GROUP];
        for (i, values) in values.chunks(GROUP / P::ABREAST).enumerate() {
            let mut masks = 0;
            for (r, value) in values.iter().enumerate() {
                let mask = of_group::<P>(is_open(value.load(simd)), group);
                masks |= mask << (P::ABREAST * GROUP * r);
            }
            let by_lane = match P::ABREAST {
                1 => transposed_bits(masks),
                _ => transposed_pairs(masks),
            };
            let first = (GROUP * i) as u32;
            for (lane, mask) in by_lane.to_le_bytes().into_iter().enumerate() {
                self.append(lane, first, mask);
            }
        }
    }

    /// Appends the units from `first` on whose bits are set to a lane's list: without a branch, which would be guessed
    /// wrong half of the time.
    #[inline(always)]
    fn append(&mut self, lane: usize, first: u32, mask: u8) {
        let count = self.counts[lane];
        let places = self.lists[lane][count..].first_chunk_mut::<GROUP>();
        let places = places.expect("lists have room for eight more");
        for (place, bit) in places.iter_mut().zip(BITS[usize::from(mask)]) {
            *place = first + bit;
        }
        self.counts[lane] = count + mask.count_ones() as usize;
    }

    /// Goes through the lists, with C vectors along the latent states.
    #[inline(always)]
    fn pull_lanes<S: Simd, const C: usize>(
        &mut self,
        simd: S,
        group: usize,
        (input, output): (&UnitRows, &UnitRows),
    ) {
        let (input, output) = (
            input.rows.as_chunks::<C>().0,
            output.rows.as_chunks::<C>().0,
        );
        let sums = self.sums[group].as_chunks_mut::<C>().0;
        let (z, d) = (self.z.as_chunks::<C>().0, self.d.as_chunks::<C>().0);
        let lanes = z.iter().zip(d).zip(self.dz.as_chunks_mut::<C>().0);
        let lists = self.lists.iter().zip(self.counts);
        for (((z, d), dz), (list, count)) in lanes.zip(lists) {
            let (z, d) = (load(simd, z), load(simd, d));
            let mut pulled = [f32x8::splat(simd, 0.0); C];
            for &l in &list[..count] {
                let l = l as usize;
                let q = f32x8::splat(simd, dot(simd, &input[l], &d));
                for c in 0..C {
                    pulled[c] = q.mul_add(output[l][c].load(simd), pulled[c]);
                    let sum = &mut sums[l][c];
                    sum.store(q.mul_add(z[c], sum.load(simd)));
                }
            }
            for c in 0..C {
                dz[c].store(pulled[c]);
            }
        }
    }
}

/// The set bits of every byte, lowest first; what stands behind them does not count.
const BITS: [[u32; GROUP]; 256] = bits();

const fn bits() -> [[u32; GROUP]; 256] {
    let mut table = [[0; GROUP]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < GROUP {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit as u32;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Of a register's mask, the bits of a group of windows; those of two units abreast are one group.
#[inline(always)]
fn of_group<P: Lanes>(mask: u64, group: usize) -> u64 {
    match (P::ABREAST, group) {
        (1, _) => mask >> (GROUP * group) & 0xFF,
        (_, 0) => mask,
        _ => 0,
    }
}

/// Bit i of byte j becomes bit j of byte i: blocks of 1, 2 and 4 bits change places across the diagonal.
fn transposed_bits(x: u64) -> u64 {
    exchange(
        x,
        [
            (7, 0x00AA_00AA_00AA_00AA),
            (14, 0x0000_CCCC_0000_CCCC),
            (28, 0x0000_0000_F0F0_F0F0),
        ],
    )
}

/// Pair i of word j, of sixteen bits each, becomes pair j of byte i. Of the six bits of a place, two for the word, three
/// for the pair and one within it, the first two go behind the next three by four exchanges.
fn transposed_pairs(x: u64) -> u64 {
    exchange(
        x,
        [
            (24, 0x0000_0000_FF00_FF00),
            (12, 0x0000_F0F0_0000_F0F0),
            (6, 0x00CC_00CC_00CC_00CC),
            (2, 0x0C0C_0C0C_0C0C_0C0C),
        ],
    )
}

/// Exchanges the bits of each mask with those `shift` places above them, one mask after another.
#[inline(always)]
fn exchange<const N: usize>(x: u64, exchanges: [(u32, u64); N]) -> u64 {
    exchanges.into_iter().fold(x, |x, (shift, mask)| {
        let change = (x ^ (x >> shift)) & mask;
        x ^ change ^ (change << shift)
    })
}

#[inline(always)]
fn load<S: Simd, const C: usize>(simd: S, row: &[Lanes8; C]) -> [f32x8<S>; C] {
    std::array::from_fn(
        #[inline(always)]
        |c| row[c].load(simd),
    )
}

/// Σ w x along the vectors of a row.
#[inline(always)]
fn dot<S: Simd, const C: usize>(simd: S, w: &[Lanes8; C], x: &[f32x8<S>; C]) -> f32 {
    let mut products = w[0].load(simd) * x[0];
    for c in 1..C {
        products = w[c].load(simd).mul_add(x[c], products);
    }
    sum(products)
}

/// From features of lanes to lanes of features.
#[inline(always)]
fn transpose<P: Lanes>(features: &[P], group: usize, lanes: &mut [Lanes8]) {
    let vectors = lanes.len() / GROUP;
    for (m, feature) in features.iter().enumerate() {
        let values = &feature.lanes()[group * GROUP..][..GROUP];
        for (lane, &value) in values.iter().enumerate() {
            lanes[lane * vectors + m / GROUP].lanes_mut()[m % GROUP] = value;
        }
    }
}

/// From lanes of features to features of lanes.
#[inline(always)]
fn transpose_back<P: Lanes>(lanes: &[Lanes8], group: usize, features: &mut [P]) {
    let vectors = lanes.len() / GROUP;
    for (m, feature) in features.iter_mut().enumerate() {
        let values = &mut feature.lanes_mut()[group * GROUP..][..GROUP];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = lanes[lane * vectors + m / GROUP].lanes()[m % GROUP];
        }
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::prelude::SimdMask;

    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::simd::{Isa, Task, dispatch};

    const LATENT: usize = 11;
    const HIDDEN: usize = 21;

    #[test]
    fn rows_of_units_are_the_same_by_rows_and_by_columns() {
        let number = |l: usize, m: usize| (100 * l + m) as f32;
        let by_rows: Vec<f32> = (0..HIDDEN * LATENT)
            .map(|i| number(i / LATENT, i % LATENT))
            .collect();
        let by_columns: Vec<f32> = (0..HIDDEN * LATENT)
            .map(|i| number(i % HIDDEN, i / HIDDEN))
            .collect();
        let mut units = [UnitRows::new(LATENT, HIDDEN), UnitRows::new(LATENT, HIDDEN)];
        units[0].fill_rows(&by_rows);
        units[1].fill_columns(&by_columns);
        for units in &units {
            for l in 0..HIDDEN {
                let row = units.of(l).iter().flat_map(Lanes::lanes);
                let expected: Vec<f32> = (0..LATENT).map(|m| number(l, m)).collect();
                assert!(row.take(LATENT).eq(&expected), "{l}");
            }
        }
    }

    /// z, units' values, d, then weights in and out.
    struct Pull<'a> {
        open: &'a mut OpenUnits<Lanes8>,
        z: &'a [Lanes8],
        values: &'a [Lanes8],
        d: &'a [Lanes8],
        weights: (&'a UnitRows, &'a UnitRows),
    }

    impl Task for Pull<'_> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            let is_open = |v: f32x8<S>| v.simd_gt(f32x8::splat(simd, 0.5)).to_bitmask();
            self.open.start(simd, [self.values].into_iter(), is_open);
            let at = (self.z, self.values, self.d);
            self.open.pull_back(simd, 0, at, self.weights, is_open);
        }
    }

    fn numbers(rng: &mut Rng, count: usize) -> Vec<Lanes8> {
        let mut numbers = vec![Lanes8::ZERO; count];
        for lanes in &mut numbers {
            lanes.lanes_mut().fill_with(|| rng.normal() as f32);
        }
        numbers
    }

    /// A tenth of the units are open: of N(0, 1) those above 1.28, here shifted to 0.5.
    #[test]
    fn open_units_are_pulled_back_as_all_are() {
        for isa in Isa::available() {
            let mut rng = Rng::new(1, Stream::Parameters);
            let (z, d) = (numbers(&mut rng, LATENT), numbers(&mut rng, LATENT));
            let mut values = numbers(&mut rng, HIDDEN);
            let all = values.iter_mut().flat_map(Lanes::lanes_mut);
            all.for_each(|v| *v -= 0.78);
            let entries: Vec<[f32; LATENT]> = (0..2 * HIDDEN)
                .map(|_| std::array::from_fn(|_| rng.normal() as f32))
                .collect();
            let mut w1 = UnitRows::new(LATENT, HIDDEN);
            let mut w2 = w1.clone();
            let rows = entries.as_flattened();
            w1.fill_rows(&rows[..HIDDEN * LATENT]);
            w2.fill_rows(&rows[HIDDEN * LATENT..]);
            let mut open = OpenUnits::new(LATENT, HIDDEN);
            let pull = Pull {
                open: &mut open,
                z: &z,
                values: &values,
                d: &d,
                weights: (&w1, &w2),
            };
            dispatch::<Lanes8, _>(isa, pull);
            assert!(open.any() && open.all() && open.alone(0));
            let mut sums = vec![0.0; HIDDEN * LATENT];
            let mut dz = [[0.0; GROUP]; LATENT];
            for (l, lane) in (0..HIDDEN).flat_map(|l| (0..GROUP).map(move |lane| (l, lane))) {
                if values[l].lanes()[lane] > 0.5 {
                    let of = |v: &[Lanes8], m: usize| v[m].lanes()[lane];
                    let q: f32 = (0..LATENT).map(|m| entries[l][m] * of(&d, m)).sum();
                    for m in 0..LATENT {
                        dz[m][lane] += q * entries[HIDDEN + l][m];
                        sums[l * LATENT + m] += q * of(&z, m);
                    }
                }
            }
            let mut found = [vec![0.0; HIDDEN * LATENT], vec![]];
            open.put_sums(&(0..HIDDEN * LATENT), &mut Groups(&mut found));
            // Sums of eleven products of order one, over at most ten units: a hundred roundings of 6e-8.
            let close = |a: f32, b: f32| (a - b).abs() < 1e-5 * (1.0 + b.abs());
            assert!(found[0].iter().zip(&sums).all(|(&a, &b)| close(a, b)));
            for (pulled, dz) in open.pulled().iter().zip(dz) {
                assert!(pulled.lanes().iter().zip(dz).all(|(&a, b)| close(a, b)));
            }
        }
    }

    #[test]
    fn bits_change_rows_and_columns() {
        for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
            assert_eq!(transposed_bits(1 << (8 * j + i)), 1 << (8 * i + j));
        }
        let (some, others) = (0x0123_4567_89AB_CDEF, 0xF00F_1234_0000_8001);
        let both = transposed_bits(some) ^ transposed_bits(others);
        assert_eq!(transposed_bits(some ^ others), both);
    }

    #[test]
    fn pairs_of_bits_change_rows_and_columns() {
        for (word, pair, bit) in (0..64).map(|i| (i / 16, i / 2 % 8, i % 2)) {
            let found = transposed_pairs(1 << (16 * word + 2 * pair + bit));
            assert_eq!(found, 1 << (8 * pair + 2 * word + bit));
        }
    }

    #[test]
    fn bits_of_a_byte_are_in_order() {
        for byte in 0..=255u8 {
            let set: Vec<u32> = (0..8).filter(|bit| byte >> bit & 1 == 1).collect();
            assert_eq!(BITS[usize::from(byte)][..set.len()], set);
        }
    }
}
