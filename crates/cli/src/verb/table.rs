//! `attractor table DIR`: the runs of a study, in its folder or packed into a file, as a table.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::study::{Scored, index};
use attractor::table::{Beside, Format, Table as Groups};
use clap::{Args, ValueEnum};

use crate::visible::notes;

/// Show the runs of a study as a table
///
/// Groups the runs by what they differ in, and gives the median ± MAD (unscaled) over the seeds of D_stsp, D_H and PE(n), with
/// the number of runs and of those dropped: they diverged, or have no value of a measure. Under them stand floors (what the data
/// themselves reach), chance levels (what surrogates without the dynamics reach), and the probability that groups do not
/// differ (Kruskal and Wallis). From six channels on, D_stsp is shown in the f32 form of the paper's tables as well.
#[derive(Debug, Args)]
pub(crate) struct Table {
    /// Folder of the study, or the .jsonl file that it was packed into
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Group by this setting, or by `name`; several with commas between, or repeated [default: what the runs differ in]
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    by: Vec<String>,
    /// How the table is written; csv has all digits
    #[arg(
        long,
        value_name = "HOW",
        default_value = "text",
        conflicts_with = "json"
    )]
    format: Word,
    /// Numbers to set beside ours: they agree within two MADs of the paper's
    #[arg(long, value_name = "WHICH")]
    reference: Option<Reference>,
    /// Which parameters of a run count, where `best-by` or `average` has chosen others than the last
    #[arg(long, value_name = "WHICH", default_value = "chosen")]
    model: Model,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    Text,
    Md,
    Csv,
    Latex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Those of the run's model
    Chosen,
    /// Those at the end of training, as in the paper
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reference {
    /// Tables of Hess et al. 2023
    Paper,
}

impl Table {
    /// Whether the table is one for other programs.
    pub(crate) fn prints_data(&self) -> bool {
        self.format == Word::Csv
    }

    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let mut runs = index(&self.folder)?;
        if self.model == Model::Last {
            runs = runs.into_iter().map(Scored::with_last).collect();
        }
        let beside = match self.reference {
            Some(Reference::Paper) => Beside::Paper,
            None => Beside::Nothing,
        };
        let table = Groups::new(&runs, &self.by, beside)?;
        if self.reference.is_some() && table.groups.iter().all(|group| group.paper.is_none()) {
            let note = "note: no group names its row of the paper; with `paper = \"…\"` in the study, `attractor sweep` \
                        again names it, and trains nothing again";
            writeln!(notes(), "{note}")?;
        }
        tell_numerics(&runs, &mut notes())?;
        if self.json {
            crate::json::write(&table.document(), out)?
        } else {
            table.write(self.format.format(), out)?
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Says where runs are of versions whose numbers differ.
fn tell_numerics(runs: &[Scored], notes: &mut dyn Write) -> io::Result<()> {
    let versions: BTreeSet<Option<u64>> = runs.iter().map(|run| run.numerics).collect();
    if versions.len() < 2 {
        return Ok(());
    }
    let words = versions.iter().map(|version| match version {
        Some(version) => version.to_string(),
        None => "unknown".to_string(),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    writeln!(
        notes,
        "note: the runs were judged by versions whose numbers differ (numerics {words}); the changelog says in what"
    )
}

impl Word {
    fn format(self) -> Format {
        match self {
            Word::Text => Format::Text,
            Word::Md => Format::Markdown,
            Word::Csv => Format::Csv,
            Word::Latex => Format::Latex,
        }
    }
}
