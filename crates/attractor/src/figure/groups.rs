//! Runs of studies in groups that differ in more than the seed, with the scores of their runs, for figures over many runs.

use attractor_core::measure::summary::median;

use super::{Figure, FigureError, Request, TWO_COLUMNS};
use crate::Error;
use crate::anatomy::Table as Numbers;
use crate::chart::{Axis, Key, NUMBERS, Scale};
use crate::drawing::{Colour, Drawing, Stroke, font};
use crate::study::{Measured, Scored, index};
use crate::table;

/// Groups of runs.
pub(super) struct Groups {
    pub(super) measures: Vec<&'static str>,
    pub(super) all: Vec<Group>,
}

/// A group.
pub(super) struct Group {
    pub(super) name: String,
    /// The scores of all runs, measure by measure; NaN where a run has none.
    pub(super) values: Vec<Vec<f64>>,
    /// Floor and chance, measure by measure.
    levels: Vec<[Option<f64>; 2]>,
}

/// What scores are between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Floor,
    Chance,
}

/// The measures of the paper, with its own form of D_stsp where runs have it.
const MEASURES: [&str; 3] = ["d_stsp", "d_h", "pe"];

/// Groups that a column of a journal has room for.
const FEW: usize = 5;

impl Groups {
    /// The groups of all studies that are asked for, one study after the other.
    pub(super) fn read(request: &Request) -> Result<Groups, Error> {
        let mut studies = Vec::new();
        for (path, name) in request.subjects.iter().zip(request.names()) {
            studies.push((name, index(path)?));
        }
        let mut found = Vec::new();
        for (name, runs) in &studies {
            let groups = table::groups(runs).into_iter();
            found.extend(groups.map(|(words, part)| (name, words, part)));
        }
        let several = studies.len() > 1;
        let is_shared = |words: &str| found.iter().filter(|(_, w, _)| w == words).count() > 1;
        let called = |name: &str, words: &str| match (several, request.labels.is_empty()) {
            (true, true) if is_shared(words) => format!("{name}: {words}"),
            (true, false) => name.to_string(),
            _ => words.to_string(),
        };
        let group = |(name, words, part): &(&String, String, Vec<&Scored>)| {
            Group::of(called(name, words), part)
        };
        let all: Vec<Group> = found.iter().map(group).collect();
        if all.iter().all(Group::is_empty) {
            let path = request.subjects.first().cloned().unwrap_or_default();
            return Err(FigureError::NoScores { path }.into());
        }
        Ok(Groups {
            measures: MEASURES.to_vec(),
            all,
        })
    }

    /// A logarithmic axis that holds all scores and levels of a measure.
    pub(super) fn axis(&self, measure: usize) -> Axis {
        let values = self.all.iter().flat_map(|group| {
            let levels = group.levels[measure].into_iter().flatten();
            group.values[measure].iter().copied().chain(levels)
        });
        let positive = values.filter(|v| *v > 0.0).map(f64::log10);
        Axis::around(title(self.measures[measure]), positive).scaled(Scale::Log)
    }

    /// The names of all groups, as long as there is room for them, in points.
    pub(super) fn names(&self, room: f64) -> Vec<String> {
        let names = self.all.iter();
        names
            .map(|group| font::shortened(&group.name, NUMBERS, room))
            .collect()
    }

    /// What the marks mean.
    pub(super) fn legend(marks: Vec<Key>) -> Vec<Key> {
        let levels = [
            Key::line("floor", Level::Floor.stroke()),
            Key::line("chance", Level::Chance.stroke()),
        ];
        marks.into_iter().chain(levels).collect()
    }

    /// The numbers of the groups with their names, where an axis of this length has no room for names.
    pub(super) fn numbers(&self, axis: &Axis, length: f64) -> Vec<Key> {
        let ticks = axis.ticks_across(length, NUMBERS);
        let are_names = ticks.iter().map(|tick| &tick.label).eq(axis.names.iter());
        if are_names {
            return Vec::new();
        }
        let names = self.all.iter().enumerate();
        let key = |(g, group): (usize, &Group)| {
            let invisible = Stroke::new(Colour::PAPER, 0.1);
            Key::line(format!("{} = {}", g + 1, group.name), invisible)
        };
        names.map(key).collect()
    }

