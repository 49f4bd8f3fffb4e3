//! Accounts: the presets, with what the user changed about them, and the user's own.

use serde::{Deserialize, Serialize};

use crate::endpoint::Endpoint;
use crate::preset::{PRESETS, Preset, named_wire, preset};
use crate::{Cloud, Family, host_of};

/// An account as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAccount {
    pub id: String,
    pub label: String,
    /// As [`Family::name`] gives it.
    pub family: String,
    /// Empty where nobody chose it: a preset that is only called something else goes on being asked where the
    /// environment places it.
    pub base_url: String,
    /// As [`Account::chosen`].
    #[serde(default)]
    pub chosen: bool,
}

/// A provider as it is used: a preset, a preset with the user's changes, or the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: String,
    pub label: String,
    pub family: Family,
    pub base_url: String,
    pub preset: Option<&'static Preset>,
    /// Whether the person chose what is spoken there, so that its address has no say in it.
    pub chosen: bool,
}

impl Account {
    /// The presets with what was `saved` over them, then the user's own.
    pub fn all(saved: impl IntoIterator<Item = SavedAccount>, cloud: &Cloud) -> Vec<Self> {
        let saved = saved.into_iter().filter_map(|account| Self::saved(account, cloud));
        let (changed, own): (Vec<_>, Vec<_>) = saved.partition(|account| account.preset.is_some());
        let merged = PRESETS.iter().map(|preset| {
            let change = changed.iter().find(|change| change.id == preset.id);
            change.cloned().unwrap_or_else(|| cloud.placed(Self::of_preset(preset)))
        });
        merged.chain(own).collect()
    }

    /// A preset as it came.
    pub fn of_preset(preset: &'static Preset) -> Self {
        Self {
            id: preset.id.to_owned(),
            label: preset.label.to_owned(),
            family: preset.family,
            base_url: preset.base_url.to_owned(),
            preset: Some(preset),
            chosen: false,
        }
    }

    /// `None` for a family that a newer Bosun wrote.
    pub fn saved(account: SavedAccount, cloud: &Cloud) -> Option<Self> {
        let Some(family) = Family::of_name(&account.family) else {
            let (id, family) = (account.id, account.family);
            tracing::warn!(account = id, family, "an account of an unknown family is left out");
            return None;
        };
        if let Some(preset) = preset(&account.id).filter(|_| account.base_url.is_empty()) {
            return Some(Self { label: account.label, ..cloud.placed(Self::of_preset(preset)) });
        }
        if account.chosen {
            return Some(Self::choosing(account.id, account.label, family, account.base_url));
        }
        let account = Self::new(account.id, account.label, family, account.base_url);
        // What a preset speaks at an address may have changed since.
        let family = account.preset.map_or(account.family, |preset| preset.family_at(&account.base_url));
        Some(Self { family, ..account })
    }

    /// Of OpenAI's two wires, an address of the user's own may name the one that is spoken there.
    pub fn new(id: impl Into<String>, label: impl Into<String>, family: Family, base_url: impl Into<String>) -> Self {
        let id = id.into();
        let (preset, base_url) = (preset(&id), base_url.into());
        let family = if preset.is_none() { spoken(family, &base_url) } else { family };
        Self { id, label: label.into(), family, base_url, preset, chosen: false }
    }

    /// An account of which the person says themselves what is spoken at its address. What a preset speaks is not theirs to
    /// say.
    pub fn choosing(
        id: impl Into<String>,
        label: impl Into<String>,
        family: Family,
        base_url: impl Into<String>,
    ) -> Self {
        let account = Self::new(id, label, family, base_url);
        if account.preset.is_some() { account } else { Self { family, chosen: true, ..account } }
    }

    /// The same provider at another address, in the family that is spoken there.
    pub fn moved_to(self, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let own = || if self.chosen { self.family } else { spoken(self.family, &base_url) };
        let family = self.preset.map_or_else(own, |preset| preset.family_at(&base_url));
        Self { base_url, family, ..self }
    }

    /// Where it is asked where `cloud` places it, nobody chose that.
    pub fn to_saved(&self, cloud: &Cloud) -> SavedAccount {
        let is_placed = self.preset.is_some_and(|preset| {
            Cloud::may_move(preset.family) && self.base_url == cloud.placed(Self::of_preset(preset)).base_url
        });
        SavedAccount {
            id: self.id.clone(),
            label: self.label.clone(),
            family: self.family.name().to_owned(),
            base_url: if is_placed { String::new() } else { self.base_url.clone() },
            chosen: self.chosen,
        }
    }

