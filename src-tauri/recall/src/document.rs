//! What is stored of a message, and how it becomes a document and comes back.
//!
//! Every field is stored, so that a later form of the index can be made from this one when the transcripts are
//! long gone.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::{TantivyDocument, Term};

/// Name under which the tokenizer is registered.
pub(crate) const TOKENIZER: &str = "pao";

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Said by the user.
    User,
    /// Said by an agent.
    Agent,
    /// The title of the session. Found with the session, never returned as a hit of its own.
    Title,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Conversation it belongs to.
    pub session: String,
    /// Identity of the project it was said in.
    pub project: String,
    /// Folder it was said in.
    pub cwd: String,
    /// Git branch; empty where unknown.
    pub branch: String,
    /// Milliseconds since 1970; 0 where unknown.
    pub at: i64,
    /// What it is.
    pub kind: Kind,
    /// What was said.
    pub text: String,
    /// The file it was read from.
    pub file: String,
    /// Identity of the record in that file.
    pub uuid: String,
    /// Its place in that file: messages with neighbouring places were said one after the other.
    pub turn: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) text: Field,
    pub(crate) unit: Field,
    pub(crate) title_of: Field,
    cwd: Field,
    branch: Field,
    pub(crate) at: Field,
    pub(crate) kind: Field,
    pub(crate) file: Field,
    uuid: Field,
    pub(crate) turn: Field,
}

/// Between session and project in the `unit` field. Both are one line by nature.
const BETWEEN: char = '\n';

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::builder();
    let terms = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    schema.add_text_field("text", TextOptions::default().set_indexing_options(terms).set_stored());
    schema.add_text_field("unit", TextOptions::default().set_fast("raw").set_stored());
    schema.add_text_field("title_of", STRING);
    schema.add_text_field("cwd", STORED);
    schema.add_text_field("branch", STORED);
    schema.add_i64_field("at", FAST | STORED);
    schema.add_u64_field("kind", FAST | STORED);
    schema.add_text_field("file", STRING | STORED);
    schema.add_text_field("uuid", STORED);
    schema.add_u64_field("turn", FAST | STORED);
    schema.build()
}

impl Fields {
    pub(crate) fn of(schema: &Schema) -> tantivy::Result<Self> {
        Ok(Self {
            text: schema.get_field("text")?,
            unit: schema.get_field("unit")?,
            title_of: schema.get_field("title_of")?,
            cwd: schema.get_field("cwd")?,
            branch: schema.get_field("branch")?,
            at: schema.get_field("at")?,
            kind: schema.get_field("kind")?,
            file: schema.get_field("file")?,
            uuid: schema.get_field("uuid")?,
            turn: schema.get_field("turn")?,
        })
    }

    pub(crate) fn document(&self, message: &Message) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_text(self.text, &message.text);
        document.add_text(self.unit, unit(&message.session, &message.project));
        if message.kind == Kind::Title {
            document.add_text(self.title_of, &message.session);
        }
        document.add_text(self.cwd, &message.cwd);
        if !message.branch.is_empty() {
            document.add_text(self.branch, &message.branch);
        }
        document.add_i64(self.at, message.at);
        document.add_u64(self.kind, code(message.kind));
        document.add_text(self.file, &message.file);
        if !message.uuid.is_empty() {
            document.add_text(self.uuid, &message.uuid);
        }
        document.add_u64(self.turn, u64::from(message.turn));
        document
    }

    pub(crate) fn message(&self, document: &TantivyDocument) -> Message {
        let text = |field| document.get_first(field).and_then(|v| v.as_str()).unwrap_or("").to_owned();
        let number = |field| document.get_first(field).and_then(|v| v.as_u64()).unwrap_or(0);
        let unit = text(self.unit);
        let (session, project) = split(&unit);
        Message {
            session: session.to_owned(),
            project: project.to_owned(),
            cwd: text(self.cwd),
            branch: text(self.branch),
            at: document.get_first(self.at).and_then(|v| v.as_i64()).unwrap_or(0),
            kind: kind(number(self.kind)),
            text: text(self.text),
            file: text(self.file),
            uuid: text(self.uuid),
            turn: u32::try_from(number(self.turn)).unwrap_or(u32::MAX),
        }
    }

    /// All documents read from a file.
    pub(crate) fn of_file(&self, file: &str) -> Term {
        Term::from_field_text(self.file, file)
    }
}

/// What one session said in one project: the unit that is ranked, because a session may move between projects.
fn unit(session: &str, project: &str) -> String {
    format!("{session}{BETWEEN}{project}")
}

/// Session and project of a unit.
pub(crate) fn split(unit: &str) -> (&str, &str) {
    unit.split_once(BETWEEN).unwrap_or((unit, ""))
}

const TITLE: u64 = 2;

fn code(kind: Kind) -> u64 {
    match kind {
        Kind::User => 0,
        Kind::Agent => 1,
        Kind::Title => TITLE,
    }
}

pub(crate) fn kind(code: u64) -> Kind {
    match code {
        0 => Kind::User,
        TITLE => Kind::Title,
        _ => Kind::Agent,
    }
}
