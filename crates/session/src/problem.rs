//! The errors of all rooms as what a person is told: [`Problem`]s, which each window says in its own language.

use bosun_agent::{AgentError, DecisionError, JournalError};
use bosun_backend::{
    BackendError, BlobError, BundleError, MountError, NamedThing, PathError, RootError, RouteError, SandboxError,
    StoreError, VirtualPath,
};
use bosun_harness::{
    CompactionError, DeepAgentError, ExtrasError, FieldKind, FrontMatterError, HookError, PathPatternError, RouteFault,
    SkillError, SkillWarning, SubagentFileError, SubagentWarning,
};
use bosun_protocol::Problem;
use bosun_store::{DatabaseError, FolderTrouble, KeyError, OpenError, SecretError};
use bosun_tools::{AttachableKind, NotAttachable, RegistryError};

mod of_calls;
mod of_previews;
mod of_servers;

pub(crate) use of_calls::{of_halt, of_note};
use of_servers::of_server;

/// An error that a person may be told.
pub trait Explain {
    fn problem(&self) -> Problem;
}

/// As an argument that cannot be larger than the wire's numbers.
pub(crate) fn number(size: impl TryInto<u32>) -> u32 {
    size.try_into().unwrap_or(u32::MAX)
}

fn shown(path: &std::path::Path) -> String {
    path.display().to_string()
}

impl Explain for PathError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Traversal { given } => Problem::PathLeaves { path: given },
            Self::Home { given } => Problem::PathOfHome { path: given },
            Self::Windows { given } => Problem::PathOfWindows { path: given },
            Self::Device { given } => Problem::PathOfDevice { path: given },
            Self::Nul { given } => Problem::PathWithNul { path: given },
            Self::TooLong { given, limit } => Problem::PathTooLong { path: given, limit: number(limit) },
        }
    }
}

impl Explain for BackendError {
    /// Most of its own sentences are for the model, which has tools to read and to overwrite with; a person has none.
    fn problem(&self) -> Problem {
        if let Some(told) = of_one_file(self) {
            return told;
        }
        match self {
            Self::Path(error) => error.problem(),
            Self::ProtectedRoot { path } => Problem::RootProtected { path: path.to_string() },
            Self::RootGone => Problem::ProjectGone,
            Self::FolderGone { path } => Problem::FolderGone { path: path.to_string() },
            Self::Unreachable { path, reason } => {
                Problem::PlaceSilent { path: path.to_string(), detail: reason.clone() }
            }
            Self::Io { path, reason, .. } | Self::NotRecorded { path, reason } => {
                Problem::FileFailed { path: path.to_string(), detail: reason.clone() }
            }
            Self::Unsure { path, reason } => Problem::FileUnsure { path: path.to_string(), detail: reason.clone() },
            Self::TooLarge { path, size, limit } => {
                Problem::FileOverLimit { path: path.to_string(), size: size.to_string(), limit: limit.to_string() }
            }
            Self::TooLargeToKeep { path, size, limit } => {
                Problem::FileTooLarge { path: path.to_string(), size: size.to_string(), limit: limit.to_string() }
            }
            Self::Cancelled => Problem::Stopped,
            // Of edits and commands, which no person's click leads to.
            other => Problem::FilesFailed { detail: other.to_string() },
        }
    }
}

