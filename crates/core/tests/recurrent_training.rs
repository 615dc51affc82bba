//! Training of recurrent networks: bits that depend on nothing but data, settings and seed; what is refused; what is learned.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use attractor_core::dynamics::{Dynamics, Stretch};
use attractor_core::method::{self, Fit, FitError, Fitting, Trainer};
use attractor_core::recurrent::lem::Lem;
use attractor_core::recurrent::lstm::Lstm;
use attractor_core::recurrent::{Cell, CellSizes};
use attractor_core::series::{Channel, Gap, Series, Step, Trajectory};
use attractor_core::settings::{Domain, Setting, Settings};
use attractor_core::simd::Isa;
use attractor_core::train::{Control, Epoch, Outcome, State};

/// A setting of all methods that these ask for.
static RETRIES: Setting = Setting {
    name: "retries",
    default: "0",
    domain: Domain::Integer { low: 0, high: 100 },
    about: "Retries",
};

/// How a method is trained on data, its settings settled.
struct Case<'a> {
    method: &'static str,
    given: Vec<(&'a str, String)>,
    data: &'a Series,
    threads: usize,
    isa: Isa,
}

impl<'a> Case<'a> {
    fn new(method: &'static str, data: &'a Series, given: &[(&'a str, &str)]) -> Case<'a> {
        Case {
            method,
            given: given
                .iter()
                .map(|&(name, value)| (name, value.to_string()))
                .collect(),
            data,
            threads: 1,
            isa: Isa::detect(),
        }
    }

    fn trainer(&self) -> Result<Box<dyn Trainer>, FitError> {
        let method = method::find(self.method).unwrap();
        let list: Vec<&Setting> = method.entry.settings.iter().chain([&RETRIES]).collect();
        let mut given = self.given.clone();
        let resolve = |given: &[(&str, String)]| {
            let given = given.iter().map(|(name, value)| (*name, value.as_str()));
            Settings::resolve(&list, given).unwrap()
        };
        let settings = resolve(&given);
        let fitting = Fitting {
            settings: &settings,
            data: self.data,
            cuts: None,
            seed: 3,
            threads: self.threads,
            paced: false,
            isa: self.isa,
        };
        let settled = (method.settle)(fitting)?;
        given.extend(settled.into_iter().map(|s| (s.name, s.value)));
        let settings = resolve(&given);
        let fitting = Fitting {
            settings: &settings,
            ..fitting
        };
        match method.fit {
            Fit::Train(train) => train(method, fitting),
            Fit::Solve(_) => unreachable!("both are trained"),
        }
    }

    /// The state at the end, and all epochs.
    fn train(&self) -> (State, Vec<Epoch>) {
        let (trainer, mut epochs) = (self.trainer().unwrap(), Vec::new());
        let outcome = trainer.train(trainer.start(), &mut |epoch: &Epoch, _: &State| {
            epochs.push(*epoch);
            Control::Continue
        });
        match outcome {
            Outcome::Finished(state) => (state, epochs),
            other => panic!("{other:?}"),
        }
    }
}

/// Two trajectories of a driven wave in two channels, one with a gap, with values missing where `missing`.
fn recording(missing: bool) -> Series {
    let wave =
        |t: usize, shift: f64| (0.3 * t as f64 + shift).sin() + 0.2 * (0.11 * t as f64).cos();
    let trajectory = |rows: usize, shift: f64| Trajectory {
        s: (0..rows).map(|t| (0.11 * t as f64).cos()).collect(),
        ..Trajectory::new(
            (0..rows)
                .flat_map(|t| [wave(t, shift), wave(t, shift + 1.0)])
                .collect(),
        )
    };
    let (mut long, short) = (trajectory(300, 0.0), trajectory(120, 0.5));
    long.gaps = vec![Gap {
        row: 150,
        time: 170.0,
    }];
    if missing {
        (7..long.x.len())
            .step_by(11)
            .for_each(|i| long.x[i] = f64::NAN);
    }
    let channels = (Channel::numbered("x", 2), Channel::numbered("s", 1));
    Series::new(channels.0, channels.1, Step::default(), vec![long, short]).unwrap()
}

/// Short trainings of both methods.
fn cases(data: &Series) -> Vec<Case<'_>> {
    let lstm = [
        ("hidden", "5"),
        ("sequence", "4"),
        ("prediction", "3"),
        ("propagation", "30"),
        ("batch", "19"),
        ("epochs", "6"),
        ("lr", "1e-2"),
    ];
    let lem = [
        ("hidden", "5"),
        ("window", "12"),
        ("batch", "19"),
        ("epochs", "6"),
        ("batches-per-epoch", "7"),
    ];
    let with = |base: &[(&'static str, &'static str)], more: &[(&'static str, &'static str)]| {
        [base, more].concat()
    };
    vec![
        Case::new(
            "lstm",
            data,
            &with(
                &lstm,
                &[("rounds", "2"), ("patience", "1"), ("validation", "0.4")],
            ),
        ),
        Case::new(
            "lstm",
            data,
            &with(
                &lstm,
                &[
                    ("schedule", "exponential"),
                    ("alpha", "0.6"),
                    ("alpha-end", "0"),
                    ("noise", "5"),
                    ("average", "0.9"),
                ],
            ),
        ),
        Case::new("lem", data, &with(&lem, &[("weight-decay", "1e-4")])),
        Case::new(
            "lem",
            data,
            &with(
                &lem,
                &[("alpha", "0.8"), ("alpha-end", "0.5"), ("clip-norm", "1")],
            ),
        ),
    ]
}

fn same_bits(a: &State, b: &State) {
    let bits = |theta: &[f32]| theta.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&a.theta), bits(&b.theta));
    assert_eq!(a, b);
}

