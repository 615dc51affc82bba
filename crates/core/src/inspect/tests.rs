//! Every check on data with its fault and on data without, and on arbitrary small recordings.

use std::f64::consts::TAU;

use proptest::prelude::*;

use super::*;
use crate::rng::{Rng, Stream};
use crate::series::{Channel, Gap, Trajectory};
use crate::text::figure;

/// Two channels of smoothed noise with mean 0, spread 1 and an autocorrelation time of some 10 rows: φ = 0.9.
fn clean(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, Stream::Noise);
    let phi: f64 = 0.9;
    let mut x = [rng.normal(), rng.normal()];
    let mut rows = Vec::with_capacity(2 * n);
    for _ in 0..n {
        for v in &mut x {
            *v = phi * *v + (1.0 - phi * phi).sqrt() * rng.normal();
        }
        rows.extend(x);
    }
    rows
}

fn series(rows: Vec<f64>) -> Series {
    Series::from_rows(rows, 2, 1.0).unwrap()
}

/// `clean` with the second channel changed row by row.
fn with_second(n: usize, change: impl Fn(usize, f64, f64) -> f64) -> Series {
    let mut rows = clean(n, 1);
    for t in 0..n {
        rows[2 * t + 1] = change(t, rows[2 * t], rows[2 * t + 1]);
    }
    series(rows)
}

fn looked(series: &Series) -> Inspection {
    inspect(series, Options::default())
}

fn checks(inspection: &Inspection) -> Vec<&'static str> {
    inspection.findings.iter().map(|f| f.check).collect()
}

fn finding<'a>(inspection: &'a Inspection, check: &str) -> &'a Finding {
    let found = inspection.findings.iter().find(|f| f.check == check);
    found.unwrap_or_else(|| panic!("no `{check}` in {:#?}", inspection.findings))
}

fn second() -> Subject {
    Subject::Channels(vec!["x2".to_string()])
}

#[test]
fn clean_recordings_are_clean() {
    for seed in 0..20 {
        let inspection = looked(&series(clean(20_000, seed)));
        assert_eq!(checks(&inspection), [""; 0], "{:#?}", inspection.findings);
    }
}

#[test]
fn findings_are_ranked_and_every_check_has_its_own_name() {
    let series = with_second(150, |_, _, _| 7.0);
    let severities: Vec<Severity> = looked(&series)
        .findings
        .iter()
        .map(|f| f.severity)
        .collect();
    assert!(severities.is_sorted() && severities.len() > 1);
    let mut names: Vec<&str> = CHECKS.iter().map(|c| c.id).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CHECKS.len());
}

#[test]
fn a_constant_channel_is_the_gravest() {
    let inspection = looked(&with_second(1000, |_, _, _| 7.0));
    let top = &inspection.findings[0];
    assert_eq!((top.check, top.severity), ("constant", Severity::Problem));
    assert_eq!(top.subject, second());
    assert_eq!(top.what, "never changes: every value is 7");
    assert_eq!(inspection.channels[1].autocorrelation_time, None);
}

#[test]
fn copies_are_found_up_to_scale() {
    let equal = looked(&with_second(1000, |_, x, _| x));
    assert!(
        finding(&equal, "duplicate-channels")
            .what
            .contains("equal in every row")
    );
    let scaled = looked(&with_second(1000, |_, x, _| 3.0 - 2.0 * x));
    assert!(
        finding(&scaled, "duplicate-channels")
            .what
            .contains("correlation -1")
    );
    // Correlation 0.995: close, but not the same.
    let near = looked(&with_second(1000, |_, x, y| x + 0.1 * y));
    assert!(!checks(&near).contains(&"duplicate-channels"));
}

#[test]
fn a_grid_is_found_with_its_step() {
    let coarse = looked(&with_second(5000, |_, _, y| (y / 0.25).round() * 0.25));
    let seen = finding(&coarse, "quantised");
    assert_eq!(
        (seen.severity, &seen.subject),
        (Severity::Warning, &second())
    );
    assert!(
        seen.what.contains("grid of step 0.25, 1/4 of the spread"),
        "{}",
        seen.what
    );
    // A 12-bit converter, then scaled in single precision.
    let fine = looked(&with_second(20_000, |_, _, y| {
        f64::from(((y / 0.003).round() * 0.003) as f32)
    }));
    let seen = finding(&fine, "quantised");
    assert_eq!(seen.severity, Severity::Note);
    assert!(seen.what.contains("step 0.003,"), "{}", seen.what);
    let single = looked(&with_second(20_000, |_, _, y| f64::from(y as f32)));
    assert!(!checks(&single).contains(&"quantised"));
    let two_valued = looked(&with_second(5000, |_, _, y| y.signum()));
    assert!(
        finding(&two_valued, "quantised")
            .what
            .starts_with("few values occur: 2 distinct")
    );
}

