//! Subagents in the text of a run: a row for each that ended.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bosun_protocol::{AgentNode, AgentStatus, SessionId};

use crate::terminal::short;

/// Longest task of a row, in characters.
const LONGEST_TASK: usize = 100;

/// The subagents that were met in a run.
#[derive(Default)]
pub(super) struct Agents {
    /// Where each stands in the tree: its own name behind those of the subagents above it.
    places: BTreeMap<SessionId, String>,
    /// Those at work, and since when. One that is asked something more begins anew.
    at_work: BTreeMap<SessionId, Instant>,
}

impl Agents {
    /// The row of a subagent that was at work and has ended: how, its place in the tree, its task, how long this took,
    /// and what it has cost so far.
    pub(super) fn updated(&mut self, agent: &AgentNode) -> Option<String> {
        let parent = agent.parent.as_ref()?;
        let place = match self.places.get(parent) {
            Some(above) => format!("{above} › {}", agent.name),
            None => agent.name.clone(),
        };
        self.places.insert(agent.session.clone(), place.clone());
        let mark = match agent.status {
            AgentStatus::Queued => return None,
            AgentStatus::Running | AgentStatus::Waiting => {
                self.at_work.entry(agent.session.clone()).or_insert_with(Instant::now);
                return None;
            }
            AgentStatus::Done => "✓",
            AgentStatus::Failed => "✗",
            AgentStatus::Cancelled => "■",
        };
        let since = self.at_work.remove(&agent.session)?;
        Some(row(mark, &place, agent, since.elapsed()))
    }
}

fn row(mark: &str, place: &str, agent: &AgentNode, took: Duration) -> String {
    let what = short(&format!("{place}: {}", agent.description), LONGEST_TASK);
    let usage = &agent.usage;
    let cost = match usage.cost {
        Some(cost) => format!("${cost:.4}"),
        None => format!("{} tokens", usage.input_tokens + usage.output_tokens),
    };
    format!("{mark} {what}  {}, {cost}", time(took))
}

fn time(took: Duration) -> String {
    match took.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bosun_protocol::{AgentNode, AgentStatus, SessionId, UsageSummary};
    use pretty_assertions::assert_eq;

    use super::{Agents, row};

    fn agent(session: &str, parent: Option<&str>, status: AgentStatus) -> AgentNode {
        AgentNode {
            session: SessionId::new(session),
            parent: parent.map(SessionId::new),
            call_id: None,
            name: session.to_owned(),
            description: "look\naround".to_owned(),
            beside: false,
            status,
            current: None,
            usage: UsageSummary { input_tokens: 40, output_tokens: 2, ..UsageSummary::default() },
            model: None,
            started_at: 0,
            ended_at: None,
        }
    }

    #[test]
    fn an_agent_has_a_row_each_time_it_ends_and_none_before() {
        use AgentStatus::{Done, Failed, Running, Waiting};
        let mut agents = Agents::default();
        let mut told = |session: &str, parent: Option<&str>, status| agents.updated(&agent(session, parent, status));
        assert_eq!(told("main", None, Running), None);
        assert_eq!(told("scout", Some("main"), Done), None, "it was only introduced");
        assert_eq!(told("scout", Some("main"), Running), None);
        assert_eq!(told("climber", Some("scout"), Running), None);
        assert_eq!(told("climber", Some("scout"), Waiting), None);
        assert!(told("climber", Some("scout"), Failed).unwrap().starts_with("✗ scout › climber: look"));
        assert!(told("scout", Some("main"), Done).unwrap().starts_with("✓ scout: look"));
        assert_eq!(told("scout", Some("main"), Done), None, "said once");
        assert_eq!(told("scout", Some("main"), Running), None);
        assert!(told("scout", Some("main"), Done).is_some(), "it was asked something more");
        assert_eq!(told("main", None, Done), None);
    }

    #[test]
    fn a_row_is_one_line_with_time_and_cost() {
        let mut node = agent("scout", Some("main"), AgentStatus::Done);
        let took = Duration::from_secs(125);
        assert_eq!(row("✓", "scout", &node, took), "✓ scout: look around  2 min 5 s, 42 tokens");
        node.usage.cost = Some(0.0512);
        assert_eq!(row("✓", "scout", &node, Duration::ZERO), "✓ scout: look around  0 s, $0.0512");
    }
}
