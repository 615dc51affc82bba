//! Names of channels where a file gives one twice or none: the third signal is `EEG (3)` if there is an `EEG` before it, and
//! `x3` without a name.

use std::collections::HashSet;

/// The names, each of them once.
pub(super) fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let (mut taken, mut all) = (HashSet::new(), Vec::new());
    for (number, name) in (1..).zip(names) {
        let name = if name.is_empty() {
            format!("x{number}")
        } else {
            name
        };
        let numbered = (number..).map(|number| format!("{name} ({number})"));
        let mut choice = [name.clone()].into_iter().chain(numbered);
        let free = choice.find(|name| !taken.contains(name));
        let free = free.expect("there are more numbers than names");
        taken.insert(free.clone());
        all.push(free);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        let named = |names: &[&str]| unique(names.iter().map(|name| name.to_string()));
        assert_eq!(
            named(&["EEG", "EEG", "", "EOG"]),
            ["EEG", "EEG (2)", "x3", "EOG"]
        );
        assert_eq!(named(&["a (3)", "a", "a"]), ["a (3)", "a", "a (4)"]);
        assert_eq!(named(&["a", "a", "a (2)"]), ["a", "a (2)", "a (2) (3)"]);
    }
}
