//! Laws of all formats: a series that is written is read back as it was, whatever bytes a file has nothing
//! panics, and every mistake in a file gets the message that names its place.

use std::fs;
use std::path::{Path, PathBuf};

use attractor::format::{self, Column, Fault, ReadOptions};
use attractor::series::{Channel, Gap, Series, Step, Trajectory};
use proptest::prelude::*;
use tempfile::TempDir;

/// Reads a file with this content under this name.
fn read_as(
    name: &str,
    content: &[u8],
    options: &ReadOptions,
) -> Result<Series, format::FormatError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    format::read(&path, options)
}

fn csv(content: &str) -> Result<Series, format::FormatError> {
    read_as("a.csv", content.as_bytes(), &ReadOptions::default())
}

fn columns(list: &[&str]) -> Vec<Column> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

fn names(channels: &[Channel]) -> Vec<&str> {
    channels.iter().map(|c| c.name.as_str()).collect()
}

/// Equality in which NaN equals NaN.
fn assert_same(a: &Series, b: &Series) {
    let blank = |series: &Series| {
        let trajectories = series.trajectories().iter().cloned().map(|t| Trajectory {
            x: vec![0.0; t.x.len()],
            s: vec![0.0; t.s.len()],
            ..t
        });
        series.with(trajectories.collect()).unwrap()
    };
    assert_eq!(blank(a), blank(b));
    let bits = |series: &Series| -> Vec<u64> {
        let values = series
            .trajectories()
            .iter()
            .flat_map(|t| t.x.iter().chain(&t.s));
        values
            .map(|v| {
                if v.is_nan() {
                    0x7ff8 << 48
                } else {
                    v.to_bits()
                }
            })
            .collect()
    };
    assert_eq!(bits(a), bits(b));
}

fn written_and_read(name: &str, series: &Series) -> Series {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    format::write(&path, series).unwrap();
    format::read(&path, &ReadOptions::default()).unwrap()
}

mod text {
    use super::*;

    #[test]
    fn a_plain_table() {
        let series = csv("x,y [mV]\n1,2.5\n-3e2,4\n").unwrap();
        assert_eq!(names(series.channels()), ["x", "y"]);
        assert_eq!(series.channels()[1].unit, "mV");
        assert_eq!(series.trajectories()[0].x, [1.0, 2.5, -300.0, 4.0]);
        assert_eq!(series.step(), &Step::default());
    }

    #[test]
    fn without_header_columns_are_numbered() {
        let series = csv("1,2\n3,4\n").unwrap();
        assert_eq!(names(series.channels()), ["x1", "x2"]);
        assert_eq!(series.total_len(), 2);
    }

