//! HDF5 files: one dataset of numbers, one row per time step. MATLAB's version 7.3 is HDF5 with matrices turned over.
//!
//! The crate `hdf5-reader` decodes the file: pure Rust, bounds every allocation, and stood 5,000 damaged files without a
//! panic. `hdf5-pure` 0.47 reads more kinds of files, but a damaged one made it ask for more memory than a machine has;
//! `hdf5-metno` needs a C compiler and CMake.

use std::path::Path;

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::series::Series;
use attractor_core::text::count;
use hdf5_reader::error::Error as Hdf5Error;
use hdf5_reader::group::Group;
use hdf5_reader::{Dataset, Datatype, Hdf5File, OpenOptions};

use super::foreign;
use super::npy::Array;
use super::unpack::{self, Room};
use super::variables::{self, Variable};
use super::{Fault, Format, ReadOptions, open};

/// The format.
pub(super) static HDF5: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "hdf5",
        summary: "HDF5 dataset, one row per time step; read only",
        details: "\
Reads a dataset of real numbers with one or two dimensions, plain or chunked, with deflate and shuffle.
If there are several, the one with the most rows, as a note says, or the one that --array names, as in group/x.
Tables that pandas writes to HDF5 are compound: write them to .parquet or .csv.",
        settings: &[],
        references: &[],
    },
    extensions: &["h5", "hdf5"],
    read: |path, options| read(path, options, Layout::Rows),
    remarks: |path, options| remarks(path, options, Layout::Rows),
    losses: |_| Ok(Vec::new()),
    write: None,
};

/// What messages call the format.
const NAME: &str = "HDF5";

/// Which dimension of a dataset is time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// The first.
    Rows,
    /// The last, as MATLAB stores matrices.
    Columns,
}

/// Most groups within groups, and most datasets; a file may link its groups in a circle.
const DEEPEST: usize = 8;
const MOST_DATASETS: usize = 10_000;

/// Reads a MATLAB file of version 7.3.
pub(super) fn read_matlab(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    read(path, options, Layout::Columns)
}

/// Reads a dataset of a file whose rows are rows, within what catches panics.
pub(super) fn read_rows(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    read_dataset(path, options, Layout::Rows)
}

/// Which dataset of a MATLAB file of version 7.3 is read.
pub(super) fn matlab_remarks(path: &Path, options: &ReadOptions) -> Vec<String> {
    remarks(path, options, Layout::Columns)
}

fn read(path: &Path, options: &ReadOptions, layout: Layout) -> Result<Series, Fault> {
    foreign::caught(NAME, || read_dataset(path, options, layout))
}

fn read_dataset(path: &Path, options: &ReadOptions, layout: Layout) -> Result<Series, Fault> {
    let datasets = datasets(path)?;
    let (_, chosen) = &datasets[variables::choose(&listed(&datasets, layout), options)?];
    Room::beside(length_of(path)?).take_table(shape_of(chosen, layout))?;
    variables::series(table(chosen, layout)?, options)
}

/// Which of several datasets is read.
fn remarks(path: &Path, options: &ReadOptions, layout: Layout) -> Vec<String> {
    let listed = foreign::caught(NAME, || Ok(listed(&datasets(path)?, layout)));
    listed.map_or(Vec::new(), |listed| variables::remarks(&listed, options))
}

fn listed(datasets: &[(String, Dataset)], layout: Layout) -> Vec<Variable> {
    let all = datasets.iter();
    all.map(|(name, dataset)| variable(name, dataset, layout))
        .collect()
}

/// The size of a file.
pub(super) fn length_of(path: &Path) -> Result<u64, Fault> {
    Ok(open(path)?.metadata().map_err(Fault::from_io)?.len())
}

/// All datasets of a file with their paths.
pub(super) fn datasets(path: &Path) -> Result<Vec<(String, Dataset)>, Fault> {
    let limit = unpack::limit(length_of(path)?) as usize;
    let bounds = OpenOptions::default()
        .with_max_read_bytes(limit)
        .with_max_chunk_bytes(limit);
    let file = Hdf5File::open_with_options(path, bounds).map_err(fault)?;
    let mut datasets = Vec::new();
    collect(&file.root_group().map_err(fault)?, "", 0, &mut datasets)?;
    Ok(datasets)
}

