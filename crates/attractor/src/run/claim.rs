//! A folder claimed by a file, for file systems whose locks fail, or hold on one machine only (Lustre, some of NFS): `.claim` says who works in it, is
//! created by one process of all that try, and is written anew every ten seconds while that process lives.
//!
//! | what is found | who may work |
//! | --- | --- |
//! | no claim | whoever creates it |
//! | a claim that was written in the last minute | its owner |
//! | one of a process that is known to be gone, or that was not written for a minute | whoever removes it, under a second file that one process of all creates |
//!
//! Ages are differences of the times that the file system gives to files, so that clocks of machines need not agree. A process that was asleep
//! for longer than a minute finds out before it writes that its claim is gone ([`Claim::is_held`]).

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The file that says who works in a folder.
pub(super) const CLAIM: &str = ".claim";

/// Held while a claim of another is removed.
pub(super) const REMOVAL: &str = ".claim-removal";

/// What names begin with of files that are there for a moment.
pub(super) const BESIDE: &str = ".claim-of-";

/// From one sign of life to the next.
const BEAT: Duration = Duration::from_secs(10);

/// Without a sign of life for so long, an owner is gone.
const STALE: Duration = Duration::from_secs(60);

/// Who works in a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Owner {
    host: String,
    /// Of the machine's start and of the space of process numbers, where the system tells.
    boot: String,
    process: u32,
    /// When the process began, as the system counts; two processes of one number differ in it.
    start: String,
    /// Whether it holds a lock of the file system as well.
    locked: bool,
    /// A number of its own.
    claim: String,
}

/// A folder that this process works in; given back in the end.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    owner: Owner,
    is_lost: Arc<AtomicBool>,
    /// Dropped to end the signs of life.
    alive: Option<mpsc::Sender<()>>,
    beats: Option<JoinHandle<()>>,
}

impl Claim {
    /// Claims a folder; none while another process has it. `locked` says that this process holds the file system's lock, which no
    /// living process of this machine that says so can then hold.
    pub(crate) fn take(folder: &Path, locked: bool) -> io::Result<Option<Claim>> {
        let owner = Owner::this(locked);
        let path = folder.join(CLAIM);
        if let Some(file) = create_claim(&path, &owner)? {
            return Ok(Some(Claim::hold(path, owner, file)));
        }
        if !is_abandoned(&path, &owner)? {
            return Ok(None);
        }
        let Some(removal) = Removal::begin(folder, &owner)? else {
            return Ok(None);
        };
        // Another process may have been faster.
        if is_abandoned(&path, &owner)? {
            remove(&path)?;
        }
        let file = create_claim(&path, &owner)?;
        drop(removal);
        Ok(file.map(|file| Claim::hold(path, owner, file)))
    }

    /// Whether the folder is still this process's; not if it gave no sign of life for so long that another took it.
    pub(super) fn is_held(&self) -> bool {
        !self.is_lost.load(Ordering::Relaxed) && read(&self.path) == Some(self.owner.clone())
    }

