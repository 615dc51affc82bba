//! The data as a model sees them, in three parts of every trajectory:
//!
//! ```text
//! recording ─smooth─▶ ─split─▶  training  │  selection  │  held out     each scaled as the training part is
//!                               trained on   chosen by     scored by
//! ```

use attractor_core::hint::Hint;
use attractor_core::prepare;
use attractor_core::series::{Scaling, Series, SeriesError, mean_and_sd};
use attractor_core::text::{count, enumerate};
use attractor_core::windows::Cuts;

/// How a recording is split and scaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// Width in rows of the Gaussian that data are smoothed with; 0 for none.
    pub smooth: f64,
    /// Whether channels are standardised.
    pub standardize: Standardize,
    /// Share at the end of every trajectory that is kept for scoring.
    pub held_out: f64,
    /// Whole trajectories that are kept for scoring: how many at the end, their names, separated by commas, or `none`.
    pub held_out_trajectories: String,
    /// Share at the end of what is left that parameters are chosen by.
    pub select: f64,
}

/// The word for no trajectory.
pub(super) const NONE: &str = "none";

/// Why a recording cannot be split.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// Too little is left.
    #[error("`held-out` and `select` leave nothing to train on or nothing to judge by")]
    Nothing(#[from] SeriesError),
    /// No trajectory has this name.
    #[error("no trajectory is named `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// All trajectories would be held out.
    #[error("`held-out-trajectories` leaves nothing to train on: there {} {}", if *there == 1 { "is" } else { "are" }, count(*there, "trajectory"))]
    All {
        /// How many there are.
        there: usize,
    },
}

impl SplitError {
    /// What the user can do about it.
    pub fn hint(&self) -> Hint {
        match self {
            SplitError::Nothing(_) => "use another share, such as 0.2".into(),
            SplitError::Unknown { known, .. } => {
                format!("give how many to hold out, or names: {}", enumerate(known)).into()
            }
            SplitError::All { there: 1 } => {
                "`--held-out 0.2` keeps the end of the trajectory".into()
            }
            SplitError::All { there } => {
                format!("use `--held-out-trajectories {}` or less", there - 1).into()
            }
        }
    }
}

/// Whether channels are scaled to mean 0 and spread 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standardize {
    /// Where one is far from it.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Data that are ready for training.
#[derive(Debug)]
pub struct Prepared {
    /// What is trained on, scaled.
    pub series: Series,
    /// What parameters are chosen by, scaled, if it is not what is trained on.
    pub selection: Option<Series>,
    /// The end of every trajectory, scaled, if it is held out.
    pub held_out: Option<Series>,
    /// How the data were scaled.
    pub scaling: Scaling,
    /// Why they were, unless that was asked for.
    pub reason: Option<FarChannel>,
    /// The windows that fits have cut of what is trained on.
    pub(crate) cuts: Cuts,
}

/// A channel that is far from mean 0 and spread 1.
#[derive(Debug, Clone, PartialEq)]
pub struct FarChannel {
    /// Its name.
    pub name: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// The parts of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// What is trained on.
    pub training: Series,
    /// What parameters are chosen by, if it is kept from training.
    pub selection: Option<Series>,
    /// What is kept for scoring.
    pub held_out: Option<Series>,
}

impl Preparation {
    /// The parts of a recording.
    pub fn split(&self, recording: Series) -> Result<Parts, SplitError> {
        let whole = self.whole_held_out(&recording)?;
        if whole.is_empty() {
            return self.split_each(recording);
        }
        let (held_out, others) = recording.split_by_trajectory(|i| whole.contains(&i))?;
        let parts = self.split_each(others)?;
        let ends = parts.held_out.iter().flat_map(Series::trajectories);
        let all = held_out.trajectories().iter().chain(ends).cloned();
        Ok(Parts {
            held_out: Some(recording.with(all.collect())?),
            ..parts
        })
    }

    /// The numbers of the trajectories that are held out as a whole.
    fn whole_held_out(&self, recording: &Series) -> Result<Vec<usize>, SplitError> {
        let text = self.held_out_trajectories.trim();
        let there = recording.trajectories().len();
        if text == NONE || text.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<String> = (0..there).map(|i| trajectory_name(recording, i)).collect();
        let place = |name: &str| names.iter().position(|known| known == name.trim());
        let found: Vec<Option<usize>> = text.split(',').map(place).collect();
        let whole = match (
            text.parse::<usize>(),
            found.iter().position(Option::is_none),
        ) {
            (_, None) => found.into_iter().flatten().collect(),
            (Ok(count), Some(_)) => (there.saturating_sub(count)..there).collect(),
            (Err(_), Some(i)) => {
                return Err(SplitError::Unknown {
                    name: text
                        .split(',')
                        .nth(i)
                        .unwrap_or_default()
                        .trim()
                        .to_string(),
                    known: names,
                });
            }
        };
        let whole: Vec<usize> = whole;
        if (0..there).all(|i| whole.contains(&i)) {
            Err(SplitError::All { there })
        } else {
            Ok(whole)
        }
    }

