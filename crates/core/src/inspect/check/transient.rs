//! A start away from the attractor. The distance of a row to the nearest other row in time beyond the memory of the
//! system, in spreads,
//!
//!   d(t) = min { ‖(x_t − x_u)/s‖ : |t − u| > w },
//!
//! is compared with that of 100 rows drawn evenly from the rest. A first row 1.5 times farther out than the farthest
//! of them is not where the system lives; the first row that is within marks the transient's end.

use super::super::{Record, Seen, Severity};
use crate::text::{count, figure};

/// Rows drawn for comparison.
const DRAWN: usize = 100;
/// Fewer rows cannot show an attractor.
const LEAST_ROWS: usize = 1000;
/// How much farther out than the farthest drawn row the start must be.
const MARGIN: f64 = 1.5;

pub(in super::super) fn transient(record: &Record) -> Vec<Seen> {
    let ranges = record.trajectory_ranges();
    // Rows of other trajectories say where the attractor is too, but the longest has most of them.
    let Some(cloud) = ranges
        .into_iter()
        .max_by_key(ExactSizeIterator::len)
        .and_then(|range| Cloud::new(record, range.start, range.end))
    else {
        return Vec::new();
    };
    let usual = cloud.farthest_drawn();
    let first = cloud.distance(0);
    // Distances of values near the largest that exist may not be numbers.
    if first.is_nan() || usual.is_nan() || first <= MARGIN * usual {
        return Vec::new();
    }
    let end = cloud.first_within(usual);
    let what = format!(
        "the start lies {} spreads from every later row, at most {} elsewhere: a transient of about {}",
        figure(first),
        figure(usual),
        count(end, "row")
    );
    let severity = if 100 * end > cloud.times.len() {
        Severity::Warning
    } else {
        Severity::Note
    };
    let remedy = format!(
        "`--from row:{}` leaves these rows out; keep them if the way to the attractor is to be learned",
        end + 1
    );
    let start = cloud.start;
    vec![Seen::new(
        severity,
        record.rows(start..start + end),
        what,
        &remedy,
    )]
}

/// The complete rows of one trajectory in spreads.
struct Cloud {
    start: usize,
    dim: usize,
    times: Vec<usize>,
    points: Vec<f64>,
    apart: usize,
}

impl Cloud {
    fn new(record: &Record, start: usize, end: usize) -> Option<Cloud> {
        let varying: Vec<usize> = record.varying().collect();
        let complete = |t: &usize| varying.iter().all(|&c| !record.columns[c][*t].is_nan());
        let rows: Vec<usize> = (start..end).filter(complete).collect();
        let scaled = |t: usize, c: usize| record.columns[c][t] / record.channels[c].sd;
        let points = rows
            .iter()
            .flat_map(|&t| varying.iter().map(move |&c| scaled(t, c)))
            .collect();
        let memory = varying
            .iter()
            .filter_map(|&c| record.channels[c].autocorrelation_time)
            .fold(1.0, f64::max);
        let enough = rows.len() >= LEAST_ROWS && !varying.is_empty();
        enough.then(|| Cloud {
            start,
            dim: varying.len(),
            // Twice 1/e leaves 13 % of the memory; a tenth of the record must remain to be near to.
            apart: (2.0 * memory).min(rows.len() as f64 / 10.0) as usize,
            times: rows.iter().map(|t| t - start).collect(),
            points,
        })
    }

    fn point(&self, i: usize) -> &[f64] {
        &self.points[i * self.dim..(i + 1) * self.dim]
    }

    /// Distance of the i-th row to the nearest that is far enough away in time.
    fn distance(&self, i: usize) -> f64 {
        let here = self.point(i);
        let time = self.times[i];
        let early = self.times.partition_point(|&t| t + self.apart < time);
        let late = self.times.partition_point(|&t| t <= time + self.apart);
        let before = self.points[..early * self.dim].chunks_exact(self.dim);
        let after = self.points[late * self.dim..].chunks_exact(self.dim);
        let nearest = before.chain(after).fold(f64::INFINITY, |least, other| {
            least.min(squared_distance(here, other, least))
        });
        nearest.sqrt()
    }

    /// The greatest distance among rows drawn evenly from the later nine tenths.
    fn farthest_drawn(&self) -> f64 {
        let n = self.times.len();
        let drawn = (0..DRAWN).map(|k| n / 10 + k * (n - n / 10) / DRAWN);
        drawn.map(|i| self.distance(i)).fold(0.0, f64::max)
    }

    /// About the first row within `usual`: by doubling, then bisection, so that a long transient costs few looks.
    fn first_within(&self, usual: f64) -> usize {
        let outside = |i: usize| self.distance(i) > usual;
        let last = self.times.len() - 1;
        let (mut out, mut within) = (0, 1);
        while within < last && outside(within) {
            (out, within) = (within, (2 * within).min(last));
        }
        while within - out > 1 {
            let middle = out.midpoint(within);
            if outside(middle) {
                out = middle
            } else {
                within = middle
            }
        }
        self.times[within]
    }
}

/// Σ(a − b)², or any number above `enough` once it is passed.
fn squared_distance(a: &[f64], b: &[f64], enough: f64) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        sum += a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        if sum > enough {
            return sum;
        }
    }
    sum
}
