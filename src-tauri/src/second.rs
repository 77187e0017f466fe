//! A second launch on Linux hands its words over before it has begun anything. The plugin that listens in the first app
//! would do the same, but only after the toolkit was started, whose threads then may not survive the program's end.

use pao_core::entrance::APP_ID;
use pao_core::host::Host;
use zbus::blocking::Connection;

/// What the plugin calls its one method.
const INTERFACE: &str = "org.SingleInstance.DBus";
const METHOD: &str = "ExecuteCallback";

/// Whether an app that runs already has taken these words, the program's name first.
pub fn handed_over(host: &Host, words: &[String]) -> bool {
    let name = format!("{APP_ID}.SingleInstance");
    let path = format!("/{}", name.replace('.', "/").replace('-', "_"));
    let with = (words, host.cwd.to_string_lossy());
    let asked = Connection::session()
        .and_then(|bus| bus.call_method(Some(name.as_str()), path.as_str(), Some(INTERFACE), METHOD, &with));
    match asked {
        Ok(_) => true,
        // Nobody has that name, or there is no bus: this is the first.
        Err(error) => {
            tracing::debug!(%error, "no other app has taken the words");
            false
        }
    }
}
