use std::time::Duration;

use crate::endpoint::{Endpoint, is_nearby};

/// How long to wait. Connecting has 10 s, for every client of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From sending the request to the first byte of the reply's body.
    pub first_byte: Duration,
    /// Between two reads after that. Every byte counts as life, pings and comments included. Models that think unseen send
    /// nothing for minutes, and some servers send no life signs meanwhile.
    pub idle: Duration,
    /// For the whole reply, against servers that trickle.
    pub total: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { first_byte: Duration::from_secs(120), idle: Duration::from_secs(300), total: Duration::from_secs(3_600) }
    }
}

impl Limits {
    /// Servers on this machine, and in the network around it, read a long prompt for minutes before their first byte, and
    /// nothing is lost by waiting.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let limits = Self::default();
        let is_near = endpoint.loopback || is_nearby(endpoint.name());
        if is_near { Self { first_byte: Duration::from_secs(600), ..limits } } else { limits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn a_server_nearby_has_time_to_read() {
        for (url, seconds) in [
            ("http://localhost:11434", 600),
            ("http://192.168.1.4:11434", 600),
            ("http://gpu-box:8000/v1", 600),
            ("https://api.openai.com/v1", 120),
        ] {
            let endpoint = Endpoint::parse("p", Family::OpenAiChat, url).unwrap();
            assert_eq!(Limits::of(&endpoint).first_byte.as_secs(), seconds, "{url}");
        }
    }
}
