//! What Bosun says about trouble, in Chinese: the sentences of the window, which stand in its dictionary.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bosun_protocol::Problem;
use serde_json::Value;

/// By code, the sentence, with `{argument}` where an argument stands. `tests/bindings.rs` writes it from
/// `ui/src/shared/i18n/zh`.
const SENTENCES: &str = include_str!("chinese.json");

/// Between several problems, and behind the last of several sentences.
const BETWEEN: &str = "；";
const STOP: char = '。';

/// `problem` as a sentence that stands alone, as the window says it.
pub(super) fn chinese(problem: &Problem) -> String {
    let words = phrase(&serde_json::to_value(problem).unwrap_or_default());
    let is_ended = words.ends_with(['.', '!', '?', STOP, '！', '？']);
    let is_ours = !matches!(problem, Problem::Said { .. });
    if is_ours && words.contains(STOP) && !is_ended { words + "。" } else { words }
}

/// The same to go into another sentence.
fn phrase(problem: &Value) -> String {
    match problem.get("problem").and_then(Value::as_str).and_then(|code| sentences().get(code)) {
        Some(sentence) => filled(sentence, problem),
        None => serde_json::from_value::<Problem>(problem.clone()).map(|known| known.to_string()).unwrap_or_default(),
    }
}

fn filled(sentence: &str, arguments: &Value) -> String {
    let mut words = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, behind)) = rest.split_once('{') {
        words.push_str(before);
        match behind.split_once('}').and_then(|(name, behind)| Some((arguments.get(name)?, behind))) {
            Some((argument, behind)) => {
                words.push_str(&in_words(argument));
                rest = behind;
            }
            None => {
                words.push('{');
                rest = behind;
            }
        }
    }
    words + rest
}

fn in_words(argument: &Value) -> String {
    match argument {
        Value::String(text) => text.clone(),
        Value::Array(problems) => problems.iter().map(in_words).collect::<Vec<_>>().join(BETWEEN),
        Value::Object(_) => phrase(argument),
        Value::Null | Value::Bool(_) | Value::Number(_) => argument.to_string(),
    }
}

fn sentences() -> &'static BTreeMap<String, String> {
    static READ: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    READ.get_or_init(|| serde_json::from_str(SENTENCES).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use bosun_protocol::Problems;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_problem_has_a_sentence() {
        assert_eq!(sentences().len(), Problem::ENGLISH.len());
        assert!(sentences().values().all(|sentence| sentence == "{detail}" || !sentence.is_ascii()));
    }

    #[test]
    fn a_sentence_has_its_arguments_in_it_and_problems_within_it() {
        let gone = Problem::Gone { path: "/a{b}".into() };
        let why = Problems(vec![Problem::NoRewind, gone]);
        let nothing = Problem::NothingTakenBack { why };
        assert_eq!(
            chinese(&nothing),
            "没有撤销任何内容：没有可撤销的回退，或会话在那之后又有了新内容；请查看时间线；“/a{b}”已不存在；请查看它原来所在的文件夹"
        );
        let again = Problem::AsksAgain { seconds: "4".into(), why: Box::new(Problem::ReplyCut { host: "h".into() }) };
        assert_eq!(chinese(&again), "4 秒后重试，原因：h 的回复在完成之前就中断了；请重试");
        let detail = "HTTP 529: busy. Try later。".to_owned();
        assert_eq!(chinese(&Problem::Said { detail: detail.clone() }), detail);
        let many = Problem::TextNotUnique { path: "/a".into(), count: 3 };
        assert!(chinese(&many).contains("出现了 3 次"), "{}", chinese(&many));
        let several = Problem::SessionCostStops { spent: "1".into(), limit: "1".into(), stop: "2".into() };
        assert!(chinese(&several).ends_with("停止。"), "{}", chinese(&several));
    }
}
