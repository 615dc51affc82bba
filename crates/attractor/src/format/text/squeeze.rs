//! A stream of text in which each run of spaces and tabs is one tab, and none is left at the ends of lines: so a
//! table aligned with blanks becomes one separated by tabs. What stands in quotes stays.

use std::io::{self, Read};

/// How much text is held at a time.
const CHUNK: usize = 1 << 16;

/// The squeezed stream.
pub(super) struct Squeeze<R> {
    inner: R,
    chunk: Vec<u8>,
    ready: Vec<u8>,
    /// How much of `ready` has been handed out.
    given: usize,
    state: State,
}

/// Where in a line the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    LineStart,
    Word,
    Blank,
    Quoted,
}

impl<R: Read> Squeeze<R> {
    pub(super) fn new(inner: R) -> Squeeze<R> {
        Squeeze {
            inner,
            chunk: vec![0; CHUNK],
            ready: Vec::new(),
            given: 0,
            state: State::LineStart,
        }
    }

    fn push(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => self.keep(byte, State::Word),
            (State::Quoted, _) => self.keep(byte, State::Quoted),
            (_, b'\n' | b'\r') => self.keep(byte, State::LineStart),
            (State::LineStart, b' ' | b'\t') => State::LineStart,
            (_, b' ' | b'\t') => State::Blank,
            (state, _) => {
                if state == State::Blank {
                    self.ready.push(b'\t');
                }
                // As in the records, only a quote that opens a cell quotes.
                let quotes = byte == b'"' && state != State::Word;
                self.keep(byte, if quotes { State::Quoted } else { State::Word })
            }
        };
    }

    fn keep(&mut self, byte: u8, next: State) -> State {
        self.ready.push(byte);
        next
    }
}

impl<R: Read> Read for Squeeze<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() {
            self.ready.clear();
            self.given = 0;
            let n = self.inner.read(&mut self.chunk)?;
            if n == 0 {
                return Ok(0);
            }
            (0..n).for_each(|i| self.push(self.chunk[i]));
        }
        let n = buffer.len().min(self.ready.len() - self.given);
        buffer[..n].copy_from_slice(&self.ready[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_blanks_are_one_tab() {
        let mut text = String::new();
        let source = "  a   \"b  c\"\t d  \r\n\n 1 2\t\t3".as_bytes();
        Squeeze::new(source).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a\t\"b  c\"\td\r\n\n1\t2\t3");
    }
}
