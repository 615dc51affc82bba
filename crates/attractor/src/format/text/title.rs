//! Titles of columns. A title is a name with an optional role before it and an optional unit after it:
//!
//! ```text
//! x    x [mV]    input:u [N]    state:time [s]    time [s]    time (dt=0.3333333333333333) [s]
//! ```
//!
//! `input:` marks an external input. `state:` marks a channel whose plain name would mean something else, to us or to a
//! spreadsheet, which would run `=x`. The
//! column of times may say its step, which a file needs when the step cannot be found from the times alone.

use attractor_core::series::{Channel, Step};

use super::super::date::Spelling;
use super::super::roles::Role;
use crate::spreadsheet::is_formula;

/// The name of the column that says which trajectory a row belongs to.
pub(in crate::format) const TRAJECTORY: &str = "trajectory";

/// A column's title, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::format) struct Title {
    /// The role that it states.
    pub(in crate::format) role: Option<Role>,
    /// Name and unit.
    pub(in crate::format) channel: Channel,
    /// The step that it states.
    pub(in crate::format) dt: Option<f64>,
    /// What the cells below it are, if they are no numbers.
    pub(in crate::format) spelling: Option<Spelling>,
}

impl Title {
    /// A title that is only a name.
    pub(in crate::format) fn named(name: String) -> Title {
        Title {
            role: None,
            channel: Channel::named(name),
            dt: None,
            spelling: None,
        }
    }

    /// Takes a title apart.
    pub(in crate::format) fn parse(text: &str) -> Title {
        let text = text.trim();
        let (role, rest) = split_role(text);
        let (rest, unit) = split_unit(rest);
        let (name, dt) = match role {
            None => split_step(rest),
            Some(_) => (rest, None),
        };
        Title {
            role,
            channel: Channel {
                name: name.to_string(),
                unit: unit.to_string(),
            },
            dt,
            spelling: None,
        }
    }

    /// The same above cells that are something else than numbers.
    pub(in crate::format) fn above(self, spelling: Option<Spelling>) -> Title {
        Title { spelling, ..self }
    }

    /// Whether the cells below it are dates.
    pub(in crate::format) fn holds_dates(&self) -> bool {
        matches!(
            self.spelling,
            Some(Spelling::Dates(_) | Spelling::Ambiguous(_))
        )
    }

    /// Whether the column is named like a time axis: `t`, or in any case `time`, `times` or `timestamp`, or as pandas names the index of
    /// a table in Parquet.
    pub(in crate::format) fn is_time(&self) -> bool {
        let name = self.channel.name.as_str();
        let words = ["time", "times", "timestamp", "__index_level_0__"];
        self.role.is_none() && (name == "t" || words.iter().any(|w| name.eq_ignore_ascii_case(w)))
    }

    /// Whether the title says nothing of a role.
    pub(in crate::format) fn is_plain(&self) -> bool {
        self.role.is_none() && !self.is_trajectory()
    }

    /// Whether the column is named `trajectory`.
    pub(in crate::format) fn is_trajectory(&self) -> bool {
        self.role.is_none() && self.channel.name.eq_ignore_ascii_case(TRAJECTORY)
    }

    /// The title of a channel: the plain one where that is read back as it is, else with its role.
    pub(in crate::format) fn of_state(channel: &Channel) -> String {
        let plain = with_unit(channel);
        let read = Title::parse(&plain);
        let same = read.role.is_none() && read.channel == *channel && read.dt.is_none();
        let same = same && !is_formula(&plain);
        if same && !channel.name.is_empty() && !read.is_time() && !read.is_trajectory() {
            plain
        } else {
            with_role(Role::State, channel)
        }
    }

    /// The title of an external input.
    pub(in crate::format) fn of_input(channel: &Channel) -> String {
        with_role(Role::Input, channel)
    }

    /// The title of a time axis whose step the times alone show.
    pub(in crate::format) fn of_time(step: &Step) -> String {
        with_unit(&time_channel("time", step))
    }