/// What is said of a file by its path alone.
fn of_one_file(error: &BackendError) -> Option<Problem> {
    let told = |path: &VirtualPath, make: fn(String) -> Problem| Some(make(path.to_string()));
    match error {
        BackendError::NotFound { path } => told(path, |path| Problem::FileNotFound { path }),
        BackendError::DirectoryNotFound { path } => told(path, |path| Problem::FolderNotFound { path }),
        BackendError::NotADirectory { path } => told(path, |path| Problem::NotAFolder { path }),
        BackendError::IsADirectory { path } | BackendError::DirectoryInTheWay { path } => {
            told(path, |path| Problem::IsAFolder { path })
        }
        BackendError::AlreadyExists { path } => told(path, |path| Problem::NameTaken { path }),
        BackendError::NotRegular { path, .. } => told(path, |path| Problem::NotRegular { path }),
        BackendError::OutsideRoot { path } => told(path, |path| Problem::OutsideRoot { path }),
        BackendError::LinkLoop { path } => told(path, |path| Problem::LinkLoop { path }),
        BackendError::LinkToProtected { path } => told(path, |path| Problem::LinkToProtected { path }),
        BackendError::PermissionDenied { path } => told(path, |path| Problem::Forbidden { path }),
        BackendError::Forbidden { path } => told(path, |path| Problem::ForbiddenByRule { path }),
        BackendError::Changed { path } | BackendError::NotRead { path } => {
            told(path, |path| Problem::FileChanged { path })
        }
        BackendError::Unstable { path } => told(path, |path| Problem::FileUnstable { path }),
        BackendError::NotText { path, .. } => told(path, |path| Problem::NotText { path }),
        BackendError::Binary { path } => told(path, |path| Problem::Binary { path }),
        BackendError::ContentLost { path } => told(path, |path| Problem::ContentLost { path }),
        BackendError::DiskFull { path } => told(path, |path| Problem::FileDiskFull { path }),
        BackendError::ReadOnly { path } => told(path, |path| Problem::FileReadOnly { path }),
        BackendError::Immutable { path } => told(path, |path| Problem::FileImmutable { path }),
        BackendError::CannotDelete { path } => told(path, |path| Problem::CannotDelete { path }),
        _ => None,
    }
}

impl Explain for SandboxError {
    fn problem(&self) -> Problem {
        match self {
            Self::Missing { program, remedy } => {
                Problem::SandboxMissing { program: (*program).to_owned(), remedy: (*remedy).to_owned() }
            }
            Self::Unusable { program, reason, .. } if program == "bubblewrap" => {
                Problem::SandboxUnusable { detail: reason.clone() }
            }
            Self::Unusable { program, reason, .. } => {
                Problem::EngineUnusable { program: program.clone(), detail: reason.clone() }
            }
            Self::Elsewhere => Problem::SandboxElsewhere,
            Self::Folder(error) => error.problem(),
            Self::BadName { what: NamedThing::Host, given, .. } => Problem::HostBadName { given: given.clone() },
            Self::BadName { what: NamedThing::Container, given, .. } => {
                Problem::ContainerBadName { given: given.clone() }
            }
            Self::BadName { what: NamedThing::ContainerFolder, given, .. } => {
                Problem::ContainerComma { given: given.clone() }
            }
            // A folder whose path is no text, which nobody writes down.
            Self::BadName { what: NamedThing::Folder, .. } => Problem::Said { detail: self.to_string() },
            Self::NoContainer { name, program, reason } => {
                Problem::ContainerNone { name: name.clone(), program: program.clone(), detail: reason.clone() }
            }
            Self::NoFolderIn { name, program } => {
                Problem::ContainerTakesNone { name: name.clone(), program: program.clone() }
            }
        }
    }
}

impl Explain for RootError {
    fn problem(&self) -> Problem {
        match self {
            Self::Missing { path } => Problem::ProjectMissing { path: shown(path) },
            Self::NotAFolder { path } => Problem::ProjectIsFile { path: shown(path) },
            Self::Unreadable { path } => Problem::ProjectUnreadable { path: shown(path) },
            Self::Home { path } => Problem::ProjectIsHome { path: shown(path) },
            Self::AboveHome { path } => Problem::ProjectAboveHome { path: shown(path) },
            Self::HoldsData { path, data } => Problem::ProjectHoldsData { path: shown(path), data: shown(data) },
            Self::InData { path, data } => Problem::ProjectInData { path: shown(path), data: shown(data) },
            Self::FileSystemRoot { path } => Problem::ProjectIsMachine { path: shown(path) },
            Self::Io { path, source } => Problem::ProjectUnusable { path: shown(path), detail: source.to_string() },
        }
    }
}

impl Explain for BlobError {
    fn problem(&self) -> Problem {
        match self {
            Self::Missing { hash } => Problem::ContentMissing { hash: hash.to_string() },
            Self::Damaged { hash, reason } => {
                Problem::ContentDamaged { hash: hash.to_string(), detail: reason.clone() }
            }
            Self::DiskFull => Problem::ContentDiskFull,
            Self::Io { path, source } => Problem::ContentUnusable { path: shown(path), detail: source.to_string() },
        }
    }
}

