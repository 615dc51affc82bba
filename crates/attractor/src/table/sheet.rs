//! A table as rows of cells, before it is known how cells are written: groups, each with the paper's row under it if
//! that is asked for, then floors, chance levels and probabilities.

use super::figure::Figure;
use super::{Column, Comparison, Group, Table};

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    /// Words; empty for none.
    Words(String),
    /// A number with its spread, and a remark.
    Number(Figure, Option<&'static str>),
    /// No number.
    Missing,
}

/// Rows of cells.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// How many columns at the left say which group it is.
    pub(super) keys: usize,
    /// What columns are called.
    pub(super) head: Vec<Head>,
    /// Groups.
    pub(super) body: Vec<Vec<Cell>>,
    /// Floor, chance and probability.
    pub(super) foot: Vec<Vec<Cell>>,
}

/// What a column is called.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Head {
    /// A setting or another word.
    Word(String),
    /// The number of parameters |θ|.
    Parameters,
    /// A measure by its name; n for PE(n).
    Measure(&'static str, usize),
}

impl Sheet {
    pub(super) fn new(table: &Table) -> Sheet {
        let has_verdicts = has_verdicts(table);
        let counts = ["runs", "dropped", "good", "dim"].map(String::from);
        let counts = counts
            .into_iter()
            .filter(|word| has_verdicts || word != "good");
        let words = table.keys.iter().cloned().chain(counts).map(Head::Word);
        let measures = table.measures.iter();
        let measures = measures.map(|id| Head::Measure(id, table.pe_steps));
        Sheet {
            keys: table.keys.len(),
            head: words.chain([Head::Parameters]).chain(measures).collect(),
            body: table
                .groups
                .iter()
                .flat_map(|g| rows(g, has_verdicts))
                .collect(),
            foot: foot(table),
        }
    }
}

fn words(text: impl Into<String>) -> Cell {
    Cell::Words(text.into())
}

fn span((low, high): (usize, usize)) -> Cell {
    if low == high {
        words(low.to_string())
    } else {
        words(format!("{low}–{high}"))
    }
}

/// Whether some run of a table has a verdict.
fn has_verdicts(table: &Table) -> bool {
    table.groups.iter().any(|group| group.good.is_some())
}

/// The row of a group, and under it the paper's.
fn rows(group: &Group, has_verdicts: bool) -> Vec<Vec<Cell>> {
    let keys = group.values.iter().map(words);
    let good = group.good.map_or(String::new(), |good| good.to_string());
    let counts = [
        words(group.runs.to_string()),
        words(group.dropped().to_string()),
    ];
    let good = has_verdicts.then(|| words(good));
    let sizes = counts.into_iter().chain(good);
    let own_sizes = match group.runs {
        0 => [words(""), words("")],
        _ => [span(group.dim), span(group.parameters)],
    };
    let sizes = sizes.chain(own_sizes);
    let scores = group.columns.iter().map(|column| {
        let summary = &column.summary;
        number(Some(summary.median).filter(|v| v.is_finite()), summary.mad)
    });
    let mut all = vec![keys.chain(sizes).chain(scores).collect()];
    if group.has_partial_runs() {
        all.push(every_run(group, has_verdicts));
    }
    let Some(paper) = group.paper else {
        return all;
    };
    let name = words(format!("paper: {}", paper.name));
    let blank = (1..group.values.len()).map(|_| words(""));
    let unknown = (0..1 + usize::from(has_verdicts)).map(|_| words(""));
    let sizes = [words("20")].into_iter().chain(unknown).chain([
        words(paper.dim.to_string()),
        words(paper.parameters.to_string()),
    ]);
    let is_diverging = paper.scores.is_none();
    let scores = group.columns.iter();
    let scores = scores.map(|column| published(column.paper, is_diverging));
    let theirs = [name].into_iter().chain(blank).chain(sizes).chain(scores);
    all.push(theirs.collect());
    all
}

/// The medians over all runs that have a value, of each measure its own.
fn every_run(group: &Group, has_verdicts: bool) -> Vec<Cell> {
    let blank = group.values.len() + 4 + usize::from(has_verdicts);
    let scores = group.columns.iter().map(|column| {
        let every = &column.every;
        number(Some(every.median).filter(|v| v.is_finite()), every.mad)
    });
    let first = [words("all that have one")].into_iter();
    let rest = (1..blank).map(|_| words(""));
    first.chain(rest).chain(scores).collect()
}

fn number(median: Option<f64>, mad: f64) -> Cell {
    median.map_or(Cell::Missing, |median| {
        Cell::Number(Figure::new(median, mad), None)
    })
}

fn published(paper: Option<Comparison>, is_diverging: bool) -> Cell {
    let Some(paper) = paper else {
        return words(if is_diverging { "diverging" } else { "" });
    };
    let figure = Figure::published(paper.median, paper.mad);
    Cell::Number(figure, paper.verdict.map(super::Verdict::word))
}

/// Floors and chance levels, and the probability that groups do not differ.
fn foot(table: &Table) -> Vec<Vec<Cell>> {
    let lead = |name: &str| -> Vec<Cell> {
        let counts = 4 + usize::from(has_verdicts(table));
        let blank = (1..table.keys.len() + counts).map(|_| words(""));
        [words(name)].into_iter().chain(blank).collect()
    };
    let row = |name: &str, of: &dyn Fn(usize) -> Option<f64>| -> Vec<Cell> {
        let cells = (0..table.measures.len()).map(|i| number(of(i), f64::NAN));
        lead(name).into_iter().chain(cells).collect()
    };
    let mut rows = levels(table, "floor", |column| column.floor);
    rows.extend(levels(table, "chance", |column| column.chance));
    let p = |i: usize| table.tests[i].map(|test| test.p);
    rows.push((
        String::from("p (Kruskal–Wallis)"),
        (0..table.measures.len()).map(p).collect(),
    ));
    let known = |(_, numbers): &(String, Vec<Option<f64>>)| numbers.iter().any(Option::is_some);
    let rows = rows.into_iter().filter(known);
    rows.map(|(name, numbers)| row(&name, &|i| numbers[i]))
        .collect()
}

/// Whether two rows of numbers differ where both have one.
fn differ(one: &[Option<f64>], other: &[Option<f64>]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.any(|(a, b)| a.is_some() && b.is_some() && a != b)
}

/// A level of every measure; where groups have others, as those do whose data are scaled in another way, one row for each.
fn levels(
    table: &Table,
    name: &str,
    of: fn(&Column) -> Option<f64>,
) -> Vec<(String, Vec<Option<f64>>)> {
    let mut rows: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for group in &table.groups {
        let numbers: Vec<Option<f64>> = group.columns.iter().map(of).collect();
        let is_new = rows.iter().all(|(_, known)| differ(known, &numbers));
        if is_new && numbers.iter().any(Option::is_some) {
            let of_group: Vec<&str> = group.values.iter().map(String::as_str).collect();
            rows.push((format!("{name} of {}", of_group.join(", ")), numbers));
        }
    }
    if let [(only, _)] = rows.as_mut_slice() {
        *only = name.to_string();
    }
    rows
}
