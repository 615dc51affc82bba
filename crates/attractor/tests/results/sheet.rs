//! A table as it is written, taken apart again: one line per group of runs, with the paper's row beside it.

use attractor::study::Scored;
use attractor::table::{Beside, Format, Table};

/// The rows of a table, and what stands below them.
pub(super) struct Sheet {
    head: Vec<String>,
    pub(super) lines: Vec<Line>,
    foot: Vec<Vec<String>>,
}

/// A group of runs.
pub(super) struct Line {
    /// Its values of the keys.
    pub(super) keys: Vec<String>,
    /// Runs, and how many of them count in the medians.
    pub(super) runs: usize,
    pub(super) counted: usize,
    own: Vec<String>,
    every: Option<Vec<String>>,
    paper: Option<Vec<String>>,
}

/// A measure by the name that it has on the pages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// In the paper's form, from six channels on.
    DStsp,
    /// In its exact form.
    Exact,
    DH,
    Pe,
}

/// What tables on the pages have of every row.
pub(super) const SHOWN: [Measure; 3] = [Measure::DStsp, Measure::DH, Measure::Pe];

impl Measure {
    pub(super) fn find(name: &str) -> Option<Measure> {
        match name {
            "D_stsp" => Some(Measure::DStsp),
            "exact" => Some(Measure::Exact),
            "D_H" => Some(Measure::DH),
            "PE" => Some(Measure::Pe),
            _ => None,
        }
    }

    /// Its name in the files of scores.
    pub(super) fn id(self, has_f32: bool) -> &'static str {
        match self {
            Measure::DStsp if has_f32 => "d_stsp_paper",
            Measure::DStsp | Measure::Exact => "d_stsp",
            Measure::DH => "d_h",
            Measure::Pe => "pe",
        }
    }
}

/// The runs with the scores of their last parameters.
pub(super) fn with_last(runs: &[Scored]) -> Vec<Scored> {
    runs.iter().cloned().map(Scored::with_last).collect()
}

/// A table in Markdown.
pub(super) fn written(table: &Table) -> String {
    let mut text = Vec::new();
    table.write(Format::Markdown, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The cells of a table in Markdown, row by row.
fn cells(table: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let line = line.trim_matches('|').replace(r"\|", "");
        line.split('|')
            .map(|cell| cell.trim().to_string())
            .collect()
    };
    table.lines().map(row).collect()
}

impl Sheet {
    /// Of runs by what they differ in.
    pub(super) fn of(runs: &[Scored]) -> Sheet {
        Sheet::new(&Table::new(runs, &[], Beside::Paper).unwrap())
    }

    pub(super) fn new(table: &Table) -> Sheet {
        let keys = table.keys.len();
        let mut rows = cells(&written(table)).into_iter();
        let head = rows.next().unwrap();
        let mut sheet = Sheet {
            head,
            lines: Vec::new(),
            foot: Vec::new(),
        };
        // The second line of a table in Markdown is a rule.
        for row in rows.skip(1) {
            sheet.take(row, keys);
        }
        sheet
    }

    fn take(&mut self, row: Vec<String>, keys: usize) {
        let first = row[0].as_str();
        if first == "all that have one" {
            self.lines.last_mut().unwrap().every = Some(row);
        } else if first.starts_with("paper: ") {
            self.lines.last_mut().unwrap().paper = Some(row);
        } else if let Ok(runs) = row[self.column("runs")].parse::<usize>() {
            let dropped: usize = row[self.column("dropped")].parse().unwrap();
            self.lines.push(Line {
                keys: row[..keys].to_vec(),
                runs,
                counted: runs - dropped,
                own: row,
                every: None,
                paper: None,
            });
        } else {
            self.foot.push(row);
        }
    }

    /// What tells a line from the others: its name, and settings with their values.
    pub(super) fn label(&self, line: &Line) -> String {
        let keys = self.head.iter().zip(&line.keys);
        let words = keys.map(|(key, value)| match key.as_str() {
            "name" | "study" => value.clone(),
            _ => format!("{key} {value}"),
        });
        words.collect::<Vec<_>>().join(", ")
    }

    fn column(&self, name: &str) -> usize {
        let mut heads = self.head.iter();
        heads.position(|head| head == name).unwrap()
    }

    fn place(&self, measure: Measure) -> usize {
        let place = |name: &str| self.head.iter().position(|head| head.starts_with(name));
        let place = match measure {
            Measure::DStsp => place("D_stsp (f32)").or(place("D_stsp")),
            Measure::Exact => place("D_stsp"),
            Measure::DH => place("D_H"),
            Measure::Pe => place("PE("),
        };
        place.unwrap()
    }

    /// The median ± MAD of a line over the runs that count.
    pub(super) fn counted(&self, line: &Line, measure: Measure) -> String {
        line.own[self.place(measure)].clone()
    }

    /// The same over every run with a value of the measure.
    pub(super) fn every(&self, line: &Line, measure: Measure) -> String {
        line.every.as_ref().unwrap_or(&line.own)[self.place(measure)].clone()
    }

    /// Over the runs that count or, where none does, over every run with a value.
    pub(super) fn shown(&self, line: &Line, measure: Measure) -> String {
        brief(match line.counted {
            0 => self.every(line, measure),
            _ => self.counted(line, measure),
        })
    }

    /// The same with the paper's number in square brackets, and a word where they do not agree; none if fewer than half of the runs count.
    pub(super) fn beside(&self, line: &Line, measure: Measure) -> String {
        let own = self.shown(line, measure);
        let paper = line.paper.as_ref().map(|row| &row[self.place(measure)]);
        paper.map_or(own.clone(), |theirs| {
            let words = if 2 * line.counted < line.runs {
                [", agrees", ", better", ", worse"].as_slice()
            } else {
                &[", agrees"]
            };
            let mut found = words.iter().filter_map(|word| theirs.strip_suffix(word));
            format!("{own} [{}]", found.next().unwrap_or(theirs))
        })
    }

    /// `floor`, `chance` or `p`; of the first group where groups have their own, as those do whose data are scaled in another way.
    pub(super) fn below(&self, name: &str, measure: Measure) -> Option<String> {
        let starts = match name {
            "p" => "p (Kruskal–Wallis)",
            level => level,
        };
        let row = self.foot.iter().find(|row| row[0].starts_with(starts))?;
        Some(row[self.place(measure)].clone())
    }
}

/// A figure whose spread is a millionth of it: five digits of it are enough.
fn brief(text: String) -> String {
    let numbers = text
        .split_once(" ± ")
        .map(|(a, b)| (a.parse::<f64>(), b.parse::<f64>()));
    match numbers {
        Some((Ok(median), Ok(mad))) if text.len() > 20 => format!("{median:.5} ± {mad:.0e}"),
        _ => text,
    }
}

impl Line {
    /// How many runs count, and of how many if not all do.
    pub(super) fn seeds(&self) -> String {
        if self.counted == self.runs {
            self.runs.to_string()
        } else {
            format!("{} of {}", self.counted, self.runs)
        }
    }
}

#[test]
fn a_tiny_spread_does_not_make_a_long_number() {
    let brief = |text: &str| brief(text.to_string());
    assert_eq!(brief("0.45972573 ± 0.00000079"), "0.45973 ± 8e-7");
    assert_eq!(brief("0.020072 ± 0.000049"), "0.020072 ± 0.000049");
    assert_eq!(brief("(5.586 ± 0.099)e-4"), "(5.586 ± 0.099)e-4");
}
