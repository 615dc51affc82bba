//! Free orbits of a model, in f64: a state is inferred from the first rows of the data, then z ← G(z, s), and row after row is
//! what the model shows of it.
//!
//! A model whose state shows the row that it was inferred from begins with that row, as the model sees it; one that forecasts the
//! next row begins with the row after those that it has taken in.

use std::ops::Range;

use attractor_core::dynamics::{Memory, Stretch};
use attractor_core::hint::Hint;
use attractor_core::rows::Rows;
use attractor_core::series::{Series, Trajectory};
use attractor_core::text::count;

use crate::model_file::{Card, Reconstruction};
use crate::seen::{Seen, UnlikeError};

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
    /// At the first rows of given data.
    Data,
    /// At the first rows of the data that the model was trained on.
    Training,
    /// At zero: nothing is known of the data.
    Zero,
}

/// A state to start from.
#[derive(Debug, Clone, PartialEq)]
pub struct Departure {
    /// The state.
    pub z: Vec<f64>,
    /// The last row of the data that it has taken in.
    pub row: usize,
    /// Where that is.
    pub from: GeneratedFrom,
}

/// Why there is no orbit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// No rows are asked for.
    #[error("expected at least one step, found 0")]
    NoSteps,
    /// The rows do not fit into memory.
    #[error("{} of {} do not fit into memory", count(*rows, "row"), count(*channels, "channel"))]
    Memory {
        /// Number of rows.
        rows: usize,
        /// Number of channels.
        channels: usize,
    },
    /// The data are not those of the model.
    #[error(transparent)]
    Unlike(#[from] UnlikeError),
    /// There are too few rows to infer a state from.
    #[error("the model infers a state from {}, the data begin with {found} without a gap", count(*needed, "row"))]
    ShortPast {
        /// How many are needed.
        needed: usize,
        /// How many there are.
        found: usize,
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
        /// Rows of the first trajectory from where the orbit starts.
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
    /// A forecast needs inputs of its own.
    #[error("a forecast of {} needs as many rows of inputs, found {rows}", count(*steps, "step"))]
    FutureInputs {
        /// Steps asked for.
        steps: usize,
        /// Rows of inputs that are given.
        rows: usize,
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
    pub fn hint(&self) -> Option<Hint> {
        match self {
            GenerateError::Unlike(error) => error.hint(),
            GenerateError::NoInputs { .. } => Some("give data with inputs with `--data`".into()),
            GenerateError::ShortInputs { rows, .. } => {
                Some(format!("use `--steps {rows}` or less").into())
            }
            GenerateError::InputGap { rows, .. } => Some(format!(
                "use `--steps {rows}` or less, or data without the gap: the state after it is not known"
            ).into()),
            GenerateError::FutureInputs { .. } => {
                Some("give the inputs of the rows to forecast with `--inputs`".into())
            }
            GenerateError::NotFinite { row } if *row > 0 => {
                Some(format!("`--steps {row}` ends before").into())
            }
            _ => None,
        }
    }

    /// Whether nature did it, not the user.
    pub fn is_outcome(&self) -> bool {
        matches!(self, GenerateError::NotFinite { .. })
    }
}

/// A free orbit of `steps` rows from the first rows of the data, else from where the training data start.
pub fn generate(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    steps: usize,
) -> Result<Generated, GenerateError> {
    match generate_as_far(reconstruction, data, steps)? {
        (generated, None) => Ok(generated),
        (_, Some(diverged)) => Err(diverged),
    }
}

/// The same as far as the orbit has not diverged, with what there is to say where it has; an error if it has no row at all.
pub fn generate_as_far(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    steps: usize,
) -> Result<(Generated, Option<GenerateError>), GenerateError> {
    let Reconstruction { dynamics, card, .. } = reconstruction;
    if steps == 0 {
        return Err(GenerateError::NoSteps);
    }
    refuse_more_than_memory(steps, card.channels.len())?;
    let start = departure(reconstruction, data)?;
    let inputs = match data {
        Some(data) => inputs_of(card, data, start.row, steps)?,
        None => no_inputs(card)?,
    };
    let orbit = card.unscaled(dynamics.orbit(&start.z, &inputs, steps));
    let time = data.map_or(0.0, |data| time_shown(reconstruction, data, start.row));
    as_series(card, orbit, time, start.from)
}

/// The time of the row that a state shows which has taken in the first rows up to this one.
fn time_shown(reconstruction: &Reconstruction, data: &Seen, row: usize) -> f64 {
    let (series, lead) = (data.series(), reconstruction.dynamics.lead());
    let (known, steps) = if has_times(series) {
        (row, lead)
    } else {
        (0, row + lead)
    };
    series.time_of(0, known) + steps as f64 * reconstruction.card.step.dt
}

/// The `steps` rows after the last row of the first trajectory, as far as they do not diverge. `inputs` are those of these rows,
/// steps × K.
pub fn forecast(
    reconstruction: &Reconstruction,
    past: &Seen,
    inputs: &[f64],
    steps: usize,
) -> Result<(Generated, Option<GenerateError>), GenerateError> {
    let Reconstruction { dynamics, card, .. } = reconstruction;
    let (n, k) = (card.channels.len(), card.inputs.len());
    if steps == 0 {
        return Err(GenerateError::NoSteps);
    }
    refuse_more_than_memory(steps, n)?;
    if inputs.len() != steps * k {
        let rows = inputs.len() / k.max(1);
        return Err(GenerateError::FutureInputs { steps, rows });
    }
    let (last, stretch) = last_rows(reconstruction, past)?;
    if let Memory::Rows(needed) = dynamics.memory()
        && stretch.len() < needed
    {
        let found = stretch.len();
        return Err(GenerateError::ShortPast { needed, found });
    }
    let mut z = vec![0.0; dynamics.sizes().state];
    dynamics.infer(stretch, &mut z);
    // A state that shows the last row itself has that row before the first of the forecast; the input of row 0 is not used.
    let known = 1 - dynamics.lead();
    let rows = steps + known;
    let of_rows = [&vec![0.0; k], &inputs[..(rows - 1) * k]].concat();
    let mut orbit = dynamics.orbit(&z, &of_rows, rows);
    orbit.drain(..known * n);
    let time = past.series().time_of(0, last) + card.step.dt;
    as_series(card, card.unscaled(orbit), time, GeneratedFrom::Data)
}

/// The rows up to the last one of the first trajectory, from behind a gap or what the model cannot do without; and its number.
fn last_rows<'a>(
    reconstruction: &Reconstruction,
    data: &'a Seen,
) -> Result<(usize, Stretch<'a>), GenerateError> {
    let past = Past::new(reconstruction, data);
    let rows = past.segments.last().cloned().unwrap_or_default();
    let last = rows.end - 1;
    let first = rows.clone().rev().find(|&row| past.lacks(row));
    let rows = first.map_or(rows.start, |row| row + 1)..rows.end;
    if rows.is_empty() {
        return Err(missing(&reconstruction.card, data.series(), last));
    }
    Ok((last, past.stretch(rows)))
}

/// The state that an orbit starts from: after the first rows of the data, else of the training data.
pub fn departure(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
) -> Result<Departure, GenerateError> {
    let Reconstruction { dynamics, card, .. } = reconstruction;
    let (n, needed) = (card.channels.len(), dynamics.memory().rows());
    let scaled_start: Vec<f64>;
    let (past, from) = match data {
        Some(data) => (
            first_rows(reconstruction, data, needed)?,
            GeneratedFrom::Data,
        ),
        None if card.start.is_empty() => {
            scaled_start = vec![0.0; n];
            (
                Stretch::of(Rows::new(&scaled_start, n)),
                GeneratedFrom::Zero,
            )
        }
        None => {
            scaled_start = card.scaled_rows(&card.start.concat());
            (
                Stretch::of(Rows::new(&scaled_start, n)),
                GeneratedFrom::Training,
            )
        }
    };
    if let (Memory::Rows(needed), GeneratedFrom::Data) = (dynamics.memory(), from)
        && past.len() < needed
    {
        let found = past.len();
        return Err(GenerateError::ShortPast { needed, found });
    }
    let mut z = vec![0.0; dynamics.sizes().state];
    // Inputs of rows before the data are not known: a model that is driven by them starts from data.
    if past.inputs().len() == past.len() * dynamics.sizes().inputs {
        dynamics.infer(past, &mut z);
    }
    Ok(Departure {
        z,
        row: past.len() - 1,
        from,
    })
}

/// At most so many rows at the start of the first trajectory, before a gap or what the model cannot do without.
fn first_rows<'a>(
    reconstruction: &Reconstruction,
    data: &'a Seen,
    most: usize,
) -> Result<Stretch<'a>, GenerateError> {
    let past = Past::new(reconstruction, data);
    let segment = past.segments[0].len();
    let whole = (0..segment).find(|&row| past.lacks(row)).unwrap_or(segment);
    if whole == 0 {
        return Err(missing(&reconstruction.card, data.series(), 0));
    }
    Ok(past.stretch(0..whole.min(most)))
}

