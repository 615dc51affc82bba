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
use fearless_simd::{Simd, f32x8, f32x16, u32x8};

use super::lanes::sum;
use super::{GROUP, Groups, Lanes, Lanes16, UnitVector, filled};

/// Latent states of a vector along them.
const ALONG: usize = Lanes16::WIDTH;

/// Most latent states of a layer whose open units are gone through alone: two vectors along them.
pub(crate) const MOST_LATENT: usize = 2 * ALONG;

/// Most windows side by side.
const MOST_WINDOWS: usize = Lanes16::WIDTH;

/// Units that are listed at a time, a bit each in a byte.
const LISTED: usize = 8;

/// Groups with a smaller share of open units go through these alone: an open one costs about four times as much as one
/// of a product.
const FEW: f64 = 0.25;

/// Every so many steps open units are counted.
const COUNTED: usize = 4;

/// Rows of M weights, one per unit, padded to whole vectors of type `V`.
#[derive(Debug, Clone)]
pub(crate) struct UnitRows<V> {
    latent: usize,
    rows: Vec<V>,
}

impl<V: Lanes> UnitRows<V> {
    /// Room for `hidden` rows of `latent` weights, zero.
    pub(crate) fn new(latent: usize, hidden: usize) -> UnitRows<V> {
        UnitRows {
            latent,
            rows: vec![V::ZERO; hidden * latent.div_ceil(V::WIDTH)],
        }
    }

    /// The row of a unit.
    #[inline(always)]
    pub(crate) fn of(&self, unit: usize) -> &[V] {
        let vectors = self.latent.div_ceil(V::WIDTH);
        &self.rows[unit * vectors..][..vectors]
    }

    /// Takes an L × M matrix, row by row.
    #[inline(always)]
    pub(crate) fn fill_rows(&mut self, w: &[f32]) {
        let latent = self.latent;
        let units = self.rows.chunks_exact_mut(latent.div_ceil(V::WIDTH));
        for (unit, row) in units.zip(w.chunks_exact(latent)) {
            for (to, from) in unit.iter_mut().zip(row.chunks(V::WIDTH)) {
                // Whole vectors are copied as such, others by a call.
                if from.len() == V::WIDTH {
                    to.lanes_mut()[..V::WIDTH].copy_from_slice(&from[..V::WIDTH])
                } else {
                    to.lanes_mut()[..from.len()].copy_from_slice(from)
                }
            }
        }
    }
}

/// The weights that open units are pulled back through.
pub(crate) type WeightRows = UnitRows<Lanes16>;

/// Room for pull-backs through open units, and the sums G.
#[derive(Debug, Clone)]
pub(crate) struct OpenUnits<P> {
    latent: usize,
    hidden: usize,
    /// Whether a group goes through open units alone.
    groups: [bool; 2],
    /// The open units of each window, one list after another, and where the lists end. Eight are written at a time.
    lists: Vec<u32>,
    ends: [usize; MOST_WINDOWS],
    /// d, z and dz of each window, padded to whole vectors.
    d: Vec<Lanes16>,
    z: Vec<Lanes16>,
    dz: Vec<Lanes16>,
    /// G of each group, one after another.
    sums: Vec<Lanes16>,
    /// dz of all lanes.
    pulled: Vec<P>,
}

