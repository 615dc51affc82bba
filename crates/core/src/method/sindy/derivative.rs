//! Slopes of noisy rows: each channel is smoothed as Savitzky and Golay do, then differentiated.
//!
//! ```text
//! x̃_t = Σ_k h_k x_{t+k},   h the value at the centre of the polynomial fitted to a window
//! ẋ_t = (x̃_{t+1} − x̃_{t−1})/2Δt,   at the ends (−3x̃_0 + 4x̃_1 − x̃_2)/2Δt and its mirror image
//! ```
//!
//! Within half a window of an end x̃ is the value of the polynomial fitted to the first or last whole window.

use crate::dynamics::Stretch;
use crate::linalg::{multiply, pseudo_inverse, transpose};

/// Smooths the rows of a stretch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Smoother {
    window: usize,
    /// H = V V⁺ of the powers V of the places in a window: row p gives the fitted polynomial at place p.
    hat: Vec<f64>,
}

impl Smoother {
    /// Polynomials of an order below the odd width of the window.
    pub(super) fn new(window: usize, order: usize) -> Smoother {
        let half = (window / 2) as f64;
        let power = |p: usize, k: usize| ((p as f64 - half) / half.max(1.0)).powi(k as i32);
        let columns = order + 1;
        let v: Vec<f64> = (0..window * columns)
            .map(|e| power(e / columns, e % columns))
            .collect();
        let inverse = pseudo_inverse(&v, window, columns);
        let mut hat = vec![0.0; window * window];
        multiply(&v, &inverse, (window, columns, window), &mut hat);
        // H is symmetric; so are then the sums that are made with it.
        let mut mirrored = vec![0.0; window * window];
        transpose(&hat, (window, window), &mut mirrored);
        hat.iter_mut()
            .zip(mirrored)
            .for_each(|(h, m)| *h = 0.5 * (*h + m));
        Smoother { window, hat }
    }

    /// One that changes nothing.
    pub(super) fn none() -> Smoother {
        Smoother {
            window: 1,
            hat: vec![1.0],
        }
    }

    /// The least rows of a stretch that can be smoothed and differentiated.
    pub(super) fn least(&self) -> usize {
        self.window.max(3)
    }

    /// Writes row t of the smoothed stretch.
    fn smooth(&self, stretch: Stretch<'_>, t: usize, out: &mut [f64]) {
        let (w, half) = (self.window, self.window / 2);
        let first = t.saturating_sub(half).min(stretch.len() - w);
        let weights = &self.hat[(t - first) * w..][..w];
        let rows = stretch.rows().slice(first..first + w).values();
        match out.len() {
            1 => weigh::<1>(weights, rows, out),
            2 => weigh::<2>(weights, rows, out),
            3 => weigh::<3>(weights, rows, out),
            4 => weigh::<4>(weights, rows, out),
            5 => weigh::<5>(weights, rows, out),
            n => {
                out.fill(0.0);
                for (&h, row) in weights.iter().zip(rows.chunks_exact(n)) {
                    out.iter_mut().zip(row).for_each(|(x, row)| *x += h * row);
                }
            }
        }
    }
}

/// Σ_k h_k x_k of rows with few values, which stay in registers.
fn weigh<const N: usize>(weights: &[f64], rows: &[f64], out: &mut [f64]) {
    let mut sum = [0.0; N];
    for (&h, row) in weights.iter().zip(rows.as_chunks::<N>().0) {
        for (x, row) in sum.iter_mut().zip(row) {
            *x += h * row;
        }
    }
    out.copy_from_slice(&sum);
}

/// Goes along a stretch and gives each row smoothed, with its slope, in memory for three rows.
#[derive(Debug)]
pub(super) struct Slopes<'a> {
    smoother: &'a Smoother,
    stretch: Stretch<'a>,
    dt: f64,
    /// Rows first, first + 1 and first + 2, smoothed.
    three: [Vec<f64>; 3],
    first: usize,
    slope: Vec<f64>,
}

