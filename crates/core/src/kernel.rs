//! The maps for training: f32, many windows side by side in vector lanes, no allocation.
//!
//! A kernel computes what its [`Map`](crate::map::Map) does, in another order: constants of an update are folded
//! into the weights once ([`Kernel::prepare`]), the backward sweep carries only the state's cotangent and leaves on
//! a [`Tape`] what weight gradients need, and these follow in products over many steps ([`Kernel::accumulate`]).
//! [`laws`](crate::laws) compare every kernel with its map.

mod dendritic;
pub(crate) mod field;
mod layer;
mod linear;
mod rectified;
mod shallow;
mod splines;

use std::ops::Range;

pub(crate) use dendritic::Dendritic;
pub(crate) use rectified::Rectified;
pub(crate) use shallow::{Clipped, Plain, Shallow, Tanh, Unit};

use crate::map::Dims;
use crate::simd::{
    Groups, Lanes, Lanes8, OpenUnits, Rows, Simd, Sums, Task, gram, gram_whole, reduce,
};
use crate::theta::Layout;

/// What a sweep over a window of T steps leaves for the weight gradients, with units in registers of type `Q`. Buffers
/// are `[step][feature]`.
#[derive(Debug, Clone)]
pub(crate) struct Tape<P, Q = P> {
    /// States z̃ that the map was applied to, (T + 1) × M; the last row is not used.
    pub(crate) z: Vec<P>,
    /// Inputs s, T × K.
    pub(crate) s: Vec<P>,
    /// Values g of the units, T × U.
    pub(crate) g: Units<Q>,
    /// What else the units leave for the way back, T × marks.
    pub(crate) marks: Units<Q>,
    /// Cotangents at the units, for the steps of one chunk of the backward sweep, chunk × U.
    pub(crate) q: Units<Q>,
    /// Cotangents of the map's outputs, T × M.
    pub(crate) d: Vec<P>,
    /// The kernel's running sums.
    pub(crate) sums: Vec<Q>,
    /// Those of dC.
    pub(crate) input_sums: Vec<P>,
    /// Room for states or cotangents of a chunk as wide as units are, chunk × M; empty where they are no wider.
    pub(crate) widened: Vec<Q>,
    /// Where most units may be shut.
    pub(crate) open: Option<OpenUnits<P>>,
}

impl<P: Lanes, Q: Lanes> Tape<P, Q> {
    pub(crate) fn new<K: Kernel<Units<P> = Q>>(dims: Dims, kernel: &K, window: usize) -> Self {
        let blank = |features: usize| vec![P::ZERO; features * window];
        let (registers, chunk) = (kernel.registers::<P>(), chunk_of(kernel, window));
        let widened = if Q::WIDTH > P::WIDTH {
            chunk * dims.latent
        } else {
            0
        };
        Tape {
            // One row more, for the state that the last step is forced to.
            z: vec![P::ZERO; dims.latent * (window + 1)],
            s: blank(dims.inputs),
            g: Units::new(registers, window),
            marks: Units::new(registers * K::MARKS_A_UNIT, window),
            q: Units::new(registers, chunk),
            d: blank(dims.latent),
            sums: vec![Q::ZERO; registers * kernel.sums_a_unit()],
            input_sums: vec![P::ZERO; dims.latent * dims.inputs],
            widened: vec![Q::ZERO; widened],
            open: kernel.open_units(),
        }
    }
}

/// Where a step leaves the units' values and marks.
pub(crate) struct Left<'a, Q> {
    pub(crate) g: &'a mut [Q],
    pub(crate) marks: &'a mut [Q],
}

/// What a step left on the tape: the state that the map was applied to, the units' values there and their marks.
#[derive(Clone, Copy)]
pub(crate) struct At<'a, P, Q> {
    pub(crate) z: &'a [P],
    pub(crate) g: &'a [Q],
    pub(crate) marks: &'a [Q],
}

/// One number per unit, step by step.
#[derive(Debug, Clone)]
pub(crate) struct Units<P> {
    values: Vec<P>,
    units: usize,
    /// From a step to the next.
    stride: usize,
}

impl<P: Lanes> Default for Units<P> {
    /// No steps.
    fn default() -> Units<P> {
        Units::new(0, 0)
    }
}

