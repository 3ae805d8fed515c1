//! Checks sets of shaders of others: which of their units the front end accepts.
//!
//! ```sh
//! TGSIC_OGLES=WebGL/sdk/tests/conformance/ogles cargo run -p tgsi-glsl --example shader_sets -- ogles
//! TGSIC_LIBRETRO=glsl-shaders cargo run -p tgsi-glsl --example shader_sets -- libretro
//! TGSIC_SHADER_DB=shader-db/shaders cargo run -p tgsi-glsl --example shader_sets -- shader-db 110 120 100
//! ```
//!
//! | set | units | expectation |
//! |---|---|---|
//! | `ogles` | files, as version 1.00 es | accepted, except those of pages with `"compstat": false` |
//! | `libretro` | files, with `PARAMETER_UNIFORM`, once with `VERTEX` and once with `FRAGMENT` defined | accepted |
//! | `shader-db` | distinct sections of `.shader_test` files, of the versions in the arguments | accepted |
//!
//! Prints the counts, and each difference with its first error. With `compile`, units that are accepted and have a
//! `main` are converted to IR, which is validated.

mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use shared::find_files;
use tgsi_glsl::{GlslOptions, Profile, Version, check, compile};
use tgsi_ir::shader::ShaderStage;

/// A unit, and whether it is valid.
struct Unit {
    name: String,
    text: Vec<u8>,
    stage: ShaderStage,
    options: GlslOptions,
    passes: bool,
}

fn folder(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => folder.into(),
        None => {
            eprintln!("set {variable} to the folder of the shaders");
            std::process::exit(2);
        }
    }
}

fn name(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// The shaders that the pages of a folder expect to be refused.
fn refused_by_pages(root: &Path) -> BTreeSet<PathBuf> {
    let mut refused = BTreeSet::new();
    for page in find_files(root, &["html"]) {
        let Ok(text) = std::fs::read_to_string(&page) else { continue };
        for test in text.split("\"pattern\"").filter(|test| test.contains("\"compstat\": false")) {
            for key in ["\"vertexShader\": \"", "\"fragmentShader\": \""] {
                let Some(name) = test.split_once(key).and_then(|(_, rest)| rest.split('"').next()) else { continue };
                if name.ends_with("default.vert") || name.ends_with("default.frag") {
                    continue;
                }
                refused.insert(page.with_file_name(name));
            }
        }
    }
    refused
}

fn ogles() -> Vec<Unit> {
    let root = folder("TGSIC_OGLES");
    let refused = refused_by_pages(&root);
    let mut units = Vec::new();
    for path in find_files(&root, &["vert", "frag"]) {
        let Ok(text) = std::fs::read(&path) else { continue };
        let is_vertex = path.extension().is_some_and(|e| e == "vert");
        let stage = if is_vertex { ShaderStage::Vertex } else { ShaderStage::Fragment };
        let mut options = GlslOptions::default();
        options.default_version = Version { number: 100, profile: Profile::Es };
        let passes = !refused.contains(&path);
        units.push(Unit { name: name(&path, &root), text, stage, options, passes });
    }
    units
}

fn libretro() -> Vec<Unit> {
    let root = folder("TGSIC_LIBRETRO");
    let mut units = Vec::new();
    for path in find_files(&root, &["glsl"]) {
        let Ok(text) = std::fs::read(&path) else { continue };
        for (stage, macro_name) in [(ShaderStage::Vertex, "VERTEX"), (ShaderStage::Fragment, "FRAGMENT")] {
            let mut options = GlslOptions::default();
            for name in [macro_name, "PARAMETER_UNIFORM"] {
                options.definitions.push((name.to_owned(), "1".to_owned()));
            }
            let name = format!("{} {macro_name}", name(&path, &root));
            units.push(Unit { name, text: text.clone(), stage, options, passes: true });
        }
    }
    units
}

fn version(text: &str) -> Option<Version> {
    let (major, minor) = text.trim().split_once('.')?;
    let number = major.trim().parse::<u16>().ok()? * 100 + minor.split_whitespace().next()?.parse::<u16>().ok()?;
    let profile = if number >= 150 { Profile::Core } else { Profile::Compatibility };
    Some(Version { number, profile })
}

fn shader_db() -> Vec<Unit> {
    const SECTIONS: [(&str, ShaderStage); 6] = [
        ("[vertex shader]", ShaderStage::Vertex),
        ("[fragment shader]", ShaderStage::Fragment),
        ("[geometry shader]", ShaderStage::Geometry),
        ("[tessellation control shader]", ShaderStage::TessCtrl),
        ("[tessellation evaluation shader]", ShaderStage::TessEval),
        ("[compute shader]", ShaderStage::Compute),
    ];
    let root = folder("TGSIC_SHADER_DB");
    let mut units = Vec::new();
    let mut seen = BTreeSet::new();
    for path in find_files(&root, &["shader_test"]) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let mut default = Version::DEFAULT;
        let mut section: Option<(ShaderStage, String)> = None;
        for line in text.lines().chain(["[test]"]) {
            let starts = line.starts_with('[') && line.trim_end().ends_with(']');
            if starts {
                if let Some((stage, text)) = section.take()
                    && seen.insert(text.clone())
                {
                    let mut options = GlslOptions::default();
                    options.default_version = default;
                    let name = format!("{} {stage:?}", name(&path, &root));
                    units.push(Unit { name, text: text.into_bytes(), stage, options, passes: true });
                }
                let line = line.trim_end();
                section = SECTIONS.iter().find(|&&(head, _)| head == line).map(|&(_, stage)| (stage, String::new()));
            } else if let Some((_, text)) = &mut section {
                text.push_str(line);
                text.push('\n');
            } else if let Some(number) = line.strip_prefix("GLSL >=") {
                default = version(number).unwrap_or(default);
            }
        }
    }
    units
}

