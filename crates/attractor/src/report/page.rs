//! The page as one file: style, scripts and document inside it, and a policy that lets it load nothing.
//!
//! Names and paths are a user's. In the body they are escaped ([`escaped`]); the scripts read them from the document,
//! where `<` is written as `\u003c` so that no text can end the element that holds it, and only ever set them as text.

use serde_json::Value;

use super::script::{self, STYLE};
use super::story;
use crate::digest;

const PAGE: &str = include_str!("page/page.html");
/// The scripts, in the order in which they build on one another.
const SCRIPTS: [(&str, &str); 14] = [
    ("dom", script::DOM),
    ("numbers", script::NUMBERS),
    ("theme", script::THEME),
    ("charts", script::CHARTS),
    ("heat", script::HEAT),
    ("space", script::SPACE),
    ("picker", script::PICKER),
    ("model", script::MODEL),
    ("live", script::LIVE),
    ("glance", include_str!("page/glance.js")),
    ("sections", include_str!("page/sections.js")),
    ("results", include_str!("page/results.js")),
    ("dynamics", include_str!("page/dynamics.js")),
    ("sources", include_str!("page/sources.js")),
];

/// What the page may do: run these scripts and use this style, by their digests, and load nothing.
pub(super) fn policy() -> String {
    let style = digest::source(&format!("\n{STYLE}"));
    let scripts = SCRIPTS.iter();
    let scripts: Vec<String> = scripts
        .map(|(_, text)| digest::source(&format!("\n{text}")))
        .collect();
    format!(
        "default-src 'none'; style-src {style}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        scripts.join(" ")
    )
}

/// The page.
pub(super) fn html(title: &str, story: &[String], document: &Value) -> String {
    let answer = story::answer(&document["scores"]);
    let notes = texts(&document["notes"]).map(String::from);
    let scripts: String = (SCRIPTS.iter())
        .map(|(name, text)| format!("<script data-part=\"{name}\">\n{text}</script>\n"))
        .collect();
    filled(&[
        ("{{title}}", &escaped(title)),
        (
            "{{headline}}",
            &escaped(document["title"].as_str().unwrap_or(title)),
        ),
        (
            "{{facts}}",
            &elements("li", texts(&document["facts"]).map(String::from)),
        ),
        ("{{kind}}", answer.kind),
        ("{{verdict}}", answer.words),
        ("{{reasons}}", &elements("li", answer.reasons.into_iter())),
        ("{{policy}}", &policy()),
        ("{{style}}", STYLE),
        ("{{story}}", &elements("p", story.iter().cloned())),
        ("{{notes}}", &elements("li", notes)),
        ("{{document}}", &embedded(document)),
        ("{{scripts}}", &scripts),
    ])
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str)
}

/// Texts as elements of a kind, a line each.
fn elements(tag: &str, texts: impl Iterator<Item = String>) -> String {
    texts
        .map(|text| format!("<{tag}>{}</{tag}>\n", coded(&escaped(&text))))
        .collect()
}

/// A text in which what stands between backticks is code; of an odd number of them the last stays.
fn coded(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = parts[0].to_string();
    for (i, part) in parts.iter().enumerate().skip(1) {
        out += match i % 2 {
            0 => "</code>",
            _ if i + 1 == parts.len() => "`",
            _ => "<code>",
        };
        out += part;
    }
    out
}

/// The page with every placeholder replaced once; what is put in is not looked at again.
fn filled(parts: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = PAGE;
    while let Some(start) = rest.find("{{") {
        let part = parts
            .iter()
            .find(|(name, _)| rest[start..].starts_with(name));
        let (name, text) = part.expect("every placeholder of the page has its text");
        page.push_str(&rest[..start]);
        page.push_str(text);
        rest = &rest[start + name.len()..];
    }
    page + rest
}

/// A text as it stands between tags and in quoted attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A document as it stands in a script element: `<` occurs only in texts, where JSON has another way to write it.
fn embedded(document: &Value) -> String {
    document.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NASTY: &str = "</script><img src=x onerror=alert(1)>\"'&{{style}}<!--";

    #[test]
    fn no_text_of_a_user_becomes_markup() {
        let document = json!({ "notes": [NASTY], "channels": [{ "name": NASTY }] });
        let page = html(NASTY, &[NASTY.to_string()], &document);
        assert!(!page.contains("<img"), "a tag came through");
        assert!(!page.contains("<!--"), "a comment came through");
        // As many ends as there are scripts of ours and the document's own.
        assert_eq!(page.matches("</script>").count(), SCRIPTS.len() + 1);
        assert_eq!(page.matches(STYLE).count(), 1);
    }

    #[test]
    fn what_stands_between_backticks_is_code() {
        assert_eq!(
            coded("use `--a`, `b`"),
            "use <code>--a</code>, <code>b</code>"
        );
        assert_eq!(coded("`a` and `"), "<code>a</code> and `");
        assert_eq!(coded("none"), "none");
    }

    #[test]
    fn a_document_is_read_back_as_it_was() {
        let document = json!({ "a": NASTY, "b": [1.5, null] });
        let text = embedded(&document);
        assert!(!text.contains('<'));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    }

    #[test]
    fn nothing_is_loaded() {
        let page = html("t", &[], &json!({ "notes": [] }));
        for load in [
            "src=", "http:", "https:", "@import", "url(", "fetch(", "import(",
        ] {
            assert!(!page.contains(load), "{load}");
        }
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("unsafe"));
    }
}
