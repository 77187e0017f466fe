//! Applications that run a command of ours in a new window and know each window by an id of their own: one adapter,
//! to which each application adds its scripts and what it can do.
//!
//! The command is a small file beside the launch script that first writes down its own process id and then becomes
//! the launch script. So whether an agent runs is seen from its process, without asking the application or macOS,
//! and even a window that was opened without a script is not lost sight of. Where macOS does not let us control
//! the application, its command line is used instead.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::osascript::{self, Application, Osascript, quotable};
use super::{
    Alive, Capabilities, Key, Opened, Script, Terminal, TerminalError, plain, plain_title, shell_word,
};
use crate::host::process::{Identity, Outcome, RunError, Started, gone};
use crate::host::{Host, files, os};

/// How long a window may take to start what it was opened for.
const START: Duration = Duration::from_secs(3);

/// How long something that is ending is waited for before its window counts as busy.
const ENDING: Duration = Duration::from_secs(2);

/// What an application adds.
#[derive(Debug)]
pub struct Adapter {
    /// The application.
    pub application: Application,
    /// What it can do with a window that was opened by script.
    pub can: Capabilities,
    /// How many words its scripts know a window by, separated by `|`; the first is its id.
    pub words: usize,
    /// Arguments: path, title. Answers the words.
    pub open: &'static str,
    /// Arguments: the words. Answers `here` or `gone`.
    pub exists: &'static str,
    /// Arguments: the words. Answers the visible text. `None` where it can not.
    pub read: Option<&'static str>,
    /// Arguments: the words, the text.
    pub paste: &'static str,
    /// Arguments: the words, then what [`Self::key_words`] says.
    pub key: &'static str,
    /// Arguments: the words. Answers the id that is at the front then.
    pub focus: &'static str,
    /// Arguments: the words.
    pub close: &'static str,
    /// A key, as its script knows it.
    pub key_words: fn(Key) -> &'static [&'static str],
    /// Further characters that may not stand in a command's path.
    pub unquotable: &'static str,
    /// Arguments of `open` that run the file in a new window without an event.
    pub without_script: fn(&Path) -> Vec<OsString>,
}

impl Adapter {
    /// All scripts with their names.
    pub fn scripts(&self) -> Vec<(&'static str, &'static str)> {
        let mut scripts = vec![("open", self.open), ("exists", self.exists)];
        scripts.extend(self.read.map(|read| ("read", read)));
        scripts.extend([
            ("paste", self.paste),
            ("key", self.key),
            ("focus", self.focus),
            ("close", self.close),
        ]);
        scripts
    }
}

/// One of these applications as a terminal.
#[derive(Debug, Clone)]
pub struct Scripted {
    adapter: &'static Adapter,
    osascript: Osascript,
}

/// Where a window is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Handle {
    /// The words by which the application knows it; empty where it was opened without a script.
    place: Vec<String>,
    /// The file that runs in it.
    file: PathBuf,
    /// What runs in it, and the mark of its start; `None` where it did not start in time.
    process: Option<(u32, String)>,
}

impl Handle {
    /// What runs in the window, where that is known by now.
    fn process(&self) -> Option<Identity> {
        let noted = self.process.as_ref();
        let noted =
            noted.and_then(|(pid, started)| Some(Identity { pid: *pid, started: started.parse().ok()? }));
        noted.or_else(|| written(&self.file))
    }

    fn ended(&self) -> bool {
        self.process().is_some_and(|process| !process.alive())
    }
}

/// The file that runs in the window.
fn file(script: &Path) -> PathBuf {
    script.with_file_name("window.command")
}

/// Where it writes down its process id.
fn pid_file(file: &Path) -> PathBuf {
    file.with_extension("pid")
}

/// What the file wrote down, where it has run. One that has already ended has no start time.
fn written(file: &Path) -> Option<Identity> {
    let bytes = files::read_if_there(&pid_file(file)).ok()??;
    let pid = String::from_utf8_lossy(&bytes).trim().parse().ok()?;
    Some(Identity::of(pid).unwrap_or(Identity { pid, started: Started::Clock(0) }))
}

fn read(handle: &str) -> Result<Handle, TerminalError> {
    serde_json::from_str(handle).map_err(|e| TerminalError::Handle(e.to_string()))
}

