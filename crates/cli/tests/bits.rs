//! Trained bits do not change: every model and every forcing, trained briefly, gives the parameters that are pinned here.
//!
//! A change that moves them on purpose raises the `numerics` of its method and says by how much under *Numerical changes*; then
//! the lines that the failing test prints take the place of those below.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use common::said;
use tempfile::TempDir;

/// Settings of all trainings.
const SHORT: &str = "--epochs 3 --batches-per-epoch 6 --window 20 --batch 20 --hidden 9 --lr 5e-3 --lr-end 1e-3 --noise 0.01 --quiet";

/// A training by name: its recording and its settings, and the fingerprint of its parameters.
type Pinned = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const PINNED: &[Pinned] = &[
    (
        "whole",
        "--model clipped-shallow-plrnn --forcing gtf --alpha 0.2",
        "22902953611e53bf",
    ),
    (
        "whole",
        "--model clipped-shallow-plrnn --forcing agtf --decay 0.9 --every 2",
        "641018819341a59b",
    ),
    (
        "whole",
        "--model clipped-shallow-plrnn --forcing stf --interval 6",
        "95de669fcf7f6d1a",
    ),
    (
        "whole",
        "--model clipped-shallow-plrnn --forcing none",
        "73921a406cab7a47",
    ),
    (
        "whole",
        "--model shallow-plrnn --forcing gtf --alpha 0.2",
        "7161ca15bbb87a85",
    ),
    (
        "whole",
        "--model shallow-plrnn --forcing agtf --decay 0.9 --every 2",
        "f76e0333ad40df4a",
    ),
    (
        "whole",
        "--model shallow-plrnn --forcing stf --interval 6",
        "ae8f69074cd4892f",
    ),
    (
        "whole",
        "--model shallow-plrnn --forcing none",
        "712ccee9ac2d024e",
    ),
    (
        "whole",
        "--model tanh-shallow-plrnn --forcing gtf --alpha 0.2",
        "bf2642432758691a",
    ),
    (
        "whole",
        "--model tanh-shallow-plrnn --forcing agtf --decay 0.9 --every 2",
        "21b0dd14adb1ab92",
    ),
    (
        "whole",
        "--model tanh-shallow-plrnn --forcing stf --interval 6",
        "8e1c55cc51a2be50",
    ),
    (
        "whole",
        "--model tanh-shallow-plrnn --forcing none",
        "13a05434456ac732",
    ),
    (
        "whole",
        "--model clipped-dendritic-plrnn --forcing gtf --alpha 0.2",
        "b8909f1c3c02a6d6",
    ),
    (
        "whole",
        "--model clipped-dendritic-plrnn --forcing agtf --decay 0.9 --every 2",
        "cdc40c19b65be5da",
    ),
    (
        "whole",
        "--model clipped-dendritic-plrnn --forcing stf --interval 6",
        "bc1ea90923ac4fe2",
    ),
    (
        "whole",
        "--model clipped-dendritic-plrnn --forcing none",
        "79a819f88ab0f17a",
    ),
    (
        "whole",
        "--model dendritic-plrnn --forcing gtf --alpha 0.2",
        "10eb1644516a6576",
    ),
    (
        "whole",
        "--model dendritic-plrnn --forcing agtf --decay 0.9 --every 2",
        "b55cdb322339ff22",
    ),
    (
        "whole",
        "--model dendritic-plrnn --forcing stf --interval 6",
        "2cf070ec5c0e2a2f",
    ),
    (
        "whole",
        "--model dendritic-plrnn --forcing none",
        "04fe6a9d3c49ad48",
    ),
    (
        "whole",
        "--model plrnn --forcing gtf --alpha 0.2",
        "bd19a3751bacded0",
    ),
    (
        "whole",
        "--model plrnn --forcing agtf --decay 0.9 --every 2",
        "818f88f837665f09",
    ),
    (
        "whole",
        "--model plrnn --forcing stf --interval 6",
        "84537417da02cdb0",
    ),
    ("whole", "--model plrnn --forcing none", "991bd8edd414b9b4"),
    (
        "whole",
        "--model mean-centred-plrnn --forcing gtf --alpha 0.2",
        "928e5c7149d7e941",
    ),
    (
        "whole",
        "--model mean-centred-plrnn --forcing agtf --decay 0.9 --every 2",
        "bbbbe9c0e6ad3a4e",
    ),
    (
        "whole",
        "--model mean-centred-plrnn --forcing stf --interval 6",
        "965183a2e01a20a9",
    ),
    (
        "whole",
        "--model mean-centred-plrnn --forcing none",
        "3ca134c29d7b7e1d",
    ),
    (
        "driven",
        "--model clipped-shallow-plrnn --input wave --observation identity --latent 4",
        "3d6d061766e90334",
    ),
    (
        "holes",
        "--model clipped-shallow-plrnn --observation linear-bias --latent 2 --threads 2",
        "67e5f1a04bbfa718",
    ),
    (
        "driven",
        "--model shallow-plrnn --input wave --observation identity --latent 4",
        "274cb27ec7dd698a",
    ),
    (
        "holes",
        "--model shallow-plrnn --observation linear-bias --latent 2 --threads 2",
        "a879dd3c1bd654aa",
    ),
    (
        "driven",
        "--model tanh-shallow-plrnn --input wave --observation identity --latent 4",
        "e2535e08102bee5b",
    ),
    (
        "holes",
        "--model tanh-shallow-plrnn --observation linear-bias --latent 2 --threads 2",
        "9faa0e3106948ad6",
    ),
    (
        "driven",
        "--model clipped-dendritic-plrnn --input wave --observation identity --latent 4",
        "75b77cb691e527a5",
    ),
    (
        "holes",
        "--model clipped-dendritic-plrnn --observation linear-bias --latent 2 --threads 2",
        "f08549de9766db26",
    ),
    (
        "driven",
        "--model dendritic-plrnn --input wave --observation identity --latent 4",
        "4ecfccf66ca8ed4d",
    ),
    (
        "holes",
        "--model dendritic-plrnn --observation linear-bias --latent 2 --threads 2",
        "1db9be51b6af00de",
    ),
    (
        "driven",
        "--model plrnn --input wave --observation identity --latent 4",
        "c5142494129aa456",
    ),
    (
        "holes",
        "--model plrnn --observation linear-bias --latent 2 --threads 2",
        "fd1a77808474cc61",
    ),
    (
        "driven",
        "--model mean-centred-plrnn --input wave --observation identity --latent 4",
        "921e1843d8b56595",
    ),
    (
        "holes",
        "--model mean-centred-plrnn --observation linear-bias --latent 2 --threads 2",
        "20e78a0e549eabae",
    ),
    (
        "whole",
        "--forcing agtf --alpha-estimator parameter-bound --decay 0.8 --every 2",
        "1d035cad1e26fd3b",
    ),
    (
        "whole",
        "--forcing agtf --alpha-estimator batch-maximum --decay 0.8 --every 2",
        "bd20918b7a9aaa7e",
    ),
    (
        "whole",
        "--forcing agtf --alpha-estimator product-upper-bound --decay 0.8 --every 2",
        "d6f5a89841f74dff",
    ),
    (
        "whole",
        "--forcing agtf --alpha-estimator exp-log --decay 0.8 --every 2",
        "d6f5a89841f74dff",
    ),
    (
        "whole",
        "--forcing agtf --alpha-estimator product --decay 0.8 --every 2",
        "d6f5a89841f74dff",
    ),
    (
        "whole",
        "--forcing-gradient full --latent-penalty 1e-3 --condition-penalty 1e-2 --manifold-penalty 1e-2 --clip-norm 0.5 --largest-a 0.9",
        "247fdf20ed51416c",
    ),
    (
        "whole",
        "--observation-start random --latent 5 --isa avx2",
        "6bd8e90515af8530",
    ),
    (
        "whole",
        "--average 0.9 --smooth 1.5 --standardize on",
        "7584f56d9fbc6e05",
    ),
    (
        "whole",
        "--best-by d_stsp --best-every 1 --best-starts 3 --average 0.5",
        "2b5de89ddd3f9dfa",
    ),
    (
        "whole",
        "--best-by both --best-every 1 --best-starts 2",
        "4d1b8f3620b9ceb9",
    ),
    ("whole", "--best-by pe --best-every 1", "4d1b8f3620b9ceb9"),
    (
        "whole",
        "--best-by d_stsp --best-every 1 --best-spread matched",
        "fab20a847ceace76",
    ),
    (
        "driven",
        "--input wave --best-by d_stsp --best-every 1 --best-starts 3",
        "d3dd7149813f17dc",
    ),
    ("whole", "--preset paper --seed 7", "93d1dcf5596d7813"),
];

