//! A table as a document, as `attractor table --json` prints it. Numbers that do not exist are null.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Column, Group, Table};

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableDocument {
    schema: u32,
    keys: Vec<String>,
    pe_n: usize,
    groups: Vec<GroupDocument>,
    kruskal_wallis: BTreeMap<&'static str, Option<TestDocument>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct TestDocument {
    h: f64,
    p: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct GroupDocument {
    keys: BTreeMap<String, String>,
    runs: usize,
    diverged: usize,
    dropped: usize,
    good: Option<usize>,
    disagreement: Option<String>,
    dim: (usize, usize),
    parameters: (usize, usize),
    paper: Option<&'static str>,
    measures: BTreeMap<&'static str, ColumnDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ColumnDocument {
    median: f64,
    mad: f64,
    mean: f64,
    sd: f64,
    missing: usize,
    median_of_all: f64,
    mad_of_all: f64,
    floor: Option<f64>,
    chance: Option<f64>,
    paper: Option<PaperDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct PaperDocument {
    median: f64,
    mad: f64,
    verdict: Option<&'static str>,
}

impl Table {
    /// The document.
    pub fn document(&self) -> TableDocument {
        let tests = self.measures.iter().zip(&self.tests).map(|(id, test)| {
            let test = test.map(|test| TestDocument {
                h: test.h,
                p: test.p,
            });
            (*id, test)
        });
        TableDocument {
            schema: 1,
            keys: self.keys.clone(),
            pe_n: self.pe_steps,
            groups: self.groups.iter().map(|group| self.group(group)).collect(),
            kruskal_wallis: tests.collect(),
        }
    }

    fn group(&self, group: &Group) -> GroupDocument {
        let keys = self.keys.iter().zip(&group.values);
        let columns = self.measures.iter().zip(&group.columns);
        GroupDocument {
            keys: keys
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            runs: group.runs,
            diverged: group.diverged,
            dropped: group.dropped(),
            good: group.good,
            disagreement: group.disagreement.clone(),
            dim: group.dim,
            parameters: group.parameters,
            paper: group.paper.map(|row| row.name),
            measures: columns
                .map(|(id, measure)| (*id, column(measure)))
                .collect(),
        }
    }
}

fn column(column: &Column) -> ColumnDocument {
    let summary = &column.summary;
    ColumnDocument {
        median: summary.median,
        mad: summary.mad,
        mean: summary.mean,
        sd: summary.sd,
        missing: column.missing,
        median_of_all: column.every.median,
        mad_of_all: column.every.mad,
        floor: column.floor,
        chance: column.chance,
        paper: column.paper.map(|paper| PaperDocument {
            median: paper.median,
            mad: paper.mad,
            verdict: paper.verdict.map(super::Verdict::word),
        }),
    }
}
