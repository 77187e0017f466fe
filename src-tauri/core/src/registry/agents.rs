//! Agent rows: one per agent for its whole life, through every change of session id.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::claims::{self, Claim};
use super::{Registry, RegistryError, stamp, time};
use crate::Error;
use crate::host::awake::Awake;
use crate::host::process::{Identity, Started};
use crate::spawn::passed::{Permission, Receipt, Way};

/// What an agent is doing, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Being started.
    Starting,
    /// In a turn.
    Working,
    /// Waits for the user.
    NeedsYou,
    /// Ready for the next prompt.
    Idle,
    /// Ended on purpose, to be resumed.
    Paused,
    /// Ended.
    Ended,
    /// Gone without a word.
    Lost,
}

impl State {
    /// Name in rows and JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::Starting => "starting",
            State::Working => "working",
            State::NeedsYou => "needs-you",
            State::Idle => "idle",
            State::Paused => "paused",
            State::Ended => "ended",
            State::Lost => "lost",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        use State::{Ended, Idle, Lost, NeedsYou, Paused, Starting, Working};
        [Starting, Working, NeedsYou, Idle, Paused, Ended, Lost].into_iter().find(|s| s.name() == name)
    }

    /// Whether a process is expected to exist.
    pub fn live(self) -> bool {
        !matches!(self, State::Paused | State::Ended | State::Lost)
    }
}

/// The agent another one started from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its registry id. Its row may be gone.
    pub agent: String,
    /// Its name at that time.
    pub name: String,
    /// The checkpoint that was started from; `None` where its work was handed over.
    pub checkpoint: Option<String>,
}

impl Origin {
    /// How one came from the other, in JSON: `fork` or `handover`.
    pub fn way(&self) -> &'static str {
        if self.checkpoint.is_some() { "fork" } else { "handover" }
    }

    /// The same for people.
    pub fn told(&self) -> String {
        let Self { agent, name, checkpoint } = self;
        match checkpoint {
            Some(checkpoint) => format!("forked from checkpoint {checkpoint} of {name} ({agent})"),
            None => format!("handed over by {name} ({agent})"),
        }
    }
}

/// One agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Registry id; names the private folder.
    pub id: String,
    /// Name, unique among agents that have not ended.
    pub name: String,
    /// Where it works (realpath).
    pub folder: PathBuf,
    /// Identity of the project.
    pub project: String,
    /// Kind of host agent, e.g. `claude-code`.
    pub host_agent: String,
    /// What it was asked to do.
    pub prompt: Option<String>,
    /// What the sources were asked.
    pub query: String,
    /// What it may do without asking.
    pub permission: Permission,
    /// How its briefing is delivered.
    pub way: Way,
    /// SHA-256 of the briefing.
    pub briefing_hash: Option<String>,
    /// Current conversation id.
    pub session: Option<String>,
    /// Terminal that runs it.
    pub terminal: Option<String>,
    /// That terminal's handle.
    pub handle: Option<String>,
    /// Its process.
    pub process: Option<Identity>,
    /// Its terminal device.
    pub tty: Option<String>,
    /// What it is doing.
    pub state: State,
    /// What it waits for.
    pub needs: Option<String>,
    /// Since when it does that.
    pub state_at: DateTime<Utc>,
    /// The evidence that state rests on, a short phrase: "hook `PermissionRequest`".
    pub state_by: Option<String>,
    /// What is known about the prompt's arrival.
    pub receipt: Option<Receipt>,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// Last sign of life.
    pub sign_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Version of the host agent it was started with.
    pub version: Option<String>,
    /// The user's own arguments it was started with.
    pub args: Vec<String>,
    /// The git worktree that was made for it, where one was.
    pub worktree: Option<PathBuf>,
    /// When it was cleaned up: kept for looking back, listed only on request.
    pub archived_at: Option<DateTime<Utc>>,
    /// Who is pausing it or bringing it back right now.
    pub claim: Option<Claim>,
    /// Since when it is being started, by the clock that stands still while the machine sleeps.
    pub starting_since: Option<Awake>,
    /// From whom it came, where it did not start from nothing.
    pub origin: Option<Origin>,
}

