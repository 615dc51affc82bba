//! Piecewise-linear maps (and their tanh ablation) trained by back-propagation through time under teacher forcing: the method of
//! Hess et al. (2023). A [`Model`] is what it gives; [`mod@train`](crate::train) is how.

use super::{
    Fit, FitError, Fitting, Length, LoadError, Method, Settled, Tensors, Trainer, axes,
    refuse_other,
};
use crate::catalogue::Entry;
use crate::dynamics::Dynamics;
use crate::exponent::automatic::{Predictability, predictability};
use crate::forcing::adaptive::Adaptation;
use crate::forcing::alpha::Estimator;
use crate::forcing::{Forcing, ForcingGradient};
use crate::map::{Dims, MODELS, ModelInfo, dendritic, plrnn, shallow};
use crate::model::{Architecture, Model};
use crate::observation::{ObservationKind, ObservationStart};
use crate::optim::Schedule;
use crate::penalty::PenaltyWeights;
use crate::series::Series;
use crate::settings::{AUTO, Dependence, Domain, Setting, Settings, Value, depends};
use crate::text::{count, figure, grouped};
use crate::theta::{Shape, Tensor};
use crate::train::{Outcome, Plan, State, Watch, numbers_a_step, train};
use crate::windows::Windows;

/// The version of the numbers of all methods trained under teacher forcing.
const NUMERICS: u32 = 7;

/// The clipped shallow PLRNN.
pub static CLIPPED_SHALLOW: Method = method(&shallow::CLIPPED, WITH_HIDDEN);
/// The shallow PLRNN.
pub static SHALLOW: Method = method(&shallow::PLAIN, WITH_HIDDEN);
/// The shallow RNN with tanh units.
pub static TANH_SHALLOW: Method = method(&shallow::TANH, WITH_HIDDEN);
/// The clipped dendritic PLRNN.
pub static CLIPPED_DENDRITIC: Method = method(&dendritic::CLIPPED, WITH_BASES);
/// The dendritic PLRNN.
pub static DENDRITIC: Method = method(&dendritic::PLAIN, WITH_BASES);
/// The plain PLRNN.
pub static PLRNN: Method = method(&plrnn::PLAIN, WITHOUT_HIDDEN);
/// The mean-centred PLRNN.
pub static MEAN_CENTRED: Method = method(&plrnn::MEAN_CENTRED, WITHOUT_HIDDEN);

const fn method(info: &'static ModelInfo, settings: &'static [Setting]) -> Method {
    Method {
        entry: Entry {
            settings,
            ..info.entry
        },
        dependences: DEPENDENCES,
        numerics: NUMERICS,
        fit: Fit::Train(trainer),
        settle,
        load,
        story,
    }
}

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

const LATENT: Setting = setting(
    "latent",
    AUTO,
    Domain::Auto { low: 1, high: 4096 },
    "Latent states M; auto takes the number of channels up to 20, else 16",
);

const fn hidden(about: &'static str) -> Setting {
    setting("hidden", "50", up_to(1, 65_536), about)
}

