//! `attractor analyze`, `export` and `lyapunov`, run as a user runs them.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;

use common::{Tensor, document, linear_model, model_file, said};
use tempfile::TempDir;

/// A run `r` on a recording `l.csv`.
fn trained() -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 600 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    let train = "train l.csv --out r --quiet --epochs 4 --window 30 --hidden 12 --lr 5e-3";
    said(folder.path(), train, 0);
    folder
}

#[test]
fn a_line_has_its_fixed_point_and_its_exponent() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 0.5, 1.0, &[]);
    let found = document(folder.path(), "analyze m.safetensors --steps 1000", 0);
    let point = &found["fixed_points"][0];
    assert_eq!(point["point"], serde_json::json!([2.0]));
    assert_eq!(point["multipliers"], serde_json::json!([[0.5, 0.0]]));
    assert_eq!(
        (&point["kind"], &point["complete"]),
        (&"stable".into(), &true.into())
    );
    assert_eq!(point["on_attractor"], true);
    assert_eq!(found["fixed_points_complete"], true);
    assert_eq!(found["lyapunov"]["per"], "step");
    let exponent = found["lyapunov"]["exponents"][0].as_f64().unwrap();
    // The mean of 1000 equal logarithms.
    assert!((exponent - 0.5f64.ln()).abs() < 1e-12, "{exponent}");
    assert_eq!(found["kaplan_yorke"], 0.0);
    assert_eq!(found["orbit"]["start"], "zero");
    let (text, notes) = said(folder.path(), "analyze m.safetensors --steps 1000", 0);
    assert!(
        text.contains("1 fixed point, proven complete: there is one region"),
        "{text}"
    );
    assert!(notes.contains("starts from zeros"), "{notes}");
}

#[test]
fn exponents_alone_are_those_of_the_whole_analysis() {
    let folder = trained();
    let whole = document(folder.path(), "analyze r --steps 1000 --seconds 0", 0);
    let alone = document(folder.path(), "lyapunov r --steps 1000", 0);
    assert_eq!(alone["lyapunov"], whole["lyapunov"]);
    assert_eq!(alone["kaplan_yorke"], whole["kaplan_yorke"]);
    assert_eq!(alone["parameters"], whole["parameters"]);
    let first = document(
        folder.path(),
        "lyapunov r/model.safetensors --steps 1000 --count 1",
        0,
    );
    let largest = |found: &serde_json::Value| found["lyapunov"]["exponents"][0].as_f64().unwrap();
    // The first vector does not know of the others, but is normalised alone: a few roundings a step.
    assert!((largest(&first) - largest(&whole)).abs() < 1e-9);
    let (text, _) = said(folder.path(), "lyapunov r --steps 1000 --count 1", 0);
    assert!(
        text.contains("the largest 1 of 3: no sum to check"),
        "{text}"
    );
    let (_, error) = said(folder.path(), "lyapunov r --set rho=24", 2);
    assert!(error.contains("--set does not act on a model"), "{error}");
    linear_model(folder.path(), 2.0, 1.0, &[]);
    let (_, notes) = said(folder.path(), "lyapunov m.safetensors", 1);
    assert!(notes.contains("diverges at step 12"), "{notes}");
}

#[test]
fn an_orbit_that_diverges_leaves_the_fixed_points() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 2.0, 1.0, &[]);
    let found = document(folder.path(), "analyze m.safetensors", 0);
    assert!(found["lyapunov"].is_null() && found["kaplan_yorke"].is_null());
    // 2^t − 1 from zero: 2^128 is beyond f32.
    assert_eq!(found["orbit"]["diverged_at"], 128);
    assert_eq!(found["fixed_points"][0]["point"], serde_json::json!([-1.0]));
    assert_eq!(found["fixed_points"][0]["kind"], "repeller");
    let (_, notes) = said(folder.path(), "analyze m.safetensors", 0);
    assert!(
        notes.contains("note: the orbit diverges at step 128: no exponents"),
        "{notes}"
    );
}

