//! The dendritic form of a map, and what can be made of it.
//!
//! A dendritic map has hinges φ(z_m − H_mb) on planes across the axes. All bases of a state act in one direction, the
//! column of W, whose own entry is zero; slopes α_b are shared by all states. A hinge of another map on a plane across
//! axis m is one of these after its scale is taken out; one that falls is turned round,
//!
//! ```text
//! φ(ωz + h) = |ω| φ(z − H),                   H = −h/ω,   ω > 0,
//! φ(ωz + h) = |ω| [φ(z − H) − (z − H)],                   ω < 0,
//! ```
//!
//! and leaves a linear part, which only A can take up. Of a clipped unit φ(ωz + h) − φ(ωz) it leaves the constant h.

use super::{ConversionError, Converted, States, same_states};
use crate::map::piecewise::PiecewiseLinear;
use crate::map::{Dims, Map};

/// F(z) = A∘z + W g(z) + h + C s,  g_m = Σ_b α_b φ(z_m − H_mb), clipped or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Dendrites {
    /// A, M.
    pub a: Vec<f64>,
    /// W, M × M, zero on the diagonal.
    pub w: Vec<f64>,
    /// h, M.
    pub h: Vec<f64>,
    /// α, B.
    pub slopes: Vec<f64>,
    /// H, M × B.
    pub thresholds: Vec<f64>,
    /// C, M × K.
    pub c: Vec<f64>,
}

/// How far numbers may differ that must be equal: parameters are kept in single precision.
const SINGLE: f64 = 1e-6;

impl Dendrites {
    /// The parameters of a dendritic map.
    pub(super) fn of(map: &dyn Map, theta: &[f64]) -> Dendrites {
        let part = |name: &str| theta[map.layout().range(name)].to_vec();
        Dendrites {
            a: part("A"),
            w: part("W"),
            h: part("h"),
            slopes: part("slopes"),
            thresholds: part("thresholds"),
            c: part("C"),
        }
    }

    fn dims(&self) -> Dims {
        let latent = self.a.len();
        Dims {
            latent,
            hidden: self.slopes.len(),
            inputs: self.c.len() / latent,
        }
    }

    /// As a dendritic map.
    pub fn to_dendritic(self) -> Converted {
        let dims = self.dims();
        let own = [self.slopes, self.thresholds].concat();
        same_states(dims, [self.a, self.w, self.h, own, self.c].concat())
    }

    /// As a shallow map, clipped if this is:  W1 = (α_1 W … α_B W),  W2 = (1; …; 1),  h2 = −(H_1; …; H_B).
    pub fn to_shallow(self) -> Converted {
        let (m, bases, dims) = (self.a.len(), self.slopes.len(), self.dims());
        let row = |i: usize| {
            let slopes = self.slopes.iter();
            slopes.flat_map(move |alpha| (0..m).map(move |j| (i, j, *alpha)))
        };
        let w1 = (0..m)
            .flat_map(row)
            .map(|(i, j, alpha)| alpha * self.w[i * m + j]);
        let w2 = (0..bases * m * m).map(|e| f64::from(u8::from(e % m == e / m % m)));
        let h2 = (0..bases * m).map(|l| -self.thresholds[l % m * bases + l / m]);
        let theta = self
            .a
            .iter()
            .copied()
            .chain(w1)
            .chain(self.h.iter().copied());
        let theta = theta.chain(w2).chain(h2).chain(self.c.iter().copied());
        let dims = Dims {
            hidden: bases * m,
            ..dims
        };
        same_states(dims, theta.collect())
    }

    /// As a PLRNN of MB states y_b = z − H_b:  Ã = (A, …, A),  W̃_bb' = α_b' W,  h̃_b = h − H_b + A∘H_b.
    pub fn to_plrnn(self) -> Converted {
        let (m, bases, dims) = (self.a.len(), self.slopes.len(), self.dims());
        let (size, inputs) = (m * bases, dims.inputs);
        let a = self.a.iter().copied().cycle().take(size);
        let w = (0..size * size).map(|e| {
            let (to, from) = (e / size, e % size);
            self.slopes[from / m] * self.w[to % m * m + from % m]
        });
        let h = (0..size).map(|y| {
            let (i, b) = (y % m, y / m);
            self.h[i] + (self.a[i] - 1.0) * self.thresholds[i * bases + b]
        });
        let c = self.c.iter().copied().cycle().take(size * inputs);
        Converted {
            dims: Dims {
                latent: size,
                hidden: 0,
                inputs,
            },
            theta: a.chain(w).chain(h).chain(c).collect(),
            states: States::Copies {
                thresholds: self.thresholds.clone(),
            },
        }
    }
}

