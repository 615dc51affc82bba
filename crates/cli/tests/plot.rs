//! `attractor plot`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use common::{document, said};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a recording `l.csv`, and a run `r` that was trained on it for some seconds.
static TRAINED: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    said(
        at,
        "simulate lorenz63 --steps 3000 --standardize --out l.csv",
        0,
    );
    let train = "train l.csv --out r --epochs 20 --batches-per-epoch 20 --hidden 30 --window 50 --alpha 0.15 --quiet";
    said(at, train, 0);
    folder
});

fn trained() -> &'static Path {
    TRAINED.path()
}

/// The columns of a CSV table by name.
fn columns(path: &Path) -> Vec<(String, Vec<f64>)> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names = lines.next().unwrap().split(',').map(String::from);
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|v| v.parse().unwrap()).collect())
        .collect();
    names
        .enumerate()
        .map(|(i, name)| (name, rows.iter().map(|row| row[i]).collect()))
        .collect()
}

/// Draws a figure of the trained run into a folder of its own, as SVG; what it says, and where it is.
fn drawn(kind: &str, flags: &str) -> (Value, TempDir) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("f.svg");
    let found = document(
        trained(),
        &format!("plot {kind} r --out {} {flags}", out.display()),
        0,
    );
    assert_eq!(found["figure"], kind);
    assert_well_formed(&fs::read_to_string(out).unwrap());
    (found, folder)
}

/// Every element is closed in its turn, and no number is missing.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag is closed");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        match tag {
            tag if tag.starts_with('?') || tag.ends_with('/') => {}
            tag if tag.starts_with('/') => assert_eq!(open.pop(), Some(name)),
            _ => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(
        !svg.contains("NaN") && !svg.contains("inf"),
        "a number is missing"
    );
}

#[test]
fn kinds_are_listed_with_a_sentence() {
    let folder = TempDir::new().unwrap();
    let (plain, _) = said(folder.path(), "plot", 0);
    assert_eq!(plain.lines().count(), 16);
    assert!(plain.contains("heat-map") && plain.contains("Figs. S5, S6, S11"));
    let (listed, _) = said(folder.path(), "list figures", 0);
    assert_eq!(listed, format!("figures\n{plain}"));
    let all = document(folder.path(), "list figures", 0);
    assert_eq!(
        (all.as_array().unwrap().len(), &all[0]["name"]),
        (16, &"jacobian-norms".into())
    );
}

#[test]
fn every_kind_of_run_is_drawn_with_its_numbers() {
    for kind in [
        "reconstruction",
        "heat-map",
        "forecast",
        "short-term",
        "n-step",
    ] {
        let (found, folder) = drawn(kind, "--steps 150");
        let files = found["files"].as_array().unwrap();
        assert!(files.len() >= 2, "{kind}: {files:?}");
        for table in &files[1..] {
            let columns = columns(Path::new(table.as_str().unwrap()));
            assert_eq!(
                (columns[0].0.as_str(), columns[0].1.len()),
                ("time", 150),
                "{kind}"
            );
        }
        assert!(folder.path().join("f.svg").exists());
    }
}

#[test]
fn tables_hold_what_was_read_and_what_the_model_makes_of_it() {
    let (_, folder) = drawn("reconstruction", "--steps 100 --data l.csv");
    let found = columns(&folder.path().join("f.csv"));
    let truth = columns(&trained().join("l.csv"));
    let first = |name: &str, all: &[(String, Vec<f64>)]| {
        all.iter().find(|(n, _)| n == name).unwrap().1[..100].to_vec()
    };
    // The run standardises: there and back costs a rounding or two of numbers of size 1.
    let pairs = first("truth x", &found).into_iter().zip(first("x", &truth));
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-14));
    let (generated, _) = said(trained(), "generate r --steps 100 --data l.csv", 0);
    let at = folder.path().join("g.csv");
    fs::write(&at, generated).unwrap();
    let pairs = first("r z", &found)
        .into_iter()
        .zip(first("z", &columns(&at)));
    assert!(
        pairs
            .into_iter()
            .all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a.abs()))
    );
}

