//! Numbers in f64 in groups of eight, aligned to a vector register: V groups side by side.

use fearless_simd::prelude::SimdBase;
use fearless_simd::{Simd, f64x8};

/// Numbers in a group.
pub(crate) const EIGHT: usize = 8;

/// V groups of eight numbers.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Eights<const V: usize>([[f64; EIGHT]; V]);

impl<const V: usize> Eights<V> {
    /// Zeros.
    pub(crate) const ZERO: Eights<V> = Eights([[0.0; EIGHT]; V]);

    /// Group v, from memory to a register.
    #[inline(always)]
    pub(crate) fn load<S: Simd>(&self, simd: S, v: usize) -> f64x8<S> {
        f64x8::load_array_ref(simd, &self.0[v])
    }

    /// Group v, from a register to memory.
    #[inline(always)]
    pub(crate) fn store<S: Simd>(&mut self, v: usize, group: f64x8<S>) {
        group.store_array(&mut self.0[v]);
    }

    /// All numbers.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> &[f64] {
        self.0.as_flattened()
    }

    /// All numbers, to be set.
    #[inline(always)]
    pub(crate) fn numbers_mut(&mut self) -> &mut [f64] {
        self.0.as_flattened_mut()
    }
}
