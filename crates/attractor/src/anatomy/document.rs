//! An anatomy as a document, as `attractor analyze --json` prints it. Its fields are described in `docs/analysis.md`; a field may be
//! added, but none is renamed or removed without a higher `schema`.

use std::collections::BTreeMap;

use attractor_core::analysis::cycles::{Cycle, Found};
use attractor_core::analysis::lyapunov::Spectrum;
use attractor_core::series::Step;
use serde::Serialize;

use super::{Anatomy, Exponents, Known, KnownDocument, OthersDocument, Regions};
use crate::equations::{EquationsDocument, equations};
use crate::generate::GeneratedFrom;
use crate::model_file::Reconstruction;

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// Regions, transitions and steps of the symbolic sequence in the document; tables have all.
const MOST: usize = 1000;

/// The document. Numbers that do not exist, such as exponents of an orbit that diverges, are null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnatomyDocument {
    schema: u32,
    model: &'static str,
    dim: usize,
    parameters: usize,
    latent: usize,
    step: Step,
    input: Vec<f64>,
    orbit: OrbitDocument,
    lyapunov: Option<ExponentsDocument>,
    kaplan_yorke: Option<f64>,
    period: Option<f64>,
    fixed_points: Vec<CycleDocument>,
    fixed_points_complete: bool,
    cycles: BTreeMap<usize, Vec<CycleDocument>>,
    cycles_complete: BTreeMap<usize, bool>,
    search: Vec<SearchDocument>,
    regions: Option<RegionsDocument>,
    attractors: Option<OthersDocument>,
    equations: Option<EquationsDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<KnownDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct OrbitDocument {
    steps: usize,
    transient: usize,
    start: &'static str,
    diverged_at: Option<usize>,
}

/// Exponents per unit of time, per step where no time step is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExponentsDocument {
    exponents: Vec<f64>,
    standard_errors: Vec<f64>,
    lost: Vec<usize>,
    per: String,
    per_step: Vec<f64>,
    sum: f64,
    mean_log_det: Option<f64>,
    trace: Vec<Vec<f64>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CycleDocument {
    period: usize,
    multipliers: Vec<[f64; 2]>,
    kind: &'static str,
    leading: &'static str,
    complete: bool,
    regions: Vec<Option<usize>>,
    border_distance: f64,
    on_border: bool,
    on_attractor: Option<bool>,
    #[serde(flatten)]
    points: Points,
}

