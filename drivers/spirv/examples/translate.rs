//! Translates one shader: `cargo run -p tgsi-driver-spirv --example translate -- FILE [OPTION...] > shader.spv`.

use std::io::Write;
use std::process::ExitCode;

use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Compiler, Driver};

fn main() -> ExitCode {
    match translate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn translate() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    let options: Vec<String> = arguments.collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let bytes = std::fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
    let target = tgsi_driver_spirv::DRIVER.target(&options).map_err(|error| error.to_string())?;
    let compiler = Compiler::for_target(target.into());
    let Reading { source, findings, .. } = compiler.read(&TGSI_TEXT, &bytes);
    let source = source.ok_or_else(|| format!("{file}: {findings:?}"))?;
    let code = compiler.compile(source).map_err(|error| format!("{file}: {error}"))?;
    std::io::stdout().write_all(&code.into_bytes()).map_err(|error| error.to_string())
}
