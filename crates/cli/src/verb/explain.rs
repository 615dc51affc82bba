//! `attractor explain NAME`: what it computes, its settings, and where it comes from.

use std::io::{self, Write};
use std::process::ExitCode;

use attractor::catalogue::Entry;
use attractor::experiment::{PRESETS, Preset, all_settings};
use attractor::figure::{KINDS, Kind};
use attractor::glossary::{self, Term};
use attractor::method;
use attractor::settings::{Domain, Setting, nearest};
use attractor::system::{self, Known};
use attractor::{Error, library, references};
use clap::builder::StyledStr;
use clap::{Args, Command};

use super::JOURNEY;
use crate::{table, whole_command};

/// Explain a model, measure, system, format, figure, setting, preset, verb or word of the output
///
/// Prints what it is, its settings and its references.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A name, as `attractor list` prints it, a verb, a setting of `train`, a word that one can be, a preset, a kind of figure, or a word
    /// of the output such as `floor`; of several words with spaces between
    #[arg(required = true, num_args = 1..)]
    name: Vec<String>,
}

impl Explain {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let name = self.name.join(" ");
        let name = name.as_str();
        let mut pages = Pages { out, count: 0 };
        if name == TRAIN {
            write_training(pages.next()?)?;
        } else if let Some(verb) = whole_command().find_subcommand(name) {
            write_verb(pages.next()?, verb)?;
        }
        if let Some(setting) = all_settings().into_iter().find(|s| s.name == name) {
            let out = pages.next()?;
            writeln!(out, "{name} (a setting of `attractor train`)")?;
            write_setting(out, setting)?;
        }
        if let Some(kind) = KINDS.iter().find(|kind| kind.id == name) {
            write_figure(pages.next()?, kind)?;
        }
        if let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) {
            write_preset(pages.next()?, preset)?;
        }
        if let Ok(entry) = library::find(name) {
            write_entry(pages.next()?, entry)?;
        }
        if let Some(term) = glossary::find(name) {
            write_term(pages.next()?, term)?;
        }
        if library::find(name).is_err() && settings_with(name).next().is_some() {
            write_value(pages.next()?, name)?;
        }
        if pages.count == 0 {
            return Err(unknown(name));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What a name means, one meaning after another with a blank line between: some names mean several things.
struct Pages<'a> {
    out: &'a mut dyn Write,
    count: usize,
}

impl Pages<'_> {
    /// Begins the next meaning.
    fn next(&mut self) -> io::Result<&mut dyn Write> {
        if self.count > 0 {
            writeln!(self.out)?;
        }
        self.count += 1;
        Ok(self.out)
    }
}

/// The settings of training that can have this value by name.
fn settings_with(value: &str) -> impl Iterator<Item = &'static Setting> {
    let is_one = move |setting: &&Setting| words_of(setting).contains(&value);
    all_settings().into_iter().filter(is_one)
}

/// The words that a setting can be.
fn words_of(setting: &Setting) -> &'static [&'static str] {
    match setting.domain {
        Domain::Choice(words) => words,
        _ => &[],
    }
}

/// Nothing has this name: the nearest of all that can be explained is suggested.
fn unknown(name: &str) -> Error {
    let entries = library::entries().map(|entry| entry.id);
    let settings = all_settings().into_iter().map(|setting| setting.name);
    let figures = KINDS.iter().map(|kind| kind.id);
    let words = all_settings().into_iter().flat_map(words_of).copied();
    let presets = PRESETS.iter().map(|preset| preset.name);
    let names = entries.chain(settings).chain(figures).chain([TRAIN]);
    let verbs = JOURNEY.iter().flat_map(|(_, verbs)| verbs.iter().copied());
    let names = names.chain(words).chain(presets).chain(verbs);
    Error::UnknownName {
        what: "model, measure, system, format, figure, setting, preset, verb or word",
        name: name.to_string(),
        near: nearest(name, names.chain(glossary::words())),
    }
}

/// The name under which the settings of training are explained.
const TRAIN: &str = "train";

/// What a verb does, where it belongs, and where its flags are.
fn write_verb(out: &mut dyn Write, verb: &Command) -> io::Result<()> {
    let name = verb.get_name();
    let text = |about: Option<&StyledStr>| about.map_or(String::new(), |about| about.to_string());
    let about = text(verb.get_about());
    let long = text(verb.get_long_about());
    let group = JOURNEY.iter().find(|(_, verbs)| verbs.contains(&name));
    let beside = group.map_or(&[][..], |(_, verbs)| *verbs);
    let beside: Vec<&str> = beside
        .iter()
        .copied()
        .filter(|other| *other != name)
        .collect();
    writeln!(out, "{name} (a verb of `attractor`)")?;
    writeln!(out, "{about}")?;
    let more = long.strip_prefix(&about).unwrap_or(&long).trim();
    if !more.is_empty() {
        writeln!(out, "\n{more}")?;
    }
    writeln!(out, "\n`attractor help {name}` prints its flags")?;
    if beside.is_empty() {
        return Ok(());
    }
    writeln!(out, "see also: {}", beside.join(", "))
}

