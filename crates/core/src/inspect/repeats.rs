//! Runs of rows that occur twice, in two recordings or in one: every 16th row starts a block of the first that is
//! kept under its hash, and a hash that rolls over the second,
//!
//!   H(t) = Σ_{i<16} h(t + i) B^{15−i}  (mod 2⁶⁴),
//!
//! finds the blocks; a find is compared row by row and extended both ways. O(T), and no common run of 31 rows or
//! more is overlooked. Rows are hashed in single precision, so that a file and its f32 copy agree.

use std::collections::HashMap;
use std::ops::Range;

/// Rows of a block.
const BLOCK: usize = 16;
/// Runs at least this long are found wherever they start.
const SURE: usize = 2 * BLOCK - 1;
/// A run of fewer different rows may be a flat or clipped stretch that recurs by chance.
const DIFFERENT: usize = 8;
/// An odd multiplier with well-spread bits (2⁶⁴ divided by the golden ratio).
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Rows `first..first + len` of one recording that are rows `second..second + len` of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) len: usize,
}

/// One hash per row, in single precision and in units per channel that are powers of two, so that no scale is beyond single
/// precision; 0 and −0 agree, and so do missing values.
pub(super) fn row_hashes<'a>(rows: impl Iterator<Item = &'a [f64]>, units: &[f64]) -> Vec<u64> {
    let hash = |row: &[f64]| {
        let values = row.iter().zip(units);
        values.fold(0, |hash, (v, unit)| mixed(hash ^ bits(v / unit)))
    };
    rows.map(hash).collect()
}

fn bits(v: f64) -> u64 {
    let v = v as f32;
    if v.is_nan() {
        u64::MAX
    } else {
        u64::from((v + 0.0).to_bits())
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(v: u64) -> u64 {
    let v = v.wrapping_add(BASE);
    let v = (v ^ (v >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ (v >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ (v >> 31)
}

/// The longest run of rows that is in both recordings.
pub(super) fn longest_common(first: &[u64], second: &[u64]) -> Option<Run> {
    longest(first, second, |_, _| true)
}

/// The longest run of rows that occurs a second time, later, in the same recording.
pub(super) fn longest_repeated(rows: &[u64]) -> Option<Run> {
    longest(rows, rows, |earlier, later| earlier < later)
}

fn longest(first: &[u64], second: &[u64], allowed: impl Fn(usize, usize) -> bool) -> Option<Run> {
    let blocks = blocks(first);
    let mut best: Option<Run> = None;
    let mut covered = 0;
    for (start, hash) in rolling(second) {
        let candidate = blocks.get(&hash).copied().filter(|&at| allowed(at, start));
        let Some(at) = candidate.filter(|_| start >= covered) else {
            continue;
        };
        let run = extended(first, second, at, covered..start);
        // A row of the second is walked over once, so that the whole is O(T).
        covered = run.second + run.len;
        if run.len >= SURE && is_lively(&first[run.first..run.first + run.len]) {
            best = best.filter(|b| b.len >= run.len).or(Some(run));
        }
    }
    best
}

/// The first place of every block of `BLOCK` rows.
fn blocks(rows: &[u64]) -> HashMap<u64, usize> {
    let mut places = HashMap::new();
    for (i, block) in rows.chunks_exact(BLOCK).enumerate() {
        let hash = block.iter().fold(0, |h: u64, &row| rolled(h, row));
        places.entry(hash).or_insert(i * BLOCK);
    }
    places
}

fn rolled(hash: u64, row: u64) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(row)
}

/// Start and hash of every window of `BLOCK` rows.
fn rolling(rows: &[u64]) -> impl Iterator<Item = (usize, u64)> + '_ {
    let leading = BASE.wrapping_pow(BLOCK as u32);
    let mut hash = 0u64;
    rows.iter().enumerate().filter_map(move |(end, &row)| {
        hash = rolled(hash, row);
        if end >= BLOCK {
            hash = hash.wrapping_sub(leading.wrapping_mul(rows[end - BLOCK]));
        }
        (end + 1 >= BLOCK).then(|| (end + 1 - BLOCK, hash))
    })
}

/// The run around two equal places, as far as rows agree both ways; back only over the rows `free` of the second.
fn extended(first: &[u64], second: &[u64], at: usize, free: Range<usize>) -> Run {
    let start = free.end;
    let pairs_before = first[..at].iter().rev().zip(second[free].iter().rev());
    let before = pairs_before.take_while(|(a, b)| a == b).count();
    let pairs_after = first[at..].iter().zip(&second[start..]);
    let after = pairs_after.take_while(|(a, b)| a == b).count();
    Run {
        first: at - before,
        second: start - before,
        len: before + after,
    }
}

fn is_lively(rows: &[u64]) -> bool {
    let mut seen: Vec<u64> = Vec::with_capacity(DIFFERENT);
    for row in rows {
        if !seen.contains(row) {
            seen.push(*row);
        }
        if seen.len() == DIFFERENT {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(values: &[f64]) -> Vec<u64> {
        row_hashes(values.chunks_exact(1), &[1.0])
    }

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = crate::rng::Rng::new(seed, crate::rng::Stream::Noise);
        (0..n).map(|_| rng.normal()).collect()
    }

    #[test]
    fn a_run_inside_another_recording_is_found_at_any_offset() {
        let first = noise(1000, 1);
        for offset in 0..20 {
            for len in [31, 100, 400] {
                let mut second = noise(700, 2);
                let from = 300 + 3 * offset;
                second[100 + offset..100 + offset + len].copy_from_slice(&first[from..from + len]);
                let run = longest_common(&hashes(&first), &hashes(&second)).unwrap();
                let expected = Run {
                    first: from,
                    second: 100 + offset,
                    len,
                };
                assert_eq!(run, expected);
            }
        }
    }

    #[test]
    fn unrelated_and_flat_recordings_have_no_run() {
        assert_eq!(
            longest_common(&hashes(&noise(2000, 1)), &hashes(&noise(2000, 2))),
            None
        );
        let flat = hashes(&[1.0; 500]);
        assert_eq!(longest_common(&flat, &flat), None);
        assert_eq!(longest_repeated(&flat), None);
        assert_eq!(longest_repeated(&hashes(&noise(2000, 1))), None);
        assert_eq!(longest_common(&[], &flat), None);
    }

    #[test]
    fn a_copied_stretch_is_found_inside_one_recording() {
        let mut x = noise(2000, 3);
        let copy = x[200..260].to_vec();
        x[1500..1560].copy_from_slice(&copy);
        let run = longest_repeated(&hashes(&x)).unwrap();
        assert_eq!((run.first, run.second, run.len), (200, 1500, 60));
    }

    #[test]
    fn single_precision_copies_agree() {
        let x = noise(200, 4);
        let copy: Vec<f64> = x.iter().map(|&v| f64::from(v as f32)).collect();
        let run = longest_common(&hashes(&x), &hashes(&copy)).unwrap();
        assert_eq!((run.first, run.second, run.len), (0, 0, 200));
    }
}
