//! The data as a model sees them:  recording ─smooth─▶ ─standardise─▶ ─split─▶ training data, held-out data.

use attractor_core::prepare;
use attractor_core::series::{Scaling, Series, SeriesError, mean_and_sd};
use attractor_core::settings::Settings;

/// Data that are ready for training.
pub struct Prepared {
    /// What is trained on, scaled.
    pub series: Series,
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

impl Prepared {
    /// Prepares a recording as the settings say.
    pub(super) fn new(recording: &Series, settings: &Settings) -> Result<Prepared, SeriesError> {
        let smoothed = prepare::gaussian(recording, settings.real("smooth"));
        let reason = far_channel(&smoothed);
        let standardized = match settings.choice("standardize") {
            "on" => true,
            "off" => false,
            _ => reason.is_some(),
        };
        let scaling = match standardized {
            true => Scaling::standardizing(&smoothed),
            false => Scaling::identity(smoothed.dim_obs()),
        };
        let scaled = scaling.apply(&smoothed);
        let (series, held_out) = match settings.real("held-out") {
            0.0 => (scaled, None),
            share => {
                let (series, rest) = scaled.split_by_time(1.0 - share)?;
                (series, Some(rest))
            }
        };
        Ok(Prepared {
            series,
            held_out,
            scaling,
            reason: reason.filter(|_| settings.choice("standardize") == "auto"),
        })
    }
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
    use crate::experiment::raw;

    fn prepared(x: Vec<f64>, given: &[(&str, &str)]) -> Prepared {
        let settings = Settings::resolve(&raw::list(), given.iter().copied()).unwrap();
        Prepared::new(&Series::from_rows(x, 1, 1.0).unwrap(), &settings).unwrap()
    }

    fn sine(offset: f64, scale: f64) -> Vec<f64> {
        let value = |t: i32| offset + scale * 2f64.sqrt() * f64::from(t).sin();
        (0..1000).map(value).collect()
    }

    #[test]
    fn only_what_is_far_is_standardised_unless_asked() {
        let scaled = |offset, scale, how| {
            let prepared = prepared(sine(offset, scale), &[("standardize", how)]);
            (prepared.scaling.sd[0] != 1.0, prepared.reason.is_some())
        };
        assert_eq!(scaled(0.1, 0.8, "auto"), (false, false));
        assert_eq!(scaled(3.0, 0.8, "auto"), (true, true));
        assert_eq!(scaled(0.0, 2.5, "auto"), (true, true));
        assert_eq!(scaled(0.0, 0.1, "auto"), (true, true));
        assert_eq!(scaled(0.1, 0.8, "on"), (true, false));
        assert_eq!(scaled(9.0, 9.0, "off"), (false, false));
        let series = prepared(sine(3.0, 7.0), &[]).series;
        let (mean, sd) = mean_and_sd(series.column(0));
        // A thousand values, each rounded once.
        assert!(mean.abs() < 1e-12 && (sd - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_end_is_held_out_and_smoothing_comes_first() {
        let slow = (0..1000).map(|t| 2f64.sqrt() * (0.1 * f64::from(t)).sin());
        let given = [("held-out", "0.2"), ("smooth", "3"), ("standardize", "on")];
        let prepared = prepared(slow.collect(), &given);
        let held_out = prepared.held_out.unwrap();
        assert_eq!(
            (prepared.series.total_len(), held_out.total_len()),
            (800, 200)
        );
        // A sine of frequency 0.1 loses a factor exp(−0.1²·3²/2). A thousand rows are 15.9 periods and have 24 rows near
        // an end, each of which may be off by the 4 % that are lost.
        let expected = (-0.045f64).exp();
        assert!((prepared.scaling.sd[0] - expected).abs() < 5e-3);
    }
}
