//! Our coefficients beside those of pysindy: slopes, library and thresholding of both, on the same rows.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::any::Any;
use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

use attractor_core::method::sindy::{SINDY, Sindy};
use attractor_core::method::{Fit, Fitting};
use attractor_core::progress::Unwatched;
use attractor_core::series::Series;
use attractor_core::settings::{Setting, Settings};
use attractor_core::simd::Isa;
use attractor_core::system::simulate::{Request, Simulation};

/// Reads rows from standard input and prints the coefficients at every threshold, one line each. The last fit of pysindy's terms to its
/// slopes is made by SciPy here: scikit-learn, which pysindy calls for it, leaves out directions with singular values below 1e-6
/// of the largest from version 1.9 on.
const SCRIPT: &str = "
import sys, warnings
import numpy as np
import pysindy as ps
from scipy.linalg import lstsq
warnings.simplefilter('ignore')
degree, dt, *thresholds = map(float, sys.argv[1:])
x = np.loadtxt(sys.stdin)
for threshold in thresholds:
    model = ps.SINDy(
        optimizer=ps.STLSQ(threshold=threshold, alpha=0.05),
        feature_library=ps.PolynomialLibrary(degree=int(degree)),
        differentiation_method=ps.SmoothedFiniteDifference(),
    )
    model.fit(x, t=dt)
    slopes = model.differentiation_method(x, dt)
    terms = model.feature_library.transform(model.differentiation_method.smoothed_x_)
    c = np.zeros(model.coefficients().shape)
    for own, kept, slope in zip(c, model.coefficients() != 0, np.asarray(slopes).T):
        if kept.any():
            own[kept] = lstsq(np.asarray(terms)[:, kept], slope)[0]
    print(*(repr(float(c)) for c in c.ravel()))
";

/// The coefficients that pysindy finds, or nothing where it is not installed.
fn theirs(data: &Series, degree: &str, thresholds: &[&str]) -> Option<Vec<Vec<f64>>> {
    let python = env::var("ATTRACTOR_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let dt = data.step().dt.to_string();
    let mut child = Command::new(python)
        .args(["-c", SCRIPT, degree, &dt])
        .args(thresholds)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut rows = String::new();
    for row in data.rows() {
        let words: Vec<String> = row.iter().map(|v| format!("{v:e}")).collect();
        rows += &(words.join(" ") + "\n");
    }
    // A script that has ended early does not read.
    let _ = child.stdin.take()?.write_all(rows.as_bytes());
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let parse = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect();
    (output.status.success()).then(|| text.lines().map(parse).collect())
}

fn ours(data: &Series, degree: &str, threshold: &str) -> Vec<f64> {
    let list: Vec<&Setting> = SINDY.entry.settings.iter().collect();
    let given = [("degree", degree), ("threshold", threshold)];
    let settings = Settings::resolve(&list, given).unwrap();
    let Fit::Solve(solve) = SINDY.fit else {
        panic!("it is solved at once");
    };
    let fitting = Fitting {
        settings: &settings,
        data,
        cuts: None,
        seed: 1,
        threads: 1,
        paced: false,
        isa: Isa::detect(),
    };
    let dynamics = solve(&SINDY, fitting, &mut Unwatched).unwrap();
    let any: &dyn Any = dynamics.as_ref();
    any.downcast_ref::<Sindy>().unwrap().coefficients().to_vec()
}

/// Sums of 5000 products lose 1e-13, times the squared condition number of the terms, 1e4 at degree 3: 1e-9 of coefficients of order one.
/// Where that is more, as at degree 5, coefficients are refined until they are off by less than 1e-10 of the largest.
#[test]
fn coefficients_are_those_of_pysindy() {
    let request = Request {
        standardize: true,
        noise: 0.02,
        ..Request::new("lorenz63", 5000)
    };
    let data = Simulation::check(&request).unwrap().run().unwrap().series;
    let thresholds = ["0", "0.1", "0.3", "0.9"];
    for degree in ["2", "3", "5"] {
        let Some(theirs) = theirs(&data, degree, &thresholds) else {
            println!("skipped: pysindy is not installed (ATTRACTOR_PYTHON names the interpreter)");
            return;
        };
        assert_eq!(theirs.len(), thresholds.len());
        for (threshold, theirs) in thresholds.iter().zip(theirs) {
            let ours = ours(&data, degree, threshold);
            assert_eq!(ours.len(), theirs.len());
            let largest = theirs.iter().fold(1.0, |most: f64, c| most.max(c.abs()));
            for (j, (a, b)) in ours.iter().zip(&theirs).enumerate() {
                assert_eq!(
                    *a == 0.0,
                    *b == 0.0,
                    "degree {degree}, {threshold}, term {j}: {a} {b}"
                );
                assert!(
                    (a - b).abs() < 1e-8 * largest,
                    "degree {degree}, {threshold}, term {j}: {a} {b}"
                );
            }
        }
    }
}
