//! Studies as tables: median ± MAD over the seeds of every group of runs, with what was dropped, floors and chance, the
//! probability that the groups do not differ, and the paper's numbers beside ours.
//!
//! A run that diverged, or that has no value of one of the measures, is left out of all medians and counted (Hess et al.
//! 2023). Ours agrees with the paper if its median is within two MADs of the paper's; below that it is better.

mod document;
mod figure;
mod keys;
mod paper_table;
mod render;
mod sheet;

use attractor_core::measure::kruskal_wallis::{KruskalWallis, kruskal_wallis};
use attractor_core::measure::summary::{Summary, summaries};

use crate::paper::{self, PaperRow};
use crate::study::{Measured, Scored, StudyError};
use crate::verdict::{OfSeed, Word, disagreement_of_seeds};

pub use document::TableDocument;
use keys::Key;
pub use paper_table::{PAPER_TABLES, PaperTable};
pub use render::Format;

/// What a table shows beside our numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// The paper's numbers, where a group corresponds to a row of its tables.
    Paper,
}

/// Runs in groups.
#[derive(Debug, Clone)]
pub struct Table {
    /// What groups differ in, by name.
    pub keys: Vec<String>,
    /// The measures.
    pub measures: Vec<&'static str>,
    /// Steps n of PE(n).
    pub pe_steps: usize,
    /// The groups, in the order of the study.
    pub groups: Vec<Group>,
    /// For every measure, whether the groups differ; none with fewer than two groups that have values.
    pub tests: Vec<Option<KruskalWallis>>,
}

/// Runs that differ in their seeds, and in what the table does not ask for.
#[derive(Debug, Clone)]
pub struct Group {
    /// The values of the keys.
    pub values: Vec<String>,
    /// Runs that ended.
    pub runs: usize,
    /// Runs whose training diverged.
    pub diverged: usize,
    /// Runs that count in the medians.
    pub counted: usize,
    /// The smallest and the largest number of latent states M.
    pub dim: (usize, usize),
    /// The smallest and the largest number of parameters |θ|.
    pub parameters: (usize, usize),
    /// Runs with the verdict *good*; none if no run has a verdict.
    pub good: Option<usize>,
    /// How its runs disagree, if they do: their verdicts differ, or their D_stsp cover half the way from floor to chance.
    pub disagreement: Option<String>,
    /// The row of the paper that all its runs correspond to, if it is asked for.
    pub paper: Option<&'static PaperRow>,
    /// The measures.
    pub columns: Vec<Column>,
}

/// One measure of a group.
#[derive(Debug, Clone)]
pub struct Column {
    /// Over the runs that count.
    pub summary: Summary,
    /// Over every run with a value of this measure: those that have collapsed to a point have no D_H, and so do not count.
    pub every: Summary,
    /// Runs without a value of this measure.
    pub missing: usize,
    /// What the data themselves reach.
    pub floor: Option<f64>,
    /// What surrogates without the dynamics reach.
    pub chance: Option<f64>,
    /// The paper's number, and how ours compares with it.
    pub paper: Option<Comparison>,
}

/// A median of the paper's beside one of ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The paper's median.
    pub median: f64,
    /// Its MAD.
    pub mad: f64,
    /// How ours compares; none if we have none.
    pub verdict: Option<Verdict>,
}

/// How a median of ours compares with the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Lower by more than two MADs.
    Better,
    /// Within two MADs.
    Agrees,
    /// Higher by more than two MADs.
    Worse,
}

/// The measures of the paper's tables, with its f32 form of D_stsp where there is one.
const MEASURES: [&str; 4] = ["d_stsp", "d_stsp_paper", "d_h", "pe"];

