//! Leaves the kernels for AVX-512 out where this processor could not run them anyway: a third of the time to compile goes into them.
//! `ATTRACTOR_KERNELS=all` compiles all of them, for a program that is handed on to other machines.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ATTRACTOR_KERNELS");
    println!("cargo::rustc-check-cfg=cfg(attractor_no_avx512)");
    let variable = |name| std::env::var(name).unwrap_or_default();
    let is_for_here = variable("HOST") == variable("TARGET");
    let wants_all = variable("ATTRACTOR_KERNELS") == "all";
    if is_for_here && !wants_all && !has_avx512() {
        println!("cargo::rustc-cfg=attractor_no_avx512");
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512f")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}
