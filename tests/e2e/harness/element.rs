//! An element of the page. It is looked up again when the page has drawn itself anew in between.

use serde_json::{Value, json};

use super::webdriver::{Refusal, Session, element_argument, element_id};
use super::{PATIENCE, wait};

const FIND: &str = include_str!("find.js");

/// Refusals that a page in motion gives and a page at rest does not.
const PASSING: [&str; 4] =
    ["stale element reference", "element click intercepted", "element not interactable", "no such element"];

/// How an element is found.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub css: Option<String>,
    pub role: Option<&'static str>,
    pub label: Option<String>,
    pub within: Option<Box<Query>>,
}

impl std::fmt::Display for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let css = self.css.as_deref().unwrap_or_default();
        write!(f, "{}{css}", self.role.unwrap_or(if css.is_empty() { "element" } else { "" }))?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " named {label:?}"))?;
        self.within.as_ref().map_or(Ok(()), |within| write!(f, " in {within}"))
    }
}

impl Query {
    /// The WebDriver id of the first visible match.
    pub fn find(&self, session: &Session) -> Option<String> {
        let scope = match &self.within {
            Some(outer) => element_argument(&outer.find(session)?),
            None => Value::Null,
        };
        // While the page loads there may be nothing to run a script in; that is "not found yet".
        let found = session.script(FIND, &[scope, json!(self.css), json!(self.role), json!(self.label)]).ok()?;
        element_id(&found).map(str::to_owned)
    }
}

/// A visible element of a window's page.
pub struct Element<'w> {
    session: &'w Session,
    query: Query,
}

impl<'w> Element<'w> {
    /// Waits until there is such an element.
    #[track_caller]
    pub fn wait_for(session: &'w Session, query: Query) -> Self {
        let found = wait(PATIENCE, || query.find(session));
        assert!(found.is_some(), "there is no {query} on the page");
        Self { session, query }
    }

    #[track_caller]
    pub fn click(&self) {
        self.act("click", &json!({}));
    }

    /// Types `text` as keys, after what is already there.
    #[track_caller]
    pub fn write(&self, text: &str) {
        self.act("value", &json!({ "text": text }));
    }

    /// Empties a field.
    #[track_caller]
    pub fn clear(&self) {
        self.act("clear", &json!({}));
    }

    /// The text as it is shown.
    #[track_caller]
    pub fn text(&self) -> String {
        self.ask("text").as_str().unwrap_or_default().to_owned()
    }

    /// What a field holds.
    #[track_caller]
    pub fn value(&self) -> String {
        self.ask("property/value").as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub fn attribute(&self, name: &str) -> Option<String> {
        self.ask(&format!("attribute/{name}")).as_str().map(str::to_owned)
    }

    /// The accessible name as WebKit computes it.
    #[track_caller]
    pub fn label(&self) -> String {
        self.ask("computedlabel").as_str().unwrap_or_default().to_owned()
    }

    /// The accessible role as WebKit computes it.
    #[track_caller]
    pub fn role(&self) -> String {
        self.ask("computedrole").as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub fn is_enabled(&self) -> bool {
        self.ask("enabled").as_bool().unwrap_or_default()
    }

    /// The button of this name inside this element.
    #[track_caller]
    pub fn button(&self, label: &str) -> Element<'w> {
        self.inside(Some("button"), label)
    }

    /// The text field of this name inside this element.
    #[track_caller]
    pub fn field(&self, label: &str) -> Element<'w> {
        self.inside(Some("textbox"), label)
    }

    /// Any element of this name inside this element.
    #[track_caller]
    pub fn by_label(&self, label: &str) -> Element<'w> {
        self.inside(None, label)
    }

    /// The first visible match inside this element.
    #[track_caller]
    pub fn by_css(&self, css: &str) -> Element<'w> {
        let within = Some(Box::new(self.query.clone()));
        Element::wait_for(self.session, Query { css: Some(css.to_owned()), within, ..Query::default() })
    }

    #[track_caller]
    fn inside(&self, role: Option<&'static str>, label: &str) -> Element<'w> {
        let within = Some(Box::new(self.query.clone()));
        Element::wait_for(self.session, Query { css: None, role, label: Some(label.to_owned()), within })
    }

    #[track_caller]
    fn act(&self, command: &str, body: &Value) {
        self.settled(command, &|id| self.session.post(&format!("/element/{id}/{command}"), body));
    }

    #[track_caller]
    fn ask(&self, question: &str) -> Value {
        self.settled(question, &|id| self.session.get(&format!("/element/{id}/{question}")))
    }

    /// Does `command`, again where the page was in motion.
    #[track_caller]
    fn settled(&self, command: &str, attempt: &dyn Fn(&str) -> Result<Value, Refusal>) -> Value {
        let mut last = String::from("it is gone");
        let done = wait(PATIENCE, || match attempt(&self.query.find(self.session)?) {
            Ok(value) => Some(Ok(value)),
            Err(refusal) => {
                last = refusal.to_string();
                (!PASSING.contains(&refusal.code.as_str())).then_some(Err(()))
            }
        });
        let Some(Ok(value)) = done else { panic!("{command} on {}: {last}", self.query) };
        value
    }
}