impl Table {
    /// The table of the runs of a study, by the keys (names of settings, or `name`); by what they differ in if none are
    /// given.
    pub fn new(runs: &[Scored], by: &[String], beside: Beside) -> Result<Table, StudyError> {
        let keys = if by.is_empty() {
            keys::varied(runs)
        } else {
            keys::named(by)?
        };
        let has = |id: &&str| runs.iter().any(|run| run.scores.contains_key(id));
        let shown = |id: &&str| *id != "d_stsp_paper" || has(id);
        let measures: Vec<&'static str> = MEASURES.into_iter().filter(shown).collect();
        let parts = keys::parts(runs, &keys);
        let groups: Vec<Group> = parts
            .iter()
            .map(|part| Group::new(part, &keys, &measures, beside))
            .collect();
        let tests = (0..measures.len()).map(|i| test(&parts, &measures, i));
        Ok(Table {
            keys: keys.iter().map(|key| key.name().to_string()).collect(),
            pe_steps: runs.first().map_or(0, |run| run.pe_steps),
            tests: tests.collect(),
            measures,
            groups,
        })
    }
}

/// Runs that differ in more than the seed apart, each group with what tells it from the others.
pub(crate) fn groups(runs: &[Scored]) -> Vec<(String, Vec<&Scored>)> {
    let keys = keys::varied(runs);
    let words = |part: &Vec<&Scored>| {
        let values = keys.iter().map(|key| match key {
            Key::Setting(name) => format!("{name} {}", key.value(part[0])),
            _ => key.value(part[0]).into_owned(),
        });
        values.collect::<Vec<_>>().join(", ")
    };
    let parts = keys::parts(runs, &keys);
    parts.into_iter().map(|part| (words(&part), part)).collect()
}

impl Group {
    fn new(runs: &[&Scored], keys: &[Key], measures: &[&'static str], beside: Beside) -> Group {
        let paper = match beside {
            Beside::Paper => common_row(runs),
            Beside::Nothing => None,
        };
        let values = keys.iter().map(|key| key.value(runs[0]).into_owned());
        Group::of(values.collect(), runs, measures, paper)
    }

    /// Of runs, of which there may be none, beside a row of the paper.
    fn of(
        of: Vec<String>,
        runs: &[&Scored],
        measures: &[&'static str],
        paper: Option<&'static PaperRow>,
    ) -> Group {
        let values = values(runs, measures);
        let summaries = match values.as_slice() {
            // No run has no score of any measure.
            [] => summaries(&[vec![f64::NAN; measures.len()]]),
            values => summaries(values),
        };
        let columns = measures.iter().zip(&summaries).enumerate();
        Group {
            values: of,
            runs: runs.len(),
            diverged: runs.iter().filter(|run| run.diverged()).count(),
            counted: summaries.first().map_or(0, |summary| summary.count),
            dim: span(runs.iter().map(|run| run.dim)),
            parameters: span(runs.iter().map(|run| run.parameters)),
            good: good(runs),
            disagreement: disagreement(runs),
            paper,
            columns: columns
                .map(|(i, (id, summary))| Column {
                    summary: *summary,
                    every: every(&values, i),
                    missing: values.iter().filter(|run| !run[i].is_finite()).count(),
                    floor: level(runs, id, |measured| measured.floor),
                    chance: level(runs, id, |measured| measured.chance),
                    paper: paper.and_then(|row| compare(row, id, measures, runs, summary.median)),
                })
                .collect(),
        }
    }

    /// Runs that are left out of the medians.
    pub fn dropped(&self) -> usize {
        self.runs - self.counted
    }

    /// Whether runs that are left out have values of some measure.
    pub fn has_partial_runs(&self) -> bool {
        let mut all = self.columns.iter();
        all.any(|column| column.every.count > self.counted)
    }
}

impl Verdict {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Agrees => "agrees",
            Verdict::Worse => "worse",
        }
    }

    /// Of a measure of which low values are good.
    fn of(ours: f64, (median, mad): (f64, f64)) -> Option<Verdict> {
        if !ours.is_finite() {
            return None;
        }
        Some(match ours - median {
            above if above > 2.0 * mad => Verdict::Worse,
            above if above < -2.0 * mad => Verdict::Better,
            _ => Verdict::Agrees,
        })
    }
}

/// How many runs are good; none if no run has a verdict.
fn good(runs: &[&Scored]) -> Option<usize> {
    let is_known = runs.iter().any(|run| run.verdict.is_some());
    let is_good = |run: &&&Scored| run.verdict == Some(Word::Good);
    is_known.then(|| runs.iter().filter(is_good).count())
}

