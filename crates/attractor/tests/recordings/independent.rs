//! Agreement with the libraries of the formats: files that they wrote, kept under `tests/data`, and files that they write
//! and read in the same run where Python has them.

use std::path::PathBuf;
use std::process::Command;

use super::*;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// Runs a Python program that prints numbers, in a folder; none where Python or one of its packages is missing.
fn python(folder: &Path, modules: &str, program: &str) -> Option<Vec<f64>> {
    let python = std::env::var("ATTRACTOR_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python)
        .args(["-c", &format!("import {modules}")])
        .output();
    if !has.is_ok_and(|has| has.status.success()) {
        println!("skipped: Python has not all of {modules}");
        return None;
    }
    let done = Command::new(&python)
        .args(["-c", program])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let text = String::from_utf8(done.stdout).unwrap();
    Some(
        text.split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect(),
    )
}

#[test]
fn records_of_the_wfdb_library() {
    for format in ["16", "212"] {
        for end in ["hea", "dat"] {
            let path = data(&format!("wfdb{format}.{end}"));
            let series = format::read(&path, &ReadOptions::default()).unwrap();
            assert_eq!(
                series.channels(),
                [channel("MLII", "mV"), channel("V5", "uV")]
            );
            assert_eq!((series.total_len(), series.step().dt), (500, 1.0 / 360.0));
            for (t, row) in series.rows().enumerate() {
                let t = t as f64;
                // Half a digital unit of gain 200 and 400.
                assert!((row[0] - (0.05 * t).sin()).abs() <= 0.0025 + 1e-12);
                assert!((row[1] - 0.5 * (0.03 * t).cos()).abs() <= 0.00125 + 1e-12);
            }
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_of_pyarrow() {
    let options = ReadOptions {
        trajectory: Some("subject".parse().unwrap()),
        ..ReadOptions::default()
    };
    for packing in ["snappy", "gzip", "lz4"] {
        let series = format::read(&data(&format!("pyarrow-{packing}.parquet")), &options).unwrap();
        assert_eq!(names(&series), ["x", "y", "count", "flag"]);
        assert_eq!(series.channels()[0].unit, "mV");
        let parts: Vec<_> = series
            .trajectories()
            .iter()
            .map(|t| (t.name.as_str(), t.start))
            .collect();
        assert_eq!(parts, [("left", 1.7e9), ("right", 1.7e9 + 50.0)]);
        assert_eq!(series.step().dt, 0.25);
        for (i, row) in series.rows().enumerate() {
            let t = i as f64;
            // NumPy's sine and ours may differ in the last bit.
            assert!((row[0] - (0.1 * t).sin()).abs() < 1e-15);
            assert!(if i % 7 == 3 {
                row[1].is_nan()
            } else {
                row[1] == t
            });
            assert_eq!(row[2..], [t * t - 1000.0, f64::from(u8::from(i % 2 == 0))]);
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_that_cannot_be_read_says_why() {
    let (message, hint) = said(format::read(
        &data("pyarrow-snappy.parquet"),
        &ReadOptions::default(),
    ));
    assert_eq!(
        message,
        "expected a column of numbers, found BYTE_ARRAY in column 6 (`subject`)"
    );
    assert!(hint.contains("--trajectory"));
    let (message, hint) = said(format::read(
        &data("pyarrow-zstd.parquet"),
        &channels(&["x"]),
    ));
    assert_eq!(message, "columns compressed by zstd are not read");
    assert!(hint.contains("compression=\"snappy\""), "{hint}");
    let (message, hint) = said(read_as(
        "a.parquet",
        b"PAR1 is not enough PAR1",
        &ReadOptions::default(),
    ));
    assert!(
        message.starts_with("this Parquet file cannot be read"),
        "{message}"
    );
    assert!(hint.contains("to_parquet"), "{hint}");
}

#[cfg(feature = "parquet")]
#[test]
fn nulls_without_end_are_refused() {
    // Written byte by byte: a run of 2·10⁹ nulls of 8 bytes, with as many rows claimed, and with three.
    for (name, expected) in [
        (
            "found/claimed-nulls.parquet",
            "16000000000 bytes would unfold from 109",
        ),
        (
            "found/hidden-nulls.parquet",
            "this Parquet file cannot be read: a column is longer than its group of rows",
        ),
    ] {
        let (message, hint) = said(format::read(&data(name), &ReadOptions::default()));
        assert!(message.starts_with(expected), "{message}");
        assert!(!hint.is_empty());
    }
}

#[test]
fn matrices_that_scipy_writes() {
    let folder = TempDir::new().unwrap();
    let program = "
import numpy as np, scipy.io
x = np.random.default_rng(1).normal(size=(70, 3))
more = {'small': np.arange(4, dtype='i2'), 's': {'a': 1}, 'c': np.array([1, 'b'], dtype=object), 't': 'text', 'z': np.array([1j])}
for name, packed in [('plain', False), ('packed', True)]:
    scipy.io.savemat(name + '.mat', {'x': x, **more}, do_compression=packed)
scipy.io.savemat('four.mat', {'k': (np.arange(12).reshape(6, 2) - 5).astype('i4')})
print(*map(repr, x.ravel().tolist()))
";
    let Some(expected) = python(folder.path(), "numpy, scipy.io", program) else {
        return;
    };
    for name in ["plain.mat", "packed.mat"] {
        let series = format::read(&folder.path().join(name), &ReadOptions::default()).unwrap();
        assert_eq!(x_of(&series), expected);
        let small = ReadOptions {
            array: Some("small".into()),
            ..ReadOptions::default()
        };
        let small = format::read(&folder.path().join(name), &small).unwrap();
        assert_eq!(x_of(&small), [0.0, 1.0, 2.0, 3.0]);
        for (array, kind) in [
            ("s", "struct"),
            ("c", "cell array"),
            ("t", "text"),
            ("z", "complex matrix"),
        ] {
            let options = ReadOptions {
                array: Some(array.into()),
                ..ReadOptions::default()
            };
            let (message, _) = said(format::read(&folder.path().join(name), &options));
            assert_eq!(
                message,
                format!("array `{array}` is a {kind}, not a table of numbers")
            );
        }
    }
    let whole = format::read(&folder.path().join("four.mat"), &ReadOptions::default()).unwrap();
    assert_eq!(x_of(&whole), (-5..7).map(f64::from).collect::<Vec<_>>());
}

#[cfg(feature = "hdf5")]
#[test]
fn datasets_that_h5py_writes() {
    let folder = TempDir::new().unwrap();
    let program = "
import numpy as np, h5py
x = np.random.default_rng(2).normal(size=(300, 3))
for name, kind in [('old', 'earliest'), ('new', 'latest')]:
    with h5py.File(name + '.h5', 'w', libver=kind) as f:
        f['short'] = np.arange(5, dtype='>i2')
        f.create_dataset('g/x', data=x, chunks=(64, 2), compression='gzip', shuffle=True)
        f['text'] = 'abc'
with h5py.File('matlab.mat', 'w', userblock_size=512) as f:
    d = f.create_dataset('x', data=x.T)
    d.attrs['MATLAB_class'] = np.bytes_('double')
    f['t'] = np.array([[97]], dtype='u2')
    f['t'].attrs['MATLAB_class'] = np.bytes_('char')
print(*map(repr, x.ravel().tolist()))
";
    let Some(expected) = python(folder.path(), "numpy, h5py", program) else {
        return;
    };
    for name in ["old.h5", "new.h5", "matlab.mat"] {
        let series = format::read(&folder.path().join(name), &ReadOptions::default()).unwrap();
        assert_eq!(
            (series.dim_obs(), x_of(&series)),
            (3, expected.as_slice()),
            "{name}"
        );
    }
    let short = ReadOptions {
        array: Some("short".into()),
        ..ReadOptions::default()
    };
    let short = format::read(&folder.path().join("new.h5"), &short).unwrap();
    assert_eq!(x_of(&short), [0.0, 1.0, 2.0, 3.0, 4.0]);
}

#[cfg(feature = "hdf5")]
#[test]
fn variables_of_netcdf4_over_months() {
    let read = |options: &ReadOptions| format::read(&data("netcdf4.nc"), options);
    let series = read(&ReadOptions::default()).unwrap();
    assert_eq!(
        series.channels(),
        [channel("nino", "K"), channel("packed", "hPa")]
    );
    let step = series.step();
    assert_eq!((step.dt, step.unit.as_str()), (1.0, "month"));
    let t = &series.trajectories()[0];
    // January 1950 is 240 months before 1970, and the 21st month is not there.
    assert_eq!(
        (t.start, t.gaps.len(), t.gaps[0].row, t.gaps[0].time),
        (-240.0, 1, 20, -219.0)
    );
    for (i, row) in series.rows().enumerate() {
        let n = i as f64;
        // Single precision.
        assert!(if i == 7 {
            row[0].is_nan()
        } else {
            (row[0] - (0.3 * n).sin()).abs() < 1e-7
        });
        assert!(if i == 3 {
            row[1].is_nan()
        } else {
            row[1] == 0.5 * n + 10.0
        });
    }
    let field = ReadOptions {
        array: Some("sst".into()),
        ..ReadOptions::default()
    };
    let field = read(&field).unwrap();
    assert_eq!(names(&field), ["sst[1]", "sst[2]"]);
    assert_eq!(x_of(&field)[2..4], [1.0, -1.0]);
    let (message, hint) = said(read(&ReadOptions {
        array: Some("lat".into()),
        ..ReadOptions::default()
    }));
    assert!(
        message.starts_with("array `lat` is a variable without the coordinate of time"),
        "{message}"
    );
    assert!(hint.contains("nino [39]"), "{hint}");
    let (message, hint) = said(read_as("a.nc", b"CDF\x01", &ReadOptions::default()));
    assert_eq!(message, "files of classic netCDF (version 3) are not read");
    assert!(hint.contains("NETCDF4"), "{hint}");
}

#[test]
fn recordings_that_edfio_writes() {
    let folder = TempDir::new().unwrap();
    let program = "
import numpy as np, edfio
t = np.arange(2000) / 200
x = [np.sin(t) * 50, np.cos(3 * t) * 20 + 5]
signals = [edfio.EdfSignal(v, 200, label=n, physical_dimension='uV', physical_range=(-100, 100)) for v, n in zip(x, ['EEG Fpz', 'EOG l'])]
notes = [edfio.EdfAnnotation(0.5, 2, 'rest'), edfio.EdfAnnotation(7.25, None, 'blink')]
edf = edfio.Edf(signals, annotations=notes)
edf.write('a.edf')
read = edfio.read_edf('a.edf')
print(*[repr(float(v)) for v in np.stack([s.data for s in read.signals], axis=1).ravel()])
";
    let Some(expected) = python(folder.path(), "numpy, edfio", program) else {
        return;
    };
    let path = folder.path().join("a.edf");
    let series = format::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(
        series.channels(),
        [channel("EEG Fpz", "uV"), channel("EOG l", "uV")]
    );
    assert_eq!((series.step().dt, series.total_len()), (0.005, 2000));
    for (ours, theirs) in x_of(&series).iter().zip(&expected) {
        // Both scale 16-bit numbers to a range of 200; a few roundings of numbers up to 200.
        assert!((ours - theirs).abs() < 1e-12);
    }
    let notes = format::annotations(&path).unwrap();
    let notes: Vec<_> = notes
        .iter()
        .map(|n| (n.onset, n.duration, n.text.as_str()))
        .collect();
    assert_eq!(notes, [(0.5, Some(2.0), "rest"), (7.25, None, "blink")]);
}

#[test]
fn the_recording_that_pyedflib_comes_with() {
    let folder = TempDir::new().unwrap();
    let program = "
import numpy as np, pyedflib, os, shutil
path = os.path.join(os.path.dirname(pyedflib.__file__), 'data', 'test_generator.edf')
shutil.copy(path, 'a.edf')
with pyedflib.EdfReader(path) as f:
    labels = f.getSignalLabels()
    rows = f.getNSamples()
    print(len(labels), f.getSampleFrequency(0), rows[0])
    for i in range(len(labels)):
        print(*[repr(float(v)) for v in f.readSignal(i)[::97]])
";
    let Some(printed) = python(folder.path(), "numpy, pyedflib", program) else {
        return;
    };
    let (channels, rate, rows) = (printed[0] as usize, printed[1], printed[2] as usize);
    let series = format::read(&folder.path().join("a.edf"), &ReadOptions::default()).unwrap();
    assert_eq!((series.dim_obs(), series.total_len()), (channels, rows));
    assert!((series.step().dt * rate - 1.0).abs() < 1e-12);
    let expected = printed[3..].chunks(rows.div_ceil(97));
    for (channel, expected) in expected.enumerate() {
        let largest = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        for (ours, theirs) in series.column(channel).step_by(97).zip(expected) {
            assert!(
                (ours - theirs).abs() < 1e-12 * largest,
                "{channel}: {ours} {theirs}"
            );
        }
    }
}
