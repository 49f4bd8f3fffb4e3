use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bosun_model::{ModelError, ModelEvent, ModelTrouble};
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::driver::{Driver, Events};
use crate::origin::Origin;
use crate::{Limits, failure};

/// A reply on its way: reads the body, keeps the limits, lets the driver do the rest. Dropping it closes the connection,
/// which cancels the request.
pub(crate) struct Reply<S> {
    body: Pin<Box<S>>,
    driver: Driver,
    origin: Arc<Origin>,
    limits: Limits,
    ready: Events,
    failure: Option<ModelError>,
    /// When to give up unless something comes.
    patience: Pin<Box<Sleep>>,
    total: Pin<Box<Sleep>>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No byte of the body yet.
    Waiting,
    Reading,
    /// All has been understood; the body may hold a few bytes more.
    Closing,
    Over,
}

impl<S, B> Reply<S>
where
    S: Stream<Item = reqwest::Result<B>>,
    B: AsRef<[u8]>,
{
    /// `deadline` is when the first byte must have come.
    pub(crate) fn new(body: S, driver: Driver, origin: Arc<Origin>, limits: Limits, deadline: Instant) -> Self {
        Self {
            body: Box::pin(body),
            driver,
            origin,
            limits,
            ready: VecDeque::new(),
            failure: None,
            patience: Box::pin(sleep_until(deadline)),
            total: Box::pin(sleep_until(Instant::now() + limits.total)),
            phase: Phase::Waiting,
        }
    }

    /// Reads on. `Ready` when there may be something to hand out.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.body.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) => {
                // An empty frame is no sign of life.
                if bytes.as_ref().is_empty() {
                    cx.waker().wake_by_ref();
                    return self.watch(cx);
                }
                self.phase = Phase::Reading;
                self.patience.as_mut().reset(Instant::now() + self.limits.idle);
                self.failure = self.driver.feed(bytes.as_ref(), &mut self.ready).err();
            }
            Poll::Ready(Some(Err(error))) => {
                let reason = failure::innermost(&error.without_url());
                self.failure = self.driver.end(Some(&reason), &mut self.ready).err();
            }
            Poll::Ready(None) => self.failure = self.driver.end(None, &mut self.ready).err(),
            Poll::Pending => return self.watch(cx),
        }
        if self.driver.is_over() {
            self.phase = Phase::Closing;
        }
        Poll::Ready(())
    }

    /// Nothing has come; is it time to give up?
    fn watch(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (trouble, limit): (fn(String, String) -> ModelTrouble, _) = if self.total.as_mut().poll(cx).is_ready() {
            (|host, seconds| ModelTrouble::StillSending { host, seconds }, self.limits.total)
        } else if self.patience.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        } else if self.phase == Phase::Waiting {
            (|host, seconds| ModelTrouble::SentNothing { host, seconds }, self.limits.first_byte)
        } else {
            (|host, seconds| ModelTrouble::SentNothingMore { host, seconds }, self.limits.idle)
        };
        self.failure = Some(failure::timeout(&self.origin, trouble, limit));
        self.phase = Phase::Over;
        Poll::Ready(())
    }
}

impl<S, B> Stream for Reply<S>
where
    S: Stream<Item = reqwest::Result<B>>,
    B: AsRef<[u8]>,
{
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(error) = this.failure.take() {
                this.phase = Phase::Over;
                return Poll::Ready(Some(Err(error)));
            }
            match this.phase {
                Phase::Waiting | Phase::Reading => {
                    if this.read(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Phase::Closing => {
                    // Reading the end of the body, where it is here already, lets the connection serve the next request.
                    // Nobody waits for it: the reply is complete.
                    let at_end = matches!(this.body.as_mut().poll_next(cx), Poll::Ready(None));
                    tracing::trace!(at_end, "the reply is complete");
                    this.phase = Phase::Over;
                }
                Phase::Over => return Poll::Ready(None),
            }
        }
    }
}
