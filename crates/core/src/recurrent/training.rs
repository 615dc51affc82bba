//! Training of recurrent networks: the objective that the loop of [`train`](crate::train) calls.
//!
//! A batch of windows is cut into chunks of T + 1 rows that follow one another. Every chunk is an update; the states that it ends with
//! are where the next chunk starts, without gradient (truncated back-propagation through time). One chunk per batch is plain
//! back-propagation through windows that start from zero states.
//!
//! ```text
//! rows   start ├──── T + 1 ────┤├──── T + 1 ────┤├──── …       update 1, 2, …
//! state  0 ────────────────▶ v ────────────────▶ v ───▶ …
//! ```
//!
//! A chunk forecasts T of its T + 1 rows, the first of the next chunk is forecast by none; its last row is only forecast, never an
//! input.

use std::ops::Range;

use super::draw::{Passes, Remaining};
use super::lanes::{Backward, Feed, Forward, LaneCell, Sweep};
use super::{Cell, CellSizes};
use crate::rng::{Rng, Stream};
use crate::simd::{Abreast, GROUP, Groups, Lanes, Lanes8, Lanes16, dispatch};
use crate::train::batch::group_sums;
use crate::train::exchange::Slot;
use crate::train::objective::{Job, Measured, Objective, Team};
use crate::train::{Course, Outcome, Register, State, Watch, worker};
use crate::windows::Windows;

/// How batches are cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunks {
    /// Steps T of a chunk, which has T + 1 rows.
    pub steps: usize,
    /// Forecasts at the end of a chunk that count.
    pub counted: usize,
    /// Chunks of a batch.
    pub count: usize,
}

/// What training of a recurrent network does, all settings resolved.
#[derive(Debug, Clone)]
pub struct Plan<C> {
    /// The cell.
    pub cell: C,
    /// What the loop does.
    pub course: Course,
    /// Windows of a batch S.
    pub batch: usize,
    /// Batches of an epoch.
    pub batches_per_epoch: u64,
    /// How they are cut.
    pub chunks: Chunks,
    /// The training data.
    pub windows: Windows,
    /// What validation losses are of, where the learning rate falls in rounds.
    pub validation: Option<Windows>,
    /// How windows are drawn without replacement; `None` draws each from all.
    pub passes: Option<Passes>,
    /// Strength α of forcing at the start.
    pub alpha: f64,
    /// Its strength at the end; it changes linearly from epoch to epoch.
    pub alpha_end: f64,
}

impl<C: Cell> Plan<C> {
    /// Updates of an epoch.
    pub fn updates_per_epoch(&self) -> u64 {
        self.batches_per_epoch * self.chunks.count as u64
    }

    /// α of an epoch, from 0.
    fn alpha_of(&self, epoch: u64) -> f64 {
        let last = self.course.schedule.epochs().saturating_sub(1).max(1);
        let done = (epoch as f64 / last as f64).min(1.0);
        self.alpha + (self.alpha_end - self.alpha) * done
    }

    /// Whether inputs are the data, or forecasts are among them.
    fn feed(&self, epoch: u64) -> Feed {
        let alpha = self.alpha_of(epoch) as f32;
        if alpha == 1.0 && !self.has_missing() {
            Feed::Data
        } else {
            Feed::Mixed { alpha }
        }
    }

    fn has_missing(&self) -> bool {
        let mut all = [Some(&self.windows), self.validation.as_ref()]
            .into_iter()
            .flatten();
        all.any(Windows::has_missing)
    }

    /// Trains from a state to the end.
    pub(crate) fn train<L: LaneCell<Exact = C>>(
        &self,
        from: State,
        watch: &mut dyn Watch,
    ) -> Outcome {
        match Register::of(&self.course, self.batch) {
            Register::Wide => self.with_job::<L, Lanes16, _>(|job| worker::run(job, from, watch)),
            Register::Narrow | Register::Paired => {
                self.with_job::<L, Lanes8, _>(|job| worker::run(job, from, watch))
            }
        }
    }

