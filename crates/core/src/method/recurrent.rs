//! What the methods `lstm` and `lem` share: their trainer, the noise on their data, and how their networks are loaded.

use super::{FitError, Fitting, Length, LoadError, Tensors, Trainer, axes, trained};
use crate::dynamics::Dynamics;
use crate::recurrent::lanes::LaneCell;
use crate::recurrent::training::Plan;
use crate::recurrent::{self as network, Cell, CellSizes, Following, Network, WARM_UP};
use crate::rng::{Rng, Stream};
use crate::series::{Series, mean_and_sd};
use crate::settings::{Domain, Setting, Settings};
use crate::train::{Outcome, State, Watch};

pub(super) const fn hidden(default: &'static str) -> Setting {
    let about = "Hidden units n; the state has twice as many numbers";
    trained::setting("hidden", default, trained::up_to(1, 65_536), about)
}

pub(super) const ALPHA: Setting = trained::setting(
    "alpha",
    "1",
    Domain::FRACTION,
    "Share of the data in the inputs; the rest is the network's own forecast: 1 for teacher forcing, 0 for free running",
);

pub(super) const ALPHA_END: Setting = trained::setting(
    "alpha-end",
    "1",
    Domain::FRACTION,
    "Factor to which alpha has fallen at the end of training; it falls linearly with the epochs",
);

pub(super) const NOISE: Setting = trained::setting(
    "noise",
    "0",
    Domain::NON_NEGATIVE,
    "Noise that is added once to the training data, in per mille of each channel's standard deviation",
);

/// α at the start and at the end.
pub(super) fn read_alpha(set: &Settings) -> (f64, f64) {
    let alpha = set.real("alpha");
    (alpha, alpha * set.real("alpha-end"))
}

/// The data with noise of so many thousandths of each channel's standard deviation; none where the data stay as they are.
pub(super) fn with_noise(fitting: Fitting<'_>) -> Option<Series> {
    let (data, share) = (fitting.data, fitting.settings.real("noise") / 1000.0);
    if share == 0.0 {
        return None;
    }
    let n = data.dim_obs();
    let of_channel = |i: usize| share * mean_and_sd(data.column(i)).1;
    let spread: Vec<f64> = (0..n).map(of_channel).collect();
    let mut rng = Rng::new(fitting.seed, Stream::Noise);
    let mut trajectories = data.trajectories().to_vec();
    for trajectory in &mut trajectories {
        let values = trajectory.x.iter_mut().enumerate();
        values.for_each(|(i, x)| *x += spread[i % n] * rng.normal());
    }
    // Finite values near the largest number may leave the finite ones.
    data.with(trajectories).ok()
}

/// The sizes of a cell for the data.
pub(super) fn sizes(fitting: Fitting<'_>) -> CellSizes {
    CellSizes {
        hidden: fitting.settings.integer("hidden"),
        channels: fitting.data.dim_obs(),
        inputs: fitting.data.dim_input(),
    }
}

/// Refuses sizes whose buffers or parameters do not fit into memory.
pub(super) fn refuse_more_than_memory(
    sizes: CellSizes,
    steps: usize,
    batch: usize,
) -> Result<(), FitError> {
    let CellSizes {
        hidden, channels, ..
    } = sizes;
    // Inputs, their transposes, both states, gates and one number more, forecasts.
    let a_step = 9 * hidden + 4 * channels + 3 * sizes.width();
    trained::refuse_more_than_memory(a_step, steps, batch)?;
    let weights = 16 * hidden * (hidden + sizes.width());
    trained::refuse_more_than_memory(weights, 0, 1)
}

/// A training of a network with cells of type `L`.
pub(super) struct RecurrentTrainer<L: LaneCell> {
    pub(super) plan: Plan<L::Exact>,
    pub(super) warm_up: usize,
    first: Vec<f32>,
    remedies: Vec<&'static str>,
}

