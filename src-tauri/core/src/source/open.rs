//! From the configuration to the sources that are asked.
//!
//! Nothing is connected to here and nothing fails: a source with unusable settings becomes one that says so when it
//! is asked, so that it is reported beside the others and never stops a spawn.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::worker::Pauses;
use super::{Answer, Limited, Limits, Question, Source, SourceError, history, postgres, worker};
use crate::config::{Config, HistoryConfig, SourceConfig};
use crate::host::Host;
use crate::host::secrets::SecretStore;
use crate::registry::Registry;

/// Snippets a source may return: more than a briefing holds, so that fusion has a choice.
const SNIPPETS: usize = 40;

/// The enabled sources in the order of their names, each with its limits.
pub fn open(config: &Config, host: &Host, secrets: &SecretStore, pauses: &Arc<dyn Pauses>) -> Vec<Limited> {
    let mut sources = config.sources.clone();
    if let Some(name) = config.implied_history() {
        sources.insert(name.to_owned(), SourceConfig::History(HistoryConfig::default()));
    }
    let enabled = sources.iter().filter(|(_, source)| source.enabled());
    enabled
        .map(|(name, source)| {
            let (built, deadline): (Result<Arc<dyn Source>, _>, _) = match source {
                SourceConfig::History(c) => (Ok(Arc::new(history::open(name, c, host))), c.deadline_ms),
                SourceConfig::Postgres(c) => {
                    (postgres::open(name, c, secrets).map(|s| Arc::new(s) as _), c.deadline_ms)
                }
                SourceConfig::Worker(c) => {
                    let built = worker::open(name, c, host, secrets, Arc::clone(pauses));
                    (built.map(|s| Arc::new(s) as _), c.deadline_ms)
                }
            };
            let unusable = |error| Arc::new(Unusable { name: name.clone(), kind: source.kind(), error }) as _;
            let deadline = Duration::from_millis(deadline.unwrap_or(config.spawn.deadline_ms));
            (built.unwrap_or_else(unusable), Limits { snippets: SNIPPETS, deadline })
        })
        .collect()
}

/// A source whose settings cannot be used.
struct Unusable {
    name: String,
    kind: &'static str,
    error: SourceError,
}

#[async_trait::async_trait]
impl Source for Unusable {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> String {
        format!("{} with unusable settings", self.kind)
    }

    async fn recall(&self, _: &Question, _: Limits) -> Result<Answer, SourceError> {
        Err(self.error.clone())
    }

    async fn check(&self, _: Limits) -> Result<String, SourceError> {
        Err(self.error.clone())
    }
}

/// A registry that cannot be read or written costs a server one request too many, never an answer.
#[async_trait::async_trait]
impl Pauses for Registry {
    async fn until(&self, source: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.paused_until(source, now).await.ok().flatten()
    }

    async fn pause(&self, source: &str, until: DateTime<Utc>) {
        if let Err(error) = self.pause_source(source, until).await {
            tracing::warn!(source, %error, "the pause is not remembered");
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    struct NoPauses;

    #[async_trait::async_trait]
    impl Pauses for NoPauses {
        async fn until(&self, _: &str, _: DateTime<Utc>) -> Option<DateTime<Utc>> {
            None
        }

        async fn pause(&self, _: &str, _: DateTime<Utc>) {}
    }

    fn opened(text: &str) -> Vec<Limited> {
        let host = Host::at("/nowhere".as_ref());
        let secrets = SecretStore::new(&host, "file").unwrap();
        open(&toml::from_str(text).unwrap(), &host, &secrets, &(Arc::new(NoPauses) as _))
    }

    fn names(text: &str) -> Vec<String> {
        opened(text).iter().map(|(source, _)| source.name().to_owned()).collect()
    }

    #[test]
    fn transcripts_are_asked_without_being_configured_unless_switched_off() {
        assert_eq!(names(""), ["history"]);
        assert_eq!(names("[sources.past]\nkind = 'history'"), ["past"]);
        assert_eq!(names("[sources.past]\nkind = 'history'\nenabled = false"), [""; 0]);
        let taken = "[sources.history]\nkind = 'postgres'\nurl = 'postgres://u@h/db'";
        assert_eq!(names(taken), ["history", "transcripts"]);
    }

    #[test]
    fn sources_come_in_the_order_of_their_names_each_with_its_deadline() {
        let opened = opened(
            "[spawn]\ndeadline_ms = 700\n\
             [sources.zoo]\nkind = 'postgres'\nurl = 'postgres://u@h/db'\n\
             [sources.ant]\nkind = 'worker'\nurl = 'https://w.example/rpc'\nprotocol = 'mcp'\ndeadline_ms = 90\n\
             [sources.off]\nkind = 'worker'\nurl = 'https://w.example/rpc'\nprotocol = 'mcp'\nenabled = false",
        );
        let seen: Vec<_> = opened.iter().map(|(s, l)| (s.name(), l.deadline.as_millis())).collect();
        assert_eq!(seen, [("ant", 90), ("history", 700), ("zoo", 700)]);
    }

    #[tokio::test]
    async fn a_source_with_unusable_settings_is_reported_when_asked() {
        let opened = opened("[sources.facts]\nkind = 'postgres'\nurl = 'postgres://u:FAKE@h/db'");
        let (source, limits) = &opened[0];
        let error = source.check(*limits).await.unwrap_err().to_string();
        assert!(error.contains("contains a password") && !error.contains("FAKE"), "{error}");
        assert_eq!(source.describe(), "postgres with unusable settings");
    }
}
