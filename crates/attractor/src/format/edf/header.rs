//! The header of an EDF file: fields of ASCII text, padded with blanks. Those of the signals are stored field by field.

use std::io::Read;

use attractor_core::series::Channel;

use super::super::Fault;
use super::super::text::title::Title;
use super::super::unique::unique;

/// Bytes of the fixed header, and of the header of each signal.
const BLOCK: usize = 256;

/// The label of the signals that hold annotations.
const ANNOTATIONS: &str = "EDF Annotations";

/// What a file says of itself.
#[derive(Debug, Clone)]
pub(super) struct Header {
    /// Records in the file.
    pub(super) records: u64,
    /// Bytes of a record.
    pub(super) record_bytes: usize,
    /// Seconds of a record.
    pub(super) duration: f64,
    /// Whether time may jump between records.
    pub(super) is_discontinuous: bool,
    /// The signals.
    pub(super) signals: Vec<Signal>,
}

/// What a file says of one signal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Signal {
    /// Its name.
    pub(super) label: String,
    /// Samples in a record.
    pub(super) samples: usize,
    /// Where its samples begin in a record.
    pub(super) offset: usize,
    /// Whether it holds annotations.
    pub(super) is_annotation: bool,
    unit: String,
    physical: [f64; 2],
    digital: [i64; 2],
}

impl Header {
    /// Reads the header of a file of `length` bytes.
    pub(super) fn read(source: &mut impl Read, length: u64) -> Result<Header, Fault> {
        refuse_short("header", BLOCK as u64, length)?;
        let mut fixed = Fields::read(source, BLOCK)?;
        let version = fixed.text(8);
        if version != "0" {
            return Err(field("version", "0", version));
        }
        fixed.skip(80 + 80 + 8 + 8);
        let bytes: u64 = fixed.number("header size", 8, "a whole number")?;
        let reserved = fixed.text(44);
        let records: i64 = fixed.number("number of records", 8, "a whole number or -1")?;
        let duration: f64 = fixed.number("duration of a record", 8, "a number of seconds")?;
        let count: u16 = fixed.number("number of signals", 4, "a whole number")?;
        let expected = BLOCK as u64 * (u64::from(count) + 1);
        if bytes != expected {
            let said = format!("{expected} bytes ({count} signals)");
            return Err(field("header size", &said, bytes.to_string()));
        }
        refuse_short("header", expected, length)?;
        let mut fields = Fields::read(source, BLOCK * usize::from(count))?;
        let signals = fields.signals(usize::from(count))?;
        let mut header = Header {
            records: 0,
            record_bytes: 2 * signals.iter().map(|s| s.samples).sum::<usize>(),
            duration,
            is_discontinuous: reserved.starts_with("EDF+D"),
            signals,
        };
        header.check_duration()?;
        header.records = header.count(records, length - expected)?;
        Ok(header)
    }

    /// The signals that are measured.
    pub(super) fn ordinary(&self) -> impl Iterator<Item = &Signal> {
        self.signals.iter().filter(|signal| !signal.is_annotation)
    }

    fn check_duration(&self) -> Result<(), Fault> {
        let measured = self.ordinary().any(|signal| signal.samples > 0);
        let is_sound = self.duration > 0.0 && self.duration.is_finite();
        if measured && !is_sound {
            return Err(field(
                "duration of a record",
                "a number above 0",
                self.duration.to_string(),
            ));
        }
        Ok(())
    }

    /// How many records there are, by the header and by the bytes that follow it; −1 leaves it to the bytes.
    fn count(&self, claimed: i64, bytes: u64) -> Result<u64, Fault> {
        let size = self.record_bytes as u64;
        if size == 0 {
            return Err(Fault::Empty);
        }
        let found = bytes / size;
        match u64::try_from(claimed) {
            // A record is then no longer than the file, and can be held.
            _ if found == 0 && claimed <= 0 => Err(Fault::Empty),
            Ok(claimed) if claimed == found => Ok(found),
            Ok(claimed) => Err(Fault::Records {
                claimed,
                size,
                bytes,
            }),
            Err(_) if claimed == -1 => Ok(found),
            Err(_) => Err(field(
                "number of records",
                "a whole number or -1",
                claimed.to_string(),
            )),
        }
    }
}

impl Signal {
    /// Name and unit, as the title of a column.
    pub(super) fn title(&self) -> Title {
        Title {
            channel: Channel {
                name: self.label.clone(),
                unit: self.unit.clone(),
            },
            ..Title::named(String::new())
        }
    }

    /// The value that a sample stands for.
    pub(super) fn physical(&self, digital: i16) -> f64 {
        let ([pmin, pmax], [dmin, dmax]) = (self.physical, self.digital);
        let share = (i64::from(digital) - dmin) as f64 / (dmax - dmin) as f64;
        pmin + share * (pmax - pmin)
    }

