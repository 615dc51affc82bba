//! The verdict on series of known quality: other orbits of the same system, and series that are wrong in a known way. Some systems are
//! tried with every test; with `ATTRACTOR_CALIBRATION=all` all of them, and the tables of `docs/measures.md` are printed:
//!
//! ```text
//! ATTRACTOR_CALIBRATION=all cargo test --workspace --test all calibration:: -- --nocapture --test-threads 1
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

mod models;

use std::collections::BTreeMap;

use attractor::evaluation::{Cache, Request, compare};
use attractor::measure::Rows;
use attractor::measure::surrogate::Surrogate;
use attractor::progress::Unwatched;
use attractor::rng::{Rng, Stream};
use attractor::series::{Scaling, Series};
use attractor::system::simulate::{self, Simulation};
use attractor::verdict::Word;

/// Enough for a chaotic orbit to be typical: those of 5000 rows of Lorenz-63 differ from one another as much as surrogates do.
const ROWS: usize = 20_000;

/// How many of them are tried with every test.
const SOME: usize = 2;

/// Flows and maps of two to twenty dimensions.
const SYSTEMS: [&str; 15] = [
    "lorenz63",
    "henon",
    "rossler",
    "lorenz96",
    "chua",
    "chen",
    "halvorsen",
    "thomas",
    "duffing",
    "hindmarsh-rose",
    "van-der-pol",
    "ikeda",
    "lozi",
    "tinkerbell",
    "lorenz-84",
];

/// What a series is, how it is made from the truth and from another orbit of the system, and which words are right.
struct Case {
    name: &'static str,
    make: fn(Rows<'_>, &[f64]) -> Vec<f64>,
    right: &'static [Word],
}

const NOT: &[Word] = &[Word::NotAReconstruction];
const NOT_OR_PARTLY: &[Word] = &[Word::NotAReconstruction, Word::Partly];

const CASES: [Case; 10] = [
    Case {
        name: "another orbit",
        make: |_, other| other.to_vec(),
        right: &[Word::Good],
    },
    Case {
        name: "with 2 % noise",
        make: |_, other| noisy(other, 0.02),
        right: &[Word::Good, Word::Partly],
    },
    Case {
        name: "shifted by a deviation",
        make: |_, other| other.iter().map(|x| x + 1.0).collect(),
        right: NOT_OR_PARTLY,
    },
    Case {
        name: "shrunk to a half",
        make: |_, other| other.iter().map(|x| 0.5 * x).collect(),
        right: NOT_OR_PARTLY,
    },
    Case {
        name: "one point",
        make: |_, other| vec![0.1; other.len()],
        right: NOT,
    },
    Case {
        name: "a decaying oscillation",
        make: |truth, _| decaying(truth),
        right: NOT,
    },
    Case {
        name: "phases randomised",
        make: |truth, _| Surrogate::PhaseRandomised.of(truth, 77),
        right: NOT_OR_PARTLY,
    },
    Case {
        name: "rows shuffled",
        make: |truth, _| Surrogate::Shuffled.of(truth, 77),
        right: NOT_OR_PARTLY,
    },
    Case {
        name: "white noise",
        make: |truth, _| Surrogate::WhiteNoise.of(truth, 77),
        right: NOT,
    },
    Case {
        name: "growing without bound",
        make: |truth, _| growing(truth),
        right: NOT,
    },
];

fn noisy(x: &[f64], share: f64) -> Vec<f64> {
    let mut rng = Rng::new(5, Stream::Noise);
    x.iter().map(|x| x + share * rng.normal()).collect()
}

/// Spirals into the mean within a tenth of the rows.
fn decaying(truth: Rows<'_>) -> Vec<f64> {
    let n = truth.values().len() / truth.len();
    let value = |i: usize| {
        let t = (i / n) as f64;
        (-t / 100.0).exp() * (0.3 * t + (i % n) as f64).sin()
    };
    (0..truth.values().len()).map(value).collect()
}

/// The truth, which drifts away by ten deviations.
fn growing(truth: Rows<'_>) -> Vec<f64> {
    let total = truth.values().len() as f64;
    let values = truth.values().iter().enumerate();
    values.map(|(i, x)| x + 10.0 * i as f64 / total).collect()
}

fn orbit(system: &str, seed: u64) -> Series {
    let request = simulate::Request {
        seed,
        ..simulate::Request::new(system, ROWS)
    };
    Simulation::check(&request).unwrap().run().unwrap().series
}

/// The words on all cases of a system.
fn words(system: &str, cache: &Cache) -> Vec<Word> {
    let truth = orbit(system, 1);
    let scaling = Scaling::standardizing(&truth);
    let (truth, other) = (scaling.apply(&truth), scaling.apply(&orbit(system, 2)));
    let n = truth.dim_obs();
    let rows = Rows::new(&truth.trajectories()[0].x, n);
    let other = &other.trajectories()[0].x;
    let judged = |case: &Case| {
        let x = (case.make)(rows, other);
        let series = Series::from_rows(x, n, truth.step().dt).unwrap();
        let judged = compare(&truth, &series, &Request::default(), cache, &mut Unwatched);
        judged.unwrap().verdict().word
    };
    CASES.iter().map(judged).collect()
}

/// The systems that are tried.
fn systems(all: &'static [&'static str]) -> &'static [&'static str] {
    match std::env::var("ATTRACTOR_CALIBRATION").as_deref() {
        Ok("all") => all,
        _ => &all[..SOME],
    }
}

