//! `attractor evaluate RUN|MODEL --data FILE`: how good a trained model is.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::evaluation::{Cache, Levels, Origin, Request, evaluate};
use attractor::measure::d_stsp::BOX;
use attractor::measure::prediction_error::STEPS;
use attractor::measure::valid_time::THRESHOLD;
use attractor::measure::{Options, SEED, SETTINGS};
use attractor::run::Folder;
use attractor::settings::Settings;
use attractor::verdict::Word;
use clap::{Args, ValueEnum};

use super::{assignment, whole};
use crate::follow::Shown;
use crate::reading::Reading;
use crate::visible::notes;
use crate::{json, scores};

/// Judge a trained model by data: its long orbit, and its forecasts
///
/// The orbit is the paper's: from the first row of the data, 1.25 times as long as they are, the first fifth dropped; with
/// external inputs as long as they are. Every score stands beside its floor (what the data themselves reach) and its
/// chance level (the best surrogate without the dynamics), so that it can be read. An orbit that diverges is a result:
/// it has no scores, `diverged` says so, and the exit code is 0.
#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// Folder of a run, or a model file
    #[arg(value_name = "RUN|MODEL")]
    model: PathBuf,
    /// Data that the model has not seen, such as a test set
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    #[arg(long, value_name = "N", help = STEPS.about, default_value = STEPS.default, allow_negative_numbers = true)]
    pe_steps: String,
    #[arg(long, value_name = "E", help = THRESHOLD.about, default_value = THRESHOLD.default, allow_negative_numbers = true)]
    threshold: String,
    #[arg(long, value_name = "BOX", help = BOX.about, default_value = BOX.default)]
    r#box: String,
    #[arg(long, value_name = "N", help = SEED.about, default_value = SEED.default, allow_negative_numbers = true)]
    seed: String,
    /// Number of rows of the data from which orbits start, the first row among them
    #[arg(long, value_name = "N", default_value_t = 8, allow_negative_numbers = true, value_parser = starts)]
    starts: usize,
    /// The system that the data are from: floors are then those of other true orbits
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// A parameter of the system, as in `--set rho=24.5`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, requires = "system")]
    set: Vec<(String, String)>,
    /// Largest Lyapunov exponent per unit of time, to give valid times in Lyapunov times [default: the system's]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    lyapunov: Option<f64>,
    /// Leave out floors and chance levels
    #[arg(long)]
    no_floors: bool,
    /// End with exit code 1 unless the verdict is this, or better
    #[arg(long, value_name = "WORD")]
    fail_unless: Option<Least>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// The least that a script asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Least {
    /// A good reconstruction
    Good,
    /// One that is at least partly right
    Partly,
}

impl Least {
    fn word(self) -> Word {
        match self {
            Least::Good => Word::Good,
            Least::Partly => Word::Partly,
        }
    }
}

impl Evaluate {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let request = self.request()?;
        let model = Folder::new(&self.model).model()?;
        let data = self.reading.read_for(&model, &self.data)?;
        let origin = Origin::of(&model, &self.model);
        let folder = self.model.is_dir().then_some(self.model.as_path());
        let cache = Cache::of_user(folder);
        let follow = &mut Shown::new();
        let evaluation = evaluate(&model, &data, &origin, &request, &cache, follow)?;
        scores::write_notes(&evaluation)?;
        if origin == Origin::default() {
            let note = "note: it is not known whether the model was trained on these rows: its recording has moved or changed";
            writeln!(notes(), "{note}")?;
        }
        if self.json {
            json::write(&evaluation.document(), out)?;
        } else {
            scores::write_table(&evaluation, out)?;
        }
        let word = evaluation.verdict().word;
        let is_worse = |least: Least| word < least.word();
        Ok(if self.fail_unless.is_some_and(is_worse) {
            ExitCode::from(crate::OUTCOME)
        } else {
            ExitCode::SUCCESS
        })
    }

    fn request(&self) -> Result<Request, Error> {
        let given = [
            ("pe-steps", self.pe_steps.as_str()),
            ("threshold", self.threshold.as_str()),
            ("box", self.r#box.as_str()),
            ("seed", self.seed.as_str()),
        ];
        Ok(Request {
            options: Options::new(&Settings::resolve(SETTINGS, given)?),
            system: self.system.clone(),
            set: self.set.clone(),
            lyapunov: self.lyapunov,
            other_starts: self.starts - 1,
            levels: if self.no_floors {
                Levels::LeftOut
            } else {
                Levels::Shown
            },
            ..Request::default()
        })
    }
}

fn starts(text: &str) -> Result<usize, String> {
    let starts = whole(text)?;
    match starts {
        1..=10_000 => Ok(starts),
        _ => Err("expected a whole number from 1 to 10000".to_string()),
    }
}
