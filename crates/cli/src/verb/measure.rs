//! `attractor measure --truth FILE --generated FILE`: how far a series is from the truth, without any model.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::evaluation::{Cache, Levels, Request, compare};
use attractor::measure::d_stsp::BOX;
use attractor::measure::{Options, SEED, SETTINGS};
use attractor::settings::Settings;
use clap::Args;

use super::assignment;
use crate::follow::Shown;
use crate::reading::Reading;
use crate::{json, scores};

/// Compare a generated series with a true one: state space, spectra, distributions
///
/// Every score stands beside its floor (what the data themselves reach) and its chance level (the best surrogate without
/// the dynamics), so that it can be read. `attractor explain d_stsp` says what a measure computes.
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// The true series
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// The series to be judged
    #[arg(long, value_name = "FILE")]
    generated: PathBuf,
    /// The system that the truth is from: floors are then those of other true orbits
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// A parameter of the system, as in `--set rho=24.5`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, requires = "system")]
    set: Vec<(String, String)>,
    #[arg(long, value_name = "BOX", help = BOX.about, default_value = BOX.default)]
    r#box: String,
    #[arg(long, value_name = "N", help = SEED.about, default_value = SEED.default, allow_negative_numbers = true)]
    seed: String,
    /// Leave out floors and chance levels
    #[arg(long)]
    no_floors: bool,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Measure {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let request = self.request()?;
        let truth = self.reading.read(&self.truth)?;
        let generated = self.reading.read(&self.generated)?;
        let (cache, follow) = (Cache::of_user(None), &mut Shown::new());
        let evaluation = compare(&truth, &generated, &request, &cache, follow)?;
        if self.json {
            json::write(&evaluation.document(), out)?;
        } else {
            scores::write_table(&evaluation, out)?;
        }
        scores::write_notes(&evaluation)?;
        Ok(ExitCode::SUCCESS)
    }

    fn request(&self) -> Result<Request, Error> {
        let given = [("box", self.r#box.as_str()), ("seed", self.seed.as_str())];
        Ok(Request {
            options: Options::new(&Settings::resolve(SETTINGS, given)?),
            system: self.system.clone(),
            set: self.set.clone(),
            levels: if self.no_floors {
                Levels::LeftOut
            } else {
                Levels::Shown
            },
            ..Request::default()
        })
    }
}
