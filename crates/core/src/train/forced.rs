//! The objective of maps under teacher forcing: windows drawn at random, teacher signals, the map forward under forcing, residuals,
//! backward, penalties.

use super::batch::{Batch, Drawing, Pack};
use super::estimate::{Estimate, Estimation, Slopes};
use super::exchange::Slot;
use super::objective::{Job, Measured, Objective, Team};
use super::sweep::{Backward, Compare, Forced, Forward, Infer, ObservationGradient, Sweep};
use super::{Outcome, Plan, Register, State, Watch, worker};
use crate::forcing::alpha::{Estimator, Norm};
use crate::kernel::{Finish, Kernel, Prepare};
use crate::map::Map;
use crate::model::Architecture;
use crate::observation::ObservationLanes;
use crate::penalty::Penalties;
use crate::simd::{GROUP, Groups, Isa, Lanes, Lanes16, Narrow, Paired8, dispatch};
use crate::windows::Windows;

/// What is trained.
#[derive(Clone, Copy)]
pub(super) struct Training<'a> {
    pub(super) plan: &'a Plan,
    pub(super) windows: &'a Windows,
    pub(super) architecture: &'a Architecture,
}

impl Training<'_> {
    /// Trains from a state to the end.
    pub(super) fn train<K: Kernel>(
        self,
        make: impl Fn(K) -> K + Sync,
        from: State,
        watch: &mut dyn Watch,
    ) -> Outcome {
        match self.register() {
            Register::Narrow => self.run::<K, Narrow>(&make, from, watch),
            Register::Wide => self.run::<K, Lanes16>(&make, from, watch),
            Register::Paired => self.run::<K, Paired8>(&make, from, watch),
        }
    }

    fn run<K: Kernel, P: Lanes>(
        self,
        make: &(impl Fn(K) -> K + Sync),
        from: State,
        watch: &mut dyn Watch,
    ) -> Outcome {
        self.with_job::<K, P, _>(make, |job| worker::run(job, from, watch))
    }

    /// Loss and gradient of the batch of windows that start at given rows.
    pub(super) fn once<K: Kernel>(
        self,
        make: impl Fn(K) -> K + Sync,
        theta: &[f32],
        starts: &[usize],
    ) -> (f64, Vec<f32>) {
        match self.register() {
            Register::Narrow => self.once_on::<K, Narrow>(&make, theta, starts),
            Register::Wide => self.once_on::<K, Lanes16>(&make, theta, starts),
            Register::Paired => self.once_on::<K, Paired8>(&make, theta, starts),
        }
    }

    fn once_on<K: Kernel, P: Lanes>(
        self,
        make: &(impl Fn(K) -> K + Sync),
        theta: &[f32],
        starts: &[usize],
    ) -> (f64, Vec<f32>) {
        let mut objective = UnderForcing::<K, P>::new(self, make);
        objective.batch.starts.copy_from_slice(starts);
        let at = State {
            alpha: self.plan.forcing.strength(),
            ..State::new(theta, &self.plan.course)
        };
        self.with_job::<K, P, _>(make, |job| worker::once(job, Box::new(objective), at))
    }

    /// 𝒩 of the batch of windows that start at given rows.
    pub(super) fn norm<K: Kernel>(
        self,
        make: impl Fn(K) -> K + Sync,
        theta: &[f32],
        starts: &[usize],
    ) -> Norm {
        let state = State::new(theta, &self.plan.course);
        let mut objective = UnderForcing::<K, Narrow>::new(self, &make);
        objective.prepare(theta);
        objective.batch.starts.copy_from_slice(starts);
        self.with_job::<K, Narrow, _>(&make, |job| {
            worker::alone(job, |team| objective.norm_of_batch(&state, &team))
        })
    }

    fn register(self) -> Register {
        Register::of(&self.plan.course, self.plan.batch)
    }

    fn with_job<K: Kernel, P: Lanes, T>(
        self,
        make: &(impl Fn(K) -> K + Sync),
        call: impl FnOnce(Job<'_>) -> T,
    ) -> T {
        let len = Shared::<K>::new::<P>(self, make).gradient_len();
        call(Job {
            course: &self.plan.course,
            packs: self.plan.batch.div_ceil(P::WIDTH),
            blank: &Slot::new(len, P::WIDTH / GROUP),
            objective: &|| Box::new(UnderForcing::<K, P>::new(self, make)),
        })
    }
}

