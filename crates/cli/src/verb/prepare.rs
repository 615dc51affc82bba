//! `attractor prepare IN OUT --smooth gaussian:6 --standardize …`: a recording after some steps, in the order typed.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::format;
use attractor::pipeline::{Pipeline, PipelineError};
use attractor::text::count;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::reading::Reading;
use crate::visible::notes;

/// Smooth, filter, scale or cut a recording and write it to a file
///
/// Steps are done in the order in which they are typed, and a step may be repeated. `prepare = ["smooth gaussian:6", …]` in
/// an experiment file does the same before a training, and is kept in the model file, so that new data pass the same way.
#[derive(Debug, Args)]
pub(crate) struct Prepare {
    /// File to read
    #[arg(value_name = "IN")]
    source: PathBuf,
    /// File to write
    #[arg(value_name = "OUT")]
    target: PathBuf,
    #[command(flatten)]
    steps: Steps,
    #[command(flatten)]
    reading: Reading,
}

impl Prepare {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        format::refuse_same(&self.source, &self.target)?;
        format::refuse_unwritable(&self.target)?;
        let pipeline = self.steps.pipeline()?;
        let series = self.reading.read(&self.source)?;
        let (prepared, fitted) = pipeline.fit(&series)?;
        let lost = format::losses(&self.target, &prepared)?;
        format::write(&self.target, &prepared)?;
        let mut notes = notes();
        if !lost.is_empty() {
            writeln!(notes, "note: the format does not hold {}", lost.join(", "))?;
        }
        if fitted != pipeline && !fitted.is_empty() {
            writeln!(notes, "note: to do the same to other data: {fitted}")?;
        }
        writeln!(
            notes,
            "wrote {}, {} after {}: {}",
            count(prepared.total_len(), "row"),
            count(prepared.dim_obs(), "channel"),
            count(pipeline.steps.len(), "step"),
            self.target.display()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The steps as texts, in the order typed.
#[derive(Debug, Clone, Default)]
struct Steps(Vec<String>);

impl Steps {
    fn pipeline(&self) -> Result<Pipeline, Error> {
        let steps = self.0.iter().map(|text| text.parse());
        let steps = steps.collect::<Result<_, PipelineError>>()?;
        Ok(Pipeline { steps })
    }
}

/// A step's word, what it takes, and what it does.
const WORDS: [(&str, &str, &str); 12] = [
    (
        "smooth",
        "HOW",
        "Smooth with `gaussian:SIGMA`, `hann:ROWS` or `hann:ROWS:padded`",
    ),
    (
        "standardize",
        "BY",
        "Scale every channel to mean 0 and standard deviation 1, dividing by n − 1 or, with `population`, by n",
    ),
    (
        "scale",
        "PAIRS",
        "Shift and scale channels by MEAN/SPREAD each, separated by commas",
    ),
    ("detrend", "", "Remove the linear trend from every channel"),
    (
        "band-pass",
        "LO:HI",
        "Keep frequencies between two, in cycles per unit of time",
    ),
    ("low-pass", "F", "Keep frequencies below"),
    ("high-pass", "F", "Keep frequencies above"),
    ("notch", "F", "Remove one frequency"),
    (
        "interpolate",
        "LONGEST",
        "Interpolate missing values linearly: all, or only runs of at most LONGEST, and gaps of at most as many rows",
    ),
    ("every", "N", "Keep every N-th row"),
    (
        "noise",
        "S",
        "Add noise of S standard deviations of each channel; `S:SEED` draws other numbers",
    ),
    (
        "cut",
        "FROM:TO",
        "Keep rows from one time up to another, or rows as in `row:1:row:1000`",
    ),
];

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        let flag = |&(word, value, about): &(&'static str, &'static str, &'static str)| {
            let flag = Arg::new(word).long(word).help(about).help_heading("Steps");
            let flag = flag.action(ArgAction::Append);
            match word {
                "detrend" => flag.num_args(0).default_missing_value(""),
                "standardize" => flag
                    .value_name(value)
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value(""),
                "interpolate" => flag
                    .value_name(value)
                    .num_args(0..=1)
                    .default_missing_value(""),
                _ => flag.value_name(value).allow_hyphen_values(true),
            }
        };
        command.args(WORDS.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Steps::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Steps, clap::Error> {
        let mut found: Vec<(usize, String)> = Vec::new();
        for (word, _, _) in &WORDS {
            let texts = matches.get_many::<String>(word).into_iter().flatten();
            let places = matches.indices_of(word).into_iter().flatten();
            let steps = texts.map(|text| format!("{word} {text}").trim_end().to_string());
            found.extend(places.zip(steps));
        }
        found.sort_by_key(|(place, _)| *place);
        Ok(Steps(found.into_iter().map(|(_, step)| step).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Steps::from_arg_matches(matches)?;
        Ok(())
    }
}