impl Scripted {
    /// Finds the application and `osascript`.
    pub fn new(host: &Host, adapter: &'static Adapter) -> Result<Self, TerminalError> {
        Ok(Self { adapter, osascript: Osascript::new(host, &adapter.application)? })
    }

    fn called_here(&self) -> &'static str {
        self.adapter.application.called
    }

    /// Writes the file that is to run in the window; what an earlier one wrote down is forgotten.
    fn prepare(script: &Path) -> Result<PathBuf, TerminalError> {
        let file = file(script);
        let pid = pid_file(&file);
        let mut text = b"#!/bin/sh\n# Written by pao: what runs in the agent's window.\n".to_vec();
        // Where two windows come up for one start, the agent is in the first.
        text.extend(b"(set -C; echo $$ > ");
        text.extend(shell_word(&pid));
        text.extend(b") 2>/dev/null\nexec ");
        text.extend(shell_word(script));
        text.push(b'\n');
        files::remove_if_there(&pid)
            .and_then(|_| files::write_private(&file, &text, true))
            .map_err(|source| TerminalError::File { path: file.clone(), source })?;
        Ok(file)
    }

    async fn open_by_script(&self, file: &Path, title: &str) -> Result<Vec<String>, TerminalError> {
        let path = quotable(file)?;
        if path.contains(|c| self.adapter.unquotable.contains(c)) {
            return Err(TerminalError::Text("the path of the launch script has characters it would change"));
        }
        let answer = self.osascript.persistent(self.adapter.open, &[path, &plain_title(title)]).await?;
        let place: Vec<String> = answer.split('|').map(ToOwned::to_owned).collect();
        if place.len() != self.adapter.words || place.iter().any(String::is_empty) {
            return Err(TerminalError::Refused { terminal: self.called_here(), text: answer });
        }
        Ok(place)
    }

    async fn open_without_script(&self, file: &Path) -> Result<Outcome, RunError> {
        os::remove_quarantine(file).await;
        osascript::open(&self.osascript.host).args((self.adapter.without_script)(file)).output().await
    }

    async fn at(&self, script: &str, handle: &Handle, more: &[&str]) -> Result<String, TerminalError> {
        if handle.place.is_empty() {
            return Err(TerminalError::NotCapable {
                terminal: self.called_here(),
                what: "reach a window that was opened without a script",
            });
        }
        let args: Vec<&str> = handle.place.iter().map(String::as_str).chain(more.iter().copied()).collect();
        self.osascript.run(script, &args).await
    }

    /// As [`Self::at`], for input: into a window in which nothing of ours runs any more nothing is typed.
    async fn put(&self, script: &str, handle: &str, more: &[&str]) -> Result<(), TerminalError> {
        let handle = read(handle)?;
        if handle.ended() {
            return Err(TerminalError::Gone { terminal: self.called_here() });
        }
        self.at(script, &handle, more).await.map(drop)
    }

    /// Asks for consent now, forgetting what was answered before.
    pub async fn ask_again(&self) -> Result<(), TerminalError> {
        let nobody = vec!["none"; self.adapter.words];
        self.osascript.ask_again(self.adapter.exists, &nobody).await
    }
}

