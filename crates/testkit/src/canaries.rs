use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Stands twice in every canary, so that one which is cut in two is found too. It has what each encoding changes.
const MARK: &str = "Xq7+cAnAry/Z9k";

/// Keys that must turn up nowhere: made here, put to where keys are, then looked for in every form.
#[derive(Clone, Debug)]
pub struct Canaries {
    forms: Vec<(&'static str, String)>,
}

impl Default for Canaries {
    fn default() -> Self {
        let mark = MARK.as_bytes();
        let hex: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut forms = vec![
            ("plain", MARK.to_owned()),
            ("reversed", MARK.chars().rev().collect()),
            ("in a URL", MARK.replace('+', "%2B").replace('/', "%2F")),
            ("in a URL, small", MARK.replace('+', "%2b").replace('/', "%2f")),
            ("in JSON", MARK.replace('/', "\\/")),
            ("in HTML", MARK.replace('+', "&#43;").replace('/', "&#47;")),
            ("in hex, capital", hex.to_uppercase()),
            ("in hex", hex),
        ];
        for shift in 0..3 {
            let shifted = [&vec![0; shift], mark].concat();
            // What the bytes before and behind share a letter with is left out.
            let (from, to) = ((shift * 8).div_ceil(6), shifted.len() * 8 / 6);
            for text in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
                forms.push(("in base64", text[from..to].to_owned()));
            }
        }
        Self { forms }
    }
}

impl Canaries {
    /// The canary for `place`, a word of letters and digits.
    pub fn key(place: &str) -> String {
        format!("{MARK}-{place}-{MARK}")
    }

    /// The forms in which a canary stands in `bytes`, each with what is around it.
    pub fn found_in(&self, bytes: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(bytes);
        let joined: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
        let hits = self.forms.iter().filter_map(|(form, needle)| {
            let (text, at) = [&*text, &*joined].into_iter().find_map(|text| Some((text, text.find(needle)?)))?;
            let before = text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev();
            let around: String = before.chain(text[at..].chars().take(100)).collect();
            Some(format!("{form}: {around:?}"))
        });
        hits.collect()
    }

    /// Where canaries stand in the files below `folder` and in their names.
    pub fn found_below(&self, folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = self.found_in(entry.file_name().as_encoded_bytes());
            found.extend(name.into_iter().map(|hit| format!("the name of {}: {hit}", path.display())));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => found.extend(self.found_below(&path)),
                Ok(kind) if kind.is_file() => {
                    let hits = self.found_in(&std::fs::read(&path).unwrap());
                    found.extend(hits.into_iter().map(|hit| format!("{}: {hit}", path.display())));
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn a_canary_is_found_in_every_form() {
        let canaries = Canaries::default();
        let key = Canaries::key("proxy");
        let hidden = |text: String| assert!(!canaries.found_in(text.as_bytes()).is_empty(), "{text}");
        hidden(format!("a {key} b"));
        hidden(key.chars().rev().collect());
        hidden(key.replace('+', "%2B").replace('/', "%2F"));
        hidden(key.bytes().map(|byte| format!("{byte:02X}")).collect());
        hidden(key.chars().map(|c| format!("{c}\n")).collect());
        for before in ["", "x", "xy", "xyz"] {
            hidden(STANDARD.encode(format!("{before}{key}!")));
        }
        // Cut in two, as a database may store it.
        hidden(key[..key.len() / 2].to_owned());
        assert_eq!(canaries.found_in(b"nothing here but Xq7 and cAnAry"), Vec::<String>::new());
    }
}
