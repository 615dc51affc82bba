//! A worker: its share of the lanes, and a replica of everything else.

use std::time::Instant;

use super::exchange::{Exchange, Signal};
use super::objective::{Job, Measured, Objective, Team};
use super::pace::{Pace, Taken};
use super::rounds::Turn;
use super::{Control, Course, Epoch, Outcome, Schedule, State, Watch};
use crate::linalg::sum_of_squares;

/// Gradients from here on count as diverged: their squares, the optimiser's second moment, would not fit into f32.
const LARGEST_NORM: f64 = 1e18;

/// Losses of an epoch that there is room for at once.
const MOST_LOSSES: u64 = 1 << 16;

/// Trains from a state to the end, with as many workers as the course says; where it is paced, with as many as pay.
pub(crate) fn run(job: Job<'_>, from: State, watch: &mut dyn Watch) -> Outcome {
    let most = job.course.threads.clamp(1, job.packs);
    let mut pace = job.course.paced.then(|| Pace::new(most));
    let mut state = from;
    loop {
        let workers = pace.as_ref().map_or(most, Pace::workers);
        match leg(job, workers, state, watch, &mut pace) {
            Leg::Ended(outcome) => return outcome,
            Leg::Again(left) => state = left,
        }
    }
}

/// What training with so many workers comes to.
enum Leg {
    /// The end.
    Ended(Outcome),
    /// Another number of workers goes on from here.
    Again(State),
}

/// Trains with so many workers to the end, or until the pace wants another number of them.
fn leg(
    job: Job<'_>,
    workers: usize,
    from: State,
    watch: &mut dyn Watch,
    pace: &mut Option<Pace>,
) -> Leg {
    let exchange = Exchange::new(workers, job.packs, job.blank);
    let worker = |rank: usize, from: State| {
        let packs = (rank..job.packs).step_by(workers).collect();
        let exchange = &exchange;
        Worker::new(
            (job.objective)(),
            job.course,
            Team { exchange, packs },
            from,
        )
    };
    std::thread::scope(|scope| {
        for rank in 1..workers {
            let (worker, from) = (&worker, from.clone());
            scope.spawn(move || worker(rank, from).train(&mut |_, _, _| Signal::Go));
        }
        worker(0, from).train(&mut |epoch, state, taken| {
            let is_stopped = watch.epoch(epoch, state) == Control::Stop;
            let mut changes = |pace: &mut Pace| pace.note(taken);
            if is_stopped {
                Signal::Stop
            } else if pace.as_mut().is_some_and(&mut changes) {
                Signal::Change
            } else {
                Signal::Go
            }
        })
    })
}

/// Loss and gradient at a state of the batch that an objective has chosen.
pub(crate) fn once(job: Job<'_>, objective: Box<dyn Objective + '_>, at: State) -> (f64, Vec<f32>) {
    alone(job, |team| {
        let parameters = at.theta.len();
        let mut worker = Worker::new(objective, job.course, team, at);
        let loss = worker.gradient().loss;
        worker.gradient.truncate(parameters);
        (loss, worker.gradient)
    })
}

/// Calls something with a team of one worker.
pub(crate) fn alone<T>(job: Job<'_>, call: impl FnOnce(Team<'_>) -> T) -> T {
    let exchange = Exchange::new(1, job.packs, job.blank);
    call(Team {
        exchange: &exchange,
        packs: (0..job.packs).collect(),
    })
}

/// What follows from an epoch, which took so long.
type AtEpochs<'a> = dyn FnMut(&Epoch, &State, Taken) -> Signal + 'a;

/// The last update of an epoch.
struct Last {
    measured: Update,
    rate: f64,
}

/// What is known of an update.
#[derive(Clone, Copy)]
struct Update {
    loss: f64,
    penalty: f64,
    /// Norm of the gradient, before it was shortened.
    norm: f64,
}

struct Worker<'a> {
    course: &'a Course,
    objective: Box<dyn Objective + 'a>,
    team: Team<'a>,
    gradient: Vec<f32>,
    /// Of this epoch, update by update.
    losses: Vec<f64>,
    state: State,
}

