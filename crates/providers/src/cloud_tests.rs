use std::collections::HashMap;
use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;
use crate::preset::preset;

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
    assert_eq!(aws::keys(&cloud(&both, home.path(), &files)).unwrap().id, "AKIAENV");
    let work = cloud(&[("AWS_PROFILE", "work")], home.path(), &[]);
    let keys = aws::keys(&work).unwrap();
    assert!(
        keys.id == "ASIAWORK" && keys.session.is_some() && keys.source.starts_with("profile work ("),
        "{}",
        keys.source
    );
    let default = cloud(&[], home.path(), &[]);
    assert_eq!(aws::keys(&default).unwrap().id, "AKIADEFAULT");
    assert_eq!(default.placed(of_preset("bedrock")).base_url, "https://bedrock-runtime.eu-west-1.amazonaws.com");
    assert_eq!(work.placed(of_preset("bedrock")).host(), "bedrock-runtime.us-west-2.amazonaws.com");
    let moved = of_preset("bedrock").moved_to("https://bedrock-runtime.sa-east-1.amazonaws.com");
    assert_eq!(work.placed(moved.clone()), moved, "what the user said stays");
    let corp = aws::keys(&cloud(&[("AWS_PROFILE", "corp")], home.path(), &[])).err().unwrap().to_string();
    assert!(corp.contains("signs in with SSO") && corp.contains("export-credentials"), "{corp}");
    let nobody = aws::keys(&cloud(&[("AWS_PROFILE", "nobody")], home.path(), &[])).err().unwrap().to_string();
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
