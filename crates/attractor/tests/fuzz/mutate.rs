//! Mutations: a good input with a few changes, each of which a careless program might make.

/// Random numbers by a seed (xorshift; nothing here needs better).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| {
            dice.roll();
        });
        dice
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.roll() >> 11) as usize % bound.max(1)
    }
}

/// Numbers at the edges of types.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    u64::MAX,
];

/// Words that text formats have a meaning for.
const WORDS: [&[u8]; 20] = [
    b"-1",
    b"0",
    b"99999999",
    b"1e308",
    b"nan",
    b"-inf",
    b"\n",
    b",",
    b"\"",
    b"\0",
    b"[",
    b"}",
    b"row:",
    b"time",
    b"\"1,234\"",
    b"1,234",
    b"(0, 100000000000)",
    b"\x1b]0;",
    b"\xff\xfe",
    b"+1\x14\x14\0",
];

/// A seed with one to four changes, half of them near its front, where headers are.
pub(crate) fn input(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seeds[dice.below(seeds.len())].clone();
    for _ in 0..1 + dice.below(4) {
        change(&mut bytes, seeds, dice);
    }
    bytes
}

fn place(bytes: &[u8], dice: &mut Dice) -> usize {
    match dice.below(2) {
        0 => dice.below(bytes.len().min(400)),
        _ => dice.below(bytes.len()),
    }
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], dice: &mut Dice) {
    let at = place(bytes, dice);
    match dice.below(9) {
        _ if bytes.is_empty() => bytes.push(dice.roll() as u8),
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = dice.roll() as u8,
        2 => {
            let width = 1 << dice.below(4);
            let edge = EDGES[dice.below(EDGES.len())].to_le_bytes();
            let end = (at + width).min(bytes.len());
            bytes[at..end].copy_from_slice(&edge[..end - at]);
        }
        3 => bytes.truncate(at),
        4 => {
            let end = (at + dice.below(64)).min(bytes.len());
            bytes.drain(at..end);
        }
        5 => {
            let end = (at + dice.below(64)).min(bytes.len());
            let block = bytes[at..end].to_vec();
            let to = place(bytes, dice);
            bytes.splice(to..to, block);
        }
        6 => {
            let word = WORDS[dice.below(WORDS.len())];
            bytes.splice(at..at, word.iter().copied());
        }
        7 => {
            let word = WORDS[dice.below(WORDS.len())];
            let end = (at + word.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&word[..end - at]);
        }
        _ => {
            let other = &seeds[dice.below(seeds.len())];
            let from = dice.below(other.len());
            let to = at.min(from);
            bytes.truncate(to);
            bytes.extend(&other[from..]);
        }
    }
}
