//! Good inputs for every parser, small so that a change is likely to matter.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use attractor::dynamics::Dynamics;
use attractor::format;
use attractor::map::{Dims, MODELS};
use attractor::method;
use attractor::model::{Architecture, Model};
use attractor::model_file::{Card, Reconstruction};
use attractor::observation::ObservationKind;
use attractor::series::{Channel, Gap, Series, Step, Trajectory};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use tempfile::TempDir;

use super::by_hand::{Edf, Signal, doubles, element, mat_header, matrix, ramp};

/// The header of a record with both formats.
pub(crate) const HEADER: &[u8] =
    b"a 2 360 4\na.dat 212 200(100)/mV 12 0 528 1570 0 MLII\na.dat 212 10/uV 12 50 852 1704 0 lead 1\n";

/// The same without sums of samples, so that any samples will do.
pub(crate) const HEADER_WITHOUT_SUMS: &[u8] =
    b"a 2 360 4\na.dat 212 200(100)/mV 12 0\na.dat 212 10/uV 12 50\n";

/// Its samples.
pub(crate) const SAMPLES: &[u8] = &[
    0x10, 0x32, 0x54, 0x01, 0x80, 0xfe, 0xff, 0x7f, 0x00, 0x12, 0x34, 0x56,
];

/// Files that other programs wrote, by the end of their names.
pub(crate) fn kept(end: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|e| e == end))
        .collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn series(gaps: Vec<Gap>) -> Series {
    let trajectory = Trajectory {
        start: 2.0,
        gaps,
        ..Trajectory::new((0..24).map(|i| f64::from(i * i % 17) / 4.0).collect())
    };
    let channels = vec![Channel::named("x1"), Channel::named("x2")];
    let step = Step {
        dt: 0.1,
        unit: "s".into(),
    };
    Series::new(channels, vec![], step, vec![trajectory]).unwrap()
}

/// The file of a series.
fn written(name: &str, series: &Series) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    format::write(&path, series).unwrap();
    fs::read(&path).unwrap()
}

pub(crate) fn csv() -> Vec<Vec<u8>> {
    vec![
        written("a.csv", &series(vec![Gap { row: 4, time: 9.0 }])),
        b"trajectory;time;input:u;x1\n a;0;1,5;-2e3\n a;0,1;NA;3\nb;7;;4\n".to_vec(),
        b"# note\n\"x 1\" 2\n1 2\n\n3 nan\n".to_vec(),
        b"\"x\",\"y, or\nso\"\n\"1,5\",\"2\"\n\"1,234\",3\n".to_vec(),
    ]
}

pub(crate) fn gzip() -> Vec<Vec<u8>> {
    let packed = |text: Vec<u8>| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&text).unwrap();
        encoder.finish().unwrap()
    };
    csv().into_iter().map(packed).collect()
}

pub(crate) fn npy() -> Vec<Vec<u8>> {
    vec![written("a.npy", &series(vec![]))]
}

pub(crate) fn npz() -> Vec<Vec<u8>> {
    vec![written("a.npz", &series(vec![]))]
}

pub(crate) fn edf() -> Vec<Vec<u8>> {
    let signals = || {
        vec![
            Signal::new("EEG 1", ramp(3, 4)),
            Signal::new("EOG", ramp(3, 4)),
        ]
    };
    let plain = Edf::new(signals());
    let mut jumping = Edf::new(signals());
    let lists: [&[u8]; 3] = [
        b"+0.5\x14\x14\0",
        b"+1.5\x14\x14\0+2\x15\x31\x14note\x14\0",
        b"+7\x14\x14\0",
    ];
    jumping.signals.push(Signal::annotations(&lists, 12));
    jumping.reserved = "EDF+D";
    vec![plain.bytes(), jumping.bytes()]
}

pub(crate) fn mat() -> Vec<Vec<u8>> {
    let x = doubles("x", [6, 2], &[0.5; 12]);
    let short = [&[2u8, 0, 3, 0][..], &[7, 8, 9, 0]].concat();
    let others = [
        matrix(2, [1, 1], "s", &[]),
        matrix(4, [1, 3], "t", &[element(2, b"abc")]),
        matrix(9, [3, 1], "k", &[short]),
    ];
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&x).unwrap();
    let data = encoder.finish().unwrap();
    let head = [15u32.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    vec![
        [mat_header(), x, others.concat()].concat(),
        [mat_header(), others.concat(), head, data].concat(),
    ]
}

pub(crate) fn model() -> Vec<Vec<u8>> {
    let dims = Dims {
        latent: 2,
        hidden: 3,
        inputs: 1,
    };
    let info = MODELS
        .iter()
        .find(|m| m.entry.id == "shallow-plrnn")
        .unwrap();
    let architecture = Architecture::new(info, dims, ObservationKind::Linear, 2).unwrap();
    let theta = vec![0.25; architecture.layout().len()];
    let dynamics = Model::new(architecture, theta);
    let card = Card {
        start: vec![vec![1.0, 2.0]],
        prepare: "detrend; scale 0/1,2/3".parse().unwrap(),
        ..Card::blank(dynamics.sizes())
    };
    let reconstruction = Reconstruction {
        method: method::find(info.entry.id).unwrap(),
        dynamics: Arc::new(dynamics),
        card,
    };
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("m.safetensors");
    reconstruction.write(&path).unwrap();
    vec![fs::read(path).unwrap()]
}

pub(crate) fn experiment() -> Vec<Vec<u8>> {
    vec![b"model = 'plrnn'\nalpha = 0.15\nwindow = 0x20\nprepare = ['smooth hann:15', 'cut row:1:9', 'band-pass 1:4']\n[data]\npath = 'a.csv'\nstate = ['x', 2]\nfrom = 1.5\n".to_vec()]
}

pub(crate) fn study() -> Vec<Vec<u8>> {
    let whole = "name = 'a'\nseeds = [1, 7]\npreset = 'paper'\n[data]\ntrain = 'a.csv'\ntest = 'a.csv'\nfrom = 1\n[settings]\nhidden = 0x20\n\
        [grid]\nalpha = [0.1, 0.2]\n[[list]]\nname = 'µ 1'\nwindow = 5\n[[list]]\npaper = 'gtf'\nepochs = 2\n\
        [evaluation]\nstarts = 2\nsystem = 'lorenz63'\n[evaluation.set]\nrho = 28\n";
    let short =
        "seeds = 3\ndata = { train = 'a.csv' }\nlist = [{ alpha = 1e-3 }, { alpha = 0.5 }]\n";
    vec![whole.into(), short.into()]
}

/// Heads as browsers send them.
pub(crate) fn request() -> Vec<Vec<u8>> {
    let browser = "GET /0123456789abcdef0123456789abcdef/events HTTP/1.1\r\nHost: localhost:8765\r\nAccept: */*\r\n\
        Origin: http://localhost:8765\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n\r\n";
    let bare = "GET /x/curves/1,2,3 HTTP/1.0\r\nHost: [::1]\r\n\r\n";
    [browser, bare]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

/// The first lines of a study of this repository.
pub(crate) fn packed() -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/ecg.jsonl");
    let text = fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().take(3).collect();
    vec![lines.join("\n").into_bytes()]
}
