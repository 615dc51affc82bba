//! An inspection as a document, as `attractor inspect --json` prints it. Its fields are described in `docs/inspect.md`; a field may
//! be added, but none is renamed or removed without a higher `schema`.

use std::path::Path;

use attractor_core::hint::Hint;
use attractor_core::inspect::{ChannelSummary, Comparison, Finding, Inspection, Subject};
use attractor_core::series::Step;
use serde::Serialize;

use crate::shell;

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// The document. Numbers that do not exist, such as the mean of a channel without values, are null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InspectionDocument {
    schema: u32,
    path: String,
    rows: usize,
    step: Step,
    trajectories: Vec<TrajectoryDocument>,
    channels: Vec<ChannelDocument>,
    inputs: Vec<String>,
    against: Option<ComparisonDocument>,
    findings: Vec<FindingDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct TrajectoryDocument {
    name: String,
    rows: usize,
    gaps: usize,
    start: f64,
    end: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ChannelDocument {
    name: String,
    unit: String,
    mean: f64,
    spread: f64,
    min: f64,
    max: f64,
    missing: usize,
    autocorrelation: Option<Span>,
    period: Option<Period>,
}

/// A stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Span {
    rows: f64,
    time: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Period {
    #[serde(flatten)]
    span: Span,
    share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ComparisonDocument {
    path: Option<String>,
    rows: usize,
    channels: Vec<DifferenceDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct DifferenceDocument {
    name: String,
    mean_shift: f64,
    spread_ratio: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct FindingDocument {
    check: &'static str,
    severity: &'static str,
    subject: SubjectDocument,
    what: String,
    remedy: Hint,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum SubjectDocument {
    Recording,
    Pair,
    Channels {
        names: Vec<String>,
    },
    Rows {
        trajectory: usize,
        first: usize,
        end: usize,
    },
}

impl InspectionDocument {
    /// `path` is the file that was inspected, `against` the one it was compared with.
    pub fn new(inspection: &Inspection, path: &Path, against: Option<&Path>) -> InspectionDocument {
        let step = &inspection.step;
        let trajectories = inspection.trajectories.iter().map(|t| TrajectoryDocument {
            name: t.name.clone(),
            rows: t.rows,
            gaps: t.gaps,
            start: t.start,
            end: t.end,
        });
        InspectionDocument {
            schema: SCHEMA,
            path: path.display().to_string(),
            rows: inspection.rows,
            step: step.clone(),
            trajectories: trajectories.collect(),
            channels: inspection
                .channels
                .iter()
                .map(|c| channel(c, step))
                .collect(),
            inputs: inspection.inputs.clone(),
            against: inspection.against.as_ref().map(|c| comparison(c, against)),
            findings: inspection
                .findings
                .iter()
                .map(|f| finding(f, &shell::path(path)))
                .collect(),
        }
    }
}

fn channel(c: &ChannelSummary, step: &Step) -> ChannelDocument {
    let span = |rows: f64| Span {
        rows,
        time: rows * step.dt,
    };
    ChannelDocument {
        name: c.name.clone(),
        unit: c.unit.clone(),
        mean: c.mean,
        spread: c.sd,
        min: c.min,
        max: c.max,
        missing: c.missing,
        autocorrelation: c.autocorrelation_time.map(span),
        period: c.period.map(|period| Period {
            span: span(period.rows),
            share: period.share,
        }),
    }
}

fn comparison(c: &Comparison, path: Option<&Path>) -> ComparisonDocument {
    let differences = c.differences.iter().map(|d| DifferenceDocument {
        name: d.name.clone(),
        mean_shift: d.mean_shift,
        spread_ratio: d.spread_ratio,
    });
    ComparisonDocument {
        path: path.map(|p| p.display().to_string()),
        rows: c.rows,
        channels: differences.collect(),
    }
}

fn finding(f: &Finding, file: &str) -> FindingDocument {
    FindingDocument {
        check: f.check,
        severity: f.severity.word(),
        subject: match &f.subject {
            Subject::Recording => SubjectDocument::Recording,
            Subject::Pair => SubjectDocument::Pair,
            Subject::Channels(names) => SubjectDocument::Channels {
                names: names.clone(),
            },
            &Subject::Rows {
                trajectory,
                first,
                end,
            } => SubjectDocument::Rows {
                trajectory,
                first,
                end,
            },
        },
        what: f.what.clone(),
        remedy: f.remedy.clone().naming(file),
    }
}

#[cfg(test)]
mod tests {
    use attractor_core::inspect::{Options, inspect, inspect_against};
    use attractor_core::series::Series;

    use super::*;
    use serde_json::{Value, json};

    fn sample() -> Series {
        let rows = (0..500).flat_map(|t| [(f64::from(t) * 0.3).sin(), 7.0]);
        Series::from_rows(rows.collect(), 2, 0.5).unwrap()
    }

    #[test]
    fn every_figure_is_in_its_place() {
        let inspection = inspect(&sample(), Options::default());
        let document = json!(InspectionDocument::new(
            &inspection,
            Path::new("a.csv"),
            None
        ));
        assert_eq!(
            (&document["schema"], &document["path"]),
            (&json!(1), &json!("a.csv"))
        );
        assert_eq!(document["step"], json!({ "dt": 0.5, "unit": "" }));
        assert_eq!(
            document["trajectories"],
            json!([{ "name": "", "rows": 500, "gaps": 0, "start": 0.0, "end": 249.5 }])
        );
        let sine = &document["channels"][0];
        assert_eq!(sine["spread"], json!(inspection.channels[0].sd));
        assert_eq!(
            sine["period"]["time"].as_f64().unwrap(),
            0.5 * inspection.channels[0].period.unwrap().rows
        );
        assert_eq!(document["channels"][1]["period"], Value::Null);
        assert_eq!(
            document["findings"][0]["subject"],
            json!({ "kind": "channels", "names": ["x2"] })
        );
        assert_eq!(document["against"], Value::Null);
    }

    #[test]
    fn a_comparison_has_its_own_part() {
        let inspection = inspect_against(&sample(), &sample(), Options::default());
        let document = json!(InspectionDocument::new(
            &inspection,
            Path::new("a.csv"),
            Some(Path::new("b.csv"))
        ));
        assert_eq!(document["findings"][0]["check"], "same-data");
        assert_eq!(
            document["findings"][0]["subject"],
            json!({ "kind": "pair" })
        );
        assert_eq!(document["against"]["path"], "b.csv");
        let channels = document["against"]["channels"].as_array().unwrap();
        assert_eq!(channels[0]["spread_ratio"], 1.0);
        // A constant channel has no spread to measure the shift by.
        assert_eq!(channels[1]["mean_shift"], Value::Null);
    }
}
