//! `attractor convert`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

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
    let roles = ["--time=1", "--channels=5,2", "--input=3", "--trajectory=4"];
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
        "error: the time axis is not uniform: expected a step of 1, found 1.5 on line 4: a.csv\n\
         hint: `--resample 1` interpolates to equal steps; `--own-times 1` keeps rows and times, for ode-rnn and latent-ode; `--dt 1` without --time counts rows instead\n"
    );
    assert_eq!(
        complaint(folder, &["b.csv", "c.csv"]),
        "error: expected 2 columns, found 1 on line 3: b.csv\n\
         hint: check the delimiter and decimal mark (--delimiter, --decimal)\n"
    );
    assert_eq!(
        complaint(folder, &["a.csv", "c.npy", "--channels", "y"]),
        "error: no column is named `y`: a.csv\nhint: there are 2, numbered from 1: time, x\n"
    );
    let negative = complaint(folder, &["b.csv", "c.npy", "--dt", "-1", "--channels", "x"]);
    assert_eq!(
        negative,
        "error: the sampling step must be a number above 0, found -1: b.csv\n"
    );
    for (files, start) in [
        (["none.csv", "c.npy"], "error: no such file: none.csv\n"),
        (
            ["a.csv", "c.mp3"],
            "error: no format has the extension `mp3`: c.mp3\nhint: the known extensions are .csv, ",
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

/// A WFDB record of one signal with three samples, 1, 2 and 3.
fn record(checksum: u16, samples: &[u8]) -> TempDir {
    let header = format!("a 1 100 3\na.dat 16 1/mV 16 0 1 {checksum} 0 ECG\n");
    let folder = folder_with(&[("a.hea", &header), ("b.hea", "b 1\nc.dat 16\n")]);
    fs::write(folder.path().join("a.dat"), samples).unwrap();
    folder
}

const SAMPLES: [u8; 6] = [1, 0, 2, 0, 3, 0];

#[test]
fn no_file_of_a_record_is_written_over() {
    let folder = record(6, &SAMPLES);
    let folder = folder.path();
    for arguments in [
        ["a.hea", "a.dat"],
        ["a.dat", "a.dat"],
        ["a.dat", "./a.hea"],
        ["a.hea", "a.hea"],
    ] {
        assert_eq!(
            complaint(folder, &arguments),
            format!(
                "error: the file to write is the one to read: {}\nhint: name another file to write\n",
                arguments[1]
            )
        );
    }
    // A text table of this name would be read as a record, and may stand where the signals of one were.
    fs::write(folder.join("t.csv"), "x\n1\n2\n").unwrap();
    for to in ["a.dat", "b.dat"] {
        assert_eq!(
            complaint(folder, &["t.csv", to]),
            format!(
                "error: a file of this name has the signals of the WFDB record beside it: {to}\n\
                 hint: write to a file that ends in .csv\n"
            )
        );
    }
    assert_eq!(fs::read(folder.join("a.dat")).unwrap(), SAMPLES);
    said(folder, &["a.hea", "o.dat"]);
    assert_eq!(
        text(folder, "o.dat"),
        "time [s],ECG [mV]\n0,1\n0.01,2\n0.02,3\n"
    );
}

#[test]
fn a_record_is_checked_against_its_header() {
    let longer = record(6, &[&SAMPLES[..], &[9; 4]].concat());
    assert_eq!(
        said(longer.path(), &["a.hea", "o.csv"]),
        "note: a.dat has 5 samples of each signal, the header says 3: the others are not read: a.hea\n\
         wrote 3 rows, 1 channel, 1 trajectory: o.csv\n"
    );
    let shorter = record(6, &SAMPLES[..4]);
    assert_eq!(
        complaint(shorter.path(), &["a.hea", "o.csv"]),
        "error: a.dat: expected 6 bytes of samples, found 4: a.hea\nhint: copy or download the file again\n"
    );
    let changed = record(7, &SAMPLES);
    assert_eq!(
        complaint(changed.path(), &["a.dat", "o.csv"]),
        "error: a.dat: signal `ECG` has the checksum 6, expected 7: a.dat\n\
         hint: copy or download the record again; if the samples are right, correct the checksum in the header\n"
    );
}

#[test]
fn parquet_that_is_not_read_says_what_next() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../attractor/tests/data");
    let folder = TempDir::new().unwrap();
    let told = |name: &str| {
        let path = data.join(name).display().to_string();
        let flags = [&path, "o.csv", "--channels", "x"];
        let told = complaint(folder.path(), &flags);
        told.replace(&path, "FILE")
    };
    assert_eq!(
        told("pyarrow-zstd.parquet"),
        "error: columns compressed by zstd are not read: FILE\n\
         hint: in Python: import pandas; pandas.read_parquet(\"x.parquet\").to_parquet(\"y.parquet\", compression=\"snappy\")\n"
    );
    // A run of 2·10⁹ nulls in 109 bytes: 8 bytes each, against 256 MiB and 200 times the size.
    assert_eq!(
        told("found/claimed-nulls.parquet"),
        "error: 16000000000 bytes would unfold from 109, at most 268457256 are sensible: FILE\n\
         hint: the file is damaged: write it again, or split it\n"
    );
    assert!(told("found/hidden-nulls.parquet").contains("longer than its group of rows"));
}

/// A MATLAB 5 file of columns of small whole numbers.
fn matlab(matrices: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = vec![b' '; 124];
    file.extend([0, 1, b'I', b'M']);
    let element = |kind: u32, data: &[u8]| {
        let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    for (name, values) in matrices {
        let flags = element(6, &[6, 0, 0, 0, 0, 0, 0, 0]);
        let rows = (values.len() as u32).to_le_bytes();
        let dims = element(5, &[rows, 1u32.to_le_bytes()].concat());
        let parts = [flags, dims, element(1, name.as_bytes()), element(2, values)];
        file.extend(element(14, &parts.concat()));
    }
    file
}

#[test]
fn the_array_that_was_chosen_is_told() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let file = matlab(&[("a", &[1, 2]), ("b", &[7, 8, 9])]);
    fs::write(folder.join("m.mat"), file).unwrap();
    let wrote = "wrote 3 rows, 1 channel, 1 trajectory: o.csv\n";
    assert_eq!(
        said(folder, &["m.mat", "o.csv"]),
        format!(
            "note: of several arrays, b (3 × 1) is read because it has the most rows; --array chooses another: a (2 × 1): m.mat\n{wrote}"
        )
    );
    assert_eq!(said(folder, &["m.mat", "o.csv", "--array", "b"]), wrote);
    fs::write(folder.join("one.mat"), matlab(&[("b", &[7, 8, 9])])).unwrap();
    assert_eq!(said(folder, &["one.mat", "o.csv"]), wrote);
    fs::write(
        folder.join("twins.mat"),
        matlab(&[("a", &[1, 2]), ("b", &[7, 8])]),
    )
    .unwrap();
    assert!(complaint(folder, &["twins.mat", "p.csv"]).contains("hint: name one with --array"));
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

/// The library that decodes Parquet panics on some damaged pages: a user sees the error alone.
#[test]
fn a_damaged_parquet_file_is_told_without_a_panic() {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../attractor/tests/data/found");
    let folder = TempDir::new().unwrap();
    for (name, reason) in [
        ("bytes-panic.parquet", "it is damaged"),
        ("split-panic.parquet", "it is damaged"),
        ("nested.parquet", "its columns are nested too deep"),
    ] {
        fs::copy(found.join(name), folder.path().join("a.parquet")).unwrap();
        let told = complaint(folder.path(), &["a.parquet", "b.csv"]);
        let expected = format!("error: this Parquet file cannot be read: {reason}: a.parquet");
        assert_eq!(told.lines().next(), Some(expected.as_str()), "{name}");
        assert!(!told.contains("panicked"), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_conversion_leaves_nothing() {
    let folder = folder_with(&[(".foo.part", "foreign")]);
    let rows = 300_000;
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 4)}}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let values: Vec<u8> = (0..4 * rows)
        .flat_map(|i| (f64::from(i) / 3.0).to_le_bytes())
        .collect();
    let bytes = [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), &values].concat();
    fs::write(folder.path().join("a.npy"), bytes).unwrap();
    common::interrupt_writing(folder.path(), "convert a.npy b.csv.gz");
}

/// A header of a file can hold what a terminal takes for orders, such as another title of its window.
#[test]
fn control_characters_of_files_are_shown_not_obeyed() {
    let name = "\u{1b}]0;owned\u{7}";
    let table = format!("{name},{name}\n1,2\n");
    let folder = folder_with(&[
        ("a.csv", &table),
        ("b.csv", &format!("{name},y\n1,2\n3,4\n")),
    ]);
    let folder = folder.path();
    let told = complaint(folder, &["a.csv", "c.csv"]);
    assert!(
        told.starts_with("error: columns 1 and 2 are both named `\\u001b]0;owned\\u0007`: a.csv"),
        "{told}"
    );
    let told = complaint(folder, &[&format!("{name}.csv"), "c.csv"]);
    assert!(
        told.starts_with("error: no such file: \\u001b]0;owned"),
        "{told}"
    );
    let told = complaint(folder, &["b.csv", "c.csv", &format!("--{name}")]);
    assert!(told.contains("unexpected argument") && !told.contains('\u{1b}'));
    for arguments in ["inspect b.csv", "inspect b.csv --json"] {
        // Two rows are too few, which is what the code says.
        let (out, notes) = common::said(folder, arguments, 1);
        assert!(out.contains("owned"), "{out}");
        assert!(!(out + &notes).contains(['\u{1b}', '\u{7}']));
    }
    // In a file the name stays what it is.
    said(folder, &["b.csv", "c.csv"]);
    assert!(text(folder, "c.csv").contains(name));
}
