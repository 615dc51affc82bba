//! Which of the evaluated rows were trained on: those in a stretch of at least 100 rows, or all rows of shorter data, that
//! the training data have as well, in the same order and without a gap.
//!
//! Rows are hashed as they are in single precision, so that a copy in f32 is known. A stretch of k rows has the hash
//! Σ h_i b^(k−i) mod 2⁶⁴ of its rows, which moves on by a row in one step.

use std::collections::HashSet;

use attractor_core::rows::Rows;
use attractor_core::series::Series;

/// Stretches that are shorter may be the same by chance, as where a sensor is stuck.
const LEAST: usize = 100;

/// b: odd, so that no row is lost.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The share of rows, with the channels of the training data in their order and in the same units, that were trained on.
pub(super) fn share(trained: &Series, rows: Rows<'_>) -> f64 {
    let n = trained.dim_obs();
    let rows = row_hashes(rows.values(), n);
    let stretches: Vec<Vec<u64>> = stretches(trained).map(|x| row_hashes(x, n)).collect();
    let longest = stretches.iter().map(Vec::len).max().unwrap_or(0);
    let k = LEAST.min(rows.len()).min(longest);
    let known: HashSet<u64> = stretches.iter().flat_map(|rows| rolled(rows, k)).collect();
    let (mut found, mut end) = (0, 0);
    for (start, hash) in rolled(&rows, k).into_iter().enumerate() {
        if known.contains(&hash) {
            found += start + k - end.max(start);
            end = start + k;
        }
    }
    found as f64 / rows.len() as f64
}

/// The rows of every stretch without a gap.
fn stretches(series: &Series) -> impl Iterator<Item = &[f64]> {
    let n = series.dim_obs();
    let trajectories = series.trajectories().iter().enumerate();
    trajectories.flat_map(move |(i, trajectory)| {
        let segments = series.segments(i).into_iter();
        segments.map(move |rows| &trajectory.x[rows.start * n..rows.end * n])
    })
}

fn row_hashes(x: &[f64], n: usize) -> Vec<u64> {
    let hash = |row: &[f64]| {
        row.iter().fold(BASE, |hash, &value| {
            // −0 is 0.
            let bits = (value as f32 + 0.0).to_bits();
            mixed(hash ^ u64::from(bits))
        })
    };
    x.chunks_exact(n).map(hash).collect()
}

/// Spreads every bit over all others (the finalizer of SplitMix64).
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The hash of every stretch of k rows; none if there are fewer.
fn rolled(rows: &[u64], k: usize) -> Vec<u64> {
    if k == 0 || rows.len() < k {
        return Vec::new();
    }
    let append = |hash: u64, row: u64| hash.wrapping_mul(BASE).wrapping_add(row);
    let power = (0..k).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let mut hash = rows[..k].iter().fold(0, |hash, &row| append(hash, row));
    let mut hashes = vec![hash];
    for (first, last) in rows.iter().zip(&rows[k..]) {
        hash = append(hash, *last).wrapping_sub(power.wrapping_mul(*first));
        hashes.push(hash);
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use attractor_core::series::{Gap, Trajectory};

    fn wave(rows: std::ops::Range<u32>) -> Vec<f64> {
        let row = |t: u32| [f64::from(t).sin(), (0.7 * f64::from(t)).cos()];
        rows.flat_map(row).collect()
    }

    fn shared(trained: Vec<f64>, x: Vec<f64>) -> f64 {
        let trained = Series::from_rows(trained, 2, 1.0).unwrap();
        share(&trained, Rows::new(&x, 2))
    }

    #[test]
    fn equal_contained_and_overlapping_rows_are_counted() {
        let trained = || wave(0..500);
        assert_eq!(shared(trained(), wave(0..500)), 1.0);
        assert_eq!(shared(trained(), wave(200..350)), 1.0);
        assert_eq!(shared(trained(), wave(500..900)), 0.0);
        // 100 of 400 rows at the end of the training data; all 500 of 2000.
        assert_eq!(shared(trained(), wave(400..800)), 0.25);
        assert_eq!(shared(wave(700..1200), wave(0..2000)), 0.25);
        // Single rows are shared by chance.
        assert_eq!(shared(trained(), wave(401..801)), 0.0);
    }

    #[test]
    fn short_data_count_as_a_whole_and_a_copy_in_single_precision_is_known() {
        assert_eq!(shared(wave(0..500), wave(30..60)), 1.0);
        assert_eq!(shared(wave(30..60), wave(0..300)), 0.1);
        let rounded = wave(0..150).into_iter().map(|v| f64::from(v as f32));
        assert_eq!(shared(wave(0..500), rounded.collect()), 1.0);
    }

    #[test]
    fn stretches_end_at_gaps() {
        let mut trajectory = Trajectory::new(wave(0..200));
        let (row, time) = (90, 1000.0);
        trajectory.gaps.push(Gap { row, time });
        let blank = Series::from_rows(wave(0..1), 2, 1.0).unwrap();
        let trained = blank.with(vec![trajectory]).unwrap();
        // Rows 90 to 199 are one stretch; the 90 before are too few.
        assert_eq!(share(&trained, Rows::new(&wave(0..200), 2)), 0.55);
    }
}
