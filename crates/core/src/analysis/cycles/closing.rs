//! From a sequence of regions to a point, and from a point to a cycle.

use super::{Cycle, minimal};
use crate::linalg;
use crate::map::piecewise::{PiecewiseLinear, Region};

/// Relative size of a pivot of 1 − P below which it is singular: some dozen roundings.
const SINGULAR: f64 = 1e-13;

/// How far on the wrong side of a plane a point may be, relative to the terms of w·z + h2: the distance at which f64 can
/// no longer tell sides apart after a division by 1 − P.
const BORDER: f64 = 1e-9;

/// What (1 − P) z = v has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) enum Solution {
    /// One solution, kept in the [`Closing`].
    Point,
    /// None: 1 − P is singular and v is not in its range.
    None,
    /// Infinitely many.
    Continuum,
}

/// Buffers to solve for cycles of a map and to check them.
pub(in crate::analysis) struct Closing<'a> {
    map: &'a PiecewiseLinear,
    /// The hinges that change F somewhere, with the lengths of their normals.
    hinges: Vec<(usize, f64)>,
    system: Vec<f64>,
    z: Vec<f64>,
    walk: Vec<f64>,
    next: Vec<f64>,
}

/// after = (M_d P, M_d v + c_d), or (M_d, c_d) at the beginning.
pub(super) fn compose(
    affine: &(Vec<f64>, Vec<f64>),
    before: Option<&(Vec<f64>, Vec<f64>)>,
    after: &mut (Vec<f64>, Vec<f64>),
) {
    let (matrix, offset) = affine;
    let m = offset.len();
    match before {
        None => {
            after.0.copy_from_slice(matrix);
            after.1.copy_from_slice(offset);
        }
        Some((product, v)) => {
            linalg::multiply(matrix, product, (m, m, m), &mut after.0);
            linalg::multiply(matrix, v, (m, m, 1), &mut after.1);
            after.1.iter_mut().zip(offset).for_each(|(v, c)| *v += c);
        }
    }
}

impl<'a> Closing<'a> {
    pub(in crate::analysis) fn new(map: &'a PiecewiseLinear) -> Closing<'a> {
        let m = map.dim;
        let normal = |l: usize| &map.w2[l * m..][..m];
        let length = |l: usize| normal(l).iter().map(|v| v * v).sum::<f64>().sqrt();
        let hinges = (0..map.hinges()).map(|l| (l, length(l)));
        Closing {
            map,
            hinges: hinges
                .filter(|&(l, length)| length > 0.0 && map.moves(l))
                .collect(),
            system: vec![0.0; m * m],
            z: vec![0.0; m],
            walk: vec![0.0; m],
            next: vec![0.0; m],
        }
    }

    /// Solves (1 − P) z = v.
    pub(in crate::analysis) fn solve(&mut self, product: &[f64], offset: &[f64]) -> Solution {
        let m = self.map.dim;
        self.fill_system(product);
        self.z.copy_from_slice(offset);
        let pivot = linalg::solve(&mut self.system, m, &mut self.z);
        if pivot > SINGULAR && self.z.iter().all(|v| v.is_finite()) {
            return Solution::Point;
        }
        self.fill_system(product);
        if self.system.iter().chain(offset).any(|v| !v.is_finite()) {
            return Solution::None;
        }
        let inverse = linalg::pseudo_inverse(&self.system, m, m);
        let (mut z, mut image) = (vec![0.0; m], vec![0.0; m]);
        linalg::multiply(&inverse, offset, (m, m, 1), &mut z);
        linalg::multiply(&self.system, &z, (m, m, 1), &mut image);
        let size = offset.iter().fold(0.0, |s: f64, v| s.max(v.abs()));
        let is_solved = |(image, v): (&f64, &f64)| (image - v).abs() <= BORDER * size;
        if image.iter().zip(offset).all(is_solved) {
            Solution::Continuum
        } else {
            Solution::None
        }
    }

    fn fill_system(&mut self, product: &[f64]) {
        let m = self.map.dim;
        for (e, v) in self.system.iter_mut().enumerate() {
            *v = f64::from(u8::from(e % (m + 1) == 0)) - product[e];
        }
    }

    /// The solution.
    pub(super) fn point(&self) -> &[f64] {
        &self.z
    }

    /// Whether the solution lies in a region or on its border.
    pub(in crate::analysis) fn is_inside(&self, region: &Region) -> bool {
        self.is_within(&self.z, region)
    }

    fn is_within(&self, z: &[f64], region: &Region) -> bool {
        let norm = length(z);
        self.hinges.iter().all(|&(l, length)| {
            let side = self.map.side(l, z);
            let rounding = BORDER * (length * norm + self.map.h2[l].abs());
            (side > 0.0) == region.is_open(l) || side.abs() <= rounding
        })
    }

    /// Whether iterating F from the solution runs through these regions.
    pub(in crate::analysis) fn follows(&mut self, regions: &[Region]) -> bool {
        self.walk.copy_from_slice(&self.z);
        for region in regions {
            if !self.is_within(&self.walk, region) {
                return false;
            }
            self.map.step(&self.walk, &mut self.next);
            std::mem::swap(&mut self.walk, &mut self.next);
        }
        true
    }

    /// The cycle through the solution, once iterating F has come back to it after `period` steps and not before.
    pub(in crate::analysis) fn cycle(&mut self, period: usize) -> Option<Cycle> {
        let (map, m) = (self.map, self.map.dim);
        let (mut points, mut regions) = (Vec::new(), Vec::new());
        let mut region = Region::closed(map.hinges());
        let mut product = (vec![0.0; m * m], vec![0.0; m]);
        let mut affine = product.clone();
        self.walk.copy_from_slice(&self.z);
        for step in 0..period {
            map.region(&self.walk, &mut region);
            map.affine(&region, &mut affine.0, &mut affine.1);
            let before = (step > 0).then(|| product.clone());
            compose(&affine, before.as_ref(), &mut product);
            points.push(self.walk.clone());
            regions.push(region.clone());
            map.step(&self.walk, &mut self.next);
            std::mem::swap(&mut self.walk, &mut self.next);
        }
        if !returns(&self.z, &self.walk, &product.0) {
            return None;
        }
        let is_on_border = points.iter().any(|z| self.is_near_plane(z));
        let borders = points.iter().map(|z| map.distance_to_border(z));
        let border = borders.fold(f64::INFINITY, f64::min);
        let (points, regions) = minimal(points, regions)?;
        Some(Cycle {
            points,
            regions,
            multipliers: linalg::eigenvalues(&product.0, m)?,
            border,
            is_on_border,
        })
    }

    fn is_near_plane(&self, z: &[f64]) -> bool {
        let norm = length(z);
        self.hinges.iter().any(|&(l, length)| {
            self.map.side(l, z).abs() <= BORDER * (length * norm + self.map.h2[l].abs())
        })
    }
}

/// Whether an orbit is back, but for rounding that grew with P on its way: 1e-9 (1 + |z|) (1 + max|P|), at most 1e-4.
fn returns(from: &[f64], to: &[f64], product: &[f64]) -> bool {
    let growth = product.iter().fold(1.0, |g: f64, v| g.max(v.abs()));
    let tolerance = (1e-9 * growth).min(1e-4) * (1.0 + length(from));
    from.iter()
        .zip(to)
        .all(|(from, to)| (from - to).abs() <= tolerance)
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}
