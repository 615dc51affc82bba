//! From a file to a recording in three parts: training, selection and test, in time.
//!
//! What is found in the recording itself (delays) is found in the rows before the test part.

use std::path::{self, Path};

use attractor_core::embed::{EmbedError, embed_series};
use attractor_core::inspect::{hides_states, sentinels};
use attractor_core::progress::Follow;
use attractor_core::series::{Gap, Series, Trajectory};
use attractor_core::text::{count, enumerate};

use super::{LearnError, Request};
use crate::embedding::{self, EmbeddingError};
use crate::experiment::{DataSource, threads};
use crate::format;
use crate::pipeline::{Pipeline, Step};
use crate::run::Recording;
use crate::{Error, store};

/// The share of every trajectory, at its end, that is the test part.
const TEST: f64 = 0.2;

/// The share of what is before it that candidates are selected by.
const SELECTION: f64 = 0.25;

/// Fewer rows in a row are not split.
const FEWEST: usize = 100;

/// Runs of missing rows that are interpolated, at most, where that makes longer stretches.
const BRIDGE: usize = 5;

/// The file of delay vectors.
pub(super) const STATES: &str = "states.csv";

/// Shares of trajectories that trainings hold out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shares {
    /// In the race: selection and test part.
    pub(super) race: f64,
    /// In the finals: the test part alone; 0 where whole trajectories are.
    pub(super) finals: f64,
    /// Whole trajectories that are the test part.
    pub(super) whole: Option<String>,
}

/// A recording that is ready.
pub(super) struct Prepared {
    pub(super) recording: Recording,
    pub(super) shares: Shares,
    pub(super) notes: Vec<String>,
}

/// Reads a recording and prepares it.
pub(super) fn prepare(request: &Request, follow: &mut dyn Follow) -> Result<Prepared, Error> {
    let mut notes = Vec::new();
    let source = with_missing(&request.source, &mut notes)?;
    let source = with_bridges(source, &mut notes)?;
    let recording = Recording::read(source)?;
    recording.refuse_clock()?;
    refuse_short(&recording.series, request)?;
    let (recording, test) = with_states(recording, request, follow, &mut notes)?;
    refuse_short(&recording.series, request)?;
    let shares = match &request.held_out_trajectories {
        Some(names) => Shares {
            race: SELECTION,
            finals: 0.0,
            whole: Some(names.clone()),
        },
        None => Shares {
            race: 1.0 - (1.0 - test) * (1.0 - SELECTION),
            finals: test,
            whole: None,
        },
    };
    notes.push(in_words(&recording.series, &shares));
    Ok(Prepared {
        recording,
        shares,
        notes,
    })
}

/// Refuses a recording that cannot be split.
fn refuse_short(series: &Series, request: &Request) -> Result<(), LearnError> {
    let rows = series.longest_whole().1.len();
    if rows >= FEWEST {
        return Ok(());
    }
    let path = request.source.path.clone();
    let needed = FEWEST;
    Err(LearnError::Short { rows, needed, path })
}

/// The parts in a sentence.
fn in_words(series: &Series, shares: &Shares) -> String {
    let rows = series.total_len() as f64;
    let of = |share: f64| count((rows * share).round() as usize, "row");
    match &shares.whole {
        Some(names) => format!(
            "the test part consists of whole trajectories ({names}); the last {} % of each other one select",
            100.0 * SELECTION
        ),
        None => format!(
            "of {}, {} are for training, {} for selecting among candidates, and the last {} for the verdict alone",
            count(series.total_len(), "row"),
            of(1.0 - shares.race),
            of(shares.race - shares.finals),
            of(shares.finals)
        ),
    }
}

/// The recording without numbers that stand for missing values.
fn with_missing(source: &DataSource, notes: &mut Vec<String>) -> Result<DataSource, Error> {
    let mut source = source.clone();
    let series = format::read(&source.path, &source.options)?;
    for (c, value, times) in sentinels(&series) {
        if !source.options.missing.contains(&value) {
            source.options.missing.push(value);
            let (times, name) = (count(times, "time"), &series.channels()[c].name);
            notes.push(format!(
                "{value} occurs {times} in `{name}`, far from all other values, and is read as missing"
            ));
        }
    }
    Ok(source)
}

