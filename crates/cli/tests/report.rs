//! `attractor report`, run as a user runs it; and the page's own script beside the program, where Node is there.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Tensor, linear_model, model_file, said};
use serde_json::Value;
use tempfile::TempDir;

/// Quick searches: what is tested here is the page.
const QUICK: &str = "--seconds 1 --cycles 1";

/// A folder with a recording `l.csv` and a short run `r` on it.
fn trained(settings: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 600 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    let train =
        format!("train l.csv --out r --quiet --epochs 3 --window 30 --hidden 12 {settings}");
    said(folder.path(), &train, 0);
    folder
}

/// The text of an element of a page.
fn element<'a>(page: &'a str, opening: &str) -> &'a str {
    let (_, rest) = page.split_once(opening).unwrap();
    rest.split_once("</script>").unwrap().0
}

/// The document in a page, after what every page must be.
fn document(path: &Path) -> Value {
    let page = fs::read_to_string(path).unwrap();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    let body = page.split("<script").next().unwrap();
    for load in ["src=", "http:", "https:", "url(", "@import"] {
        assert!(!body.contains(load), "{load}");
    }
    assert_eq!(body.matches("href=").count(), 1, "only the empty icon");
    let text = element(&page, "id=\"document\">");
    assert!(!text.contains('<'));
    serde_json::from_str(text).unwrap()
}

fn lengths(document: &Value, side: &str) -> usize {
    document["signals"][side].as_array().unwrap().len()
}

fn notes(document: &Value) -> String {
    document["notes"].to_string()
}

/// The rows that a model is given are no forecast of it, and what is solved has no training to speak of.
#[test]
fn a_forecast_begins_where_the_data_that_a_model_takes_in_end() {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 600 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    let train = "train l.csv --out r --quiet --model linear --order 4";
    said(folder.path(), train, 0);
    said(folder.path(), &format!("report r {QUICK}"), 0);
    let page = folder.path().join("r/report.html");
    let found = document(&page);
    let (forecast, truth) = (&found["signals"]["forecast"], &found["signals"]["truth"]);
    assert_eq!(forecast["from"], 3);
    let row = |values: &Value, t: usize| values.as_array().unwrap()[3 * t..3 * t + 3].to_vec();
    assert_eq!(row(&forecast["rows"], 0), row(truth, 3));
    assert_ne!(row(&forecast["rows"], 1), row(truth, 4));
    assert!(!notes(&found).contains("history"), "{}", notes(&found));
    let story = fs::read_to_string(&page).unwrap();
    assert!(story.contains("was fitted to 3 channels") && story.contains("solved for at once"));
}

/// The page, `analyze` and `evaluate` compute it once each, in the same way; the page shows five digits.
#[test]
fn a_model_has_one_exponent_and_one_list_of_cycles() {
    let folder = TempDir::new().unwrap();
    for (seed, name) in [(1, "l.csv"), (2, "t.csv")] {
        let simulate = format!("simulate lorenz63 --steps 3000 --seed {seed} --out {name}");
        said(folder.path(), &simulate, 0);
    }
    let train = "train l.csv --out r --quiet --epochs 40 --window 50 --hidden 12 --lr 5e-3";
    said(folder.path(), train, 0);
    let json = |arguments: &str| common::document(folder.path(), arguments, 0);
    let analyzed = json("analyze r --cycles 2 --seconds 60 --system lorenz63");
    let judged = json("evaluate r --data t.csv --system lorenz63 --no-floors --starts 1");
    let page = "report r --data t.csv --system lorenz63 --cycles 2 --seconds 60";
    said(folder.path(), page, 0);
    let page = document(&folder.path().join("r/report.html"));
    let exponent = &analyzed["lyapunov"]["exponents"][0];
    assert_eq!(&judged["lyapunov"]["value"], exponent);
    let shown = page["dynamics"]["lyapunov"]["exponents"][0]
        .as_f64()
        .unwrap();
    let exponent = exponent.as_f64().unwrap();
    assert!(
        (shown - exponent).abs() <= 1e-4 * exponent.abs(),
        "{shown}, {exponent}"
    );
    let said = &page["scores"]["lyapunov"]["value"].as_f64().unwrap();
    assert!((shown - said).abs() <= 1e-4 * exponent.abs());
    let counted = |i: usize| page["dynamics"]["periodic"][i]["count"].as_u64().unwrap() as usize;
    let list = |found: &Value| found.as_array().unwrap().len();
    assert_eq!(counted(0), list(&analyzed["fixed_points"]));
    assert_eq!(counted(1), list(&analyzed["cycles"]["2"]));
    let known = &page["dynamics"]["system"];
    assert_eq!(known["name"], analyzed["system"]["name"]);
    assert_eq!(list(&known["fixed_points"]), 3);
    let repeat = page["repeat"]["report"].as_str().unwrap();
    assert!(
        repeat.ends_with("--system lorenz63 --seconds 60 --cycles 2"),
        "{repeat}"
    );
}

