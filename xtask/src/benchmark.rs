//! `cargo xtask benchmark [--quick] [--only WORD,…] [--program FILE] [--table]`: how good the models of all methods are, of systems that nobody tuned on, at the
//! same core-seconds.
//!
//! `experiments/benchmark/benchmark.toml` says which; every score is a line of `scores.jsonl` beside it as soon as it is there, so that what was
//! stopped continues, and `table.md` and a picture for the pages are made of these lines. `--table` makes it alone; `--program` names another `attractor` than that which
//! cargo builds; `--only` takes systems and methods by name, and `tuned-on` or `judged-on` for half of the systems.

mod figure;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode};
use std::time::Instant;

use serde_json::{Value, json};
use toml::Table;

use crate::command::{self, quietly, root, target};

/// Runs what has not been run, and makes the table.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let has = |word: &str| words.iter().any(|given| given == word);
    let behind = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1);
    let only: Vec<&str> = behind("--only").map_or(Vec::new(), |list| list.split(',').collect());
    let done = match behind("--program") {
        _ if has("--table") => Ok(()),
        Some(program) => all(Path::new(program), has("--quick"), &only),
        None => built().and_then(|program| all(&program, has("--quick"), &only)),
    };
    let done = done.and_then(|()| write_table());
    if let Err(error) = &done {
        println!("error: {error}");
    }
    command::exit_code(done.is_ok())
}

/// The folder of the benchmark.
fn folder() -> PathBuf {
    root().join("experiments/benchmark")
}

/// The release build of the command.
fn built() -> Result<PathBuf, String> {
    let mut cargo = command::cargo(["build", "--release", "--package", "attractor-cli"]);
    if command::succeeds(&mut cargo) {
        Ok(target().join("release/attractor"))
    } else {
        Err("the command was not built".to_string())
    }
}

/// One training, or race, on one recording.
#[derive(Debug, Clone, PartialEq)]
struct Job {
    system: String,
    is_tuned_on: bool,
    rows: u64,
    noise: f64,
    seed: u64,
    method: String,
    core_seconds: u64,
    test_rows: u64,
}

impl Job {
    /// What tells it from others.
    fn key(&self) -> String {
        format!(
            "{} {} {} {} {} {}",
            self.system, self.rows, self.noise, self.seed, self.method, self.core_seconds
        )
    }

    /// The words that `--only` knows it by, of its system and of its method.
    fn words(&self) -> [[&str; 2]; 2] {
        let half = if self.is_tuned_on {
            "tuned-on"
        } else {
            "judged-on"
        };
        [[&self.system, half], [&self.method, &self.method]]
    }

    /// Whether a list of words, none of which is all, asks for it: by its system where the list has systems, and by its method likewise.
    fn is_of(&self, only: &[&str], all: &[Job]) -> bool {
        let is_named = |part: usize| {
            let knows = |job: &Job| job.words()[part].iter().any(|word| only.contains(word));
            knows(self) || !all.iter().any(knows)
        };
        is_named(0) && is_named(1)
    }
}

/// All jobs of the file, those of the first seed first, and of these systems that were not tuned on.
fn jobs(file: &Table, is_quick: bool) -> Vec<Job> {
    let quick = file.get("quick").and_then(toml::Value::as_table);
    let quick = quick.filter(|_| is_quick);
    let value = |name: &str| quick.and_then(|q| q.get(name)).or_else(|| file.get(name));
    let list = |name: &str| {
        let values = value(name).and_then(toml::Value::as_array);
        values.cloned().unwrap_or_default()
    };
    let whole = |name: &str| value(name).and_then(toml::Value::as_integer).unwrap_or(0) as u64;
    let words = |name: &str| -> Vec<String> {
        let values = list(name).into_iter();
        values
            .filter_map(|v| v.as_str().map(String::from))
            .collect()
    };
    let wholes = |name: &str| -> Vec<u64> {
        let values = list(name).into_iter();
        values
            .filter_map(|v| v.as_integer().map(|v| v as u64))
            .collect()
    };
    let noises: Vec<f64> = list("noise")
        .iter()
        .filter_map(toml::Value::as_float)
        .collect();
    let systems = words("judged-on").into_iter().map(|name| (name, false));
    let systems = systems.chain(words("tuned-on").into_iter().map(|name| (name, true)));
    let mut jobs = Vec::new();
    let systems: Vec<(String, bool)> = systems.collect();
    for &seed in &wholes("seeds") {
        for (system, is_tuned_on) in &systems {
            for &rows in &wholes("rows") {
                for &noise in &noises {
                    for method in words("methods") {
                        let is_race = method == "all" || method == "piecewise";
                        let budget = if is_race {
                            "core-seconds-of-all"
                        } else {
                            "core-seconds"
                        };
                        jobs.push(Job {
                            system: system.clone(),
                            is_tuned_on: *is_tuned_on,
                            rows,
                            noise,
                            seed,
                            core_seconds: whole(budget),
                            test_rows: whole("test-rows"),
                            method,
                        });
                    }
                }
            }
        }
    }
    jobs
}