impl<P: Lanes> OpenUnits<P> {
    /// Room for these sizes.
    pub(crate) fn new(latent: usize, hidden: usize) -> OpenUnits<P> {
        let vectors = latent.div_ceil(ALONG);
        let of_windows = vec![Lanes16::ZERO; P::WIDTH * vectors];
        OpenUnits {
            latent,
            hidden,
            groups: [false; 2],
            lists: vec![0; P::WIDTH * (hidden + LISTED)],
            ends: [0; MOST_WINDOWS],
            d: of_windows.clone(),
            z: of_windows.clone(),
            dz: of_windows,
            sums: vec![Lanes16::ZERO; P::WIDTH / GROUP * hidden * vectors],
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

    /// Puts G, L × M, into the given place of the groups that went through open units alone.
    pub(crate) fn put_sums(&self, place: &Range<usize>, groups: &mut Groups<'_>) {
        let vectors = self.latent.div_ceil(ALONG);
        let sums = self.sums.chunks_exact(self.hidden * vectors);
        let all = groups.0.iter_mut().zip(sums).zip(self.groups);
        for ((to, sums), _) in all.filter(|(_, alone)| *alone) {
            let rows = to[place.clone()].chunks_exact_mut(self.latent);
            for (to, row) in rows.zip(sums.chunks_exact(vectors)) {
                for (to, sums) in to.chunks_mut(ALONG).zip(row) {
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
                    *open += (mask & group_mask::<P>(group)).count_ones() as usize;
                }
            }
        }
        for (group, open) in open.into_iter().enumerate().take(P::WIDTH / GROUP) {
            self.groups[group] = (open as f64) < FEW * of as f64;
        }
        self.sums.fill(Lanes16::ZERO);
    }

    /// One step back for the groups that go through open units alone: their lanes of dz, and what they add to G, from z,
    /// the units' values and d.
    pub(crate) fn pull_back<S: Simd>(
        &mut self,
        simd: S,
        at: (&[P], &[P::Units], &[P]),
        weights: (&WeightRows, &WeightRows),
        is_open: impl Fn(UnitVector<P, S>) -> u64,
    ) {
        simd.vectorize(
            #[inline(always)]
            || match self.latent.div_ceil(ALONG) {
                1 => self.pull::<S, 1>(simd, at, weights, is_open),
                _ => self.pull::<S, 2>(simd, at, weights, is_open),
            },
        );
    }

    /// The same with C vectors along the latent states.
    #[inline(always)]
    fn pull<S: Simd, const C: usize>(
        &mut self,
        simd: S,
        (z, values, d): (&[P], &[P::Units], &[P]),
        weights: (&WeightRows, &WeightRows),
        is_open: impl Fn(UnitVector<P, S>) -> u64,
    ) {
        transpose::<P, C>(z, &mut self.z);
        transpose::<P, C>(d, &mut self.d);
        self.list(simd, values, is_open);
        let groups = self.groups;
        for group in (0..P::WIDTH / GROUP).filter(|&group| groups[group]) {
            for window in group * GROUP..(group + 1) * GROUP {
                self.pull_window::<S, C>(simd, window, weights);
            }
            transpose_back::<P, C>(&self.dz, group, &mut self.pulled);
        }
    }

    /// Where the list of a window begins.
    #[inline(always)]
    fn begin(&self, window: usize) -> usize {
        window * (self.hidden + LISTED)
    }

    /// Lists the open units of each window.
    #[inline(always)]
    fn list<S: Simd>(
        &mut self,
        simd: S,
        values: &[P::Units],
        is_open: impl Fn(UnitVector<P, S>) -> u64,
    ) {
        let mut lists = Lists {
            ends: std::array::from_fn(|window| self.begin(window)),
            units: &mut self.lists,
        };
        let registers = LISTED / P::ABREAST;
        let mut eights = values.chunks_exact(registers);
        let mut first = 0;
        for values in eights.by_ref() {
            lists.append::<S, P>(simd, first, masks::<S, P>(simd, values, &is_open));
            first += LISTED as u32;
        }
        lists.append::<S, P>(
            simd,
            first,
            masks::<S, P>(simd, eights.remainder(), is_open),
        );
        self.ends = lists.ends;
    }

    /// Goes through the list of a window, with C vectors along the latent states.
    #[inline(always)]
    fn pull_window<S: Simd, const C: usize>(
        &mut self,
        simd: S,
        window: usize,
        (input, output): (&WeightRows, &WeightRows),
    ) {
        let (input, _) = input.rows.as_chunks::<C>();
        let (output, _) = output.rows.as_chunks::<C>();
        let list = &self.lists[self.begin(window)..self.ends[window]];
        let (sums, _) = self.sums.as_chunks_mut::<C>();
        let sums = &mut sums[window / GROUP * self.hidden..][..self.hidden];
        let z = load(simd, &self.z.as_chunks::<C>().0[window]);
        let d = &self.d.as_chunks::<C>().0[window];
        let mut dz = [f32x16::splat(simd, 0.0); C];
        for &l in list {
            let l = l as usize;
            let q = f32x16::splat(simd, dot(simd, &input[l], d));
            for c in 0..C {
                dz[c] = q.mul_add(output[l][c].load(simd), dz[c]);
                sums[l][c].store(q.mul_add(z[c], sums[l][c].load(simd)));
            }
        }
        for (to, &dz) in self.dz.as_chunks_mut::<C>().0[window].iter_mut().zip(&dz) {
            to.store(dz);
        }
    }
}

/// The bits of a group of windows in a register's mask; those of two units abreast are one group.
#[inline(always)]
fn group_mask<P: Lanes>(group: usize) -> u64 {
    let lanes = P::ABREAST * GROUP;
    if group < P::WIDTH / GROUP {
        ((1 << lanes) - 1) << (lanes * group)
    } else {
        0
    }
}

/// Of eight units or fewer, one byte per window of each group, with one bit per unit, which is set where it is open.
#[inline(always)]
fn masks<S: Simd, P: Lanes>(
    simd: S,
    values: &[P::Units],
    is_open: impl Fn(UnitVector<P, S>) -> u64,
) -> [u64; 2] {
    let mut masks = [0; 2];
    for (r, value) in values.iter().enumerate() {
        let mask = is_open(value.load(simd));
        match P::ABREAST {
            1 => {
                masks[0] |= (mask & 0xFF) << (GROUP * r);
                masks[1] |= mask >> GROUP << (GROUP * r);
            }
            _ => masks[0] |= mask << (2 * GROUP * r),
        }
    }
    match P::ABREAST {
        1 => masks.map(transposed_bits),
        _ => [transposed_pairs(masks[0]), 0],
    }
}

/// Bit i of byte j becomes bit j of byte i: blocks of 1, 2 and 4 bits change places across the diagonal.
#[inline(always)]
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
#[inline(always)]
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

/// The open units of each window.
struct Lists<'a> {
    units: &'a mut [u32],
    ends: [usize; MOST_WINDOWS],
}

impl Lists<'_> {
    /// Appends to every window's list the numbers of the bits that are set in its byte, counted from `first` on: without
    /// a branch, which would be guessed wrong half of the time.
    #[inline(always)]
    fn append<S: Simd, P: Lanes>(&mut self, simd: S, first: u32, masks: [u64; 2]) {
        let first = u32x8::splat(simd, first);
        for (group, masks) in masks.iter().enumerate().take(P::WIDTH / GROUP) {
            for (window, bits) in masks.to_le_bytes().into_iter().enumerate() {
                let end = &mut self.ends[group * GROUP + window];
                let units = self.units[*end..].first_chunk_mut::<LISTED>();
                let units = units.expect("lists have room for eight more");
                let numbers = u32x8::load_array_ref(simd, &BITS[usize::from(bits)]);
                (numbers + first).store_array(units);
                *end += bits.count_ones() as usize;
            }
        }
    }
}

