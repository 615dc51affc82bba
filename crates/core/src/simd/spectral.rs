//! Spectral norms of small square matrices, a matrix a lane: σ_max(J) = √λ_max(JᵀJ).
//!
//! C = JᵀJ is brought to tridiagonal form T by Householder's reflections, without a branch, so that all lanes do the same.
//! Then T − μ is negative definite exactly where all its pivots
//!
//! ```text
//! q_1 = a_1 − μ,    q_i = a_i − μ − b_{i−1}²/q_{i−1}
//! ```
//!
//! are negative, that is above λ_max: an interval that has λ_max is cut into four, again and again. The power method
//! was tried first: Jacobians of maps with a small time step are close to the identity, their singular values close
//! to one another, and it took ten times as long.

use fearless_simd::prelude::{SimdBase, SimdFloat};
use fearless_simd::{Select, Simd};

use super::{Lanes, Rows, gram_symmetric};

/// Room for the norms of M × M matrices.
#[derive(Debug, Clone)]
pub(crate) struct SpectralNorm<P> {
    dim: usize,
    /// C, M × M; what is left of it while it is reduced.
    c: Vec<P>,
    /// The diagonal of T, M.
    a: Vec<P>,
    /// Squares of what stands beside it, M; the last is 0.
    b_squared: Vec<P>,
    /// A reflection's vector and what it is combined with, M each.
    v: Vec<P>,
    w: Vec<P>,
}

/// Rounds of cutting in four. Beside the diagonal no entry is above λ_max, so that the first interval is no wider than
/// 2 λ_max; eight rounds and the middle of what is left make 4⁻⁸ λ_max, half of that for σ: 8e-6.
const ROUNDS: usize = 8;

impl<P: Lanes> SpectralNorm<P> {
    pub(crate) fn new(dim: usize) -> SpectralNorm<P> {
        let vector = vec![P::ZERO; dim];
        SpectralNorm {
            dim,
            c: vec![P::ZERO; dim * dim],
            a: vector.clone(),
            b_squared: vector.clone(),
            v: vector.clone(),
            w: vector,
        }
    }

    /// σ_max of a matrix (row-major) in every lane. Not inlined: one copy serves all callers of an instruction set.
    pub(crate) fn of<S: Simd>(&mut self, simd: S, jac: &[P]) -> P {
        simd.vectorize(
            #[inline(always)]
            || {
                gram_symmetric(simd, Rows::new(jac, self.dim), &mut self.c);
                self.reduce(simd);
                let mut norm = P::ZERO;
                norm.store(self.largest(simd).sqrt());
                norm
            },
        )
    }

    /// From C to T.
    #[inline(always)]
    fn reduce<S: Simd>(&mut self, simd: S) {
        let dim = self.dim;
        for k in 0..dim {
            self.a[k] = self.c[k * dim + k];
            self.b_squared[k] = P::ZERO;
            match dim - k - 1 {
                0 => {}
                1 => {
                    let b = self.c[k * dim + k + 1].load(simd);
                    self.b_squared[k].store(b * b);
                }
                _ => self.reflect(simd, k),
            }
        }
    }

    /// Reflects what stands below and to the right of k so that column k has one entry below its diagonal.
    #[inline(always)]
    fn reflect<S: Simd>(&mut self, simd: S, k: usize) {
        let (dim, rest) = (self.dim, self.dim - k - 1);
        // Column k is row k: C is symmetric.
        let (above, below) = self.c.split_at_mut((k + 1) * dim);
        let x = &above[k * dim + k + 1..];
        let (v, w) = (&mut self.v[..rest], &mut self.w[..rest]);
        v.copy_from_slice(x);
        let square = inner(simd, x, x);
        self.b_squared[k].store(square);
        // v = x + sign(x₀)‖x‖ e₀,  ½‖v‖² = ‖x‖² + |x₀|‖x‖; a column of zeros is left as it is.
        let (first, norm) = (x[0].load(simd), square.sqrt());
        v[0].store(first + norm.copysign(first));
        let half = norm.mul_add(first.max(-first), square);
        let scale = P::Vector::splat(simd, 1.0) / half.max(P::Vector::splat(simd, 1e-30));
        for (rows, w) in below.chunks(4 * dim).zip(w.chunks_mut(4)) {
            products(simd, (rows, dim, k + 1), v, w);
        }
        // C ← C − v wᵀ − w vᵀ with w = p − ½ scale (vᵀp) v,  p = scale C v. The scale is never squared: for a column of
        // zeros it would overflow.
        for w in &mut *w {
            w.store(scale * w.load(simd));
        }
        let share = P::Vector::splat(simd, 0.5) * scale * inner(simd, v, w);
        for (w, v) in w.iter_mut().zip(&*v) {
            w.store(w.load(simd) - share * v.load(simd));
        }
        for (i, rows) in below.chunks_mut(2 * dim).enumerate() {
            subtract(simd, (rows, dim, k + 1), (v, w), 2 * i);
        }
    }

