//! What is written about a session, in each language that Bosun speaks.

use bosun_protocol::{
    Attachment, AttachmentKind, Decision, DecisionRecord, DecisionSource, Figure, ItemBody, MediaKind, ModelRef,
    Notice, NoticeCode, Problem, SessionStatus, ToolState,
};
use serde_json::json;

use super::fixture;
use crate::export::{Archive, CHINESE, Detail, ENGLISH, Words, finished, html, markdown, word};

const FIGURES: [Figure; 14] = [
    Figure::Lines(2),
    Figure::Matches(1),
    Figure::Files(3),
    Figure::Entries(1),
    Figure::Added(4),
    Figure::Removed(5),
    Figure::ExitCode(1),
    Figure::Todos { done: 1, total: 2 },
    Figure::Media { kind: MediaKind::Image, size: 80 },
    Figure::TimedOut,
    Figure::Signal(9),
    Figure::BrokeOff,
    Figure::Truncated,
    Figure::LinkBroken,
];

/// The recorded session, with answers, figures and a file in it, and a subagent that said the same.
fn archive() -> Archive {
    let mut archive = recorded();
    let by = |person: bool| if person { DecisionSource::Person } else { DecisionSource::Rule { rule: "a".into() } };
    let decisions = [
        (Decision::Approve, by(false), ToolState::Done),
        (Decision::Edit { args: json!({ "file_path": "/b.txt" }) }, by(true), ToolState::Unknown),
        (Decision::Respond { text: "Take the other one.".into() }, by(true), ToolState::Answered),
        (Decision::Reject { reason: None }, by(true), ToolState::Rejected),
        (Decision::Reject { reason: Some("Not there.".into()) }, by(false), ToolState::Cancelled),
    ];
    let mut figures = Some(FIGURES.to_vec());
    let mut decisions = decisions.into_iter();
    for item in &mut archive.items {
        match &mut item.body {
            ItemBody::Human { attachments, .. } if attachments.is_empty() => attachments.push(Attachment {
                name: "notes.md".into(),
                mime: "text/markdown".into(),
                size: 14,
                kind: AttachmentKind::Text,
                blob: None,
            }),
            ItemBody::Ai { reasoning, .. } => *reasoning = "First the one, then the other.".to_owned(),
            ItemBody::Tool(tool) => {
                tool.figures = figures.take().unwrap_or_default();
                tool.output_truncated = true;
                let Some((decision, by, state)) = decisions.next() else { continue };
                tool.decision = Some(DecisionRecord { decision, by, at: 0 });
                tool.state = state;
            }
            ItemBody::Human { .. } | ItemBody::Notice(_) => {}
        }
    }
    archive.subagents = vec![recorded()];
    archive
}

fn recorded() -> Archive {
    let last = fixture::last();
    Archive {
        session: last.session,
        items: last.items,
        todos: last.todos,
        approvals: last.approvals,
        changes: last.changes,
        agents: last.agents,
        attachments: [].into(),
        subagents: Vec::new(),
    }
}

fn written(words: &Words) -> String {
    markdown(&archive(), "/home/ada/tidy", Detail::Whole, words)
}

#[test]
fn a_session_is_written_in_english() {
    insta::assert_snapshot!(written(&ENGLISH));
}

#[test]
fn a_session_is_written_in_chinese() {
    insta::assert_snapshot!(written(&CHINESE));
}

#[test]
fn a_page_is_written_in_chinese() {
    let page = html(&archive(), "/home/ada/tidy", &CHINESE);
    assert!(page.starts_with("<!doctype html>\n<html lang=\"zh-CN\">\n<head>"), "{page}");
    insta::assert_snapshot!(page.split_once("<body>").unwrap().1);
}

