//! What a person said in advance: rules and modes, as they are kept and as they are in force in open sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bosun_agent::{ApprovalMode, RulePattern, RuleScope, Standing, StandingRule};
use bosun_backend::{CommandSwitch, Commands};
use bosun_protocol::Problem;
use bosun_store::Database;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use tokio::sync::Mutex as AsyncMutex;

use crate::SessionError;
use crate::stream::locked;

/// The setting that keeps them all.
const SETTING: &str = "permissions";
/// How long a rule that was removed can be put back.
const RESTORABLE_MS: i64 = 5 * 60 * 1_000;
/// More rules than a person can look through are none that they know of.
const MOST_RULES: usize = 500;

/// A rule as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredRule {
    pub id: String,
    pub scope: RuleScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub pattern: RulePattern,
    pub created_at: i64,
}

impl StoredRule {
    fn holds_in(&self, place: &Place) -> bool {
        match self.scope {
            RuleScope::Session => self.session.as_deref() == Some(place.session.as_str()),
            RuleScope::Project => self.project.as_deref() == Some(place.project.as_str()),
            RuleScope::Always => true,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    #[serde(deserialize_with = "readable_list")]
    pub rules: Vec<StoredRule>,
    /// By session; one that is not in here has its project's.
    #[serde(deserialize_with = "readable_map")]
    pub sessions: BTreeMap<String, ApprovalMode>,
    /// By project; one that is not in here asks.
    #[serde(deserialize_with = "readable_map")]
    pub projects: BTreeMap<String, ApprovalMode>,
    /// Projects whose commands run in a sandbox.
    pub sandboxed: BTreeSet<String>,
}

/// What of it can be read: one that a newer Bosun wrote in another shape is left out, and what it was about asks. It takes no
/// other with it, least of all what holds commands back.
fn readable_list<'de, D: Deserializer<'de>, T: DeserializeOwned>(part: D) -> Result<Vec<T>, D::Error> {
    let all: Vec<serde_json::Value> = lenient(part)?;
    Ok(all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect())
}

fn readable_map<'de, D: Deserializer<'de>, T: DeserializeOwned>(part: D) -> Result<BTreeMap<String, T>, D::Error> {
    let all: BTreeMap<String, serde_json::Value> = lenient(part)?;
    Ok(all.into_iter().filter_map(|(name, one)| Some((name, serde_json::from_value(one).ok()?))).collect())
}

fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(part: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(serde_json::Value::deserialize(part)?).unwrap_or_default())
}

impl Kept {
    pub(crate) fn mode_of(&self, place: &Place) -> ApprovalMode {
        self.sessions.get(&place.session).copied().unwrap_or_else(|| self.project_mode(&place.project))
    }

    pub(crate) fn project_mode(&self, project: &str) -> ApprovalMode {
        self.projects.get(project).copied().unwrap_or_default()
    }

    /// A project is none any more, and what was said of it goes; its sessions are those of `heir`.
    pub(crate) fn give_way(&mut self, project: &str, heir: &str) {
        let is_its = |rule: &StoredRule| rule.project.as_deref() == Some(project);
        self.projects.remove(project);
        self.sandboxed.remove(project);
        self.rules.retain(|rule| rule.scope != RuleScope::Project || !is_its(rule));
        for rule in self.rules.iter_mut().filter(|rule| is_its(rule)) {
            rule.project = Some(heir.to_owned());
        }
    }

    pub(crate) fn rules_in(&self, place: &Place) -> Vec<StandingRule> {
        let here = self.rules.iter().filter(|rule| rule.holds_in(place));
        here.map(|rule| StandingRule { id: rule.id.clone(), scope: rule.scope, pattern: rule.pattern.clone() })
            .collect()
    }

    pub(crate) fn add(&mut self, rule: StoredRule) -> Result<(), SessionError> {
        if self.rules.len() >= MOST_RULES {
            let most = u32::try_from(MOST_RULES).unwrap_or(u32::MAX);
            return Err(SessionError::invalid(Problem::TooManyRules { most }));
        }
        let same = |known: &StoredRule| {
            known.pattern == rule.pattern
                && known.scope == rule.scope
                && (rule.scope == RuleScope::Always || known.project == rule.project)
                && (rule.scope != RuleScope::Session || known.session == rule.session)
        };
        self.rules.retain(|known| !same(known));
        self.rules.push(rule);
        Ok(())
    }
}

/// Where a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub session: String,
    pub project: String,
}

/// All of it, with what open sessions were given: they follow every change at once.
pub(crate) struct Permissions {
    database: Arc<Database>,
    /// Held from reading what is kept until it is in force, so that nothing older comes after it.
    order: AsyncMutex<()>,
    open: Mutex<HashMap<String, (Place, Standing)>>,
    /// Where commands run in the projects of open sessions.
    commands: Mutex<HashMap<String, CommandSwitch>>,
    /// Commands of every project run in a sandbox, in this process.
    all_sandboxed: AtomicBool,
    /// Rules that were removed in this process and when, the last one last.
    removed: Mutex<Vec<(i64, StoredRule)>>,
}

