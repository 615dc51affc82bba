//! Numbers that stand for what is missing, such as −999, as missing values.
//!
//! A number counts as such if it is equal to within a millionth: data that were stored in single precision have −99.989998 for
//! −99.99.

use crate::series::{Series, SeriesError};

/// How far off a value may be, relative to what it should be.
const OFF: f64 = 1e-6;

/// Whether a value is one of those that stand for what is missing.
pub fn stands_for_missing(value: f64, missing: &[f64]) -> bool {
    let mut missing = missing.iter();
    missing.any(|m| (value - m).abs() <= OFF * m.abs())
}

/// The series without values that are one of `missing`, among observations and inputs.
pub fn without(series: &Series, missing: &[f64]) -> Result<Series, SeriesError> {
    let mut cleared = series.trajectories().to_vec();
    for t in &mut cleared {
        for v in t.x.iter_mut().chain(&mut t.s) {
            if stands_for_missing(*v, missing) {
                *v = f64::NAN;
            }
        }
    }
    series.with(cleared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_missing_values_is_missing() {
        let x = vec![1.0, -99.99, f64::from(-99.99f32), -99.98, 0.0, -999.0];
        let series = Series::from_rows(x, 1, 1.0).unwrap();
        let cleared = without(&series, &[-99.99, -999.0, 0.0]).unwrap();
        let kept: Vec<bool> = cleared.column(0).map(|v| !v.is_nan()).collect();
        assert_eq!(kept, [true, false, false, true, false, false]);
        assert!(without(&series, &[]).unwrap() == series);
    }
}
