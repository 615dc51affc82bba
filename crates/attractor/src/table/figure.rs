//! Numbers with their spread: the MAD with two digits, the median to the same place but with no fewer than two digits,
//! both with a common power of ten where the median is small or large.

/// Median ± MAD as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figure {
    median: String,
    /// None without a spread.
    mad: Option<String>,
    /// The common power of ten.
    exponent: i32,
}

impl Figure {
    /// A number with its spread; one of 0 or none is not shown.
    pub(super) fn new(median: f64, mad: f64) -> Figure {
        let exponent = common_exponent(median);
        let scale = 10f64.powi(exponent);
        let (median, mad) = (median / scale, mad / scale);
        // Digits after the point that show so many digits of a number.
        let places = |number: f64, digits: i32| match number.abs() {
            0.0 => digits,
            size => digits - 1 - size.log10().floor() as i32,
        };
        let spreads = mad.is_finite() && mad > 0.0;
        let decimals = if spreads {
            places(mad, 2).max(places(median, 2))
        } else {
            places(median, 4)
        };
        let decimals = decimals.clamp(0, 8) as usize;
        Figure {
            median: format!("{median:.decimals$}"),
            mad: spreads.then(|| format!("{mad:.decimals$}")),
            exponent,
        }
    }

    /// A number with its spread as it was published: with the digits that it has, and no others.
    pub(super) fn published(median: f64, mad: f64) -> Figure {
        let exponent = common_exponent(median);
        let scale = 10f64.powi(exponent);
        let (median, mad) = (median / scale, mad / scale);
        let shown = |decimals: &usize| {
            let unit = 10f64.powi(*decimals as i32);
            // Published numbers have few digits: what is left is rounding.
            let whole = |number: f64| ((number * unit).round() - number * unit).abs() < 1e-6;
            whole(median) && whole(mad)
        };
        let decimals = (0..8).find(shown).unwrap_or(8);
        Figure {
            median: format!("{median:.decimals$}"),
            mad: Some(format!("{mad:.decimals$}")),
            exponent,
        }
    }

    /// As in `0.26 ± 0.03` or `(6.0 ± 0.5)e-4`.
    pub(super) fn plain(&self) -> String {
        match (&self.mad, self.exponent) {
            (Some(mad), 0) => format!("{} ± {mad}", self.median),
            (Some(mad), exponent) => format!("({} ± {mad})e{exponent}", self.median),
            (None, 0) => self.median.clone(),
            (None, exponent) => format!("{}e{exponent}", self.median),
        }
    }

    /// The same for LaTeX.
    pub(super) fn latex(&self) -> String {
        let power = format!(r" \cdot 10^{{{}}}", self.exponent);
        let text = match (&self.mad, self.exponent) {
            (Some(mad), 0) => format!(r"{} \pm {mad}", self.median),
            (Some(mad), _) => format!(r"({} \pm {mad}){power}", self.median),
            (None, 0) => self.median.clone(),
            (None, _) => format!("{}{power}", self.median),
        };
        format!("${text}$")
    }
}

/// The power of ten in front of which a number is written: 0 from a hundredth to ten thousand.
fn common_exponent(number: f64) -> i32 {
    match number.abs() {
        0.0 => 0,
        size if (1e-2..1e4).contains(&size) => 0,
        size => size.log10().floor() as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_spread() {
        for (median, mad, text) in [
            (0.2613, 0.0312, "0.261 ± 0.031"),
            (6.04e-4, 0.51e-4, "(6.04 ± 0.51)e-4"),
            (14.2, 7.31, "14.2 ± 7.3"),
            (4.3, 13.0, "4.3 ± 13.0"),
            (0.55, 0.0, "0.5500"),
            (2.5e-7, f64::NAN, "2.500e-7"),
            (123456.0, 1234.0, "(1.235 ± 0.012)e5"),
            (0.0, 0.0, "0.0000"),
        ] {
            assert_eq!(Figure::new(median, mad).plain(), text);
        }
        assert_eq!(
            Figure::new(6.04e-4, 0.51e-4).latex(),
            r"$(6.04 \pm 0.51) \cdot 10^{-4}$"
        );
    }

    #[test]
    fn published_numbers_keep_their_digits() {
        for (median, mad, text) in [
            (0.26, 0.03, "0.26 ± 0.03"),
            (0.090, 0.007, "0.090 ± 0.007"),
            (6.0e-4, 0.5e-4, "(6.0 ± 0.5)e-4"),
            (14.0, 7.0, "14 ± 7"),
            (1.21e-1, 0.02e-1, "0.121 ± 0.002"),
        ] {
            assert_eq!(Figure::published(median, mad).plain(), text);
        }
    }
}
