//! Long work on standard error: what is being done, on a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use attractor::progress::{Control, Follow, Progress};
use indicatif::ProgressBar;

/// Shows what is being done, where standard error is a terminal. Ctrl-C ends the process, which has nothing to keep.
pub(crate) struct Shown {
    line: Option<ProgressBar>,
}

/// Work in more parts than this is shown as a share.
const MANY: u64 = 100;

/// From one picture to the next.
const TICK: Duration = Duration::from_millis(120);

impl Shown {
    /// Shows nothing yet.
    pub(crate) fn new() -> Shown {
        Shown { line: None }
    }
}

impl Follow for Shown {
    fn progress(&mut self, progress: Progress) -> Control {
        if io::stderr().is_terminal() {
            let line = self.line.get_or_insert_with(|| {
                let line = ProgressBar::new_spinner();
                line.enable_steady_tick(TICK);
                line
            });
            let Progress { what, done, total } = progress;
            line.set_message(if total > MANY {
                format!("{what} ({} %)", 100 * done / total)
            } else {
                format!("{what} ({} of {total})", done + 1)
            });
        }
        Control::Continue
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
