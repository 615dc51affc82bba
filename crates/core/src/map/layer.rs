//! Free orbits of maps with one hidden layer,  z ← A∘z + W1 g(W2 z, h2) + h1 + C s,  in f64 vectors.
//!
//! Every sum has the terms of [`Map::step`](super::Map::step) in their order, and no multiplication is fused with an
//! addition: the bits are the same. What is gained comes from the weights being kept by columns, so that units and then
//! states are summed side by side, and from all room being made before the first step.

use std::array;

use super::shallow::Activation;
use crate::simd::{EIGHT, Eights, Isa, Simd, SimdBase, Task, dispatch_widest, f64x8};

/// Groups of eight units that are evaluated together: their sums fill half of the registers. The next block begins
/// while the sums over this one, which wait for one another, are still under way.
const ABREAST: usize = 4;

/// Units of a block.
type Block = Eights<ABREAST>;

/// A group of states.
type States = Eights<1>;

/// The parameters of a map, as [`Layout`](crate::theta::Layout) has them.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'a> {
    /// A, M.
    pub(super) a: &'a [f64],
    /// W1, M × L.
    pub(super) w1: &'a [f64],
    /// h1, M.
    pub(super) h1: &'a [f64],
    /// W2 (L × M), then h2 (L).
    pub(super) own: &'a [f64],
    /// C, M × K.
    pub(super) c: &'a [f64],
}

/// A map made ready to run.
pub(super) struct Layer {
    activation: Activation,
    /// M.
    latent: usize,
    /// K.
    inputs: usize,
    /// W2, `[block][state]`; units that fill up the last block are zero.
    w2: Vec<Block>,
    /// h2, `[block]`.
    h2: Vec<Block>,
    /// W1, `[unit][group of states]`.
    w1: Vec<States>,
    /// A, h1: `[group of states]`; C: `[input][group of states]`.
    a: Vec<States>,
    h1: Vec<States>,
    c: Vec<States>,
}

impl Layer {
    /// Puts parameters into the order in which they are read.
    pub(super) fn new(activation: Activation, of: Parameters<'_>) -> Layer {
        let latent = of.a.len();
        let (hidden, inputs) = (of.w1.len() / latent, of.c.len() / latent);
        let (w2, h2) = of.own.split_at(hidden * latent);
        let units = ABREAST * EIGHT;
        let blocks = (0..hidden).step_by(units);
        let block = |first: usize| first..hidden.min(first + units);
        let w2 = blocks.clone().flat_map(|first| {
            (0..latent).map(move |i| block(first).map(move |l| w2[l * latent + i]))
        });
        Layer {
            activation,
            latent,
            inputs,
            w2: w2.flat_map(grouped).collect(),
            h2: blocks
                .flat_map(|first| grouped(block(first).map(|l| h2[l])))
                .collect(),
            w1: columns(of.w1, hidden),
            a: columns(of.a, 1),
            h1: columns(of.h1, 1),
            c: columns(of.c, inputs),
        }
    }

    /// The instruction set that is fastest. tanh is the library's, one number at a time: around its calls wider registers
    /// cost more than they gain.
    pub(super) fn isa(&self) -> Isa {
        match self.activation {
            Activation::Tanh => Isa::detect().min(Isa::Avx2),
            Activation::Plain | Activation::Clipped => Isa::detect(),
        }
    }

    /// Goes on from row 0 of `states` (steps × M) with row t driven by row t of `inputs` (steps × K).
    pub(super) fn orbit(&self, isa: Isa, inputs: &[f64], states: &mut [f64]) {
        let run = Run {
            layer: self,
            inputs,
            states,
        };
        dispatch_widest(isa, run);
    }

    /// z ← F(z, s), with room for sums over units.
    #[inline(always)]
    fn step<S: Simd>(&self, simd: S, z: &mut [States], s: &[f64], sums: &mut [States]) {
        let width = z.len();
        sums.fill(States::ZERO);
        let w2 = self.w2.chunks_exact(self.latent);
        let w1 = self.w1.chunks(ABREAST * EIGHT * width);
        for ((w2, h2), w1) in w2.zip(&self.h2).zip(w1) {
            let g = self.units(simd, (w2, h2), z);
            add_columns(simd, w1, g.numbers(), sums);
        }
        for (i, z) in z.iter_mut().enumerate() {
            let mut from_input = f64x8::splat(simd, -0.0);
            for (c, &s) in self.c.chunks_exact(width).zip(s) {
                from_input += c[i].load(simd, 0) * f64x8::splat(simd, s);
            }
            let linear = self.a[i].load(simd, 0) * z.load(simd, 0);
            let driven = linear + sums[i].load(simd, 0) + self.h1[i].load(simd, 0) + from_input;
            z.store(0, driven);
        }
    }

