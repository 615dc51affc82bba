//! How well models are reconstructed by the strength of forcing:  measures against α = 0, 0.05, …, 1 over several seeds
//! (Hess et al. 2023, Fig. S3), and where adaptive forcing lands on that curve.
//!
//! Every training is a run in a folder of its own, on one core; several run side by side. What has ended is not trained
//! again and what was interrupted is continued, so that the same search in the same folder goes on where it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use attractor_core::measure::Rows;
use attractor_core::measure::evaluate::{Plan, Reference};
use attractor_core::measure::summary::{Summary, summaries};
use attractor_core::series::Series;
use attractor_core::train::Watch;

use crate::experiment::{DataSource, Experiment, ExperimentError, Origin, Raw};
use crate::generate::GenerateError;
use crate::run::{EndedRun, RunFolder, Task};
use crate::{Error, store};

/// What is searched.
pub struct LineSearch<'a> {
    /// Settings of all trainings but the forcing, the seed and the threads.
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
    /// The median strength at the end.
    pub alpha: f64,
    /// D_stsp, D_H and PE(20) over the seeds.
    pub scores: Vec<Summary>,
}

/// Names of the scores.
pub const SCORES: [&str; 3] = ["d_stsp", "d_h", "pe"];

impl LineSearch<'_> {
    /// Trains and judges everything. `watch` makes the watch of a training, `told` hears of each that ended.
    pub fn run(
        &self,
        watch: impl Fn() -> Box<dyn Watch> + Sync,
        told: impl Fn(&Point) + Sync,
    ) -> Result<Vec<Point>, Error> {
        self.refuse_other_test()?;
        let tried = self.alphas.iter().map(|&alpha| Tried::Constant(alpha));
        let tried = tried.chain([Tried::Adaptive]);
        let jobs: Vec<(Tried, u64)> = tried
            .flat_map(|tried| self.seeds.iter().map(move |&seed| (tried, seed)))
            .collect();
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
}

/// The strengths from 0 to 1 by a step that divides 1.
pub fn strengths(step: f64) -> Vec<f64> {
    let count = (1.0 / step).round();
    (0..=count as usize).map(|i| i as f64 / count).collect()
}

/// The trainings by forcing, in the order in which they were tried.
pub fn groups(points: &[Point]) -> Vec<Group> {
    let mut groups = Vec::new();
    for chunk in points.chunk_by(|a, b| a.tried == b.tried) {
        let runs: Vec<Vec<f64>> = chunk.iter().map(|p| p.scores.to_vec()).collect();
        let mut alphas: Vec<f64> = chunk.iter().map(|p| p.alpha).collect();
        alphas.sort_by(f64::total_cmp);
        groups.push(Group {
            tried: chunk[0].tried,
            alpha: alphas[alphas.len() / 2],
            scores: summaries(&runs),
        });
    }
    groups
}

/// Writes all trainings as a table, one a line.
pub fn write(points: &[Point], folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join("line-search.csv");
    fs::create_dir_all(folder).map_err(|source| Error::Write {
        path: folder.to_path_buf(),
        source,
    })?;
    store::write_whole(&path, |out| {
        writeln!(out, "forcing,alpha,seed,outcome,{}", SCORES.join(","))?;
        for p in points {
            let forcing = match p.tried {
                Tried::Constant(_) => "gtf",
                Tried::Adaptive => "agtf",
            };
            let scores = p.scores.map(|score| match score.is_nan() {
                true => String::new(),
                false => score.to_string(),
            });
            let (alpha, outcome) = (p.alpha as f32, &p.outcome);
            writeln!(
                out,
                "{forcing},{alpha},{},{outcome},{}",
                p.seed,
                scores.join(",")
            )?;
        }
        Ok(())
    })?;
    Ok(path)
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

    #[test]
    fn trainings_are_grouped_and_those_without_a_score_are_counted() {
        let point = |alpha: f64, seed: u64, score: f64| Point {
            tried: Tried::Constant(alpha),
            seed,
            outcome: "finished".into(),
            alpha,
            scores: [score; 3],
        };
        let points = [
            point(0.0, 1, 3.0),
            point(0.0, 2, f64::NAN),
            point(0.0, 3, 5.0),
            point(0.5, 1, 1.0),
        ];
        let groups = groups(&points);
        assert_eq!(groups.len(), 2);
        let first = &groups[0].scores[0];
        assert_eq!((first.median, first.dropped), (4.0, 1));
        assert_eq!(groups[1].alpha, 0.5);
    }
}
