//! What we depend on: licences, sources, banned crates and doubled versions, as `deny.toml` says.
//!
//! cargo-deny does it where it is installed. It takes five minutes of processor time to compile, which would double
//! the first run of `cargo xtask test`, so it is compiled only on request (`--install-tools`, into `target/tools`);
//! otherwise the same file is checked here, from `cargo metadata`. Known vulnerabilities need cargo-deny and its
//! database.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::command::{cargo, quietly, root, succeeds};
use crate::tally::Tally;
use crate::tool::DENY;

/// Checks what we depend on.
pub(crate) fn check(tally: &mut Tally) {
    match DENY.program() {
        Some(program) => check_with(&program, tally),
        None => {
            tally.check("deny", check_ourselves());
            tally.skip("known vulnerabilities: cargo-deny is not installed (`cargo xtask test --install-tools`)");
        }
    }
}

fn check_with(program: &Path, tally: &mut Tally) {
    let deny = |args: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(root()).args(args);
        command
    };
    tally.check(
        "deny",
        succeeds(&mut deny(&["check", "licenses", "sources", "bans"])),
    );
    match quietly(&mut deny(&["fetch", "db"])) {
        Ok(_) => {
            let advisories = ["check", "--disable-fetch", "advisories"];
            tally.check("deny advisories", succeeds(&mut deny(&advisories)));
        }
        Err(told) => tally.skip(format!("known vulnerabilities: no database: {told}")),
    }
}

/// Checks all but vulnerabilities without cargo-deny, printing what is wrong.
fn check_ourselves() -> bool {
    let findings = read_policy().and_then(|policy| {
        let text = quietly(&mut cargo([
            "metadata",
            "--format-version",
            "1",
            "--locked",
        ]))?;
        let metadata = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok(violations(&policy, &packages(&metadata)))
    });
    let findings = findings.unwrap_or_else(|error| vec![error]);
    for finding in &findings {
        println!("{finding}");
    }
    findings.is_empty()
}

/// What `deny.toml` allows.
#[derive(Debug, Default)]
struct Policy {
    licences: Vec<String>,
    registries: Vec<String>,
    banned: Vec<String>,
    doubled: Vec<String>,
}

fn read_policy() -> Result<Policy, String> {
    let text =
        fs::read_to_string(root().join("deny.toml")).map_err(|e| format!("{e}: deny.toml"))?;
    let table: toml::Table = text.parse().map_err(|e| format!("deny.toml: {e}"))?;
    Ok(Policy::from_table(&table))
}

impl Policy {
    fn from_table(table: &toml::Table) -> Policy {
        let list = |section: &str, name: &str| -> Vec<String> {
            let items = table.get(section).and_then(|section| section.get(name));
            let items = items.and_then(toml::Value::as_array).into_iter().flatten();
            let text =
                |item: &toml::Value| item.get("crate").unwrap_or(item).as_str().map(String::from);
            items.filter_map(text).collect()
        };
        Policy {
            licences: list("licenses", "allow"),
            registries: list("sources", "allow-registry"),
            banned: list("bans", "deny"),
            doubled: list("bans", "skip"),
        }
    }
}

/// A package that is compiled for some target.
#[derive(Debug, Clone, Default)]
struct Package {
    name: String,
    version: String,
    licence: String,
    /// Where it is from; nothing for our own.
    source: Option<String>,
}

/// The packages that the workspace really uses. Cargo also resolves dependencies for the target `cfg(any())`, which
/// never holds: crates use it to pin the version of a companion.
fn packages(metadata: &Value) -> Vec<Package> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (text(&node["id"]), node))
        .collect();
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<String> = list(&metadata["workspace_members"])
        .iter()
        .map(text)
        .collect();
    while let Some(id) = waiting.pop() {
        let deps = nodes
            .get(&id)
            .map(|node| list(&node["deps"]))
            .unwrap_or_default();
        if reached.insert(id) {
            let used = deps.iter().filter(|dep| {
                list(&dep["dep_kinds"])
                    .iter()
                    .any(|kind| kind["target"] != "cfg(any())")
            });
            waiting.extend(used.map(|dep| text(&dep["pkg"])));
        }
    }
    list(&metadata["packages"])
        .iter()
        .filter(|package| reached.contains(&text(&package["id"])))
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            source: package["source"].as_str().map(String::from),
        })
        .collect()
}

/// What the policy forbids among the packages.
fn violations(policy: &Policy, packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let Package {
            name,
            version,
            licence,
            source,
        } = package;
        if !permits(&policy.licences, licence) {
            found.push(format!("{name} {version} has the licence `{licence}`"));
        }
        let registry = |source: &String| {
            policy
                .registries
                .iter()
                .any(|r| source == &format!("registry+{r}"))
        };
        if source.as_ref().is_some_and(|source| !registry(source)) {
            found.push(format!(
                "{name} {version} is not from an allowed registry: {source:?}"
            ));
        }
        if policy.banned.contains(name) {
            found.push(format!("{name} {version} is banned"));
        }
        if !policy.doubled.contains(name) && !policy.doubled.contains(&format!("{name}@{version}"))
        {
            versions.entry(name).or_default().insert(version);
        }
    }
    let doubled = versions
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1);
    found.extend(doubled.map(|(name, versions)| {
        let versions: Vec<_> = versions.into_iter().collect();
        format!(
            "{name} is compiled in several versions: {}",
            versions.join(", ")
        )
    }));
    found
}

