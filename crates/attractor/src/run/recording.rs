//! A recording that runs are fitted to: read, prepared and hashed once, however many runs there are.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use attractor_core::inspect::{Clock, clocks, hides_states, missing_flag, sentinels};
use attractor_core::measure::evaluate::{Reference, Which};
use attractor_core::series::{Scaling, Series};
use attractor_core::text::{count, enumerate};

use crate::experiment::{self, DataSource, ExperimentError, Preparation, Prepared};
use crate::fingerprint::Fingerprint;
use crate::format::{Column, ReadOptions};
use crate::model_file::Card;
use crate::pipeline::{Pipeline, Step};
use crate::{Error, shell};

/// A recording, where it is from, and what was done to it.
pub struct Recording {
    /// The rows, after the steps of its preparation.
    pub series: Series,
    /// Where it is, and how it is read.
    pub source: DataSource,
    /// The steps that new data are to pass.
    pub pipeline: Pipeline,
    fingerprint: OnceLock<String>,
    prepared: Known<Preparation, Prepared>,
    references: Known<Key, Reference>,
}

/// What was made before, by what it depends on.
type Known<K, T> = Mutex<Vec<(K, Arc<T>)>>;

/// What a reference for choosing parameters depends on.
type Key = (Preparation, Which);

impl Clone for Recording {
    /// The rows are copied; what was made of them before is shared.
    fn clone(&self) -> Recording {
        Recording {
            series: self.series.clone(),
            source: self.source.clone(),
            pipeline: self.pipeline.clone(),
            fingerprint: self.fingerprint.clone(),
            prepared: Mutex::new(locked(&self.prepared).clone()),
            references: Mutex::new(locked(&self.references).clone()),
        }
    }
}

impl Recording {
    /// Reads a recording.
    pub fn read(source: DataSource) -> Result<Recording, Error> {
        let (series, pipeline) = source.read()?;
        Ok(Recording::new(series, source, pipeline))
    }

    /// A recording that has been read.
    pub fn new(series: Series, source: DataSource, pipeline: Pipeline) -> Recording {
        Recording {
            series,
            source,
            pipeline,
            fingerprint: OnceLock::new(),
            prepared: Known::default(),
            references: Known::default(),
        }
    }

    /// A recording that is in memory alone.
    pub fn in_memory(series: Series) -> Recording {
        Recording::new(series, DataSource::default(), Pipeline::default())
    }

    /// Whether there is a file of it.
    pub fn is_on_disk(&self) -> bool {
        !self.source.path.as_os_str().is_empty()
    }

    /// The same under the name of a file that is to hold it.
    pub(crate) fn kept_as(&self, path: PathBuf) -> Recording {
        let own = self.series.has_own_times();
        let source = DataSource {
            path,
            options: ReadOptions {
                own_times: own.then_some(self.series.step().dt),
                ..ReadOptions::default()
            },
            ..DataSource::default()
        };
        Recording::new(self.series.clone(), source, self.pipeline.clone())
    }

