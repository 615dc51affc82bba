//! How workers exchange gradients: each writes its packs' slots, all wait once, all read all slots.
//!
//! There are two banks of slots, used in turn: a worker may write for the next update while another still reads for
//! this one, and can be no further ahead, because it waits.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::forcing::alpha::Norm;

/// What one pack of lanes contributes to an update.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    /// Gradients, one vector a group of lanes.
    pub(crate) groups: Vec<Vec<f32>>,
    /// Σ (x̂ − x)² by group.
    pub(crate) squares: [f32; 2],
    /// 𝒩 of the pack, where it was estimated.
    pub(crate) norm: Norm,
}

impl Slot {
    /// An empty slot for gradients of this length, of so many groups of lanes.
    pub(crate) fn new(len: usize, groups: usize) -> Slot {
        Slot {
            groups: vec![vec![0.0; len]; groups],
            squares: [0.0; 2],
            norm: Norm::default(),
        }
    }
}

/// The slots and the meeting point.
pub(crate) struct Exchange {
    banks: [Vec<RwLock<Slot>>; 2],
    gradient_len: usize,
    meeting: Meeting,
    signal: AtomicU8,
}

/// What follows an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Signal {
    /// The next one.
    Go,
    /// Training ends.
    Stop,
    /// Another number of workers takes over.
    Change,
}

impl Exchange {
    pub(super) fn new(workers: usize, packs: usize, blank: &Slot) -> Exchange {
        let bank = || (0..packs).map(|_| RwLock::new(blank.clone())).collect();
        Exchange {
            banks: [bank(), bank()],
            gradient_len: blank.groups[0].len(),
            meeting: Meeting::new(workers),
            signal: AtomicU8::new(Signal::Go as u8),
        }
    }

    /// Numbers of a gradient.
    pub(super) fn gradient_len(&self) -> usize {
        self.gradient_len
    }

    /// The slot that a pack writes in an update.
    pub(super) fn write(&self, update: u64, pack: usize) -> RwLockWriteGuard<'_, Slot> {
        // A poisoned lock means that another worker panicked; its panic is the one to see.
        self.bank(update)[pack]
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The slots of an update in the order of the lanes.
    pub(super) fn read(&self, update: u64) -> impl Iterator<Item = RwLockReadGuard<'_, Slot>> {
        self.bank(update)
            .iter()
            .map(|slot| slot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until all workers are here.
    pub(super) fn meet(&self) {
        self.meeting.wait();
    }

    /// A worker's presence: if it panics, the others panic at their next meeting instead of waiting for it for ever.
    pub(super) fn presence(&self) -> Presence<'_> {
        Presence(&self.meeting)
    }

    /// Gives all workers a signal, which they see at their next look.
    pub(super) fn give(&self, signal: Signal) {
        self.signal.store(signal as u8, Ordering::Release);
    }

    /// The signal that was given. Workers look right after meeting, so that all see the same.
    pub(super) fn given(&self) -> Signal {
        let signals = [Signal::Go, Signal::Stop, Signal::Change];
        signals[usize::from(self.signal.load(Ordering::Acquire))]
    }

    fn bank(&self, update: u64) -> &[RwLock<Slot>] {
        &self.banks[(update % 2) as usize]
    }
}

/// See [`Exchange::presence`].
pub(super) struct Presence<'a>(&'a Meeting);

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.wake();
        }
    }
}

/// How often a worker looks for the others before it lets other threads run between looks, and how often in all before
/// it sleeps: a thousandth of a second, and some hundredths where no other thread wants its core.
const SPINS: u32 = 20_000;
const LOOKS: u32 = SPINS + 20_000;

/// A barrier that spins: workers arrive within microseconds of one another, a sleeping one would come late. After a
/// while it yields, for machines with fewer free cores than workers; at last it sleeps, because the first worker may be
/// busy for seconds with judging a model.
struct Meeting {
    workers: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Meeting {
    fn new(workers: usize) -> Meeting {
        Meeting {
            workers,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::SeqCst);
            self.wake();
            return;
        }
        for look in 0..LOOKS {
            if self.is_over(round) {
                return;
            }
            if look < SPINS {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
        }
        self.sleep_through(round);
    }

    /// Whether all workers have come to a round. Panics if one of them did, whether or not it came.
    fn is_over(&self, round: usize) -> bool {
        let is_broken = self.broken.load(Ordering::SeqCst);
        assert!(!is_broken, "another worker panicked");
        self.round.load(Ordering::SeqCst) != round
    }

    /// Sleeps until a round is over. Either the last worker sees the sleeper and rings, or the sleeper sees that the
    /// round is over: both write, then read what the other wrote, in one order for all. Who rings takes the lock, so that
    /// it does not ring between a sleeper's last look and its sleep.
    fn sleep_through(&self, round: usize) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_over(round) {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Rings for those who sleep.
    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
            self.bell.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a worker does that sleeps through the first round, when `meanwhile` happens as soon as it sleeps.
    fn sleeper_and(meanwhile: impl FnOnce(&Meeting)) -> std::thread::Result<()> {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| meeting.sleep_through(0));
            while meeting.sleepers.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            meanwhile(&meeting);
            sleeper.join()
        })
    }

    #[test]
    fn the_last_worker_wakes_those_who_sleep() {
        let woken = sleeper_and(|meeting| {
            meeting.arrived.store(1, Ordering::SeqCst);
            meeting.wait();
        });
        assert!(woken.is_ok());
    }

    #[test]
    fn a_panic_wakes_those_who_sleep_and_ends_them() {
        let woken = sleeper_and(|meeting| {
            let panicking = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _presence = Presence(meeting);
                panic!("a worker fails");
            }));
            assert!(panicking.is_err());
        });
        assert!(woken.is_err());
    }
}