#[test]
fn bits_depend_neither_on_threads_nor_on_the_instruction_set() {
    for data in [recording(false), recording(true)] {
        for mut case in cases(&data) {
            let (one, _) = case.train();
            for threads in [2, 3] {
                case.threads = threads;
                same_bits(&one, &case.train().0);
            }
            for isa in Isa::available().filter(|&isa| isa != Isa::Baseline) {
                case.isa = isa;
                same_bits(&one, &case.train().0);
            }
        }
    }
}

#[test]
fn a_training_that_was_stopped_goes_on_with_the_same_bits() {
    let data = recording(true);
    for case in cases(&data) {
        let (whole, epochs) = case.train();
        let trainer = case.trainer().unwrap();
        let mut state = trainer.start();
        let mut seen = 0;
        loop {
            let stopping = &mut |_: &Epoch, _: &State| Control::Stop;
            match trainer.train(state, stopping) {
                Outcome::Stopped(stopped) => state = stopped,
                Outcome::Finished(finished) => {
                    same_bits(&whole, &finished);
                    break;
                }
                Outcome::Diverged { .. } => panic!("it diverged"),
            }
            seen += 1;
        }
        assert_eq!(seen, epochs.len());
    }
}

#[test]
fn the_share_of_the_data_in_the_inputs_falls_linearly() {
    let data = recording(false);
    let (_, epochs) = cases(&data)[1].train();
    let found: Vec<f64> = epochs.iter().map(|epoch| epoch.alpha).collect();
    for (epoch, alpha) in found.iter().enumerate() {
        assert!(
            (alpha - 0.6 * (1.0 - epoch as f64 / 5.0)).abs() < 1e-12,
            "{found:?}"
        );
    }
}

/// Six epochs of two rounds: where the first one has converged after three or more, the second has a tenth of its rate.
#[test]
fn rounds_lower_the_rate() {
    let data = recording(false);
    let (state, epochs) = cases(&data)[0].train();
    assert!(epochs.len() <= 12 && epochs[0].rate == 1e-2);
    let last = epochs.last().unwrap().rate;
    assert!(last == 1e-2 || last == 1e-3, "{last}");
    assert!(state.extra.contains_key("rounds"));
}

