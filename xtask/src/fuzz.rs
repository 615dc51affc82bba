//! `cargo xtask fuzz`: mutated inputs for every parser, many more than the test of the same name tries; with `--parser NAME` for one of them.
//!
//! The code is built with all its checks but optimised, and the process may not take more than 4 GiB of addresses, so that a
//! parser that believes a size of nonsense is stopped.

use std::process::{Command, ExitCode};

use crate::command::{cargo, exit_code, quietly, root, succeeds};

/// Words after the verb, and the variables that the test reads.
const FLAGS: [(&str, &str); 4] = [
    ("--parser", "ATTRACTOR_FUZZ_PARSER"),
    ("--inputs", "ATTRACTOR_FUZZ_INPUTS"),
    ("--seconds", "ATTRACTOR_FUZZ_SECONDS"),
    ("--seed", "ATTRACTOR_FUZZ_SEED"),
];

/// Inputs unless told otherwise.
const INPUTS: &str = "1000000";

/// Addresses that the process may take, in KiB.
const ADDRESSES: u64 = 4 << 20;

/// Optimises our library, and leaves what it is built on as tests have it.
const OPTIMISED: &str = "profile.dev.package.attractor.opt-level=2";

/// Builds the test, then runs it with the variables that the words stand for.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let variables = match variables(words) {
        Ok(variables) => variables,
        Err(word) => {
            println!(
                "error: `{word}` is not understood\nhint: --inputs N, --seconds S, --seed K and --parser NAME"
            );
            return ExitCode::from(2);
        }
    };
    let test = [
        "test",
        "--config",
        OPTIMISED,
        "-p",
        "attractor-rs",
        // Alone it would be built with other features, and faer and the core with it.
        "-p",
        "attractor-cli",
        "--test",
        "fuzz",
    ];
    if !succeeds(cargo(test).arg("--no-run")) {
        return ExitCode::FAILURE;
    }
    let mut command = bounded(&test);
    command.envs(variables);
    exit_code(succeeds(&mut command))
}

/// Names and values of variables; the word that is none.
fn variables(words: &[String]) -> Result<Vec<(&'static str, String)>, String> {
    let mut variables = vec![("ATTRACTOR_FUZZ_INPUTS", INPUTS.to_string())];
    for pair in words.chunks(2) {
        let flag = FLAGS.iter().find(|(flag, _)| *flag == pair[0]);
        let is_named = pair[0] == FLAGS[0].0;
        let value = pair
            .get(1)
            .filter(|word| is_named || word.parse::<u64>().is_ok());
        match (flag, value) {
            (Some((_, variable)), Some(value)) => variables.push((variable, value.clone())),
            _ => return Err(pair[0].clone()),
        }
    }
    Ok(variables)
}

/// The test under a limit of addresses, where there is a shell that can set one.
fn bounded(test: &[&str]) -> Command {
    let shown = ["--", "--nocapture", "mutations"];
    if quietly(Command::new("bash").arg("--version")).is_err() {
        let mut command = cargo(test);
        command.args(shown);
        return command;
    }
    let words: Vec<&str> = test.iter().chain(&shown).copied().collect();
    let mut command = Command::new("bash");
    let script = format!("ulimit -v {ADDRESSES}; exec \"$@\"");
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    command.args(["-c", &script, "bash", &program]).args(words);
    command.current_dir(root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_variables() {
        let words =
            |text: &str| variables(&text.split(' ').map(str::to_string).collect::<Vec<_>>());
        let found = words("--seed 7 --inputs 50 --parser request").unwrap();
        assert_eq!(found[1], ("ATTRACTOR_FUZZ_SEED", "7".to_string()));
        assert_eq!(found[2], ("ATTRACTOR_FUZZ_INPUTS", "50".to_string()));
        assert_eq!(found[3], ("ATTRACTOR_FUZZ_PARSER", "request".to_string()));
        assert_eq!(words("--fast 3"), Err("--fast".to_string()));
        assert_eq!(words("--seed x"), Err("--seed".to_string()));
        assert_eq!(words("--seed"), Err("--seed".to_string()));
    }
}
