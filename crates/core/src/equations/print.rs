//! Equations as text, `dx/dt = -10 x + 10 y`, and as LaTeX, `\dot{x} = -10\,x + 10\,y`.

use super::{Equations, Factor, Side, Term};
use crate::text::figure;

/// The names of all variables, channels before inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Names(Vec<String>);

impl Names {
    /// Names of channels and inputs.
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Names {
        let plain = |name: T| name.as_ref().to_string();
        Names(names.into_iter().map(plain).collect())
    }
}

impl Equations {
    /// One line per channel.
    pub fn text(&self, names: &Names) -> Vec<String> {
        self.lines(&Style {
            name: |name| name.to_string(),
            slope: |name| format!("d{name}/dt"),
            next: |name| format!("{name}(t+1)"),
            number: figure,
            power: |name, power| format!("{name}^{power}"),
            wave: |wave, inside| format!("{wave}({inside})"),
            times: " ",
            names,
        })
    }

    /// One line per channel, for an `align` environment without its `&`.
    pub fn latex(&self, names: &Names) -> Vec<String> {
        self.lines(&Style {
            name: in_latex,
            slope: |name| format!(r"\dot{{{name}}}"),
            next: |name| match name.strip_suffix('}') {
                Some(inside) if name.contains("_{") => format!("{inside},t+1}}"),
                _ => format!("{name}_{{t+1}}"),
            },
            number: number_in_latex,
            power: |name, power| format!("{name}^{{{power}}}"),
            wave: |wave, inside| format!(r"\{wave}({inside})"),
            times: r"\,",
            names,
        })
    }

    fn lines(&self, style: &Style<'_>) -> Vec<String> {
        let line = |(n, sum): (usize, &Vec<Term>)| {
            let name = style.variable(n);
            let left = match self.side {
                Side::Slope => (style.slope)(&name),
                Side::Next => (style.next)(&name),
            };
            format!("{left} = {}", style.sum(sum))
        };
        self.sums.iter().enumerate().map(line).collect()
    }
}

/// How parts of equations are written.
struct Style<'a> {
    names: &'a Names,
    name: fn(&str) -> String,
    slope: fn(&str) -> String,
    next: fn(&str) -> String,
    number: fn(f64) -> String,
    power: fn(&str, usize) -> String,
    wave: fn(&str, &str) -> String,
    times: &'static str,
}

impl Style<'_> {
    fn variable(&self, v: usize) -> String {
        (self.name)(&self.names.0[v])
    }

    fn sum(&self, sum: &[Term]) -> String {
        if sum.is_empty() {
            return "0".to_string();
        }
        let mut text = String::new();
        for (place, term) in sum.iter().enumerate() {
            let sign = match (place, term.coefficient < 0.0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            text += sign;
            text += &self.term(term.coefficient.abs(), &term.factor);
        }
        text
    }

    fn term(&self, coefficient: f64, factor: &Factor) -> String {
        let number = (self.number)(coefficient);
        let factor = self.factor(factor);
        match (factor.is_empty(), number.as_str()) {
            (true, _) => number,
            (false, "1") => factor,
            (false, _) => format!("{number}{}{factor}", self.times),
        }
    }

    fn factor(&self, factor: &Factor) -> String {
        let wave = |wave: &str, variable: usize, frequency: f64| {
            (self.wave)(
                wave,
                &self.term(frequency, &Factor::Product(vec![variable])),
            )
        };
        match factor {
            Factor::Sine {
                variable,
                frequency,
            } => wave("sin", *variable, *frequency),
            Factor::Cosine {
                variable,
                frequency,
            } => wave("cos", *variable, *frequency),
            Factor::Product(factors) => {
                let powers = factors.chunk_by(|a, b| a == b);
                let powers = powers.map(|same| {
                    let name = self.variable(same[0]);
                    match same.len() {
                        1 => name,
                        power => (self.power)(&name, power),
                    }
                });
                powers.collect::<Vec<_>>().join(self.times)
            }
        }
    }
}

/// x, x_{1} of `x1`, \mathrm{…} of longer names.
fn in_latex(name: &str) -> String {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[letters.len()..];
    let is_plain = letters.len() == 1 && letters.chars().all(|c| c.is_ascii_alphabetic());
    let base = if is_plain {
        letters.to_string()
    } else {
        format!(r"\mathrm{{{}}}", escaped(letters))
    };
    match (letters.is_empty(), digits) {
        (true, _) => format!(r"\mathrm{{{digits}}}"),
        (false, "") => base,
        (false, digits) => format!("{base}_{{{digits}}}"),
    }
}

/// What LaTeX would take for a command, as a character.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '\\' => r"\backslash{}".to_string(),
        '^' => r"\hat{}".to_string(),
        '~' => r"\sim{}".to_string(),
        '_' | '%' | '&' | '#' | '$' | '{' | '}' => format!("\\{c}"),
        ' ' => r"\ ".to_string(),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

/// 1.234e-5 as 1.234\cdot 10^{-5}.
fn number_in_latex(v: f64) -> String {
    let text = figure(v);
    match text.split_once('e') {
        Some((digits, exponent)) => format!(r"{digits}\cdot 10^{{{exponent}}}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equations(side: Side) -> Equations {
        let term = |coefficient: f64, factor: Factor| Term {
            coefficient,
            factor,
        };
        let product = |factors: &[usize]| Factor::Product(factors.to_vec());
        let wave = Factor::Sine {
            variable: 1,
            frequency: 0.5,
        };
        Equations {
            side,
            channels: 2,
            sums: vec![
                vec![
                    term(-10.0, product(&[0])),
                    term(1.0, product(&[0, 0, 1])),
                    term(1.25e-6, wave),
                ],
                vec![term(2.0 / 3.0, product(&[])), term(-1.0, product(&[2]))],
            ],
            candidates: Vec::new(),
        }
    }

    #[test]
    fn equations_are_written_as_they_are_read() {
        let names = Names::new(["x1", "heart_rate", "s"]);
        assert_eq!(
            equations(Side::Slope).text(&names),
            [
                "dx1/dt = -10 x1 + x1^2 heart_rate + 1.250e-6 sin(0.5 heart_rate)",
                "dheart_rate/dt = 0.6667 - s",
            ]
        );
        assert_eq!(
            equations(Side::Slope).latex(&names),
            [
                r"\dot{x_{1}} = -10\,x_{1} + x_{1}^{2}\,\mathrm{heart\_rate} + 1.250\cdot 10^{-6}\,\sin(0.5\,\mathrm{heart\_rate})",
                r"\dot{\mathrm{heart\_rate}} = 0.6667 - s",
            ]
        );
    }

    #[test]
    fn next_rows_are_written_with_their_time() {
        let names = Names::new(["x1", "y", "s"]);
        let text = equations(Side::Next).text(&names);
        assert!(text[0].starts_with("x1(t+1) = -10 x1"), "{text:?}");
        let latex = equations(Side::Next).latex(&names);
        assert!(latex[0].starts_with("x_{1,t+1} ="), "{latex:?}");
        assert!(latex[1].starts_with("y_{t+1} ="), "{latex:?}");
    }

    #[test]
    fn an_equation_without_terms_is_zero() {
        let none = Equations {
            sums: vec![Vec::new()],
            ..equations(Side::Slope)
        };
        assert_eq!(none.text(&Names::new(["x"])), ["dx/dt = 0"]);
    }
}
