use std::collections::HashMap;
use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;
use crate::client::Reach;
use crate::endpoint::Endpoint;
use crate::network::Network;
use crate::origin::Origin;
use crate::preset::preset;
use crate::saved::SavedAccount;
use crate::{AccountChange, ProviderConfig};

/// A cloud with these variables and a home folder that has these files.
fn cloud(variables: &[(&str, &str)], home: &Path, files: &[(&str, &str)]) -> Cloud {
    for (path, text) in files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut known: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    known.insert("HOME".to_owned(), home.to_str().unwrap().to_owned());
    Cloud::new(move |name| known.get(name).cloned())
}

fn of_preset(id: &str) -> Account {
    Account::of_preset(preset(id).unwrap())
}

#[test]
fn keys_come_from_the_environment_before_the_profile_that_is_named() {
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".aws/credentials", "[default]\naws_access_key_id=AKIADEFAULT\naws_secret_access_key=s1\n"),
        (
            ".aws/config",
            "[default]\nregion=eu-west-1\n[profile work]\nregion=us-west-2\naws_access_key_id=ASIAWORK\n\
             aws_secret_access_key=s2\naws_session_token=t2\n[profile corp]\nsso_session=c\n",
        ),
    ];
    let both = [("AWS_ACCESS_KEY_ID", "AKIAENV"), ("AWS_SECRET_ACCESS_KEY", "s0"), ("AWS_PROFILE", "work")];
    let keys = |cloud: &Cloud| match aws::find(cloud) {
        Ok(aws::Found::Here(keys)) => Ok(keys),
        Ok(aws::Found::There(_)) => panic!("a program has them"),
        Err(trouble) => Err(trouble),
    };
    assert_eq!(keys(&cloud(&both, home.path(), &files)).unwrap().id, "AKIAENV");
    let work = cloud(&[("AWS_PROFILE", "work")], home.path(), &[]);
    let of_work = keys(&work).unwrap();
    assert!(
        of_work.id == "ASIAWORK" && of_work.session.is_some() && of_work.source.starts_with("profile work ("),
        "{}",
        of_work.source
    );
    let default = cloud(&[], home.path(), &[]);
    assert_eq!(keys(&default).unwrap().id, "AKIADEFAULT");
    assert_eq!(default.placed(of_preset("bedrock")).base_url, "https://bedrock-runtime.eu-west-1.amazonaws.com");
    assert_eq!(work.placed(of_preset("bedrock")).host(), "bedrock-runtime.us-west-2.amazonaws.com");
    let moved = of_preset("bedrock").moved_to("https://bedrock-runtime.sa-east-1.amazonaws.com");
    assert_eq!(work.placed(moved.clone()), moved, "what the user said stays");
    let corp = keys(&cloud(&[("AWS_PROFILE", "corp")], home.path(), &[])).err().unwrap().to_string();
    assert!(corp.contains("signs in with SSO") && corp.contains("aws sso login --profile corp"), "{corp}");
    let nobody = keys(&cloud(&[("AWS_PROFILE", "nobody")], home.path(), &[])).err().unwrap().to_string();
    assert!(nobody.contains("no AWS credentials") && nobody.contains("nobody"), "{nobody}");
}