#[test]
fn an_orbit_from_a_file_is_drawn_as_that_of_its_run() {
    let (at, folder) = (trained(), TempDir::new().unwrap());
    let orbit = folder.path().join("o.csv");
    let orbit = orbit.display();
    said(
        at,
        &format!("generate r --steps 100 --data l.csv --out {orbit}"),
        0,
    );
    let plot = |kind: &str, subject: &str, name: &str| {
        let out = folder.path().join(name);
        let flags = "--data l.csv --steps 100 --labels m";
        said(
            at,
            &format!("plot {kind} {subject} {flags} --out {}.svg", out.display()),
            0,
        );
        assert_well_formed(&fs::read_to_string(out.with_extension("svg")).unwrap());
        out.with_extension("csv")
    };
    let of_run = columns(&plot("reconstruction", "r", "run"));
    let of_file = columns(&plot("reconstruction", &orbit.to_string(), "file"));
    for ((name, run), (same, file)) in of_run.iter().zip(&of_file) {
        assert_eq!(name, same);
        // The truth of a run has been standardised and back: a rounding or two of numbers of size 1.
        let pairs = run.iter().zip(file);
        assert!(
            pairs
                .into_iter()
                .all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a.abs())),
            "{name}"
        );
    }
    for kind in ["heat-map", "forecast", "short-term", "n-step", "spectrum"] {
        plot(kind, &orbit.to_string(), kind);
    }
    let refused = |flags: &str| {
        let out = folder.path().join("refused.svg");
        let plot = format!("plot heat-map {orbit} {flags} --out {}", out.display());
        said(at, &plot, 2).1
    };
    assert!(refused("").contains("no data to draw this orbit beside"));
    assert!(refused("--data l.csv --steps 101").contains("101 rows are drawn, the orbit has 100"));
    let one = refused("--data l.csv --channels x --steps 9");
    assert!(
        one.contains("the data have 1 channel, the orbit has 3"),
        "{one}"
    );
}

#[test]
fn a_horizon_is_where_the_relative_error_passes_its_threshold() {
    let (found, folder) = drawn("forecast", "--steps 1000");
    let table = columns(&folder.path().join("f.csv"));
    let errors = &table.iter().find(|(name, _)| name == "r error").unwrap().1;
    let horizon = found["numbers"]["r: horizon"].as_f64().unwrap();
    let row = table[0].1.iter().position(|time| *time == horizon).unwrap();
    assert!(errors[row] > 0.3 && errors[..row].iter().all(|e| *e <= 0.3));
    // A second of training does not follow chaos for a thousand rows, but it does for some.
    assert!(row > 0);
}

#[test]
fn predictions_begin_as_late_as_they_look_ahead() {
    let (_, folder) = drawn("n-step", "--ahead 7 --steps 60 --show z");
    let table = columns(&folder.path().join("f.csv"));
    let (name, predicted) = &table[2];
    assert_eq!((name.as_str(), table[1].0.as_str()), ("r z", "truth z"));
    assert!(
        predicted[..7].iter().all(|v| v.is_nan()) && predicted[7..].iter().all(|v| v.is_finite())
    );
}

#[test]
fn gradients_under_forcing_behave_as_in_the_paper() {
    let (norms, _folder) = drawn("jacobian-norms", "");
    let slope = |alpha: &str| {
        norms["numbers"][format!("r: slope at alpha {alpha}")]
            .as_f64()
            .unwrap()
    };
    // Forcing with α multiplies every Jacobian by 1 − α, which outweighs what it does to the orbit.
    assert!(
        slope("0") > slope("0.1") && slope("0.1") > slope("0.3") && slope("0.3") > slope("0.5")
    );
    assert!(slope("0.5") < 0.5f64.ln() + 0.3, "{}", slope("0.5"));

    let (estimates, folder) = drawn("alpha-estimates", "");
    let numbers = &estimates["numbers"];
    // ‖exp mean log J‖ is never above the bound of the parameters, and the maximum over a sequence never below its mean.
    assert!(
        numbers["r: median batch-maximum"].as_f64()
            >= numbers["r: median arithmetic-mean"].as_f64()
    );
    assert!(numbers["r: parameter bound"].as_f64() >= numbers["r: median batch-maximum"].as_f64());
    let counts = columns(&folder.path().join("f-r.csv"));
    assert!(
        counts[2..]
            .iter()
            .all(|(_, shares)| (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9)
    );
}

#[test]
fn most_jacobians_nearly_commute() {
    let (found, folder) = drawn("commutators", "");
    let mass = found["numbers"]["r: mass below 0.05"].as_f64().unwrap();
    let table = columns(&folder.path().join("f.csv"));
    let below: f64 = table[2].1[..5].iter().sum();
    assert!((mass - below).abs() < 1e-12);
    // Hess et al. 2023, Fig. S1: most of the mass.
    assert!(mass > 0.5, "{mass}");
}

#[test]
fn forcing_smooths_the_loss() {
    let (found, _folder) = drawn("loss-landscape", "");
    let variation = |alpha: &str| {
        let name = format!("r: total variation at alpha {alpha}");
        found["numbers"][name].as_f64().unwrap()
    };
    assert!(variation("0") > variation("0.15") && variation("0.15") > variation("0.5"));
}

#[test]
fn a_line_search_is_drawn_from_its_folder() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("s")).unwrap();
    let header = "forcing,alpha,runs,d_stsp,d_stsp_mad,d_stsp_missing,d_h,d_h_mad,d_h_missing,pe,pe_mad,pe_missing";
    let line = |i: u32| {
        let alpha = f64::from(i) / 20.0;
        let (d, h) = (0.3 + (alpha - 0.15).powi(2), 0.1 + (alpha - 0.2).powi(2));
        format!("gtf,{alpha},5,{d},0.05,0,{h},0.01,0,1,0,0")
    };
    let lines: Vec<String> = (0..=20).map(line).collect();
    let text = format!(
        "{header}\n{}\nagtf,0.22,5,0.35,0.02,0,0.12,0.01,0,1,0,0\n",
        lines.join("\n")
    );
    fs::write(at.join("s/curve.csv"), text).unwrap();
    let found = document(at, "plot line-search s --out f.svg", 0);
    assert_eq!(found["numbers"]["s: alpha of least d_stsp"], 0.15);
    assert_eq!(found["numbers"]["s: alpha of least d_h"], 0.2);
    assert_eq!(columns(&at.join("f.csv"))[2].1.len(), 22);
    let (_, stderr) = said(at, "plot line-search . --out g.svg", 2);
    assert!(stderr.contains("no curve.csv") && stderr.contains("hint: `attractor line-search"));
}

