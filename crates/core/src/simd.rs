//! Vectors of lanes and the two products everything is made of, with runtime dispatch.
//!
//! **The batch is the vector.** Windows stand side by side in the lanes of a vector register: one feature of 8 (or
//! 16) windows is one `Lanes` value, and every buffer is `[step][feature][lanes]`. Weights are broadcast, so
//! nothing is transposed inside the loops and no lane sees another. Lanes are summed only at the end, in groups of
//! eight and in a fixed order; units of even and of odd number are added up by themselves. So the bits depend neither on
//! how many windows share a register nor on how many threads share the groups, and are the same on all instruction sets
//! that have fused multiply-adds.
//!
//! The instruction set is chosen at run time ([`Isa`]); this module and its children are the only ones that name
//! the vector crate.

mod abreast;
mod activation;
mod eights;
mod gram;
mod hidden;
mod lanes;
mod matrices;
mod outer;
mod product;
mod sparse;
mod spectral;
mod transpose;

pub(crate) use abreast::Abreast;
pub(crate) use activation::{sigmoid, tanh};
pub(crate) use eights::{EIGHT, Eights};
pub(crate) use gram::{
    Groups, Place, Rows, Sums, Whole, WholeUnits, add_rows, gram, gram_diagonal, gram_symmetric,
    gram_whole, lane_sums, reduce,
};
pub(crate) use hidden::{OutOfUnits, fill_units, into_units, multiply_into, multiply_out};
pub(crate) use lanes::{GROUP, Lanes, Lanes8, Lanes16, Paired8, UnitVector, Weight, filled};
pub(crate) use matrices::{Change, LaneMatrices};
pub(crate) use outer::{Cotangents, Turned, outer};
pub(crate) use product::{Packed, multiply, multiply_many};
pub(crate) use sparse::{MOST_LATENT, OpenUnits, UnitRows, WeightRows};
pub(crate) use spectral::SpectralNorm;
pub(crate) use transpose::{SQUARE, transpose, transposed};

pub(crate) use fearless_simd::prelude::{Bytes, SimdBase, SimdFloat, SimdMask};
pub(crate) use fearless_simd::{Select, Simd, f32x8, f64x4, f64x8, u64x8};

use fearless_simd::Level;

/// An instruction set that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// What every processor of the architecture has.
    Baseline,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 as of Ice Lake and Zen 4.
    Avx512,
}

impl Isa {
    /// The best instruction set of this processor.
    pub fn detect() -> Isa {
        let level = Level::new();
        if has_avx512(level) {
            Isa::Avx512
        } else if has_avx2(level) {
            Isa::Avx2
        } else {
            Isa::Baseline
        }
    }

    /// All instruction sets that this processor can run, of those that the program was built for.
    pub fn available() -> impl Iterator<Item = Isa> {
        [Isa::Baseline, Isa::Avx2, Isa::Avx512]
            .into_iter()
            .filter(|&isa| LEAST <= isa && isa <= Isa::detect())
    }

    /// The least that the program was built for: on a lesser processor nothing can be trained or judged.
    pub fn least() -> Isa {
        LEAST
    }

    /// Whether the program was built for a processor like this one.
    pub fn is_built_for_here() -> bool {
        LEAST <= Isa::detect()
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }
}

/// The least that the program was built for (`build.rs`).
const LEAST: Isa = if cfg!(attractor_no_avx2) {
    Isa::Avx512
} else if cfg!(attractor_no_baseline) {
    Isa::Avx2
} else {
    Isa::Baseline
};

/// Eight windows where registers are narrow; where the kernels for AVX2 are left out, lanes that are compiled anyway.
#[cfg(not(attractor_no_avx2))]
pub(crate) type Narrow = Lanes8;
#[cfg(attractor_no_avx2)]
pub(crate) type Narrow = Paired8;

/// What fills the least register that programs are built for.
#[cfg(not(attractor_no_avx2))]
pub(crate) type Least = Lanes8;
#[cfg(attractor_no_avx2)]
pub(crate) type Least = Lanes16;

/// A computation that is compiled once for every instruction set.
pub(crate) trait Task {
    /// What it gives.
    type Output;

    /// The computation; implementations are `#[inline(always)]`, and so is all they call in hot loops.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Runs a task on lanes of type `P` with an instruction set that this processor has. Lanes beside wide registers are for
/// AVX-512, eight in narrow ones for all others: an instruction set more for either would only be compiled, not be faster.
/// A build for the machine that builds it leaves out what its processor would not use (`build.rs`).
#[cfg(target_arch = "x86_64")]
pub(crate) fn dispatch<P: Lanes, T: Task>(isa: Isa, task: T) -> T::Output {
    let level = Level::new();
    if P::NEEDS_AVX512 || cfg!(attractor_no_avx2) {
        #[cfg(attractor_no_avx512)]
        unreachable!("no wide registers are chosen without AVX-512");
        #[cfg(not(attractor_no_avx512))]
        {
            let simd = level
                .as_avx512()
                .expect("wide registers are chosen where there is AVX-512");
            return simd.vectorize(
                #[inline(always)]
                || task.run(simd),
            );
        }
    }
    with_avx2(level, isa, task)
}

/// Runs a task with at most AVX2.
#[cfg(all(target_arch = "x86_64", not(attractor_no_avx2)))]
fn with_avx2<T: Task>(level: Level, isa: Isa, task: T) -> T::Output {
    match level.as_avx2() {
        Some(simd) if isa.max(LEAST) >= Isa::Avx2 => simd.vectorize(
            #[inline(always)]
            || task.run(simd),
        ),
        _ => at_baseline(level, task),
    }
}

#[cfg(all(target_arch = "x86_64", attractor_no_avx2))]
fn with_avx2<T: Task>(_level: Level, _isa: Isa, _task: T) -> T::Output {
    unreachable!("all tasks run with AVX-512")
}

#[cfg(all(
    target_arch = "x86_64",
    not(any(attractor_no_baseline, attractor_no_avx2))
))]
fn at_baseline<T: Task>(level: Level, task: T) -> T::Output {
    let simd = level.as_sse2().expect("every x86-64 processor has SSE2");
    simd.vectorize(
        #[inline(always)]
        || task.run(simd),
    )
}

#[cfg(all(target_arch = "x86_64", attractor_no_baseline, not(attractor_no_avx2)))]
fn at_baseline<T: Task>(_level: Level, _task: T) -> T::Output {
    panic!(
        "this program was built for processors with AVX2: `Isa::is_built_for_here` says so first"
    );
}

/// Runs a task with the best instruction set.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn dispatch<P: Lanes, T: Task>(_isa: Isa, task: T) -> T::Output {
    fearless_simd::dispatch!(Level::new(), simd => task.run(simd))
}

/// Runs a task that has vectors of its own instead of lanes, with all that an instruction set offers.
pub(crate) fn dispatch_widest<T: Task>(isa: Isa, task: T) -> T::Output {
    match isa {
        Isa::Avx512 => dispatch::<Lanes16, _>(isa, task),
        Isa::Avx2 | Isa::Baseline => dispatch::<Least, _>(isa, task),
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2(level: Level) -> bool {
    level.as_avx2().is_some()
}

#[cfg(target_arch = "x86_64")]
fn has_avx512(level: Level) -> bool {
    cfg!(not(attractor_no_avx512)) && level.as_avx512().is_some()
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2(_level: Level) -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512(_level: Level) -> bool {
    false
}
