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
        .enumerate()
        .max_by_key(|(_, range)| range.len())
        .and_then(|(trajectory, range)| Cloud::new(record, trajectory, range.start))
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

/// The complete rows of one trajectory, in spreads.
struct Cloud<'a> {
    start: usize,
    /// All rows of the trajectory.
    rows: &'a [f64],
    /// 1/s of every channel; 0 of one that does not vary.
    scales: Vec<f64>,
    /// The complete rows: by half the size of an index, since there are as many as values of a single channel.
    times: Vec<u32>,
    apart: usize,
}

impl<'a> Cloud<'a> {
    fn new(record: &Record<'a>, trajectory: usize, start: usize) -> Option<Cloud<'a>> {
        let rows = &record.series.trajectories()[trajectory].x[..];
        u32::try_from(rows.len()).ok()?;
        let varying: Vec<usize> = record.varying().collect();
        let mut scales = vec![0.0; record.channels.len()];
        for &c in &varying {
            scales[c] = record.channels[c].sd.recip();
        }
        let complete = |row: &[f64]| varying.iter().all(|&c| !row[c].is_nan());
        let all = (0..).zip(rows.chunks_exact(scales.len()));
        let times: Vec<u32> = all
            .filter_map(|(t, row)| complete(row).then_some(t))
            .collect();
        let memory = varying
            .iter()
            .filter_map(|&c| record.channels[c].autocorrelation_time)
            .fold(1.0, f64::max);
        let enough = times.len() >= LEAST_ROWS && !varying.is_empty();
        enough.then(|| Cloud {
            start,
            rows,
            scales,
            // Twice 1/e leaves 13 % of the memory; a tenth of the record must remain to be near to.
            apart: (2.0 * memory).min(times.len() as f64 / 10.0) as usize,
            times,
        })
    }

    fn row(&self, time: u32) -> &[f64] {
        let n = self.scales.len();
        &self.rows[time as usize * n..][..n]
    }

    /// Distance of the i-th row to the nearest that is far enough away in time.
    fn distance(&self, i: usize) -> f64 {
        let (here, time) = (self.row(self.times[i]), self.times[i] as usize);
        let early = self
            .times
            .partition_point(|&t| t as usize + self.apart < time);
        let late = self
            .times
            .partition_point(|&t| t as usize <= time + self.apart);
        let others = self.times[..early].iter().chain(&self.times[late..]);
        let nearest = others.fold(f64::INFINITY, |least, &t| {
            least.min(self.squared_distance(here, self.row(t), least))
        });
        nearest.sqrt()
    }

    /// Σ((a − b)/s)², or any number above `enough` once it is passed.
    fn squared_distance(&self, a: &[f64], b: &[f64], enough: f64) -> f64 {
        let mut sum = 0.0;
        let scales = self.scales.chunks(8);
        for ((a, b), scales) in a.chunks(8).zip(b.chunks(8)).zip(scales) {
            for ((a, b), scale) in a.iter().zip(b).zip(scales) {
                let d = (a - b) * scale;
                // A channel that does not vary may have missing values.
                sum += if *scale == 0.0 { 0.0 } else { d * d };
            }
            if sum > enough {
                return sum;
            }
        }
        sum
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
        self.times[within] as usize
    }
}
