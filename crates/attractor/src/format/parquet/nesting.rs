//! How deep the columns of a Parquet table are nested. The crate follows groups by recursion, so that forty kilobytes of
//! groups within groups would overflow any stack; a stack that overflows ends the process.
//!
//! ```text
//! file   = … footer  length of footer (u32)  "PAR1"
//! footer = fields in Thrift's compact form; field 2 lists the groups and columns, each with the number of its children as
//!          field 5, a group before what is in it
//! ```

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// The deepest group that is read; a recording has none.
const DEEPEST: usize = 100;

/// The deepest value that is skipped, as in the crate.
const DEEPEST_VALUE: usize = 64;

/// Types of Thrift's compact form.
const STOP: u8 = 0;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Whether groups of a file are nested too deep. A footer that is not understood is left to the crate.
pub(super) fn is_too_deep(file: &File) -> bool {
    let footer = footer(file).unwrap_or_default();
    let mut levels = Levels::default();
    let _ = Thrift(&footer).schema(&mut levels);
    levels.deepest > DEEPEST
}

/// The bytes of the footer; the file is read from its start again then.
fn footer(mut file: &File) -> Option<Vec<u8>> {
    let length = file.seek(SeekFrom::End(-8)).ok()?;
    let mut end = [0; 4];
    file.read_exact(&mut end).ok()?;
    let size = u64::from(u32::from_le_bytes(end));
    file.seek(SeekFrom::Start(length.checked_sub(size)?)).ok()?;
    let mut footer = Vec::new();
    file.take(size).read_to_end(&mut footer).ok()?;
    file.seek(SeekFrom::Start(0)).ok()?;
    Some(footer)
}

/// The groups that are open, by how many children of each are to come.
#[derive(Default)]
struct Levels {
    open: Vec<u64>,
    deepest: usize,
}

impl Levels {
    fn add(&mut self, children: u64) {
        while self.open.last() == Some(&0) {
            self.open.pop();
        }
        if let Some(left) = self.open.last_mut() {
            *left -= 1;
        }
        self.open.push(children);
        self.deepest = self.deepest.max(self.open.len());
    }
}

/// Bytes in Thrift's compact form, read from their front; nothing where they end too soon.
struct Thrift<'a>(&'a [u8]);

impl Thrift<'_> {
    /// Goes through the groups and columns.
    fn schema(&mut self, levels: &mut Levels) -> Option<()> {
        let mut last = 0;
        while let Some((field, kind)) = self.field(&mut last)? {
            if (field, kind) != (2, LIST) {
                self.skip(kind, 0)?;
                continue;
            }
            let (count, _) = self.list()?;
            for _ in 0..count {
                let children = self.children()?;
                levels.add(children);
            }
        }
        Some(())
    }

    /// How many children a group has, none for a column.
    fn children(&mut self) -> Option<u64> {
        let (mut last, mut children) = (0, 0);
        while let Some((field, kind)) = self.field(&mut last)? {
            match field {
                // Numbers have their sign as the lowest bit.
                5 => children = self.varint()? >> 1,
                _ => self.skip(kind, 0)?,
            }
        }
        Some(children)
    }

    /// Number and type of the next field; none at the end of a struct.
    fn field(&mut self, last: &mut u64) -> Option<Option<(u64, u8)>> {
        let head = self.byte()?;
        if head == STOP {
            return Some(None);
        }
        *last = match head >> 4 {
            0 => self.varint()? >> 1,
            step => last.wrapping_add(u64::from(step)),
        };
        Some(Some((*last, head & 0x0f)))
    }

    /// Length of a list and the type of its elements.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            few => u64::from(few),
        };
        Some((count, head & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            _ if depth > DEEPEST_VALUE => return None,
            1 | 2 => {}
            3 => self.take(1)?,
            4..=6 => drop(self.varint()?),
            7 => self.take(8)?,
            8 => {
                let length = self.varint()?;
                self.take(length)?;
            }
            LIST | 10 => {
                let (count, of) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(of, depth))?;
            }
            11 => self.skip_map(depth)?,
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn skip_map(&mut self, depth: usize) -> Option<()> {
        let count = self.varint()?;
        let kinds = if count > 0 { self.byte()? } else { 0 };
        (0..count).try_for_each(|_| {
            self.skip_element(kinds >> 4, depth)?;
            self.skip_element(kinds & 0x0f, depth)
        })
    }

    /// An element of a list, where a truth value takes a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => self.take(1),
            other => self.skip(other, depth + 1),
        }
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_within_groups_are_counted() {
        let depth = |children: &[u64]| {
            let mut levels = Levels::default();
            children.iter().for_each(|&n| levels.add(n));
            levels.deepest
        };
        // The table itself and a column.
        assert_eq!(depth(&[3, 0, 0, 0]), 2);
        assert_eq!(depth(&[2, 1, 0, 0]), 3);
        assert_eq!(depth(&[1, 2, 0, 1, 0]), 4);
        // More than were announced.
        assert_eq!(depth(&[0, 0, 0]), 1);
    }
}
