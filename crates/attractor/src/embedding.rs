//! Delay embeddings of recordings, as `attractor embed` makes them: delays are found in the longest stretch without a gap or a
//! missing value, and the whole recording is embedded with them. The document that `--json` prints is described in
//! `docs/embedding.md`; a field may be added, but none is renamed or removed without a higher `schema`.

use attractor_core::dynamics::Stretch;
use attractor_core::embed::cao::{Cao, CaoPlan, cao};
use attractor_core::embed::columns::Columns;
use attractor_core::embed::mutual_information::MutualInformation;
use attractor_core::embed::pecuzal::{self, Candidate, Curve, Cycle, End, Pecuzal, Plan};
use attractor_core::embed::{
    Coordinate, DelayRule, EmbedError, LAGS, coordinate_name, delay_rule, embed_series,
    first_delay, suggested_theiler,
};
use attractor_core::hint::Hint;
use attractor_core::progress::Follow;
use attractor_core::series::Series;
use attractor_core::text::count;
use serde::Serialize;

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// The largest dimension that Cao's method tries.
const MAX_DIM: usize = 10;

/// How delays are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Unequal delays, of several channels.
    Pecuzal,
    /// Multiples of one delay, of one channel.
    Delay,
}

/// What is asked. What is not given is found.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// How delays are found.
    pub method: Method,
    /// The largest delay.
    pub max_delay: Option<usize>,
    /// Points at most this many rows apart do not count as neighbours.
    pub theiler: Option<usize>,
    /// By how much L must fall for PECUZAL to take a coordinate.
    pub threshold: f64,
    /// Coordinates of a delay embedding.
    pub dims: Option<usize>,
    /// Worker threads.
    pub threads: usize,
}

impl Default for Request {
    /// PECUZAL as published, with one thread.
    fn default() -> Request {
        Request {
            method: Method::Pecuzal,
            max_delay: None,
            theiler: None,
            threshold: Plan::default().threshold,
            dims: None,
            threads: 1,
        }
    }
}

/// An embedded recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// The delay vectors.
    pub series: Series,
    /// Their coordinates.
    pub coordinates: Vec<Coordinate>,
    /// The names of the channels that were embedded.
    pub channels: Vec<String>,
    /// The Theiler window.
    pub theiler: usize,
    /// The largest delay that was tried.
    pub max_delay: usize,
    /// Rows of the recording, and how many of them delays were found in.
    pub rows: (usize, usize),
    /// Values that were copies of others.
    pub copies: usize,
    /// How the coordinates were found.
    pub found: Found,
}

/// How coordinates were found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// By PECUZAL.
    Pecuzal(Pecuzal),
    /// By mutual information and false neighbours.
    Delay {
        /// What decided on the delay.
        rule: DelayRule,
        /// The mutual information by delay.
        information: MutualInformation,
        /// False neighbours by dimension; none where the dimension was given.
        cao: Option<Cao>,
    },
}

/// Why a recording is not embedded, or has no exponent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    /// A channel does not change.
    #[error("channel `{name}` is constant")]
    Constant {
        /// Its name.
        name: String,
    },
    /// A channel's squares are not finite, or 0 though it varies.
    #[error("squares of channel `{name}` overflow or vanish")]
    Squares {
        /// Its name.
        name: String,
    },
    /// One channel is needed.
    #[error("expected one channel, found {found}")]
    SeveralChannels {
        /// How many there are.
        found: usize,
    },
    /// Neighbours do not part, or not evenly.
    #[error("channel `{name}` has no positive Lyapunov exponent that is clear enough")]
    NoExponent {
        /// Its name.
        name: String,
    },
    /// A region of the fit that no row is in.
    #[error("--fit ends beyond the recording of {}", count(*rows, "row"))]
    FitBeyond {
        /// Rows of the recording.
        rows: usize,
    },
    /// A flag that says nothing about what was named.
    #[error("{flag} does not act on {what}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// What was named.
        what: &'static str,
    },
    /// The values allow no embedding.
    #[error(transparent)]
    Values(#[from] EmbedError),
    /// The values allow no search for an exponent.
    #[error(transparent)]
    Exponent(EmbedError),
}