    #[test]
    fn bom_comments_quotes_and_line_ends() {
        let text =
            "\u{feff}# made by hand\r\n\"x\",\"y, or so\"\r\n1,\"2\"\r\n# pause\r\n3,4\r\n\r\n\r\n";
        let series = csv(text).unwrap();
        assert_eq!(names(series.channels()), ["x", "y, or so"]);
        assert_eq!(series.trajectories()[0].x, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(csv("x,y\r1,2\r3,4\r").unwrap().total_len(), 2);
        assert_eq!(csv("x,y\n1,2\n3,4").unwrap().total_len(), 2);
    }

    #[test]
    fn latin_1_titles() {
        let series = read_as("a.csv", b"V [\xb5V]\n1\n", &ReadOptions::default()).unwrap();
        assert_eq!(series.channels()[0].unit, "µV");
    }

    #[test]
    fn other_delimiters_and_decimal_commas() {
        for text in [
            "x;y\n1,5;2\n3;4,5\n",
            "x\ty\n1.5\t2\n3\t4.5\n",
            "  x   y\n 1.5  2\n   3  4.5\n",
            "x,y\n\"1,5\",2\n3,\"4,5\"\n",
        ] {
            let series = csv(text).unwrap();
            assert_eq!(series.trajectories()[0].x, [1.5, 2.0, 3.0, 4.5], "{text}");
        }
        let tsv = read_as("a.tsv", b"x y\tz\n1\t2\n3\t4\n", &ReadOptions::default()).unwrap();
        assert_eq!(names(tsv.channels()), ["x y", "z"]);
    }

    #[test]
    fn missing_values() {
        let series = csv("x,y\n1,\nNA,2\nnan,null\n").unwrap();
        assert_eq!((series.total_len(), series.missing()), (3, 4));
    }

    #[test]
    fn a_time_column_gives_step_start_and_gaps() {
        let series = csv("time [s],x\n10.0,1\n10.5,2\n11.0,3\n13.0,4\n13.5,5\n").unwrap();
        let step = Step {
            dt: 0.5,
            unit: "s".to_string(),
        };
        assert_eq!(series.step(), &step);
        assert_eq!(series.trajectories()[0].start, 10.0);
        assert_eq!(series.trajectories()[0].gaps, [Gap { row: 3, time: 13.0 }]);
        assert_eq!(names(series.channels()), ["x"]);
    }

    #[test]
    fn a_time_column_is_left_out_with_dt_and_kept_with_none() {
        let text = b"time,x\n0,1\n0.3,2\n1,3\n";
        let with_dt = ReadOptions {
            dt: Some(0.2),
            ..ReadOptions::default()
        };
        let series = read_as("a.csv", text, &with_dt).unwrap();
        assert_eq!(
            (series.step().dt, names(series.channels())),
            (0.2, vec!["x"])
        );
        let without = ReadOptions {
            time: Some(Column::none()),
            ..ReadOptions::default()
        };
        let series = read_as("a.csv", text, &without).unwrap();
        assert_eq!(names(series.channels()), ["time", "x"]);
        assert_eq!(series.step().dt, 1.0);
    }

    #[test]
    fn with_time_and_dt_longer_steps_are_gaps() {
        let options = ReadOptions {
            dt: Some(0.5),
            time: Some(Column::Index(1)),
            ..ReadOptions::default()
        };
        let series = read_as("a.csv", b"clock,x\n0,1\n0.5,2\n1.7,3\n", &options).unwrap();
        assert_eq!(series.trajectories()[0].gaps, [Gap { row: 2, time: 1.7 }]);
    }

    #[test]
    fn columns_have_the_roles_that_were_asked_for() {
        let options = ReadOptions {
            time: Some(Column::Name("clock".to_string())),
            state: columns(&["z", "2"]),
            input: columns(&["u"]),
            ..ReadOptions::default()
        };
        let text = b"clock,x,note,u,z\n0,1,start,7,2\n2,3,,8,4\n";
        let series = read_as("a.csv", text, &options).unwrap();
        assert_eq!(names(series.channels()), ["z", "x"]);
        assert_eq!(names(series.inputs()), ["u"]);
        assert_eq!(series.trajectories()[0].x, [2.0, 1.0, 4.0, 3.0]);
        assert_eq!(series.trajectories()[0].s, [7.0, 8.0]);
        assert_eq!(series.step().dt, 2.0);
    }

    #[test]
    fn interleaved_trajectories_are_told_apart_by_name() {
        let options = ReadOptions {
            trajectory: Some(Column::Name("subject".to_string())),
            ..ReadOptions::default()
        };
        let text = b"t,subject,x\n0,b,1\n0,a,2\n1,b,3\n1,a,4\n2,b,5\n";
        let series = read_as("a.csv", text, &options).unwrap();
        let parts: Vec<_> = series
            .trajectories()
            .iter()
            .map(|t| (t.name.as_str(), t.x.clone()))
            .collect();
        assert_eq!(parts, [("b", vec![1.0, 3.0, 5.0]), ("a", vec![2.0, 4.0])]);
        assert_eq!(series.step().dt, 1.0);
    }

    #[test]
    fn a_first_column_of_names_is_no_header() {
        let options = ReadOptions {
            trajectory: Some(Column::Index(1)),
            ..ReadOptions::default()
        };
        let series = read_as("a.csv", b"s1,1\ns1,2\ns2,3\n", &options).unwrap();
        assert_eq!((series.total_len(), series.trajectories().len()), (3, 2));
    }

    #[test]
    fn an_untitled_first_column_is_a_row_count() {
        let series = csv(",x,y\n0,1,2\n1,3,4\n").unwrap();
        assert_eq!(names(series.channels()), ["x", "y"]);
    }

    #[test]
    fn gzip_is_read_in_all_its_members() {
        let series = Series::from_rows(vec![1.0, 2.0, 3.0], 1, 0.1).unwrap();
        assert_same(&written_and_read("a.csv.gz", &series), &series);
        assert_same(&written_and_read("a.tsv.gz", &series), &series);
    }

    #[test]
    fn a_long_table_is_read_beyond_the_sample() {
        let rows = 40_000;
        let text: String = (0..rows).map(|i| format!("{i},{}\n", i % 7)).collect();
        let series = csv(&format!("t,x\n{text}")).unwrap();
        assert_eq!(series.total_len(), rows);
        assert_eq!(
            series.column(0).sum::<f64>(),
            (0..rows).map(|i| (i % 7) as f64).sum::<f64>()
        );
        let error = csv(&format!("x\n{text}")).unwrap_err();
        assert!(matches!(error.fault, Fault::Ragged { .. }), "{error}");
    }
}

mod mistakes {
    use super::*;

