//! `attractor learn DATA`: the best model of a recording, of several methods, under a budget.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::Error;
use attractor::evaluation::EvaluationDocument;
use attractor::experiment::{DataSource, threads};
use attractor::inspect::{self, Options};
use attractor::learn::{
    Budget, Candidate, Event, Final, Goal, Learn as Race, LearnError, Learned, Ledger, Mark,
    Request, Spectator, Standing,
};
use attractor::report::{self, write_report};
use attractor::shell;
use attractor::text::{count, figure, grouped, measure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{inspect as inspect_verb, whole};
use crate::follow::Shown;
use crate::interrupt::Interrupt;
use crate::reading::Reading;
use crate::visible::notes;
use crate::{json, scores, table};

/// Find the best model of a recording: several methods race, the winner is judged by rows that nothing has seen
///
/// Reads and checks the recording, reads numbers that stand for missing values as such, interpolates short gaps, makes delay vectors of
/// one channel that hides states, and sets the last fifth aside. What is left trains and selects: methods that are solved at once are
/// tried with several settings, what is trained stops early unless it is among the best. The winner is fitted again from three seeds,
/// judged by the fifth that was set aside, and shown on a page. Ctrl-C saves the state; the same command continues from it.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// File of data
    data: PathBuf,
    /// About how long it may take
    #[arg(long, value_name = "M", default_value_t = 5.0, allow_negative_numbers = true, value_parser = minutes)]
    minutes: f64,
    /// Instead of minutes, the updates of a whole training: the same seed then gives the same result
    #[arg(long, value_name = "N", conflicts_with = "minutes", allow_negative_numbers = true, value_parser = updates)]
    updates: Option<u64>,
    /// What the model is for
    #[arg(long, value_enum, default_value_t = GoalWord::Attractor)]
    goal: GoalWord,
    /// The methods that race, separated by commas [default: all that suit the goal]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// Folder for all that is made, new or empty, or of the same race
    #[arg(long, value_name = "DIR", default_value = "attractor-learn")]
    out: PathBuf,
    /// Whole trajectories to judge by instead of the last fifth: how many at the end, or their names, separated by commas
    #[arg(long, value_name = "K|NAMES")]
    held_out_trajectories: Option<String>,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>)]
    seed: u64,
    /// Fits side by side, without effect on the result of a budget in updates; 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    workers: usize,
    /// Leave the page out
    #[arg(long)]
    no_report: bool,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GoalWord {
    /// Free orbits like those of the system
    Attractor,
    /// Forecasts
    Forecast,
    /// Free orbits, of a piecewise-linear model that can be taken apart completely
    Anatomy,
}

/// The page's name in the folder.
const PAGE: &str = "report.html";

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    run: &'a Path,
    report: Option<PathBuf>,
    notes: &'a [String],
    evaluation: Option<EvaluationDocument>,
    why: Option<&'a str>,
    race: &'a Ledger,
}

