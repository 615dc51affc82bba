//! Every error in a file gets the message that names its place, and a hint.

use std::io::Write;

use super::*;

/// The message without the path, and the hint.
fn said(result: Result<Series, format::FormatError>) -> (String, String) {
    let error = result.unwrap_err();
    let hint = error.hint().map_or(String::new(), |hint| hint.to_string());
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
    assert_eq!(message, "expected 3 columns, found 2 on line 4");
    assert!(hint.contains("--delimiter"));
}

#[test]
fn lines_are_counted_with_comments_blanks_and_any_line_end() {
    for end in ["\n", "\r\n"] {
        let lines = ["# one", "", "x,y", "# four", "", "1,2", "", "3", ""];
        for text in [lines.join(end), lines[..8].join(end)] {
            let (message, _) = said(csv(&text));
            assert_eq!(message, "expected 2 columns, found 1 on line 8", "{text:?}");
        }
    }
}

#[test]
fn text_in_a_column_of_numbers() {
    let (message, hint) = said(csv("x,y\n1,2\n3,abc\n"));
    assert_eq!(
        message,
        "expected a number, found `abc` on line 3, column 2 (`y`)"
    );
    assert!(hint.contains("--channels"));
}

#[test]
fn a_decimal_comma_that_comes_late() {
    let rows = "0;0\n".repeat(20_000);
    let (message, hint) = said(csv(&format!("{rows}0,5;1\n")));
    assert_eq!(
        message,
        "expected a number, found `0,5` on line 20001, column 1 (`x1`)"
    );
    assert!(hint.contains("--decimal"));
}

/// `"1,234"` is 1.234 or 1234: nothing is read before the user has said which.
#[test]
fn commas_that_may_stand_between_thousands() {
    for text in [
        "\"1,234\",2\n",
        "x,y\n\"1,234\",2\n\"5,678\",3\n",
        "x\ty\n1,234\t2\n5,678\t3\n",
        "1,234 2\n5,678 3\n",
    ] {
        let (message, hint) = said(csv(text));
        assert_eq!(
            message, "`1,234` in column 1 may be 1.234 or 1234",
            "{text}"
        );
        assert_eq!(
            hint,
            "give --decimal comma if it is 1.234; if it is 1234, write it without the comma"
        );
        let comma = ReadOptions {
            decimal: Some(format::Decimal::Comma),
            ..ReadOptions::default()
        };
        let series = read_as("a.csv", text.as_bytes(), &comma).unwrap();
        assert_eq!(series.trajectories()[0].x[0], 1.234, "{text}");
    }
    let (message, hint) = said(csv("x,y\n1.5,2\n\"1,234\",3\n"));
    assert!(message.starts_with("expected a number, found `1,234` on line 3"));
    assert_eq!(hint, "write it without the commas between thousands");
}

#[test]
fn a_first_row_of_numbers_that_is_written_otherwise() {
    for (text, found) in [
        ("\"1,234\",2\n3,4\n5,6\n", "1,234"),
        ("1.5;2\n1,5;2\n2,5;2\n", "1.5"),
    ] {
        let (message, hint) = said(csv(text));
        assert_eq!(
            message,
            format!("`{found}` in the first row, column 1, may be a title or a number")
        );
        assert!(hint.starts_with("give --header yes if it is a title"));
        let titles = ReadOptions {
            header: Some(format::Header::Present),
            ..ReadOptions::default()
        };
        let series = read_as("a.csv", text.as_bytes(), &titles).unwrap();
        assert_eq!(names(series.channels())[0], found);
    }
}

/// What follows an open quote is one cell to the end of the file; what is left must not be read as something else.
#[test]
fn a_quote_that_is_not_closed() {
    for (text, line) in [
        ("x,\"y\n1,5\n2,5\n", 1),
        ("x,y\n1,2\n3,\"4\n5,6\n7,8\n", 3),
        ("x,y\n1,2\n\n\"3,4\n5,6\n", 4),
        ("\"x\n1\n2\n", 1),
        ("x\ty\n1\t\"2\n3\t4\n", 2),
        ("x y\n1 \"2\n3 4\n", 2),
        ("x,y\r\n1,2\r\n3,\"4\r\n5,6\r\n", 3),
    ] {
        let (message, hint) = said(csv(text));
        assert_eq!(
            message,
            format!("the quote on line {line} is not closed"),
            "{text}"
        );
        assert!(hint.contains("--delimiter"));
    }
    let note = ReadOptions {
        channels: columns(&["x"]),
        ..ReadOptions::default()
    };
    let (message, _) = with(note, "x,note\n1,a\n2,\"b\n3,c\n");
    assert_eq!(message, "the quote on line 3 is not closed");
    // A quote that belongs to a name, and a cell of several lines, are not errors.
    assert_eq!(names(csv("a,5\" b\n1,2\n").unwrap().channels())[1], "5\" b");
    assert_eq!(csv("x,\"y\nz\"\n1,2\n3,4\n").unwrap().total_len(), 2);
    let (message, _) = said(csv("x,y\n1,2\n3,\"4\n5\"\n7,8\n"));
    assert_eq!(
        message,
        "expected a number, found `4\\n5` on line 4, column 2 (`y`)"
    );
}

