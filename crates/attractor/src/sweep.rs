//! All runs of a study, each on one core, several side by side: trained, then judged.
//!
//! What is done is known from the folders, so that a sweep that was killed goes on where it was, in the middle of runs
//! as well, and several processes can share one folder: a run's lock says who works on it, and runs
//! that others hold are tried again later.

mod cells;
mod document;
mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use attractor_core::measure::levels::Level;
use attractor_core::progress::{Follow, Progress};
use attractor_core::series::Series;
use attractor_core::train::{Control, Epoch, State, Watch};

use crate::Error;
use crate::engine::Share;
use crate::evaluation::{Cache, Evaluation, EvaluationError, Judge, Origin, refuse_unfit};
use crate::experiment::Texts;
use crate::format;
use crate::model_file::Reconstruction;
use crate::run::{
    Difference, Ending, Folder, Recording, Run, RunError, Task, Trained, claims_hold,
    fingerprint_of, refuse_different,
};
use crate::seen::Seen;
use crate::study::{
    Cell, JOBS, LEVELS, Parts, Reader, Record, Scored, Study, StudyError, ended_beside, run_folder,
};

pub use cells::Found;
pub use document::SweepDocument;
use queue::Queue;

/// A study with its data, ready to be run in a folder. The recording, and the judge of all models that see it alike, are made
/// once and stay in memory.
#[derive(Debug)]
pub struct Sweep {
    study: Study,
    folder: PathBuf,
    record: Record,
    recording: Arc<Recording>,
    test: Option<Series>,
    share: Share,
    jobs: Vec<Job>,
    /// Runs of other shares, in the order in which this one helps them.
    others: Others,
    found: Vec<Found>,
    cache: Cache,
    judges: Mutex<Vec<(String, Arc<Bench>)>>,
}

/// Runs of other shares.
type Others = Vec<(Share, Vec<Job>)>;

/// A judge with the floors and chance levels of its data.
#[derive(Debug)]
struct Bench {
    judge: Judge,
    levels: Option<Vec<Level>>,
}

