//! G = Σ_t a_t a_tᵀ over rows a_t that come in blocks: memory does not depend on how many there are.
//!
//! The sums are the lower triangle of G in panels of 24 columns: panel j has the rows from 24 j on, 24 numbers each. A block is kept
//! in slices of six columns and in slices of eight, each of which fits into a first-level cache. A tile of 6 × 8 sums stays in registers over all rows of a
//! block: with two vectors of columns and one or two of rows these are the sixteen registers that there are; 4 × 12 would take one
//! more, and wait for memory at every step. AVX-512 has 32 registers twice as wide: tiles of 8 × 24. Every sum is added up in the order of the rows, block after block:
//! its bits depend neither on the number of threads nor on the width of registers.

use std::sync::Mutex;

use crate::simd::{Isa, Simd, SimdBase, SimdFloat, Task, dispatch_widest, f64x4, f64x8};

/// Columns of a panel.
pub(super) const PANEL: usize = 24;

/// Rows and columns of a tile.
pub(super) const TALL: usize = 6;
pub(super) const WIDE: usize = 8;

/// Rows of a block: a slice of each kind fits into a first-level cache.
const ROWS: usize = 256;

/// Eight numbers, aligned as vectors like them.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Wide([f64; WIDE]);

/// Six numbers.
type Tall = [f64; TALL];

/// Up to 256 rows, ready to be added: once in slices of eight columns, and once in slices of six.
#[derive(Debug, Clone)]
pub struct Block {
    wide: Vec<Wide>,
    tall: Vec<Tall>,
    width: usize,
    rows: usize,
}

impl Block {
    /// Room for rows of so many numbers.
    pub fn new(width: usize) -> Block {
        let filled = width.next_multiple_of(PANEL);
        Block {
            wide: vec![Wide([0.0; WIDE]); filled / WIDE * ROWS],
            tall: vec![[0.0; TALL]; filled / TALL * ROWS],
            width,
            rows: 0,
        }
    }

    /// Whether there is no room for another row.
    pub fn is_full(&self) -> bool {
        self.rows == ROWS
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows = 0;
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the block is full or the row has another width.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.width, "a row of another width");
        let (wide, wide_rest) = row.as_chunks::<WIDE>();
        let (tall, tall_rest) = row.as_chunks::<TALL>();
        let places = self.wide[self.rows..].iter_mut().step_by(ROWS);
        places.zip(wide).for_each(|(place, v)| place.0 = *v);
        let places = self.tall[self.rows..].iter_mut().step_by(ROWS);
        places.zip(tall).for_each(|(place, v)| *place = *v);
        // What is left of a slice, if anything.
        if let Some(place) = self.wide.get_mut(wide.len() * ROWS + self.rows) {
            place.0[..wide_rest.len()].copy_from_slice(wide_rest);
        }
        if let Some(place) = self.tall.get_mut(tall.len() * ROWS + self.rows) {
            place[..tall_rest.len()].copy_from_slice(tall_rest);
        }
        self.rows += 1;
    }

    /// Slice i of eight columns, and slice i of six.
    #[inline(always)]
    fn wide(&self, i: usize) -> &[Wide] {
        &self.wide[i * ROWS..][..self.rows]
    }

    #[inline(always)]
    fn tall(&self, i: usize) -> &[Tall] {
        &self.tall[i * ROWS..][..self.rows]
    }
}

/// The sums, and how they are made.
#[derive(Debug, Clone)]
pub struct Gram {
    pub(super) width: usize,
    pub(super) panels: Vec<Vec<f64>>,
    isa: Isa,
}

impl Gram {
    /// Zero, for rows of so many numbers.
    pub fn new(width: usize, isa: Isa) -> Gram {
        let count = width.div_ceil(PANEL);
        let panel = |p: usize| vec![0.0; (count - p) * PANEL * PANEL];
        Gram {
            width,
            panels: (0..count).map(panel).collect(),
            isa,
        }
    }

    /// How many numbers the sums of rows of this width are.
    pub fn numbers(width: usize) -> usize {
        let count = width.div_ceil(PANEL);
        count * (count + 1) / 2 * PANEL * PANEL
    }

    /// G_ij.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let (row, column) = (i.max(j), i.min(j));
        let (panel, c) = (column / PANEL, column % PANEL);
        self.panels[panel][(row - panel * PANEL) * PANEL + c]
    }

    /// Adds the rows of a block, by so many threads, while the calling one first does something else.
    pub fn add_while(&mut self, block: &Block, threads: usize, meanwhile: impl FnOnce()) {
        assert_eq!(block.width, self.width, "rows of another width");
        let isa = self.isa;
        let panels = Mutex::new(self.panels.iter_mut().enumerate());
        let add = || {
            loop {
                let next = panels.lock().expect("no one panics holding it").next();
                let Some((j, sums)) = next else { break };
                dispatch_widest(isa, AddPanel { block, j, sums });
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(add);
            }
            meanwhile();
            add();
        });
    }

    /// Adds the rows of a block.
    pub fn add(&mut self, block: &Block, threads: usize) {
        self.add_while(block, threads, || ());
    }
}

/// Adds the rows of a block to one panel of the sums.
struct AddPanel<'a> {
    block: &'a Block,
    j: usize,
    sums: &'a mut [f64],
}