/// No number of bytes in a row is too small to be a column each.
#[test]
fn a_line_of_commas() {
    let row = ",".repeat(40_000_000);
    let (message, hint) = said(csv(&row));
    assert_eq!(message, "the first row is longer than 33554432 bytes");
    assert!(hint.contains("quote"));
    let (message, _) = said(read_as(
        "a.csv.gz",
        &gzip(&row[..2_000_000]),
        &ReadOptions::default(),
    ));
    assert!(message.contains("would unfold"), "{message}");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn empty_packed_files_are_empty_not_damaged() {
    for name in ["a.csv.gz", "a.tsv.gz", "a.npz"] {
        let (message, _) = said(read_as(name, b"", &ReadOptions::default()));
        assert_eq!(message, "no data", "{name}");
    }
}

#[test]
fn text_in_utf_16() {
    let text = "x,y\n1,2\n3,4\n";
    let little = text.encode_utf16().flat_map(u16::to_le_bytes);
    let big = text.encode_utf16().flat_map(u16::to_be_bytes);
    let marked = [
        [0xff, 0xfe].into_iter().chain(little).collect::<Vec<u8>>(),
        [0xfe, 0xff].into_iter().chain(big).collect(),
    ];
    for bytes in marked {
        let (message, hint) = said(read_as("a.csv", &bytes, &ReadOptions::default()));
        assert_eq!(message, "expected text in UTF-8, found UTF-16");
        assert!(hint.starts_with("save it as UTF-8"));
    }
}

#[test]
fn a_single_column_is_one_column() {
    let comma = ReadOptions {
        delimiter: Some(format::Delimiter::Comma),
        ..ReadOptions::default()
    };
    let (message, _) = with(comma, "x\n1\n2,3\n");
    assert_eq!(message, "expected 1 column, found 2 on line 3");
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
    let named = |list: &[&str]| ReadOptions {
        channels: columns(list),
        ..ReadOptions::default()
    };
    let (message, hint) = with(named(&["velocty"]), text);
    assert_eq!(message, "no column is named `velocty`");
    assert_eq!(hint, "did you mean `velocity`?");
    let (message, hint) = with(named(&["q"]), text);
    assert_eq!(message, "no column is named `q`");
    assert_eq!(hint, "there are 2, numbered from 1: velocity, x");
    for index in ["0", "3"] {
        let (message, _) = with(named(&[index]), text);
        assert_eq!(message, format!("no column is number {index}"));
    }
}

#[test]
fn a_column_with_two_roles() {
    let options = ReadOptions {
        channels: columns(&["x"]),
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
        "the time axis is not uniform: expected a step of 1, found 1.5 on line 5"
    );
    assert!(hint.contains("resample") && hint.contains("--dt"));
    // 0.3817 − 0.3 is 0.08170000000000005 in binary.
    let (message, _) = said(csv("time,x\n0,1\n0.1,1\n0.2,2\n0.3,1\n0.3817,1\n"));
    assert!(message.contains("found 0.0817 on"), "{message}");
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
    assert!(hint.contains("--channels"));
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
            format!("expected a finite number, found {text} on line 2, column 2 (`y`)")
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
        assert_eq!(message, "expected a file, found a folder");
        assert_eq!(hint, "name a file in it");
    }
    assert_eq!(said(read("")).0, "expected a file, found a folder");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "x\n1\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    match format::read(&path, &ReadOptions::default()) {
        Ok(_) => println!("skipped: this user may read every file"),
        denied => assert_eq!(said(denied).0, "no permission to read"),
    }
}

#[test]
fn an_extension_that_no_format_has() {
    let (message, hint) = said(read_as("a.xyz", b"PK", &ReadOptions::default()));
    assert_eq!(message, "no format has the extension `xyz`");
    assert!(hint.contains(".csv.gz") && hint.contains(".npz"));
    let series = Series::from_rows(vec![1.0], 1, 1.0).unwrap();
    assert!(format::write(Path::new("a.xyz"), &series).is_err());
    let (message, _) = said(read_as("a", b"", &ReadOptions::default()));
    assert_eq!(message, "no format has a name without extension");
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
            assert!(error.hint().unwrap().to_string().contains("again"));
        }
    }
}
