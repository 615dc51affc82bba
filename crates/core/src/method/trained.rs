//! What methods that are trained by updates share: their settings, each written once, and how these are read.
//!
//! A method's list names the settings that it has, with its own defaults:
//!
//! ```text
//! settings: &[HIDDEN, window("25"), batch("16"), epochs("5000"), …, lr("5e-3"), optimizer("adam"), CLIP_NORM, …]
//! ```

use super::{FitError, Fitting, Length, LoadError, Settled, Tensors, refuse_other};
use crate::exponent::automatic::{Predictability, predictability};
use crate::forcing::Forcing;
use crate::forcing::adaptive::Adaptation;
use crate::forcing::alpha::Estimator;
use crate::optim::{Exponential, Floored, Optimizer};
use crate::settings::{AUTO, Dependence, Domain, Setting, Settings, Value, depends};
use crate::text::{count, figure, grouped_count};
use crate::theta::{Layout, Shape, Tensor};
use crate::train::{Course, Schedule, WeightDecay};
use crate::windows::Windows;

/// The names of all estimators of alpha.
static ESTIMATORS: [&str; Estimator::ALL.len()] = {
    let mut names = [""; Estimator::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Estimator::ALL[i].name();
        i += 1;
    }
    names
};

/// The names of all optimisers.
static OPTIMIZERS: [&str; Optimizer::ALL.len()] = {
    let mut names = [""; Optimizer::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Optimizer::ALL[i].name();
        i += 1;
    }
    names
};

/// A setting.
pub(super) const fn setting(
    name: &'static str,
    default: &'static str,
    domain: Domain,
    about: &'static str,
) -> Setting {
    Setting {
        name,
        default,
        domain,
        about,
    }
}

/// Whole numbers of an interval.
pub(super) const fn up_to(low: u64, high: u64) -> Domain {
    Domain::Integer { low, high }
}

/// Learning rates. With at most one, a step is no longer than the gradients are large, so that finite gradients
/// give finite parameters.
const RATE: Domain = Domain::Real {
    low: 1e-12,
    high: 1.0,
};

// ---- forcing ----

pub(super) const fn forcing(default: &'static str) -> Setting {
    setting(
        "forcing",
        default,
        Domain::Choice(&["gtf", "agtf", "stf", "none"]),
        "Teacher forcing: generalized (alpha), adaptive (alpha-estimator), sparse (interval), or none",
    )
}

pub(super) const ALPHA: Setting = setting(
    "alpha",
    "0.15",
    Domain::FRACTION,
    "Strength α of generalized forcing, from 0 (none) to 1",
);

pub(super) const ALPHA_START: Setting = setting(
    "alpha-start",
    "1",
    Domain::FRACTION,
    "Initial strength of adaptive forcing",
);

pub(super) const ALPHA_ESTIMATOR: Setting = setting(
    "alpha-estimator",
    "arithmetic-mean",
    Domain::Choice(&ESTIMATORS),
    "How adaptive forcing estimates the norm of the Jacobians, from which alpha follows",
);

pub(super) const DECAY: Setting = setting(
    "decay",
    "0.999",
    Domain::FRACTION,
    "How much of alpha stays when adaptive forcing lowers it",
);

pub(super) const EVERY: Setting = setting(
    "every",
    "5",
    up_to(1, 1_000_000),
    "Updates between estimates of adaptive forcing",
);

pub(super) const INTERVAL: Setting = setting(
    "interval",
    AUTO,
    Domain::Auto {
        low: 1,
        high: 1_000_000_000,
    },
    "Steps between sparse forcings; auto takes the predictability time ln 2/λ of the data's first channel",
);

// ---- windows ----

pub(super) const fn window(default: &'static str) -> Setting {
    let about = "Steps that are predicted in a training window";
    setting("window", default, up_to(1, 1_000_000_000), about)
}

pub(super) const fn batch(default: &'static str) -> Setting {
    setting("batch", default, up_to(1, 65_536), "Windows per update")
}

pub(super) const NOISE: Setting = setting(
    "noise",
    "0",
    Domain::NON_NEGATIVE,
    "Standard deviation of the noise added to every window",
);

