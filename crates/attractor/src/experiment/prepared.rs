//! The data as a model sees them, in three parts of every trajectory:
//!
//! ```text
//! recording ─smooth─▶ ─split─▶  training  │  selection  │  held out     each scaled as the training part is
//!                               trained on   chosen by     scored by
//! ```

use attractor_core::prepare;
use attractor_core::series::{Scaling, Series, SeriesError, mean_and_sd};

/// How a recording is split and scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preparation {
    /// Width in rows of the Gaussian that data are smoothed with; 0 for none.
    pub smooth: f64,
    /// Whether channels are standardised.
    pub standardize: Standardize,
    /// Share at the end of every trajectory that is kept for scoring.
    pub held_out: f64,
    /// Share at the end of what is left that parameters are chosen by.
    pub select: f64,
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
#[derive(Debug, Clone, PartialEq)]
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
    pub fn split(&self, recording: Series) -> Result<Parts, SeriesError> {
        let (kept, held_out) = cut(recording, self.held_out)?;
        let (training, selection) = cut(kept, self.select)?;
        Ok(Parts {
            training,
            selection,
            held_out,
        })
    }

    /// Prepares a recording.
    pub fn prepare(&self, recording: &Series) -> Result<Prepared, SeriesError> {
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
        })
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

    const PLAIN: Preparation = Preparation {
        smooth: 0.0,
        standardize: Standardize::Auto,
        held_out: 0.0,
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
