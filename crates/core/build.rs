//! Leaves the kernels for AVX-512 out of a developer's build where this processor could not run them anyway: half of the
//! time to compile goes into them. A release build has all kernels.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(attractor_no_avx512)");
    let variable = |name| std::env::var(name).unwrap_or_default();
    let debug = variable("PROFILE") == "debug" && variable("HOST") == variable("TARGET");
    if debug && !has_avx512() {
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
