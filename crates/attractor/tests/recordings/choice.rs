//! What is chosen of a recording: rows, rate and channels; and what is only explained how to convert.

use super::*;
use attractor::format::Moment;

const CSV: &[u8] =
    b"time [s],EEG 1 [uV],EEG 2 [uV],note\n0,1,10,a\n0.5,2,20,b\n1,3,30,c\n1.5,4,40,d\n";

#[test]
fn channels_times_and_rows_of_a_text_table() {
    let options = ReadOptions {
        from: Some(Moment::Time(0.5)),
        to: Some("row:4".parse().unwrap()),
        ..channels(&["EEG *"])
    };
    let series = read_as("a.csv", CSV, &options).unwrap();
    assert_eq!(
        series.channels(),
        [channel("EEG 1", "uV"), channel("EEG 2", "uV")]
    );
    assert_eq!(x_of(&series), [2.0, 20.0, 3.0, 30.0]);
    assert_eq!(series.trajectories()[0].start, 0.5);
}

/// What was asked for first comes first, whether it is a name, a number or a pattern; what has another role is left alone.
#[test]
fn channels_by_name_number_and_pattern() {
    let names = |list: &[&str]| {
        let series = read_as("a.csv", CSV, &channels(list)).unwrap();
        let names = series.channels().iter().map(|channel| channel.name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&["3", "EEG 1"]), ["EEG 2", "EEG 1"]);
    assert_eq!(names(&["eeg 2", "2"]), ["EEG 2", "EEG 1"]);
    assert_eq!(names(&["EEG 2", "*1"]), ["EEG 2", "EEG 1"]);
}

#[test]
fn an_empty_choice_is_an_error() {
    let options = ReadOptions {
        from: Some(Moment::Time(7.0)),
        ..channels(&["EEG *"])
    };
    let (message, hint) = said(read_as("a.csv", CSV, &options));
    assert_eq!(message, "no row lies from 7: times are 0 to 1.5");
    assert!(hint.contains("row:1000"));
    assert_eq!(
        said(read_as("a.csv", CSV, &channels(&["EMG *"]))).0,
        "no channel matches `EMG *`"
    );
    assert_eq!(
        said(read_as("a.csv", CSV, &channels(&["EMG"]))).0,
        "no column is named `EMG`"
    );
}

#[test]
fn another_rate_keeps_names_units_and_start() {
    let rows: String = (0..400)
        .map(|t| {
            format!(
                "{},{}\n",
                3.0 + 0.01 * f64::from(t),
                (0.05 * f64::from(t)).sin()
            )
        })
        .collect();
    let text = format!("time [s],x [mV]\n{rows}");
    let options = ReadOptions {
        rate: Some(50.0),
        ..ReadOptions::default()
    };
    let series = read_as("a.csv", text.as_bytes(), &options).unwrap();
    assert_eq!(series.channels(), [channel("x", "mV")]);
    assert_eq!((series.step().dt, series.step().unit.as_str()), (0.02, "s"));
    assert_eq!(
        (series.total_len(), series.trajectories()[0].start),
        (200, 3.0)
    );
    for (t, x) in x_of(&series).iter().enumerate().skip(60).take(80) {
        assert!((x - (0.1 * t as f64).sin()).abs() < 1e-4);
    }
    let odd = ReadOptions {
        rate: Some(std::f64::consts::PI),
        ..options.clone()
    };
    assert!(
        said(read_as("a.csv", text.as_bytes(), &odd))
            .0
            .contains("is no ratio of whole numbers")
    );
    let none = ReadOptions {
        rate: Some(-1.0),
        ..options
    };
    assert_eq!(
        said(read_as("a.csv", text.as_bytes(), &none)).0,
        "a rate is a number above 0, found -1"
    );
}

#[test]
fn pickles_and_feather_files_are_told_how_to_convert() {
    for (name, line) in [("S1.pkl", "np.save"), ("a.feather", "write_table")] {
        let (message, hint) = said(read_as(name, b"x", &ReadOptions::default()));
        assert!(message.ends_with("are not read"), "{message}");
        assert!(
            hint.starts_with("in Python: import") && hint.contains(line),
            "{hint}"
        );
    }
    let missing = format::read(Path::new("no-such.pkl"), &ReadOptions::default());
    assert_eq!(said(missing).0, "no such file");
}
