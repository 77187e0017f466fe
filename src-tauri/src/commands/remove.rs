//! Every trace of ours, listed and removed.

use std::sync::atomic::Ordering;

use pao_core::Error;
use pao_core::uninstall;
use pao_core::wire::door::Outcome;

use crate::shell::Shell;

pub async fn traces(shell: &Shell, _with: ()) -> Result<Vec<Outcome>, Error> {
    let plan = uninstall::plan(&shell.host).await?;
    let trace = |trace: uninstall::Trace| Outcome::new(trace.what, "is there", true);
    Ok(plan.traces.into_iter().map(trace).collect())
}

pub async fn everything(shell: &Shell, end: bool) -> Result<Vec<Outcome>, Error> {
    let plan = uninstall::plan(&shell.host).await?;
    if !plan.running.is_empty() && !end {
        let mut error = uninstall::still_running(&plan.running);
        error.next = "end them yourself, or let the app end them".into();
        return Err(error);
    }
    // Nobody may write into what is being removed.
    shell.watch(None);
    let removed = uninstall::remove(&shell.host, &plan.traces, end).await?;
    shell.removed.store(true, Ordering::Relaxed);
    shell.refresh().await;
    let outcome = |r: uninstall::Removed| Outcome::new(r.what, r.outcome, r.gone);
    Ok(removed.into_iter().map(outcome).collect())
}