/// The first trajectory, as rows that a model can take in.
struct Past<'a> {
    series: &'a Series,
    takes_missing: bool,
    /// Rows between which the model can go from one to the next.
    segments: Vec<Range<usize>>,
}

impl<'a> Past<'a> {
    fn new(reconstruction: &Reconstruction, data: &'a Seen) -> Past<'a> {
        let (series, dynamics) = (data.series(), &reconstruction.dynamics);
        let flows = dynamics.takes_own_times() && has_times(series);
        Past {
            series,
            takes_missing: dynamics.takes_missing(),
            segments: if flows {
                std::iter::once(0..series.len_of(0)).collect()
            } else {
                series.segments(0)
            },
        }
    }

    /// Whether a row lacks what the model cannot do without.
    fn lacks(&self, row: usize) -> bool {
        let (n, k) = (self.series.dim_obs(), self.series.dim_input());
        let t = &self.series.trajectories()[0];
        let is_missing = |v: &f64| v.is_nan();
        (!self.takes_missing && t.x[row * n..][..n].iter().any(is_missing))
            || t.s[row * k..][..k].iter().any(is_missing)
    }

    /// Some of the rows.
    fn stretch(&self, rows: Range<usize>) -> Stretch<'a> {
        let (n, k) = (self.series.dim_obs(), self.series.dim_input());
        let t = &self.series.trajectories()[0];
        let x = Rows::new(&t.x[rows.start * n..rows.end * n], n);
        let stretch = Stretch::new(x, &t.s[rows.start * k..rows.end * k]);
        match t.times.get(rows) {
            Some(times) => stretch.at_times(times, self.series.step().dt),
            None => stretch,
        }
    }
}

