//! EDF and EDF+.

use super::by_hand::{Edf, Signal, ramp};
use super::*;
use attractor::series::{Gap, Step};

fn two() -> Edf {
    Edf::new(vec![
        Signal::new("EEG Fpz", ramp(3, 4)),
        Signal::new("EOG", ramp(3, 4)),
    ])
}

fn read(edf: &Edf) -> Result<Series, FormatError> {
    read_as("a.edf", &edf.bytes(), &ReadOptions::default())
}

#[test]
fn samples_are_scaled_to_physical_units() {
    let series = read(&two()).unwrap();
    assert_eq!(
        series.channels(),
        [channel("EEG Fpz", "uV"), channel("EOG", "uV")]
    );
    let second = Step {
        dt: 0.25,
        unit: "s".into(),
    };
    assert_eq!(*series.step(), second);
    assert_eq!(series.total_len(), 12);
    for (t, row) in series.rows().enumerate() {
        // x = −100 + (d + 1000) · 200/2000, three roundings of numbers up to 200.
        assert!(row.iter().all(|x| (x - 0.1 * t as f64).abs() < 1e-13));
    }
}

#[test]
fn a_count_of_minus_one_is_found_from_the_size() {
    let edf = Edf {
        records: "-1".into(),
        ..two()
    };
    assert_eq!(read(&edf).unwrap().total_len(), 12);
    // An interrupted recording ends within a record.
    let mut bytes = edf.bytes();
    bytes.truncate(bytes.len() - 3);
    let series = read_as("a.edf", &bytes, &ReadOptions::default()).unwrap();
    assert_eq!(series.total_len(), 8);
}

#[test]
fn annotations_are_no_channel_and_can_be_read() {
    let lists: [&[u8]; 3] = [
        b"+0\x14\x14\0+0.5\x15\x31\x14rest\x14\0",
        b"+1\x14\x14\0",
        b"+2\x14\x14\0+2.25\x14blink\x14\0",
    ];
    let mut edf = two();
    edf.signals.push(Signal::annotations(&lists, 20));
    edf.reserved = "EDF+C";
    let folder = TempDir::new().unwrap();
    let path = write(folder.path(), "a.edf", &edf.bytes());
    let series = format::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(names(&series), ["EEG Fpz", "EOG"]);
    let found = format::annotations(&path).unwrap();
    let said: Vec<_> = found
        .iter()
        .map(|a| (a.onset, a.duration, a.text.as_str()))
        .collect();
    assert_eq!(said, [(0.5, Some(1.0), "rest"), (2.25, None, "blink")]);
}

#[test]
fn jumps_of_a_discontinuous_file_are_gaps() {
    let lists: [&[u8]; 3] = [b"+0.5\x14\x14\0", b"+1.5\x14\x14\0", b"+7\x14\x14\0"];
    let mut edf = two();
    edf.signals.push(Signal::annotations(&lists, 10));
    edf.reserved = "EDF+D";
    let series = read(&edf).unwrap();
    let t = &series.trajectories()[0];
    assert_eq!(
        (t.start, t.gaps.as_slice()),
        (0.5, &[Gap { row: 8, time: 7.0 }][..])
    );

    edf.signals[2] = Signal::annotations(&[lists[0], lists[2], lists[1]], 10);
    let (message, _) = said(read(&edf));
    assert_eq!(message, "time goes from 7.75 to 1.5 on row 9");
    edf.signals[2] = Signal::annotations(&[lists[0], b"", lists[2]], 10);
    assert_eq!(said(read(&edf)).0, "record 2 does not say when it starts");
}

#[test]
fn channels_are_chosen_by_pattern_in_the_order_of_the_patterns() {
    let bytes = two().bytes();
    let chosen = read_as("a.edf", &bytes, &channels(&["eog", "E*"])).unwrap();
    assert_eq!(names(&chosen), ["EOG", "EEG Fpz"]);
    let (message, hint) = said(read_as("a.edf", &bytes, &channels(&["ECG*"])));
    assert_eq!(message, "no channel matches `ECG*`");
    assert_eq!(hint, "there are 2, numbered from 1: EEG Fpz, EOG");
}

#[test]
fn signals_of_different_rates_are_told_by_group_or_brought_to_one() {
    let mut edf = Edf::new(vec![
        Signal::new("EEG Fpz", ramp(3, 200)),
        Signal::new("Temp", ramp(3, 100)),
        Signal::new("EOG", ramp(3, 200)),
    ]);
    let (message, hint) = said(read(&edf));
    assert_eq!(
        message,
        "signals have different rates: 200 per unit of time (EEG Fpz, EOG), 100 per unit of time (Temp)"
    );
    assert_eq!(
        hint,
        "choose one group, as with --channels 'EEG Fpz,EOG', or resample all, as with --rate 200"
    );
    let one = read_as("a.edf", &edf.bytes(), &channels(&["Temp"])).unwrap();
    assert_eq!((one.step().dt, one.total_len()), (0.01, 300));
    let options = ReadOptions {
        rate: Some(200.0),
        ..ReadOptions::default()
    };
    let all = read_as("a.edf", &edf.bytes(), &options).unwrap();
    assert_eq!(names(&all), ["EEG Fpz", "Temp", "EOG"]);
    assert_eq!((all.step().dt, all.total_len()), (0.005, 600));
    for (t, row) in all.rows().enumerate() {
        // What has the rate already is not touched. A ramp between its samples is one too, to the ripple of 1e-4 of the 10
        // units that the kernel spans.
        assert!((row[0] - 0.1 * t as f64).abs() < 1e-13, "{row:?}");
        assert!((row[1] - 0.05 * t as f64).abs() < 1e-3, "{row:?}");
    }
    // Each record of a discontinuous file keeps its place.
    let lists: [&[u8]; 3] = [b"+0\x14\x14\0", b"+1\x14\x14\0", b"+9\x14\x14\0"];
    edf.signals.push(Signal::annotations(&lists, 10));
    edf.reserved = "EDF+D";
    let all = read_as("a.edf", &edf.bytes(), &options).unwrap();
    assert_eq!(
        all.trajectories()[0].gaps,
        [Gap {
            row: 400,
            time: 9.0
        }]
    );
}

