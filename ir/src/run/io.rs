//! Shader inputs and outputs: initial values of variables, outputs at the end, and lowered loads and stores.

use super::error::RunError;
use super::layout::{COMMON, read, read_component, written, written_component};
use super::machine::{Machine, put};
use super::ops::{Intrinsic, Value};
use super::plans::Link;
use super::program::Program;
use crate::alu::{AluOp, AluType, evaluate};
use crate::intrinsics::indices::IoSemantics;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::ShaderStage;
use tgsi_environment::SystemValue;
use tgsi_environment::{LaneRegisters, Outputs, Vec4};

/// Maximum number of words that a geometry shader may emit: a loop with an emission must not exhaust memory before the
/// step limit ends it.
const MAX_EMITTED_WORDS: u64 = 1 << 24;
/// Number of words that a vertex or primitive takes besides its registers.
const EMISSION_OVERHEAD: u64 = 8;

/// The register and first component of a lowered access of a lane.
struct Slot {
    register: u32,
    component: usize,
}

impl Machine<'_, '_> {
    /// Sets the cells of variables from inputs, uniforms, system values and initialisers.
    pub fn fill_variables(&mut self) {
        let plan = &self.program.io;
        let inputs = self.inputs;
        let (lanes, width) = (self.lanes, self.width);
        let fill = |private: &mut [u32], link: &Link, words: &[u32]| {
            let Some(cell) = private.get_mut(link.cell as usize * width..(link.cell as usize + 1) * width) else {
                return;
            };
            for (slot, &word) in cell.iter_mut().zip(words) {
                *slot = read(word, link.scalar);
            }
        };
        for link in &plan.inputs {
            let words = self.input_words(link.register, link.component.into());
            match self.first_vertex_word(link.register, link.component.into()) {
                Some(word) => fill(&mut self.private, link, &vec![word; lanes]),
                None => fill(&mut self.private, link, words),
            }
        }
        for link in &plan.framebuffer {
            let words = self.lanes_of(inputs.framebuffer.component(link.register as usize, link.component.into()));
            fill(&mut self.private, link, words);
        }
        for link in &plan.system_values {
            let Some(&value) = SystemValue::ALL.get(link.register as usize) else { continue };
            let mut words = Vec::with_capacity(lanes);
            for lane in 0..lanes {
                words.push(self.system_value_word(value, link.component.into(), lane));
            }
            fill(&mut self.private, link, &words);
        }
        for link in &plan.vertex_inputs {
            if let Some(cell) = self.common.get_mut(link.cell as usize) {
                *cell = read(vertex_word(&inputs.vertices, link.vertex, link.register, link.component), link.scalar);
            }
        }
        let constants = inputs.constants.first().map_or(&[][..], |words| words);
        for link in &plan.uniforms {
            let word = link.register as usize * 4 + usize::from(link.component);
            if let (Some(cell), Some(&word)) = (self.common.get_mut(link.cell as usize), constants.get(word)) {
                *cell = read(word, link.scalar);
            }
        }
        for &(address, word) in &plan.initial {
            self.initialize(address, word);
        }
    }

    /// In a stage with vertices, an input without a vertex index reads the first vertex if it has no values per lane.
    fn first_vertex_word(&self, register: u32, component: usize) -> Option<u32> {
        let by_vertex = matches!(
            self.program.properties.stage,
            ShaderStage::Geometry | ShaderStage::TessCtrl | ShaderStage::TessEval
        );
        let absent = by_vertex && self.inputs.inputs.component(register as usize, component).is_empty();
        absent.then(|| vertex_word(&self.inputs.vertices, 0, register, component as u8))
    }

    /// Sets a cell in all lanes.
    pub fn initialize(&mut self, address: u32, word: u32) {
        if address < COMMON {
            let at = address as usize * self.width;
            if let Some(cell) = self.private.get_mut(at..at + self.width) {
                cell.fill(word);
            }
        } else if let Some(cell) = self.common.get_mut((address - COMMON) as usize) {
            *cell = word;
        }
    }

