//! The recurrent cells in f64: known steps and gradients, gradients against differences, the laws of a closed system, and the
//! paper's numbers of parameters.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use attractor_core::dynamics::{Dynamics, Stretch};
use attractor_core::laws;
use attractor_core::method;
use attractor_core::recurrent::lem::Lem;
use attractor_core::recurrent::lstm::Lstm;
use attractor_core::recurrent::plain::{Window, sweep};
use attractor_core::recurrent::{Cell, CellSizes, Following, Network, Pulled, Taken};
use attractor_core::rng::{Rng, Stream};
use attractor_core::rows::Rows;

fn sizes(hidden: usize, channels: usize, inputs: usize) -> CellSizes {
    CellSizes {
        hidden,
        channels,
        inputs,
    }
}

/// The weights of the known values: entry i of a tensor that starts at s is w(s + i).
fn weights(starts: &[(usize, usize)]) -> Vec<f64> {
    let w = |k: usize| 0.1 * ((7 * k % 11) as f64 - 5.0);
    let tensors = starts.iter().flat_map(|&(start, len)| start..start + len);
    tensors.map(w).collect()
}

/// Two rows of data, which all known values are for.
const X: [f64; 4] = [0.5, -1.0, 0.25, 0.75];

/// What two rows of data give.
struct TwoSteps {
    states: Vec<f64>,
    x_hat: Vec<f64>,
    /// The mean of (x̂ − 1)² over the forecasts that count.
    loss: f64,
    dtheta: Vec<f64>,
}

impl TwoSteps {
    /// With the last `counted` of the two forecasts.
    fn new<C: Cell>(cell: &C, theta: &[f64], counted: usize) -> TwoSteps {
        let (n, m) = (cell.sizes().hidden, 2 * cell.sizes().hidden);
        let (q_matrix, q) = cell.read_out(theta);
        let (mut states, mut traces) = (vec![0.0; 3 * m], vec![0.0; 2 * cell.traces()]);
        let mut x_hat = Vec::new();
        for t in 0..2 {
            let (before, next) = states.split_at_mut((t + 1) * m);
            let trace = &mut traces[t * cell.traces()..][..cell.traces()];
            let u = &X[2 * t..2 * t + 2];
            cell.step(theta, u, &before[t * m..], &mut next[..m], trace);
            let of_row =
                |i: usize| q[i] + (0..n).map(|k| q_matrix[i * n + k] * next[k]).sum::<f64>();
            x_hat.extend([of_row(0), of_row(1)]);
        }
        let counts = |i: usize| {
            if i / 2 < 2 - counted {
                0.0
            } else {
                0.5 / counted as f64
            }
        };
        let errors: Vec<f64> = x_hat.iter().map(|x| x - 1.0).collect();
        let loss = (0..4).map(|i| counts(i) * errors[i] * errors[i]).sum();
        let mut dtheta = vec![0.0; theta.len()];
        let read_out = theta.len() - 2 * n - 2;
        let (mut d, mut dv) = (vec![0.0; m], vec![0.0; m]);
        for t in [1, 0] {
            let next = &states[(t + 1) * m..][..m];
            for i in 0..2 {
                let e = 2.0 * counts(2 * t + i) * errors[2 * t + i];
                for k in 0..n {
                    d[k] += e * q_matrix[i * n + k];
                    dtheta[read_out + i * n + k] += e * next[k];
                }
                dtheta[read_out + 2 * n + i] += e;
            }
            let at = Taken {
                u: &X[2 * t..2 * t + 2],
                v: &states[t * m..][..m],
                next,
                trace: &traces[t * cell.traces()..][..cell.traces()],
            };
            let to = Pulled {
                du: &mut [0.0; 2],
                dv: &mut dv,
                dtheta: &mut dtheta,
            };
            cell.pull_back(theta, at, &d, to);
            d.copy_from_slice(&dv);
        }
        let states = states[m..].to_vec();
        TwoSteps {
            states,
            x_hat,
            loss,
            dtheta,
        }
    }
}

/// The known values have ten decimals.
fn same(found: &[f64], known: &[f64]) {
    assert_eq!(found.len(), known.len());
    for (i, (found, known)) in found.iter().zip(known).enumerate() {
        assert!(
            (found - known).abs() < 6e-11,
            "entry {i}: {found} against {known}"
        );
    }
}

