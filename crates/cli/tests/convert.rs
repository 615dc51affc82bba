//! `attractor convert`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn convert(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attractor"))
        .current_dir(folder)
        .arg("convert")
        .args(arguments)
        .output()
        .unwrap()
}

/// What a conversion that works says on standard error; nothing is on standard output.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = convert(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty());
    stderr
}

/// What a conversion that fails says, with exit code 2 and no file left behind.
fn complaint(folder: &Path, arguments: &[&str]) -> String {
    let before = fs::read_dir(folder).unwrap().count();
    let output = convert(folder, arguments);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_dir(folder).unwrap().count(), before);
    String::from_utf8(output.stderr).unwrap()
}

fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn there_and_back() {
    let folder = folder_with(&[("a.csv", "x;y\n1,5;2\n3;4,25\n")]);
    let folder = folder.path();
    assert_eq!(
        said(folder, &["a.csv", "b.npy"]),
        "note: the format does not hold channel names\n\
         wrote 2 rows, 2 channels, 1 trajectory: b.npy\n"
    );
    assert_eq!(
        said(folder, &["b.npy", "c.csv", "--dt", "0.5"]),
        "wrote 2 rows, 2 channels, 1 trajectory: c.csv\n"
    );
    assert_eq!(text(folder, "c.csv"), "time,x1,x2\n0,1.5,2\n0.5,3,4.25\n");
}

#[test]
fn every_format_by_its_name() {
    let table = "trajectory,time [s],x [mV],y\na,0,1,2\na,0.5,3,NaN\nb,7,5,6\n";
    let folder = folder_with(&[("a.csv", table)]);
    let folder = folder.path();
    let chain = ["a.csv", "b.tsv", "c.csv.gz", "d.tsv.gz", "e.csv"];
    for pair in chain.windows(2) {
        assert!(said(folder, pair).starts_with("wrote 3 rows, 2 channels, 2 trajectories: "));
    }
    assert_eq!(text(folder, "e.csv"), table);
    said(folder, &["a.csv", "f.npz"]);
    said(folder, &["f.npz", "g.csv"]);
    assert_eq!(
        text(folder, "g.csv"),
        "trajectory,time,x1,x2\na,0,1,2\na,1,3,NaN\nb,0,5,6\n"
    );
}

#[test]
fn columns_take_roles_from_flags() {
    let table = "0 1 7 s1 2\n1 3 8 s1 4\n0 5 9 s2 6\n";
    let folder = folder_with(&[("a.txt", table)]);
    let folder = folder.path();
    let files = ["a.txt", "b.csv"];
    let roles = ["--time=1", "--state=5,2", "--input=3", "--trajectory=4"];
    assert_eq!(
        said(folder, &[&files[..], &roles[..]].concat()),
        "wrote 3 rows, 2 channels, 1 input, 2 trajectories: b.csv\n"
    );
    assert_eq!(
        text(folder, "b.csv"),
        "trajectory,time,x5,x2,input:x3\ns1,0,2,1,7\ns1,1,4,3,8\ns2,0,6,5,9\n"
    );
}

#[test]
fn flags_overrule_what_is_detected() {
    let folder = folder_with(&[("a.csv", "1,5\n2,5\n"), ("b.csv", "1,2\n3,4\n5,6\n")]);
    let folder = folder.path();
    let dialect = ["--decimal=comma", "--delimiter=semicolon"];
    said(folder, &[&["a.csv", "c.csv"], &dialect[..]].concat());
    assert_eq!(text(folder, "c.csv"), "time,x1\n0,1.5\n1,2.5\n");
    said(folder, &["b.csv", "d.csv", "--header", "yes"]);
    assert_eq!(text(folder, "d.csv"), "time,1,2\n0,3,4\n1,5,6\n");
    said(folder, &["d.csv", "e.csv", "--time", "none"]);
    assert_eq!(
        text(folder, "e.csv"),
        "time,state:time,1,2\n0,0,3,4\n1,1,5,6\n"
    );
}

#[test]
fn mistakes_say_what_where_and_what_next() {
    let folder = folder_with(&[
        ("a.csv", "time,x\n0,1\n1,2\n2.5,3\n3.5,4\n"),
        ("b.csv", "x,y\n1,2\n3\n"),
    ]);
    let folder = folder.path();
    assert_eq!(
        complaint(folder, &["a.csv", "b.npy"]),
        "error: the time axis is not uniform: a step of 1 expected, 1.5 found on line 4: a.csv\n\
         hint: resample to equal steps, or give --dt without --time to count rows instead\n"
    );
    assert_eq!(
        complaint(folder, &["b.csv", "c.csv"]),
        "error: 2 columns expected, 1 found on line 3: b.csv\n\
         hint: check the delimiter and decimal mark (--delimiter, --decimal)\n"
    );
    assert_eq!(
        complaint(folder, &["a.csv", "c.npy", "--state", "y"]),
        "error: no column is named `y`: a.csv\nhint: there are 2, numbered from 1: time, x\n"
    );
    let negative = complaint(folder, &["b.csv", "c.npy", "--dt", "-1", "--state", "x"]);
    assert_eq!(
        negative,
        "error: the sampling step must be a number above 0, found -1: b.csv\n"
    );
    for (files, start) in [
        (["none.csv", "c.npy"], "error: no such file: none.csv\n"),
        (
            ["a.csv", "c.mp3"],
            "error: no format has the extension `mp3`: c.mp3\nhint: known are .csv, ",
        ),
        (
            ["a.csv", "no/c.csv"],
            "error: no such folder: no\nhint: create the folder first",
        ),
    ] {
        let complaint = complaint(folder, &[&files[..], &["--dt", "1"]].concat());
        assert!(complaint.starts_with(start), "{complaint}");
    }
}

#[test]
fn a_file_is_not_written_over_itself() {
    let folder = folder_with(&[("a.csv", "x;y\n1,5;2\n3;4,25\n")]);
    let folder = folder.path();
    let refused = |to: &str| {
        assert_eq!(
            complaint(folder, &["a.csv", to]),
            format!(
                "error: the file to write is the one to read: {to}\nhint: name another file to write\n"
            )
        );
        assert_eq!(text(folder, "a.csv"), "x;y\n1,5;2\n3;4,25\n");
    };
    refused("a.csv");
    refused("./a.csv");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.csv", folder.join("link.csv")).unwrap();
        refused("link.csv");
    }
}

#[test]
fn formats_are_listed() {
    let output = Command::new(env!("CARGO_BIN_EXE_attractor"))
        .args(["list", "formats"])
        .output()
        .unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    for id in ["csv", "tsv", "npy", "npz"] {
        let named = |line: &str| line.trim().starts_with(&format!("{id} "));
        assert!(listed.lines().any(named), "{listed}");
    }
}
