//! What Bosun can say about trouble is said somewhere. A code that nothing builds has a sentence that somebody wrote a
//! second time, in one language, where the trouble is met.

use std::collections::BTreeSet;

use bosun_protocol::Problem;

use crate::none;
use crate::source::files;

/// The table of all codes.
const TABLE: &str = "crates/protocol/src/problem.rs";

/// The codes that `code` builds: those it names, but for patterns that leave arguments out.
fn built(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, named) in code.match_indices("Problem::") {
        let rest = &code[at + named.len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        let is_of_another = code[..at].ends_with(char::is_alphanumeric);
        let is_pattern = rest[end..].trim_start().starts_with("{ ..");
        if !is_of_another && !is_pattern {
            found.insert(rest[..end].to_owned());
        }
    }
    found
}

#[test]
fn every_problem_is_built_somewhere() {
    let rust = ["crates", "src-tauri"].into_iter().flat_map(|dir| files(dir, &[".rs"]));
    let said: BTreeSet<String> =
        rust.filter(|file| !file.is_test() && file.path != TABLE).flat_map(|file| built(&file.effective())).collect();
    let unsaid = Problem::ENGLISH.iter().filter(|(code, _)| !said.contains(*code));
    let unsaid: Vec<_> = unsaid.map(|(code, english)| format!("{TABLE}: nothing builds {code}: {english}")).collect();
    none("a problem that is never said", &unsaid);
}

#[test]
fn what_is_built_is_told_from_what_is_looked_for() {
    let code = "match x { Problem::A { .. } => Problem::B { path }, PathProblem::C => [Problem::D].into() }";
    assert_eq!(Vec::from_iter(built(code)), ["B", "D"]);
}
