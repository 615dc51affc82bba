//! The Kuramoto–Sivashinsky equation u_t = −u u_x − u_xx − u_xxxx on a ring of length L (Kuramoto and Tsuzuki 1976;
//! Sivashinsky 1977), as the values of u at N equidistant points with spectral derivatives:
//!
//! ```text
//! u' = Λu − ½ D(u∘u),   Λ: û_k ← (k² − k⁴) û_k,   D: û_k ← ik û_k,   k = 2πj/L
//! ```
//!
//! k⁴ makes explicit Runge–Kutta steps tiny (h < 6/k_max⁴, 0.001 at the defaults). The stepper treats Λ exactly and
//! the rest to fourth order: exponential time differencing, ETDRK4 of Cox and Matthews, with the coefficients from
//! contour integrals as in Kassam and Trefethen (2005).

use std::f64::consts::TAU;

use super::{Known, Stepper, System, SystemInfo, Time, entry, numbered, positive, size};
use crate::fft::{Complex64, RealFft};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "kuramoto-sivashinsky",
        "The Kuramoto–Sivashinsky equation of flame fronts on a ring",
        "u_t = −u u_x − u_xx − u_xxxx,  u(x + L) = u(x)\n\
         Values of u at N equidistant points; spectral in space, fourth-order exponential time differencing in time \
         with steps of at most `max-step`. The initial state has mean 0 and its three longest waves with normal \
         amplitudes of s.d. 0.5. The mean of u is conserved, which adds an exponent 0 to those of time and place.",
        &[
            size("n", "64", 8, "number of points N"),
            positive("length", "22", "length L of the ring"),
            positive("max-step", "0.02", "largest step of the integration"),
        ],
        &[
            "kuramoto1976",
            "sivashinsky1977",
            "kassam2005",
            "cvitanovic2010",
        ],
    ),
    time: Time::Flow { dt: 0.25 },
    build: |s| {
        Box::new(KuramotoSivashinsky::new(
            s.integer("n"),
            s.real("length"),
            s.real("max-step"),
        ))
    },
    known: &[Known {
        set: &[],
        // The source has the mean of u fixed; one zero more is that of the mean.
        exponents: &[0.048, 0.0, 0.0, 0.0, -0.003, -0.189, -0.256, -0.290],
        tolerance: 0.0005,
        source: "cvitanovic2010",
    }],
};

struct KuramotoSivashinsky {
    n: usize,
    length: f64,
    max_step: f64,
    /// Λ and D act as circular convolutions; these are their kernels.
    linear: Vec<f64>,
    derivative: Vec<f64>,
}

/// The wave number of mode j.
fn wave_number(j: usize, length: f64) -> f64 {
    TAU * j as f64 / length
}

/// The wave number for the first derivative: that of the highest mode of an even N is 0, because the sine of that
/// wave vanishes at all points.
fn odd_wave_number(j: usize, n: usize, length: f64) -> f64 {
    if 2 * j == n {
        0.0
    } else {
        wave_number(j, length)
    }
}

impl KuramotoSivashinsky {
    fn new(n: usize, length: f64, max_step: f64) -> KuramotoSivashinsky {
        let mut fft = RealFft::new(n);
        let mut kernel = |symbol: &dyn Fn(usize) -> Complex64| {
            let spectrum: Vec<Complex64> = (0..fft.modes()).map(symbol).collect();
            let mut kernel = vec![0.0; n];
            fft.inverse(&spectrum, &mut kernel);
            kernel
        };
        KuramotoSivashinsky {
            n,
            length,
            max_step,
            linear: kernel(&|j| growth(wave_number(j, length)).into()),
            derivative: kernel(&|j| Complex64::new(0.0, odd_wave_number(j, n, length))),
        }
    }
}

/// k² − k⁴
fn growth(k: f64) -> f64 {
    k * k - k.powi(4)
}

impl System for KuramotoSivashinsky {
    fn dim(&self) -> usize {
        self.n
    }

