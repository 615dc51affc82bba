//! Sparse identification of nonlinear dynamics (SINDy; Brunton et al. 2016): equations with few terms, found by regression.
//!
//! ```text
//! flow   dx_n/dt = Σ_j c_nj φ_j(x, s)       map   x_{t+1,n} = Σ_j c_nj φ_j(x_t, s_{t+1})
//! ```
//!
//! Slopes come from smoothed rows (`derivative`), terms φ from a library (`library`), sums over the rows in blocks (`sums`), few terms
//! from thresholds (`sparse`), the last digits from the rows again (`refine`). The state is the row, together with the inputs of its time in a flow: between two rows they change
//! linearly. A flow is integrated over Δt with rtol 10⁻⁶ and atol 10⁻⁴ spreads of the data (`flow`).

mod derivative;
mod ensemble;
mod error;
mod fit;
mod flow;
mod library;
mod program;
mod refine;
mod scan;
mod settings;
mod sparse;
mod sums;
mod zero;

use self::error::SindyError;
use self::flow::{Lanes, Stepper};
pub use self::library::{Feature, Interactions, Library, Terms};
use self::program::{Program, Sum, derivatives};
use super::{Fit, LoadError, Method, Tensors, axes, nothing_to_settle, refuse_other};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::{
    Dynamics, FlowRecipe, Forecasts, Named, Recipe, Sizes, Stretch, Tangent, Values, leaves_f32,
};
use crate::equations::{Equations, Factor, Side, Term};
use crate::system::halving::coefficients;
use crate::text::{count, figure};
use crate::theta::Shape;

/// SINDy in the list.
pub static SINDY: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "sindy",
        summary: "sparse equations by regression on a library of terms (SINDy)",
        details: "dx_n/dt = Σ_j c_nj φ_j(x, s), or x_{t+1,n} = Σ_j c_nj φ_j(x_t, s_{t+1})\n\
                  Rows are smoothed (Savitzky–Golay) and differentiated; terms φ are monomials or waves of them. Coefficients are those\n\
                  of a ridge regression; terms with |c| below the threshold are dropped, the rest is fitted anew, until none is\n\
                  dropped; at last without the penalty. A threshold is in units of the data (standardised) per unit of time.\n\
                  --optimizer sr3 drops terms by relaxed regression; --ensemble fits draws of the rows and keeps what most agree on.\n\
                  A solution may leave every bound in finite time: then its orbit ends, and it has no scores.",
        settings: settings::LIST,
        references: &["brunton2016", "champion2020", "fasel2022", "breiman1984"],
    },
    dependences: settings::DEPENDENCES,
    numerics: 3,
    fit: Fit::Solve(fit::solve),
    settle: nothing_to_settle,
    load,
    story: settings::story,
};

/// Relative tolerance of the integration.
const RELATIVE: f64 = 1e-6;

/// Absolute tolerance of the integration, in spreads of a channel.
const ABSOLUTE: f64 = 1e-4;

/// How far a state may be from zero, in root mean squares of a channel.
const FARTHEST: f64 = 1e6;

/// What equations are of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// dx/dt = f(x, s), seen every Δt.
    Flow {
        /// Δt.
        dt: f64,
    },
    /// x_{t+1} = f(x_t, s_{t+1}).
    Map,
}

/// A fitted system of equations.
#[derive(Debug, Clone)]
pub struct Sindy {
    channels: usize,
    library: Library,
    law: Law,
    /// Coefficients, N × F.
    c: Vec<f64>,
    /// Largest error of a step, by channel.
    absolute: Vec<f64>,
    /// Largest value, by channel.
    bound: Vec<f64>,
    tensors: Stored,
    equations: Program,
    slopes: Program,
}

/// What a model file holds beside the coefficients.
#[derive(Debug, Clone, PartialEq)]
struct Stored {
    /// Degree, interactions, constant, frequencies.
    library: [f64; 4],
    /// Δt of a flow, 0 of a map.
    dt: [f64; 1],
    /// Spread of every channel.
    spread: Vec<f64>,
    /// Root mean square of every channel.
    size: Vec<f64>,
    /// The threshold that terms were dropped by.
    threshold: [f64; 1],
}

/// How data vary: what tolerances and bounds are measured by.
#[derive(Debug, Clone, PartialEq)]
struct Extent {
    spread: Vec<f64>,
    size: Vec<f64>,
}

