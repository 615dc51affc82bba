//! NumPy files: every element type, byte order, version and order by hand; every error; and agreement with NumPy
//! itself where Python has it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use attractor::format::{self, Column, FormatError, ReadOptions};
use attractor::series::{Series, Trajectory};
use tempfile::TempDir;

/// A file of format version 1, 2 or 3 with this header and these elements.
fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let length = header.len() as u32;
    let width = if version == 1 { 2 } else { 4 };
    let length = &length.to_le_bytes()[..width];
    [
        b"\x93NUMPY",
        &[version, 0][..],
        length,
        header.as_bytes(),
        data,
    ]
    .concat()
}

fn header(descr: &str, order: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")
}

fn read(content: &[u8]) -> Result<Series, FormatError> {
    read_with(content, &ReadOptions::default())
}

fn read_with(content: &[u8], options: &ReadOptions) -> Result<Series, FormatError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npy");
    fs::write(&path, content).unwrap();
    format::read(&path, options)
}

fn values(content: &[u8]) -> Vec<f64> {
    read(content).unwrap().trajectories()[0].x.clone()
}

/// What is said about a file of version 1.
fn said(header: &str, data: &[u8]) -> (String, String) {
    let error = read(&npy(1, header, data)).unwrap_err();
    (
        error.fault.to_string(),
        error.hint().map_or(String::new(), |hint| hint.to_string()),
    )
}

#[test]
fn every_number_in_both_byte_orders() {
    macro_rules! check {
        ($number:ty, $descr:literal, $values:expr) => {
            let numbers: [$number; 3] = $values;
            let expected: Vec<f64> = numbers.iter().map(|&v| v as f64).collect();
            let little: Vec<u8> = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
            let big: Vec<u8> = numbers.iter().flat_map(|v| v.to_be_bytes()).collect();
            for (mark, data) in [("<", &little), (">", &big), ("=", &little)] {
                let descr = format!("'{mark}{}'", $descr);
                let file = npy(1, &header(&descr, "False", "(3,)"), data);
                assert_eq!(values(&file), expected, "{descr}");
            }
        };
    }
    check!(i8, "i1", [-128, 0, 127]);
    check!(i16, "i2", [-300, 0, i16::MAX]);
    check!(i32, "i4", [-70_000, 1, i32::MAX]);
    check!(i64, "i8", [-(1 << 53), 1, 1 << 53]);
    check!(u8, "u1", [0, 1, 255]);
    check!(u16, "u2", [0, 1, u16::MAX]);
    check!(u32, "u4", [0, 1, u32::MAX]);
    check!(u64, "u8", [0, 1, 1 << 53]);
    check!(f32, "f4", [-1.5, 0.1, f32::MAX]);
    check!(f64, "f8", [-1.5, 0.1, f64::MAX]);
    let flags = npy(1, &header("'|b1'", "False", "(3,)"), &[0, 1, 1]);
    assert_eq!(values(&flags), [0.0, 1.0, 1.0]);
}

