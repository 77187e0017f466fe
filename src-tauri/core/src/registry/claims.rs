//! Claims: which process is pausing an agent or bringing it back right now, so that two never do at once, and so
//! that a claim whose process was killed can be told and settled.
//!
//! While an agent is being paused its end means rest: whoever sees the end first (its own last hook, a sweep, the
//! process that pauses) writes the same state, and its name stays taken without a moment's gap.

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::agents::State;
use super::{Registry, RegistryError, stamp, time};
use crate::host::awake::Awake;
use crate::host::process::Identity;

/// One process's claim to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Which process.
    pub by: Identity,
    /// Since when.
    pub at: DateTime<Utc>,
    /// What the agent's end means while this lasts, where it means something else than its end.
    pub ends_as: Option<State>,
}

/// The agent as it is when it is taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenUp<'a> {
    /// Its name from now on.
    pub name: &'a str,
    /// Where it works from now on (realpath).
    pub folder: &'a str,
    /// Version of the host agent it is started with.
    pub version: Option<&'a str>,
}

pub(super) fn claim(row: &SqliteRow) -> Result<Option<Claim>, RegistryError> {
    let (Some(by), Some(at)) =
        (row.try_get::<Option<String>, _>("claim")?, row.try_get::<Option<String>, _>("claim_at")?)
    else {
        return Ok(None);
    };
    let unreadable = |what, value: &str| RegistryError::Unreadable { what, value: value.to_string() };
    let identity = by
        .split_once(' ')
        .and_then(|(pid, started)| Some(Identity { pid: pid.parse().ok()?, started: started.parse().ok()? }));
    let ends_as: Option<String> = row.try_get("ends_as")?;
    let ends_as = ends_as
        .map(|name| State::from_name(&name).ok_or_else(|| unreadable("agents.ends_as", &name)))
        .transpose()?;
    let by = identity.ok_or_else(|| unreadable("agents.claim", &by))?;
    Ok(Some(Claim { by, at: time("agents.claim_at", &at)?, ends_as }))
}

pub(super) fn written(by: Identity) -> String {
    format!("{} {}", by.pid, by.started)
}

/// Whether an event of that moment tells of an agent's life before it was put to rest or taken up again: it was kept
/// back somewhere and says nothing about now.
pub(super) async fn is_over(
    connection: &mut SqliteConnection,
    id: &str,
    at: DateTime<Utc>,
) -> Result<bool, RegistryError> {
    let found = sqlx::query(
        "SELECT 1 FROM agents WHERE id = ?1 AND ((state = 'paused' AND state_at >= ?2) OR claim_at > ?2)",
    )
    .bind(id)
    .bind(stamp(at))
    .fetch_optional(connection)
    .await?;
    Ok(found.is_some())
}

/// Writes an agent's state. An end of an agent that is being paused is its rest.
pub(super) async fn turn(
    connection: &mut SqliteConnection,
    id: &str,
    state: State,
    needs: Option<&str>,
    by: &str,
    now: DateTime<Utc>,
    sign: bool,
) -> Result<(), RegistryError> {
    let ends = matches!(state, State::Ended | State::Lost);
    sqlx::query(
        "UPDATE agents SET state = CASE WHEN ?6 AND ends_as IS NOT NULL THEN ends_as ELSE ?1 END, needs = ?2,
            state_by = ?3, state_at = ?4, sign_at = CASE WHEN ?5 THEN ?4 ELSE sign_at END,
            ended_at = CASE WHEN ?6 AND coalesce(ends_as, '') <> 'paused' THEN ?4 ELSE NULL END
         WHERE id = ?7",
    )
    .bind(state.name())
    .bind(needs)
    .bind(by)
    .bind(stamp(now))
    .bind(sign)
    .bind(ends)
    .bind(id)
    .execute(connection)
    .await?;
    Ok(())
}