impl Sindy {
    fn new(library: Library, law: Law, c: Vec<f64>, extent: Extent, threshold: f64) -> Sindy {
        let n = extent.spread.len();
        let terms_of = |c: &[f64]| -> Sum {
            let terms = library.features().iter().zip(c);
            let present = terms.filter(|(_, c)| **c != 0.0);
            present.map(|(feature, &c)| (feature.clone(), c)).collect()
        };
        let sums: Vec<Sum> = c.chunks_exact(library.len()).map(terms_of).collect();
        let terms = library.terms();
        let interactions = match terms.interactions {
            Interactions::All => 0.0,
            Interactions::None => 1.0,
            Interactions::Only => 2.0,
        };
        let stored = Stored {
            library: [
                terms.degree as f64,
                interactions,
                f64::from(u8::from(terms.has_constant)),
                terms.frequencies as f64,
            ],
            dt: match law {
                Law::Flow { dt } => [dt],
                Law::Map => [0.0],
            },
            spread: extent.spread,
            size: extent.size,
            threshold: [threshold],
        };
        Sindy {
            channels: n,
            equations: Program::new(library.variables(), &sums),
            slopes: derivatives(library.variables(), &sums),
            absolute: stored.spread.iter().map(|s| ABSOLUTE * s).collect(),
            bound: stored.size.iter().map(|s| FARTHEST * s).collect(),
            tensors: stored,
            library,
            law,
            c,
        }
    }

    /// The candidate terms.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// What the equations are of.
    pub fn law(&self) -> Law {
        self.law
    }

    /// All coefficients, N × F.
    pub fn coefficients(&self) -> &[f64] {
        &self.c
    }

    /// The threshold that terms were dropped by.
    pub fn threshold(&self) -> f64 {
        self.tensors.threshold[0]
    }

    /// Terms that all equations have together.
    pub fn terms_left(&self) -> usize {
        self.c.iter().filter(|c| **c != 0.0).count()
    }

    fn inputs(&self) -> usize {
        self.library.variables() - self.channels
    }
}

impl Dynamics for Sindy {
    fn sizes(&self) -> Sizes {
        let inputs = self.inputs();
        Sizes {
            state: match self.law {
                Law::Flow { .. } => self.channels + inputs,
                Law::Map => self.channels,
            },
            channels: self.channels,
            inputs,
            dim: self.channels,
            parameters: self.c.len(),
        }
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        let (x, s) = z.split_at_mut(self.channels);
        x.copy_from_slice(data.row(t));
        if !s.is_empty() {
            s.copy_from_slice(data.inputs_of(t..t + 1));
        }
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        next.copy_from_slice(z);
        Stepper::new(self).step(next, s);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        x_hat.copy_from_slice(&z[..self.channels]);
    }

    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        let mut z = z.to_vec();
        Stepper::with_tangent(self).advance(&mut z, s, jac);
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let Stored {
            library,
            dt,
            spread,
            size,
            threshold,
        } = &self.tensors;
        let vector = |name, values| Named {
            name,
            shape: Shape::Vector(<[f64]>::len(values)),
            values: Values::F64(values),
        };
        vec![
            Named {
                name: "C",
                shape: Shape::Matrix(self.channels, self.library.len()),
                values: Values::F64(&self.c),
            },
            vector("library", library),
            vector("dt", dt),
            vector("spread", spread),
            vector("size", size),
            vector("threshold", threshold),
        ]
    }

    fn describe(&self) -> String {
        format!(
            "{} of {} candidates, {}, threshold {}",
            count(self.terms_left(), "term"),
            self.c.len(),
            self.library.terms(),
            figure(self.threshold())
        )
    }

    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let (n, k) = (self.channels, self.inputs());
        let mut rows = vec![f64::NAN; steps * n];
        let (mut z, mut stepper) = (z.to_vec(), Stepper::new(self));
        for (t, row) in rows.chunks_exact_mut(n).enumerate() {
            if t > 0 {
                stepper.step(&mut z, &inputs[t * k..][..k]);
            }
            if z.iter().any(|&z| leaves_f32(z)) {
                break;
            }
            row.copy_from_slice(&z[..n]);
        }
        rows
    }

    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        Box::new(Lanes::new(self, data))
    }

    fn tangent(&self) -> Box<dyn Tangent + '_> {
        Box::new(Stepper::with_tangent(self))
    }

    fn recipe(&self) -> Option<Recipe> {
        let flow = |dt: f64| {
            let ((stages, weights, errors), halvings) = coefficients();
            FlowRecipe {
                dt,
                relative: RELATIVE,
                absolute: self.absolute.clone(),
                bound: self.bound.clone(),
                halvings,
                stages,
                weights,
                errors,
            }
        };
        Some(Recipe {
            channels: self.channels,
            inputs: self.inputs(),
            operations: self.equations.operations().to_vec(),
            sums: self.equations.sums(),
            flow: match self.law {
                Law::Flow { dt } => Some(flow(dt)),
                Law::Map => None,
            },
        })
    }

    fn equations(&self) -> Option<Equations> {
        let factors: Vec<Factor> = self.library.features().iter().map(Factor::from).collect();
        let sum = |c: &[f64]| {
            let present = c.iter().zip(&factors).filter(|(c, _)| **c != 0.0);
            let term = |(c, factor): (&f64, &Factor)| Term {
                coefficient: *c,
                factor: factor.clone(),
            };
            present.map(term).collect()
        };
        Some(Equations {
            side: match self.law {
                Law::Flow { .. } => Side::Slope,
                Law::Map => Side::Next,
            },
            channels: self.channels,
            sums: self.c.chunks_exact(self.library.len()).map(sum).collect(),
            candidates: factors,
        })
    }
}