const LSTM_STATES: [f64; 12] = [
    0.195_752_585,
    0.047_536_848_5,
    -0.067_071_386_1,
    0.325_512_184_5,
    0.095_361_718,
    -0.131_626_598_9,
    0.231_561_902_6,
    0.014_107_850_6,
    -0.094_638_255_7,
    0.443_914_722,
    0.030_629_043_3,
    -0.153_056_509_2,
];
const LSTM_FORECASTS: [f64; 4] = [
    0.160_288_963_9,
    -0.257_332_840_8,
    0.136_174_569_5,
    -0.278_928_580_3,
];
const LSTM_D_FIRST_ROW: [f64; 5] = [
    0.037_520_287_1,
    -0.044_307_723_1,
    0.004_812_828,
    0.001_168_754_3,
    -0.001_649_035_9,
];
const LSTM_D_SEVENTH_ROW: [f64; 5] = [
    0.004_655_278_2,
    0.013_965_834_5,
    0.003_645_130_9,
    0.000_885_189,
    -0.001_248_943_8,
];
const LSTM_D_BIAS: [f64; 12] = [
    0.087_333_714_6,
    -0.009_491_222_2,
    -0.004_891_605_3,
    0.321_992_858_9,
    -0.288_907_675_4,
    0.031_282_041_4,
    0.018_621_112_7,
    -0.005_683_687_9,
    -0.002_509_801_1,
    0.094_289_098_1,
    -0.006_049_183,
    -0.002_565_420_2,
];
const LSTM_D_READ_OUT: [f64; 6] = [
    -0.200_029_060_2,
    -0.012_186_720_2,
    0.081_750_931_9,
    -0.296_151_135_3,
    -0.018_042_933_4,
    0.121_035_569_9,
];

/// Computed independently in Python in f64 and compared there with torch.
#[test]
fn an_lstm_takes_the_known_steps() {
    let cell = Lstm::new(sizes(3, 2, 0));
    let theta = weights(&[(0, 60), (3, 12), (5, 6), (1, 2)]);
    let TwoSteps {
        states,
        x_hat,
        loss,
        dtheta,
    } = TwoSteps::new(&cell, &theta, 1);
    same(&states, &LSTM_STATES);
    same(&x_hat, &LSTM_FORECASTS);
    same(&[loss], &[1.190_926_343_916_692_6]);
    same(&[dtheta[..60].iter().sum()], &[0.119_952_187_293_630_95]);
    same(&dtheta[..5], &LSTM_D_FIRST_ROW);
    same(&dtheta[30..35], &LSTM_D_SEVENTH_ROW);
    same(&dtheta[60..72], &LSTM_D_BIAS);
    same(&dtheta[72..78], &LSTM_D_READ_OUT);
    same(&dtheta[78..], &[-0.863_825_430_5, -1.278_928_580_3]);
}

const LEM_STATES: [f64; 12] = [
    -0.105_196_627_2,
    0.146_770_100_8,
    -0.167_686_549_5,
    0.027_400_425_9,
    0.055_127_027_6,
    -0.036_290_920_8,
    -0.268_142_443,
    0.317_820_720_4,
    -0.135_283_969_8,
    -0.102_482_275_3,
    0.041_747_605_9,
    0.021_591_369_9,
];
const LEM_FORECASTS: [f64; 4] = [
    0.290_267_028_5,
    -0.097_121_664,
    0.407_571_021_1,
    0.016_131_590_3,
];
const LEM_GRADIENT_3: [f64; 24] = [
    -0.021_327_027_8,
    0.015_066_586_4,
    -0.021_879_500_6,
    0.025_083_801_1,
    -0.003_081_102_8,
    0.007_447_030_1,
    4.74044e-5,
    -0.000_245_406_9,
    1.15987e-5,
    -5.22834e-5,
    -0.000_194_566_1,
    0.000_392_832_6,
    0.053_914_176_8,
    -0.063_294_493_4,
    -0.047_297_191_6,
    0.030_970_745_2,
    0.008_166_329_4,
    -0.005_415_114_7,
    0.001_821_159_2,
    -0.003_089_989_2,
    0.000_485_450_4,
    0.000_848_500_9,
    0.002_505_423_9,
    -0.004_998_073_4,
];
const LEM_GRADIENT_4: [f64; 12] = [
    -0.053_689_043_3,
    -0.051_229_081_3,
    -0.005_648_275_9,
    3.45696e-5,
    1.15629e-5,
    -0.000_387_652_1,
    0.125_641_897_6,
    -0.120_043_838_3,
    0.020_699_676_6,
    0.003_863_250_2,
    0.001_698_661_5,
    0.005_015_957_6,
];
const LEM_GRADIENT_5: [f64; 27] = [
    0.002_321_687,
    -0.003_239_212_5,
    0.003_700_838,
    0.001_571_654_5,
    -0.002_192_768_8,
    0.002_505_263_9,
    -0.000_108_127_4,
    0.000_150_859,
    -0.000_172_358_2,
    1.26739e-5,
    -1.76826e-5,
    2.02026e-5,
    2.4478e-6,
    -3.4152e-6,
    3.9019e-6,
    -3.114e-7,
    4.345e-7,
    -4.964e-7,
    -4.64825e-5,
    6.48523e-5,
    -7.40945e-5,
    -0.000_153_115_9,
    0.000_213_627,
    -0.000_244_071_4,
    -1.0751e-6,
    1.4999e-6,
    -1.7137e-6,
];
const LEM_GRADIENT_6: [f64; 9] = [
    -0.053_689_043_3,
    -0.051_229_081_3,
    -0.005_648_275_9,
    3.45696e-5,
    1.15629e-5,
    -0.000_387_652_1,
    0.003_863_250_2,
    0.001_698_661_5,
    0.005_015_957_6,
];
const LEM_GRADIENT_7: [f64; 9] = [
    -0.001_184_700_9,
    0.006_449_594_5,
    -0.002_497_482_7,
    0.003_321_635_7,
    -0.005_936_662,
    0.001_410_355_9,
    -0.000_567_220_1,
    0.001_024_255_3,
    -0.000_245_664_3,
];
const LEM_GRADIENT_8: [f64; 6] = [
    0.116_758_434_2,
    -0.146_226_892_3,
    0.099_579_408_6,
    0.189_615_188_8,
    -0.236_859_212,
    0.158_537_085_2,
];