#[async_trait]
impl Terminal for Scripted {
    fn name(&self) -> &'static str {
        self.adapter.application.name
    }

    fn called(&self) -> &'static str {
        self.called_here()
    }

    fn permission(&self) -> Option<&'static str> {
        Some(self.osascript.permission())
    }

    fn capabilities(&self) -> Capabilities {
        self.adapter.can
    }

    fn capabilities_of(&self, handle: &str) -> Capabilities {
        match read(handle) {
            Ok(handle) if !handle.place.is_empty() => self.adapter.can,
            _ => Capabilities { visible: true, ..Capabilities::default() },
        }
    }

    async fn open(&self, script: &Script) -> Result<Opened, TerminalError> {
        let file = Self::prepare(&script.path)?;
        let by_script = self.open_by_script(&file, &script.title);
        let (place, note) = self.osascript.open(by_script, self.open_without_script(&file)).await?;
        let since = Instant::now();
        let process = loop {
            match written(&file) {
                None if since.elapsed() < START => tokio::time::sleep(Duration::from_millis(20)).await,
                found => break found.map(|process| (process.pid, process.started.to_string())),
            }
        };
        let handle = Handle { place: place.unwrap_or_default(), file, process };
        let handle = serde_json::to_string(&handle).map_err(|e| TerminalError::Handle(e.to_string()))?;
        Ok(Opened { handle, attach: None, shown: true, note })
    }

    async fn screen(&self, handle: &str) -> Result<String, TerminalError> {
        let handle = read(handle)?;
        match self.adapter.read {
            Some(script) => self.at(script, &handle, &[]).await,
            None => Err(TerminalError::NotCapable { terminal: self.called_here(), what: "show its screen" }),
        }
    }

    async fn key(&self, handle: &str, key: Key) -> Result<(), TerminalError> {
        self.put(self.adapter.key, handle, (self.adapter.key_words)(key)).await
    }

    async fn paste(&self, handle: &str, text: &str) -> Result<(), TerminalError> {
        plain(text)?;
        if !self.adapter.can.paste_lines && text.contains('\n') {
            return Err(TerminalError::Text("this terminal takes one line at a time"));
        }
        self.put(self.adapter.paste, handle, &[text]).await
    }

    async fn submit(&self, handle: &str) -> Result<(), TerminalError> {
        self.key(handle, Key::Enter).await
    }

    async fn alive(&self, handle: &str) -> Result<Alive, TerminalError> {
        let handle = read(handle)?;
        if let Some(process) = handle.process() {
            return Ok(if process.alive() { Alive::Yes } else { Alive::No });
        }
        if handle.place.is_empty() {
            return Ok(Alive::Unknown);
        }
        match self.at(self.adapter.exists, &handle, &[]).await {
            Ok(answer) if answer == "gone" => Ok(Alive::No),
            Err(TerminalError::Gone { .. }) => Ok(Alive::No),
            // That a window is there does not say that anything runs in it.
            Ok(_) | Err(_) => Ok(Alive::Unknown),
        }
    }

    async fn focus(&self, handle: &str) -> Result<(), TerminalError> {
        let handle = read(handle)?;
        let front = self.at(self.adapter.focus, &handle, &[]).await?;
        if handle.place.first() != Some(&front) {
            return Err(TerminalError::Gone { terminal: self.called_here() });
        }
        // Newer systems may ignore an application's wish to come to the front; opening it is not ignored.
        let id = self.adapter.application.id;
        let _ = osascript::open(&self.osascript.host).args(["-b", id]).output().await;
        Ok(())
    }

    async fn close(&self, handle: &str) -> Result<(), TerminalError> {
        let left_open = |because| Err(TerminalError::LeftOpen { terminal: self.called_here(), because });
        let handle = read(handle)?;
        // These applications close a window without a question, whatever runs in it.
        let Some(process) = handle.process() else {
            return left_open("what was to run in it was never seen");
        };
        if !gone(&[process], ENDING).await {
            return left_open("something still runs in it");
        }
        if handle.place.is_empty() {
            return left_open("it was opened without a script, and which window that is was not said");
        }
        match self.at(self.adapter.close, &handle, &[]).await {
            Ok(_) | Err(TerminalError::Gone { .. }) => {}
            Err(e) => return Err(e),
        }
        for path in [pid_file(&handle.file), handle.file] {
            files::remove_if_there(&path).map_err(|source| TerminalError::File { path, source })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ghostty, iterm2};

    #[test]
    fn each_script_is_told_apart_by_its_first_line() {
        for adapter in [&iterm2::ADAPTER, &ghostty::ADAPTER] {
            let application = &adapter.application;
            for (name, text) in adapter.scripts() {
                let label = format!("{} {name}", application.name);
                assert!(text.starts_with(&format!("-- pao {label}: ")), "{label}");
                assert!(text.contains("on run argv\n"), "{label}");
                assert!(text.contains(&format!("application id \"{}\"", application.id)), "{label}");
                assert!(text.is_ascii(), "{label}: how osascript reads other bytes depends on the system");
                insta::assert_snapshot!(format!("{}_{name}", application.name), text);
            }
        }
    }
}
