//! Studies on a cluster: a real Slurm on this machine, started and stopped by the test with all of its state in a temporary folder. Where
//! its programs are not installed, or this is not root, one line says that it is skipped.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_attractor");

/// Twelve runs of a moment each.
const STUDY: &str = "name = \"small\"\nseeds = 12\n[data]\ntrain = \"x.npy\"\ndt = 0.01\n\
    [settings]\nhidden = 20\nwindow = 100\nepochs = 40\nbatches-per-epoch = 20\ncheckpoint-every = 5\n\
    [evaluation]\nfloors = false\n";

/// Processor time of a run that is long enough to be disturbed; twelve of them in one task reach any warning before the shortest time limit.
const SECONDS: f64 = 4.0;

/// The study with runs of [`SECONDS`] on this machine.
fn longer(folder: &Path) -> String {
    let few = 100.0;
    let train = format!(
        "TIMEFORMAT=%U; time {PROGRAM} train x.npy --preset bare --dt 0.01 --hidden 20 --window 100 --epochs {few} \
         --batches-per-epoch 20 --threads 1 --out timed --quiet"
    );
    let timed = Command::new("bash")
        .current_dir(folder)
        .args(["-c", &train])
        .output();
    let said = String::from_utf8(timed.unwrap().stderr).unwrap();
    let seconds: f64 = said.lines().last().unwrap().parse().unwrap();
    let epochs = (few * SECONDS / seconds).clamp(40.0, 1e5);
    let study = STUDY.replace("epochs = 40", &format!("epochs = {epochs:.0}"));
    study.replace("checkpoint-every = 5", "checkpoint-every = 500")
}

/// The same with its first seeds only, and the results of these.
struct Part<'a> {
    study: PathBuf,
    home: Vec<&'a (PathBuf, Vec<u8>)>,
}

impl<'a> Part<'a> {
    fn of(study: &Path, seeds: usize, home: &'a [(PathBuf, Vec<u8>)]) -> Part<'a> {
        let text = fs::read_to_string(study).unwrap();
        let part = study.with_file_name(format!("first-{seeds}.toml"));
        fs::write(
            &part,
            text.replace("seeds = 12", &format!("seeds = {seeds}")),
        )
        .unwrap();
        let is_of = |(path, _): &&(PathBuf, Vec<u8>)| {
            let seed = |name: &OsStr| name.to_str()?.strip_prefix("seed-")?.parse::<usize>().ok();
            path.iter().find_map(seed).is_some_and(|seed| seed <= seeds)
        };
        let home: Vec<_> = home.iter().filter(is_of).collect();
        assert_eq!(home.len(), 3 * seeds);
        Part { study: part, home }
    }

    fn is_in(&self, out: &Path) -> bool {
        results(out).iter().collect::<Vec<_>>() == self.home
    }
}

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

/// Whether a program is on the path.
fn is_there(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    found.is_ok_and(|output| output.status.success())
}

/// Whether the programs are there and may be started.
fn can_start() -> bool {
    let programs = ["slurmctld", "slurmd", "sbatch", "munged"];
    let is_root = fs::metadata("/proc/self")
        .is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0);
    programs.into_iter().all(is_there) && is_root
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
        for name in ["state", "spool", "log", "munge", "hidden"] {
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
        cluster.start_node("");
        cluster.wait_for(|| cluster.said("sinfo", &["-h", "-o", "%T"]).contains("idle"));
        Some(cluster)
    }

    /// The node's daemon, which sees an empty folder where the submitting machine has [`Cluster::hidden`]; `-b` says that the machine has
    /// started.
    fn start_node(&mut self, flags: &str) {
        let hide = format!("mount -t tmpfs none \"$1\" && exec slurmd -D {flags} -N \"$2\"");
        let (hidden, host) = (self.hidden(), host());
        let words = [
            "-m",
            "sh",
            "-c",
            &hide,
            "sh",
            hidden.to_str().unwrap(),
            &host,
        ];
        self.daemon("unshare", &words, false);
    }

