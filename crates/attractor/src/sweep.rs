//! All runs of a study, each on one core, several side by side: trained, then judged.
//!
//! What is done is known from the folders, so that a sweep that was killed goes on where it was, in the middle of runs
//! as well, and several processes can share one folder: a run's lock says who works on it, and what others work on is
//! looked at again later.

mod cells;
mod queue;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use attractor_core::series::Series;
use attractor_core::train::{Control, Epoch, State};

use crate::Error;
use crate::evaluation::{Cache, Evaluation, Levels, Request, evaluate};
use crate::experiment::{Experiment, Resolved};
use crate::format;
use crate::model_file::Reconstruction;
use crate::pipeline::Pipeline;
use crate::run::{
    Difference, EndedRun, Run, RunError, RunFolder, Task, Trained, data_fingerprint,
    refuse_different,
};
use crate::study::{Parts, ended, run_folder};
use crate::study::{Record, Scored, Study, StudyError};

pub use cells::FoundInterval;
use queue::Queue;

/// A study with its data, ready to be run in a folder.
pub struct Sweep {
    study: Study,
    folder: PathBuf,
    record: Record,
    recording: Series,
    /// What is done to other data before a model of the recording sees them.
    pipeline: Pipeline,
    test: Option<Series>,
    jobs: Vec<Job>,
    found_intervals: Vec<FoundInterval>,
    cache: Cache,
    /// The scalings for which floors and chance levels are in the cache.
    known_levels: Mutex<Vec<String>>,
}

/// One run of a study.
#[derive(Debug, Clone)]
pub struct Job {
    /// The place of its cell among those of the study.
    cell: usize,
    /// The seed.
    pub seed: u64,
    /// Its folder, from that of the study.
    pub folder: PathBuf,
    /// How many updates it has.
    pub updates: u64,
    /// Its scores, if it had ended and was judged before.
    pub scored: Option<Scored>,
    /// Whether its file of scores has the labels of another cell.
    relabelled: bool,
}

/// Follows a sweep, and may end it.
pub trait Spectator: Sync {
    /// Whether all runs shall be stored where they are, and the sweep end.
    fn asks_to_stop(&self) -> bool;

