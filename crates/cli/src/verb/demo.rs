//! `attractor demo`: from data to a report in one command, with the commands that do the same step by step.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use attractor::Error;
use attractor::anatomy::{self, Anatomy, AnatomyDocument, CYCLES, SECONDS, default_steps, dissect};
use attractor::embed::EmbedError;
use attractor::embedding::{self, EmbeddingError};
use attractor::evaluation::{self, Cache, Evaluation, EvaluationDocument, Levels, evaluate};
use attractor::experiment::{DEMO, DataSource, Experiment, ExperimentError, Origin, Raw, threads};
use attractor::format::{self, Moment, ReadOptions};
use attractor::inspect::{self, Options};
use attractor::measure::{self, SETTINGS};
use attractor::model_file::Reconstruction;
use attractor::pipeline::Pipeline;
use attractor::report::{self, write_report};
use attractor::run::{Ending, Folder, Recording, Run, Task};
use attractor::series::Series;
use attractor::settings::Settings;
use attractor::shell;
use attractor::system::simulate::{self, Simulation};
use attractor::text::count;
use clap::Args;
use serde::Serialize;

use super::train::Show;
use super::{analyze, assignment, inspect as inspect_verb, whole};
use crate::follow::Shown;
use crate::reading::Reading;
use crate::visible::notes;
use crate::{json, scores};

/// See it work: data, a model, its scores, its anatomy and a report
///
/// Simulates a noisy Lorenz system, says what the data hold, trains a clipped shallow PLRNN with adaptive forcing, judges
/// it beside floor and chance by an orbit that it has not seen, takes it apart, and writes a page that runs the model. With
/// --data it does the same with your own recording: of one trajectory the last fifth is kept for judging, numbers that stand for
/// missing values are read as such, and of a single channel that hides states it makes delay vectors. Every step is shown with the command that does it alone.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for all that is made, new or empty
    #[arg(long, value_name = "DIR", default_value = "attractor-demo")]
    out: PathBuf,
    /// Your own recording in place of a simulated one
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Whole trajectories of your recording to judge by: how many at the end, or their names with commas between
    #[arg(long, value_name = "K|NAMES", requires = "data")]
    held_out_trajectories: Option<String>,
    /// Seed of the data and of the training
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>)]
    seed: u64,
    /// A setting of the training, as in `--set hidden=100`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Print scores and files as a JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Rows of the simulated orbit; the first half is trained on with noise, the second is what models are judged by.
const ROWS: usize = 200_000;

/// Standard deviation of the noise, in units of the channels'.
const NOISE: f64 = 0.05;

/// The system that is simulated.
const SYSTEM: &str = "lorenz63";

/// The name of the file of delay vectors in the folder.
const STATES: &str = "states.csv";

/// The page's name in the folder.
const PAGE: &str = "report.html";

/// The paper's sizes for the system.
const SIZES: [(&str, &str); 2] = [("latent", "3"), ("hidden", "50")];

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    run: PathBuf,
    report: PathBuf,
    evaluation: Option<EvaluationDocument>,
    anatomy: AnatomyDocument,
}

/// What is trained on and what is judged by.
struct Sources {
    train: DataSource,
    test: DataSource,
    system: Option<&'static str>,
    settings: Vec<(String, String)>,
}

