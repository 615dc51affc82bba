//! Free orbits of a model, in f64:  z_1 = P (x_1 − b),  z_t = F(z_{t−1}, s_t),  row t is z_t seen through the model.
//!
//! The first row is not x_1 itself but what the model makes of it.

use attractor_core::inspect::count;
use attractor_core::series::{Channel, Series, SeriesError, Step, Trajectory};

use crate::model_file::{Card, Reconstruction};

/// A free orbit.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// The orbit, in the units of the data.
    pub series: Series,
    /// Where it started.
    pub start: GeneratedFrom,
}

/// Where a free orbit starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratedFrom {
    /// At the first row of given data.
    Data,
    /// At the first row of the data that the model was trained on.
    Training,
    /// At zero: nothing is known of the data.
    Zero,
}

/// Why there is no orbit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// No rows are asked for.
    #[error("at least one step is needed, found 0")]
    NoSteps,
    /// The rows do not fit into memory.
    #[error("{} of {} do not fit into memory", count(*rows, "row"), count(*channels, "channel"))]
    Memory {
        /// Number of rows.
        rows: usize,
        /// Number of channels.
        channels: usize,
    },
    /// The data are of something else.
    #[error("the model has {}, the data have {found}", count(*expected, what))]
    Columns {
        /// Channel or input.
        what: &'static str,
        /// How many the model has.
        expected: usize,
        /// How many the data have.
        found: usize,
    },
    /// A column of the data has no place in the model.
    #[error("the model has no {what} `{name}`: it has {}", known.join(", "))]
    Unknown {
        /// Channel or input.
        what: &'static str,
        /// Its name in the data.
        name: String,
        /// The model's names.
        known: Vec<String>,
    },
    /// The data are sampled at another pace.
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
    /// The inputs are not known.
    #[error("the model is driven by {}, and no data are given", count(*inputs, "external input"))]
    NoInputs {
        /// Number of inputs.
        inputs: usize,
    },
    /// The inputs end early.
    #[error("{} need as many rows of inputs, the first trajectory has {rows}", count(*steps, "step"))]
    ShortInputs {
        /// Steps asked for.
        steps: usize,
        /// Rows of the first trajectory.
        rows: usize,
    },
    /// Time jumps in the inputs.
    #[error("the inputs have a gap after row {rows}, and {} are asked for", count(*steps, "step"))]
    InputGap {
        /// Rows before the gap.
        rows: usize,
        /// Steps asked for.
        steps: usize,
    },
    /// A value that is needed is missing.
    #[error("`{channel}` is missing in row {} of the data", row + 1)]
    Missing {
        /// The channel or input.
        channel: String,
        /// The row, from 0.
        row: usize,
    },
    /// The orbit leaves the numbers.
    #[error("the orbit has diverged in row {}", row + 1)]
    NotFinite {
        /// The first such row, from 0.
        row: usize,
    },
}

impl GenerateError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            GenerateError::NoInputs { .. } => Some("give data with inputs with `--data`".into()),
            GenerateError::Step { model, .. } => Some(format!(
                "resample the data, or give `--dt {}` if their time axis is wrong",
                model.dt
            )),
            GenerateError::Columns { .. } | GenerateError::Unknown { .. } => {
                Some("`--state` and `--input` choose columns of the data".into())
            }
            GenerateError::ShortInputs { rows, .. } => {
                Some(format!("use `--steps {rows}` or less"))
            }
            GenerateError::InputGap { rows, .. } => Some(format!(
                "use `--steps {rows}` or less, or data without the gap: the state behind it is not known"
            )),
            GenerateError::NotFinite { row } if *row > 0 => {
                Some(format!("`--steps {row}` ends before"))
            }
            _ => None,
        }
    }

    /// Whether nature did it, not the user.
    pub fn is_outcome(&self) -> bool {
        matches!(self, GenerateError::NotFinite { .. })
    }
}

/// A free orbit of `steps` rows from the first row of the data, else from where the training data start.
pub fn generate(
    reconstruction: &Reconstruction,
    data: Option<&Series>,
    steps: usize,
) -> Result<Generated, GenerateError> {
    let Reconstruction { model, card } = reconstruction;
    let (n, k) = (card.channels.len(), card.inputs.len());
    if steps == 0 {
        return Err(GenerateError::NoSteps);
    }
    refuse_more_than_memory(steps, n)?;
    let inputs = match data {
        None if k > 0 => return Err(GenerateError::NoInputs { inputs: k }),
        None => Vec::new(),
        Some(series) => {
            let inputs = drive(reconstruction, series, steps)?;
            refuse_gap(k, series, steps)?;
            inputs
        }
    };
    let (scaled, start) = start(reconstruction, data)?;
    let (mean, sd) = (&card.scaling.mean, &card.scaling.sd);
    let mut orbit = model.orbit(&scaled, &inputs, steps);
    for row in orbit.chunks_exact_mut(n) {
        (0..n).for_each(|i| row[i] = row[i] * sd[i] + mean[i]);
    }
    let time = data.map_or(0.0, |series| series.trajectories()[0].start);
    Ok(Generated {
        series: as_series(reconstruction, orbit, time)?,
        start,
    })
}