/// A wave is forecast by both, with the data as inputs or without: the free orbit stays near it for its next periods.
#[test]
fn a_wave_is_learned() {
    let wave = |t: usize| (0.35 * t as f64).sin();
    let series = Series::from_rows((0..600).map(wave).collect(), 1, 1.0).unwrap();
    let lstm = [
        ("hidden", "8"),
        ("sequence", "8"),
        ("prediction", "8"),
        ("propagation", "32"),
        ("schedule", "exponential"),
        ("epochs", "60"),
        ("batches-per-epoch", "10"),
        ("lr", "2e-2"),
        ("lr-end", "2e-3"),
    ];
    let lem = [
        ("hidden", "8"),
        ("window", "30"),
        ("epochs", "20"),
        ("batches-per-epoch", "50"),
        ("lr", "2e-2"),
        ("warm-up", "30"),
    ];
    let free = [("alpha", "0.5")];
    // A LEM counts every forecast of its windows. The first row of a wave does not tell whether it rises or falls, which leaves
    // sin² 0.35 ⟨cos²⟩ = 0.059 of one forecast in thirty, 2e-3; twice that, where half of the next inputs are its own.
    for (method, settings, most) in [("lstm", &lstm[..], 1e-3), ("lem", &lem[..], 4e-3)] {
        for more in [&[][..], &free[..]] {
            let case = Case::new(method, &series, &[settings, more].concat());
            let (state, epochs) = case.train();
            let last = epochs.last().unwrap().loss;
            assert!(
                last < most && last < 0.05 * epochs[0].loss,
                "{method}: {last}"
            );
            let network = case.trainer().unwrap().dynamics(&state.theta);
            let error = forecast_error(network.as_ref(), &series, 100..140, wave);
            assert!(error < most, "{method}: {error}");
        }
    }
}

/// The mean squared error of the next row, over states that have followed the series to some rows.
fn forecast_error(
    network: &dyn Dynamics,
    series: &Series,
    rows: std::ops::Range<usize>,
    truth: impl Fn(usize) -> f64,
) -> f64 {
    let at: Vec<usize> = rows.collect();
    let states = network.states_at(Stretch::longest(series), &at);
    let states = states.chunks_exact(network.sizes().state);
    let squared = |(z, &t): (&[f64], &usize)| {
        let mut x = [0.0];
        network.observe(z, &mut x);
        (x[0] - truth(t + 1)).powi(2)
    };
    states.zip(&at).map(squared).sum::<f64>() / at.len() as f64
}

fn refused(method: &'static str, data: &Series, given: &[(&str, &str)]) -> (String, String) {
    let error = match Case::new(method, data, given).trainer() {
        Ok(_) => panic!("{given:?} is not refused"),
        Err(error) => error,
    };
    (
        error.to_string(),
        error.hint().map_or(String::new(), |hint| hint.to_string()),
    )
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let data = Series::from_rows(vec![0.5; 400], 1, 1.0).unwrap();
    let (message, hint) = refused(
        "lstm",
        &data,
        &[
            ("sequence", "20"),
            ("prediction", "5"),
            ("propagation", "24"),
        ],
    );
    assert_eq!(
        message,
        "a chunk has 20 rows and 5 forecasts, more than the 24 that states are carried over"
    );
    assert_eq!(hint, "use `--propagation 25` or more");
    let long = [("propagation", "1000"), ("schedule", "exponential")];
    let (message, hint) = refused("lstm", &data, &long);
    assert_eq!(
        message,
        "states that are carried over 1000 rows need 1009 without a gap, the longest stretch has 400"
    );
    assert_eq!(hint, "use `--propagation 391` or less");
    let (message, hint) = refused("lstm", &data, &[]);
    assert!(message.starts_with("of the validation data: "), "{message}");
    assert!(hint.contains("`--schedule exponential`"), "{hint}");
    let (message, hint) = refused("lem", &data, &[("window", "400")]);
    assert_eq!(
        message,
        "a window of 400 steps needs 401 rows without a gap, the longest stretch has 400"
    );
    assert_eq!(hint, "use `--window 399` or less");
    let (message, hint) = refused(
        "lem",
        &data,
        &[("hidden", "65536"), ("batch", "65536"), ("window", "399")],
    );
    assert!(
        message.contains("do not fit into memory") && hint.contains("--hidden"),
        "{message}"
    );
}

