use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Asked, Reply, Wire};

/// Which requests a rule answers, and with what. Rules are tried in the order they were added; the first that matches
/// and has a reply left answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub when: When,
    /// Which of `replies` is due.
    #[serde(default)]
    pub order: Order,
    #[serde(default)]
    pub replies: Vec<Reply>,
    /// So many equal steps, then `replies[0]`. Looks at the request only, so that it needs no memory and any number of
    /// sessions can share it.
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub looped: Option<Loop>,
}

/// How a rule with several replies chooses one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each once, in order; then the rule is spent.
    #[default]
    Once,
    /// In order; the last one again for ever.
    RepeatLast,
    /// By how many replies the model gave since the last human message: the script of one turn. It survives retries and
    /// restarts of the client, because the request itself says where it stands.
    ByStep,
}

/// Conditions, all of which must hold. None: every request.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The last piece of the conversation, whoever said it (a tool's result too).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Pattern>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_human: Option<Pattern>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Pattern>,
    /// Tool results since the last human message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<usize>,
    /// A tool of this name is on offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offers: Option<String>,
    /// A condition in code; see [`When::and`].
    #[serde(skip)]
    pub predicate: Option<Predicate>,
}

/// A condition on a request, in code.
pub type Predicate = Arc<dyn Fn(&Asked) -> bool + Send + Sync>;

/// How a text is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    Is(String),
    Contains(String),
}

/// Equal tool calls for a benchmark, driven by the number of tool results in the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    pub steps: usize,
    /// The tool to call.
    pub call: String,
    /// Its arguments; `{n}` inside any string becomes the number of the step, from 0.
    pub args: Value,
    /// Text said beside each call.
    #[serde(default)]
    pub text: Option<String>,
}

impl Rule {
    /// A rule for every request.
    pub fn any() -> Self {
        Self::default()
    }

    pub fn when(when: When) -> Self {
        Self { when, ..Self::default() }
    }

    /// Requests whose last piece contains `text`.
    pub fn last_contains(text: impl Into<String>) -> Self {
        Self::when(When { last: Some(Pattern::Contains(text.into())), ..When::default() })
    }

    /// Requests whose last human message contains `text`: the whole turn that it started.
    pub fn turn(text: impl Into<String>) -> Self {
        let when = When { last_human: Some(Pattern::Contains(text.into())), ..When::default() };
        Self { when, order: Order::ByStep, ..Self::default() }
    }

    /// Requests for which `predicate` holds.
    pub fn matching(predicate: impl Fn(&Asked) -> bool + Send + Sync + 'static) -> Self {
        Self::when(When::default().and(predicate))
    }

    /// `steps` equal calls, then `finish`.
    pub fn looped(steps: usize, call: impl Into<String>, args: Value, finish: impl Into<Reply>) -> Self {
        let looped = Loop { steps, call: call.into(), args, text: None };
        Self { looped: Some(looped), replies: vec![finish.into()], ..Self::default() }
    }

    pub fn reply(mut self, reply: impl Into<Reply>) -> Self {
        self.replies.push(reply.into());
        self
    }

    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// The reply that is due after this rule answered `used` times, or `None` when it does not match or is spent.
    pub(crate) fn answer(&self, asked: &Asked, used: usize) -> Option<Reply> {
        if !self.when.holds(asked) {
            return None;
        }
        if let Some(looped) = &self.looped {
            let done = asked.tool_results();
            return if done < looped.steps { Some(looped.step(done)) } else { self.replies.first().cloned() };
        }
        let at = match self.order {
            Order::Once => used,
            Order::RepeatLast => used.min(self.replies.len().saturating_sub(1)),
            Order::ByStep => asked.step(),
        };
        self.replies.get(at).cloned()
    }
}

impl When {
    /// Adds a condition in code; the last one set counts.
    pub fn and(mut self, predicate: impl Fn(&Asked) -> bool + Send + Sync + 'static) -> Self {
        self.predicate = Some(Arc::new(predicate));
        self
    }

    fn holds(&self, asked: &Asked) -> bool {
        fn all<T>(wanted: Option<&T>, test: impl FnOnce(&T) -> bool) -> bool {
            wanted.is_none_or(test)
        }
        all(self.wire.as_ref(), |wire| *wire == asked.wire)
            && all(self.model.as_ref(), |model| *model == asked.model)
            && all(self.last.as_ref(), |pattern| pattern.fits(asked.last()))
            && all(self.last_human.as_ref(), |pattern| pattern.fits(asked.last_human()))
            && all(self.system.as_ref(), |pattern| pattern.fits(&asked.system))
            && all(self.tool_results.as_ref(), |count| *count == asked.tool_results())
            && all(self.offers.as_ref(), |tool| asked.tools.contains(tool))
            && all(self.predicate.as_ref(), |predicate| predicate(asked))
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&json)?;
        if self.predicate.is_some() {
            f.write_str(" and a predicate")?;
        }
        Ok(())
    }
}

impl Pattern {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => text == wanted,
            Self::Contains(wanted) => text.contains(wanted.as_str()),
        }
    }
}

impl Loop {
    fn step(&self, number: usize) -> Reply {
        let mut args = self.args.clone();
        number_strings(&mut args, &number.to_string());
        let reply = self.text.as_ref().map_or_else(Reply::new, |text| Reply::text(text.clone()));
        reply.and_call(self.call.clone(), args)
    }
}

fn number_strings(value: &mut Value, number: &str) {
    match value {
        Value::String(text) if text.contains("{n}") => *text = text.replace("{n}", number),
        Value::Array(items) => items.iter_mut().for_each(|item| number_strings(item, number)),
        Value::Object(fields) => fields.values_mut().for_each(|field| number_strings(field, number)),
        _ => {}
    }
}
