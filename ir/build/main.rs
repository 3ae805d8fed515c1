//! Compiles the algebraic rules in `rules/*.rules` to constant tables: the rules, and a net that finds the rules with
//! matching shapes.
//!
//! An invalid rule stops the build with its file, line and column.

#[macro_use]
#[path = "../src/alu/table.rs"]
#[allow(dead_code, unused_imports)]
mod table;
include!("../src/options/table.rs");

mod check;
mod emit;
mod infer;
mod net;
mod opcodes;
mod parse;
mod reference_data;
mod sized_rules;

use std::path::Path;
use std::{env, fs, process};

/// The rule sets: name of the constant, file.
const SETS: &[(&str, &str)] =
    &[("MAIN", "rules/main.rules"), ("LATE", "rules/late.rules"), ("MODIFIERS", "rules/modifiers.rules")];

fn main() {
    reference_data::main();
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/alu/table.rs");
    println!("cargo::rerun-if-changed=src/options/table.rs");
    println!("cargo::rerun-if-changed=rules");
    let opcodes = opcodes::opcodes();
    let mut code = String::new();
    let mut failed = false;
    let mut switches = Vec::new();
    for (name, file) in SETS {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("error: ir/{file}: {error}");
                process::exit(1);
            }
        };
        let (rules, errors) = check::check(&opcodes, &text);
        for parse::RuleError { line, column, message } in &errors {
            eprintln!("error: ir/{file}:{line}:{column}: {message}");
            failed = true;
        }
        let net = net::build(&opcodes, &rules);
        code.push_str(&emit::Emitter::set(&opcodes, name, file, &rules, &net, &mut switches));
    }
    if failed {
        process::exit(1);
    }
    code.push_str(&emit::switches(&switches));
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    if let Err(error) = fs::write(Path::new(&out).join("rules.rs"), code) {
        eprintln!("error: {error}");
        process::exit(1);
    }
}
