//! What a series accepts, how it is cut, and that standardising is exact.

use super::*;

fn gap(row: usize) -> Gap {
    Gap {
        row,
        time: 100.0 * row as f64,
    }
}

fn sample() -> Series {
    let mut long = Trajectory::new((0..20).map(f64::from).collect());
    long.gaps = vec![gap(3), gap(7)];
    let short = Trajectory::new(vec![1.0, f64::NAN, 3.0, 5.0]);
    Series::new(
        Channel::numbered("x", 2),
        vec![],
        Step::default(),
        vec![long, short],
    )
    .unwrap()
}

#[test]
fn the_longest_complete_stretch_is_found() {
    let x = [1.0, f64::NAN, 3.0, 4.0, 5.0, f64::NAN, 7.0, 8.0];
    let series = Series::from_rows(x.to_vec(), 1, 1.0).unwrap();
    assert_eq!(series.longest_whole(), (0, 2..5));
    let series = Series::from_rows(vec![1.0, 2.0], 1, 1.0).unwrap();
    assert_eq!(series.longest_whole(), (0, 0..2));
    let parts: Vec<_> = sample().whole_stretches().collect();
    let rows: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
    assert_eq!(rows, 11, "{parts:?}");
}

#[test]
fn segments_end_at_gaps() {
    let series = sample();
    assert_eq!(series.segments(0), [0..3, 3..7, 7..10]);
    assert_eq!(series.segments(1), vec![0..2]);
    assert_eq!((series.total_len(), series.missing()), (12, 1));
}

#[test]
fn splitting_by_time_keeps_every_row_and_the_gaps() {
    let (early, late) = sample().split_by_time(0.5).unwrap();
    assert_eq!((early.total_len(), late.total_len()), (6, 6));
    assert_eq!(early.trajectories()[0].gaps, [gap(3)]);
    assert_eq!(
        late.trajectories()[0].gaps,
        [Gap {
            row: 2,
            time: 700.0
        }]
    );
    assert_eq!(late.trajectories()[0].start, 302.0);
    assert_eq!(late.trajectories()[0].x[0], 10.0);
}

#[test]
fn splitting_off_everything_is_an_error() {
    assert_eq!(sample().split_by_time(1.0).unwrap_err(), SeriesError::NoRow);
    assert_eq!(
        sample().split_by_trajectory(|_| true).unwrap_err(),
        SeriesError::NoRow
    );
    let (first, second) = sample().split_by_trajectory(|i| i == 0).unwrap();
    assert_eq!((first.total_len(), second.total_len()), (10, 2));
}

#[test]
fn standardising_gives_unit_moments_and_inverts() {
    let series = Series::from_rows(
        (0..300).map(|i| f64::from(i * i % 97) + 1e6).collect(),
        3,
        0.1,
    )
    .unwrap();
    let scaling = Scaling::standardizing(&series);
    let scaled = scaling.apply(&series);
    for c in 0..3 {
        let (mean, sd) = mean_and_sd(scaled.column(c));
        // Rounding of values near 1e6 divided by a spread near 30: 1e6 · 1.1e-16 / 30 each.
        assert!(
            mean.abs() < 1e-10 && (sd - 1.0).abs() < 1e-10,
            "{mean} {sd}"
        );
    }
    let back = scaling.invert(&scaled);
    assert!(
        back.rows()
            .flatten()
            .zip(series.rows().flatten())
            .all(|(a, b)| (a - b).abs() < 1e-8)
    );
}

/// Scaling by a power of two rounds nothing, and so scales moments to the bit, as long as no square is denormal in one
/// of both.
#[test]
fn moments_scale_with_their_values_from_end_to_end_of_the_numbers() {
    let values: Vec<f64> = (0..500)
        .map(|i| f64::from(i * i % 97) / 97.0 - 0.3)
        .chain([f64::NAN])
        .collect();
    let (mean, sd) = mean_and_sd(values.iter().copied());
    for exponent in [-1015, -900, -540, -500, 0, 500, 512, 900, 1015] {
        let unit = 2f64.powi(exponent);
        let scaled = mean_and_sd(values.iter().map(|v| v * unit));
        assert_eq!(scaled, (mean * unit, sd * unit), "2^{exponent}");
    }
}

#[test]
fn the_least_and_the_largest_numbers_have_a_spread() {
    let least = f64::from_bits(1);
    let mostly_zero = (0..1000).map(|i| if i == 7 { least } else { 0.0 });
    assert_eq!(mean_and_sd(mostly_zero), (0.0, least));
    let ends = [f64::MAX, f64::MIN, f64::MAX, f64::MIN];
    assert_eq!(mean_and_sd(ends.into_iter()), (0.0, f64::MAX));
    assert_eq!(mean_and_sd([f64::MAX; 3].into_iter()), (f64::MAX, 0.0));
    assert!(mean_and_sd([f64::INFINITY, 0.0].into_iter()).1.is_nan());
}

