//! What a database's refusal means, in our words.
//!
//! A server's message may repeat data or be written by an enemy, and error texts end up in a briefing; so only the
//! SQLSTATE code is read, never the message.

use std::io;
use std::time::Duration;

use super::PostgresSource;
use crate::host::secrets::{Secret, SecretError};
use crate::source::SourceError;

/// Whether the server has no rule that lets this user in this way.
pub(super) fn is_no_way_in(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(e) if e.code().as_deref() == Some("28000"))
}

/// Why no connection came about.
pub(super) fn connecting(
    error: &sqlx::Error,
    source: &PostgresSource,
    password: &Result<Option<Secret>, SecretError>,
) -> SourceError {
    let place = &source.place;
    match error {
        sqlx::Error::Io(e) => io_error(e, place),
        sqlx::Error::Tls(e) => SourceError::Unreachable(match e.downcast_ref::<rustls::Error>() {
            Some(e) => format!("TLS with {place}: {}", tls(e)),
            None => {
                format!("no TLS with {place}: the server does not offer it, or its settings are unusable")
            }
        }),
        sqlx::Error::Configuration(_) => {
            SourceError::Misconfigured("the connection settings are unusable (certificate files?)".into())
        }
        sqlx::Error::Database(e) => {
            let user = source.options.get_username();
            match (e.code().as_deref(), password) {
                (Some("28P01" | "28000"), Ok(Some(_))) => {
                    SourceError::Refused(format!("password or login of user {user} is not accepted"))
                }
                (Some("28P01" | "28000"), Ok(None)) => SourceError::Refused(format!(
                    "login of user {user} is not accepted, and no password is stored for this source"
                )),
                (Some("28P01" | "28000"), Err(error)) => error.into(),
                (Some(code), _) => by_code(code),
                (None, _) => SourceError::BadReply("an error without a code".into()),
            }
        }
        sqlx::Error::Protocol(_) => {
            SourceError::BadReply(format!("{place} does not speak PostgreSQL's protocol"))
        }
        other => asking(other),
    }
}

/// Why a statement failed.
pub(super) fn asking(error: &sqlx::Error) -> SourceError {
    match error {
        sqlx::Error::Database(e) => match e.code().as_deref() {
            Some(code) => by_code(code),
            None => SourceError::BadReply("an error without a code".into()),
        },
        sqlx::Error::Io(_) => SourceError::Unreachable("the connection broke".into()),
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
            SourceError::BadReply("a column is not of the expected type".into())
        }
        _ => SourceError::BadReply("the reply is not PostgreSQL's protocol".into()),
    }
}

fn by_code(code: &str) -> SourceError {
    let refused = |text: &str| SourceError::Refused(text.to_owned());
    match code {
        "57014" | "55P03" | "25P03" => SourceError::TimedOut(Duration::ZERO),
        "3D000" => refused("this database does not exist"),
        "42P01" => refused("a table does not exist"),
        "42703" => refused("a column does not exist"),
        "42501" => refused("this user may not read the tables"),
        "42704" => refused("the text search configuration or a type does not exist"),
        "25006" => refused("a write was attempted in a read-only transaction"),
        "53300" => refused("the server has no connection left"),
        "57P03" => SourceError::Unreachable("the server is starting up or shutting down".into()),
        "57P01" | "57P02" => SourceError::Unreachable("the server is shutting down".into()),
        "08P01" => refused("the server or its pooler refused the protocol (SQLSTATE 08P01)"),
        _ if code.len() == 5 && code.chars().all(|c| c.is_ascii_alphanumeric()) => {
            SourceError::Refused(format!("SQLSTATE {code}"))
        }
        _ => SourceError::BadReply("an error with an impossible code".into()),
    }
}

fn io_error(error: &io::Error, place: &str) -> SourceError {
    if let Some(e) = error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
        return SourceError::Unreachable(format!("TLS with {place}: {}", tls(e)));
    }
    SourceError::Unreachable(match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => format!("nobody listens at {place}"),
        io::ErrorKind::PermissionDenied => format!("{place} may not be opened"),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            format!("{place} closed the connection")
        }
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => format!("no route to {place}"),
        _ => format!("{place} cannot be reached or its name not resolved"),
    })
}

fn tls(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer) => {
            "the server's certificate comes from nobody known"
        }
        rustls::Error::InvalidCertificate(
            rustls::CertificateError::Expired | rustls::CertificateError::ExpiredContext { .. },
        ) => "the server's certificate has expired",
        rustls::Error::InvalidCertificate(
            rustls::CertificateError::NotValidForName
            | rustls::CertificateError::NotValidForNameContext { .. },
        ) => "the server's certificate is for another name",
        rustls::Error::InvalidCertificate(_) => "the server's certificate is not accepted",
        _ => "the handshake failed",
    }
}
