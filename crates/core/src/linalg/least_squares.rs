//! Ridge regression from sums over the rows: W minimises  Σ_t ‖y_t − W a_t‖² + λ ‖W‖²,  so that
//!
//! ```text
//! (G + λ I) Wᵀ = C,    G = Σ a aᵀ,    C = Σ a yᵀ
//! ```
//!
//! Features and targets are one row (a, y) of a [`Gram`] matrix, which holds G, C and Σ y yᵀ. Its Cholesky factor, taken over the
//! features alone, has L⁻¹C in the rows of the targets, and Wᵀ = L⁻ᵀ L⁻¹ C. Where G + λI is singular to rounding, Wᵀ is
//! Σ_k v_k (v_k·C)/(μ_k + λ) over the eigenvectors of G; for λ = 0 over those with μ_k above F ε μ₁, which is the solution of
//! least norm.

use super::gram::{Block, Gram, PANEL, TALL, Tile, WIDE};
use super::symmetric_eigen;
use crate::simd::{Isa, Simd, SimdBase, Task, dispatch_widest, f64x4};

/// Sums over rows of features and targets.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    features: usize,
    targets: usize,
    gram: Gram,
    threads: usize,
    isa: Isa,
    row: Vec<f64>,
}

/// Rows of features and targets that are to be added.
#[derive(Debug, Clone)]
pub struct Batch {
    block: Block,
    row: Vec<f64>,
    first_target: usize,
}

impl Batch {
    /// Whether there is no room for another row.
    pub fn is_full(&self) -> bool {
        self.block.is_full()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.block.is_empty()
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.block.clear();
    }

    /// Adds a row, of which `write` writes the features and the targets.
    pub fn push(&mut self, write: impl FnOnce(&mut [f64], &mut [f64])) {
        let (features, targets) = self.row.split_at_mut(self.first_target);
        write(features, targets);
        self.block.push(&self.row);
    }
}

impl LeastSquares {
    /// No rows yet, of so many features and targets.
    pub fn new(features: usize, targets: usize, threads: usize, isa: Isa) -> LeastSquares {
        // Targets begin in a panel of their own, so that the features alone can be factorised.
        let width = features.next_multiple_of(PANEL) + targets;
        LeastSquares {
            features,
            targets,
            gram: Gram::new(width, isa),
            threads: threads.max(1),
            isa,
            row: vec![0.0; width],
        }
    }

    /// Bytes that the sums of so many features and targets take.
    pub fn bytes(features: usize, targets: usize) -> u64 {
        8 * Gram::numbers(features.next_multiple_of(PANEL) + targets) as u64
    }

    /// An empty batch; what `write` of [`Batch::push`] gets as features is as long as the features filled up to whole panels,
    /// and what is behind them must stay zero.
    pub fn batch(&self) -> Batch {
        Batch {
            block: Block::new(self.row.len()),
            row: self.row.clone(),
            first_target: self.first_target(),
        }
    }

    /// Adds rows, while the calling thread first does something else.
    pub fn add_while(&mut self, batch: &Batch, meanwhile: impl FnOnce()) {
        self.gram.add_while(&batch.block, self.threads, meanwhile);
    }

    /// Adds rows.
    pub fn add(&mut self, batch: &Batch) {
        self.add_while(batch, || ());
    }

    /// Takes the sums of other rows as well.
    pub fn merge(&mut self, other: &LeastSquares) {
        let sums = self.gram.panels.iter_mut().flatten();
        let others = other.gram.panels.iter().flatten();
        sums.zip(others).for_each(|(sum, other)| *sum += other);
    }

    fn first_target(&self) -> usize {
        self.features.next_multiple_of(PANEL)
    }

    /// W for the first `count` features, targets × count.
    pub fn solve(&self, count: usize, lambda: f64) -> Vec<f64> {
        let mut factor = self.first_features(count);
        factor.prepare(lambda);
        if factor.factorise() {
            factor.substitute_back()
        } else {
            self.by_eigenvectors(count, lambda)
        }
    }

