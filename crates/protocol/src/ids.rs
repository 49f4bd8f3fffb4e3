use std::fmt;

use serde::{Deserialize, Serialize};
use specta::Type;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Type)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(value: impl Into<String>) -> Self {
                Self(value.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self::new(value)
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                Self::new(value)
            }
        }
    };
}

id! {
    /// A session; 128 random or time-ordered bits, so that it cannot be guessed.
    SessionId
}
id! {
    /// A row of the conversation, unique within its session and stable over restarts.
    ItemId
}
id! {
    /// A tool call, as the provider named it. Unique within its session.
    CallId
}
id! {
    /// A row of a session's timeline, unique within its list and the same whatever is recorded later.
    RowId
}
id! {
    /// A project folder that Bosun has opened.
    ProjectId
}