#[test]
fn a_trend_is_told_from_slow_dynamics() {
    let n = 20_000;
    let part = |t: usize| t as f64 / n as f64 - 0.5;
    let drifting = looked(&with_second(n, |t, _, y| y + part(t)));
    assert_eq!(finding(&drifting, "trend").subject, second());
    let widening = looked(&with_second(n, |t, _, y| y * (1.0 + part(t))));
    assert_eq!(finding(&widening, "changing-spread").subject, second());
    // Ten cycles of a slow oscillation are no trend.
    let slow = looked(&with_second(n, |t, _, y| y + (TAU * 10.0 * part(t)).sin()));
    assert!(!checks(&slow).contains(&"trend"));
}

#[test]
fn scale_is_asked_for_within_a_tenth() {
    let narrow = looked(&with_second(5000, |_, _, y| 0.83 * y));
    let seen = finding(&narrow, "unscaled");
    assert_eq!(seen.subject, second());
    let sd = figure(narrow.channels[1].sd);
    assert_eq!(seen.what, format!("spread {sd}, not 1"));
    let noisy = looked(&with_second(20_000, |_, _, y| 1.0011 * y));
    assert!(!checks(&noisy).contains(&"unscaled"));
}

#[test]
fn stuck_rows_and_values_are_found_where_they_are() {
    let mut rows = clean(5000, 1);
    for t in 1001..1040 {
        rows.copy_within(2000..2002, 2 * t);
    }
    let stuck = looked(&series(rows));
    let seen = finding(&stuck, "held-values");
    assert_eq!(
        seen.subject,
        Subject::Rows {
            trajectory: 0,
            first: 1000,
            end: 1040
        }
    );
    let saturated = looked(&with_second(5000, |_, _, y| y.min(1.0)));
    assert!(
        finding(&saturated, "held-values")
            .what
            .ends_with("saturated")
    );
    let twice: Vec<f64> = clean(2500, 1)
        .chunks(2)
        .flat_map(|r| [r[0], r[1], r[0], r[1]])
        .collect();
    let held = looked(&series(twice));
    assert!(
        finding(&held, "held-values")
            .what
            .starts_with("50 % of the rows")
    );
    // Rounding to a tenth of a spread repeats values often, but never for long.
    let rounded = looked(&with_second(5000, |_, _, y| (y * 10.0).round() / 10.0));
    assert!(!checks(&rounded).contains(&"held-values"));
}

#[test]
fn pasted_rows_are_found() {
    let mut rows = clean(5000, 1);
    rows.copy_within(1000..1200, 7000);
    let seen = looked(&series(rows));
    let seen = finding(&seen, "repeated-rows");
    assert!(
        seen.what.starts_with("100 rows occur again from row 3501"),
        "{}",
        seen.what
    );
}

#[test]
fn missing_values_are_counted() {
    let holed = looked(&with_second(1000, |t, _, y| {
        if (7..12).contains(&(t % 100)) {
            f64::NAN
        } else {
            y
        }
    }));
    let seen = finding(&holed, "missing");
    assert_eq!(
        seen.what,
        "50 values missing (5 %), at most 5 in a row, the first in row 8"
    );
    assert_eq!(
        (seen.severity, holed.channels[1].missing),
        (Severity::Warning, 50)
    );
    let mostly = looked(&with_second(
        1000,
        |t, _, y| if t % 3 > 0 { f64::NAN } else { y },
    ));
    assert_eq!(finding(&mostly, "missing").severity, Severity::Problem);
}

