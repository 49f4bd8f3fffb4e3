//! A client over HTTP whose streams are read with the bounds of a pipe: no endless talk without an answer.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use crate::guarded::Guard;

type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// What an event counts beside its text, so that empty ones count too.
const PER_EVENT: usize = 16;

/// Passes on what `inner` gives until a bound is broken; from then on it only fails.
#[derive(Clone)]
pub(crate) struct Counted<C> {
    inner: C,
    guard: Arc<Guard>,
}

impl<C> Counted<C> {
    pub(crate) fn new(inner: C, guard: Arc<Guard>) -> Self {
        Self { inner, guard }
    }

    fn unbroken(&self) -> io::Result<()> {
        self.guard.broken().map_or(Ok(()), |end| Err(io::Error::other(end)))
    }

    /// The events of `inner` up to the one that is too many.
    fn counted(&self, inner: Events) -> Events {
        let begin = (Some(inner), Arc::clone(&self.guard));
        stream::unfold(begin, |(inner, guard)| async move {
            let mut inner = inner?;
            match inner.next().await? {
                Ok(event) => match guard.count(length(&event)) {
                    Ok(()) => Some((Ok(event), (Some(inner), guard))),
                    Err(error) => Some((Err(SseError::Body(error.into())), (None, guard))),
                },
                Err(error) => Some((Err(error), (Some(inner), guard))),
            }
        })
        .boxed()
    }
}

fn length(event: &Sse) -> usize {
    let texts = [&event.event, &event.data, &event.id];
    texts.into_iter().flatten().map(String::len).sum::<usize>() + PER_EVENT
}

impl<C: StreamableHttpClient + Sync> StreamableHttpClient for Counted<C> {
    type Error = C::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Self::Error>> {
        self.unbroken()?;
        let answer = self.inner.post_message(uri, message, session_id, auth_header, custom_headers).await?;
        Ok(self.counted_answer(answer))
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Self::Error>> {
        self.unbroken()?;
        let (inner, token) = (&self.inner, auth_header);
        let answer = inner.post_message_with_max_sse_event_size(uri, message, session_id, token, custom_headers, most);
        Ok(self.counted_answer(answer.await?))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), StreamableHttpError<Self::Error>> {
        self.inner.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, StreamableHttpError<Self::Error>> {
        self.unbroken()?;
        let events = self.inner.get_stream(uri, session_id, last_event_id, auth_header, custom_headers).await?;
        Ok(self.counted(events))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        most: usize,
    ) -> Result<Events, StreamableHttpError<Self::Error>> {
        self.unbroken()?;
        let (inner, last, token) = (&self.inner, last_event_id, auth_header);
        let events = inner.get_stream_with_max_sse_event_size(uri, session_id, last, token, custom_headers, most);
        Ok(self.counted(events.await?))
    }
}

impl<C> Counted<C> {
    fn counted_answer(&self, answer: StreamableHttpPostResponse) -> StreamableHttpPostResponse {
        match answer {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.counted(events), session)
            }
            // One message, whose length is bounded as it is read.
            other => other,
        }
    }
}
