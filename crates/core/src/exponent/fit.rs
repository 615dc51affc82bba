//! Where a curve S(k) is straight, and its slope there.
//!
//! Of all regions a … b the one with the largest rise is taken whose points lie within a tolerance of their line, in root mean
//! square and in parts of the rise. The tolerance grows from 0.5 % to 2 % until such a region has half of the curve's whole
//! rise, then to 4 % for a third of it: short pieces of any curve are straight. Else there is no straight region.
//!
//! These measures are relative, and by them a level curve has a region too. So a region also rises by at least ln 2, since λ is
//! how fast distances double, and spans at least one delay: between two of the values that neighbours were chosen by, their
//! distance bulges.

use std::f64::consts::LN_2;
use std::ops::RangeInclusive;

/// A line through a region of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The region, in steps.
    pub region: RangeInclusive<usize>,
    /// Slope per step.
    pub slope: f64,
    /// Where the line is at step 0.
    pub intercept: f64,
    /// Root mean square distance of the points from the line.
    pub residual: f64,
}

/// Tolerances in parts of the rise, each with the least share of the whole rise that a region must have.
const ATTEMPTS: [(f64, f64); 4] = [(0.005, 0.5), (0.01, 0.5), (0.02, 0.5), (0.04, 1.0 / 3.0)];

/// Fewest steps of a region, also where a delay is shorter.
const SHORTEST: usize = 4;

/// The least rise of a region: distances double.
const LEAST_RISE: f64 = LN_2;

/// Regions begin and end at so many places, at most.
const PLACES: usize = 400;

impl Fit {
    fn rise(&self) -> f64 {
        self.slope * (self.region.end() - self.region.start()) as f64
    }
}

/// The straight region of a curve of vectors with a delay; none if there is no such.
pub(super) fn straight_region(curve: &[f64], delay: usize) -> Option<Fit> {
    let sums = Sums::new(curve)?;
    let whole = curve.iter().copied().fold(f64::MIN, f64::max) - curve[0];
    let shortest = delay.max(SHORTEST);
    let stride = curve.len().div_ceil(PLACES);
    let places = || (0..curve.len()).step_by(stride);
    let regions = places().flat_map(|a| {
        places()
            .filter(move |b| *b >= a + shortest)
            .map(move |b| a..=b)
    });
    let lines: Vec<Fit> = regions
        .map(|region| sums.line(region))
        .filter(|line| line.rise() >= LEAST_RISE)
        .collect();
    let longest = |(tolerance, share): (f64, f64)| {
        let straight = lines.iter().filter(|line| {
            line.residual <= tolerance * line.rise() && line.rise() >= share * whole
        });
        straight
            .max_by(|a, b| a.rise().total_cmp(&b.rise()))
            .cloned()
    };
    ATTEMPTS.into_iter().find_map(longest)
}

/// The line through a given region; none if the curve has no value in it, or does not reach so far.
pub(super) fn line(curve: &[f64], region: RangeInclusive<usize>) -> Option<Fit> {
    let within = curve.get(region.clone())?;
    Sums::new(within)?;
    let shifted = Sums::new(within)?.line(0..=within.len() - 1);
    Some(Fit {
        intercept: shifted.intercept - shifted.slope * *region.start() as f64,
        region,
        ..shifted
    })
}

/// Sums up to every place, from which the line of any region follows.
struct Sums {
    /// Σ y, Σ k y, Σ y² before each place.
    before: Vec<[f64; 3]>,
}

impl Sums {
    /// Of a curve of at least two numbers.
    fn new(curve: &[f64]) -> Option<Sums> {
        if curve.len() < 2 || curve.iter().any(|y| !y.is_finite()) {
            return None;
        }
        let mut sum = [0.0; 3];
        let mut before = vec![sum];
        for (k, y) in curve.iter().enumerate() {
            let added = [*y, k as f64 * y, y * y];
            sum.iter_mut().zip(added).for_each(|(sum, v)| *sum += v);
            before.push(sum);
        }
        Some(Sums { before })
    }

    /// Least squares over a region.
    fn line(&self, region: RangeInclusive<usize>) -> Fit {
        let (a, b) = (*region.start(), *region.end());
        let n = (b - a + 1) as f64;
        let mean = |i: usize| (self.before[b + 1][i] - self.before[a][i]) / n;
        let (mean_k, mean_y) = ((a + b) as f64 / 2.0, mean(0));
        let variance = (n * n - 1.0) / 12.0;
        let covariance = mean(1) - mean_k * mean_y;
        let slope = covariance / variance;
        let left = mean(2) - mean_y * mean_y - slope * covariance;
        Fit {
            region,
            slope,
            intercept: mean_y - slope * mean_k,
            residual: left.max(0.0).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_straight_part_between_bends_is_found() {
        // A fast start, a line of slope 0.3 from 5 to 40, a level end.
        let curve: Vec<f64> = (0..80)
            .map(|k| match k {
                0..5 => f64::from(k) * 0.6,
                5..40 => 3.0 + 0.3 * f64::from(k - 5),
                _ => 13.5,
            })
            .collect();
        let fit = straight_region(&curve, 1).unwrap();
        // Bends of one step at either end stay within the tolerance of 0.5 % of a rise of 11.
        assert!((fit.slope - 0.3).abs() < 0.003, "{fit:?}");
        assert!(fit.region.start().abs_diff(5) <= 1 && fit.region.end().abs_diff(40) <= 2);
        assert!((fit.intercept - 1.5).abs() < 0.05);
    }

    #[test]
    fn a_given_region_has_the_line_of_least_squares() {
        let curve = [7.0, 1.0, 2.0, 4.0, 4.0, 9.0];
        let fit = line(&curve, 1..=4).unwrap();
        // By hand: means 2.5 and 2.75, Σ(k−2.5)(y−2.75) = 5.5, Σ(k−2.5)² = 5.
        assert!((fit.slope - 1.1).abs() < 1e-14 && fit.intercept.abs() < 1e-14);
        let squares = [0.1f64, 0.2, 0.7, 0.4].map(|r| r * r);
        let residual = (squares.iter().sum::<f64>() / 4.0).sqrt();
        assert!((fit.residual - residual).abs() < 1e-14);
        assert_eq!(line(&curve, 2..=6), None);
    }

    #[test]
    fn curves_without_a_straight_rise_have_no_region() {
        assert_eq!(straight_region(&[1.0; 60], 1), None);
        // A step is either level or a jump.
        let step: Vec<f64> = (0..60).map(|k| if k < 30 { 0.0 } else { 5.0 }).collect();
        assert_eq!(straight_region(&step, 1), None);
        assert_eq!(straight_region(&[f64::NAN; 60], 1), None);
        assert_eq!(straight_region(&[], 1), None);
    }

    #[test]
    fn a_rise_below_a_doubling_or_within_a_delay_is_none() {
        // A straight rise over 20 steps, then level.
        let rising = |rise: f64| -> Vec<f64> {
            (0..60)
                .map(|k| rise * f64::from(k.min(20)) / 20.0)
                .collect()
        };
        // A tenth less: within its tolerance a line may pass the bend, and be that little steeper at its end.
        assert_eq!(straight_region(&rising(0.9 * LN_2), 1), None);
        let fit = straight_region(&rising(1.01 * LN_2), 20).unwrap();
        assert!(
            (fit.slope / (1.01 * LN_2 / 20.0) - 1.0).abs() < 0.02,
            "{fit:?}"
        );
        assert_eq!(straight_region(&rising(3.0), 30), None);
    }
}