impl Agent {
    /// An agent that is about to be started, of which nothing more is known yet.
    pub fn starting(id: &str, name: &str, folder: &Path, host_agent: &str, now: DateTime<Utc>) -> Self {
        Self {
            id: id.to_string(),
            name: name.to_string(),
            folder: folder.to_path_buf(),
            project: folder.to_string_lossy().into_owned(),
            host_agent: host_agent.to_string(),
            prompt: None,
            query: String::new(),
            permission: Permission::Ask,
            way: Way::Session,
            briefing_hash: None,
            session: None,
            terminal: None,
            handle: None,
            process: None,
            tty: None,
            state: State::Starting,
            needs: None,
            receipt: None,
            created_at: now,
            sign_at: now,
            ended_at: None,
            state_at: now,
            state_by: None,
            version: None,
            args: Vec::new(),
            worktree: None,
            archived_at: None,
            claim: None,
            starting_since: Some(Awake::now()),
            origin: None,
        }
    }
}

impl Permission {
    /// Name in rows, options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Permission::Ask => "ask",
            Permission::AcceptEdits => "accept-edits",
            Permission::Plan => "plan",
            Permission::Skip => "skip",
        }
    }

    /// The profile of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        use Permission::{AcceptEdits, Ask, Plan, Skip};
        [Ask, AcceptEdits, Plan, Skip].into_iter().find(|p| p.name() == name)
    }
}

impl Way {
    /// Name in rows, options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Way::Session => "session",
            Way::Files => "files",
        }
    }

    /// The way of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Way::Session, Way::Files].into_iter().find(|w| w.name() == name)
    }
}

impl Receipt {
    /// Name in rows and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Receipt::Sent => "sent",
            Receipt::Confirmed => "confirmed",
            Receipt::Unknown => "unknown",
        }
    }

    /// The receipt of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Receipt::Sent, Receipt::Confirmed, Receipt::Unknown].into_iter().find(|r| r.name() == name)
    }
}

fn named<T>(what: &'static str, value: String, from: fn(&str) -> Option<T>) -> Result<T, RegistryError> {
    from(&value).ok_or(RegistryError::Unreadable { what, value })
}

/// How the process's start is known: by its mark or, in rows of before there was one, by the clock.
fn started(row: &SqliteRow, mark: Option<String>) -> Result<Option<Started>, RegistryError> {
    if let Some(mark) = mark {
        let read =
            mark.parse().map_err(|()| RegistryError::Unreadable { what: "agents.pid_mark", value: mark });
        return read.map(|mark| Some(Started::Marked(mark)));
    }
    let clock: Option<i64> = row.try_get("pid_started")?;
    Ok(clock.and_then(|seconds| u64::try_from(seconds).ok()).map(Started::Clock))
}

fn agent(row: &SqliteRow) -> Result<Agent, RegistryError> {
    let pid: Option<u32> = row.try_get("pid")?;
    let mark: Option<String> = row.try_get("pid_mark")?;
    let since: Option<String> = row.try_get("starting_since")?;
    let receipt: Option<String> = row.try_get("receipt")?;
    let ended: Option<String> = row.try_get("ended_at")?;
    let archived: Option<String> = row.try_get("archived_at")?;
    // Rows of before there was such a column.
    let turned: String = match row.try_get("state_at")? {
        Some(at) => at,
        None => row.try_get("sign_at")?,
    };
    let args: String = row.try_get("args")?;
    Ok(Agent {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        folder: PathBuf::from(row.try_get::<String, _>("folder")?),
        project: row.try_get("project")?,
        host_agent: row.try_get("host_agent")?,
        prompt: row.try_get("prompt")?,
        query: row.try_get("query")?,
        permission: named("agents.permission", row.try_get("permission")?, Permission::from_name)?,
        way: named("agents.way", row.try_get("way")?, Way::from_name)?,
        briefing_hash: row.try_get("briefing_hash")?,
        session: row.try_get("session")?,
        terminal: row.try_get("terminal")?,
        handle: row.try_get("handle")?,
        process: pid.zip(started(row, mark)?).map(|(pid, started)| Identity { pid, started }),
        tty: row.try_get("tty")?,
        state: named("agents.state", row.try_get("state")?, State::from_name)?,
        needs: row.try_get("needs")?,
        receipt: receipt.map(|r| named("agents.receipt", r, Receipt::from_name)).transpose()?,
        created_at: time("agents.created_at", row.try_get("created_at")?)?,
        sign_at: time("agents.sign_at", row.try_get("sign_at")?)?,
        ended_at: ended.map(|t| time("agents.ended_at", &t)).transpose()?,
        state_at: time("agents.state_at", &turned)?,
        state_by: row.try_get("state_by")?,
        version: row.try_get("version")?,
        args: serde_json::from_str(&args)
            .map_err(|_| RegistryError::Unreadable { what: "agents.args", value: args })?,
        worktree: row.try_get::<Option<String>, _>("worktree")?.map(PathBuf::from),
        archived_at: archived.map(|t| time("agents.archived_at", &t)).transpose()?,
        claim: claims::claim(row)?,
        starting_since: since.and_then(|since| since.parse().ok()),
        origin: origin(row)?,
    })
}

