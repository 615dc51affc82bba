//! One pass over the windows in the lanes of a vector: forward under forcing, residuals, backward, gradients.
//!
//! ```text
//! z_t = F(z̃_{t−1}, s_t)        z̃_t = z_t + α_t (ẑ_t − z_t)        e_t = c (x̂_t − x_t),  c = 2/(N S T)
//! δ_T = Bᵀe_T                   δ_t = Bᵀe_t + (1 − α_t) J̃ᵀ_{t+1} δ_{t+1}        δ̃_0 = J̃ᵀ_1 δ_1
//! ```
//!
//! Of an observation x_t, what is missing is what the model sees at z_t: there the residual is zero, and the teacher
//! signal leaves the model its own state.

use super::batch::{Pack, group_sums};
use crate::forcing::{Forcing, ForcingGradient};
use crate::kernel::{At, Chunk, Kernel, Left, Tape, chunk_of};
use crate::map::Dims;
use crate::observation::{Observation, ObservationLanes, Residuals};
use crate::simd::{Groups, Lanes, OpenUnits, Simd, SimdBase, SimdFloat, Task};

/// Buffers of a sweep over T steps, with units in registers of type `Q`.
pub(crate) struct Sweep<P, Q = P> {
    dims: Dims,
    observation: Observation,
    window: usize,
    /// The windows.
    pub(crate) pack: Pack<P>,
    /// What is filled in for missing values, or its cotangent, N, and what that adds to the state's cotangent, M.
    filled: (Vec<P>, Vec<P>),
    /// Teacher signals, (T + 1) × forced.
    teacher: Vec<P>,
    /// States before forcing, T × M.
    z: Vec<P>,
    /// Cotangents of inferred states, T × M: row 0 of the initial state, others of teacher signals.
    inferred: Vec<P>,
    residuals: Residuals<P>,
    /// What the map leaves behind.
    pub(crate) tape: Tape<P, Q>,
}

/// How a sweep is forced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forced {
    pub(crate) forcing: Forcing,
    pub(crate) gradient: ForcingGradient,
}

impl<P: Lanes, Q: Lanes> Sweep<P, Q> {
    pub(crate) fn new<K: Kernel<Units<P> = Q>>(
        dims: Dims,
        kernel: &K,
        observation: Observation,
        pack: Pack<P>,
    ) -> Sweep<P, Q> {
        let window = pack.whole.len() - 1;
        Sweep {
            dims,
            observation,
            window,
            pack,
            filled: (
                vec![P::ZERO; observation.dim_obs],
                vec![P::ZERO; dims.latent],
            ),
            teacher: vec![P::ZERO; (window + 1) * observation.forced()],
            z: vec![P::ZERO; window * dims.latent],
            inferred: vec![P::ZERO; window * dims.latent],
            residuals: Residuals::new(observation, window),
            tape: Tape::new(dims, kernel, window),
        }
    }

    /// Infers the states of all predicted rows from the data alone.
    #[inline(always)]
    pub(crate) fn states_of_data<S: Simd>(&mut self, simd: S, observation: &ObservationLanes) {
        let n = self.observation.dim_obs;
        observation.infer(simd, &self.pack.x[n..], &mut self.z);
    }

    /// States T × M before forcing, step by step.
    pub(crate) fn states(&self) -> impl Iterator<Item = &[P]> {
        self.z.chunks_exact(self.dims.latent)
    }

    /// Σ (x̂ − x)² over the lanes of each group that count.
    pub(crate) fn squares(&self, used: usize) -> [f32; 2] {
        group_sums(self.residuals.squares.lanes(), used)
    }
}

/// Teacher signals and the initial state.
pub(crate) struct Infer<'a, P, Q> {
    pub(crate) observation: &'a ObservationLanes,
    pub(crate) sweep: &'a mut Sweep<P, Q>,
}

impl<P: Lanes, Q: Lanes> Task for Infer<'_, P, Q> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Sweep {
            dims,
            observation,
            pack: Pack { x, .. },
            teacher,
            tape,
            ..
        } = self.sweep;
        let first = &x[..observation.dim_obs];
        self.observation
            .infer(simd, first, &mut tape.z[..dims.latent]);
        self.observation.teachers(simd, x, teacher);
    }
}

