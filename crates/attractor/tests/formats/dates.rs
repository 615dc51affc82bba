//! Dates as the time axis: what they are counted in, where rows are missing, and what cannot be read.

use super::*;

fn step(dt: f64, unit: &str) -> Step {
    let unit = unit.to_string();
    Step { dt, unit }
}

/// A table of one channel under these dates.
fn dated(dates: &[&str]) -> Series {
    let row = |(i, date): (usize, &&str)| format!("{date},{i}.5\n");
    let rows: String = dates.iter().enumerate().map(row).collect();
    csv(&format!("date,x\n{rows}")).unwrap()
}

#[test]
fn months_of_every_spelling_are_steps() {
    for dates in [
        ["1969-11-01", "1969-12-01", "1970-01-01", "1970-03-01"],
        ["1969-11", "1969-12", "1970-01", "1970-03"],
        ["01.11.1969", "01.12.1969", "01.01.1970", "01.03.1970"],
        ["11/1969", "12/1969", "01/1970", "03/1970"],
        ["1969-11-30", "1969-12-31", "1970-01-31", "1970-03-31"],
        ["1969/11/15", "1969/12/15", "1970/1/15", "1970/3/15"],
        [
            "1969-11-16 00:00",
            "1969-12-16 12:00",
            "1970-01-16 12:00",
            "1970-03-16 12:00",
        ],
        [
            "1969-11-01T00:00:00+01:00",
            "1969-12-01T00:00:00+01:00",
            "1970-01-01T00:00:00+01:00",
            "1970-03-01T00:00:00+01:00",
        ],
        ["196911", "196912", "197001", "197003"],
        ["19691101", "19691201", "19700101", "19700301"],
    ] {
        let options = ReadOptions {
            time: Some(Column::Index(1)),
            ..ReadOptions::default()
        };
        let row = |(i, date): (usize, &&str)| format!("{date},{i}.5\n");
        let rows: String = dates.iter().enumerate().map(row).collect();
        let series = read_as("a.csv", format!("date,x\n{rows}").as_bytes(), &options).unwrap();
        assert_eq!(series.step(), &step(1.0, "month"), "{dates:?}");
        let t = &series.trajectories()[0];
        assert_eq!(
            (t.start, &t.gaps[..]),
            (-2.0, &[Gap { row: 3, time: 2.0 }][..]),
            "{dates:?}"
        );
        assert_eq!((names(series.channels()), t.x.len()), (vec!["x"], 4));
    }
}

#[test]
fn years_days_and_seconds() {
    let years = dated(&["1950-01-01", "1951-01-01", "1952-01-01"]);
    assert_eq!(
        (years.step(), years.trajectories()[0].start),
        (&step(1.0, "year"), 1950.0)
    );
    let weeks = dated(&["01/02/1970", "01/09/1970", "01/16/1970", "01/30/1970"]);
    assert_eq!(
        (weeks.step(), weeks.trajectories()[0].start),
        (&step(7.0, "d"), 1.0)
    );
    assert_eq!(weeks.trajectories()[0].gaps.len(), 1);
    let hours = dated(&["1970-01-01 22:00", "1970-01-01 23:00", "1970-01-02 00:00"]);
    assert_eq!(
        (hours.step(), hours.trajectories()[0].start),
        (&step(3600.0, "s"), 79_200.0)
    );
    let fast = dated(&[
        "2024-03-01T12:00:00.000Z",
        "2024-03-01T12:00:00.004Z",
        "2024-03-01T12:00:00.008Z",
    ]);
    assert_eq!(fast.step(), &step(0.004, "s"));
}

#[test]
fn a_clock_that_is_set_back_for_the_winter_goes_on() {
    let dates = [
        "2024-10-27T01:30:00+02:00",
        "2024-10-27T02:30:00+02:00",
        "2024-10-27T02:30:00+01:00",
    ];
    assert_eq!(dated(&dates).step(), &step(3600.0, "s"));
}

