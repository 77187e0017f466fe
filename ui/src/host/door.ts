// Made from src-tauri/src/door.rs and src-tauri/core/src/wire by the test
// `the_windows_know_the_same_door`; to make it again: PAO_UPDATE=1 cargo test -p pao-app door

/** Every verb: what it takes and what it gives. */
export interface Verbs {
  /** Everything at a glance. Afterwards it comes by itself, as the event `glance`. */
  glance: { with: null; gives: Glance }
  /** What a spawn would brief the agent with. Writes nothing. */
  preview: { with: Wish; gives: Preview }
  /** Starts the job; its id. Progress comes as the event `job`. */
  spawn: { with: Wish; gives: string }
  /** Starts once more what a job was to start, where wanted in another terminal; the new job's id. */
  again: { with: Again; gives: string }
  /** Jobs under way, and those that ended last. */
  jobs: { with: null; gives: Array<Job> }
  /** Answers the question of a job. */
  answer: { with: Answer; gives: null }
  /** Cancels a job. */
  cancel: { with: string; gives: null }
  /** Decides about a memory, or takes the decision back. */
  mark: { with: Marking; gives: null }
  /** The whole text of a memory. */
  show_source: { with: Memory; gives: string }
  /** An agent in full, by its id. */
  agent: { with: string; gives: AgentPage }
  /** Brings an agent's terminal to the front. */
  focus: { with: string; gives: Outcome }
  /** Tells an agent something. */
  tell: { with: Tell; gives: Message }
  /** Takes back a text of which nothing was sent, by its id. */
  withdraw: { with: number; gives: Message }
  /** Makes a checkpoint. */
  checkpoint: { with: Checkpointing; gives: Outcome }
  /** Pauses one agent, or all. */
  pause: { with: Target; gives: Array<Outcome> }
  /** Resumes one agent, or all. One alone may ask something: then the panel is opened at a job of it. */
  resume: { with: Target; gives: Array<Outcome> }
  /** Gives a running agent what is new in the stores with its next prompt. */
  rebrief: { with: string; gives: Outcome }
  /** Hands over from one agent to another, or to a new one. */
  handover: { with: Handover; gives: Outcome }
  /** Puts an agent that is gone aside, with what was written for it. */
  forget: { with: string; gives: CleanDone }
  /** What a cleanup would do. Writes nothing. */
  clean_plan: { with: null; gives: CleanPlan }
  /** Cleans up these entries of the plan. */
  clean: { with: Array<string>; gives: CleanDone }
  /** Takes a cleanup back. */
  clean_undo: { with: string; gives: CleanDone }
  /** All that the settings show. */
  settings: { with: null; gives: Settings }
  /** Changes one key of the configuration; `null` takes it out. */
  set: { with: Change; gives: Settings }
  /** Begins a new configuration where the file does not read; that one is kept beside it. */
  config_anew: { with: null; gives: Outcome }
  /** Takes back what the user agreed to for a folder. Agreed is only when a spawn asks. */
  consent: { with: Consent; gives: Settings }
  /** Tries a source as a spawn would. */
  check_source: { with: string; gives: Source }
  /** Adds a source. */
  add_source: { with: NewSource; gives: SourceSettings }
  /** Takes a source out of the configuration. */
  remove_source: { with: string; gives: null }
  /** Keeps a secret, or deletes it. */
  set_secret: { with: Secret; gives: Outcome }
  /** Switches something of the system's on or off. */
  switch: { with: Switching; gives: Switch }
  /** Opens a file of ours, or a pane of the system's settings. */
  reveal: { with: Reveal; gives: null }
  /** Changes the hotkey; `null` switches it off. */
  set_hotkey: { with: string | null; gives: Hotkey }
  /** Watches exactly these folders. */
  set_roots: { with: Array<string>; gives: Settings }
  /** Asks for a folder with the system's own dialog; `null` where none was chosen. */
  choose_folder: { with: null; gives: string | null }
  /** What the first run found. */
  first_run: { with: null; gives: FirstRun }
  /** Ends the first run. */
  finish_first_run: { with: FirstChoices; gives: null }
  /** Everything that could be removed from this machine. */
  traces: { with: null; gives: Array<Outcome> }
  /** Removes every trace; with `true` ends running agents, too. */
  remove_everything: { with: boolean; gives: Array<Outcome> }
  /** What helps to understand a fault, without secrets. */
  diagnostics: { with: null; gives: string }
  /** Opens the panel at a page. */
  open: { with: Page; gives: null }
  /** The page that was opened last, once. The panel asks when it has begun to listen: what was opened before, it missed. */
  page: { with: null; gives: Page | null }
  /** Hides the window that asks. */
  close: { with: string; gives: null }
  /** Keeps the popover open when it loses the focus, or no longer. */
  pin: { with: boolean; gives: null }
  /** Copies text to the clipboard. */
  copy: { with: string; gives: null }
  /** Ends the app. Agents go on running. */
  quit: { with: null; gives: null }
}

