//! Connections: accepted, read within bounds, answered once, closed. A stream of events stays open while its page does.
//!
//! | bound | against |
//! | --- | --- |
//! | [`MOST`] connections, of which [`STREAMS`] are streams | a page that opens ever more of them |
//! | [`PATIENCE`] for a whole head, [`UNREAD`] for an answer that nobody reads | clients that are slow on purpose |
//! | [`LONGEST`] bytes of a head | clients that never end |

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::page::POLICY;
use super::place::Place;
use super::request::{self, LONGEST, Refusal};
use super::{Watcher, gate, view};

/// Connections at a time.
const MOST: usize = 48;

/// Streams of events at a time, so that some connections are left for what pages load.
const STREAMS: usize = 32;

/// Until a head must have arrived.
const PATIENCE: Duration = Duration::from_secs(5);

/// Until an answer must have been taken.
const UNREAD: Duration = Duration::from_secs(20);

/// How often a stream looks whether there is something to say.
const BEAT: Duration = Duration::from_millis(500);

/// How long what a refused client still sends is taken in, and how much of it.
const LINGER: Duration = Duration::from_millis(500);
const LINGERING: usize = 64 * 1024;

/// How often it is looked whether to stop; after an attempt to accept that failed, until the next.
const NAP: Duration = Duration::from_millis(100);

/// What is sent for a request.
pub(super) struct Answer {
    pub(super) kind: &'static str,
    /// The content-security policy.
    pub(super) policy: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// A document for the page's scripts.
    pub(super) fn json(document: &serde_json::Value) -> Answer {
        Answer {
            kind: "application/json",
            policy: POLICY.to_string(),
            body: document.to_string().into_bytes(),
        }
    }
}

/// How many connections and streams are open.
#[derive(Default)]
struct Open {
    all: AtomicUsize,
    streams: AtomicUsize,
}

/// Takes part in a count until it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    /// None if there are as many as there may be.
    fn among(count: &'a AtomicUsize, most: usize) -> Option<Counted<'a>> {
        let counted = Counted(count);
        (count.fetch_add(1, Ordering::Relaxed) < most).then_some(counted)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers until `stop` is set.
pub(super) fn serve(watcher: &Watcher, stop: &AtomicBool) {
    let open = Open::default();
    thread::scope(|scope| {
        scope.spawn(|| wake(watcher, stop));
        while !stop.load(Ordering::Relaxed) {
            let Ok((stream, _)) = watcher.listener.accept() else {
                thread::sleep(NAP);
                continue;
            };
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let open = &open;
            match Counted::among(&open.all, MOST) {
                // Here nobody may be waited for.
                None => drop(say_no(&mut &stream, Refusal::Busy)),
                Some(counted) => {
                    scope.spawn(move || {
                        // A client that goes away is no matter of ours.
                        let _ = answer(watcher, stream, open, stop);
                        drop(counted);
                    });
                }
            }
        }
    });
}

/// Waits until it is time to stop, then connects: accepting waits for somebody without looking.
fn wake(watcher: &Watcher, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(NAP);
    }
    if let Ok(address) = watcher.listener.local_addr() {
        // Where it fails others are waiting to be accepted.
        drop(TcpStream::connect(address));
    }
}

fn answer(
    watcher: &Watcher,
    mut stream: TcpStream,
    open: &Open,
    stop: &AtomicBool,
) -> io::Result<()> {
    stream.set_write_timeout(Some(UNREAD))?;
    let place = receive(&mut stream).and_then(|head| {
        let head = request::parse(&head)?;
        Place::of(gate::admitted(&head, &watcher.token)?)
    });
    let made = match place {
        Ok(Place::Events) => {
            return match Counted::among(&open.streams, STREAMS) {
                Some(_counted) => tell(watcher, stream, stop),
                None => refuse(stream, Refusal::Busy),
            };
        }
        Ok(place) => {
            let made = catch_unwind(AssertUnwindSafe(|| view::answer(watcher, &place)));
            made.unwrap_or(Err(Refusal::Failed))
        }
        Err(refusal) => Err(refusal),
    };
    match made {
        Ok(answer) => send(stream, "200 OK", &answer),
        Err(refusal) => refuse(stream, refusal),
    }
}

/// Reads a head, up to its empty line.
fn receive(stream: &mut TcpStream) -> Result<Vec<u8>, Refusal> {
    let deadline = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut part = [0; 1024];
    loop {
        if let Some(end) = request::end_of_head(&head) {
            head.truncate(end);
            return Ok(head);
        }
        if head.len() > LONGEST {
            return Err(Refusal::Long);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Refusal::Late);
        }
        let waits = stream.set_read_timeout(Some(left));
        match waits.and_then(|()| stream.read(&mut part)) {
            Ok(0) => return Err(Refusal::Malformed),
            Ok(count) => head.extend_from_slice(&part[..count]),
            Err(error) if is_wait(&error) => return Err(Refusal::Late),
            Err(_) => return Err(Refusal::Malformed),
        }
    }
}

