//! One flag for every training setting, made from the list: names, help, ranges and defaults are the list's.

use attractor::experiment::SETTINGS;
use attractor::settings::{Domain, Setting};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

/// The settings that were given as flags, by name, as typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    /// Names and values.
    pub(crate) given: Vec<(&'static str, String)>,
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Flags, clap::Error> {
        let value = |name: &str| matches.get_one::<String>(name).cloned();
        let given = SETTINGS
            .iter()
            .filter_map(|setting| Some((setting.name, value(setting.name)?)));
        Ok(Flags {
            given: given.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Flags::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        let command = command.next_help_heading("Settings");
        SETTINGS.iter().map(flag).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args(command)
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let help = match setting.domain {
        Domain::Choice(words) => format!(
            "{} [{}] [default: {}]",
            setting.about,
            words.join(", "),
            setting.default
        ),
        _ => format!("{} [default: {}]", setting.about, setting.default),
    };
    Arg::new(setting.name)
        .long(setting.name)
        .value_name(word(&setting.domain))
        .help(help)
        // The value is checked with those of files, so that all mistakes are told alike.
        .allow_negative_numbers(true)
}

fn word(domain: &Domain) -> &'static str {
    match domain {
        Domain::Real { .. } | Domain::Positive => "X",
        Domain::Integer { .. } => "N",
        Domain::Auto { .. } => "N|auto",
        Domain::Choice(_) => "NAME",
        Domain::Flag => "BOOL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::train::Train;

    #[test]
    fn every_setting_is_a_flag_with_its_default_and_no_flag_is_twice() {
        let mut command = Train::augment_args(Command::new("train"));
        command.clone().debug_assert();
        let help = command.render_long_help().to_string();
        let page = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for setting in SETTINGS {
            assert!(page.contains(&format!("--{} <", setting.name)));
            assert!(page.contains(setting.about), "{}", setting.name);
            assert!(page.contains(&format!("[default: {}]", setting.default)));
        }
    }
}
