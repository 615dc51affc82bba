//! The Python package's native half: arrays in, arrays out, everything between is the library's.
//!
//! What a user sees is in `python/attractor`, a few hundred lines of Python over these functions: names, docstrings, conversions from and
//! to other packages. Long work runs on a thread of its own ([`work`]); errors and outcomes come out as typed exceptions and warnings
//! ([`error`]).

mod error;
mod fit;
mod model;
mod series;
mod study;
mod tools;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::fit::{Fitted, check, fit, load, resume, settings};
    #[pymodule_export]
    use crate::model::{
        analyze, channels, describe, evaluate, forecast, generate, inputs, jacobian, observe,
        parameters, report, sizes, start, step, step_size,
    };
    #[pymodule_export]
    use crate::series::{Recorded, read};
    #[pymodule_export]
    use crate::study::{sweep, table};
    #[pymodule_export]
    use crate::tools::{
        embed, exponent, inspect, main, models, prepare, simulate, spectrum, version,
    };
    #[pymodule_export]
    use crate::work::{Work, fault_in_call, fault_in_work};

    /// What foreign code panics with becomes an error, and is not printed as well.
    #[pymodule_init]
    fn init() {
        attractor_cli::hush_foreign_panics();
    }
}
