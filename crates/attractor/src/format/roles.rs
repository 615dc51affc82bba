//! Which column is what: the roles that a user gave, then those that the titles suggest.
//!
//! 1. What [`ReadOptions`] name is as they say; a column has at most one role.
//! 2. If no time column was named, the first one that is titled like time is it, else the first that holds dates, with that of times of
//!    day where there is one, else those titled year and month, with day, hour, minute and second; with `dt` given they are left out.
//!    What holds dates and is not named is no state.
//! 3. If no trajectory column was named, one titled `trajectory` is it.
//! 4. If no inputs were named, columns titled `input:…` are.
//! 5. Channels that were named but are no column's name are patterns: what matches and has no other role is a channel.
//! 6. If no channels were named, all other columns are, except an untitled first one, which is a row count as some programs write it.

use std::collections::HashMap;

use attractor_core::series::Channel;
use attractor_core::settings::nearest;

use super::date::Spelling;
use super::parts::{self, Part};
use super::text::title::Title;
use super::{Column, Fault, Pattern, ReadOptions};

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The time axis.
    Time,
    /// The name of a row's trajectory.
    Trajectory,
    /// A channel.
    State,
    /// An external input.
    Input,
}

impl Role {
    /// The word in titles and messages.
    pub(super) fn word(self) -> &'static str {
        match self {
            Role::Time => "time",
            Role::Trajectory => "trajectory",
            Role::State => "state",
            Role::Input => "input",
        }
    }
}

/// Where the value of a column goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Nowhere.
    Skip,
    /// It is the row's time.
    Time,
    /// It is a part of the row's time.
    Part(Part),
    /// It is the name of the row's trajectory.
    Trajectory,
    /// It is the observation of this number.
    State(usize),
    /// It is the external input of this number.
    Input(usize),
}

impl Slot {
    /// Whether it takes a value that may be missing.
    pub(super) fn is_value(self) -> bool {
        matches!(self, Slot::State(_) | Slot::Input(_))
    }
}

/// The roles of all columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// Where each column goes.
    pub(super) slots: Vec<Slot>,
    /// The names of the columns, for messages.
    pub(super) names: Vec<String>,
    /// The channels.
    pub(super) channels: Vec<Channel>,
    /// The external inputs.
    pub(super) inputs: Vec<Channel>,
    /// The title of the time axis.
    pub(super) time: Option<Title>,
    /// How times are written.
    pub(super) clock: Clock,
}

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// As numbers.
    Numbers,
    /// As dates: in seconds from 1970.
    Dates,
    /// In parts: see [`parts`].
    Parts,
}

impl Layout {
    /// Gives every column its role.
    pub(super) fn new(titles: &[Title], options: &ReadOptions) -> Result<Layout, Fault> {
        let mut claims = Claims::new(titles);
        claims.take_given(options)?;
        claims.take_time(options);
        claims.take_parts_of_time();
        claims.take_trajectory(options);
        claims.take_inputs(options);
        claims.skip_dates();
        claims.take_matching(options)?;
        claims.take_states(options);
        claims.refuse_ambiguous()?;
        let layout = claims.layout();
        layout.check_names()?;
        Ok(layout)
    }

    /// Whether every column is a channel, in order.
    pub(super) fn is_plain(&self) -> bool {
        let mut slots = self.slots.iter().enumerate();
        slots.all(|(i, &slot)| slot == Slot::State(i))
    }

    /// The column of trajectory names.
    pub(super) fn trajectory(&self) -> Option<usize> {
        self.slots.iter().position(|&slot| slot == Slot::Trajectory)
    }

    fn check_names(&self) -> Result<(), Fault> {
        let used = |&i: &usize| matches!(self.slots[i], Slot::State(_) | Slot::Input(_));
        let mut seen = HashMap::new();
        for second in (0..self.slots.len()).filter(used) {
            if let Some(first) = seen.insert(&self.names[second], second) {
                return Err(Fault::SameName {
                    name: self.names[second].clone(),
                    first: first + 1,
                    second: second + 1,
                });
            }
        }
        Ok(())
    }
}

/// Which columns have been given roles so far.
struct Claims<'a> {
    titles: &'a [Title],
    roles: Vec<Option<Role>>,
    /// Which part of a time columns have.
    parts: Vec<Option<Part>>,
    /// Which columns detection must not take.
    skipped: Vec<bool>,
    /// The place of channels among those that were named.
    ranks: Vec<usize>,
    states: Vec<usize>,
    inputs: Vec<usize>,
}

