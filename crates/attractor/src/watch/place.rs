//! What can be asked for. A path is taken apart into one of these and nothing else; runs are named by the numbers that the
//! [survey](super::survey) gave them, never by a folder.

use super::page::{ASSETS, Asset};
use super::request::Refusal;

/// Runs in one request, at most.
const SEVERAL: usize = 64;

/// Something that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A file of the page.
    Asset(&'static Asset),
    /// What changes, as it changes.
    Events,
    /// A run: its data, its model and its orbit.
    Run(u32),
    /// The newest model of a run.
    Model(u32),
    /// The curves of the training of several runs.
    Curves(Vec<u32>),
    /// The report on a run.
    Report(u32),
}

impl Place {
    /// What stands behind the token of a path.
    pub(super) fn of(path: &str) -> Result<Place, Refusal> {
        if let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) {
            return Ok(Place::Asset(asset));
        }
        if path == "events" {
            return Ok(Place::Events);
        }
        let (kind, rest) = path.split_once('/').ok_or(Refusal::Unknown)?;
        let numbers = rest.split(',').map(number).collect::<Option<Vec<u32>>>();
        let numbers = numbers.ok_or(Refusal::Unknown)?;
        match (kind, numbers[..].len()) {
            ("run", 1) => Ok(Place::Run(numbers[0])),
            ("model", 1) => Ok(Place::Model(numbers[0])),
            ("report", 1) => Ok(Place::Report(numbers[0])),
            ("curves", 1..=SEVERAL) => Ok(Place::Curves(numbers)),
            _ => Err(Refusal::Unknown),
        }
    }
}

/// A number without signs, spaces or zeros before it.
fn number(text: &str) -> Option<u32> {
    let number = text.parse::<u32>().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_are_places_and_nothing_else_is() {
        assert!(matches!(Place::of(""), Ok(Place::Asset(_))));
        assert!(matches!(Place::of("watch.css"), Ok(Place::Asset(_))));
        assert_eq!(Place::of("events"), Ok(Place::Events));
        assert_eq!(Place::of("run/7"), Ok(Place::Run(7)));
        assert_eq!(Place::of("curves/1,2,3"), Ok(Place::Curves(vec![1, 2, 3])));
        let many = format!("curves/{}", vec!["1"; SEVERAL + 1].join(","));
        let none = [
            "..",
            "../etc/passwd",
            "run/",
            "run/../1",
            "run/-1",
            "run/+1",
            "run/01",
            "run/1,2",
            "run/1/",
            "curves/",
            "curves/1,,2",
            "watch.css/",
            "run/99999999999",
            "%2e%2e/x",
            "report/%31",
            "events?x",
            &many,
        ];
        for path in none {
            assert_eq!(Place::of(path), Err(Refusal::Unknown), "{path}");
        }
    }
}
