//! Rows at any times on a grid, each at the point nearest to its time,
//!
//! ```text
//! k_i = round((t_i − t_0)/Δt),   |t_0 + k_i Δt − t_i| ≤ Δt/2
//! ```
//!
//! with missing values at the points between: for models that take in which values are missing. External inputs, which such a model
//! needs at every point, are on straight lines between those of the rows.

use super::regular::{MOST, between};
use crate::series::Trajectory;

/// Why rows have no place on a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffGrid {
    /// The grid would have far more points than there are rows.
    Fine,
    /// This row, from 0, falls on the same point as the one before it.
    Coarse(usize),
}

/// Rows of `n` channels and `k` inputs at their times, which ascend, on a grid of step `dt` that begins with the first; gaps are bridged.
pub fn on_grid(
    t: &[f64],
    rows: &Trajectory,
    [n, k]: [usize; 2],
    dt: f64,
) -> Result<Trajectory, OffGrid> {
    let (Some(&first), Some(&last)) = (t.first(), t.last()) else {
        return Ok(rows.clone());
    };
    let steps = ((last - first) / dt).round();
    if steps > MOST * t.len() as f64 {
        return Err(OffGrid::Fine);
    }
    let points: Vec<usize> = t
        .iter()
        .map(|t| ((t - first) / dt).round() as usize)
        .collect();
    if let Some(before) = points.windows(2).position(|pair| pair[0] == pair[1]) {
        return Err(OffGrid::Coarse(before + 1));
    }
    let mut made = Trajectory {
        start: first,
        x: vec![f64::NAN; (steps as usize + 1) * n],
        s: Vec::with_capacity((steps as usize + 1) * k),
        gaps: Vec::new(),
        ..rows.clone()
    };
    for (i, &point) in points.iter().enumerate() {
        made.x[point * n..][..n].copy_from_slice(&rows.x[i * n..][..n]);
        let next = points.get(i + 1).copied().unwrap_or(point + 1);
        for inner in 0..next - point {
            let weight = inner as f64 / (next - point) as f64;
            made.s.extend(between(&rows.s, k, i, weight));
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Gap;

    #[test]
    fn rows_stand_at_the_nearest_points_and_inputs_on_lines_between() {
        let t = [2.0, 2.24, 2.6, 3.51];
        let rows = Trajectory {
            s: vec![0.0, 1.0, 3.0, -1.0],
            gaps: vec![Gap { row: 3, time: 3.51 }],
            ..Trajectory::new(vec![1.0, 2.0, f64::NAN, 4.0])
        };
        let made = on_grid(&t, &rows, [1, 1], 0.25).unwrap();
        // Points 0, 0.96 → 1, 2.4 → 2 and 6.04 → 6.
        let shown: Vec<Option<f64>> = made.x.iter().map(|v| (!v.is_nan()).then_some(*v)).collect();
        assert_eq!(
            shown,
            [Some(1.0), Some(2.0), None, None, None, None, Some(4.0)]
        );
        assert_eq!(made.s, [0.0, 1.0, 3.0, 2.0, 1.0, 0.0, -1.0]);
        assert_eq!((made.start, made.gaps.len()), (2.0, 0));
    }

    #[test]
    fn grids_that_are_too_coarse_or_far_too_fine_are_refused() {
        let rows = Trajectory::new(vec![0.0; 3]);
        let place = |dt| on_grid(&[0.0, 0.9, 1.1], &rows, [1, 0], dt);
        assert_eq!(place(1.0), Err(OffGrid::Coarse(2)));
        assert_eq!(place(1e-9), Err(OffGrid::Fine));
        assert!(place(0.1).is_ok());
    }
}
