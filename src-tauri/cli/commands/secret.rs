//! `pao secret`: keeps a password or token, and says whether it is kept. Its value never stands on a command line.

use pao_core::config::{Config, keys};
use pao_core::host::Host;
use pao_core::host::secrets::{self, Secret as Value, SecretStore};
use pao_core::{Error, wire};

use super::patiently;
use crate::args::Secret;
use crate::ask;
use crate::render::{Screen, clean};

pub async fn run(host: &Host, screen: Screen, what: Secret) -> Result<u8, Error> {
    let config = Config::load(host)?;
    let store = SecretStore::new(host, &config.secrets.store)?;
    let asked = || asked_of(&store);
    let (name, done, gone) = match what {
        Secret::Status => return status(host, screen, &config, &store).await,
        Secret::Set { name } => {
            let name = of_source(&name);
            known(&config, &name)?;
            let value = ask::secret(&format!("value of {} (not shown): ", clean(&name)))?;
            if value.is_empty() {
                return Err(Error::user("the value is empty", "to remove a secret: pao secret delete NAME"));
            }
            patiently(screen, asked, store.set(&name, &Value::new(value))).await?;
            (name, "kept", false)
        }
        Secret::Delete { name } => {
            let name = of_source(&name);
            let done =
                if patiently(screen, asked, store.delete(&name)).await? { "deleted" } else { "not there" };
            (name, done, true)
        }
    };
    if screen.json {
        screen.document(&wire::Item { what: name, state: done.into(), gone })?;
    } else {
        screen.say(&format!("{}: {done} in {}\n", clean(&name), store.place()))?;
    }
    Ok(0)
}

fn asked_of(store: &SecretStore) -> String {
    format!("waiting for {}, which may be asking you in a window; Ctrl-C ends that", store.place())
}

/// Each secret that a source takes, and whether it is there. Where one cannot be asked for, that is its state, and the
/// exit code's.
async fn status(host: &Host, screen: Screen, config: &Config, store: &SecretStore) -> Result<u8, Error> {
    let (mut rows, mut code) = (Vec::new(), 0);
    for name in config.secret_names() {
        let variable = secrets::variable(name);
        let state = if host.var(&variable).is_some() {
            format!("in the variable {variable}")
        } else {
            match patiently(screen, || asked_of(store), store.is_kept(name)).await {
                Ok(true) => format!("kept in {}", store.place()),
                Ok(false) => "not there".to_string(),
                Err(error) => {
                    let error = Error::from(error);
                    code = error.kind.exit_code();
                    format!("{}; {}", error.message, error.next)
                }
            }
        };
        rows.push(wire::Item { what: name.to_string(), gone: state == "not there", state });
    }
    if screen.json {
        screen.document(&rows)?;
    } else if rows.is_empty() {
        screen.say("no memory store behind a login is configured\n")?;
    } else {
        let lines: Vec<_> = rows.iter().map(|row| format!("{}: {}\n", clean(&row.what), row.state)).collect();
        screen.say(&lines.concat())?;
    }
    Ok(code)
}

/// Refuses a secret that nobody would ever ask for.
fn known(config: &Config, name: &str) -> Result<(), Error> {
    let names: Vec<&str> = config.secret_names().collect();
    if names.contains(&name) {
        return Ok(());
    }
    let next = match keys::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => format!("add the source first: pao sources add … {name}"),
        None => format!("sources that take one: {}; or add it first: pao sources add", names.join(", ")),
    };
    Err(Error::user(format!("there is no source {name} that takes a password or token"), next))
}

/// A source's secret has the source's name; `source/NAME` says the same.
fn of_source(name: &str) -> String {
    name.strip_prefix("source/").unwrap_or(name).to_string()
}
