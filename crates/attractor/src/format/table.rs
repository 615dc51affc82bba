//! Rows of a file as they come, gathered into trajectories, and at last a [`Series`].
//!
//! Values go straight to where the series keeps them; nothing else is held but times and, in runs, line numbers.

use std::collections::HashMap;

use attractor_core::prepare::stands_for_missing;
use attractor_core::series::{Gap, Series, Step, Trajectory};

use super::calendar::{self, Counted};
use super::roles::{Clock, Layout, Slot};
use super::select::Spacing;
use super::time::{self, Axis, Broken};
use super::{At, Fault, ReadOptions, date, parts};

/// Rows so far.
pub(super) struct Table {
    /// The roles of the columns.
    pub(super) layout: Layout,
    /// How the place of a row is named.
    place: fn(u64) -> At,
    trajectories: Vec<Rows>,
    by_name: HashMap<String, usize>,
    bytes: u64,
}

/// Bytes that a trajectory takes besides its rows and its name, about.
const TRAJECTORY: u64 = 512;

/// The rows of one trajectory.
#[derive(Default)]
pub(super) struct Rows {
    name: String,
    x: Vec<f64>,
    s: Vec<f64>,
    times: Vec<f64>,
    places: Places,
}

/// A row that is being filled.
pub(super) struct Row<'a> {
    x: &'a mut [f64],
    s: &'a mut [f64],
    time: Option<&'a mut f64>,
}

/// Line numbers of rows, a pair (row, line) for each run of rows on lines that follow one another.
#[derive(Default)]
struct Places(Vec<(usize, u64)>);

impl Table {
    /// A table without rows, of a text file.
    pub(super) fn of_lines(layout: Layout) -> Table {
        Table::new(layout, At::Line)
    }

    /// A table without rows, of an array.
    pub(super) fn of_array(layout: Layout) -> Table {
        Table::new(layout, At::Row)
    }

    fn new(layout: Layout, place: fn(u64) -> At) -> Table {
        Table {
            layout,
            place,
            trajectories: Vec::new(),
            by_name: HashMap::new(),
            bytes: 0,
        }
    }

    /// How much memory the rows so far take, about.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of the trajectory with this name, a new one if need be.
    pub(super) fn trajectory(&mut self, name: &str) -> usize {
        if let Some(&i) = self.by_name.get(name) {
            return i;
        }
        self.bytes += TRAJECTORY + 2 * name.len() as u64;
        self.by_name
            .insert(name.to_string(), self.trajectories.len());
        self.trajectories.push(Rows {
            name: name.to_string(),
            ..Rows::default()
        });
        self.trajectories.len() - 1
    }

    /// The name of a trajectory.
    pub(super) fn name(&self, trajectory: usize) -> &str {
        &self.trajectories[trajectory].name
    }

