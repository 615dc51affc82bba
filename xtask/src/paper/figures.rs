//! The figures of the paper, each by one call of `attractor plot` on the best run of every row that it shows: that with the lowest D_stsp, in the
//! paper's form where there is one. A row without runs is left out of its figure.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Value as Setting;

use super::studies::Study;
use super::{Request, skipped};
use crate::command::succeeds;

/// A figure.
struct Figure {
    /// Its number in the paper, with the data where there are several.
    name: &'static str,
    /// The kind of `attractor plot`.
    kind: &'static str,
    /// Rows of the paper whose best runs it shows.
    rows: &'static [&'static str],
    /// The true data beside them.
    truth: Option<&'static str>,
    flags: &'static [&'static str],
}

const L63: &str = "shPLRNN + GTF / Lorenz-63";
const L96: &str = "shPLRNN + GTF / Lorenz-96";
const L63_TEST: &str = "lorenz63_test.npy";
const L96_TEST: &str = "lorenz96_test.npy";
const MULTISCALE_TEST: &str = "lorenz96_multiscale_test.npy";
const ECG_TEST: &str = "ECG_pecuzal_5d_test.npy";
const EEG_TEST: &str = "EEG_train.npy";

const ECG: &[&str] = &[
    "shPLRNN + GTF / ECG",
    "shPLRNN + aGTF / ECG",
    "shPLRNN + STF / ECG",
    "dendPLRNN + id-TF / ECG",
    "RC / ECG",
    "LSTM-TBPTT / ECG",
    "N-ODE / ECG",
    "LEM / ECG",
];
const EEG: &[&str] = &[
    "shPLRNN + GTF / EEG",
    "shPLRNN + aGTF / EEG",
    "shPLRNN + STF / EEG",
    "dendPLRNN + id-TF / EEG",
    "RC / EEG",
    "LSTM-TBPTT / EEG",
    "N-ODE / EEG",
    "LEM / EEG",
];
const MULTISCALE: &[&str] = &[
    "shPLRNN + GTF / multiscale Lorenz-96",
    "dendPLRNN + id-TF / multiscale Lorenz-96",
    "N-ODE / multiscale Lorenz-96",
];

const fn figure(
    name: &'static str,
    kind: &'static str,
    rows: &'static [&'static str],
    truth: &'static str,
    flags: &'static [&'static str],
) -> Figure {
    Figure {
        name,
        kind,
        rows,
        truth: if truth.is_empty() { None } else { Some(truth) },
        flags,
    }
}

/// All that are drawn from runs; S3 is drawn from line searches, S9 from data.
static FIGURES: [Figure; 16] = [
    figure("1", "jacobian-norms", &[L63], "", &[]),
    figure("2", "gtf-scheme", &[], "", &[]),
    figure(
        "3",
        "reconstruction",
        EEG,
        EEG_TEST,
        &["--show", "1", "--steps", "800"],
    ),
    figure("S1-lorenz63", "commutators", &[L63], "", &[]),
    figure("S1-ecg", "commutators", &["shPLRNN + GTF / ECG"], "", &[]),
    figure("S1-eeg", "commutators", &["shPLRNN + GTF / EEG"], "", &[]),
    figure("S2-lorenz63", "alpha-estimates", &[L63], "", &[]),
    figure(
        "S2-ecg",
        "alpha-estimates",
        &["shPLRNN + GTF / ECG"],
        "",
        &[],
    ),
    figure("S4", "reconstruction", &[L63], L63_TEST, &[]),
    figure("S5", "heat-map", &[L96], L96_TEST, &[]),
    figure(
        "S6",
        "heat-map",
        MULTISCALE,
        MULTISCALE_TEST,
        &["--steps", "4000"],
    ),
    figure(
        "S7",
        "forecast",
        MULTISCALE,
        MULTISCALE_TEST,
        &["--show", "1", "--steps", "1000"],
    ),
    figure(
        "S8",
        "short-term",
        MULTISCALE,
        MULTISCALE_TEST,
        &["--steps", "1000"],
    ),
    figure("S10", "loss-landscape", &[L63], "", &[]),
    figure("S11", "heat-map", EEG, EEG_TEST, &["--z-score"]),
    figure("S12", "reconstruction", ECG, ECG_TEST, &["--show", "1"]),
];