pub(super) const LEAST_OBSERVED: Setting = least_observed("0.5");

pub(super) const fn least_observed(default: &'static str) -> Setting {
    setting(
        "least-observed",
        default,
        Domain::FRACTION,
        "Share of a window's values that must be present; other windows are left out",
    )
}

// ---- the loop ----

pub(super) const fn epochs(default: &'static str) -> Setting {
    setting("epochs", default, up_to(1, 1_000_000_000), "Epochs")
}

pub(super) const fn batches_per_epoch(default: &'static str) -> Setting {
    let about = "Updates per epoch";
    setting("batches-per-epoch", default, up_to(1, 1_000_000), about)
}

pub(super) const fn lr(default: &'static str) -> Setting {
    setting("lr", default, RATE, "Initial learning rate")
}

pub(super) const fn lr_end(default: &'static str) -> Setting {
    setting("lr-end", default, RATE, "Final learning rate")
}

pub(super) const LR_DECAY: Setting = setting(
    "lr-decay",
    "0.999",
    Domain::FRACTION,
    "Factor by which the learning rate is multiplied at every update, until it reaches lr-end",
);

pub(super) const fn optimizer(default: &'static str) -> Setting {
    setting(
        "optimizer",
        default,
        Domain::Choice(&OPTIMIZERS),
        "Optimizer, which turns a gradient into a step",
    )
}

pub(super) const WEIGHT_DECAY: Setting = setting(
    "weight-decay",
    "0",
    Domain::NON_NEGATIVE,
    "Weight λ of the penalty ½ λ Σ w² on the entries of all matrices",
);

pub(super) const CLIP_NORM: Setting = setting(
    "clip-norm",
    "0",
    Domain::NON_NEGATIVE,
    "Largest norm of a gradient; 0 for no limit",
);

pub(super) const AVERAGE: Setting = setting(
    "average",
    "0",
    Domain::Real {
        low: 0.0,
        high: 0.999_999,
    },
    "Weight of the old average when an update is added to the moving average of the parameters, which becomes the model; 0 for no averaging",
);

pub(super) const fn on_divergence(choices: &'static [&'static str]) -> Setting {
    setting(
        "on-divergence",
        "halve-lr",
        Domain::Choice(choices),
        "What changes when a training that diverged goes back to its last checkpoint",
    )
}

/// Settings of forcing and of the loop that do not always act. (Lists of constants cannot be joined by a loop where they are
/// declared, so that methods name them one by one.)
pub(super) const OF_ALPHA: Dependence = Dependence {
    instead: &[("agtf", "it starts at --alpha-start")],
    ..depends("alpha", "forcing", |v| v == Value::Choice("gtf"))
};

/// A setting of adaptive forcing alone.
pub(super) const fn of_adaptive(name: &'static str) -> Dependence {
    depends(name, "forcing", |v| v == Value::Choice("agtf"))
}

pub(super) const OF_INTERVAL: Dependence =
    depends("interval", "forcing", |v| v == Value::Choice("stf"));

pub(super) const OF_RETRIES: Dependence =
    depends("on-divergence", "retries", |v| v != Value::Integer(0));

// ---- reading them ----

/// What the loop does, with a learning rate that falls by the same factor every epoch.
pub(super) fn course(fitting: Fitting<'_>, layout: &Layout) -> Course {
    let set = fitting.settings;
    let schedule = Schedule::Exponential(Exponential {
        start: set.real("lr"),
        end: set.real("lr-end"),
        epochs: set.integer("epochs") as u64,
        batches_per_epoch: set.integer("batches-per-epoch") as u64,
    });
    course_of(fitting, layout, schedule)
}

/// What the loop does, with a learning rate that falls by the same factor every update, down to a floor.
pub(super) fn floored_course(fitting: Fitting<'_>, layout: &Layout) -> Course {
    let set = fitting.settings;
    let schedule = Schedule::Floored(Floored {
        start: set.real("lr"),
        factor: set.real("lr-decay"),
        floor: set.real("lr-end"),
        epochs: set.integer("epochs") as u64,
        batches_per_epoch: set.integer("batches-per-epoch") as u64,
    });
    course_of(fitting, layout, schedule)
}

