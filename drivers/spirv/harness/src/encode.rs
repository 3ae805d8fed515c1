//! Writes the harness buffer from the inputs of a run.

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Resources, RunLimits, Vec4};
use tgsi_ir::shader::ShaderStage;

use crate::image;
use crate::layout::{
    ABSENT_WORDS, DROPPED_WORDS, HEADER_WORDS, Header, Layout, TEXEL_HASH, TEXEL_KEY, TEXEL_VALUE, TEXEL_WORDS,
    header_word,
};
use crate::system_values;

/// Slots of the table of texels, for shaders that store any.
const TEXEL_SLOTS: usize = 1 << 12;
/// Words for the emissions of one lane to one stream.
const EMISSION_WORDS: usize = 1 << 16;
/// Most words of the buffer.
const MAX_WORDS: usize = 1 << 27;

/// Writes the buffer for a run in which `quad_distance` invocations lie between the first ones of two quads, a power of
/// two of at least four.
///
/// # Errors
/// The inputs are too large.
pub fn encode(
    layout: &Layout,
    inputs: &Inputs,
    resources: &dyn Resources,
    limits: RunLimits,
    quad_distance: u32,
) -> Result<Vec<u32>, String> {
    let lanes = inputs.lanes;
    if lanes > MAX_LANES {
        return Err(format!("{lanes} lanes; at most {MAX_LANES} can be run at once"));
    }
    let mut buffer = Buffer { words: vec![0; HEADER_WORDS + ABSENT_WORDS + DROPPED_WORDS] };
    buffer.set(Header::Lanes, lanes);
    buffer.set(Header::QuadShift, quad_distance.max(4).ilog2() as usize);
    buffer.set(Header::Iterations, usize::try_from(limits.steps).unwrap_or(usize::MAX).min(u32::MAX as usize));

    let registers = input_registers(layout, inputs);
    let words = registers * 4 * lanes;
    buffer.part(Header::Inputs, words)?;
    buffer.set(Header::InputRegisters, registers);
    buffer.fill_rows(Header::Inputs, lanes, registers * 4, |row, lane| input_word(layout, inputs, row, lane));

    let mut rows = Vec::new();
    for slot in &layout.system_values {
        for component in 0..usize::from(slot.components) {
            rows.push((slot, component, 0));
            if slot.bit_size == 64 {
                rows.push((slot, component, 32));
            }
        }
    }
    buffer.part(Header::SystemValues, rows.len() * lanes)?;
    buffer.fill_rows(Header::SystemValues, lanes, rows.len(), |row, lane| {
        let (slot, component, shift) = rows[row];
        (system_values::value(inputs, slot, component, lane) >> shift) as u32
    });

    let vertex_registers = inputs.vertices.iter().map(Vec::len).max().unwrap_or(0);
    buffer.part(Header::Vertices, inputs.vertices.len() * vertex_registers * 4)?;
    buffer.set(Header::VertexCount, inputs.vertices.len());
    buffer.set(Header::VertexRegisters, vertex_registers);
    let first = header_word(&buffer.words, Header::Vertices) / 4;
    for (number, vertex) in inputs.vertices.iter().enumerate() {
        let at = first + number * vertex_registers * 4;
        let flat: &[u32] = <[Vec4]>::as_flattened(vertex);
        buffer.words[at..at + flat.len()].copy_from_slice(flat);
    }

    let framebuffer = of_lanes(&inputs.framebuffer, lanes);
    buffer.part(Header::Framebuffer, framebuffer * 4 * lanes)?;
    buffer.set(Header::FramebufferRegisters, framebuffer);
    buffer.fill_rows(Header::Framebuffer, lanes, framebuffer * 4, |row, lane| {
        inputs.framebuffer.get(row / 4, row % 4, lane)
    });

    let outputs = layout.output_registers as usize * 4;
    buffer.part(Header::Outputs, outputs * if layout.stage == ShaderStage::TessCtrl { 1 } else { lanes })?;
    let vertices = out_vertices(layout, lanes);
    buffer.part(Header::OutVertices, vertices * outputs)?;
    buffer.set(Header::OutVertexCount, vertices);

    buffer.part(Header::Live, lanes)?;
    buffer.fill_rows(Header::Live, lanes, 1, |_, _| 1);
    buffer.part(Header::MayWrite, lanes)?;
    buffer.fill_rows(Header::MayWrite, lanes, 1, |_, lane| {
        u32::from(!inputs.helpers.get(lane).copied().unwrap_or(false))
    });
    buffer.part(Header::Count, lanes)?;

    let emits = layout.streams.contains(&true);
    buffer.part(Header::Emissions, if emits { 4 * lanes * EMISSION_WORDS } else { 0 })?;
    buffer.set(Header::EmissionBytes, EMISSION_WORDS * 4);

    encode_texels(&mut buffer, layout, resources)?;

    buffer.part(Header::Counters, 2 * inputs.counters.len() + inputs.counters.iter().map(Vec::len).sum::<usize>())?;
    buffer.set(Header::CounterBuffers, inputs.counters.len());
    let list = header_word(&buffer.words, Header::Counters) / 4;
    let mut at = list + 2 * inputs.counters.len();
    for (number, counters) in inputs.counters.iter().enumerate() {
        buffer.words[list + 2 * number] = 4 * at as u32;
        buffer.words[list + 2 * number + 1] = counters.len() as u32;
        buffer.words[at..at + counters.len()].copy_from_slice(counters);
        at += counters.len();
    }

    buffer.part(Header::Shared, if layout.shared { inputs.shared_size.div_ceil(4) } else { 0 })?;
    buffer.set(Header::SharedSize, inputs.shared_size);
    Ok(buffer.words)
}

