use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bosun_agent::SessionId;
use bosun_model::{
    Asked, BoxFuture, Caller, ChatModel, ChatRequest, ModelError, ModelEvent, ModelInfo, ModelStream, Usage,
};
use bosun_store::{CallingAgent, StoredCall};
use futures_util::Stream;

use super::CallBook;

/// Whom a call is made for.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The session at the root of the tree.
    pub session: SessionId,
    pub project: String,
}

/// What a call is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Answer,
    Summary,
    Title,
    /// Of no session: whether an account works.
    Test,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Summary => "summary",
            Self::Title => "title",
            Self::Test => "test",
        }
    }
}

/// A model that counts its calls, and that another can stand in for.
pub(crate) struct Metered {
    first: Arc<dyn ChatModel>,
    second: Option<Arc<dyn ChatModel>>,
    /// For calls that nobody watches.
    small: Option<Arc<dyn ChatModel>>,
    /// Whether the second answers, for whatever purpose.
    turned: Arc<AtomicBool>,
    book: Arc<CallBook>,
    subject: Subject,
    purpose: Purpose,
}

impl Metered {
    pub(crate) fn new(
        first: Arc<dyn ChatModel>,
        second: Option<Arc<dyn ChatModel>>,
        book: Arc<CallBook>,
        subject: Subject,
        purpose: Purpose,
    ) -> Self {
        Self { first, second, small: None, turned: Arc::default(), book, subject, purpose }
    }

    pub(crate) fn with_small(self, small: Option<Arc<dyn ChatModel>>) -> Self {
        Self { small, ..self }
    }

    /// The same model for calls of another purpose: where the one turned over to the second, so did the other.
    pub(crate) fn made_for(&self, purpose: Purpose) -> Self {
        Self {
            first: Arc::clone(&self.first),
            second: self.second.clone(),
            small: None,
            turned: Arc::clone(&self.turned),
            book: Arc::clone(&self.book),
            subject: self.subject.clone(),
            purpose,
        }
    }

    /// Whether `other` is the model that answers first here.
    pub(crate) fn is_first(&self, other: &ModelInfo) -> bool {
        let first = self.first.info();
        (&first.provider, &first.name) == (&other.provider, &other.name)
    }

    /// Whether another can answer in the place of the first.
    pub(crate) fn has_second(&self) -> bool {
        self.second.is_some()
    }

    /// Whether who was asked as `asked` is the one who can stand in for the first.
    pub(crate) fn is_second(&self, asked: &Asked) -> bool {
        self.second.as_ref().is_some_and(|second| second.info().asked() == *asked)
    }

    /// Whether the second answers.
    pub(crate) fn is_turned(&self) -> bool {
        self.has_second() && self.turned.load(Ordering::Acquire)
    }

    /// Lets the second answer from now on. Gives both; `None` where there is no second or it answers already.
    pub(crate) fn turn_over(&self) -> Option<(&ModelInfo, &ModelInfo)> {
        let second = self.second.as_ref()?;
        (!self.turned.swap(true, Ordering::AcqRel)).then(|| (self.first.info(), second.info()))
    }

    /// Lets the first answer again.
    pub(crate) fn turn_back(&self) {
        self.turned.store(false, Ordering::Release);
    }

    /// `request` as `model` takes it: how much it may say goes by its own limit, not by that of whom it stands in for.
    fn fitted(&self, mut request: ChatRequest, model: &ModelInfo) -> ChatRequest {
        if request.max_output == self.first.info().max_output {
            request.max_output = model.max_output;
        } else if let (Some(most), Some(own)) = (request.max_output, model.max_output) {
            request.max_output = Some(most.min(own));
        }
        request
    }

    fn current(&self) -> &Arc<dyn ChatModel> {
        match &self.second {
            Some(second) if self.turned.load(Ordering::Acquire) => second,
            _ => &self.first,
        }
    }
}

impl ChatModel for Metered {
    fn info(&self) -> &ModelInfo {
        self.current().info()
    }

    fn chosen(&self) -> &ModelInfo {
        self.first.info()
    }

    fn small(&self) -> Option<&dyn ChatModel> {
        self.small.as_deref()
    }

    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let model = Arc::clone(self.current());
        Box::pin(async move {
            let began = self.book.now_ms();
            let caller = request.caller.clone();
            let stream = model.stream(self.fitted(request, model.info())).await?;
            let (book, subject) = (Arc::clone(&self.book), self.subject.clone());
            let info = model.info().clone();
            let counted = Counted {
                stream,
                book,
                subject,
                caller,
                purpose: self.purpose,
                info,
                began,
                usage: Some(Usage::default()),
                is_begun: false,
            };
            Ok(Box::pin(counted) as ModelStream)
        })
    }
}

/// A reply that is counted when it is over, or when nobody wants the rest of it: what was reported until then is paid.
struct Counted {
    stream: ModelStream,
    book: Arc<CallBook>,
    subject: Subject,
    caller: Option<Caller>,
    purpose: Purpose,
    info: ModelInfo,
    began: i64,
    /// Without figures until there are some, so that what a reply cost that broke off before them is unknown and not
    /// nothing; `None` where the provider failed before it said anything, which it does not charge.
    usage: Option<Usage>,
    is_begun: bool,
}

impl Stream for Counted {
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = self.stream.as_mut().poll_next(cx);
        match &event {
            Poll::Ready(Some(Ok(event))) => {
                self.is_begun = true;
                if let ModelEvent::Usage(usage) = event {
                    self.usage = Some(*usage);
                }
            }
            Poll::Ready(Some(Err(_)) | None) if !self.is_begun => self.usage = None,
            _ => {}
        }
        event
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let Some(usage) = self.usage.filter(|_| !self.info.scripted) else { return };
        let milliseconds = self.book.now_ms().saturating_sub(self.began);
        self.book.note(StoredCall {
            session: self.subject.session.clone(),
            project: self.subject.project.clone(),
            at: self.began,
            day: CallBook::day(self.began),
            provider: self.info.provider.clone(),
            model: self.info.name.clone(),
            purpose: self.purpose.word().to_owned(),
            milliseconds: u32::try_from(milliseconds).unwrap_or(0),
            usage,
            cost: self.info.cost(&usage),
            agent: self.caller.as_ref().map(|caller| CallingAgent {
                session: SessionId::new(&*caller.session),
                name: caller.agent.to_string(),
            }),
        });
    }
}