/** What comes by itself; `page` only ever reaches the panel. */
export interface Events {
  glance: Glance
  job: Job
  page: Page
}

/**
 * Something a window can offer as a button: a verb of this door, with what it takes.
 */
export type Action = { 
/**
 * Text of the button.
 */
label: string, 
/**
 * The verb.
 */
verb: string, 
/**
 * What it takes.
 */
with: unknown, };

/**
 * A start to be made once more.
 */
export type Again = { 
/**
 * The job that ended.
 */
job: string, 
/**
 * In this terminal; `null` for the same.
 */
terminal: string | null, };

/**
 * A host agent that can be chosen.
 */
export type AgentChoice = { 
/**
 * Kind in the configuration.
 */
kind: string, 
/**
 * Name for people.
 */
display: string, 
/**
 * Where it is and which version; `null` where it was not found.
 */
found: string | null, };

/**
 * An agent in full.
 */
export type AgentPage = { 
/**
 * As in the list.
 */
row: AgentRow, 
/**
 * Branch and changed files of its folder.
 */
branch: string | null, 
/**
 * Changed files.
 */
changed: number | null, 
/**
 * `ask`, `accept-edits`, `plan` or `skip`.
 */
permission: string, 
/**
 * `session` or `files`.
 */
delivery: string, 
/**
 * From whom it came, for people; none where it started from nothing.
 */
origin: string | null, 
/**
 * What it was asked.
 */
prompt: string | null, 
/**
 * Conversation ids, newest first.
 */
sessions: Array<string>, 
/**
 * A command that shows its window.
 */
attach: string | null, 
/**
 * What it did over time, oldest first.
 */
turns: Array<Turn>, 
/**
 * The lines of the briefing as delivered.
 */
briefing: Array<BriefingLine>, 
/**
 * Estimated tokens of the document as delivered.
 */
briefing_tokens: number, 
/**
 * It had a briefing, which is not kept any more.
 */
briefing_gone: boolean, 
/**
 * The document as delivered, as HTML made by us.
 */
briefing_html: string, 
/**
 * Checkpoints, newest first.
 */
checkpoints: Array<Checkpoint>, 
/**
 * Texts for it, newest first.
 */
messages: Array<Message>, 
/**
 * What was written for it, for people.
 */
written: Array<string>, };

/**
 * One agent in a list.
 */
export type AgentRow = { 
/**
 * Registry id.
 */
id: string, 
/**
 * Name.
 */
name: string, 
/**
 * Where it works.
 */
folder: string, 
/**
 * That folder for people.
 */
shown: string, 
/**
 * What it is doing.
 */
state: AgentState, 
/**
 * Since when.
 */
since: string, 
/**
 * What it waits for: "permission for Bash".
 */
needs: string | null, 
/**
 * What exactly it asks, e.g. the command.
 */
asks: string | null, 
/**
 * What it is doing or was last asked, one line.
 */
doing: string, 
/**
 * Last sign of life.
 */
sign_at: string, 
/**
 * 2^(−age/half-life) in 0..=1.
 */
freshness: number, 
/**
 * Kind of host agent, for people.
 */
host_agent: string, 
/**
 * Terminal that runs it.
 */
terminal: string | null, 
/**
 * What can be done with it now.
 */
verbs: Array<Verb>, 
/**
 * Texts waiting to be told.
 */
queued: number, };