#[test]
fn an_index_of_dates_needs_no_title_and_a_table_no_header() {
    let untitled = csv(",x,y\n1970-01-01,1,2\n1970-01-02,3,4\n").unwrap();
    let bare = csv("1970-01-01 1 2\n1970-01-02 3 4\n").unwrap();
    for series in [untitled, bare] {
        assert_eq!(series.step(), &step(1.0, "d"));
        assert_eq!(series.trajectories()[0].x, [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn a_date_and_a_time_of_day_are_one_time() {
    for text in [
        "date,time,x\n1970-01-01,23:59:59,1\n1970-01-02,00:00:00,2\n",
        "1970-01-01 23:59:59 1\n1970-01-02 00:00:00 2\n",
        "time,date,x\n11:59:59 PM,01.01.1970,1\n12:00:00 AM,02.01.1970,2\n",
    ] {
        let series = csv(text).unwrap();
        assert_eq!(series.step(), &step(1.0, "s"), "{text}");
        assert_eq!(series.trajectories()[0].x, [1.0, 2.0]);
    }
    let clock = csv("time,x\n12:30,1\n12:31,2\n").unwrap();
    assert_eq!(clock.step(), &step(60.0, "s"));
}

#[test]
fn columns_of_years_and_months_are_one_time() {
    let options = |time: &str| ReadOptions {
        time: Some(Column::Name(time.to_string())),
        ..ReadOptions::default()
    };
    let text = b"Year,Month,x\n1969,12,1\n1970,1,2\n1970,2,3\n1970,4,4\n";
    for options in [ReadOptions::default(), options("Year")] {
        let series = read_as("a.csv", text, &options).unwrap();
        assert_eq!(
            (series.step(), names(series.channels())),
            (&step(1.0, "month"), vec!["x"])
        );
        let t = &series.trajectories()[0];
        assert_eq!((t.start, t.gaps[0]), (-1.0, Gap { row: 3, time: 3.0 }));
    }
    let daily = csv("year,month,day,x\n1972,2,28,1\n1972,2,29,2\n1972,3,1,3\n").unwrap();
    assert_eq!((daily.step(), daily.total_len()), (&step(1.0, "d"), 3));
    let wrong = csv("year,month,x\n1970,1,1\n1970,13,2\n").unwrap_err();
    assert!(
        wrong
            .to_string()
            .starts_with("the columns of year and month are not a date on line 3")
    );
}

#[test]
fn trajectories_have_dates_of_their_own() {
    let text =
        "trajectory,date,x\na,1970-01-01,1\na,1970-01-02,2\nb,1980-05-05,3\nb,1980-05-06,4\n";
    let series = csv(text).unwrap();
    assert_eq!(series.step(), &step(1.0, "d"));
    assert_eq!(series.trajectories()[1].start, 3777.0);
}

#[test]
fn dates_are_left_out_with_a_step_and_are_no_states() {
    let text = b"date,x,until\n1970-01-01,1,1970-01-02\n1970-01-02,2,1970-01-09\n";
    let with_dt = ReadOptions {
        dt: Some(0.5),
        ..ReadOptions::default()
    };
    let series = read_as("a.csv", text, &with_dt).unwrap();
    assert_eq!(
        (series.step().dt, names(series.channels())),
        (0.5, vec!["x"])
    );
    let plain = read_as("a.csv", text, &ReadOptions::default()).unwrap();
    assert_eq!((plain.step().dt, names(plain.channels())), (1.0, vec!["x"]));
}

#[test]
fn rows_are_chosen_by_date() {
    let dates = ["1970-01", "1970-02", "1970-03", "1970-04"];
    let rows: String = dates.iter().map(|date| format!("{date},1\n")).collect();
    let options = ReadOptions {
        from: Some("1970-02-01".parse().unwrap()),
        to: Some("1970-04".parse().unwrap()),
        ..ReadOptions::default()
    };
    let series = read_as("a.csv", format!("date,x\n{rows}").as_bytes(), &options).unwrap();
    assert_eq!(
        (series.total_len(), series.trajectories()[0].start),
        (2, 1.0)
    );
}

#[test]
fn what_is_wrong_with_dates_is_told_in_dates() {
    for (rows, message) in [
        (
            "1970-01-02,1\n1970-01-01,2\n",
            "time goes from 1970-01-02 to 1970-01-01 on line 3",
        ),
        (
            "1970-01-01,1\n1970-01-02,2\n1970-01-03 12:00,3\n1970-01-04,4\n",
            "the time axis is not uniform: expected a step of 86400 s, found 129600 on line 4",
        ),
        (
            "01/02/1970,1\n01/03/1970,2\n",
            "`01/02/1970` in column 1 may have the day or the month first",
        ),
        ("1970-01-01,1\n,2\n", "no time on line 3"),
    ] {
        let error = csv(&format!("date,x\n{rows}")).unwrap_err();
        let told = error.to_string();
        assert!(told.starts_with(message), "{told}");
        assert!(error.hint().unwrap().to_string().contains("--dt"), "{rows}");
    }
    // Beyond what the columns are found from, a cell may still be something else.
    let many: String = (0..5000)
        .map(|i| format!("{}-01-01,{i}\n", 1000 + i))
        .collect();
    let error = csv(&format!("date,x\n{many}soon,1\n")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("expected a date, found `soon` on line 5002, column 1 (`date`)"),
        "{error}"
    );
}

#[cfg(feature = "parquet")]
#[test]
fn an_index_of_dates_in_parquet_is_the_time_axis() {
    for (unit, per_day) in [
        ("NANOS", 86_400_000_000_000),
        ("MICROS", 86_400_000_000),
        ("MILLIS", 86_400_000),
    ] {
        let column = format!("required int64 __index_level_0__ (TIMESTAMP({unit},true));");
        let days: [i64; 4] = [-31, 0, 31, 59];
        let bytes = parquet_table(&column, &days.map(|day| day * per_day));
        let series = read_as("a.parquet", &bytes, &ReadOptions::default()).unwrap();
        assert_eq!(
            (series.step(), names(series.channels())),
            (&step(1.0, "month"), vec!["x"])
        );
        assert_eq!(series.trajectories()[0].start, -1.0);
    }
    let plain = parquet_table("required int64 __index_level_0__;", &[4, 5, 6, 9]);
    let series = read_as("a.parquet", &plain, &ReadOptions::default()).unwrap();
    assert_eq!(
        (series.step().dt, names(series.channels())),
        (1.0, vec!["x"])
    );
    assert_eq!(series.trajectories()[0].gaps, [Gap { row: 3, time: 9.0 }]);
}

/// A table of a channel `x` and an index.
#[cfg(feature = "parquet")]
fn parquet_table(index: &str, values: &[i64]) -> Vec<u8> {
    use parquet::data_type::{DoubleType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    let schema = format!("message m {{ required double x; {index} }}");
    let schema = parquet::schema::parser::parse_message_type(&schema).unwrap();
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let x: Vec<f64> = values.iter().map(|&v| v as f64).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<DoubleType>()
        .write_batch(&x, None, None)
        .unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<Int64Type>()
        .write_batch(values, None, None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.into_inner().unwrap()
}