    fn with_job<L: LaneCell<Exact = C>, P: Lanes, T>(&self, call: impl FnOnce(Job<'_>) -> T) -> T {
        call(Job {
            course: &self.course,
            packs: self.batch.div_ceil(P::WIDTH),
            blank: &Slot::new(self.cell.layout().len(), P::WIDTH / GROUP),
            objective: &|| Box::new(Chunked::<C, L, P>::new(self)),
        })
    }
}

/// Batches of an epoch that takes one pass over the data.
pub fn batches_of_a_pass(
    windows: &Windows,
    chunks: Chunks,
    passes: Passes,
    batch: usize,
    seed: u64,
) -> usize {
    let remaining = Remaining::new(passes, starts(windows, chunks));
    remaining.count(&mut Rng::new(seed, Stream::Windows), batch)
}

/// Rows at which a window may start: every one of its chunks begins with a complete row.
fn starts(windows: &Windows, chunks: Chunks) -> Vec<usize> {
    let begins_complete = |start: &usize| {
        let firsts = (0..chunks.count).map(|chunk| start + chunk * (chunks.steps + 1));
        let mut whole = firsts.map(|row| windows.observed_in(row..row + 1) == windows.dim_obs());
        whole.all(|is_whole| is_whole)
    };
    windows.all_starts().filter(begins_complete).collect()
}

/// Words of a random stream that an epoch may use.
const WORDS_OF_AN_EPOCH: u128 = 1 << 40;

/// Draws the windows of batches.
enum Drawing {
    /// Each from all.
    Replaced,
    /// Without replacement.
    Passes(Remaining),
}

/// Chunks of windows in the lanes of vectors, as one worker sees them.
struct Chunked<'a, C, L, P> {
    plan: &'a Plan<C>,
    cell: L,
    sweep: Sweep<P>,
    drawing: Drawing,
    rng: Rng,
    starts: Vec<usize>,
    /// The chunk of the current update.
    chunk: usize,
    /// States of each pack behind the last chunk, both halves.
    carried: Vec<[Vec<P>; 2]>,
    /// Values that the current update forecasts.
    observed: usize,
}