    /// λ_max of T.
    #[inline(always)]
    fn largest<S: Simd>(&self, simd: S) -> P::Vector<S> {
        let (mut low, mut high) = self.bounds(simd);
        let quarter = P::Vector::splat(simd, 0.25);
        for _ in 0..ROUNDS {
            let step = quarter * (high - low);
            let mut cuts = [low; 3];
            for (cut, n) in cuts.iter_mut().zip([1.0, 2.0, 3.0]) {
                *cut = P::Vector::splat(simd, n).mul_add(step, low);
            }
            let pivots = self.largest_pivots(simd, cuts);
            // From the highest cut down: one above λ_max is a new upper end, one below it a new lower end.
            let zero = P::Vector::splat(simd, 0.0);
            for i in 0..3 {
                let above = pivots[2 - i].simd_lt(zero);
                high = above.select(cuts[2 - i].min(high), high);
                low = above.select(low, cuts[2 - i].max(low));
            }
        }
        P::Vector::splat(simd, 0.5) * (low + high)
    }

    /// The largest diagonal entry, and Gershgorin's bound.
    #[inline(always)]
    fn bounds<S: Simd>(&self, simd: S) -> (P::Vector<S>, P::Vector<S>) {
        let zero = P::Vector::splat(simd, 0.0);
        let (mut low, mut high, mut before) = (zero, zero, zero);
        for (a, b_squared) in self.a.iter().zip(&self.b_squared) {
            let (a, b) = (a.load(simd), b_squared.load(simd).sqrt());
            low = low.max(a);
            high = high.max(a + before + b);
            before = b;
        }
        (low, high)
    }

    /// The largest pivot of T − μ for three μ; below zero where μ is above λ_max. Once a pivot is not below zero, those
    /// that follow say nothing, and what is not a number changes nothing.
    #[inline(always)]
    fn largest_pivots<S: Simd>(&self, simd: S, mu: [P::Vector<S>; 3]) -> [P::Vector<S>; 3] {
        let lowest = P::Vector::splat(simd, f32::MIN);
        let (mut largest, mut q) = ([lowest; 3], [P::Vector::splat(simd, -1.0); 3]);
        let mut beside = P::Vector::splat(simd, 0.0);
        for (a, b_squared) in self.a.iter().zip(&self.b_squared) {
            let a = a.load(simd);
            for i in 0..3 {
                q[i] = a - mu[i] - beside / q[i];
                largest[i] = q[i].simd_gt(largest[i]).select(q[i], largest[i]);
            }
            beside = b_squared.load(simd);
        }
        largest
    }
}

