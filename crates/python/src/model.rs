//! What is done with a fitted model.

use std::path::PathBuf;

use attractor::Error;
use attractor::anatomy::{Sources, dissect};
use attractor::dynamics::{Dynamics, Values};
use attractor::evaluation::{self, Cache, Evaluation, Origin, evaluate_by_parts};
use attractor::generate::{
    self as orbits, GenerateError, Generated, GeneratedFrom, departure, generate_as_far,
};
use attractor::model_file::Reconstruction;
use attractor::options;
use attractor::report::{Request, write_report};
use attractor::seen::Seen;
use attractor::study::Judging;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{self, Told};
use crate::fit::Fitted;
use crate::series::{Recorded, matrix, row_major};
use crate::work::{Work, quick};

/// Names and values as texts.
type Pairs = Vec<(String, String)>;

/// An orbit, what there is to say where it diverged, and whether it started at zero because nothing better was known.
type Orbit = (Recorded, Option<Told>, bool);

fn orbit((generated, diverged): (Generated, Option<GenerateError>)) -> Orbit {
    let is_from_zero = generated.start == GeneratedFrom::Zero;
    let diverged = diverged.map(|diverged| error::told(&Error::Generate(diverged)));
    (Recorded::of(generated.series), diverged, is_from_zero)
}

/// Data as a model sees them.
fn seen(model: &Reconstruction, data: Option<&Recorded>) -> Option<Result<Seen, Error>> {
    data.map(|data| model.see(data.series()))
}

/// The document of an evaluation, and its notes.
fn judged(evaluation: &Evaluation) -> String {
    serde_json::to_string(&evaluation.document()).expect("a document has texts for keys")
}

/// Its name, and its sizes as the paper counts them: latent states, channels, inputs, dynamical variables, parameters.
#[pyfunction]
pub(crate) fn sizes(fitted: &Fitted) -> (&'static str, usize, usize, usize, usize, usize) {
    let sizes = fitted.model().dynamics.sizes();
    let id = fitted.model().method.entry.id;
    (
        id,
        sizes.state,
        sizes.channels,
        sizes.inputs,
        sizes.dim,
        sizes.parameters,
    )
}

/// What it is made of, in words.
#[pyfunction]
pub(crate) fn describe(fitted: &Fitted) -> String {
    fitted.model().dynamics.describe()
}

/// Names and units of its channels.
#[pyfunction]
pub(crate) fn channels(fitted: &Fitted) -> Vec<(String, String)> {
    let channels = fitted.model().card.channels.iter();
    channels
        .map(|channel| (channel.name.clone(), channel.unit.clone()))
        .collect()
}

/// Names and units of its inputs.
#[pyfunction]
pub(crate) fn inputs(fitted: &Fitted) -> Vec<(String, String)> {
    let inputs = fitted.model().card.inputs.iter();
    inputs
        .map(|input| (input.name.clone(), input.unit.clone()))
        .collect()
}

/// Its sampling step and the unit of it.
#[pyfunction]
pub(crate) fn step_size(fitted: &Fitted) -> (f64, String) {
    let step = &fitted.model().card.step;
    (step.dt, step.unit.clone())
}

/// All tensors of its file by name.
#[pyfunction]
pub(crate) fn parameters<'py>(fitted: &Fitted, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    for tensor in fitted.model().dynamics.tensors() {
        let sizes = tensor.shape.sizes();
        let array = match tensor.values {
            Values::F32(values) => PyArray1::from_slice(py, values).reshape(sizes)?.into_any(),
            Values::F64(values) => PyArray1::from_slice(py, values).reshape(sizes)?.into_any(),
        };
        named.set_item(tensor.name, array)?;
    }
    Ok(named)
}

/// A free orbit, from the first rows of data if they are given.
#[pyfunction]
pub(crate) fn generate(
    fitted: &Fitted,
    py: Python<'_>,
    steps: usize,
    data: Option<&Recorded>,
) -> PyResult<Work> {
    let model = fitted.model().clone();
    let data = quick(py, || seen(&model, data).transpose())?;
    Ok(Work::begin(
        move |_| Ok(orbit(generate_as_far(&model, data.as_ref(), steps)?)),
        |py, orbit| Ok(orbit.into_pyobject(py)?.into_any().unbind()),
    ))
}

/// The rows after the last one of the data, driven by inputs of their own.
#[pyfunction]
pub(crate) fn forecast(
    fitted: &Fitted,
    py: Python<'_>,
    past: &Recorded,
    inputs: PyReadonlyArray2<'_, f64>,
    steps: usize,
) -> PyResult<Work> {
    let (model, inputs) = (fitted.model().clone(), row_major(&inputs));
    let past = quick(py, || model.see(past.series()))?;
    Ok(Work::begin(
        move |_| Ok(orbit(orbits::forecast(&model, &past, &inputs, steps)?)),
        |py, orbit| Ok(orbit.into_pyobject(py)?.into_any().unbind()),
    ))
}

