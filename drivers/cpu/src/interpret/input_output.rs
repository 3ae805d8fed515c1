//! Inputs and outputs of shaders, and the vertices that geometry shaders emit.

use tgsi_ir::Stage;
use tgsi_ir::alu::{AluOp, evaluate};
use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::Vec4;

use super::{Block, Run};
use crate::error::RunError;
use crate::program::{Intrinsic, Value};

/// Most words that a geometry shader may emit: a loop around an emission must not fill the memory before the step limit
/// ends it.
const MAX_EMITTED_WORDS: u64 = 1 << 24;
/// Words that a vertex or primitive takes besides its registers.
const EMISSION_OVERHEAD: u64 = 8;

fn written(word: u32, boolean: bool) -> u32 {
    if boolean && word != 0 { u32::MAX } else { word }
}

fn vertex_word(vertices: &[Vec<Vec4>], vertex: u32, register: u32, component: usize) -> u32 {
    let vertex = vertices.get(vertex as usize);
    vertex.and_then(|vertex| vertex.get(register as usize)).map_or(0, |register| register[component & 3])
}

/// The value at an offset from the centre of a pixel, from the differences between the pixels of its quad.
fn interpolate(value: impl Fn(usize) -> f32, lane: usize, x: f32, y: f32) -> f32 {
    let quad = lane & !3;
    let dx = value(quad + 3) - value(quad + 2);
    let dy = value(quad + 2) - value(quad);
    value(lane) + x * dx + y * dy
}

/// Register and first component that an access of a lane goes to.
struct Slot {
    register: u32,
    component: usize,
}

impl Block {
    /// A component as the word of a 32-bit float.
    pub(super) fn float_word(&self, value: Value, component: usize, lane: usize) -> u32 {
        let bits = self.get(value, component, lane);
        if value.bits == 32 {
            return bits as u32;
        }
        let mut result = [0];
        evaluate(AluOp::F2f32, value.bits, 1, &[&[bits]], Default::default(), &mut result);
        result[0] as u32
    }

    /// Sets components from consecutive words.
    fn set_words(&mut self, dest: Value, lane: usize, word: impl Fn(usize) -> u32) {
        for component in 0..usize::from(dest.components) {
            let bits = match dest.bits {
                64 => u64::from(word(2 * component)) | u64::from(word(2 * component + 1)) << 32,
                1 => u64::from(word(component) != 0),
                _ => word(component).into(),
            };
            self.set(dest, component, lane, bits);
        }
    }
}

