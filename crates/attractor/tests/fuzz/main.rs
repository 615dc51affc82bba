//! Every parser stands whatever bytes it is given: no panic, and memory in proportion to the input.
//!
//! Inputs are mutations of good files, by a seed, so that a run can be repeated. As a test a few thousand are tried;
//! `cargo xtask fuzz --inputs N` tries more. An input that breaks a parser is kept under `tests/data/found`, and tried
//! again by every later run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

#[path = "../recordings/by_hand.rs"]
mod by_hand;
mod mutate;
#[cfg(feature = "parquet")]
mod parquet;
mod seeds;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use attractor::experiment::{Experiment, ExperimentFile};
use attractor::format::{self, ReadOptions};
use attractor::model_file::Reconstruction;
use attractor::study::{self, Study};
use attractor::watch::request;
use mutate::Dice;
use tempfile::TempDir;

/// A parser, and good inputs for it.
struct Target {
    /// The end of its files' names.
    name: &'static str,
    parse: fn(&Path, &[u8], &ReadOptions),
    seeds: Vec<Vec<u8>>,
}

/// Memory that a run may hold at its peak: what the largest bounded bomb may unfold to, three times over.
const MEMORY: u64 = 1 << 30;

/// Inputs of a run that is only a test.
const FEW: u64 = 12_000;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Reads a file of data, and EDF annotations where it may have some.
fn read(path: &Path, bytes: &[u8], options: &ReadOptions) {
    fs::write(path, bytes).unwrap();
    let _ = format::read(path, options);
    if path.extension().is_some_and(|end| end == "edf") {
        let _ = format::annotations(path);
    }
}

/// Reads a record whose header is the input.
fn read_header(path: &Path, bytes: &[u8], options: &ReadOptions) {
    fs::write(path.with_extension("dat"), seeds::SAMPLES).unwrap();
    read(path, bytes, options);
}

/// Reads a record whose samples are the input.
fn read_samples(path: &Path, bytes: &[u8], options: &ReadOptions) {
    fs::write(path.with_extension("hea"), seeds::HEADER_WITHOUT_SUMS).unwrap();
    read(path, bytes, options);
}

fn read_model(path: &Path, bytes: &[u8], _: &ReadOptions) {
    fs::write(path, bytes).unwrap();
    let _ = Reconstruction::read(path);
}

fn read_experiment(path: &Path, bytes: &[u8], _: &ReadOptions) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(file) = ExperimentFile::parse(&text, path) {
        let _ = Experiment::check(&file.raw);
    }
}

/// Reads a study, whose data are there.
fn read_study(path: &Path, bytes: &[u8], _: &ReadOptions) {
    fs::write(path.with_file_name("a.csv"), "x\n1\n2\n").unwrap();
    fs::write(path, bytes).unwrap();
    let _ = Study::read(path, None);
}

/// Reads a packed study, and unpacks it.
fn read_packed(path: &Path, bytes: &[u8], _: &ReadOptions) {
    fs::write(path, bytes).unwrap();
    let _ = study::index(path);
    let folder = path.with_extension("unpacked");
    let _ = study::unpack(path, &folder);
    // Nothing may be written beside it, whatever the file says.
    let _ = fs::remove_dir_all(&folder);
    let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert!(left <= 1, "{left} files where there was one");
}

/// Understands the head of a request to the watch page: what it accepts has a path without spaces or control characters.
fn read_request(_: &Path, bytes: &[u8], _: &ReadOptions) {
    let end = request::end_of_head(bytes).unwrap_or(bytes.len());
    if let Ok(head) = request::parse(&bytes[..end]) {
        assert!(head.path.starts_with('/') && head.path.bytes().all(|b| b.is_ascii_graphic()));
        assert!(!head.host.contains(['\r', '\n']));
    }
}

fn targets() -> Vec<Target> {
    let target = |name, parse, seeds| Target { name, parse, seeds };
    let mut targets = vec![
        target("csv", read, seeds::csv()),
        target("csv.gz", read, seeds::gzip()),
        target("npy", read, seeds::npy()),
        target("npz", read, seeds::npz()),
        target("edf", read, seeds::edf()),
        target("hea", read_header, vec![seeds::HEADER.to_vec()]),
        target("dat", read_samples, vec![seeds::SAMPLES.to_vec()]),
        target("mat", read, seeds::mat()),
        target("safetensors", read_model, seeds::model()),
        target("toml", read_experiment, seeds::experiment()),
        target("study.toml", read_study, seeds::study()),
        target("jsonl", read_packed, seeds::packed()),
        target("request", read_request, seeds::request()),
    ];
    if cfg!(feature = "hdf5") {
        targets.push(target("h5", read, seeds::kept("h5")));
    }
    #[cfg(feature = "parquet")]
    targets.push(target(
        "parquet",
        read,
        [seeds::kept("parquet"), parquet::tables()].concat(),
    ));
    targets
}