    /// A folder that the node does not see.
    fn hidden(&self) -> PathBuf {
        self.folder.path().join("hidden")
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
                begun.elapsed() < Duration::from_secs(600),
                "it does not come: {}",
                self.said("squeue", &[])
            );
            sleep(Duration::from_millis(100));
        }
    }

    fn called(&self, program: &str, words: &[&str]) -> Output {
        let conf = self.folder.path().join("slurm.conf");
        let mut command = Command::new(program);
        command.args(words).env("SLURM_CONF", conf);
        command.output().unwrap()
    }

    fn said(&self, program: &str, words: &[&str]) -> String {
        String::from_utf8_lossy(&self.called(program, words).stdout).into_owned()
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let conf = self.folder.path().join("slurm.conf");
        let mut command = Command::new(program);
        command.arg("sweep").args(words).env("SLURM_CONF", conf);
        command
    }

    fn sweep(&self, words: &[&str]) -> Output {
        self.command(Path::new(PROGRAM), words).output().unwrap()
    }

    /// Submits a study; gives the number of the job.
    fn submit(&self, [study, out]: [&Path; 2], words: &[&str]) -> String {
        self.submit_by(Path::new(PROGRAM), [study, out], words)
    }

    fn submit_by(&self, program: &Path, [study, out]: [&Path; 2], words: &[&str]) -> String {
        let words = [&asked(study, out)[..], words].concat();
        let output = self.command(program, &words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let words = said.split("submitted job ").nth(1).unwrap();
        words.split(':').next().unwrap().to_string()
    }

    /// What `--status` prints of a folder.
    fn status(&self, out: &Path) -> String {
        let status = self.sweep(&["--status", out.to_str().unwrap()]);
        String::from_utf8_lossy(&status.stdout).into_owned()
    }

    /// The same as a document.
    fn document(&self, out: &Path) -> serde_json::Value {
        let status = self.sweep(&["--status", out.to_str().unwrap(), "--json"]);
        serde_json::from_slice(&status.stdout).unwrap()
    }

    /// How often tasks of a job went back into the queue.
    fn restarts(&self, job: &str) -> u32 {
        let shown = self.said("scontrol", &["show", "job", job]);
        let counts = shown.split("Restarts=").skip(1);
        counts
            .map(|rest| {
                rest.split_whitespace()
                    .next()
                    .unwrap()
                    .parse::<u32>()
                    .unwrap()
            })
            .sum()
    }

    /// Whether the queue answers, and the job is not in it.
    fn is_over(&self, job: &str) -> bool {
        let queue = self.called("squeue", &["-h", "-j", job]);
        queue.status.success() && queue.stdout.trim_ascii().is_empty()
    }
}

/// The words that hand a study to Slurm.
fn asked<'a>(study: &'a Path, out: &'a Path) -> [&'a str; 5] {
    let (study, out) = (study.to_str().unwrap(), out.to_str().unwrap());
    [study, "--out", out, "--engine", "slurm"]
}

/// As an array of three.
const THREE: [&str; 4] = ["--jobs", "3", "--restarts", "5"];

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

/// Two that nobody uses, so that several tests go side by side.
fn free_ports() -> [u16; 2] {
    let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
    [listen(), listen()].map(|listener| listener.local_addr().unwrap().port())
}

