//! Hellinger distance between smoothed power spectra f and g, averaged over channels:
//!
//! ```text
//! D_H = 1/N Σ_i ‖√f_i − √g_i‖₂ / √2
//! ```
//!
//! Spectra are those of [`spectrum`], with sum one; 0 if they agree, 1 if they share no frequency
//! (Hess et al. 2023).

use super::surrogate::Surrogate;
use super::{
    Against, Better, Estimate, Judges, MeasureError, MeasureInfo, Rows, point, spectrum, spread,
};
use crate::catalogue::{Entry, Kind};

/// D_H in the list.
pub static INFO: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "d_h",
        summary: "Hellinger distance of power spectra: how differently truth and orbit run in time",
        details: "D_H = 1/N Σ_i ‖√f_i − √g_i‖₂ / √2, with f and g the power spectra of channel i, standardised,\n\
                  smoothed by a Gaussian of σ = 20 frequencies and normalised to sum 1; from 0 to 1\n\
                  Both series have the same length. An orbit that has shrunk to a point (no channel varies by 1e-3 of\n\
                  the truth's spread) has none. Blind to all but the spectrum: phase-randomised data score 0.",
        settings: &[],
        references: &["hess2023", "brenner2022"],
    },
    better: Better::Lower,
    judges: Judges::Orbit(|truth, _| Ok(Some(Box::new(Spectra::new(truth)?)))),
    blind_to: &[Surrogate::PhaseRandomised],
};

/// The spectra of a truth.
#[derive(Debug, Clone)]
pub struct Spectra {
    roots: Vec<Vec<f64>>,
    moments: Vec<(f64, f64)>,
    len: usize,
}

impl Spectra {
    /// The spectra of a truth without a constant channel.
    pub fn new(truth: Rows<'_>) -> Result<Spectra, MeasureError> {
        let moments = spread(truth)?;
        Ok(Spectra {
            roots: roots(truth),
            moments,
            len: truth.len(),
        })
    }

    /// D_H of an orbit as long as the truth.
    pub fn distance(&self, generated: Rows<'_>) -> Result<f64, MeasureError> {
        if generated.len() != self.len {
            return Err(MeasureError::Lengths {
                truth: self.len,
                generated: generated.len(),
            });
        }
        let shares = point::shares(generated, &self.moments);
        point::refuse_point(&shares)?;
        point::refuse_still(&shares)?;
        let of_generated = roots(generated);
        let distances = self
            .roots
            .iter()
            .zip(&of_generated)
            .map(|(f, g)| hellinger(f, g));
        Ok(distances.sum::<f64>() / self.moments.len() as f64)
    }
}

impl Against for Spectra {
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError> {
        Ok(Estimate::exact(self.distance(generated)?))
    }
}

fn roots(rows: Rows<'_>) -> Vec<Vec<f64>> {
    let mut spectra = spectrum::smoothed(rows);
    spectra.iter_mut().flatten().for_each(|p| *p = p.sqrt());
    spectra
}

/// ‖√f − √g‖₂ / √2.
fn hellinger(f: &[f64], g: &[f64]) -> f64 {
    let squares = f.iter().zip(g).map(|(f, g)| (f - g) * (f - g));
    (0.5 * squares.sum::<f64>()).sqrt()
}
