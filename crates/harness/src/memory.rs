mod search;
mod text;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, NextTool, NoteAbout, TurnContext};
use bosun_backend::{Backend, BackendError, ReadContent, ReadWindow, VirtualPath};
use bosun_model::{AiMessage, ChatRequest, ToolCall};
use bosun_tools::{DynTool, StateUpdate, ToolKind, ToolOutput};
use tokio::time::Instant;

use crate::offered::Offered;
use crate::{fitting, prompt, told};
pub(crate) use search::NAME as SEARCH;
pub use search::{MemorySearch, SearchedShelf};

/// What may be set about memory.
#[derive(Clone, Default)]
pub struct MemoryOptions {
    /// `AGENTS.md` files, in the order they are shown. One that is not there is left out. A project's own belong here
    /// only if the person trusts the project.
    pub sources: Vec<VirtualPath>,
    /// Full-text search, for stores that hold more than fits a prompt.
    pub search: Option<MemorySearch>,
}

/// Standing notes of the person and the project, as the last part of the prompt, so that a change of them spoils
/// nothing that is cached before. They are read again at every turn, whenever a tool may have changed something, and when
/// the last look is a second old: what the agent changes holds from the next step on, and so does what anybody else does,
/// but for steps that follow each other faster than that.
pub struct Memory {
    sources: Vec<VirtualPath>,
    search: Option<MemorySearch>,
    context: Option<Arc<dyn Backend>>,
    offered: Offered,
    looked: Mutex<Option<Look>>,
    /// Goes up whenever what was read last may be out of date.
    changes: AtomicU64,
}

/// What the files held when they were last read.
struct Look {
    at: Instant,
    /// The count of changes before the reading.
    changes: u64,
    block: Arc<str>,
}

/// What the files hold.
struct Read {
    block: String,
    /// Paths of which only the beginning is in it.
    cut: Vec<String>,
}

/// What is shown of one file.
struct Page {
    text: String,
    is_cut: bool,
}

/// How long a look holds where no tool of this agent changed anything. Steps are seldom this fast.
const FRESH: Duration = Duration::from_secs(1);
/// Most lines and characters of one file that are shown.
const MOST_LINES: u64 = 2_000;
const MOST_CHARS: usize = 40_000;
/// Whether the store holds enough to be searched, by the last look at the beginning of a turn.
const MANY_FIELD: &str = "memories_are_many";

impl Memory {
    pub fn new(options: MemoryOptions) -> Self {
        Self {
            sources: options.sources,
            search: options.search,
            context: None,
            offered: Offered::default(),
            looked: Mutex::default(),
            changes: AtomicU64::default(),
        }
    }

    /// Reads through `context` instead of the agent's own path space.
    #[must_use]
    pub fn through(self, context: Option<Arc<dyn Backend>>) -> Self {
        Self { context, ..self }
    }

    /// The block of the prompt, from the last look where that still holds.
    async fn block(&self, cx: &TurnContext) -> Result<Arc<str>, AgentError> {
        let changes = self.changes.load(Ordering::Acquire);
        let last = || self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(look) = &*last()
            && look.changes == changes
            && look.at.elapsed() < FRESH
        {
            return Ok(Arc::clone(&look.block));
        }
        let at = Instant::now();
        let Read { block, cut } = self.read(cx).await;
        let block: Arc<str> = block.into();
        *last() = Some(Look { at, changes, block: Arc::clone(&block) });
        let notes: Vec<NoteAbout> = cut.into_iter().map(|path| NoteAbout::MemoryCut { path }).collect();
        told::tell(cx, self.name(), &notes).await?;
        Ok(block)
    }

    /// What the files hold now. One that cannot be read is named with the reason; the turn goes on without it.
    async fn read(&self, cx: &TurnContext) -> Read {
        let backend = self.context.as_ref().unwrap_or(&cx.agent().backend);
        let (mut shown, mut cut) = (Vec::new(), Vec::new());
        for path in &self.sources {
            let window = ReadWindow { offset: 0, limit: MOST_LINES };
            match backend.read(path, window).await {
                Ok(read) => {
                    let page = page(path, &read.content, fitting::room(cx.agent().model.info()));
                    cut.extend(page.iter().filter(|page| page.is_cut).map(|_| path.to_string()));
                    shown.extend(page.map(|page| text::of(path, &page.text)));
                }
                Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => {}
                Err(error) => {
                    tracing::warn!(%error, %path, "a memory file could not be read");
                    shown.push(format!("{path}\n\n(This file could not be read: {error}.)"));
                }
            }
        }
        let places: Vec<&str> = self.sources.iter().map(VirtualPath::as_str).collect();
        let guidelines = prompt::memory(|tool| cx.agent().tools.get(tool).is_some());
        Read { block: text::block(&shown, &places.join(", "), &guidelines), cut }
    }

    fn hides_search(&self, cx: &TurnContext) -> bool {
        self.search.is_some() && !cx.log().with_state(|state| state.fields.get(MANY_FIELD) == Some(&true.into()))
    }
}

impl Middleware for Memory {
    fn name(&self) -> &'static str {
        "Memory"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.search.iter().map(MemorySearch::tool).collect()
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            self.changes.fetch_add(1, Ordering::AcqRel);
            let Some(search) = &self.search else { return Ok(StateUpdate::default()) };
            let many = serde_json::Value::from(search.is_worth_it().await);
            let is_known = cx.log().with_state(|state| state.fields.get(MANY_FIELD) == Some(&many));
            let fields = if is_known { vec![] } else { vec![(MANY_FIELD.to_owned(), many)] };
            Ok(StateUpdate { fields, ..StateUpdate::default() })
        })
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(async move {
            if self.hides_search(cx) {
                request.tools = self.offered.of(&request.tools, |name| name != search::NAME);
            }
            if !self.sources.is_empty() {
                prompt::append(&mut request, &self.block(cx).await?);
            }
            next.run(request).await
        })
    }

    fn wrap_tool_call<'a>(
        &'a self,
        _cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        if matches!(next.tool().kind(), ToolKind::Read | ToolKind::Plan) {
            return next.run(call);
        }
        Box::pin(async move {
            let outcome = next.run(call).await;
            self.changes.fetch_add(1, Ordering::AcqRel);
            outcome
        })
    }
}

/// The text of a file's page, cut where it is too long for so many letters; `None` where it holds nothing to show.
fn page(path: &VirtualPath, content: &ReadContent, room: usize) -> Option<Page> {
    let shown = |text: String, is_cut| Some(Page { text, is_cut });
    let ReadContent::Text(page) = content else {
        return shown("(This file is no text.)".to_owned(), false);
    };
    let whole = text::without_comments(&page.lines.join("\n"));
    let whole = whole.trim();
    if whole.is_empty() {
        return None;
    }
    let more = page.cut || page.lines.len() as u64 + page.start_line.max(1) <= page.total_lines;
    let head = fitting::head(whole, room, MOST_CHARS);
    if !more && head.len() == whole.len() {
        return shown(whole.to_owned(), false);
    }
    shown(fitting::beginning(path.as_str(), head), true)
}