impl Demo {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        Folder::new(&self.out).refuse_occupied()?;
        // A setting that is none is a mistake to be told before the work.
        experiment(&self.settings(&[]))?;
        let mut steps = Steps { done: 0 };
        let sources = match &self.data {
            None => self.simulate(&mut steps)?,
            Some(path) => self.split(path, &mut steps)?,
        };
        let commands = Commands::new(&sources, &self.out);
        let recording = Arc::new(Recording::read(sources.train.clone())?);
        steps.next("what the data hold", &[&commands.inspect])?;
        self.inspect(&recording, out)?;
        steps.next("training", &[&commands.train])?;
        let run = self.out.join("run");
        if let Some(code) = train(&sources, recording, &run, &commands)? {
            return Ok(code);
        }
        let model = Folder::new(&run).model()?;
        let judging = "how good it is, beside the data themselves and chance";
        steps.next(judging, &[&commands.evaluate])?;
        let evaluated = match self.evaluate(&sources, &model, &run, out) {
            // Nothing but the scores is lost.
            Err(error @ Error::Evaluation(_)) => {
                writeln!(notes(), "note: there are no scores: {error}")?;
                None
            }
            other => Some(other?),
        };
        steps.next("what the model is made of", &[&commands.analyze])?;
        let anatomy = self.dissect(&model, out)?;
        let showing = "a page that shows all of it, and runs the model";
        steps.next(showing, &[&commands.report])?;
        let page = self.report(&sources, &run)?;
        if self.json {
            let document = Document {
                run,
                report: page.clone(),
                evaluation: evaluated.as_ref().map(Evaluation::document),
                anatomy: anatomy.document(&model),
            };
            json::write(&document, out)?;
        }
        writeln!(notes(), "\nopen it in a browser: {}", page.display())?;
        Ok(ExitCode::SUCCESS)
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
        let orbit = |noise: f64| {
            let request = simulate::Request {
                seed: self.seed,
                standardize: true,
                noise,
                ..simulate::Request::new(SYSTEM, ROWS)
            };
            Ok::<Series, Error>(Simulation::check(&request)?.run()?.series)
        };
        let series = [orbit(NOISE)?, orbit(0.0)?];
        let settings = self.settings(&SIZES);
        // So is one that the data do not allow, before anything is written.
        let trained_on = series[0].with(vec![series[0].slice(0, 0..ROWS / 2)])?;
        experiment(&settings)?.resolve(&trained_on)?;
        make_folder(&self.out)?;
        for (path, series) in [&noisy, &clean].into_iter().zip(&series) {
            format::write(path, series)?;
        }
        Ok(Sources {
            train: part(&noisy, &ReadOptions::default(), None, Some(ROWS / 2)),
            test: part(&clean, &ReadOptions::default(), Some(ROWS / 2), None),
            system: Some(SYSTEM),
            settings,
        })
    }

    /// The user's recording in two parts; one of several trajectories, or of which a part was chosen, is not split. Of a single channel
    /// that hides states, it is its delay vectors.
    fn split(&self, path: &Path, steps: &mut Steps) -> Result<Sources, Error> {
        let path = std::path::absolute(path).unwrap_or(path.to_path_buf());
        let (options, series) = self.read_own(&path)?;
        let whole = part(&path, &options, None, None);
        Recording::new(series.clone(), whole.clone(), Pipeline::default()).refuse_clock()?;
        let is_whole = options.from.is_none() && options.to.is_none() && options.rate.is_none();
        let is_split =
            is_whole && series.trajectories().len() == 1 && self.held_out_trajectories.is_none();
        let rows = series.total_len();
        let at = is_split.then_some(rows * 4 / 5);
        let what = match at {
            Some(at) => format!(
                "{}, of which the last {} are for judging",
                count(rows, "row"),
                rows - at
            ),
            None if self.held_out_trajectories.is_some() => format!(
                "{} of {}, some of which are for judging",
                count(rows, "row"),
                count(series.trajectories().len(), "trajectory")
            ),
            None => format!(
                "{}, all of them for training and for judging",
                count(rows, "row")
            ),
        };
        steps.next(&what, &[&format!("attractor inspect {}", whole.as_typed())])?;
        let Some((states, reach)) = self.embed(&whole, &series, steps)? else {
            return self.parts(&whole, &series, at.map(|at| [at, at]));
        };
        let series = format::read(&states.path, &states.options)?;
        let at = is_split.then_some(series.total_len() * 4 / 5);
        // So that no value is in both.
        self.parts(&states, &series, at.map(|at| [at, at + reach]))
    }

    /// The user's recording, without numbers that stand for missing values.
    fn read_own(&self, path: &Path) -> Result<(ReadOptions, Series), Error> {
        let mut options = self.reading.options();
        let series = self.reading.read(path)?;
        let found = inspect::sentinels(&series);
        let Some(&(c, value, times)) = found.first() else {
            return Ok((options, series));
        };
        for &(_, value, _) in &found {
            if !options.missing.contains(&value) {
                options.missing.push(value);
            }
        }
        writeln!(
            notes(),
            "note: {value} occurs {} in `{}`, far from all other values, and is read as missing",
            count(times, "time"),
            series.channels()[c].name
        )?;
        let series = format::read(path, &options)?;
        Ok((options, series))
    }

    /// Delay vectors of a single channel that hides states, in a file of their own, with their longest delay.
    fn embed(
        &self,
        source: &DataSource,
        series: &Series,
        steps: &mut Steps,
    ) -> Result<Option<(DataSource, usize)>, Error> {
        if inspect::hides_states(series).is_none() {
            return Ok(None);
        }
        let path = self.out.join(STATES);
        let what =
            "one channel of a system with more states: states from its values at several delays";
        let command = format!(
            "attractor embed {} {}",
            source.as_typed(),
            shell::path(&path)
        );
        steps.next(what, &[&command])?;
        let request = embedding::Request {
            threads: threads(0),
            ..embedding::Request::default()
        };
        let embedded = match embedding::embed(series, &request, &mut Shown::new()) {
            Err(EmbeddingError::Values(EmbedError::Stopped(stopped))) => return Err(stopped.into()),
            Err(error) => {
                writeln!(
                    notes(),
                    "note: there is no embedding, the channel is taken as it is: {error}"
                )?;
                return Ok(None);
            }
            Ok(embedded) => embedded,
        };
        let delays = embedded.coordinates.iter().map(|c| c.delay);
        let reach = delays.max().unwrap_or(0);
        if embedded.coordinates.len() < 2 {
            writeln!(
                notes(),
                "note: no delay adds to it, the channel is taken as it is"
            )?;
            return Ok(None);
        }
        make_folder(&self.out)?;
        format::write(&path, &embedded.series)?;
        let names: Vec<&str> = embedded
            .series
            .channels()
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        writeln!(notes(), "the states are {}", names.join(", "))?;
        Ok(Some((
            part(&path, &ReadOptions::default(), None, None),
            reach,
        )))
    }

    /// What is trained on, up to a row, and what is judged by, from a row on.
    fn parts(
        &self,
        source: &DataSource,
        series: &Series,
        at: Option<[usize; 2]>,
    ) -> Result<Sources, Error> {
        let (path, options) = (&source.path, &source.options);
        let rows = at.map_or(series.total_len(), |[end, _]| end);
        let trajectories = 0..series.trajectories().len();
        let segments = trajectories.flat_map(|i| series.segments(i));
        let longest = segments.map(|rows| rows.len()).max().unwrap_or(0);
        let window = 200.min(rows / 10).min(longest / 2).max(1).to_string();
        let held_out = self.held_out_trajectories.as_deref();
        let held_out = held_out.map(|names| ("held-out-trajectories", names));
        let own: Vec<(&str, &str)> = [("window", &*window)].into_iter().chain(held_out).collect();
        let settings = self.settings(&own);
        let mut test = part(path, options, at.map(|[_, start]| start), None);
        let preparation = experiment(&settings)?.preparation();
        for name in preparation.held_out_names(series)? {
            let Ok(pattern) = name.parse();
            test.options.only_trajectories.push(pattern);
        }
        Ok(Sources {
            train: part(path, options, None, at.map(|[end, _]| end)),
            test,
            system: None,
            settings,
        })
    }

    /// The settings of the training that override its preset: some of this recording, and what was typed.
    fn settings(&self, own: &[(&str, &str)]) -> Vec<(String, String)> {
        let seed = self.seed.to_string();
        let seed = [("seed", &*seed)];
        let settings = own.iter().chain(&seed);
        let mut all: Vec<(String, String)> = settings
            .map(|&(name, text)| (name.to_string(), text.to_string()))
            .filter(|(name, _)| self.set.iter().all(|(typed, _)| typed != name))
            .collect();
        all.extend(self.set.iter().cloned());
        all
    }

    fn inspect(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), Error> {
        let inspection = inspect::inspect(&recording.series, Options::default());
        if self.json {
            Ok(())
        } else {
            inspect_verb::write_short(&inspection, &recording.source.as_typed(), out)
        }
    }

    fn evaluate(
        &self,
        sources: &Sources,
        model: &Reconstruction,
        run: &Path,
        out: &mut dyn Write,
    ) -> Result<Evaluation, Error> {
        let request = evaluation::Request {
            options: measure::Options::new(&Settings::resolve(SETTINGS, [])?),
            system: sources.system.map(String::from),
            set: Vec::new(),
            lyapunov: None,
            other_starts: 7,
            levels: Levels::Shown,
        };
        let data = model.see(&format::read(&sources.test.path, &sources.test.options)?)?;
        let (origin, cache) = (
            evaluation::Origin::of(model, run),
            Cache::of_user(Some(run)),
        );
        let follow = &mut Shown::new();
        let evaluation = evaluate(model, &data, &origin, &request, &cache, follow)?;
        if !self.json {
            scores::write_table(&evaluation, out)?;
            out.flush()?;
        }
        scores::write_notes(&evaluation)?;
        Ok(evaluation)
    }

    fn dissect(&self, model: &Reconstruction, out: &mut dyn Write) -> Result<Anatomy, Error> {
        let request = anatomy::Request {
            cycles: CYCLES,
            seconds: SECONDS,
            steps: default_steps(model),
            threads: threads(0),
            seed: 0,
        };
        let anatomy = dissect(
            model,
            anatomy::Sources::default(),
            &request,
            &mut Shown::new(),
        )?;
        if !self.json {
            analyze::write(&anatomy, model, None, out)?;
            out.flush()?;
        }
        Ok(anatomy)
    }

    fn report(&self, sources: &Sources, run: &Path) -> Result<PathBuf, Error> {
        let page = self.out.join(PAGE);
        let request = report::Request {
            data: Some(sources.test.clone()),
            system: sources.system.map(String::from),
            ..report::Request::of(run)
        };
        write_report(&request, &page, &mut Shown::new())?;
        Ok(page)
    }
}

