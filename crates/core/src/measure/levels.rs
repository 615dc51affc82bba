//! What a measure gives without any model, so that a score can be read: its *floor*, what the data themselves reach, and
//! its *chance*, what surrogates reach that lack the dynamics.
//!
//! | | floor | chance |
//! | --- | --- | --- |
//! | orbits | other true orbits against the truth, the median; else the halves of the truth against each other | the best of the [surrogates](super::surrogate) that are not perfect by construction |
//! | forecasts | [analogues](super::analogue) in another true orbit; else, of the second half, in the first | the best of surrogates and persistence as forecasts |
//!
//! A floor from halves is that of half as many rows: for bins too high, as D_stsp falls with the length. A good model may
//! forecast better than the floor of its data, since a model interpolates and analogues do not.

use super::analogue::Library;
use super::prediction_error::prediction_error_of;
use super::summary::median;
use super::surrogate::Surrogate;
use super::valid_time::ValidForecasts;
use super::{
    Against, Better, Forecast, Judges, MEASURES, MeasureError, MeasureInfo, Options, Prepare, Rows,
    spread,
};
use crate::progress::{Follow, Stopped, tell};

/// The floor and chance of one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The measure.
    pub id: &'static str,
    /// What the data themselves reach; none where it is not defined.
    pub floor: Option<f64>,
    /// The best of the surrogates that are not perfect by construction.
    pub chance: Option<f64>,
    /// All surrogates by name, in order; none where the measure is not defined for one.
    pub surrogates: Vec<(&'static str, Option<f64>)>,
}

/// Forecasts that say nothing changes.
const PERSISTENCE: &str = "persistence";

/// The names under which surrogates stand.
pub const SURROGATES: [&str; 5] = [
    Surrogate::PhaseRandomised.name(),
    Surrogate::Shuffled.name(),
    Surrogate::WhiteNoise.name(),
    Surrogate::Constant.name(),
    PERSISTENCE,
];

/// Rows that analogues are looked up for.
const QUERIES: usize = 1000;

/// Why there are no levels.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LevelsError {
    /// No measure can be made of the truth.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The levels of every measure that has a meaning for the truth, in the order of the list. `others`
/// are other orbits of the true system, as long as the truth and with its scale, where there are any.
pub fn levels(
    truth: Rows<'_>,
    others: &[Rows<'_>],
    options: &Options,
    follow: &mut dyn Follow,
) -> Result<Vec<Level>, LevelsError> {
    spread(truth)?;
    let made = Surrogate::ALL.map(|kind| (kind, kind.of(truth, options.seed)));
    let data = Data {
        truth,
        others,
        surrogates: made
            .iter()
            .map(|(kind, x)| (*kind, Rows::new(x, truth.dim())))
            .collect(),
        options,
    };
    let mut found = Vec::new();
    for (i, info) in MEASURES.iter().enumerate() {
        tell(
            follow,
            "floors and chance levels",
            i as u64,
            MEASURES.len() as u64,
        )?;
        match info.judges {
            Judges::Orbit(prepare) => found.extend(data.of_orbits(info, prepare)),
            Judges::Forecasts(forecast) => found.push(data.of_forecasts(info, forecast)),
        }
    }
    Ok(found)
}

/// What levels are made of.
struct Data<'a> {
    truth: Rows<'a>,
    others: &'a [Rows<'a>],
    surrogates: Vec<(Surrogate, Rows<'a>)>,
    options: &'a Options,
}

