//! What a finding is about, in words.

use std::fmt;

use super::Subject;
use crate::text::enumerate;

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Recording => f.write_str("recording"),
            Subject::Pair => f.write_str("both recordings"),
            Subject::Channels(names) => f.write_str(&enumerate(names)),
            Subject::Rows {
                trajectory: 0,
                first,
                end,
            } => write!(f, "rows {} to {end}", first + 1),
            Subject::Rows {
                trajectory,
                first,
                end,
            } => write!(
                f,
                "rows {} to {end} of trajectory {}",
                first + 1,
                trajectory + 1
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_trajectories_count_from_one() {
        let rows = |trajectory| Subject::Rows {
            trajectory,
            first: 0,
            end: 20,
        };
        assert_eq!(rows(0).to_string(), "rows 1 to 20");
        assert_eq!(rows(2).to_string(), "rows 1 to 20 of trajectory 3");
    }
}