/// Euler steps of Lorenz's system in tenths, and a triangular wave that drives nothing: sums and products alone, so that they
/// are the same everywhere.
fn rows() -> Vec<[f64; 4]> {
    let mut x = [1.0, 2.0, 20.0];
    let mut rows = Vec::new();
    for t in 0..500_i32 {
        let [a, b, c] = x;
        let slope = [10.0 * (b - a), a * (28.0 - c) - b, a * b - 8.0 / 3.0 * c];
        (0..3).for_each(|i| x[i] += 0.01 * slope[i]);
        let wave = f64::from((t % 40 - 20).abs()) / 10.0 - 1.0;
        rows.push([x[0] / 10.0, x[1] / 10.0, x[2] / 10.0 - 2.4, wave]);
    }
    rows
}

/// The recordings: whole, with an input, and with holes.
fn write_recordings(folder: &Path) {
    let (mut whole, mut driven, mut holes) = (
        String::from("a,b,c\n"),
        String::from("a,b,c,wave\n"),
        String::from("a,b,c\n"),
    );
    for (t, [a, b, c, wave]) in rows().into_iter().enumerate() {
        writeln!(whole, "{a},{b},{c}").unwrap();
        writeln!(driven, "{a},{b},{c},{wave}").unwrap();
        match t % 17 {
            3 => writeln!(holes, "{a},,{c}").unwrap(),
            9 => writeln!(holes, ",{b},").unwrap(),
            _ => writeln!(holes, "{a},{b},{c}").unwrap(),
        }
    }
    for (name, text) in [("whole", whole), ("driven", driven), ("holes", holes)] {
        fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    }
}

