use bosun_model::{ContentBlock, Reasoning, SystemBlock};
use proptest::prelude::*;

use super::*;
use crate::Family;
use crate::adapter::adapter;
use crate::testing::{config, conversation, endpoint, info};

/// What people and summaries do to a conversation between two requests.
#[derive(Clone, Debug)]
enum Change {
    /// One more message, a copy of one of the conversation's.
    Push(prop::sample::Index),
    Truncate(prop::sample::Index),
    Replace(prop::sample::Index, prop::sample::Index),
    /// Another conversation on the same model.
    Switch,
    /// Other tools, another limit, another effort: what stands behind the messages.
    Tools,
    Limit(Option<u32>),
    Effort(bool),
    /// Whether a tool must be called, whether the answer has a shape, and what is marked for caching.
    Forced(bool),
    Shaped(bool),
    Marked(bool, bool),
    /// What of the end stands in one request alone.
    Passing(usize),
    /// What tells the conversation from others.
    Named(bool),
    /// Another standing prompt.
    System(String),
    /// Everything is sent, and nobody reads it any more.
    Send,
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        6 => index().prop_map(Change::Push),
        1 => index().prop_map(Change::Truncate),
        1 => (index(), index()).prop_map(|(at, with)| Change::Replace(at, with)),
        1 => Just(Change::Switch),
        1 => Just(Change::Tools),
        1 => any::<Option<u32>>().prop_map(Change::Limit),
        1 => any::<bool>().prop_map(Change::Effort),
        1 => any::<bool>().prop_map(Change::Forced),
        1 => any::<bool>().prop_map(Change::Shaped),
        1 => any::<(bool, bool)>().prop_map(|(tools, hour)| Change::Marked(tools, hour)),
        1 => (0_usize..3).prop_map(Change::Passing),
        1 => any::<bool>().prop_map(Change::Named),
        1 => "[s\"]{1,2}".prop_map(Change::System),
        6 => Just(Change::Send),
    ]
}

/// A reply that only thought.
fn silent() -> Arc<Message> {
    let Message::Ai(mut reply) = (*conversation().messages[7]).clone() else { panic!() };
    reply.content = vec![ContentBlock::Reasoning(Reasoning { text: "Hm.".into(), ..Reasoning::default() })];
    reply.tool_calls.clear();
    Arc::new(Message::Ai(reply))
}

proptest! {
    #[test]
    fn a_remembered_beginning_changes_no_byte(changes in prop::collection::vec(change(), 1..40), caching: bool) {
        let mut samples = conversation().messages;
        samples.push(silent());
        let fresh = |at: &prop::sample::Index| Arc::new((*samples[at.index(samples.len())]).clone());
        for family in Family::ALL {
            let adapter = adapter(&endpoint(&config(family)), family, "", None);
            let (memo, info) = (Memo::default(), info("claude-sonnet-4-6"));
            // What is still being sent is left as it is.
            let mut sending = Vec::new();
            let mut conversations = vec![Vec::new(); 3];
            let (mut base, mut system) = (conversation(), "s".to_owned());
            for change in &changes {
                let messages = &mut conversations[0];
                match change {
                    Change::Push(which) => messages.push(fresh(which)),
                    Change::Truncate(at) => messages.truncate(at.index(messages.len() + 1)),
                    Change::Replace(at, with) => if !messages.is_empty() {
                        let at = at.index(messages.len());
                        messages[at] = fresh(with);
                    },
                    Change::Switch => conversations.rotate_left(1),
                    Change::Tools => base.tools = base.tools.iter().rev().cloned().collect(),
                    Change::Limit(most) => base.max_output = *most,
                    Change::Forced(must) => {
                        base.tool_choice = if *must { ToolChoice::Required } else { ToolChoice::Auto };
                    }
                    Change::Shaped(has) => base.output = has.then(|| OutputSchema {
                        name: "shape".into(),
                        schema: serde_json::json!({ "type": "object", "properties": {} }),
                    }),
                    Change::Marked(tools, hour) => base.cache = CacheMarks {
                        tools: *tools,
                        conversation: *tools,
                        lifetime: if *hour { CacheLifetime::OneHour } else { CacheLifetime::FiveMinutes },
                        ..base.cache
                    },
                    Change::Passing(count) => base.cache.passing = *count,
                    Change::Named(has) => base.conversation = has.then(|| "c".into()),
                    Change::System(text) => system.clone_from(text),
                    Change::Send => sending.clear(),
                    Change::Effort(thinks) => base.effort = thinks.then_some(Effort::High),
                }
                let request = ChatRequest {
                    system: vec![SystemBlock { text: system.clone(), cache: caching }],
                    messages: conversations[0].clone().into(),
                    ..base.clone()
                };
                let found = places(&memo.slots.lock().unwrap(), &*adapter, &request.messages);
                prop_assert_eq!(found, Places::default().with(&*adapter, &request.messages, 0));
                let remembered = memo.body(&*adapter, &request, &info).unwrap();
                let whole = Memo::default().body(&*adapter, &request, &info).unwrap();
                prop_assert_eq!(String::from_utf8_lossy(&remembered), String::from_utf8_lossy(&whole));
                sending.push((remembered, whole));
                prop_assert!(sending.iter().all(|(sent, as_it_was)| sent == as_it_was));
            }
        }
    }
}