/// The lines of the scores.
fn scores() -> Vec<Value> {
    let text = fs::read_to_string(folder().join("scores.jsonl")).unwrap_or_default();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

fn all(program: &Path, is_quick: bool, only: &[&str]) -> Result<(), String> {
    let text = fs::read_to_string(folder().join("benchmark.toml")).map_err(in_words)?;
    let file: Table = text
        .parse()
        .map_err(|error| format!("benchmark.toml: {error}"))?;
    let known: Vec<String> = scores()
        .iter()
        .filter_map(|line| line["key"].as_str().map(String::from))
        .collect();
    let work = target().join(format!("benchmark-{}", process::id()));
    let jobs = jobs(&file, is_quick);
    for job in &jobs {
        if known.contains(&job.key()) || !job.is_of(only, &jobs) {
            continue;
        }
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).map_err(in_words)?;
        let line = scored(program, job, &work);
        println!("{line}");
        append(&line).map_err(in_words)?;
    }
    let _ = fs::remove_dir_all(&work);
    Ok(())
}

fn in_words(error: io::Error) -> String {
    error.to_string()
}

fn append(line: &Value) -> io::Result<()> {
    use io::Write;
    let path = folder().join("scores.jsonl");
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{line}")
}

/// Learns and judges one; what fails says why.
fn scored(program: &Path, job: &Job, work: &Path) -> Value {
    let mut line = json!({
        "key": job.key(),
        "system": job.system,
        "tuned_on": job.is_tuned_on,
        "rows": job.rows,
        "noise": job.noise,
        "seed": job.seed,
        "method": job.method,
        "core_seconds": job.core_seconds,
    });
    let begun = Instant::now();
    match judged(program, job, work) {
        Ok(found) => {
            for id in ["d_stsp", "d_h", "pe", "vpt"] {
                line[id] = found[id]["value"].clone();
                line[format!("{id}_floor")] = found[id]["floor"].clone();
                line[format!("{id}_median")] = found[id]["median"].clone();
            }
            line["word"] = found["verdict"]["word"].clone();
            line["model"] = found["model"].clone();
            line["exponent"] = found["lyapunov"]["value"].clone();
            line["exponent_of_system"] = found["lyapunov"]["system"].clone();
        }
        Err(why) => {
            line["word"] = json!("none");
            line["why"] = json!(why);
        }
    }
    line["seconds"] = json!(begun.elapsed().as_secs_f64().round());
    line
}

/// Rows before those that are used: ways to an attractor are other than the attractor.
const TRANSIENT: u64 = 10_000;