/**
 * State of an agent.
 */
export type AgentState = "needs-you" | "working" | "idle" | "starting" | "paused" | "ended" | "lost";

/**
 * The answer to a job's question.
 */
export type Answer = { 
/**
 * The job.
 */
job: string, 
/**
 * Yes or no.
 */
yes: boolean, };

/**
 * One line of a preview.
 */
export type BriefingLine = { 
/**
 * Against this folder's last spawn: `new`, `changed` or nothing.
 */
change: 'new' | 'changed' | null, 
/**
 * What a changed one said then.
 */
before: string | null, 
/**
 * What the user decided about it.
 */
mark: Mark | null, 
/**
 * When something that stands in it first came up in what the agent said or ran; only of a delivered one.
 */
used_at: string | null, 
/**
 * Source it came from.
 */
source: string, 
/**
 * Identity within the source.
 */
id: string, 
/**
 * When it was said or recorded.
 */
at: string | null, 
/**
 * Its text as delivered.
 */
text: string, 
/**
 * Fused relevance in 0..=1.
 */
score: number, 
/**
 * Estimated tokens.
 */
tokens: number, 
/**
 * Why it is not in the briefing: `irrelevant`, `duplicate`, `superseded`, `over-budget`, `quarantined`, `dropped`,
 * `never`.
 */
left_out: string | null, 
/**
 * The memory that says the same, or that superseded it.
 */
because?: Cited, 
/**
 * What the user decided about it: `pin`, `drop` or `never`.
 */
marked?: string, };

/**
 * A change of the configuration.
 */
export type Change = { 
/**
 * The key.
 */
key: string, 
/**
 * Its value as typed; `null` takes it out.
 */
value: string | null, };

/**
 * One thing that `pao doctor` looked at.
 */
export type Check = { 
/**
 * What it is.
 */
name: string, 
/**
 * `ok`, `warning` or `failed`.
 */
state: string, 
/**
 * What was found.
 */
found: string, 
/**
 * What to do about it; empty where nothing is to be done.
 */
cure: string, };

/**
 * A checkpoint in a list.
 */
export type Checkpoint = { 
/**
 * Its id.
 */
id: string, 
/**
 * When it was made.
 */
at: string, 
/**
 * The user's words, else a summary.
 */
title: string, };

/**
 * A checkpoint to make.
 */
export type Checkpointing = { 
/**
 * Registry id.
 */
agent: string, 
/**
 * The user's own words.
 */
message: string | null, };

/**
 * A memory by where it is.
 */
export type Cited = { 
/**
 * Its source.
 */
source: string, 
/**
 * Identity within the source.
 */
id: string, };

/**
 * What a cleanup did.
 */
export type CleanDone = { 
/**
 * With which it can be undone.
 */
id: string, 
/**
 * What was removed, or kept and why.
 */
items: Array<Outcome>, };

/**
 * One agent or leftover to be cleaned up.
 */
export type CleanEntry = { 
/**
 * Its id in this plan.
 */
id: string, 
/**
 * Name of the agent, or what it is.
 */
title: string, 
/**
 * "Lost 2 d ago".
 */
when: string, 
/**
 * The evidence that it is gone.
 */
evidence: string, 
/**
 * Each thing that would be removed, for people.
 */
items: Array<string>, 
/**
 * Their size in bytes.
 */
bytes: number, 
/**
 * Why it is not selected by itself.
 */
left_out: string | null, 
/**
 * What selecting it means, where that takes a yes of its own.
 */
means: string | null, 
/**
 * It cannot be selected.
 */
held: boolean, };

/**
 * What a cleanup would do.
 */