impl<P: Lanes> Units<P> {
    pub(crate) fn new(units: usize, steps: usize) -> Units<P> {
        let stride = stride_of::<P>(units);
        Units {
            values: vec![P::ZERO; stride * steps],
            units,
            stride,
        }
    }

    /// Of one step.
    #[inline(always)]
    pub(crate) fn at(&self, step: usize) -> &[P] {
        &self.values[step * self.stride..][..self.units]
    }

    /// Of one step, to be set.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, step: usize) -> &mut [P] {
        &mut self.values[step * self.stride..][..self.units]
    }

    /// Step by step.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[P]> {
        let rows = self.values.chunks_exact(self.stride);
        rows.map(|row| &row[..self.units])
    }

    /// Step by step, to be set.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut [P]> {
        let rows = self.values.chunks_exact_mut(self.stride);
        rows.map(|row| &mut row[..self.units])
    }

    /// Of some steps.
    #[inline(always)]
    pub(crate) fn rows(&self, steps: Range<usize>) -> Rows<'_, P> {
        let values = &self.values[steps.start * self.stride..steps.end * self.stride];
        Rows::apart(values, self.units, self.stride)
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// How far apart rows of unit values begin: an odd number of cache lines, so that the same unit of many steps does not
/// compete for the same few places of the caches.
fn stride_of<P>(units: usize) -> usize {
    let in_line = (LINE / size_of::<P>()).max(1);
    in_line * (units.div_ceil(in_line) | 1)
}

/// Bytes of a second-level cache that sums and a chunk's units may fill each.
const HALF_CACHE: usize = 256 * 1024;

/// How many steps of the backward sweep form a chunk.
pub(crate) fn chunk_of(kernel: &impl Kernel, window: usize) -> usize {
    chunk_len(kernel.units(), kernel.sums_a_unit(), window)
}

/// How many steps of the backward sweep, or rows of other tapes, form a chunk: as many as keep unit values and cotangents of eight
/// windows in half of a second-level cache of half a megabyte (marks come on top), but at least 24, because fewer would spend their
/// time on loading and storing sums. Where the sums alone fill the cache, the whole window is one chunk. Sums go from chunk to
/// chunk, so that this must not depend on how many windows a register holds; caches of processors with wide ones are larger.
fn chunk_len(units: usize, sums_a_unit: usize, window: usize) -> usize {
    let bytes = size_of::<Lanes8>();
    if units * sums_a_unit * bytes > HALF_CACHE {
        return window;
    }
    let step = 2 * stride_of::<Lanes8>(units) * bytes;
    (HALF_CACHE / step.max(1)).clamp(24, 24.max(window))
}

/// Steps of the backward sweep whose units are in the cache together; it goes from the last chunk of a window to the first.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) steps: Range<usize>,
    /// Steps of the whole window.
    pub(crate) window: usize,
}

impl Chunk {
    /// Whether it is the one that the backward sweep begins with.
    #[inline(always)]
    pub(crate) fn is_first(&self) -> bool {
        self.steps.end == self.window
    }

    /// Whether it is the one that the backward sweep ends with.
    #[inline(always)]
    pub(crate) fn is_last(&self) -> bool {
        self.steps.start == 0
    }

    /// Puts Σ_t d_t a_tᵀ of the whole window into its place, once all chunks have been here: until then it stands in `sums`.
    #[inline(always)]
    fn gram<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (d, a): (Rows<'_, P>, Rows<'_, P>),
        sums: &mut [P],
        to: impl Sums<S, P>,
    ) {
        if self.is_first() && self.is_last() {
            gram_whole(simd, (d, a), to);
            return;
        }
        gram(simd, (d, a), sums, self.is_first());
        if self.is_last() {
            reduce(simd, (sums, d.width()), to);
        }
    }
}

/// The constant parts of a map's Jacobian.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    /// A, M.
    pub(crate) a: Vec<f32>,
    /// What a unit adds to the next state: the columns of W, U × M.
    pub(crate) weights: Vec<f32>,
    /// What a unit sees of the state, U × M.
    pub(crate) directions: Vec<f32>,
}

impl Factors {
    pub(crate) fn new(dims: Dims, kernel: &impl Kernel) -> Factors {
        let matrix = vec![0.0; kernel.units() * dims.latent];
        Factors {
            a: vec![0.0; dims.latent],
            weights: matrix.clone(),
            directions: matrix,
        }
    }
}

