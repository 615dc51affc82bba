//! `attractor measure` and `attractor evaluate`, run as a user runs them.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{linear_model, said};
use serde_json::Value;
use tempfile::TempDir;

/// The document that a command prints.
fn document(folder: &Path, arguments: &str) -> Value {
    common::document(folder, arguments, 0)
}

/// A folder with two orbits of Lorenz-63, `a.csv` and `b.csv`.
fn orbits() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, seed) in [("a", 1), ("b", 2)] {
        let simulate = format!(
            "simulate lorenz63 --steps 3000 --transient 500 --standardize --seed {seed} --out {name}.csv"
        );
        said(folder.path(), &simulate, 0);
    }
    folder
}

/// A table with the rows of a text.
fn table(folder: &Path, name: &str, rows: impl Iterator<Item = String>) {
    let text: String = rows.map(|row| row + "\n").collect();
    fs::write(folder.join(name), text).unwrap();
}

/// A column that wanders, `w.csv`.
fn wave(folder: &Path, rows: u32) {
    let value = |t: u32| (f64::from(t) * 0.1).sin() + 0.3 * (f64::from(t) * 0.037).cos();
    let rows = (0..rows).map(|t| value(t).to_string());
    table(folder, "w.csv", ["x".to_string()].into_iter().chain(rows));
}

#[test]
fn every_score_stands_beside_floor_and_chance() {
    let folder = orbits();
    let found = document(folder.path(), "measure --truth a.csv --generated b.csv");
    for key in [
        "d_stsp",
        "d_h",
        "wasserstein",
        "mmd",
        "correlation_dimension",
    ] {
        for field in ["value", "floor", "chance"] {
            assert!(found[key][field].is_f64(), "{key} {field} in {found:#}");
        }
    }
    assert!(found["mmd"]["standard_error"].is_f64());
    assert!(found["d_stsp"].get("standard_error").is_none() && found.get("d_stsp_paper").is_none());
    assert_eq!(
        (&found["diverged"], &found["rows"]),
        (&Value::Bool(false), &3000.into())
    );
    let same = document(folder.path(), "measure --truth a.csv --generated a.csv");
    assert_eq!(
        (&same["d_stsp"]["value"], &same["d_h"]["value"]),
        (&0.0.into(), &0.0.into())
    );
    assert_eq!(same["outside"], 0.0);
    assert_eq!(same["d_stsp"]["floor"], found["d_stsp"]["floor"]);
    let (table, notes) = said(folder.path(), "measure --truth a.csv --generated b.csv", 0);
    assert!(notes.is_empty(), "{notes}");
    assert!(
        table.contains("floor: the halves of the truth against each other"),
        "{table}"
    );
    let known = document(
        folder.path(),
        "measure --truth a.csv --generated b.csv --system lorenz63",
    );
    assert_eq!(known["floor_from"], "orbits of lorenz63");
    assert_ne!(known["d_stsp"]["floor"], found["d_stsp"]["floor"]);
}

