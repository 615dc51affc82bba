//! The static lists: what a user can name (models, measures, systems, formats, …), each with a sentence, its
//! equations, its settings and its references. `list`, `explain`, `cite` and the checking of settings are loops
//! over [`Entry`]s. A new thing is one file and one line in the list of its kind.

use crate::settings::Setting;

/// What kind of thing an entry describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A trainable map z ← F(z).
    Model,
    /// A number that judges a reconstruction.
    Measure,
    /// A known dynamical system that makes data.
    System,
    /// A file format.
    Format,
}

impl Kind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Kind; 4] = [Kind::Model, Kind::Measure, Kind::System, Kind::Format];

    /// The plural word that a user types.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Model => "models",
            Kind::Measure => "measures",
            Kind::System => "systems",
            Kind::Format => "formats",
        }
    }
}

/// The description of one thing that a user can name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// What kind of thing it is.
    pub kind: Kind,
    /// Its name, as typed: lower case, words joined by `-`, those of measures by `_`, as in JSON.
    pub id: &'static str,
    /// One line without a final period.
    pub summary: &'static str,
    /// What it computes: equations and remarks, several lines.
    pub details: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Keys into `refs.bib`.
    pub references: &'static [&'static str],
}
