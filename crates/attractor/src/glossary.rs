//! The words of the output, each with what it means: what `attractor explain floor` prints. Names of models, measures, systems, formats,
//! settings and figures stand in lists of their own.

/// A word of the output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The word, words joined by `-`.
    pub name: &'static str,
    /// Other words for it, as they are printed or typed.
    pub also: &'static [&'static str],
    /// What it means, in one sentence without a final period.
    pub about: &'static str,
    /// How it is computed, and how to read it; may be empty.
    pub more: &'static str,
    /// The page of the documentation that has more.
    pub page: &'static str,
}

/// The term with this name or other word, upper and lower case alike; spaces count as `-`.
pub fn find(word: &str) -> Option<&'static Term> {
    let wanted = word.trim().to_lowercase().replace([' ', '_'], "-");
    let is_it = |name: &&str| name.to_lowercase().replace([' ', '_'], "-") == wanted;
    TERMS
        .iter()
        .find(|term| is_it(&term.name) || term.also.iter().any(is_it))
}

/// Every word by which a term can be found.
pub fn words() -> impl Iterator<Item = &'static str> {
    let of = |term: &'static Term| [term.name].into_iter().chain(term.also.iter().copied());
    TERMS.iter().flat_map(of)
}

/// A row of the list.
const fn term(
    name: &'static str,
    also: &'static [&'static str],
    page: &'static str,
    about: &'static str,
    more: &'static str,
) -> Term {
    Term {
        name,
        also,
        about,
        more,
        page,
    }
}

