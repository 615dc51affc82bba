//! y = W x for lanes: a small dense matrix, broadcast, times a column of lanes.
//!
//! Rows are taken in tiles of R whose accumulators stay in registers. A tile's weights stand together, column
//! after column, so that they stream. R·U ≤ 12 accumulators hide the latency of the multiply-add: tiles of few
//! rows split the sum over columns into U interleaved ones. Where there are many x, a tile is R rows of C products
//! instead, so that a weight is loaded once for C multiply-adds.

use fearless_simd::Simd;
use fearless_simd::prelude::{SimdBase, SimdFloat};

use super::lanes::UnitVector;
use super::{Lanes, Weight, filled};

/// A matrix, packed in tiles of rows.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    rows: usize,
    cols: usize,
    tile: usize,
    values: Vec<f32>,
}

/// Tile heights that are compiled.
const TILES: [usize; 6] = [2, 4, 6, 8, 10, 12];

/// Tile heights for many columns, those with most products a load first.
const TILES_FOR_MANY: [usize; 5] = [4, 3, 5, 2, 1];

/// The same where rows stand in pairs.
const PAIRED_TILES_FOR_MANY: [usize; 5] = [16, 20, 8, 4, 2];

impl Packed {
    /// Room for a rows × cols matrix that [`multiply`] takes, zero.
    pub(crate) fn new(rows: usize, cols: usize) -> Packed {
        // Time of a tile ≈ its rows plus one for the column's load; the last tile is padded.
        let cost = |tile: usize| rows.div_ceil(tile) * (tile + 1);
        Packed::in_tiles(rows, cols, &TILES, cost)
    }

    /// Room for a rows × cols matrix that [`multiply_many`] takes, zero.
    pub(crate) fn for_many<P: Lanes>(rows: usize, cols: usize) -> Packed {
        let cost = |tile: usize| rows.div_ceil(tile) * tile;
        let tiles = match P::ABREAST {
            1 => &TILES_FOR_MANY,
            _ => &PAIRED_TILES_FOR_MANY,
        };
        Packed::in_tiles(rows, cols, tiles, cost)
    }

    /// In the first of the tile heights that cost least.
    fn in_tiles(
        rows: usize,
        cols: usize,
        tiles: &[usize],
        cost: impl Fn(usize) -> usize,
    ) -> Packed {
        let tile = *tiles
            .iter()
            .min_by_key(|&&tile| cost(tile))
            .expect("there are tile heights");
        Packed::of_height(rows, cols, tile)
    }

    /// Room for a rows × cols matrix in tiles of a given height, zero.
    pub(super) fn of_height(rows: usize, cols: usize, tile: usize) -> Packed {
        Packed {
            rows,
            cols,
            tile,
            values: vec![0.0; rows.next_multiple_of(tile) * cols],
        }
    }

    pub(super) fn tile(&self) -> usize {
        self.tile
    }

    /// Tile after tile, column after column.
    pub(super) fn values(&self) -> &[f32] {
        &self.values
    }

    /// The same by pairs of rows.
    pub(super) fn pairs(&self) -> &[[f32; 2]] {
        self.values.as_chunks().0
    }

    /// Takes W, row by row.
    pub(crate) fn fill_rows(&mut self, w: &[f32]) {
        let (cols, tile) = (self.cols, self.tile);
        let tiles = self.values.chunks_exact_mut(tile * cols);
        for (values, rows) in tiles.zip(w.chunks(tile * cols)) {
            for (r, row) in rows.chunks_exact(cols).enumerate() {
                let places = values[r..].iter_mut().step_by(tile);
                places.zip(row).for_each(|(to, &from)| *to = from);
            }
        }
    }

    /// Takes W, column by column.
    #[inline(always)]
    pub(crate) fn fill_columns(&mut self, w: &[f32]) {
        let (rows, cols, tile) = (self.rows, self.cols, self.tile);
        let tiles = self.values.chunks_exact_mut(tile * cols);
        for (i, values) in tiles.enumerate() {
            let height = tile.min(rows - i * tile);
            let columns = values
                .chunks_exact_mut(tile)
                .zip(w.chunks_exact(rows).map(|column| &column[i * tile..]));
            // Copies of a length that is known beforehand are a few vectors, others a call each.
            match height {
                32 => columns.for_each(copy::<32>),
                24 => columns.for_each(copy::<24>),
                20 => columns.for_each(copy::<20>),
                16 => columns.for_each(copy::<16>),
                12 => columns.for_each(copy::<12>),
                10 => columns.for_each(copy::<10>),
                8 => columns.for_each(copy::<8>),
                4 => columns.for_each(copy::<4>),
                _ => columns.for_each(|(to, from)| to[..height].copy_from_slice(&from[..height])),
            }
        }
    }

