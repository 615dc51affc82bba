//! The files of the page. What draws charts, orbits and running models is the report's.

use crate::report::script;

/// A file that a browser may load.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asset {
    /// Its path behind the token.
    pub(super) path: &'static str,
    /// Its type.
    pub(super) kind: &'static str,
    /// What it holds, one part after the other.
    parts: &'static [&'static str],
}

/// What pages may do: load their own scripts and style, ask this server, and nothing else.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All files.
pub(super) const ASSETS: [Asset; 4] = [
    Asset {
        path: "",
        kind: "text/html; charset=utf-8",
        parts: &[include_str!("page/watch.html")],
    },
    Asset {
        path: "watch.css",
        kind: "text/css; charset=utf-8",
        parts: &[script::STYLE, include_str!("page/watch.css")],
    },
    Asset {
        path: "parts.js",
        kind: SCRIPT,
        parts: &[
            script::DOM,
            script::NUMBERS,
            script::THEME,
            script::CHARTS,
            script::HEAT,
            script::SPACE,
            script::PICKER,
            script::MODEL,
            script::LIVE,
        ],
    },
    Asset {
        path: "watch.js",
        kind: SCRIPT,
        parts: &[
            include_str!("page/runs.js"),
            include_str!("page/table.js"),
            include_str!("page/figures.js"),
            include_str!("page/orbits.js"),
            include_str!("page/watch.js"),
        ],
    },
];

impl Asset {
    /// What it holds.
    pub(super) fn text(&self) -> String {
        self.parts.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for asset in &ASSETS {
            let text = asset.text();
            for load in [
                "http:", "https:", "@import", "url(", "import(", "<style", "onclick=",
            ] {
                assert!(!text.contains(load), "{load} in {:?}", asset.path);
            }
        }
    }
}
