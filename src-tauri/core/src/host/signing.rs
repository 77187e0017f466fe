//! By whom a program of ours is signed, as far as the system's secret store cares.

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signing {
    /// This system's store does not look at signatures.
    Irrelevant,
    /// By a team, which stays the same over updates.
    Team(String),
    /// By nobody: it is another program after every build.
    AdHoc,
    /// Not at all.
    Unsigned,
    /// It could not be found out.
    Unknown,
}

impl Signing {
    /// What the user should know of it; `None` where nothing follows from it.
    pub fn note(&self) -> Option<&'static str> {
        match self {
            Self::Irrelevant | Self::Team(_) => None,
            Self::AdHoc | Self::Unsigned => Some(
                "this build is signed by no team, so the Keychain takes it for another program after each update \
                 and asks again",
            ),
            Self::Unknown => Some("by whom this build is signed could not be found out"),
        }
    }
}

/// Reads what `codesign -dv` says on standard error.
pub fn read(said: &str) -> Signing {
    let value = |key: &str| {
        said.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('=').map(str::trim))
    };
    let team = value("TeamIdentifier").filter(|team| {
        // "not set", and whatever else is no identifier.
        !team.is_empty() && team.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let signed = value("CodeDirectory v").is_some() || value("Identifier").is_some();
    match (team, value("Signature") == Some("adhoc")) {
        (Some(team), false) => Signing::Team(team.to_string()),
        (_, true) => Signing::AdHoc,
        // By a certificate of one's own, which no team stands behind.
        (None, false) if signed => Signing::AdHoc,
        (None, false) if said.contains("not signed at all") => Signing::Unsigned,
        (None, false) => Signing::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVELOPER_ID: &str = "Executable=/Applications/Prime Agent Orchestrator.app/Contents/MacOS/pao
Identifier=pao
Format=Mach-O thin (arm64)
CodeDirectory v=20500 size=91234 flags=0x10000(runtime) hashes=2840+7 location=embedded
Signature size=9012
Timestamp=30. Nov 2026 at 12:00:00
Info.plist=not bound
TeamIdentifier=ABCDE12345
Runtime Version=15.0.0
Sealed Resources=none
Internal requirements count=1 size=172
";
    const AD_HOC: &str = "Executable=/Applications/Prime Agent Orchestrator.app/Contents/MacOS/pao
Identifier=pao
Format=Mach-O thin (arm64)
CodeDirectory v=20400 size=91002 flags=0x10002(adhoc,runtime) hashes=2838+2 location=embedded
Signature=adhoc
Info.plist=not bound
TeamIdentifier=not set
Sealed Resources=none
Internal requirements count=0 size=12
";
    const BY_THE_LINKER: &str = "Executable=/Users/me/src/target/debug/pao
Identifier=pao-55554944a1b2
Format=Mach-O thin (arm64)
CodeDirectory v=20400 size=81002 flags=0x20002(adhoc,linker-signed) hashes=2528+0 location=embedded
Signature=adhoc
Info.plist=not bound
TeamIdentifier=not set
Sealed Resources=none
Internal requirements=none
";

    #[test]
    fn only_a_team_makes_a_program_the_same_over_updates() {
        assert_eq!(read(DEVELOPER_ID), Signing::Team("ABCDE12345".into()));
        assert_eq!(read(AD_HOC), Signing::AdHoc);
        assert_eq!(read(BY_THE_LINKER), Signing::AdHoc);
        assert_eq!(read("/usr/local/bin/pao: code object is not signed at all\n"), Signing::Unsigned);
        assert_eq!(read(""), Signing::Unknown);
        assert_eq!(read("codesign: error: The specified item could not be found"), Signing::Unknown);
    }

    #[test]
    fn a_certificate_of_ones_own_without_a_team_counts_as_none() {
        let own = DEVELOPER_ID.replace("TeamIdentifier=ABCDE12345", "TeamIdentifier=not set");
        assert_eq!(read(&own), Signing::AdHoc);
        assert!(read(&own).note().is_some() && read(DEVELOPER_ID).note().is_none());
    }
}
