//! ODE-RNN (Rubanova et al. 2019): a recurrent network whose state flows between rows by an ordinary differential equation,
//!
//! ```text
//! m ← m + h f(m),   (m, s) ← U((m, s), (x_t, mask, inputs)),   x̂_{t+1} = W_o tanh(W_h m + b_h) + b_o.
//! ```
//!
//! The unit is in `continuous.rs`; it sees which values are missing, so that rows may have any.

mod free_run;
mod network;
mod objective;
#[cfg(test)]
pub(super) mod tests;

use super::trained::{self, setting, up_to};
use super::{
    Fit, FitError, Fitting, Length, LoadError, Method, Tensors, Trainer, axes, nothing_to_settle,
};
use crate::catalogue::{Entry, Kind};
use crate::continuous::{self, UnitSizes};
use crate::dynamics::Dynamics;
use crate::settings::{Dependence, Domain, Setting, Settings};
use crate::text::count;
use crate::train::{Outcome, State, Watch};
use crate::windows::Windows;

pub use network::OdeRnn;
use network::{CONSTANTS, Form};
use objective::{Plan, Training};

/// The method.
pub static ODE_RNN: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "ode-rnn",
        summary: "recurrent network whose state flows between rows by a differential equation",
        details: "\
m ← m + h f(m)                                    between rows: Euler steps of dm/dt = f(m), f a network of tanh layers
u, r = σ(W₂ tanh(W₁ (m, s, v) + b₁) + b₂)         at a row: gates of v = (x, mask, inputs)
(m', s') = W₂ tanh(W₁ (m∘r, s∘r, v) + b₁) + b₂
m ← (1 − u) m' + u m,  s ← (1 − u) |s'| + u s
x̂_{t+1} = W_o tanh(W_h m + b_h) + b_o

A state has means m and deviations s. Values that are missing are 0 in x and in the mask; a row without any value leaves the state to
the flow alone. Rows may have any times (`--own-times`): a state shows what is one step behind it, and flows to where that is a row. Trained on windows that start from zero states, by the mean squared error of the forecasts of the values that are there.
With the defaults and 64 channels |θ| is 17,859, the paper's, which counts a layer from a state to an initial state that its program has and
does not use.",
        settings: SETTINGS,
        references: &["rubanova2019"],
    },
    dependences: DEPENDENCES,
    numerics: 2,
    fit: Fit::Train(trainer),
    settle: nothing_to_settle,
    load,
    story,
};

static SETTINGS: &[Setting] = &[
    setting(
        "latent",
        "9",
        up_to(1, 4096),
        "Number of means in a state, and of deviations",
    ),
    setting(
        "hidden",
        "44",
        up_to(1, 65_536),
        "Units of each hidden layer of the field f",
    ),
    setting(
        "hidden-layers",
        "2",
        up_to(1, 7),
        "Hidden layers of the field f",
    ),
    setting(
        "gate-hidden",
        "8",
        up_to(1, 65_536),
        "Hidden units of each gate",
    ),
    setting(
        "decoder-hidden",
        "100",
        up_to(1, 65_536),
        "Hidden units between a state and a forecast",
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
        "Euler steps from row to row",
    ),
    trained::window("100"),
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

static DEPENDENCES: &[Dependence] = &[trained::OF_RETRIES];

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

impl Trained {
    fn new(fitting: Fitting<'_>) -> Result<Trained, FitError> {
        let set = fitting.settings;
        let (window, batch) = (set.integer("window"), set.integer("batch"));
        let form = Form {
            unit: UnitSizes {
                latent: set.integer("latent"),
                gate_hidden: set.integer("gate-hidden"),
                field: (set.integer("hidden-layers"), set.integer("hidden")),
                channels: fitting.data.dim_obs(),
                inputs: fitting.data.dim_input(),
            },
            decoder_hidden: set.integer("decoder-hidden"),
            h: set.real("time-step"),
            steps: set.integer("euler-steps"),
            warm_up: window,
        };
        trained::refuse_more_than_memory(form.numbers_a_row(), window, batch)?;
        trained::refuse_more_than_memory(4 * form.layout().len(), 0, 1)?;
        let least = set.real("least-observed");
        let windows = fitting.windows_from_any_row(window, least)?;
        Ok(Trained {
            plan: Plan {
                course: trained::floored_course(fitting, &form.layout()),
                batch,
                noise: set.real("noise"),
            },
            form,
            windows,
            remedies: remedies(set),
        })
    }
}

/// Changes of settings against divergence that are still open.
fn remedies(set: &Settings) -> Vec<&'static str> {
    let clipping = trained::clipping(set, "`--clip-norm 10`");
    let all = [
        Some("a lower `--lr`"),
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
        Box::new(OdeRnn::new(self.form, theta.to_vec()))
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
        "by back-propagation through time, on windows of {}, {}",
        count(set.integer("window"), "step"),
        trained::story_of_epochs(set)
    )
}

/// A network from its tensors. All sizes follow from their shapes.
fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let form = Form::of(tensors)?;
    let theta = trained::load_theta(&form.layout(), &CONSTANTS, tensors)?;
    Ok(Box::new(OdeRnn::new(form, theta)))
}

/// The sizes of a unit, from its tensors and the number of channels.
pub(super) fn unit_of(tensors: &Tensors, channels: usize) -> Result<UnitSizes, LoadError> {
    let [units, latent] = axes(tensors, "ode_W1")?;
    let [gate_hidden, width] = axes(tensors, "new_W1")?;
    let layers = (1..=continuous::net::MOST_LAYERS)
        .take_while(|k| tensors.contains_key(&format!("ode_W{k}")))
        .count();
    let least = 2 * (latent + channels);
    let inputs = width.checked_sub(least).ok_or(LoadError::Shape {
        name: "new_W1",
        expected: vec![gate_hidden, least],
        found: vec![gate_hidden, width],
    })?;
    refuse_empty("ode_W1", [units, latent])?;
    refuse_empty("new_W1", [gate_hidden, width])?;
    Ok(UnitSizes {
        latent,
        gate_hidden,
        field: (layers.saturating_sub(1).max(1), units),
        channels,
        inputs,
    })
}

/// Refuses a matrix without rows or columns.
pub(super) fn refuse_empty(name: &'static str, found: [usize; 2]) -> Result<(), LoadError> {
    let expected = found.map(|size| size.max(1));
    if expected == found {
        return Ok(());
    }
    Err(LoadError::Shape {
        name,
        expected: expected.to_vec(),
        found: found.to_vec(),
    })
}

/// A number of a model file that is above zero and not beyond a bound.
pub(super) fn positive(tensors: &Tensors, name: &'static str, most: f64) -> Result<f64, LoadError> {
    axes::<1>(tensors, name)?;
    let value = tensors[name].f64s().first().copied();
    let value = value.ok_or(LoadError::Missing { name })?;
    let fits = value > 0.0 && value <= most;
    fits.then_some(value).ok_or(LoadError::Entry {
        name,
        entry: 0,
        expected: "a number above 0",
    })
}
