//! Programs of crates.io that a check is better with. They take minutes of processor time to compile, so they are compiled only on request
//! (`cargo xtask test --install-tools`, into `target/tools`); else those in the path are used, if they are there.

use std::path::PathBuf;
use std::process::Command;

use crate::command::{cargo, quietly, succeeds, target};
use crate::tally::Tally;

/// A program, by the name of its crate.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
    flags: &'static [&'static str],
}

/// Licences, sources, versions and known vulnerabilities of what we depend on.
pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    flags: &[],
};

/// Makes a book of the pages; without its server, its search and its watching of files.
pub(crate) const BOOK: Tool = Tool {
    name: "mdbook",
    version: "0.5.4",
    flags: &["--no-default-features"],
};

impl Tool {
    /// Compiles it, unless it is there.
    pub(crate) fn install(&self, tally: &mut Tally) {
        if self.program().is_some() {
            return;
        }
        let mut install = cargo(["install", "--locked", "--quiet", self.name]);
        install.args(["--version", self.version]).args(self.flags);
        let done = succeeds(install.arg("--root").arg(folder()));
        tally.check(&format!("cargo install {}", self.name), done);
    }

    /// The program to call: ours, or one in the path.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        [folder().join("bin").join(self.name), self.name.into()]
            .into_iter()
            .find(|program| quietly(Command::new(program).arg("--version")).is_ok())
    }
}

fn folder() -> PathBuf {
    target().join("tools")
}