    /// The names of the trajectories that are held out as a whole; (1), (2), … where they have none.
    pub fn held_out_names(&self, recording: &Series) -> Result<Vec<String>, SplitError> {
        let whole = self.whole_held_out(recording)?;
        let names = whole.iter().map(|&i| trajectory_name(recording, i));
        Ok(names.collect())
    }

    /// The parts of every trajectory.
    fn split_each(&self, recording: Series) -> Result<Parts, SplitError> {
        let (kept, held_out) = cut(recording, self.held_out)?;
        let (training, selection) = cut(kept, self.select)?;
        Ok(Parts {
            training,
            selection,
            held_out,
        })
    }

    /// Prepares a recording.
    pub fn prepare(&self, recording: &Series) -> Result<Prepared, SplitError> {
        let parts = self.split(prepare::gaussian(recording, self.smooth))?;
        let far = far_channel(&parts.training);
        let is_standardized = match self.standardize {
            Standardize::On => true,
            Standardize::Off => false,
            Standardize::Auto => far.is_some(),
        };
        let scaling = if is_standardized {
            Scaling::standardizing(&parts.training)
        } else {
            Scaling::identity(recording.dim_obs())
        };
        Ok(Prepared {
            series: scaling.apply(&parts.training),
            selection: parts.selection.map(|part| scaling.apply(&part)),
            held_out: parts.held_out.map(|part| scaling.apply(&part)),
            reason: far.filter(|_| self.standardize == Standardize::Auto),
            scaling,
            cuts: Cuts::default(),
        })
    }
}

/// The name of a trajectory; (1), (2), … where it has none.
fn trajectory_name(recording: &Series, i: usize) -> String {
    match recording.trajectories()[i].name.as_str() {
        "" => format!("({})", i + 1),
        name => name.to_string(),
    }
}

/// All but a share at the end of every trajectory, and that share.
fn cut(series: Series, share: f64) -> Result<(Series, Option<Series>), SeriesError> {
    if share == 0.0 {
        return Ok((series, None));
    }
    let (first, rest) = series.split_by_time(1.0 - share)?;
    Ok((first, Some(rest)))
}

/// Means beyond this, in either direction, are far from 0.
const FAR_MEAN: f64 = 0.5;

/// Standard deviations beyond this factor, up or down, are far from 1.
const FAR_SPREAD: f64 = 2.0;