export type CleanPlan = { 
/**
 * One entry per agent or leftover.
 */
entries: Array<CleanEntry>, 
/**
 * For how many days it can be undone.
 */
undo_days: number, };

/**
 * What the user still agrees to for a folder, whichever host agent it was for.
 */
export type Consent = { 
/**
 * The folder.
 */
folder: string, 
/**
 * It may be trusted; `false` takes that back.
 */
trust: boolean, 
/**
 * Agents there may skip all permissions; `false` takes that back.
 */
skip: boolean, };

/**
 * An error.
 */
export type Failure = { 
/**
 * `internal`, `user`, `config`, `environment` or `unconfirmed`.
 */
kind: string, 
/**
 * What happened.
 */
message: string, 
/**
 * What had been done before; empty when nothing had.
 */
done: string, 
/**
 * One thing to do next.
 */
next: string, 
/**
 * The same for a window, as something it can do at once.
 */
action?: Action, };

/**
 * What was chosen in the first run.
 */
export type FirstChoices = { 
/**
 * Folders to watch.
 */
roots: Array<string>, 
/**
 * Open at login.
 */
open_at_login: boolean, 
/**
 * The hotkey; `null` for none.
 */
hotkey: string | null, };

/**
 * What the first run found.
 */
export type FirstRun = { 
/**
 * The checks: agent, terminal, transcripts, hotkey.
 */
checks: Array<Check>, 
/**
 * Folders that could be watched.
 */
roots: Array<Root>, 
/**
 * Two lines that an agent would know, and of which project.
 */
sample: Array<BriefingLine>, 
/**
 * Name of that project.
 */
sample_project: string | null, 
/**
 * How many lines it would get.
 */
sample_lines: number, 
/**
 * The hotkey that is proposed, as it would be configured.
 */
hotkey: string, };

/**
 * What the user agreed to for a folder.
 */
export type FolderConsent = { 
/**
 * The folder.
 */
folder: string, 
/**
 * That folder for people.
 */
shown: string, 
/**
 * It may be trusted.
 */
trust: boolean, 
/**
 * Agents there may skip all permissions.
 */
skip: boolean, 
/**
 * Permission profile of the last spawn.
 */
permission: string | null, };

/**
 * Everything that is shown at a glance. Pushed whole whenever anything in it changes.
 */
export type Glance = { 
/**
 * Agents that are not put aside, those that need the user first.
 */
agents: Array<AgentRow>, 
/**
 * Watched projects, most recently active first.
 */
projects: Array<ProjectRow>, 
/**
 * Folders in which projects are looked for, as they fare.
 */
roots: Array<Root>, 
/**
 * How often the history was brought up to date: what was read of it may be another now.
 */
indexed: number, 
/**
 * How the sources fared when they were last asked.
 */
sources: Array<SourceDot>, 
/**
 * What the tray icon says.
 */
tray: Tray, 
/**
 * What keeps the app from doing its work, each with one next step.
 */
troubles: Array<Trouble>, 
/**
 * Nothing was ever set up here: show the first run.
 */
first_run: boolean, 
/**
 * Cleanups that can still be undone, newest first.
 */
undoable: Array<Undoable>, };

/**
 * From one agent to another.
 */
export type Handover = { 
/**
 * Registry id.
 */
from: string, 
/**
 * Registry id; `null` for a new one.
 */
to: string | null, 
/**
 * What the second is to do.
 */
text: string | null, };

/**
 * The hotkey.
 */
export type Hotkey = { 
/**
 * As configured, e.g. `Ctrl+Alt+Cmd+P`; `null` when off.
 */
keys: string | null, 
/**
 * It is registered with the system.
 */
active: boolean, 
/**
 * Why it is not.
 */
note: string | null, };

/**
 * A start under way, of a new agent or of one that comes back. Pushed whenever it changes.
 */
