//! A Rust file taken apart just far enough for the house rules: its code without comments and text, its comments,
//! which lines are only for tests, and where its functions begin and end.
//!
//! This is a scanner, not a parser: it knows comments, string and character literals, and matching braces.

use std::ops::Range;

/// A Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its path from the root, with `/`.
    pub(crate) path: String,
    /// The lines of code: comments and the insides of literals are blank.
    pub(crate) code: Vec<String>,
    /// The lines of comments: all else is blank.
    pub(crate) comments: Vec<String>,
    for_tests: Vec<bool>,
}

/// A function with a body, by the indices of its lines.
#[derive(Debug, PartialEq)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// From the line with `fn` to past the line with the closing brace.
    pub(crate) lines: Range<usize>,
}

impl Source {
    /// Takes a file apart.
    pub(crate) fn new(path: &str, text: &str) -> Source {
        let (code, comments) = separate(text);
        let lines = |text: String| text.split('\n').map(String::from).collect::<Vec<_>>();
        let code = lines(code);
        let whole_file = ["/tests/", "/benches/", "/tests.rs"]
            .iter()
            .any(|part| path.contains(part));
        let for_tests = if whole_file {
            vec![true; code.len()]
        } else {
            test_lines(&code)
        };
        Source {
            path: path.to_string(),
            code,
            comments: lines(comments),
            for_tests,
        }
    }

    /// The lines of code that ship, with their indices.
    pub(crate) fn shipped(&self) -> impl Iterator<Item = (usize, &str)> {
        let code = self.code.iter().enumerate();
        code.filter(|(i, _)| !self.for_tests[*i])
            .map(|(i, line)| (i, line.as_str()))
    }

    /// Whether a comment stands on a line, or on the lines of comments and attributes right above it, for which
    /// `wanted` holds.
    pub(crate) fn is_explained(&self, line: usize, wanted: impl Fn(&str) -> bool) -> bool {
        let is_aside = |i: &usize| {
            let code = self.code[*i].trim();
            code.starts_with("#[") || (code.is_empty() && !self.comments[*i].trim().is_empty())
        };
        let above = (0..line).rev().take_while(is_aside);
        std::iter::once(line)
            .chain(above)
            .any(|i| wanted(self.comments[i].trim()))
    }

    /// Every function that has a body.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let text = self.code.join("\n");
        words(&text)
            .zip(words(&text).skip(1))
            .filter(|((start, word), _)| {
                *word == "fn" && text[start + 2..].starts_with(char::is_whitespace)
            })
            .filter_map(|((start, _), (_, name))| {
                let body = block(&text, start)?;
                let line_of = |at: usize| text[..at].matches('\n').count();
                let lines = line_of(start)..line_of(body.end) + 1;
                Some(Function {
                    name: name.to_string(),
                    lines,
                })
            })
            .collect()
    }
}

/// The words of a line or text of code, with their byte positions.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.split(move |c| !is_word(c))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

/// Marks the items under `#[cfg(test)]`.
fn test_lines(code: &[String]) -> Vec<bool> {
    let text = code.join("\n");
    let line_of = |at: usize| text[..at].matches('\n').count();
    let mut marks = vec![false; code.len()];
    for (start, attribute) in text.match_indices("#[cfg(test)]") {
        let item = start + attribute.len();
        let end = block(&text, item).map_or(item, |block| block.end);
        marks[line_of(start)..=line_of(end)].fill(true);
    }
    marks
}

/// The braces that follow `start`, unless a `;` outside of parentheses and brackets comes first.
fn block(code: &str, start: usize) -> Option<Range<usize>> {
    let mut depth = 0;
    let mut open = None;
    for (i, c) in code[start..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return None,
            _ => {}
        }
        match (open, c) {
            (None, '{') if depth == 1 => open = Some(start + i),
            (Some(open), '}') if depth == 0 => return Some(open..start + i),
            _ => {}
        }
    }
    None
}

