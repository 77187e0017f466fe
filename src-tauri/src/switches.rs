//! The system's switches as the settings show them. What the system or the disk says is the truth; nothing is kept beside
//! it.

use pao_core::Error;
use pao_core::entrance::autostart::{self, AtLogin};
use pao_core::entrance::tool::{self, Tool};
use pao_core::entrance::{EntranceError, Standing, file_manager};
use pao_core::host::{Host, LoginItem, app, os};
use pao_core::wire::door::Switch;

fn switch(on: bool, possible: bool, note: impl Into<Option<&'static str>>) -> Switch {
    Switch { on, possible, note: note.into().map(Into::into) }
}

fn said(error: EntranceError) -> Switch {
    let error = Error::from(error);
    Switch { on: false, possible: false, note: Some(format!("{}; {}", error.message, error.next)) }
}

/// Whether the app opens at login.
pub fn login_item(host: &Host) -> Switch {
    if os::IS_MACOS {
        return match os::login_item(host) {
            Some(LoginItem::On) => switch(true, true, None),
            Some(LoginItem::NeedsApproval) => switch(true, true, "waits for your leave: Allow in Settings"),
            Some(LoginItem::Off) => switch(false, true, None),
            None => switch(false, false, "move the app into the Applications folder first"),
        };
    }
    match (autostart::look(host), app::find(host)) {
        (Ok(AtLogin::On), _) => switch(true, true, None),
        (Ok(AtLogin::Disabled), _) => switch(false, true, "switched off by your desktop's own settings"),
        (Ok(AtLogin::Foreign), _) => switch(false, false, "an entry of that name is there and is not ours"),
        (Ok(AtLogin::Off), Some(_)) => switch(false, true, None),
        (Ok(AtLogin::Off), None) => said(EntranceError::NoApp),
        (Err(error), _) => said(error),
    }
}

/// Opens the app at login, or no longer.
pub async fn set_login_item(host: &Host, on: bool) -> Result<(), Error> {
    if os::IS_MACOS {
        if on && os::login_item(host).is_none() {
            return Err(EntranceError::Passing(host.exe.clone()).into());
        }
        return os::set_login_item(on).map_err(|why| EntranceError::Refused(why).into());
    }
    if on {
        autostart::on(host).await?;
    } else {
        autostart::off(host)?;
    }
    Ok(())
}

/// "Spawn agent here" in the file manager.
pub fn file_manager(host: &Host) -> Switch {
    let found = match file_manager::found(host) {
        Ok(found) => found,
        Err(error) => return said(error),
    };
    match file_manager::together(&found) {
        Standing::Installed => {
            let note = file_manager::lacking(host).unwrap_or(file_manager::ENABLE);
            switch(true, true, note)
        }
        Standing::NotInstalled => switch(false, true, file_manager::lacking(host)),
        Standing::NeedsRepair => switch(false, true, "not as it should be: switch it on to put it right"),
        Standing::Foreign => {
            let place = found.iter().find(|found| found.standing == Standing::Foreign);
            let shown = place.map(|found| host.display(&found.path)).unwrap_or_default();
            Switch { on: false, possible: false, note: Some(format!("{shown} is there and is not ours")) }
        }
    }
}

/// Puts it there, or takes it away.
pub async fn set_file_manager(host: &Host, on: bool) -> Result<(), Error> {
    if on {
        file_manager::install(host).await?;
    } else {
        file_manager::remove(host).await?;
    }
    Ok(())
}

/// The command-line tool on the PATH.
pub async fn command_line(host: &Host) -> Switch {
    match tool::look(host).await {
        Tool::Linked(true) => switch(true, true, None),
        Tool::Linked(false) => switch(true, true, "~/.local/bin is not on your shell's PATH; add it there"),
        Tool::There(path) => {
            Switch { on: true, possible: false, note: Some(format!("at {}", host.display(&path))) }
        }
        Tool::Not(Standing::Foreign) => {
            switch(false, false, "~/.local/bin/pao is there and is not ours: move it away first")
        }
        Tool::Not(Standing::NeedsRepair) => {
            switch(false, true, "it leads to an app that is gone: switch it on to put it right")
        }
        Tool::Not(_) => switch(false, true, None),
    }
}

/// Makes the link, or takes it away.
pub fn set_command_line(host: &Host, on: bool) -> Result<(), Error> {
    if on {
        tool::link(host)?;
    } else {
        tool::unlink(host)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn host(home: &std::path::Path) -> Host {
        std::fs::create_dir(home.join("app")).unwrap();
        for name in ["pao", "prime-agent-orchestrator"] {
            std::fs::write(home.join("app").join(name), "").unwrap();
        }
        Host {
            home: home.into(),
            pao_home: home.join(".pao"),
            cwd: home.into(),
            exe: home.join("app/pao"),
            env: BTreeMap::from([
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("SHELL".into(), "/bin/sh".into()),
            ]),
            frozen: None,
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn each_switch_says_what_is_there_after_it_was_moved() {
        let home = tempfile::tempdir().unwrap();
        let host = host(&home.path().canonicalize().unwrap());
        assert_eq!(login_item(&host), switch(false, true, None));
        set_login_item(&host, true).await.unwrap();
        assert_eq!(login_item(&host), switch(true, true, None));
        set_login_item(&host, false).await.unwrap();
        assert_eq!(login_item(&host), switch(false, true, None));

        set_file_manager(&host, true).await.unwrap();
        assert!(file_manager(&host).on, "{:?}", file_manager(&host));
        set_file_manager(&host, false).await.unwrap();
        assert!(!file_manager(&host).on);

        assert_eq!(command_line(&host).await, switch(false, true, None));
        set_command_line(&host, true).unwrap();
        assert!(command_line(&host).await.on);
        set_command_line(&host, false).unwrap();
        assert_eq!(command_line(&host).await, switch(false, true, None));
        std::fs::write(home.path().join(".local/bin/pao"), "theirs").unwrap();
        assert!(!command_line(&host).await.possible);
        assert!(set_command_line(&host, true).is_err());
    }

    #[tokio::test]
    async fn a_command_that_is_on_the_path_already_needs_no_link() {
        let home = tempfile::tempdir().unwrap();
        let mut host = host(&home.path().canonicalize().unwrap());
        let usual = host.home.join(".local/bin");
        std::fs::create_dir_all(&usual).unwrap();
        std::fs::rename(&host.exe, usual.join("pao")).unwrap();
        host.exe = usual.join("pao");
        let said = command_line(&host).await;
        assert_eq!(
            (said.on, said.possible, said.note.as_deref()),
            (true, false, Some("at ~/.local/bin/pao"))
        );
    }
}
