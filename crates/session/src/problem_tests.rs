use std::io;
use std::path::PathBuf;

use bosun_agent::{AgentError, DecisionError, JournalError};
use bosun_backend::{
    BackendError, BlobError, BundleError, ContentHash, PathError, RootError, RouteError, SandboxError, StoreError,
};
use bosun_harness::mcp::{ConfigError, ConfigFault, Ending, Failure, LeftOut, SignInError, ToolFault};
use bosun_harness::{
    CompactionError, DeepAgentError, ExtrasError, FieldKind, FrontMatterError, HookError, PathPatternError, RouteFault,
    SkillError, SkillWarning, SubagentFileError, SubagentWarning,
};
use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use bosun_store::{DatabaseError, FolderTrouble, KeyError, OpenError, SecretError};
use bosun_tools::{AttachableKind, NotAttachable, RegistryError};
use pretty_assertions::assert_eq;

use super::*;

fn path() -> PathBuf {
    "/srv/project".into()
}

/// What a host's or a container's name has to be.
const NAMES: &str = "it must not contain spaces or start with a dash";

fn name() -> String {
    "name".into()
}

fn reason() -> String {
    "the system's words".into()
}

fn broken() -> io::Error {
    io::Error::other("the system's words")
}

/// What a person reads on the command line, where errors are printed as they are, is what the window says in English.
fn same<E: Explain + std::fmt::Display>(errors: &[E]) {
    for error in errors {
        assert_eq!(error.problem().to_string(), error.to_string());
    }
}

#[test]
fn folders_and_databases_are_told_of_in_one_sentence_everywhere() {
    let data = || PathBuf::from("/data");
    same(&[
        RootError::Missing { path: path() },
        RootError::NotAFolder { path: path() },
        RootError::Unreadable { path: path() },
        RootError::Home { path: path() },
        RootError::AboveHome { path: path() },
        RootError::HoldsData { path: path(), data: data() },
        RootError::InData { path: path(), data: data() },
        RootError::FileSystemRoot { path: path() },
        RootError::Io { path: path(), source: broken() },
    ]);
    same(&[
        SandboxError::Missing { program: "bubblewrap", remedy: "apt-get install bubblewrap" },
        SandboxError::Elsewhere,
        SandboxError::BadName { what: NamedThing::Host, given: name(), rule: NAMES },
        SandboxError::BadName { what: NamedThing::Container, given: name(), rule: NAMES },
        SandboxError::BadName {
            what: NamedThing::ContainerFolder,
            given: name(),
            rule: "its path must not contain a comma",
        },
        SandboxError::NoContainer { name: name(), program: "podman".into(), reason: reason() },
        SandboxError::NoFolderIn { name: name(), program: "podman".into() },
        SandboxError::Unusable {
            program: "podman".into(),
            reason: reason(),
            remedy: "check whether `podman info` works in a terminal, and start its service if it does not".into(),
        },
    ]);
    let troubles = [
        FolderTrouble::Missing,
        FolderTrouble::Forbidden,
        FolderTrouble::FileInPlace,
        FolderTrouble::ReadOnly,
        FolderTrouble::DiskFull,
        FolderTrouble::System { detail: reason() },
    ];
    same(&troubles.map(|trouble| OpenError::Folder { path: data(), trouble }));
    same(&[
        OpenError::Newer { path: data(), found: 99, known: 7 },
        OpenError::NotADatabase { path: data() },
        OpenError::OtherApplication { path: data() },
        OpenError::ReadOnly { path: data() },
        OpenError::Locked { path: data() },
        OpenError::Unusable { path: data(), reason: reason() },
    ]);
    same(&[
        DatabaseError::DiskFull,
        DatabaseError::Locked,
        DatabaseError::Damaged { reason: reason() },
        DatabaseError::NotFound { what: name() },
        DatabaseError::CorruptEntry { seq: 7, reason: reason() },
        DatabaseError::Unavailable { reason: reason() },
    ]);
    let hash = || ContentHash::of(b"x");
    same(&[
        BlobError::Missing { hash: hash() },
        BlobError::Damaged { hash: hash(), reason: reason() },
        BlobError::DiskFull,
        BlobError::Io { path: path(), source: broken() },
    ]);
    same(&[JournalError::DiskFull, JournalError::Unavailable { reason: reason() }]);
}