impl<'a, C: Cell, L: LaneCell<Exact = C>, P: Lanes> Chunked<'a, C, L, P> {
    fn new(plan: &'a Plan<C>) -> Chunked<'a, C, L, P> {
        let (sizes, chunks) = (plan.cell.sizes(), plan.chunks);
        let sweep = Sweep::new(sizes, chunks.steps, chunks.counted);
        let blank = || vec![P::ZERO; sizes.hidden];
        let packs = plan.batch.div_ceil(P::WIDTH);
        Chunked {
            cell: L::new::<P>(&plan.cell),
            sweep: if plan.has_missing() {
                sweep.with_missing()
            } else {
                sweep
            },
            drawing: match plan.passes {
                None => Drawing::Replaced,
                Some(passes) => {
                    Drawing::Passes(Remaining::new(passes, starts(&plan.windows, chunks)))
                }
            },
            rng: Rng::new(plan.course.seed, Stream::Windows),
            starts: vec![0; plan.batch],
            chunk: 0,
            carried: (0..packs).map(|_| [blank(), blank()]).collect(),
            observed: 0,
            plan,
        }
    }

    /// Draws the windows of a batch, the same on every worker. Every epoch has its place in the stream.
    fn draw(&mut self, update: u64) {
        let is_first = update.is_multiple_of(self.plan.updates_per_epoch());
        if is_first {
            let epoch = update / self.plan.updates_per_epoch();
            self.rng.seek(u128::from(epoch) * WORDS_OF_AN_EPOCH);
        }
        match &mut self.drawing {
            Drawing::Replaced => {
                for start in &mut self.starts {
                    *start = self.plan.windows.draw(&mut self.rng);
                }
            }
            Drawing::Passes(remaining) => {
                if is_first {
                    remaining.begin();
                }
                remaining.draw(&mut self.rng, &mut self.starts);
            }
        }
    }

    /// The rows of a chunk of the window that starts at a row.
    fn rows(&self, start: usize, chunk: usize) -> Range<usize> {
        let rows = self.plan.chunks.steps + 1;
        start + chunk * rows..start + (chunk + 1) * rows
    }

    /// Values that count in a chunk of windows.
    fn observed(&self, windows: &Windows, starts: &[usize], chunk: usize) -> usize {
        let counted = |&start: &usize| {
            let end = self.rows(start, chunk).end;
            windows.observed_in(end - self.plan.chunks.counted..end)
        };
        starts.iter().map(counted).sum()
    }

    /// Fills the lanes of a pack with a chunk; lanes beyond the batch repeat the last window and count nothing.
    fn load(
        &mut self,
        windows: &Windows,
        starts: &[usize],
        (pack, chunk): (usize, usize),
        observed: usize,
    ) {
        let CellSizes {
            channels: n,
            inputs: k,
            ..
        } = self.plan.cell.sizes();
        let weight = 2.0 / observed.max(1) as f32;
        for (lane, of_lane) in self.sweep.weight.lanes_mut().iter_mut().enumerate() {
            let is_used = pack * P::WIDTH + lane < starts.len();
            *of_lane = if is_used { weight } else { 0.0 };
        }
        for group in 0..P::WIDTH / GROUP {
            let first = pack * P::WIDTH + group * GROUP;
            let rows: [Range<usize>; GROUP] = std::array::from_fn(|lane| {
                self.rows(starts[(first + lane).min(starts.len() - 1)], chunk)
            });
            let put = |windows, to| {
                dispatch::<P, _>(self.plan.course.isa, Abreast { windows, group, to });
            };
            let steps = self.plan.chunks.steps;
            let of = |values: fn(&Windows, usize) -> &[f32], len: usize| {
                rows.clone().map(|rows| &values(windows, rows.start)[..len])
            };
            put(of(Windows::x_from, (steps + 1) * n), &mut self.sweep.x);
            put(of(Windows::s_from, steps * k), &mut self.sweep.s);
            if windows.has_missing() {
                put(
                    of(Windows::mask_from, (steps + 1) * n),
                    &mut self.sweep.mask,
                );
            } else {
                self.sweep
                    .mask
                    .iter_mut()
                    .for_each(|there| there.lanes_mut().fill(1.0));
            }
        }
    }

    /// Starts a chunk of a pack from where the one before has ended.
    fn continue_from(&mut self, pack: usize, chunk: usize) {
        if chunk == 0 {
            self.sweep.forget();
            return;
        }
        let (y, w) = self.sweep.first_state();
        let [carried_y, carried_w] = &self.carried[pack];
        y.copy_from_slice(carried_y);
        w.copy_from_slice(carried_w);
    }

    fn forward(&mut self, feed: Feed) {
        let forward = Forward {
            cell: &self.cell,
            feed,
            sweep: &mut self.sweep,
        };
        dispatch::<P, _>(self.plan.course.isa, forward);
    }

    fn carry(&mut self, pack: usize) {
        let (y, w) = self.sweep.last_state();
        let [carried_y, carried_w] = &mut self.carried[pack];
        carried_y.copy_from_slice(y);
        carried_w.copy_from_slice(w);
    }

    /// Windows of a pack that count.
    fn used(&self, pack: usize) -> usize {
        (self.plan.batch - pack * P::WIDTH).min(P::WIDTH)
    }
}

impl<C: Cell, L: LaneCell<Exact = C>, P: Lanes> Objective for Chunked<'_, C, L, P> {
    fn prepare(&mut self, theta: &[f32]) {
        self.cell.prepare(theta);
    }