fn configuration(path: &Path) -> String {
    let (d, h) = (path.display(), host());
    let [controller, node] = free_ports();
    format!(
        "ClusterName=t\nSlurmctldHost={h}(127.0.0.1)\nSlurmUser=root\nSlurmctldPort={controller}\nSlurmdPort={node}\n\
         AuthType=auth/munge\nAuthInfo=socket={d}/munge/socket,cred_expire=5\nCredType=cred/munge\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSchedulerType=sched/backfill\n\
         SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0\n\
         MpiDefault=none\nSwitchType=switch/none\nReturnToService=2\nStateSaveLocation={d}/state\n\
         SlurmdSpoolDir={d}/spool\nSlurmctldPidFile={d}/slurmctld.pid\nSlurmdPidFile={d}/slurmd.pid\n\
         SlurmctldLogFile={d}/log/slurmctld.log\nSlurmdLogFile={d}/log/slurmd.log\nPlugStackConfig=/dev/null\n\
         MinJobAge=3600\nKillWait=5\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n\
         NodeName={h} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000\n\
         PartitionName=main Nodes={h} Default=YES MaxTime=INFINITE State=UP PriorityTier=1\n\
         PartitionName=urgent Nodes={h} MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=off\n"
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

/// What a sweep at home gives, of so many runs.
fn local(study: &Path, runs: usize) -> Vec<(PathBuf, Vec<u8>)> {
    let out = study.with_extension("local");
    let ran = Command::new(PROGRAM)
        .arg("sweep")
        .arg(study)
        .arg("--out")
        .arg(&out)
        .arg("--quiet")
        .output();
    assert!(ran.unwrap().status.success());
    let results = results(&out);
    assert_eq!(results.len(), 3 * runs);
    results
}

/// What is disturbed on the way, by requeues, by the signal of the time limit, by the limit itself, by preemption, by a cancelled job, by an end
/// of the node's daemon, by a dead node and by a file system without locks, has the bytes of a sweep at home.
#[test]
fn a_study_on_slurm_has_the_bytes_of_one_at_home() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let folder = folder_with_study();
    let here = folder.path();
    let study = here.join("study.toml");
    fs::write(&study, longer(here)).unwrap();
    // It needs a minute and more, and goes on beside the others.
    let limited = Limited::submit(&cluster, &study);
    let out = here.join("out");
    let job = cluster.submit([&study, &out], &THREE);
    refused_while_queued(&cluster, &job, [&study, &out]);
    disturb(&mut cluster, &job, &out);
    cluster.wait_for(|| cluster.is_over(&job));
    let status = cluster.document(&out);
    assert_eq!(
        (&status["done"], &status["runs"]),
        (&12.into(), &12.into()),
        "{status:#}"
    );
    let home = local(&study, 12);
    assert_eq!(results(&out), home);
    let done = cluster.sweep(&asked(&study, &out));
    assert!(String::from_utf8_lossy(&done.stderr).contains("all runs of the study are done"));
    refused_edited(&cluster, &study, &out);
    refused_partition(&cluster, &study, &here.join("other"));
    one_of_two_at_once(&cluster, &study, &here.join("twice"));
    unseen_folder(&cluster, &study);
    replaced_program(&cluster, here);
    restarts_are_bounded(&cluster, &Part::of(&study, 2, &home));
    cancelled(&cluster, &Part::of(&study, 3, &home));
    limited.ends_as_at_home(&cluster, &home);
    preempted(&cluster, &Part::of(&study, 4, &home));
    dead_node(&mut cluster, &Part::of(&study, 2, &home));
    without_locks(&cluster, &Part::of(&study, 6, &home));
}

/// Requeues a task, sends the signal of the time limit to another, and lets the node's daemon die and come back; tasks go on.
fn disturb(cluster: &mut Cluster, job: &str, out: &Path) {
    let requeued = running(cluster, job);
    sleep(Duration::from_secs(1));
    cluster.said("scontrol", &["requeue", &requeued]);
    // A task that waits would hear it later, again and again.
    let warned = running(cluster, job);
    sleep(Duration::from_secs(1));
    cluster.said("scancel", &["--signal=USR1", "--batch", &warned]);
    sleep(Duration::from_secs(1));
    let said = cluster.status(out);
    assert!(said.contains("of 12 runs done"), "{said}");
    let mut daemon = cluster.daemons.pop().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    cluster.start_node("");
}

/// A task that runs, once there is one.
fn running(cluster: &Cluster, job: &str) -> String {
    let tasks = || cluster.said("squeue", &["-h", "-r", "-t", "R", "-o", "%i", "-j", job]);
    cluster.wait_for(|| !tasks().trim().is_empty());
    tasks()
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .to_string()
}

/// All runs in one task with the shortest limit that Slurm has, a minute; its warning comes up to half a minute early or late.
struct Limited {
    out: PathBuf,
    job: String,
}

impl Limited {
    fn submit(cluster: &Cluster, study: &Path) -> Limited {
        let out = study.with_file_name("limited");
        let words = ["--jobs", "1", "--time", "1", "--signal-before", "50"];
        let job = cluster.submit([study, &out], &words);
        Limited { out, job }
    }

    fn ends_as_at_home(&self, cluster: &Cluster, home: &[(PathBuf, Vec<u8>)]) {
        cluster.wait_for(|| cluster.is_over(&self.job));
        let log = fs::read_to_string(self.out.join(".jobs/1/share-0.log")).unwrap();
        assert!(log.contains("the time limit is near"), "{log}");
        assert!(cluster.restarts(&self.job) > 0, "{log}");
        assert_eq!(results(&self.out), home);
    }
}

/// A task puts itself back into the queue as often as it may, and then no more; the same command goes on, and waits for the end.
fn restarts_are_bounded(cluster: &Cluster, part: &Part<'_>) {
    let out = part.study.with_file_name("bounded");
    let job = cluster.submit([&part.study, &out], &["--jobs", "1", "--restarts", "1"]);
    let mut last = None;
    for _ in 0..2 {
        cluster.wait_for(|| process(cluster, &out).is_some_and(|now| Some(now) != last));
        last = process(cluster, &out);
        let task = format!("{job}_0");
        cluster.said("scancel", &["--signal=USR1", "--batch", &task]);
    }
    cluster.wait_for(|| cluster.is_over(&job));
    assert_eq!(cluster.restarts(&job), 1);
    assert!(cluster.status(&out).contains("begun"));
    assert!(!part.is_in(&out));
    continued(cluster, part, &out);
}

/// A cancelled job stores its runs.
fn cancelled(cluster: &Cluster, part: &Part<'_>) {
    let out = part.study.with_file_name("cancelled");
    let job = cluster.submit([&part.study, &out], &THREE);
    cluster.wait_for(|| process(cluster, &out).is_some());
    let told = cluster.sweep(&["--cancel", out.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(said.contains(&format!("cancelled job {job}")), "{said}");
    cluster.wait_for(|| cluster.is_over(&job));
    assert!(!part.is_in(&out));
    continued(cluster, part, &out);
}

/// The same command, which waits, does what is left.
fn continued(cluster: &Cluster, part: &Part<'_>, out: &Path) {
    let again = [&asked(&part.study, out)[..], &["--jobs", "2", "--wait"]].concat();
    let ended = cluster.sweep(&again);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert_eq!(submissions(out), 2);
    assert!(part.is_in(out), "{said}");
}

/// A job of a partition that comes first takes the processors away for a while.
fn preempted(cluster: &Cluster, part: &Part<'_>) {
    let out = part.study.with_file_name("preempted");
    let job = cluster.submit([&part.study, &out], &["--jobs", "2"]);
    cluster.wait_for(|| process(cluster, &out).is_some());
    let log = format!("--output={}", out.with_extension("log").display());
    let urgent = [
        "--partition=urgent",
        "--cpus-per-task=2",
        &log,
        "--wrap=sleep 1",
    ];
    cluster.said("sbatch", &urgent);
    cluster.wait_for(|| cluster.is_over(&job));
    assert!(cluster.restarts(&job) > 0);
    assert!(part.is_in(&out));
}

/// The node dies with all that runs on it, and comes back.
fn dead_node(cluster: &mut Cluster, part: &Part<'_>) {
    let out = part.study.with_file_name("dead");
    let job = cluster.submit([&part.study, &out], &["--jobs", "1"]);
    cluster.wait_for(|| process(cluster, &out).is_some());
    let program = process(cluster, &out).unwrap();
    let script = parent(program);
    let mut daemon = cluster.daemons.pop().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    for dead in [parent(script), script, program] {
        let mut kill = Command::new("kill");
        kill.args(["-s", "KILL", &dead.to_string()]);
        assert!(kill.status().unwrap().success());
    }
    // Of a node that came back Slurm misses only jobs that began a quarter of a minute and more before that.
    sleep(Duration::from_secs(30));
    cluster.start_node("-b");
    cluster.wait_for(|| cluster.is_over(&job));
    assert!(cluster.restarts(&job) > 0);
    assert!(part.is_in(&out));
}

/// The process that the first run under way reported last.
fn process(cluster: &Cluster, out: &Path) -> Option<u64> {
    cluster.document(out)["begun"][0]["progress"]["process"].as_u64()
}

/// The process that began another.
fn parent(process: u64) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    line.unwrap().trim().parse().unwrap()
}

/// Tasks whose file locks all fail share a folder by claims, and help one another.
fn without_locks(cluster: &Cluster, part: &Part<'_>) {
    let library = part.study.with_file_name("flock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/flock.c");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).arg(&library);
    if !compile
        .arg(source)
        .output()
        .is_ok_and(|made| made.status.success())
    {
        return println!("skipped: no C compiler `cc` to take file locks away with");
    }
    let out = part.study.with_file_name("unlocked");
    let setup = format!("export LD_PRELOAD={}", library.display());
    let words = [&THREE[..], &["--setup", &setup]].concat();
    let job = cluster.submit([&part.study, &out], &words);
    cluster.wait_for(|| cluster.is_over(&job));
    assert!(part.is_in(&out));
}

/// Of two that submit the same at once, one is refused.
fn one_of_two_at_once(cluster: &Cluster, study: &Path, out: &Path) {
    let program = Path::new(PROGRAM);
    let both = [(); 2].map(|()| {
        let mut command = cluster.command(program, &asked(study, out));
        command.stderr(Stdio::piped()).spawn().unwrap()
    });
    let both = both.map(|child| child.wait_with_output().unwrap());
    let said = both.each_ref().map(|output| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    });
    let refused: Vec<_> = said.iter().filter(|(code, _)| *code == Some(2)).collect();
    assert_eq!(refused.len(), 1, "{said:?}");
    let why = &refused[0].1;
    assert!(
        why.contains("another process is submitting") || why.contains("is still"),
        "{why}"
    );
    assert!(
        cluster
            .sweep(&["--cancel", out.to_str().unwrap()])
            .status
            .success()
    );
}

