//! Other models that are the same map (Hess et al. 2023, proposition 3).
//!
//! | from | to | how |
//! | --- | --- | --- |
//! | any piecewise-linear map | `shallow-plrnn` | its [hinges](crate::map::piecewise); a clipped unit becomes two |
//! | `clipped-dendritic-plrnn` | `clipped-shallow-plrnn` | L = MB, W1 = (α_1 W … α_B W), W2 = (1; …; 1), h2 = −H |
//! | shallow, clipped or plain, `plrnn` | dendritic | if every unit looks at one state, and acts as [`to_dendritic`] says |
//! | any that has a dendritic form | `plrnn` | states y_b = z − H_b side by side, MB of them |
//!
//! The maps are equal in exact arithmetic. Where there is no such model the error says why.

mod dendritic;

pub use dendritic::{Dendrites, to_clipped_dendritic, to_dendritic};

use crate::hint::Hint;
use crate::map::piecewise::PiecewiseLinear;
use crate::map::{Dims, ModelInfo, dendritic as dendritic_models, plrnn, shallow};
use crate::model::{Architecture, Model};
use crate::observation::ObservationKind;

/// The same map as another model.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// Its sizes.
    pub dims: Dims,
    /// Its parameters.
    pub theta: Vec<f64>,
    /// Where its states are.
    pub states: States,
}

/// How the states of two equal maps belong together.
#[derive(Debug, Clone, PartialEq)]
pub enum States {
    /// They are the same.
    Same,
    /// B copies side by side, y_b = z − H_b.
    Copies {
        /// H, M × B.
        thresholds: Vec<f64>,
    },
}

/// Why a map has no such form. Units and states are numbered from 1, as in the equations.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConversionError {
    /// Only maps that teacher forcing trains have other forms.
    #[error("`{from}` is not a piecewise-linear map")]
    NotAMap {
        /// The model.
        from: &'static str,
    },
    /// A smooth map has no linear regions.
    #[error("`{from}` is smooth: no piecewise-linear model is the same map")]
    Smooth {
        /// The model.
        from: &'static str,
    },
    /// Only clipped units can be clipped.
    #[error("`{from}` has no form with clipped units")]
    NotClipped {
        /// The model.
        from: &'static str,
    },
    /// No model of this family is the same map.
    #[error("`{from}` has no form as `{to}`")]
    NoForm {
        /// The model.
        from: &'static str,
        /// The model that was asked for.
        to: &'static str,
    },
    /// A unit looks at several states.
    #[error("unit {unit} looks at more than one latent state, a dendritic unit at one")]
    Oblique {
        /// The unit.
        unit: usize,
    },
    /// A unit acts on the state that it looks at.
    #[error(
        "unit {unit} acts on latent state {state}, which it looks at: the diagonal of W is zero"
    )]
    OwnState {
        /// The unit.
        unit: usize,
        /// The state.
        state: usize,
    },
    /// Units that fall leave a linear coupling.
    #[error(
        "units that fall along latent state {state} leave a linear coupling to others, and A is diagonal"
    )]
    Coupling {
        /// The state.
        state: usize,
    },
    /// The units of a state drive the others in different proportions.
    #[error(
        "the units of latent state {state} act in different directions, a dendritic state in one"
    )]
    Directions {
        /// The state.
        state: usize,
    },
    /// The states have different slopes.
    #[error(
        "the units of latent states {first} and {second} have different slopes, dendritic states share them"
    )]
    Slopes {
        /// A state.
        first: usize,
        /// Another.
        second: usize,
    },
}

impl ConversionError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            ConversionError::Smooth { .. } => None,
            _ => Some("`--as shallow-plrnn` is a form of every piecewise-linear map".into()),
        }
    }
}