/// A fixed point has one point, a cycle several.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Points {
    One {
        point: Vec<f64>,
        observed: Vec<f64>,
    },
    Several {
        points: Vec<Vec<f64>>,
        observed: Vec<Vec<f64>>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct SearchDocument {
    proof: &'static str,
    tried: u64,
    singular: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct RegionsDocument {
    planes: usize,
    at_most: f64,
    visited: usize,
    entropy_bits: f64,
    visits: Vec<usize>,
    transitions: Vec<(usize, usize, usize)>,
    symbols: Vec<usize>,
}

impl AnatomyDocument {
    /// With the system that the data are from beside the model: its equations, exponents and fixed points.
    pub fn beside(self, known: &Known, reconstruction: &Reconstruction) -> AnatomyDocument {
        AnatomyDocument {
            equations: equations(reconstruction, Some(known.info)),
            system: Some(known.document()),
            ..self
        }
    }
}

impl Anatomy {
    /// The document.
    pub fn document(&self, reconstruction: &Reconstruction) -> AnatomyDocument {
        let sizes = reconstruction.dynamics.sizes();
        let step = &reconstruction.card.step;
        let cycles = |found: &Found| -> Vec<CycleDocument> {
            let cycles = found.cycles.iter();
            cycles
                .map(|c| self.cycle(c, found, reconstruction))
                .collect()
        };
        let longer = || (2..).zip(self.periodic.iter().skip(1));
        let fixed = &self.periodic[0];
        AnatomyDocument {
            schema: SCHEMA,
            model: reconstruction.method.entry.id,
            dim: sizes.dim,
            parameters: sizes.parameters,
            latent: sizes.state,
            step: step.clone(),
            input: self.input.clone(),
            orbit: OrbitDocument {
                steps: self.orbit.len() / sizes.state,
                transient: self.request.steps / 10,
                start: match self.start {
                    GeneratedFrom::Data => "data",
                    GeneratedFrom::Training => "training",
                    GeneratedFrom::Zero => "zero",
                },
                diverged_at: self.diverged_at,
            },
            lyapunov: self.exponents(step),
            kaplan_yorke: self.lyapunov.as_ref().map(Spectrum::kaplan_yorke),
            period: self.period.map(|steps| steps * per(step).0),
            fixed_points: cycles(fixed),
            fixed_points_complete: fixed.proof.is_complete(),
            cycles: longer()
                .map(|(period, found)| (period, cycles(found)))
                .collect(),
            cycles_complete: longer()
                .map(|(period, found)| (period, found.proof.is_complete()))
                .collect(),
            search: self.periodic.iter().map(search).collect(),
            regions: self.regions.as_ref().map(regions),
            attractors: self.others(reconstruction),
            equations: equations(reconstruction, None),
            system: None,
        }
    }

    /// The exponents, if there are any.
    pub(crate) fn exponents(&self, step: &Step) -> Option<ExponentsDocument> {
        let spectrum = self.lyapunov.as_ref();
        spectrum.map(|spectrum| ExponentsDocument::new(spectrum, step))
    }

    /// Where orbits end.
    pub(crate) fn others(&self, reconstruction: &Reconstruction) -> Option<OthersDocument> {
        let basins = self.basins.as_ref();
        basins.map(|basins| OthersDocument::new(basins, reconstruction))
    }

    fn cycle(
        &self,
        cycle: &Cycle,
        found: &Found,
        reconstruction: &Reconstruction,
    ) -> CycleDocument {
        let known = self.regions.as_ref().map(|r| &r.itinerary.regions);
        let number = |region| known.and_then(|known| known.iter().position(|r| r == region));
        let observed = cycle.points.iter().map(|z| observe(reconstruction, z));
        let mut observed: Vec<Vec<f64>> = observed.collect();
        CycleDocument {
            period: cycle.period(),
            multipliers: cycle.multipliers.iter().map(|m| [m.re, m.im]).collect(),
            kind: cycle.kind().name(),
            leading: cycle.leading().name(),
            complete: found.proof.is_complete(),
            regions: cycle.regions.iter().map(number).collect(),
            border_distance: cycle.border,
            on_border: cycle.is_on_border,
            on_attractor: self.attractor.as_ref().map(|a| a.has_all(&cycle.points)),
            points: if cycle.period() == 1 {
                Points::One {
                    point: cycle.points[0].clone(),
                    observed: observed.remove(0),
                }
            } else {
                Points::Several {
                    points: cycle.points.clone(),
                    observed,
                }
            },
        }
    }
}

/// The exponents of a model, as `attractor lyapunov RUN --json` prints them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelExponentsDocument {
    schema: u32,
    model: &'static str,
    dim: usize,
    parameters: usize,
    steps: usize,
    step: Step,
    lyapunov: Option<ExponentsDocument>,
    kaplan_yorke: Option<f64>,
    diverged_at: Option<usize>,
}

impl Exponents {
    /// The document.
    pub fn document(&self, reconstruction: &Reconstruction) -> ModelExponentsDocument {
        let sizes = reconstruction.dynamics.sizes();
        let step = &reconstruction.card.step;
        let spectrum = self.spectrum.as_ref();
        // It needs as many exponents as have a negative sum.
        let is_known = |spectrum: &&Spectrum| {
            spectrum.exponents.len() == sizes.state || spectrum.exponents.iter().sum::<f64>() < 0.0
        };
        ModelExponentsDocument {
            schema: SCHEMA,
            model: reconstruction.method.entry.id,
            dim: sizes.dim,
            parameters: sizes.parameters,
            steps: self.steps,
            step: step.clone(),
            lyapunov: spectrum.map(|spectrum| ExponentsDocument::new(spectrum, step)),
            kaplan_yorke: spectrum.filter(is_known).map(Spectrum::kaplan_yorke),
            diverged_at: self.diverged_at,
        }
    }
}

impl ExponentsDocument {
    /// From a spectrum per step.
    pub(crate) fn new(spectrum: &Spectrum, step: &Step) -> ExponentsDocument {
        let (dt, per) = per(step);
        let in_time = spectrum.per_time(dt);
        ExponentsDocument {
            sum: in_time.exponents.iter().sum(),
            exponents: in_time.exponents,
            standard_errors: in_time.errors,
            lost: spectrum.lost.clone(),
            per,
            per_step: spectrum.exponents.clone(),
            mean_log_det: in_time.mean_log_det,
            trace: in_time.trace,
        }
    }
}

/// What exponents are divided by, and its name.
pub fn per(step: &Step) -> (f64, String) {
    match (step == &Step::default(), step.unit.as_str()) {
        (true, _) => (1.0, "step".to_string()),
        (false, "") => (step.dt, "time".to_string()),
        (false, unit) => (step.dt, unit.to_string()),
    }
}

/// A state in the units of the data.
pub fn observe(reconstruction: &Reconstruction, z: &[f64]) -> Vec<f64> {
    let dynamics = &reconstruction.dynamics;
    let mut x = vec![0.0; dynamics.sizes().channels];
    dynamics.observe(z, &mut x);
    reconstruction.card.unscaled(x)
}

fn search(found: &Found) -> SearchDocument {
    SearchDocument {
        proof: found.proof.name(),
        tried: found.tried,
        singular: found.singular,
    }
}

fn regions(regions: &Regions) -> RegionsDocument {
    let itinerary = &regions.itinerary;
    let mut transitions = itinerary.transitions();
    transitions.sort_by_key(|&(_, _, times)| std::cmp::Reverse(times));
    transitions.truncate(MOST);
    RegionsDocument {
        planes: regions.planes,
        at_most: regions.at_most,
        visited: itinerary.regions.len(),
        entropy_bits: itinerary.entropy(),
        visits: itinerary.visits.iter().take(MOST).copied().collect(),
        transitions,
        symbols: itinerary.symbols.iter().take(MOST).copied().collect(),
    }
}