/// FNV-1a of the numbers of a model file, behind its header.
fn fingerprint(file: &Path) -> String {
    let bytes = fs::read(file).unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let hash = bytes[8 + header..]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{hash:016x}")
}

/// Products and sums are fused from AVX2 on: older processors have other bits.
fn is_fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[test]
fn trained_bits_are_those_of_every_version_before() {
    if !is_fused() {
        println!("skipped: trained bits are pinned for processors with AVX2");
        return;
    }
    let folder = TempDir::new().unwrap();
    write_recordings(folder.path());
    let mut found = String::new();
    let mut changed = Vec::new();
    for (i, (name, settings, pinned)) in PINNED.iter().enumerate() {
        let run = format!("{i}");
        // Without a preset `train` begins with one of its own.
        let preset = if settings.contains("--preset") {
            ""
        } else {
            "--preset bare"
        };
        let arguments = format!("train {name}.csv --out {run} {SHORT} {preset} {settings}");
        said(folder.path(), &arguments, 0);
        let hash = fingerprint(&folder.path().join(&run).join("model.safetensors"));
        writeln!(found, "    (\"{name}\", \"{settings}\", \"{hash}\"),").unwrap();
        if hash != *pinned {
            changed.push(*settings);
        }
    }
    assert!(changed.is_empty(), "{changed:#?} have other bits:\n{found}");
}
