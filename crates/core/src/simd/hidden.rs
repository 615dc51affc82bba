//! Products of a hidden layer on lanes: into its units, u = W x, and out of them, y = W u.
//!
//! Units stand in registers, one or two abreast ([`Lanes::ABREAST`]). The units of even number and those of odd number are
//! added up by themselves, then both sums: with one unit per register in two sums, with two units abreast in the lanes of
//! one. So the bits do not depend on how many windows share a register.
//!
//! Rows are taken in tiles whose sums stay in registers, enough of them to hide the latency of the multiply-add. A
//! tile's weights stand together in the order in which they are used.

use fearless_simd::Simd;
use fearless_simd::prelude::{SimdBase, SimdFloat};

use super::lanes::UnitVector;
use super::transpose::pair_up;
use super::{Lanes, Packed, Weight, filled};

/// Tile heights, in registers of units, of products into them. The last one is for pairs, where a state has to be widened
/// for every tile.
const INTO: [usize; 5] = [4, 8, 10, 12, 16];

/// Tile heights of products out of units.
const OUT: [usize; 3] = [8, 10, 12];

/// The tile height at which `rows` cost least: a tile takes its rows, plus one for the load of what they multiply.
fn fitting(rows: usize, heights: &[usize]) -> usize {
    let cost = |tile: usize| rows.div_ceil(tile) * (tile + 1);
    let fitting = heights.iter().min_by_key(|&&tile| cost(tile));
    *fitting.expect("there are tile heights")
}

/// Room for the weights into `units` units that see `dim` numbers, zero.
pub(crate) fn into_units<P: Lanes>(units: usize, dim: usize) -> Packed {
    let heights = match P::ABREAST {
        1 => &INTO[..4],
        _ => &INTO[..],
    };
    let registers = units.div_ceil(P::ABREAST);
    Packed::of_height(units, dim, P::ABREAST * fitting(registers, heights))
}

/// Calls emit(r, sums) for tiles of registers of units, those from r on, with sums Σ_k W[·][k] x[k]. Sums of the last tile
/// may go beyond the units.
#[inline(always)]
pub(crate) fn multiply_into<S: Simd, P: Lanes>(
    simd: S,
    w: &Packed,
    x: &[P],
    emit: impl FnMut(usize, &[UnitVector<P, S>]),
) {
    match P::ABREAST {
        1 => into_tiles::<S, P, f32>(simd, (w, w.values()), x, emit),
        _ => into_tiles::<S, P, [f32; 2]>(simd, (w, w.pairs()), x, emit),
    }
}

#[inline(always)]
fn into_tiles<S: Simd, P: Lanes, W: Weight>(
    simd: S,
    (w, weights): (&Packed, &[W]),
    x: &[P],
    emit: impl FnMut(usize, &[UnitVector<P, S>]),
) {
    match w.tile() / P::ABREAST {
        4 => into::<S, P, W, 4>(simd, weights, x, emit),
        8 => into::<S, P, W, 8>(simd, weights, x, emit),
        10 => into::<S, P, W, 10>(simd, weights, x, emit),
        12 => into::<S, P, W, 12>(simd, weights, x, emit),
        _ => into::<S, P, W, 16>(simd, weights, x, emit),
    }
}

#[inline(always)]
fn into<S: Simd, P: Lanes, W: Weight, const R: usize>(
    simd: S,
    weights: &[W],
    x: &[P],
    mut emit: impl FnMut(usize, &[UnitVector<P, S>]),
) {
    let (columns, _) = weights.as_chunks::<R>();
    for (i, columns) in columns.chunks_exact(x.len()).enumerate() {
        let mut sums = [<UnitVector<P, S>>::splat(simd, 0.0); R];
        for (column, x) in columns.iter().zip(x) {
            let x = P::widen(x.load(simd));
            for r in 0..R {
                sums[r] = column[r].spread::<S, P::Units>(simd).mul_add(x, sums[r]);
            }
        }
        emit(i * R, &sums);
    }
}

/// Sets units to act(b, sum) for the sums of a tile from register `first` on, b being what stands beside a unit.
#[inline(always)]
pub(crate) fn fill_units<S: Simd, P: Lanes, Q>(
    (beside, units): (&[Q], &mut [P]),
    first: usize,
    sums: &[P::Vector<S>],
    act: impl Fn(&Q, P::Vector<S>) -> P::Vector<S>,
) {
    let tile = first..first + sums.len();
    // Loops over all sums leave them in their registers, one over a part would not.
    if let (Some(beside), Some(units)) = (beside.get(tile.clone()), units.get_mut(tile)) {
        for (r, &sum) in sums.iter().enumerate() {
            units[r].store(act(&beside[r], sum));
        }
    } else {
        for (r, &sum) in sums.iter().enumerate() {
            if let (Some(beside), Some(unit)) = (beside.get(first + r), units.get_mut(first + r)) {
                unit.store(act(beside, sum));
            }
        }
    }
}

