//! Three coordinates seen from an angle: each is brought to −1 … 1, turned by φ about the third, and tilted by ϑ,
//!
//! ```text
//! u = x cos φ − y sin φ,   v = z cos ϑ + (x sin φ + y cos φ) sin ϑ,
//! ```
//!
//! in a box whose three faces behind have lines at round values. Unless angles are given, φ is the one from which the points cover most: the
//! determinant of the covariance of (u, v) is largest.

use crate::chart::{Axis, Chart, Layer, Side, Surroundings};
use crate::drawing::{Colour, Point, Stroke};

/// From where a box is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Angles {
    /// φ, in radians.
    turn: f64,
    /// ϑ, in radians.
    tilt: f64,
}

/// The tilt if nothing is said, and how many turns are tried.
const TILT: f64 = 0.3;
const TURNS: usize = 36;

/// What is seen to either side of the middle: the box, and the numbers at its edges.
const WIDE: f64 = 2.1;
const HIGH: f64 = 1.72;

/// The box, in halves of the extent.
const BOX: f64 = 1.06;

/// A box of three coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Space {
    axes: [Axis; 3],
    angles: Angles,
    /// Half an edge of the box on paper, in points.
    unit: f64,
}

/// Half an edge of a box as it is in two columns, and how far from its edges numbers and names stand at least, in points.
const UNIT: f64 = 48.0;
const NUMBERS: f64 = 7.5;
const NAMES: f64 = 16.0;

impl Angles {
    /// Of an azimuth and an elevation in degrees.
    pub(super) fn of_degrees((azimuth, elevation): (f64, f64)) -> Angles {
        Angles {
            turn: azimuth.to_radians(),
            tilt: elevation.to_radians(),
        }
    }

    /// From where points in −1 … 1 cover most.
    fn widest(points: &[[f64; 3]]) -> Angles {
        let angles = |k: usize| Angles {
            turn: std::f64::consts::PI * (k as f64 / TURNS as f64 - 0.5),
            tilt: TILT,
        };
        let covered = |angles: &Angles| {
            let seen: Vec<Point> = points.iter().map(|&point| angles.seen(point)).collect();
            let n = seen.len() as f64;
            let (a, b) = seen
                .iter()
                .fold((0.0, 0.0), |(a, b), (u, v)| (a + u / n, b + v / n));
            let of =
                |f: fn(f64, f64) -> f64| seen.iter().map(|(u, v)| f(u - a, v - b)).sum::<f64>();
            of(|u, _| u * u) * of(|_, v| v * v) - of(|u, v| u * v).powi(2)
        };
        let all = (0..TURNS).map(angles);
        all.max_by(|a, b| covered(a).total_cmp(&covered(b)))
            .expect("some turns are tried")
    }

    fn seen(self, [x, y, z]: [f64; 3]) -> Point {
        let across = x * self.turn.cos() - y * self.turn.sin();
        let away = x * self.turn.sin() + y * self.turn.cos();
        (across, z * self.tilt.cos() + away * self.tilt.sin())
    }

    /// How far away a point is.
    pub(super) fn depth(self, [x, y, z]: [f64; 3]) -> f64 {
        let away = x * self.turn.sin() + y * self.turn.cos();
        away * self.tilt.cos() - z * self.tilt.sin()
    }
}

impl Space {
    /// A box about points, rows of three, seen from given angles or from where they cover most.
    pub(super) fn around(points: &[f64], labels: [String; 3], angles: Option<Angles>) -> Space {
        let column = |c: usize| points.iter().skip(c).step_by(3).copied();
        let mut axes = [0, 1, 2].map(|c| Axis::around("", column(c)));
        (axes.iter_mut().zip(labels)).for_each(|(axis, label)| axis.label = label);
        Space::within(axes, points, angles)
    }