    /// Something happened to a run.
    fn sees(&self, job: &Job, event: Event<'_>);
}

/// What happens to a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// It is begun or continued.
    Begun,
    /// An epoch of it is over.
    Epoch(&'a Epoch),
    /// It was stopped, and stored.
    Stopped,
    /// It has ended and was judged, here or by another process.
    Scored(&'a Scored),
    /// It cannot go on.
    Failed(&'a Error),
}

/// How a sweep ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// All runs that have scores.
    pub scored: Vec<Scored>,
    /// Runs that could not go on, and why.
    pub failed: Vec<(PathBuf, Error)>,
    /// Runs that are left.
    pub left: usize,
}

/// What came of one attempt at a run.
enum Attempt {
    Scored(Box<Scored>),
    Stopped,
    /// Another process works on it.
    Busy,
}

impl Sweep {
    /// Reads the data and checks all that can be checked; nothing is written.
    pub fn prepare(mut study: Study, folder: &Path) -> Result<Sweep, Error> {
        let found = Record::find(folder)?;
        let (recording, pipeline) = study.train.read()?;
        let test = match &study.test {
            Some(test) => Some(pipeline.apply(&format::read(&test.path, &test.options)?)?),
            None => None,
        };
        let record = record(&study, &recording, test.as_ref());
        if let Some(found) = found {
            found.refuse_other(&record, &study, folder)?;
        }
        let found_intervals = cells::resolve(&mut study, &recording)?;
        let jobs = jobs(&study, &record, folder)?;
        refuse_elsewhere(&jobs, &study, folder)?;
        let sweep = Sweep {
            cache: Cache::of_user(Some(&folder.join(".levels"))),
            folder: folder.to_path_buf(),
            known_levels: Mutex::new(Vec::new()),
            record,
            study,
            recording,
            pipeline,
            test,
            jobs,
            found_intervals,
        };
        sweep.refuse_unfit_test()?;
        Ok(sweep)
    }

    /// All runs, seed by seed.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Intervals of forcing that cells left to the data.
    pub fn found_intervals(&self) -> &[FoundInterval] {
        &self.found_intervals
    }

    /// Runs what has not been run, with so many trainings side by side, or as many as there are runs.
    pub fn run(&self, workers: usize, spectator: &dyn Spectator) -> Result<Ended, Error> {
        self.record.write(&self.study, &self.folder)?;
        self.write_labels()?;
        let queue = Queue::new(&self.jobs);
        std::thread::scope(|scope| {
            for _ in 0..workers.min(self.jobs.len()) {
                scope.spawn(|| self.work(&queue, spectator));
            }
        });
        Ok(queue.into_ended())
    }

    /// Writes the places and rows of the paper that cells have now into the files of runs that ended before.
    fn write_labels(&self) -> Result<(), Error> {
        for job in &self.jobs {
            if let Some(scored) = job.scored.as_ref().filter(|_| job.relabelled) {
                scored.write_label(&self.folder)?;
            }
        }
        Ok(())
    }

    /// Works on one run after another until none is left.
    fn work(&self, queue: &Queue<'_>, spectator: &dyn Spectator) {
        while let Some(job) = queue.next(spectator) {
            match self.attempt(job, spectator) {
                Ok(Attempt::Scored(scored)) => {
                    spectator.sees(job, Event::Scored(&scored));
                    queue.scored(*scored);
                }
                Ok(Attempt::Stopped) => spectator.sees(job, Event::Stopped),
                Ok(Attempt::Busy) => queue.postpone(job),
                Err(error) => {
                    spectator.sees(job, Event::Failed(&error));
                    queue.failed(job, error);
                }
            }
        }
    }

    /// Trains and judges a run, as far as that has not been done.
    fn attempt(&self, job: &Job, spectator: &dyn Spectator) -> Result<Attempt, Error> {
        if let Some(scored) = Scored::read(&self.folder, &job.folder)? {
            return Ok(Attempt::Scored(Box::new(scored)));
        }
        let cell = &self.study.cells[job.cell];
        let experiment = cell.with_seed(job.seed);
        let resolved = self.resolve(&experiment)?;
        let task = Task {
            path: &self.folder.join(&job.folder),
            resolved: &resolved,
            data: &self.study.train,
            recording: &self.recording,
        };
        let claim = match task.claim() {
            Err(Error::Run(RunError::Locked { .. })) => return Ok(Attempt::Busy),
            other => other?,
        };
        // The process that held it before may have done it.
        if let Some(scored) = Scored::read(&self.folder, &job.folder)? {
            return Ok(Attempt::Scored(Box::new(scored)));
        }
        spectator.sees(job, Event::Begun);
        let Some(run) = claim.train(&mut watch(job, spectator))? else {
            return Ok(Attempt::Stopped);
        };
        self.judge(job, &run, claim.path())?;
        let scored = Scored::read(&self.folder, &job.folder)?;
        let scored = scored.expect("scores were written, and the run is ours");
        Ok(Attempt::Scored(Box::new(scored)))
    }

    /// Judges a run that ended, and writes its scores. One that diverged has none.
    fn judge(&self, job: &Job, run: &EndedRun, path: &Path) -> Result<(), Error> {
        let judged = |model: &Reconstruction| match run.outcome.as_str() {
            Trained::DIVERGED => Ok(None),
            _ => self.evaluation(model, path).map(Some),
        };
        let evaluation = judged(&run.reconstruction)?;
        let last = run.last.as_ref().map(judged).transpose()?.flatten();
        let parts = Parts {
            study: &self.study.name,
            cell: &self.study.cells[job.cell],
            seed: job.seed,
            run,
            data: [&self.record.data[0], &self.record.data[1]],
            pe_steps: self.study.judging.request.options.pe_steps,
            evaluation: evaluation.as_ref(),
            last: last.as_ref(),
        };
        parts.write(path)
    }

    /// The evaluation of a model. Floors and chance levels of a scaling are computed by one worker, while the others
    /// wait to find them in the cache.
    fn evaluation(
        &self,
        reconstruction: &Reconstruction,
        path: &Path,
    ) -> Result<Evaluation, Error> {
        let request = Request {
            trained_on: Run::training_data(path),
            ..self.study.judging.request.clone()
        };
        let evaluation = || evaluate(reconstruction, self.judged_by(), &request, &self.cache);
        if request.levels == Levels::LeftOut {
            return Ok(evaluation()?);
        }
        let scaling = format!("{:?}", reconstruction.card.scaling);
        let mut known = self.known_levels.lock().expect("no worker panics");
        if known.contains(&scaling) {
            drop(known);
            return Ok(evaluation()?);
        }
        let first = evaluation()?;
        known.push(scaling);
        Ok(first)
    }

    fn resolve(&self, experiment: &Experiment) -> Result<Resolved, Error> {
        let resolved = experiment.resolve(&self.recording);
        let resolved = resolved.map_err(|error| error.of_file(&self.study.train.path))?;
        Ok(resolved.prepared_by(self.pipeline.clone()))
    }

    fn judged_by(&self) -> &Series {
        self.test.as_ref().unwrap_or(&self.recording)
    }

    /// Judges an untrained model: what is wrong with the test data is told before hours of training.
    fn refuse_unfit_test(&self) -> Result<(), Error> {
        let Some(job) = self.jobs.iter().find(|job| job.scored.is_none()) else {
            return Ok(());
        };
        let experiment = &self.study.cells[job.cell].experiment;
        let resolved = self.resolve(experiment)?;
        let untrained = Trained::untrained(&resolved, &self.recording);
        let request = Request {
            other_starts: 0,
            levels: Levels::LeftOut,
            ..self.study.judging.request.clone()
        };
        match evaluate(&untrained, self.judged_by(), &request, &Cache::none()) {
            Ok(_) => Ok(()),
            Err(error) => Err(StudyError::Unfit {
                error: Box::new(error.into()),
            }
            .into()),
        }
    }
}

/// Shows a training to the spectator, and stops it when it asks to.
fn watch<'a>(
    job: &'a Job,
    spectator: &'a dyn Spectator,
) -> impl FnMut(&Epoch, &State) -> Control + Send + 'a {
    move |epoch, _| {
        spectator.sees(job, Event::Epoch(epoch));
        match spectator.asks_to_stop() {
            true => Control::Stop,
            false => Control::Continue,
        }
    }
}

