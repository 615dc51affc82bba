//! Tables against numbers that are worked out by hand.

use serde_json::json;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;

/// A run with scores 1 and up, or none at all.
fn run(name: &str, alpha: &str, seed: u64, scores: Option<[f64; 3]>) -> Scored {
    let measured = |value: f64| Measured {
        value: Some(value).filter(|v| v.is_finite()),
        floor: Some(0.125),
        chance: Some(4.0),
    };
    let of_run = |scores: [f64; 3]| {
        let ids = ["d_stsp", "d_h", "pe"];
        ids.into_iter().zip(scores.map(measured)).collect()
    };
    Scored {
        folder: format!("{name}/seed-{seed}").into(),
        study: "s".into(),
        place: 0,
        name: Some(name.into()).filter(|name: &String| !name.is_empty()),
        paper: None,
        seed,
        data: ["a".into(), "b".into()],
        numerics: None,
        settings: Arc::new(BTreeMap::from([
            ("alpha".into(), alpha.into()),
            ("hidden".into(), "50".into()),
        ])),
        outcome: if scores.is_some() {
            "finished"
        } else {
            "diverged"
        }
        .into(),
        alpha: None,
        dim: 3,
        parameters: 365,
        pe_steps: 20,
        scores: scores.map(of_run).unwrap_or_default(),
        last: None,
        verdict: None,
        is_seen: false,
    }
}

/// Two groups: medians 2 and 20, MADs 1 and 10; one run diverged, one has no D_H.
fn runs() -> Vec<Scored> {
    vec![
        run("", "0.1", 1, Some([1.0, 0.1, 0.01])),
        run("", "0.1", 2, Some([2.0, 0.2, 0.02])),
        run("", "0.1", 3, Some([4.0, 0.3, 0.03])),
        run("", "0.1", 4, None),
        run("", "0.3", 1, Some([10.0, 0.1, 0.01])),
        run("", "0.3", 2, Some([20.0, 0.2, 0.02])),
        run("", "0.3", 3, Some([40.0, 0.3, 0.03])),
        run("", "0.3", 4, Some([99.0, f64::NAN, 0.04])),
    ]
}

#[test]
fn good_runs_are_counted_where_verdicts_are_known() {
    let mut runs = runs();
    assert!(!written(&table(&runs, &[]), Format::Markdown).contains("good"));
    for (run, word) in runs.iter_mut().zip([Word::Good, Word::Partly, Word::Good]) {
        run.verdict = Some(word);
    }
    let table = table(&runs, &[]);
    assert_eq!(
        (table.groups[0].good, table.groups[1].good),
        (Some(2), None)
    );
    let text = written(&table, Format::Markdown);
    assert!(
        text.starts_with("| alpha | runs | dropped | good | dim |"),
        "{text}"
    );
    let row = text.lines().find(|line| line.starts_with("| 0.1")).unwrap();
    assert!(row.starts_with("| 0.1 | 4 | 1 | 2 | 3 |"), "{row}");
}

/// √(4/0.125) = 5.7 is half of the way from floor to chance: 1 to 4 is less, 10 to 99 more. Runs with other settings are no seeds.
#[test]
fn groups_say_where_their_seeds_disagree() {
    let mut runs = runs();
    let of = |runs: &[Scored], by: &[&str]| -> Vec<Option<String>> {
        let groups = table(runs, by).groups.into_iter();
        groups.map(|group| group.disagreement).collect()
    };
    let wide = "seeds disagree: D_stsp from 10 to 99 (floor 0.125, chance 4)";
    assert_eq!(of(&runs, &[]), [None, Some(wide.to_string())]);
    assert_eq!(of(&runs, &["hidden"]), [None]);
    for run in &mut runs[..3] {
        run.verdict = Some(Word::Partly);
    }
    let differ = "seeds disagree: 3 partly, 1 not a reconstruction";
    assert_eq!(of(&runs, &[])[0].as_deref(), Some(differ));
}

fn table(runs: &[Scored], by: &[&str]) -> Table {
    let by: Vec<String> = by.iter().map(|key| key.to_string()).collect();
    Table::new(runs, &by, Beside::Paper).unwrap()
}