#[test]
fn all_versions_and_both_orders() {
    let data = [1u8, 2, 3, 4, 5, 6];
    for version in 1..=3 {
        let c = npy(version, &header("'|u1'", "False", "(2, 3)"), &data);
        let series = read(&c).unwrap();
        assert_eq!((series.total_len(), series.dim_obs()), (2, 3));
        assert_eq!(values(&c), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let fortran = npy(version, &header("'|u1'", "True", "(2, 3)"), &data);
        assert_eq!(values(&fortran), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }
    let old = npy(1, &header("\"<u1\"", "False", "(3L, 2L)"), &data);
    assert_eq!(read(&old).unwrap().dim_obs(), 2);
}

#[test]
fn columns_of_an_array_have_roles_too() {
    let options = ReadOptions {
        time: Some(Column::Index(1)),
        input: vec![Column::Name("x3".to_string())],
        ..ReadOptions::default()
    };
    let file = npy(
        1,
        &header("'|u1'", "False", "(3, 3)"),
        &[0, 1, 2, 5, 3, 4, 20, 5, 6],
    );
    let error = read_with(&file, &options).unwrap_err().to_string();
    assert!(
        error.contains("expected a step of 15, found 5 on row 2"),
        "{error}"
    );
    let file = npy(
        1,
        &header("'|u1'", "False", "(3, 3)"),
        &[0, 1, 2, 5, 3, 4, 10, 5, 6],
    );
    let series = read_with(&file, &options).unwrap();
    assert_eq!(series.step().dt, 5.0);
    assert_eq!(series.trajectories()[0].x, [1.0, 3.0, 5.0]);
    assert_eq!(series.trajectories()[0].s, [2.0, 4.0, 6.0]);
}

#[test]
fn a_column_of_an_array_tells_trajectories_apart() {
    let options = ReadOptions {
        trajectory: Some(Column::Index(2)),
        ..ReadOptions::default()
    };
    let file = npy(1, &header("'|u1'", "False", "(3, 2)"), &[7, 1, 8, 2, 9, 1]);
    let series = read_with(&file, &options).unwrap();
    let named: Vec<_> = series
        .trajectories()
        .iter()
        .map(|t| (t.name.as_str(), t.x.clone()))
        .collect();
    assert_eq!(named, [("1", vec![7.0, 9.0]), ("2", vec![8.0])]);
}

#[test]
fn a_row_without_time_is_refused() {
    let options = ReadOptions {
        time: Some(Column::Index(1)),
        ..ReadOptions::default()
    };
    let data: Vec<u8> = [0.0, 1.0, f64::NAN, 2.0]
        .iter()
        .flat_map(|v: &f64| v.to_le_bytes())
        .collect();
    let error = read_with(
        &npy(1, &header("'<f8'", "False", "(2, 2)"), &data),
        &options,
    )
    .unwrap_err();
    assert_eq!(error.fault.to_string(), "no time on row 2");
}

#[test]
fn the_step_is_as_given() {
    let options = ReadOptions {
        dt: Some(0.01),
        ..ReadOptions::default()
    };
    let file = npy(1, &header("'|u1'", "False", "(3, 1)"), &[0, 1, 2]);
    assert_eq!(read_with(&file, &options).unwrap().step().dt, 0.01);
}

#[test]
fn a_short_file_is_truncated_wherever_it_ends() {
    let whole = npy(1, &header("'<f8'", "False", "(2, 2)"), &[0; 32]);
    assert!(read(&whole).is_ok());
    for end in 1..whole.len() {
        let error = read(&whole[..end]).unwrap_err();
        assert!(
            error.fault.to_string().contains(", found "),
            "{end}: {error}"
        );
        assert_eq!(
            error.hint().unwrap().to_string(),
            "copy or download the file again"
        );
    }
    let (message, _) = said(&header("'<f8'", "False", "(2, 2)"), &[0; 20]);
    assert_eq!(message, "expected 32 bytes of array data, found 20");
}

#[test]
fn a_long_file_is_refused() {
    let (message, hint) = said(&header("'<f8'", "False", "(2, 2)"), &[0; 33]);
    assert_eq!(message, "expected 32 bytes of array data, found more");
    assert!(hint.contains(".npz"));
}

#[test]
fn foreign_files_and_versions() {
    let error = read(b"x,y\n1,2\n").unwrap_err();
    assert_eq!(
        error.fault.to_string(),
        "a NumPy file starts with \\x93NUMPY, this one with `x,y\\n1,`"
    );
    assert!(error.hint().unwrap().to_string().contains("numpy.save"));
    let error = read(&npy(4, "{}", &[])).unwrap_err();
    assert_eq!(
        error.fault.to_string(),
        "expected version 1, 2 or 3 of the NumPy format, found 4.0"
    );
}

#[test]
fn element_types_that_are_not_real_numbers() {
    for (descr, found) in [
        ("'<c16'", "the complex type <c16"),
        ("'|O'", "Python objects"),
        ("'<U5'", "<U5"),
        ("'<M8[ns]'", "<M8[ns]"),
        ("'<f2'", "<f2"),
        ("'<f16'", "<f16"),
    ] {
        let (message, hint) = said(&header(descr, "False", "(1,)"), &[0; 16]);
        let expected = "expected numbers of type f4, f8, i1–i8, u1–u8 or b1";
        assert_eq!(message, format!("{expected}, found {found}"));
        assert!(hint.contains("astype"));
    }
    let (message, _) = said(
        &header("[('x', '<f8'), ('y', '<f4')]", "False", "(1,)"),
        &[0; 12],
    );
    assert!(message.ends_with("found a structured type"), "{message}");
}

#[test]
fn shapes_that_are_no_table() {
    let (message, hint) = said(&header("'<f8'", "False", "(2, 3, 4)"), &[0; 192]);
    assert_eq!(
        message,
        "expected an array of 1 or 2 dimensions, found 3 with shape [2, 3, 4]"
    );
    assert!(hint.contains(".npz"));
    let (message, _) = said(&header("'<f8'", "False", "()"), &[0; 8]);
    assert!(message.contains("found 0 with shape []"));
    let (message, _) = said(&header("'<f8'", "False", "(0, 3)"), &[]);
    assert_eq!(message, "a series needs at least one row");
    let (message, _) = said(&header("'<f8'", "False", "(3, 0)"), &[]);
    assert_eq!(message, "a series needs at least one channel");
}

#[test]
fn claims_without_data_allocate_nothing() {
    let claim = |shape| said(&header("'<f8'", "False", shape), &[0; 8]).0;
    assert_eq!(
        claim("(1000000000000, 1000)"),
        "expected 8000000000000000 bytes of array data, found 8"
    );
    assert_eq!(
        claim("(18446744073709551615, 2)"),
        "shape [18446744073709551615, 2] has too many elements"
    );
    assert_eq!(
        claim("(4611686018427387904,)"),
        "shape [4611686018427387904] has too many elements"
    );
    assert!(claim("(99999999999999999999,)").starts_with("expected a length at byte "));
    let mut file = npy(2, "", &[]);
    file[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&file).unwrap_err();
    assert_eq!(
        error.fault.to_string(),
        "the header claims 4294967295 bytes, at most 65536 are sensible"
    );
}

/// A column takes memory for its name alone: a header of 128 bytes may claim any number of columns.
#[test]
fn columns_are_bounded_by_what_the_file_holds() {
    for columns in ["100000000", "100000000000"] {
        let shape = format!("(0, {columns})");
        for order in ["False", "True"] {
            let (message, _) = said(&header("'<f8'", order, &shape), &[]);
            assert_eq!(message, "a series needs at least one row");
        }
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.npz");
        let array = npy(1, &header("'<f8'", "False", &shape), &[]);
        fs::write(&path, archive(&[("x.npy", &array)])).unwrap();
        let error = format::read(&path, &ReadOptions::default()).unwrap_err();
        let message = error.fault.to_string();
        assert_eq!(message, "array `x`: a series needs at least one row");
    }
    // A byte for each of two million columns is no reason for a gigabyte of names.
    let columns = 2_000_000;
    let shape = format!("(1, {columns})");
    let array = npy(1, &header("'|u1'", "False", &shape), &vec![0; columns]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npz");
    fs::write(&path, archive(&[("x.npy", &array)])).unwrap();
    let error = format::read(&path, &ReadOptions::default()).unwrap_err();
    assert!(error.fault.to_string().contains("would unfold"), "{error}");
}

/// Entries of an archive may be the same bytes, and each of them unfolds.
#[test]
fn the_arrays_of_an_archive_share_the_room() {
    let rows = 20_000_000;
    let array = npy(
        1,
        &header("'|u1'", "False", &format!("({rows},)")),
        &vec![0; rows],
    );
    let one = archive(&[("x.npy", &array)]);
    let two = archive(&[("x.npy", &array), ("y.npy", &array)]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npz");
    fs::write(&path, one).unwrap();
    format::read(&path, &ReadOptions::default()).unwrap();
    fs::write(&path, two).unwrap();
    let error = format::read(&path, &ReadOptions::default()).unwrap_err();
    let message = error.fault.to_string();
    assert!(message.starts_with("array `y`: 320"), "{message}");
}

/// A zip archive with these files, deflated.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated);
        archive.start_file(*name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn headers_that_are_not_understood() {
    for (text, expected) in [
        ("'descr'", "expected `{` at byte 0"),
        ("{'descr' '<f8'}", "expected `:` at byte 9"),
        ("{'descr': 8}", "expected a quoted word at byte 10"),
        ("{'fortran_order': 0}", "expected True or False at byte 18"),
        ("{'shape': 3}", "expected `(` at byte 10"),
        ("{'shape': (3 4)}", "expected `,` or `)` at byte 13"),
        ("{'shape': (-3,)}", "expected a length at byte 11"),
        (
            "{'colour': 3}",
            "expected `descr`, `fortran_order` or `shape` at byte 10",
        ),
        ("{'descr': '<f8'}", "expected `fortran_order` at byte 16"),
    ] {
        let (message, hint) = said(text, &[]);
        assert!(message.starts_with(expected), "{text}: {message}");
        assert!(hint.contains("numpy.save"));
    }
}

#[test]
fn infinite_elements_are_named_by_row_and_column() {
    let data: Vec<u8> = [0.0, 1.0, 2.0, f64::NEG_INFINITY]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let (message, _) = said(&header("'<f8'", "False", "(2, 2)"), &data);
    assert_eq!(
        message,
        "expected a finite number, found -inf on row 2, column 2 (`x2`)"
    );
    let missing: Vec<u8> = [f64::NAN; 4].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(
        said(&header("'<f8'", "False", "(2, 2)"), &missing).0,
        "all values are missing"
    );
}

#[test]
fn arrays_of_an_archive_are_trajectories_in_natural_order() {
    let named = |name: &str, x: f64| Trajectory {
        name: name.to_string(),
        ..Trajectory::new(vec![x])
    };
    let one = Series::from_rows(vec![0.0], 1, 1.0).unwrap();
    let series = one
        .with(vec![named("run10", 10.0), named("run9", 9.0)])
        .unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npz");
    assert_eq!(
        format::losses(&path, &series).unwrap(),
        ["the order of the trajectories"]
    );
    format::write(&path, &series).unwrap();
    let read = format::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(
        read.trajectories(),
        [named("run9", 9.0), named("run10", 10.0)]
    );
}

/// The interpreter to ask, if it has NumPy.
fn python() -> Option<String> {
    let python = std::env::var("ATTRACTOR_PYTHON").unwrap_or("python3".to_string());
    let asked = Command::new(&python).args(["-c", "import numpy"]).output();
    let found = asked.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: `{python}` has no NumPy");
    }
    found.then_some(python)
}

fn run_python(python: &str, folder: &Path, program: &str) {
    let output = Command::new(python)
        .current_dir(folder)
        .args(["-c", program])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Writes each array in every way, with its values as f8 little-endian beside it.
const NUMPY_WRITES: &str = r#"
import numpy as np, warnings
warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
for shape in [(7,), (5, 3), (1, 4), (6, 1)]:
    for kind in ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]:
        values = rng.normal(size=shape) * 50
        array = (abs(values) if kind[0] == "u" else values).astype(kind)
        for mark in "<>":
            for order in "CF":
                for version in [(1, 0), (2, 0), (3, 0)]:
                    stem = f"{len(shape)}-{shape[0]}-{kind.replace('?', 'b')}-{'lb'[mark == '>']}-{order}-{version[0]}"
                    with open(stem + ".npy", "wb") as file:
                        as_written = np.asarray(array.astype(array.dtype.newbyteorder(mark)), order=order)
                        np.lib.format.write_array(file, as_written, version=version)
                    array.astype("<f8").tofile(stem + ".raw")
a, b = np.arange(6.0).reshape(3, 2), np.arange(4, dtype=">i2").reshape(2, 2)
np.savez("stored.npz", run10=b, run9=a)
np.savez_compressed("deflated.npz", *[np.full((2, 2), i) for i in range(11)])
np.save("structured.npy", np.zeros(3, dtype=[("x", "f8"), ("y", "f4")]))
np.save("complex.npy", np.zeros(3, dtype=complex))
np.save("object.npy", np.array([1, None], dtype=object), allow_pickle=True)
"#;

#[test]
fn what_numpy_writes_is_read() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    run_python(&python, folder.path(), NUMPY_WRITES);
    let read = |name: &str| format::read(&folder.path().join(name), &ReadOptions::default());
    let mut compared = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "raw") {
            let raw = fs::read(&path).unwrap();
            let expected = raw
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().unwrap()));
            let series =
                format::read(&path.with_extension("npy"), &ReadOptions::default()).unwrap();
            let expected: Vec<f64> = expected.collect();
            assert_eq!(series.trajectories()[0].x, expected, "{}", path.display());
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * 11 * 2 * 2 * 3);
    let stored = read("stored.npz").unwrap();
    assert_eq!(stored.trajectories()[0].name, "run9");
    assert_eq!(stored.trajectories()[1].x, [0.0, 1.0, 2.0, 3.0]);
    let deflated = read("deflated.npz").unwrap();
    assert_eq!(
        deflated.column(0).step_by(2).collect::<Vec<_>>(),
        (0..11).map(f64::from).collect::<Vec<_>>()
    );
    assert!(deflated.trajectories().iter().all(|t| t.name.is_empty()));
    for name in ["structured.npy", "complex.npy", "object.npy"] {
        let message = read(name).unwrap_err().to_string();
        assert!(
            message.starts_with("expected numbers of type "),
            "{message}"
        );
    }
}

#[test]
fn what_we_write_numpy_reads() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let rows = |n: u32| (0..n).map(|i| f64::from(i) / 3.0 - 7.0).collect::<Vec<_>>();
    let one = Series::from_rows(rows(300_000), 3, 1.0).unwrap();
    let named = |name: &str, n| Trajectory {
        name: name.to_string(),
        ..Trajectory::new(rows(n))
    };
    let two = one
        .with(vec![named("left", 30), named("right", 9)])
        .unwrap();
    format::write(&folder.path().join("one.npy"), &one).unwrap();
    format::write(&folder.path().join("two.npz"), &two).unwrap();
    let program = r#"
import numpy as np
expected = lambda n: (np.arange(n) / 3.0 - 7.0).reshape(-1, 3)
one = np.load("one.npy")
assert one.dtype == np.float64 and one.flags.c_contiguous
np.testing.assert_array_equal(one, expected(300_000))
two = np.load("two.npz")
assert two.files == ["left", "right"], two.files
np.testing.assert_array_equal(two["left"], expected(30))
np.testing.assert_array_equal(two["right"], expected(9))
"#;
    run_python(&python, folder.path(), program);
}
