//! The list of figures, and what is refused before anything is drawn.

use super::*;

fn request(subjects: &[&str]) -> Request {
    Request {
        subjects: subjects.iter().map(PathBuf::from).collect(),
        labels: Vec::new(),
        data: None,
        reading: ReadOptions::default(),
        width: None,
        steps: None,
        channels: Vec::new(),
        units: Units::Data,
        view: None,
        system: None,
        ahead: 5,
        exponent: recording_exponent::Request::default(),
        threads: 1,
    }
}

#[test]
fn kinds_have_names_of_their_own_and_a_sentence() {
    for (i, kind) in KINDS.iter().enumerate() {
        assert_eq!(find(kind.id).unwrap().id, kind.id);
        assert!(KINDS[..i].iter().all(|other| other.id != kind.id));
        assert!(
            !kind.summary.ends_with('.')
                && (kind.paper.starts_with("Fig") || kind.paper == NOT_IN_PAPER)
        );
    }
}

#[test]
fn a_name_that_is_nearly_right_is_guessed() {
    let error = find("heatmap").err().unwrap();
    assert_eq!(error.to_string(), "no figure is named `heatmap`");
    assert_eq!(
        error.hint().unwrap().to_string(),
        "did you mean `heat-map`?"
    );
    let far = find("q").err().unwrap();
    assert_eq!(
        far.hint().unwrap().to_string(),
        "`attractor plot` lists the kinds of figures"
    );
}

#[test]
fn what_cannot_be_drawn_is_said_with_a_remedy() {
    let refused = |kind: &str, request: &Request| {
        let error = find(kind).unwrap().draw(request).err().unwrap();
        assert!(error.hint().is_some() && !error.is_outcome());
        error.to_string()
    };
    assert_eq!(refused("heat-map", &request(&[])), "`heat-map` needs a RUN");
    assert_eq!(
        refused("gtf-scheme", &request(&["a"])),
        "`gtf-scheme` is a scheme: it takes no RUN"
    );
    let labels = Request {
        labels: vec!["one".to_string()],
        ..request(&["a", "b"])
    };
    assert_eq!(refused("forecast", &labels), "1 label for 2 panels");
    let mut reading = request(&["a"]);
    reading.reading.dt = Some(0.1);
    assert_eq!(
        refused("n-step", &reading),
        "there are flags for reading data, and no data to read"
    );
    assert_eq!(
        refused("line-search", &request(&["nowhere"])),
        "no curve.csv of a line search in this folder: nowhere"
    );
}

#[test]
fn runs_are_named_by_as_much_of_their_paths_as_differs() {
    let names = |subjects: &[&str]| request(subjects).names();
    assert_eq!(names(&["a/one", "b/two/"]), ["one", "two"]);
    assert_eq!(names(&["a/seed-1", "b/seed-1"]), ["a/seed-1", "b/seed-1"]);
    assert_eq!(names(&["x/run/model.safetensors"]), ["run"]);
    assert_eq!(names(&["run", "run"]), ["run (1)", "run (2)"]);
}

#[test]
fn formats_are_those_of_the_name() {
    let format = |name: &str| FigureFormat::of(Path::new(name));
    assert_eq!(format("a.SVG"), Ok(FigureFormat::Svg));
    assert_eq!(format("a.png"), Ok(FigureFormat::Png));
    assert_eq!(format("b.c/a.pdf"), Ok(FigureFormat::Pdf));
    assert!(format("a.jpeg").is_err() && format("svg").is_err());
}

#[test]
fn the_scheme_is_written_in_all_formats_without_words_on_words() {
    let folder = tempfile::tempdir().unwrap();
    let figure = find("gtf-scheme").unwrap().draw(&request(&[])).unwrap();
    for (name, start) in [
        ("a.svg", &b"<?xml"[..]),
        ("a.png", b"\x89PNG"),
        ("a.pdf", b"%PDF-"),
    ] {
        let path = folder.path().join(name);
        let written = figure.write(&path, &[]).unwrap();
        assert_eq!(written, std::slice::from_ref(&path));
        assert!(std::fs::read(&path).unwrap().starts_with(start));
    }
    let frames: Vec<_> = figure.drawing.texts().map(|text| text.frame()).collect();
    for (i, one) in frames.iter().enumerate() {
        assert!(frames[..i].iter().all(|other| !one.overlaps(other)));
        assert!(one.left >= 0.0 && one.right() <= figure.drawing.width);
    }
}

#[test]
fn several_tables_have_names_and_none_is_written_over_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.svg");
    let table = Table::new(&["a, b", "c"], vec![vec![1.0, f64::NAN]]);
    let mut figure = Figure {
        drawing: Drawing::new(10.0, 10.0),
        tables: vec![("x/y".to_string(), table.clone())],
        numbers: Vec::new(),
        notes: Vec::new(),
    };
    let one = figure.write(&path, &[]).unwrap();
    assert_eq!(one[1], folder.path().join("f.csv"));
    let text = std::fs::read_to_string(&one[1]).unwrap();
    assert_eq!(text, "\"a, b\",c\n1,NaN\n");
    figure.tables.push(("z".to_string(), table));
    let several = figure.write(&path, &[]).unwrap();
    assert_eq!(
        several[1..],
        ["f-x-y.csv", "f-z.csv"].map(|name| folder.path().join(name))
    );
    let refused = figure
        .write(&path, &[folder.path().join("f-z.csv")])
        .unwrap_err();
    assert!(matches!(refused, Error::SameFile { .. }));
}
