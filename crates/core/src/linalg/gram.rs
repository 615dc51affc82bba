//! G = Σ_t a_t a_tᵀ over rows a_t that come in blocks: memory does not depend on how many there are.
//!
//! Columns stand in panels of twelve. A block is kept as `[panel][row][12]`, the sums as the lower triangle of G in the same
//! panels: panel j has the rows from 12 j on, twelve numbers each. A tile of 4 × 12 sums stays in registers over all rows of a
//! block, which is the product that a processor does best. Every sum is added up in the order of the rows, block after block:
//! its bits depend neither on the number of threads nor on the width of registers.

use std::sync::Mutex;

use crate::simd::{Isa, Simd, SimdBase, SimdFloat, Task, dispatch_widest, f64x4};

/// Columns of a panel.
pub(super) const PANEL: usize = 12;

/// Rows of a tile.
const TILE: usize = 4;

/// Rows of a block: a panel of them fits into a first-level cache.
const ROWS: usize = 256;

/// Up to 256 rows, ready to be added.
#[derive(Debug, Clone)]
pub struct Block {
    packed: Vec<f64>,
    width: usize,
    rows: usize,
}

impl Block {
    /// Room for rows of so many numbers.
    pub fn new(width: usize) -> Block {
        Block {
            packed: vec![0.0; width.div_ceil(PANEL) * PANEL * ROWS],
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
        let panels = self.packed.chunks_exact_mut(ROWS * PANEL);
        for (numbers, panel) in row.chunks(PANEL).zip(panels) {
            panel[self.rows * PANEL..][..numbers.len()].copy_from_slice(numbers);
        }
        self.rows += 1;
    }

    /// Panel p, twelve numbers per row.
    fn panel(&self, p: usize) -> &[[f64; PANEL]] {
        let panel = &self.packed[p * ROWS * PANEL..][..self.rows * PANEL];
        panel.as_chunks().0
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
        let columns = self.block.panel(self.j);
        for (i, sums) in (self.j..).zip(self.sums.chunks_exact_mut(PANEL * PANEL)) {
            let rows = self.block.panel(i);
            let (tiles, _) = sums.as_chunks_mut::<{ TILE * PANEL }>();
            let [first, second, third] = tiles else {
                unreachable!("a panel has three tiles");
            };
            tile::<S, 0>(simd, rows, columns, first);
            tile::<S, TILE>(simd, rows, columns, second);
            tile::<S, { 2 * TILE }>(simd, rows, columns, third);
        }
    }
}

/// sums[r][c] += Σ_t rows[t][FIRST + r] columns[t][c].
#[inline(always)]
fn tile<S: Simd, const FIRST: usize>(
    simd: S,
    rows: &[[f64; PANEL]],
    columns: &[[f64; PANEL]],
    sums: &mut [f64; TILE * PANEL],
) {
    let mut tile = [[f64x4::splat(simd, 0.0); PANEL / 4]; TILE];
    for (row, column) in rows.iter().zip(columns) {
        accumulate(
            simd,
            std::array::from_fn(|r| row[FIRST + r]),
            column,
            &mut tile,
        );
    }
    let sums = sums.as_chunks_mut::<4>().0.iter_mut();
    for (sums, tile) in sums.zip(tile.as_flattened()) {
        (f64x4::load_array_ref(simd, sums) + *tile).store_array(sums);
    }
}

/// tile[r][c] += a[r] b[c].
#[inline(always)]
pub(super) fn accumulate<S: Simd>(
    simd: S,
    a: [f64; TILE],
    b: &[f64; PANEL],
    tile: &mut [[f64x4<S>; PANEL / 4]; TILE],
) {
    let b: [f64x4<S>; 3] =
        std::array::from_fn(|v| f64x4::load_array_ref(simd, &b.as_chunks::<4>().0[v]));
    for (sums, a) in tile.iter_mut().zip(a) {
        let a = f64x4::splat(simd, a);
        for (sum, b) in sums.iter_mut().zip(b) {
            *sum = a.mul_add(b, *sum);
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
        for width in [1, 4, 11, 12, 13, 25, 40] {
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
