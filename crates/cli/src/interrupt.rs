//! Ctrl-C and SIGTERM as a flag: the first asks a training to store where it is and to end, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user asked to stop.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> Interrupt {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Where signals cannot be caught, they end the process as they always did. The order matters: the first
            // action looks at the flag before the second one sets it.
            let code = i32::from(crate::INTERRUPTED);
            let _ = flag::register_conditional_shutdown(signal, code, Arc::clone(&asked));
            let _ = flag::register(signal, Arc::clone(&asked));
        }
        Interrupt(asked)
    }

    /// Whether a signal came.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