    /// A new row of a trajectory, at a line or row of the file; all is missing at first, and the time is 0.
    pub(super) fn row(&mut self, trajectory: usize, place: u64) -> Row<'_> {
        let (n, k) = (self.layout.channels.len(), self.layout.inputs.len());
        let timed = self.layout.time.is_some();
        self.bytes += (size_of::<f64>() * (n + k + usize::from(timed))) as u64;
        self.trajectories[trajectory].open(n, k, timed.then_some(place))
    }

    /// All values of a trajectory at once, where every column is a channel.
    pub(super) fn fill(&mut self, trajectory: usize, x: Vec<f64>) {
        self.trajectories[trajectory].x = x;
    }

    /// The whole as a series.
    pub(super) fn finish(mut self, options: &ReadOptions) -> Result<Series, Fault> {
        if self.trajectories.is_empty() {
            return Err(Fault::Empty);
        }
        let times: Vec<Vec<f64>> = self.trajectories.iter_mut().map(Rows::take_times).collect();
        if let Some(spacing) = Spacing::of(options).filter(|_| self.layout.time.is_some()) {
            return self.spaced(times, spacing, options);
        }
        let Timed { times, axis, unit } = self.timed(times, options)?;
        let stated = self.stated(options);
        let step = Step {
            dt: axis.dt.or(stated).unwrap_or(Step::default().dt),
            unit,
        };
        self.clear_placeholders();
        let parts = self.trajectories.into_iter().zip(&times).zip(axis.gaps);
        let trajectories = parts
            .map(|((rows, times), gaps)| rows.trajectory(times, gaps))
            .collect();
        Ok(Series::new(
            self.layout.channels,
            self.layout.inputs,
            step,
            trajectories,
        )?)
    }

    /// The whole as a series of rows whose times may be any.
    fn spaced(
        mut self,
        times: Vec<Vec<f64>>,
        spacing: Spacing,
        options: &ReadOptions,
    ) -> Result<Series, Fault> {
        let (times, unit) = match self.layout.clock {
            Clock::Numbers => (times, self.unit()),
            Clock::Dates => counted(&times),
            Clock::Parts => counted(&self.moments(&times)?),
        };
        time::check_forward(&times).map_err(|broken| {
            let written = |row: usize| times[broken.trajectory][row].to_string();
            self.fault(broken, &times, &unit, &written)
        })?;
        self.clear_placeholders();
        let columns = [self.layout.channels.len(), self.layout.inputs.len()];
        let rows = self.trajectories.into_iter().zip(&times);
        let made = rows.map(|(mut rows, times)| {
            let values = rows.x.iter_mut().chain(&mut rows.s);
            let missing = values.filter(|v| stands_for_missing(**v, &options.missing));
            missing.for_each(|v| *v = f64::NAN);
            let rows = rows.trajectory(times, Vec::new());
            spacing.make(times, &rows, columns)
        });
        let trajectories = made.collect::<Result<Vec<_>, _>>()?;
        let step = Step {
            dt: spacing.dt(),
            unit,
        };
        Ok(Series::new(
            self.layout.channels,
            self.layout.inputs,
            step,
            trajectories,
        )?)
    }

    /// Unnamed trajectories have no names.
    fn clear_placeholders(&mut self) {
        for (i, rows) in self.trajectories.iter_mut().enumerate() {
            if rows.name == placeholder(i) {
                rows.name.clear();
            }
        }
    }

    /// The step that the options or the title state.
    fn stated(&self, options: &ReadOptions) -> Option<f64> {
        options.dt.or_else(|| self.layout.time.as_ref()?.dt)
    }

    /// The unit that the title of the times has.
    fn unit(&self) -> String {
        let title = self.layout.time.as_ref();
        title.map_or(String::new(), |title| title.channel.unit.clone())
    }

    /// The times as a grid, in the unit in which they are one.
    fn timed(&self, times: Vec<Vec<f64>>, options: &ReadOptions) -> Result<Timed, Fault> {
        let fit = |times: &[Vec<f64>]| Axis::of(times, self.stated(options));
        let of_moments = |moments: Vec<Vec<f64>>| {
            let Counted { times, unit } = calendar::count(&moments);
            let axis = fit(&times).map_err(|broken| {
                let written = |row: usize| date::in_words(moments[broken.trajectory][row]);
                self.fault(broken, &times, unit, &written)
            })?;
            let unit = unit.to_string();
            Ok(Timed { times, axis, unit })
        };
        match self.layout.clock {
            Clock::Dates => of_moments(times),
            Clock::Parts => of_moments(self.moments(&times)?),
            Clock::Numbers => {
                let fitted = fit(&times);
                let is_whole = |axis: &Axis| axis.gaps.iter().all(Vec::is_empty);
                // From 195012 to 195101 it is one month, not a gap.
                if !fitted.as_ref().is_ok_and(is_whole)
                    && let Some(moments) = calendar::of_digits(&times)
                {
                    return of_moments(moments);
                }
                let unit = self.unit();
                let axis = fitted.map_err(|broken| {
                    let written = |row: usize| times[broken.trajectory][row].to_string();
                    self.fault(broken, &times, &unit, &written)
                })?;
                Ok(Timed { times, axis, unit })
            }
        }
    }

    /// What year, month and the like come to, in seconds from 1970.
    fn moments(&self, sums: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, Fault> {
        let of_row = |trajectory: usize, row: usize, sum: f64| {
            let at = || (self.place)(self.trajectories[trajectory].places.of(row));
            parts::moment(sum).ok_or_else(|| Fault::NoDate { at: at() })
        };
        let of_trajectory = |(i, sums): (usize, &Vec<f64>)| {
            let rows = sums.iter().enumerate();
            rows.map(|(row, &sum)| of_row(i, row, sum)).collect()
        };
        sums.iter().enumerate().map(of_trajectory).collect()
    }

    /// What is wrong with the times, where `written` writes the time of a row.
    fn fault(
        &self,
        broken: Broken,
        times: &[Vec<f64>],
        unit: &str,
        written: &dyn Fn(usize) -> String,
    ) -> Fault {
        let Broken {
            trajectory, row, ..
        } = broken;
        let at = (self.place)(self.trajectories[trajectory].places.of(row));
        match broken.expected {
            None => Fault::TimeBack {
                at,
                before: written(row - 1),
                found: written(row),
            },
            Some(expected) => Fault::NonUniform {
                at,
                expected,
                found: times[trajectory][row] - times[trajectory][row - 1],
                unit: unit.to_string(),
            },
        }
    }
}

