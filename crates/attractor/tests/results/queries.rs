//! The queries of the pages (CONTRIBUTING.md, "A result"): from words to a table or a number.
//!
//! ```text
//! paper 1 [DATA]                       a table of the paper's, ours with theirs in brackets
//! data DATA [without STUDY …]          all rows of a data set of which a run counts
//! rows STUDY[/ROW] …                   rows of studies
//! grid STUDY KEY+KEY by KEY [chosen]   a search: medians by the settings that it varies
//! STUDY ROW [chosen] [all] MEASURE [median|floor|chance|p]
//! STUDY ROW [chosen] seeds | counted | by-seed MEASURE | setting NAME
//! ```

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

use attractor::study::{Scored, index};
use attractor::table::{Beside, Group, PaperTable, Table};

use super::sheet::{Line, Measure, SHOWN, Sheet, with_last};

/// Data sets by the first word of their studies, the longer of two that begin alike first.
const DATA: [&str; 5] = ["lorenz63", "lorenz96-multiscale", "lorenz96", "ecg", "eeg"];

/// All studies by name.
pub(super) struct Results {
    studies: BTreeMap<String, Study>,
}

struct Study {
    runs: Vec<Scored>,
    /// Whether it chose settings of another.
    is_search: bool,
}

/// Which of the parameters of a training.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameters {
    Last,
    Chosen,
}

/// A row of a study on a page: its name, and what it has of the last and of the chosen parameters.
struct Row {
    study: String,
    name: String,
    last: Cells,
    chosen: Option<Cells>,
}

/// How many runs count, and the scores.
struct Cells {
    counted: usize,
    seeds: String,
    scores: [String; 3],
}

