use serde::{Deserialize, Serialize};
use specta::Type;

/// What is in one folder of the session's path space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FolderView {
    pub path: String,
    /// Folders first, each kind by name.
    pub entries: Vec<FileEntry>,
    /// How many more there are.
    pub more: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileEntry {
    pub path: String,
    pub name: String,
    pub is_folder: bool,
    /// Bytes; `null` for folders and what is no file.
    #[specta(type = Option<specta_typescript::Number>)]
    pub size: Option<u64>,
    /// Milliseconds since 1970, where it is known.
    #[specta(type = Option<specta_typescript::Number>)]
    pub modified_at: Option<i64>,
    /// What is mounted here, where something is.
    pub mount: Option<MountView>,
    /// As [`FilePreview::on_disk`].
    pub on_disk: bool,
}

/// A part of the path space that is not simply the project's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MountView {
    pub kind: MountKind,
    pub read_only: bool,
}

/// Where the files of a part of the path space are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum MountKind {
    /// On this machine's disk: the project, at `/`.
    Project,
    /// Memories, in Bosun's own store.
    Memory,
    /// Skills, in Bosun's own store or beside it.
    Skill,
    /// With the session: results of tools that were too large to be shown.
    Results,
    /// With the session: the conversation before it was summed up.
    History,
    /// With the session: a place of its own in the settings or in the agent's declaration.
    Session,
    /// In Bosun's own store: such a place.
    Store,
    /// Another folder of this machine.
    Folder,
    /// Another folder of this machine, reached in a sandbox.
    Sandbox,
    Container,
    /// Another machine.
    Machine,
}

/// A look at one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct FilePreview {
    pub path: String,
    /// Bytes, where they are known.
    #[specta(type = Option<specta_typescript::Number>)]
    pub size: Option<u64>,
    pub mount: MountView,
    pub body: PreviewBody,
    /// It is on this machine's disk, so that other programs can open and show it.
    pub on_disk: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PreviewBody {
    Text {
        rows: Vec<TextRow>,
        /// Lines of the whole file.
        total: u32,
        /// Where the next look begins; `null` at the end.
        next: Option<TextPlace>,
        /// The last line here goes on beyond what can be looked at.
        cut: bool,
    },
    Image {
        /// Its media type and its bytes in base64.
        mime: String,
        data: String,
    },
    Pdf,
    /// Not text, and nothing that is shown here.
    Binary,
    /// Larger than what is read for a look.
    TooLarge,
}

/// A row of a text: a line, or a part of one that is long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TextRow {
    /// 1-based number of the line.
    pub line: u32,
    /// 0 where the line begins.
    pub part: u32,
    pub text: String,
}

/// A place in a text, as its rows have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TextPlace {
    /// 1-based number of a line.
    pub line: u32,
    /// Parts of it that come before.
    pub part: u32,
}

/// Files and folders whose names fit what was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FoundFiles {
    /// The best first; their sizes are not told.
    pub entries: Vec<FileEntry>,
    /// How many more there are.
    pub more: u32,
    /// Not everything was looked through.
    pub partial: bool,
}