/// The folder, among what engines keep, of files that say which shares are done.
const DONE: &str = "done";

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
#[derive(Debug, Clone, Copy)]
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
    pub fn prepare(study: Study, folder: &Path) -> Result<Sweep, Error> {
        Sweep::prepare_share(study, folder, Share::ALL)
    }

    /// The same for one share of the runs; no file of another's is read.
    pub fn prepare_share(mut study: Study, folder: &Path, share: Share) -> Result<Sweep, Error> {
        let found = Record::find(folder)?;
        let recording = Arc::new(Recording::read(study.train.clone())?);
        recording.refuse_clock()?;
        let test = match &study.test {
            Some(test) => {
                let read = format::read(&test.path, &test.options)?;
                Some(recording.pipeline.apply(&read)?)
            }
            None => None,
        };
        let record = record(&study, &recording, test.as_ref());
        if let Some(found) = found {
            found.refuse_other(&record, &study, folder)?;
        }
        let found = cells::resolve(&mut study, &recording)?;
        let (jobs, others) = jobs(&study, &record, folder, share)?;
        refuse_elsewhere(&jobs, &study, folder)?;
        let sweep = Sweep {
            cache: Cache::of_user(Some(&folder.join(LEVELS))),
            folder: folder.to_path_buf(),
            judges: Mutex::new(Vec::new()),
            record,
            study,
            recording,
            test,
            share,
            jobs,
            others,
            found,
        };
        sweep.refuse_unfit_test()?;
        Ok(sweep)
    }

    /// Computes floors and chance levels of all data that models of the study are judged by, so that no run has to.
    pub fn prepare_levels(&self, follow: &mut dyn Follow) -> Result<(), Error> {
        self.record.write(&self.study, &self.folder)?;
        let mut known = Vec::new();
        for cell in &self.study.cells {
            let preparation = cell.experiment.preparation();
            let key = format!("{preparation:?}");
            if !known.contains(&key) {
                known.push(key);
                let judge = Judge::new(
                    &self.seen(cell)?,
                    &Origin::default(),
                    &self.study.judging.request,
                )?;
                judge.levels(&self.cache, follow)?;
            }
        }
        Ok(())
    }

    /// What models of a cell are judged by, as they would see it.
    fn seen(&self, cell: &Cell) -> Result<Seen, Error> {
        let preparation = cell.experiment.preparation();
        let prepared = preparation.prepare(&self.recording.series)?;
        let parts = preparation.split(self.recording.series.clone())?;
        let judged_by = self.test.as_ref().or(parts.held_out.as_ref());
        let judged_by = judged_by.unwrap_or(&self.recording.series);
        Ok(self
            .recording
            .card(prepared.scaling)
            .see_prepared(judged_by)?)
    }

    /// All runs, seed by seed.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// What cells left to the data.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Runs what has not been run, with so many trainings side by side, or as many as there are runs.
    pub fn run(&self, workers: usize, spectator: &dyn Spectator) -> Result<Ended, Error> {
        self.record.write(&self.study, &self.folder)?;
        self.write_labels()?;
        let queue = Queue::new(&self.jobs);
        self.work_off(&queue, workers, spectator);
        Ok(queue.into_ended())
    }

    /// Takes runs of other shares that nobody works on, share by share, until there is none; this share is done. Nothing is done where
    /// claims do not hold: there two processes would do the same.
    pub fn help_others(&self, workers: usize, spectator: &dyn Spectator) -> Result<(), Error> {
        let done = |share: Share| self.folder.join(JOBS).join(DONE).join(self.done_as(share));
        let written = |path: &Path| {
            let path = path.to_path_buf();
            move |source| Error::Write { path, source }
        };
        let own = done(self.share);
        fs::create_dir_all(own.parent().expect("it is a file")).map_err(written(&own))?;
        fs::write(&own, "").map_err(written(&own))?;
        if !claims_hold(&self.folder).map_err(written(&self.folder))? {
            return Ok(());
        }
        for (share, jobs) in &self.others {
            // Otherwise many tasks would each read the scores of all runs, to find nothing to do.
            if !done(*share).exists() {
                let queue = Queue::of_others(jobs);
                // Whoever has the share reports what comes of its runs.
                self.work_off(&queue, workers, &Unseen(spectator));
            }
        }
        Ok(())
    }

    /// The name of the file that says that a share is done, with the number of runs: a study may grow.
    fn done_as(&self, share: Share) -> String {
        let runs = self.study.cells.len() * self.study.seeds.len();
        format!("{}-of-{}-with-{runs}-runs", share.index, share.count)
    }

    fn work_off(&self, queue: &Queue<'_>, workers: usize, spectator: &dyn Spectator) {
        std::thread::scope(|scope| {
            for _ in 0..workers.min(queue.len()) {
                scope.spawn(|| self.work(queue, spectator));
            }
        });
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
        let task = Task::new(&cell.with_seed(job.seed), self.recording.clone())?;
        let run = match Run::claim(&self.folder.join(&job.folder), task) {
            Err(Error::Run(RunError::Locked { .. })) => return Ok(Attempt::Busy),
            other => other?,
        };
        // The process that held it before may have done it.
        if let Some(scored) = Scored::read(&self.folder, &job.folder)? {
            return Ok(Attempt::Scored(Box::new(scored)));
        }
        spectator.sees(job, Event::Begun);
        let trained = run.train(&mut watch(job, spectator))?;
        if trained.summary.outcome == Ending::Stopped {
            return Ok(Attempt::Stopped);
        }
        match self.judge(job, run.task(), &trained, &mut Asking(spectator)) {
            // The model is stored; it is judged when the sweep goes on.
            Err(Error::Stopped(_) | Error::Evaluation(EvaluationError::Stopped(_))) => {
                Ok(Attempt::Stopped)
            }
            scored => Ok(Attempt::Scored(Box::new(scored?))),
        }
    }

    /// Judges a run that ended, and writes its scores. One that diverged has none.
    fn judge(
        &self,
        job: &Job,
        task: &Task,
        run: &Trained,
        follow: &mut dyn Follow,
    ) -> Result<Scored, Error> {
        let mut judged = |model: &Reconstruction| match run.summary.outcome {
            Ending::Diverged => Ok(None),
            _ => self.evaluation(task, model, follow).map(Some),
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
        parts.write(&self.folder, &job.folder)
    }

    fn evaluation(
        &self,
        task: &Task,
        model: &Reconstruction,
        follow: &mut dyn Follow,
    ) -> Result<Evaluation, Error> {
        let bench = self.bench(task, model, follow)?;
        Ok(bench.judge.evaluate(model, bench.levels.clone())?)
    }

    /// The judge of all models that see the data as this one does: made by one worker, while the others wait.
    fn bench(
        &self,
        task: &Task,
        model: &Reconstruction,
        follow: &mut dyn Follow,
    ) -> Result<Arc<Bench>, Error> {
        let preparation = task.resolved.experiment.preparation();
        let key = format!("{:?} {preparation:?}", model.card.scaling);
        let mut known = self.judges.lock().expect("no worker panics");
        if let Some((_, bench)) = known.iter().find(|(other, _)| *other == key) {
            return Ok(bench.clone());
        }
        let request = &self.study.judging.request;
        let parts = preparation.split(self.recording.series.clone())?;
        let origin = Origin {
            trained_on: Some(model.see_prepared(&parts.training)?),
            chosen_by: parts
                .selection
                .map(|part| model.see_prepared(&part))
                .transpose()?,
        };
        let judged_by = self.test.as_ref().or(parts.held_out.as_ref());
        let judged_by = judged_by.unwrap_or(&self.recording.series);
        let judge = Judge::new(&model.see_prepared(judged_by)?, &origin, request)?;
        let levels = judge.levels(&self.cache, follow)?;
        let bench = Arc::new(Bench { judge, levels });
        known.push((key, bench.clone()));
        Ok(bench)
    }

    /// Looks at the test data as a model would: what is wrong with them is reported before hours of training.
    fn refuse_unfit_test(&self) -> Result<(), Error> {
        let Some(job) = self.jobs.iter().find(|job| job.scored.is_none()) else {
            return Ok(());
        };
        let unfit = |error: Error| -> Error {
            StudyError::Unfit {
                error: Box::new(error),
            }
            .into()
        };
        let seen = self.seen(&self.study.cells[job.cell]).map_err(unfit)?;
        refuse_unfit(&seen, &self.study.judging.request).map_err(|e| unfit(e.into()))
    }
}

