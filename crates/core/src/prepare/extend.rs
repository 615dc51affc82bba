//! Signals beyond their ends: mirrored, x_{−k} = x_k, or turned about the end, x_{−k} = 2 x_0 − x_k. Neither repeats the
//! last row.

/// A signal with `more` mirrored values at either end, back and forth if it is shorter.
pub(super) fn mirrored(x: &[f64], more: usize) -> Vec<f64> {
    let last = x.len() as isize - 1;
    let place = |t: isize| {
        let period = (2 * last).max(1);
        let t = t.rem_euclid(period);
        t.min(period - t).min(last).unsigned_abs()
    };
    let more = more as isize;
    (-more..=last + more).map(|t| x[place(t)]).collect()
}

/// A signal with `more` values at either end, turned about it; value and slope go on.
///
/// # Panics
/// If the signal is not longer than `more`.
pub(super) fn turned(x: &[f64], more: usize) -> Vec<f64> {
    assert!(x.len() > more, "{} values reach no {more} further", x.len());
    let (first, last) = (x[0], x[x.len() - 1]);
    let before = x[1..=more].iter().rev().map(|v| 2.0 * first - v);
    let after = x[x.len() - 1 - more..x.len() - 1].iter().rev();
    let after = after.map(|v| 2.0 * last - v);
    before.chain(x.iter().copied()).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_go_on_beyond_their_ends() {
        let x = [1.0, 2.0, 4.0];
        assert_eq!(
            mirrored(&x, 3),
            [2.0, 4.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0]
        );
        assert_eq!(turned(&x, 2), [-2.0, 0.0, 1.0, 2.0, 4.0, 6.0, 7.0]);
        assert_eq!(mirrored(&[5.0], 2), [5.0; 5]);
    }
}
