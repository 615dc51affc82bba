//! G = Σ d aᵀ over the steps of a sweep and the windows of a group, by features instead of windows: what weight gradients are made of
//! where a sweep is short.
//!
//! [`gram`](super::gram) has windows in its lanes and adds the lanes of every entry at its end, which is as much work as eight or
//! ten steps. Here a's features stand in the lanes: they are [turned](Turned) once, a number of d is broadcast, and blocks of 4 × 24
//! entries are summed in registers over all steps and windows, one after another. So entries come out whole, eight side by side,
//! and their bits do not depend on how many windows share a register.

use std::ops::Range;

use fearless_simd::prelude::{SimdBase, SimdFloat};
use fearless_simd::{Simd, f32x8};

use super::transpose::transposed;
use super::{GROUP, Lanes, Lanes8, filled};

/// Steps whose features stay in the first-level cache while all cotangents pass by.
const CHUNK: usize = 16;

/// Features of eight windows, with the features in the lanes: block by block of eight, a row for every step and window.
#[derive(Debug, Clone)]
pub(crate) struct Turned {
    values: Vec<[Lanes8; GROUP]>,
    features: usize,
    steps: usize,
    /// Sums of the steps before, by cotangent and block; empty where all steps are one chunk.
    sums: Vec<Lanes8>,
}

impl Turned {
    /// Room for so many features of so many steps, and products with so many cotangents.
    pub(crate) fn new(features: usize, steps: usize, cotangents: usize) -> Turned {
        let blocks = features.div_ceil(GROUP);
        let sums = if steps > CHUNK {
            cotangents * blocks
        } else {
            0
        };
        Turned {
            values: vec![[Lanes8::ZERO; GROUP]; steps * blocks],
            features,
            steps,
            sums: vec![Lanes8::ZERO; sums],
        }
    }

    /// Takes a group of windows from features of which two parts stand side by side, of all steps or of the last ones.
    #[inline(always)]
    pub(crate) fn fill<S: Simd, P: Lanes>(
        &mut self,
        simd: S,
        group: usize,
        (left, left_width): (&[P], usize),
        (right, right_width): (&[P], usize),
    ) {
        debug_assert_eq!(left_width + right_width, self.features);
        let of_left = left.len().checked_div(left_width);
        let steps = of_left.unwrap_or(right.len() / right_width.max(1));
        for (block, rows) in self.values.chunks_exact_mut(self.steps).enumerate() {
            for (t, rows) in rows[..steps].iter_mut().enumerate() {
                let left = &left[t * left_width..][..left_width];
                let right = &right[t * right_width..][..right_width];
                let mut square = [f32x8::splat(simd, 0.0); GROUP];
                for (row, j) in square.iter_mut().zip(block * GROUP..self.features) {
                    let feature = match j.checked_sub(left_width) {
                        None => &left[j],
                        Some(j) => &right[j],
                    };
                    *row = f32x8::from_slice(simd, &feature.lanes()[group * GROUP..][..GROUP]);
                }
                for (to, &row) in rows.iter_mut().zip(&transposed(simd, square)) {
                    to.store(row);
                }
            }
        }
    }
}

/// Rows of cotangents: those from `first` on, `width` of them, of steps with `stride` each.
#[derive(Clone, Copy)]
pub(crate) struct Cotangents<'a, P> {
    pub(crate) values: &'a [P],
    pub(crate) stride: usize,
    pub(crate) first: usize,
    pub(crate) width: usize,
}

/// Calls put(i, j, the entries (i, j … j + 7)) for all features j in steps of eight and all cotangents i; what is behind the last
/// feature is zero. Not inlined: one copy serves all callers of an instruction set.
pub(crate) fn outer<S: Simd, P: Lanes>(
    simd: S,
    group: usize,
    (d, a): (Cotangents<'_, P>, &mut Turned),
    mut put: impl FnMut(usize, usize, [f32; GROUP]),
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let steps = d.values.len() / d.stride;
            for start in (0..steps).step_by(CHUNK) {
                let end = steps.min(start + CHUNK);
                chunk(simd, group, (d, a), (start..end, steps), &mut put);
            }
        },
    );
}

