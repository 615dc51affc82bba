//! A table as JSON, the document that `attractor table --json` prints. Numbers that do not exist are null.

use serde_json::{Map, Value, json};

use super::{Column, Group, Table};

impl Table {
    /// The document.
    pub fn to_json(&self) -> Value {
        let measures = self.measures.iter().zip(&self.tests);
        let tests: Map<String, Value> = measures
            .map(|(id, test)| {
                let fields = test.map(|test| json!({ "h": test.h, "p": test.p }));
                ((*id).to_string(), json!(fields))
            })
            .collect();
        let groups = self.groups.iter().map(|group| self.group(group));
        json!({
            "schema": 1,
            "keys": self.keys,
            "pe_n": self.pe_steps,
            "groups": groups.collect::<Vec<_>>(),
            "kruskal_wallis": tests,
        })
    }

    fn group(&self, group: &Group) -> Value {
        let keys = self.keys.iter().zip(&group.values);
        let keys: Map<String, Value> = keys
            .map(|(key, value)| (key.clone(), json!(value)))
            .collect();
        let columns = self.measures.iter().zip(&group.columns);
        let measures: Map<String, Value> = columns
            .map(|(id, measure)| ((*id).to_string(), column(measure)))
            .collect();
        json!({
            "keys": keys,
            "runs": group.runs,
            "diverged": group.diverged,
            "dropped": group.dropped(),
            "dim": [group.dim.0, group.dim.1],
            "parameters": [group.parameters.0, group.parameters.1],
            "paper": group.paper.map(|row| row.name),
            "measures": measures,
        })
    }
}

fn column(column: &Column) -> Value {
    let summary = &column.summary;
    let paper = column.paper.map(|paper| {
        let verdict = paper.verdict.map(super::Verdict::word);
        json!({ "median": paper.median, "mad": paper.mad, "verdict": verdict })
    });
    json!({
        "median": summary.median,
        "mad": summary.mad,
        "mean": summary.mean,
        "sd": summary.sd,
        "missing": column.missing,
        "floor": column.floor,
        "chance": column.chance,
        "paper": paper,
    })
}