#[test]
fn good_inputs_are_read() {
    let folder = TempDir::new().unwrap();
    let data = ["csv", "csv.gz", "npy", "npz", "edf", "mat", "h5"];
    for target in targets().iter().filter(|t| data.contains(&t.name)) {
        let path = folder.path().join(format!("a.{}", target.name));
        for seed in &target.seeds {
            fs::write(&path, seed).unwrap();
            let read = format::read(&path, &ReadOptions::default());
            assert!(read.is_ok(), "{}: {}", target.name, read.unwrap_err());
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn good_tables_in_every_encoding_are_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.parquet");
    for table in parquet::tables() {
        fs::write(&path, table).unwrap();
        let series = format::read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((series.total_len(), series.missing()), (40, 10));
    }
}

#[test]
fn what_was_found_stays_mended() {
    let folder = TempDir::new().unwrap();
    let targets = targets();
    for file in fs::read_dir(found()).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let fits = |t: &&Target| name.ends_with(&format!(".{}", t.name));
        let target = targets.iter().filter(fits).max_by_key(|t| t.name.len());
        let bytes = fs::read(&file).unwrap();
        for options in options() {
            (target.expect("it is named after its parser").parse)(
                &folder.path().join(&name),
                &bytes,
                &options,
            );
        }
    }
}

#[test]
fn mutations_of_good_inputs_do_no_harm() {
    let inputs = setting("ATTRACTOR_FUZZ_INPUTS").unwrap_or(FEW);
    let seed = setting("ATTRACTOR_FUZZ_SEED").unwrap_or(1);
    let seconds = setting("ATTRACTOR_FUZZ_SECONDS");
    // Panics are reported here, with the input that they came from.
    std::panic::set_hook(Box::new(|_| {}));
    let mut targets = targets();
    if let Ok(name) = std::env::var("ATTRACTOR_FUZZ_PARSER") {
        targets.retain(|target| target.name == name);
        assert!(!targets.is_empty(), "no parser is named {name}");
    }
    let each = inputs.div_ceil(targets.len() as u64);
    // Every parser has the same share of the time as well.
    let limit = seconds.map(|s| Duration::from_secs(s) / targets.len() as u32);
    let tried: Vec<Result<(u64, Duration), PathBuf>> = targets
        .iter()
        .map(|target| try_inputs(target, each, seed, limit))
        .collect();
    let _ = std::panic::take_hook();
    let mut total = 0;
    for (target, tried) in targets.iter().zip(tried) {
        let (count, slowest) =
            tried.unwrap_or_else(|kept| panic!("{} breaks on {}", target.name, kept.display()));
        println!(
            "{:12} {count} inputs, the slowest took {slowest:?}",
            target.name
        );
        total += count;
    }
    println!("{total} inputs without a panic");
    if let Some(peak) = peak_memory() {
        println!("at most {} MiB of memory", peak >> 20);
        assert!(peak < MEMORY, "{peak} bytes of memory");
    }
}

/// Tries mutations; gives back how many and the slowest, or the file of the first that breaks the parser.
fn try_inputs(
    target: &Target,
    inputs: u64,
    seed: u64,
    limit: Option<Duration>,
) -> Result<(u64, Duration), PathBuf> {
    let folder = memory_folder();
    let path = folder.path().join(format!("a.{}", target.name));
    let mut dice = Dice::new(seed ^ target.name.bytes().fold(7, |h, b| h * 31 + u64::from(b)));
    let options = options();
    let mut slowest = Duration::ZERO;
    let started = Instant::now();
    for count in 0..inputs {
        if limit.is_some_and(|limit| count % 256 == 0 && started.elapsed() > limit) {
            return Ok((count, slowest));
        }
        let bytes = mutate::input(&target.seeds, &mut dice);
        let options = &options[dice.below(options.len())];
        let begun = Instant::now();
        let parse = || (target.parse)(&path, &bytes, options);
        if catch_unwind(AssertUnwindSafe(parse)).is_err() {
            let kept = found().join(format!("{seed}-{count}.{}", target.name));
            fs::write(&kept, bytes).unwrap();
            return Err(kept);
        }
        slowest = slowest.max(begun.elapsed());
    }
    Ok((inputs, slowest))
}

/// Ways of reading that take other paths through the code.
fn options() -> Vec<ReadOptions> {
    let with = |change: &dyn Fn(&mut ReadOptions)| {
        let mut options = ReadOptions::default();
        change(&mut options);
        options
    };
    vec![
        ReadOptions::default(),
        with(&|o| o.dt = Some(0.5)),
        with(&|o| o.time = Some("1".parse().unwrap())),
        with(&|o| o.trajectory = Some("2".parse().unwrap())),
        with(&|o| o.channels = vec!["*1".parse().unwrap()]),
        with(&|o| o.array = Some("x".into())),
        with(&|o| o.from = Some("row:2".parse().unwrap())),
        with(&|o| (o.dt, o.rate) = (Some(0.1), Some(2.5))),
    ]
}

/// A folder in memory where the system has one, so that millions of inputs do not wear a disk.
fn memory_folder() -> TempDir {
    TempDir::new_in("/dev/shm").unwrap_or_else(|_| TempDir::new().unwrap())
}

fn found() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/found")
}

/// The most memory that this process has held, where the system says.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}
