//! Generalized teacher forcing as a scheme (Hess et al. 2023, Fig. 2): at every step the latent state that the model predicts is
//! mixed with the one that the data imply,
//!
//! ```text
//! ẑ_t = G⁻¹(x_t),    z_t = F(z̃_{t−1}),    z̃_t = (1 − α) z_t + α ẑ_t,
//! ```
//!
//! the loss compares G(z_t) with x_t, and gradients pass through the Jacobians J̃ at z̃; those at ẑ, Ĵ, give α.

use super::{Figure, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::drawing::{Colour, Drawing, Path, Point, Stroke, Text, font};

pub(super) const KIND: Kind = Kind {
    id: "gtf-scheme",
    paper: "Fig. 2",
    summary: "Generalized teacher forcing as a scheme; takes no RUN",
    takes: Takes::Nothing,
    heeds: &[],
    draw,
};

/// The size that the places below are meant for.
const WIDTH: f64 = 510.0;
const HEIGHT: f64 = 206.0;

/// Levels of the page: observations, what they imply, latent states, losses.
const OBSERVED: f64 = 24.0;
const IMPLIED: f64 = 84.0;
const LATENT: f64 = 148.0;
const LOSS: f64 = 200.0;

/// Places of the steps, and how far before them predicted states are.
const STEPS: [(f64, &str); 3] = [(130.0, "ₜ₋₁"), (290.0, "ₜ"), (450.0, "ₜ₊₁")];
const BEFORE: f64 = 70.0;

/// Radius of nodes, height of words in them and beside arrows.
const RADIUS: f64 = 15.0;
const IN_NODES: f64 = 11.0;
const BESIDE: f64 = 9.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let width = request.width_or(TWO_COLUMNS);
    let mut sketch = Sketch {
        scale: width / WIDTH,
        drawing: Drawing::new(width, HEIGHT * width / WIDTH),
    };
    sketch.arrows();
    sketch.nodes();
    sketch.words();
    Ok(Figure {
        drawing: sketch.drawing,
        tables: Vec::new(),
        numbers: Vec::new(),
        notes: Vec::new(),
    })
}

struct Sketch {
    drawing: Drawing,
    scale: f64,
}

impl Sketch {
    fn nodes(&mut self) {
        for (x, t) in STEPS {
            self.node((x, OBSERVED), &format!("x{t}"), Colour::BLUE);
            self.node((x, IMPLIED), &format!("ẑ{t}"), Colour::GREEN);
            self.node((x, LATENT), &format!("z̃{t}"), Colour::VERMILION);
            self.node((x - BEFORE, LATENT), &format!("z{t}"), Colour::ORANGE);
        }
    }

    fn arrows(&mut self) {
        let ink = Stroke::new(Colour::INK, 0.9);
        let pale = Stroke::new(Colour::GREEN, 0.9).dashed();
        for (i, (x, _)) in STEPS.into_iter().enumerate() {
            self.arrow((x, OBSERVED), (x, IMPLIED), ink);
            self.arrow((x, IMPLIED), (x, LATENT), ink);
            self.arrow((x - BEFORE, LATENT), (x, LATENT), ink);
            self.arrow((x - BEFORE, LATENT), (x - BEFORE, LOSS), ink);
            let next = STEPS
                .get(i + 1)
                .map_or(WIDTH + RADIUS, |(next, _)| next - BEFORE);
            self.arrow((x, LATENT), (next, LATENT), ink);
            let next = STEPS.get(i + 1).map_or(WIDTH + RADIUS, |(next, _)| *next);
            self.arrow((x, IMPLIED), (next, IMPLIED), pale);
        }
        self.arrow((0.0 - RADIUS, LATENT), (STEPS[0].0 - BEFORE, LATENT), ink);
    }

    fn words(&mut self) {
        let (above, below) = (-6.0, 13.0);
        for (i, (x, t)) in STEPS.into_iter().enumerate() {
            self.word(
                (x + 12.0, (OBSERVED + IMPLIED) / 2.0 + 3.0),
                "G⁻¹",
                Colour::INK,
            );
            self.word((x + 8.0, (IMPLIED + LATENT) / 2.0 + 3.0), "α", Colour::INK);
            self.word((x - BEFORE / 2.0, LATENT + above), "1 − α", Colour::INK);
            self.word(
                (x - BEFORE, LOSS),
                &format!("ℒ(x{t}, G(z{t}))"),
                Colour::INK,
            );
            let next = STEPS.get(i + 1).map_or(WIDTH, |(next, _)| next - BEFORE);
            let middle = (x + next) / 2.0;
            self.word((middle, LATENT + above), "F", Colour::INK);
            self.word((middle, LATENT + below), "J̃", Colour::VERMILION);
            let next = STEPS.get(i + 1).map_or(WIDTH, |(next, _)| *next);
            self.word(((x + next) / 2.0, IMPLIED + above), "Ĵ", Colour::GREEN);
        }
    }

    /// A circle with words.
    fn node(&mut self, at: Point, words: &str, colour: Colour) {
        let circle = Path::circle(self.place(at), RADIUS * self.scale);
        let pale = colour.mixed(Colour::PAPER, 0.8);
        self.drawing.area(circle.clone(), pale, None);
        let line = Stroke::new(colour, 1.0 * self.scale);
        self.drawing.line(circle, line, None);
        let size = IN_NODES * self.scale;
        let (x, y) = self.place(at);
        let text = Text::new(words, (x, y + 0.3 * size), size);
        self.drawing.text(text.anchored(0.5));
    }

    fn word(&mut self, at: Point, words: &str, colour: Colour) {
        let text = Text::new(words, self.place(at), BESIDE * self.scale);
        self.drawing.text(text.anchored(0.5).coloured(colour));
    }

    /// An arrow from the edge of a node to that of another, straight along the page.
    fn arrow(&mut self, from: Point, to: Point, stroke: Stroke) {
        const HEAD: f64 = 5.0;
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let (along, up) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
        let end_room = if to.1 == LOSS {
            font::ASCENT * BESIDE + 1.0
        } else {
            RADIUS
        };
        let on = |distance: f64, aside: f64| {
            (
                from.0 + along * distance - up * aside,
                from.1 + up * distance + along * aside,
            )
        };
        let tip = length - end_room - 1.0;
        let line = [on(RADIUS, 0.0), on(tip - HEAD, 0.0)].map(|p| self.place(p));
        let width = stroke.width * self.scale;
        self.drawing
            .line(Path::through(line), Stroke { width, ..stroke }, None);
        let head = [on(tip, 0.0), on(tip - HEAD, 2.2), on(tip - HEAD, -2.2)];
        let head = Path::through(head.map(|p| self.place(p))).closed();
        self.drawing.area(head, stroke.colour, None);
    }

    fn place(&self, (x, y): Point) -> Point {
        (x * self.scale, y * self.scale)
    }
}