/// The settings: some first ones, then those that all have.
macro_rules! settings {
    ($($first:expr),*) => {
        &[
            $($first,)*
            setting(
                "observation",
                "linear",
                Domain::Choice(&["identity", "linear", "linear-bias"]),
                "How channels are seen: x = the first states, B z, or B z + b",
            ),
            setting(
                "observation-start",
                "well-conditioned",
                Domain::Choice(&["well-conditioned", "random"]),
                "Where B starts",
            ),
            setting(
                "forcing",
                "gtf",
                Domain::Choice(&["gtf", "agtf", "stf", "none"]),
                "Teacher forcing: generalized (alpha), adaptive (alpha-estimator), sparse (interval), or none",
            ),
            setting("alpha", "0.15", Domain::FRACTION, "Strength of generalized forcing"),
            setting("alpha-start", "1", Domain::FRACTION, "First strength of adaptive forcing"),
            setting(
                "alpha-estimator",
                "arithmetic-mean",
                Domain::Choice(&ESTIMATORS),
                "How adaptive forcing finds the norm of Jacobians that alpha follows",
            ),
            setting(
                "decay",
                "0.999",
                Domain::FRACTION,
                "How much of alpha stays when adaptive forcing lowers it",
            ),
            setting(
                "every",
                "5",
                up_to(1, 1_000_000),
                "Updates between estimates of adaptive forcing",
            ),
            setting(
                "interval",
                AUTO,
                Domain::Auto { low: 1, high: 1_000_000_000 },
                "Steps between sparse forcings; auto takes the predictability time ln 2/λ of the data's first channel",
            ),
            setting(
                "forcing-gradient",
                "detached",
                Domain::Choice(&["detached", "full"]),
                "Whether teacher signals are differentiated",
            ),
            setting("window", "200", up_to(1, 1_000_000_000), "Predicted steps of a training window"),
            setting("batch", "16", up_to(1, 65_536), "Windows per update"),
            setting("epochs", "5000", up_to(1, 1_000_000_000), "Epochs"),
            setting("batches-per-epoch", "50", up_to(1, 1_000_000), "Updates per epoch"),
            setting("lr", "1e-3", RATE, "First learning rate"),
            setting("lr-end", "1e-6", RATE, "Last learning rate"),
            setting(
                "latent-penalty",
                "1e-5",
                Domain::NON_NEGATIVE,
                "Weight of the penalty on the map's parameters",
            ),
            setting(
                "condition-penalty",
                "0",
                Domain::NON_NEGATIVE,
                "Weight of the penalty on the condition number of B",
            ),
            setting(
                "manifold-penalty",
                "0",
                Domain::NON_NEGATIVE,
                "Weight of the manifold-attractor penalty",
            ),
            setting(
                "manifold-share",
                "0.5",
                Domain::FRACTION,
                "Share of the latent states that it acts on",
            ),
            setting("clip-norm", "0", Domain::NON_NEGATIVE, "Largest norm of a gradient; 0 for any"),
            setting(
                "largest-a",
                "0",
                Domain::FRACTION,
                "Largest |A|, to which A is cut after every update: below 1 no orbit of a clipped model can diverge; 0 for any",
            ),
            setting(
                "noise",
                "0",
                Domain::NON_NEGATIVE,
                "Standard deviation of the noise added to every window",
            ),
            setting(
                "least-observed",
                "0.5",
                Domain::FRACTION,
                "Share of its values that a window needs; others are left out",
            ),
            setting(
                "average",
                "0",
                Domain::Real { low: 0.0, high: 0.999_999 },
                "How much of the average of the parameters stays at an update; the model is the average; 0 for none",
            ),
            setting(
                "best-spread",
                "as-trained",
                Domain::Choice(&["as-trained", "matched"]),
                "Whether B, before best-by judges, is stretched so that free orbits vary as the data do; on noisy recordings `matched` brings the attractor nearer and makes forecasts worse",
            ),
            setting(
                "on-divergence",
                "halve-lr",
                Domain::Choice(&["halve-lr", "raise-alpha"]),
                "What changes when a training that diverged goes back to its last checkpoint",
            ),
        ]
    };
}

static WITH_HIDDEN: &[Setting] = settings!(LATENT, hidden("Hidden units L"));
static WITH_BASES: &[Setting] = settings!(LATENT, hidden("Bases B of each latent state"));
static WITHOUT_HIDDEN: &[Setting] = settings!(LATENT);

/// Learning rates. With at most one, a step is no longer than the gradients are large, so that finite gradients
/// give finite parameters.
const RATE: Domain = Domain::Real {
    low: 1e-12,
    high: 1.0,
};

const fn up_to(low: u64, high: u64) -> Domain {
    Domain::Integer { low, high }
}