    fn hold(path: PathBuf, owner: Owner, mut file: File) -> Claim {
        remove_left(&path);
        let is_lost = Arc::new(AtomicBool::new(false));
        let (alive, ended) = mpsc::channel();
        let beat = {
            let (path, owner, is_lost) = (path.clone(), owner.clone(), is_lost.clone());
            move || {
                while ended.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                    // What cannot be written for a while may be written later.
                    if read(&path).is_some_and(|found| found != owner) {
                        return is_lost.store(true, Ordering::Relaxed);
                    }
                    let _ = write(&mut file, &owner);
                }
            }
        };
        Claim {
            path,
            owner,
            is_lost,
            alive: Some(alive),
            beats: Some(thread::spawn(beat)),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(beats) = self.beats.take() {
            // It ends at once, and does not panic.
            let _ = beats.join();
        }
        if self.is_held() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a process works in a folder, for one who only looks: it is among the processes of this machine, or wrote its claim in the last
/// minute by this machine's clock. Nothing is written, as [`age`] would.
pub(crate) fn is_claimed(folder: &Path) -> bool {
    let path = folder.join(CLAIM);
    let Some(owner) = read(&path) else {
        return false;
    };
    if owner.is_gone(&Owner::this(false)) {
        return false;
    }
    let written = fs::metadata(&path).and_then(|file| file.modified());
    written.is_ok_and(|time| time.elapsed().map_or(true, |age| age <= STALE))
}

/// Whether the file system of a folder lets one claim exclude another: tried here and now.
pub(crate) fn claims_hold(folder: &Path) -> io::Result<bool> {
    match Claim::take(folder, false)? {
        // Another process has it, and this one sees that.
        None => Ok(true),
        Some(_held) => Ok(Claim::take(folder, false)?.is_none()),
    }
}

/// The right to remove a claim, of one process at a time.
struct Removal(PathBuf);

impl Removal {
    fn begin(folder: &Path, owner: &Owner) -> io::Result<Option<Removal>> {
        let path = folder.join(REMOVAL);
        // A process that was killed within the moment that a removal takes left its file. Of two that hold the file system's lock one is gone,
        // so that nobody else can be at it; where there are no locks, its age decides.
        if read(&path).is_some_and(|other| other.loses_lock_to(owner)) {
            remove(&path)?;
        }
        if create_claim(&path, owner)?.is_some() {
            return Ok(Some(Removal(path)));
        }
        if age(&path)?.is_some_and(|age| age > STALE) {
            remove(&path)?;
        }
        Ok(None)
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Owner {
    fn this(locked: bool) -> Owner {
        let process = process::id();
        let chance = RandomState::new().build_hasher().finish();
        Owner {
            host: host(),
            boot: boot(),
            process,
            start: started(process).unwrap_or_default(),
            locked,
            claim: format!("{process}-{chance:016x}"),
        }
    }

    /// Whether it is known to be gone, by the one who asks.
    fn is_gone(&self, asks: &Owner) -> bool {
        let is_running = || started(self.process).as_ref() == Some(&self.start);
        let is_near = self.is_of_machine_of(asks) && !self.boot.is_empty();
        self.loses_lock_to(asks) || (is_near && !is_running())
    }

    /// Whether it would hold the lock that the one who asks holds, if it were still there.
    fn loses_lock_to(&self, asks: &Owner) -> bool {
        self.is_of_machine_of(asks) && self.locked && asks.locked
    }

    fn is_of_machine_of(&self, other: &Owner) -> bool {
        (&self.host, &self.boot) == (&other.host, &other.boot)
    }
}

/// Whether the claim at a path is of a process that is gone. One that is gone itself is not.
fn is_abandoned(path: &Path, asks: &Owner) -> io::Result<bool> {
    if read(path).is_some_and(|owner| owner.is_gone(asks)) {
        return Ok(true);
    }
    Ok(age(path)?.is_some_and(|age| age > STALE))
}

/// How long before now a file was written, by the clock of its file system; none if it is not there.
fn age(path: &Path) -> io::Result<Option<Duration>> {
    let Some(written) = unless_absent(fs::metadata(path))? else {
        return Ok(None);
    };
    let now = name_beside(path);
    let mut probe = File::create_new(&now)?;
    let modified = probe
        .write_all(b".")
        .and_then(|()| probe.metadata()?.modified());
    let _ = fs::remove_file(&now);
    Ok(modified?.duration_since(written.modified()?).ok())
}

/// A name that no other process uses.
fn name_beside(path: &Path) -> PathBuf {
    let chance = RandomState::new().build_hasher().finish();
    path.with_file_name(format!("{BESIDE}{}-{chance:016x}", process::id()))
}

/// Removes what processes left that were killed while they made or looked at a claim. One that is at it now finds its file gone, and tries again later.
fn remove_left(path: &Path) {
    let files = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    for file in files.into_iter().flatten().flatten() {
        let name = file.file_name();
        if name.to_string_lossy().starts_with(BESIDE) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// A claim, which says at once who made it; none if there is one.
fn create_claim(path: &Path, owner: &Owner) -> io::Result<Option<File>> {
    use io::ErrorKind::{AlreadyExists, NotFound, PermissionDenied, Unsupported};
    let beside = name_beside(path);
    let mut file = File::create_new(&beside)?;
    let written = write(&mut file, owner);
    let named = written.and_then(|()| fs::hard_link(&beside, path));
    let _ = fs::remove_file(&beside);
    match named.map_err(|error| (error.kind(), error)) {
        Ok(()) => Ok(Some(file)),
        Err((AlreadyExists | NotFound, _)) => Ok(None),
        // Some file systems have no links: there a claim names nobody for a moment.
        Err((Unsupported | PermissionDenied, _)) => {
            let Some(mut file) = create(path)? else {
                return Ok(None);
            };
            write(&mut file, owner).inspect_err(|_| drop(fs::remove_file(path)))?;
            Ok(Some(file))
        }
        Err((_, error)) => Err(error),
    }
}

/// A new file; none if there is one.
fn create(path: &Path) -> io::Result<Option<File>> {
    match File::create_new(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    unless_absent(fs::remove_file(path)).map(|_| ())
}

fn unless_absent<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The owner that a claim names; none if it is being written, or is gone.
fn read(path: &Path) -> Option<Owner> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes the claim, or writes it again, by which its time changes.
fn write(file: &mut File, owner: &Owner) -> io::Result<()> {
    let text = serde_json::to_string(owner).expect("an owner has texts for keys");
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.sync_data()
}

/// The name of this machine.
pub(crate) fn host() -> String {
    let known = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let mut texts = known
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    let name = texts
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default();
    name.trim().to_string()
}

/// What tells this start of this machine, and this space of process numbers, from others; empty where the system does not tell.
fn boot() -> String {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match (start.trim(), space.to_string_lossy()) {
        ("", _) => String::new(),
        (_, space) if space.is_empty() => String::new(),
        (start, space) => format!("{start} {space}"),
    }
}

/// When a process of this machine began; none if there is none, or the system does not tell.
fn started(process: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything; the start is the 20th word behind it.
    let (_, behind) = text.rsplit_once(')')?;
    behind.split_whitespace().nth(19).map(String::from)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn claimed(folder: &Path, locked: bool) -> Option<Claim> {
        Claim::take(folder, locked).unwrap()
    }

    /// A claim as another process would leave it, written so long ago.
    fn leave(folder: &Path, owner: &Owner, age: Duration) {
        let mut file = File::create(folder.join(CLAIM)).unwrap();
        write(&mut file, owner).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).unwrap().flatten();
        files
            .map(|f| f.file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn one_has_it_until_it_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let claim = claimed(folder.path(), false).unwrap();
        assert!(claim.is_held());
        assert!(claimed(folder.path(), false).is_none());
        assert_eq!(names(folder.path()), [CLAIM]);
        drop(claim);
        assert!(names(folder.path()).is_empty());
        assert!(claimed(folder.path(), false).is_some());
        assert!(claims_hold(folder.path()).unwrap());
        assert!(names(folder.path()).is_empty());
    }

    /// Of many that try at once, whether a claim was left or not, one has it.
    #[test]
    fn of_many_that_try_one_has_it() {
        for is_left in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            if is_left {
                let gone = Owner {
                    host: "elsewhere".into(),
                    ..Owner::this(false)
                };
                leave(folder.path(), &gone, 2 * STALE);
            }
            let taken: Vec<Claim> = thread::scope(|scope| {
                let tries: Vec<_> = (0..16)
                    .map(|_| scope.spawn(|| claimed(folder.path(), false)))
                    .collect();
                tries
                    .into_iter()
                    .filter_map(|t| t.join().unwrap())
                    .collect()
            });
            assert_eq!(taken.len(), 1, "left: {is_left}");
            assert!(taken[0].is_held());
        }
    }

    #[test]
    fn only_what_is_gone_is_taken_over() {
        let this = Owner::this(true);
        let elsewhere = Owner {
            host: "elsewhere".into(),
            ..this.clone()
        };
        let gone = Owner {
            start: "0".into(),
            locked: false,
            ..this.clone()
        };
        let (now, old) = (Duration::ZERO, 2 * STALE);
        // What is left, how long ago, whether the one who asks has the lock, and whether it may take over.
        let cases = [
            (&elsewhere, now, true, false),
            (&elsewhere, old, true, true),
            (&this, now, false, false),
            (&this, now, true, true),
            (&gone, now, false, !this.boot.is_empty()),
        ];
        for (owner, age, locked, expected) in cases {
            let folder = tempfile::tempdir().unwrap();
            leave(folder.path(), owner, age);
            assert_eq!(
                claimed(folder.path(), locked).is_some(),
                expected,
                "{owner:?} {age:?} {locked}"
            );
        }
        // One that is being written names nobody yet.
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CLAIM), "").unwrap();
        assert!(claimed(folder.path(), true).is_none());
    }

    /// A process that was killed while it removed the claim of another left both.
    #[test]
    fn a_removal_that_was_not_finished_keeps_nobody_who_has_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let killed = Owner::this(true);
        leave(folder.path(), &killed, Duration::ZERO);
        let removal = create_claim(&folder.path().join(REMOVAL), &killed).unwrap();
        assert!(removal.is_some());
        assert!(claimed(folder.path(), false).is_none());
        let claim = claimed(folder.path(), true).unwrap();
        assert!(claim.is_held());
        assert_eq!(names(folder.path()), [CLAIM]);
    }

    #[test]
    fn whoever_slept_too_long_notices_and_leaves_the_other_alone() {
        let folder = tempfile::tempdir().unwrap();
        let asleep = claimed(folder.path(), false).unwrap();
        fs::remove_file(folder.path().join(CLAIM)).unwrap();
        let other = claimed(folder.path(), false).unwrap();
        assert!(!asleep.is_held() && other.is_held());
        drop(asleep);
        assert!(other.is_held());
    }
}
