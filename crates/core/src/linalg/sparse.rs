//! Sparse matrices by rows, and the largest eigenvalue of those without negative entries.
//!
//! # The spectral radius of a non-negative matrix
//!
//! By the theorem of Perron and Frobenius it is itself an eigenvalue, and that of one of the strongly connected components of
//! the graph in which j → i where W_ij > 0. Inside a component, W + I has a single eigenvalue of largest modulus, with a positive
//! vector, whatever complex pairs W has: x ← (W + I) x converges to it from any positive x, and at every step
//!
//! ```text
//! min_i (W x)_i / x_i  ≤  ϱ  ≤  max_i (W x)_i / x_i        (Collatz and Wielandt)
//! ```
//!
//! says how close it is. There is no dense matrix, no start to be unlucky with, and no pair to oscillate between.

/// A square matrix of which only the entries that are not zero are stored, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    /// Where the entries of each row start; one more, where they end.
    pub starts: Vec<usize>,
    /// The column of each entry.
    pub columns: Vec<u32>,
    /// The entries.
    pub values: Vec<f64>,
}

impl Sparse {
    /// A matrix from its entries (place, value), with the places row · n + column ascending.
    pub fn from_entries(n: usize, entries: &[(usize, f64)]) -> Sparse {
        let mut starts = vec![0; n + 1];
        entries
            .iter()
            .for_each(|(place, _)| starts[place / n + 1] += 1);
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        Sparse {
            starts,
            columns: entries
                .iter()
                .map(|(place, _)| (place % n) as u32)
                .collect(),
            values: entries.iter().map(|&(_, value)| value).collect(),
        }
    }

    /// Rows.
    pub fn dim(&self) -> usize {
        self.starts.len() - 1
    }

    /// The columns and entries of a row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let entries = self.starts[i]..self.starts[i + 1];
        (&self.columns[entries.clone()], &self.values[entries])
    }

    /// (W x)_i.
    #[inline(always)]
    pub fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        let (columns, values) = self.row(i);
        let products = columns.iter().zip(values);
        products.map(|(&j, value)| value * x[j as usize]).sum()
    }

    /// The largest modulus of an eigenvalue, for a matrix without negative entries.
    pub fn spectral_radius(&self) -> f64 {
        let (components, count) = self.components();
        let mut members = vec![Vec::new(); count];
        (0..self.dim()).for_each(|i| members[components[i]].push(i));
        let radii = members
            .iter()
            .map(|members| self.perron(members, &components));
        radii.fold(0.0, f64::max)
    }

    /// The largest eigenvalue of a strongly connected component.
    fn perron(&self, members: &[usize], components: &[usize]) -> f64 {
        /// Relative width of the bounds that is small enough: some hundred roundings.
        const CLOSE: f64 = 1e-13;
        /// Steps after which the middle of the bounds must do: only cycles of thousands of units converge so slowly.
        const STEPS: usize = 100_000;
        let own = components[members[0]];
        let mut x = vec![0.0; self.dim()];
        members.iter().for_each(|&i| x[i] = 1.0);
        let mut product = vec![0.0; members.len()];
        let mut middle = 0.0;
        for _ in 0..STEPS {
            let (mut low, mut high, mut most) = (f64::INFINITY, 0.0f64, 0.0f64);
            for (y, &i) in product.iter_mut().zip(members) {
                let (columns, values) = self.row(i);
                let inside = columns.iter().zip(values).map(|(&j, v)| (j as usize, v));
                let inside = inside.filter(|&(j, _)| components[j] == own);
                *y = inside.map(|(j, v)| v * x[j]).sum();
                (low, high) = (low.min(*y / x[i]), high.max(*y / x[i]));
                // The shift by about ϱ keeps cycles of any length from turning for ever.
                *y += x[i] * middle_or_one(middle);
                most = most.max(*y);
            }
            middle = 0.5 * (low + high);
            if high - low <= CLOSE * high {
                break;
            }
            members
                .iter()
                .zip(&product)
                .for_each(|(&i, y)| x[i] = y / most);
        }
        middle
    }

    /// Which strongly connected component each row belongs to, and how many there are: by Kosaraju's two searches, along the
    /// columns of each row and then against them.
    fn components(&self) -> (Vec<usize>, usize) {
        const NONE: usize = usize::MAX;
        let transposed = self.transposed();
        let mut component = vec![NONE; self.dim()];
        let mut count = 0;
        for &root in self.finished().iter().rev() {
            if component[root] != NONE {
                continue;
            }
            let mut open = vec![root];
            component[root] = count;
            while let Some(i) = open.pop() {
                for &j in transposed.row(i).0 {
                    if component[j as usize] == NONE {
                        component[j as usize] = count;
                        open.push(j as usize);
                    }
                }
            }
            count += 1;
        }
        (component, count)
    }

    /// The rows in the order in which a depth-first search leaves them.
    fn finished(&self) -> Vec<usize> {
        let mut seen = vec![false; self.dim()];
        let mut finished = Vec::with_capacity(self.dim());
        for root in 0..self.dim() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            // A row, and how many of its columns have been followed.
            let mut path = vec![(root, 0)];
            while let Some((i, followed)) = path.last_mut() {
                let i = *i;
                match self.row(i).0.get(*followed) {
                    Some(&j) => {
                        *followed += 1;
                        if !std::mem::replace(&mut seen[j as usize], true) {
                            path.push((j as usize, 0));
                        }
                    }
                    None => {
                        finished.push(i);
                        path.pop();
                    }
                }
            }
        }
        finished
    }

    fn transposed(&self) -> Sparse {
        let n = self.dim();
        let rows = (0..n).flat_map(|i| {
            let (columns, values) = self.row(i);
            columns
                .iter()
                .zip(values)
                .map(move |(&j, &v)| (j as usize * n + i, v))
        });
        let mut entries: Vec<(usize, f64)> = rows.collect();
        entries.sort_unstable_by_key(|&(place, _)| place);
        Sparse::from_entries(n, &entries)
    }
}

