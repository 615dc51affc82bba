//! A table as text in columns, as Markdown, as LaTeX (booktabs), and as comma-separated values in full precision.

use std::io::{self, Write};

use super::sheet::{Cell, Head, Sheet};
use super::{Column, Group, Table};
use crate::spreadsheet::cell;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text in columns.
    Text,
    /// Markdown.
    Markdown,
    /// Comma-separated values.
    Csv,
    /// LaTeX.
    Latex,
}

impl Table {
    /// Writes the table.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => text(&Sheet::new(self), out),
            Format::Markdown => markdown(&Sheet::new(self), out),
            Format::Latex => latex(&Sheet::new(self), out),
            Format::Csv => csv(self, out),
        }
    }
}

fn plain_head(head: &Head) -> String {
    match head {
        Head::Word(word) => word.clone(),
        Head::Parameters => "|θ|".to_string(),
        Head::Measure("pe", n) => format!("PE({n})"),
        Head::Measure("d_stsp", _) => "D_stsp".to_string(),
        Head::Measure("d_stsp_paper", _) => "D_stsp (f32)".to_string(),
        Head::Measure("d_h", _) => "D_H".to_string(),
        Head::Measure(other, _) => (*other).to_string(),
    }
}

fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Words(words) => words.clone(),
        Cell::Number(figure, None) => figure.plain(),
        Cell::Number(figure, Some(remark)) => format!("{}, {remark}", figure.plain()),
        Cell::Missing => "–".to_string(),
    }
}

/// All rows as text, the head first.
fn plain_rows(sheet: &Sheet) -> Vec<Vec<String>> {
    let head = sheet.head.iter().map(plain_head).collect();
    let rows = sheet.body.iter().chain(&sheet.foot);
    let rows = rows.map(|row| row.iter().map(plain).collect());
    [head].into_iter().chain(rows).collect()
}

