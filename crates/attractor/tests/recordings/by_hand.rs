//! Files written here, byte by byte, from their formats' descriptions.

use std::io::Write;

/// A signal of an EDF file.
#[derive(Debug, Clone)]
pub(crate) struct Signal {
    pub(crate) label: String,
    pub(crate) unit: String,
    pub(crate) physical: [String; 2],
    pub(crate) digital: [String; 2],
    /// Samples of each record.
    pub(crate) records: Vec<Vec<i16>>,
}

/// An EDF file.
#[derive(Debug, Clone)]
pub(crate) struct Edf {
    pub(crate) reserved: &'static str,
    pub(crate) records: String,
    pub(crate) duration: String,
    pub(crate) signals: Vec<Signal>,
}

impl Signal {
    /// A signal from −100 to 100 µV over the digital range −1000 to 1000.
    pub(crate) fn new(label: &str, records: Vec<Vec<i16>>) -> Signal {
        Signal {
            label: label.into(),
            unit: "uV".into(),
            physical: ["-100".into(), "100".into()],
            digital: ["-1000".into(), "1000".into()],
            records,
        }
    }

    /// The annotations of each record.
    pub(crate) fn annotations(records: &[&[u8]], samples: usize) -> Signal {
        let record = |bytes: &&[u8]| {
            let mut bytes = bytes.to_vec();
            bytes.resize(2 * samples, 0);
            let pairs = bytes.chunks_exact(2);
            pairs.map(|b| i16::from_le_bytes([b[0], b[1]])).collect()
        };
        Signal {
            label: "EDF Annotations".into(),
            unit: String::new(),
            physical: ["-1".into(), "1".into()],
            digital: ["-32768".into(), "32767".into()],
            records: records.iter().map(record).collect(),
        }
    }
}

/// What a field says of a signal.
type OfSignal<'a> = &'a dyn Fn(&Signal) -> String;

impl Edf {
    pub(crate) fn new(signals: Vec<Signal>) -> Edf {
        Edf {
            reserved: "",
            records: signals[0].records.len().to_string(),
            duration: "1".into(),
            signals,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut field = |text: &str, width: usize| {
            assert!(text.len() <= width, "{text}");
            write!(out, "{text:width$}").unwrap();
        };
        let count = self.signals.len();
        field("0", 8);
        field("X X X X", 80);
        field("Startdate X X X X", 80);
        field("01.01.20", 8);
        field("00.00.00", 8);
        field(&(256 * (count + 1)).to_string(), 8);
        field(self.reserved, 44);
        field(&self.records, 8);
        field(&self.duration, 8);
        field(&count.to_string(), 4);
        let of_signals: [(OfSignal<'_>, usize); 10] = [
            (&|s| s.label.clone(), 16),
            (&|_| "AgCl".into(), 80),
            (&|s| s.unit.clone(), 8),
            (&|s| s.physical[0].clone(), 8),
            (&|s| s.physical[1].clone(), 8),
            (&|s| s.digital[0].clone(), 8),
            (&|s| s.digital[1].clone(), 8),
            (&|_| "HP:0.1Hz".into(), 80),
            (&|s| s.records[0].len().to_string(), 8),
            (&|_| String::new(), 32),
        ];
        for (text, width) in of_signals {
            self.signals.iter().for_each(|s| field(&text(s), width));
        }
        for record in 0..self.signals[0].records.len() {
            for signal in &self.signals {
                let samples = signal.records[record].iter();
                out.extend(samples.flat_map(|v| v.to_le_bytes()));
            }
        }
        out
    }
}

/// Records of a ramp that goes up by one each sample.
pub(crate) fn ramp(records: usize, samples: usize) -> Vec<Vec<i16>> {
    let record = |r: usize| (0..samples).map(|s| (r * samples + s) as i16).collect();
    (0..records).map(record).collect()
}

/// The header of a MATLAB 5 file.
pub(crate) fn mat_header() -> Vec<u8> {
    let mut header = b"MATLAB 5.0 MAT-file".to_vec();
    header.resize(124, b' ');
    header.extend([0, 1, b'I', b'M']);
    header
}

/// An element of a MATLAB 5 file.
pub(crate) fn element(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().div_ceil(8) * 8, 0);
    bytes
}

/// A matrix of a class, with these parts after its name.
pub(crate) fn matrix(class: u32, dims: [u32; 2], name: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let flags = [class.to_le_bytes(), [0; 4]].concat();
    let dims: Vec<u8> = dims.iter().flat_map(|d| d.to_le_bytes()).collect();
    let mut data = element(6, &flags);
    data.extend(element(5, &dims));
    data.extend(element(1, name.as_bytes()));
    parts.iter().for_each(|part| data.extend(part));
    element(14, &data)
}

/// A matrix of doubles, stored column after column.
pub(crate) fn doubles(name: &str, dims: [u32; 2], values: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    matrix(6, dims, name, &[element(9, &bytes)])
}
