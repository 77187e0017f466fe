//! Who reads a secret, and from where. One pure function: the Keychain knows programs by their signature and asks the
//! user for every program it does not know, so on macOS one program reads it, the app, and `pao` asks that.

use super::super::signing::Signing;

/// Where secrets are to be kept, as configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    /// The system's store, read by whoever can without being asked.
    Auto,
    /// The system's store, read by everybody himself.
    Keyring,
    /// The system's store, read by the app alone.
    App,
    /// Private files.
    File,
}

impl Store {
    pub(super) const ALL: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("keyring", Self::Keyring), ("app", Self::App), ("file", Self::File)];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, store)| *store == self).map_or("auto", |(name, _)| name)
    }
}

/// The app, as this process sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum App {
    /// This process is it.
    Ourselves,
    /// It runs.
    Runs,
    /// It does not run.
    Absent,
}

/// The way to a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A private file.
    File,
    /// The system's store, asked by this process.
    Own,
    /// The running app is asked.
    Ask,
    /// None: only the app may read it, and it does not run.
    Missing,
}

/// The way for a process that is signed so, beside an app in that state.
pub(super) fn way(store: Store, signing: &Signing, app: App) -> Way {
    match (store, app) {
        (Store::File, _) => Way::File,
        (Store::Keyring, _) | (_, App::Ourselves) => Way::Own,
        (Store::App, App::Runs) => Way::Ask,
        (Store::App, App::Absent) => Way::Missing,
        (Store::Auto, App::Runs) => {
            if *signing == Signing::Irrelevant {
                Way::Own
            } else {
                Way::Ask
            }
        }
        // A team's signature stays the same over updates: the user is asked once at most. Any other is a new program
        // after every build, and would ask in the midst of a spawn.
        (Store::Auto, App::Absent) => match signing {
            Signing::Irrelevant | Signing::Team(_) => Way::Own,
            Signing::AdHoc | Signing::Unsigned | Signing::Unknown => Way::Missing,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_by_the_keychain_who_could_ask_the_app() {
        let team = Signing::Team("ABCDE12345".into());
        for signing in [&team, &Signing::AdHoc, &Signing::Unsigned, &Signing::Unknown] {
            assert_eq!(way(Store::Auto, signing, App::Runs), Way::Ask);
            assert_eq!(way(Store::Auto, signing, App::Ourselves), Way::Own);
        }
        assert_eq!(way(Store::Auto, &team, App::Absent), Way::Own);
        for signing in [Signing::AdHoc, Signing::Unsigned, Signing::Unknown] {
            assert_eq!(way(Store::Auto, &signing, App::Absent), Way::Missing);
        }
    }

    #[test]
    fn where_reading_asks_nobody_everybody_reads() {
        for app in [App::Ourselves, App::Runs, App::Absent] {
            assert_eq!(way(Store::Auto, &Signing::Irrelevant, app), Way::Own);
        }
    }

    #[test]
    fn what_the_user_chose_holds_whatever_the_signature() {
        let all = [Signing::Irrelevant, Signing::Team("T".into()), Signing::AdHoc, Signing::Unsigned];
        for signing in &all {
            for app in [App::Ourselves, App::Runs, App::Absent] {
                assert_eq!(way(Store::File, signing, app), Way::File);
                assert_eq!(way(Store::Keyring, signing, app), Way::Own);
            }
            assert_eq!(way(Store::App, signing, App::Ourselves), Way::Own);
            assert_eq!(way(Store::App, signing, App::Runs), Way::Ask);
            assert_eq!(way(Store::App, signing, App::Absent), Way::Missing);
        }
    }
}
