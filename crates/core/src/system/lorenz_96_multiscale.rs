//! The three-level Lorenz-96 model: K slow X, each with J faster Y, each with I still faster Z (Thornes, Düben and
//! Palmer 2017; Chattopadhyay, Hassanzadeh and Subramanian 2020):
//!
//! ```text
//! X_k'   = X_{k−1}(X_{k+1} − X_{k−2}) − X_k + F − (hc/b) Σ_j Y_jk
//! Y_jk'  = −cb Y_{j+1,k}(Y_{j+2,k} − Y_{j−1,k}) − c Y_jk + (hc/b) X_k − (he/d) Σ_i Z_ijk
//! Z_ijk' = ed Z_{i−1,jk}(Z_{i+1,jk} − Z_{i−2,jk}) − g_Z e Z_ijk + (he/d) Y_jk
//! ```
//!
//! Indices wrap within their group: Y_{J+1,k} is Y_{1,k}, not Y_{1,k+1}, as in the program behind the published data.
//! That program damps Z by −eZ, which is g_Z = 1; both papers print g_Z = 10.

use std::ops::Range;

use super::lorenz_96::advect;
use super::{System, SystemInfo, Time, entry, numbered, positive, real, size};
use crate::rng::Rng;
use crate::settings::{Domain, Setting, Settings};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "lorenz96-multiscale",
        "Lorenz's ring on three scales of time and space, of which the slow one is observed",
        "X_k'   = X_{k−1}(X_{k+1} − X_{k−2}) − X_k + F − (hc/b) Σ_j Y_jk\n\
         Y_jk'  = −cb Y_{j+1,k}(Y_{j+2,k} − Y_{j−1,k}) − c Y_jk + (hc/b) X_k − (he/d) Σ_i Z_ijk\n\
         Z_ijk' = ed Z_{i−1,jk}(Z_{i+1,jk} − Z_{i−2,jk}) − g_Z e Z_ijk + (he/d) Y_jk\n\
         k = 1 … K, j = 1 … J, i = 1 … I; indices wrap within their group. Initially X is a whole number from −5 to \
         5, Y standard normal, Z normal with s.d. 0.05. The channels of one level are standardised with one common \
         mean and s.d. The data of Chattopadhyay et al. were made with g_Z = 1 and fixed steps of 0.005.",
        &[
            size("k", "8", 4, "number K of slow variables X"),
            size("j", "8", 4, "number J of variables Y for each X"),
            size("i", "8", 4, "number I of variables Z for each Y"),
            real("forcing", "20", "forcing F"),
            real("h", "1", "coupling h"),
            positive("b", "10", "ratio b of the sizes of X and Y"),
            positive("c", "10", "ratio c of the time scales of X and Y"),
            positive("d", "10", "ratio d of the sizes of Y and Z"),
            positive("e", "10", "ratio e of the time scales of Y and Z"),
            real("g-z", "10", "damping g_Z of the fastest variables"),
            Setting {
                name: "observe",
                default: "slow",
                domain: Domain::Choice(&["slow", "all"]),
                about: "which levels are observed: X alone, or X, Y and Z",
            },
        ],
        &["thornes2017", "chattopadhyay2020", "hess2023"],
    ),
    time: Time::Flow { dt: 0.005 },
    build: |s| Box::new(Multiscale::new(s)),
    known: &[],
};

struct Multiscale {
    sizes: [usize; 3],
    forcing: f64,
    h: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    g_z: f64,
    observed: Levels,
}

#[derive(PartialEq)]
enum Levels {
    Slow,
    All,
}

impl Multiscale {
    fn new(s: &Settings) -> Multiscale {
        Multiscale {
            sizes: ["k", "j", "i"].map(|name| s.integer(name)),
            forcing: s.real("forcing"),
            h: s.real("h"),
            b: s.real("b"),
            c: s.real("c"),
            d: s.real("d"),
            e: s.real("e"),
            g_z: s.real("g-z"),
            observed: match s.choice("observe") {
                "all" => Levels::All,
                _ => Levels::Slow,
            },
        }
    }

    /// Numbers of X, Y and Z.
    fn counts(&self) -> [usize; 3] {
        let [k, j, i] = self.sizes;
        [k, k * j, k * j * i]
    }

