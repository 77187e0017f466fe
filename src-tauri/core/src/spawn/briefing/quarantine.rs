//! Recognises text that addresses the agent instead of recording something: orders to drop its instructions, role
//! tags, tool calls, faked messages of the host, and the same in disguise.
//!
//! Such text is shown to the user and never delivered, however it is quoted. What the user once asked of an agent
//! ("fix the login bug", "you must keep the API stable") is the very thing a briefing reports, so words of the user
//! are judged by fewer rules than words of unknown origin.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use super::clean;
use crate::source::Speaker;

/// Whether the text addresses the agent. Takes the text as stored: disguises are part of the evidence.
pub fn addresses_agent(text: &str, speaker: Speaker) -> bool {
    if has_tag_characters(text) {
        return true;
    }
    let plain = plain(text);
    if orders(&plain, speaker) || has_blob(&plain) {
        return true;
    }
    [unspelled(&plain), latin(&plain), unleet(&latin(&plain))]
        .iter()
        .any(|undisguised| *undisguised != plain && orders(undisguised, speaker))
        || hidden_in_base64(&plain)
}

/// One form for matching: visible characters only, compatibility forms resolved, blanks folded.
fn plain(text: &str) -> String {
    let visible = clean::visible(text);
    // ASCII is its own compatibility form, and most memories are ASCII.
    let visible = if visible.is_ascii() { visible } else { visible.nfkc().collect() };
    let lines = visible.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
}

fn orders(text: &str, speaker: Speaker) -> bool {
    PATTERNS.that_may_match(text).any(|pattern| {
        (pattern.from_anyone || speaker != Speaker::User)
            && pattern.compiled().is_none_or(|compiled| compiled.is_match(text))
    })
}

