//! The cells into which planes n_l·z + o_l = 0 cut a space of M dimensions, one after another.
//!
//! Planes in general position make Σ_{j≤M} C(H, j) cells, far fewer than the 2^H patterns of sides. They are found by a
//! sweep along a direction c that is in no special position: a cell that is bounded below has one lowest vertex, and
//! every vertex, where M planes meet, is the lowest of one cell. At the vertex of planes S with normals N_S the edge e_k
//! leaves plane k only, N_S e_k = unit_k, and goes up on the side sign(c·e_k) of it: that is the cell. Cells without a
//! lowest vertex reach down to c·z = −R for all large R: they are the cells of an arrangement with one dimension less,
//! whose offsets are −n·c to leading order and o/R next.
//!
//! Planes need not be in general position: those of clipped units all pass through the origin. Offsets are moved by
//! infinitesimal random amounts, so every offset is a list of terms, each infinitely larger than the next, and the sign
//! of the first term that is not zero decides. That keeps every cell with an interior; in addition it visits cells that
//! are empty without the shift. **So the cells visited include all that are not empty**, and a solution found in an empty
//! one is refused by whoever checks the sides of its planes. A term counts as zero below 1e-10 of its summands: of cells
//! thinner than that, one of two neighbours may be missing.

use std::ops::ControlFlow;

use crate::linalg;
use crate::map::piecewise::{Gate, Region};
use crate::rng::{Rng, Stream};

/// Planes n_l·z + o_l = 0.
#[derive(Debug, Clone, Copy)]
pub struct Planes<'a> {
    /// Dimension M of the space.
    pub dim: usize,
    /// Normals, H × M.
    pub normals: &'a [f64],
    /// Offsets, H.
    pub offsets: &'a [f64],
}

/// Relative size below which a term is zero, or planes are parallel.
const NEGLIGIBLE: f64 = 1e-10;

/// Σ_{j≤M} C(H, j), the largest number of cells of H planes in M dimensions.
pub fn most_cells(planes: usize, dim: usize) -> f64 {
    let mut choices = 1.0;
    let mut sum = 1.0;
    for j in 0..dim.min(planes) {
        choices *= (planes - j) as f64 / (j + 1) as f64;
        sum += choices;
    }
    sum
}

/// Visits every cell; the gate of a plane is open where n·z + o > 0. A plane without a normal is on the side of its
/// offset everywhere.
pub fn visit_cells(
    planes: &Planes<'_>,
    visit: &mut dyn FnMut(&Region) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut rng = Rng::new(0, Stream::MonteCarlo);
    let lengths: Vec<f64> = planes
        .normals
        .chunks_exact(planes.dim)
        .map(length)
        .collect();
    let unit = |l: usize| if lengths[l] > 0.0 { lengths[l] } else { 1.0 };
    let normals = planes.normals.iter().enumerate();
    let mut slice = Slice {
        dim: planes.dim,
        normals: normals.map(|(e, v)| v / unit(e / planes.dim)).collect(),
        terms: vec![
            planes
                .offsets
                .iter()
                .enumerate()
                .map(|(l, o)| o / unit(l))
                .collect(),
            planes.offsets.iter().map(|_| rng.normal()).collect(),
        ],
    };
    let mut region = Region::closed(planes.offsets.len());
    while slice.dim > 0 {
        let c = direction(slice.dim, &mut rng);
        slice.visit_bounded(&c, &mut region, visit)?;
        slice = slice.below(&c);
    }
    for l in 0..slice.terms[0].len() {
        let first = slice.terms.iter().map(|term| term[l]);
        let mut first = first.filter(|v| v.abs() > NEGLIGIBLE * f64::EPSILON);
        region.set(l, (first.next().unwrap_or(0.0) > 0.0).into());
    }
    visit(&region)
}

/// Planes in a space of few dimensions, their offsets as terms of falling order.
struct Slice {
    dim: usize,
    normals: Vec<f64>,
    terms: Vec<Vec<f64>>,
}

impl Slice {
    fn count(&self) -> usize {
        self.terms[0].len()
    }

