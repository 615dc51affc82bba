//! The crates as crates.io would have them: packed, unpacked side by side in a folder with nothing of the repository beside them, and
//! checked by the compiler there. A file that a crate embeds and its package lacks is found, as `cargo publish --dry-run` would find it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::command::{cargo, exit_code, quietly, root, target};
use crate::tally::Tally;

/// The packages that are published, those first that others need.
const PUBLISHED: [&str; 4] = [
    "attractor-numerics",
    "attractor-core",
    "attractor-rs",
    "attractor-cli",
];

/// `cargo xtask crates`.
pub(crate) fn run(_: &[String]) -> ExitCode {
    let mut tally = Tally::default();
    check(&mut tally);
    println!("{}", tally.summary());
    exit_code(tally.all_passed())
}

/// Packs and checks the crates, counting both.
pub(crate) fn check(tally: &mut Tally) {
    let packed = pack();
    let folder = match &packed {
        Ok(folder) => folder,
        Err(told) => {
            println!("{told}");
            return tally.check("crates packed", false);
        }
    };
    tally.check("crates packed", true);
    let mut compiler = cargo(["check", "--workspace", "--quiet", "--manifest-path"]);
    compiler.arg(folder.join("Cargo.toml"));
    let checked = quietly(compiler.env("CARGO_TARGET_DIR", target()));
    if let Err(told) = &checked {
        println!("{told}");
    }
    tally.check("crates compiled from their packages", checked.is_ok());
}

/// Packs and unpacks all crates; gives the folder of a workspace of them.
fn pack() -> Result<PathBuf, String> {
    let folder = target().join("package");
    let failed = |error: std::io::Error| error.to_string();
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    let mut pack = cargo(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    pack.args(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    quietly(&mut pack).map_err(|told| format!("cargo package: {told}"))?;
    let mut members = Vec::new();
    for name in PUBLISHED {
        let archive = archive(&folder, name).ok_or_else(|| format!("no package of {name}"))?;
        let mut unpack = Command::new("tar");
        unpack.arg("-xzf").arg(folder.join(&archive));
        quietly(unpack.arg("-C").arg(&folder)).map_err(|told| format!("tar: {told}"))?;
        members.push((name, archive.trim_end_matches(".crate").to_string()));
    }
    let ours = fs::read_to_string(root().join("Cargo.toml")).map_err(failed)?;
    fs::write(folder.join("Cargo.toml"), manifest(&members, &ours)).map_err(failed)?;
    fs::create_dir_all(folder.join(OTHERS).join("src")).map_err(failed)?;
    fs::write(folder.join(OTHERS).join("src/lib.rs"), "").map_err(failed)?;
    fs::write(folder.join(OTHERS).join("Cargo.toml"), others(&ours)).map_err(failed)?;
    // The versions that the tests are built with.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(failed)?;
    Ok(folder)
}

/// The file of a package, NAME-VERSION.crate.
fn archive(folder: &Path, name: &str) -> Option<String> {
    let is_its = |file: &String| {
        let rest = file
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with(".crate")
        })
    };
    let files = fs::read_dir(folder).ok()?.flatten();
    files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .find(is_its)
}

/// A crate that needs all that our workspace needs, so that what others wrote is checked with the features and profiles for which
/// clippy has checked it already.
const OTHERS: &str = "others";

/// A workspace of unpacked crates, which need each other by name, not by path; `ours` is the manifest of the repository.
fn manifest(members: &[(&str, String)], ours: &str) -> String {
    let folders = members.iter().map(|(_, folder)| folder.as_str());
    let folders: Vec<&str> = folders.chain([OTHERS]).collect();
    let patches = members
        .iter()
        .map(|(name, folder)| format!("{name} = {{ path = {folder:?} }}\n"));
    let profiles = ours.find("[profile.").map_or("", |at| &ours[at..]);
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = {folders:?}\n\n[patch.crates-io]\n{}\n{profiles}",
        patches.collect::<String>()
    )
}

/// The manifest of [`OTHERS`].
fn others(ours: &str) -> String {
    let dependencies = ours
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with("attractor"));
    let head = "[package]\nname = \"others\"\nedition = \"2024\"\n\n[dependencies]";
    [head]
        .into_iter()
        .chain(dependencies)
        .fold(String::new(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_need_each_other_by_name() {
        let ours = "\
[workspace.dependencies]
attractor = { path = \"a\" }
serde = \"1\"

[workspace.lints.rust]
missing_docs = \"warn\"

[profile.dev]
lto = \"off\"
";
        let members = [("a", "a-0.1.0".to_string()), ("b", "b-0.1.0".to_string())];
        let text = manifest(&members, ours);
        assert!(
            text.contains("members = [\"a-0.1.0\", \"b-0.1.0\", \"others\"]"),
            "{text}"
        );
        assert!(text.contains(
            "[patch.crates-io]\na = { path = \"a-0.1.0\" }\nb = { path = \"b-0.1.0\" }\n"
        ));
        assert!(text.ends_with("\n[profile.dev]\nlto = \"off\"\n"), "{text}");
        assert!(others(ours).ends_with("[dependencies]\nserde = \"1\"\n\n"));
    }

    #[test]
    fn a_package_is_not_taken_for_one_whose_name_goes_on() {
        let folder = target().join("crates-test");
        fs::create_dir_all(&folder).unwrap();
        for file in ["a-core-0.1.0.crate", "a-0.1.0.crate"] {
            fs::write(folder.join(file), "").unwrap();
        }
        assert_eq!(archive(&folder, "a").as_deref(), Some("a-0.1.0.crate"));
        assert_eq!(archive(&folder, "c"), None);
    }
}
