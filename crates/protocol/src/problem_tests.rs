use std::collections::BTreeSet;

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn every_code_has_an_english_sentence_of_its_own() {
    let codes: BTreeSet<&str> = Problem::ENGLISH.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes.len(), Problem::ENGLISH.len());
    for (code, english) in Problem::ENGLISH {
        assert!(!english.trim().is_empty(), "{code} says nothing");
        assert!(!english.ends_with('.'), "{code}: other sentences go on behind it");
    }
}

#[test]
fn a_sentence_is_its_template_with_the_arguments_in_it() {
    let missing = Problem::ProjectMissing { path: "/srv/x".into() };
    assert_eq!(missing.to_string(), "the folder /srv/x does not exist; choose another, or create it first");
    let two = Problems(vec![Problem::NoRewind, Problem::Gone { path: "/a".into() }]);
    let nested = Problem::NothingTakenBack { why: two };
    assert_eq!(
        nested.to_string(),
        "nothing was undone: there is no rewind to undo, or the session has gone on since; look at the timeline; '/a' \
         no longer exists; look in the folder it was in"
    );
}

#[test]
fn the_wire_has_the_code_and_its_arguments() {
    let left = Problem::LeftAsItIs { why: Box::new(Problem::FileReadOnly { path: "/a".into() }) };
    let wire = serde_json::json!({
        "problem": "left_as_it_is",
        "why": { "problem": "file_read_only", "path": "/a" },
    });
    assert_eq!(serde_json::to_value(&left).unwrap(), wire);
    assert_eq!(serde_json::from_value::<Problem>(wire).unwrap(), left);
}
