//! What to cite: the entries of `refs.bib`, taken apart just far enough to print them whole or as one line.
//!
//! A BibTeX file is a row of `@kind{key, name = value, …}`, where a value is `{balanced braces}`, `"quoted"` or a
//! bare word. What stands between two entries is a comment. Macros (`@string`) are not known.

use attractor_core::catalogue::Entry;

/// The bibliography that this program was built with.
const BIBLIOGRAPHY: &str = include_str!("../refs.bib");

/// The key of the paper that this program reproduces.
pub const PAPER: &str = "hess2023";

/// The BibTeX entry of this program, in this version.
pub const TOOL: &str = concat!(
    "@misc{attractor,\n",
    "  author = {{The attractor developers}},\n",
    "  title  = {attractor: learn the dynamics of chaotic systems from time series},\n",
    "  year   = {2026},\n",
    "  note   = {Computer program, version ",
    env!("CARGO_PKG_VERSION"),
    "}\n}",
);

/// What verbs compute by, beside what the models, measures and systems cite that they are used with.
pub static METHODS: &[(&str, &[&str])] = &[
    ("train", &["hess2023", "liu2020"]),
    ("analyze", &["benettin1980", "kaplan1979", "eisenmann2023"]),
    (
        "lyapunov",
        &["benettin1980", "kaplan1979", "rosenstein1993", "kantz1994"],
    ),
    (
        "embed",
        &[
            "takens1981",
            "kraemer2021",
            "pecora2007",
            "uzal2011",
            "fraser1986",
            "cao1997",
        ],
    ),
];

/// One entry of a bibliography.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference<'a> {
    /// The key that others cite it by.
    pub key: &'a str,
    /// The entry as written, from `@` to the closing brace.
    pub bibtex: &'a str,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Reference<'a> {
    /// The value of a field as written, without its outer braces or quotes.
    pub fn field(&self, name: &str) -> Option<&'a str> {
        self.fields
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|&(_, value)| value)
    }

    /// The entry in one line: `Names (year). Title. Where it appeared, volume, pages. doi:…`.
    pub fn formatted(&self) -> String {
        let mut line = family_names(self.field("author").unwrap_or_default());
        if let Some(year) = self.field("year") {
            line.push_str(&format!(" ({year})"));
        }
        line.push('.');
        let parts = [self.field("title").map(plain), self.place()];
        for part in parts.into_iter().flatten() {
            line.push_str(&format!(" {part}."));
        }
        if let Some(doi) = self.field("doi") {
            line.push_str(&format!(" doi:{doi}"));
        }
        line
    }

    /// Journal, book or publisher with volume, number and pages.
    fn place(&self) -> Option<String> {
        let name = ["journal", "booktitle", "publisher", "howpublished", "note"]
            .into_iter()
            .find_map(|field| self.field(field))?;
        let volume = self.field("volume").map(|volume| {
            let number = self.field("number").map(|n| format!("({n})"));
            format!("{volume}{}", number.unwrap_or_default())
        });
        let parts = [
            Some(name.to_string()),
            volume,
            self.field("pages").map(String::from),
        ];
        Some(plain(
            &parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        ))
    }
}

/// Every entry of the bibliography.
pub fn all() -> Vec<Reference<'static>> {
    split(BIBLIOGRAPHY).expect("refs.bib is well-formed, as a test shows")
}

/// The references of some entries, each once, in the order in which they first appear.
pub fn cited_by<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Reference<'static>> {
    let keys = entries.into_iter().flat_map(|entry| entry.references);
    of_keys(keys.copied())
}

/// The references with some keys, each once, in the order in which they first appear.
///
/// # Panics
/// If a key is not in the bibliography.
pub fn of_keys<'a>(keys: impl IntoIterator<Item = &'a str>) -> Vec<Reference<'static>> {
    let mut once: Vec<&str> = Vec::new();
    for key in keys {
        if !once.contains(&key) {
            once.push(key);
        }
    }
    let all = all();
    once.into_iter()
        .map(|key| {
            let known = all.iter().find(|reference| reference.key == key);
            known
                .unwrap_or_else(|| panic!("`{key}` is not in refs.bib"))
                .clone()
        })
        .collect()
}

/// What is wrong with a bibliography.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// An entry or a value has no end.
    #[error("braces or quotes are not closed (line {line})")]
    Open {
        /// The line on which the entry or value begins.
        line: usize,
    },
    /// An entry is not `@kind{key, name = value, …}`.
    #[error("expected {expected} (line {line})")]
    Malformed {
        /// What should stand there.
        expected: &'static str,
        /// The line.
        line: usize,
    },
    /// Two entries have the same key.
    #[error("the key `{key}` is used twice")]
    Duplicate {
        /// The key.
        key: String,
    },
}