/// Computed independently in Python in f64.
#[test]
fn a_lem_takes_the_known_steps() {
    let cell = Lem::new(sizes(3, 2, 0), 0.5);
    let theta = weights(&[
        (0, 24),
        (2, 12),
        (4, 27),
        (6, 9),
        (1, 9),
        (8, 3),
        (5, 6),
        (1, 2),
    ]);
    let TwoSteps {
        states,
        x_hat,
        loss,
        dtheta,
    } = TwoSteps::new(&cell, &theta, 2);
    same(&states, &LEM_STATES);
    same(&x_hat, &LEM_FORECASTS);
    same(&[loss], &[0.756_591_494_779_986_7]);
    let known = [
        &LEM_GRADIENT_3[..],
        &LEM_GRADIENT_4,
        &LEM_GRADIENT_5,
        &LEM_GRADIENT_6,
        &LEM_GRADIENT_7,
        &[0.125_641_897_6, -0.120_043_838_3, 0.020_699_676_6],
        &LEM_GRADIENT_8,
        &[-0.651_080_975_2, -1.040_495_036_8],
    ];
    same(&dtheta, &known.concat());
}

#[test]
fn cells_have_as_many_parameters_as_in_the_paper() {
    // Hess et al. 2023, the columns |θ| of the tables: Lorenz-63, Lorenz-96, ECG, EEG.
    for (hidden, channels, parameters) in [
        (15, 3, 1188),
        (40, 20, 10580),
        (35, 5, 5920),
        (80, 64, 51584),
    ] {
        assert_eq!(
            Lstm::new(sizes(hidden, channels, 0)).layout().len(),
            parameters
        );
    }
    for (hidden, channels, parameters) in
        [(7, 3, 360), (23, 20, 4620), (31, 5, 4872), (38, 64, 18304)]
    {
        assert_eq!(
            Lem::new(sizes(hidden, channels, 0), 1.0).layout().len(),
            parameters
        );
    }
}

/// A cell with random parameters of order one, and a recording for it.
struct Sample<C> {
    cell: C,
    theta: Vec<f32>,
    x: Vec<f64>,
    s: Vec<f64>,
}

impl<C: Cell> Sample<C> {
    fn new(cell: C, rows: usize, seed: u64) -> Sample<C> {
        let mut rng = Rng::new(seed, Stream::Parameters);
        let CellSizes {
            channels, inputs, ..
        } = cell.sizes();
        Sample {
            theta: cell.start(&mut rng),
            x: (0..rows * channels).map(|_| rng.normal()).collect(),
            s: (0..rows * inputs).map(|_| rng.normal()).collect(),
            cell,
        }
    }

    fn exact(&self) -> Vec<f64> {
        self.theta.iter().map(|&v| f64::from(v)).collect()
    }
}

