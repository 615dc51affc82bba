//! Two sweeps in one folder, on a file system whose locks fail.

use std::fs;
use std::process::Stdio;

use super::common::{command, said};
use super::{RESULTS, files, folder, library, parts};

const STUDY: &str = "\
name = 'shared'
seeds = 4

[data]
train = 'l.csv'

[settings]
epochs = 30
batches-per-epoch = 4
hidden = 8
window = 20
checkpoint-every = 1

[grid]
alpha = [0.1, 0.3]

[evaluation]
starts = 1
floors = false
";

#[test]
fn two_sweeps_without_locks_share_a_folder() {
    let folder = folder();
    let here = folder.path();
    let Some(library) = library(here, "flock.c") else {
        return;
    };
    fs::write(here.join("s.toml"), STUDY).unwrap();
    said(here, "sweep s.toml --out alone --quiet", 0);
    for round in 0..2 {
        let sweep = format!("sweep s.toml --out both{round} --workers 2");
        let both: Vec<_> = (0..2)
            .map(|_| {
                let mut sweep = command(here, &sweep);
                sweep.env("LD_PRELOAD", &library);
                sweep.stdout(Stdio::piped()).stderr(Stdio::piped());
                sweep.spawn().unwrap()
            })
            .collect();
        for sweep in both {
            let output = sweep.wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{told}");
        }
        let shared = here.join(format!("both{round}"));
        assert!(files(&shared, &RESULTS) == files(&here.join("alone"), &RESULTS));
        assert!(files(&shared, &[".claim"]).is_empty() && parts(&shared).is_empty());
    }
}

/// A run that was killed is free at once where its machine knows that the process is gone.
#[test]
fn a_run_that_was_killed_without_locks_is_resumed() {
    let folder = folder();
    let here = folder.path();
    let Some(library) = library(here, "flock.c") else {
        return;
    };
    let train = super::TRAIN.replace("--epochs 6", "--epochs 1000000");
    let mut begun = command(here, &format!("{train} --out r"));
    let mut child = begun.env("LD_PRELOAD", &library).spawn().unwrap();
    super::common::wait_for(&here.join("r/checkpoint.safetensors"), &mut child);
    let refused = command(here, "resume r")
        .env("LD_PRELOAD", &library)
        .output()
        .unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("another process is training this run"),
        "{told}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(here.join("r/.claim").exists());
    let mut resumed = command(here, "resume r")
        .env("LD_PRELOAD", &library)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It goes on, which nothing but the next signal ends.
    std::thread::sleep(std::time::Duration::from_millis(300));
    super::common::signal(&resumed, "INT");
    assert_eq!(resumed.wait().unwrap().code(), Some(130));
    assert!(!here.join("r/.claim").exists());
}
