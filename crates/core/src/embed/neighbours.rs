//! Exact nearest neighbours among delay vectors, by a k-d tree: the points are halved again and again along the axis of their
//! largest extent, and a search leaves out every half that lies farther away than what it has found.
//!
//! Neighbours in time are no neighbours: with a Theiler window w, the point i has only those j with |i − j| > w. They are
//! left out inside the search, so that any window costs little. (A tree from a crate would have to be asked for 2w + k
//! points each time.) Among equal distances the choice is arbitrary but always the same.

/// How far two points are from one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// √Σ (a − b)².
    Euclidean,
    /// max |a − b|.
    Maximum,
}

/// A point found near another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its number.
    pub index: usize,
    /// How far away it is.
    pub distance: f64,
}

/// Points, sorted for searches.
#[derive(Debug, Clone)]
pub struct Tree {
    dim: usize,
    metric: Metric,
    nodes: Vec<Node>,
    /// The numbers of the points in the order of the leaves.
    order: Vec<u32>,
    /// Their coordinates in that order.
    points: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Leaf {
        start: u32,
        end: u32,
    },
    /// The left half is the next node and ends at `left_end`; the right one begins at `right_start`.
    Split {
        axis: u32,
        right: u32,
        left_end: f64,
        right_start: f64,
    },
}

/// Points of a leaf, at most.
const LEAF: usize = 10;

impl Tree {
    /// Sorts points, row-major with `dim` coordinates each.
    ///
    /// # Panics
    /// If there is no point, or more than 2³² − 1.
    pub fn new(points: &[f64], dim: usize, metric: Metric) -> Tree {
        let n = points.len() / dim;
        assert!(
            n > 0 && u32::try_from(n).is_ok(),
            "{n} points cannot be sorted"
        );
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut nodes = Vec::with_capacity(2 * n / LEAF + 1);
        split(points, dim, &mut order, 0, &mut nodes);
        let sorted = order.iter().flat_map(|&i| row(points, dim, i));
        Tree {
            dim,
            metric,
            nodes,
            points: sorted.copied().collect(),
            order,
        }
    }

    /// A search that leaves out neighbours in time within a Theiler window.
    pub fn search(&self, theiler: usize) -> Search<'_> {
        Search {
            tree: self,
            theiler,
            offsets: vec![0.0; self.dim],
            found: Vec::new(),
        }
    }
}

fn row(points: &[f64], dim: usize, i: u32) -> &[f64] {
    &points[i as usize * dim..][..dim]
}

/// Sorts the points of a range that begins at `start`, and appends its nodes.
fn split(points: &[f64], dim: usize, order: &mut [u32], start: usize, nodes: &mut Vec<Node>) {
    if order.len() <= LEAF {
        return nodes.push(Node::Leaf {
            start: start as u32,
            end: (start + order.len()) as u32,
        });
    }
    let axis = longest_axis(points, dim, order);
    let value = |i: u32| points[i as usize * dim + axis];
    let middle = order.len() / 2;
    order.select_nth_unstable_by(middle, |&a, &b| value(a).total_cmp(&value(b)));
    let (left, right) = order.split_at_mut(middle);
    let left_end = left.iter().map(|&i| value(i)).fold(f64::MIN, f64::max);
    let right_start = value(right[0]);
    let here = nodes.len();
    nodes.push(Node::Leaf { start: 0, end: 0 });
    split(points, dim, left, start, nodes);
    nodes[here] = Node::Split {
        axis: axis as u32,
        right: nodes.len() as u32,
        left_end,
        right_start,
    };
    split(points, dim, right, start + middle, nodes);
}

fn longest_axis(points: &[f64], dim: usize, order: &[u32]) -> usize {
    let extent = |axis: usize| {
        let values = order.iter().map(|&i| points[i as usize * dim + axis]);
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        high - low
    };
    let extents = (0..dim).map(extent).enumerate();
    let longest = extents.reduce(|longest, next| if next.1 > longest.1 { next } else { longest });
    longest.map_or(0, |(axis, _)| axis)
}

/// A search with its working memory.
#[derive(Debug)]
pub struct Search<'a> {
    tree: &'a Tree,
    theiler: usize,
    /// How far the point is from the half that is being searched, by axis.
    offsets: Vec<f64>,
    found: Vec<Neighbour>,
}

/// A point and how many neighbours are wanted.
#[derive(Clone, Copy)]
struct Query<'a> {
    point: &'a [f64],
    index: usize,
    k: usize,
}

