//! The verdict on models of known training: the system's own equations fitted to it, a network trained to its end, for a short while and
//! hardly at all, models that cannot move as the data do, and a network trained on rows in random order.

use std::sync::Arc;

use attractor::evaluation::{Origin, Request, evaluate};
use attractor::experiment::{Experiment, Origin as Place, Raw};
use attractor::model_file::Reconstruction;
use attractor::progress::Unwatched;
use attractor::run::{Recording, Task};
use attractor::system::{Time, find};
use attractor::train::{Control, Epoch, State};

use super::{
    Cache, NOT, NOT_OR_PARTLY, Rows, SYSTEMS, Series, Surrogate, Tally, Word, orbit, systems,
};

/// Systems whose equations are quadratic, in rows near enough for their slopes to be read off.
const QUADRATIC: [&str; 5] = ["lorenz63", "henon", "chen", "halvorsen", "tinkerbell"];

/// The same, or cubic.
const CUBIC: [&str; 7] = [
    "lorenz63",
    "henon",
    "chen",
    "halvorsen",
    "tinkerbell",
    "chua",
    "duffing",
];

/// Systems that the network learns in 20,000 updates.
const LEARNT: [&str; 2] = ["lorenz63", "duffing"];

/// How a model is made of the data, and which words are right.
struct Case {
    name: &'static str,
    settings: &'static [(&'static str, &'static str)],
    /// The systems that it is fitted to, if these are not all.
    only: Option<&'static [&'static str]>,
    rows: Order,
    right: &'static [Word],
}

/// The order of the rows that a model is fitted to.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Kept,
    Random,
}

/// A network as `train` makes one, in so many epochs of 50 updates.
macro_rules! network {
    ($epochs:literal) => {
        &[
            ("epochs", $epochs),
            ("batches-per-epoch", "50"),
            ("window", "50"),
            ("threads", "1"),
        ]
    };
}

const CASES: [Case; 8] = [
    Case {
        name: "the system's own equations, fitted",
        settings: &[("model", "sindy"), ("degree", "3")],
        only: Some(&CUBIC),
        rows: Order::Kept,
        right: &[Word::Good],
    },
    Case {
        name: "a quadratic map of rows and delayed rows",
        settings: &[("model", "nvar")],
        only: Some(&QUADRATIC),
        rows: Order::Kept,
        right: &[Word::Good],
    },
    Case {
        name: "a network after 20,000 updates",
        settings: network!("400"),
        only: Some(&LEARNT),
        rows: Order::Kept,
        right: &[Word::Good],
    },
    Case {
        name: "a network after 1000 updates",
        settings: network!("20"),
        only: None,
        rows: Order::Kept,
        right: NOT_OR_PARTLY,
    },
    Case {
        name: "a network after 50 updates",
        settings: network!("1"),
        only: None,
        rows: Order::Kept,
        right: NOT,
    },
    Case {
        name: "a linear map",
        settings: &[("model", "linear")],
        only: None,
        rows: Order::Kept,
        right: NOT_OR_PARTLY,
    },
    Case {
        name: "nothing ever changes",
        settings: &[("model", "persistence")],
        only: None,
        rows: Order::Kept,
        right: NOT,
    },
    Case {
        name: "a network after 2500 updates on shuffled rows",
        settings: network!("50"),
        only: None,
        rows: Order::Random,
        right: NOT,
    },
];

impl Case {
    fn suits(&self, system: &str) -> bool {
        self.only.is_none_or(|systems| systems.contains(&system))
    }

    /// What a model is fitted to.
    fn data(&self, truth: &Series) -> Series {
        if self.rows == Order::Kept {
            return truth.clone();
        }
        let n = truth.dim_obs();
        let rows = Rows::new(&truth.trajectories()[0].x, n);
        Series::from_rows(Surrogate::Shuffled.of(rows, 7), n, truth.step().dt).unwrap()
    }
}

fn fit(series: Series, settings: &[(&str, &str)]) -> Reconstruction {
    let mut raw = Raw::default();
    for (name, text) in settings {
        raw.push(name, text, Place::Flag);
    }
    let raw = raw.with_usual(&series).unwrap();
    let experiment = Experiment::check(&raw).unwrap();
    let recording = Arc::new(Recording::in_memory(series));
    let task = Task::new(&experiment, recording).unwrap();
    let trained = task.train(&mut |_: &Epoch, _: &State| Control::Continue);
    trained.unwrap().reconstruction
}

/// Nineteen of twenty verdicts are right, and no model of shuffled rows is good.
#[test]
fn verdicts_on_models_of_known_training() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(folder.path());
    let mut tally = Tally::default();
    for system in systems(&SYSTEMS) {
        let (training, test) = (orbit(system, 1), orbit(system, 2));
        for case in CASES.iter().filter(|case| case.suits(system)) {
            // What is fitted to a map is a map.
            let dynamics = match find(system).unwrap().time {
                Time::Map if case.settings[0].1 == "sindy" => &[("dynamics", "map")][..],
                _ => &[],
            };
            let model = fit(case.data(&training), &[case.settings, dynamics].concat());
            let data = model.see_prepared(&test).unwrap();
            let (origin, request) = (Origin::default(), Request::default());
            let judged = evaluate(&model, &data, &origin, &request, &cache, &mut Unwatched);
            tally.add(
                system,
                case.name,
                case.right,
                judged.unwrap().verdict().word,
            );
        }
    }
    tally.check("model");
}