/// Judges it, by data or else by what its fit held out or was trained on; gives back a document as JSON.
#[pyfunction]
pub(crate) fn evaluate(
    fitted: &Fitted,
    py: Python<'_>,
    data: Option<&Recorded>,
    given: Pairs,
    set: Pairs,
) -> PyResult<Work> {
    let model = fitted.model().clone();
    let (request, data) = quick(py, || {
        let request = Judging::of(&given, set)?.request;
        Ok((request, seen(&model, data).transpose()?))
    })?;
    let parts = quick(py, || Ok(fitted.parts()))?;
    let folder = fitted.place().filter(|place| place.is_dir());
    let cache = Cache::of_user(folder);
    let Some(data) = data else {
        let parts = parts.ok_or_else(|| {
            let text = "the data that the model was fitted to are not known".to_string();
            let hint = "give data to judge it by".to_string();
            error::of_class(py, ("EvaluationError", text, Some(hint)))
        })?;
        return Ok(Work::begin(
            move |listener| {
                let found = evaluate_by_parts(&model, &parts, &request, &cache, listener)?;
                Ok(judged(&found))
            },
            |py, text| Ok(text.into_pyobject(py)?.into_any().unbind()),
        ));
    };
    Ok(Work::begin(
        move |listener| {
            let origin = parts.map_or_else(Origin::default, |p| Origin::of_parts(&model, &p));
            let found = evaluation::evaluate(&model, &data, &origin, &request, &cache, listener)?;
            Ok(judged(&found))
        },
        |py, text| Ok(text.into_pyobject(py)?.into_any().unbind()),
    ))
}

/// Takes it apart; gives back a document as JSON.
#[pyfunction]
pub(crate) fn analyze(
    fitted: &Fitted,
    py: Python<'_>,
    data: Option<&Recorded>,
    given: Pairs,
) -> PyResult<Work> {
    let model = fitted.model().clone();
    let (request, data) = quick(py, || {
        Ok((
            options::anatomy(&model, &given)?,
            seen(&model, data).transpose()?,
        ))
    })?;
    Ok(Work::begin(
        move |listener| {
            let found = dissect(&model, Sources::of(data.as_ref()), &request, listener)?;
            let document = found.document(&model);
            Ok(serde_json::to_string(&document).expect("a document has texts for keys"))
        },
        |py, text| Ok(text.into_pyobject(py)?.into_any().unbind()),
    ))
}

/// Writes a page on it. `scratch` is an empty folder for what is not on the disk yet.
#[pyfunction]
pub(crate) fn report(
    fitted: &Fitted,
    py: Python<'_>,
    scratch: PathBuf,
    out: PathBuf,
    system: Option<String>,
    given: Pairs,
) -> PyResult<Work> {
    let model = fitted.model();
    let asked = quick(py, || options::anatomy(model, &given))?;
    let run = match fitted.place() {
        Some(place) => place.to_path_buf(),
        None => quick(py, || fitted.keep(&scratch))?,
    };
    Ok(Work::begin(
        move |listener| {
            let request = Request {
                system,
                seconds: asked.seconds,
                cycles: asked.cycles,
                threads: asked.threads,
                ..Request::of(run)
            };
            let page = write_report(&request, &out, listener)?;
            let notes = page.notes().into_iter().map(String::from);
            Ok(notes.collect::<Vec<_>>())
        },
        |py, notes| Ok(notes.into_pyobject(py)?.into_any().unbind()),
    ))
}

/// The state that free orbits start from, at the first rows of data if they are given.
#[pyfunction]
pub(crate) fn start<'py>(
    fitted: &Fitted,
    py: Python<'py>,
    data: Option<&Recorded>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let model = fitted.model();
    let z = quick(py, || {
        let data = seen(model, data).transpose()?;
        Ok(departure(model, data.as_ref())?.z)
    })?;
    Ok(PyArray1::from_vec(py, z))
}

/// One step of each of some states, under as many inputs.
#[pyfunction]
pub(crate) fn step<'py>(
    fitted: &Fitted,
    py: Python<'py>,
    z: PyReadonlyArray2<'_, f64>,
    s: PyReadonlyArray2<'_, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let state = fitted.model().dynamics.sizes().state;
    let next = fitted.each(py, &z, &s, state, |dynamics, z, s, out| {
        dynamics.step(z, s, out)
    })?;
    matrix(py, &next, state)
}

/// The Jacobian at each of some states, row-major.
#[pyfunction]
pub(crate) fn jacobian<'py>(
    fitted: &Fitted,
    py: Python<'py>,
    z: PyReadonlyArray2<'_, f64>,
    s: PyReadonlyArray2<'_, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let state = fitted.model().dynamics.sizes().state;
    let size = state * state;
    let all = fitted.each(py, &z, &s, size, |dynamics, z, s, out| {
        dynamics.jacobian(z, s, out)
    })?;
    matrix(py, &all, size)
}

/// What each of some states shows, in the units of the data.
#[pyfunction]
pub(crate) fn observe<'py>(
    fitted: &Fitted,
    py: Python<'py>,
    z: PyReadonlyArray2<'_, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let channels = fitted.model().dynamics.sizes().channels;
    let shown = fitted.each(py, &z, &z, channels, |dynamics, z, _, out| {
        dynamics.observe(z, out)
    })?;
    matrix(py, &fitted.model().card.unscaled(shown), channels)
}

impl Fitted {
    /// Something of each of some states and inputs, `size` numbers each. The shapes are checked in Python.
    fn each(
        &self,
        py: Python<'_>,
        z: &PyReadonlyArray2<'_, f64>,
        s: &PyReadonlyArray2<'_, f64>,
        size: usize,
        call: impl Fn(&dyn Dynamics, &[f64], &[f64], &mut [f64]) + Sync,
    ) -> PyResult<Vec<f64>> {
        let (state, inputs) = (z.as_array().ncols(), s.as_array().ncols());
        let (z, s) = (row_major(z), row_major(s));
        let dynamics = self.model().dynamics.as_ref();
        quick(py, || {
            let rows = z.len() / state;
            let mut out = vec![0.0; rows * size];
            for (row, out) in out.chunks_exact_mut(size).enumerate() {
                call(
                    dynamics,
                    &z[row * state..][..state],
                    &s[row * inputs..][..inputs],
                    out,
                );
            }
            Ok(out)
        })
    }
}
