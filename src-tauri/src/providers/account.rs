use bosun_protocol::{ErrorCode, ProviderFamily, SaveProvider};
use bosun_providers::{Family, host_of};
use bosun_store::ProviderAccount;

use super::presets::{Preset, preset};
use crate::error::Failure;

/// Letters of a name.
const LONGEST_LABEL: usize = 80;
const LONGEST_URL: usize = 2_048;
const LONGEST_KEY: usize = 4_096;

/// A provider as it is used: a preset, a preset with the user's changes, or the user's own.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub id: String,
    pub label: String,
    pub family: Family,
    pub base_url: String,
    pub preset: Option<&'static Preset>,
}

impl Account {
    /// The presets with what was `stored` over them, then the user's own.
    pub(crate) fn all(stored: Vec<ProviderAccount>) -> Vec<Self> {
        let (changed, own): (Vec<_>, Vec<_>) = stored.into_iter().partition(|account| preset(&account.id).is_some());
        let presets = super::presets::PRESETS.iter().filter_map(Self::preset);
        let merged = presets.map(|account| {
            let change = changed.iter().find(|change| change.id == account.id).cloned();
            change.and_then(Self::stored).unwrap_or(account)
        });
        merged.chain(own.into_iter().filter_map(Self::stored)).collect()
    }

    fn preset(preset: &'static Preset) -> Option<Self> {
        let (id, label, base_url) = (preset.id.to_owned(), preset.label.to_owned(), preset.base_url.to_owned());
        Some(Self { id, label, family: wire(preset.family)?, base_url, preset: Some(preset) })
    }

    /// `None` for a family that a newer Bosun wrote.
    fn stored(account: ProviderAccount) -> Option<Self> {
        let family = match account.family.as_str() {
            "anthropic" => Family::Anthropic,
            "openai_chat" => Family::OpenAiChat,
            unknown => {
                tracing::warn!(account = account.id, family = unknown, "an account of an unknown family is left out");
                return None;
            }
        };
        let preset = preset(&account.id);
        Some(Self { id: account.id, label: account.label, family, base_url: account.base_url, preset })
    }

    /// What a form says, checked. `id` is the one it will have.
    pub(crate) fn from_form(id: String, form: &SaveProvider) -> Result<Self, Failure> {
        let label = form.label.trim();
        if label.is_empty() || label.chars().count() > LONGEST_LABEL || label.chars().any(char::is_control) {
            return Err(invalid("a provider needs a name of 1 to 80 characters"));
        }
        let base_url = form.base_url.trim();
        if base_url.len() > LONGEST_URL {
            return Err(invalid("the base URL is too long"));
        }
        host_of(base_url).map_err(|error| invalid(&error.message))?;
        let family = wire(form.family).ok_or_else(|| invalid("the tour is built in and cannot be added"))?;
        let preset = preset(&id);
        if preset.is_some_and(|preset| preset.family != form.family) {
            return Err(invalid("a built-in provider keeps its kind; add a new one instead"));
        }
        Ok(Self { id, label: label.to_owned(), family, base_url: base_url.to_owned(), preset })
    }

    /// Whether it is a preset as it came, of which there is nothing to store.
    pub(crate) fn is_preset(&self) -> bool {
        self.preset.is_some_and(|preset| preset.label == self.label && preset.base_url == self.base_url)
    }

    pub(crate) fn to_stored(&self) -> ProviderAccount {
        let family = match self.family {
            Family::Anthropic => "anthropic",
            Family::OpenAiChat => "openai_chat",
        };
        ProviderAccount {
            id: self.id.clone(),
            label: self.label.clone(),
            family: family.to_owned(),
            base_url: self.base_url.clone(),
        }
    }

    /// What its key is bound to; empty for an address that cannot be read, which no key is ever kept for.
    pub(crate) fn host(&self) -> String {
        host_of(&self.base_url).unwrap_or_default()
    }

    /// Whether it speaks to the host that the vendor's environment variable is meant for.
    pub(crate) fn at_home(&self) -> bool {
        self.preset.is_some_and(|preset| host_of(preset.base_url).is_ok_and(|home| home == self.host()))
    }

    /// A vendor refuses every call without a key; other servers may want none.
    pub(crate) fn key_optional(&self) -> bool {
        !(self.at_home() && self.preset.is_some_and(|preset| !preset.variables.is_empty()))
    }

    pub(crate) fn family_view(&self) -> ProviderFamily {
        match self.family {
            Family::Anthropic => ProviderFamily::Anthropic,
            Family::OpenAiChat => ProviderFamily::OpenaiChat,
        }
    }
}

