//! Whether fits that differ in their seeds alone amount to the same. They disagree if their verdicts are different words, or if their D_stsp covers
//! more than half of the way from floor f to chance c,
//!
//! ```text
//! ln(max/min) > ½ ln(c/f)        of values that are at least f
//! ```
//!
//! which is what a good attractor is allowed above the floor.

use attractor_core::text::figure;

use super::{POWER, Word};

/// What a fit from one seed amounts to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfSeed {
    /// Its verdict; none if it is not known.
    pub word: Option<Word>,
    /// Its D_stsp.
    pub d_stsp: Option<f64>,
}

/// How fits from several seeds disagree; none if they do not.
pub fn disagreement(seeds: &[OfSeed], floor: Option<f64>, chance: Option<f64>) -> Option<String> {
    let levels = floor.zip(chance);
    let wide = levels.and_then(|(floor, chance)| spread(seeds, floor, chance));
    let parts = [words(seeds), wide];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("seeds disagree: {}", parts.join("; ")))
}

/// How many fits have each word, the best first; none if all have one.
fn words(seeds: &[OfSeed]) -> Option<String> {
    let counted = Word::ALL.into_iter().rev().map(|word| {
        let with = seeds.iter().filter(|one| one.word == Some(word));
        (with.count(), word.text())
    });
    let counted: Vec<String> = counted
        .filter(|(number, _)| *number > 0)
        .map(|(number, text)| format!("{number} {text}"))
        .collect();
    (counted.len() > 1).then(|| counted.join(", "))
}

/// The range of D_stsp, where it is wide.
fn spread(seeds: &[OfSeed], floor: f64, chance: f64) -> Option<String> {
    let values = || seeds.iter().filter_map(|one| one.d_stsp);
    let (least, most) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    let range = (most.max(floor) / least.max(floor)).ln();
    let is_wide = chance >= POWER * floor && range > 0.5 * (chance / floor).ln();
    is_wide.then(|| {
        format!(
            "D_stsp from {} to {} (floor {}, chance {})",
            figure(least),
            figure(most),
            figure(floor),
            figure(chance)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[Word], values: &[f64]) -> Option<String> {
        let pairs = words.iter().zip(values);
        let seeds: Vec<OfSeed> = pairs
            .map(|(&word, &value)| OfSeed {
                word: Some(word),
                d_stsp: Some(value),
            })
            .collect();
        disagreement(&seeds, Some(0.1), Some(1.6))
    }

    /// √(1.6/0.1) = 4: values above the floor may differ by that factor.
    #[test]
    fn seeds_disagree_in_words_or_by_half_the_way_to_chance() {
        let good = [Word::Good; 3];
        assert_eq!(of(&good, &[0.2, 0.3, 0.7]), None);
        assert_eq!(of(&good, &[0.02, 0.3, 0.39]), None);
        assert_eq!(
            of(&good, &[0.2, 0.3, 0.9]).unwrap(),
            "seeds disagree: D_stsp from 0.2 to 0.9 (floor 0.1, chance 1.6)"
        );
        let words = [Word::Partly, Word::Good, Word::Partly];
        assert_eq!(
            of(&words, &[0.2, 0.3, 0.4]).unwrap(),
            "seeds disagree: 1 good, 2 partly"
        );
    }

    #[test]
    fn nothing_is_said_of_one_fit_or_without_power() {
        assert_eq!(of(&[Word::Good], &[0.2]), None);
        let seeds = [0.2, 5.0].map(|value| OfSeed {
            word: None,
            d_stsp: Some(value),
        });
        assert_eq!(disagreement(&seeds, Some(1.0), Some(1.2)), None);
        assert_eq!(disagreement(&seeds, None, None), None);
        assert_eq!(disagreement(&[], Some(0.1), Some(1.6)), None);
    }
}