    /// A box with these axes, seen from given angles or from where points cover most.
    pub(super) fn within(axes: [Axis; 3], points: &[f64], angles: Option<Angles>) -> Space {
        let axes = axes.map(|axis| {
            let room = 0.05 / 1.1 * (axis.high - axis.low);
            Axis::new(axis.label, axis.low + room, axis.high - room)
        });
        let mut space = Space {
            axes,
            angles: Angles {
                turn: 0.0,
                tilt: TILT,
            },
            unit: UNIT,
        };
        space.angles = angles.unwrap_or_else(|| {
            let every = (points.len() / 3 / 2000).max(1);
            let rows = points.chunks_exact(3).step_by(every);
            let finite = rows.filter(|row| row.iter().all(|v| v.is_finite()));
            let units: Vec<[f64; 3]> = finite.map(|row| space.unit(row)).collect();
            Angles::widest(&units)
        });
        space
    }

    /// The same in a frame of this width and height in points.
    pub(super) fn fitted(self, (width, height): (f64, f64)) -> Space {
        let unit = (width / (2.0 * WIDE)).min(height / (2.0 * HIGH));
        Space { unit, ..self }
    }

    /// A point in −1 … 1.
    pub(super) fn unit(&self, row: &[f64]) -> [f64; 3] {
        [0, 1, 2].map(|c| 2.0 * self.axes[c].place(row[c]) - 1.0)
    }

    /// Where a point is on the chart.
    pub(super) fn at(&self, row: &[f64]) -> Point {
        self.angles.seen(self.unit(row))
    }

    /// How far away a point is.
    pub(super) fn depth(&self, row: &[f64]) -> f64 {
        self.angles.depth(self.unit(row))
    }

    /// A chart of the box alone.
    pub(super) fn chart(&self) -> Chart {
        let (across, up) = (Axis::new("", -WIDE, WIDE), Axis::new("", -HIGH, HIGH));
        let mut chart = Chart::new(across, up);
        chart.surroundings = Surroundings::Nothing;
        chart.layers.extend(self.faces());
        for c in 0..3 {
            chart.layers.extend(self.edge(c));
        }
        chart
    }

    /// A line through points, rows of three, as far as they are in the box.
    pub(super) fn line(&self, x: &[f64], stroke: Stroke) -> Layer {
        let is_in = |row: &[f64]| self.unit(row).iter().all(|v| v.abs() <= BOX);
        let at = |row: &[f64]| {
            if is_in(row) {
                self.at(row)
            } else {
                (f64::NAN, f64::NAN)
            }
        };
        Layer::Line {
            points: x.chunks_exact(3).map(at).collect(),
            stroke,
            side: Side::Left,
        }
    }

    /// The side of the box, −1 or 1, that is behind along an axis.
    fn behind(&self, c: usize) -> f64 {
        let mut end = [0.0; 3];
        end[c] = 1.0;
        if self.angles.depth(end) > 0.0 {
            BOX
        } else {
            -BOX
        }
    }

    /// Round values along an axis, with their places in −1 … 1.
    fn marks(&self, c: usize) -> Vec<(f64, String)> {
        let ticks = self.axes[c].ticks_along(0.94 * self.unit, 6.5);
        ticks
            .into_iter()
            .map(|tick| (2.0 * tick.place - 1.0, tick.label))
            .collect()
    }

    /// The three faces behind, with lines at round values.
    fn faces(&self) -> Vec<Layer> {
        let pale = Stroke::new(Colour::NOTHING, 0.35);
        let mut layers = Vec::new();
        for c in 0..3 {
            let (i, j) = ((c + 1) % 3, (c + 2) % 3);
            let on = |a: f64, b: f64| {
                let mut corner = [self.behind(c); 3];
                (corner[i], corner[j]) = (a, b);
                self.angles.seen(corner)
            };
            let mut line = |points: Vec<Point>, stroke: Stroke| {
                layers.push(Layer::Line {
                    points,
                    stroke,
                    side: Side::Left,
                });
            };
            for (s, _) in self.marks(i) {
                line(vec![on(s, -BOX), on(s, BOX)], pale);
            }
            for (s, _) in self.marks(j) {
                line(vec![on(-BOX, s), on(BOX, s)], pale);
            }
            let corners = [
                (-BOX, -BOX),
                (BOX, -BOX),
                (BOX, BOX),
                (-BOX, BOX),
                (-BOX, -BOX),
            ];
            line(
                corners.map(|(a, b)| on(a, b)).to_vec(),
                Stroke::new(Colour::NOTHING, 0.6),
            );
        }
        layers
    }

