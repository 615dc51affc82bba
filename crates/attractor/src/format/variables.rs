//! Files with several arrays under names (`.mat`, `.h5`): which of them is read.
//!
//! An array that was named is it. Otherwise the only one that can be a table, else the only one with the most rows.

use attractor_core::series::{Series, SeriesError};

use super::npy::Array;
use super::{Fault, ReadOptions, npy};

/// What is known of an array before it is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    /// Its name.
    pub(super) name: String,
    /// Its rows and columns; what it is instead, if it is no table of real numbers.
    pub(super) kind: Result<[u64; 2], String>,
}

/// The number of the array to read.
pub(super) fn choose(all: &[Variable], options: &ReadOptions) -> Result<usize, Fault> {
    let listed = || all.iter().map(describe).collect::<Vec<_>>();
    if let Some(name) = &options.array {
        let found = all.iter().position(|variable| variable.name == *name);
        let found = found.ok_or_else(|| Fault::NoArray {
            name: name.clone(),
            known: listed(),
        })?;
        return match &all[found].kind {
            Ok([0, _]) => Err(SeriesError::NoRow.into()),
            Ok(_) => Ok(found),
            Err(kind) => Err(Fault::NoTable {
                name: name.clone(),
                kind: kind.clone(),
                known: listed(),
            }),
        };
    }
    let rows = |i: &usize| all[*i].kind.as_ref().map_or(0, |shape| shape[0]);
    let tables: Vec<usize> = (0..all.len()).filter(|i| rows(i) > 0).collect();
    let most = tables.iter().map(rows).max().unwrap_or(0);
    let longest: Vec<usize> = tables.into_iter().filter(|i| rows(i) == most).collect();
    match longest.as_slice() {
        [only] => Ok(*only),
        [] if all.is_empty() => Err(Fault::Empty),
        [] => Err(Fault::NoTables { known: listed() }),
        _ => Err(Fault::WhichArray { known: listed() }),
    }
}

/// Which of several tables is read, unless one was named.
pub(super) fn remarks(all: &[Variable], options: &ReadOptions) -> Vec<String> {
    let is_table = |variable: &&Variable| matches!(variable.kind, Ok([rows, _]) if rows > 0);
    let tables = all.iter().filter(is_table).count();
    match choose(all, options) {
        Ok(chosen) if options.array.is_none() && tables > 1 => {
            let read = describe(&all[chosen]);
            let others = (all.iter().enumerate())
                .filter(|(i, variable)| *i != chosen && is_table(variable))
                .map(|(_, variable)| describe(variable));
            let others = others.collect::<Vec<_>>().join(", ");
            vec![format!(
                "of several arrays, {read} is read because it has the most rows; --array chooses another: {others}"
            )]
        }
        _ => Vec::new(),
    }
}

/// A table as a series with numbered columns.
pub(super) fn series(array: Array, options: &ReadOptions) -> Result<Series, Fault> {
    let mut table = npy::table_of(array.columns, options)?;
    npy::push(array, "", &mut table)?;
    table.finish(options)
}

fn describe(variable: &Variable) -> String {
    match &variable.kind {
        Ok([rows, columns]) => format!("{} ({rows} × {columns})", variable.name),
        Err(kind) => format!("{} ({kind})", variable.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, rows: u64) -> Variable {
        let kind = match rows {
            0 => Err("struct".to_string()),
            rows => Ok([rows, 2]),
        };
        Variable {
            name: name.to_string(),
            kind,
        }
    }

    #[test]
    fn the_longest_table_is_read_unless_another_is_named() {
        let all = [variable("a", 5), variable("s", 0), variable("b", 9)];
        let named = |name: &str| ReadOptions {
            array: Some(name.into()),
            ..ReadOptions::default()
        };
        assert_eq!(choose(&all, &ReadOptions::default()).unwrap(), 2);
        assert_eq!(choose(&all, &named("a")).unwrap(), 0);
        assert_eq!(
            remarks(&all, &ReadOptions::default()),
            [
                "of several arrays, b (9 × 2) is read because it has the most rows; --array chooses another: a (5 × 2)"
            ]
        );
        assert!(remarks(&all, &named("a")).is_empty());
        assert!(remarks(&all[1..], &ReadOptions::default()).is_empty());
        let said = |name| choose(&all, &named(name)).unwrap_err().to_string();
        assert_eq!(said("s"), "array `s` is a struct, not a table of numbers");
        assert_eq!(said("c"), "no array is named `c`");
        let twins = [variable("a", 5), variable("b", 5)];
        let error = choose(&twins, &ReadOptions::default()).unwrap_err();
        assert_eq!(
            error.hint().unwrap().to_string(),
            "name one with --array: a (5 × 2), b (5 × 2)"
        );
    }
}
