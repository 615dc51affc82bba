//! The few operations on complex numbers and square complex matrices (row-major) that the logarithm and the exponential of a
//! matrix need, and that keep more digits than the usual formulas.

pub use crate::fft::Complex64 as Complex;

/// z/w, by the larger part first, as Smith (1962): squares of parts would overflow too early.
pub fn divide(z: Complex, by: Complex) -> Complex {
    if by.re.abs() >= by.im.abs() {
        let ratio = by.im / by.re;
        let scale = by.re + by.im * ratio;
        Complex::new((z.re + z.im * ratio) / scale, (z.im - z.re * ratio) / scale)
    } else {
        let ratio = by.re / by.im;
        let scale = by.re * ratio + by.im;
        Complex::new((z.re * ratio + z.im) / scale, (z.im * ratio - z.re) / scale)
    }
}

/// The principal square root, real part not negative. Without |z| − |re|, which cancels.
pub fn root(z: Complex) -> Complex {
    let larger = f64::midpoint(z.norm(), z.re.abs()).sqrt();
    if larger == 0.0 {
        return Complex::ZERO;
    }
    let other = z.im.abs() / (2.0 * larger);
    let (re, im) = if z.re >= 0.0 {
        (larger, other)
    } else {
        (other, larger)
    };
    Complex::new(re, im.copysign(z.im))
}

/// C = A B for n × n matrices.
pub fn multiply(a: &[Complex], b: &[Complex], n: usize) -> Vec<Complex> {
    let mut c = vec![Complex::ZERO; n * n];
    for (row, c) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
        for (&a, b) in row.iter().zip(b.chunks_exact(n)) {
            c.iter_mut().zip(b).for_each(|(c, &b)| *c += a * b);
        }
    }
    c
}

/// The n × n unit matrix.
pub fn identity(n: usize) -> Vec<Complex> {
    let mut unit = vec![Complex::ZERO; n * n];
    unit.iter_mut()
        .step_by(n + 1)
        .for_each(|v| *v = Complex::ONE);
    unit
}

/// The largest sum of moduli of a row: an upper bound for every eigenvalue.
pub fn row_norm(a: &[Complex], n: usize) -> f64 {
    let rows = a
        .chunks_exact(n)
        .map(|row| row.iter().map(|v| v.norm()).sum());
    rows.fold(0.0, f64::max)
}

/// Replaces B by X with A X = B, all n × n, by elimination with partial pivoting; A is spoilt. A zero pivot makes X
/// not finite.
pub fn solve(a: &mut [Complex], b: &mut [Complex], n: usize) {
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i * n + k].norm().total_cmp(&a[j * n + k].norm()))
            .expect("k < n");
        for j in 0..n {
            a.swap(k * n + j, pivot * n + j);
            b.swap(k * n + j, pivot * n + j);
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = divide(a[i * n + k], a[k * n + k]);
            for j in 0..n {
                let (of_a, of_b) = (a[k * n + j], b[k * n + j]);
                a[i * n + j] -= factor * of_a;
                b[i * n + j] -= factor * of_b;
            }
        }
    }
    for i in 0..n {
        let pivot = a[i * n + i];
        (0..n).for_each(|j| b[i * n + j] = divide(b[i * n + j], pivot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Complex, b: Complex) -> bool {
        // A few roundings of numbers of order one.
        (a - b).norm() <= 1e-14 * (1.0 + b.norm())
    }

    #[test]
    fn arithmetic_follows_its_definitions() {
        let (z, w) = (Complex::new(3.0, -4.0), Complex::new(-1.0, 2.0));
        assert_eq!(z.norm(), 5.0);
        assert_eq!(z * w, Complex::new(5.0, 10.0));
        assert!(close(divide(z, w) * w, z) && close(divide(w, z) * z, w));
        for z in [z, w, Complex::new(-4.0, 0.0), Complex::new(-4.0, -1e-20)] {
            assert!(close(root(z) * root(z), z) && root(z).re >= 0.0);
        }
        assert_eq!(root(Complex::new(-4.0, 0.0)), Complex::new(0.0, 2.0));
        assert_eq!(root(Complex::ZERO), Complex::ZERO);
        assert_eq!(Complex::new(-1.0, 0.0).ln().im, std::f64::consts::PI);
    }

    #[test]
    fn a_solution_solves() {
        let entry = |i: usize| Complex::new((1.3 * i as f64).sin(), (0.7 * i as f64).cos());
        let a: Vec<Complex> = (0..16).map(entry).collect();
        let b: Vec<Complex> = (16..32).map(entry).collect();
        let mut x = b.clone();
        solve(&mut a.clone(), &mut x, 4);
        let product = multiply(&a, &x, 4);
        // Condition number below 1e3.
        assert!(
            product
                .iter()
                .zip(&b)
                .all(|(&p, &b)| (p - b).norm() < 1e-12)
        );
    }
}
