//! Ctrl-C and SIGTERM. A training is asked by the first to store where it is and to end, which is said at once since an
//! epoch may take long; the second ends it. Everything else is ended by the first. Whatever ends at once leaves no half of
//! a file behind.

use std::io::Write;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use attractor::store;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::visible::notes;

/// Whether the user asked to stop.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// How soon after a signal it is answered.
const GLANCE: Duration = Duration::from_millis(50);

impl Interrupt {
    /// Listens from now on; `tell` is called once, soon after the first signal.
    pub(crate) fn listen(tell: impl FnOnce() + Send + 'static) -> Interrupt {
        let signals = Signals::caught();
        let interrupt = Interrupt(Arc::new(AtomicBool::new(false)));
        let asked = interrupt.clone();
        thread::spawn(move || {
            signals.wait();
            asked.0.store(true, Ordering::Relaxed);
            tell();
            signals.wait();
            signals.leave();
            end(i32::from(crate::INTERRUPTED));
        });
        interrupt
    }

    /// Listens for several trainings side by side, and says on stderr that they will end.
    pub(crate) fn listen_for_all() -> Interrupt {
        Interrupt::listen(|| {
            // Where stderr is gone, nobody is told.
            let _ = writeln!(
                notes(),
                "stopping after the epochs under way; checkpoints will be written (Ctrl-C again ends at once)"
            );
        })
    }

    /// Whether a signal came.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Lets the first signal end the process without the files that it is writing.
pub(crate) fn end_at_once() {
    let signals = Signals::caught();
    thread::spawn(move || {
        let signal = signals.wait();
        signals.leave();
        // As if nobody had caught it: shells stop a loop only after a command that a signal ended.
        let _ = low_level::emulate_default_handler(signal);
        end(i32::from(crate::INTERRUPTED));
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