impl Registry {
    /// Claims an agent that lives, to pause it. False where it no longer stands as `seen` (state's liveness,
    /// claim): somebody else was faster.
    pub async fn claim_to_pause(
        &self,
        id: &str,
        seen: Option<Claim>,
        by: Identity,
        now: DateTime<Utc>,
    ) -> Result<bool, RegistryError> {
        let done = sqlx::query(
            "UPDATE agents SET claim = ?, claim_at = ?, ends_as = 'paused'
             WHERE id = ? AND state NOT IN ('paused', 'ended', 'lost') AND claim IS ?",
        )
        .bind(written(by))
        .bind(stamp(now))
        .bind(id)
        .bind(seen.map(|claim| written(claim.by)))
        .execute(&mut *self.lock().await)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Claims an agent that rests, has ended or was lost, to bring it back: it is starting from now on, without a
    /// process, and falls back to rest (or to its end) should its process end while the claim lasts. False where it
    /// no longer stands as `seen`. Its name must not be another live agent's.
    pub async fn claim_to_resume(
        &self,
        id: &str,
        seen: Option<Claim>,
        taken_up: &TakenUp<'_>,
        by: Identity,
        now: DateTime<Utc>,
    ) -> Result<bool, RegistryError> {
        let done = sqlx::query(
            "UPDATE agents SET claim = ?1, claim_at = ?2, ends_as = CASE state WHEN 'paused' THEN 'paused' END,
                state = 'starting', state_by = 'resume', state_at = ?2, sign_at = ?2, needs = NULL, ended_at = NULL,
                archived_at = NULL, pid = NULL, pid_started = NULL, pid_mark = NULL, tty = NULL, receipt = NULL,
                name = ?3, folder = ?4, version = coalesce(?5, version), starting_since = ?8
             WHERE id = ?6 AND state IN ('paused', 'ended', 'lost') AND claim IS ?7",
        )
        .bind(written(by))
        .bind(stamp(now))
        .bind(taken_up.name)
        .bind(taken_up.folder)
        .bind(taken_up.version)
        .bind(id)
        .bind(seen.map(|claim| written(claim.by)))
        .bind(Awake::now().to_string())
        .execute(&mut *self.lock().await)
        .await;
        match done {
            Err(sqlx::Error::Database(e)) if e.is_unique_violation() => {
                Err(RegistryError::NameTaken(taken_up.name.to_string()))
            }
            other => Ok(other?.rows_affected() == 1),
        }
    }

    /// Gives a claim up; `by` is who held it.
    pub async fn release(&self, id: &str, by: Identity) -> Result<(), RegistryError> {
        sqlx::query(
            "UPDATE agents SET claim = NULL, claim_at = NULL, ends_as = NULL WHERE id = ? AND claim = ?",
        )
        .bind(id)
        .bind(written(by))
        .execute(&mut *self.lock().await)
        .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::host::process::Started;
    use crate::registry::agents::Agent;
    use crate::registry::events::Event;

    const ME: Identity = Identity { pid: 10, started: Started::Clock(100) };
    const OTHER: Identity = Identity { pid: 11, started: Started::Clock(100) };

    fn now() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
    }

    async fn registry() -> Registry {
        let registry = Registry::in_memory().await.unwrap();
        registry.add(&Agent::starting("a", "api", Path::new("/w/api"), "claude-code", now())).await.unwrap();
        registry
    }

    async fn row(registry: &Registry) -> Agent {
        registry.agent("a").await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn the_end_of_an_agent_that_is_being_paused_is_its_rest_whoever_sees_it() {
        for seen_by_hook in [true, false] {
            let registry = registry().await;
            assert!(registry.claim_to_pause("a", None, ME, now()).await.unwrap());
            assert!(!registry.claim_to_pause("a", None, OTHER, now()).await.unwrap(), "claimed already");
            if seen_by_hook {
                let event = Event {
                    agent: "a".into(),
                    at: now(),
                    event: "SessionEnd".into(),
                    session: None,
                    detail: "{}".into(),
                };
                registry.record_event(&event, Some((State::Ended, None)), None).await.unwrap();
            } else {
                registry.set_state("a", State::Lost, None, "process", now()).await.unwrap();
            }
            let seen = row(&registry).await;
            assert_eq!((seen.state, seen.ended_at), (State::Paused, None));
            let rival = Agent::starting("b", "api", Path::new("/w/api"), "claude-code", now());
            assert!(registry.add(&rival).await.is_err(), "its name stays taken");
            registry.release("a", ME).await.unwrap();
            // What its hooks had kept back comes late and changes nothing.
            for state in [State::Idle, State::Ended] {
                let late = Event {
                    agent: "a".into(),
                    at: now() - chrono::TimeDelta::seconds(1),
                    event: "Stop".into(),
                    session: None,
                    detail: "{}".into(),
                };
                registry.record_event(&late, Some((state, None)), None).await.unwrap();
            }
            assert_eq!(row(&registry).await.state, State::Paused);
            assert!(!registry.claim_to_pause("a", None, ME, now()).await.unwrap(), "it rests already");
        }
    }

    #[tokio::test]
    async fn of_two_that_bring_an_agent_back_one_does() {
        let registry = registry().await;
        let taken_up = TakenUp { name: "api", folder: "/w/api", version: None };
        assert!(!registry.claim_to_resume("a", None, &taken_up, ME, now()).await.unwrap(), "it lives");
        registry.set_state("a", State::Paused, None, "pause", now()).await.unwrap();
        assert!(registry.claim_to_resume("a", None, &taken_up, ME, now()).await.unwrap());
        assert!(!registry.claim_to_resume("a", None, &taken_up, OTHER, now()).await.unwrap());
        let claimed = row(&registry).await;
        assert_eq!((claimed.state, claimed.process), (State::Starting, None));
        assert_eq!(claimed.claim.map(|c| (c.by, c.ends_as)), Some((ME, Some(State::Paused))));
        // It comes to nothing: it rests as before.
        registry.set_state("a", State::Ended, None, "process", now()).await.unwrap();
        registry.release("a", OTHER).await.unwrap();
        assert!(row(&registry).await.claim.is_some(), "only its holder gives a claim up");
        registry.release("a", ME).await.unwrap();
        let row = row(&registry).await;
        assert_eq!((row.state, row.ended_at, row.claim), (State::Paused, None, None));
    }

    #[tokio::test]
    async fn an_ended_agent_whose_name_was_taken_comes_back_under_another() {
        let registry = registry().await;
        registry.set_state("a", State::Ended, None, "hook SessionEnd", now()).await.unwrap();
        registry.add(&Agent::starting("b", "api", Path::new("/w/api"), "claude-code", now())).await.unwrap();
        let taken_up = TakenUp { name: "api", folder: "/w/api", version: None };
        let refused = registry.claim_to_resume("a", None, &taken_up, ME, now()).await;
        assert!(matches!(refused, Err(RegistryError::NameTaken(_))));
        let taken_up = TakenUp { name: "api-2", folder: "/w/new", version: Some("2.1.332") };
        assert!(registry.claim_to_resume("a", None, &taken_up, ME, now()).await.unwrap());
        let row = row(&registry).await;
        assert_eq!((&*row.name, row.folder.as_path()), ("api-2", Path::new("/w/new")));
        assert_eq!((row.version.as_deref(), row.ended_at), (Some("2.1.332"), None));
        // Should it end while it starts, it has ended, as before.
        registry.set_state("a", State::Ended, None, "process", now()).await.unwrap();
        assert_eq!(registry.agent("a").await.unwrap().unwrap().state, State::Ended);
    }
}