/// The recording with short runs of missing rows interpolated, where that makes its longest stretch longer.
fn with_bridges(source: DataSource, notes: &mut Vec<String>) -> Result<DataSource, Error> {
    let (series, _) = source.read()?;
    let longest = |series: &Series| series.longest_whole().1.len();
    let bridged = DataSource {
        prepare: Pipeline {
            steps: [
                source.prepare.steps.clone(),
                vec![Step::Interpolate(Some(BRIDGE))],
            ]
            .concat(),
        },
        ..source.clone()
    };
    let before = longest(&series);
    if before == series.total_len() {
        return Ok(source);
    }
    let (filled, _) = bridged.read()?;
    if longest(&filled) <= before {
        return Ok(source);
    }
    notes.push(format!(
        "runs of at most {} are interpolated: the longest stretch then has {}, not {before}",
        count(BRIDGE, "missing row"),
        count(longest(&filled), "row")
    ));
    Ok(bridged)
}

/// The recording, or its delay vectors where it is one channel that hides states, with the share of the test part.
fn with_states(
    recording: Recording,
    request: &Request,
    follow: &mut dyn Follow,
    notes: &mut Vec<String>,
) -> Result<(Recording, f64), Error> {
    let series = &recording.series;
    let (before, _) = series.split_by_time(1.0 - TEST)?;
    if hides_states(&before).is_none() {
        return Ok((recording, TEST));
    }
    let how = embedding::Request {
        threads: threads(0),
        ..embedding::Request::default()
    };
    let name = series.channels()[0].name.clone();
    let found = match embedding::embed(&before, &how, follow) {
        Err(EmbeddingError::Values(EmbedError::Stopped(stopped))) => return Err(stopped.into()),
        Err(error) => {
            notes.push(format!(
                "`{name}` is one channel of a system with more states, but there is no embedding: {error}"
            ));
            return Ok((recording, TEST));
        }
        Ok(found) if found.coordinates.len() < 2 => {
            notes.push(format!(
                "`{name}` seems to hide states, but no delay adds to it: it is used as it is"
            ));
            return Ok((recording, TEST));
        }
        Ok(found) => found,
    };
    // No value is in a vector before and in one behind the border.
    let states =
        embed_series(&parted(series)?, &found.coordinates).map_err(EmbeddingError::from)?;
    let names: Vec<&str> = states.channels().iter().map(|c| c.name.as_str()).collect();
    notes.push(format!(
        "`{name}` is one channel of a system with more states: the states are {}; `attractor embed {} states.csv` makes them",
        enumerate(&names),
        recording.source.as_typed()
    ));
    let test = rows_behind(&states, series) as f64 / states.total_len() as f64;
    Ok((Recording::read(stored(&states, &request.out)?)?, test))
}

/// Delay vectors in a file of the folder.
fn stored(states: &Series, folder: &Path) -> Result<DataSource, Error> {
    let path = folder.join(STATES);
    store::make_folder(folder)?;
    format::write(&path, states)?;
    let path = path::absolute(&path).map_err(|source| Error::Read { path, source })?;
    Ok(DataSource {
        path,
        ..DataSource::default()
    })
}

/// The series with a gap where the test part begins.
fn parted(series: &Series) -> Result<Series, Error> {
    let part = |i: usize| -> Trajectory {
        let rows = series.len_of(i);
        let row = border(rows);
        let mut parted = series.trajectories()[i].clone();
        let place = parted.gaps.partition_point(|gap| gap.row < row);
        if row > 0 && row < rows && parted.gaps.get(place).is_none_or(|gap| gap.row != row) {
            let time = series.time_of(i, row);
            parted.gaps.insert(place, Gap { row, time });
        }
        parted
    };
    Ok(series.with((0..series.trajectories().len()).map(part).collect())?)
}

/// The first row of the test part, of so many rows.
fn border(rows: usize) -> usize {
    (rows as f64 * (1.0 - TEST)).round() as usize
}

/// How many rows of the delay vectors are of the test part.
fn rows_behind(states: &Series, series: &Series) -> usize {
    if series.trajectories().len() > 1 || states.trajectories().len() > 1 {
        return (states.total_len() as f64 * TEST).round() as usize;
    }
    let from = series.time_of(0, border(series.len_of(0)));
    // Half a step, for times that are sums of steps.
    let from = from - 0.5 * series.step().dt;
    let rows = 0..states.len_of(0);
    rows.filter(|&row| states.time_of(0, row) >= from).count()
}

impl Shares {
    /// What trainings hold out, as settings.
    pub(super) fn settings(&self, share: f64) -> Vec<(&'static str, String)> {
        let whole = self.whole.iter();
        let whole = whole.map(|names| ("held-out-trajectories", names.clone()));
        [("held-out", share.to_string())]
            .into_iter()
            .chain(whole)
            .collect()
    }
}
