//! `attractor demo`: from data to a report in one command, with the commands that do the same step by step.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::Error;
use attractor::anatomy::{self, AnatomyDocument, CYCLES, SECONDS, beside, default_steps, dissect};
use attractor::evaluation::{self, Cache, Evaluation, EvaluationDocument, Levels, evaluate};
use attractor::experiment::{DataSource, threads};
use attractor::format;
use attractor::learn::{Budget, Goal, Learned, Request};
use attractor::measure::{self, SETTINGS};
use attractor::model_file::Reconstruction;
use attractor::report::{self, write_report};
use attractor::run::Folder;
use attractor::settings::Settings;
use attractor::shell;
use attractor::store;
use attractor::system::find;
use attractor::system::simulate::{self, Simulation};
use clap::Args;
use serde::Serialize;

use super::learn::{self, GoalWord, minutes, updates};
use super::{analyze, whole};
use crate::follow::Shown;
use crate::reading::Reading;
use crate::visible::notes;
use crate::{json, scores};

/// See it work: data, a model, its scores, its anatomy and a report
///
/// Simulates a noisy Lorenz system, says what the data hold, lets piecewise-linear models race, judges the best
/// beside floor and chance by an orbit that it has not seen, takes it apart, and writes a page that runs the model. With
/// --data it does the same with your own recording, judged by its last fifth. Every step is shown with the command that does it alone.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for all that is made, new or empty, or of the same demo that was interrupted
    #[arg(long, value_name = "DIR", default_value = "attractor-demo")]
    out: PathBuf,
    /// Your own recording instead of a simulated one
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// What the model is for [default: anatomy of the simulated recording, attractor of your own]
    #[arg(long, value_enum)]
    goal: Option<GoalWord>,
    /// Whole trajectories of your recording to judge by: how many at the end, or their names, separated by commas
    #[arg(long, value_name = "K|NAMES", requires = "data")]
    held_out_trajectories: Option<String>,
    /// About how long the race may take
    #[arg(long, value_name = "M", default_value_t = 3.0, allow_negative_numbers = true, value_parser = minutes)]
    minutes: f64,
    /// Instead of minutes, the updates of a whole training: the same seed then gives the same result
    #[arg(long, value_name = "N", conflicts_with = "minutes", allow_negative_numbers = true, value_parser = updates)]
    updates: Option<u64>,
    /// Seed of the data and of the race
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>)]
    seed: u64,
    /// Print scores and files as a JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Rows of the simulated orbits, with noise and without.
const ROWS: usize = 50_000;

/// Standard deviation of the noise, in units of the channels'.
const NOISE: f64 = 0.05;

/// The system that is simulated.
const SYSTEM: &str = "lorenz63";

/// The folder of the race in that of the demo.
const RACE: &str = "learn";

/// The page's name in the folder.
const PAGE: &str = "report.html";

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    run: PathBuf,
    report: PathBuf,
    evaluation: Option<EvaluationDocument>,
    anatomy: AnatomyDocument,
}

/// What is learned from, and what models are judged by where that is not its last fifth.
struct Sources {
    train: DataSource,
    test: Option<PathBuf>,
}