#[test]
fn standardising_gives_unit_moments_at_every_scale() {
    for scale in [1e-307, 1e-300, 1e-162, 1e200, 1e300, 1e308] {
        let wave = |i: i32| scale * (1.7 * (0.37 * f64::from(i)).sin() - 0.05);
        let series = Series::from_rows((0..400).map(wave).collect(), 1, 1.0).unwrap();
        let scaled = Scaling::standardizing(&series).apply(&series);
        let (mean, sd) = mean_and_sd(scaled.column(0));
        // 400 values of order one, rounded a few times; those near 1e-307 to 2⁻¹⁰⁷⁴, 5e-17 of them.
        assert!(mean.abs() < 1e-13 && (sd - 1.0).abs() < 1e-13, "{scale}");
    }
}

#[test]
fn a_constant_channel_is_only_centred() {
    let series = Series::from_rows(vec![4.0; 10], 1, 1.0).unwrap();
    let scaling = Scaling::standardizing(&series);
    assert_eq!((scaling.mean[0], scaling.sd[0]), (4.0, 1.0));
}

#[test]
fn bad_values_are_refused() {
    let rows = |x| Series::from_rows(x, 2, 1.0).unwrap_err();
    assert_eq!(rows(vec![]), SeriesError::NoRow);
    assert_eq!(
        rows(vec![1.0; 3]),
        SeriesError::Shape {
            trajectory: 0,
            values: 3,
            columns: 2
        }
    );
    assert_eq!(rows(vec![f64::NAN; 4]), SeriesError::AllMissing);
    let infinite = SeriesError::Infinite {
        trajectory: 0,
        row: 1,
        channel: "x2".into(),
    };
    assert_eq!(rows(vec![0.0, 0.0, 0.0, f64::INFINITY]), infinite);
    assert_eq!(
        Series::from_rows(vec![1.0], 0, 1.0).unwrap_err(),
        SeriesError::NoChannel
    );
    assert_eq!(
        Series::from_rows(vec![1.0], 1, 0.0).unwrap_err(),
        SeriesError::Step { dt: 0.0 }
    );
    let twice = vec![Channel::named("x"), Channel::named("x")];
    let error = Series::new(
        twice,
        vec![],
        Step::default(),
        vec![Trajectory::new(vec![0.0; 2])],
    )
    .unwrap_err();
    assert_eq!(error, SeriesError::DuplicateName { name: "x".into() });
}

fn at_times(times: &[f64]) -> Result<Series, SeriesError> {
    let t = Trajectory {
        start: 1.0,
        times: times.to_vec(),
        ..Trajectory::new(vec![0.0; 8])
    };
    Series::new(Channel::numbered("x", 2), vec![], Step::default(), vec![t])
}

#[test]
fn rows_at_their_own_times_follow_one_another_in_no_segment() {
    let series = at_times(&[1.0, 1.5, 4.0, 4.2]).unwrap();
    assert!(series.has_own_times() && !sample().has_own_times());
    assert_eq!(series.segments(0), [0..1, 1..2, 2..3, 3..4]);
    assert_eq!(series.longest_whole(), (0, 0..1));
    let part = series.slice(0, 1..3);
    assert_eq!((part.start, part.times.as_slice()), (1.5, &[1.5, 4.0][..]));
    assert_eq!(series.time_of(0, 3), 4.2);
}

#[test]
fn times_that_are_not_those_of_the_rows_are_refused() {
    for times in [
        &[1.0, 1.5, 4.0][..],
        &[1.0, 1.5, 1.5, 2.0],
        &[0.0, 1.5, 2.0, 2.5],
        &[1.0, 1.5, 2.0, f64::INFINITY],
    ] {
        assert_eq!(at_times(times), Err(SeriesError::Times { trajectory: 0 }));
    }
}

#[test]
fn gaps_must_lie_inside_and_ascend() {
    for gaps in [vec![gap(0)], vec![gap(5)], vec![gap(3), gap(2)]] {
        let t = Trajectory {
            gaps,
            ..Trajectory::new(vec![0.0; 10])
        };
        let made = Series::new(Channel::numbered("x", 2), vec![], Step::default(), vec![t]);
        assert!(matches!(made, Err(SeriesError::Gap { .. })));
    }
}
