//! Ensembles of regressions (Fasel et al. 2022): each sees rows drawn with replacement and, if wanted, a library without a few of its
//! terms. A term stays if a large enough share of those that could have it kept it, with the median of their coefficients.
//!
//! What is drawn are fifty blocks of rows in time, not single rows: neighbouring rows are so alike that drawing them one by one would
//! promise more certainty than there is. The sums of a draw are then sums over blocks, and cost next to nothing.

use super::sparse::{Optimizer, Regression, Supports};
use super::sums::Sums;
use crate::progress::{Follow, Stopped, Unwatched, tell};
use crate::rng::{Rng, Stream};
use crate::simd::Isa;

/// Blocks of rows that are drawn from.
pub(super) const BLOCKS: usize = 50;

/// What an ensemble is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ensemble {
    /// Regressions.
    pub(super) members: usize,
    /// Terms that each leaves out of its library.
    pub(super) left_out: usize,
    /// The share of the members that must keep a term.
    pub(super) inclusion: f64,
    /// The seed of the draws.
    pub(super) seed: u64,
}

/// How each member is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Member {
    pub(super) how: (Optimizer, usize),
    pub(super) threshold: f64,
    pub(super) isa: Isa,
}

impl Ensemble {
    /// Coefficients N × F that the members agree on, from the sums of blocks.
    pub(super) fn coefficients(
        &self,
        blocks: &[Sums],
        candidates: &Supports,
        member: Member,
        follow: &mut dyn Follow,
    ) -> Result<Vec<f64>, Stopped> {
        let mut rng = Rng::new(self.seed, Stream::MonteCarlo);
        let features = blocks[0].features;
        let mut votes: Vec<Vote> = Vec::with_capacity(self.members);
        for i in 0..self.members {
            tell(follow, "fitting an ensemble", i as u64, self.members as u64)?;
            let sums = drawn(blocks, &mut rng);
            let left_out = some_of(features, self.left_out.min(features - 1), &mut rng);
            let own: Supports = candidates
                .iter()
                .map(|terms| {
                    let stays = |j: &usize| !left_out.contains(j);
                    terms.iter().copied().filter(stays).collect()
                })
                .collect();
            let regression = Regression::new(&sums, own, member.how, member.isa, &mut Unwatched)?;
            let (c, _) = regression.at(member.threshold, &mut Unwatched)?;
            votes.push(Vote { c, left_out });
        }
        let count = votes[0].c.len();
        Ok((0..count)
            .map(|e| self.agreed(&votes, e, features))
            .collect())
    }

    /// The median coefficient of a term, 0 if too few members keep it.
    fn agreed(&self, votes: &[Vote], e: usize, features: usize) -> f64 {
        let could = votes
            .iter()
            .filter(|vote| !vote.left_out.contains(&(e % features)));
        let values: Vec<f64> = could.map(|vote| vote.c[e]).collect();
        let mut kept: Vec<f64> = values.iter().copied().filter(|c| *c != 0.0).collect();
        if kept.is_empty() || (kept.len() as f64) < self.inclusion * values.len() as f64 {
            return 0.0;
        }
        kept.sort_by(f64::total_cmp);
        0.5 * (kept[(kept.len() - 1) / 2] + kept[kept.len() / 2])
    }
}

/// What a member found.
struct Vote {
    c: Vec<f64>,
    left_out: Vec<usize>,
}

/// As many blocks as there are, drawn with replacement.
fn drawn(blocks: &[Sums], rng: &mut Rng) -> Sums {
    let mut sums = blocks[rng.index(blocks.len())].clone();
    for _ in 1..blocks.len() {
        sums.add(&blocks[rng.index(blocks.len())]);
    }
    sums
}

/// Some distinct numbers below `of`.
fn some_of(of: usize, count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut some = Vec::with_capacity(count);
    while some.len() < count {
        let one = rng.index(of);
        if !some.contains(&one) {
            some.push(one);
        }
    }
    some
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::sindy::sums::Adder;

    /// y = 2a with noise, beside a term b that has nothing to do with it, in ten blocks.
    fn blocks() -> Vec<Sums> {
        let mut rng = Rng::new(3, Stream::Noise);
        let mut adder = Adder::new(2, 1, 1, Isa::detect());
        let mut block = |_| {
            for _ in 0..40 {
                let (a, b, noise) = (rng.normal(), rng.normal(), rng.normal());
                adder.add(&[a, b, 2.0 * a + 0.5 * noise]);
            }
            adder.take()
        };
        (0..10).map(&mut block).collect()
    }

    fn coefficients(left_out: usize, inclusion: f64, seed: u64) -> Vec<f64> {
        let ensemble = Ensemble {
            members: 40,
            left_out,
            inclusion,
            seed,
        };
        let member = Member {
            how: (Optimizer::Stlsq { ridge: 0.05 }, 20),
            threshold: 0.02,
            isa: Isa::detect(),
        };
        let candidates = vec![vec![0, 1]];
        let found = ensemble.coefficients(&blocks(), &candidates, member, &mut Unwatched);
        found.unwrap()
    }

    /// Draws of 400 rows spread by 0.5/√400 about the truth; the median is nearer.
    #[test]
    fn terms_that_most_members_keep_stay_with_their_median() {
        for left_out in [0, 1] {
            let c = coefficients(left_out, 0.99, 1);
            assert!((c[0] - 2.0).abs() < 0.1 && c[1] == 0.0, "{left_out}: {c:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_members() {
        assert_eq!(coefficients(1, 0.0, 4), coefficients(1, 0.0, 4));
        assert_ne!(coefficients(1, 0.0, 4), coefficients(1, 0.0, 5));
    }
}
