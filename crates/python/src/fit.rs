//! Fits, and what came of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attractor::Error;
use attractor::experiment::{Experiment, ExperimentFile, Job, Origin, Parts, Raw, settings_of};
use attractor::hint::Hint;
use attractor::model_file::{ModelFault, ModelFileError, Reconstruction};
use attractor::run::{Ending, Folder, Recording, Run, RunError, Summary, Task, Trained};
use attractor::settings::Setting;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{of_class, written};
use crate::series::Recorded;
use crate::work::{Listener, Work, quick};

/// A fitted model, how it was fitted, and to what.
#[pyclass(frozen, module = "attractor._native")]
pub(crate) struct Fitted {
    trained: Trained,
    experiment: Option<Experiment>,
    recording: Option<Arc<Recording>>,
    folder: Option<PathBuf>,
    notes: Vec<String>,
    /// What may keep such a training finite.
    advice: Option<String>,
}

/// Settings by name.
type Pairs = Vec<(String, String)>;

/// Settings as they were given.
fn given(preset: Option<&str>, settings: &Pairs) -> Result<Raw, Error> {
    let mut raw = Raw::default();
    if let Some(preset) = preset {
        raw.preset(preset)?;
    }
    for (name, text) in settings {
        raw.push(name, text, Origin::Flag);
    }
    Ok(raw)
}

/// Settings as they were given, checked.
fn checked(preset: Option<&str>, settings: &Pairs) -> Result<Experiment, Error> {
    Ok(Experiment::check(&given(preset, settings)?)?)
}

/// Checks settings; gives back all of them with their values.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, preset: Option<String>, settings: Pairs) -> PyResult<Pairs> {
    quick(py, || Ok(texts(&checked(preset.as_deref(), &settings)?)))
}

fn texts(experiment: &Experiment) -> Pairs {
    let settings = settings_of(experiment.method()).into_iter();
    let text = |setting: &Setting| experiment.settings().get(setting.name).to_string();
    settings
        .map(|setting| (setting.name.to_string(), text(setting)))
        .collect()
}

/// The settings of a model: name, default, domain and meaning of each.
#[pyfunction]
pub(crate) fn settings(py: Python<'_>, model: String) -> PyResult<Vec<[String; 4]>> {
    let experiment = quick(py, || checked(None, &vec![("model".to_string(), model)]))?;
    let row = |setting: &Setting| {
        [
            setting.name,
            setting.default,
            &setting.domain.to_string(),
            setting.about,
        ]
        .map(String::from)
    };
    Ok(settings_of(experiment.method())
        .into_iter()
        .map(row)
        .collect())
}

/// Fits a model to a recording, in memory or in a folder.
#[pyfunction]
pub(crate) fn fit(
    recorded: &Recorded,
    preset: Option<String>,
    settings: Pairs,
    out: Option<PathBuf>,
) -> Work {
    let recording = recorded.recording.clone();
    begin(move |listener| {
        let mut raw = given(preset.as_deref(), &settings)?;
        if preset.is_none() {
            raw = raw.with_usual(&recording.series)?;
        }
        let experiment = Experiment::check(&raw)?;
        if let Some(out) = &out {
            Folder::new(out).refuse_occupied()?;
        }
        recording.refuse_clock()?;
        let task = Task::new(&experiment, recording)?;
        let mut notes = experiment.without_effect(&raw);
        notes.extend(task.notes());
        let fitted = match out {
            Some(out) => train(&Run::begin(&out, task)?, listener)?,
            None => {
                expect(&task, listener);
                let trained = task.train(listener)?;
                Fitted::of(trained, &task, None)
            }
        };
        Ok(Fitted { notes, ..fitted })
    })
}

/// Continues the run in a folder; gives what came of one that has ended.
#[pyfunction]
pub(crate) fn resume(path: PathBuf, threads: Option<usize>) -> Work {
    begin(move |listener| match Run::resume(&path, threads) {
        Err(Error::Run(RunError::Ended { .. })) => stored(&path),
        run => train(&run?, listener),
    })
}

/// A fitted model of a folder or a file.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Fitted> {
    quick(py, || stored(&path))
}

/// What a folder or a file holds.
fn stored(path: &Path) -> Result<Fitted, Error> {
    let folder = Folder::new(path);
    let trained = Trained {
        reconstruction: folder.model()?,
        last: None,
        left: None,
        summary: folder.summary().unwrap_or_default(),
        history: Vec::new(),
        found_none: false,
    };
    let file = folder
        .holds_run()
        .then(|| ExperimentFile::read(&path.join("experiment.toml")));
    let experiment = file.and_then(|file| Experiment::check(&file.ok()?.raw).ok());
    Ok(Fitted {
        trained,
        experiment,
        recording: None,
        folder: Some(path.to_path_buf()),
        notes: Vec::new(),
        advice: None,
    })
}

fn begin(fit: impl FnOnce(&mut Listener) -> Result<Fitted, Error> + Send + 'static) -> Work {
    Work::begin(fit, |py, fitted| Ok(Py::new(py, fitted)?.into_any()))
}

fn train(run: &Run, listener: &mut Listener) -> Result<Fitted, Error> {
    expect(run.task(), listener);
    let trained = run.train(listener)?;
    Ok(Fitted::of(trained, run.task(), Some(run.path())))
}

