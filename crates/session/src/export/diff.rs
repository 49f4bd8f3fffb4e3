//! A diff as lines of text.

use std::fmt::Write;

use bosun_protocol::{DiffLineKind, FileDiff};

use super::text::{one_line, visible};
use super::words::Words;

/// The diff in the usual unified form.
pub fn unified(diff: &FileDiff, words: &Words) -> String {
    let words = &words.diff;
    let path = one_line(&diff.path);
    let mut text = String::new();
    push_line(&mut text, &format!("--- {}", if diff.created { words.new_file } else { &path }));
    push_line(&mut text, &format!("+++ {}", if diff.deleted { words.deleted } else { &path }));
    if diff.binary {
        push_line(&mut text, words.binary);
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
                push_line(&mut text, words.no_newline);
            }
        }
    }
    if diff.truncated {
        push_line(&mut text, &(words.goes_on)(diff.added, diff.removed));
    }
    text
}

fn push_line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{}", line.trim_end_matches('\n')).ok();
}