/// What the loop does, with any schedule.
pub(super) fn course_of(fitting: Fitting<'_>, layout: &Layout, schedule: Schedule) -> Course {
    let set = fitting.settings;
    let positive = |name: &str| Some(set.real(name)).filter(|&value| value > 0.0);
    let name = set.choice("optimizer");
    let optimizer = Optimizer::ALL.into_iter().find(|o| o.name() == name);
    Course {
        schedule,
        optimizer: optimizer.expect("the choices are the list of optimisers"),
        weight_decay: WeightDecay::of_matrices(set.real("weight-decay"), layout),
        clip_norm: positive("clip-norm"),
        averaging: positive("average"),
        seed: fitting.seed,
        threads: fitting.threads,
        paced: fitting.paced,
        isa: fitting.isa,
    }
}

/// How long a course is, where its epochs have a fixed length.
pub(super) fn length(course: &Course) -> Length {
    Length {
        epochs: course.schedule.epochs(),
        updates_per_epoch: course.schedule.updates_per_epoch(),
        threads: course.threads,
    }
}

/// The scheme of teacher forcing.
pub(super) fn read_forcing(set: &Settings) -> Forcing {
    match set.choice("forcing") {
        "gtf" => Forcing::Generalized {
            alpha: set.real("alpha"),
        },
        "agtf" => Forcing::Generalized {
            alpha: set.real("alpha-start"),
        },
        "stf" => Forcing::Sparse {
            interval: set.integer("interval"),
        },
        _ => Forcing::None,
    }
}

/// How the strength of forcing follows the model.
pub(super) fn read_adaptation(set: &Settings) -> Option<Adaptation> {
    let name = set.choice("alpha-estimator");
    let estimator = Estimator::ALL.into_iter().find(|e| e.name() == name);
    (set.choice("forcing") == "agtf").then(|| Adaptation {
        estimator: estimator.expect("the choices are the list of estimators"),
        decay: set.real("decay"),
        every: set.integer("every") as u64,
    })
}

/// The interval of sparse forcing, where it is left to the data.
pub(super) fn settle_interval(fitting: Fitting<'_>) -> Result<Option<Settled>, FitError> {
    let set = fitting.settings;
    let is_sparse = set.choice("forcing") == "stf";
    if !is_sparse || set.integer_unless_auto("interval").is_some() {
        return Ok(None);
    }
    let found = predictability(fitting.data, fitting.threads)?;
    Ok(Some(Settled {
        name: "interval",
        value: found.rows.to_string(),
        note: Some(format!("states are replaced every {}", in_words(&found))),
    }))
}

/// What an interval is that was left to the data.
fn in_words(found: &Predictability) -> String {
    let error = found.error.map(|error| format!(" ± {}", figure(error)));
    format!(
        "{}, the predictability time of `{}` (λ = {}{} per row)",
        count(found.rows, "step"),
        found.channel,
        figure(found.exponent),
        error.unwrap_or_default()
    )
}

/// The data in windows.
pub(super) fn windows(fitting: Fitting<'_>) -> Result<Windows, FitError> {
    let set = fitting.settings;
    let share = set.real("least-observed");
    Ok(fitting.windows(set.integer("window"), share)?)
}

/// What the user should know about windows under forcing.
pub(super) fn notes_of_windows(windows: &Windows, forcing: Forcing) -> Vec<String> {
    let mut notes = Vec::new();
    if let Forcing::Sparse { interval } = forcing
        && interval >= windows.window()
    {
        notes.push(format!(
            "windows of {} are forced at their start alone, because the interval has {interval}",
            count(windows.window(), "step")
        ));
    }
    notes.extend(notes_of_missing(windows));
    notes
}

/// What the user should know about windows of which values are missing.
pub(super) fn notes_of_missing(windows: &Windows) -> Vec<String> {
    let (left_out, kept) = (windows.left_out(), windows.count());
    let note = || {
        let all = count(left_out + kept, "window");
        let is = if left_out == 1 { "is" } else { "are" };
        format!("values are missing: {left_out} of {all} {is} left out")
    };
    (left_out > 0).then(note).into_iter().collect()
}