/// A hinge on a plane across an axis: direction v = w1 |ω|, at z_m = H.
struct Basis {
    unit: usize,
    state: usize,
    threshold: f64,
    direction: Vec<f64>,
}

/// The dendritic form of hinges, if there is one.
pub fn to_dendritic(form: &PiecewiseLinear) -> Result<Dendrites, ConversionError> {
    let m = form.dim;
    let (mut h, mut coupling) = (form.h1.clone(), vec![0.0; m * m]);
    let mut bases = Vec::new();
    for l in (0..form.hinges()).filter(|&l| form.moves(l)) {
        let w1: Vec<f64> = (0..m).map(|i| form.w1[i * form.hinges() + l]).collect();
        let Some((state, omega)) = across(&form.w2[l * m..][..m], l)? else {
            add_scaled(&mut h, form.h2[l].max(0.0), &w1);
            continue;
        };
        let direction: Vec<f64> = w1.iter().map(|v| v * omega.abs()).collect();
        let threshold = -form.h2[l] / omega;
        if omega < 0.0 {
            add_scaled(&mut h, threshold, &direction);
            (0..m).for_each(|i| coupling[i * m + state] -= direction[i]);
        }
        bases.push(Basis {
            unit: l + 1,
            state,
            threshold,
            direction,
        });
    }
    let mut a = form.a.clone();
    absorb(&coupling, &bases, &mut a)?;
    let shared = share(merged(bases), m)?;
    Ok(Dendrites {
        a,
        h,
        c: form.c.clone(),
        ..shared
    })
}

/// The clipped dendritic form of a clipped shallow map, if there is one.
pub fn to_clipped_dendritic(map: &dyn Map, theta: &[f64]) -> Result<Dendrites, ConversionError> {
    let (m, hidden) = (map.dims().latent, map.dims().hidden);
    let part = |name: &str| theta[map.layout().range(name)].to_vec();
    let (w1, w2, h2, mut h) = (part("W1"), part("W2"), part("h2"), part("h1"));
    let mut bases = Vec::new();
    for l in 0..hidden {
        let column: Vec<f64> = (0..m).map(|i| w1[i * hidden + l]).collect();
        if column.iter().all(|&v| v == 0.0) {
            continue;
        }
        let Some((state, omega)) = across(&w2[l * m..][..m], l)? else {
            add_scaled(&mut h, h2[l].max(0.0), &column);
            continue;
        };
        if omega < 0.0 {
            add_scaled(&mut h, h2[l], &column);
        }
        bases.push(Basis {
            unit: l + 1,
            state,
            threshold: -h2[l] / omega,
            direction: column.iter().map(|v| v * omega.abs()).collect(),
        });
    }
    let shared = share(merged(bases), m)?;
    Ok(Dendrites {
        a: part("A"),
        h,
        c: part("C"),
        ..shared
    })
}

/// The one state that a normal looks at, and its entry there; `None` if it looks at none.
fn across(normal: &[f64], l: usize) -> Result<Option<(usize, f64)>, ConversionError> {
    let mut entries = normal
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, v)| *v != 0.0);
    match (entries.next(), entries.next()) {
        (_, Some(_)) => Err(ConversionError::Oblique { unit: l + 1 }),
        (one, None) => Ok(one),
    }
}

fn add_scaled(to: &mut [f64], scale: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, v)| *to += scale * v);
}