#[test]
fn what_a_person_writes_and_brings_in_is_refused_in_one_sentence_everywhere() {
    let given = || "a/../b".to_owned();
    same(&[
        PathError::Traversal { given: given() },
        PathError::Home { given: given() },
        PathError::Windows { given: given() },
        PathError::Device { given: given() },
        PathError::Nul { given: given() },
        PathError::TooLong { given: given(), limit: 4_096 },
    ]);
    same(&[
        BundleError::Escapes { name: name() },
        BundleError::Link { name: name() },
        BundleError::NotRegular { name: name() },
        BundleError::TooLarge { name: name() },
        BundleError::TooMuch,
        BundleError::Twice { name: name() },
        BundleError::NoArchive { path: path(), reason: reason() },
        BundleError::Io { path: path(), source: broken() },
    ]);
    same(&[
        NotAttachable::Empty { name: name() },
        NotAttachable::TooManyPixels { name: name(), width: 9_000, height: 1, most: 8_000 },
        NotAttachable::Unknown { name: name() },
        NotAttachable::Bursts { name: name() },
    ]);
    same(&[AttachableKind::Image, AttachableKind::Pdf, AttachableKind::Text].map(|what| NotAttachable::TooLarge {
        name: name(),
        what,
        size: 10,
        limit: 5,
    }));
    same(&[StoreError::BadNamespace { given: given() }, StoreError::BadQuery { given: given(), reason: reason() }]);
    same(&[RouteError::Root, RouteError::Twice { prefix: VirtualPath::root() }].map(MountError::Route));
    same(&[
        CompactionError::NothingToCompact,
        CompactionError::TurnOpen,
        CompactionError::Empty,
        CompactionError::TooLong,
        CompactionError::Failed(AgentError::Fatal(reason())),
        CompactionError::Journal(JournalError::DiskFull),
        CompactionError::Cancelled,
    ]);
    same(&[
        DecisionError::NotPending { call_id: "call-1".into() },
        DecisionError::Stale { call_id: "call-1".into() },
        DecisionError::Altered { call_id: "call-1".into() },
        DecisionError::NotAllowed { given: "edit", tool: name(), allowed: "approve, reject".into() },
        DecisionError::EmptyResponse,
    ]);
}

