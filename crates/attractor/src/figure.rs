//! The figures of Hess et al. (2023), and some more that papers have, drawn from runs: a [`Kind`] of the list makes a [`Figure`], which is written as SVG, PNG or
//! PDF with the numbers behind it as CSV beside.
//!
//! A new figure is one file with a function from a [`Request`] to a [`Figure`], and one line in [`KINDS`].

mod alpha_estimates;
mod commutators;
mod comparison;
mod error;
mod excerpt;
mod field;
mod forecast;
mod groups;
mod gtf_scheme;
mod heat_map;
mod jacobian_norms;
mod line_search;
mod loss_landscape;
mod lyapunov;
mod lyapunov_fit;
mod n_step;
mod power_spectrum;
mod reconstruction;
mod scores;
mod short_term;
mod space;
mod subject;

pub use error::FigureError;

use std::path::{Path, PathBuf};

use attractor_core::settings::nearest;

use crate::anatomy::Table;
use crate::drawing::{Drawing, POINTS_PER_MM, pdf, png, svg};
use crate::format::{self, ReadOptions};
use crate::recording_exponent;
use crate::{Error, store};

/// A kind of figure.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name, as typed.
    pub id: &'static str,
    /// Which figures of the paper these are, or that they are none.
    pub paper: &'static str,
    /// One line without a final period.
    pub summary: &'static str,
    /// What it is drawn from.
    pub takes: Takes,
    /// The flags that change it, of those that belong to some kinds only.
    pub heeds: &'static [&'static str],
    /// Computes and draws it.
    draw: fn(&Request) -> Result<Figure, Error>,
}

/// What a figure is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Runs or model files; where orbits or predictions of runs are drawn, also files of data with these.
    Runs,
    /// Folders of line searches.
    LineSearches,
    /// Folders of studies, or the files that they were packed into.
    Studies,
    /// Files of data.
    Recordings,
    /// Nothing.
    Nothing,
}

/// All kinds, in the order of the paper, then others.
pub const KINDS: &[Kind] = &[
    jacobian_norms::KIND,
    gtf_scheme::KIND,
    reconstruction::KIND,
    commutators::KIND,
    alpha_estimates::KIND,
    line_search::KIND,
    heat_map::KIND,
    forecast::KIND,
    short_term::KIND,
    lyapunov_fit::KIND,
    loss_landscape::KIND,
    n_step::KIND,
    power_spectrum::KIND,
    lyapunov::KIND,
    scores::KIND,
    comparison::KIND,
];

/// What stands for the number of a figure that the paper does not have.
const NOT_IN_PAPER: &str = "not in the paper";

/// What is to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What it is drawn from: runs, folders or files.
    pub subjects: Vec<PathBuf>,
    /// What these are called in the figure; the names of the folders if there are none.
    pub labels: Vec<String>,
    /// The true data; what a run was trained on if there are none.
    pub data: Option<PathBuf>,
    /// How data are read.
    pub reading: ReadOptions,
    /// Width in millimetres; one column of a journal or two if it is not given.
    pub width: Option<f64>,
    /// Rows of data to show; by kind if it is not given.
    pub steps: Option<usize>,
    /// Channels to show, by name or number from 1; by kind if there are none.
    pub channels: Vec<String>,
    /// In which units heat maps are.
    pub units: Units,
    /// From where three coordinates are seen, azimuth and elevation in degrees; by the data if it is not given.
    pub view: Option<(f64, f64)>,
    /// The system that the data are from, if it is known.
    pub system: Option<String>,
    /// Steps of predictions ahead.
    pub ahead: usize,
    /// How the exponent of a recording is found.
    pub exponent: recording_exponent::Request,
    /// Worker threads.
    pub threads: usize,
}

/// In which units heat maps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// Those of the data.
    Data,
    /// Standard deviations of every channel of every panel.
    ZScores,
}

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it looks like.
    pub drawing: Drawing,
    /// The numbers behind it, by name.
    pub tables: Vec<(String, Table)>,
    /// What it shows, in a few numbers.
    pub numbers: Vec<(String, f64)>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// How a figure is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureFormat {
    /// Scalable, for the web.
    Svg,
    /// Pixels.
    Png,
    /// Scalable, for print.
    Pdf,
}

/// Dots per inch of pixels.
const DOTS_PER_INCH: f64 = 300.0;

/// One column of a journal, and two, in millimetres.
const COLUMN: f64 = 88.0;
const TWO_COLUMNS: f64 = 180.0;

