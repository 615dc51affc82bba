//! Writing files so that none is ever half-written: beside its name, then renamed. What is beside is removed, whatever ends
//! the writing; only a process that is killed without a word leaves it, under a name that no other program gives.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Error;

/// Writes a file through `fill`: into a temporary file in the same folder, synced, then renamed to `path`. On any
/// error what stood at `path` before still stands there and the temporary file is gone.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let part = Part::beside(path);
    write_and_rename(&part.0, path, fill).map_err(|source| Error::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Makes a folder, with those above it, unless it is there.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Writes a file as [`write_whole`] does, unless there is one, which then stays.
pub(crate) fn write_new(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    if path.exists() {
        return Ok(());
    }
    let part = Part::beside(path);
    let written = write_synced(&part.0, fill).and_then(|()| give_name(&part.0, path));
    let written = written.and_then(|()| sync_folder(path));
    written.map_err(|source| Error::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Gives a file a name, unless another has it; of several processes that try, one succeeds.
fn give_name(beside: &Path, path: &Path) -> io::Result<()> {
    use io::ErrorKind::{AlreadyExists, PermissionDenied, Unsupported};
    match fs::hard_link(beside, path).map_err(|error| (error.kind(), error)) {
        Ok(()) | Err((AlreadyExists, _)) => Ok(()),
        // Some file systems have no links: there the last one to come wins.
        Err((Unsupported | PermissionDenied, _)) => fs::rename(beside, path),
        Err((_, error)) => Err(error),
    }
}

/// Why a file was not read, in words where the system's are cryptic.
pub(crate) fn unreadable(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => "no such file".to_string(),
        io::ErrorKind::PermissionDenied => "this user may not read the file".to_string(),
        io::ErrorKind::IsADirectory => "expected a file, found a folder".to_string(),
        _ => format!("cannot read: {source}"),
    }
}

/// Refuses a file that [`write_whole`] could not write: its folder is not there or lets nobody write.
pub fn refuse_unwritable(path: &Path) -> Result<(), Error> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        let path = folder.to_path_buf();
        return Err(Error::NoFolder { path });
    }
    // Permissions can be asked for, but only a file tells about quotas, read-only disks and lists of access.
    let part = Part::beside(path);
    File::create_new(&part.0).map_err(|source| Error::Write {
        path: path.to_path_buf(),
        source,
    })?;
    Ok(())
}

/// Refuses to write a file over the one that is read, through whatever links.
pub fn refuse_same(from: &Path, to: &Path) -> Result<(), Error> {
    match (fs::canonicalize(from), fs::canonicalize(to)) {
        (Ok(one), Ok(other)) if one == other => Err(Error::SameFile {
            path: to.to_path_buf(),
        }),
        _ => Ok(()),
    }
}

fn write_and_rename(
    beside: &Path,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    write_synced(beside, fill)?;
    fs::rename(beside, path)?;
    sync_folder(path)
}

fn write_synced(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(path)?);
    fill(&mut out)?;
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()
}

/// Syncs the folder of a file, which has its name; where folders cannot be opened or synced, the system does it in time.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let synced = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    match synced.as_ref().map_err(io::Error::kind) {
        Err(io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) => Ok(()),
        _ => synced,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file that is being written under a name of its own; it is removed at the end, if it has not got its name by then.
struct Part(PathBuf);

