//! Windows side by side: number f of window k becomes lane k of vector f. Eight numbers of eight windows are a square that
//! is transposed in registers.

use fearless_simd::prelude::SimdBase;
use fearless_simd::{Simd, f32x8};

use super::transpose::transposed;
use super::{GROUP, Lanes, Task, filled};

/// Puts eight windows of equal length into the lanes of a group.
pub(crate) struct Abreast<'a, P> {
    /// The windows.
    pub(crate) windows: [&'a [f32]; GROUP],
    /// Which group of lanes.
    pub(crate) group: usize,
    /// A vector a number of a window.
    pub(crate) to: &'a mut [P],
}

impl<P: Lanes> Task for Abreast<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let squares = self.windows.map(|window| window.as_chunks::<GROUP>());
        let (whole, rest) = self.to.as_chunks_mut::<GROUP>();
        for (i, to) in whole.iter_mut().enumerate() {
            let rows = filled(
                f32x8::splat(simd, 0.0),
                #[inline(always)]
                |lane| f32x8::load_array_ref(simd, &squares[lane].0[i]),
            );
            let columns = transposed(simd, rows);
            for (to, &column) in to.iter_mut().zip(&columns) {
                to.store_group(self.group, column);
            }
        }
        for (lane, (_, window)) in squares.into_iter().enumerate() {
            for (to, &number) in rest.iter_mut().zip(window) {
                to.lanes_mut()[self.group * GROUP + lane] = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Lanes8, Lanes16, dispatch};

    fn every_number_is_in_its_lane<P: Lanes>(isa: Isa) {
        for len in [0, 1, 7, 8, 9, 40, 43] {
            let number = |k: usize, f: usize| (100 * k + f) as f32;
            let windows: [Vec<f32>; GROUP] =
                std::array::from_fn(|k| (0..len).map(|f| number(k, f)).collect());
            let mut to = vec![P::ZERO; len];
            let group = P::WIDTH / GROUP - 1;
            let abreast = Abreast {
                windows: std::array::from_fn(|k| windows[k].as_slice()),
                group,
                to: &mut to,
            };
            dispatch::<P, _>(isa, abreast);
            for (f, vector) in to.iter().enumerate() {
                for (k, &lane) in vector.lanes()[group * GROUP..].iter().enumerate() {
                    assert_eq!(lane, number(k, f), "{len} {f} {k}");
                }
            }
        }
    }

    #[test]
    fn windows_stand_in_lanes() {
        for isa in Isa::available() {
            match isa {
                Isa::Avx512 => every_number_is_in_its_lane::<Lanes16>(isa),
                _ => every_number_is_in_its_lane::<Lanes8>(isa),
            }
        }
    }
}
