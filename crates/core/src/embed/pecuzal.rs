//! PECUZAL: delays, and channels, by continuity and by how well neighbourhoods are predicted (Krämer et al. 2021).
//!
//! ```text
//! Y = (x₀(t));  again and again
//!   1. ⟨ε*⟩(τ) of every channel, given Y;  its peaks are the candidates
//!   2. for each candidate ΔL = L(Y with x_c(t + τ)) − L(Y);  the smallest wins
//!   3. if ΔL > −threshold, end without it;  else Y ← Y with x_c(t + τ)
//! ```
//!
//! There is no look-ahead: each round takes the best candidate for good. With several channels the first round tries every
//! channel as the first coordinate. Delays are forward: the coordinate of delay τ at row t is the value at row t + τ.

use super::columns::Columns;
use super::{Coordinate, EmbedError};
use super::{continuity, uzal};
use crate::progress::{Follow, Stopped, tell};

/// What is asked of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The largest delay.
    pub max_delay: usize,
    /// Points at most this many rows apart do not count as neighbours.
    pub theiler: usize,
    /// By how much L must fall for a coordinate to be taken.
    pub threshold: f64,
    /// Rounds at most.
    pub max_cycles: usize,
    /// Which horizons L is averaged over.
    pub horizons: Horizons,
    /// Worker threads; the result does not depend on them.
    pub threads: usize,
}

/// Which horizons from 2 to the largest delay L is averaged over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Horizons {
    /// All.
    All,
    /// Every other, as the published programs offer to save time.
    Even,
}

impl Horizons {
    pub(super) fn step(self) -> usize {
        match self {
            Horizons::All => 1,
            Horizons::Even => 2,
        }
    }
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            max_delay: 50,
            theiler: 1,
            threshold: 0.05,
            max_cycles: 50,
            horizons: Horizons::All,
            threads: 1,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Pecuzal {
    /// The coordinates that were taken, in order; the first has delay 0.
    pub coordinates: Vec<Coordinate>,
    /// All rounds, the last of which may have taken nothing.
    pub cycles: Vec<Cycle>,
    /// How it ended.
    pub end: End,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// No further coordinate improves the embedding.
    Embedded,
    /// Not even a second coordinate does: noise, or a recording that is an embedding by itself.
    NoImprovement,
    /// The largest number of rounds was reached.
    CycleLimit,
}

/// One round.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// A curve for each embedding so far and each channel that could follow it.
    pub curves: Vec<Curve>,
    /// The best candidate.
    pub best: Candidate,
    /// Whether it was taken.
    pub taken: bool,
}

/// The continuity statistic of one channel given some coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The coordinates so far.
    pub base: Vec<Coordinate>,
    /// The channel that could follow.
    pub channel: usize,
    /// ⟨ε*⟩ of τ = 0, 1, …
    pub continuity: Vec<f64>,
    /// Its peaks.
    pub candidates: Vec<Candidate>,
}

/// A coordinate that could be taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The coordinate.
    pub coordinate: Coordinate,
    /// How L changes by it.
    pub decrease: f64,
}

/// Fewest fiducial points: the neighbourhoods of the statistics and as many more.
const FEWEST: usize = 2 * (continuity::NEIGHBOURS + 1);

/// Finds an embedding, and tells at every candidate of a delay how many curves of the present cycle are judged.
pub fn pecuzal(
    columns: &Columns,
    plan: &Plan,
    follow: &mut dyn Follow,
) -> Result<Pecuzal, EmbedError> {
    let mut found = Pecuzal {
        coordinates: Vec::new(),
        cycles: Vec::new(),
        end: End::CycleLimit,
    };
    while found.cycles.len() < plan.max_cycles {
        let bases = match found.coordinates.as_slice() {
            [] => (0..columns.dim())
                .map(|channel| vec![Coordinate::new(channel, 0)])
                .collect(),
            so_far => vec![so_far.to_vec()],
        };
        let cycle = Round { columns, plan }.run(&bases, follow)?;
        let best_curve = cycle
            .curves
            .iter()
            .find(|c| c.candidates.contains(&cycle.best));
        let base = best_curve.map_or(&bases[0], |curve| &curve.base);
        found.coordinates.clone_from(base);
        let taken = cycle.taken;
        if taken {
            found.coordinates.push(cycle.best.coordinate);
        }
        found.cycles.push(cycle);
        if !taken {
            found.end = match found.cycles.len() {
                1 => End::NoImprovement,
                _ => End::Embedded,
            };
            break;
        }
    }
    Ok(found)
}

/// What a round needs to know.
struct Round<'a> {
    columns: &'a Columns,
    plan: &'a Plan,
}

impl Round<'_> {
    fn run(&self, bases: &[Vec<Coordinate>], follow: &mut dyn Follow) -> Result<Cycle, EmbedError> {
        let total = bases.len() * self.columns.dim();
        let mut curves = Vec::with_capacity(total);
        for base in bases {
            self.refuse_too_short(base)?;
            let statistics = continuity::continuity(self.columns, base, self.plan);
            for (channel, continuity) in statistics.into_iter().enumerate() {
                let done = curves.len() as u64;
                let mut heard = || tell(follow, "judging delays", done, total as u64);
                curves.push(self.curve(base, channel, continuity, &mut heard)?);
            }
        }
        let candidates = curves
            .iter()
            .flat_map(|curve| curve.candidates.iter().copied());
        let best = candidates
            .reduce(|best, next| {
                if next.decrease < best.decrease {
                    next
                } else {
                    best
                }
            })
            .expect("every curve has a largest value");
        Ok(Cycle {
            taken: best.decrease <= -self.plan.threshold,
            curves,
            best,
        })
    }

    /// Judges the peaks of one curve.
    fn curve(
        &self,
        base: &[Coordinate],
        channel: usize,
        continuity: Vec<f64>,
        heard: &mut dyn FnMut() -> Result<(), Stopped>,
    ) -> Result<Curve, EmbedError> {
        let peaks = continuity::peaks(&continuity).into_iter();
        let judge = |delay| {
            heard()?;
            let coordinate = Coordinate::new(channel, delay);
            let decrease = uzal::decrease(self.columns, base, coordinate, self.plan);
            Ok(Candidate {
                coordinate,
                decrease,
            })
        };
        Ok(Curve {
            candidates: peaks.map(judge).collect::<Result<_, EmbedError>>()?,
            base: base.to_vec(),
            channel,
            continuity,
        })
    }

    /// Refuses a recording in which some point has too few neighbours, whatever delay is added.
    fn refuse_too_short(&self, base: &[Coordinate]) -> Result<(), EmbedError> {
        let reach = base
            .iter()
            .map(|c| c.delay)
            .fold(self.plan.max_delay, usize::max);
        let needed = reach + self.plan.max_delay + 2 * self.plan.theiler + FEWEST;
        let found = self.columns.len();
        if found < needed {
            Err(EmbedError::TooShort { needed, found })
        } else {
            Ok(())
        }
    }
}
