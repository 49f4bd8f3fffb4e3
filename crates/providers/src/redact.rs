use std::borrow::Cow;
use std::fmt::Write;

use secrecy::{ExposeSecret, SecretString};

const MASK: &str = "[redacted]";

/// Shorter ones are looked for as whole words only.
const SHORTEST: usize = 8;

/// Shorter than this nothing is looked for: a sentence without its `a` says nothing, and such a key keeps nobody out.
const SHORTEST_WORD: usize = 3;

/// What people write where a local server wants any key at all. Errors may well contain these words.
const PLACEHOLDERS: [&str; 16] = [
    "none", "null", "nil", "no", "any", "key", "api", "token", "test", "empty", "dummy", "local", "ollama", "openai",
    "llama", "vllm",
];

/// How keys of known vendors begin.
const PREFIXES: [&str; 19] = [
    "sk-",
    "sk_",
    "pk-",
    "rk-",
    "AIza",
    "gsk_",
    "xai-",
    "hf_",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "nvapi-",
    "pplx-",
    "AKIA",
    "ASIA",
    "ya29.",
    "1//",
    "eyJ",
];

/// What stands in front of a secret in headers and their echoes.
const LEADERS: [&str; 6] = ["bearer", "x-api-key", "api-key", "api_key", "authorization", "x-amz-security-token"];

/// How the names of variables end that hold secrets, as files like `.env` have them.
const VARIABLES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"];

/// Shorter than this, what such a variable is set to is left: a number, a word, a name.
const SHORTEST_VALUE: usize = 12;

/// Takes secrets out of texts before anyone sees them: the ones it knows, in the forms an error body may give them back
/// (plain, in JSON, in a URL), and whatever looks like a key, follows `Bearer`, `x-api-key` and the like, or is what a
/// variable called `…_KEY`, `…_TOKEN` or `…_SECRET` is set to.
#[derive(Default)]
pub(crate) struct Redactor {
    forms: Vec<SecretString>,
    /// Short ones, which only count where they stand as a word.
    words: Vec<SecretString>,
}

impl Redactor {
    /// Secrets shorter than eight letters count as whole words only, and not where they are words like `none`, which
    /// stand for no key at all.
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut forms: Vec<SecretString> = Vec::new();
        let mut words: Vec<SecretString> = Vec::new();
        for secret in secrets {
            let secret = secret.trim();
            if secret.len() < SHORTEST {
                let placeholder = PLACEHOLDERS.iter().any(|word| word.eq_ignore_ascii_case(secret));
                if secret.len() >= SHORTEST_WORD && !placeholder {
                    words.push(secret.into());
                }
                continue;
            }
            let json = serde_json::to_string(secret).unwrap_or_default();
            for form in [secret, json.trim_matches('"'), &percent_encoded(secret)] {
                if !forms.iter().any(|known| known.expose_secret() == form) {
                    forms.push(form.into());
                }
            }
        }
        Self { forms, words }
    }

    /// `text` with every secret and every lookalike replaced by `[redacted]`.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for form in &self.forms {
            if text.contains(form.expose_secret()) {
                text = Cow::Owned(text.replace(form.expose_secret(), MASK));
            }
        }
        for word in &self.words {
            text = Cow::Owned(mask_word(&text, word.expose_secret()));
        }
        mask_lookalikes(&text)
    }
}

/// Masks `secret` where it stands alone, not where it is a part of a longer word.
fn mask_word(text: &str, secret: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(secret) {
        let joined = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
        // What was masked already ends in a bracket, so that it joins nothing.
        let last = before.chars().next_back().or_else(|| masked.chars().next_back());
        let alone = !joined(last) && !joined(after.chars().next());
        masked.push_str(before);
        masked.push_str(if alone { MASK } else { secret });
        rest = after;
    }
    masked.push_str(rest);
    masked
}

pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            write!(encoded, "%{byte:02X}").ok();
        }
    }
    encoded
}

/// Masks words that begin like a vendor's key, and what stands behind a [`LEADERS`] entry.
fn mask_lookalikes(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    let mut led = Led::No;
    while !rest.is_empty() {
        let end = rest.find(|c: char| if led == Led::No { !in_word(c) } else { ends_secret(c) }).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let core = word.trim_end_matches('.');
        if core != MASK && (looks_like_key(core) || led.to_secret(core)) {
            masked.push_str(MASK);
            masked.push_str(word.get(core.len()..).unwrap_or_default());
        } else {
            masked.push_str(word);
        }
        let (gap, next) = after.split_at(after.find(in_word).unwrap_or(after.len()));
        masked.push_str(gap);
        led = leads(word, gap);
        rest = next;
    }
    masked
}

