//! An anatomy as CSV tables in a folder, one a figure: what is drawn elsewhere is computed here.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use attractor_core::analysis::gradients::{
    ESTIMATORS, Landscape, Teacher, alpha_estimates, commutators, loss_landscape, product_norms,
};
use attractor_core::map::Map;
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::Series;

use super::Anatomy;
use crate::generate;
use crate::model_file::Reconstruction;
use crate::{Error, store};

/// The tables: name, and what they need besides the model.
pub const TABLES: &[(&str, &str)] = &[
    ("lyapunov_trace.csv", "an orbit that does not diverge"),
    ("regions.csv", "a piecewise-linear model"),
    ("transitions.csv", "a piecewise-linear model"),
    ("symbols.csv", "a piecewise-linear model"),
    ("commutators.csv", "an orbit that does not diverge"),
    (
        "jacobian_norms.csv",
        "data of at least 201 rows without gaps",
    ),
    (
        "alpha_estimates.csv",
        "data of at least 201 rows without gaps",
    ),
    (
        "loss_landscape.csv",
        "data of at least 201 rows without gaps",
    ),
];

/// What was written, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// Names of the tables that were written.
    pub written: Vec<&'static str>,
    /// Names of those that were not, and what they need.
    pub missing: Vec<(&'static str, &'static str)>,
}

/// Strengths of forcing along the curves of `jacobian_norms.csv`.
const ALPHAS: [f64; 7] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];

/// Strengths of forcing of the surfaces of `loss_landscape.csv`.
const SURFACES: [f64; 3] = [0.0, 0.15, 0.5];

/// Predicted steps of a window, windows of a batch, and points along a side of the landscape.
const WINDOW: usize = 200;
const BATCH: usize = 16;
const GRID: usize = 31;
const REACH: f64 = 0.5;

/// Rows of the orbit whose Jacobians are compared, and bins of their histogram.
const PAIRED: usize = 5000;
const BINS: usize = 100;

/// Sequences of `alpha_estimates.csv`.
const SEQUENCES: usize = 5000;

/// Writes all tables that model and data allow into a folder, which is made if it is not there. Those of an earlier
/// analysis that this one does not make are removed.
pub fn tables(
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
    data: Option<&Series>,
    folder: &Path,
) -> Result<Tables, Error> {
    prepare(folder)?;
    let theta = reconstruction.model.parameters().0;
    let desk = Desk {
        anatomy,
        reconstruction,
        theta,
        lesson: data
            .map(|series| Lesson::of(reconstruction, series))
            .transpose()?
            .flatten(),
    };
    let mut done = Tables::default();
    for &(name, needs) in TABLES {
        match desk.table(name) {
            Some(table) => {
                store::write_whole(&folder.join(name), |out| table.write(out))?;
                done.written.push(name);
            }
            None => {
                remove(&folder.join(name))?;
                done.missing.push((name, needs));
            }
        }
    }
    Ok(done)
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Write {
            path: path.to_path_buf(),
            source,
        }),
        _ => Ok(()),
    }
}

/// Makes the folder for tables, if it is not there.
pub fn prepare(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Write {
        path: folder.to_path_buf(),
        source,
    })
}

/// A table of numbers.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn new(header: &[&str], rows: Vec<Vec<f64>>) -> Table {
        let header = header.iter().map(|name| (*name).to_string());
        Table {
            header: header.collect(),
            rows,
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.header.join(","))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }
}

/// The longest stretch of the data without gaps and missing values, as teacher signals.
struct Lesson {
    /// The stretch as a series of its own, as the model sees it.
    series: Series,
    /// ẑ, rows of M.
    z: Vec<f64>,
    /// s, rows of K.
    s: Vec<f64>,
}

