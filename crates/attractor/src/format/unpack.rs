//! Compressed data in bounded memory. Deflate reaches 1 : 1032, which a recording does not: what unfolds to more than
//! 256 MiB and 200 times its own size is a bomb or damaged.

use std::io::{self, Read};

/// What anything may unfold to.
const ALWAYS: u64 = 1 << 28;

/// How many times its own size something may unfold to.
const EXPANSION: u64 = 200;

/// A stream that ends with an error where it has unfolded too far; `packed` is its size before.
pub(super) fn bounded<R: Read>(stream: R, packed: usize) -> Bounded<R> {
    Bounded {
        stream,
        left: limit(packed),
    }
}

/// What something of this size may unfold to.
pub(super) fn limit(packed: usize) -> u64 {
    ALWAYS.saturating_add(EXPANSION.saturating_mul(packed as u64))
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
}
