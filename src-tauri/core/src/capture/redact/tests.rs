use proptest::prelude::*;

use super::*;

#[test]
fn every_pattern_compiles() {
    assert!(RULES.list.iter().all(|rule| rule.pattern().is_some()));
    assert!(RULES.words.is_some());
}

/// Text, and the part of it that must not be there afterwards.
const SECRETS: &[(&str, &str)] = &[
    ("use sk-proj-FAKE0000000000000000abcd for it", "FAKE0000"),
    ("ANTHROPIC_API_KEY=sk-ant-api03-AAAA_bbbb-CCCC1234567890", "AAAA_bbbb"),
    ("old style sk-abcdEFGH1234567890abcdEFGH", "abcdEFGH"),
    ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_"),
    ("token gho_0123456789abcdefghijABCDEFGHIJ012345.", "gho_"),
    ("github_pat_11ABCDEFG0123456789_abcdefghijklmnop", "11ABCDEFG"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN"),
    ("ASIAIOSFODNN7EXAMPLE", "IOSFODNN"),
    ("slack: xoxb-123456789012-abcdefGHIJKL", "xoxb"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "SyA1234"),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_"),
    ("glpat-abcdEFGH1234ijklMNOP", "abcdEFGH"),
    ("hf_abcdefghijklmnopqrstuvwxyzABCD", "hf_"),
    ("stripe sk_live_abcdefGHIJKL0123456789", "abcdefGHIJ"),
    ("curl -H 'Authorization: Bearer abcdef123456ghijkl'", "abcdef123456"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpw"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r", "eyJ"),
    ("DATABASE_URL=postgres://app:s3cr3t@db.internal:5432/shop", "s3cr3t"),
    ("redis://:hunter22@localhost:6379/0", "hunter22"),
    ("postgres://u:p@ss@w0rd@h/db", "ss@w0rd"),
    ("https://kim:FAKE@example.org/x", "FAKE"),
    ("password=hunter2", "hunter2"),
    ("password: correcthorse", "correcthorse"),
    ("the password is hunter2!", "hunter2"),
    (r#"{"password": "correct horse"}"#, "\"correct"),
    ("DB_PASSWORD_PROD='Tr0ub4dor&3'", "Tr0ub4dor"),
    ("mysql --password s3cretpw -u root", "s3cretpw"),
    ("client_secret: 8f3aQx90LmPzTt42vB", "8f3aQx90"),
    ("export API_KEY=\"9a8b7c6d5e4f3a2b1c0d\"", "9a8b7c6d"),
    ("https://api.example.com/v1?api_key=9a8b7c6d5e4f3a2b&limit=2", "9a8b7c6d"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUt"),
    ("the signing secret was 6f1c9e0b7a3d5824f6e1c9b0a7d35824 until May", "6f1c9e0b"),
    ("curl -u admin:s3cretpw https://x.example", "s3cretpw"),
    ("数据库密码是Tr0ub4dor3，别外传", "Tr0ub4dor3"),
    ("令牌ghp_0123456789abcdefghijABCDEFGHIJ012345过期了", "ghp_"),
    ("パスワード：abc12345x", "abc12345x"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx1234567890abcdef\nQ2hpY2tlbnMgYXJl\n-----END RSA PRIVATE KEY-----",
        "MIIEow",
    ),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\\nAAAAEbm9uZQ==", "b3BlbnNz"),
    ("-----BEGIN PRIVATE KEY----- b3BlbnNzaC1rZXktdjEAAAAABG5vbmU AAAAEbm9uZQ== and then", "b3BlbnNz"),
    ("b3BlbnNzaC1rZXktdjEAAAAABG5vbmU\nAAAAEbm9uZQ==\n-----END OPENSSH PRIVATE KEY-----", "b3BlbnNz"),
];

#[test]
fn secrets_of_every_known_shape_are_taken_out() {
    for (text, secret) in SECRETS {
        let out = redact(text);
        assert!(!out.contains(secret), "{text}\n-> {out}");
        assert!(out.contains("[redacted: "), "{text}\n-> {out}");
        assert_eq!(redact(&out), out, "not idempotent: {text}");
    }
}

#[test]
fn what_stands_around_a_secret_stays() {
    assert_eq!(
        redact("DATABASE_URL=postgres://app:s3cr3t@db:5432/shop # local"),
        "DATABASE_URL=postgres://app:[redacted: url password]@db:5432/shop # local"
    );
    assert_eq!(redact("password=hunter2, user=kim"), "password=[redacted: password], user=kim");
    assert_eq!(
        redact("-----BEGIN PRIVATE KEY----- b3BlbnNzaC1rZXktdjEAAAAABG5vbmU was pasted here"),
        "[redacted: private key] was pasted here"
    );
}

/// What looks random, or talks about secrets, and holds none.
const INNOCENT: &[&str] = &[
    "fixed in 16633a9 and in 3f786850e387550fdab836ed7e6dc881de23001b",
    "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 rotates the token hash",
    "session 550e8400-e29b-41d4-a716-446655440000 belongs to the api",
    "see /Users/kim/code/api/src/auth/token_store.rs:42",
    "~/code/api/config/secrets/development/database.yml",
    "the password must be at least 8 characters",
    "password: required",
    "The token is expired and the secret was rotated yesterday.",
    "let token = get_token(&request)?;",
    "password = user.password",
    "login(username=username, password=password)",
    "interface Login { password: string; token: string }",
    "api_key = os.environ[\"API_KEY\"]",
    "const token = process.env.GITHUB_TOKEN",
    "max_tokens=4096 token_budget: 2000",
    "set API_KEY=<your key> or API_KEY=${API_KEY}",
    "postgres://user:${DB_PASSWORD}@localhost/db",
    "token_endpoint: https://auth.example.com/oauth2/token",
    "The bearer authentication middleware rejects requests without a header",
    "risk-management and task-scheduling-with-a-very-long-name",
    "http://localhost:8080/path?user=kim@example.org",
    "refresh tokens are stored in a `refresh_tokens` table with: token_hash, user_id",
    "secret santa list for the team dinner",
    "修复登录令牌过期的问题",
    "パスワードリセット画面の表示崩れ",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Access tokens: JWT, 15-minute expiry, signed with HS256",
    "the private key never leaves the Keychain",
    "key words: exact, semantic, hybrid",
    "token: &str, secret: Option<String>",
];

#[test]
fn hashes_paths_code_and_prose_are_left_alone() {
    for text in INNOCENT {
        assert_eq!(redact(text), *text);
    }
}

#[test]
fn text_without_secrets_is_not_copied() {
    assert!(matches!(redact("nothing to see"), Cow::Borrowed(_)));
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "sk-proj-[A-Za-z0-9]{24,60}",
        "sk-ant-api03-[A-Za-z0-9_]{30,60}",
        "ghp_[A-Za-z0-9]{36}",
        "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{30}",
        "AKIA[A-Z0-9]{16}",
        "xoxb-[0-9]{12}-[A-Za-z0-9]{24}",
        "AIza[A-Za-z0-9]{35}",
        "npm_[A-Za-z0-9]{36}",
        "glpat-[A-Za-z0-9]{20}",
        "hf_[A-Za-z]{34}",
        "eyJ[A-Za-z0-9]{20}\\.eyJ[A-Za-z0-9]{20}\\.[A-Za-z0-9]{20}",
    ]
}

proptest! {
    #[test]
    fn a_planted_key_never_survives(before in "\\PC{0,40}", key in key(), after in "\\PC{0,40}") {
        let out = redact(&format!("{before} {key} {after}")).into_owned();
        prop_assert!(!out.contains(&key), "{}", out);
    }

    #[test]
    fn a_password_in_a_url_never_survives(user in "[a-z]{1,8}", secret in "[A-Za-z0-9!*_-]{6,20}9") {
        let text = format!("see postgres://{user}:{secret}@db.example/x");
        let out = redact(&text).into_owned();
        let wanted = format!("{user}:{secret}@");
        prop_assert!(!out.contains(&wanted), "{}", out);
    }

    #[test]
    fn redacting_twice_changes_nothing_more(
        parts in proptest::collection::vec(prop_oneof![
            "\\PC{0,20}",
            Just("password: ".to_owned()), Just("token=".to_owned()), Just("secret ".to_owned()),
            Just("-----BEGIN PRIVATE KEY-----\n".to_owned()), Just("[redacted: password]".to_owned()),
            "[A-Za-z0-9+/]{32,50}", key(), Just("Bearer ".to_owned()), Just("\n".to_owned()),
        ], 0..10)
    ) {
        let once = redact(&parts.concat()).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once);
    }
}