fn gradients_are_those_of_the_loss<C: Cell>(cell: C, seed: u64) {
    let (rows, n) = (7, cell.sizes().channels);
    let mut sample = Sample::new(cell, rows, seed);
    let mut rng = Rng::new(seed, Stream::MonteCarlo);
    let v: Vec<f64> = (0..2 * sample.cell.sizes().hidden)
        .map(|_| 0.5 * rng.normal())
        .collect();
    // A missing value within and one at the end.
    (sample.x[3 * n], sample.x[rows * n - 1]) = (f64::NAN, f64::NAN);
    let theta = sample.exact();
    for (alpha, counted) in [(1.0, 6), (0.3, 6), (0.0, 2)] {
        let window = Window {
            x: &sample.x,
            s: &sample.s,
            v: &v,
            counted,
            alpha,
            weight: 0.1,
        };
        let dtheta = sweep(&sample.cell, &theta, window).dtheta;
        for _ in 0..3 {
            // Central differences along a random direction: rounding 1e-16/1e-5, curvature 1e-10 times third derivatives, each
            // relative to gradients of order one.
            let along: Vec<f64> = theta.iter().map(|_| rng.normal()).collect();
            let at = |h: f64| {
                let moved: Vec<f64> = theta.iter().zip(&along).map(|(v, u)| v + h * u).collect();
                sweep(&sample.cell, &moved, window).loss
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            let product: f64 = dtheta.iter().zip(&along).map(|(d, u)| d * u).sum();
            let scale = 1.0 + product.abs();
            assert!(
                (difference - product).abs() < 1e-7 * scale,
                "{alpha}: {difference} against {product}"
            );
        }
    }
}

#[test]
fn gradients_match_differences() {
    gradients_are_those_of_the_loss(Lstm::new(sizes(4, 3, 2)), 1);
    gradients_are_those_of_the_loss(Lem::new(sizes(4, 3, 2), 0.7), 2);
}

fn is_a_closed_system<C: Cell>(name: &str, cell: C, seed: u64) {
    let sample = Sample::new(cell, 40, seed);
    let (n, m) = (sample.cell.sizes().channels, 2 * sample.cell.sizes().hidden);
    let network = Network::new(
        sample.cell.clone(),
        sample.theta.clone(),
        Following {
            warm_up: 10,
            alpha: 0.6,
        },
    );
    assert_eq!(
        (network.sizes().dim, network.sizes().parameters),
        (m, sample.theta.len())
    );
    let data = Stretch::new(Rows::new(&sample.x, n), &sample.s);
    let mut rng = Rng::new(seed, Stream::MonteCarlo);
    let z: Vec<f64> = (0..m).map(|_| rng.normal()).collect();
    laws::orbits_are_made_of_steps(&network, data).unwrap();
    laws::following_is_inferring(&network, data).unwrap();
    laws::stepping_is_taking_the_forecast_in(&network, data).unwrap();
    let method = method::find(name).unwrap();
    laws::loading_gives_the_same_orbit(method, &network, data).unwrap();
    let s = data.inputs_of(0..1);
    laws::jacobian_of_dynamics_matches_differences(&network, &z, s, &mut rng).unwrap();
}

#[test]
fn networks_obey_the_laws_of_dynamics() {
    for inputs in [0, 2] {
        is_a_closed_system("lstm", Lstm::new(sizes(6, 3, inputs)), 3);
        is_a_closed_system("lem", Lem::new(sizes(6, 3, inputs), 0.4), 4);
    }
}

/// With all weights zero: F = σ(1) and I = ½, J = 0, so that c shrinks by σ(1) at every row.
#[test]
fn the_forget_bias_is_one() {
    let cell = Lstm::new(sizes(1, 1, 0));
    let (mut next, mut trace) = ([0.0; 2], [0.0; 5]);
    let theta = vec![0.0; cell.layout().len()];
    cell.step(&theta, &[3.0], &[0.0, 1.0], &mut next, &mut trace);
    assert!((next[1] - 0.731_058_578_630_004_9).abs() < 1e-15);
    assert!((next[0] - 0.5 * next[1].tanh()).abs() < 1e-15);
}

/// dt → 0 leaves the state as it is; with dt = 1 and all weights zero both gates are ½, and both states are halved.
#[test]
fn a_lem_steps_by_its_dt() {
    let (mut next, mut trace) = ([0.0; 2], [0.0; 4]);
    for (dt, factor) in [(1.0, 0.5), (1e-300, 1.0)] {
        let cell = Lem::new(sizes(1, 1, 0), dt);
        let theta = vec![0.0; cell.layout().len()];
        cell.step(&theta, &[3.0], &[0.6, -2.0], &mut next, &mut trace);
        assert_eq!(next, [0.6 * factor, -2.0 * factor]);
    }
}
