//! What a system, known or learnt, does in the long run.

pub mod lyapunov;
