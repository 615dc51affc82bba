//! Writing files so that none is ever half-written: beside its name, then renamed.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Writes a file through `fill`: into a temporary file in the same folder, synced, then renamed to `path`. On any
/// error what stood at `path` before still stands there and the temporary file is gone.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let beside = temporary_name(path);
    write_and_rename(&beside, path, fill).map_err(|source| {
        // The first error is the one to report; there may be nothing to remove.
        let _ = fs::remove_file(&beside);
        Error::Write {
            path: path.to_path_buf(),
            source,
        }
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
    let beside = temporary_name(path);
    let written = write_synced(&beside, fill).and_then(|()| give_name(&beside, path));
    // What has its name has another one no longer; what could not be written is of no use.
    let _ = fs::remove_file(&beside);
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
        io::ErrorKind::IsADirectory => "a file is needed, found a folder".to_string(),
        _ => format!("cannot read: {source}"),
    }
}

/// Refuses a file that [`write_whole`] could not write: its folder is not there or lets nobody write.
pub fn refuse_unwritable(path: &Path) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let path = folder.to_path_buf();
        return Err(Error::NoFolder { path });
    }
    // Permissions can be asked for, but only a file tells about quotas, read-only disks and lists of access.
    let beside = temporary_name(path);
    let tried = File::create(&beside).and_then(|_| fs::remove_file(&beside));
    tried.map_err(|source| Error::Write {
        path: path.to_path_buf(),
        source,
    })
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
    fs::rename(beside, path)
}

fn write_synced(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    fill(&mut out)?;
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()
}

/// Removes what a process that was killed while it wrote left in a folder.
pub fn remove_parts(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else {
        return;
    };
    for file in files.flatten() {
        let name = file.file_name();
        let name = name.to_string_lossy();
        if is_part(&name) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Whether a file of this name is one that is being written, or was when its process was killed.
pub(crate) fn is_part(name: &str) -> bool {
    let random = |id: &str| {
        let (process, chance) = id.split_once('-').unwrap_or_default();
        let is_hex = chance.bytes().all(|b| b.is_ascii_hexdigit());
        process.parse::<u32>().is_ok() && chance.len() == 16 && is_hex
    };
    let inner = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(PART));
    inner.is_some_and(|inner| inner.rsplit_once('.').is_some_and(|(_, id)| random(id)))
}

/// The end of the name of a file that is being written.
const PART: &str = ".part";

/// A name in the same folder that no other process uses, on this machine or on another that shares the folder.
fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The keys of a hash map are random: processes of two machines may have the same number.
    let chance = RandomState::new().build_hasher().finish();
    let id = std::process::id();
    path.with_file_name(format!(".{name}.{id}-{chance:016x}{PART}"))
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
        assert!(refused.told().unwrap().starts_with("create the folder"));
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
