//! The head of a request, of which only what this server answers is understood:
//!
//! ```text
//! GET /token/place HTTP/1.1 CRLF  (name ":" value CRLF)*  CRLF
//! ```
//!
//! Everything else is refused with the number that HTTP has for it: other methods, bodies, heads of more than [`LONGEST`] bytes, more than
//! [`MOST`] fields, fields over several lines, a field twice that says who asks. A path is a word that is compared with known words; no file
//! is ever named by it.

use std::str;

/// Bytes of a head, at most.
pub const LONGEST: usize = 8 * 1024;

/// Fields of a head, at most.
pub const MOST: usize = 64;

/// What a request asks for, and who asks, as far as browsers tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The path, which begins with `/`.
    pub path: String,
    /// The field `Host`.
    pub host: String,
    /// The field `Origin`.
    pub origin: Option<String>,
    /// The field `Sec-Fetch-Site`.
    pub site: Option<String>,
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is no request of HTTP, or has a body.
    Malformed,
    /// It comes from elsewhere.
    Foreign,
    /// There is nothing at its path.
    Unknown,
    /// It does not read.
    Method,
    /// It took too long to arrive.
    Late,
    /// Its path or its head is too long.
    Long,
    /// Too many connections are open.
    Busy,
    /// What it asks for cannot be made.
    Failed,
}

impl Refusal {
    /// The number and the words of HTTP.
    pub fn status(self) -> &'static str {
        match self {
            Refusal::Malformed => "400 Bad Request",
            Refusal::Foreign => "403 Forbidden",
            Refusal::Unknown => "404 Not Found",
            Refusal::Method => "405 Method Not Allowed",
            Refusal::Late => "408 Request Timeout",
            Refusal::Long => "431 Request Header Fields Too Large",
            Refusal::Busy => "503 Service Unavailable",
            Refusal::Failed => "500 Internal Server Error",
        }
    }
}

/// Where a head ends in what has arrived so far: past the empty line.
pub fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    end.map(|at| at + 4)
}

/// Understands a head with its empty line.
pub fn parse(head: &[u8]) -> Result<Head, Refusal> {
    if head.len() > LONGEST {
        return Err(Refusal::Long);
    }
    let text = str::from_utf8(head).map_err(|_| Refusal::Malformed)?;
    let text = text.strip_suffix("\r\n\r\n").ok_or(Refusal::Malformed)?;
    let mut lines = text.split("\r\n");
    let path = path(lines.next().ok_or(Refusal::Malformed)?)?;
    let mut fields = Fields::default();
    for (i, line) in lines.enumerate() {
        if i == MOST {
            return Err(Refusal::Long);
        }
        fields.take(line)?;
    }
    Ok(Head {
        path,
        host: fields.host.ok_or(Refusal::Malformed)?,
        origin: fields.origin,
        site: fields.site,
    })
}

/// The path in the first line.
fn path(line: &str) -> Result<String, Refusal> {
    let words: Vec<&str> = line.split(' ').collect();
    let [method, path, version] = words[..] else {
        return Err(Refusal::Malformed);
    };
    if !["HTTP/1.1", "HTTP/1.0"].contains(&version) || !method.bytes().all(is_name) {
        return Err(Refusal::Malformed);
    }
    if method != "GET" {
        return Err(Refusal::Method);
    }
    let is_plain = |byte: u8| byte.is_ascii_graphic();
    if path.starts_with('/') && path.bytes().all(is_plain) {
        Ok(path.to_string())
    } else {
        Err(Refusal::Malformed)
    }
}

/// The fields that matter.
#[derive(Default)]
struct Fields {
    host: Option<String>,
    origin: Option<String>,
    site: Option<String>,
}

impl Fields {
    /// Takes a line in.
    fn take(&mut self, line: &str) -> Result<(), Refusal> {
        let (name, value) = line.split_once(':').ok_or(Refusal::Malformed)?;
        let value = value.trim_matches([' ', '\t']);
        let is_text = |c: char| c == '\t' || !c.is_control();
        if name.is_empty() || !name.bytes().all(is_name) || !value.chars().all(is_text) {
            return Err(Refusal::Malformed);
        }
        let kept = match name.to_ascii_lowercase().as_str() {
            "host" => &mut self.host,
            "origin" => &mut self.origin,
            "sec-fetch-site" => &mut self.site,
            // What follows the head would be taken for another request.
            "transfer-encoding" => return Err(Refusal::Malformed),
            "content-length" if value != "0" => return Err(Refusal::Malformed),
            _ => return Ok(()),
        };
        match kept.replace(value.to_string()) {
            None => Ok(()),
            Some(_) => Err(Refusal::Malformed),
        }
    }
}

/// Whether a byte may stand in the name of a method or a field.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Head, Refusal> {
        parse(text.as_bytes())
    }

    #[test]
    fn a_browsers_request_is_understood() {
        let head = parsed(
            "GET /t/ HTTP/1.1\r\nHost: localhost:80\r\nAccept: */*\r\nSEC-FETCH-SITE:  none\t\r\n\r\n",
        );
        let head = head.unwrap();
        assert_eq!(
            (head.path.as_str(), head.host.as_str()),
            ("/t/", "localhost:80")
        );
        assert_eq!((head.origin, head.site.as_deref()), (None, Some("none")));
    }

    #[test]
    fn what_is_not_asked_for_is_refused_by_its_number() {
        let refused = |text: &str| parsed(text).unwrap_err();
        assert_eq!(
            refused("POST / HTTP/1.1\r\nHost: a\r\n\r\n"),
            Refusal::Method
        );
        let malformed = [
            "",
            "\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/2\r\nHost: a\r\n\r\n",
            "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /\u{e4} HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n",
        ];
        for text in malformed {
            assert_eq!(refused(text), Refusal::Malformed, "{text:?}");
        }
        let fields = "X: y\r\n".repeat(MOST + 1);
        assert_eq!(
            refused(&format!("GET / HTTP/1.1\r\n{fields}\r\n")),
            Refusal::Long
        );
        let long = "y".repeat(LONGEST);
        assert_eq!(
            refused(&format!("GET / HTTP/1.1\r\nX: {long}\r\n\r\n")),
            Refusal::Long
        );
    }

    proptest! {
        /// Whatever arrives, there is an answer, and what is understood has no space or control character in its path.
        #[test]
        fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(head) = parse(&bytes) {
                prop_assert!(head.path.bytes().all(|byte| byte.is_ascii_graphic()));
            }
        }

        /// What is written is read back.
        #[test]
        fn reading_inverts_writing(
            path in "/[!-~]{0,40}", host in "[a-z0-9.:]{1,20}", origin in proptest::option::of("[a-z:/.]{1,20}"),
        ) {
            let line = origin.as_ref().map_or(String::new(), |origin| format!("Origin: {origin}\r\n"));
            let head = parse(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{line}\r\n").as_bytes());
            prop_assert_eq!(head, Ok(Head { path, host, origin, site: None }));
        }
    }
}