/// From zeros, where every hinge of the Lozi map (a = 1.7, b = 0.5) is on its border: J = 0 there, and the exponents are those of
/// the attractor all the same.
#[test]
fn a_start_on_a_corner_of_regions_does_not_decide_the_exponents() {
    let folder = TempDir::new().unwrap();
    let tensors: [Tensor<'_>; 5] = [
        ("A", &[2], &[0.0, 0.0]),
        ("W1", &[2, 4], &[-1.7, -1.7, 1.0, -1.0, 0.5, -0.5, 0.0, 0.0]),
        ("h1", &[2], &[1.0, 0.0]),
        ("W2", &[4, 2], &[1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0]),
        ("h2", &[4], &[0.0, 0.0, 0.0, 0.0]),
    ];
    model_file(folder.path(), "shallow-plrnn", &[], &tensors);
    let found = document(folder.path(), "analyze m.safetensors --cycles 1", 0);
    assert_eq!(found["orbit"]["start"], "zero");
    let lyapunov = &found["lyapunov"];
    assert_eq!(lyapunov["lost"], serde_json::json!([0, 0]));
    for (j, expected) in [0.4701, -1.1632].into_iter().enumerate() {
        // Four decimals are known, of a = 1.7 that single precision rounds, and 1e5 steps scatter by some 1e-4.
        let exponent = lyapunov["exponents"][j].as_f64().unwrap();
        assert!((exponent - expected).abs() < 1e-3, "{lyapunov}");
    }
    let (_, notes) = said(folder.path(), "analyze m.safetensors --cycles 1", 0);
    assert!(!notes.contains("warning"), "{notes}");
}

#[test]
fn a_map_to_one_point_has_no_finite_exponent() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 0.0, 1.0, &[]);
    let found = document(folder.path(), "analyze m.safetensors --steps 1000", 0);
    let lyapunov = &found["lyapunov"];
    assert!(lyapunov["exponents"][0].is_null() && lyapunov["mean_log_det"].is_null());
    assert_eq!(lyapunov["lost"], serde_json::json!([1000]));
    assert_eq!(found["kaplan_yorke"], 0.0);
    let (text, notes) = said(folder.path(), "analyze m.safetensors --steps 1000", 0);
    assert!(text.contains("1  −∞  lost at 1000 steps"), "{text}");
    assert!(text.contains("no sum to check"), "{text}");
    assert!(!notes.contains("warning"), "{notes}");
}

/// The tent map 1 − 2|x| has two fixed points and one 2-cycle, (0.2, 0.6).
#[test]
fn cycles_stand_by_their_period() {
    let folder = TempDir::new().unwrap();
    let tensors: [Tensor<'_>; 5] = [
        ("A", &[1], &[0.0]),
        ("W1", &[1, 2], &[-2.0, -2.0]),
        ("h1", &[1], &[1.0]),
        ("W2", &[2, 1], &[1.0, -1.0]),
        ("h2", &[2], &[0.0, 0.0]),
    ];
    model_file(folder.path(), "shallow-plrnn", &[], &tensors);
    let found = document(
        folder.path(),
        "analyze m.safetensors --steps 500 --cycles 4",
        0,
    );
    let count = |key: &str| found["cycles"][key].as_array().unwrap().len();
    assert_eq!(found["fixed_points"].as_array().unwrap().len(), 2);
    assert_eq!((count("2"), count("3"), count("4")), (1, 2, 3));
    let points = serde_json::json!(found["cycles"]["2"][0]["points"]);
    let x = |i: usize| points[i][0].as_f64().unwrap();
    assert!(
        (x(0) + 0.2).abs() < 1e-12 && (x(1) - 0.6).abs() < 1e-12,
        "{points}"
    );
    assert_eq!(found["cycles_complete"]["3"], true);
}

#[test]
fn a_trained_model_is_taken_apart() {
    let folder = trained();
    let request = "analyze r --steps 2000 --cycles 2 --data l.csv --tables t";
    let found = document(folder.path(), request, 0);
    assert_eq!(found["lyapunov"]["exponents"].as_array().unwrap().len(), 3);
    assert_eq!(found["lyapunov"]["per"], "time");
    let errors = found["lyapunov"]["standard_errors"].as_array().unwrap();
    assert_eq!(errors.len(), 3);
    let sum = |key: &str| found["lyapunov"][key].as_f64().unwrap();
    // Rounding of 2000 logarithms, over a step of 0.01.
    assert!((sum("sum") - sum("mean_log_det")).abs() < 1e-8);
    assert_eq!(found["fixed_points_complete"], true);
    assert_eq!(found["orbit"]["start"], "data");
    let visits = found["regions"]["visits"].as_array().unwrap();
    let total: u64 = visits.iter().map(|v| v.as_u64().unwrap()).sum();
    assert_eq!(total, 2000);
    let norms = fs::read_to_string(folder.path().join("t/jacobian_norms.csv")).unwrap();
    assert_eq!(norms.lines().count(), 201);
    assert!(norms.starts_with("t,alpha0,alpha0.05,"), "{norms}");
    assert_eq!(tables_in(&folder), 8);
    let again = document(
        folder.path(),
        &request.replace("--tables t", "--threads 3"),
        0,
    );
    assert_eq!(found, again);
}

