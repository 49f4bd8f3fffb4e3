//! A project folder with tools over it, for the tests of this crate: calls run as the loop runs them, one after the
//! other, and what they learn is kept.

mod canned;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bosun_backend::{
    Backend, BackendError, ChangeWitness, Expect, FileStamp, OutputSink, PlannedChange, Unwitnessed, VirtualPath,
};
use bosun_model::{Abilities, CallId, text_of};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    BoxFuture, BuiltinOptions, Delegate, Preview, StateUpdate, StateView, SubagentCard, Todo, ToolContext, ToolError,
    ToolOutput, ToolRegistry, builtin_tools,
};
pub(crate) use canned::Canned;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    pub cx: ToolContext,
    pub tools: ToolRegistry,
    knowledge: Arc<Knowledge>,
    pub witness: Arc<Witness>,
    pub screen: Arc<Screen>,
}

impl Fixture {
    /// A project with these files in it.
    pub fn with<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            put(&folder.path().join(path.trim_start_matches('/')), content.as_bytes());
        }
        let backend = bosun_backend::LocalShellBackend::open(folder.path(), Default::default()).unwrap();
        Self::over(Arc::new(backend), folder, BuiltinOptions::default())
    }

    /// A project whose files are had through scripts alone.
    pub async fn behind_an_executor<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let Self { folder, .. } = Self::with(files);
        let executor = bosun_backend::local_process(folder.path(), Default::default()).unwrap();
        let backend = bosun_backend::SandboxBackend::open(executor).await;
        Self::over(Arc::new(backend), folder, BuiltinOptions::default())
    }

    /// A project that is the folder `project` of another, which has these files in it.
    pub fn inside<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            put(&folder.path().join(path.trim_start_matches('/')), content.as_bytes());
        }
        let backend = bosun_backend::LocalShellBackend::open(&folder.path().join("project"), Default::default());
        Self::over(Arc::new(backend.unwrap()), folder, BuiltinOptions::default())
    }

    /// Tools over prepared answers.
    pub fn canned(canned: Canned) -> Self {
        Self::of(Arc::new(canned))
    }

    /// Tools over files that are in no folder.
    pub fn of(backend: Arc<dyn Backend>) -> Self {
        Self::over(backend, tempfile::tempdir().unwrap(), BuiltinOptions::default())
    }

    /// Tools over one file, `/a/log`, whose content the app's data folder has lost.
    pub async fn with_lost_content() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Arc::new(bosun_backend::BlobStore::open(folder.path()).unwrap());
        let files = bosun_backend::StateBackend::new([]).keeping_in(Some(blobs));
        let path = VirtualPath::parse("/a/log").unwrap();
        files.write(&path, vec![b'x'; 200_000], Expect::Absent, &Unwitnessed).await.unwrap();
        Self::of(Arc::new(files))
    }

    pub fn empty() -> Self {
        Self::with([])
    }

    fn over(backend: Arc<dyn Backend>, folder: tempfile::TempDir, options: BuiltinOptions) -> Self {
        let options = BuiltinOptions { subagents: cards(), ..options };
        let knowledge = Arc::new(Knowledge::default());
        let witness = Arc::new(Witness::default());
        let screen = Arc::new(Screen::default());
        let tools = ToolRegistry::new(builtin_tools(&*backend, options)).unwrap();
        let cx = ToolContext {
            call_id: CallId::new("call_1"),
            backend,
            state: Arc::clone(&knowledge) as Arc<dyn StateView>,
            witness: Arc::clone(&witness) as Arc<dyn ChangeWitness>,
            output: Arc::clone(&screen) as Arc<dyn OutputSink>,
            cancel: CancellationToken::new(),
            held: false,
            abilities: Abilities { images: true, documents: true, audio: true, video: true, reasoning: false },
            delegate: None,
        };
        Self { folder, cx, tools, knowledge, witness, screen }
    }

    /// The same project with other options.
    pub fn options(self, options: BuiltinOptions) -> Self {
        let Self { folder, cx, .. } = self;
        Self::over(cx.backend, folder, options)
    }

    /// The same project, and what is known of it, by way of another backend.
    pub fn behind(mut self, backend: Arc<dyn Backend>) -> Self {
        self.cx.backend = backend;
        self
    }

    pub fn delegate(mut self, delegate: impl Delegate + 'static) -> Self {
        self.cx.delegate = Some(Arc::new(delegate));
        self
    }

    /// Runs a call as the loop does; an error for the model is an error result.
    pub async fn run(&self, tool: &str, args: Value) -> ToolOutput {
        let output = match self.try_run(tool, args).await {
            Ok(output) => output,
            Err(ToolError::Model(text)) => ToolOutput::error(text),
            Err(error) => panic!("{tool}: {error:?}"),
        };
        self.knowledge.learn(&output.update);
        output
    }

    pub async fn try_run(&self, tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
        let tool = self.tools.get(tool).expect("the tool is offered");
        let args = tool.validate(&args).map_err(|error| ToolError::Model(error.to_string()))?;
        tool.call(&self.cx, args).await
    }

    /// The text of a call that works.
    pub async fn ok(&self, tool: &str, args: Value) -> String {
        let output = self.run(tool, args.clone()).await;
        let text = text_of(&output.content);
        assert!(!output.is_error, "{tool} {args}: {text}");
        text
    }

    /// The text of a call that fails.
    pub async fn err(&self, tool: &str, args: Value) -> String {
        let output = self.run(tool, args.clone()).await;
        let text = text_of(&output.content);
        assert!(output.is_error, "{tool} {args}: {text}");
        text
    }

    pub async fn preview(&self, tool: &str, args: Value) -> Preview {
        self.tools.get(tool).expect("the tool is offered").preview(&self.cx, &args).await
    }

    /// The sentence of a preview that says the call would fail.
    pub async fn problem(&self, tool: &str, args: Value) -> String {
        match self.preview(tool, args).await {
            Preview::Problem { message, .. } => message,
            other => panic!("no problem: {other:?}"),
        }
    }

    pub fn host(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        put(&self.host(path), content.as_ref());
    }

    pub fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.host(path)).unwrap()
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.host(path)).is_ok()
    }

    pub fn knows(&self, path: &str) -> bool {
        self.knowledge.read_stamp(&VirtualPath::parse(path).unwrap()).is_some()
    }
}

