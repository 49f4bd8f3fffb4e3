use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{PathError, quoted};

/// An absolute, normalised path in the agent's path space. It cannot hold `..`, NUL, or an empty segment.
///
/// `""`, `.` and `./` mean `/`; repeated slashes collapse; relative paths start at `/`; a trailing slash is dropped.
/// `..` is refused as a whole component only: `/a..b` and `/[...slug]/x` are names (behaviour.md A7). Percent signs
/// are literal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VirtualPath(Arc<str>);

/// Longest name accepted, in bytes.
pub(crate) const MAX_NAME: usize = 255;

impl VirtualPath {
    /// Longest path accepted, in bytes.
    pub const MAX_LENGTH: usize = 4096;

    pub fn root() -> Self {
        Self(Arc::from("/"))
    }

    /// Parses what a model or a person wrote.
    ///
    /// # Errors
    /// [`PathError`] for a `..` component, a home shortcut (`~`, `~name` as the first component), a Windows or UNC
    /// path, on Windows the name of a device (`CON`, `com1.txt`), a NUL byte, or a name or path longer than a file system
    /// takes.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.contains('\0') {
            return Err(PathError::Nul { given: quoted(text).replace('\0', "\\0") });
        }
        let given = || quoted(text).into_owned();
        if text.len() > Self::MAX_LENGTH {
            return Err(PathError::TooLong { given: given(), limit: Self::MAX_LENGTH });
        }
        if is_windows(text) {
            return Err(PathError::Windows { given: given() });
        }
        let mut path = String::with_capacity(text.len() + 1);
        let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
        for (index, segment) in text.split(separators).enumerate() {
            match segment {
                "" | "." => {}
                ".." => return Err(PathError::Traversal { given: given() }),
                home if index == 0 && home.starts_with('~') => return Err(PathError::Home { given: given() }),
                backslashed if cfg!(not(windows)) && has_backslash_traversal(backslashed) => {
                    return Err(PathError::Traversal { given: given() });
                }
                device if cfg!(windows) && is_device_name(device) => return Err(PathError::Device { given: given() }),
                long if long.len() > MAX_NAME => {
                    return Err(PathError::TooLong { given: given(), limit: MAX_NAME });
                }
                name => {
                    path.push('/');
                    path.push_str(name);
                }
            }
        }
        if path.is_empty() {
            path.push('/');
        }
        Ok(Self(path.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        &*self.0 == "/"
    }

    /// The path below the root without its leading slash; empty for the root.
    pub fn relative(&self) -> &str {
        self.0.trim_start_matches('/')
    }

    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The last segment; `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.segments().next_back()
    }

    pub fn parent(&self) -> Option<Self> {
        let (parent, name) = self.0.rsplit_once('/')?;
        if name.is_empty() {
            return None;
        }
        Some(if parent.is_empty() { Self::root() } else { Self(parent.into()) })
    }

    /// This path with `relative` below it.
    pub fn join(&self, relative: &str) -> Result<Self, PathError> {
        Self::parse(&format!("{}/{relative}", self.0))
    }

    /// Whether `self` is `prefix` or lies below it, on whole segments: `/memories_evil` is not below `/memories`.
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.strip_prefix(prefix).is_some()
    }

    /// The rest of `self` below `prefix` as a path of its own; `/` where they are equal.
    pub fn strip_prefix(&self, prefix: &Self) -> Option<Self> {
        if prefix.is_root() {
            return Some(self.clone());
        }
        let rest = self.0.strip_prefix(&*prefix.0)?;
        if rest.is_empty() {
            Some(Self::root())
        } else if rest.starts_with('/') {
            Some(Self(rest.into()))
        } else {
            None
        }
    }
}

/// Whether Windows takes `name` for a device, whatever stands behind the first dot: `CON`, `aux.c`, `COM1`, `LPT²`.
/// Elsewhere these are names like others, of files that no Windows can have.
pub fn is_device_name(name: &str) -> bool {
    let stem = name.split(['.', ':']).next().unwrap_or_default().trim_end_matches(' ').to_lowercase();
    if matches!(&*stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$") {
        return true;
    }
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    numbered.is_some_and(|number| {
        let mut number = number.chars();
        matches!((number.next(), number.next()), (Some('1'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None))
    })
}

fn is_windows(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive = matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic())
        && matches!(bytes.get(2), None | Some(b'/' | b'\\'));
    drive || text.starts_with("\\\\")
}

/// `..\x` means a traversal to a person who comes from Windows; as a name on Unix it has no honest use.
fn has_backslash_traversal(segment: &str) -> bool {
    segment.contains('\\') && segment.split('\\').any(|part| part == "..")
}

impl fmt::Display for VirtualPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for VirtualPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl TryFrom<String> for VirtualPath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::parse(&text)
    }
}

impl From<VirtualPath> for String {
    fn from(path: VirtualPath) -> Self {
        path.0.as_ref().to_owned()
    }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