#[test]
fn declarations_are_refused_in_one_sentence_everywhere() {
    same(&[
        FrontMatterError::Missing,
        FrontMatterError::Unclosed,
        FrontMatterError::TooLong { most: 16_384 },
        FrontMatterError::Yaml(reason()),
    ]);
    same(&[SkillError::Missing("name"), SkillError::FrontMatter(FrontMatterError::Missing)]);
    same(&[
        SkillWarning::ByLine(reason()),
        SkillWarning::NameLetters,
        SkillWarning::NameLong { most: 64 },
        SkillWarning::NotItsFolder { folder: name() },
        SkillWarning::DescriptionCut { most: 1_024 },
        SkillWarning::CompatibilityCut { most: 500 },
    ]);
    let kinds = [
        FieldKind::Text,
        FieldKind::Names,
        FieldKind::Asks,
        FieldKind::Folders,
        FieldKind::Schema,
        FieldKind::Number,
        FieldKind::Rules,
        FieldKind::Effort,
        FieldKind::Model,
    ];
    same(&kinds.map(|wanted| SubagentFileError::Field { field: "tools", wanted }));
    same(&[SubagentFileError::Missing("name"), SubagentFileError::Name(name())]);
    same(&[
        PathPatternError::NotFromRoot(name()),
        PathPatternError::Traversal(name()),
        PathPatternError::Home(name()),
        PathPatternError::TooMany { path: name(), most: 1_000 },
    ]);
    same(&[SubagentWarning::Unknown(name()), SubagentWarning::ByLine(reason())]);
    same(&[
        DeepAgentError::Registry(RegistryError::Duplicate { name: name() }),
        DeepAgentError::Registry(RegistryError::Field { name: name() }),
        DeepAgentError::DuplicateSubagent { name: name() },
        DeepAgentError::UnknownTool { name: name(), known: "ls, grep".into() },
        DeepAgentError::NoDecision { tool: name() },
        DeepAgentError::UnknownModel { name: name() },
        DeepAgentError::ModelElsewhere { name: name() },
    ]);
    let server = name;
    let faults = [
        ConfigFault::NameLetters,
        ConfigFault::NameLong { most: 32 },
        ConfigFault::NoProgram,
        ConfigFault::Nul,
        ConfigFault::NoVariable,
        ConfigFault::NoHeader,
        ConfigFault::NoAddress,
        ConfigFault::SecretInAddress,
        ConfigFault::NotSafe,
        ConfigFault::OtherScheme,
    ];
    same(&faults.map(|reason| ExtrasError::Server(ConfigError::Url { server: server(), reason })));
    let servers = [
        ConfigError::Name { name: name(), reason: ConfigFault::NameLetters },
        ConfigError::Twice { name: name() },
        ConfigError::NoReach { server: server() },
        ConfigError::TwoReaches { server: server() },
        ConfigError::Misplaced { server: server(), field: "args", with: "command" },
        ConfigError::Value { server: server(), field: "env", given: name(), reason: ConfigFault::NoVariable },
        ConfigError::Seconds { server: server(), field: "start_timeout", given: 0, most: 600 },
    ];
    same(&servers.map(ExtrasError::Server));
    let hook = name;
    let hooks = [
        HookError::Name { given: name(), most: 60 },
        HookError::Duplicate { name: name() },
        HookError::NoCommand { hook: hook() },
        HookError::Value { hook: hook(), field: "env" },
        HookError::Timeout { hook: hook(), given: 0, most: 600 },
        HookError::Tools { hook: hook(), point: "turn_end" },
        HookError::Failure { hook: hook(), wanted: "deny", point: "turn_end" },
    ];
    same(&hooks.map(ExtrasError::Hook));
    let prefix = || VirtualPath::parse("/notes").unwrap();
    let routes = [
        RouteFault::Root,
        RouteFault::Twice { prefix: prefix() },
        RouteFault::NoNamespace { prefix: prefix() },
        RouteFault::BadNamespace { given: "a/b".into() },
        RouteFault::NoFolder { prefix: prefix() },
        RouteFault::PartOfPath { prefix: prefix(), folder: "notes".into() },
        RouteFault::NoHost { prefix: prefix() },
        RouteFault::NoContainer { prefix: prefix() },
        RouteFault::Misplaced { prefix: prefix(), field: "host", kind: "ssh" },
    ];
    same(&routes.map(ExtrasError::Route));
}

#[test]
fn sign_ins_are_told_of_in_one_sentence_everywhere() {
    same(&[
        SignInError::Unknown { name: name() },
        SignInError::NoAddress { name: name() },
        SignInError::Unsupported { reason: reason() },
        SignInError::Unsafe { url: "http://elsewhere.example".into() },
        SignInError::Port { reason: reason() },
        SignInError::Refused { reason: reason() },
        SignInError::TooLate { minutes: 5 },
        SignInError::NotKept { reason: reason() },
        SignInError::NotForgotten { reason: reason() },
    ]);
    same(&[BackendError::Forbidden { path: VirtualPath::parse("/src/a.rs").unwrap() }]);
}