    /// Σ_t ‖y_t − W a_t‖² for W, targets × count:  Σ y² − 2 w·c + w·G w.
    pub fn residual(&self, count: usize, w: &[f64]) -> f64 {
        let first = self.first_target();
        let of_target = |(i, w): (usize, &[f64])| {
            let y = first + i;
            let mut sum = self.gram.at(y, y);
            for (a, &wa) in w.iter().enumerate() {
                let g: f64 = (0..count).map(|b| self.gram.at(a, b) * w[b]).sum();
                sum += wa * (g - 2.0 * self.gram.at(y, a));
            }
            sum
        };
        w.chunks_exact(count).enumerate().map(of_target).sum()
    }

    /// The sums of the first features alone, and the targets.
    fn first_features(&self, count: usize) -> LeastSquares {
        if count == self.features {
            return self.clone();
        }
        let mut some = LeastSquares::new(count, self.targets, self.threads, self.isa);
        let (from, to) = (self.first_target(), some.first_target());
        let place = |i: usize| if i < count { i } else { i - to + from };
        let known: Vec<usize> = (0..count).chain(to..to + self.targets).collect();
        for &i in &known {
            for &j in known.iter().take_while(|&&j| j <= i) {
                *some.at_mut(i, j) = self.gram.at(place(i), place(j));
            }
        }
        some
    }

    fn at_mut(&mut self, row: usize, column: usize) -> &mut f64 {
        let (panel, c) = (column / PANEL, column % PANEL);
        &mut self.gram.panels[panel][(row - panel * PANEL) * PANEL + c]
    }

    /// G + λI, with ones for the columns that fill up the last panel.
    fn prepare(&mut self, lambda: f64) {
        (0..self.features).for_each(|i| *self.at_mut(i, i) += lambda);
        (self.features..self.first_target()).for_each(|i| *self.at_mut(i, i) = 1.0);
    }

    /// Replaces G by L with G = L Lᵀ, and Cᵀ by (L⁻¹C)ᵀ, panel by panel; false if G is singular to rounding.
    fn factorise(&mut self) -> bool {
        let diagonal: Vec<f64> = (0..self.features).map(|i| self.gram.at(i, i)).collect();
        for j in 0..self.first_target() / PANEL {
            let (done, rest) = self.gram.panels.split_at_mut(j);
            let update = Update {
                columns: transposed_rows(done, j),
                done,
                j,
                sums: &mut rest[0],
            };
            dispatch_widest(self.isa, update);
            let known = &diagonal[(j * PANEL).min(diagonal.len())..];
            if !factorise_panel(&mut rest[0], known, self.features) {
                return false;
            }
        }
        true
    }

    /// Wᵀ = L⁻ᵀ (L⁻¹C), from the last feature to the first.
    fn substitute_back(&self) -> Vec<f64> {
        let (f, first) = (self.features, self.first_target());
        let mut w = vec![0.0; self.targets * f];
        for (i, w) in w.chunks_exact_mut(f).enumerate() {
            let entries = w.iter_mut().enumerate();
            entries.for_each(|(j, w)| *w = self.gram.at(first + i, j));
            // Column by column of Lᵀ: L's rows are read as they stand, those of a panel at a time.
            for j in (0..f).rev() {
                let (before, from_j) = w.split_at_mut(j);
                from_j[0] /= self.gram.at(j, j);
                for (panel, before) in self.gram.panels.iter().zip(before.chunks_mut(PANEL)) {
                    let first = (self.gram.panels[0].len() - panel.len()) / PANEL;
                    let row = &panel[(j - first) * PANEL..][..PANEL];
                    let pairs = before.iter_mut().zip(row);
                    pairs.for_each(|(w, l)| *w -= l * from_j[0]);
                }
            }
        }
        w
    }

    fn by_eigenvectors(&self, count: usize, lambda: f64) -> Vec<f64> {
        let entry = |e: usize| self.gram.at(e / count, e % count);
        let g: Vec<f64> = (0..count * count).map(entry).collect();
        let (values, vectors) = symmetric_eigen(&g, count);
        let largest = values.iter().fold(0.0, |most: f64, &v| most.max(v));
        let noise = count as f64 * f64::EPSILON * largest;
        let first = self.first_target();
        let mut w = vec![0.0; self.targets * count];
        for (i, w) in w.chunks_exact_mut(count).enumerate() {
            for (k, &value) in values.iter().enumerate() {
                if lambda == 0.0 && value <= noise {
                    continue;
                }
                let v = |a: usize| vectors[a * count + k];
                let overlap: f64 = (0..count).map(|a| v(a) * self.gram.at(first + i, a)).sum();
                let share = overlap / (value.max(0.0) + lambda);
                w.iter_mut()
                    .enumerate()
                    .for_each(|(a, w)| *w += share * v(a));
            }
        }
        w
    }
}