    /// Copies the cells of output variables to the output registers.
    pub fn flush_outputs(&mut self) {
        let plan = &self.program.io;
        let (first, lanes) = (self.output_lane(0), self.lanes);
        for link in plan.outputs.iter().filter(|link| link.register < plan.output_registers) {
            let at = link.cell as usize * self.width;
            let Some(cell) = self.private.get(at..at + lanes) else { continue };
            let register = self.outputs.outputs.component_mut(link.register as usize, link.component.into());
            for (slot, &word) in register.iter_mut().skip(first).zip(cell) {
                *slot = written(word, link.scalar);
            }
        }
        for link in plan.patch_outputs.iter().filter(|link| link.register < plan.output_registers) {
            let Some(&word) = self.common.get(link.cell as usize) else { continue };
            let register = self.outputs.outputs.component_mut(link.register as usize, link.component.into());
            register.fill(written(word, link.scalar));
        }
        for link in plan.vertex_outputs.iter().filter(|link| link.register < plan.output_registers) {
            let Some(&word) = self.common.get(link.cell as usize) else { continue };
            let vertex = self.outputs.vertices.get_mut(link.vertex as usize);
            if let Some(register) = vertex.and_then(|vertex| vertex.get_mut(link.register as usize)) {
                register[usize::from(link.component & 3)] = written(word, link.scalar);
            }
        }
    }

    /// Allocates the outputs; the registers reuse the memory of `reused`. Each block clears its part.
    pub fn empty_outputs(program: &Program, lanes: usize, block: usize, reused: LaneRegisters) -> Outputs {
        let registers = program.io.output_registers as usize;
        let mut outputs = Outputs { outputs: reused.reshaped(lanes, registers), ..Outputs::default() };
        if program.properties.stage == ShaderStage::TessCtrl {
            let vertices = match program.properties.patch_vertices {
                0 => block,
                vertices => (vertices as usize).min(tgsi_environment::MAX_LANES),
            };
            outputs.vertices = vec![vec![[0; 4]; registers]; vertices];
        }
        outputs
    }

    /// Emits the outputs of the active lanes as the next vertex of a stream; the outputs are zero afterwards.
    pub fn emit_vertex(&mut self, stream: u32) -> Result<(), RunError> {
        self.flush_outputs();
        // Without a stated number of vertices, a shader may emit any number.
        let limit = match self.program.properties.vertices_out {
            0 => usize::MAX,
            limit => limit as usize,
        };
        let registers = self.program.io.output_registers as usize;
        self.each_active(|machine, lane| {
            let output_lane = machine.output_lane(lane);
            let Some(primitive) = machine.open_primitives.get_mut(lane * 4 + stream as usize).filter(|_| stream < 4)
            else {
                return;
            };
            let outputs = &mut machine.outputs.outputs;
            let vertex: Vec<Vec4> = (0..registers)
                .map(|number| std::array::from_fn(|component| outputs.get(number, component, output_lane)))
                .collect();
            if primitive.len() < limit {
                primitive.push(vertex);
                machine.emitted_words += registers as u64 * 4 + EMISSION_OVERHEAD;
            }
            for register in 0..registers {
                for component in 0..4 {
                    outputs.set(register, component, output_lane, 0);
                }
            }
            for link in &machine.program.io.outputs {
                if let Some(word) = machine.private.get_mut(link.cell as usize * machine.width + lane) {
                    *word = 0;
                }
            }
        });
        self.check_emission()
    }

    fn check_emission(&self) -> Result<(), RunError> {
        if self.emitted_words > MAX_EMITTED_WORDS {
            return Err(RunError::TooMuchOutput { words: MAX_EMITTED_WORDS });
        }
        Ok(())
    }

