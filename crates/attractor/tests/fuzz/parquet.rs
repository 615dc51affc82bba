//! Parquet tables in every encoding that numbers have, unpacked so that a change meets the decoder and not a checksum.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{BoolType, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const SCHEMA: &str = "message m { required int64 time; optional double x; required boolean b; required binary trajectory (UTF8); }";

/// Forty rows in each encoding, in pages of both versions.
pub(crate) fn tables() -> Vec<Vec<u8>> {
    let encodings = [
        None,
        Some(Encoding::PLAIN),
        Some(Encoding::DELTA_BINARY_PACKED),
        Some(Encoding::BYTE_STREAM_SPLIT),
    ];
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let both = |encoding| versions.map(|version| table(version, encoding));
    encodings.into_iter().flat_map(both).collect()
}

/// With a dictionary where no encoding is named.
fn table(version: WriterVersion, encoding: Option<Encoding>) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(encoding.is_none());
    let properties = match encoding {
        Some(Encoding::DELTA_BINARY_PACKED) => {
            properties.set_column_encoding("time".into(), Encoding::DELTA_BINARY_PACKED)
        }
        Some(Encoding::BYTE_STREAM_SPLIT) => {
            properties.set_column_encoding("x".into(), Encoding::BYTE_STREAM_SPLIT)
        }
        _ => properties,
    };
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    let times: Vec<i64> = (0..40).map(|i| i % 20).collect();
    let values: Vec<f64> = (0..30).map(|i| f64::from(i % 7)).collect();
    let levels: Vec<i16> = (0..40).map(|i| i16::from(i % 4 != 3)).collect();
    let flags: Vec<bool> = (0..40).map(|i| i % 3 == 0).collect();
    let names: Vec<_> = (0..40).map(|i| ["a", "b"][i / 20].into()).collect();
    for i in 0..4 {
        let mut column = group.next_column().unwrap().unwrap();
        let written = match i {
            0 => column.typed::<Int64Type>().write_batch(&times, None, None),
            1 => (column.typed::<DoubleType>()).write_batch(&values, Some(&levels), None),
            2 => column.typed::<BoolType>().write_batch(&flags, None, None),
            _ => (column.typed::<ByteArrayType>()).write_batch(&names, None, None),
        };
        written.unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}
