//! Intrinsics: loads and stores of registers, inputs, outputs and memory, and derivatives.

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::types::I32X4;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::native::Intrinsic;

use super::emitter::{Emitter, trusted_flags};
use crate::native::analysis::accesses::written_vectors;
use crate::native::analysis::{gathers, uniforms};
use crate::native::runtime::context::offsets;

impl Emitter<'_, '_> {
    pub fn emit_intrinsic(&mut self, intrinsic: &Intrinsic) {
        use IntrinsicOp as I;
        match intrinsic.op {
            I::LoadReg | I::LoadRegIndirect => self.load_register(intrinsic),
            I::StoreReg => self.store_register(intrinsic),
            I::StoreRegIndirect => self.store_element(intrinsic),
            I::LoadUniform | I::LoadUbo | I::LoadUboVec4 | I::LoadPerVertexInput | I::LoadSsbo | I::LoadShared => {
                self.load_memory(intrinsic)
            }
            I::LoadInput => self.load_input(intrinsic),
            I::StoreOutput => self.store_output(intrinsic),
            I::Terminate | I::Demote | I::TerminateIf | I::DemoteIf => self.emit_kill(intrinsic),
            _ => self.emit_derivative(intrinsic),
        }
    }

    /// Loads from constant buffers, vertices, storage buffers and shared memory.
    pub fn load_memory(&mut self, intrinsic: &Intrinsic) {
        let (program, dest) = (self.function.program, intrinsic.dest);
        let words = if let Some(place) = uniforms::place(program, intrinsic) {
            (0..dest.vectors()).map(|word| self.uniform(place, word)).collect()
        } else if let Some(gather) = gathers::gather(program, intrinsic) {
            self.gather(&gather)
        } else {
            return;
        };
        // In memory the two words of a component are adjacent; in lane vectors all low words come first.
        let each = dest.bits as usize / 32;
        for (at, word) in words.into_iter().enumerate() {
            let vector = at / each + at % each * usize::from(dest.components);
            self.write(dest.vector + vector as u32, word, false);
        }
    }

    fn load_register(&mut self, intrinsic: &Intrinsic) {
        let (program, dest) = (self.function.program, intrinsic.dest);
        let mut values = if intrinsic.op == IntrinsicOp::LoadReg {
            let register = program.registers()[intrinsic.extra as usize];
            let element = register.element(intrinsic.base as u32);
            let vector = |vector: u32| element.filter(|e| vector < e.vectors()).map(|e| e.vector + vector);
            let vectors: Vec<Option<u32>> = (0..dest.vectors()).map(vector).collect();
            let read = |vector: Option<u32>| match vector {
                Some(vector) => self.read(program.num_value_vectors() + vector),
                None => self.lanes().splat(0),
            };
            vectors.into_iter().map(read).collect()
        } else {
            self.load_element(intrinsic)
        };
        let (fabs, fneg) = (intrinsic.index(IndexKind::LegacyFabs) != 0, intrinsic.index(IndexKind::LegacyFneg) != 0);
        let sign = 1u32 << (dest.bits.clamp(1, 32) - 1);
        // The sign is in the high words.
        let signed = values.len() - usize::from(dest.components);
        for value in &mut values[if dest.bits == 64 { signed } else { 0 }..] {
            if fabs {
                let rest = self.lanes().splat(!sign);
                *value = self.builder.ins().band(*value, rest);
            }
            if fneg {
                let sign = self.lanes().splat(sign);
                *value = self.builder.ins().bxor(*value, sign);
            }
        }
        for (vector, value) in (dest.vector..).zip(values) {
            self.write(vector, value, false);
        }
    }

    fn store_register(&mut self, intrinsic: &Intrinsic) {
        let program = self.function.program;
        let register = program.registers()[intrinsic.extra as usize];
        let Some(element) = register.element(intrinsic.base as u32) else { return };
        let saturate = intrinsic.index(IndexKind::LegacyFsat) != 0;
        for (from, to) in written_vectors(program, intrinsic) {
            let mut word = self.read(from);
            if saturate {
                word = self.lanes().saturate(word);
            }
            self.write(program.num_value_vectors() + element.vector + to, word, true);
        }
    }

    fn load_input(&mut self, intrinsic: &Intrinsic) {
        if intrinsic.offset.is_none() {
            let values = self.load_input_element(intrinsic);
            for (vector, value) in (intrinsic.dest.vector..).zip(values) {
                self.write(vector, value, false);
            }
            return;
        }
        for component in 0..u32::from(intrinsic.dest.components) {
            let value = match intrinsic.component(component) {
                Some(at) => {
                    let (address, _) = self.component_address(offsets::INPUTS, offsets::INPUT_STRIDE, at);
                    self.builder.ins().load(I32X4, trusted_flags(), address, 0)
                }
                None => self.lanes().splat(0),
            };
            self.write(intrinsic.dest.vector + component, value, false);
        }
    }

    fn store_output(&mut self, intrinsic: &Intrinsic) {
        for (vector, at) in self.function.program.stored(intrinsic) {
            let word = self.read(vector);
            let (address, _) = self.component_address(offsets::OUTPUTS, offsets::OUTPUT_STRIDE, at);
            let active = self.builder.use_var(self.masks.active);
            let word = if self.function.program.always_stored().get(at as usize).copied().unwrap_or(false) {
                self.builder.ins().band(active, word)
            } else {
                let old = self.builder.ins().load(I32X4, trusted_flags(), address, 0);
                self.lanes().select(active, word, old)
            };
            self.builder.ins().store(trusted_flags(), word, address, 0);
        }
    }

    /// Emits differences of floats in the quad. Missing lanes count as 0.
    fn emit_derivative(&mut self, intrinsic: &Intrinsic) {
        use IntrinsicOp as I;
        let Some(&source) = self.function.program.sources_of(intrinsic).first() else { return };
        let (plus, minus) = match intrinsic.op {
            I::DdxFine => ([1, 1, 3, 3], [0, 0, 2, 2]),
            I::DdyFine => ([2, 3, 2, 3], [0, 1, 0, 1]),
            I::Ddx | I::DdxCoarse => ([3; 4], [2; 4]),
            _ => ([2; 4], [0; 4]),
        };
        let exists = self.exists();
        for component in 0..u32::from(intrinsic.dest.components) {
            let value = self.read(source.vector + component);
            let value = self.builder.ins().band(value, exists);
            let (a, b) = (self.lanes().shuffle(value, plus), self.lanes().shuffle(value, minus));
            let difference = self.lanes().difference(a, b);
            self.write(intrinsic.dest.vector + component, difference, false);
        }
    }
}
