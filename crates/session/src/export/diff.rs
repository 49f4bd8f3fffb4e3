//! A diff as lines of text.

use std::fmt::Write;

use bosun_protocol::{DiffLineKind, FileDiff};

use super::text::{one_line, visible};

/// The diff in the usual unified form.
pub fn unified(diff: &FileDiff) -> String {
    let path = one_line(&diff.path);
    let mut text = String::new();
    push_line(&mut text, &format!("--- {}", if diff.created { "(new file)" } else { &path }));
    push_line(&mut text, &format!("+++ {}", if diff.deleted { "(deleted)" } else { &path }));
    if diff.binary {
        push_line(&mut text, "(not text; there is nothing to show line by line)");
    }
    for hunk in &diff.hunks {
        let (a, b, c, d) = (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines);
        push_line(&mut text, format!("@@ -{a},{b} +{c},{d} @@ {}", one_line(&hunk.heading)).trim_end());
        for line in &hunk.lines {
            let mark = match line.kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            };
            let content: String = line.segments.iter().map(|segment| segment.text.as_str()).collect();
            push_line(&mut text, &format!("{mark}{}", visible(content.trim_end_matches('\n'))));
            if line.no_newline {
                push_line(&mut text, "\\ No newline at end of file");
            }
        }
    }
    if diff.truncated {
        let (added, removed) = (diff.added, diff.removed);
        push_line(&mut text, &format!("(the diff goes on: +{added} -{removed} lines in all, not all of them shown)"));
    }
    text
}

fn push_line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{}", line.trim_end_matches('\n')).ok();
}