/// The steps of one chunk, added to those before.
#[inline(always)]
fn chunk<S: Simd, P: Lanes>(
    simd: S,
    group: usize,
    (d, a): (Cotangents<'_, P>, &mut Turned),
    (steps, all): (Range<usize>, usize),
    put: &mut impl FnMut(usize, usize, [f32; GROUP]),
) {
    let (blocks, is_last) = (a.features.div_ceil(GROUP), steps.end == all);
    let mut at = Block {
        d: Cotangents {
            values: &d.values[steps.start * d.stride..steps.end * d.stride],
            ..d
        },
        a: &a.values,
        steps: a.steps,
        group,
        goes_on: steps.start > 0,
        before: &mut a.sums,
        blocks,
        first: steps.start,
        put: is_last.then_some(put),
    };
    let mut j = 0;
    while j < blocks {
        let wide = (blocks - j).min(3);
        let mut i = 0;
        while i < d.width {
            i += match (wide, d.width - i) {
                (3, 4..) => at.add::<S, 4, 3>(simd, i, j),
                (3, 2..) => at.add::<S, 2, 3>(simd, i, j),
                (3, _) => at.add::<S, 1, 3>(simd, i, j),
                (2, 6..) => at.add::<S, 6, 2>(simd, i, j),
                (2, 2..) => at.add::<S, 2, 2>(simd, i, j),
                (2, _) => at.add::<S, 1, 2>(simd, i, j),
                (_, 8..) => at.add::<S, 8, 1>(simd, i, j),
                (_, 3..) => at.add::<S, 3, 1>(simd, i, j),
                _ => at.add::<S, 1, 1>(simd, i, j),
            };
        }
        j += wide;
    }
}

/// What blocks of entries are summed from and where they go.
struct Block<'a, P, F> {
    d: Cotangents<'a, P>,
    a: &'a [[Lanes8; GROUP]],
    /// Steps of a, and the first of them in this chunk.
    steps: usize,
    first: usize,
    group: usize,
    blocks: usize,
    /// Whether there are sums of steps before.
    goes_on: bool,
    before: &'a mut [Lanes8],
    /// Where the sums go behind the last step.
    put: Option<&'a mut F>,
}

