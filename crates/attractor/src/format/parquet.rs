//! Parquet tables, column by column: each column has its role by its name, as in a text table.
//!
//! Numbers and booleans are read, and dates as the time axis. Null is missing. A column of texts may only say which
//! trajectory a row belongs to.
//!
//! The crate `parquet` decodes pages, without its Arrow half: with `arrow-ipc` for Feather files the build would take three
//! times as long, so these are converted instead. Snappy, gzip and LZ4 are unpacked; Zstandard and Brotli bring C along.

mod nesting;

use std::path::Path;

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::series::Series;
use parquet::basic::{Compression, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::date::{Order, Spelling};
use super::foreign;
use super::roles::{Layout, Slot};
use super::table::Table;
use super::text::title::Title;
use super::unpack::Room;
use super::{At, Fault, Format, ReadOptions, open};

/// The format.
pub(super) static PARQUET: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "parquet",
        summary: "Parquet table, one row per time step; read only",
        details: "\
Reads columns of numbers and booleans, and dates as the time axis, with the same titles and roles as a text table.
Null is missing. A column of texts can name the trajectories. Compressed by snappy, gzip or LZ4, or not at all.",
        settings: &[],
        references: &[],
    },
    extensions: &["parquet", "pq"],
    read,
    remarks: |_, _| Vec::new(),
    losses: |_| Ok(Vec::new()),
    write: None,
};

/// What messages call the format.
const NAME: &str = "Parquet";

/// Rows that are decoded at a time.
const CHUNK: usize = 1 << 13;

/// Reads a file. The crate gives damaged pages an error nearly always, but not always.
fn read(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    foreign::caught(NAME, || read_columns(path, options))
}

fn read_columns(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    let file = open(path)?;
    let length = file.metadata().map_err(Fault::from_io)?;
    if length.is_file() && length.len() == 0 {
        return Err(Fault::Empty);
    }
    if nesting::is_too_deep(&file) {
        return Err(damaged("its columns are nested too deep"));
    }
    let reader = SerializedFileReader::new(file).map_err(fault)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let titles: Vec<Title> = schema.columns().iter().map(|c| title(c)).collect();
    let layout = Layout::new(&titles, options)?;
    let used: Vec<usize> = (0..titles.len())
        .filter(|&i| layout.slots[i] != Slot::Skip)
        .collect();
    for &i in &used {
        check_type(&schema.columns()[i], i, layout.slots[i])?;
    }
    let mut room = Room::beside(length.len());
    refuse_claimed(reader.metadata(), used.len(), &room)?;
    refuse_packing(reader.metadata(), &used)?;
    let mut table = Table::of_array(layout);
    let mut rows = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(fault)?;
        rows += push_group(group.as_ref(), &used, rows, &mut room, &mut table)?;
    }
    table.finish(options)
}

/// The title of a column; dates and times of day are in seconds.
fn title(column: &ColumnDescriptor) -> Title {
    let mut title = Title::parse(&column.path().parts().join("."));
    if seconds(column).is_some() && title.channel.unit.is_empty() {
        title.channel.unit = "s".to_string();
    }
    title.above(match column.logical_type_ref() {
        Some(LogicalType::Time(_)) => Some(Spelling::Clock),
        Some(LogicalType::Timestamp(_) | LogicalType::Date) => Some(Spelling::Dates(Order::Day)),
        _ => None,
    })
}

/// How many units of a date make a second.
fn seconds(column: &ColumnDescriptor) -> Option<f64> {
    let unit = match column.logical_type_ref()? {
        LogicalType::Timestamp(stamp) => stamp.unit,
        LogicalType::Time(time) => time.unit,
        LogicalType::Date => return Some(1.0 / 86_400.0),
        _ => return None,
    };
    Some(match unit {
        TimeUnit::MILLIS => 1e3,
        TimeUnit::MICROS => 1e6,
        TimeUnit::NANOS => 1e9,
    })
}

/// Refuses a column that is no list of numbers, or of names where names are asked for.
fn check_type(column: &ColumnDescriptor, i: usize, slot: Slot) -> Result<(), Fault> {
    let flat = column.max_rep_level() == 0;
    let decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    let fits = match column.physical_type() {
        Type::BOOLEAN | Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE => !decimal,
        Type::BYTE_ARRAY => slot == Slot::Trajectory,
        Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY => false,
    };
    if flat && fits {
        Ok(())
    } else {
        Err(Fault::ColumnType {
            column: i + 1,
            name: column.name().to_string(),
            found: if flat {
                column.physical_type().to_string()
            } else {
                "a list".to_string()
            },
        })
    }
}

/// Refuses columns that are packed by what is not built in.
fn refuse_packing(metadata: &ParquetMetaData, used: &[usize]) -> Result<(), Fault> {
    let groups = metadata.row_groups().iter();
    let columns = groups.flat_map(|group| used.iter().map(|&i| group.column(i)));
    for column in columns {
        let found = match column.compression() {
            Compression::ZSTD(_) => "zstd",
            Compression::BROTLI(_) => "brotli",
            Compression::LZO => "lzo",
            _ => continue,
        };
        return Err(Fault::Packing { found });
    }
    Ok(())
}

/// Refuses a file that claims more rows than there is room for.
fn refuse_claimed(metadata: &ParquetMetaData, columns: usize, room: &Room) -> Result<(), Fault> {
    let groups = metadata.row_groups().iter();
    let rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
    let rows = rows.fold(0, u64::saturating_add);
    let bytes = rows.saturating_mul(size_of::<f64>() as u64);
    room.check(bytes.saturating_mul(columns as u64))
}

