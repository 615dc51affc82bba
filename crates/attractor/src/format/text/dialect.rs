//! Delimiter and decimal mark of a text table, from its beginning.
//!
//! Each delimiter splits the sample into cells; the one under which the largest share of cells are numbers is
//! right, and among equals the one with the most columns: `1,5;2,5` is two numbers with decimal commas under `;`,
//! and under `,` three cells of which `5;2` is none. The first record does not count, it may be a header.

use std::io::Read;

use csv::ByteRecord;

use super::super::{Decimal, Delimiter, ReadOptions};
use super::squeeze::Squeeze;
use super::{BUFFER, Preference, number};

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
    pub(super) fn detect(sample: &[u8], options: &ReadOptions, preference: Preference) -> Dialect {
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
        best(dialects.map(|dialect| (dialect.fit(sample), dialect)))
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

    fn fit(&self, sample: &[u8]) -> Fit {
        let records: Vec<ByteRecord> = self.records(sample).into_byte_records().flatten().collect();
        let body = match records.len() {
            0 | 1 => &records[..],
            n => &records[1..n.max(3) - 1],
        };
        let parsed = body
            .iter()
            .flatten()
            .map(|c| number::parse(c, self.decimal));
        let (mut numbers, mut texts) = (0, 0);
        for cell in parsed {
            match cell {
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

/// The first of those that fit best.
fn best(fits: impl Iterator<Item = (Fit, Dialect)>) -> Dialect {
    let better = |best: (Fit, Dialect), next: (Fit, Dialect)| match next.0 > best.0 {
        true => next,
        false => best,
    };
    fits.reduce(better)
        .expect("there is at least one delimiter and one decimal mark")
        .1
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
        let dialect = Dialect::detect(text.as_bytes(), &ReadOptions::default(), Preference::None);
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