#[test]
fn the_exponent_of_a_recording_is_drawn() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("f.svg");
    let flags = format!(
        "plot lyapunov-fit l.csv --channels x --dims 3:5 --out {}",
        out.display()
    );
    let found = document(trained(), &flags, 0);
    let plain = document(trained(), "lyapunov l.csv --channels x --dims 3:5", 0);
    assert_eq!(
        found["numbers"]["l.csv: exponent"],
        plain["exponent"]["per_time"]
    );
    let table = columns(&folder.path().join("f.csv"));
    assert_eq!(table.len(), 7);
    assert_eq!(
        plain["curves"][0]["values"][3].as_f64(),
        Some(table[1].1[3])
    );
}

#[test]
fn figures_have_the_size_that_was_asked_for_in_every_format() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    for name in ["f.svg", "f.png", "f.pdf"] {
        said(at, &format!("plot gtf-scheme --width 127 --out {name}"), 0);
    }
    let svg = fs::read_to_string(at.join("f.svg")).unwrap();
    assert_well_formed(&svg);
    assert!(svg.contains("width=\"127mm\"") && svg.contains("viewBox=\"0 0 360 "));
    let png = fs::read(at.join("f.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    // 127 mm are 5 inches of 300 dots.
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1500);
    let pdf = fs::read(at.join("f.pdf")).unwrap();
    assert!(
        pdf.starts_with(b"%PDF-") && String::from_utf8_lossy(&pdf).contains("/MediaBox [0 0 360 ")
    );
}

#[test]
fn flags_of_other_kinds_are_told() {
    let folder = TempDir::new().unwrap();
    let plot = "plot gtf-scheme --z-score --ahead 3 --fit 1:2 --show x --steps 9 --out f.svg";
    let (_, notes) = said(folder.path(), plot, 0);
    for flag in ["--z-score", "--ahead", "--fit", "--show", "--steps"] {
        let note = format!("note: {flag} has no effect on gtf-scheme\n");
        assert!(notes.contains(&note), "{notes}");
    }
    assert!(!notes.contains("--dims"), "{notes}");
}

#[test]
fn a_run_that_diverges_is_drawn_as_far_as_it_goes() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    common::linear_model(at, 1e30, 0.0, &[]);
    let rows: String = (0..40)
        .map(|i| format!("{}\n", f64::from(i).sin() + 2.0))
        .collect();
    fs::write(at.join("d.csv"), format!("x1\n{rows}")).unwrap();
    let (_, stderr) = said(
        at,
        "plot forecast m.safetensors --data d.csv --steps 40 --out f.svg",
        0,
    );
    assert!(
        stderr.contains("note: the orbit of m.safetensors diverges"),
        "{stderr}"
    );
    assert_well_formed(&fs::read_to_string(at.join("f.svg")).unwrap());
    let table = columns(&at.join("f.csv"));
    assert!(table[2].1[0].is_finite() && table[2].1[39].is_nan());
}