/// The row that an orbit starts from, as the model sees it: the first of the data, else of the training data.
pub(crate) fn start(
    reconstruction: &Reconstruction,
    data: Option<&Series>,
) -> Result<(Vec<f64>, GeneratedFrom), GenerateError> {
    let card = &reconstruction.card;
    let (x, start) = match (data, &card.start) {
        (Some(series), _) => {
            drive(reconstruction, series, 0)?;
            (first_row(card, series)?, GeneratedFrom::Data)
        }
        (None, Some(row)) => (row.clone(), GeneratedFrom::Training),
        (None, None) => (vec![0.0; card.channels.len()], GeneratedFrom::Zero),
    };
    let (mean, sd) = (&card.scaling.mean, &card.scaling.sd);
    let scaled = x.iter().zip(mean).zip(sd);
    Ok((
        scaled.map(|((x, mean), sd)| (x - mean) / sd).collect(),
        start,
    ))
}

/// All rows of inputs of the first trajectory.
pub(crate) fn inputs(
    reconstruction: &Reconstruction,
    data: Option<&Series>,
) -> Result<Vec<f64>, GenerateError> {
    match (data, reconstruction.card.inputs.len()) {
        (None, 0) => Ok(Vec::new()),
        (None, inputs) => Err(GenerateError::NoInputs { inputs }),
        (Some(series), _) => drive(reconstruction, series, series.len_of(0)),
    }
}

/// The longest stretch of data without gaps and missing values, as the model sees it; none if no stretch has `least`
/// rows.
pub(crate) fn longest_stretch(
    reconstruction: &Reconstruction,
    data: &Series,
    least: usize,
) -> Result<Option<Series>, GenerateError> {
    let card = &reconstruction.card;
    drive(reconstruction, data, 0)?;
    let channels = order("channel", &card.channels, data.channels())?;
    let inputs = match card.inputs.is_empty() {
        true => Vec::new(),
        false => order("input", &card.inputs, data.inputs())?,
    };
    let (n, k) = (data.dim_obs(), data.dim_input());
    let is_whole = |t: &Trajectory, row: usize| {
        let of_inputs = inputs.iter().map(|&i| t.s[row * k + i]);
        let mut values = t.x[row * n..][..n].iter().copied().chain(of_inputs);
        values.all(|v| !v.is_nan())
    };
    let mut longest = (0, 0..0);
    for (i, trajectory) in data.trajectories().iter().enumerate() {
        for segment in data.segments(i) {
            let mut from = segment.start;
            for row in segment.clone() {
                if !is_whole(trajectory, row) {
                    from = row + 1;
                } else if row + 1 - from > longest.1.len() {
                    longest = (i, from..row + 1);
                }
            }
        }
    }
    let (i, rows) = longest;
    if rows.len() < least {
        return Ok(None);
    }
    let trajectory = &data.trajectories()[i];
    let columns = |values: &[f64], width: usize, order: &[usize]| -> Vec<f64> {
        let places = rows
            .clone()
            .flat_map(|row| order.iter().map(move |i| row * width + i));
        places.map(|place| values[place]).collect()
    };
    let mut stretch = Trajectory::new(columns(&trajectory.x, n, &channels));
    stretch.s = columns(&trajectory.s, k, &inputs);
    let made = Series::new(
        card.channels.clone(),
        card.inputs.clone(),
        card.step.clone(),
        vec![stretch],
    );
    let series = made.expect("names differ, the step is positive and all rows are finite");
    Ok(Some(card.scaling.apply(&series)))
}

fn refuse_more_than_memory(rows: usize, channels: usize) -> Result<(), GenerateError> {
    let memory = || GenerateError::Memory { rows, channels };
    let total = rows.checked_mul(channels).ok_or_else(memory)?;
    Vec::<f64>::new()
        .try_reserve_exact(total)
        .map_err(|_| memory())
}

/// The inputs of the first trajectory, once it is clear that the data fit the model.
fn drive(
    reconstruction: &Reconstruction,
    series: &Series,
    steps: usize,
) -> Result<Vec<f64>, GenerateError> {
    let card = &reconstruction.card;
    refuse_other_columns(card, series)?;
    let k = card.inputs.len();
    if k == 0 {
        return Ok(Vec::new());
    }
    let order = order("input", &card.inputs, series.inputs())?;
    let rows = series.len_of(0);
    if rows < steps {
        return Err(GenerateError::ShortInputs { steps, rows });
    }
    let rows = series.trajectories()[0].s.chunks_exact(k).take(steps);
    let inputs: Vec<f64> = rows.flat_map(|row| order.iter().map(|&i| row[i])).collect();
    match inputs.iter().position(|v| v.is_nan()) {
        None => Ok(inputs),
        Some(i) => Err(GenerateError::Missing {
            channel: series.inputs()[order[i % k]].name.clone(),
            row: i / k,
        }),
    }
}

