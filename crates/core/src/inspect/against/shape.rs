//! Whether two recordings have the same channels and the same step.

use super::super::{Seen, Severity, Subject};
use super::Pair;
use crate::series::Step;
use crate::text::{count, figure};

/// Steps that differ by less than this part are the same, read from clocks of finite resolution.
const CLOCK: f64 = 1e-3;

pub(super) fn channels(pair: &Pair) -> Vec<Seen> {
    let names = |r: &super::Record| r.channels.iter().map(|c| c.name.clone()).collect();
    let (first, second): (Vec<String>, Vec<String>) = (names(pair.first), names(pair.second));
    if !pair.same_channels() {
        let what = format!(
            "the first has {}, the second {}",
            count(first.len(), "channel"),
            second.len()
        );
        let remedy = "choose the same columns of both: a model has one number of channels";
        return vec![Seen::new(Severity::Problem, Subject::Pair, what, remedy)];
    }
    let other = first.iter().zip(&second).find(|(a, b)| a != b);
    let seen = other.map(|(a, b)| {
        let what = format!("channels are named differently, as `{a}` and `{b}`");
        let remedy = "check that the columns are in the same order: channels are matched by place";
        Seen::new(Severity::Warning, Subject::Pair, what, remedy)
    });
    seen.into_iter().collect()
}

/// Whether both say the same step.
pub(super) fn same_step(pair: &Pair) -> bool {
    let (first, second) = (pair.first.series.step(), pair.second.series.step());
    first.unit == second.unit && (second.dt / first.dt - 1.0).abs() < CLOCK
}

pub(super) fn step(pair: &Pair) -> Vec<Seen> {
    if same_step(pair) {
        return Vec::new();
    }
    let (first, second) = (pair.first.series.step(), pair.second.series.step());
    let with_unit = |step: &Step| format!("{} {}", figure(step.dt), step.unit);
    let what = format!(
        "the steps differ: {} and {}",
        with_unit(first).trim_end(),
        with_unit(second).trim_end()
    );
    let remedy = if first.unit == second.unit {
        let dt = first.dt;
        format!(
            "a map has one step: `--resample {dt}` brings both to it, `--dt {dt}` if that is what they were recorded with"
        )
    } else {
        "a map has one step: give both their time in the same unit".to_string()
    };
    vec![Seen::new(Severity::Problem, Subject::Pair, what, &remedy)]
}