    /// Whether it is a preset as it came, of which there is nothing to store.
    pub fn is_unchanged(&self) -> bool {
        self.preset.is_some_and(|preset| *self == Self::of_preset(preset))
    }

    /// Whether it is a preset as it stands where nobody chose anything, of which there is nothing to store.
    pub fn is_default(&self, cloud: &Cloud) -> bool {
        self.preset.is_some_and(|preset| *self == cloud.placed(Self::of_preset(preset)))
    }

    /// What its key is bound to; empty for an address that cannot be read, which no key is ever kept for.
    pub fn host(&self) -> String {
        host_of(&self.base_url).unwrap_or_default()
    }

    /// Whether it is a server on this machine.
    pub fn is_local(&self) -> bool {
        Endpoint::parse(&self.id, self.family, &self.base_url).is_ok_and(|endpoint| endpoint.loopback)
    }

    /// Whether it speaks to the host that the vendor's environment variables are meant for.
    pub fn at_home(&self) -> bool {
        self.preset.is_some_and(|preset| preset.is_home(&self.host()))
    }

    /// The variables its key may stand in: none away from home, so that a key never goes to another host by itself.
    pub fn variables(&self) -> &'static [&'static str] {
        self.preset.filter(|_| self.at_home() && !self.is_unnamed()).map_or(&[], |preset| preset.variables)
    }

    /// Where the vendor gives out keys: of nobody else's servers.
    pub fn key_page(&self) -> Option<&'static str> {
        self.preset.filter(|_| self.at_home()).and_then(|preset| preset.key_page)
    }

    /// Whether its address still lacks a name that only the user knows, so that nothing can be asked there.
    pub fn is_unnamed(&self) -> bool {
        self.preset.is_some_and(|preset| preset.is_unnamed(&self.host()))
    }

    /// A vendor refuses every call without a key; other servers may want none, and clouds take their own credentials.
    pub fn key_optional(&self) -> bool {
        self.family.is_cloud() || (self.variables().is_empty() && !self.is_unnamed())
    }
}