    fn evaluate(&self, u: &[f64], out: &mut [f64]) {
        let n = self.n;
        for (i, out) in out.iter_mut().enumerate() {
            let term = |j: usize| {
                let lag = (i + n - j) % n;
                self.linear[lag] * u[j] - 0.5 * self.derivative[lag] * u[j] * u[j]
            };
            *out = (0..n).map(term).sum();
        }
    }

    fn jacobian(&self, u: &[f64], jac: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            for j in 0..n {
                let lag = (i + n - j) % n;
                jac[i * n + j] = self.linear[lag] - self.derivative[lag] * u[j];
            }
        }
    }

    fn draw_initial(&self, rng: &mut Rng, u: &mut [f64]) {
        let n = self.n as f64;
        u.fill(0.0);
        for j in 1..=3 {
            let (a, b) = (0.5 * rng.normal(), 0.5 * rng.normal());
            for (m, u) in u.iter_mut().enumerate() {
                let (s, c) = (TAU * (j * m) as f64 / n).sin_cos();
                *u += a * c + b * s;
            }
        }
    }

    fn channels(&self) -> Vec<String> {
        numbered("u", self.n)
    }

    fn stepper(&self, dt: f64) -> Option<Box<dyn Stepper>> {
        Some(Box::new(Etdrk4::new(self, dt)))
    }
}

/// Exponential time differencing: v' = Λv + 𝒩(v) by
///
/// ```text
/// a = E₂v + Q𝒩(v),   b = E₂v + Q𝒩(a),   c = E₂a + Q(2𝒩(b) − 𝒩(v))
/// v ← Ev + f₁𝒩(v) + 2f₂(𝒩(a) + 𝒩(b)) + f₃𝒩(c)
/// ```
///
/// Fields are u and the tangent vectors w; for u, 𝒩 = −½ D(u∘u), for w its derivative −D(u∘w). The tangent vectors
/// so follow the derivative of the very step that u takes.
struct Etdrk4 {
    n: usize,
    substeps: usize,
    weights: Vec<Weights>,
    /// −ik by mode.
    minus_ik: Vec<Complex64>,
    fft: RealFft,
    /// One real field for u and one for a product.
    u: Vec<f64>,
    product: Vec<f64>,
    /// v, a, b (then c), 𝒩(v), 𝒩(a), 𝒩(b), 𝒩(c): fields × modes each.
    spectra: [Vec<Complex64>; 7],
}

/// Places in `Etdrk4::spectra`.
const V: usize = 0;
const A: usize = 1;
const B: usize = 2;
const NV: usize = 3;
const NA: usize = 4;
const NB: usize = 5;
const NC: usize = 6;

/// The coefficients of one mode.
struct Weights {
    e: f64,
    e2: f64,
    q: f64,
    f: [f64; 3],
}

impl Weights {
    /// Means over a circle of radius 1 around z = hΛ, on which nothing cancels as it would at z ≈ 0.
    fn new(h: f64, growth: f64) -> Weights {
        const POINTS: usize = 64;
        let z = h * growth;
        let mean = |f: &dyn Fn(Complex64) -> Complex64| {
            let on_circle = |m: usize| {
                f(z + Complex64::from_polar(1.0, TAU * (m as f64 + 0.5) / POINTS as f64))
            };
            (0..POINTS).map(on_circle).sum::<Complex64>().re / POINTS as f64
        };
        Weights {
            e: z.exp(),
            e2: (0.5 * z).exp(),
            q: h * mean(&|r| ((0.5 * r).exp() - 1.0) / r),
            f: [
                h * mean(&|r| (-4.0 - r + r.exp() * (4.0 - 3.0 * r + r * r)) / r.powi(3)),
                h * mean(&|r| (2.0 + r + r.exp() * (r - 2.0)) / r.powi(3)),
                h * mean(&|r| (-4.0 - 3.0 * r - r * r + r.exp() * (4.0 - r)) / r.powi(3)),
            ],
        }
    }
}

