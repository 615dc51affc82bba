//! What stands at the top of the page: which data, which model, and when.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use attractor_core::text::{count, grouped_count};
use serde_json::{Value, json};

use super::Request;
use super::material::{self, Material};

const MONTHS: [(&str, u64); 12] = [
    ("January", 31),
    ("February", 28),
    ("March", 31),
    ("April", 30),
    ("May", 31),
    ("June", 30),
    ("July", 31),
    ("August", 31),
    ("September", 30),
    ("October", 31),
    ("November", 30),
    ("December", 31),
];

/// The title, and a line of facts below it.
pub(super) fn headline(material: &Material, request: &Request) -> Value {
    let reconstruction = &material.reconstruction;
    let model = reconstruction.method.entry.id;
    let told = material.told.as_ref().and_then(|told| told.file());
    let truth = material.truth.as_ref().ok();
    let subject = request.system.clone().or(told);
    let subject = subject.or_else(|| truth.map(|truth| truth.name.clone()));
    let title = subject.map_or_else(
        || model.to_string(),
        |subject| format!("{subject} · {model}"),
    );
    let sizes = reconstruction.dynamics.sizes();
    let parameters = grouped_count(sizes.parameters, "parameter");
    let facts = [
        Some(count(sizes.channels, "channel")),
        Some(format!(
            "{} ({parameters})",
            reconstruction.dynamics.describe()
        )),
        written(&request.run).map(|date| format!("trained {date}")),
        Some(format!("run {}", material.name)),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    json!({ "title": title, "facts": facts })
}

/// The day on which the parameters of a run were written.
fn written(run: &Path) -> Option<String> {
    let file = fs::metadata(material::parameters(run)?).ok()?;
    date(file.modified().ok()?)
}

/// A day as `18 November 2026`, in universal time.
fn date(time: SystemTime) -> Option<String> {
    let mut day = time.duration_since(UNIX_EPOCH).ok()?.as_secs() / 86_400;
    let mut year = 1970;
    while day >= 365 + leap(year) {
        day -= 365 + leap(year);
        year += 1;
    }
    for (name, days) in MONTHS {
        let days = days + if name == "February" { leap(year) } else { 0 };
        if day < days {
            return Some(format!("{} {name} {year}", day + 1));
        }
        day -= days;
    }
    None
}

/// The days that a year has more than 365.
fn leap(year: u64) -> u64 {
    let divides = |n: u64| year.is_multiple_of(n);
    u64::from(divides(4) && (!divides(100) || divides(400)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let of =
            |days: u64| date(UNIX_EPOCH + Duration::from_secs(days * 86_400 + 86_399)).unwrap();
        // Counted by `date -u -d @SECONDS`.
        assert_eq!(of(0), "1 January 1970");
        assert_eq!(of(11_016), "29 February 2000");
        assert_eq!(of(19_782), "29 February 2024");
        assert_eq!(of(20_775), "18 November 2026");
        assert_eq!(of(47_540), "28 February 2100");
        assert_eq!(of(47_541), "1 March 2100");
    }
}
