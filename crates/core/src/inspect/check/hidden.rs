//! One channel of a system with more states than one: where it goes depends on where it comes from.
//!
//! ```text
//! V₁ = ⟨Var(x_{t+d} − x_t | x_t)⟩ / Var(x_{t+d} − x_t),   V₂ = ⟨Var(x_{t+d} − x_t | x_t, x_{t−d})⟩ / Var(x_{t+d} − x_t)
//! ```
//!
//! Conditions are quantile bins, d is half an autocorrelation time. A system with one state has a small V₁: its value says what comes
//! next. Of noise, V₂ is as large as V₁: the past does not say more. States are missing where V₁ is large and V₂ is well below it.

use super::super::{Record, Seen, Severity};
use crate::series::Series;
use crate::text::figure;

/// How much of the changes the value alone must leave open.
const OPEN: f64 = 0.3;

/// By which factor a delay must lower that.
const LOWER: f64 = 0.7;

/// Changes in a cell of two conditions, on average.
const PER_CELL: usize = 20;

/// Bins of a condition, at least and at most.
const BINS: [usize; 2] = [4, 16];

/// The longest delay that is tried, in rows.
const LONGEST: usize = 500;

/// Rows that are looked at, at most.
const ENOUGH: usize = 100_000;

/// The shares V₁ and V₂ of the changes of a single channel that are left open, where they show that states are missing.
pub fn hides_states(series: &Series) -> Option<[f64; 2]> {
    if series.dim_obs() != 1 {
        return None;
    }
    let stretches = beginning(series);
    let changes = changes(&stretches, delay(&stretches)?);
    let bins = (changes.len() / PER_CELL).isqrt().min(BINS[1]);
    if bins < BINS[0] {
        return None;
    }
    let (now, before) = (
        binned(&changes, bins, |c| c.now),
        binned(&changes, bins, |c| c.before),
    );
    let both: Vec<usize> = now.iter().zip(&before).map(|(a, b)| a * bins + b).collect();
    let all = left_open(&changes, &vec![0; changes.len()], 1);
    let alone = left_open(&changes, &now, bins) / all;
    let delayed = left_open(&changes, &both, bins * bins) / all;
    (alone > OPEN && delayed < LOWER * alone).then_some([alone, delayed])
}

/// Stretches without a gap or a missing value, up to so many rows as are enough.
fn beginning(series: &Series) -> Vec<&[f64]> {
    let mut left = ENOUGH;
    let stretches = series.whole_stretches().map(|(i, rows)| {
        let taken = rows.len().min(left);
        left -= taken;
        &series.trajectories()[i].x[rows][..taken]
    });
    stretches.take_while(|x| !x.is_empty()).collect()
}

/// A change, the value before it, and the value a delay earlier.
struct Change {
    before: f64,
    now: f64,
    by: f64,
}

fn changes(stretches: &[&[f64]], d: usize) -> Vec<Change> {
    let of = |x: &[f64], t: usize| Change {
        before: x[t - d],
        now: x[t],
        by: x[t + d] - x[t],
    };
    let all = stretches
        .iter()
        .flat_map(|x| (d..x.len().saturating_sub(d)).map(move |t| of(x, t)));
    all.collect()
}

/// Half of the lag at which the autocorrelation has fallen to 1/e, at least 1; nothing if it does not, or nothing varies.
fn delay(stretches: &[&[f64]]) -> Option<usize> {
    let values = || stretches.iter().flat_map(|x| x.iter());
    let count = values().count() as f64;
    let mean = values().map(|v| v / count).sum::<f64>();
    let lagged = |lag: usize| {
        let pairs = || {
            stretches
                .iter()
                .flat_map(|x| x.iter().zip(x.iter().skip(lag)))
        };
        let sum: f64 = pairs().map(|(a, b)| (a - mean) * (b - mean)).sum();
        sum / pairs().count().max(1) as f64
    };
    let variance = lagged(0);
    let longest = stretches.iter().map(|x| x.len() / 4).max()?.min(LONGEST);
    let has_fallen = |&lag: &usize| lagged(lag) < variance / std::f64::consts::E;
    let time = (1..=longest).find(has_fallen);
    time.filter(|_| variance > 0.0 && variance.is_finite())
        .map(|time| (time / 2).max(1))
}

/// The bin of every change by the rank of a value of it: all have as many.
fn binned(changes: &[Change], bins: usize, value: impl Fn(&Change) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..changes.len()).collect();
    order.sort_by(|&a, &b| value(&changes[a]).total_cmp(&value(&changes[b])));
    let mut bin = vec![0; changes.len()];
    for (rank, &i) in order.iter().enumerate() {
        bin[i] = rank * bins / changes.len();
    }
    bin
}

/// The mean variance (n − 1) of changes within cells.
fn left_open(changes: &[Change], cell: &[usize], cells: usize) -> f64 {
    let mut sums = vec![(0.0, 0.0, 0.0); cells];
    for (change, &cell) in changes.iter().zip(cell) {
        let (n, sum, squares) = &mut sums[cell];
        *n += 1.0;
        *sum += change.by;
        *squares += change.by * change.by;
    }
    let open = sums.iter().filter(|(n, ..)| *n > 1.0);
    let (total, weight) = open.fold((0.0, 0.0), |(total, weight), (n, sum, squares)| {
        let variance = (squares - sum * sum / n) / (n - 1.0);
        (total + n * variance, weight + n)
    });
    total / weight
}

pub(in super::super) fn hidden(record: &Record) -> Vec<Seen> {
    let Some([alone, delayed]) = hides_states(record.series) else {
        return Vec::new();
    };
    let what = format!(
        "one channel of a system with more states: its value leaves {} % of its changes unexplained, with a delayed value {} %",
        figure((100.0 * alone).round()),
        figure((100.0 * delayed).round())
    );
    let remedy = "`attractor embed FILE states.csv` makes states of it; train on states.csv";
    vec![Seen::new(
        Severity::Warning,
        record.subject(&[0]),
        what,
        remedy,
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::system::simulate::{Request, Simulation};

    fn hides(x: Vec<f64>) -> bool {
        hides_states(&Series::from_rows(x, 1, 1.0).unwrap()).is_some()
    }

    fn first_channel(system: &str, rows: usize) -> Vec<f64> {
        let simulated = Simulation::check(&Request::new(system, rows))
            .unwrap()
            .run()
            .unwrap();
        simulated.series.column(0).collect()
    }

    #[test]
    fn one_channel_of_a_flow_hides_states() {
        for system in ["lorenz63", "rossler", "van-der-pol"] {
            assert!(hides(first_channel(system, 5000)), "{system}");
        }
        // About seven and a half rows to a turn, as in the laser data of the Santa Fe competition.
        let pulses = (0..1000).map(|t| {
            let t = f64::from(t);
            (1.0 + 0.5 * (0.03 * t).sin()) * (0.83 * t).cos().exp()
        });
        assert!(hides(pulses.collect()));
    }

    #[test]
    fn noise_and_systems_of_one_state_do_not() {
        let mut rng = Rng::new(1, Stream::Noise);
        let white: Vec<f64> = (0..5000).map(|_| rng.normal()).collect();
        let red = white.iter().scan(0.0, |x, e| {
            *x = 0.9 * *x + e;
            Some(*x)
        });
        assert!(!hides(red.collect()));
        assert!(!hides(white));
        assert!(!hides(first_channel("logistic", 5000)));
        assert!(!hides(vec![1.0; 1000]));
        assert!(!hides(vec![1.0, 2.0, 3.0]));
    }
}
