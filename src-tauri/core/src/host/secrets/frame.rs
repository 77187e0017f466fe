//! What is said to the app by `pao`, and by a later launch of the app itself: a length, then a few fixed bytes, a name
//! and perhaps a value.
//!
//! Anything else than exactly this is refused, whatever its length says. Values stand in no text format on the way, so
//! none has to be escaped, and none is left in a parser.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Fault, Secret, check};

/// Longest message in bytes, without its length. A token or password is a few hundred.
pub(super) const MOST: usize = 64 * 1024;
/// Which language this is.
const VERSION: u8 = 1;

/// What a launch of the app brings to the one that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Its words, the program's name first. None holds a NUL: no word of a program does.
    pub words: Vec<String>,
    /// The folder it was started in.
    pub folder: String,
}

/// What is asked of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The value of a secret.
    Get(String),
    /// Whether there is one.
    Has(String),
    /// Keeps a value.
    Set(String, Secret),
    /// Forgets a value.
    Delete(String),
    /// Somebody else changed it: what is remembered of it no longer holds.
    Changed(String),
    /// Shows what a later launch brings.
    Open(Launch),
}

impl Request {
    /// The secret it is about; empty where it is about none.
    pub fn name(&self) -> &str {
        match self {
            Self::Get(name)
            | Self::Has(name)
            | Self::Set(name, _)
            | Self::Delete(name)
            | Self::Changed(name) => name,
            Self::Open(_) => "",
        }
    }
}

/// What the app answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It was understood; the answer follows. The system may be asking the user meanwhile.
    Heard,
    /// The value.
    Value(Secret),
    /// Done; or: there is one.
    Done,
    /// There is none.
    Absent,
    /// The system's store gave or took nothing.
    Fault(Fault),
    /// The private file, where that is configured, cannot be used.
    File,
    /// No source has that name.
    Unknown,
    /// It was not understood.
    Misread,
}

/// The bytes of a request.
pub(super) fn request(request: &Request) -> Vec<u8> {
    let launch;
    let (verb, value) = match request {
        Request::Get(_) => (b'g', ""),
        Request::Has(_) => (b'h', ""),
        Request::Set(_, value) => (b's', value.reveal()),
        Request::Delete(_) => (b'd', ""),
        Request::Changed(_) => (b'c', ""),
        Request::Open(Launch { words, folder }) => {
            launch = [std::slice::from_ref(folder), words].concat().join("\0");
            (b'o', launch.as_str())
        }
    };
    let name = request.name();
    // A name has at most 64 bytes.
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    let mut bytes = vec![VERSION, verb, length];
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(value.as_bytes());
    bytes
}

/// Reads a request; `None` where it is none.
pub(super) fn read_request(bytes: &[u8]) -> Option<Request> {
    let [VERSION, verb, length, rest @ ..] = bytes else { return None };
    let (name, value) = rest.split_at_checked(usize::from(*length))?;
    let value = std::str::from_utf8(value).ok()?;
    if (*verb, *length) == (b'o', 0) {
        let mut pieces = value.split('\0').map(String::from);
        let folder = pieces.next()?;
        return Some(Request::Open(Launch { words: pieces.collect(), folder }));
    }
    let name = std::str::from_utf8(name).ok().filter(|name| check(name).is_ok())?.to_string();
    Some(match (verb, value) {
        (b'g', "") => Request::Get(name),
        (b'h', "") => Request::Has(name),
        (b's', value) if !value.is_empty() => Request::Set(name, Secret::new(value)),
        (b'd', "") => Request::Delete(name),
        (b'c', "") => Request::Changed(name),
        _ => return None,
    })
}

/// The bytes of a reply.
pub(super) fn reply(reply: &Reply) -> Vec<u8> {
    let kind = match reply {
        Reply::Heard => b'h',
        Reply::Value(value) => {
            let mut bytes = vec![VERSION, b'v'];
            bytes.extend_from_slice(value.reveal().as_bytes());
            return bytes;
        }
        Reply::Done => b'd',
        Reply::Absent => b'a',
        Reply::Fault(fault) => {
            let place = Fault::ALL.iter().position(|known| known == fault);
            return vec![VERSION, b'f', place.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)];
        }
        Reply::File => b'p',
        Reply::Unknown => b'u',
        Reply::Misread => b'm',
    };
    vec![VERSION, kind]
}

