//! Time in which the machine was awake. A clock on the wall jumps when it is set and runs on while the machine sleeps;
//! how long something has really had to happen is told by this one.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::os;

/// A moment of one boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Awake {
    boot: u128,
    seconds: u64,
}

impl Awake {
    /// Now. The zero moment where the system has no such clock.
    pub fn now() -> Self {
        let time = nix::time::clock_gettime(os::AWAKE).map(Duration::from).unwrap_or_default();
        Self { boot: os::boot(), seconds: time.as_secs() }
    }

    /// How long the machine was awake since `then`; `None` where it was restarted in between.
    pub fn since(self, then: Self) -> Option<Duration> {
        if self.boot != then.boot {
            return None;
        }
        self.seconds.checked_sub(then.seconds).map(Duration::from_secs)
    }
}

impl fmt::Display for Awake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:{}", self.boot, self.seconds)
    }
}

impl FromStr for Awake {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (boot, seconds) = text.split_once(':').ok_or(())?;
        let boot = u128::from_str_radix(boot, 16).map_err(drop)?;
        Ok(Self { boot, seconds: seconds.parse().map_err(drop)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moments_of_one_boot_are_compared() {
        let at = |boot, seconds| Awake { boot, seconds };
        assert_eq!(at(1, 100).since(at(1, 40)), Some(Duration::from_mins(1)));
        assert_eq!(at(2, 100).since(at(1, 40)), None);
        assert_eq!(at(1, 10).since(at(1, 40)), None);
        let now = Awake::now();
        assert_eq!(now.to_string().parse(), Ok(now));
        assert!(Awake::now().since(now).is_some_and(|d| d < Duration::from_mins(1)));
    }
}
