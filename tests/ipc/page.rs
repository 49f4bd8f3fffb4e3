use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bosun_backend::{BoxFuture, EditorCommand};
use bosun_desktop::{CoreParts, Desk, EnvironmentKeys, Question, Shell};
use bosun_protocol::Settings;
use bosun_store::{MemorySecrets, SecretStore};
use serde_json::{Value, json};
use tauri::ipc::{CallbackFn, InvokeBody, InvokeResponseBody};
use tauri::test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder};
use tauri::webview::InvokeRequest;
use tauri::{App, Manager, WebviewWindow, WebviewWindowBuilder};
use tempfile::TempDir;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A window with our commands behind it, without a screen.
pub struct Page {
    /// Held so that the app lives as long as the page.
    app: App<MockRuntime>,
    window: WebviewWindow<MockRuntime>,
    heard: Arc<Heard>,
    pub desk: TestDesk,
    _own: TempDir,
}

/// What came over channels.
#[derive(Default)]
struct Heard {
    messages: Mutex<Vec<(u32, Value)>>,
    news: Condvar,
}

/// What stands around the window in tests.
#[derive(Clone, Default)]
pub struct TestDesk {
    /// The folder that the person picks; none cancels.
    pub picks: Arc<Mutex<Option<PathBuf>>>,
    pub opened: Arc<Mutex<Vec<String>>>,
    /// Whether the person says no to what is asked in dialogs of the system.
    pub refuses: Arc<AtomicBool>,
    /// What was asked there.
    pub asked: Arc<Mutex<Vec<String>>>,
}

impl Desk for TestDesk {
    fn pick_folder<'a>(&'a self, _title: &'a str) -> BoxFuture<'a, Option<PathBuf>> {
        let picked = self.picks.lock().unwrap().clone();
        Box::pin(async move { picked })
    }

    fn confirm(&self, question: Question) -> BoxFuture<'_, bool> {
        self.asked.lock().unwrap().push(question.text);
        let answer = !self.refuses.load(Ordering::SeqCst);
        Box::pin(async move { answer })
    }

    fn show_folder(&self, path: &Path) -> Result<(), String> {
        self.opened.lock().unwrap().push(path.to_string_lossy().into_owned());
        Ok(())
    }

    fn open_file(&self, path: &Path) -> Result<(), String> {
        self.opened.lock().unwrap().push(format!("system {}", path.display()));
        Ok(())
    }

    fn open_in_editor(&self, _editor: &EditorCommand, path: &Path, line: u32) -> Result<(), String> {
        self.opened.lock().unwrap().push(format!("editor {}:{line}", path.display()));
        Ok(())
    }

    fn open_link(&self, url: &str) -> Result<(), String> {
        self.opened.lock().unwrap().push(url.to_owned());
        Ok(())
    }
}

/// How a page is set up.
pub struct Plan {
    data: Option<PathBuf>,
    keyring: Arc<dyn SecretStore>,
    environment: EnvironmentKeys,
    label: &'static str,
    defaults: Settings,
}

impl Plan {
    pub fn data(mut self, folder: &Path) -> Self {
        self.data = Some(folder.to_owned());
        self
    }

    pub fn keyring(mut self, keyring: Arc<dyn SecretStore>) -> Self {
        self.keyring = keyring;
        self
    }

    pub fn key(mut self, variable: &str, key: &str) -> Self {
        self.environment = self.environment.with(variable, key);
        self
    }

    pub fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    pub fn defaults(mut self, defaults: Settings) -> Self {
        self.defaults = defaults;
        self
    }

    pub fn open(self) -> Page {
        let own = tempfile::tempdir().unwrap();
        let data = self.data.unwrap_or_else(|| own.path().join("data"));
        let (desk, heard) = (TestDesk::default(), Arc::new(Heard::default()));
        let ears = Arc::clone(&heard);
        let app = mock_builder()
            .channel_interceptor(move |_, CallbackFn(channel), _, body| {
                ears.hear(channel, body);
                true
            })
            .invoke_handler(bosun_desktop::handler())
            .build(bosun_desktop::context())
            .unwrap();
        let parts = CoreParts {
            folder: Some(data),
            keyring: self.keyring,
            environment: self.environment,
            defaults: self.defaults,
        };
        app.manage(Arc::new(Shell::new(parts, desk.clone())));
        let window = WebviewWindowBuilder::new(&app, self.label, tauri::WebviewUrl::default());
        // Where none is named, Tauri makes one in the home folder of whoever runs the tests.
        let window = window.data_directory(own.path().join("webview")).build().unwrap();
        Page { app, window, heard, desk, _own: own }
    }
}

impl Heard {
    fn hear(&self, channel: u32, body: &InvokeResponseBody) {
        let InvokeResponseBody::Json(text) = body else { panic!("a channel carried bytes") };
        self.messages.lock().unwrap().push((channel, serde_json::from_str(text).unwrap()));
        self.news.notify_all();
    }
}

