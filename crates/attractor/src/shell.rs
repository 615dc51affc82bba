//! Words of commands that a user may paste into a shell: none runs anything, and none is taken for a flag.

use std::path::Path;

/// A word, in quotes where a shell needs them.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./,:=+@%".contains(c);
    // A word that begins with `=` is a program to some shells.
    let is_safe = !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain);
    if is_safe {
        text.to_string()
    } else if text.contains(char::is_control) {
        escaped(text.as_bytes())
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A file or folder as a word, with a folder before a name that begins with a dash.
pub fn path(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = if bytes.starts_with(b"-") {
        [b"./", bytes].concat()
    } else {
        bytes.to_vec()
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => word(text),
        Err(_) => escaped(&bytes),
    }
}

/// A flag with its value.
pub fn flag(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!("--{name}{between}{}", word(value))
}

/// Bytes in the quotes that know escapes, so that no control character is among them.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::from("$'");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => text.extend(['\\', c]),
                c if c.is_control() => text += &format!("\\u{:04x}", u32::from(c)),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text += &format!("\\x{byte:02x}");
        }
    }
    text + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Awkward names, and each as a word.
    const NAMES: [(&str, &str); 9] = [
        ("runs/a-1", "runs/a-1"),
        ("my run's", r"'my run'\''s'"),
        ("q $(touch X); x", "'q $(touch X); x'"),
        ("-rf", "./-rf"),
        ("-a b", "'./-a b'"),
        ("~", "'~'"),
        ("=ls", "'=ls'"),
        ("a\u{1b}]0;\nb'", r"$'a\u001b]0;\u000ab\''"),
        ("µ*", "'µ*'"),
    ];

    #[test]
    fn names_are_words() {
        for (name, typed) in NAMES {
            assert_eq!(path(Path::new(name)), typed);
        }
        assert_eq!(word(""), "''");
        assert_eq!(flag("channels", "x,y"), "--channels x,y");
        assert_eq!(flag("from", "-5"), "--from=-5");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        use std::process::Command;
        let print = |typed: &str| {
            let command = format!("printf %s {typed}");
            let output = Command::new("bash").args(["-c", &command]).output();
            output.ok().map(|output| output.stdout)
        };
        let names = NAMES.map(|(name, _)| name.as_bytes().to_vec());
        for name in names.into_iter().chain([b"l\xe9.csv".to_vec()]) {
            let typed = path(Path::new(OsStr::from_bytes(&name)));
            let Some(read) = print(&typed) else { return };
            assert_eq!(read.strip_prefix(b"./").unwrap_or(&read), name, "{typed}");
        }
    }
}
