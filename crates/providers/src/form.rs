//! Accounts as a person writes them, checked.

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use secrecy::SecretString;

use crate::connection::check_header;
use crate::{Account, Family, host_of, secret_in_query, tour};

/// Letters of a name.
const LONGEST_LABEL: usize = 80;
const LONGEST_URL: usize = 2_048;

/// Headers of one provider; a gateway wants one or two.
const MOST_HEADERS: u32 = 20;
/// Bytes of a header's value.
const LONGEST_HEADER: u32 = 4_096;
/// Bytes of a key.
const LONGEST_KEY: usize = 4_096;

fn wrong(trouble: ModelTrouble) -> ModelError {
    ModelError::own(ModelErrorKind::InvalidRequest, "provider", trouble)
}

/// What a person says of a server.
#[derive(Clone, Copy, Debug)]
pub struct AccountForm<'a> {
    pub label: &'a str,
    pub family: Family,
    /// As [`Account::chosen`].
    pub chosen: bool,
    pub base_url: &'a str,
}

impl AccountForm<'_> {
    /// The account that is meant, which will be called `id`.
    ///
    /// # Errors
    /// What is wrong with what they say.
    pub fn account(&self, id: String) -> Result<Account, ModelError> {
        let label = self.label.trim();
        if label.is_empty() || label.chars().count() > LONGEST_LABEL || label.chars().any(char::is_control) {
            return Err(wrong(ModelTrouble::ProviderLabel));
        }
        let base_url = self.base_url.trim();
        if base_url.len() > LONGEST_URL {
            return Err(wrong(ModelTrouble::BaseUrlTooLong));
        }
        host_of(base_url)?;
        // It would be kept in the database, where no key is.
        if let Some(name) = secret_in_query(base_url) {
            return Err(wrong(ModelTrouble::BaseUrlQuery { name: name.to_owned() }));
        }
        let account = match self.chosen {
            true => Account::choosing(id, label, self.family, base_url),
            false => Account::new(id, label, self.family, base_url),
        };
        let Some(preset) = account.preset else { return Ok(account) };
        // It speaks what it speaks; the form may have the family of the address before.
        if !preset.speaks(self.family) {
            return Err(wrong(ModelTrouble::FamilyFixed));
        }
        Ok(Account { family: preset.family_at(base_url), ..account })
    }
}

/// What a person changes about a provider that is there. What is `None` stays as it is; an address that the environment
/// places goes on being placed ([`Account::to_saved`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct AccountChange<'a> {
    pub label: Option<&'a str>,
    pub base_url: Option<&'a str>,
    /// What is spoken there, whatever the address ends with.
    pub family: Option<Family>,
}

impl AccountChange<'_> {
    /// The account `before` as it is meant to be.
    ///
    /// # Errors
    /// What is wrong with what they say.
    pub fn of(&self, before: &Account) -> Result<Account, ModelError> {
        let family = match before.family {
            // Nobody chose between OpenAI's two wires: the address did, and another says something else.
            Family::OpenAiResponses if before.preset.is_none() && !before.chosen => Family::OpenAiChat,
            family => family,
        };
        let form = AccountForm {
            label: self.label.unwrap_or(&before.label),
            family: self.family.unwrap_or(family),
            chosen: self.family.is_some() || before.chosen,
            base_url: self.base_url.unwrap_or(&before.base_url),
        };
        form.account(before.id.clone())
    }
}

/// Whether a header of a person's own is taken beside those that its provider has, which are `shown` by their names. One
/// without a value is to go, and another value is no other header.
///
/// # Errors
/// Why it is not.
pub fn check_own_header(shown: &[String], name: &str, value: &str) -> Result<(), ModelError> {
    check_header(name, value)?;
    if value.len() > LONGEST_HEADER as usize {
        return Err(wrong(ModelTrouble::HeaderTooLong { most: LONGEST_HEADER }));
    }
    let is_new = !value.is_empty() && !shown.iter().any(|shown| shown.eq_ignore_ascii_case(name));
    if is_new && shown.len() >= MOST_HEADERS as usize {
        return Err(wrong(ModelTrouble::HeadersFull { most: MOST_HEADERS }));
    }
    Ok(())
}

