//! Data as a model sees them: its columns in its order, after its preparation, in its units. Made once, then lent to all that
//! runs, judges or draws the model.

use attractor_core::dynamics::Stretch;
use attractor_core::hint::Hint;
use attractor_core::series::{Channel, Scaling, Series, Step, Trajectory, mean_and_sd};
use attractor_core::text::{count, duration, figure};

use crate::Error;
use crate::model_file::{Card, Reconstruction};

/// Data as a model sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    series: Series,
    scaling: Scaling,
}

/// How a remark on the scale of data begins.
pub(crate) const OTHER_SCALE: &str = "the data have another scale";

/// A mean that is off by more spreads is far.
const FAR_SHIFT: f64 = 3.0;

/// A spread that is off by a larger factor, up or down, is far.
const FAR_FACTOR: f64 = 5.0;

/// Why data are not those of a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnlikeError {
    /// They have other columns.
    #[error("the model has {}, the data have {found}", count(*expected, what))]
    Columns {
        /// Channel or input.
        what: &'static str,
        /// How many the model has.
        expected: usize,
        /// How many the data have.
        found: usize,
    },
    /// A column has no place in the model.
    #[error("the model has no {what} `{name}`: it has {}", known.join(", "))]
    Unknown {
        /// Channel or input.
        what: &'static str,
        /// Its name in the data.
        name: String,
        /// The model's names.
        known: Vec<String>,
    },
    /// They are sampled at another pace.
    #[error(
        "the model has a step of {}, the data have {}",
        in_words(model),
        in_words(data)
    )]
    Step {
        /// The model's step.
        model: Step,
        /// The data's step.
        data: Step,
    },
}

impl UnlikeError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            UnlikeError::Step { model, data } if model.unit == data.unit => {
                // What is too fast for a longer step has to be damped, and what is missing for a shorter one interpolated.
                let way = if data.dt < model.dt {
                    format!("`--rate {}`", 1.0 / model.dt)
                } else {
                    format!("`--resample {}`", model.dt)
                };
                let dt = model.dt;
                format!("{way} brings the data to it; `--dt {dt}` if their time axis is wrong")
                    .into()
            }
            UnlikeError::Step { model, .. } => {
                format!("give `--dt {}` if their time axis is wrong", model.dt).into()
            }
            UnlikeError::Columns { .. } | UnlikeError::Unknown { .. } => {
                "`--channels` and `--input` choose columns of the data".into()
            }
        })
    }
}

impl Reconstruction {
    /// A recording as the model sees it.
    pub fn see(&self, recording: &Series) -> Result<Seen, Error> {
        let ordered = self.card.ordered(recording)?;
        let prepared = if self.card.prepare.is_empty() {
            ordered
        } else {
            self.card.prepare.apply(&ordered)?
        };
        // Some steps of a preparation change it.
        if *recording.step() != Step::default() {
            refuse_other_step(&self.card.step, prepared.step())?;
        }
        Ok(self.card.scaled(&prepared))
    }

    /// A recording that has passed the model's preparation before, as the model sees it.
    pub fn see_prepared(&self, recording: &Series) -> Result<Seen, UnlikeError> {
        self.card.see_prepared(recording)
    }
}

impl Seen {
    /// The rows.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// The longest stretch of rows without a gap or a missing value, the first of equals.
    pub fn longest(&self) -> Stretch<'_> {
        Stretch::longest(&self.series)
    }

    /// What a user should know if a channel has quite another mean or spread than what the model was trained on: the rows themselves
    /// where they are known, else by the scaling that made their mean 0 and their spread 1.
    pub fn other_scale(&self, trained_on: Option<&Seen>) -> Option<String> {
        let n = self.series.dim_obs();
        if trained_on.is_none() && self.scaling == Scaling::identity(n) {
            return None;
        }
        let far = (0..n).filter_map(|c| {
            let (mean, sd) = trained_on.map_or((0.0, 1.0), |seen| seen.moments(c));
            let (mean_here, sd_here) = self.moments(c);
            let shift = (mean_here - mean).abs() / sd;
            let factor = (sd_here / sd).ln().abs();
            let is_far =
                sd > 0.0 && sd_here > 0.0 && (shift > FAR_SHIFT || factor > FAR_FACTOR.ln());
            is_far.then_some((c, shift.max(factor)))
        });
        let (c, _) = far.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let shown = |(mean, sd): (f64, f64)| {
            let (shift, unit) = (self.scaling.mean[c], self.scaling.sd[c]);
            format!(
                "mean {} and spread {}",
                figure(mean * unit + shift),
                figure(sd * unit)
            )
        };
        Some(format!(
            "{OTHER_SCALE}: `{}` has {}, in training it had {}; other units, or another regime?",
            self.series.channels()[c].name,
            shown(self.moments(c)),
            shown(trained_on.map_or((0.0, 1.0), |seen| seen.moments(c)))
        ))
    }

    /// Mean and spread of a channel, scaled.
    fn moments(&self, channel: usize) -> (f64, f64) {
        mean_and_sd(self.series.column(channel))
    }

    /// Which rows of which trajectory that stretch is, and how many such stretches there are.
    pub fn longest_place(&self) -> (usize, std::ops::Range<usize>, usize) {
        let (trajectory, rows) = self.series.longest_whole();
        (trajectory, rows, self.series.whole_stretches().count())
    }

    /// Rows in the units of the data.
    pub fn unscaled(&self, rows: &[f64]) -> Vec<f64> {
        let n = self.scaling.mean.len();
        let value = |(i, v): (usize, &f64)| v * self.scaling.sd[i % n] + self.scaling.mean[i % n];
        rows.iter().enumerate().map(value).collect()
    }
}