#[test]
fn tables_that_need_data_are_told() {
    let folder = trained();
    let (_, notes) = said(
        folder.path(),
        "analyze r --steps 500 --cycles 1 --tables t",
        0,
    );
    assert!(
        notes.contains(
            "note: no jacobian_norms.csv: it needs a model trained under teacher forcing, and data"
        ),
        "{notes}"
    );
    assert!(notes.contains("wrote 5 tables: t"), "{notes}");
    // Tables of an earlier analysis do not stay beside those of this one; what is not its own does.
    for name in ["jacobian_norms", "alpha_estimates", "loss_landscape", "own"] {
        fs::write(folder.path().join(format!("t/{name}.csv")), "").unwrap();
    }
    assert_eq!(tables_in(&folder), 9);
    said(
        folder.path(),
        "analyze r --steps 500 --cycles 1 --tables t",
        0,
    );
    assert_eq!(tables_in(&folder), 6);
    assert!(folder.path().join("t/own.csv").exists());
    fs::write(folder.path().join("file"), "").unwrap();
    let (_, error) = said(folder.path(), "analyze r --tables file", 2);
    assert!(error.contains("error: cannot write: "), "{error}");
}

/// How many tables there are in the folder `t`.
fn tables_in(folder: &TempDir) -> usize {
    let files = fs::read_dir(folder.path().join("t")).unwrap().flatten();
    let names = files.map(|file| file.file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".csv")).count()
}

#[test]
fn a_folder_with_files_of_others_is_refused() {
    let folder = trained();
    let own = folder.path().join("t/regions.csv");
    fs::create_dir(folder.path().join("t")).unwrap();
    fs::write(&own, "mine").unwrap();
    // Without data there is no such table, which used to be removed then.
    fs::write(folder.path().join("t/jacobian_norms.csv"), "mine").unwrap();
    let analyze = "analyze r --steps 500 --cycles 1 --tables t";
    let (out, told) = said(folder.path(), analyze, 2);
    assert_eq!(
        told,
        "error: the folder has other files, such as `jacobian_norms.csv`: t\n\
         hint: name a folder that is empty or not there yet\n"
    );
    assert!(out.is_empty());
    assert_eq!(fs::read_to_string(own).unwrap(), "mine");
    assert_eq!(tables_in(&folder), 2);
}

#[test]
fn mistakes_are_told_before_the_work() {
    let folder = trained();
    let cases = [
        ("analyze nothing", "no such run or model: nothing"),
        ("analyze l.csv", "not a safetensors file"),
        ("analyze r --cycles 0", "from 1 to 1000"),
        ("analyze r --steps 19", "from 20 to"),
        ("analyze r --seconds nan", "at least 0"),
        ("analyze r --seconds -1", "at least 0"),
        (
            "analyze r --data l.csv --channels x",
            "the model has 3 channels",
        ),
        (
            "export r --as plrnn --out p",
            "unit 1 looks at more than one latent state",
        ),
        (
            "export r --as tanh-shallow-plrnn --out p",
            "has no form as `tanh-shallow-plrnn`",
        ),
        ("export r --as shallow-plrnn --out no/p", "no such folder"),
        (
            "export r/model.safetensors --as shallow-plrnn --out r/model.safetensors",
            "the one to read",
        ),
        (
            "export r --as shallow-plrnn --out r/model.safetensors",
            "one that the run consists of",
        ),
        ("lyapunov lorenz", "no system is named `lorenz`"),
        ("lyapunov lorenz63 --steps 10", "at least 200"),
        ("lyapunov lorenz63 --set rh=1", "unknown"),
    ];
    for (arguments, message) in cases {
        let (_, error) = said(folder.path(), arguments, 2);
        assert!(error.contains(message), "{arguments}: {error}");
    }
}