/// A key as it was typed or pasted, without the blanks around it.
///
/// # Errors
/// It is no key. It is not repeated.
pub fn checked_key(typed: &str) -> Result<SecretString, ModelError> {
    let key = typed.trim();
    if key.len() > LONGEST_KEY || key.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(wrong(ModelTrouble::NoKey));
    }
    Ok(key.into())
}

/// An id for a new provider, from its name: `My server` becomes `my-server`, and `my-server-2` when that is taken.
pub fn new_account_id(label: &str, taken: &[Account]) -> String {
    let words = label.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    let slug = if slug.is_empty() { "provider".to_owned() } else { slug.chars().take(40).collect() };
    let free = |id: &String| id != tour::PROVIDER && !taken.iter().any(|account| account.id == *id);
    let numbered = (2..=u32::MAX).map(|number| format!("{slug}-{number}"));
    std::iter::once(slug.clone()).chain(numbered).find(free).unwrap_or(slug)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use secrecy::ExposeSecret;

    use super::*;
    use crate::preset;

    #[test]
    fn what_is_changed_is_checked_as_what_is_new() {
        let own = Account::new("own", "Own", Family::OpenAiChat, "https://gate.example/v1/responses");
        let change = |change: AccountChange| change.of(&own);
        let named = change(AccountChange { label: Some(" Gate "), ..AccountChange::default() }).unwrap();
        assert_eq!(named, Account { label: "Gate".into(), ..own.clone() });
        // The address said that it is Responses, and the next one does not.
        let url = Some("https://other.example/v1");
        let moved = change(AccountChange { base_url: url, ..AccountChange::default() }).unwrap();
        assert_eq!((moved.family, moved.chosen), (Family::OpenAiChat, false));
        let chosen = change(AccountChange { family: Some(Family::Anthropic), ..AccountChange::default() }).unwrap();
        assert_eq!((chosen.family, chosen.chosen), (Family::Anthropic, true));
        let later = AccountChange { base_url: url, ..AccountChange::default() }.of(&chosen).unwrap();
        assert_eq!((later.family, later.chosen), (Family::Anthropic, true));
        let nameless = change(AccountChange { label: Some(" "), ..AccountChange::default() });
        assert_eq!(nameless, Err(wrong(ModelTrouble::ProviderLabel)));
        let keyed = change(AccountChange { base_url: Some("https://h/v1?key=0f9a8b7c"), ..AccountChange::default() });
        assert_eq!(keyed, Err(wrong(ModelTrouble::BaseUrlQuery { name: "key".into() })));
        let openai = Account::of_preset(preset("openai").unwrap());
        let fixed = AccountChange { family: Some(Family::Gemini), ..AccountChange::default() }.of(&openai);
        assert_eq!(fixed, Err(wrong(ModelTrouble::FamilyFixed)));
        let gate = AccountChange { base_url: url, ..AccountChange::default() }.of(&openai).unwrap();
        let back = AccountChange { base_url: Some("https://api.openai.com/v1"), ..AccountChange::default() };
        assert_eq!((gate.family, back.of(&gate)), (Family::OpenAiChat, Ok(openai)));
    }

    #[test]
    fn another_value_is_no_other_header() {
        let full: Vec<String> = (0..MOST_HEADERS).map(|number| format!("X-{number}")).collect();
        let check = |name: &str, value: &str| check_own_header(&full, name, value);
        assert_eq!(check("X-New", "on"), Err(wrong(ModelTrouble::HeadersFull { most: 20 })));
        assert_eq!(
            (check("x-7", "on"), check("X-New", ""), check_own_header(&full[1..], "X-New", "on")),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!(check("x-7", &"v".repeat(4_097)), Err(wrong(ModelTrouble::HeaderTooLong { most: 4_096 })));
        let reserved = check("Host", "h").unwrap_err().trouble.map(|trouble| *trouble);
        assert_eq!(reserved, Some(ModelTrouble::HeaderReserved { name: "Host".into() }));
    }

    #[test]
    fn keys_with_line_breaks_or_blanks_are_refused_and_never_repeated() {
        assert_eq!(checked_key("  sk-1 ").unwrap().expose_secret(), "sk-1");
        for key in ["sk-1\nsk-2", "sk 1", "\u{0}", &"k".repeat(5_000)] {
            assert_eq!(checked_key(key).unwrap_err(), wrong(ModelTrouble::NoKey));
        }
    }
}
