//! Text tables in all their dialects.

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
        channels: columns(&["z", "2"]),
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
