use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;

use super::*;

/// Settings of a session with these variables, in which `gsettings` prints `printed`; and how often it was asked.
fn settings(variables: &[(&str, &str)], printed: Option<&str>) -> (DesktopSettings, Arc<AtomicUsize>) {
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let printed = printed.map(str::to_owned);
    let asked = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&asked);
    let variable = move |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let read = move |schema: &'static str| {
        assert_eq!(schema, "org.gnome.system.proxy");
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(printed.clone())
    };
    (DesktopSettings::new(variable, read), asked)
}

/// What `gsettings` prints, with these lines over those of a new desktop.
fn gnome(own: &str) -> String {
    format!(
        "org.gnome.system.proxy autoconfig-url ''\n\
         org.gnome.system.proxy ignore-hosts ['localhost', '127.0.0.0/8', '::1']\n\
         org.gnome.system.proxy mode 'none'\n\
         org.gnome.system.proxy use-same-proxy true\n\
         org.gnome.system.proxy.http authentication-password ''\n\
         org.gnome.system.proxy.http authentication-user ''\n\
         org.gnome.system.proxy.http host ''\n\
         org.gnome.system.proxy.http port 8080\n\
         org.gnome.system.proxy.http use-authentication false\n\
         org.gnome.system.proxy.https host ''\n\
         org.gnome.system.proxy.https port 0\n\
         org.gnome.system.proxy.socks host ''\n\
         org.gnome.system.proxy.socks port 0\n{own}"
    )
}

async fn way(settings: &DesktopSettings, url: &str) -> String {
    match settings.way(&url.parse().unwrap()).await {
        Way::Unsaid => "unsaid".to_owned(),
        Way::Script(desktop) => format!("a script of {desktop}"),
        Way::Through(server) => server.address,
    }
}

const GNOME: (&str, &str) = ("XDG_CURRENT_DESKTOP", "ubuntu:GNOME");
const FAR: &str = "https://models.example/v1";

#[tokio::test]
async fn gnome_names_a_server_for_each_kind_of_address() {
    let manual = "org.gnome.system.proxy mode 'manual'\n";
    for (said, https, http) in [
        ("", "unsaid", "unsaid"),
        ("https host 'proxy.example'\n.https port 3128", "http://proxy.example:3128", "unsaid"),
        ("http host 'one'", "http://one:8080", "http://one:8080"),
        ("http host 'one'\n.https host 'two'\n.https port 1", "http://two:1", "http://one:8080"),
        ("socks host 'one'\n.socks port 1080", "socks5h://one:1080", "socks5h://one:1080"),
        ("https host 'fd12::1'", "http://[fd12::1]", "unsaid"),
        ("http host 'no host'", "unsaid", "unsaid"),
    ] {
        let lines: String = said.split("\n.").map(|line| format!("org.gnome.system.proxy.{line}\n")).collect();
        let (settings, _) = settings(&[GNOME], Some(&gnome(&format!("{manual}{lines}"))));
        assert_eq!(way(&settings, FAR).await, https, "{said}");
        assert_eq!(way(&settings, "http://10.0.0.7:8080").await, http, "{said}");
    }
    let own = "org.gnome.system.proxy use-same-proxy false\norg.gnome.system.proxy.http host 'one'";
    let (settings, _) = settings(&[GNOME], Some(&gnome(&format!("{manual}{own}"))));
    assert_eq!(way(&settings, FAR).await, "unsaid", "that of http alone");
}

#[tokio::test]
async fn what_is_to_be_ignored_is_and_so_is_what_is_set_while_it_is_off() {
    let server = "org.gnome.system.proxy.https host 'one'\norg.gnome.system.proxy.https port 1\n";
    let manual = format!(
        "org.gnome.system.proxy mode 'manual'\norg.gnome.system.proxy ignore-hosts ['*.inner.example', '10.0.0.0/8']\n{server}"
    );
    let (on, _) = settings(&[GNOME, ("NO_PROXY", "a.example, b.example")], Some(&gnome(&manual)));
    for (url, wanted) in [
        (FAR, "http://one:1"),
        ("https://a.inner.example", "unsaid"),
        ("https://10.1.2.3", "unsaid"),
        ("https://b.example", "unsaid"),
        ("https://c.example", "http://one:1"),
    ] {
        assert_eq!(way(&on, url).await, wanted, "{url}");
    }
    let (off, _) = settings(&[GNOME], Some(&gnome(server)));
    assert_eq!(way(&off, FAR).await, "unsaid");
    assert_eq!(off.source().await, ProxySource::None);
}