fn expect(task: &Task, listener: &mut Listener) {
    if let Job::Train(training) = &task.resolved.job {
        listener.expect_updates(training.trainer.length().updates());
    }
}

impl Fitted {
    fn of(trained: Trained, task: &Task, folder: Option<&Path>) -> Fitted {
        let is_diverged = trained.summary.outcome == Ending::Diverged;
        let advice = is_diverged.then(|| task.resolved.against_divergence());
        Fitted {
            trained,
            experiment: Some(task.resolved.experiment.clone()),
            recording: Some(task.recording.clone()),
            folder: folder.map(Path::to_path_buf),
            notes: Vec::new(),
            advice: advice.map(|advice| written(Hint::from(advice.to_string()))),
        }
    }

    /// The model.
    pub(crate) fn model(&self) -> &Reconstruction {
        &self.trained.reconstruction
    }

    /// The folder or file that it is in, if it is in one.
    pub(crate) fn place(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The parts of its recording, if that is known.
    pub(crate) fn parts(&self) -> Option<Parts> {
        match (&self.recording, &self.experiment) {
            (Some(recording), Some(experiment)) => experiment
                .preparation()
                .split(recording.series.clone())
                .ok(),
            _ => Folder::new(self.folder.as_deref()?).parts(),
        }
    }

    /// Writes it as a run, if its recording is known, else as a model file in the folder; gives back where.
    pub(crate) fn keep(&self, folder: &Path) -> Result<PathBuf, Error> {
        if let (Some(recording), Some(experiment)) = (&self.recording, &self.experiment) {
            let task = Task::new(experiment, recording.clone())?;
            Run::keep(folder, task, &self.trained)?;
            return Ok(folder.to_path_buf());
        }
        let file = folder.join("model.safetensors");
        self.model().write(&file)?;
        Ok(file)
    }
}

#[pymethods]
impl Fitted {
    /// A model from the bytes of its file, and how it ended.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        bytes: Vec<u8>,
        summary: String,
        settings: Option<Pairs>,
    ) -> PyResult<Fitted> {
        quick(py, || {
            let path = PathBuf::from("a pickle");
            let wrong = |fault: ModelFault| ModelFileError { path, fault };
            let trained = Trained {
                reconstruction: Reconstruction::from_bytes(&bytes).map_err(wrong)?,
                last: None,
                left: None,
                summary: serde_json::from_str::<Summary>(&summary).unwrap_or_default(),
                history: Vec::new(),
                found_none: false,
            };
            let experiment = settings
                .map(|settings| checked(None, &settings))
                .transpose()?;
            Ok(Fitted {
                trained,
                experiment,
                recording: None,
                folder: None,
                notes: Vec::new(),
                advice: None,
            })
        })
    }

    /// The content of its model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = quick(py, || Ok(self.model().to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a model file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        quick(py, || self.model().write(&path))
    }

    /// How it ended, as `outcome.json` has it.
    #[getter]
    fn summary(&self) -> String {
        serde_json::to_string(&self.trained.summary).expect("a summary has texts for keys")
    }

    /// Its settings, if they are known.
    #[getter]
    fn settings(&self) -> Option<Pairs> {
        let experiment = self.experiment.as_ref()?;
        let model = (
            "model".to_string(),
            experiment.method().entry.id.to_string(),
        );
        Some([vec![model], texts(experiment)].concat())
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    #[getter]
    fn advice(&self) -> Option<String> {
        self.advice.clone()
    }

    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }

    /// Whether it was stopped in memory, so that it can go on.
    #[getter]
    fn can_go_on(&self) -> bool {
        self.trained.left.is_some() && self.folder.is_none()
    }

    /// What was known at the end of every epoch, by the columns of `history.csv`.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let history = &self.trained.history;
        let columns = PyDict::new(py);
        let add = |name: &str, of: &dyn Fn(&attractor::train::Epoch) -> f64| {
            columns.set_item(name, PyArray1::from_iter(py, history.iter().map(of)))
        };
        add("epoch", &|e| e.epoch as f64)?;
        add("update", &|e| e.update as f64)?;
        add("loss", &|e| e.loss)?;
        add("penalty", &|e| e.penalty)?;
        add("alpha", &|e| e.alpha)?;
        add("lr", &|e| e.rate)?;
        add("gradient_norm", &|e| e.gradient_norm)?;
        add("jacobian_norm", &|e| {
            e.norm.map_or(f64::NAN, |norm| norm.kappa)
        })?;
        Ok(columns)
    }

    /// Continues from where it was stopped in memory.
    fn go_on(&self, py: Python<'_>) -> PyResult<Work> {
        let known = (
            self.recording.clone(),
            self.experiment.clone(),
            self.trained.left.clone(),
        );
        let (Some(recording), Some(experiment), Some(left)) = known else {
            let text = "this fit has ended, or its recording is not known".to_string();
            return Err(of_class(py, ("RunError", text, None)));
        };
        Ok(begin(move |listener| {
            let task = Task::new(&experiment, recording)?;
            expect(&task, listener);
            let trained = task.train_from(Some(*left), listener)?;
            Ok(Fitted::of(trained, &task, None))
        }))
    }
}
