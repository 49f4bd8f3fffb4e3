use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// What the time is, for files that have no clock of their own.
#[derive(Clone)]
pub struct Now(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Now {
    /// `ms` gives milliseconds since 1970.
    pub fn from_fn(ms: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(ms))
    }

    pub(crate) fn ms(&self) -> i64 {
        (self.0)()
    }
}

/// The system's clock.
impl Default for Now {
    fn default() -> Self {
        Self::from_fn(|| {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }
}

impl fmt::Debug for Now {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Now")
    }
}
