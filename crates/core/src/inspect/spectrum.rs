//! How fast a channel forgets and how it repeats, from one autocovariance over all segments and present values:
//!
//!   r(k) = [Σ_t x_t x_{t+k} / n(k)] / [Σ_t x_t² / n(0)],   n(k) the number of present pairs k rows apart,
//!
//! with sums by fast Fourier transform. The autocorrelation time is where r first falls to 1/e. The spectrum is the
//! transform of Σ_t x_t x_{t+k} / Σ_t x_t² (which, unlike r, is never negative) under a Parzen window of m lags
//! (Blackman and Tukey 1958). A peak is a period when it stands out above the median of the spectrum and above the
//! least value between it and frequency 0, so that the hump of red noise at low frequency is none. The estimate has
//! ν = 3.7 n/m degrees of freedom, and the logarithm of a ratio of two such has standard deviation √(4/ν): four of
//! those, and at least a factor of 4, are asked for. A peak wider at half of its height than its own frequency, as
//! red noise has behind a high-pass filter, is a hump and no period.
//!
//! Of recordings with more than 2¹⁸ rows in one stretch these are the lags up to 2¹⁷; what is slower is found in the means of
//! blocks of so many rows that about 2¹⁸ blocks are left, so that working memory does not grow with the recording.

use std::collections::BTreeMap;
use std::f64::consts::E;
use std::ops::Range;

use crate::fft::{Complex64, RealFft};
use crate::series::binade;

/// Degrees of freedom of the Parzen window per n/m (Priestley 1981, table 6.1).
const PARZEN_FREEDOM: f64 = 3.7;
/// Least factor by which a peak stands out.
const STAND_OUT: f64 = 4.0;
/// Points of the spectrum per 1/m in frequency, so that three points describe the top of a peak.
const OVERSAMPLE: usize = 8;
/// Most lags that are looked at row by row.
const MOST_LAGS: usize = 1 << 17;
/// Rows of a longer stretch that are multiplied with what follows them at once.
const BLOCK: usize = 1 << 18;
/// A peak below this part of the highest point may be a side lobe of the window or of a trend.
const FAINT: f64 = 0.01;

/// The period of the strongest peak of the spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// Its length in rows.
    pub rows: f64,
    /// The part of the variance under the peak above half of its height, in 0..1.
    pub share: f64,
}

/// The autocorrelation of one channel.
#[derive(Debug)]
pub(super) struct Memory {
    /// r(k) for k = 0, 1, …, half of the longest segment.
    r: Vec<f64>,
    /// Σ_t x_t x_{t+k} / Σ_t x_t², by the number of all pairs and not of those k apart.
    biased: Vec<f64>,
    /// Number of present values.
    present: usize,
    /// Σ_t x_t² / n(0), in units of the column.
    variance: f64,
    /// The same of the means of blocks, where lags are missing here.
    coarse: Option<Box<Memory>>,
    /// Rows of a block of `coarse`.
    factor: usize,
}

impl Memory {
    /// Where r first falls to 1/e, linearly interpolated, in rows.
    pub(super) fn time(&self) -> Option<f64> {
        let Some(below) = self.r.iter().position(|&r| r <= 1.0 / E) else {
            let slow = self.coarse.as_ref()?.time()?;
            return Some(slow * self.factor as f64);
        };
        let (before, after) = (self.r[below - 1], self.r[below]);
        Some((below - 1) as f64 + (before - 1.0 / E) / (before - after)).filter(|t| t.is_finite())
    }
}

/// Computes autocorrelations of columns that share their segments, with plans kept between columns.
pub(super) struct Correlator {
    segments: Vec<Range<usize>>,
    lags: usize,
    /// Transforms by their length.
    plans: BTreeMap<usize, RealFft>,
    complete_pairs: Vec<f64>,
    /// Rows of a block, and what correlates the means of blocks, if there are more rows than lags are taken of.
    coarse: Option<(usize, Box<Correlator>)>,
}

impl Correlator {
    /// For columns with these segments.
    pub(super) fn new(segments: &[Range<usize>]) -> Correlator {
        let longest = segments.iter().map(Range::len).max().unwrap_or(0);
        let lags = (longest / 2 + 1).min(MOST_LAGS);
        let factor = longest.div_ceil(2 * MOST_LAGS - 1);
        Correlator {
            coarse: (factor > 1)
                .then(|| (factor, Box::new(Correlator::new(&coarse(segments, factor))))),
            segments: segments.to_vec(),
            lags,
            plans: BTreeMap::new(),
            complete_pairs: complete_pairs(segments, lags),
        }
    }

