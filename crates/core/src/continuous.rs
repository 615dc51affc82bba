//! What ODE-RNN and Latent-ODE (Rubanova et al. 2019) are made of: states that flow between rows and are updated at rows.
//!
//! ```text
//! net     y = W_n tanh(… tanh(W_1 x + b_1) …) + b_n
//! flow    dm/dt = f(m),  f a net
//! unit    (m, s) ← U((m, s), (x, mask, inputs)),  a gated unit of means m and deviations s
//! ```
//!
//! They are here in f64 as they are written, with tangents beside every value ([`net`], [`unit`]), so that a step and its Jacobian are the
//! same code; for training they are in `lanes`, with gradients that are derived by hand.

pub(crate) mod lanes;
pub(crate) mod net;
pub(crate) mod unit;

pub(crate) use net::{Names, Net, widths};
pub(crate) use unit::{Unit, UnitSizes};

use crate::rng::{Rng, Stream};
use crate::theta::{Layout, Shape};

/// Standard deviation of the weights that training starts from.
const SPREAD: f64 = 0.1;

/// Parameters to start from: weights are normal with standard deviation 0.1, biases zero.
pub(crate) fn start(layout: &Layout, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new(seed, Stream::Parameters);
    let mut theta = vec![0.0; layout.len()];
    for tensor in layout.tensors() {
        if let Shape::Matrix(..) = tensor.shape {
            let entries = theta[tensor.range.clone()].iter_mut();
            entries.for_each(|entry| *entry = (SPREAD * rng.normal()) as f32);
        }
    }
    theta
}