impl Etdrk4 {
    fn new(system: &KuramotoSivashinsky, dt: f64) -> Etdrk4 {
        let KuramotoSivashinsky { n, length, .. } = *system;
        let substeps = (dt / system.max_step).ceil().max(1.0) as usize;
        let h = dt / substeps as f64;
        let fft = RealFft::new(n);
        let modes = 0..fft.modes();
        Etdrk4 {
            n,
            substeps,
            weights: modes
                .clone()
                .map(|j| Weights::new(h, growth(wave_number(j, length))))
                .collect(),
            minus_ik: modes
                .map(|j| Complex64::new(0.0, -odd_wave_number(j, n, length)))
                .collect(),
            fft,
            u: vec![0.0; n],
            product: vec![0.0; n],
            spectra: Default::default(),
        }
    }

    /// 𝒩 of all fields of `spectra[from]` into `spectra[to]`.
    fn nonlinear(&mut self, from: usize, to: usize) {
        let modes = self.minus_ik.len();
        let [input, output] = self
            .spectra
            .get_disjoint_mut([from, to])
            .expect("they differ");
        self.fft.inverse(&input[..modes], &mut self.u);
        for (field, (input, output)) in input
            .chunks_exact(modes)
            .zip(output.chunks_exact_mut(modes))
            .enumerate()
        {
            let half = match field {
                0 => {
                    self.product.copy_from_slice(&self.u);
                    0.5
                }
                _ => {
                    self.fft.inverse(input, &mut self.product);
                    1.0
                }
            };
            self.product
                .iter_mut()
                .zip(&self.u)
                .for_each(|(w, u)| *w *= half * u);
            self.fft.forward(&self.product, output);
            output
                .iter_mut()
                .zip(&self.minus_ik)
                .for_each(|(n, ik)| *n *= ik);
        }
    }

    fn substep(&mut self) {
        self.nonlinear(V, NV);
        self.assign(A, |s, w, i| s[V][i] * w.e2 + s[NV][i] * w.q);
        self.nonlinear(A, NA);
        self.assign(B, |s, w, i| s[V][i] * w.e2 + s[NA][i] * w.q);
        self.nonlinear(B, NB);
        self.assign(B, |s, w, i| {
            s[A][i] * w.e2 + (s[NB][i] * 2.0 - s[NV][i]) * w.q
        });
        self.nonlinear(B, NC);
        self.assign(V, |s, w, i| {
            s[V][i] * w.e
                + s[NV][i] * w.f[0]
                + (s[NA][i] + s[NB][i]) * (2.0 * w.f[1])
                + s[NC][i] * w.f[2]
        });
    }

    /// Sets a spectrum, mode by mode.
    fn assign(
        &mut self,
        to: usize,
        f: impl Fn(&[Vec<Complex64>; 7], &Weights, usize) -> Complex64,
    ) {
        for i in 0..self.spectra[to].len() {
            self.spectra[to][i] = f(&self.spectra, &self.weights[i % self.weights.len()], i);
        }
    }
}

