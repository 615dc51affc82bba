//! G = Σ_t d_t a_tᵀ over the steps of a window and the lanes of a vector: what weight gradients are made of.
//!
//! d has `short` features a step, a has `long`. Blocks of MR × LR entries are summed over all steps in registers,
//! up to twelve at a time, or 25 where there are 32 registers, then over the lanes of each group.
//! The long operand is the outer loop: its block stays in the first-level cache while the short one is walked.

use std::marker::PhantomData;

use fearless_simd::Simd;
use fearless_simd::prelude::{SimdBase, SimdFloat};

use super::{Lanes, UnitVector, filled};

/// Gradients before the lanes' groups are added: one vector a group.
pub(crate) struct Groups<'a>(pub(crate) &'a mut [Vec<f32>]);

impl Groups<'_> {
    /// Sets entry `index` of every group.
    #[inline(always)]
    pub(crate) fn put(&mut self, index: usize, sums: [f32; 2]) {
        for (group, sum) in self.0.iter_mut().zip(sums) {
            group[index] = sum;
        }
    }

    /// Adds to entry `index` of every group.
    #[inline(always)]
    pub(crate) fn add(&mut self, index: usize, sums: [f32; 2]) {
        for (group, sum) in self.0.iter_mut().zip(sums) {
            group[index] += sum;
        }
    }
}

/// Where entry (i, j) of a matrix stands in a gradient: start + i·row + j·col.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Of entry (0, 0).
    pub(crate) start: usize,
    /// From row to row.
    pub(crate) row: usize,
    /// From column to column.
    pub(crate) col: usize,
}

impl Place {
    #[inline(always)]
    fn of(self, i: usize, j: usize) -> usize {
        self.start + i * self.row + j * self.col
    }
}

/// Rows of lanes, of which the first `width` features count.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, P> {
    values: &'a [P],
    width: usize,
    stride: usize,
}

impl<'a, P> Rows<'a, P> {
    /// Rows of `width` features, one after another.
    pub(crate) fn new(values: &'a [P], width: usize) -> Rows<'a, P> {
        Rows::apart(values, width, width)
    }

    /// Rows of `width` features that begin `stride` features apart.
    pub(crate) fn apart(values: &'a [P], width: usize, stride: usize) -> Rows<'a, P> {
        Rows {
            values,
            width,
            stride,
        }
    }
}

impl<P: Lanes> Rows<'_, P> {
    /// Features that count.
    #[inline(always)]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// One feature, row by row.
    #[inline(always)]
    pub(crate) fn feature(&self, index: usize) -> impl Iterator<Item = &P> {
        self.values[index..].iter().step_by(self.stride)
    }
}

/// Where the sums of a product go.
pub(crate) trait Sums<S: Simd, P: Lanes> {
    /// What the sum of entry (i, j) goes on from.
    fn before(&self, simd: S, i: usize, j: usize) -> P::Vector<S>;

    /// Takes the sum of entry (i, j).
    fn put(&mut self, i: usize, j: usize, sum: P::Vector<S>);
}

/// sums[j][i], lane by lane; the first ones go on from zero.
struct Running<'a, P> {
    sums: &'a mut [P],
    short: usize,
    are_first: bool,
}

impl<S: Simd, P: Lanes> Sums<S, P> for Running<'_, P> {
    #[inline(always)]
    fn before(&self, simd: S, i: usize, j: usize) -> P::Vector<S> {
        if self.are_first {
            P::Vector::splat(simd, 0.0)
        } else {
            self.sums[j * self.short + i].load(simd)
        }
    }

    #[inline(always)]
    fn put(&mut self, i: usize, j: usize, sum: P::Vector<S>) {
        self.sums[j * self.short + i].store(sum);
    }
}

/// The sums over the lanes of each group, at their places in the gradients.
pub(crate) struct Whole<'a, 'b> {
    place: Place,
    groups: &'a mut Groups<'b>,
}

impl<'a, 'b> Whole<'a, 'b> {
    /// Entry (i, j) goes to its place.
    pub(crate) fn new(place: Place, groups: &'a mut Groups<'b>) -> Whole<'a, 'b> {
        Whole { place, groups }
    }
}

impl<S: Simd, P: Lanes> Sums<S, P> for Whole<'_, '_> {
    #[inline(always)]
    fn before(&self, simd: S, _i: usize, _j: usize) -> P::Vector<S> {
        P::Vector::splat(simd, 0.0)
    }

    #[inline(always)]
    fn put(&mut self, i: usize, j: usize, sum: P::Vector<S>) {
        self.groups.put(self.place.of(i, j), P::group_sums(sum));
    }
}

/// The same where j counts registers of units beside lanes of type `P`.
pub(crate) struct WholeUnits<'a, 'b, P> {
    whole: Whole<'a, 'b>,
    units: usize,
    lanes: PhantomData<P>,
}