#[test]
fn gaps_inputs_and_short_recordings_are_told() {
    let mut t = Trajectory::new(clean(1000, 1));
    t.gaps = vec![Gap {
        row: 100,
        time: 200.0,
    }];
    t.s = vec![1.0; 1000];
    let s = Series::new(
        Channel::numbered("x", 2),
        vec![Channel::named("drug")],
        Step::default(),
        vec![t],
    )
    .unwrap();
    let inspection = looked(&s);
    assert!(
        finding(&inspection, "gaps")
            .what
            .contains("100 of 1000 rows")
    );
    assert_eq!(
        finding(&inspection, "inputs").what,
        "external input never changes"
    );
    assert_eq!(inspection.trajectories[0].end, 1099.0);
    assert!(!checks(&inspection).contains(&"too-short"));
    let short = inspect(&s, Options { window: 900 });
    let seen = finding(&short, "too-short");
    assert!(seen.what.contains("900 rows") && seen.remedy.to_string().contains("`--window 899`"));
    assert!(!checks(&inspect(&s, Options { window: 899 })).contains(&"too-short"));
}

#[test]
fn one_wild_value_is_an_outlier_and_spikes_are_not() {
    let wild = looked(&with_second(
        5000,
        |t, _, y| if t == 777 { 40.0 } else { y },
    ));
    let seen = finding(&wild, "outliers");
    assert!(
        seen.what.starts_with("1 value far") && seen.what.contains("row 778"),
        "{}",
        seen.what
    );
    let spike = |t: usize| (-((t % 200) as f64 - 100.0).powi(2) / 50.0).exp();
    let heart = looked(&with_second(5000, |t, _, y| 0.1 * y + 8.0 * spike(t)));
    assert!(!checks(&heart).contains(&"outliers"));
}

#[test]
fn sampling_is_judged_by_the_autocorrelation_time() {
    let mut rng = Rng::new(5, Stream::Noise);
    let noise: Vec<f64> = (0..10_000).map(|_| rng.normal()).collect();
    let coarse = looked(&with_second(10_000, |t, _, _| noise[t]));
    assert_eq!(finding(&coarse, "sampling").severity, Severity::Warning);
    let fine = looked(&with_second(200_000, |t, _, _| {
        (TAU * t as f64 / 2500.5).sin()
    }));
    assert_eq!(finding(&fine, "sampling").severity, Severity::Note);
    assert!(!checks(&fine).contains(&"few-cycles"));
    let few = looked(&with_second(20_000, |t, _, _| {
        (TAU * t as f64 / 1000.0).sin()
    }));
    let seen = finding(&few, "few-cycles");
    assert!(
        seen.what.contains("only") && seen.what.contains("periods"),
        "{}",
        seen.what
    );
    // The window of 1250 lags holds little more than one period, so that the peak at −f pulls by some per cent.
    let rows = few.channels[1].period.unwrap().rows;
    assert!((rows / 1000.0 - 1.0).abs() < 0.1, "{rows}");
}

#[test]
fn a_start_off_the_attractor_is_a_transient() {
    let n = 20_000;
    let circle = |t: usize| {
        let r = 1.4 + 0.05 * (t as f64 * 0.0137).sin() + 3.0 * (-(t as f64) / 100.0).exp();
        let angle = t as f64 * 0.1;
        [r * angle.cos(), r * angle.sin()]
    };
    let start = looked(&series((0..n).flat_map(circle).collect()));
    let Subject::Rows { first: 0, end, .. } = finding(&start, "transient").subject else {
        panic!("a transient is at the start");
    };
    // 3 e^(−t/100) falls to the usual distances, some 0.01 … 0.05, after 400 … 600 rows.
    assert!((200..700).contains(&end), "{end}");
    let later = looked(&series((1500..n + 1500).flat_map(circle).collect()));
    assert!(!checks(&later).contains(&"transient"));
}

#[test]
fn delays_are_found_exactly() {
    let signal: Vec<f64> = clean(3000, 1).iter().step_by(2).copied().collect();
    let lags = [10, 0, 30, 10, 71];
    let rows: Vec<f64> = (0..1400)
        .flat_map(|t| lags.map(|lag| signal[t + lag]))
        .collect();
    let embedded = looked(&Series::from_rows(rows, 5, 1.0).unwrap());
    let seen = finding(&embedded, "delay-embedding");
    // Relative to the first column; the fourth equals it and is a duplicate, not a delay.
    assert!(
        seen.what.ends_with("lags 0, -10, 20, 61 rows"),
        "{}",
        seen.what
    );
    assert!(checks(&embedded).contains(&"duplicate-channels"));
}

