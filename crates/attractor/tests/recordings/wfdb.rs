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
r.dat 16 200(100)/mV 12 0 300 0 0 MLII
r.dat 16 10/uV 12 50 60 0 0 lead V5
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
    // Without a gain it is 200 adu per mV, without a rate 250 a second, without a count all that is there.
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
fn mistakes_are_told_with_their_place() {
    let told = |header: &str, samples: &[u8]| said(record(header, samples, "r.hea")).0;
    assert_eq!(
        told(WORDS, &words(&[1; 5])),
        "r.dat: 12 bytes of samples expected, 10 found"
    );
    assert_eq!(
        told("r 1\nr.dat 80\n", &[]),
        "16 or 212 expected as signal format, found `80`"
    );
    assert_eq!(
        told("r x\nr.dat 16\n", &[]),
        "a number expected as number of signals, found `x`"
    );
    assert_eq!(
        told("r 1 0\nr.dat 16\n", &[]),
        "a number above 0 expected as sampling rate, found `0`"
    );
    assert_eq!(
        told("r 3\nr.dat 16\n", &[]),
        "1, as there are lines of signals, expected as number of signals, found `3`"
    );
    assert_eq!(
        told("r/2 1\n", &[]),
        "a record of one segment expected as record, found `r/2`"
    );
    assert_eq!(
        told("r 1\n../r.dat 16\n", &[]),
        "the name of a file beside the header expected as signal file, found `../r.dat`"
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
