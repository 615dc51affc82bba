//! From a recording to equations: sums over the rows of every whole stretch, then a sparse regression.

use super::derivative::{Slopes, Smoother};
use super::ensemble::{self, Member};
use super::library::{Library, Terms};
use super::program::Program;
use super::refine::Refinement;
use super::scan;
use super::sparse::Regression;
use super::sums::{Adder, Sums};
use super::{Extent, Law, Sindy, SindyError, settings, zero};
use crate::dynamics::{Dynamics, Stretch};
use crate::method::recording::refuse_own_times;
use crate::method::{FitError, Fitting, Method};
use crate::progress::{Follow, tell};
use crate::rows::Rows;
use crate::series::{Series, mean_and_sd};

/// The most terms of a library: their sums of products are 3 GiB.
const MOST_TERMS: usize = 20_000;

/// The most terms of a library whose sums are kept for each of fifty blocks: 3.6 GiB.
const MOST_TERMS_OF_BLOCKS: usize = 3000;

/// Rows between two reports of progress.
const REPORT: usize = 4096;

/// What a fit is made of, all settings read.
struct Problem<'a> {
    data: &'a Series,
    library: Library,
    law: Law,
    smoother: Smoother,
    extent: Extent,
}

pub(super) fn solve(
    _: &'static Method,
    fitting: Fitting<'_>,
    follow: &mut dyn Follow,
) -> Result<Box<dyn Dynamics>, FitError> {
    refuse_own_times(fitting.data)?;
    let problem = Problem::new(fitting)?;
    let ensemble = settings::ensemble(fitting.settings, fitting.seed);
    let candidates = zero::candidates(
        &fitting.settings.text("zero"),
        &problem.library,
        fitting.data,
    )?;
    let mut blocks = problem.sums(fitting, ensemble.map_or(1, |_| ensemble::BLOCKS), follow)?;
    let sums = match ensemble {
        Some(_) => total(&blocks),
        None => blocks.swap_remove(0),
    };
    let how = settings::regression(fitting.settings);
    let regression = Regression::new(&sums, candidates.clone(), how, fitting.isa, follow)?;
    let fit = |threshold: f64, follow: &mut dyn Follow| {
        let (c, _) = regression.at(threshold, follow)?;
        Ok(problem.system(c, threshold))
    };
    let system = match fitting.settings.real_unless_auto("threshold") {
        Some(threshold) => fit(threshold, follow)?,
        None => scan::choose(regression.largest(), &problem.stretches()?, fit, follow)?,
    };
    let Some(ensemble) = ensemble else {
        let first = system.coefficients().to_vec();
        let c = problem.refined(Refinement::new(&sums, first, fitting.isa), follow)?;
        return Ok(Box::new(problem.system(c, system.threshold())));
    };
    let member = Member {
        how,
        threshold: system.threshold(),
        isa: fitting.isa,
    };
    let c = ensemble.coefficients(&blocks, &candidates, member, follow)?;
    Ok(Box::new(problem.system(c, system.threshold())))
}

impl<'a> Problem<'a> {
    fn new(fitting: Fitting<'a>) -> Result<Problem<'a>, SindyError> {
        let Fitting { settings, data, .. } = fitting;
        let extent = extent(data)?;
        let terms = settings::terms(settings);
        let variables = data.dim_obs() + data.dim_input();
        let (law, smoother) = match settings.choice("dynamics") {
            "map" => (Law::Map, Smoother::none()),
            _ => {
                let dt = data.step().dt;
                (Law::Flow { dt }, smoother(settings::smoothing(settings)?))
            }
        };
        Ok(Problem {
            data,
            library: library(terms, variables)?,
            law,
            smoother,
            extent,
        })
    }

    /// The stretches that are long enough.
    fn stretches(&self) -> Result<Vec<Stretch<'a>>, SindyError> {
        let least = match self.law {
            Law::Flow { .. } => self.smoother.least(),
            Law::Map => 2,
        };
        let (n, k) = (self.data.dim_obs(), self.data.dim_input());
        let long = self
            .data
            .whole_stretches()
            .filter(|(_, rows)| rows.len() >= least);
        let stretches: Vec<Stretch<'a>> = long
            .map(|(i, rows)| {
                let t = &self.data.trajectories()[i];
                let x = Rows::new(&t.x[rows.start * n..rows.end * n], n);
                Stretch::new(x, &t.s[rows.start * k..rows.end * k])
            })
            .collect();
        if stretches.is_empty() {
            let longest = self.data.longest_whole().1.len();
            return Err(SindyError::TooShort { longest, least });
        }
        Ok(stretches)
    }

    /// The sums over all usable rows, in so many blocks of rows in time.
    fn sums(
        &self,
        fitting: Fitting<'_>,
        blocks: usize,
        follow: &mut dyn Follow,
    ) -> Result<Vec<Sums>, FitError> {
        let stretches = self.stretches()?;
        let columns = self.library.len();
        if blocks > 1 && columns > MOST_TERMS_OF_BLOCKS {
            return Err(SindyError::EnsembleTooLarge { columns }.into());
        }
        let rows: usize = stretches.iter().map(|stretch| self.usable(*stretch)).sum();
        if rows < columns {
            return Err(SindyError::TooFewRows { rows, columns }.into());
        }
        let n = self.data.dim_obs();
        let mut adder = Adder::new(columns, n, fitting.threads, fitting.isa);
        let mut sums = Vec::with_capacity(blocks);
        let mut done = 0;
        self.each_row("adding up rows", follow, |row| {
            adder.add(row);
            done += 1;
            if done * blocks >= (sums.len() + 1) * rows {
                sums.push(adder.take());
            }
        })?;
        Ok(sums)
    }

