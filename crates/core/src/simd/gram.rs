//! G = Σ_t d_t a_tᵀ over the steps of a window and the lanes of a vector: what weight gradients are made of.
//!
//! d has `short` features a step, a has `long`. Blocks of MR × LR entries are summed over all steps in registers,
//! twelve to fifteen at a time, then over the lanes of each group. The long operand is the outer loop: its block
//! stays in the first-level cache while the short one is walked.

use fearless_simd::Simd;
use fearless_simd::prelude::{SimdBase, SimdFloat};

use super::Lanes;

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

/// Puts Σ_t Σ_{lanes} d[t][i] a[t][j] at place (i, j), for every pair of features. Not inlined: one copy serves all
/// callers of an instruction set.
pub(crate) fn gram<S: Simd, P: Lanes>(
    simd: S,
    d: (&[P], usize),
    a: (&[P], usize),
    place: Place,
    groups: &mut Groups<'_>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let (short, long) = (d.1, a.1);
            let mut j = 0;
            while j < long {
                let wide = if long - j >= 3 { 3 } else { 1 };
                let mut i = 0;
                while i < short {
                    let at = Block { i, j, place };
                    i += match (short - i, wide) {
                        (1, 3) => block::<S, P, 1, 3>(simd, d, a, at, groups),
                        (2, 3) => block::<S, P, 2, 3>(simd, d, a, at, groups),
                        (3, 3) => block::<S, P, 3, 3>(simd, d, a, at, groups),
                        (5, 3) => block::<S, P, 5, 3>(simd, d, a, at, groups),
                        (_, 3) => block::<S, P, 4, 3>(simd, d, a, at, groups),
                        (1, _) => block::<S, P, 1, 1>(simd, d, a, at, groups),
                        (2, _) => block::<S, P, 2, 1>(simd, d, a, at, groups),
                        (3, _) => block::<S, P, 3, 1>(simd, d, a, at, groups),
                        (5, _) => block::<S, P, 5, 1>(simd, d, a, at, groups),
                        _ => block::<S, P, 4, 1>(simd, d, a, at, groups),
                    };
                }
                j += wide;
            }
        },
    );
}

/// Which block of a matrix.
#[derive(Debug, Clone, Copy)]
struct Block {
    i: usize,
    j: usize,
    place: Place,
}

/// One block; gives back its height.
#[inline(always)]
fn block<S: Simd, P: Lanes, const MR: usize, const LR: usize>(
    simd: S,
    (d, short): (&[P], usize),
    (a, long): (&[P], usize),
    Block { i, j, place }: Block,
    groups: &mut Groups<'_>,
) -> usize {
    let mut sums = [[P::Vector::splat(simd, 0.0); LR]; MR];
    for (d, a) in d.chunks_exact(short).zip(a.chunks_exact(long)) {
        let (d, a) = (&d[i..i + MR], &a[j..j + LR]);
        let a: [P::Vector<S>; LR] = std::array::from_fn(
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
            groups.put(place.of(i + r, j + c), P::group_sums(sum));
        }
    }
    MR
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