/// The commands that do the steps.
struct Commands {
    inspect: String,
    train: String,
    evaluate: String,
    analyze: String,
    report: String,
}

impl Commands {
    fn new(sources: &Sources, out: &Path) -> Commands {
        let (run, page) = (shell::path(&out.join("run")), shell::path(&out.join(PAGE)));
        let (train, test) = (sources.train.as_typed(), sources.test.as_typed());
        let system = sources.system.map(|name| format!(" --system {name}"));
        let system = system.unwrap_or_default();
        let settings = sources.settings.iter();
        let settings: String = settings
            .map(|(name, text)| format!(" {}", shell::flag(name, text)))
            .collect();
        Commands {
            inspect: format!("attractor inspect {train}"),
            train: format!("attractor train {train} --out {run} --preset {DEMO}{settings}"),
            evaluate: format!("attractor evaluate {run} --data {test}{system}"),
            analyze: format!("attractor analyze {run}"),
            report: format!("attractor report {run} --data {test}{system} --out {page}"),
        }
    }

    /// What is left to do once a training that was interrupted has been resumed.
    fn tell_the_rest(&self, run: &Path) -> io::Result<()> {
        let resume = format!("attractor resume {}", shell::path(run));
        let rest = [&resume, &self.evaluate, &self.analyze, &self.report];
        let mut notes = notes();
        writeln!(notes, "\nwhat is left, step by step:")?;
        rest.iter()
            .try_for_each(|line| writeln!(notes, "   {line}"))
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

fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Some rows of a file.
fn part(path: &Path, options: &ReadOptions, from: Option<usize>, to: Option<usize>) -> DataSource {
    DataSource {
        path: path.to_path_buf(),
        options: ReadOptions {
            from: from.map(|at| Moment::Row(at + 1)).or(options.from),
            to: to.map(|at| Moment::Row(at + 1)).or(options.to),
            ..options.clone()
        },
        ..DataSource::default()
    }
}

/// Trains; the exit code if there is no model that can be judged.
fn train(
    sources: &Sources,
    recording: Arc<Recording>,
    run: &Path,
    commands: &Commands,
) -> Result<Option<ExitCode>, Error> {
    let task = Task::new(&experiment(&sources.settings)?, recording)?;
    let show = Show {
        json: false,
        quiet: false,
    };
    show.before(&task.resolved, &[])?;
    let mut progress = show.progress(&task.resolved);
    let begun = Run::begin(run, task)?;
    let trained = begun.train(&mut progress)?;
    progress.finish();
    let code = show.after(&trained, &begun, &mut io::sink())?;
    let outcome = trained.summary.outcome;
    if outcome == Ending::Stopped {
        commands.tell_the_rest(run)?;
    }
    Ok((outcome != Ending::Finished).then_some(code))
}

fn experiment(settings: &[(String, String)]) -> Result<Experiment, ExperimentError> {
    let mut raw = Raw::default();
    raw.preset(DEMO)?;
    for (name, text) in settings {
        raw.push(name, text, Origin::Flag);
    }
    Experiment::check(&raw)
}