const fn setting(
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

/// Every setting that does not always act.
static DEPENDENCES: &[Dependence] = &[
    depends("observation-start", "observation", is_not_identity),
    Dependence {
        instead: &[("agtf", "it starts at --alpha-start")],
        ..depends("alpha", "forcing", |v| v == Value::Choice("gtf"))
    },
    depends("alpha-start", "forcing", is_adaptive),
    depends("alpha-estimator", "forcing", is_adaptive),
    depends("decay", "forcing", is_adaptive),
    depends("every", "forcing", is_adaptive),
    depends("interval", "forcing", |v| v == Value::Choice("stf")),
    depends("forcing-gradient", "forcing", |v| {
        v != Value::Choice("none")
    }),
    depends("condition-penalty", "observation", is_not_identity),
    depends("manifold-share", "manifold-penalty", |v| {
        v != Value::Real(0.0)
    }),
    depends("best-spread", "best-by", |v| {
        !["none", "pe"].map(Value::Choice).contains(&v)
    }),
    depends("best-spread", "observation", is_not_identity),
    depends("on-divergence", "retries", |v| v != Value::Integer(0)),
];

fn is_adaptive(forcing: Value) -> bool {
    forcing == Value::Choice("agtf")
}

fn is_not_identity(observation: Value) -> bool {
    observation != Value::Choice("identity")
}

/// The number of latent states, and the interval of sparse forcing.
fn settle(fitting: Fitting<'_>) -> Result<Vec<Settled>, FitError> {
    let Fitting {
        settings,
        data,
        threads,
        ..
    } = fitting;
    let mut settled = Vec::new();
    if settings.integer_unless_auto("latent").is_none() {
        let channels = data.dim_obs();
        settled.push(Settled {
            name: "latent",
            value: if channels <= 20 { channels } else { 16 }.to_string(),
            note: None,
        });
    }
    let is_sparse = settings.choice("forcing") == "stf";
    if is_sparse && settings.integer_unless_auto("interval").is_none() {
        let found = predictability(data, threads)?;
        settled.push(Settled {
            name: "interval",
            value: found.rows.to_string(),
            note: Some(format!("states are replaced every {}", in_words(&found))),
        });
    }
    Ok(settled)
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

fn trainer(method: &'static Method, fitting: Fitting<'_>) -> Result<Box<dyn Trainer>, FitError> {
    Ok(Box::new(TeacherForced::new(method, fitting)?))
}

/// A training under teacher forcing, all settings read.
pub struct TeacherForced {
    /// Which model, of which sizes.
    pub architecture: Architecture,
    /// Where the observation model starts.
    pub start: ObservationStart,
    /// What training does.
    pub plan: Plan,
    /// The data in windows.
    pub windows: Windows,
    /// The parameters that it starts from.
    first: Vec<f32>,
    remedies: Vec<&'static str>,
}

impl TeacherForced {
    /// Reads the settings of one of these methods.
    pub fn new(method: &Method, fitting: Fitting<'_>) -> Result<TeacherForced, FitError> {
        let Fitting { settings, data, .. } = fitting;
        let architecture = architecture(info(method), settings, data)?;
        let share = settings.real("least-observed");
        let windows = Windows::with_share(data, settings.integer("window"), share)?;
        refuse_more_than_memory(&architecture, &windows, settings.integer("batch"))?;
        let start = match settings.choice("observation-start") {
            "random" => ObservationStart::Random,
            _ => ObservationStart::WellConditioned,
        };
        let first = Model::start(architecture, start, data, fitting.seed);
        Ok(TeacherForced {
            architecture,
            start,
            plan: plan(fitting)?,
            windows,
            first: first.theta().to_vec(),
            remedies: remedies(settings),
        })
    }

    /// The model at its random start.
    pub fn model(&self) -> Model {
        Model::new(self.architecture, self.first.clone())
    }
}

impl Trainer for TeacherForced {
    fn start(&self) -> State {
        State::new(&self.model(), &self.plan)
    }

    fn train(&self, from: State, watch: &mut dyn Watch) -> Outcome {
        train(&self.plan, &self.windows, &self.architecture, from, watch)
    }

    fn dynamics(&self, theta: &[f32]) -> Box<dyn Dynamics> {
        Box::new(Model::new(self.architecture, theta.to_vec()))
    }

    fn length(&self) -> Length {
        Length {
            epochs: self.plan.schedule.epochs,
            updates_per_epoch: self.plan.schedule.batches_per_epoch,
            threads: self.plan.threads,
        }
    }

    fn notes(&self) -> Vec<String> {
        let windows = &self.windows;
        let mut notes = Vec::new();
        if let Forcing::Sparse { interval } = self.plan.forcing
            && interval >= windows.window()
        {
            notes.push(format!(
                "windows of {} are forced at their start alone, because the interval has {interval}",
                count(windows.window(), "step")
            ));
        }
        if windows.left_out() > 0 {
            notes.push(format!(
                "values are missing: {} of {} windows are left out",
                windows.left_out(),
                windows.left_out() + windows.count()
            ));
        }
        notes
    }

    fn against_divergence(&self) -> Vec<&'static str> {
        self.remedies.clone()
    }
}

/// The map of a method.
fn info(method: &Method) -> &'static ModelInfo {
    let found = MODELS.iter().find(|info| info.entry.id == method.entry.id);
    found.expect("every method of this file is made of a map")
}