/// Weights out of units, by pairs of units.
#[derive(Debug, Clone)]
pub(crate) struct OutOfUnits {
    rows: usize,
    units: usize,
    tile: usize,
    /// `[tile][pair][row][2]`; the last tile and the last pair are filled up with zeros.
    values: Vec<[f32; 2]>,
}

impl OutOfUnits {
    /// Room for `rows` rows of weights of `units` units, zero.
    pub(crate) fn new(rows: usize, units: usize) -> OutOfUnits {
        let tile = fitting(rows, &OUT);
        OutOfUnits {
            rows,
            units,
            tile,
            values: vec![[0.0; 2]; rows.next_multiple_of(tile) * units.div_ceil(2)],
        }
    }

    fn tiles(&mut self) -> impl Iterator<Item = &mut [[f32; 2]]> {
        self.values
            .chunks_exact_mut(self.tile * self.units.div_ceil(2))
    }

    /// Takes W, column by column: unit by unit.
    #[inline(always)]
    pub(crate) fn fill_columns<S: Simd>(&mut self, simd: S, w: &[f32]) {
        let (rows, tile) = (self.rows, self.tile);
        for (i, values) in self.tiles().enumerate() {
            let height = tile.min(rows - i * tile);
            for (to, pair) in values.chunks_exact_mut(tile).zip(w.chunks(2 * rows)) {
                let (even, odd) = pair.split_at(rows);
                let (even, to) = (&even[i * tile..][..height], &mut to[..height]);
                // A last unit may be alone.
                if odd.is_empty() {
                    to.iter_mut().zip(even).for_each(|(to, &w)| *to = [w, 0.0]);
                } else {
                    pair_up(simd, even, &odd[i * tile..][..height], to);
                }
            }
        }
    }
}

/// Calls emit(row, Σ_l W[row][l] u[l]) for every row, in order.
#[inline(always)]
pub(crate) fn multiply_out<S: Simd, P: Lanes>(
    simd: S,
    w: &OutOfUnits,
    u: &[P::Units],
    emit: impl FnMut(usize, P::Vector<S>),
) {
    match w.tile {
        8 => out::<S, P, 8>(simd, w, u, emit),
        10 => out::<S, P, 10>(simd, w, u, emit),
        _ => out::<S, P, 12>(simd, w, u, emit),
    }
}

#[inline(always)]
fn out<S: Simd, P: Lanes, const R: usize>(
    simd: S,
    w: &OutOfUnits,
    u: &[P::Units],
    mut emit: impl FnMut(usize, P::Vector<S>),
) {
    let (pairs, _) = w.values.as_chunks::<R>();
    for (i, pairs) in pairs.chunks_exact(w.units.div_ceil(2)).enumerate() {
        let sums = match (P::ABREAST, P::NEEDS_AVX512) {
            (2, _) => in_pairs::<S, P, R>(simd, pairs, u),
            (_, true) => alternating::<S, P, R>(simd, pairs, u),
            _ => in_succession::<S, P, R>(simd, pairs, u),
        };
        for (r, &sum) in sums.iter().enumerate() {
            if i * R + r < w.rows {
                emit(i * R + r, P::narrow(sum));
            }
        }
    }
}

/// Two units per register.
#[inline(always)]
fn in_pairs<S: Simd, P: Lanes, const R: usize>(
    simd: S,
    pairs: &[[[f32; 2]; R]],
    u: &[P::Units],
) -> [UnitVector<P, S>; R] {
    let mut sums = [<UnitVector<P, S>>::splat(simd, 0.0); R];
    for (pair, u) in pairs.iter().zip(u) {
        let u = u.load(simd);
        for r in 0..R {
            sums[r] = pair[r].spread::<S, P::Units>(simd).mul_add(u, sums[r]);
        }
    }
    sums
}

/// One unit per register, those of even and odd number by themselves.
#[inline(always)]
fn alternating<S: Simd, P: Lanes, const R: usize>(
    simd: S,
    pairs: &[[[f32; 2]; R]],
    u: &[P::Units],
) -> [UnitVector<P, S>; R] {
    let mut sums = [[<UnitVector<P, S>>::splat(simd, 0.0); R]; 2];
    let (whole, last) = u.as_chunks::<2>();
    let (pairs, last_pair) = pairs.split_at(whole.len());
    for (pair, u) in pairs.iter().zip(whole) {
        for (place, (sums, u)) in sums.iter_mut().zip(u).enumerate() {
            add::<S, P, R>(simd, (pair, place), u, sums);
        }
    }
    for (pair, u) in last_pair.iter().zip(last) {
        add::<S, P, R>(simd, (pair, 0), u, &mut sums[0]);
    }
    filled(
        sums[0][0],
        #[inline(always)]
        |r| sums[0][r] + sums[1][r],
    )
}

