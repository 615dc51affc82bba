//! Delimiter and decimal mark of a text table, from its beginning.
//!
//! Each delimiter splits the sample into cells; the one under which the largest share of cells are numbers is
//! right, and among equals the one with the most columns: `1,5;2,5` is two numbers with decimal commas under `;`,
//! and under `,` three cells of which `5;2` is none. Dates count as numbers. The first record does not count, it may be a header.
//!
//! What can be read in two ways is a fault: `"1,234"` is 1.234 or 1234 if no other number tells, unless columns are
//! separated by semicolons, as they are where the comma is the decimal mark; and a single column is no reading of
//! `x,"y`, whose quote some delimiter opens and nothing closes.

use std::io::Read;

use csv::ByteRecord;

use super::super::date::{self, Spelling};
use super::super::{At, Decimal, Delimiter, Fault, ReadOptions};
use super::records::open_quote;
use super::squeeze::Squeeze;
use super::{BUFFER, Preference, SAMPLE, decode, number};

/// How a text table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// What separates columns.
    pub(super) delimiter: Delimiter,
    /// What separates fractions.
    pub(super) decimal: Decimal,
}

/// How well a dialect fits: the share of cells that are numbers, then the number of columns.
type Fit = (f64, usize);

impl Dialect {
    /// The dialect of a sample, as far as the options leave it open.
    pub(super) fn detect(
        sample: &[u8],
        options: &ReadOptions,
        preference: Preference,
    ) -> Result<Dialect, Fault> {
        let sample = whole_lines(sample);
        let delimiters: &[Delimiter] = match (options.delimiter, preference) {
            (Some(ref given), _) => &[*given],
            (None, Preference::Tab) if sample.contains(&b'\t') => &[Delimiter::Tab],
            _ => &[
                Delimiter::Tab,
                Delimiter::Semicolon,
                Delimiter::Comma,
                Delimiter::Whitespace,
            ],
        };
        let decimals = match options.decimal {
            Some(given) => vec![given],
            None => vec![Decimal::Point, Decimal::Comma],
        };
        let dialects = delimiters.iter().flat_map(|&delimiter| {
            let with = move |&decimal: &Decimal| Dialect { delimiter, decimal };
            decimals.iter().map(with)
        });
        let dialects: Vec<Dialect> = dialects.collect();
        let fits = dialects
            .iter()
            .map(|dialect| (dialect.fit(sample), *dialect));
        let ((_, columns), best) = best(fits);
        if columns <= 1 {
            refuse_open_quote(&dialects, sample)?;
        }
        if options.decimal.is_none() {
            best.refuse_thousands(sample)?;
        }
        Ok(best)
    }

    /// The records of a text in this dialect.
    pub(super) fn records<'a>(&self, text: impl Read + 'a) -> csv::Reader<Box<dyn Read + 'a>> {
        let text: Box<dyn Read + 'a> = match self.delimiter {
            Delimiter::Whitespace => Box::new(Squeeze::new(text)),
            _ => Box::new(text),
        };
        csv::ReaderBuilder::new()
            .delimiter(self.delimiter.byte())
            .comment(Some(b'#'))
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(text)
    }

    fn sampled(&self, sample: &[u8]) -> Vec<ByteRecord> {
        let records = self.records(sample).into_byte_records();
        records.flatten().collect()
    }

    /// What the columns hold that are no numbers, as far as a sample shows; the first record may be a header.
    pub(super) fn spellings(&self, sample: &[u8]) -> Vec<Option<Spelling>> {
        let records = self.sampled(whole_lines(sample));
        let body = &records[usize::from(records.len() > 1)..];
        let columns = records.first().map_or(0, ByteRecord::len);
        // A cell that is not in UTF-8 is no date.
        let cell = |record: &'_ ByteRecord, i: usize| {
            record
                .get(i)
                .map(|cell| str::from_utf8(cell).unwrap_or("?").to_string())
        };
        let spelling = |i: usize| {
            let cells: Vec<String> = body.iter().filter_map(|record| cell(record, i)).collect();
            date::spelling(cells.iter().map(String::as_str))
        };
        (0..columns).map(spelling).collect()
    }

    /// Refuses numbers with commas of which each may stand for thousands.
    fn refuse_thousands(&self, sample: &[u8]) -> Result<(), Fault> {
        if self.decimal == Decimal::Point || self.delimiter == Delimiter::Semicolon {
            return Ok(());
        }
        let records = self.sampled(sample);
        let cells = records.iter().flat_map(|record| record.iter().enumerate());
        let with_comma = |(_, cell): &(usize, &[u8])| {
            cell.contains(&b',') && number::parse(cell, self.decimal).is_some()
        };
        let mut readings = cells.filter(with_comma).map(|(i, cell)| {
            let text = decode(cell.trim_ascii());
            let fraction = number::parse(cell, self.decimal)?;
            Some((i + 1, fraction, number::grouped(&text)?, text))
        });
        let first = readings.next().flatten();
        match (first, readings.all(|reading| reading.is_some())) {
            (Some((column, fraction, whole, found)), true) => Err(Fault::Thousands {
                column,
                found,
                fraction,
                whole,
            }),
            _ => Ok(()),
        }
    }

    fn fit(&self, sample: &[u8]) -> Fit {
        let records = self.sampled(sample);
        let body = match records.len() {
            0 | 1 => &records[..],
            n => &records[1..n.max(3) - 1],
        };
        let parsed = body
            .iter()
            .flatten()
            .map(|cell| (number::parse(cell, self.decimal), cell));
        let (mut numbers, mut texts) = (0, 0);
        for (value, cell) in parsed {
            match value {
                None if is_date(cell) => numbers += 1,
                None => texts += 1,
                Some(value) if value.is_nan() => {}
                Some(_) => numbers += 1,
            }
        }
        let share = f64::from(numbers) / f64::from((numbers + texts).max(1));
        (share, median_width(body))
    }
}

