//! Studies on a cluster: a real Slurm on this machine, started and stopped by the test with all of its state in a temporary folder. Where
//! its programs are not installed, or this is not root, one line says that it is skipped.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_attractor");

/// Twelve runs, short but long enough to be disturbed.
const STUDY: &str = "name = \"small\"\nseeds = 12\n[data]\ntrain = \"x.npy\"\ndt = 0.01\n\
    [settings]\nhidden = 20\nwindow = 100\nepochs = 40\nbatches-per-epoch = 20\ncheckpoint-every = 5\n\
    [evaluation]\nfloors = false\n";

struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

fn folder_with_study() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("study.toml"), STUDY).unwrap();
    let made = Command::new(PROGRAM)
        .args([
            "simulate",
            "lorenz63",
            "--steps",
            "2000",
            "--standardize",
            "--out",
        ])
        .arg(folder.path().join("x.npy"))
        .output();
    assert!(made.unwrap().status.success());
    folder
}

/// Whether the programs are there and may be started.
fn can_start() -> bool {
    let there = |program: &str| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output();
        found.is_ok_and(|output| output.status.success())
    };
    let programs = ["slurmctld", "slurmd", "sbatch", "munged"];
    let is_root = fs::metadata("/proc/self")
        .is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0);
    programs.into_iter().all(there) && is_root
}

