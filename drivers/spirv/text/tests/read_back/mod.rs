//! Reads texts back as SPIR-V for the runner.

use std::collections::HashMap;
use std::process::Command;

use spirv::{BuiltIn, Decoration, Op, StorageClass};

/// Words before the first instruction.
const HEADER: usize = 5;

/// The reader of a language.
#[derive(Clone, Copy)]
pub enum Reader {
    /// WGSL.
    Naga,
    /// GLSL.
    Glslang,
    /// ESSL.
    GlslangEs,
    /// HLSL.
    GlslangHlsl,
}

/// glslang has these extensions in GLSL ES, but not the macros by which texts detect them.
const ES_ARGUMENTS: &[&str] = &[
    "-DGL_KHR_shader_subgroup_basic",
    "-DGL_KHR_shader_subgroup_vote",
    "-DGL_KHR_shader_subgroup_ballot",
    "-DGL_KHR_shader_subgroup_arithmetic",
    "-V",
    "-S",
    "comp",
];

/// Reads a text back as a module, and adds the notes of the original module: the runner's layout is one of them.
pub fn read_back(reader: Reader, text: &str, original: &[u32]) -> Result<Vec<u8>, String> {
    let words = match reader {
        Reader::Naga => by_naga(text)?,
        Reader::Glslang => by_glslang(text, &["-V", "-S", "comp"])?,
        Reader::GlslangEs => by_glslang(text, ES_ARGUMENTS)?,
        Reader::GlslangHlsl => by_glslang(&with_sizes_in_words(text), &["-V", "-D", "-e", "main", "-S", "comp"])?,
    };
    let words = completed(&words, &places(text), &notes(original));
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn by_naga(text: &str) -> Result<Vec<u32>, String> {
    use naga::back::spv;
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    // naga's reader supports the feature, but not the directive.
    let text = text.replace("enable subgroups;\n", "");
    let module = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| error.emit_to_string(&text))?;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: naga::proc::BoundsCheckPolicies::default(),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Native,
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    spv::write_vec(&module, &info, &options, None).map_err(|error| error.to_string())
}

/// Adapts an HLSL text to glslang, in which `GetDimensions` of a byte buffer returns the number of words. The text
/// expects bytes and converts them to words in the next line, which is removed.
fn with_sizes_in_words(text: &str) -> String {
    let mut lines = text.lines().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let size = line.split_once(".GetDimensions(").and_then(|(_, rest)| rest.strip_suffix(");"));
        if let Some(size) = size {
            let _ = lines.next_if(|next| next.trim_start() == format!("{size} = ({size} - 0) / 4;"));
        }
    }
    out
}

fn by_glslang(text: &str, arguments: &[&str]) -> Result<Vec<u32>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, module) = (folder.path().join("text.comp"), folder.path().join("module.spv"));
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let output = Command::new("glslangValidator")
        .args(["--target-env", "vulkan1.1"])
        .args(arguments)
        .arg("-o")
        .args([&module, &source])
        .output()
        .map_err(|error| error.to_string())?;
    let bytes = std::fs::read(&module).map_err(|_| format!("{}\n{text}", String::from_utf8_lossy(&output.stdout)))?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let length = ((first >> 16).max(1) as usize).min(rest.len());
        let (instruction, others) = rest.split_at(length);
        rest = others;
        Some((first & 0xffff, &instruction[1..]))
    })
}

/// Returns the strings of a module, without their ids.
fn notes(words: &[u32]) -> Vec<Vec<u32>> {
    let strings = instructions(words).filter(|(op, _)| *op == Op::String as u32);
    strings.filter_map(|(_, operands)| operands.get(1..).map(<[u32]>::to_vec)).collect()
}

/// Sets and bindings of the variables of a kind by their number in the text, from the comments in its first lines.
#[derive(Default)]
struct TextBindings {
    uniform: Vec<(u32, u32)>,
    storage: Vec<(u32, u32)>,
}

fn places(text: &str) -> TextBindings {
    let mut places = TextBindings::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("// ")) {
        let Some((what, place)) = line.split_once(": set ") else { continue };
        let Some((set, binding)) = place.split_once(", binding ") else { continue };
        let (Ok(set), Ok(binding)) = (set.parse(), binding.parse()) else { continue };
        if what.starts_with("uniform buffer") {
            places.uniform.push((set, binding));
        } else if what.starts_with("storage buffer") {
            places.storage.push((set, binding));
        }
    }
    places
}

/// Adds the notes, and the sets and bindings from the text's first lines, if any.
fn completed(words: &[u32], places: &TextBindings, notes: &[Vec<u32>]) -> Vec<u32> {
    let mut pointers = HashMap::new();
    let mut classes = HashMap::new();
    let mut numbers = HashMap::new();
    for (op, operands) in instructions(words) {
        match *operands {
            [id, class, _] if op == Op::TypePointer as u32 => {
                pointers.insert(id, class);
            }
            [ty, id, ..] if op == Op::Variable as u32 => {
                classes.insert(id, pointers.get(&ty).copied().unwrap_or_default());
            }
            [id, decoration, number] if op == Op::Decorate as u32 && decoration == Decoration::Binding as u32 => {
                numbers.insert(id, number);
            }
            _ => {}
        }
    }
    let place = |id: u32| {
        let of_kind = match classes.get(&id) {
            Some(&class) if class == StorageClass::Uniform as u32 => &places.uniform,
            Some(&class) if class == StorageClass::StorageBuffer as u32 => &places.storage,
            _ => return None,
        };
        of_kind.get(*numbers.get(&id)? as usize)
    };
    let mut out = words.get(..HEADER).unwrap_or_default().to_vec();
    let mut bound = out.get(3).copied().unwrap_or(1);
    let mut are_noted = false;
    let early = [
        Op::Capability,
        Op::Extension,
        Op::ExtInstImport,
        Op::MemoryModel,
        Op::EntryPoint,
        Op::ExecutionMode,
        Op::ExecutionModeId,
    ];
    for (op, operands) in instructions(words) {
        if !are_noted && early.iter().all(|&early| op != early as u32) {
            are_noted = true;
            for note in notes {
                out.push((note.len() as u32 + 2) << 16 | Op::String as u32);
                out.push(bound);
                out.extend(note);
                bound += 1;
            }
        }
        // glslang declares the size of the workgroup as a constant, which would override the size that the runner sets.
        if op == Op::Decorate as u32
            && operands.get(1..) == Some(&[Decoration::BuiltIn as u32, BuiltIn::WorkgroupSize as u32])
        {
            continue;
        }
        let mut operands = operands.to_vec();
        if let ([id, decoration, number], true) = (operands.as_mut_slice(), op == Op::Decorate as u32)
            && let Some(&(set, binding)) = place(*id)
        {
            if *decoration == Decoration::DescriptorSet as u32 {
                *number = set;
            } else if *decoration == Decoration::Binding as u32 {
                *number = binding;
            }
        }
        out.push((operands.len() as u32 + 1) << 16 | op);
        out.extend(operands);
    }
    if let Some(word) = out.get_mut(3) {
        *word = bound;
    }
    out
}