impl Demo {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        if !self.out.join(RACE).exists() {
            Folder::new(&self.out).refuse_occupied()?;
        }
        let mut steps = Steps { done: 0 };
        let sources = self.sources(&mut steps)?;
        steps.next(
            "what the data hold, and models that race",
            &[
                &format!("attractor inspect {}", sources.train.as_typed()),
                &self.learn_command(&sources),
            ],
        )?;
        let Some((_, learned)) = learn::raced(self.request(&sources), self.json, out)? else {
            return Ok(ExitCode::from(crate::INTERRUPTED));
        };
        let run = learned.run.clone();
        let commands = Commands::new(&sources, &run, &self.out);
        let model = Folder::new(&run).model()?;
        steps.next(
            "how good it is, beside the data themselves and chance",
            &commands
                .evaluate
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        )?;
        let evaluated = self.judge(&sources, &learned, &model, out)?;
        steps.next("what the model is made of", &[&commands.analyze])?;
        let anatomy = self.dissect(&model, &sources, &run, out)?;
        steps.next(
            "a page that shows all of it, and runs the model",
            &[&commands.report],
        )?;
        let page = self.report(&sources, &run)?;
        if self.json {
            let document = Document {
                run,
                report: page.clone(),
                evaluation: evaluated,
                anatomy,
            };
            json::write(&document, out)?;
        }
        writeln!(notes(), "\nopen it in a browser: {}", page.display())?;
        Ok(ExitCode::SUCCESS)
    }

    fn sources(&self, steps: &mut Steps) -> Result<Sources, Error> {
        match &self.data {
            None => self.simulate(steps),
            Some(path) => Ok(Sources {
                train: DataSource {
                    path: std::path::absolute(path).unwrap_or(path.clone()),
                    options: self.reading.options(),
                    ..DataSource::default()
                },
                test: None,
            }),
        }
    }

    /// A noisy orbit, and the same without noise, in two files.
    fn simulate(&self, steps: &mut Steps) -> Result<Sources, Error> {
        let file = |name: &str| self.out.join(format!("{SYSTEM}{name}.csv"));
        let (noisy, clean) = (file("-noisy"), file(""));
        let what = format!("{ROWS} states of the Lorenz system, with 5 % noise and without");
        let command = |noise: &str, path: &Path| {
            let (seed, path) = (self.seed, shell::path(path));
            format!(
                "attractor simulate {SYSTEM} --steps {ROWS} --standardize{noise} --seed {seed} --out {path}"
            )
        };
        let noise = format!(" --noise {NOISE}");
        steps.next(&what, &[&command(&noise, &noisy), &command("", &clean)])?;
        store::make_folder(&self.out)?;
        for (path, noise) in [(&noisy, NOISE), (&clean, 0.0)] {
            let request = simulate::Request {
                seed: self.seed,
                standardize: true,
                noise,
                ..simulate::Request::new(SYSTEM, ROWS)
            };
            format::write(path, &Simulation::check(&request)?.run()?.series)?;
        }
        Ok(Sources {
            train: DataSource {
                path: noisy,
                ..DataSource::default()
            },
            test: Some(clean),
        })
    }

    fn goal(&self) -> Goal {
        match (self.goal, &self.data) {
            (Some(goal), _) => goal.meaning(),
            (None, None) => Goal::Anatomy,
            (None, Some(_)) => Goal::Attractor,
        }
    }

    fn request(&self, sources: &Sources) -> Request {
        Request {
            source: sources.train.clone(),
            out: self.out.join(RACE),
            goal: self.goal(),
            budget: match self.updates {
                Some(updates) => Budget::Updates(updates),
                None => Budget::Minutes(self.minutes),
            },
            methods: Vec::new(),
            held_out_trajectories: self.held_out_trajectories.clone(),
            seed: self.seed,
            workers: threads(0),
        }
    }

    /// The command that races alike.
    fn learn_command(&self, sources: &Sources) -> String {
        let mut command = format!("attractor learn {}", sources.train.as_typed());
        let goal = self.goal();
        if goal != Goal::Attractor {
            command += &format!(" --goal {}", goal.name());
        }
        command += &match self.updates {
            Some(updates) => format!(" --updates {updates}"),
            None => format!(" --minutes {}", self.minutes),
        };
        if let Some(names) = &self.held_out_trajectories {
            command += &format!(" {}", shell::flag("held-out-trajectories", names));
        }
        if self.seed != 1 {
            command += &format!(" --seed {}", self.seed);
        }
        let folder = shell::path(&self.out.join(RACE));
        format!("{command} --out {folder}")
    }

    /// The model judged by the orbit without noise; of one's own recording, what the race ended with.
    fn judge(
        &self,
        sources: &Sources,
        learned: &Learned,
        model: &Reconstruction,
        out: &mut dyn Write,
    ) -> Result<Option<EvaluationDocument>, Error> {
        let Some(test) = &sources.test else {
            if !self.json {
                learn::write_verdict(learned, out)?;
            }
            return Ok(learned.document());
        };
        let evaluation = self.evaluate(test, model, &learned.run)?;
        if !self.json {
            learn::write_seeds(learned, out)?;
            scores::write_table(&evaluation, out)?;
            out.flush()?;
        }
        scores::write_notes(&evaluation)?;
        Ok(Some(evaluation.document()))
    }

    fn evaluate(
        &self,
        test: &Path,
        model: &Reconstruction,
        run: &Path,
    ) -> Result<Evaluation, Error> {
        let request = evaluation::Request {
            options: measure::Options::new(&Settings::resolve(SETTINGS, [])?),
            system: Some(SYSTEM.to_string()),
            other_starts: 7,
            levels: Levels::Shown,
            ..evaluation::Request::default()
        };
        let data = model.see(&format::read(test, &format::ReadOptions::default())?)?;
        let (origin, cache) = (
            evaluation::Origin::of(model, run),
            Cache::of_user(Some(run)),
        );
        Ok(evaluate(
            model,
            &data,
            &origin,
            &request,
            &cache,
            &mut Shown::new(),
        )?)
    }

    fn dissect(
        &self,
        model: &Reconstruction,
        sources: &Sources,
        run: &Path,
        out: &mut dyn Write,
    ) -> Result<AnatomyDocument, Error> {
        let request = anatomy::Request {
            cycles: CYCLES,
            seconds: SECONDS,
            steps: default_steps(model),
            threads: threads(0),
            seed: 0,
        };
        let (rows, follow) = (anatomy::remembered(run, model), &mut Shown::new());
        let found = anatomy::Sources {
            data: None,
            rows: rows.as_ref(),
        };
        let found = dissect(model, found, &request, follow)?;
        let system = sources.test.as_ref().and_then(|_| find(SYSTEM));
        let known = system.map(|info| beside(info, &found, model, rows.as_ref(), follow));
        let known = known.transpose()?;
        if !self.json {
            analyze::write(&found, model, known.as_ref(), out)?;
            out.flush()?;
        }
        let document = found.document(model);
        Ok(match &known {
            Some(known) => document.beside(known, model),
            None => document,
        })
    }

    fn report(&self, sources: &Sources, run: &Path) -> Result<PathBuf, Error> {
        let page = self.out.join(PAGE);
        let test = sources.test.as_ref();
        let request = report::Request {
            data: test.map(|path| DataSource {
                path: path.clone(),
                ..DataSource::default()
            }),
            system: test.map(|_| SYSTEM.to_string()),
            ..report::Request::of(run)
        };
        write_report(&request, &page, &mut Shown::new())?;
        Ok(page)
    }
}

