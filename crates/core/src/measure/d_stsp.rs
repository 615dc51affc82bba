//! State-space divergence D_stsp: how differently two orbits fill their space, whatever their order in time.
//!
//! Up to five channels are binned. A box around the truth is cut into m = 30 cells per channel, K = m^N cells in all;
//! with counts c (truth) and d (generated) of the points inside and a = 10⁻⁵,
//!
//! ```text
//! D = Σ_k p_k ln(p_k/q_k),   p_k = (c_k + a)/(Σc + aK),   q_k = (d_k + a)/(Σd + aK)
//! ```
//!
//! over *all* cells. Only occupied ones are stored: the others contribute (K − |U|)·(a/Z_p) ln(Z_q/Z_p), with U the
//! cells that either occupies and Z the denominators. Points outside the box are left out (Hess et al. 2023, from
//! Koppe et al. 2019), so that a small D means nothing if many are: their share belongs to the result. More channels
//! are compared by [Gaussian mixtures](super::mixture).

use super::mixture::Mixture;
use super::surrogate::Surrogate;
use super::{
    Against, Better, Estimate, Judges, MeasureError, MeasureInfo, Options, Rows, SEED, spread,
};
use crate::catalogue::{Entry, Kind};
use crate::settings::{Domain, Setting};

/// D_stsp in the list: bins up to [`LARGEST_BINNED`] channels, mixtures beyond.
pub static INFO: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "d_stsp",
        summary: "state-space divergence: how differently truth and orbit fill their space",
        details: "up to 5 channels: D = Σ_k p_k ln(p_k/q_k) over the K = 30^N cells of a box around the truth,\n\
                  p = (count + 1e-5)/(total + 1e-5 K); points outside the box are left out, their share is reported\n\
                  from 6 channels: D = ⟨ln p(x) − ln q(x)⟩ over 1000 draws x from p, with p and q mixtures of a\n\
                  Gaussian of variance 1 at each of the first 10000 rows, in log-sum-exp\n\
                  0 for equal distributions; 15 or more means collapse to a point. Blind to the order in time:\n\
                  read it together with d_h. Compare equal lengths: short series score worse.",
        settings: &[BOX, SEED],
        references: &["hess2023", "koppe2019"],
    },
    better: Better::Lower,
    judges: Judges::Orbit(prepare),
    blind_to: &[Surrogate::Shuffled],
};

/// Which box is binned.
pub const BOX: Setting = Setting {
    name: "box",
    default: "paper",
    domain: Domain::Choice(&["paper", "min-max", "two-sigma"]),
    about: "box of the bins: [min − 0.1 s, max + 0.1 s] of the truth, [min, max], or mean ± 2 s",
};

/// The largest number of channels that is binned.
pub const LARGEST_BINNED: usize = 5;

/// Cells a channel.
pub const BINS: usize = 30;

/// What is added to every count.
const SMOOTHING: f64 = 1e-5;

/// Which box is binned, by channel, with s the standard deviation of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateBox {
    /// From min − 0.1 s to max + 0.1 s, as in the paper.
    #[default]
    Paper,
    /// From min to max, with the maximum inside.
    MinMax,
    /// mean ± 2 s: the box of earlier work on standardised data. It leaves out some of the truth, too.
    TwoSigma,
}

impl StateBox {
    /// The box of a name in [`BOX`].
    pub fn named(name: &str) -> StateBox {
        match name {
            "min-max" => StateBox::MinMax,
            "two-sigma" => StateBox::TwoSigma,
            _ => StateBox::Paper,
        }
    }

    /// The ends in one channel.
    fn ends(self, column: impl Iterator<Item = f64>, (mean, sd): (f64, f64)) -> (f64, f64) {
        if self == StateBox::TwoSigma {
            return (mean - 2.0 * sd, mean + 2.0 * sd);
        }
        let (low, high) = column.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let margin = if self == StateBox::Paper {
            0.1 * sd
        } else {
            0.0
        };
        (low - margin, high + margin)
    }
}

/// The box around a truth, cut into cells.
#[derive(Debug, Clone)]
pub struct Grid(Vec<Edges>);

/// A binned truth.
#[derive(Debug, Clone)]
pub struct Binned {
    grid: Grid,
    counts: Counts,
}

/// The divergence of a binned orbit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinnedDivergence {
    /// D_stsp in nats.
    pub value: f64,
    /// The share of generated points outside the box.
    pub outside: f64,
}

/// The cells of one channel.
#[derive(Debug, Clone, Copy)]
struct Edges {
    low: f64,
    high: f64,
    per_unit: f64,
    closed: bool,
}

/// Occupied cells in ascending order with their counts, and the number of points inside. 30⁵ cells fit into 32 bits.
#[derive(Debug, Clone, Default)]
struct Counts {
    cells: Vec<(u32, u64)>,
    inside: u64,
}