    fn begin(&mut self, state: &mut State, _team: &Team<'_>) {
        let chunks = self.plan.chunks.count as u64;
        self.chunk = (state.update % chunks) as usize;
        if self.chunk == 0 {
            self.draw(state.update);
        }
        self.observed = self.observed(&self.plan.windows, &self.starts, self.chunk);
        state.alpha = self.plan.alpha_of(state.epoch);
    }

    fn sweep(&mut self, state: &State, pack: usize, slot: &mut Slot) {
        let (plan, chunk, feed) = (self.plan, self.chunk, self.plan.feed(state.epoch));
        let starts = std::mem::take(&mut self.starts);
        self.load(&plan.windows, &starts, (pack, chunk), self.observed);
        self.starts = starts;
        self.continue_from(pack, chunk);
        self.forward(feed);
        let backward = Backward {
            cell: &self.cell,
            feed,
            sweep: &mut self.sweep,
            groups: Groups(&mut slot.groups),
        };
        dispatch::<P, _>(plan.course.isa, backward);
        slot.squares = group_sums(self.sweep.squares(), self.used(pack));
        self.carry(pack);
    }

    fn finish(&mut self, _state: &State, squares: f64, _gradient: &mut [f32]) -> Measured {
        Measured {
            loss: squares / self.observed.max(1) as f64,
            penalty: 0.0,
        }
    }

    fn ends_epoch(&mut self, state: &State) -> bool {
        state.update.is_multiple_of(self.plan.updates_per_epoch())
    }

    /// The mean squared error of one pass over the validation data, as it is drawn for training.
    fn validate(&mut self, state: &State, team: &Team<'_>) -> f64 {
        let plan = self.plan;
        let windows = plan
            .validation
            .as_ref()
            .expect("rounds have validation data");
        let passes = plan
            .passes
            .expect("rounds are of methods that draw in passes");
        let mut rng = Rng::new(plan.course.seed, Stream::MonteCarlo);
        rng.seek(u128::from(state.epoch) * WORDS_OF_AN_EPOCH);
        let mut remaining = Remaining::new(passes, starts(windows, plan.chunks));
        let (mut batches, mut observed) = (Vec::new(), 0);
        while batches.is_empty() || !remaining.is_over() {
            let mut starts = vec![0; plan.batch];
            remaining.draw(&mut rng, &mut starts);
            let of_chunk = |chunk: usize| self.observed(windows, &starts, chunk);
            observed += (0..plan.chunks.count).map(of_chunk).sum::<usize>();
            batches.push(starts);
        }
        let feed = plan.feed(state.epoch);
        let squares = team.share(
            state,
            |pack, slot| slot.squares = self.squares_of(windows, &batches, pack, feed),
            0.0,
            |all, slot| all + slot.squares.iter().map(|&s| f64::from(s)).sum::<f64>(),
        );
        squares / observed.max(1) as f64
    }

    fn alpha(&self, state: &State) -> f64 {
        state.alpha
    }
}

impl<C: Cell, L: LaneCell<Exact = C>, P: Lanes> Chunked<'_, C, L, P> {
    /// Σ (x̂ − x)² of a pack over all chunks of some batches.
    fn squares_of(
        &mut self,
        windows: &Windows,
        batches: &[Vec<usize>],
        pack: usize,
        feed: Feed,
    ) -> [f32; 2] {
        let mut squares = [0.0; 2];
        for starts in batches {
            for chunk in 0..self.plan.chunks.count {
                self.load(windows, starts, (pack, chunk), 1);
                self.continue_from(pack, chunk);
                self.forward(feed);
                self.carry(pack);
                let of_chunk = group_sums(self.sweep.squares(), self.used(pack));
                squares
                    .iter_mut()
                    .zip(of_chunk)
                    .for_each(|(sum, s)| *sum += s);
            }
        }
        squares
    }
}
