//! Elements of a MATLAB 5 file, and the matrices that they make.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::super::Fault;
use super::super::unpack::{self, Room};

/// How the bytes of a number are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The lowest first.
    Little,
    /// The highest first.
    Big,
}

/// What a variable says of itself.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// Its name.
    pub(super) name: String,
    /// Its size in each dimension.
    pub(super) dims: Vec<u64>,
    /// What it is, if it is no array of real numbers.
    pub(super) unreadable: Option<&'static str>,
}

/// A variable as it is stored; its values are decoded only if it is chosen.
#[derive(Debug, Clone)]
pub(super) struct Stored<'a> {
    /// What it says of itself.
    pub(super) head: Head,
    /// The data of its element.
    data: &'a [u8],
    packing: Packing,
    order: Order,
}

/// Whether an element is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Zlib,
}

/// Types of elements.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// Bit of the flags that tells a complex matrix.
const COMPLEX: u32 = 0x0800;

/// What is unfolded of a compressed variable to see what it is.
const FRONT: u64 = 1 << 12;

/// All variables of a file, without its header.
pub(super) fn stored(bytes: &[u8], order: Order) -> Result<Vec<Stored<'_>>, Fault> {
    let mut elements = Elements { rest: bytes, order };
    let mut found = Vec::new();
    while let Some((kind, data)) = elements.next()? {
        let (head, packing) = match kind {
            MATRIX => (head(&mut Elements { rest: data, order })?, Packing::Plain),
            COMPRESSED => (head_of_packed(data, order)?, Packing::Zlib),
            // Other elements at the top belong to MATLAB itself.
            _ => (None, Packing::Plain),
        };
        found.extend(head.map(|head| Stored {
            head,
            data,
            packing,
            order,
        }));
    }
    Ok(found)
}

/// Elements, one after the other.
struct Elements<'a> {
    rest: &'a [u8],
    order: Order,
}

impl<'a> Elements<'a> {
    /// Type and data of the next element; none at the end.
    fn next(&mut self) -> Result<Option<(u32, &'a [u8])>, Fault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.take(4)?;
        let word = self.order.u32(tag);
        let (kind, size) = match word >> 16 {
            0 => (word, self.order.u32(self.take(4)?)),
            size => (word & 0xffff, size),
        };
        let is_short = word >> 16 != 0;
        if is_short {
            let data = self.take(4)?;
            let data = data
                .get(..size as usize)
                .ok_or_else(|| truncated(u64::from(size), 4))?;
            return Ok(Some((kind, data)));
        }
        let data = self.take(size as usize)?;
        if kind != COMPRESSED {
            let padding = (8 - size as usize % 8) % 8;
            // The last element of a file need not be padded.
            self.rest = self.rest.get(padding..).unwrap_or_default();
        }
        Ok(Some((kind, data)))
    }

    /// The next element, which must be there.
    fn expect(&mut self) -> Result<(u32, &'a [u8]), Fault> {
        self.next()?.ok_or_else(|| truncated(8, 0))
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], Fault> {
        match self.rest.split_at_checked(size) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(truncated(size as u64, self.rest.len() as u64)),
        }
    }
}

impl Order {
    fn u32(self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }
}

impl Stored<'_> {
    /// The values, column after column.
    pub(super) fn values(&self, room: &mut Room) -> Result<Vec<f64>, Fault> {
        match self.packing {
            Packing::Plain => self.decode(self.data, room),
            Packing::Zlib => {
                let unfolded = unfold(unpack::bounded(
                    ZlibDecoder::new(self.data),
                    self.data.len(),
                ))?;
                let mut outer = Elements {
                    rest: &unfolded,
                    order: self.order,
                };
                self.decode(outer.expect()?.1, room)
            }
        }
    }

    /// The values in the data of a matrix.
    fn decode(&self, data: &[u8], room: &mut Room) -> Result<Vec<f64>, Fault> {
        let mut parts = Elements {
            rest: data,
            order: self.order,
        };
        head(&mut parts)?;
        let (kind, bytes) = parts.expect()?;
        let size = size_of_kind(kind).ok_or_else(|| Fault::Dtype {
            found: format!("MATLAB type {kind}"),
        })?;
        let found = (bytes.len() / size) as u64;
        let dims = self.head.dims.iter();
        match dims.copied().try_fold(1, u64::checked_mul) {
            Some(elements) if elements == found => {
                room.take_numbers(elements)?;
                Ok(numbers(kind, bytes, self.order))
            }
            elements => Err(Fault::Values {
                expected: elements.unwrap_or(u64::MAX),
                found,
            }),
        }
    }
}

