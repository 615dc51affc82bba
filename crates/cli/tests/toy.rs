//! A method of a program's own, in one file: it goes through every verb without another line elsewhere.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::path::Path;

use attractor::catalogue::{Entry, Kind};
use attractor::dynamics::{Dynamics, Memory, Named, Sizes, Stretch, Values};
use attractor::linalg;
use attractor::method::{
    self, Fit, FitError, Fitting, LoadError, Method, Tensors, axes, nothing_to_settle,
};
use attractor::progress::{Follow, tell};
use attractor::settings::{Domain, Setting};
use attractor::theta::Shape;
use tempfile::TempDir;

// ---- the method ----

/// x_t = A (x_{t−1}, …, x_{t−p}), by least squares: an autoregression of order p. Its state is the last p rows.
static AUTOREGRESSION: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "autoregression",
        summary: "linear autoregression by least squares",
        details: "x_t = A (x_{t−1}, …, x_{t−p})",
        settings: &[Setting {
            name: "order",
            default: "2",
            domain: Domain::Integer { low: 1, high: 100 },
            about: "Rows p that the next one follows from",
        }],
        references: &[],
    },
    dependences: &[],
    numerics: 1,
    fit: Fit::Solve(solve),
    settle: nothing_to_settle,
    load,
    story: |settings| format!("by least squares, order {}", settings.integer("order")),
};

#[derive(Debug)]
struct Autoregression {
    channels: usize,
    order: usize,
    /// A, N × pN, the newest row first.
    a: Vec<f64>,
}

fn solve(
    _: &'static Method,
    fitting: Fitting<'_>,
    follow: &mut dyn Follow,
) -> Result<Box<dyn Dynamics>, FitError> {
    let (n, p) = (fitting.data.dim_obs(), fitting.settings.integer("order"));
    let m = n * p;
    let (mut gram, mut cross) = (vec![0.0; m * m], vec![0.0; n * m]);
    let mut z = vec![0.0; m];
    let stretches: Vec<_> = fitting.data.whole_stretches().collect();
    for (i, (trajectory, rows)) in stretches.iter().enumerate() {
        tell(follow, "least squares", i as u64, stretches.len() as u64)?;
        let x = &fitting.data.trajectories()[*trajectory].x;
        for t in rows.start + p..rows.end {
            (0..m).for_each(|e| z[e] = x[(t - 1 - e / n) * n + e % n]);
            (0..m * m).for_each(|e| gram[e] += z[e / m] * z[e % m]);
            (0..n * m).for_each(|e| cross[e] += x[t * n + e / m] * z[e % m]);
        }
    }
    let inverse = linalg::pseudo_inverse(&gram, m, m);
    let mut a = vec![0.0; n * m];
    linalg::multiply(&cross, &inverse, (n, m, m), &mut a);
    Ok(Box::new(Autoregression {
        channels: n,
        order: p,
        a,
    }))
}

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [channels, width] = axes(tensors, "A")?;
    let (order, a) = (width / channels, tensors["A"].f64s());
    Ok(Box::new(Autoregression { channels, order, a }))
}

impl Dynamics for Autoregression {
    fn sizes(&self) -> Sizes {
        Sizes {
            state: self.order * self.channels,
            channels: self.channels,
            inputs: 0,
            dim: self.order * self.channels,
            parameters: self.a.len(),
        }
    }

    fn memory(&self) -> Memory {
        Memory::Rows(self.order)
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        for (lag, z) in z.chunks_exact_mut(self.channels).enumerate() {
            z.copy_from_slice(data.row(t.saturating_sub(lag)));
        }
    }

    fn step(&self, z: &[f64], _s: &[f64], next: &mut [f64]) {
        let (n, m) = (self.channels, z.len());
        linalg::multiply(&self.a, z, (n, m, 1), &mut next[..n]);
        next[n..].copy_from_slice(&z[..m - n]);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        x_hat.copy_from_slice(&z[..self.channels]);
    }

    fn jacobian(&self, z: &[f64], _s: &[f64], jac: &mut [f64]) {
        let m = z.len();
        jac.fill(0.0);
        jac[..self.a.len()].copy_from_slice(&self.a);
        (self.channels..m).for_each(|i| jac[i * m + i - self.channels] = 1.0);
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        vec![Named {
            name: "A",
            shape: Shape::Matrix(self.channels, self.order * self.channels),
            values: Values::F64(&self.a),
        }]
    }

    fn describe(&self) -> String {
        format!("order {}", self.order)
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
    assert!(page.contains("by least squares, order 4") && page.contains("\"live\":null"));
    let study = "seeds = 2\n[data]\ntrain = \"w.csv\"\n[settings]\nmodel = \"autoregression\"\nstandardize = \"off\"\n[grid]\norder = [1, 4]\n";
    fs::write(path.join("s.toml"), study).unwrap();
    attractor(path, "sweep ./s.toml --out ./s --quiet");
    let scores = read("s/order=4/seed-02/scores.json");
    assert!(scores.contains("\"parameters\": 4"), "{scores}");
    attractor(path, "table ./s");
    attractor(path, "explain autoregression");
}
