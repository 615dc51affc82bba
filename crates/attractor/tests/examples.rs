//! Every example runs, and its answer is what it should be.
#![allow(
    dead_code,
    reason = "their `main` functions print what is asserted here"
)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

#[path = "../examples/csv_to_report.rs"]
mod csv_to_report;
#[path = "../examples/custom_method/main.rs"]
mod custom_method;
#[path = "../examples/custom_system.rs"]
mod custom_system;
#[path = "../examples/sweep_in_memory.rs"]
mod sweep_in_memory;
#[path = "../examples/trajectories_with_inputs.rs"]
mod trajectories_with_inputs;

use std::fs;

use attractor::evaluation::Evaluation;
use tempfile::TempDir;

/// A score that there is.
fn value(evaluation: &Evaluation, id: &str) -> f64 {
    let score = evaluation.scores.iter().find(|score| score.id == id);
    score.unwrap().value.as_ref().unwrap().value
}

#[test]
fn a_csv_file_becomes_a_model_with_scores_and_a_page() {
    let folder = TempDir::new().unwrap();
    let answer = csv_to_report::run(folder.path()).unwrap();
    let evaluation = &answer.evaluation;
    // A quarter of 4000 rows, none of which was trained on.
    assert_eq!((evaluation.rows, evaluation.channels), (1000, 3));
    assert_eq!(evaluation.trained_share, Some(0.0));
    let pe = evaluation
        .scores
        .iter()
        .find(|score| score.id == "pe")
        .unwrap();
    let chance = pe.level.as_ref().unwrap().chance.unwrap();
    // Surrogates without the dynamics forecast no better than the chance level.
    assert!(value(evaluation, "pe") < chance, "{:?}", pe.value);
    let page = fs::read_to_string(&answer.page).unwrap();
    assert!(page.contains("held out") && page.contains("</html>"));
    // The second time the run is found, and its model is the same.
    let again = csv_to_report::run(folder.path()).unwrap();
    assert_eq!(again.evaluation, answer.evaluation);
}

#[test]
fn a_driven_model_forecasts_what_it_has_not_seen() {
    let [model, constant] = trajectories_with_inputs::run(".".as_ref()).unwrap();
    // The best constant is the mean of the very rows that are forecast: whatever errs less has followed the dynamics.
    assert!(model < constant, "{model} {constant}");
}

#[test]
fn a_study_in_memory_has_a_score_for_every_training() {
    let evaluations = sweep_in_memory::run(".".as_ref()).unwrap();
    assert_eq!(evaluations.len(), sweep_in_memory::RUNS.len());
    let pe: Vec<f64> = evaluations.iter().map(|e| value(e, "pe")).collect();
    // Strong forcing learns single steps, weak forcing to forecast; this holds for either seed.
    assert!(pe[0] < pe[2] && pe[1] < pe[3], "{pe:?}");
    // Another seed, another model; another strength of forcing too.
    assert!(pe[0] != pe[1] && pe[0] != pe[2]);
    assert!(sweep_in_memory::score(&evaluations[0], "none").is_nan());
}

#[test]
fn the_model_of_a_system_has_its_largest_exponent() {
    let [system, model] = custom_system::run(".".as_ref()).unwrap();
    let sum: f64 = system.iter().sum();
    // The divergence is −11 everywhere; the integrator is exact to 1e-9 per step.
    assert!((sum + 11.0).abs() < 1e-4, "{sum}");
    // One exponent of a flow is 0, along the orbit: over 500 units of time it is that up to ln(ratio of speeds)/500.
    assert!(system[0] > 0.0 && system[1].abs() < 0.02, "{system:?}");
    // The model is chaotic: a periodic one has no exponent above 0, over its 400 units of time up to the same logarithm.
    assert!(model[0] > 0.025, "{model:?}");
}

#[test]
fn a_method_of_ones_own_is_fitted_and_judged() {
    let evaluation = custom_method::run(".".as_ref()).unwrap();
    let sizes = evaluation.model.as_ref().unwrap();
    assert_eq!(
        (sizes.id, sizes.dim, sizes.parameters),
        ("quadratic-map", 3, 30)
    );
    assert!(!evaluation.diverged);
    // Lorenz's equations are quadratic, and so is their flow over a short step but for dt² terms: an independent program finds 0.001.
    assert!(
        value(&evaluation, "pe") < 0.01,
        "{}",
        value(&evaluation, "pe")
    );
}
