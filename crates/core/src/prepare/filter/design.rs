//! The sections of a filter, from its poles.

use std::f64::consts::PI;

use super::{Band, FilterError, ORDER, QUALITY, Section};
use crate::linalg::complex::Complex;

/// The sections for a band; `highest` is half the sampling rate.
pub(super) fn sections(band: Band, highest: f64) -> Result<Vec<Section>, FilterError> {
    let edge = |found: f64| {
        if found > 0.0 && found < highest {
            // The frequency of the analogue filter that becomes this one:  tan(π f / rate).
            Ok((0.5 * PI * found / highest).tan())
        } else {
            Err(FilterError::Frequency { found, highest })
        }
    };
    Ok(match band {
        Band::Below(high) => {
            let high = edge(high)?;
            butterworth(|p| vec![p * high], [1.0, 2.0, 1.0], 1.0)
        }
        Band::Above(low) => {
            let low = edge(low)?;
            butterworth(|p| vec![inverse(p) * low], [1.0, -2.0, 1.0], -1.0)
        }
        Band::Between(low, high) if low >= high => {
            return Err(FilterError::EmptyBand { low, high });
        }
        Band::Between(low, high) => {
            let (low, high) = (edge(low)?, edge(high)?);
            let middle = Turn::at(2.0 * (low * high).sqrt().atan());
            let poles = |p: Complex| split(p, high - low, low * high);
            let sections = butterworth(poles, [1.0, 0.0, -1.0], 1.0);
            normalised(sections, middle)
        }
        Band::Without(found) => {
            edge(found)?;
            vec![notch(PI * found / highest)]
        }
    })
}

/// A Butterworth filter whose poles are those of the prototype, moved by `place`; every section has the numerator
/// `zeros`. The gain is 1 at z = `unity`, ±1, where that is no zero.
fn butterworth(
    place: impl Fn(Complex) -> Vec<Complex>,
    zeros: [f64; 3],
    unity: f64,
) -> Vec<Section> {
    let prototype = (0..ORDER).map(|k| {
        let angle = PI * (2 * k + ORDER + 1) as f64 / (2 * ORDER) as f64;
        Complex::new(angle.cos(), angle.sin())
    });
    // One of each conjugate pair; an even order has no real pole.
    let upper = prototype.filter(|p| p.im > 0.0);
    let section = |s: Complex| {
        let z = sampled(s);
        let a = [-2.0 * z.re, z.re * z.re + z.im * z.im];
        // For z = ±1, z⁻² is 1.
        let gain = (1.0 + a[0] * unity + a[1]) / (zeros[0] + zeros[1] * unity + zeros[2]);
        let gain = if gain.is_finite() { gain } else { 1.0 };
        Section {
            b: zeros.map(|b| b * gain),
            a,
        }
    };
    upper.flat_map(place).map(section).collect()
}

/// Sections with gain 1 each at a frequency.
fn normalised(sections: Vec<Section>, at: Turn) -> Vec<Section> {
    let scaled = |section: Section| Section {
        b: section.b.map(|b| b / at.gain(&section)),
        ..section
    };
    sections.into_iter().map(scaled).collect()
}

/// Zeros at e^{±iω} and poles close by.
fn notch(omega: f64) -> Section {
    let gain = 1.0 / (1.0 + (0.5 * omega / QUALITY).tan());
    let middle = -2.0 * omega.cos();
    Section {
        b: [gain, gain * middle, gain],
        a: [gain * middle, 2.0 * gain - 1.0],
    }
}

/// A point on the unit circle.
struct Turn {
    cos: f64,
    sin: f64,
}

impl Turn {
    fn at(omega: f64) -> Turn {
        Turn {
            cos: omega.cos(),
            sin: omega.sin(),
        }
    }

    /// The size of a section's gain there.
    fn gain(&self, section: &Section) -> f64 {
        let size = |c: [f64; 3]| {
            let (cos2, sin2) = (
                self.cos * self.cos - self.sin * self.sin,
                2.0 * self.sin * self.cos,
            );
            let re = c[0] + c[1] * self.cos + c[2] * cos2;
            let im = c[1] * self.sin + c[2] * sin2;
            re.hypot(im)
        };
        size(section.b) / size([1.0, section.a[0], section.a[1]])
    }
}

/// 1/p.
fn inverse(p: Complex) -> Complex {
    p.conj() / (p.re * p.re + p.im * p.im)
}

/// The two poles of a band-pass:  s = p w/2 ± √((p w/2)² − m²),  w the width, m² the product of the edges.
fn split(p: Complex, width: f64, product: f64) -> Vec<Complex> {
    let half = p * (0.5 * width);
    let root = root(half * half - product);
    vec![half + root, half - root]
}

/// √s. Its own formula, because filters keep their bits.
fn root(s: Complex) -> Complex {
    let size = s.re.hypot(s.im);
    let re = (0.5 * (size + s.re)).max(0.0).sqrt();
    let im = (0.5 * (size - s.re)).max(0.0).sqrt();
    Complex::new(re, im.copysign(s.im))
}

/// The pole of the sampled filter:  z = (1 + s)/(1 − s).
fn sampled(s: Complex) -> Complex {
    let below = 1.0 - s;
    let (re, im) = (below.re, below.im);
    let square = re * re + im * im;
    Complex::new(
        ((1.0 + s.re) * re + s.im * im) / square,
        (s.im * re - (1.0 + s.re) * im) / square,
    )
}