#[test]
fn settings_out_of_range_are_refused() {
    for (method, name, value) in [
        ("lstm", "hidden", "0"),
        ("lem", "hidden", "0"),
        ("lem", "delta-t", "0"),
        ("lem", "delta-t", "-1"),
        ("lstm", "alpha", "1.5"),
    ] {
        let list: Vec<&Setting> = method::find(method)
            .unwrap()
            .entry
            .settings
            .iter()
            .collect();
        assert!(
            Settings::resolve(&list, [(name, value)]).is_err(),
            "{method} {name} {value}"
        );
    }
}

/// θ before and after one update by RAdam, whose first step is η dθ.
fn one_update(method: &'static str, data: &Series, given: &[(&str, &str)]) -> [Vec<f32>; 2] {
    let short = [
        ("hidden", "5"),
        ("epochs", "1"),
        ("batches-per-epoch", "1"),
        ("optimizer", "radam"),
        ("lr", "0.1"),
        ("lr-end", "0.1"),
    ];
    let own: &[(&str, &str)] = match method {
        "lstm" => &[
            ("schedule", "exponential"),
            ("sequence", "8"),
            ("propagation", "12"),
        ],
        _ => &[("window", "12")],
    };
    let case = Case::new(method, data, &[&short, own, given].concat());
    let before = case.trainer().unwrap().start().theta;
    [before, case.train().0.theta]
}

#[test]
fn a_gradient_is_shortened_to_its_bound() {
    let data = recording(false);
    for method in ["lstm", "lem"] {
        let step = |bound: &str| -> Vec<f64> {
            let [before, after] = one_update(method, &data, &[("clip-norm", bound)]);
            let pairs = before.iter().zip(&after);
            pairs.map(|(b, a)| f64::from(a - b)).collect()
        };
        let norm = |step: &[f64]| step.iter().map(|d| d * d).sum::<f64>().sqrt();
        let (free, cut) = (step("0"), step("0.01"));
        assert!(norm(&free) > 2e-3, "{}", norm(&free));
        // η times the bound; every one of at most 212 entries of θ, which stay below 2, is rounded by 6e-8 of that.
        assert!((norm(&cut) - 0.1 * 0.01).abs() < 212f64.sqrt() * 1.2e-7);
        let factor = norm(&cut) / norm(&free);
        for (free, cut) in free.iter().zip(&cut) {
            assert!((cut - free * factor).abs() < 2.4e-7 * 2.0);
        }
    }
}

#[test]
fn weights_decay_and_biases_do_not() {
    let data = recording(false);
    let sizes = CellSizes {
        hidden: 5,
        channels: 2,
        inputs: 1,
    };
    for (method, biases) in [
        ("lstm", vec!["b", "b_o"]),
        ("lem", vec!["a", "b", "c", "q"]),
    ] {
        let [before, plain] = one_update(method, &data, &[]);
        let [_, decayed] = one_update(method, &data, &[("weight-decay", "0.5")]);
        let layout = match method {
            "lstm" => Lstm::new(sizes).layout(),
            _ => Lem::new(sizes, 1.0).layout(),
        };
        for tensor in layout.tensors() {
            let weight = if biases.contains(&tensor.name) {
                0.0
            } else {
                0.5
            };
            for i in tensor.range.clone() {
                let found = f64::from(plain[i] - decayed[i]);
                let known = 0.1 * weight * f64::from(before[i]);
                // Two numbers below 2, each rounded by 1.2e-7.
                assert!(
                    (found - known).abs() < 3e-7,
                    "{} {i}: {found} {known}",
                    tensor.name
                );
            }
        }
    }
}

/// Training allocates as much for many updates as for few.
#[test]
fn updates_allocate_nothing() {
    let data = recording(true);
    for case in &mut cases(&data)[1..] {
        let mut allocations = |epochs: &str| {
            case.given.retain(|(name, _)| *name != "epochs");
            case.given.push(("epochs", epochs.to_string()));
            let trainer = case.trainer().unwrap();
            let start = trainer.start();
            let watch = &mut |_: &Epoch, _: &State| Control::Continue;
            let counted = allocation_counter::measure(|| {
                trainer.train(start, watch);
            });
            counted.count_total
        };
        assert_eq!(allocations("2"), allocations("6"));
    }
}