    /// The message without the path, and the hint.
    fn said(result: Result<Series, format::FormatError>) -> (String, String) {
        let error = result.unwrap_err();
        let hint = error.hint().unwrap_or_default();
        assert!(
            error
                .to_string()
                .ends_with(&error.path.display().to_string())
        );
        (error.fault.to_string(), hint)
    }

    fn with(options: ReadOptions, content: &str) -> (String, String) {
        said(read_as("a.csv", content.as_bytes(), &options))
    }

    #[test]
    fn ragged_rows() {
        let (message, hint) = said(csv("x,y,z\n1,2,3\n# note\n4,5\n"));
        assert_eq!(message, "3 columns expected, 2 found on line 4");
        assert!(hint.contains("--delimiter"));
    }

    #[test]
    fn lines_are_counted_with_comments_blanks_and_any_line_end() {
        for end in ["\n", "\r\n"] {
            let lines = ["# one", "", "x,y", "# four", "", "1,2", "", "3", ""];
            for text in [lines.join(end), lines[..8].join(end)] {
                let (message, _) = said(csv(&text));
                assert_eq!(message, "2 columns expected, 1 found on line 8", "{text:?}");
            }
        }
    }

    #[test]
    fn text_in_a_column_of_numbers() {
        let (message, hint) = said(csv("x,y\n1,2\n3,abc\n"));
        assert_eq!(
            message,
            "a number expected, found `abc` on line 3, column 2 (`y`)"
        );
        assert!(hint.contains("--state"));
    }

    #[test]
    fn a_decimal_comma_that_comes_late() {
        let rows = "0;0\n".repeat(20_000);
        let (message, hint) = said(csv(&format!("{rows}0,5;1\n")));
        assert_eq!(
            message,
            "a number expected, found `0,5` on line 20001, column 1 (`x1`)"
        );
        assert!(hint.contains("--decimal"));
    }

    #[test]
    fn empty_files() {
        for name in ["a.csv", "a.tsv", "a.npy"] {
            let (message, hint) = said(read_as(name, b"", &ReadOptions::default()));
            assert_eq!(message, "no data", "{name}");
            assert!(hint.contains("at least one row"));
        }
        for text in ["x,y\n", "# only a comment\n", "\n\n\n"] {
            assert_eq!(said(csv(text)).0, "no data", "{text}");
        }
    }

    #[test]
    fn no_such_column() {
        let text = "velocity,x\n1,2\n";
        let state = |list: &[&str]| ReadOptions {
            state: columns(list),
            ..ReadOptions::default()
        };
        let (message, hint) = with(state(&["velocty"]), text);
        assert_eq!(message, "no column is named `velocty`");
        assert_eq!(hint, "did you mean `velocity`?");
        let (message, hint) = with(state(&["q"]), text);
        assert_eq!(message, "no column is named `q`");
        assert_eq!(hint, "there are 2, numbered from 1: velocity, x");
        for index in ["0", "3"] {
            let (message, _) = with(state(&[index]), text);
            assert_eq!(message, format!("no column is number {index}"));
        }
    }

    #[test]
    fn a_column_with_two_roles() {
        let options = ReadOptions {
            state: columns(&["x"]),
            input: columns(&["1"]),
            ..ReadOptions::default()
        };
        let (message, _) = with(options, "x,y\n1,2\n");
        assert_eq!(message, "column `x` is used twice, as state and as input");
    }

    #[test]
    fn two_columns_of_one_name() {
        let (message, _) = said(csv("x,y,x\n1,2,3\n"));
        assert_eq!(message, "columns 1 and 3 are both named `x`");
    }

    #[test]
    fn a_time_axis_that_is_not_uniform() {
        let (message, hint) = said(csv("time,x\n0,1\n1,1\n# lost\n2.5,1\n3.5,2\n"));
        assert_eq!(
            message,
            "the time axis is not uniform: a step of 1 expected, 1.5 found on line 5"
        );
        assert!(hint.contains("resample") && hint.contains("--dt"));
    }

    #[test]
    fn time_that_goes_back_or_is_missing() {
        let (message, hint) = said(csv("t,x\n0,1\n1,2\n0,3\n1,4\n"));
        assert_eq!(message, "time goes from 1 to 0 on line 4");
        assert!(hint.contains("--trajectory") && hint.contains("--time none"));
        assert_eq!(said(csv("t,x\n0,1\n,2\n")).0, "no time on line 3");
    }

