//! How many workers train: as many as pay, found out on the way.
//!
//! Two workers meet at every update. On an idle machine that halves the time; where other programs want the cores, one worker
//! waits for the other to be scheduled, and two are slower than one. Bits do not depend on their number, so it is measured:
//!
//! ```text
//! one worker → time some epochs → two → time some epochs → four, while that is faster → keep the best
//!                      ↑                                                                     |
//!                      └── try its neighbours again after a while, or when epochs change their pace
//! ```
//!
//! A trial takes [`TRIAL`] or one epoch, and the next one is at least [`FEWEST`] times as far away as it took, twice as far
//! each time that nothing is gained. So little is lost to trials, whatever they find.

/// Seconds of a trial, at least.
const TRIAL: f64 = 0.1;

/// How far the next trial is away, in lengths of a trial: at first, and at most.
const FEWEST: f64 = 15.0;
const MOST: f64 = 480.0;

/// Another number of workers is taken if it needs less than this share of the time.
const GAIN: f64 = 0.95;

/// Stretches of training that differ by more than this, in a row, show that the machine has changed.
const CHANGED: f64 = 1.3;
const IN_A_ROW: u32 = 3;

/// How long an epoch took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub(super) updates: usize,
    pub(super) seconds: f64,
}

/// Chooses the number of workers.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    /// The numbers to choose from, rising.
    counts: Vec<usize>,
    /// Seconds per update when each was last timed.
    seconds: Vec<Option<f64>>,
    /// The number at work.
    at: usize,
    /// The best of those that were timed.
    best: usize,
    /// Updates and seconds of this stretch.
    stretch: (f64, f64),
    /// How far the next trial is away, in lengths of a trial, and in seconds.
    distance: f64,
    left: f64,
    /// Stretches in a row with another pace than the first.
    changed: u32,
}

impl Pace {
    /// Up to `most` workers, one at first.
    pub(super) fn new(most: usize) -> Pace {
        let powers = (0..).map(|k| 1 << k).take_while(|&count| count < most);
        let counts: Vec<usize> = powers.chain([most]).collect();
        Pace {
            seconds: vec![None; counts.len()],
            counts,
            at: 0,
            best: 0,
            stretch: (0.0, 0.0),
            distance: FEWEST,
            left: 0.0,
            changed: 0,
        }
    }

    /// The number of workers now.
    pub(super) fn workers(&self) -> usize {
        self.counts[self.at]
    }

    /// Takes note of an epoch; says whether the number of workers is now another.
    pub(super) fn note(&mut self, taken: Taken) -> bool {
        if self.counts.len() == 1 {
            return false;
        }
        self.stretch.0 += taken.updates as f64;
        self.stretch.1 += taken.seconds;
        if self.stretch.1 < TRIAL {
            return false;
        }
        let (updates, length) = std::mem::take(&mut self.stretch);
        let before = self.at;
        if self.at == self.best && self.seconds[self.at].is_some() {
            self.keep(length / updates, length);
        } else {
            self.judge(length / updates, length);
        }
        self.at != before
    }

    /// A stretch with the best number: it goes on, unless it is time for trials.
    fn keep(&mut self, seconds: f64, length: f64) {
        let known = self.seconds[self.at].expect("it was timed");
        let ratio = (seconds / known).max(known / seconds);
        self.changed = if ratio > CHANGED { self.changed + 1 } else { 0 };
        if self.changed == IN_A_ROW {
            self.distance = FEWEST;
            self.left = 0.0;
        }
        self.left -= length;
        if self.left <= 0.0 {
            self.changed = 0;
            self.seconds.fill(None);
            self.seconds[self.at] = Some(seconds);
            self.try_next(length);
        }
    }

    /// The end of a trial.
    fn judge(&mut self, seconds: f64, length: f64) {
        self.seconds[self.at] = Some(seconds);
        let of_best = self.seconds[self.best].unwrap_or(f64::INFINITY);
        if seconds < GAIN * of_best {
            self.best = self.at;
            self.distance = FEWEST;
        }
        self.try_next(length);
    }

    /// Goes on to a neighbour of the best that has not been timed, or else to the best for a while.
    fn try_next(&mut self, length: f64) {
        let neighbours = [self.best + 1, self.best.wrapping_sub(1)];
        let untimed = |&i: &usize| i < self.counts.len() && self.seconds[i].is_none();
        match neighbours.into_iter().find(untimed) {
            Some(neighbour) => self.at = neighbour,
            None => {
                self.at = self.best;
                self.left = self.distance * length.max(TRIAL);
                self.distance = (2.0 * self.distance).min(MOST);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains for so many seconds where an update takes `cost(workers, now)` seconds, in epochs of ten updates; gives the updates
    /// made and the number of workers at the end.
    fn train(most: usize, until: f64, cost: impl Fn(usize, f64) -> f64) -> (usize, usize) {
        let (mut pace, mut now, mut updates) = (Pace::new(most), 0.0, 0);
        while now < until {
            let taken = Taken {
                updates: 10,
                seconds: 10.0 * cost(pace.workers(), now),
            };
            now += taken.seconds;
            updates += taken.updates;
            pace.note(taken);
        }
        (updates, pace.workers())
    }

    #[test]
    fn an_idle_machine_has_all_workers_and_a_busy_one_a_single_one() {
        let idle = |workers: usize, _: f64| 1e-3 / workers as f64;
        let busy = |workers: usize, _: f64| 1e-3 * (1.0 + 3.5 * (workers - 1) as f64);
        // 60 s of the best fixed number are 240,000 and 60,000 updates.
        let (updates, workers) = train(4, 60.0, idle);
        assert!(workers == 4 && updates as f64 > 240e3 / 1.1, "{updates}");
        let (updates, workers) = train(2, 60.0, busy);
        assert!(workers == 1 && updates as f64 > 60e3 / 1.1, "{updates}");
    }

    /// Half idle, half busy: the best of both halves would be 30 s × 2000 and 30 s × 1000 updates.
    #[test]
    fn it_follows_a_machine_that_becomes_busy_and_idle_again() {
        let changes = |workers: usize, now: f64| match (workers, (now / 30.0) as u32 % 2) {
            (1, _) => 1e-3,
            (_, 0) => 0.5e-3,
            _ => 4.5e-3,
        };
        let (updates, _) = train(2, 120.0, changes);
        assert!(updates as f64 > 180e3 / 1.15, "{updates}");
    }

    /// Updates of ten seconds, where a trial is one epoch: after a hundred epochs little is lost.
    #[test]
    fn long_epochs_lose_as_little() {
        let busy = |workers: usize, _: f64| if workers == 1 { 1.0 } else { 4.5 };
        let (updates, workers) = train(2, 10_000.0, busy);
        assert!(workers == 1 && updates as f64 > 10_000.0 / 1.1, "{updates}");
    }

    #[test]
    fn one_worker_stays_alone() {
        assert_eq!(train(1, 1.0, |_, _| 1e-3).1, 1);
        assert_eq!(Pace::new(6).counts, [1, 2, 4, 6]);
    }
}
