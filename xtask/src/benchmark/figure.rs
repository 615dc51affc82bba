//! The figure of the benchmark: how far models are from the data, D_stsp over its floor, one mark per recording and method, with the
//! median as a bar. Marks tell the verdict; a lost model without a score stands at the upper edge.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// Pixels: a method's strip, the plot's height, and what is left of it and below it for words.
const STRIP: f64 = 92.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;
const BELOW: f64 = 66.0;
const ABOVE: f64 = 14.0;

/// The axis, from a fifth of the floor to fifty floors.
const LEAST: f64 = 0.2;
const MOST: f64 = 50.0;

const STYLE: &str = "text{font:12px sans-serif;fill:#444}line{stroke:#999}.good{fill:#0072b2}.partly{fill:#e69f00}\
.lost{fill:none;stroke:#c33;stroke-width:1.5}.median{stroke:#222;stroke-width:2}\
@media(prefers-color-scheme:dark){text{fill:#bbb}.median{stroke:#eee}}";

/// The picture of some lines of scores; none of none.
pub(super) fn draw(lines: &[&Value]) -> Option<String> {
    let mut methods: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for line in lines {
        methods
            .entry(line["method"].as_str()?)
            .or_default()
            .push(line);
    }
    if methods.is_empty() {
        return None;
    }
    let width = LEFT + STRIP * methods.len() as f64 + 10.0;
    let height = ABOVE + HEIGHT + BELOW;
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\">\n\
<title>How far models of recordings that nobody tuned on are from the data</title><style>{STYLE}</style>\n"
    );
    axis(&mut page, width);
    for (place, (method, lines)) in methods.iter().enumerate() {
        strip(
            &mut page,
            LEFT + STRIP * (place as f64 + 0.5),
            method,
            lines,
        );
    }
    legend(&mut page, height);
    page.push_str("</svg>\n");
    Some(page)
}

/// Where a ratio stands.
fn y(ratio: f64) -> f64 {
    let share = (ratio.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    ABOVE + HEIGHT * (1.0 - share)
}

fn axis(page: &mut String, width: f64) {
    for ratio in [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0] {
        let (y, dash) = (
            y(ratio),
            if ratio == 1.0 {
                ""
            } else {
                " stroke-dasharray=\"1 4\""
            },
        );
        let _ = writeln!(
            page,
            "<line x1=\"{LEFT}\" x2=\"{width}\" y1=\"{y:.1}\" y2=\"{y:.1}\"{dash}/>"
        );
        let _ = writeln!(
            page,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{ratio}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    let middle = ABOVE + HEIGHT / 2.0;
    let _ = writeln!(
        page,
        "<text transform=\"translate(16 {middle}) rotate(-90)\" text-anchor=\"middle\">D_stsp / floor</text>"
    );
}

/// The marks of a method, side by side in the order of the lines.
fn strip(page: &mut String, middle: f64, method: &str, lines: &[&Value]) {
    let ratio =
        |line: &Value| Some(line["d_stsp_median"].as_f64()? / line["d_stsp_floor"].as_f64()?);
    let mut ratios = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let x = middle + STRIP * 0.7 * ((place as f64 + 0.5) / lines.len() as f64 - 0.5);
        let found = ratio(line).unwrap_or(f64::INFINITY);
        let y = y(found);
        ratios.push(found);
        let name = line["system"].as_str().unwrap_or_default();
        let _ = match line["word"].as_str() {
            Some(word @ ("good" | "partly")) => writeln!(
                page,
                "<circle class=\"{word}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{name}</title></circle>"
            ),
            _ => writeln!(
                page,
                "<path class=\"lost\" d=\"M{:.1} {:.1}l6 6m0 -6l-6 6\"><title>{name}</title></path>",
                x - 3.0,
                y - 3.0
            ),
        };
    }
    ratios.sort_by(f64::total_cmp);
    let (from, to, y) = (
        middle - 0.4 * STRIP,
        middle + 0.4 * STRIP,
        y(ratios[ratios.len() / 2]),
    );
    let _ = writeln!(
        page,
        "<line class=\"median\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
    );
    let label = ABOVE + HEIGHT + 18.0;
    let _ = writeln!(
        page,
        "<text x=\"{middle:.1}\" y=\"{label}\" text-anchor=\"middle\">{method}</text>"
    );
}

fn legend(page: &mut String, height: f64) {
    let y = height - 14.0;
    let _ = writeln!(
        page,
        "<circle class=\"good\" cx=\"{LEFT}\" cy=\"{0}\" r=\"3\"/><text x=\"{1}\" y=\"{y}\">good</text>\
<circle class=\"partly\" cx=\"{2}\" cy=\"{0}\" r=\"3\"/><text x=\"{3}\" y=\"{y}\">partly, or too few rows to tell</text>\
<path class=\"lost\" d=\"M{4} {5}l6 6m0 -6l-6 6\"/><text x=\"{6}\" y=\"{y}\">no reconstruction</text>",
        y - 4.0,
        LEFT + 8.0,
        LEFT + 60.0,
        LEFT + 68.0,
        LEFT + 250.0,
        y - 7.0,
        LEFT + 261.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_recording_is_a_mark_and_every_method_a_strip() {
        let line = |method: &str, word: &str, d: Option<f64>| json!({ "method": method, "word": word, "system": "chen", "d_stsp_median": d, "d_stsp_floor": 1.0 });
        let all = [
            line("all", "good", Some(1.0)),
            line("all", "partly", Some(3.0)),
            line("nvar", "none", None),
        ];
        let page = draw(&all.iter().collect::<Vec<_>>()).unwrap();
        let count = |what: &str| page.matches(what).count();
        // With those of the legend.
        assert_eq!(
            [
                count("\"good\" c"),
                count("\"partly\" c"),
                count("\"lost\" d"),
                count("\"median\"")
            ],
            [2, 2, 2, 2]
        );
        assert_eq!(draw(&[]), None);
        assert!(y(1.0) > y(3.0) && y(f64::INFINITY) == ABOVE);
    }
}