/// A study that does not fit its runs any more is not submitted.
fn refused_edited(cluster: &Cluster, study: &Path, out: &Path) {
    let edited = study.with_file_name("edited.toml");
    let text = fs::read_to_string(study).unwrap();
    fs::write(&edited, text.replace("hidden = 20", "hidden = 21")).unwrap();
    let refused = cluster.sweep(&asked(&edited, out));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("hidden"), "{said}");
    assert_eq!(submissions(out), 1);
}

/// Where the nodes do not see the folder nothing runs, and the status says why.
fn unseen_folder(cluster: &Cluster, study: &Path) {
    let out = cluster.hidden().join("out");
    let job = cluster.submit([study, &out], &THREE);
    cluster.wait_for(|| cluster.is_over(&job));
    let said = cluster.status(&out);
    assert!(said.contains("0 of 12 runs done"), "{said}");
    assert!(said.contains("do the nodes see this folder?"), "{said}");
}

/// A program that is another one when its job begins runs nothing.
fn replaced_program(cluster: &Cluster, folder: &Path) {
    let (program, other) = (folder.join("attractor"), folder.join("other-attractor"));
    fs::copy(PROGRAM, &program).unwrap();
    fs::copy(PROGRAM, &other).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&other).unwrap();
    std::io::Write::write_all(&mut file, b"another").unwrap();
    drop(file);
    let out = folder.join("replaced");
    let words = ["--slurm", "--hold"];
    let job = cluster.submit_by(&program, [&folder.join("study.toml"), &out], &words);
    fs::rename(&other, &program).unwrap();
    let said = cluster.status(&out);
    assert!(said.contains("the program was replaced since"), "{said}");
    for held in cluster.said("squeue", &["-h", "-o", "%A"]).lines() {
        cluster.said("scontrol", &["release", held.trim()]);
    }
    cluster.wait_for(|| cluster.is_over(&job));
    let log = || fs::read_to_string(out.join(".jobs/1/levels.log")).unwrap_or_default();
    // It may be written a moment after the queue is left.
    cluster.wait_for(|| !log().trim().is_empty());
    assert!(
        log().contains("the program was replaced since"),
        "{}",
        log()
    );
    let said = cluster.status(&out);
    assert!(said.contains("0 of 12 runs done"), "{said}");
}

