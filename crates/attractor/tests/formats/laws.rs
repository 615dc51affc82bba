//! What is written is read back, and nothing in a file panics.

use super::*;

/// Any finite number, or now and then a missing one.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => any::<f64>().prop_filter("finite", |v| v.is_finite()),
        2 => -1e3..1e3,
        1 => Just(f64::NAN),
    ]
}

fn channel(prefix: &'static str, i: usize) -> impl Strategy<Value = Channel> {
    let name = prop_oneof![
        Just(String::new()),
        Just("time".to_string()),
        "[ -~µé]{0,8}[!-~]".prop_map(|s| s.trim().to_string())
    ];
    let unit = prop_oneof![Just(String::new()), "[a-zµ/²]{1,4}"];
    (name, unit).prop_map(move |(name, unit)| Channel {
        // The number keeps names apart; the first channel may also be called time, or nothing.
        name: match (prefix, i) {
            ("x", 0) => name,
            _ => format!("{name}{prefix}{i}"),
        },
        unit,
    })
}

/// Trajectories with everything that a table can hold: names, starts, gaps and inputs.
fn any_series() -> impl Strategy<Value = Series> {
    let dims = (1usize..4, 0usize..3, 1usize..4);
    let dt = prop_oneof![Just(0.01), Just(1.0), 1e-3..1e3];
    let described = (dims, dt, any::<bool>()).prop_flat_map(|((n, k, m), dt, named)| {
        let channels: Vec<_> = (0..n).map(|i| channel("x", i)).collect();
        let inputs: Vec<_> = (0..k).map(|i| channel("u", i)).collect();
        let all: Vec<_> = (0..m)
            .map(move |i| trajectory(n, k, dt, named.then_some(i)))
            .collect();
        (channels, inputs, Just(dt), all)
    });
    described.prop_filter_map("no value at all", |(channels, inputs, dt, all)| {
        let step = Step {
            dt,
            unit: String::new(),
        };
        Series::new(channels, inputs, step, all).ok()
    })
}

fn trajectory(
    n: usize,
    k: usize,
    dt: f64,
    number: Option<usize>,
) -> impl Strategy<Value = Trajectory> {
    let start = prop_oneof![Just(0.0), -1e3..1e3];
    (1usize..12, start, 2u32..50).prop_flat_map(move |(rows, start, jump)| {
        let x = proptest::collection::vec(value(), rows * n);
        let s = proptest::collection::vec(value(), rows * k);
        let gaps = (1..rows)
            .step_by(5)
            .skip(1)
            .enumerate()
            .map(|(i, row)| Gap {
                row,
                time: start + (row as f64 + f64::from(jump) * (i + 1) as f64) * dt,
            });
        let gaps: Vec<Gap> = gaps.collect();
        (x, s).prop_map(move |(x, s)| Trajectory {
            name: number.map_or(String::new(), |i| format!("run {}", i + 8)),
            start,
            x,
            s,
            gaps: gaps.clone(),
            times: Vec::new(),
        })
    })
}

/// What arrays can hold of a series.
fn bare(series: &Series, trajectories: usize) -> Option<Series> {
    let all = series.trajectories().iter().take(trajectories);
    let bare = all.map(|t| Trajectory {
        name: t.name.clone(),
        ..Trajectory::new(t.x.clone())
    });
    let channels = Channel::numbered("x", series.dim_obs());
    Series::new(channels, vec![], Step::default(), bare.collect()).ok()
}

proptest! {
    #[test]
    fn tables_are_read_back_as_written(series in any_series()) {
        for name in ["a.csv", "a.tsv", "a.csv.gz"] {
            assert_same(&written_and_read(name, &series), &series);
        }
    }

    #[test]
    fn arrays_are_read_back_as_written(series in any_series()) {
        if let Some(bare) = bare(&series, usize::MAX) {
            assert_same(&written_and_read("a.npz", &bare), &bare);
        }
        if let Some(mut bare) = bare(&series, 1) {
            let unnamed = Trajectory::new(bare.trajectories()[0].x.clone());
            bare = bare.with(vec![unnamed]).unwrap();
            assert_same(&written_and_read("a.npy", &bare), &bare);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.npy", "a.npz"] {
            let _ = read_as(name, &bytes, &ReadOptions::default());
        }
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(&bytes);
        let _ = read_as("a.npy", &npy, &ReadOptions::default());
    }

    #[test]
    fn no_text_panics(text in "[-+0-9.,;:\t \n\r\"#exnaNt()\\[\\]]{0,200}") {
        for name in ["a.csv", "a.tsv"] {
            let _ = read_as(name, text.as_bytes(), &ReadOptions::default());
        }
    }

    #[test]
    fn no_damage_to_a_header_panics(at in 0usize..128, byte in any::<u8>()) {
        let folder = TempDir::new().unwrap();
        let series = Series::from_rows(vec![1.0; 12], 3, 1.0).unwrap();
        for name in ["a.npy", "a.npz"] {
            let path = folder.path().join(name);
            format::write(&path, &series).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] = byte;
            let _ = read_as(name, &bytes, &ReadOptions::default());
        }
    }
}
