//! The pseudo-inverse P = B⁺ of an N × M matrix and its exact gradient, once an update, in f64.
//!
//! For a cotangent P̄ (M × N), at constant rank,
//!
//! ```text
//! B̄ = −Pᵀ P̄ Pᵀ + (I − B P) P̄ᵀ P Pᵀ + Pᵀ P P̄ᵀ (I − P B).
//! ```
//!
//! The second term vanishes where B has full row rank, the third where it has full column rank. P comes from the
//! Cholesky factor of the smaller of BᵀB and BBᵀ; a matrix too close to singular for that takes the singular value
//! decomposition.

use crate::linalg::{self, multiply, transpose};

/// Squared condition number above which normal equations in f64 would lose what f32 can show.
const SMALLEST_PIVOT: f64 = 1e-9;

/// B, its pseudo-inverse, and room to differentiate it.
#[derive(Debug, Clone)]
pub(crate) struct PseudoInverse {
    n: usize,
    m: usize,
    b: Vec<f64>,
    bt: Vec<f64>,
    p: Vec<f64>,
    pt: Vec<f64>,
    small: Vec<f64>,
    scratch: [Vec<f64>; 3],
}

impl PseudoInverse {
    pub(crate) fn new(n: usize, m: usize) -> PseudoInverse {
        let blank = || vec![0.0; n * m];
        let small = n.min(m);
        PseudoInverse {
            n,
            m,
            b: blank(),
            bt: blank(),
            p: blank(),
            pt: blank(),
            small: vec![0.0; small * small],
            scratch: [blank(), blank(), vec![0.0; n.max(m) * n.max(m)]],
        }
    }

    /// Takes B and computes P.
    pub(crate) fn prepare(&mut self, b: &[f32]) {
        let (n, m) = (self.n, self.m);
        self.b
            .iter_mut()
            .zip(b)
            .for_each(|(to, &from)| *to = f64::from(from));
        transpose(&self.b, (n, m), &mut self.bt);
        let regular = if n >= m {
            multiply(&self.bt, &self.b, (m, n, m), &mut self.small);
            linalg::invert_positive(&mut self.small, m, SMALLEST_PIVOT) && {
                multiply(&self.small, &self.bt, (m, m, n), &mut self.p);
                true
            }
        } else {
            multiply(&self.b, &self.bt, (n, m, n), &mut self.small);
            linalg::invert_positive(&mut self.small, n, SMALLEST_PIVOT) && {
                multiply(&self.bt, &self.small, (m, n, n), &mut self.p);
                true
            }
        };
        if !regular && self.b.iter().all(|v| v.is_finite()) {
            self.p = linalg::pseudo_inverse(&self.b, n, m);
        }
        transpose(&self.p, (m, n), &mut self.pt);
    }

    /// P, M × N.
    pub(crate) fn matrix(&self) -> &[f64] {
        &self.p
    }

    /// dB += B̄ for a cotangent P̄.
    pub(crate) fn pull_back(&mut self, p_bar: &[f64], db: &mut [f32]) {
        let (n, m) = (self.n, self.m);
        let [wide, tall, square] = &mut self.scratch;
        // −Pᵀ P̄ Pᵀ
        multiply(p_bar, &self.pt, (m, n, m), &mut square[..m * m]);
        multiply(&self.pt, &square[..m * m], (n, m, m), tall);
        add(db, -1.0, tall);
        transpose(p_bar, (m, n), wide);
        if n > m {
            // (I − B P) Y with Y = P̄ᵀ P Pᵀ
            multiply(&self.p, &self.pt, (m, n, m), &mut square[..m * m]);
            multiply(wide, &square[..m * m], (n, m, m), tall);
            add(db, 1.0, tall);
            multiply(&self.p, tall, (m, n, m), &mut square[..m * m]);
            multiply(&self.b, &square[..m * m], (n, m, m), tall);
            add(db, -1.0, tall);
        } else if n < m {
            // Y (I − P B) with Y = Pᵀ P P̄ᵀ
            multiply(&self.pt, &self.p, (n, m, n), &mut square[..n * n]);
            multiply(&square[..n * n], wide, (n, n, m), tall);
            add(db, 1.0, tall);
            multiply(tall, &self.p, (n, m, n), &mut square[..n * n]);
            multiply(&square[..n * n], &self.b, (n, n, m), tall);
            add(db, -1.0, tall);
        }
    }
}

fn add(to: &mut [f32], sign: f64, from: &[f64]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, &from)| *to += (sign * from) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, cols: usize, phase: f32) -> Vec<f32> {
        (0..rows * cols)
            .map(|i| (1.7 * i as f32 + phase).sin() + f32::from(u8::from(i / cols == i % cols)))
            .collect()
    }

    fn pinv_of(b: &[f32], n: usize, m: usize) -> PseudoInverse {
        let mut pinv = PseudoInverse::new(n, m);
        pinv.prepare(b);
        pinv
    }

    #[test]
    fn cholesky_and_singular_values_agree() {
        for (n, m) in [(5, 3), (3, 5), (4, 4), (1, 1), (64, 16)] {
            let b = sample(n, m, 0.0);
            let wide: Vec<f64> = b.iter().map(|&v| f64::from(v)).collect();
            let expected = linalg::pseudo_inverse(&wide, n, m);
            // Condition numbers below 100 squared times 1e-16 times the entries' number.
            let close = pinv_of(&b, n, m)
                .matrix()
                .iter()
                .zip(&expected)
                .all(|(x, y)| (x - y).abs() < 1e-9);
            assert!(close, "{n} × {m}");
        }
    }

    #[test]
    fn a_singular_matrix_has_its_pseudo_inverse_too() {
        let pinv = pinv_of(&[1.0, 1.0, 1.0, 1.0], 2, 2);
        assert!(pinv.matrix().iter().all(|v| (v - 0.25).abs() < 1e-12));
    }

    #[test]
    fn the_gradient_agrees_with_central_differences() {
        for (n, m) in [(5, 3), (3, 5), (4, 4), (2, 1), (1, 2)] {
            let (b, p_bar) = (sample(n, m, 0.3), sample(m, n, 1.1));
            let p_bar: Vec<f64> = p_bar.iter().map(|&v| f64::from(v)).collect();
            let mut db = vec![0.0; n * m];
            pinv_of(&b, n, m).pull_back(&p_bar, &mut db);
            let loss = |b: &[f64]| -> f64 {
                linalg::pseudo_inverse(b, n, m)
                    .iter()
                    .zip(&p_bar)
                    .map(|(p, c)| p * c)
                    .sum()
            };
            let wide: Vec<f64> = b.iter().map(|&v| f64::from(v)).collect();
            for i in 0..n * m {
                let (mut up, mut down) = (wide.clone(), wide.clone());
                up[i] += 1e-5;
                down[i] -= 1e-5;
                let difference = (loss(&up) - loss(&down)) / 2e-5;
                // h² times the third derivative (condition⁴) and the f32 of the result, relative to its size.
                let scale = 1.0 + db.iter().fold(0f32, |a, b| a.max(b.abs()));
                assert!(
                    (f64::from(db[i]) - difference).abs() < 1e-6 * f64::from(scale),
                    "{n}×{m} entry {i}"
                );
            }
        }
    }
}
