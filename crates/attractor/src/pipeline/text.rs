//! Steps as texts: a word, and after a blank what it takes.

use std::fmt;
use std::str::FromStr;

use attractor_core::prepare::Band;
use attractor_core::series::Scaling;

use super::{Ends, Pipeline, PipelineError, Spread, Step};
use crate::format::Moment;

/// No window is longer, in rows.
const LONGEST: f64 = 1e6;

impl FromStr for Pipeline {
    type Err = PipelineError;

    fn from_str(text: &str) -> Result<Pipeline, PipelineError> {
        let steps = text
            .split(';')
            .map(str::trim)
            .filter(|step| !step.is_empty());
        Ok(Pipeline {
            steps: steps.map(str::parse).collect::<Result<_, _>>()?,
        })
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.steps.iter().map(Step::to_string).collect();
        f.write_str(&steps.join("; "))
    }
}

impl FromStr for Step {
    type Err = PipelineError;

    fn from_str(text: &str) -> Result<Step, PipelineError> {
        let (word, what) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        parse(word, what.trim()).map_err(|expected| PipelineError::Text {
            text: text.to_string(),
            expected,
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = |moment: &Option<Moment>| moment.map_or(String::new(), |m| m.to_string());
        match self {
            Step::Gaussian(sigma) => write!(f, "smooth gaussian:{sigma}"),
            Step::Hann {
                length,
                ends: Ends::Same,
            } => write!(f, "smooth hann:{length}"),
            Step::Hann {
                length,
                ends: Ends::Padded,
            } => write!(f, "smooth hann:{length}:padded"),
            Step::Standardize(Spread::Sample) => write!(f, "standardize"),
            Step::Standardize(Spread::Population) => write!(f, "standardize population"),
            Step::Scale(scaling) => {
                let pairs = scaling.mean.iter().zip(&scaling.sd);
                let pairs: Vec<String> = pairs.map(|(mean, sd)| format!("{mean}/{sd}")).collect();
                write!(f, "scale {}", pairs.join(","))
            }
            Step::Detrend => write!(f, "detrend"),
            Step::Filter(Band::Between(low, high)) => write!(f, "band-pass {low}:{high}"),
            Step::Filter(Band::Below(high)) => write!(f, "low-pass {high}"),
            Step::Filter(Band::Above(low)) => write!(f, "high-pass {low}"),
            Step::Filter(Band::Without(found)) => write!(f, "notch {found}"),
            Step::Missing(values) => {
                let values: Vec<String> = values.iter().map(f64::to_string).collect();
                write!(f, "missing {}", values.join(","))
            }
            Step::Interpolate(None) => write!(f, "interpolate"),
            Step::Interpolate(Some(longest)) => write!(f, "interpolate {longest}"),
            Step::Every(n) => write!(f, "every {n}"),
            Step::Noise { share, seed: 0 } => write!(f, "noise {share}"),
            Step::Noise { share, seed } => write!(f, "noise {share}:{seed}"),
            Step::Cut { from, to } => write!(f, "cut {}:{}", moment(from), moment(to)),
        }
    }
}

fn parse(word: &str, what: &str) -> Result<Step, String> {
    match word {
        "smooth" => smoothing(what),
        "standardize" => match what {
            "" => Ok(Step::Standardize(Spread::Sample)),
            "population" => Ok(Step::Standardize(Spread::Population)),
            _ => Err("expected `standardize` or `standardize population`".to_string()),
        },
        "scale" => scaling(what),
        "detrend" if what.is_empty() => Ok(Step::Detrend),
        "detrend" => Err("`detrend` takes nothing".to_string()),
        "band-pass" => {
            let (low, high) = what
                .split_once(':')
                .ok_or("expected two frequencies, as in 1:40")?;
            Ok(Step::Filter(Band::Between(
                frequency(low)?,
                frequency(high)?,
            )))
        }
        "low-pass" => Ok(Step::Filter(Band::Below(frequency(what)?))),
        "high-pass" => Ok(Step::Filter(Band::Above(frequency(what)?))),
        "notch" => Ok(Step::Filter(Band::Without(frequency(what)?))),
        "missing" => missing(what),
        "interpolate" if what.is_empty() => Ok(Step::Interpolate(None)),
        "interpolate" => Ok(Step::Interpolate(Some(rows(what)?))),
        "every" => Ok(Step::Every(rows(what)?)),
        "noise" => noise(what),
        "cut" => cut(what),
        _ => Err("no step has this name".to_string()),
    }
}

fn smoothing(what: &str) -> Result<Step, String> {
    let expected =
        "expected gaussian:SIGMA, hann:ROWS or hann:ROWS:padded with an odd number of rows from 3";
    let mut parts = what.split(':');
    let step = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("gaussian"), Some(sigma), None, None) => {
            let sigma = sigma
                .parse()
                .ok()
                .filter(|s: &f64| *s > 0.0 && *s <= LONGEST);
            sigma.map(Step::Gaussian)
        }
        (Some("hann"), Some(length), ends, None) => {
            let length = length.parse().ok();
            let length = length.filter(|&l: &usize| l >= 3 && l % 2 == 1 && l as f64 <= LONGEST);
            let ends = match ends {
                None => Some(Ends::Same),
                Some("padded") => Some(Ends::Padded),
                Some(_) => None,
            };
            length
                .zip(ends)
                .map(|(length, ends)| Step::Hann { length, ends })
        }
        _ => None,
    };
    step.ok_or_else(|| expected.to_string())
}