impl Permissions {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        let (order, open, commands) = (AsyncMutex::default(), Mutex::default(), Mutex::default());
        Self { database, order, open, commands, all_sandboxed: AtomicBool::new(false), removed: Mutex::default() }
    }

    /// As it is kept now. What cannot be read any more is none: everything asks then.
    pub(crate) async fn kept(&self) -> Result<Kept, SessionError> {
        Ok(self.database.setting::<Kept>(SETTING).await?.unwrap_or_default())
    }

    /// What was said in advance for a session that opens.
    pub(crate) async fn standing(&self, place: Place) -> Result<Standing, SessionError> {
        let known = locked(&self.open).get(&place.session).map(|(_, standing)| standing.clone());
        let standing = known.unwrap_or_default();
        locked(&self.open).insert(place.session.clone(), (place.clone(), standing.clone()));
        let order = self.order.lock().await;
        let kept = self.kept().await?;
        standing.set(kept.mode_of(&place), kept.rules_in(&place));
        drop(order);
        Ok(standing)
    }

    /// Where commands of `project` run, for a session that opens.
    pub(crate) async fn commands(&self, project: &str) -> Result<CommandSwitch, SessionError> {
        let switch = locked(&self.commands).entry(project.to_owned()).or_default().clone();
        let order = self.order.lock().await;
        switch.set(self.commands_by(&self.kept().await?, project));
        drop(order);
        Ok(switch)
    }

    /// From here on commands of every project run in a sandbox, whatever is kept.
    pub(crate) async fn sandbox_all(&self) {
        let _order = self.order.lock().await;
        self.all_sandboxed.store(true, Ordering::SeqCst);
        for switch in locked(&self.commands).values() {
            switch.set(Commands::Sandbox);
        }
    }

    pub(crate) fn are_all_sandboxed(&self) -> bool {
        self.all_sandboxed.load(Ordering::SeqCst)
    }

    fn commands_by(&self, kept: &Kept, project: &str) -> Commands {
        let in_sandbox = self.are_all_sandboxed() || kept.sandboxed.contains(project);
        if in_sandbox { Commands::Sandbox } else { Commands::Machine }
    }

    /// Takes a rule back.
    pub(crate) async fn remove(&self, id: &str, now: i64) -> Result<(), SessionError> {
        let (wanted, found) = (id.to_owned(), Arc::new(Mutex::new(None)));
        let taken = Arc::clone(&found);
        let take = move |kept: &mut Kept| {
            let at = kept.rules.iter().position(|rule| rule.id == wanted).ok_or_else(no_rule)?;
            *locked(&taken) = Some(kept.rules.remove(at));
            Ok(())
        };
        self.change(take).await?;
        let mut removed = locked(&self.removed);
        removed.retain(|(at, _)| now - at <= RESTORABLE_MS);
        removed.extend(locked(&found).take().map(|rule| (now, rule)));
        Ok(())
    }

    /// Puts a rule back that was removed here not long ago, in its place among the others. What it says comes from here and
    /// not from who asks: only what a person let pass once passes again.
    pub(crate) async fn restore(&self, id: &str, now: i64) -> Result<StoredRule, SessionError> {
        let is_it = |(at, rule): &&(i64, StoredRule)| rule.id == id && now - at <= RESTORABLE_MS;
        let rule = locked(&self.removed).iter().find(is_it).map(|(_, rule)| rule.clone()).ok_or_else(no_rule)?;
        let back = rule.clone();
        let put_back = move |kept: &mut Kept| {
            kept.add(back)?;
            kept.rules.sort_by_key(|rule| rule.created_at);
            Ok(())
        };
        self.change(put_back).await?;
        locked(&self.removed).retain(|(_, removed)| removed.id != rule.id);
        Ok(rule)
    }

    /// A project is none any more: nothing of what was said of it is kept, or can be put back.
    pub(crate) async fn give_way(&self, project: &str, heir: &str) -> Result<(), SessionError> {
        let (gone, heir) = (project.to_owned(), heir.to_owned());
        let change = move |kept: &mut Kept| {
            kept.give_way(&gone, &heir);
            Ok(())
        };
        self.change(change).await?;
        locked(&self.removed).retain(|(_, rule)| rule.project.as_deref() != Some(project));
        locked(&self.commands).remove(project);
        locked(&self.open).retain(|_, (place, _)| place.project != project);
        Ok(())
    }

    /// Changes what is kept, in one piece, and what is in force.
    pub(crate) async fn change(
        &self,
        change: impl FnOnce(&mut Kept) -> Result<(), SessionError> + Send + 'static,
    ) -> Result<Kept, SessionError> {
        let order = self.order.lock().await;
        let changed = self.database.change_setting(SETTING, |kept: &mut Kept| change(kept)).await??;
        for (place, standing) in locked(&self.open).values() {
            standing.set(changed.mode_of(place), changed.rules_in(place));
        }
        for (project, switch) in locked(&self.commands).iter() {
            switch.set(self.commands_by(&changed, project));
        }
        drop(order);
        Ok(changed)
    }
}

fn no_rule() -> SessionError {
    SessionError::not_found(Problem::RuleGone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_takes_nothing_else_with_it() {
        let rule = StoredRule {
            id: "r".into(),
            scope: RuleScope::Always,
            session: None,
            project: None,
            pattern: RulePattern::Command { words: vec!["ls".into()], exact: true },
            created_at: 0,
        };
        let newer = serde_json::json!({
            "rules": [{"from": "a newer Bosun"}, rule],
            "sessions": ["of another shape"],
            "projects": {"p": "some new mode", "q": "edits"},
            "sandboxed": ["p"],
        });
        let kept: Kept = serde_json::from_value(newer).unwrap();
        assert_eq!((&kept.rules[..], kept.sessions.len()), (&[rule][..], 0));
        assert_eq!(kept.projects, BTreeMap::from([("q".into(), ApprovalMode::Edits)]));
        assert!(kept.sandboxed.contains("p"));
    }
}