export type Job = { 
/**
 * Its id.
 */
id: string, 
/**
 * `spawn` or `resume`.
 */
verb: 'spawn' | 'resume', 
/**
 * Name of the agent.
 */
name: string, 
/**
 * Where, for people.
 */
shown: string, 
/**
 * When it began.
 */
began_at: string, 
/**
 * All steps in order, seven of a spawn and the last four of a return; one not begun has the state `pending`, one
 * under way `running`.
 */
steps: Array<JobStep>, 
/**
 * A question that waits for the user.
 */
question: Question | null, 
/**
 * How it ended.
 */
end: JobEnd | null, };

/**
 * How a job ended.
 */
export type JobEnd = { "how": "done", 
/**
 * Registry id of the agent.
 */
agent: string, 
/**
 * The prompt was seen to arrive.
 */
confirmed: boolean, 
/**
 * What waits for the user.
 */
needs: string | null, 
/**
 * A command that shows it, where no window is open.
 */
attach: string | null, 
/**
 * What the user should know.
 */
notes: Array<string>, } | { "how": "failed", 
/**
 * What happened, what was already done, one next step.
 */
failure: Failure, 
/**
 * The very same may go well another time.
 */
retry: boolean, } | { "how": "cancelled" };

/**
 * One step of a job.
 */
export type JobStep = { 
/**
 * When it began, for the one under way.
 */
began_at: string | null, 
/**
 * What it usually takes here, in milliseconds, where that is known.
 */
usual_ms: number | null, 
/**
 * `topic`, `gather`, `briefing`, `deliver`, `trust`, `launch` or `ready`.
 */
name: string, 
/**
 * How long it took.
 */
ms: number, 
/**
 * `done`, `skipped` or `failed`.
 */
state: string, 
/**
 * What there is to say about it.
 */
note: string, };

/**
 * What the user decided about a memory.
 */
export type Mark = "pinned" | "dropped" | "never";

/**
 * One decision about a memory, for the list in the settings.
 */
export type Marked = { 
/**
 * Where it comes from.
 */
source: string, 
/**
 * Identity within the source.
 */
id: string, 
/**
 * What was decided.
 */
mark: Mark, 
/**
 * The project it holds for; `null` for all.
 */
project: string | null, 
/**
 * That project for people.
 */
shown: string | null, 
/**
 * What it says.
 */
text: string, 
/**
 * When it was decided.
 */
at: string, };

/**
 * A decision about a memory.
 */
export type Marking = { 
/**
 * Where it comes from.
 */
source: string, 
/**
 * Identity within the source.
 */
id: string, 
/**
 * What it says.
 */
text: string, 
/**
 * The folder it was decided in; `null` for a decision that holds everywhere.
 */
folder: string | null, 
/**
 * What is decided; `null` takes the decision back.
 */
mark: Mark | null, };

/**
 * A memory.
 */
export type Memory = { 
/**
 * Where it comes from.
 */
source: string, 
/**
 * Identity within the source.
 */
id: string, };

/**
 * A text for an agent.
 */
export type Message = { 
/**
 * Its id.
 */
id: number, 
/**
 * When it was accepted.
 */
at: string, 
/**
 * What it says.
 */
text: string, 
/**
 * `queued`, `sent`, `confirmed`, `unknown` or `withdrawn`.
 */
fate: string, 
/**
 * Why.
 */
note: string | null, };

/**
 * A source to add.
 */
export type NewSource = { 
/**
 * Its name.
 */
name: string, 
/**
 * `postgres`, `worker` or `history`.
 */
kind: string, 
/**
 * Its keys with their values as typed.
 */
values: { [key in string]: string }, };

/**
 * One thing and what became of it.
 */
export type Outcome = { 
/**
 * What it is about.
 */
what: string, 
/**
 * What became of it.
 */
outcome: string, 
/**
 * It went as wanted.
 */
well: boolean, 
/**
 * What can be done about it at once.
 */
action?: Action, };

/**
 * A page of the panel.
 */
