//! The ids of calls, as servers take them.

use std::borrow::Cow;

use crate::adapter::hash;

/// What the ids of calls may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Whatever a server gave.
    Any,
    /// Nine letters or digits: Mistral refuses others, which are those of every other model
    /// (<https://mistralai.github.io/mistral-common/usage/tools/>).
    Nine,
}

/// How names of Mistral's models begin.
const MISTRAL: [&str; 9] = [
    "mistral",
    "ministral",
    "magistral",
    "codestral",
    "devstral",
    "pixtral",
    "voxtral",
    "open-mistral",
    "open-mixtral",
];

/// The digits of an id.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH: usize = 9;

impl Ids {
    /// Those that `model` takes at `host`. Whoever serves one of Mistral's may check as they do.
    pub(super) fn of(host: &str, model: &str) -> Self {
        let name = model.trim().rsplit('/').next().unwrap_or_default().to_lowercase();
        let is_mistral = host == "api.mistral.ai" || MISTRAL.iter().any(|begin| name.starts_with(begin));
        if is_mistral { Self::Nine } else { Self::Any }
    }

    /// The id of a call, the same wherever it stands.
    pub(super) fn written(self, id: &str) -> Cow<'_, str> {
        let is_taken = || id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if self == Self::Any || is_taken() {
            return Cow::Borrowed(id);
        }
        let mut rest = hash(id.bytes());
        let mut digit = || {
            let at = usize::try_from(rest % 62).unwrap_or_default();
            rest /= 62;
            DIGITS.get(at).copied().map_or('0', char::from)
        };
        Cow::Owned((0..LENGTH).map(|_| digit()).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn mistral_is_known_by_its_host_and_its_models() {
        for (host, model) in [
            ("api.mistral.ai", "anything"),
            ("openrouter.ai", "mistralai/mistral-medium-3.5"),
            ("openrouter.ai", "mistralai/Devstral-2512"),
            ("localhost:8000", "mistralai/Ministral-3-14B-Instruct-2512"),
        ] {
            assert_eq!(Ids::of(host, model), Ids::Nine, "{host} {model}");
        }
        assert_eq!(Ids::of("openrouter.ai", "anthropic/claude-sonnet-4.6"), Ids::Any);
    }

    #[test]
    fn an_id_becomes_nine_letters_and_digits_and_stays_what_it_became() {
        let ids = ["toolu_01A09q90qw90lq917835lq9", "call_PTLP8xhu3uwZk4l3nlnrrJha", "functions.ls:0", "", "ü", "c2"];
        let written: HashSet<_> = ids.iter().map(|id| Ids::Nine.written(id).into_owned()).collect();
        assert_eq!(written.len(), ids.len());
        for id in &written {
            assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
            assert_eq!(Ids::Nine.written(id), *id, "its own");
        }
        assert_eq!(Ids::Nine.written("c2"), Ids::Nine.written("c2"));
        assert_eq!(Ids::Any.written("functions.ls:0"), "functions.ls:0");
    }
}
