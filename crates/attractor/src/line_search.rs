//! How well models are reconstructed by the strength of forcing:  measures against α = 0, 0.05, …, 1 over several seeds
//! (Hess et al. 2023, Fig. S3), and where adaptive forcing lands on that curve.
//!
//! Every training is a run in a folder of its own, on one core; several run side by side. What has ended is not trained
//! again and what was interrupted is continued, so that the same search in the same folder goes on where it was.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use attractor_core::measure::Rows;
use attractor_core::measure::evaluate::{Plan, Reference};
use attractor_core::measure::summary::{Summary, median, summaries};
use attractor_core::series::Series;
use attractor_core::train::Watch;

use crate::experiment::{DataSource, Experiment, ExperimentError, Origin, Raw};
use crate::generate::GenerateError;
use crate::run::{EndedRun, RunFolder, Task};
use crate::{Error, store};

/// What is searched.
pub struct LineSearch<'a> {
    /// Settings of all trainings; those that are [scanned](SCANNED) are refused.
    pub settings: Raw,
    /// Where the recording is.
    pub data: DataSource,
    /// The recording.
    pub recording: &'a Series,
    /// What models are judged by; the recording if there is nothing else.
    pub test: Option<&'a Series>,
    /// Strengths.
    pub alphas: Vec<f64>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Trainings side by side.
    pub workers: usize,
    /// Where the runs go.
    pub folder: PathBuf,
}

/// The forcing of a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tried {
    /// This strength.
    Constant(f64),
    /// Adaptive.
    Adaptive,
}

/// One training that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Its forcing.
    pub tried: Tried,
    /// Its seed.
    pub seed: u64,
    /// How it ended, in one word.
    pub outcome: String,
    /// Strength of forcing at its end.
    pub alpha: f64,
    /// D_stsp, D_H and PE(20); NaN where one has no value.
    pub scores: [f64; 3],
}

/// All trainings with one forcing.
#[derive(Debug, Clone)]
pub struct Group {
    /// The forcing.
    pub tried: Tried,
    /// Trainings with it.
    pub runs: usize,
    /// The median strength at the end.
    pub alpha: f64,
    /// D_stsp, D_H and PE(20), each over the seeds that have it: an orbit that collapses to a point has a D_stsp, but
    /// no D_H.
    pub scores: [Summary; 3],
}

/// Names of the scores.
pub const SCORES: [&str; 3] = ["d_stsp", "d_h", "pe"];

/// Settings that a search has values of its own for.
pub const SCANNED: [&str; 4] = ["forcing", "alpha", "seed", "threads"];

/// Why nothing is searched.
#[derive(Debug, thiserror::Error)]
pub enum LineSearchError {
    /// A setting that the search itself sets.
    #[error(
        "a line search sets `{name}` itself{origin}: it scans alpha from 0 to 1 and adaptive forcing, for every seed, on one thread each"
    )]
    Scanned {
        /// The setting.
        name: String,
        /// Where it was written.
        origin: Origin,
    },
    /// The folder is that of one training.
    #[error("the folder holds a run, not a line search: {}", path.display())]
    IsRun {
        /// The folder.
        path: PathBuf,
    },
}

impl LineSearchError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            LineSearchError::Scanned { .. } => {
                "leave it out; `--step`, `--seeds` and `--workers` say what is scanned, `attractor train` takes it".into()
            }
            LineSearchError::IsRun { .. } => "name another folder with `--out`".into(),
        }
    }
}

