//! Slurm: one array of few tasks, each of many runs, behind a job that computes floors and chance levels once.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{EngineError, LEVELS, Request, SHARE};
use crate::{Error, run};

/// What Slurm is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slurm {
    /// Tasks that run at once, at most; all of them without a bound.
    pub at_once: Option<usize>,
    /// The time limit of a task, as Slurm writes it.
    pub time: Option<String>,
    /// Seconds before the limit at which a task stores its run.
    pub signal_before: u64,
    /// How often a task goes back into the queue, at most.
    pub restarts: usize,
    /// More flags of `sbatch`.
    pub flags: Option<String>,
}

impl Slurm {
    /// Refuses a warning that comes before a task has begun: it would only go back into the queue, again and again.
    pub(super) fn refuse_early_warning(&self) -> Result<(), EngineError> {
        let before = self.signal_before;
        match self.time.as_deref().and_then(seconds) {
            Some(limit) if limit <= before => Err(EngineError::EarlyWarning { before, limit }),
            _ => Ok(()),
        }
    }

    /// The lines of a script that Slurm reads.
    pub(super) fn head(&self, request: &Request, place: &Path) -> String {
        let last = request.jobs - 1;
        let at_once = self.at_once.map(|n| format!("%{n}")).unwrap_or_default();
        let mut head = format!(
            "#SBATCH --array=0-{last}{at_once}\n\
             #SBATCH --cpus-per-task=1 --requeue --open-mode=append\n\
             #SBATCH --signal=B:USR1@{}\n",
            self.signal_before
        );
        if let Some(time) = &self.time {
            let _ = writeln!(head, "#SBATCH --time={time}");
        }
        head + &self.common(place, "share-%a")
    }

    pub(super) fn head_of_levels(&self, place: &Path) -> String {
        format!(
            "#SBATCH --cpus-per-task=1 --requeue\n{}",
            self.common(place, "levels")
        )
    }

    fn common(&self, place: &Path, log: &str) -> String {
        let log = place.join(format!("{log}.log"));
        let mut lines = format!(
            "#SBATCH --job-name=attractor\n#SBATCH --output=\"{}\"\n",
            log.display()
        );
        if let Some(flags) = &self.flags {
            let _ = writeln!(lines, "#SBATCH {flags}");
        }
        lines
    }

    /// Submits both jobs; gives the number of the array.
    pub(super) fn submit(&self, request: &Request, place: &Path) -> Result<String, Error> {
        refuse_unseen(&request.folder)?;
        let levels = sbatch(place, &[LEVELS])?;
        let behind = format!("--dependency=afterok:{levels}");
        // What can never start is not left in the queue.
        let submitted = sbatch(place, &[&behind, "--kill-on-invalid-dep=yes", SHARE]);
        if submitted.is_err() {
            let _ = cancel(&levels);
        }
        submitted
    }
}

/// A time as Slurm writes it (M, M:S, H:M:S, D-H, D-H:M, D-H:M:S) in seconds; none if it is something else, which Slurm refuses.
fn seconds(text: &str) -> Option<u64> {
    let (days, rest) = text
        .split_once('-')
        .map_or((None, text), |(days, rest)| (Some(days), rest));
    let parts: Option<Vec<u64>> = rest.split(':').map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = match (days, parts?.as_slice()) {
        (None, &[minutes]) => [0, minutes, 0],
        (None, &[minutes, seconds]) => [0, minutes, seconds],
        (Some(_), &[hours]) => [hours, 0, 0],
        (Some(_), &[hours, minutes]) => [hours, minutes, 0],
        (_, &[hours, minutes, seconds]) => [hours, minutes, seconds],
        _ => return None,
    };
    let days: u64 = days.map_or(Some(0), |days| days.parse().ok())?;
    let of = |count: u64, unit: u64| count.checked_mul(unit);
    [
        of(days, 86_400)?,
        of(hours, 3600)?,
        of(minutes, 60)?,
        seconds,
    ]
    .into_iter()
    .try_fold(0, u64::checked_add)
}