fn write_term(out: &mut dyn Write, term: &Term) -> io::Result<()> {
    writeln!(out, "{} (a word of the output)", term.name)?;
    writeln!(out, "{}", term.about)?;
    write_indented(out, term.more)?;
    if !term.also.is_empty() {
        writeln!(out, "\nalso explained here: {}", term.also.join(", "))?;
    }
    writeln!(out, "\nmore in docs/{}.md", term.page)
}

/// The settings and presets of training.
fn write_training(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "train (`attractor train`)")?;
    writeln!(out, "Fits a model to a recording")?;
    writeln!(out, "\nsettings")?;
    for setting in all_settings() {
        write_setting(out, setting)?;
    }
    writeln!(out, "\npresets (`--preset NAME`)")?;
    let rows = PRESETS.iter().map(|preset| {
        let set: Vec<String> = preset.set.iter().map(|(k, v)| format!("{k}={v}")).collect();
        [preset.name.into(), set.join(" "), preset.about.into()]
    });
    table::write(out, &rows.collect::<Vec<_>>())
}

/// A setting with its default, its meaning and its range: below one another, because each may be long.
fn write_setting(out: &mut dyn Write, setting: &Setting) -> io::Result<()> {
    writeln!(out, "  {} = {}", setting.name, setting.default)?;
    writeln!(out, "      {}", setting.about)?;
    writeln!(out, "      {}", setting.domain)
}

/// The settings that a word is a value of.
fn write_value(out: &mut dyn Write, value: &str) -> io::Result<()> {
    writeln!(out, "{value} (a value of a setting of `attractor train`)")?;
    settings_with(value).try_for_each(|setting| write_setting(out, setting))
}

fn write_preset(out: &mut dyn Write, preset: &Preset) -> io::Result<()> {
    writeln!(out, "{} (a preset of `attractor train`)", preset.name)?;
    writeln!(out, "{}\n", preset.about)?;
    let mut set = preset.set.iter();
    set.try_for_each(|(name, value)| writeln!(out, "  {name} = {value}"))
}

fn write_figure(out: &mut dyn Write, kind: &Kind) -> io::Result<()> {
    writeln!(out, "{} (a figure of `attractor plot`)", kind.id)?;
    writeln!(out, "{}", kind.summary)?;
    writeln!(out, "\nin the paper: {}", kind.paper)
}

fn write_entry(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    writeln!(out, "{} (one of the {})", entry.id, entry.kind.plural())?;
    writeln!(out, "{}", entry.summary)?;
    write_indented(out, entry.details)?;
    match method::find(entry.id) {
        Ok(_) => write_own(out, entry.settings)?,
        Err(_) => write_settings(out, entry.settings)?,
    }
    write_known(out, system::find(entry.id).map_or(&[], |info| info.known))?;
    write_references(out, entry)
}