    /// A text that changes whenever a value does.
    pub fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| fingerprint(&self.series))
    }

    /// Refuses a channel that looks like a column of times, unless the user has said which columns are what.
    pub fn refuse_clock(&self) -> Result<(), ExperimentError> {
        let options = &self.source.options;
        let is_chosen =
            options.time.as_ref().is_some_and(Column::is_none) || !options.channels.is_empty();
        let Some((c, why)) = clocks(&self.series).into_iter().next() else {
            return Ok(());
        };
        if is_chosen {
            return Ok(());
        }
        let names = self.series.channels().iter().map(|channel| &channel.name);
        let error = ExperimentError::Clock {
            channel: self.series.channels()[c].name.clone(),
            has_time: options.time.is_some(),
            why: match why {
                Clock::Steps => "rises in nearly equal steps, as times do",
                Clock::Name => "is named like a column of times",
            },
            others: names
                .enumerate()
                .filter(|(i, _)| *i != c)
                .map(|(_, n)| n.clone())
                .collect(),
        };
        Err(error.of_file(&self.source.path))
    }

    /// What a user should know who keeps rows of it from training: some steps of its preparation have seen them.
    pub fn remark(&self, preparation: &Preparation) -> Option<String> {
        let of_all_rows = |step: &&Step| matches!(step, Step::Standardize(_) | Step::Detrend);
        let step = self.source.prepare.steps.iter().find(of_all_rows)?;
        let keeps_rows = preparation.held_out > 0.0 || preparation.select > 0.0;
        keeps_rows.then(|| {
            format!(
                "`{step}` of the preparation is fitted to all rows, also to those that are kept from training; \
                 `--standardize on` scales by the training rows alone"
            )
        })
    }

    /// Which whole trajectories are kept for scoring, and the flag that reads them alone.
    pub fn held_out(&self, preparation: &Preparation) -> Option<String> {
        let names = preparation.held_out_names(&self.series).ok()?;
        (!names.is_empty()).then(|| {
            format!(
                "kept for scoring: {}; `{}` reads only what is kept",
                enumerate(&names),
                shell::flag("only-trajectories", &names.join(","))
            )
        })
    }

    /// What a user should know before a model is fitted to it: numbers that seem to stand for missing values, and states that are
    /// missing.
    pub fn warnings(&self) -> Vec<String> {
        let found = sentinels(&self.series);
        let stand_in = found.first().map(|&(c, value, times)| {
            let (name, times) = (&self.series.channels()[c].name, count(times, "time"));
            let flag = missing_flag(found.iter().map(|(_, value, _)| *value));
            format!(
                "{value} occurs {times} in `{name}`, far from all other values; `{flag}` reads it as missing"
            )
        });
        let hidden = hides_states(&self.series).map(|_| {
            let name = &self.series.channels()[0].name;
            let file = if self.is_on_disk() {
                self.source.as_typed()
            } else {
                "FILE".to_string()
            };
            format!(
                "`{name}` is one channel of a system with more states; `attractor embed {file} states.csv` makes states of it, to train on"
            )
        });
        stand_in.into_iter().chain(hidden).collect()
    }

    /// What a model file says of it, with its scaling.
    pub(crate) fn card(&self, scaling: Scaling) -> Card {
        Card {
            channels: self.series.channels().to_vec(),
            inputs: self.series.inputs().to_vec(),
            step: self.series.step().clone(),
            scaling,
            start: Vec::new(),
            chosen: None,
            prepare: self.pipeline.clone(),
        }
    }

    /// At most so many rows at the start of its first stretch without a gap or a missing value.
    pub(super) fn first_rows(&self, most: usize) -> Vec<Vec<f64>> {
        let n = self.series.dim_obs();
        let first = self.series.whole_stretches().next();
        first.map_or(Vec::new(), |(trajectory, whole)| {
            let x = &self.series.trajectories()[trajectory].x;
            whole.take(most).map(|t| x[t * n..][..n].to_vec()).collect()
        })
    }

    /// The data as a preparation makes them, once for all runs.
    pub(super) fn prepared(
        &self,
        preparation: Preparation,
    ) -> Result<Arc<Prepared>, ExperimentError> {
        once(&self.prepared, preparation, |preparation| {
            experiment::prepare(preparation, &self.series)
        })
    }

    /// What parameters are judged by, made once for all runs that prepare the recording alike.
    pub(super) fn reference<E>(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Reference, E>,
    ) -> Result<Arc<Reference>, E> {
        once(&self.references, key, |_| make())
    }
}

/// What is known under a key, or else made by one caller while others wait.
fn once<K: PartialEq, T, E>(
    known: &Known<K, T>,
    key: K,
    make: impl FnOnce(&K) -> Result<T, E>,
) -> Result<Arc<T>, E> {
    let mut known = locked(known);
    if let Some((_, made)) = known.iter().find(|(other, _)| *other == key) {
        return Ok(made.clone());
    }
    let made = Arc::new(make(&key)?);
    known.push((key, made.clone()));
    Ok(made)
}

fn locked<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().expect("no one panics while holding it")
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = count(self.series.total_len(), "row");
        write!(f, "{rows} of {}", self.source.path.display())
    }
}

/// A text that changes whenever a value of a recording does.
pub(crate) fn fingerprint(series: &Series) -> String {
    let mut data = Fingerprint::new();
    for t in series.trajectories() {
        for values in [&t.x, &t.s] {
            data.add(&(values.len() as u64).to_le_bytes());
            values.iter().for_each(|v| data.add(&v.to_le_bytes()));
        }
        for gap in &t.gaps {
            data.add(&(gap.row as u64).to_le_bytes());
        }
        let times = t.times.iter();
        times.for_each(|time| data.add(&time.to_le_bytes()));
    }
    data.text()
}
