//! Training of ODE-RNN and Latent-ODE: bits that depend on nothing but data, settings and seed; what is refused; what is learned from
//! rows of which half are missing.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::any::Any;

use attractor_core::dynamics::Stretch;
use attractor_core::method::latent_ode::LatentOde;
use attractor_core::method::{self, Fit, FitError, Fitting, Trainer};
use attractor_core::rng::{Rng, Stream};
use attractor_core::rows::Rows;
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

/// How a method is trained on data.
#[derive(Clone)]
struct Case<'a> {
    method: &'static str,
    given: Vec<(&'a str, &'a str)>,
    data: &'a Series,
    threads: usize,
    isa: Isa,
}

impl<'a> Case<'a> {
    fn new(method: &'static str, data: &'a Series, given: &[(&'a str, &'a str)]) -> Case<'a> {
        Case {
            method,
            given: given.to_vec(),
            data,
            threads: 1,
            isa: Isa::detect(),
        }
    }

    fn trainer(&self) -> Result<Box<dyn Trainer>, FitError> {
        let method = method::find(self.method).unwrap();
        let list: Vec<&Setting> = method.entry.settings.iter().chain([&RETRIES]).collect();
        let settings = Settings::resolve(&list, self.given.iter().copied()).unwrap();
        let fitting = Fitting {
            settings: &settings,
            data: self.data,
            cuts: None,
            seed: 3,
            threads: self.threads,
            paced: false,
            isa: self.isa,
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

/// Two trajectories of a wave in two channels, one with a gap, with an input and missing values where asked.
fn recording(missing: bool, inputs: usize) -> Series {
    let wave =
        |t: usize, shift: f64| (0.3 * t as f64 + shift).sin() + 0.2 * (0.11 * t as f64).cos();
    let trajectory = |rows: usize, shift: f64| Trajectory {
        s: (0..rows * inputs)
            .map(|t| (0.11 * t as f64).cos())
            .collect(),
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
        for i in (7..long.x.len()).filter(|i| i % 11 == 7 || i / 2 % 4 == 1) {
            long.x[i] = f64::NAN;
        }
    }
    let channels = (Channel::numbered("x", 2), Channel::numbered("s", inputs));
    Series::new(channels.0, channels.1, Step::default(), vec![long, short]).unwrap()
}

/// Short trainings of both methods: on data with an input, and on data without.
fn cases<'a>(driven: &'a Series, free: &'a Series) -> Vec<Case<'a>> {
    let both = [
        ("latent", "3"),
        ("hidden", "5"),
        ("gate-hidden", "4"),
        ("window", "12"),
        ("batch", "19"),
        ("epochs", "6"),
        ("batches-per-epoch", "5"),
    ];
    let rnn = [
        ("decoder-hidden", "7"),
        ("euler-steps", "2"),
        ("average", "0.9"),
    ];
    let noisy = [
        ("noise", "0.05"),
        ("clip-norm", "1"),
        ("weight-decay", "1e-4"),
    ];
    let latent = [
        ("encoder-latent", "4"),
        ("transform-hidden", "6"),
        ("kl-wait", "2"),
        ("kl-rate", "0.8"),
        ("sigma", "0.1"),
        ("time-step", "0.1"),
    ];
    let fixed = [("solver", "rk4"), ("samples", "2"), ("noise", "0.01")];
    vec![
        Case::new("ode-rnn", driven, &[&both[..], &rnn].concat()),
        Case::new("ode-rnn", free, &[&both[..], &noisy].concat()),
        Case::new("latent-ode", free, &[&both[..], &latent].concat()),
        Case::new("latent-ode", free, &[&both[..], &latent, &fixed].concat()),
        Case::new("latent-ode", driven, &[&both[..], &latent].concat()),
    ]
}

/// The same rows at these times, trajectory by trajectory; gaps are none.
fn with_times(series: &Series, time: impl Fn(usize) -> f64) -> Series {
    let timed = |t: &Trajectory| {
        let times: Vec<f64> = (0..t.x.len() / series.dim_obs()).map(&time).collect();
        Trajectory {
            start: times[0],
            times,
            gaps: Vec::new(),
            ..t.clone()
        }
    };
    let trajectories = series.trajectories().iter().map(timed);
    series.with(trajectories.collect()).unwrap()
}

/// The same rows without gaps.
fn without_gaps(series: &Series) -> Series {
    let whole = |t: &Trajectory| Trajectory {
        gaps: Vec::new(),
        ..t.clone()
    };
    let trajectories = series.trajectories().iter().map(whole);
    series.with(trajectories.collect()).unwrap()
}

fn same_bits(a: &State, b: &State) {
    let bits = |theta: &[f32]| theta.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&a.theta), bits(&b.theta));
    assert_eq!(a, b);
}

