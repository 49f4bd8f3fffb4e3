//! Accounts as a person writes them, checked.

use bosun_model::ModelError;

use crate::{Account, Family, host_of, secret_in_query, tour};

/// Letters of a name.
const LONGEST_LABEL: usize = 80;
const LONGEST_URL: usize = 2_048;

/// Headers of one provider; a gateway wants one or two.
pub const MOST_HEADERS: usize = 20;
/// Bytes of a header's value.
pub const LONGEST_HEADER: usize = 4_096;

/// What a person says of a server.
#[derive(Clone, Copy, Debug)]
pub struct AccountForm<'a> {
    pub label: &'a str,
    pub family: Family,
    /// As [`Account::chosen`].
    pub chosen: bool,
    pub base_url: &'a str,
}

/// What is wrong with what a person says.
#[derive(Clone, Debug, PartialEq)]
pub enum WrongAccount {
    Label,
    UrlTooLong,
    Url(ModelError),
    /// What this parameter of the address holds may be a key, which is kept nowhere but where keys are.
    Query(String),
    /// A preset speaks what it speaks.
    FamilyFixed,
}

impl AccountForm<'_> {
    /// The account that is meant, which will be called `id`.
    ///
    /// # Errors
    /// [`WrongAccount`].
    pub fn account(&self, id: String) -> Result<Account, WrongAccount> {
        let label = self.label.trim();
        if label.is_empty() || label.chars().count() > LONGEST_LABEL || label.chars().any(char::is_control) {
            return Err(WrongAccount::Label);
        }
        let base_url = self.base_url.trim();
        if base_url.len() > LONGEST_URL {
            return Err(WrongAccount::UrlTooLong);
        }
        host_of(base_url).map_err(WrongAccount::Url)?;
        // It would be kept in the database, where no key is.
        if let Some(name) = secret_in_query(base_url) {
            return Err(WrongAccount::Query(name.to_owned()));
        }
        let account = match self.chosen {
            true => Account::choosing(id, label, self.family, base_url),
            false => Account::new(id, label, self.family, base_url),
        };
        let Some(preset) = account.preset else { return Ok(account) };
        // The form may have the family of the address before.
        if !preset.speaks(self.family) {
            return Err(WrongAccount::FamilyFixed);
        }
        Ok(Account { family: preset.family_at(base_url), ..account })
    }
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
