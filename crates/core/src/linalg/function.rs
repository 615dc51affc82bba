//! The principal logarithm and the exponential of a matrix, in complex arithmetic: a negative eigenvalue has a complex
//! logarithm.
//!
//! ```text
//! A = Q T Q*,   ln A = Q (ln T) Q*,   ln T = 2^s ln T^(1/2^s),   ln(1 + X) = Σ_j w_j X (1 + x_j X)⁻¹
//! ```
//!
//! with T upper triangular (Schur), s square roots until ‖T^(1/2^s) − 1‖ is small, and the nodes x_j and weights w_j of
//! Gauss and Legendre on [0, 1], which are the Padé approximant (Kenney and Laub 1989; Higham 2008, chapter 11). The
//! exponential is e^A = (r(A/2^s))^(2^s) with the Padé approximant r of order 13 (Higham 2005).

use super::complex::{self, Complex};

/// The principal logarithm of a real n × n matrix; `None` if it is singular to rounding, when there is none.
pub fn logarithm(a: &[f64], n: usize) -> Option<Vec<Complex>> {
    let entries: Vec<Complex> = a.iter().map(|&v| v.into()).collect();
    let (q, mut t) = schur(entries, n)?;
    straighten(&mut t, n);
    let smallest = n as f64 * f64::EPSILON * complex::row_norm(&t, n);
    if t.iter().step_by(n + 1).any(|v| v.norm() <= smallest) {
        return None;
    }
    let log = logarithm_of_triangle(t, n);
    Some(complex::multiply(
        &complex::multiply(&q, &log, n),
        &adjoint(&q, n),
        n,
    ))
}

/// The exponential of a complex n × n matrix.
pub fn exponential(a: &[Complex], n: usize) -> Vec<Complex> {
    let halvings = (complex::row_norm(a, n) / PADE_13_RADIUS).log2().ceil();
    let halvings = halvings.clamp(0.0, 1100.0) as i32;
    let scale = 0.5_f64.powi(halvings);
    let scaled: Vec<Complex> = a.iter().map(|&v| v * scale).collect();
    let mut power = pade_13(&scaled, n);
    for _ in 0..halvings {
        power = complex::multiply(&power, &power, n);
    }
    power
}

/// The spectral norm of a complex n × n matrix: the largest singular value of [[Re, −Im], [Im, Re]].
pub fn spectral_norm(a: &[Complex], n: usize) -> f64 {
    let mut real = vec![0.0; 4 * n * n];
    for i in 0..n {
        for j in 0..n {
            let Complex { re, im } = a[i * n + j];
            real[i * 2 * n + j] = re;
            real[i * 2 * n + n + j] = -im;
            real[(n + i) * 2 * n + j] = im;
            real[(n + i) * 2 * n + n + j] = re;
        }
    }
    super::singular_values(&real, 2 * n, 2 * n)[0]
}

/// Negative eigenvalues of a real matrix lie on the axis: what rounding adds to them would choose the sign of their
/// logarithm's ±iπ at random.
fn straighten(t: &mut [Complex], n: usize) {
    let rounding = n as f64 * f64::EPSILON * complex::row_norm(t, n);
    for v in t.iter_mut().step_by(n + 1) {
        if v.re < 0.0 && v.im.abs() <= rounding {
            v.im = 0.0;
        }
    }
}

/// Up to this ‖X‖ the approximant of ln(1 + X) below is exact to rounding (Higham 2008, table 11.1).
const LOGARITHM_RADIUS: f64 = 0.264;

/// Nodes on [0, 1] and weights of Gauss and Legendre's rule with seven points.
const GAUSS_LEGENDRE: [(f64, f64); 7] = [
    (0.025_446_043_828_620_74, 0.064_742_483_084_434_85),
    (0.129_234_407_200_302_78, 0.139_852_695_744_638_33),
    (0.297_077_424_311_301_4, 0.190_915_025_252_559_47),
    (0.5, 0.208_979_591_836_734_7),
    (0.702_922_575_688_698_6, 0.190_915_025_252_559_47),
    (0.870_765_592_799_697_2, 0.139_852_695_744_638_33),
    (0.974_553_956_171_379_3, 0.064_742_483_084_434_85),
];

