//! Sweeps on machines other than this one: a study is frozen in the folder of its runs, cut into shares, and handed to an engine that
//! runs them, Slurm or any command.
//!
//! ```text
//! DIR/.jobs/1/study.toml     the study as it was submitted
//! DIR/.jobs/1/share.sh       what a task runs; its first argument, or the engine's own variable, is the share
//! DIR/.jobs/1/levels.sh      floors and chance levels, which all tasks need, computed once
//! DIR/.jobs/1/submitted.json which engine, job, program, version and number of shares
//! DIR/.jobs/1/share-0.log    what a task said
//! ```
//!
//! A share is every N-th run by its place in the study, so that tasks need neither locks nor to know of one another. What is done is
//! known from the folders of the runs; nothing here is needed to continue, or to make tables.

mod script;
mod slurm;
mod status;

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use attractor_core::hint::Hint;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::fingerprint::Fingerprint;
use crate::run::Claim;
use crate::store;
use crate::study::{JOBS, Study};

pub use slurm::Slurm;
pub use status::{Status, status};

const STUDY: &str = "study.toml";
const RECORD: &str = "submitted.json";
const SHARE: &str = "share.sh";
const LEVELS: &str = "levels.sh";

/// Every `count`-th run, from run `index` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// From 0.
    pub index: usize,
    /// How many shares there are.
    pub count: usize,
}

impl Share {
    /// All runs.
    pub const ALL: Share = Share { index: 0, count: 1 };

    /// The share so many behind this one, counted in a circle.
    pub fn behind(self, distance: usize) -> Share {
        Share {
            index: (self.index + distance) % self.count,
            ..self
        }
    }

    /// How many shares behind this one the run at this place belongs to.
    pub fn distance(self, place: usize) -> usize {
        (place % self.count + self.count - self.index) % self.count
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            let share = Share {
                index: index.parse().ok()?,
                count: count.parse().ok()?,
            };
            (share.index < share.count).then_some(share)
        });
        numbers.ok_or_else(|| "expected I/N with I from 0 to N − 1, as in 0/16".to_string())
    }
}

/// What is submitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The file of the study.
    pub study: PathBuf,
    /// The folder of its runs.
    pub folder: PathBuf,
    /// Only these entries of its list; all if there are none.
    pub only: Vec<String>,
    /// Folder of the data, if it was given.
    pub data_folder: Option<PathBuf>,
    /// Tasks, each of one share of the runs.
    pub jobs: usize,
    /// Shell commands that each task runs first.
    pub setup: Option<String>,
    /// Who runs the tasks.
    pub engine: Engine,
}

/// Who runs the tasks.
#[derive(Debug, Clone, PartialEq)]
pub enum Engine {
    /// Slurm.
    Slurm(Slurm),
    /// A command of one's own. In it `{script}` stands for the script of a task, whose argument is a share; `{shares}` and `{last}` for
    /// the number of shares and the last one, `{dir}` for the folder of the runs. With `{share}` in it, it is called for every share.
    Command(String),
}

/// What was submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The name of the engine.
    pub engine: String,
    /// What the engine calls it; none for a command.
    pub job: Option<String>,
    /// Tasks.
    pub shares: usize,
    /// Runs of the study.
    pub runs: usize,
    /// Only these entries of its list; all if there are none.
    #[serde(default)]
    pub only: Vec<String>,
    /// The program that was submitted.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// A fingerprint of its file, so that another one is noticed.
    pub fingerprint: String,
}