/// The commands that do the last steps.
struct Commands {
    /// None where the race judges.
    evaluate: Option<String>,
    analyze: String,
    report: String,
}

impl Commands {
    fn new(sources: &Sources, run: &Path, out: &Path) -> Commands {
        let (run, page) = (shell::path(run), shell::path(&out.join(PAGE)));
        let test = sources.test.as_ref();
        let system = test.map_or(String::new(), |_| format!(" --system {SYSTEM}"));
        let test = test.map(|path| format!("--data {}{system}", shell::path(path)));
        let judged = test.as_ref().map(|test| format!(" {test}"));
        Commands {
            evaluate: test.map(|test| format!("attractor evaluate {run} {test}")),
            analyze: format!("attractor analyze {run}{system}"),
            report: format!(
                "attractor report {run}{} --out {page}",
                judged.unwrap_or_default()
            ),
        }
    }
}

/// Numbers the steps.
struct Steps {
    done: usize,
}

impl Steps {
    /// Says what comes next, and the commands that do it alone.
    fn next(&mut self, what: &str, commands: &[&str]) -> io::Result<()> {
        self.done += 1;
        let mut notes = notes();
        writeln!(notes, "\n{}. {what}", self.done)?;
        let mut lines = commands.iter();
        lines.try_for_each(|command| writeln!(notes, "   {command}"))
    }
}
