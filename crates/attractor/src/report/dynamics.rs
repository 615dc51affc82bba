//! What the model does in the long run: exponents, fixed points, cycles and regions, from [`anatomy`](crate::anatomy).

use attractor_core::analysis::cycles::{Cycle, Found};
use attractor_core::analysis::lyapunov::Spectrum;
use attractor_core::progress::Follow;
use attractor_core::system::find;
use serde_json::{Value, json};

use super::Request;
use super::material::Material;
use super::numbers::shortened;
use crate::Error;
use crate::anatomy::{self, Anatomy, Sources, beside, default_steps, dissect};
use crate::model_file::Reconstruction;

/// Cycles of one period, and regions, that are described one by one.
const MOST: usize = 24;

/// The part of the document; null with a reason if the model cannot be taken apart.
pub(super) fn dissected(
    material: &Material,
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<Value, Error> {
    let reconstruction = &material.reconstruction;
    let asked = anatomy::Request {
        cycles: request.cycles,
        seconds: request.seconds,
        steps: default_steps(reconstruction),
        threads: request.threads,
        seed: 0,
    };
    // Without inputs the orbit is that of `attractor analyze RUN`, so that one model has one exponent.
    let needs_data = reconstruction.dynamics.sizes().inputs > 0;
    let data = material.truth.as_ref().ok().map(|truth| &truth.seen);
    let sources = Sources {
        data: data.filter(|_| needs_data),
        rows: data,
    };
    match dissect(reconstruction, sources, &asked, follow) {
        Ok(anatomy) => {
            let mut document = document(&anatomy, reconstruction);
            if let Some(info) = request.system.as_deref().and_then(find) {
                let known = beside(info, &anatomy, reconstruction, data, follow)?;
                document["system"] = json!(known.document());
            }
            Ok(shortened(document))
        }
        Err(Error::Stopped(stopped)) => Err(stopped.into()),
        Err(error) => Ok(json!({ "why": error.to_string() })),
    }
}

fn document(anatomy: &Anatomy, reconstruction: &Reconstruction) -> Value {
    let periodic = anatomy.periodic.iter().enumerate();
    let periodic = periodic.map(|(i, found)| {
        json!({
            "period": i + 1,
            "count": found.cycles.len(),
            "proof": found.proof.name(),
            "tried": found.tried,
            "cycles": cycles(found, anatomy, reconstruction),
        })
    });
    json!({
        "steps": anatomy.orbit.len() / reconstruction.dynamics.sizes().state,
        "diverged_at": anatomy.diverged_at,
        "lyapunov": anatomy.exponents(&reconstruction.card.step),
        "kaplan_yorke": anatomy.lyapunov.as_ref().map(Spectrum::kaplan_yorke),
        "period": anatomy.period.map(|steps| steps * anatomy::per(&reconstruction.card.step).0),
        "periodic": periodic.collect::<Vec<_>>(),
        "attractors": anatomy.others(reconstruction),
        "regions": anatomy.regions.as_ref().map(|regions| json!({
            "visited": regions.itinerary.regions.len(),
            "at_most": regions.at_most,
            "entropy_bits": regions.itinerary.entropy(),
            "shares": shares(&regions.itinerary.visits),
        })),
    })
}

fn cycles(found: &Found, anatomy: &Anatomy, reconstruction: &Reconstruction) -> Vec<Value> {
    let one = |cycle: &Cycle| {
        let observed = |z: &Vec<f64>| anatomy::observe(reconstruction, z);
        let largest = cycle
            .multipliers
            .iter()
            .map(|m| m.norm())
            .fold(0.0, f64::max);
        json!({
            "points": cycle.points.iter().map(observed).collect::<Vec<_>>(),
            "kind": cycle.kind().name(),
            "leading": cycle.leading().name(),
            "largest_multiplier": largest,
            "on_attractor": anatomy.attractor.as_ref().map(|a| a.has_all(&cycle.points)),
        })
    };
    found.cycles.iter().take(MOST).map(one).collect()
}

/// The shares of the most visited regions.
fn shares(visits: &[usize]) -> Vec<f64> {
    let total: usize = visits.iter().sum();
    let share = |&n: &usize| n as f64 / total.max(1) as f64;
    visits.iter().take(MOST).map(share).collect()
}
