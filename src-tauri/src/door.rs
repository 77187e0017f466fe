//! The one door between the windows and the core: every verb with what it takes and what it gives.
//!
//! The table below is the whole contract. From it comes the dispatch of the single command that windows may call, and
//! the TypeScript twin `ui/src/host/door.ts`, which a test keeps equal to it. Nothing is decided here.

use pao_core::wire::door::{
    AgentPage, CleanDone, CleanPlan, FirstRun, Glance, Hotkey, Job, Mark, Message, Outcome, Preview,
    Settings, SourceSettings, Switch, Wish,
};
use pao_core::wire::{Failure, Source};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::commands;
use crate::shell::Shell;

/// Calls one verb for a window.
#[tauri::command]
pub async fn door(shell: tauri::State<'_, Shell>, verb: String, with: Value) -> Result<Value, Failure> {
    answer(&shell, &verb, with).await.map_err(|error| Failure::from(&error.for_window()))
}

/// Declares the verbs: a comment, a name, what it takes, what it gives, and the function that does it.
macro_rules! verbs {
    ($($(#[doc = $doc:literal])+ $name:ident($with:ty) -> $gives:ty = $call:path;)+) => {
        async fn answer(shell: &Shell, verb: &str, with: Value) -> Result<Value, pao_core::Error> {
            match verb {
                $(stringify!($name) => {
                    let with: $with = serde_json::from_value(with).map_err(misread)?;
                    let gives: $gives = $call(shell, with).await?;
                    serde_json::to_value(gives).map_err(misread)
                })+
                _ => Err(pao_core::Error::internal(format!("there is no verb {verb}"))),
            }
        }

        /// Every verb with its comment and the TypeScript names of its two types.
        #[cfg(test)]
        fn table(types: &mut typescript::Types) -> Vec<typescript::Row> {
            vec![$(typescript::Row {
                doc: concat!($($doc),+).trim(),
                name: stringify!($name),
                with: types.add::<$with>(),
                gives: types.add::<$gives>(),
            }),+]
        }
    };
}

verbs! {
    /// Everything at a glance. Afterwards it comes by itself, as the event `glance`.
    glance(()) -> Glance = commands::glance::glance;
    /// What a spawn would brief the agent with. Writes nothing.
    preview(Wish) -> Preview = commands::spawn::preview;
    /// Starts the job; its id. Progress comes as the event `job`.
    spawn(Wish) -> String = commands::spawn::spawn;
    /// Starts once more what a job was to start, where wanted in another terminal; the new job's id.
    again(Again) -> String = commands::spawn::again;
    /// Jobs under way, and those that ended last.
    jobs(()) -> Vec<Job> = commands::spawn::jobs;
    /// Answers the question of a job.
    answer(Answer) -> () = commands::spawn::answer;
    /// Cancels a job.
    cancel(String) -> () = commands::spawn::cancel;
    /// Decides about a memory, or takes the decision back.
    mark(Marking) -> () = commands::spawn::mark;
    /// The whole text of a memory.
    show_source(Memory) -> String = commands::spawn::show_source;
    /// An agent in full, by its id.
    agent(String) -> AgentPage = commands::agents::agent;
    /// Brings an agent's terminal to the front.
    focus(String) -> Outcome = commands::agents::focus;
    /// Tells an agent something.
    tell(Tell) -> Message = commands::agents::tell;
    /// Takes back a text of which nothing was sent, by its id.
    withdraw(i64) -> Message = commands::agents::withdraw;
    /// Makes a checkpoint.
    checkpoint(Checkpointing) -> Outcome = commands::agents::checkpoint;
    /// Pauses one agent, or all.
    pause(Target) -> Vec<Outcome> = commands::agents::pause;
    /// Resumes one agent, or all. One alone may ask something: then the panel is opened at a job of it.
    resume(Target) -> Vec<Outcome> = commands::resume::resume;
    /// Gives a running agent what is new in the stores with its next prompt.
    rebrief(String) -> Outcome = commands::agents::rebrief;
    /// Hands over from one agent to another, or to a new one.
    handover(Handover) -> Outcome = commands::agents::handover;
    /// Puts an agent that is gone aside, with what was written for it.
    forget(String) -> CleanDone = commands::cleanup::forget;
    /// What a cleanup would do. Writes nothing.
    clean_plan(()) -> CleanPlan = commands::cleanup::plan;
    /// Cleans up these entries of the plan.
    clean(Vec<String>) -> CleanDone = commands::cleanup::clean;
    /// Takes a cleanup back.
    clean_undo(String) -> CleanDone = commands::cleanup::undo;
    /// All that the settings show.
    settings(()) -> Settings = commands::settings::settings;
    /// Changes one key of the configuration; `null` takes it out.
    set(Change) -> Settings = commands::settings::set;
    /// Begins a new configuration where the file does not read; that one is kept beside it.
    config_anew(()) -> Outcome = commands::settings::config_anew;
    /// Takes back what the user agreed to for a folder. Agreed is only when a spawn asks.
    consent(Consent) -> Settings = commands::settings::consent;
    /// Tries a source as a spawn would.
    check_source(String) -> Source = commands::settings::check_source;
    /// Adds a source.
    add_source(NewSource) -> SourceSettings = commands::settings::add_source;
    /// Takes a source out of the configuration.
    remove_source(String) -> () = commands::settings::remove_source;
    /// Keeps a secret, or deletes it.
    set_secret(Secret) -> Outcome = commands::settings::set_secret;
    /// Switches something of the system's on or off.
    switch(Switching) -> Switch = commands::settings::switch;
    /// Opens a file of ours, or a pane of the system's settings.
    reveal(Reveal) -> () = commands::windows::reveal;
    /// Changes the hotkey; `null` switches it off.
    set_hotkey(Option<String>) -> Hotkey = commands::settings::set_hotkey;
    /// Watches exactly these folders.
    set_roots(Vec<String>) -> Settings = commands::settings::set_roots;
    /// Asks for a folder with the system's own dialog; `null` where none was chosen.
    choose_folder(()) -> Option<String> = commands::settings::choose_folder;
    /// What the first run found.
    first_run(()) -> FirstRun = commands::first_run::first_run;
    /// Ends the first run.
    finish_first_run(FirstChoices) -> () = commands::first_run::finish;
    /// Everything that could be removed from this machine.
    traces(()) -> Vec<Outcome> = commands::remove::traces;
    /// Removes every trace; with `true` ends running agents, too.
    remove_everything(bool) -> Vec<Outcome> = commands::remove::everything;
    /// What helps to understand a fault, without secrets.
    diagnostics(()) -> String = commands::windows::diagnostics;
    /// Opens the panel at a page.
    open(Page) -> () = commands::windows::open;
    /// The page that was opened last, once. The panel asks when it has begun to listen: what was opened before, it missed.
    page(()) -> Option<Page> = commands::windows::page;
    /// Hides the window that asks.
    close(String) -> () = commands::windows::close;
    /// Keeps the popover open when it loses the focus, or no longer.
    pin(bool) -> () = commands::windows::pin;
    /// Copies text to the clipboard.
    copy(String) -> () = commands::windows::copy;
    /// Ends the app. Agents go on running.
    quit(()) -> () = commands::windows::quit;
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn misread(error: serde_json::Error) -> pao_core::Error {
    pao_core::Error::internal(format!("the window and its host do not understand each other: {error}"))
}

/// The answer to a job's question.
#[derive(Debug, Deserialize, TS)]
pub struct Answer {
    /// The job.
    pub job: String,
    /// Yes or no.
    pub yes: bool,
}

/// A start to be made once more.
#[derive(Debug, Deserialize, TS)]
pub struct Again {
    /// The job that ended.
    pub job: String,
    /// In this terminal; `null` for the same.
    pub terminal: Option<String>,
}

/// What the user still agrees to for a folder, whichever host agent it was for.
#[derive(Debug, Deserialize, TS)]
pub struct Consent {
    /// The folder.
    pub folder: String,
    /// It may be trusted; `false` takes that back.
    pub trust: bool,
    /// Agents there may skip all permissions; `false` takes that back.
    pub skip: bool,
}

/// A memory.
#[derive(Debug, Deserialize, TS)]
pub struct Memory {
    /// Where it comes from.
    pub source: String,
    /// Identity within the source.
    pub id: String,
}

/// A decision about a memory.
#[derive(Debug, Deserialize, TS)]
pub struct Marking {
    /// Where it comes from.
    pub source: String,
    /// Identity within the source.
    pub id: String,
    /// What it says.
    #[expect(dead_code, reason = "a memory is found by where it is")]
    pub text: String,
    /// The folder it was decided in; `null` for a decision that holds everywhere.
    pub folder: Option<String>,
    /// What is decided; `null` takes the decision back.
    pub mark: Option<Mark>,
}

/// A text for an agent.
#[derive(Debug, Deserialize, TS)]
pub struct Tell {
    /// Registry id.
    pub agent: String,
    /// The text.
    pub text: String,
}

/// A checkpoint to make.
#[derive(Debug, Deserialize, TS)]
pub struct Checkpointing {
    /// Registry id.
    pub agent: String,
    /// The user's own words.
    pub message: Option<String>,
}

/// One agent, or all.
#[derive(Debug, Deserialize, TS)]
pub struct Target {
    /// Registry id; `null` for all.
    pub agent: Option<String>,
    /// Also where it interrupts a turn.
    pub now: bool,
}

/// From one agent to another.
#[derive(Debug, Deserialize, TS)]
pub struct Handover {
    /// Registry id.
    pub from: String,
    /// Registry id; `null` for a new one.
    pub to: Option<String>,
    /// What the second is to do.
    pub text: Option<String>,
}

/// A change of the configuration.
#[derive(Debug, Deserialize, TS)]
pub struct Change {
    /// The key.
    pub key: String,
    /// Its value as typed; `null` takes it out.
    pub value: Option<String>,
}

/// A source to add.
#[derive(Debug, Deserialize, TS)]
pub struct NewSource {
    /// Its name.
    pub name: String,
    /// `postgres`, `worker` or `history`.
    pub kind: String,
    /// Its keys with their values as typed.
    pub values: std::collections::BTreeMap<String, String>,
}

/// A secret.
#[derive(Deserialize, TS)]
pub struct Secret {
    /// The source it is for.
    pub name: String,
    /// Its value; `null` deletes it.
    pub value: Option<String>,
}

/// Something of the system's.
#[derive(Debug, Deserialize, TS)]
pub struct Switching {
    /// Which.
    pub which: Which,
    /// On or off.
    pub on: bool,
}

/// What of the system's can be switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// Open at login.
    LoginItem,
    /// Notifications.
    Notifications,
    /// "Spawn agent here" in the file manager.
    FileManager,
    /// The command-line tool on the PATH.
    CommandLine,
}

/// What can be opened outside the app; nothing else can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Reveal {
    /// The configuration file.
    Config,
    /// The folder of the app's log.
    Log,
    /// Where the file manager's entry is switched on.
    FileManager,
    /// Where programs are allowed to open at login.
    LoginItems,
    /// Where notifications are allowed.
    Notifications,
    /// Where driving the terminal is allowed.
    Automation,
}

/// What was chosen in the first run.
#[derive(Debug, Deserialize, TS)]
pub struct FirstChoices {
    /// Folders to watch.
    pub roots: Vec<String>,
    /// Open at login.
    pub open_at_login: bool,
    /// The hotkey; `null` for none.
    pub hotkey: Option<String>,
}

/// A page of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "page", rename_all = "kebab-case")]
pub enum Page {
    /// The spawn panel, prefilled.
    Spawn {
        /// The text.
        text: String,
        /// The folder.
        folder: Option<String>,
        /// Further folders that were chosen with it, for one spawn each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<String>>")]
        others: Vec<String>,
        /// What is to be said about what was brought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        note: Option<String>,
    },
    /// An agent.
    Agent {
        /// Registry id.
        id: String,
    },
    /// A start under way, or how it ended.
    Job {
        /// Its id.
        id: String,
    },
    /// The cleanup.
    Cleanup,
    /// The settings.
    Settings {
        /// Which pane.
        pane: Option<String>,
    },
    /// The first run.
    FirstRun,
}

impl Page {
    /// The spawn panel for a folder, or for the one that was used last.
    pub fn spawn(folder: Option<String>) -> Self {
        Self::Spawn { text: String::new(), folder, others: Vec::new(), note: None }
    }
}

#[cfg(test)]
mod typescript;
