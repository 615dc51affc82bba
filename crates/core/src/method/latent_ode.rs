//! Latent-ODE (Rubanova et al. 2019): a window of rows is encoded into a latent state at its first row, from which an ordinary
//! differential equation runs,
//!
//! ```text
//! z_1 ~ N(μ, σ̃²) from the rows, backwards in time        dz/dt = f(z, s)        x̂ = D z + c.
//! ```
//!
//! It is trained as a variational autoencoder; gradients are those of the solver's steps.

mod flow;
mod free_run;
mod network;
mod objective;
mod solver;
#[cfg(test)]
mod tests;

use super::trained::{self, setting, up_to};
use super::{
    Fit, FitError, Fitting, Length, LoadError, Method, Tensors, Trainer, nothing_to_settle,
};
use crate::catalogue::{Entry, Kind};
use crate::continuous::{self, UnitSizes};
use crate::dynamics::Dynamics;
use crate::settings::{Dependence, Domain, Setting, Settings, Value, depends};
use crate::text::count;
use crate::train::{Outcome, State, Watch};
use crate::windows::Windows;

pub use network::LatentOde;
use network::{CONSTANTS, Form};
use objective::{Beta, Plan, Training};
use solver::{Scheme, Solver};

/// The method.
pub static LATENT_ODE: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "latent-ode",
        summary: "latent differential equation whose initial state is encoded from a window of rows",
        details: "\
(m, v) from the rows of a window, the last one first: between rows m ← m − h g(m), at rows a gated unit as in `ode-rnn`
(μ, σ̃) = W₂ tanh(W₁ (m, v) + b₁) + b₂             the latent state at the first row, N(μ, σ̃²)
dz/dt = f(z, s),  x̂ = D z + c                     f and g networks of tanh layers; s the external inputs, held over each step

Trained as a variational autoencoder, on `samples` solutions of each window: ℒ = −ln Σ exp(ℓ − β KL), with ℓ the mean log-density of the
values under x̂ with standard deviation `sigma`, and β = 0 for `kl-wait` epochs, then 1 − (`kl-rate`)^epochs. The gradient is that of the
solver's steps: of dopri5 with error control, or one step of euler, midpoint or rk4 (the 3/8 rule) per row. The loss that is shown is the mean
squared error, the penalty is β KL.

A fitted model infers its state from the last window of rows, by its mean; free orbits are those of the latent equation. Rows may have any
times (`--own-times`): solutions are seen at these. With the defaults
and 64 channels |θ| is 17,915, the paper's.",
        settings: SETTINGS,
        references: &["rubanova2019", "chen2018"],
    },
    dependences: DEPENDENCES,
    numerics: 2,
    fit: Fit::Train(trainer),
    settle: nothing_to_settle,
    load,
    story,
};

static SETTINGS: &[Setting] = &[
    setting("latent", "8", up_to(1, 4096), "Latent states"),
    setting(
        "hidden",
        "20",
        up_to(1, 65_536),
        "Units of each hidden layer of the fields f and g",
    ),
    setting(
        "hidden-layers",
        "2",
        up_to(1, 7),
        "Hidden layers of the latent field f",
    ),
    setting(
        "encoder-latent",
        "15",
        up_to(1, 4096),
        "Means of the encoder's state, and as many deviations",
    ),
    setting(
        "encoder-layers",
        "2",
        up_to(1, 7),
        "Hidden layers of the encoder's field g",
    ),
    setting(
        "gate-hidden",
        "20",
        up_to(1, 65_536),
        "Hidden units of each gate of the encoder",
    ),
    setting(
        "transform-hidden",
        "100",
        up_to(1, 65_536),
        "Hidden units from the encoder's state to the latent one",
    ),
    setting(
        "solver",
        "dopri5",
        Domain::Choice(&Scheme::NAMES),
        "The scheme that solves the latent equation: with error control, or with one step per row",
    ),
    setting(
        "rtol",
        "1e-3",
        Domain::Positive,
        "Relative tolerance of dopri5",
    ),
    setting(
        "atol",
        "1e-4",
        Domain::Positive,
        "Absolute tolerance of dopri5",
    ),
    setting(
        "time-step",
        "0.01",
        Domain::Real {
            low: 1e-6,
            high: 1e6,
        },
        "Time h of a step of the recording, in units of the differential equation",
    ),
    setting(
        "euler-steps",
        "1",
        up_to(1, 1000),
        "Euler steps of the encoder from row to row",
    ),
    setting(
        "samples",
        "3",
        up_to(1, 1000),
        "Solutions of each window, from initial states that are drawn",
    ),
    setting(
        "sigma",
        "0.01",
        Domain::Positive,
        "Standard deviation of the data around a solution",
    ),
    setting(
        "kl-wait",
        "10",
        up_to(0, 1_000_000_000),
        "Epochs without the divergence of initial states",
    ),
    setting(
        "kl-rate",
        "0.99",
        Domain::FRACTION,
        "What is left after an epoch of the distance of the divergence's weight from one",
    ),
    setting("window", "100", up_to(2, 1_000_000_000), "Rows of a window"),
    trained::batch("50"),
    trained::epochs("100"),
    trained::batches_per_epoch("50"),
    trained::lr("1e-2"),
    trained::lr_end("1e-3"),
    trained::LR_DECAY,
    trained::optimizer("adamax"),
    trained::WEIGHT_DECAY,
    trained::CLIP_NORM,
    trained::NOISE,
    trained::least_observed("0.1"),
    trained::AVERAGE,
    trained::on_divergence(&["halve-lr"]),
];