#[test]
fn googles_file_names_its_project_and_the_place_comes_from_variables() {
    let home = tempfile::tempdir().unwrap();
    let adc = ".config/gcloud/application_default_credentials.json";
    let cloud = |variables: &[(&str, &str)]| {
        cloud(variables, home.path(), &[(adc, r#"{"type":"authorized_user","quota_project_id":"of-the-file"}"#)])
    };
    assert_eq!(cloud(&[]).project().as_deref(), Some("of-the-file"));
    let set = cloud(&[("GOOGLE_CLOUD_PROJECT", "set"), ("GOOGLE_CLOUD_LOCATION", "europe-west1")]);
    assert_eq!(set.project().as_deref(), Some("set"));
    assert_eq!(set.placed(of_preset("vertex")).base_url, "https://europe-west1-aiplatform.googleapis.com");
    for place in ["us", "eu"] {
        let placed = cloud(&[("GOOGLE_CLOUD_LOCATION", place)]).placed(of_preset("vertex"));
        assert_eq!(placed.base_url, format!("https://aiplatform.{place}.rep.googleapis.com"));
    }
    assert_eq!(cloud(&[("CLOUD_ML_REGION", "global")]).placed(of_preset("vertex")), of_preset("vertex"));
    assert_eq!(cloud(&[("GOOGLE_CLOUD_PROJECT", "../x")]).project(), None, "no path of another address");
    let gone = cloud(&[("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere.json")]);
    assert!(google::file(&gone).err().unwrap().to_string().contains("/nowhere.json"));
}

#[test]
fn credentials_go_to_their_clouds_own_hosts_only() {
    let home = tempfile::tempdir().unwrap();
    let keys = [("AWS_ACCESS_KEY_ID", "AKIAENV"), ("AWS_SECRET_ACCESS_KEY", "s0")];
    let cloud = cloud(&keys, home.path(), &[]);
    let away = of_preset("bedrock").moved_to("https://gate.example");
    assert_eq!(cloud.source(&of_preset("bedrock")).as_deref(), Some("AWS_ACCESS_KEY_ID"));
    assert_eq!(cloud.source(&away), None);
    assert!(cloud.clone().at_any_host().source(&away).is_some());
    assert_eq!(cloud.source(&of_preset("anthropic")), None);
    assert!(!format!("{cloud:?}").contains("AKIA"));
}

/// What programs were asked, and a cloud whose programs answer with `answer`.
type Asked = Arc<std::sync::Mutex<Vec<Vec<String>>>>;

fn asking(cloud: Cloud, answer: impl Fn(&str) -> CredentialAnswer + Send + Sync + 'static) -> (Cloud, Asked) {
    let asked = Asked::default();
    let all = Arc::clone(&asked);
    let run = move |program: String, args: Vec<String>, _: Duration| {
        let answered = answer(&program);
        all.lock().unwrap().push([vec![program], args].concat());
        std::future::ready(answered)
    };
    (cloud.asking(run), asked)
}

fn printed(id: &str, end: Option<&str>) -> CredentialAnswer {
    let credentials = serde_json::json!({
        "Version": 1, "AccessKeyId": id, "SecretAccessKey": "s", "SessionToken": "t", "Expiration": end,
    });
    Ok(Ok(credentials.to_string().into_bytes()))
}

fn complaint(said: &str) -> CredentialAnswer {
    Ok(Err(format!("\n{said}\n")))
}

async fn keys_of(cloud: &Cloud) -> Result<aws::Keys, String> {
    match aws::find(cloud) {
        Ok(found) => found.keys().await.map(|(keys, _)| keys).map_err(|trouble| trouble.to_string()),
        Err(trouble) => Err(trouble.to_string()),
    }
}

#[tokio::test]
async fn a_profile_that_signs_in_or_takes_on_a_role_gets_its_keys_from_awss_program_until_they_end() {
    let home = tempfile::tempdir().unwrap();
    let config = "[profile test-sso]\nsso_session=c\n[profile test-role]\nrole_arn=arn:x\nsource_profile=test-sso\n";
    let files = [(".aws/config", config)];
    for (profile, end, times) in
        [("test-sso", Some("2999-01-01T00:00:00Z"), 1), ("test-role", Some("2999-01-01T00:00:00+00:00"), 1)]
    {
        let cloud = cloud(&[("AWS_PROFILE", profile)], home.path(), &files);
        let (cloud, asked) = asking(cloud, move |_| printed("ASIALENT", end));
        for _ in 0..2 {
            let keys = keys_of(&cloud).await.unwrap();
            assert!(keys.id == "ASIALENT" && keys.session.is_some(), "{profile}");
        }
        let words = ["aws", "configure", "export-credentials", "--format", "process", "--profile", profile];
        assert_eq!(*asked.lock().unwrap(), vec![words.map(str::to_owned).to_vec(); times]);
        assert!(cloud.source(&of_preset("bedrock")).unwrap().starts_with(&format!("profile {profile} (")));
    }
}

#[tokio::test]
async fn a_program_that_a_profile_names_is_run_and_its_keys_are_asked_for_again_before_they_end() {
    let home = tempfile::tempdir().unwrap();
    let line = "credential_process = \"/opt/my vault/get\" --for test-own";
    let files = [(".aws/config", &*format!("[profile test-own]\n{line}\n"))];
    let cloud = cloud(&[("AWS_PROFILE", "test-own")], home.path(), &files);
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(60);
    let soon = soon.to_string();
    let (cloud, asked) = asking(cloud, move |_| printed("ASIAOWN", Some(&soon)));
    for _ in 0..2 {
        assert_eq!(keys_of(&cloud).await.unwrap().id, "ASIAOWN");
    }
    assert_eq!(*asked.lock().unwrap(), vec![["/opt/my vault/get", "--for", "test-own"].map(str::to_owned).to_vec(); 2]);
}

/// A program that gives out another key each time.
fn turning(cloud: Cloud) -> (Cloud, Asked) {
    let times = std::sync::atomic::AtomicUsize::new(0);
    asking(cloud, move |_| {
        let time = times.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        printed(&format!("ASIA{time}"), Some("2999-01-01T00:00:00Z"))
    })
}

#[tokio::test]
async fn keys_of_a_profile_that_was_changed_are_not_used_again() {
    let home = tempfile::tempdir().unwrap();
    let config = |account: u8| {
        let config = format!(
            "[profile test-changed]\nsso_session=corp\nsso_account_id={account}\n[sso-session corp]\nsso_region=x\n"
        );
        cloud(&[("AWS_PROFILE", "test-changed")], home.path(), &[(".aws/config", &*config)])
    };
    let (cloud, asked) = turning(config(1));
    let id = async || keys_of(&cloud).await.unwrap().id;
    assert_eq!((id().await, id().await), ("ASIA0".to_owned(), "ASIA0".to_owned()));
    config(2);
    assert_eq!((id().await, id().await), ("ASIA1".to_owned(), "ASIA1".to_owned()));
    std::fs::write(home.path().join(".aws/credentials"), "[default]\naws_session_token=t\n").unwrap();
    assert_eq!(id().await, "ASIA2", "a role may lean on it");
    assert_eq!(asked.lock().unwrap().len(), 3);
}

/// A server at AWS's place that takes `taken` alone; gives its address, and the ids of the keys it was asked with.
fn taking(taken: &'static str) -> (String, Arc<std::sync::Mutex<Vec<String>>>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let heard = Arc::<std::sync::Mutex<Vec<String>>>::default();
    let ears = Arc::clone(&heard);
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let id = head.split_once("Credential=").and_then(|(_, rest)| rest.split('/').next()).unwrap_or_default();
            ears.lock().unwrap().push(id.to_owned());
            let (status, body) = match id == taken {
                true => ("200 OK", r#"{"is":"taken"}"#),
                false => ("403 Forbidden", r#"{"message":"The security token included in the request is expired"}"#),
            };
            let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes()).ok();
        }
    });
    (address, heard)
}

async fn asked_at(address: &str, cloud: &Cloud) -> Result<Vec<u8>, bosun_model::ModelError> {
    let config =
        crate::ProviderConfig::new("bedrock", Family::Bedrock, address).with_cloud(cloud.clone().at_any_host());
    crate::connection::Connection::new(&config, "m", None).unwrap().get("x", None, 1_000).await
}

/// A person who signs out, or whose rights were changed, would wait for hours else.
#[tokio::test]
async fn kept_keys_that_the_service_refuses_are_asked_for_anew_once() {
    let home = tempfile::tempdir().unwrap();
    let files = [(".aws/config", "[profile test-refused]\nsso_session=c\n")];
    let (cloud, asked) = turning(cloud(&[("AWS_PROFILE", "test-refused")], home.path(), &files));
    let heard = |heard: &Arc<std::sync::Mutex<Vec<String>>>| std::mem::take(&mut *heard.lock().unwrap());

    let (all, first) = taking("ASIA0");
    assert!(asked_at(&all, &cloud).await.is_ok());
    assert_eq!(heard(&first), ["ASIA0"]);

    let (newer, then) = taking("ASIA1");
    assert!(asked_at(&newer, &cloud).await.is_ok(), "with the newer one");
    assert_eq!(heard(&then), ["ASIA0", "ASIA1"]);

    // Once: who refuses the newer ones too is believed, and keys that are new are not asked for again.
    let (never, at_last) = taking("nobody's");
    let error = asked_at(&never, &cloud).await.unwrap_err();
    assert!(error.message.contains("is expired") && error.status == Some(403), "{error}");
    assert_eq!(heard(&at_last), ["ASIA1", "ASIA2"]);
    assert_eq!(asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn why_a_program_gives_no_keys_is_told_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let config = "[profile test-a]\nsso_start_url=u\n[profile test-b]\ncredential_process=get it\n\
                  [profile test-c]\nlogin_session=s\n[profile test-d]\nrole_arn=r\n";
    let files = [(".aws/config", config)];
    let told = async |profile: &str, answer: fn(&str) -> CredentialAnswer| {
        let (cloud, _) = asking(cloud(&[("AWS_PROFILE", profile)], home.path(), &files), answer);
        let told = keys_of(&cloud).await.err().unwrap();
        assert!(!told.contains("canary"), "{told}");
        told
    };
    let ended = told("test-a", |_| complaint("Error loading SSO Token: Token for c does not exist")).await;
    assert!(ended.contains("run `aws sso login --profile test-a`"), "{ended}");
    let ended = told("test-c", |_| complaint("Please reauthenticate using 'aws login'.")).await;
    assert!(ended.contains("run `aws login --profile test-c`"), "{ended}");
    let missing = told("test-a", |_| Err(std::io::Error::other("no such file"))).await;
    assert!(missing.contains("install it and run `aws sso login --profile test-a`"), "{missing}");
    let missing = told("test-d", |_| Err(std::io::Error::other("no such file"))).await;
    assert!(missing.contains("assumes a role") && missing.contains("install"), "{missing}");
    let refused = told("test-d", |_| complaint("An error occurred (AccessDenied) when calling AssumeRole")).await;
    assert!(refused.contains("gave no keys") && refused.contains("AccessDenied"), "{refused}");
    let gone = told("test-b", |_| Err(std::io::Error::other("no such file"))).await;
    assert!(gone.contains("no such file"), "{gone}");
    let odd = |_: &str| Ok(Ok(b"canary".to_vec()));
    assert!(told("test-b", odd).await.contains("no credentials"));
    assert!(told("test-b", |_| printed("A", Some("2001-01-01T00:00:00Z"))).await.contains("have run out"));
}

#[tokio::test]
async fn what_signs_a_request_is_in_no_error_about_it() {
    let home = tempfile::tempdir().unwrap();
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "canary/secret"),
        ("AWS_SESSION_TOKEN", "canary+session"),
    ];
    let url = "https://bedrock-runtime.us-east-1.amazonaws.com";
    let config = ProviderConfig::new("bedrock", Family::Bedrock, url).with_cloud(cloud(&keys, home.path(), &[]));
    let endpoint = Endpoint::parse("bedrock", Family::Bedrock, url).unwrap();
    let origin = Origin::new(&config, &endpoint);
    let mut request = reqwest::Request::new(reqwest::Method::POST, url.parse().unwrap());
    Signer::of(&config, &endpoint).sign(&mut request, &origin, &Reach::new(Network::default(), None)).await.unwrap();
    assert_eq!(request.headers()["x-amz-security-token"], "canary+session");
    let echoed =
        "The Canonical String was 'host:bedrock x-amz-security-token:canary+session', the secret canary/secret";
    assert!(!origin.clean(echoed).contains("canary"), "{}", origin.clean(echoed));
    assert!(!crate::redact::Redactor::default().redact("x-amz-security-token:IQoJb3JpZ2luX2VjEJr").contains("IQoJ"));
}

