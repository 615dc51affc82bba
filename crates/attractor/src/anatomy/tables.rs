//! An anatomy as CSV tables in a folder, one a figure: what is drawn elsewhere is computed here.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::Anatomy;
use super::gradients::Gradients;
use crate::model_file::Reconstruction;
use crate::seen::Seen;
use crate::spreadsheet::cell;
use crate::{Error, store};

/// The tables: name, and what they need besides the model.
pub const TABLES: &[(&str, &str)] = &[
    ("lyapunov_trace.csv", "an orbit that does not diverge"),
    ("regions.csv", "a piecewise-linear model"),
    ("transitions.csv", "a piecewise-linear model"),
    ("symbols.csv", "a piecewise-linear model"),
    (
        "commutators.csv",
        "a model trained under teacher forcing, and an orbit that does not diverge",
    ),
    ("jacobian_norms.csv", FORCED),
    ("alpha_estimates.csv", FORCED),
    ("loss_landscape.csv", FORCED),
];

const FORCED: &str =
    "a model trained under teacher forcing, and data of at least 201 rows without gaps";

/// What was written, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// Names of the tables that were written.
    pub written: Vec<&'static str>,
    /// Names of those that were not, and what they need.
    pub missing: Vec<(&'static str, &'static str)>,
}

/// Writes all tables that model and data allow into a folder, which is [prepared](prepare). Those of an earlier analysis that
/// this one does not make are removed.
pub fn tables(
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    folder: &Path,
) -> Result<Tables, Error> {
    prepare(folder)?;
    let desk = Desk {
        anatomy,
        gradients: Gradients::of(reconstruction, data, anatomy.request.threads),
    };
    let mut done = Tables::default();
    for &(name, needs) in TABLES {
        match desk.table(name) {
            Some(table) => {
                store::write_whole(&folder.join(name), |out| table.write(out))?;
                done.written.push(name);
            }
            None => {
                remove(&folder.join(name))?;
                done.missing.push((name, needs));
            }
        }
    }
    Ok(done)
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Write {
            path: path.to_path_buf(),
            source,
        }),
        _ => Ok(()),
    }
}

/// The file by which a folder says that tables in it are replaced.
const MARK: &str = ".attractor-tables";

/// Makes the folder for tables, if it is not there. One that has files, and not the mark of an earlier analysis, is refused:
/// they may be somebody's, under the names of tables.
pub fn prepare(folder: &Path) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: folder.to_path_buf(),
        source,
    };
    fs::create_dir_all(folder).map_err(failed)?;
    if folder.join(MARK).exists() {
        return Ok(());
    }
    let files = fs::read_dir(folder).map_err(failed)?.flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    match names.filter(|name| !name.starts_with('.')).min() {
        Some(found) => Err(Error::ForeignFiles {
            found,
            path: folder.to_path_buf(),
        }),
        None => store::write_whole(&folder.join(MARK), |out| {
            writeln!(out, "`attractor analyze --tables` replaces its tables here")
        }),
    }
}

/// A table of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// A table by the names of its columns and its rows.
    pub fn new(header: &[&str], rows: Vec<Vec<f64>>) -> Table {
        let header = header.iter().map(|name| (*name).to_string());
        Table {
            header: header.collect(),
            rows,
        }
    }

    /// Writes the table as CSV.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> = self.header.iter().map(|name| cell(name)).collect();
        writeln!(out, "{}", names.join(","))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }
}

/// All that tables are made of.
struct Desk<'a> {
    anatomy: &'a Anatomy,
    gradients: Option<Gradients<'a>>,
}

impl Desk<'_> {
    fn table(&self, name: &str) -> Option<Table> {
        match name {
            "lyapunov_trace.csv" => self.trace(),
            "regions.csv" => self.regions(),
            "transitions.csv" => self.transitions(),
            "symbols.csv" => self.symbols(),
            "commutators.csv" if self.anatomy.diverged_at.is_some() => None,
            "commutators.csv" => self.gradients.as_ref()?.commutators(&self.anatomy.orbit),
            "jacobian_norms.csv" => self.gradients.as_ref()?.norms(),
            "alpha_estimates.csv" => self.gradients.as_ref()?.alphas(),
            "loss_landscape.csv" => self.gradients.as_ref()?.landscape(),
            _ => unreachable!("every table of the list is made here"),
        }
    }

    /// Exponents per step from the first part of the orbit, the first two, …
    fn trace(&self) -> Option<Table> {
        let trace = &self.anatomy.lyapunov.as_ref()?.trace;
        let part = self.anatomy.request.steps / trace.len();
        let rows = trace.iter().enumerate().map(|(i, exponents)| {
            let steps = ((i + 1) * part) as f64;
            std::iter::once(steps)
                .chain(exponents.iter().copied())
                .collect()
        });
        let exponents = (1..=trace[0].len()).map(|j| format!("exponent{j}"));
        Some(Table {
            header: std::iter::once("steps".to_string())
                .chain(exponents)
                .collect(),
            rows: rows.collect(),
        })
    }

    fn regions(&self) -> Option<Table> {
        let visits = self.anatomy.regions.as_ref()?.itinerary.visits.iter();
        let rows = visits.enumerate().map(|(i, &n)| vec![i as f64, n as f64]);
        Some(Table::new(&["region", "visits"], rows.collect()))
    }

    fn transitions(&self) -> Option<Table> {
        let transitions = self.anatomy.regions.as_ref()?.itinerary.transitions();
        let row = |(from, to, times)| vec![from as f64, to as f64, times as f64];
        let rows = transitions.into_iter().map(row).collect();
        Some(Table::new(&["from", "to", "times"], rows))
    }

    fn symbols(&self) -> Option<Table> {
        let symbols = &self.anatomy.regions.as_ref()?.itinerary.symbols;
        let rows = symbols.iter().map(|&i| vec![i as f64]).collect();
        Some(Table::new(&["region"], rows))
    }
}
