//! Work on many points by several threads, with a result that does not depend on how many: points form blocks of a fixed size,
//! threads take blocks as they come, and what the blocks gave is handed back in their order.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points of a block.
const BLOCK: usize = 256;

/// What `work` gives for every block of 0..n, in order.
pub(crate) fn in_blocks<R: Send>(
    n: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let blocks = n.div_ceil(BLOCK);
    let block = |i: usize| work(i * BLOCK..n.min((i + 1) * BLOCK));
    if threads <= 1 || blocks <= 1 {
        return (0..blocks).map(block).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(blocks));
    let take = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own: Vec<(usize, R)> = taken
            .take_while(|&i| i < blocks)
            .map(|i| (i, block(i)))
            .collect();
        let mut done = done.lock().expect("no thread panics while it holds this");
        done.extend(own);
    };
    std::thread::scope(|scope| (0..threads.min(blocks)).for_each(|_| drop(scope.spawn(take))));
    let mut done = done.into_inner().expect("a panic has ended the scope");
    done.sort_unstable_by_key(|&(i, _)| i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Sums of the columns of blocks, in their order.
pub(crate) fn sum_blocks(blocks: impl IntoIterator<Item = Vec<f64>>) -> Vec<f64> {
    let add = |mut sum: Vec<f64>, block: Vec<f64>| {
        sum.iter_mut().zip(block).for_each(|(sum, v)| *sum += v);
        sum
    };
    blocks.into_iter().reduce(add).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_all_in_order_whatever_the_threads() {
        for n in [0, 1, BLOCK, BLOCK + 1, 10 * BLOCK + 3] {
            for threads in [0, 1, 2, 7] {
                let all: Vec<usize> = in_blocks(n, threads, |range| range.collect::<Vec<_>>())
                    .into_iter()
                    .flatten()
                    .collect();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
            }
        }
    }
}
