//! The objective of one window and its gradient as they are written, in f64, one step at a time. It is never used in training: it is
//! what the lanes are compared with.
//!
//! ```text
//! v_t = cell((x̃_t, s_t), v_{t−1})        x̂_{t+1} = Q y_t + q        t = 0 … T−1
//! x̃_0 = x_0        x̃_t = x̂_t + α m_t (x_t − x̂_t)        m = 1 where x is observed, else 0
//! ℒ = c Σ_{t > T−P} Σ_i m (x̂_{t,i} − x_{t,i})²        over the last P of the forecasts x̂_1 … x̂_T
//! ```

use super::{Cell, CellSizes, Pulled, Taken, add_outer, add_product, add_transposed};

/// A window of T + 1 rows.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// Observations, (T + 1) × N; NaN where one is missing.
    pub x: &'a [f64],
    /// External inputs, (T + 1) × K.
    pub s: &'a [f64],
    /// The state before the first row, 2n.
    pub v: &'a [f64],
    /// Forecasts at its end that count, P.
    pub counted: usize,
    /// Strength of forcing α.
    pub alpha: f64,
    /// The factor c.
    pub weight: f64,
}

/// What a window gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// ℒ.
    pub loss: f64,
    /// Its gradient by θ.
    pub dtheta: Vec<f64>,
    /// Forecasts x̂_1 … x̂_T.
    pub x_hat: Vec<f64>,
    /// The states v_0 … v_{T−1} after the rows 0 … T−1.
    pub states: Vec<f64>,
}

/// What the way forward leaves.
struct Forward {
    u: Vec<f64>,
    states: Vec<f64>,
    traces: Vec<f64>,
    x_hat: Vec<f64>,
}

/// ℒ and its gradient.
pub fn sweep<C: Cell>(cell: &C, theta: &[f64], window: Window<'_>) -> Swept {
    let n = cell.sizes().channels;
    let steps = window.x.len() / n - 1;
    let forward = forward(cell, theta, window);
    let mut residuals = vec![0.0; steps * n];
    let mut loss = 0.0;
    let first = (steps - window.counted) * n;
    for (place, residual) in residuals.iter_mut().enumerate().skip(first) {
        let x = window.x[n + place];
        if !x.is_nan() {
            let error = forward.x_hat[place] - x;
            loss += window.weight * error * error;
            *residual = 2.0 * window.weight * error;
        }
    }
    let dtheta = backward(cell, theta, window, &forward, residuals);
    Swept {
        loss,
        dtheta,
        x_hat: forward.x_hat,
        states: forward.states,
    }
}

fn forward<C: Cell>(cell: &C, theta: &[f64], window: Window<'_>) -> Forward {
    let (
        CellSizes {
            channels: n,
            inputs: k,
            hidden,
        },
        sizes,
    ) = (cell.sizes(), cell.sizes());
    let steps = window.x.len() / n - 1;
    let (q_matrix, q) = cell.read_out(theta);
    let mut out = Forward {
        u: vec![0.0; steps * sizes.width()],
        states: vec![0.0; steps * 2 * hidden],
        traces: vec![0.0; steps * cell.traces()],
        x_hat: vec![0.0; steps * n],
    };
    let mut v = window.v.to_vec();
    for t in 0..steps {
        let u = &mut out.u[t * sizes.width()..][..sizes.width()];
        for (i, u) in u[..n].iter_mut().enumerate() {
            let x = window.x[t * n + i];
            *u = match t {
                0 => x,
                _ => {
                    let own = out.x_hat[(t - 1) * n + i];
                    own + if x.is_nan() {
                        0.0
                    } else {
                        window.alpha * (x - own)
                    }
                }
            };
        }
        u[n..].copy_from_slice(&window.s[t * k..][..k]);
        let next = &mut out.states[t * 2 * hidden..][..2 * hidden];
        let trace = &mut out.traces[t * cell.traces()..][..cell.traces()];
        cell.step(theta, u, &v, next, trace);
        v.copy_from_slice(next);
        let x_hat = &mut out.x_hat[t * n..][..n];
        x_hat.copy_from_slice(q);
        add_product(q_matrix, &next[..hidden], x_hat);
    }
    out
}

fn backward<C: Cell>(
    cell: &C,
    theta: &[f64],
    window: Window<'_>,
    forward: &Forward,
    mut e: Vec<f64>,
) -> Vec<f64> {
    let CellSizes {
        channels: n,
        hidden,
        ..
    } = cell.sizes();
    let (width, m, traces) = (cell.sizes().width(), 2 * hidden, cell.traces());
    let (q_matrix, _) = cell.read_out(theta);
    let mut dtheta = vec![0.0; theta.len()];
    let read_out = theta.len() - n * hidden - n;
    let (mut d, mut dv, mut du) = (vec![0.0; m], vec![0.0; m], vec![0.0; width]);
    for t in (0..e.len() / n).rev() {
        let of_t = &e[t * n..][..n];
        let next = &forward.states[t * m..][..m];
        add_transposed(q_matrix, of_t, &mut d[..hidden]);
        add_outer(
            of_t,
            &next[..hidden],
            &mut dtheta[read_out..read_out + n * hidden],
        );
        let dq = &mut dtheta[read_out + n * hidden..];
        dq.iter_mut().zip(of_t).for_each(|(dq, e)| *dq += e);
        let at = Taken {
            u: &forward.u[t * width..][..width],
            v: if t == 0 {
                window.v
            } else {
                &forward.states[(t - 1) * m..][..m]
            },
            next,
            trace: &forward.traces[t * traces..][..traces],
        };
        let to = Pulled {
            du: &mut du,
            dv: &mut dv,
            dtheta: &mut dtheta,
        };
        cell.pull_back(theta, at, &d, to);
        d.copy_from_slice(&dv);
        if t > 0 {
            for (i, e) in e[(t - 1) * n..t * n].iter_mut().enumerate() {
                let of_data = if window.x[t * n + i].is_nan() {
                    0.0
                } else {
                    window.alpha
                };
                *e += (1.0 - of_data) * du[i];
            }
        }
    }
    dtheta
}
