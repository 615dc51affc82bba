//! A bursting pyramidal cell with a slow potassium current and a persistent NMDA current (Durstewitz 2009):
//!
//! ```text
//! −C V' = g_L(V − E_L) + g_Na m_∞(V)(V − E_Na) + g_K n (V − E_K) + g_M h (V − E_K) + g_NMDA s(V) V
//! n' = (n_∞(V) − n)/τ_n,   h' = (h_∞(V) − h)/τ_h
//! m_∞, n_∞, h_∞ = 1/(1 + exp((V_half − V)/k)),   s(V) = 1/(1 + 0.33 exp(−0.0625 V))
//! ```

use super::{System, SystemInfo, Time, coordinates, entry, named, positive, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "bursting-neuron",
        "Biophysical neuron that bursts through a slow potassium and an NMDA current",
        "−C V' = g_L(V − E_L) + g_Na m_∞(V)(V − E_Na) + g_K n (V − E_K) + g_M h (V − E_K) + g_NMDA s(V) V\n\
         n' = (n_∞(V) − n)/τ_n\n\
         h' = (h_∞(V) − h)/τ_h\n\
         m_∞ = 1/(1 + exp((−20 − V)/15)),  n_∞ = 1/(1 + exp((−25 − V)/5)),  h_∞ = 1/(1 + exp((−15 − V)/5))\n\
         s(V) = 1/(1 + 0.33 exp(−0.0625 V))\n\
         V in mV, time in ms. V starts normal with s.d. 5 around −60, n and h uniform in (0, 0.1). At the defaults \
         the largest exponent is 0: the bursts repeat.",
        &[
            positive("c", "6", "capacitance C"),
            real("g-l", "8", "leak conductance g_L"),
            real("e-l", "-80", "leak reversal potential E_L"),
            real("g-na", "20", "sodium conductance g_Na"),
            real("e-na", "60", "sodium reversal potential E_Na"),
            real("g-k", "10", "fast potassium conductance g_K"),
            real("e-k", "-90", "potassium reversal potential E_K"),
            positive(
                "tau-n",
                "1",
                "time constant τ_n of the fast potassium current",
            ),
            real("g-m", "25", "slow potassium conductance g_M"),
            positive(
                "tau-h",
                "200",
                "time constant τ_h of the slow potassium current",
            ),
            real("g-nmda", "10.2", "NMDA conductance g_NMDA"),
        ],
        &["durstewitz2009", "brenner2022"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(BurstingNeuron {
            c: s.real("c"),
            g_l: s.real("g-l"),
            e_l: s.real("e-l"),
            g_na: s.real("g-na"),
            e_na: s.real("e-na"),
            g_k: s.real("g-k"),
            e_k: s.real("e-k"),
            tau_n: s.real("tau-n"),
            g_m: s.real("g-m"),
            tau_h: s.real("tau-h"),
            g_nmda: s.real("g-nmda"),
        })
    },
    known: &[],
};

struct BurstingNeuron {
    c: f64,
    g_l: f64,
    e_l: f64,
    g_na: f64,
    e_na: f64,
    g_k: f64,
    e_k: f64,
    tau_n: f64,
    g_m: f64,
    tau_h: f64,
    g_nmda: f64,
}

/// A sigmoid with its derivative.
fn gate(v: f64, half: f64, k: f64) -> [f64; 2] {
    let open = 1.0 / (1.0 + ((half - v) / k).exp());
    [open, open * (1.0 - open) / k]
}

fn sodium(v: f64) -> [f64; 2] {
    gate(v, -20.0, 15.0)
}

fn fast_potassium(v: f64) -> [f64; 2] {
    gate(v, -25.0, 5.0)
}

fn slow_potassium(v: f64) -> [f64; 2] {
    gate(v, -15.0, 5.0)
}

/// The magnesium block of the NMDA current with its derivative.
fn nmda(v: f64) -> [f64; 2] {
    let open = 1.0 / (1.0 + 0.33 * (-0.0625 * v).exp());
    [open, 0.0625 * open * (1.0 - open)]
}

impl System for BurstingNeuron {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [v, n, h] = coordinates(state);
        let current = self.g_l * (v - self.e_l)
            + self.g_na * sodium(v)[0] * (v - self.e_na)
            + (self.g_k * n + self.g_m * h) * (v - self.e_k)
            + self.g_nmda * nmda(v)[0] * v;
        out.copy_from_slice(&[
            -current / self.c,
            (fast_potassium(v)[0] - n) / self.tau_n,
            (slow_potassium(v)[0] - h) / self.tau_h,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [v, n, h] = coordinates(state);
        let ([m, dm], [s, ds]) = (sodium(v), nmda(v));
        let slope = self.g_l
            + self.g_na * (m + dm * (v - self.e_na))
            + self.g_k * n + self.g_m * h
            + self.g_nmda * (s + ds * v);
        jac.copy_from_slice(&[
            -slope / self.c, -self.g_k * (v - self.e_k) / self.c, -self.g_m * (v - self.e_k) / self.c,
            fast_potassium(v)[1] / self.tau_n, -1.0 / self.tau_n, 0.0,
            slow_potassium(v)[1] / self.tau_h, 0.0, -1.0 / self.tau_h,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        let v = -60.0 + 5.0 * rng.normal();
        x.copy_from_slice(&[v, rng.between(0.0, 0.1), rng.between(0.0, 0.1)]);
    }

    fn channels(&self) -> Vec<String> {
        named(["v", "n", "h"])
    }
}
