//! Pages of `attractor report` in a real browser: pages on small runs (of one, two, three and 64 channels, a collapsed one, a diverged one, an interrupted one, and
//! one of every kind of method) and on a model without data are written and given to `tests/browser/report.py`, which opens them in a headless
//! Chromium; `tests/browser/watch.py` opens the page of `attractor watch` over the same runs while another one is trained.
//!
//! Where Chromium or its driver is missing, Debian's are installed if we may; else the step is skipped with a line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::command::{cargo, exit_code, quietly, root, succeeds, target};
use crate::debian::BROWSER;
use crate::tally::Tally;

/// The pages: what is simulated, then how it is fitted.
const PAGES: [(&str, &str, &str); 16] = [
    (
        "three",
        "lorenz63 --steps 6000",
        "--epochs 10 --hidden 30 --lr 2e-3",
    ),
    (
        "one",
        "lorenz63 --steps 1500",
        "--channels x --latent 3 --observation identity --epochs 2 --hidden 20",
    ),
    (
        "two",
        "lorenz63 --steps 1500",
        "--channels x,y --latent 3 --epochs 2 --hidden 20",
    ),
    (
        "many",
        "lorenz96 --set n=64 --steps 1000",
        "--latent 16 --hidden 64 --epochs 1 --window 30",
    ),
    (
        "collapsed",
        SHORT,
        "--preset bare --epochs 1 --batches-per-epoch 1 --hidden 5",
    ),
    (
        DIVERGED,
        SHORT,
        "--preset bare --model plrnn --alpha 0 --lr 1 --window 300 --epochs 20",
    ),
    ("reservoir", SHORT, "--model reservoir --hidden 21"),
    ("nvar", SHORT, "--model nvar"),
    ("linear", SHORT, "--model linear"),
    ("persistence", SHORT, "--model persistence"),
    ("sindy", SHORT, "--model sindy"),
    (
        "lstm",
        SHORT,
        "--model lstm --epochs 1 --batches-per-epoch 2 --propagation 100",
    ),
    ("lem", SHORT, "--model lem --epochs 1 --batches-per-epoch 2"),
    (
        "neural-ode",
        SHORT,
        "--model neural-ode --epochs 1 --batches-per-epoch 2",
    ),
    (
        "ode-rnn",
        SHORT,
        "--model ode-rnn --epochs 1 --batches-per-epoch 2",
    ),
    (
        "latent-ode",
        SHORT,
        "--model latent-ode --epochs 1 --batches-per-epoch 2",
    ),
];

/// The page on a training that diverges.
const DIVERGED: &str = "diverged";

/// Data of pages on which it matters little what the model has learned.
const SHORT: &str = "lorenz63 --steps 800";

/// Until a training must have a checkpoint.
const PATIENCE: Duration = Duration::from_secs(60);

/// `cargo xtask browser`.
pub(crate) fn run(_: &[String]) -> ExitCode {
    let mut tally = Tally::default();
    if succeeds(&mut cargo(["build", "-p", "attractor-cli"])) {
        check(&mut tally, install());
    } else {
        tally.check("browser (the command is not built)", false);
    }
    println!("{}", tally.summary());
    exit_code(tally.all_passed())
}

/// Writes the pages with the built command and opens them, counting each check.
pub(crate) fn check(tally: &mut Tally, installed: Result<(), String>) {
    if let Err(reason) = installed {
        return tally.skip(format!("pages of reports in a browser: {reason}"));
    }
    match write_pages(&target().join("browser")) {
        Ok(pages) => {
            tally.check("browser", open(&pages));
            tally.check("watch in a browser", watch(&target().join("browser")));
        }
        Err(told) => {
            println!("{told}");
            tally.check("browser", false);
        }
    }
}

/// Installs what is missing, if that is possible.
pub(crate) fn install() -> Result<(), String> {
    BROWSER.install()
}

/// Writes the pages into an empty folder.
fn write_pages(folder: &Path) -> Result<Vec<PathBuf>, String> {
    // There may be nothing to remove.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let attractor = |words: &str| {
        let mut command = Command::new(target().join("debug/attractor"));
        command.current_dir(folder).args(words.split_whitespace());
        command.env("ATTRACTOR_CACHE", folder.join("cache"));
        quietly(&mut command).map_err(|told| format!("attractor {words}: {told}"))
    };
    let report = |name: &str| {
        attractor(&format!(
            "report {name} --out {name}.html --seconds 0.5 --cycles 1"
        ))?;
        Ok(folder.join(format!("{name}.html")))
    };
    let page = |(name, system, settings): (&str, &str, &str)| {
        attractor(&format!("simulate {system} --standardize --out {name}.csv"))?;
        let trained = attractor(&format!("train {name}.csv --out {name} --quiet {settings}"));
        // A training that diverges ends with an exit code of its own.
        if name != DIVERGED {
            trained?;
        } else if trained.is_ok() {
            return Err(format!("the training `{name}` has not diverged"));
        }
        report(name)
    };
    let mut pages = PAGES
        .into_iter()
        .map(page)
        .collect::<Result<Vec<_>, String>>()?;
    interrupt(folder)?;
    pages.push(report("interrupted")?);
    let bare = |name| folder.join("bare").with_extension(name);
    fs::copy(folder.join("three/model.safetensors"), bare("safetensors"))
        .map_err(|e| e.to_string())?;
    attractor("report bare.safetensors --out bare.html --seconds 0.5 --cycles 1")?;
    pages.push(bare("html"));
    Ok(pages)
}

/// Ends a training once it has a checkpoint; its run keeps what that has.
fn interrupt(folder: &Path) -> Result<(), String> {
    let words = "train three.csv --out interrupted --quiet --epochs 100000 --hidden 20 --checkpoint-every 1";
    let mut command = Command::new(target().join("debug/attractor"));
    command.current_dir(folder).args(words.split_whitespace());
    let mut training = command.spawn().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let checkpoint = folder.join("interrupted/checkpoint.safetensors");
    while !checkpoint.exists() && begun.elapsed() < PATIENCE {
        sleep(Duration::from_millis(50));
    }
    let ended = training.kill().and_then(|()| training.wait());
    ended.map_err(|error| error.to_string())?;
    if checkpoint.exists() {
        return Ok(());
    }
    Err("a training has no checkpoint after a minute".to_string())
}

fn open(pages: &[PathBuf]) -> bool {
    let mut script = Command::new("python3");
    script.arg(root().join("tests/browser/report.py"));
    succeeds(script.args(pages))
}

/// Opens the page over the runs of the folder while another one is trained there.
fn watch(folder: &Path) -> bool {
    let mut script = Command::new("python3");
    script.arg(root().join("tests/browser/watch.py"));
    script.arg(target().join("debug/attractor"));
    succeeds(script.arg(folder).arg(folder.join("three.csv")))
}
