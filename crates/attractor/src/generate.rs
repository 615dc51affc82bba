//! Free orbits of a model, in f64:  z_1 = P (x_1 − b),  z_t = F(z_{t−1}, s_t),  row t is z_t seen through the model.
//!
//! The first row is not x_1 itself but what the model makes of it.

use attractor_core::series::{Series, SeriesError, Trajectory};

use crate::model_file::Reconstruction;

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
    #[error("{rows} rows of {channels} channels do not fit into memory")]
    Memory {
        /// Number of rows.
        rows: usize,
        /// Number of channels.
        channels: usize,
    },
    /// The data are of something else.
    #[error("the model has {expected} {what}, the data have {found}")]
    Columns {
        /// Channels or inputs.
        what: &'static str,
        /// How many the model has.
        expected: usize,
        /// How many the data have.
        found: usize,
    },
    /// The inputs are not known.
    #[error("the model is driven by {inputs} external inputs, and no data are given")]
    NoInputs {
        /// Number of inputs.
        inputs: usize,
    },
    /// The inputs end early.
    #[error("{steps} steps need as many rows of inputs, the first trajectory has {rows}")]
    ShortInputs {
        /// Steps asked for.
        steps: usize,
        /// Rows of the first trajectory.
        rows: usize,
    },
    /// A value that is needed is missing.
    #[error("`{channel}` is missing in row {row} of the data")]
    Missing {
        /// The channel or input.
        channel: String,
        /// The row, from 0.
        row: usize,
    },
    /// The orbit leaves the numbers.
    #[error("the orbit is not finite in row {row}")]
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
            GenerateError::Columns { .. } => {
                Some("`--state` and `--input` choose columns of the data".into())
            }
            GenerateError::ShortInputs { rows, .. } => {
                Some(format!("use `--steps {rows}` or less"))
            }
            GenerateError::NotFinite { row } if *row > 0 => {
                Some(format!("the orbit diverges; `--steps {row}` ends before"))
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
        Some(series) => drive(reconstruction, series, steps)?,
    };
    let (x, start) = match (data, &card.start) {
        (Some(series), _) => (first_row(series)?, GeneratedFrom::Data),
        (None, Some(row)) => (row.clone(), GeneratedFrom::Training),
        (None, None) => (vec![0.0; n], GeneratedFrom::Zero),
    };
    let (mean, sd) = (&card.scaling.mean, &card.scaling.sd);
    let scaled: Vec<f64> = (0..n).map(|i| (x[i] - mean[i]) / sd[i]).collect();
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
    let pairs = [
        ("channels", card.channels.len(), series.dim_obs()),
        ("inputs", card.inputs.len(), series.dim_input()),
    ];
    for (what, expected, found) in pairs {
        // Inputs that a model does not know do no harm.
        if expected != found && !(what == "inputs" && expected == 0) {
            return Err(GenerateError::Columns {
                what,
                expected,
                found,
            });
        }
    }
    let k = card.inputs.len();
    if k == 0 {
        return Ok(Vec::new());
    }
    let rows = series.len_of(0);
    if rows < steps {
        return Err(GenerateError::ShortInputs { steps, rows });
    }
    let inputs = series.trajectories()[0].s[..steps * k].to_vec();
    match inputs.iter().position(|v| v.is_nan()) {
        None => Ok(inputs),
        Some(i) => Err(GenerateError::Missing {
            channel: series.inputs()[i % k].name.clone(),
            row: i / k,
        }),
    }
}

fn first_row(series: &Series) -> Result<Vec<f64>, GenerateError> {
    let row = &series.trajectories()[0].x[..series.dim_obs()];
    match row.iter().position(|v| v.is_nan()) {
        None => Ok(row.to_vec()),
        Some(i) => Err(GenerateError::Missing {
            channel: series.channels()[i].name.clone(),
            row: 0,
        }),
    }
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