fn logarithm_of_triangle(mut t: Vec<Complex>, n: usize) -> Vec<Complex> {
    // From the eigenvalues themselves: those of a root have lost digits to the subtraction of one.
    let logs: Vec<Complex> = t.iter().step_by(n + 1).map(|v| v.ln()).collect();
    let unit = complex::identity(n);
    let less_one = |t: &[Complex]| t.iter().zip(&unit).map(|(&t, &u)| t - u).collect();
    let mut x: Vec<Complex> = less_one(&t);
    let mut doublings = 0;
    while complex::row_norm(&x, n) > LOGARITHM_RADIUS && doublings < 100 {
        t = root_of_triangle(&t, n);
        x = less_one(&t);
        doublings += 1;
    }
    let mut log = vec![Complex::ZERO; n * n];
    for (node, weight) in GAUSS_LEGENDRE {
        let mut shifted: Vec<Complex> = x.iter().zip(&unit).map(|(&x, &u)| u + x * node).collect();
        // X and (1 + x_j X)⁻¹ commute.
        let mut term = x.clone();
        complex::solve(&mut shifted, &mut term, n);
        log.iter_mut()
            .zip(term)
            .for_each(|(log, term)| *log += term * weight);
    }
    let scale = 2.0_f64.powi(doublings);
    log.iter_mut().for_each(|v| *v *= scale);
    (0..n).for_each(|i| log[i * n + i] = logs[i]);
    log
}

/// R with R² = T:  r_ii = √t_ii,  r_ij = (t_ij − Σ_{i<k<j} r_ik r_kj)/(r_ii + r_jj)  (Björck and Hammarling 1983).
fn root_of_triangle(t: &[Complex], n: usize) -> Vec<Complex> {
    let mut r = vec![Complex::ZERO; n * n];
    for j in 0..n {
        r[j * n + j] = complex::root(t[j * n + j]);
        for i in (0..j).rev() {
            let mut rest = t[i * n + j];
            for k in i + 1..j {
                rest -= r[i * n + k] * r[k * n + j];
            }
            r[i * n + j] = complex::divide(rest, r[i * n + i] + r[j * n + j]);
        }
    }
    r
}

/// Iterations after which an eigenvalue that still has not converged never will.
const PATIENCE: usize = 60;

/// A = Q T Q* with T upper triangular: Hessenberg form, then the shifted QR iteration. `None` if an entry is not
/// finite, or if the iteration does not converge.
pub fn schur(mut a: Vec<Complex>, n: usize) -> Option<(Vec<Complex>, Vec<Complex>)> {
    let mut q = complex::identity(n);
    for column in 0..n.saturating_sub(2) {
        for row in (column + 2..n).rev() {
            let turn = Rotation::annihilating(a[(row - 1) * n + column], a[row * n + column]);
            turn.apply(row - 1, &mut a, &mut q, n);
            a[row * n + column] = Complex::ZERO;
        }
    }
    let mut last = n.saturating_sub(1);
    let mut tries = 0;
    while last > 0 {
        let first = decoupled(&mut a, last, n);
        if first == last {
            (last, tries) = (last - 1, 0);
            continue;
        }
        if tries == PATIENCE {
            return None;
        }
        tries += 1;
        let shift = shift(&a, last, tries, n);
        chase(&mut a, &mut q, first..last, shift, n);
    }
    a.iter().all(|v| v.norm().is_finite()).then_some((q, a))
}

/// The first row of the block that ends at `last` and couples to nothing above it; what is negligible becomes zero.
fn decoupled(a: &mut [Complex], last: usize, n: usize) -> usize {
    let size = |a: &[Complex], i: usize| a[i * n + i].norm();
    let scale = complex::row_norm(a, n);
    for i in (1..=last).rev() {
        let beside = size(a, i - 1) + size(a, i);
        let beside = if beside == 0.0 { scale } else { beside };
        if a[i * n + i - 1].norm() <= f64::EPSILON * beside {
            a[i * n + i - 1] = Complex::ZERO;
            return i;
        }
    }
    0
}

/// The eigenvalue of the last 2 × 2 block that is nearer to its corner (Wilkinson); every tenth time something else,
/// against cycles.
fn shift(a: &[Complex], last: usize, tries: usize, n: usize) -> Complex {
    let at = |i: usize, j: usize| a[(last - 1 + i) * n + last - 1 + j];
    if tries.is_multiple_of(10) {
        return at(1, 1) + Complex::new(0.75, 0.4375) * at(1, 0).norm();
    }
    let half = (at(0, 0) - at(1, 1)) * 0.5;
    let root = complex::root(half * half + at(0, 1) * at(1, 0));
    let (plus, minus) = (half + root, half - root);
    let nearer = if plus.norm() < minus.norm() {
        plus
    } else {
        minus
    };
    at(1, 1) + nearer
}

/// One implicit QR step with a shift on rows `block` and the one after.
fn chase(
    a: &mut [Complex],
    q: &mut [Complex],
    block: std::ops::Range<usize>,
    shift: Complex,
    n: usize,
) {
    let first = block.start;
    let mut pair = (a[first * n + first] - shift, a[(first + 1) * n + first]);
    for k in block.clone() {
        let turn = Rotation::annihilating(pair.0, pair.1);
        turn.apply(k, a, q, n);
        if k > first {
            a[(k + 1) * n + k - 1] = Complex::ZERO;
        }
        if k + 1 < block.end {
            pair = (a[(k + 1) * n + k], a[(k + 2) * n + k]);
        }
    }
}