impl Results {
    /// Reads the files of studies.
    pub(super) fn read<'a>(files: impl IntoIterator<Item = &'a Path>) -> Results {
        let study = |file: &Path| {
            let study = Study {
                runs: index(file).unwrap(),
                is_search: file.parent().unwrap().ends_with("search"),
            };
            let name = file.file_stem().unwrap().to_string_lossy();
            (name.into_owned(), study)
        };
        Results {
            studies: files.into_iter().map(study).collect(),
        }
    }

    /// What a query gives.
    pub(super) fn answer(&self, query: &str) -> String {
        let words: Vec<&str> = query.split_whitespace().collect();
        let found = match &words[..] {
            ["paper", number, data @ ..] => self.paper(number, &data.join(" ")),
            ["data", data] => self.data(data, &[]),
            ["data", data, "without", others @ ..] => self.data(data, others),
            ["rows", items @ ..] => self.rows(items),
            ["grid", study, down, "by", across, rest @ ..] => {
                self.grid(study, down, across, parameters(rest))
            }
            [study, row, rest @ ..] => self.value(study, row, rest),
            _ => None,
        };
        found.unwrap_or_else(|| panic!("`{query}` has no answer"))
    }

    fn study(&self, name: &str) -> &[Scored] {
        let study = self.studies.get(name);
        &study
            .unwrap_or_else(|| panic!("there is no study `{name}`"))
            .runs
    }

    /// Ours beside the paper's, one line per method.
    fn paper(&self, number: &str, data: &str) -> Option<String> {
        let studies = self.studies.values().filter(|study| !study.is_search);
        let studies: Vec<Vec<Scored>> = studies.map(|study| with_last(&study.runs)).collect();
        let tables = PaperTable::find(number).ok()?.filled(&studies);
        let sheets = tables.iter().map(Sheet::new);
        let sheets = sheets.filter(|sheet| data.is_empty() || sheet.lines[0].keys[0] == data);
        let mut rows = vec![head(
            &["data", "method", "seeds", "D_stsp", "D_H", "PE(20)"],
            2,
        )];
        for sheet in sheets {
            rows.extend(sheet.lines.iter().enumerate().map(|(i, line)| {
                let data = if i == 0 { line.keys[0].as_str() } else { "" };
                let seeds = match line.runs {
                    0 => "–".to_string(),
                    _ => line.seeds(),
                };
                let scores = SHOWN.map(|measure| sheet.beside(line, measure));
                row(&[
                    &[data.to_string(), line.keys[1].clone(), seeds],
                    &scores[..],
                ]
                .concat())
            }));
            rows.extend(levels(&sheet, 2));
        }
        Some(block(&rows))
    }

    /// Every row of a data set of which a run counts, of the last or of the chosen parameters.
    fn data(&self, data: &str, without: &[&str]) -> Option<String> {
        let is_shown = |name: &str| data_of(name) == Some(data) && !without.contains(&name);
        let studies = self.studies.iter();
        let studies = studies.filter(|(name, study)| is_shown(name) && !study.is_search);
        let rows = studies.flat_map(|(name, _)| self.of_study(name, None));
        let counts = |row: &Row| {
            let chosen = row.chosen.iter();
            [&row.last]
                .into_iter()
                .chain(chosen)
                .any(|cells| cells.counted > 0)
        };
        let rows: Vec<Row> = rows.filter(counts).collect();
        self.listed(&rows)
    }

    /// The rows that are named, in this order.
    fn rows(&self, items: &[&str]) -> Option<String> {
        let rows = items.iter().flat_map(|item| match item.split_once('/') {
            Some((study, row)) => self.of_study(study, Some(row)),
            None => self.of_study(item, None),
        });
        let rows: Vec<Row> = rows.collect();
        self.listed(&rows)
    }

    fn of_study(&self, study: &str, only: Option<&str>) -> Vec<Row> {
        let runs: Vec<Scored> = match only {
            Some(only) => select(self.study(study), only),
            None => self.study(study).to_vec(),
        };
        assert!(!runs.is_empty(), "{study} has no row {only:?}");
        let last = Sheet::of(&with_last(&runs));
        let chosen = Sheet::of(&runs);
        let lines = last.lines.iter().zip(&chosen.lines);
        let has_chosen = |line: &Line| {
            let of_line =
                |run: &&Scored| line.keys.iter().any(|key| Some(key) == run.name.as_ref());
            let unnamed = runs.iter().all(|run| run.name.is_none());
            let mut own = runs.iter().filter(|run| unnamed || of_line(run));
            own.any(|run| run.last.is_some())
        };
        let one = |(line, other): (&Line, &Line)| Row {
            study: study.to_string(),
            name: last.label(line),
            last: Cells::of(&last, line),
            chosen: has_chosen(line).then(|| Cells::of(&chosen, other)),
        };
        lines.map(one).collect()
    }

    /// Rows as a table, with floor and chance below where the studies have the same.
    fn listed(&self, rows: &[Row]) -> Option<String> {
        let has_chosen = rows.iter().any(|row| row.chosen.is_some());
        let own = ["seeds", "D_stsp", "D_H", "PE(20)"];
        let chosen = ["chosen: seeds", "D_stsp", "D_H", "PE(20)"];
        let mut heads = vec!["row"];
        heads.extend(own);
        heads.extend(chosen.into_iter().filter(|_| has_chosen));
        let mut lines = vec![head(&heads, 1)];
        for one in rows {
            let is_twice = rows.iter().filter(|other| other.name == one.name).count() > 1;
            let study = if is_twice {
                format!(", {}", one.study)
            } else {
                String::new()
            };
            let label = format!("`{}`{study}", one.name);
            let chosen = one.chosen.as_ref().map(Cells::all);
            let blank = vec![String::new(); if has_chosen { 4 } else { 0 }];
            lines.push(row(
                &[vec![label], one.last.all(), chosen.unwrap_or(blank)].concat()
            ));
        }
        let sheets = rows.iter().map(|row| Sheet::of(self.study(&row.study)));
        let mut found = sheets.filter_map(|sheet| levels(&sheet, 1));
        let pad = if has_chosen { "|  |  |  |  |\n" } else { "|\n" };
        let found = found.next();
        lines.extend(found.map(|row| row.trim_end_matches("|\n").to_string() + pad));
        Some(block(&lines))
    }

    /// Medians of a search: `D_stsp / D_H / PE(20)` with two digits.
    fn grid(&self, study: &str, down: &str, across: &str, of: Parameters) -> Option<String> {
        let runs = of.of(self.study(study));
        let downs: Vec<&str> = down.split('+').collect();
        let by = downs.iter().chain([&across]).map(|key| (*key).to_string());
        let table = Table::new(&runs, &by.collect::<Vec<_>>(), Beside::Nothing).ok()?;
        let (mut lines, mut columns) = (Vec::<&[String]>::new(), Vec::<&String>::new());
        for group in &table.groups {
            let (column, line) = group.values.split_last()?;
            if !lines.contains(&line) {
                lines.push(line);
            }
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let size = |value: &String| value.parse::<f64>().unwrap_or(f64::INFINITY);
        columns.sort_by(|a, b| size(a).total_cmp(&size(b)));
        lines.sort_by(|a, b| {
            let mut pairs = a.iter().zip(*b).map(|(a, b)| size(a).total_cmp(&size(b)));
            pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        let names = columns.iter().map(|column| format!("{across} {column}"));
        let heads = downs.iter().map(|key| (*key).to_string()).chain(names);
        let mut rows = vec![head(&heads.collect::<Vec<_>>(), downs.len())];
        for line in lines {
            let cells = columns.iter().map(|column| {
                let is_it = |group: &&Group| group.values.split_last() == Some((column, line));
                let group = table.groups.iter().find(is_it);
                group.map_or(String::new(), |group| medians(&table, group))
            });
            let cells: Vec<String> = line.iter().cloned().chain(cells).collect();
            rows.push(row(&cells));
        }
        Some(block(&rows))
    }

    /// One number, or the numbers of all seeds.
    fn value(&self, study: &str, row: &str, rest: &[&str]) -> Option<String> {
        let of = parameters(rest);
        let runs = of.of(&select(self.study(study), row));
        let rest: Vec<&str> = rest
            .iter()
            .copied()
            .filter(|word| *word != "chosen")
            .collect();
        let sheet = Sheet::of(&runs);
        let is_p = rest.last() == Some(&"p");
        // Several rows have a number in common for `p` alone.
        let line = sheet
            .lines
            .first()
            .filter(|_| is_p || sheet.lines.len() == 1)?;
        match rest[..] {
            ["setting", name] => runs.first()?.settings.get(name).cloned(),
            ["seeds"] => Some(line.runs.to_string()),
            ["counted"] => Some(line.counted.to_string()),
            ["by-seed", measure] => Some(by_seed(&runs, Measure::find(measure)?)),
            ["all", measure] => Some(sheet.every(line, Measure::find(measure)?)),
            ["all", measure, "median"] => Some(median(&sheet.every(line, Measure::find(measure)?))),
            [measure] => Some(sheet.counted(line, Measure::find(measure)?)),
            [measure, "median"] => Some(median(&sheet.counted(line, Measure::find(measure)?))),
            [measure, below] => Some(median(&sheet.below(below, Measure::find(measure)?)?)),
            _ => None,
        }
    }
}

impl Parameters {
    fn of(self, runs: &[Scored]) -> Vec<Scored> {
        match self {
            Parameters::Last => with_last(runs),
            Parameters::Chosen => runs.to_vec(),
        }
    }
}

fn parameters(words: &[&str]) -> Parameters {
    if words.contains(&"chosen") {
        Parameters::Chosen
    } else {
        Parameters::Last
    }
}

impl Cells {
    fn of(sheet: &Sheet, line: &Line) -> Cells {
        Cells {
            counted: line.counted,
            seeds: line.seeds(),
            scores: SHOWN.map(|measure| sheet.shown(line, measure)),
        }
    }

    fn all(&self) -> Vec<String> {
        let scores = self.scores.iter().cloned();
        [self.seeds.clone()].into_iter().chain(scores).collect()
    }
}

/// The data set that a study is about.
fn data_of(study: &str) -> Option<&'static str> {
    let is_of = |data: &&str| {
        let rest = study.strip_prefix(*data);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    DATA.into_iter().find(is_of)
}

/// The runs of rows: names or settings as in `alpha=0.1+noise=0`, several between commas; `*` for all.
fn select(runs: &[Scored], rows: &str) -> Vec<Scored> {
    let holds = |run: &Scored, condition: &str| match condition.split_once('=') {
        Some((key, value)) => run.settings.get(key).is_some_and(|own| own == value),
        None => condition == "*" || run.name.as_deref() == Some(condition),
    };
    let is_row = |run: &Scored, row: &str| row.split('+').all(|condition| holds(run, condition));
    let is_in = |run: &&Scored| rows.split(',').any(|row| is_row(run, row));
    runs.iter().filter(is_in).cloned().collect()
}

/// Over the runs that count or, where none does, over every run with a value.
fn medians(table: &Table, group: &Group) -> String {
    let has_f32 = table.measures.contains(&"d_stsp_paper");
    let one = |measure: Measure| {
        let mut measures = table.measures.iter();
        let place = measures.position(|id| *id == measure.id(has_f32)).unwrap();
        let column = &group.columns[place];
        let summary = if group.counted > 0 {
            &column.summary
        } else {
            &column.every
        };
        digits(summary.median, 2)
    };
    SHOWN.map(one).join(" / ")
}

fn by_seed(runs: &[Scored], measure: Measure) -> String {
    let has_f32 = runs
        .iter()
        .any(|run| run.scores.contains_key("d_stsp_paper"));
    let mut runs: Vec<&Scored> = runs.iter().collect();
    runs.sort_by_key(|run| run.seed);
    let one = |run: &&Scored| {
        run.value(measure.id(has_f32))
            .map_or("–".to_string(), |v| digits(v, 3))
    };
    runs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The number of a figure, with no more than three digits: `5.43e-4` of `(5.43 ± 0.29)e-4`.
fn median(text: &str) -> String {
    let (median, rest) = text.split_once(" ± ").unwrap_or((text, ""));
    let median = median.trim_start_matches('(');
    let power = rest.split_once(')').map_or("", |(_, power)| power);
    let shown = median.chars().take_while(|c| *c != 'e');
    let shown = shown.filter(char::is_ascii_digit).skip_while(|c| *c == '0');
    let count = shown.count().min(3);
    let number = format!("{median}{power}").parse();
    number.map_or(text.to_string(), |number| digits(number, count))
}

/// With so many digits; a dash if there is no number.
fn digits(number: f64, count: usize) -> String {
    if !number.is_finite() {
        return "–".to_string();
    }
    // Rounded first: 0.0996 has two digits as 0.10.
    let rounded: f64 = format!("{number:.*e}", count - 1).parse().unwrap();
    let power = rounded.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    match power {
        -2..=3 => format!("{rounded:.*}", (count as i32 - 1 - power).max(0) as usize),
        _ => format!("{number:.*e}", count - 1),
    }
}

/// Floor and chance in one row, below so many words.
fn levels(sheet: &Sheet, words: usize) -> Option<String> {
    let level = |measure: Measure| {
        let [floor, chance] = ["floor", "chance"].map(|name| sheet.below(name, measure));
        Some(format!("{}, {}", floor?, chance?))
    };
    let levels: Option<Vec<String>> = SHOWN.into_iter().map(level).collect();
    let mut cells = vec![String::new(); words + 1];
    cells[words - 1] = "floor, chance".to_string();
    Some(row(&[cells, levels?].concat()))
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The names of columns, of which so many have words, and the rule below.
fn head(names: &[impl Borrow<str>], words: usize) -> String {
    let rules = (0..names.len()).map(|i| if i < words { "---" } else { "---:" });
    let rules: Vec<&str> = rules.collect();
    let names: Vec<&str> = names.iter().map(Borrow::borrow).collect();
    format!("| {} |\n| {} |\n", names.join(" | "), rules.join(" | "))
}

/// A table on lines of its own.
fn block(rows: &[String]) -> String {
    format!("\n{}", rows.concat())
}

#[test]
fn digits_are_rounded_before_they_are_counted() {
    for (number, count, text) in [
        (0.0996, 2, "0.10"),
        (3.8162, 2, "3.8"),
        (12.04, 2, "12"),
        (16.356, 3, "16.4"),
        (1.2e-3, 2, "1.2e-3"),
        (12024.0, 2, "1.2e4"),
        (f64::NAN, 2, "–"),
    ] {
        assert_eq!(digits(number, count), text);
    }
}

#[test]
fn the_median_is_taken_from_a_figure() {
    assert_eq!(median("(5.43 ± 0.29)e-4"), "5.43e-4");
    assert_eq!(median("0.236 ± 0.031"), "0.236");
    assert_eq!(median("16.36"), "16.4");
    assert_eq!(median("7.7 ± 2.9"), "7.7");
    assert_eq!(median("3.158e-8"), "3.16e-8");
    assert_eq!(median("–"), "–");
}

#[test]
fn a_study_belongs_to_the_longest_name() {
    assert_eq!(
        data_of("lorenz96-multiscale-neural-ode"),
        Some("lorenz96-multiscale")
    );
    assert_eq!(data_of("lorenz96-methods"), Some("lorenz96"));
    assert_eq!(data_of("eeg"), Some("eeg"));
    assert_eq!(data_of("eegs"), None);
}
