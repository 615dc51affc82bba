//! A sweep on standard error: on a terminal a bar over all runs and one for each that is running, else a line for each
//! that ended.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use attractor::Error;
use attractor::study::Scored;
use attractor::sweep::{Event, Job, Spectator};
use attractor::text::{count, figure};
use attractor::train::Epoch;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::interrupt::Interrupt;
use crate::visible::{notes, shown};

/// Shows a sweep, and ends it when the user asks to.
pub(crate) struct View {
    interrupt: Interrupt,
    total: usize,
    how: How,
    state: Mutex<State>,
}

enum How {
    Bars {
        stack: MultiProgress,
        all: ProgressBar,
    },
    Lines,
    Silent,
}

#[derive(Default)]
struct State {
    done: usize,
    diverged: usize,
    failed: usize,
    /// The bars of the runs that are running.
    running: BTreeMap<PathBuf, ProgressBar>,
}

/// The measures that a line shows.
const SHOWN: [&str; 4] = ["d_stsp", "d_stsp_paper", "d_h", "pe"];

impl View {
    /// Shows nothing.
    pub(crate) fn silent(jobs: &[Job]) -> View {
        View::new(jobs, How::Silent)
    }

    /// Shows what suits standard error.
    pub(crate) fn shown(jobs: &[Job]) -> View {
        let how = if io::stderr().is_terminal() {
            bars(jobs)
        } else {
            How::Lines
        };
        View::new(jobs, how)
    }

    fn new(jobs: &[Job], how: How) -> View {
        let scored = || jobs.iter().filter_map(|job| job.scored.as_ref());
        let state = State {
            done: scored().count(),
            diverged: scored().filter(|run| run.diverged()).count(),
            ..State::default()
        };
        let view = View {
            interrupt: match &how {
                How::Silent => Interrupt::listen(|| ()),
                How::Bars { .. } | How::Lines => Interrupt::listen_for_all(),
            },
            total: jobs.len(),
            how,
            state: Mutex::new(state),
        };
        view.tell_counts(&view.state());
        view
    }

    /// Takes the bars away.
    pub(crate) fn finish(&self) {
        if let How::Bars { all, .. } = &self.how {
            all.finish_and_clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while it shows")
    }

    fn tell_counts(&self, state: &State) {
        if let How::Bars { all, .. } = &self.how {
            all.set_message(self.counts(state));
        }
    }

    fn counts(&self, state: &State) -> String {
        let mut text = format!("{} of {}", state.done, count(self.total, "run"));
        for (count, word) in [(state.diverged, "diverged"), (state.failed, "failed")] {
            if count > 0 {
                text += &format!(", {count} {word}");
            }
        }
        text
    }

    fn begin(&self, job: &Job) {
        let How::Bars { stack, .. } = &self.how else {
            return;
        };
        let bar = stack.add(ProgressBar::new(job.updates).with_style(style(RUN)));
        bar.set_prefix(shown(&job.folder.display().to_string()));
        self.state().running.insert(job.folder.clone(), bar);
    }

    fn step(&self, job: &Job, epoch: &Epoch) {
        let How::Bars { all, .. } = &self.how else {
            return;
        };
        if let Some(bar) = self.state().running.get(&job.folder) {
            all.inc(epoch.update.saturating_sub(bar.position()));
            bar.set_position(epoch.update);
            bar.set_message(format!("loss {:.6}  α {:.3}", epoch.loss, epoch.alpha));
        }
    }

    /// Takes the bar of a run away; what it lacked to its end is not left to be done.
    fn end(&self, job: &Job, state: &mut State) {
        let How::Bars { all, stack } = &self.how else {
            return;
        };
        let bar = state.running.remove(&job.folder);
        let position = bar.as_ref().map_or(0, ProgressBar::position);
        all.inc(job.updates.saturating_sub(position));
        if let Some(bar) = bar {
            bar.finish_and_clear();
            stack.remove(&bar);
        }
    }

    fn scored(&self, job: &Job, scored: &Scored) {
        let mut state = self.state();
        state.done += 1;
        state.diverged += usize::from(scored.diverged());
        self.end(job, &mut state);
        self.tell_counts(&state);
        let line = format!("{}: {}", self.counts(&state), summary(scored));
        self.print(&line);
    }

    fn failed(&self, job: &Job, error: &Error) {
        let mut state = self.state();
        state.failed += 1;
        self.end(job, &mut state);
        self.tell_counts(&state);
        drop(state);
        // An error is reported even if nothing else is.
        let hint = error
            .hint()
            .map_or(String::new(), |hint| format!("\nhint: {hint}"));
        let text = format!("error: {error}{hint}");
        match &self.how {
            How::Bars { stack, .. } => stack.suspend(|| write_line(&text)),
            How::Lines | How::Silent => write_line(&text),
        }
    }

    fn print(&self, line: &str) {
        match &self.how {
            How::Bars { stack, .. } => stack.suspend(|| write_line(line)),
            How::Lines => write_line(line),
            How::Silent => {}
        }
    }
}

impl Spectator for View {
    fn asks_to_stop(&self) -> bool {
        self.interrupt.asked()
    }

    fn sees(&self, job: &Job, event: Event<'_>) {
        match event {
            Event::Begun => self.begin(job),
            Event::Epoch(epoch) => self.step(job, epoch),
            Event::Stopped => self.end(job, &mut self.state()),
            Event::Scored(scored) => self.scored(job, scored),
            Event::Failed(error) => self.failed(job, error),
        }
    }
}

/// A closed standard error is no reason to end a sweep.
fn write_line(line: &str) {
    let _ = writeln!(notes(), "{line}");
}

const ALL: &str = "{wide_bar} {percent:>3} %  {msg}  {eta} left";
const RUN: &str = "  {prefix}  {bar:20} {percent:>3} %  {msg}  {eta} left";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are fixed")
}

/// A bar over the updates of all runs, from those that were made before.
fn bars(jobs: &[Job]) -> How {
    let updates = |wanted: fn(&Job) -> bool| -> u64 {
        let wanted = jobs.iter().filter(|job| wanted(job));
        wanted.map(|job| job.updates).sum()
    };
    let stack = MultiProgress::new();
    let all = stack.add(ProgressBar::new(updates(|_| true)).with_style(style(ALL)));
    all.set_position(updates(|job| job.scored.is_some()));
    all.reset_eta();
    How::Bars { stack, all }
}

/// A run in one line.
fn summary(scored: &Scored) -> String {
    let mut words = vec![scored.outcome.clone()];
    for id in SHOWN {
        if let Some(measured) = scored.scores.get(id) {
            let value = measured.value.map_or("–".to_string(), figure);
            words.push(format!("{id} {value}"));
        }
    }
    format!("{}: {}", scored.folder.display(), words.join(", "))
}
