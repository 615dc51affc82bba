//! One process per run: a lock that ends with the process that holds it, however that ends, and a [claim](super::claim) for file systems
//! whose locks fail or hold on one machine only. The file of the lock stays: if it were removed, a process could lock the removed file while another
//! locks a new one.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::RunError;
use super::claim::{BESIDE, CLAIM, Claim, REMOVAL};
use crate::Error;

/// The file that is locked.
const LOCK: &str = ".lock";

/// Held while a run's folder is written.
#[derive(Debug)]
pub(super) struct Lock {
    folder: PathBuf,
    // Given back before the lock, so that whoever gets that finds no claim.
    claim: Claim,
    _file: File,
}

impl Lock {
    /// Locks a folder that is there.
    pub(super) fn take(folder: &Path) -> Result<Lock, Error> {
        let path = folder.join(LOCK);
        let write = |source| Error::Write {
            path: path.clone(),
            source,
        };
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(write)?;
        let is_locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Err(locked(folder)),
            // Some shared file systems have no locks: there the claim is all that is known.
            Err(TryLockError::Error(_)) => false,
        };
        match Claim::take(folder, is_locked).map_err(write)? {
            None => Err(locked(folder)),
            Some(claim) => Ok(Lock {
                folder: folder.to_path_buf(),
                claim,
                _file: file,
            }),
        }
    }

    /// Refuses to go on where another process has taken the folder over.
    pub(super) fn refuse_lost(&self) -> Result<(), Error> {
        if self.claim.is_held() {
            Ok(())
        } else {
            let path = self.folder.clone();
            Err(Error::Run(RunError::TakenOver { path }))
        }
    }
}

/// Whether a file of this name is of a lock or a claim.
pub(super) fn is_of_lock(name: &str) -> bool {
    [LOCK, CLAIM, REMOVAL].contains(&name) || name.starts_with(BESIDE)
}

fn locked(folder: &Path) -> Error {
    Error::Run(RunError::Locked {
        path: folder.to_path_buf(),
    })
}