    /// The figure with the scores as numbers.
    pub(super) fn figure(&self, drawing: Drawing) -> Figure {
        let header = ["group", "run"]
            .into_iter()
            .chain(self.measures.iter().copied());
        let rows = self.all.iter().enumerate().flat_map(|(g, group)| {
            (0..group.values[0].len()).map(move |k| {
                let scores = group.values.iter().map(|values| values[k]);
                [g as f64 + 1.0, k as f64 + 1.0]
                    .into_iter()
                    .chain(scores)
                    .collect()
            })
        });
        let table = Numbers {
            header: header.map(String::from).collect(),
            rows: rows.collect(),
        };
        let numbers = self.all.iter().flat_map(|group| {
            let columns = self.measures.iter().zip(&group.values);
            columns.map(move |(id, values)| {
                let mut finite: Vec<f64> =
                    values.iter().copied().filter(|v| v.is_finite()).collect();
                (format!("{}: median {id}", group.name), median(&mut finite))
            })
        });
        Figure {
            drawing,
            tables: vec![("scores".to_string(), table)],
            numbers: numbers.collect(),
            notes: self.left_out(),
        }
    }

    fn left_out(&self) -> Vec<String> {
        let lost = |group: &Group| {
            let missing = (0..group.values[0].len())
                .filter(|&k| group.values.iter().any(|v| !v[k].is_finite()));
            let missing = missing.count();
            (missing > 0).then(|| {
                format!(
                    "{}: {missing} of {} runs lack a score",
                    group.name,
                    group.values[0].len()
                )
            })
        };
        self.all.iter().filter_map(lost).collect()
    }
}

impl Group {
    fn of(name: String, runs: &[&Scored]) -> Group {
        let measured = |run: &Scored, id: &str| run.scores.get(paper_form(run, id)).copied();
        let values = |&id: &&str| {
            let of_runs = runs
                .iter()
                .map(|run| measured(run, id).and_then(|m| m.value));
            of_runs.map(|v| v.unwrap_or(f64::NAN)).collect::<Vec<f64>>()
        };
        let levels = |&id: &&str| {
            let known = |of: fn(&Measured) -> Option<f64>| {
                let mut found: Vec<f64> = runs
                    .iter()
                    .filter_map(|run| of(&measured(run, id)?))
                    .collect();
                (!found.is_empty()).then(|| median(&mut found))
            };
            [known(|m| m.floor), known(|m| m.chance)]
        };
        Group {
            name,
            values: MEASURES.iter().map(values).collect(),
            levels: MEASURES.iter().map(levels).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.values.iter().flatten().all(|v| !v.is_finite())
    }

    /// A level of a measure, where it is above zero.
    pub(super) fn level(&self, measure: usize, level: Level) -> Option<f64> {
        let [floor, chance] = self.levels[measure];
        let found = match level {
            Level::Floor => floor,
            Level::Chance => chance,
        };
        found.filter(|v| *v > 0.0)
    }
}

/// D_stsp in the paper's form for runs that have it, as tables have it.
fn paper_form<'a>(run: &Scored, id: &'a str) -> &'a str {
    let paper = "d_stsp_paper";
    if id == "d_stsp" && run.scores.get(paper).is_some_and(|m| m.value.is_some()) {
        paper
    } else {
        id
    }
}

impl Level {
    pub(super) fn stroke(self) -> Stroke {
        match self {
            Level::Floor => Stroke::new(Colour::GREEN, 1.0),
            Level::Chance => Stroke::new(Colour::of_line(3), 1.0).dashed(),
        }
    }
}

/// A measure as papers write it.
fn title(id: &str) -> &str {
    match id {
        "d_stsp" => "D_{stsp}",
        "d_h" => "D_{H}",
        "pe" => "PE",
        id => id,
    }
}

/// The width of a figure of groups in millimetres.
pub(super) fn width(groups: &Groups) -> f64 {
    if groups.all.len() > FEW {
        TWO_COLUMNS
    } else {
        super::COLUMN
    }
}
