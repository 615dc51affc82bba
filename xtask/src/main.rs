//! House tasks: `cargo xtask VERB`. Each verb is one function and one line in [`VERBS`].

#![allow(
    clippy::print_stdout,
    reason = "a program for the terminal, with nothing but a terminal to talk to"
)]

mod bench;
mod benchmark;
mod browser;
mod command;
mod crates;
mod debian;
mod deny;
mod fuzz;
mod package;
mod pages;
mod paper;
mod python;
mod results;
mod suite;
mod tally;
mod test;
mod tidy;
mod tool;

use std::process::ExitCode;

/// A task: its name, what it does, and how. It is given the words after the verb.
struct Verb {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> ExitCode,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "test",
        about: "everything that must hold before a commit; `--quick` leaves slow tests, browser and documentation out, `--install-tools` compiles cargo-deny and mdbook first",
        run: test::run,
    },
    Verb {
        name: "tidy",
        about: "the house rules alone",
        run: tidy::run,
    },
    Verb {
        name: "docs",
        about: "build the documentation and run the examples of its pages",
        run: pages::run,
    },
    Verb {
        name: "crates",
        about: "pack the crates for crates.io and compile them from their packages",
        run: crates::run,
    },
    Verb {
        name: "bench",
        about: "run the benchmarks, or with `--build` time a release; `--record` keeps medians and times; further words go to the benchmarks",
        run: bench::run,
    },
    Verb {
        name: "benchmark",
        about: "models of systems that nobody tuned on, at equal core-seconds; `--quick` a few, `--table` the table alone",
        run: benchmark::run,
    },
    Verb {
        name: "fuzz",
        about: "try mutated inputs on every parser; `--inputs N`, `--seconds S`, `--seed K`",
        run: fuzz::run,
    },
    Verb {
        name: "browser",
        about: "open pages of `attractor report` in a headless Chromium",
        run: browser::run,
    },
    Verb {
        name: "paper",
        about: "train what is left of the paper's rows, and make all its tables and figures; `--quick` for a small form of all",
        run: paper::run,
    },
    Verb {
        name: "results",
        about: "pack a sweep's folder into a file of results/ and make all tables anew; `--unpack FILE DIR` unpacks one",
        run: results::run,
    },
    Verb {
        name: "help",
        about: "this list",
        run: help,
    },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = words.split_first() else {
        return help(&[]);
    };
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) => (verb.run)(rest),
        None => {
            println!("error: no task is named `{name}`\nhint: `cargo xtask help` lists them");
            ExitCode::from(2)
        }
    }
}

fn help(_: &[String]) -> ExitCode {
    println!("cargo xtask VERB\n");
    for verb in VERBS {
        println!("  {:10}{}", verb.name, verb.about);
    }
    ExitCode::SUCCESS
}