impl<L: LaneCell> RecurrentTrainer<L> {
    pub(super) fn new(plan: Plan<L::Exact>, warm_up: usize, set: &Settings) -> Self {
        let mut rng = Rng::new(plan.course.seed, Stream::Parameters);
        RecurrentTrainer {
            first: plan.cell.start(&mut rng),
            warm_up,
            remedies: remedies(set),
            plan,
        }
    }
}

/// Changes of settings against divergence that are still open.
fn remedies(set: &Settings) -> Vec<&'static str> {
    let clipping = trained::clipping(set, "`--clip-norm 10`");
    let is_free = set.real("alpha") * set.real("alpha-end") < 1.0;
    let all = [
        Some("a lower `--lr`"),
        is_free.then_some("a higher `--alpha`"),
        Some(clipping),
        (set.integer("retries") == 0).then_some("`--retries 3`"),
    ];
    all.into_iter().flatten().collect()
}

impl<L: LaneCell> Trainer for RecurrentTrainer<L> {
    fn start(&self) -> State {
        State {
            alpha: self.plan.alpha,
            ..State::new(&self.first, &self.plan.course)
        }
    }

    fn train(&self, from: State, watch: &mut dyn Watch) -> Outcome {
        self.plan.train::<L>(from, watch)
    }

    fn dynamics(&self, theta: &[f32]) -> Box<dyn Dynamics> {
        let cell = self.plan.cell.clone();
        let following = Following {
            warm_up: self.warm_up,
            // One that ran freely has never seen a mixture.
            alpha: match self.plan.alpha_end {
                0.0 => 1.0,
                alpha => alpha,
            },
        };
        Box::new(Network::new(cell, theta.to_vec(), following))
    }

    fn length(&self) -> Length {
        Length {
            updates_per_epoch: self.plan.updates_per_epoch(),
            ..trained::length(&self.plan.course)
        }
    }

    fn notes(&self) -> Vec<String> {
        trained::notes_of_missing(&self.plan.windows)
    }

    fn against_divergence(&self) -> Vec<&'static str> {
        self.remedies.clone()
    }
}

/// The sizes of a network, from a matrix whose rows are four for each unit and whose columns are those of the inputs and
/// `behind` of the units for each, and from its read-out.
pub(super) fn sizes_of(
    tensors: &Tensors,
    (matrix, behind): (&'static str, usize),
    read_out: &'static str,
) -> Result<CellSizes, LoadError> {
    let ([channels, hidden], [rows, cols]) = (axes(tensors, read_out)?, axes(tensors, matrix)?);
    let least = channels + behind * hidden;
    let refuse = |name, expected: Vec<usize>, found: Vec<usize>| LoadError::Shape {
        name,
        expected,
        found,
    };
    if channels == 0 || hidden == 0 {
        return Err(refuse(
            read_out,
            vec![channels.max(1), hidden.max(1)],
            vec![channels, hidden],
        ));
    }
    let inputs = cols.checked_sub(least);
    match inputs {
        Some(inputs) if rows == 4 * hidden => Ok(CellSizes {
            hidden,
            channels,
            inputs,
        }),
        _ => Err(refuse(
            matrix,
            vec![4 * hidden, least.max(cols)],
            vec![rows, cols],
        )),
    }
}

/// A network from its tensors.
pub(super) fn load<C: Cell>(cell: C, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let own = cell.constants().into_iter().map(|(name, _)| name);
    let constants: Vec<&'static str> = own.chain([WARM_UP, network::ALPHA]).collect();
    let theta = trained::load_theta(&cell.layout(), &constants, tensors)?;
    let constant = |name: &str| tensors[name].f64s()[0];
    let following = Following {
        warm_up: constant(WARM_UP).clamp(1.0, 1e9) as usize,
        alpha: constant(network::ALPHA).clamp(0.0, 1.0),
    };
    Ok(Box::new(Network::new(cell, theta, following)))
}
