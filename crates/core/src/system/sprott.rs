//! Sprott's nineteen simplest chaotic flows with quadratic terms (Sprott 1994). Every right-hand side is a short sum
//! of terms c·e_i·e_j with e = (1, x, y, z), and so is its derivative:
//! ∂(c e_i e_j)/∂x_m = c (δ_im e_j + e_i δ_jm).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry};
use crate::rng::Rng;
use crate::settings::{Domain, Setting};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "sprott",
        "Sprott's nineteen simplest quadratic flows, A to S",
        "A  x' = y           y' = −x + yz      z' = 1 − y²   (the Nosé–Hoover oscillator)\n\
         B  x' = yz          y' = x − y        z' = 1 − xy\n\
         C  x' = yz          y' = x − y        z' = 1 − x²\n\
         D  x' = −y          y' = x + z        z' = xz + 3y²\n\
         E  x' = yz          y' = x² − y       z' = 1 − 4x\n\
         F  x' = y + z       y' = −x + y/2     z' = x² − z\n\
         G  x' = 2x/5 + z    y' = xz − y       z' = −x + y\n\
         H  x' = −y + z²     y' = x + y/2      z' = x − z\n\
         I  x' = −y/5        y' = x + z        z' = x + y² − z\n\
         J  x' = 2z          y' = −2y + z      z' = −x + y + y²\n\
         K  x' = xy − z      y' = x − y        z' = x + 0.3z\n\
         L  x' = y + 3.9z    y' = 0.9x² − y    z' = 1 − x\n\
         M  x' = −z          y' = −x² − y      z' = 1.7 + 1.7x + y\n\
         N  x' = −2y         y' = x + z²       z' = 1 + y − 2z\n\
         O  x' = y           y' = x − z        z' = x + xz + 2.7y\n\
         P  x' = 2.7y + z    y' = −x + y²      z' = x + y\n\
         Q  x' = −z          y' = x − y        z' = 3.1x + y² + z/2\n\
         R  x' = 0.9 − y     y' = 0.4 + z      z' = xy − z\n\
         S  x' = −x − 4y     y' = x + z²       z' = 1 + x\n\
         Initial state normal with s.d. 0.01 around a point of the attractor's basin.",
        &[Setting {
            name: "case",
            default: "b",
            domain: Domain::Choice(&[
                "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p",
                "q", "r", "s",
            ]),
            about: "which of the nineteen flows",
        }],
        &["sprott1994"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        let case = s.choice("case");
        let found = CASES.iter().find(|c| c.name == case);
        Box::new(Sprott(found.expect("every choice has its case")))
    },
    known: &[
        published(&[("case", "a")], &[0.014, 0.0, -0.014]),
        published(&[("case", "b")], &[0.210, 0.0, -1.210]),
        published(&[("case", "c")], &[0.163, 0.0, -1.163]),
        published(&[("case", "d")], &[0.103, 0.0, -1.320]),
        published(&[("case", "e")], &[0.078, 0.0, -1.078]),
        published(&[("case", "f")], &[0.117, 0.0, -0.617]),
        published(&[("case", "g")], &[0.034, 0.0, -0.634]),
        published(&[("case", "h")], &[0.117, 0.0, -0.617]),
        published(&[("case", "i")], &[0.012, 0.0, -1.012]),
        published(&[("case", "j")], &[0.076, 0.0, -2.076]),
        published(&[("case", "k")], &[0.038, 0.0, -0.890]),
        published(&[("case", "l")], &[0.061, 0.0, -1.061]),
        published(&[("case", "m")], &[0.044, 0.0, -1.044]),
        published(&[("case", "n")], &[0.076, 0.0, -2.076]),
        published(&[("case", "o")], &[0.049, 0.0, -0.319]),
        published(&[("case", "p")], &[0.087, 0.0, -0.481]),
        published(&[("case", "q")], &[0.109, 0.0, -0.609]),
        published(&[("case", "r")], &[0.062, 0.0, -1.062]),
        published(&[("case", "s")], &[0.188, 0.0, -1.188]),
    ],
};

/// A row of Sprott's table, which gives three decimals.
const fn published(
    set: &'static [(&'static str, &'static str)],
    exponents: &'static [f64],
) -> Known {
    Known {
        set,
        exponents,
        tolerance: 0.001,
        source: "sprott1994",
    }
}

