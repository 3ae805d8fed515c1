//! The function of a region.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value as Ir};
use cranelift_codegen::isa::CallConv;
use tgsi_ir::run::native::{Copy, Op};

use super::emitter::{Emitter, VECTOR, trusted_flags};
use crate::native::analysis::accesses::{LaneVector, lane_vector_of};
use crate::native::analysis::regions::Region;
use crate::native::analysis::{gathers, uniforms};
use crate::native::runtime::context::{Context, offsets};

/// Returns the signature of a region's function: takes the context, returns the number of executed operations.
pub(super) fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.push(AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I64));
    debug_assert_eq!(size_of::<*const Context>(), 8);
    signature
}

impl Emitter<'_, '_> {
    /// Emits the whole function.
    pub fn emit_region(mut self, region: &Region) {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        self.builder.seal_block(entry);
        self.region.context = self.builder.block_params(entry)[0];
        self.region.words = self.field(offsets::WORDS);
        self.region.registers = self.field(offsets::REGISTERS);
        self.region.stride = self.field(offsets::STRIDE);
        let end = self.field(offsets::END);
        let active_vector = self.field(offsets::ACTIVE);
        let limit = self.field(offsets::STEPS);
        self.emit_invariants(region);
        let (head, body, next, exit) = (
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
        );
        let most = self.builder.declare_var(I64);
        let quad = self.builder.declare_var(I64);
        let zero = self.builder.ins().iconst(I64, 0);
        self.builder.def_var(most, zero);
        self.builder.def_var(quad, zero);
        self.builder.ins().jump(head, &[]);
        // A quad without active lanes is skipped.
        self.builder.switch_to_block(head);
        self.region.quad = self.builder.use_var(quad);
        let address = self.builder.ins().iadd(active_vector, self.region.quad);
        let active = self.builder.ins().load(I32X4, trusted_flags(), address, 0);
        let any = self.builder.ins().vany_true(active);
        self.builder.ins().brif(any, body, &[], next, &[]);
        self.builder.switch_to_block(body);
        self.builder.seal_block(body);
        self.builder.def_var(self.masks.active, active);
        self.builder.def_var(self.masks.steps, zero);
        if let Some(variable) = self.masks.killed {
            let address = self.field(offsets::KILLED);
            let address = self.builder.ins().iadd(address, self.region.quad);
            let killed = self.builder.ins().load(I32X4, trusted_flags(), address, 0);
            self.builder.def_var(variable, killed);
        }
        for &vector in &region.inputs {
            let address = self.address(vector);
            let value = self.builder.ins().load(I32X4, trusted_flags(), address, 0);
            let variable = self.variable(vector);
            self.builder.def_var(variable, value);
        }
        let range = region.range.start as usize..region.range.end as usize;
        for (at, &op) in range.clone().zip(&self.function.program.ops()[range]) {
            if !region.invariants.contains(&(at as u32)) {
                self.emit_operation(op, at, limit);
            }
        }
        for &vector in &region.outputs {
            let variable = self.variable(vector);
            let value = self.builder.use_var(variable);
            let address = self.address(vector);
            self.builder.ins().store(trusted_flags(), value, address, 0);
        }
        if self.masks.has_loops {
            let (old, steps) = (self.builder.use_var(most), self.builder.use_var(self.masks.steps));
            let larger = self.builder.ins().umax(old, steps);
            self.builder.def_var(most, larger);
        }
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        self.builder.seal_block(next);
        let following = self.builder.ins().iadd_imm(self.region.quad, VECTOR);
        self.builder.def_var(quad, following);
        let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, following, end);
        self.builder.ins().brif(more, head, &[], exit, &[]);
        self.builder.seal_block(head);
        self.builder.switch_to_block(exit);
        self.builder.seal_block(exit);
        let most = self.builder.use_var(most);
        self.builder.ins().return_(&[most]);
        self.builder.finalize();
    }

    /// Emits the code before the loop over the quads: uniforms, operations that depend on them, and the addresses of
    /// other memory.
    pub(super) fn emit_invariants(&mut self, region: &Region) {
        self.region.before_quads = true;
        let program = self.function.program;
        for at in region.range.clone() {
            match program.ops()[at as usize] {
                Op::Alu(number) if region.invariants.contains(&at) => self.emit_alu(number),
                Op::Intrinsic(number) => {
                    let intrinsic = &program.intrinsics()[number as usize];
                    if region.invariants.contains(&at) {
                        self.load_memory(intrinsic);
                    } else if let Some(place) = uniforms::place(program, intrinsic) {
                        for word in 0..intrinsic.dest.vectors() {
                            self.uniform(place, word);
                        }
                    } else if let Some(gather) = gathers::gather(program, intrinsic) {
                        self.memory(gather.memory);
                    }
                }
                _ => {}
            }
        }
        self.region.before_quads = false;
    }

    fn emit_operation(&mut self, op: Op, at: usize, limit: Ir) {
        let program = self.function.program;
        match op {
            Op::Alu(number) => self.emit_alu(number),
            Op::Copies { start, count } => {
                self.emit_copies(&program.copies()[start as usize..(start + count) as usize])
            }
            Op::Intrinsic(number) => self.emit_intrinsic(&program.intrinsics()[number as usize]),
            Op::Texture(number) => self.emit_texture(number),
            Op::If { condition, .. } => self.start_if(condition),
            Op::Else { .. } => self.start_else(),
            Op::EndIf { .. } => self.end_if(),
            Op::Loop => self.start_loop(at),
            Op::Continue => self.next_iteration(),
            Op::EndLoop { .. } => self.end_loop(at, limit),
            Op::Jump { kind, .. } => self.emit_jump(kind),
            // Regions contain no other operations.
            Op::Deref(_) | Op::Call(_) | Op::Native { .. } | Op::End => {}
        }
    }

    fn emit_copies(&mut self, copies: &[Copy]) {
        let program = self.function.program;
        let mut values = Vec::new();
        for copy in copies {
            let (from, to) = (lane_vector_of(program, copy.source), lane_vector_of(program, copy.dest));
            values.extend((0..copy.vectors).map(|number| (to + number, from + number)));
        }
        let values: Vec<(LaneVector, Ir)> = values.into_iter().map(|(to, from)| (to, self.read(from))).collect();
        for (vector, value) in values {
            self.write(vector, value, true);
        }
    }
}
