//! The values of variables and headers: in the keyring, and in the text as long as no keyring takes them.
#![allow(clippy::disallowed_methods, reason = "tests look at the files that are kept")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bosun_agent::BoxFuture;
use bosun_model::ChatRequest;
use bosun_protocol::{
    AdditionChange, AdditionKind, HookForm, HookPoint, Problem, SecretField, ServerForm, ServerHealth, ServerReach,
};
use bosun_store::{Keys, MemorySecrets, SecretError, SecretStore};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use secrecy::SecretString;

use super::forms::{changed, field, hook, staged};
use super::stage::Stage;

const TOKEN: &str = "canary-of-the-variable";

fn nothing(_: &ChatRequest) -> Reply {
    Reply::text("nothing")
}

/// A program that writes down what it was given, and is no server.
fn teller(args: &str, env: Vec<SecretField>) -> ServerForm {
    let script = format!("echo \"$TOKEN $MODE\" > seen # {args}");
    let reach = ServerReach::Program { command: "sh".into(), args: vec!["-c".into(), script], env };
    ServerForm { name: "teller".into(), enabled: true, reach }
}

fn put(was: Option<&str>, server: ServerForm) -> AdditionChange {
    AdditionChange::Server { was: was.map(Into::into), server }
}

/// What the program was given.
async fn seen(stage: &Stage, server: &str) -> String {
    stage.sessions.check_server(Some(&stage.project_id), server).await.unwrap();
    stage.project.read("seen")
}

/// The files of the data folder that hold the token.
fn holders(stage: &Stage) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(stage.data.path()).unwrap().flatten().map(|file| file.path());
    let holds =
        |path: &std::path::Path| std::fs::read(path).unwrap().windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes());
    files.filter(|path| path.is_file() && holds(path)).collect()
}

async fn text(stage: &Stage) -> String {
    stage.sessions.additions().await.unwrap().text
}

#[tokio::test]
async fn what_a_variable_holds_is_in_the_keyring_alone_and_reaches_its_program() {
    let keyring = Arc::new(MemorySecrets::default());
    let stage = staged(&keyring).await;
    let given = vec![field("TOKEN", Some(TOKEN)), field("MODE", Some("quiet")), field("NOTHING", Some(""))];
    let change = put(None, teller("one", given));
    // Whoever says yes sees what may make the program another, and no key.
    let begun = stage.sessions.begun_by(&change).await.unwrap();
    assert!(begun.contains("MODE = \"quiet\"") && begun.contains("TOKEN = \"…\""), "{begun}");
    changed(&stage, change).await.unwrap();
    assert_eq!(seen(&stage, "teller").await, format!("{TOKEN} quiet\n"));
    let shown = vec![field("NOTHING", Some("")), field("TOKEN", None), field("MODE", None)];
    assert_eq!(stage.sessions.addition_forms().await.unwrap().servers, [teller("one", shown.clone())]);
    assert_eq!(holders(&stage), Vec::<std::path::PathBuf>::new());

    // It goes along with other arguments and another name, and one that changes is shown before.
    changed(&stage, put(Some("teller"), teller("two", shown.clone()))).await.unwrap();
    assert_eq!(seen(&stage, "teller").await, format!("{TOKEN} quiet\n"));
    let loud = vec![field("TOKEN", None), field("MODE", Some("loud"))];
    let change = put(Some("teller"), ServerForm { name: "crier".into(), ..teller("two", loud) });
    assert!(stage.sessions.begun_by(&change).await.unwrap().contains("MODE = \"loud\""));
    changed(&stage, change).await.unwrap();
    assert_eq!(seen(&stage, "crier").await, format!("{TOKEN} loud\n"));
    let unknown = put(Some("crier"), teller("two", vec![field("OTHER", None)]));
    let refused = changed(&stage, unknown).await.unwrap_err();
    assert_eq!(refused.problem, Problem::VariableMissing { variable: "OTHER".into() });

    // Another program under the same name and with the same variable gets nothing, and says so.
    let evil = text(&stage).await.replace("# two", "# evil").replace("crier", "evil");
    stage.sessions.add(bosun_harness::Extras::parse(&evil).unwrap(), Vec::new()).await.unwrap();
    let session = stage.session().await;
    stage.sessions.send(&session, "hello".into()).await.unwrap();
    stage.sessions.quiet(&session).await.unwrap();
    let health = stage.sessions.server_views(&session).await.unwrap().remove(0).health;
    assert_eq!(health, ServerHealth::Failed { why: Problem::VariableMissing { variable: "TOKEN".into() } });

    // What is removed leaves nothing behind, and comes back whole.
    let remove = AdditionChange::Remove { addition: AdditionKind::Server, name: "crier".into() };
    let id = changed(&stage, remove).await.unwrap().unwrap();
    assert!(!format!("{:?}", stage.database.setting::<Vec<String>>("keys_in_keyring").await.unwrap()).contains("env:"));
    changed(&stage, AdditionChange::BringBack { id }).await.unwrap();
    assert_eq!(seen(&stage, "crier").await, format!("{TOKEN} loud\n"));
}

