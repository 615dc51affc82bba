//! The linear splines of dendritic units on lanes, by the piece that a state lies in.
//!
//! g_m(z) = Σ_b α_b [φ(z − H_mb) − φ(z)], the second term only if clipped, is a line between two neighbouring knots:
//!
//! ```text
//! g_m(z) = slope_k z − offset_k        slope_k = Σ_{knots below} α        offset_k = Σ_{knots below} α H
//! ```
//!
//! The knots are the thresholds and, if clipped, 0 with the slope −Σ_b α_b. Once an update they are sorted and the sums
//! written down, so that a step counts the knots below a state and looks its line up. Gradients go the same way: cotangents
//! c and c z are added to the piece that they fell into, and what is open at a knot is all beyond it:
//!
//! ```text
//! dH_mb = −α_b Σ_{z > H} c        dα_b = Σ_m [Σ_{z > H} (c z − H_mb c) − Σ_{z > 0} c z]  (the last term only if clipped)
//! ```
//!
//! To find the piece in a table of equal cells instead was no faster with 51 knots and slower with 41 and 21: which of the
//! knots in a cell are below cannot be foreseen. Where |z| is much larger than |z − H| the differences lose as many digits
//! as A∘z does.

use std::ops::Range;

use crate::map::dendritic::Clipping;
use crate::simd::{Groups, Lanes, Rows, Select, Simd, SimdBase, SimdFloat};

/// States whose knots are counted side by side, so that a count does not wait for the addition before it.
const ABREAST: usize = 4;

/// Knots are sorted one by one for so many moves each, which is all they need from one update to the next.
const MOVES_A_KNOT: usize = 8;

/// 2²³: what is added to it is counted in its last bits.
const COUNTED: f32 = 8_388_608.0;

/// A line between two knots.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    slope: f32,
    offset: f32,
}

/// The splines of all states.
pub(super) struct Splines {
    dim: usize,
    bases: usize,
    clipping: Clipping,
    /// Which basis the knots of a state belong to, from the lowest to the highest; the knot at 0 has the number of bases.
    order: Vec<u32>,
    /// The knots in that order.
    ends: Vec<f32>,
    /// Pieces, one more than knots.
    pieces: Vec<Piece>,
    slopes: Vec<f32>,
    thresholds: Vec<f32>,
}

impl Splines {
    pub(super) fn new(dim: usize, bases: usize, clipping: Clipping) -> Splines {
        let knots = knots_of(bases, clipping);
        assert!(knots < COUNTED as usize, "{knots} knots cannot be counted");
        Splines {
            dim,
            bases,
            clipping,
            order: (0..dim).flat_map(|_| 0..knots as u32).collect(),
            ends: vec![0.0; dim * knots],
            pieces: vec![Piece::default(); dim * (knots + 1)],
            slopes: vec![0.0; bases],
            thresholds: vec![0.0; dim * bases],
        }
    }

    /// The same splines with clipped bases, or not.
    pub(super) fn clipped(self, clipping: Clipping) -> Splines {
        Splines::new(self.dim, self.bases, clipping)
    }

    fn knots(&self) -> usize {
        knots_of(self.bases, self.clipping)
    }

    /// Takes α and H.
    pub(super) fn prepare(&mut self, slopes: &[f32], thresholds: &[f32]) {
        self.slopes.copy_from_slice(slopes);
        self.thresholds.copy_from_slice(thresholds);
        let total = slopes.iter().map(|&slope| f64::from(slope)).sum();
        for m in 0..self.dim {
            self.sort(m);
            self.add_up(m, total);
        }
    }

