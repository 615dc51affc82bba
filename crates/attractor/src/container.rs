//! The container of model files and checkpoints, as safetensors defines it: the length of a JSON header, the header,
//! the tensors one after another. It is written here and not by the crate that reads it, which puts the metadata in an
//! order that changes from run to run.

use std::collections::BTreeMap;

use attractor_core::dynamics::Values;
use serde_json::{Map, Value, json};

/// A tensor to be written.
pub(crate) struct Block<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Sizes, the last running fastest.
    pub(crate) shape: Vec<usize>,
    /// The numbers.
    pub(crate) values: Values<'a>,
}

fn dtype(values: Values<'_>) -> &'static str {
    match values {
        Values::F32(_) => "F32",
        Values::F64(_) => "F64",
    }
}

fn append(values: Values<'_>, bytes: &mut Vec<u8>) {
    match values {
        Values::F32(values) => bytes.extend(values.iter().flat_map(|v| v.to_le_bytes())),
        Values::F64(values) => bytes.extend(values.iter().flat_map(|v| v.to_le_bytes())),
    }
}

/// The content of a file with these metadata and tensors.
pub(crate) fn to_bytes(texts: &BTreeMap<&'static str, String>, blocks: &[Block<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut header = Map::new();
    header.insert("__metadata__".into(), json!(texts));
    for Block {
        name,
        shape,
        values,
    } in blocks
    {
        let start = body.len();
        append(*values, &mut body);
        let info = json!({
            "dtype": dtype(*values),
            "shape": shape,
            "data_offsets": [start, body.len()],
        });
        header.insert((*name).to_string(), info);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    bytes.extend(body);
    bytes
}