/// Every term, by subject: scores, training, runs, data, dynamics.
pub static TERMS: &[Term] = &[
    term(
        "floor",
        &["floors", "noise floor", "halves", "floor_from"],
        "measures",
        "The score that the data themselves reach: no model can be expected to do better",
        "With --system NAME it is the median score of five other true orbits against the data; without, one half of the data
against the other. For forecasts it is that of analogues: look up the most similar earlier state, and say what followed.",
    ),
    term(
        "analogue",
        &["analogues"],
        "measures",
        "The forecast that the data allow without a model: look up the most similar earlier state, and say what followed it",
        "It is the floor of forecasts. A good model may beat it.",
    ),
    term(
        "chance",
        &["chance level", "chance levels"],
        "measures",
        "The best score of surrogates, series that look like the data in some respect and do not have the dynamics",
        "A score near chance says that the model has learned nothing that this measure sees. A surrogate that is perfect by
construction does not count: shuffled rows for D_stsp, randomised phases for D_H.",
    ),
    term(
        "surrogate",
        &["surrogates", "phase-randomised", "shuffled", "white-noise", "constant"],
        "measures",
        "A series made from the data without their dynamics, to see what a score is worth",
        "phase-randomised: the spectra are kept, the phases drawn anew. shuffled: every row is kept, their order is not.
white noise: Gaussian numbers of the same covariance. constant: the mean of the data.",
    ),
    term(
        "verdict",
        &["good", "partly", "not a reconstruction", "cannot tell"],
        "measures",
        "What an evaluation amounts to in one word: good, partly, not a reconstruction, or cannot tell",
        "Each aspect is graded by where its score v lies between floor f and chance c: ln(v/f)/ln(c/f) is 0 at the floor and 1 at
chance. Up to 0.5 it is good, up to 0.9 weak, beyond that bad. State space (D_stsp) and spectrum (D_H) must both be good;
`cannot tell` means that floor and chance are too near to each other on these data, or that there are too few rows.",
    ),
    term(
        "power",
        &["no power"],
        "measures",
        "Whether a measure can tell a model from chance on these data: chance is at least 1.5 times the floor",
        "Where it is less, the measure is left out of the verdict, unless the score is clearly outside of both.",
    ),
    term(
        "outside",
        &["box", "outside the box"],
        "measures",
        "The share of generated rows outside the box around the data, which D_stsp does not see",
        "The box is the paper's, 0.1 standard deviations around the data, unless --box chooses another.",
    ),
    term(
        "median",
        &["worst", "starts"],
        "measures",
        "The middle and the worst of the scores of orbits from several rows of the data (--starts)",
        "A model may hide a second attractor that only some starts fall into: then the worst is far from the median.",
    ),
    term(
        "error",
        &["standard error", "standard_error"],
        "measures",
        "The standard error of a score that draws at random: what another seed would change on the same data",
        "The floor shows how far apart other data of the same system are.",
    ),
    term(
        "trained-share",
        &["trained_share", "chosen_share", "chosen-share"],
        "measures",
        "The share of the judging rows on which the model was trained, or by which its parameters were chosen",
        "Scores on such rows flatter; --held-out keeps rows for judging.",
    ),
    term(
        "diverged",
        &["diverges", "divergence"],
        "measures",
        "The orbit or the training left every bound, or is no longer finite",
        "An orbit diverges when it is 10^6 standard deviations away from the data, or when a latent state exceeds what single
precision holds. That is a result: it has no scores. A training diverges when its loss or gradient is no longer finite; the
last finite parameters are kept, and --retries lets it go back to a checkpoint.",
    ),
    term(
        "PE(n)",
        &["PE(20)", "pe_n", "prediction error", "forecast error"],
        "measures",
        "The mean squared error of forecasts n steps ahead, the measure `pe`, in squared units of the data as the model sees them",
        "On standardised data, always predicting the mean gives 1.",
    ),
    term(
        "valid-prediction-time",
        &["valid prediction time", "horizon", "still_valid"],
        "measures",
        "How many steps a forecast stays within half a standard deviation of the data: the measure `vpt`",
        "Forecasts are followed up to a horizon of 5000 steps or half of the data; a line says how many were still valid there.",
    ),
    term(
        "correlation-dimension",
        &["correlation dimension"],
        "measures",
        "The dimension D₂ of an attractor, by how the share of close pairs of points grows with their distance",
        "A cycle has 1, the Lorenz attractor 2.05; noise fills all dimensions.",
    ),
    term(
        "lyapunov-time",
        &["Lyapunov times", "Lyapunov time"],
        "measures",
        "The time 1/λ in which a small error grows by the factor e, λ being the largest Lyapunov exponent",
        "Valid prediction times are given in it where λ is known (--system, --lyapunov).",
    ),
    term(
        "forcing",
        &["teacher forcing", "teacher-forcing", "generalized teacher forcing", "forced state", "teacher signal"],
        "training",
        "Keeping the model near the data while it is trained, so that gradients of chaotic orbits stay bounded",
        "In generalized teacher forcing the model steps from z̃ = α ẑ + (1 − α) z: a mixture of its own state z and of the state ẑ
that is inferred from the data (the teacher signal). A free orbit has no forcing.",
    ),
    term(
        "α",
        &["alpha estimate", "alpha_estimate"],
        "training",
        "The strength of teacher forcing: 0 leaves the model alone, 1 replaces its state by that of the data",
        "`--forcing gtf` keeps it, `--forcing agtf` adapts it. `attractor line-search` shows which is best.",
    ),
    term(
        "estimator",
        &["estimators", "alpha estimator", "jacobian_norm"],
        "training",
        "How adaptive forcing finds α: 1 − 1/𝒩, where 𝒩 estimates the norm of the model's Jacobians along the data",
        "parameter-bound: max|A| + ‖W1‖‖W2‖, without data, far too strong. batch-maximum: the largest ‖J_t‖.
product-upper-bound: the geometric mean of ‖J_t‖ over a window. exp-log: ‖exp(mean ln J_t)‖.
arithmetic-mean: ‖mean J_t‖, the default. product: ‖J_T … J_1‖^(1/T), mostly the weakest forcing.
Each takes the largest over the windows of a batch.",
    ),
    term(
        "update",
        &["updates", "epoch", "epochs", "batches"],
        "training",
        "One step of the optimizer, by the gradient of one batch of windows; an epoch is batches-per-epoch of them",
        "By default 2000 epochs of 50 updates (preset robust); the paper has 5000.",
    ),
    term(
        "windows",
        &["sequence", "sequences"],
        "training",
        "A stretch of consecutive rows that one gradient goes through (--window); a batch has several",
        "A window never crosses a gap or the end of a trajectory.",
    ),
    term(
        "loss",
        &["penalty", "gradient_norm"],
        "training",
        "The mean squared error of the forced model on the windows, in the units that the model sees",
        "It says little about the long run: chaotic models of equal loss can have very different attractors. `penalty` is what
regularisation adds, `gradient_norm` the length of the gradient.",
    ),
    term(
        "chosen",
        &["last parameters", "choice", "average of updates", "averaged parameters"],
        "training",
        "Which parameters of the training the model has: the last ones, an average, or those that --best-by chose",
        "Where other parameters than the last were chosen, the run keeps the last ones as well, as last.safetensors.",
    ),
    term(
        "matched-spread",
        &["matched", "spread matched"],
        "training",
        "Stretching the observation matrix B once, so that free orbits vary as the data do (--best-spread matched)",
        "The map, and with it every exponent and fixed point, stays as trained.",
    ),
    term(
        "held-out rows",
        &["held out", "training part", "selection part", "test part", "parts"],
        "training",
        "Rows at the end of every trajectory that are used neither for training nor for choosing parameters (--held-out)",
        "--select sets aside a further part of what is left, by which --best-by chooses.",
    ),
    term(
        "rollback",
        &["rollbacks", "retry"],
        "training",
        "A training that diverged went back to its last checkpoint, with half the learning rate or stronger forcing",
        "Only with --retries; outcome.json lists every one.",
    ),
    term(
        "preset",
        &["presets"],
        "training",
        "Several settings under one name (--preset), which a file, --set and flags override; `train` begins with robust",
        "",
    ),
    term(
        "race",
        &["winner", "candidate", "candidates", "repeated fits"],
        "learn",
        "How `attractor learn` chooses: candidates train for a while, the best go on, and the winner is fitted again from three seeds",
        "The selection part decides the race; the test part decides nothing and gives the verdict.",
    ),
    term(
        "goal",
        &["goals", "anatomy"],
        "learn",
        "What a model is wanted for, which decides the race: its attractor, its forecasts, or anatomy, a model to take apart",
        "",
    ),
    term(
        "fallbacks",
        &["fallback"],
        "training",
        "Windows in which the exp-log estimator met a singular Jacobian, so that the arithmetic mean took its place",
        "",
    ),
    term(
        "run",
        &["runs", "run folder", "outcome", "outcome.json", "checkpoint", "history", "history.csv"],
        "model-files",
        "The folder of one training: settings, history, checkpoint, model, and how it ended",
        "`attractor resume RUN` continues one that was interrupted, to the same bits.",
    ),
    term(
        "claim",
        &["lock", "heartbeat"],
        "sweeps",
        "A small file in a run's folder that says which process works on it, so that no two processes train the same run",
        "It is renewed every ten seconds; one that is not renewed for a minute is free.",
    ),
    term(
        "numerics",
        &["numerics version"],
        "model-files",
        "A number that is raised whenever the same input and seed give other results; the changelog lists each time",
        "",
    ),
    term(
        "fingerprint",
        &["hash"],
        "model-files",
        "A short number computed from data or settings, by which a change is noticed",
        "",
    ),
    term(
        "model-file",
        &["model file", "safetensors", "card"],
        "model-files",
        "A fitted model in one file, model.safetensors: its tensors under the paper's names, and what it knows of its data",
        "",
    ),
    term(
        "study",
        &["cell", "cells", "share", "dropped"],
        "sweeps",
        "A file that describes many runs; a cell is one combination of settings, trained with several seeds",
        "`attractor sweep` runs them, `attractor table` shows the medians. A run is dropped from a median if it diverged or has no
value of the measure.",
    ),
    term(
        "MAD",
        &["±"],
        "sweeps",
        "The median distance from the median, unscaled: the scatter of scores over seeds in tables",
        "",
    ),
    term(
        "Kruskal-Wallis",
        &["Kruskal–Wallis", "p"],
        "sweeps",
        "A test of whether groups of runs differ: p is the probability of differences as large between groups that do not",
        "",
    ),
    term(
        "dim",
        &["|θ|", "theta", "parameters"],
        "sweeps",
        "Dynamical variables of a model, and its number of parameters |θ|, as the paper counts them",
        "",
    ),
    term(
        "system",
        &["systems", "known system", "known systems"],
        "systems",
        "A flow or a map whose equations are known, to make data from (`attractor list systems`)",
        "",
    ),
    term(
        "recording",
        &["series", "channel", "row", "rows"],
        "formats",
        "Data as they were measured: rows in time, one column per channel, in one or several trajectories",
        "",
    ),
    term(
        "gap",
        &["gaps", "stretch", "longest stretch", "segment"],
        "formats",
        "A place where rows are missing: time jumps by more than the step. What lies between two gaps is a stretch",
        "Nothing is computed across a gap. Measures take the longest stretch without a gap or a missing value.",
    ),
    term(
        "trajectory",
        &["trajectories", "subject"],
        "formats",
        "One of several recordings in one file, told apart by a column of names (--trajectory)",
        "",
    ),
    term(
        "input",
        &["inputs", "external input", "external inputs"],
        "formats",
        "A column that drives the system and is not predicted, s in the equations (--input)",
        "",
    ),
    term(
        "spread",
        &["standardised", "scaling"],
        "inspect",
        "The standard deviation (n − 1) of a channel; standardised channels have mean 0 and spread 1",
        "A model whose file has a scaling sees (x − mean)/sd, and its orbits are in the units of the data.",
    ),
    term(
        "autocorrelation",
        &["autocorrelation time", "period"],
        "inspect",
        "The time after which the autocorrelation of a channel has fallen to 1/e; the period is that of its spectral peak",
        "",
    ),
    term(
        "delay-vector",
        &["delay vectors", "embedding", "Theiler window", "theiler", "L-statistic"],
        "embedding",
        "A state made of one measured quantity: its values at several times (`attractor embed`)",
        "The Theiler window is how many rows apart points must be to count as neighbours. The L-statistic measures how much
noise grows in neighbourhoods; a coordinate is taken if it lowers L.",
    ),
    term(
        "mutual-information",
        &["mutual information"],
        "embedding",
        "How much, in bits, a value says about the value some rows later; its first minimum is a good delay",
        "",
    ),
    term(
        "false-neighbours",
        &["false neighbours", "E₁", "E₂"],
        "embedding",
        "Delay vectors that are close only because they have too few coordinates; enough coordinates leave none",
        "E₁ stops growing with the dimension once there are none; E₂ is near 1 in every dimension for noise.",
    ),
    term(
        "predictability-time",
        &["predictability time"],
        "embedding",
        "ln 2/λ: how long it takes a small error to double, λ being the largest Lyapunov exponent",
        "",
    ),
    term(
        "orbit",
        &["free orbit", "transient", "attractor"],
        "analysis",
        "The states that a system goes through from a start; of a model without forcing, a free orbit",
        "Its beginning, before it reaches the attractor (the set on which orbits settle), is the transient and does not count.",
    ),
    term(
        "latent-state",
        &["latent state", "latent states", "observation model", "B"],
        "training",
        "The state z of a model, of which the channels are seen through the observation model, such as x = B z",
        "",
    ),
    term(
        "tensor",
        &["tensors", "A", "W", "W1", "W2", "h1", "h2", "C"],
        "notation",
        "An array of a model's parameters, under its name in the paper; `attractor explain MODEL` shows the equations it is in",
        "",
    ),
    term(
        "exponent",
        &["exponents", "Lyapunov exponent", "Lyapunov exponents", "Lyapunov spectrum"],
        "analysis",
        "The mean rate at which neighbouring orbits part (positive: chaos) or approach each other, one per direction of state space",
        "They are per unit of time if the data have a time step, else per step. Their sum must be the mean of ln |det J|.",
    ),
    term(
        "log-determinant",
        &["mean log-determinant", "mean_log_det"],
        "analysis",
        "ln |det J| of the Jacobian J, averaged over an orbit: how fast volumes grow; the exponents must sum to it",
        "",
    ),
    term(
        "Kaplan-Yorke dimension",
        &["Kaplan–Yorke dimension", "kaplan_yorke"],
        "analysis",
        "The dimension of an attractor by its Lyapunov exponents: where their sum from the largest on passes zero",
        "",
    ),
    term(
        "lost",
        &["lost directions", "singular"],
        "analysis",
        "Steps at which the Jacobian was singular, so that a direction of tangent space vanished and was replaced",
        "",
    ),
    term(
        "fixed-point",
        &["fixed point", "fixed points", "cycle", "cycles", "proven complete"],
        "analysis",
        "A state that the map takes to itself; a cycle of period k returns to itself after k steps",
        "Of a piecewise-linear model they can be computed region by region; if all regions were tried, the list is proven
complete, else there may be more.",
    ),
    term(
        "multipliers",
        &["multiplier", "stable", "saddle", "repeller", "marginal", "spiral", "flip", "monotone"],
        "analysis",
        "The eigenvalues of the Jacobian of a fixed point or cycle: neighbours grow by them",
        "stable: all below 1 in absolute value. repeller: all above. saddle: some of each. marginal: one on the unit circle.
The largest moves neighbours monotonically, flips them (negative) or turns them in a spiral (complex).",
    ),
    term(
        "region",
        &["regions", "linear region", "linear regions", "plane", "border"],
        "analysis",
        "A part of state space in which a piecewise-linear model is linear: the same units are active",
        "A point on a border has the multipliers of one side.",
    ),
    term(
        "entropy",
        &["entropy_bits", "symbols"],
        "analysis",
        "How evenly an orbit visits the linear regions, in bits; 2^entropy regions of equal weight would have the same",
        "",
    ),
    term(
        "other-attractors",
        &["hidden attractor", "other attractors"],
        "analysis",
        "Where orbits end that start elsewhere: a model may have a stable point beside its attractor that the system lacks",
        "",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_word_means_one_thing_and_is_found() {
        let mut seen = BTreeSet::new();
        for word in words() {
            assert!(seen.insert(word.to_lowercase()), "{word} twice");
            assert!(find(word).is_some_and(|term| words_of(term).any(|w| w == word)));
        }
        assert_eq!(find("Chance Level").map(|term| term.name), Some("chance"));
        assert_eq!(find("no such word"), None);
    }

    fn words_of(term: &'static Term) -> impl Iterator<Item = &'static str> {
        [term.name].into_iter().chain(term.also.iter().copied())
    }

    #[test]
    fn terms_are_sentences_without_a_period_and_name_a_page_that_exists() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for term in TERMS {
            assert!(!term.about.ends_with('.'), "{}", term.name);
            assert!(
                term.more.is_empty() || term.more.ends_with('.'),
                "{}",
                term.name
            );
            // A packed crate has no pages beside it.
            if docs.exists() {
                assert!(
                    docs.join(format!("{}.md", term.page)).exists(),
                    "{}",
                    term.name
                );
            }
        }
    }
}