/// All datasets below a group with their paths.
fn collect(
    group: &Group,
    path: &str,
    depth: usize,
    datasets: &mut Vec<(String, Dataset)>,
) -> Result<(), Fault> {
    let (groups, found) = group.members().map_err(fault)?;
    for dataset in found {
        datasets.push((format!("{path}{}", dataset.name()), dataset));
    }
    for group in groups {
        // What MATLAB refers to from cells and structs.
        let hidden = group.name().starts_with('#');
        if depth < DEEPEST && datasets.len() < MOST_DATASETS && !hidden {
            let path = format!("{path}{}/", group.name());
            collect(&group, &path, depth + 1, datasets)?;
        }
    }
    Ok(())
}

/// Whether a dataset holds real numbers.
pub(super) fn is_number(dataset: &Dataset) -> bool {
    matches!(
        dataset.dtype(),
        Datatype::FixedPoint { .. } | Datatype::FloatingPoint { .. }
    )
}

/// All values of a dataset of real numbers, the last dimension first.
pub(super) fn values(dataset: &Dataset) -> Result<Vec<f64>, Fault> {
    let bytes = dataset.read_native_bytes().map_err(fault)?;
    numbers(dataset.dtype(), &bytes)
}

fn variable(name: &str, dataset: &Dataset, layout: Layout) -> Variable {
    let class = dataset.attribute("MATLAB_class").ok();
    let class = class.and_then(|class| class.read_string().ok());
    let kind = match (class.as_deref(), dataset.dtype()) {
        (Some("char"), _) => Err("text".to_string()),
        (Some("cell"), _) => Err("cell array".to_string()),
        (_, Datatype::FixedPoint { .. } | Datatype::FloatingPoint { .. }) => {
            shape(dataset.shape(), layout)
                .ok_or_else(|| format!("array of {}", count(dataset.shape().len(), "dimension")))
        }
        (_, Datatype::String { .. }) => Err("text".to_string()),
        (_, Datatype::Compound { .. }) => Err("compound".to_string()),
        _ => Err("dataset of another type".to_string()),
    };
    Variable {
        name: name.to_string(),
        kind,
    }
}

/// Rows and columns; a single row of a MATLAB matrix is one column.
fn shape(dims: &[u64], layout: Layout) -> Option<[u64; 2]> {
    match *dims {
        [rows] => Some([rows, 1]),
        [columns, 1] if layout == Layout::Columns => Some([columns, 1]),
        [columns, rows] if layout == Layout::Columns => Some([rows, columns]),
        [rows, columns] => Some([rows, columns]),
        _ => None,
    }
}

/// Rows and columns of a dataset that was chosen.
fn shape_of(dataset: &Dataset, layout: Layout) -> [u64; 2] {
    shape(dataset.shape(), layout).expect("it was chosen by its shape")
}

fn table(dataset: &Dataset, layout: Layout) -> Result<Array, Fault> {
    let [rows, columns] = shape_of(dataset, layout);
    let values = values(dataset)?;
    let columns = columns as usize;
    let is_turned = layout == Layout::Columns && columns > 1;
    let values = if is_turned {
        let rows = rows as usize;
        let value = |i: usize| values[i % columns * rows + i / columns];
        (0..values.len()).map(value).collect()
    } else {
        values
    };
    Ok(Array { values, columns })
}

/// Numbers in the byte order of the machine.
fn numbers(dtype: &Datatype, bytes: &[u8]) -> Result<Vec<f64>, Fault> {
    macro_rules! decode {
        ($number:ty) => {{
            let number = |b: &[u8]| {
                let b = b.try_into().expect("chunks have the size of a number");
                <$number>::from_ne_bytes(b) as f64
            };
            Ok(bytes
                .chunks_exact(size_of::<$number>())
                .map(number)
                .collect())
        }};
    }
    match *dtype {
        Datatype::FloatingPoint { size: 4, .. } => decode!(f32),
        Datatype::FloatingPoint { size: 8, .. } => decode!(f64),
        Datatype::FixedPoint { size, signed, .. } => match (size, signed) {
            (1, true) => decode!(i8),
            (1, false) => decode!(u8),
            (2, true) => decode!(i16),
            (2, false) => decode!(u16),
            (4, true) => decode!(i32),
            (4, false) => decode!(u32),
            (8, true) => decode!(i64),
            (8, false) => decode!(u64),
            _ => Err(dtype_fault(dtype)),
        },
        _ => Err(dtype_fault(dtype)),
    }
}

fn dtype_fault(dtype: &Datatype) -> Fault {
    Fault::Dtype {
        found: format!("{dtype:?}"),
    }
}

fn fault(error: Hdf5Error) -> Fault {
    Fault::Foreign {
        format: NAME,
        reason: error.to_string(),
    }
}