    /// X, Y and Z of a state.
    fn levels<'a>(&self, x: &'a [f64]) -> [&'a [f64]; 3] {
        let [n_x, n_y, _] = self.counts();
        let (x, rest) = x.split_at(n_x);
        let (y, z) = rest.split_at(n_y);
        [x, y, z]
    }

    /// X_k' − its coupling; `coupling` is hc/b.
    fn slow(&self, x: &[f64], y: &[f64], dx: &mut [f64], coupling: f64) {
        advect(x, dx);
        for ((dx, x), group) in dx.iter_mut().zip(x).zip(y.chunks_exact(self.sizes[1])) {
            *dx += self.forcing - x - coupling * group.iter().sum::<f64>();
        }
    }

    /// Y_jk' of the group of one X.
    fn middle(&self, x: f64, y: &[f64], z: &[f64], dy: &mut [f64]) {
        let (n, fast) = (y.len(), self.sizes[2]);
        let (from_x, from_z) = (self.h * self.c / self.b, self.h * self.e / self.d);
        for (j, group) in z.chunks_exact(fast).enumerate() {
            let (ahead, two_ahead, back) = ((j + 1) % n, (j + 2) % n, (j + n - 1) % n);
            dy[j] = -self.c * self.b * y[ahead] * (y[two_ahead] - y[back]) - self.c * y[j]
                + from_x * x
                - from_z * group.iter().sum::<f64>();
        }
    }

    /// Z_ijk' of the group of one Y.
    fn fast(&self, y: f64, z: &[f64], dz: &mut [f64]) {
        let (advection, damping) = (self.e * self.d, self.g_z * self.e);
        let drive = self.h * self.e / self.d * y;
        advect(z, dz);
        for (dz, z) in dz.iter_mut().zip(z) {
            *dz = advection * *dz - damping * z + drive;
        }
    }
}

impl System for Multiscale {
    fn dim(&self) -> usize {
        self.counts().iter().sum()
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = self.levels(state);
        let [n_x, n_y, _] = self.counts();
        let [_, j, i] = self.sizes;
        let (dx, rest) = out.split_at_mut(n_x);
        let (dy, dz) = rest.split_at_mut(n_y);
        self.slow(x, y, dx, self.h * self.c / self.b);
        for (k, &x) in x.iter().enumerate() {
            let group = k * j..(k + 1) * j;
            self.middle(
                x,
                &y[group.clone()],
                &z[k * j * i..(k + 1) * j * i],
                &mut dy[group],
            );
        }
        for ((y, z), dz) in y.iter().zip(z.chunks_exact(i)).zip(dz.chunks_exact_mut(i)) {
            self.fast(*y, z, dz);
        }
    }

    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let dim = self.dim();
        let [n_x, n_y, n_z] = self.counts();
        let [_, n_j, n_i] = self.sizes;
        let (from_x, from_z) = (self.h * self.c / self.b, self.h * self.e / self.d);
        jac.fill(0.0);
        let mut add = |row: usize, column: usize, value: f64| jac[row * dim + column] += value;
        let mut group = |start: usize, n: usize, direction: usize, scale: f64| {
            for k in 0..n {
                let at = |steps: usize| start + (k + direction * steps) % n;
                // v_{k−1}(v_{k+1} − v_{k−2}), where "−1" is `direction` places on.
                let (back, ahead, two_back) = (at(1), at(n - 1), at(2));
                add(start + k, back, scale * (state[ahead] - state[two_back]));
                add(start + k, ahead, scale * state[back]);
                add(start + k, two_back, -scale * state[back]);
            }
        };
        group(0, n_x, n_x - 1, 1.0);
        (0..n_x).for_each(|k| group(n_x + k * n_j, n_j, 1, self.c * self.b));
        (0..n_y).for_each(|g| group(n_x + n_y + g * n_i, n_i, n_i - 1, self.e * self.d));
        for k in 0..n_x {
            add(k, k, -1.0);
        }
        for y in 0..n_y {
            add(n_x + y, n_x + y, -self.c);
            add(n_x + y, y / n_j, from_x);
            add(y / n_j, n_x + y, -from_x);
        }
        for z in 0..n_z {
            let row = n_x + n_y + z;
            add(row, row, -self.g_z * self.e);
            add(row, n_x + z / n_i, from_z);
            add(n_x + z / n_i, row, -from_z);
        }
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        let [n_x, n_y, _] = self.counts();
        let (x, rest) = x.split_at_mut(n_x);
        let (y, z) = rest.split_at_mut(n_y);
        x.iter_mut().for_each(|x| *x = rng.index(11) as f64 - 5.0);
        y.iter_mut().for_each(|y| *y = rng.normal());
        z.iter_mut().for_each(|z| *z = 0.05 * rng.normal());
    }

    fn channels(&self) -> Vec<String> {
        let [n_x, n_y, n_z] = self.counts();
        let mut names = numbered("x", n_x);
        if self.observed == Levels::All {
            names.extend(numbered("y", n_y));
            names.extend(numbered("z", n_z));
        }
        names
    }

    fn alike(&self) -> Vec<Range<usize>> {
        let [n_x, n_y, n_z] = self.counts();
        let levels = [0..n_x, n_x..n_x + n_y, n_x + n_y..n_x + n_y + n_z];
        match self.observed {
            Levels::Slow => levels[..1].to_vec(),
            Levels::All => levels.to_vec(),
        }
    }
}
