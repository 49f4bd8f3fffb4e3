use bosun_backend::VirtualPath;
use bosun_tools::{Artifact, ChangeRecord, UnkeptRecord};

/// A file that a session changed, by a tool or by a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: VirtualPath,
    pub how: FileFate,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFate {
    /// It was not there before.
    Written,
    Edited,
    Deleted,
}

impl FileFate {
    fn of(was_there: bool, is_there: bool) -> Self {
        match (was_there, is_there) {
            (_, false) => Self::Deleted,
            (false, true) => Self::Written,
            (true, true) => Self::Edited,
        }
    }
}

impl From<&ChangeRecord> for ChangedFile {
    fn from(record: &ChangeRecord) -> Self {
        Self { path: record.path.clone(), how: FileFate::of(record.before.is_some(), record.after.is_some()) }
    }
}

impl From<&UnkeptRecord> for ChangedFile {
    fn from(record: &UnkeptRecord) -> Self {
        Self { path: record.path.clone(), how: FileFate::of(record.before.is_some(), record.after.is_some()) }
    }
}

impl ChangedFile {
    /// What a call changed, whether its bytes were kept or not.
    pub fn of_call(artifact: &Artifact) -> impl Iterator<Item = Self> + '_ {
        artifact.changes.iter().map(Self::from).chain(artifact.unkept.iter().map(Self::from))
    }

    /// Each file once, in the order of its last change. What a session made itself stays written however often it is
    /// edited.
    pub fn each_once(changes: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut files: Vec<Self> = Vec::new();
        for mut change in changes {
            if let Some(place) = files.iter().position(|known| known.path == change.path) {
                let known = files.remove(place);
                if (known.how, change.how) == (FileFate::Written, FileFate::Edited) {
                    change.how = FileFate::Written;
                }
            }
            files.push(change);
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn each_file_is_told_once_as_it_is_since() {
        use FileFate::{Deleted, Edited, Written};
        let change = |(path, how)| ChangedFile { path: VirtualPath::parse(path).unwrap(), how };
        let changes = [
            ("/made", Written),
            ("/kept", Edited),
            ("/made", Edited),
            ("/gone", Written),
            ("/gone", Deleted),
            ("/kept", Deleted),
            ("/kept", Written),
        ];
        let files = ChangedFile::each_once(changes.map(change));
        assert_eq!(files, [("/made", Written), ("/gone", Deleted), ("/kept", Written)].map(change));
    }
}
