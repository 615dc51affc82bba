//! The windows of a batch: drawn alike by every worker, laid side by side in the lanes of a vector, with noise.

use crate::rng::{Rng, Stream};
use crate::simd::{Abreast, GROUP, Isa, Lanes, dispatch};
use crate::windows::Windows;

/// How batches are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drawing {
    /// Windows S of a batch.
    pub(crate) batch: usize,
    /// Standard deviation of the noise added to every window.
    pub(crate) noise: f64,
    pub(crate) seed: u64,
    pub(crate) isa: Isa,
}

/// The windows of an update.
pub(crate) struct Batch<'a> {
    windows: &'a Windows,
    drawing: Drawing,
    /// Their first rows.
    pub(crate) starts: Vec<usize>,
    /// Room for the noise of a window, if there is noise.
    noise: Vec<f32>,
    rng: Rng,
    /// The update that the stream stands before.
    next: u64,
    /// The update that was drawn.
    update: u64,
}

/// Eight or sixteen windows side by side.
pub(crate) struct Pack<P> {
    dim_obs: usize,
    /// Observations, (T + 1) × N.
    pub(crate) x: Vec<P>,
    /// c in used lanes, 0 in others.
    pub(crate) weight: P,
    /// 1 where there is an observation, (T + 1) × N; empty if none is missing anywhere.
    pub(crate) mask: Vec<P>,
    /// 1 where a row is complete, T + 1.
    pub(crate) complete: Vec<P>,
    /// Whether a row is complete in all lanes, T + 1.
    pub(crate) whole: Vec<bool>,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(windows: &'a Windows, drawing: Drawing) -> Batch<'a> {
        let numbers = (windows.window() + 1) * windows.dim_obs();
        Batch {
            windows,
            drawing,
            starts: vec![0; drawing.batch],
            noise: vec![0.0; if drawing.noise > 0.0 { numbers } else { 0 }],
            rng: Rng::new(drawing.seed, Stream::Windows),
            next: 0,
            update: 0,
        }
    }

    /// Draws the windows of an update, the same on every worker.
    pub(crate) fn draw(&mut self, update: u64) {
        if self.next != update {
            // Two 32-bit words a window.
            let before = u128::from(update) * self.drawing.batch as u128;
            self.rng.seek(2 * before);
        }
        for start in &mut self.starts {
            *start = self.windows.draw(&mut self.rng);
        }
        (self.update, self.next) = (update, update + 1);
    }

    /// Number of observations that the batch predicts.
    pub(crate) fn observed(&self) -> usize {
        let observed = |&start: &usize| self.windows.observed_from(start);
        self.starts.iter().map(observed).sum()
    }

    /// Windows of a pack that count.
    pub(crate) fn used<P: Lanes>(&self, pack: usize) -> usize {
        (self.drawing.batch - pack * P::WIDTH).min(P::WIDTH)
    }

    /// Fills the lanes of a pack with windows, and `s` with their inputs, T × K; lanes beyond the batch repeat the last window
    /// and count nothing.
    pub(crate) fn load<P: Lanes>(&mut self, pack: usize, to: &mut Pack<P>, s: &mut [P]) {
        let (windows, batch) = (self.windows, self.drawing.batch);
        let (n, k, t) = (windows.dim_obs(), windows.dim_input(), windows.window());
        let weight = 2.0 / self.observed().max(1) as f32;
        for (lane, of_lane) in to.weight.lanes_mut().iter_mut().enumerate() {
            let is_used = pack * P::WIDTH + lane < batch;
            *of_lane = if is_used { weight } else { 0.0 };
        }
        for group in 0..P::WIDTH / GROUP {
            let first = pack * P::WIDTH + group * GROUP;
            let starts: [usize; GROUP] =
                std::array::from_fn(|lane| self.starts[(first + lane).min(batch - 1)]);
            let put =
                |windows, to| dispatch::<P, _>(self.drawing.isa, Abreast { windows, group, to });
            put(starts.map(|s| &windows.x_from(s)[..(t + 1) * n]), &mut to.x);
            if windows.has_missing() {
                put(
                    starts.map(|s| &windows.mask_from(s)[..(t + 1) * n]),
                    &mut to.mask,
                );
            }
            // The input of the state that a step produces.
            put(starts.map(|s| &windows.s_from(s)[k..][..t * k]), s);
        }
        if windows.has_missing() {
            to.find_complete();
        }
        if self.drawing.noise > 0.0 {
            // Lanes beyond the batch repeat the last window with its noise.
            let window = |lane: usize| (batch - 1).min(pack * P::WIDTH + lane);
            (0..P::WIDTH).for_each(|lane| self.add_noise(window(lane), lane, &mut to.x));
        }
    }

    /// Fills the lanes of a pack with the inputs of all rows but the last, T × K.
    pub(crate) fn load_inputs<P: Lanes>(&self, pack: usize, s: &mut [P]) {
        for group in 0..P::WIDTH / GROUP {
            let first = pack * P::WIDTH + group * GROUP;
            let windows = std::array::from_fn(|lane| {
                let start = self.starts[(first + lane).min(self.drawing.batch - 1)];
                &self.windows.s_from(start)[..s.len()]
            });
            let abreast = Abreast {
                windows,
                group,
                to: &mut *s,
            };
            dispatch::<P, _>(self.drawing.isa, abreast);
        }
    }

    /// Noise of a window, from a place in its stream that follows from the update and the window.
    fn add_noise<P: Lanes>(&mut self, window: usize, lane: usize, x: &mut [P]) {
        let Drawing {
            batch,
            noise,
            seed,
            isa,
        } = self.drawing;
        let mut rng = Rng::new(seed, Stream::Noise);
        // A word a number, an even number of them.
        let before = u128::from(self.update) * batch as u128 + window as u128;
        rng.seek(before * x.len().next_multiple_of(2) as u128);
        rng.fill_normal(isa, &mut self.noise);
        for (x, normal) in x.iter_mut().zip(&self.noise) {
            x.lanes_mut()[lane] += noise as f32 * normal;
        }
    }
}

impl<P: Lanes> Pack<P> {
    /// Room for windows of T steps of N channels.
    pub(crate) fn new(dim_obs: usize, window: usize) -> Pack<P> {
        Pack {
            dim_obs,
            x: vec![P::ZERO; (window + 1) * dim_obs],
            weight: P::ZERO,
            mask: Vec::new(),
            complete: vec![ones(); window + 1],
            whole: vec![true; window + 1],
        }
    }