impl Search<'_> {
    /// The `k` nearest neighbours of a point with a number, the nearest first; fewer if there are not so many.
    ///
    /// # Panics
    /// If `k` is 0.
    pub fn nearest(&mut self, point: &[f64], index: usize, k: usize) -> &[Neighbour] {
        self.found.clear();
        self.offsets.fill(0.0);
        let query = Query { point, index, k };
        match self.tree.metric {
            Metric::Euclidean => {
                self.visit::<Squares>(0, 0.0, query);
                let found = self.found.iter_mut();
                found.for_each(|found| found.distance = found.distance.sqrt());
            }
            Metric::Maximum => self.visit::<Largest>(0, 0.0, query),
        }
        &self.found
    }

    /// Searches below a node that is at least `bound` away.
    fn visit<R: Reckoning>(&mut self, node: usize, bound: f64, query: Query<'_>) {
        let (axis, right, left_end, right_start) = match self.tree.nodes[node] {
            Node::Leaf { start, end } => {
                return self.scan::<R>(start as usize..end as usize, query);
            }
            Node::Split {
                axis,
                right,
                left_end,
                right_start,
            } => (axis as usize, right as usize, left_end, right_start),
        };
        let value = query.point[axis];
        let (near, far, gap) = if value - left_end < right_start - value {
            (node + 1, right, right_start - value)
        } else {
            (right, node + 1, value - left_end)
        };
        self.visit::<R>(near, bound, query);
        let before = self.offsets[axis];
        let gap = gap.max(before);
        let farther = R::farther(bound, before, gap);
        if farther < self.reach(query.k) {
            self.offsets[axis] = gap;
            self.visit::<R>(far, farther, query);
            self.offsets[axis] = before;
        }
    }

    fn scan<R: Reckoning>(&mut self, places: std::ops::Range<usize>, query: Query<'_>) {
        let tree = self.tree;
        for place in places {
            let index = tree.order[place] as usize;
            if index.abs_diff(query.index) <= self.theiler {
                continue;
            }
            let point = &tree.points[place * tree.dim..][..tree.dim];
            let distance = R::distance(point, query.point);
            if distance < self.reach(query.k) {
                self.keep(Neighbour { index, distance }, query.k);
            }
        }
    }

    /// How near a point must be that is worth finding.
    fn reach(&self, k: usize) -> f64 {
        let worst = self.found.get(k - 1);
        worst.map_or(f64::INFINITY, |found| found.distance)
    }

    fn keep(&mut self, new: Neighbour, k: usize) {
        self.found.truncate(k - 1);
        let nearer = |found: &Neighbour| found.distance <= new.distance;
        let place = self.found.iter().rposition(nearer).map_or(0, |i| i + 1);
        self.found.insert(place, new);
    }
}

/// How distances are reckoned while searching: some function of them that needs no root.
trait Reckoning {
    fn distance(a: &[f64], b: &[f64]) -> f64;

    /// The bound of a half, when one of its offsets grows from `before` to `gap`.
    fn farther(bound: f64, before: f64, gap: f64) -> f64;
}

struct Squares;

impl Reckoning for Squares {
    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    fn farther(bound: f64, before: f64, gap: f64) -> f64 {
        bound - before * before + gap * gap
    }
}

struct Largest;

impl Reckoning for Largest {
    fn distance(a: &[f64], b: &[f64]) -> f64 {
        let gaps = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        gaps.fold(0.0, f64::max)
    }

    fn farther(bound: f64, _: f64, gap: f64) -> f64 {
        bound.max(gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    fn cloud(n: usize, dim: usize, levels: f64) -> Vec<f64> {
        let mut rng = Rng::new(3, Stream::Noise);
        (0..n * dim)
            .map(|_| (rng.normal() * levels).round() / levels)
            .collect()
    }

    /// Distances of all neighbours outside the window, ascending.
    fn plainly(x: &[f64], dim: usize, i: usize, theiler: usize, metric: Metric) -> Vec<f64> {
        let (n, a) = (x.len() / dim, &x[i * dim..][..dim]);
        let distance = |j: usize| {
            let gaps = a
                .iter()
                .zip(&x[j * dim..][..dim])
                .map(|(a, b)| (a - b).abs());
            match metric {
                Metric::Euclidean => gaps.map(|g| g * g).sum::<f64>().sqrt(),
                Metric::Maximum => gaps.fold(0.0, f64::max),
            }
        };
        let outside = (0..n).filter(|j| j.abs_diff(i) > theiler);
        let mut distances: Vec<f64> = outside.map(distance).collect();
        distances.sort_unstable_by(f64::total_cmp);
        distances
    }

    #[test]
    fn neighbours_are_those_of_comparing_all_pairs() {
        // Many levels, few, and one: no duplicates, many, and nothing else.
        for (dim, levels) in [(1, 1e9), (1, 4.0), (3, 1e9), (3, 2.0), (7, 1e9), (2, 1e-9)] {
            let (n, theiler, k) = (500, 5, 13);
            let x = cloud(n, dim, levels);
            for metric in [Metric::Euclidean, Metric::Maximum] {
                let tree = Tree::new(&x, dim, metric);
                let mut search = tree.search(theiler);
                for i in (0..n).step_by(7) {
                    let expected = plainly(&x, dim, i, theiler, metric);
                    let found = search.nearest(&x[i * dim..][..dim], i, k);
                    let distances: Vec<f64> = found.iter().map(|f| f.distance).collect();
                    assert_eq!(distances, expected[..k], "{metric:?} in {dim} dimensions");
                    assert!(found.iter().all(|f| f.index.abs_diff(i) > theiler));
                }
            }
        }
    }

    #[test]
    fn a_window_that_covers_all_leaves_nothing() {
        let x = cloud(40, 2, 1e9);
        let tree = Tree::new(&x, 2, Metric::Euclidean);
        assert!(tree.search(39).nearest(&x[..2], 0, 3).is_empty());
        assert_eq!(tree.search(38).nearest(&x[..2], 0, 3)[0].index, 39);
    }
}