/// Refuses a folder in the memory of this machine where there are other nodes.
fn refuse_unseen(folder: &Path) -> Result<(), Error> {
    if !is_in_memory(folder) {
        return Ok(());
    }
    let nodes = Command::new("sinfo")
        .args(["-h", "-N", "-o", "%N"])
        .output();
    let (nodes, here) = (said("sinfo", nodes)?, run::host());
    let short = |name: &str| {
        name.trim()
            .split('.')
            .next()
            .unwrap_or_default()
            .to_string()
    };
    match nodes.lines().find(|node| short(node) != short(&here)) {
        None => Ok(()),
        Some(node) => Err(EngineError::Unseen {
            node: node.trim().to_string(),
            folder: folder.to_path_buf(),
        }
        .into()),
    }
}

/// Whether a folder is in a file system that is kept in memory, where the system tells.
fn is_in_memory(folder: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let folder = folder.canonicalize().unwrap_or_default();
    let under = mounts.filter(|(place, _)| folder.starts_with(place));
    let nearest = under.max_by_key(|(place, _)| place.len());
    nearest.is_some_and(|(_, kind)| ["tmpfs", "ramfs"].contains(&kind))
}

fn sbatch(place: &Path, words: &[&str]) -> Result<String, Error> {
    let output = Command::new("sbatch")
        .arg("--parsable")
        .args(words)
        .current_dir(place)
        .output();
    let said = said("sbatch", output)?;
    // With several clusters, `number;cluster`.
    let job = said.lines().last().unwrap_or_default();
    Ok(job.split(';').next().unwrap_or_default().trim().to_string())
}

/// What the queue says of a job; none if it is not in it. A queue that does not answer is an error: the job may be there.
pub(super) fn state(job: &str) -> Result<Option<String>, Error> {
    let output = Command::new("squeue")
        .args(["-h", "-r", "-j", job, "-o", "%T"])
        .output();
    let said = match said("squeue", output) {
        // A job that ended long ago is forgotten.
        Err(Error::Engine(EngineError::Refused { said, .. }))
            if said.contains("Invalid job id") =>
        {
            return Ok(None);
        }
        said => said?,
    };
    let mut states: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .collect();
    states.sort_unstable();
    let mut counted: Vec<(usize, &str)> = Vec::new();
    for state in states {
        match counted.last_mut() {
            Some((count, last)) if *last == state => *count += 1,
            _ => counted.push((1, state)),
        }
    }
    let words = counted
        .iter()
        .map(|(n, state)| format!("{n} {}", state.to_lowercase()));
    let words: Vec<String> = words.collect();
    Ok((!words.is_empty()).then(|| words.join(", ")))
}

/// Ends all tasks of a job.
pub(super) fn cancel(job: &str) -> Result<(), Error> {
    said("scancel", Command::new("scancel").arg(job).output()).map(|_| ())
}

/// What a program of Slurm answers, or why it does not.
fn said(program: &'static str, output: io::Result<std::process::Output>) -> Result<String, Error> {
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(EngineError::NotThere { program }.into());
        }
        Err(error) => {
            return Err(refused(program, &error.to_string()));
        }
    };
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(refused(
            program,
            String::from_utf8_lossy(&output.stderr).trim(),
        ))
    }
}

fn refused(program: &str, said: &str) -> Error {
    EngineError::Refused {
        program: program.to_string(),
        said: said.to_string(),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_slurm() {
        let known = [
            ("90", 5400),
            ("1:30", 90),
            ("4:00:00", 14_400),
            ("2-12", 216_000),
            ("1-0:30", 88_200),
            ("1-00:00:01", 86_401),
        ];
        for (text, expected) in known {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for other in [
            "",
            "UNLIMITED",
            "1:2:3:4",
            "-1",
            "1-",
            "99999999999999999-0",
        ] {
            assert_eq!(seconds(other), None, "{other}");
        }
    }
}