impl Explain for BundleError {
    fn problem(&self) -> Problem {
        match self {
            Self::Escapes { name } => Problem::ImportOutside { name: name.clone() },
            Self::Link { name } => Problem::ImportLink { name: name.clone() },
            Self::NotRegular { name } => Problem::ImportNotRegular { name: name.clone() },
            Self::TooLarge { name } => {
                Problem::ImportFileTooLarge { name: name.clone(), megabytes: number(Self::LARGEST_FILE >> 20) }
            }
            Self::TooMuch => {
                Problem::ImportTooMuch { files: number(Self::MOST_FILES), megabytes: number(Self::LARGEST >> 20) }
            }
            Self::Twice { name } => Problem::ImportTwice { name: name.clone() },
            Self::NoArchive { path, reason } => Problem::ImportNoArchive { path: shown(path), detail: reason.clone() },
            Self::Io { path, source } => Problem::ImportUnusable { path: shown(path), detail: source.to_string() },
        }
    }
}

impl Explain for StoreError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::BadNamespace { given } => Problem::NoNamespace { given },
            Self::BadQuery { given, reason } => Problem::BadSearch { given, detail: reason },
            Self::Unavailable { reason } => Problem::DatabaseFailed { detail: reason },
        }
    }
}

impl Explain for MountError {
    fn problem(&self) -> Problem {
        match self {
            Self::Project(error) => error.problem(),
            Self::Namespace(error) => error.problem(),
            Self::Route(RouteError::Root) => Problem::RouteAtRoot,
            Self::Route(RouteError::Twice { prefix }) => Problem::RouteTwice { prefix: prefix.to_string() },
        }
    }
}

impl Explain for OpenError {
    fn problem(&self) -> Problem {
        match self {
            Self::Folder { path, trouble } => of_data_folder(shown(path), trouble),
            Self::Newer { path, found, known } => {
                let format = |number: i64| i32::try_from(number).unwrap_or(i32::MAX);
                Problem::DatabaseNewer { path: shown(path), found: format(*found), known: format(*known) }
            }
            Self::NotADatabase { path } => Problem::DatabaseForeign { path: shown(path) },
            Self::OtherApplication { path } => Problem::DatabaseOfOther { path: shown(path) },
            Self::ReadOnly { path } => Problem::DatabaseReadOnly { path: shown(path) },
            Self::Locked { path } => Problem::DatabaseFileLocked { path: shown(path) },
            Self::Unusable { path, reason } => Problem::DatabaseUnusable { path: shown(path), detail: reason.clone() },
        }
    }
}

fn of_data_folder(path: String, trouble: &FolderTrouble) -> Problem {
    match trouble {
        FolderTrouble::Missing => Problem::DataFolderMissing { path },
        FolderTrouble::Forbidden => Problem::DataFolderForbidden { path },
        FolderTrouble::FileInPlace => Problem::DataFolderIsFile { path },
        FolderTrouble::ReadOnly => Problem::DataFolderReadOnly { path },
        FolderTrouble::DiskFull => Problem::DataFolderFull { path },
        FolderTrouble::System { detail } => Problem::DataFolderUnusable { path, detail: detail.clone() },
    }
}

impl Explain for DatabaseError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::DiskFull => Problem::DiskFull,
            Self::Locked => Problem::DatabaseLocked,
            Self::Damaged { reason } => Problem::DatabaseDamaged { detail: reason },
            Self::NotFound { what } => Problem::NotInDatabase { what },
            Self::CorruptEntry { seq, reason } => Problem::EntryUnreadable { entry: number(seq), detail: reason },
            Self::Unavailable { reason } => Problem::DatabaseFailed { detail: reason },
        }
    }
}

impl Explain for JournalError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::DiskFull => Problem::DiskFull,
            Self::Locked => Problem::DatabaseLocked,
            Self::Unavailable { reason } => Problem::JournalUnwritable { detail: reason },
            Self::Corrupt { seq, reason } => Problem::EntryUnreadable { entry: number(seq), detail: reason },
            Self::NotFound => Problem::SessionGone,
        }
    }
}

impl Explain for AgentError {
    fn problem(&self) -> Problem {
        match self {
            Self::Model(error) => error.problem(),
            Self::Journal(error) => error.problem(),
            Self::Halted(halt) => of_halt(halt.clone()),
            Self::Cancelled => Problem::Stopped,
            Self::Fatal(words) => Problem::Said { detail: words.clone() },
        }
    }
}

