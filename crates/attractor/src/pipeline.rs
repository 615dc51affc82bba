//! Steps that a recording passes before a model sees it, in the order in which they are written:
//!
//! | step | what it does |
//! | --- | --- |
//! | `smooth gaussian:6` | Gaussian of standard deviation 6 rows, cut at 4 of them, ends mirrored |
//! | `smooth hann:15` | symmetric Hann window of 15 rows, ends mirrored |
//! | `smooth hann:15:padded` | the same, with the 7 rows before and after that the mirror image reaches |
//! | `standardize` | every channel to mean 0 and standard deviation 1 (n − 1) |
//! | `standardize population` | the same, dividing by n |
//! | `scale 1/2,0/3` | (x − 1)/2 for the first channel, x/3 for the second: what a model file keeps of `standardize` |
//! | `detrend` | removes the straight line of least squares |
//! | `band-pass 1:40`, `low-pass 40`, `high-pass 1` | Butterworth filter of order 4, forward and backward |
//! | `notch 50` | without that frequency, quality 30, forward and backward |
//! | `missing -99.99,-999` | numbers that stand for missing values are missing |
//! | `interpolate`, `interpolate 5` | missing values on straight lines between their neighbours; runs of at most 5, and so many missing rows |
//! | `every 4` | every fourth row |
//! | `noise 0.05`, `noise 0.05:7` | noise of 0.05 standard deviations, with seed 7 |
//! | `cut 10:20`, `cut row:1:row:9641` | the rows from one moment up to another |
//!
//! Texts of several steps have `;` between them.

mod text;

use attractor_core::hint::Hint;
use attractor_core::prepare::{self, Band, FilterError};
use attractor_core::series::{Scaling, Series, SeriesError};
use attractor_core::text::count;

use crate::format::{Fault, Moment, cut};

/// Steps, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pipeline {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Smooth with a Gaussian of this standard deviation, in rows.
    Gaussian(f64),
    /// Smooth with a Hann window.
    Hann {
        /// Its rows, an odd number.
        length: usize,
        /// What becomes of the ends.
        ends: Ends,
    },
    /// Bring every channel to mean 0 and spread 1.
    Standardize(Spread),
    /// Shift and scale every channel as given.
    Scale(Scaling),
    /// Take the straight line out.
    Detrend,
    /// Keep a band of frequencies.
    Filter(Band),
    /// Numbers that stand for missing values.
    Missing(Vec<f64>),
    /// Put missing values on straight lines: in runs of at most so many, or in all.
    Interpolate(Option<usize>),
    /// Keep every n-th row.
    Every(usize),
    /// Add noise.
    Noise {
        /// In standard deviations of each channel.
        share: f64,
        /// The seed.
        seed: u64,
    },
    /// Keep the rows from one moment up to another.
    Cut {
        /// The first row that is kept.
        from: Option<Moment>,
        /// The first row that is not.
        to: Option<Moment>,
    },
}

/// What becomes of the ends of a smoothed recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// As many rows as before.
    Same,
    /// Half a window more at either end.
    Padded,
}

/// By what the sum of squares is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// By n − 1.
    Sample,
    /// By n.
    Population,
}

/// Why a recording cannot pass.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A text is no step.
    #[error("`{text}` is not a step: {expected}")]
    Text {
        /// The text.
        text: String,
        /// What was expected.
        expected: String,
    },
    /// A step fails.
    #[error("step {number} (`{step}`): {fault}")]
    Step {
        /// Its number, from 1.
        number: usize,
        /// The step.
        step: String,
        /// Why.
        #[source]
        fault: StepFault,
    },
}