impl Card {
    /// A recording that has passed the preparation before, as a model with this card sees it.
    pub fn see_prepared(&self, recording: &Series) -> Result<Seen, UnlikeError> {
        let ordered = self.ordered(recording)?;
        refuse_other_step(&self.step, recording.step())?;
        Ok(self.scaled(&ordered))
    }

    /// Rows scaled as the model sees them.
    fn scaled(&self, series: &Series) -> Seen {
        Seen {
            series: self.scaling.apply(series),
            scaling: self.scaling.clone(),
        }
    }

    /// A recording with the model's columns alone, in its order, under its names.
    fn ordered(&self, recording: &Series) -> Result<Series, UnlikeError> {
        self.refuse_other_columns(recording)?;
        let of_x = order("channel", &self.channels, recording.channels())?;
        let of_s = if self.inputs.is_empty() {
            Vec::new()
        } else {
            order("input", &self.inputs, recording.inputs())?
        };
        let (n, k) = (recording.dim_obs(), recording.dim_input());
        let in_order = |t: &Trajectory| Trajectory {
            x: columns(&t.x, n, &of_x),
            s: columns(&t.s, k, &of_s),
            ..t.clone()
        };
        let trajectories = recording.trajectories().iter().map(in_order).collect();
        let (channels, inputs) = (self.channels.clone(), self.inputs.clone());
        let made = Series::new(channels, inputs, recording.step().clone(), trajectories);
        Ok(made.expect("the columns of a series, under names that differ"))
    }