/// The parts of this process. A signal that ends it has nothing but this to know them by.
static PARTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn parts() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Part {
    fn beside(path: &Path) -> Part {
        let part = temporary_name(path);
        parts().insert(part.clone());
        Part(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut parts = parts();
        // Mostly there is nothing to remove any more.
        let _ = fs::remove_file(&self.0);
        parts.remove(&self.0);
    }
}

/// Removes what this process is writing, and keeps it from writing anything more: for a process that ends at once.
pub fn abandon() {
    let mut parts = parts();
    for part in mem::take(&mut *parts) {
        let _ = fs::remove_file(part);
    }
    // Whoever begins or ends a file from now on waits for the end of the process.
    mem::forget(parts);
}

/// Removes what a process that was killed while it wrote left in a folder.
pub fn remove_parts(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else {
        return;
    };
    for file in files.flatten() {
        if is_part(&file.file_name().to_string_lossy()) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// How the name of a file that is being written goes on after the file's own, and how it ends.
const MARK: &str = ".attractor-";
const PART: &str = ".part";

/// How many characters of a file's own name are in that of its part, so that a long one does not get too long.
const SHOWN: usize = 40;

/// A name in the same folder that no other process uses, on this machine or on another that shares the folder.
fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(SHOWN).collect();
    // The keys of a hash map are random: processes of two machines may have the same number.
    let chance = RandomState::new().build_hasher().finish();
    let id = std::process::id();
    path.with_file_name(format!(".{name}{MARK}{id}-{chance:016x}{PART}"))
}

/// Whether a name is one that [`temporary_name`] gives.
pub(crate) fn is_part(name: &str) -> bool {
    let Some((own, id)) = name.strip_suffix(PART).and_then(|n| n.rsplit_once(MARK)) else {
        return false;
    };
    let is_id = |(process, chance): (&str, &str)| {
        process.parse::<u32>().is_ok()
            && chance.len() == 16
            && chance.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    own.starts_with('.') && id.split_once('-').is_some_and(is_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("full"))
        });
        assert!(matches!(failed, Err(Error::Write { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_parts_of_this_program_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let long = "x".repeat(250);
        let ours = ["a.csv", "a.attractor-1-0.csv", "µ.csv", &long].map(|n| here.join(n));
        let foreign = [
            ".foo.part",
            ".a.csv.12-0123456789abcdef.part",
            ".a.csv.attractor-12-0123.part",
            "a.csv.attractor-12-0123456789abcdef.part",
            ".a.csv.attractor-12-0123456789abcdef.partial",
        ];
        for path in ours.map(|path| temporary_name(&path)) {
            fs::write(path, "").unwrap();
        }
        for name in foreign {
            fs::write(here.join(name), "").unwrap();
        }
        remove_parts(here);
        let left = fs::read_dir(here).unwrap().flatten();
        let left: BTreeSet<_> = left.map(|file| file.file_name()).collect();
        assert_eq!(left, foreign.iter().map(Into::into).collect());
        write_whole(&here.join(long), |out| out.write_all(b"a")).unwrap();
    }

    #[test]
    fn a_part_is_gone_when_its_writer_panics() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let write = || write_whole(&path, |_| panic!("in the middle"));
        assert!(std::panic::catch_unwind(write).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn of_several_that_write_a_new_file_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let write = |text: &str| write_new(&path, |out| out.write_all(text.as_bytes())).unwrap();
        write("first");
        write("second");
        // As two processes that both saw no file.
        let beside = folder.path().join("beside");
        fs::write(&beside, "third").unwrap();
        give_name(&beside, &path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("a.txt");
        refuse_unwritable(&inside).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let nowhere = folder.path().join("no").join("a.txt");
        let refused = refuse_unwritable(&nowhere).unwrap_err();
        assert!(matches!(refused, Error::NoFolder { .. }));
        assert!(
            refused
                .hint()
                .unwrap()
                .to_string()
                .starts_with("create the folder")
        );
        let written = write_whole(&nowhere, |_| Ok(())).unwrap_err();
        assert_eq!(written.hint(), refused.hint());
    }

    #[test]
    fn a_file_is_the_same_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.txt"), folder.path().join("b.txt"));
        fs::write(&a, "a").unwrap();
        refuse_same(&a, &b).unwrap();
        let roundabout = folder.path().join(".").join("a.txt");
        assert!(matches!(
            refuse_same(&roundabout, &a),
            Err(Error::SameFile { .. })
        ));
        fs::write(&b, "a").unwrap();
        refuse_same(&a, &b).unwrap();
    }
}
