//! One fit in its folder, up to a number of updates or to its end; and several of them side by side.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use attractor_core::progress::Progress;
use attractor_core::train::{Control, Epoch, State, Watch};

use super::Spectator;
use crate::Error;
use crate::experiment::{Experiment, Job};
use crate::model_file::Reconstruction;
use crate::run::{Ending, Recording, Run, RunError, Snapshot, Task};

/// What a fit gave.
pub(super) enum Fitted {
    /// A model, after so many updates.
    Model(Box<Reconstruction>, u64),
    /// A number was no longer finite.
    Diverged,
    /// It was stopped, and stored.
    Stopped,
    /// Its time was over.
    Late,
}

/// How far a fit may go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// What is trained, to so many updates.
    pub(super) updates: u64,
    /// What is solved, to this time.
    pub(super) time: Option<Instant>,
}

impl Limit {
    /// To the end.
    pub(super) const NONE: Limit = Limit {
        updates: u64::MAX,
        time: None,
    };

    fn is_over(self) -> bool {
        self.time.is_some_and(|time| Instant::now() > time)
    }
}

/// Stops a fit at its limit, or when the spectator asks to.
struct Until<'a> {
    limit: Limit,
    spectator: &'a dyn Spectator,
    is_asked: bool,
}

impl Watch for Until<'_> {
    fn epoch(&mut self, epoch: &Epoch, _: &State) -> Control {
        self.is_asked |= self.spectator.asks_to_stop();
        if self.is_asked || epoch.update >= self.limit.updates {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn progress(&mut self, _: Progress) -> Control {
        self.is_asked |= self.spectator.asks_to_stop();
        if self.is_asked || self.limit.is_over() {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

/// Fits in a folder, as far as that has not been done, to a limit.
pub(super) fn fit(
    folder: &Path,
    experiment: &Experiment,
    recording: &Arc<Recording>,
    limit: Limit,
    spectator: &dyn Spectator,
) -> Result<Fitted, Error> {
    let run = Run::claim(folder, Task::new(experiment, recording.clone())?)?;
    // Interrupted between its stop and the mark: one epoch more would be another model.
    if let Ok(snapshot) = Snapshot::of(run.task(), folder)
        && snapshot.update >= limit.updates
    {
        let model = snapshot.best.unwrap_or(snapshot.newest);
        return Ok(Fitted::Model(Box::new(model), snapshot.update));
    }
    let mut watch = Until {
        limit,
        spectator,
        is_asked: false,
    };
    let trained = match run.train(&mut watch) {
        Err(Error::Run(RunError::NotSolved { .. })) if watch.is_asked => {
            return Ok(Fitted::Stopped);
        }
        Err(Error::Run(RunError::NotSolved { .. })) => return Ok(Fitted::Late),
        other => other?,
    };
    Ok(match trained.summary.outcome {
        Ending::Diverged => Fitted::Diverged,
        Ending::Stopped if watch.is_asked => Fitted::Stopped,
        _ => Fitted::Model(Box::new(trained.reconstruction), trained.summary.update),
    })
}

/// Updates of an epoch.
pub(super) fn updates_per_epoch(task: &Task) -> u64 {
    match &task.resolved.job {
        Job::Train(training) => training.trainer.length().updates_per_epoch.max(1),
        Job::Solve => 0,
    }
}

/// How long a training is timed.
const TIMED: Duration = Duration::from_millis(500);

/// Seconds of an update, from a few of them that are not stored; none if they diverge at once.
pub(super) fn seconds_per_update(task: &Task) -> Option<f64> {
    let Job::Train(training) = &task.resolved.job else {
        return None;
    };
    let begun = Instant::now();
    let mut done = 0;
    let mut watch = |epoch: &Epoch, _: &State| {
        done = epoch.update;
        if begun.elapsed() >= TIMED {
            Control::Stop
        } else {
            Control::Continue
        }
    };
    training.trainer.train(training.trainer.start(), &mut watch);
    (done > 0).then(|| begun.elapsed().as_secs_f64() / done as f64)
}

/// A function of every item, by so many workers, in the order of the items.
pub(super) fn side_by_side<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    function: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1).min(items.len()) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { break };
                    let result = function(item);
                    made.lock().expect("no worker panics").push((place, result));
                }
            });
        }
    });
    let mut made = made.into_inner().expect("no worker panics");
    made.sort_by_key(|(place, _)| *place);
    made.into_iter().map(|(_, result)| result).collect()
}
