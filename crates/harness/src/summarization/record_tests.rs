use bosun_agent::JournalEntry;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn summary(n: usize) -> Summary {
    Summary {
        cutoff: n,
        text: format!("story {n} {}", "and so on ".repeat(100)),
        facts: String::new(),
        file: None,
        filed: None,
        made_at: n,
        cause: SummaryCause::Threshold,
        request_tokens: 0,
        tokens_before: 10,
        tokens_after: 1,
        usage: None,
        left_out: 0,
        edited: false,
    }
}

fn apply(state: &mut State, body: EntryBody) {
    state.apply(&JournalEntry { at: 0, body });
}

/// Adds a summary; gives the bytes of the entry.
fn add(state: &mut State, n: usize) -> usize {
    let mut compaction = Compaction::of(state);
    compaction.push(summary(n));
    let entry = compaction.entry();
    let bytes = serde_json::to_vec(&entry).unwrap().len();
    apply(state, entry);
    bytes
}

fn in_force(state: &State) -> (usize, Option<Summary>) {
    let Compaction { made, summary, .. } = Compaction::of(state);
    (made, summary)
}

#[test]
fn what_is_recorded_does_not_grow_with_the_summaries_before() {
    let mut state = State::default();
    let first = add(&mut state, 1);
    for n in 2..60 {
        let bytes = add(&mut state, n);
        assert!(bytes < first + 20, "{n}: {bytes}, the first one {first}");
    }
    assert_eq!(in_force(&state), (59, Some(summary(59))));
    let mut compaction = Compaction::of(&state);
    compaction.arguments_before = 7;
    let cut = compaction.entry();
    let bytes = serde_json::to_vec(&cut).unwrap().len();
    assert!(bytes < 300, "a cut of arguments repeats no summary: {bytes}");
    apply(&mut state, cut);
    assert_eq!((in_force(&state), Compaction::of(&state).arguments_before), ((59, Some(summary(59))), 7));
}

#[test]
fn each_undo_brings_the_summary_before_back() {
    let mut state = State::default();
    for n in 1..=3 {
        add(&mut state, n);
    }
    let edit = edit_summary(&state, "as I tell it").unwrap();
    apply(&mut state, edit);
    let (made, edited) = in_force(&state);
    assert_eq!((made, edited.map(|summary| (summary.text, summary.edited))), (3, Some(("as I tell it".into(), true))));
    for n in [2, 1] {
        let undo = undo_summary(&state).unwrap();
        apply(&mut state, undo);
        assert_eq!(in_force(&state), (n, Some(summary(n))));
    }
    // What comes instead takes the place of what was taken back.
    add(&mut state, 9);
    assert_eq!(in_force(&state), (2, Some(summary(9))));
    for _ in 0..2 {
        let undo = undo_summary(&state).unwrap();
        apply(&mut state, undo);
    }
    assert_eq!((in_force(&state), undo_summary(&state), edit_summary(&state, "x")), ((0, None), None, None));
}

/// A journal of before the summaries had fields of their own.
#[test]
fn an_old_record_is_read_and_goes_on() {
    let mut old = State::default();
    let record = json!({
        "summaries": [summary(1), summary(2)], "arguments_before": 4, "results_before": 3,
        "failed": { "reason": "no", "at_tokens": 5 },
    });
    old.fields.insert(SUMMARIZATION_FIELD.into(), record);
    let read = Compaction::of(&old);
    assert_eq!((in_force(&old), read.arguments_before, read.results_before), ((2, Some(summary(2))), 4, 3));
    assert_eq!(read.failed.map(|failed| failed.at_tokens), Some(5));
    let mut undone = old.clone();
    let undo = undo_summary(&undone).unwrap();
    apply(&mut undone, undo);
    assert_eq!(in_force(&undone), (1, Some(summary(1))));
    add(&mut old, 3);
    for n in [2, 1] {
        let undo = undo_summary(&old).unwrap();
        apply(&mut old, undo);
        assert_eq!(in_force(&old), (n, Some(summary(n))));
    }
}