/// Why a step fails.
#[derive(Debug, thiserror::Error)]
pub enum StepFault {
    /// The filter.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The rows to keep.
    #[error(transparent)]
    Cut(#[from] Fault),
    /// Nothing is left.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// The data are of something else.
    #[error("expected {}, found {found}", count(*expected, "channel"))]
    Channels {
        /// Channels that the step knows.
        expected: usize,
        /// Channels of the data.
        found: usize,
    },
    /// Rows have times of their own, and the step needs equal ones.
    #[error("rows have times of their own, and this needs equal steps")]
    OwnTimes,
    /// The smoothing is wider than the data.
    #[error(
        "smoothing over {rows} rows needs as many without a gap, the shortest stretch has {shortest}"
    )]
    TooShort {
        /// Rows that a value is made of.
        rows: usize,
        /// Rows of the shortest stretch.
        shortest: usize,
    },
}

impl PipelineError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            PipelineError::Text { .. } => Some(
                "steps are smooth, standardize, scale, detrend, band-pass, low-pass, high-pass, notch, missing, interpolate, every, noise and cut"
                    .into(),
            ),
            PipelineError::Step { fault, .. } => match fault {
                StepFault::Filter(error) => error.hint(),
                StepFault::Cut(fault) => fault.hint(),
                StepFault::TooShort { .. } => Some("smooth less, or cut the short stretches off".into()),
                StepFault::OwnTimes => Some("`--resample DT` in place of `--own-times` interpolates to equal steps".into()),
                StepFault::Series(_) | StepFault::Channels { .. } => None,
            },
        }
    }
}

impl Pipeline {
    /// Whether nothing is done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The recording after all steps.
    pub fn apply(&self, series: &Series) -> Result<Series, PipelineError> {
        Ok(self.fit(series)?.0)
    }

    /// The same after numbers that stand for missing values have been taken out.
    pub(crate) fn after_missing(self, values: &[f64]) -> Pipeline {
        let first = (!values.is_empty()).then(|| Step::Missing(values.to_vec()));
        Pipeline {
            steps: first.into_iter().chain(self.steps).collect(),
        }
    }

    /// The recording after all steps, and the steps that new data are to pass: where this one was standardised, they are
    /// scaled by its figures, and what was cut from this one or added to it as noise says nothing about them.
    pub fn fit(&self, series: &Series) -> Result<(Series, Pipeline), PipelineError> {
        let mut series = series.clone();
        let mut fitted = Pipeline::default();
        for (number, step) in (1..).zip(&self.steps) {
            let done = step.fit(&series).map_err(|fault| PipelineError::Step {
                number,
                step: step.to_string(),
                fault,
            })?;
            series = done.0;
            fitted.steps.extend(done.1);
        }
        Ok((series, fitted))
    }
}

impl Step {
    /// Whether it makes values of neighbouring rows.
    fn needs_neighbours(&self) -> bool {
        match self {
            Step::Gaussian(_)
            | Step::Hann { .. }
            | Step::Detrend
            | Step::Filter(_)
            | Step::Interpolate(_)
            | Step::Every(_) => true,
            Step::Standardize(_)
            | Step::Scale(_)
            | Step::Missing(_)
            | Step::Noise { .. }
            | Step::Cut { .. } => false,
        }
    }

    /// The recording after the step, and the step that new data are to pass.
    fn fit(&self, series: &Series) -> Result<(Series, Option<Step>), StepFault> {
        if self.needs_neighbours() && series.has_own_times() {
            return Err(StepFault::OwnTimes);
        }
        let done = match self {
            Step::Gaussian(sigma) => {
                refuse_wide(series, (8.0 * sigma) as usize + 1)?;
                prepare::gaussian(series, *sigma)
            }
            Step::Hann { length, ends } => {
                refuse_wide(series, *length)?;
                match ends {
                    Ends::Same => prepare::hann(series, *length)?,
                    Ends::Padded => prepare::hann_padded(series, *length)?,
                }
            }
            Step::Standardize(spread) => {
                let scaling = spread.scaling(series);
                return Ok((scaling.apply(series), Some(Step::Scale(scaling))));
            }
            Step::Scale(scaling) => {
                refuse_others(series, scaling)?;
                scaling.apply(series)
            }
            Step::Detrend => prepare::detrend(series)?,
            Step::Filter(band) => prepare::filter(series, *band)?,
            Step::Missing(values) => prepare::without(series, values)?,
            Step::Interpolate(longest) => prepare::interpolate(series, *longest)?,
            Step::Every(n) => prepare::every(series, *n)?,
            // New data have noise of their own.
            Step::Noise { share, seed } => {
                return Ok((prepare::noise(series, *share, *seed)?, None));
            }
            Step::Cut { from, to } => return Ok((cut(series, *from, *to)?, None)),
        };
        Ok((done, Some(self.clone())))
    }
}