/// Patterns that no record of work needs. Case is ignored and `.` crosses line ends. Beside each stand lists of words,
/// in lower case: of every list one must occur for the pattern to match at all.
const NEVER_RECORDED: &[(&str, &[&[&str]])] = &[
    // Drop your instructions.
    (
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass|discard)\b.{0,30}\b(?:previous|prior|above|earlier|preceding|foregoing|all|any|your|these|those|initial|original|system)\b.{0,30}\b(?:instructions?|directives?|prompts?|orders|commands|programming|training|guardrails)\b",
        &[
            &["ignor", "disregard", "forget", "overrid", "bypass", "discard"],
            &[
                "instruction",
                "directive",
                "prompt",
                "orders",
                "commands",
                "programming",
                "training",
                "guardrails",
            ],
        ],
    ),
    (
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:your|safety|system|developer)\b.{0,20}\b(?:rules|guidelines|restrictions|constraints|polic(?:y|ies)|safeguards)\b",
        &[
            &["ignore", "disregard", "forget", "override", "bypass"],
            &["rules", "guidelines", "restrictions", "constraints", "polic", "safeguards"],
        ],
    ),
    (
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything) (?:above|before|prior|previous|you were told|you have been told|you know)\b",
        &[&["ignore ", "disregard ", "forget "], &["everything", "all", "anything"]],
    ),
    (
        r"\bdo not (?:follow|obey) (?:the|your|any|previous|prior) .{0,20}(?:instructions|system prompt)\b",
        &[&["do not follow", "do not obey"]],
    ),
    (
        r"\b(?:ignora|ignorad|ignore|olvida|olvide|descarta|omite|desobedece|haz caso omiso)\b.{0,40}\binstrucci(?:ó|o)n(?:es)?\b",
        &[&["instrucci"]],
    ),
    (
        r"\b(?:ignorez|ignore|oublie|oubliez|ne tiens pas compte|ne tenez pas compte|fais abstraction|faites abstraction)\b.{0,40}\b(?:instructions|consignes|directives)\b",
        &[&["ignore", "oublie", "pas compte", "abstraction"], &["instructions", "consignes", "directives"]],
    ),
    (
        r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missachte\w*|beachte nicht)\b.{0,40}\b(?:anweisung\w*|instruktion\w*|vorgaben|befehle|systemprompt)\b",
        &[
            &["ignorier", "vergiss", "vergesst", "vergessen sie", "missachte", "beachte nicht"],
            &["anweisung", "instruktion", "vorgaben", "befehle", "systemprompt"],
        ],
    ),
    (r"\b(?:ignora|ignori|dimentica)\b.{0,40}\bistruzioni\b", &[&["istruzioni"]]),
    (r"\b(?:ignore|ignora|esqueça|esquece|desconsidere)\b.{0,40}\binstruç(?:ão|ões)\b", &[&["instruç"]]),
    (
        r"(?:игнорируй\w*|забудь\w*|не обращай внимания).{0,40}(?:инструкци|указани|команд)",
        &[
            &[
                "игнорируй",
                "забудь",
                "обращай",
                "\u{1c80}",
                "\u{1c81}",
                "\u{1c82}",
                "\u{1c83}",
                "\u{1c84}",
                "\u{1c85}",
                "\u{1c86}",
            ],
            &[
                "инструкци",
                "указани",
                "команд",
                "\u{1c80}",
                "\u{1c81}",
                "\u{1c82}",
                "\u{1c83}",
                "\u{1c84}",
                "\u{1c85}",
                "\u{1c86}",
            ],
        ],
    ),
    (
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|忽視|不要理会|不要理會|不用理会|抛开|覆盖).{0,10}(?:之前|以上|上面|上述|先前|前面|此前|所有|全部|一切|你的|系统|系統).{0,10}(?:指令|指示|命令|提示词|提示詞|系统提示|設定|设定|约束|限制|规则|規則)",
        &[
            &[
                "忽略",
                "无视",
                "無視",
                "忘记",
                "忘記",
                "忘掉",
                "忽視",
                "不要理会",
                "不要理會",
                "不用理会",
                "抛开",
                "覆盖",
            ],
            &[
                "指令",
                "指示",
                "命令",
                "提示词",
                "提示詞",
                "系统提示",
                "設定",
                "设定",
                "约束",
                "限制",
                "规则",
                "規則",
            ],
        ],
    ),
    (
        r"(?:以前|これまで|上記|以上|先ほど|前|今まで|すべて|全て|全部).{0,8}(?:指示|命令|指令|プロンプト|ルール|制約).{0,10}(?:無視|忘れ|破棄|従わない)",
        &[&["無視", "忘れ", "破棄", "従わない"], &["指示", "命令", "指令", "プロンプト", "ルール", "制約"]],
    ),
    (
        r"(?:이전|위의?|앞의?|모든|지금까지).{0,10}(?:지시|명령|프롬프트|지침).{0,10}(?:무시|잊)",
        &[&["무시", "잊"], &["지시", "명령", "프롬프트", "지침"]],
    ),
    // Pretending to be someone.
    (
        r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
        &[&["<|", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>", "<end_of_turn>"]],
    ),
    (
        r"(?:</|(?:^|[^\w])<)\s*/?\s*(?:system|system-reminder|system_prompt|assistant|tool_calls?|tool_use|tool_result|function_calls?|function_results?|antml:[a-z_]+|local-command-[a-z]+)\b[^<\n]{0,200}>",
        &[&["<"], &["system", "assistant", "tool_", "function_", "antml:", "local-command-"]],
    ),
    (r"<\s*invoke\s+name\s*=", &[&["<"], &["invoke"]]),
    (
        r"(?m)^[\W_]{0,4}(?:system|developer)(?: prompt| message| note| instructions?)?[\W_]{0,3}:[\W_]{0,3}(?:you\b|ignore|from now|the assistant|new\b|please|execute|run\b|always|never|do not|override|important|your\b|attention|disregard|reveal|print|respond|reply)",
        &[&["system", "developer"], &[":"]],
    ),
    (
        r"\b(?:session ?start|user ?prompt ?submit|pre ?tool ?use|post ?tool ?use|stop) hook (?:additional context|success|feedback|blocking error)\s*:",
        &[&["hook additional context", "hook success", "hook feedback", "hook blocking error"]],
    ),
    (r#"\{\s*"hookspecificoutput"\s*:"#, &[&["hookspecificoutput"]]),
    (
        r#"\{\s*"(?:tool|tool_name|name|function|recipient_name)"\s*:\s*"[\w.:-]+"\s*,\s*"(?:arguments|input|parameters|tool_input)"\s*:\s*[\{"]"#,
        &[
            &["\"arguments\"", "\"input\"", "\"parameters\"", "\"tool_input\""],
            &["\"tool\"", "\"tool_name\"", "\"name\"", "\"function\"", "\"recipient_name\""],
        ],
    ),
    (r#"\{\s*"role"\s*:\s*"(?:system|developer|assistant)"\s*,"#, &[&["\"role\""]]),
    // Recasting it.
    (
        r"\byou are now (?:an? |the |in |no longer |free|dan\b|unrestricted|jailbroken|operating|acting)",
        &[&["you are now "]],
    ),
    (
        r"\bfrom now on,? (?:you (?:are|will|must|should|shall)\b.{0,40}\b(?:obey|ignore|act|pretend|unrestricted|without (?:any )?restrictions)|obey\b|ignore\b)",
        &[&["from now on"]],
    ),
    (
        r"\b(?:act|behave|respond) as (?:an? |the )?(?:unrestricted|uncensored|jailbroken|root user|dan\b)",
        &[
            &["act as ", "behave as ", "respond as "],
            &["unrestricted", "uncensored", "jailbroken", "root user", "dan"],
        ],
    ),
    (
        r"\b(?:new|updated|real|actual|secret|hidden|true) (?:system )?(?:instructions|prompt|directives?|orders) (?:for (?:you|the (?:assistant|agent|ai|model))|follow|are)\b",
        &[
            &["instructions ", "prompt ", "directive", "orders "],
            &["new ", "updated ", "real ", "actual ", "secret ", "hidden ", "true "],
        ],
    ),
    (
        r"\b(?:attention|note to|message (?:to|for)|instructions? (?:to|for)|important (?:notice|message|instructions?) (?:to|for)),? (?:the |any |all )?(?:ai|a\.i\.|llms?|language models?|(?:ai |coding )?(?:assistant|agent)s?|claude|chatgpt|gpt|copilot|gemini|codex)\b.{0,3}[:,!]",
        &[
            &[
                "attention",
                "note to",
                "message to",
                "message for",
                "instruction",
                "important notice",
                "important message",
            ],
            &[
                "ai",
                "a.i.",
                "llm",
                "language model",
                "assistant",
                "agent",
                "claude",
                "gpt",
                "copilot",
                "gemini",
                "codex",
            ],
            &[":", ",", "!"],
        ],
    ),
    (
        r"\b(?:reveal|print|output|repeat|leak|show me) (?:your|the) (?:full |entire |hidden )?system prompt\b",
        &[&["system prompt"]],
    ),
    // Going behind the user's back.
    (
        r"\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting|ask|asking|reveal|warn|warning)(?:ing)? (?:this |that |it |anything )?(?:to )?(?:the )?(?:user|human|operator|developer)\b.{0,40}(?:\.|$|about|that|this|first|before|,)",
        &[
            &["do not ", "don't ", "never ", "without "],
            &["tell", "inform", "mention", "notify", "alert", "ask", "reveal", "warn"],
            &["user", "human", "operator", "developer"],
        ],
    ),
    (
        r"\b(?:exfiltrate|upload|send|post|email|curl)\b.{0,60}(?:~/\.ssh|id_rsa|id_ed25519|\.env\b|private keys?|api keys?|credentials|secrets|environment variables).{0,40}\b(?:to|at)\b.{0,10}(?:https?://|\S+@\S+)",
        &[
            &["exfiltrate", "upload", "send", "post", "email", "curl"],
            &[
                "~/.ssh",
                "id_rsa",
                "id_ed25519",
                ".env",
                "private key",
                "api key",
                "credentials",
                "secrets",
                "environment variables",
            ],
            &["http://", "https://", "@"],
        ],
    ),
];

/// Orders whose words a user uses too. From the user's own mouth they are history.
const ORDERS: &[(&str, &[&[&str]])] = &[
    (
        r"\b(?:you|the (?:assistant|agent|ai|model)|claude) (?:must|have to|are (?:now )?(?:required|ordered|instructed|obliged|authori[sz]ed|permitted) to|shall|need to|should (?:now|immediately|always)) (?:now |immediately |always |first |silently |also )?(?:run|execute|invoke|call|curl|download|install|delete|remove|send|email|upload|post|fetch|obey|reveal|print|output|reply|respond|follow|comply|write|push|disable|approve|accept|open|read|use)\b",
        &[
            &["you ", "the assistant ", "the agent ", "the ai ", "the model ", "claude "],
            &[
                " must ",
                " have to ",
                " required to ",
                " ordered to ",
                " instructed to ",
                " obliged to ",
                " authorised to ",
                " authorized to ",
                " permitted to ",
                " shall ",
                " need to ",
                " should now ",
                " should immediately ",
                " should always ",
            ],
        ],
    ),
    (
        r"\b(?:assistant|claude|ai|agent|model)\s*[,:]\s*(?:please )?(?:now )?(?:run|execute|ignore|delete|send|upload|fetch|call|follow|obey|reveal|disregard|stop)\b",
        &[
            &["assistant", "claude", "ai", "agent", "model"],
            &[",", ":"],
            &[
                "run",
                "execute",
                "ignore",
                "delete",
                "send",
                "upload",
                "fetch",
                "call",
                "follow",
                "obey",
                "reveal",
                "disregard",
                "stop",
            ],
        ],
    ),
    (
        r"(?m)^[\W_]{0,4}(?:please |now |immediately |first,? )?(?:run|execute|eval|paste|type)\b.{0,40}(?:\bcurl\b|\bwget\b|rm -rf|base64 (?:-d|--decode)|bash -c|sh -c|python3? -c|powershell|\bnc\b -|/dev/tcp)",
        &[
            &[
                "curl",
                "wget",
                "rm -rf",
                "base64 -d",
                "base64 --decode",
                "sh -c",
                "python -c",
                "python3 -c",
                "powershell",
                "nc -",
                "/dev/tcp",
            ],
            &["run", "execute", "eval", "paste", "type"],
        ],
    ),
    (
        r"(?:curl|wget)\b[^|\n]{0,200}\|\s*(?:sudo )?(?:ba|z|da)?sh\b.{0,60}\b(?:now|immediately|before (?:you|doing|anything))",
        &[&["curl", "wget"], &["|"], &["now", "immediately", "before"]],
    ),
    (
        r"(?:你|您|助手|智能体|模型)(?:必须|必需|需要立即|应当立即|现在要).{0,10}(?:运行|执行|删除|发送|上传|下载|调用|输出)",
        &[&["必须", "必需", "需要立即", "应当立即", "现在要"], &["你", "您", "助手", "智能体", "模型"]],
    ),
    (
        r"(?:あなた|アシスタント|エージェント)は.{0,12}(?:実行|削除|送信|アップロード|ダウンロード).{0,6}(?:しなければ|する必要|してください|しなさい)",
        &[
            &["しなければ", "する必要", "してください", "しなさい"],
            &["あなた", "アシスタント", "エージェント"],
        ],
    ),
    (
        r"\b(?:du|sie) (?:musst|müssen) (?:jetzt |sofort |unbedingt )?.{0,30}(?:ausführen|löschen|senden|herunterladen|hochladen)\b",
        &[&["musst", "müssen"], &["ausführen", "löschen", "senden", "herunterladen", "hochladen"]],
    ),
    (
        r"\b(?:debes|tienes que|deberás) (?:ahora |inmediatamente )?(?:ejecutar|borrar|enviar|descargar|subir)\b",
        &[&["debes", "tienes que", "deberás"], &["ejecutar", "borrar", "enviar", "descargar", "subir"]],
    ),
    (
        r"\b(?:tu dois|vous devez) (?:maintenant |immédiatement )?(?:exécuter|supprimer|envoyer|télécharger|lancer)\b",
        &[&["tu dois", "vous devez"], &["exécuter", "supprimer", "envoyer", "télécharger", "lancer"]],
    ),
];

/// What is left of the worst orders once everything but letters is taken out.
const SPELLED: &[&str] = &[
    "ignorepreviousinstructions",
    "ignoreallpreviousinstructions",
    "ignoreyourinstructions",
    "ignoreallinstructions",
    "ignorepriorinstructions",
    "ignoretheaboveinstructions",
    "ignoreaboveinstructions",
    "disregardpreviousinstructions",
    "disregardallpreviousinstructions",
    "forgetpreviousinstructions",
    "forgetallpreviousinstructions",
    "forgetyourinstructions",
    "ignoreallpriorinstructions",
    "disregardyourinstructions",
    "overrideyourinstructions",
    "revealyoursystemprompt",
    "ignorethesystemprompt",
];

static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::new);
static BLOB: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{24,}={0,2}").ok());

/// Makes ready now what would else be made when first used.
pub fn compile_patterns() {
    LazyLock::force(&PATTERNS);
    LazyLock::force(&BLOB);
}

struct Pattern {
    source: &'static str,
    /// Judges the user's own words too.
    from_anyone: bool,
    /// Bits of its lists of words.
    needs: u128,
    /// Compiled when a text first asks for it: all together take longer than everything else a briefing costs, and most
    /// texts ask for none.
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// `None` where it does not compile; then it counts as matching, so that nothing is delivered unseen. A test asserts
    /// that all do.
    fn compiled(&self) -> Option<&Regex> {
        let compile = || {
            // Boundaries of ASCII words: only those can be decided without decoding.
            RegexBuilder::new(&self.source.replace(r"\b", r"(?-u:\b)"))
                .case_insensitive(true)
                .dot_matches_new_line(true)
                .size_limit(64 << 20)
                .dfa_size_limit(8 << 20)
                .build()
                .ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

struct Patterns {
    list: Vec<Pattern>,
    /// The words of all patterns, and for each the lists it stands in as bits: one fast pass says which patterns need to
    /// run. `None` where they could not be compiled or are too many; then all run.
    words: Option<AhoCorasick>,
    by_word: Vec<u128>,
}

impl Patterns {
    fn new() -> Self {
        let mut list = Vec::new();
        let mut by_word: BTreeMap<&str, u128> = BTreeMap::new();
        let mut lists = 0;
        let never = NEVER_RECORDED.iter().map(|pattern| (pattern, true));
        for (&(source, words), from_anyone) in never.chain(ORDERS.iter().map(|pattern| (pattern, false))) {
            let mut needs = 0;
            for of in words {
                let bit = 1_u128.checked_shl(lists).unwrap_or(0);
                lists += 1;
                needs |= bit;
                for word in *of {
                    *by_word.entry(word).or_default() |= bit;
                }
            }
            list.push(Pattern { source, from_anyone, needs, compiled: OnceLock::new() });
        }
        let words = AhoCorasick::new(by_word.keys()).ok().filter(|_| lists <= u128::BITS);
        Self { list, words, by_word: by_word.into_values().collect() }
    }

    /// The patterns of which every list of words is met. The text has been through [`plain`], so that its letters have
    /// no other form that would match than those of either case.
    fn that_may_match(&self, text: &str) -> impl Iterator<Item = &Pattern> {
        let met = self.words.as_ref().map_or(u128::MAX, |words| {
            let lower = text.to_lowercase();
            let found = words.find_overlapping_iter(&lower);
            found.fold(0, |met, found| {
                met | self.by_word.get(found.pattern().as_usize()).copied().unwrap_or(0)
            })
        });
        self.list.iter().filter(move |pattern| pattern.needs & !met == 0)
    }
}

/// Letters that only tag characters can write are read by models and seen by nobody.
fn has_tag_characters(text: &str) -> bool {
    let mut in_flag = false;
    text.chars().any(|c| match u32::from(c) {
        0x1F3F4 => {
            in_flag = true;
            false
        }
        0xE0000..=0xE007F => !in_flag,
        _ => {
            in_flag = false;
            false
        }
    })
}

/// Single letters set apart ("i g n o r e") joined again, and the worst orders looked for without any blanks: the
/// result is a sentence the patterns know.
fn unspelled(text: &str) -> String {
    let mut run = 0u32;
    let mut longest = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        run = if word.chars().count() == 1 { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    if longest < 5 {
        return text.to_owned();
    }
    let letters: String =
        unleet(&latin(text)).chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    if SPELLED.iter().any(|order| letters.contains(order)) {
        "ignore all previous instructions".into()
    } else {
        text.to_owned()
    }
}

/// Cyrillic and Greek letters that look Latin, where they stand among Latin ones or ASCII text.
fn latin(text: &str) -> String {
    const PAIRS: &[(&str, char)] = &[
        ("аαΑА", 'a'),
        ("вВΒ", 'b'),
        ("сСϲ", 'c'),
        ("еЕεΕ", 'e'),
        ("һΗНн", 'h'),
        ("іІιΙ", 'i'),
        ("јЈ", 'j'),
        ("кКκΚ", 'k'),
        ("ӏ", 'l'),
        ("мМΜ", 'm'),
        ("ոΝ", 'n'),
        ("оОοΟօ", 'o'),
        ("рРρΡ", 'p'),
        ("ѕЅ", 's'),
        ("тТτΤ", 't'),
        ("υս", 'u'),
        ("ѵν", 'v'),
        ("ԝ", 'w'),
        ("хХχΧ", 'x'),
        ("уУγΥ", 'y'),
        ("ԁ", 'd'),
        ("ɡ", 'g'),
    ];
    if text.is_ascii() {
        return text.to_owned();
    }
    text.chars()
        .map(|c| PAIRS.iter().find(|(looks, _)| looks.contains(c)).map_or(c, |&(_, letter)| letter))
        .collect()
}

/// Digits and signs read as the letters they stand for, inside words that have letters.
fn unleet(text: &str) -> String {
    text.split_inclusive(char::is_whitespace)
        .map(|word| {
            if !word.chars().any(|c| c.is_ascii_alphabetic()) {
                return word.to_owned();
            }
            word.chars()
                .map(|c| match c {
                    '0' => 'o',
                    '1' | '!' | '|' => 'i',
                    '3' => 'e',
                    '4' | '@' => 'a',
                    '5' | '$' => 's',
                    '7' => 't',
                    _ => c,
                })
                .collect()
        })
        .collect()
}

/// A long run of base64 that is no hash: nobody can read it, and a model might.
fn has_blob(text: &str) -> bool {
    BLOB.as_ref().is_none_or(|blob| {
        blob.find_iter(text).any(|found| {
            let run = found.as_str();
            let before = text.get(..found.start()).unwrap_or("");
            let hash = run.len() <= 100 && (before.ends_with("sha512-") || run.starts_with("sha"));
            let hex = run.chars().all(|c| c.is_ascii_hexdigit());
            let path = run.matches(['/', '-', '_']).count() * 12 >= run.len();
            let has = |test: fn(&char) -> bool| run.chars().any(|c| test(&c));
            let mixed =
                has(char::is_ascii_digit) && has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
            run.len() >= 80 && mixed && !hex && !path && !hash
        })
    })
}

/// A shorter run of base64 whose text is an order.
fn hidden_in_base64(text: &str) -> bool {
    BLOB.as_ref().is_none_or(|blob| {
        blob.find_iter(text).any(|found| {
            let run = found.as_str().trim_end_matches('=');
            // A run may begin or end in letters that are not part of it only by whole groups of four.
            let run = run.get(..run.len() - usize::from(run.len() % 4 == 1)).unwrap_or(run);
            let bytes = STANDARD_NO_PAD.decode(run).or_else(|_| URL_SAFE_NO_PAD.decode(run));
            bytes.is_ok_and(|bytes| {
                std::str::from_utf8(&bytes).is_ok_and(|decoded| orders(&plain(decoded), Speaker::Store))
            })
        })
    })
}

#[cfg(test)]
mod tests;
