//! θ: all parameters of a model in one flat vector, with a named layout.
//!
//! Optimiser, penalties, checkpoints, model files and counting see only the vector; maps and observation models
//! find their tensors by name. Names are the paper's: `A`, `W1`, `W2`, `h1`, `h2`, `B`. Matrices are row-major.

use std::ops::Range;

/// The shape of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A vector of so many entries.
    Vector(usize),
    /// A matrix of so many rows and columns.
    Matrix(usize, usize),
}

impl Shape {
    /// Number of entries.
    pub fn len(self) -> usize {
        match self {
            Shape::Vector(n) => n,
            Shape::Matrix(rows, cols) => rows * cols,
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The sizes along each axis.
    pub fn sizes(self) -> Vec<usize> {
        match self {
            Shape::Vector(n) => vec![n],
            Shape::Matrix(rows, cols) => vec![rows, cols],
        }
    }
}

/// A named tensor and its place in θ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// The name, as in the paper.
    pub name: &'static str,
    /// The shape.
    pub shape: Shape,
    /// Where its entries stand.
    pub range: Range<usize>,
}

/// Which tensors θ holds, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    tensors: Vec<Tensor>,
}

impl Layout {
    /// Lays tensors out one after another; empty ones are left out.
    pub fn new(tensors: impl IntoIterator<Item = (&'static str, Shape)>) -> Layout {
        let mut layout = Layout::default();
        layout.extend(tensors);
        layout
    }

    /// Appends tensors.
    pub fn extend(&mut self, tensors: impl IntoIterator<Item = (&'static str, Shape)>) {
        for (name, shape) in tensors.into_iter().filter(|(_, shape)| !shape.is_empty()) {
            let start = self.len();
            self.tensors.push(Tensor {
                name,
                shape,
                range: start..start + shape.len(),
            });
        }
    }

    /// Number of parameters |θ|.
    pub fn len(&self) -> usize {
        self.tensors.last().map_or(0, |t| t.range.end)
    }

    /// Whether there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The tensors, in order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Where a tensor stands; an empty range if the layout has none of this name.
    pub fn range(&self, name: &str) -> Range<usize> {
        self.tensors
            .iter()
            .find(|t| t.name == name)
            .map_or(0..0, |t| t.range.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_follow_one_another_and_empty_ones_are_left_out() {
        let layout = Layout::new([
            ("A", Shape::Vector(3)),
            ("C", Shape::Matrix(3, 0)),
            ("W", Shape::Matrix(3, 3)),
        ]);
        assert_eq!(
            (layout.range("A"), layout.range("W"), layout.range("C")),
            (0..3, 3..12, 0..0)
        );
        assert_eq!((layout.len(), layout.tensors().len()), (12, 2));
    }
}
