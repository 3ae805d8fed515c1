//! Counts the shaders of the corpus that translate to each language and are accepted by a checker, and the errors of
//! the others.
//!
//! WGSL is read and validated by naga with the features of every WebGPU implementation, GLSL and ESSL by glslang, HLSL
//! by glslang's HLSL front end. `TGSIC_ONLY=text` restricts the runs to paths that contain the text, `TGSIC_EVERY=n` to
//! every n-th shader, which is every 16th unless `TGSIC_LONG` is set; numbers are then only upper bounds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::common::{every, shaders, shared};
use rayon::prelude::*;
use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Compiler, Driver};
#[cfg(feature = "spirv-cross")]
use tgsi_driver_spirv_text::{ESSL, GLSL, HLSL, MSL};
use tgsi_driver_spirv_text::{Text, WGSL};

fn corpus(every: usize) -> Vec<PathBuf> {
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let all = shaders(&shared("corpus"));
    all.into_iter().filter(|path| path.to_string_lossy().contains(&only)).step_by(every).collect()
}

/// Removes ids, numbers and quoted names from a message, so that equal faults have equal texts.
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

/// Returns glslang's file suffix for the stage of a TGSI text.
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

/// Returns naga's error for a WGSL text, if it rejects it.
fn refused_by_naga(text: &str) -> Option<String> {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    // naga's reader supports the feature, but not the directive.
    let module = match naga::front::wgsl::parse_str(&text.replace("enable subgroups;\n", "")) {
        Ok(module) => module,
        Err(error) => return Some(error.message().to_owned()),
    };
    // The features of every WebGPU implementation, and clip-distances, primitive-index, subgroups,
    // texture-formats-tier1.
    let basic = Capabilities::default()
        | Capabilities::SHADER_FLOAT16_IN_FLOAT32
        | Capabilities::CLIP_DISTANCES
        | Capabilities::PRIMITIVE_INDEX
        | Capabilities::SUBGROUP
        | Capabilities::STORAGE_TEXTURE_16BIT_NORM_FORMATS;
    let error = Validator::new(ValidationFlags::all(), basic).validate(&module).err()?;
    let mut text = error.as_inner().to_string();
    let mut cause = std::error::Error::source(error.as_inner());
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    Some(text)
}