impl<'a> Slopes<'a> {
    /// Along a stretch of at least [`Smoother::least`] rows.
    pub(super) fn new(smoother: &'a Smoother, stretch: Stretch<'a>, dt: f64) -> Slopes<'a> {
        let n = stretch.rows().dim();
        let mut three = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        for (t, row) in three.iter_mut().enumerate() {
            smoother.smooth(stretch, t, row);
        }
        Slopes {
            smoother,
            stretch,
            dt,
            three,
            first: 0,
            slope: vec![0.0; n],
        }
    }

    /// Row t smoothed, and its slope; rows are asked for one after another.
    pub(super) fn at(&mut self, t: usize) -> (&[f64], &[f64]) {
        let last = self.stretch.len() - 1;
        let wanted = t.saturating_sub(1).min(last - 2);
        if wanted > self.first {
            self.three.rotate_left(1);
            self.first += 1;
            let [_, _, newest] = &mut self.three;
            self.smoother.smooth(self.stretch, self.first + 2, newest);
        }
        let [a, b, c] = &self.three;
        let weights = match t {
            0 => [-3.0, 4.0, -1.0],
            _ if t == last => [1.0, -4.0, 3.0],
            _ => [-1.0, 0.0, 1.0],
        };
        let scale = 0.5 / self.dt;
        for (i, slope) in self.slope.iter_mut().enumerate() {
            *slope = scale * (weights[0] * a[i] + weights[1] * b[i] + weights[2] * c[i]);
        }
        (&self.three[t - self.first], &self.slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;

    fn smoothed(x: &[f64], dt: f64) -> Vec<(f64, f64)> {
        let smoother = Smoother::new(11, 3);
        let stretch = Stretch::of(Rows::new(x, 1));
        let mut slopes = Slopes::new(&smoother, stretch, dt);
        (0..x.len())
            .map(|t| {
                let (x, slope) = slopes.at(t);
                (x[0], slope[0])
            })
            .collect()
    }

    /// Savitzky and Golay's weights of a cubic over eleven points.
    #[test]
    fn the_central_weights_are_those_of_the_table() {
        let table = [-36, 9, 44, 69, 84, 89, 84, 69, 44, 9, -36].map(|w| f64::from(w) / 429.0);
        let smoother = Smoother::new(11, 3);
        for (found, expected) in smoother.hat[5 * 11..6 * 11].iter().zip(table) {
            // A pseudo-inverse of condition below 10.
            assert!((found - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn cubics_stay_as_they_are_and_parabolas_have_their_slopes() {
        let cubic = |t: f64| 0.3 * t * t * t - 2.0 * t * t + t - 5.0;
        let x: Vec<f64> = (0..30).map(|t| cubic(0.1 * f64::from(t))).collect();
        for (x, (found, _)) in x.iter().zip(smoothed(&x, 0.1)) {
            assert!((x - found).abs() < 1e-13 * 50.0);
        }
        let x: Vec<f64> = (0..12).map(|t| 0.5 * f64::from(t * t)).collect();
        for (t, (_, slope)) in smoothed(&x, 1.0).into_iter().enumerate() {
            assert!((slope - t as f64).abs() < 1e-12, "{t}: {slope}");
        }
    }

    /// sin 0.3t + w(t) with w(k) = 0.1 ((7k mod 11) − 5); SciPy's `savgol_filter` gives the same to 1e-14.
    #[test]
    fn a_noisy_wave_has_the_known_values() {
        let w = |k: u32| 0.1 * (f64::from(7 * k % 11) - 5.0);
        let x: Vec<f64> = (0..20).map(|t| (0.3 * f64::from(t)).sin() + w(t)).collect();
        let known = [
            (0, -0.405928794, 7.4448251533),
            (1, 0.2394201619, 5.4621539646),
            (6, 1.0292595334, -1.233520102),
            (10, 0.0610797524, -2.6045938599),
            (18, -0.8241549457, -0.6069660171),
            (19, -0.915459485, -1.2191247676),
        ];
        let found = smoothed(&x, 0.1);
        for (t, smooth, slope) in known {
            // The known values have ten decimals.
            assert!((found[t].0 - smooth).abs() < 1e-9 && (found[t].1 - slope).abs() < 1e-8);
        }
    }
}
