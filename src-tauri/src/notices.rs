//! Notices on the user's screen. What is to be told is decided by the core; this shows it, in threads of its own and
//! with a deadline, because the system's service may be missing, refuse, or hang, and nothing else may wait for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use pao_core::Error;
use pao_core::config::Config;
use pao_core::life::front::in_front;
use pao_core::view::notices::{self, Change, Notice, SEVERAL, Screen, Told};
use pao_core::wire::door::{AgentRow, Switch};
use tauri::Manager;
use tokio::sync::watch;

use crate::door::Page;
use crate::shell::{Shell, lock};
use crate::{commands, popover, windows};

/// How long agents are given to settle: what they ask in one breath is told in one.
const SETTLE: Duration = Duration::from_millis(400);
/// How long the system may take to show a notice, or to say that it can.
const LIMIT: Duration = Duration::from_secs(5);
/// How long the user may take to allow notices when the system asks them.
const ASKED: Duration = Duration::from_mins(2);
/// How many notices may hang in the system before no more are tried.
const HANGING: usize = 3;

/// The notices of this run of the app.
pub struct Notices {
    agents: watch::Sender<Vec<AgentRow>>,
    screen: Mutex<Screen>,
    orders: Mutex<Option<mpsc::Sender<Order>>>,
}

impl Default for Notices {
    fn default() -> Self {
        Self { agents: watch::channel(Vec::new()).0, screen: Mutex::default(), orders: Mutex::default() }
    }
}

enum Order {
    Show(Notice),
    Withdraw(String),
    /// The user did away with it, in this its showing.
    Gone(String, u64),
}

/// What the user did with a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Did {
    Clicked,
    Dismissed,
}

/// Begins to watch the agents, for as long as the app runs.
pub fn begin(shell: &Shell) {
    let (give, orders) = mpsc::channel();
    *lock(&shell.notices.orders) = Some(give.clone());
    let own = shell.clone();
    let (tell_gone, mut gone) = tokio::sync::mpsc::unbounded_channel();
    let started = std::thread::Builder::new()
        .name("notices".into())
        .spawn(move || screen(&own, &orders, &give, &tell_gone));
    if let Err(error) = started {
        tracing::warn!(%error, "there will be no notices");
        return;
    }
    let shell = shell.clone();
    tauri::async_runtime::spawn(async move {
        let mut told = Told::default();
        let mut agents = shell.notices.agents.subscribe();
        loop {
            tokio::select! {
                changed = agents.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                Some(id) = gone.recv() => {
                    told.gone(&id);
                    continue;
                }
            }
            tokio::time::sleep(SETTLE).await;
            let now = agents.borrow_and_update().clone();
            turn(&shell, &mut told, &now).await;
        }
    });
}

/// The agents as they are now. Only from a registry that is watched: an empty list is no news.
pub fn turned(shell: &Shell, agents: &[AgentRow]) {
    shell.notices.agents.send_replace(agents.to_vec());
}

async fn turn(shell: &Shell, told: &mut Told, agents: &[AgentRow]) {
    let on = Config::load(&shell.host).is_ok_and(|config| config.app.notifications);
    let fresh = told.fresh(agents);
    let mut front = BTreeSet::new();
    if on && !fresh.is_empty() {
        if ours_is_in_front(shell) {
            front.extend(fresh.iter().map(|row| row.id.clone()));
        } else if let Some(registry) = shell.watched() {
            for row in fresh {
                if let Ok(Some(agent)) = registry.find(&row.id).await
                    && in_front(&shell.host, &agent).await
                {
                    front.insert(row.id.clone());
                }
            }
        }
    }
    for change in told.turn(agents, on, &front) {
        order(
            shell,
            match change {
                Change::Show(notice) => Order::Show(notice),
                Change::Withdraw(id) => Order::Withdraw(id),
            },
        );
    }
}

fn ours_is_in_front(shell: &Shell) -> bool {
    [windows::PANEL, windows::POPOVER].iter().any(|label| {
        let window = shell.app.get_webview_window(label);
        window.is_some_and(|w| w.is_visible().unwrap_or(false) && w.is_focused().unwrap_or(false))
    })
}

/// Tells of a start that failed while the user was looking elsewhere.
pub fn failed(shell: &Shell, job: &str, name: &str, message: &str) {
    let on = Config::load(&shell.host).is_ok_and(|config| config.app.notifications);
    if on && !ours_is_in_front(shell) {
        order(shell, Order::Show(notices::failed(job, name, message)));
    }
}

fn order(shell: &Shell, order: Order) {
    if let Some(orders) = lock(&shell.notices.orders).as_ref() {
        // The thread ends with the app.
        let _ = orders.send(order);
    }
}

/// The switch as it stands, looked at anew where nothing was shown yet.
pub async fn switch(shell: &Shell, on: bool) -> Switch {
    if on && *lock(&shell.notices.screen) != Screen::Fine {
        let found = apart(LIMIT, system::look).await;
        *lock(&shell.notices.screen) = found;
    }
    notices::switch(on, *lock(&shell.notices.screen))
}