/// Checks a key as it was pasted.
pub(crate) fn checked_key(key: &str) -> Result<&str, Failure> {
    let key = key.trim();
    if key.len() > LONGEST_KEY || key.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(invalid("this is no key: it is too long, or has blanks or line breaks in it"));
    }
    Ok(key)
}

/// An id for a new provider, from its name: `My server` becomes `my-server`, and `my-server-2` when that is taken.
pub(crate) fn new_id(label: &str, taken: &[Account]) -> String {
    let words = label.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    let slug = if slug.is_empty() { "provider".to_owned() } else { slug.chars().take(40).collect() };
    let free = |id: &String| id != bosun_providers::tour::PROVIDER && !taken.iter().any(|account| account.id == *id);
    let numbered = (2..=u32::MAX).map(|number| format!("{slug}-{number}"));
    std::iter::once(slug.clone()).chain(numbered).find(free).unwrap_or(slug)
}

fn wire(family: ProviderFamily) -> Option<Family> {
    match family {
        ProviderFamily::Anthropic => Some(Family::Anthropic),
        ProviderFamily::OpenaiChat => Some(Family::OpenAiChat),
        ProviderFamily::Tour => None,
    }
}

fn invalid(message: &str) -> Failure {
    Failure::new(ErrorCode::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(label: &str, base_url: &str) -> SaveProvider {
        SaveProvider {
            id: None,
            label: label.to_owned(),
            family: ProviderFamily::OpenaiChat,
            base_url: base_url.to_owned(),
            key: None,
        }
    }

    #[test]
    fn wrong_forms_are_told_what_is_wrong() {
        let long = "x".repeat(3_000);
        let cases = [
            (form("", "https://h/v1"), "name"),
            (form("a\nb", "https://h/v1"), "name"),
            (form(&long, "https://h/v1"), "name"),
            (form("a", "h/v1"), "http"),
            (form("a", "file:///etc/passwd"), "http"),
            (form("a", &format!("https://{long}")), "too long"),
            (SaveProvider { family: ProviderFamily::Tour, ..form("a", "https://h") }, "tour"),
        ];
        for (form, word) in cases {
            let refused = Account::from_form("own".to_owned(), &form).unwrap_err().0;
            assert_eq!(refused.code, ErrorCode::Invalid);
            assert!(refused.message.contains(word), "{}", refused.message);
        }
        let anthropic = Account::from_form("anthropic".to_owned(), &form("a", "https://h/v1")).unwrap_err().0;
        assert!(anthropic.message.contains("keeps its kind"), "{}", anthropic.message);
    }

    #[test]
    fn ids_come_from_names_and_are_never_taken_twice() {
        let mut accounts = Account::all(Vec::new());
        for (label, id) in [
            ("My server", "my-server"),
            ("My server!", "my-server-2"),
            ("OpenAI", "openai-2"),
            ("Tour", "tour-2"),
            ("\u{6a21}\u{578b}", "provider"),
        ] {
            assert_eq!(new_id(label, &accounts), id);
            accounts.push(Account::from_form(id.to_owned(), &form(label, "https://h/v1")).unwrap());
        }
    }

    #[test]
    fn a_change_to_a_preset_stands_in_its_place() {
        let moved = Account::from_form("openai".to_owned(), &form("Gateway", "https://gate.example/v1")).unwrap();
        let own = Account::from_form("own".to_owned(), &form("Own", "https://own.example/v1")).unwrap();
        let all = Account::all(vec![own.to_stored(), moved.to_stored()]);
        let ids: Vec<&str> = all.iter().map(|account| account.id.as_str()).collect();
        assert_eq!(ids, ["anthropic", "openai", "deepseek", "qwen", "ollama", "lmstudio", "llamacpp", "vllm", "own"]);
        assert_eq!(all[1].base_url, "https://gate.example/v1");
        assert!(all[0].at_home() && !all[0].key_optional());
        assert!(!all[1].at_home() && all[1].key_optional() && all[4].key_optional() && all[8].key_optional());
    }

    #[test]
    fn keys_with_line_breaks_or_blanks_are_refused_and_never_repeated() {
        assert_eq!(checked_key("  sk-1 ").unwrap(), "sk-1");
        for key in ["sk-1\nsk-2", "sk 1", "\u{0}", &"k".repeat(5_000)] {
            let refused = checked_key(key).unwrap_err().0.message;
            assert!(!refused.contains("sk"), "{refused}");
        }
    }
}