fn written(table: &Table, format: Format) -> String {
    let mut out = Vec::new();
    table.write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn groups_have_medians_and_count_what_is_dropped() {
    let table = table(&runs(), &[]);
    assert_eq!(table.keys, ["alpha"]);
    let [low, high] = &table.groups[..] else {
        panic!("two groups")
    };
    assert_eq!((low.runs, low.diverged, low.dropped()), (4, 1, 1));
    assert_eq!((high.runs, high.diverged, high.dropped()), (4, 0, 1));
    let missing: Vec<usize> = high.columns.iter().map(|column| column.missing).collect();
    assert_eq!(missing, [0, 1, 0]);
    let d_stsp = |group: &Group| {
        (
            group.columns[0].summary.median,
            group.columns[0].summary.mad,
        )
    };
    assert_eq!(d_stsp(low), (2.0, 1.0));
    assert_eq!(d_stsp(high), (20.0, 10.0));
    // Ranks 1, 2, 3 against 4, 5, 6:  H = 12/42 (36/3 + 225/3) − 21 = 27/7, and with one degree of freedom
    // p = erfc(√(H/2)) = 0.04953461 (tables of χ²).
    let test = table.tests[0].unwrap();
    assert!((test.h - 27.0 / 7.0).abs() < 1e-12);
    assert!((test.p - 0.049_534_61).abs() < 1e-7);
    // The same values in both groups.
    assert_eq!(table.tests[1].unwrap().p, 1.0);
}

#[test]
fn keys_can_be_chosen_and_mistyped() {
    let all = table(&runs(), &["hidden"]);
    assert_eq!(all.groups.len(), 1);
    assert_eq!((all.groups[0].runs, all.groups[0].dropped()), (8, 2));
    assert_eq!(all.tests[0], None);
    let wrong = Table::new(&runs(), &["hiden".to_string()], Beside::Nothing).unwrap_err();
    assert_eq!(wrong.to_string(), "unknown setting `hiden`");
    assert_eq!(wrong.hint().unwrap().to_string(), "did you mean `hidden`?");
    let wrong = Table::new(&runs(), &["nmae".to_string()], Beside::Nothing).unwrap_err();
    assert_eq!(wrong.hint().unwrap().to_string(), "did you mean `name`?");
    let named = [run("a", "0.1", 1, None), run("b", "0.3", 1, None)];
    // Names tell the cells apart: the settings that differ between them need not be shown.
    assert_eq!(table(&named, &[]).keys, ["name"]);
    assert_eq!(table(&runs()[..3], &[]).keys, ["study"]);
}

/// Settings count where they act: alpha not under adaptive forcing, whichever run comes first.
#[test]
fn runs_are_told_apart_by_the_settings_that_act() {
    let of = |forcing: &str, alpha: &str| {
        let mut run = run("", alpha, 1, Some([1.0; 3]));
        Arc::make_mut(&mut run.settings).insert("forcing".into(), forcing.into());
        run
    };
    let runs = [
        of("agtf", "0.15"),
        of("gtf", "0.1"),
        of("gtf", "0.9"),
        of("agtf", "0.2"),
    ];
    let mut reversed = runs.clone();
    reversed.reverse();
    for runs in [runs, reversed] {
        let table = table(&runs, &[]);
        assert_eq!(table.keys, ["forcing", "alpha"]);
        let mut groups: Vec<String> = table.groups.iter().map(|g| g.values.join(" ")).collect();
        groups.sort();
        assert_eq!(groups, ["agtf ", "gtf 0.1", "gtf 0.9"]);
    }
    let twice = ["alpha".to_string(), "alpha".to_string()];
    let table = Table::new(&self::runs(), &twice, Beside::Nothing).unwrap();
    assert_eq!(table.keys, ["alpha"]);
}

#[test]
fn groups_of_one_run_have_no_probability() {
    let single = [
        run("a", "0.1", 1, Some([1.0; 3])),
        run("b", "0.1", 1, Some([2.0; 3])),
    ];
    assert_eq!(table(&single, &[]).tests, [None; 3]);
}

#[test]
fn levels_that_differ_between_groups_are_told_apart() {
    let mut runs = runs();
    for run in runs.iter_mut().filter(|run| run.settings["alpha"] == "0.3") {
        let scores = run.scores.values_mut();
        scores.for_each(|measured| measured.floor = Some(0.5));
    }
    let text = written(&table(&runs, &[]), Format::Text);
    for line in ["floor of 0.1  ", "floor of 0.3  ", "chance  "] {
        assert_eq!(text.matches(line).count(), 1, "{text}");
    }
    assert!(text.contains("0.5000"), "{text}");
}

#[test]
fn every_format_has_the_same_numbers() {
    let table = table(&runs(), &[]);
    let text = written(&table, Format::Text);
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|w| !w.is_empty())
                .collect()
        })
        .collect();
    assert_eq!(
        lines[0],
        [
            "alpha", "runs", "dropped", "dim", "|θ|", "D_stsp", "D_H", "PE(20)"
        ]
    );
    assert_eq!(
        lines[1],
        [
            "0.1",
            "4",
            "1",
            "3",
            "365",
            "2.0 ± 1.0",
            "0.20 ± 0.10",
            "0.020 ± 0.010"
        ]
    );
    // One of the four with 0.3 has no D_H: the others say no less without it.
    assert_eq!(
        lines[3],
        [
            "all that have one",
            "30 ± 15",
            "0.20 ± 0.10",
            "0.025 ± 0.010"
        ]
    );
    assert_eq!(lines[4], ["floor", "0.1250", "0.1250", "0.1250"]);
    assert_eq!(
        lines[6],
        ["p (Kruskal–Wallis)", "0.04953", "1.000", "1.000"]
    );
}