#[test]
fn what_was_sent_is_written_on_where_nobody_reads_it_any_more() {
    let adapter = adapter(&endpoint(&config(Family::Anthropic)), Family::Anthropic, "", None);
    let (memo, mut request) = (Memo::default(), conversation());
    let place = |body: &Bytes| body.as_ptr();
    let first = memo.body(&*adapter, &request, &info("m")).unwrap();
    let reader = first.clone();
    let kept = place(&first);
    drop(first);
    assert_ne!(place(&memo.body(&*adapter, &request, &info("m")).unwrap()), kept, "one reads it");
    drop(reader);
    request.messages.push(Arc::new(Message::human("h", "more")));
    let again = place(&memo.body(&*adapter, &request, &info("m")).unwrap());
    assert_eq!(place(&memo.body(&*adapter, &request, &info("m")).unwrap()), again);
}

#[test]
fn only_what_is_new_is_written_again() {
    let adapter = adapter(&endpoint(&config(Family::Anthropic)), Family::Anthropic, "", None);
    let (memo, request) = (Memo::default(), conversation());
    memo.body(&*adapter, &request, &info("m")).unwrap();
    let remembered = || {
        let slots = memo.slots.lock().unwrap();
        slots.iter().map(|slot| slot.messages.len()).collect::<Vec<_>>()
    };
    assert_eq!(remembered(), [8]);
    let variant = adapter.variant(&request, &info("m"));
    assert_eq!(memo.take(&*adapter, &request.messages, variant, replies(&*adapter)).1.messages.len(), 8);
    assert_eq!(remembered(), [0; 0]);
}

#[test]
fn what_is_let_go_of_is_that_conversation_alone() {
    let adapter = adapter(&endpoint(&config(Family::Anthropic)), Family::Anthropic, "", None);
    let (memo, one, other) = (Memo::default(), conversation(), conversation());
    assert_eq!(memo.number(&one.messages), None);
    for request in [&one, &other, &one] {
        memo.body(&*adapter, request, &info("m")).unwrap();
    }
    let number = memo.number(&one.messages).unwrap();
    memo.forget(number);
    assert_eq!(memo.number(&one.messages), None);
    assert_ne!(memo.number(&other.messages), None);
    // Another one does not get the number of one that is gone.
    memo.body(&*adapter, &one, &info("m")).unwrap();
    assert_ne!(memo.number(&one.messages), Some(number));
}

/// Prints what the 400th step costs with and without memory; run it with `--run-ignored only --no-capture`.
#[test]
#[ignore = "a measurement"]
fn cost_of_a_body() {
    for family in Family::ALL {
        let adapter = adapter(&endpoint(&config(family)), family, "", None);
        let step = conversation().messages;
        let mut request = ChatRequest { messages: step[..1].to_vec().into(), ..conversation() };
        for _ in 0..400 {
            request.messages.extend(step[7..].iter().map(|message| Arc::new((**message).clone())));
        }
        let memo = Memo::default();
        for what in ["first", "again"] {
            let start = std::time::Instant::now();
            let length = memo.body(&*adapter, &request, &info("m")).unwrap().len();
            println!("{family:?} {what}: {length} bytes in {:?}", start.elapsed());
        }
    }
}
