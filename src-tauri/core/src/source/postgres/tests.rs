use super::*;
use crate::host::Host;

fn no_secrets() -> SecretStore {
    let host = Host::at("/nowhere".as_ref());
    SecretStore::new(&host, "file").unwrap()
}

fn open_url(url: &str) -> Result<PostgresSource, SourceError> {
    open("facts", &PostgresConfig { url: url.into(), ..PostgresConfig::default() }, &no_secrets())
}

fn refusal(url: &str) -> String {
    open_url(url).err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn a_password_in_the_url_is_refused_without_being_repeated() {
    for url in ["postgres://u:FAKE-secret@h/db", "postgres://u@h/db?password=FAKE-secret"] {
        let text = refusal(url);
        assert!(text.contains("contains a password") && !text.contains("FAKE"), "{text}");
    }
}

#[test]
fn an_unusable_url_is_refused_without_being_repeated() {
    for url in
        ["", "FAKE", "mysql://FAKE@h/db", "postgres://FAKE@h:99999/db", "postgres://u@h/db?sslmode=FAKE"]
    {
        let text = refusal(url);
        assert!(text.starts_with("not configured") && !text.contains("FAKE"), "{url}: {text}");
    }
}

#[test]
fn a_root_certificate_given_with_require_is_checked() {
    let source = open_url("postgres://u@h/db?sslmode=require&sslrootcert=/ca.pem").unwrap();
    assert!(matches!(source.options.get_ssl_mode(), PgSslMode::VerifyCa));
}

#[test]
fn the_description_names_the_place_and_no_secret() {
    let source = open_url("postgres://anna@db.example:6432/brain").unwrap();
    assert_eq!(source.describe(), "PostgreSQL database brain at db.example:6432");
}

#[test]
fn a_mapping_without_its_columns_is_refused() {
    let mapping = crate::config::PostgresMapping { table: "notes".into(), ..Default::default() };
    let config = PostgresConfig {
        url: "postgres://u@h/db".into(),
        mapping: Some(mapping),
        ..PostgresConfig::default()
    };
    let error = open("facts", &config, &no_secrets()).err();
    assert_eq!(error, Some(SourceError::Misconfigured("mapping.id is missing".into())));
}

#[test]
fn numbers_are_grouped_for_people() {
    assert_eq!([7, 999, 1_000, 20_000, 1_234_567].map(grouped), ["7", "999", "1,000", "20,000", "1,234,567"]);
}
