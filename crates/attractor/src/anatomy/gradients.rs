//! How gradients behave under forcing, as tables: the numbers of Figs. 1, S1, S2 and S10 of Hess et al. (2023), from
//! [`attractor_core::analysis::gradients`].

use attractor_core::analysis::gradients::{
    ESTIMATORS, Landscape, Teacher, alpha_estimates, commutators, loss_landscape, product_norms,
};
use attractor_core::dynamics::Dynamics;
use attractor_core::map::Map;
use attractor_core::model::Model;
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::Series;

use super::tables::Table;
use crate::model_file::Reconstruction;
use crate::seen::Seen;

/// Strengths of forcing along the curves of [`Gradients::norms`].
pub(crate) const ALPHAS: [f64; 7] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];

/// Strengths of forcing of the surfaces of [`Gradients::landscape`].
pub(crate) const SURFACES: [f64; 3] = [0.0, 0.15, 0.5];

/// Predicted steps of a window, windows of a batch, and points along a side of the landscape.
pub(crate) const WINDOW: usize = 200;
const BATCH: usize = 16;
pub(crate) const GRID: usize = 31;
pub(crate) const REACH: f64 = 0.5;

/// Rows of the orbit whose Jacobians are compared, and bins of their histogram.
pub(crate) const PAIRED: usize = 5000;
const BINS: usize = 100;

/// Sequences of [`Gradients::alphas`].
const SEQUENCES: usize = 5000;

/// A model trained under teacher forcing, with the data that it is forced by.
pub(crate) struct Gradients<'a> {
    model: &'a Model,
    theta: &'a [f64],
    lesson: Option<Lesson>,
    threads: usize,
}

impl<'a> Gradients<'a> {
    /// None of a model that is not trained under teacher forcing. Without data, or with too few, only what needs none is computed.
    pub(crate) fn of(
        reconstruction: &'a Reconstruction,
        data: Option<&Seen>,
        threads: usize,
    ) -> Option<Gradients<'a>> {
        let model = reconstruction.model()?;
        Some(Gradients {
            model,
            theta: model.parameters().0,
            lesson: data.and_then(|data| Lesson::of(model, data)),
            threads,
        })
    }

    fn map(&self) -> &dyn Map {
        self.model.map()
    }

    /// How far Jacobians along an orbit, rows of M, are from commuting, as a histogram; none of less than two rows.
    pub(crate) fn commutators(&self, orbit: &[f64]) -> Option<Table> {
        let m = self.map().dims().latent;
        if orbit.len() < 2 * m {
            return None;
        }
        let orbit = &orbit[..orbit.len().min(PAIRED * m)];
        let histogram = commutators(self.map(), self.theta, orbit, BINS);
        let width = 1.0 / BINS as f64;
        let fractions = histogram.fractions.iter().enumerate();
        let rows = fractions.map(|(i, &f)| vec![i as f64 * width, (i + 1) as f64 * width, f]);
        Some(Table::new(&["from", "to", "fraction"], rows.collect()))
    }

    /// ‖∂z_t/∂z_1‖ as a natural logarithm, the mean over windows of the data, a column an α.
    pub(crate) fn norms(&self) -> Option<Table> {
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
                forced: self.model.architecture().observation.forced(),
            };
            let norms = product_norms(self.map(), self.theta, &teacher, alpha);
            let share = 1.0 / windows.len() as f64;
            mean.iter_mut()
                .zip(norms)
                .for_each(|(m, v)| *m += v * share);
        }
        mean
    }

    /// α of every sequence; the last column is the parameter bound, the same in every row.
    pub(crate) fn alphas(&self) -> Option<Table> {
        let lesson = self.lesson.as_ref()?;
        let found = alpha_estimates(self.map(), self.theta, &lesson.z, SEQUENCES, 0);
        let names = ESTIMATORS.iter().map(|e| e.name().replace('-', "_"));
        let bound = found.parameter_bound;
        let rows = found.rows.iter().map(|row| [&row[..], &[bound]].concat());
        Some(Table {
            header: names.chain(["parameter_bound".to_string()]).collect(),
            rows: rows.collect(),
        })
    }

    /// The loss over the entries (1, 2) and (2, 1) of W1 (or W), a column an α.
    pub(crate) fn landscape(&self) -> Option<Table> {
        let lesson = self.lesson.as_ref()?;
        let model = self.model;
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
        let surfaces = SURFACES.map(|alpha| loss_landscape(&landscape, alpha, self.threads));
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
    fn of(model: &Model, data: &Seen) -> Option<Lesson> {
        let (trajectory, rows) = data.series().longest_whole();
        if rows.len() <= WINDOW {
            return None;
        }
        let stretch = data.longest();
        let all: Vec<usize> = (0..stretch.len()).collect();
        let whole = data.series();
        let series = whole.with(vec![whole.slice(trajectory, rows)]);
        Some(Lesson {
            z: model.states_at(stretch, &all),
            s: stretch.inputs().to_vec(),
            series: series.expect("a part of a series is one"),
        })
    }
}

/// First rows of the windows that norms and losses are averaged over.
fn starts(series: &Series) -> Vec<usize> {
    let mut rng = Rng::new(0, Stream::Windows);
    let choices = series.total_len() - WINDOW;
    (0..BATCH).map(|_| rng.index(choices)).collect()
}
