use bosun_protocol::Language;

/// The system's language as a BCP 47 tag (`en`, `zh-CN`), from the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set.
/// `en` where none names a language.
pub(crate) fn system_language(variable: impl Fn(&str) -> Option<String>) -> String {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let locale = names.into_iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    locale.as_deref().and_then(tag).unwrap_or_else(|| "en".to_owned())
}

/// `zh_CN.UTF-8@pinyin` to `zh-CN`.
fn tag(locale: &str) -> Option<String> {
    let plain = locale.split(['.', '@']).next().unwrap_or_default();
    let mut parts = plain.split(['_', '-']);
    let language = parts.next().filter(|part| is_subtag(part, 2, 3))?.to_ascii_lowercase();
    let rest = parts.filter(|part| is_subtag(part, 2, 4));
    Some(rest.fold(language, |tag, part| match part.len() {
        2 => format!("{tag}-{}", part.to_ascii_uppercase()),
        _ => format!("{tag}-{part}"),
    }))
}

fn is_subtag(part: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The two languages that Bosun speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoken {
    English,
    Chinese,
}

/// What is spoken under the setting `language` on a system in `system`.
pub(crate) fn spoken(language: Language, system: &str) -> Spoken {
    match language {
        Language::SimplifiedChinese => Spoken::Chinese,
        Language::System if system == "zh" || system.starts_with("zh-") => Spoken::Chinese,
        Language::English | Language::System => Spoken::English,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(variables: &[(&str, &str)]) -> String {
        system_language(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn locales_become_tags() {
        let cases = [
            ("zh_CN.UTF-8", "zh-CN"),
            ("en_US", "en-US"),
            ("de", "de"),
            ("sr_RS@latin", "sr-RS"),
            ("zh_Hant_TW", "zh-Hant-TW"),
            ("C.UTF-8", "en"),
            ("POSIX", "en"),
            ("../../etc", "en"),
            ("\u{7f8a}", "en"),
        ];
        for (locale, tag) in cases {
            assert_eq!(language(&[("LANG", locale)]), tag, "{locale}");
        }
    }

    #[test]
    fn the_more_exact_variable_wins_and_an_empty_one_does_not_count() {
        assert_eq!(language(&[("LANG", "de_DE"), ("LC_ALL", "zh_CN.UTF-8")]), "zh-CN");
        assert_eq!(language(&[("LANG", "de_DE"), ("LC_ALL", "")]), "de-DE");
        assert_eq!(language(&[]), "en");
    }

    #[test]
    fn a_setting_wins_over_the_system() {
        assert_eq!(spoken(Language::System, "zh-TW"), Spoken::Chinese);
        assert_eq!(spoken(Language::System, "zhx"), Spoken::English);
        assert_eq!(spoken(Language::English, "zh-CN"), Spoken::English);
        assert_eq!(spoken(Language::SimplifiedChinese, "en"), Spoken::Chinese);
    }
}
