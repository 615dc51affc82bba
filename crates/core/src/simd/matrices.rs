//! Square matrices, one per lane, that change by few products of a column and a row:
//!
//! ```text
//! J ← J + Σ_u c_u w_u d_uᵀ.
//! ```
//!
//! Which u change differs from lane to lane, so that each lane has its matrix to itself, with vectors along its rows; then
//! all are turned into lanes again.

use fearless_simd::prelude::SimdBase;
use fearless_simd::{Simd, f32x8};

use super::sparse::UnitRows;
use super::transpose::transposed;
use super::{GROUP, Lanes, Lanes8, SimdFloat, filled};

/// A change of a unit's factor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    /// u.
    pub(crate) unit: usize,
    /// c_u.
    pub(crate) by: f32,
}

/// M × M matrices, one per lane.
#[derive(Debug, Clone)]
pub(crate) struct LaneMatrices {
    dim: usize,
    /// Rows, each padded to whole vectors, of one matrix after another.
    rows: Vec<Lanes8>,
}

impl LaneMatrices {
    /// Zero matrices.
    pub(crate) fn new(dim: usize, lanes: usize) -> LaneMatrices {
        LaneMatrices {
            dim,
            rows: vec![Lanes8::ZERO; lanes * dim * dim.div_ceil(GROUP)],
        }
    }

    fn matrix_len(&self) -> usize {
        self.dim * self.dim.div_ceil(GROUP)
    }

    /// All matrices become diag(a).
    pub(crate) fn set_diagonal(&mut self, a: &[f32]) {
        self.rows.fill(Lanes8::ZERO);
        let (vectors, len) = (self.dim.div_ceil(GROUP), self.matrix_len());
        for matrix in self.rows.chunks_exact_mut(len) {
            for (i, &a) in a.iter().enumerate() {
                matrix[i * vectors + i / GROUP].lanes_mut()[i % GROUP] = a;
            }
        }
    }

    /// Adds changes to a lane's matrix; columns w are `dim` numbers per unit.
    #[inline(always)]
    pub(crate) fn add<S: Simd>(
        &mut self,
        simd: S,
        lane: usize,
        changes: &[Change],
        (w, d): (&[f32], &UnitRows<Lanes8>),
    ) {
        let len = self.matrix_len();
        let matrix = &mut self.rows[lane * len..][..len];
        match self.dim.div_ceil(GROUP) {
            1 => add_in_blocks::<S, 1, 4>(simd, matrix, changes, (w, d)),
            2 => add_in_blocks::<S, 2, 4>(simd, matrix, changes, (w, d)),
            3 => add_in_blocks::<S, 3, 2>(simd, matrix, changes, (w, d)),
            4 => add_in_blocks::<S, 4, 2>(simd, matrix, changes, (w, d)),
            _ => changes.iter().for_each(
                #[inline(always)]
                |change| add_long(simd, matrix, *change, (w, d)),
            ),
        }
    }

    /// Turns the matrices into lanes, row after row.
    #[inline(always)]
    pub(crate) fn to_lanes<S: Simd, P: Lanes>(&self, simd: S, to: &mut [P]) {
        let (vectors, len) = (self.dim.div_ceil(GROUP), self.matrix_len());
        for group in 0..P::WIDTH / GROUP {
            let matrices = &self.rows[group * GROUP * len..][..GROUP * len];
            for (i, to) in to.chunks_exact_mut(self.dim).enumerate() {
                for (c, to) in to.chunks_mut(GROUP).enumerate() {
                    let block = filled(
                        f32x8::splat(simd, 0.0),
                        #[inline(always)]
                        |lane| matrices[lane * len + i * vectors + c].load(simd),
                    );
                    let features = transposed(simd, block);
                    for (to, &feature) in to.iter_mut().zip(&features) {
                        to.store_group(group, feature);
                    }
                }
            }
        }
    }
}

/// U changes at a time, then the rest one by one; rows of C vectors.
#[inline(always)]
fn add_in_blocks<S: Simd, const C: usize, const U: usize>(
    simd: S,
    matrix: &mut [Lanes8],
    changes: &[Change],
    factors: (&[f32], &UnitRows<Lanes8>),
) {
    let rows = matrix.as_chunks_mut::<C>().0;
    let (blocks, rest) = changes.as_chunks::<U>();
    for changes in blocks {
        add_block::<S, C, U>(simd, rows, changes, factors);
    }
    for &change in rest {
        add_block::<S, C, 1>(simd, rows, &[change], factors);
    }
}

#[inline(always)]
fn add_block<S: Simd, const C: usize, const U: usize>(
    simd: S,
    rows: &mut [[Lanes8; C]],
    changes: &[Change; U],
    (w, d): (&[f32], &UnitRows<Lanes8>),
) {
    let dim = rows.len();
    let columns = changes.map(|change| &w[change.unit * dim..][..dim]);
    let mut directions = [[f32x8::splat(simd, 0.0); C]; U];
    for u in 0..U {
        let d = d.of(changes[u].unit);
        for c in 0..C {
            directions[u][c] = d[c].load(simd);
        }
    }
    for (i, row) in rows.iter_mut().enumerate() {
        let mut sums = [f32x8::splat(simd, 0.0); C];
        for c in 0..C {
            sums[c] = row[c].load(simd);
        }
        for u in 0..U {
            let step = f32x8::splat(simd, changes[u].by * columns[u][i]);
            for c in 0..C {
                sums[c] = step.mul_add(directions[u][c], sums[c]);
            }
        }
        for c in 0..C {
            row[c].store(sums[c]);
        }
    }
}

/// One change of a matrix with rows of any length.
#[inline(always)]
fn add_long<S: Simd>(
    simd: S,
    matrix: &mut [Lanes8],
    change: Change,
    (w, d): (&[f32], &UnitRows<Lanes8>),
) {
    let d = d.of(change.unit);
    let dim = matrix.len() / d.len();
    let column = &w[change.unit * dim..][..dim];
    for (row, w) in matrix.chunks_exact_mut(d.len()).zip(column) {
        let step = f32x8::splat(simd, change.by * w);
        for (sum, d) in row.iter_mut().zip(d) {
            sum.store(step.mul_add(d.load(simd), sum.load(simd)));
        }
    }
}
