//! A page over running and finished trainings, for a browser on this machine.
//!
//! ```text
//! folders ──survey──▶ rows ──events──▶ page        every two seconds, while a page is open
//!          ──glance──▶ one run, its newest model    when it is looked at
//! ```
//!
//! A [`Watcher`] is a small server of HTTP/1.1 on the standard library: one thread per connection, one answer per connection. A crate would
//! bring dozens of others for what is needed here, which is to answer seven kinds of GET. Who may ask is decided in one place (`gate`); what is
//! asked for is one of a few known words (`place`), so that no file is ever named by a request. Nothing is written.

mod gate;
mod page;
mod place;
pub mod request;
mod row;
mod server;
mod survey;
mod view;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use attractor_core::hint::Hint;

use crate::Error;
use gate::Token;
use survey::Survey;
use view::Shelf;

/// A page over folders, at an address of this machine.
#[derive(Debug)]
pub struct Watcher {
    listener: TcpListener,
    token: Token,
    survey: Mutex<Survey>,
    shelf: Shelf,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The port is taken, or may not be used.
    #[error("port {port} cannot be used: {source}")]
    Port {
        /// The port.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
}

impl WatchError {
    /// What the user can do about it.
    pub fn hint(&self) -> Hint {
        "leave `--port` out: a free one is then found".into()
    }
}

impl Watcher {
    /// Looks at all runs under these folders, which may appear later, and opens a port of loopback; with port 0 the system finds a free one.
    pub fn bind(folders: &[PathBuf], port: u16) -> Result<Watcher, Error> {
        let open = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = open(port).map_err(|source| WatchError::Port { port, source })?;
        let mut survey = Survey::of(folders.to_vec());
        survey.refresh();
        Ok(Watcher {
            listener,
            token: Token::random(),
            survey: Mutex::new(survey),
            shelf: Shelf::default(),
        })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        let local = self.listener.local_addr();
        let port = local.map_or(0, |address| address.port());
        format!("http://127.0.0.1:{port}/{}/", self.token.text())
    }

    /// How many runs were found.
    pub fn runs(&self) -> usize {
        self.survey().len()
    }

    /// Answers until `stop` is set.
    pub fn serve(&self, stop: &AtomicBool) {
        server::serve(self, stop);
    }

    fn survey(&self) -> MutexGuard<'_, Survey> {
        self.survey.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
