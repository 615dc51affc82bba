//! The scripts of a submission.
//!
//! Slurm sends TERM to every process of a task when it is cancelled, requeued or preempted: the program hears it by itself, stores its
//! run and ends, so the script must not pass it on, which would be a second one and end the program at once. The warning before the
//! time limit comes to the script alone, as USR1: it passes it on as TERM, once, and puts itself into the queue again.

use std::env;
use std::fmt::Write;
use std::path::Path;

use super::{Engine, Request, STUDY, absolute, fingerprint, program};
use crate::Error;
use crate::shell;

/// That of a task, and that of floors and chance levels.
pub(super) fn scripts(request: &Request, place: &Path) -> Result<[String; 2], Error> {
    let command = command(request, place)?;
    let (head, levels_head, share) = match &request.engine {
        Engine::Slurm(slurm) => (
            slurm.head(request, place),
            slurm.head_of_levels(place),
            "${SLURM_ARRAY_TASK_ID:-$1}",
        ),
        Engine::Command(_) => (String::new(), String::new(), "${1:-$ATTRACTOR_SHARE}"),
    };
    let setup = setup(request);
    let task = format!("{command} --share {share}/{} --help-others", request.jobs);
    let body = match &request.engine {
        Engine::Slurm(slurm) => requeued(&task, slurm.restarts),
        Engine::Command(_) => format!("exec {task}\n"),
    };
    Ok([
        format!("#!/bin/bash\n{head}{setup}{body}"),
        format!("#!/bin/bash\n{levels_head}{setup}exec {command} --levels-only\n"),
    ])
}

/// What each task runs first.
fn setup(request: &Request) -> String {
    let mut lines = String::new();
    if let Some(folder) = env::var_os("ATTRACTOR_DATA") {
        let folder = shell::path(Path::new(&folder));
        let _ = writeln!(lines, "export ATTRACTOR_DATA={folder}");
    }
    if let Some(setup) = &request.setup {
        let _ = writeln!(lines, "{setup}");
    }
    lines
}

/// The sweep of the frozen study, one run at a time.
fn command(request: &Request, place: &Path) -> Result<String, Error> {
    // Data beside the study are found from there, not from beside its copy.
    let folder = request.data_folder.as_deref();
    let folder = folder.or(request.study.parent().filter(|_| !has_environment()));
    let folder = match folder {
        Some(folder) if folder.as_os_str().is_empty() => Some(absolute(Path::new("."))?),
        Some(folder) => Some(absolute(folder)?),
        None => None,
    };
    let program = program()?;
    let mut command = format!(
        "{} sweep {} --out {} --workers 1 --quiet --submitted {}",
        shell::path(&program),
        shell::path(&place.join(STUDY)),
        shell::path(&absolute(&request.folder)?),
        fingerprint(&program)?
    );
    if let Some(folder) = folder {
        let _ = write!(command, " --data-dir {}", shell::path(&folder));
    }
    for name in &request.only {
        let _ = write!(command, " --only {}", shell::word(name));
    }
    Ok(command)
}

fn has_environment() -> bool {
    env::var_os("ATTRACTOR_DATA").is_some()
}

/// A task that goes back into the queue when its time is nearly over. It names itself as a task: the last one of an array has the number of
/// the array, and would requeue the others as well. A program that has not begun to listen when the warning comes ends with 143.
fn requeued(task: &str, restarts: usize) -> String {
    format!(
        "limit=0\n\
         trap 'limit=1; echo \"the time limit is near: the run is stored\"; kill -TERM $pid' USR1\n\
         trap : TERM\n\
         {task} & pid=$!\n\
         while :; do wait $pid; code=$?; kill -0 $pid 2>/dev/null || break; done\n\
         case $code in 130|143) ;; *) limit=0 ;; esac\n\
         if [ $limit = 1 ] && [ ${{SLURM_RESTART_COUNT:-0}} -lt {restarts} ]; then\n\
         \x20 scontrol requeue ${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\n\
         fi\n\
         exit $code\n"
    )
}