/// Whether the rows of the first trajectory have times of their own.
fn has_times(series: &Series) -> bool {
    !series.trajectories()[0].times.is_empty()
}

/// What is missing in a row of the first trajectory.
fn missing(card: &Card, series: &Series, row: usize) -> GenerateError {
    let (n, k) = (series.dim_obs(), series.dim_input());
    let t = &series.trajectories()[0];
    let values = t.x[row * n..][..n].iter().chain(&t.s[row * k..][..k]);
    let names = card.channels.iter().chain(&card.inputs);
    let found = values.zip(names).find(|(value, _)| value.is_nan());
    GenerateError::Missing {
        channel: found.map_or(String::new(), |(_, channel)| channel.name.clone()),
        row,
    }
}

/// No inputs, of a model that has none.
fn no_inputs(card: &Card) -> Result<Vec<f64>, GenerateError> {
    match card.inputs.len() {
        0 => Ok(Vec::new()),
        inputs => Err(GenerateError::NoInputs { inputs }),
    }
}

/// All inputs of the first trajectory from a row on, as far as they are whole.
pub(crate) fn inputs(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    row: usize,
) -> Result<Vec<f64>, GenerateError> {
    match data {
        None => no_inputs(&reconstruction.card),
        Some(data) => {
            let (series, dt) = (data.series(), reconstruction.card.step.dt);
            let last = series.len_of(0) - 1;
            let steps = if has_times(series) {
                ((series.time_of(0, last) - series.time_of(0, row)) / dt).floor() as usize
            } else {
                last - row
            };
            inputs_of(&reconstruction.card, data, row, steps + 1)
        }
    }
}

