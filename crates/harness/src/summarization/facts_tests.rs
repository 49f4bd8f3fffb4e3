use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn said(texts: &[String]) -> Vec<Arc<Message>> {
    texts.iter().map(|text| Arc::new(Message::human("h", text.clone()))).collect()
}

fn files(count: usize) -> Vec<ChangedFile> {
    let path = |n: usize| VirtualPath::parse(&format!("/src/part/file_{n:03}.rs")).unwrap();
    (0..count).map(|n| ChangedFile { path: path(n), how: FileFate::Edited }).collect()
}

fn plan(steps: &[(String, bool)]) -> Vec<PlannedTodo> {
    let status = |done: bool| if done { TodoStatus::Completed } else { TodoStatus::Pending };
    let todo = |(content, done): &(String, bool)| PlannedTodo {
        id: "t".into(),
        content: content.clone(),
        status: status(*done),
    };
    steps.iter().map(todo).collect()
}

#[test]
fn what_fits_is_there_in_whole() {
    let steps = [("look".to_owned(), true), ("mend".to_owned(), false)];
    let text = of(&said(&["mend it".into(), "at once".into()]), None, &files(2), &plan(&steps), 2_000);
    assert_eq!(
        text,
        "<user_messages>\nWord for word, oldest first. They hold until the user says otherwise.\n- mend it\n- at \
         once\n</user_messages>\n<changed_files>\n/src/part/file_000.rs (edited)\n/src/part/file_001.rs \
         (edited)\n</changed_files>\n<plan>\n- [completed] look\n- [pending] mend\n</plan>\n"
    );
}

#[test]
fn of_too_many_files_the_last_are_named_and_of_too_long_a_plan_what_is_open() {
    let steps: Vec<_> = (0..100).map(|n| (format!("step {n}"), n < 90)).collect();
    let text = of(&said(&["go".into()]), None, &files(400), &plan(&steps), 4_000);
    assert!(text.contains(" more before these)\n/src/part/file_3") && text.contains("file_399.rs (edited)"), "{text}");
    assert!(text.contains("- [pending] step 99\n(90 more, most of them completed)\n</plan>"), "{text}");
}

/// Texts that are short, long, and in letters of any weight.
fn words() -> impl Strategy<Value = String> {
    let letter = prop_oneof![Just('w'), Just('审'), Just('ü'), Just('🦦'), Just('\n')];
    (prop::collection::vec(letter, 1..20), prop_oneof![Just(1_usize), 1..40_usize, 1..2_000_usize])
        .prop_map(|(letters, times)| letters.into_iter().collect::<String>().repeat(times))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever was said, changed and planned, and however little room there is.
    #[test]
    fn it_never_takes_more_than_its_room(
        texts in prop::collection::vec(words(), 0..120),
        filed in 0..120_usize,
        changed in 0..400_usize,
        steps in prop::collection::vec((words(), any::<bool>()), 0..40),
        most in prop_oneof![600..3_000_usize, 600..100_000_usize],
    ) {
        let file = VirtualPath::parse("/conversation_history/session_0123456789abcdef.md").unwrap();
        let text = of(&said(&texts), Some((&file, filed)), &files(changed), &plan(&steps), most);
        prop_assert!(letters(&text) <= most, "{} letters in the room of {most}", letters(&text));
    }
}