#[test]
fn a_run_has_a_page_with_all_its_parts() {
    let folder = trained("");
    let (out, told) = said(folder.path(), &format!("report r {QUICK}"), 0);
    assert!(out.is_empty());
    assert!(
        told.contains("wrote a page of ") && told.ends_with("r/report.html\n"),
        "{told}"
    );
    let document = document(&folder.path().join("r/report.html"));
    // So short a training may settle on a point, which has no spectrum; nothing else is missing.
    let notes = document["notes"].as_array().unwrap();
    assert!(
        notes
            .iter()
            .all(|note| note.as_str().unwrap().starts_with("there is no D_H")
                || note
                    .as_str()
                    .unwrap()
                    .starts_with("there is no correlation")),
        "{notes:?}"
    );
    assert_eq!(
        (lengths(&document, "truth"), lengths(&document, "generated")),
        (1800, 1800)
    );
    assert_eq!(document["history"]["loss"].as_array().unwrap().len(), 3);
    assert_eq!(document["scores"]["measures"][0]["id"], "d_stsp");
    assert!(document["scores"]["measures"][0]["floor"].is_number());
    assert_eq!(
        document["dynamics"]["lyapunov"]["exponents"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(document["settings"][0]["name"], "model");
    assert_eq!(
        document["data"]["role"],
        "the data that the model was trained on"
    );
    assert!(
        document["repeat"]["train"]
            .as_str()
            .unwrap()
            .contains("--config r/experiment.toml")
    );
    assert!(
        document["bibtex"]
            .as_str()
            .unwrap()
            .contains("@misc{attractor,")
    );
    // The forecast begins where the data do: the observation model starts well conditioned and is all but inverted.
    let first = |list: &Value| list[0].as_f64().unwrap();
    let signals = &document["signals"];
    assert!((first(&signals["forecast"]["rows"]) - first(&signals["truth"])).abs() < 1e-4);
}

#[test]
fn a_model_file_needs_data_to_be_compared_with() {
    let folder = trained("");
    fs::copy(
        folder.path().join("r/model.safetensors"),
        folder.path().join("m.safetensors"),
    )
    .unwrap();
    let (_, told) = said(folder.path(), &format!("report m.safetensors {QUICK}"), 0);
    assert!(told.contains("there are no data to compare with"), "{told}");
    let alone = document(&folder.path().join("report.html"));
    assert_eq!(lengths(&alone, "truth"), 0);
    assert!(lengths(&alone, "generated") > 1000 && alone["scores"]["why"].is_string());
    said(
        folder.path(),
        &format!("report m.safetensors --data l.csv --out b.html {QUICK}"),
        0,
    );
    let beside = document(&folder.path().join("b.html"));
    assert_eq!(lengths(&beside, "truth"), 1800);
    assert!(beside["scores"]["measures"][0]["value"].is_number());
    assert!(notes(&beside).contains("experiment.toml"));
}

#[test]
fn data_that_are_gone_are_told_on_the_page() {
    let folder = trained("");
    fs::rename(folder.path().join("l.csv"), folder.path().join("moved.csv")).unwrap();
    said(folder.path(), &format!("report r {QUICK}"), 0);
    let document = document(&folder.path().join("r/report.html"));
    assert!(notes(&document).contains("l.csv"), "{}", notes(&document));
    assert!(document["history"]["loss"].is_array() && document["data"].is_null());
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("<li>there are no data to compare with"));
}

#[test]
fn one_channel_is_drawn_by_its_delays() {
    let folder = trained("--channels x --latent 3 --observation identity");
    said(folder.path(), &format!("report r {QUICK}"), 0);
    let document = document(&folder.path().join("r/report.html"));
    assert_eq!(document["signals"]["dim"], 1);
    assert!(document["signals"]["lag"].as_u64().unwrap() >= 1);
    assert!(document["signals"]["projection"].is_null());
}

#[test]
fn held_out_data_are_what_a_run_is_judged_by() {
    let folder = trained("--held-out 0.25");
    said(folder.path(), &format!("report r {QUICK}"), 0);
    let document = document(&folder.path().join("r/report.html"));
    assert_eq!(document["data"]["rows"], 150);
    assert!(
        document["scores"]["from"]
            .as_str()
            .unwrap()
            .contains("held out")
    );
}

#[test]
fn many_channels_fit_into_a_small_page() {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz96 --set n=64 --steps 2000 --standardize --out l.npy";
    said(folder.path(), simulate, 0);
    let train =
        "train l.npy --dt 0.04 --out r --quiet --epochs 1 --window 20 --latent 16 --hidden 64";
    said(folder.path(), train, 0);
    said(folder.path(), &format!("report r {QUICK}"), 0);
    let document = document(&folder.path().join("r/report.html"));
    assert_eq!(document["channels"].as_array().unwrap().len(), 64);
    let projection = &document["signals"]["projection"];
    assert_eq!(projection["components"][2].as_array().unwrap().len(), 64);
    // 100,000 values: 1562 rows.
    assert_eq!(lengths(&document, "truth"), 1562 * 64);
}

#[test]
fn an_orbit_that_diverges_is_shown_as_far_as_it_goes() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 2.0, 1.0, &[]);
    let (_, told) = said(folder.path(), &format!("report m.safetensors {QUICK}"), 0);
    // z = 2^t − 1 is beyond a million at t = 20.
    assert!(told.contains("leaves all bounds in row 21"), "{told}");
    let document = document(&folder.path().join("report.html"));
    assert_eq!(document["signals"]["diverged_at"], 20);
    assert_eq!(lengths(&document, "generated"), 20);
    assert!(document["dynamics"]["lyapunov"].is_null());
}