/// Moments in the unit that suits them.
fn counted(moments: &[Vec<f64>]) -> (Vec<Vec<f64>>, String) {
    let Counted { times, unit } = calendar::count(moments);
    (times, unit.to_string())
}

/// Times as a grid.
struct Timed {
    times: Vec<Vec<f64>>,
    axis: Axis,
    unit: String,
}

impl Rows {
    fn open(&mut self, n: usize, k: usize, timed: Option<u64>) -> Row<'_> {
        let (x, s) = (self.x.len(), self.s.len());
        self.x.resize(x + n, f64::NAN);
        self.s.resize(s + k, f64::NAN);
        if let Some(place) = timed {
            self.places.push(self.times.len(), place);
            self.times.push(0.0);
        }
        Row {
            x: &mut self.x[x..],
            s: &mut self.s[s..],
            time: self.times.last_mut(),
        }
    }

    fn take_times(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.times)
    }

    fn trajectory(mut self, times: &[f64], gaps: Vec<Gap>) -> Trajectory {
        self.x.shrink_to_fit();
        self.s.shrink_to_fit();
        Trajectory {
            name: self.name,
            start: times.first().copied().unwrap_or(0.0),
            x: self.x,
            s: self.s,
            gaps,
            times: Vec::new(),
        }
    }
}

impl Row<'_> {
    /// Puts a value where its column goes.
    pub(super) fn put(&mut self, slot: Slot, value: f64) {
        match slot {
            Slot::State(i) => self.x[i] = value,
            Slot::Input(i) => self.s[i] = value,
            Slot::Time => self.add_time(value),
            Slot::Part(part) => self.add_time(part.amount(value)),
            Slot::Skip | Slot::Trajectory => {}
        }
    }

    fn add_time(&mut self, amount: f64) {
        if let Some(time) = self.time.as_deref_mut() {
            *time += amount;
        }
    }
}

/// What stands for the name of an unnamed trajectory, by its number from 0, where something has to: (1), (2), …
pub(super) fn placeholder(trajectory: usize) -> String {
    format!("({})", trajectory + 1)
}

impl Places {
    fn push(&mut self, row: usize, line: u64) {
        let next = self.0.last().map(|&(first, at)| at + (row - first) as u64);
        if next != Some(line) {
            self.0.push((row, line));
        }
    }

    fn of(&self, row: usize) -> u64 {
        let run = self.0.partition_point(|&(first, _)| first <= row) - 1;
        let (first, line) = self.0[run];
        line + (row - first) as u64
    }
}
