//! An inspection as JSON, the document that `attractor inspect --json` prints. Its fields are described in
//! `docs/inspect.md`; a field may be added, but none is renamed or removed without a higher `schema`.

use std::path::Path;

use attractor_core::inspect::{
    ChannelSummary, Comparison, Difference, Finding, Inspection, Subject, TrajectorySummary,
};
use attractor_core::series::Step;
use serde_json::{Value, json};

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// The document: `path` is the file that was inspected, `against` the one it was compared with. Numbers that do not
/// exist, such as the mean of a channel without values, are null.
pub fn to_json(inspection: &Inspection, path: &Path, against: Option<&Path>) -> Value {
    let list = |values: Vec<Value>| Value::Array(values);
    json!({
        "schema": SCHEMA,
        "path": path.display().to_string(),
        "rows": inspection.rows,
        "step": { "dt": inspection.step.dt, "unit": inspection.step.unit },
        "trajectories": list(inspection.trajectories.iter().map(trajectory).collect()),
        "channels": list(inspection.channels.iter().map(|c| channel(c, &inspection.step)).collect()),
        "inputs": inspection.inputs,
        "against": inspection.against.as_ref().map(|c| comparison(c, against)),
        "findings": list(inspection.findings.iter().map(finding).collect()),
    })
}

fn trajectory(t: &TrajectorySummary) -> Value {
    json!({ "name": t.name, "rows": t.rows, "gaps": t.gaps, "start": t.start, "end": t.end })
}

fn channel(c: &ChannelSummary, step: &Step) -> Value {
    let memory = c.autocorrelation_time;
    json!({
        "name": c.name,
        "unit": c.unit,
        "mean": c.mean,
        "spread": c.sd,
        "min": c.min,
        "max": c.max,
        "missing": c.missing,
        "autocorrelation": memory.map(|rows| json!({ "rows": rows, "time": rows * step.dt })),
        "period": c.period.map(|p| json!({ "rows": p.rows, "time": p.rows * step.dt, "share": p.share })),
    })
}

fn comparison(c: &Comparison, path: Option<&Path>) -> Value {
    let difference = |d: &Difference| json!({ "name": d.name, "mean_shift": d.mean_shift, "spread_ratio": d.spread_ratio });
    json!({
        "path": path.map(|p| p.display().to_string()),
        "rows": c.rows,
        "channels": c.differences.iter().map(difference).collect::<Vec<Value>>(),
    })
}

fn finding(f: &Finding) -> Value {
    json!({
        "check": f.check,
        "severity": f.severity.word(),
        "subject": subject(&f.subject),
        "what": f.what,
        "remedy": f.remedy,
    })
}

fn subject(subject: &Subject) -> Value {
    match subject {
        Subject::Recording => json!({ "kind": "recording" }),
        Subject::Pair => json!({ "kind": "pair" }),
        Subject::Channels(names) => json!({ "kind": "channels", "names": names }),
        Subject::Rows {
            trajectory,
            first,
            end,
        } => json!({ "kind": "rows", "trajectory": trajectory, "first": first, "end": end }),
    }
}

#[cfg(test)]
mod tests {
    use attractor_core::inspect::{Options, inspect, inspect_against};
    use attractor_core::series::Series;

    use super::*;

    fn sample() -> Series {
        let rows = (0..500).flat_map(|t| [(f64::from(t) * 0.3).sin(), 7.0]);
        Series::from_rows(rows.collect(), 2, 0.5).unwrap()
    }

    #[test]
    fn every_figure_is_in_its_place() {
        let inspection = inspect(&sample(), Options::default());
        let document = to_json(&inspection, Path::new("a.csv"), None);
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
        let document = to_json(&inspection, Path::new("a.csv"), Some(Path::new("b.csv")));
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