/// Switches them on or off. On macOS this is when the system asks the user.
pub async fn set(shell: &Shell, on: bool) -> Result<Switch, Error> {
    {
        let mut editor = pao_core::config::edit::Editor::open(&shell.host)?;
        editor.set("app.notifications", if on { "true" } else { "false" })?;
        editor.save()?;
    }
    if on {
        let found = apart(ASKED, system::ask).await;
        *lock(&shell.notices.screen) = found;
    }
    // What stands is taken back when they were switched off.
    shell.refresh().await;
    Ok(notices::switch(on, *lock(&shell.notices.screen)))
}

/// Has a thread of its own ask the system, and waits at most that long.
async fn apart(limit: Duration, job: fn() -> Screen) -> Screen {
    let (send, receive) = tokio::sync::oneshot::channel();
    let started = std::thread::Builder::new().name("notices-ask".into()).spawn(move || {
        // Nobody may be waiting any more.
        let _ = send.send(job());
    });
    match started {
        Ok(_) => match tokio::time::timeout(limit, receive).await {
            Ok(found) => found.unwrap_or(Screen::Refused),
            Err(_) => Screen::Silent,
        },
        Err(_) => Screen::Refused,
    }
}

/// Does what it is ordered, one after the other.
fn screen(
    shell: &Shell,
    orders: &mpsc::Receiver<Order>,
    give: &mpsc::Sender<Order>,
    gone: &tokio::sync::mpsc::UnboundedSender<String>,
) {
    let mut shown: HashMap<String, (u64, system::Shown)> = HashMap::new();
    let mut hanging: Vec<mpsc::Receiver<Screen>> = Vec::new();
    let mut number = 0;
    for order in orders {
        match order {
            Order::Withdraw(id) => drop(shown.remove(&id)),
            Order::Gone(id, at) => {
                if shown.get(&id).is_some_and(|(number, _)| *number == at) {
                    shown.remove(&id);
                    let _ = gone.send(id);
                }
            }
            Order::Show(notice) => {
                hanging.retain(|one| matches!(one.try_recv(), Err(mpsc::TryRecvError::Empty)));
                if hanging.len() >= HANGING {
                    continue;
                }
                number += 1;
                let (id, at, give, own) = (notice.id.clone(), number, give.clone(), shell.clone());
                let before = shown.remove(&id).map(|(_, shown)| shown);
                let (tell, told) = mpsc::channel();
                let begun = system::show(&notice, before, tell, move |did| {
                    let _ = give.send(Order::Gone(id.clone(), at));
                    if did == Did::Clicked {
                        clicked(&own, id);
                    }
                });
                let found = match &begun {
                    Some(_) => match told.recv_timeout(LIMIT) {
                        Ok(found) => found,
                        Err(mpsc::RecvTimeoutError::Timeout) => {
                            hanging.push(told);
                            Screen::Silent
                        }
                        Err(mpsc::RecvTimeoutError::Disconnected) => Screen::Refused,
                    },
                    None => Screen::Refused,
                };
                if found != Screen::Fine {
                    tracing::warn!(?found, "a notice was not shown");
                }
                *lock(&shell.notices.screen) = found;
                if let Some(begun) = begun {
                    shown.insert(notice.id, (number, begun));
                }
            }
        }
    }
}

/// A click leads to the agent: to its terminal, or where that cannot be, to its page.
fn clicked(shell: &Shell, id: String) {
    let shell = shell.clone();
    tauri::async_runtime::spawn(async move {
        if id == SEVERAL {
            return popover::show(&shell.app, None);
        }
        if id.starts_with("job-") {
            let kept = shell.jobs.wanted(&id).is_some();
            return windows::open(&shell.app, if kept { Page::Job { id } } else { Page::spawn(None) });
        }
        match commands::agents::focus(&shell, id.clone()).await {
            Ok(outcome) if outcome.well => {}
            other => {
                if let Err(error) = other {
                    tracing::info!(message = error.message, "a notice led to no terminal");
                }
                windows::open(&shell.app, Page::Agent { id });
            }
        }
    });
}

/// The desktop's notification service. A notice stands as long as its [`Shown`](system::Shown) does.
#[cfg(not(target_os = "macos"))]
mod system {
    use std::sync::mpsc;

    use futures::channel::oneshot;
    use futures::executor::block_on;
    use futures::future::{Either, select};
    use notify_rust::{Hint, Notification, NotificationResponse, Timeout};
    use pao_core::view::notices::{Notice, Screen, as_markup};
    use pao_core::view::tray::APP;

    use super::Did;

    pub struct Shown {
        _stands: oneshot::Sender<()>,
    }

