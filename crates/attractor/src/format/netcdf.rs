//! NetCDF-4 files, which are HDF5: variables over a coordinate of time, by the conventions for climate data (CF).
//!
//! The coordinate is the variable of one dimension whose unit is `days since 1950-01-01` or the like. Channels are all real variables whose
//! only dimension, but for those of length 1, has its length; or one variable with more columns, if there is no other or `--array` names it.
//! Values that are `_FillValue` or `missing_value` are missing; `scale_factor` and `add_offset` unpack the others. Classic
//! netCDF (version 3) is refused with the line that converts it.

use std::io::Read;
use std::path::Path;

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::prepare::stands_for_missing;
use attractor_core::series::Series;
use hdf5_reader::Dataset;

use super::date::{self, DAY, Order, Spelling};
use super::foreign;
use super::hdf5::{self, datasets, is_number, length_of};
use super::roles::{Layout, Slot};
use super::table::Table;
use super::text::title::Title;
use super::unpack::Room;
use super::{At, Fault, Format, ReadOptions, open};

/// The format.
pub(super) static NETCDF: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "netcdf",
        summary: "netCDF-4 variables over a coordinate of time; read only",
        details: "\
Reads the variables along the coordinate of time, with its units (`days since 1950-01-01`) and theirs. Fill values are missing,
packed values are unpacked. A variable with several columns is read where it is the only one, or where --array names it.",
        settings: &[],
        references: &[],
    },
    extensions: &["nc", "nc4", "cdf"],
    read: |path, options| foreign::caught(NAME, || read(path, options)),
    remarks: |_, _| Vec::new(),
    losses: |_| Ok(Vec::new()),
    write: None,
};

/// What messages call the format.
const NAME: &str = "netCDF";

/// What a file of the classic format starts with.
const CLASSIC: &[u8] = b"CDF";

fn read(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    refuse_classic(path)?;
    let all = datasets(path)?;
    let time = all.iter().find_map(|(_, d)| Some((d, Clock::of(d)?)));
    let Some((coordinate, clock)) = time else {
        // Without a coordinate of time it is HDF5 like any other.
        return hdf5::read_rows(path, options);
    };
    let rows = coordinate.shape()[0];
    let chosen = choose(&all, coordinate, options)?;
    let mut room = Room::beside(length_of(path)?);
    room.take_table([rows, 1])?;
    let times = values(coordinate)?;
    if let Some(row) = times.iter().position(|t| t.is_nan()) {
        let at = At::Row(row as u64 + 1);
        return Err(Fault::NoTime { at });
    }
    let mut columns = vec![times.iter().map(|&t| clock.time(t)).collect::<Vec<f64>>()];
    let mut titles = vec![clock.title()];
    for (name, dataset) in chosen {
        let width = width(dataset);
        room.take_table([rows, width])?;
        let unit = text(dataset, "units").unwrap_or_default();
        let table = values(dataset)?;
        for column in 0..width as usize {
            let mut title = Title::named(match width {
                1 => name.clone(),
                _ => format!("{name}[{}]", column + 1),
            });
            title.channel.unit.clone_from(&unit);
            titles.push(title);
            columns.push(
                table
                    .iter()
                    .skip(column)
                    .step_by(width as usize)
                    .copied()
                    .collect(),
            );
        }
    }
    fill(&titles, &columns, options)
}

/// Puts columns of the same length into a table.
fn fill(titles: &[Title], columns: &[Vec<f64>], options: &ReadOptions) -> Result<Series, Fault> {
    let mut table = Table::of_array(Layout::new(titles, options)?);
    let slots: Vec<Slot> = table.layout.slots.clone();
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let trajectory = table.trajectory("");
    for row in 0..rows {
        let mut filled = table.row(trajectory, row as u64 + 1);
        for (column, &slot) in columns.iter().zip(&slots) {
            filled.put(slot, column[row]);
        }
    }
    if rows == 0 {
        return Err(Fault::Empty);
    }
    table.finish(options)
}

/// The coordinate of time.
enum Clock {
    /// Units since a moment, both in seconds, of a calendar with leap years.
    Dates { unit: f64, since: f64 },
    /// Units of another calendar, by their word.
    Numbers { unit: String },
}

impl Clock {
    /// The coordinate that a variable is, if it is one.
    fn of(dataset: &Dataset) -> Option<Clock> {
        let unit = text(dataset, "units")?;
        let (word, since) = unit.split_once(" since ")?;
        if dataset.shape().len() != 1 || !is_number(dataset) {
            return None;
        }
        let calendar = text(dataset, "calendar").unwrap_or_default().to_lowercase();
        let has_leap_years = matches!(
            calendar.as_str(),
            "" | "standard" | "gregorian" | "proleptic_gregorian"
        );
        let since = date::parse(since, Order::Day);
        Some(match (in_seconds(word.trim()), since) {
            (Some(unit), Some(since)) if has_leap_years => Clock::Dates {
                unit,
                since: since.seconds - since.zone.unwrap_or(0.0),
            },
            _ => Clock::Numbers {
                unit: word.trim().to_string(),
            },
        })
    }