    /// Sorts the knots of a state, which are nearly sorted since the update before. Equal ones keep the order of the bases,
    /// whatever was before.
    fn sort(&mut self, m: usize) {
        let knots = self.knots();
        let thresholds = &self.thresholds[m * self.bases..][..self.bases];
        let order = &mut self.order[m * knots..][..knots];
        let by_knot = |one: &u32, other: &u32| {
            let knots = knot(thresholds, *one).total_cmp(&knot(thresholds, *other));
            knots.then(one.cmp(other))
        };
        let mut moves = 0;
        for end in 1..knots {
            let moving = order[end];
            let mut at = end;
            while at > 0 && by_knot(&order[at - 1], &moving).is_gt() {
                order[at] = order[at - 1];
                at -= 1;
            }
            order[at] = moving;
            moves += end - at;
            if moves > MOVES_A_KNOT * knots {
                // Far from sorted, as at first.
                order.sort_unstable_by(by_knot);
                return;
            }
        }
    }

    /// Slopes and offsets of a state's pieces, Σ_b α_b being known.
    fn add_up(&mut self, m: usize, total: f64) {
        let (knots, bases) = (self.knots(), self.bases);
        let thresholds = &self.thresholds[m * bases..][..bases];
        let ends = &mut self.ends[m * knots..][..knots];
        let pieces = &mut self.pieces[m * (knots + 1)..][..knots + 1];
        let (mut slope, mut offset) = (0.0, 0.0);
        for (k, &index) in self.order[m * knots..][..knots].iter().enumerate() {
            ends[k] = knot(thresholds, index);
            let alpha = self.slopes.get(index as usize);
            let alpha = alpha.map_or(-total, |&alpha| f64::from(alpha));
            slope += alpha;
            offset += alpha * f64::from(ends[k]);
            pieces[k + 1] = Piece {
                slope: slope as f32,
                offset: offset as f32,
            };
        }
        if self.clipping == Clipping::On {
            // All bases and φ(z) together: exactly flat.
            pieces[knots].slope = 0.0;
        }
    }

