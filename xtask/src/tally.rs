//! Counting what passed and failed, from the steps of `cargo xtask test` and from what test binaries print.

/// What has passed, failed and been skipped so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: usize,
    failures: Vec<String>,
    skips: Vec<String>,
}

impl Tally {
    /// Counts a step that is one check.
    pub(crate) fn check(&mut self, name: &str, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.fail(name);
        }
    }

    /// Notes what was not done, and why, in one line.
    pub(crate) fn skip(&mut self, what: impl Into<String>) {
        self.skips.push(what.into());
    }

    /// Counts each test of a run of test binaries; a run that fails without a failed test is one failure.
    pub(crate) fn tests(&mut self, name: &str, run: Transcript, succeeded: bool) {
        self.passed += run.passed;
        self.failed += run.failed;
        self.failures.extend(run.failures);
        self.skips.extend(run.skips);
        if run.ignored > 0 {
            self.skip(format!("{}: {} marked as ignored", name, run.ignored));
        }
        if !succeeded && run.failed == 0 {
            self.fail(&format!("{name} (not built, or stopped)"));
        }
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn merge(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
        self.skips.extend(other.skips);
    }

    /// Counts each test of a run of pytest, from its report.
    pub(crate) fn pytest(&mut self, report: &str, succeeded: bool) {
        let last = report.lines().rev().find(|line| line.contains(" in "));
        let counts = last.unwrap_or_default().replace(',', ";");
        self.passed += count(&counts, "passed");
        self.failed +=
            count(&counts, "failed") + count(&counts, "error") + count(&counts, "errors");
        let failures = report
            .lines()
            .filter_map(|line| line.strip_prefix("FAILED "));
        self.failures.extend(failures.map(String::from));
        let skips = report
            .lines()
            .filter_map(|line| line.strip_prefix("SKIPPED "));
        self.skips
            .extend(skips.map(|skip| format!("pytest: {skip}")));
        if !succeeded && count(&counts, "failed") == 0 {
            self.fail("pytest (stopped)");
        }
    }

    fn fail(&mut self, name: &str) {
        self.failed += 1;
        self.failures.push(name.to_string());
    }

    /// Whether nothing failed.
    pub(crate) fn all_passed(&self) -> bool {
        self.failed == 0
    }

    /// What was skipped and what failed, a line each, then the closing line `N passed, M failed`.
    pub(crate) fn summary(&self) -> String {
        let skips = self.skips.iter().map(|skip| format!("skipped: {skip}\n"));
        let failures = self.failures.iter().map(|name| format!("FAILED: {name}\n"));
        let lines: String = skips.chain(failures).collect();
        format!("{lines}{} passed, {} failed", self.passed, self.failed)
    }
}

/// What test binaries print, read line by line. They run with `--show-output`, so that a test can say that it
/// skipped something; the rest of what passing tests print is not worth showing.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    passed: usize,
    failed: usize,
    ignored: usize,
    failures: Vec<String>,
    skips: Vec<String>,
    part: Part,
}

/// The part of a binary's output that a line belongs to.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Part {
    /// The tests one by one, or what the failed ones printed.
    #[default]
    Shown,
    /// What passing tests printed.
    Outputs,
    /// The names of passing tests once more.
    Names,
}

impl Transcript {
    /// Takes in a line; gives it back if it is to be shown.
    pub(crate) fn read<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        self.part = match (line, self.part) {
            ("successes:", Part::Shown) => Part::Outputs,
            ("successes:", _) => Part::Names,
            ("failures:", _) => Part::Shown,
            _ if line.starts_with("test result: ") => Part::Shown,
            (_, part) => part,
        };
        match self.part {
            Part::Shown => self.read_shown(line),
            Part::Outputs if says_skipped(line) => self.skips.push(without_prefix(line)),
            Part::Outputs | Part::Names => {}
        }
        (self.part == Part::Shown).then_some(line)
    }

    fn read_shown(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, "passed");
            self.failed += count(counts, "failed");
            self.ignored += count(counts, "ignored");
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failures.push(name.to_string());
        }
    }
}

/// The number before `word` in `ok. 3 passed; 1 failed; …`.
fn count(counts: &str, word: &str) -> usize {
    counts
        .split([';', '.'])
        .map(|part| part.split(" in ").next().unwrap_or(part))
        .filter_map(|part| part.trim().strip_suffix(word))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

/// Whether a line that a test printed says that it skipped something.
fn says_skipped(line: &str) -> bool {
    !line.starts_with("---- ") && line.to_lowercase().contains("skip")
}

/// What a test skipped, without the word that every such line begins with in the summary.
fn without_prefix(line: &str) -> String {
    let line = line.trim();
    line.strip_prefix("skipped: ").unwrap_or(line).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
running 3 tests
test a ... ok
test m::it_is_skipped ... ok
test b ... FAILED

successes:

---- m::it_is_skipped stdout ----
skipped: no data folder
42

successes:
    a
    m::it_is_skipped

failures:

---- b stdout ----
thread 'b' panicked

failures:
    b

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.10s

running 1 test
test result: ok. 10 passed; 0 failed; 4 ignored; 0 measured; 0 filtered out; finished in 1.25s";

    fn read(text: &str) -> (Transcript, Vec<&str>) {
        let mut transcript = Transcript::default();
        let shown = text
            .lines()
            .filter_map(|line| transcript.read(line))
            .collect();
        (transcript, shown)
    }

    #[test]
    fn results_of_all_binaries_add_up() {
        let (run, shown) = read(PRINTED);
        assert_eq!((run.passed, run.failed, run.ignored), (12, 1, 4));
        assert_eq!(run.failures, ["b"]);
        assert_eq!(run.skips, ["no data folder"]);
        assert!(shown.contains(&"thread 'b' panicked") && !shown.contains(&"42"));
    }

    #[test]
    fn the_closing_line_counts_tests_and_steps_alike() {
        let mut tally = Tally::default();
        tally.check("fmt", true);
        tally.check("clippy", false);
        tally.skip("python: no network");
        tally.tests("tests", read(PRINTED).0, false);
        let expected = "\
skipped: python: no network
skipped: no data folder
skipped: tests: 4 marked as ignored
FAILED: clippy
FAILED: b
13 passed, 2 failed";
        assert_eq!(tally.summary(), expected);
        assert!(!tally.all_passed());
    }

    #[test]
    fn a_report_of_pytest_is_counted() {
        let report = "..F\nSKIPPED [1] test_a.py:3: could not import 'mne'\nFAILED test_a.py::test_b - assert 0\n\
                      1 failed, 40 passed, 1 skipped in 12.34s";
        let mut tally = Tally::default();
        tally.pytest(report, false);
        assert_eq!(
            tally.summary(),
            "skipped: pytest: [1] test_a.py:3: could not import 'mne'\nFAILED: test_a.py::test_b - assert 0\n40 passed, 1 failed"
        );
        let mut stopped = Tally::default();
        stopped.pytest("Fatal Python error", false);
        assert_eq!(
            stopped.summary(),
            "FAILED: pytest (stopped)\n0 passed, 1 failed"
        );
    }

    #[test]
    fn tests_that_do_not_build_are_a_failure() {
        let mut tally = Tally::default();
        tally.tests("tests", Transcript::default(), false);
        assert_eq!(
            tally.summary(),
            "FAILED: tests (not built, or stopped)\n0 passed, 1 failed"
        );
    }
}