/// The number of `#version`, or that of the options.
fn number(unit: &Unit) -> u16 {
    let text = String::from_utf8_lossy(&unit.text);
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("#version"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(unit.options.default_version.number)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let versions: Vec<u16> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let units = match arguments.first().map(String::as_str) {
        Some("ogles") => ogles(),
        Some("libretro") => libretro(),
        Some("shader-db") => shader_db(),
        _ => {
            eprintln!("name a set: ogles, libretro or shader-db");
            std::process::exit(2);
        }
    };
    // By version: valid units (accepted, all), and invalid units (refused, all).
    let mut counts: BTreeMap<u16, [[usize; 2]; 2]> = BTreeMap::new();
    let mut converted = 0;
    for unit in &units {
        let number = number(unit);
        if !versions.is_empty() && !versions.contains(&number) {
            continue;
        }
        let findings = check(&unit.text, unit.stage, &unit.options);
        let error = findings.iter().find(|finding| finding.is_error());
        let count = counts.entry(number).or_default();
        let (row, is_right) = if unit.passes { (0, error.is_none()) } else { (1, error.is_some()) };
        let (Some(row), true) = (count.get_mut(row), is_right) else {
            count[row][1] += 1;
            let line = |offset: u32| 1 + unit.text.iter().take(offset as usize).filter(|&&byte| byte == b'\n').count();
            let reason = error.map_or("accepted".to_owned(), |error| {
                format!("{}: {} {}", line(error.span.start), error.code.name, error.message)
            });
            println!("{number} {}: {reason}", unit.name);
            continue;
        };
        row[0] += 1;
        row[1] += 1;
        if error.is_some() || !has("compile") {
            continue;
        }
        let compiled = compile(&unit.text, unit.stage, &unit.options);
        match compiled.module {
            Some(module) => {
                converted += 1;
                if let Some(error) = tgsi_ir::validate::find_errors(&module.shader).first() {
                    println!("{number} {}: invalid IR: {error:?}", unit.name);
                }
            }
            None => {
                if let Some(error) = compiled.findings.iter().find(|finding| finding.is_error()) {
                    println!("{number} {}: no IR: {} {}", unit.name, error.code.name, error.message);
                }
            }
        }
    }
    for (version, [accepted, refused]) in counts {
        println!("{version}: accepted {} of {}, refused {} of {}", accepted[0], accepted[1], refused[0], refused[1]);
    }
    if has("compile") {
        println!("converted {converted}");
    }
}