impl LineSearch<'_> {
    /// Trains and judges everything. `watch` makes the watch of a training, `told` hears of each that ended.
    pub fn run(
        &self,
        watch: impl Fn() -> Box<dyn Watch> + Sync,
        told: impl Fn(&Point) + Sync,
    ) -> Result<Vec<Point>, Error> {
        self.check()?;
        let jobs = self.jobs();
        let (next, ended) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || -> Result<(), Error> {
            while let Some(&(tried, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let point = self.point(tried, seed, &mut *watch());
                let Ok(Some(point)) = point else {
                    // It failed or was stopped: no other begins.
                    next.store(jobs.len(), Ordering::Relaxed);
                    return point.map(|_| ());
                };
                told(&point);
                let mut ended = ended.lock().expect("no worker panics while it holds this");
                ended.push(point);
            }
            Ok(())
        };
        let failures: Vec<Error> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.workers).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined
                .filter_map(|result| result.expect("workers do not panic").err())
                .collect()
        });
        if let Some(failure) = failures.into_iter().next() {
            return Err(failure);
        }
        let mut points = ended.into_inner().expect("all workers have ended");
        let place = |p: &Point| jobs.iter().position(|&job| job == (p.tried, p.seed));
        points.sort_by_key(place);
        Ok(points)
    }

    /// Refuses before anything is read or trained what cannot be searched: settings that the search has values of its
    /// own for, and the folder of a run.
    pub fn check(&self) -> Result<(), Error> {
        let mut given = self.settings.given.iter();
        if let Some(scanned) = given.find(|given| SCANNED.contains(&given.name.as_str())) {
            return Err(Error::LineSearch(LineSearchError::Scanned {
                name: scanned.name.clone(),
                origin: scanned.origin.clone(),
            }));
        }
        if RunFolder::holds_run(&self.folder) {
            let path = self.folder.clone();
            return Err(Error::LineSearch(LineSearchError::IsRun { path }));
        }
        self.refuse_other_test()
    }

    /// All trainings, in the order in which they are begun.
    pub fn jobs(&self) -> Vec<(Tried, u64)> {
        let tried = self.alphas.iter().map(|&alpha| Tried::Constant(alpha));
        let tried = tried.chain([Tried::Adaptive]);
        tried
            .flat_map(|tried| self.seeds.iter().map(move |&seed| (tried, seed)))
            .collect()
    }

    /// Before anything is trained: what models are judged by must be of the same channels, and long enough.
    fn refuse_other_test(&self) -> Result<(), Error> {
        let test = self.test.unwrap_or(self.recording);
        let pairs = [
            ("channel", self.recording.dim_obs(), test.dim_obs()),
            ("input", self.recording.dim_input(), test.dim_input()),
        ];
        for (what, expected, found) in pairs {
            if expected != found {
                return Err(Error::Generate(GenerateError::Columns {
                    what,
                    expected,
                    found,
                }));
            }
        }
        reference(test).map(|_| ())
    }

    /// Trains and judges one; `None` if it was stopped.
    fn point(
        &self,
        tried: Tried,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Option<Point>, Error> {
        let resolved = self.experiment(tried, seed)?.resolve(self.recording);
        let resolved = resolved.map_err(|error| error.of_file(&self.data.path))?;
        let path = self.folder.join(tried.name()).join(format!("seed-{seed}"));
        RunFolder::refuse_other_file(&path, &self.data)?;
        let task = Task {
            path: &path,
            resolved: &resolved,
            data: &self.data,
            recording: self.recording,
        };
        let Some(run) = task.claim()?.train(watch)? else {
            return Ok(None);
        };
        Ok(Some(Point {
            tried,
            seed,
            scores: self.scores(&run)?,
            alpha: run.alpha,
            outcome: run.outcome,
        }))
    }

    fn experiment(&self, tried: Tried, seed: u64) -> Result<Experiment, ExperimentError> {
        let mut raw = self.settings.clone();
        let mut set = |name: &str, text: &str| raw.push(name, text, Origin::Flag);
        match tried {
            Tried::Constant(alpha) => {
                set("forcing", "gtf");
                set("alpha", &alpha.to_string());
            }
            Tried::Adaptive => set("forcing", "agtf"),
        }
        set("seed", &seed.to_string());
        set("threads", "1");
        Experiment::check(&raw)
    }

    /// D_stsp, D_H and PE(20), in the scale that the model sees.
    fn scores(&self, run: &EndedRun) -> Result<[f64; 3], Error> {
        let card = &run.reconstruction.card;
        let truth = card.scaling.apply(self.test.unwrap_or(self.recording));
        let reference = reference(&truth)?;
        let scores = reference.scores(&run.reconstruction.model);
        let d_stsp = scores.orbit.d_stsp.map(|estimate| estimate.value);
        let all = [d_stsp, scores.orbit.d_h, scores.pe];
        Ok(all.map(|score| score.unwrap_or(f64::NAN)))
    }
}

/// What models are judged by: the longest stretch without a gap or a missing value.
fn reference(truth: &Series) -> Result<Reference<'_>, Error> {
    let (x, s) = truth.longest_complete();
    let reference = Reference::new(Rows::new(x, truth.dim_obs()), s, Plan::default());
    let measure = SCORES[0];
    Ok(reference.map_err(|error| ExperimentError::NoMeasure { measure, error })?)
}

impl Tried {
    /// The name of its folder.
    pub fn name(self) -> String {
        match self {
            Tried::Constant(alpha) => format!("alpha-{alpha}"),
            Tried::Adaptive => "adaptive".to_string(),
        }
    }