impl Cluster {
    fn start() -> Option<Cluster> {
        if !can_start() {
            println!(
                "skipped: Slurm (slurmctld slurmd slurm-client munge) is not installed, or this is not root"
            );
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        for name in ["state", "spool", "log", "munge"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        fs::set_permissions(path.join("munge"), Permissions::from_mode(0o711)).unwrap();
        let key: Vec<u8> = (0..128u32).map(|i| (i * 97 + 13) as u8).collect();
        fs::write(path.join("key"), key).unwrap();
        fs::set_permissions(path.join("key"), Permissions::from_mode(0o600)).unwrap();
        fs::write(path.join("slurm.conf"), configuration(path)).unwrap();
        let mut cluster = Cluster {
            folder,
            daemons: Vec::new(),
        };
        cluster.daemon("munged", &["--foreground", "--force"], true);
        cluster.wait_for(|| cluster.folder.path().join("munge/socket").exists());
        cluster.daemon("slurmctld", &["-D"], false);
        let host = host();
        cluster.daemon("slurmd", &["-D", "-N", &host], false);
        cluster.wait_for(|| cluster.said("sinfo", &["-h", "-o", "%T"]).contains("idle"));
        Some(cluster)
    }

    fn daemon(&mut self, program: &str, words: &[&str], is_munge: bool) {
        let path = self.folder.path();
        let mut command = Command::new(program);
        command
            .args(words)
            .env("SLURM_CONF", path.join("slurm.conf"));
        if is_munge {
            let files = ["key-file", "socket", "pid-file", "log-file", "seed-file"];
            let places = [
                "key",
                "munge/socket",
                "munge/pid",
                "munge/log",
                "munge/seed",
            ];
            for (file, place) in files.into_iter().zip(places) {
                command.arg(format!("--{file}={}", path.join(place).display()));
            }
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap());
    }

    fn wait_for(&self, is_there: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_there() {
            assert!(
                begun.elapsed() < Duration::from_secs(240),
                "it does not come: {}",
                self.said("squeue", &[])
            );
            sleep(Duration::from_millis(100));
        }
    }

    fn said(&self, program: &str, words: &[&str]) -> String {
        let conf = self.folder.path().join("slurm.conf");
        let output = Command::new(program)
            .args(words)
            .env("SLURM_CONF", conf)
            .output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    }

    fn sweep(&self, words: &[&str]) -> Output {
        let conf = self.folder.path().join("slurm.conf");
        let mut command = Command::new(PROGRAM);
        command.arg("sweep").args(words).env("SLURM_CONF", conf);
        command.output().unwrap()
    }

    /// Submits the study as an array of three; gives the number of the job.
    fn submit(&self, study: &Path, out: &Path) -> String {
        let words = ["--engine", "slurm", "--jobs", "3", "--restarts", "5"];
        let paths = [study.to_str().unwrap(), "--out", out.to_str().unwrap()];
        let output = self.sweep(&[&paths[..], &words[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let words = said.split("submitted job ").nth(1).unwrap();
        words.split(':').next().unwrap().to_string()
    }

    fn is_over(&self, job: &str) -> bool {
        self.said("squeue", &["-h", "-j", job]).trim().is_empty()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.said("scancel", &["--user", "root"]);
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    name.trim().split('.').next().unwrap().to_string()
}

fn configuration(path: &Path) -> String {
    let (d, h) = (path.display(), host());
    format!(
        "ClusterName=t\nSlurmctldHost={h}(127.0.0.1)\nSlurmUser=root\nSlurmctldPort=16817\nSlurmdPort=16818\n\
         AuthType=auth/munge\nAuthInfo=socket={d}/munge/socket,cred_expire=5\nCredType=cred/munge\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSchedulerType=sched/backfill\n\
         SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0\n\
         MpiDefault=none\nSwitchType=switch/none\nReturnToService=2\nStateSaveLocation={d}/state\n\
         SlurmdSpoolDir={d}/spool\nSlurmctldPidFile={d}/slurmctld.pid\nSlurmdPidFile={d}/slurmd.pid\n\
         SlurmctldLogFile={d}/log/slurmctld.log\nSlurmdLogFile={d}/log/slurmd.log\nPlugStackConfig=/dev/null\n\
         MinJobAge=3600\nKillWait=5\nNodeName={h} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000\n\
         PartitionName=main Nodes={h} Default=YES MaxTime=INFINITE State=UP\n"
    )
}

/// The files of all runs that say what came of them, but for times.
fn results(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for run in fs::read_dir(out.join("small"))
        .or_else(|_| fs::read_dir(out))
        .unwrap()
        .flatten()
    {
        collect(&run.path(), out, &mut files);
    }
    files.sort();
    files
}

fn collect(path: &Path, root: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            collect(&entry.path(), root, files);
        }
    }
    let kept = ["model.safetensors", "history.csv", "scores.json"];
    if path
        .file_name()
        .is_some_and(|name| kept.iter().any(|kept| name == *kept))
    {
        let name = path.strip_prefix(root).unwrap().to_path_buf();
        files.push((name, fs::read(path).unwrap()));
    }
}

fn local(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let out = folder.join("local");
    let ran = Command::new(PROGRAM)
        .arg("sweep")
        .arg(folder.join("study.toml"))
        .arg("--out")
        .arg(&out)
        .arg("--quiet")
        .output();
    assert!(ran.unwrap().status.success());
    let results = results(&out);
    assert_eq!(results.len(), 36);
    results
}

/// What is disturbed on the way, by requeues, by the signal of the time limit and by an end of the node's daemon, has the bytes of a sweep at
/// home.
#[test]
fn a_study_on_slurm_has_the_bytes_of_one_at_home() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let folder = folder_with_study();
    let (study, out) = (folder.path().join("study.toml"), folder.path().join("out"));
    let job = cluster.submit(&study, &out);
    refused_while_queued(&cluster, &job, [&study, &out]);
    let running = |cluster: &Cluster| {
        cluster
            .said("squeue", &["-h", "-r", "-t", "R", "-j", &job])
            .lines()
            .count()
    };
    cluster.wait_for(|| running(&cluster) > 0);
    sleep(Duration::from_secs(1));
    cluster.said("scontrol", &["requeue", &format!("{job}_0")]);
    cluster.said(
        "scancel",
        &["--signal=USR1", "--batch", &format!("{job}_1")],
    );
    sleep(Duration::from_secs(1));
    let status = cluster.sweep(&["--status", out.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(said.contains("of 12 runs done"), "{said}");
    // The node's daemon dies and comes back; its tasks go on.
    let mut daemon = cluster.daemons.pop().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let host = host();
    cluster.daemon("slurmd", &["-D", "-N", &host], false);
    cluster.wait_for(|| cluster.is_over(&job));
    let status = cluster.sweep(&["--status", out.to_str().unwrap(), "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(
        (&status["done"], &status["runs"]),
        (&12.into(), &12.into()),
        "{status:#}"
    );
    assert_eq!(results(&out), local(folder.path()));
    let done = cluster.sweep(&[
        study.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--engine",
        "slurm",
    ]);
    assert!(String::from_utf8_lossy(&done.stderr).contains("all runs of the study are done"));
    refused_partition(&cluster, &study, &folder.path().join("other"));
}

/// The same command is refused while its job is in the queue.
fn refused_while_queued(cluster: &Cluster, job: &str, [study, out]: [&Path; 2]) {
    let words = [study.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let again = cluster.sweep(&[&words[..], &["--engine", "slurm"]].concat());
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("job {job} is still")), "{said}");
    assert!(said.contains("--cancel"), "{said}");
}

/// Slurm's words come first, and nothing is left behind.
fn refused_partition(cluster: &Cluster, study: &Path, out: &Path) {
    let words = [
        study.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--engine",
        "slurm",
        "--slurm",
        "--partition=nowhere",
    ];
    let refused = cluster.sweep(&words);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("invalid partition"), "{said}");
    assert!(fs::read_dir(out.join(".jobs")).map_or(0, Iterator::count) == 0);
}

/// Any other queue takes a script with a share; here a loop of the shell, without Slurm.
#[test]
fn a_command_of_ones_own_runs_the_shares() {
    let folder = folder_with_study();
    let (study, out) = (folder.path().join("study.toml"), folder.path().join("out"));
    let submit = "seq 0 {last} | xargs -P 2 -n 1 {script}";
    let ran = Command::new(PROGRAM)
        .arg("sweep")
        .args([study.to_str().unwrap(), "--out", out.to_str().unwrap()])
        .args(["--engine", "command", "--jobs", "5", "--submit", submit])
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_eq!(results(&out), local(folder.path()));
}

#[test]
fn mistakes_are_told_before_anything_is_submitted() {
    let folder = folder_with_study();
    let (study, out) = (folder.path().join("study.toml"), folder.path().join("out"));
    let run = |words: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command
            .arg("sweep")
            .args([study.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        command
            .args(words)
            .env("PATH", "/nowhere")
            .output()
            .unwrap()
    };
    let missing = run(&["--engine", "slurm"]);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(2));
    assert!(said.contains("`sbatch` is not on the path"), "{said}");
    let shown = run(&[
        "--engine",
        "slurm",
        "--jobs",
        "4",
        "--time",
        "1:00:00",
        "--dry-run",
    ]);
    let script = String::from_utf8_lossy(&shown.stdout).into_owned();
    for line in [
        "#SBATCH --array=0-3\n",
        "#SBATCH --signal=B:USR1@120\n",
        "#SBATCH --time=1:00:00\n",
        "trap : TERM\n",
    ] {
        assert!(script.contains(line), "{line} in {script}");
    }
    assert!(run(&["--share", "3/3"]).status.code() == Some(2));
    assert!(!out.exists());
}