#[test]
fn formats_for_pages_and_programs_have_them_as_well() {
    let table = table(&runs(), &[]);
    let markdown = written(&table, Format::Markdown);
    assert!(markdown.starts_with(
        "| alpha | runs | dropped | dim | \\|θ\\| | D_stsp | D_H | PE(20) |\n| --- |"
    ));
    assert!(markdown.contains("\n| 0.3 | 4 | 1 | 3 | 365 | 20 ± 10 | 0.20 ± 0.10 |"));
    let latex = written(&table, Format::Latex);
    assert!(
        latex.starts_with("\\begin{tabular}{lccccccc}\n\\toprule\nalpha & runs &"),
        "{latex}"
    );
    assert!(
        latex.contains(r"0.1 & 4 & 1 & 3 & 365 & $2.0 \pm 1.0$ & "),
        "{latex}"
    );
    assert!(latex.contains("\\midrule\nfloor & "), "{latex}");
    let csv = written(&table, Format::Csv);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let cell = |row: usize, name: &str| {
        let column = rows[0].iter().position(|head| *head == name).unwrap();
        rows[row][column]
    };
    assert_eq!(cell(2, "d_stsp_median").parse::<f64>(), Ok(20.0));
    assert_eq!((cell(2, "d_h_missing"), cell(1, "diverged")), ("1", "1"));
    let p: f64 = cell(1, "d_stsp_p").parse().unwrap();
    assert_eq!(p, table.tests[0].unwrap().p);
    assert_eq!(
        json!(table.document())["groups"][1]["measures"]["d_stsp"]["mad"],
        10.0
    );
}

