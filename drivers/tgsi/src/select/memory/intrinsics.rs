//! Selection of intrinsics by opcode.

use tgsi::shader::{Dst, InstructionMemory, Src};
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst, ShaderStage};

use super::buffer_memory;
use crate::DriverError;
use crate::consumers::system_values::semantic;
use crate::select::Selector;

impl Selector<'_> {
    pub(in crate::select) fn select_intrinsic(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), DriverError> {
        use IntrinsicOp::*;
        let body = self.body;
        if let Some(semantic) = semantic(op) {
            self.select_system_value(inst, semantic);
            return Ok(());
        }
        match op {
            DeclReg | LoadReg | LoadRegIndirect | StoreReg | StoreRegIndirect | Nop => {}
            LoadDeref => return self.load_shared(inst),
            StoreDeref => return self.store_shared(inst),
            LoadInput | LoadPerVertexInput | LoadInterpolatedInput => return self.load_input(inst, op),
            LoadBarycentricPixel
            | LoadBarycentricCentroid
            | LoadBarycentricSample
            | LoadBarycentricAtSample
            | LoadBarycentricAtOffset => self.select_barycentric(inst),
            LoadOutput | LoadPerVertexOutput => self.load_output(inst, op)?,
            StoreOutput | StorePerVertexOutput => self.store_output(inst, op)?,
            LoadUniform => self.load_uniform(inst),
            LoadUbo | LoadUboVec4 => self.load_ubo(inst),
            // TGSI has no property for groups of invocations.
            Ddx | Ddy | DdxFine | DdyFine | DdxCoarse | DdyCoarse if self.shader.stage == ShaderStage::Compute => {
                return Err(DriverError::UnsupportedIntrinsic { inst, op });
            }
            Ddx | DdxCoarse => self.emit_simple(inst, Opcode::Ddx),
            Ddy | DdyCoarse => self.emit_simple(inst, Opcode::Ddy),
            DdxFine => self.emit_simple(inst, Opcode::DdxFine),
            DdyFine => self.emit_simple(inst, Opcode::DdyFine),
            Demote if self.options.has_demote => self.emit_bare(Opcode::Demote, &[]),
            Terminate | Demote => {
                self.note_kill();
                self.emit_bare(Opcode::Kill, &[]);
            }
            DemoteIf if self.options.has_demote => {
                let condition = self.source(inst, 0).lane(0);
                let opcode = if self.options.native_integers { Opcode::Uif } else { Opcode::If };
                self.emit_bare(opcode, &[condition]);
                self.emit_bare(Opcode::Demote, &[]);
                self.emit_bare(Opcode::Endif, &[]);
                self.forget_addresses();
            }
            TerminateIf | DemoteIf => {
                self.note_kill_if(inst);
                self.emit_terminate_if(inst);
            }
            IsHelperInvocation => {
                if let Some(def) = body.inst_def(inst) {
                    let register = self.destination(def);
                    self.emit_is_helper(register);
                }
            }
            EmitVertex | EndPrimitive => {
                let stream = self.word(body.index(inst, IndexKind::StreamId) as u32);
                self.emit_bare(if op == EmitVertex { Opcode::Emit } else { Opcode::Endprim }, &[stream]);
            }
            VoteAny => self.emit_simple(inst, Opcode::VoteAny),
            VoteAll => self.emit_simple(inst, Opcode::VoteAll),
            VoteIeq => self.emit_simple(inst, Opcode::VoteEq),
            ReadFirstInvocation => self.emit_simple(inst, Opcode::ReadFirst),
            ReadInvocation => {
                if let Some(def) = body.inst_def(inst) {
                    let (value, lane) = (self.source(inst, 0), self.source(inst, 1));
                    let register = self.destination(def);
                    let dst = Dst::new(register).masked(self.full_lanes(def));
                    self.emit(Opcode::ReadInvoc, dst, &[value.source([0, 1, 2, 3]), lane.lane(0)]);
                }
            }
            Ballot => {
                if let Some(def) = body.inst_def(inst) {
                    let value = self.source(inst, 0).lane(0);
                    let register = self.destination(def);
                    self.emit(Opcode::Ballot, Dst::new(register).masked(self.full_lanes(def) & 3), &[value]);
                }
            }
            ShaderClock => {
                if let Some(def) = body.inst_def(inst) {
                    let register = self.destination(def);
                    self.emit(Opcode::Clock, Dst::new(register).masked(3), &[]);
                }
            }
            Barrier => self.select_barrier(inst),
            LoadSsbo => {
                let resource = self.buffer(body.src(inst, 0), false);
                let address = self.source(inst, 1).lane(0);
                if let Some(def) = body.inst_def(inst) {
                    let memory = buffer_memory(body.index(inst, IndexKind::Access));
                    self.load_memory(def, Src::new(resource), address, memory);
                }
            }
            StoreSsbo => {
                let resource = self.buffer(body.src(inst, 1), false);
                let (value, address) = (self.source(inst, 0), self.source(inst, 2).lane(0));
                self.store_memory(inst, resource, address, value, buffer_memory(body.index(inst, IndexKind::Access)));
            }
            LoadShared => {
                let address = self.shared_address(inst, 0);
                let resource = self.shared();
                if let Some(def) = body.inst_def(inst) {
                    self.load_memory(def, Src::new(resource), address, InstructionMemory::default());
                }
            }
            StoreShared => {
                let address = self.shared_address(inst, 1);
                let (resource, value) = (self.shared(), self.source(inst, 0));
                self.store_memory(inst, resource, address, value, InstructionMemory::default());
            }
            SsboAtomic | SsboAtomicSwap => {
                let resource = Src::new(self.buffer(body.src(inst, 0), false));
                let address = self.source(inst, 1).lane(0);
                return self.select_atomic(
                    inst,
                    resource,
                    address,
                    2,
                    buffer_memory(body.index(inst, IndexKind::Access)),
                );
            }
            SharedAtomic | SharedAtomicSwap => {
                let address = self.shared_address(inst, 0);
                let resource = Src::new(self.shared());
                return self.select_atomic(inst, resource, address, 1, InstructionMemory::default());
            }
            GetSsboSize => {
                let resource = self.buffer(body.src(inst, 0), false);
                if let Some(def) = body.inst_def(inst) {
                    self.select_query(def, Src::new(resource), 1, buffer_memory(body.index(inst, IndexKind::Access)));
                }
            }
            op if op.is_image_access() => return self.select_image_access(inst, op),
            op if op.is_atomic_counter() => self.select_atomic_counter(inst, op),
            VulkanResourceIndex => {
                // The index is read here; the unit is determined at its use.
                if let Some(def) = body.inst_def(inst) {
                    let value = self.copy_register_operand(body.source(inst, 0));
                    self.values.set(def, value);
                }
            }
            LoadVulkanDescriptor => self.select_handle(inst),
            _ => return Err(DriverError::UnsupportedIntrinsic { inst, op }),
        }
        Ok(())
    }

    /// Emits an intrinsic that is one instruction on its only source.
    fn emit_simple(&mut self, inst: Inst, opcode: Opcode) {
        let Some(def) = self.body.inst_def(inst) else { return };
        let value = self.source(inst, 0);
        let register = self.destination(def);
        let dst = Dst::new(register).masked(self.full_lanes(def));
        self.emit(opcode, dst, &[value.source([0, 1, 2, 3])]);
    }

    /// Emits a conditional kill. `KILL_IF` kills where a component is negative: it tests the compared operand directly
    /// if the condition is a comparison with 0.
    fn emit_terminate_if(&mut self, inst: Inst) {
        let body = self.body;
        if let Some(src) = self.compared_with_zero(body.src(inst, 0)) {
            self.emit_bare(Opcode::KillIf, &[src]);
            return;
        }
        let condition = self.source(inst, 0).lane(0);
        if !self.options.native_integers {
            self.emit_bare(Opcode::KillIf, &[condition.negated()]);
            return;
        }
        let one = self.float(1.0);
        let kills = self.computed(Opcode::And, 1, &[condition, one]);
        self.emit_bare(Opcode::KillIf, &[kills.swizzled([0; 4]).negated()]);
    }

    /// The operand, if `condition` means that some component of it is less than 0.
    fn compared_with_zero(&mut self, condition: Def) -> Option<Src> {
        let body = self.body;
        let producer = body.def_inst(condition);
        let is_zero = |inst: Inst, number: usize, count: usize| {
            let source = body.source(inst, number);
            (0..count).all(|c| {
                body.constant_component(body.src_def(source), usize::from(body.swizzle(source).get(c)))
                    .is_some_and(|word| word & 0x7fff_ffff == 0)
            })
        };
        let (compare, count, selected) = match body.alu_op(producer)? {
            AluOp::Flt32 | AluOp::Slt => (producer, 1, tgsi_ir::Swizzle::IDENTITY),
            op @ (AluOp::B32anyInequal2
            | AluOp::B32anyInequal3
            | AluOp::B32anyInequal4
            | AluOp::FanyNequal2
            | AluOp::FanyNequal3
            | AluOp::FanyNequal4) => {
                let count = match op {
                    AluOp::B32anyInequal2 | AluOp::FanyNequal2 => 2,
                    AluOp::B32anyInequal3 | AluOp::FanyNequal3 => 3,
                    _ => 4,
                };
                let constant = body.source(producer, 1);
                let component =
                    |c| body.constant_component(body.src_def(constant), body.swizzle(constant).get(c).into());
                if !(0..count).all(|c| component(c) == Some(0)) {
                    return None;
                }
                let source = body.source(producer, 0);
                (body.def_inst(body.src_def(source)), count, body.swizzle(source))
            }
            _ => return None,
        };
        if !matches!(body.alu_op(compare), Some(AluOp::Flt32 | AluOp::Slt)) || body.bit_size(body.src(compare, 0)) != 32
        {
            return None;
        }
        // 0 < x kills where -x < 0.
        let compared = usize::from(body.num_components(body.inst_def(compare)?));
        let (number, negate) = if is_zero(compare, 1, compared) {
            (0, false)
        } else if is_zero(compare, 0, compared) {
            (1, true)
        } else {
            return None;
        };
        let chased = tgsi_registers::chase::chase_alu_src(body, compare, number, self.options.modifiers());
        if !matches!(chased.operand, tgsi_registers::chase::Operand::Ssa(_)) {
            // The comparison itself would take a selection.
            let source = body.src(compare, number);
            let is_loaded = tgsi_registers::chase::load_reg_for_def(body, source).is_some();
            if self.options.native_integers || self.options.has_comparisons || !is_loaded || !self.still_holds(source) {
                return None;
            }
        }
        let (mut value, swizzle) = self.alu_source(compare, number);
        value.negate ^= negate;
        Some(value.source(selected.compose(swizzle).of_channels((1 << count) - 1)))
    }
}
