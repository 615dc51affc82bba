//! What the tests of laws share: sizes, and property tests that repeat.

use attractor_core::laws::Verdict;
use attractor_core::map::Dims;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Property tests that try the same cases every time, so that a case within rounding of a kink cannot come and go.
pub(crate) fn for_all<T: Strategy>(cases: u32, strategy: T, law: impl Fn(T::Value) -> Verdict) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new_with_rng(config, rng).run(&strategy, |value| {
        law(value).map_err(|broken| TestCaseError::fail(broken.to_string()))
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Sizes of small maps, one of everything among them.
pub(crate) fn sizes() -> impl Strategy<Value = Dims> {
    (1usize..8, 1usize..9, 0usize..3).prop_map(|(latent, hidden, inputs)| Dims {
        latent,
        hidden,
        inputs,
    })
}

/// Sizes in short.
pub(crate) fn dims(latent: usize, hidden: usize, inputs: usize) -> Dims {
    Dims {
        latent,
        hidden,
        inputs,
    }
}