/// The evaluation of the model that is learned.
fn judged(program: &Path, job: &Job, work: &Path) -> Result<Value, String> {
    let attractor = |arguments: &str| {
        let mut command = Command::new(program);
        command.current_dir(work).args(arguments.split_whitespace());
        quietly(&mut command)
    };
    let Job {
        system,
        rows,
        noise,
        seed,
        test_rows,
        ..
    } = job;
    attractor(&format!(
        "simulate {system} --steps {rows} --transient {TRANSIENT} --noise {noise} --seed {seed} --out train.csv"
    ))?;
    attractor(&format!(
        "simulate {system} --steps {test_rows} --transient {TRANSIENT} --seed {} --out test.csv",
        1000 + seed
    ))?;
    let methods = match job.method.as_str() {
        "all" => String::new(),
        "piecewise" => "--goal anatomy".to_string(),
        method => format!("--methods {method}"),
    };
    let minutes = job.core_seconds as f64 / 60.0;
    let learned = attractor(&format!(
        "learn train.csv {methods} --minutes {minutes} --seed {seed} --workers 1 --no-report --json --out race"
    ))?;
    let learned: Value = serde_json::from_str(&learned).map_err(|error| error.to_string())?;
    let run = learned["run"].as_str().unwrap_or_default();
    let evaluated = attractor(&format!(
        "evaluate {run} --data test.csv --system {system} --json"
    ))?;
    serde_json::from_str(&evaluated).map_err(|error| error.to_string())
}

/// What a group of lines is about: whether the systems were tuned on, rows, noise, core-seconds, method.
type Group = (bool, u64, String, String);

/// Makes the table of the lines that there are.
fn write_table() -> Result<(), String> {
    let lines = scores();
    let mut groups: BTreeMap<Group, Vec<&Value>> = BTreeMap::new();
    for line in &lines {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_string();
        let group = (
            line["tuned_on"] == true,
            line["rows"].as_u64().unwrap_or(0),
            line["noise"].to_string(),
            format!("{} ({} s)", text("method"), line["core_seconds"]),
        );
        groups.entry(group).or_default().push(line);
    }
    let mut page = String::from(HEAD);
    for (group, lines) in &groups {
        let _ = writeln!(page, "{}", row(group, lines, &groups));
    }
    fs::write(folder().join("table.md"), page).map_err(in_words)?;
    let is_shown =
        |line: &&Value| line["tuned_on"] == false && line["rows"] == 10_000 && line["noise"] == 0.0;
    let shown: Vec<&Value> = lines.iter().filter(is_shown).collect();
    match figure::draw(&shown) {
        Some(figure) => {
            fs::write(root().join("docs/pictures/benchmark.svg"), figure).map_err(in_words)
        }
        None => Ok(()),
    }
}

/// A row of the table.
fn row(
    (is_tuned_on, rows, noise, method): &Group,
    lines: &[&Value],
    groups: &BTreeMap<Group, Vec<&Value>>,
) -> String {
    let half = if *is_tuned_on {
        "tuned on"
    } else {
        "judged on"
    };
    let share = |words: &[&str]| {
        let is_one = |line: &&&Value| words.iter().any(|word| line["word"] == **word);
        lines.iter().filter(is_one).count()
    };
    let of_peers = |value: Number, best: Best| {
        let ratios = lines
            .iter()
            .filter_map(|line| against_peers(line, &scores_of(groups, line), (value, best)));
        median(ratios.collect())
    };
    let exponents = lines.iter().filter_map(|line| {
        let (found, truth) = (
            line["exponent"].as_f64()?,
            line["exponent_of_system"].as_f64()?,
        );
        (truth > 0.0).then_some(100.0 * (found / truth - 1.0).abs())
    });
    format!(
        "| {half} | {rows} | {noise} | {method} | {} | {} | {} | {} | {} | {} | {} | {} |",
        lines.len(),
        share(&["good"]),
        share(&["partly", "cannot tell"]),
        share(&["not a reconstruction", "none"]),
        of_peers(d_stsp, f64::min),
        of_peers(above_floor, f64::min),
        of_peers(valid_steps, f64::max),
        median(exponents.collect()),
    )
}

const HEAD: &str = "\
# Models of recordings that nobody tuned on

Made by `cargo xtask benchmark` of the scores beside it; `benchmark.toml` says what is run. Only what stands here was run.

*Lost* are models that are not a reconstruction, and methods that give no model. The last four columns are medians: D_stsp (itself the median over eight orbits)
and the valid prediction time, each divided by the best of reservoir, nvar and SINDy on the same recording, and by how many per cent the largest exponent is off. *From the floor* counts D_stsp
below its floor, where differences say nothing, as the floor.