/// Refuses inputs that jump in time before the last step: an orbit would go on as if they did not.
fn refuse_gap(inputs: usize, series: &Series, steps: usize) -> Result<(), GenerateError> {
    let rows = series.segments(0)[0].len();
    match inputs > 0 && rows < steps {
        true => Err(GenerateError::InputGap { rows, steps }),
        false => Ok(()),
    }
}

/// Refuses data with other numbers of columns or another step than the model's.
pub(crate) fn refuse_other_columns(card: &Card, series: &Series) -> Result<(), GenerateError> {
    let pairs = [
        ("channel", card.channels.len(), series.dim_obs()),
        ("input", card.inputs.len(), series.dim_input()),
    ];
    for (what, expected, found) in pairs {
        // Inputs that a model does not know do no harm.
        if expected != found && !(what == "input" && expected == 0) {
            return Err(GenerateError::Columns {
                what,
                expected,
                found,
            });
        }
    }
    refuse_other_step(&card.step, series.step())
}

fn first_row(card: &Card, series: &Series) -> Result<Vec<f64>, GenerateError> {
    let order = order("channel", &card.channels, series.channels())?;
    let row = &series.trajectories()[0].x;
    match order.iter().find(|&&i| row[i].is_nan()) {
        None => Ok(order.iter().map(|&i| row[i]).collect()),
        Some(&i) => Err(GenerateError::Missing {
            channel: series.channels()[i].name.clone(),
            row: 0,
        }),
    }
}

/// Where in the data each of the model's columns is: by name where both have names, else by place.
pub(crate) fn order(
    what: &'static str,
    model: &[Channel],
    data: &[Channel],
) -> Result<Vec<usize>, GenerateError> {
    if !(named(model) && named(data)) {
        return Ok((0..model.len()).collect());
    }
    let place = |name: &str, list: &[Channel]| list.iter().position(|c| c.name == name);
    if let Some(unknown) = data.iter().find(|c| place(&c.name, model).is_none()) {
        return Err(GenerateError::Unknown {
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
fn refuse_other_step(model: &Step, data: &Step) -> Result<(), GenerateError> {
    let unsaid = [model, data].contains(&&Step::default());
    let same_dt = (data.dt / model.dt - 1.0).abs() < SAME_STEP;
    let same_unit = model.unit == data.unit || model.unit.is_empty() || data.unit.is_empty();
    match unsaid || (same_dt && same_unit) {
        true => Ok(()),
        false => Err(GenerateError::Step {
            model: model.clone(),
            data: data.clone(),
        }),
    }
}

fn in_words(step: &Step) -> String {
    format!("{} {}", step.dt, step.unit).trim_end().to_string()
}

/// The orbit with the model's names and step.
fn as_series(
    reconstruction: &Reconstruction,
    orbit: Vec<f64>,
    time: f64,
) -> Result<Series, GenerateError> {
    let card = &reconstruction.card;
    let n = card.channels.len();
    if let Some(i) = orbit.iter().position(|v| !v.is_finite()) {
        return Err(GenerateError::NotFinite { row: i / n });
    }
    let trajectory = Trajectory {
        start: time,
        ..Trajectory::new(orbit)
    };
    let made: Result<Series, SeriesError> = Series::new(
        card.channels.clone(),
        Vec::new(),
        card.step.clone(),
        vec![trajectory],
    );
    Ok(made.expect("names differ, the step is positive and all rows are finite"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use attractor_core::map::{Dims, MODELS};
    use attractor_core::model::{Architecture, Model};
    use attractor_core::observation::ObservationKind;

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
    fn the_longest_stretch_has_no_gap_and_nothing_missing() {
        let dims = Dims {
            latent: 1,
            hidden: 0,
            inputs: 0,
        };
        let info = MODELS.iter().find(|info| info.entry.id == "plrnn").unwrap();
        let architecture = Architecture::new(info, dims, ObservationKind::Identity, 1).unwrap();
        let mut card = Card::blank(&architecture);
        card.scaling.mean = vec![1.0];
        let reconstruction = Reconstruction {
            model: Model::new(architecture, vec![0.5, 0.0, 0.0]),
            card,
        };
        let x = vec![1.0, f64::NAN, 3.0, 4.0, 5.0, f64::NAN, 7.0, 8.0];
        let data = Series::from_rows(x, 1, 1.0).unwrap();
        let stretch = |least| longest_stretch(&reconstruction, &data, least).unwrap();
        let found = stretch(3).unwrap();
        assert_eq!(found.trajectories()[0].x, [2.0, 3.0, 4.0]);
        assert_eq!(stretch(4), None);
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