/// The steps of the map, with forcing.
pub(crate) struct Forward<'a, K: Kernel, P: Lanes> {
    pub(crate) kernel: &'a K,
    pub(crate) observation: &'a ObservationLanes,
    pub(crate) forced: Forced,
    pub(crate) sweep: &'a mut Sweep<P, K::Units<P>>,
}

impl<K: Kernel, P: Lanes> Task for Forward<'_, K, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Sweep {
            dims,
            observation,
            window,
            teacher,
            z,
            tape,
            pack: Pack { x, mask, whole, .. },
            filled,
            ..
        } = self.sweep;
        let (m, k) = (dims.latent, dims.inputs);
        let (n, width) = (observation.dim_obs, observation.forced());
        for t in 0..*window {
            let (before, after) = tape.z.split_at_mut((t + 1) * m);
            let (before, next) = (&before[t * m..], &mut z[t * m..][..m]);
            let s = &tape.s[t * k..][..k];
            let left = Left {
                g: tape.g.at_mut(t),
                marks: tape.marks.at_mut(t),
            };
            let teacher = &mut teacher[(t + 1) * width..][..width];
            let gain = P::Vector::splat(simd, self.forced.forcing.gain(t + 1));
            let after = &mut after[..m];
            self.kernel.step(
                simd,
                (before, s),
                left,
                #[inline(always)]
                |i, z| {
                    next[i].store(z);
                    // z̃ = z + α (ẑ − z) in the leading states that have a teacher.
                    after[i].store(match teacher.get(i) {
                        Some(teacher) => gain.mul_add(teacher.load(simd) - z, z),
                        None => z,
                    });
                },
            );
            if !whole[t + 1] {
                let (x, mask) = (&mut x[(t + 1) * n..][..n], &mask[(t + 1) * n..][..n]);
                self.observation
                    .fill(simd, (next, mask), x, &mut filled.0, teacher);
                for ((after, z), teacher) in after.iter_mut().zip(&*next).zip(&*teacher) {
                    let z = z.load(simd);
                    after.store(gain.mul_add(teacher.load(simd) - z, z));
                }
            }
        }
    }
}

/// Residuals of the states before forcing.
pub(crate) struct Compare<'a, P, Q> {
    pub(crate) observation: &'a ObservationLanes,
    pub(crate) sweep: &'a mut Sweep<P, Q>,
}

impl<P: Lanes, Q: Lanes> Task for Compare<'_, P, Q> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Sweep {
            observation,
            z,
            pack: Pack { x, weight, .. },
            residuals,
            ..
        } = self.sweep;
        self.observation
            .residuals(simd, z, &x[observation.dim_obs..], weight, residuals);
    }
}

/// The backward sweep, then the map's weight gradients.
pub(crate) struct Backward<'a, K: Kernel, P: Lanes> {
    pub(crate) kernel: &'a K,
    pub(crate) observation: &'a ObservationLanes,
    pub(crate) forced: Forced,
    pub(crate) sweep: &'a mut Sweep<P, K::Units<P>>,
    pub(crate) groups: Groups<'a>,
}

impl<K: Kernel, P: Lanes> Task for Backward<'_, K, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Sweep {
            dims,
            window,
            residuals,
            tape,
            ..
        } = &mut *self.sweep;
        let (window, last) = (*window, (*window - 1) * dims.latent);
        tape.d[last..].copy_from_slice(&residuals.r[last..]);
        self.kernel.look_for_open(simd, tape);
        let chunk = chunk_of(self.kernel, window);
        for end in (1..=window).rev().step_by(chunk) {
            let start = end.saturating_sub(chunk);
            for t in (start..end).rev() {
                self.step_back(simd, t, t - start);
                if t > 0 && !self.sweep.pack.whole[t] {
                    self.step_back_missing(simd, t);
                }
            }
            let steps = start..end;
            let chunk = Chunk { steps, window };
            self.kernel
                .accumulate(simd, &mut self.sweep.tape, chunk, &mut self.groups);
        }
        self.kernel
            .gradient(simd, &self.sweep.tape, &mut self.groups);
    }
}

