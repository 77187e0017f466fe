//! A program's version as it prints it.

use std::fmt;

/// `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Finds the version in what `--version` printed, e.g. `2.1.332 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        // What follows the third number (`-beta.1`, `+build`) does not change what the program can do.
        let mut numbers = word.splitn(3, '.').map(|part| {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..digits].parse().ok()
        });
        Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}
