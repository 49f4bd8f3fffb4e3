//! Standing rules and modes: what is offered and tried out, what passes then, who is named for it, and what never passes.

use bosun_model::ChatRequest;
use bosun_protocol::{
    Approval, ApprovalMode, AskReason, AskedAgain, Decide, Decision, DecisionSource, ErrorCode, PatternProblem,
    RuleDraft, RuleGuard, RuleKind, RuleOffer, RuleScope, SessionId, ToolState,
};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sessions::{editing, progress};
use super::stage::Stage;

/// Runs the command that the message is, once.
fn running(request: &ChatRequest) -> Reply {
    match progress(request) {
        (line, 0) => Reply::default().and_call("execute", json!({"command": line})),
        _ => Reply::text("Done."),
    }
}

async fn say(stage: &Stage, session: &SessionId, line: &str) -> Option<Approval> {
    stage.sessions.send(session, line.into()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    stage.snapshot(session).await.approvals.pop()
}

fn approving(approval: &Approval) -> Decide {
    Decide {
        session: approval.session.clone(),
        call_id: approval.call_id.clone(),
        digest: approval.digest.clone(),
        decision: Decision::Approve,
    }
}

fn draft(approval: &Approval, scope: RuleScope, pattern: &str) -> RuleDraft {
    RuleDraft { session: approval.session.clone(), call_id: approval.call_id.clone(), scope, pattern: pattern.into() }
}

async fn reject(stage: &Stage, session: &SessionId, approval: &Approval) {
    let decide = Decide { decision: Decision::Reject { reason: None }, ..approving(approval) };
    stage.sessions.decide(vec![decide]).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
}

#[tokio::test]
async fn a_rule_of_the_session_passes_the_next_call_and_is_named_for_it() {
    let stage = Stage::new(running).await;
    let session = stage.session().await;
    let approval = say(&stage, &session, "echo one").await.unwrap();
    let rule = stage
        .sessions
        .approve_always(vec![approving(&approval)], vec![draft(&approval, RuleScope::Session, "echo *")])
        .await;
    let rule = rule.unwrap().pop().unwrap();
    assert_eq!(
        (rule.kind, rule.pattern.as_str(), rule.session.as_ref()),
        (RuleKind::Command, "echo *", Some(&session))
    );
    stage.sessions.quiet(&session).await.unwrap();

    assert_eq!(say(&stage, &session, "echo two 'three four'").await, None);
    let ledger = stage.timeline(&session).await.ledger;
    let by: Vec<_> = ledger.iter().map(|entry| entry.decision.as_ref().unwrap().by.clone()).collect();
    assert_eq!(by, [DecisionSource::Person, DecisionSource::Rule { rule: "echo * (this session)".into() }]);
    assert!(ledger.iter().all(|entry| entry.state == ToolState::Done), "{ledger:?}");

    for guarded in ["echo x; rm -rf y", "echo /etc/passwd", "echo $(id)", "echo x > y", "echo\u{200b} x"] {
        let approval = say(&stage, &session, guarded).await.unwrap_or_else(|| panic!("{guarded:?} passed"));
        assert_eq!(approval.reason, AskReason::CommandsAsk);
        reject(&stage, &session, &approval).await;
    }

    let other = stage.session().await;
    let approval = say(&stage, &other, "echo two").await.unwrap();
    reject(&stage, &other, &approval).await;
    let stage = stage.restarted(running).await;
    assert_eq!(say(&stage, &session, "echo after a restart").await, None);
    stage.sessions.remove_rule(&rule.id).await.unwrap();
    assert!(say(&stage, &session, "echo again").await.is_some());
    assert_eq!(stage.sessions.rules().await.unwrap(), []);
    assert_eq!(stage.sessions.remove_rule(&rule.id).await.unwrap_err().code, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_rule_of_the_project_holds_in_its_sessions_at_once() {
    let stage = Stage::new(running).await;
    let (first, second) = (stage.session().await, stage.session().await);
    let waiting = say(&stage, &second, "echo waits").await.unwrap();
    let approval = say(&stage, &first, "echo one").await.unwrap();
    stage
        .sessions
        .approve_always(vec![approving(&approval)], vec![draft(&approval, RuleScope::Project, "echo *")])
        .await
        .unwrap();
    // What waits keeps waiting: it was shown, so it is answered.
    assert_eq!(stage.snapshot(&second).await.approvals, std::slice::from_ref(&waiting));
    reject(&stage, &second, &waiting).await;
    assert_eq!(say(&stage, &second, "echo two").await, None);
}

#[tokio::test]
async fn a_pattern_is_tried_on_what_asked_before_it_is_kept() {
    let stage = Stage::new(running).await;
    let session = stage.session().await;
    for line in ["cargo build", "cargo test -q", "ls && cargo test"] {
        let approval = say(&stage, &session, line).await.unwrap();
        reject(&stage, &session, &approval).await;
    }
    let approval = say(&stage, &session, "cargo test -p a").await.unwrap();
    let offer = stage.sessions.rule_offer(&approval.session, &approval.call_id).await.unwrap();
    let patterns = vec!["cargo test *".to_owned(), "cargo test -p a".to_owned()];
    assert_eq!(offer, RuleOffer::Patterns { kind: RuleKind::Command, patterns });

    let tried = async |pattern: &str| {
        stage.sessions.rehearse_rule(&draft(&approval, RuleScope::Project, pattern)).await.unwrap()
    };
    let rehearsal = tried("cargo test *").await;
    assert_eq!((rehearsal.problem, rehearsal.asked, rehearsal.answered), (None, 4, 2));
    assert_eq!(rehearsal.passing, ["cargo test -p a", "cargo test -q"]);
    assert_eq!(rehearsal.asking, ["ls && cargo test", "cargo build"]);
    assert_eq!(tried("cargo build *").await.problem, Some(PatternProblem::NotThis));
    assert_eq!(tried("*").await.problem, Some(PatternProblem::Everything));

    let refused = stage
        .sessions
        .approve_always(vec![approving(&approval)], vec![draft(&approval, RuleScope::Always, "cargo *")])
        .await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::Invalid);
    assert_eq!(stage.sessions.rules().await.unwrap(), []);
    assert_eq!(stage.snapshot(&session).await.approvals.len(), 1);
}

#[tokio::test]
async fn no_rule_is_made_where_the_approval_cannot_be_taken() {
    let stage = Stage::new(running).await;
    let session = stage.session().await;
    let approval = say(&stage, &session, "echo one").await.unwrap();
    let stale = Decide { digest: "stale".into(), ..approving(&approval) };
    let rule = draft(&approval, RuleScope::Always, "echo *");
    assert_eq!(
        stage.sessions.approve_always(vec![stale], vec![rule.clone()]).await.unwrap_err().code,
        ErrorCode::AlreadyDecided
    );
    assert_eq!(stage.sessions.rules().await.unwrap(), []);
    let edited = Decide { decision: Decision::Edit { args: json!({}) }, ..approving(&approval) };
    assert_eq!(
        stage.sessions.approve_always(vec![edited], vec![rule.clone()]).await.unwrap_err().code,
        ErrorCode::Invalid
    );
    reject(&stage, &session, &approval).await;
    assert_eq!(stage.sessions.rehearse_rule(&rule).await.unwrap_err().code, ErrorCode::AlreadyDecided);
}

/// Three commands at once, then an end.
fn three(request: &ChatRequest) -> Reply {
    let call = |reply: Reply, line: &str| reply.and_call("execute", json!({"command": line}));
    match progress(request) {
        (_, 0) => ["echo one", "true", "echo three"].into_iter().fold(Reply::default(), call),
        _ => Reply::text("Done."),
    }
}

#[tokio::test]
async fn rules_are_made_with_several_answers_all_or_none() {
    let stage = Stage::new(three).await;
    let session = stage.session().await;
    stage.sessions.send(&session, "three".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let waiting = stage.snapshot(&session).await.approvals;
    let [one, two, third] = waiting.as_slice() else { panic!("{waiting:?}") };
    let drafts = vec![draft(one, RuleScope::Session, "echo one"), draft(third, RuleScope::Project, "echo three")];

    let refusing = Decide { decision: Decision::Reject { reason: None }, ..approving(third) };
    let of_a_rejected = vec![approving(one), approving(two), refusing];
    let refused = stage.sessions.approve_always(of_a_rejected, drafts.clone()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Invalid);
    let stale = Decide { digest: "stale".into(), ..approving(two) };
    let refused = stage.sessions.approve_always(vec![approving(one), stale, approving(third)], drafts.clone()).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::AlreadyDecided);
    assert_eq!(stage.sessions.rules().await.unwrap(), []);

    let all = vec![approving(one), approving(two), approving(third)];
    let made = stage.sessions.approve_always(all, drafts).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let patterns: Vec<_> = made.iter().map(|rule| (rule.scope, rule.pattern.as_str())).collect();
    assert_eq!(patterns, [(RuleScope::Session, "echo one"), (RuleScope::Project, "echo three")]);
    assert_eq!(stage.snapshot(&session).await.approvals, []);
    assert_eq!(stage.sessions.rules().await.unwrap().len(), 2);
}

#[tokio::test]
async fn nothing_is_offered_for_what_no_rule_may_pass() {
    let stage = Stage::new(running).await;
    let session = stage.session().await;
    let approval = say(&stage, &session, "rm -rf /nowhere").await.unwrap();
    let offer = stage.sessions.rule_offer(&approval.session, &approval.call_id).await.unwrap();
    assert_eq!(offer, RuleOffer::None { guard: RuleGuard::Outside });
    let rule = draft(&approval, RuleScope::Session, "rm -rf /nowhere");
    let refused = stage.sessions.approve_always(vec![approving(&approval)], vec![rule]).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Invalid);
    let pattern = "rm -rf /nowhere".to_owned();
    assert_eq!(refused.problem, bosun_protocol::Problem::RulePattern { pattern });
}

#[tokio::test]
async fn the_mode_is_kept_with_the_session_and_begins_as_the_projects() {
    let stage = Stage::new(editing).await;
    let session = stage.session().await;
    stage.sessions.set_mode(&session, ApprovalMode::Edits).await.unwrap();
    stage.sessions.send(&session, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    assert_eq!(stage.project.read("a.txt"), "1\ntwo\n");
    let ledger = stage.timeline(&session).await.ledger;
    let by = ledger.iter().find_map(|entry| entry.decision.as_ref()).map(|decision| decision.by.clone());
    assert_eq!(by, Some(DecisionSource::Rule { rule: "edit freely in the project".into() }));

    let stage = stage.restarted(editing).await;
    assert_eq!(stage.sessions.mode(&session).await.unwrap().mode, ApprovalMode::Edits);
    stage.sessions.set_project_mode(&stage.project_id, ApprovalMode::PlanOnly).await.unwrap();
    let other = stage.session().await;
    let mode = stage.sessions.mode(&other).await.unwrap();
    assert_eq!((mode.mode, mode.project), (ApprovalMode::PlanOnly, ApprovalMode::PlanOnly));
    assert_eq!(stage.sessions.mode(&session).await.unwrap().mode, ApprovalMode::Edits);
    stage.sessions.send(&other, "edit a.txt".into()).await.unwrap();
    stage.sessions.quiet(&other).await.unwrap();
    let ledger = stage.timeline(&other).await.ledger;
    let edit = ledger.iter().find(|entry| entry.tool == "edit_file").unwrap();
    assert_eq!(edit.state, ToolState::Rejected);
    let decided = edit.decision.as_ref().unwrap();
    assert_eq!(decided.by, DecisionSource::Rule { rule: "plan only".into() });
    assert!(matches!(decided.decision, Decision::Reject { .. }), "{decided:?}");
    assert_eq!(stage.sessions.project_modes().await.unwrap().len(), 1);
}

/// A12: what a script of an approved command holds now was not approved, and the call counts once.
#[tokio::test]
async fn a_call_that_is_asked_for_again_has_no_decision_no_rule_and_counts_once() {
    let stage = Stage::new(running).await;
    let session = stage.session().await;
    stage.project.write("x.sh", "echo one\n");
    let first = say(&stage, &session, "./x.sh").await.unwrap();
    assert_eq!((first.scripts.as_slice(), &first.again), (&["/x.sh".to_owned()][..], &None));
    stage.project.write("x.sh", "echo two\n");
    stage.sessions.decide(vec![approving(&first)]).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let again = stage.snapshot(&session).await.approvals.pop().unwrap();
    assert_eq!(again.again, Some(AskedAgain::ScriptChanged { path: "/x.sh".into() }));
    let ledger = stage.timeline(&session).await.ledger;
    let entry = ledger.iter().find(|entry| entry.call_id == again.call_id).unwrap();
    assert_eq!((entry.state, &entry.decision, &entry.ran), (ToolState::Waiting, &None, &None));
    let offer = stage.sessions.rule_offer(&session, &again.call_id).await.unwrap();
    assert_eq!(offer, RuleOffer::None { guard: RuleGuard::ScriptChanged });
    let rehearsed = stage.sessions.rehearse_rule(&draft(&again, RuleScope::Session, "./x.sh")).await.unwrap();
    assert_eq!(rehearsed.asked, 1);
}

#[tokio::test]
async fn a_rule_that_was_removed_is_put_back_in_its_place_and_holds_again() {
    let stage = Stage::new(running).await;
    let session = stage.session().await;
    for (line, pattern) in [("echo one", "echo *"), ("ls", "ls")] {
        let approval = say(&stage, &session, line).await.unwrap();
        let drafts = vec![draft(&approval, RuleScope::Project, pattern)];
        stage.sessions.approve_always(vec![approving(&approval)], drafts).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
    }
    let before = stage.sessions.rules().await.unwrap();
    let echo = before.iter().find(|rule| rule.pattern == "echo *").unwrap().clone();
    stage.sessions.remove_rule(&echo.id).await.unwrap();
    let asked = say(&stage, &session, "echo two").await.expect("it asks again");
    reject(&stage, &session, &asked).await;
    assert_eq!(stage.sessions.restore_rule(&echo.id).await.unwrap(), echo);
    assert_eq!(stage.sessions.rules().await.unwrap(), before, "it stands where it stood");
    assert_eq!(say(&stage, &session, "echo three").await, None, "it passes again");
    let again = stage.sessions.restore_rule(&echo.id).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::NotFound, "what is there is not put back");
}

#[tokio::test]
async fn only_a_rule_that_was_removed_here_and_lately_is_put_back() {
    let stage = Stage::new(running).await;
    let session = stage.session().await;
    let approval = say(&stage, &session, "echo one").await.unwrap();
    let drafts = vec![draft(&approval, RuleScope::Always, "echo *")];
    let rule = stage.sessions.approve_always(vec![approving(&approval)], drafts).await.unwrap().remove(0);
    stage.sessions.quiet(&session).await.unwrap();
    assert!(stage.sessions.restore_rule("nobody").await.is_err());
    stage.sessions.remove_rule(&rule.id).await.unwrap();
    stage.wait_ms(6 * 60 * 1_000);
    let late = stage.sessions.restore_rule(&rule.id).await.unwrap_err();
    assert_eq!((late.code, stage.sessions.rules().await.unwrap().len()), (ErrorCode::NotFound, 0));

    let approval = say(&stage, &session, "echo two").await.unwrap();
    let drafts = vec![draft(&approval, RuleScope::Always, "echo *")];
    let rule = stage.sessions.approve_always(vec![approving(&approval)], drafts).await.unwrap().remove(0);
    stage.sessions.quiet(&session).await.unwrap();
    stage.sessions.remove_rule(&rule.id).await.unwrap();
    let stage = stage.restarted(running).await;
    assert!(stage.sessions.restore_rule(&rule.id).await.is_err(), "another run knows nothing of it");
}