export type Page = { "page": "spawn", 
/**
 * The text.
 */
text: string, 
/**
 * The folder.
 */
folder: string | null, 
/**
 * Further folders that were chosen with it, for one spawn each.
 */
others?: Array<string>, 
/**
 * What is to be said about what was brought.
 */
note?: string, } | { "page": "agent", 
/**
 * Registry id.
 */
id: string, } | { "page": "job", 
/**
 * Its id.
 */
id: string, } | { "page": "cleanup" } | { "page": "settings", 
/**
 * Which pane.
 */
pane: string | null, } | { "page": "first-run" };

/**
 * A preview of a spawn. Nothing was written.
 */
export type Preview = { 
/**
 * Name the agent would have.
 */
name: string, 
/**
 * Where it would work.
 */
folder: string, 
/**
 * That folder for people.
 */
shown: string, 
/**
 * The stretch of the text in which the folder was found, in UTF-16 units: from, to.
 */
found: [number, number] | null, 
/**
 * What would be used: the wish, the folder's last choices, the configuration.
 */
settled: Settled, 
/**
 * How each source fared.
 */
sources: Array<SourceReport>, 
/**
 * The lines by section, in document order.
 */
sections: Array<Section>, 
/**
 * Lines that are left out, best first.
 */
left_out: Array<BriefingLine>, 
/**
 * Lines of this folder's last spawn that are gone now.
 */
gone: Array<BriefingLine>, 
/**
 * When this folder was last spawned in.
 */
compared_with: string | null, 
/**
 * The document.
 */
markdown: string, 
/**
 * Its HTML, made by us: raw HTML in it is shown as text.
 */
html: string, 
/**
 * Estimated tokens of the document.
 */
tokens: number, 
/**
 * Their price as input of one request in US dollars, where a price is configured.
 */
price: number | null, 
/**
 * No source had anything.
 */
self_warming: boolean, 
/**
 * Live agents already in that folder.
 */
neighbours: Array<string>, 
/**
 * The folder is not trusted yet: what trusting it enables.
 */
trust: Array<string> | null, 
/**
 * Time it took altogether, in milliseconds.
 */
ms: number, };

/**
 * One watched project.
 */
export type ProjectRow = { 
/**
 * Its folder.
 */
folder: string, 
/**
 * That folder for people.
 */
shown: string, 
/**
 * Base name.
 */
name: string, 
/**
 * Branch, where it is a repository.
 */
branch: string | null, 
/**
 * Changed files; `null` where that is not known (yet).
 */
changed: number | null, 
/**
 * Last activity: a session or a change.
 */
active_at: string | null, 
/**
 * Last session of a host agent there.
 */
session_at: string | null, 
/**
 * Live agents there.
 */
agents: number, };

/**
 * A question the user is asked before anything is written.
 */
export type Question = { 
/**
 * `trust` or `skip-permissions`.
 */
kind: 'trust' | 'skip-permissions', 
/**
 * The folder, for people.
 */
shown: string, 
/**
 * What a yes enables, or what is needed for it.
 */
details: Array<string>, };

/**
 * What can be opened outside the app; nothing else can.
 */
export type Reveal = "config" | "log" | "file-manager" | "login-items" | "notifications" | "automation";

/**
 * A watched folder.
 */
export type Root = { 
/**
 * The folder.
 */
folder: string, 
/**
 * That folder for people.
 */
shown: string, 
/**
 * Projects found in it.
 */
projects: number, 
/**
 * Names of a few of them.
 */
examples: Array<string>, 
/**
 * Last activity in it.
 */
active_at: string | null, 
/**
 * It is watched.
 */
watched: boolean, 
/**
 * What keeps it from being watched live: "unmounted", "too large: looked at every minute".
 */
note: string | null, };

/**
 * A secret.
 */
export type Secret = { 
/**
 * The source it is for.
 */
name: string, 
/**
 * Its value; `null` deletes it.
 */
value: string | null, };

/**
 * Lines under one heading.
 */
export type Section = { 
/**
 * The heading.
 */
title: string, 
/**
 * Its lines.
 */
lines: Array<BriefingLine>, };

/**
 * One setting in effect.
 */