/// How runs that differ in their seeds alone disagree; none if they do not.
fn disagreement(runs: &[&Scored]) -> Option<String> {
    let mut pairs = runs.windows(2);
    if !pairs.all(|pair| pair[0].settings == pair[1].settings) {
        return None;
    }
    let diverged = |run: &Scored| run.diverged().then_some(Word::NotAReconstruction);
    let of = |run: &&Scored| OfSeed {
        word: diverged(run).or(run.verdict),
        d_stsp: run.value("d_stsp"),
    };
    let seeds: Vec<OfSeed> = runs.iter().map(of).collect();
    let floor = level(runs, "d_stsp", |measured| measured.floor);
    let chance = level(runs, "d_stsp", |measured| measured.chance);
    disagreement_of_seeds(&seeds, floor, chance)
}

/// The scores of every run, NaN where there is none.
fn values(runs: &[&Scored], measures: &[&'static str]) -> Vec<Vec<f64>> {
    let of_run = |run: &&Scored| {
        let scores = measures.iter().map(|id| run.value(id).unwrap_or(f64::NAN));
        scores.collect()
    };
    runs.iter().map(of_run).collect()
}

/// Of all values of one measure that there are.
fn every(values: &[Vec<f64>], i: usize) -> Summary {
    let found = values.iter().map(|run| run[i]).filter(|v| v.is_finite());
    let found: Vec<Vec<f64>> = found.map(|v| vec![v]).collect();
    match found.as_slice() {
        [] => summaries(&[vec![f64::NAN]])[0],
        found => summaries(found)[0],
    }
}

/// Kruskal and Wallis' test of one measure over the runs that count; none if no group has two of them, where the
/// probability depends on their number alone.
fn test(parts: &[Vec<&Scored>], measures: &[&'static str], i: usize) -> Option<KruskalWallis> {
    let counted = |runs: &Vec<&Scored>| -> Vec<f64> {
        let complete = values(runs, measures).into_iter();
        let complete = complete.filter(|run| run.iter().all(|value| value.is_finite()));
        complete.map(|run| run[i]).collect()
    };
    let groups: Vec<Vec<f64>> = parts.iter().map(counted).collect();
    let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
    let filled: Vec<&[f64]> = groups
        .into_iter()
        .filter(|group| !group.is_empty())
        .collect();
    let has_spread = filled.iter().any(|group| group.len() > 1);
    has_spread.then(|| kruskal_wallis(&filled)).flatten()
}

/// A level of a measure: that of the first run which has one.
fn level(runs: &[&Scored], id: &str, of: fn(&Measured) -> Option<f64>) -> Option<f64> {
    runs.iter().find_map(|run| of(run.scores.get(id)?))
}

/// The row of the paper that all runs name.
fn common_row(runs: &[&Scored]) -> Option<&'static PaperRow> {
    let name = runs[0].paper.as_deref()?;
    let same = runs.iter().all(|run| run.paper.as_deref() == Some(name));
    same.then(|| paper::find(name)).flatten()
}

/// The paper's number of a measure. From six channels on, its D_stsp is the f32 form; its PE is PE(20).
fn compare(
    row: &PaperRow,
    id: &str,
    measures: &[&'static str],
    runs: &[&Scored],
    ours: f64,
) -> Option<Comparison> {
    let state_space = if measures.contains(&"d_stsp_paper") {
        "d_stsp_paper"
    } else {
        "d_stsp"
    };
    let ids = [state_space, "d_h", "pe"];
    let same = id != "pe" || runs.iter().all(|run| run.pe_steps == 20);
    let place = ids.iter().position(|other| *other == id).filter(|_| same)?;
    let (median, mad) = row.scores?[place];
    Some(Comparison {
        median,
        mad,
        verdict: Verdict::of(ours, (median, mad)),
    })
}

fn span(numbers: impl Iterator<Item = usize> + Clone) -> (usize, usize) {
    let (low, high) = (numbers.clone().min(), numbers.max());
    (low.unwrap_or(0), high.unwrap_or(0))
}

#[cfg(test)]
mod tests;
