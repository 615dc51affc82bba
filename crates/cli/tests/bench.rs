//! `attractor bench`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::process::Command;

fn bench(arguments: &str) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_attractor"))
        .arg("bench")
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn one_object_a_workload() {
    let (code, out, _) = bench("--updates 1 --warm-up 0 --json --isa auto");
    assert_eq!(code, Some(0));
    let objects: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<_> = objects.iter().map(|o| o["workload"].clone()).collect();
    assert_eq!(names, ["lorenz63", "lorenz96", "ecg", "eeg"]);
    let eeg = &objects[3];
    for (key, value) in [
        ("latent", 16),
        ("hidden", 512),
        ("observed", 64),
        ("window", 50),
        ("batch", 16),
        ("threads", 1),
        ("updates", 20),
    ] {
        assert_eq!(eeg[key], value, "{key}");
    }
    let isa = eeg["isa"].as_str().unwrap();
    assert!(["baseline", "avx2", "avx512"].contains(&isa), "{isa}");
    assert_eq!(
        (&eeg["forcing"], &eeg["alpha_estimator"]),
        (&"gtf".into(), &serde_json::Value::Null)
    );
    let number = |o: &serde_json::Value, key: &str| o[key].as_f64().unwrap();
    assert!(objects.iter().all(|o| {
        let fastest = number(o, "fastest_tenth");
        fastest > 0.0 && fastest <= number(o, "seconds_per_update")
    }));
}

#[test]
fn a_table_for_people_and_words_for_mistakes() {
    let (code, out, _) = bench("--workload lorenz63 --updates 1 --warm-up 0");
    assert_eq!(code, Some(0));
    assert_eq!(out.lines().count(), 2);
    assert!(
        out.lines()
            .next()
            .unwrap()
            .ends_with("estimator  µs per update  fastest tenth  of gtf in turns")
    );
    let adaptive =
        "--workload lorenz63 --updates 1 --warm-up 0 --forcing agtf --alpha-estimator exp-log";
    let (_, out, _) = bench(adaptive);
    assert!(
        out.lines()
            .nth(1)
            .unwrap()
            .contains("  agtf     exp-log    "),
        "{out}"
    );
    let (_, out, _) = bench(&format!("{adaptive} --json"));
    assert!(out.contains(r#""alpha_estimator":"exp-log""#), "{out}");
    let (code, _, notes) = bench("--updates 0");
    assert_eq!(code, Some(2));
    assert!(
        notes.contains("expected a whole number of at least 1"),
        "{notes}"
    );
    assert_eq!(bench("--block 0").0, Some(2));
    assert_eq!(bench("--block 1000001").0, Some(2));
    let (code, _, notes) = bench("--threads 100000");
    assert_eq!(code, Some(2));
    assert!(notes.contains("`threads` must be"), "{notes}");
    assert_eq!(bench("--data a.npy").0, Some(2));
}

#[test]
fn paced_blocks_are_made_one_by_one() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let mut bench = Command::new(env!("CARGO_BIN_EXE_attractor"))
        .args("bench --workload lorenz63 --warm-up 0 --paced".split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(bench.stdout.take().unwrap()).lines();
    let mut ask = bench.stdin.take().unwrap();
    for _ in 0..3 {
        ask.write_all(b"\n").unwrap();
        let seconds: f64 = lines.next().unwrap().unwrap().parse().unwrap();
        assert!(seconds > 0.0);
    }
    drop(ask);
    assert!(lines.next().is_none());
    assert!(bench.wait().unwrap().success());
}