    /// Ends the primitive of a stream in the active lanes, even if it is empty.
    pub fn end_primitive(&mut self, stream: u32) -> Result<(), RunError> {
        for lane in 0..self.lanes {
            let at = lane * 4 + stream as usize;
            if self.active[lane] != 0
                && stream < 4
                && let (Some(open), Some(done)) = (self.open_primitives.get_mut(at), self.primitives.get_mut(at))
            {
                done.push(std::mem::take(open));
                self.emitted_words += EMISSION_OVERHEAD;
            }
        }
        self.check_emission()
    }

    /// Ends the open primitives, and concatenates the primitives of all lanes.
    pub fn finish_primitives(&mut self) {
        for lane in 0..self.lanes {
            for stream in 0..4 {
                let at = lane * 4 + stream;
                let (Some(done), Some(open)) = (self.primitives.get_mut(at), self.open_primitives.get_mut(at)) else {
                    return;
                };
                self.outputs.emitted[stream].append(done);
                if !open.is_empty() {
                    self.outputs.emitted[stream].push(std::mem::take(open));
                }
            }
        }
    }

    fn slot(&self, intrinsic: &Intrinsic, offset: Value, lane: usize) -> Slot {
        Self::slot_at(intrinsic, self.get(offset, 0, lane) as u32)
    }

    fn slot_at(intrinsic: &Intrinsic, offset: u32) -> Slot {
        let range = intrinsic.index(IndexKind::Range) as u32;
        // Reads beyond the range of the access give 0.
        let inside = range == 0 || offset < range;
        let register = if inside { (intrinsic.base as u32).wrapping_add(offset) } else { u32::MAX };
        Slot { register, component: usize::from(intrinsic.first_component()) }
    }

    /// Reads the components of `dest` from consecutive words.
    fn read_slot(
        &mut self,
        (dest, ty): (Value, AluType),
        lane: usize,
        slot: &Slot,
        read_word: impl Fn(&Self, u32, usize) -> u32,
    ) {
        let word = |machine: &Self, number: usize| {
            let at = slot.component + number;
            u64::from(read_word(machine, slot.register.saturating_add((at / 4) as u32), at % 4))
        };
        for component in 0..usize::from(dest.components) {
            let value = match dest.bits {
                64 => word(self, 2 * component) | word(self, 2 * component + 1) << 32,
                bits => read_component(word(self, component) as u32, ty, bits).into(),
            };
            self.set(dest, component, lane, value);
        }
    }

    /// Executes loads of the `load_input` family.
    pub fn load_input(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let inputs = self.inputs;
        let ty = AluType::from_i32(intrinsic.index(IndexKind::DestType));
        let Some(&offset) = sources.last() else { return };
        if let (Some(constant), 32, true) =
            (intrinsic.offset, intrinsic.dest.bits, intrinsic.op != IntrinsicOp::LoadPerVertexInput)
        {
            self.load_input_vectors(intrinsic, constant);
            if intrinsic.op == IntrinsicOp::LoadInterpolatedInput {
                self.add_interpolation(intrinsic, sources[0], offset);
            }
            return;
        }
        self.each_active(|machine, lane| {
            let slot = machine.slot(intrinsic, offset, lane);
            match intrinsic.op {
                IntrinsicOp::LoadPerVertexInput => {
                    let vertex = machine.get(sources[0], 0, lane) as u32;
                    machine.read_slot((intrinsic.dest, ty), lane, &slot, |_, register, component| {
                        vertex_word(&inputs.vertices, vertex, register, component as u8)
                    });
                }
                _ => machine.read_slot((intrinsic.dest, ty), lane, &slot, |machine, register, component| {
                    let first = machine.first_vertex_word(register, component);
                    first.unwrap_or_else(|| inputs.inputs.get(register as usize, component, machine.first + lane))
                }),
            }
        });
        if intrinsic.op == IntrinsicOp::LoadInterpolatedInput {
            self.add_interpolation(intrinsic, sources[0], offset);
        }
    }

