//! What a user may set, as written and as it is understood.

use super::*;
use crate::format::{Column, Decimal, Delimiter, Header, ReadOptions};

fn check(given: &[(&str, &str, Origin)]) -> Result<Experiment, ExperimentError> {
    let mut raw = Raw::default();
    for (name, text, origin) in given {
        raw.push(name, text, origin.clone());
    }
    Experiment::check(&raw)
}

fn line(line: usize) -> Origin {
    Origin::File {
        path: "lorenz.toml".into(),
        line,
    }
}

fn series(rows: usize, channels: usize) -> Series {
    let x = (0..rows * channels).map(|i| (i as f64).sin()).collect();
    Series::from_rows(x, channels, 1.0).unwrap()
}

#[test]
fn mistakes_are_told_with_their_place() {
    let said = |given: &[(&str, &str, Origin)]| {
        let error = check(given).unwrap_err();
        (error.to_string(), error.hint().unwrap().to_string())
    };
    let (what, hint) = said(&[("aplha", "0.1", line(9))]);
    assert_eq!(what, "unknown setting `aplha` (line 9 of lorenz.toml)");
    assert_eq!(hint, "did you mean `alpha`?");
    // The place is that of the wrong value, even if a later one would win.
    let (what, _) = said(&[("alpha", "2", line(3)), ("alpha", "0.5", Origin::Flag)]);
    assert_eq!(
        what,
        "`alpha` must be a number from 0 to 1, found `2` (line 3 of lorenz.toml)"
    );
    let (what, hint) = said(&[("batch", "0", Origin::Set)]);
    assert!(what.ends_with("found `0` (--set)"), "{what}");
    assert_eq!(hint, "the default is 16");
}

#[test]
fn later_values_win() {
    let experiment = check(&[("alpha", "0.2", line(1)), ("alpha", "0.5", Origin::Flag)]);
    assert_eq!(experiment.unwrap().settings().real("alpha"), 0.5);
    let mut raw = Raw::default();
    raw.preset("paper").unwrap();
    let paper = Experiment::check(&raw).unwrap();
    assert_eq!(paper.settings().choice("observation-start"), "random");
    let unknown = raw.preset("papre").unwrap_err();
    assert_eq!(unknown.hint().unwrap().to_string(), "did you mean `paper`?");
}

#[test]
fn sizes_follow_from_the_data() {
    let experiment = check(&[("window", "5", Origin::Flag)]).unwrap();
    let latent = |channels| {
        let resolved = experiment.resolve(&series(20, channels)).unwrap();
        let Job::Train(training) = &resolved.job else {
            panic!("it is trained");
        };
        let theta = training.trainer.start().theta;
        let dim = training.trainer.dynamics(&theta).sizes().dim;
        assert_eq!(dim, resolved.experiment.settings().integer("latent"));
        dim
    };
    assert_eq!((latent(3), latent(20), latent(21)), (3, 20, 16));
}

#[test]
fn smoothing_wider_than_the_data_is_refused() {
    // A Gaussian of 25 rows reaches over 8·25 + 1.
    let smooth = |sigma| {
        check(&[
            ("smooth", sigma, Origin::Flag),
            ("window", "5", Origin::Flag),
        ])
    };
    assert!(smooth("25").unwrap().resolve(&series(201, 1)).is_ok());
    let wide = smooth("25")
        .unwrap()
        .resolve(&series(200, 1))
        .err()
        .unwrap();
    assert_eq!(
        wide.to_string(),
        "smoothing over 201 rows needs as many without a gap, the longest stretch has 200"
    );
    assert_eq!(
        wide.hint().unwrap().to_string(),
        "use `--smooth 24` or less"
    );
}