#[test]
fn names_are_escaped() {
    let awkward = [run("a_b & 50%, \"c\"", "0.1", 1, Some([1.0; 3]))];
    let table = table(&awkward, &["name"]);
    assert!(written(&table, Format::Latex).contains(r#"a\_b \& 50\%, "c" & 1"#));
    assert!(written(&table, Format::Csv).contains("\n\"a_b & 50%, \"\"c\"\"\",1,"));
    let formula = [run(
        "=1|1 *x* _y_ <b>\n[z](u) d_h",
        "0.1",
        1,
        Some([1.0; 3]),
    )];
    let table = self::table(&formula, &["name"]);
    assert!(written(&table, Format::Csv).contains("\n\"'=1|1 *x* _y_ <b>\n[z](u) d_h\",1,"));
    let markdown = written(&table, Format::Markdown);
    let cell = r"| =1\|1 \*x\* \_y\_ \<b\> \[z\](u) d_h | 1 |";
    assert!(markdown.contains(cell), "{markdown}");
    let latex = written(&table, Format::Latex);
    let cell = r"=1\textbar{}1 *x* \_y\_ \textless{}b\textgreater{} [z](u) d\_h & 1 &";
    assert!(latex.contains(cell), "{latex}");
}

#[test]
fn the_paper_stands_beside_ours() {
    let of_paper = |scores: [f64; 3]| Scored {
        paper: Some("shPLRNN + GTF / Lorenz-63".into()),
        ..run("gtf", "0.15", 1, Some(scores))
    };
    // The paper has 0.26 ± 0.03, 0.090 ± 0.007 and (6.0 ± 0.5)e-4.
    let table = table(&[of_paper([0.31, 0.07, 8e-4])], &[]);
    let verdicts: Vec<&str> = table.groups[0]
        .columns
        .iter()
        .map(|column| column.paper.unwrap().verdict.unwrap().word())
        .collect();
    assert_eq!(verdicts, ["agrees", "better", "worse"]);
    let text = written(&table, Format::Text);
    assert!(
        text.contains("paper: shPLRNN + GTF / Lorenz-63  20"),
        "{text}"
    );
    assert!(text.contains("0.26 ± 0.03, agrees"), "{text}");
    assert!(text.contains("(6.0 ± 0.5)e-4, worse"), "{text}");
    let without = Table::new(&[of_paper([1.0; 3])], &[], Beside::Nothing).unwrap();
    assert!(!written(&without, Format::Text).contains("paper"));
}

#[test]
fn rows_of_the_paper_are_complete() {
    let names: Vec<&str> = paper::PAPER.iter().map(|row| row.name).collect();
    for (i, row) in paper::PAPER.iter().enumerate() {
        assert!(!names[..i].contains(&row.name), "{}", row.name);
        // Equations by regression are the same for every seed.
        let least = if row.name.starts_with("SINDy") {
            0.0
        } else {
            f64::MIN_POSITIVE
        };
        assert!(
            row.scores
                .iter()
                .flatten()
                .all(|(median, mad)| median > mad && *mad >= least)
        );
    }
    // |θ| = 2M + 2ML + L + NM for the shallow model with a linear read-out, by its sizes in the paper.
    for (data, m, l, n) in [
        ("ECG", 5, 250, 5),
        ("EEG", 16, 512, 64),
        ("Lorenz-63", 3, 50, 3),
        ("Lorenz-96", 20, 100, 20),
        ("multiscale Lorenz-96", 8, 100, 8),
    ] {
        let row = paper::find(&format!("shPLRNN + GTF / {data}")).unwrap();
        assert_eq!(
            (row.dim, row.parameters),
            (m, 2 * m + 2 * m * l + l + n * m)
        );
    }
    assert_eq!(
        paper::near("shPLRNN + GTF / ECC"),
        Some("shPLRNN + GTF / ECG")
    );
}

/// Ours of the ECG fill one row of Table 1, once: of entries and studies that name it the one with most runs counts, and the row of the ablation study that the paper repeats
/// has the same runs.
#[test]
fn tables_have_the_shape_of_the_papers() {
    let of_row = |entry: &str, row: &str, seed: u64, score: f64| Scored {
        paper: Some(row.into()),
        ..run(entry, "0.3", seed, Some([score, 0.3, 2e-3]))
    };
    let runs = [
        of_row("gtf", "shPLRNN + GTF / ECG", 1, 4.0),
        of_row("gtf", "shPLRNN + GTF / ECG", 2, 5.0),
        of_row("gtf-spread", "shPLRNN + GTF / ECG", 1, 100.0),
    ];
    let others = [
        of_row("gtf", "shPLRNN + GTF / ECG", 3, 100.0),
        of_row("dend-idtf", "dendPLRNN + id-TF / ECG", 1, 6.0),
    ];
    let studies = [runs.to_vec(), others.to_vec()];
    let first = PaperTable::find("1").unwrap().filled(&studies);
    let [ecg, eeg] = &first[..] else { panic!() };
    assert_eq!((ecg.groups.len(), eeg.groups.len()), (9, 9));
    assert_eq!(ecg.groups[0].values, ["ECG", "shPLRNN + GTF"]);
    assert_eq!(ecg.groups[0].runs, 2);
    assert_eq!(ecg.groups[0].columns[0].summary.median, 4.5);
    assert!(eeg.groups.iter().all(|group| group.runs == 0));
    let text = written(ecg, Format::Markdown);
    assert!(text.contains("| paper: SINDy / ECG |"), "{text}");
    assert!(text.contains("diverging"), "{text}");
    let ablation = PaperTable::find("s2").unwrap().filled(&studies);
    assert_eq!(ablation[0].groups[3].values[1], "dendPLRNN + STF");
    assert_eq!(ablation[0].groups[3].runs, 1);
    let unknown = PaperTable::find("S5").unwrap_err();
    assert!(format!("{:?}", unknown.hint()).contains("1, S1, S2, S3 and S4"));
}
