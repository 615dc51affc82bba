//! Progress of training on standard error: a bar on a terminal, else a line now and then.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use attractor::progress::Progress as Told;
use attractor::train::{Control, Epoch, State, Watch};
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt::Interrupt;
use crate::visible::notes;

/// Shows the progress of training, and stops it when the user asks to.
pub(crate) struct Progress {
    begun: Instant,
    updates: u64,
    how: How,
    interrupt: Interrupt,
}

enum How {
    Bar(ProgressBar),
    /// The next line is due when so many parts of the updates are done, or at this time.
    Lines {
        parts: u64,
        time: Duration,
    },
    Silent,
}

/// There is a line for each of so many parts of the updates, and after this time.
const PARTS: u64 = 20;
const PAUSE: Duration = Duration::from_secs(10);

impl Progress {
    /// Shows nothing.
    pub(crate) fn silent(updates: u64) -> Progress {
        Progress::new(updates, How::Silent)
    }

    /// Shows what suits standard error.
    pub(crate) fn shown(updates: u64) -> Progress {
        let lines = How::Lines {
            parts: 1,
            time: PAUSE,
        };
        let terminal = io::stderr().is_terminal();
        let how = terminal.then(|| How::Bar(bar(updates)));
        Progress::new(updates, how.unwrap_or(lines))
    }

    fn new(updates: u64, how: How) -> Progress {
        let tell: Box<dyn FnOnce() + Send> = match &how {
            How::Silent => Box::new(|| {}),
            How::Lines { .. } => Box::new(tell_stopping),
            How::Bar(bar) => {
                let bar = bar.clone();
                Box::new(move || bar.suspend(tell_stopping))
            }
        };
        Progress {
            begun: Instant::now(),
            updates,
            how,
            interrupt: Interrupt::listen(tell),
        }
    }

    fn control(&self) -> Control {
        if self.interrupt.asked() {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let How::Bar(bar) = &self.how {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Progress {
    fn epoch(&mut self, epoch: &Epoch, _: &State) -> Control {
        let elapsed = self.begun.elapsed();
        let done = epoch.update as f64 / self.updates as f64;
        let parts_done = (PARTS as f64 * done) as u64;
        match &mut self.how {
            How::Bar(bar) => {
                bar.set_message(words(epoch));
                bar.set_position(epoch.update);
            }
            How::Lines { parts, time } if parts_done >= *parts || elapsed >= *time => {
                *parts = parts_done + 1;
                *time = elapsed + PAUSE;
                let line = line(epoch, done, elapsed.as_secs_f64());
                // A closed standard error is no reason to end a training.
                let _ = writeln!(notes(), "{line}");
            }
            How::Lines { .. } | How::Silent => {}
        }
        self.control()
    }

    fn progress(&mut self, told: Told) -> Control {
        if let How::Bar(bar) = &self.how {
            bar.set_message(told.what);
            bar.set_length(told.total);
            bar.set_position(told.done);
        }
        self.control()
    }
}

/// Says that a signal was heard; a closed standard error is no reason to end before the checkpoint.
fn tell_stopping() {
    let _ = writeln!(
        notes(),
        "stopping after this epoch; a checkpoint will be written (Ctrl-C again ends at once)"
    );
}

fn bar(updates: u64) -> ProgressBar {
    let template = "{wide_bar} {percent:>3} %  {msg}  {per_sec}  {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is fixed");
    let style = style.with_key(
        "per_sec",
        |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{:.0} updates/s", state.per_sec());
        },
    );
    ProgressBar::new(updates).with_style(style)
}

fn words(epoch: &Epoch) -> String {
    format!(
        "epoch {}  loss {:.6}  α {:.3}",
        epoch.epoch, epoch.loss, epoch.alpha
    )
}

fn line(epoch: &Epoch, done: f64, seconds: f64) -> String {
    format!(
        "{:3.0} %  {}  {:.0} updates/s  {:.0} s left",
        100.0 * done,
        words(epoch),
        epoch.update as f64 / seconds,
        seconds * (1.0 - done) / done
    )
}
