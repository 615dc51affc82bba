//! `attractor export RUN|MODEL --as NAME --out FILE`: the same map as another model.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use attractor::Error;
use attractor::analysis::conversion::{ConversionError, States, convert_model};
use attractor::map::MODELS;
use attractor::method;
use attractor::model_file::Reconstruction;
use attractor::run::Folder;
use attractor::store;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::visible::notes;

/// Write a model in another form that is the same map
///
/// Every piecewise-linear model has a form as `shallow-plrnn`; where another form does not exist, the reason is given. The
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
        let folder = Folder::new(&self.model);
        folder.refuse_own(&self.out)?;
        store::refuse_unwritable(&self.out)?;
        let reconstruction = folder.model()?;
        let model = reconstruction.model().ok_or(ConversionError::NotAMap {
            from: reconstruction.method.entry.id,
        })?;
        let to = MODELS.iter().find(|info| info.entry.id == self.form);
        let to = to.expect("the name is one of the list");
        let (converted, states) = convert_model(model, to)?;
        let dims = converted.architecture().dims;
        let exported = Reconstruction {
            method: method::find(&self.form).expect("every map has a method of its name"),
            dynamics: Arc::new(converted),
            card: reconstruction.card.clone(),
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