impl From<&Feature> for Factor {
    fn from(feature: &Feature) -> Factor {
        match *feature {
            Feature::Monomial(ref factors) => Factor::Product(factors.clone()),
            Feature::Sine {
                variable,
                frequency,
            } => Factor::Sine {
                variable,
                frequency: frequency as f64,
            },
            Feature::Cosine {
                variable,
                frequency,
            } => Factor::Cosine {
                variable,
                frequency: frequency as f64,
            },
        }
    }
}

/// The largest degree and frequency of a library; what a user can set, and a model file can have.
const MOST: usize = 1000;

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [n, f] = axes(tensors, "C")?;
    let layout = [
        ("C", Shape::Matrix(n, f)),
        ("library", Shape::Vector(4)),
        ("dt", Shape::Vector(1)),
        ("spread", Shape::Vector(n)),
        ("size", Shape::Vector(n)),
        ("threshold", Shape::Vector(1)),
    ];
    refuse_other(tensors, &layout)?;
    let numbers = |name: &str| tensors[name].f64s();
    let terms = terms_of(&numbers("library"))?;
    let library = library_of(terms, n, f)?;
    let law = match numbers("dt")[0] {
        0.0 => Law::Map,
        dt if dt > 0.0 => Law::Flow { dt },
        dt => return Err(invalid("dt", format!("a step of {dt}"))),
    };
    let extent = Extent {
        spread: numbers("spread"),
        size: numbers("size"),
    };
    let threshold = numbers("threshold")[0];
    Ok(Box::new(Sindy::new(
        library,
        law,
        numbers("C"),
        extent,
        threshold,
    )))
}

fn invalid(name: &'static str, reason: String) -> LoadError {
    LoadError::Invalid { name, reason }
}

/// What the four numbers of a library stand for.
fn terms_of(numbers: &[f64]) -> Result<Terms, LoadError> {
    let whole =
        |v: f64| (v.fract() == 0.0 && (0.0..=MOST as f64).contains(&v)).then_some(v as usize);
    let found: Option<Vec<usize>> = numbers.iter().map(|&v| whole(v)).collect();
    match found.as_deref() {
        Some(&[degree, interactions @ 0..=2, constant @ 0..=1, frequencies]) => Ok(Terms {
            degree,
            interactions: [Interactions::All, Interactions::None, Interactions::Only][interactions],
            has_constant: constant == 1,
            frequencies,
        }),
        _ => Err(invalid("library", format!("no library is {numbers:?}"))),
    }
}

/// The library of so many terms in N channels and some inputs: their number follows.
fn library_of(terms: Terms, channels: usize, features: usize) -> Result<Library, LoadError> {
    let counts = |inputs: &usize| terms.count(channels + inputs) == Some(features);
    let inputs = (0..=features).find(counts).ok_or_else(|| {
        invalid(
            "C",
            format!("no library of {channels} channels has {features} terms"),
        )
    })?;
    Ok(Library::new(terms, channels + inputs))
}
