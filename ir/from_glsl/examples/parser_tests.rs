//! Checks piglit's parser tests: shaders that must or must not compile.
//!
//! ```sh
//! TGSIC_PIGLIT=/usr/lib/x86_64-linux-gnu/piglit cargo run --release -p tgsi-glsl --example parser_tests -- 110 120 100
//! ```
//!
//! Prints the counts by version, and each difference with its first finding. The arguments are the versions; `hand`
//! leaves out generated tests. Other arguments are parts of paths, one of which each test has.

mod shared;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use shared::find_files;
use tgsi_glsl::{Extension, Extensions, GlslOptions, Profile, Version, check};
use tgsi_ir::shader::ShaderStage;

/// The extensions of shaders.
const EXTENSIONS: [&str; 6] = ["vert", "frag", "geom", "tesc", "tese", "comp"];

/// The `[config]` section of a test.
struct Test {
    passes: bool,
    version: Version,
    links: bool,
    extensions: Vec<String>,
}

fn parse_config(text: &str) -> Option<Test> {
    let mut test = Test { passes: true, version: Version::DEFAULT, links: false, extensions: Vec::new() };
    let mut has_expectation = false;
    let config = text.split_once("[config]")?.1.split_once("[end config]")?.0;
    for line in config.lines() {
        let line = line.trim_start_matches(|c: char| c == '/' || c == '*' || c.is_whitespace());
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key.trim() {
            "expect_result" => {
                test.passes = value == "pass";
                has_expectation = true;
            }
            "glsl_version" => {
                let mut words = value.split_whitespace();
                let (major, minor) = words.next()?.split_once('.')?;
                let number = major.parse::<u16>().ok()? * 100 + minor.parse::<u16>().ok()?;
                let profile = match words.next() {
                    Some("es") => Profile::Es,
                    Some("compatibility") => Profile::Compatibility,
                    _ if number == 100 || number == 300 || number == 310 || number == 320 => Profile::Es,
                    _ if number >= 150 => Profile::Core,
                    _ => Profile::Compatibility,
                };
                test.version = Version { number, profile };
            }
            "check_link" => test.links = value == "true",
            "require_extensions" => test.extensions = value.split_whitespace().map(str::to_owned).collect(),
            _ => {}
        }
    }
    has_expectation.then_some(test)
}

fn main() {
    let root = std::env::var_os("TGSIC_PIGLIT").unwrap_or_else(|| "/usr/lib/x86_64-linux-gnu/piglit".into());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only_hand = arguments.iter().any(|argument| argument == "hand");
    let versions: Vec<u16> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let is_part = |argument: &&String| *argument != "hand" && argument.parse::<u16>().is_err();
    let parts: Vec<&String> = arguments.iter().filter(is_part).collect();
    let folders = if only_hand { &["tests"][..] } else { &["tests", "generated_tests"] };
    let mut paths: Vec<PathBuf> =
        folders.iter().flat_map(|folder| find_files(&Path::new(&root).join(folder), &EXTENSIONS)).collect();
    paths.retain(|path| {
        parts.is_empty() || path.to_str().is_some_and(|path| parts.iter().any(|part| path.contains(part.as_str())))
    });
    paths.sort();
    // By version: valid shaders (accepted, all), and invalid shaders (refused, all).
    let mut counts: BTreeMap<u16, [[usize; 2]; 2]> = BTreeMap::new();
    for path in paths {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let Some(test) = parse_config(&text) else { continue };
        if !versions.is_empty() && !versions.contains(&test.version.number) {
            continue;
        }
        let stage = match path.extension().and_then(|e| e.to_str()) {
            Some("vert") => ShaderStage::Vertex,
            Some("geom") => ShaderStage::Geometry,
            Some("tesc") => ShaderStage::TessCtrl,
            Some("tese") => ShaderStage::TessEval,
            Some("comp") => ShaderStage::Compute,
            _ => ShaderStage::Fragment,
        };
        let mut options = GlslOptions::default();
        options.default_version = test.version;
        options.extensions = Extensions::ALL;
        // `!NAME`: the test is for implementations without it.
        for absent in test.extensions.iter().filter_map(|name| Extension::from_name(name.strip_prefix('!')?)) {
            options.extensions.set(absent, false);
        }
        let findings = if test.links {
            let compiled = tgsi_glsl::compile(&bytes, stage, &options);
            compiled.findings
        } else {
            check(&bytes, stage, &options)
        };
        let error = findings.iter().find(|finding| finding.is_error());
        let count = counts.entry(test.version.number).or_default();
        let (row, is_right) = if test.passes { (0, error.is_none()) } else { (1, error.is_some()) };
        count[row][0] += usize::from(is_right);
        count[row][1] += 1;
        if !is_right {
            let name = path.strip_prefix(&root).unwrap_or(&path).display();
            let line = |offset: u32| 1 + bytes.iter().take(offset as usize).filter(|&&byte| byte == b'\n').count();
            let reason = error.map_or("accepted".to_owned(), |error| {
                format!("{}: {} {}", line(error.span.start), error.code.name, error.message)
            });
            println!("{} {name}: {reason}", test.version.number);
        }
    }
    for (version, [accepted, refused]) in counts {
        println!("{version}: accepted {} of {}, refused {} of {}", accepted[0], accepted[1], refused[0], refused[1]);
    }
}