/// Shows a training to the spectator, and stops it when it asks to.
fn watch<'a>(job: &'a Job, spectator: &'a dyn Spectator) -> Shown<'a> {
    Shown { job, spectator }
}

/// A spectator as work that is no training asks it.
struct Asking<'a>(&'a dyn Spectator);

impl Follow for Asking<'_> {
    fn progress(&mut self, _: Progress) -> Control {
        if self.0.asks_to_stop() {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

/// A spectator that is only asked whether to stop.
struct Unseen<'a>(&'a dyn Spectator);

impl Spectator for Unseen<'_> {
    fn asks_to_stop(&self) -> bool {
        self.0.asks_to_stop()
    }

    fn sees(&self, _: &Job, _: Event<'_>) {}
}

/// A training as the spectator sees it.
struct Shown<'a> {
    job: &'a Job,
    spectator: &'a dyn Spectator,
}

impl Shown<'_> {
    fn control(&self) -> Control {
        if self.spectator.asks_to_stop() {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

impl Watch for Shown<'_> {
    fn epoch(&mut self, epoch: &Epoch, _: &State) -> Control {
        self.spectator.sees(self.job, Event::Epoch(epoch));
        self.control()
    }

    fn progress(&mut self, _: Progress) -> Control {
        self.control()
    }
}

fn record(study: &Study, recording: &Recording, test: Option<&Series>) -> Record {
    let train = recording.fingerprint().to_string();
    Record {
        name: study.name.clone(),
        data: [train.clone(), test.map_or(train, fingerprint_of)],
        judging: study.judging.texts.clone(),
    }
}

/// The runs of a share, all cells with the first seed first; folders with something else are refused. Beside them those of other shares, the
/// next share first and each from its end, since its owner begins at the other.
fn jobs(
    study: &Study,
    record: &Record,
    folder: &Path,
    share: Share,
) -> Result<(Vec<Job>, Others), Error> {
    let (mut own, mut others) = (Vec::new(), BTreeMap::<usize, Vec<Job>>::new());
    let mut known = Known::default();
    let seeds = study.seeds.iter();
    let places = seeds.flat_map(|&seed| (0..study.cells.len()).map(move |cell| (cell, seed)));
    for (place, (cell, seed)) in places.enumerate() {
        let mut job = Job {
            cell,
            seed,
            folder: run_folder(&study.cells[cell].folder, seed),
            updates: study.cells[cell].updates,
            scored: None,
            relabelled: false,
        };
        match share.distance(place) {
            0 => {
                job.look(study, record, folder, &mut known)?;
                own.push(job);
            }
            distance => others.entry(distance).or_default().push(job),
        }
    }
    let others = others.into_iter().map(|(distance, mut jobs)| {
        jobs.reverse();
        (share.behind(distance), jobs)
    });
    Ok((own, others.collect()))
}

/// What is known of runs that were looked at.
#[derive(Default)]
struct Known {
    reader: Reader,
    /// Cells by their places, and settings that are theirs.
    fitting: BTreeSet<(usize, *const Texts)>,
}

impl Known {
    /// Refuses settings that are not those of a cell; of many runs with the same they are compared once.
    fn refuse_different(
        &mut self,
        path: &Path,
        (place, cell): (usize, &Cell),
        settings: &Arc<Texts>,
    ) -> Result<(), Error> {
        let pair = (place, Arc::as_ptr(settings));
        if !self.fitting.contains(&pair) {
            refuse_different(
                path,
                Difference::between(settings, &cell.experiment.texts()),
            )?;
            self.fitting.insert(pair);
        }
        Ok(())
    }
}

impl Job {
    /// Looks at what is in its folder.
    fn look(
        &mut self,
        study: &Study,
        record: &Record,
        folder: &Path,
        known: &mut Known,
    ) -> Result<(), Error> {
        let cell = &study.cells[self.cell];
        let path = folder.join(&self.folder);
        self.scored = known.reader.read(folder, &self.folder)?;
        if let Some(scored) = &mut self.scored {
            self.relabelled = scored.relabel(cell);
            record.refuse_scores(scored, &path)?;
            scored.refuse_other_seed(self.seed, folder)?;
            known.refuse_different(&path, (self.cell, cell), &scored.settings)?;
        }
        let folder = Folder::new(&path);
        if self.scored.is_none() || folder.holds_run() {
            folder.refuse_other(&cell.with_seed(self.seed), &study.train)?;
        }
        Ok(())
    }
}

/// Refuses runs that have ended in the folder of another cell, which trains the same: a study that got one more axis.
fn refuse_elsewhere(jobs: &[Job], study: &Study, folder: &Path) -> Result<(), Error> {
    if jobs.iter().all(|job| job.scored.is_some()) {
        return Ok(());
    }
    let known: BTreeSet<&str> = study.cells.iter().map(|cell| &*cell.folder).collect();
    let elsewhere = ended_beside(folder, &known)?;
    for job in jobs.iter().filter(|job| job.scored.is_none()) {
        let asked = study.cells[job.cell].experiment.texts();
        let same = |run: &&Scored| {
            run.seed == job.seed && Difference::between(&run.settings, &asked).is_none()
        };
        if let Some(found) = elsewhere.iter().find(same) {
            return Err(StudyError::ElsewhereInFolder {
                found: folder.join(&found.folder),
                asked: folder.join(&job.folder),
            }
            .into());
        }
    }
    Ok(())
}
