//! Takes secrets out of text: each becomes `[redacted: kind]`.
//!
//! Runs before anything is stored, before anything leaves the machine, and again on every way out. It knows the
//! shapes of issued keys, the places where people write passwords, and long random strings beside a word such as
//! "secret". It leaves alone what developers quote all day and what only looks random: commit hashes, UUIDs,
//! paths, code that names a secret without holding it. Redacting twice gives the same text as redacting once.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex, RegexBuilder};

/// The text with every secret that is recognised replaced by `[redacted: kind]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    let rules = &*RULES;
    let hits = rules.that_may_match(text);
    if hits == 0 {
        return Cow::Borrowed(text);
    }
    let mut out = text.to_owned();
    for (_, rule) in rules.list.iter().enumerate().filter(|(i, _)| hits & (1 << i) != 0) {
        let Some(pattern) = rule.pattern() else { continue };
        let replaced = pattern.replace_all(&out, |found: &Captures<'_>| replacement(rule, found));
        if let Cow::Owned(next) = replaced {
            out = next;
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Whether the text could hold a secret at all. Much cheaper than looking for one, and says yes far more often.
pub fn may_hold_secret(text: &str) -> bool {
    RULES.that_may_match(text) != 0
}

/// Whole match where the rule has no group `v`; otherwise only that group.
fn replacement(rule: &Rule, found: &Captures<'_>) -> String {
    let Some(whole) = found.get(0) else { return String::new() };
    let value = found.name("v").unwrap_or(whole);
    if !(rule.holds)(found, value.as_str()) {
        return whole.as_str().to_owned();
    }
    let head = &whole.as_str()[..value.start() - whole.start()];
    let tail = &whole.as_str()[value.end() - whole.start()..];
    format!("{head}[redacted: {}]{tail}", rule.kind)
}

/// Looks at what was found (all groups, and the value) and says whether it is a secret.
type Check = fn(&Captures<'_>, &str) -> bool;

struct Rule {
    kind: &'static str,
    source: &'static str,
    /// Compiled when a text first asks for it: some take a tenth of a second, and most processes need few.
    compiled: OnceLock<Option<Regex>>,
    holds: Check,
}

impl Rule {
    /// `None` where it does not compile; a test asserts that all do.
    fn pattern(&self) -> Option<&Regex> {
        let compile = || {
            // Boundaries of ASCII words: a key may follow a Chinese word without a blank, and it is one fast pass.
            let pattern = self.source.replace(r"\b", r"(?-u:\b)");
            RegexBuilder::new(&pattern).size_limit(SIZE_LIMIT).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

struct Rules {
    list: Vec<Rule>,
    /// The words of all rules, and for each the rules it belongs to as bits: one fast pass says which rules need to run
    /// at all, and for most text none does.
    words: Option<AhoCorasick>,
    by_word: Vec<u64>,
}

impl Rules {
    /// Bits of the rules that may match; all of them where the words could not be compiled.
    fn that_may_match(&self, text: &str) -> u64 {
        let Some(words) = &self.words else { return u64::MAX };
        let found = words.find_overlapping_iter(text);
        found.fold(0, |bits, found| bits | self.by_word.get(found.pattern().as_usize()).copied().unwrap_or(0))
    }
}

/// What each rule looks for, in the order in which they run: a more exact kind goes before a vaguer one. Last stand
/// words of which one must occur, in any case, for the rule to match at all.
const PATTERNS: &[(&str, &str, Check, &[&str])] = &[
    // Line breaks inside a block may be real, folded to blanks, or escaped in a JSON string.
    (
        "private key",
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.{0,20000}?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        always,
        &["PRIVATE KEY"],
    ),
    (
        "private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[nr]|\s)*[A-Za-z0-9+/]{16,}={0,2})*(?:(?:\\[nr]|\s)*[A-Za-z0-9+/]+={1,2})?",
        always,
        &["PRIVATE KEY"],
    ),
    (
        "private key",
        r"(?:[A-Za-z0-9+/]{16,}={0,2}(?:\\[nr]|\s)*)*(?:[A-Za-z0-9+/]+={0,2}(?:\\[nr]|\s)*)-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        always,
        &["PRIVATE KEY"],
    ),
    ("private key", r"\bMII[A-Za-z0-9+/]{90,}={0,2}", random, &["MII"]),
    ("private key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}", always, &["AGE-SECRET-KEY-1"]),
    ("api key", r"\bsk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{12,}", always, &["sk-"]),
    ("api key", r"\bsk-[A-Za-z0-9_-]{20,}", mixed, &["sk-"]),
    (
        "api key",
        r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,}|\bwhsec_[A-Za-z0-9+/]{16,}",
        always,
        &["k_live_", "k_test_", "whsec_"],
    ),
    (
        "github token",
        r"\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
        always,
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    ),
    (
        "gitlab token",
        r"\bgl(?:pat|dt|ptt|rt|soat|cbt|ft|imt|agent)-[A-Za-z0-9_-]{16,}",
        always,
        &["glpat-", "gldt-", "glptt-", "glrt-", "glsoat-", "glcbt-", "glft-", "glimt-", "glagent-"],
    ),
    ("aws key id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", always, &["AKIA", "ASIA", "ABIA", "ACCA"]),
    ("slack token", r"\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}", always, &["xox", "xapp-"]),
    (
        "slack webhook",
        r"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
        always,
        &["hooks.slack.com/"],
    ),
    (
        "google key",
        r"\bAIza[A-Za-z0-9_-]{30,}|\bGOCSPX-[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{20,}",
        always,
        &["AIza", "GOCSPX-", "ya29."],
    ),
    (
        "api key",
        r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{16,}|sbp_[a-f0-9]{30,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{30,}|lin_api_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|gsk_[A-Za-z0-9]{40,}|nvapi-[A-Za-z0-9_-]{40,}|pplx-[A-Za-z0-9]{40,}|tvly-[A-Za-z0-9-]{24,}|ATATT3[A-Za-z0-9_=-]{40,}|hv[sb]\.[A-Za-z0-9_-]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
        always,
        &[
            "npm_",
            "pypi-",
            "hf_",
            "dop_v1_",
            "dckr_pat_",
            "sbp_",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "lin_api_",
            "xai-",
            "gsk_",
            "nvapi-",
            "pplx-",
            "tvly-",
            "ATATT3",
            "hvs.",
            "hvb.",
            "SG.",
        ],
    ),
    ("bot token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{30,}", always, &[":AA"]),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", always, &["eyJ"]),
    (
        "url password",
        r#"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/?#@"'<>`]*:(?P<v>[^\s/"'<>`]+)@"#,
        not_a_placeholder,
        &["://"],
    ),
    ("password", r#"\s(?:-u|--user)[ =]["']?[\w.@-]+:(?P<v>[^\s"']+)"#, not_a_placeholder, &["-u"]),
    (
        "bearer token",
        r#"(?i)\b(?:bearer|basic)[ \t]+["']?(?P<v>[A-Za-z0-9._~+/=-]{12,})"#,
        mixed,
        &["bearer", "basic"],
    ),
    (
        "password",
        r#"(?i)(?:password|passwd|passphrase|pwd|passwort|contraseña|密码|パスワード)[\w-]*["']?[ \t]*(?::=|=>|[:=：])[ \t]*"(?P<v>[^"\n]{4,200})""#,
        quoted_password,
        &["password", "passwd", "passphrase", "pwd", "passwort", "contrase", "密码", "パスワード"],
    ),
    (
        "password",
        r#"(?im)(?P<lead>^[ \t>*-]*)?(?P<word>--)?["'`]?[\w.-]*(?:password|passwd|passphrase|pwd|kennwort|passwort|mot de passe|contraseña|senha|пароль|密码|密碼|口令|パスワード|비밀번호)(?:[_-]?(?:prod|dev|test|staging|old|new|\d+))?["'`]?(?P<sep>[ \t]*(?::=|=>|[:=：])[ \t]*|[ \t]+(?:is|was|ist|est|es)[ \t]+|[ \t]*[是为は][ \t]*|[ \t]+)(?P<q>["'`]?)(?P<v>[^\s"'`,;&<>(){}]+)(?P<end>["'`]?[ \t,;]*$)?"#,
        password_value,
        &[
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "kennwort",
            "passwort",
            "mot de passe",
            "contrase",
            "senha",
            "арол",
            "АРОЛ",
            "密码",
            "密碼",
            "口令",
            "パスワード",
            "비밀번호",
        ],
    ),
    (
        "secret",
        r#"(?im)(?P<word>--)?["'`]?[\w.-]*(?:secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|auth[_-]?key|private[_-]?key|account[_-]?key|encryption[_-]?key|signing[_-]?key|secret[_-]?key(?:[_-]?base)?|credentials?|令牌|密钥|トークン|토큰)(?:[_-]?(?:prod|dev|test|staging|old|new|\d+))?["'`]?(?P<sep>[ \t]*(?::=|=>|[:=：])[ \t]*|[ \t]+(?:is|was|ist|est|es)[ \t]+|[ \t]*[是为は][ \t]*|[ \t]+)(?P<q>["'`]?)(?P<v>[^\s"'`,;&<>(){}]+)"#,
        secret_value,
        &["secret", "token", "key", "credential", "令牌", "密钥", "トークン", "토큰"],
    ),
    (
        "secret",
        r"(?i)(?:api[ _-]?key|access[ _-]?key|private[ _-]?key|secret|token|password|credential|令牌|密钥|密码)(?P<between>[^\]\n]{0,30}?)\b(?P<v>[A-Za-z0-9+/_-]{32,}={0,2})",
        random_beside_a_word,
        &["key", "secret", "token", "password", "credential", "令牌", "密钥", "密码"],
    ),
];

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules { list: Vec::new(), words: None, by_word: Vec::new() };
    let mut words: Vec<&str> = Vec::new();
    for &(kind, source, holds, needs) in PATTERNS {
        let bit = 1_u64 << rules.list.len();
        rules.list.push(Rule { kind, source, compiled: OnceLock::new(), holds });
        for need in needs {
            if let Some(at) = words.iter().position(|word| word == need) {
                rules.by_word[at] |= bit;
            } else {
                words.push(need);
                rules.by_word.push(bit);
            }
        }
    }
    rules.words = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).ok();
    rules
});

/// Bytes one compiled pattern may take.
const SIZE_LIMIT: usize = 64 << 20;

fn always(_: &Captures<'_>, _: &str) -> bool {
    true
}

/// Letters and digits, or both cases in something long: no ordinary word of any language looks like that.
fn mixed(_: &Captures<'_>, value: &str) -> bool {
    !is_placeholder(value) && is_mixed(value)
}

fn random(_: &Captures<'_>, value: &str) -> bool {
    is_random(value)
}

fn not_a_placeholder(_: &Captures<'_>, value: &str) -> bool {
    !is_placeholder(value)
}

/// A value after a password word. Quoted, or standing alone at the end of its line, any word may be a password;
/// in running text and code only something with a digit or sign in it.
fn password_value(found: &Captures<'_>, value: &str) -> bool {
    if value.chars().count() < 4 || is_placeholder(value) || is_code(value) {
        return false;
    }
    let sep = group(found, "sep");
    let marked = !sep.trim().is_empty();
    if !marked && group(found, "word").is_empty() {
        return false;
    }
    let spoken = sep.trim().chars().all(char::is_alphabetic);
    let quoted = !group(found, "q").is_empty();
    let own_line = found.name("lead").is_some() && found.name("end").is_some();
    let long = value.chars().count() >= 6;
    let has = |test: fn(char) -> bool| value.chars().any(test);
    let (digit, letter) = (has(|c| c.is_ascii_digit()), has(char::is_alphabetic));
    let sign = has(|c| "!@#$%^*+?~".contains(c));
    if letter && (sign || (digit && long)) {
        return true;
    }
    !spoken && (quoted || (long && (own_line || digit)))
}

/// A string literal with blanks in it: a passphrase, unless it is a message about passwords.
fn quoted_password(_: &Captures<'_>, value: &str) -> bool {
    !is_code(value) && !value.split_whitespace().any(is_placeholder)
}

/// A value after a word for a token or key: must look issued, not typed.
fn secret_value(found: &Captures<'_>, value: &str) -> bool {
    if is_placeholder(value) || is_code(value) || is_path(value) {
        return false;
    }
    let spaced = group(found, "sep").trim().is_empty() && group(found, "word").is_empty();
    let long = value.chars().count() >= 12;
    long && is_mixed(value) && (!spaced || is_random(value) && value.len() >= 20)
}

fn random_beside_a_word(found: &Captures<'_>, value: &str) -> bool {
    let between = group(found, "between").to_ascii_lowercase();
    let named_hash =
        ["commit", "sha", "hash", "digest", "checksum", "revision"].iter().any(|w| between.contains(w));
    let hex = value.chars().all(|c| c.is_ascii_hexdigit());
    let known = (named_hash && hex) || is_path(value) || is_uuid(value);
    !known && is_random(value)
}

fn group<'t>(found: &'t Captures<'_>, name: &str) -> &'t str {
    found.name(name).map_or("", |m| m.as_str())
}

fn is_mixed(value: &str) -> bool {
    let digit = value.chars().any(|c| c.is_ascii_digit());
    let lower = value.chars().any(|c| c.is_ascii_lowercase());
    let upper = value.chars().any(|c| c.is_ascii_uppercase());
    (digit && (lower || upper)) || (lower && upper && value.len() >= 20 && entropy(value) >= 3.5)
}

/// Long hexadecimal or base64 of high entropy. English text has about 2.3 bits a character once words are
/// joined by signs the pattern allows; 32 random hexadecimal digits have 3.4 on average, base64 more.
fn is_random(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let hex = value.chars().all(|c| c.is_ascii_hexdigit());
    let wordy = value.split(['-', '_', '/']).filter(|part| part.len() >= 3).all(|part| {
        part.chars().all(|c| c.is_ascii_lowercase()) || part.chars().all(|c| c.is_ascii_uppercase())
    });
    digits >= 2 && !wordy && entropy(value) >= if hex { 2.9 } else { 3.6 }
}

/// Shannon entropy in bits a character.
fn entropy(value: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::<char, u32>::new();
    for c in value.chars() {
        *counts.entry(c).or_default() += 1;
    }
    let total = f64::from(counts.values().sum::<u32>().max(1));
    counts.values().map(|&n| f64::from(n) / total).map(|p| -p * p.log2()).sum()
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36 && uuid::Uuid::try_parse(value).is_ok()
}

fn is_path(value: &str) -> bool {
    let steps = value.split('/').filter(|s| !s.is_empty()).count();
    value.contains("://")
        || value.starts_with(['/', '~', '.'])
        || (steps >= 3 && !value.ends_with('=') && entropy(value) < 4.5)
}

/// Text that stands where a secret would be, without being one.
fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "changeme",
        "example",
        "placeholder",
        "redacted",
        "required",
        "optional",
        "undefined",
        "string",
        "boolean",
        "number",
        "secret",
        "password",
        "passwd",
        "token",
        "hidden",
        "masked",
        "missing",
        "invalid",
        "incorrect",
        "expired",
        "wrong",
        "empty",
        "reset",
        "resets",
        "stored",
        "hashed",
        "hashing",
        "encrypted",
        "rotated",
        "rotation",
        "validation",
        "manager",
        "policy",
        "field",
        "input",
        "prompt",
        "login",
        "based",
        "true",
        "false",
        "null",
        "none",
        "nil",
        "here",
        "must",
        "should",
        "from",
        "this",
        "that",
        "with",
        "only",
        "not",
        "the",
        "and",
        "are",
        "was",
        "has",
        "have",
        "never",
        "always",
        "when",
        "what",
        "which",
        "where",
        "str",
        "bool",
        "char",
        "text",
        "varchar",
        "option",
        "optional<string>",
        "unknown",
        "default",
    ];
    let bare = value.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    bare.is_empty()
        || value.starts_with("[redacted")
        || value.starts_with(['$', '%', '{', '<', '['])
        || value.starts_with("\\[")
        || WORDS.contains(&bare.as_str())
        || bare.starts_with("your")
        || bare.contains("...")
        || value.contains('…')
        || bare.chars().all(|c| c == 'x' || c == '*')
}

/// An expression that names where a secret comes from: `user.password`, `process.env.TOKEN`, `std::env`, `a[0]`.
fn is_code(value: &str) -> bool {
    let identifier = |s: &str| {
        !s.is_empty()
            && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && s.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    let plain = value.trim_end_matches(['.', '?', '!', ')', ']']);
    let lower = plain.to_ascii_lowercase();
    let names_itself = identifier(plain)
        && plain.len() < 24
        && !plain.chars().any(|c| c.is_ascii_digit())
        && ["password", "passwd", "pwd", "token", "secret", "key", "credential"]
            .iter()
            .any(|w| lower.contains(w));
    let dotted = plain.contains(['.', ':'])
        && plain.split(['.', ':']).filter(|s| !s.is_empty()).all(|s| identifier(s) && s.len() < 24);
    names_itself || dotted || plain.contains("()") || value.starts_with('&') || plain.contains('[')
}

#[cfg(test)]
mod tests;
