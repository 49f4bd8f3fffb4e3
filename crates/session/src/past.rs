use std::collections::HashSet;

use bosun_agent::{EntryBody, JournalEntry, Recorded, Seq, SessionId, ToolOutcome, TurnEnd, effective, stays};
use bosun_backend::{ContentHash, VirtualPath};
use bosun_protocol::{FileAt, Item, ItemId, Problem, Snapshot};
use bosun_store::{Append, Listed, NewSession};
use bosun_tools::ChangeRecord;

use crate::actor::Actor;
use crate::journals::{Happened, Journals};
use crate::projection::{Projection, Subject};
use crate::restoring::read;
use crate::rewinding::refuse_elsewhere;
use crate::timeline::{Before, before_message, last_turn};
use crate::view::View;
use crate::{Explain, SessionError};

/// Longest text of a file that is looked at as it was, in bytes.
const LONGEST: usize = 4 << 20;

/// The session as it was, and sessions that begin there.
impl Actor {
    /// The session as it was at the checkpoint `seq`, with a window of its rows that ends where they did, or before the
    /// row `before`; nothing in it goes on.
    pub(crate) async fn snapshot_at(&self, seq: u32, before: Option<&ItemId>) -> Result<Snapshot, SessionError> {
        let entries = self.tree.database.entries(self.log.session(), 0).await?;
        refuse_elsewhere(&entries, seq)?;
        Ok(view(self, &entries, Seq::from(seq)).window(before))
    }

    /// A file as it was at the checkpoint `seq`.
    pub(crate) async fn file_at(&self, seq: u32, path: &str) -> Result<FileAt, SessionError> {
        let path = VirtualPath::parse(path).map_err(|error| SessionError::invalid(error.problem()))?;
        let journals = Journals::read(&self.tree.database, self.log.session()).await?;
        refuse_elsewhere(&journals.entries, seq)?;
        let (before, after) = journals.around(Seq::from(seq), &path);
        let bytes = match Version::between(&before, &after) {
            Version::Known(hash) => self.bytes_of(&path, hash).await?,
            Version::Unchanged => read(&*self.backend().await?, &path).await?,
            Version::Lost => return Err(SessionError::not_found(Problem::BytesNotKept { path: path.to_string() })),
        };
        let size = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let exists = bytes.is_some();
        let text = bytes.filter(|bytes| bytes.len() <= LONGEST).and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(FileAt { path: path.to_string(), exists, text, size })
    }