/// Reads a reply; `None` where it is none.
pub(super) fn read_reply(bytes: &[u8]) -> Option<Reply> {
    let [VERSION, kind, rest @ ..] = bytes else { return None };
    Some(match (kind, rest) {
        (b'h', []) => Reply::Heard,
        (b'v', value) => Reply::Value(Secret::new(std::str::from_utf8(value).ok()?)),
        (b'd', []) => Reply::Done,
        (b'a', []) => Reply::Absent,
        (b'f', [place]) => Reply::Fault(*Fault::ALL.get(usize::from(*place))?),
        (b'p', []) => Reply::File,
        (b'u', []) => Reply::Unknown,
        (b'm', []) => Reply::Misread,
        _ => return None,
    })
}

/// Sends one message.
pub(super) async fn send(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    let too_long = |_| std::io::Error::from(std::io::ErrorKind::InvalidInput);
    let length = u32::try_from(bytes.len()).map_err(too_long)?;
    let mut whole = length.to_be_bytes().to_vec();
    whole.extend_from_slice(bytes);
    to.write_all(&whole).await?;
    to.flush().await
}

/// Receives one message. One that claims to be longer than any is not read at all.
pub(super) async fn receive(from: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Vec<u8>> {
    let length = usize::try_from(from.read_u32().await?).unwrap_or(usize::MAX);
    if length > MOST {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    // Room is made for what comes, not for what was announced.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes).await?;
    if bytes.len() < length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn requests() -> impl Strategy<Value = Request> {
        let (name, value) = ("[a-z0-9_-][a-z0-9._-]{0,63}", "\\PC{1,400}");
        prop_oneof![
            name.prop_map(Request::Get),
            name.prop_map(Request::Has),
            (name, value).prop_map(|(name, value)| Request::Set(name, Secret::new(value))),
            name.prop_map(Request::Delete),
            name.prop_map(Request::Changed),
            (prop::collection::vec("[^\0]{0,40}", 0..5), "[^\0]{0,40}")
                .prop_map(|(words, folder)| Request::Open(Launch { words, folder })),
        ]
    }

    fn replies() -> impl Strategy<Value = Reply> {
        prop_oneof![
            Just(Reply::Heard),
            "(?s).{0,400}".prop_map(|value| Reply::Value(Secret::new(value))),
            Just(Reply::Done),
            Just(Reply::Absent),
            (0..Fault::ALL.len()).prop_map(|at| Reply::Fault(Fault::ALL[at])),
            Just(Reply::File),
            Just(Reply::Unknown),
            Just(Reply::Misread),
        ]
    }

    proptest! {
        #[test]
        fn what_is_said_is_what_is_heard(asked in requests(), answered in replies()) {
            prop_assert_eq!(read_request(&request(&asked)), Some(asked));
            prop_assert_eq!(read_reply(&reply(&answered)), Some(answered));
        }

        #[test]
        fn any_bytes_are_a_message_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(heard) = read_request(&bytes) {
                prop_assert_eq!(request(&heard), bytes.clone());
            }
            if let Some(heard) = read_reply(&bytes) {
                prop_assert_eq!(reply(&heard), bytes);
            }
        }
    }

    #[test]
    fn a_value_on_its_way_shows_itself_to_nobody() {
        let value = Secret::new("FAKE-value");
        let shown = format!("{:?} {:?}", Request::Set("a".into(), value.clone()), Reply::Value(value));
        assert!(!shown.contains("FAKE"), "{shown}");
    }

    #[tokio::test]
    async fn a_message_longer_than_any_is_not_read() {
        let mut whole = u32::MAX.to_be_bytes().to_vec();
        whole.extend([0; 100]);
        assert_eq!(receive(&mut &whole[..]).await.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
        let half = [0, 0, 0, 9, 1, b'g'];
        assert_eq!(receive(&mut &half[..]).await.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
    }
}
