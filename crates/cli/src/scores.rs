//! An evaluation as text: a table of scores with their floors and chance levels, then what helps to read it.

use std::io::{self, Write};

use attractor::evaluation::{Evaluation, Floor, Score};
use attractor::text::{count, figure, measure};
use attractor::verdict::Verdict;

use crate::table;
use crate::visible::notes;

/// Writes the table to `out`.
pub(crate) fn write_table(evaluation: &Evaluation, out: &mut dyn Write) -> io::Result<()> {
    let rows = evaluation.scores.iter().map(|score| row(evaluation, score));
    let rows: Vec<[String; 7]> = [head(evaluation)].into_iter().chain(rows).collect();
    table::write(out, &rows)?;
    for line in remarks(evaluation) {
        writeln!(out, "{line}")?;
    }
    write_verdict(&evaluation.verdict(), out)
}

/// Writes the word, then a line per reason.
fn write_verdict(verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "verdict: {}", verdict.word.text())?;
    for reason in &verdict.reasons {
        writeln!(out, "  {reason}")?;
    }
    if let Some(next) = &verdict.next {
        writeln!(out, "next: {next}")?;
    }
    Ok(())
}

/// Writes what a reader should know to standard error.
pub(crate) fn write_notes(evaluation: &Evaluation) -> io::Result<()> {
    let mut notes = notes();
    for note in &evaluation.notes {
        writeln!(notes, "note: {note}")?;
    }
    Ok(())
}

fn head(evaluation: &Evaluation) -> [String; 7] {
    let titles = [
        "measure", "value", "error", "floor", "chance", "median", "worst",
    ];
    let shown = [
        true,
        true,
        true,
        evaluation.floor.is_some(),
        evaluation.floor.is_some(),
        evaluation.starts.is_some(),
        evaluation.starts.is_some(),
    ];
    std::array::from_fn(|i| {
        if shown[i] {
            titles[i].to_string()
        } else {
            String::new()
        }
    })
}

fn row(evaluation: &Evaluation, score: &Score) -> [String; 7] {
    let name = match score.id {
        "pe" => format!("pe({})", evaluation.pe_steps),
        id => id.to_string(),
    };
    let value = score.value.as_ref().ok();
    let error = value.and_then(|estimate| estimate.standard_error);
    let level = |pick: fn(&attractor::measure::levels::Level) -> Option<f64>| {
        score
            .level
            .as_ref()
            .map_or(String::new(), |level| number(pick(level)))
    };
    let over = score.over_starts.as_ref();
    let least = if score.is_lower_bound() { "≥ " } else { "" };
    [
        name,
        format!("{least}{}", number(value.map(|estimate| estimate.value))),
        error.map_or(String::new(), |error| format!("± {}", figure(error))),
        level(|level| level.floor),
        level(|level| level.chance),
        over.map_or(String::new(), |over| number(over.median)),
        over.map_or(String::new(), |over| number(over.worst)),
    ]
}

/// A number, or a dash where there is none.
fn number(value: Option<f64>) -> String {
    value.map_or("–".to_string(), figure)
}

fn remarks(evaluation: &Evaluation) -> Vec<String> {
    let mut lines = Vec::new();
    if evaluation.diverged {
        lines.push("the orbit diverges: there are no scores".to_string());
    }
    for score in evaluation.scores.iter().filter(|_| !evaluation.diverged) {
        lines.extend(remark(score));
    }
    if let Some(outside) = evaluation.outside {
        let percent = figure(100.0 * outside);
        lines.push(format!(
            "outside the box around the truth: {percent} % of rows"
        ));
    }
    if let Some(starts) = evaluation.starts {
        let diverged = match starts.diverged {
            0 => String::new(),
            n => format!(", of which {n} diverged"),
        };
        let orbits = count(starts.count, "start");
        lines.push(format!("median, worst: of orbits from {orbits}{diverged}"));
    }
    lines.extend(evaluation.floor.as_ref().map(|floor| match floor {
        Floor::Halves => "floor: the halves of the truth against each other".to_string(),
        Floor::OtherOrbits(system) => format!("floor: other orbits of {system}, the median"),
    }));
    if evaluation.floor.is_some() {
        lines.push("chance: the best surrogate without the dynamics".to_string());
    }
    lines
}

/// Why a score is not there, and what else is known of it.
fn remark(score: &Score) -> Vec<String> {
    let id = score.id;
    let mut lines = Vec::new();
    match &score.value {
        Err(why) => lines.push(format!("{id}: {why}")),
        Ok(estimate) if estimate.dropped > 0 => {
            let samples = count(estimate.dropped, "sample");
            lines.push(format!("{id}: {samples} dropped, as in the paper's tables"));
        }
        Ok(_) => {}
    }
    if let Some(details) = &score.valid_time {
        // Forecasts that were all still valid say no more.
        let least = if score.is_lower_bound() {
            "at least "
        } else {
            ""
        };
        let mut line = format!("{id}: a time of {least}{}", figure(details.time));
        if let Some(times) = details.lyapunov_times {
            line += &format!(" ({})", measure(times, "Lyapunov time"));
        }
        if details.found.censored > 0 {
            let was = if details.found.censored == 1 {
                "was"
            } else {
                "were"
            };
            line += &format!(
                "; {} of {} {was} still valid after {}",
                details.found.censored,
                count(details.found.starts, "forecast"),
                count(details.found.horizon, "step")
            );
        }
        lines.push(line);
    }
    lines
}
