//! `attractor completions SHELL`: completions of the command line and man pages, put where the shell and `man` find them.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::experiment::all_settings;
use attractor::settings::Domain;
use attractor::{Error, store};
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::visible::notes;
use crate::whole_command;

/// Install completions for a shell, and man pages
///
/// Completions of bash and zsh go to ~/.local/share, those of fish and elvish to ~/.config, and man pages to ~/.local/share/man (XDG_DATA_HOME and XDG_CONFIG_HOME override these). With --dir everything goes to one folder, for packages; --print writes the completions to standard output.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
    /// One folder for everything, instead of your own
    #[arg(long, value_name = "DIR", conflicts_with = "print")]
    dir: Option<PathBuf>,
    /// Print the completions, install nothing
    #[arg(long)]
    print: bool,
}

/// The command's name, under which shells look for completions.
const NAME: &str = "attractor";

impl Completions {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let script = script(self.shell);
        if self.print {
            out.write_all(&script)?;
            return Ok(ExitCode::SUCCESS);
        }
        let places = match &self.dir {
            Some(folder) => Places::in_folder(self.shell, folder),
            None => Places::of_user(self.shell),
        };
        write(&places.completions, &script)?;
        let pages = pages(&whole_command())?;
        for (name, page) in &pages {
            write(&places.man.join(name), page)?;
        }
        let mut notes = notes();
        writeln!(notes, "wrote completions: {}", places.completions.display())?;
        let count = attractor::text::count(pages.len(), "man page");
        writeln!(notes, "wrote {count}: {}", places.man.display())?;
        if let Some(line) = next_step(self.shell, &places.completions) {
            writeln!(notes, "hint: {line}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Where completions and man pages go.
struct Places {
    completions: PathBuf,
    man: PathBuf,
}

impl Places {
    fn in_folder(shell: Shell, folder: &Path) -> Places {
        Places {
            completions: folder.join(file_name(shell)),
            man: folder.join("man1"),
        }
    }

    fn of_user(shell: Shell) -> Places {
        let home = env::home_dir().unwrap_or_default();
        let folder = |variable: &str, otherwise: &str| {
            let set = env::var_os(variable).filter(|path| !path.is_empty());
            set.map_or_else(|| home.join(otherwise), PathBuf::from)
        };
        let (data, config) = (
            folder("XDG_DATA_HOME", ".local/share"),
            folder("XDG_CONFIG_HOME", ".config"),
        );
        let completions = match shell {
            Shell::Bash => data.join("bash-completion/completions"),
            Shell::Fish => config.join("fish/completions"),
            Shell::Elvish => config.join("elvish/lib"),
            Shell::Zsh => data.join("zsh/site-functions"),
            _ => data.join(NAME),
        };
        Places {
            completions: completions.join(file_name(shell)),
            man: data.join("man/man1"),
        }
    }
}

/// The name by which the shell finds the file.
fn file_name(shell: Shell) -> String {
    match shell {
        Shell::Bash => NAME.to_string(),
        Shell::Fish => format!("{NAME}.fish"),
        Shell::Elvish => format!("{NAME}.elv"),
        Shell::Zsh => format!("_{NAME}"),
        _ => format!("{NAME}.ps1"),
    }
}

/// What is left to do, where the shell does not look there by itself.
fn next_step(shell: Shell, file: &Path) -> Option<String> {
    let folder = file.parent().unwrap_or(file).display();
    match shell {
        Shell::Bash => {
            Some("bash finds them with the package bash-completion, in a new shell".to_string())
        }
        Shell::Fish => None,
        Shell::Elvish => Some(format!("add to rc.elv: use {NAME}")),
        Shell::Zsh => Some(format!(
            "add to ~/.zshrc before compinit: fpath+=({folder})"
        )),
        _ => Some(format!("add to your profile: . {}", file.display())),
    }
}

/// The completions, with the words that settings can be.
fn script(shell: Shell) -> Vec<u8> {
    let mut command = whole_command();
    for verb in ["train", "line-search"] {
        command = command.mut_subcommand(verb, with_words);
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut script);
    script
}

/// The flags of settings that are one of several words know these.
fn with_words(command: Command) -> Command {
    all_settings()
        .into_iter()
        .fold(command, |command, setting| match setting.domain {
            Domain::Choice(words) => command.mut_arg(setting.name, |arg| {
                arg.value_parser(PossibleValuesParser::new(words))
            }),
            _ => command,
        })
}

/// A man page for the command and for every verb, by file name.
fn pages(command: &Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = command.clone().disable_help_subcommand(true);
    command.build();
    let verbs = command.get_subcommands().cloned();
    let all = [command.clone()].into_iter().chain(verbs);
    all.map(|command| {
        let man = clap_mangen::Man::new(command);
        let mut page = Vec::new();
        man.render(&mut page)?;
        Ok((man.get_filename(), page))
    })
    .collect()
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|source| Error::Write {
        path: folder.to_path_buf(),
        source,
    })?;
    store::write_whole(path, |out| out.write_all(content))
}
