//! Code of others on files that may be damaged: it runs on a thread of its own, and a panic of it becomes an error.
//!
//! The thread has a name by which a program can tell such a panic from its own, since the standard library prints every
//! panic before it can be caught. A hook that this library sets would be one for the whole process.

use std::thread;

use super::Fault;

/// The name of threads whose panics become errors: a program need not print them.
pub const FOREIGN_THREAD: &str = "foreign code";

/// The stack of such a thread: an HDF5 header may describe types within types over all of its 64 KiB.
const STACK: usize = 1 << 26;

/// What `read` gives, or a fault where it panics.
#[cfg_attr(
    not(any(feature = "hdf5", feature = "parquet")),
    allow(dead_code, reason = "only these formats are read by others' code")
)]
pub(super) fn caught<T: Send>(
    format: &'static str,
    read: impl FnOnce() -> Result<T, Fault> + Send,
) -> Result<T, Fault> {
    let panicked = |_| Fault::Foreign {
        format,
        reason: "it is damaged".to_string(),
    };
    thread::scope(|scope| {
        let named = thread::Builder::new()
            .name(FOREIGN_THREAD.to_string())
            .stack_size(STACK);
        let reading = named.spawn_scoped(scope, read).map_err(Fault::from_io)?;
        reading.join().map_err(panicked)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_foreign_code_is_a_fault() {
        assert_eq!(caught("Parquet", || Ok(7)).unwrap(), 7);
        let fault = caught::<()>("Parquet", || panic!("not a level")).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "this Parquet file cannot be read: it is damaged"
        );
    }
}