fn scaling(what: &str) -> Result<Step, String> {
    let number = |text: &str| text.parse().ok().filter(|v: &f64| v.is_finite());
    let pair = |pair: &str| {
        let (mean, sd) = pair.split_once('/')?;
        Some((number(mean)?, number(sd).filter(|&sd| sd > 0.0)?))
    };
    let pairs: Option<Vec<(f64, f64)>> = what.split(',').map(pair).collect();
    let (mean, sd) = pairs
        .ok_or("expected MEAN/SPREAD for every channel, separated by commas")?
        .into_iter()
        .unzip();
    Ok(Step::Scale(Scaling { mean, sd }))
}

fn missing(what: &str) -> Result<Step, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|v: &f64| v.is_finite());
    let values: Option<Vec<f64>> = what.split(',').map(number).collect();
    let values = values.ok_or("expected numbers separated by commas")?;
    Ok(Step::Missing(values))
}

fn rows(text: &str) -> Result<usize, String> {
    let rows = text
        .parse()
        .ok()
        .filter(|&n: &usize| n >= 1 && n as f64 <= LONGEST);
    rows.ok_or_else(|| format!("expected a number of rows from 1 to {LONGEST}"))
}

fn noise(what: &str) -> Result<Step, String> {
    let (share, seed) = what.split_once(':').unwrap_or((what, "0"));
    let share = share.parse().ok();
    let share = share.filter(|s: &f64| *s >= 0.0 && s.is_finite());
    let noise = share.zip(seed.parse().ok());
    let (share, seed) =
        noise.ok_or("expected a share of the spread, as in 0.05, or with a seed, as in 0.05:7")?;
    Ok(Step::Noise { share, seed })
}

fn frequency(text: &str) -> Result<f64, String> {
    let found = text
        .trim()
        .parse()
        .ok()
        .filter(|f: &f64| *f > 0.0 && f.is_finite());
    found.ok_or_else(|| "expected a frequency above 0".to_string())
}

/// `from:to`, either of which may be a row (`row:10`) or nothing.
fn cut(what: &str) -> Result<Step, String> {
    let expected = || "expected FROM:TO, times or rows as in row:1:row:1000".to_string();
    let skip = if what.starts_with("row:") {
        "row:".len()
    } else {
        0
    };
    let colon = what[skip..].find(':').ok_or_else(expected)? + skip;
    let moment = |text: &str| match text {
        "" => Ok(None),
        text => text.parse().map(Some),
    };
    let (from, to) = (moment(&what[..colon])?, moment(&what[colon + 1..])?);
    match (from, to) {
        (None, None) => Err(expected()),
        (from, to) => Ok(Step::Cut { from, to }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_printed_as_they_are_read() {
        for text in [
            "smooth gaussian:6",
            "smooth gaussian:1.5",
            "smooth hann:15",
            "smooth hann:15:padded",
            "standardize",
            "standardize population",
            "scale 0.1/2,-3/0.3333333333333333",
            "detrend",
            "band-pass 0.5:40",
            "low-pass 40",
            "high-pass 0.1",
            "notch 50",
            "missing -99.99,-999",
            "interpolate",
            "interpolate 5",
            "every 4",
            "noise 0.05",
            "noise 0.05:7",
            "cut 1.5:2",
            "cut row:1:row:9641",
            "cut :row:7",
            "cut 3:",
            "detrend; notch 50; standardize",
        ] {
            let parsed: Pipeline = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_step_is_told() {
        for text in [
            "smoth gaussian:6",
            "smooth",
            "smooth gaussian:-1",
            "smooth gaussian:inf",
            "smooth hann:14",
            "smooth hann:1",
            "smooth hann:15:wide",
            "standardize me",
            "scale 1",
            "scale 1/0",
            "detrend 3",
            "band-pass 1",
            "band-pass a:b",
            "notch -50",
            "missing",
            "missing x",
            "interpolate 0",
            "interpolate x",
            "every",
            "every 0",
            "noise -1",
            "noise 0.1:x",
            "cut",
            "cut :",
            "cut row:0:",
        ] {
            let error = text.parse::<Step>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("`{text}` is not a step"))
            );
            assert!(error.hint().is_some());
        }
    }
}
