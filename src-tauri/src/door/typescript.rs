//! The TypeScript twin of the door, made from the Rust types.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use pao_core::wire::door::{Glance, Job};
use ts_rs::{Config, TS, TypeVisitor};

/// One verb.
pub(super) struct Row {
    pub doc: &'static str,
    pub name: &'static str,
    pub with: String,
    pub gives: String,
}

/// All types that are needed, by name.
#[derive(Default)]
pub(super) struct Types {
    seen: Vec<TypeId>,
    declared: BTreeMap<String, String>,
}

fn config() -> Config {
    // Numbers that leave the core are counts, times and sizes far below 2^53.
    Config::new().with_large_int("number")
}

impl Types {
    /// Adds a type with all it is made of; its name.
    pub fn add<T: TS + 'static + ?Sized>(&mut self) -> String {
        self.visit::<T>();
        T::name(&config())
    }
}

impl TypeVisitor for Types {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if self.seen.contains(&TypeId::of::<T>()) {
            return;
        }
        self.seen.push(TypeId::of::<T>());
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            let declared = format!("{docs}export {}\n", T::decl(&config()));
            self.declared.insert(T::ident(&config()), declared);
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

fn door_ts() -> String {
    let mut types = Types::default();
    let rows = super::table(&mut types);
    let (glance, job, page) = (types.add::<Glance>(), types.add::<Job>(), types.add::<super::Page>());
    let mut text = String::from(
        "// Made from src-tauri/src/door.rs and src-tauri/core/src/wire by the test\n\
         // `the_windows_know_the_same_door`; to make it again: PAO_UPDATE=1 cargo test -p pao-app door\n\n\
         /** Every verb: what it takes and what it gives. */\nexport interface Verbs {\n",
    );
    for Row { doc, name, with, gives } in rows {
        let _ = writeln!(text, "  /** {doc} */\n  {name}: {{ with: {with}; gives: {gives} }}");
    }
    let _ = write!(
        text,
        "}}\n\n/** What comes by itself; `page` only ever reaches the panel. */\nexport interface Events {{\n  glance: {glance}\n  \
         job: {job}\n  page: {page}\n}}\n\n"
    );
    for declared in types.declared.values() {
        text.push_str(declared);
        text.push('\n');
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the checkout, in a test")]
fn the_windows_know_the_same_door() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/host/door.ts");
    let made = door_ts();
    if std::env::var_os("PAO_UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "ui/src/host/door.ts is not what the door says: PAO_UPDATE=1 cargo test -p pao-app door"
    );
}