    /// Visits the cells that have a lowest vertex in direction c.
    fn visit_bounded(
        &self,
        c: &[f64],
        region: &mut Region,
        visit: &mut dyn FnMut(&Region) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.count() < self.dim {
            return ControlFlow::Continue(());
        }
        let mut vertex = Vertex::new(self.dim, self.terms.len());
        let mut chosen: Vec<usize> = (0..self.dim).collect();
        loop {
            if vertex.meet(self, &chosen) {
                vertex.lowest_cell_of(self, &chosen, c, region);
                visit(region)?;
            }
            if !next_choice(&mut chosen, self.count()) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// The arrangement on c·z = −R for R → ∞, in coordinates y with z = R (B y − c).
    fn below(&self, c: &[f64]) -> Slice {
        let (m, basis) = (self.dim, complement(c));
        let rows = || self.normals.chunks_exact(m);
        let mut normals = vec![0.0; self.count() * (m - 1)];
        if m > 1 {
            linalg::multiply(
                &self.normals,
                &basis,
                (self.count(), m, m - 1),
                &mut normals,
            );
        }
        let leading = rows().map(|n| -dot(n, c)).collect();
        let terms = std::iter::once(leading).chain(self.terms.iter().cloned());
        Slice {
            dim: m - 1,
            normals,
            terms: terms.collect(),
        }
    }
}

/// Where planes meet: buffers for N_S⁻¹ and for the vertex, one column a term.
struct Vertex {
    dim: usize,
    terms: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl Vertex {
    fn new(dim: usize, terms: usize) -> Vertex {
        Vertex {
            dim,
            terms,
            matrix: vec![0.0; dim * dim],
            right: vec![0.0; dim * (dim + terms)],
        }
    }

    /// Solves N_S (E | v) = (1 | −o_S); false if the planes do not meet in one point.
    fn meet(&mut self, slice: &Slice, chosen: &[usize]) -> bool {
        let (m, width) = (self.dim, self.dim + self.terms);
        self.right.fill(0.0);
        for (row, &l) in chosen.iter().enumerate() {
            self.matrix[row * m..][..m].copy_from_slice(&slice.normals[l * m..][..m]);
            self.right[row * width + row] = 1.0;
            for (k, term) in slice.terms.iter().enumerate() {
                self.right[row * width + m + k] = -term[l];
            }
        }
        linalg::solve(&mut self.matrix, m, &mut self.right) > NEGLIGIBLE
    }

    /// Writes the sides of all planes of the cell whose lowest vertex this is.
    fn lowest_cell_of(&self, slice: &Slice, chosen: &[usize], c: &[f64], region: &mut Region) {
        for (l, normal) in slice.normals.chunks_exact(self.dim).enumerate() {
            region.set(l, self.side(slice, l, normal));
        }
        let width = self.dim + self.terms;
        for (k, &l) in chosen.iter().enumerate() {
            let up: f64 = (0..self.dim)
                .map(|i| c[i] * self.right[i * width + k])
                .sum();
            region.set(l, (up > 0.0).into());
        }
    }

    /// The side of plane l that the vertex is on.
    fn side(&self, slice: &Slice, l: usize, normal: &[f64]) -> Gate {
        let width = self.dim + self.terms;
        for (k, term) in slice.terms.iter().enumerate() {
            let (mut value, mut size) = (term[l], term[l].abs());
            for (i, n) in normal.iter().enumerate() {
                let summand = n * self.right[i * width + self.dim + k];
                value += summand;
                size += summand.abs();
            }
            if value.abs() > NEGLIGIBLE * size {
                return (value > 0.0).into();
            }
        }
        Gate::Closed
    }
}

/// The next choice of ascending numbers below n, in lexicographic order; false after the last.
fn next_choice(chosen: &mut [usize], n: usize) -> bool {
    let k = chosen.len();
    let Some(i) = (0..k).rev().find(|&i| chosen[i] < n - k + i) else {
        return false;
    };
    chosen[i] += 1;
    for j in i + 1..k {
        chosen[j] = chosen[j - 1] + 1;
    }
    true
}

/// A random direction of unit length.
fn direction(dim: usize, rng: &mut Rng) -> Vec<f64> {
    let v: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
    let size = length(&v);
    v.iter().map(|v| v / size).collect()
}

/// An orthonormal basis of the directions across c (unit length), M × (M − 1): the columns but the last of the
/// reflection that takes c to the last axis.
fn complement(c: &[f64]) -> Vec<f64> {
    let m = c.len();
    let mut v = c.to_vec();
    v[m - 1] += 1f64.copysign(c[m - 1]);
    let square = dot(&v, &v);
    let entry = |i: usize, j: usize| f64::from(u8::from(i == j)) - 2.0 * v[i] * v[j] / square;
    (0..m)
        .flat_map(|i| (0..m - 1).map(move |j| (i, j)))
        .map(|(i, j)| entry(i, j))
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn cells(dim: usize, normals: &[f64], offsets: &[f64]) -> Vec<Region> {
        let mut found = Vec::new();
        let planes = Planes {
            dim,
            normals,
            offsets,
        };
        let flow = visit_cells(&planes, &mut |region| {
            found.push(region.clone());
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        found
    }

    fn sampled(dim: usize, normals: &[f64], offsets: &[f64], rng: &mut Rng) -> BTreeSet<Region> {
        let mut all = BTreeSet::new();
        for scale in [0.3, 3.0, 100.0] {
            for _ in 0..2000 {
                let z: Vec<f64> = (0..dim).map(|_| scale * rng.normal()).collect();
                let mut region = Region::closed(offsets.len());
                for (l, n) in normals.chunks_exact(dim).enumerate() {
                    region.set(l, (dot(n, &z) + offsets[l] > 0.0).into());
                }
                all.insert(region);
            }
        }
        all
    }

    #[test]
    fn planes_in_general_position_make_as_many_cells_as_can_be() {
        assert_eq!(most_cells(10, 2), 56.0);
        assert_eq!(most_cells(50, 3), 20_876.0);
        assert_eq!(most_cells(2, 5), 4.0);
        let mut rng = Rng::new(1, Stream::Noise);
        for (dim, count) in [(1, 5), (2, 10), (3, 8), (4, 7), (5, 3), (2, 0)] {
            let normals: Vec<f64> = (0..dim * count).map(|_| rng.normal()).collect();
            let offsets: Vec<f64> = (0..count).map(|_| rng.normal()).collect();
            let found = cells(dim, &normals, &offsets);
            assert_eq!(found.len() as f64, most_cells(count, dim), "{dim} {count}");
            let distinct: BTreeSet<Region> = found.into_iter().collect();
            assert_eq!(distinct.len() as f64, most_cells(count, dim));
            let seen = sampled(dim, &normals, &offsets, &mut rng);
            assert!(seen.is_subset(&distinct), "{dim} {count}");
        }
    }

    /// Parallel pairs, all second planes through the origin, one plane twice, one turned over, one without a normal:
    /// nothing that has an interior is left out, and parallel planes make three states, not four.
    #[test]
    fn no_cell_is_left_out_when_planes_are_in_special_position() {
        let mut rng = Rng::new(2, Stream::Noise);
        for dim in [1, 2, 3] {
            let mut normals: Vec<f64> = (0..dim * 4).map(|_| rng.normal()).collect();
            let mut offsets: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
            normals.extend(normals.clone());
            offsets.extend([0.0; 4]);
            let pairs = cells(dim, &normals, &offsets);
            let most: f64 = (0..=dim).map(|j| choose(4, j) * 2f64.powi(j as i32)).sum();
            assert_eq!(pairs.len() as f64, most);
            let again: Vec<f64> = normals[..dim].to_vec();
            normals.extend(again.iter().copied().chain(again.iter().map(|v| -v)));
            offsets.extend([offsets[0], -offsets[0]]);
            normals.extend(vec![0.0; dim]);
            offsets.push(0.7);
            let distinct: BTreeSet<Region> = cells(dim, &normals, &offsets).into_iter().collect();
            let seen = sampled(dim, &normals, &offsets, &mut rng);
            assert!(seen.len() > 4 && seen.is_subset(&distinct), "{dim}");
        }
    }

    /// The planes of a mean-centred map all contain the line z_1 = z_2 = …: there is no vertex at all.
    #[test]
    fn planes_with_a_common_line_have_cells_too() {
        let dim = 4;
        let normals: Vec<f64> = (0..dim * dim)
            .map(|e| f64::from(u8::from(e % (dim + 1) == 0)) - 0.25)
            .collect();
        let distinct: BTreeSet<Region> = cells(dim, &normals, &[0.0; 4]).into_iter().collect();
        let mut rng = Rng::new(3, Stream::Noise);
        let seen = sampled(dim, &normals, &[0.0; 4], &mut rng);
        // Any state above or below the mean but not all on one side.
        assert_eq!(seen.len(), 14);
        assert!(seen.is_subset(&distinct));
    }

    fn choose(n: usize, k: usize) -> f64 {
        (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
    }
}