    /// Refuses a signal that cannot be scaled.
    pub(super) fn check_scale(&self) -> Result<(), Fault> {
        let wrong = |what, [low, high]: [f64; 2]| {
            Err(Fault::NoRange {
                signal: self.label.clone(),
                what,
                low,
                high,
            })
        };
        let digital = self.digital.map(|d| d as f64);
        if self.samples == 0 {
            return Err(field_of(
                "samples in a record",
                &self.label,
                "at least 1",
                "0",
            ));
        }
        if digital[0] >= digital[1] {
            return wrong("digital", digital);
        }
        let [pmin, pmax] = self.physical;
        if pmin != pmax && (pmax - pmin).is_finite() {
            Ok(())
        } else {
            wrong("physical", self.physical)
        }
    }
}

/// Text that is taken apart from its front.
struct Fields {
    bytes: Vec<u8>,
    at: usize,
}

impl Fields {
    fn read(source: &mut impl Read, length: usize) -> Result<Fields, Fault> {
        let mut bytes = vec![0; length];
        source.read_exact(&mut bytes).map_err(Fault::from_io)?;
        Ok(Fields { bytes, at: 0 })
    }

    fn skip(&mut self, width: usize) {
        self.at += width;
    }

    /// The next characters, without blanks around them; bytes beyond ASCII are Latin-1.
    fn text(&mut self, width: usize) -> String {
        let bytes = &self.bytes[self.at..self.at + width];
        self.at += width;
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        text.trim_matches([' ', '\0']).to_string()
    }

    fn number<N: std::str::FromStr>(
        &mut self,
        name: &'static str,
        width: usize,
        expected: &str,
    ) -> Result<N, Fault> {
        let text = self.text(width);
        text.parse().map_err(|_| field(name, expected, text))
    }

    /// One number a signal.
    fn numbers<N: std::str::FromStr>(
        &mut self,
        name: &'static str,
        labels: &[String],
        expected: &str,
    ) -> Result<Vec<N>, Fault> {
        let one = |label: &String| {
            let text = self.text(8);
            text.parse()
                .map_err(|_| field_of(name, label, expected, &text))
        };
        labels.iter().map(one).collect()
    }

    fn signals(&mut self, count: usize) -> Result<Vec<Signal>, Fault> {
        let labels: Vec<String> = (0..count).map(|_| self.text(16)).collect();
        self.skip(80 * count);
        let units: Vec<String> = (0..count).map(|_| self.text(8)).collect();
        let physical_min = self.numbers::<f64>("physical minimum", &labels, "a number")?;
        let physical_max = self.numbers::<f64>("physical maximum", &labels, "a number")?;
        let digital_min = self.numbers::<i32>("digital minimum", &labels, "a whole number")?;
        let digital_max = self.numbers::<i32>("digital maximum", &labels, "a whole number")?;
        self.skip(80 * count);
        let samples = self.numbers::<u32>("samples in a record", &labels, "a whole number")?;
        let mut offset = 0;
        let mut signals = Vec::with_capacity(count);
        for (i, label) in labels.into_iter().enumerate() {
            let samples = samples[i] as usize;
            signals.push(Signal {
                is_annotation: label == ANNOTATIONS,
                label,
                samples,
                offset,
                unit: units[i].clone(),
                physical: [physical_min[i], physical_max[i]],
                digital: [i64::from(digital_min[i]), i64::from(digital_max[i])],
            });
            offset += 2 * samples;
        }
        Ok(named(signals))
    }
}

/// Measured signals without a label, or with one that is taken, are called by their number.
fn named(mut signals: Vec<Signal>) -> Vec<Signal> {
    let measured = |signal: &&mut Signal| !signal.is_annotation;
    let labels = signals.iter_mut().filter(measured);
    let labels = unique(labels.map(|signal| signal.label.clone()));
    for (signal, label) in signals.iter_mut().filter(measured).zip(labels) {
        signal.label = label;
    }
    signals
}

fn refuse_short(what: &'static str, expected: u64, found: u64) -> Result<(), Fault> {
    match found {
        0 => Err(Fault::Empty),
        _ if found < expected => Err(Fault::Truncated {
            what,
            expected,
            found,
        }),
        _ => Ok(()),
    }
}

fn field(field: &'static str, expected: &str, found: String) -> Fault {
    Fault::Field {
        field,
        signal: None,
        expected: expected.to_string(),
        found,
    }
}

fn field_of(field: &'static str, label: &str, expected: &str, found: &str) -> Fault {
    Fault::Field {
        field,
        signal: Some(label.to_string()),
        expected: expected.to_string(),
        found: found.to_string(),
    }
}
