//! The header of a WFDB record: lines of words; `#` opens a comment.

use std::fs;
use std::path::Path;

use attractor_core::series::Channel;

use super::super::text::title::Title;
use super::super::unique::unique;
use super::super::{Fault, open};

/// What a record says of itself.
#[derive(Debug, Clone)]
pub(super) struct Header {
    /// Samples a second.
    pub(super) rate: f64,
    /// Samples of each signal, if that is said.
    pub(super) samples: Option<u64>,
    /// The signals.
    pub(super) signals: Vec<Signal>,
}

/// What a record says of one signal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Signal {
    /// The file that has its samples.
    pub(super) file: String,
    /// How they are stored.
    pub(super) storage: Storage,
    /// Bytes before the first sample.
    pub(super) offset: u64,
    /// The sum of its samples in 16 bits, if that is said.
    pub(super) checksum: Option<u16>,
    name: String,
    unit: String,
    gain: f64,
    baseline: f64,
}

/// How samples are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// Little-endian i16.
    Words,
    /// Two numbers of 12 bits in three bytes.
    Packed,
}

/// The gain where none is said, or 0.
const USUAL_GAIN: f64 = 200.0;

/// The rate where none is said.
const USUAL_RATE: f64 = 250.0;

/// No header is longer, in bytes.
const LONGEST: u64 = 1 << 20;

/// Most signals that a record may have.
const MOST_SIGNALS: usize = 10_000;

impl Header {
    /// Reads the file of a header.
    pub(super) fn read(path: &Path) -> Result<Header, Fault> {
        let length = open(path)?.metadata().map_err(Fault::from_io)?.len();
        if length > LONGEST {
            let expected = format!("at most {LONGEST} bytes");
            return Err(wrong("size of the header", &expected, &length.to_string()));
        }
        let bytes = fs::read(path).map_err(Fault::from_io)?;
        Header::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Understands the text of a header.
    fn parse(text: &str) -> Result<Header, Fault> {
        let mut lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut words = lines.next().ok_or(Fault::Empty)?.split_whitespace();
        let record = words.next().unwrap_or_default();
        if record.contains('/') {
            return Err(wrong("record", "a record of one segment", record));
        }
        let count: usize = number("number of signals", words.next().unwrap_or_default())?;
        if count > MOST_SIGNALS {
            return Err(wrong(
                "number of signals",
                "at most 10000",
                &count.to_string(),
            ));
        }
        let rate = words.next().map_or(Ok(USUAL_RATE), rate)?;
        let samples = words.next().map(|word| number("number of samples", word));
        let signals: Vec<Signal> = lines.take(count).map(signal).collect::<Result<_, _>>()?;
        match signals.len() {
            0 => Err(Fault::Empty),
            found if found < count => Err(wrong(
                "number of signals",
                &format!("{found}, as there are lines of signals,"),
                &count.to_string(),
            )),
            _ => Ok(Header {
                rate,
                samples: samples.transpose()?.filter(|&samples| samples > 0),
                signals: named(signals),
            }),
        }
    }
}

impl Signal {
    /// Name and unit, as the title of a column.
    pub(super) fn title(&self) -> Title {
        Title {
            channel: Channel {
                name: self.name.clone(),
                unit: self.unit.clone(),
            },
            ..Title::named(String::new())
        }
    }

    /// The value that a sample stands for.
    pub(super) fn physical(&self, digital: i16) -> f64 {
        (f64::from(digital) - self.baseline) / self.gain
    }
}

/// The rate, before a `/` and the rate of a counter.
fn rate(word: &str) -> Result<f64, Fault> {
    let text = word.split('/').next().unwrap_or_default();
    let rate: f64 = number("sampling rate", text)?;
    if rate > 0.0 && rate.is_finite() {
        Ok(rate)
    } else {
        Err(wrong("sampling rate", "a number above 0", word))
    }
}

fn signal(line: &str) -> Result<Signal, Fault> {
    let mut words = line.split_whitespace();
    let file = words.next().unwrap_or_default().to_string();
    let (storage, offset) = storage(words.next().unwrap_or_default())?;
    let scale = words.next().unwrap_or("0");
    let _bits = words.next();
    let zero: f64 = number("ADC zero", words.next().unwrap_or("0"))?;
    let (gain, baseline, unit) = self::scale(scale, zero)?;
    let _first = words.next();
    let checksum = words.next().map(|word| number::<i64>("checksum", word));
    let _block = words.next();
    let name = words.collect::<Vec<_>>().join(" ");
    Ok(Signal {
        file,
        storage,
        offset,
        // Programs write it with or without a sign.
        checksum: checksum.transpose()?.map(|sum| sum as u16),
        name,
        unit,
        gain,
        baseline,
    })
}

/// `16`, `212`, with an offset in bytes after a `+`.
fn storage(word: &str) -> Result<(Storage, u64), Fault> {
    let (format, offset) = word.split_once('+').unwrap_or((word, "0"));
    let storage = match format {
        "16" => Storage::Words,
        "212" => Storage::Packed,
        _ => return Err(wrong("signal format", "16 or 212", word)),
    };
    Ok((storage, number("byte offset", offset)?))
}

/// `gain(baseline)/unit`; the baseline is the ADC zero where none is said, the unit mV.
fn scale(word: &str, zero: f64) -> Result<(f64, f64, String), Fault> {
    let (scale, unit) = word.split_once('/').unwrap_or((word, "mV"));
    let (gain, baseline) = match scale.strip_suffix(')').and_then(|s| s.split_once('(')) {
        Some((gain, baseline)) => (gain, number("baseline", baseline)?),
        None => (scale, zero),
    };
    let gain: f64 = number("gain", gain)?;
    let gain = if gain == 0.0 { USUAL_GAIN } else { gain };
    Ok((gain, baseline, unit.to_string()))
}

/// Signals without a name, or with one that is taken, are called by their number.
fn named(mut signals: Vec<Signal>) -> Vec<Signal> {
    let names = unique(signals.iter().map(|signal| signal.name.clone()));
    for (signal, name) in signals.iter_mut().zip(names) {
        signal.name = name;
    }
    signals
}

fn number<N: Finite>(field: &'static str, word: &str) -> Result<N, Fault> {
    let found: Option<N> = word.parse().ok().filter(N::is_usable);
    found.ok_or_else(|| wrong(field, "a number", word))
}

/// Numbers that text may stand for.
trait Finite: std::str::FromStr {
    fn is_usable(&self) -> bool {
        true
    }
}

impl Finite for f64 {
    fn is_usable(&self) -> bool {
        self.is_finite()
    }
}

impl Finite for u64 {}

impl Finite for i64 {}

impl Finite for usize {}

fn wrong(field: &'static str, expected: &str, found: &str) -> Fault {
    Fault::Field {
        field,
        signal: None,
        expected: expected.to_string(),
        found: found.to_string(),
    }
}