/// The map's kernel and the observation model, prepared for the current θ.
struct Shared<K> {
    kernel: K,
    observation: ObservationLanes,
    parameters: usize,
    has_missing: bool,
}

impl<K: Kernel> Shared<K> {
    fn new<P: Lanes>(training: Training<'_>, make: &impl Fn(K) -> K) -> Shared<K> {
        let Training {
            architecture,
            windows,
            ..
        } = training;
        let layout = architecture.layout();
        Shared {
            kernel: make(K::new::<P>(architecture.dims, &layout)),
            observation: ObservationLanes::new::<P>(architecture.observation, &layout),
            parameters: layout.len(),
            has_missing: windows.has_missing(),
        }
    }

    fn gradient_len(&self) -> usize {
        self.parameters + self.observation.extra()
    }

    fn prepare<P: Lanes>(&mut self, isa: Isa, theta: &[f32]) {
        let kernel = &mut self.kernel;
        dispatch::<P, _>(isa, Prepare { kernel, theta });
        self.observation.prepare(theta);
        if self.has_missing {
            self.observation.prepare_for_missing();
        }
    }
}

struct UnderForcing<'a, K: Kernel, P: Lanes> {
    plan: &'a Plan,
    map: Box<dyn Map>,
    penalties: Penalties,
    shared: Shared<K>,
    sweep: Sweep<P, K::Units<P>>,
    /// For adaptive forcing whose estimate needs data.
    estimation: Option<Estimation<P>>,
    /// The last estimate of this epoch.
    norm: Option<Norm>,
    batch: Batch<'a>,
    /// The pack whose windows are in the sweep's lanes, as they were loaded.
    loaded: Option<usize>,
}

/// Room for the estimates of adaptive forcing, where they need data.
fn estimation_for<K: Kernel, P: Lanes>(
    training: Training<'_>,
    kernel: &K,
) -> Option<Estimation<P>> {
    let adaptation = training.plan.adaptation;
    let estimator = adaptation.map(|adaptation| adaptation.estimator);
    let of_data = estimator.filter(|&estimator| estimator != Estimator::ParameterBound);
    of_data.map(|estimator| {
        let dims = training.architecture.dims;
        Estimation::new(estimator, dims, kernel, training.windows.window())
    })
}

impl<'a, K: Kernel, P: Lanes> UnderForcing<'a, K, P> {
    fn new(training: Training<'a>, make: &impl Fn(K) -> K) -> UnderForcing<'a, K, P> {
        let Training {
            plan,
            windows,
            architecture,
        } = training;
        let shared = Shared::new::<P>(training, make);
        let (dims, observation) = (architecture.dims, architecture.observation);
        let sweep = Sweep::new(dims, &shared.kernel, observation, Pack::of(windows));
        let map = (architecture.info.build)(dims);
        let layout = architecture.layout();
        let drawing = Drawing {
            batch: plan.batch,
            noise: plan.noise,
            seed: plan.course.seed,
            isa: plan.course.isa,
        };
        UnderForcing {
            plan,
            penalties: Penalties::new(plan.penalties, map.as_ref(), observation, &layout),
            map,
            sweep,
            estimation: estimation_for(training, &shared.kernel),
            norm: None,
            batch: Batch::new(windows, drawing),
            loaded: None,
            shared,
        }
    }

    fn load(&mut self, pack: usize) {
        let Sweep { pack: to, tape, .. } = &mut self.sweep;
        self.batch.load(pack, to, &mut tape.s);
    }

    /// Where forcing is adaptive and an estimate is due, estimates the norm of the batch's Jacobians and lets α follow.
    fn adapt(&mut self, state: &mut State, team: &Team<'_>) {
        let adaptation = self.plan.adaptation;
        let Some(adaptation) = adaptation.filter(|a| a.is_due(state.update)) else {
            return;
        };
        let norm = self.norm_of_batch(state, team);
        // Without a complete row in any window there is no estimate; what is not finite will end training at its loss. α
        // keeps its value.
        if norm.kappa.is_finite() && norm.kappa > 0.0 {
            state.alpha = adaptation.anneal(state.alpha, norm.alpha());
            self.norm = Some(norm);
        }
    }

    /// 𝒩 of the whole batch, the same on every worker.
    fn norm_of_batch(&mut self, state: &State, team: &Team<'_>) -> Norm {
        let Some(mut estimation) = self.estimation.take() else {
            return self.parameter_bound(&state.theta);
        };
        estimation.prepare(&self.shared.kernel, &state.theta);
        let norm = team.share(
            state,
            |pack, slot| slot.norm = self.norm_of_pack(pack, &mut estimation),
            Norm::default(),
            |all, slot| all.or_larger(slot.norm),
        );
        self.estimation = Some(estimation);
        norm
    }

    fn norm_of_pack(&mut self, pack: usize, estimation: &mut Estimation<P>) -> Norm {
        let isa = self.plan.course.isa;
        self.load(pack);
        self.loaded = Some(pack);
        let slopes = Slopes {
            kernel: &self.shared.kernel,
            observation: &self.shared.observation,
            sweep: &mut self.sweep,
            estimation,
        };
        dispatch::<P, _>(isa, slopes);
        let estimate = Estimate {
            sweep: &self.sweep,
            estimation,
        };
        dispatch::<P, _>(isa, estimate)
    }

    fn parameter_bound(&self, theta: &[f32]) -> Norm {
        let own = &theta[..self.map.layout().len()];
        let theta: Vec<f64> = own.iter().map(|&v| f64::from(v)).collect();
        Norm {
            kappa: self.map.jacobian_bound(&theta),
            fallbacks: 0,
        }
    }
}

impl<K: Kernel, P: Lanes> Objective for UnderForcing<'_, K, P> {
    fn prepare(&mut self, theta: &[f32]) {
        self.shared.prepare::<P>(self.plan.course.isa, theta);
    }