impl Delimiter {
    /// The byte; blanks are squeezed to tabs.
    pub(super) fn byte(self) -> u8 {
        match self {
            Delimiter::Comma => b',',
            Delimiter::Semicolon => b';',
            Delimiter::Tab | Delimiter::Whitespace => b'\t',
        }
    }
}

fn is_date(cell: &[u8]) -> bool {
    str::from_utf8(cell).is_ok_and(date::is_any)
}

/// A sample without the line that it breaks off in.
fn whole_lines(sample: &[u8]) -> &[u8] {
    let last = sample.iter().rposition(|&byte| byte == b'\n');
    match last {
        Some(last) if sample.len() as u64 >= SAMPLE => &sample[..=last],
        _ => sample,
    }
}

/// Refuses a text in which one of these dialects has a quote that is never closed.
fn refuse_open_quote(dialects: &[Dialect], sample: &[u8]) -> Result<(), Fault> {
    let opened = dialects
        .iter()
        .find_map(|dialect| open_quote(dialect, sample));
    match opened {
        Some(line) => Err(Fault::OpenQuote { at: At::Line(line) }),
        None => Ok(()),
    }
}

/// The first of those that fit best.
fn best(fits: impl Iterator<Item = (Fit, Dialect)>) -> (Fit, Dialect) {
    let better =
        |best: (Fit, Dialect), next: (Fit, Dialect)| if next.0 > best.0 { next } else { best };
    fits.reduce(better)
        .expect("there is at least one delimiter and one decimal mark")
}

fn median_width(records: &[ByteRecord]) -> usize {
    let mut widths: Vec<usize> = records.iter().map(ByteRecord::len).collect();
    widths.sort_unstable();
    widths.get(widths.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(text: &str) -> (Delimiter, Decimal) {
        let options = ReadOptions::default();
        let dialect = Dialect::detect(text.as_bytes(), &options, Preference::None).unwrap();
        (dialect.delimiter, dialect.decimal)
    }

    #[test]
    fn delimiter_and_decimal_mark_are_found() {
        use Decimal as D;
        use Delimiter::*;
        for (text, delimiter, decimal) in [
            ("x,y\n1.5,2.5\n3,4\n", Comma, D::Point),
            ("1,2\n3,4\n5,6\n", Comma, D::Point),
            ("1, 2\n3, 4\n5, 6\n", Comma, D::Point),
            ("x;y\n1,5;2,5\n3,5;4,5\n", Semicolon, D::Comma),
            ("1.5;2.5\n3.5;4.5\n1;2\n", Semicolon, D::Point),
            ("x\ty\n1,5\t2,5\n3,5\t4,5\n", Tab, D::Comma),
            ("1\t\t3\n1\t2\t3\n1\t2\t\n", Tab, D::Point),
            ("x y\n 1.0   2.0\n 3.0  -4.0\n", Whitespace, D::Point),
            ("1,0 2,0\n3,5 4,5\n5,5 6,5\n", Whitespace, D::Comma),
            ("x;y\n1,234;2\n1,235;3\n", Semicolon, D::Comma),
            ("1,234\t2\n0,235\t3\n5\t6\n", Tab, D::Comma),
            ("id,x\none two,1.5\none two,2.5\n", Comma, D::Point),
            (
                "\"x\",\"y\"\n\"1,5\",\"2,5\"\n\"3,5\",\"2,5\"\n",
                Comma,
                D::Comma,
            ),
        ] {
            assert_eq!(detect(text), (delimiter, decimal), "{text}");
        }
    }
}