    fn time(&self, value: f64) -> f64 {
        match self {
            Clock::Dates { unit, since } => since + unit * value,
            Clock::Numbers { .. } => value,
        }
    }

    /// Under its own name it might be none that is known as time.
    fn title(&self) -> Title {
        let mut title = Title::named("time".to_string());
        match self {
            Clock::Dates { .. } => title.above(Some(Spelling::Dates(Order::Day))),
            Clock::Numbers { unit } => {
                title.channel.unit.clone_from(unit);
                title
            }
        }
    }
}

/// A unit of time in seconds; months and years have no length.
fn in_seconds(word: &str) -> Option<f64> {
    let word = word.to_lowercase();
    let units: [(&[&str], f64); 5] = [
        (&["days", "day", "d"], DAY),
        (&["hours", "hour", "hrs", "hr", "h"], 3600.0),
        (&["minutes", "minute", "mins", "min"], 60.0),
        (&["seconds", "second", "secs", "sec", "s"], 1.0),
        (&["milliseconds", "millisecond", "msec", "ms"], 1e-3),
    ];
    let found = units
        .iter()
        .find(|(words, _)| words.contains(&word.as_str()));
    found.map(|(_, seconds)| *seconds)
}

/// The variables that are read.
fn choose<'a>(
    all: &'a [(String, Dataset)],
    coordinate: &Dataset,
    options: &ReadOptions,
) -> Result<Vec<&'a (String, Dataset)>, Fault> {
    let fits = |(name, d): &&(String, Dataset)| {
        let is_along = d.shape().first() == coordinate.shape().first();
        let is_itself = d.address() == coordinate.address();
        is_number(d) && is_along && !is_itself && !is_bounds(name) && !is_scale(d)
    };
    let described = |(name, d): &(String, Dataset)| format!("{name} {:?}", d.shape());
    let known = || all.iter().map(described).collect();
    if let Some(name) = &options.array {
        let found = all.iter().find(|(known, _)| known == name);
        let found = found.ok_or_else(|| Fault::NoArray {
            name: name.clone(),
            known: known(),
        })?;
        return if fits(&found) {
            Ok(vec![found])
        } else {
            Err(Fault::NoTable {
                name: name.clone(),
                kind: "variable without the coordinate of time".to_string(),
                known: known(),
            })
        };
    }
    let along: Vec<_> = all.iter().filter(fits).collect();
    let plain: Vec<_> = along
        .iter()
        .copied()
        .filter(|(_, d)| width(d) == 1)
        .collect();
    match (plain.is_empty(), along.as_slice()) {
        (false, _) => Ok(plain),
        (true, [only]) => Ok(vec![only]),
        (true, []) => Err(Fault::NoTables { known: known() }),
        (true, _) => Err(Fault::WhichArray { known: known() }),
    }
}

/// Whether a variable holds the ends of intervals of time.
fn is_bounds(name: &str) -> bool {
    name.ends_with("_bnds") || name.ends_with("_bounds")
}

/// Whether a variable only counts a dimension or is a coordinate of one.
fn is_scale(dataset: &Dataset) -> bool {
    text(dataset, "CLASS").as_deref() == Some("DIMENSION_SCALE")
}

/// Columns of a variable: all dimensions but the first.
fn width(dataset: &Dataset) -> u64 {
    let others = dataset.shape().iter().skip(1);
    others.fold(1, |width: u64, &length| width.saturating_mul(length))
}

/// The values, unpacked; NaN is missing.
fn values(dataset: &Dataset) -> Result<Vec<f64>, Fault> {
    let number = |name: &str| {
        let attribute = dataset.attribute(name).ok()?;
        attribute.read_as_f64().ok()
    };
    let missing: Vec<f64> = ["_FillValue", "missing_value"]
        .iter()
        .filter_map(|name| number(name))
        .collect();
    let scale = number("scale_factor").unwrap_or(1.0);
    let offset = number("add_offset").unwrap_or(0.0);
    let mut values = hdf5::values(dataset)?;
    for v in &mut values {
        *v = if stands_for_missing(*v, &missing) {
            f64::NAN
        } else {
            *v * scale + offset
        };
    }
    Ok(values)
}

fn text(dataset: &Dataset, name: &str) -> Option<String> {
    let attribute = dataset.attribute(name).ok()?;
    let text = attribute.read_string().ok()?;
    Some(text.trim_end_matches('\0').trim().to_string())
}

/// Refuses the format before version 4, which is not HDF5.
fn refuse_classic(path: &Path) -> Result<(), Fault> {
    let mut start = Vec::new();
    let read = open(path)?
        .take(CLASSIC.len() as u64)
        .read_to_end(&mut start);
    read.map_err(Fault::from_io)?;
    if start == CLASSIC {
        return Err(Fault::Convert {
            what: "classic netCDF (version 3)",
            line: "import xarray; xarray.open_dataset('x.nc').to_netcdf('y.nc', format='NETCDF4')",
        });
    }
    Ok(())
}