#[tokio::test]
async fn the_environment_stands_before_the_desktop_which_is_then_not_asked() {
    let manual = "org.gnome.system.proxy mode 'manual'\norg.gnome.system.proxy.https host 'one'";
    let variables = [GNOME, ("https_proxy", "http://me:canary@env.example:3128")];
    let (settings, asked) = settings(&variables, Some(&gnome(manual)));
    assert_eq!(way(&settings, FAR).await, "unsaid");
    let (variable, address) = ("https_proxy".to_owned(), "http://env.example:3128".to_owned());
    assert_eq!(settings.source().await, ProxySource::Environment { variable, address });
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let (settings, _) = self::settings(&[GNOME, ("HTTP_PROXY", "me:canary@env.example:3128")], None);
    let (variable, address) = ("HTTP_PROXY".to_owned(), "http://env.example:3128".to_owned());
    assert_eq!(settings.source().await, ProxySource::Environment { variable, address });
}

#[tokio::test(start_paused = true)]
async fn what_was_read_counts_for_a_while() {
    let (settings, asked) = settings(&[GNOME], Some(&gnome("")));
    for _ in 0..3 {
        way(&settings.clone(), FAR).await;
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    tokio::time::advance(FRESH).await;
    way(&settings, FAR).await;
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_script_is_told_and_not_followed() {
    let (settings, _) = settings(&[GNOME], Some(&gnome("org.gnome.system.proxy mode 'auto'")));
    assert_eq!(way(&settings, FAR).await, "a script of GNOME");
    assert_eq!(settings.source().await, ProxySource::Script { desktop: "GNOME".into() });
}

#[tokio::test]
async fn a_name_and_a_password_go_along_and_are_shown_nowhere() {
    let own = "org.gnome.system.proxy mode 'manual'\norg.gnome.system.proxy.http host 'one'\n\
               org.gnome.system.proxy.http use-authentication true\n\
               org.gnome.system.proxy.http authentication-user 'me'\n\
               org.gnome.system.proxy.http authentication-password 'can\\'ary'";
    let (settings, _) = settings(&[GNOME], Some(&gnome(own)));
    let Way::Through(server) = settings.way(&FAR.parse().unwrap()).await else { panic!("no server") };
    assert_eq!(server, ProxyServer::parse("http://me:can%27ary@one:8080").unwrap());
    assert!(!format!("{server:?} {:?} {:?}", settings.source().await, settings.set().await).contains("ary"));
}

/// KDE's file, and what it says of [`FAR`] and of an address without encryption.
async fn kde(own: &str, shared: &str) -> (String, String, usize) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("own", own), ("shared", shared)] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("kioslaverc"), text).unwrap();
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (own, shared) = (path("own"), path("shared"));
    let variables = [("XDG_CONFIG_HOME", own.as_str()), ("XDG_CONFIG_DIRS", &shared), ("XDG_CURRENT_DESKTOP", "KDE")];
    let (settings, asked) = settings(&variables, None);
    let ways = (way(&settings, FAR).await, way(&settings, "http://nas:8080").await);
    (ways.0, ways.1, asked.load(Ordering::Relaxed))
}

#[tokio::test]
async fn kde_keeps_its_settings_in_a_file() {
    let file = |rest: &str| {
        format!("# kept by KDE\n[Other]\nProxyType=2\n[Proxy Settings][$i]\n{rest}\n[More]\nProxyType=0\n")
    };
    let manual = "ProxyType[$i]=1\nhttpsProxy=http://proxy.example 3128\nhttpProxy=http://plain.example:80\n";
    for (own, shared, https, http) in [
        (file(manual), String::new(), "http://proxy.example:3128", "http://plain.example"),
        (file("ProxyType=0"), file(manual), "unsaid", "unsaid"),
        (String::new(), file(manual), "http://proxy.example:3128", "http://plain.example"),
        (file(&format!("{manual}NoProxyFor=<local>,.example")), String::new(), "unsaid", "unsaid"),
        (
            file(&format!("{manual}NoProxyFor=models.example\nReversedException=true")),
            String::new(),
            "http://proxy.example:3128",
            "unsaid",
        ),
        (file("ProxyType=1\nsocksProxy=socks://one 1080"), String::new(), "socks5h://one:1080", "socks5h://one:1080"),
        (file("ProxyType=2\nProxy Config Script=http://x"), String::new(), "a script of KDE", "a script of KDE"),
        (file("ProxyType=4\nhttpsProxy=HTTPS_PROXY"), String::new(), "unsaid", "unsaid"),
    ] {
        assert_eq!(kde(&own, &shared).await, (https.to_owned(), http.to_owned(), 0), "{own} {shared}");
    }
}

/// Over SSH nobody says which desktop there is.
#[tokio::test]
async fn without_a_desktop_whichever_has_a_proxy_counts() {
    let (settings, asked) =
        settings(&[], Some(&gnome("org.gnome.system.proxy mode 'manual'\norg.gnome.system.proxy.https host 'one'")));
    assert_eq!(way(&settings, FAR).await, "http://one");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
