//! The container of model files and checkpoints, as safetensors defines it: the length of a JSON header, the header,
//! the tensors one after another. It is written here and not by the crate that reads it, which puts the metadata in an
//! order that changes from run to run.

use std::collections::BTreeMap;

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

/// Numbers of one type.
#[derive(Clone, Copy)]
pub(crate) enum Values<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

impl Values<'_> {
    fn dtype(self) -> &'static str {
        match self {
            Values::F32(_) => "F32",
            Values::F64(_) => "F64",
        }
    }

    fn append_to(self, bytes: &mut Vec<u8>) {
        match self {
            Values::F32(values) => bytes.extend(values.iter().flat_map(|v| v.to_le_bytes())),
            Values::F64(values) => bytes.extend(values.iter().flat_map(|v| v.to_le_bytes())),
        }
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
        values.append_to(&mut body);
        let info = json!({
            "dtype": values.dtype(),
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

/// A number that changes whenever a byte does, with a chance of 2⁻⁶⁴ that it does not (FNV-1a).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    /// Takes more bytes in.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Sixteen hexadecimal digits.
    pub(crate) fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}
