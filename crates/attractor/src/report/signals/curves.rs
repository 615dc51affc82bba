//! Spectra and histograms of every channel, of the data beside the orbit, and the delay that unfolds a channel:
//!
//! - the smoothed spectrum of [`smoothed`], averaged over up to 160 bands of frequency that grow in proportion;
//! - the share of rows in 48 bins over the range of the data and a tenth of it on either side;
//! - the first minimum of the mutual information, as `attractor embed` has it.

use attractor_core::embed::columns::Columns;
use attractor_core::embed::{EmbedError, first_delay};
use attractor_core::measure::spectrum::smoothed;
use attractor_core::measure::{Rows, is_point};
use serde_json::{Value, json};

use crate::report::numbers::{list, rounded};

const BANDS: usize = 160;
const BINS: usize = 48;

/// Spectra below this many rows say nothing.
const FEWEST: usize = 64;

/// The spectra of data and orbit at common frequencies, per unit of time; null where both are too short. An orbit that has shrunk to a point has none.
pub(super) fn spectra(truth: &[f64], orbit: &[f64], dim: usize, dt: f64) -> Value {
    let present = [truth, orbit]
        .into_iter()
        .filter(|side| side.len() / dim >= FEWEST);
    let Some(rows) = present.map(|side| side.len() / dim).min() else {
        return Value::Null;
    };
    let bands = bands(rows / 2 + 1);
    let middle = |band: &std::ops::Range<usize>| (band.start + band.end - 1) as f64 / 2.0;
    let side = |values: &[f64]| -> Value {
        if values.len() / dim < FEWEST {
            return Value::Null;
        }
        let spectra = smoothed(Rows::new(&values[..rows * dim], dim));
        let averaged = |f: &Vec<f64>| {
            list((bands.iter()).map(|band| f[band.clone()].iter().sum::<f64>() / band.len() as f64))
        };
        spectra.iter().map(averaged).collect()
    };
    let is_point = match truth {
        [] => rests(orbit, dim),
        truth => rows > 0 && is_point(Rows::new(orbit, dim), Rows::new(truth, dim)),
    };
    if truth.is_empty() && is_point {
        return Value::Null;
    }
    json!({
        "frequency": list(bands.iter().map(|band| middle(band) / (rows as f64 * dt))),
        "truth": side(truth),
        "generated": if is_point { Value::Null } else { side(orbit) },
    })
}

/// Whether an orbit beside which there are no data varies by rounding alone.
fn rests(orbit: &[f64], dim: usize) -> bool {
    let size = orbit.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut pairs = orbit.chunks_exact(dim).zip(orbit.chunks_exact(dim).skip(1));
    pairs.all(|(z, next)| {
        z.iter()
            .zip(next)
            .all(|(a, b)| (a - b).abs() <= 1e-6 * size)
    })
}

/// Ranges of 1..modes whose ends grow in proportion, none of them empty.
fn bands(modes: usize) -> Vec<std::ops::Range<usize>> {
    let last = modes as f64;
    let end = |i: usize| last.powf(i as f64 / BANDS as f64).round() as usize;
    let ends = (0..=BANDS).map(end);
    let mut ends: Vec<usize> = ends.map(|e| e.clamp(1, modes)).collect();
    ends.dedup();
    ends.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The histograms of every channel.
pub(super) fn histograms(truth: &[f64], orbit: &[f64], dim: usize) -> Value {
    let reference = if truth.is_empty() { orbit } else { truth };
    let channel = |i: usize| -> Value {
        let column = |values: &[f64]| {
            values
                .iter()
                .copied()
                .skip(i)
                .step_by(dim)
                .collect::<Vec<_>>()
        };
        let of_range = column(reference);
        let low = of_range.iter().copied().fold(f64::INFINITY, f64::min);
        let high = of_range.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = if high > low { 0.1 * (high - low) } else { 0.5 };
        let (low, high) = (low - margin, high + margin);
        json!({
            "low": rounded(low),
            "high": rounded(high),
            "truth": list(shares(&column(truth), low, high)),
            "generated": list(shares(&column(orbit), low, high)),
        })
    };
    (0..dim).map(channel).collect()
}

/// The share of values in each bin, of all values; empty without any.
fn shares(values: &[f64], low: f64, high: f64) -> Vec<f64> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut counts = vec![0.0; BINS];
    for v in values {
        let place = (v - low) / (high - low) * BINS as f64;
        if place >= 0.0 && place < BINS as f64 {
            counts[place as usize] += 1.0 / values.len() as f64;
        }
    }
    counts
}

