//! The `attractor` command: one file per verb under `verb/`.

mod follow;
mod interrupt;
mod json;
mod reading;
mod scores;
mod table;
mod verb;
mod visible;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::{panic, thread};

use attractor::format::FOREIGN_THREAD;
use attractor::simd::Isa;
use clap::{Command, CommandFactory, FromArgMatches, Parser};

use crate::visible::{Visible, notes, shown};

/// Learn the dynamics of a chaotic system from its time series, run them forward, and take them apart.
#[derive(Debug, Parser)]
#[command(name = "attractor", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: verb::Verb,
}

/// Exit code for invalid input.
const INVALID: u8 = 2;

/// Exit code where a training or an orbit diverged, so that there is nothing to write, or where a check fails. A report on an
/// orbit that diverged has succeeded.
const OUTCOME: u8 = 1;

/// Exit code for a training that was interrupted, as shells have it for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Where a program that was built for its own machine is run on another one that lacks instructions.
fn foreign_processor() -> String {
    let least = match Isa::least() {
        Isa::Avx512 => "AVX-512",
        Isa::Avx2 | Isa::Baseline => "AVX2 and FMA",
    };
    format!(
        "error: this program was built for processors with {least}, which this one does not have
hint: build it on this machine, or for all of them with `ATTRACTOR_KERNELS=all cargo build --release`"
    )
}

/// Runs the command with these arguments, the first of which is its name, and gives back its exit code. A program that
/// [registers](attractor::method::register) methods of its own before has them in all verbs.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
    hush_foreign_panics();
    if !Isa::is_built_for_here() {
        let _ = writeln!(notes(), "{}", foreign_processor());
        return ExitCode::from(INVALID);
    }
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let parsed = command(&arguments).try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let verb = parsed
        .unwrap_or_else(|error| refuse(&error, &arguments))
        .verb;
    interrupt::answer();
    let mut out = io::stdout().lock();
    let is_file = verb.prints_data() && !out.is_terminal();
    let ended = if is_file {
        verb.run(&mut out)
    } else {
        verb.run(&mut Visible::new(out))
    };
    match ended {
        Ok(code) => code,
        // The reader of our output has seen enough, as in `attractor generate RUN --steps 1000000 | head`. That is
        // success, not 141 as of a program that a signal ends: scripts with `pipefail` go on.
        Err(attractor::Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            report(&error, &mut notes());
            ExitCode::from(if error.is_outcome() { OUTCOME } else { INVALID })
        }
    }
}

/// Ends with what is wrong with a command line, in colours unless a terminal would take its words for more than text.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ! {
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    if words.all(|word| shown(&word) == word) {
        error.exit();
    }
    let _ = write!(notes(), "{error}");
    interrupt::end(error.exit_code())
}

/// Keeps a panic of foreign code, which becomes an error, from being printed as well.
pub fn hush_foreign_panics() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(FOREIGN_THREAD) {
            tell(panic);
        }
    }));
}

/// The command line. The help of `train` shows the settings that matter first, those of a model alone where one is named, and all by
/// method if it is asked for.
fn command(arguments: &[OsString]) -> Command {
    use verb::train::flags;
    let whole = whole_command();
    let model = flags::model_in(arguments);
    let is_asked_for_all = arguments.iter().any(|word| word == "--help-all");
    whole.mut_subcommand("train", |train| match model {
        Some(method) => flags::of_method(train, method),
        None if is_asked_for_all => flags::by_method(train),
        None => flags::essential(train),
    })
}

/// The command line with every flag.
pub(crate) fn whole_command() -> Command {
    let command = Cli::command();
    let help = by_journey(&command);
    command.help_template(help)
}

/// The template of the command's help: its verbs in the order in which a user comes to need them.
fn by_journey(command: &Command) -> String {
    let style = command.get_styles().get_header();
    let about = |name: &str| {
        let verb = command.find_subcommand(name);
        verb.and_then(|verb| verb.get_about())
            .map_or(String::new(), |about| about.to_string())
    };
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (title, verbs) in verb::JOURNEY {
        text += &format!("\n{style}{title}:{style:#}\n");
        for name in verbs {
            text += &format!("  {name:12} {}\n", about(name));
        }
    }
    text + &format!(
        "\n{style}Options:{style:#}\n{{options}}\n\n`attractor help VERB` has the flags of a verb, `attractor explain NAME` any word of the output."
    )
}

/// Prints what went wrong and what to do next; nothing is left to do if standard error is closed too.
fn report(error: &attractor::Error, to: &mut impl Write) {
    let _ = writeln!(to, "error: {error}");
    if let Some(hint) = error.hint() {
        let _ = writeln!(to, "hint: {hint}");
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;
    use crate::verb::JOURNEY;

    #[test]
    fn no_verb_has_a_flag_twice() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_is_in_one_place_of_the_help() {
        let command = Cli::command();
        let mut verbs: Vec<&str> = command
            .get_subcommands()
            .map(|verb| verb.get_name())
            .collect();
        let mut listed: Vec<&str> = JOURNEY
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        verbs.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, verbs, "verb.rs groups the verbs");
    }
}