struct Sprott(&'static Case);

struct Case {
    name: &'static str,
    start: [f64; 3],
    terms: [&'static [Term]; 3],
}

/// c·e_i·e_j with e = (1, x, y, z).
struct Term(f64, usize, usize);

const O: usize = 0;
const X: usize = 1;
const Y: usize = 2;
const Z: usize = 3;

#[rustfmt::skip] // one flow a block, one equation a line
static CASES: [Case; 19] = [
    Case { name: "a", start: [0.0, 5.0, 0.0], terms: [
        &[Term(1.0, O, Y)],
        &[Term(-1.0, O, X), Term(1.0, Y, Z)],
        &[Term(1.0, O, O), Term(-1.0, Y, Y)],
    ] },
    Case { name: "b", start: [0.05, 0.05, 0.05], terms: [
        &[Term(1.0, Y, Z)],
        &[Term(1.0, O, X), Term(-1.0, O, Y)],
        &[Term(1.0, O, O), Term(-1.0, X, Y)],
    ] },
    Case { name: "c", start: [0.05, 0.05, 0.05], terms: [
        &[Term(1.0, Y, Z)],
        &[Term(1.0, O, X), Term(-1.0, O, Y)],
        &[Term(1.0, O, O), Term(-1.0, X, X)],
    ] },
    Case { name: "d", start: [0.05, 0.05, 0.05], terms: [
        &[Term(-1.0, O, Y)],
        &[Term(1.0, O, X), Term(1.0, O, Z)],
        &[Term(1.0, X, Z), Term(3.0, Y, Y)],
    ] },
    Case { name: "e", start: [0.05, 0.05, 0.05], terms: [
        &[Term(1.0, Y, Z)],
        &[Term(1.0, X, X), Term(-1.0, O, Y)],
        &[Term(1.0, O, O), Term(-4.0, O, X)],
    ] },
    Case { name: "f", start: [0.05, 0.05, 0.05], terms: [
        &[Term(1.0, O, Y), Term(1.0, O, Z)],
        &[Term(-1.0, O, X), Term(0.5, O, Y)],
        &[Term(1.0, X, X), Term(-1.0, O, Z)],
    ] },
    Case { name: "g", start: [0.05, 0.05, 0.05], terms: [
        &[Term(0.4, O, X), Term(1.0, O, Z)],
        &[Term(1.0, X, Z), Term(-1.0, O, Y)],
        &[Term(-1.0, O, X), Term(1.0, O, Y)],
    ] },
    Case { name: "h", start: [0.05, 0.05, 0.05], terms: [
        &[Term(-1.0, O, Y), Term(1.0, Z, Z)],
        &[Term(1.0, O, X), Term(0.5, O, Y)],
        &[Term(1.0, O, X), Term(-1.0, O, Z)],
    ] },
    Case { name: "i", start: [0.05, 0.05, 0.05], terms: [
        &[Term(-0.2, O, Y)],
        &[Term(1.0, O, X), Term(1.0, O, Z)],
        &[Term(1.0, O, X), Term(1.0, Y, Y), Term(-1.0, O, Z)],
    ] },
    Case { name: "j", start: [0.05, 0.05, 0.05], terms: [
        &[Term(2.0, O, Z)],
        &[Term(-2.0, O, Y), Term(1.0, O, Z)],
        &[Term(-1.0, O, X), Term(1.0, O, Y), Term(1.0, Y, Y)],
    ] },
    Case { name: "k", start: [0.05, 0.05, 0.05], terms: [
        &[Term(1.0, X, Y), Term(-1.0, O, Z)],
        &[Term(1.0, O, X), Term(-1.0, O, Y)],
        &[Term(1.0, O, X), Term(0.3, O, Z)],
    ] },
    Case { name: "l", start: [0.05, 0.05, 0.05], terms: [
        &[Term(1.0, O, Y), Term(3.9, O, Z)],
        &[Term(0.9, X, X), Term(-1.0, O, Y)],
        &[Term(1.0, O, O), Term(-1.0, O, X)],
    ] },
    Case { name: "m", start: [0.05, 0.05, 0.05], terms: [
        &[Term(-1.0, O, Z)],
        &[Term(-1.0, X, X), Term(-1.0, O, Y)],
        &[Term(1.7, O, O), Term(1.7, O, X), Term(1.0, O, Y)],
    ] },
    Case { name: "n", start: [0.05, 0.05, 0.05], terms: [
        &[Term(-2.0, O, Y)],
        &[Term(1.0, O, X), Term(1.0, Z, Z)],
        &[Term(1.0, O, O), Term(1.0, O, Y), Term(-2.0, O, Z)],
    ] },
    Case { name: "o", start: [0.05, 0.05, 0.05], terms: [
        &[Term(1.0, O, Y)],
        &[Term(1.0, O, X), Term(-1.0, O, Z)],
        &[Term(1.0, O, X), Term(1.0, X, Z), Term(2.7, O, Y)],
    ] },
    Case { name: "p", start: [0.05, 0.05, 0.05], terms: [
        &[Term(2.7, O, Y), Term(1.0, O, Z)],
        &[Term(-1.0, O, X), Term(1.0, Y, Y)],
        &[Term(1.0, O, X), Term(1.0, O, Y)],
    ] },
    Case { name: "q", start: [0.05, 0.05, 0.05], terms: [
        &[Term(-1.0, O, Z)],
        &[Term(1.0, O, X), Term(-1.0, O, Y)],
        &[Term(3.1, O, X), Term(1.0, Y, Y), Term(0.5, O, Z)],
    ] },
    Case { name: "r", start: [0.05, 0.05, 0.05], terms: [
        &[Term(0.9, O, O), Term(-1.0, O, Y)],
        &[Term(0.4, O, O), Term(1.0, O, Z)],
        &[Term(1.0, X, Y), Term(-1.0, O, Z)],
    ] },
    Case { name: "s", start: [0.05, 0.05, 0.05], terms: [
        &[Term(-1.0, O, X), Term(-4.0, O, Y)],
        &[Term(1.0, O, X), Term(1.0, Z, Z)],
        &[Term(1.0, O, O), Term(1.0, O, X)],
    ] },
];

impl System for Sprott {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        let e = [1.0, x, y, z];
        for (out, terms) in out.iter_mut().zip(self.0.terms) {
            *out = terms.iter().map(|&Term(c, i, j)| c * e[i] * e[j]).sum();
        }
    }

    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        let e = [1.0, x, y, z];
        jac.fill(0.0);
        for (row, terms) in jac.chunks_exact_mut(3).zip(self.0.terms) {
            for &Term(c, i, j) in terms {
                if i > 0 {
                    row[i - 1] += c * e[j];
                }
                if j > 0 {
                    row[j - 1] += c * e[i];
                }
            }
        }
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&self.0.start, 0.01, rng, x);
    }
}