#[test]
fn truncated_files_are_told_with_the_sizes() {
    let bytes = two().bytes();
    let (message, hint) = said(read_as(
        "a.edf",
        &bytes[..bytes.len() - 1],
        &ReadOptions::default(),
    ));
    assert_eq!(
        message,
        "expected 3 records of 16 bytes after the header, found 47 bytes (2 records)"
    );
    assert!(hint.contains("again"));
    for (length, expected) in [
        (0, "no data"),
        (100, "expected 256 bytes of header, found 100"),
        (300, "expected 768 bytes of header, found 300"),
    ] {
        let cut = read_as("a.edf", &bytes[..length], &ReadOptions::default());
        assert_eq!(said(cut).0, expected);
    }
}

#[test]
fn fields_that_are_not_numbers_are_named() {
    let wrong = |change: &dyn Fn(&mut Edf)| {
        let mut edf = two();
        change(&mut edf);
        said(read(&edf)).0
    };
    assert_eq!(
        wrong(&|edf| edf.records = "many".into()),
        "expected a whole number or -1 as number of records, found `many`"
    );
    assert_eq!(
        wrong(&|edf| edf.records = "-7".into()),
        "expected a whole number or -1 as number of records, found `-7`"
    );
    assert_eq!(
        wrong(&|edf| edf.duration = "1,0".into()),
        "expected a number of seconds as duration of a record, found `1,0`"
    );
    assert_eq!(
        wrong(&|edf| edf.duration = "0".into()),
        "expected a number above 0 as duration of a record, found `0`"
    );
    assert_eq!(
        wrong(&|edf| edf.signals[1].physical[0] = "low".into()),
        "expected a number as physical minimum of signal `EOG`, found `low`"
    );
    assert_eq!(
        wrong(&|edf| edf.signals[0].digital[1] = "1e3".into()),
        "expected a whole number as digital maximum of signal `EEG Fpz`, found `1e3`"
    );
    let mut bytes = two().bytes();
    bytes[0] = b'\xff';
    let version = said(read_as("a.edf", &bytes, &ReadOptions::default())).0;
    assert!(version.starts_with("expected 0 as version"), "{version}");
}

#[test]
fn a_range_of_nothing_is_told_with_its_signal() {
    let mut edf = two();
    edf.signals[1].digital = ["5".into(), "5".into()];
    let (message, hint) = said(read(&edf));
    assert_eq!(
        message,
        "signal `EOG` has the digital range 5 to 5, by which nothing can be scaled"
    );
    assert!(hint.contains("--channels"));
    // It does no harm where it is not used.
    assert!(read_as("a.edf", &edf.bytes(), &channels(&["EEG*"])).is_ok());
    let mut edf = two();
    edf.signals[0].physical = ["1".into(), "1".into()];
    assert!(said(read(&edf)).0.contains("physical range 1 to 1"));
}

#[test]
fn sizes_that_are_claimed_but_not_there_take_no_memory() {
    let mut bytes = two().bytes();
    // Samples per record stand after the other fields of the two signals.
    let at = 256 + 2 * (16 + 80 + 8 * 5 + 80);
    bytes[at..at + 8].copy_from_slice(b"99999999");
    let (message, _) = said(read_as("a.edf", &bytes, &ReadOptions::default()));
    assert!(message.contains("of 200000006 bytes"), "{message}");
}

#[test]
fn the_format_is_not_written() {
    let series = read(&two()).unwrap();
    let error = format::write(Path::new("b.edf"), &series).unwrap_err();
    assert_eq!(
        error.to_string(),
        "files of format edf are read, not written: b.edf"
    );
    let hint = error.hint().unwrap().to_string();
    assert_eq!(hint, "write to a file that ends in .csv");
}

#[test]
fn labels_that_come_twice_are_numbered() {
    let mut edf = two();
    edf.signals[1].label = "EEG Fpz".into();
    let onsets: [&[u8]; 3] = [b"+0\x14\x14\0", b"+1\x14\x14\0", b"+2\x14\x14\0"];
    edf.signals.insert(0, Signal::annotations(&onsets, 20));
    edf.signals.push(Signal::annotations(&[&[][..]; 3], 20));
    edf.signals.push(Signal::new("", ramp(3, 4)));
    edf.reserved = "EDF+C";
    let series = read(&edf).unwrap();
    assert_eq!(names(&series), ["EEG Fpz", "EEG Fpz (2)", "x3"]);
    let second = read_as("a.edf", &edf.bytes(), &channels(&["EEG Fpz (2)"])).unwrap();
    assert_eq!(names(&second), ["EEG Fpz (2)"]);
}