#[test]
fn a_person_is_not_told_of_tools_that_only_a_model_has() {
    let path = VirtualPath::parse("/src/a.rs").unwrap();
    let told = |error: BackendError| error.problem().to_string();
    assert_eq!(
        told(BackendError::DirectoryNotFound { path: path.clone() }),
        "there is no folder '/src/a.rs'; look in the folder above it"
    );
    assert_eq!(
        told(BackendError::NotADirectory { path: path.clone() }),
        "'/src/a.rs' is not a folder; choose the folder that the file is in"
    );
    assert_eq!(
        told(BackendError::IsADirectory { path: path.clone() }),
        "'/src/a.rs' is a folder, not a file; choose a file in it"
    );
    assert!(!told(BackendError::AlreadyExists { path }).contains("edit_file"));
}

/// The sentences of calls stand twice, where they are made and where they are shown: each code and its arguments alike.
#[test]
fn calls_are_told_of_in_one_sentence_everywhere() {
    let mut known = 0;
    for (code, english) in Problem::ENGLISH {
        let mut fields = serde_json::Map::from_iter([("trouble".to_owned(), snake(code).into())]);
        for name in english.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)) {
            let value = if name == "status" { 404.into() } else { format!("<{name}>").into() };
            fields.insert(name.to_owned(), value);
        }
        if let Ok(trouble) = serde_json::from_value::<ModelTrouble>(fields.into()) {
            let error = ModelError::own(ModelErrorKind::Network, "p", trouble.clone());
            assert_eq!(error.problem().to_string(), trouble.to_string(), "{code}");
            known += 1;
        }
    }
    assert!(known >= 60, "only {known} were found");
}

fn snake(code: &str) -> String {
    let mut snake = String::new();
    for c in code.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[test]
fn keyrings_and_servers_are_told_of_in_one_sentence_everywhere() {
    same(&[
        SecretError::Missing { reason: reason() },
        SecretError::Locked,
        SecretError::Slow { seconds: 90 },
        SecretError::Other,
        SecretError::Refused { reason: reason() },
        SecretError::Unremoved { reason: reason() },
    ]);
    same(&[
        KeyError::Stays(SecretError::Locked),
        KeyError::Left(SecretError::Locked),
        KeyError::Database(DatabaseError::DiskFull),
    ]);
    let ended = |code, signal, words: Option<&str>| Ending::Program { code, signal, words: words.map(str::to_owned) };
    let ends = [
        Ending::Session,
        ended(Some(3), None, None),
        ended(None, Some(9), Some("out of memory")),
        ended(None, None, Some("bye")),
        Ending::Pipes,
        Ending::MessageTooLarge { megabytes: 16 },
        Ending::TooMuch { megabytes: 64 },
        Ending::Unreachable { reason: reason() },
    ];
    same(&ends.clone().map(|end| Failure::Gone { end }));
    same(&ends.map(|end| Failure::StartEnded { end }));
    same(&[
        Failure::Start { reason: reason() },
        Failure::StartTimeout { seconds: 10 },
        Failure::CallTimeout { seconds: 10 },
        Failure::Refused { reason: reason() },
        Failure::HeaderMissing { header: "Authorization".into() },
        Failure::VariableMissing { variable: "TOKEN".into() },
        Failure::Withdrawn,
        Failure::Untrusted,
        Failure::SignIn,
    ]);
    let faults = [
        ToolFault::Name { bytes: 300 },
        ToolFault::TooLarge { bytes: 70_000, most: 65_536 },
        ToolFault::Argument { name: name() },
        ToolFault::TooDeep { most: 4_000 },
        ToolFault::NoObject { found: "\"array\"".into() },
    ];
    same(&faults.map(|fault| LeftOut::Unusable { tool: name(), fault }));
    same(&[LeftOut::Twice { tool: name() }, LeftOut::TooMany { more: 7, most: 500 }]);
}