impl Run<'_> {
    fn slot(&self, intrinsic: &Intrinsic, offset: u32) -> Slot {
        let range = intrinsic.index(IndexKind::Range) as u32;
        // Beyond what the access names there is nothing.
        let inside = range == 0 || offset < range;
        let register = if inside { (intrinsic.base as u32).wrapping_add(offset) } else { u32::MAX };
        Slot { register, component: (intrinsic.index(IndexKind::Component) & 3) as usize }
    }

    fn lane_slot(&self, intrinsic: &Intrinsic, offset: Value, lane: usize) -> Slot {
        let offset = intrinsic.offset.unwrap_or_else(|| self.block.get(offset, 0, lane) as u32);
        self.slot(intrinsic, offset)
    }

    /// In a stage with vertices, what an input without a vertex reads if there is none for each lane: the first vertex.
    fn first_vertex_word(&self, register: u32, component: usize) -> Option<u32> {
        let by_vertex = matches!(self.program.stage, Stage::Geometry | Stage::TessCtrl | Stage::TessEval);
        let absent = by_vertex && self.inputs.inputs.component(register as usize, component).is_empty();
        absent.then(|| vertex_word(&self.inputs.vertices, 0, register, component))
    }

    /// Loads of the `load_input` family.
    pub(super) fn load_input(&mut self, intrinsic: &Intrinsic) {
        let sources = intrinsic.sources();
        let inputs = self.inputs;
        let Some(&offset) = sources.last() else { return };
        let dest = intrinsic.dest;
        if let (Some(constant), 32, true) =
            (intrinsic.offset, dest.bits, intrinsic.op != IntrinsicOp::LoadPerVertexInput)
        {
            // Whole planes are copied.
            let slot = self.slot(intrinsic, constant);
            for component in 0..u32::from(dest.components) {
                let at = slot.component + component as usize;
                let register = slot.register.saturating_add((at / 4) as u32);
                match self.first_vertex_word(register, at % 4) {
                    Some(word) => self.block.fill(dest.plane + component, word),
                    None => match inputs.inputs.component(register as usize, at % 4) {
                        [] => self.block.fill(dest.plane + component, 0),
                        words => self.block.put(dest.plane + component, words),
                    },
                }
            }
        } else {
            self.each_active(|run, lane| {
                let slot = run.lane_slot(intrinsic, offset, lane);
                let place = |number: usize| {
                    let at = slot.component + number;
                    (slot.register.saturating_add((at / 4) as u32), at % 4)
                };
                let mut words = [0; 32];
                let count = dest.planes().min(32) as usize;
                let vertex = run.block.get(sources[0], 0, lane) as u32;
                for (number, word) in words.iter_mut().enumerate().take(count) {
                    let (register, component) = place(number);
                    *word = if intrinsic.op == IntrinsicOp::LoadPerVertexInput {
                        vertex_word(&inputs.vertices, vertex, register, component)
                    } else {
                        let first = run.first_vertex_word(register, component);
                        first.unwrap_or_else(|| inputs.inputs.get(register as usize, component, lane))
                    };
                }
                run.block.set_words(dest, lane, |number| words.get(number).copied().unwrap_or(0));
            });
        }
        if intrinsic.op == IntrinsicOp::LoadInterpolatedInput {
            self.add_interpolation(intrinsic, sources[0], offset);
        }
    }

    /// Barycentrics are values relative to the pixel centre here: adds the way to another position, if there is one.
    fn add_interpolation(&mut self, intrinsic: &Intrinsic, barycentric: Value, offset: Value) {
        let inputs = self.inputs;
        self.each_active(|run, lane| {
            let x = f32::from_bits(run.block.float_word(barycentric, 0, lane));
            let y = f32::from_bits(run.block.float_word(barycentric, 1, lane));
            if (x == 0.0 && y == 0.0) || intrinsic.dest.bits != 32 {
                return;
            }
            let slot = run.lane_slot(intrinsic, offset, lane);
            for component in 0..usize::from(intrinsic.dest.components) {
                let at = slot.component + component;
                let register = (slot.register as usize).saturating_add(at / 4);
                let value = |lane| f32::from_bits(inputs.inputs.get(register, at % 4, lane));
                run.block.set(intrinsic.dest, component, lane, interpolate(value, lane, x, y).to_bits().into());
            }
        });
    }

    /// Loads of the `load_output` family: framebuffer fetch, or reading back.
    pub(super) fn load_output(&mut self, intrinsic: &Intrinsic) {
        let sources = intrinsic.sources();
        let Some(&offset) = sources.last() else { return };
        let fetch = IoSemantics::from_i32(intrinsic.index(IndexKind::IoSemantics)).fb_fetch_output;
        let dest = intrinsic.dest;
        let inputs = self.inputs;
        self.each_active(|run, lane| {
            let slot = run.lane_slot(intrinsic, offset, lane);
            let vertex = run.block.get(sources[0], 0, lane) as u32;
            let mut words = [0; 32];
            for (number, word) in words.iter_mut().enumerate().take(dest.planes().min(32) as usize) {
                let at = slot.component + number;
                let (register, component) = (slot.register.saturating_add((at / 4) as u32), at % 4);
                *word = if intrinsic.op == IntrinsicOp::LoadPerVertexOutput {
                    vertex_word(&run.outputs.vertices, vertex, register, component)
                } else {
                    let file = if fetch { &inputs.framebuffer } else { &run.outputs.outputs };
                    file.get(register as usize, component, lane)
                };
            }
            run.block.set_words(dest, lane, |number| words.get(number).copied().unwrap_or(0));
        });
    }

    /// Stores of the `store_output` family.
    pub(super) fn store_output(&mut self, intrinsic: &Intrinsic) {
        let sources = intrinsic.sources();
        let (Some(&value), Some(&offset)) = (sources.first(), sources.last()) else { return };
        let shared = self.program.stage == Stage::TessCtrl;
        let registers = self.program.output_registers;
        if let (Some(constant), false, IntrinsicOp::StoreOutput, true) =
            (intrinsic.offset, shared, intrinsic.op, !matches!(value.bits, 1 | 64))
        {
            let slot = self.slot(intrinsic, constant);
            for component in (0..u32::from(value.components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                let at = slot.component + component as usize;
                let register = slot.register.saturating_add((at / 4) as u32);
                if register >= registers {
                    continue;
                }
                let dest = self.outputs.outputs.component_mut(register as usize, at % 4);
                let source = self.block.plane(value.plane + component);
                if self.block.full {
                    let lanes = dest.len();
                    dest.copy_from_slice(&source[..lanes]);
                } else {
                    for ((dest, &word), &mask) in dest.iter_mut().zip(source).zip(&self.block.active) {
                        *dest = *dest & !mask | word & mask;
                    }
                }
            }
            return;
        }
        self.each_active(|run, lane| {
            let slot = run.lane_slot(intrinsic, offset, lane);
            let words = if value.bits == 64 { 2 } else { 1 };
            for component in (0..usize::from(value.components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                let bits = run.block.get(value, component, lane);
                for half in 0..words {
                    let word = written((bits >> (32 * half)) as u32, value.bits == 1);
                    let at = slot.component + component * words + half;
                    let register = slot.register.saturating_add((at / 4) as u32);
                    if register >= registers {
                        continue;
                    }
                    if intrinsic.op == IntrinsicOp::StorePerVertexOutput {
                        let vertex = run.block.get(sources[1], 0, lane) as usize;
                        let vertex = run.outputs.vertices.get_mut(vertex);
                        if let Some(register) = vertex.and_then(|vertex| vertex.get_mut(register as usize)) {
                            register[at % 4] = word;
                        }
                    } else if shared {
                        run.outputs.outputs.component_mut(register as usize, at % 4).fill(word);
                    } else {
                        run.outputs.outputs.set(register as usize, at % 4, lane, word);
                    }
                }
            }
        });
    }

    // ---- geometry

    /// Makes the outputs of the active lanes the next vertex of a stream; the outputs are zero afterwards.
    pub(super) fn emit_vertex(&mut self, stream: u32) -> Result<(), RunError> {
        // A shader that does not say how many vertices it emits may emit any number.
        let limit = match self.program.vertices_out {
            0 => usize::MAX,
            limit => limit as usize,
        };
        let registers = self.program.output_registers as usize;
        self.each_active(|run, lane| {
            let at = lane * 4 + stream as usize;
            let Some(primitive) = run.block.open_primitives.get_mut(at).filter(|_| stream < 4) else { return };
            let vertex: Vec<Vec4> = (0..registers)
                .map(|number| std::array::from_fn(|component| run.outputs.outputs.get(number, component, lane)))
                .collect();
            if primitive.len() < limit {
                primitive.push(vertex);
                run.block.emitted_words += registers as u64 * 4 + EMISSION_OVERHEAD;
            }
            for register in 0..registers {
                for component in 0..4 {
                    run.outputs.outputs.set(register, component, lane, 0);
                }
            }
        });
        self.check_emission()
    }

    fn check_emission(&self) -> Result<(), RunError> {
        if self.block.emitted_words > MAX_EMITTED_WORDS {
            return Err(RunError::TooMuchOutput { words: MAX_EMITTED_WORDS });
        }
        Ok(())
    }

    /// Ends the primitive of a stream in the active lanes, even if it is empty.
    pub(super) fn end_primitive(&mut self, stream: u32) -> Result<(), RunError> {
        self.each_active(|run, lane| {
            let at = lane * 4 + stream as usize;
            let block = &mut *run.block;
            if stream < 4
                && let (Some(open), Some(done)) = (block.open_primitives.get_mut(at), block.primitives.get_mut(at))
            {
                done.push(std::mem::take(open));
                block.emitted_words += EMISSION_OVERHEAD;
            }
        });
        self.check_emission()
    }

    /// Ends the primitives that are open at the end, and puts those of all lanes one after the other.
    pub(super) fn finish_primitives(&mut self) {
        let block = &mut *self.block;
        for (at, (done, open)) in block.primitives.iter_mut().zip(&mut block.open_primitives).enumerate() {
            let emitted = &mut self.outputs.emitted[at % 4];
            emitted.append(done);
            if !open.is_empty() {
                emitted.push(std::mem::take(open));
            }
        }
    }
}