fn origin(row: &SqliteRow) -> Result<Option<Origin>, RegistryError> {
    let Some(agent) = row.try_get::<Option<String>, _>("origin")? else { return Ok(None) };
    let name: Option<String> = row.try_get("origin_name")?;
    Ok(Some(Origin { agent, name: name.unwrap_or_default(), checkpoint: row.try_get("origin_checkpoint")? }))
}

/// A statement that reads whole rows. The columns are named: another process may add some while this one runs, and
/// a connection that knows of fewer than it is given breaks down.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, folder, project, host_agent, prompt, query, permission, way, briefing_hash,",
            " session, terminal, handle, pid, pid_started, tty, state, needs, receipt, created_at,",
            " sign_at, ended_at, state_at, state_by, version, args, worktree, archived_at, claim,",
            " claim_at, ends_as, pid_mark, starting_since, origin, origin_name, origin_checkpoint",
            " FROM agents ",
            $rest
        )
    };
}

/// No agent has that name or id.
pub fn nobody(word: &str) -> Error {
    Error::user(format!("there is no agent {word}"), "see `pao agents --all`")
        .in_window("look at the list of agents: it may have been cleaned up meanwhile")
}

impl Registry {
    /// Adds an agent. Its name must not be another live agent's.
    pub async fn add(&self, agent: &Agent) -> Result<(), RegistryError> {
        let done = sqlx::query(
            "INSERT INTO agents (id, name, folder, project, host_agent, prompt, query, permission, way, briefing_hash,
                session, terminal, handle, state, needs, receipt, created_at, sign_at, state_at, version,
                args, worktree, starting_since, origin, origin_name, origin_checkpoint)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&agent.id)
        .bind(&agent.name)
        .bind(agent.folder.to_string_lossy())
        .bind(&agent.project)
        .bind(&agent.host_agent)
        .bind(&agent.prompt)
        .bind(&agent.query)
        .bind(agent.permission.name())
        .bind(agent.way.name())
        .bind(&agent.briefing_hash)
        .bind(&agent.session)
        .bind(&agent.terminal)
        .bind(&agent.handle)
        .bind(agent.state.name())
        .bind(&agent.needs)
        .bind(agent.receipt.map(Receipt::name))
        .bind(stamp(agent.created_at))
        .bind(stamp(agent.sign_at))
        .bind(stamp(agent.state_at))
        .bind(&agent.version)
        .bind(serde_json::Value::from(agent.args.clone()).to_string())
        .bind(agent.worktree.as_deref().map(Path::to_string_lossy))
        .bind(agent.starting_since.map(|since| since.to_string()))
        .bind(agent.origin.as_ref().map(|origin| &origin.agent))
        .bind(agent.origin.as_ref().map(|origin| &origin.name))
        .bind(agent.origin.as_ref().and_then(|origin| origin.checkpoint.as_ref()))
        .execute(&mut *self.lock().await)
        .await;
        match done {
            Err(sqlx::Error::Database(e)) if e.is_unique_violation() => {
                Err(RegistryError::NameTaken(agent.name.clone()))
            }
            other => other.map(drop).map_err(Into::into),
        }
    }

    /// All agents, newest first.
    pub async fn agents(&self) -> Result<Vec<Agent>, RegistryError> {
        let rows =
            sqlx::query(select!("ORDER BY created_at DESC, id")).fetch_all(&mut *self.lock().await).await?;
        Ok(self.readable(&rows, super::AGENTS, agent))
    }

    /// Whether that is the registry id of an agent whose row does not read.
    pub fn is_unreadable(&self, id: &str) -> bool {
        self.unreadable().iter().any(|row| row.table == super::AGENTS && row.agent == id)
    }

    /// Names that live agents have, also those whose rows do not read.
    pub async fn live_names(&self) -> Result<BTreeSet<String>, RegistryError> {
        let rows = sqlx::query("SELECT name FROM agents WHERE ended_at IS NULL")
            .fetch_all(&mut *self.lock().await)
            .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// The agent of that registry id.
    pub async fn agent(&self, id: &str) -> Result<Option<Agent>, RegistryError> {
        let row =
            sqlx::query(select!("WHERE id = ?")).bind(id).fetch_optional(&mut *self.lock().await).await?;
        row.as_ref().map(agent).transpose()
    }

    /// The agent of that name or id (or a unique beginning of an id of at least four characters): a live one
    /// first, else the newest.
    pub async fn find(&self, word: &str) -> Result<Option<Agent>, RegistryError> {
        let agents = self.agents().await?;
        let named = |a: &&Agent| a.name == word || a.id == word;
        let found = agents.iter().filter(named).find(|a| a.ended_at.is_none());
        let found = found.or_else(|| agents.iter().find(named)).or_else(|| {
            let mut starts = agents.iter().filter(|a| word.len() >= 4 && a.id.starts_with(word));
            starts.next().filter(|_| starts.next().is_none())
        });
        Ok(found.cloned())
    }

    /// The same, which must be there.
    pub async fn named(&self, word: &str) -> Result<Agent, Error> {
        self.find(word).await?.ok_or_else(|| nobody(word))
    }

    /// Others of the same name, where that agent was found by a name that no live one has.
    pub async fn namesakes(&self, found: &Agent) -> Result<Vec<Agent>, RegistryError> {
        let mut agents = self.agents().await?;
        agents.retain(|a| found.ended_at.is_some() && a.name == found.name && a.id != found.id);
        Ok(agents)
    }

    /// Notes which briefing an agent was given and by which way.
    pub async fn set_briefing(&self, id: &str, hash: &str, way: Way) -> Result<(), RegistryError> {
        sqlx::query("UPDATE agents SET briefing_hash = ?, way = ? WHERE id = ?")
            .bind(hash)
            .bind(way.name())
            .bind(id)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(())
    }

    /// Notes where an agent was started.
    pub async fn set_terminal(&self, id: &str, terminal: &str, handle: &str) -> Result<(), RegistryError> {
        sqlx::query("UPDATE agents SET terminal = ?, handle = ? WHERE id = ?")
            .bind(terminal)
            .bind(handle)
            .bind(id)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(())
    }

    /// Notes the process that is about to become the agent.
    pub async fn set_process(
        &self,
        id: &str,
        process: Identity,
        tty: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<(), RegistryError> {
        let (clock, mark) = match process.started {
            Started::Clock(seconds) => (i64::try_from(seconds).ok(), None),
            Started::Marked(mark) => (None, Some(mark.to_string())),
        };
        sqlx::query(
            "UPDATE agents SET pid = ?, pid_started = ?, pid_mark = ?, tty = ?, sign_at = ?
             WHERE id = ?",
        )
        .bind(process.pid)
        .bind(clock)
        .bind(mark)
        .bind(tty)
        .bind(stamp(now))
        .bind(id)
        .execute(&mut *self.lock().await)
        .await?;
        Ok(())
    }

    /// Notes what an agent is doing, and the evidence for it. A live state is a sign of life; ended and lost end
    /// the agent, or leave it paused where it was being paused (see [`Claim::ends_as`]).
    pub async fn set_state(
        &self,
        id: &str,
        state: State,
        needs: Option<&str>,
        by: &str,
        now: DateTime<Utc>,
    ) -> Result<(), RegistryError> {
        claims::turn(&mut *self.lock().await, id, state, needs, by, now, state.live()).await
    }

    /// Puts an agent aside, or (`None`) back among the others.
    pub async fn set_archived(&self, id: &str, at: Option<DateTime<Utc>>) -> Result<(), RegistryError> {
        sqlx::query("UPDATE agents SET archived_at = ? WHERE id = ?")
            .bind(at.map(stamp))
            .bind(id)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(())
    }

    /// Puts an agent aside if it is still as it was looked at, and claims it for `by` until [`Registry::release`];
    /// false when it is not, or somebody has a claim to it. A paused one ends thereby, so that its name is free.
    pub async fn archive_as_seen(
        &self,
        seen: &Agent,
        by: Identity,
        at: DateTime<Utc>,
    ) -> Result<bool, RegistryError> {
        let paused = seen.state == State::Paused;
        let done = sqlx::query(
            "UPDATE agents SET archived_at = ?1, state = CASE WHEN ?2 THEN 'ended' ELSE state END,
                state_by = CASE WHEN ?2 THEN 'cleanup' ELSE state_by END,
                state_at = CASE WHEN ?2 THEN ?1 ELSE state_at END,
                ended_at = coalesce(ended_at, ?1), claim = ?8, claim_at = ?1, ends_as = NULL
             WHERE id = ?3 AND archived_at IS NULL AND claim IS NULL AND state = ?4 AND pid IS ?5 AND sign_at = ?6
                AND handle IS ?7",
        )
        .bind(stamp(at))
        .bind(paused)
        .bind(&seen.id)
        .bind(seen.state.name())
        .bind(seen.process.map(|p| p.pid))
        .bind(stamp(seen.sign_at))
        .bind(&seen.handle)
        .bind(claims::written(by))
        .execute(&mut *self.lock().await)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Takes an agent that was put aside at that time back among the others, paused again where it was; false
    /// when it was put aside at another time or not at all. Refused where a paused one's name is taken meanwhile.
    pub async fn unarchive(
        &self,
        id: &str,
        put_aside: DateTime<Utc>,
        paused: bool,
        now: DateTime<Utc>,
    ) -> Result<bool, RegistryError> {
        let done = sqlx::query(
            "UPDATE agents SET archived_at = NULL, state = CASE WHEN ?1 THEN 'paused' ELSE state END,
                state_by = CASE WHEN ?1 THEN 'undo of a cleanup' ELSE state_by END,
                state_at = CASE WHEN ?1 THEN ?2 ELSE state_at END,
                ended_at = CASE WHEN ?1 THEN NULL ELSE ended_at END
             WHERE id = ?3 AND archived_at = ?4",
        )
        .bind(paused)
        .bind(stamp(now))
        .bind(id)
        .bind(stamp(put_aside))
        .execute(&mut *self.lock().await)
        .await;
        match done {
            Err(sqlx::Error::Database(e)) if e.is_unique_violation() => {
                Err(RegistryError::NameTaken(id.to_string()))
            }
            other => Ok(other?.rows_affected() == 1),
        }
    }

    /// Notes what is known about the prompt's arrival.
    pub async fn set_receipt(&self, id: &str, receipt: Receipt) -> Result<(), RegistryError> {
        sqlx::query("UPDATE agents SET receipt = ? WHERE id = ?")
            .bind(receipt.name())
            .bind(id)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(())
    }

    /// Removes an agent's row with its events and settled changes.
    pub async fn forget(&self, id: &str) -> Result<(), RegistryError> {
        let mut connection = self.lock().await;
        let mut transaction = sqlx::Connection::begin(&mut *connection).await?;
        for statement in [
            "DELETE FROM events WHERE agent = ?",
            "DELETE FROM changes WHERE agent = ?",
            "DELETE FROM agents WHERE id = ?",
        ] {
            sqlx::query(statement).bind(id).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}
