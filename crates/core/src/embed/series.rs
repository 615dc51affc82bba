//! A recording as a recording of delay vectors. Rows at the end of every segment, which have no value a delay later, fall away;
//! a segment without rows left does too. Missing values stay missing, inputs stay with their row.

use super::{Coordinate, EmbedError};
use crate::series::{Channel, Gap, Series, Trajectory};

/// The name of a coordinate: `x`, or `x(t+18)`.
pub fn coordinate_name(name: &str, delay: usize) -> String {
    match delay {
        0 => name.to_string(),
        _ => format!("{name}(t+{delay})"),
    }
}

/// The delay vectors of all rows that have them.
///
/// # Panics
/// If there is no coordinate, or the same one twice.
pub fn embed_series(series: &Series, coordinates: &[Coordinate]) -> Result<Series, EmbedError> {
    let reach = coordinates.iter().map(|c| c.delay).max();
    let reach = reach.expect("an embedding has a coordinate");
    let channels = coordinates.iter().map(|c| {
        let channel = &series.channels()[c.channel];
        Channel {
            name: coordinate_name(&channel.name, c.delay),
            unit: channel.unit.clone(),
        }
    });
    let embedded = (0..series.trajectories().len())
        .filter_map(|i| embed_trajectory(series, i, coordinates, reach))
        .collect();
    let made = Series::new(
        channels.collect(),
        series.inputs().to_vec(),
        series.step().clone(),
        embedded,
    );
    made.map_err(|_| EmbedError::TooShort {
        needed: reach + 1,
        found: longest_segment(series),
    })
}

fn longest_segment(series: &Series) -> usize {
    let trajectories = 0..series.trajectories().len();
    let segments = trajectories.flat_map(|i| series.segments(i));
    segments.map(|segment| segment.len()).max().unwrap_or(0)
}

fn embed_trajectory(
    series: &Series,
    i: usize,
    coordinates: &[Coordinate],
    reach: usize,
) -> Option<Trajectory> {
    let (n, k) = (series.dim_obs(), series.dim_input());
    let from = &series.trajectories()[i];
    let mut embedded = Trajectory {
        name: from.name.clone(),
        ..Trajectory::new(Vec::new())
    };
    for segment in series.segments(i) {
        let rows = segment.start..segment.end.saturating_sub(reach).max(segment.start);
        if rows.is_empty() {
            continue;
        }
        let time = series.time_of(i, rows.start);
        match embedded.x.len() / coordinates.len() {
            0 => embedded.start = time,
            row => embedded.gaps.push(Gap { row, time }),
        }
        embedded.s.extend(&from.s[rows.start * k..rows.end * k]);
        let values = rows.flat_map(|t| {
            coordinates
                .iter()
                .map(move |c| from.x[(t + c.delay) * n + c.channel])
        });
        embedded.x.extend(values);
    }
    (!embedded.x.is_empty()).then_some(embedded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Step;

    #[test]
    fn values_come_from_later_rows_of_the_same_segment() {
        let x: Vec<f64> = (0..20)
            .flat_map(|t| [f64::from(t), -f64::from(t)])
            .collect();
        let parts = vec![Trajectory {
            s: (0..20).map(|t| 100.0 + f64::from(t)).collect(),
            gaps: vec![
                Gap {
                    row: 10,
                    time: 50.0,
                },
                Gap {
                    row: 12,
                    time: 80.0,
                },
            ],
            ..Trajectory::new(x)
        }];
        let series = Series::new(
            Channel::numbered("x", 2),
            vec![Channel::named("s")],
            Step::default(),
            parts,
        )
        .unwrap();
        let found = embed_series(&series, &[Coordinate::new(1, 0), Coordinate::new(0, 3)]).unwrap();
        let names: Vec<&str> = found.channels().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["x2", "x1(t+3)"]);
        let made = &found.trajectories()[0];
        // Seven rows of the first segment, none of the second, five of the third.
        assert_eq!(found.total_len(), 12);
        assert_eq!(made.gaps, [Gap { row: 7, time: 80.0 }]);
        assert_eq!(made.x[12..16], [-6.0, 9.0, -12.0, 15.0]);
        assert_eq!(made.s[6..8], [106.0, 112.0]);
    }

    #[test]
    fn a_delay_longer_than_every_segment_leaves_nothing() {
        let series = Series::from_rows(vec![1.0; 30], 1, 1.0).unwrap();
        let error = embed_series(&series, &[Coordinate::new(0, 30)]).unwrap_err();
        let expected = EmbedError::TooShort {
            needed: 31,
            found: 30,
        };
        assert_eq!(error, expected);
    }
}