    /// The edge of an axis that is in front, with its numbers and its name.
    fn edge(&self, c: usize) -> Vec<Layer> {
        let on = |s: f64| {
            let mut corner = match c {
                0 => [s, -self.behind(1), -BOX],
                1 => [-self.behind(0), s, -BOX],
                _ => self.left_corner(),
            };
            corner[c] = s;
            self.angles.seen(corner)
        };
        let (from, to) = (on(-BOX), on(BOX));
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        if length < 0.4 {
            return Vec::new();
        }
        // At right angles to the edge, away from the middle.
        let mut aside = ((to.1 - from.1) / length, (from.0 - to.0) / length);
        let middle = on(0.0);
        if middle.0 * aside.0 + middle.1 * aside.1 < 0.0 {
            aside = (-aside.0, -aside.1);
        }
        let beside = |(u, v): Point, off: f64| (u + off * aside.0, v + off * aside.1 - 0.04);
        let mut layers = vec![Layer::Line {
            points: vec![from, to],
            stroke: Stroke::new(Colour::INK, 0.5),
            side: Side::Left,
        }];
        // Upright edges have their words to the left, which need more room than below; numbers at the ends of the others would meet.
        let (of_numbers, of_name, last): (f64, f64, f64) = if c == 2 {
            (0.27, 0.56, BOX)
        } else {
            (0.16, 0.36, 0.9)
        };
        // In a small box letters are larger beside it.
        let of_numbers = of_numbers.max(NUMBERS / self.unit);
        let of_name = of_name.max(NAMES / self.unit);
        for (s, number) in self.marks(c).into_iter().filter(|(s, _)| s.abs() <= last) {
            layers.push(Layer::Words(number, beside(on(s), of_numbers)));
        }
        let name = self.axes[c].label.clone();
        if !name.is_empty() {
            layers.push(Layer::Words(name, beside(middle, of_name)));
        }
        layers
    }

    /// The corner of the floor that is farthest to the left.
    fn left_corner(&self) -> [f64; 3] {
        let corners = [[-BOX, -BOX], [-BOX, BOX], [BOX, -BOX], [BOX, BOX]];
        let left = corners.into_iter().min_by(|a, b| {
            let across = |[x, y]: &[f64; 2]| self.angles.seen([*x, *y, 0.0]).0;
            across(a).total_cmp(&across(b))
        });
        let [x, y] = left.expect("a box has corners");
        [x, y, 0.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_turns_and_tilts_without_stretching() {
        let angles = Angles::of_degrees((35.0, 20.0));
        // Of three orthonormal vectors, the parts that are seen have squares that sum to 2, and the parts in depth to 1.
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let squares: f64 = unit
            .iter()
            .map(|&e| angles.seen(e))
            .map(|(u, v)| u * u + v * v)
            .sum();
        let depths: f64 = unit.iter().map(|&e| angles.depth(e).powi(2)).sum();
        assert!((squares - 2.0).abs() < 1e-14 && (depths - 1.0).abs() < 1e-14);
    }

    /// Points on a plane that contains the third axis are seen from where the plane is broad.
    #[test]
    fn a_plane_is_looked_at_from_its_front() {
        let points: Vec<f64> = (0..400)
            .flat_map(|t| {
                let (a, b) = (f64::from(t % 20) - 10.0, f64::from(t / 20) - 10.0);
                [a, a, b]
            })
            .collect();
        let space = Space::around(&points, ["x", "y", "z"].map(String::from), None);
        // The plane x = y is seen in full along (1, −1, 0): φ = −45°, as near as turns are tried.
        let off = (space.angles.turn.to_degrees() + 45.0).abs();
        assert!(off <= 180.0 / TURNS as f64, "{off}");
    }

    #[test]
    fn the_box_is_within_the_chart() {
        for azimuth in [-80.0, -35.0, 0.0, 60.0] {
            let angles = Some(Angles::of_degrees((azimuth, 25.0)));
            let points = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0];
            let space = Space::around(&points, ["x", "y", "z"].map(String::from), angles);
            for layer in space.chart().layers {
                let Layer::Line { points, .. } = layer else {
                    continue;
                };
                assert!(
                    points
                        .iter()
                        .all(|(u, v)| u.abs() <= WIDE && v.abs() <= HIGH)
                );
            }
        }
    }
}