/// Why nothing was submitted.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine's program is not there.
    #[error("`{program}` is not on the path")]
    NotThere {
        /// Which.
        program: &'static str,
    },
    /// The engine refused.
    #[error("`{program}` refused the job: {said}")]
    Refused {
        /// Which.
        program: String,
        /// What it said.
        said: String,
    },
    /// The warning before the time limit would come at once.
    #[error("the warning comes {before} s before the time limit, which is {limit} s")]
    EarlyWarning {
        /// Seconds from the warning to the limit.
        before: u64,
        /// The limit in seconds.
        limit: u64,
    },
    /// What was submitted before is not over.
    #[error("job {job} is still {state}: {}", .folder.display())]
    Queued {
        /// Its number.
        job: String,
        /// What its engine says of it.
        state: String,
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// The folder is where nodes do not see it.
    #[error("node {node} does not see this folder, which is in the memory of this machine: {}", .folder.display())]
    Unseen {
        /// One of them.
        node: String,
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// Another process submits from the same folder.
    #[error("another process is submitting from this folder: {}", .folder.display())]
    Submitting {
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// The program of a task is not the one that was submitted.
    #[error("the program was replaced since the study was submitted: {}", .program.display())]
    Replaced {
        /// The program.
        program: PathBuf,
    },
    /// The folder has no job.
    #[error("no job was submitted from this folder: {}", .folder.display())]
    NoJob {
        /// The folder.
        folder: PathBuf,
    },
    /// A study without open runs.
    #[error("all runs of the study are done: {}", .folder.display())]
    Done {
        /// The folder of the runs.
        folder: PathBuf,
    },
}

impl EngineError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            EngineError::NotThere { program: "sbatch" } => {
                Some("run this where jobs are submitted; `--engine command` takes any other".into())
            }
            EngineError::EarlyWarning { .. } => {
                Some("give more time with `--time`, or a shorter warning with `--signal-before`".into())
            }
            EngineError::Submitting { folder } => Some(
                format!(
                    "`attractor sweep --status {}` shows what it submitted",
                    crate::shell::path(folder)
                )
                .into(),
            ),
            EngineError::Unseen { .. } => {
                Some("name a folder that all nodes share with `--out`".into())
            }
            EngineError::Replaced { .. } => {
                Some("submit the study again with the new one, or put the old one back".into())
            }
            EngineError::Queued { folder, .. } => Some(format!(
                "`attractor sweep --cancel {}` ends it; `attractor sweep --status {0}` shows it",
                crate::shell::path(folder)
            ).into()),
            EngineError::Done { folder } => Some(format!(
                "`attractor table {}` shows them",
                crate::shell::path(folder)
            ).into()),
            _ => None,
        }
    }
}

impl Request {
    /// The scripts, as they would be submitted: that of a task, and that of floors and chance levels.
    pub fn scripts(&self, place: &Path) -> Result<[String; 2], Error> {
        if let Engine::Slurm(slurm) = &self.engine {
            slurm.refuse_early_warning()?;
        }
        script::scripts(self, place)
    }

    /// Freezes the study and hands it to the engine, one process at a time. Nothing stays behind if the engine refuses.
    pub fn submit(&self, study: &Study) -> Result<Submission, Error> {
        let was_there = self.folder.exists();
        let jobs = self.folder.join(JOBS);
        fs::create_dir_all(&jobs).map_err(|source| written(&jobs, source))?;
        let claim = Claim::take(&jobs, false).map_err(|source| written(&jobs, source))?;
        let claim = claim.ok_or_else(|| EngineError::Submitting {
            folder: self.folder.clone(),
        })?;
        let submitted = self.submit_alone(study);
        drop(claim);
        if submitted.is_err() {
            // Folders that are not empty stay.
            let _ = fs::remove_dir(&jobs);
            if !was_there {
                let _ = fs::remove_dir(&self.folder);
            }
        }
        submitted
    }

    fn submit_alone(&self, study: &Study) -> Result<Submission, Error> {
        if let Some(job) = latest(&self.folder)? {
            job.refuse_queued(&self.folder)?;
        }
        let place = next_place(&self.folder)?;
        let submitted = self.submit_from(&place, study);
        if submitted.is_err() {
            // It holds nothing but what was written here.
            let _ = fs::remove_dir_all(&place);
        }
        submitted
    }

    fn submit_from(&self, place: &Path, study: &Study) -> Result<Submission, Error> {
        fs::create_dir_all(place).map_err(|source| written(place, source))?;
        fs::copy(&self.study, place.join(STUDY)).map_err(|source| written(place, source))?;
        let scripts = self.scripts(place)?;
        for (name, text) in [SHARE, LEVELS].into_iter().zip(&scripts) {
            let path = place.join(name);
            store::write_whole(&path, |out| out.write_all(text.as_bytes()))?;
            make_executable(&path)?;
        }
        let job = match &self.engine {
            Engine::Slurm(slurm) => Some(slurm.submit(self, place)?),
            Engine::Command(template) => {
                self.call(template, place)?;
                None
            }
        };
        let program = program()?;
        let submission = Submission {
            engine: self.engine.name().to_string(),
            job,
            shares: self.jobs,
            runs: study.cells.len() * study.seeds.len(),
            only: self.only.clone(),
            fingerprint: fingerprint(&program)?,
            program,
            version: env!("CARGO_PKG_VERSION").to_string(),
        };
        let text = serde_json::to_string_pretty(&submission).expect("it is plain text");
        store::write_whole(&place.join(RECORD), |out| writeln!(out, "{text}"))?;
        Ok(submission)
    }