/// What is spoken at an address of the user's own that was given as one of `family`.
fn spoken(family: Family, base_url: &str) -> Family {
    let is_openai = matches!(family, Family::OpenAiChat | Family::OpenAiResponses);
    named_wire(base_url).filter(|_| is_openai).unwrap_or(family)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn none() -> Cloud {
        Cloud::new(|_| None)
    }

    #[test]
    fn a_change_to_a_preset_stands_in_its_place() {
        let moved = Account::new("openai", "Gateway", Family::OpenAiChat, "https://gate.example/v1");
        let own = Account::new("own", "Own", Family::OpenAiChat, "https://own.example/v1");
        let all = Account::all([own.to_saved(&none()), moved.to_saved(&none())], &none());
        let ids: Vec<&str> = all.iter().map(|account| account.id.as_str()).collect();
        let mut wanted: Vec<&str> = PRESETS.iter().map(|preset| preset.id).collect();
        wanted.push("own");
        assert_eq!(ids, wanted);
        assert_eq!(all[1].base_url, "https://gate.example/v1");
        let named = |id: &str| all.iter().find(|account| account.id == id).unwrap();
        assert!(named("anthropic").at_home() && !named("anthropic").key_optional());
        assert!(!named("openai").at_home() && named("openai").key_optional());
        assert!(named("ollama").key_optional() && named("own").key_optional());
        assert_eq!(
            (named("openai").variables(), named("anthropic").variables()),
            (&[][..], &["ANTHROPIC_API_KEY"][..])
        );
        assert!(named("anthropic").is_unchanged() && !named("openai").is_unchanged());
    }

    /// A key in the environment does not make a provider one that could answer, before it is said where.
    #[test]
    fn azure_has_a_key_once_its_resource_has_a_name() {
        let unnamed = Account::of_preset(preset("azure").unwrap());
        assert!(unnamed.is_unnamed() && unnamed.variables().is_empty() && !unnamed.key_optional());
        let named = unnamed.moved_to("https://acme.openai.azure.com/openai/v1");
        assert!(!named.is_unnamed() && !named.key_optional());
        assert_eq!(named.variables(), ["AZURE_OPENAI_API_KEY"]);
        assert!(named.moved_to("https://gate.example/v1").variables().is_empty());
    }

    /// The newest models of OpenAI take tools over its newer wire only; some resources and gateways have just the older one.
    #[test]
    fn an_address_may_name_the_wire_that_is_spoken_there() {
        let own = |base_url: &str| Account::new("own", "Own", Family::OpenAiChat, base_url);
        assert_eq!(own("https://gate.example/v1").family, Family::OpenAiChat);
        let newer = own("https://gate.example/v1/responses");
        assert_eq!(newer.family, Family::OpenAiResponses);
        assert_eq!(
            Account::saved(newer.to_saved(&none()), &none()).map(|account| account.family),
            Some(Family::OpenAiResponses)
        );
        assert_eq!(newer.moved_to("https://gate.example/v1/chat/completions").family, Family::OpenAiChat);
        let other = Account::new("own", "Own", Family::Anthropic, "https://gate.example/responses");
        assert_eq!(other.family, Family::Anthropic);
        let azure = Account::of_preset(preset("azure").unwrap()).moved_to("https://acme.openai.azure.com/openai/v1");
        assert_eq!(azure.family, Family::OpenAiResponses);
        // Kept by an earlier version.
        let before = SavedAccount { family: Family::OpenAiChat.name().into(), ..azure.to_saved(&none()) };
        assert_eq!(Account::saved(before, &none()), Some(azure.clone()));
        let older = azure.moved_to("https://acme.openai.azure.com/openai/v1/chat/completions");
        assert_eq!((older.family, older.variables()), (Family::OpenAiChat, &["AZURE_OPENAI_API_KEY"][..]));
    }

    /// A gateway's address may end with the name of a wire that it does not speak.
    #[test]
    fn what_a_person_chose_holds_whatever_the_address_ends_with() {
        let newer = "https://gate.example/v1/responses";
        let chosen = Account::choosing("own", "Own", Family::OpenAiChat, newer);
        assert_eq!(chosen.family, Family::OpenAiChat);
        assert_eq!(Account::saved(chosen.to_saved(&none()), &none()).as_ref(), Some(&chosen));
        let moved = chosen.moved_to("https://other.example/responses");
        assert_eq!((moved.family, moved.chosen), (Family::OpenAiChat, true));
        // Kept before it was asked who chose.
        let before = SavedAccount {
            chosen: false,
            ..Account::choosing("own", "Own", Family::OpenAiChat, newer).to_saved(&none())
        };
        assert_eq!(Account::saved(before, &none()).map(|account| account.family), Some(Family::OpenAiResponses));
        let preset = Account::choosing("openai", "OpenAI", Family::OpenAiResponses, "https://api.openai.com/v1");
        assert!(preset.is_unchanged() && !preset.chosen);
    }

    /// Azure's portal shows addresses with a version behind them.
    #[test]
    fn an_address_with_a_query_names_its_wire_too() {
        let azure = Account::of_preset(preset("azure").unwrap());
        let at = |rest: &str| azure.clone().moved_to(format!("https://acme.openai.azure.com/openai/{rest}")).family;
        assert_eq!(at("v1/chat/completions?api-version=preview"), Family::OpenAiChat);
        assert_eq!(at("v1/chat/completions/?api-version=preview"), Family::OpenAiChat);
        assert_eq!(at("responses?api-version=2025-04-01-preview"), Family::OpenAiResponses);
        let own = Account::new("own", "Own", Family::OpenAiChat, "https://gate.example/v1/responses?team=a#b");
        assert_eq!(own.family, Family::OpenAiResponses);
        let near = Account::of_preset(preset("ollama").unwrap()).moved_to("http://localhost:11434/v1?a=b");
        assert_eq!(near.family, Family::OpenAiChat);
    }

    #[test]
    fn a_family_of_a_newer_bosun_is_left_out() {
        let own = Account::new("own", "Own", Family::Anthropic, "https://own.example");
        let newer = SavedAccount { family: "telepathy".into(), ..own.to_saved(&none()) };
        assert_eq!(Account::saved(newer, &none()), None);
        assert_eq!(Account::saved(own.to_saved(&none()), &none()), Some(own));
    }
}
