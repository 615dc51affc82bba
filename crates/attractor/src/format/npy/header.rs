//! The header of a `.npy` file: a Python dictionary with the element type, the order and the shape, such as
//! `{'descr': '<f8', 'fortran_order': False, 'shape': (100, 3), }`.

use std::io::Read;

use attractor_core::series::SeriesError;

use super::super::Fault;

/// What a header says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    /// The type of the elements.
    pub(super) dtype: Dtype,
    /// The order of the elements.
    pub(super) order: Order,
    /// Length along each axis.
    pub(super) shape: Vec<u64>,
    /// How many bytes of the file come before the elements.
    pub(super) bytes: u64,
}

/// The order of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Row after row.
    C,
    /// Column after column.
    Fortran,
}

/// The type of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dtype {
    number: Number,
    endian: Endian,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Bool,
    Signed1,
    Signed2,
    Signed4,
    Signed8,
    Unsigned1,
    Unsigned2,
    Unsigned4,
    Unsigned8,
    Float4,
    Float8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endian {
    Little,
    Big,
}

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read. One of real numbers takes 128 bytes; only structured types need more.
const LONGEST: u64 = 1 << 16;

/// NumPy starts the elements at a multiple of this.
const ALIGNMENT: usize = 64;

impl Head {
    /// Reads magic string, version and header.
    pub(super) fn read(source: &mut impl Read) -> Result<Head, Fault> {
        let mut start = [0; 8];
        let found = fill(source, &mut start)?;
        check_magic(&start[..found])?;
        let long = match start[6..] {
            [1, 0] => false,
            [2 | 3, 0] => true,
            [major, minor] => return Err(Fault::Version { major, minor }),
            _ => unreachable!("two bytes are left of eight"),
        };
        let mut length = [0; 4];
        let width = if long { 4 } else { 2 };
        fill_all(source, &mut length[..width], "length of the header")?;
        let claimed = u64::from(u32::from_le_bytes(length));
        if claimed > LONGEST {
            return Err(Fault::HeaderLength {
                claimed,
                limit: LONGEST,
            });
        }
        let mut text = vec![0; claimed as usize];
        fill_all(source, &mut text, "header")?;
        Parser::new(&text).head(8 + width as u64 + claimed)
    }

    /// Rows and columns; no rows are refused before anything is made for each of the columns.
    pub(super) fn table_shape(&self) -> Result<[u64; 2], Fault> {
        match self.shape[..] {
            [0] | [0, _] => Err(SeriesError::NoRow.into()),
            [rows] => Ok([rows, 1]),
            [rows, columns] => Ok([rows, columns]),
            _ => Err(Fault::Dimensions {
                shape: self.shape.clone(),
            }),
        }
    }
}

impl Dtype {
    /// From NumPy's description, such as `<f8`. The native order `=`, and none, is taken as little-endian.
    fn parse(text: &str) -> Option<Dtype> {
        let (endian, rest) = match text.as_bytes().first()? {
            b'>' => (Endian::Big, &text[1..]),
            b'<' | b'|' | b'=' => (Endian::Little, &text[1..]),
            _ => (Endian::Little, text),
        };
        let number = match rest {
            "b1" | "?" => Number::Bool,
            "i1" => Number::Signed1,
            "i2" => Number::Signed2,
            "i4" => Number::Signed4,
            "i8" => Number::Signed8,
            "u1" => Number::Unsigned1,
            "u2" => Number::Unsigned2,
            "u4" => Number::Unsigned4,
            "u8" => Number::Unsigned8,
            "f4" => Number::Float4,
            "f8" => Number::Float8,
            _ => return None,
        };
        Some(Dtype { number, endian })
    }

    /// Bytes of one element.
    pub(super) fn size(self) -> usize {
        match self.number {
            Number::Bool | Number::Signed1 | Number::Unsigned1 => 1,
            Number::Signed2 | Number::Unsigned2 => 2,
            Number::Signed4 | Number::Unsigned4 | Number::Float4 => 4,
            Number::Signed8 | Number::Unsigned8 | Number::Float8 => 8,
        }
    }

    /// Adds the numbers that bytes stand for. Integers beyond 2⁵³ are rounded to the nearest f64.
    pub(super) fn decode(self, bytes: &[u8], values: &mut Vec<f64>) {
        macro_rules! decode {
            ($number:ty) => {
                values.extend(bytes.chunks_exact(size_of::<$number>()).map(|chunk| {
                    let chunk = chunk.try_into().expect("chunks have the size of a number");
                    match self.endian {
                        Endian::Little => <$number>::from_le_bytes(chunk) as f64,
                        Endian::Big => <$number>::from_be_bytes(chunk) as f64,
                    }
                }))
            };
        }
        match self.number {
            Number::Bool => values.extend(bytes.iter().map(|&b| f64::from(u8::from(b != 0)))),
            Number::Signed1 => decode!(i8),
            Number::Signed2 => decode!(i16),
            Number::Signed4 => decode!(i32),
            Number::Signed8 => decode!(i64),
            Number::Unsigned1 => decode!(u8),
            Number::Unsigned2 => decode!(u16),
            Number::Unsigned4 => decode!(u32),
            Number::Unsigned8 => decode!(u64),
            Number::Float4 => decode!(f32),
            Number::Float8 => decode!(f64),
        }
    }
}