/// The set bits of every byte, lowest first; what stands behind them does not count.
static BITS: [[u32; LISTED]; 256] = bits();

const fn bits() -> [[u32; LISTED]; 256] {
    let mut table = [[0; LISTED]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < LISTED {
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

#[inline(always)]
fn load<S: Simd, const C: usize>(simd: S, row: &[Lanes16; C]) -> [f32x16<S>; C] {
    filled(
        f32x16::splat(simd, 0.0),
        #[inline(always)]
        |c| row[c].load(simd),
    )
}

/// Σ w x along the vectors of a row, by groups of eight.
#[inline(always)]
fn dot<S: Simd, const C: usize>(simd: S, w: &[Lanes16; C], x: &[Lanes16; C]) -> f32 {
    let pairs = w.iter().zip(x).flat_map(|(w, x)| halves(w).zip(halves(x)));
    let mut products = None;
    for (w, x) in pairs {
        let (w, x) = (
            f32x8::load_array_ref(simd, w),
            f32x8::load_array_ref(simd, x),
        );
        products = Some(match products {
            None => w * x,
            Some(sum) => w.mul_add(x, sum),
        });
    }
    sum(products.expect("rows are not empty"))
}

#[inline(always)]
fn halves(lanes: &Lanes16) -> impl Iterator<Item = &[f32; GROUP]> {
    lanes.lanes().as_chunks::<GROUP>().0.iter()
}

/// From features of windows to windows of features.
#[inline(always)]
fn transpose<P: Lanes, const C: usize>(features: &[P], windows: &mut [Lanes16]) {
    let (windows, _) = windows.as_chunks_mut::<C>();
    for (m, feature) in features.iter().enumerate() {
        for (window, &value) in windows.iter_mut().zip(feature.lanes()) {
            window[m / ALONG].lanes_mut()[m % ALONG] = value;
        }
    }
}

/// From windows of features to features of a group of windows.
#[inline(always)]
fn transpose_back<P: Lanes, const C: usize>(windows: &[Lanes16], group: usize, features: &mut [P]) {
    let windows = &windows.as_chunks::<C>().0[group * GROUP..][..GROUP];
    for (m, feature) in features.iter_mut().enumerate() {
        let values = &mut feature.lanes_mut()[group * GROUP..][..GROUP];
        for (value, window) in values.iter_mut().zip(windows) {
            *value = window[m / ALONG].lanes()[m % ALONG];
        }
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::prelude::SimdMask;

    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::simd::{Isa, Lanes8, Paired8, Task, dispatch};

    /// Latent states and units that do and do not fill vectors, bytes and pairs.
    const SIZES: [(usize, usize); 4] = [(7, 1), (11, 21), (16, 64), (20, 101)];

    #[test]
    fn every_unit_has_its_row() {
        for (latent, hidden) in SIZES {
            let number = |l: usize, m: usize| (100 * l + m) as f32;
            let rows: Vec<f32> = (0..hidden * latent)
                .map(|i| number(i / latent, i % latent))
                .collect();
            let mut units = WeightRows::new(latent, hidden);
            units.fill_rows(&rows);
            for l in 0..hidden {
                let row = units.of(l).iter().flat_map(Lanes::lanes);
                let expected: Vec<f32> = (0..latent).map(|m| number(l, m)).collect();
                assert!(row.take(latent).eq(&expected), "{l}");
            }
        }
    }

    /// z, units' values, d, then weights in and out.
    struct Pull<'a, P: Lanes> {
        open: &'a mut OpenUnits<P>,
        z: &'a [P],
        values: &'a [P::Units],
        d: &'a [P],
        weights: (&'a WeightRows, &'a WeightRows),
    }

    impl<P: Lanes> Task for Pull<'_, P> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            let half = <UnitVector<P, S>>::splat(simd, 0.5);
            let is_open = |v: UnitVector<P, S>| v.simd_gt(half).to_bitmask();
            self.open.start(simd, [self.values].into_iter(), is_open);
            let at = (self.z, self.values, self.d);
            self.open.pull_back(simd, at, self.weights, is_open);
        }
    }

    /// Features of windows on lanes.
    fn lanes<P: Lanes>(features: &[Vec<f32>]) -> Vec<P> {
        let lanes = |feature: &Vec<f32>| {
            let mut lanes = P::ZERO;
            lanes.lanes_mut().copy_from_slice(&feature[..P::WIDTH]);
            lanes
        };
        features.iter().map(lanes).collect()
    }

    /// Units of windows in registers.
    fn registers<P: Lanes>(units: &[Vec<f32>]) -> Vec<P::Units> {
        let register = |abreast: &[Vec<f32>]| {
            let mut register = P::Units::ZERO;
            for (lane, value) in register.lanes_mut().iter_mut().enumerate() {
                let unit = abreast.get(lane % P::ABREAST);
                *value = unit.map_or(0.0, |unit| unit[lane / P::ABREAST]);
            }
            register
        };
        units.chunks(P::ABREAST).map(register).collect()
    }

    /// A tenth of the units are open: of N(0, 1) those above 1.28, here shifted to 0.5.
    fn pulls_back_as_all_are<P: Lanes>(isa: Isa, (latent, hidden): (usize, usize)) {
        let mut rng = Rng::new(1, Stream::Parameters);
        let mut numbers = |rows: usize, columns: usize, mean: f64| -> Vec<Vec<f32>> {
            let mut row = || (0..columns).map(|_| (rng.normal() + mean) as f32).collect();
            (0..rows).map(|_| row()).collect()
        };
        let [z, d] = [(); 2].map(|()| numbers(latent, MOST_WINDOWS, 0.0));
        let values = numbers(hidden, MOST_WINDOWS, -0.78);
        let [w1, w2] = [(); 2].map(|()| numbers(hidden, latent, 0.0));
        let rows = [&w1, &w2].map(|w| {
            let mut rows = WeightRows::new(latent, hidden);
            rows.fill_rows(&w.concat());
            rows
        });
        let mut open = OpenUnits::new(latent, hidden);
        let pull = Pull::<P> {
            open: &mut open,
            z: &lanes(&z),
            values: &registers::<P>(&values),
            d: &lanes(&d),
            weights: (&rows[0], &rows[1]),
        };
        dispatch::<P, _>(isa, pull);
        assert!(open.any() && open.all());
        let mut sums = vec![vec![0.0; hidden * latent]; P::WIDTH / GROUP];
        let mut dz = vec![vec![0.0; P::WIDTH]; latent];
        for (l, window) in (0..hidden).flat_map(|l| (0..P::WIDTH).map(move |w| (l, w))) {
            if values[l][window] > 0.5 {
                let q: f32 = (0..latent).map(|m| w1[l][m] * d[m][window]).sum();
                for m in 0..latent {
                    dz[m][window] += q * w2[l][m];
                    sums[window / GROUP][l * latent + m] += q * z[m][window];
                }
            }
        }
        let mut found = vec![vec![0.0; hidden * latent]; P::WIDTH / GROUP];
        open.put_sums(&(0..hidden * latent), &mut Groups(&mut found));
        // Sums of at most twenty products of order one, over some ten units: two hundred roundings of 6e-8.
        let close = |a: f32, b: f32| (a - b).abs() < 1.2e-5 * (1.0 + b.abs());
        let all_close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(&a, &b)| close(a, b));
        assert!(found.iter().zip(&sums).all(|(a, b)| all_close(a, b)));
        let pulled = open.pulled().iter();
        assert!(pulled.zip(&dz).all(|(a, b)| all_close(a.lanes(), b)));
    }

    /// Of sixteen windows, those of the second group have most units open: only the first group goes through open ones alone.
    #[test]
    fn a_group_leaves_the_other_alone() {
        let (latent, hidden) = (11, 21);
        let mut values = vec![vec![0.0; MOST_WINDOWS]; hidden];
        values[3][2] = 1.0;
        (values.iter_mut()).for_each(|unit| unit[GROUP..].fill(1.0));
        let mut rows = WeightRows::new(latent, hidden);
        rows.fill_rows(&vec![1.0; hidden * latent]);
        let ones = lanes::<Lanes16>(&vec![vec![1.0; MOST_WINDOWS]; latent]);
        for isa in Isa::available().filter(|&isa| isa == Isa::Avx512) {
            let mut open = OpenUnits::new(latent, hidden);
            let before = lanes::<Lanes16>(&vec![vec![7.0; MOST_WINDOWS]; latent]);
            open.pulled().copy_from_slice(&before);
            let pull = Pull::<Lanes16> {
                open: &mut open,
                z: &ones,
                values: &registers::<Lanes16>(&values),
                d: &ones,
                weights: (&rows, &rows),
            };
            dispatch::<Lanes16, _>(isa, pull);
            assert!(open.any() && !open.all());
            // One open unit: q is the sum of eleven ones, and so is what it passes on.
            let mut expected = [0.0; MOST_WINDOWS];
            expected[2] = 11.0;
            expected[GROUP..].fill(7.0);
            assert!(
                open.pulled()
                    .iter()
                    .all(|pulled| pulled.lanes() == expected)
            );
            let mut found = vec![vec![-1.0; hidden * latent]; 2];
            open.put_sums(&(0..hidden * latent), &mut Groups(&mut found));
            let of_unit = |i: usize| if i / latent == 3 { 11.0 } else { 0.0 };
            assert!((0..hidden * latent).all(|i| found[0][i] == of_unit(i)));
            assert!(found[1].iter().all(|&sum| sum == -1.0));
        }
    }

    #[test]
    fn open_units_are_pulled_back_as_all_are() {
        for (isa, sizes) in Isa::available().flat_map(|isa| SIZES.map(|sizes| (isa, sizes))) {
            match isa {
                Isa::Avx512 => {
                    pulls_back_as_all_are::<Lanes16>(isa, sizes);
                    pulls_back_as_all_are::<Paired8>(isa, sizes);
                }
                _ => pulls_back_as_all_are::<Lanes8>(isa, sizes),
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