    /// Writes down slope and offset of the piece that each state lies in, and which one it is.
    #[inline(always)]
    pub(super) fn look_up<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        (slopes, offsets, places): (&mut [P], &mut [P], &mut [P]),
    ) {
        self.count(
            simd,
            z,
            #[inline(always)]
            |m, counts| places[m].store(counts),
        );
        let states = places.iter().zip(slopes).zip(offsets);
        for (((place, slope), offset), pieces) in states.zip(self.pieces_by_state()) {
            let lanes = slope.lanes_mut().iter_mut().zip(offset.lanes_mut());
            for ((slope, offset), &place) in lanes.zip(place.lanes()) {
                let piece = pieces[counted(place)];
                (*slope, *offset) = (piece.slope, piece.offset);
            }
        }
    }

    /// Slopes alone.
    #[inline(always)]
    pub(super) fn slopes<S: Simd, P: Lanes>(&self, simd: S, z: &[P], slopes: &mut [P]) {
        self.count(
            simd,
            z,
            #[inline(always)]
            |m, counts| slopes[m].store(counts),
        );
        for (slope, pieces) in slopes.iter_mut().zip(self.pieces_by_state()) {
            let lanes = slope.lanes_mut().iter_mut();
            lanes.for_each(|lane| *lane = pieces[counted(*lane)].slope);
        }
    }

    fn pieces_by_state(&self) -> impl Iterator<Item = &[Piece]> {
        self.pieces.chunks_exact(self.knots() + 1)
    }

    /// Calls emit(m, number of knots below state m, in the last bits) for every state.
    #[inline(always)]
    fn count<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        mut emit: impl FnMut(usize, P::Vector<S>),
    ) {
        let whole = z.len() - z.len() % ABREAST;
        for m in (0..whole).step_by(ABREAST) {
            self.count_some::<S, P, ABREAST>(simd, (m, z), &mut emit);
        }
        for m in whole..z.len() {
            self.count_some::<S, P, 1>(simd, (m, z), &mut emit);
        }
    }

    /// The same for R states from m on.
    #[inline(always)]
    fn count_some<S: Simd, P: Lanes, const R: usize>(
        &self,
        simd: S,
        (m, z): (usize, &[P]),
        emit: &mut impl FnMut(usize, P::Vector<S>),
    ) {
        let knots = self.knots();
        let ends: [&[f32]; R] = std::array::from_fn(|r| &self.ends[(m + r) * knots..][..knots]);
        let (zero, one) = (P::Vector::splat(simd, 0.0), P::Vector::splat(simd, 1.0));
        let (mut at, mut counts) = ([zero; R], [P::Vector::splat(simd, COUNTED); R]);
        for (at, z) in at.iter_mut().zip(&z[m..]) {
            *at = z.load(simd);
        }
        for k in 0..knots {
            for ((at, count), ends) in at.iter().zip(&mut counts).zip(ends) {
                let below = at.simd_gt(P::Vector::splat(simd, ends[k]));
                *count += below.select(one, zero);
            }
        }
        for (r, &count) in counts.iter().enumerate() {
            emit(m + r, count);
        }
    }

    /// Running sums of a state: Σ c and Σ c z of every piece.
    pub(super) fn sums_a_state(&self) -> usize {
        2 * (self.knots() + 1)
    }

    /// Adds some steps of a state to its running sums: its values z, the cotangents c of its spline, and the marks that
    /// steps left, slopes and pieces of all states.
    #[inline(always)]
    pub(super) fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        m: usize,
        [z, c, marks]: [Rows<'_, P>; 3],
        sums: &mut [P],
    ) {
        let places = marks.feature(self.dim + m);
        let steps = z.feature(m).zip(c.feature(m)).zip(places);
        for ((z, c), places) in steps {
            let mut cz = P::ZERO;
            cz.store(c.load(simd) * z.load(simd));
            for lane in 0..P::WIDTH {
                let k = counted(places.lanes()[lane]);
                let sums = &mut sums[2 * k..2 * k + 2];
                sums[0].lanes_mut()[lane] += c.lanes()[lane];
                sums[1].lanes_mut()[lane] += cz.lanes()[lane];
            }
        }
    }

    /// dα and dH at their places from the running sums of all states, which are added in order.
    #[inline(always)]
    pub(super) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        sums: &[P],
        [slopes, thresholds]: [Range<usize>; 2],
        groups: &mut Groups<'_>,
    ) {
        let (knots, zero) = (self.knots(), P::Vector::splat(simd, 0.0));
        slopes.clone().for_each(|place| groups.put(place, [0.0; 2]));
        let mut floors = zero;
        for (m, sums) in sums.chunks_exact(self.sums_a_state()).enumerate() {
            let (mut open, mut open_z) = (zero, zero);
            for k in (0..knots).rev() {
                open += sums[2 * k + 2].load(simd);
                open_z += sums[2 * k + 3].load(simd);
                let b = self.order[m * knots + k] as usize;
                if b == self.bases {
                    floors += open_z;
                    continue;
                }
                let h = P::Vector::splat(simd, self.thresholds[m * self.bases + b]);
                let slope = P::Vector::splat(simd, -self.slopes[b]);
                groups.add(slopes.start + b, P::group_sums((-h).mul_add(open, open_z)));
                let place = thresholds.start + m * self.bases + b;
                groups.put(place, P::group_sums(open * slope));
            }
        }
        let floors = P::group_sums(-floors);
        slopes.for_each(|place| groups.add(place, floors));
    }
}

/// Knots of a state.
fn knots_of(bases: usize, clipping: Clipping) -> usize {
    match clipping {
        Clipping::Off => bases,
        Clipping::On => bases + 1,
    }
}

/// What was counted in the last bits.
#[inline(always)]
fn counted(count: f32) -> usize {
    (count.to_bits() & (COUNTED as u32 - 1)) as usize
}

