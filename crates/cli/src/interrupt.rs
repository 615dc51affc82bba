//! Ctrl-C and SIGTERM. A training is asked by the first to store where it is and to end, which is said at once since an
//! epoch may take long; the second ends it. Everything else is ended by the first, and so is a training that has not begun: while data are
//! read, or a demonstration draws its pages, nobody would look whether it was asked. Whatever ends at once leaves no half of a file behind.

use std::io::Write;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use attractor::store;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::visible::notes;

/// Whether the user asked to stop; listens until it is dropped.
pub(crate) struct Interrupt(Arc<Listener>);

/// Who hears of the first signal.
struct Listener {
    /// Whether anybody looks.
    is_heard: AtomicBool,
    is_asked: AtomicBool,
    tell: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// Who listens now. Signals are a matter of the whole process, and so is this.
static LISTENER: Mutex<Option<Arc<Listener>>> = Mutex::new(None);

fn listener() -> MutexGuard<'static, Option<Arc<Listener>>> {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How soon after a signal it is answered.
const GLANCE: Duration = Duration::from_millis(50);

/// How many glances a training that has not begun gets to begin and hear that it shall stop.
const PATIENCE: usize = 20;

impl Interrupt {
    /// Listens from now on; `tell` is called once, soon after the first signal, if somebody has [looked](Interrupt::asked) by then.
    pub(crate) fn listen(tell: impl FnOnce() + Send + 'static) -> Interrupt {
        let listens = Arc::new(Listener {
            is_heard: AtomicBool::new(false),
            is_asked: AtomicBool::new(false),
            tell: Mutex::new(Some(Box::new(tell))),
        });
        *listener() = Some(listens.clone());
        Interrupt(listens)
    }

    /// Listens for several trainings side by side, and says on stderr that they will end.
    pub(crate) fn listen_for_all() -> Interrupt {
        Interrupt::listen(|| {
            // Where stderr is gone, nobody hears of it.
            let _ = writeln!(
                notes(),
                "stopping after the epochs under way; checkpoints will be written (Ctrl-C again ends at once)"
            );
        })
    }

    /// Whether a signal came.
    pub(crate) fn asked(&self) -> bool {
        self.0.is_heard.store(true, Ordering::Relaxed);
        self.0.is_asked.load(Ordering::Relaxed)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        listener().take_if(|listens| Arc::ptr_eq(listens, &self.0));
    }
}

impl Listener {
    /// Whether it stops by itself because of a signal that came; not if it had been asked before, or does not look.
    fn is_asked_by(&self) -> bool {
        let is_first = !self.is_asked.swap(true, Ordering::Relaxed);
        let stops = is_first && self.is_soon_heard();
        if stops && let Ok(mut tell) = self.tell.lock() {
            tell.take().into_iter().for_each(|tell| tell());
        }
        stops
    }

    /// Whether somebody looks within a second.
    fn is_soon_heard(&self) -> bool {
        (0..PATIENCE).any(|_| {
            let is_heard = self.is_heard.load(Ordering::Relaxed);
            if !is_heard {
                thread::sleep(GLANCE);
            }
            is_heard
        })
    }
}

/// Answers signals from now on: they ask whoever listens, or end the process without the files that it is writing.
pub(crate) fn answer() {
    let signals = Signals::caught();
    thread::spawn(move || {
        loop {
            let signal = signals.wait();
            let listens = listener().clone();
            match listens {
                Some(listens) if listens.is_asked_by() => continue,
                Some(_) => signals.leave(),
                None => {
                    signals.leave();
                    // As if nobody had caught it: shells stop a loop only after a command that a signal ended.
                    let _ = low_level::emulate_default_handler(signal);
                }
            }
            end(i32::from(crate::INTERRUPTED));
        }
    });
}

/// Signals, to be waited for.
struct Signals {
    /// The last one that came and was not waited for yet, or 0.
    last: Arc<AtomicUsize>,
    /// Whether the process is about to end.
    leaving: Arc<AtomicBool>,
}

impl Signals {
    /// Catches signals from now on. Where they cannot be caught, they end the process as they always did.
    fn caught() -> Signals {
        let signals = Signals {
            last: Arc::default(),
            leaving: Arc::default(),
        };
        for signal in [SIGINT, SIGTERM] {
            // One more that comes while files are removed does not wait.
            let code = i32::from(crate::INTERRUPTED);
            let _ = flag::register_conditional_shutdown(signal, code, Arc::clone(&signals.leaving));
            let _ = flag::register_usize(signal, Arc::clone(&signals.last), signal as usize);
        }
        signals
    }

    /// Waits for the next signal. Nothing may be written while a signal is handled; a thread that glances now and then is
    /// known on every system, and ends with the process.
    fn wait(&self) -> i32 {
        loop {
            match self.last.swap(0, Ordering::Relaxed) {
                0 => thread::sleep(GLANCE),
                signal => return signal as i32,
            }
        }
    }

    /// Removes the files that are being written.
    fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
        store::abandon();
    }
}

/// Ends the process with a code.
#[expect(
    clippy::exit,
    reason = "a signal ends it wherever it is, a wrong command line before it is anywhere"
)]
pub(crate) fn end(code: i32) -> ! {
    process::exit(code)
}