impl Data<'_> {
    fn of_orbits(&self, info: &MeasureInfo, prepare: Prepare) -> Option<Level> {
        let against = match prepare(self.truth, self.options) {
            Ok(Some(against)) => against,
            Ok(None) => return None,
            // What one measure cannot make of the truth is no matter of the others.
            Err(_) => return Some(level(info, None, Vec::new())),
        };
        let surrogates = self.surrogates.iter();
        let values = surrogates
            .map(|&(kind, rows)| (Some(kind), kind.name(), value(against.as_ref(), rows)));
        let floor = match self.others {
            [] => self.between_halves(prepare),
            others => median_over(against.as_ref(), others),
        };
        Some(level(info, floor, values.collect()))
    }

    fn between_halves(&self, prepare: Prepare) -> Option<f64> {
        let (first, second) = self.truth.halves();
        let against = prepare(first, self.options).ok()??;
        value(against.as_ref(), second)
    }

    fn of_forecasts(&self, info: &MeasureInfo, forecast: Forecast) -> Level {
        let named = |&(kind, rows): &(Surrogate, Rows<'_>)| {
            let value = self.judge(forecast, |t, i| rows.row(t + i));
            (Some(kind), kind.name(), value)
        };
        let mut values: Vec<_> = self.surrogates.iter().map(named).collect();
        let persistence = self.judge(forecast, |t, _| self.truth.row(t));
        values.push((None, PERSISTENCE, persistence));
        level(info, self.analogues(forecast), values)
    }

    /// How well forecasts of the truth do.
    fn judge<'a>(
        &self,
        forecast: Forecast,
        predict: impl Fn(usize, usize) -> &'a [f64],
    ) -> Option<f64> {
        let (truth, n) = (self.truth, self.options.pe_steps);
        match forecast {
            Forecast::Error if truth.len() > n => {
                let starts = 0..truth.len() - n;
                Some(prediction_error_of(truth, n, starts, predict))
            }
            Forecast::Error => None,
            Forecast::Time => {
                let forecasts = ValidForecasts::new(truth, self.options.threshold).ok()?;
                Some(forecasts.of(predict).steps.value)
            }
        }
    }

    /// How well analogues do.
    fn analogues(&self, forecast: Forecast) -> Option<f64> {
        let (library, asked) = match self.others {
            [] => self.truth.halves(),
            [other, ..] => (*other, self.truth),
        };
        let spreads = spread(self.truth).ok()?.into_iter().map(|(_, sd)| sd);
        let library = Library::new(library, spreads);
        match forecast {
            Forecast::Error => self.error_of_analogues(&library, asked),
            Forecast::Time => {
                let forecasts = ValidForecasts::new(asked, self.options.threshold).ok()?;
                let steps = forecasts.horizon();
                let found: Vec<usize> = forecasts
                    .starts()
                    .iter()
                    .map(|&t| library.nearest(asked.row(t), steps))
                    .collect();
                let place = |t: usize| forecasts.starts().partition_point(|&s| s < t);
                let valid = forecasts.of(|t, i| library.row(found[place(t)] + i));
                Some(valid.steps.value)
            }
        }
    }

    fn error_of_analogues(&self, library: &Library<'_>, asked: Rows<'_>) -> Option<f64> {
        let n = self.options.pe_steps;
        let room = asked.len().checked_sub(n).filter(|&room| room > 0)?;
        let count = QUERIES.min(room);
        let starts = (0..count).map(|i| i * room / count);
        let predict = |t: usize, i: usize| library.row(library.nearest(asked.row(t), n) + i);
        Some(prediction_error_of(asked, n, starts, predict))
    }
}

fn value(against: &dyn Against, rows: Rows<'_>) -> Option<f64> {
    against.judge(rows).ok().map(|estimate| estimate.value)
}

fn median_over(against: &dyn Against, orbits: &[Rows<'_>]) -> Option<f64> {
    let values: Option<Vec<f64>> = orbits.iter().map(|&rows| value(against, rows)).collect();
    values.map(|mut values| median(&mut values))
}

fn level(
    info: &MeasureInfo,
    floor: Option<f64>,
    values: Vec<(Option<Surrogate>, &'static str, Option<f64>)>,
) -> Level {
    let counts = |kind: Option<Surrogate>| kind.is_none_or(|kind| !info.blind_to.contains(&kind));
    let fair = values.iter().filter(|(kind, ..)| counts(*kind));
    let fair = fair.filter_map(|&(.., value)| value);
    Level {
        id: info.entry.id,
        floor,
        chance: match info.better {
            Better::Lower => fair.reduce(f64::min),
            Better::Higher => fair.reduce(f64::max),
        },
        surrogates: values
            .iter()
            .map(|&(_, name, value)| (name, value))
            .collect(),
    }
}
