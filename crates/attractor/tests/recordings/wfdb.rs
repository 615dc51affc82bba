//! WFDB records.

use super::*;

/// Writes a record and reads it by one of its files.
fn record(header: &str, samples: &[u8], by: &str) -> Result<Series, FormatError> {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "r.hea", header.as_bytes());
    write(folder.path(), "r.dat", samples);
    format::read(&folder.path().join(by), &ReadOptions::default())
}

const WORDS: &str = "\
# a comment
r 2 360/1000(0) 3 12:00:00 01/01/2020
r.dat 16 200(100)/mV 12 0 300 -32368 0 MLII
r.dat 16 10/uV 12 50 60 150 0 lead V5
# another
";

fn words(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn words_are_scaled_by_gain_and_baseline() {
    let samples = words(&[300, 60, 100, 50, i16::MIN, 40]);
    for by in ["r.hea", "r.dat"] {
        let series = record(WORDS, &samples, by).unwrap();
        assert_eq!(
            series.channels(),
            [channel("MLII", "mV"), channel("lead V5", "uV")]
        );
        assert_eq!(
            (series.step().dt, series.step().unit.as_str()),
            (1.0 / 360.0, "s")
        );
        let x = x_of(&series);
        assert_eq!(x[..4], [1.0, 1.0, 0.0, 0.0]);
        assert!(x[4].is_nan());
        assert_eq!(x[5], -1.0);
    }
}

#[test]
fn packed_samples_and_defaults() {
    // Without a gain it is 200 adu per mV, without a rate 250 per second, without a count all that is there.
    let series = record(
        "r 2\nr.dat 212\nr.dat 212 0 12 200\n",
        &[0xc8, 0x00, 0xc8, 0x38, 0xff, 0x00],
        "r.hea",
    );
    let series = series.unwrap();
    assert_eq!(series.step().dt, 0.004);
    assert_eq!(names(&series), ["x1", "x2"]);
    assert_eq!(
        x_of(&series),
        [1.0, 0.0, -200.0 / 200.0, (-256.0 - 200.0) / 200.0]
    );
}

#[test]
fn samples_that_do_not_add_up_are_refused() {
    // 300 + 100 − 32768 as in the header, with and without a sign, and one more.
    let samples = words(&[300, 60, 100, 50, i16::MIN, 40]);
    let unsigned = WORDS.replace("-32368", "33168");
    assert!(record(&unsigned, &samples, "r.hea").is_ok());
    let wrong = WORDS.replace("-32368", "-32367");
    let (message, hint) = said(record(&wrong, &samples, "r.hea"));
    assert_eq!(
        message,
        "r.dat: signal `MLII` has the checksum 33168, expected 33169"
    );
    assert!(hint.contains("download the record again"), "{hint}");
    let word = WORDS.replace("-32368", "none");
    let (message, hint) = said(record(&word, &samples, "r.hea"));
    assert_eq!(message, "expected a number as checksum, found `none`");
    assert!(hint.starts_with("the header is damaged"), "{hint}");
}

#[test]
fn samples_beyond_those_claimed_are_left_out_with_a_remark() {
    let folder = TempDir::new().unwrap();
    let path = write(folder.path(), "r.hea", WORDS.as_bytes());
    let samples = words(&[300, 60, 100, 50, i16::MIN, 40]);
    let remarks = |more: &[i16]| {
        write(
            folder.path(),
            "r.dat",
            &[&samples[..], &words(more)].concat(),
        );
        let series = format::read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(series.total_len(), 3);
        format::remarks(&path, &ReadOptions::default())
    };
    assert!(remarks(&[]).is_empty());
    assert_eq!(
        remarks(&[7, 7, 7, 7]),
        ["r.dat has 5 samples of each signal, the header says 3: the others are not read"]
    );
    // Three numbers of 12 bits end within three bytes, which may be written whole.
    write(folder.path(), "r.hea", b"r 1 360 3\nr.dat 212\n");
    for (bytes, expected) in [(5, 0), (6, 0), (9, 1)] {
        write(folder.path(), "r.dat", &vec![1; bytes]);
        let remarks = format::remarks(&path, &ReadOptions::default());
        assert_eq!(remarks.len(), expected, "{bytes} bytes: {remarks:?}");
    }
}

#[test]
fn a_record_is_all_of_its_files() {
    let folder = TempDir::new().unwrap();
    let header = "r 3\nr.dat 16\ns.dat 16\n../t.dat 16\n";
    write(folder.path(), "r.hea", header.as_bytes());
    write(folder.path(), "r.dat", b"");
    for named in ["r.hea", "r.dat"] {
        let mut files = format::files_of(&folder.path().join(named));
        files.sort();
        files.dedup();
        let expected = ["r.dat", "r.hea", "s.dat"].map(|name| folder.path().join(name));
        assert_eq!(files, expected);
    }
    let table = folder.path().join("s.dat");
    assert_eq!(format::files_of(&table), [table]);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let told = |header: &str, samples: &[u8]| said(record(header, samples, "r.hea")).0;
    assert_eq!(
        told(WORDS, &words(&[1; 5])),
        "r.dat: expected 12 bytes of samples, found 10"
    );
    assert_eq!(
        told("r 1\nr.dat 80\n", &[]),
        "expected 16 or 212 as signal format, found `80`"
    );
    assert_eq!(
        told("r x\nr.dat 16\n", &[]),
        "expected a number as number of signals, found `x`"
    );
    assert_eq!(
        told("r 1 0\nr.dat 16\n", &[]),
        "expected a number above 0 as sampling rate, found `0`"
    );
    assert_eq!(
        told("r 3\nr.dat 16\n", &[]),
        "expected 1, as there are lines of signals, as number of signals, found `3`"
    );
    assert_eq!(
        told("r/2 1\n", &[]),
        "expected a record of one segment as record, found `r/2`"
    );
    assert_eq!(
        told("r 1\n../r.dat 16\n", &[]),
        "expected the name of a file beside the header as signal file, found `../r.dat`"
    );
    assert_eq!(told("r 1\nother.dat 16\n", &[]), "other.dat: no such file");
    assert_eq!(told("# nothing\n", &[]), "no data");
    assert_eq!(told("r 1\nr.dat 16\n", &[]), "no data");
}

#[test]
fn a_text_table_without_a_header_beside_it_is_one() {
    let series = read_as("a.dat", b"1 2\n3 4\n", &ReadOptions::default()).unwrap();
    assert_eq!((series.dim_obs(), series.total_len()), (2, 2));
}
