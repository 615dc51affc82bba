//! Ctrl-C and SIGTERM as a flag: the first asks a training to store where it is and to end, which is said at once since
//! an epoch may take long; the second ends at once.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user asked to stop.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// How soon after a signal the user is told that it was heard.
const GLANCE: Duration = Duration::from_millis(50);

impl Interrupt {
    /// Listens from now on; `tell` is called once, soon after the first signal.
    pub(crate) fn listen(tell: impl FnOnce() + Send + 'static) -> Interrupt {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Where signals cannot be caught, they end the process as they always did. The order matters: the first
            // action looks at the flag before the second one sets it.
            let code = i32::from(crate::INTERRUPTED);
            let _ = flag::register_conditional_shutdown(signal, code, Arc::clone(&asked));
            let _ = flag::register(signal, Arc::clone(&asked));
        }
        let interrupt = Interrupt(asked);
        let watched = interrupt.clone();
        // Nothing may be written while a signal is handled. A thread that glances now and then is known on every
        // system; it ends with the process.
        thread::spawn(move || {
            while !watched.asked() {
                thread::sleep(GLANCE);
            }
            tell();
        });
        interrupt
    }

    /// Listens for several trainings side by side, and says on stderr that they will end.
    pub(crate) fn listen_for_all() -> Interrupt {
        Interrupt::listen(|| {
            // Where stderr is gone, nobody is told.
            let _ = writeln!(
                io::stderr(),
                "stopping after the epochs under way; checkpoints will be written (Ctrl-C again ends at once)"
            );
        })
    }

    /// Whether a signal came.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