/// Takes a bibliography apart.
pub fn split(text: &str) -> Result<Vec<Reference<'_>>, ReferenceError> {
    let mut found: Vec<Reference<'_>> = Vec::new();
    let mut cursor = Cursor { text, at: 0 };
    while let Some(start) = cursor.seek('@') {
        let reference = cursor.entry(start)?;
        if found.iter().any(|other| other.key == reference.key) {
            let key = reference.key.to_string();
            return Err(ReferenceError::Duplicate { key });
        }
        found.push(reference);
    }
    Ok(found)
}

/// A place in a bibliography.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    fn malformed(&self, expected: &'static str) -> ReferenceError {
        let line = self.line();
        ReferenceError::Malformed { expected, line }
    }

    /// Goes to the next `wanted`, and says where it is.
    fn seek(&mut self, wanted: char) -> Option<usize> {
        self.at += self.rest().find(wanted)?;
        Some(self.at)
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Steps over `wanted` if it comes next, after white space.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        let here = self.rest().starts_with(wanted);
        self.at += if here { wanted.len_utf8() } else { 0 };
        here
    }

    /// Steps over a word: all up to white space or one of `{}=,"`.
    fn word(&mut self, expected: &'static str) -> Result<&'a str, ReferenceError> {
        self.skip_space();
        let ends = |c: char| c.is_whitespace() || "{}=,\"".contains(c);
        let rest = self.rest();
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.malformed(expected));
        }
        self.at += word.len();
        Ok(word)
    }

    /// The entry that begins with the `@` at `start`.
    fn entry(&mut self, start: usize) -> Result<Reference<'a>, ReferenceError> {
        let line = self.line();
        self.at += '@'.len_utf8();
        self.word("the kind of an entry")?;
        if !self.take('{') {
            return Err(self.malformed("`{` after the kind of an entry"));
        }
        let key = self.word("the key of an entry")?;
        let mut fields = Vec::new();
        while self.take(',') && !self.rest().trim_start().starts_with('}') {
            fields.push(self.field()?);
        }
        if self.take('}') {
            let bibtex = &self.text[start..self.at];
            return Ok(Reference {
                key,
                bibtex,
                fields,
            });
        }
        match self.rest() {
            "" => Err(ReferenceError::Open { line }),
            _ => Err(self.malformed("`,` or `}` after a field")),
        }
    }

    fn field(&mut self) -> Result<(&'a str, &'a str), ReferenceError> {
        let name = self.word("the name of a field")?;
        if !self.take('=') {
            return Err(self.malformed("`=` after the name of a field"));
        }
        self.skip_space();
        let value = match self.rest().chars().next() {
            Some('{') => self.delimited('}')?,
            Some('"') => self.delimited('"')?,
            _ => self.word("the value of a field")?,
        };
        Ok((name, value))
    }

    /// A value up to the `close` that lies in no further braces, without its delimiters.
    fn delimited(&mut self, close: char) -> Result<&'a str, ReferenceError> {
        let mut depth = 0;
        for (i, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if c == close && depth == 0 => {
                    let value = &self.rest()[1..i];
                    self.at += i + 1;
                    return Ok(value);
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
        }
        Err(ReferenceError::Open { line: self.line() })
    }
}

