//! A study's folder packed into one file, or such a file unpacked: `packed pack DIR FILE` or `packed unpack FILE DIR`.
//! `cargo xtask results` runs it.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::Error;
use attractor::study::{pack, unpack};

fn main() -> ExitCode {
    let words: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let (done, to) = match &words[..] {
        [verb, folder, file] if verb.as_os_str() == "pack" => (pack(folder, file), file),
        [verb, file, folder] if verb.as_os_str() == "unpack" => (unpack(file, folder), folder),
        _ => return told("error: `pack DIR FILE` or `unpack FILE DIR` is needed", 2),
    };
    match done {
        Ok(runs) => told(&wrote(runs, to), 0),
        Err(error) => told(&refusal(&error), 2),
    }
}

fn told(text: &str, code: u8) -> ExitCode {
    match writeln!(io::stderr(), "{text}") {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    }
}

fn wrote(runs: usize, to: &Path) -> String {
    format!("wrote {runs} runs: {}", to.display())
}

fn refusal(error: &Error) -> String {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}"));
    format!("error: {error}{}", hint.unwrap_or_default())
}
