//! The equations of a fitted model in the units of its data, beside those of a known system.

pub use attractor_core::equations::*;
use attractor_core::system::SystemInfo;
use serde::Serialize;

use crate::model_file::Reconstruction;

/// Equations as documents have them: one entry per channel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EquationsDocument {
    /// As text.
    pub text: Vec<String>,
    /// As LaTeX.
    pub latex: Vec<String>,
    /// Terms of all equations together.
    pub terms: usize,
    /// Those of the known system that the data are from.
    pub truth: Option<TruthDocument>,
}

/// The equations of a known system, in its own units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TruthDocument {
    /// The system.
    pub system: &'static str,
    /// As text; empty if there is a reason why not.
    pub text: Vec<String>,
    /// As LaTeX.
    pub latex: Vec<String>,
    /// Why they cannot be written with the terms of the model.
    pub why: Option<&'static str>,
}

/// The equations of a model, in the units of its data, and those of a known system in the same terms; none of a model that has no
/// equations with terms.
pub fn equations(
    reconstruction: &Reconstruction,
    system: Option<&SystemInfo>,
) -> Option<EquationsDocument> {
    let card = &reconstruction.card;
    let fitted = reconstruction.dynamics.equations()?;
    let found = fitted.in_units(&card.scaling);
    let names = Names::new(card.channels.iter().chain(&card.inputs).map(|c| &c.name));
    Some(EquationsDocument {
        text: found.text(&names),
        latex: found.latex(&names),
        terms: found.terms(),
        truth: system.map(|info| truth(info, &fitted, reconstruction, &names)),
    })
}

fn truth(
    info: &SystemInfo,
    fitted: &Equations,
    reconstruction: &Reconstruction,
    names: &Names,
) -> TruthDocument {
    let system = info.with(&[]).expect("defaults lie in their domains");
    let scaling = &reconstruction.card.scaling;
    let found = of_system(info, system.as_ref(), fitted, scaling);
    let (equations, why) = match found {
        InTerms::Exact(equations) => (Some(equations), None),
        InTerms::Beyond => (None, Some("it is no sum of the library's terms")),
        InTerms::Unlike => (None, Some("it has other variables or another kind of time")),
    };
    let lines = |write: fn(&Equations, &Names) -> Vec<String>| {
        let lines = equations.as_ref().map(|found| write(found, names));
        lines.unwrap_or_default()
    };
    TruthDocument {
        system: info.entry.id,
        text: lines(Equations::text),
        latex: lines(Equations::latex),
        why,
    }
}
