//! Which run is next, and what came of the others. Runs that another process holds go to the end of the queue, and are
//! tried again after a pause.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use super::{Ended, Job, Spectator};
use crate::Error;
use crate::study::Scored;

/// The runs that are left, and how the others ended.
pub(super) struct Queue<'a> {
    inner: Mutex<Inner<'a>>,
    total: usize,
    /// Whether runs that another process holds are tried again.
    waits: bool,
}

struct Inner<'a> {
    waiting: VecDeque<Waiting<'a>>,
    ended: Ended,
}

#[derive(Clone, Copy)]
struct Waiting<'a> {
    job: &'a Job,
    /// Another process held it.
    postponed: bool,
}

/// Before a run that another process held is tried again.
const PAUSE: Duration = Duration::from_millis(500);

impl<'a> Queue<'a> {
    /// Everything without scores waits.
    pub(super) fn new(jobs: &'a [Job]) -> Queue<'a> {
        let open = jobs.iter().filter(|job| job.scored.is_none());
        let waiting = open.map(|job| Waiting {
            job,
            postponed: false,
        });
        let ended = Ended {
            scored: jobs.iter().filter_map(|job| job.scored.clone()).collect(),
            ..Ended::default()
        };
        Queue {
            inner: Mutex::new(Inner {
                waiting: waiting.collect(),
                ended,
            }),
            total: jobs.len(),
            waits: true,
        }
    }

    /// Runs that are others' to wait for.
    pub(super) fn of_others(jobs: &'a [Job]) -> Queue<'a> {
        Queue {
            waits: false,
            ..Queue::new(jobs)
        }
    }

    /// How many there are, done or not.
    pub(super) fn len(&self) -> usize {
        self.total
    }

    /// The next run; none if there is no other, or the sweep is to end.
    pub(super) fn next(&self, spectator: &dyn Spectator) -> Option<&'a Job> {
        if spectator.asks_to_stop() {
            return None;
        }
        let next = self.inner().waiting.pop_front()?;
        if next.postponed {
            thread::sleep(PAUSE);
        }
        Some(next.job)
    }

    /// Another process holds the run.
    pub(super) fn postpone(&self, job: &'a Job) {
        if self.waits {
            self.inner().waiting.push_back(Waiting {
                job,
                postponed: true,
            });
        }
    }

    /// The run has ended and was judged.
    pub(super) fn scored(&self, scored: Scored) {
        self.inner().ended.scored.push(scored);
    }

    /// The run cannot go on.
    pub(super) fn failed(&self, job: &Job, error: Error) {
        let folder: &Path = &job.folder;
        self.inner()
            .ended
            .failed
            .push((folder.to_path_buf(), error));
    }

    /// How it all ended; runs by cell and seed.
    pub(super) fn into_ended(self) -> Ended {
        let inner = self.inner.into_inner();
        let mut ended = inner.expect("no worker panics while it holds this").ended;
        ended
            .scored
            .sort_by_key(|scored| (scored.place, scored.seed));
        ended.failed.sort_by(|a, b| a.0.cmp(&b.0));
        ended.left = self.total - ended.scored.len() - ended.failed.len();
        ended
    }

    fn inner(&self) -> MutexGuard<'_, Inner<'a>> {
        let inner = self.inner.lock();
        inner.expect("no worker panics while it holds this")
    }
}