    /// Refuses data with other numbers of columns than the model's.
    fn refuse_other_columns(&self, series: &Series) -> Result<(), UnlikeError> {
        let pairs = [
            ("channel", self.channels.len(), series.dim_obs()),
            ("input", self.inputs.len(), series.dim_input()),
        ];
        for (what, expected, found) in pairs {
            // Inputs that a model does not know do no harm.
            if expected != found && !(what == "input" && expected == 0) {
                return Err(UnlikeError::Columns {
                    what,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }
}

/// Chosen columns of a matrix of `width` columns.
fn columns(values: &[f64], width: usize, chosen: &[usize]) -> Vec<f64> {
    if chosen.is_empty() {
        return Vec::new();
    }
    let rows = values.chunks_exact(width);
    rows.flat_map(|row| chosen.iter().map(|&i| row[i]))
        .collect()
}

/// Where in the data each of the model's columns is: by name where both have names, else by place.
fn order(
    what: &'static str,
    model: &[Channel],
    data: &[Channel],
) -> Result<Vec<usize>, UnlikeError> {
    if !(named(model) && named(data)) {
        return Ok((0..model.len()).collect());
    }
    let place = |name: &str, list: &[Channel]| list.iter().position(|c| c.name == name);
    if let Some(unknown) = data.iter().find(|c| place(&c.name, model).is_none()) {
        return Err(UnlikeError::Unknown {
            what,
            name: unknown.name.clone(),
            known: model.iter().map(|c| c.name.clone()).collect(),
        });
    }
    let places = model.iter().map(|c| place(&c.name, data));
    Ok(places
        .map(|place| place.expect("as many names, all of them the model's and all different"))
        .collect())
}

/// Whether columns have names of their own, not the letters and numbers that columns without get.
fn named(channels: &[Channel]) -> bool {
    let numbered = |name: &str| {
        let number = name.strip_prefix(['x', 's']);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    !channels.iter().all(|c| numbered(&c.name))
}

/// Times are often written with few digits.
const SAME_STEP: f64 = 1e-3;

/// A step of 1 without a unit is that of data that do not say.
fn refuse_other_step(model: &Step, data: &Step) -> Result<(), UnlikeError> {
    let unsaid = [model, data].contains(&&Step::default());
    let same_dt = (data.dt / model.dt - 1.0).abs() < SAME_STEP;
    let same_unit = model.unit == data.unit || model.unit.is_empty() || data.unit.is_empty();
    if unsaid || (same_dt && same_unit) {
        return Ok(());
    }
    Err(UnlikeError::Step {
        model: model.clone(),
        data: data.clone(),
    })
}

fn in_words(step: &Step) -> String {
    match step.unit.as_str() {
        "" => step.dt.to_string(),
        unit => duration(step.dt, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(names: &[&str]) -> Vec<Channel> {
        names.iter().map(|&name| Channel::named(name)).collect()
    }

    #[test]
    fn names_decide_where_both_have_them() {
        let model = channels(&["u", "v", "x1"]);
        let found = |data: &[&str]| order("input", &model, &channels(data));
        assert_eq!(found(&["x1", "u", "v"]), Ok(vec![1, 2, 0]));
        assert_eq!(found(&["x3", "x2", "x1"]), Ok(vec![0, 1, 2]));
        let unknown = found(&["u", "w", "v"]).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "the model has no input `w`: it has u, v, x1"
        );
    }

    #[test]
    fn data_are_ordered_scaled_and_cut_to_what_is_whole() {
        let card = Card {
            channels: channels(&["a", "b"]),
            scaling: Scaling {
                mean: vec![1.0, 0.0],
                sd: vec![2.0, 1.0],
            },
            ..Card::blank(attractor_core::dynamics::Sizes {
                state: 2,
                channels: 2,
                inputs: 0,
                dim: 2,
                parameters: 1,
            })
        };
        let x = vec![7.0, 3.0, 8.0, f64::NAN, 9.0, 5.0, 10.0, 7.0];
        let data = Series::new(
            channels(&["b", "a"]),
            Vec::new(),
            Step::default(),
            vec![Trajectory::new(x)],
        );
        let seen = card.see_prepared(&data.unwrap()).unwrap();
        assert_eq!(seen.longest().rows().values(), [2.0, 9.0, 3.0, 10.0]);
        assert_eq!(seen.longest_place(), (0, 2..4, 2));
        assert_eq!(seen.unscaled(&[2.0, 9.0]), [5.0, 9.0]);
    }

    #[test]
    fn data_in_other_units_are_told() {
        let seen = |factor: f64, shift: f64, scaling: Scaling| {
            let wave = (0..100).map(|t| factor * f64::from(t).sin() + shift);
            Seen {
                series: scaling.apply(&Series::from_rows(wave.collect(), 1, 1.0).unwrap()),
                scaling,
            }
        };
        let (mean, sd) = (vec![300.0], vec![0.7]);
        let kelvin = Scaling { mean, sd };
        let model = |factor, shift| seen(factor, shift, kelvin.clone());
        assert_eq!(model(1.0, 300.5).other_scale(None), None);
        assert_eq!(model(2.5, 300.0).other_scale(None), None);
        let note = model(1.0, 26.85).other_scale(None).unwrap();
        assert!(
            note.contains("`x1` has mean 26.85 and spread 0.7"),
            "{note}"
        );
        assert!(
            note.contains("in training it had mean 300 and spread 0.7"),
            "{note}"
        );
        assert!(model(1000.0, 300_000.0).other_scale(None).is_some());
        // Without a scaling, only what the model was trained on tells.
        let raw = |factor| seen(factor, 0.0, Scaling::identity(1));
        assert_eq!(raw(8.0).other_scale(None), None);
        assert_eq!(raw(8.0).other_scale(Some(&raw(9.0))), None);
        assert!(raw(8.0).other_scale(Some(&raw(0.008))).is_some());
    }

    #[test]
    fn steps_differ_by_more_than_rounding_or_by_unit() {
        let step = |dt: f64, unit: &str| Step {
            dt,
            unit: unit.to_string(),
        };
        let fits = |data: Step| refuse_other_step(&step(0.01, "s"), &data).is_ok();
        assert!(fits(step(0.010_000_1, "s")) && fits(step(0.01, "")));
        assert!(fits(Step::default()));
        assert!(!fits(step(0.02, "s")) && !fits(step(0.01, "ms")) && !fits(step(1.0, "s")));
    }
}
