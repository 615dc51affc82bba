//! One process a run: a lock that ends with the process that holds it, however that ends. Its file stays: if it were
//! removed, a process could lock the removed file while another locks a new one.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::RunError;
use crate::Error;

pub(super) const LOCK: &str = ".lock";

/// Held while a run's folder is written.
#[derive(Debug)]
pub(super) struct Lock {
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
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(Error::Run(RunError::Locked {
                path: folder.to_path_buf(),
            })),
            // Some shared file systems have no locks: nothing can be known there.
            Err(TryLockError::Error(_)) | Ok(()) => Ok(Lock { _file: file }),
        }
    }
}