impl<K: Kernel, P: Lanes> Backward<'_, K, P> {
    /// From δ_{t+1} to δ_t: of the cotangent of z̃_t, the part 1 − α passes to z_t and the part α to the teacher. The
    /// initial state is all teacher.
    #[inline(always)]
    fn step_back<S: Simd>(&mut self, simd: S, t: usize, in_chunk: usize) {
        let Sweep {
            dims,
            observation,
            residuals,
            inferred,
            tape,
            ..
        } = &mut *self.sweep;
        let (m, width) = (dims.latent, observation.forced());
        let (earlier, d) = tape.d.split_at_mut(t * m);
        let at = At {
            z: &tape.z[t * m..][..m],
            g: tape.g.at(t),
            marks: tape.marks.at(t),
        };
        let before = t.saturating_sub(1) * m;
        let (r, to_teacher) = (&residuals.r[before..][..m], &mut inferred[t * m..][..m]);
        let gain = self.forced.forcing.gain(t);
        let (d, q) = (&d[..m], tape.q.at_mut(in_chunk));
        pull_back(
            self.kernel,
            simd,
            at,
            d,
            (q, &mut tape.open),
            #[inline(always)]
            |i, dz| match earlier.get_mut(before + i) {
                None => to_teacher[i].store(dz),
                Some(d) => {
                    let alpha = if i < width { gain } else { 0.0 };
                    to_teacher[i].store(P::Vector::splat(simd, alpha) * dz);
                    d.store(P::Vector::splat(simd, 1.0 - alpha).mul_add(dz, r[i].load(simd)));
                }
            },
        );
    }
}

impl<K: Kernel, P: Lanes> Backward<'_, K, P> {
    /// What was filled into row t came from z_t: its cotangent goes there, and with the full forcing gradient to the
    /// observation model too.
    #[inline(always)]
    fn step_back_missing<S: Simd>(&mut self, simd: S, t: usize) {
        let Sweep {
            dims,
            observation,
            residuals,
            inferred,
            pack: Pack { mask, .. },
            filled: (filled, dz),
            tape,
            ..
        } = &mut *self.sweep;
        let (m, n) = (dims.latent, observation.dim_obs);
        let dteacher = &inferred[t * m..][..observation.forced()];
        self.observation
            .fill_back(simd, (dteacher, &mask[t * n..][..n]), filled, dz);
        add(simd, dz, &mut tape.d[(t - 1) * m..][..m]);
        if self.forced.gradient == ForcingGradient::Full {
            add(simd, filled, &mut residuals.e[(t - 1) * n..][..n]);
        }
    }
}

/// Jᵀ d, through open units alone where a group of lanes chose so.
#[inline(always)]
fn pull_back<K: Kernel, S: Simd, P: Lanes>(
    kernel: &K,
    simd: S,
    at: At<'_, P, K::Units<P>>,
    d: &[P],
    (q, open): (&mut [K::Units<P>], &mut Option<OpenUnits<P>>),
    emit: impl FnMut(usize, P::Vector<S>),
) {
    match open {
        Some(open) if K::SKIPS_SHUT && open.any() => {
            kernel.pull_back_open(simd, at, d, (q, open), emit)
        }
        _ => kernel.pull_back(simd, at, d, q, emit),
    }
}

/// to ← to + values.
#[inline(always)]
fn add<S: Simd, P: Lanes>(simd: S, values: &[P], to: &mut [P]) {
    for (to, value) in to.iter_mut().zip(values) {
        to.store(to.load(simd) + value.load(simd));
    }
}

/// The observation model's gradients.
pub(crate) struct ObservationGradient<'a, P, Q> {
    pub(crate) observation: &'a ObservationLanes,
    pub(crate) forced: Forced,
    pub(crate) sweep: &'a mut Sweep<P, Q>,
    /// Number of parameters: what belongs to the pseudo-inverse stands behind them.
    pub(crate) behind: usize,
    pub(crate) groups: Groups<'a>,
}

impl<P: Lanes, Q: Lanes> Task for ObservationGradient<'_, P, Q> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Sweep {
            dims,
            observation,
            window,
            pack: Pack { x, .. },
            z,
            inferred,
            residuals,
            ..
        } = self.sweep;
        self.observation
            .gradient(simd, (z, &residuals.e), &mut self.groups);
        let steps = match self.forced.gradient {
            ForcingGradient::Detached => 1,
            ForcingGradient::Full if observation.forced() < dims.latent => 1,
            ForcingGradient::Full => *window,
        };
        let (d, x) = (
            &inferred[..steps * dims.latent],
            &x[..steps * observation.dim_obs],
        );
        self.observation
            .infer_gradient(simd, (d, x), (self.behind, &mut self.groups));
    }
}
