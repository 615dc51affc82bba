//! Weights of other programs as model files: what `tools/import_weights.py` makes of a file of PyTorch and of one of NumPy runs as the
//! formulas say.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::path::Path;
use std::process::Command;

use attractor::model_file::Reconstruction;
use tempfile::TempDir;

/// Runs Python in a folder; none, with a line that says so, where a package is missing.
fn python(folder: &Path, packages: &str, arguments: &[&str]) -> Option<String> {
    let python = std::env::var("ATTRACTOR_PYTHON").unwrap_or("python3".to_string());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.current_dir(folder).args(arguments).output()
    };
    let asked = run(&["-c", &format!("import {packages}")]);
    if !asked.is_ok_and(|output| output.status.success()) {
        println!("skipped: `{python}` has not all of {packages}");
        return None;
    }
    let output = run(arguments).unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    Some(String::from_utf8(output.stdout).unwrap())
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/import_weights.py");

/// What the imported model does from the state that the scripts start from: the state after three steps, and what is seen of it.
fn after_three_steps(path: &Path) -> Vec<f64> {
    let read = Reconstruction::read(path).unwrap();
    let (mut z, mut next, mut x) = (vec![0.3, -0.2, 0.5], vec![0.0; 3], vec![0.0; 2]);
    for _ in 0..3 {
        read.dynamics.step(&z, &[], &mut next);
        std::mem::swap(&mut z, &mut next);
    }
    read.dynamics.observe(&z, &mut x);
    [z, x].concat()
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect()
}

/// Each step adds some ten products that are rounded in single precision (2⁻²⁴ of numbers of order one), and passes errors on by a
/// Jacobian with a norm below three: 3 · 10 · 2⁻²⁴ · 3³ is below 1e-4.
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let far = found
        .iter()
        .zip(expected)
        .any(|(a, b)| (a - b).abs() > 1e-4);
    assert!(!far, "{found:?} {expected:?}");
}

/// `imported/state.py` made the file with PyTorch 2.15 and printed what the model does; PyTorch is not needed to read it.
#[test]
fn a_state_dict_of_pytorch_runs_as_its_formula() {
    let folder = TempDir::new().unwrap();
    let state = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/imported/state.pt");
    let import = [
        SCRIPT,
        "torch",
        state,
        "m.safetensors",
        "--model",
        "dendritic-plrnn",
    ];
    if python(folder.path(), "safetensors, numpy", &import).is_none() {
        return;
    }
    let found = after_three_steps(&folder.path().join("m.safetensors"));
    assert_close(&found, &numbers(include_str!("imported/state.txt")));
}

/// A pickle can call any function; ours calls none but those that make tensors.
#[test]
fn a_file_that_would_run_code_is_refused() {
    let folder = TempDir::new().unwrap();
    let program = format!(
        r#"
import pickle, subprocess, sys, zipfile
class Evil:
    def __reduce__(self):
        return (open, ("ran", "w"))
with zipfile.ZipFile("w.pt", "w") as archive:
    archive.writestr("w/data.pkl", pickle.dumps({{"A": Evil()}}))
done = subprocess.run([sys.executable, {SCRIPT:?}, "torch", "w.pt", "m.safetensors"], capture_output=True, text=True)
print(done.returncode, done.stderr)
"#
    );
    let Some(told) = python(folder.path(), "safetensors, numpy", &["-c", &program]) else {
        return;
    };
    assert!(told.starts_with("1 error: it holds"), "{told}");
    assert!(!folder.path().join("ran").exists());
}

/// As Julia exports them: Greek letters, matrices column by column, and a shallow model whose A is a vector.
#[test]
fn tensors_that_were_exported_run_as_their_formula() {
    let folder = TempDir::new().unwrap();
    let program = r#"
import numpy as np
rng = np.random.default_rng(5)
A, h1, h2 = rng.uniform(-0.5, 0.5, 3), rng.normal(size=3) * 0.1, rng.normal(size=5)
W1, W2, B = rng.normal(size=(3, 5)) * 0.3, rng.normal(size=(5, 3)) * 0.3, rng.normal(size=(2, 3))
fortran = np.asfortranarray
np.savez("w.npz", **{"A": A, "W₁": fortran(W1), "W₂": fortran(W2), "h₁": h1, "h₂": h2, "B": fortran(B), "b": np.array([1.0, -2.0])})
z = np.array([0.3, -0.2, 0.5])
for _ in range(3):
    u = W2 @ z
    z = A * z + W1 @ (np.maximum(u + h2, 0) - np.maximum(u, 0)) + h1
print(*z, *(B @ z + [1.0, -2.0]))
"#;
    let packages = "safetensors, numpy";
    let Some(expected) = python(folder.path(), packages, &["-c", program]) else {
        return;
    };
    let told = python(
        folder.path(),
        packages,
        &[SCRIPT, "npz", "w.npz", "m.safetensors"],
    )
    .unwrap();
    assert!(
        told.contains("note: taken as clipped-shallow-plrnn"),
        "{told}"
    );
    let found = after_three_steps(&folder.path().join("m.safetensors"));
    assert_close(&found, &numbers(&expected));
}
