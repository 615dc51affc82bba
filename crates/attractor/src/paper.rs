//! The tables of Hess et al. (2023) as data: median ± MAD over 20 runs of every row.
//!
//! | from | rows |
//! | --- | --- |
//! | Table 1 | ECG and EEG |
//! | table on the benchmarks, appendix | Lorenz-63 and Lorenz-96 |
//! | table on the partially observed system, appendix | multiscale Lorenz-96 |
//! | table on neural ODEs, appendix | Latent-ODE and ODE-RNN |
//! | ablation study, appendix | `(tanh)`, dendPLRNN + GTF, dendPLRNN + STF |

use attractor_core::settings::nearest;

/// A row of the paper's tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaperRow {
    /// Method and data, as in `shPLRNN + GTF / ECG`.
    pub name: &'static str,
    /// D_stsp, D_H and PE(20), median and MAD each; none where the paper says "diverging".
    pub scores: Option<[(f64, f64); 3]>,
    /// Latent states M.
    pub dim: usize,
    /// Trainable parameters |θ|.
    pub parameters: usize,
}

/// Every row.
pub static PAPER: &[PaperRow] = &[
    row(
        "shPLRNN + GTF / ECG",
        [(4.3, 0.6), (0.34, 0.02), (2.4e-3, 0.1e-3)],
        5,
        2785,
    ),
    row(
        "shPLRNN + aGTF / ECG",
        [(4.5, 0.4), (0.34, 0.02), (2.4e-3, 0.2e-3)],
        5,
        2785,
    ),
    row(
        "shPLRNN + STF / ECG",
        [(7.1, 1.8), (0.38, 0.03), (5e-3, 2e-3)],
        5,
        2785,
    ),
    row(
        "shPLRNN + GTF (tanh) / ECG",
        [(7.8, 2.1), (0.37, 0.03), (8.6e-3, 0.3e-3)],
        5,
        2785,
    ),
    row(
        "dendPLRNN + id-TF / ECG",
        [(5.8, 0.6), (0.37, 0.06), (4.0e-3, 0.4e-3)],
        35,
        3245,
    ),
    row(
        "dendPLRNN + GTF / ECG",
        [(5.2, 1.2), (0.34, 0.02), (5.5e-3, 1.3e-3)],
        35,
        3245,
    ),
    row(
        "dendPLRNN + STF / ECG",
        [(5.8, 0.6), (0.37, 0.06), (4.0e-3, 0.4e-3)],
        35,
        3245,
    ),
    row(
        "RC / ECG",
        [(5.3, 1.7), (0.39, 0.05), (4.0e-3, 1.0e-3)],
        1000,
        5000,
    ),
    row(
        "LSTM-TBPTT / ECG",
        [(15.2, 0.5), (0.73, 0.02), (2.5e-2, 0.5e-2)],
        70,
        5920,
    ),
    diverging("SINDy / ECG", 5, 3960),
    row(
        "N-ODE / ECG",
        [(12.2, 0.7), (0.7, 0.03), (4.1e-1, 0.1e-1)],
        5,
        4955,
    ),
    row(
        "LEM / ECG",
        [(16.3, 0.2), (0.56, 0.04), (7.4e-1, 0.1e-1)],
        62,
        4872,
    ),
    row(
        "shPLRNN + GTF / EEG",
        [(2.1, 0.2), (0.11, 0.01), (5.5e-1, 0.1e-1)],
        16,
        17952,
    ),
    row(
        "shPLRNN + aGTF / EEG",
        [(2.4, 0.2), (0.13, 0.01), (5.4e-1, 0.6e-1)],
        16,
        17952,
    ),
    row(
        "shPLRNN + STF / EEG",
        [(14.0, 7.0), (0.50, 0.16), (2.5e-1, 0.3e-1)],
        16,
        17952,
    ),
    row(
        "shPLRNN + GTF (tanh) / EEG",
        [(17.0, 3.0), (0.37, 0.07), (6.6e-1, 0.1e-1)],
        16,
        17952,
    ),
    row(
        "dendPLRNN + id-TF / EEG",
        [(3.0, 1.0), (0.13, 0.04), (3.4e-1, 0.1e-1)],
        105,
        18099,
    ),
    row(
        "RC / EEG",
        [(14.0, 7.0), (0.54, 0.15), (5.9e-1, 0.3e-1)],
        448,
        28672,
    ),
    row(
        "LSTM-TBPTT / EEG",
        [(30.0, 21.0), (0.2, 0.1), (9.2e-1, 2.3e-1)],
        160,
        51584,
    ),
    diverging("SINDy / EEG", 64, 133_120),
    row(
        "N-ODE / EEG",
        [(20.0, 0.5), (0.47, 0.01), (5.5e-1, 0.2e-1)],
        64,
        17995,
    ),
    row(
        "LEM / EEG",
        [(10.2, 1.5), (0.38, 0.06), (8.2e-1, 0.6e-1)],
        76,
        18304,
    ),
    row(
        "Latent-ODE / EEG",
        [(16.1, 3.0), (0.47, 0.02), (0.56, 0.02)],
        64,
        17_915,
    ),
    row(
        "ODE-RNN / EEG",
        [(13.9, 2.1), (0.59, 0.03), (0.91, 0.06)],
        64,
        17_859,
    ),
    row(
        "shPLRNN + GTF / Lorenz-63",
        [(0.26, 0.03), (0.090, 0.007), (6.0e-4, 0.5e-4)],
        3,
        365,
    ),
    row(
        "SINDy / Lorenz-63",
        [(0.24, 0.0), (0.091, 0.0), (6.1e-4, 0.0)],
        3,
        30,
    ),
    row(
        "SINDy / Lorenz-96",
        [(1.59, 0.0), (0.06, 0.0), (4.6e-3, 0.0)],
        20,
        4620,
    ),
    row(
        "dendPLRNN + id-TF / Lorenz-63",
        [(0.9, 0.2), (0.15, 0.03), (2.2e-3, 0.7e-3)],
        10,
        361,
    ),
    row(
        "RC / Lorenz-63",
        [(0.52, 0.12), (0.19, 0.04), (5.0e-3, 2.0e-3)],
        201,
        603,
    ),
    row(
        "LSTM-TBPTT / Lorenz-63",
        [(0.46, 0.22), (0.11, 0.03), (1.1e-3, 0.3e-3)],
        30,
        1188,
    ),
    row(
        "N-ODE / Lorenz-63",
        [(0.63, 0.2), (0.15, 0.05), (2.3e-3, 0.3e-3)],
        3,
        353,
    ),
    row(
        "LEM / Lorenz-63",
        [(0.39, 0.24), (0.12, 0.05), (6.0e-3, 0.9e-3)],
        14,
        360,
    ),
    row(
        "shPLRNN + GTF / Lorenz-96",
        [(1.68, 0.06), (0.072, 0.001), (1.21e-1, 0.02e-1)],
        20,
        4540,
    ),
    row(
        "dendPLRNN + id-TF / Lorenz-96",
        [(1.65, 0.05), (0.083, 0.005), (1.1e-1, 0.1e-1)],
        60,
        5740,
    ),
    row(
        "RC / Lorenz-96",
        [(2.40, 0.15), (0.14, 0.02), (4.9e-1, 0.4e-1)],
        600,
        12000,
    ),
    row(
        "LSTM-TBPTT / Lorenz-96",
        [(5.0, 1.0), (0.31, 0.04), (1.14, 0.04)],
        80,
        10580,
    ),
    row(
        "N-ODE / Lorenz-96",
        [(1.77, 0.07), (0.076, 0.01), (2.5e-1, 0.02e-1)],
        20,
        4530,
    ),
    row(
        "LEM / Lorenz-96",
        [(7.2, 2.3), (0.54, 0.13), (1.3, 0.06)],
        46,
        4620,
    ),
    row(
        "shPLRNN + GTF / multiscale Lorenz-96",
        [(6.1e-2, 1.1e-2), (7.3e-2, 0.4e-2), (5.7e-3, 0.6e-3)],
        8,
        1780,
    ),
    row(
        "dendPLRNN + id-TF / multiscale Lorenz-96",
        [(6.3e-2, 1.4e-2), (6.9e-2, 0.4e-2), (3.4e-3, 1.6e-3)],
        25,
        1845,
    ),
    row(
        "N-ODE / multiscale Lorenz-96",
        [(6.2e-2, 0.3e-2), (7.8e-2, 0.4e-2), (4.6e-3, 0.3e-3)],
        8,
        1708,
    ),
];

/// The row of this name.
pub fn find(name: &str) -> Option<&'static PaperRow> {
    PAPER.iter().find(|row| row.name == name)
}

/// The name that a mistyped one most likely stands for.
pub fn near(name: &str) -> Option<&'static str> {
    nearest(name, PAPER.iter().map(|row| row.name))
}

const fn row(
    name: &'static str,
    scores: [(f64, f64); 3],
    dim: usize,
    parameters: usize,
) -> PaperRow {
    PaperRow {
        name,
        scores: Some(scores),
        dim,
        parameters,
    }
}

const fn diverging(name: &'static str, dim: usize, parameters: usize) -> PaperRow {
    PaperRow {
        name,
        scores: None,
        dim,
        parameters,
    }
}