/// `Hess, Florian and Monfared, Zahra` as `Hess & Monfared`; a name in braces stays whole.
fn family_names(authors: &str) -> String {
    let names: Vec<String> = authors
        .split(" and ")
        .map(|name| match name.split_once(',') {
            _ if name.trim().starts_with('{') => plain(name),
            Some((family, _)) => plain(family),
            None => plain(name.split_whitespace().last().unwrap_or_default()),
        })
        .collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} & {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// A value without its TeX: accents composed, braces dropped, ranges with a dash, one space between words.
fn plain(value: &str) -> String {
    let mut text = value.replace('\n', " ");
    for (tex, letter) in ACCENTS {
        let (accent, base) = tex.split_at(2);
        text = text
            .replace(&format!("{accent}{{{base}}}"), letter)
            .replace(tex, letter);
    }
    let text = SIGNS
        .iter()
        .fold(text, |text, (tex, sign)| text.replace(tex, sign));
    let text = text.replace(['{', '}'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What TeX writes for letters of their own, and for signs.
const SIGNS: [(&str, &str); 11] = [
    ("{\\o}", "ø"),
    ("{\\O}", "Ø"),
    ("{\\ss}", "ß"),
    ("{\\aa}", "å"),
    ("{\\ae}", "æ"),
    ("{\\l}", "ł"),
    ("{\\i}", "ı"),
    ("--", "–"),
    ("``", "“"),
    ("''", "”"),
    ("\\&", "&"),
];

/// TeX accents of names, as written without inner braces.
const ACCENTS: [(&str, &str); 24] = [
    ("\\\"a", "ä"),
    ("\\\"e", "ë"),
    ("\\\"o", "ö"),
    ("\\\"u", "ü"),
    ("\\\"O", "Ö"),
    ("\\\"U", "Ü"),
    ("\\'a", "á"),
    ("\\'c", "ć"),
    ("\\'e", "é"),
    ("\\'i", "í"),
    ("\\'o", "ó"),
    ("\\'u", "ú"),
    ("\\'E", "É"),
    ("\\`a", "à"),
    ("\\`e", "è"),
    ("\\^e", "ê"),
    ("\\^o", "ô"),
    ("\\~n", "ñ"),
    ("\\~a", "ã"),
    ("\\~o", "õ"),
    ("\\vc", "č"),
    ("\\vs", "š"),
    ("\\vz", "ž"),
    ("\\cc", "ç"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library;

    const TWO: &str = r#"
        A remark between the entries.
        @article{lorenz1963,
          author = {Lorenz, Edward N.}, title = "Deterministic {Nonperiodic} {"}Flow{"}",
          journal = {Journal of the Atmospheric Sciences}, volume = 20, number = 2, pages = {130--141}, year = 1963,
        }
        @book{b, author={H{\'e}non, Michel and N{\o}rsett, Syvert P. and R{\"{o}}ssler, Otto E. and {The Group, Inc}}, title = {{A {B}} ``C''}}
    "#;

    #[test]
    fn entries_and_fields_are_found_through_nested_braces_and_quotes() {
        let found = split(TWO).unwrap();
        assert_eq!(
            found.iter().map(|r| r.key).collect::<Vec<_>>(),
            ["lorenz1963", "b"]
        );
        assert_eq!(
            found[0].field("TITLE"),
            Some(r#"Deterministic {Nonperiodic} {"}Flow{"}"#)
        );
        assert_eq!(found[0].field("year"), Some("1963"));
        assert_eq!(found[0].field("doi"), None);
        assert_eq!(found[1].field("title"), Some("{A {B}} ``C''"));
        assert!(found[0].bibtex.starts_with("@article{") && found[0].bibtex.ends_with('}'));
        // The text of an entry is an entry: splitting it again gives the same.
        assert_eq!(split(found[1].bibtex).unwrap(), [found[1].clone()]);
    }

    #[test]
    fn an_entry_prints_as_one_line() {
        let found = split(TWO).unwrap();
        assert_eq!(
            found[0].formatted(),
            "Lorenz (1963). Deterministic Nonperiodic \"Flow\". \
             Journal of the Atmospheric Sciences, 20(2), 130–141."
        );
        assert_eq!(
            found[1].formatted(),
            "Hénon, Nørsett, Rössler & The Group, Inc. A B “C”."
        );
    }

    #[test]
    fn broken_bibliographies_are_refused_with_their_line() {
        let error = |text| split(text).unwrap_err();
        assert_eq!(error("\n@a{k, t = {x"), ReferenceError::Open { line: 2 });
        assert_eq!(error("@a{k, t = {x}"), ReferenceError::Open { line: 1 });
        assert_eq!(error("@a{k, t = \"x}"), ReferenceError::Open { line: 1 });
        for text in [
            "@{k}",
            "@a k",
            "@a{}",
            "@a{k, t x}",
            "@a{k, t = }",
            "@a{k, t = x y}",
        ] {
            assert!(
                matches!(error(text), ReferenceError::Malformed { .. }),
                "{text}"
            );
        }
        let key = "k".to_string();
        assert_eq!(error("@a{k} @b{k}"), ReferenceError::Duplicate { key });
    }

    #[test]
    fn every_reference_of_every_entry_is_in_the_bibliography() {
        let known = split(BIBLIOGRAPHY).unwrap();
        let has = |key: &str| known.iter().any(|reference| reference.key == key);
        assert!(has(PAPER));
        for entry in library::entries() {
            for key in entry.references {
                assert!(
                    has(key),
                    "`{}` cites `{key}`, which is not in refs.bib",
                    entry.id
                );
            }
        }
        let methods = METHODS.iter().flat_map(|(_, keys)| keys.iter());
        methods.for_each(|key| assert!(has(key), "`{key}` is not in refs.bib"));
    }

    #[test]
    fn every_reference_says_who_what_and_when() {
        for reference in all().iter().chain(&split(TOOL).unwrap()) {
            for field in ["author", "title", "year"] {
                assert!(
                    reference.field(field).is_some(),
                    "{}: no {field}",
                    reference.key
                );
            }
            let line = reference.formatted();
            assert!(!line.contains(['{', '}', '\\']), "TeX is left in: {line}");
        }
    }
}