/// Rows that are multiplied at a time.
const ABREAST: usize = 4;

/// A matrix made ready for many products: rows of the same number of entries stand together, four abreast, so that a processor guesses
/// where each ends and need not wait for one sum before it starts the next. Sums are those of [`Sparse::row_times`], to the bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    groups: Vec<Group>,
    columns: Vec<[u32; ABREAST]>,
    values: Vec<[f64; ABREAST]>,
}

/// Up to four rows of one length.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Group {
    /// Their numbers; one that is repeated fills up a group.
    rows: [u32; ABREAST],
    entries: u32,
}

impl Gathered {
    /// Prepares a matrix.
    pub fn new(w: &Sparse) -> Gathered {
        let mut rows: Vec<usize> = (0..w.dim()).collect();
        rows.sort_by_key(|&i| w.row(i).0.len());
        let mut gathered = Gathered {
            groups: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
        };
        for alike in rows.chunk_by(|&i, &j| w.row(i).0.len() == w.row(j).0.len()) {
            for four in alike.chunks(ABREAST) {
                gathered.push(w, std::array::from_fn(|r| four[r.min(four.len() - 1)]));
            }
        }
        gathered
    }

    fn push(&mut self, w: &Sparse, rows: [usize; ABREAST]) {
        let entries = w.row(rows[0]).0.len();
        self.groups.push(Group {
            rows: rows.map(|i| i as u32),
            entries: entries as u32,
        });
        for e in 0..entries {
            self.columns.push(rows.map(|i| w.row(i).0[e]));
            self.values.push(rows.map(|i| w.row(i).1[e]));
        }
    }

    /// y = W x.
    #[inline(always)]
    pub fn times(&self, x: &[f64], y: &mut [f64]) {
        let mut entries = self.columns.iter().zip(&self.values);
        for group in &self.groups {
            let mut sums = [-0.0; ABREAST];
            for (columns, values) in entries.by_ref().take(group.entries as usize) {
                for r in 0..ABREAST {
                    sums[r] += values[r] * x[columns[r] as usize];
                }
            }
            for (&i, sum) in group.rows.iter().zip(sums) {
                y[i as usize] = sum;
            }
        }
    }
}

/// A shift that is not zero.
fn middle_or_one(middle: f64) -> f64 {
    if middle > 0.0 { middle } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::eigenvalues;
    use crate::rng::{Rng, Stream};

    fn dense(w: &Sparse) -> Vec<f64> {
        let n = w.dim();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            let (columns, values) = w.row(i);
            let entries = columns.iter().zip(values);
            entries.for_each(|(&j, &v)| a[i * n + j as usize] = v);
        }
        a
    }

    #[test]
    fn the_radius_is_that_of_the_dense_eigenvalues() {
        for (n, degree) in [(3, 2.0), (20, 1.5), (60, 3.0), (120, 10.0)] {
            for seed in 0..5 {
                let mut rng = Rng::new(seed, Stream::Parameters);
                let mut entries = Vec::new();
                for place in 0..n * n {
                    if rng.uniform() < degree / n as f64 {
                        entries.push((place, rng.uniform()));
                    }
                }
                let w = Sparse::from_entries(n, &entries);
                let expected = eigenvalues(&dense(&w), n).unwrap()[0].norm();
                let found = w.spectral_radius();
                // Defective eigenvalues of sparse matrices are exact to the root of a rounding only, where they are dense; the
                // largest one is simple but for ties.
                assert!(
                    (found - expected).abs() < 1e-7,
                    "{n} {seed}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn products_are_those_of_the_rows_to_the_bit() {
        for (n, degree) in [(1, 1.0), (7, 2.0), (50, 6.0)] {
            let mut rng = Rng::new(3, Stream::Parameters);
            let mut entries = Vec::new();
            for place in 0..n * n {
                if rng.uniform() < degree / n as f64 {
                    entries.push((place, rng.normal()));
                }
            }
            let w = Sparse::from_entries(n, &entries);
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let mut y = vec![f64::NAN; n];
            Gathered::new(&w).times(&x, &mut y);
            let expected: Vec<f64> = (0..n).map(|i| w.row_times(i, &x)).collect();
            assert_eq!(y, expected);
        }
    }

    #[test]
    fn a_cycle_has_the_geometric_mean_of_its_weights_and_a_tree_has_none() {
        // Eigenvalues of a cycle are n complex numbers of one modulus, at which plain power iteration never settles.
        let weights = [0.5, 2.0, 3.0, 0.1, 1.0, 4.0, 0.7];
        let n = weights.len();
        let mut entries: Vec<(usize, f64)> =
            (0..n).map(|i| (i * n + (i + 1) % n, weights[i])).collect();
        entries.sort_unstable_by_key(|&(place, _)| place);
        let mean = (weights.iter().map(|w: &f64| w.ln()).sum::<f64>() / n as f64).exp();
        let found = Sparse::from_entries(n, &entries).spectral_radius();
        assert!((found - mean).abs() < 1e-12 * mean, "{found} {mean}");
        let tree = Sparse::from_entries(3, &[(1, 1.0), (2, 1.0), (5, 1.0)]);
        assert_eq!(tree.spectral_radius(), 0.0);
    }
}