impl<'a> Claims<'a> {
    fn new(titles: &'a [Title]) -> Claims<'a> {
        Claims {
            titles,
            roles: vec![None; titles.len()],
            parts: vec![None; titles.len()],
            skipped: vec![false; titles.len()],
            ranks: vec![usize::MAX; titles.len()],
            states: Vec::new(),
            inputs: Vec::new(),
        }
    }

    fn take_given(&mut self, options: &ReadOptions) -> Result<(), Fault> {
        let single = [
            (&options.time, Role::Time),
            (&options.trajectory, Role::Trajectory),
        ];
        for (column, role) in single {
            if let Some(column) = column.as_ref().filter(|column| !column.is_none()) {
                self.claim(column, role)?;
            }
        }
        for (rank, column) in options.channels.iter().enumerate() {
            if self.find(column).is_ok() || !matches!(column, Column::Name(_)) {
                let i = self.claim(column, Role::State)?;
                self.ranks[i] = rank;
            }
        }
        for column in &options.input {
            self.claim(column, Role::Input)?;
        }
        Ok(())
    }

    fn take_time(&mut self, options: &ReadOptions) {
        if options.time.is_some() {
            return;
        }
        let first = |holds: &dyn Fn(&Title) -> bool| self.free().find(|&i| holds(&self.titles[i]));
        let is_clock = |title: &Title| title.spelling == Some(Spelling::Clock);
        let found = first(&|title| title.is_time() && !is_clock(title))
            .or_else(|| first(&|title| title.holds_dates() && title.is_plain()))
            .or_else(|| first(&Title::is_time))
            .or_else(|| self.of_part(Part::Month).and(self.of_part(Part::Year)));
        let Some(i) = found else {
            return;
        };
        self.give(i, Role::Time);
        if options.dt.is_some() {
            self.take_parts_of_time();
            for i in 0..self.roles.len() {
                if self.roles[i] == Some(Role::Time) {
                    (self.roles[i], self.parts[i], self.skipped[i]) = (None, None, true);
                }
            }
        }
    }

    /// Takes what belongs to a column of dates or of years as a part of the time.
    fn take_parts_of_time(&mut self) {
        let Some(time) = self.time() else {
            return;
        };
        let is_year = |claims: &Claims| parts::named(&claims.titles[time]) == Some(Part::Year);
        let is_clock = |i: &usize| self.titles[*i].spelling == Some(Spelling::Clock);
        if self.titles[time].holds_dates() {
            let clock = self.free().find(is_clock);
            clock
                .into_iter()
                .for_each(|i| self.give_part(i, Part::Clock));
        } else if is_year(self) && self.of_part(Part::Month).is_some() {
            self.parts[time] = Some(Part::Year);
            for part in parts::NAMED.iter().map(|(part, _)| *part) {
                if let Some(i) = self.of_part(part) {
                    self.give_part(i, part);
                }
            }
        }
    }

    /// Dates and times of day are no numbers.
    fn skip_dates(&mut self) {
        let spelled: Vec<usize> = self.free().collect();
        for i in spelled {
            self.skipped[i] = self.titles[i].spelling.is_some();
        }
    }

    fn refuse_ambiguous(&self) -> Result<(), Fault> {
        let time = self.time().map(|i| (i, &self.titles[i].spelling));
        match time {
            Some((i, Some(Spelling::Ambiguous(found)))) => Err(Fault::DateOrder {
                column: i + 1,
                found: found.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// The free column that is named like a part of a date.
    fn of_part(&self, part: Part) -> Option<usize> {
        self.free()
            .find(|&i| parts::named(&self.titles[i]) == Some(part))
    }

    fn give_part(&mut self, i: usize, part: Part) {
        self.give(i, Role::Time);
        self.parts[i] = Some(part);
    }

    /// The column of times, the first where there are several.
    fn time(&self) -> Option<usize> {
        self.roles.iter().position(|&role| role == Some(Role::Time))
    }

    fn take_trajectory(&mut self, options: &ReadOptions) {
        let found = self.free().find(|&i| self.titles[i].is_trajectory());
        if let (Some(i), None) = (found, &options.trajectory) {
            self.give(i, Role::Trajectory);
        }
    }

    fn take_inputs(&mut self, options: &ReadOptions) {
        let titled: Vec<usize> = self
            .free()
            .filter(|&i| self.titles[i].role == Some(Role::Input))
            .collect();
        for i in titled {
            if options.input.is_empty() {
                self.give(i, Role::Input)
            } else {
                self.skipped[i] = true
            }
        }
    }

    fn take_matching(&mut self, options: &ReadOptions) -> Result<(), Fault> {
        for (rank, column) in options.channels.iter().enumerate() {
            let (Err(unknown), Column::Name(name)) = (self.find(column), column) else {
                continue;
            };
            let Ok(pattern) = name.parse::<Pattern>();
            let is_like = |i: &usize| pattern.matches(&name_of(*i, self.titles));
            let matching: Vec<usize> = (0..self.titles.len()).filter(is_like).collect();
            if matching.is_empty() {
                return Err(unknown);
            }
            for i in matching {
                if self.roles[i].is_none() && !self.skipped[i] {
                    self.give(i, Role::State);
                    self.ranks[i] = rank;
                }
            }
        }
        self.states.sort_by_key(|&i| self.ranks[i]);
        Ok(())
    }

    fn take_states(&mut self, options: &ReadOptions) {
        if options.channels.is_empty() {
            let counted = |i| i == 0 && is_row_count(self.titles);
            let rest: Vec<usize> = self.free().filter(|&i| !counted(i)).collect();
            rest.into_iter().for_each(|i| self.give(i, Role::State));
        }
    }

    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.titles.len()).filter(|i| self.roles[*i].is_none() && !self.skipped[*i])
    }

    /// Gives a column a role that was asked for; gives back its place.
    fn claim(&mut self, column: &Column, role: Role) -> Result<usize, Fault> {
        let i = self.find(column)?;
        match self.roles[i] {
            Some(first) => Err(Fault::TwoRoles {
                name: name_of(i, self.titles),
                first: first.word(),
                second: role.word(),
            }),
            None => {
                self.give(i, role);
                Ok(i)
            }
        }
    }

    fn give(&mut self, i: usize, role: Role) {
        self.roles[i] = Some(role);
        match role {
            Role::State => self.states.push(i),
            Role::Input => self.inputs.push(i),
            Role::Time | Role::Trajectory => {}
        }
    }

    fn find(&self, column: &Column) -> Result<usize, Fault> {
        let names = || (0..self.titles.len()).map(|i| name_of(i, self.titles));
        let found = match column {
            Column::Index(index) => index.checked_sub(1).filter(|&i| i < self.titles.len()),
            Column::Name(name) => {
                let wanted = Title::parse(name).channel.name;
                let whole = names().position(|known| known == *name);
                whole.or_else(|| names().position(|known| known == wanted))
            }
        };
        found.ok_or_else(|| no_column(column, names().collect()))
    }

    fn layout(self) -> Layout {
        let channel = |&i: &usize| Channel {
            name: name_of(i, self.titles),
            unit: self.titles[i].channel.unit.clone(),
        };
        // A column may be the first of millions: its place is looked up once for all.
        let mut places = vec![0; self.titles.len()];
        for list in [&self.states, &self.inputs] {
            for (place, &i) in list.iter().enumerate() {
                places[i] = place;
            }
        }
        let slot = |(i, role): (usize, &Option<Role>)| match role {
            None => Slot::Skip,
            Some(Role::Time) => self.parts[i].map_or(Slot::Time, Slot::Part),
            Some(Role::Trajectory) => Slot::Trajectory,
            Some(Role::State) => Slot::State(places[i]),
            Some(Role::Input) => Slot::Input(places[i]),
        };
        let time = self.time();
        let clock = match time {
            Some(i) if self.parts[i].is_some() => Clock::Parts,
            Some(i) if self.titles[i].holds_dates() => Clock::Dates,
            _ => Clock::Numbers,
        };
        Layout {
            slots: self.roles.iter().enumerate().map(slot).collect(),
            names: (0..self.titles.len())
                .map(|i| name_of(i, self.titles))
                .collect(),
            channels: self.states.iter().map(channel).collect(),
            inputs: self.inputs.iter().map(channel).collect(),
            time: time.map(|i| self.titles[i].clone()),
            clock,
        }
    }
}

/// The name of a column; x1, x2, … by its number when it has no title.
fn name_of(i: usize, titles: &[Title]) -> String {
    match (&titles[i].channel.name, titles[i].role) {
        (name, None) if name.is_empty() => format!("x{}", i + 1),
        (name, _) => name.clone(),
    }
}

/// Whether the first column alone has no title, as that of row numbers in a file from pandas.
fn is_row_count(titles: &[Title]) -> bool {
    let untitled = |title: &Title| title.role.is_none() && title.channel.name.is_empty();
    titles.len() > 1 && untitled(&titles[0]) && !titles[1..].iter().any(untitled)
}

fn no_column(column: &Column, known: Vec<String>) -> Fault {
    let wanted = match column {
        Column::Name(name) if name.contains(['*', '?']) => {
            let pattern = name.clone();
            return Fault::NoMatch { pattern, known };
        }
        Column::Name(name) => name.clone(),
        Column::Index(index) => index.to_string(),
    };
    Fault::NoColumn {
        near: nearest(&wanted, known.iter().map(String::as_str)).map(str::to_string),
        wanted,
        known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comparing every pair of 400,000 names would take minutes: a file of 7 kB may claim as many columns.
    #[test]
    fn many_columns_are_named_in_one_pass() {
        let columns = 400_000;
        let titles = (1..=columns).map(|i| Title::named(format!("x{i}")));
        let mut titles: Vec<Title> = titles.collect();
        let layout = Layout::new(&titles, &ReadOptions::default()).unwrap();
        assert!(layout.is_plain() && layout.channels.len() == columns);
        titles[columns - 1] = Title::named("x7".to_string());
        let twice = Layout::new(&titles, &ReadOptions::default()).err().unwrap();
        assert_eq!(
            twice.to_string(),
            "columns 7 and 400000 are both named `x7`"
        );
    }
}