#[test]
fn data_that_do_not_fit_are_refused() {
    let experiment = |name, text| check(&[(name, text, Origin::Flag)]).unwrap();
    let long = experiment("window", "20").resolve(&series(20, 2));
    assert_eq!(
        long.err().unwrap().hint().unwrap().to_string(),
        "use `--window 19` or less"
    );
    let small = check(&[
        ("latent", "2", Origin::Flag),
        ("observation", "identity", Origin::Flag),
    ]);
    let small = small.unwrap().resolve(&series(300, 3)).err().unwrap();
    assert!(matches!(
        small,
        ExperimentError::Fit(FitError::Architecture(_))
    ));
    let mut x = vec![0.5; 600];
    x[5] = -1e20;
    x[7] = 1e30;
    x[8] = 1e25;
    let large = Series::from_rows(x, 2, 1.0).unwrap();
    let plain = check(&[
        ("window", "5", Origin::Flag),
        ("standardize", "off", Origin::Flag),
    ]);
    let large = plain.unwrap().resolve(&large).err().unwrap();
    assert_eq!(
        large.to_string(),
        "channel `x2` reaches 1e30, too large for training in single precision"
    );
    // 65536 windows of 101 rows, 2 · 65536 numbers and more a row: above 3 TiB.
    let greedy = check(&[
        ("batch", "65536", Origin::Flag),
        ("hidden", "65536", Origin::Flag),
        ("window", "100", Origin::Flag),
    ]);
    let greedy = greedy.unwrap().resolve(&series(300, 2)).err().unwrap();
    assert!(matches!(
        greedy,
        ExperimentError::Fit(FitError::Memory { gib: 3200.. })
    ));
}

/// Standardised, any scale trains; as they are, such data are beyond single precision.
#[test]
fn data_of_any_scale_train_once_they_are_standardised() {
    for scale in [1e-300, 1e300] {
        let wave = |i: i32| scale * f64::from(i).sin();
        let recording = Series::from_rows((0..600).map(wave).collect(), 2, 1.0).unwrap();
        let resolve = |standardize| {
            let settings = [
                ("window", "5", Origin::Flag),
                ("standardize", standardize, Origin::Flag),
            ];
            check(&settings).unwrap().resolve(&recording)
        };
        let scaling = resolve("auto").unwrap().data.scaling.clone();
        // √½ of a sine over some hundred periods.
        let near = |sd: &f64| (sd / scale - 0.5f64.sqrt()).abs() < 0.01;
        assert!(scaling.sd.iter().all(near), "{scaling:?}");
        let refused = resolve("off").err().unwrap();
        let told = refused
            .to_string()
            .contains("for training in single precision");
        assert!(told && refused.hint().is_some(), "{refused}");
    }
}

#[test]
fn a_written_experiment_is_read_back_as_it_is() {
    let experiment = check(&[
        ("lr", "0.0025", Origin::Flag),
        ("model", "plrnn", Origin::Flag),
        ("seed", "9223372036854775807", Origin::Flag),
    ]);
    let experiment = experiment.unwrap();
    let data = DataSource {
        path: "a \"b\"\\c.npy".into(),
        options: ReadOptions {
            dt: Some(0.1),
            time: Some(Column::none()),
            input: vec![Column::Name("µ \"u\"".into())],
            trajectory: Some(Column::Index(4)),
            delimiter: Some(Delimiter::Tab),
            decimal: Some(Decimal::Comma),
            header: Some(Header::Absent),
            channels: vec![Column::Name("EEG *".into()), Column::Index(3)],
            array: Some("x".into()),
            from: Some("row:3".parse().unwrap()),
            to: Some("1950-01-31T12:30:05.5".parse().unwrap()),
            missing: vec![-99.99, 9999.0],
            resample: Some(0.25),
            grid: Some(0.125),
            own_times: Some(0.5),
            only_trajectories: vec!["s1".parse().unwrap(), "(2)".parse().unwrap()],
            rate: Some(100.0),
        },
        prepare: "smooth gaussian:6; standardize".parse().unwrap(),
    };
    let text = experiment.to_toml(&data);
    let file = ExperimentFile::parse(&text, Path::new("a")).unwrap();
    assert_eq!(file.data, Some(data), "{text}");
    assert_eq!(Experiment::check(&file.raw).unwrap(), experiment);
}