/// What the first parts of a matrix say; none if it has no name, as what MATLAB keeps for itself.
fn head(parts: &mut Elements<'_>) -> Result<Option<Head>, Fault> {
    let (_, flags) = parts.expect()?;
    let flags = match flags.len() {
        8 => parts.order.u32(flags),
        found => return Err(truncated(8, found as u64)),
    };
    let (_, dims) = parts.expect()?;
    let dims = dims.chunks_exact(4).map(|d| u64::from(parts.order.u32(d)));
    let dims = dims.collect();
    let (_, name) = parts.expect()?;
    let name: String = name.iter().map(|&byte| char::from(byte)).collect();
    let head = Head {
        name,
        dims,
        unreadable: unreadable(flags),
    };
    Ok((!head.name.is_empty()).then_some(head))
}

/// The same of a compressed element, without unfolding all of it.
fn head_of_packed(data: &[u8], order: Order) -> Result<Option<Head>, Fault> {
    let front = unfold(ZlibDecoder::new(data).take(FRONT))?;
    let mut inner = Elements {
        rest: &front,
        order,
    };
    let kind = order.u32(inner.take(4)?);
    inner.take(4)?;
    match kind {
        MATRIX => head(&mut inner),
        _ => Ok(None),
    }
}

/// What a matrix is by its class and flags, if not real numbers.
fn unreadable(flags: u32) -> Option<&'static str> {
    match flags & 0xff {
        1 => Some("cell array"),
        2 => Some("struct"),
        3 | 17 => Some("object"),
        4 => Some("text"),
        5 => Some("sparse matrix"),
        6..=15 if flags & COMPLEX != 0 => Some("complex matrix"),
        6..=15 => None,
        16 => Some("function"),
        _ => Some("array of a type that is not known"),
    }
}

/// Bytes of a number of a stored type, if it is one.
fn size_of_kind(kind: u32) -> Option<usize> {
    Some(match kind {
        1 | 2 => 1,
        3 | 4 => 2,
        5..=7 => 4,
        9 | 12 | 13 => 8,
        _ => return None,
    })
}

/// Numbers of a stored type; MATLAB stores whole numbers of any class in the smallest type that holds them.
fn numbers(kind: u32, bytes: &[u8], order: Order) -> Vec<f64> {
    macro_rules! decode {
        ($number:ty) => {{
            let size = size_of::<$number>();
            let number = |b: &[u8]| {
                let b = b.try_into().expect("chunks have the size of a number");
                let value = match order {
                    Order::Little => <$number>::from_le_bytes(b),
                    Order::Big => <$number>::from_be_bytes(b),
                };
                value as f64
            };
            bytes.chunks_exact(size).map(number).collect()
        }};
    }
    match kind {
        1 => decode!(i8),
        2 => decode!(u8),
        3 => decode!(i16),
        4 => decode!(u16),
        5 => decode!(i32),
        6 => decode!(u32),
        7 => decode!(f32),
        9 => decode!(f64),
        12 => decode!(i64),
        13 => decode!(u64),
        _ => unreachable!("other types have no size"),
    }
}

/// All bytes of a zlib stream.
fn unfold(mut stream: impl Read) -> Result<Vec<u8>, Fault> {
    let mut unfolded = Vec::new();
    let read = stream.read_to_end(&mut unfolded);
    read.map_err(|error| Fault::Corrupt {
        what: "zlib",
        reason: error.to_string(),
    })?;
    Ok(unfolded)
}

fn truncated(expected: u64, found: u64) -> Fault {
    Fault::Truncated {
        what: "an element",
        expected,
        found,
    }
}