#[test]
fn bits_depend_neither_on_threads_nor_on_the_instruction_set() {
    for missing in [false, true] {
        let (driven, free) = (recording(missing, 1), recording(missing, 0));
        let own = |series: &Series| with_times(series, |row| 0.8 * (row as f64).powf(1.05));
        let (driven_late, free_late) = (own(&driven), own(&free));
        let all = [cases(&driven, &free), cases(&driven_late, &free_late)].concat();
        for mut case in all {
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

/// Times that say that rows are one step apart say nothing.
#[test]
fn rows_at_equal_times_of_their_own_are_rows_of_equal_steps() {
    let (driven, free) = (recording(true, 1), recording(true, 0));
    let [driven, free] = [driven, free].map(|series| without_gaps(&series));
    let own = |series: &Series| with_times(series, |row| 7.0 + row as f64);
    let (timed_driven, timed_free) = (own(&driven), own(&free));
    let timed = cases(&timed_driven, &timed_free);
    for (equal, timed) in cases(&driven, &free).iter().zip(&timed) {
        same_bits(&equal.train().0, &timed.train().0);
    }
}

#[test]
fn a_training_that_was_stopped_goes_on_with_the_same_bits() {
    let (driven, free) = (recording(true, 1), recording(true, 0));
    let late = with_times(&driven, |row| 0.8 * (row as f64).powf(1.05));
    for case in [cases(&driven, &free), cases(&late, &free)].concat() {
        let (whole, epochs) = case.train();
        let trainer = case.trainer().unwrap();
        let (mut state, mut seen) = (trainer.start(), 0);
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
fn the_rate_falls_at_every_update_and_the_divergence_counts_after_some_epochs() {
    let free = recording(false, 0);
    let (_, epochs) = cases(&free, &free)[2].train();
    let rate = epochs[5].rate;
    // The last of 30 updates.
    assert!((rate - 1e-2 * 0.999f64.powi(29)).abs() < 1e-12, "{rate}");
    let penalties: Vec<f64> = epochs.iter().map(|epoch| epoch.penalty).collect();
    assert!(
        penalties[..3].iter().all(|&p| p == 0.0) && penalties[3..].iter().all(|&p| p != 0.0),
        "{penalties:?}"
    );
}

/// Damped oscillations from random starts, e^{−0.02 t} (cos(0.3 t + φ), cos(0.3 t + φ + 1.5)), 40 rows each, at the times that are given
/// for them. Of each row both values are there or none: half of the rows are left out, at random. Also as they are without that.
fn oscillator(
    trajectories: usize,
    time: &mut dyn FnMut(usize) -> f64,
) -> (Vec<Trajectory>, Vec<Vec<f64>>) {
    let mut rng = Rng::new(11, Stream::MonteCarlo);
    let (mut seen, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..trajectories {
        let (phase, size) = (rng.between(0.0, 6.3), rng.between(0.5, 1.0));
        let row = |t: &f64| {
            let size = size * (-0.02 * t).exp();
            [0.3 * t + phase, 0.3 * t + phase + 1.5].map(|angle| size * angle.cos())
        };
        let times: Vec<f64> = (0..40).map(&mut *time).collect();
        let x: Vec<f64> = times.iter().flat_map(row).collect();
        let mut rows = x.clone();
        for row in rows.chunks_exact_mut(2) {
            if rng.uniform() < 0.5 {
                row.fill(f64::NAN);
            }
        }
        seen.push(Trajectory {
            start: times[0],
            times,
            ..Trajectory::new(rows)
        });
        whole.push(x);
    }
    (seen, whole)
}

/// A network that was trained on oscillations.
fn trained_on(seen: &[Trajectory]) -> Box<LatentOde> {
    let channels = Channel::numbered("x", 2);
    let series = Series::new(channels, vec![], Step::default(), seen.to_vec()).unwrap();
    let settings = [
        ("latent", "3"),
        ("hidden", "10"),
        ("encoder-latent", "6"),
        ("gate-hidden", "10"),
        ("transform-hidden", "12"),
        ("window", "40"),
        ("time-step", "0.1"),
        ("sigma", "0.1"),
        ("samples", "1"),
        ("batch", "16"),
        ("epochs", "40"),
        ("batches-per-epoch", "25"),
        ("kl-wait", "1000"),
    ];
    let case = Case::new("latent-ode", &series, &settings);
    let (state, _) = case.train();
    let dynamics: Box<dyn Any> = case.trainer().unwrap().dynamics(&state.theta);
    dynamics.downcast::<LatentOde>().unwrap()
}

/// The mean squared error of a reconstruction at the rows that were left out, as a share of their variance.
fn error_of_left_out(network: &LatentOde, seen: &[Trajectory], whole: &[Vec<f64>]) -> f64 {
    let (mut squares, mut variance, mut unseen) = (0.0, 0.0, 0);
    for (seen, whole) in seen.iter().zip(whole) {
        let data = Stretch::of(Rows::new(&seen.x, 2)).at_times(&seen.times, 1.0);
        let found = network.reconstruct(data);
        for ((found, seen), exact) in found.iter().zip(&seen.x).zip(whole) {
            if seen.is_nan() {
                squares += (found - exact) * (found - exact);
                // The mean of all oscillations is zero.
                variance += exact * exact;
                unseen += 1;
            }
        }
    }
    assert!(unseen > 1000, "{unseen}");
    squares / variance
}

/// The rows that were left out are found from those that were not. What knows no dynamics, the mean of the rows that are there, has the
/// variance as its error; a fifth of that is far from it, and far from what longer trainings reach.
#[test]
fn a_damped_oscillator_is_reconstructed_from_half_of_its_rows() {
    let (mut seen, whole) = oscillator(40, &mut |row| row as f64);
    seen.iter_mut().for_each(|t| t.times.clear());
    let error = error_of_left_out(&trained_on(&seen), &seen, &whole);
    assert!(error < 0.2, "{error}");
}

/// The same with rows at random times, which are taken as they are. Rounding of times to whole steps, by up to half a step or 0.3/√12 of
/// a radian in the mean, adds an error of 0.0075 of the variance or more. After ten times as many updates the error is 0.0031 at exact
/// times; after as many on rounded times it is 0.0101.
#[test]
fn a_damped_oscillator_is_reconstructed_from_half_of_its_rows_at_random_times() {
    let mut rng = Rng::new(12, Stream::MonteCarlo);
    let (seen, whole) = oscillator(40, &mut |row| row as f64 + rng.between(-0.499, 0.499));
    let network = trained_on(&seen);
    let exact = error_of_left_out(&network, &seen, &whole);
    let rounded = |t: &Trajectory| Trajectory {
        times: Vec::new(),
        ..t.clone()
    };
    let seen: Vec<Trajectory> = seen.iter().map(rounded).collect();
    let rounded = error_of_left_out(&network, &seen, &whole);
    assert!(exact < 0.2 && exact + 0.005 < rounded, "{exact} {rounded}");
}

/// A wave is forecast, and the free orbit stays near it for its next periods.
#[test]
fn a_wave_is_learned() {
    let wave = |t: usize| (0.35 * t as f64).sin();
    let series = Series::from_rows((0..400).map(wave).collect(), 1, 1.0).unwrap();
    let rnn = [
        ("latent", "6"),
        ("hidden", "12"),
        ("gate-hidden", "10"),
        ("decoder-hidden", "12"),
        ("window", "30"),
        ("batch", "16"),
        ("epochs", "30"),
    ];
    let case = Case::new("ode-rnn", &series, &rnn);
    let (state, epochs) = case.train();
    let last = epochs.last().unwrap().loss;
    assert!(last < 0.05 * epochs[0].loss, "{last}");
    let network = case.trainer().unwrap().dynamics(&state.theta);
    let z = network.states_at(Stretch::longest(&series), &[99]);
    let orbit = network.orbit(&z, &[], 40);
    let errors = (0..40).map(|i| (orbit[i] - wave(100 + i)).powi(2));
    let error = errors.sum::<f64>() / 40.0;
    assert!(error < 0.1, "{error}");
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
fn what_does_not_fit_is_refused() {
    let late = with_times(&recording(false, 0), |row| (row as f64).powf(1.1));
    let (message, hint) = refused("neural-ode", &late, &[]);
    assert!(message.contains("times of their own"), "{message}");
    assert!(hint.contains("`--model latent-ode`"), "{hint}");
    let short = Series::from_rows(vec![0.5; 50], 1, 1.0).unwrap();
    for method in ["ode-rnn", "latent-ode"] {
        let (_, hint) = refused(method, &short, &[]);
        assert_eq!(hint, "use `--window 49` or less");
        let large = [("batch", "60000"), ("hidden", "60000"), ("window", "49")];
        let (_, hint) = refused(method, &short, &large);
        assert!(hint.contains("smaller `--batch`"), "{hint}");
    }
    let mut rows = vec![f64::NAN; 200];
    (rows[3], rows[150]) = (1.0, 2.0);
    let sparse = Series::from_rows(rows, 1, 1.0).unwrap();
    let (message, hint) = refused("ode-rnn", &sparse, &[("window", "20")]);
    assert!(
        message.contains("has all inputs and 10 % of its values"),
        "{message}"
    );
    assert!(hint.contains("smaller `--least-observed`"), "{hint}");
}
