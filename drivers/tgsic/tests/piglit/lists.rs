//! The lists of tests: a short list by hand, and all of piglit's tests on shaders.

use std::io::Read;
use std::path::Path;

use crate::common::files_below;

/// Parses a list with a test per line; `#` begins a comment.
pub fn parse(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// A few of each kind, all of which pass on the host of Debian 12.
pub fn short() -> Vec<String> {
    parse(include_str!("short.txt"))
}

/// Prefixes of the names of programs that test shaders.
const PROGRAMS: [&str; 24] = [
    "glsl-",
    "arb_shader",
    "arb_compute",
    "arb_gpu_shader",
    "arb_geometry",
    "arb_tessellation",
    "arb_transform_feedback",
    "ext_transform_feedback",
    "arb_uniform_buffer",
    "arb_separate_shader",
    "arb_enhanced_layouts",
    "arb_explicit_uniform",
    "arb_texture_gather",
    "arb_texture_query",
    "arb_sample_shading",
    "arb_fragment_",
    "arb_viewport_array",
    "arb_cull_distance",
    "arb_vertex_attrib_64bit",
    "ext_gpu_shader4",
    "fs-",
    "vs-",
    "gs-",
    "textureSize",
];

/// Returns all tests on shaders, both files and programs.
pub fn long(piglit: &Path) -> Vec<String> {
    let name = |path: &Path| path.strip_prefix(piglit).unwrap_or(path).to_string_lossy().into_owned();
    let mut tests: Vec<String> = ["tests/spec", "tests/shaders", "generated_tests"]
        .iter()
        .flat_map(|folder| files_below(&piglit.join(folder), "shader_test"))
        .map(|path| name(&path))
        .filter(|name| !name.starts_with("tests/spec") || name.contains("/execution/"))
        .collect();
    tests.extend(programs(piglit));
    tests
}

/// Returns the commands in piglit's list of programs.
fn programs(piglit: &Path) -> Vec<String> {
    let mut text = String::new();
    if let Ok(file) = std::fs::File::open(piglit.join("tests/quick_gl.xml.gz")) {
        let _ = flate2::read::GzDecoder::new(file).read_to_string(&mut text);
    }
    let mut found: Vec<String> = text
        .split("name=\"command\" value=\"[")
        .skip(1)
        .filter_map(|rest| {
            let words: Vec<&str> = rest.split("]\"").next()?.split(", ").map(|word| word.trim_matches('\'')).collect();
            let known = PROGRAMS.iter().any(|start| words[0].starts_with(start));
            let plain = words.iter().all(|word| !word.is_empty() && !word.contains([' ', '&', '"', '\'', '\\']));
            (known && plain && piglit.join("bin").join(words[0]).is_file()).then(|| words.join(" "))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}
