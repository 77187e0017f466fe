use super::*;

struct NoPauses;

#[async_trait::async_trait]
impl Pauses for NoPauses {
    async fn until(&self, _: &str, _: DateTime<Utc>) -> Option<DateTime<Utc>> {
        None
    }

    async fn pause(&self, _: &str, _: DateTime<Utc>) {}
}

fn host() -> Host {
    Host::at("/nowhere".as_ref())
}

fn open_with(url: &str, protocol: &str, auth: Option<&str>) -> Result<WorkerSource, SourceError> {
    let config = WorkerConfig {
        url: url.into(),
        protocol: protocol.into(),
        auth: auth.map(Into::into),
        ..WorkerConfig::default()
    };
    let secrets = SecretStore::new(&host(), "file").unwrap();
    open("semantic", &config, &host(), &secrets, Arc::new(NoPauses))
}

fn refusal(url: &str, protocol: &str, auth: Option<&str>) -> String {
    open_with(url, protocol, auth).err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn unusable_settings_are_refused_without_being_repeated() {
    for (url, protocol, auth) in [
        ("", "json-rpc", None),
        ("FAKE", "json-rpc", None),
        ("ftp://FAKE/", "json-rpc", None),
        ("https://user:FAKE@worker.example/", "json-rpc", None),
        ("https://worker.example/", "FAKE", None),
        ("https://worker.example/", "mcp", Some("FAKE")),
    ] {
        let text = refusal(url, protocol, auth);
        assert!(text.starts_with("not configured") && !text.contains("FAKE"), "{url}: {text}");
    }
}

#[test]
fn a_token_never_travels_unencrypted_beyond_this_machine() {
    assert!(refusal("http://worker.example/", "json-rpc", None).contains("unencrypted"));
    assert!(refusal("http://127.0.0.1.example/", "search", None).contains("unencrypted"));
    for url in
        ["http://127.0.0.1:8787/", "http://[::1]:8787/", "http://localhost:8787/", "https://worker.example/"]
    {
        assert_eq!(refusal(url, "json-rpc", None), "", "{url}");
    }
    assert_eq!(refusal("http://worker.example/", "json-rpc", Some("none")), "");
}

#[test]
fn the_search_path_is_appended_once_and_the_description_hides_a_query() {
    for url in ["https://w.example", "https://w.example/", "https://w.example/api/search"] {
        assert_eq!(
            open_with(url, "search", None).unwrap().describe(),
            "search at https://w.example/api/search"
        );
    }
    let source = open_with("https://w.example/rpc?key=FAKE#x", "json-rpc", None).unwrap();
    assert_eq!(source.describe(), "JSON-RPC method search at https://w.example/rpc");
}
