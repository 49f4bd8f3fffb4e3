use std::fmt::Write;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;

const BEGIN: &str = "<!-- abilities: written by a test, see crates/providers/src/abilities.rs -->\n";
const END: &str = "<!-- end of abilities -->\n";

/// The rows, each with all providers that it says the same of.
fn alike() -> Vec<(Vec<Mark>, Vec<String>)> {
    let mut alike: Vec<(Vec<Mark>, Vec<String>)> = Vec::new();
    for row in rows() {
        let marks: Vec<Mark> = ABILITIES.iter().map(|(_, probe)| probe(&row)).collect();
        let name = row.name.replacen(row.preset.id, &format!("`{}`", row.preset.id), 1);
        match alike.iter_mut().find(|(known, _)| *known == marks) {
            Some((_, names)) => names.push(name),
            None => alike.push((marks, vec![name])),
        }
    }
    alike
}

/// The table and what its numbers mean.
fn table() -> String {
    let mut notes: Vec<&str> = Vec::new();
    let mut text = String::from("| |");
    for (ability, _) in ABILITIES {
        write!(text, " {ability} |").unwrap();
    }
    writeln!(text, "\n|---|{}", "---|".repeat(ABILITIES.len())).unwrap();
    for (marks, names) in alike() {
        write!(text, "| {} |", names.join(", ")).unwrap();
        for mark in marks {
            match mark {
                Works => text.push_str(" ● |"),
                NotOffered => text.push_str(" – |"),
                Degraded(how) => {
                    let number = notes.iter().position(|note| *note == how).unwrap_or_else(|| {
                        notes.push(how);
                        notes.len() - 1
                    });
                    write!(text, " ◐ {} |", number + 1).unwrap();
                }
            }
        }
        text.push('\n');
    }
    text.push_str("\n● works · ◐ degraded: the number says how · – not offered\n\n");
    for (number, note) in notes.iter().enumerate() {
        writeln!(text, "{}. {note}", number + 1).unwrap();
    }
    text
}

#[test]
fn the_table_of_the_documentation_is_what_the_adapters_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (kept, after) = rest.split_once(END).unwrap();
    let table = format!("\n{}\n", table());
    if std::env::var_os("BOSUN_UPDATE_DOCS").is_some() {
        std::fs::write(&path, [before, BEGIN, &table, END, after].concat()).unwrap();
        return;
    }
    assert_eq!(kept, table, "BOSUN_UPDATE_DOCS=1 writes it anew");
}

/// The list of providers stands in the page before the table of what they can do.
#[test]
fn the_documentation_names_where_each_provider_is_asked_and_where_its_key_comes_from() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let page = std::fs::read_to_string(&path).unwrap();
    for preset in PRESETS {
        let begins = format!("| `{}` | ", preset.id);
        let row = page.lines().find(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("{}", preset.id));
        for word in preset.variables.iter().chain([&preset.base_url]) {
            assert!(row.contains(&format!("`{word}`")), "{word} is not in {row}");
        }
    }
}

#[test]
fn the_table_has_every_provider_and_tells_them_apart() {
    let rows = rows();
    for preset in PRESETS {
        assert!(rows.iter().any(|row| row.preset.id == preset.id), "{}", preset.id);
    }
    let mark = |id: &str, ability: &str| {
        let row = rows.iter().find(|row| row.name == id).unwrap();
        ABILITIES.iter().find(|(name, _)| *name == ability).unwrap().1(row)
    };
    assert_eq!((mark("anthropic", "prompt cache"), mark("bedrock", "prompt cache")), (Works, Works));
    assert_eq!(
        (mark("openai", "effort"), mark("mistral", "effort"), mark("together", "effort")),
        (Works, Degraded(SWITCH), Degraded(LEAST))
    );
    let forced = |id| mark(id, "a tool that must be called");
    assert_eq!(
        (forced("groq"), forced("deepseek"), forced("qwen"), forced("zai")),
        (Works, Degraded(QUIET), Degraded(QUIET), Degraded(CHOOSES))
    );
    assert_eq!(
        (mark("mistral", "PDF"), mark("openrouter", "PDF"), mark("vllm", "PDF")),
        (Works, Works, Degraded(NAMED))
    );
    assert_eq!((mark("google", "video"), mark("openai", "video")), (Works, Degraded(NAMED)));
    assert_eq!(
        (mark("qwen", "JSON of a given shape"), mark("groq", "JSON of a given shape")),
        (Degraded(PROSE), Works)
    );
    assert_eq!(
        (mark("ollama", "images in results"), mark("vertex (Gemini)", "images in results")),
        (Works, Degraded(BESIDE))
    );
    // What every provider that is built in can do; without it an agent is none.
    for row in &rows {
        for (ability, probe) in &ABILITIES[..4] {
            assert_ne!(probe(row), NotOffered, "{}: {ability}", row.name);
        }
    }
}