fn architecture(
    info: &'static ModelInfo,
    settings: &Settings,
    data: &Series,
) -> Result<Architecture, FitError> {
    let dims = Dims {
        latent: settings.integer("latent"),
        hidden: info.hidden.map_or(0, |_| settings.integer("hidden")),
        inputs: data.dim_input(),
    };
    let kind = match settings.choice("observation") {
        "identity" => ObservationKind::Identity,
        "linear-bias" => ObservationKind::LinearWithBias,
        _ => ObservationKind::Linear,
    };
    Ok(Architecture::new(info, dims, kind, data.dim_obs())?)
}

fn plan(fitting: Fitting<'_>) -> Result<Plan, FitError> {
    let set = fitting.settings;
    let positive = |name: &str| Some(set.real(name)).filter(|&value| value > 0.0);
    Ok(Plan {
        batch: set.integer("batch"),
        schedule: Schedule {
            start: set.real("lr"),
            end: set.real("lr-end"),
            epochs: set.integer("epochs") as u64,
            batches_per_epoch: set.integer("batches-per-epoch") as u64,
        },
        forcing: forcing(set),
        adaptation: adaptation(set),
        forcing_gradient: match set.choice("forcing-gradient") {
            "full" => ForcingGradient::Full,
            _ => ForcingGradient::Detached,
        },
        penalties: PenaltyWeights {
            latent: set.real("latent-penalty"),
            observation: set.real("condition-penalty"),
            manifold: set.real("manifold-penalty"),
            manifold_share: set.real("manifold-share"),
        },
        clip_norm: positive("clip-norm"),
        largest_a: positive("largest-a"),
        noise: set.real("noise"),
        averaging: positive("average"),
        seed: fitting.seed,
        threads: fitting.threads,
        isa: fitting.isa,
    })
}

fn forcing(set: &Settings) -> Forcing {
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

fn adaptation(set: &Settings) -> Option<Adaptation> {
    let name = set.choice("alpha-estimator");
    let estimator = Estimator::ALL.into_iter().find(|e| e.name() == name);
    (set.choice("forcing") == "agtf").then(|| Adaptation {
        estimator: estimator.expect("the choices are the list of estimators"),
        decay: set.real("decay"),
        every: set.integer("every") as u64,
    })
}

/// What an update keeps of a batch must fit into memory.
fn refuse_more_than_memory(
    architecture: &Architecture,
    windows: &Windows,
    batch: usize,
) -> Result<(), FitError> {
    let a_step = numbers_a_step(architecture) as u128;
    let numbers = batch as u128 * (windows.window() as u128 + 1) * a_step;
    let gib = (4 * numbers).div_ceil(1 << 30) as u64;
    // Some systems promise any amount; none of ours has a tebibyte.
    let fits = gib < 1024
        && Vec::<f32>::new()
            .try_reserve_exact(numbers as usize)
            .is_ok();
    fits.then_some(()).ok_or(FitError::Memory { gib })
}

/// Changes of settings against divergence that are still open.
fn remedies(set: &Settings) -> Vec<&'static str> {
    let forcing = match set.choice("forcing") {
        "gtf" => (set.real("alpha") < 1.0).then_some("a higher `--alpha`"),
        "agtf" => (set.real("decay") < 1.0).then_some("a higher `--decay`"),
        "stf" => (set.integer("interval") > 1).then_some("a smaller `--interval`"),
        _ => Some("`--forcing agtf`"),
    };
    let clipping = if set.real("clip-norm") == 0.0 {
        "`--clip-norm 10`"
    } else {
        "a smaller `--clip-norm`"
    };
    let all = [
        Some("a lower `--lr`"),
        forcing,
        (set.integer("window") > 1).then_some("a shorter `--window`"),
        Some(clipping),
        (set.integer("retries") == 0).then_some("`--retries 3`"),
    ];
    all.into_iter().flatten().collect()
}

