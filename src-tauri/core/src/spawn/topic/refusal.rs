//! Why a topic is refused, each with one thing to do next.

use std::path::PathBuf;

use crate::Error;

/// Why a topic is refused. Nothing has been started or written when one of these is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// The folder does not exist.
    #[error("there is no folder {}", .path.display())]
    Missing {
        /// As asked for, made absolute.
        path: PathBuf,
        /// The deepest folder on the way there that exists.
        nearest: Option<PathBuf>,
    },
    /// It exists and is neither a folder nor a file in one.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// It exists and cannot be looked into.
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable {
        /// Which folder.
        path: PathBuf,
        /// The system's own words.
        reason: String,
    },
    /// The home directory itself.
    #[error("an agent is not started in the home directory itself")]
    Home,
    /// The root of the file system.
    #[error("an agent is not started in the root folder /")]
    Root,
    /// Git's own data.
    #[error("{} is inside a repository's own Git data", .0.display())]
    InsideGit(PathBuf),
    /// Control characters, or bytes that are no text.
    #[error("the folder's path contains {0}")]
    UnusablePath(&'static str),
    /// A control character other than newline and tab in the task.
    #[error("the task contains the control character U+{:04X}", u32::from(*.0))]
    ControlInPrompt(char),
    /// A name of more than 64 characters.
    #[error("the name has {0} characters; at most 64 are possible")]
    NameTooLong(usize),
    /// A name with something else than letters, digits, `.`, `_` and `-`.
    #[error("{0:?} cannot be an agent's name")]
    NameInvalid(String),
    /// A live agent has this name.
    #[error("an agent named {0} is already there")]
    NameTaken(String),
}

impl From<TopicError> for Error {
    fn from(error: TopicError) -> Self {
        let next = match &error {
            TopicError::Missing { nearest: Some(nearest), .. } => {
                format!("give an existing folder with -C DIR; {} is there", nearest.display())
            }
            TopicError::Missing { nearest: None, .. } | TopicError::NotAFolder(_) => {
                "give an existing folder with -C DIR".into()
            }
            TopicError::Unreadable { .. } => {
                "give yourself the right to read it, or choose another folder".into()
            }
            TopicError::Home | TopicError::Root => "choose a project folder with -C DIR".into(),
            TopicError::InsideGit(_) => "choose the project folder itself with -C DIR".into(),
            TopicError::UnusablePath(_) => "rename the folder, or choose another with -C DIR".into(),
            TopicError::ControlInPrompt(_) => "type the task again without it".into(),
            TopicError::NameTooLong(_) => "choose a shorter name with --name".into(),
            TopicError::NameInvalid(_) => {
                "choose a name that begins with a letter or digit and goes on with those, '.', '_' or '-'"
                    .into()
            }
            TopicError::NameTaken(_) => "choose another name, or leave --name out to get a free one".into(),
        };
        let in_window = match &error {
            TopicError::Missing { nearest: Some(nearest), .. } => {
                format!("choose an existing folder; {} is there", nearest.display())
            }
            TopicError::Missing { nearest: None, .. } | TopicError::NotAFolder(_) => {
                "choose an existing folder".into()
            }
            TopicError::Home | TopicError::Root => "choose a project folder".into(),
            TopicError::InsideGit(_) => "choose the project folder itself".into(),
            TopicError::UnusablePath(_) => "rename the folder, or choose another".into(),
            TopicError::NameTooLong(_) => "choose a shorter name".into(),
            TopicError::NameTaken(_) => "choose another name, or leave it empty to get a free one".into(),
            _ => next.clone(),
        };
        Error::user(error.to_string(), next).in_window(in_window)
    }
}