impl Explain for SecretError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Missing { reason } => Problem::KeyringMissing { detail: reason },
            Self::Locked => Problem::KeyringIsLocked,
            Self::Slow { seconds } => Problem::KeyringSlow { seconds: seconds.to_string() },
            Self::Other => Problem::KeyringOther,
            Self::Refused { reason } => Problem::KeyringRefused { detail: reason },
            Self::Unremoved { reason } => Problem::KeyringUnremoved { detail: reason },
        }
    }
}

impl Explain for KeyError {
    fn problem(&self) -> Problem {
        match self {
            Self::Stays(reason) => Problem::KeyStays { why: Box::new(reason.problem()) },
            Self::Left(reason) => Problem::KeyLeft { why: Box::new(reason.problem()) },
            Self::Database(error) => error.problem(),
        }
    }
}

impl Explain for DecisionError {
    fn problem(&self) -> Problem {
        match self {
            Self::NotPending { call_id } => Problem::NotPending { call: call_id.to_string() },
            Self::Stale { .. } => Problem::AskChanged,
            Self::Altered { .. } => Problem::AskAltered,
            Self::NotAllowed { given, tool, allowed } => {
                Problem::DecisionNotAllowed { given: (*given).to_owned(), tool: tool.clone(), allowed: allowed.clone() }
            }
            Self::BadArguments { reason } => Problem::BadArguments { detail: reason.clone() },
            Self::EmptyResponse => Problem::EmptyResponse,
            Self::Journal(error) => error.problem(),
        }
    }
}

impl Explain for CompactionError {
    fn problem(&self) -> Problem {
        match self {
            Self::NothingToCompact => Problem::NothingToCompact,
            Self::TurnOpen => Problem::CompactWhileRunning,
            Self::Empty => Problem::NoSummary,
            Self::TooLong => Problem::SummaryTooLong,
            Self::Failed(error) => Problem::SummaryFailed { why: Box::new(error.problem()) },
            Self::Journal(error) => Problem::SummaryNotSaved { why: Box::new(error.problem()) },
            Self::Cancelled => Problem::Stopped,
        }
    }
}

impl Explain for NotAttachable {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Empty { name } => Problem::AttachmentEmpty { name },
            Self::TooLarge { name, what, size, limit } => {
                let (size, limit) = (number(size), number(limit));
                match what {
                    AttachableKind::Image => Problem::ImageTooLarge { name, size, limit },
                    AttachableKind::Pdf => Problem::DocumentTooLarge { name, size, limit },
                    AttachableKind::Text => Problem::AttachedTextTooLarge { name, size, limit },
                }
            }
            Self::Bursts { name } => Problem::PictureBursts { name },
            Self::TooManyPixels { name, width, height, most } => Problem::TooManyPixels { name, width, height, most },
            Self::Unknown { name } => Problem::NotAttachable { name },
        }
    }
}

impl Explain for DeepAgentError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Registry(RegistryError::Duplicate { name }) => Problem::ToolTwice { name },
            Self::Registry(RegistryError::Field { name }) => Problem::StateFieldTwice { name },
            Self::DuplicateSubagent { name } => Problem::SubagentTwice { name },
            Self::UnknownTool { name, known } => Problem::ToolUnknown { name, known },
            Self::NoDecision { tool } => Problem::NoDecision { tool },
            Self::UnknownModel { name } => Problem::SubagentModel { name },
            Self::ModelElsewhere { name } => Problem::SubagentModelElsewhere { name },
        }
    }
}

impl Explain for ExtrasError {
    fn problem(&self) -> Problem {
        match self {
            Self::Server(error) => of_server(error.clone()),
            Self::Hook(error) => of_hook(error.clone()),
            Self::Route(fault) => of_route(fault.clone()),
            Self::Toml(words) => Problem::AdditionsUnreadable { detail: words.trim_end().to_owned() },
        }
    }
}