    /// g of a block of units.
    #[inline(always)]
    fn units<S: Simd>(&self, simd: S, (w2, h2): (&[Block], &Block), z: &[States]) -> Block {
        // Sums of the standard library begin with −0 too.
        let mut u = [f64x8::splat(simd, -0.0); ABREAST];
        for (columns, z) in w2.chunks(EIGHT).zip(z) {
            for (column, &z) in columns.iter().zip(z.numbers()) {
                let z = f64x8::splat(simd, z);
                for (v, u) in u.iter_mut().enumerate() {
                    *u += column.load(simd, v) * z;
                }
            }
        }
        let mut g = Block::ZERO;
        for (v, &u) in u.iter().enumerate() {
            g.store(v, values(simd, self.activation, u, h2.load(simd, v)));
        }
        if self.activation == Activation::Tanh {
            g.numbers_mut().iter_mut().for_each(|g| *g = tanh(*g));
        }
        g
    }
}

/// The steps of an orbit.
struct Run<'a> {
    layer: &'a Layer,
    inputs: &'a [f64],
    states: &'a mut [f64],
}

impl Task for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Layer { latent, inputs, .. } = *self.layer;
        let mut rows = self.states.chunks_exact_mut(latent);
        let Some(first) = rows.next() else { return };
        let mut z: Vec<States> = grouped(first.iter().copied()).collect();
        let mut sums = vec![States::ZERO; z.len()];
        for (t, row) in (1..).zip(rows) {
            let s = &self.inputs[t * inputs..][..inputs];
            self.layer.step(simd, &mut z, s, &mut sums);
            let groups = row.chunks_mut(EIGHT).zip(&z);
            groups.for_each(|(row, z)| row.copy_from_slice(&z.numbers()[..row.len()]));
        }
    }
}

/// Numbers in groups, the last one filled up with zeros.
fn grouped<const V: usize>(
    mut numbers: impl ExactSizeIterator<Item = f64>,
) -> impl Iterator<Item = Eights<V>> {
    (0..numbers.len().div_ceil(V * EIGHT)).map(move |_| {
        let mut group = Eights::ZERO;
        let room = group.numbers_mut().iter_mut();
        room.zip(numbers.by_ref()).for_each(|(to, v)| *to = v);
        group
    })
}

/// The columns of a matrix with `count` of them, each in groups of states.
fn columns(matrix: &[f64], count: usize) -> Vec<States> {
    let column = |j: usize| grouped(matrix[j..].iter().copied().step_by(count));
    (0..count).flat_map(column).collect()
}

/// g of eight units; of tanh its argument.
#[inline(always)]
fn values<S: Simd>(simd: S, activation: Activation, u: f64x8<S>, h2: f64x8<S>) -> f64x8<S> {
    let zero = f64x8::splat(simd, 0.0);
    match activation {
        Activation::Plain => (u + h2).max_precise(zero),
        Activation::Clipped => (u + h2).max_precise(zero) - u.max_precise(zero),
        Activation::Tanh => u + h2,
    }
}

/// tanh, quickly of the zeros that fill up a block.
#[inline(always)]
fn tanh(v: f64) -> f64 {
    if v == 0.0 { v } else { v.tanh() }
}

/// y += W g with the columns of W in groups, up to four groups at a time in registers.
#[inline(always)]
fn add_columns<S: Simd>(simd: S, w: &[States], g: &[f64], y: &mut [States]) {
    let mut i = 0;
    while i < y.len() {
        i += match y.len() - i {
            1 => add_groups::<S, 1>(simd, w, g, (i, y)),
            2 => add_groups::<S, 2>(simd, w, g, (i, y)),
            3 => add_groups::<S, 3>(simd, w, g, (i, y)),
            _ => add_groups::<S, 4>(simd, w, g, (i, y)),
        };
    }
}

