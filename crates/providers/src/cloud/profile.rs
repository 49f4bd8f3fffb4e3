//! The files that AWS's tools keep in `~/.aws`: sections of `name = value`.

use std::collections::BTreeMap;

/// What a profile says.
pub(super) type Profile = BTreeMap<String, String>;

/// The section of a profile: `[NAME]`, or `[profile NAME]` as the file of settings has it. Later lines win.
pub(super) fn profile(text: &str, name: &str) -> Option<Profile> {
    section(text, |title| title == name || title.strip_prefix("profile ").is_some_and(|rest| rest.trim() == name))
}

fn section(text: &str, is_it: impl Fn(&str) -> bool) -> Option<Profile> {
    let mut found: Option<Profile> = None;
    let mut inside = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(title) = trimmed.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            inside = is_it(title.0.trim());
            if inside {
                found.get_or_insert_default();
            }
            continue;
        }
        // What is indented belongs to the setting above it, and none of those is of interest.
        let plain = inside && !line.starts_with([' ', '\t', '#', ';']);
        let Some((name, value)) = trimmed.split_once('=').filter(|_| plain) else { continue };
        let end = [" #", " ;", "\t#", "\t;"].iter().filter_map(|mark| value.find(mark)).min().unwrap_or(value.len());
        let value = value.get(..end).unwrap_or(value).trim();
        found.get_or_insert_default().insert(name.trim().to_lowercase(), value.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn sections_comments_and_settings_below_settings() {
        let text = "# top\n[default]\nregion = eu-west-1 # near\ns3 =\n  max_queue = 1\n  region = nowhere\n\n\
                    [ profile work ]\nAWS_Access_Key_Id=AKIA#1\n[default]\noutput=json\n";
        let default = profile(text, "default").unwrap();
        assert_eq!(default.get("region").map(String::as_str), Some("eu-west-1"));
        assert_eq!(default.get("output").map(String::as_str), Some("json"));
        assert_eq!(profile(text, "work").unwrap()["aws_access_key_id"], "AKIA#1");
        assert_eq!(profile(text, "other"), None);
        assert_eq!(profile("=\n[\n]\n[default", "default"), None);
    }
}