    /// The bytes of `hash`, kept or, where they were never kept, as they still are on disk.
    pub(crate) async fn bytes_of(
        &self,
        path: &VirtualPath,
        hash: Option<ContentHash>,
    ) -> Result<Option<Vec<u8>>, SessionError> {
        let Some(hash) = hash else { return Ok(None) };
        let missing = match self.blobs()?.get(&hash).await {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) => error,
        };
        let now = read(&*self.backend().await?, path).await?;
        let now = now.filter(|bytes| ContentHash::of(bytes) == hash);
        now.map(Some).ok_or_else(|| SessionError::not_found(missing.problem()))
    }

    /// The place to go back to before the message `item` of the person's, or before the last turn.
    pub(crate) async fn place_before(&self, item: Option<&ItemId>) -> Result<u32, SessionError> {
        let entries = self.tree.database.entries(self.log.session(), 0).await?;
        let Some(item) = item else {
            return last_turn(&entries).ok_or_else(|| SessionError::not_found(Problem::NothingSaid));
        };
        let Before { back, .. } = said_before(&entries, item)?;
        Ok(u32::try_from(back).unwrap_or(u32::MAX))
    }

    /// A new session that has everything up to the checkpoint `seq` and goes its own way from there.
    pub(crate) async fn fork(&self, seq: u32) -> Result<SessionId, SessionError> {
        let recorded = self.tree.database.entries(self.log.session(), 0).await?;
        refuse_elsewhere(&recorded, seq)?;
        self.forked(&recorded, |recorded| recorded.seq <= Seq::from(seq)).await
    }

    /// A new session that has everything before the message `item` of the person's, or before the turn of the reply `item`;
    /// and what was said there (see [`View::question`]).
    pub(crate) async fn fork_before(&self, item: &ItemId) -> Result<(SessionId, Vec<Item>), SessionError> {
        let said = self.stream.read(|projection| projection.view().question(item));
        let first = said.first().ok_or_else(|| SessionError::not_found(Problem::PlaceGone))?;
        let recorded = self.tree.database.entries(self.log.session(), 0).await?;
        let before = said_before(&recorded, &first.id)?;
        Ok((self.forked(&recorded, |recorded| before.has(recorded)).await?, said))
    }

    /// A new session of those entries that it `has`.
    async fn forked(
        &self,
        recorded: &[Recorded],
        has: impl Fn(&Recorded) -> bool + Send,
    ) -> Result<SessionId, SessionError> {
        let tree = &self.tree;
        let mut entries: Vec<JournalEntry> = effective(recorded)
            .into_iter()
            .filter(|recorded| has(recorded) && is_copied(&recorded.entry.body))
            .map(|recorded| copied(&recorded.entry))
            .collect();
        if let Some(turn) = open_turn(&entries) {
            let body = EntryBody::TurnEnded { turn, end: TurnEnd::Stopped };
            entries.push(JournalEntry { at: tree.clock.now_ms(), body });
        }
        let id = SessionId::new(tree.ids.next());
        let at = tree.clock.now_ms();
        let mut projection = Projection::new(Subject { id: id.clone(), created_at: at, ..subject(self) });
        for (seq, entry) in (1..).zip(&entries) {
            projection.apply(&Recorded { seq, entry: entry.clone() });
        }
        if let Some(title) = self.title_of_its_own(&projection.summary().title).await? {
            let titled = JournalEntry { at, body: EntryBody::Titled { title } };
            projection.apply(&Recorded { seq: entries.len() as Seq + 1, entry: titled.clone() });
            entries.push(titled);
        }
        projection.settle();
        let mut summary = projection.summary().clone();
        summary.updated_at = at;
        let summary = serde_json::to_value(&summary).unwrap_or_default();
        let project = tree.project.to_string();
        let new = NewSession { id: id.clone(), project, parent: None, created_at: at, summary: summary.clone() };
        tree.database.create_session(new).await?;
        let texts = crate::recording::texts(&entries);
        let listed = Some(Listed { summary, updated_at: at });
        tree.database.append_all(vec![Append { session: id.clone(), entries, listed, texts }]).await?;
        Ok(id)
    }

    /// The title with a number behind it that no session of the project has yet, so that a fork is told from where it
    /// comes from; `None` where there is no title.
    async fn title_of_its_own(&self, title: &str) -> Result<Option<String>, SessionError> {
        if title.is_empty() {
            return Ok(None);
        }
        let stored = self.tree.database.sessions(&self.tree.project.to_string()).await?;
        let taken: HashSet<String> =
            stored.into_iter().filter_map(|one| Some(one.summary.get("title")?.as_str()?.to_owned())).collect();
        // A number of the person's own stays: theirs is no fork of anything.
        let base = Some(without_number(title)).filter(|base| taken.contains(*base)).unwrap_or(title);
        Ok((2..).map(|number| format!("{base} ({number})")).find(|free| !taken.contains(free)))
    }
}

fn said_before(entries: &[Recorded], item: &ItemId) -> Result<Before, SessionError> {
    before_message(entries, item).ok_or_else(|| SessionError::not_found(Problem::PlaceGone))
}

