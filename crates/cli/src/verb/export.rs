//! `attractor export RUN|MODEL --as NAME --out FILE`: the same map as another model.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::analysis::conversion::{States, convert_model};
use attractor::map::MODELS;
use attractor::model_file::Reconstruction;
use attractor::run::Run;
use attractor::store;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::visible::notes;

/// Write a model in another form that is the same map
///
/// Every piecewise-linear model has a form as `shallow-plrnn`; where another form does not exist, the reason is told. The
/// parameters are written in single precision, as all model files are.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Folder of a run, or a model file
    #[arg(value_name = "RUN|MODEL")]
    model: PathBuf,
    /// The form, by the name of its model
    #[arg(long = "as", value_name = "NAME", value_parser = PossibleValuesParser::new(MODELS.iter().map(|m| m.entry.id)))]
    form: String,
    /// Model file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Export {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        Run::refuse_own(&self.model, &self.out)?;
        store::refuse_unwritable(&self.out)?;
        let Reconstruction { model, card } = Run::open(&self.model)?.reconstruction;
        let to = MODELS.iter().find(|info| info.entry.id == self.form);
        let to = to.expect("the name is one of the list");
        let (converted, states) = convert_model(&model, to)?;
        let dims = converted.architecture().dims;
        let exported = Reconstruction {
            model: converted,
            card,
        };
        exported.write(&self.out)?;
        let mut notes = notes();
        if let States::Copies { .. } = states {
            writeln!(
                notes,
                "note: the states are shifted copies of the model's; an orbit from data starts beside them, and they come \
                 together as A^t"
            )?;
        }
        let hidden = to.hidden.map(|_| format!(", hidden {}", dims.hidden));
        writeln!(
            notes,
            "wrote {}: latent {}{}: {}",
            self.form,
            dims.latent,
            hidden.unwrap_or_default(),
            self.out.display()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}
