//! Sums over all rows that sparse regression is made from:  G = Σ φφᵀ,  C = Σ φ ẋᵀ.
//!
//! They are added up in blocks of rows: memory does not depend on the number of rows, and bits not on that of threads.

use crate::linalg::gram::{Block, Gram};
use crate::simd::Isa;

/// Sums over rows of features φ (F) and targets y (N).
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// Features F.
    pub(super) features: usize,
    /// Targets N.
    pub(super) targets: usize,
    /// G, F × F.
    pub(super) gram: Vec<f64>,
    /// C, F × N.
    pub(super) cross: Vec<f64>,
}

/// Takes rows in, and adds them up.
#[derive(Debug)]
pub(super) struct Adder {
    features: usize,
    targets: usize,
    block: Block,
    gram: Gram,
    threads: usize,
    isa: Isa,
}

impl Adder {
    /// No rows yet.
    pub(super) fn new(features: usize, targets: usize, threads: usize, isa: Isa) -> Adder {
        let width = features + targets;
        Adder {
            features,
            targets,
            block: Block::new(width),
            gram: Gram::new(width, isa),
            // A thread for a block costs more than the block does where there are few columns.
            threads: if width < 100 { 1 } else { threads.max(1) },
            isa,
        }
    }

    /// Adds a row (φ, y).
    pub(super) fn add(&mut self, row: &[f64]) {
        if self.block.is_full() {
            self.flush();
        }
        self.block.push(row);
    }

    fn flush(&mut self) {
        self.gram.add(&self.block, self.threads);
        self.block.clear();
    }

    /// The sums of all rows since the last time.
    pub(super) fn take(&mut self) -> Sums {
        self.flush();
        let (f, n) = (self.features, self.targets);
        let gram = std::mem::replace(&mut self.gram, Gram::new(f + n, self.isa));
        Sums {
            features: f,
            targets: n,
            gram: (0..f * f).map(|e| gram.at(e / f, e % f)).collect(),
            cross: (0..f * n).map(|e| gram.at(e / n, f + e % n)).collect(),
        }
    }
}

impl Sums {
    /// G_SS of some terms S.
    pub(super) fn gram_of(&self, terms: &[usize]) -> Vec<f64> {
        let row = |&i: &usize| terms.iter().map(move |&j| self.gram[i * self.features + j]);
        terms.iter().flat_map(row).collect()
    }

    /// Adds the sums of other rows.
    pub(super) fn add(&mut self, other: &Sums) {
        let own = self.gram.iter_mut().chain(&mut self.cross);
        let others = other.gram.iter().chain(&other.cross);
        own.zip(others).for_each(|(sum, other)| *sum += other);
    }
}
