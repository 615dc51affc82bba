//! How well models are reconstructed by the strength of forcing: measures against α = 0, 0.05, …, 1 over several seeds
//! (Hess et al. 2023, Fig. S3), where adaptive forcing lands on that curve, and the α that one would take.
//!
//! A line search is a [`Study`] with one cell per strength; the [`sweep`](crate::sweep) engine runs it.

use std::io::{self, Write};
use std::path::Path;

use attractor_core::hint::Hint;
use attractor_core::measure::summary::{Summary, median, summaries};
use serde::Serialize;

use crate::experiment::{DataSource, Experiment, Origin, Raw};
use crate::run::Folder;
use crate::study::{Cell, Judging, Measured, Scored, Study};
use crate::{Error, store};

/// What is searched.
#[derive(Debug, Clone)]
pub struct LineSearch {
    /// Settings of all trainings; those that are [scanned](SCANNED) are refused.
    pub settings: Raw,
    /// The training data.
    pub train: DataSource,
    /// What models are judged by; the training data if there is nothing else.
    pub test: Option<DataSource>,
    /// Strengths.
    pub alphas: Vec<f64>,
    /// Seeds.
    pub seeds: Vec<u64>,
}

/// All trainings with one forcing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The forcing, as in the settings.
    pub forcing: String,
    /// The median strength at the end.
    pub alpha: f64,
    /// Trainings with it.
    pub runs: usize,
    /// D_stsp, each over the seeds that have it: an orbit that collapses to a point has a D_stsp, but no D_H.
    pub d_stsp: Median,
    /// D_H.
    pub d_h: Median,
    /// PE(n).
    pub pe: Median,
}

/// A score over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Median {
    /// The median; NaN, and null in JSON, of none.
    pub median: f64,
    /// The median absolute deviation.
    pub mad: f64,
    /// Seeds that have it.
    pub runs: usize,
    /// Seeds that do not.
    pub missing: usize,
    /// What the data themselves reach.
    pub floor: Option<f64>,
    /// What surrogates without the dynamics reach.
    pub chance: Option<f64>,
}

/// What a line search found, as a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Trainings that there are.
    pub trainings: usize,
    /// Trainings that ended.
    pub ended: usize,
    /// The strength with the smallest D_stsp × D_H, medians over seeds, of those with the fewest seeds without one.
    pub chosen: Option<f64>,
    /// By forcing, in the order in which they were tried.
    pub groups: Vec<Group>,
    /// One by one.
    pub points: Vec<Point>,
}

/// One training that ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Its forcing, as in the settings.
    pub forcing: String,
    /// Strength of forcing at its end.
    pub alpha: Option<f64>,
    /// Its seed.
    pub seed: u64,
    /// How it ended, in one word.
    pub outcome: String,
    /// D_stsp.
    pub d_stsp: Option<f64>,
    /// D_H.
    pub d_h: Option<f64>,
    /// PE(n).
    pub pe: Option<f64>,
}

/// Names of the scores.
pub const SCORES: [&str; 3] = ["d_stsp", "d_h", "pe"];

/// Settings that a search has values of its own for.
pub const SCANNED: [&str; 4] = ["forcing", "alpha", "seed", "threads"];

/// The name of the study that a search is.
const NAME: &str = "line-search";

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
        path: std::path::PathBuf,
    },
    /// The folder is that of a search by an older version.
    #[error("the folder holds a line search of version 0.1, whose runs are kept in another way: {}", path.display())]
    Older {
        /// The folder.
        path: std::path::PathBuf,
    },
}

impl LineSearchError {
    /// What the user can do about it.
    pub fn hint(&self) -> Hint {
        match self {
            LineSearchError::Scanned { .. } => {
                "leave it out; `--step`, `--seeds` and `--workers` say what is scanned, `attractor train` takes it".into()
            }
            LineSearchError::IsRun { .. } | LineSearchError::Older { .. } => {
                "name another folder with `--out`".into()
            }
        }
    }
}