pub(crate) fn cards() -> Vec<SubagentCard> {
    vec![
        SubagentCard { name: "general-purpose".into(), description: "Anything with many steps.".into() },
        SubagentCard { name: "researcher".into(), description: "Reads and reports.".into() },
    ]
}

fn put(path: &std::path::Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// What the agent of a test has read.
#[derive(Default)]
struct Knowledge {
    reads: Mutex<HashMap<VirtualPath, FileStamp>>,
}

impl Knowledge {
    fn learn(&self, update: &StateUpdate) {
        let mut reads = self.reads.lock().unwrap();
        for (path, stamp) in &update.reads {
            match stamp {
                Some(stamp) => reads.insert(path.clone(), stamp.clone()),
                None => reads.remove(path),
            };
        }
    }
}

impl StateView for Knowledge {
    fn read_stamp(&self, path: &VirtualPath) -> Option<FileStamp> {
        self.reads.lock().unwrap().get(path).cloned()
    }

    fn reads(&self) -> Vec<(VirtualPath, FileStamp)> {
        self.reads.lock().unwrap().clone().into_iter().collect()
    }

    fn todos(&self) -> Vec<Todo> {
        Vec::new()
    }
}

/// Keeps what was intended; refuses everything where it is broken.
#[derive(Default)]
pub(crate) struct Witness {
    pub intended: Mutex<Vec<String>>,
    pub broken: std::sync::atomic::AtomicBool,
}

impl ChangeWitness for Witness {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            if self.broken.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(BackendError::NotRecorded { path: change.path, reason: "the disk is full".into() });
            }
            self.intended.lock().unwrap().push(change.path.to_string());
            Ok(())
        })
    }
}

/// Keeps what was shown while a command ran.
#[derive(Default)]
pub(crate) struct Screen {
    pub shown: Mutex<Vec<u8>>,
}

impl OutputSink for Screen {
    fn output(&self, bytes: &[u8]) {
        self.shown.lock().unwrap().extend_from_slice(bytes);
    }
}
