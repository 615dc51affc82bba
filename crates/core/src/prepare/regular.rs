//! Rows at any times on a grid, by straight lines between neighbours:
//!
//! ```text
//! y_k = x_i + (x_{i+1} − x_i) (t_0 + k Δt − t_i)/(t_{i+1} − t_i),   t_i ≤ t_0 + k Δt ≤ t_{i+1}
//! ```
//!
//! A pause of more than ten usual steps, and of more than ten Δt, is not bridged but a gap. A value between two of which one is missing
//! is missing. A Δt much longer than the usual step folds what is fast into what is slow: resample finely, then take a lower
//! rate with [`super::resample`], which does not.

use crate::series::{Gap, Trajectory};

/// Usual steps, and steps of the grid, that a pause must exceed.
const PAUSE: f64 = 10.0;

/// Rows that a grid may have, at most, for each row there was.
pub(super) const MOST: f64 = 1000.0;

/// How near to a row, in steps of the grid, a point of the grid counts as that row.
const NEAR: f64 = 1e-6;

/// Rows of `n` channels and `k` inputs at their times, which ascend, on a grid of step `dt` that begins with the first; nothing if the
/// grid would have far more rows than there were.
pub fn regular(t: &[f64], rows: &Trajectory, [n, k]: [usize; 2], dt: f64) -> Option<Trajectory> {
    let (&first, &last) = (t.first()?, t.last()?);
    let steps = (last - first) / dt;
    if steps > MOST * t.len() as f64 {
        return None;
    }
    let pause = PAUSE * usual_step(t).unwrap_or(0.0).max(dt);
    let mut made = Trajectory {
        start: first,
        x: Vec::new(),
        s: Vec::new(),
        gaps: Vec::new(),
        ..rows.clone()
    };
    let (mut i, mut before) = (0, None);
    for point in 0..=(steps + NEAR).floor() as usize {
        let time = first + point as f64 * dt;
        while i + 1 < t.len() && t[i + 1] <= time + NEAR * dt {
            i += 1;
        }
        let weight = match t.get(i + 1) {
            _ if time - t[i] <= NEAR * dt => 0.0,
            Some(next) if next - t[i] <= pause => (time - t[i]) / (next - t[i]),
            _ => continue,
        };
        if before.is_some_and(|before| point > before + 1) {
            let row = made.x.len() / n;
            made.gaps.push(Gap { row, time });
        }
        before = Some(point);
        made.x.extend(between(&rows.x, n, i, weight));
        made.s.extend(between(&rows.s, k, i, weight));
    }
    Some(made)
}

/// The median step.
fn usual_step(t: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = t.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = steps.len() / 2;
    (!steps.is_empty()).then(|| *steps.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// A row between row `i` and the next; the row itself for no weight.
pub(super) fn between(
    x: &[f64],
    n: usize,
    i: usize,
    weight: f64,
) -> impl Iterator<Item = f64> + '_ {
    (i * n..(i + 1) * n).map(move |at| match weight {
        0.0 => x[at],
        weight => x[at] * (1.0 - weight) + x[at + n] * weight,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_what_is_on_the_grid_stays_as_it_is() {
        let t = [0.0, 0.9, 2.1, 3.0, 4.4, 5.0];
        let line = |t: &f64| [2.0 * t - 1.0, -t];
        let rows = Trajectory::new(t.iter().flat_map(line).collect());
        let made = regular(&t, &rows, [2, 0], 0.5).unwrap();
        assert_eq!((made.x.len(), made.gaps.len()), (22, 0));
        for (k, row) in made.x.chunks(2).enumerate() {
            // Values up to 9, rounded a few times.
            let [x, y] = line(&(0.5 * k as f64));
            assert!((row[0] - x).abs() < 1e-14 && (row[1] - y).abs() < 1e-14);
        }
        let noise: Vec<f64> = (0..50).map(|t| f64::from(t * t % 7)).collect();
        let uniform: Vec<f64> = (0..50).map(|t| 3.0 + 0.1 * f64::from(t)).collect();
        let made = regular(&uniform, &Trajectory::new(noise.clone()), [1, 0], 0.1).unwrap();
        assert_eq!((made.x, made.start), (noise, 3.0));
    }

    #[test]
    fn pauses_are_gaps_and_missing_values_spread_to_their_neighbours() {
        let mut t: Vec<f64> = (0..20).map(f64::from).collect();
        t.extend((40..50).map(f64::from));
        let mut x = vec![1.0; 30];
        x[5] = f64::NAN;
        let made = regular(&t, &Trajectory::new(x), [1, 0], 0.5).unwrap();
        let gap = Gap {
            row: 39,
            time: 40.0,
        };
        assert_eq!((made.gaps, made.x.len()), (vec![gap], 39 + 19));
        assert_eq!(made.x.iter().filter(|v| v.is_nan()).count(), 3);
    }

    #[test]
    fn a_grid_that_is_far_too_fine_is_none() {
        let rows = Trajectory::new(vec![0.0, 1.0]);
        assert_eq!(regular(&[0.0, 1e9], &rows, [1, 0], 1.0), None);
        assert!(regular(&[0.0], &Trajectory::new(vec![7.0]), [1, 0], 1.0).is_some());
    }
}