impl EmbeddingError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            EmbeddingError::Constant { .. } => {
                Some("choose the channels that vary with --channels".into())
            }
            EmbeddingError::Squares { .. } => {
                Some("give the data in other units, or standardise them".into())
            }
            EmbeddingError::FitBeyond { .. } => Some(
                "fit a region in units of time within the recording, or leave --fit out".into(),
            ),
            EmbeddingError::SeveralChannels { .. } => Some("choose one with --channels".into()),
            EmbeddingError::NoExponent { .. } => {
                Some("`attractor lyapunov FILE --curves FILE` writes what was fitted".into())
            }
            EmbeddingError::Flag { .. } => Some("leave it out".into()),
            EmbeddingError::Exponent(EmbedError::TooShort { .. }) => Some(
                "record longer, or lower --delay, --dims, --theiler or the end of --fit".into(),
            ),
            EmbeddingError::Exponent(EmbedError::NoMinimum { .. }) => Some("give --delay".into()),
            EmbeddingError::Values(error) | EmbeddingError::Exponent(error) => error.hint(),
        }
    }
}

/// The longest complete stretch of a recording, prepared for a search of delays.
pub(crate) fn columns(series: &Series) -> Result<Columns, EmbeddingError> {
    let rows = Stretch::longest(series).rows();
    if rows.is_empty() {
        let (needed, found) = (2, 0);
        return Err(EmbedError::TooShort { needed, found }.into());
    }
    let name = |channel: usize| series.channels()[channel].name.clone();
    Columns::new(rows).map_err(|error| match error {
        EmbedError::Constant { channel } => EmbeddingError::Constant {
            name: name(channel),
        },
        EmbedError::Squares { channel } => EmbeddingError::Squares {
            name: name(channel),
        },
        error => error.into(),
    })
}