/// The inputs of `steps` rows, one step of the model apart, of which the first is a row with a time of its own. Inputs of a row hold
/// up to it from the row before.
fn inputs_held(
    card: &Card,
    series: &Series,
    row: usize,
    steps: usize,
) -> Result<Vec<f64>, GenerateError> {
    let (t, k, dt) = (&series.trajectories()[0], card.inputs.len(), card.step.dt);
    let mut held = Vec::with_capacity(steps * k);
    for step in 0..steps {
        // A millionth of a step earlier counts as that time.
        let time = t.times[row] + (step as f64 - 1e-6) * dt;
        let of = t.times.partition_point(|&row| row < time);
        let inputs = t.s.get(of * k..(of + 1) * k);
        let short = GenerateError::ShortInputs { steps, rows: step };
        let inputs = inputs.ok_or(short)?;
        if let Some(i) = inputs.iter().position(|v| v.is_nan()) {
            let channel = card.inputs[i].name.clone();
            return Err(GenerateError::Missing { channel, row: of });
        }
        held.extend(inputs);
    }
    Ok(held)
}

/// The inputs of `steps` rows of the first trajectory, from a row on.
fn inputs_of(
    card: &Card,
    data: &Seen,
    row: usize,
    steps: usize,
) -> Result<Vec<f64>, GenerateError> {
    let (series, k) = (data.series(), card.inputs.len());
    if k == 0 {
        return Ok(Vec::new());
    }
    if has_times(series) {
        return inputs_held(card, series, row, steps);
    }
    let rows = series.len_of(0) - row;
    if rows < steps {
        return Err(GenerateError::ShortInputs { steps, rows });
    }
    let whole = series.segments(0)[0].len() - row;
    let inputs = series.trajectories()[0].s[row * k..(row + steps) * k].to_vec();
    match inputs.iter().position(|v| v.is_nan()) {
        Some(i) => Err(GenerateError::Missing {
            channel: card.inputs[i % k].name.clone(),
            row: row + i / k,
        }),
        None if whole < steps => Err(GenerateError::InputGap { rows: whole, steps }),
        None => Ok(inputs),
    }
}

fn refuse_more_than_memory(rows: usize, channels: usize) -> Result<(), GenerateError> {
    let memory = || GenerateError::Memory { rows, channels };
    let total = rows.checked_mul(channels).ok_or_else(memory)?;
    Vec::<f64>::new()
        .try_reserve_exact(total)
        .map_err(|_| memory())
}

/// The orbit with the model's names and step, up to where it is no longer finite.
fn as_series(
    card: &Card,
    mut orbit: Vec<f64>,
    time: f64,
    start: GeneratedFrom,
) -> Result<(Generated, Option<GenerateError>), GenerateError> {
    let n = card.channels.len();
    let row = orbit.iter().position(|v| !v.is_finite()).map(|i| i / n);
    let diverged = row.map(|row| GenerateError::NotFinite { row });
    orbit.truncate(row.map_or(orbit.len(), |row| row * n));
    if let (true, Some(diverged)) = (orbit.is_empty(), &diverged) {
        return Err(diverged.clone());
    }
    let trajectory = Trajectory {
        start: time,
        ..Trajectory::new(orbit)
    };
    let (channels, step) = (card.channels.clone(), card.step.clone());
    let made = Series::new(channels, Vec::new(), step, vec![trajectory]);
    let series = made.expect("names differ, the step is positive and all rows are finite");
    Ok((Generated { series, start }, diverged))
}

impl Card {
    /// Rows in the units of the data.
    pub fn unscaled(&self, mut rows: Vec<f64>) -> Vec<f64> {
        let (mean, sd) = (&self.scaling.mean, &self.scaling.sd);
        for row in rows.chunks_exact_mut(mean.len()) {
            (0..row.len()).for_each(|i| row[i] = row[i] * sd[i] + mean[i]);
        }
        rows
    }

    /// Rows in the units that the model sees.
    pub fn scaled_rows(&self, rows: &[f64]) -> Vec<f64> {
        let (mean, sd) = (&self.scaling.mean, &self.scaling.sd);
        let n = mean.len();
        let value = |(i, x): (usize, &f64)| (x - mean[i % n]) / sd[i % n];
        rows.iter().enumerate().map(value).collect()
    }
}