impl Stepper for Etdrk4 {
    fn step(&mut self, x: &mut [f64], tangents: &mut [f64]) {
        let (n, modes) = (self.n, self.minus_ik.len());
        let fields = 1 + tangents.len() / n;
        self.spectra
            .iter_mut()
            .for_each(|s| s.resize(fields * modes, Complex64::default()));
        let rows = [&*x].into_iter().chain(tangents.chunks_exact(n));
        for (row, spectrum) in rows.zip(self.spectra[V].chunks_exact_mut(modes)) {
            self.fft.forward(row, spectrum);
        }
        (0..self.substeps).for_each(|_| self.substep());
        let rows = [x].into_iter().chain(tangents.chunks_exact_mut(n));
        for (row, spectrum) in rows.zip(self.spectra[V].chunks_exact(modes)) {
            self.fft.inverse(spectrum, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::system::integrate::{Dop853, Tolerance};

    fn start(system: &KuramotoSivashinsky) -> Vec<f64> {
        let mut u = vec![0.0; system.n];
        system.draw_initial(&mut Rng::new(3, Stream::InitialState), &mut u);
        u
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn derivatives_of_a_wave_are_exact() {
        let system = KuramotoSivashinsky::new(32, 22.0, 0.02);
        let k = wave_number(2, 22.0);
        let place = |m: usize| 22.0 * m as f64 / 32.0;
        let u: Vec<f64> = (0..32).map(|m| (k * place(m)).sin()).collect();
        let mut found = vec![0.0; 32];
        system.evaluate(&u, &mut found);
        for (m, found) in found.iter().enumerate() {
            let (s, c) = (k * place(m)).sin_cos();
            // Rounding of kernels whose largest entries are near k_max⁴ = 435.
            assert!((found - (growth(k) * s - k * s * c)).abs() < 435.0 * 32.0 * f64::EPSILON);
        }
    }

    /// Distance from an explicit integration over two units of time, from a state on the attractor.
    fn error(n: usize, max_step: f64) -> f64 {
        let reference = KuramotoSivashinsky::new(n, 22.0, 0.005);
        let mut on_attractor = start(&reference);
        let mut stepper = reference.stepper(30.0).unwrap();
        stepper.step(&mut on_attractor, &mut []);
        let mut expected = vec![0.0; n];
        let flow = |u: &[f64], du: &mut [f64]| reference.evaluate(u, du);
        Dop853::new(flow, &on_attractor, Tolerance::relative(1e-13))
            .state_at(2.0, &mut expected)
            .unwrap();
        let system = KuramotoSivashinsky::new(n, 22.0, max_step);
        system
            .stepper(2.0)
            .unwrap()
            .step(&mut on_attractor, &mut []);
        distance(&on_attractor, &expected)
    }

    /// The order shows where h k_max⁴ is below one: 16 points, k_max⁴ = 27. The next term is smaller by about that.
    #[test]
    fn the_scheme_has_order_four() {
        let (coarse, fine) = (error(16, 0.02), error(16, 0.005));
        let order = (coarse / fine).log(4.0);
        assert!((order - 4.0).abs() < 0.3, "{order}: {coarse} {fine}");
    }

    /// With stiff modes it converges more slowly (Hochbruck and Ostermann 2005), but is exact enough at the default
    /// step: seven digits over a time in which the largest exponent, 0.048, lets errors grow by a tenth.
    #[test]
    fn the_default_step_meets_explicit_integration() {
        assert!(error(32, 0.02) < 1e-7, "{}", error(32, 0.02));
    }

    #[test]
    fn tangent_vectors_follow_the_derivative_of_the_step() {
        let system = KuramotoSivashinsky::new(32, 22.0, 0.05);
        let u = start(&system);
        let mut w: Vec<f64> = (0..32).map(|m| (1.0 + m as f64).sin()).collect();
        let mut stepper = system.stepper(1.0).unwrap();
        let mut moved = |sign: f64| {
            let mut v: Vec<f64> = u.iter().zip(&w).map(|(u, w)| u + sign * 1e-5 * w).collect();
            stepper.step(&mut v, &mut []);
            v
        };
        let (ahead, back) = (moved(1.0), moved(-1.0));
        let expected: Vec<f64> = ahead
            .iter()
            .zip(&back)
            .map(|(a, b)| (a - b) / 2e-5)
            .collect();
        stepper.step(&mut u.clone(), &mut w);
        // Central differences: third derivatives of order 1 times ε² = 1e-10, rounding 1e-16/1e-5.
        assert!(
            distance(&w, &expected) < 1e-8,
            "{}",
            distance(&w, &expected)
        );
    }

    #[test]
    fn the_mean_stays() {
        let system = KuramotoSivashinsky::new(64, 22.0, 0.02);
        let mut u = start(&system);
        let mut stepper = system.stepper(0.25).unwrap();
        (0..400).for_each(|_| stepper.step(&mut u, &mut []));
        // Rounding only, of at most 64 · 400 · 13 additions.
        assert!(u.iter().sum::<f64>().abs() < 1e-10);
        assert!(u.iter().any(|u| u.abs() > 0.5), "it is not at rest");
    }
}