#[test]
fn levels_are_computed_once_and_never_kept_beside_the_data() {
    let folder = orbits();
    let kept = || fs::read_dir(folder.path().join("cache")).map_or(0, Iterator::count);
    let beside = || fs::read_dir(folder.path()).unwrap().count();
    let measure = "measure --truth a.csv --generated b.csv";
    document(folder.path(), &format!("{measure} --no-floors"));
    assert_eq!((kept(), beside()), (0, 2));
    let first = document(folder.path(), measure);
    assert_eq!((kept(), beside()), (1, 3));
    assert_eq!(document(folder.path(), measure), first);
    assert_eq!(kept(), 1);
    // What cannot be read is computed again, and mended.
    let path = fs::read_dir(folder.path().join("cache"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, "[{\"id\":").unwrap();
    assert_eq!(document(folder.path(), measure), first);
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
    // A kept figure is used, not computed again: it may be changed by hand.
    let floor = first["d_h"]["floor"].to_string();
    fs::write(&path, good.replace(&floor, "0.5")).unwrap();
    assert_eq!(document(folder.path(), measure)["d_h"]["floor"], 0.5);
    document(folder.path(), &format!("{measure} --seed 1"));
    assert_eq!(kept(), 2);
}

#[test]
fn many_channels_have_the_form_of_the_paper_as_well() {
    let folder = TempDir::new().unwrap();
    for seed in [1, 2] {
        let simulate =
            format!("simulate lorenz96 --steps 600 --seed {seed} --standardize --out {seed}.npy");
        said(folder.path(), &simulate, 0);
    }
    let found = document(
        folder.path(),
        "measure --truth 1.npy --generated 2.npy --no-floors",
    );
    for key in ["d_stsp", "d_stsp_paper"] {
        assert!(found[key]["value"].is_f64() && found[key]["standard_error"].is_f64());
    }
    assert!(found["d_stsp_paper"]["dropped"].is_u64());
    said(
        folder.path(),
        "simulate lorenz96 --steps 600 --out raw.npy",
        0,
    );
    let (_, notes) = said(
        folder.path(),
        "measure --truth raw.npy --generated raw.npy --no-floors",
        0,
    );
    assert!(
        notes.contains("note: d_stsp takes channels of spread 1 for granted"),
        "{notes}"
    );
}

#[test]
fn what_cannot_be_compared_is_a_mistake() {
    let folder = orbits();
    let numbers = |f: fn(u32) -> String| (0..200).map(f);
    table(
        folder.path(),
        "constant.csv",
        numbers(|t| format!("{t},7,{}", t * t % 31)),
    );
    table(
        folder.path(),
        "holes.csv",
        numbers(|t| match t {
            57 => "1,,2".to_string(),
            t => format!("{},{},{}", t % 17, t % 13, t % 11),
        }),
    );
    wave(folder.path(), 300);
    let refused = |truth: &str, generated: &str, expected: &str| {
        let measure = format!("measure --time none --truth {truth} --generated {generated}");
        let (out, told) = said(folder.path(), &measure, 2);
        assert!(out.is_empty() && told.contains(expected), "{told}");
    };
    refused(
        "a.csv",
        "w.csv",
        "error: the truth has 4 channels, the generated series 1",
    );
    refused(
        "constant.csv",
        "constant.csv",
        "channel 2 of the truth is constant\nhint: leave",
    );
    table(
        folder.path(),
        "huge.csv",
        numbers(|t| format!("{}e300,{},{}", t % 7, t % 13, t % 11)),
    );
    refused(
        "huge.csv",
        "constant.csv",
        "channel 1 of the truth reaches 6e300, too large to be measured\nhint: give",
    );
    table(
        folder.path(),
        "tiny.csv",
        numbers(|t| format!("{},{}e-300,{}", t % 7, t % 13, t % 11)),
    );
    refused(
        "tiny.csv",
        "constant.csv",
        "channel 2 of the truth has a spread of 3.7",
    );
}

#[test]
fn mistyped_settings_are_told() {
    let folder = orbits();
    let measure = "measure --truth a.csv --generated b.csv";
    for (flags, expected) in [
        (
            "--system lorentz63",
            "error: no system is named `lorentz63`\nhint: did you mean",
        ),
        (
            "--system lorentz63 --no-floors",
            "error: no system is named `lorentz63`",
        ),
        (
            "--system henon",
            "error: `henon` has 2 channels, the truth has 3",
        ),
        (
            "--box huge",
            "error: `box` must be one of paper, min-max, two-sigma",
        ),
        ("--seed -1", "error: `seed` must be a whole number"),
    ] {
        let (_, told) = said(folder.path(), &format!("{measure} {flags}"), 2);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_score_that_does_not_exist_is_null_and_says_why() {
    let folder = orbits();
    let still = (0..3000).map(|t| format!("{},0.5,0.5,0.5", f64::from(t) * 0.01));
    table(
        folder.path(),
        "still.csv",
        ["time,x,y,z".to_string()].into_iter().chain(still),
    );
    let found = document(
        folder.path(),
        "measure --truth a.csv --generated still.csv --no-floors",
    );
    assert_eq!(found["d_h"]["value"], Value::Null);
    for id in ["d_h", "correlation_dimension"] {
        assert_eq!(
            found[id]["why"],
            "the generated series has shrunk to a point: it varies by at most 0 of the truth's spread"
        );
    }
    assert!(found["d_stsp"]["value"].as_f64().unwrap() > 10.0);
    let far = (0..3000).map(|t| format!("{},50,{},9", f64::from(t) * 0.01, t % 7));
    table(
        folder.path(),
        "far.csv",
        ["time,x,y,z".to_string()].into_iter().chain(far),
    );
    let found = document(
        folder.path(),
        "measure --truth a.csv --generated far.csv --no-floors",
    );
    assert_eq!(
        (&found["d_stsp"]["value"], &found["outside"]),
        (&Value::Null, &1.0.into())
    );
    let (table, _) = said(
        folder.path(),
        "measure --truth a.csv --generated far.csv --no-floors",
        0,
    );
    assert!(
        table.contains("d_stsp: no row of the generated series lies in the box"),
        "{table}"
    );
}

#[test]
fn the_shortest_series_have_what_scores_they_can() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("three.csv"), "1,2\n3,4\n5,1\n").unwrap();
    let found = document(
        folder.path(),
        "measure --truth three.csv --generated three.csv",
    );
    assert_eq!(found["d_stsp"]["value"], 0.0);
    let why = "the truth has too few different points for a scaling range";
    assert_eq!(found["correlation_dimension"]["why"], why);
    assert_eq!(found["correlation_dimension"]["chance"], Value::Null);
    fs::write(folder.path().join("one.csv"), "1,2\n").unwrap();
    let (_, told) = said(
        folder.path(),
        "measure --truth one.csv --generated one.csv",
        2,
    );
    assert!(told.contains("error: 2 rows needed, found 1"), "{told}");
}

#[test]
fn unequal_lengths_and_gaps_are_told() {
    let folder = orbits();
    said(
        folder.path(),
        "simulate lorenz63 --steps 2000 --standardize --out short.csv",
        0,
    );
    let (out, notes) = said(
        folder.path(),
        "measure --truth a.csv --generated short.csv --no-floors --json",
        0,
    );
    assert_eq!(
        notes,
        "note: lengths differ: the first 2000 rows of each are compared\n"
    );
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["rows"], 2000);
    let rows = (0..900).map(|t| {
        let time = f64::from(t) + if t >= 300 { 100.0 } else { 0.0 };
        format!("{time},{},{}", t % 17, t % 13)
    });
    table(
        folder.path(),
        "gap.csv",
        ["time,x,y".to_string()].into_iter().chain(rows),
    );
    let (_, notes) = said(
        folder.path(),
        "measure --truth gap.csv --generated gap.csv --no-floors",
        0,
    );
    assert!(
        notes.contains(
            "the longest of 2 stretches without gap or missing value is used: rows 301 to 900"
        ),
        "{notes}"
    );
}

