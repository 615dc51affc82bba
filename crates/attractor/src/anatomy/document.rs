//! An anatomy as JSON, the document that `attractor analyze --json` prints. Its fields are described in `docs/analysis.md`; a
//! field may be added, but none is renamed or removed without a higher `schema`.

use attractor_core::analysis::cycles::{Cycle, Found};
use attractor_core::analysis::lyapunov::Spectrum;
use attractor_core::linalg::complex::Complex;
use attractor_core::series::Step;
use serde_json::{Map, Value, json};

use super::{Anatomy, Regions};
use crate::generate::GeneratedFrom;
use crate::model_file::{Card, Reconstruction};

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// Regions, transitions and steps of the symbolic sequence in the document; tables have all.
const MOST: usize = 1000;

/// The document. Numbers that do not exist, such as exponents of an orbit that diverges, are null.
pub fn to_json(anatomy: &Anatomy, reconstruction: &Reconstruction) -> Value {
    let architecture = reconstruction.model.architecture();
    let step = &reconstruction.card.step;
    let lyapunov = anatomy.lyapunov.as_ref();
    let longer = || (2..).zip(anatomy.periodic.iter().skip(1));
    let by_period = |value: &dyn Fn(&Found) -> Value| -> Value {
        let pairs = longer().map(|(period, found): (usize, _)| (period.to_string(), value(found)));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    let cycles = |found: &Found| -> Value {
        let cycle = |c: &Cycle| cycle(c, found, anatomy, reconstruction);
        Value::Array(found.cycles.iter().map(cycle).collect())
    };
    let fixed = &anatomy.periodic[0];
    json!({
        "schema": SCHEMA,
        "model": architecture.info.entry.id,
        "latent": architecture.dims.latent,
        "step": { "dt": step.dt, "unit": step.unit },
        "input": anatomy.input,
        "orbit": {
            "steps": anatomy.orbit.len() / architecture.dims.latent,
            "transient": anatomy.request.steps / 10,
            "start": match anatomy.start {
                GeneratedFrom::Data => "data",
                GeneratedFrom::Training => "training",
                GeneratedFrom::Zero => "zero",
            },
            "diverged_at": anatomy.diverged_at,
        },
        "lyapunov": lyapunov.map(|spectrum| exponents(spectrum, step)),
        "kaplan_yorke": lyapunov.map(Spectrum::kaplan_yorke),
        "fixed_points": cycles(fixed),
        "fixed_points_complete": fixed.proof.is_complete(),
        "cycles": by_period(&cycles),
        "cycles_complete": by_period(&|found| found.proof.is_complete().into()),
        "search": anatomy.periodic.iter().map(search).collect::<Vec<_>>(),
        "regions": anatomy.regions.as_ref().map(regions),
    })
}

/// Exponents per unit of time, per step where no time step is known.
pub(crate) fn exponents(spectrum: &Spectrum, step: &Step) -> Value {
    let (dt, per) = per(step);
    let in_time = spectrum.per_time(dt);
    json!({
        "exponents": in_time.exponents,
        "standard_errors": in_time.errors,
        "lost": spectrum.lost,
        "per": per,
        "per_step": spectrum.exponents,
        "sum": in_time.exponents.iter().sum::<f64>(),
        "mean_log_det": in_time.mean_log_det,
        "trace": in_time.trace,
    })
}

/// What exponents are divided by, and its name.
pub fn per(step: &Step) -> (f64, String) {
    match (step == &Step::default(), step.unit.as_str()) {
        (true, _) => (1.0, "step".to_string()),
        (false, "") => (step.dt, "time".to_string()),
        (false, unit) => (step.dt, unit.to_string()),
    }
}

fn pairs(multipliers: &[Complex]) -> Vec<[f64; 2]> {
    multipliers.iter().map(|m| [m.re, m.im]).collect()
}

fn cycle(
    cycle: &Cycle,
    found: &Found,
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
) -> Value {
    let observed: Vec<Vec<f64>> = cycle
        .points
        .iter()
        .map(|z| observe(reconstruction, z))
        .collect();
    let known = anatomy.regions.as_ref().map(|r| &r.itinerary.regions);
    let number = |region| known.and_then(|known| known.iter().position(|r| r == region));
    let regions: Vec<Option<usize>> = cycle.regions.iter().map(number).collect();
    let is_on = anatomy.attractor.as_ref().map(|a| a.has_all(&cycle.points));
    let mut document = json!({
        "period": cycle.period(),
        "multipliers": pairs(&cycle.multipliers),
        "kind": cycle.kind().name(),
        "leading": cycle.leading().name(),
        "complete": found.proof.is_complete(),
        "regions": regions,
        "border_distance": cycle.border,
        "on_border": cycle.is_on_border,
        "on_attractor": is_on,
    });
    let fields = match cycle.period() {
        1 => [
            ("point", json!(cycle.points[0])),
            ("observed", json!(observed[0])),
        ],
        _ => [
            ("points", json!(cycle.points)),
            ("observed", json!(observed)),
        ],
    };
    for (name, value) in fields {
        document[name] = value;
    }
    document
}

/// A latent state in the units of the data.
pub fn observe(reconstruction: &Reconstruction, z: &[f64]) -> Vec<f64> {
    let model = &reconstruction.model;
    let observation = &model.architecture().observation;
    let mut x = vec![0.0; observation.dim_obs];
    observation.observe(&model.parameters().1, z, &mut x);
    let Card { scaling, .. } = &reconstruction.card;
    for (i, x) in x.iter_mut().enumerate() {
        *x = *x * scaling.sd[i] + scaling.mean[i];
    }
    x
}

fn search(found: &Found) -> Value {
    json!({
        "proof": found.proof.name(),
        "tried": found.tried,
        "singular": found.singular,
    })
}

fn regions(regions: &Regions) -> Value {
    let itinerary = &regions.itinerary;
    let mut transitions = itinerary.transitions();
    transitions.sort_by_key(|&(_, _, times)| std::cmp::Reverse(times));
    transitions.truncate(MOST);
    json!({
        "planes": regions.planes,
        "at_most": regions.at_most,
        "visited": itinerary.regions.len(),
        "entropy_bits": itinerary.entropy(),
        "visits": itinerary.visits.iter().take(MOST).collect::<Vec<_>>(),
        "transitions": transitions,
        "symbols": itinerary.symbols.iter().take(MOST).collect::<Vec<_>>(),
    })
}