/// Fig. S13, whose forecasts are wider than one column.
static FORECASTS: Figure = figure(
    "S13",
    "n-step",
    EEG,
    EEG_TEST,
    &["--show", "1", "--ahead", "5"],
);

/// Studies whose entry `gtf` is searched for the strength of forcing, as in Fig. S3.
const SEARCHED: [&str; 4] = ["lorenz63", "lorenz96", "ecg", "eeg"];

/// Draws all figures; says of each whether it is there.
pub(super) fn draw(request: &Request, studies: &[Study]) -> Vec<bool> {
    let folder = request.out.join("figures");
    if let Err(error) = fs::create_dir_all(&folder) {
        return vec![skipped("figures", &error.to_string())];
    }
    let runs = studies
        .iter()
        .flat_map(|study| best(&request.folder(&study.name)));
    let runs: Vec<Run> = runs.collect();
    let drawn = FIGURES.iter().chain([&FORECASTS]);
    let mut drawn: Vec<bool> = drawn.map(|figure| figure.draw(request, &runs)).collect();
    drawn.push(exponent(request));
    let searched = studies
        .iter()
        .filter(|study| SEARCHED.contains(&study.name.as_str()));
    drawn.extend(searched.map(|study| search(request, study)));
    drawn
}

/// A run with what it is compared by.
struct Run {
    row: String,
    folder: PathBuf,
    d_stsp: f64,
}

/// All runs under a folder that name a row of the paper and have a model.
fn best(folder: &Path) -> Vec<Run> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    let inside = folders.flat_map(|path| best(&path));
    Run::read(folder).into_iter().chain(inside).collect()
}

impl Run {
    fn read(folder: &Path) -> Option<Run> {
        let text = fs::read(folder.join("scores.json")).ok()?;
        let scores: Value = serde_json::from_slice(&text).ok()?;
        let evaluation = &scores["evaluation"];
        let of = |id: &str| evaluation[id]["value"].as_f64();
        Some(Run {
            row: scores["paper"].as_str()?.to_string(),
            d_stsp: of("d_stsp_paper").or_else(|| of("d_stsp"))?,
            folder: folder.to_path_buf(),
        })
    }
}

impl Figure {
    fn draw(&self, request: &Request, runs: &[Run]) -> bool {
        let shown = self.rows.iter().filter_map(|row| {
            let of_row = runs.iter().filter(|run| run.row == *row);
            of_row.min_by(|a, b| a.d_stsp.total_cmp(&b.d_stsp))
        });
        let shown: Vec<&Run> = shown.collect();
        if shown.is_empty() && !self.rows.is_empty() {
            return skipped(self.name, "none of its rows has a run yet");
        }
        let mut plot = request.attractor(["plot", self.kind]);
        plot.args(shown.iter().map(|run| &run.folder))
            .args(self.flags);
        if let Some(file) = self.truth {
            let Some(path) = request.found(file) else {
                return skipped(self.name, &format!("{file} is not there"));
            };
            plot.arg("--data").arg(path);
            let names = shown
                .iter()
                .map(|run| run.row.split(" / ").next().unwrap_or_default());
            plot.arg("--labels")
                .arg(names.collect::<Vec<_>>().join(","));
        }
        succeeds(plot.arg("--out").arg(path_of(request, self.name)))
    }
}

fn path_of(request: &Request, name: &str) -> PathBuf {
    request.out.join("figures").join(format!("{name}.svg"))
}