static DEPENDENCES: &[Dependence] = &[
    depends("rtol", "solver", |v| v == Value::Choice("dopri5")),
    depends("atol", "solver", |v| v == Value::Choice("dopri5")),
    trained::OF_RETRIES,
];

fn trainer(_: &'static Method, fitting: Fitting<'_>) -> Result<Box<dyn Trainer>, FitError> {
    Ok(Box::new(Trained::new(fitting)?))
}

/// A training, all settings read.
struct Trained {
    form: Form,
    plan: Plan,
    windows: Windows,
    remedies: Vec<&'static str>,
}

/// What a network is, by its settings.
fn form(fitting: Fitting<'_>) -> Form {
    let set = fitting.settings;
    Form {
        unit: UnitSizes {
            latent: set.integer("encoder-latent"),
            gate_hidden: set.integer("gate-hidden"),
            field: (set.integer("encoder-layers"), set.integer("hidden")),
            channels: fitting.data.dim_obs(),
            inputs: fitting.data.dim_input(),
        },
        steps: set.integer("euler-steps"),
        transform_hidden: set.integer("transform-hidden"),
        latent: set.integer("latent"),
        field: (set.integer("hidden-layers"), set.integer("hidden")),
        solver: Solver {
            scheme: Scheme::named(set.choice("solver")).expect("a choice has a name"),
            rtol: set.real("rtol"),
            atol: set.real("atol"),
            h: set.real("time-step"),
        },
        window: set.integer("window"),
    }
}

impl Trained {
    fn new(fitting: Fitting<'_>) -> Result<Trained, FitError> {
        let (set, form) = (fitting.settings, form(fitting));
        let (batch, samples) = (set.integer("batch"), set.integer("samples"));
        let numbers = form.numbers_a_row(samples);
        trained::refuse_more_than_memory(numbers, form.window, batch)?;
        trained::refuse_more_than_memory(4 * form.layout().len(), 0, 1)?;
        let least = set.real("least-observed");
        let windows = fitting.windows_from_any_row(form.window - 1, least)?;
        Ok(Trained {
            plan: Plan {
                course: trained::floored_course(fitting, &form.layout()),
                batch,
                noise: set.real("noise"),
                samples,
                sigma: set.real("sigma"),
                beta: Beta {
                    wait: set.integer("kl-wait") as u64,
                    rate: set.real("kl-rate"),
                },
            },
            form,
            windows,
            remedies: remedies(set),
        })
    }
}

/// Changes of settings against divergence that are still open.
fn remedies(set: &Settings) -> Vec<&'static str> {
    let clipping = trained::clipping(set, "`--clip-norm 1000`");
    let all = [
        Some("a lower `--lr`"),
        Some("a larger `--sigma`"),
        Some(clipping),
        (set.integer("retries") == 0).then_some("`--retries 3`"),
    ];
    all.into_iter().flatten().collect()
}

impl Trainer for Trained {
    fn start(&self) -> State {
        let course = &self.plan.course;
        State::new(&continuous::start(&self.form.layout(), course.seed), course)
    }

    fn train(&self, from: State, watch: &mut dyn Watch) -> Outcome {
        let training = Training {
            plan: &self.plan,
            windows: &self.windows,
            form: self.form,
        };
        training.train(from, watch)
    }

    fn dynamics(&self, theta: &[f32]) -> Box<dyn Dynamics> {
        Box::new(LatentOde::new(self.form, theta.to_vec()))
    }

    fn length(&self) -> Length {
        trained::length(&self.plan.course)
    }

    fn notes(&self) -> Vec<String> {
        trained::notes_of_missing(&self.windows)
    }

    fn against_divergence(&self) -> Vec<&'static str> {
        self.remedies.clone()
    }
}

fn story(set: &Settings) -> String {
    format!(
        "as a variational autoencoder, on {} of windows of {}, solved by {}, {}",
        count(set.integer("samples"), "solution"),
        count(set.integer("window"), "row"),
        set.choice("solver"),
        trained::story_of_epochs(set)
    )
}

/// A network from its tensors. All sizes follow from their shapes.
fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let form = Form::of(tensors)?;
    let theta = trained::load_theta(&form.layout(), &CONSTANTS, tensors)?;
    Ok(Box::new(LatentOde::new(form, theta)))
}