| systems | rows | noise | method (core-seconds) | runs | good | partly | lost | D_stsp, of the best peer's | the same from the floor | valid steps, of the best peer's | exponent off by % |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// The lines of the same recording.
fn scores_of<'a>(groups: &BTreeMap<Group, Vec<&'a Value>>, line: &Value) -> Vec<&'a Value> {
    let same = |other: &&&Value| {
        ["system", "rows", "noise", "seed"]
            .iter()
            .all(|name| other[name] == line[name])
    };
    groups.values().flatten().filter(same).copied().collect()
}

/// A number of a line, if it has one; and which of two is the better.
type Number = fn(&Value) -> Option<f64>;
type Best = fn(f64, f64) -> f64;

fn d_stsp(line: &Value) -> Option<f64> {
    line["d_stsp_median"].as_f64()
}

fn above_floor(line: &Value) -> Option<f64> {
    Some(d_stsp(line)?.max(line["d_stsp_floor"].as_f64()?))
}

fn valid_steps(line: &Value) -> Option<f64> {
    line["vpt"].as_f64()
}

/// A score divided by the best of the peers on the same recording; a lost model is infinitely far, or forecasts nothing.
fn against_peers(line: &Value, same: &[&Value], (value, best): (Number, Best)) -> Option<f64> {
    let is_peer = |other: &&&Value| {
        ["reservoir", "nvar", "sindy"]
            .iter()
            .any(|name| other["method"] == *name)
    };
    let peers = same.iter().filter(is_peer);
    let best_of_peers = peers.filter_map(|other| value(other)).reduce(best)?;
    let lost = if best(0.0, 1.0) == 0.0 {
        f64::INFINITY
    } else {
        0.0
    };
    Some(value(line).unwrap_or(lost) / best_of_peers)
}

/// The median in three digits; a dash of none.
fn median(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    match values.get(values.len() / 2) {
        None => "–".to_string(),
        Some(v) if v.is_infinite() => "∞".to_string(),
        Some(v) if v.abs() >= 100.0 => format!("{v:.0}"),
        Some(v) => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_share_no_system_and_quick_takes_some() {
        let text = fs::read_to_string(folder().join("benchmark.toml")).unwrap();
        let file: Table = text.parse().unwrap();
        let (whole, quick) = (jobs(&file, false), jobs(&file, true));
        let names = |is_tuned_on: bool| -> Vec<&String> {
            let of = whole.iter().filter(|job| job.is_tuned_on == is_tuned_on);
            let mut names: Vec<&String> = of.map(|job| &job.system).collect();
            names.sort();
            names.dedup();
            names
        };
        let (tuned, judged) = (names(true), names(false));
        assert_eq!((tuned.len(), judged.len()), (12, 12));
        assert!(tuned.iter().all(|name| !judged.contains(name)));
        assert_eq!(whole.len(), 24 * 3 * 2 * 3 * 13);
        assert_eq!(quick.len(), 24 * 3 * 5);
        assert!(quick.iter().all(|job| job.core_seconds <= 120));
    }

    #[test]
    fn a_score_is_measured_by_the_best_peer() {
        let line = |method: &str, d: Option<f64>, vpt: f64| json!({ "method": method, "d_stsp_median": d, "d_stsp_floor": 0.4, "vpt": vpt });
        let all = [
            line("all", Some(0.5), 30.0),
            line("nvar", Some(0.25), 10.0),
            line("sindy", None, 40.0),
        ];
        let all: Vec<&Value> = all.iter().collect();
        let by_d = |line| against_peers(line, &all, (d_stsp, f64::min));
        assert_eq!(
            (by_d(all[0]), by_d(all[2])),
            (Some(2.0), Some(f64::INFINITY))
        );
        let from_floor = against_peers(all[0], &all, (above_floor, f64::min));
        assert_eq!(from_floor, Some(0.5 / 0.4));
        let by_time = against_peers(all[0], &all, (valid_steps, f64::max));
        assert_eq!(by_time, Some(0.75));
        assert_eq!(against_peers(all[0], &all[..1], (d_stsp, f64::min)), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), "2.00");
        assert_eq!(median(vec![]), "–");
    }
}
