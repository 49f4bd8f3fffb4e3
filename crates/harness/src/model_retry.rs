use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use bosun_agent::{AgentError, BoxFuture, LiveEvent, Middleware, NextModel, TurnContext};
use bosun_model::{AiMessage, ChatRequest, ModelError, ModelErrorKind};

/// How often and how long a failed model call is tried again: in the conversation ([`ModelRetry`]) and beside it, as for a
/// summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// Calls after the first one, where the provider asks for patience or fails inside.
    pub attempts: u32,
    /// The wait before the first of them; it doubles with each.
    pub first_wait: Duration,
    /// No wait is longer. A provider that asks for more is not asked again: its own sentence is worth more to the person
    /// than a screen on which nothing happens.
    pub longest_wait: Duration,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self { attempts: 4, first_wait: Duration::from_secs(1), longest_wait: Duration::from_secs(60) }
    }
}

impl RetryOptions {
    /// How long to wait before try number `attempt` (from 1) after `error`, with jitter; `None` to give up.
    pub fn wait(&self, error: &ModelError, attempt: u32) -> Option<Duration> {
        self.wait_by(error, attempt, chance())
    }

    /// [`Self::wait`] with a `chance` from 0 to 1.
    fn wait_by(&self, error: &ModelError, attempt: u32, chance: f64) -> Option<Duration> {
        let most = match error.kind {
            ModelErrorKind::RateLimited | ModelErrorKind::Unavailable => self.attempts,
            _ if error.is_retryable() => self.attempts.min(1),
            _ => 0,
        };
        if attempt > most {
            return None;
        }
        let doubled = self.first_wait.saturating_mul(1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX));
        let wait = match error.retry_after {
            Some(asked) if asked > self.longest_wait => return None,
            // Never sooner than asked for; a little later, so that not all come at once.
            Some(asked) => asked + doubled.min(Duration::from_secs(1)).mul_f64(chance),
            None => doubled.min(self.longest_wait).mul_f64(0.5 + chance / 2.0),
        };
        Some(wait)
    }
}

/// Makes a model call again that failed for a moment.
///
/// Innermost around model calls, so that no other member sees a failure that passes by itself. Nothing can have been acted
/// upon: tools run only after a reply that came whole. A reply that was cut is not asked for again by itself; what arrived
/// of it was shown and is kept, and the person decides.
///
/// | failure | tried again |
/// |---|---|
/// | too many requests, overloaded, failed inside | [`RetryOptions::attempts`] times, after `retry-after` where there is one |
/// | no answer in time | once |
/// | nobody answers, or the connection broke before a reply | once |
/// | any of these, after some of a reply was shown | never |
/// | everything else | never |
pub struct ModelRetry {
    options: RetryOptions,
}

impl ModelRetry {
    pub fn new(options: RetryOptions) -> Self {
        Self { options }
    }
}

impl Default for ModelRetry {
    fn default() -> Self {
        Self::new(RetryOptions::default())
    }
}

impl Middleware for ModelRetry {
    fn name(&self) -> &'static str {
        "ModelRetry"
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                let error = match next.run(request.clone()).await {
                    Err(AgentError::Model(error)) => error,
                    outcome => return outcome,
                };
                // Whatever the failure, a provider can find it in the middle of a reply, which was paid for.
                let is_begun = error.kind == ModelErrorKind::StreamCut || cx.was_shown();
                let Some(wait) = self.options.wait(&error, attempt).filter(|_| !is_begun) else {
                    return Err(error.into());
                };
                tracing::warn!(%error, attempt, ?wait, "a model call failed and is made again");
                cx.log().emit(LiveEvent::AskingAgain { error, wait });
                tokio::select! {
                    biased;
                    () = cx.cancel().cancelled() => return Err(AgentError::Cancelled),
                    () = tokio::time::sleep(wait) => attempt += 1,
                }
            }
        })
    }
}

/// From 0 to 1, another each time. Nothing depends on how good it is: every `RandomState` has keys of its own.
fn chance() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 32;
    f64::from(u32::try_from(bits).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: ModelErrorKind, retry_after: Option<u64>) -> ModelError {
        ModelError::new(kind, "test", "no").with_retry_after(retry_after.map(Duration::from_secs))
    }

    fn wait(kind: ModelErrorKind, retry_after: Option<u64>, attempt: u32, chance: f64) -> Option<u64> {
        let wait = RetryOptions::default().wait_by(&error(kind, retry_after), attempt, chance)?;
        Some(u64::try_from(wait.as_millis()).unwrap())
    }

    #[test]
    fn waits_double_with_jitter_and_end() {
        use ModelErrorKind::{InvalidRequest, Network, RateLimited, StreamCut, Timeout, Unauthorized, Unavailable};
        let longest = |attempt| wait(Unavailable, None, attempt, 1.0);
        assert_eq!([1, 2, 3, 4, 5].map(longest), [Some(1_000), Some(2_000), Some(4_000), Some(8_000), None]);
        assert_eq!(wait(Unavailable, None, 4, 0.0), Some(4_000));
        assert_eq!((wait(Network, None, 1, 1.0), wait(Network, None, 2, 1.0)), (Some(1_000), None));
        assert_eq!((wait(Timeout, None, 1, 1.0), wait(Timeout, None, 2, 1.0)), (Some(1_000), None));
        assert_eq!((wait(StreamCut, None, 1, 1.0), wait(StreamCut, None, 2, 1.0)), (Some(1_000), None));
        for kind in [InvalidRequest, Unauthorized] {
            assert_eq!(wait(kind, Some(1), 1, 1.0), None);
        }
        assert_eq!(wait(RateLimited, Some(7), 1, 0.0), Some(7_000));
        assert_eq!(wait(RateLimited, Some(7), 1, 1.0), Some(8_000));
        assert_eq!(wait(RateLimited, Some(600), 1, 0.0), None);
    }

    #[test]
    fn attempts_without_end_never_overflow() {
        let patient = RetryOptions { attempts: u32::MAX, ..RetryOptions::default() };
        let wait = patient.wait_by(&error(ModelErrorKind::Unavailable, None), u32::MAX, 1.0);
        assert_eq!(wait, Some(Duration::from_secs(60)));
    }

    #[test]
    fn chances_differ() {
        let chances: Vec<f64> = (0..20).map(|_| chance()).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        assert!(chances.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
