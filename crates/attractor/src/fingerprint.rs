//! Fingerprints of data, settings and files: FNV-1a of 64 bits.

/// A number that changes whenever a byte does, with a chance of 2⁻⁶⁴ that it does not (FNV-1a).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    /// Takes more bytes in.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Sixteen hexadecimal digits.
    pub(crate) fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The fingerprint of some bytes.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    let mut print = Fingerprint::new();
    print.add(bytes);
    print.text()
}
