//! A method of a program's own, in one file: it goes through every verb without another line elsewhere.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::path::Path;

use attractor::dynamics::{Dynamics, Memory, Named, Sizes, Stretch};
use attractor::linalg::{multiply, pseudo_inverse};
use attractor::method::{self, Fitting, LoadError, Method, Solved, Tensors, axes};
use attractor::progress::Follow;
use attractor::settings::Setting;
use tempfile::TempDir;

// ---- the method ----

/// x_t = A (x_{t−p}, …, x_{t−1}), by least squares: an autoregression of order p. Its state is the last p rows.
static AUTOREGRESSION: Method = Method::solved(
    "autoregression",
    "linear autoregression by least squares",
    &[Setting::integer("order", "2", (1, 100), "Rows p")],
    solve,
    load,
);

#[derive(Debug)]
struct Autoregression {
    channels: usize,
    order: usize,
    /// A, N × pN.
    a: Vec<f64>,
}

fn solve(_: &'static Method, fitting: Fitting<'_>, _: &mut dyn Follow) -> Solved {
    let (channels, order) = (fitting.data.dim_obs(), fitting.settings.integer("order"));
    let (n, m) = (channels, channels * order);
    let (mut gram, mut cross, mut a) = (vec![0.0; m * m], vec![0.0; n * m], vec![0.0; n * m]);
    for (trajectory, rows) in fitting.data.whole_stretches() {
        let x = &fitting.data.trajectories()[trajectory].x[rows.start * n..rows.end * n];
        for (past, row) in x.windows(m).step_by(n).zip(x[m..].chunks_exact(n)) {
            (0..m * m).for_each(|e| gram[e] += past[e / m] * past[e % m]);
            (0..n * m).for_each(|e| cross[e] += row[e / m] * past[e % m]);
        }
    }
    multiply(&cross, &pseudo_inverse(&gram, m, m), (n, m, m), &mut a);
    Ok(Box::new(Autoregression { channels, order, a }))
}

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [channels, width] = axes(tensors, "A")?;
    let (order, a) = (width / channels, tensors["A"].f64s());
    Ok(Box::new(Autoregression { channels, order, a }))
}

impl Dynamics for Autoregression {
    fn sizes(&self) -> Sizes {
        Sizes::closed(self.order * self.channels, self.channels, self.a.len())
    }
    fn memory(&self) -> Memory {
        Memory::Rows(self.order)
    }
    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        for (lag, z) in z.rchunks_exact_mut(self.channels).enumerate() {
            z.copy_from_slice(data.row(t.saturating_sub(lag)));
        }
    }
    fn step(&self, z: &[f64], _s: &[f64], next: &mut [f64]) {
        let (older, newest) = next.split_at_mut(z.len() - self.channels);
        older.copy_from_slice(&z[self.channels..]);
        multiply(&self.a, z, (self.channels, z.len(), 1), newest);
    }
    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        x_hat.copy_from_slice(&z[z.len() - self.channels..]);
    }
    fn jacobian(&self, z: &[f64], _s: &[f64], jac: &mut [f64]) {
        let (m, kept) = (z.len(), z.len() - self.channels);
        jac.fill(0.0);
        (0..kept).for_each(|i| jac[i * m + i + self.channels] = 1.0);
        jac[kept * m..].copy_from_slice(&self.a);
    }
    fn tensors(&self) -> Vec<Named<'_>> {
        vec![Named::matrix("A", self.channels, &self.a)]
    }
}

// ---- the verbs ----

/// Runs a command, whose exit code must be 0.
fn attractor(folder: &Path, arguments: &str) {
    let words = arguments
        .split_whitespace()
        .map(|word| match word.strip_prefix("./") {
            Some(name) => folder.join(name).display().to_string(),
            None => word.to_string(),
        });
    let code = attractor_cli::run(["attractor".to_string()].into_iter().chain(words));
    assert_eq!(
        format!("{code:?}"),
        format!("{:?}", std::process::ExitCode::SUCCESS)
    );
}

#[test]
fn a_method_of_ones_own_goes_through_every_verb() {
    method::register(&AUTOREGRESSION);
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
    // Two frequencies, which an autoregression of order 4 continues for ever.
    let wave = |t: i32| (0.9 * f64::from(t)).sin() + 0.5 * (2.1 * f64::from(t)).cos();
    let rows: String = (0..1200).map(|t| format!("{}\n", wave(t))).collect();
    fs::write(path.join("w.csv"), format!("x\n{rows}")).unwrap();
    let train = "--model autoregression --order 4 --standardize off --held-out 0.25";
    attractor(path, &format!("train ./w.csv --out ./r {train} --quiet"));
    assert!(read("r/experiment.toml").contains("order = 4"));
    assert!(read("r/outcome.json").contains("\"finished\""));
    let model = attractor::run::Folder::new(&path.join("r"))
        .model()
        .unwrap();
    assert_eq!(
        (model.method.entry.id, model.card.start.len()),
        ("autoregression", 4)
    );
    // The free orbit is the wave itself: roots on the unit circle, far apart, magnify rounding only linearly.
    attractor(
        path,
        "generate ./r --steps 600 --data ./w.csv --out ./g.csv",
    );
    let generated = attractor::format::read(&path.join("g.csv"), &Default::default()).unwrap();
    for (t, row) in (3..).zip(generated.rows()) {
        assert!((row[0] - wave(t)).abs() < 1e-6, "row {t}: {row:?}");
    }
    attractor(path, "evaluate ./r --data ./w.csv --starts 2 --json");
    attractor(path, "analyze ./r --steps 2000 --seconds 1 --json");
    attractor(path, "lyapunov ./r --steps 2000");
    attractor(path, "report ./r --seconds 1");
    let page = read("r/report.html");
    assert!(page.contains("\"live\":null"));
    let study = "seeds = 2\n[data]\ntrain = \"w.csv\"\n[settings]\nmodel = \"autoregression\"\nstandardize = \"off\"\n[grid]\norder = [1, 4]\n";
    fs::write(path.join("s.toml"), study).unwrap();
    attractor(path, "sweep ./s.toml --out ./s --quiet");
    let scores = read("s/order=4/seed-02/scores.json");
    assert!(scores.contains("\"parameters\": 4"), "{scores}");
    attractor(path, "table ./s");
    attractor(path, "explain autoregression");
}