/// The map of a model as another model of the list.
pub fn convert(
    from: &'static ModelInfo,
    dims: Dims,
    theta: &[f64],
    to: &'static ModelInfo,
) -> Result<Converted, ConversionError> {
    let (from_id, to_id) = (from.entry.id, to.entry.id);
    if from_id == to_id {
        return Ok(same_states(dims, theta.to_vec()));
    }
    let map = (from.build)(dims);
    let form = map.piecewise(theta);
    let form = form.ok_or(ConversionError::Smooth { from: from_id })?;
    let dendrites = || {
        if from_id == dendritic_models::PLAIN.entry.id {
            Ok(Dendrites::of(map.as_ref(), theta))
        } else {
            to_dendritic(&form)
        }
    };
    if to_id == shallow::PLAIN.entry.id {
        Ok(to_shallow(form, dims.inputs))
    } else if to_id == shallow::CLIPPED.entry.id {
        if from_id == dendritic_models::CLIPPED.entry.id {
            Ok(Dendrites::of(map.as_ref(), theta).to_shallow())
        } else {
            Err(ConversionError::NotClipped { from: from_id })
        }
    } else if to_id == dendritic_models::CLIPPED.entry.id {
        if from_id == shallow::CLIPPED.entry.id {
            Ok(to_clipped_dendritic(map.as_ref(), theta)?.to_dendritic())
        } else {
            Err(ConversionError::NotClipped { from: from_id })
        }
    } else if to_id == dendritic_models::PLAIN.entry.id {
        Ok(dendrites()?.to_dendritic())
    } else if to_id == plrnn::PLAIN.entry.id {
        Ok(dendrites()?.to_plrnn())
    } else {
        Err(ConversionError::NoForm {
            from: from_id,
            to: to_id,
        })
    }
}

/// A whole model as another. What it observes is the same; a PLRNN made of copies observes their mean, and from data it
/// starts beside its copies, which then come together as A^t.
pub fn convert_model(
    model: &Model,
    to: &'static ModelInfo,
) -> Result<(Model, States), ConversionError> {
    let Architecture {
        info,
        dims,
        observation,
    } = *model.architecture();
    let (of_map, of_observation) = model.parameters();
    let converted = convert(info, dims, of_map, to)?;
    let (kind, of_observation) = match &converted.states {
        States::Same => (observation.kind, of_observation.to_vec()),
        States::Copies { thresholds } => (
            ObservationKind::LinearWithBias,
            observe_copies(model, of_observation, thresholds),
        ),
    };
    let architecture = Architecture::new(to, converted.dims, kind, observation.dim_obs);
    let theta = converted.theta.iter().chain(&of_observation);
    let theta = theta.map(|&v| v as f32).collect();
    let model = Model::new(
        architecture.expect("a form has at least the sizes of what it is made of"),
        theta,
    );
    Ok((model, converted.states))
}

/// B̃ = (B … B)/n and b̃ = b + B mean_b H_b, for n copies: the mean over the copies is z − mean_b H_b.
fn observe_copies(model: &Model, own: &[f64], thresholds: &[f64]) -> Vec<f64> {
    let observation = &model.architecture().observation;
    let (n, m) = (observation.dim_obs, observation.latent);
    let copies = thresholds.len() / m;
    let (b, bias) = match observation.kind {
        ObservationKind::Identity => (
            (0..n * m)
                .map(|e| f64::from(u8::from(e / m == e % m)))
                .collect(),
            Vec::new(),
        ),
        ObservationKind::Linear | ObservationKind::LinearWithBias => {
            (own[..n * m].to_vec(), own[n * m..].to_vec())
        }
    };
    let mean = |i: usize| thresholds[i * copies..][..copies].iter().sum::<f64>() / copies as f64;
    let rows = b.chunks_exact(m).enumerate();
    let shifted = rows.map(|(i, row)| {
        let shift: f64 = row.iter().enumerate().map(|(j, b)| b * mean(j)).sum();
        bias.get(i).copied().unwrap_or(0.0) + shift
    });
    let spread = b
        .chunks_exact(m)
        .flat_map(|row| row.iter().cycle().take(copies * m));
    let spread = spread.map(|v| v / copies as f64);
    spread.chain(shifted).collect()
}

impl States {
    /// The state of the other model that belongs to a state of the first.
    pub fn lift(&self, z: &[f64]) -> Vec<f64> {
        match self {
            States::Same => z.to_vec(),
            States::Copies { thresholds } => {
                let copies = thresholds.len() / z.len();
                let copy = |b: usize| (0..z.len()).map(move |i| (b, i));
                let pairs = (0..copies).flat_map(copy);
                pairs
                    .map(|(b, i)| z[i] - thresholds[i * copies + b])
                    .collect()
            }
        }
    }
}

fn same_states(dims: Dims, theta: Vec<f64>) -> Converted {
    Converted {
        dims,
        theta,
        states: States::Same,
    }
}

/// The hinges are the units of a plain shallow map.
fn to_shallow(form: PiecewiseLinear, inputs: usize) -> Converted {
    let dims = Dims {
        latent: form.dim,
        hidden: form.hinges(),
        inputs,
    };
    let theta = [form.a, form.w1, form.h1, form.w2, form.h2, form.c].concat();
    same_states(dims, theta)
}

#[cfg(test)]
mod tests;