/// The room for a group of rows: a page of some bytes can claim any number of nulls.
struct Bound<'a> {
    room: &'a mut Room,
    /// Rows that the group claims.
    rows: usize,
}

/// What takes room.
trait Bulk {
    fn bytes(&self) -> usize;
}

impl Bulk for f64 {
    fn bytes(&self) -> usize {
        size_of::<f64>()
    }
}

impl Bulk for String {
    fn bytes(&self) -> usize {
        size_of::<String>() + self.len()
    }
}

/// A column of a group of rows.
enum Values {
    Numbers(Vec<f64>),
    Names(Vec<String>),
}

/// Adds a group of rows; gives back how many.
fn push_group(
    group: &dyn RowGroupReader,
    used: &[usize],
    before: usize,
    room: &mut Room,
    table: &mut Table,
) -> Result<usize, Fault> {
    let claimed = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let mut bound = Bound {
        room,
        rows: claimed,
    };
    let read = |&i: &usize| values(group, i, &mut bound);
    let columns: Vec<Values> = used.iter().map(read).collect::<Result<_, _>>()?;
    let slots: Vec<Slot> = used.iter().map(|&i| table.layout.slots[i]).collect();
    let lengths = columns.iter().map(Values::len);
    let rows = lengths.clone().min().unwrap_or(0);
    if lengths.max() != Some(rows) {
        return Err(damaged("columns differ in length"));
    }
    for row in 0..rows {
        let names = columns
            .iter()
            .zip(&slots)
            .find(|(_, s)| **s == Slot::Trajectory);
        let name = names.map_or(String::new(), |(values, _)| values.name(row));
        let trajectory = table.trajectory(&name);
        let place = (before + row) as u64 + 1;
        room.check(table.bytes())?;
        let mut filled = table.row(trajectory, place);
        for (values, &slot) in columns.iter().zip(&slots) {
            if let Values::Numbers(numbers) = values {
                if slot == Slot::Time && numbers[row].is_nan() {
                    return Err(Fault::NoTime { at: At::Row(place) });
                }
                filled.put(slot, numbers[row]);
            }
        }
    }
    Ok(rows)
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Numbers(numbers) => numbers.len(),
            Values::Names(names) => names.len(),
        }
    }

    fn name(&self, row: usize) -> String {
        match self {
            Values::Numbers(numbers) => numbers[row].to_string(),
            Values::Names(names) => names[row].clone(),
        }
    }
}

/// All values of a column in a group of rows.
fn values(group: &dyn RowGroupReader, i: usize, bound: &mut Bound<'_>) -> Result<Values, Fault> {
    let column = group.metadata().column(i).column_descr_ptr();
    let per_second = seconds(&column).unwrap_or(1.0);
    let number = |v: f64| if per_second == 1.0 { v } else { v / per_second };
    let levels = column.max_def_level();
    let numbers = match group.get_column_reader(i).map_err(fault)? {
        ColumnReader::BoolColumnReader(r) => {
            read_all(r, levels, bound, f64::NAN, |v| f64::from(u8::from(*v)))
        }
        ColumnReader::Int32ColumnReader(r) => {
            read_all(r, levels, bound, f64::NAN, |v| number(f64::from(*v)))
        }
        ColumnReader::Int64ColumnReader(r) => {
            read_all(r, levels, bound, f64::NAN, |v| number(*v as f64))
        }
        ColumnReader::FloatColumnReader(r) => {
            read_all(r, levels, bound, f64::NAN, |v| f64::from(*v))
        }
        ColumnReader::DoubleColumnReader(r) => read_all(r, levels, bound, f64::NAN, |v| *v),
        ColumnReader::ByteArrayColumnReader(r) => {
            let text = |v: &ByteArray| String::from_utf8_lossy(v.data()).into_owned();
            return Ok(Values::Names(read_all(
                r,
                levels,
                bound,
                String::new(),
                text,
            )?));
        }
        ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
            unreachable!("other types were refused before")
        }
    };
    Ok(Values::Numbers(numbers?))
}

/// Every value of a column, `missing` where it is null.
fn read_all<T: DataType, V: Clone + Bulk>(
    mut reader: ColumnReaderImpl<T>,
    levels: i16,
    bound: &mut Bound<'_>,
    missing: V,
    convert: impl Fn(&T::T) -> V,
) -> Result<Vec<V>, Fault> {
    let mut all = Vec::new();
    let (mut defined, mut values) = (Vec::new(), Vec::new());
    loop {
        defined.clear();
        values.clear();
        let read = reader.read_records(CHUNK, Some(&mut defined), None, &mut values);
        let (records, _, _) = read.map_err(fault)?;
        if records == 0 {
            return Ok(all);
        }
        if all.len() + records > bound.rows {
            return Err(damaged("a column is longer than its group of rows"));
        }
        // A column that is never null has no levels.
        if levels == 0 {
            defined.resize(values.len(), 0);
        }
        let mut there = values.iter();
        for &level in &defined {
            let value = (level == levels).then(|| there.next()).flatten();
            let value = value.map_or(missing.clone(), &convert);
            bound.room.take(value.bytes() as u64)?;
            all.push(value);
        }
    }
}

fn fault(error: ParquetError) -> Fault {
    damaged(&error.to_string())
}

fn damaged(reason: &str) -> Fault {
    Fault::Foreign {
        format: NAME,
        reason: reason.to_string(),
    }
}