/// A title without the number that a fork got.
fn without_number(title: &str) -> &str {
    let inner = title.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match inner {
        Some((base, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => title,
    }
}

/// What is known of a file at a place of the journal.
#[derive(Debug, PartialEq, Eq)]
enum Version {
    /// `None`: there was no file.
    Known(Option<ContentHash>),
    /// Nothing that is recorded happened to it: it is as it is now.
    Unchanged,
    /// A command changed it, and what it was is not kept.
    Lost,
}

impl Version {
    /// What a file was between what happened to it up to a place, and behind it.
    fn between(before: &[Happened], after: &[Happened]) -> Self {
        let last = before.last();
        let again = |change: &ChangeRecord| match last {
            // What stood there came to stand there again: somebody's edit in between was put aside.
            Some(Happened::Changed(last)) => change.after == last.after && change.before != last.after,
            _ => false,
        };
        let next = after.iter().find(|next| !matches!(next, Happened::Changed(change) if again(change)));
        match (last, next) {
            (_, Some(Happened::Changed(next))) => Self::Known(next.before.clone()),
            (Some(Happened::Changed(last)), _) => Self::Known(last.after.clone()),
            (_, Some(Happened::Lost)) => Self::Lost,
            (Some(Happened::Lost) | None, None) => Self::Unchanged,
        }
    }
}

/// What a fork takes along: the conversation and its title, not its place in lists and not what waits.
fn is_copied(body: &EntryBody) -> bool {
    !stays(body)
        || matches!(body, EntryBody::Titled { .. } | EntryBody::ModelChosen { .. } | EntryBody::EffortChosen { .. })
}

/// An entry as a fork has it. A subagent that a limit of the tree had ended belongs to the first session and goes on there
/// alone.
fn copied(entry: &JournalEntry) -> JournalEntry {
    let mut entry = entry.clone();
    if let EntryBody::ToolResult { outcome: outcome @ ToolOutcome::Paused, .. } = &mut entry.body {
        *outcome = ToolOutcome::Ran;
    }
    entry
}

fn open_turn(entries: &[JournalEntry]) -> Option<u32> {
    bosun_agent::State::fold(entries).turn.map(|turn| turn.number)
}

/// What the session showed at the entry `seq`.
pub(crate) fn view(actor: &Actor, entries: &[Recorded], seq: Seq) -> View {
    projection(actor, entries, seq).view().clone()
}

/// The session up to the entry `seq`, what was rewound left out.
pub(crate) fn projection(actor: &Actor, entries: &[Recorded], seq: Seq) -> Projection {
    let mut projection = Projection::new(subject(actor));
    projection.read(effective(entries).into_iter().filter(|recorded| recorded.seq <= seq));
    projection.recall_usage(&actor.stream.read(|projection| projection.view().session.usage.clone()));
    projection.settle();
    projection.drain();
    projection
}

fn subject(actor: &Actor) -> Subject {
    actor.stream.read(|projection| {
        let session = &projection.view().session;
        Subject {
            id: actor.log.session().clone(),
            project: session.project.clone(),
            parent: None,
            path: projection.path().to_vec(),
            task: None,
            created_at: session.created_at,
            model: session.model.clone(),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bosun_model::{Message, ToolMessage, ToolStatus};

    use super::*;

    #[test]
    fn a_number_behind_a_title_is_told_from_its_words() {
        assert_eq!(without_number("Fix it (2)"), "Fix it");
        assert_eq!(without_number("Fix (all of it)"), "Fix (all of it)");
        assert_eq!(without_number("()"), "()");
    }

    #[test]
    fn a_subagent_that_was_ended_by_a_limit_goes_on_in_its_own_session_alone() {
        let result = |outcome| {
            let (call_id, name, content) = ("c".into(), "task".into(), vec!["ended".into()]);
            let message = Arc::new(Message::Tool(ToolMessage { call_id, name, status: ToolStatus::Error, content }));
            let (update, artifact) = (Default::default(), Default::default());
            let body = EntryBody::ToolResult {
                call_id: "c".into(),
                message,
                outcome,
                update,
                artifact,
                started_at: None,
                allowed_by: None,
            };
            JournalEntry { at: 1, body }
        };
        assert_eq!(copied(&result(ToolOutcome::Paused)), result(ToolOutcome::Ran));
        assert_eq!(copied(&result(ToolOutcome::Rejected)), result(ToolOutcome::Rejected));
    }
}
