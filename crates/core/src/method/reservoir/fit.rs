//! The fit of a read-out: the reservoir is driven by every stretch of the training data from rest, and behind the warm-up
//! each state is a row of the regression of the row that follows.
//!
//! Noise is added to the data first, then they are standardised, as in the program of Vlachas et al. (2020), where the noise is given
//! in thousandths of the standard deviation.

use super::weights::Weights;
use super::{Desk, Form, Reservoir};
use crate::linalg::least_squares::{Batch, LeastSquares};
use crate::linalg::sparse::Gathered;
use crate::method::recording::{Recording, Rows, refuse_bytes, refuse_constant, refuse_short};
use crate::method::{FitError, Fitting};
use crate::progress::{Follow, tell};
use crate::simd::Isa;
use crate::text::count;

/// All settings, read and checked against the data.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) units: usize,
    channels: usize,
    pub(super) inputs: usize,
    pub(super) degree: usize,
    pub(super) radius: f64,
    pub(super) input_scale: f64,
    pub(super) bias: f64,
    ridge: f64,
    noise: f64,
    form: Form,
}

impl Plan {
    pub(super) fn new(fitting: Fitting<'_>) -> Result<Plan, FitError> {
        let Fitting { settings, data, .. } = fitting;
        let (hidden, channels) = (settings.integer("hidden"), data.dim_obs());
        if hidden < channels {
            return Err(FitError::Own {
                message: format!(
                    "{} cannot see {}",
                    count(hidden, "unit"),
                    count(channels, "channel")
                ),
                hint: Some(format!("use `--hidden {channels}` or more").into()),
            });
        }
        let flags = ["intercept", "read-inputs", "squares"].map(|name| settings.flag(name));
        let plan = Plan {
            units: hidden.next_multiple_of(channels),
            channels,
            inputs: data.dim_input(),
            degree: settings.integer("degree"),
            radius: settings.real("radius"),
            input_scale: settings.real("input-scale"),
            bias: settings.real("bias"),
            ridge: settings.real("ridge"),
            noise: settings.real("noise"),
            form: Form::new(settings.real("leak"), settings.integer("warm-up"), flags),
        };
        plan.refuse_large()?;
        let because = (plan.form.warm_up > 0).then_some("warm-up");
        refuse_short(data, plan.needed(), because)?;
        refuse_constant(data)?;
        Ok(plan)
    }

    fn features(&self) -> usize {
        self.form.features(self.units, self.channels)
    }

    /// Sums that do not fit into memory.
    fn refuse_large(&self) -> Result<(), FitError> {
        let bytes = LeastSquares::bytes(self.features(), self.channels);
        refuse_bytes(bytes, "a smaller `--hidden`")
    }

    /// Rows that a stretch needs to give one row of the regression.
    fn needed(&self) -> usize {
        self.form.warm_up + 2
    }
}

/// Fits a reservoir.
pub(super) fn fit(fitting: Fitting<'_>, follow: &mut dyn Follow) -> Result<Reservoir, FitError> {
    let plan = Plan::new(fitting)?;
    let training = Recording::new(fitting.data, plan.noise, fitting.seed);
    let Weights {
        w,
        places,
        w_in,
        w_s,
        b,
    } = Weights::draw(&plan, fitting.seed)?;
    let mut reservoir = Reservoir {
        gathered: Gathered::new(&w),
        w,
        places,
        w_in,
        w_s,
        b,
        w_out: Vec::new(),
        mean: training.mean.clone(),
        sd: training.sd.clone(),
        form: plan.form,
    };
    reservoir.w_out = read_out(&reservoir, &training, &plan, fitting, follow)?;
    Ok(reservoir)
}

/// W_out, N × F.
fn read_out(
    reservoir: &Reservoir,
    training: &Recording,
    plan: &Plan,
    fitting: Fitting<'_>,
    follow: &mut dyn Follow,
) -> Result<Vec<f64>, FitError> {
    let features = plan.features();
    let mut sums = LeastSquares::new(features, plan.channels, fitting.threads, fitting.isa);
    let (mut batch, mut next) = (sums.batch(), sums.batch());
    let mut driver = Driver::new(reservoir, training, fitting.isa);
    driver.fill(&mut batch);
    while !batch.is_empty() {
        tell(follow, "driving the reservoir", driver.done, training.rows)?;
        next.clear();
        // The first thread drives the reservoir through the next rows while the others add up these.
        sums.add_while(&batch, || driver.fill(&mut next));
        std::mem::swap(&mut batch, &mut next);
    }
    tell(follow, "solving for the read-out", 0, 1)?;
    Ok(sums.solve(features, plan.ridge))
}

/// A reservoir on its way through the training data.
struct Driver<'a> {
    reservoir: &'a Reservoir,
    stretches: std::slice::Iter<'a, Rows>,
    current: Option<&'a Rows>,
    t: usize,
    z: Vec<f64>,
    next: Vec<f64>,
    desk: Desk,
    /// Rows that it has seen.
    done: u64,
}

impl<'a> Driver<'a> {
    fn new(reservoir: &'a Reservoir, training: &'a Recording, isa: Isa) -> Driver<'a> {
        let state = reservoir.units()
            + if reservoir.form.reads_inputs {
                reservoir.channels()
            } else {
                0
            };
        let mut stretches = training.stretches.iter();
        Driver {
            reservoir,
            current: stretches.next(),
            stretches,
            t: 0,
            z: vec![0.0; state],
            next: vec![0.0; state],
            desk: Desk {
                isa,
                ..reservoir.desk()
            },
            done: 0,
        }
    }

    /// Fills a batch with states and the rows that follow them, as far as there are any.
    fn fill(&mut self, batch: &mut Batch) {
        while let (false, Some(rows)) = (batch.is_full(), self.current) {
            if self.t + 1 >= rows.len {
                self.done += rows.len as u64;
                self.current = self.stretches.next();
                self.t = 0;
                self.z.fill(0.0);
                continue;
            }
            self.take_in(rows);
            if self.t >= self.reservoir.form.warm_up {
                let n = self.reservoir.channels();
                batch.push(|features, target| {
                    let features = &mut features[..self.desk.features.len()];
                    self.reservoir.write_features(&self.z, features);
                    target.copy_from_slice(&rows.u[(self.t + 1) * n..][..n]);
                });
            }
            self.t += 1;
        }
    }

    /// The state after row t.
    fn take_in(&mut self, rows: &Rows) {
        let (n, k) = (self.reservoir.channels(), self.reservoir.inputs());
        self.desk.u.copy_from_slice(&rows.u[self.t * n..][..n]);
        self.desk.s.copy_from_slice(&rows.s[self.t * k..][..k]);
        self.reservoir.take_in(&self.desk, &self.z, &mut self.next);
        std::mem::swap(&mut self.z, &mut self.next);
    }
}