    /// Room for windows of some data.
    pub(crate) fn of(windows: &Windows) -> Pack<P> {
        let pack = Pack::new(windows.dim_obs(), windows.window());
        if windows.has_missing() {
            pack.with_missing()
        } else {
            pack
        }
    }

    /// Room for a mask, which is then filled with every window.
    pub(crate) fn with_missing(mut self) -> Pack<P> {
        self.mask = vec![P::ZERO; self.x.len()];
        self
    }

    /// Looks through the mask for rows that are complete.
    pub(crate) fn find_complete(&mut self) {
        let rows = self.mask.chunks_exact(self.dim_obs);
        for ((row, complete), whole) in rows.zip(&mut self.complete).zip(&mut self.whole) {
            *complete = ones();
            for there in row {
                let lanes = complete.lanes_mut().iter_mut().zip(there.lanes());
                lanes.for_each(|(complete, there)| *complete *= there);
            }
            *whole = complete.lanes().iter().all(|&lane| lane > 0.0);
        }
    }

    /// 1 in the lanes in which predicted row t, from 0, is complete.
    pub(crate) fn counted(&self, t: usize) -> &P {
        &self.complete[t + 1]
    }
}

/// The sum of each group of lanes, over the first `used` of them.
pub(crate) fn group_sums(lanes: &[f32], used: usize) -> [f32; 2] {
    let sum = |lanes: &[f32]| lanes.iter().sum();
    let used = &lanes[..used.min(lanes.len())];
    let (low, high) = used.split_at(used.len().min(GROUP));
    [sum(low), sum(high)]
}

/// 1 in every lane.
fn ones<P: Lanes>() -> P {
    let mut ones = P::ZERO;
    ones.lanes_mut().fill(1.0);
    ones
}