impl Grid {
    /// The box around a truth without a constant channel.
    pub fn new(truth: Rows<'_>, state_box: StateBox) -> Result<Grid, MeasureError> {
        let moments = spread(truth)?.into_iter().enumerate();
        let edges = moments.map(|(i, moments)| {
            let (low, high) = state_box.ends(truth.column(i), moments);
            Edges {
                low,
                high,
                per_unit: BINS as f64 / (high - low),
                closed: state_box == StateBox::MinMax,
            }
        });
        Ok(Grid(edges.collect()))
    }

    /// The share of points outside the box.
    pub fn outside(&self, rows: Rows<'_>) -> f64 {
        let places = |row: &[f64]| row.iter().zip(&self.0).all(|(&x, e)| e.place(x).is_some());
        let outside = rows.iter().filter(|row| !places(row)).count();
        outside as f64 / rows.len() as f64
    }

    /// The number of a point's cell; none outside the box.
    fn cell(&self, row: &[f64]) -> Option<u32> {
        let places = row.iter().zip(&self.0).map(|(&x, edges)| edges.place(x));
        places
            .into_iter()
            .try_fold(0, |cell, place| Some(cell * BINS as u32 + place?))
    }
}

impl Edges {
    /// The bin of a value; none outside, and none for NaN.
    fn place(&self, x: f64) -> Option<u32> {
        let place = (x - self.low) * self.per_unit;
        let last = self.closed && x == self.high;
        let inside = place >= 0.0 && (place < BINS as f64 || last);
        inside.then(|| (place as u32).min(BINS as u32 - 1))
    }
}

impl Binned {
    /// Bins a truth of at most [`LARGEST_BINNED`] channels.
    pub fn new(truth: Rows<'_>, state_box: StateBox) -> Result<Binned, MeasureError> {
        assert!(
            truth.dim() <= LARGEST_BINNED,
            "{} channels are too many to bin",
            truth.dim()
        );
        let grid = Grid::new(truth, state_box)?;
        let counts = Counts::of(truth, &grid);
        Ok(Binned { grid, counts })
    }

    /// Number of cells that the truth occupies.
    pub fn occupied(&self) -> usize {
        self.counts.cells.len()
    }

    /// D_stsp of an orbit.
    pub fn divergence(&self, generated: Rows<'_>) -> Result<BinnedDivergence, MeasureError> {
        let channels = self.grid.0.len();
        assert_eq!(generated.dim(), channels, "channels differ");
        let counts = Counts::of(generated, &self.grid);
        if counts.inside == 0 {
            return Err(MeasureError::Outside);
        }
        let cells = (BINS as f64).powi(channels as i32);
        Ok(BinnedDivergence {
            value: divergence(&self.counts, &counts, cells),
            outside: (generated.len() as u64 - counts.inside) as f64 / generated.len() as f64,
        })
    }
}

impl Against for Binned {
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError> {
        Ok(Estimate::exact(self.divergence(generated)?.value))
    }
}

impl Counts {
    fn of(rows: Rows<'_>, grid: &Grid) -> Counts {
        let mut inside: Vec<u32> = rows.iter().filter_map(|row| grid.cell(row)).collect();
        inside.sort_unstable();
        let runs = inside.chunk_by(|a, b| a == b);
        Counts {
            cells: runs.map(|run| (run[0], run.len() as u64)).collect(),
            inside: inside.len() as u64,
        }
    }
}

fn prepare(truth: Rows<'_>, options: &Options) -> Result<Option<Box<dyn Against>>, MeasureError> {
    Ok(Some(if truth.dim() <= LARGEST_BINNED {
        Box::new(Binned::new(truth, options.state_box)?)
    } else {
        Box::new(Mixture::new(truth, options.seed)?)
    }))
}

/// Σ p ln(p/q) over all K cells.
fn divergence(truth: &Counts, generated: &Counts, cells: f64) -> f64 {
    let (z_p, z_q) = (
        truth.inside as f64 + SMOOTHING * cells,
        generated.inside as f64 + SMOOTHING * cells,
    );
    let (mut sum, mut union) = (0.0, 0u64);
    merge(&truth.cells, &generated.cells, |c, d| {
        let (p, q) = ((c as f64 + SMOOTHING) / z_p, (d as f64 + SMOOTHING) / z_q);
        sum += p * (p / q).ln();
        union += 1;
    });
    sum + (cells - union as f64) * (SMOOTHING / z_p) * (z_q / z_p).ln()
}

/// Calls `see` with the two counts of every cell that either occupies, in ascending order.
fn merge(a: &[(u32, u64)], b: &[(u32, u64)], mut see: impl FnMut(u64, u64)) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let of_a = a.get(i).map_or(u32::MAX, |&(cell, _)| cell);
        let of_b = b.get(j).map_or(u32::MAX, |&(cell, _)| cell);
        let (in_a, in_b) = (of_a <= of_b, of_b <= of_a);
        see(if in_a { a[i].1 } else { 0 }, if in_b { b[j].1 } else { 0 });
        i += usize::from(in_a);
        j += usize::from(in_b);
    }
}
