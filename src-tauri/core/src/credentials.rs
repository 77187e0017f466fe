//! What the running app does for `pao`: it reads and keeps secrets in its stead, so that the system's store knows one
//! program only. It answers for secrets that a source of the configuration takes, and for no others. A later launch of
//! the app comes the same way.

use std::sync::Arc;

use crate::config::Config;
use crate::host::Host;
use crate::host::secrets::{
    self, Fault, Launch, Reply, Request, SecretError, SecretStore, Service, is_self_test,
};

/// Begins to answer, until the service is dropped. `open` shows what a later launch brings, and says whether it could.
pub async fn serve<O, F>(host: &Host, open: O) -> Result<Service, SecretError>
where
    O: Fn(Launch) -> F + Send + Sync + 'static,
    F: Future<Output = bool> + Send + 'static,
{
    let (own, open) = (host.clone(), Arc::new(open));
    secrets::serve(host, move |request| {
        let (host, open) = (own.clone(), Arc::clone(&open));
        async move {
            match request {
                Request::Open(launch) => {
                    if open(launch).await {
                        Reply::Done
                    } else {
                        Reply::Absent
                    }
                }
                request => answer(&host, request).await,
            }
        }
    })
    .await
}

/// Answers one request. The configuration is read anew, so that what was changed meanwhile counts.
pub async fn answer(host: &Host, request: Request) -> Reply {
    if let Request::Changed(name) = &request {
        secrets::changed(name);
        return Reply::Done;
    }
    let Ok(config) = Config::load(host) else { return Reply::Fault(Fault::Other) };
    let Ok(store) = SecretStore::new(host, &config.secrets.store) else { return Reply::Fault(Fault::Other) };
    let known = |name: &str| is_self_test(name) || config.secret_names().any(|known| known == name);
    let done = match &request {
        Request::Get(name) | Request::Set(name, _) if !known(name) => return Reply::Unknown,
        Request::Get(name) => store.get(name).await.map(|value| value.map_or(Reply::Absent, Reply::Value)),
        Request::Has(name) => {
            store.get(name).await.map(|value| if value.is_some() { Reply::Done } else { Reply::Absent })
        }
        Request::Set(name, value) => store.set(name, value).await.map(|()| Reply::Done),
        // Also of a source that is no longer there.
        Request::Delete(name) => {
            store.delete(name).await.map(|was| if was { Reply::Done } else { Reply::Absent })
        }
        Request::Changed(_) => return Reply::Done,
        Request::Open(_) => return Reply::Unknown,
    };
    done.unwrap_or_else(|error| {
        tracing::info!(%error, "a secret could not be had or kept");
        error.fault().map_or(Reply::File, Reply::Fault)
    })
}