/// What was said, and what has a name, stays as it is; nothing else is left in English.
#[test]
fn a_session_without_anything_of_its_own_has_no_english_in_chinese() {
    let mut archive = archive();
    archive.session.title.clear();
    archive.session.status = SessionStatus::Interrupted;
    let text = markdown(&archive, "", Detail::Short, &CHINESE);
    assert!(text.starts_with("# 未命名的会话\n"), "{text}");
    let statuses = [SessionStatus::Idle, SessionStatus::Running, SessionStatus::Waiting, SessionStatus::Failed];
    for status in statuses.into_iter().chain([SessionStatus::Stopped, SessionStatus::Interrupted]) {
        assert!(!word(status, &CHINESE).is_ascii() && word(status, &ENGLISH).is_ascii(), "{status:?}");
    }
    for item in &archive.items {
        let ItemBody::Tool(tool) = &item.body else { continue };
        for figure in FIGURES {
            let mut tool = tool.clone();
            tool.figures = vec![figure.clone()];
            tool.state = ToolState::Done;
            let (chinese, english) = (finished(&tool, &CHINESE), finished(&tool, &ENGLISH));
            let is_sign = matches!(figure, Figure::Added(_) | Figure::Removed(_));
            assert_eq!(chinese == english, is_sign, "{chinese}");
        }
    }
}

/// The line of `notice` in an export.
fn noticed(notice: &Notice, words: &Words) -> String {
    let mut archive = recorded();
    archive.items.truncate(1);
    archive.items[0].body = ItemBody::Notice(notice.clone());
    let text = markdown(&archive, "", Detail::Whole, words);
    text.lines().find_map(|line| line.strip_prefix("> ")).unwrap().replace('\\', "")
}

#[test]
fn what_bosun_says_in_a_notice_is_said_in_the_language_of_the_export() {
    let notice =
        |code, problem: Problem| Notice { code, detail: problem.to_string(), problem: Some(problem), model: None };
    let busy = Problem::ReplyCut { host: "api.example".into() };
    let again = notice(NoticeCode::AsksAgain, Problem::AsksAgain { seconds: "4".into(), why: Box::new(busy) });
    assert_eq!(
        noticed(&again, &CHINESE),
        "即将再次请求模型：4 秒后重试，原因：api.example 的回复在完成之前就中断了；请重试"
    );
    let english = "The model will be asked again shortly: trying again in 4 s: the reply from api.example broke off before \
                   it was complete; try again";
    assert_eq!(noticed(&again, &ENGLISH), english);

    let (spent, limit, stop) = ("1.02".to_owned(), "1.00".to_owned(), "5.00".to_owned());
    let warned = notice(NoticeCode::BudgetWarning, Problem::SessionCostStops { spent, limit, stop });
    let chinese = "费用已达到你设定的金额：本会话已花费 $1.02；你要求在 $1.00 时提醒。到 $5.00 时停止。";
    assert_eq!(noticed(&warned, &CHINESE), chinese);
    assert!(
        noticed(&warned, &ENGLISH).starts_with("The cost has reached an amount you set: This session has cost $1.02")
    );

    // What a provider said, and the journal of an older Bosun, stand as they came; whose it is stands with them.
    let model = Some(ModelRef { provider: "acme".into(), name: "m1".into() });
    let failed = Notice { code: NoticeCode::ModelFailed, detail: "529 busy".into(), problem: None, model };
    assert_eq!(noticed(&failed, &CHINESE), "模型没有应答（acme:m1）：529 busy");
    assert_eq!(noticed(&failed, &ENGLISH), "The model did not answer (acme:m1): 529 busy");
}

#[test]
fn a_time_that_is_none_is_told_in_the_language_of_the_export() {
    let mut archive = recorded();
    archive.session.created_at = i64::MAX;
    for (words, told) in [(&CHINESE, "时间未知"), (&ENGLISH, "at an unknown time")] {
        assert!(markdown(&archive, "", Detail::Short, words).contains(told));
        assert!(html(&archive, "", words).contains(told));
    }
}
