use std::path::PathBuf;

use bosun_backend::{BackendError, BlobError};
use bosun_session::SessionError;
use bosun_store::{DatabaseError, OpenError};

/// Why a command did not do what was asked: one sentence for a person.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(
        "this system has no home folder that Bosun can find; set BOSUN_DATA_DIR to the folder where its data should be \
         kept"
    )]
    NoDataFolder,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Project(#[from] bosun_backend::RootError),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(transparent)]
    Mount(#[from] bosun_backend::MountError),
    #[error(transparent)]
    Place(#[from] bosun_backend::SandboxError),
    #[error(transparent)]
    Namespace(#[from] bosun_backend::StoreError),
    #[error(transparent)]
    Tools(#[from] bosun_tools::RegistryError),
    #[error("{} cannot be used as --config: {reason}; mend it or name another", path.display())]
    Config { path: PathBuf, reason: String },
    #[error("{} cannot be used as --agent: {reason}; mend it or name another", path.display())]
    Agent { path: PathBuf, reason: String },
    #[error(
        "you are signed in, but no keyring keeps it ({reason}); unlock or install one (for example gnome-keyring) and sign in again"
    )]
    SignInNotKept { reason: String },
    #[error("no key came; type it where it is asked for, or pipe it in")]
    KeyEmpty,
    #[error("the key is not kept: {reason}")]
    KeyNotKept { reason: String },
    #[error(
        "the key of {provider} is kept, but a call with it failed: {reason}; put in another, or leave the call out with --no-test"
    )]
    KeyFails { provider: String, reason: String },
    #[error(
        "no value came for the header {header}; type it where it is asked for, pipe it in, or write {header}=VALUE"
    )]
    HeaderEmpty { header: String },
    #[error("the header {header} of {provider} is not kept: {reason}; enter it again with `bosun providers header`")]
    HeaderNotKept { header: String, provider: String, reason: String },
    #[error("nothing was added, because {what} is not kept: {reason}")]
    NotAdded { what: String, reason: String },
    #[error("nothing was changed, because the key is not kept: {reason}")]
    NotChanged { reason: String },
    #[error(
        "{provider} is {done}, but a call to it failed: {reason}; `bosun keys set {provider}` puts in a key, `bosun providers \
         edit {provider}` changes it, and --no-test leaves the call out"
    )]
    ProviderFails { provider: String, done: &'static str, reason: String },
    #[error("{what}: what came is longer than {most} bytes; give it on a line of its own")]
    LineTooLong { what: String, most: usize },
    #[error("{provider} is built in and as it came, so there is nothing to remove; `bosun providers list` shows yours")]
    NotOwnProvider { provider: String },
    #[error("the keyring has no key of {provider} for {host}; `bosun keys list` shows where keys come from")]
    NoKeyKept { provider: String, host: String },
    #[error(
        "{provider} has no address yet, and what is secret is kept for one alone; name it in Bosun's settings or with --base-url"
    )]
    NoHostYet { provider: String },
    #[error(
        "{provider} lists models, and not the deployments that are called there; name one with --model, for example \
         --model {id}:NAME"
    )]
    NoDeployments { id: String, provider: String },
    #[error("no model was named; name one with --model, for example --model anthropic:claude-sonnet-4-6")]
    NoModel,
    #[error("{given:?} names no model; write provider and name with a colon between them, for example openai:gpt-4.1")]
    BadModel { given: String },
    #[error("there is nothing to do; write a task behind the options")]
    NoTask,
    #[error("no project was ever opened at {}; `bosun sessions list` shows the folders of those that were", path.display())]
    UnknownProject { path: PathBuf },
    #[error("no project folder was named; name one with --project")]
    NoProject,
    #[error(
        "there is no folder {folder} on {host}; name one that is there, ssh:{host}:/FOLDER, or ssh:{host}:FOLDER for one in \
         your home folder there"
    )]
    NoFolderThere { host: String, folder: String },
    #[error("the session {id} belongs to {path}; leave --project out, or name that folder")]
    OtherProject { id: String, path: PathBuf },
    #[error("there is no session {id}; `bosun sessions list` shows those there are")]
    NoSession { id: String },
    #[error("the session {id} is a subagent's; its work goes on in {parent}")]
    Subagent { id: String, parent: String },
    #[error("the session {id} has nothing to go on with: its last turn is done; write a task behind the options")]
    NothingOpen { id: String },
    #[error("{} cannot be attached: {reason}; name another file", path.display())]
    Attach { path: PathBuf, reason: String },
    #[error(
        "there is no memory {path}; `bosun memories list` shows those there are, with --project those of a project"
    )]
    NoMemory { path: String },
    #[error("there is no skill {name}; `bosun skills list` shows those there are, with --project those of a project")]
    NoSkill { name: String },
    #[error("the skill {name} has no file {file}; export it to see its files")]
    NoSkillFile { name: String, file: String },
    #[error("the skill {name} is not yours, so it cannot be deleted; `bosun skills off` keeps it from the model")]
    NotYours { name: String },
    #[error("{path} is not text; export it to have its bytes")]
    NoText { path: String },
    #[error("{path} is not there, or nothing goes by it; `bosun trust list` shows what the project brings")]
    NotBrought { path: String },
    #[error("{mark} names nothing as it is now; look at it with `bosun trust list` and take its mark from there")]
    StaleMark { mark: String },
    #[error(
        "the new words cannot be read: {reason}; put them into a text file for --file, or give them on standard input"
    )]
    Words { reason: String },
    #[error("--base-url cannot be used: {reason}")]
    BaseUrl { reason: String },
    #[error("the manual cannot be written into {folder}: {source}; name a folder that is there and may be written to")]
    Manual { folder: PathBuf, source: std::io::Error },
    #[error("the output cannot be written: {0}")]
    Output(#[from] std::io::Error),
}