/// Letters that keys and tokens are made of. Neither `=` nor `/`, so that `?key=AIza…` begins a word at the key.
fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*' | '+' | '~')
}

/// Where a secret behind a leader is over at the latest.
fn ends_secret(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '&' | '}' | ']' | ')' | '>' | '\\')
}

fn looks_like_key(word: &str) -> bool {
    word.len() >= 12 && PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Not a word of the sentence that the leader stands in.
fn looks_random(word: &str) -> bool {
    word.len() >= SHORTEST && (word.len() >= 20 || word.contains(|c: char| c.is_ascii_digit() || c == '*'))
}

/// What the word before promises of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Led {
    No,
    /// It stands behind a [`LEADERS`] entry.
    Announced,
    /// A variable for secrets is set to it.
    Assigned,
}

impl Led {
    fn to_secret(self, word: &str) -> bool {
        match self {
            Self::No => false,
            Self::Announced => looks_random(word),
            Self::Assigned => looks_like_value(word),
        }
    }
}

/// Letters and digits, as no name of another variable or function has them.
fn looks_like_value(word: &str) -> bool {
    let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
    word.len() >= SHORTEST_VALUE
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !has(|c| matches!(c, '(' | '$' | '{' | '.'))
}

/// Whether what follows `word` and `gap` may be the secret that `word` announces.
fn leads(word: &str, gap: &str) -> Led {
    let joint = !gap.is_empty() && gap.chars().all(|c| matches!(c, ' ' | ':' | '"' | '\'' | '=' | '\\'));
    if !joint {
        return Led::No;
    }
    if LEADERS.iter().any(|leader| leader.eq_ignore_ascii_case(word)) {
        return Led::Announced;
    }
    let is_name = word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_set = gap.contains(['=', ':']) && VARIABLES.iter().any(|ending| word.ends_with(ending));
    if is_name && is_set { Led::Assigned } else { Led::No }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn redact(text: &str) -> String {
        Redactor::new(["canary+key/42\"x", "none"]).redact(text)
    }

    #[test]
    fn a_known_key_goes_in_every_form_an_error_may_echo() {
        for form in ["canary+key/42\"x", r#"canary+key/42\"x"#, "canary%2Bkey%2F42%22x"] {
            assert_eq!(redact(&format!("wrong key <{form}>!")), "wrong key <[redacted]>!");
        }
    }

    #[test]
    fn a_short_key_goes_where_it_stands_alone() {
        let redact = |text: &str| Redactor::new(["k-7x", "no", "None", "ab"]).redact(text);
        assert_eq!(redact("wrong key 'k-7x', k-7x: no ab, none"), "wrong key '[redacted]', [redacted]: no ab, none");
        assert_eq!(redact("task-7x k-7xy k-7xk-7x"), "task-7x k-7xy k-7xk-7x");
    }

    #[test]
    fn what_looks_like_a_key_goes_too() {
        let cases = [
            ("Incorrect API key provided: sk-proj-****abcd. See", "Incorrect API key provided: [redacted]. See"),
            (r#"{"x-api-key": "abcdefgh1234"}"#, r#"{"x-api-key": "[redacted]"}"#),
            ("Authorization: Bearer abcdefgh1234, ok", "Authorization: Bearer [redacted], ok"),
            ("bearer abcdefgh1234/+=x y", "bearer [redacted] y"),
            ("https://h/?key=AIzaSyA1234567890&x=1", "https://h/?key=[redacted]&x=1"),
            ("PORT=8080\nMY_API_KEY=abcdef012345\n", "PORT=8080\nMY_API_KEY=[redacted]\n"),
            ("export DB_PASSWORD='p4ssw0rd/of+all'", "export DB_PASSWORD='[redacted]'"),
            (r#"{"APP_SECRET": "0123456789abcdef"}"#, r#"{"APP_SECRET": "[redacted]"}"#),
        ];
        for (text, wanted) in cases {
            assert_eq!(redact(text), wanted);
        }
    }

    #[test]
    fn ordinary_words_stay() {
        for text in [
            "there is none",
            "risk-averse task-sk-x",
            "the model 'sk-1' 世界",
            "x-api-key header is required",
            "no Authorization information",
            "API_KEY=${OPENAI_API_KEY_2}",
            "const TOKEN = readToken2(name)",
            "MAX_TOKENS=1234567890123",
            "the primary_key: user_id_123456",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