impl<'a, 'b, P> WholeUnits<'a, 'b, P> {
    /// The entries (i, unit) of register j go to their places.
    pub(crate) fn new(
        units: usize,
        place: Place,
        groups: &'a mut Groups<'b>,
    ) -> WholeUnits<'a, 'b, P> {
        WholeUnits {
            whole: Whole::new(place, groups),
            units,
            lanes: PhantomData,
        }
    }
}

impl<S: Simd, P: Lanes> Sums<S, P::Units> for WholeUnits<'_, '_, P> {
    #[inline(always)]
    fn before(&self, simd: S, _i: usize, _j: usize) -> UnitVector<P, S> {
        <UnitVector<P, S>>::splat(simd, 0.0)
    }

    #[inline(always)]
    fn put(&mut self, i: usize, j: usize, sum: UnitVector<P, S>) {
        let Whole { place, groups } = &mut self.whole;
        for abreast in 0..P::ABREAST.min(self.units - P::ABREAST * j) {
            let unit = P::ABREAST * j + abreast;
            groups.put(place.of(i, unit), P::group_sums(P::unit(sum, abreast)));
        }
    }
}

/// sums[j][i] += Σ_t d[t][i] a[t][j], lane by lane, for every pair of features; the first ones start at zero, whatever
/// stands there. Not inlined: one copy serves all callers of an instruction set.
pub(crate) fn gram<S: Simd, P: Lanes>(
    simd: S,
    (d, a): (Rows<'_, P>, Rows<'_, P>),
    sums: &mut [P],
    are_first: bool,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let short = d.width;
            let mut to = Running {
                sums,
                short,
                are_first,
            };
            blocks(simd, (d, a), &mut to);
        },
    );
}

/// Puts Σ_t Σ_{lanes} d[t][i] a[t][j] at place (i, j), for every pair of features.
pub(crate) fn gram_whole<S: Simd, P: Lanes>(
    simd: S,
    (d, a): (Rows<'_, P>, Rows<'_, P>),
    mut to: impl Sums<S, P>,
) {
    simd.vectorize(
        #[inline(always)]
        || blocks(simd, (d, a), &mut to),
    );
}

/// Goes through all pairs of features, block by block.
#[inline(always)]
fn blocks<S: Simd, P: Lanes>(
    simd: S,
    (d, a): (Rows<'_, P>, Rows<'_, P>),
    to: &mut impl Sums<S, P>,
) {
    let (short, long) = (d.width, a.width);
    let mut j = 0;
    if P::NEEDS_AVX512 {
        j = broad_blocks(simd, (d, a), to);
    }
    // Five rows and three columns of sums would not fit into sixteen registers.
    let most = if short == 5 { 2 } else { 3 };
    while j < long {
        let wide = (long - j).min(most);
        let mut i = 0;
        while i < short {
            i += match (short - i, wide) {
                (5, 2) => block::<S, P, 5, 2>(simd, (d, a), (i, j), to),
                (1, 3) => block::<S, P, 1, 3>(simd, (d, a), (i, j), to),
                (2, 3) => block::<S, P, 2, 3>(simd, (d, a), (i, j), to),
                (3, 3) => block::<S, P, 3, 3>(simd, (d, a), (i, j), to),
                (_, 3) => block::<S, P, 4, 3>(simd, (d, a), (i, j), to),
                (1, 2) => block::<S, P, 1, 2>(simd, (d, a), (i, j), to),
                (2, 2) => block::<S, P, 2, 2>(simd, (d, a), (i, j), to),
                (3, 2) => block::<S, P, 3, 2>(simd, (d, a), (i, j), to),
                (_, 2) => block::<S, P, 4, 2>(simd, (d, a), (i, j), to),
                (1, _) => block::<S, P, 1, 1>(simd, (d, a), (i, j), to),
                (2, _) => block::<S, P, 2, 1>(simd, (d, a), (i, j), to),
                (3, _) => block::<S, P, 3, 1>(simd, (d, a), (i, j), to),
                _ => block::<S, P, 4, 1>(simd, (d, a), (i, j), to),
            };
        }
        j += wide;
    }
}

/// The same in blocks of 4 × 6 or 5 × 5 sums, which sixteen registers would not hold: operands are read less often. Gives
/// back how many columns are done.
#[inline(always)]
fn broad_blocks<S: Simd, P: Lanes>(
    simd: S,
    (d, a): (Rows<'_, P>, Rows<'_, P>),
    to: &mut impl Sums<S, P>,
) -> usize {
    let (short, fives) = (d.width, d.width.is_multiple_of(5));
    let wide = if fives { 5 } else { 6 };
    for j in (0..a.width / wide).map(|block| block * wide) {
        let mut i = 0;
        while i < short {
            i += match (short - i, fives) {
                (_, true) => block::<S, P, 5, 5>(simd, (d, a), (i, j), to),
                (1, _) => block::<S, P, 1, 6>(simd, (d, a), (i, j), to),
                (2, _) => block::<S, P, 2, 6>(simd, (d, a), (i, j), to),
                (3, _) => block::<S, P, 3, 6>(simd, (d, a), (i, j), to),
                _ => block::<S, P, 4, 6>(simd, (d, a), (i, j), to),
            };
        }
    }
    a.width / wide * wide
}