/// Clipped units become two plain ones each, and the orbit stays the same but for single precision.
#[test]
fn an_exported_model_is_the_same_map() {
    let folder = trained();
    let (_, notes) = said(
        folder.path(),
        "export r --as shallow-plrnn --out p.safetensors",
        0,
    );
    assert!(
        notes.contains("wrote shallow-plrnn: latent 3, hidden 24: p.safetensors"),
        "{notes}"
    );
    let orbit = |model: &str| said(folder.path(), &format!("generate {model} --steps 20"), 0).0;
    let numbers = |text: &str| -> Vec<f64> {
        let cells = text.lines().skip(1).flat_map(|line| line.split(','));
        cells.map(|cell| cell.parse().unwrap()).collect()
    };
    let (one, other) = (numbers(&orbit("r")), numbers(&orbit("p.safetensors")));
    // The same products in f64, added in another order.
    assert!(
        one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12),
        "{one:?} {other:?}"
    );
    let same = |file: &str| {
        let found = document(
            folder.path(),
            &format!("analyze {file} --steps 100 --cycles 1"),
            0,
        );
        found["fixed_points"].as_array().unwrap().len()
    };
    assert_eq!(same("r"), same("p.safetensors"));
}

#[test]
fn a_driven_model_needs_its_inputs() {
    let folder = TempDir::new().unwrap();
    let tensors: [Tensor<'_>; 4] = [
        ("A", &[1], &[0.5]),
        ("W", &[1, 1], &[0.0]),
        ("h", &[1], &[0.0]),
        ("C", &[1, 1], &[1.0]),
    ];
    model_file(folder.path(), "plrnn", &[], &tensors);
    let (_, error) = said(folder.path(), "analyze m.safetensors", 2);
    assert!(
        error.contains("1 external input") && error.contains("--data"),
        "{error}"
    );
    let rows: String = (0..50)
        .map(|i| format!("{},{}\n", 0.1, 1 + 2 * (i % 2)))
        .collect();
    fs::write(folder.path().join("d.csv"), format!("x,u\n{rows}")).unwrap();
    let found = document(
        folder.path(),
        "analyze m.safetensors --data d.csv --input u --steps 100",
        0,
    );
    // The mean input is 2:  z = 0.5 z + 2.
    assert_eq!(found["input"], serde_json::json!([2.0]));
    let point = found["fixed_points"][0]["point"][0].as_f64().unwrap();
    assert!((point - 4.0).abs() < 1e-12);
}

#[test]
fn a_smooth_model_has_fixed_points_but_no_regions() {
    let folder = TempDir::new().unwrap();
    let tensors: [Tensor<'_>; 5] = [
        ("A", &[1], &[0.0]),
        ("W1", &[1, 1], &[2.0]),
        ("h1", &[1], &[0.0]),
        ("W2", &[1, 1], &[1.0]),
        ("h2", &[1], &[0.0]),
    ];
    model_file(folder.path(), "tanh-shallow-plrnn", &[], &tensors);
    let found = document(
        folder.path(),
        "analyze m.safetensors --steps 100 --cycles 1",
        0,
    );
    assert!(found["regions"].is_null());
    assert_eq!(found["fixed_points_complete"], false);
    // z = 2 tanh z: the roots are 0 and ±1.9150080481545.
    let points = found["fixed_points"].as_array().unwrap();
    let points: Vec<f64> = points
        .iter()
        .map(|p| p["point"][0].as_f64().unwrap())
        .collect();
    let expected = [-1.9150080481545, 0.0, 1.9150080481545];
    assert_eq!(points.len(), 3);
    assert!(
        points
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() < 1e-9),
        "{points:?}"
    );
}