/// What an update keeps of a batch, so many numbers per step of a window, must fit into memory.
pub(super) fn refuse_more_than_memory(
    numbers_a_step: usize,
    steps: usize,
    batch: usize,
) -> Result<(), FitError> {
    let numbers = batch as u128 * (steps as u128 + 1) * numbers_a_step as u128;
    let gib = (4 * numbers).div_ceil(1 << 30) as u64;
    // Some systems promise any amount; none of ours has a tebibyte.
    let fits = gib < 1024
        && Vec::<f32>::new()
            .try_reserve_exact(numbers as usize)
            .is_ok();
    fits.then_some(()).ok_or(FitError::Memory { gib })
}

/// Changes of settings against divergence that are still open.
pub(super) fn remedies(set: &Settings) -> Vec<&'static str> {
    let forcing = match set.choice("forcing") {
        "gtf" => (set.real("alpha") < 1.0).then_some("a higher `--alpha`"),
        "agtf" => (set.real("decay") < 1.0).then_some("a higher `--decay`"),
        "stf" => (set.integer("interval") > 1).then_some("a smaller `--interval`"),
        _ => Some("`--forcing agtf`"),
    };
    let clipping = clipping(set, "`--clip-norm 10`");
    let all = [
        Some("a lower `--lr`"),
        forcing,
        (set.integer("window") > 1).then_some("a shorter `--window`"),
        Some(clipping),
        (set.integer("retries") == 0).then_some("`--retries 3`"),
    ];
    all.into_iter().flatten().collect()
}

/// How a model under forcing was trained.
pub(super) fn story_of_forcing(set: &Settings) -> String {
    let forcing = match set.choice("forcing") {
        "gtf" => format!(
            "generalized teacher forcing (α = {})",
            figure(set.real("alpha"))
        ),
        "agtf" => "adaptive generalized teacher forcing (α from Jacobians)".into(),
        "stf" => match set.integer_unless_auto("interval") {
            Some(steps) => format!("sparse teacher forcing, every {}", count(steps, "step")),
            None => "sparse teacher forcing, at intervals of the predictability time".into(),
        },
        _ => "gradient descent without teacher forcing".into(),
    };
    format!("by {forcing}, {}", story_of_epochs(set))
}

/// How long a model was trained.
pub(super) fn story_of_epochs(set: &Settings) -> String {
    format!(
        "for {} of {}",
        grouped_count(set.integer("epochs"), "epoch"),
        count(set.integer("batches-per-epoch"), "batch")
    )
}

/// θ of a layout from the tensors of a model file, which has these constants beside it and nothing else.
pub(super) fn load_theta(
    layout: &Layout,
    constants: &[&'static str],
    tensors: &Tensors,
) -> Result<Vec<f32>, LoadError> {
    let own = layout.tensors().iter().map(|t| (t.name, t.shape));
    let numbers = constants.iter().map(|&name| (name, Shape::Vector(1)));
    let shapes: Vec<(&'static str, Shape)> = own.chain(numbers).collect();
    refuse_other(tensors, &shapes)?;
    let theta = layout.tensors().iter();
    let theta: Vec<f32> = theta.flat_map(|t| tensors[t.name].f32s()).collect();
    refuse_overflow(layout.tensors(), &theta)?;
    Ok(theta)
}

/// How `--clip-norm` helps against divergence, where gradients are not cut yet and where they are.
pub(super) fn clipping(set: &Settings, first: &'static str) -> &'static str {
    if set.real("clip-norm") == 0.0 {
        first
    } else {
        "a smaller `--clip-norm`"
    }
}

/// Refuses numbers that double precision holds and single precision does not.
pub(super) fn refuse_overflow(tensors: &[Tensor], theta: &[f32]) -> Result<(), LoadError> {
    for Tensor { name, range, .. } in tensors {
        let values = &theta[range.clone()];
        if let Some(entry) = values.iter().position(|v| !v.is_finite()) {
            return Err(LoadError::NotFinite { name, entry });
        }
    }
    Ok(())
}
