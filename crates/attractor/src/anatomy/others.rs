//! The attractors that a model has beside the one that its orbit is on: where orbits from the data, from a box around them and from
//! next to its stable points and cycles end ([`basins`](attractor_core::analysis::basins)).

use attractor_core::analysis::basins::{Basin, Basins, End, Origin, Plan, basins};
use attractor_core::analysis::cycles::{Expired, Found};
use attractor_core::analysis::stability::Kind;
use attractor_core::dynamics::Dynamics;
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::mean_and_sd;
use attractor_core::text::count;
use serde::Serialize;

use super::observe;
use crate::model_file::Reconstruction;
use crate::seen::Seen;

/// States of the data, at most, that the box is drawn around.
const AROUND: usize = 4096;

/// Orbits from the data, from the box, and next to each stable point or cycle.
const FROM_DATA: usize = 64;
const FROM_BOX: usize = 64;
const FROM_NEAR: usize = 4;

/// Stable points and cycles that orbits start next to.
const STABLE: usize = 16;

/// How far from them, in spreads of the attractor.
const NEAR: f64 = 0.01;

/// How far the box reaches beyond the states, in their range on either side.
const MARGIN: f64 = 0.1;

/// What there is to start from.
pub(super) struct Ground<'a> {
    pub(super) dynamics: &'a dyn Dynamics,
    /// Rows that orbits start from.
    pub(super) rows: Option<&'a Seen>,
    /// The free orbit, rows of M.
    pub(super) orbit: &'a [f64],
    /// The constant input.
    pub(super) input: &'a [f64],
    pub(super) periodic: &'a [Found],
    pub(super) seed: u64,
}

impl Ground<'_> {
    /// Where orbits end.
    pub(super) fn basins(&self, expired: Expired<'_>) -> Basins {
        let mut tangent = self.dynamics.tangent();
        let mut jac = Vec::new();
        let advance = |z: &mut [f64]| tangent.carry(z, self.input, &[], &mut [], &mut jac);
        basins(
            self.orbit,
            &self.starts(),
            Plan::default(),
            advance,
            expired,
        )
    }

    fn starts(&self) -> Vec<(Origin, Vec<f64>)> {
        let mut rng = Rng::new(self.seed, Stream::Starts);
        let (near, known) = (self.near(&mut rng), self.of_data());
        let around = if known.is_empty() { self.orbit } else { &known };
        let inside = self.inside(around, &mut rng);
        let known = known.chunks_exact(self.numbers());
        let every = known.len().div_ceil(FROM_DATA).max(1);
        let data = known.step_by(every).map(<[f64]>::to_vec).collect();
        let all = [
            (Origin::Near, near),
            (Origin::Data, data),
            (Origin::Box, inside),
        ];
        let marked = |(origin, states): (Origin, Vec<Vec<f64>>)| {
            states.into_iter().map(move |z| (origin, z))
        };
        all.into_iter().flat_map(marked).collect()
    }

    /// States at rows of the data, evenly spaced.
    fn of_data(&self) -> Vec<f64> {
        let Some(rows) = self.rows else {
            return Vec::new();
        };
        let stretch = rows.longest();
        let first = self.dynamics.memory().rows() - 1;
        let every = stretch.len().div_ceil(AROUND).max(1);
        let rows: Vec<usize> = (first..stretch.len()).step_by(every).collect();
        self.dynamics.states_at(stretch, &rows)
    }

    /// States drawn from the box around some states.
    fn inside(&self, around: &[f64], rng: &mut Rng) -> Vec<Vec<f64>> {
        let range = |i: usize| {
            let column = || around.iter().skip(i).step_by(self.numbers());
            let low = column().copied().fold(f64::INFINITY, f64::min);
            let high = column().copied().fold(f64::NEG_INFINITY, f64::max);
            let margin = MARGIN * (high - low);
            (low - margin, high + margin)
        };
        let ranges: Vec<(f64, f64)> = (0..self.numbers()).map(range).collect();
        let mut draw = || {
            ranges
                .iter()
                .map(|&(low, high)| rng.between(low, high))
                .collect()
        };
        (0..FROM_BOX).map(|_| draw()).collect()
    }

    /// States next to stable points and cycles.
    fn near(&self, rng: &mut Rng) -> Vec<Vec<f64>> {
        let column = |i: usize| self.orbit.iter().skip(i).step_by(self.numbers()).copied();
        let spread: Vec<f64> = (0..self.numbers())
            .map(|i| mean_and_sd(column(i)).1)
            .collect();
        let cycles = self.periodic.iter().flat_map(|found| &found.cycles);
        let stable = cycles
            .filter(|cycle| cycle.kind() == Kind::Stable)
            .take(STABLE);
        let mut beside = |z: &[f64]| -> Vec<f64> {
            let pairs = z.iter().zip(&spread);
            pairs.map(|(z, sd)| z + NEAR * sd * rng.normal()).collect()
        };
        let mut starts = Vec::new();
        for cycle in stable {
            starts.extend((0..FROM_NEAR).map(|_| beside(&cycle.points[0])));
        }
        starts
    }

    /// Numbers of a state.
    fn numbers(&self) -> usize {
        self.dynamics.sizes().state
    }
}

