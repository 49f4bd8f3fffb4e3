use std::collections::BTreeMap;
use std::fmt;
use std::mem;

use bosun_mcp::{ConfigError, ServerConfig};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::{Extras, ExtrasError};
use crate::hooks::{HookConfig, HookError};
use crate::plain;

/// The text of a person's additions, changed in one place: what they wrote around it, comments and limits that no form
/// shows, stays as it is.
#[derive(Clone, Debug)]
pub struct WrittenExtras {
    document: DocumentMut,
}

impl WrittenExtras {
    /// # Errors
    /// [`ExtrasError`] for a text that cannot be used as it is.
    pub fn parse(text: &str) -> Result<Self, ExtrasError> {
        Extras::parse(text)?;
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            ExtrasError::Toml(plain::toml(text, error.message(), error.span()))
        })?;
        Ok(Self { document })
    }

    /// Writes a server down, in the place of the one that was called `was`, or as a new one. Of what it was, only what
    /// differs is written anew.
    ///
    /// # Errors
    /// [`ConfigError::Twice`] where another one has its name.
    pub fn put_server(&mut self, was: Option<&str>, name: &str, server: &ServerConfig) -> Result<(), ExtrasError> {
        let known = self.extras()?.mcp;
        if was != Some(name) && known.contains_key(name) {
            return Err(ConfigError::Twice { name: name.to_owned() }.into());
        }
        let old = was.and_then(|was| known.get(was)).cloned().unwrap_or_default();
        let Some(servers) = self.servers() else { return Ok(()) };
        let mut table = was.and_then(|was| servers.remove(was)).unwrap_or_else(|| Item::Table(apart()));
        if let Some(table) = table.as_table_like_mut() {
            let text = |text: &Option<String>| text.as_ref().map(value);
            put(table, "command", (&old.command, &server.command), text);
            put(table, "args", (&old.args, &server.args), |list| list_of(list));
            put(table, "env", (&old.env, &server.env), pairs);
            put(table, "secret_env", (&old.secret_env, &server.secret_env), |list| list_of(list));
            put(table, "pass_env", (&old.pass_env, &server.pass_env), |list| list_of(list));
            put(table, "url", (&old.url, &server.url), text);
            put(table, "headers", (&old.headers, &server.headers), pairs);
            put(table, "secret_headers", (&old.secret_headers, &server.secret_headers), |list| list_of(list));
            put(table, "enabled", (&old.enabled, &server.enabled), unless_on);
        }
        servers.insert(name, table);
        Ok(())
    }

    /// Writes a hook down, in the place of the one that was called `was`, or as the last one.
    ///
    /// # Errors
    /// [`HookError::Duplicate`] where another one has its name.
    pub fn put_hook(&mut self, was: Option<&str>, hook: &HookConfig) -> Result<(), ExtrasError> {
        let known = self.extras()?.hooks;
        if was != Some(hook.name.as_str()) && known.iter().any(|known| known.name == hook.name) {
            return Err(HookError::Duplicate { name: hook.name.clone() }.into());
        }
        let old = was.and_then(|was| known.into_iter().find(|known| known.name == was));
        let Some(hooks) = self.hooks() else { return Ok(()) };
        if old.is_none() {
            hooks.push(apart());
        }
        let at = old.as_ref().map_or(Some(hooks.len().saturating_sub(1)), |old| place_of(hooks, &old.name));
        let Some(table) = at.and_then(|at| hooks.get_mut(at)) else { return Ok(()) };
        let was = |field: fn(&HookConfig) -> &String| old.as_ref().map(field).cloned().unwrap_or_default();
        let list = |field: fn(&HookConfig) -> &Vec<String>| old.as_ref().map(field).cloned().unwrap_or_default();
        let text = |text: &String| Some(value(text));
        put(table, "name", (&was(|old| &old.name), &hook.name), text);
        put(table, "point", (&old.as_ref().map(|old| old.point), &Some(hook.point)), |_| {
            Some(value(hook.point.word()))
        });
        put(table, "tools", (&list(|old| &old.tools), &hook.tools), |list| list_of(list));
        put(table, "command", (&was(|old| &old.command), &hook.command), text);
        put(table, "args", (&list(|old| &old.args), &hook.args), |list| list_of(list));
        put(table, "env", (&old.as_ref().map(|old| old.env.clone()).unwrap_or_default(), &hook.env), pairs);
        put(table, "secret_env", (&list(|old| &old.secret_env), &hook.secret_env), |list| list_of(list));
        put(table, "timeout", (&old.as_ref().map(|old| old.timeout), &Some(hook.timeout)), |_| {
            i64::try_from(hook.timeout).ok().map(value)
        });
        put(table, "on_failure", (&old.as_ref().and_then(|old| old.on_failure), &hook.on_failure), |wanted| {
            wanted.map(|wanted| value(wanted.word()))
        });
        put(table, "enabled", (&old.as_ref().is_none_or(|old| old.enabled), &hook.enabled), unless_on);
        Ok(())
    }

    /// Takes a server out; one that is not there is fine.
    pub fn remove_server(&mut self, name: &str) {
        if let Some(servers) = self.servers() {
            servers.remove(name);
        }
    }

    /// Takes a hook out; one that is not there is fine.
    pub fn remove_hook(&mut self, name: &str) {
        if let Some(hooks) = self.hooks() {
            hooks.retain(|hook| name_of(hook) != Some(name));
        }
    }

    /// Nothing but these servers and hooks, as they are written here.
    pub fn part(&self, servers: &[&str], hooks: &[&str]) -> String {
        let mut part = self.clone();
        part.document.retain(|key, _| matches!(key, "mcp" | "hooks"));
        if servers.is_empty() {
            part.document.remove("mcp");
        } else if let Some(table) = part.servers() {
            let gone = table.iter().map(|(name, _)| name.to_owned()).filter(|name| !servers.contains(&name.as_str()));
            for name in gone.collect::<Vec<_>>() {
                table.remove(&name);
            }
        }
        if hooks.is_empty() {
            part.document.remove("hooks");
        } else if let Some(tables) = part.hooks() {
            tables.retain(|hook| name_of(hook).is_some_and(|name| hooks.contains(&name)));
        }
        part.to_string().trim().to_owned()
    }

    fn extras(&self) -> Result<Extras, ExtrasError> {
        Extras::parse(&self.to_string())
    }

    fn servers(&mut self) -> Option<&mut dyn TableLike> {
        let servers = self.document.entry("mcp").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        servers.as_table_like_mut()
    }

    fn hooks(&mut self) -> Option<&mut ArrayOfTables> {
        let item = self.document.entry("hooks").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        if item.is_value() {
            // Written in one line, or none of them.
            let tables = mem::take(item).into_array_of_tables().unwrap_or_default();
            *item = Item::ArrayOfTables(tables);
        }
        item.as_array_of_tables_mut()
    }
}