/// The threshold of a basis; 0 behind the last one.
fn knot(thresholds: &[f32], index: u32) -> f32 {
    thresholds.get(index as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Lanes8, Task, dispatch};

    /// Slope, offset and piece of eight numbers in the first of two states.
    struct Found<'a>(&'a Splines, [f32; 8]);

    impl Task for Found<'_> {
        type Output = [[f32; 8]; 3];

        fn run<S: Simd>(self, simd: S) -> [[f32; 8]; 3] {
            let mut z = Lanes8::ZERO;
            z.lanes_mut().copy_from_slice(&self.1);
            let mut found = [[Lanes8::ZERO; 2]; 3];
            let [slopes, offsets, places] = &mut found;
            self.0.look_up(simd, &[z; 2], (slopes, offsets, places));
            found.map(|[lanes, _]| lanes.lanes().try_into().expect("there are eight"))
        }
    }

    /// Thresholds that are equal, of either zero, close together and far apart.
    const THRESHOLDS: [&[f32]; 5] = [
        &[0.5],
        &[0.0, -0.0, 0.0],
        &[1.0, 1.0 + f32::EPSILON, -3.0, 1.0, 1e-30, -1e-30],
        &[1e30, -1e30, 0.1, 0.2, 0.3],
        &[2.0, 2.0, 2.0, 2.0],
    ];

    #[test]
    fn a_number_lies_in_the_piece_after_all_knots_below_it() {
        for (thresholds, clipping) in THRESHOLDS
            .into_iter()
            .flat_map(|h| [(h, Clipping::Off), (h, Clipping::On)])
        {
            let slopes: Vec<f32> = (0..thresholds.len()).map(|b| 1.0 + b as f32).collect();
            let mut splines = Splines::new(2, thresholds.len(), clipping);
            let others = thresholds.iter().map(|h| 7.0 - h);
            let both: Vec<f32> = thresholds.iter().copied().chain(others).collect();
            splines.prepare(&slopes, &both);
            for &h in thresholds.iter().chain(&[0.0]) {
                let z = [
                    h,
                    h.next_up(),
                    h.next_down(),
                    -h,
                    h + 0.1,
                    h - 0.1,
                    f32::MAX,
                    f32::MIN,
                ];
                for isa in Isa::available() {
                    let [slope, offset, place] = dispatch::<Lanes8, _>(isa, Found(&splines, z));
                    for lane in 0..8 {
                        let below = thresholds.iter().filter(|&&h| z[lane] > h).count();
                        let floor = usize::from(clipping == Clipping::On && z[lane] > 0.0);
                        assert_eq!(counted(place[lane]), below + floor, "{}", z[lane]);
                        // Slopes are small whole numbers: their sums are exact. Those of offsets are rounded once, from f64.
                        let open = || {
                            thresholds
                                .iter()
                                .zip(&slopes)
                                .filter(|&(&h, _)| z[lane] > h)
                        };
                        let all: f32 = slopes.iter().sum();
                        let expected =
                            open().map(|(_, slope)| slope).sum::<f32>() - floor as f32 * all;
                        assert_eq!(slope[lane], expected, "{}", z[lane]);
                        let parts = || open().map(|(&h, &slope)| f64::from(h) * f64::from(slope));
                        let apart = f64::from(offset[lane]) - parts().sum::<f64>();
                        let size: f64 = parts().map(f64::abs).sum();
                        assert!(apart.abs() <= f64::from(f32::EPSILON) * size, "{}", z[lane]);
                    }
                }
            }
        }
    }

    #[test]
    fn tables_do_not_depend_on_the_update_before() {
        let slopes = [0.3, -0.7, 1.1, 0.2];
        let (one, other) = ([0.4, -0.1, 0.4, 0.4], [0.9, 0.4, -2.0, 0.0]);
        let [mut fresh, mut used] = [(); 2].map(|()| Splines::new(1, 4, Clipping::On));
        used.prepare(&slopes, &other);
        used.prepare(&slopes, &one);
        fresh.prepare(&slopes, &one);
        assert_eq!(fresh.order, used.order);
        assert_eq!(fresh.ends, used.ends);
        let bits = |s: &Splines| -> Vec<[u32; 2]> {
            let of = |p: &Piece| [p.slope, p.offset].map(f32::to_bits);
            s.pieces.iter().map(of).collect()
        };
        assert_eq!(bits(&fresh), bits(&used));
    }
}