    /// Loads 32-bit components at the same location in all lanes by copying whole lane vectors.
    fn load_input_vectors(&mut self, intrinsic: &Intrinsic, offset: u32) {
        let slot = Self::slot_at(intrinsic, offset);
        for component in 0..u32::from(intrinsic.dest.components) {
            let at = slot.component + component as usize;
            let register = slot.register.saturating_add((at / 4) as u32);
            let lanes = self.lanes;
            match (self.first_vertex_word(register, at % 4), self.input_words(register, at % 4)) {
                (Some(word), _) => self.result.fill(word),
                (None, []) => self.result.fill(0),
                (None, words) => self.result[..lanes].copy_from_slice(words),
            }
            put(&mut self.words, intrinsic.dest.vector + component, &self.result, &self.active, self.full);
        }
    }

    /// Barycentric values are offsets from the pixel centre here: interpolates where the offset is not zero.
    fn add_interpolation(&mut self, intrinsic: &Intrinsic, barycentric: Value, offset: Value) {
        let inputs = self.inputs;
        for lane in 0..self.lanes {
            let x = f32::from_bits(self.float_word(barycentric, 0, lane));
            let y = f32::from_bits(self.float_word(barycentric, 1, lane));
            if self.active[lane] == 0 || (x == 0.0 && y == 0.0) || intrinsic.dest.bits != 32 {
                continue;
            }
            let slot = self.slot(intrinsic, offset, lane);
            for component in 0..usize::from(intrinsic.dest.components) {
                let at = slot.component + component;
                let register = (slot.register as usize).saturating_add(at / 4);
                let value = |lane: usize| f32::from_bits(inputs.inputs.get(register, at % 4, self.first + lane));
                let result = interpolate(value, lane, x, y);
                self.set(intrinsic.dest, component, lane, result.to_bits().into());
            }
        }
    }

    /// Executes loads of the `load_output` family: framebuffer fetches and reads of outputs.
    pub fn load_output(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let Some(&offset) = sources.last() else { return };
        let fetch = IoSemantics::from_i32(intrinsic.index(IndexKind::IoSemantics)).fb_fetch_output;
        let inputs = self.inputs;
        let ty = AluType::from_i32(intrinsic.index(IndexKind::DestType));
        self.each_active(|machine, lane| {
            let slot = machine.slot(intrinsic, offset, lane);
            if intrinsic.op == IntrinsicOp::LoadPerVertexOutput {
                let vertex = machine.get(sources[0], 0, lane) as u32;
                machine.read_slot((intrinsic.dest, ty), lane, &slot, |machine, register, component| {
                    vertex_word(&machine.outputs.vertices, vertex, register, component as u8)
                });
            } else {
                machine.read_slot((intrinsic.dest, ty), lane, &slot, |machine, register, component| {
                    if fetch {
                        inputs.framebuffer.get(register as usize, component, machine.first + lane)
                    } else {
                        machine.outputs.outputs.get(register as usize, component, machine.output_lane(lane))
                    }
                });
            }
        });
    }

    /// Executes stores of the `store_output` family.
    pub fn store_output(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let (Some(&value), Some(&offset)) = (sources.first(), sources.last()) else { return };
        let shared = self.program.properties.stage == ShaderStage::TessCtrl;
        if let (Some(constant), false, IntrinsicOp::StoreOutput, 32) =
            (intrinsic.offset, shared, intrinsic.op, value.bits)
        {
            self.store_output_vectors(intrinsic, value, constant);
            return;
        }
        self.each_active(|machine, lane| {
            let slot = machine.slot(intrinsic, offset, lane);
            let words = if value.bits == 64 { 2 } else { 1 };
            let ty = AluType::from_i32(intrinsic.index(IndexKind::SrcType));
            for component in 0..usize::from(value.components) {
                if intrinsic.write_mask >> component & 1 == 0 {
                    continue;
                }
                let bits = machine.get(value, component, lane);
                for half in 0..words {
                    let word = written_component((bits >> (32 * half)) as u32, ty, value.bits);
                    let at = slot.component + component * words + half;
                    let register = slot.register.saturating_add((at / 4) as u32);
                    if register >= machine.program.io.output_registers {
                        continue;
                    }
                    if intrinsic.op == IntrinsicOp::StorePerVertexOutput {
                        let vertex = machine.get(sources[1], 0, lane) as usize;
                        let vertex = machine.outputs.vertices.get_mut(vertex);
                        if let Some(register) = vertex.and_then(|v| v.get_mut(register as usize)) {
                            register[at % 4] = word;
                        }
                    } else if shared {
                        machine.outputs.outputs.component_mut(register as usize, at % 4).fill(word);
                    } else {
                        let lane = machine.output_lane(lane);
                        machine.outputs.outputs.set(register as usize, at % 4, lane, word);
                    }
                }
            }
        });
    }

