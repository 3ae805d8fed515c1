//! Results of a shader and of its translation, for the same inputs.

use tgsi::Shader;
use tgsi::shader::Declaration;
use tgsi::tables::{File, Processor, PropertyName, Semantic};
use tgsi_environment::{AnalyticResources, Inputs, Outputs, Resources, RunLimits, SystemValue};
use tgsi_run::vectors::Agreement;
use tgsi_run::{Program, run};

use super::declared::DeclaredResources;

/// Generated inputs: floats, integers, integral floats, a mixture, and values near those where operations change.
const SEEDS: [u64; 5] = [0, 1, 2, 3, 5];

/// The result of a comparison.
pub(super) enum Comparison {
    /// All words agree; whether all bits do.
    Same { exact: bool },
    /// The first difference.
    Different(String),
    /// The source has no results.
    Unknown,
}

/// Gives `changed`, the translation of `source`, the values that `source` reads: an input of one may be a system value
/// of the other, and positions of fragments of modules for Vulkan count from centres at halves. Returns false if a
/// position is not exact at halves.
#[must_use]
pub(super) fn add_inputs(inputs: &mut Inputs, source: &Shader, changed: &Shader) -> bool {
    match source.processor {
        Processor::Fragment => {}
        Processor::Geometry => {
            add_primitive_id(inputs, source);
            return true;
        }
        _ => return true,
    }
    let declarations = source.declarations.iter().filter(|d| d.file == File::Input);
    for (semantic, register) in declarations.filter_map(|d| Some((d.semantic?.name, usize::from(d.first)))) {
        let (value, components) = match semantic {
            Semantic::Position => (SystemValue::FragCoord, 4),
            Semantic::PointCoord => (SystemValue::PointCoord, 2),
            Semantic::Face => (SystemValue::FrontFace, 1),
            other => match other.system_value() {
                Some(value) => (value, 1),
                None => continue,
            },
        };
        let mut words: Vec<Vec<u32>> =
            (0..components).map(|component| inputs.inputs.component(register, component).to_vec()).collect();
        words.iter_mut().for_each(|column| column.resize(inputs.lanes, 0));
        if semantic == Semantic::Face {
            for column in &mut words {
                column.iter_mut().for_each(|word| *word = if f32::from_bits(*word) >= 0.0 { u32::MAX } else { 0 });
            }
        }
        inputs.system_values.insert(value, words);
    }
    if let Some(column) = inputs.system_values.get(&SystemValue::PrimitiveId).and_then(|words| words.first()).cloned() {
        set_input(inputs, changed, Semantic::PrimitiveId, &[column]);
    }
    let has_integer_center = source.property(PropertyName::FsCoordPixelCenter) == Some(1)
        && changed.property(PropertyName::FsCoordPixelCenter) != Some(1);
    let Some(position) = inputs.system_values.get_mut(&SystemValue::FragCoord) else { return true };
    let mut is_exact = true;
    if has_integer_center {
        for word in position.iter_mut().take(2).flatten() {
            let moved = f32::from_bits(*word) + 0.5;
            is_exact &= (moved - 0.5).to_bits() == *word;
            *word = moved.to_bits();
        }
    }
    let position = position.clone();
    set_input(inputs, changed, Semantic::Position, &position);
    is_exact
}

/// Sets an input of a shader by its semantic.
fn set_input(inputs: &mut Inputs, shader: &Shader, semantic: Semantic, columns: &[Vec<u32>]) {
    let mut declared = shader.declarations.iter().filter(|d| d.file == File::Input);
    let Some(input) = declared.find(|d| d.semantic.is_some_and(|found| found.name == semantic)) else { return };
    for (component, column) in columns.iter().enumerate() {
        for (lane, &word) in column.iter().enumerate() {
            inputs.inputs.set(usize::from(input.first), component, lane, word);
        }
    }
}

/// Gives the number of the primitive that is an input of `source` as a system value.
fn add_primitive_id(inputs: &mut Inputs, source: &Shader) {
    let is_id = |d: &&Declaration| {
        d.file == File::Input && d.semantic.is_some_and(|semantic| semantic.name == Semantic::PrimitiveId)
    };
    let Some(register) = source.declarations.iter().find(is_id).map(|d| usize::from(d.first)) else { return };
    let word = inputs.vertices.first().and_then(|vertex| vertex.get(register)).map_or(0, |words| words[0]);
    inputs.system_values.insert(SystemValue::PrimitiveId, vec![vec![word; inputs.lanes]]);
}