fn is_wait(error: &io::Error) -> bool {
    [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
    ]
    .contains(&error.kind())
}

/// Refuses, and takes in what was sent but not read: the system would else reset the connection, and the answer with it.
fn refuse(mut stream: TcpStream, refusal: Refusal) -> io::Result<()> {
    say_no(&mut stream, refusal)?;
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + LINGER;
    let (mut part, mut left) = ([0; 1024], LINGERING);
    while left > 0 && Instant::now() < deadline {
        stream.set_read_timeout(Some(LINGER))?;
        match stream.read(&mut part)? {
            0 => break,
            count => left = left.saturating_sub(count),
        }
    }
    Ok(())
}

fn say_no(stream: &mut impl Write, refusal: Refusal) -> io::Result<()> {
    let status = refusal.status();
    let allow = match refusal {
        Refusal::Method => "Allow: GET\r\n",
        _ => "",
    };
    let body = format!("{status}\n");
    let head = fields("text/plain; charset=utf-8", POLICY);
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{allow}{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn send(mut stream: TcpStream, status: &str, answer: &Answer) -> io::Result<()> {
    let head = fields(answer.kind, &answer.policy);
    let length = answer.body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\n\r\n"
    )?;
    stream.write_all(&answer.body)
}

/// What every answer says of itself. There is nothing that lets other pages read it.
fn fields(kind: &str, policy: &str) -> String {
    [
        format!("Content-Type: {kind}\r\n"),
        format!("Content-Security-Policy: {policy}\r\n"),
        "Cache-Control: no-store\r\n".to_string(),
        "X-Content-Type-Options: nosniff\r\n".to_string(),
        "X-Frame-Options: DENY\r\n".to_string(),
        "Referrer-Policy: no-referrer\r\n".to_string(),
        "Cross-Origin-Resource-Policy: same-origin\r\n".to_string(),
        "Cross-Origin-Opener-Policy: same-origin\r\n".to_string(),
        "Connection: close\r\n".to_string(),
    ]
    .concat()
}

/// Tells a page what changes, until it is closed.
fn tell(watcher: &Watcher, mut stream: TcpStream, stop: &AtomicBool) -> io::Result<()> {
    let head = fields("text/event-stream", POLICY);
    write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n")?;
    stream.set_read_timeout(Some(BEAT))?;
    let mut seen = 0;
    let mut said = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let change = {
            let mut survey = watcher.survey();
            // A page that opens is first shown what is known.
            if seen > 0 {
                survey.refresh();
            }
            survey.since(seen)
        };
        if let Some((version, document)) = change {
            // As one piece: a socket would be given every number of it alone.
            stream.write_all(format!("data: {document}\n\n").as_bytes())?;
            (seen, said) = (version, Instant::now());
        } else if said.elapsed() > UNREAD {
            // A comment, which fails where nobody listens any more.
            write!(stream, ": still here\n\n")?;
            said = Instant::now();
        }
        // Waits for the page to close; it has nothing more to say.
        match stream.read(&mut [0; 16]) {
            Err(error) if is_wait(&error) => {}
            Ok(_) | Err(_) => return Ok(()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serving_ends_when_it_is_told_to() {
        let watcher = Watcher::bind(&[], 0).unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let serving = scope.spawn(|| watcher.serve(&stop));
            // Nobody connects meanwhile.
            thread::sleep(2 * NAP);
            assert!(!serving.is_finished());
            stop.store(true, Ordering::Relaxed);
            serving.join().unwrap();
        });
    }
}