    /// The autocorrelation of a column about its mean, of a spread whose power of two is the unit: squares of values near
    /// 1e-200 or 1e200 are no normal numbers.
    pub(super) fn correlate(&mut self, column: &[f64], (mean, sd): (f64, f64)) -> Memory {
        let unit = binade(sd);
        let centred = |t: usize| match column[t] {
            v if v.is_nan() => 0.0,
            v => (v - mean) / unit,
        };
        let sums = self.lagged_sums(&centred);
        let pairs = if column.iter().all(|v| !v.is_nan()) {
            self.complete_pairs.clone()
        } else {
            let there = |t: usize| f64::from(!column[t].is_nan());
            // Counts are whole numbers; the transform returns them within rounding.
            self.lagged_sums(&there)
                .into_iter()
                .map(f64::round)
                .collect()
        };
        let variance = sums[0] / pairs[0];
        let r = sums.iter().zip(&pairs).map(|(s, n)| s / n / variance);
        let (factor, coarse) = match &mut self.coarse {
            None => (1, None),
            Some((factor, correlator)) => {
                let means = means(column, &self.segments, *factor);
                let varies = means.iter().any(|m| !m.is_nan() && *m != mean);
                let slow = varies.then(|| Box::new(correlator.correlate(&means, (mean, sd))));
                (*factor, slow)
            }
        };
        Memory {
            r: r.take_while(|r| r.is_finite()).collect(),
            biased: sums.iter().map(|s| s / sums[0]).collect(),
            present: pairs[0] as usize,
            variance,
            coarse,
            factor,
        }
    }

    /// Σ_t x_t x_{t+k} over all segments, k = 0..lags.
    fn lagged_sums(&mut self, x: &dyn Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.lags];
        for segment in self.segments.clone() {
            let lags = self.lags.min(segment.len());
            let products = if segment.len() + lags <= 2 * BLOCK {
                let size = transform_size(segment.len() + lags);
                self.circular_products(segment.map(x), size)
            } else {
                self.products_in_blocks(segment, x, lags)
            };
            for (sum, product) in sums.iter_mut().zip(&products[..lags]) {
                *sum += product;
            }
        }
        sums
    }

    /// The same sums of one long segment: each block with itself and the rows behind it.
    fn products_in_blocks(
        &mut self,
        segment: Range<usize>,
        x: &dyn Fn(usize) -> f64,
        lags: usize,
    ) -> Vec<f64> {
        let size = transform_size(BLOCK + lags);
        let mut sums = vec![0.0; lags];
        let mut products = vec![0.0; size];
        for start in segment.clone().step_by(BLOCK) {
            let end = segment.end.min(start + BLOCK);
            let block = self.transformed((start..end).map(x), size);
            let mut behind = self.transformed((start..segment.end.min(end + lags)).map(x), size);
            for (b, a) in behind.iter_mut().zip(&block) {
                *b *= a.conj();
            }
            self.plan(size).inverse(&behind, &mut products);
            sums.iter_mut().zip(&products).for_each(|(s, p)| *s += p);
        }
        sums
    }

    /// The circular autocorrelation of x padded with zeros to `size`: the inverse transform of |X|².
    fn circular_products(&mut self, x: impl Iterator<Item = f64>, size: usize) -> Vec<f64> {
        let mut transformed = self.transformed(x, size);
        for v in &mut transformed {
            *v = Complex64::new(v.norm_sqr(), 0.0);
        }
        let mut products = vec![0.0; size];
        self.plan(size).inverse(&transformed, &mut products);
        products
    }

    /// The transform of x padded with zeros to `size`.
    fn transformed(&mut self, x: impl Iterator<Item = f64>, size: usize) -> Vec<Complex64> {
        let mut padded = vec![0.0; size];
        padded.iter_mut().zip(x).for_each(|(p, x)| *p = x);
        self.forward(&padded)
    }

    fn forward(&mut self, x: &[f64]) -> Vec<Complex64> {
        let plan = self.plan(x.len());
        let mut transformed = vec![Complex64::default(); plan.modes()];
        plan.forward(x, &mut transformed);
        transformed
    }

    fn plan(&mut self, size: usize) -> &mut RealFft {
        self.plans.entry(size).or_insert_with(|| RealFft::new(size))
    }

    /// The dominant period: with a window of n/16 lags, which sees periods up to that, else one longer than n/32
    /// with a window of n/4. Short periods are only looked for with the narrow window, whose spectrum scatters less.
    pub(super) fn period(&mut self, memory: &Memory) -> Option<Period> {
        let n = memory.present;
        self.period_with_window(memory, n / 16, 0.0).or_else(|| {
            if self.coarse.is_none() {
                return self.period_with_window(memory, n / 4, n as f64 / 32.0);
            }
            self.slow_period(memory)
        })
    }

    /// A period that is longer than all lags, from the means of blocks.
    fn slow_period(&mut self, memory: &Memory) -> Option<Period> {
        let (slow, (factor, correlator)) = (memory.coarse.as_ref()?, self.coarse.as_mut()?);
        let (factor, n) = (*factor as f64, slow.present);
        let shortest = memory.biased.len() as f64 / factor;
        let found = correlator
            .period_with_window(slow, n / 16, shortest)
            .or_else(|| correlator.period_with_window(slow, n / 4, n as f64 / 32.0))?;
        Some(Period {
            rows: found.rows * factor,
            share: found.share * slow.variance / memory.variance,
        })
    }

    /// The period between `shortest` and the window's m lags.
    fn period_with_window(&mut self, memory: &Memory, m: usize, shortest: f64) -> Option<Period> {
        let m = m.min(memory.biased.len());
        if m < 4 {
            return None;
        }
        let spectrum = self.spectrum(&memory.biased, m);
        let size = 2 * (spectrum.len() - 1);
        let freedom = PARZEN_FREEDOM * memory.present as f64 / m as f64;
        let factor = (4.0 * (4.0 / freedom).sqrt()).exp().max(STAND_OUT);
        // A window shorter than the period cannot tell a peak from the flank of frequency 0.
        let allowed = |j: usize| (shortest..=m as f64).contains(&(size as f64 / j as f64));
        let peak = outstanding_peak(&spectrum, factor, allowed)?;
        let body = upper_half(&spectrum, peak);
        (body.len() <= peak).then(|| Period {
            rows: size as f64 / refined(&spectrum, peak),
            share: spectrum[body].iter().sum::<f64>() / spectrum.iter().sum::<f64>(),
        })
    }

    /// P(f) = Σ_k w(k) r(k) cos 2πfk at f = j/size, j = 0..=size/2.
    fn spectrum(&mut self, r: &[f64], m: usize) -> Vec<f64> {
        let size = (OVERSAMPLE * m).next_power_of_two();
        let mut even = vec![0.0; size];
        for (k, &r) in r.iter().take(m).enumerate() {
            even[k] = parzen(k as f64 / m as f64) * r;
            even[(size - k) % size] = even[k];
        }
        self.forward(&even).iter().map(|v| v.re).collect()
    }
}

