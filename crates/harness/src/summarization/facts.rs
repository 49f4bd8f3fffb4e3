//! What a summary carries over without a model, within a bound that holds for every history: what the user said, the files
//! that were changed, and the plan.

use std::sync::Arc;

use bosun_agent::{ChangedFile, FileFate, PlannedTodo};
use bosun_backend::VirtualPath;
use bosun_model::Message;
use bosun_tools::TodoStatus;

use super::requirements;
use super::transcript::shortened;
use crate::tokens::letters;

/// Of all the room, what the files and the plan may each fill at most: a fifth.
const PART: usize = 5;
const MOST_FILES: usize = 300;
/// Letters of a step of a plan that does not fit as a whole.
const LONGEST_STEP: usize = 400;
const OPENING: &str = "<user_messages>\nWord for word, oldest first. They hold until the user says otherwise.\n";
const CLOSING: &str = "</user_messages>\n";

/// All of it in at most `most` letters. Of the messages `before`, the file of `kept` has all that stand before one.
pub(super) fn of(
    before: &[Arc<Message>],
    kept: Option<(&VirtualPath, usize)>,
    files: &[ChangedFile],
    plan: &[PlannedTodo],
    most: usize,
) -> String {
    let files = framed("changed_files", |room| rows_of_files(files, room), most / PART);
    let plan = framed("plan", |room| rows_of_plan(plan, room), most / PART);
    let rest = [OPENING, CLOSING, &files, &plan].map(letters).iter().sum();
    let mut text = String::from(OPENING);
    for words in requirements::of(before, most.saturating_sub(rest), kept) {
        text.push_str(&format!("- {words}\n"));
    }
    text.push_str(CLOSING);
    text + &files + &plan
}

/// Rows between the two ends of a frame; nothing where there are none.
fn framed(name: &str, rows: impl FnOnce(usize) -> Vec<String>, most: usize) -> String {
    let (opening, closing) = (format!("<{name}>\n"), format!("</{name}>\n"));
    let rows = rows(most.saturating_sub(letters(&opening) + letters(&closing)));
    if rows.is_empty() { String::new() } else { format!("{opening}{}\n{closing}", rows.join("\n")) }
}

/// The files, those that were changed last where not all fit.
fn rows_of_files(files: &[ChangedFile], room: usize) -> Vec<String> {
    let row = |file: &ChangedFile| {
        let verb = match file.how {
            FileFate::Written => "written",
            FileFate::Edited => "edited",
            FileFate::Deleted => "deleted",
        };
        format!("{} ({verb})", file.path)
    };
    let spare = |count: usize| (count > 0).then(|| format!("({count} more before these)"));
    let mut left = room.saturating_sub(length(&spare(files.len()).unwrap_or_default()));
    let mut rows: Vec<String> =
        files.iter().rev().take(MOST_FILES).map(row).map_while(|row| fits(row, &mut left)).collect();
    rows.extend(spare(files.len() - rows.len()).filter(|note| !files.is_empty() && length(note) <= room));
    rows.reverse();
    rows
}

/// The plan in its order. Where not all of it fits it goes without what is done, and each step in short.
fn rows_of_plan(plan: &[PlannedTodo], room: usize) -> Vec<String> {
    let row = |todo: &PlannedTodo| {
        let status = match todo.status {
            TodoStatus::Pending => "pending",
            TodoStatus::InProgress => "in_progress",
            TodoStatus::Completed => "completed",
        };
        format!("- [{status}] {}", todo.content)
    };
    let whole: Vec<String> = plan.iter().map(row).collect();
    if whole.iter().map(|row| length(row)).sum::<usize>() <= room {
        return whole;
    }
    let note = |count: usize| format!("({count} more, most of them completed)");
    let mut left = room.saturating_sub(length(&note(plan.len())));
    let open = plan.iter().filter(|todo| todo.status != TodoStatus::Completed);
    let mut rows: Vec<String> =
        open.map(|todo| shortened(&row(todo), LONGEST_STEP)).map_while(|row| fits(row, &mut left)).collect();
    rows.push(note(plan.len() - rows.len()));
    rows.retain(|row| length(row) <= room);
    rows
}

fn fits(row: String, left: &mut usize) -> Option<String> {
    *left = left.checked_sub(length(&row))?;
    Some(row)
}

/// The letters of a row with its end.
fn length(row: &str) -> usize {
    letters(row) + 1
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