    /// Coefficients whose last digits come from the rows themselves, where sums over them have lost these.
    fn refined(
        &self,
        mut refinement: Refinement,
        follow: &mut dyn Follow,
    ) -> Result<Vec<f64>, FitError> {
        while refinement.is_open() {
            self.each_row("refining coefficients", follow, |row| refinement.add(row))?;
            refinement.correct();
        }
        Ok(refinement.into_coefficients())
    }

    /// Shows every usable row (φ, y).
    fn each_row(
        &self,
        what: &'static str,
        follow: &mut dyn Follow,
        mut take: impl FnMut(&[f64]),
    ) -> Result<(), FitError> {
        let stretches = self.stretches()?;
        let rows: usize = stretches.iter().map(|stretch| self.usable(*stretch)).sum();
        let mut terms = Candidates::new(&self.library, self.data.dim_obs());
        let mut done = 0;
        for stretch in stretches {
            let mut slopes = Slopes::new(&self.smoother, stretch, self.dt());
            for t in 0..self.usable(stretch) {
                if done % REPORT == 0 {
                    tell(follow, what, done as u64, rows as u64)?;
                }
                done += 1;
                take(match self.law {
                    Law::Flow { .. } => {
                        let (x, slope) = slopes.at(t);
                        terms.row(x, stretch.inputs_of(t..t + 1), slope)
                    }
                    Law::Map => {
                        let inputs = stretch.inputs_of(t + 1..t + 2);
                        terms.row(stretch.row(t), inputs, stretch.row(t + 1))
                    }
                });
            }
        }
        Ok(())
    }

    /// Rows of a stretch that have a target.
    fn usable(&self, stretch: Stretch<'_>) -> usize {
        match self.law {
            Law::Flow { .. } => stretch.len(),
            Law::Map => stretch.len() - 1,
        }
    }

    fn dt(&self) -> f64 {
        match self.law {
            Law::Flow { dt } => dt,
            Law::Map => 1.0,
        }
    }

    /// The system with these coefficients.
    fn system(&self, c: Vec<f64>, threshold: f64) -> Sindy {
        Sindy::new(
            self.library.clone(),
            self.law,
            c,
            self.extent.clone(),
            threshold,
        )
    }
}

/// The sums of all blocks together.
fn total(blocks: &[Sums]) -> Sums {
    let mut sums = blocks[0].clone();
    blocks[1..].iter().for_each(|block| sums.add(block));
    sums
}

fn smoother((window, order): (usize, usize)) -> Smoother {
    match window {
        1 => Smoother::none(),
        _ => Smoother::new(window, order),
    }
}

/// The library, if it is not too large.
fn library(terms: Terms, variables: usize) -> Result<Library, SindyError> {
    match terms.count(variables) {
        Some(0) => Err(SindyError::NoTerm),
        Some(columns) if columns <= MOST_TERMS => Ok(Library::new(terms, variables)),
        columns => Err(SindyError::TooManyTerms {
            terms,
            variables,
            columns,
        }),
    }
}

/// How the data vary; every channel and input must.
fn extent(data: &Series) -> Result<Extent, SindyError> {
    let mut extent = Extent {
        spread: Vec::new(),
        size: Vec::new(),
    };
    for (c, channel) in data.channels().iter().enumerate() {
        let (mean, sd) = mean_and_sd(data.column(c));
        if sd == 0.0 {
            let name = channel.name.clone();
            return Err(SindyError::Constant { name });
        }
        extent.spread.push(sd);
        extent.size.push(mean.hypot(sd));
    }
    Ok(extent)
}

/// Evaluates the candidate terms of one row after another.
struct Candidates {
    program: Program,
    slots: Vec<f64>,
    variables: Vec<f64>,
    channels: usize,
    row: Vec<f64>,
}

impl Candidates {
    fn new(library: &Library, channels: usize) -> Candidates {
        let program = Program::of_library(library);
        Candidates {
            slots: vec![0.0; program.slots()],
            program,
            variables: vec![0.0; library.variables()],
            channels,
            row: vec![0.0; library.len() + channels],
        }
    }

    /// (φ(x, s), y)
    fn row(&mut self, x: &[f64], s: &[f64], y: &[f64]) -> &[f64] {
        let (of_x, of_s) = self.variables.split_at_mut(self.channels);
        of_x.copy_from_slice(x);
        of_s.copy_from_slice(s);
        let features = self.row.len() - self.channels;
        let (phi, targets) = self.row.split_at_mut(features);
        self.program
            .evaluate::<1>(&self.variables, &mut self.slots, phi);
        targets.copy_from_slice(y);
        &self.row
    }
}
