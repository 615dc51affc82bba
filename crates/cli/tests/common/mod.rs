//! What the tests of the command share: running it as a user does, and model files as other programs write them.
#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "helpers of tests are not marked as tests, and every test file takes those it needs"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The command, to be run in a folder; what it keeps for later stays in that folder too.
pub(crate) fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attractor"));
    command
        .current_dir(folder)
        .env("ATTRACTOR_CACHE", folder.join("cache"))
        .args(arguments.split_whitespace());
    command
}

/// All that a command leaves when it has ended.
pub(crate) fn attractor(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// What a command that ends with this code says on standard output and on standard error.
pub(crate) fn said(folder: &Path, arguments: &str, code: i32) -> (String, String) {
    let output = attractor(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

/// The document that a command with `--json` prints when it ends with this code.
pub(crate) fn document(folder: &Path, arguments: &str, code: i32) -> Value {
    let (out, _) = said(folder, &format!("{arguments} --json"), code);
    serde_json::from_str(&out).unwrap()
}

/// Starts a command whose standard output and error can be read.
pub(crate) fn start(folder: &Path, arguments: &str) -> Child {
    let mut command = command(folder, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until a process has written a file.
pub(crate) fn wait_for(file: &Path, child: &mut Child) {
    while !file.exists() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "it ended before {}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &id]).status();
    assert!(sent.unwrap().success());
}

/// A tensor of a model file: its name, its shape, its values.
pub(crate) type Tensor<'a> = (&'a str, &'a [usize], &'a [f64]);

/// A model file `m.safetensors` with some metadata, in F64.
pub(crate) fn model_file(
    folder: &Path,
    model: &str,
    metadata: &[(&str, &str)],
    tensors: &[Tensor<'_>],
) {
    let mut header = json!({ "__metadata__": { "model": model } });
    for (key, text) in metadata {
        header["__metadata__"][*key] = json!(text);
    }
    let mut data = Vec::new();
    for (tensor, shape, values) in tensors {
        let start = data.len();
        data.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        header[*tensor] =
            json!({ "dtype": "F64", "shape": shape, "data_offsets": [start, data.len()] });
    }
    let header = header.to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    fs::write(folder.join("m.safetensors"), bytes).unwrap();
}

/// A model file `m.safetensors` with one latent state, z ← a z + h.
pub(crate) fn linear_model(folder: &Path, a: f64, h: f64, metadata: &[(&str, &str)]) {
    let tensors: [Tensor<'_>; 3] = [("A", &[1], &[a]), ("W", &[1, 1], &[0.0]), ("h", &[1], &[h])];
    model_file(folder, "plrnn", metadata, &tensors);
}

/// Ends a command by Ctrl-C while it writes; what it had begun to write is gone then.
#[cfg(unix)]
pub(crate) fn interrupt_writing(folder: &Path, arguments: &str) {
    use std::os::unix::process::ExitStatusExt;
    let names = || {
        let files = fs::read_dir(folder).unwrap().flatten();
        files.map(|file| file.path()).collect::<BTreeSet<_>>()
    };
    let before = names();
    let is_part = |path: &Path| path.extension().is_some_and(|end| end == "part");
    let is_begun = |path: &Path| is_part(path) && fs::metadata(path).is_ok_and(|m| m.len() > 0);
    // On a busy machine it may be done before we have seen that it has begun.
    for _ in 0..20 {
        let mut child = start(folder, arguments);
        while child.try_wait().unwrap().is_none() && !names().iter().any(|path| is_begun(path)) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_none() {
            signal(&child, "INT");
        }
        let ended = child.wait().unwrap();
        if ended.signal().is_some() {
            assert_eq!(ended.signal(), Some(2));
            return assert_eq!(names(), before);
        }
        assert!(ended.success(), "{ended}");
        for written in names().difference(&before) {
            fs::remove_file(written).unwrap();
        }
    }
    panic!("it always ended too soon");
}

/// Everything under a folder that is being written.
pub(crate) fn parts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(parts(&path));
        } else if path.extension().is_some_and(|end| end == "part") {
            found.push(path);
        }
    }
    found
}
