//! Translations in the dialect of virgl on a real host: every shader that it accepts untranslated must be accepted
//! translated.
//!
//! The host is `virgl_test_server` (Debian's package `virgl-server`) on a private socket, with software rendering. The
//! test uses only the commands of its protocol that convert, compile and link a shader with trivial shaders for the
//! other stages; nothing is drawn. A host that refuses a shader closes the connection.
//!
//! Skipped with a message if there is no host. `TGSIC_ONLY=text` restricts the shaders to those with the text in their
//! path, and prints the answers of the host.

#[path = "virgl_host/host.rs"]
mod host;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host::{Host, HostAnswer};
use tgsi::Shader;
use tgsi::shader::Declaration;
use tgsi::tables::{File, Processor, Semantic};
use tgsi::text::{PrintOptions, SkippedParts};
use tgsi_compiler::Compiler;
use tgsi_driver_tgsi::{Dialect, TgsiOptions};

/// A translation and its source.
struct Pair {
    name: String,
    before: String,
    after: Option<String>,
    shader: Shader,
    instructions: (usize, usize),
}

fn options() -> TgsiOptions {
    TgsiOptions::default().with(|o| o.dialect = Dialect::Virgl)
}

/// Translates like the command. None for shaders that the dialect cannot express.
fn translated(text: &[u8], name: &str) -> Option<(Shader, Option<Shader>)> {
    let mut source = tgsi::text::parse(text).ok()?.shader;
    let compiler = Compiler::new(options());
    if compiler.check(&mut source, &SkippedParts::default()).has_errors() {
        return None;
    }
    let result = compiler.compile(&source).map(|code| code.into_tgsi().expect("TGSI"));
    let result = result.inspect_err(|error| println!("{name}: {error}")).ok();
    Some((source, result))
}

fn pairs(folder: &Path) -> Vec<Pair> {
    let only = std::env::var("TGSIC_ONLY").ok();
    let mut files: Vec<PathBuf> = Vec::new();
    for sub in ["ntt22", "glsl_to_tgsi20", "public"] {
        files.extend(std::fs::read_dir(folder.join(sub)).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    files.sort();
    let mut pairs = Vec::new();
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let Ok(text) = std::fs::read(&path) else { continue };
        let Some((shader, result)) = translated(&text, &name) else { continue };
        let print = |shader: &Shader| tgsi::text::print(shader, PrintOptions::default().with_hex_floats(true));
        let before = String::from_utf8_lossy(&text).into_owned();
        let instructions = (shader.instructions.len(), result.as_ref().map_or(0, |r| r.instructions.len()));
        pairs.push(Pair { name, before, after: result.as_ref().map(print), shader, instructions });
    }
    pairs
}

/// A vertex shader that writes the inputs of another stage.
fn partner(shader: &Shader) -> String {
    let mut text = String::from("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\n");
    let mut body = String::from("MOV OUT[0], IN[0]\n");
    let is_read = |d: &&Declaration| d.file == File::Input && shader.processor != Processor::Vertex;
    let mut next = 1;
    for declaration in shader.declarations.iter().filter(is_read) {
        let Some(semantic) = declaration.semantic else { continue };
        let passes = matches!(
            semantic.name,
            Semantic::Generic | Semantic::TexCoord | Semantic::Color | Semantic::BackColor | Semantic::Fog
        );
        if !passes {
            continue;
        }
        let count = u32::from(declaration.last - declaration.first) + 1;
        let array = declaration.array().map_or(String::new(), |number| format!(", ARRAY({number})"));
        let range = if count > 1 { format!("{next}..{}", next + count - 1) } else { next.to_string() };
        text += &format!("DCL OUT[{range}]{array}, {}[{}]\n", semantic.name.name(), semantic.index);
        for register in next..next + count {
            body += &format!("MOV OUT[{register}], IN[0]\n");
        }
        next += count;
    }
    text + &body + "END\n"
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn a_host_takes_what_it_took_before() {
    let folder = crate::common::shared("corpus");
    let Some(mut host) = Host::start() else {
        eprintln!("virgl_host: skipped, there is no virgl_test_server");
        return;
    };
    let verbose = std::env::var_os("TGSIC_ONLY").is_some();
    let pairs = pairs(&folder);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut instructions = (0, 0);
    let mut wrong = Vec::new();
    for pair in &pairs {
        let with = partner(&pair.shader);
        let before = host.offer(&pair.shader, &pair.before, &with);
        let Some(text) = &pair.after else {
            *counts.entry("not translated").or_default() += 1;
            if before == HostAnswer::Taken {
                wrong.push(format!("{}: the host takes it, but it has no translation", pair.name));
            }
            continue;
        };
        let after = host.offer(&pair.shader, text, &with);
        if verbose {
            println!("{}: {before:?}, then {after:?}\n{}\n---\n{text}", pair.name, pair.before);
        }
        *counts
            .entry(match (&before, &after) {
                (HostAnswer::Taken, HostAnswer::Taken) => "taken before and after",
                (HostAnswer::Taken, _) => "taken before, refused after",
                (_, HostAnswer::Taken) => "refused before, taken after",
                _ => "refused before and after",
            })
            .or_default() += 1;
        if let (HostAnswer::Refused(_), HostAnswer::Refused(why)) = (&before, &after) {
            println!("{}: refused either way: {why}", pair.name);
        }
        if before == HostAnswer::Taken {
            instructions.0 += pair.instructions.0;
            instructions.1 += pair.instructions.1;
            if let HostAnswer::Refused(why) = after {
                wrong.push(format!("{}: {why}", pair.name));
            }
        }
    }
    println!("{counts:?}; instructions of those taken: {} before, {} after", instructions.0, instructions.1);
    assert!(wrong.is_empty(), "{} are refused after translation:\n{}", wrong.len(), wrong.join("\n"));
    assert!(verbose || counts.get("taken before and after").is_some_and(|&n| n > 1000), "{counts:?}");
}
