//! An excerpt of the true data, and what models make of it: free orbits from its first row,  x̂_1 = x_1 seen through the model,
//! x̂_t = G(F^{t−1}(z_1)).

use attractor_core::dynamics::Stretch;
use attractor_core::measure::Rows;
use attractor_core::measure::evaluate::has_diverged;
use attractor_core::series::{Channel, Series, Step};

use super::subject::{Beside, Stored, Subject};
use super::{FigureError, Request};
use crate::anatomy::Table;
use crate::chart::Axis;
use crate::{Error, model_file::Reconstruction};

/// Rows of the true data.
pub(super) struct Excerpt {
    /// The truth, as a model sees it.
    pub(super) scaled: Series,
    /// The truth in the units of the data, rows of N.
    pub(super) truth: Vec<f64>,
    /// Names and units of the channels.
    pub(super) labels: Vec<String>,
    /// The sampling step.
    pub(super) step: Step,
}

/// A free orbit beside the truth.
pub(super) struct Orbit {
    /// What its model is called.
    pub(super) name: String,
    /// The orbit in the units of the data, rows of N; NaN from where it is not finite.
    pub(super) x: Vec<f64>,
    /// The same as the model sees it.
    pub(super) scaled: Vec<f64>,
}

/// The truth with one orbit per run.
pub(super) struct Compared {
    /// The truth.
    pub(super) excerpt: Excerpt,
    /// The orbits.
    pub(super) orbits: Vec<Orbit>,
    /// What a reader should know.
    pub(super) notes: Vec<String>,
}

impl Request {
    /// The truth and free orbits of all runs from its first row, over as many rows as are asked for, else over at most
    /// `usual`.
    pub(super) fn compared(&self, usual: usize) -> Result<Compared, Error> {
        let mut notes = self.training_note();
        let mut orbits = Vec::new();
        let mut first = None;
        for beside in &self.all_beside_truth()? {
            let excerpt = self.excerpt(beside, usual)?;
            let orbit = match beside {
                Beside::Run(run) => Orbit::of(run, &excerpt),
                Beside::File(stored) => Orbit::stored(stored, &excerpt)?,
            };
            notes.extend(orbit.note(&excerpt));
            orbits.push(orbit);
            first.get_or_insert(excerpt);
        }
        Ok(Compared {
            excerpt: first.expect("a figure of runs has one"),
            orbits,
            notes,
        })
    }

    /// A note that nobody gave data to compare with.
    pub(super) fn training_note(&self) -> Vec<String> {
        let note = "without `--data` runs are drawn beside what they were trained on";
        match self.data {
            None => vec![note.to_string()],
            Some(_) => Vec::new(),
        }
    }

    /// The first rows of the longest stretch of the truth, as a run or a file has it.
    pub(super) fn excerpt(&self, beside: &Beside, usual: usize) -> Result<Excerpt, Error> {
        Ok(match beside {
            Beside::Run(run) => {
                Excerpt::new(self.cut(run.data.series(), usual)?, &run.reconstruction)
            }
            Beside::File(stored) => Excerpt::of_data(self.cut(&stored.truth, usual)?),
        })
    }

    fn cut(&self, series: &Series, usual: usize) -> Result<Series, Error> {
        let (trajectory, whole) = series.longest_whole();
        let (needed, found) = (self.steps.unwrap_or(2), whole.len());
        if found < needed {
            return Err(FigureError::TooShort { needed, found }.into());
        }
        let rows = self.steps.unwrap_or(usual.min(found));
        let rows = whole.start..whole.start + rows;
        Ok(series.with(vec![series.slice(trajectory, rows)])?)
    }

    /// The channels to show: those asked for, else the first few.
    pub(super) fn shown(&self, excerpt: &Excerpt, usual: usize) -> Result<Vec<usize>, Error> {
        if self.channels.is_empty() {
            return Ok((0..usual.min(excerpt.dim())).collect());
        }
        let names = excerpt.names();
        let find = |name: &String| {
            let by_name = names.iter().position(|known| known == name);
            let by_number = || name.parse().ok().filter(|n| (1..=names.len()).contains(n));
            let place = by_name.or_else(|| by_number().map(|n: usize| n - 1));
            place.ok_or_else(|| {
                Error::Figure(FigureError::UnknownChannel {
                    name: name.clone(),
                    known: names.clone(),
                })
            })
        };
        self.channels.iter().map(find).collect()
    }
}

impl Excerpt {
    fn new(scaled: Series, reconstruction: &Reconstruction) -> Excerpt {
        let card = &reconstruction.card;
        Excerpt {
            truth: in_units_of_data(&scaled.trajectories()[0].x, reconstruction),
            labels: labels(&card.channels),
            step: card.step.clone(),
            scaled,
        }
    }

    /// Where no model sees the data in another way.
    fn of_data(series: Series) -> Excerpt {
        Excerpt {
            truth: series.trajectories()[0].x.clone(),
            labels: labels(series.channels()),
            step: series.step().clone(),
            scaled: series,
        }
    }

    /// Channels N.
    pub(super) fn dim(&self) -> usize {
        self.labels.len()
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.truth.len() / self.dim()
    }

    /// Names of the channels.
    pub(super) fn names(&self) -> Vec<String> {
        let channels = self.scaled.channels().iter();
        channels.map(|channel| channel.name.clone()).collect()
    }

    /// The time of a row, from the first.
    pub(super) fn time(&self, row: usize) -> f64 {
        row as f64 * self.step.dt
    }

    /// The axis of time, up to the end of the last row.
    pub(super) fn time_axis(&self) -> Axis {
        let end = self.time(self.len());
        Axis::new(time_label(&self.step), 0.0, end)
    }