/// Returns glslang's errors for the texts that it rejects, by number. Some arguments restrict a call to a single text.
fn refused_by_glslang(texts: &[(usize, &'static str, &str)], arguments: &[&str]) -> Vec<(usize, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let files: Vec<PathBuf> = texts
        .iter()
        .map(|(number, stage, text)| {
            let file = folder.path().join(format!("{number}.{stage}"));
            std::fs::write(&file, text).expect("a file");
            file
        })
        .collect();
    let output = Command::new("glslangValidator").args(arguments).args(&files).output().expect("glslangValidator");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    // The name of each file precedes its messages.
    let mut refused: Vec<(usize, String)> = Vec::new();
    let mut current = None;
    let mut seen = 0;
    for line in output.lines() {
        if let Some(at) = files.iter().position(|file| file.to_str() == Some(line)) {
            current = texts.get(at).map(|(number, ..)| *number);
            seen += 1;
        } else if let (Some(number), Some(message)) = (current, line.strip_prefix("ERROR: "))
            && refused.last().is_none_or(|(last, _)| *last != number)
        {
            // Removes the file name and the line.
            refused.push((number, message.splitn(3, ':').last().unwrap_or_default().trim().to_owned()));
        }
    }
    assert_eq!(seen, files.len(), "glslang did not read all: {output}");
    refused
}

/// The text of a shader, or its error.
type Result = std::result::Result<String, String>;

/// Returns the checker's errors for the texts that it rejects, by number.
fn refused(driver: &Text, results: &[(&'static str, Result, PathBuf)]) -> Vec<(usize, String)> {
    let texts: Vec<(usize, &'static str, &str)> = results
        .iter()
        .enumerate()
        .filter_map(|(number, (stage, result, _))| Some((number, *stage, result.as_deref().ok()?)))
        .collect();
    let by_glslang = |count: usize, arguments: &[&str]| {
        texts.par_chunks(count).flat_map(|texts| refused_by_glslang(texts, arguments)).collect()
    };
    match driver.name() {
        "wgsl" => {
            let refused = |(number, _, text): &(usize, _, &str)| Some((*number, refused_by_naga(text)?));
            texts.par_iter().filter_map(refused).collect()
        }
        "glsl" | "essl" => by_glslang(32, &[]),
        "hlsl" => by_glslang(1, &["-D", "-e", "main", "-V", "-o", "/dev/null"]),
        _ => Vec::new(),
    }
}

/// Counts the results for all shaders. Every failure must have one of the listed causes, as often as listed: a
/// different number indicates a change in the emitted modules.
fn measure(driver: &'static Text, causes: &[(usize, &str)]) {
    let every = every(16, 1);
    let compiler = Compiler::for_target(driver.target(&[]).expect("no options").into());
    let start = Instant::now();
    let mut results: Vec<(&'static str, Result, PathBuf)> = corpus(every)
        .par_iter()
        .filter_map(|path| {
            let bytes = std::fs::read(path).expect("a file");
            let stage = stage_of(&bytes)?;
            let Reading { source, .. } = compiler.read(&TGSI_TEXT, &bytes);
            let result = match compiler.compile(source?) {
                Err(error) if error.code().id == "T2100" => return None,
                Err(error) => Err(format!("{} {}", error.code().id, kind(&error.to_string()))),
                Ok(code) => Ok(String::from_utf8_lossy(&code.into_bytes()).into_owned()),
            };
            Some((stage, result, path.clone()))
        })
        .collect();
    for (number, message) in refused(driver, &results) {
        results[number].1 = Err(format!("not accepted: {}", kind(&message)));
    }
    let all = results.len();
    let arrived = results.iter().filter(|(_, result, _)| result.is_ok()).count();
    println!("{}: {arrived} of {all} in {:.1?}", driver.name(), start.elapsed());
    for stage in ["vert", "frag", "comp", "geom", "tesc", "tese"] {
        let own = results.iter().filter(|(own, ..)| *own == stage);
        let (count, good) =
            own.fold((0, 0), |(count, good), (_, result, _)| (count + 1, good + u32::from(result.is_ok())));
        println!("    {stage}: {good} of {count}");
    }
    let mut kinds: BTreeMap<&str, Vec<&PathBuf>> = BTreeMap::new();
    for (_, result, path) in &results {
        if let Err(found) = result {
            kinds.entry(found).or_default().push(path);
        }
    }
    for (kind, paths) in &kinds {
        println!("{:6} {kind}\n       {}", paths.len(), paths[0].display());
    }
    let found: BTreeMap<&str, usize> = kinds.iter().map(|(kind, paths)| (*kind, paths.len())).collect();
    let expected: BTreeMap<&str, usize> = causes.iter().map(|&(count, cause)| (cause, count)).collect();
    assert_eq!(expected.len(), causes.len(), "a cause is listed twice");
    let all_are_wanted = every == 1 && std::env::var_os("TGSIC_ONLY").is_none();
    for cause in found.keys().chain(expected.keys()) {
        let (found, expected) = (found.get(cause).unwrap_or(&0), expected.get(cause).unwrap_or(&0));
        let is_right = if all_are_wanted { found == expected } else { found <= expected };
        assert!(is_right, "{}: {found} shaders, should be {expected}: {cause}", driver.name());
    }
}

/// Expected errors for WGSL.
const WGSL_CAUSES: &[(usize, &str)] = &[
    (
        1,
        "T2004 the language has no image without a format that is both read and written: declare it as R#_FLOAT, R#_SINT, R#_UINT",
    ),
    (20, "T2101 WGSL has no atomics on images: use a storage buffer"),
    (2, "T2101 WGSL has no clip distances as inputs"),
    (2, "T2101 WGSL has no clocks"),
    (14, "T2101 WGSL has no comparing lookups with a bias, gradients, or a level that is not #"),
    (4, "T2101 WGSL has no point coordinates"),
    (5, "T2101 WGSL has no cull distances"),
    (1, "T2101 WGSL has no framebuffer fetch"),
    (4, "T2101 WGSL has no built-in for helper invocations"),
    (
        11,
        "T2101 WGSL has no image of the format Rgba#f that is both read and written: use one with a single #-bit component",
    ),
    (20, "T2101 WGSL has no interpolation at a position given by the shader"),
    (2, "T2101 WGSL has no lookups of integer textures by a sampler"),
    (5, "T2101 WGSL has no multisampled images"),
    (13, "T2101 WGSL has no multisampled textures with layers"),
    (1, "T2101 WGSL has no operations of subgroups in vertex shaders"),
    (16, "T2101 WGSL has no output of stencil values"),
    (6, "T2101 WGSL has no point sizes: points are one pixel wide, so remove the output"),
    (7, "T2101 WGSL has no queries of the level of a lookup"),
    (2, "T2101 WGSL has no sample masks after the depth test"),
    (17, "T2101 WGSL has no viewports and layers selected by the shader"),
    (15, "T2101 WGSL has no writes to memory in vertex shaders"),
];

/// Expected errors for GLSL; framebuffer fetch is not part of core GLSL.
const GLSL_CAUSES: &[(usize, &str)] = &[
    (1, "T2004 the target has no framebuffer fetch"),
    (1, "T2101 GLSL has no such operation of subgroups, except for Vulkan"),
    (2, "T2101 GLSL has no viewport masks"),
];

/// Expected errors for GLSL ES, including extensions that this version of glslang does not support.
const ESSL_CAUSES: &[(usize, &str)] = &[
    (
        1,
        "T2004 the language has no image without a format that is both read and written: declare it as R#_FLOAT, R#_SINT, R#_UINT",
    ),
    (1, "T2004 the target has no framebuffer fetch"),
    (2, "T2101 ESSL has no clocks"),
    (7, "T2101 ESSL has no fine derivatives"),
    (
        11,
        "T2101 ESSL has no image of the format Rgba#f that is both read and written: use one with a single #-bit component",
    ),
    (4, "T2101 ESSL has no images of the format R#"),
    (5, "T2101 ESSL has no images of the format R#Snorm"),
    (3, "T2101 ESSL has no images of the format R#f"),
    (3, "T2101 ESSL has no images of the format R#fG#fB#f"),
    (4, "T2101 ESSL has no images of the format R#i"),
    (6, "T2101 ESSL has no images of the format R#ui"),
    (5, "T2101 ESSL has no images of the format Rg#"),
    (5, "T2101 ESSL has no images of the format Rg#Snorm"),
    (6, "T2101 ESSL has no images of the format Rg#f"),
    (7, "T2101 ESSL has no images of the format Rg#i"),
    (8, "T2101 ESSL has no images of the format Rg#ui"),
    (2, "T2101 ESSL has no images of the format Rgb#A#"),
    (3, "T2101 ESSL has no images of the format Rgb#a#ui"),
    (2, "T2101 ESSL has no images of the format Rgba#"),
    (2, "T2101 ESSL has no images of the format Rgba#Snorm"),
    (7, "T2101 ESSL has no multisampled images"),
    (1, "T2101 ESSL has no output of depth after the depth test"),
    (16, "T2101 ESSL has no output of stencil values"),
    (1, "T2101 ESSL has no queries of the number of levels"),
    (6, "T2101 ESSL has no queries of the number of samples"),
    (5, "T2101 ESSL has no streams of vertices"),
    (1, "T2101 ESSL has no such operation of subgroups, except for Vulkan"),
    (14, "T2101 ESSL has no viewports and layers selected by the shader"),
    (6, "not accepted: #' : No extensions available to emulate requested subgroup feature ."),
    (22, "not accepted: #' : extension not supported: GL_EXT_clip_cull_distance"),
    (3, "not accepted: #' : extension not supported: GL_EXT_conservative_depth"),
    (7, "not accepted: #' : extension not supported: GL_EXT_texture_query_lod"),
    (2, "not accepted: #' : extension not supported: GL_EXT_texture_shadow_lod"),
];

/// Expected errors for Metal.
const MSL_CAUSES: &[(usize, &str)] = &[
    (4, "T2009 GENERIC[#] and PATCH[#] are both at location #, unless the shader is linked"),
    (2, "T2101 MSL has no clocks"),
    (3, "T2101 MSL has no isolines"),
    (2, "T2101 MSL has no viewport masks"),
];

/// Expected errors for HLSL, including features that SPIRV-Cross cannot write.
const HLSL_CAUSES: &[(usize, &str)] = &[
    (4, "T2101 HLSL has no clip and cull distances as inputs of geometry shaders by way of SPIRV-Cross"),
    (2, "T2101 HLSL has no clocks"),
    (1, "T2101 HLSL has no framebuffer fetch"),
    (11, "T2101 HLSL has no geometry shaders without inputs by way of SPIRV-Cross"),
    (4, "T2101 HLSL has no built-in for helper invocations before shader model #.#"),
    (10, "T2101 HLSL has no invocations of geometry shaders by way of SPIRV-Cross"),
    (2, "T2101 HLSL has no lookups of integer textures by a sampler"),
    (8, "T2101 HLSL has no multisampled images before shader model #.#"),
    (16, "T2101 HLSL has no output of stencil values"),
    (6, "T2101 HLSL has no point sizes as inputs"),
    (1, "T2101 HLSL has no positions of samples"),
    (2, "T2101 HLSL has no sample masks after the depth test"),
    (1, "T2101 HLSL has no sizes of images of normalised and of other formats by way of SPIRV-Cross"),
    (5, "T2101 HLSL has no streams of vertices by way of SPIRV-Cross"),
    (2, "T2101 HLSL has no viewport masks"),
    (8, "T2101 HLSL has no viewports and layers selected by the shader"),
];

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn wgsl() {
    measure(&WGSL, WGSL_CAUSES);
}

#[test]
#[cfg(feature = "spirv-cross")]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn glsl() {
    measure(&GLSL, GLSL_CAUSES);
}

#[test]
#[cfg(feature = "spirv-cross")]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn essl() {
    measure(&ESSL, ESSL_CAUSES);
}

#[test]
#[cfg(feature = "spirv-cross")]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn msl() {
    measure(&MSL, MSL_CAUSES);
}

#[test]
#[cfg(feature = "spirv-cross")]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn hlsl() {
    measure(&HLSL, HLSL_CAUSES);
}
