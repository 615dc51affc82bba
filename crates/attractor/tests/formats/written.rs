//! What is written, what is refused and what is said to get lost.

use super::*;

fn error(name: &str, series: &Series) -> (String, String) {
    let folder = TempDir::new().unwrap();
    let error = format::write(&folder.path().join(name), series).unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    (error.to_string(), error.hint().unwrap().to_string())
}

fn series(inputs: usize, trajectories: Vec<Trajectory>) -> Series {
    let inputs = Channel::numbered("u", inputs);
    Series::new(
        Channel::numbered("x", 1),
        inputs,
        Step::default(),
        trajectories,
    )
    .unwrap()
}

fn one() -> Trajectory {
    Trajectory::new(vec![1.0, 2.0, 3.0])
}

#[test]
fn a_table_in_full() {
    let channels = vec![
        Channel {
            name: "V".to_string(),
            unit: "mV".to_string(),
        },
        Channel::named("time"),
    ];
    let left = Trajectory {
        name: "left".to_string(),
        start: 2.0,
        x: vec![1.5, f64::NAN, 1e-9, 3.0],
        s: vec![0.0, 1.0],
        gaps: vec![Gap { row: 1, time: 3.0 }],
        times: vec![],
    };
    let right = Trajectory {
        name: "right, or so".to_string(),
        gaps: vec![],
        ..left.clone()
    };
    let step = Step {
        dt: 0.1,
        unit: "s".to_string(),
    };
    let series = Series::new(channels, Channel::numbered("u", 1), step, vec![left, right]).unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    format::write(&path, &series).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "trajectory,time (dt=0.1) [s],V [mV],state:time,input:u1\n\
         left,2,1.5,NaN,0\n\
         left,3,1e-9,3,1\n\
         \"right, or so\",2,1.5,NaN,0\n\
         \"right, or so\",2.1,1e-9,3,1\n"
    );
    assert_same(
        &format::read(&path, &ReadOptions::default()).unwrap(),
        &series,
    );
}

#[test]
fn arrays_refuse_what_they_cannot_hold() {
    let two = series(0, vec![one(), one()]);
    let (message, hint) = error("a.npy", &two);
    assert!(message.starts_with("this format cannot hold several trajectories: "));
    assert_eq!(hint, "write to a file that ends in .npz");
    let with_input = Trajectory {
        s: vec![0.0; 3],
        ..one()
    };
    let with_gap = Trajectory {
        gaps: vec![Gap { row: 1, time: 9.0 }],
        ..one()
    };
    for name in ["a.npy", "a.npz"] {
        let (message, hint) = error(name, &series(1, vec![with_input.clone()]));
        assert!(message.starts_with("this format cannot hold external inputs: "));
        assert_eq!(hint, "write to a file that ends in .csv");
        let (message, _) = error(name, &series(0, vec![with_gap.clone()]));
        assert!(message.starts_with("this format cannot hold gaps in time: "));
    }
}

#[test]
fn names_and_jumps_that_would_not_be_read_back_are_refused() {
    let named = |name: &str| Trajectory {
        name: name.to_string(),
        ..one()
    };
    for name in ["a.csv", "a.npz"] {
        let (message, _) = error(name, &series(0, vec![named("s"), named("s")]));
        assert!(message.starts_with("two trajectories are named `s`"));
    }
    let (message, _) = error("a.csv", &series(0, vec![named(" s")]));
    assert!(message.starts_with("trajectory ` s` cannot be written"));
    let (message, _) = error("a.csv", &series(0, vec![named("(1)")]));
    assert!(message.starts_with("trajectory `(1)` cannot be written"));
    let back = Trajectory {
        gaps: vec![Gap { row: 2, time: 0.5 }],
        ..one()
    };
    let (message, hint) = error("a.csv", &series(0, vec![back]));
    assert!(
        message.starts_with("trajectory 1 jumps in time to 0.5 at row 3"),
        "{message}"
    );
    assert_eq!(hint, "split the trajectory there");
    let channel = Channel {
        name: "x".to_string(),
        unit: "a [b".to_string(),
    };
    let odd = Series::new(vec![channel], vec![], Step::default(), vec![one()]).unwrap();
    assert!(
        error("a.csv", &odd)
            .0
            .starts_with("channel `x` cannot be written")
    );
}

#[test]
fn what_gets_lost_is_said() {
    let series = Series::new(
        vec![Channel::named("V")],
        vec![],
        Step {
            dt: 0.5,
            unit: String::new(),
        },
        vec![Trajectory {
            start: 3.0,
            name: "left".to_string(),
            ..one()
        }],
    )
    .unwrap();
    let lost = |name: &str| format::losses(Path::new(name), &series).unwrap();
    let described = [
        "channel names",
        "the sampling step",
        "the time of the first row",
    ];
    assert_eq!(lost("a.npz"), described);
    assert_eq!(lost("a.npy")[3], "the trajectory's name");
    assert!(lost("a.csv").is_empty());
}

#[test]
fn the_data_of_the_paper_are_read() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("ATTRACTOR_DATA").map_or(PathBuf::from(default), PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: no folder {}", folder.display());
        return;
    }
    for (name, rows, dim_obs) in [
        ("ECG_pecuzal_5d_train.npy", 100_000, 5),
        ("ECG_pecuzal_5d_test.npy", 100_000, 5),
        ("EEG_train.npy", 9640, 64),
        ("lorenz63_on0.05_train.npy", 100_000, 3),
        ("lorenz63_test.npy", 100_000, 3),
    ] {
        let series = format::read(&folder.join(name), &ReadOptions::default()).unwrap();
        assert_eq!(
            (series.total_len(), series.dim_obs()),
            (rows, dim_obs),
            "{name}"
        );
        assert_eq!(series.missing(), 0);
    }
    let lorenz = format::read(&folder.join("lorenz63_test.npy"), &ReadOptions::default()).unwrap();
    assert_same(&written_and_read("lorenz.csv", &lorenz), &lorenz);
}

/// A spreadsheet runs cells that begin with `=`, `+`, `-` or `@`.
#[test]
fn no_name_is_a_formula() {
    let named = |name: &str| Trajectory {
        name: name.to_string(),
        ..Trajectory::new(vec![1.0, 2.0])
    };
    let names = ["=HYPERLINK(\"x\")", "'=x", "-2", "@y", "plain"];
    let series = Series::new(
        vec![Channel::named("=1+1"), Channel::named("+x")],
        vec![],
        Step::default(),
        names.map(named).to_vec(),
    );
    let series = series.unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    format::write(&path, &series).unwrap();
    assert_same(
        &format::read(&path, &ReadOptions::default()).unwrap(),
        &series,
    );
    let text = fs::read_to_string(&path).unwrap();
    let titles = "trajectory,time (dt=1.0),state:=1+1,state:+x\n";
    assert!(text.starts_with(titles), "{text}");
    for cell in text.split([',', '\n']) {
        let cell = cell.trim_start_matches('"');
        let is_number = cell.parse::<f64>().is_ok();
        assert!(
            is_number || !cell.starts_with(['=', '+', '-', '@']),
            "{cell}"
        );
    }
}