    /// Calls a command of one's own, once or for every share.
    fn call(&self, template: &str, place: &Path) -> Result<(), Error> {
        let quoted = |path: &Path| crate::shell::path(path);
        let filled = template
            .replace("{script}", &quoted(&place.join(SHARE)))
            .replace("{shares}", &self.jobs.to_string())
            .replace("{last}", &(self.jobs - 1).to_string())
            .replace("{dir}", &quoted(&absolute(&self.folder)?));
        let levels = Command::new("bash").arg(place.join(LEVELS)).status();
        refuse_failure("bash", levels)?;
        let shares = if template.contains("{share}") {
            self.jobs
        } else {
            1
        };
        for share in 0..shares {
            let command = filled.replace("{share}", &share.to_string());
            let status = Command::new("sh").arg("-c").arg(&command).status();
            refuse_failure(&command, status)?;
        }
        Ok(())
    }
}

impl Engine {
    fn name(&self) -> &'static str {
        match self {
            Engine::Slurm(_) => "slurm",
            Engine::Command(_) => "command",
        }
    }
}

impl Submission {
    /// Refuses to submit again while tasks wait or run.
    fn refuse_queued(&self, folder: &Path) -> Result<(), Error> {
        let state = self.job.as_deref().map(slurm::state).transpose()?;
        match (&self.job, state.flatten()) {
            (Some(job), Some(state)) => Err(EngineError::Queued {
                job: job.clone(),
                state,
                folder: folder.to_path_buf(),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Whether its program is another file now, or gone.
    pub fn program_has_changed(&self) -> bool {
        fingerprint(&self.program).map_or(true, |now| now != self.fingerprint)
    }
}

/// Refuses to run where this program is not the one with this fingerprint, which was submitted.
pub fn refuse_replaced(submitted: &str) -> Result<(), Error> {
    let program = program()?;
    if fingerprint(&program)? == submitted {
        Ok(())
    } else {
        Err(EngineError::Replaced { program }.into())
    }
}

/// Ends the job that was submitted last.
pub fn cancel(folder: &Path) -> Result<String, Error> {
    let job = latest(folder)?.and_then(|submission| submission.job);
    let job = job.ok_or_else(|| EngineError::NoJob {
        folder: folder.to_path_buf(),
    })?;
    slurm::cancel(&job)?;
    Ok(job)
}

/// What was submitted last; none if nothing was.
pub fn latest(folder: &Path) -> Result<Option<Submission>, Error> {
    let Some(place) = last_place(folder) else {
        return Ok(None);
    };
    let text = fs::read_to_string(place.join(RECORD)).unwrap_or_default();
    Ok(serde_json::from_str(&text).ok())
}

/// The folder of what was submitted last.
fn last_place(folder: &Path) -> Option<PathBuf> {
    let number = numbers(folder).max()?;
    Some(folder.join(JOBS).join(number.to_string()))
}

fn numbers(folder: &Path) -> impl Iterator<Item = u64> {
    let entries = fs::read_dir(folder.join(JOBS)).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok())
}

fn next_place(folder: &Path) -> Result<PathBuf, Error> {
    let number = numbers(folder).max().unwrap_or(0) + 1;
    Ok(absolute(folder)?.join(JOBS).join(number.to_string()))
}

/// This program.
fn program() -> Result<PathBuf, Error> {
    env::current_exe().map_err(|source| written(Path::new("attractor"), source))
}

fn fingerprint(program: &Path) -> Result<String, Error> {
    let mut print = Fingerprint::new();
    print.add(&fs::read(program).map_err(|source| written(program, source))?);
    Ok(print.text())
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|source| written(path, source))
}

fn written(path: &Path, source: std::io::Error) -> Error {
    Error::Write {
        path: path.to_path_buf(),
        source,
    }
}

fn refuse_failure(
    program: &str,
    status: std::io::Result<std::process::ExitStatus>,
) -> Result<(), Error> {
    let said = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(EngineError::Refused {
        program: program.to_string(),
        said,
    }
    .into())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, mode).map_err(|source| written(path, source))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), Error> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_take_turns_and_have_everything_once() {
        let shares: Vec<Share> = (0..3).map(|index| Share { index, count: 3 }).collect();
        for place in 0..20 {
            assert_eq!(
                shares
                    .iter()
                    .filter(|share| share.distance(place) == 0)
                    .count(),
                1
            );
        }
        let next = Share { index: 2, count: 3 };
        assert_eq!([2, 3, 4, 5].map(|place| next.distance(place)), [0, 1, 2, 0]);
        assert_eq!(
            [0, 1, 2].map(|distance| next.behind(distance).index),
            [2, 0, 1]
        );
        assert_eq!(
            "2/16".parse(),
            Ok(Share {
                index: 2,
                count: 16
            })
        );
        assert_eq!(
            Share {
                index: 2,
                count: 16
            }
            .to_string(),
            "2/16"
        );
        for wrong in ["3", "3/3", "-1/3", "0/0", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