impl Learn {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let source = DataSource {
            path: std::path::absolute(&self.data).unwrap_or(self.data.clone()),
            options: self.reading.options(),
            ..DataSource::default()
        };
        let request = Request {
            source,
            out: self.out.clone(),
            goal: self.goal.meaning(),
            budget: match self.updates {
                Some(updates) => Budget::Updates(updates),
                None => Budget::Minutes(self.minutes),
            },
            methods: self.methods.clone(),
            held_out_trajectories: self.held_out_trajectories.clone(),
            seed: self.seed,
            workers: threads(self.workers),
        };
        let Some((race, learned)) = raced(request, self.json, out)? else {
            return Ok(ExitCode::from(crate::INTERRUPTED));
        };
        if !self.json {
            write_verdict(&learned, out)?;
            if self.goal.meaning() == Goal::Anatomy {
                write_beside(&learned, out)?;
            }
            out.flush()?;
        }
        let has_page = !self.no_report;
        let page = has_page.then(|| report(&learned, &self.out)).transpose()?;
        if self.json {
            let document = Document {
                run: &learned.run,
                report: page.clone(),
                notes: race.notes(),
                evaluation: learned.document(),
                why: learned.evaluation.as_ref().err().map(String::as_str),
                race: &learned.ledger,
            };
            json::write(&document, out)?;
        }
        tell_next(&learned, page.as_deref())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Races, showing what the data hold and who came how far; none if it was interrupted.
pub(super) fn raced(
    request: Request,
    json: bool,
    out: &mut dyn Write,
) -> Result<Option<(Race, Learned)>, Error> {
    let race = Race::prepare(request, &mut Shown::new())?;
    for note in race.notes() {
        writeln!(notes(), "note: {note}")?;
    }
    if !json {
        let recording = race.recording();
        let inspection = inspect::inspect(&recording.series, Options::default());
        inspect_verb::write_short(&inspection, &recording.source.as_typed(), out)?;
        out.flush()?;
    }
    let view = View {
        interrupt: Interrupt::listen_for_all(),
    };
    let learned = match race.run(&view) {
        Err(Error::Learn(stopped @ LearnError::Stopped { .. })) => {
            writeln!(notes(), "{stopped}")?;
            return Ok(None);
        }
        other => other?,
    };
    drop(view);
    if !json {
        write_race(&learned.ledger, out)?;
        out.flush()?;
    }
    Ok(Some((race, learned)))
}

fn report(learned: &Learned, folder: &Path) -> Result<PathBuf, Error> {
    let page = folder.join(PAGE);
    write_report(&report::Request::of(&learned.run), &page, &mut Shown::new())?;
    Ok(page)
}

/// What can be done with the model.
fn tell_next(learned: &Learned, page: Option<&Path>) -> io::Result<()> {
    let mut notes = notes();
    let run = shell::path(&learned.run);
    writeln!(notes, "\nthe model: {run}")?;
    writeln!(notes, "   attractor analyze {run}")?;
    writeln!(
        notes,
        "   attractor generate {run} --steps 1000 --out orbit.csv"
    )?;
    match page {
        Some(page) => writeln!(notes, "open in a browser: {}", page.display()),
        None => Ok(()),
    }
}

/// Who came how far: the best candidate of every method, the best method first.
fn write_race(ledger: &Ledger, out: &mut dyn Write) -> io::Result<()> {
    let mut ranked: Vec<&Candidate> = ledger.candidates.iter().collect();
    ranked.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let mut shown: Vec<&Candidate> = Vec::new();
    for one in ranked {
        if shown.iter().all(|other| other.method != one.method) {
            shown.push(one);
        }
    }
    let head = [
        "model",
        "its best of",
        "settings",
        "fitted",
        "d_stsp",
        "d_h",
        "valid steps",
    ];
    let mut rows = vec![head.map(String::from)];
    rows.extend(shown.into_iter().map(|one| row(one, ledger)));
    writeln!(out, "\nthe race, judged by the selection part:")?;
    table::write(out, &rows)?;
    writeln!(out, "* the winner; learn.json has all")
}

fn rank(one: &Candidate) -> f64 {
    let score = one.last().and_then(|mark| mark.standing.score);
    score.filter(|_| one.out.is_none()).unwrap_or(f64::INFINITY)
}

fn row(one: &Candidate, ledger: &Ledger) -> [String; 7] {
    let is_winner = ledger.winner.as_ref() == Some(&one.name);
    let star = if is_winner { "*" } else { "" };
    let all = ledger.candidates.iter();
    let tried = all.filter(|other| other.method == one.method).count();
    let mark = one.last().filter(|_| one.out.is_none());
    let standing = mark.map(|mark| &mark.standing);
    let fitted = match (mark, one.updates) {
        (None, _) => one.out.clone().unwrap_or("not begun".to_string()),
        (Some(mark), 0) => mark.reached(),
        (Some(mark), updates) => format!("{} of {}", mark.reached(), grouped(updates as usize)),
    };
    let of = |pick: fn(&Standing) -> Option<f64>| {
        mark.map_or(String::new(), |_| number(standing.and_then(pick)))
    };
    [
        format!("{}{star}", one.method),
        tried.to_string(),
        one.label.clone(),
        fitted,
        of(|standing| standing.d_stsp),
        of(|standing| standing.d_h),
        format!("{}{}", least(standing), of(|standing| standing.vpt)),
    ]
}

/// What stands before a valid prediction time that is only a lower bound.
fn least(standing: Option<&Standing>) -> &'static str {
    match standing {
        Some(standing) if standing.vpt_at_least => "≥ ",
        _ => "",
    }
}

/// A number, or a dash where there is none.
fn number(value: Option<f64>) -> String {
    value.map_or("–".to_string(), figure)
}