/// How a model was trained.
fn story(set: &Settings) -> String {
    let forcing = match set.choice("forcing") {
        "gtf" => format!(
            "generalised teacher forcing (α = {})",
            figure(set.real("alpha"))
        ),
        "agtf" => "adaptive generalised teacher forcing (α from Jacobians)".into(),
        "stf" => match set.integer_unless_auto("interval") {
            Some(steps) => format!("sparse teacher forcing, every {}", count(steps, "step")),
            None => "sparse teacher forcing, at intervals of the predictability time".into(),
        },
        _ => "gradient descent without teacher forcing".into(),
    };
    format!(
        "by {forcing}, for {} epochs of {}",
        grouped(set.integer("epochs")),
        count(set.integer("batches-per-epoch"), "batch")
    )
}

/// A model from its tensors. All sizes follow from their shapes:
///
/// | size | from |
/// | --- | --- |
/// | latent M | `A` (M) |
/// | hidden L, bases | `W1` (M × L), `slopes` |
/// | inputs K | `C` (M × K), else 0 |
/// | channels N | `B` (N × M): linear, with `b` (N) linear with bias; `L` (M − N × N): identity; neither: identity, N = M |
fn load(method: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let architecture = of_shapes(info(method), tensors)?;
    let layout = architecture.layout();
    let shapes: Vec<(&'static str, Shape)> =
        layout.tensors().iter().map(|t| (t.name, t.shape)).collect();
    refuse_other(tensors, &shapes)?;
    let theta = layout.tensors().iter();
    let theta = theta.flat_map(|Tensor { name, .. }| tensors[*name].f32s());
    let theta: Vec<f32> = theta.collect();
    refuse_overflow(layout.tensors(), &theta)?;
    Ok(Box::new(Model::new(architecture, theta)))
}

/// Refuses numbers that double precision holds and single precision does not.
fn refuse_overflow(tensors: &[Tensor], theta: &[f32]) -> Result<(), LoadError> {
    for Tensor { name, range, .. } in tensors {
        let values = &theta[range.clone()];
        if let Some(entry) = values.iter().position(|v| !v.is_finite()) {
            return Err(LoadError::NotFinite { name, entry });
        }
    }
    Ok(())
}

fn of_shapes(info: &'static ModelInfo, tensors: &Tensors) -> Result<Architecture, LoadError> {
    let has = |name: &str| tensors.contains_key(name);
    let [latent] = axes(tensors, "A")?;
    let hidden = match info.hidden {
        None => 0,
        Some(_) if tensor_names(info).contains(&"W1") => axes::<2>(tensors, "W1")?[1],
        Some(_) => axes::<1>(tensors, "slopes")?[0],
    };
    let inputs = if has("C") {
        axes::<2>(tensors, "C")?[1]
    } else {
        0
    };
    let (kind, dim_obs) = match (has("B"), has("b"), has("L")) {
        (true, false, _) => (ObservationKind::Linear, axes::<2>(tensors, "B")?[0]),
        (true, true, _) => (ObservationKind::LinearWithBias, axes::<2>(tensors, "B")?[0]),
        (false, _, true) => (ObservationKind::Identity, axes::<2>(tensors, "L")?[1]),
        (false, _, false) => (ObservationKind::Identity, latent),
    };
    let dims = Dims {
        latent,
        hidden,
        inputs,
    };
    Ok(Architecture::new(info, dims, kind, dim_obs)?)
}

/// The tensors of a map.
fn tensor_names(info: &ModelInfo) -> Vec<&'static str> {
    let smallest = Dims {
        latent: 1,
        hidden: 1,
        inputs: 0,
    };
    let map = (info.build)(smallest);
    map.layout().tensors().iter().map(|t| t.name).collect()
}
