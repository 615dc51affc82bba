//! The objective of one batch in f64, written as the paper writes it: one window, one step, one state at a time.
//!
//! ```text
//! ẑ_t = P(x_t − b)    z̃_0 = z_0 = ẑ_0    z_t = F(z̃_{t−1}, s_t)    z̃_t = z_t + α_t(ẑ_t − z_t)
//! ℒ = 1/(N S T) Σ (x̂_t − x_t)²
//! ```
//!
//! Where x_t is missing the sum leaves it out, the mean is over what is there, and the teacher signal is inferred from
//! what the model sees at z_t.
//!
//! Slow and plain: what the vector kernels are compared with. With detached forcing the teacher signals are those
//! of other parameters, which stay where they are while θ is varied.

use crate::forcing::Forcing;
use crate::map::Map;
use crate::model::Architecture;
use crate::series::Series;

/// A batch: windows of T + 1 rows of a series' first trajectory, by their first rows.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    /// The data.
    pub series: &'a Series,
    /// Predicted steps T.
    pub window: usize,
    /// First rows.
    pub starts: &'a [usize],
    /// How states are forced.
    pub forcing: Forcing,
}

/// ℒ at θ, with the teacher signals of `teacher_theta`: θ itself for the full forcing gradient, a fixed copy for the
/// detached one.
pub fn loss(
    architecture: &Architecture,
    theta: &[f64],
    teacher_theta: &[f64],
    batch: &Batch<'_>,
) -> f64 {
    let map = (architecture.info.build)(architecture.dims);
    let own = map.layout().len();
    let observation = &architecture.observation;
    let window = Window {
        map: map.as_ref(),
        theta: &theta[..own],
        observation_theta: &theta[own..],
        initial: observation.initial_states(&theta[own..]),
        teacher: observation.initial_states(&teacher_theta[own..]),
        teacher_theta: &teacher_theta[own..],
        architecture,
    };
    let sums = batch.starts.iter().map(|&s| window.squares(batch, s));
    let (sum, count) = sums.fold((0.0, 0), |(sum, count), (s, c)| (sum + s, count + c));
    sum / count as f64
}

struct Window<'a> {
    map: &'a dyn Map,
    theta: &'a [f64],
    observation_theta: &'a [f64],
    initial: crate::observation::InitialStates,
    teacher: crate::observation::InitialStates,
    teacher_theta: &'a [f64],
    architecture: &'a Architecture,
}

impl Window<'_> {
    /// Σ (x̂ − x)² over one window, and over how many observations.
    fn squares(&self, batch: &Batch<'_>, start: usize) -> (f64, usize) {
        let observation = &self.architecture.observation;
        let (n, m, k) = (
            observation.dim_obs,
            observation.latent,
            self.architecture.dims.inputs,
        );
        let trajectory = &batch.series.trajectories()[0];
        let x = |t: usize| &trajectory.x[(start + t) * n..][..n];
        let s = |t: usize| &trajectory.s[(start + t) * k..][..k];
        let (mut z, mut next, mut z_hat) = (vec![0.0; m], vec![0.0; m], vec![0.0; m]);
        let (mut x_hat, mut filled) = (vec![0.0; n], vec![0.0; n]);
        self.initial.infer(x(0), &mut z);
        let (mut squares, mut count) = (0.0, 0);
        for t in 1..=batch.window {
            self.map.step(self.theta, &z, s(t), &mut next);
            observation.observe(self.observation_theta, &next, &mut x_hat);
            for (p, x) in x_hat.iter().zip(x(t)).filter(|(_, x)| !x.is_nan()) {
                squares += (p - x) * (p - x);
                count += 1;
            }
            observation.observe(self.teacher_theta, &next, &mut filled);
            let known = x(t).iter().zip(&mut filled).filter(|(x, _)| !x.is_nan());
            known.for_each(|(x, filled)| *filled = *x);
            self.teacher.infer(&filled, &mut z_hat);
            let alpha = f64::from(batch.forcing.gain(t));
            for i in 0..m {
                let gain = if i < observation.forced() { alpha } else { 0.0 };
                z[i] = next[i] + gain * (z_hat[i] - next[i]);
            }
        }
        (squares, count)
    }
}
