//! Compiles the instructions of a block, including calls and jumps. Derefs are in `derefs`.

use super::function::FunctionCompiler;
use crate::alu::AluOp;
use crate::body::{InstData, JumpKind, MAX_INDICES};
use crate::entities::{Block, Function, Inst, Loop};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::run::error::RunError;
use crate::run::fast_alu::is_fast;
use crate::run::layout::NULL;
use crate::run::ops::{Alu, AluSource, Call, Copy, Intrinsic, JumpTarget, Op, Span, TEX_SOURCE_KINDS, Texture, Value};
use crate::run::plans::ImagePlan;

impl FunctionCompiler<'_, '_> {
    /// Compiles the instructions of a block. Returns whether it ends in a jump.
    pub(super) fn compile_block(&mut self, block: Block) -> Result<bool, RunError> {
        let body = self.body;
        for inst in body.insts(block) {
            match *body.inst(inst) {
                InstData::Alu { op, .. } => self.compile_alu(inst, op)?,
                InstData::Deref { kind, modes, ty } => self.compile_deref(inst, kind, modes, ty)?,
                InstData::Call { callee, indirect } => {
                    if indirect {
                        return Err(self.malformed(inst, "calls through pointers are not supported"));
                    }
                    self.compile_call(inst, callee)?;
                }
                InstData::Tex(_) => self.compile_texture(inst)?,
                InstData::Intrinsic { op, .. } => {
                    self.compile_intrinsic(inst, op, *body.inst_indices(inst))?;
                }
                InstData::LoadConst { .. } | InstData::Undef | InstData::Phi => {}
                InstData::ParallelCopy(_) => self.compile_parallel_copy(inst)?,
                InstData::Jump(kind) => {
                    self.compile_jump(inst, block, kind)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn compile_jump(&mut self, inst: Inst, block: Block, kind: JumpKind) -> Result<(), RunError> {
        let innermost: Option<Loop> = self.body.block_parent(block).and_then(|p| self.body.innermost_loop(p));
        let kind = match (kind, innermost) {
            (JumpKind::Return, _) => JumpTarget::Return,
            (JumpKind::Halt, _) => JumpTarget::Halt,
            (JumpKind::Break, Some(id)) => {
                self.copies_on_edge(block, self.body.block_after_loop(id))?;
                JumpTarget::Break
            }
            (JumpKind::Continue, Some(id)) => {
                self.copies_on_edge(block, self.body.continue_target(id))?;
                JumpTarget::Continue
            }
            (JumpKind::Break | JumpKind::Continue, None) => return Err(self.malformed(inst, "not in a loop")),
            (JumpKind::Goto(_) | JumpKind::GotoIf { .. }, _) => {
                return Err(RunError::Unstructured { function: self.compiler.program.function_name(self.function) });
            }
        };
        self.push_waiting(Op::Jump { kind, end: 0 });
        Ok(())
    }

    fn compile_alu(&mut self, inst: Inst, op: AluOp) -> Result<(), RunError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Err(self.malformed(inst, "no result")) };
        let dest = self.value(inst, def)?;
        let info = op.info();
        let first = self.compiler.program.alu_sources.len() as u32;
        let mut bit_size = if info.output_type.is_unsized() { dest.bits } else { 0 };
        let mut unsized_seen = false;
        let mut narrow = dest.bits != 64;
        for number in 0..usize::from(info.num_inputs) {
            let value = self.source(inst, number)?;
            if !unsized_seen && info.input_types.get(number).is_some_and(|ty| ty.is_unsized()) {
                bit_size = value.bits;
                unsized_seen = true;
            }
            narrow &= value.bits != 64;
            let swizzle = body.swizzle(body.source(inst, number));
            let components = op.input_components(number, dest.components);
            let program = &mut self.compiler.program;
            let start = program.source_vectors.len() as u32;
            for selector in swizzle.iter(usize::from(components)) {
                if selector >= value.components {
                    return Err(self.malformed(inst, "a swizzle selects a component that the value does not have"));
                }
                program.source_vectors.push(value.vector + u32::from(selector));
            }
            let high = if value.bits == 64 { value.components } else { 0 };
            program.alu_sources.push(AluSource { start, components, high });
        }
        let mode = self.compiler.program.properties.float_controls_execution_mode;
        let plain = !mode.flushes_denormals(32) && !mode.rounds_toward_zero(32);
        let fast =
            narrow && is_fast(op, bit_size, plain) && (info.output_size == 0 || info.output_size == dest.components);
        let alu = Alu { op, bit_size, fast, num_sources: info.num_inputs, sources: first, dest };
        let number = self.compiler.program.alus.len() as u32;
        self.compiler.program.alus.push(alu);
        self.push(Op::Alu(number));
        Ok(())
    }

    fn compile_call(&mut self, inst: Inst, callee: Function) -> Result<(), RunError> {
        let shader = self.compiler.shader;
        let Some(function) = shader.functions.get(callee) else { return Err(self.malformed(inst, "no such function")) };
        if function.body.is_none() {
            return Err(self.malformed(inst, "the called function has no code"));
        }
        let expected = function.parameters.len();
        if self.body.num_sources(inst) != expected {
            return Err(self.malformed(inst, "the number of arguments differs from the number of parameters"));
        }
        let arguments = self.compiler.program.operands.len() as u32;
        for number in 0..expected {
            let value = self.source(inst, number)?;
            self.compiler.program.operands.push(value);
        }
        let callee = self.compiler.function_number(callee) as u32;
        let call = Call { callee, arguments, num_arguments: expected as u16, origin: self.origin(inst) };
        let number = self.compiler.program.calls.len() as u32;
        self.compiler.program.calls.push(call);
        self.push(Op::Call(number));
        Ok(())
    }

    fn compile_parallel_copy(&mut self, inst: Inst) -> Result<(), RunError> {
        let start = self.compiler.program.copies.len();
        for entry in self.body.copies(inst).unwrap_or(&[]) {
            let (source, source_vectors) = self.copy_end(inst, entry.source, entry.source_is_register)?;
            let (dest, vectors) = match entry.dest.expand() {
                Some(def) => {
                    let value = self.value(inst, def)?;
                    (Span { register: false, vector: value.vector }, value.vectors())
                }
                None => self.copy_end(inst, entry.dest_register, true)?,
            };
            let vectors = vectors.min(source_vectors);
            self.compiler.program.copies.push(Copy { dest, source, vectors });
        }
        self.push_copies(start);
        Ok(())
    }

    fn copy_end(&self, inst: Inst, number: u32, is_register: bool) -> Result<(Span, u32), RunError> {
        if is_register {
            let register = self.register(inst, number as usize)?;
            let register = self.compiler.program.registers[register as usize];
            return Ok((Span { register: true, vector: register.vector }, register.stride()));
        }
        let value = self.source(inst, number as usize)?;
        Ok((Span { register: false, vector: value.vector }, value.vectors()))
    }

    /// Number of the register with the handle in a source.
    fn register(&self, inst: Inst, number: usize) -> Result<u32, RunError> {
        self.source(inst, number)?;
        match self.registers.get(&self.body.src(inst, number)) {
            Some(&register) => Ok(register),
            None => Err(self.malformed(inst, "a source must be a register handle")),
        }
    }

    fn compile_texture(&mut self, inst: Inst) -> Result<(), RunError> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else {
            return Err(self.malformed(inst, "no result"));
        };
        let mut sources = [Value::default(); TEX_SOURCE_KINDS];
        for (number, source) in body.sources(inst).enumerate() {
            sources[body.tex_src_kind(source) as usize] = self.source(inst, number)?;
        }
        let texture = Texture { data, dest: self.value(inst, def)?, sources, origin: self.origin(inst) };
        let number = self.compiler.program.textures.len() as u32;
        self.compiler.program.textures.push(texture);
        self.push(Op::Texture(number));
        Ok(())
    }

    fn compile_intrinsic(&mut self, inst: Inst, op: IntrinsicOp, indices: [i32; MAX_INDICES]) -> Result<(), RunError> {
        let body = self.body;
        let info = op.info();
        if matches!(op, IntrinsicOp::DeclReg | IntrinsicOp::Nop | IntrinsicOp::Use | IntrinsicOp::DebugBreak) {
            return Ok(());
        }
        let sources = self.compiler.program.operands.len() as u32;
        for number in 0..info.num_srcs() {
            let value = self.source(inst, number)?;
            self.compiler.program.operands.push(value);
        }
        let dest = match body.inst_def(inst) {
            Some(def) => self.value(inst, def)?,
            None => Value::default(),
        };
        if info.has_dest() && dest.components == 0 {
            return Err(self.malformed(inst, "no result"));
        }
        let write_mask = if info.index_slot(IndexKind::WriteMask).is_some() { body.write_mask(inst) } else { u32::MAX };
        let mut extra = NULL;
        match op {
            IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => extra = self.register(inst, 0)?,
            IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect => extra = self.register(inst, 1)?,
            // In a buffer, the distance of components; otherwise, the distance from the variable to the copy that
            // framebuffer fetches read.
            IntrinsicOp::LoadDeref => {
                let pointer = body.src(inst, 0);
                let layout = &self.compiler.program.layout;
                let framebuffer = self
                    .root_variable(pointer)
                    .and_then(|variable| layout.allocation(variable))
                    .filter(|allocation| allocation.framebuffer != NULL)
                    .map(|allocation| allocation.framebuffer - allocation.address);
                extra = framebuffer.or_else(|| self.component_distance(pointer)).unwrap_or(0);
            }
            IntrinsicOp::DerefBufferArrayLength => extra = self.array_distance(body.src(inst, 0)).unwrap_or(0),
            IntrinsicOp::StoreDeref => extra = self.component_distance(body.src(inst, 0)).unwrap_or(0),
            IntrinsicOp::CopyDeref => {
                let plan = self.copy_plan(inst)?;
                extra = self.compiler.program.copy_plans.len() as u32;
                self.compiler.program.copy_plans.push(plan);
            }
            IntrinsicOp::LoadParam => {
                let number = body.index(inst, IndexKind::ParamIdx) as usize;
                let parameters = &self.compiler.program.functions[self.number].parameters;
                let Some(&value) = parameters.get(number) else {
                    return Err(self.malformed(inst, "no such parameter"));
                };
                self.compiler.program.copies.push(Copy {
                    dest: Span { register: false, vector: dest.vector },
                    source: Span { register: false, vector: value.vector },
                    vectors: dest.vectors().min(value.vectors()),
                });
                self.push_copies(self.compiler.program.copies.len() - 1);
                return Ok(());
            }
            _ => {
                if let Some(plan) = ImagePlan::new(op) {
                    extra = self.compiler.program.images.len() as u32;
                    self.compiler.program.images.push(plan);
                }
            }
        }
        let intrinsic = Intrinsic {
            op,
            num_sources: info.num_srcs() as u8,
            sources,
            dest,
            indices,
            base: body.index(inst, IndexKind::Base),
            write_mask,
            extra,
            offset: info
                .num_srcs()
                .checked_sub(1)
                .and_then(|last| body.constant_component(body.src(inst, last), 0))
                .map(|word| word as u32),
            origin: self.origin(inst),
        };
        let number = self.compiler.program.intrinsics.len() as u32;
        self.compiler.program.intrinsics.push(intrinsic);
        self.push(Op::Intrinsic(number));
        Ok(())
    }
}
