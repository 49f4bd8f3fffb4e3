use bosun_backend::VirtualPath;

/// Lines searched above a hunk.
const LOOK_BACK: usize = 2_000;
/// Characters of a heading.
const LONGEST: usize = 80;

/// Finds the function or section a hunk lies in, by what a reader would go by: indentation and the first word.
pub(super) enum Headings {
    /// `# Title`, at any depth.
    Markdown,
    /// `[section]`.
    Sections,
    Code,
}

impl Headings {
    pub(super) fn of(path: &VirtualPath) -> Self {
        let extension = path.name().and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("md" | "mdx" | "markdown") => Self::Markdown,
            Some("toml" | "ini" | "cfg" | "conf") => Self::Sections,
            _ => Self::Code,
        }
    }

    /// The heading of a change at `changed` in a hunk that begins at `start`; both are 0-based.
    pub(super) fn above(&self, lines: &[&str], start: usize, changed: usize) -> Option<String> {
        let above = lines.get(..start)?.iter().rev().take(LOOK_BACK);
        let found = match self {
            Self::Markdown => above.copied().find(|line| is_title(line)),
            Self::Sections => above.copied().find(|line| line.starts_with('[')),
            Self::Code => {
                let mut depth =
                    lines.get(changed..)?.iter().find(|line| !is_blank(line)).map_or(0, |line| indent(line));
                let mut enclosing = None;
                for line in above.filter(|line| !is_blank(line)) {
                    if depth == 0 {
                        break;
                    }
                    let here = indent(line);
                    if here >= depth {
                        continue;
                    }
                    if is_definition(line) {
                        enclosing = Some(*line);
                        break;
                    }
                    // The end of a list of parameters is as far out as the line that opened it.
                    if !line.trim_start().starts_with([')', ']', '}', '{']) {
                        depth = here;
                    }
                }
                enclosing
            }
        };
        found.map(|line| line.trim().chars().take(LONGEST).collect())
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// White space in front, a tab as four.
fn indent(line: &str) -> usize {
    line.chars().take_while(|character| character.is_whitespace()).map(|blank| if blank == '\t' { 4 } else { 1 }).sum()
}

fn is_title(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && text.starts_with(' ')
}

const KEYWORDS: &[&str] = &[
    "class",
    "def",
    "describe",
    "enum",
    "extension",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "it",
    "macro_rules",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "proc",
    "procedure",
    "protocol",
    "record",
    "struct",
    "sub",
    "test",
    "trait",
    "type",
    "union",
];
const MODIFIERS: &[&str] = &[
    "abstract",
    "async",
    "const",
    "crate",
    "default",
    "export",
    "extern",
    "final",
    "inline",
    "internal",
    "open",
    "override",
    "private",
    "protected",
    "pub",
    "public",
    "sealed",
    "static",
    "super",
    "unsafe",
    "virtual",
];
const CONTROL: &[&str] = &[
    "case", "catch", "do", "elif", "else", "except", "finally", "for", "foreach", "if", "loop", "match", "return",
    "switch", "try", "until", "when", "while", "with",
];

/// Whether a line opens a function, a type or a module, in whatever language.
fn is_definition(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let Some(first) = words.find(|word| !MODIFIERS.contains(word)) else { return false };
    if KEYWORDS.contains(&first) {
        return true;
    }
    if CONTROL.contains(&first) {
        return false;
    }
    // `int main(void) {`, `render() {`, and the C way of opening the body on the next line.
    let end = line.trim_end();
    line.contains('(') && (end.ends_with('{') || (indent(line) == 0 && end.ends_with(')')))
}
