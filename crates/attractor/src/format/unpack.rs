//! Memory in proportion to a file. Deflate reaches 1 : 1032, which a recording does not: what unfolds to more than
//! 256 MiB and 200 times its own size is a bomb or damaged. The same holds for the numbers that text, packed integers and
//! empty columns stand for, which may take more than what was packed.

use std::io::{self, Read};

use super::Fault;

/// What anything may unfold to.
const ALWAYS: u64 = 1 << 28;

/// How many times its own size something may unfold to.
const EXPANSION: u64 = 200;

/// Bytes of a number.
const NUMBER: u64 = size_of::<f64>() as u64;

/// Bytes that the description of a column takes, about.
const NAMED: u64 = 512;

/// A stream that ends with an error where it has unfolded too far; `packed` is its size before.
pub(super) fn bounded<R: Read>(stream: R, packed: usize) -> Bounded<R> {
    Bounded {
        stream,
        left: limit(packed as u64),
    }
}

/// What something of this size may unfold to.
pub(super) fn limit(packed: u64) -> u64 {
    ALWAYS.saturating_add(EXPANSION.saturating_mul(packed))
}

/// Memory that what is read of a file may take.
#[derive(Debug)]
pub(super) struct Room {
    size: u64,
    taken: u64,
}

impl Room {
    /// The room for what a file of this size holds.
    pub(super) fn beside(size: u64) -> Room {
        Room { size, taken: 0 }
    }

    /// Takes room for a table of numbers and the names of its columns.
    pub(super) fn take_table(&mut self, [rows, columns]: [u64; 2]) -> Result<(), Fault> {
        self.take_numbers(rows.saturating_mul(columns))?;
        self.take_columns(columns)
    }

    /// Takes room for numbers.
    pub(super) fn take_numbers(&mut self, count: u64) -> Result<(), Fault> {
        self.take(count.saturating_mul(NUMBER))
    }

    /// Takes room for the names of columns.
    pub(super) fn take_columns(&mut self, columns: u64) -> Result<(), Fault> {
        self.take(columns.saturating_mul(NAMED))
    }

    /// Takes room that is not given back.
    pub(super) fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        self.check(bytes)?;
        self.taken += bytes;
        Ok(())
    }

    /// Refuses what there is no room for.
    pub(super) fn check(&self, bytes: u64) -> Result<(), Fault> {
        let (claimed, limit) = (self.taken.saturating_add(bytes), limit(self.size));
        if claimed > limit {
            Err(Fault::Unfolds {
                claimed,
                size: self.size,
                limit,
            })
        } else {
            Ok(())
        }
    }
}

/// See [`bounded`].
pub(super) struct Bounded<R> {
    stream: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => {
                self.left = left;
                Ok(read)
            }
            None => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it unfolds to more than 200 times its size",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_end_is_cut() {
        let read = io::copy(&mut bounded(io::repeat(0), 1000), &mut io::sink());
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::InvalidData);
        let read = io::copy(&mut bounded(io::repeat(0).take(ALWAYS), 0), &mut io::sink());
        assert_eq!(read.unwrap(), ALWAYS);
    }

    #[test]
    fn numbers_and_columns_share_the_room() {
        let mut room = Room::beside(0);
        room.take_table([ALWAYS / NUMBER / 4, 2]).unwrap();
        room.take(ALWAYS / 4).unwrap();
        assert!(room.take(ALWAYS / 4).is_err());
        // What was refused took nothing.
        room.take_columns(1000).unwrap();
        assert!(room.take_table([1, 100_000_000_000]).is_err());
        assert!(Room::beside(1 << 20).take(EXPANSION << 20).is_ok());
    }
}
