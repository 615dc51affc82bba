//! The method: a quadratic map by least squares,  x_{t+1} = C φ(x_t),  φ(x) = (1, x_i, x_i x_j for i ≤ j).  Its state is the row.

use attractor::dynamics::{Dynamics, Named, Sizes, Stretch};
use attractor::linalg::{multiply, pseudo_inverse};
use attractor::method::{Fitting, LoadError, Method, Solved, Tensors, axes};
use attractor::progress::Follow;

pub(crate) static QUADRATIC: Method = Method::solved(
    "quadratic-map",
    "quadratic map by least squares",
    &[],
    solve,
    load,
);

#[derive(Debug)]
struct Quadratic {
    /// Channels N.
    n: usize,
    /// C, N × F.
    c: Vec<f64>,
}

/// φ(x), F = 1 + N + N (N + 1)/2 numbers.
fn features(x: &[f64]) -> Vec<f64> {
    let squares = (0..x.len()).flat_map(|i| x[i..].iter().map(move |xj| x[i] * xj));
    let linear = [1.0].into_iter().chain(x.iter().copied());
    linear.chain(squares).collect()
}

/// C = (Σ x_{t+1} φᵀ)(Σ φ φᵀ)⁺ over all pairs of rows without a gap or a missing value between them.
fn solve(_: &'static Method, fitting: Fitting<'_>, _: &mut dyn Follow) -> Solved {
    let n = fitting.data.dim_obs();
    let f = features(&vec![0.0; n]).len();
    let (mut gram, mut cross, mut c) = (vec![0.0; f * f], vec![0.0; n * f], vec![0.0; n * f]);
    for (trajectory, rows) in fitting.data.whole_stretches() {
        let x = &fitting.data.trajectories()[trajectory].x[rows.start * n..rows.end * n];
        for (row, next) in x.chunks_exact(n).zip(x[n..].chunks_exact(n)) {
            let phi = features(row);
            (0..f * f).for_each(|e| gram[e] += phi[e / f] * phi[e % f]);
            (0..n * f).for_each(|e| cross[e] += next[e / f] * phi[e % f]);
        }
    }
    multiply(&cross, &pseudo_inverse(&gram, f, f), (n, f, f), &mut c);
    Ok(Box::new(Quadratic { n, c }))
}

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [n, _] = axes(tensors, "C")?;
    let c = tensors["C"].f64s();
    Ok(Box::new(Quadratic { n, c }))
}

impl Dynamics for Quadratic {
    fn sizes(&self) -> Sizes {
        Sizes::closed(self.n, self.n, self.c.len())
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        z.copy_from_slice(data.row(t));
    }

    fn step(&self, z: &[f64], _: &[f64], next: &mut [f64]) {
        let phi = features(z);
        multiply(&self.c, &phi, (self.n, phi.len(), 1), next);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        x_hat.copy_from_slice(z);
    }

    /// φ is quadratic, so that (φ(z + e_k) − φ(z − e_k))/2 is its derivative by z_k, exactly.
    fn jacobian(&self, z: &[f64], _: &[f64], jac: &mut [f64]) {
        let (n, mut moved, mut column) = (self.n, z.to_vec(), vec![0.0; self.n]);
        for k in 0..n {
            moved[k] = z[k] + 1.0;
            let above = features(&moved);
            moved[k] = z[k] - 1.0;
            let slopes: Vec<f64> = above
                .iter()
                .zip(features(&moved))
                .map(|(a, b)| (a - b) / 2.0)
                .collect();
            moved[k] = z[k];
            multiply(&self.c, &slopes, (n, slopes.len(), 1), &mut column);
            (0..n).for_each(|i| jac[i * n + k] = column[i]);
        }
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        vec![Named::matrix("C", self.n, &self.c)]
    }

    fn describe(&self) -> String {
        format!("{} channels", self.n)
    }
}