impl Task for AddPanel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if S::f64s::LEN == WIDE {
            return self.by_eights(simd);
        }
        for (i, sums) in (self.j..).zip(self.sums.chunks_exact_mut(PANEL * PANEL)) {
            let sums = sums.as_chunks_mut::<PANEL>().0;
            for c in 0..PANEL / WIDE {
                let columns = self.block.wide(self.j * (PANEL / WIDE) + c);
                for (r, sums) in sums.chunks_exact_mut(TALL).enumerate() {
                    let rows = self.block.tall(i * (PANEL / TALL) + r);
                    add_tile(simd, rows, columns, c * WIDE, sums);
                }
            }
        }
    }
}

impl AddPanel<'_> {
    /// The same in vectors of eight.
    #[inline(always)]
    fn by_eights<S: Simd>(self, simd: S) {
        const SLICES: usize = PANEL / WIDE;
        let slice = |i: usize| self.block.wide(i);
        let columns: [&[Wide]; SLICES] = std::array::from_fn(
            #[inline(always)]
            |c| slice(self.j * SLICES + c),
        );
        let all = self.sums.as_chunks_mut::<PANEL>().0;
        for (i, sums) in all.chunks_exact_mut(WIDE).enumerate() {
            add_wide_tile(simd, slice(self.j * SLICES + i), columns, sums);
        }
    }
}

/// sums[r][8 c + k] += Σ_t rows[t][r] columns[c][t][k].
#[inline(always)]
fn add_wide_tile<S: Simd>(
    simd: S,
    rows: &[Wide],
    columns: [&[Wide]; PANEL / WIDE],
    sums: &mut [[f64; PANEL]],
) {
    let mut tile = [[f64x8::splat(simd, 0.0); PANEL / WIDE]; WIDE];
    let [first, second, third] = columns;
    for (((a, b), c), d) in rows.iter().zip(first).zip(second).zip(third) {
        let columns = [b, c, d].map(
            #[inline(always)]
            |v| f64x8::load_array_ref(simd, &v.0),
        );
        for (sums, a) in tile.iter_mut().zip(a.0) {
            let a = f64x8::splat(simd, a);
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum = a.mul_add(column, *sum);
            }
        }
    }
    for (row, sums) in tile.iter().zip(sums) {
        for (sums, tile) in sums.as_chunks_mut::<WIDE>().0.iter_mut().zip(row) {
            (f64x8::load_array_ref(simd, sums) + *tile).store_array(sums);
        }
    }
}

/// sums[r][column + c] += Σ_t rows[t][r] columns[t][c].
#[inline(always)]
fn add_tile<S: Simd>(
    simd: S,
    rows: &[Tall],
    columns: &[Wide],
    column: usize,
    sums: &mut [[f64; PANEL]],
) {
    let mut tile = Tile::zero(simd);
    for (a, b) in rows.iter().zip(columns) {
        tile.accumulate(simd, *a, &b.0);
    }
    for (row, sums) in tile.0.iter().zip(sums) {
        let sums = sums[column..].as_chunks_mut::<4>().0.iter_mut();
        for (sums, tile) in sums.zip(row) {
            (f64x4::load_array_ref(simd, sums) + *tile).store_array(sums);
        }
    }
}

/// Sums that stay in registers.
pub(super) struct Tile<S: Simd>(pub(super) [[f64x4<S>; WIDE / 4]; TALL]);

impl<S: Simd> Tile<S> {
    #[inline(always)]
    pub(super) fn zero(simd: S) -> Tile<S> {
        Tile([[f64x4::splat(simd, 0.0); WIDE / 4]; TALL])
    }

    /// tile[r][c] += a[r] b[c].
    #[inline(always)]
    pub(super) fn accumulate(&mut self, simd: S, a: [f64; TALL], b: &[f64]) {
        let b = [
            f64x4::from_slice(simd, &b[..4]),
            f64x4::from_slice(simd, &b[4..WIDE]),
        ];
        for (sums, a) in self.0.iter_mut().zip(a) {
            let a = f64x4::splat(simd, a);
            sums[0] = a.mul_add(b[0], sums[0]);
            sums[1] = a.mul_add(b[1], sums[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, count: usize) -> Vec<Vec<f64>> {
        let value = |t: usize, i: usize| ((t * 31 + i * 17) % 23) as f64 - 11.0;
        let row = |t| (0..width).map(|i| value(t, i)).collect();
        (0..count).map(row).collect()
    }

    fn gram(rows: &[Vec<f64>], isa: Isa, threads: usize) -> Gram {
        let width = rows[0].len();
        let (mut gram, mut block) = (Gram::new(width, isa), Block::new(width));
        for row in rows {
            if block.is_full() {
                gram.add(&block, threads);
                block.clear();
            }
            block.push(row);
        }
        gram.add(&block, threads);
        gram
    }

    #[test]
    fn sums_of_products_are_exact_for_whole_numbers_of_any_width() {
        for width in [1, 6, 23, 24, 25, 60] {
            let rows = rows(width, 2 * ROWS + 5);
            let gram = gram(&rows, Isa::detect(), 2);
            for i in 0..width {
                for j in 0..width {
                    let sum: f64 = rows.iter().map(|row| row[i] * row[j]).sum();
                    assert_eq!(gram.at(i, j), sum, "width {width}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_threads_or_on_wider_registers() {
        let mut rows = rows(30, 300);
        rows.iter_mut()
            .flatten()
            .for_each(|v| *v = (0.1 * *v).sin());
        let expected = gram(&rows, Isa::Avx2.min(Isa::detect()), 1);
        for isa in Isa::available().filter(|&isa| isa >= Isa::Avx2) {
            for threads in [1, 2, 5] {
                let found = gram(&rows, isa, threads);
                assert_eq!(found.panels, expected.panels, "{isa:?} {threads}");
            }
        }
    }
}