impl<'a> Worker<'a> {
    fn new(
        mut objective: Box<dyn Objective + 'a>,
        course: &'a Course,
        team: Team<'a>,
        from: State,
    ) -> Worker<'a> {
        objective.prepare(&from.theta);
        let expected = course.schedule.updates_per_epoch();
        Worker {
            course,
            objective,
            gradient: vec![0.0; team.exchange.gradient_len()],
            team,
            losses: Vec::with_capacity(expected.min(MOST_LOSSES) as usize),
            state: from,
        }
    }

    fn train(mut self, watch: &mut AtEpochs<'_>) -> Leg {
        let _presence = self.team.exchange.presence();
        while self.begin_epoch() {
            let begun = Instant::now();
            let Some(last) = self.epoch() else {
                return Leg::Ended(Outcome::Diverged {
                    update: self.state.update,
                    last: self.state,
                });
            };
            let taken = Taken {
                updates: self.losses.len(),
                seconds: begun.elapsed().as_secs_f64(),
            };
            match self.end_epoch(watch, last, taken) {
                Signal::Go => {}
                Signal::Stop => return Leg::Ended(Outcome::Stopped(self.state)),
                Signal::Change => return Leg::Again(self.state),
            }
        }
        Leg::Ended(Outcome::Finished(self.state))
    }

    /// Whether there is another epoch. A round begins with its validation loss.
    fn begin_epoch(&mut self) -> bool {
        let rounds = match &self.course.schedule {
            Schedule::Rounds(rounds) => rounds,
            schedule => return self.state.epoch < schedule.epochs(),
        };
        let turn = rounds.turn(&mut self.state);
        if turn == Turn::Begin {
            self.objective.prepare(&self.state.theta);
            let loss = self.objective.validate(&self.state, &self.team);
            rounds.begin(&mut self.state, loss);
        }
        turn != Turn::End
    }

    /// All updates of an epoch; none if one diverges.
    fn epoch(&mut self) -> Option<Last> {
        self.losses.clear();
        loop {
            self.objective.begin(&mut self.state, &self.team);
            let measured = self.gradient();
            if !(measured.loss.is_finite() && measured.norm < LARGEST_NORM) {
                return None;
            }
            let rate = self.state.rate_scale * self.course.schedule.rate(&self.state);
            self.take_step(rate);
            self.losses.push(measured.loss);
            if self.objective.ends_epoch(&self.state) {
                self.state.epoch += 1;
                return Some(Last { measured, rate });
            }
        }
    }

    /// Shows the watch what happened; all workers see whether it stops them.
    fn end_epoch(
        &mut self,
        watch: &mut AtEpochs<'_>,
        Last { measured, rate }: Last,
        taken: Taken,
    ) -> Signal {
        if let Schedule::Rounds(rounds) = &self.course.schedule {
            let loss = self.objective.validate(&self.state, &self.team);
            rounds.note(&mut self.state, loss);
        }
        let updates = self.losses.len() as f64;
        let epoch = Epoch {
            epoch: self.state.epoch,
            update: self.state.update,
            loss: self.losses.iter().map(|loss| loss / updates).sum(),
            penalty: measured.penalty,
            alpha: self.objective.alpha(&self.state),
            norm: self.objective.norm(),
            rate,
            gradient_norm: measured.norm,
        };
        let exchange = self.team.exchange;
        let signal = watch(&epoch, &self.state, taken);
        if signal != Signal::Go {
            exchange.give(signal);
        }
        exchange.meet();
        exchange.given()
    }

    /// Sweeps this worker's packs, then gathers the gradient of the whole batch.
    fn gradient(&mut self) -> Update {
        let exchange = self.team.exchange;
        // The last one first: an estimate has left it loaded.
        for &pack in self.team.packs.iter().rev() {
            let slot = &mut exchange.write(self.state.update, pack);
            self.objective.sweep(&self.state, pack, slot);
        }
        exchange.meet();
        self.gather()
    }

    /// Adds all slots in the order of the lanes, then turns the sum into dθ of the whole objective.
    fn gather(&mut self) -> Update {
        let mut squares = 0.0;
        for (i, slot) in self.team.exchange.read(self.state.update).enumerate() {
            let (first, others) = slot.groups.split_at(usize::from(i == 0));
            first
                .iter()
                .for_each(|group| self.gradient.copy_from_slice(group));
            for group in others {
                let pairs = self.gradient.iter_mut().zip(group);
                pairs.for_each(|(sum, g)| *sum += g);
            }
            squares += slot.squares.iter().map(|&s| f64::from(s)).sum::<f64>();
        }
        let Measured { loss, mut penalty } =
            self.objective
                .finish(&self.state, squares, &mut self.gradient);
        let theta = &self.state.theta;
        let dtheta = &mut self.gradient[..theta.len()];
        penalty += self.course.weight_decay.add(theta, dtheta);
        // Not finite if an entry is not.
        let norm = sum_of_squares(dtheta, 0.0).sqrt();
        if let Some(largest) = self.course.clip_norm.filter(|&largest| norm > largest) {
            dtheta
                .iter_mut()
                .for_each(|d| *d *= (largest / norm) as f32);
        }
        Update {
            loss,
            penalty,
            norm,
        }
    }

    fn take_step(&mut self, rate: f64) {
        let Course {
            optimizer,
            averaging,
            isa,
            ..
        } = *self.course;
        let State {
            theta,
            moments,
            update,
            average,
            ..
        } = &mut self.state;
        let gradient = &self.gradient[..theta.len()];
        optimizer.step(isa, moments, theta, gradient, rate);
        self.objective.constrain(theta);
        *update += 1;
        if let Some(decay) = averaging {
            let fresh = (1.0 - decay) as f32;
            for (average, theta) in average.iter_mut().zip(&*theta) {
                *average += fresh * (theta - *average);
            }
        }
        self.objective.prepare(theta);
    }
}