/// The first channel that is far from mean 0 and spread 1, where all parameters start for. A constant channel's spread
/// does not count.
fn far_channel(series: &Series) -> Option<FarChannel> {
    let moments = (0..series.dim_obs()).map(|c| mean_and_sd(series.column(c)));
    let far = |&(_, (mean, sd)): &(usize, (f64, f64))| {
        mean.abs() > FAR_MEAN || (sd > 0.0 && !(1.0 / FAR_SPREAD..=FAR_SPREAD).contains(&sd))
    };
    let (c, (mean, sd)) = moments.enumerate().find(far)?;
    Some(FarChannel {
        name: series.channels()[c].name.clone(),
        mean,
        sd,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use attractor_core::series::Trajectory;

    const PLAIN: Preparation = Preparation {
        smooth: 0.0,
        standardize: Standardize::Auto,
        held_out: 0.0,
        held_out_trajectories: String::new(),
        select: 0.0,
    };

    fn prepared(x: Vec<f64>, preparation: Preparation) -> Prepared {
        let series = Series::from_rows(x, 1, 1.0).unwrap();
        preparation.prepare(&series).unwrap()
    }

    fn sine(offset: f64, scale: f64) -> Vec<f64> {
        let value = |t: i32| offset + scale * 2f64.sqrt() * f64::from(t).sin();
        (0..1000).map(value).collect()
    }

    #[test]
    fn only_what_is_far_is_standardised_unless_asked() {
        let scaled = |offset, scale, how| {
            let preparation = Preparation {
                standardize: how,
                ..PLAIN
            };
            let prepared = prepared(sine(offset, scale), preparation);
            (prepared.scaling.sd[0] != 1.0, prepared.reason.is_some())
        };
        assert_eq!(scaled(0.1, 0.8, Standardize::Auto), (false, false));
        assert_eq!(scaled(3.0, 0.8, Standardize::Auto), (true, true));
        assert_eq!(scaled(0.0, 2.5, Standardize::Auto), (true, true));
        assert_eq!(scaled(0.0, 0.1, Standardize::Auto), (true, true));
        assert_eq!(scaled(0.1, 0.8, Standardize::On), (true, false));
        assert_eq!(scaled(9.0, 9.0, Standardize::Off), (false, false));
        let series = prepared(sine(3.0, 7.0), PLAIN).series;
        let (mean, sd) = mean_and_sd(series.column(0));
        // A thousand values, each rounded once.
        assert!(mean.abs() < 1e-12 && (sd - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_end_is_held_out_and_smoothing_comes_first() {
        let slow = (0..1000).map(|t| 2f64.sqrt() * (0.1 * f64::from(t)).sin());
        let preparation = Preparation {
            smooth: 3.0,
            standardize: Standardize::On,
            held_out: 0.2,
            ..PLAIN
        };
        let prepared = prepared(slow.collect(), preparation);
        let held_out = prepared.held_out.unwrap();
        assert_eq!(
            (prepared.series.total_len(), held_out.total_len()),
            (800, 200)
        );
        // A sine of frequency 0.1 loses a factor exp(−0.1²·3²/2). Eight hundred rows are 12.7 periods and have 12 rows near
        // an end, each of which may be off by the 4 % that are lost.
        let expected = (-0.045f64).exp();
        assert!((prepared.scaling.sd[0] - expected).abs() < 5e-3);
    }

    #[test]
    fn whole_trajectories_are_held_out_by_number_or_by_name() {
        let trajectory = |(name, value): (&str, f64)| Trajectory {
            name: name.to_string(),
            ..Trajectory::new(vec![value; 10])
        };
        let all = [("ann", 1.0), ("bob", 2.0), ("", 3.0)].map(trajectory);
        let series = Series::from_rows(vec![0.0], 1, 1.0).unwrap();
        let series = series.with(all.to_vec()).unwrap();
        let split = |text: &str, held_out: f64| {
            let preparation = Preparation {
                held_out,
                held_out_trajectories: text.to_string(),
                ..PLAIN
            };
            preparation.split(series.clone())
        };
        let firsts = |series: &Series| {
            series
                .trajectories()
                .iter()
                .map(|t| t.x[0])
                .collect::<Vec<_>>()
        };
        for (text, training, held_out) in [
            ("1", vec![1.0, 2.0], vec![3.0]),
            ("bob", vec![1.0, 3.0], vec![2.0]),
            ("ann, (3)", vec![2.0], vec![1.0, 3.0]),
        ] {
            let parts = split(text, 0.0).unwrap();
            assert_eq!(firsts(&parts.training), training, "{text}");
            assert_eq!(firsts(&parts.held_out.unwrap()), held_out, "{text}");
        }
        assert_eq!(split("none", 0.0).unwrap().held_out, None);
        let both = split("1", 0.2).unwrap();
        assert_eq!(
            (
                both.training.total_len(),
                both.held_out.unwrap().total_len()
            ),
            (16, 14)
        );
        let said = |text: &str| {
            let error = split(text, 0.0).unwrap_err();
            (error.to_string(), error.hint().to_string())
        };
        assert_eq!(said("carl").0, "no trajectory is named `carl`");
        assert!(said("carl").1.ends_with("ann, bob and (3)"));
        assert_eq!(said("3").1, "use `--held-out-trajectories 2` or less");
    }

    /// Rows of spread 1, then of spread 3, then of spread 9.
    #[test]
    fn all_parts_are_scaled_as_the_training_part_is() {
        let size = |t: u32| match t {
            0..600 => 1.0,
            600..800 => 3.0,
            _ => 9.0,
        };
        let wave = |t: u32| 5.0 + size(t) * 2f64.sqrt() * f64::from(t).sin();
        let preparation = Preparation {
            standardize: Standardize::On,
            held_out: 0.2,
            select: 0.25,
            ..PLAIN
        };
        let prepared = prepared((0..1000).map(wave).collect(), preparation);
        let spread = |part: &Series| (part.total_len(), mean_and_sd(part.column(0)).1);
        let close = |(rows, sd): (usize, f64), expected: (usize, f64)| {
            // Whole periods but for one at either end.
            assert!(
                rows == expected.0 && (sd / expected.1 - 1.0).abs() < 0.02,
                "{rows} {sd}"
            );
        };
        close(spread(&prepared.series), (600, 1.0));
        close(spread(&prepared.selection.unwrap()), (200, 3.0));
        close(spread(&prepared.held_out.unwrap()), (200, 9.0));
    }
}