/// The longest delay that is tried.
const LONGEST: usize = 200;

/// Rows between delay coordinates of a column; one where it is too short to tell.
pub(super) fn delay(column: &[f64]) -> usize {
    let lags = (column.len() / 20).min(LONGEST);
    let found = Columns::new(Rows::new(column, 1)).and_then(|c| first_delay(&c, 0, lags));
    match found {
        Ok(lag) => lag,
        Err(EmbedError::NoMinimum { .. }) => lags,
        Err(_) => 1,
    }
    .max(1)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use attractor_core::system::simulate::{Request, Simulation};

    use super::*;

    #[test]
    fn bands_cover_all_frequencies_but_zero_once() {
        for modes in [2, 33, 1000, 10_001] {
            let all: Vec<usize> = bands(modes).into_iter().flatten().collect();
            assert_eq!(all, (1..modes).collect::<Vec<_>>());
        }
    }

    /// A tone of period 50 rows of 0.1 has its peak at 0.2 per unit of time, within the width of a band.
    #[test]
    fn a_tone_has_its_frequency() {
        let tone: Vec<f64> = (0..4000)
            .map(|t| (TAU * f64::from(t) / 50.0).sin())
            .collect();
        let found = spectra(&tone, &[], 1, 0.1);
        let power = found["truth"][0].as_array().unwrap();
        let power: Vec<f64> = power.iter().map(|v| v.as_f64().unwrap()).collect();
        let peak = (0..power.len())
            .max_by(|&i, &j| power[i].total_cmp(&power[j]))
            .unwrap();
        let frequency = found["frequency"][peak].as_f64().unwrap();
        // Bands near mode 80 of 2000 are 2000^(1/160) = 1.05 times as wide as the one before.
        assert!((frequency / 0.2 - 1.0).abs() < 0.05, "{frequency}");
        assert!(found["generated"].is_null());
    }

    /// What is left of an orbit at rest is rounding; an orbit of a hundredth of the data's size still has a spectrum.
    #[test]
    fn an_orbit_at_rest_has_no_spectrum() {
        let tone = |size: f64| -> Vec<f64> {
            let rows = 0..400;
            rows.map(|t| size * (TAU * f64::from(t) / 50.0).sin())
                .collect()
        };
        let of = |size: f64| spectra(&tone(1.0), &tone(size), 1, 0.1)["generated"].is_null();
        assert_eq!([1e-15, 1e-2].map(of), [true, false]);
    }

    #[test]
    fn a_histogram_counts_every_value_in_range_once() {
        let values = [0.0, 0.5, 1.0, 1.0];
        let found = histograms(&values, &[0.5, 99.0], 1);
        let sum = |side: &str| -> f64 {
            let shares = found[0][side].as_array().unwrap().iter();
            shares.map(|v| v.as_f64().unwrap()).sum()
        };
        assert_eq!((sum("truth"), sum("generated")), (1.0, 0.5));
        assert_eq!(
            (&found[0]["low"], &found[0]["high"]),
            (&json!(-0.1), &json!(1.1))
        );
    }

    /// The first minimum of the mutual information of x of Lorenz-63 is at a time of 0.16 to 0.18 in the literature: 16
    /// to 18 rows of 0.01; a few thousand rows move it by a row or two.
    #[test]
    fn the_delay_of_lorenz_is_the_known_one() {
        let request = Request::new("lorenz63", 5000);
        let series = Simulation::check(&request).unwrap().run().unwrap().series;
        let x: Vec<f64> = series.column(0).collect();
        let found = delay(&x);
        assert!((14..=20).contains(&found), "{found}");
        assert_eq!(delay(&x[..10]), 1);
        assert_eq!(delay(&[]), 1);
    }
}