impl Spread {
    fn scaling(self, series: &Series) -> Scaling {
        let mut scaling = Scaling::standardizing(series);
        if self == Spread::Population {
            for (channel, sd) in scaling.sd.iter_mut().enumerate() {
                let there = series.column(channel).filter(|v| !v.is_nan()).count() as f64;
                *sd *= if there > 1.0 {
                    ((there - 1.0) / there).sqrt()
                } else {
                    1.0
                };
            }
        }
        scaling
    }
}

fn refuse_wide(series: &Series, rows: usize) -> Result<(), StepFault> {
    let all = (0..series.trajectories().len()).flat_map(|i| series.segments(i));
    let shortest = all.map(|rows| rows.len()).min().unwrap_or(0);
    if shortest < rows {
        Err(StepFault::TooShort { rows, shortest })
    } else {
        Ok(())
    }
}

fn refuse_others(series: &Series, scaling: &Scaling) -> Result<(), StepFault> {
    let (expected, found) = (scaling.mean.len(), series.dim_obs());
    if expected == found {
        Ok(())
    } else {
        Err(StepFault::Channels { expected, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attractor_core::series::mean_and_sd;

    fn ramp() -> Series {
        let row = |t: i32| [f64::from(t), f64::from(t * t % 91)];
        Series::from_rows((0..200).flat_map(row).collect(), 2, 1.0).unwrap()
    }

    fn pipeline(text: &str) -> Pipeline {
        text.parse().unwrap()
    }

    #[test]
    fn steps_are_done_in_order() {
        let scaled_then_smoothed = pipeline("standardize; smooth gaussian:3")
            .apply(&ramp())
            .unwrap();
        let smoothed_then_scaled = pipeline("smooth gaussian:3; standardize")
            .apply(&ramp())
            .unwrap();
        let sd = |series: &Series| mean_and_sd(series.column(1)).1;
        // Two hundred values, each rounded once.
        assert!((sd(&smoothed_then_scaled) - 1.0).abs() < 1e-13);
        assert!(sd(&scaled_then_smoothed) < 0.9);
    }

    #[test]
    fn new_data_are_scaled_by_the_figures_of_the_old() {
        let (old, fitted) = pipeline("cut row:1:row:101; standardize")
            .fit(&ramp())
            .unwrap();
        assert_eq!(old.total_len(), 100);
        let new = fitted.apply(&ramp()).unwrap();
        assert_eq!(new.total_len(), 200);
        assert_eq!(new.trajectories()[0].x[..200], old.trajectories()[0].x);
        assert!(matches!(fitted.steps.as_slice(), [Step::Scale(_)]));
    }

    #[test]
    fn the_population_has_the_smaller_spread() {
        let series = pipeline("standardize population").apply(&ramp()).unwrap();
        let squares: f64 = series.column(0).map(|v| v * v).sum();
        assert!((squares / 200.0 - 1.0).abs() < 1e-13);
    }

    #[test]
    fn a_step_that_fails_is_told_by_number() {
        let said = |text: &str| pipeline(text).apply(&ramp()).unwrap_err().to_string();
        assert!(
            said("detrend; band-pass 0.1:0.7")
                .starts_with("step 2 (`band-pass 0.1:0.7`): frequencies")
        );
        assert_eq!(
            said("scale 0/1"),
            "step 1 (`scale 0/1`): expected 1 channel, found 2"
        );
        assert!(said("smooth hann:201").contains("over 201 rows"));
        assert!(said("cut 300:").contains("times are 0 to 199"));
    }
}
