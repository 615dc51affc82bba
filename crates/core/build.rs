//! Leaves out the kernels that this processor would not use, where a program is built for the machine that builds it: those for AVX-512 where it has
//! none, those for processors without AVX2 where it has that, and in a release those for AVX2 where it has AVX-512 (tests compare the two).
//! Each instruction set takes a third of the time to compile. `ATTRACTOR_KERNELS=all` compiles all of them, for a program that is handed on to
//! other machines.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ATTRACTOR_KERNELS");
    println!("cargo::rustc-check-cfg=cfg(attractor_no_avx512)");
    println!("cargo::rustc-check-cfg=cfg(attractor_no_avx2)");
    println!("cargo::rustc-check-cfg=cfg(attractor_no_baseline)");
    let variable = |name| std::env::var(name).unwrap_or_default();
    if variable("HOST") != variable("TARGET") || variable("ATTRACTOR_KERNELS") == "all" {
        return;
    }
    if !has_avx512() {
        println!("cargo::rustc-cfg=attractor_no_avx512");
    } else if variable("PROFILE") == "release" {
        println!("cargo::rustc-cfg=attractor_no_avx2");
    }
    if has_avx2() {
        println!("cargo::rustc-cfg=attractor_no_baseline");
    }
}

/// Whether the processor has all of these.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($($feature:tt)*) => { $(std::is_x86_feature_detected!($feature))&&* };
}

/// What the vector crate asks for (Ice Lake): with less it takes AVX2, for which there must then be kernels.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has!(
        "adx" "aes" "avx512bitalg" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512ifma" "avx512vbmi" "avx512vbmi2" "avx512vl" "avx512vnni"
        "avx512vpopcntdq" "bmi1" "bmi2" "cmpxchg16b" "fma" "fxsr" "gfni" "lzcnt" "movbe" "pclmulqdq" "popcnt" "rdrand" "rdseed" "sha" "vaes"
        "vpclmulqdq" "xsave" "xsavec" "xsaveopt" "xsaves"
    )
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    has!("avx2" "fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}
