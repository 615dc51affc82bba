//! Decompositions of dense matrices and Fourier transforms of real numbers: what other crates compute for us, behind functions of
//! plain slices. The generic code of those crates is compiled here, once, and not again with every change of the core.

pub mod dense;
pub mod fft;