#[tokio::test]
async fn a_hook_has_its_variables_from_the_keyring_too_and_does_not_show_them() {
    let keyring = Arc::new(MemorySecrets::default());
    let stage = staged(&keyring).await;
    let form = HookForm {
        command: "sh".into(),
        args: vec!["-c".into(), "echo \"$TOKEN\"; echo \"$TOKEN\" > seen".into()],
        env: vec![field("TOKEN", Some(TOKEN))],
        ..hook("bell", HookPoint::TurnEnd)
    };
    changed(&stage, AdditionChange::Hook { was: None, hook: form.clone() }).await.unwrap();
    let shown = HookForm { env: vec![field("TOKEN", None)], ..form };
    assert_eq!(stage.sessions.addition_forms().await.unwrap().hooks, std::slice::from_ref(&shown));
    let renamed = HookForm { name: "chime".into(), ..shown };
    changed(&stage, AdditionChange::Hook { was: Some("bell".into()), hook: renamed }).await.unwrap();
    let trial = stage.sessions.try_hook(Some(&stage.project_id), "chime").await.unwrap();
    assert_eq!(trial.stdout, "[redacted]\n");
    assert_eq!(stage.project.read("seen"), format!("{TOKEN}\n"));
    assert_eq!(holders(&stage), Vec::<std::path::PathBuf>::new());
}

/// A text may say anything; what it changes of a program takes the values along, and what it leaves out is forgotten.
#[tokio::test]
async fn a_text_that_changes_keeps_the_values_of_what_stays_and_forgets_the_others() {
    let keyring = Arc::new(MemorySecrets::default());
    let stage = staged(&keyring).await;
    let given = vec![field("TOKEN", Some(TOKEN)), field("MODE", Some("quiet"))];
    changed(&stage, put(None, teller("one", given))).await.unwrap();
    let other = text(&stage).await.replace("# one", "# two");
    stage.sessions.save_additions(&other).await.unwrap();
    assert_eq!(seen(&stage, "teller").await, format!("{TOKEN} quiet\n"));
    stage.sessions.save_additions("").await.unwrap();
    stage.sessions.save_additions(&other).await.unwrap();
    let health = stage.sessions.check_server(None, "teller").await.unwrap().health;
    assert_eq!(health, ServerHealth::Failed { why: Problem::VariableMissing { variable: "TOKEN".into() } });
}

/// A keyring that is there or not.
struct Switched {
    keyring: MemorySecrets,
    on: AtomicBool,
}

impl Switched {
    fn of<T: Send>(&self, value: T) -> Result<T, SecretError> {
        if self.on.load(Ordering::SeqCst) { Ok(value) } else { Err(SecretError::Locked) }
    }
}

impl SecretStore for Switched {
    fn get<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>> {
        Box::pin(async move { self.of(self.keyring.get(account, host).await?) })
    }

