//! Every fitted system obeys the laws of dynamics; for every law a wrong implementation is caught.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::dynamics::{Dynamics, Memory, Named, Sizes, Stretch, Values, step_by_step};
use attractor_core::laws::{self, Broken};
use attractor_core::map::{Dims, MODELS};
use attractor_core::method::{self, Fit, FitError, LoadError, Method, Tensors, axes};
use attractor_core::model::{Architecture, Model};
use attractor_core::observation::ObservationKind;
use attractor_core::rng::{Rng, Stream};
use attractor_core::rows::Rows;
use attractor_core::theta::Shape;

/// Rows and inputs that vary smoothly.
fn data(n: usize, k: usize, rows: usize) -> (Vec<f64>, Vec<f64>) {
    let wave = |i: usize, shift: f64| (0.37 * i as f64 + shift).sin();
    let x = (0..rows * n).map(|i| wave(i, 0.1)).collect();
    let s = (0..rows * k).map(|i| wave(i, 0.7)).collect();
    (x, s)
}

/// A model with parameters small enough that orbits stay bounded over the few steps that are compared.
fn model(place: usize, kind: ObservationKind, sizes: Dims, n: usize) -> Model {
    let architecture = Architecture::new(MODELS[place], sizes, kind, n).unwrap();
    let mut rng = Rng::new(place as u64 + 3, Stream::Parameters);
    let theta = (0..architecture.layout().len()).map(|_| 0.3 * rng.normal() as f32);
    Model::new(architecture, theta.collect())
}

/// Sizes in short.
fn dims(latent: usize, hidden: usize, inputs: usize) -> Dims {
    Dims {
        latent,
        hidden,
        inputs,
    }
}

/// All laws that hold for any system.
fn obeys(
    method: &'static Method,
    dynamics: &dyn Dynamics,
    data: Stretch<'_>,
) -> Result<(), Broken> {
    let mut rng = Rng::new(5, Stream::MonteCarlo);
    laws::orbits_are_made_of_steps(dynamics, data)?;
    laws::loading_gives_the_same_orbit(method, dynamics, data)?;
    laws::following_is_inferring(dynamics, data)?;
    laws::stepping_is_taking_the_forecast_in(dynamics, data)?;
    let sizes = dynamics.sizes();
    for _ in 0..5 {
        let z: Vec<f64> = (0..sizes.state).map(|_| rng.normal()).collect();
        let s: Vec<f64> = (0..sizes.inputs).map(|_| rng.normal()).collect();
        laws::jacobian_of_dynamics_matches_differences(dynamics, &z, &s, &mut rng)?;
    }
    Ok(())
}

#[test]
fn every_model_obeys_the_laws_of_dynamics() {
    let kinds = [
        (ObservationKind::Identity, 2, true),
        (ObservationKind::Identity, 4, true),
        (ObservationKind::Linear, 3, true),
        (ObservationKind::Linear, 7, false),
        (ObservationKind::LinearWithBias, 3, true),
    ];
    for (place, info) in MODELS.iter().enumerate() {
        let method = method::find(info.entry.id).unwrap();
        for (kind, n, shows) in kinds {
            for k in [0, 2] {
                let model = model(place, kind, dims(4, 5, k), n);
                let (x, s) = data(n, k, 40);
                let stretch = Stretch::new(Rows::new(&x, n), &s);
                obeys(method, &model, stretch).unwrap_or_else(|e| panic!("{info:?} {kind:?}: {e}"));
                let shown = laws::a_row_is_shown_as_it_is(&model, stretch);
                assert_eq!(shown.is_ok(), shows, "{info:?} {kind:?} {n}: {shown:?}");
            }
        }
    }
}

/// A leaky sum of all rows, h ← 0.6 tanh(h) + x + s, that forecasts x̂ = 0.3 h: a method with memory.
#[derive(Debug, Clone, PartialEq)]
struct Leaky {
    channels: usize,
    gain: Vec<f64>,
    fault: Fault,
}

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    OrbitSkipsAStep,
    JacobianWithoutFeedback,
    ForgetsTheLastRow,
    StepsWithoutInput,
    LosesAGain,
}

static LEAKY: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "leaky",
        summary: "a leaky sum",
        details: "",
        settings: &[],
        references: &[],
    },
    dependences: &[],
    numerics: 1,
    fit: Fit::Solve(|_, fitting, _| {
        Err(FitError::Own {
            message: format!("{} channels", fitting.data.dim_obs()),
            hint: None,
        })
    }),
    settle: method::nothing_to_settle,
    load,
    story: |_| String::new(),
};

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [channels] = axes(tensors, "gain")?;
    Ok(Box::new(Leaky {
        channels,
        gain: tensors["gain"].f64s(),
        fault: Fault::None,
    }))
}

impl Leaky {
    fn with(fault: Fault) -> Leaky {
        Leaky {
            channels: 2,
            gain: vec![0.3, 0.25],
            fault,
        }
    }

