//! Forecasts of any system, one branch after another, in f64.

use super::{Dynamics, Follower, Forecasts, Sizes, Stretch};

/// Branches between two calls for rows: enough to spread the cost of a call, few enough to hold large states.
const WIDTH: usize = 16;

/// Forecasts that branch off where a follower of the recording is.
pub(crate) struct Branches<'a, D: ?Sized> {
    dynamics: &'a D,
    data: Stretch<'a>,
    sizes: Sizes,
    follower: Follower<'a, D>,
    branches: Vec<Branch>,
    next: Vec<f64>,
    x_hat: Vec<f64>,
    out: Vec<f64>,
}

struct Branch {
    z: Vec<f64>,
    /// The last row that the state has taken in, seen or forecast.
    row: usize,
    /// Whether the row that the state shows has not been given yet.
    fresh: bool,
}

impl<'a, D: Dynamics + ?Sized> Branches<'a, D> {
    pub(crate) fn new(dynamics: &'a D, data: Stretch<'a>) -> Branches<'a, D> {
        let sizes = dynamics.sizes();
        Branches {
            follower: Follower::new(dynamics, data),
            branches: Vec::new(),
            next: vec![0.0; sizes.state],
            x_hat: vec![0.0; sizes.channels],
            out: Vec::new(),
            dynamics,
            data,
            sizes,
        }
    }

    /// Forecasts one more row of a branch, which is then what its state shows.
    fn advance_one(&mut self, branch: usize) {
        let branch = &mut self.branches[branch];
        if std::mem::take(&mut branch.fresh) {
            return;
        }
        branch.row += 1;
        let s = self.data.inputs_of(branch.row..branch.row + 1);
        self.dynamics.step(&branch.z, s, &mut self.next);
        branch.z.copy_from_slice(&self.next);
    }
}

impl<D: Dynamics + ?Sized> Forecasts for Branches<'_, D> {
    fn width(&self) -> usize {
        WIDTH
    }

    fn start(&mut self, rows: &[usize]) {
        self.branches.clear();
        for &row in rows {
            self.branches.push(Branch {
                z: self.follower.state_at(row).to_vec(),
                row,
                // A state that shows the row after its own has the first forecast already.
                fresh: self.dynamics.lead() == 1,
            });
        }
    }

    fn advance(&mut self, steps: usize, seen: usize) -> &[f64] {
        let n = self.sizes.channels;
        self.out.clear();
        self.out.resize(seen * n * WIDTH, 0.0);
        for branch in 0..self.branches.len() {
            for step in 0..steps {
                self.advance_one(branch);
                let Some(place) = (step + seen).checked_sub(steps) else {
                    continue;
                };
                self.dynamics
                    .observe(&self.branches[branch].z, &mut self.x_hat);
                for (i, &x) in self.x_hat.iter().enumerate() {
                    self.out[(place * n + i) * WIDTH + branch] = x;
                }
            }
        }
        &self.out
    }
}
