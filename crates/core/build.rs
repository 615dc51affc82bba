//! Leaves out the kernels that this processor would not use, where a program is built for the machine that builds it: those for AVX-512 where it has
//! none, those for processors without AVX2 where it has that. Each instruction set takes a third of the time to compile.
//! `ATTRACTOR_KERNELS=all` compiles all of them, for a program that is handed on to other machines.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ATTRACTOR_KERNELS");
    println!("cargo::rustc-check-cfg=cfg(attractor_no_avx512)");
    println!("cargo::rustc-check-cfg=cfg(attractor_no_baseline)");
    let variable = |name| std::env::var(name).unwrap_or_default();
    if variable("HOST") != variable("TARGET") || variable("ATTRACTOR_KERNELS") == "all" {
        return;
    }
    if !has_avx512() {
        println!("cargo::rustc-cfg=attractor_no_avx512");
    }
    if has_avx2() {
        println!("cargo::rustc-cfg=attractor_no_baseline");
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512f")
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}