fn of_route(fault: RouteFault) -> Problem {
    match fault {
        RouteFault::Root => Problem::PlaceAtRoot,
        RouteFault::Twice { prefix } => Problem::RouteTwice { prefix: prefix.to_string() },
        RouteFault::NoNamespace { prefix } => Problem::RouteNoNamespace { prefix: prefix.to_string() },
        RouteFault::BadNamespace { given } => Problem::NoNamespace { given },
        RouteFault::NoFolder { prefix } => Problem::RouteNoFolder { prefix: prefix.to_string() },
        RouteFault::PartOfPath { prefix, folder } => {
            Problem::RoutePartOfPath { prefix: prefix.to_string(), folder: folder.display().to_string() }
        }
        RouteFault::NoHost { prefix } => Problem::RouteNoHost { prefix: prefix.to_string() },
        RouteFault::NoContainer { prefix } => Problem::RouteNoContainer { prefix: prefix.to_string() },
        RouteFault::Misplaced { prefix, field, kind } => {
            Problem::RouteMisplaced { prefix: prefix.to_string(), field: field.to_owned(), with: kind.to_owned() }
        }
    }
}

fn of_hook(error: HookError) -> Problem {
    match error {
        HookError::Name { given, most } => Problem::HookName { given, most: number(most) },
        HookError::Duplicate { name } => Problem::HookTwice { name },
        HookError::NoCommand { hook } => Problem::HookNoCommand { hook },
        HookError::Value { hook, field } => Problem::HookValue { hook, field: field.to_owned() },
        HookError::Timeout { hook, given, most } => {
            Problem::HookTimeout { hook, given: given.to_string(), most: number(most) }
        }
        HookError::Tools { hook, point } => Problem::HookTools { hook, point: point.to_owned() },
        HookError::Failure { hook, wanted, point } => {
            Problem::HookFailure { hook, wanted: wanted.to_owned(), point: point.to_owned() }
        }
    }
}

impl Explain for FrontMatterError {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Missing => Problem::FrontMatterMissing,
            Self::Unclosed => Problem::FrontMatterOpen,
            Self::TooLong { most } => Problem::FrontMatterLong { most: number(most) },
            Self::Yaml(detail) => Problem::FrontMatterYaml { detail },
        }
    }
}

impl Explain for SkillError {
    fn problem(&self) -> Problem {
        match self {
            Self::FrontMatter(error) => error.problem(),
            Self::Missing(field) => Problem::FieldMissing { field: (*field).to_owned() },
        }
    }
}

impl Explain for SkillWarning {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::ByLine(detail) => Problem::FrontMatterByLine { detail },
            Self::NameLetters => Problem::SkillNameLetters,
            Self::NameLong { most } => Problem::SkillNameLong { most: number(most) },
            Self::NotItsFolder { folder } => Problem::SkillNameOther { folder },
            Self::DescriptionCut { most } => Problem::DescriptionCut { most: number(most) },
            Self::CompatibilityCut { most } => Problem::CompatibilityCut { most: number(most) },
        }
    }
}

impl Explain for SubagentFileError {
    fn problem(&self) -> Problem {
        match self {
            Self::FrontMatter(error) => error.problem(),
            Self::Missing(field) => Problem::FieldMissing { field: (*field).to_owned() },
            Self::Name(name) => Problem::SubagentBadName { name: name.clone() },
            Self::Field { field, wanted } => {
                let field = (*field).to_owned();
                match wanted {
                    FieldKind::Text => Problem::FieldNotText { field },
                    FieldKind::Names => Problem::FieldNotNames { field },
                    FieldKind::Asks => Problem::FieldNotAsks { field },
                    FieldKind::Folders => Problem::FieldNotFolders { field },
                    FieldKind::Schema => Problem::FieldNotSchema { field },
                    FieldKind::Number => Problem::FieldNotNumber { field },
                    FieldKind::Effort => Problem::FieldNotEffort { field },
                    FieldKind::Model => Problem::FieldNotModel { field },
                    FieldKind::Rules => Problem::FieldNotRules { field },
                }
            }
        }
    }
}

impl Explain for PathPatternError {
    fn problem(&self) -> Problem {
        match self {
            Self::NotFromRoot(path) => Problem::RulePathNotFromRoot { path: path.clone() },
            Self::Traversal(path) => Problem::RulePathUp { path: path.clone() },
            Self::Home(path) => Problem::RulePathOfHome { path: path.clone() },
            Self::TooMany { path, most } => Problem::RulePathBraces { path: path.clone(), most: number(*most) },
        }
    }
}

impl Explain for SubagentWarning {
    fn problem(&self) -> Problem {
        match self.clone() {
            Self::Unknown(field) => Problem::FieldUnknown { field },
            Self::ByLine(detail) => Problem::FrontMatterByLine { detail },
            Self::DescriptionCut { most } => Problem::DescriptionCut { most: number(most) },
        }
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