/// Σ x_i y_i.
#[inline(always)]
fn inner<S: Simd, P: Lanes>(simd: S, x: &[P], y: &[P]) -> P::Vector<S> {
    // Four sums side by side, so that they do not wait for one another.
    let mut sums = [P::Vector::splat(simd, 0.0); 4];
    let ((x, last_x), (y, last_y)) = (x.as_chunks::<4>(), y.as_chunks::<4>());
    for (x, y) in x.iter().zip(y) {
        for i in 0..4 {
            sums[i] = x[i].load(simd).mul_add(y[i].load(simd), sums[i]);
        }
    }
    for (i, (x, y)) in last_x.iter().zip(last_y).enumerate() {
        sums[i] = x.load(simd).mul_add(y.load(simd), sums[i]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// y_i = Σ_j C_ij x_j for up to four rows of C side by side, from column `first` on.
#[inline(always)]
fn products<S: Simd, P: Lanes>(
    simd: S,
    (rows, dim, first): (&[P], usize, usize),
    x: &[P],
    y: &mut [P],
) {
    let row = |i: usize| &rows[i * dim + first..][..x.len()];
    if y.len() < 4 {
        for (i, y) in y.iter_mut().enumerate() {
            y.store(inner(simd, row(i), x));
        }
        return;
    }
    let rows = [row(0), row(1), row(2), row(3)];
    let mut sums = [P::Vector::splat(simd, 0.0); 4];
    for (j, x) in x.iter().enumerate() {
        let x = x.load(simd);
        for i in 0..4 {
            sums[i] = rows[i][j].load(simd).mul_add(x, sums[i]);
        }
    }
    for (y, sum) in y.iter_mut().zip(sums) {
        y.store(sum);
    }
}

/// C_ij ← C_ij − v_i w_j − w_i v_j for one or two rows of C, the first of which is number `i`, from column `first` on.
#[inline(always)]
fn subtract<S: Simd, P: Lanes>(
    simd: S,
    (rows, dim, first): (&mut [P], usize, usize),
    (v, w): (&[P], &[P]),
    i: usize,
) {
    let (one, other) = rows.split_at_mut(dim);
    let (v_0, w_0) = (-v[i].load(simd), -w[i].load(simd));
    if other.is_empty() {
        for ((c, v), w) in one[first..].iter_mut().zip(v).zip(w) {
            let once = v_0.mul_add(w.load(simd), c.load(simd));
            c.store(w_0.mul_add(v.load(simd), once));
        }
        return;
    }
    let (v_1, w_1) = (-v[i + 1].load(simd), -w[i + 1].load(simd));
    let rows = one[first..].iter_mut().zip(&mut other[first..]);
    for (((c_0, c_1), v), w) in rows.zip(v).zip(w) {
        let (v, w) = (v.load(simd), w.load(simd));
        c_0.store(w_0.mul_add(v, v_0.mul_add(w, c_0.load(simd))));
        c_1.store(w_1.mul_add(v, v_1.mul_add(w, c_1.load(simd))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::singular_values;
    use crate::rng::{Rng, Stream};
    use crate::simd::{Isa, Lanes8, Task, dispatch};

    struct Norms<'a>(usize, &'a [Lanes8]);

    impl Task for Norms<'_> {
        type Output = Lanes8;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Lanes8 {
            SpectralNorm::new(self.0).of(simd, self.1)
        }
    }

    /// Norms of eight matrices against their singular values.
    fn check(dim: usize, entry: impl Fn(usize, usize) -> f32) {
        let mut jac = vec![Lanes8::ZERO; dim * dim];
        for (i, jac) in jac.iter_mut().enumerate() {
            let lanes = jac.lanes_mut().iter_mut().enumerate();
            lanes.for_each(|(lane, value)| *value = entry(lane, i));
        }
        for isa in Isa::available() {
            let norms = dispatch::<Lanes8, _>(isa, Norms(dim, &jac));
            for (lane, &norm) in norms.lanes().iter().enumerate() {
                let matrix: Vec<f64> = jac.iter().map(|v| f64::from(v.lanes()[lane])).collect();
                let exact = singular_values(&matrix, dim, dim)[0];
                // The last interval, and a rounding of 6e-8 for each of the M reflections of M numbers.
                let allowed = (8e-6 + 6e-8 * (dim * dim) as f64) * exact.max(1e-12);
                assert!(
                    (f64::from(norm) - exact).abs() <= allowed,
                    "dim {dim} lane {lane}: {norm} against {exact}"
                );
            }
        }
    }

    #[test]
    fn norms_are_the_largest_singular_values() {
        for dim in [1, 2, 3, 4, 5, 8, 16, 20, 33] {
            let mut rng = Rng::new(dim as u64, Stream::Parameters);
            let random: Vec<f32> = (0..8 * dim * dim).map(|_| rng.normal() as f32).collect();
            check(dim, |lane, i| random[lane * dim * dim + i]);
            // Close to the identity: all singular values close to one another.
            let unit = |i: usize| f32::from(u8::from(i / dim == i % dim));
            check(dim, |lane, i| unit(i) + 0.01 * random[lane * dim * dim + i]);
            check(dim, |_, i| unit(i));
            check(dim, |_, _| 0.0);
            // Diagonal, and of rank one.
            check(dim, |lane, i| {
                unit(i) * (((i + lane) % (dim + 1)) as f32 - 1.5)
            });
            check(dim, |lane, i| {
                ((i / dim + lane) as f32).sin() * ((i % dim) as f32).cos()
            });
        }
    }
}
