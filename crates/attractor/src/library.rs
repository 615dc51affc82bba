//! All that a user can name, gathered from the static lists of every kind.

use attractor_core::catalogue::Entry;
use attractor_core::measure::MEASURES;
use attractor_core::method::methods;
use attractor_core::settings::nearest;
use attractor_core::system::SYSTEMS;

use crate::Error;
use crate::format::FORMATS;

/// Every entry of every kind, in the order of the lists.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let models = methods().into_iter().map(|method| &method.entry);
    let measures = MEASURES.iter().map(|measure| &measure.entry);
    let systems = SYSTEMS.iter().map(|system| &system.entry);
    let formats = FORMATS.iter().map(|format| &format.entry);
    models.chain(measures).chain(systems).chain(formats)
}

/// The entry with this name, whatever its kind.
pub fn find(name: &str) -> Result<&'static Entry, Error> {
    entries()
        .find(|entry| entry.id == name)
        .ok_or_else(|| Error::UnknownName {
            what: "model, measure, system or format",
            name: name.to_string(),
            near: nearest(name, entries().map(|entry| entry.id)),
        })
}
