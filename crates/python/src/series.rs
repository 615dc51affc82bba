//! Recordings between arrays and the library.

use std::path::PathBuf;
use std::sync::Arc;

use attractor::arrays::{self, Columns, Rows};
use attractor::experiment::DataSource;
use attractor::format;
use attractor::run::Recording;
use attractor::series::{Channel, Series};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::work::{Work, quick};

/// A recording, and the file that it is from.
#[pyclass(frozen, name = "Series", module = "attractor._native")]
pub(crate) struct Recorded {
    pub(crate) recording: Arc<Recording>,
}

/// Name and unit of a column.
type Named = (String, String);

/// A trajectory as it comes from Python: its name, rows, inputs and times.
type Given<'py> = (
    String,
    PyReadonlyArray2<'py, f64>,
    Option<PyReadonlyArray2<'py, f64>>,
    Option<PyReadonlyArray1<'py, f64>>,
);

impl Recorded {
    /// A recording in memory.
    pub(crate) fn of(series: Series) -> Recorded {
        Recorded {
            recording: Arc::new(Recording::in_memory(series)),
        }
    }

    pub(crate) fn series(&self) -> &Series {
        &self.recording.series
    }
}

/// Numbers row by row, whatever their order in memory.
pub(crate) fn row_major(array: &PyReadonlyArray2<'_, f64>) -> Vec<f64> {
    let view = array.as_array();
    match view.as_slice() {
        Some(values) => values.to_vec(),
        None => view.iter().copied().collect(),
    }
}

fn channels(named: Vec<Named>) -> Vec<Channel> {
    let channel = |(name, unit)| Channel { name, unit };
    named.into_iter().map(channel).collect()
}

fn named(channels: &[Channel]) -> Vec<Named> {
    let pair = |channel: &Channel| (channel.name.clone(), channel.unit.clone());
    channels.iter().map(pair).collect()
}

/// Rows of so many columns as an array.
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    values: &[f64],
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = values.len() / columns.max(1);
    PyArray1::from_slice(py, values).reshape([rows, columns])
}

#[pymethods]
impl Recorded {
    #[new]
    fn new(
        py: Python<'_>,
        columns: Vec<Named>,
        inputs: Vec<Named>,
        dt: Option<f64>,
        unit: String,
        trajectories: Vec<Given<'_>>,
        own_times: Option<f64>,
    ) -> PyResult<Recorded> {
        let rows = trajectories.iter().map(|(name, x, s, times)| Rows {
            name: name.clone(),
            x: row_major(x),
            s: s.as_ref().map_or(Vec::new(), row_major),
            times: times.as_ref().map(|times| times.as_array().to_vec()),
        });
        let rows: Vec<Rows> = rows.collect();
        let columns = Columns {
            channels: channels(columns),
            inputs: channels(inputs),
            dt,
            unit,
            own_times,
        };
        quick(py, || Ok(Recorded::of(arrays::series(columns, rows)?)))
    }

    #[getter]
    fn channels(&self) -> Vec<Named> {
        named(self.series().channels())
    }

    #[getter]
    fn inputs(&self) -> Vec<Named> {
        named(self.series().inputs())
    }

    /// The sampling step and its unit.
    #[getter]
    fn step(&self) -> (f64, String) {
        let step = self.series().step();
        (step.dt, step.unit.clone())
    }

    /// Whether rows have times of their own.
    #[getter]
    fn has_own_times(&self) -> bool {
        self.series().has_own_times()
    }

    /// Names of trajectories and their numbers of rows.
    #[getter]
    fn trajectories(&self) -> Vec<(String, usize)> {
        let all = self.series().trajectories().iter().enumerate();
        all.map(|(i, t)| (t.name.clone(), self.series().len_of(i)))
            .collect()
    }

    /// Rows after which time jumps.
    fn gaps(&self, trajectory: usize) -> Vec<usize> {
        let gaps = &self.series().trajectories()[trajectory].gaps;
        gaps.iter().map(|gap| gap.row).collect()
    }

    /// How many observations are missing.
    #[getter]
    fn missing(&self) -> usize {
        self.series().missing()
    }

    /// The file that it was read from, if any.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        let is_on_disk = self.recording.is_on_disk();
        is_on_disk.then(|| self.recording.source.path.clone())
    }

    fn values<'py>(
        &self,
        py: Python<'py>,
        trajectory: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let series = self.series();
        matrix(py, &series.trajectories()[trajectory].x, series.dim_obs())
    }

    fn input_values<'py>(
        &self,
        py: Python<'py>,
        trajectory: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let series = self.series();
        let s = &series.trajectories()[trajectory].s;
        PyArray1::from_slice(py, s).reshape([series.len_of(trajectory), series.dim_input()])
    }

    fn times<'py>(&self, py: Python<'py>, trajectory: usize) -> Bound<'py, PyArray1<f64>> {
        let series = self.series();
        let times = (0..series.len_of(trajectory)).map(|row| series.time_of(trajectory, row));
        PyArray1::from_iter(py, times)
    }

    /// Some rows, counted over all trajectories.
    fn take(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<Recorded> {
        quick(py, || Ok(Recorded::of(arrays::take(self.series(), &rows)?)))
    }

    /// One trajectory.
    fn trajectory(&self, py: Python<'_>, place: usize) -> PyResult<Recorded> {
        let series = self.series();
        quick(py, || {
            let one = series.slice(place, 0..series.len_of(place));
            Ok(Recorded::of(series.with(vec![one])?))
        })
    }

    /// Writes it in the format that the name says; gives back what the format does not hold.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<&'static str>> {
        quick(py, || {
            format::refuse_unwritable(&path)?;
            let lost = format::losses(&path, self.series())?;
            format::write(&path, self.series())?;
            Ok(lost)
        })
    }

    fn same(&self, other: &Recorded) -> bool {
        let missing_alike = |a: &[f64], b: &[f64]| {
            let alike = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
            a.len() == b.len() && a.iter().zip(b).all(alike)
        };
        let (a, b) = (self.series(), other.series());
        let head = |s: &Series| (s.channels().to_vec(), s.inputs().to_vec(), s.step().clone());
        let pairs = a.trajectories().iter().zip(b.trajectories());
        head(a) == head(b)
            && a.trajectories().len() == b.trajectories().len()
            && pairs.into_iter().all(|(a, b)| {
                (&a.name, a.start, &a.gaps, &a.times) == (&b.name, b.start, &b.gaps, &b.times)
                    && missing_alike(&a.x, &b.x)
                    && missing_alike(&a.s, &b.s)
            })
    }
}

/// Reads a file as options by the names of flags say; gives back the recording, and remarks on it.
#[pyfunction]
pub(crate) fn read(path: PathBuf, options: Vec<(String, Vec<String>)>) -> Work {
    Work::begin(
        move |_| {
            let source = DataSource::of(&path, &options)?;
            let remarks = format::remarks(&path, &source.options);
            let recording = Arc::new(Recording::read(source)?);
            Ok((Recorded { recording }, remarks))
        },
        |py, found| Ok(found.into_pyobject(py)?.into_any().unbind()),
    )
}
