//! Valid prediction time: how many steps a forecast stays near the truth,
//!
//! ```text
//! VPT = max{i : e_j ≤ ε for all j ≤ i},   e_j² = 1/N Σ_n (x̂_n(t+j) − x_n(t+j))²/σ_n²,   ε = 0.5
//! ```
//!
//! with σ the standard deviation of the truth; the mean over starts that are evenly spaced over the truth (Vlachas et al.
//! 2020), with its standard error: starts that are nearer to one another than a forecast is long fail at the same row, and do not count as
//! many. Times the largest Lyapunov exponent it is in Lyapunov times. A forecast that is still valid at the
//! horizon counts as long as the horizon, and how many do is reported.

use super::{
    Better, Estimate, Forecast, Judges, MeasureError, MeasureInfo, Rows, refuse_short, spread,
};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::{Dynamics, Forecasts, Stretch};
use crate::settings::{Domain, Setting};

/// VPT in the list.
pub static INFO: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "vpt",
        summary: "valid prediction time: steps until a forecast is off by half a standard deviation",
        details: "VPT = the number of steps for which e ≤ threshold, e² = ⟨(x̂ − x)²/σ²⟩ over channels; the mean over\n\
                  100 starts, with its standard error (starts that fail together count as one). Forecasts end after 5000 steps or half of the data; how many\n\
                  were still valid then is reported. Lyapunov times need the largest exponent.",
        settings: &[THRESHOLD],
        references: &["vlachas2020"],
    },
    better: Better::Higher,
    judges: Judges::Forecasts(Forecast::Time),
    blind_to: &[],
};

/// The error up to which a forecast is valid.
pub const THRESHOLD: Setting = Setting {
    name: "threshold",
    default: "0.5",
    domain: Domain::Positive,
    about: "error, in standard deviations, up to which a forecast is valid",
};

/// Forecasts that are averaged.
const STARTS: usize = 100;

/// The longest forecast.
const HORIZON: usize = 5000;

/// Steps between two comparisons: forecasts that are no longer valid cost at most so many.
const STRETCH: usize = 32;

/// How long forecasts are valid.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidTime {
    /// The mean in steps.
    pub steps: Estimate,
    /// The median in steps.
    pub median: f64,
    /// Steps at which forecasts end.
    pub horizon: usize,
    /// Forecasts that were still valid then.
    pub censored: usize,
    /// How many forecasts there are.
    pub starts: usize,
}

impl ValidTime {
    /// Whether the mean is only a lower bound: all forecasts were still valid where they ended.
    pub fn is_lower_bound(&self) -> bool {
        self.censored == self.starts
    }
}

/// Where forecasts start, how long they last, and when they are wrong.
#[derive(Debug, Clone)]
pub struct ValidForecasts<'a> {
    truth: Rows<'a>,
    weights: Vec<f64>,
    limit: f64,
    horizon: usize,
    starts: Vec<usize>,
}

impl<'a> ValidForecasts<'a> {
    /// Forecasts of a truth of at least four rows.
    pub fn new(truth: Rows<'a>, threshold: f64) -> Result<ValidForecasts<'a>, MeasureError> {
        refuse_short(truth, 4)?;
        let dim = truth.dim() as f64;
        let weights = spread(truth)?
            .into_iter()
            .map(|(_, sd)| 1.0 / (dim * sd * sd));
        let horizon = HORIZON.min(truth.len() / 2);
        let room = truth.len() - horizon;
        let count = STARTS.min(room);
        Ok(ValidForecasts {
            truth,
            weights: weights.collect(),
            limit: threshold * threshold,
            horizon,
            starts: (0..count).map(|i| i * room / count).collect(),
        })
    }

    /// The rows at which forecasts start.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Steps after which they end.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// How long the forecasts of a fitted system are valid. Starts before the first row that it can infer a state at are moved
    /// there.
    pub fn of_dynamics(&self, dynamics: &dyn Dynamics, data: Stretch<'_>) -> ValidTime {
        let first = dynamics.memory().rows() - 1;
        let last = self.truth.len().saturating_sub(self.horizon);
        let moved = |&t: &usize| t.max(first.min(last));
        let starts: Vec<usize> = self.starts.iter().map(moved).collect();
        let mut forecasts = dynamics.forecasts(data);
        let packs = starts.chunks(forecasts.width());
        let valid: Vec<Vec<usize>> = packs
            .map(|starts| self.of_pack(forecasts.as_mut(), starts))
            .collect();
        self.gather(valid.concat())
    }

    /// How long given forecasts are valid: `predict(t, i)` is what is said at row t about row t + i.
    pub fn of<'b>(&self, predict: impl Fn(usize, usize) -> &'b [f64]) -> ValidTime {
        let valid = |&t: &usize| {
            let right = |&i: &usize| self.holds(t + i, predict(t, i).iter().copied());
            (1..self.horizon).take_while(right).count()
        };
        self.gather(self.starts.iter().map(valid).collect())
    }

    fn of_pack(&self, forecasts: &mut dyn Forecasts, starts: &[usize]) -> Vec<usize> {
        let (width, n) = (forecasts.width(), self.truth.dim());
        forecasts.start(starts);
        let mut valid = vec![0; starts.len()];
        for done in (0..self.horizon - 1).step_by(STRETCH) {
            if valid.iter().all(|&v| v < done) {
                break;
            }
            let steps = STRETCH.min(self.horizon - 1 - done);
            let seen = forecasts.advance(steps, steps);
            for (branch, (&t, valid)) in starts.iter().zip(&mut valid).enumerate() {
                for (i, features) in seen.chunks_exact(n * width).enumerate() {
                    let x_hat = features.iter().skip(branch).step_by(width);
                    let holds = self.holds(t + done + i + 1, x_hat.copied());
                    *valid += usize::from(holds && *valid == done + i);
                }
            }
        }
        valid
    }

    /// Whether a prediction of row t is near enough; NaN is not.
    fn holds(&self, t: usize, x_hat: impl Iterator<Item = f64>) -> bool {
        let squares = x_hat.zip(self.truth.row(t)).map(|(a, b)| (a - b) * (a - b));
        squares.zip(&self.weights).map(|(s, w)| s * w).sum::<f64>() <= self.limit
    }

    fn gather(&self, valid: Vec<usize>) -> ValidTime {
        let mut values: Vec<f64> = valid.iter().map(|&v| v as f64).collect();
        let steps = Estimate::mean_in_time(&values);
        ValidTime {
            steps,
            median: super::summary::median(&mut values),
            horizon: self.horizon - 1,
            censored: valid.iter().filter(|&&v| v == self.horizon - 1).count(),
            starts: valid.len(),
        }
    }
}