/// sums[j][i] = Σ_t a[t][i] a[t][j], lane by lane: blocks on one side of the diagonal, then their mirror images.
#[inline(always)]
pub(crate) fn gram_symmetric<S: Simd, P: Lanes>(simd: S, a: Rows<'_, P>, sums: &mut [P]) {
    let width = a.width;
    let to = &mut Running {
        sums: &mut *sums,
        short: width,
        are_first: true,
    };
    let mut j = 0;
    while j < width {
        let wide = if width - j >= 3 { 3 } else { 1 };
        let mut i = j;
        while i < width {
            i += match (width - i, wide) {
                (1, 3) => block::<S, P, 1, 3>(simd, (a, a), (i, j), to),
                (2, 3) => block::<S, P, 2, 3>(simd, (a, a), (i, j), to),
                (3, 3) => block::<S, P, 3, 3>(simd, (a, a), (i, j), to),
                (_, 3) => block::<S, P, 4, 3>(simd, (a, a), (i, j), to),
                (1, _) => block::<S, P, 1, 1>(simd, (a, a), (i, j), to),
                _ => block::<S, P, 2, 1>(simd, (a, a), (i, j), to),
            };
        }
        j += wide;
    }
    for j in 1..width {
        for i in 0..j {
            sums[j * width + i] = sums[i * width + j];
        }
    }
}

/// The block of sums from (i, j) on; gives back its height.
#[inline(always)]
fn block<S: Simd, P: Lanes, const MR: usize, const LR: usize>(
    simd: S,
    (d, a): (Rows<'_, P>, Rows<'_, P>),
    (i, j): (usize, usize),
    to: &mut impl Sums<S, P>,
) -> usize {
    let mut sums = [[P::Vector::splat(simd, 0.0); LR]; MR];
    for (r, row) in sums.iter_mut().enumerate() {
        for (c, sum) in row.iter_mut().enumerate() {
            *sum = to.before(simd, i + r, j + c);
        }
    }
    let (d_rows, a_rows) = (
        d.values.chunks_exact(d.stride),
        a.values.chunks_exact(a.stride),
    );
    for (d, a) in d_rows.zip(a_rows) {
        let (d, a) = (&d[i..i + MR], &a[j..j + LR]);
        let a: [P::Vector<S>; LR] = filled(
            P::Vector::splat(simd, 0.0),
            #[inline(always)]
            |j| a[j].load(simd),
        );
        for r in 0..MR {
            let d = d[r].load(simd);
            for c in 0..LR {
                sums[r][c] = d.mul_add(a[c], sums[r][c]);
            }
        }
    }
    for (r, row) in sums.iter().enumerate() {
        for (c, &sum) in row.iter().enumerate() {
            to.put(i + r, j + c, sum);
        }
    }
    MR
}

/// sums[i] += Σ_t a[t][i], lane by lane.
pub(crate) fn add_rows<S: Simd, P: Lanes>(simd: S, a: Rows<'_, P>, sums: &mut [P]) {
    simd.vectorize(
        #[inline(always)]
        || {
            for row in a.values.chunks_exact(a.stride) {
                for (sum, a) in sums.iter_mut().zip(row) {
                    sum.store(sum.load(simd) + a.load(simd));
                }
            }
        },
    );
}

/// Puts the lanes' sums of sums[j][i] at place (i, j).
pub(crate) fn reduce<S: Simd, P: Lanes>(
    simd: S,
    (sums, short): (&[P], usize),
    mut to: impl Sums<S, P>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for (j, column) in sums.chunks_exact(short).enumerate() {
                for (i, sum) in column.iter().enumerate() {
                    to.put(i, j, sum.load(simd));
                }
            }
        },
    );
}

/// Puts Σ_t Σ_{lanes} d[t][i] a[t][i] at start + i: the diagonal of [`gram`].
pub(crate) fn gram_diagonal<S: Simd, P: Lanes>(
    simd: S,
    width: usize,
    (d, a): (&[P], &[P]),
    start: usize,
    groups: &mut Groups<'_>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for i in 0..width {
                let pairs = d[i..]
                    .iter()
                    .step_by(width)
                    .zip(a[i..].iter().step_by(width));
                let sum = pairs.fold(
                    P::Vector::splat(simd, 0.0),
                    #[inline(always)]
                    |sum, (d, a)| d.load(simd).mul_add(a.load(simd), sum),
                );
                groups.put(start + i, P::group_sums(sum));
            }
        },
    );
}

/// Puts Σ_t Σ_{lanes} d[t][i] at start + i.
pub(crate) fn lane_sums<S: Simd, P: Lanes>(
    simd: S,
    width: usize,
    d: &[P],
    start: usize,
    groups: &mut Groups<'_>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for i in 0..width {
                let sum = d[i..].iter().step_by(width).fold(
                    P::Vector::splat(simd, 0.0),
                    #[inline(always)]
                    |sum, d| sum + d.load(simd),
                );
                groups.put(start + i, P::group_sums(sum));
            }
        },
    );
}
