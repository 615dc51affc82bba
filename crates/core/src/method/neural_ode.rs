//! Neural ordinary differential equations (Chen et al. 2018) with one hidden layer, whose states are the observations:
//!
//! ```text
//! dx/dt = W_b σ(W_a x + b_a + C s) + b_b
//! ```
//!
//! They are solved by an explicit scheme with one step per row and trained on windows by the exact gradient of these steps
//! (discretise, then optimise), with teacher forcing if asked.

mod free_run;
mod network;
mod objective;
mod scheme;
#[cfg(test)]
mod tests;

use super::trained::{self, setting, up_to};
use super::{
    Fit, FitError, Fitting, Length, LoadError, Method, Settled, Tensors, Trainer, axes,
    refuse_other,
};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::Dynamics;
use crate::kernel::field::FieldDims;
use crate::settings::{Dependence, Domain, Setting};
use crate::theta::{Shape, Tensor};
use crate::train::{Outcome, State, Watch};
use crate::windows::Windows;

use network::Form;
pub use network::NeuralOde;
use objective::{Plan, Training};
use scheme::{Activation, Scheme};

/// Neural ordinary differential equations.
pub static NEURAL_ODE: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "neural-ode",
        summary: "neural ordinary differential equation with one hidden layer, solved with one step per row",
        details: "\
dx/dt = W_b σ(W_a x + b_a + C s) + b_b,  σ = relu or tanh

States are the observations. From row to row it is solved by one step of euler, midpoint or rk4 (the 3/8 rule) of size `time-step`, a unit
of time that is free: it scales the field, and with it what a learning rate does. It is trained on windows from their first row by the
exact gradient of the steps. `--forcing gtf` or `agtf` pulls the states toward the data on the way, as for the piecewise-linear models.

|θ| = (N + K + 1) H + (H + 1) N.",
        settings: SETTINGS,
        references: &["chen2018"],
    },
    dependences: DEPENDENCES,
    numerics: 2,
    fit: Fit::Train(trainer),
    settle,
    load,
    story: |set| {
        let scheme = set.choice("solver");
        format!("{}, solved by {scheme}", trained::story_of_forcing(set))
    },
};

static SETTINGS: &[Setting] = &[
    setting("hidden", "50", up_to(1, 65_536), "Hidden units H"),
    setting(
        "activation",
        "relu",
        Domain::Choice(&Activation::NAMES),
        "What a hidden unit does",
    ),
    setting(
        "solver",
        "rk4",
        Domain::Choice(&Scheme::NAMES),
        "The scheme that makes one step per row",
    ),
    setting(
        "time-step",
        "0.1",
        Domain::Real {
            low: 1e-6,
            high: 1e6,
        },
        "Time h from row to row, in units of the differential equation",
    ),
    trained::forcing("none"),
    trained::ALPHA,
    trained::ALPHA_START,
    trained::ALPHA_ESTIMATOR,
    trained::DECAY,
    trained::EVERY,
    trained::INTERVAL,
    trained::window("25"),
    trained::batch("16"),
    trained::epochs("5000"),
    trained::batches_per_epoch("50"),
    trained::lr("5e-3"),
    trained::lr_end("5e-5"),
    trained::optimizer("adam"),
    trained::WEIGHT_DECAY,
    trained::CLIP_NORM,
    trained::NOISE,
    trained::LEAST_OBSERVED,
    trained::AVERAGE,
    trained::on_divergence(&["halve-lr", "raise-alpha"]),
];

static DEPENDENCES: &[Dependence] = &[
    trained::OF_ALPHA,
    trained::of_adaptive("alpha-start"),
    trained::of_adaptive("alpha-estimator"),
    trained::of_adaptive("decay"),
    trained::of_adaptive("every"),
    trained::OF_INTERVAL,
    trained::OF_RETRIES,
];

fn settle(fitting: Fitting<'_>) -> Result<Vec<Settled>, FitError> {
    Ok(trained::settle_interval(fitting)?.into_iter().collect())
}

fn trainer(_: &'static Method, fitting: Fitting<'_>) -> Result<Box<dyn Trainer>, FitError> {
    Ok(Box::new(Trained::new(fitting)?))
}

/// A training, all settings read.
struct Trained {
    form: Form,
    plan: Plan,
    windows: Windows,
    seed: u64,
    remedies: Vec<&'static str>,
}