impl<P: Lanes, F: FnMut(usize, usize, [f32; GROUP])> Block<'_, P, F> {
    /// The entries from (i, 8 j) on, R × 8 C of them; gives back R.
    #[inline(always)]
    fn add<S: Simd, const R: usize, const C: usize>(
        &mut self,
        simd: S,
        i: usize,
        j: usize,
    ) -> usize {
        let mut sums = [[f32x8::splat(simd, 0.0); C]; R];
        if self.goes_on {
            for (r, row) in sums.iter_mut().enumerate() {
                for (c, sum) in row.iter_mut().enumerate() {
                    *sum = self.before[(i + r) * self.blocks + j + c].load(simd);
                }
            }
        }
        let steps = self.d.values.len() / self.d.stride;
        let a: [&[[Lanes8; GROUP]]; C] = filled(
            &[][..],
            #[inline(always)]
            |c| &self.a[(j + c) * self.steps + self.first..][..steps],
        );
        for (t, d) in self.d.values.chunks_exact(self.d.stride).enumerate() {
            let d = &d[self.d.first + i..][..R];
            let of_step: [&[f32; GROUP]; R] = filled(
                &[0.0; GROUP],
                #[inline(always)]
                |r| &d[r].lanes().as_chunks().0[self.group],
            );
            for window in 0..GROUP {
                let row: [f32x8<S>; C] = filled(
                    f32x8::splat(simd, 0.0),
                    #[inline(always)]
                    |c| a[c][t][window].load(simd),
                );
                for r in 0..R {
                    let d = f32x8::splat(simd, of_step[r][window]);
                    for c in 0..C {
                        sums[r][c] = d.mul_add(row[c], sums[r][c]);
                    }
                }
            }
        }
        for (r, row) in sums.iter().enumerate() {
            for (c, &sum) in row.iter().enumerate() {
                match &mut self.put {
                    Some(put) => put(i + r, GROUP * (j + c), *sum),
                    None => self.before[(i + r) * self.blocks + j + c].store(sum),
                }
            }
        }
        R
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::simd::{Isa, Lanes16, Task, dispatch};

    struct Outer<'a, P> {
        d: Cotangents<'a, P>,
        left: (&'a [P], usize),
        right: (&'a [P], usize),
        group: usize,
    }

    impl<P: Lanes> Task for Outer<'_, P> {
        type Output = Vec<f32>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<f32> {
            let features = self.left.1 + self.right.1;
            let steps = self.d.values.len() / self.d.stride;
            let mut turned = Turned::new(features, steps, self.d.width);
            turned.fill(simd, self.group, self.left, self.right);
            let mut entries = vec![0.0; self.d.width * features];
            outer(simd, self.group, (self.d, &mut turned), |i, j, sums| {
                for (k, sum) in sums.into_iter().enumerate().take(features - j) {
                    entries[i * features + j + k] = sum;
                }
            });
            entries
        }
    }

    /// Σ over steps and windows of the last group, in the order of the product, in f64.
    fn expected<P: Lanes>(outer: &Outer<'_, P>) -> Vec<f64> {
        let Outer {
            d,
            left,
            right,
            group,
        } = outer;
        let feature = |t: usize, j: usize| match j.checked_sub(left.1) {
            None => &left.0[t * left.1 + j],
            Some(j) => &right.0[t * right.1 + j],
        };
        let features = left.1 + right.1;
        let entry = |i: usize, j: usize| -> f64 {
            let lanes = group * GROUP..(group + 1) * GROUP;
            let step = |t: usize| {
                let (d, a) = (&d.values[t * d.stride + d.first + i], feature(t, j));
                let pairs = d.lanes()[lanes.clone()]
                    .iter()
                    .zip(&a.lanes()[lanes.clone()]);
                pairs
                    .map(|(&d, &a)| f64::from(d) * f64::from(a))
                    .sum::<f64>()
            };
            (0..d.values.len() / d.stride).map(step).sum()
        };
        (0..d.width * features)
            .map(|e| entry(e / features, e % features))
            .collect()
    }

    fn sums_are_those_of_all_steps_and_windows<P: Lanes>(isa: Isa) {
        let mut rng = Rng::new(1, Stream::MonteCarlo);
        let mut random = |len: usize| {
            let mut lanes = vec![P::ZERO; len];
            let numbers = lanes
                .iter_mut()
                .flat_map(|lanes| lanes.lanes_mut().iter_mut());
            numbers.for_each(|lane| *lane = rng.normal() as f32);
            lanes
        };
        // Fewer steps than a chunk, several chunks, the last one short.
        let sizes = [
            (5, 13, 2, 3, 15),
            (16, 9, 0, 5, 0),
            (17, 1, 1, 0, 8),
            (33, 7, 3, 30, 33),
            (5, 11, 0, 1, 20),
        ];
        for (steps, width, first, left, right) in sizes {
            let stride = first + width + 1;
            let (d, l, r) = (
                random(steps * stride),
                random(steps * left),
                random(steps * right),
            );
            for group in 0..P::WIDTH / GROUP {
                let task = || Outer {
                    d: Cotangents {
                        values: &d,
                        stride,
                        first,
                        width,
                    },
                    left: (&l, left),
                    right: (&r, right),
                    group,
                };
                let known = expected(&task());
                for (found, known) in dispatch::<P, _>(isa, task()).iter().zip(known) {
                    // Up to 264 products of order one; a sum of them stays below 100 and is rounded twice for each.
                    assert!(
                        (f64::from(*found) - known).abs() < 528.0 * 100.0 * 6e-8,
                        "{found} {known}"
                    );
                }
            }
        }
    }

    #[test]
    fn entries_are_sums_over_steps_and_windows() {
        for isa in Isa::available() {
            match isa {
                Isa::Avx512 => sums_are_those_of_all_steps_and_windows::<Lanes16>(isa),
                _ => sums_are_those_of_all_steps_and_windows::<Lanes8>(isa),
            }
        }
    }
}
