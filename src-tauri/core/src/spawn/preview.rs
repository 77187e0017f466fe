//! The first three rooms for a face that shows what a spawn would do while it is still being typed. Writes nothing but our
//! own list of what was shown.

use tokio_util::sync::CancellationToken;

use super::passed::{Permission, Way};
use super::request::{Brief, Delivery, Face, Request};
use super::rooms::ground;
use super::steps::Steps;
use super::{as_brief, trust, warm};
use crate::agent::HostAgent;
use crate::{Context, Error};

/// A briefing, and the choices that a spawn would follow.
#[derive(Debug, Clone, PartialEq)]
pub struct Previewed {
    /// Everything up to the briefing.
    pub brief: Brief,
    /// The host agent.
    pub agent: &'static HostAgent,
    /// `auto` or a terminal's name.
    pub terminal: String,
    /// What the agent may do without asking.
    pub permission: Permission,
    /// How the briefing would be delivered.
    pub delivery: Delivery,
    /// Token budget.
    pub budget: usize,
    /// What trusting the folder would enable, a phrase each; `None` where that is not asked, or not known because the
    /// host agent is not installed.
    pub trust: Option<Vec<String>>,
}

/// Gathers, composes and says what was settled.
pub async fn preview(
    context: &Context,
    request: &Request,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<Previewed, Error> {
    let steps = Steps::new(face);
    let warm = warm(context, request, &steps, cancel).await?;
    let settled = &warm.settled;
    let known = context.registry.consents(&warm.topic.folder, settled.agent.kind).await?;
    let topic = &warm.topic;
    let trust = match ground(context, settled.agent).await {
        Ok(ground) if !trust::look(&ground.trust(topic)).unwrap_or(false) => {
            Some(trust::enables(settled.agent, &topic.folder, &topic.project))
                .filter(|enables| !known.trusts(enables.mark.as_deref()))
                .map(|enables| enables.shown)
        }
        _ => None,
    };
    Ok(Previewed {
        agent: settled.agent,
        terminal: settled.terminal.clone(),
        permission: settled.permission,
        delivery: settled.way.map_or(Delivery::Auto, |way: Way| Delivery::By(way)),
        budget: settled.budget,
        trust,
        brief: as_brief(context, warm, &steps).await?,
    })
}
