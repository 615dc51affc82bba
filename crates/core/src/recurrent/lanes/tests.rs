//! The lanes against the objective as it is written.

use super::*;
use crate::recurrent::lem::Lem;
use crate::recurrent::lstm::Lstm;
use crate::recurrent::plain::{self, Window};
use crate::rng::{Rng, Stream};
use crate::simd::{Isa, Lanes8, Lanes16, dispatch};

/// Sixteen windows with random data, states before them and parameters.
struct Sample<C> {
    cell: C,
    theta: Vec<f32>,
    steps: usize,
    counted: usize,
    /// Of every window: observations, inputs, the state before.
    windows: Vec<[Vec<f32>; 3]>,
}

const WINDOWS: usize = 16;
const WEIGHT: f32 = 0.01;

impl<C: Cell> Sample<C> {
    /// With values missing everywhere but in first rows, where `share` is below one.
    fn new(cell: C, steps: usize, counted: usize, share: f64) -> Sample<C> {
        let mut rng = Rng::new(7, Stream::Parameters);
        let theta = cell.start(&mut rng);
        let CellSizes {
            hidden,
            channels,
            inputs,
        } = cell.sizes();
        let mut normals = |len: usize, scale: f64| -> Vec<f32> {
            (0..len).map(|_| (scale * rng.normal()) as f32).collect()
        };
        let mut windows: Vec<[Vec<f32>; 3]> = (0..WINDOWS)
            .map(|_| {
                [
                    normals((steps + 1) * channels, 1.0),
                    normals((steps + 1) * inputs, 1.0),
                    normals(2 * hidden, 0.3),
                ]
            })
            .collect();
        for [x, ..] in &mut windows {
            let behind_first = x.iter_mut().skip(channels);
            behind_first.for_each(|x| *x = if rng.uniform() < share { *x } else { f32::NAN });
        }
        Sample {
            cell,
            theta,
            steps,
            counted,
            windows,
        }
    }

    /// Loss and gradient as they are written, of all windows.
    fn plain(&self, alpha: f64) -> (f64, Vec<f64>) {
        let exact = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
        let theta = exact(&self.theta);
        let (mut loss, mut sum) = (0.0, vec![0.0; theta.len()]);
        for [x, s, v] in &self.windows {
            let (x, s, v) = (exact(x), exact(s), exact(v));
            let window = Window {
                x: &x,
                s: &s,
                v: &v,
                counted: self.counted,
                alpha,
                weight: f64::from(WEIGHT),
            };
            let swept = plain::sweep(&self.cell, &theta, window);
            loss += swept.loss;
            sum.iter_mut()
                .zip(swept.dtheta)
                .for_each(|(sum, d)| *sum += d);
        }
        (loss, sum)
    }

    /// Loss and gradient on lanes, of all windows, added in the order of groups.
    fn lanes<L: LaneCell<Exact = C>, P: Lanes>(&self, isa: Isa, feed: Feed) -> (f64, Vec<f32>) {
        let mut cell = L::new::<P>(&self.cell);
        cell.prepare(&self.theta);
        let mut sweep = Sweep::<P>::new(self.cell.sizes(), self.steps, self.counted);
        let is_missing = self
            .windows
            .iter()
            .any(|[x, ..]| x.iter().any(|x| x.is_nan()));
        if is_missing {
            sweep = sweep.with_missing();
        }
        let (mut loss, mut sum) = (0.0, vec![0.0; self.theta.len()]);
        for windows in self.windows.chunks_exact(P::WIDTH) {
            load(&mut sweep, windows);
            let mut groups = vec![vec![f32::NAN; self.theta.len()]; P::WIDTH / GROUP];
            let forward = Forward {
                cell: &cell,
                feed,
                sweep: &mut sweep,
            };
            dispatch::<P, _>(isa, forward);
            let backward = Backward {
                cell: &cell,
                feed,
                sweep: &mut sweep,
                groups: Groups(&mut groups),
            };
            dispatch::<P, _>(isa, backward);
            loss += sweep.squares().iter().map(|&s| f64::from(s)).sum::<f64>();
            for group in groups {
                sum.iter_mut().zip(group).for_each(|(sum, d)| *sum += d);
            }
        }
        (loss * f64::from(WEIGHT), sum)
    }
}

/// Puts windows into lanes.
fn load<P: Lanes>(sweep: &mut Sweep<P>, windows: &[[Vec<f32>; 3]]) {
    sweep.weight.lanes_mut().fill(2.0 * WEIGHT);
    for (lane, [x, s, v]) in windows.iter().enumerate() {
        for (place, &x) in x.iter().enumerate() {
            sweep.x[place].lanes_mut()[lane] = if x.is_nan() { 0.0 } else { x };
            if let Some(there) = sweep.mask.get_mut(place) {
                there.lanes_mut()[lane] = if x.is_nan() { 0.0 } else { 1.0 };
            }
        }
        for (to, &s) in sweep.s.iter_mut().zip(s) {
            to.lanes_mut()[lane] = s;
        }
        let (y, w) = sweep.first_state();
        for (to, &v) in y.iter_mut().chain(w).zip(v) {
            to.lanes_mut()[lane] = v;
        }
    }
}

fn lanes_are_plain<L: LaneCell>(cell: L::Exact) {
    for (share, alpha) in [(1.0, 1.0), (1.0, 0.4), (1.0, 0.0), (0.7, 1.0), (0.7, 0.4)] {
        let sample = Sample::new(cell.clone(), 9, 5, share);
        let feed = if share < 1.0 || alpha < 1.0 {
            Feed::Mixed {
                alpha: alpha as f32,
            }
        } else {
            Feed::Data
        };
        let (loss, dtheta) = sample.plain(alpha);
        let largest = dtheta.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
        let mut fused = Vec::new();
        for isa in Isa::available() {
            let (found, found_dtheta) = match isa {
                Isa::Avx512 => sample.lanes::<L, Lanes16>(isa, feed),
                _ => sample.lanes::<L, Lanes8>(isa, feed),
            };
            // Each number passes some hundred roundings of 6e-8 on its way through ten steps.
            assert!((found - loss).abs() < 1e-5 * loss, "{found} against {loss}");
            for (i, (found, known)) in found_dtheta.iter().zip(&dtheta).enumerate() {
                let error = (f64::from(*found) - known).abs();
                assert!(
                    error < 2e-5 * largest,
                    "{isa:?}, α {alpha}, entry {i}: {found} against {known}"
                );
            }
            if isa != Isa::Baseline {
                fused.push(found_dtheta);
            }
        }
        assert!(fused.windows(2).all(|two| two[0] == two[1]), "bits differ");
    }
}

#[test]
fn an_lstm_on_lanes_is_the_plain_one() {
    for (hidden, channels, inputs) in [(15, 3, 0), (6, 9, 2), (1, 1, 0)] {
        lanes_are_plain::<LstmLanes>(Lstm::new(CellSizes {
            hidden,
            channels,
            inputs,
        }));
    }
}

#[test]
fn a_lem_on_lanes_is_the_plain_one() {
    for (hidden, channels, inputs) in [(7, 3, 0), (6, 9, 2), (1, 1, 0)] {
        let sizes = CellSizes {
            hidden,
            channels,
            inputs,
        };
        lanes_are_plain::<LemLanes>(Lem::new(sizes, 0.8));
    }
}