    /// The title of a time axis that states its step.
    pub(in crate::format) fn of_time_with_step(step: &Step) -> String {
        with_unit(&time_channel(&format!("time (dt={:?})", step.dt), step))
    }
}

fn time_channel(name: &str, step: &Step) -> Channel {
    Channel {
        name: name.to_string(),
        unit: step.unit.clone(),
    }
}

fn with_unit(channel: &Channel) -> String {
    if channel.unit.is_empty() {
        channel.name.clone()
    } else {
        format!("{} [{}]", channel.name, channel.unit)
    }
}

/// With the role before it, and with a unit, if need be an empty one, where the name ends like a unit.
fn with_role(role: Role, channel: &Channel) -> String {
    let short = format!("{}:{}", role.word(), with_unit(channel));
    if Title::parse(&short).channel == *channel {
        short
    } else {
        format!("{}:{} [{}]", role.word(), channel.name, channel.unit)
    }
}

fn split_role(text: &str) -> (Option<Role>, &str) {
    [Role::State, Role::Input]
        .into_iter()
        .find_map(|role| {
            Some((
                Some(role),
                text.strip_prefix(role.word())?.strip_prefix(':')?,
            ))
        })
        .unwrap_or((None, text))
}

/// `name [unit]` into name and unit.
fn split_unit(text: &str) -> (&str, &str) {
    text.strip_suffix(']')
        .and_then(|text| text.rsplit_once('['))
        .filter(|(name, _)| !name.is_empty())
        .map_or((text.trim(), ""), |(name, unit)| (name.trim(), unit.trim()))
}

/// `time (dt=0.1)` into name and step.
fn split_step(text: &str) -> (&str, Option<f64>) {
    text.strip_suffix(')')
        .and_then(|text| text.rsplit_once(" (dt="))
        .and_then(|(name, dt)| Some((name, Some(dt.parse().ok()?))))
        .unwrap_or((text, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(name: &str, unit: &str) -> Channel {
        Channel {
            name: name.to_string(),
            unit: unit.to_string(),
        }
    }

    #[test]
    fn a_title_has_role_name_and_unit() {
        for (text, role, name, unit) in [
            ("x", None, "x", ""),
            (" V_m [mV] ", None, "V_m", "mV"),
            ("V_m[mV]", None, "V_m", "mV"),
            ("input:u [N]", Some(Role::Input), "u", "N"),
            ("state:time", Some(Role::State), "time", ""),
            ("[mV]", None, "[mV]", ""),
        ] {
            let title = Title::parse(text);
            assert_eq!(
                (title.role, title.channel),
                (role, channel(name, unit)),
                "{text}"
            );
        }
    }

    #[test]
    fn titles_of_channels_are_read_back() {
        for name in [
            "x",
            "time",
            "t",
            "Trajectory",
            "x [mV]",
            "input:x",
            "time (dt=2)",
            "",
            "a:b",
            "µ",
            "=1+1",
            "-5",
            "@x",
        ] {
            for unit in ["", "mV", "m/s²"] {
                let channel = channel(name, unit);
                let state = Title::parse(&Title::of_state(&channel));
                assert_eq!(state.channel, channel, "{}", Title::of_state(&channel));
                assert!(
                    !state.is_time() && !state.is_trajectory() && state.role != Some(Role::Input)
                );
                let input = Title::parse(&Title::of_input(&channel));
                assert_eq!((input.role, input.channel), (Some(Role::Input), channel));
            }
        }
        assert_eq!(Title::of_state(&channel("x", "mV")), "x [mV]");
        assert_eq!(Title::of_state(&channel("=1+1", "")), "state:=1+1");
    }

    #[test]
    fn a_time_axis_may_state_its_step() {
        let step = Step {
            dt: 1.0 / 3.0,
            unit: "s".to_string(),
        };
        let title = Title::parse(&Title::of_time_with_step(&step));
        assert!(title.is_time());
        assert_eq!(
            (title.dt, title.channel.unit.as_str()),
            (Some(step.dt), "s")
        );
        assert_eq!(Title::parse(&Title::of_time(&step)).dt, None);
    }
}