    /// Its forcing, as in the settings.
    pub fn forcing(self) -> &'static str {
        match self {
            Tried::Constant(_) => "gtf",
            Tried::Adaptive => "agtf",
        }
    }
}

/// The strengths from 0 to 1 by a step that divides 1.
pub fn strengths(step: f64) -> Vec<f64> {
    let count = (1.0 / step).round();
    (0..=count as usize).map(|i| i as f64 / count).collect()
}

/// The trainings by forcing, in the order in which they were tried.
pub fn groups(points: &[Point]) -> Vec<Group> {
    let chunks = points.chunk_by(|a, b| a.tried == b.tried);
    chunks.map(group).collect()
}

fn group(points: &[Point]) -> Group {
    let mut alphas: Vec<f64> = points.iter().map(|p| p.alpha).collect();
    Group {
        tried: points[0].tried,
        runs: points.len(),
        alpha: median(&mut alphas),
        scores: std::array::from_fn(|i| {
            let runs: Vec<Vec<f64>> = points.iter().map(|p| vec![p.scores[i]]).collect();
            summaries(&runs)[0]
        }),
    }
}

/// Writes all trainings, one a line, into `line-search.csv`, and the curve, a line a forcing, into `curve.csv`.
pub fn write(points: &[Point], folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Write {
        path: folder.to_path_buf(),
        source,
    })?;
    store::write_whole(&folder.join("line-search.csv"), |out| {
        write_points(points, out)
    })?;
    store::write_whole(&folder.join("curve.csv"), |out| {
        write_curve(&groups(points), out)
    })
}

fn write_points(points: &[Point], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "forcing,alpha,seed,outcome,{}", SCORES.join(","))?;
    for p in points {
        let (forcing, alpha) = (p.tried.forcing(), p.alpha as f32);
        let scores = p.scores.map(cell).join(",");
        writeln!(out, "{forcing},{alpha},{},{},{scores}", p.seed, p.outcome)?;
    }
    Ok(())
}

fn write_curve(groups: &[Group], out: &mut dyn Write) -> io::Result<()> {
    let columns = SCORES.map(|id| format!("{id},{id}_mad,{id}_missing"));
    writeln!(out, "forcing,alpha,runs,{}", columns.join(","))?;
    for g in groups {
        let scores = g
            .scores
            .map(|s| format!("{},{},{}", cell(s.median), cell(s.mad), s.dropped));
        let (forcing, alpha) = (g.tried.forcing(), g.alpha as f32);
        writeln!(out, "{forcing},{alpha},{},{}", g.runs, scores.join(","))?;
    }
    Ok(())
}

/// A number of a table, empty where there is none.
fn cell(value: f64) -> String {
    match value.is_nan() {
        true => String::new(),
        false => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_are_round() {
        let all = strengths(0.05);
        assert_eq!((all.len(), all[3], all[20]), (21, 0.15, 1.0));
        assert_eq!(strengths(1.0), [0.0, 1.0]);
    }

    fn point(alpha: f64, seed: u64, scores: [f64; 3]) -> Point {
        Point {
            tried: Tried::Constant(alpha),
            seed,
            outcome: "finished".into(),
            alpha,
            scores,
        }
    }

    #[test]
    fn a_run_without_one_measure_counts_in_the_others() {
        let points = [
            point(0.0, 1, [3.0, 0.1, 1.0]),
            // Its orbit collapses to a point: no spectrum, but far from the truth.
            point(0.0, 2, [9.0, f64::NAN, 2.0]),
            point(0.0, 3, [5.0, 0.3, 9.0]),
            point(0.5, 1, [1.0, f64::NAN, f64::NAN]),
        ];
        let groups = groups(&points);
        assert_eq!(groups.len(), 2);
        let found = groups[0].scores.map(|s| (s.median, s.count, s.dropped));
        assert_eq!(found, [(5.0, 3, 0), (0.2, 2, 1), (2.0, 3, 0)]);
        assert_eq!((groups[0].runs, groups[1].runs), (3, 1));
        assert_eq!(groups[1].alpha, 0.5);
        let mut curve = Vec::new();
        write_curve(&groups, &mut curve).unwrap();
        let curve = String::from_utf8(curve).unwrap();
        let lines: Vec<&str> = curve.lines().collect();
        assert_eq!(
            lines[0],
            "forcing,alpha,runs,d_stsp,d_stsp_mad,d_stsp_missing,d_h,d_h_mad,d_h_missing,pe,pe_mad,pe_missing"
        );
        assert_eq!(lines[2], "gtf,0.5,1,1,0,0,,,1,,,1");
    }
}
