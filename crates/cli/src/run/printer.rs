use std::io::{self, Stdout, Write};

use bosun_protocol::{Delta, Envelope, Item, ItemBody, ItemId, NoticeCode, SessionEvent, ToolKind, ToolState};

use super::agents::Agents;
use super::said;
use crate::line::write_line;
use crate::{row, tell, terminal};

/// What becomes of the events of a run.
pub(super) enum Printer {
    /// The model's words on standard output, rows of tools on standard error.
    Text(TextPrinter),
    /// Every event as a line on standard output.
    Json(Stdout),
}

impl Printer {
    pub(super) fn new(json: bool) -> Self {
        if json { Self::Json(io::stdout()) } else { Self::Text(TextPrinter::default()) }
    }

    pub(super) fn print(&mut self, batch: &[Envelope]) -> io::Result<()> {
        match self {
            Self::Text(printer) => printer.print(batch),
            Self::Json(out) => {
                // One write for a batch, however many events it has.
                let mut lines = Vec::new();
                for envelope in batch {
                    write_line(&mut lines, envelope)?;
                }
                let mut out = out.lock();
                out.write_all(&lines)?;
                out.flush()
            }
        }
    }
}

#[derive(Default)]
pub(super) struct TextPrinter {
    /// The reply that was printed last, and how many bytes of it were.
    open: Option<(ItemId, usize)>,
    /// Whether standard output stands in the middle of a line.
    mid_line: bool,
    /// Calls whose beginning was told.
    begun: Vec<ItemId>,
    agents: Agents,
}

impl TextPrinter {
    fn print(&mut self, batch: &[Envelope]) -> io::Result<()> {
        for envelope in batch {
            match &envelope.event {
                SessionEvent::ItemDelta { item, delta: Delta::Text { text } } => self.grow(item, text)?,
                SessionEvent::ItemStarted { item } => self.waits(item)?,
                SessionEvent::ItemUpdated { item } => self.begun(item)?,
                SessionEvent::ItemCompleted { item } => self.completed(item)?,
                SessionEvent::AgentUpdated { agent } => {
                    if let Some(row) = self.agents.updated(agent) {
                        self.row(&row)?;
                    }
                }
                _ => {}
            }
        }
        io::stdout().flush()
    }

    fn grow(&mut self, id: &ItemId, text: &str) -> io::Result<()> {
        match &mut self.open {
            Some((open, printed)) if open == id => *printed += text.len(),
            _ => {
                self.end_line()?;
                self.open = Some((id.clone(), text.len()));
            }
        }
        self.say(text)
    }

    /// What the model is not asked yet for is told when the wait begins: nothing else happens meanwhile.
    fn waits(&mut self, item: &Item) -> io::Result<()> {
        match &item.body {
            ItemBody::Notice(notice) if matches!(notice.code, NoticeCode::AsksAgain | NoticeCode::BudgetWaits) => {
                self.row(&terminal::one_line(&notice.detail))
            }
            _ => Ok(()),
        }
    }

    /// A command or a subagent is told when it begins, because it may take long.
    fn begun(&mut self, item: &Item) -> io::Result<()> {
        let ItemBody::Tool(tool) = &item.body else { return Ok(()) };
        let long = matches!(tool.tool_kind, ToolKind::Execute | ToolKind::Delegate);
        if long && tool.state == ToolState::Running && !self.begun.contains(&item.id) {
            self.begun.push(item.id.clone());
            self.row(&format!("… {}", row::call(&tool.name, &tool.args)))?;
        }
        Ok(())
    }

    fn completed(&mut self, item: &Item) -> io::Result<()> {
        match &item.body {
            ItemBody::Ai { text, .. } => {
                let printed =
                    self.open.as_ref().filter(|(open, _)| *open == item.id).map_or(0, |(_, printed)| *printed);
                // Deltas are provisional: what they left out comes now.
                if let Some(rest) = text.get(printed..) {
                    self.say(rest)?;
                }
                // Told again, only what is new would be printed.
                self.open = Some((item.id.clone(), text.len().max(printed)));
                self.end_line()
            }
            ItemBody::Tool(tool) => self.row(&row::finished(tool)),
            ItemBody::Notice(notice) => said::at_once(notice).map_or(Ok(()), |line| self.row(&line)),
            ItemBody::Human { .. } => Ok(()),
        }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.mid_line = !text.ends_with('\n');
        io::stdout().write_all(terminal::visible(text).as_bytes())
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.mid_line) {
            io::stdout().write_all(b"\n")?;
        }
        Ok(())
    }

    fn row(&mut self, line: &str) -> io::Result<()> {
        self.end_line()?;
        io::stdout().flush()?;
        tell(line);
        Ok(())
    }
}