/// The details under a blank line; their own indentation stays.
fn write_indented(out: &mut dyn Write, details: &str) -> io::Result<()> {
    let details = details.trim_matches('\n').trim_end();
    if details.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for line in details.lines() {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    Ok(())
}

/// The settings of a model's own, each of which may be long.
fn write_own(out: &mut dyn Write, settings: &[Setting]) -> io::Result<()> {
    writeln!(
        out,
        "\nits own settings (`attractor explain {TRAIN}` prints those of all models)"
    )?;
    let mut settings = settings.iter();
    settings.try_for_each(|setting| write_setting(out, setting))
}

fn write_settings(out: &mut dyn Write, settings: &[Setting]) -> io::Result<()> {
    if settings.is_empty() {
        return writeln!(out, "\nno settings");
    }
    let head = ["setting", "default", "range", "meaning"].map(String::from);
    let rows = settings.iter().map(|setting| {
        let range = setting.domain.to_string();
        [
            setting.name.into(),
            setting.default.into(),
            range,
            setting.about.into(),
        ]
    });
    writeln!(out, "\nsettings")?;
    table::write(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// Figures from the literature that the tests compare with.
fn write_known(out: &mut dyn Write, known: &[Known]) -> io::Result<()> {
    if known.is_empty() {
        return Ok(());
    }
    let head = ["exponents", "within", "settings", "source"].map(String::from);
    let rows = known.iter().map(|known| {
        let exponents: Vec<String> = known.exponents.iter().map(f64::to_string).collect();
        let set: Vec<String> = known.set.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let set = if set.is_empty() {
            "defaults".to_string()
        } else {
            set.join(" ")
        };
        [
            exponents.join(", "),
            known.tolerance.to_string(),
            set,
            known.source.to_string(),
        ]
    });
    writeln!(out, "\nknown Lyapunov exponents")?;
    table::write(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn write_references(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    if entry.references.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nreferences (`attractor cite {}` prints BibTeX)",
        entry.id
    )?;
    for reference in references::cited_by([entry]) {
        writeln!(out, "  {}", reference.formatted())?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use attractor::catalogue;
    use attractor::method::Method;
    use attractor::settings::Domain;

    /// An entry for the tests of the verbs that print entries.
    pub(crate) const SAMPLE: Entry = Entry {
        kind: catalogue::Kind::System,
        id: "sample",
        summary: "A system for tests",
        details: "\nx' = −σ x\n  and so on\n",
        settings: &[
            Setting {
                name: "sigma",
                default: "10",
                domain: Domain::Positive,
                about: "rate of decay",
            },
            Setting {
                name: "n",
                default: "3",
                domain: Domain::COUNT,
                about: "how many",
            },
        ],
        references: &["hess2023"],
    };

    fn explained(entry: &Entry) -> String {
        let mut out = Vec::new();
        write_entry(&mut out, entry).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_entry_is_explained_on_one_page() {
        let expected = "\
sample (one of the systems)
A system for tests

  x' = −σ x
    and so on

settings
  setting  default  range                         meaning
  sigma    10       a number above 0              rate of decay
  n        3        a whole number of at least 1  how many

references (`attractor cite sample` prints BibTeX)
  Hess, Monfared, Brenner & Durstewitz (2023). Generalized Teacher Forcing for Learning Chaotic Dynamics. \
Proceedings of the 40th International Conference on Machine Learning, 202.
";
        assert_eq!(explained(&SAMPLE), expected);
    }

    #[test]
    fn what_is_empty_leaves_no_heading() {
        let bare = Entry {
            details: "",
            settings: &[],
            references: &[],
            ..SAMPLE
        };
        let page = "sample (one of the systems)\nA system for tests\n\nno settings\n";
        assert_eq!(explained(&bare), page);
    }

    #[test]
    fn models_and_training_have_their_settings() {
        let has_latent = |m: &&&Method| m.entry.settings.iter().any(|s| s.name == "latent");
        // The piecewise-linear maps and their kin, and both methods with latent differential equations.
        let maps: Vec<_> = method::METHODS.iter().filter(has_latent).collect();
        assert_eq!(maps.len(), 9);
        for method in maps {
            let page = explained(&method.entry);
            let has = |s: &Setting| page.contains(&format!("  {} = {}", s.name, s.default));
            assert!(method.entry.settings.iter().all(has), "{page}");
        }
        let mut out = Vec::new();
        write_training(&mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        let all = all_settings();
        assert!(all.iter().all(|setting| page.contains(setting.about)));
        let begin = ["paper", "observation-start=random"];
        let paper = |line: &str| line.split_whitespace().take(2).eq(begin);
        assert!(page.lines().any(paper), "{page}");
    }

    #[test]
    fn every_verb_and_every_word_of_the_output_is_explained() {
        let page = |name: &str| {
            let mut out = Vec::new();
            let name = vec![name.to_string()];
            Explain { name }.run(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        for verb in whole_command().get_subcommands() {
            let name = verb.get_name();
            assert!(page(name).starts_with(&format!("{name} (")), "{name}");
        }
        for word in glossary::words() {
            assert!(page(word).lines().count() > 1, "{word}");
        }
        assert!(
            page("chance level").starts_with("chance (a word of the output)\nThe best score of")
        );
    }

    #[test]
    fn settings_and_figures_have_their_pages() {
        let page = |name: &str| {
            let mut out = Vec::new();
            let explain = Explain {
                name: vec![name.to_string()],
            };
            explain.run(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let expected = "\
hidden (a setting of `attractor train`)
  hidden = 50
      Hidden units L
      a whole number from 1 to 65536
";
        assert_eq!(page("hidden"), expected);
        for kind in KINDS {
            assert!(page(kind.id).contains(kind.summary), "{}", kind.id);
        }
    }

    #[test]
    fn known_figures_stand_with_their_settings_and_source() {
        let known = Known {
            set: &[("rho", "45.92")],
            exponents: &[1.5, 0.0],
            tolerance: 0.01,
            source: "wolf1985",
        };
        let mut out = Vec::new();
        write_known(&mut out, &[Known { set: &[], ..known }, known]).unwrap();
        let expected = "
known Lyapunov exponents
  exponents  within  settings   source
  1.5, 0     0.01    defaults   wolf1985
  1.5, 0     0.01    rho=45.92  wolf1985
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let lorenz = system::find("lorenz63").unwrap();
        assert!(explained(&lorenz.entry).contains("0.9056"));
    }
}
