//! `attractor table DIR`: the runs of a study, in its folder or packed into a file, as a table.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::Error;
use attractor::study::{Scored, index};
use attractor::table::{Beside, Format, PaperTable, Table as Groups};
use attractor::text::count;
use clap::{Args, ValueEnum};

use crate::visible::notes;

/// Show the runs of a study as a table
///
/// Groups the runs by what they differ in, and gives the median ± MAD (median absolute deviation, unscaled) over the seeds of D_stsp, D_H and PE(n), with
/// the number of runs and of those dropped: they diverged, or have no value of a measure. Below them are floors (what the data
/// themselves reach), chance levels (what surrogates without the dynamics reach), and the probability that groups do not
/// differ (Kruskal and Wallis). From six channels on, D_stsp is shown in the f32 form of the paper's tables as well.
#[derive(Debug, Args)]
pub(crate) struct Table {
    /// Folders of studies, or the .jsonl files that they were packed into
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Group by this setting, or by `name`; several are separated by commas, or the flag is repeated [default: what the runs differ in]
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
    /// Published numbers to show beside ours, which agree if they are within two of the paper's MADs
    #[arg(long, value_name = "WHICH")]
    reference: Option<Reference>,
    /// Fill one of the paper's tables, in its shape: 1, S1, S2, S3 or S4
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["by", "reference"])]
    paper_table: Option<String>,
    /// Which parameters of a run count, where `best-by` or `average` has chosen other than the last ones
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
        let studies = self.folders.iter().map(|folder| self.read(folder));
        let studies = studies.collect::<Result<Vec<_>, Error>>()?;
        tell_numerics(studies.iter().flatten(), &mut notes())?;
        let tables = match &self.paper_table {
            Some(name) => {
                let table = PaperTable::find(name)?;
                writeln!(notes(), "Table {}: {}", table.name, table.title)?;
                table.filled(&studies)
            }
            None => self.tables(&studies)?,
        };
        if self.json {
            self.print_document(&tables, out)?;
            return Ok(ExitCode::SUCCESS);
        }
        for (i, table) in tables.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            table.write(self.format.format(), out)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn read(&self, folder: &Path) -> Result<Vec<Scored>, Error> {
        let runs = index(folder)?;
        Ok(match self.model {
            Model::Chosen => runs,
            Model::Last => runs.into_iter().map(Scored::with_last).collect(),
        })
    }

    /// One table per study.
    fn tables(&self, studies: &[Vec<Scored>]) -> Result<Vec<Groups>, Error> {
        let beside = match self.reference {
            Some(Reference::Paper) => Beside::Paper,
            None => Beside::Nothing,
        };
        let tables = studies
            .iter()
            .map(|runs| Groups::new(runs, &self.by, beside));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        let runs = || studies.iter().flatten();
        let seen = runs().filter(|run| run.is_seen).count();
        if seen > 0 {
            let all = count(runs().count(), "run");
            let note = "judged by rows that they were trained on or chosen by";
            writeln!(notes(), "note: {seen} of {all} are {note}")?;
        }
        tell_disagreements(&tables, &mut notes())?;
        let mut groups = tables.iter().flat_map(|table| &table.groups);
        if self.reference.is_some() && groups.all(|group| group.paper.is_none()) {
            let note = "note: no group names its row of the paper; with `paper = \"…\"` in the study, `attractor sweep` \
                        again names it, and trains nothing again";
            writeln!(notes(), "{note}")?;
        }
        Ok(tables)
    }

    /// The document of a table, or a list of those of several.
    fn print_document(&self, tables: &[Groups], out: &mut dyn Write) -> Result<(), Error> {
        match (tables, &self.paper_table) {
            ([only], None) => crate::json::write(&only.document(), out)?,
            _ => {
                let documents: Vec<_> = tables.iter().map(Groups::document).collect();
                crate::json::write(&documents, out)?
            }
        }
        Ok(())
    }
}

/// Groups of which it is said how they disagree; of more, only how many do.
const SAID: usize = 8;

/// Says where the seeds of a group disagree.
fn tell_disagreements(tables: &[Groups], notes: &mut dyn Write) -> io::Result<()> {
    let groups = || tables.iter().flat_map(|table| &table.groups);
    let found: Vec<_> = groups()
        .filter_map(|group| Some((group, group.disagreement.as_ref()?)))
        .collect();
    if found.len() > SAID {
        let (some, all) = (found.len(), count(groups().count(), "group"));
        return writeln!(
            notes,
            "note: in {some} of {all} seeds disagree; `--json` says how"
        );
    }
    for (group, how) in found {
        let name: String = match group.values.as_slice() {
            [] => String::new(),
            values => format!("{}: ", values.join(", ")),
        };
        writeln!(notes, "note: {name}{how}")?;
    }
    Ok(())
}

/// Says where runs are of versions whose numbers differ.
fn tell_numerics<'a>(
    runs: impl Iterator<Item = &'a Scored>,
    notes: &mut dyn Write,
) -> io::Result<()> {
    let versions: BTreeSet<Option<u64>> = runs.map(|run| run.numerics).collect();
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
