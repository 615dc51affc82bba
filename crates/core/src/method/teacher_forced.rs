//! Piecewise-linear maps (and their tanh ablation) trained by back-propagation through time under teacher forcing: the method of
//! Hess et al. (2023). A [`Model`] is what it gives; [`mod@train`](crate::train) is how.

use super::trained::{self, setting, up_to};
use super::{
    Fit, FitError, Fitting, Length, LoadError, Method, Settled, Tensors, Trainer, axes,
    refuse_other,
};
use crate::catalogue::Entry;
use crate::dynamics::Dynamics;
use crate::forcing::ForcingGradient;
use crate::map::{Dims, MODELS, ModelInfo, dendritic, plrnn, shallow};
use crate::model::{Architecture, Model};
use crate::observation::{ObservationKind, ObservationStart};
use crate::penalty::PenaltyWeights;
use crate::series::Series;
use crate::settings::{AUTO, Dependence, Domain, Setting, Settings, Value, depends};
use crate::theta::{Shape, Tensor};
use crate::train::{Outcome, Plan, State, Watch, numbers_a_step, train};
use crate::windows::Windows;

/// The version of the numbers of all methods trained under teacher forcing.
const NUMERICS: u32 = 8;

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
        story: trained::story_of_forcing,
    }
}

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
                "How channels x follow from the latent state z: its first entries, B z, or B z + b",
            ),
            setting(
                "observation-start",
                "well-conditioned",
                Domain::Choice(&["well-conditioned", "random"]),
                "How B is initialised",
            ),
            trained::forcing("gtf"),
            trained::ALPHA,
            trained::ALPHA_START,
            trained::ALPHA_ESTIMATOR,
            trained::DECAY,
            trained::EVERY,
            trained::INTERVAL,
            setting(
                "forcing-gradient",
                "detached",
                Domain::Choice(&["detached", "full"]),
                "Whether gradients also pass through the teacher signals",
            ),
            trained::window("200"),
            trained::batch("16"),
            trained::epochs("5000"),
            trained::batches_per_epoch("50"),
            trained::lr("1e-3"),
            trained::lr_end("1e-6"),
            trained::optimizer("radam"),
            trained::WEIGHT_DECAY,
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
                "Share of the latent states on which the manifold-attractor penalty acts",
            ),
            trained::CLIP_NORM,
            setting(
                "largest-a",
                "0",
                Domain::FRACTION,
                "Largest |A|, to which the entries of A are clipped after every update: below 1 no orbit of a clipped model can diverge; 0 for no limit",
            ),
            trained::NOISE,
            trained::LEAST_OBSERVED,
            trained::AVERAGE,
            setting(
                "best-spread",
                "as-trained",
                Domain::Choice(&["as-trained", "matched"]),
                "Whether B is stretched before best-by judges, so that free orbits vary as much as the data; on noisy recordings `matched` makes the attractor better and forecasts worse",
            ),
            trained::on_divergence(&["halve-lr", "raise-alpha"]),
        ]
    };
}

static WITH_HIDDEN: &[Setting] = settings!(LATENT, hidden("Hidden units L"));
static WITH_BASES: &[Setting] = settings!(LATENT, hidden("Bases B of each latent state"));
static WITHOUT_HIDDEN: &[Setting] = settings!(LATENT);

/// Every setting that does not always act.
static DEPENDENCES: &[Dependence] = &[
    depends("observation-start", "observation", is_not_identity),
    trained::OF_ALPHA,
    trained::of_adaptive("alpha-start"),
    trained::of_adaptive("alpha-estimator"),
    trained::of_adaptive("decay"),
    trained::of_adaptive("every"),
    trained::OF_INTERVAL,
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
    trained::OF_RETRIES,
];

fn is_not_identity(observation: Value) -> bool {
    observation != Value::Choice("identity")
}

/// The number of latent states, and the interval of sparse forcing.
fn settle(fitting: Fitting<'_>) -> Result<Vec<Settled>, FitError> {
    let Fitting { settings, data, .. } = fitting;
    let mut settled = Vec::new();
    if settings.integer_unless_auto("latent").is_none() {
        let channels = data.dim_obs();
        settled.push(Settled {
            name: "latent",
            value: if channels <= 20 { channels } else { 16 }.to_string(),
            note: None,
        });
    }
    settled.extend(trained::settle_interval(fitting)?);
    Ok(settled)
}

fn trainer(method: &'static Method, fitting: Fitting<'_>) -> Result<Box<dyn Trainer>, FitError> {
    Ok(Box::new(TeacherForced::new(method, fitting)?))
}

/// A training under teacher forcing, all settings read.
#[derive(Debug)]
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
        let windows = trained::windows(fitting)?;
        let a_step = numbers_a_step(&architecture);
        trained::refuse_more_than_memory(a_step, windows.window(), settings.integer("batch"))?;
        let start = match settings.choice("observation-start") {
            "random" => ObservationStart::Random,
            _ => ObservationStart::WellConditioned,
        };
        let first = Model::start(architecture, start, data, fitting.seed);
        Ok(TeacherForced {
            architecture,
            start,
            plan: plan(fitting, &architecture),
            windows,
            first: first.theta().to_vec(),
            remedies: trained::remedies(settings),
        })
    }

    /// The model at its random start.
    pub fn model(&self) -> Model {
        Model::new(self.architecture, self.first.clone())
    }
}

impl Trainer for TeacherForced {
    fn start(&self) -> State {
        self.plan.start(&self.model())
    }

    fn train(&self, from: State, watch: &mut dyn Watch) -> Outcome {
        train(&self.plan, &self.windows, &self.architecture, from, watch)
    }

    fn dynamics(&self, theta: &[f32]) -> Box<dyn Dynamics> {
        Box::new(Model::new(self.architecture, theta.to_vec()))
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

fn plan(fitting: Fitting<'_>, architecture: &Architecture) -> Plan {
    let set = fitting.settings;
    Plan {
        course: trained::course(fitting, &architecture.layout()),
        batch: set.integer("batch"),
        forcing: trained::read_forcing(set),
        adaptation: trained::read_adaptation(set),
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
        largest_a: Some(set.real("largest-a")).filter(|&largest| largest > 0.0),
        noise: set.real("noise"),
    }
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
    trained::refuse_overflow(layout.tensors(), &theta)?;
    Ok(Box::new(Model::new(architecture, theta)))
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
