//! `attractor watch` as a browser meets it: over a socket, while trainings run, end and vanish.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use common::{attractor, said, start};
use serde_json::Value;

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
    /// `/token/`.
    base: String,
}

impl Server {
    fn over(folder: &Path, arguments: &str) -> Server {
        let mut child = start(folder, &format!("watch {arguments}"));
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, _) = address.split_once('/').unwrap();
        Server {
            port: port.parse().unwrap(),
            base: address[port.len()..].to_string(),
            child,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        // A report is made while other tests run, on a machine that may have other work.
        let patience = Some(Duration::from_secs(300));
        stream.set_read_timeout(patience).unwrap();
        stream
    }

    /// The whole answer to some bytes.
    fn answer(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Head and body for a place, as the page asks for it.
    fn get(&self, place: &str) -> (String, String) {
        let (port, base) = (self.port, &self.base);
        let host = format!("Host: 127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin");
        let answer = self.answer(&format!("GET {base}{place} HTTP/1.1\r\n{host}\r\n\r\n"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_string(), body.to_string())
    }

    fn json(&self, place: &str) -> Value {
        let (head, body) = self.get(place);
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{place}: {head}");
        serde_json::from_str(&body).unwrap()
    }

    /// Asks for what changes; whether it is given is said by the first line of the answer.
    fn asked(&self) -> Events {
        let mut stream = self.connect();
        let (port, base) = (self.port, &self.base);
        let line = format!("GET {base}events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
        stream.write_all(line.as_bytes()).unwrap();
        Events(BufReader::new(stream))
    }

    fn events(&self) -> Events {
        let mut events = self.asked();
        assert!(events.is_given());
        events
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a page is sent.
struct Events(BufReader<TcpStream>);

impl Events {
    /// Whether the answer begins with 200.
    fn is_given(&mut self) -> bool {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.starts_with("HTTP/1.1 200")
    }

    fn next(&mut self) -> Value {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < Duration::from_secs(120), "nothing new");
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended");
            if let Some(text) = line.strip_prefix("data: ") {
                return serde_json::from_str(text).unwrap();
            }
        }
    }

    /// Waits for a run of this name in this state.
    fn until(&mut self, name: &str, state: &str) -> Value {
        loop {
            let runs = self.next()["runs"].as_array().unwrap().clone();
            let wanted = |run: &&Value| run["name"] == name && run["state"] == state;
            if let Some(run) = runs.iter().find(wanted) {
                return run.clone();
            }
        }
    }

    /// Waits for a run to be gone; it may be reported once more before, as it was.
    fn until_gone(&mut self, id: u64) {
        while self.next()["gone"] != serde_json::json!([id]) {}
    }
}

fn recording(folder: &Path) {
    said(
        folder,
        "simulate lorenz63 --steps 2000 --standardize --out l.csv",
        0,
    );
}

const SETTINGS: &str = "--hidden 12 --window 30 --quiet";

#[test]
fn a_training_is_followed_from_its_first_checkpoint_to_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    recording(here);
    // The folder does not exist yet.
    let server = Server::over(here, "runs");
    let mut events = server.events();
    assert_eq!(events.next()["runs"], Value::Array(Vec::new()));
    let line = format!("train l.csv --out runs/a --epochs 1000 --checkpoint-every 1 {SETTINGS}");
    let mut training = start(here, &line);
    let run = events.until("a", "running");
    let id = run["id"].as_u64().unwrap();
    common::wait_for(&here.join("runs/a/checkpoint.safetensors"), &mut training);
    let seen = server.json(&format!("run/{id}"));
    assert!(seen["why"].is_null(), "{seen}");
    let model = server.json(&format!("model/{id}"));
    assert!(model["why"].is_null(), "{model}");
    let curves = server.json(&format!("curves/{id}"));
    assert!(curves[0].is_object(), "{curves}");
    training.kill().unwrap();
    training.wait().unwrap();
    // A training that was killed has a report too, of what its checkpoint holds.
    let (head, page) = server.get(&format!("report/{id}"));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(
        head.contains("script-src 'sha256-") && !head.contains("unsafe-inline"),
        "{head}"
    );
    assert!(page.starts_with("<!doctype html>"));
    fs::remove_dir_all(here.join("runs/a")).unwrap();
    events.until_gone(id);
    assert!(
        server
            .get(&format!("run/{id}"))
            .0
            .starts_with("HTTP/1.1 404")
    );
}

#[test]
fn a_study_shows_states_scores_and_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    recording(here);
    let study = "name = \"s\"\nseeds = 2\n[data]\ntrain = \"l.csv\"\n[settings]\nhidden = 12\nwindow = 30\n\
        epochs = 2\n[grid]\nalpha = [0.1, 0.3]\n[evaluation]\nfloors = false\n";
    fs::write(here.join("s.toml"), study).unwrap();
    let done = attractor(here, "sweep s.toml --out s --quiet");
    assert_eq!(
        done.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let server = Server::over(here, "s");
    let all = server.events().next();
    assert_eq!(all["settings"], serde_json::json!(["alpha"]));
    let runs = all["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    for run in runs {
        assert_eq!(run["state"], "finished");
        assert!(run["scores"]["d_stsp"][0].is_number(), "{run}");
        assert!(run["verdict"].is_string(), "{run}");
    }
}

#[test]
fn nobody_else_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    let server = Server::over(folder.path(), "runs");
    let (head, page) = server.get("");
    assert!(
        head.contains("default-src 'none'") && !head.contains("unsafe-inline"),
        "{head}"
    );
    assert!(!head.contains("Access-Control"), "{head}");
    assert!(page.contains("<script"));
    let base = &server.base;
    let refused = |request: String, number: u32| {
        let answer = server.answer(&request);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {number} ")),
            "{request}: {answer}"
        );
    };
    let local = "Host: localhost\r\n";
    refused(format!("GET / HTTP/1.1\r\n{local}\r\n"), 404);
    refused(
        format!("GET /{}/ HTTP/1.1\r\n{local}\r\n", "0".repeat(32)),
        404,
    );
    refused(
        format!("GET {base}../../etc/passwd HTTP/1.1\r\n{local}\r\n"),
        404,
    );
    refused(
        format!("GET {base} HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        403,
    );
    refused(
        format!("GET {base} HTTP/1.1\r\n{local}Sec-Fetch-Site: cross-site\r\n\r\n"),
        403,
    );
    refused(
        format!("GET {base} HTTP/1.1\r\n{local}Origin: http://evil.example\r\n\r\n"),
        403,
    );
    refused(format!("POST {base} HTTP/1.1\r\n{local}\r\n"), 405);
    refused(
        format!("GET {base} HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(9000)),
        431,
    );
    refused("nonsense\r\n\r\n".to_string(), 400);
    // A client that sends half a head is dropped, and others are answered meanwhile.
    let mut slow = server.connect();
    slow.write_all(b"GET / HT").unwrap();
    assert!(server.get("").0.starts_with("HTTP/1.1 200"));
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[test]
fn more_connections_than_are_served_are_turned_away_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    let server = Server::over(folder.path(), "runs");
    // All stay open until all are answered: one that is closed makes room for another.
    let mut streams: Vec<Events> = (0..40).map(|_| server.asked()).collect();
    let answered = streams.iter_mut().map(Events::is_given);
    assert_eq!(answered.filter(|is_given| *is_given).count(), 32);
    // The page itself is answered all the same.
    assert!(server.get("").0.starts_with("HTTP/1.1 200"));
    drop(streams);
    // The server notices that they are closed when it next speaks or listens: then there is room again.
    let begun = Instant::now();
    let mut again = server.asked();
    while !again.is_given() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        again = server.asked();
    }
    assert_eq!(again.next()["whole"], true);
}

#[test]
fn a_port_that_is_taken_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    let server = Server::over(folder.path(), "runs");
    let (_, told) = said(
        folder.path(),
        &format!("watch runs --port {}", server.port),
        2,
    );
    assert!(
        told.contains(&format!("port {} cannot be used", server.port)),
        "{told}"
    );
    assert!(told.contains("leave `--port` out"), "{told}");
}
