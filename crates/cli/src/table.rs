//! Text in columns, each as wide as its widest cell.

use std::io::{self, Write};

/// Writes rows, every cell but the last padded to its column, two spaces between columns and in front.
pub(crate) fn write<const N: usize>(out: &mut dyn Write, rows: &[[String; N]]) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    for row in rows {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("  {cell:width$}"));
        writeln!(out, "{}", cells.collect::<String>().trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters_and_lines_end_without_spaces() {
        let row = |a: &str, b: &str| [a.to_string(), b.to_string()];
        let mut out = Vec::new();
        write(&mut out, &[row("σ", "10"), row("rho", ""), row("", "x")]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "  σ    10\n  rho\n       x\n"
        );
    }
}