    /// Whether there is a service.
    pub fn look() -> Screen {
        if notify_rust::get_server_information().is_ok() { Screen::Fine } else { Screen::NoService }
    }

    /// Nobody has to be asked here.
    pub fn ask() -> Screen {
        look()
    }

    pub fn show(
        notice: &Notice,
        before: Option<Shown>,
        tell: mpsc::Sender<Screen>,
        did: impl FnOnce(Did) + Send + 'static,
    ) -> Option<Shown> {
        drop(before);
        let (stands, withdrawn) = oneshot::channel::<()>();
        let notice = notice.clone();
        let thread = std::thread::Builder::new().name("notice".into()).spawn(move || {
            let Ok(capabilities) = notify_rust::get_capabilities() else {
                let _ = tell.send(Screen::NoService);
                return;
            };
            let markup = capabilities.iter().any(|one| one == "body-markup");
            let body = if markup { as_markup(&notice.body) } else { notice.body.clone() };
            let mut made = Notification::new();
            made.appname(APP).summary(&notice.title).body(&body).icon("prime-agent-orchestrator");
            made.hint(Hint::DesktopEntry(APP.into())).timeout(Timeout::Never);
            made.action("default", "Open");
            block_on(async {
                let handle = match made.show_async().await {
                    Ok(handle) => handle,
                    Err(error) => {
                        tracing::warn!(%error, "the notification service");
                        let _ = tell.send(Screen::Refused);
                        return;
                    }
                };
                let _ = tell.send(Screen::Fine);
                let acted = Box::pin(handle.wait_for_action_async(|response: &NotificationResponse| {
                    let closed = matches!(response, NotificationResponse::Closed(_));
                    did(if closed { Did::Dismissed } else { Did::Clicked });
                }));
                if let Either::Right(_) = select(acted, withdrawn).await {
                    handle.close_async().await;
                }
            });
        });
        thread.ok().map(|_| Shown { _stands: stands })
    }
}

/// The system's notification centre, which crashes whoever asks it from outside of a bundle: that is looked at first.
#[cfg(target_os = "macos")]
mod system {
    use std::sync::mpsc;
    use std::time::Duration;

    use mac_usernotifications::AuthorizationStatus;
    use notify_rust::{Notification, NotificationId, Timeout};
    use pao_core::view::notices::{Notice, Screen};

    use super::Did;

    /// After this long nobody waits for an answer any more: clearing all notices is none.
    const STANDS: Duration = Duration::from_hours(12);

    pub struct Shown {
        id: Option<String>,
    }

    impl Drop for Shown {
        fn drop(&mut self) {
            if let Some(id) = self.id.take() {
                let close = move || mac_usernotifications::blocking::close_delivered(&id);
                let _ = std::thread::Builder::new().name("notice-close".into()).spawn(close);
            }
        }
    }

    /// Whether notices are allowed. Asks nobody.
    pub fn look() -> Screen {
        if notify_rust::check_bundle().is_err() {
            return Screen::Unbundled;
        }
        match notify_rust::get_notification_settings_blocking() {
            Ok(settings) if allowed(settings.authorization_status) => Screen::Fine,
            Ok(_) | Err(_) => Screen::Refused,
        }
    }

    fn allowed(status: AuthorizationStatus) -> bool {
        matches!(status, AuthorizationStatus::Authorized | AuthorizationStatus::Provisional)
    }

    /// Has the system ask the user, once.
    pub fn ask() -> Screen {
        if notify_rust::check_bundle().is_err() {
            return Screen::Unbundled;
        }
        if notify_rust::request_auth_blocking().unwrap_or(false) { Screen::Fine } else { Screen::Refused }
    }

    pub fn show(
        notice: &Notice,
        before: Option<Shown>,
        tell: mpsc::Sender<Screen>,
        did: impl FnOnce(Did) + Send + 'static,
    ) -> Option<Shown> {
        // The same id replaces what stands: it is not to be closed.
        if let Some(mut before) = before {
            before.id = None;
        }
        if notify_rust::check_bundle().is_err() {
            let _ = tell.send(Screen::Unbundled);
            return Some(Shown { id: None });
        }
        let (id, notice) = (format!("pao-{}", notice.id), notice.clone());
        let own = id.clone();
        let thread = std::thread::Builder::new().name("notice".into()).spawn(move || {
            let mut made = Notification::new();
            made.summary(&notice.title).body(&notice.body).id(NotificationId::Mac(own));
            made.timeout(Timeout::Milliseconds(u32::try_from(STANDS.as_millis()).unwrap_or(u32::MAX)));
            match made.show() {
                Ok(handle) => {
                    let _ = tell.send(Screen::Fine);
                    handle.wait_for_action(|action| {
                        did(if action == "__closed" { Did::Dismissed } else { Did::Clicked });
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "the notification centre");
                    let _ = tell.send(Screen::Refused);
                }
            }
        });
        thread.ok().map(|_| Shown { id: Some(id) })
    }
}
