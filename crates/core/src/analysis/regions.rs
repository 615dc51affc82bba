//! Which linear regions an orbit visits: how often, in which order, and from which it goes to which. An orbit becomes a
//! sequence of symbols, one a region, numbered by how often they are visited.

use std::collections::BTreeMap;

use crate::map::piecewise::{PiecewiseLinear, Region};

/// The regions along an orbit.
#[derive(Debug, Clone, PartialEq)]
pub struct Itinerary {
    /// The regions, the most visited first; of equals the one visited first.
    pub regions: Vec<Region>,
    /// How often each is visited.
    pub visits: Vec<usize>,
    /// The orbit as numbers of regions.
    pub symbols: Vec<usize>,
}

impl Itinerary {
    /// The regions along an orbit, rows of M.
    pub fn of(map: &PiecewiseLinear, orbit: &[f64]) -> Itinerary {
        let mut numbers: BTreeMap<Region, usize> = BTreeMap::new();
        let mut visits: Vec<usize> = Vec::new();
        let mut region = Region::closed(map.hinges());
        let mut symbols: Vec<usize> = Vec::with_capacity(orbit.len() / map.dim);
        for z in orbit.chunks_exact(map.dim) {
            map.region(z, &mut region);
            let number = match numbers.get(&region) {
                Some(&number) => number,
                None => {
                    numbers.insert(region.clone(), visits.len());
                    visits.push(0);
                    visits.len() - 1
                }
            };
            visits[number] += 1;
            symbols.push(number);
        }
        let mut order: Vec<usize> = (0..visits.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(visits[i]));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(r, &i)| rank[i] = r);
        let mut regions = vec![region; order.len()];
        numbers
            .into_iter()
            .for_each(|(region, i)| regions[rank[i]] = region);
        Itinerary {
            regions,
            visits: order.iter().map(|&i| visits[i]).collect(),
            symbols: symbols.iter().map(|&i| rank[i]).collect(),
        }
    }

    /// How often the orbit goes from one region to another or stays:  (from, to, times), in this order.
    pub fn transitions(&self) -> Vec<(usize, usize, usize)> {
        let mut counts = BTreeMap::new();
        for pair in self.symbols.windows(2) {
            *counts.entry((pair[0], pair[1])).or_insert(0) += 1;
        }
        let triples = counts.into_iter();
        triples
            .map(|((from, to), times)| (from, to, times))
            .collect()
    }

    /// The Shannon entropy of the visits in bits: 2 to this power is the number of regions that matter.
    pub fn entropy(&self) -> f64 {
        let total = self.symbols.len() as f64;
        let p = self.visits.iter().map(|&n| n as f64 / total);
        -p.map(|p| p * p.log2()).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tent map 1 − 2|x| as hinges at 0: an orbit is a sequence of left and right.
    fn tent() -> PiecewiseLinear {
        PiecewiseLinear {
            dim: 1,
            a: vec![2.0],
            w1: vec![-4.0],
            h1: vec![1.0],
            w2: vec![1.0],
            h2: vec![0.0],
            c: Vec::new(),
        }
    }

    #[test]
    fn an_orbit_is_a_sequence_of_symbols() {
        let itinerary = Itinerary::of(&tent(), &[0.1, -0.2, 0.3, 0.4, 0.0, 0.5]);
        assert_eq!(itinerary.symbols, [0, 1, 0, 0, 1, 0]);
        assert_eq!(itinerary.visits, [4, 2]);
        assert!(itinerary.regions[0].is_open(0) && !itinerary.regions[1].is_open(0));
        assert_eq!(itinerary.transitions(), [(0, 0, 1), (0, 1, 2), (1, 0, 2)]);
        let expected = -(4.0 / 6.0 * (4.0_f64 / 6.0).log2() + 2.0 / 6.0 * (2.0_f64 / 6.0).log2());
        assert!((itinerary.entropy() - expected).abs() < 1e-14);
    }

    #[test]
    fn visits_and_transitions_count_every_step() {
        let mut z = [0.2345];
        let mut next = [0.0];
        let mut orbit = Vec::new();
        for _ in 0..40 {
            orbit.push(z[0]);
            tent().step(&z, &mut next);
            z = next;
        }
        let itinerary = Itinerary::of(&tent(), &orbit);
        assert_eq!(itinerary.visits.iter().sum::<usize>(), 40);
        let steps: usize = itinerary.transitions().iter().map(|t| t.2).sum();
        assert_eq!(steps, 39);
    }
}