impl LineSearch {
    /// The study that it is, to be run in a folder. Settings that the search has values of its own for are refused, and folders
    /// with something else.
    pub fn study(&self, folder: &Path) -> Result<Study, Error> {
        let mut given = self.settings.given.iter();
        if let Some(scanned) = given.find(|given| SCANNED.contains(&given.name.as_str())) {
            return Err(Error::LineSearch(LineSearchError::Scanned {
                name: scanned.name.clone(),
                origin: scanned.origin.clone(),
            }));
        }
        refuse_other(folder)?;
        let strengths = self.alphas.iter().map(|&alpha| Some(alpha));
        let cells = strengths.chain([None]).enumerate();
        Ok(Study {
            name: NAME.to_string(),
            train: self.train.clone(),
            test: self.test.clone(),
            cells: cells
                .map(|(place, alpha)| self.cell(place, alpha))
                .collect::<Result<_, Error>>()?,
            seeds: self.seeds.clone(),
            judging: Judging::of_one_orbit(),
        })
    }

    /// The cell of a strength, or of adaptive forcing.
    fn cell(&self, place: usize, alpha: Option<f64>) -> Result<Cell, Error> {
        let mut raw = self.settings.clone();
        let mut set = |name: &str, text: &str| raw.push(name, text, Origin::Flag);
        let folder = match alpha {
            Some(alpha) => {
                set("forcing", "gtf");
                set("alpha", &alpha.to_string());
                format!("alpha-{alpha}")
            }
            None => {
                set("forcing", "agtf");
                "adaptive".to_string()
            }
        };
        Ok(Cell {
            place,
            name: Some(folder.clone()),
            paper: None,
            folder,
            experiment: Experiment::check(&raw.with_threads(1))?,
            updates: 0,
        })
    }
}

fn refuse_other(folder: &Path) -> Result<(), Error> {
    let path = folder.to_path_buf();
    if Folder::new(folder).holds_run() {
        return Err(Error::LineSearch(LineSearchError::IsRun { path }));
    }
    let older = folder.join("adaptive").join("seed-1");
    if Folder::new(&older).holds_run() {
        return Err(Error::LineSearch(LineSearchError::Older { path }));
    }
    Ok(())
}

/// The strengths from 0 to 1 by a step that divides 1.
pub fn strengths(step: f64) -> Vec<f64> {
    let count = (1.0 / step).round();
    (0..=count as usize).map(|i| i as f64 / count).collect()
}

impl Curve {
    /// From the runs that ended, by cell and seed, of so many.
    pub fn new(scored: &[Scored], trainings: usize) -> Curve {
        let groups: Vec<Group> = scored
            .chunk_by(|a, b| a.place == b.place)
            .map(group)
            .collect();
        Curve {
            trainings,
            ended: scored.len(),
            chosen: chosen(&groups),
            groups,
            points: scored.iter().map(point).collect(),
        }
    }

    /// Writes all trainings, one per line, into `line-search.csv`, and the curve, one line per forcing, into `curve.csv`.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        store::write_whole(&folder.join("line-search.csv"), |out| {
            self.write_points(out)
        })?;
        store::write_whole(&folder.join("curve.csv"), |out| self.write_groups(out))
    }

    fn write_points(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "forcing,alpha,seed,outcome,{}", SCORES.join(","))?;
        for p in &self.points {
            let alpha = p
                .alpha
                .map_or(String::new(), |alpha| (alpha as f32).to_string());
            let scores = [p.d_stsp, p.d_h, p.pe].map(|score| cell(score.unwrap_or(f64::NAN)));
            let (forcing, seed, outcome) = (&p.forcing, p.seed, &p.outcome);
            writeln!(
                out,
                "{forcing},{alpha},{seed},{outcome},{}",
                scores.join(",")
            )?;
        }
        Ok(())
    }

    fn write_groups(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = SCORES.map(|id| format!("{id},{id}_mad,{id}_missing"));
        writeln!(out, "forcing,alpha,runs,{}", columns.join(","))?;
        for g in &self.groups {
            let score = |s: Median| format!("{},{},{}", cell(s.median), cell(s.mad), s.missing);
            let scores = [g.d_stsp, g.d_h, g.pe].map(score).join(",");
            let (forcing, alpha) = (&g.forcing, g.alpha as f32);
            writeln!(out, "{forcing},{alpha},{},{scores}", g.runs)?;
        }
        Ok(())
    }
}