/// The rows of L that panel j begins with, up to it, column by column.
fn transposed_rows(done: &[Vec<f64>], j: usize) -> Vec<[f64; PANEL]> {
    let mut columns = vec![[0.0; PANEL]; done.len() * PANEL];
    for (k, (panel, columns)) in done.iter().zip(columns.chunks_exact_mut(PANEL)).enumerate() {
        let rows = panel[(j - k) * PANEL * PANEL..].as_chunks::<PANEL>().0;
        for (r, row) in rows[..PANEL].iter().enumerate() {
            (0..PANEL).for_each(|c| columns[c][r] = row[c]);
        }
    }
    columns
}

/// G_ij − Σ_{k<j} L_ik L_jkᵀ for all i ≥ j, in blocks of the size of a panel.
struct Update<'a> {
    done: &'a [Vec<f64>],
    columns: Vec<[f64; PANEL]>,
    j: usize,
    sums: &'a mut [f64],
}

impl Task for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let all = std::mem::take(&mut self.sums);
        for (tall, sums) in all.chunks_exact_mut(TALL * PANEL).enumerate() {
            for wide in (0..PANEL).step_by(WIDE) {
                let products = self.products(simd, tall * TALL, wide);
                for (sums, products) in sums.chunks_exact_mut(PANEL).zip(products.0) {
                    let sums = sums[wide..].as_chunks_mut::<4>().0.iter_mut();
                    for (sums, product) in sums.zip(products) {
                        (f64x4::load_array_ref(simd, sums) - product).store_array(sums);
                    }
                }
            }
        }
    }
}

impl Update<'_> {
    /// Σ_k L_ik L_jkᵀ of the rows from `row` of the panel on, and of the columns from `column` on.
    #[inline(always)]
    fn products<S: Simd>(&self, simd: S, row: usize, column: usize) -> Tile<S> {
        let mut tile = Tile::zero(simd);
        let parts = self.done.iter().zip(self.columns.chunks_exact(PANEL));
        for (k, (panel, columns)) in parts.enumerate() {
            let first = (self.j - k) * PANEL + row;
            let rows = &panel.as_chunks::<PANEL>().0[first..first + TALL];
            for (c, b) in columns.iter().enumerate() {
                let a = std::array::from_fn(|r| rows[r][c]);
                tile.accumulate(simd, a, &b[column..column + WIDE]);
            }
        }
        tile
    }
}