    /// Takes the entries W[row][col] = entry(row, col).
    pub(crate) fn fill(&mut self, entry: impl Fn(usize, usize) -> f32) {
        let (rows, cols, tile) = (self.rows, self.cols, self.tile);
        for (i, tile_values) in self.values.chunks_exact_mut(tile * cols).enumerate() {
            let height = tile.min(rows - i * tile);
            for (col, column) in tile_values.chunks_exact_mut(tile).enumerate() {
                column[..height]
                    .iter_mut()
                    .enumerate()
                    .for_each(|(r, v)| *v = entry(i * tile + r, col));
            }
        }
    }
}

#[inline(always)]
fn copy<const LEN: usize>((to, from): (&mut [f32], &[f32])) {
    to[..LEN].copy_from_slice(&from[..LEN]);
}

/// Calls emit(row, Σ_k W[row][k] x[k]) for every row, in order.
#[inline(always)]
pub(crate) fn multiply<S: Simd, P: Lanes>(
    simd: S,
    w: &Packed,
    x: &[P],
    emit: impl FnMut(usize, P::Vector<S>),
) {
    debug_assert_eq!(x.len(), w.cols);
    match w.tile {
        2 => tiles::<S, P, 2, 6>(simd, w, x, emit),
        4 => tiles::<S, P, 4, 3>(simd, w, x, emit),
        6 => tiles::<S, P, 6, 2>(simd, w, x, emit),
        8 => tiles::<S, P, 8, 1>(simd, w, x, emit),
        10 => tiles::<S, P, 10, 1>(simd, w, x, emit),
        _ => tiles::<S, P, 12, 1>(simd, w, x, emit),
    }
}

/// Y = W X for many columns of lanes, one after another in memory; `w` is packed for that. A weight is broadcast once
/// for several columns; where registers have room for two rows, rows stand in pairs as units do. Not inlined: one copy
/// serves all callers of an instruction set.
pub(crate) fn multiply_many<S: Simd, P: Lanes>(simd: S, w: &Packed, x: &[P], y: &mut [P]) {
    simd.vectorize(
        #[inline(always)]
        || match (P::ABREAST, w.tile) {
            (1, 1) => blocks::<S, P, f32, 1, 8>(simd, (w, &w.values), x, y),
            (1, 2) => blocks::<S, P, f32, 2, 6>(simd, (w, &w.values), x, y),
            (1, 3) => blocks::<S, P, f32, 3, 4>(simd, (w, &w.values), x, y),
            (1, 4) => blocks::<S, P, f32, 4, 3>(simd, (w, &w.values), x, y),
            (1, _) => blocks::<S, P, f32, 5, 2>(simd, (w, &w.values), x, y),
            (_, 2) => blocks::<S, P, [f32; 2], 1, 8>(simd, (w, w.pairs()), x, y),
            (_, 4) => blocks::<S, P, [f32; 2], 2, 6>(simd, (w, w.pairs()), x, y),
            (_, 8) => blocks::<S, P, [f32; 2], 4, 4>(simd, (w, w.pairs()), x, y),
            (_, 16) => blocks::<S, P, [f32; 2], 8, 2>(simd, (w, w.pairs()), x, y),
            _ => blocks::<S, P, [f32; 2], 10, 2>(simd, (w, w.pairs()), x, y),
        },
    );
}

/// Columns in blocks of C, the last ones alone.
#[inline(always)]
fn blocks<S: Simd, P: Lanes, W: Weight, const R: usize, const C: usize>(
    simd: S,
    (w, weights): (&Packed, &[W]),
    x: &[P],
    y: &mut [P],
) {
    let whole = x.len() / w.cols / C * C;
    let (x, last_x) = x.split_at(whole * w.cols);
    let (y, last_y) = y.split_at_mut(whole * w.rows);
    for (x, y) in x
        .chunks_exact(C * w.cols)
        .zip(y.chunks_exact_mut(C * w.rows))
    {
        block::<S, P, W, R, C>(simd, (w, weights), x, y);
    }
    for (x, y) in last_x
        .chunks_exact(w.cols)
        .zip(last_y.chunks_exact_mut(w.rows))
    {
        block::<S, P, W, R, 1>(simd, (w, weights), x, y);
    }
}