#[test]
fn mistakes_are_told_and_nothing_is_written() {
    let at = trained();
    let wrong = |arguments: &str, message: &str, hint: &str| {
        let out = TempDir::new().unwrap();
        let path = out.path().join("f");
        let (_, stderr) = said(
            at,
            &arguments.replace("OUT", &path.display().to_string()),
            2,
        );
        assert!(
            stderr.contains(message) && stderr.contains(hint),
            "{arguments}: {stderr}"
        );
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "{arguments}");
    };
    wrong(
        "plot heatmap r --out OUT.svg",
        "no figure is named `heatmap`",
        "did you mean `heat-map`?",
    );
    wrong(
        "plot heat-map r --out OUT.gif",
        "figures are written as .svg, .png or .pdf",
        "hint: name the file",
    );
    wrong(
        "plot heat-map --out OUT.svg",
        "`heat-map` needs a RUN",
        "hint: as in `attractor plot heat-map RUN",
    );
    wrong(
        "plot heat-map nowhere --out OUT.svg",
        "no such run or model: nowhere",
        "",
    );
    wrong(
        "plot n-step r --show w --out OUT.svg",
        "no channel is named `w`: there are x, y, z",
        "hint: `--show`",
    );
    wrong(
        "plot forecast r --steps 4000 --out OUT.svg",
        "4000 rows without a gap",
        "there are 3000 rows",
    );
    wrong(
        "plot forecast r --width 5 --out OUT.svg",
        "expected a number from 60 to 1000",
        "",
    );
    wrong("plot heat-map r", "--out <FILE>", "");
    wrong(
        "plot line-search r --out OUT.svg",
        "no curve.csv of a line search in this folder: r",
        "",
    );
}

#[test]
fn data_of_another_shape_and_data_that_are_gone_are_refused() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    common::linear_model(at, 0.5, 0.1, &[]);
    fs::write(at.join("two.csv"), "a,b\n1,2\n2,1\n3,4\n").unwrap();
    let (_, stderr) = said(
        at,
        "plot heat-map m.safetensors --data two.csv --out f.svg",
        2,
    );
    assert!(
        stderr.contains("the model has 1 channel, the data have 2"),
        "{stderr}"
    );
    let (_, stderr) = said(at, "plot heat-map m.safetensors --out f.svg", 2);
    assert!(
        stderr.contains("no data for this run")
            && stderr.contains("hint: give data with `--data FILE`")
    );
    assert!(!at.join("f.svg").exists());
}

#[test]
fn a_table_is_not_written_over_the_data() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    common::linear_model(at, 0.5, 0.1, &[]);
    let data = "x1\n1\n2\n3\n4\n";
    fs::write(at.join("d.csv"), data).unwrap();
    let (_, stderr) = said(
        at,
        "plot forecast m.safetensors --data d.csv --out d.svg",
        2,
    );
    assert!(
        stderr.contains("the file to write is the one to read"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(at.join("d.csv")).unwrap(), data);
    assert!(!at.join("d.svg").exists());
}

#[test]
fn a_table_is_not_written_over_what_a_run_was_trained_on() {
    let at = trained();
    let before = fs::read(at.join("l.csv")).unwrap();
    let (_, stderr) = said(at, "plot forecast r --steps 50 --out l.svg", 2);
    assert!(
        stderr.contains("the file to write is the one to read: l.csv"),
        "{stderr}"
    );
    assert_eq!(fs::read(at.join("l.csv")).unwrap(), before);
    assert!(!at.join("l.svg").exists());
}

#[test]
fn a_table_replaces_only_that_of_a_figure() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    common::linear_model(at, 0.5, 0.1, &[]);
    fs::write(at.join("d.csv"), "x1\n1\n2\n3\n4\n").unwrap();
    fs::write(at.join("f.csv"), "mine\n").unwrap();
    let plot = "plot forecast m.safetensors --data d.csv --steps 4";
    let (_, stderr) = said(at, &format!("{plot} --out f.svg"), 2);
    assert_eq!(
        stderr,
        "error: the numbers of the figure would replace a file that is not known to be theirs: f.csv\n\
         hint: name another figure with `--out`, or move the file away\n"
    );
    assert_eq!(fs::read_to_string(at.join("f.csv")).unwrap(), "mine\n");
    assert!(!at.join("f.svg").exists());
    // Drawn again, in the same format and in another.
    for name in ["g.svg", "g.svg", "g.png"] {
        said(at, &format!("{plot} --out {name}"), 0);
    }
}