/// Parzen's lag window: 1 − 6u² + 6u³ up to ½, then 2(1 − u)³.
fn parzen(u: f64) -> f64 {
    if u <= 0.5 {
        1.0 - 6.0 * u * u * (1.0 - u)
    } else {
        2.0 * (1.0 - u).powi(3)
    }
}

/// The highest allowed local maximum that is `factor` times the median and the least value on the way to frequency 0.
fn outstanding_peak(
    spectrum: &[f64],
    factor: f64,
    allowed: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut ordered = spectrum.to_vec();
    ordered.sort_unstable_by(f64::total_cmp);
    let (median, most) = (ordered[ordered.len() / 2], ordered[ordered.len() - 1]);
    let mut least = f64::INFINITY;
    let mut best = None;
    for j in 1..spectrum.len() {
        least = least.min(spectrum[j - 1]);
        let p = spectrum[j];
        let is_top = p > spectrum[j - 1] && spectrum.get(j + 1).is_none_or(|&next| p >= next);
        let higher = best.is_none_or(|b: usize| p > spectrum[b]);
        let stands_out = p >= factor * median && p >= factor * least && p >= FAINT * most;
        if is_top && higher && stands_out && allowed(j) {
            best = Some(j);
        }
    }
    best
}

/// The top of the parabola through ln P at a peak and its neighbours.
fn refined(spectrum: &[f64], peak: usize) -> f64 {
    if peak + 1 == spectrum.len() {
        return peak as f64;
    }
    let [a, b, c] = [peak - 1, peak, peak + 1].map(|j| spectrum[j].ln());
    let shift = 0.5 * (a - c) / (a - 2.0 * b + c);
    peak as f64 + if shift.abs() < 1.0 { shift } else { 0.0 }
}

/// The frequencies around a peak where the spectrum is above half of it.
fn upper_half(spectrum: &[f64], peak: usize) -> Range<usize> {
    let above = |p: &&f64| **p > 0.5 * spectrum[peak];
    let left = spectrum[..peak].iter().rev().take_while(above).count();
    let right = spectrum[peak..].iter().take_while(above).count();
    peak - left..peak + right
}