    fn take_in(&self, x: &[f64], s: &[f64], z: &mut [f64]) {
        for (i, z) in z.iter_mut().enumerate() {
            *z = 0.6 * z.tanh() + x[i] + s.first().unwrap_or(&0.0);
        }
    }
}

impl Dynamics for Leaky {
    fn sizes(&self) -> Sizes {
        Sizes {
            state: self.channels,
            channels: self.channels,
            inputs: 1,
            dim: self.channels,
            parameters: self.channels,
        }
    }

    fn memory(&self) -> Memory {
        Memory::Driven { warm_up: 8 }
    }

    fn lead(&self) -> usize {
        1
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        let forgets = self.fault == Fault::ForgetsTheLastRow && t + 1 == data.len();
        if !forgets {
            self.take_in(data.row(t), data.inputs_of(t..t + 1), z);
        }
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        let mut x_hat = vec![0.0; self.channels];
        self.observe(z, &mut x_hat);
        next.copy_from_slice(z);
        let s = if self.fault == Fault::StepsWithoutInput {
            &[]
        } else {
            s
        };
        self.take_in(&x_hat, s, next);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        for (i, x) in x_hat.iter_mut().enumerate() {
            *x = self.gain[i] * z[i];
        }
    }

    fn jacobian(&self, z: &[f64], _s: &[f64], jac: &mut [f64]) {
        jac.fill(0.0);
        for (i, z) in z.iter().enumerate() {
            let feedback = if self.fault == Fault::JacobianWithoutFeedback {
                0.0
            } else {
                self.gain[i]
            };
            jac[i * self.channels + i] = 0.6 * (1.0 - z.tanh().powi(2)) + feedback;
        }
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let kept = if self.fault == Fault::LosesAGain {
            1
        } else {
            self.channels
        };
        vec![Named {
            name: "gain",
            shape: Shape::Vector(kept),
            values: Values::F64(&self.gain[..kept]),
        }]
    }

    fn describe(&self) -> String {
        "a leaky sum".into()
    }

    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        if self.fault != Fault::OrbitSkipsAStep {
            return step_by_step(self, z, inputs, steps);
        }
        let mut orbit = step_by_step(self, z, inputs, steps + 1);
        orbit.drain(self.channels..2 * self.channels);
        orbit
    }
}

#[test]
fn a_system_with_memory_obeys_the_laws_and_every_fault_breaks_its_own() {
    let (x, s) = data(2, 1, 40);
    let stretch = Stretch::new(Rows::new(&x, 2), &s);
    obeys(&LEAKY, &Leaky::with(Fault::None), stretch).unwrap();
    type Law = fn(&Leaky, Stretch<'_>) -> Result<(), Broken>;
    let laws: [(Fault, Law); 5] = [
        (Fault::OrbitSkipsAStep, |leaky, data| {
            laws::orbits_are_made_of_steps(leaky, data)
        }),
        (Fault::LosesAGain, |leaky, data| {
            laws::loading_gives_the_same_orbit(&LEAKY, leaky, data)
        }),
        (Fault::ForgetsTheLastRow, |leaky, data| {
            laws::following_is_inferring(leaky, data)
        }),
        (Fault::StepsWithoutInput, |leaky, data| {
            laws::stepping_is_taking_the_forecast_in(leaky, data)
        }),
        (Fault::JacobianWithoutFeedback, |leaky, _| {
            let mut rng = Rng::new(5, Stream::MonteCarlo);
            let at = ([0.4, -0.2], [0.3]);
            laws::jacobian_of_dynamics_matches_differences(leaky, &at.0, &at.1, &mut rng)
        }),
    ];
    for (fault, law) in laws {
        law(&Leaky::with(Fault::None), stretch).unwrap();
        assert!(law(&Leaky::with(fault), stretch).is_err(), "{fault:?}");
    }
}

#[test]
fn forecasts_with_memory_follow_the_recording_once() {
    let (x, s) = data(2, 1, 60);
    let stretch = Stretch::new(Rows::new(&x, 2), &s);
    let leaky = Leaky::with(Fault::None);
    let mut forecasts = leaky.forecasts(stretch);
    let width = forecasts.width();
    for starts in (7..50).collect::<Vec<_>>().chunks(width) {
        forecasts.start(starts);
        let seen = forecasts.advance(3, 1).to_vec();
        for (branch, &t) in starts.iter().enumerate() {
            // From the whole past, three rows ahead: two steps behind the first forecast.
            let mut z = vec![0.0; 2];
            leaky.infer(stretch.slice(0..t + 1), &mut z);
            let orbit = step_by_step(&leaky, &z, stretch.inputs_of(t..t + 3), 3);
            let found: Vec<f64> = seen.iter().skip(branch).step_by(width).copied().collect();
            assert_eq!(found, orbit[4..]);
        }
    }
}