fn record(study: &Study, recording: &Series, test: Option<&Series>) -> Record {
    let train = data_fingerprint(recording);
    Record {
        name: study.name.clone(),
        data: [train.clone(), test.map_or(train, data_fingerprint)],
        judging: study.judging.texts.clone(),
    }
}

/// Every run, all cells with the first seed first; folders with something else are refused.
fn jobs(study: &Study, record: &Record, folder: &Path) -> Result<Vec<Job>, Error> {
    let mut jobs = Vec::new();
    for &seed in &study.seeds {
        for (i, cell) in study.cells.iter().enumerate() {
            let run = run_folder(&cell.folder, seed);
            let mut scored = Scored::read(folder, &run)?;
            let relabelled = scored.as_mut().is_some_and(|scored| scored.relabel(cell));
            let path = folder.join(&run);
            if let Some(scored) = &scored {
                record.refuse_scores(scored, &path)?;
                scored.refuse_other_seed(seed, folder)?;
                let asked = cell.experiment.texts();
                refuse_different(&path, Difference::between(&scored.settings, &asked))?;
            }
            if scored.is_none() || RunFolder::holds_run(&path) {
                RunFolder::refuse_other(&path, &cell.with_seed(seed), &study.train)?;
            }
            let settings = cell.experiment.settings();
            let updates = settings.integer("epochs") * settings.integer("batches-per-epoch");
            jobs.push(Job {
                cell: i,
                seed,
                folder: run,
                updates: updates as u64,
                scored,
                relabelled,
            });
        }
    }
    Ok(jobs)
}

/// Refuses runs that have ended in the folder of another cell, which trains the same: a study that got one more axis.
fn refuse_elsewhere(jobs: &[Job], study: &Study, folder: &Path) -> Result<(), Error> {
    if jobs.iter().all(|job| job.scored.is_some()) {
        return Ok(());
    }
    let ended = ended(folder)?;
    for job in jobs.iter().filter(|job| job.scored.is_none()) {
        let asked = study.cells[job.cell].experiment.texts();
        // Another process may have ended the run itself meanwhile.
        let same = |run: &&Scored| {
            run.seed == job.seed
                && run.folder != job.folder
                && Difference::between(&run.settings, &asked).is_none()
        };
        if let Some(found) = ended.iter().find(same) {
            return Err(StudyError::ElsewhereInFolder {
                found: folder.join(&found.folder),
                asked: folder.join(&job.folder),
            }
            .into());
        }
    }
    Ok(())
}