/// G = [[c, s], [−s*, c]] with real c and |s|² + c² = 1.
struct Rotation {
    c: f64,
    s: Complex,
}

impl Rotation {
    /// The one with G (x, y)ᵀ = (·, 0)ᵀ.
    fn annihilating(x: Complex, y: Complex) -> Rotation {
        let (size_x, length) = (x.norm(), x.norm().hypot(y.norm()));
        if y.norm() == 0.0 {
            return Rotation {
                c: 1.0,
                s: Complex::ZERO,
            };
        }
        if size_x == 0.0 {
            return Rotation {
                c: 0.0,
                s: Complex::ONE,
            };
        }
        Rotation {
            c: size_x / length,
            s: x * y.conj() * (1.0 / (size_x * length)),
        }
    }

    /// A ← G A G*, Q ← Q G*, in the plane of rows k and k + 1.
    fn apply(&self, k: usize, a: &mut [Complex], q: &mut [Complex], n: usize) {
        let Rotation { c, s } = *self;
        for j in 0..n {
            let (x, y) = (a[k * n + j], a[(k + 1) * n + j]);
            a[k * n + j] = x * c + s * y;
            a[(k + 1) * n + j] = y * c - s.conj() * x;
        }
        for m in [a, q] {
            for i in 0..n {
                let (x, y) = (m[i * n + k], m[i * n + k + 1]);
                m[i * n + k] = x * c + s.conj() * y;
                m[i * n + k + 1] = y * c - s * x;
            }
        }
    }
}

fn adjoint(a: &[Complex], n: usize) -> Vec<Complex> {
    (0..n * n).map(|e| a[e % n * n + e / n].conj()).collect()
}

/// Up to this norm the approximant of order 13 is exact to rounding (Higham 2005).
const PADE_13_RADIUS: f64 = 5.37;

/// Coefficients of the approximant of order 13: b_k = (26 − k)! 13! / (26! k! (13 − k)!), times b_0⁻¹.
const PADE_13: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];

