//! Who may ask. Any page in the same browser can send requests to this machine, so that an address of loopback alone protects nothing:
//!
//! | what | against whom |
//! | --- | --- |
//! | a random word in the path | everyone who was not given the address |
//! | `Host` is a name of loopback, with any port since it may be forwarded | names of others that resolve to this machine |
//! | `Origin`, where there is one, is that of `Host` | scripts of other pages |
//! | `Sec-Fetch-Site`, where there is one, is `same-origin` or `none` | links and pictures in other pages |

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use super::request::{Head, Refusal};

/// The word in the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token(String);

impl Token {
    /// A new one of 128 bits. The standard library keys its hashes with random numbers of the system.
    pub(super) fn random() -> Token {
        let keyed = RandomState::new();
        let half = |which: u64| {
            let mut hasher = keyed.build_hasher();
            hasher.write_u64(which);
            hasher.finish()
        };
        Token(format!("{:016x}{:016x}", half(1), half(2)))
    }

    /// As it stands in the address.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a word is this one; how long that takes says nothing about where they differ.
    fn is(&self, word: &str) -> bool {
        let pairs = self.0.bytes().zip(word.bytes());
        let differ = pairs.fold(0, |sum, (a, b)| sum | (a ^ b));
        word.len() == self.0.len() && differ == 0
    }
}

/// What stands behind the token in the path of a request that may be answered.
pub(super) fn admitted<'a>(head: &'a Head, token: &Token) -> Result<&'a str, Refusal> {
    let origin = head.origin.as_ref();
    let is_own = origin.is_none_or(|origin| *origin == format!("http://{}", head.host));
    let site = head.site.as_deref();
    let is_near = site.is_none_or(|site| ["same-origin", "none"].contains(&site));
    if !is_loopback(&head.host) || !is_own || !is_near {
        return Err(Refusal::Foreign);
    }
    let path = head.path.strip_prefix('/').unwrap_or_default();
    let (word, place) = path.split_once('/').ok_or(Refusal::Unknown)?;
    if token.is(word) {
        Ok(place)
    } else {
        Err(Refusal::Unknown)
    }
}

/// Whether a host is this machine, by a name that nobody else can have.
fn is_loopback(host: &str) -> bool {
    let names = ["localhost", "127.0.0.1", "[::1]"];
    names.iter().any(|name| {
        let port = host
            .strip_prefix(name)
            .map(|rest| rest.strip_prefix(':').unwrap_or(rest));
        let is_whole = host.len() == name.len();
        let is_port = |port: &str| !port.is_empty() && port.parse::<u16>().is_ok();
        port.is_some_and(|port| is_whole || (host[name.len()..].starts_with(':') && is_port(port)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(path: &str, host: &str, origin: Option<&str>, site: Option<&str>) -> Head {
        Head {
            path: path.to_string(),
            host: host.to_string(),
            origin: origin.map(String::from),
            site: site.map(String::from),
        }
    }

    #[test]
    fn the_word_opens_and_nothing_else_does() {
        let token = Token::random();
        let path = format!("/{}/runs", token.text());
        let asked =
            |path: &str| admitted(&head(path, "localhost", None, None), &token).map(String::from);
        assert_eq!(asked(&path), Ok("runs".to_string()));
        assert_eq!(asked("/"), Err(Refusal::Unknown));
        assert_eq!(asked("/x/runs"), Err(Refusal::Unknown));
        assert_eq!(asked(&path[..path.len() - 6]), Err(Refusal::Unknown));
        assert_ne!(Token::random(), token);
        assert_eq!(token.text().len(), 32);
    }

    #[test]
    fn only_this_machine_by_its_own_names_may_ask() {
        let token = Token::random();
        let path = format!("/{}/", token.text());
        let asked = |host, origin, site| admitted(&head(&path, host, origin, site), &token).is_ok();
        for host in [
            "localhost",
            "localhost:8000",
            "127.0.0.1:1",
            "[::1]:65535",
            "[::1]",
        ] {
            assert!(asked(host, None, None), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost:",
            "localhost:x",
            "127.0.0.12",
            "127.0.0.1:99999",
            "localhostx:1",
        ] {
            assert!(!asked(host, None, None), "{host}");
        }
        assert!(asked(
            "localhost:8",
            Some("http://localhost:8"),
            Some("same-origin")
        ));
        assert!(asked("localhost:8", None, Some("none")));
        assert!(!asked("localhost:8", Some("http://localhost:9"), None));
        assert!(!asked("localhost:8", Some("null"), None));
        assert!(!asked("localhost:8", None, Some("cross-site")));
        assert!(!asked("localhost:8", None, Some("same-site")));
    }
}
