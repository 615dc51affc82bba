//! B with which free orbits vary as the data do.
//!
//! Training fits forecasts, and a map that forecasts the mean of what may follow varies less than the data where part of
//! them is noise. With U an orthonormal basis of the directions that B can show and the data vary in, C the covariance of
//! Uᵀx̂ over free orbits and D that of Uᵀx over the data,
//!
//! ```text
//! B ← B + U (T − 1) Uᵀ B        T = C^(−1/2) (C^(1/2) D C^(1/2))^(1/2) C^(−1/2),  so that T C T = D
//! ```
//!
//! Of all matrices with T C Tᵀ = D this one moves observations least in the mean square (Dowson and Landau 1982,
//! `dowson1982`). C is the mean over orbits of their covariances, each about its own mean: an orbit that settles elsewhere does not
//! count as spread. A bias b becomes what brings the means together. F stays as it is, and with it all exponents; forecasts
//! begin at other states B⁺x, and get worse the farther T is from the identity.

use crate::linalg::{self, SymmetricEigen};
use crate::model::Model;
use crate::observation::ObservationKind;
use crate::rows::Rows;

/// No direction is stretched or shrunk by more than this factor: orbits that would need it have another attractor, or hardly
/// vary where the data do little.
pub const LARGEST_FACTOR: f64 = 3.0;

/// Directions in which the data have less than this of their largest variance stay as trained: a sum or a copy of channels
/// leaves such, and roots of products of covariances lose them to rounding.
const LEAST_VARIANCE: f64 = 1e-6;

/// The model with B, and b if there is one, such that `orbits`, its free orbits (row-major, with the channels of the
/// truth), vary as `truth` does; none if it has no B, or if orbits are not finite or stand still.
///
/// # Panics
/// If B is not finite although what it shows is.
pub fn matched(model: &Model, truth: Rows<'_>, orbits: &[Vec<f64>]) -> Option<Model> {
    let observation = model.architecture().observation;
    let finite = orbits.iter().flatten().all(|x| x.is_finite());
    if observation.kind == ObservationKind::Identity || !finite {
        return None;
    }
    let (n, m) = (observation.dim_obs, observation.latent);
    let (of_map, own) = model.parameters();
    let mut own = own.to_vec();
    let (b, bias) = own.split_at_mut(n * m);
    let shown = Shown::by(b, (n, m), truth)?;
    let (c, d) = (shown.mean_covariance(orbits), shown.covariance(truth));
    let t = transport(&c, &d, shown.dim)?;
    b.copy_from_slice(&shown.stretch(&t, b, m));
    if observation.kind == ObservationKind::LinearWithBias {
        let seen = mean_of_means(orbits, n).into_iter().zip(&*bias);
        let seen: Vec<f64> = seen.map(|(x, b)| x - b).collect();
        let means = truth.means().into_iter().zip(shown.stretch(&t, &seen, 1));
        bias.iter_mut()
            .zip(means)
            .for_each(|(b, (truth, seen))| *b = truth - seen);
    }
    let theta = of_map.iter().chain(&own).map(|&v| v as f32);
    Some(model.with_theta(theta.collect()))
}

/// The mean over orbits of the mean of every channel.
fn mean_of_means(orbits: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut mean = vec![0.0; n];
    for orbit in orbits {
        add(&mut mean, &Rows::new(orbit, n).means(), orbits.len());
    }
    mean
}

/// Adds one of `count` vectors whose mean is taken.
fn add(mean: &mut [f64], values: &[f64], count: usize) {
    let pairs = mean.iter_mut().zip(values);
    pairs.for_each(|(mean, value)| *mean += value / count as f64);
}

/// The directions that an observation model can show and data vary in.
struct Shown {
    /// U, N × r row-major with orthonormal columns, and its transpose.
    u: Vec<f64>,
    transposed: Vec<f64>,
    /// N and r.
    channels: usize,
    dim: usize,
}