/// r(A) = (V − U)⁻¹ (V + U), with U and V the odd and the even part of Σ b_k A^k.
fn pade_13(a: &[Complex], n: usize) -> Vec<Complex> {
    let square = complex::multiply(a, a, n);
    // Horner's scheme in A² for both parts.
    let horner = |first: usize| {
        let mut sum = vec![Complex::ZERO; n * n];
        for k in (0..7).rev() {
            sum = complex::multiply(&sum, &square, n);
            sum.iter_mut()
                .step_by(n + 1)
                .for_each(|v| *v += Complex::from(PADE_13[2 * k + first]));
        }
        sum
    };
    let even = horner(0);
    let odd = complex::multiply(a, &horner(1), n);
    let mut below: Vec<Complex> = even.iter().zip(&odd).map(|(&v, &u)| v - u).collect();
    let mut above: Vec<Complex> = even.iter().zip(&odd).map(|(&v, &u)| v + u).collect();
    complex::solve(&mut below, &mut above, n);
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    fn real(a: &[f64]) -> Vec<Complex> {
        a.iter().map(|&v| v.into()).collect()
    }

    fn distance(a: &[Complex], b: &[Complex]) -> f64 {
        let difference: Vec<Complex> = a.iter().zip(b).map(|(&a, &b)| a - b).collect();
        difference.iter().map(|v| v.norm()).fold(0.0, f64::max)
    }

    fn normals(n: usize, scale: f64, rng: &mut Rng) -> Vec<f64> {
        (0..n * n).map(|_| scale * rng.normal()).collect()
    }

    #[test]
    fn the_schur_form_is_triangular_and_rebuilds_the_matrix() {
        let mut rng = Rng::new(1, Stream::MonteCarlo);
        // Random, zero, a permutation (all eigenvalues of equal modulus), and a Jordan block.
        let mut cases: Vec<(usize, Vec<f64>)> = [1, 2, 3, 7, 16]
            .map(|n| (n, normals(n, 1.0, &mut rng)))
            .into();
        cases.push((3, vec![0.0; 9]));
        let cycle =
            |n: usize| (0..n * n).map(move |e| f64::from(u8::from(e % n == (e / n + 1) % n)));
        cases.extend([2, 4, 5].map(|n| (n, cycle(n).collect())));
        cases.push((3, vec![2.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 2.0]));
        for (n, a) in cases {
            let (q, t) = schur(real(&a), n).unwrap();
            assert!((0..n).all(|i| (0..i).all(|j| t[i * n + j] == Complex::ZERO)));
            let unit = complex::multiply(&q, &adjoint(&q, n), n);
            let rebuilt = complex::multiply(&complex::multiply(&q, &t, n), &adjoint(&q, n), n);
            // Backward stable: some dozen rotations of each entry, n entries of order one.
            let tolerance = 1e-14 * (n * n) as f64;
            assert!(distance(&unit, &complex::identity(n)) < tolerance);
            assert!(distance(&rebuilt, &real(&a)) < tolerance, "{a:?}");
        }
        assert!(schur(vec![f64::NAN.into(); 4], 2).is_none());
    }

    #[test]
    fn closed_forms() {
        let log = logarithm(&[2.0, 0.0, 0.0, 3.0], 2).unwrap();
        let expected = real(&[2.0_f64.ln(), 0.0, 0.0, 3.0_f64.ln()]);
        assert!(distance(&log, &expected) < 1e-15);
        // A rotation by θ has the logarithm [[0, −θ], [θ, 0]].
        let (sin, cos) = 2.5_f64.sin_cos();
        let log = logarithm(&[cos, -sin, sin, cos], 2).unwrap();
        assert!(distance(&log, &real(&[0.0, -2.5, 2.5, 0.0])) < 1e-14);
        // A Jordan block: ln(λ(1 + N/λ)) = ln λ + N/λ.
        let log = logarithm(&[2.0, 1.0, 0.0, 2.0], 2).unwrap();
        assert!(distance(&log, &real(&[2.0_f64.ln(), 0.5, 0.0, 2.0_f64.ln()])) < 1e-14);
        // e^[[0, 1], [0, 0]] = [[1, 1], [0, 1]]; large norms are scaled.
        let exp = exponential(&real(&[0.0, 1.0, 0.0, 0.0]), 2);
        assert!(distance(&exp, &real(&[1.0, 1.0, 0.0, 1.0])) < 1e-15);
        let exp = exponential(&real(&[0.0, -100.0, 100.0, 0.0]), 2);
        let (sin, cos) = 100.0_f64.sin_cos();
        // Five squarings double the error each.
        assert!(distance(&exp, &real(&[cos, -sin, sin, cos])) < 1e-12);
    }

    #[test]
    fn the_logarithm_inverts_the_exponential() {
        let mut rng = Rng::new(2, Stream::MonteCarlo);
        for n in [1, 2, 3, 5, 16] {
            for _ in 0..20 {
                // ‖X‖ stays below 2 · 0.6 √n / √n < π, so that X is the principal logarithm.
                let x = normals(n, 0.6 / (n as f64).sqrt(), &mut rng);
                let exp = exponential(&real(&x), n);
                assert!(exp.iter().all(|v| v.im == 0.0));
                let exp: Vec<f64> = exp.iter().map(|v| v.re).collect();
                let log = logarithm(&exp, n).unwrap();
                // The logarithm's condition number is at most e^2‖X‖ or so, about 10.
                assert!(distance(&log, &real(&x)) < 1e-12, "n {n}");
            }
        }
    }

    #[test]
    fn the_exponential_inverts_the_logarithm_with_negative_eigenvalues_too() {
        let mut rng = Rng::new(3, Stream::MonteCarlo);
        let mut negative = 0;
        for n in [1, 2, 3, 6] {
            for _ in 0..20 {
                let a = normals(n, 1.0, &mut rng);
                let log = logarithm(&a, n).unwrap();
                negative += usize::from(log.iter().any(|v| v.im.abs() > 1e-9));
                // Lost digits grow with the condition number, below 1e4 here.
                assert!(distance(&exponential(&log, n), &real(&a)) < 1e-10, "{a:?}");
            }
        }
        assert!(negative > 20);
        // −1 twice: rounding must not choose between +iπ and −iπ.
        let log = logarithm(&[-1.0, 0.0, 0.0, -1.0], 2).unwrap();
        assert!(log.iter().all(|v| v.im >= 0.0));
    }

    #[test]
    fn a_singular_matrix_has_no_logarithm() {
        assert!(logarithm(&[1.0, 2.0, 2.0, 4.0], 2).is_none());
        assert!(logarithm(&[0.0; 9], 3).is_none());
        assert!(logarithm(&[f64::NAN], 1).is_none());
    }

    #[test]
    fn the_spectral_norm_of_a_complex_matrix() {
        let a = [
            Complex::new(0.0, 3.0),
            Complex::ZERO,
            Complex::ZERO,
            Complex::new(1.0, 1.0),
        ];
        assert!((spectral_norm(&a, 2) - 3.0).abs() < 1e-14);
    }
}
