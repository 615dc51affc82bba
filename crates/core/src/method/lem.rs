//! Long expressive memory networks (Rusch et al. 2022), trained on windows that start from zero states. The cell is in
//! [`recurrent::lem`](crate::recurrent::lem).

use super::recurrent::{self, ALPHA, ALPHA_END, NOISE, RecurrentTrainer, hidden};
use super::trained::{self, setting, up_to};
use super::{Fit, FitError, Fitting, LoadError, Method, Tensors, Trainer, axes, nothing_to_settle};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::Dynamics;
use crate::recurrent::Cell;
use crate::recurrent::lanes::LemLanes;
use crate::recurrent::lem::Lem;
use crate::recurrent::training::{Chunks, Plan};
use crate::settings::{Dependence, Domain, Settings};
use crate::text::count;
use crate::windows::Windows;

/// The method.
pub static LEM: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "lem",
        summary: "long expressive memory: a recurrent network whose units choose their time steps",
        details: "Δ̄ = Δt σ(W₁ y + V₁ u + b₁),   Δ = Δt σ(W₂ y + V₂ u + b₂),   u = (x_t, s_t)\n\
                  z ← (1 − Δ) z + Δ tanh(W_y y + V_y u + b_y)\n\
                  y ← (1 − Δ̄) y + Δ̄ tanh(W_z z + V_z u + b_z)   with the new z,   x̂_{t+1} = Q y + q\n\
                  A = (V₁, V₂, V_z, V_y), B = (W₁, W₂, W_y) and C = W_z have a bias each, so that every line has two.\n\
                  Trained on windows that start from zero states. With --alpha below 1 the network is fed its own\n\
                  forecasts in part, with gradients through them.",
        settings: &[
            hidden("32"),
            setting(
                "delta-t",
                "1",
                Domain::Positive,
                "Largest time step Δt of a unit",
            ),
            setting(
                "warm-up",
                "100",
                up_to(1, 1_000_000),
                "Rows after which the start of a state counts as forgotten",
            ),
            ALPHA,
            ALPHA_END,
            trained::window("100"),
            trained::batch("32"),
            trained::epochs("200"),
            trained::batches_per_epoch("100"),
            trained::lr("1e-2"),
            trained::lr_end("1e-3"),
            trained::optimizer("adam"),
            trained::WEIGHT_DECAY,
            trained::CLIP_NORM,
            NOISE,
            trained::LEAST_OBSERVED,
            trained::AVERAGE,
            trained::on_divergence(&["halve-lr"]),
        ],
        references: &["rusch2022"],
    },
    dependences: DEPENDENCES,
    numerics: 2,
    fit: Fit::Train(trainer),
    settle: nothing_to_settle,
    load,
    story,
};

static DEPENDENCES: &[Dependence] = &[trained::OF_RETRIES];

fn trainer(_: &'static Method, fitting: Fitting<'_>) -> Result<Box<dyn Trainer>, FitError> {
    let set = fitting.settings;
    let (window, batch) = (set.integer("window"), set.integer("batch"));
    let cell = Lem::new(recurrent::sizes(fitting), set.real("delta-t"));
    recurrent::refuse_more_than_memory(cell.sizes(), window, batch)?;
    let share = set.real("least-observed");
    let windows = match recurrent::with_noise(fitting) {
        Some(noisy) => Windows::with_share(&noisy, window, share)?,
        None => fitting.windows(window, share)?,
    };
    let (alpha, alpha_end) = recurrent::read_alpha(set);
    let plan = Plan {
        course: trained::course(fitting, &cell.layout()),
        batch,
        batches_per_epoch: set.integer("batches-per-epoch") as u64,
        chunks: Chunks {
            steps: window,
            counted: window,
            count: 1,
        },
        windows,
        validation: None,
        passes: None,
        alpha,
        alpha_end,
        cell,
    };
    let trainer = RecurrentTrainer::<LemLanes>::new(plan, set.integer("warm-up"), set);
    Ok(Box::new(trainer))
}

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let sizes = recurrent::sizes_of(tensors, ("A", 0), "Q")?;
    let [_one] = axes(tensors, "dt")?;
    let dt = tensors["dt"].f64s().first().copied().unwrap_or(f64::NAN);
    if dt.is_finite() && dt > 0.0 {
        recurrent::load(Lem::new(sizes, dt), tensors)
    } else {
        Err(LoadError::NotFinite {
            name: "dt",
            entry: 0,
        })
    }
}

fn story(set: &Settings) -> String {
    format!(
        "by back-propagation through time, on windows of {}, {}",
        count(set.integer("window"), "step"),
        trained::story_of_epochs(set)
    )
}
