//! Who races: methods with settings, by what the recording is like and what the goal asks for.
//!
//! What is solved at once is tried with several settings, since a fit costs a second; what is trained, with a few. The settings of maps
//! under teacher forcing are those that lost none of eleven recordings that nobody had tuned on.

use attractor_core::method::{self, Method};
use attractor_core::series::Series;
use attractor_core::text::count;

use super::{Candidate, Goal, LearnError, Request};
use crate::Error;
use crate::experiment::{Experiment, ExperimentError, Origin, Raw, units_of, window_of};

/// Settings by name.
type Given = Vec<(&'static str, String)>;

/// Terms of a polynomial that are still solved at once.
const TERMS: usize = 600;

/// What candidates depend on.
struct Kind {
    channels: usize,
    rows: usize,
    longest: usize,
    /// Steps of a training window.
    window: usize,
}

/// Maps whose fixed points, cycles and regions can be had completely.
const PIECEWISE: [&str; 6] = [
    "clipped-shallow-plrnn",
    "shallow-plrnn",
    "clipped-dendritic-plrnn",
    "dendritic-plrnn",
    "plrnn",
    "mean-centred-plrnn",
];

/// Refuses methods that there are not, or that do not suit the goal.
pub(super) fn refuse_unknown(request: &Request) -> Result<(), Error> {
    for name in &request.methods {
        method::find(name).map_err(|near| ExperimentError::UnknownMethod {
            name: name.clone(),
            near,
            origin: Origin::Flag,
        })?;
        if request.goal == Goal::Anatomy && !PIECEWISE.contains(&name.as_str()) {
            let method = name.clone();
            return Err(LearnError::NotPiecewise { method }.into());
        }
    }
    Ok(())
}

/// All candidates for a recording of which training sees a share of the rows.
pub(super) fn candidates(request: &Request, training: &Series) -> Vec<Candidate> {
    let kind = Kind {
        channels: training.dim_obs(),
        rows: training.total_len(),
        longest: training.longest_whole().1.len(),
        window: window_of(training),
    };
    let mut all: Vec<(&'static str, String, Given)> = Vec::new();
    if request.goal != Goal::Anatomy {
        all.extend(linear());
        all.extend(sindy(&kind));
        all.extend(nvar(&kind));
        all.extend(reservoirs(&kind));
    }
    all.extend(piecewise(&kind, request.goal));
    if request.goal != Goal::Anatomy {
        all.extend(smooth(&kind));
    }
    if !request.methods.is_empty() {
        all.retain(|(method, ..)| request.methods.iter().any(|name| name == method));
        all.extend(of_other_methods(request, &all));
    }
    let mut made: Vec<Candidate> = Vec::new();
    for (method, label, settings) in all {
        let number = made.iter().filter(|one| one.method == method).count() + 1;
        let settings = settings.into_iter();
        made.push(Candidate {
            name: format!("{method}-{number}"),
            method: method.to_string(),
            label,
            settings: settings
                .map(|(name, text)| (name.to_string(), text))
                .collect(),
            ..Candidate::default()
        });
    }
    made
}

/// Methods that were named and have no settings of their own here: with their defaults.
fn of_other_methods(
    request: &Request,
    known: &[(&'static str, String, Given)],
) -> Vec<(&'static str, String, Given)> {
    let mut names: Vec<&String> = request.methods.iter().collect();
    names.dedup();
    let is_new = |name: &&String| known.iter().all(|(method, ..)| method != name);
    let found = names.into_iter().filter(is_new);
    let found = found.filter_map(|name| method::find(name).ok());
    found
        .map(|method| (method.entry.id, "as by default".to_string(), chosen(method)))
        .collect()
}

/// That parameters are chosen on the way, where a method is trained.
fn chosen(method: &Method) -> Given {
    if method.is_trained() {
        vec![("best-by", "auto".to_string())]
    } else {
        Vec::new()
    }
}

fn linear() -> Vec<(&'static str, String, Given)> {
    vec![("linear", "x' = A x + b".to_string(), Vec::new())]
}

/// Monomials of so many variables up to a degree, at most [`TERMS`] + 1.
fn monomials(variables: usize, degree: usize) -> usize {
    let binomial = (1..=degree).fold(1.0, |all, d| all * (variables + d) as f64 / d as f64);
    binomial.min(TERMS as f64 + 1.0) as usize
}

/// Differential equations, and maps, with polynomials; rows smoothed little, usually and much.
fn sindy(kind: &Kind) -> Vec<(&'static str, String, Given)> {
    let mut made = Vec::new();
    for degree in [2, 3, 5] {
        if monomials(kind.channels, degree) > TERMS || (degree == 5 && kind.channels > 4) {
            continue;
        }
        for window in [5, 11, 31] {
            let settings = vec![
                ("degree", degree.to_string()),
                ("savgol-window", window.to_string()),
            ];
            let label = format!("flow of degree {degree}, smoothed over {window} rows");
            made.push(("sindy", label, settings));
        }
        let settings = vec![
            ("dynamics", "map".to_string()),
            ("degree", degree.to_string()),
        ];
        made.push(("sindy", format!("map of degree {degree}"), settings));
    }
    made
}

fn nvar(kind: &Kind) -> Vec<(&'static str, String, Given)> {
    let mut made = Vec::new();
    for (delays, degree) in [(1, 2), (1, 3), (2, 2), (2, 3), (4, 2)] {
        let terms = monomials(kind.channels * delays, degree);
        if terms > TERMS || 2 * terms > kind.rows {
            continue;
        }
        for ridge in ["1e-6", "1e-3"] {
            let settings = vec![
                ("delays", delays.to_string()),
                ("polynomial", degree.to_string()),
                ("ridge", ridge.to_string()),
            ];
            let rows = count(delays, "row");
            let label = format!("{rows}, degree {degree}, ridge {ridge}");
            made.push(("nvar", label, settings));
        }
    }
    made
}

fn reservoirs(kind: &Kind) -> Vec<(&'static str, String, Given)> {
    let units = if kind.rows < 2000 { 200 } else { 500 };
    let warm_up = 200.min(kind.longest / 20);
    let mut made = Vec::new();
    for radius in ["0.4", "0.9"] {
        for scale in ["0.1", "0.5", "1"] {
            for noise in ["0.01", "0.001"] {
                let settings = vec![
                    ("hidden", units.to_string()),
                    ("radius", radius.to_string()),
                    ("input-scale", scale.to_string()),
                    ("noise", noise.to_string()),
                    ("warm-up", warm_up.to_string()),
                ];
                let label =
                    format!("{units} units, radius {radius}, input scale {scale}, noise {noise}");
                made.push(("reservoir", label, settings));
            }
        }
    }
    made
}

impl Kind {
    /// A map under teacher forcing.
    fn forced(
        &self,
        method: &'static str,
        forcing: (&'static str, &str),
        units: usize,
    ) -> (&'static str, String, Given) {
        let (forcing, alpha) = forcing;
        let mut settings = vec![
            ("forcing", forcing.to_string()),
            ("hidden", units.to_string()),
            ("window", self.window.to_string()),
            ("lr", "2e-3".to_string()),
            ("lr-end", "1e-5".to_string()),
            ("average", "0.999".to_string()),
            ("best-by", "auto".to_string()),
            ("clip-norm", "1".to_string()),
            ("retries", "2".to_string()),
        ];
        let how = if alpha.is_empty() {
            "adaptive forcing".to_string()
        } else {
            settings.push(("alpha", alpha.to_string()));
            format!("forcing {alpha}")
        };
        (method, format!("{how}, {units} units"), settings)
    }
}

const ADAPTIVE: (&str, &str) = ("agtf", "");

/// Piecewise-linear maps; more of them where others do not race.
fn piecewise(kind: &Kind, goal: Goal) -> Vec<(&'static str, String, Given)> {
    let units = units_of(kind.channels);
    let mut made = vec![
        kind.forced("clipped-shallow-plrnn", ADAPTIVE, units),
        kind.forced("clipped-shallow-plrnn", ("gtf", "0.15"), units),
        kind.forced("shallow-plrnn", ADAPTIVE, units),
    ];
    if goal == Goal::Anatomy {
        made.push(kind.forced("clipped-shallow-plrnn", ADAPTIVE, 2 * units));
        made.push(kind.forced("clipped-shallow-plrnn", ("gtf", "0.05"), units));
    }
    made
}

/// Networks with smooth units.
fn smooth(kind: &Kind) -> Vec<(&'static str, String, Given)> {
    let of_loop = [
        ("best-by", "auto"),
        ("average", "0.999"),
        ("clip-norm", "1"),
    ];
    let of_loop = || of_loop.map(|(name, text)| (name, text.to_string()));
    let units = units_of(kind.channels);
    let ode = [
        ("hidden", units.to_string()),
        ("activation", "tanh".to_string()),
        ("window", 25.min(kind.window).to_string()),
    ];
    let lstm = [("schedule", "exponential".to_string())];
    vec![
        kind.forced("tanh-shallow-plrnn", ADAPTIVE, units),
        kind.forced("tanh-shallow-plrnn", ("gtf", "0.15"), 2 * units),
        (
            "neural-ode",
            format!("{units} tanh units"),
            ode.into_iter().chain(of_loop()).collect(),
        ),
        (
            "lstm",
            "40 units".to_string(),
            lstm.into_iter().chain(of_loop()).collect(),
        ),
    ]
}

impl Candidate {
    /// The experiment, with the seed and what is held out.
    pub(super) fn experiment(
        &self,
        held_out: &[(&'static str, String)],
        seed: u64,
    ) -> Result<Experiment, ExperimentError> {
        let mut raw = Raw::default();
        let mut push = |name: &str, text: &str| raw.push(name, text, Origin::Flag);
        push("model", &self.method);
        push("standardize", "on");
        push("threads", "1");
        push("seed", &seed.to_string());
        for (name, text) in held_out {
            push(name, text);
        }
        for (name, text) in &self.settings {
            push(name, text);
        }
        if self.epochs > 0 {
            push("epochs", &self.epochs.to_string());
            push("best-every", &self.best_every().to_string());
            push("checkpoint-every", &self.best_every().to_string());
        }
        Experiment::check(&raw)
    }

    /// Epochs between two looks at the parameters: forty looks in all.
    fn best_every(&self) -> u64 {
        (self.epochs / 40).max(1)
    }

    /// Whether it is trained by updates.
    pub(super) fn is_trained(&self) -> bool {
        method::find(&self.method).is_ok_and(Method::is_trained)
    }
}
