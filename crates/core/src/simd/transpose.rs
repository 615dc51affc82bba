//! Aᵀ, square by square, and numbers in pairs.
//!
//! A square of eight by eight is transposed in registers. Its rows are numbered by three bits, and so are its columns;
//! interleaving rows i and i + 4 turns these six bits around by one, and three times exchange them.

use fearless_simd::prelude::SimdBase;
use fearless_simd::{Simd, f32x8};

/// Rows and columns of a square.
pub(crate) const SQUARE: usize = 8;

/// Columns as rows.
#[inline(always)]
pub(crate) fn transposed<S: Simd>(simd: S, mut rows: [f32x8<S>; SQUARE]) -> [f32x8<S>; SQUARE] {
    for _ in 0..3 {
        let mut turned = rows;
        for i in 0..SQUARE / 2 {
            let (low, high) = simd.interleave_f32x8(rows[i], rows[i + SQUARE / 2]);
            turned[2 * i] = low;
            turned[2 * i + 1] = high;
        }
        rows = turned;
    }
    rows
}

/// Pairs of numbers of even and of odd place, of equal length.
#[inline(always)]
pub(crate) fn pair_up<S: Simd>(simd: S, even: &[f32], odd: &[f32], to: &mut [[f32; 2]]) {
    debug_assert!(even.len() == to.len() && odd.len() == to.len());
    let (whole, rest) = to.as_chunks_mut::<SQUARE>();
    let ((evens, even), (odds, odd)) = (even.as_chunks(), odd.as_chunks());
    for ((to, even), odd) in whole.iter_mut().zip(evens).zip(odds) {
        let (even, odd) = (
            f32x8::load_array_ref(simd, even),
            f32x8::load_array_ref(simd, odd),
        );
        let (low, high) = simd.interleave_f32x8(even, odd);
        let to = to.as_flattened_mut();
        low.store_slice(&mut to[..SQUARE]);
        high.store_slice(&mut to[SQUARE..]);
    }
    for ((to, &even), &odd) in rest.iter_mut().zip(even).zip(odd) {
        *to = [even, odd];
    }
}

/// Puts the transpose of a matrix with rows of `cols` numbers into `to`.
#[inline(always)]
pub(crate) fn transpose<S: Simd>(simd: S, cols: usize, from: &[f32], to: &mut [f32]) {
    let rows = from.len() / cols;
    let (whole_rows, whole_cols) = (rows - rows % SQUARE, cols - cols % SQUARE);
    for i in (0..whole_rows).step_by(SQUARE) {
        for k in (0..whole_cols).step_by(SQUARE) {
            let mut square = [f32x8::splat(simd, 0.0); SQUARE];
            for (r, row) in square.iter_mut().enumerate() {
                *row = f32x8::from_slice(simd, &from[(i + r) * cols + k..][..SQUARE]);
            }
            for (c, column) in transposed(simd, square).iter().enumerate() {
                column.store_slice(&mut to[(k + c) * rows + i..][..SQUARE]);
            }
        }
    }
    for (i, row) in from.chunks_exact(cols).enumerate() {
        let first = if i < whole_rows { whole_cols } else { 0 };
        for (k, &number) in row.iter().enumerate().skip(first) {
            to[k * rows + i] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Task, dispatch_widest};

    struct Transpose<'a>(usize, &'a [f32], &'a mut [f32]);

    impl Task for Transpose<'_> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            transpose(simd, self.0, self.1, self.2);
        }
    }

    struct PairUp<'a>(&'a [f32], &'a [f32], &'a mut [[f32; 2]]);

    impl Task for PairUp<'_> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            pair_up(simd, self.0, self.1, self.2);
        }
    }

    #[test]
    fn numbers_stand_in_pairs() {
        for (isa, len) in Isa::available().flat_map(|isa| [0, 1, 8, 13, 16].map(|len| (isa, len))) {
            let even: Vec<f32> = (0..len).map(|i| i as f32).collect();
            let odd: Vec<f32> = even.iter().map(|number| 100.0 + number).collect();
            let mut to = vec![[-1.0; 2]; len];
            dispatch_widest(isa, PairUp(&even, &odd, &mut to));
            let expected = even.iter().zip(&odd).map(|(&even, &odd)| [even, odd]);
            assert!(to.iter().copied().eq(expected), "{len}, {isa:?}");
        }
    }

    #[test]
    fn rows_become_columns() {
        let sizes = [
            (1, 1),
            (3, 50),
            (7, 9),
            (8, 8),
            (16, 64),
            (20, 101),
            (33, 17),
        ];
        for (isa, (rows, cols)) in Isa::available().flat_map(|isa| sizes.map(|size| (isa, size))) {
            let from: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
            let mut to = vec![-1.0; rows * cols];
            dispatch_widest(isa, Transpose(cols, &from, &mut to));
            for (i, number) in to.iter().enumerate() {
                let (col, row) = (i / rows, i % rows);
                assert_eq!(*number, from[row * cols + col], "{rows} × {cols}, {isa:?}");
            }
        }
    }
}