impl Shown {
    /// The principal components of data within the columns of B; none if the data do not vary there.
    fn by(b: &[f64], (n, m): (usize, usize), truth: Rows<'_>) -> Option<Shown> {
        let all = Shown::new(linalg::svd(b, n, m).u, n);
        let r = all.dim;
        let d = eigen(&all.covariance(truth), r);
        let largest = d.value(d.extremes().0);
        let kept: Vec<usize> = (0..r)
            .filter(|&k| d.value(k) > LEAST_VARIANCE * largest)
            .collect();
        let vectors = (0..r).flat_map(|i| kept.iter().map(move |&k| (k, i)));
        let vectors: Vec<f64> = vectors.map(|(k, i)| d.vector(k, i)).collect();
        let u = product(&all.u, &vectors, (n, r, kept.len()));
        (!kept.is_empty()).then(|| Shown::new(u, n))
    }

    fn new(u: Vec<f64>, n: usize) -> Shown {
        let dim = u.len() / n;
        let mut transposed = vec![0.0; u.len()];
        linalg::transpose(&u, (n, dim), &mut transposed);
        Shown {
            u,
            transposed,
            channels: n,
            dim,
        }
    }

    /// The covariance of Uᵀx, r × r.
    fn covariance(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut y = vec![0.0; rows.len() * self.dim];
        let sizes = (rows.len(), self.channels, self.dim);
        linalg::multiply(rows.values(), &self.u, sizes, &mut y);
        let y = Rows::new(&y, self.dim);
        y.covariance(&y.means())
    }

    /// The mean of the covariances of orbits.
    fn mean_covariance(&self, orbits: &[Vec<f64>]) -> Vec<f64> {
        let mut mean = vec![0.0; self.dim * self.dim];
        for orbit in orbits {
            let covariance = self.covariance(Rows::new(orbit, self.channels));
            add(&mut mean, &covariance, orbits.len());
        }
        mean
    }

    /// X + U (T − 1) Uᵀ X of an N × k matrix X.
    fn stretch(&self, t: &[f64], x: &[f64], k: usize) -> Vec<f64> {
        let (n, r) = (self.channels, self.dim);
        let mut change = t.to_vec();
        change.iter_mut().step_by(r + 1).for_each(|t| *t -= 1.0);
        let inner = product(&self.transposed, x, (r, n, k));
        let mut y = product(&self.u, &product(&change, &inner, (r, r, k)), (n, r, k));
        y.iter_mut().zip(x).for_each(|(y, x)| *y += x);
        y
    }
}

/// The symmetric positive T with T C T = D, n × n, its eigenvalues kept within [`LARGEST_FACTOR`]; none if it is not finite.
fn transport(c: &[f64], d: &[f64], n: usize) -> Option<Vec<f64>> {
    if !c.iter().chain(d).all(|v| v.is_finite()) {
        return None;
    }
    let power = |a: &[f64], exponent| mapped(a, n, |v| v.max(0.0).powf(exponent));
    let between =
        |outer: &[f64], inner: &[f64]| product(outer, &product(inner, outer, (n, n, n)), (n, n, n));
    let middle = between(&power(c, 0.5), d);
    let t = between(&power(c, -0.5), &power(&middle, 0.5));
    let factor = |v: f64| v.clamp(1.0 / LARGEST_FACTOR, LARGEST_FACTOR);
    t.iter()
        .all(|v| v.is_finite())
        .then(|| mapped(&t, n, factor))
}

/// A symmetric n × n matrix with its eigenvalues mapped.
fn mapped(a: &[f64], n: usize, map: impl Fn(f64) -> f64) -> Vec<f64> {
    let eigen = eigen(a, n);
    let values: Vec<f64> = (0..n).map(|k| map(eigen.value(k))).collect();
    let entry = |i: usize, j: usize| {
        let terms = values.iter().enumerate();
        terms
            .map(|(k, value)| eigen.vector(k, i) * value * eigen.vector(k, j))
            .sum()
    };
    (0..n * n).map(|at| entry(at / n, at % n)).collect()
}

fn eigen(a: &[f64], n: usize) -> SymmetricEigen {
    let mut eigen = SymmetricEigen::new(n);
    eigen.matrix_mut().copy_from_slice(a);
    eigen.decompose();
    eigen
}

