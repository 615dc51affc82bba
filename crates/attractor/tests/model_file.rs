//! Model files: what is written is read back; every error has its own words; no bytes do harm.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::sync::Arc;

use attractor::map::{Dims, MODELS};
use attractor::method;
use attractor::model::{Architecture, Model};
use attractor::model_file::{Card, ModelFault, Reconstruction};
use attractor::observation::ObservationKind;
use attractor::series::{Channel, Scaling, Step};
use proptest::prelude::*;

const KINDS: [(ObservationKind, usize); 4] = [
    (ObservationKind::Identity, 2),
    (ObservationKind::Identity, 4),
    (ObservationKind::Linear, 3),
    (ObservationKind::LinearWithBias, 6),
];

/// A model of four latent states with all kinds of tensors.
fn sample(
    model: usize,
    (kind, dim_obs): (ObservationKind, usize),
    inputs: usize,
) -> Reconstruction {
    let dims = Dims {
        latent: 4,
        hidden: 5,
        inputs,
    };
    let architecture = Architecture::new(MODELS[model], dims, kind, dim_obs).unwrap();
    let theta = (0..architecture.layout().len()).map(|i| (i as f32).sin());
    let card = Card {
        channels: (0..dim_obs)
            .map(|i| Channel {
                name: format!("\"{i}\" µ"),
                unit: "mV".into(),
            })
            .collect(),
        inputs: Channel::numbered("u", inputs),
        step: Step {
            dt: 0.1,
            unit: "s".into(),
        },
        scaling: Scaling {
            mean: vec![0.1; dim_obs],
            sd: vec![3.3; dim_obs],
        },
        start: vec![vec![1.0 / 3.0; dim_obs]],
        chosen: Some("last".into()),
        prepare: "smooth gaussian:6; scale 0.1/3".parse().unwrap(),
    };
    Reconstruction {
        method: method::find(MODELS[model].entry.id).unwrap(),
        dynamics: Arc::new(Model::new(architecture, theta.collect())),
        card,
    }
}

#[test]
fn every_model_is_read_back_as_it_is() {
    for model in 0..MODELS.len() {
        for kind in KINDS {
            for inputs in [0, 2] {
                let written = sample(model, kind, inputs);
                let read = Reconstruction::from_bytes(&written.to_bytes()).unwrap();
                let (one, other) = (written.model().unwrap(), read.model().unwrap());
                let (a, b) = (one.architecture(), other.architecture());
                assert_eq!(a.info.entry.id, b.info.entry.id);
                assert_eq!((a.dims, a.observation), (b.dims, b.observation));
                assert_eq!(one.theta(), other.theta());
                assert_eq!(written.card, read.card);
            }
        }
    }
}

/// A file of F32 ones with these tensors (name, shape as JSON) and this metadata object.
fn file(metadata: &str, tensors: &[(&str, &[usize])]) -> Vec<u8> {
    let mut header = format!("{{\"__metadata__\":{metadata}");
    let mut end = 0;
    for (name, shape) in tensors {
        let bytes = 4 * shape.iter().product::<usize>();
        header += &format!(
            ",\"{name}\":{{\"dtype\":\"F32\",\"shape\":{shape:?},\"data_offsets\":[{end},{}]}}",
            end + bytes
        );
        end += bytes;
    }
    header += "}";
    let ones = 1f32.to_le_bytes().repeat(end / 4);
    [
        &(header.len() as u64).to_le_bytes()[..],
        header.as_bytes(),
        &ones,
    ]
    .concat()
}

fn fault(bytes: &[u8]) -> ModelFault {
    Reconstruction::from_bytes(bytes).err().unwrap()
}

const PLRNN: &str = r#"{"model":"plrnn"}"#;

