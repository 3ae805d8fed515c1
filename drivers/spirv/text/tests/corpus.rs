//! How many shaders of the corpus get to each language and are accepted there, and what becomes of the others.
//!
//! WGSL is read and validated by naga with what every WebGPU has, GLSL and ESSL by glslang, HLSL by its front end for
//! that. `TGSIC_ONLY=text` restricts the runs to shaders whose path contains the text, `TGSIC_EVERY=n` to every n-th.

#[path = "../../../../tgsi/tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use common::{shaders, shared};
use rayon::prelude::*;
use tgsi_compiler::{Compiler, Driver, input};
use tgsi_driver_spirv_text::{ESSL, GLSL, HLSL, MSL, Text, WGSL};

fn corpus(every: usize) -> Vec<PathBuf> {
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let every = std::env::var("TGSIC_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(every);
    let all = shaders(&shared("corpus"));
    all.into_iter().filter(|path| path.to_string_lossy().contains(&only)).step_by(every).collect()
}

/// A message without ids, numbers and names in quotes, so that the same fault reads the same.
fn kind(message: &str) -> String {
    let message = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut kind = String::new();
    let mut quoted = false;
    for c in message.chars() {
        quoted ^= matches!(c, '\'' | '`');
        let c = if c.is_ascii_digit() || quoted { '#' } else { c };
        if c != '#' || !kind.ends_with('#') {
            kind.push(c);
        }
    }
    kind.chars().take(160).collect()
}

/// The suffix by which glslang knows the stage of a TGSI text.
fn stage_of(source: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(source);
    let word = text.split_whitespace().next().unwrap_or_default();
    let stages = [
        ("VERT", "vert"),
        ("FRAG", "frag"),
        ("COMP", "comp"),
        ("GEOM", "geom"),
        ("TESS_CTRL", "tesc"),
        ("TESS_EVAL", "tese"),
    ];
    stages.iter().find(|(name, _)| word.starts_with(name)).map(|(_, stage)| *stage)
}

/// What a checker says of a text that it refuses.
fn refused(driver: &Text, text: &str, stage: &str) -> Option<String> {
    let glslang = |arguments: &[&str]| {
        let file = tempfile::Builder::new().suffix(&format!(".{stage}")).tempfile().expect("a file");
        std::fs::write(file.path(), text).expect("a file");
        let output = Command::new("glslangValidator").args(arguments).arg(file.path()).output().ok()?;
        let message = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = message.lines().find(|line| line.contains("ERROR")).unwrap_or_default().to_owned();
        // Where: the name of the file and the line.
        let line = line.splitn(5, ':').last().unwrap_or_default().trim().to_owned();
        (!output.status.success()).then_some(line)
    };
    match driver.name() {
        "wgsl" => {
            let module = match naga::front::wgsl::parse_str(text) {
                Ok(module) => module,
                Err(error) => return Some(error.message().to_owned()),
            };
            let flags = naga::valid::ValidationFlags::all();
            use naga::valid::Capabilities;
            // What every WebGPU has, and the features clip-distances, primitive-index, subgroups,
            // texture-formats-tier1.
            let basic = Capabilities::default()
                | Capabilities::SHADER_FLOAT16_IN_FLOAT32
                | Capabilities::CLIP_DISTANCES
                | Capabilities::PRIMITIVE_INDEX
                | Capabilities::SUBGROUP
                | Capabilities::STORAGE_TEXTURE_16BIT_NORM_FORMATS;
            let error = naga::valid::Validator::new(flags, basic).validate(&module).err()?;
            let mut text = error.as_inner().to_string();
            let mut cause = std::error::Error::source(error.as_inner());
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            Some(text)
        }
        "glsl" | "essl" => glslang(&[]),
        "hlsl" => glslang(&["-D", "-e", "main", "-V", "-o", "/dev/null"]),
        _ => None,
    }
}

/// Counts what becomes of every n-th shader. What does not arrive does so for one of the causes, and what naga writes
/// of other languages than WGSL is three quarters at least.
fn measure(driver: &'static Text, every: usize, causes: &[&str]) {
    let compiler = Compiler::for_target(driver.target(&[]).expect("no options").into());
    let start = Instant::now();
    let results: Vec<(&'static str, Option<String>, PathBuf)> = corpus(every)
        .par_iter()
        .filter_map(|path| {
            let bytes = std::fs::read(path).expect("a file");
            let stage = stage_of(&bytes)?;
            let (source, _) = compiler.read(&bytes, input::Language::of(&bytes), false);
            let found = match compiler.compile(source?) {
                Err(error) if error.to_string().starts_with("there is no way to") => return None,
                Err(error) => Some(kind(&error.to_string())),
                Ok(code) => {
                    let text = String::from_utf8_lossy(&code.into_bytes()).into_owned();
                    refused(driver, &text, stage).map(|message| format!("not accepted: {}", kind(&message)))
                }
            };
            Some((stage, found, path.clone()))
        })
        .collect();
    let all = results.len();
    let arrived = results.iter().filter(|(_, found, _)| found.is_none()).count();
    println!("{}: {arrived} of {all} in {:.1?}", driver.name(), start.elapsed());
    for stage in ["vert", "frag", "comp", "geom", "tesc", "tese"] {
        let own = results.iter().filter(|(own, ..)| *own == stage);
        let (count, good) =
            own.fold((0, 0), |(count, good), (_, found, _)| (count + 1, good + u32::from(found.is_none())));
        println!("    {stage}: {good} of {count}");
    }
    let mut kinds: BTreeMap<&str, Vec<&PathBuf>> = BTreeMap::new();
    for (_, found, path) in &results {
        if let Some(found) = found {
            kinds.entry(found).or_default().push(path);
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
    for (kind, paths) in &kinds {
        println!("{:6} {kind}\n       {}", paths.len(), paths[0].display());
    }
    let by_naga = driver.name() != "wgsl" && !cfg!(feature = "spirv-cross");
    if by_naga {
        assert!(arrived * 4 >= all * 3, "{}: {arrived} of {all}", driver.name());
    } else {
        let other: Vec<_> = kinds.iter().filter(|(kind, _)| !causes.iter().any(|cause| kind.contains(cause))).collect();
        assert!(other.is_empty(), "{}: causes that are not known: {other:#?}", driver.name());
    }
}

/// What WGSL lacks, and what naga does.
const WGSL_CAUSES: &[&str] = &[
    "WGSL has no ",
    "the language has no image without a format that is both read and written",
    "Built-in ClipDistances is not available at this stage",
    "Vertex shaders must return a",
    "Uses operations forbidden at this stage",
    // naga's reader does not know it yet, naga's writer makes text that needs it.
    "enable-extension is not yet supported",
];

/// What GLSL lacks; the extension is one that this glslang does not know.
const GLSL_CAUSES: &[&str] = &[
    "GLSL has no ",
    "the target has no framebuffer fetch",
    "This subgroup operation is only supported in Vulkan semantics",
    OTHER_VERTEX,
    UNDECLARED_ARRAY,
];

/// What GLSL ES lacks; the extensions are some that this glslang does not know.
const ESSL_CAUSES: &[&str] = &["ESSL has no ", "extension not supported: GL_EXT_", OTHER_VERTEX, UNDECLARED_ARRAY];

/// glslang wants the outputs of an invocation of a tessellation control shader to be written by no other.
const OTHER_VERTEX: &str = "tessellation-control per-vertex output l-value must be indexed with gl_InvocationID";
const UNDECLARED_ARRAY: &str = "identifier not previously declared";

/// What Metal lacks.
const MSL_CAUSES: &[&str] = &["MSL has no ", "Trying to dynamically index into", "Metal does not support isoline"];

/// What HLSL lacks.
const HLSL_CAUSES: &[&str] = &["HLSL has no "];

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn wgsl() {
    measure(&WGSL, 8, WGSL_CAUSES);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn glsl() {
    measure(&GLSL, 8, GLSL_CAUSES);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn essl() {
    measure(&ESSL, 8, ESSL_CAUSES);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn msl() {
    measure(&MSL, 8, MSL_CAUSES);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn hlsl() {
    measure(&HLSL, 8, HLSL_CAUSES);
}
