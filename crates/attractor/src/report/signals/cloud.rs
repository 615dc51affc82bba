//! All rows of the data as one picture of the state space, thinned where they are dense: blocks of [`BLOCK`] steps are drawn or left
//! out as a whole, so that an orbit is still seen as lines, and a block is drawn if it passes a cell that few blocks have passed before,
//!
//! ```text
//! drawn(b)  ⇔  min over rows r of b of count(cell(r)) < c
//! ```
//!
//! with the finest cells and then the largest c for which no more rows are drawn than a page has room for. Rare places are then drawn in full,
//! dense ones as a sample.

use attractor_core::series::Series;
use serde_json::{Value, json};

use super::DRAWN;
use super::projection::Projection;
use crate::report::numbers::list;
use crate::seen::Seen;

/// Steps of a block; its last row is the first of the next.
const BLOCK: usize = 8;

/// Cells along an axis over the range of the data, from fine to coarse.
const CELLS: [usize; 6] = [32, 22, 15, 10, 7, 5];

/// Values that are drawn, over all channels.
const VALUES: usize = 30_000;

/// Rows of whole stretches in the units of the data, as a picture takes them: delay vectors of one channel, else the rows.
struct Places {
    rows: Vec<f64>,
    /// First rows of the blocks.
    blocks: Vec<usize>,
    /// Where every row is in three coordinates, from 0 to 1.
    places: Vec<[f64; 3]>,
}

/// The part of the document; null if there are no more rows than are drawn anyway.
pub(super) fn thinned(
    seen: &Seen,
    whole: usize,
    lag: usize,
    projection: Option<&Projection>,
) -> Value {
    let series = seen.series();
    let total: usize = series.whole_stretches().map(|(_, rows)| rows.len()).sum();
    let dim = if series.dim_obs() == 1 {
        3
    } else {
        series.dim_obs()
    };
    if total <= whole {
        return Value::Null;
    }
    let places = Places::of(seen, series, lag, projection);
    let kept = places.kept((VALUES / dim).clamp(2 * BLOCK, DRAWN));
    let rows = kept.iter().flat_map(|&first| {
        let values = first * dim..(first + BLOCK + 1) * dim;
        places.rows[values].iter().copied()
    });
    json!({ "rows": list(rows), "block": BLOCK + 1, "of": total })
}

impl Places {
    fn of(seen: &Seen, series: &Series, lag: usize, projection: Option<&Projection>) -> Places {
        let n = series.dim_obs();
        let (mut rows, mut blocks) = (Vec::new(), Vec::new());
        let dim = if n == 1 { 3 } else { n };
        for (trajectory, range) in series.whole_stretches() {
            let values =
                seen.unscaled(&series.trajectories()[trajectory].x[range.start * n..range.end * n]);
            let first = rows.len() / dim;
            if n == 1 {
                let delayed = (2 * lag..values.len()).map(|t| [t, t - lag, t - 2 * lag]);
                rows.extend(delayed.flatten().map(|t| values[t]));
            } else {
                rows.extend(values);
            }
            let last = rows.len() / dim;
            blocks.extend((first..last).step_by(BLOCK).filter(|b| b + BLOCK < last));
        }
        Places {
            places: places(&rows, dim, projection),
            rows,
            blocks,
        }
    }

    /// First rows of the blocks that are drawn, in the order of the data.
    fn kept(&self, room: usize) -> Vec<usize> {
        let fits = |drawn: &Vec<usize>| drawn.len() * (BLOCK + 1) <= room;
        let finest = CELLS.iter().find(|&&side| fits(&self.drawn(side, 1)));
        let side = *finest.unwrap_or(&CELLS[CELLS.len() - 1]);
        let (mut low, mut high) = (1, self.places.len() + 1);
        // There is room for those of c = low, and not for those of c = high.
        while high - low > 1 {
            let middle = low.midpoint(high);
            if fits(&self.drawn(side, middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let mut kept = self.drawn(side, low);
        kept.truncate(room / (BLOCK + 1));
        kept.sort_unstable();
        kept
    }

    /// The blocks that are drawn with so many cells along an axis and a c, in the order in which they are asked.
    fn drawn(&self, side: usize, c: usize) -> Vec<usize> {
        let cell = |place: &[f64; 3]| {
            let at = place.map(|v| ((v * side as f64) as usize).min(side - 1));
            (at[0] * side + at[1]) * side + at[2]
        };
        let mut counts = vec![0; side.pow(3)];
        let mut drawn = Vec::new();
        for &block in scattered(&self.blocks) {
            let cells = self.places[block..=block + BLOCK].iter().map(cell);
            if cells.clone().any(|cell| counts[cell] < c) {
                cells.for_each(|cell| counts[cell] += 1);
                drawn.push(block);
            }
        }
        drawn
    }
}

/// All of a list, far ones after one another: by steps of about the golden ratio of its length that meet each once.
fn scattered(blocks: &[usize]) -> impl Iterator<Item = &usize> {
    let n = blocks.len();
    let step = (1..=n)
        .rev()
        .find(|&step| step * 1000 <= n * 618 && coprime(step, n));
    (0..n).map(move |i| &blocks[i * step.unwrap_or(1) % n])
}

fn coprime(a: usize, b: usize) -> bool {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// Where every row is by three coordinates, over their ranges: the leading components, else the first channels.
fn places(rows: &[f64], dim: usize, projection: Option<&Projection>) -> Vec<[f64; 3]> {
    let coordinate = |row: &[f64], k: usize| match projection {
        Some(projection) => projection.component(row, k),
        None => row.get(k).copied().unwrap_or(0.0),
    };
    let found = rows.chunks_exact(dim);
    let mut found: Vec<[f64; 3]> = found
        .map(|row| [0, 1, 2].map(|k| coordinate(row, k)))
        .collect();
    for k in 0..3 {
        let along = || found.iter().map(|place| place[k]);
        let low = along().fold(f64::INFINITY, f64::min);
        let high = along().fold(f64::NEG_INFINITY, f64::max);
        let width = (high - low).max(f64::MIN_POSITIVE);
        found
            .iter_mut()
            .for_each(|place| place[k] = (place[k] - low) / width);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in two channels: long at rest near zero, and a short way far from it.
    fn mostly_at_rest() -> Places {
        let at_rest = (0..20_000).map(|t| [1e-3 * f64::from(t % 7), 0.0]);
        let away = (0..80).map(|t| [1.0 + 0.1 * f64::from(t), 5.0]);
        let rows: Vec<f64> = at_rest.chain(away).flatten().collect();
        let count = rows.len() / 2;
        Places {
            places: super::places(&rows, 2, None),
            rows,
            blocks: (0..count)
                .step_by(BLOCK)
                .filter(|b| b + BLOCK < count)
                .collect(),
        }
    }

    #[test]
    fn rare_rows_are_all_drawn_and_there_is_room_for_the_rest() {
        let places = mostly_at_rest();
        let kept = places.kept(900);
        assert!(kept.len() * (BLOCK + 1) <= 900);
        let rare = places.blocks.iter().filter(|&&block| block >= 20_000);
        assert!(rare.clone().count() > 5);
        for block in rare {
            assert!(kept.contains(block), "{block}");
        }
        assert!(kept.is_sorted());
    }

    #[test]
    fn scattering_meets_each_once() {
        for n in [0, 1, 2, 7, 100, 1001] {
            let all: Vec<usize> = (0..n).collect();
            let mut met: Vec<usize> = scattered(&all).copied().collect();
            met.sort_unstable();
            assert_eq!(met, all);
        }
    }
}