/// Which words were given to what.
#[derive(Default)]
struct Tally {
    /// By case, in the order in which these came: the words, and which are right.
    counts: Vec<(&'static str, BTreeMap<Word, usize>, Vec<Word>)>,
    right: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Counts a word; *good* for what is not good is a failure at once.
    fn add(&mut self, system: &str, case: &'static str, right: &[Word], word: Word) {
        let known = self.counts.iter().position(|(name, ..)| *name == case);
        let place = known.unwrap_or_else(|| {
            self.counts.push((case, BTreeMap::new(), right.to_vec()));
            self.counts.len() - 1
        });
        *self.counts[place].1.entry(word).or_default() += 1;
        if right.contains(&word) {
            self.right += 1;
            return;
        }
        self.wrong
            .push(format!("{system}, {case}: {}", word.text()));
        let may_be_good = right.contains(&Word::Good);
        assert!(may_be_good || word != Word::Good, "{:?}", self.wrong);
    }

    /// Prints the table of the pages, and fails where fewer than nineteen of twenty are right.
    fn check(&self, what: &str) {
        let words = [Word::Good, Word::Partly, Word::NotAReconstruction];
        println!("\n| {what} | systems | good | partly | not a reconstruction | right |");
        println!("| --- | ---: | ---: | ---: | ---: | --- |");
        for (case, counts, right) in &self.counts {
            let systems: usize = counts.values().sum();
            let cells = words.map(|word| match counts.get(&word) {
                Some(number) => format!(" {number} |"),
                None => " |".to_string(),
            });
            let right: Vec<&str> = right.iter().map(|word| word.text()).collect();
            println!(
                "| {case} | {systems} |{} {} |",
                cells.concat(),
                right.join(" or ")
            );
        }
        let all = self.right + self.wrong.len();
        println!("{} of {all} right; not: {:#?}", self.right, self.wrong);
        assert!(20 * self.right >= 19 * all, "{:#?}", self.wrong);
    }
}

/// Nineteen of twenty verdicts are right, and no surrogate is good.
#[test]
fn verdicts_on_series_of_known_quality() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(folder.path());
    let mut tally = Tally::default();
    for system in systems(&SYSTEMS) {
        for (case, word) in CASES.iter().zip(words(system, &cache)) {
            tally.add(system, case.name, case.right, word);
        }
    }
    tally.check("series");
}