impl Trained {
    fn new(fitting: Fitting<'_>) -> Result<Trained, FitError> {
        let set = fitting.settings;
        let form = Form {
            dims: FieldDims {
                states: fitting.data.dim_obs(),
                hidden: set.integer("hidden"),
                inputs: fitting.data.dim_input(),
            },
            activation: Activation::named(set.choice("activation")).expect("a choice has a name"),
            scheme: Scheme::named(set.choice("solver")).expect("a choice has a name"),
            h: set.real("time-step"),
        };
        let windows = trained::windows(fitting)?;
        let batch = set.integer("batch");
        trained::refuse_more_than_memory(numbers_a_step(&form), windows.window(), batch)?;
        let plan = Plan {
            course: trained::course(fitting, &form.layout()),
            batch,
            forcing: trained::read_forcing(set),
            adaptation: trained::read_adaptation(set),
            noise: set.real("noise"),
        };
        Ok(Trained {
            form,
            plan,
            windows,
            seed: fitting.seed,
            remedies: trained::remedies(set),
        })
    }

    fn training(&self) -> Training<'_> {
        Training {
            plan: &self.plan,
            windows: &self.windows,
            form: self.form,
        }
    }
}

impl Trainer for Trained {
    fn start(&self) -> State {
        State {
            alpha: self.plan.forcing.strength(),
            ..State::new(&self.form.start(self.seed), &self.plan.course)
        }
    }

    fn train(&self, from: State, watch: &mut dyn Watch) -> Outcome {
        self.training().train(from, watch)
    }

    fn dynamics(&self, theta: &[f32]) -> Box<dyn Dynamics> {
        Box::new(NeuralOde::new(self.form, theta.to_vec()))
    }

    fn length(&self) -> Length {
        trained::length(&self.plan.course)
    }

    fn notes(&self) -> Vec<String> {
        trained::notes_of_windows(&self.windows, self.plan.forcing)
    }

    fn against_divergence(&self) -> Vec<&'static str> {
        self.remedies.clone()
    }
}

/// How many numbers an update keeps of every window at every step, at most: of every stage arguments, slopes and their cotangents,
/// and of units values and cotangents; observations, their mask, residuals and inputs.
fn numbers_a_step(form: &Form) -> usize {
    let FieldDims {
        states,
        hidden,
        inputs,
    } = form.dims;
    let a_stage = 2 * (states + inputs) + 2 * hidden;
    form.scheme.stages() * a_stage + 3 * states + inputs
}

/// A network from its tensors. All sizes follow from their shapes.
fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [hidden, states] = axes(tensors, "W_a")?;
    let inputs = if tensors.contains_key("C") {
        axes::<2>(tensors, "C")?[1]
    } else {
        0
    };
    let number = |name: &'static str| {
        axes::<1>(tensors, name)?;
        let value = tensors[name].f64s().first().copied();
        value.ok_or(LoadError::Missing { name })
    };
    let unknown = |name: &'static str, expected: &'static str| LoadError::Entry {
        name,
        entry: 0,
        expected,
    };
    let form = Form {
        dims: FieldDims {
            states,
            hidden,
            inputs,
        },
        activation: Activation::numbered(number("activation")?)
            .ok_or_else(|| unknown("activation", "0 (relu) or 1 (tanh)"))?,
        scheme: Scheme::numbered(number("stages")?)
            .ok_or_else(|| unknown("stages", "1 (euler), 2 (midpoint) or 4 (rk4)"))?,
        h: Some(number("h")?)
            .filter(|&h| h > 0.0)
            .ok_or_else(|| unknown("h", "a number above 0"))?,
    };
    let layout = form.layout();
    let own = layout.tensors().iter().map(|t| (t.name, t.shape));
    let numbers = ["h", "stages", "activation"].map(|name| (name, Shape::Vector(1)));
    let shapes: Vec<(&'static str, Shape)> = own.chain(numbers).collect();
    refuse_other(tensors, &shapes)?;
    let theta = layout.tensors().iter();
    let theta = theta.flat_map(|Tensor { name, .. }| tensors[*name].f32s());
    let theta: Vec<f32> = theta.collect();
    trained::refuse_overflow(layout.tensors(), &theta)?;
    Ok(Box::new(NeuralOde::new(form, theta)))
}