/// Factorises a panel whose columns before are done; false if a pivot is lost in the rounding of its entry of the diagonal.
fn factorise_panel(panel: &mut [f64], diagonal: &[f64], features: usize) -> bool {
    let (rows, _) = panel.as_chunks_mut::<PANEL>();
    for c in 0..PANEL {
        let pivot = rows[c][c];
        let lost = diagonal
            .get(c)
            .map_or(0.0, |d| features as f64 * f64::EPSILON * d);
        if pivot <= lost || pivot.is_nan() {
            return false;
        }
        rows[c][c] = pivot.sqrt();
        let (above, below) = rows.split_at_mut(c + 1);
        let column = &mut above[c];
        let root = column[c];
        below.iter_mut().for_each(|row| row[c] /= root);
        // What is to the right of the pivot in its own row is not part of the lower triangle: the rows below have it.
        let right: [f64; PANEL] =
            std::array::from_fn(|d| if d > c { below[d - c - 1][c] } else { 0.0 });
        for row in below {
            let l = row[c];
            (c + 1..PANEL).for_each(|d| row[d] -= l * right[d]);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    fn filled(rows: &[(Vec<f64>, Vec<f64>)], threads: usize) -> LeastSquares {
        let (f, n) = (rows[0].0.len(), rows[0].1.len());
        let mut sums = LeastSquares::new(f, n, threads, Isa::detect());
        let mut batch = sums.batch();
        for (a, y) in rows {
            batch.push(|features, targets| {
                features[..f].copy_from_slice(a);
                targets.copy_from_slice(y);
            });
            if batch.is_full() {
                sums.add(&batch);
                batch.clear();
            }
        }
        sums.add(&batch);
        sums
    }

    /// Features and targets of a row.
    type Pair = (Vec<f64>, Vec<f64>);

    fn random(rows: usize, f: usize, n: usize) -> (Vec<Pair>, Vec<f64>) {
        let mut rng = Rng::new(3, Stream::MonteCarlo);
        let mut normals = |count: usize| (0..count).map(|_| rng.normal()).collect::<Vec<f64>>();
        let teacher = normals(n * f);
        let row = |_| {
            let a = normals(f);
            let dot = |w: &[f64]| w.iter().zip(&a).map(|(w, a)| w * a).sum();
            let y = teacher.chunks_exact(f).map(dot).collect();
            (a, y)
        };
        let rows = (0..rows).map(row).collect();
        (rows, teacher)
    }

    /// 0.1 ((7k mod 11) − 5) for k = start, start + 1, …
    fn known(count: usize, start: usize) -> Vec<f64> {
        let number = |k: usize| 0.1 * ((7 * k % 11) as f64 - 5.0);
        (start..start + count).map(number).collect()
    }

    #[test]
    fn a_known_ridge_is_found() {
        let (a, y) = (known(15, 1), known(5, 7));
        let rows = a.chunks_exact(3).zip(y).map(|(a, y)| (a.to_vec(), vec![y]));
        let w = filled(&rows.collect::<Vec<_>>(), 1).solve(3, 0.1);
        // scikit-learn's Ridge without intercept, printed to ten digits.
        let expected = [0.366_012_045, -0.399_450_117_8, -0.511_364_231_5];
        assert!(w.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-10));
    }

    #[test]
    fn a_linear_teacher_is_fitted_exactly_for_any_number_of_features() {
        for f in [1, 5, 24, 25, 60] {
            let (rows, teacher) = random(400, f, 3);
            let sums = filled(&rows, 2);
            let w = sums.solve(f, 0.0);
            // Squared condition numbers of 400 random rows are below 10, sums have some hundred roundings.
            for (w, teacher) in w.iter().zip(&teacher) {
                assert!((w - teacher).abs() < 1e-12, "{f}: {w} {teacher}");
            }
            assert!(sums.residual(f, &w).abs() < 1e-9);
        }
    }

    #[test]
    fn a_heavy_penalty_leaves_no_weights() {
        let (rows, _) = random(100, 14, 2);
        let sums = filled(&rows, 1);
        let most = |lambda: f64| {
            let w = sums.solve(14, lambda);
            w.iter().fold(0.0, |most: f64, w| most.max(w.abs()))
        };
        // W → Cᵀ/λ, and |C| is below a thousand here.
        assert!(most(1e12) < 1e-9 && most(1e3) < most(1.0));
    }

    #[test]
    fn singular_sums_give_the_solution_of_least_norm() {
        // The second feature is the first, the third is zero: the weight is shared, and none is given to the third.
        let rows: Vec<_> = (1..50)
            .map(|t| (f64::from(t) * 0.1).sin())
            .map(|v| (vec![v, v, 0.0], vec![2.0 * v]))
            .collect();
        let w = filled(&rows, 1).solve(3, 0.0);
        assert!((w[0] - 1.0).abs() < 1e-12 && (w[1] - 1.0).abs() < 1e-12 && w[2].abs() < 1e-12);
    }

    #[test]
    fn eigenvectors_give_what_the_factor_gives() {
        let (rows, _) = random(300, 20, 2);
        let sums = filled(&rows, 1);
        let (one, other) = (sums.solve(20, 3.0), sums.by_eigenvectors(20, 3.0));
        // Both are exact to some hundred roundings.
        assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn the_first_features_alone_are_those_of_shorter_rows() {
        let (rows, _) = random(200, 30, 2);
        let whole = filled(&rows, 1);
        for count in [1, 12, 23, 24, 25] {
            let short: Vec<_> = rows
                .iter()
                .map(|(a, y)| (a[..count].to_vec(), y.clone()))
                .collect();
            assert_eq!(whole.solve(count, 0.1), filled(&short, 1).solve(count, 0.1));
        }
    }
}