/// Where orbits end, as a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OthersDocument {
    /// In one sentence; none if all orbits come to the attractor.
    pub sentence: Option<String>,
    starts: StartsDocument,
    ends: Vec<EndDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct EndDocument {
    kind: &'static str,
    period: Option<usize>,
    point: Vec<f64>,
    observed: Vec<f64>,
    starts: StartsDocument,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct StartsDocument {
    data: usize,
    r#box: usize,
    near: usize,
}

impl StartsDocument {
    fn new([data, r#box, near]: [usize; 3]) -> StartsDocument {
        StartsDocument { data, r#box, near }
    }
}

impl OthersDocument {
    pub(crate) fn new(basins: &Basins, reconstruction: &Reconstruction) -> OthersDocument {
        let end = |basin: &Basin| EndDocument {
            kind: kind(basin.end),
            period: match basin.end {
                End::Point => Some(1),
                End::Cycle(period) => Some(period),
                _ => None,
            },
            observed: match basin.point.as_slice() {
                [] => Vec::new(),
                z => observe(reconstruction, z),
            },
            point: basin.point.clone(),
            starts: StartsDocument::new(basin.starts),
        };
        OthersDocument {
            sentence: sentence(basins),
            starts: StartsDocument::new(basins.starts),
            ends: basins.found.iter().map(end).collect(),
        }
    }
}

fn kind(end: End) -> &'static str {
    match end {
        End::Attractor => "attractor",
        End::Point => "point",
        End::Cycle(_) => "cycle",
        End::Other => "other",
        End::Unsettled => "unsettled",
        End::Diverges => "diverges",
    }
}

/// What there is beside the attractor, and who goes there; none if there is nothing.
pub fn sentence(basins: &Basins) -> Option<String> {
    let others =
        |wanted: fn(End) -> bool| basins.found.iter().filter(move |b| wanted(b.end)).count();
    let counted = [
        (others(|end| end == End::Point), "stable point"),
        (others(|end| matches!(end, End::Cycle(_))), "stable cycle"),
        (others(|end| end == End::Other), "other attractor"),
    ];
    let there = counted.iter().filter(|(number, _)| *number > 0);
    let there: Vec<String> = there.map(|(number, what)| count(*number, what)).collect();
    let beside = |b: &&Basin| matches!(b.end, End::Point | End::Cycle(_) | End::Other);
    let captured = share_of(basins, basins.found.iter().filter(beside));
    let captured = captured.map(|who| format!("{who} end there"));
    let first = (!there.is_empty()).then(|| {
        let who = captured.unwrap_or("no orbit was followed to its end".to_string());
        format!(
            "beside its attractor this model has {}; {who}",
            there.join(" and ")
        )
    });
    let so_many = |end: End, what: &str| {
        let mut basins_of = basins.found.iter().filter(|b| b.end == end).peekable();
        basins_of.peek()?;
        Some(format!("{} {what}", share_of(basins, basins_of)?))
    };
    let lost = so_many(End::Diverges, "diverge");
    let unsettled = so_many(End::Unsettled, "had not settled when last looked at");
    let parts: Vec<String> = first.into_iter().chain(lost).chain(unsettled).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The share of orbits from the data and from the box that some basins have.
fn share_of<'a>(all: &Basins, some: impl Iterator<Item = &'a Basin>) -> Option<String> {
    let taken = some.fold([0; 2], |sum, b| {
        [sum[0] + b.starts[0], sum[1] + b.starts[1]]
    });
    let parts = [
        (taken[0], all.starts[0], "of orbits from the data"),
        (taken[1], all.starts[1], "of orbits from a box around it"),
    ];
    let parts = parts.into_iter().filter(|(_, of, _)| *of > 0);
    let parts: Vec<String> = parts
        .map(|(taken, of, whose)| {
            let percent = 100.0 * taken as f64 / of as f64;
            format!("{percent:.0} % {whose}")
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}