/// How often a study was submitted: a numbered folder each.
fn submissions(out: &Path) -> usize {
    let entries = fs::read_dir(out.join(".jobs")).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    let is_number = |name: &std::ffi::OsString| {
        name.to_str()
            .is_some_and(|name| name.parse::<u32>().is_ok())
    };
    names.filter(is_number).count()
}

/// The same command is refused while its job is in the queue.
fn refused_while_queued(cluster: &Cluster, job: &str, [study, out]: [&Path; 2]) {
    let again = cluster.sweep(&asked(study, out));
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("job {job} is still")), "{said}");
    assert!(said.contains("--cancel"), "{said}");
}

/// Slurm's words come first, and nothing is left behind.
fn refused_partition(cluster: &Cluster, study: &Path, out: &Path) {
    let words = [&asked(study, out)[..], &["--slurm", "--partition=nowhere"]].concat();
    let refused = cluster.sweep(&words);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("invalid partition"), "{said}");
    assert!(!out.exists());
}

/// Any other queue takes a script with a share; here GNU parallel, or else a loop of the shell.
#[test]
fn a_command_of_ones_own_runs_the_shares() {
    let folder = folder_with_study();
    let (study, out) = (folder.path().join("study.toml"), folder.path().join("out"));
    let submit = if is_there("parallel") {
        "seq 0 {last} | parallel -j 2 {script}"
    } else {
        println!("skipped: GNU parallel is not installed; xargs takes its place");
        "seq 0 {last} | xargs -P 2 -n 1 {script}"
    };
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
    assert_eq!(results(&out), local(&study, 12));
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
    let short = run(&["--engine", "slurm", "--time", "2"]);
    let said = String::from_utf8_lossy(&short.stderr).into_owned();
    assert_eq!(short.status.code(), Some(2));
    assert!(
        said.contains("the warning comes 120 s before the time limit, which is 120 s"),
        "{said}"
    );
    assert!(said.contains("--signal-before"), "{said}");
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
    let replaced = run(&["--submitted", "0123456789abcdef"]);
    let said = String::from_utf8_lossy(&replaced.stderr).into_owned();
    assert!(said.contains("the program was replaced since"), "{said}");
    assert!(!out.exists());
}

/// A folder in the memory of the submitting machine is refused where there are other nodes, before anything is submitted. The programs of Slurm
/// are made up here.
#[test]
fn a_folder_that_other_nodes_cannot_see_is_refused() {
    let memory = Path::new("/dev/shm");
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    if !mounts.contains(" /dev/shm tmpfs ") {
        return println!("skipped: /dev/shm is not in memory");
    }
    let (folder, out) = (folder_with_study(), tempfile::tempdir_in(memory).unwrap());
    let (bin, called) = (folder.path().join("bin"), folder.path().join("called"));
    fs::create_dir(&bin).unwrap();
    let make = |name: &str, script: String| {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    };
    make("sinfo", "echo node17".to_string());
    make("sbatch", format!("touch {}; echo 1", called.display()));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let out = out.path().join("out");
    let study = folder.path().join("study.toml");
    let mut command = Command::new(PROGRAM);
    command
        .arg("sweep")
        .args(asked(&study, &out))
        .env("PATH", path);
    let refused = command.output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("node node17 does not see this folder"),
        "{said}"
    );
    assert!(!out.exists() && !called.exists());
}