fn size(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// Puts what falling hinges leave into A; off the diagonal there is no place for it.
fn absorb(coupling: &[f64], bases: &[Basis], a: &mut [f64]) -> Result<(), ConversionError> {
    let m = a.len();
    for state in 0..m {
        let of_state = bases.iter().filter(|basis| basis.state == state);
        let scale = of_state.map(|basis| size(&basis.direction)).sum::<f64>();
        for i in 0..m {
            let left = coupling[i * m + state];
            if i == state {
                a[i] += left;
            } else if left.abs() > SINGLE * scale {
                return Err(ConversionError::Coupling { state: state + 1 });
            }
        }
    }
    Ok(())
}

/// Bases at one place are one; those that cancel are none.
fn merged(bases: Vec<Basis>) -> Vec<Basis> {
    let mut all: Vec<(Basis, f64)> = Vec::new();
    for basis in bases {
        let scale = size(&basis.direction);
        let twin = all
            .iter_mut()
            .find(|(b, _)| b.state == basis.state && b.threshold == basis.threshold);
        match twin {
            Some((b, total)) => {
                add_scaled(&mut b.direction, 1.0, &basis.direction);
                *total += scale;
            }
            None => all.push((basis, scale)),
        }
    }
    let kept = all
        .into_iter()
        .filter(|(b, scale)| size(&b.direction) > SINGLE * scale);
    kept.map(|(basis, _)| basis).collect()
}

/// Splits the directions into columns of W and slopes that all states share.
fn share(bases: Vec<Basis>, m: usize) -> Result<Dendrites, ConversionError> {
    let mut w = vec![0.0; m * m];
    let mut slopes: Option<(usize, Vec<f64>)> = None;
    let mut places: Vec<Vec<f64>> = vec![Vec::new(); m];
    for state in 0..m {
        let of_state: Vec<&Basis> = bases.iter().filter(|b| b.state == state).collect();
        let Some(mut split) = Split::of(&of_state, state)? else {
            continue;
        };
        match &slopes {
            None => slopes = Some((state, split.slopes())),
            Some((first, shared)) => split.align(shared).ok_or(ConversionError::Slopes {
                first: first + 1,
                second: state + 1,
            })?,
        }
        (0..m).for_each(|i| w[i * m + state] = split.column[i]);
        places[state] = split
            .pairs
            .iter()
            .map(|(_, threshold)| *threshold)
            .collect();
    }
    // A map without hinges has one basis without effect.
    let slopes = slopes.map_or(vec![0.0], |(_, slopes)| slopes);
    let row = |mut place: Vec<f64>| {
        place.resize(slopes.len(), 0.0);
        place
    };
    Ok(Dendrites {
        thresholds: places.into_iter().flat_map(row).collect(),
        slopes,
        w,
        a: Vec::new(),
        h: Vec::new(),
        c: Vec::new(),
    })
}

/// The bases of a state: their common direction, and slope and threshold of each, by descending slope.
struct Split {
    column: Vec<f64>,
    pairs: Vec<(f64, f64)>,
}

impl Split {
    fn of(bases: &[&Basis], state: usize) -> Result<Option<Split>, ConversionError> {
        let largest = |a: &&&Basis, b: &&&Basis| size(&a.direction).total_cmp(&size(&b.direction));
        let Some(reference) = bases.iter().max_by(largest) else {
            return Ok(None);
        };
        let mut column = reference.direction.clone();
        let scale = size(&column);
        let square: f64 = column.iter().map(|v| v * v).sum();
        let mut pairs = Vec::new();
        if let Some(own) = bases
            .iter()
            .find(|basis| basis.direction[state].abs() > SINGLE * scale)
        {
            return Err(ConversionError::OwnState {
                unit: own.unit,
                state: state + 1,
            });
        }
        for basis in bases {
            let product = basis.direction.iter().zip(&column).map(|(v, c)| v * c);
            let slope = product.sum::<f64>() / square;
            let misses = |(v, c): (&f64, &f64)| (v - slope * c).abs() > SINGLE * scale;
            if basis.direction.iter().zip(&column).any(misses) {
                return Err(ConversionError::Directions { state: state + 1 });
            }
            pairs.push((slope, basis.threshold));
        }
        column[state] = 0.0;
        let mut split = Split { column, pairs };
        split.sort();
        Ok(Some(split))
    }

    fn sort(&mut self) {
        self.pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    }

    fn slopes(&self) -> Vec<f64> {
        self.pairs.iter().map(|(slope, _)| *slope).collect()
    }

    /// Makes the slopes those that are shared, with either sign of the column; `None` if they are others.
    fn align(&mut self, shared: &[f64]) -> Option<()> {
        for _ in 0..2 {
            let is_equal = |(a, b): (&f64, f64)| (a - b).abs() <= SINGLE * 10.0;
            let same_count = self.pairs.len() == shared.len();
            if same_count && shared.iter().zip(self.slopes()).all(is_equal) {
                return Some(());
            }
            self.column.iter_mut().for_each(|v| *v = -*v);
            self.pairs
                .iter_mut()
                .for_each(|(slope, _)| *slope = -*slope);
            self.sort();
        }
        None
    }
}
