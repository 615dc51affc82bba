//! Kills and failing disks at every call that a checkpoint consists of.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use super::common::{command, said};
use super::{RESULTS, TRAIN, files, folder, library, parts};

/// A command whose n-th call of write, fsync or rename in a folder of this name, and all after it, fail.
fn failing(here: &Path, arguments: &str, library: &Path, inside: &str, n: usize) -> Command {
    let mut command = command(here, arguments);
    command
        .env("LD_PRELOAD", library)
        .env("FAULT_IN", format!("/{inside}/"))
        .env("FAULT_AFTER", n.to_string());
    command
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What brings a run to its end that was ended by force.
fn again(here: &Path, run: &str) -> String {
    if here.join(run).join("experiment.toml").exists() {
        format!("resume {run} --quiet")
    } else {
        format!("{TRAIN} --out {run}")
    }
}

/// The training that nothing happens to.
fn whole(here: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    said(here, &format!("{TRAIN} --out whole"), 0);
    files(&here.join("whole"), &RESULTS)
}

/// Killed at the n-th call, whichever it is, a run goes on to the same bytes.
#[test]
fn a_run_that_is_killed_while_it_writes_is_never_lost() {
    let folder = folder();
    let here = folder.path();
    let Some(library) = library(here, "writes.c") else {
        return;
    };
    let expected = whole(here);
    let mut killed = 0;
    for n in (0..60).step_by(3) {
        let run = format!("k{n}");
        let mut train = failing(here, &format!("{TRAIN} --out {run}"), &library, &run, n);
        let ended = train.env("FAULT_KILL", "1").output().unwrap();
        if ended.status.signal() == Some(9) {
            killed += 1;
            let again = again(here, &run);
            said(here, &again, 0);
        }
        assert!(files(&here.join(&run), &RESULTS) == expected, "{n}");
        assert!(parts(&here.join(&run)).is_empty(), "{n}");
    }
    assert!(killed > 5, "{killed} of 20 were killed on the way");
}

/// From the n-th call on the disk is full (ENOSPC) or broken (EIO): that is said, nothing half-written is left, and the run goes on later.
#[test]
fn a_disk_that_fails_is_told_and_loses_nothing() {
    let folder = folder();
    let here = folder.path();
    let Some(library) = library(here, "writes.c") else {
        return;
    };
    let expected = whole(here);
    let mut failed = 0;
    for n in (0..60).step_by(4) {
        let (run, errno) = (format!("f{n}"), ["28", "5"][n / 4 % 2]);
        let mut train = failing(here, &format!("{TRAIN} --out {run}"), &library, &run, n);
        let ended = train.env("FAULT_ERRNO", errno).output().unwrap();
        assert!(!told(&ended).contains("panicked"), "{}", told(&ended));
        if !ended.status.success() {
            failed += 1;
            assert_eq!(ended.status.code(), Some(2), "{}", told(&ended));
            assert!(
                told(&ended).contains("error: cannot write"),
                "{}",
                told(&ended)
            );
            assert!(parts(&here.join(&run)).is_empty(), "{n}");
            let again = again(here, &run);
            said(here, &again, 0);
        }
        assert!(files(&here.join(&run), &RESULTS) == expected, "{n}");
    }
    assert!(failed > 5, "{failed} of 15 failed");
}

/// A limit on the size of files, as a quota has it: `convert` says so and leaves what was there.
#[test]
fn a_file_that_does_not_fit_leaves_the_old_one() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("o.csv"), "old").unwrap();
    let program = env!("CARGO_BIN_EXE_attractor");
    // 2 blocks of 512 bytes; without the signal, writing gives an error.
    let script = format!("trap '' XFSZ; ulimit -f 2; exec '{program}' convert l.csv o.csv");
    let ended = Command::new("sh")
        .current_dir(here)
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(2), "{}", told(&ended));
    assert!(
        told(&ended).contains("error: cannot write"),
        "{}",
        told(&ended)
    );
    assert_eq!(fs::read(here.join("o.csv")).unwrap(), b"old");
    assert!(parts(here).is_empty());
}