fn compared(first: &Series, second: &Series) -> Inspection {
    inspect_against(first, second, Options::default())
}

#[test]
fn a_file_compared_with_itself_is_the_top_problem() {
    let first = series(clean(3000, 1));
    let top = compared(&first, &first).findings.remove(0);
    assert_eq!((top.check, top.severity), ("same-data", Severity::Problem));
    assert_eq!(top.what, "the second is the first: all 3000 rows are equal");
    let rounded = first.map_values(|_, v| f64::from(v as f32));
    let top = compared(&first, &rounded).findings.remove(0);
    assert!(top.check == "same-data" && top.what.contains("up to rounding"));
    let mut rng = Rng::new(9, Stream::Noise);
    let noise: Vec<f64> = (0..6000).map(|_| 0.05 * rng.normal()).collect();
    let noisy: Vec<f64> = first
        .rows()
        .flatten()
        .zip(&noise)
        .map(|(v, e)| 2.0 * (v + e))
        .collect();
    let top = compared(&first, &series(noisy)).findings.remove(0);
    assert!(top.check == "same-data" && top.what.contains("scale and noise"));
}

#[test]
fn unrelated_recordings_compare_clean() {
    for seed in 0..10 {
        let found = compared(&series(clean(5000, seed)), &series(clean(4000, seed + 100)));
        assert_eq!(checks(&found), [""; 0], "{:#?}", found.findings);
        assert_eq!(found.against.unwrap().differences.len(), 2);
    }
}

#[test]
fn overlaps_are_found_at_their_offsets() {
    let rows = clean(5000, 1);
    let (first, second) = (series(rows[..6000].to_vec()), series(rows[5000..].to_vec()));
    let found = compared(&first, &second);
    let seen = finding(&found, "overlap");
    assert_eq!(seen.severity, Severity::Problem);
    assert!(
        seen.what
            .starts_with("500 rows are in both: from row 2501 of the first and from row 1 ")
    );
}

#[test]
fn continuation_is_seen_both_ways_and_through_delays() {
    let flow = |t: usize| {
        [(t as f64 * 0.05).sin(), (t as f64 * 0.05 * 1.618).cos()].map(|v| v * 2f64.sqrt())
    };
    let part = |range: std::ops::Range<usize>| series(range.flat_map(flow).collect());
    let found = compared(&part(0..4000), &part(4000..7000));
    assert!(
        finding(&found, "continues")
            .what
            .starts_with("the second continues")
    );
    let found = compared(&part(4000..7000), &part(0..4000));
    assert!(
        finding(&found, "continues")
            .what
            .starts_with("the first continues")
    );
    assert!(!checks(&compared(&part(0..4000), &part(4100..7000))).contains(&"continues"));

    let signal: Vec<f64> = clean(5000, 1).iter().step_by(2).copied().collect();
    let embedded = |range: std::ops::Range<usize>| {
        series(range.flat_map(|t| [signal[t + 40], signal[t]]).collect())
    };
    let found = compared(&embedded(0..2000), &embedded(2000..4900));
    assert!(
        finding(&found, "continues")
            .what
            .contains("first 40 values")
    );
    assert!(!checks(&compared(&embedded(0..2000), &embedded(2001..4900))).contains(&"continues"));
}

#[test]
fn mismatches_of_channels_step_and_scale_are_told() {
    let first = series(clean(3000, 1));
    let one = Series::from_rows(clean(3000, 2), 1, 1.0).unwrap();
    assert_eq!(compared(&first, &one).findings[0].check, "channels-differ");
    let slower = Series::from_rows(clean(3000, 2), 2, 2.0).unwrap();
    assert_eq!(
        finding(&compared(&first, &slower), "step-differs").severity,
        Severity::Problem
    );
    // Every fourth row of as many: τ = 9.5 rows becomes 2.4.
    let thinned = clean(40_000, 2)
        .chunks_exact(8)
        .flat_map(|rows| rows[..2].to_vec())
        .collect();
    let found = compared(&series(clean(10_000, 1)), &series(thinned));
    assert_eq!(
        finding(&found, "memory-differs").severity,
        Severity::Warning
    );
    for seed in 2..12 {
        let alike = compared(&series(clean(3000, 1)), &series(clean(2000, seed)));
        assert!(!checks(&alike).contains(&"memory-differs"));
    }
    let wider = series(clean(3000, 2)).map_values(|c, v| if c == 1 { 2.0 * v } else { v });
    let found = compared(&first, &wider);
    assert_eq!(finding(&found, "scale-differs").subject, second());
    let ratio = found.against.unwrap().differences[1].spread_ratio;
    // Spreads of 3000 rows with τ = 10 are known to √(10/6000) = 4 %; five of these for two.
    assert!((ratio / 2.0 - 1.0).abs() < 0.3, "{ratio}");
}