    /// A channel of rows of N against time.
    pub(super) fn trace(&self, x: &[f64], channel: usize) -> Vec<(f64, f64)> {
        let values = x.iter().skip(channel).step_by(self.dim());
        values
            .enumerate()
            .map(|(t, v)| (self.time(t), *v))
            .collect()
    }

    /// Channels of several series against time; each series by its name.
    pub(super) fn table(&self, series: &[(&str, &[f64])], channels: &[usize]) -> Table {
        let (n, names) = (self.dim(), self.names());
        let columns = || {
            series
                .iter()
                .flat_map(|s| channels.iter().map(move |c| (s, *c)))
        };
        let header = columns().map(|((name, _), c)| format!("{name} {}", names[c]));
        let rows = (0..self.len()).map(|t| {
            let values = columns().map(|((_, x), c)| x[t * n + c]);
            [self.time(t)].into_iter().chain(values).collect()
        });
        Table {
            header: ["time".to_string()].into_iter().chain(header).collect(),
            rows: rows.collect(),
        }
    }

    /// A vertical axis that holds the truth, and of other series what is not farther away than the truth is wide.
    pub(super) fn value_axis(&self, channels: &[usize], others: &[&[f64]]) -> Axis {
        let label = match channels {
            [one] => self.labels[*one].clone(),
            _ => String::new(),
        };
        let of = |x: &[f64]| -> Vec<f64> {
            let columns = channels
                .iter()
                .map(|c| x.iter().skip(*c).step_by(self.dim()));
            columns.flatten().copied().collect()
        };
        let truth = Axis::around("", of(&self.truth));
        let wide = truth.high - truth.low;
        let near = truth.low - wide..=truth.high + wide;
        let others = others.iter().flat_map(|x| of(x));
        let near = others.filter(|v| near.contains(v));
        Axis::around(label, near.chain([truth.low, truth.high]))
    }
}

impl Compared {
    /// The truth and the orbits with their names.
    pub(super) fn all(&self) -> Vec<(&str, &[f64])> {
        let orbits = self.orbits.iter();
        let orbits = orbits.map(|orbit| (orbit.name.as_str(), orbit.x.as_slice()));
        [("truth", self.excerpt.truth.as_slice())]
            .into_iter()
            .chain(orbits)
            .collect()
    }
}

impl Orbit {
    fn of(run: &Subject, excerpt: &Excerpt) -> Orbit {
        let dynamics = &run.reconstruction.dynamics;
        let (n, stretch) = (excerpt.dim(), Stretch::longest(&excerpt.scaled));
        let taken = dynamics.memory().rows().min(stretch.len());
        let shown = taken - 1 + dynamics.lead();
        let mut z = vec![0.0; dynamics.sizes().state];
        dynamics.infer(stretch.slice(0..taken), &mut z);
        let inputs = stretch.inputs_of(taken - 1..stretch.len());
        let orbit = dynamics.orbit(&z, inputs, stretch.len().saturating_sub(shown));
        // Rows that the state is inferred from are the data's.
        let given = stretch.rows().values()[..shown.min(stretch.len()) * n].iter();
        let mut scaled: Vec<f64> = given.copied().chain(orbit).collect();
        end_at_infinity(&mut scaled, n);
        Orbit {
            name: run.name.clone(),
            x: in_units_of_data(&scaled, &run.reconstruction),
            scaled,
        }
    }

    fn stored(stored: &Stored, excerpt: &Excerpt) -> Result<Orbit, Error> {
        let mut x = stored.rows(excerpt)?;
        end_at_infinity(&mut x, excerpt.dim());
        Ok(Orbit {
            name: stored.name.clone(),
            scaled: x.clone(),
            x,
        })
    }

    /// Whether it diverges, in words.
    fn note(&self, excerpt: &Excerpt) -> Option<String> {
        let n = excerpt.dim();
        let name = &self.name;
        if let Some(i) = self.scaled.iter().position(|v| v.is_nan()) {
            let row = i / n + 1;
            return Some(format!(
                "the orbit of {name} diverges: it is drawn up to row {row}"
            ));
        }
        let truth = Rows::new(&excerpt.scaled.trajectories()[0].x, n);
        has_diverged(truth, Rows::new(&self.scaled, n))
            .then(|| format!("the orbit of {name} diverges: it leaves the panel"))
    }
}

/// Ends rows of N where they are not finite.
fn end_at_infinity(x: &mut [f64], n: usize) {
    if let Some(i) = x.iter().position(|v| !v.is_finite()) {
        x[i / n * n..].fill(f64::NAN);
    }
}

/// Names of channels with their units.
fn labels(channels: &[Channel]) -> Vec<String> {
    let label = |c: &Channel| {
        if c.unit.is_empty() {
            c.name.clone()
        } else {
            format!("{} ({})", c.name, c.unit)
        }
    };
    channels.iter().map(label).collect()
}

/// From what a model sees to the units of the data.
pub(super) fn in_units_of_data(scaled: &[f64], reconstruction: &Reconstruction) -> Vec<f64> {
    let scaling = &reconstruction.card.scaling;
    let n = scaling.mean.len();
    let value = |(i, v): (usize, &f64)| v * scaling.sd[i % n] + scaling.mean[i % n];
    scaled.iter().enumerate().map(value).collect()
}

/// What an axis of time says.
pub(super) fn time_label(step: &Step) -> String {
    match (step == &Step::default(), step.unit.is_empty()) {
        (true, _) => "step".to_string(),
        (false, true) => "time".to_string(),
        (false, false) => format!("time ({})", step.unit),
    }
}