/// Row 58 of 200 has a hole: both sides are cut to the 142 rows behind it.
#[test]
fn missing_values_end_a_stretch_as_gaps_do() {
    let folder = TempDir::new().unwrap();
    let rows = (0..200).map(|t| match t {
        57 => "1,,2".to_string(),
        t => format!("{},{},{}", t % 17, t % 13, t % 11),
    });
    table(folder.path(), "holes.csv", rows);
    let measure = "measure --time none --truth holes.csv --generated holes.csv --no-floors";
    let (out, notes) = said(folder.path(), &format!("{measure} --json"), 0);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&found["rows"], &found["d_stsp"]["value"]),
        (&142.into(), &0.0.into())
    );
    assert!(notes.contains("rows 59 to 200 of trajectory 1"), "{notes}");
    fs::write(folder.path().join("none.csv"), "1,,2\n,3,4\n1,2,\n").unwrap();
    let none = "measure --time none --truth none.csv --generated holes.csv";
    let (_, told) = said(folder.path(), none, 2);
    assert!(
        told.contains("error: no row of the truth is complete\nhint: leave out"),
        "{told}"
    );
}

/// A sine is a linear map of two rows: no forecast of it fails, and its orbit has a period.
#[test]
fn a_regular_model_has_its_period_and_a_valid_time_that_is_a_lower_bound() {
    let folder = TempDir::new().unwrap();
    table(
        folder.path(),
        "w.csv",
        ["time,x,y".to_string()]
            .into_iter()
            .chain((0..2000).map(|i| {
                let t = 0.1 * f64::from(i);
                format!("{t},{},{}", t.sin(), t.cos())
            })),
    );
    said(
        folder.path(),
        "train w.csv --model linear --out r --quiet",
        0,
    );
    let judged = document(folder.path(), "evaluate r --data w.csv --starts 1");
    assert_eq!(judged["vpt"]["at_least"], true);
    let of = |key: &str| judged["vpt"][key].as_f64().unwrap();
    assert_eq!(of("value"), of("horizon"));
    let period = judged["period"].as_f64().unwrap();
    assert!((period - std::f64::consts::TAU).abs() < 1e-3, "{period}");
    let evaluate = "evaluate r --data w.csv --starts 1";
    let (text, _) = said(folder.path(), evaluate, 0);
    for part in [
        "≥ 999",
        "vpt: a time of at least 99.9; 100 of 100 forecasts were still valid after 999 steps",
        "its orbit is regular, with a period of 6.283",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let word = judged["verdict"]["word"].as_str().unwrap();
    let code = i32::from(word != "good");
    said(
        folder.path(),
        &format!("{evaluate} --fail-unless good"),
        code,
    );
    said(
        folder.path(),
        "train w.csv --model persistence --out p --quiet",
        0,
    );
    let rest = "evaluate p --data w.csv --starts 1 --fail-unless partly";
    let (text, _) = said(folder.path(), rest, 1);
    assert!(text.contains("verdict: not a reconstruction"), "{text}");
}

#[test]
fn a_model_is_judged_by_orbits_and_forecasts() {
    let folder = orbits();
    let train = "train a.csv --out r --quiet --epochs 4 --window 30 --hidden 20 --lr 5e-3";
    said(folder.path(), train, 0);
    let found = document(
        folder.path(),
        "evaluate r --data b.csv --system lorenz63 --starts 4",
    );
    for key in ["d_stsp", "d_h", "pe", "vpt", "wasserstein", "mmd"] {
        for field in ["value", "floor", "chance"] {
            let value = &found[key][field];
            assert!(value.is_f64() || value.is_null(), "{key} {field}");
        }
    }
    assert_eq!(
        (&found["pe_n"], &found["pe"]["pe_n"]),
        (&20.into(), &20.into())
    );
    assert_eq!(found["starts"]["count"], 4);
    assert!(found["d_stsp"]["worst"].as_f64() >= found["d_stsp"]["median"].as_f64());
    // Lorenz-63 has a largest exponent of 0.906 and is sampled every 0.01.
    let vpt = &found["vpt"];
    let ratio = vpt["lyapunov_times"].as_f64().unwrap() / vpt["value"].as_f64().unwrap();
    assert!((ratio / 0.00906 - 1.0).abs() < 0.01, "{ratio}");
    let (_, notes) = said(folder.path(), "evaluate r --data a.csv --no-floors", 0);
    assert!(
        notes.contains("note: these are data that the model was trained on"),
        "{notes}"
    );
    let (_, notes) = said(folder.path(), "evaluate r --data b.csv --no-floors", 0);
    assert!(notes.is_empty(), "{notes}");
    assert_eq!(found["trained_share"], 0.0);
    let by_file = document(
        folder.path(),
        "evaluate r/model.safetensors --data b.csv --system lorenz63 --starts 4",
    );
    assert_eq!(by_file, found);
}

/// Rows of a table, with its head.
fn part(folder: &Path, of: &[(&str, std::ops::Range<usize>)], name: &str) {
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let mut rows = vec!["x,y,z".to_string()];
    for (name, range) in of {
        let all = text(name);
        let without_time = all
            .lines()
            .skip(1)
            .map(|line| line.split_once(',').unwrap().1);
        rows.extend(
            without_time
                .skip(range.start)
                .take(range.len())
                .map(String::from),
        );
    }
    table(folder, name, rows.into_iter());
}

#[test]
fn rows_that_were_trained_on_are_found_wherever_they_are() {
    let folder = orbits();
    let here = folder.path();
    part(here, &[("a.csv", 1000..3000)], "train.csv");
    let train = "train train.csv --out r --quiet --epochs 1 --window 30 --hidden 20";
    said(here, train, 0);
    said(
        here,
        &format!("{train} --held-out 0.5").replace("--out r", "--out h"),
        0,
    );
    let share = |run: &str, data: &str| {
        let arguments = format!("evaluate {run} --data {data} --no-floors --starts 1");
        let found = document(here, &arguments);
        (found["trained_share"].as_f64(), found["notes"].to_string())
    };
    // The whole recording, of which two thirds were trained on; a part from its middle; a mix with another.
    part(here, &[("a.csv", 0..3000)], "whole.csv");
    let (whole, note) = share("r", "whole.csv");
    assert_eq!(whole, Some(2.0 / 3.0));
    assert!(
        note.contains("66.67 % of the rows are data that the model was trained on"),
        "{note}"
    );
    part(here, &[("a.csv", 1500..1800)], "middle.csv");
    let (middle, note) = share("r", "middle.csv");
    assert_eq!(middle, Some(1.0));
    assert!(
        note.contains("these are data that the model was trained on"),
        "{note}"
    );
    part(here, &[("b.csv", 0..750), ("a.csv", 1500..1750)], "mix.csv");
    assert_eq!(share("r", "mix.csv").0, Some(0.25));
    part(here, &[("a.csv", 0..1000)], "before.csv");
    assert_eq!(share("r", "before.csv"), (Some(0.0), "[]".to_string()));
    // What was held out was not trained on; of a model file alone nothing is known.
    assert_eq!(share("h", "middle.csv").0, Some(1.0));
    part(here, &[("a.csv", 2000..3000)], "held.csv");
    assert_eq!(share("h", "held.csv"), (Some(0.0), "[]".to_string()));
    fs::copy(
        here.join("r/model.safetensors"),
        here.join("bare.safetensors"),
    )
    .unwrap();
    assert_eq!(share("bare.safetensors", "middle.csv").0, None);
}

/// z ← a z from every row of a wave: PE(n) is the mean of (aⁿ x_t − x_{t+n})².
#[test]
fn forecast_errors_are_those_of_the_formula() {
    let folder = TempDir::new().unwrap();
    wave(folder.path(), 400);
    linear_model(folder.path(), 0.5, 0.0, &[]);
    let text = fs::read_to_string(folder.path().join("w.csv")).unwrap();
    let x: Vec<f64> = text.lines().skip(1).map(|v| v.parse().unwrap()).collect();
    let found = document(
        folder.path(),
        "evaluate m.safetensors --data w.csv --pe-steps 3 --no-floors",
    );
    let errors = (0..397).map(|t| (0.125 * x[t] - x[t + 3]).powi(2));
    let expected = errors.sum::<f64>() / 397.0;
    // Values are rounded to f32 before the steps: 6e-8 of each.
    let pe = found["pe"]["value"].as_f64().unwrap();
    assert!((pe / expected - 1.0).abs() < 1e-6, "{pe} {expected}");
    // The model sees (x − 1)/2: the same formula in these units.
    linear_model(
        folder.path(),
        0.5,
        0.0,
        &[("scaling", r#"{"mean": [1.0], "sd": [2.0]}"#)],
    );
    let found = document(
        folder.path(),
        "evaluate m.safetensors --data w.csv --pe-steps 3 --no-floors",
    );
    let errors = (0..397).map(|t| (0.125 * (x[t] - 1.0) - (x[t + 3] - 1.0)).powi(2) / 4.0);
    let expected = errors.sum::<f64>() / 397.0;
    let pe = found["pe"]["value"].as_f64().unwrap();
    assert!((pe / expected - 1.0).abs() < 1e-6, "{pe} {expected}");
}

#[test]
fn an_orbit_that_diverges_has_no_scores() {
    let folder = TempDir::new().unwrap();
    wave(folder.path(), 400);
    linear_model(folder.path(), 1.5, 0.0, &[]);
    let found = document(folder.path(), "evaluate m.safetensors --data w.csv");
    assert_eq!(found["diverged"], true);
    for key in ["d_stsp", "d_h", "pe", "vpt", "wasserstein", "mmd"] {
        assert_eq!(found[key]["value"], Value::Null, "{key}");
        assert!(found[key]["chance"].is_f64(), "{key}");
    }
    assert_eq!(
        (&found["starts"]["diverged"], &found["d_stsp"]["worst"]),
        (&8.into(), &Value::Null)
    );
    let (table, _) = said(folder.path(), "evaluate m.safetensors --data w.csv", 0);
    assert!(
        table.contains("the orbit diverges: there are no scores"),
        "{table}"
    );
}

#[test]
fn mistakes_about_a_model_are_told() {
    let folder = orbits();
    wave(folder.path(), 15);
    linear_model(folder.path(), 0.5, 0.0, &[]);
    for (arguments, expected) in [
        (
            "w.csv",
            "error: 21 rows needed, found 15\nhint: give more rows, or forecast fewer steps with `--pe-steps 14`",
        ),
        ("a.csv", "error: the model has 1 channel, the data have 3"),
        ("w.csv --pe-steps 0", "error: `pe-steps` must be"),
        (
            "w.csv --pe-steps 5 --lyapunov -1",
            "error: expected a Lyapunov exponent above 0, found -1",
        ),
        (
            "w.csv --pe-steps 5 --threshold 0",
            "error: `threshold` must be a number above 0",
        ),
        ("w.csv --starts 0", "a whole number from 1 to 10000"),
        ("nothing.csv", "nothing.csv"),
    ] {
        let (out, told) = said(
            folder.path(),
            &format!("evaluate m.safetensors --data {arguments}"),
            2,
        );
        assert!(
            out.is_empty() && told.contains(expected),
            "{arguments}: {told}"
        );
    }
}

/// Version 0.1 chose parameters by the rows that it held out, and its runs have no setting `select`.
#[test]
fn runs_of_old_programs_were_chosen_by_what_they_held_out() {
    let folder = orbits();
    let train = "train a.csv --out r --quiet --epochs 2 --hidden 8 --window 30 --held-out 0.2 \
                 --best-by d_stsp --best-every 1 --best-starts 1";
    said(folder.path(), train, 0);
    let evaluate = "evaluate r --data a.csv --from row:2401 --no-floors";
    let today = document(folder.path(), evaluate);
    assert!(today["chosen_share"].is_null(), "{today}");
    let path = folder.path().join("r/experiment.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let kept = settings
        .lines()
        .filter(|line| !line.starts_with("select ="));
    fs::write(&path, kept.collect::<Vec<_>>().join("\n")).unwrap();
    let old = document(folder.path(), evaluate);
    assert_eq!(old["chosen_share"], 1.0, "{old}");
    fs::remove_file(folder.path().join("a.csv")).unwrap();
    let (_, notes) = said(folder.path(), "evaluate r --data b.csv --no-floors", 0);
    assert!(
        notes.contains("it is not known whether the model was trained on these rows"),
        "{notes}"
    );
}