/// Fig. S9: how neighbours in the first coordinate of the electrocardiogram part.
fn exponent(request: &Request) -> bool {
    let Some(file) = request.found(ECG_TEST) else {
        return skipped("S9", &format!("{ECG_TEST} is not there"));
    };
    let one = request.simulated().join("ECG_channel_1.npy");
    let mut convert = request.attractor([
        "convert",
        "--channels",
        "1",
        "--dt",
        "0.0014285714285714286",
    ]);
    convert.arg(file).arg(&one);
    let mut plot = request.attractor(["plot", "lyapunov-fit", "--delay", "59"]);
    plot.arg(&one).arg("--out").arg(path_of(request, "S9"));
    (one.exists() || succeeds(&mut convert)) && succeeds(&mut plot)
}

/// Fig. S3, one panel: the line search with the settings of an entry `gtf`, then its figure.
fn search(request: &Request, study: &Study) -> bool {
    let name = format!("S3-{}", study.name);
    let found = |which: &str| study.data(which).and_then(|file| request.found(file));
    let (Some(train), Some(test)) = (found("train"), found("test").or_else(|| found("train")))
    else {
        return skipped(&name, "its data are not there");
    };
    let folder = request.folder(&format!("line-search-{}", study.name));
    let (step, seeds) = if request.quick {
        ("0.25", "1")
    } else {
        ("0.05", "5")
    };
    let words = ["line-search", "--step", step, "--seeds", seeds, "--workers"];
    let mut search = request.attractor(words);
    search
        .arg(&request.workers)
        .arg(train)
        .arg("--test")
        .arg(test);
    for (setting, value) in settings(study, request.quick) {
        search.arg("--set").arg(format!("{setting}={value}"));
    }
    let mut plot = request.attractor(["plot", "line-search"]);
    plot.arg(&folder).arg("--out").arg(path_of(request, &name));
    succeeds(search.arg("--out").arg(&folder)) && succeeds(&mut plot)
}

/// The settings of the entry `gtf`, without what a line search sets itself and without a choice of parameters.
fn settings(study: &Study, quick: bool) -> Vec<(String, String)> {
    let entry = study
        .entries()
        .find(|entry| entry["name"].as_str() == Some("gtf"));
    let all = study.table.get("settings").and_then(Setting::as_table);
    let all = all.into_iter().chain(entry).flatten();
    let aside = ["name", "paper", "forcing", "alpha"];
    let own = all.filter(|(name, _)| !aside.contains(&name.as_str()) && !name.starts_with("best-"));
    own.map(|(name, value)| {
        let text = match value {
            Setting::String(text) => text.clone(),
            Setting::Integer(epochs) if quick && name == "epochs" => (epochs / 10).to_string(),
            other => other.to_string(),
        };
        (name.clone(), text)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::studies::of_the_paper;
    use super::*;

    #[test]
    fn rows_that_studies_name_have_their_place_in_figures() {
        let studies = of_the_paper().unwrap();
        let named: Vec<&str> = studies
            .iter()
            .flat_map(Study::entries)
            .filter_map(|entry| entry.get("paper")?.as_str())
            .collect();
        for figure in &FIGURES {
            let is_named = |row: &&str| named.contains(row);
            assert!(
                figure.rows.is_empty() || figure.rows.iter().any(is_named),
                "{}",
                figure.name
            );
        }
    }

    #[test]
    fn a_line_search_has_the_settings_of_gtf() {
        let studies = of_the_paper().unwrap();
        let ecg = studies.iter().find(|study| study.name == "ecg").unwrap();
        let settings = settings(ecg, true);
        let of = |name: &str| {
            let found = settings.iter().find(|(known, _)| known == name);
            found.map(|(_, text)| text.as_str())
        };
        assert_eq!(of("latent"), Some("5"));
        assert_eq!(of("epochs"), Some("500"));
        assert_eq!(of("standardize"), Some("off"));
        assert_eq!((of("alpha"), of("best-by")), (None, None));
    }
}