/// The same where registers do not hold both sums: units of even number, then those of odd number.
#[inline(always)]
fn in_succession<S: Simd, P: Lanes, const R: usize>(
    simd: S,
    pairs: &[[[f32; 2]; R]],
    u: &[P::Units],
) -> [UnitVector<P, S>; R] {
    let mut sums = [[<UnitVector<P, S>>::splat(simd, 0.0); R]; 2];
    for (place, sums) in sums.iter_mut().enumerate() {
        let mut own = *sums;
        for (pair, u) in pairs.iter().zip(u.iter().skip(place).step_by(2)) {
            add::<S, P, R>(simd, (pair, place), u, &mut own);
        }
        *sums = own;
    }
    filled(
        sums[0][0],
        #[inline(always)]
        |r| sums[0][r] + sums[1][r],
    )
}

/// sums_r += w_r u for one unit of a pair.
#[inline(always)]
fn add<S: Simd, P: Lanes, const R: usize>(
    simd: S,
    (pair, place): (&[[f32; 2]; R], usize),
    u: &P::Units,
    sums: &mut [UnitVector<P, S>; R],
) {
    let u = u.load(simd);
    for r in 0..R {
        sums[r] = <UnitVector<P, S>>::splat(simd, pair[r][place]).mul_add(u, sums[r]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Lanes8, Lanes16, Paired8, Task, dispatch};

    /// Sizes that do and do not fill tiles and pairs.
    const SIZES: [(usize, usize); 7] = [
        (1, 1),
        (7, 2),
        (9, 13),
        (9, 24),
        (16, 64),
        (20, 51),
        (25, 101),
    ];

    fn number(row: usize, col: usize) -> f32 {
        ((37 * row + 11 * col) % 23) as f32 - 11.0
    }

    /// y = W (Wᵀ x) with W of M rows and L columns, through the units.
    struct There<'a, P: Lanes> {
        into: &'a Packed,
        out: &'a mut OutOfUnits,
        by_columns: &'a [f32],
        x: &'a [P],
        units: &'a mut [P::Units],
        y: &'a mut [P],
    }

    impl<P: Lanes> Task for There<'_, P> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            self.out.fill_columns(simd, self.by_columns);
            let units = self.units;
            let beside = vec![(); units.len()];
            multiply_into(simd, self.into, self.x, |first, sums| {
                fill_units((&beside, units), first, sums, |(), sum| sum);
            });
            multiply_out::<S, P>(simd, self.out, units, |m, sum| self.y[m].store(sum));
        }
    }

    /// Whole numbers below 2²⁴: every order of summing gives the same.
    fn products_are_exact<P: Lanes>(isa: Isa) {
        for (dim, hidden) in SIZES {
            let by_rows = (0..dim * hidden).map(|i| number(i / hidden, i % hidden));
            let by_columns = (0..dim * hidden).map(|i| number(i % dim, i / dim));
            let (by_rows, by_columns): (Vec<_>, Vec<_>) = (by_rows.collect(), by_columns.collect());
            let mut into = into_units::<P>(hidden, dim);
            into.fill_columns(&by_rows);
            let mut x = vec![P::ZERO; dim];
            for (m, x) in x.iter_mut().enumerate() {
                let lanes = x.lanes_mut().iter_mut().enumerate();
                lanes.for_each(|(lane, x)| *x = ((m + lane) % 5) as f32 - 2.0);
            }
            let mut units = vec![P::Units::ZERO; hidden.div_ceil(P::ABREAST)];
            let mut y = vec![P::ZERO; dim];
            let there = There {
                into: &into,
                out: &mut OutOfUnits::new(dim, hidden),
                by_columns: &by_columns,
                x: &x,
                units: &mut units,
                y: &mut y,
            };
            dispatch::<P, _>(isa, there);
            for (lane, m) in (0..P::WIDTH).flat_map(|lane| (0..dim).map(move |m| (lane, m))) {
                let unit = |l: usize| -> f32 {
                    let terms = (0..dim).map(|k| number(k, l) * x[k].lanes()[lane]);
                    terms.sum()
                };
                let expected: f32 = (0..hidden).map(|l| number(m, l) * unit(l)).sum();
                assert_eq!(y[m].lanes()[lane], expected, "{dim} × {hidden}, {isa:?}");
            }
        }
    }

    #[test]
    fn every_kind_of_lanes_gives_the_product() {
        for isa in Isa::available() {
            match isa {
                Isa::Avx512 => {
                    products_are_exact::<Lanes16>(isa);
                    products_are_exact::<Paired8>(isa);
                }
                _ => products_are_exact::<Lanes8>(isa),
            }
        }
    }
}