/// The constant strength with the smallest D_stsp × D_H, of those with the fewest seeds without one of them.
fn chosen(groups: &[Group]) -> Option<f64> {
    let constant = groups.iter().filter(|group| group.forcing == "gtf");
    let missing = |group: &Group| group.d_stsp.missing.max(group.d_h.missing);
    let product = |group: &Group| group.d_stsp.median * group.d_h.median;
    let with_scores = constant.filter(|group| product(group).is_finite());
    let best = with_scores.min_by(|a, b| {
        let by_missing = missing(a).cmp(&missing(b));
        by_missing.then(product(a).total_cmp(&product(b)))
    });
    best.map(|group| group.alpha)
}

fn group(runs: &[Scored]) -> Group {
    let mut alphas: Vec<f64> = runs.iter().filter_map(|run| run.alpha).collect();
    let [d_stsp, d_h, pe] = SCORES.map(|id| over_seeds(runs, id));
    Group {
        forcing: forcing(&runs[0]),
        alpha: median(&mut alphas),
        runs: runs.len(),
        d_stsp,
        d_h,
        pe,
    }
}

fn over_seeds(runs: &[Scored], id: &str) -> Median {
    let values: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| vec![run.value(id).unwrap_or(f64::NAN)])
        .collect();
    let Summary {
        median,
        mad,
        count,
        dropped,
        ..
    } = summaries(&values)[0];
    let known: Option<&Measured> = runs.iter().find_map(|run| run.scores.get(id));
    Median {
        median,
        mad,
        runs: count,
        missing: dropped,
        floor: known.and_then(|measured| measured.floor),
        chance: known.and_then(|measured| measured.chance),
    }
}

fn point(run: &Scored) -> Point {
    Point {
        forcing: forcing(run),
        alpha: run.alpha,
        seed: run.seed,
        outcome: run.outcome.clone(),
        d_stsp: run.value("d_stsp"),
        d_h: run.value("d_h"),
        pe: run.value("pe"),
    }
}

fn forcing(run: &Scored) -> String {
    run.settings.get("forcing").cloned().unwrap_or_default()
}

/// A number of a table, empty where there is none.
fn cell(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_divide_the_line() {
        assert_eq!(strengths(0.25), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(strengths(0.05).len(), 21);
    }

    #[test]
    fn the_strength_with_the_smallest_product_is_taken_and_missing_scores_count_first() {
        let score = |median: f64, missing: usize| Median {
            median,
            mad: 0.0,
            runs: 3 - missing,
            missing,
            floor: None,
            chance: None,
        };
        let group = |forcing: &str, alpha: f64, d_stsp: f64, missing: usize| Group {
            forcing: forcing.to_string(),
            alpha,
            runs: 3,
            d_stsp: score(d_stsp, 0),
            d_h: score(0.1, missing),
            pe: score(1.0, 0),
        };
        let groups = [
            group("gtf", 0.1, 0.2, 1),
            group("gtf", 0.2, 0.5, 0),
            group("gtf", 0.3, 0.4, 0),
            group("gtf", 0.4, f64::NAN, 0),
            group("agtf", 0.25, 0.1, 0),
        ];
        assert_eq!(chosen(&groups), Some(0.3));
        assert_eq!(chosen(&groups[3..]), None);
    }
}