/// C columns, in tiles of R rows or pairs of rows.
#[inline(always)]
fn block<S: Simd, P: Lanes, W: Weight, const R: usize, const C: usize>(
    simd: S,
    (w, weights): (&Packed, &[W]),
    x: &[P],
    y: &mut [P],
) {
    let x: [&[P]; C] = filled(
        &[][..],
        #[inline(always)]
        |c| &x[c * w.cols..][..w.cols],
    );
    let (columns, _) = weights.as_chunks::<R>();
    for (i, columns) in columns.chunks_exact(w.cols).enumerate() {
        let mut sums = [[<UnitVector<P, S>>::splat(simd, 0.0); C]; R];
        for (k, column) in columns.iter().enumerate() {
            for c in 0..C {
                let x = P::widen(x[c][k].load(simd));
                for r in 0..R {
                    let weight = column[r].spread::<S, P::Units>(simd);
                    sums[r][c] = weight.mul_add(x, sums[r][c]);
                }
            }
        }
        let first = i * w.tile;
        for row in 0..w.tile.min(w.rows - first) {
            let (r, place) = (row / P::ABREAST, row % P::ABREAST);
            for c in 0..C {
                y[c * w.rows + first + row].store(P::unit(sums[r][c], place));
            }
        }
    }
}

#[inline(always)]
fn tiles<S: Simd, P: Lanes, const R: usize, const U: usize>(
    simd: S,
    w: &Packed,
    x: &[P],
    mut emit: impl FnMut(usize, P::Vector<S>),
) {
    let (columns, _) = w.values.as_chunks::<R>();
    for (i, columns) in columns.chunks_exact(w.cols).enumerate() {
        let first = i * R;
        let height = R.min(w.rows - first);
        let sums = tile::<S, P, R, U>(simd, columns, x);
        for (r, &sum) in sums[..height].iter().enumerate() {
            emit(first + r, sum);
        }
    }
}

#[inline(always)]
fn tile<S: Simd, P: Lanes, const R: usize, const U: usize>(
    simd: S,
    columns: &[[f32; R]],
    x: &[P],
) -> [P::Vector<S>; R] {
    let mut sums = [[P::Vector::splat(simd, 0.0); R]; U];
    let ((columns, last_columns), (x, last_x)) = (columns.as_chunks::<U>(), x.as_chunks::<U>());
    for (columns, x) in columns.iter().zip(x) {
        for u in 0..U {
            add_column::<S, P, R>(simd, &columns[u], &x[u], &mut sums[u]);
        }
    }
    for (u, (column, x)) in last_columns.iter().zip(last_x).enumerate() {
        add_column::<S, P, R>(simd, column, x, &mut sums[u]);
    }
    let (total, parts) = sums.split_first_mut().expect("U is at least one");
    for part in parts {
        for r in 0..R {
            total[r] += part[r];
        }
    }
    *total
}

#[inline(always)]
fn add_column<S: Simd, P: Lanes, const R: usize>(
    simd: S,
    column: &[f32; R],
    x: &P,
    sums: &mut [P::Vector<S>; R],
) {
    let x = x.load(simd);
    for r in 0..R {
        sums[r] = P::Vector::splat(simd, column[r]).mul_add(x, sums[r]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Lanes8, Paired8};

    #[test]
    fn rows_columns_and_entries_pack_alike() {
        // Heights that do and do not divide the rows.
        for (rows, cols) in [(1, 1), (3, 5), (12, 4), (13, 7), (50, 3)] {
            let number = |row: usize, col: usize| (100 * row + col) as f32;
            let by_rows: Vec<f32> = (0..rows * cols)
                .map(|i| number(i / cols, i % cols))
                .collect();
            let by_columns: Vec<f32> = (0..rows * cols)
                .map(|i| number(i % rows, i / rows))
                .collect();
            for blank in [
                Packed::new(rows, cols),
                Packed::for_many::<Lanes8>(rows, cols),
                Packed::for_many::<Paired8>(rows, cols),
            ] {
                let mut packed = [blank.clone(), blank.clone(), blank];
                packed[0].fill(number);
                packed[1].fill_rows(&by_rows);
                packed[2].fill_columns(&by_columns);
                assert_eq!(packed[0].values, packed[1].values, "{rows} × {cols}");
                assert_eq!(packed[0].values, packed[2].values, "{rows} × {cols}");
            }
        }
    }
}