/// The words of a run, with their places.
fn words(source: &Shader, outputs: &Outputs, resources: &impl Resources) -> Vec<(String, u32)> {
    let mut words = Vec::new();
    words.extend(outputs.live.iter().enumerate().map(|(lane, &live)| (format!("live {lane}"), u32::from(live))));
    let declared = source.declarations.iter().filter(|d| d.file == File::Output);
    // Vulkan has no edge flags.
    let declared = declared.filter(|d| d.semantic.is_none_or(|semantic| semantic.name != Semantic::EdgeFlag));
    let registers: Vec<usize> = declared.flat_map(|d| usize::from(d.first)..=usize::from(d.last)).collect();
    for &register in &registers {
        for component in 0..4 {
            let column = outputs.outputs.component(register, component);
            for lane in (0..outputs.live.len()).filter(|&lane| outputs.live[lane]) {
                let word = column.get(lane).copied().unwrap_or(0);
                words.push((format!("OUT[{register}].{component} lane {lane}"), word));
            }
        }
    }
    let mut vertex = |name: String, vertex: &Vec<[u32; 4]>| {
        for &register in &registers {
            for (component, word) in vertex.get(register).copied().unwrap_or_default().into_iter().enumerate() {
                words.push((format!("{name} OUT[{register}].{component}"), word));
            }
        }
    };
    outputs.vertices.iter().enumerate().for_each(|(number, words)| vertex(format!("vertex {number}"), words));
    for (stream, primitives) in outputs.emitted.iter().enumerate() {
        for (primitive, vertices) in primitives.iter().enumerate() {
            for (number, words) in vertices.iter().enumerate() {
                vertex(format!("stream {stream} primitive {primitive} vertex {number}"), words);
            }
        }
    }
    for (number, buffer) in outputs.buffers.iter().enumerate() {
        let buffer = buffer.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        words.extend(buffer.enumerate().map(|(place, word)| (format!("BUFFER[{number}] word {place}"), word)));
    }
    for (number, counters) in outputs.counters.iter().enumerate() {
        words.extend(counters.iter().enumerate().map(|(i, &word)| (format!("HWATOMIC[{number}][{i}]"), word)));
    }
    let shared = outputs.shared.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    words.extend(shared.enumerate().map(|(place, word)| (format!("MEMORY word {place}"), word)));
    for (place, texel) in resources.stored_texels() {
        words.extend(texel.into_iter().map(|word| (format!("{place:?}"), word)));
    }
    words
}

/// Runs both for several sets of inputs. The changed shader has the registers of the source.
pub(super) fn compare(source: &Shader, changed: &Shader, limits: RunLimits) -> Comparison {
    let Ok(program) = Program::new(source) else { return Comparison::Unknown };
    let after = match Program::new(changed) {
        Ok(program) => program,
        Err(error) => return Comparison::Different(error.to_string()),
    };
    let (mut has_results, mut exact) = (false, true);
    for seed in SEEDS {
        let mut inputs = tgsi_verify::make_inputs(source, seed);
        let mut resources = DeclaredResources::of(source);
        let Ok(expected) = run(&program, &inputs, &mut resources, limits) else { continue };
        if resources.is_outside {
            continue;
        }
        let expected = words(source, &expected, &resources);
        if !add_inputs(&mut inputs, source, changed) {
            continue;
        }
        let mut resources = AnalyticResources::default();
        let found = match run(&after, &inputs, &mut resources, limits) {
            Ok(outputs) => words(source, &outputs, &resources),
            Err(error) => return Comparison::Different(format!("inputs {seed}: {error}")),
        };
        has_results = true;
        if expected.len() != found.len() {
            return Comparison::Different(format!("inputs {seed}: {} words, not {}", found.len(), expected.len()));
        }
        for ((place, expected), (_, found)) in expected.iter().zip(&found) {
            // The bits of a NaN are not defined.
            exact &= expected == found || [expected, found].iter().all(|&&word| f32::from_bits(word).is_nan());
            if Agreement::of(*expected, *found) == Agreement::Different {
                return Comparison::Different(format!("inputs {seed}: {place} is {found:08x}, not {expected:08x}"));
            }
        }
    }
    if has_results { Comparison::Same { exact } } else { Comparison::Unknown }
}