/// A sine that is driven by its own cosine.
#[test]
fn a_driven_model_runs_by_its_data_and_lives_without() {
    let folder = TempDir::new().unwrap();
    let row = |t: i32| {
        format!(
            "{},{}\n",
            (0.1 * f64::from(t)).sin(),
            (0.1 * f64::from(t)).cos()
        )
    };
    let rows: String = (0..500).map(row).collect();
    fs::write(folder.path().join("d.csv"), format!("x,s\n{rows}")).unwrap();
    let train =
        "train d.csv --channels x --input s --out r --quiet --epochs 2 --window 20 --hidden 8";
    said(folder.path(), train, 0);
    said(folder.path(), &format!("report r {QUICK}"), 0);
    let driven = document(&folder.path().join("r/report.html"));
    assert!(notes(&driven).contains("1 external input held at zero"));
    // Nothing of an orbit that is driven is dropped.
    assert_eq!(
        (
            lengths(&driven, "generated"),
            &driven["signals"]["transient"]
        ),
        (500, &0.into())
    );
    fs::remove_file(folder.path().join("d.csv")).unwrap();
    said(folder.path(), &format!("report r {QUICK}"), 0);
    let alone = document(&folder.path().join("r/report.html"));
    assert!(
        notes(&alone).contains("there is no free orbit"),
        "{}",
        notes(&alone)
    );
    assert_eq!(lengths(&alone, "generated"), 0);
    assert!(alone["dynamics"]["why"].is_string() && alone["live"]["inputs"] == 1);
}