/// A map on lanes of f32.
pub(crate) trait Kernel: Send + Sync + Sized {
    /// Registers of units beside lanes of type `P`.
    type Units<P: Lanes>: Lanes;

    /// The kernel of a map with these sizes and this layout, for lanes of type `P`.
    fn new<P: Lanes>(dims: Dims, layout: &Layout) -> Self;

    /// Number of unit values U on the tape, a step.
    fn units(&self) -> usize;

    /// Numbers beside its value that a unit leaves on the tape at a step, because the way back would have to find them
    /// again.
    const MARKS_A_UNIT: usize = 0;

    /// Registers of units, a step.
    fn registers<P: Lanes>(&self) -> usize {
        (self.units() * P::WIDTH).div_ceil(Self::Units::<P>::WIDTH)
    }

    /// Takes θ, once an update.
    fn prepare<S: Simd>(&mut self, simd: S, theta: &[f32]);

    /// Emits every entry of F(z, s) at (z, s); what the units leave is for the way back.
    fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        at: (&[P], &[P]),
        left: Left<'_, Self::Units<P>>,
        emit: impl FnMut(usize, P::Vector<S>),
    );

    /// Emits every entry of dz = Jᵀ d; q receives the cotangents at the units.
    fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        at: At<'_, P, Self::Units<P>>,
        d: &[P],
        q: &mut [Self::Units<P>],
        emit: impl FnMut(usize, P::Vector<S>),
    );

    /// Whether pull-backs may go through open units alone.
    const SKIPS_SHUT: bool = false;

    /// Room for pull-backs through open units alone, if they pay.
    fn open_units<P: Lanes>(&self) -> Option<OpenUnits<P>> {
        None
    }

    /// Looks at the units of a sweep, and lets groups of lanes choose whether they go through open ones alone.
    fn look_for_open<S: Simd, P: Lanes>(&self, _simd: S, _tape: &mut Tape<P, Self::Units<P>>) {}

    /// As [`Kernel::pull_back`], through open units alone in the groups that chose so.
    fn pull_back_open<S: Simd, P: Lanes>(
        &self,
        _simd: S,
        _at: At<'_, P, Self::Units<P>>,
        _d: &[P],
        _to: (&mut [Self::Units<P>], &mut OpenUnits<P>),
        _emit: impl FnMut(usize, P::Vector<S>),
    ) {
        unreachable!("kernels that have room for open units say how they are pulled back");
    }

    /// Slopes of the units at (z, s): with the [`Factors`], J = diag(A) + Σ_u slope_u w_u dᵤᵀ.
    fn slopes<S: Simd, P: Lanes>(&self, simd: S, z: &[P], slopes: &mut [P]);

    /// What the slopes multiply.
    fn factors(&self, theta: &[f32], factors: &mut Factors);

    /// Number of weight gradients of a unit that are summed up while the backward sweep runs.
    fn sums_a_unit(&self) -> usize;

    /// Adds the steps of a chunk to the running sums, while its units are still in the cache. Products of units and
    /// cotangents, in the kernel's own coordinates, go from there to the gradient with the last chunk.
    fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut Tape<P, Self::Units<P>>,
        chunk: Chunk,
        groups: &mut Groups<'_>,
    );

    /// The rest of the gradient of a whole sweep, in the kernel's own coordinates.
    fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &Tape<P, Self::Units<P>>,
        groups: &mut Groups<'_>,
    );

    /// From the kernel's own coordinates to those of θ, in place, once an update.
    fn finish<S: Simd>(&self, simd: S, theta: &[f32], dtheta: &mut [f32]);
}

/// [`Kernel::prepare`] with an instruction set.
pub(crate) struct Prepare<'a, K> {
    pub(crate) kernel: &'a mut K,
    pub(crate) theta: &'a [f32],
}

impl<K: Kernel> Task for Prepare<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.kernel.prepare(simd, self.theta);
    }
}

/// [`Kernel::finish`] with an instruction set.
pub(crate) struct Finish<'a, K> {
    pub(crate) kernel: &'a K,
    pub(crate) theta: &'a [f32],
    pub(crate) dtheta: &'a mut [f32],
}

impl<K: Kernel> Task for Finish<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.kernel.finish(simd, self.theta, self.dtheta);
    }
}