export type Setting = { 
/**
 * Its key.
 */
key: string, 
/**
 * Its value as TOML; null where nothing is set and there is no default.
 */
value: string | null, 
/**
 * It is not in the file.
 */
default: boolean, 
/**
 * What it means.
 */
says: string, };

/**
 * All that the settings window shows.
 */
export type Settings = { 
/**
 * Every key of the configuration with its value.
 */
values: Array<Setting>, 
/**
 * The sources.
 */
sources: Array<SourceSettings>, 
/**
 * Watched folders.
 */
roots: Array<Root>, 
/**
 * Terminals of this system.
 */
terminals: Array<TerminalChoice>, 
/**
 * Host agents that are known.
 */
agents: Array<AgentChoice>, 
/**
 * Folders whose agents may skip all permissions, or that are trusted by the user's word.
 */
folders: Array<FolderConsent>, 
/**
 * The hotkey.
 */
hotkey: Hotkey, 
/**
 * The login item.
 */
login_item: Switch, 
/**
 * Notifications.
 */
notifications: Switch, 
/**
 * The Finder entry, or what the Linux file managers have for it.
 */
file_manager: Switch, 
/**
 * The command-line tool on the PATH.
 */
command_line: Switch, 
/**
 * Decisions about memories.
 */
marks: Array<Marked>, 
/**
 * What PAO has written where.
 */
written: Array<Outcome>, 
/**
 * Where the configuration is.
 */
config_path: string, 
/**
 * What keeps secrets here: "Keychain", "Secret Service", "a file only you can read".
 */
secret_store: string, 
/**
 * How that stands: locked, denied, none there, asks after each update, plain files.
 */
secret_note: string | null, };

/**
 * Choices in effect.
 */
export type Settled = { 
/**
 * `ask`, `accept-edits`, `plan` or `skip`.
 */
permission: string, 
/**
 * `auto`, `session` or `files`.
 */
delivery: string, 
/**
 * `auto` or a terminal's name.
 */
terminal: string, 
/**
 * Kind of host agent.
 */
agent: string, 
/**
 * Token budget.
 */
budget: number, };

/**
 * Shape of the tray icon.
 */
export type Shape = "idle" | "working" | "needs-you" | "error";

/**
 * One configured source.
 */
export type Source = { 
/**
 * Its name.
 */
name: string, 
/**
 * `history`, `postgres` or `worker`.
 */
kind: string, 
/**
 * Whether it is asked.
 */
enabled: boolean, 
/**
 * It stands in no file: it is there by default.
 */
by_default: boolean, 
/**
 * Where it is, without secrets.
 */
at: string, 
/**
 * With `check`: whether it answered.
 */
reachable: boolean | null, 
/**
 * With `check`: what it said.
 */
found: string | null, };

/**
 * How a source fared when it was last asked.
 */
export type SourceDot = { 
/**
 * Its name.
 */
name: string, 
/**
 * `ok`, `empty`, `unavailable`, `timed-out` or `unasked`.
 */
state: 'ok' | 'empty' | 'unavailable' | 'timed-out' | 'unasked', 
/**
 * Why it could not answer.
 */
reason: string | null, };

/**
 * How one source fared.
 */
export type SourceReport = { 
/**
 * Its name in the configuration.
 */
name: string, 
/**
 * `ok`, `empty`, `unavailable` or `timed-out`.
 */
state: string, 
/**
 * How many memories it returned.
 */
snippets: number, 
/**
 * Why it could not answer.
 */
reason: string | null, 
/**
 * What limits its answer.
 */
note: string | null, 
/**
 * How long it took.
 */
ms: number, };

/**
 * One source in the settings.
 */
export type SourceSettings = { 
/**
 * Whether a secret is kept for it; `null` where that is only known by asking the store, which may prompt.
 */
has_secret: boolean | null, 
/**
 * Milliseconds it may take.
 */
deadline_ms: number, 
/**
 * Its name.
 */
name: string, 
/**
 * `history`, `postgres` or `worker`.
 */
kind: string, 
/**
 * Whether it is asked.
 */
enabled: boolean, 
/**
 * It stands in no file: it is there by default.
 */
by_default: boolean, 
/**
 * Where it is, without secrets.
 */
at: string, 
/**
 * With `check`: whether it answered.
 */
reachable: boolean | null, 
/**
 * With `check`: what it said.
 */
found: string | null, };