/// Whether an SPDX expression can be met with the allowed licences.
fn permits(allowed: &[String], expression: &str) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Licences {
        allowed,
        words: &words,
    };
    parser.any_of() && parser.words.is_empty()
}

/// `any_of := all_of (OR all_of)*`, `all_of := one (AND one)*`, `one := ( any_of ) | name [WITH exception]`.
struct Licences<'a> {
    allowed: &'a [String],
    words: &'a [&'a str],
}

impl Licences<'_> {
    fn take(&mut self, word: &str) -> bool {
        let here = self.words.first() == Some(&word);
        if here {
            self.words = &self.words[1..];
        }
        here
    }

    fn any_of(&mut self) -> bool {
        let mut holds = self.all_of();
        while self.take("OR") {
            holds |= self.all_of();
        }
        holds
    }

    fn all_of(&mut self) -> bool {
        let mut holds = self.one();
        while self.take("AND") {
            holds &= self.one();
        }
        holds
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let holds = self.any_of();
            return self.take(")") && holds;
        }
        let Some((name, rest)) = self.words.split_first() else {
            return false;
        };
        self.words = rest;
        let mut name = (*name).to_string();
        if let ["WITH", exception, rest @ ..] = self.words {
            name = format!("{name} WITH {exception}");
            self.words = rest;
        }
        self.allowed.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy() -> Policy {
        Policy::from_table(
            &r#"
            licenses.allow = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
            sources.allow-registry = ["https://crates"]
            bans.deny = [{ crate = "bad", reason = "x" }]
            bans.skip = [{ crate = "twice@1.0.0", reason = "x" }]
            "#
            .parse()
            .unwrap(),
        )
    }

    #[test]
    fn licence_expressions_are_evaluated() {
        let holds = |expression| permits(&policy().licences, expression);
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(GPL-3.0 OR MIT) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(holds(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "Apache-2.0",
            "MIT AND (ISC OR GPL-3.0)",
            "MIT )",
        ] {
            assert!(!holds(bad), "{bad}");
        }
    }

    fn package(name: &str, version: &str) -> Package {
        Package {
            name: name.into(),
            version: version.into(),
            licence: "MIT".into(),
            source: Some("registry+https://crates".into()),
        }
    }

    #[test]
    fn each_kind_of_violation_is_found() {
        let found = |packages: &[Package]| violations(&policy(), packages);
        assert!(
            found(&[
                package("a", "1.0.0"),
                Package {
                    source: None,
                    ..package("b", "2.0.0")
                }
            ])
            .is_empty()
        );
        assert!(found(&[package("bad", "1.0.0")])[0].contains("banned"));
        assert!(
            found(&[Package {
                licence: "GPL-3.0".into(),
                ..package("a", "1.0.0")
            }])[0]
                .contains("licence")
        );
        let from_git = Package {
            source: Some("git+https://x".into()),
            ..package("a", "1.0.0")
        };
        assert!(found(&[from_git])[0].contains("registry"));
        let twice = found(&[package("a", "1.0.0"), package("a", "2.0.0")]);
        assert_eq!(twice, ["a is compiled in several versions: 1.0.0, 2.0.0"]);
        assert!(found(&[package("twice", "1.0.0"), package("twice", "2.0.0")]).is_empty());
    }

    #[test]
    fn only_what_some_target_uses_is_judged() {
        let dep =
            |id, target: Value| json!({"pkg": id, "dep_kinds": [{"kind": null, "target": target}]});
        let metadata = json!({
            "packages": [
                {"id": "own", "name": "own", "version": "0.1.0", "license": "MIT", "source": null},
                {"id": "used", "name": "used", "version": "1.0.0", "license": "MIT", "source": "registry+x"},
                {"id": "never", "name": "never", "version": "1.0.0", "license": "GPL", "source": "registry+x"},
            ],
            "workspace_members": ["own"],
            "resolve": {"nodes": [
                {"id": "own", "deps": [dep("used", json!("cfg(unix)")), dep("never", json!("cfg(any())"))]},
                {"id": "used", "deps": []},
                {"id": "never", "deps": []},
            ]},
        });
        let names: Vec<String> = packages(&metadata).into_iter().map(|p| p.name).collect();
        assert_eq!(names, ["own", "used"]);
    }

    #[test]
    fn the_file_in_the_repository_is_understood() {
        let policy = read_policy().unwrap();
        assert!(policy.licences.contains(&"MIT".to_string()) && !policy.registries.is_empty());
        assert!(policy.banned.contains(&"bincode".to_string()));
    }
}