/// The kind with this name.
pub fn find(name: &str) -> Result<&'static Kind, Error> {
    let found = KINDS.iter().find(|kind| kind.id == name);
    found.ok_or_else(|| Error::UnknownName {
        what: "figure",
        name: name.to_string(),
        near: nearest(name, KINDS.iter().map(|kind| kind.id)),
    })
}

impl Kind {
    /// Computes and draws a figure.
    pub fn draw(&self, request: &Request) -> Result<Figure, Error> {
        let found = request.subjects.len();
        let (needed, what) = match self.takes {
            Takes::Nothing if found > 0 => {
                return Err(FigureError::NotNeeded { kind: self.id }.into());
            }
            Takes::Nothing => (0, ""),
            Takes::Runs => (1, "RUN"),
            Takes::LineSearches => (1, "folder of a line search"),
            Takes::Studies => (1, "folder of a study"),
            Takes::Recordings => (1, "FILE of data"),
        };
        if found < needed {
            let kind = self.id;
            return Err(FigureError::NoSubject { kind, what }.into());
        }
        if self.takes == Takes::Runs
            && request.data.is_none()
            && request.reading != ReadOptions::default()
        {
            return Err(FigureError::NothingToRead.into());
        }
        let labels = request.labels.len();
        if labels > 0 && labels != found {
            return Err(FigureError::Labels {
                found: labels,
                needed: found,
            }
            .into());
        }
        (self.draw)(request)
    }
}

impl Request {
    /// The width in points, given that of a figure that says nothing, in millimetres.
    fn width_or(&self, millimetres: f64) -> f64 {
        self.width.unwrap_or(millimetres) * POINTS_PER_MM
    }

    /// The width of a page of some charts beside one another, at most two, in points, and how many are in a row.
    fn side_by_side(&self, charts: usize) -> (f64, usize) {
        match charts {
            1 => (self.width_or(COLUMN), 1),
            _ => (self.width_or(TWO_COLUMNS), 2),
        }
    }
}

impl FigureFormat {
    /// The format that the name of a file says.
    pub fn of(path: &Path) -> Result<FigureFormat, FigureError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("svg") => Ok(FigureFormat::Svg),
            Some("png") => Ok(FigureFormat::Png),
            Some("pdf") => Ok(FigureFormat::Pdf),
            _ => Err(FigureError::Extension {
                path: path.to_path_buf(),
            }),
        }
    }
}

impl Figure {
    /// Writes the figure and its tables beside it, and says where; nothing is written over a file that was read.
    pub fn write(&self, path: &Path, read: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
        let bytes = match FigureFormat::of(path)? {
            FigureFormat::Svg => svg(&self.drawing).into_bytes(),
            FigureFormat::Png => png(&self.drawing, DOTS_PER_INCH),
            FigureFormat::Pdf => pdf(&self.drawing),
        };
        let tables: Vec<PathBuf> = self.table_names(path);
        let all: Vec<PathBuf> = [path.to_path_buf()].into_iter().chain(tables).collect();
        for (to, from) in all
            .iter()
            .flat_map(|to| read.iter().map(move |from| (to, from)))
        {
            format::refuse_same(from, to)?;
        }
        refuse_foreign(path, &all[1..])?;
        store::write_whole(path, |out| out.write_all(&bytes))?;
        for (to, (_, table)) in all[1..].iter().zip(&self.tables) {
            store::write_whole(to, |out| table.write(out))?;
        }
        Ok(all)
    }

    /// FILE.csv for one table, FILE-NAME.csv for each of several.
    fn table_names(&self, path: &Path) -> Vec<PathBuf> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let names = self.tables.iter().map(|(name, _)| match self.tables.len() {
            1 => path.with_file_name(format!("{stem}.csv")),
            _ => path.with_file_name(format!("{stem}-{}.csv", file_name(name))),
        });
        names.collect()
    }
}

/// Refuses to replace tables that stand beside no figure of this name: they were not written with one.
fn refuse_foreign(figure: &Path, tables: &[PathBuf]) -> Result<(), FigureError> {
    let is_redrawn = ["svg", "png", "pdf"]
        .iter()
        .any(|extension| figure.with_extension(extension).exists());
    let foreign = tables.iter().find(|table| table.exists() && !is_redrawn);
    match foreign {
        Some(table) => Err(FigureError::TableExists {
            path: table.clone(),
        }),
        None => Ok(()),
    }
}

/// A name with all that may not be in names of files replaced.
fn file_name(name: &str) -> String {
    let safe = |c: char| match c {
        c if c.is_alphanumeric() || "._-".contains(c) => c,
        _ => '-',
    };
    name.chars().map(safe).collect()
}

#[cfg(test)]
mod tests;