/// Embeds a recording.
pub fn embed(
    series: &Series,
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<Embedded, EmbeddingError> {
    let columns = columns(series)?;
    let theiler = request
        .theiler
        .unwrap_or_else(|| suggested_theiler(&columns, LAGS));
    let (max_delay, coordinates, found) = match request.method {
        Method::Pecuzal => by_pecuzal(&columns, request, theiler, follow)?,
        Method::Delay => by_delay(&columns, request, theiler, follow)?,
    };
    Ok(Embedded {
        series: embed_series(series, &coordinates)?,
        channels: series.channels().iter().map(|c| c.name.clone()).collect(),
        coordinates,
        theiler,
        max_delay,
        rows: (series.total_len(), columns.len()),
        copies: columns.spread(),
        found,
    })
}

type Way = (usize, Vec<Coordinate>, Found);

fn by_pecuzal(
    columns: &Columns,
    request: &Request,
    theiler: usize,
    follow: &mut dyn Follow,
) -> Result<Way, EmbeddingError> {
    let plan = Plan {
        max_delay: request.max_delay.unwrap_or(Plan::default().max_delay),
        theiler,
        threshold: request.threshold,
        threads: request.threads,
        ..Plan::default()
    };
    let found = pecuzal::pecuzal(columns, &plan, follow)?;
    let coordinates = found.coordinates.clone();
    Ok((plan.max_delay, coordinates, Found::Pecuzal(found)))
}

fn by_delay(
    columns: &Columns,
    request: &Request,
    theiler: usize,
    follow: &mut dyn Follow,
) -> Result<Way, EmbeddingError> {
    if columns.dim() > 1 {
        let found = columns.dim();
        return Err(EmbeddingError::SeveralChannels { found });
    }
    let lags = request.max_delay.unwrap_or(LAGS);
    let delay = first_delay(columns, 0, lags)?;
    let plan = CaoPlan {
        channel: 0,
        delay,
        max_dim: MAX_DIM,
        theiler,
        threads: request.threads,
    };
    let neighbours = match request.dims {
        Some(_) => None,
        None => Some(cao(columns, &plan, follow)?),
    };
    let dims = request
        .dims
        .or_else(|| neighbours.as_ref()?.dim())
        .ok_or(EmbedError::NoDimension { dims: MAX_DIM })?;
    let found = Found::Delay {
        rule: delay_rule(columns, 0),
        information: MutualInformation::new(columns.channel(0), lags),
        cao: neighbours,
    };
    let coordinates = (0..dims).map(|i| Coordinate::new(0, i * delay));
    Ok((lags, coordinates.collect(), found))
}

impl Embedded {
    /// The name of a coordinate.
    pub fn name(&self, coordinate: Coordinate) -> String {
        coordinate_name(&self.channels[coordinate.channel], coordinate.delay)
    }

    /// The document.
    pub fn document(&self) -> EmbeddingDocument {
        let (pecuzal, delay) = match &self.found {
            Found::Pecuzal(found) => (Some(self.pecuzal(found)), None),
            Found::Delay {
                rule,
                information,
                cao,
            } => {
                let delay = DelayDocument {
                    rule: match rule {
                        DelayRule::Uncorrelated => "uncorrelated",
                        DelayRule::FirstMinimum => "first-minimum",
                    },
                    mutual_information: information.bits.clone(),
                    bins: information.bins,
                    e1: cao.as_ref().map(|cao| cao.e1.clone()),
                    e2: cao.as_ref().map(|cao| cao.e2.clone()),
                };
                (None, Some(delay))
            }
        };
        let coordinates = self.coordinates.iter().map(|&c| self.coordinate(c));
        EmbeddingDocument {
            schema: SCHEMA,
            rows: self.rows.0,
            rows_searched: self.rows.1,
            copies: self.copies,
            theiler: self.theiler,
            max_delay: self.max_delay,
            coordinates: coordinates.collect(),
            pecuzal,
            delay,
        }
    }

    fn coordinate(&self, c: Coordinate) -> CoordinateDocument {
        CoordinateDocument {
            name: self.name(c),
            channel: self.channels[c.channel].clone(),
            delay: c.delay,
        }
    }

    fn candidate(&self, candidate: &Candidate) -> CandidateDocument {
        CandidateDocument {
            coordinate: self.coordinate(candidate.coordinate),
            decrease: candidate.decrease,
        }
    }

    fn pecuzal(&self, found: &Pecuzal) -> PecuzalDocument {
        let curve = |curve: &Curve| CurveDocument {
            base: curve.base.iter().map(|&c| self.name(c)).collect(),
            channel: self.channels[curve.channel].clone(),
            continuity: curve.continuity.clone(),
            candidates: curve.candidates.iter().map(|c| self.candidate(c)).collect(),
        };
        let cycle = |cycle: &Cycle| CycleDocument {
            best: self.candidate(&cycle.best),
            taken: cycle.taken,
            curves: cycle.curves.iter().map(curve).collect(),
        };
        PecuzalDocument {
            end: match found.end {
                End::Embedded => "embedded",
                End::NoImprovement => "no-improvement",
                End::CycleLimit => "cycle-limit",
            },
            cycles: found.cycles.iter().map(cycle).collect(),
        }
    }
}

/// The document that `attractor embed --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EmbeddingDocument {
    schema: u32,
    rows: usize,
    rows_searched: usize,
    copies: usize,
    theiler: usize,
    max_delay: usize,
    coordinates: Vec<CoordinateDocument>,
    pecuzal: Option<PecuzalDocument>,
    delay: Option<DelayDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CoordinateDocument {
    name: String,
    channel: String,
    delay: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CandidateDocument {
    #[serde(flatten)]
    coordinate: CoordinateDocument,
    decrease: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct DelayDocument {
    rule: &'static str,
    mutual_information: Vec<f64>,
    bins: usize,
    e1: Option<Vec<f64>>,
    e2: Option<Vec<f64>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct PecuzalDocument {
    end: &'static str,
    cycles: Vec<CycleDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CycleDocument {
    best: CandidateDocument,
    taken: bool,
    curves: Vec<CurveDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CurveDocument {
    base: Vec<String>,
    channel: String,
    continuity: Vec<f64>,
    candidates: Vec<CandidateDocument>,
}