#[test]
fn names_are_text_whatever_they_are() {
    let folder = TempDir::new().unwrap();
    let nasty = r#"[{"name": "</script><script>alert(1)</script>", "unit": "<b>"}]"#;
    linear_model(folder.path(), 0.5, 1.0, &[("channels", nasty)]);
    said(folder.path(), &format!("report m.safetensors {QUICK}"), 0);
    let document = document(&folder.path().join("report.html"));
    let name = document["channels"][0]["name"].as_str().unwrap();
    assert_eq!(name, "</script><script>alert(1)</script>");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(!page.contains("<script>alert"));
}

#[test]
fn mistakes_are_told_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 0.5, 1.0, &[]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("two.csv"), "a,b\n1,2\n3,4\n").unwrap();
    for (arguments, what) in [
        ("report nothing", "no such run or model"),
        (
            "report empty",
            "hint: a run has a model once its training has ended",
        ),
        (
            "report m.safetensors --out empty",
            "hint: use `--out empty/report.html`",
        ),
        (
            "report m.safetensors --out m.safetensors",
            "hint: use `--out m.html`",
        ),
        (
            "report m.safetensors --out no/such/a.html",
            "no such folder",
        ),
        ("report m.safetensors --data gone.csv", "gone.csv"),
        (
            "report m.safetensors --data two.csv",
            "the model has 1 channel, the data have 2",
        ),
        ("report two.csv", "two.csv"),
    ] {
        let (out, told) = said(folder.path(), arguments, 2);
        assert!(out.is_empty() && told.contains(what), "{arguments}: {told}");
    }
}

/// The script reads a page, takes the model's part of its scripts, and prints the orbit from the stored start.
const DRIVER: &str = r#"
const page = require("fs").readFileSync(process.argv[2], "utf8");
const part = (opening) => page.split(opening)[1].split("</script>")[0];
const liveModelOf = new Function(part('data-part="model">') + "; return liveModelOf")();
const { live } = JSON.parse(part('id="document">'));
const model = liveModelOf(live);
const rows = [];
for (let z = model.infer(live.start), t = 0; t < 60; t += 1, z = model.step(z)) rows.push(model.observe(z));
console.log(JSON.stringify(rows));
"#;