    /// Stores 32-bit components at the same location in all lanes by copying whole lane vectors.
    fn store_output_vectors(&mut self, intrinsic: &Intrinsic, value: Value, offset: u32) {
        let slot = Self::slot_at(intrinsic, offset);
        for component in (0..u32::from(value.components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
            let at = slot.component + component as usize;
            let register = slot.register.saturating_add((at / 4) as u32);
            if register >= self.program.io.output_registers {
                continue;
            }
            let (first, lanes) = (self.output_lane(0), self.lanes);
            let file = self.outputs.outputs.component_mut(register as usize, at % 4);
            let Some(dest) = file.get_mut(first..first + lanes) else { continue };
            let source = &self.words[(value.vector + component) as usize * self.width..][..lanes];
            if self.full {
                dest.copy_from_slice(source);
            } else {
                for ((dest, &word), &mask) in dest.iter_mut().zip(source).zip(&self.active) {
                    *dest = *dest & !mask | word & mask;
                }
            }
        }
    }

    /// Executes `interp_deref_at_*`: only an explicit offset differs from the pixel centre.
    pub fn interpolate_deref(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        self.load_pointer(intrinsic.dest, sources[0], 0);
        if intrinsic.op != IntrinsicOp::InterpDerefAtOffset || intrinsic.dest.bits != 32 {
            return;
        }
        self.each_active(|machine, lane| {
            let x = f32::from_bits(machine.float_word(sources[1], 0, lane));
            let y = f32::from_bits(machine.float_word(sources[1], 1, lane));
            if x == 0.0 && y == 0.0 {
                return;
            }
            let address = machine.get(sources[0], 0, lane) as u32;
            for component in 0..usize::from(intrinsic.dest.components) {
                let at = address.saturating_add(component as u32);
                let result = interpolate(|lane| f32::from_bits(machine.cell_word(at, lane)), lane, x, y);
                machine.set(intrinsic.dest, component, lane, result.to_bits().into());
            }
        });
    }

    /// Converts a component to the word of a 32-bit float.
    pub fn float_word(&self, value: Value, component: usize, lane: usize) -> u32 {
        let bits = self.get(value, component, lane);
        if value.bits == 32 {
            return bits as u32;
        }
        let mut result = [0];
        evaluate(AluOp::F2f32, value.bits, 1, &[&[bits]], Default::default(), &mut result);
        result[0] as u32
    }
}

/// Interpolates at an offset from the centre of a pixel, using the differences between the pixels of its quad.
fn interpolate(value: impl Fn(usize) -> f32, lane: usize, x: f32, y: f32) -> f32 {
    let quad = lane & !3;
    let dx = value(quad + 3) - value(quad + 2);
    let dy = value(quad + 2) - value(quad);
    value(lane) + x * dx + y * dy
}

fn vertex_word(vertices: &[Vec<Vec4>], vertex: u32, register: u32, component: u8) -> u32 {
    let vertex = vertices.get(vertex as usize);
    vertex.and_then(|v| v.get(register as usize)).map_or(0, |r| r[usize::from(component & 3)])
}
