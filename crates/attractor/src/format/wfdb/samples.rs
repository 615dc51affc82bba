//! The samples of one signal file: those of its signals in turn, frame by frame.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::super::{Fault, open};
use super::header::{Signal, Storage};

/// The samples of a signal; none where a value is missing.
pub(super) type Samples = Vec<Option<i16>>;

/// How many samples of each signal a file has, where these are more than claimed.
pub(super) fn surplus(path: &Path, first: &Signal, signals: usize, claimed: u64) -> Option<u64> {
    let length = open(path).ok()?.metadata().ok()?.len();
    let (bytes, signals) = (length.saturating_sub(first.offset), signals as u64);
    let needed = first.storage.padded(claimed.saturating_mul(signals));
    (bytes > needed).then(|| first.storage.count(bytes) / signals)
}

/// Reads the samples of all signals of a file.
pub(super) fn read(
    path: &Path,
    signals: &[&Signal],
    claimed: Option<u64>,
) -> Result<Vec<Samples>, Fault> {
    let mut file = open(path)?;
    let length = file.metadata().map_err(Fault::from_io)?.len();
    let (storage, offset) = (signals[0].storage, signals[0].offset);
    if signals.iter().any(|s| s.storage != storage) {
        return Err(Fault::Field {
            field: "signal format",
            signal: None,
            expected: "one format for all signals of a file".to_string(),
            found: "several".to_string(),
        });
    }
    let there = storage.count(length.saturating_sub(offset)) / signals.len() as u64;
    let frames = claimed.unwrap_or(there);
    if there < frames {
        return Err(Fault::Truncated {
            what: "samples",
            expected: storage.bytes(frames.saturating_mul(signals.len() as u64)),
            found: length.saturating_sub(offset),
        });
    }
    file.seek(SeekFrom::Start(offset)).map_err(Fault::from_io)?;
    let wanted = storage.bytes(frames * signals.len() as u64);
    let mut bytes = Vec::new();
    let read = file.take(wanted).read_to_end(&mut bytes);
    read.map_err(Fault::from_io)?;
    let frames = frames as usize;
    let mut columns = vec![Vec::with_capacity(frames); signals.len()];
    for (i, sample) in storage
        .samples(&bytes)
        .take(frames * signals.len())
        .enumerate()
    {
        columns[i % signals.len()].push(sample);
    }
    for (signal, column) in signals.iter().zip(&columns) {
        check_sum(signal, column)?;
    }
    Ok(columns)
}

/// Refuses samples whose sum in 16 bits is not that of the header; a missing value counts as the number that stands for it.
fn check_sum(signal: &Signal, samples: &Samples) -> Result<(), Fault> {
    let missing = signal.storage.missing();
    let numbers = samples.iter().map(|sample| sample.unwrap_or(missing));
    let found = numbers.fold(0, |sum: u16, number| sum.wrapping_add(number as u16));
    match signal.checksum {
        Some(expected) if expected != found => Err(Fault::Checksum {
            signal: signal.title().channel.name,
            expected,
            found,
        }),
        _ => Ok(()),
    }
}

impl Storage {
    /// How many samples these bytes hold.
    fn count(self, bytes: u64) -> u64 {
        match self {
            Storage::Words => bytes / 2,
            Storage::Packed => bytes / 3 * 2 + u64::from(bytes % 3 == 2),
        }
    }

    /// How many bytes hold these samples.
    fn bytes(self, samples: u64) -> u64 {
        match self {
            Storage::Words => samples.saturating_mul(2),
            Storage::Packed => samples.saturating_mul(3).div_ceil(2),
        }
    }

    /// How many bytes hold these samples, where the last two of a pair are written together.
    fn padded(self, samples: u64) -> u64 {
        match self {
            Storage::Words => self.bytes(samples),
            Storage::Packed => samples.div_ceil(2).saturating_mul(3),
        }
    }

    /// The number that stands for a missing value.
    fn missing(self) -> i16 {
        match self {
            Storage::Words => i16::MIN,
            Storage::Packed => -2048,
        }
    }

    /// The samples in these bytes.
    fn samples(self, bytes: &[u8]) -> Box<dyn Iterator<Item = Option<i16>> + '_> {
        match self {
            Storage::Words => {
                let word = |pair: &[u8]| i16::from_le_bytes([pair[0], pair[1]]);
                let there = |word: i16| (word != i16::MIN).then_some(word);
                Box::new(bytes.chunks_exact(2).map(word).map(there))
            }
            Storage::Packed => Box::new(bytes.chunks(3).flat_map(unpacked)),
        }
    }
}

/// Two numbers of 12 bits: the lower eight of each are bytes of their own, the upper four share the byte between them.
fn unpacked(bytes: &[u8]) -> impl Iterator<Item = Option<i16>> + use<> {
    let byte = |i: usize| bytes.get(i).map(|&byte| u16::from(byte));
    let first = byte(0)
        .zip(byte(1))
        .map(|(low, high)| low | (high & 0x0f) << 8);
    let second = byte(2)
        .zip(byte(1))
        .map(|(low, high)| low | (high & 0xf0) << 4);
    [first, second].into_iter().flatten().map(signed)
}

/// A number of 12 bits with its sign; the lowest means that nothing was measured.
fn signed(bits: u16) -> Option<i16> {
    let value = (bits << 4) as i16 >> 4;
    (value != -2048).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_bits_are_unpacked_with_their_sign() {
        let bytes = [0xff, 0x7f, 0xff, 0x00, 0x18, 0x00, 0x01, 0xf0, 0xfe];
        let found: Vec<_> = Storage::Packed.samples(&bytes).collect();
        let expected = [Some(-1), Some(2047), None, Some(256), Some(1), Some(-2)];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_odd_number_of_samples_ends_within_three_bytes() {
        assert_eq!(Storage::Packed.bytes(3), 5);
        assert_eq!(Storage::Packed.count(5), 3);
        let found: Vec<_> = Storage::Packed.samples(&[1, 0, 2, 3, 0]).collect();
        assert_eq!(found, [Some(1), Some(2), Some(3)]);
    }
}
