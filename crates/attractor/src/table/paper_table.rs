//! The tables of Hess et al. (2023) in their own shape: data sets one below the other, in each the methods in the paper's order, every row of ours above
//! the paper's. A row has the runs of the entry that names it and has most of them, the first of equals; a row that nobody has trained has no runs.
//!
//! | table | data | what it compares |
//! | --- | --- | --- |
//! | 1 | ECG, EEG | all methods on real recordings |
//! | S1 | multiscale Lorenz-96 | three methods on a system that is seen in part |
//! | S2 | ECG, EEG | the parts of the method, taken away one by one |
//! | S3 | Lorenz-63, Lorenz-96 | all methods on simulated systems |
//! | S4 | EEG | neural ODEs and models made of them |

use super::keys::{self, Key};
use super::{Group, MEASURES, Table, test};
use crate::Error;
use crate::paper::{self, PaperRow};
use crate::study::Scored;

/// The shape of one of the paper's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaperTable {
    /// Its number.
    pub name: &'static str,
    /// What it compares.
    pub title: &'static str,
    blocks: &'static [Block],
}

/// One data set of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    data: &'static str,
    methods: &'static [&'static str],
}

const GTF: &str = "shPLRNN + GTF";
const AGTF: &str = "shPLRNN + aGTF";
const STF: &str = "shPLRNN + STF";
const TANH: &str = "shPLRNN + GTF (tanh)";
const DENDRITIC: &str = "dendPLRNN + id-TF";
const RC: &str = "RC";
const LSTM: &str = "LSTM-TBPTT";
const SINDY: &str = "SINDy";
const NODE: &str = "N-ODE";
const LEM: &str = "LEM";

const ALL: &[&str] = &[GTF, AGTF, STF, DENDRITIC, RC, LSTM, SINDY, NODE, LEM];
const SIMULATED: &[&str] = &[GTF, DENDRITIC, RC, LSTM, SINDY, NODE, LEM];

/// All tables of the paper.
pub static PAPER_TABLES: [PaperTable; 5] = [
    PaperTable {
        name: "1",
        title: "all methods on real recordings",
        blocks: &[block("ECG", ALL), block("EEG", ALL)],
    },
    PaperTable {
        name: "S1",
        title: "a system that is seen in part",
        blocks: &[block("multiscale Lorenz-96", &[GTF, DENDRITIC, NODE])],
    },
    PaperTable {
        name: "S2",
        title: "the parts of the method, taken away one by one",
        blocks: &[
            block("ECG", &[GTF, TANH, "dendPLRNN + GTF", "dendPLRNN + STF"]),
            block("EEG", &[GTF, TANH]),
        ],
    },
    PaperTable {
        name: "S3",
        title: "all methods on simulated systems",
        blocks: &[block("Lorenz-63", SIMULATED), block("Lorenz-96", SIMULATED)],
    },
    PaperTable {
        name: "S4",
        title: "neural ODEs and models made of them",
        blocks: &[block("EEG", &[GTF, NODE, "Latent-ODE", "ODE-RNN"])],
    },
];

const fn block(data: &'static str, methods: &'static [&'static str]) -> Block {
    Block { data, methods }
}

impl PaperTable {
    /// The table of this number.
    pub fn find(name: &str) -> Result<&'static PaperTable, Error> {
        let mut tables = PAPER_TABLES.iter();
        let found = tables.find(|table| table.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::UnknownName {
            what: "table of the paper",
            name: name.to_string(),
            near: None,
        })
    }

    /// One table per data set, filled with the runs of some studies.
    pub fn filled(&self, studies: &[Vec<Scored>]) -> Vec<Table> {
        let blocks = self.blocks.iter();
        blocks.map(|block| block.filled(studies)).collect()
    }
}

impl Block {
    fn filled(&self, studies: &[Vec<Scored>]) -> Table {
        let rows = self
            .methods
            .iter()
            .map(|method| (*method, self.row(method)));
        let parts: Vec<(&str, &PaperRow, Vec<&Scored>)> = rows
            .map(|(method, row)| (method, row, most_of(studies, row)))
            .collect();
        let all = || parts.iter().flat_map(|(_, _, runs)| runs);
        let is_shown = |id: &&str| match *id {
            // The paper's form alone, where there is one.
            "d_stsp" => !all().any(|run| run.scores.contains_key("d_stsp_paper")),
            "d_stsp_paper" => all().any(|run| run.scores.contains_key(id)),
            _ => true,
        };
        let measures: Vec<&'static str> = MEASURES.into_iter().filter(is_shown).collect();
        let group = |(method, row, runs): &(&str, &'static PaperRow, Vec<&Scored>)| {
            let values = vec![self.data.to_string(), (*method).to_string()];
            Group::of(values, runs, &measures, Some(*row))
        };
        let trained: Vec<Vec<&Scored>> = parts.iter().map(|(_, _, runs)| runs.clone()).collect();
        Table {
            keys: ["data", "method"].map(String::from).to_vec(),
            pe_steps: all().next().map_or(20, |run| run.pe_steps),
            groups: parts.iter().map(group).collect(),
            tests: (0..measures.len())
                .map(|i| test(&trained, &measures, i))
                .collect(),
            measures,
        }
    }

    /// The paper's row of a method.
    fn row(&self, method: &str) -> &'static PaperRow {
        let name = format!("{method} / {}", self.data);
        paper::find(&name).expect("every row of a table is known; a test goes through them")
    }
}

/// The runs of the entry that names a row and has most of them.
fn most_of<'a>(studies: &'a [Vec<Scored>], row: &PaperRow) -> Vec<&'a Scored> {
    let name = trained_as(row.name);
    let names = |run: &&Scored| run.paper.as_deref() == Some(name);
    let mut most = Vec::new();
    for study in studies {
        for entry in keys::parts(study, &[Key::Name]) {
            let runs: Vec<&Scored> = entry.into_iter().filter(names).collect();
            if runs.len() > most.len() {
                most = runs;
            }
        }
    }
    most
}

/// The row whose runs a row has: the paper repeats one under another name.
fn trained_as(name: &str) -> &str {
    match name {
        "dendPLRNN + STF / ECG" => "dendPLRNN + id-TF / ECG",
        own => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_every_table_is_known() {
        let blocks = PAPER_TABLES.iter().flat_map(|table| table.blocks);
        let rows: Vec<&str> = blocks
            .flat_map(|block| block.methods.iter().map(|method| block.row(method).name))
            .collect();
        assert_eq!(rows.len(), 18 + 3 + 6 + 14 + 4);
        let is_shown = |row: &PaperRow| rows.contains(&row.name);
        assert!(paper::PAPER.iter().all(is_shown));
    }
}
