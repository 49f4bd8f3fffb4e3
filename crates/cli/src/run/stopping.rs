//! One subagent stopped from the terminal in which a run is, while the others go on.

use std::io::{self, BufRead, IsTerminal, Write};

use bosun_protocol::{AgentNode, AgentStatus, SessionId};

use crate::terminal::{one_line, short};

/// Longest task of a line, in characters.
const LONGEST_TASK: usize = 100;

/// The subagents of a run that are at work, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct AtWork(Vec<AgentNode>);

/// What a person answered to [`AtWork::ask`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    Subagent(SessionId),
    /// None is to be stopped.
    None,
    /// These words name nobody at work.
    Unknown(String),
}

impl AtWork {
    pub(super) fn of(agents: &[AgentNode]) -> Self {
        let mut at_work = Self::default();
        agents.iter().for_each(|agent| at_work.updated(agent));
        at_work
    }

    pub(super) fn updated(&mut self, agent: &AgentNode) {
        let is_at_work = matches!(agent.status, AgentStatus::Queued | AgentStatus::Running | AgentStatus::Waiting);
        let known = self.0.iter().position(|known| known.session == agent.session);
        match (known, is_at_work && agent.parent.is_some()) {
            (Some(at), false) => drop(self.0.remove(at)),
            (None, true) => self.0.push(agent.clone()),
            (Some(_), true) | (None, false) => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The list with a number for each, below the key that was pressed, and the question.
    pub(super) fn question(&self) -> String {
        let line = |(index, agent): (usize, &AgentNode)| {
            let task = short(&format!("{}: {}", agent.name, agent.description), LONGEST_TASK);
            format!("{}  {task}  ({})\n", index + 1, agent.session)
        };
        let lines: String = self.0.iter().enumerate().map(line).collect();
        format!("\n{lines}Stop which? (its number or its id; empty stops none) ")
    }

    /// Whom an answer names, by number or id.
    pub(super) fn chosen(&self, answer: &str) -> Chosen {
        let answer = answer.trim();
        if answer.is_empty() {
            return Chosen::None;
        }
        let by_id = self.0.iter().find(|agent| agent.session.as_str() == answer);
        let by_number = || self.0.get(answer.parse::<usize>().ok()?.checked_sub(1)?);
        match by_id.or_else(by_number) {
            Some(agent) => Chosen::Subagent(agent.session.clone()),
            None => Chosen::Unknown(one_line(answer)),
        }
    }
}

/// Asks and reads a line, which is empty when the input has ended.
pub(super) fn ask(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<String> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(line)
}

/// Ctrl-\ at the terminal of the run, which only a program in the foreground is sent: a line that nobody asked for is
/// left to whoever reads it next, and a run in the background is not stopped for reading.
#[derive(Debug)]
pub(super) struct StopKey {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl StopKey {
    /// Listens from now on, where somebody could press it and read what is asked then.
    pub(super) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let is_seen = io::stdin().is_terminal() && io::stderr().is_terminal();
            Ok(Self { signal: is_seen.then(|| signal(SignalKind::quit())).transpose()? })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    pub(super) async fn pressed(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use bosun_protocol::{AgentNode, AgentStatus, SessionId, UsageSummary};
    use pretty_assertions::assert_eq;

    use super::{AtWork, Chosen};

    fn agent(session: &str, parent: Option<&str>, status: AgentStatus) -> AgentNode {
        AgentNode {
            session: SessionId::new(session),
            parent: parent.map(SessionId::new),
            call_id: None,
            name: "scout".to_owned(),
            description: "look\naround".to_owned(),
            beside: false,
            status,
            current: None,
            usage: UsageSummary::default(),
            model: None,
            started_at: 0,
            ended_at: None,
        }
    }

    #[test]
    fn those_at_work_are_named_by_number_or_id() {
        use AgentStatus::{Cancelled, Done, Queued, Running, Waiting};
        let mut at_work = AtWork::of(&[
            agent("main", None, Running),
            agent("s-a", Some("main"), Running),
            agent("s-b", Some("main"), Done),
            agent("s-c", Some("s-a"), Waiting),
            agent("s-d", Some("main"), Queued),
        ]);
        let question = "\n1  scout: look around  (s-a)\n2  scout: look around  (s-c)\n\
                        3  scout: look around  (s-d)\n\
                        Stop which? (its number or its id; empty stops none) ";
        assert_eq!(at_work.question(), question);
        let chosen = |at_work: &AtWork, answer: &str| at_work.chosen(answer);
        let is = |id: &str| Chosen::Subagent(SessionId::new(id));
        assert_eq!((chosen(&at_work, "2\n"), chosen(&at_work, " s-a \n")), (is("s-c"), is("s-a")));
        assert_eq!(chosen(&at_work, "\n"), Chosen::None);
        for nobody in ["0", "4", "s-b", "main", "y"] {
            assert_eq!(chosen(&at_work, nobody), Chosen::Unknown(nobody.to_owned()));
        }
        at_work.updated(&agent("s-a", Some("main"), Cancelled));
        assert_eq!(chosen(&at_work, "1"), is("s-c"));
        at_work.updated(&agent("s-b", Some("main"), Running));
        assert_eq!(chosen(&at_work, "3"), is("s-b"), "it was asked something more");
    }
}
