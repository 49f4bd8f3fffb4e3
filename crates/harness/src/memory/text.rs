//! Memory as prompt text.

use bosun_backend::VirtualPath;

use crate::prompt;

/// One file under its path, which says where the words come from.
pub(super) fn of(path: &VirtualPath, text: &str) -> String {
    // A file cannot end the block it stands in.
    let text = text.replace("</agent_memory>", "<\\/agent_memory>");
    format!("{path}\n\n{text}")
}

pub(super) fn block(files: &[String], places: &str, guidelines: &str) -> String {
    let body = if files.is_empty() {
        format!("(Nothing is remembered yet. Places for it: {places})")
    } else {
        files.join("\n\n")
    };
    format!("{}\n{body}\n</agent_memory>\n\n{guidelines}", prompt::MEMORY_OPENING)
}

/// `text` without HTML comments. One that is never closed is no comment.
pub(super) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        let Some((_, behind)) = after.split_once("-->") else { break };
        kept.push_str(before);
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn comments_go_and_what_only_looks_like_one_stays() {
        assert_eq!(without_comments("a<!-- b\nc -->d <!----> e"), "ad  e");
        assert_eq!(without_comments("a <!-- never closed"), "a <!-- never closed");
        assert_eq!(without_comments("a --> b"), "a --> b");
    }
}