fn product(a: &[f64], b: &[f64], (n, k, m): (usize, usize, usize)) -> Vec<f64> {
    let mut c = vec![0.0; n * m];
    linalg::multiply(a, b, (n, k, m), &mut c);
    c
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::map::{Dims, MODELS};
    use crate::model::Architecture;
    use crate::rng::{Rng, Stream};

    /// Entries of B are rounded to f32, 6e-8 of each: covariances of a few terms to ten times that.
    const ROUNDING: f64 = 1e-6;

    fn draw(rng: &mut Rng, count: usize) -> Vec<f64> {
        (0..count).map(|_| rng.normal()).collect()
    }

    /// The unit matrix, k × k, with some of another one.
    fn near_unit(rng: &mut Rng, k: usize) -> Vec<f64> {
        let unit = (0..k * k).map(|i| f64::from(u8::from(i % (k + 1) == 0)));
        unit.map(|u| u + 0.15 * rng.normal()).collect()
    }

    /// A model whose B shows N channels of M states, and states.
    fn model(kind: ObservationKind, (n, m): (usize, usize), rng: &mut Rng) -> (Model, Vec<f64>) {
        let dims = Dims {
            latent: m,
            hidden: 4,
            inputs: 0,
        };
        let architecture = Architecture::new(MODELS[0], dims, kind, n).unwrap();
        let theta = draw(rng, architecture.layout().len());
        let theta = theta.into_iter().map(|v| v as f32).collect();
        (Model::new(architecture, theta), draw(rng, 400 * m))
    }

    /// What a model shows of states.
    fn seen(model: &Model, states: &[f64]) -> Vec<f64> {
        let observation = model.architecture().observation;
        let rows = states.len() / observation.latent;
        let mut x = vec![0.0; rows * observation.dim_obs];
        observation.observe_all(model.parameters().1, states, &mut x);
        x
    }

    fn shown(model: &Model, truth: Rows<'_>) -> Shown {
        let observation = model.architecture().observation;
        let (n, m) = (observation.dim_obs, observation.latent);
        Shown::by(&model.parameters().1[..n * m], (n, m), truth).unwrap()
    }

    fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    }

    const KINDS: [ObservationKind; 2] = [ObservationKind::Linear, ObservationKind::LinearWithBias];

    /// More channels than states, as many, and fewer.
    const SIZES: [(usize, usize); 3] = [(5, 3), (3, 3), (2, 4)];

    #[test]
    fn orbits_then_vary_as_the_data_do_within_what_b_shows() {
        let mut rng = Rng::new(5, Stream::MonteCarlo);
        for (kind, (n, m)) in KINDS.into_iter().flat_map(|k| SIZES.map(|s| (k, s))) {
            let (model, states) = model(kind, (n, m), &mut rng);
            let generated = seen(&model, &states);
            // The same rows, turned and stretched a little, elsewhere.
            let truth = product(&generated, &near_unit(&mut rng, n), (400, n, n));
            let truth: Vec<f64> = truth.iter().map(|x| x + 3.0).collect();
            let truth = Rows::new(&truth, n);
            let stretched = matched(&model, truth, &[generated]).unwrap();
            let again = seen(&stretched, &states);
            let (again, shown) = (Rows::new(&again, n), shown(&model, truth));
            let expected = shown.covariance(truth);
            let scale = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            let error = largest_difference(&shown.covariance(again), &expected);
            assert!(error < ROUNDING * scale, "{kind:?} {n} {m}: {error}");
            if kind == ObservationKind::LinearWithBias {
                // Means of some 3 are b and B times means of states, rounded by 6e-8 each.
                assert!(largest_difference(&again.means(), &truth.means()) < 3.0 * ROUNDING);
            }
            let of_map = model.map().layout().len();
            assert_eq!(stretched.theta()[..of_map], model.theta()[..of_map]);
        }
    }

    #[test]
    fn orbits_that_vary_as_the_data_do_leave_b_as_it_is() {
        let mut rng = Rng::new(6, Stream::MonteCarlo);
        for (n, m) in SIZES {
            let (model, states) = model(ObservationKind::Linear, (n, m), &mut rng);
            let generated = seen(&model, &states);
            let rows = Rows::new(&generated, n);
            let same = matched(&model, rows, slice::from_ref(&generated)).unwrap();
            let error = largest_difference(same.parameters().1, model.parameters().1);
            assert!(error < ROUNDING, "{error}");
        }
    }

    #[test]
    fn one_channel_is_stretched_by_the_ratio_of_standard_deviations() {
        let mut rng = Rng::new(7, Stream::MonteCarlo);
        let (model, states) = model(ObservationKind::Linear, (1, 2), &mut rng);
        let generated = seen(&model, &states);
        for (factor, applied) in [(0.3, 1.0 / 3.0), (0.4, 0.4), (2.5, 2.5), (3.2, 3.0)] {
            let truth: Vec<f64> = generated.iter().map(|x| 7.0 - factor * x).collect();
            let stretched = matched(&model, Rows::new(&truth, 1), slice::from_ref(&generated));
            let expected = model.parameters().1.iter().map(|b| applied * b);
            let expected: Vec<f64> = expected.collect();
            let error = largest_difference(stretched.unwrap().parameters().1, &expected);
            assert!(error < 3.0 * ROUNDING, "{factor}: {error}");
        }
    }

    /// ⟨‖T y − y‖²⟩ = tr (T − 1) C (T − 1)ᵀ for rows y of covariance C.
    fn moved(t: &[f64], c: &[f64], n: usize) -> f64 {
        let mut change = t.to_vec();
        change.iter_mut().step_by(n + 1).for_each(|t| *t -= 1.0);
        let half = product(&change, c, (n, n, n));
        half.iter().zip(&change).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn no_other_stretching_to_the_same_covariance_moves_observations_less() {
        let (mut rng, n) = (Rng::new(8, Stream::MonteCarlo), 4);
        let mut covariance = || {
            let rows = product(&draw(&mut rng, 50 * n), &near_unit(&mut rng, n), (50, n, n));
            let rows = Rows::new(&rows, n);
            rows.covariance(&rows.means())
        };
        let (c, d) = (covariance(), covariance());
        let t = transport(&c, &d, n).unwrap();
        let least = moved(&t, &c, n);
        let (from, to) = (mapped(&c, n, |v| 1.0 / v.sqrt()), mapped(&d, n, f64::sqrt));
        for _ in 0..50 {
            // T' = D^(1/2) Q C^(−1/2) has T' C T'ᵀ = D for every rotation Q.
            let q = linalg::svd(&near_unit(&mut rng, n), n, n);
            let mut v = vec![0.0; n * n];
            linalg::transpose(&q.v, (n, n), &mut v);
            let q = product(&q.u, &v, (n, n, n));
            let other = product(&to, &product(&q, &from, (n, n, n)), (n, n, n));
            assert!(moved(&other, &c, n) >= least);
        }
    }

    #[test]
    fn what_is_shown_does_not_depend_on_the_coordinates_of_states() {
        let mut rng = Rng::new(9, Stream::MonteCarlo);
        let (n, m) = (5, 3);
        let (model, states) = model(ObservationKind::Linear, (n, m), &mut rng);
        let generated = seen(&model, &states);
        let truth = product(&generated, &near_unit(&mut rng, n), (400, n, n));
        let (truth, generated) = (Rows::new(&truth, n), [generated]);
        // B S shows of S⁻¹z what B shows of z; powers of two are not rounded.
        let scales = [0.25_f64, 2.0, 8.0];
        let mut theta = model.theta().to_vec();
        let b = &mut theta[model.map().layout().len()..];
        for (i, b) in b.iter_mut().enumerate() {
            *b *= scales[i % m] as f32;
        }
        let scaled: Vec<f64> = (0..states.len())
            .map(|i| states[i] / scales[i % m])
            .collect();
        let one = matched(&model, truth, &generated).unwrap();
        let other = matched(&model.with_theta(theta), truth, &generated).unwrap();
        let error = largest_difference(&seen(&one, &states), &seen(&other, &scaled));
        // Sums of three products of some 3.
        assert!(error < 10.0 * ROUNDING, "{error}");
    }

    #[test]
    fn orbits_without_a_spread_are_not_matched() {
        let mut rng = Rng::new(10, Stream::MonteCarlo);
        let (model, states) = model(ObservationKind::Linear, (3, 3), &mut rng);
        let truth = seen(&model, &states);
        let truth = Rows::new(&truth, 3);
        let still = vec![0.0; 30];
        assert!(matched(&model, truth, &[still]).is_none());
        assert!(matched(&model, truth, &[]).is_none());
        for value in [f64::NAN, f64::INFINITY, 1e200] {
            let mut generated = truth.values().to_vec();
            generated[7] = value;
            assert!(matched(&model, truth, &[generated]).is_none());
        }
        let (identity, _) = self::model(ObservationKind::Identity, (3, 3), &mut rng);
        assert!(matched(&identity, truth, &[truth.values().to_vec()]).is_none());
    }

    #[test]
    fn directions_in_which_the_data_do_not_vary_stay_as_trained() {
        let mut rng = Rng::new(11, Stream::MonteCarlo);
        let (n, m) = (3, 3);
        let (model, states) = model(ObservationKind::Linear, (n, m), &mut rng);
        let mut theta = model.theta().to_vec();
        let b = &mut theta[model.map().layout().len()..];
        let unit = near_unit(&mut rng, n).into_iter();
        b.iter_mut().zip(unit).for_each(|(b, u)| *b = u as f32);
        let model = model.with_theta(theta);
        let generated = seen(&model, &states);
        // The third channel of the data is a copy of the first; the model's has a life of its own.
        let copied = generated
            .chunks_exact(n)
            .flat_map(|x| [1.2 * x[0], x[1], 1.2 * x[0]]);
        let truth: Vec<f64> = copied.collect();
        let truth = Rows::new(&truth, n);
        let stretched = matched(&model, truth, slice::from_ref(&generated)).unwrap();
        let again = seen(&stretched, &states);
        let shown = shown(&model, truth);
        assert_eq!(shown.dim, 2);
        let expected = shown.covariance(truth);
        let scale = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let error = largest_difference(&shown.covariance(Rows::new(&again, n)), &expected);
        assert!(error < ROUNDING * scale, "{error}");
        let apart = |x: &[f64]| x.chunks_exact(n).map(|x| x[0] - x[2]).collect::<Vec<f64>>();
        assert!(largest_difference(&apart(&again), &apart(&generated)) < 10.0 * ROUNDING);
    }

    #[test]
    fn a_wide_range_of_scales_is_stretched_evenly() {
        let mut rng = Rng::new(12, Stream::MonteCarlo);
        let scales = [1.0, 0.03, 0.0015];
        let mut rows = draw(&mut rng, 400 * 3);
        rows.iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x *= scales[i % 3]);
        let rows = Rows::new(&rows, 3);
        let c = rows.covariance(&rows.means());
        let d: Vec<f64> = c.iter().map(|c| 1.21 * c).collect();
        let t = transport(&c, &d, 3).unwrap();
        let expected: Vec<f64> = (0..9).map(|i| if i % 4 == 0 { 1.1 } else { 0.0 }).collect();
        // Roots of products of covariances are rounded by 1e-16 of the largest, 2e5 of the least: of the square 4e11.
        assert!(largest_difference(&t, &expected) < 1e-4, "{t:?}");
    }

    #[test]
    fn an_orbit_that_settles_elsewhere_does_not_count_as_spread() {
        let mut rng = Rng::new(13, Stream::MonteCarlo);
        let (model, states) = model(ObservationKind::Linear, (2, 2), &mut rng);
        let here = seen(&model, &states);
        let there: Vec<f64> = here.iter().map(|x| x + 50.0).collect();
        let truth = Rows::new(&here, 2);
        let same = matched(&model, truth, &[here.clone(), there]).unwrap();
        let error = largest_difference(same.parameters().1, model.parameters().1);
        assert!(error < ROUNDING, "{error}");
    }
}