/// Code and comments of a file, each with the other and the insides of literals blanked, line for line.
fn separate(text: &str) -> (String, String) {
    let chars: Vec<char> = text.chars().collect();
    let (mut code, mut comments) = (String::new(), String::new());
    let mut i = 0;
    while i < chars.len() {
        let (piece, len) = next_piece(&chars, i);
        for (k, &c) in chars[i..i + len].iter().enumerate() {
            let at_edge = k == 0 || k + 1 == len;
            let blank = if c == '\n' { '\n' } else { ' ' };
            let keep = |wanted: bool| if wanted { c } else { blank };
            code.push(keep(
                piece == Piece::Code || (piece == Piece::Literal && at_edge),
            ));
            comments.push(keep(piece == Piece::Comment));
        }
        i += len;
    }
    (code, comments)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    Code,
    Comment,
    Literal,
}

/// The kind and length of what begins at `i`.
fn next_piece(chars: &[char], i: usize) -> (Piece, usize) {
    let rest = &chars[i..];
    let after_word = i > 0 && (chars[i - 1].is_alphanumeric() || chars[i - 1] == '_');
    match rest {
        ['/', '/', ..] => (Piece::Comment, length_until(rest, 0, &['\n'])),
        ['/', '*', ..] => (Piece::Comment, block_comment(rest)),
        ['"', ..] => (Piece::Literal, quoted(rest, '"')),
        ['\'', '\\', ..] => (Piece::Literal, quoted(rest, '\'')),
        ['\'', _, '\'', ..] => (Piece::Literal, 3),
        ['r', '"' | '#', ..] if !after_word => raw_string(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] if !after_word => raw_string(rest, 2),
        _ => (Piece::Code, 1),
    }
}

/// How many characters stand before `end`, looked for from `from`.
fn length_until(chars: &[char], from: usize, end: &[char]) -> usize {
    let found = chars[from..]
        .windows(end.len())
        .position(|window| window == end);
    found.map_or(chars.len(), |at| from + at)
}

fn block_comment(chars: &[char]) -> usize {
    let (mut depth, mut i) = (0, 0);
    while i < chars.len() {
        match chars[i..] {
            ['/', '*', ..] => (depth, i) = (depth + 1, i + 2),
            ['*', '/', ..] => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i.min(chars.len())
}

fn quoted(chars: &[char], quote: char) -> usize {
    let mut i = 1;
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// `r#"…"#` with any number of `#`; `r#word` is code.
fn raw_string(chars: &[char], prefix: usize) -> (Piece, usize) {
    let hashes = chars[prefix..].iter().take_while(|&&c| c == '#').count();
    if chars.get(prefix + hashes) != Some(&'"') {
        return (Piece::Code, 1);
    }
    let end: Vec<char> = std::iter::once('"')
        .chain(std::iter::repeat_n('#', hashes))
        .collect();
    let inside = length_until(chars, prefix + hashes + 1, &end);
    (Piece::Literal, (inside + end.len()).min(chars.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_told_from_code() {
        let text = "let a = \"// { \\\" \"; // note {\nlet b = '{'; /* } /* } */ */ let c: &'static str = r#\"\" } \"#;\nlet r#fn = b'\\'';";
        let source = Source::new("a.rs", text);
        assert_eq!(source.code[0].trim_end(), "let a = \"        \";");
        assert_eq!(source.comments[0].trim(), "// note {");
        assert!(
            !source.code.concat().contains(['{', '}']),
            "{:?}",
            source.code
        );
        assert!(source.code[1].contains("let c: &'static str = r"));
        assert!(source.code[2].starts_with("let r#fn = b'"));
    }

    #[test]
    fn items_for_tests_are_known() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}";
        let source = Source::new("crates/a/src/lib.rs", text);
        let shipped: Vec<usize> = source.shipped().map(|(i, _)| i).collect();
        // `mod more;` itself holds no code.
        assert_eq!(shipped, [0, 5, 7, 8]);
        assert_eq!(
            Source::new("crates/a/tests/x.rs", text).shipped().count(),
            0
        );
    }

    #[test]
    fn functions_are_found_with_their_lines() {
        let text = "trait T {\n    fn bare(x: [u8; 3]);\n}\nfn long(\n    f: fn(u8) -> u8,\n) -> [u8; 2] {\n    { }\n}\n";
        let functions = Source::new("a.rs", text).functions();
        let long = Function {
            name: "long".into(),
            lines: 3..8,
        };
        assert_eq!(functions, [long]);
    }
}
