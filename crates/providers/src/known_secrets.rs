use std::io::{self, Write};
use std::sync::{Arc, PoisonError, RwLock};

use secrecy::{ExposeSecret, SecretString};

use crate::redact::Redactor;

/// Every key this run has met. Shared between who meets them and what must not hold them: logs, exports, the ledger.
#[derive(Clone, Default)]
pub struct KnownSecrets(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    secrets: Vec<SecretString>,
    redactor: Redactor,
}

impl KnownSecrets {
    pub fn learn(&self, secret: &SecretString) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.secrets.iter().any(|old| old.expose_secret() == secret.expose_secret()) {
            return;
        }
        known.secrets.push(secret.clone());
        known.redactor = Redactor::new(known.secrets.iter().map(ExposeSecret::expose_secret));
    }

    /// `text` with every key that was met, and whatever looks like one, replaced by `[redacted]`.
    pub fn redact(&self, text: &str) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner).redactor.redact(text)
    }
}

/// Takes secrets out of what is written to a log. An event arrives in one piece, so none is split.
pub struct Redacting<W> {
    to: W,
    secrets: KnownSecrets,
}

impl<W> Redacting<W> {
    pub fn new(to: W, secrets: KnownSecrets) -> Self {
        Self { to, secrets }
    }
}

impl<W: Write> Write for Redacting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write_all(self.secrets.redact(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_and_what_looks_like_one_do_not_reach_the_log() {
        let secrets = KnownSecrets::default();
        secrets.learn(&SecretString::from("plain-canary-1"));
        secrets.learn(&SecretString::from("plain-canary-2"));
        let mut written = Vec::new();
        let mut log = Redacting::new(&mut written, secrets.clone());
        log.write_all(b"a plain-canary-1 b plain-canary-2 c sk-ant-canary-3 d").unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "a [redacted] b [redacted] c [redacted] d");
    }
}
