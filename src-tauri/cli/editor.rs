//! The user's own editor on the briefing. Its command line is split into words here; no shell sees it.

use std::path::Path;

use pao_core::Error;
use pao_core::host::process::Run;
use pao_core::host::{Host, files};

/// Opens the text in `$VISUAL` or `$EDITOR`. `None` where the user gives up: the editor fails, or nothing is left.
pub fn edit(host: &Host, text: &str) -> Result<Option<String>, Error> {
    let command = host.var("VISUAL").or_else(|| host.var("EDITOR")).unwrap_or("vi");
    let words = shlex::split(command).filter(|w| !w.is_empty()).ok_or_else(|| {
        Error::user(format!("$EDITOR cannot be read as a command: {command}"), "set EDITOR to one, e.g. vim")
    })?;
    let file = host.pao_home.join("edit").join(format!("briefing-{}.md", std::process::id()));
    let edited = in_file(&file, &words, text);
    let _ = files::remove_if_there(&file);
    edited
}

fn in_file(file: &Path, words: &[String], text: &str) -> Result<Option<String>, Error> {
    let refused = |e: std::io::Error| {
        Error::environment(
            format!("{} cannot be used: {e}", file.display()),
            "check the disk and its permissions",
        )
    };
    files::private_dir(file.parent().unwrap_or(file)).map_err(refused)?;
    files::write_private(file, text.as_bytes(), false).map_err(refused)?;
    let status = Run::new(&words[0]).args(&words[1..]).arg(file).interactive().map_err(|e| {
        Error::environment(e.to_string(), "set EDITOR to an editor that is installed, e.g. EDITOR=nano")
    })?;
    if status != Some(0) {
        return Ok(None);
    }
    let edited = std::fs::read_to_string(file).map_err(refused)?;
    Ok(Some(edited).filter(|text| !text.trim().is_empty()))
}