/// G groups of y from group i on; gives back G.
#[inline(always)]
fn add_groups<S: Simd, const G: usize>(
    simd: S,
    w: &[States],
    g: &[f64],
    (i, y): (usize, &mut [States]),
) -> usize {
    let width = y.len();
    let y = &mut y[i..i + G];
    let mut sums: [f64x8<S>; G] = array::from_fn(|v| y[v].load(simd, 0));
    for (column, &g) in w.chunks_exact(width).zip(g) {
        let (column, g) = (&column[i..i + G], f64x8::splat(simd, g));
        for (sum, w) in sums.iter_mut().zip(column) {
            *sum += w.load(simd, 0) * g;
        }
    }
    for (y, sum) in y.iter_mut().zip(sums) {
        y.store(0, sum);
    }
    G
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Dims, MODELS, Map, step_by_step};
    use crate::rng::{Rng, Stream};

    const STEPS: usize = 40;

    /// One state or unit, groups that are full, one short of it or one beyond it, and the sizes of the EEG.
    const SIZES: [(usize, usize, usize); 7] = [
        (1, 1, 0),
        (1, 33, 1),
        (3, 50, 2),
        (8, 32, 0),
        (9, 31, 9),
        (35, 65, 1),
        (16, 512, 0),
    ];

    fn same(a: &[f64], b: &[f64]) -> bool {
        let mut pairs = a.iter().zip(b);
        a.len() == b.len() && pairs.all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
    }

    /// An orbit from z and the same step by step; weights of order `size`/√L.
    fn check(map: &dyn Map, size: f64, z: f64, orbit: impl Fn(&[f64], &[f64], &mut [f64])) {
        let Dims { latent, inputs, .. } = map.dims();
        let mut rng = Rng::new(5, Stream::MonteCarlo);
        let size = size / (map.dims().hidden as f64).sqrt();
        let theta: Vec<f64> = (0..map.layout().len())
            .map(|_| size * rng.normal())
            .collect();
        let s: Vec<f64> = (0..STEPS * inputs).map(|_| rng.normal()).collect();
        let mut expected = vec![0.0; STEPS * latent];
        expected[..latent].fill(z);
        let mut found = expected.clone();
        step_by_step(map, &theta, &s, &mut expected);
        orbit(&theta, &s, &mut found);
        let dims = map.dims();
        assert!(same(&found, &expected), "{dims:?}, size {size}, from {z}");
    }

    /// Weights of order one give orbits that stay or leave; states that are infinite or no numbers are met as well.
    const STARTS: [(f64, f64); 5] = [
        (1.0, 0.3),
        (5.0, 0.3),
        (1.0, 0.0),
        (1.0, f64::INFINITY),
        (1.0, f64::NAN),
    ];

    #[test]
    fn orbits_of_all_models_are_their_steps() {
        for info in MODELS {
            for (latent, hidden, inputs) in SIZES {
                let map = (info.build)(Dims {
                    latent,
                    hidden,
                    inputs,
                });
                for (size, z) in STARTS {
                    check(map.as_ref(), size, z, |theta, s, states| {
                        map.orbit(theta, s, states)
                    });
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let activations = [Activation::Clipped, Activation::Plain, Activation::Tanh];
        // The first three models are these.
        for (info, activation) in MODELS.iter().zip(activations) {
            for (latent, hidden, inputs) in SIZES {
                let map = (info.build)(Dims {
                    latent,
                    hidden,
                    inputs,
                });
                let part = |theta: &[f64], name| theta[map.layout().range(name)].to_vec();
                for (isa, (size, z)) in Isa::available().flat_map(|isa| STARTS.map(|s| (isa, s))) {
                    check(map.as_ref(), size, z, |theta, s, states| {
                        let own = [part(theta, "W2"), part(theta, "h2")].concat();
                        let parameters = Parameters {
                            a: &part(theta, "A"),
                            w1: &part(theta, "W1"),
                            h1: &part(theta, "h1"),
                            own: &own,
                            c: &part(theta, "C"),
                        };
                        Layer::new(activation, parameters).orbit(isa, s, states);
                    });
                }
            }
        }
    }
}