    #[test]
    fn all_values_missing() {
        let (message, hint) = said(csv("x,y\n,\nNaN,NA\n"));
        assert_eq!(message, "all values are missing");
        assert!(hint.contains("--state"));
    }

    #[test]
    fn no_channel_left() {
        let (message, _) = said(csv("time\n0\n1\n"));
        assert_eq!(message, "a series needs at least one channel");
    }

    #[test]
    fn a_step_that_is_none() {
        let options = ReadOptions {
            dt: Some(-1.0),
            ..ReadOptions::default()
        };
        let (message, _) = with(options, "x\n1\n");
        assert_eq!(
            message,
            "the sampling step must be a number above 0, found -1"
        );
    }

    #[test]
    fn infinite_values() {
        for text in ["inf", "-Infinity", "1e999"] {
            let (message, hint) = said(csv(&format!("x,y\n1,{text}\n")));
            assert_eq!(
                message,
                format!("a finite number expected, found {text} on line 2, column 2 (`y`)")
            );
            assert!(hint.contains("NaN"));
        }
    }

    #[test]
    fn files_that_are_not_there_or_not_files() {
        let folder = TempDir::new().unwrap();
        let read = |name: &str| format::read(&folder.path().join(name), &ReadOptions::default());
        for name in ["no.csv", "no.npy", "no.npz", "no.tsv.gz"] {
            assert_eq!(said(read(name)).0, "no such file");
            let dir = format!("dir-{name}");
            fs::create_dir(folder.path().join(&dir)).unwrap();
            let (message, hint) = said(read(&dir));
            assert_eq!(message, "a file expected, found a folder");
            assert_eq!(hint, "name a file in it");
        }
        assert_eq!(said(read("")).0, "a file expected, found a folder");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_may_not_be_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "x\n1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0)).unwrap();
        match format::read(&path, &ReadOptions::default()) {
            Ok(_) => println!("skipped: this user may read every file"),
            denied => assert_eq!(said(denied).0, "no permission to read"),
        }
    }

    #[test]
    fn an_extension_that_no_format_has() {
        let (message, hint) = said(read_as("a.xlsx", b"PK", &ReadOptions::default()));
        assert_eq!(message, "no format has the extension `xlsx`");
        assert!(hint.contains(".csv.gz") && hint.contains(".npz"));
        let series = Series::from_rows(vec![1.0], 1, 1.0).unwrap();
        assert!(format::write(Path::new("a.xlsx"), &series).is_err());
        let (message, _) = said(read_as("a.gz", b"", &ReadOptions::default()));
        assert_eq!(message, "no format has the extension `gz`");
    }

    #[test]
    fn damaged_archives() {
        let series = Series::from_rows((0..5000).map(f64::from).collect(), 1, 1.0).unwrap();
        let folder = TempDir::new().unwrap();
        for (name, what) in [("a.csv.gz", "gzip"), ("a.npz", "zip")] {
            let path = folder.path().join(name);
            format::write(&path, &series).unwrap();
            let whole = fs::read(&path).unwrap();
            let mut flipped = whole.clone();
            flipped[whole.len() / 2] ^= 0xff;
            let damaged = [&b"this is neither"[..], &whole[..whole.len() / 2], &flipped];
            for content in damaged {
                let error = read_as(name, content, &ReadOptions::default()).unwrap_err();
                let message = error.fault.to_string();
                assert!(
                    message.contains(&format!("damaged {what} file")),
                    "{message}"
                );
                assert!(error.hint().unwrap().contains("again"));
            }
        }
    }
}

mod written {
    use super::*;

    fn error(name: &str, series: &Series) -> (String, String) {
        let folder = TempDir::new().unwrap();
        let error = format::write(&folder.path().join(name), series).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        (error.to_string(), error.hint().unwrap())
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
        let series =
            Series::new(channels, Channel::numbered("u", 1), step, vec![left, right]).unwrap();
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
        let folder =
            std::env::var_os("ATTRACTOR_DATA").map_or(PathBuf::from(default), PathBuf::from);
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
        let lorenz =
            format::read(&folder.join("lorenz63_test.npy"), &ReadOptions::default()).unwrap();
        assert_same(&written_and_read("lorenz.csv", &lorenz), &lorenz);
    }
}

/// Any finite number, or now and then a missing one.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => any::<f64>().prop_filter("finite", |v| v.is_finite()),
        2 => -1e3..1e3,
        1 => Just(f64::NAN),
    ]
}

