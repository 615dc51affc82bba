//! Text as a terminal may show it. Names of channels, cells, files and keys come from anywhere: a control character in them
//! could set the title of a window, move the cursor or turn the order of letters around. It is written as \u001b instead,
//! which is how JSON writes it too, so that a document stays what it is.

use std::fmt;
use std::io::{self, Stderr, Write};

/// A writer that makes control characters visible.
#[derive(Debug)]
pub(crate) struct Visible<W> {
    inner: W,
    /// The bytes of a character that is not complete yet.
    begun: Vec<u8>,
}

/// Standard error.
pub(crate) fn notes() -> Visible<Stderr> {
    Visible::new(io::stderr())
}

/// A text with control characters made visible, all but line feeds and tabs.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_shown(c) {
            shown.push(c)
        } else {
            shown += &format!("\\u{:04x}", u32::from(c))
        }
    }
    shown
}

fn is_shown(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // What changes the direction of text.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        other => !other.is_control(),
    }
}

impl<W: Write> Visible<W> {
    /// Writes to another writer.
    pub(crate) fn new(inner: W) -> Visible<W> {
        Visible {
            inner,
            begun: Vec::new(),
        }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend(bytes);
        let complete = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(complete);
        let text = String::from_utf8_lossy(&self.begun);
        self.inner.write_all(shown(&text).as_bytes())?;
        self.begun = rest;
        Ok(bytes.len())
    }

    /// In one piece, so that lines of several threads do not mix.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(text.to_string().as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_as_escapes() {
        let mut out = Visible::new(Vec::new());
        let name = "\u{1b}]0;title\u{7}\r\u{9b}2J\u{202e}";
        writeln!(out, "α\t{name}").unwrap();
        let expected = "α\t\\u001b]0;title\\u0007\\u000d\\u009b2J\\u202e\n";
        assert_eq!(String::from_utf8(out.inner).unwrap(), expected);
    }

    #[test]
    fn characters_may_come_in_pieces() {
        let mut out = Visible::new(Vec::new());
        for byte in "a\u{9b}α–\n".bytes() {
            out.write_all(&[byte]).unwrap();
        }
        out.write_all(b"\xffb").unwrap();
        let text = String::from_utf8(out.inner).unwrap();
        assert_eq!(text, "a\\u009bα–\n\u{fffd}b");
    }

    #[test]
    fn a_json_document_stays_what_it_is() {
        let document = serde_json::json!({ "name": "\u{1b}\u{9b}\u{202e}\u{7f}" });
        let read: serde_json::Value = serde_json::from_str(&shown(&document.to_string())).unwrap();
        assert_eq!(read, document);
    }
}
