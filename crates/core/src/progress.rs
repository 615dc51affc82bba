//! Long work that can be followed and stopped: what training, simulations, floors, embeddings and anatomies tell on the way, and
//! how they are asked to end.

/// Whether work goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// It does.
    Continue,
    /// It ends here.
    Stop,
}

/// How far work has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done, such as `simulating`.
    pub what: &'static str,
    /// Parts of it that are done.
    pub done: u64,
    /// Parts that there are.
    pub total: u64,
}

/// Follows long work, and may stop it. It is called often enough to be heard within a fraction of a second.
pub trait Follow: Send {
    /// Called between two parts of the work.
    fn progress(&mut self, progress: Progress) -> Control;
}

impl<F: FnMut(Progress) -> Control + Send> Follow for F {
    fn progress(&mut self, progress: Progress) -> Control {
        self(progress)
    }
}

/// Follows nothing and never stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unwatched;

impl Follow for Unwatched {
    fn progress(&mut self, _: Progress) -> Control {
        Control::Continue
    }
}

/// The work was stopped before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the end")]
pub struct Stopped;

/// Tells how far work has come; stops it if it is asked to.
pub fn tell(
    follow: &mut dyn Follow,
    what: &'static str,
    done: u64,
    total: u64,
) -> Result<(), Stopped> {
    match follow.progress(Progress { what, done, total }) {
        Control::Continue => Ok(()),
        Control::Stop => Err(Stopped),
    }
}
