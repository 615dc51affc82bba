//! Which windows form a batch, without replacement as Vlachas et al. (2018) draw them.
//!
//! A pass begins with all starts. A batch is drawn from those that are left, all at once, so that its windows may overlap; then all
//! starts near one of them are taken out. When fewer are left than a window has rows, the next pass begins.

use crate::rng::Rng;

/// What a pass takes out, and when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    /// Rows before a start whose starts are taken out with it.
    pub before: usize,
    /// Rows from a start on whose starts are taken out with it.
    pub behind: usize,
    /// A pass ends when fewer starts are left.
    pub least: usize,
}

/// The starts that are left of a pass.
#[derive(Debug, Clone)]
pub(crate) struct Remaining {
    passes: Passes,
    all: Vec<usize>,
    left: Vec<usize>,
    /// Rows that the last batch has taken out.
    taken: Vec<bool>,
}

impl Remaining {
    /// A pass over these starts, which ascend.
    pub(crate) fn new(passes: Passes, all: Vec<usize>) -> Remaining {
        let rows = all.last().map_or(0, |last| last + 1);
        Remaining {
            passes: Passes {
                least: passes.least.min(all.len()),
                ..passes
            },
            left: all.clone(),
            taken: vec![false; rows],
            all,
        }
    }

    /// Begins a pass.
    pub(crate) fn begin(&mut self) {
        self.left.clone_from(&self.all);
    }

    /// Whether the pass is over.
    pub(crate) fn is_over(&self) -> bool {
        self.left.is_empty() || self.left.len() < self.passes.least
    }

    /// Draws a batch; where a pass is over, from the next one. Where there are fewer starts than a batch has windows, some are drawn
    /// again.
    pub(crate) fn draw(&mut self, rng: &mut Rng, batch: &mut [usize]) {
        if self.is_over() {
            self.begin();
        }
        let distinct = self.left.len().min(batch.len());
        let (first, others) = batch.split_at_mut(distinct);
        for (k, start) in first.iter_mut().enumerate() {
            let place = k + rng.index(self.left.len() - k);
            self.left.swap(k, place);
            *start = self.left[k];
        }
        for start in others {
            *start = self.all[rng.index(self.all.len())];
        }
        self.take_out(batch);
    }

    fn take_out(&mut self, batch: &[usize]) {
        let Passes { before, behind, .. } = self.passes;
        let rows = self.taken.len();
        let near = |&start: &usize| start.saturating_sub(before)..rows.min(start + behind);
        for start in batch {
            self.taken[near(start)].fill(true);
        }
        let taken = &self.taken;
        self.left.retain(|&start| !taken[start]);
        for start in batch {
            self.taken[near(start)].fill(false);
        }
    }

    /// Batches of the first pass.
    pub(crate) fn count(mut self, rng: &mut Rng, batch: usize) -> usize {
        let (mut starts, mut batches) = (vec![0; batch], 0);
        while batches == 0 || !self.is_over() {
            self.draw(rng, &mut starts);
            batches += 1;
        }
        batches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    const PASSES: Passes = Passes {
        before: 8,
        behind: 304,
        least: 300,
    };

    /// What is near a start that was drawn is not drawn again in the same pass.
    #[test]
    fn no_start_is_near_one_of_an_earlier_batch() {
        let mut rng = Rng::new(1, Stream::Windows);
        let mut remaining = Remaining::new(PASSES, (0..20_000).collect());
        let (mut drawn, mut batch): (Vec<usize>, _) = (Vec::new(), [0; 8]);
        while !remaining.is_over() {
            remaining.draw(&mut rng, &mut batch);
            for start in batch {
                let is_near = |&d: &usize| start + 8 >= d && start < d + 304;
                assert!(!drawn.iter().any(is_near), "{start}");
            }
            drawn.extend(batch);
        }
        // Each takes out at most 312 starts.
        assert!(drawn.len() >= (20_000 - 300) / 312, "{}", drawn.len());
    }

    /// 80,000 training rows, batches of 32, as the reference code has them: 20 to 22 batches in a pass.
    #[test]
    fn a_pass_has_as_many_batches_as_in_the_reference_code() {
        for seed in 1..=5 {
            let mut rng = Rng::new(seed, Stream::Windows);
            let remaining = Remaining::new(PASSES, (0..80_000 - 308).collect());
            let batches = remaining.count(&mut rng, 32);
            assert!((18..=24).contains(&batches), "{batches}");
        }
    }

    #[test]
    fn few_starts_are_drawn_again() {
        let mut rng = Rng::new(1, Stream::Windows);
        let mut remaining = Remaining::new(PASSES, vec![3, 4]);
        let mut batch = [0; 5];
        for _ in 0..3 {
            remaining.draw(&mut rng, &mut batch);
            assert!(batch.iter().all(|start| [3, 4].contains(start)));
            assert!(remaining.is_over());
        }
    }
}