/// Returns the number of registers of per-lane inputs. Where there are vertices, an input without a vertex index reads
/// the first vertex.
fn input_registers(layout: &Layout, inputs: &Inputs) -> usize {
    let own = of_lanes(&inputs.inputs, inputs.lanes);
    if has_vertices(layout) { own.max(inputs.vertices.first().map_or(0, Vec::len)) } else { own }
}

fn has_vertices(layout: &Layout) -> bool {
    matches!(layout.stage, ShaderStage::Geometry | ShaderStage::TessCtrl | ShaderStage::TessEval)
}

fn input_word(layout: &Layout, inputs: &Inputs, row: usize, lane: usize) -> u32 {
    let (register, component) = (row / 4, row % 4);
    if has_vertices(layout) && inputs.inputs.component(register, component).is_empty() {
        let vertex = inputs.vertices.first();
        return vertex.and_then(|vertex| vertex.get(register)).map_or(0, |words| words[component]);
    }
    inputs.inputs.get(register, component, lane)
}

/// Returns the number of registers of a file, 0 if it is for another number of lanes.
fn of_lanes(file: &LaneRegisters, lanes: usize) -> usize {
    if lanes == 0 || file.lanes() == 0 { 0 } else { file.len() }
}

/// Returns the number of output vertices of a tessellation control shader.
pub(crate) fn out_vertices(layout: &Layout, lanes: usize) -> usize {
    match (layout.stage, layout.patch_vertices) {
        (ShaderStage::TessCtrl, 0) => lanes,
        (ShaderStage::TessCtrl, vertices) => (vertices as usize).min(MAX_LANES),
        _ => 0,
    }
}

fn encode_texels(buffer: &mut Buffer, layout: &Layout, resources: &dyn Resources) -> Result<(), String> {
    if !layout.stores_texels {
        return buffer.part(Header::Texels, 0);
    }
    let stored = resources.stored_texels();
    let slots = TEXEL_SLOTS.max((2 * stored.len()).next_power_of_two());
    let mask = slots - 1;
    buffer.part(Header::Texels, slots * TEXEL_WORDS as usize)?;
    buffer.set(Header::TexelMask, mask);
    let table = header_word(&buffer.words, Header::Texels) / 4;
    for ((unit, [x, y, z], sample), value) in stored {
        let key = [unit, x, y, z, sample];
        let hash = image::hash(key);
        let mut slot = image::first_slot(hash, mask as u32) as usize;
        let at = |slot: usize, word: u32| table + slot * TEXEL_WORDS as usize + word as usize;
        while buffer.words[at(slot, TEXEL_HASH)] != 0 {
            slot = (slot + 1) & mask;
        }
        buffer.words[at(slot, TEXEL_HASH)] = hash;
        buffer.words[at(slot, TEXEL_KEY)..][..5].copy_from_slice(&key);
        buffer.words[at(slot, TEXEL_VALUE)..][..4].copy_from_slice(&value);
    }
    Ok(())
}

/// The buffer under construction.
struct Buffer {
    words: Vec<u32>,
}

impl Buffer {
    fn set(&mut self, word: Header, value: usize) {
        self.words[word as usize] = value as u32;
    }

    /// Adds a zeroed part and stores its address in a word of the header.
    fn part(&mut self, place: Header, words: usize) -> Result<(), String> {
        let first = self.words.len();
        if first.saturating_add(words) > MAX_WORDS {
            return Err(format!("the run needs more than {MAX_WORDS} words"));
        }
        self.set(place, first * 4);
        self.words.resize(first + words, 0);
        Ok(())
    }

    /// Fills rows with one word per lane.
    fn fill_rows(&mut self, place: Header, lanes: usize, rows: usize, word: impl Fn(usize, usize) -> u32) {
        let first = self.words[place as usize] as usize / 4;
        for row in 0..rows {
            for lane in 0..lanes {
                self.words[first + row * lanes + lane] = word(row, lane);
            }
        }
    }
}
