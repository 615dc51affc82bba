//! Kruskal and Wallis' test whether groups come from one distribution (1952). With mid-ranks over all n values and R_g
//! the sum of ranks of group g,
//!
//! ```text
//! H = [12/(n(n+1)) Σ_g R_g²/n_g − 3(n+1)] / [1 − Σ(t³ − t)/(n³ − n)]
//! ```
//!
//! over the sizes t of ties; p is the probability that χ² with one degree of freedom less than there are groups is
//! larger than H.

use std::f64::consts::PI;

/// The test's statistic and probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// H, corrected for ties; 0 if all values are equal.
    pub h: f64,
    /// The probability of an H as large if the groups do not differ.
    pub p: f64,
}

/// The test on at least two groups, none of them empty, of finite values; else none.
pub fn kruskal_wallis(groups: &[&[f64]]) -> Option<KruskalWallis> {
    let usable = |group: &&[f64]| !group.is_empty() && group.iter().all(|v| v.is_finite());
    if groups.len() < 2 || !groups.iter().all(usable) {
        return None;
    }
    let (ranks, ties) = ranks(groups);
    let n = groups.iter().map(|group| group.len()).sum::<usize>() as f64;
    let sums = groups.iter().zip(&ranks);
    let squares: f64 = sums.map(|(group, r)| r * r / group.len() as f64).sum();
    let correction = 1.0 - ties / (n * n * n - n);
    let h = if correction > 0.0 {
        (12.0 / (n * (n + 1.0)) * squares - 3.0 * (n + 1.0)) / correction
    } else {
        0.0
    };
    let p = chi_squared_above(h, groups.len() - 1);
    Some(KruskalWallis { h, p })
}

/// The sum of mid-ranks of every group, and Σ(t³ − t) over ties.
fn ranks(groups: &[&[f64]]) -> (Vec<f64>, f64) {
    let of_group = |(g, group): (usize, &&[f64])| group.iter().map(move |&v| (v, g)).collect();
    let all: Vec<Vec<(f64, usize)>> = groups.iter().enumerate().map(of_group).collect();
    let mut all = all.concat();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sums, mut ties, mut before) = (vec![0.0; groups.len()], 0.0, 0.0);
    for tie in all.chunk_by(|a, b| a.0 == b.0) {
        let t = tie.len() as f64;
        tie.iter()
            .for_each(|&(_, g)| sums[g] += before + (t + 1.0) / 2.0);
        ties += t * t * t - t;
        before += t;
    }
    (sums, ties)
}

/// P(χ²_k > x) = Q(k/2, x/2).
pub fn chi_squared_above(x: f64, degrees: usize) -> f64 {
    let (a, x) = (degrees as f64 / 2.0, x / 2.0);
    if x <= 0.0 {
        return 1.0;
    }
    // x^a e^(−x) / Γ(a).
    let front = (a * x.ln() - x - ln_gamma_of_half(degrees)).exp();
    if x < a + 1.0 {
        1.0 - front * series(a, x)
    } else {
        front * fraction(a, x)
    }
}

/// ln Γ(k/2), from Γ(1/2) = √π or Γ(1) = 1 by Γ(a + 1) = a Γ(a).
fn ln_gamma_of_half(k: usize) -> f64 {
    let (start, first) = if k.is_multiple_of(2) {
        (2, 0.0)
    } else {
        (1, 0.5 * PI.ln())
    };
    let factors = (start..k).step_by(2).map(|j| (j as f64 / 2.0).ln());
    first + factors.sum::<f64>()
}

/// Σ_n x^n / (a (a+1) … (a+n)).
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, 1.0);
    while term > sum * f64::EPSILON {
        term *= x / (a + n);
        sum += term;
        n += 1.0;
    }
    sum
}

/// 1/(x + 1 − a − 1(1 − a)/(x + 3 − a − 2(2 − a)/(x + 5 − a − …))), by Lentz' method.
fn fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut value = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let an = i * (a - i);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        value *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_computed_groups() {
        let test = kruskal_wallis(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]]).unwrap();
        // Rank sums 6, 15, 24: 12/90 · 279 − 30 = 7.2, and for three groups p = exp(−H/2). Rounding of a few operations.
        assert!((test.h - 7.2).abs() < 1e-12 && (test.p - (-3.6f64).exp()).abs() < 1e-14);
        let equal = kruskal_wallis(&[&[1.0, 2.0], &[1.0, 2.0], &[2.0, 1.0]]).unwrap();
        assert!(equal.h.abs() < 1e-12 && (equal.p - 1.0).abs() < 1e-12);
        let constant = kruskal_wallis(&[&[5.0, 5.0], &[5.0]]).unwrap();
        assert_eq!((constant.h, constant.p), (0.0, 1.0));
    }

    #[test]
    fn bad_groups_have_no_test() {
        assert_eq!(kruskal_wallis(&[&[1.0]]), None);
        assert_eq!(kruskal_wallis(&[&[1.0], &[]]), None);
        assert_eq!(kruskal_wallis(&[&[1.0], &[f64::NAN]]), None);
    }

    /// Closed forms: two degrees of freedom exp(−x/2), four (1 + x/2) exp(−x/2).
    #[test]
    fn chi_squared_has_its_closed_forms() {
        for x in [0.01f64, 0.5, 1.9, 2.1, 7.0, 30.0, 300.0] {
            let half = 0.5 * x;
            let expected = [(2, (-half).exp()), (4, (1.0 + half) * (-half).exp())];
            for (degrees, expected) in expected {
                let found = chi_squared_above(x, degrees);
                // Some hundred roundings of sums near one, or relative to the value in the tail.
                assert!(
                    (found / expected - 1.0).abs() < 1e-12,
                    "{x} {degrees}: {found}"
                );
            }
        }
    }
}