/// The spread over seeds.
pub(super) fn write_seeds(learned: &Learned, out: &mut dyn Write) -> io::Result<()> {
    let seeds: Vec<&Final> = learned
        .ledger
        .finals
        .iter()
        .filter(|one| one.is_repeated())
        .collect();
    let tested: Vec<String> = seeds.iter().map(|one| number(one.tested)).collect();
    let is_one = tested.windows(2).all(|pair| pair[0] == pair[1]);
    let (seen, tested) = match tested.first() {
        Some(first) if is_one => ("the same from every seed", first.clone()),
        _ => ("by seed", tested.join(", ")),
    };
    writeln!(
        out,
        "\nits settings fitted again from {}, to all rows before the test part; D_stsp on the test part, {seen}: {tested}",
        count(seeds.len(), "seed"),
    )?;
    let lost = seeds.iter().filter(|one| one.standing.is_none()).count();
    if lost > 0 {
        writeln!(out, "{lost} of them diverged")?;
    }
    Ok(())
}

/// What stands beside the attractor of the chosen model.
fn write_beside(learned: &Learned, out: &mut dyn Write) -> io::Result<()> {
    let ledger = &learned.ledger;
    let is_chosen = |one: &&Final| Some(&one.folder) == ledger.chosen.as_ref();
    match ledger
        .finals
        .iter()
        .find(is_chosen)
        .and_then(|one| one.beside.as_ref())
    {
        Some(beside) => writeln!(out, "{beside}"),
        None => writeln!(out, "no orbit that was tried ends beside its attractor"),
    }
}

/// The spread over seeds, the scores on the test part, and the verdict.
pub(super) fn write_verdict(learned: &Learned, out: &mut dyn Write) -> io::Result<()> {
    write_seeds(learned, out)?;
    match &learned.evaluation {
        Ok(evaluation) => {
            writeln!(
                out,
                "\nthe chosen one on the test part, which nothing was chosen by:"
            )?;
            scores::write_table(evaluation, out)?;
            scores::write_notes(evaluation)
        }
        Err(why) => writeln!(out, "\nverdict: cannot tell\n  {why}"),
    }
}

/// Shows the race on standard error, and stops it when the user asks to.
struct View {
    interrupt: Interrupt,
}

impl Spectator for View {
    fn asks_to_stop(&self) -> bool {
        self.interrupt.asked()
    }

    fn sees(&self, event: Event<'_>) {
        // A closed standard error is no reason to end a race.
        let _ = match event {
            Event::Stage { what, fits } => writeln!(notes(), "\n{what}: {}", count(fits, "fit")),
            Event::Judged(one, mark) => writeln!(notes(), "   {}", line(one, mark)),
            Event::Out(one, why) => {
                writeln!(notes(), "   {} ({}): out, {why}", one.method, one.label)
            }
            Event::Repeated(one) => writeln!(notes(), "   seed {}: {}", one.seed, of_seed(one)),
        };
    }
}

fn of_seed(one: &Final) -> String {
    let standing = one.standing.as_ref();
    let standing = standing.map_or("its orbit diverges".to_string(), in_words);
    match &one.beside {
        Some(beside) => format!("{standing}; {beside}"),
        None => standing,
    }
}

fn line(one: &Candidate, mark: &Mark) -> String {
    let (method, label) = (&one.method, &one.label);
    let standing = in_words(&mark.standing);
    format!("{method} ({label}), {}: {standing}", mark.reached())
}

fn in_words(standing: &Standing) -> String {
    if standing.score.is_none() {
        return "its orbit diverges".to_string();
    }
    let valid = match standing.vpt {
        None => "no valid forecast".to_string(),
        Some(steps) if standing.vpt_at_least => {
            format!("valid for at least {}", measure(steps, "step"))
        }
        Some(steps) => format!("valid for {}", measure(steps, "step")),
    };
    format!(
        "d_stsp {}, d_h {}, {valid}",
        number(standing.d_stsp),
        number(standing.d_h)
    )
}

impl GoalWord {
    pub(super) fn meaning(self) -> Goal {
        match self {
            GoalWord::Attractor => Goal::Attractor,
            GoalWord::Forecast => Goal::Forecast,
            GoalWord::Anatomy => Goal::Anatomy,
        }
    }
}

pub(super) fn minutes(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|m: &f64| m.is_finite() && *m > 0.0);
    number.ok_or_else(|| "expected a number of minutes above 0".to_string())
}

pub(super) fn updates(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| "expected a whole number of at least 1".to_string())
}