/// Segments in blocks of `factor` rows; rows that do not fill one are left out.
fn coarse(segments: &[Range<usize>], factor: usize) -> Vec<Range<usize>> {
    let mut first = 0;
    let lengths = segments.iter().map(|segment| segment.len() / factor);
    lengths
        .map(|blocks| {
            first += blocks;
            first - blocks..first
        })
        .collect()
}

/// The means of the present values of all blocks; NaN where there is none.
fn means(column: &[f64], segments: &[Range<usize>], factor: usize) -> Vec<f64> {
    let blocks = segments
        .iter()
        .flat_map(|segment| column[segment.clone()].chunks_exact(factor));
    blocks
        .map(|block| {
            let present = block.iter().filter(|v| !v.is_nan());
            let (sum, count) =
                present.fold((0.0, 0.0), |(s, n), v| (s + v / factor as f64, n + 1.0));
            sum / (count / factor as f64)
        })
        .collect()
}

fn complete_pairs(segments: &[Range<usize>], lags: usize) -> Vec<f64> {
    // Lengths in descending order: those longer than k are a prefix that shrinks as k grows.
    let mut lengths: Vec<usize> = segments.iter().map(Range::len).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let mut longer = lengths.len();
    let mut rows: usize = lengths.iter().sum();
    let mut pairs = Vec::with_capacity(lags);
    for k in 0..lags {
        while longer > 0 && lengths[longer - 1] <= k {
            longer -= 1;
            rows -= lengths[longer];
        }
        pairs.push((rows - longer * k) as f64);
    }
    pairs
}