#[test]
fn every_mistake_has_its_own_words() {
    let good: &[(&str, &[usize])] = &[("A", &[2]), ("W", &[2, 2]), ("h", &[2])];
    assert!(Reconstruction::from_bytes(&file(PLRNN, good)).is_ok());
    let said =
        |metadata: &str, tensors: &[(&str, &[usize])]| fault(&file(metadata, tensors)).to_string();
    assert_eq!(said("{}", good), "the metadata have no `model`");
    assert_eq!(
        said(r#"{"model":"plrn"}"#, good),
        "no model is named `plrn`"
    );
    assert_eq!(said(PLRNN, &good[1..]), "tensor `A` is missing");
    assert_eq!(said(PLRNN, &good[..2]), "tensor `h` is missing");
    let more = [good, &[("Q", &[1][..])]].concat();
    assert_eq!(said(PLRNN, &more), "tensor `Q` is unknown");
    let wrong: &[(&str, &[usize])] = &[("A", &[2]), ("W", &[2, 3]), ("h", &[2])];
    assert_eq!(
        said(PLRNN, wrong),
        "tensor `W` must have shape [2, 2], found [2, 3]"
    );
    let flat: &[(&str, &[usize])] = &[("A", &[2, 1]), ("W", &[2, 2]), ("h", &[2])];
    assert_eq!(said(PLRNN, flat), "tensor `A` must have 1 axes, found 2");
    let stray = [good, &[("b", &[2][..])]].concat();
    assert_eq!(said(PLRNN, &stray), "tensor `b` is unknown");
    let many = [good, &[("L", &[1, 9][..])]].concat();
    assert_eq!(
        said(PLRNN, &many),
        "2 latent states cannot show 9 channels through the identity"
    );
}

#[test]
fn metadata_that_do_not_fit_are_refused() {
    let tensors: &[(&str, &[usize])] = &[("A", &[2]), ("W", &[2, 2]), ("h", &[2])];
    for (key, text) in [
        ("channels", r#"[{\"name\":\"x\",\"unit\":\"\"}]"#),
        (
            "channels",
            r#"[{\"name\":\"x\",\"unit\":\"\"},{\"name\":\"x\",\"unit\":\"\"}]"#,
        ),
        ("inputs", "3"),
        ("step", r#"{\"dt\":0,\"unit\":\"\"}"#),
        ("scaling", r#"{\"mean\":[0,0],\"sd\":[1,0]}"#),
        ("start", "[1]"),
        ("start", "not json"),
    ] {
        let metadata = format!(r#"{{"model":"plrnn","{key}":"{text}"}}"#);
        let found = fault(&file(&metadata, tensors));
        assert!(
            matches!(found, ModelFault::Metadata { key: k, .. } if k == key),
            "{key}: {found}"
        );
    }
}

#[test]
fn damaged_files_are_told_apart() {
    let bytes = sample(0, KINDS[2], 0).to_bytes();
    for cut in [9, 100, bytes.len() - 1] {
        assert!(
            matches!(fault(&bytes[..cut]), ModelFault::Truncated),
            "{cut}"
        );
    }
    let longer = [&bytes[..], b"x"].concat();
    assert!(matches!(fault(&longer), ModelFault::Truncated));
    for other in [
        &b""[..],
        b"time,x,y\n1,2,3\n",
        b"\x93NUMPY\x01\x00v\x00{'descr'",
    ] {
        assert!(matches!(fault(other), ModelFault::NotSafetensors { .. }));
    }
    let mut nan = bytes.clone();
    let at = bytes.len() - 4;
    nan[at..].copy_from_slice(&f32::NAN.to_le_bytes());
    let found = fault(&nan);
    assert_eq!(found.to_string(), "tensor `B` is not finite at entry 11");
}

#[test]
fn doubles_are_narrowed_and_other_numbers_refused() {
    let header = |dtype: &str, size: usize| {
        format!(
            r#"{{"__metadata__":{PLRNN},"A":{{"dtype":"{dtype}","shape":[1],"data_offsets":[0,{size}]}},"W":{{"dtype":"{dtype}","shape":[1,1],"data_offsets":[{size},{}]}},"h":{{"dtype":"{dtype}","shape":[1],"data_offsets":[{},{}]}}}}"#,
            2 * size,
            2 * size,
            3 * size
        )
    };
    let file = |header: String, data: Vec<u8>| {
        [
            &(header.len() as u64).to_le_bytes()[..],
            header.as_bytes(),
            &data,
        ]
        .concat()
    };
    let data: Vec<u8> = [0.1f64, 0.0, -3.5]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let read = Reconstruction::from_bytes(&file(header("F64", 8), data)).unwrap();
    assert_eq!(read.model().unwrap().theta(), [0.1, 0.0, -3.5]);
    let large: Vec<u8> = [1e300f64; 3].iter().flat_map(|v| v.to_le_bytes()).collect();
    let found = fault(&file(header("F64", 8), large));
    assert_eq!(found.to_string(), "tensor `A` is not finite at entry 0");
    let half = fault(&file(header("F16", 2), vec![0; 6]));
    assert_eq!(
        half.to_string(),
        "tensor `A` must hold F32 or F64, found F16"
    );
}

#[test]
fn sizes_that_no_memory_holds_are_refused_without_trying() {
    // Sizes are claimed by tensors without entries, or by axes that the other tensors do not share.
    let claims: &[&[(&str, &[usize])]] = &[
        &[("A", &[0])],
        &[("A", &[1]), ("W1", &[0, 1 << 62]), ("W2", &[1 << 62, 0])],
        &[("A", &[1 << 16]), ("W1", &[1, 1 << 16])],
    ];
    for tensors in claims {
        let metadata = r#"{"model":"clipped-shallow-plrnn"}"#;
        assert!(Reconstruction::from_bytes(&file(metadata, tensors)).is_err());
    }
}

#[test]
fn the_path_and_a_hint_stand_with_the_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    fs::write(&path, file(r#"{"model":"plrn"}"#, &[])).unwrap();
    let error = Reconstruction::read(&path).err().unwrap();
    assert!(error.to_string().ends_with("m.safetensors"));
    assert_eq!(error.hint().unwrap().to_string(), "did you mean `plrnn`?");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Reconstruction::from_bytes(&bytes).is_err());
    }

    #[test]
    fn damage_anywhere_does_no_harm(
        model in 0..MODELS.len(),
        at in 0usize..2000,
        to in any::<u8>(),
        keep in 0usize..4000,
    ) {
        let mut bytes = sample(model, KINDS[2], 1).to_bytes();
        let length = bytes.len();
        bytes[at % length] = to;
        bytes.truncate(keep.max(8));
        // It may still be a good file; what matters is that the answer comes.
        let _ = Reconstruction::from_bytes(&bytes);
    }

    #[test]
    fn any_shapes_do_no_harm(
        shapes in prop::collection::vec((0usize..10, prop::collection::vec(0usize..5, 0..4)), 0..8),
        model in 0..MODELS.len(),
    ) {
        let names = ["A", "W1", "W2", "h1", "h2", "B", "b", "L", "C", "slopes"];
        let tensors: Vec<(&str, &[usize])> =
            shapes.iter().map(|(name, shape)| (names[*name], shape.as_slice())).collect();
        let metadata = format!(r#"{{"model":"{}"}}"#, MODELS[model].entry.id);
        let _ = Reconstruction::from_bytes(&file(&metadata, &tensors));
    }
}