/// As its own tools do, where the person chose no address here.
#[test]
fn ollama_is_asked_where_its_variable_says() {
    let cloud = Cloud::new(|name| (name == "OLLAMA_HOST").then(|| "gpu-box:11500".to_owned()));
    let ollama = || Account::of_preset(crate::preset("ollama").unwrap());
    assert_eq!(cloud.placed(ollama()).base_url, "http://gpu-box:11500");
    let chosen = ollama().moved_to("http://10.0.0.7:11434");
    assert_eq!(cloud.placed(chosen.clone()), chosen);
    assert_eq!(Cloud::new(|_| None).placed(ollama()), ollama());
    // Whoever chose the place that it would have anyway has chosen.
    let at = |saved: Vec<SavedAccount>| {
        Account::all(saved, &cloud).into_iter().find(|account| account.id == "ollama").unwrap().base_url
    };
    assert_eq!(at(vec![ollama().to_saved(&cloud)]), ollama().base_url);
    assert_eq!(at(Vec::new()), "http://gpu-box:11500");
}

/// Another name chooses no address.
#[test]
fn what_is_only_called_something_else_goes_on_being_asked_where_variables_say() {
    let renamed =
        |account: &Account| AccountChange { label: Some("Box"), ..AccountChange::default() }.of(account).unwrap();
    for (id, variable, one, other, host) in [
        ("ollama", "OLLAMA_HOST", "gpu-box:11500", "new-box:11500", "new-box:11500"),
        ("bedrock", "AWS_REGION", "eu-west-1", "us-west-2", "bedrock-runtime.us-west-2.amazonaws.com"),
        ("vertex", "GOOGLE_CLOUD_LOCATION", "us", "eu", "aiplatform.eu.rep.googleapis.com"),
    ] {
        let at =
            |value: Option<&'static str>| Cloud::new(move |name| value.filter(|_| name == variable).map(str::to_owned));
        let preset = || Account::of_preset(crate::preset(id).unwrap());
        for before in [None, Some(one)] {
            let account = renamed(&at(before).placed(preset()));
            let saved = account.to_saved(&at(before));
            let read = |cloud: Cloud| Account::saved(saved.clone(), &cloud).unwrap();
            assert_eq!(read(at(before)), account, "{id}");
            assert_eq!((read(at(Some(other))).label.as_str(), read(at(Some(other))).host().as_str()), ("Box", host));
            assert!(!account.is_default(&at(before)));
        }
        // An address that was chosen stays.
        let moved = renamed(&preset().moved_to("https://gate.example/v1"));
        let saved = moved.to_saved(&at(Some(one)));
        assert_eq!(Account::saved(saved, &at(Some(other))), Some(moved));
    }
}