fn has_node() -> bool {
    Command::new("node")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The orbit of the page's own script.
fn orbit_of_page(folder: &Path, page: &str) -> Vec<Vec<f64>> {
    fs::write(folder.join("driver.js"), DRIVER).unwrap();
    let mut node = Command::new("node");
    let output = node
        .current_dir(folder)
        .args(["driver.js", page])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_str(&text).unwrap()
}

/// The orbit of the program.
fn orbit_of_program(folder: &Path, model: &str) -> Vec<Vec<f64>> {
    let (out, _) = said(folder, &format!("generate {model} --steps 60"), 0);
    let row = |line: &str| {
        line.split(',')
            .skip(1)
            .map(|v| v.parse().unwrap())
            .collect()
    };
    out.lines().skip(1).map(row).collect()
}

/// Sums are taken in the same order and parameters are the same bits, so that orbits are equal. Only tanh, sines and cosines may
/// differ, by one ulp per step: a Lorenz system over 0.6 units of time, and a barely trained map stretches by less than 1.2 per step, 60 steps by less than 6e4, and
/// 6e4 · 2e-16 · 60 < 1e-9.
#[track_caller]
fn assert_same_orbit(folder: &Path, model: &str, page: &str) {
    let (ours, theirs) = (orbit_of_program(folder, model), orbit_of_page(folder, page));
    assert_eq!((ours.len(), theirs.len()), (60, 60));
    let tolerance = if ["tanh", "fourier"].iter().any(|name| model.contains(name)) {
        1e-9
    } else {
        0.0
    };
    for (t, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        for (a, b) in a.iter().zip(b) {
            let off = (a - b).abs();
            assert!(off <= tolerance, "{model}, row {t}: {a} {b}");
        }
    }
}

#[test]
fn the_page_computes_what_the_program_computes() {
    if !has_node() {
        println!("skipped: the live model beside the program: there is no `node`");
        return;
    }
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 400 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    let maps = [
        "plrnn",
        "mean-centred-plrnn",
        "dendritic-plrnn",
        "clipped-dendritic-plrnn",
        "shallow-plrnn",
        "clipped-shallow-plrnn",
        "tanh-shallow-plrnn",
    ];
    let observations = [
        "identity --latent 4",
        "linear",
        "linear-bias --standardize on",
    ];
    for (i, map) in maps.iter().enumerate() {
        let observation = observations[i % observations.len()];
        let train = format!(
            "train l.csv --out {map} --quiet --epochs 1 --batches-per-epoch 5 --window 20 --hidden 6 --model {map} --observation {observation}"
        );
        said(folder.path(), &train, 0);
        said(folder.path(), &format!("report {map} {QUICK}"), 0);
        assert_same_orbit(folder.path(), map, &format!("{map}/report.html"));
    }
}

/// A bias, a pseudo-inverse of more latent states than channels, and a scaling, with numbers that are not round.
#[test]
fn the_page_inverts_the_observation_and_the_scaling() {
    if !has_node() {
        println!("skipped: the live model beside the program: there is no `node`");
        return;
    }
    let folder = TempDir::new().unwrap();
    let metadata = [
        ("scaling", r#"{"mean": [10.1, -3.3], "sd": [2.7, 0.3]}"#),
        ("start", "[12.3, -3.1]"),
    ];
    let tensors: [Tensor<'_>; 7] = [
        ("A", &[3], &[0.3, 0.7, -0.9]),
        ("W1", &[3, 2], &[0.5, -0.2, 0.1, 0.9, -0.4, 0.3]),
        ("h1", &[3], &[0.1, -0.2, 0.05]),
        ("W2", &[2, 3], &[0.8, -1.1, 0.6, -0.3, 0.9, 0.2]),
        ("h2", &[2], &[0.4, -0.7]),
        ("B", &[2, 3], &[1.0, 0.2, -0.1, 0.3, 0.9, 0.5]),
        ("b", &[2], &[0.07, -0.11]),
    ];
    model_file(folder.path(), "clipped-shallow-plrnn", &metadata, &tensors);
    said(folder.path(), &format!("report m.safetensors {QUICK}"), 0);
    assert_same_orbit(folder.path(), "m.safetensors", "report.html");
}

#[test]
fn the_page_integrates_equations_as_the_program_does() {
    if !has_node() {
        println!("skipped: the live model beside the program: there is no `node`");
        return;
    }
    let folder = TempDir::new().unwrap();
    let simulate = |what: &str| said(folder.path(), &format!("simulate {what}"), 0);
    simulate("lorenz63 --steps 1500 --dt 0.01 --out l.csv");
    simulate("henon --steps 500 --out h.csv");
    for (name, data, flags) in [
        ("polynomial", "l.csv", "--standardize on --threshold 0"),
        (
            "fourier",
            "l.csv",
            "--library polynomial+fourier --threshold 0.01",
        ),
        ("map", "h.csv", "--dynamics map --standardize off"),
    ] {
        let train = format!("train {data} --model sindy {flags} --quiet --out {name}");
        said(folder.path(), &train, 0);
        said(folder.path(), &format!("report {name} {QUICK}"), 0);
        assert_same_orbit(folder.path(), name, &format!("{name}/report.html"));
    }
}