impl fmt::Display for WrittenExtras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.document.fmt(f)
    }
}

/// A table with a line between it and what is before it.
fn apart() -> Table {
    let mut table = Table::new();
    table.decor_mut().set_prefix("\n");
    table
}

fn name_of(hook: &Table) -> Option<&str> {
    hook.get("name").and_then(Item::as_str)
}

fn place_of(hooks: &ArrayOfTables, name: &str) -> Option<usize> {
    hooks.iter().position(|hook| name_of(hook) == Some(name))
}

/// Writes what is not as it was; `None` takes it away.
fn put<T: PartialEq>(
    table: &mut dyn TableLike,
    key: &str,
    (old, new): (&T, &T),
    written: impl FnOnce(&T) -> Option<Item>,
) {
    if old == new {
        return;
    }
    match written(new) {
        Some(item) => table.insert(key, item),
        None => table.remove(key),
    };
}

fn list_of(list: &[String]) -> Option<Item> {
    (!list.is_empty()).then(|| value(list.iter().collect::<Array>()))
}

fn pairs(pairs: &BTreeMap<String, String>) -> Option<Item> {
    let table = pairs.iter().map(|(name, given)| (name, Value::from(given))).collect::<InlineTable>();
    (!table.is_empty()).then(|| value(table))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "written like the others")]
fn unless_on(enabled: &bool) -> Option<Item> {
    (!enabled).then(|| value(false))
}

#[cfg(test)]
mod tests {
    use bosun_mcp::ServerConfig;
    use pretty_assertions::assert_eq;

    use super::WrittenExtras;
    use crate::{Extras, HookConfig, HookPoint};

