//! What passed and what did not.

use crate::{
    process::interrupted,
    stage::{stage, stage_with},
};
use anyhow::{Result, bail};
use std::{path::PathBuf, process::ExitCode};

#[derive(Default)]
pub struct Tally {
    passed: u64,
    failed: u64,
    failures: Vec<String>,
}

impl Tally {
    /// Something that everything after it needs; it counts only when it fails.
    pub fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        self.settle(name, stage(name, work))
    }

    pub fn check(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.check_with(name, || work().map(|()| String::new()))
    }

    pub fn check_with(&mut self, name: &str, work: impl FnOnce() -> Result<String>) -> Result<()> {
        let outcome = stage_with(name, || work().map(|words| ((), words)));
        if self.settle(name, outcome)?.is_some() {
            self.passed += 1;
        }
        Ok(())
    }

    pub fn tests(&mut self, name: &str, work: impl FnOnce() -> Result<Counts>) -> Result<()> {
        let mut seen = (0, 0);
        let outcome = stage_with(name, || {
            let counts = work()?;
            seen = (counts.passed, counts.failed);
            if !counts.failures.is_empty() {
                bail!("\n{}", counts.failures.join("\n"));
            }
            Ok(((), format!("{} passed", counts.passed)))
        });
        self.passed += seen.0;
        // `settle` counts one failure for the stage.
        self.failed += seen.1.saturating_sub(1);
        self.settle(name, outcome).map(drop)
    }

    /// The last line is for machines as much as for people.
    pub fn close(self) -> ExitCode {
        println!();
        for name in &self.failures {
            println!("failed: {name}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// A failure is shown where it happens and the rest still runs; only a wish to stop ends all.
    fn settle<T>(&mut self, name: &str, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(error) if interrupted() => Err(error),
            Err(error) => {
                println!("{error:#}\n");
                self.failed += 1;
                self.failures.push(name.to_owned());
                Ok(None)
            }
        }
    }
}

/// Of one or several test programs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    /// The output of those that failed.
    pub failures: Vec<String>,
}

impl Counts {
    /// Reads `test result: ok. 12 passed; 0 failed; …`.
    pub fn of_libtest(log: &str) -> Self {
        let results = log.lines().filter_map(|line| line.strip_prefix("test result: "));
        let mut counts = Self::default();
        for result in results {
            let parts = result.split([';', '.']).map(str::trim);
            counts.add(parts);
        }
        counts
    }

    /// Reads `  12 passed (3.4s)` and `  1 failed`.
    pub fn of_playwright(log: &str) -> Self {
        let mut counts = Self::default();
        counts.add(log.lines().map(|line| line.trim().split(" (").next().unwrap_or_default()));
        counts
    }

    /// A program that failed has at least one failure, even if it died before it could count.
    pub fn after(mut self, outcome: Result<PathBuf>) -> Self {
        if let Err(error) = outcome {
            self.failed = self.failed.max(1);
            self.failures.push(format!("{error:#}"));
        }
        self
    }

    pub fn merge(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
    }

    fn add<'a>(&mut self, parts: impl Iterator<Item = &'a str>) {
        for part in parts {
            let Some((number, word)) = part.split_once(' ') else {
                continue;
            };
            match (number.parse::<u64>(), word) {
                (Ok(count), "passed") => self.passed += count,
                // A test that passes at the second attempt is a failure that hides.
                (Ok(count), "failed" | "flaky") => self.failed += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(counts: Counts, passed: u64, failed: u64) {
        assert_eq!(counts, Counts { passed, failed, failures: Vec::new() });
    }

    #[test]
    fn libtest_counts_add_up() {
        let log = "test a ... ok\n\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
                   test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.10s\n";
        check(Counts::of_libtest(log), 15, 2);
        check(Counts::of_libtest("thread main panicked"), 0, 0);
    }

    #[test]
    fn playwright_counts_add_up() {
        check(
            Counts::of_playwright(
                "  ✓  1 chat.spec.ts (1.2s)\n\n  2 failed\n    [desk] › a\n  1 flaky\n  12 passed (30.1s)\n",
            ),
            12,
            3,
        );
    }

    #[test]
    fn a_program_that_dies_counts_as_one_failure() {
        let died = Counts::default().after(Err(anyhow::anyhow!("signal: 11")));
        assert_eq!((died.failed, died.failures.len()), (1, 1));
    }
}