fn text(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let rows = plain_rows(sheet);
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max();
    let widths: Vec<usize> = (0..sheet.head.len())
        .map(|i| width(i).unwrap_or(0))
        .collect();
    for row in &rows {
        let cells = row.iter().zip(&widths);
        let line: String = cells
            .map(|(cell, width)| format!("  {cell:width$}"))
            .collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn markdown(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let rows = plain_rows(sheet);
    for (i, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| markdown_cell(cell)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
        if i == 0 {
            writeln!(out, "|{}", " --- |".repeat(row.len()))?;
        }
    }
    Ok(())
}

/// Words with all that has a meaning in Markdown escaped; `_` has none within a word.
fn markdown_cell(words: &str) -> String {
    let is_letter = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
    let all: Vec<char> = words.chars().collect();
    let one = |(i, &c): (usize, &char)| match c {
        '_' if i > 0 && is_letter(all.get(i - 1)) && is_letter(all.get(i + 1)) => c.to_string(),
        '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '$' => format!("\\{c}"),
        '\n' | '\r' => " ".to_string(),
        other => other.to_string(),
    };
    all.iter().enumerate().map(one).collect()
}

fn latex(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let line = |row: &[Cell]| {
        let cells: Vec<String> = row.iter().map(latex_cell).collect();
        format!(r"{} \\", cells.join(" & "))
    };
    let head: Vec<String> = sheet.head.iter().map(latex_head).collect();
    let left = sheet.keys;
    let columns = "l".repeat(left) + &"c".repeat(sheet.head.len() - left);
    writeln!(out, r"\begin{{tabular}}{{{columns}}}")?;
    writeln!(out, "\\toprule\n{} \\\\\n\\midrule", head.join(" & "))?;
    for row in &sheet.body {
        writeln!(out, "{}", line(row))?;
    }
    if !sheet.foot.is_empty() {
        writeln!(out, r"\midrule")?;
    }
    for row in &sheet.foot {
        writeln!(out, "{}", line(row))?;
    }
    writeln!(out, "\\bottomrule\n\\end{{tabular}}")
}

fn latex_head(head: &Head) -> String {
    match head {
        Head::Word(word) => escaped(word),
        Head::Parameters => r"$\lvert\theta\rvert$".to_string(),
        Head::Measure("pe", n) => format!(r"$\mathrm{{PE}}({n})$"),
        Head::Measure("d_stsp", _) => r"$D_\mathrm{stsp}$".to_string(),
        Head::Measure("d_stsp_paper", _) => r"$D_\mathrm{stsp}$ (f32)".to_string(),
        Head::Measure("d_h", _) => "$D_H$".to_string(),
        Head::Measure(other, _) => escaped(other),
    }
}

fn latex_cell(cell: &Cell) -> String {
    match cell {
        Cell::Words(words) => escaped(words),
        Cell::Number(figure, None) => figure.latex(),
        Cell::Number(figure, Some(remark)) => format!("{}, {remark}", figure.latex()),
        Cell::Missing => "--".to_string(),
    }
}

/// Words with all that has a meaning in LaTeX escaped.
fn escaped(words: &str) -> String {
    let one = |c: char| match c {
        '\\' => r"\textbackslash{}".to_string(),
        '~' => r"\textasciitilde{}".to_string(),
        '^' => r"\textasciicircum{}".to_string(),
        '–' => "--".to_string(),
        '<' => r"\textless{}".to_string(),
        '>' => r"\textgreater{}".to_string(),
        '|' => r"\textbar{}".to_string(),
        '\n' | '\r' => " ".to_string(),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!(r"\{c}"),
        other => other.to_string(),
    };
    words.chars().map(one).collect()
}

/// What is written of every measure, after its name.
const FIELDS: [&str; 10] = [
    "median",
    "mad",
    "mean",
    "sd",
    "missing",
    "floor",
    "chance",
    "p",
    "published",
    "published_mad",
];

fn csv(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let counts = ["runs", "diverged", "dropped", "good", "dim", "parameters"].map(String::from);
    let of_measure = |id: &&str| {
        let names = FIELDS.into_iter().chain(["verdict"]);
        let id = (*id).to_string();
        names.map(move |field| format!("{id}_{field}"))
    };
    let measures = table.measures.iter().flat_map(of_measure);
    let keys = table.keys.iter().cloned();
    let head = keys.chain(counts).chain(measures).collect();
    let rows = table.groups.iter().map(|group| csv_cells(table, group));
    for row in [head].into_iter().chain(rows) {
        let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

fn csv_cells(table: &Table, group: &Group) -> Vec<String> {
    let span = |(low, high): (usize, usize)| {
        if low == high {
            low.to_string()
        } else {
            format!("{low}–{high}")
        }
    };
    let mut cells = group.values.clone();
    cells.extend([group.runs, group.diverged, group.dropped()].map(|n| n.to_string()));
    cells.push(group.good.map_or(String::new(), |n| n.to_string()));
    cells.extend([span(group.dim), span(group.parameters)]);
    for (column, test) in group.columns.iter().zip(&table.tests) {
        cells.extend(csv_column(column, test.map(|test| test.p)));
    }
    cells
}

/// Numbers in full, nothing where there is none.
fn csv_column(column: &Column, p: Option<f64>) -> Vec<String> {
    let summary = &column.summary;
    let numbers = [
        Some(summary.median),
        Some(summary.mad),
        Some(summary.mean),
        Some(summary.sd),
        Some(column.missing as f64),
        column.floor,
        column.chance,
        p,
        column.paper.map(|paper| paper.median),
        column.paper.map(|paper| paper.mad),
    ];
    let text = |number: Option<f64>| {
        let finite = number.filter(|number| number.is_finite());
        finite.map_or(String::new(), |number| number.to_string())
    };
    let verdict = column.paper.and_then(|paper| paper.verdict);
    let verdict = verdict.map_or(String::new(), |verdict| verdict.word().to_string());
    numbers.map(text).into_iter().chain([verdict]).collect()
}