/// The least of 2^a, 5·2^(a−3) and 3·2^(a−2) that holds n.
fn transform_size(n: usize) -> usize {
    let power = n.next_power_of_two().max(8);
    [power / 8 * 5, power / 4 * 3, power]
        .into_iter()
        .find(|&size| size >= n)
        .expect("the power of two holds n")
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, TAU};

    use super::*;
    use crate::rng::{Rng, Stream};

    fn measured(column: &[f64], segments: &[Range<usize>]) -> (Option<f64>, Option<Period>) {
        let mut correlator = Correlator::new(segments);
        let moments = crate::series::mean_and_sd(column.iter().copied());
        let memory = correlator.correlate(column, moments);
        (memory.time(), correlator.period(&memory))
    }

    fn whole(column: &[f64]) -> (Option<f64>, Option<Period>) {
        measured(column, std::slice::from_ref(&(0..column.len())))
    }

    fn red_noise(n: usize, phi: f64, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed, Stream::Noise);
        let mut x = 0.0;
        (0..n)
            .map(|_| {
                x = phi * x + rng.normal();
                x
            })
            .collect()
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        let x: Vec<f64> = (0..37).map(|i| f64::from(i * i % 11)).collect();
        let segments = [0..20, 20..23, 23..37];
        let mut correlator = Correlator::new(&segments);
        let sums = correlator.lagged_sums(&|t| x[t]);
        assert_eq!(sums.len(), 11);
        for (k, sum) in sums.iter().enumerate() {
            let pairs = |s: &Range<usize>| s.clone().filter(|t| t + k < s.end).collect::<Vec<_>>();
            let rows: Vec<usize> = segments.iter().flat_map(pairs).collect();
            let direct: f64 = rows.iter().map(|&t| x[t] * x[t + k]).sum();
            // A few roundings of numbers of at most 37 · 100.
            assert!((sum - direct).abs() < 1e-9, "{k}: {sum} against {direct}");
            assert_eq!(correlator.complete_pairs[k], rows.len() as f64);
        }
    }

    #[test]
    fn sums_in_blocks_are_those_of_the_whole() {
        let x = red_noise(2 * BLOCK + BLOCK / 3, 0.5, 4);
        let mut correlator = Correlator::new(std::slice::from_ref(&(0..x.len())));
        let sums = correlator.lagged_sums(&|t| x[t]);
        assert_eq!(sums.len(), MOST_LAGS);
        for k in [0, 1, 77, MOST_LAGS - 1] {
            let direct: f64 = x.iter().zip(&x[k..]).map(|(a, b)| a * b).sum();
            // Transforms of 10⁶ numbers of size one: 20 roundings each of sums of size √10⁶ · 1e-16 · 10⁶.
            assert!(
                (sums[k] - direct).abs() < 1e-5,
                "{k}: {} against {direct}",
                sums[k]
            );
        }
    }

    /// A day in a recording of 3 · 10⁶ rows that is longer than any lag, with noise that forgets at once: only blocks see it.
    #[test]
    fn what_is_slower_than_all_lags_is_seen_in_blocks() {
        let (n, period) = (3_000_000, 250_000.0);
        let slow = |t: usize| (TAU * t as f64 / period).sin();
        let noise = red_noise(n, 0.0, 2);
        let x: Vec<f64> = (0..n).map(|t| 2.0 * slow(t) + noise[t]).collect();
        let (time, found) = whole(&x);
        let found = found.unwrap();
        // Twelve cycles in all, three in the window of n/4.
        assert!((found.rows / period - 1.0).abs() < 0.01, "{found:?}");
        // Variance 2 of the sine beside 1 of the noise; half of a peak's height holds 0.8 of a Parzen peak.
        assert!((0.4..2.0 / 3.0).contains(&found.share), "{found:?}");
        // Of noise and sine r is at once 2/3, and 1/e where the cosine is 3/(2e).
        let expected = (1.5 / E).acos() / TAU * period;
        assert!((time.unwrap() / expected - 1.0).abs() < 0.02, "{time:?}");
    }

    #[test]
    fn a_sine_has_its_period_and_forgets_at_the_arccosine() {
        for period in [7.3, 40.0, 213.7] {
            let x: Vec<f64> = (0..20_000)
                .map(|t| (TAU * f64::from(t) / period).sin())
                .collect();
            let (time, found) = whole(&x);
            let found = found.unwrap();
            // The mirror peak at −f shifts the top by less than its height at 2f, which the window's tail, of
            // order (period/(π m))⁴ < 0.1 % for m = 1250, bounds.
            assert!((found.rows / period - 1.0).abs() < 1e-3, "{found:?}");
            // cos(2π k/period) = 1/e; the chord between two lags is off by at most (2π/period)²/8 / slope.
            let expected = (1.0 / E).acos() / TAU * period;
            let chord = TAU / period / 8.0 / 0.93;
            assert!((time.unwrap() - expected).abs() < chord + 0.01 * expected);
        }
    }

    #[test]
    fn a_record_of_ten_cycles_still_shows_its_period() {
        let x: Vec<f64> = (0..400)
            .map(|t| (TAU * f64::from(t) / 40.0).sin())
            .collect();
        let found = whole(&x).1.unwrap();
        // The window of m = 100 lags holds 2.5 cycles: at −f, five of its bins away, its transform
        // (sin(x)/x)⁴, x = 2.5 π, is 3e-4 and falls by 4/x of that a radian, which pulls the top by 1 % at most.
        assert!((found.rows / 40.0 - 1.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn an_alternating_column_has_period_two() {
        let x: Vec<f64> = (0..1000).map(|t| f64::from(t % 2)).collect();
        assert_eq!(whole(&x).1.unwrap().rows, 2.0);
    }

    #[test]
    fn noise_white_or_red_has_no_period() {
        for seed in 0..20 {
            for (n, phi) in [(300, 0.0), (20_000, 0.0), (300, 0.9), (20_000, 0.98)] {
                let found = whole(&red_noise(n, phi, seed)).1;
                assert_eq!(found, None, "n = {n}, φ = {phi}, seed {seed}");
            }
        }
    }

    #[test]
    fn red_noise_forgets_at_minus_one_over_log_phi() {
        let (time, _) = whole(&red_noise(200_000, 0.95, 1));
        // r = φᵏ, so τ = −1/ln φ = 19.5; with n/τ = 10⁴ independent stretches r(τ) is known to about 0.01, that is
        // τ to 0.01 e = 3 %; five of these.
        let expected = -1.0 / 0.95f64.ln();
        assert!((time.unwrap() / expected - 1.0).abs() < 0.15, "{time:?}");
    }

    #[test]
    fn gaps_and_missing_values_do_not_move_the_period() {
        let mut x: Vec<f64> = (0..6000)
            .map(|t| (TAU * f64::from(t) / 50.0).cos())
            .collect();
        // The second segment starts at another phase, as after a gap.
        for (i, v) in x[2500..].iter_mut().enumerate() {
            *v = (TAU * i as f64 / 50.0 + PI / 2.0).cos();
        }
        for i in (0..6000).filter(|i| i % 7 == 0 || i % 501 < 30) {
            x[i] = f64::NAN;
        }
        let found = measured(&x, &[0..2500, 2500..6000]).1.unwrap();
        assert!((found.rows / 50.0 - 1.0).abs() < 2e-3, "{found:?}");
    }
}