    const TEXT: &str = "# mine\n[mcp.docs]\ncommand = \"docs\" # the old one\napproval = \"allow\"\n\n[[hooks]]\nname = \"format\"\n\
        point = \"after_tool\"\ncommand = \"cargo\"\non_failure = \"go_on\"\n\n[guards]\nmax_dollars = 5.0\n";

    fn written(text: &str) -> WrittenExtras {
        WrittenExtras::parse(text).unwrap()
    }

    fn hook(name: &str) -> HookConfig {
        HookConfig {
            name: name.into(),
            point: HookPoint::TurnEnd,
            command: "say".into(),
            args: vec!["done".into()],
            tools: Vec::new(),
            timeout: 20,
            env: Default::default(),
            secret_env: Vec::new(),
            pass_env: Vec::new(),
            on_failure: None,
            enabled: true,
        }
    }

    #[test]
    fn one_thing_changes_and_what_is_around_it_stays() {
        let mut text = written(TEXT);
        let old = Extras::parse(TEXT).unwrap();
        let mut docs = old.mcp["docs"].clone();
        (docs.args, docs.enabled) = (vec!["--stdio".into()], false);
        docs.env.insert("LEVEL".into(), "2".into());
        text.put_server(Some("docs"), "docs", &docs).unwrap();
        let expected = TEXT.replace(
            "approval = \"allow\"\n",
            "approval = \"allow\"\nargs = [\"--stdio\"]\nenv = { LEVEL = \"2\" }\nenabled = false\n",
        );
        assert_eq!(text.to_string(), expected);
        docs.enabled = true;
        (docs.args, docs.env) = Default::default();
        text.put_server(Some("docs"), "docs", &docs).unwrap();
        assert_eq!(text.to_string(), TEXT);

        let mut format = old.hooks[0].clone();
        format.timeout = 60;
        text.put_hook(Some("format"), &format).unwrap();
        assert_eq!(text.to_string(), TEXT.replace("\"go_on\"\n", "\"go_on\"\ntimeout = 60\n"));
    }

    #[test]
    fn what_is_new_comes_after_what_is_there_and_no_two_share_a_name() {
        let web = ServerConfig {
            url: Some("https://mcp.example.com".into()),
            secret_headers: vec!["Authorization".into()],
            ..ServerConfig::default()
        };
        for before in ["", TEXT, "hooks = []\n", "mcp = { docs = { command = \"docs\" } }\n"] {
            let mut text = written(before);
            text.put_server(None, "web", &web).unwrap();
            text.put_hook(None, &hook("bell")).unwrap();
            let mut expected = Extras::parse(before).unwrap();
            expected.mcp.insert("web".into(), web.clone());
            expected.hooks.push(hook("bell"));
            assert_eq!(Extras::parse(&text.to_string()).unwrap(), expected, "{text}");
        }
        let mut text = written(TEXT);
        assert!(text.put_server(None, "docs", &web).unwrap_err().to_string().contains("'docs'"));
        assert!(text.put_hook(None, &hook("format")).unwrap_err().to_string().contains("'format'"));
        assert_eq!(text.to_string(), TEXT);
        text.put_server(Some("docs"), "papers", &ServerConfig { command: Some("docs".into()), ..Default::default() })
            .unwrap();
        let names: Vec<String> = Extras::parse(&text.to_string()).unwrap().mcp.into_keys().collect();
        assert_eq!(names, ["papers"]);
        assert!(text.to_string().contains("# the old one"), "{text}");
    }

    #[test]
    fn what_goes_leaves_the_rest_and_a_part_has_nothing_else() {
        let mut text = written(TEXT);
        assert_eq!(text.part(&["docs"], &[]), TEXT.split("\n\n").next().unwrap());
        assert!(text.part(&[], &["format"]).starts_with("[[hooks]]\nname = \"format\""));
        assert_eq!(text.part(&[], &[]), "");
        assert_eq!(written("mcp = { docs = { command = \"docs\" } }\nhooks = []\n").part(&[], &[]), "");
        text.remove_server("docs");
        text.remove_hook("format");
        text.remove_hook("nobody");
        let left = Extras::parse(&text.to_string()).unwrap();
        assert!(left.mcp.is_empty() && left.hooks.is_empty() && left.has_limits(), "{text}");
    }
}