    fn set<'a>(
        &'a self,
        account: &'a str,
        host: &'a str,
        secret: SecretString,
    ) -> BoxFuture<'a, Result<(), SecretError>> {
        Box::pin(async move {
            self.of(())?;
            self.keyring.set(account, host, secret).await
        })
    }

    fn remove<'a>(&'a self, account: &'a str, host: &'a str) -> BoxFuture<'a, Result<(), SecretError>> {
        Box::pin(async move {
            self.of(())?;
            self.keyring.remove(account, host).await
        })
    }
}

/// As versions before this one left them.
#[tokio::test]
async fn values_in_the_database_move_to_the_keyring_once_it_takes_them() {
    let keyring = Arc::new(Switched { keyring: MemorySecrets::default(), on: AtomicBool::new(false) });
    let stage = Stage::new(nothing).await;
    let keep = |stage: &Stage| {
        let keyring = Arc::clone(&keyring) as Arc<dyn SecretStore>;
        stage.sessions.keep_sign_ins(Arc::new(Keys::new(keyring, Some(Arc::clone(&stage.database)))));
    };
    keep(&stage);
    let old = format!(
        "# ours\n[mcp.teller]\ncommand = \"sh\"\nargs = [\"-c\", \"echo $TOKEN $MODE > seen\"]\n\
         env = {{ MODE = \"quiet\", TOKEN = \"{TOKEN}\" }}\n\n[mcp.web]\nurl = \"https://mcp.example.com\"\n\
         headers = {{ Authorization = \"{TOKEN}\" }}\nenabled = false\n\n[[hooks]]\nname = \"bell\"\npoint = \"turn_end\"\n\
         command = \"sh\"\nargs = [\"-c\", \"echo $TOKEN > rung\"]\nenv = {{ TOKEN = \"{TOKEN}\" }}\n"
    );
    stage.database.set_setting("additions", &old).await.unwrap();
    stage.sessions.load_additions(Vec::new()).await.unwrap();
    stage.sessions.move_values().await.unwrap();
    assert_eq!(text(&stage).await, old);
    let forms = stage.sessions.addition_forms().await.unwrap();
    let ServerReach::Program { env, .. } = &forms.servers[0].reach else { panic!("{forms:?}") };
    let in_database = |name: &str| SecretField { in_database: true, ..field(name, None) };
    assert_eq!(*env, [in_database("MODE"), in_database("TOKEN")]);
    assert_eq!(forms.hooks[0].env, [in_database("TOKEN")]);
    assert_eq!(seen(&stage, "teller").await, format!("{TOKEN} quiet\n"));

    // What is entered meanwhile is good for this run, and is not written down.
    let mut form = forms.servers[0].clone();
    let ServerReach::Program { env, .. } = &mut form.reach else { panic!("{form:?}") };
    env[0] = field("MODE", Some("canary-of-this-run"));
    changed(&stage, put(Some("teller"), form)).await.unwrap();
    assert_eq!(seen(&stage, "teller").await, format!("{TOKEN} canary-of-this-run\n"));
    assert!(!text(&stage).await.contains("canary-of-this-run") && text(&stage).await.contains(TOKEN));

    keyring.on.store(true, Ordering::SeqCst);
    let stage = stage.restarted(nothing).await;
    keep(&stage);
    stage.sessions.load_additions(Vec::new()).await.unwrap();
    stage.sessions.move_values().await.unwrap();
    let text = text(&stage).await;
    assert!(text.starts_with("# ours\n") && text.contains("secret_headers = [\"Authorization\"]"), "{text}");
    assert_eq!(holders(&stage), Vec::<std::path::PathBuf>::new());
    stage.sessions.try_hook(Some(&stage.project_id), "bell").await.unwrap();
    assert_eq!(stage.project.read("rung"), format!("{TOKEN}\n"));
    let health = stage.sessions.check_server(None, "teller").await.unwrap().health;
    let missing = Problem::VariableMissing { variable: "MODE".into() };
    assert_eq!(health, ServerHealth::Failed { why: missing }, "what was good for the run before");
}