impl Lesson {
    /// None if no stretch is as long as a window.
    fn of(reconstruction: &Reconstruction, data: &Series) -> Result<Option<Lesson>, Error> {
        let Some(series) = generate::longest_stretch(reconstruction, data, WINDOW + 1)? else {
            return Ok(None);
        };
        let model = &reconstruction.model;
        let states = model.initial_states();
        let m = model.architecture().dims.latent;
        let mut z = vec![0.0; series.total_len() * m];
        for (z, x) in z.chunks_exact_mut(m).zip(series.rows()) {
            states.infer(x, z);
        }
        Ok(Some(Lesson {
            z,
            s: series.trajectories()[0].s.clone(),
            series,
        }))
    }
}

/// All that tables are made of.
struct Desk<'a> {
    anatomy: &'a Anatomy,
    reconstruction: &'a Reconstruction,
    theta: Vec<f64>,
    lesson: Option<Lesson>,
}

impl Desk<'_> {
    fn map(&self) -> &dyn Map {
        self.reconstruction.model.map()
    }

    fn table(&self, name: &str) -> Option<Table> {
        match name {
            "lyapunov_trace.csv" => self.trace(),
            "regions.csv" => self.regions(),
            "transitions.csv" => self.transitions(),
            "symbols.csv" => self.symbols(),
            "commutators.csv" => self.commutators(),
            "jacobian_norms.csv" => self.norms(),
            "alpha_estimates.csv" => self.alphas(),
            "loss_landscape.csv" => self.landscape(),
            _ => unreachable!("every table of the list is made here"),
        }
    }

    /// Exponents per step from the first part of the orbit, the first two, …
    fn trace(&self) -> Option<Table> {
        let trace = &self.anatomy.lyapunov.as_ref()?.trace;
        let part = self.anatomy.request.steps / trace.len();
        let rows = trace.iter().enumerate().map(|(i, exponents)| {
            let steps = ((i + 1) * part) as f64;
            std::iter::once(steps)
                .chain(exponents.iter().copied())
                .collect()
        });
        let exponents = (1..=trace[0].len()).map(|j| format!("exponent{j}"));
        Some(Table {
            header: std::iter::once("steps".to_string())
                .chain(exponents)
                .collect(),
            rows: rows.collect(),
        })
    }

    fn regions(&self) -> Option<Table> {
        let visits = self.anatomy.regions.as_ref()?.itinerary.visits.iter();
        let rows = visits.enumerate().map(|(i, &n)| vec![i as f64, n as f64]);
        Some(Table::new(&["region", "visits"], rows.collect()))
    }

    fn transitions(&self) -> Option<Table> {
        let transitions = self.anatomy.regions.as_ref()?.itinerary.transitions();
        let row = |(from, to, times)| vec![from as f64, to as f64, times as f64];
        let rows = transitions.into_iter().map(row).collect();
        Some(Table::new(&["from", "to", "times"], rows))
    }

    fn symbols(&self) -> Option<Table> {
        let symbols = &self.anatomy.regions.as_ref()?.itinerary.symbols;
        let rows = symbols.iter().map(|&i| vec![i as f64]).collect();
        Some(Table::new(&["region"], rows))
    }

    fn commutators(&self) -> Option<Table> {
        let m = self.map().dims().latent;
        let orbit = &self.anatomy.orbit;
        if self.anatomy.diverged_at.is_some() || orbit.len() < 2 * m {
            return None;
        }
        let orbit = &orbit[..orbit.len().min(PAIRED * m)];
        let histogram = commutators(self.map(), &self.theta, orbit, BINS);
        let width = 1.0 / BINS as f64;
        let fractions = histogram.fractions.iter().enumerate();
        let rows = fractions.map(|(i, &f)| vec![i as f64 * width, (i + 1) as f64 * width, f]);
        Some(Table::new(&["from", "to", "fraction"], rows.collect()))
    }

    /// ‖∂z_t/∂z_1‖ as a natural logarithm, the mean over windows of the data, a column an α.
    fn norms(&self) -> Option<Table> {
        let lesson = self.lesson.as_ref()?;
        let windows = starts(&lesson.series);
        let curves: Vec<Vec<f64>> = ALPHAS
            .iter()
            .map(|&alpha| self.mean_norms(lesson, &windows, alpha))
            .collect();
        let rows = (0..WINDOW).map(|t| {
            let values = curves.iter().map(|curve| curve[t]);
            std::iter::once((t + 2) as f64).chain(values).collect()
        });
        let alphas = ALPHAS.iter().map(|alpha| format!("alpha{alpha}"));
        Some(Table {
            header: std::iter::once("t".to_string()).chain(alphas).collect(),
            rows: rows.collect(),
        })
    }

    fn mean_norms(&self, lesson: &Lesson, windows: &[usize], alpha: f64) -> Vec<f64> {
        let (m, k) = (self.map().dims().latent, self.map().dims().inputs);
        let mut mean = vec![0.0; WINDOW];
        for &start in windows {
            let teacher = Teacher {
                z: &lesson.z[start * m..][..(WINDOW + 1) * m],
                s: &lesson.s[start * k..][..(WINDOW + 1) * k],
                forced: self
                    .reconstruction
                    .model
                    .architecture()
                    .observation
                    .forced(),
            };
            let norms = product_norms(self.map(), &self.theta, &teacher, alpha);
            let share = 1.0 / windows.len() as f64;
            mean.iter_mut()
                .zip(norms)
                .for_each(|(m, v)| *m += v * share);
        }
        mean
    }

    /// α of every sequence; the last column is the parameter bound, the same in every row.
    fn alphas(&self) -> Option<Table> {
        let lesson = self.lesson.as_ref()?;
        let found = alpha_estimates(self.map(), &self.theta, &lesson.z, SEQUENCES, 0);
        let names = ESTIMATORS.iter().map(|e| e.name().replace('-', "_"));
        let bound = found.parameter_bound;
        let rows = found.rows.iter().map(|row| [&row[..], &[bound]].concat());
        Some(Table {
            header: names.chain(["parameter_bound".to_string()]).collect(),
            rows: rows.collect(),
        })
    }

    /// The loss over the entries (1, 2) and (2, 1) of W1 (or W), a column an α.
    fn landscape(&self) -> Option<Table> {
        let lesson = self.lesson.as_ref()?;
        let model = &self.reconstruction.model;
        let tensors = model.layout().tensors().iter();
        let matrix = tensors.clone().find(|t| ["W1", "W"].contains(&t.name))?;
        let [rows, columns] = matrix.shape.sizes()[..] else {
            return None;
        };
        if rows < 2 || columns < 2 {
            return None;
        }
        let theta: Vec<f64> = model.theta().iter().map(|&v| f64::from(v)).collect();
        let starts = starts(&lesson.series);
        let landscape = Landscape {
            architecture: model.architecture(),
            theta: &theta,
            varied: [matrix.range.start + 1, matrix.range.start + columns],
            reach: REACH,
            points: GRID,
            series: &lesson.series,
            window: WINDOW,
            starts: &starts,
        };
        let threads = self.anatomy.request.threads;
        let surfaces = SURFACES.map(|alpha| loss_landscape(&landscape, alpha, threads));
        let rows = (0..GRID * GRID).map(|e| {
            let place = [landscape.offset(e / GRID), landscape.offset(e % GRID)];
            let losses = surfaces.iter().map(|surface| surface.loss[e]);
            place.into_iter().chain(losses).collect()
        });
        let header = ["offset12", "offset21"].map(String::from);
        let losses = SURFACES.iter().map(|alpha| format!("loss_alpha{alpha}"));
        Some(Table {
            header: header.into_iter().chain(losses).collect(),
            rows: rows.collect(),
        })
    }
}

/// First rows of the windows that norms and losses are averaged over.
fn starts(series: &Series) -> Vec<usize> {
    let mut rng = Rng::new(0, Stream::Windows);
    let choices = series.total_len() - WINDOW;
    (0..BATCH).map(|_| rng.index(choices)).collect()
}