/**
 * Something that is on or off.
 */
export type Switch = { 
/**
 * It is on.
 */
on: boolean, 
/**
 * It can be switched here.
 */
possible: boolean, 
/**
 * What there is to say about it.
 */
note: string | null, };

/**
 * Something of the system's.
 */
export type Switching = { 
/**
 * Which.
 */
which: Which, 
/**
 * On or off.
 */
on: boolean, };

/**
 * One agent, or all.
 */
export type Target = { 
/**
 * Registry id; `null` for all.
 */
agent: string | null, 
/**
 * Also where it interrupts a turn.
 */
now: boolean, };

/**
 * A text for an agent.
 */
export type Tell = { 
/**
 * Registry id.
 */
agent: string, 
/**
 * The text.
 */
text: string, };

/**
 * A terminal that can be chosen.
 */
export type TerminalChoice = { 
/**
 * Name in the configuration.
 */
name: string, 
/**
 * Name for people.
 */
display: string, 
/**
 * It is on this machine.
 */
installed: boolean, 
/**
 * What it needs or cannot do.
 */
note: string | null, };

/**
 * What the tray icon says, by shape and number.
 */
export type Tray = { 
/**
 * Shape.
 */
shape: Shape, 
/**
 * Number in it; 0 shows none.
 */
number: number, 
/**
 * For tooltip and `VoiceOver`: "Prime Agent Orchestrator — 2 working, 1 needs you".
 */
label: string, };

/**
 * Something that keeps the app from doing its work.
 */
export type Trouble = { 
/**
 * Names its kind, e.g. `no-agent`, `no-keyring`, `config`, `registry`.
 */
kind: string, 
/**
 * What happened.
 */
message: string, 
/**
 * One next step.
 */
next: string, 
/**
 * The same as something a window can do at once.
 */
action: Action | null, };

/**
 * One state and since when.
 */
export type Turn = { 
/**
 * Since when.
 */
at: string, 
/**
 * The state.
 */
state: AgentState, 
/**
 * What it waited for.
 */
needs: string | null, 
/**
 * The evidence.
 */
by: string | null, };

/**
 * A cleanup that can be undone.
 */
export type Undoable = { 
/**
 * Its id.
 */
id: string, 
/**
 * When it was done.
 */
at: string, 
/**
 * How many agents.
 */
agents: number, };

/**
 * What can be done with an agent.
 */
export type Verb = "focus" | "tell" | "checkpoint" | "pause" | "resume" | "handover" | "rebrief" | "forget";

/**
 * What of the system's can be switched.
 */
export type Which = "login-item" | "notifications" | "file-manager" | "command-line";

/**
 * What a spawn is to be, as chosen so far. What is `null` follows the folder's last choices.
 */
export type Wish = { 
/**
 * What the agent is to do.
 */
text: string, 
/**
 * The folder the user chose; it goes before one that is named in the text.
 */
folder: string | null, 
/**
 * The folder that is shown as long as neither is there: a folder named in the text goes before it.
 */
otherwise: string | null, 
/**
 * Name for the agent.
 */
name: string | null, 
/**
 * `ask`, `accept-edits`, `plan` or `skip`.
 */
permission: string | null, 
/**
 * `auto`, `session` or `files`.
 */
delivery: string | null, 
/**
 * `auto` or a terminal's name.
 */
terminal: string | null, 
/**
 * Kind of host agent.
 */
agent: string | null, 
/**
 * Token budget.
 */
budget: number | null, 
/**
 * Sources not to ask.
 */
without_sources: Array<string>, 
/**
 * Start it in a git worktree of its own.
 */
worktree: boolean, 
/**
 * The briefing as the user edited it.
 */
markdown: string | null, };

