//! Records of a text with the lines on which they end. A record is held as a whole, so that none may be too long; a quote
//! that is never closed would make one of all that follows, and is a fault.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use csv::ByteRecord;

use super::super::{At, Fault};
use super::dialect::Dialect;

/// The longest record, in bytes.
const LONGEST: u64 = 1 << 25;

/// A comment behind the end of a text, where no other has one: only an open quote makes it part of a cell.
const END: &[u8] = b"# end \x1c\n";

/// See the module.
pub(super) struct Records {
    records: csv::Reader<Box<dyn Read>>,
    /// How many lines on the reader is after a record: it has read the end of the line only if that is one byte.
    ahead: u64,
    /// Bytes that were read since the last record.
    unread: Rc<Cell<u64>>,
    /// The line of the last record.
    line: u64,
}

impl Records {
    /// The records of a text, of which the beginning was read.
    pub(super) fn new(dialect: &Dialect, sample: Vec<u8>, rest: Box<dyn Read>) -> Records {
        let (end, ahead) = if sample.windows(2).any(|pair| pair == b"\r\n") {
            ("\r\n", 0)
        } else {
            ("\n", 1)
        };
        let unread = Rc::new(Cell::new(0));
        let metered = Metered {
            text: io::Cursor::new(sample).chain(rest),
            unread: Rc::clone(&unread),
        };
        // So that the last line ends as all others; an empty one more is skipped.
        let whole = metered.chain(end.as_bytes()).chain(END);
        Records {
            records: dialect.records(whole),
            ahead,
            unread,
            line: 0,
        }
    }

    /// Reads a record; its line, or none at the end.
    pub(super) fn read(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, Fault> {
        let read = self.records.read_byte_record(record);
        let found = read.map_err(|error| self.fault(error))?;
        let now = self.records.position().line();
        if let Some(lines) = lines_in_open_quote(record).filter(|_| found) {
            return Err(Fault::OpenQuote {
                at: At::Line(now - lines),
            });
        }
        self.unread.set(0);
        self.line = now.saturating_sub(self.ahead);
        Ok(found.then_some(self.line))
    }

    fn fault(&self, error: csv::Error) -> Fault {
        match error.into_kind() {
            csv::ErrorKind::Io(error) if error.get_ref().is_some_and(|e| e.is::<TooLong>()) => {
                Fault::LongRow {
                    after: self.line,
                    limit: LONGEST,
                }
            }
            csv::ErrorKind::Io(error) => super::io_fault(error),
            other => Fault::Io(io::Error::other(format!("{other:?}"))),
        }
    }
}

/// The line of the quote that a text leaves open, if it does.
pub(super) fn open_quote(dialect: &Dialect, text: &[u8]) -> Option<u64> {
    let mut records = dialect.records(text.chain(&b"\n"[..]).chain(END));
    let mut record = ByteRecord::new();
    while records.read_byte_record(&mut record).ok()? {
        if let Some(lines) = lines_in_open_quote(&record) {
            return Some(records.position().line() - lines);
        }
    }
    None
}

/// How many lines ended within the last cell, if it reaches beyond the end of the text.
fn lines_in_open_quote(record: &ByteRecord) -> Option<u64> {
    let cell = record.iter().next_back().filter(|c| c.ends_with(END))?;
    Some(cell.iter().filter(|&&byte| byte == b'\n').count() as u64)
}

/// A text whose records have to be read before it goes on for too long.
struct Metered<R> {
    text: R,
    unread: Rc<Cell<u64>>,
}

/// A record that is too long, on its way through the readers.
#[derive(Debug, thiserror::Error)]
#[error("a record is too long")]
struct TooLong;

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unread.get() > LONGEST {
            return Err(io::Error::other(TooLong));
        }
        let read = self.text.read(buffer)?;
        self.unread.set(self.unread.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Decimal, Delimiter};
    use super::*;

    const COMMAS: Dialect = Dialect {
        delimiter: Delimiter::Comma,
        decimal: Decimal::Point,
    };

    #[test]
    fn a_record_is_bounded_but_a_text_is_not() {
        let read = |text: Vec<u8>| {
            let mut records =
                Records::new(&COMMAS, b"x\n".to_vec(), Box::new(io::Cursor::new(text)));
            let mut record = ByteRecord::new();
            while records.read(&mut record)?.is_some() {}
            Ok::<u64, Fault>(records.line)
        };
        let long = vec![b','; LONGEST as usize + (1 << 20)];
        let fault = read(long.clone()).unwrap_err();
        assert!(
            fault.to_string().starts_with("the row after line 1 "),
            "{fault}"
        );
        let mut lines = long;
        lines.chunks_mut(1 << 20).for_each(|line| line[0] = b'\n');
        assert!(read(lines).unwrap() > 32);
    }

    #[test]
    fn a_quote_that_is_not_closed_is_known_by_its_line() {
        let line = |text: &str| open_quote(&COMMAS, text.as_bytes());
        assert_eq!(line("x,\"y\n1,2\n"), Some(1));
        assert_eq!(line("# \"\nx,y\n\n1,\"2\n3,4"), Some(4));
        assert_eq!(line("x,y\r\n1,2\r\n3,\"4\r\n5,6\r\n"), Some(3));
        for closed in ["x,\"y\n z\"\n1,2\n", "x,5\" y\n1,2\n", "# \"\nx\n1", ""] {
            assert_eq!(line(closed), None, "{closed}");
        }
    }
}