/// z ← 2 tanh z has stable points at ±1.915 and an unstable one between them.
#[test]
fn attractors_beside_the_first_are_told_with_who_goes_there() {
    let folder = TempDir::new().unwrap();
    let tensors: [Tensor<'_>; 5] = [
        ("A", &[1], &[0.0]),
        ("W1", &[1, 1], &[2.0]),
        ("h1", &[1], &[0.0]),
        ("W2", &[1, 1], &[1.0]),
        ("h2", &[1], &[0.0]),
    ];
    model_file(folder.path(), "tanh-shallow-plrnn", &[], &tensors);
    let rows: String = (0..64)
        .map(|i| if i % 2 == 0 { "1.5\n" } else { "-1.5\n" })
        .collect();
    fs::write(folder.path().join("d.csv"), format!("x\n{rows}")).unwrap();
    let analyze = "analyze m.safetensors --data d.csv --steps 100 --cycles 1";
    let (text, _) = said(folder.path(), analyze, 0);
    let sentence =
        "beside its attractor this model has 1 stable point; 50 % of orbits from the data";
    assert!(text.contains(sentence), "{text}");
    let found = document(folder.path(), analyze, 0);
    let starts = &found["attractors"]["ends"][1]["starts"];
    assert_eq!(
        (&starts["data"], &starts["near"]),
        (&32.into(), &4.into()),
        "{found}"
    );
}

/// The exact step of Lorenz's equations has their exponents and their fixed points, in whatever units the data are.
#[test]
fn a_known_system_stands_beside_the_model() {
    for scaled in ["", "--standardize"] {
        let folder = TempDir::new().unwrap();
        let simulate =
            format!("simulate lorenz63 --steps 20000 --transient 500 {scaled} --out l.csv");
        said(folder.path(), &simulate, 0);
        said(
            folder.path(),
            "train l.csv --model sindy --out r --quiet",
            0,
        );
        let analyze = "analyze r --cycles 1 --steps 5000 --system lorenz63";
        let found = document(folder.path(), analyze, 0);
        let system = &found["system"];
        assert_eq!(
            system["exponents"],
            serde_json::json!([0.9056, 0.0, -14.5723])
        );
        assert_eq!(system["scaled"], !scaled.is_empty());
        let points = system["fixed_points"].as_array().unwrap();
        assert_eq!(points.len(), 3);
        for point in points {
            assert_eq!(
                (&point["kind"], &point["differs"]),
                (&"saddle".into(), &false.into())
            );
            // Slopes of smoothed rows put the model's points off by some hundredths of spreads. The wings are changed about
            // every unit of time: of 200 units the mean of x scatters by 1/√200 spreads.
            let distance = point["nearest"]["distance"].as_f64().unwrap();
            assert!(distance < 0.25, "{distance}");
        }
        let (text, _) = said(folder.path(), analyze, 0);
        for part in [
            "those of lorenz63 per unit of time in the literature (sprott2003): 0.9056, 0, -14.57",
            "3 fixed points of lorenz63 itself, found by a search",
            "of 3 fixed points of lorenz63, all are in the model, with the same stability",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    // A map of one latent state is no model of three channels.
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 0.5, 1.0, &[]);
    let (text, _) = said(
        folder.path(),
        "analyze m.safetensors --steps 100 --system lorenz63",
        0,
    );
    let why = "no fixed points of lorenz63 beside these: it has 3 channels, the model has 1";
    assert!(text.contains(why), "{text}");
}

#[test]
fn the_henon_map_has_the_exponents_of_the_literature() {
    let folder = TempDir::new().unwrap();
    let found = document(folder.path(), "lyapunov henon --steps 50000", 0);
    let exponent = found["lyapunov"]["exponents"][0].as_f64().unwrap();
    let error = found["lyapunov"]["standard_errors"][0].as_f64().unwrap();
    // Sprott (2003): 0.41922.
    assert!((exponent - 0.41922).abs() < 4.0 * error + 1e-5);
    let sum = found["lyapunov"]["sum"].as_f64().unwrap();
    assert!((sum - 0.3f64.ln()).abs() < 1e-9);
    assert_eq!(found["known"].as_array().unwrap().len(), 1);
    // The literature has nothing for these parameters.
    let other = document(folder.path(), "lyapunov henon --set a=1.3 --steps 1000", 0);
    assert!(other["known"].is_null(), "{other}");
    let (text, _) = said(folder.path(), "lyapunov lorenz63 --steps 2000", 0);
    assert!(
        text.contains("per unit of time") && text.contains("sum -13.67"),
        "{text}"
    );
    let (text, _) = said(folder.path(), "lyapunov lorenz96 --steps 200 --count 2", 0);
    assert!(text.contains("2 of 20"), "{text}");
    said(folder.path(), "lyapunov henon --set a=9", 1);
}
