//! Long work: it runs on a thread of its own while the interpreter is free, hears Ctrl-C, and shows how far it is.
//!
//! The thread that waits looks for signals and shows progress every [`GLANCE`]. When it is interrupted, the work is asked to stop, and may
//! take [`PATIENCE`] to do so; after that the exception is raised in any case, and what is under way ends by itself in the background.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use attractor::Error;
use attractor::progress::{Control, Follow, Progress};
use attractor::sweep::{Event, Job, Spectator};
use attractor::train::{Epoch, State, Watch};
use pyo3::prelude::*;

use crate::error;

/// From one look for signals to the next.
const GLANCE: Duration = Duration::from_millis(25);

/// How long an interrupted waiter gives the work to end.
const PATIENCE: Duration = Duration::from_millis(100);

/// How far work is: what is done, parts done, parts in all, and loss and α of a training's last epoch.
type Shown = (&'static str, u64, u64, Option<(u64, f64, f64)>);

/// What the thread that works and the one that waits share.
#[derive(Default)]
pub(crate) struct Shared {
    is_asked: AtomicBool,
    shown: Mutex<Option<Shown>>,
    has_ended: Mutex<bool>,
    end: Condvar,
}

/// Hears that it shall stop, and says how far it is.
#[derive(Clone)]
pub(crate) struct Listener {
    shared: Arc<Shared>,
    updates: u64,
    runs: (Arc<Mutex<u64>>, u64),
}

/// Makes what the work gave into an object, once the interpreter is there again.
type Finish = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// Work under way.
#[pyclass(frozen, module = "attractor._native")]
pub(crate) struct Work {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<Finish>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    /// Begins work; `finish` makes its result into an object.
    pub(crate) fn begin<T: Send + 'static>(
        work: impl FnOnce(&mut Listener) -> Result<T, Error> + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Work {
        let shared = Arc::new(Shared::default());
        let mut listener = Listener {
            shared: shared.clone(),
            updates: 0,
            runs: Default::default(),
        };
        let thread = thread::spawn(move || -> Finish {
            let _end = End(listener.shared.clone());
            match work(&mut listener) {
                Ok(done) => Box::new(move |py| finish(py, done)),
                Err(error) => Box::new(move |py| Err(error::raised(py, &error))),
            }
        });
        Work {
            shared,
            thread: Mutex::new(Some(thread)),
        }
    }

    /// Waits for the end, at most so long.
    fn ends_within(&self, time: Duration) -> bool {
        let ended = locked(&self.shared.has_ended);
        let wait = self
            .shared
            .end
            .wait_timeout_while(ended, time, |ended| !*ended);
        *wait.unwrap_or_else(PoisonError::into_inner).0
    }

    fn show(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let shown = locked(&self.shared.shown).take();
        if let (Some(callback), Some((what, done, total, epoch))) = (callback, shown) {
            callback.call1(py, (what, done, total, epoch))?;
        }
        Ok(())
    }
}

#[pymethods]
impl Work {
    /// Waits for the end. An exception, of Ctrl-C or of the callback, asks the work to stop.
    #[pyo3(signature = (callback=None))]
    fn wait(&self, py: Python<'_>, callback: Option<Py<PyAny>>) -> PyResult<()> {
        while !py.detach(|| self.ends_within(GLANCE)) {
            if let Err(interruption) = self.show(py, callback.as_ref()) {
                self.shared.is_asked.store(true, Ordering::Relaxed);
                py.detach(|| self.ends_within(PATIENCE));
                return Err(interruption);
            }
        }
        self.show(py, callback.as_ref())
    }

    /// Asks the work to stop.
    fn stop(&self) {
        self.shared.is_asked.store(true, Ordering::Relaxed);
    }

    /// What came of it, once it has ended.
    fn result(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let thread = py.detach(|| locked(&self.thread).take().map(JoinHandle::join));
        match thread.expect("a result is asked for once") {
            Ok(finish) => finish(py),
            Err(panic) => Err(of_panic(py, panic)),
        }
    }
}

/// Says at the end of a thread, however it comes, that it has ended.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        *locked(&self.0.has_ended) = true;
        self.0.end.notify_all();
    }
}

/// An exception for a bug of ours.
fn of_panic(py: Python<'_>, panic: Box<dyn std::any::Any + Send>) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("no message").to_string();
    let hint = "this is a bug in attractor: please report it with the lines above".to_string();
    error::of_class(py, ("BugError", text, Some(hint)))
}

/// Long work that panics as a bug of ours would: tests see then what a user sees.
#[pyfunction]
pub(crate) fn fault_in_work() -> Work {
    Work::begin(
        |_| -> Result<(), Error> { panic!("a fault in work") },
        |py, ()| Ok(py.None()),
    )
}

/// The same of a short call.
#[pyfunction]
pub(crate) fn fault_in_call(py: Python<'_>) -> PyResult<()> {
    quick(py, || panic!("a fault in a call"))
}

/// Does something short without the interpreter; a panic becomes an exception that `except Exception` catches.
pub(crate) fn quick<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    let done = py.detach(|| panic::catch_unwind(panic::AssertUnwindSafe(call)));
    done.map_err(|panic| of_panic(py, panic))?
        .map_err(|error| error::raised(py, &error))
}

impl Listener {
    /// A training of so many updates is followed.
    pub(crate) fn expect_updates(&mut self, updates: u64) {
        self.updates = updates;
    }

    /// So many runs are followed, of which some are done.
    pub(crate) fn expect_runs(&mut self, done: u64, runs: u64) {
        self.runs = (Arc::new(Mutex::new(done)), runs);
    }

    /// Whether the end was asked for, where work that was stopped says so with an error.
    pub(crate) fn is_asked(&self) -> bool {
        self.shared.is_asked.load(Ordering::Relaxed)
    }

    fn shows(&self, shown: Shown) -> Control {
        *locked(&self.shared.shown) = Some(shown);
        if self.is_asked() {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

impl Follow for Listener {
    fn progress(&mut self, progress: Progress) -> Control {
        let Progress { what, done, total } = progress;
        self.shows((what, done, total, None))
    }
}

impl Watch for Listener {
    fn epoch(&mut self, epoch: &Epoch, _: &State) -> Control {
        let known = Some((epoch.epoch, epoch.loss, epoch.alpha));
        self.shows(("training", epoch.update, self.updates, known))
    }

    fn progress(&mut self, progress: Progress) -> Control {
        Follow::progress(self, progress)
    }
}

impl Spectator for Listener {
    fn asks_to_stop(&self) -> bool {
        self.is_asked()
    }

    fn sees(&self, _: &Job, event: Event<'_>) {
        if let Event::Scored(_) | Event::Failed(_) = event {
            let (done, runs) = (&self.runs.0, self.runs.1);
            let mut done = locked(done);
            *done += 1;
            self.shows(("runs", *done, runs, None));
        }
    }
}
