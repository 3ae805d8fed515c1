//! Translates a shader to a text language: `cargo run -p tgsi-driver-spirv-text --example to_text -- wgsl shader.tgsi`.

use std::error::Error;

use tgsi_compiler::front_end::TGSI_TEXT;
use tgsi_compiler::{Compiler, Driver};
use tgsi_driver_spirv_text::{ESSL, GLSL, HLSL, MSL, WGSL};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("usage: to_text LANGUAGE FILE [OPTION...]".into());
    };
    let options: Vec<String> = arguments.collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let drivers = [&WGSL, &GLSL, &ESSL, &MSL, &HLSL];
    let driver = drivers.into_iter().find(|driver| driver.name() == name).ok_or("no such language")?;
    let bytes = std::fs::read(path)?;
    let compiler = Compiler::for_target(driver.target(&options)?.into());
    let source = compiler.read(&TGSI_TEXT, &bytes).source;
    let code = compiler.compile(source.ok_or("not a shader")?)?;
    print!("{}", String::from_utf8_lossy(&code.into_bytes()));
    Ok(())
}