#[test]
fn the_smallest_recordings_are_told_to_be_short() {
    for rows in [vec![1.0], vec![1.0, 2.0], vec![f64::NAN, 1.0, f64::NAN]] {
        let inspection = looked(&Series::from_rows(rows, 1, 1.0).unwrap());
        assert!(checks(&inspection).contains(&"too-short"));
    }
}

/// In other units nothing changes but the figures that have them: powers of two are not rounded.
#[test]
fn what_has_no_unit_does_not_depend_on_the_scale() {
    let wave = |t: i32| (0.13 * f64::from(t)).sin() + 0.4 * (0.041 * f64::from(t)).cos();
    let drifting = (0..3000).flat_map(|t| [wave(t), wave(t + 700) + 0.002 * f64::from(t)]);
    let rows: Vec<f64> = drifting.collect();
    let at = |scale: f64| {
        let scaled = |rows: &[f64]| {
            let x = rows.iter().map(|v| v * scale).collect();
            Series::from_rows(x, 2, 1.0).unwrap()
        };
        compared(&scaled(&rows), &scaled(&rows[1000..]))
    };
    let (usual, moved) = (at(1.0), |found: &Inspection| {
        found.against.as_ref().unwrap().differences.clone()
    });
    for exponent in [-1000, -540, 540, 1000] {
        let scale = 2f64.powi(exponent);
        let found = at(scale);
        for (a, b) in found.channels.iter().zip(&usual.channels) {
            assert_eq!((a.mean, a.sd), (b.mean * scale, b.sd * scale));
            assert_eq!(a.autocorrelation_time, b.autocorrelation_time);
            assert_eq!(a.period, b.period);
        }
        assert_eq!(moved(&found), moved(&usual));
        let told = |found: &Inspection| -> Vec<(&str, Subject)> {
            let scaled = found.findings.iter().filter(|f| f.check != "unscaled");
            scaled.map(|f| (f.check, f.subject.clone())).collect()
        };
        assert_eq!(told(&found), told(&usual), "2^{exponent}");
    }
    assert!(checks(&usual).contains(&"trend"));
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-3i32..4).prop_map(f64::from),
        4 => -2.0..2.0f64,
        2 => Just(f64::NAN),
        1 => prop_oneof![Just(f64::MAX), Just(f64::MIN), Just(f64::MIN_POSITIVE), Just(-0.0), Just(1e200)],
    ]
}

/// Recordings of one to three channels in one or two trajectories, with or without a gap.
fn arbitrary() -> impl Strategy<Value = Option<Series>> {
    let trajectory = |n: usize| {
        prop::collection::vec(value(), n..=80 * n).prop_map(move |mut x| {
            x.truncate(x.len() / n * n);
            x
        })
    };
    (1usize..4).prop_flat_map(move |n| {
        prop::collection::vec((trajectory(n), 1usize..80), 1..3).prop_map(move |parts| {
            let trajectories = parts.into_iter().map(|(x, gap)| Trajectory {
                gaps: Vec::from_iter((gap < x.len() / n).then_some(Gap {
                    row: gap,
                    time: 1e3,
                })),
                ..Trajectory::new(x)
            });
            let channels = Channel::numbered("x", n);
            Series::new(channels, vec![], Step::default(), trajectories.collect()).ok()
        })
    })
}

proptest! {
    #[test]
    fn arbitrary_recordings_are_inspected(first in arbitrary(), other in arbitrary(), window in 1usize..100) {
        if let (Some(first), Some(other)) = (first, other) {
            let found = inspect_against(&first, &other, Options { window });
            prop_assert_eq!(found.channels.len(), first.dim_obs());
            prop_assert!(found.findings.iter().all(|f| !f.what.is_empty() && !f.remedy.parts().is_empty()));
            let itself = inspect_against(&first, &first, Options { window });
            prop_assert_eq!(itself.findings[0].check, "same-data");
        }
    }
}