fn channel(prefix: &'static str, i: usize) -> impl Strategy<Value = Channel> {
    let name = prop_oneof![
        Just(String::new()),
        Just("time".to_string()),
        "[ -~µé]{0,8}[!-~]".prop_map(|s| s.trim().to_string())
    ];
    let unit = prop_oneof![Just(String::new()), "[a-zµ/²]{1,4}"];
    (name, unit).prop_map(move |(name, unit)| Channel {
        // The number keeps names apart.
        name: format!("{name}{prefix}{i}"),
        unit,
    })
}

/// Trajectories with everything that a table can hold: names, starts, gaps and inputs.
fn any_series() -> impl Strategy<Value = Series> {
    let dims = (1usize..4, 0usize..3, 1usize..4);
    let dt = prop_oneof![Just(0.01), Just(1.0), 1e-3..1e3];
    let described = (dims, dt, any::<bool>()).prop_flat_map(|((n, k, m), dt, named)| {
        let channels: Vec<_> = (0..n).map(|i| channel("x", i)).collect();
        let inputs: Vec<_> = (0..k).map(|i| channel("u", i)).collect();
        let all: Vec<_> = (0..m)
            .map(move |i| trajectory(n, k, dt, named.then_some(i)))
            .collect();
        (channels, inputs, Just(dt), all)
    });
    described.prop_filter_map("no value at all", |(channels, inputs, dt, all)| {
        let step = Step {
            dt,
            unit: String::new(),
        };
        Series::new(channels, inputs, step, all).ok()
    })
}

fn trajectory(
    n: usize,
    k: usize,
    dt: f64,
    number: Option<usize>,
) -> impl Strategy<Value = Trajectory> {
    let start = prop_oneof![Just(0.0), -1e3..1e3];
    (1usize..12, start, 2u32..50).prop_flat_map(move |(rows, start, jump)| {
        let x = proptest::collection::vec(value(), rows * n);
        let s = proptest::collection::vec(value(), rows * k);
        let gaps = (1..rows)
            .step_by(5)
            .skip(1)
            .enumerate()
            .map(|(i, row)| Gap {
                row,
                time: start + (row as f64 + f64::from(jump) * (i + 1) as f64) * dt,
            });
        let gaps: Vec<Gap> = gaps.collect();
        (x, s).prop_map(move |(x, s)| Trajectory {
            name: number.map_or(String::new(), |i| format!("run {}", i + 8)),
            start,
            x,
            s,
            gaps: gaps.clone(),
        })
    })
}

/// What arrays can hold of a series.
fn bare(series: &Series, trajectories: usize) -> Option<Series> {
    let all = series.trajectories().iter().take(trajectories);
    let bare = all.map(|t| Trajectory {
        name: t.name.clone(),
        ..Trajectory::new(t.x.clone())
    });
    let channels = Channel::numbered("x", series.dim_obs());
    Series::new(channels, vec![], Step::default(), bare.collect()).ok()
}

proptest! {
    #[test]
    fn tables_are_read_back_as_written(series in any_series()) {
        for name in ["a.csv", "a.tsv", "a.csv.gz"] {
            assert_same(&written_and_read(name, &series), &series);
        }
    }

    #[test]
    fn arrays_are_read_back_as_written(series in any_series()) {
        if let Some(bare) = bare(&series, usize::MAX) {
            assert_same(&written_and_read("a.npz", &bare), &bare);
        }
        if let Some(mut bare) = bare(&series, 1) {
            let unnamed = Trajectory::new(bare.trajectories()[0].x.clone());
            bare = bare.with(vec![unnamed]).unwrap();
            assert_same(&written_and_read("a.npy", &bare), &bare);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.npy", "a.npz"] {
            let _ = read_as(name, &bytes, &ReadOptions::default());
        }
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(&bytes);
        let _ = read_as("a.npy", &npy, &ReadOptions::default());
    }

    #[test]
    fn no_text_panics(text in "[-+0-9.,;:\t \n\r\"#exnaNt()\\[\\]]{0,200}") {
        for name in ["a.csv", "a.tsv"] {
            let _ = read_as(name, text.as_bytes(), &ReadOptions::default());
        }
    }

    #[test]
    fn no_damage_to_a_header_panics(at in 0usize..128, byte in any::<u8>()) {
        let folder = TempDir::new().unwrap();
        let series = Series::from_rows(vec![1.0; 12], 3, 1.0).unwrap();
        for name in ["a.npy", "a.npz"] {
            let path = folder.path().join(name);
            format::write(&path, &series).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] = byte;
            let _ = read_as(name, &bytes, &ReadOptions::default());
        }
    }
}
