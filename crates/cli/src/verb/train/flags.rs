//! One flag for every setting of every method, made from the lists: names, help, ranges and defaults are theirs. Where a model is
//! named, the help shows its settings alone.

use std::ffi::OsString;

use attractor::experiment::{
    ESSENTIAL, MODEL, all_settings, settings_by_method, settings_of, usual,
};
use attractor::method::{self, Method, methods};
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
        let given = all_settings()
            .into_iter()
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
        all_settings()
            .into_iter()
            .map(flag)
            .fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args(command)
    }
}

/// The model that is named among arguments, if there is one of this name.
pub(crate) fn model_in(arguments: &[OsString]) -> Option<&'static Method> {
    let flag = format!("--{}", MODEL.name);
    let texts: Vec<&str> = arguments.iter().filter_map(|a| a.to_str()).collect();
    let named = texts.iter().enumerate().find_map(|(i, text)| {
        let after = text.strip_prefix(&flag)?;
        match after.strip_prefix('=') {
            Some(name) => Some(name),
            None if after.is_empty() => texts.get(i + 1).copied(),
            None => None,
        }
    });
    named.and_then(|name| method::find(name).ok())
}

/// The command with the flags of one method shown, each with its own default, and those of others hidden.
pub(crate) fn of_method(command: Command, method: &Method) -> Command {
    let own = settings_of(method);
    all_settings()
        .into_iter()
        .fold(command, |command, setting| {
            let own = own.iter().find(|own| own.name == setting.name);
            command.mut_arg(setting.name, |arg| match own {
                Some(own) => arg.help(help_of_train(own, method)),
                None => arg.hide(setting.name != MODEL.name),
            })
        })
}

/// The command with the flags shown that a first training may need; the others are hidden, and work.
pub(crate) fn essential(command: Command) -> Command {
    let all = all_settings();
    let count = all.len() - ESSENTIAL.len();
    let rest = format!(
        "{count} more settings: `attractor train --help-all` has them by method, `attractor train --model NAME --help` those of one \
model, `attractor explain NAME` what one means."
    );
    let command = command.after_help(rest);
    let default = method::default();
    all.into_iter().fold(command, |command, setting| {
        command.mut_arg(setting.name, |arg| {
            let is_hidden = !ESSENTIAL.contains(&setting.name);
            arg.help(help_of_train(setting, default)).hide(is_hidden)
        })
    })
}

/// The command with all flags, each under the first method that has it.
pub(crate) fn by_method(command: Command) -> Command {
    let command = command.after_help(
        "A setting that several methods have is listed under the first of them; `attractor train --model NAME --help` has those of one model.",
    );
    settings_by_method()
        .into_iter()
        .fold(command, |command, (method, settings)| {
            let heading = match method {
                None => "Settings of every method".to_string(),
                Some(method) => format!("Settings of {}", method.entry.id),
            };
            // Headings live as long as the process, which ends when the help is printed.
            let heading: &'static str = heading.leak();
            settings.into_iter().fold(command, |command, setting| {
                command.mut_arg(setting.name, |arg| arg.help_heading(heading))
            })
        })
}

/// Help that says what `train` begins with.
fn help_of_train(setting: &Setting, method: &Method) -> String {
    let plain = help(setting);
    match usual(method, setting.name) {
        None => plain,
        Some(text) => {
            let default = format!("[default: {}]", setting.default);
            let begun = format!(
                "[default: {text}; {} with --preset or --config]",
                setting.default
            );
            plain.replace(&default, &begun)
        }
    }
}

fn help(setting: &Setting) -> String {
    let words = match setting.domain {
        Domain::Choice(_) if setting.name == MODEL.name => {
            let ids: Vec<&str> = methods().iter().map(|method| method.entry.id).collect();
            format!(" [{}]", ids.join(", "))
        }
        Domain::Choice(words) => format!(" [{}]", words.join(", ")),
        _ => String::new(),
    };
    format!("{}{words} [default: {}]", setting.about, setting.default)
}

fn flag(setting: &'static Setting) -> Arg {
    Arg::new(setting.name)
        .long(setting.name)
        .value_name(word(&setting.domain))
        .help(help(setting))
        // The value is checked with those of files, so that all errors are reported alike.
        .allow_negative_numbers(true)
}

fn word(domain: &Domain) -> &'static str {
    match domain {
        Domain::Real { .. } | Domain::Positive => "X",
        Domain::Integer { .. } => "N",
        Domain::Auto { .. } => "N|auto",
        Domain::AutoReal { .. } => "X|auto",
        Domain::Choice(_) => "NAME",
        Domain::Flag => "BOOL",
        Domain::Text => "TEXT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::train::Train;

    #[test]
    fn the_help_of_a_model_shows_its_settings_alone() {
        let arguments = ["attractor", "train", "--model=plrnn", "--help"].map(OsString::from);
        let method = model_in(&arguments).unwrap();
        let mut command = of_method(Train::augment_args(Command::new("train")), method);
        let help = command.render_long_help().to_string();
        assert!(help.contains("--latent <") && !help.contains("--hidden <"));
        assert_eq!(model_in(&["--model".into(), "lstmm".into()]), None);
    }

    #[test]
    fn the_help_shows_what_matters_first_and_all_by_method_if_asked() {
        let command = || Train::augment_args(Command::new("train"));
        let short = essential(command()).render_long_help().to_string();
        let flags = |page: &str, names: &mut dyn Iterator<Item = &'static str>| {
            names
                .filter(|name| page.contains(&format!("--{name} <")))
                .count()
        };
        let all = all_settings();
        assert_eq!(
            flags(&short, &mut all.iter().map(|s| s.name)),
            ESSENTIAL.len()
        );
        let words: Vec<&str> = short.split_whitespace().collect();
        let epochs = "[default: 2000; 5000 with --preset or --config]";
        assert!(words.join(" ").contains(epochs));
        let long = by_method(command()).render_long_help().to_string();
        assert_eq!(flags(&long, &mut all.iter().map(|s| s.name)), all.len());
        assert!(long.contains("Settings of every method:") && long.contains("Settings of sindy:"));
    }

    #[test]
    fn every_setting_is_a_flag_with_its_default_and_no_flag_is_twice() {
        let mut command = Train::augment_args(Command::new("train"));
        command.clone().debug_assert();
        let help = command.render_long_help().to_string();
        let page = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for setting in all_settings() {
            assert!(page.contains(&format!("--{} <", setting.name)));
            assert!(page.contains(setting.about), "{}", setting.name);
            assert!(page.contains(&format!("[default: {}]", setting.default)));
        }
    }
}
