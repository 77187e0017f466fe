//! One of the app's two windows, used as a person uses it: what can be seen is looked for, clicked and typed into.
//! The door is never used here.

use std::fmt::Display;
use std::time::Instant;

use serde_json::{Value, json};

use super::desktop::{Desktop, PATIENCE};

/// How an element is called on the wire.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How long a window may take to get the focus; some are used without it.
const FOCUS: std::time::Duration = std::time::Duration::from_secs(3);

/// Finds by role and name what a person could reach now: in the topmost dialog, where there is one. A name is what
/// assistive technology reads, from its beginning on.
const FIND: &str = r"
    const [role, name] = arguments;
    const kinds = {
        button: 'button, [role=button]', row: '[role=listitem], li', checkbox: 'input[type=checkbox]',
        field: 'input:not([type=checkbox]):not([type=radio]), textarea', radio: 'input[type=radio], [role=radio]',
        note: '.note, [role=status]', tab: '[role=tab], nav button', heading: 'h1, h2',
    };
    const text = (e) => {
        const copy = e.cloneNode(true);
        copy.querySelectorAll('[aria-hidden=true]').forEach((hidden) => hidden.remove());
        return copy.textContent;
    };
    const said = (e) => (e.getAttribute('aria-label') ?? (e.labels?.length ? [...e.labels].map(text).join(' ') : text(e)))
        .replace(/\s+/g, ' ').trim();
    const seen = (e) => e.checkVisibility() && e.getClientRects().length > 0;
    const dialogs = [...document.querySelectorAll('dialog[open]')];
    const within = dialogs.at(-1) ?? document;
    return [...within.querySelectorAll(kinds[role] ?? role)].find((e) => seen(e) && said(e).startsWith(name)) ?? null;
";

/// A window of the app.
pub struct Window<'d> {
    desktop: &'d Desktop,
    /// `panel` or `popover`.
    label: &'static str,
}

impl Desktop {
    /// The panel: spawn, agent, cleanup, settings, first run.
    pub fn panel(&self) -> Window<'_> {
        Window { desktop: self, label: "panel" }
    }

    /// The list of agents.
    pub fn popover(&self) -> Window<'_> {
        Window { desktop: self, label: "popover" }
    }

    /// Turns the driver to the window of that label, once it is there.
    fn turn_to(&self, label: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.turned_to(label) {
            assert!(Instant::now() < until, "there is no window {label}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    /// Turns the driver to the window of that label; `false` where there is none yet.
    fn turned_to(&self, label: &str) -> bool {
        if *self.at.borrow() == label {
            return true;
        }
        let handles = self.drive("GET", "window/handles", &Value::Null).unwrap_or_default();
        for handle in handles.as_array().into_iter().flatten() {
            self.drive("POST", "window", &json!({ "handle": handle })).unwrap();
            let asks = "return window.__TAURI_INTERNALS__?.metadata.currentWindow.label";
            let body = json!({ "script": asks, "args": [] });
            let found = self.drive("POST", "execute/sync", &body).unwrap_or_default();
            found.as_str().unwrap_or_default().clone_into(&mut self.at.borrow_mut());
            if found == label {
                return true;
            }
        }
        false
    }
}

impl Window<'_> {
    fn drive(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        self.desktop.turn_to(self.label);
        self.desktop.drive(method, path, body)
    }

    /// Runs a script in the page, with arguments, and gives what it returns.
    pub fn run(&self, script: &str, arguments: &Value) -> Value {
        let body = json!({ "script": script, "args": arguments });
        self.drive("POST", "execute/sync", &body).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Everything that is written in it.
    pub fn text(&self) -> String {
        self.run("return document.body.innerText", &json!([])).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until something holds of it.
    pub fn until(&self, what: impl Display, holds: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !holds() {
            assert!(Instant::now() < until, "not seen in the {}: {what}\n{}", self.label, self.text());
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Waits until this is written in it.
    pub fn says(&self, text: &str) {
        self.until(text, || self.text().contains(text));
    }

    /// Whether it was made already: the panel is made when it is first needed.
    pub fn is_made(&self) -> bool {
        self.desktop.turned_to(self.label)
    }

    /// Whether it is there and can be seen.
    pub fn visible(&self) -> bool {
        self.is_made() && self.run("return document.visibilityState", &json!([])) == "visible"
    }

    /// Waits until it can be seen, or no longer.
    pub fn is_shown(&self, shown: bool) {
        let what = if shown { "the window itself" } else { "its absence" };
        self.until(what, || self.visible() == shown);
    }

    fn find(&self, role: &str, name: &str) -> Option<String> {
        let found = self.run(FIND, &json!([role, name]));
        found[ELEMENT].as_str().map(str::to_owned)
    }

    /// Whether something of that role and name can be seen.
    pub fn has(&self, role: &str, name: &str) -> bool {
        self.find(role, name).is_some()
    }

    /// Clicks at what has that role and name, once it is there and enabled.
    pub fn click(&self, role: &str, name: &str) {
        self.until(format_args!("{role} {name:?}, to be clicked"), || {
            let Some(element) = self.find(role, name) else { return false };
            let enabled = self.drive("GET", &format!("element/{element}/enabled"), &Value::Null);
            let click = format!("element/{element}/click");
            enabled == Ok(json!(true)) && self.drive("POST", &click, &json!({})).is_ok()
        });
    }

    /// Presses keys together, named as in a browser: `Control+Enter`.
    pub fn press(&self, keys: &str) {
        let keys: Vec<String> = keys.split('+').map(code).collect();
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        self.act(&down.chain(up).collect::<Vec<_>>());
    }

    /// Types into whatever has the focus.
    pub fn types(&self, text: &str) {
        let strokes = text.chars().flat_map(|c| {
            let key = c.to_string();
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        });
        self.act(&strokes.collect::<Vec<_>>());
    }

    /// A window that has just come up takes keys a moment later than it can be read; a person sees when it does.
    fn act(&self, strokes: &[Value]) {
        let until = Instant::now() + FOCUS;
        while self.run("return document.hasFocus()", &json!([])) != true && Instant::now() < until {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let body = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": strokes }] });
        self.drive("POST", "actions", &body).unwrap_or_else(|error| panic!("keys: {error}"));
    }

    /// What stands in the field that has the focus.
    pub fn typed(&self) -> String {
        let value = self.run("return document.activeElement?.value ?? null", &json!([]));
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Names of the rows of one list, in order.
    pub fn rows(&self, list: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll('[role=list]')] \
                      .filter((l) => (l.getAttribute('aria-label') ?? '').startsWith(arguments[0])) \
                      .flatMap((l) => [...l.querySelectorAll('[role=listitem]')]) \
                      .map((r) => r.getAttribute('aria-label') ?? r.innerText)";
        serde_json::from_value(self.run(script, &json!([list]))).unwrap()
    }
}

/// A key as the driver wants it.
fn code(key: &str) -> String {
    match key {
        "Control" => "\u{E009}",
        "Alt" => "\u{E00A}",
        "Shift" => "\u{E008}",
        "Enter" => "\u{E007}",
        "Escape" => "\u{E00C}",
        "Tab" => "\u{E004}",
        "Backspace" => "\u{E003}",
        "Delete" => "\u{E017}",
        "Left" => "\u{E012}",
        "Up" => "\u{E013}",
        "Right" => "\u{E014}",
        "Down" => "\u{E015}",
        letter => letter,
    }
    .to_owned()
}