/// All that comes before the elements, for f8 in C order, little-endian, version 1.
pub(super) fn encode(rows: usize, columns: usize) -> Vec<u8> {
    let mut text =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let before = MAGIC.len() + 4;
    let padded = (before + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.extend(std::iter::repeat_n(' ', padded - before - text.len() - 1));
    text.push('\n');
    let length = u16::try_from(text.len()).expect("two numbers fit in a short header");
    let parts: [&[u8]; 4] = [MAGIC, &[1, 0], &length.to_le_bytes(), text.as_bytes()];
    parts.concat()
}

/// Reads until the buffer is full or the source ends; how much that was.
pub(super) fn fill(source: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Fault> {
    let mut found = 0;
    while found < buffer.len() {
        match source.read(&mut buffer[found..]) {
            Ok(0) => break,
            Ok(n) => found += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::from_io(error)),
        }
    }
    Ok(found)
}

fn fill_all(source: &mut impl Read, buffer: &mut [u8], what: &'static str) -> Result<(), Fault> {
    match fill(source, buffer)? {
        found if found == buffer.len() => Ok(()),
        found => Err(Fault::Truncated {
            what,
            expected: buffer.len() as u64,
            found: found as u64,
        }),
    }
}

fn check_magic(start: &[u8]) -> Result<(), Fault> {
    if start.is_empty() {
        return Err(Fault::Empty);
    }
    let magic = &start[..start.len().min(MAGIC.len())];
    match (MAGIC.starts_with(magic), start.len()) {
        (false, _) => Err(Fault::Magic {
            found: magic.escape_ascii().to_string(),
        }),
        (true, 8) => Ok(()),
        (true, found) => Err(Fault::Truncated {
            what: "magic string and version",
            expected: 8,
            found: found as u64,
        }),
    }
}

/// Reads the dictionary.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Parser<'a> {
        Parser { text, at: 0 }
    }

    fn head(&mut self, bytes: u64) -> Result<Head, Fault> {
        let (mut dtype, mut order, mut shape) = (None, None, None);
        self.expect(b'{', "`{`")?;
        while !self.skip(b'}') {
            let key = self.string()?;
            self.expect(b':', "`:`")?;
            match key.as_str() {
                "descr" => dtype = Some(self.dtype()?),
                "fortran_order" => order = Some(self.order()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(self.unexpected("`descr`, `fortran_order` or `shape`")),
            }
            if !self.skip(b',') {
                self.expect(b'}', "`,` or `}`")?;
                break;
            }
        }
        let missing = |what| self.unexpected(what);
        Ok(Head {
            dtype: dtype.ok_or_else(|| missing("`descr`"))?,
            order: order.ok_or_else(|| missing("`fortran_order`"))?,
            shape: shape.ok_or_else(|| missing("`shape`"))?,
            bytes,
        })
    }

    fn dtype(&mut self) -> Result<Dtype, Fault> {
        if self.peek() == Some(b'[') {
            return Err(Fault::Dtype {
                found: "a structured type".to_string(),
            });
        }
        let text = self.string()?;
        Dtype::parse(&text).ok_or_else(|| Fault::Dtype {
            found: match text.trim_start_matches(['<', '>', '|', '=']) {
                "c8" | "c16" => format!("the complex type {text}"),
                "O" => "Python objects".to_string(),
                _ => text,
            },
        })
    }

    fn order(&mut self) -> Result<Order, Fault> {
        self.blanks();
        for (word, order) in [("True", Order::Fortran), ("False", Order::C)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(order);
            }
        }
        Err(self.unexpected("True or False"))
    }

    fn shape(&mut self) -> Result<Vec<u64>, Fault> {
        let mut shape = Vec::new();
        self.expect(b'(', "`(`")?;
        while !self.skip(b')') {
            shape.push(self.number()?);
            if !self.skip(b',') {
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(shape)
    }

    /// A whole number; Python 2 wrote large ones with an L behind.
    fn number(&mut self) -> Result<u64, Fault> {
        self.blanks();
        let digits = self.text[self.at..]
            .iter()
            .take_while(|b| b.is_ascii_digit());
        let end = self.at + digits.count();
        let text = std::str::from_utf8(&self.text[self.at..end]).ok();
        let number = text.and_then(|text| text.parse().ok());
        let number = number.ok_or_else(|| self.unexpected("a length"))?;
        self.at = end;
        self.skip(b'L');
        Ok(number)
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.blanks();
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.unexpected("a quoted word")),
        };
        let rest = &self.text[self.at + 1..];
        let length = rest.iter().position(|&byte| byte == quote);
        let length = length.ok_or_else(|| self.unexpected("a closing quote"))?;
        self.at += length + 2;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.skip(byte) {
            Ok(())
        } else {
            Err(self.unexpected(what))
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&mut self) -> Option<u8> {
        self.blanks();
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        let blanks = self.text[self.at..]
            .iter()
            .take_while(|b| b.is_ascii_whitespace());
        self.at += blanks.count();
    }

    /// What stands here, for messages.
    fn rest(&self) -> String {
        let rest = &self.text[self.at..];
        rest[..rest.len().min(40)].escape_ascii().to_string()
    }

    fn unexpected(&self, expected: &'static str) -> Fault {
        Fault::ArrayHeader {
            at: self.at,
            expected,
            found: self.rest(),
        }
    }
}
