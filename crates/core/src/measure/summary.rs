//! Summary statistics over runs: median, MAD = median |x − median| (without the factor 1.4826), mean, standard deviation
//! (n − 1), standard error s.d./√n, and how many runs were left out. A run with one score that is not a number is left out
//! of all (Hess et al. 2023); a median without their number hides them.

use crate::series::mean_and_sd;

/// One measure over the runs that have all scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Runs that count.
    pub count: usize,
    /// Runs left out.
    pub dropped: usize,
    /// Median; the mean of the middle two of an even number. NaN, as all that follows, if no run counts.
    pub median: f64,
    /// Median distance from the median.
    pub mad: f64,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1); NaN of one run.
    pub sd: f64,
    /// Standard error of the mean.
    pub sem: f64,
}

/// A summary of every measure; `runs` has one row per run, with the same measures in the same order.
pub fn summaries(runs: &[Vec<f64>]) -> Vec<Summary> {
    let complete = |run: &&Vec<f64>| run.iter().all(|v| v.is_finite());
    let kept: Vec<&Vec<f64>> = runs.iter().filter(complete).collect();
    let measures = runs.first().map_or(0, Vec::len);
    (0..measures)
        .map(|i| {
            let values: Vec<f64> = kept.iter().map(|run| run[i]).collect();
            summary(values, runs.len() - kept.len())
        })
        .collect()
}

fn summary(mut values: Vec<f64>, dropped: usize) -> Summary {
    let count = values.len();
    let (mean, sd) = match count {
        0 => (f64::NAN, f64::NAN),
        1 => (values[0], f64::NAN),
        _ => mean_and_sd(values.iter().copied()),
    };
    let median = median(&mut values);
    let mut distances: Vec<f64> = values.iter().map(|x| (x - median).abs()).collect();
    Summary {
        count,
        dropped,
        median,
        mad: self::median(&mut distances),
        mean,
        sd,
        sem: sd / (count as f64).sqrt(),
    }
}

/// The median, the mean of the middle two of an even number; sorts the values. NaN of none.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n.is_multiple_of(2) => 0.5 * (values[middle - 1] + values[middle]),
        _ => values[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_follow_their_formulas() {
        let runs = [[1.0, 7.0], [2.0, 7.0], [4.0, 7.0], [9.0, 7.0]].map(Vec::from);
        let [first, second] = summaries(&runs)[..] else {
            panic!("two measures")
        };
        // Distances from the median 3 are 2, 1, 1, 6: the middle two are 1 and 2. Squares from the mean 4: 9+4+0+25.
        assert_eq!((first.median, first.mad, first.mean), (3.0, 1.5, 4.0));
        assert_eq!(first.sd, (38.0f64 / 3.0).sqrt());
        assert_eq!(first.sem, first.sd / 2.0);
        assert_eq!((second.median, second.mad, second.sd), (7.0, 0.0, 0.0));
    }

    #[test]
    fn a_run_with_one_bad_score_is_left_out_of_all() {
        let runs = [[1.0, f64::NAN], [2.0, 3.0], [f64::INFINITY, 1.0]].map(Vec::from);
        for summary in summaries(&runs) {
            assert_eq!((summary.count, summary.dropped), (1, 2));
            assert!(summary.sd.is_nan());
        }
        assert_eq!(summaries(&runs)[0].median, 2.0);
        let none = summaries(&runs[..1])[0];
        assert!(none.median.is_nan() && none.dropped == 1);
        assert!(summaries(&[]).is_empty());
    }
}
