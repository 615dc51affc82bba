//! Hindmarsh and Rose's bursting neuron (1984),
//! x' = y − ax³ + bx² − z + I, y' = c − dx² − y, z' = r(s(x − x_R) − z).

use super::{System, SystemInfo, Time, coordinates, entry, positive, real};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "hindmarsh-rose",
        "Hindmarsh and Rose's bursting neuron",
        "x' = y − ax³ + bx² − z + I\n\
         y' = c − dx² − y\n\
         z' = r(s(x − x_R) − z)\n\
         Initial state standard normal.",
        &[
            real("a", "1", "cubic term a"),
            real("b", "3", "quadratic term b"),
            real("c", "1", "recovery c"),
            real("d", "5", "recovery d"),
            positive("r", "0.005", "rate r of the slow adaptation"),
            real("s", "4", "strength s of the adaptation"),
            real("x-rest", "-1.6", "resting potential x_R"),
            real("current", "3.25", "injected current I"),
        ],
        &["hindmarsh1984"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(HindmarshRose {
            a: s.real("a"),
            b: s.real("b"),
            c: s.real("c"),
            d: s.real("d"),
            r: s.real("r"),
            s: s.real("s"),
            x_rest: s.real("x-rest"),
            current: s.real("current"),
        })
    },
    known: &[],
};

struct HindmarshRose {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    r: f64,
    s: f64,
    x_rest: f64,
    current: f64,
}

impl System for HindmarshRose {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            y - self.a * x.powi(3) + self.b * x * x - z + self.current,
            self.c - self.d * x * x - y,
            self.r * (self.s * (x - self.x_rest) - z),
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _, _] = coordinates(state);
        jac.copy_from_slice(&[
            -3.0 * self.a * x * x + 2.0 * self.b * x, 1.0, -1.0,
            -2.0 * self.d * x, -1.0, 0.0,
            self.r * self.s, 0.0, -self.r,
        ]);
    }
}
