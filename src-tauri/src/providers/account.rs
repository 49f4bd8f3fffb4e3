use bosun_model::ModelError;
use bosun_protocol::{ErrorCode, Problem, ProviderFamily, SaveProvider};
pub(crate) use bosun_providers::new_account_id as new_id;
use bosun_providers::{Account, AccountForm, Family};
use bosun_session::SessionError;

use crate::error::Failure;

/// What a form says, checked. `id` is the one it will have.
pub(crate) fn from_form(id: String, form: &SaveProvider) -> Result<Account, Failure> {
    let family = wire(form.family).ok_or_else(|| Failure::new(ErrorCode::Invalid, Problem::TourBuiltIn))?;
    let form = AccountForm { label: &form.label, family, chosen: form.chosen, base_url: &form.base_url };
    form.account(id).map_err(wrong)
}

/// What is wrong with what a person entered.
pub(crate) fn wrong(error: ModelError) -> Failure {
    SessionError::of(ErrorCode::Invalid, &error).into()
}

pub(crate) fn family_view(family: Family) -> ProviderFamily {
    match family {
        Family::Anthropic => ProviderFamily::Anthropic,
        Family::OpenAiChat => ProviderFamily::OpenaiChat,
        Family::OpenAiResponses => ProviderFamily::OpenaiResponses,
        Family::Gemini => ProviderFamily::Gemini,
        Family::Ollama => ProviderFamily::Ollama,
        Family::Bedrock => ProviderFamily::Bedrock,
        Family::Vertex => ProviderFamily::Vertex,
    }
}

fn wire(family: ProviderFamily) -> Option<Family> {
    match family {
        ProviderFamily::Anthropic => Some(Family::Anthropic),
        ProviderFamily::OpenaiChat => Some(Family::OpenAiChat),
        ProviderFamily::OpenaiResponses => Some(Family::OpenAiResponses),
        ProviderFamily::Gemini => Some(Family::Gemini),
        ProviderFamily::Ollama => Some(Family::Ollama),
        ProviderFamily::Bedrock => Some(Family::Bedrock),
        ProviderFamily::Vertex => Some(Family::Vertex),
        ProviderFamily::Tour => None,
    }
}

#[cfg(test)]
mod tests {
    use bosun_providers::Cloud;

    use super::*;

    fn form(label: &str, base_url: &str) -> SaveProvider {
        SaveProvider {
            id: None,
            label: label.to_owned(),
            family: ProviderFamily::OpenaiChat,
            chosen: false,
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
            (form("a", "https://h/v1?api-version=1&subscription-key=0f9a8b7c"), "custom header"),
            (SaveProvider { family: ProviderFamily::Tour, ..form("a", "https://h") }, "tour"),
        ];
        for (form, word) in cases {
            let refused = from_form("own".to_owned(), &form).unwrap_err().0;
            assert_eq!(refused.code, ErrorCode::Invalid);
            assert!(refused.message.contains(word) && !refused.message.contains("0f9a8b7c"), "{}", refused.message);
        }
        let anthropic = from_form("anthropic".to_owned(), &form("a", "https://h/v1")).unwrap_err().0;
        assert!(anthropic.message.contains("cannot be changed"), "{}", anthropic.message);
        let home = form("OpenAI", "https://api.openai.com/v1");
        let back = from_form("openai".to_owned(), &home).map_err(|error| error.0.message);
        assert_eq!(back.map(|account| account.family), Ok(Family::OpenAiResponses));
        let own = from_form("own".to_owned(), &form("Gateway", "https://gate.example/v1/responses"));
        assert_eq!(own.map(|account| account.family).ok(), Some(Family::OpenAiResponses));
        let versioned = from_form("own".to_owned(), &form("Gateway", "https://gate.example/v1?api-version=2024-10-21"));
        assert!(versioned.is_ok_and(|account| account.base_url.ends_with("?api-version=2024-10-21")));
        // What the person chose is kept as such, and read back.
        let form = SaveProvider { chosen: true, ..form("Gateway", "https://gate.example/v1/responses") };
        let (Ok(own), none) = (from_form("own".to_owned(), &form), Cloud::new(|_| None)) else { panic!() };
        assert_eq!(own.family, Family::OpenAiChat);
        assert_eq!(Account::all([own.to_saved(&none)], &none).last(), Some(&own));
    }

    #[test]
    fn ids_come_from_names_and_are_never_taken_twice() {
        let mut accounts = Account::all([], &Cloud::new(|_| None));
        for (label, id) in [
            ("My server", "my-server"),
            ("My server!", "my-server-2"),
            ("OpenAI", "openai-2"),
            ("Tour", "tour-2"),
            ("\u{6a21}\u{578b}", "provider"),
        ] {
            assert_eq!(new_id(label, &accounts), id);
            accounts.push(from_form(id.to_owned(), &form(label, "https://h/v1")).unwrap());
        }
    }
}
