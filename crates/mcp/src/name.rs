//! Names: of servers as a person writes them, of tools as a model calls them.

use crate::config::ConfigFault;

/// Between the name of a server and the name of its tool. No server's name holds it, so the two never run together.
pub(crate) const SEPARATOR: &str = "__";
/// The longest name that every provider takes.
const LONGEST: usize = 64;
const LONGEST_SERVER: usize = 32;

/// Why `name` cannot be the name of a server; `None` where it can.
pub(crate) fn server_problem(name: &str) -> Option<ConfigFault> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if name.is_empty() || !plain || !begins || name.ends_with('_') || name.contains(SEPARATOR) {
        return Some(ConfigFault::NameLetters);
    }
    (name.len() > LONGEST_SERVER).then_some(ConfigFault::NameLong { most: LONGEST_SERVER })
}

/// The name under which a model calls the tool `tool` of `server`: `server__tool`, with what providers do not take
/// replaced. A name that had to be changed or cut ends in a piece of a hash of the whole, so that it stays its own.
pub fn tool_name(server: &str, tool: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = tool.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    let name = format!("{server}{SEPARATOR}{plain}");
    if plain == tool && name.len() <= LONGEST {
        return name;
    }
    let hash = blake3::hash(tool.as_bytes()).to_hex();
    let tail = hash.get(..8).unwrap_or_default();
    let head: String = name.chars().take(LONGEST - tail.len() - 1).collect();
    format!("{head}_{tail}")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{server_problem, tool_name};

    #[test]
    fn names_of_servers_are_plain() {
        for name in ["files", "my-server", "a_b", "X1", "9"] {
            assert_eq!(server_problem(name), None, "{name}");
        }
        let long = "x".repeat(33);
        for name in ["", "a__b", "-a", "_a", "a_", "a b", "a/b", "é", "a\u{202e}b", "..", long.as_str()] {
            assert!(server_problem(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_of_tools_fit_every_provider_and_stay_apart() {
        assert_eq!(tool_name("files", "read_file"), "files__read_file");
        let odd = ["a.b", "a/b", "a b", "a\u{1b}b", "读", &"x".repeat(80), &format!("{}y", "x".repeat(79))];
        let names: Vec<String> = odd.iter().map(|tool| tool_name("s", tool)).collect();
        for name in &names {
            assert!(name.len() <= 64 && name.starts_with("s__"), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{name}");
        }
        let mut apart = names.clone();
        apart.sort();
        apart.dedup();
        assert_eq!(apart.len(), names.len(), "{names:?}");
    }

    #[test]
    fn no_tool_can_take_the_name_of_a_built_in_one() {
        for tool in ["execute", "read_file", "__execute", "", "task"] {
            let name = tool_name("s", tool);
            assert!(name.starts_with("s__") && name != tool, "{name}");
        }
    }
}