    fn begin(&mut self, state: &mut State, team: &Team<'_>) {
        self.loaded = None;
        self.batch.draw(state.update);
        self.adapt(state, team);
    }

    fn sweep(&mut self, state: &State, pack: usize, slot: &mut Slot) {
        if self.loaded.take() != Some(pack) {
            self.load(pack);
        }
        let plan = self.plan;
        let (isa, sweep) = (plan.course.isa, &mut self.sweep);
        let (kernel, observation) = (&self.shared.kernel, &self.shared.observation);
        let forced = Forced {
            forcing: plan.forcing.with_strength(state.alpha),
            gradient: plan.forcing_gradient,
        };
        dispatch::<P, _>(isa, Infer { observation, sweep });
        dispatch::<P, _>(
            isa,
            Forward {
                kernel,
                observation,
                forced,
                sweep,
            },
        );
        dispatch::<P, _>(isa, Compare { observation, sweep });
        dispatch::<P, _>(
            isa,
            Backward {
                kernel,
                observation,
                forced,
                sweep,
                groups: Groups(&mut slot.groups),
            },
        );
        let (behind, groups) = (self.shared.parameters, Groups(&mut slot.groups));
        dispatch::<P, _>(
            isa,
            ObservationGradient {
                observation,
                forced,
                sweep,
                behind,
                groups,
            },
        );
        slot.squares = sweep.squares(self.batch.used::<P>(pack));
    }

    fn finish(&mut self, state: &State, squares: f64, gradient: &mut [f32]) -> Measured {
        let parameters = self.shared.parameters;
        let finish = Finish {
            kernel: &self.shared.kernel,
            theta: &state.theta,
            dtheta: &mut *gradient,
        };
        dispatch::<P, _>(self.plan.course.isa, finish);
        self.shared.observation.finish(parameters, gradient);
        let dtheta = &mut gradient[..parameters];
        let penalty = self.penalties.add(&state.theta, dtheta);
        self.map.freeze(dtheta);
        Measured {
            loss: squares / self.batch.observed() as f64,
            penalty,
        }
    }

    fn constrain(&self, theta: &mut [f32]) {
        if let Some(largest) = self.plan.largest_a {
            let largest = largest as f32;
            let a = self.map.layout().range("A");
            theta[a]
                .iter_mut()
                .for_each(|a| *a = a.clamp(-largest, largest));
        }
    }

    fn ends_epoch(&mut self, state: &State) -> bool {
        let per_epoch = self.plan.course.schedule.updates_per_epoch();
        state.update.is_multiple_of(per_epoch)
    }

    fn alpha(&self, state: &State) -> f64 {
        self.plan.forcing.with_strength(state.alpha).strength()
    }

    fn norm(&mut self) -> Option<Norm> {
        self.norm.take()
    }
}
