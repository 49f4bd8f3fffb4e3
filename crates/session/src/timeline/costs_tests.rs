use bosun_agent::SessionId;
use bosun_model::{AiMessage, Asked, Dropped, MessageId, StopReason, Usage};
use bosun_store::StoredCall;
use pretty_assertions::assert_eq;

use super::{Costs, Paid};

fn used(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

fn call(at: i64, usage: Usage, cost: Option<f64>) -> StoredCall {
    StoredCall {
        session: SessionId::new("s"),
        project: "p".into(),
        at,
        day: "2026-11-21".into(),
        provider: "desk".into(),
        model: "big".into(),
        purpose: "answer".into(),
        milliseconds: 5,
        usage,
        cost,
        agent: None,
    }
}

fn reply(usage: Option<Usage>) -> AiMessage {
    AiMessage {
        id: MessageId::new("m"),
        content: Vec::new(),
        tool_calls: Vec::new(),
        invalid_tool_calls: Vec::new(),
        call_places: Vec::new(),
        dropped: None,
        usage,
        stop: StopReason::EndTurn,
        model: None,
        asked: None,
    }
}

#[test]
fn a_reply_cost_what_its_own_call_did() {
    let calls = [
        call(300, used(10, 2), Some(0.3)),
        call(200, used(10, 2), Some(0.2)),
        call(100, used(99, 9), Some(0.1)),
        call(50, used(7, 7), None),
    ];
    let costs = Costs::new(&calls);
    let cost = |usage, at| costs.of(Paid::of(&reply(usage), None, at)?);
    assert_eq!(cost(Some(used(99, 9)), 150), Some(0.1));
    assert_eq!(cost(Some(used(10, 2)), 250), Some(0.2));
    assert_eq!(cost(Some(used(10, 2)), 400), Some(0.3));
    assert_eq!(cost(Some(used(10, 2)), 150), None, "it began later");
    assert_eq!(cost(Some(used(7, 7)), 400), None, "its price is not known");
    assert_eq!(cost(None, 400), None);
    // What was dropped before it was paid for too.
    let with_dropped = |dropped| {
        let dropped = Some(Dropped { usage: used(5, 5), cost: dropped });
        costs.of(Paid::of(&AiMessage { dropped, ..reply(Some(used(99, 9))) }, None, 150)?)
    };
    assert_eq!((with_dropped(Some(0.4)), with_dropped(None)), (Some(0.5), None));
}

/// The cheaper call of a subagent used as much, and began later.
#[test]
fn a_reply_whose_entry_says_what_it_cost_is_not_looked_for() {
    let costs = Costs::new(&[call(100, used(10, 2), Some(0.3)), call(120, used(10, 2), Some(0.1))]);
    let asked = Some(Asked { provider: "desk".into(), model: "big".into() });
    let reply = AiMessage { asked, ..reply(Some(used(10, 2))) };
    let cost = |cost| costs.of(Paid::of(&reply, cost, 150)?);
    assert_eq!(cost(Some(0.3)), Some(0.3));
    assert_eq!(cost(None), None, "its price was not known, whatever others cost");
}