impl Page {
    pub fn plan() -> Plan {
        Plan {
            data: None,
            keyring: Arc::new(MemorySecrets::default()),
            environment: EnvironmentKeys::default(),
            label: "main",
            defaults: Settings::default(),
        }
    }

    pub fn open() -> Self {
        Self::plan().open()
    }

    /// Calls a command; the error is whatever the promise would reject with.
    pub fn call(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        self.call_from("tauri://localhost", command, arguments)
    }

    pub fn call_from(&self, url: &str, command: &str, arguments: Value) -> Result<Value, Value> {
        let request = InvokeRequest {
            cmd: command.to_owned(),
            callback: CallbackFn(0),
            error: CallbackFn(1),
            url: url.parse().unwrap(),
            body: InvokeBody::Json(arguments),
            headers: tauri::http::HeaderMap::default(),
            invoke_key: INVOKE_KEY.to_owned(),
        };
        get_ipc_response(&self.window, request).map(|body| body.deserialize().unwrap())
    }

    pub fn ok(&self, command: &str, arguments: Value) -> Value {
        self.call(command, arguments).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// The code of the error that a command must end in. Its message is a sentence.
    pub fn refused(&self, command: &str, arguments: Value) -> String {
        let error = self.call(command, arguments).expect_err(command);
        let message = error["message"].as_str().unwrap_or_else(|| panic!("{command}: no message in {error}"));
        assert!((10..2_500).contains(&message.len()), "{command}: {message}");
        error["code"].as_str().unwrap().to_owned()
    }

    /// Everything that came over `channel` so far, array by array.
    pub fn heard(&self, channel: u32) -> Vec<Value> {
        let messages = self.heard.messages.lock().unwrap();
        messages.iter().filter(|(from, _)| *from == channel).map(|(_, message)| message.clone()).collect()
    }

    /// Waits for anything over `channel`.
    pub fn wait_for_news(&self, channel: u32) {
        let has_none = |messages: &mut Vec<(u32, Value)>| messages.iter().all(|(from, _)| *from != channel);
        let messages = self.heard.messages.lock().unwrap();
        let (mut messages, _) = self.heard.news.wait_timeout_while(messages, PATIENCE, has_none).unwrap();
        assert!(!has_none(&mut messages), "nothing came over channel {channel}");
    }

    /// Waits for an element of an array over `channel` that `wanted` finds something in.
    pub fn wait_for<T>(&self, channel: u32, wanted: impl Fn(&Value) -> Option<T>) -> T {
        let found = |messages: &[(u32, Value)]| {
            let arrays = messages.iter().filter(|(from, _)| *from == channel).filter_map(|(_, array)| array.as_array());
            arrays.flatten().find_map(&wanted)
        };
        let messages = self.heard.messages.lock().unwrap();
        let waiting = self.heard.news.wait_timeout_while(messages, PATIENCE, |messages| found(messages).is_none());
        let (messages, _) = waiting.unwrap();
        found(&messages).unwrap_or_else(|| panic!("it did not come; channel {channel} brought {:#?}", *messages))
    }

    /// Waits for an event of this type.
    pub fn wait_for_event(&self, channel: u32, kind: &str) -> Value {
        self.wait_for(channel, |envelope| (envelope["event"]["type"] == kind).then(|| envelope["event"].clone()))
    }

    /// Picks `folder` in the dialog; the id of the project.
    pub fn project(&self, folder: &Path) -> Value {
        *self.desk.picks.lock().unwrap() = Some(folder.to_owned());
        self.ok("pick_project", json!({}))["id"].clone()
    }

    /// The projects that are listed.
    pub fn projects(&self) -> Vec<Value> {
        let listed = self.ok("subscribe_projects", json!({ "channel": "__CHANNEL__:99" }));
        listed.as_array().unwrap().clone()
    }

    /// Opens `folder` and begins a session with the model `name` of the server at `base_url`; its id.
    pub fn session(&self, folder: &Path, base_url: &str, name: &str) -> String {
        let form = json!({ "id": null, "label": "Test", "family": "openai_chat", "chosen": false, "base_url": base_url, "key": null });
        let provider = self.ok("save_provider", json!({ "provider": form }))["id"].clone();
        let project = self.project(folder);
        let model = json!({ "provider": provider, "name": name });
        let session = self.ok("create_session", json!({ "project": project, "model": model }));
        session["id"].as_str().unwrap().to_owned()
    }

    pub fn subscribe(&self, session: &str, channel: u32) -> Value {
        let asked = json!({ "session": session, "channel": format!("__CHANNEL__:{channel}") });
        self.ok("subscribe_session", asked)["snapshot"].take()
    }

    /// Ends the app as closing its window does.
    pub fn close(self) {
        let shell = Arc::clone(&self.app.state::<Arc<Shell>>());
        tauri::async_runtime::block_on(shell.close());
    }
}
