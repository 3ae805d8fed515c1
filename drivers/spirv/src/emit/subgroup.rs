//! Subgroups, votes, barriers, clocks.
//!
//! | IR | SPIR-V 1.3 | before |
//! |---|---|---|
//! | `ballot` | `OpGroupNonUniformBallot` | `OpSubgroupBallotKHR` |
//! | `vote_any`, `vote_all` | `OpGroupNonUniformAny`, `All` | `OpSubgroupAnyKHR`, `AllKHR` |
//! | `vote_ieq`, `vote_feq` | `OpGroupNonUniformAllEqual` | comparison with the first, `AllKHR`; so is the portable form |
//! | `read_first_invocation` | `OpGroupNonUniformBroadcastFirst` | `OpSubgroupFirstInvocationKHR` |
//! | `read_invocation` | `OpGroupNonUniformShuffle` | `OpSubgroupReadInvocationKHR` |
//! | `shuffle`, `shuffle_xor`, `shuffle_up`, `shuffle_down` | `OpGroupNonUniformShuffle`, `Xor`, `Up`, `Down` | |
//! | `rotate` | `OpGroupNonUniformRotateKHR` | |
//! | `quad_broadcast`, `quad_swap_...` | `OpGroupNonUniformQuadBroadcast`, `QuadSwap` | |
//! | `reduce`, `inclusive_scan`, `exclusive_scan` | `OpGroupNonUniformIAdd` and so on | |
//! | `barrier` | `OpControlBarrier`, `OpMemoryBarrier` | |
//! | `shader_clock` | `OpReadClockKHR` | |

use smallvec::SmallVec;
use spirv::{Capability, GroupOperation, MemorySemantics, Op, Scope};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Swizzle;
use tgsi_ir::intrinsics::indices::{MemorySemantics as Semantics, Scope as IrScope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Def, Inst, ShaderStage};

use super::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

const SHADER_BALLOT: &str = "SPV_KHR_shader_ballot";
const SUBGROUP_VOTE: &str = "SPV_KHR_subgroup_vote";
const SUBGROUP_ROTATE: &str = "SPV_KHR_subgroup_rotate";
const SHADER_CLOCK: &str = "SPV_KHR_shader_clock";

impl Emitter<'_> {
    pub(super) fn emit_subgroup(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        if op == IntrinsicOp::Barrier {
            self.emit_barrier(inst);
            return Ok(());
        }
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        match op {
            IntrinsicOp::Ballot => {
                let condition = self.value(body.src(inst, 0), Class::Bool)?;
                self.emit_ballot(inst, def, condition)
            }
            IntrinsicOp::VoteAny | IntrinsicOp::VoteAll => {
                let condition = self.value(body.src(inst, 0), Class::Bool)?;
                let id = self.vote(op == IntrinsicOp::VoteAll, condition);
                self.define(def, id, Class::Bool);
                Ok(())
            }
            IntrinsicOp::VoteIeq => self.emit_vote_equal(inst, def, Class::Uint, Op::IEqual),
            IntrinsicOp::VoteFeq => self.emit_vote_equal(inst, def, Class::Float, Op::FOrdEqual),
            IntrinsicOp::ReadFirstInvocation => {
                let class = self.class_read(def);
                let id = self.read_lane(inst, body.src(inst, 0), class, None)?;
                self.define(def, id, class);
                Ok(())
            }
            IntrinsicOp::ReadInvocation => {
                let class = self.class_read(def);
                let lane = self.component(body.src(inst, 1), 0, Class::Uint)?;
                let id = self.read_lane(inst, body.src(inst, 0), class, Some(lane))?;
                self.define(def, id, class);
                Ok(())
            }
            IntrinsicOp::Elect => {
                self.need_groups(inst)?;
                self.module.need(Capability::GroupNonUniform);
                let id = self.subgroup_operation(Op::GroupNonUniformElect, ValueType::BOOL, &[]);
                self.define(def, id, Class::Bool);
                Ok(())
            }
            IntrinsicOp::ShaderClock => {
                self.module.need(Capability::ShaderClockKHR);
                self.module.need_extension(SHADER_CLOCK, None);
                let scope = match IrScope::from_i32(body.index(inst, IndexKind::MemoryScope)) {
                    Some(IrScope::Device | IrScope::QueueFamily) => Scope::Device,
                    _ => Scope::Subgroup,
                };
                if scope == Scope::Device && self.options.vulkan_memory_model {
                    self.module.need(Capability::VulkanMemoryModelDeviceScope);
                }
                let scope = self.module.uint(scope as u32);
                let ty = self.module.value_type(ValueType::UINT.with_components(2));
                let id = self.result(Op::ReadClockKHR, ty, &[scope.0]);
                self.define(def, id, Class::Uint);
                Ok(())
            }
            IntrinsicOp::Reduce | IntrinsicOp::InclusiveScan | IntrinsicOp::ExclusiveScan => {
                self.emit_reduction(inst, op, def)
            }
            _ => self.emit_shuffle(inst, op, def),
        }
    }

    /// Checks that the version has operations on groups.
    fn need_groups(&self, inst: Inst) -> Result<(), SpirvError> {
        let what = "this operation on subgroups needs SPIR-V 1.3";
        if self.module.at_least(1, 3) { Ok(()) } else { Err(SpirvError::Unsupported { inst, what }) }
    }

    /// Emits the value of another invocation, which the operands choose.
    fn emit_shuffle(&mut self, inst: Inst, op: IntrinsicOp, def: Def) -> Result<(), SpirvError> {
        use IntrinsicOp as I;
        self.need_groups(inst)?;
        let body = self.body;
        let class = self.class_read(def);
        let source = body.src(inst, 0);
        let mut operands: SmallVec<[Id; 4]> = SmallVec::new();
        operands.push(self.value(source, class)?);
        if body.num_sources(inst) > 1 {
            operands.push(self.component(body.src(inst, 1), 0, Class::Uint)?);
        }
        let (operation, capability, direction) = match op {
            I::Shuffle => (Op::GroupNonUniformShuffle, Capability::GroupNonUniformShuffle, None),
            I::ShuffleXor => (Op::GroupNonUniformShuffleXor, Capability::GroupNonUniformShuffle, None),
            I::ShuffleUp => (Op::GroupNonUniformShuffleUp, Capability::GroupNonUniformShuffleRelative, None),
            I::ShuffleDown => (Op::GroupNonUniformShuffleDown, Capability::GroupNonUniformShuffleRelative, None),
            I::Rotate => (Op::GroupNonUniformRotateKHR, Capability::GroupNonUniformRotateKHR, None),
            I::QuadBroadcast => (Op::GroupNonUniformQuadBroadcast, Capability::GroupNonUniformQuad, None),
            I::QuadSwapHorizontal => (Op::GroupNonUniformQuadSwap, Capability::GroupNonUniformQuad, Some(0)),
            I::QuadSwapVertical => (Op::GroupNonUniformQuadSwap, Capability::GroupNonUniformQuad, Some(1)),
            I::QuadSwapDiagonal => (Op::GroupNonUniformQuadSwap, Capability::GroupNonUniformQuad, Some(2)),
            op => return Err(SpirvError::UnsupportedIntrinsic { inst, op }),
        };
        if op == I::QuadBroadcast && !self.module.at_least(1, 5) && body.def_constant(body.src(inst, 1)).is_none() {
            return Err(SpirvError::Unsupported { inst, what: "a variable lane of a quad needs SPIR-V 1.5" });
        }
        if op == I::Rotate {
            self.module.need_extension(SUBGROUP_ROTATE, None);
            let cluster = body.index(inst, IndexKind::ClusterSize) as u32;
            if cluster != 0 {
                operands.push(self.module.uint(cluster));
            }
        }
        operands.extend(direction.map(|direction| self.module.uint(direction)));
        self.module.need(capability);
        let id = self.subgroup_operation(operation, self.type_of(source, class), &operands);
        self.define(def, id, class);
        Ok(())
    }

    /// Emits a reduction or a scan.
    fn emit_reduction(&mut self, inst: Inst, op: IntrinsicOp, def: Def) -> Result<(), SpirvError> {
        self.need_groups(inst)?;
        let body = self.body;
        let source = body.src(inst, 0);
        let is_bool = body.bit_size(source) == 1;
        let operation = AluOp::ALL.get(body.index(inst, IndexKind::ReductionOp) as usize).copied();
        let (operation, class) = match operation {
            Some(AluOp::Iand) if is_bool => (Op::GroupNonUniformLogicalAnd, Class::Bool),
            Some(AluOp::Ior) if is_bool => (Op::GroupNonUniformLogicalOr, Class::Bool),
            Some(AluOp::Ixor) if is_bool => (Op::GroupNonUniformLogicalXor, Class::Bool),
            Some(AluOp::Iadd) => (Op::GroupNonUniformIAdd, Class::Uint),
            Some(AluOp::Imul) => (Op::GroupNonUniformIMul, Class::Uint),
            Some(AluOp::Iand) => (Op::GroupNonUniformBitwiseAnd, Class::Uint),
            Some(AluOp::Ior) => (Op::GroupNonUniformBitwiseOr, Class::Uint),
            Some(AluOp::Ixor) => (Op::GroupNonUniformBitwiseXor, Class::Uint),
            Some(AluOp::Imin) => (Op::GroupNonUniformSMin, Class::Uint),
            Some(AluOp::Imax) => (Op::GroupNonUniformSMax, Class::Uint),
            Some(AluOp::Umin) => (Op::GroupNonUniformUMin, Class::Uint),
            Some(AluOp::Umax) => (Op::GroupNonUniformUMax, Class::Uint),
            Some(AluOp::Fadd) => (Op::GroupNonUniformFAdd, Class::Float),
            Some(AluOp::Fmul) => (Op::GroupNonUniformFMul, Class::Float),
            Some(AluOp::Fmin) => (Op::GroupNonUniformFMin, Class::Float),
            Some(AluOp::Fmax) => (Op::GroupNonUniformFMax, Class::Float),
            _ => return Err(SpirvError::UnsupportedIntrinsic { inst, op }),
        };
        let value = self.value(source, class)?;
        let cluster = if op == IntrinsicOp::Reduce { body.index(inst, IndexKind::ClusterSize) as u32 } else { 0 };
        let (group, capability) = match op {
            IntrinsicOp::InclusiveScan => (GroupOperation::InclusiveScan, Capability::GroupNonUniformArithmetic),
            IntrinsicOp::ExclusiveScan => (GroupOperation::ExclusiveScan, Capability::GroupNonUniformArithmetic),
            _ if cluster != 0 => (GroupOperation::ClusteredReduce, Capability::GroupNonUniformClustered),
            _ => (GroupOperation::Reduce, Capability::GroupNonUniformArithmetic),
        };
        self.module.need(capability);
        let scope = self.module.uint(Scope::Subgroup as u32);
        let ty = self.module.value_type(self.type_of(source, class));
        let mut operands: SmallVec<[u32; 4]> = SmallVec::from_slice(&[scope.0, group as u32, value.0]);
        if cluster != 0 {
            operands.push(self.module.uint(cluster).0);
        }
        let id = self.result(operation, ty, &operands);
        self.define(def, id, class);
        Ok(())
    }

    fn class_read(&self, def: Def) -> Class {
        if self.body.bit_size(def) == 1 { Class::Bool } else { self.classes.get(def) }
    }

    /// Emits a `GroupNonUniform` operation over the subgroup. It depends on the active invocations, so it is not shared
    /// between blocks.
    fn subgroup_operation(&mut self, op: Op, ty: ValueType, operands: &[Id]) -> Id {
        let scope = self.module.uint(Scope::Subgroup as u32);
        let ty = self.module.value_type(ty);
        let operands: SmallVec<[u32; 4]> = [scope].into_iter().chain(operands.iter().copied()).map(|id| id.0).collect();
        self.result(op, ty, &operands)
    }

    /// Emits a ballot with as many words as the result has.
    fn emit_ballot(&mut self, inst: Inst, def: Def, condition: Id) -> Result<(), SpirvError> {
        let four = ValueType::UINT.with_components(4);
        let mask = if self.module.at_least(1, 3) {
            self.module.need(Capability::GroupNonUniformBallot);
            self.subgroup_operation(Op::GroupNonUniformBallot, four, &[condition])
        } else {
            self.module.need(Capability::SubgroupBallotKHR);
            self.module.need_extension(SHADER_BALLOT, None);
            let ty = self.module.value_type(four);
            self.result(Op::SubgroupBallotKHR, ty, &[condition.0])
        };
        let components = self.body.num_components(def);
        let id = match (self.body.bit_size(def), components) {
            (32, 1..=4) => self.take(mask, four, Swizzle::new(&[0, 1, 2, 3]), components),
            (64, 1..=2) => {
                let wide = ValueType::new(Class::Uint, 64, 1);
                let mut parts: SmallVec<[u32; 2]> = SmallVec::new();
                for pair in 0..components {
                    let words = self.take(mask, four, Swizzle::new(&[2 * pair, 2 * pair + 1]), 2);
                    parts.push(self.pure_of(Op::Bitcast, wide, &[words]).0);
                }
                if let &[part] = parts.as_slice() {
                    Id(part)
                } else {
                    let ty = self.module.value_type(wide.with_components(components));
                    self.pure(Op::CompositeConstruct, ty, &parts)
                }
            }
            _ => return Err(SpirvError::Unsupported { inst, what: "a ballot of this shape" }),
        };
        self.define(def, id, Class::Uint);
        Ok(())
    }

    /// Emits whether a condition holds in all active invocations, or in any.
    fn vote(&mut self, all: bool, condition: Id) -> Id {
        if self.module.at_least(1, 3) {
            self.module.need(Capability::GroupNonUniformVote);
            let op = if all { Op::GroupNonUniformAll } else { Op::GroupNonUniformAny };
            return self.subgroup_operation(op, ValueType::BOOL, &[condition]);
        }
        self.module.need(Capability::SubgroupVoteKHR);
        self.module.need_extension(SUBGROUP_VOTE, None);
        let op = if all { Op::SubgroupAllKHR } else { Op::SubgroupAnyKHR };
        let ty = self.module.value_type(ValueType::BOOL);
        self.result(op, ty, &[condition.0])
    }

    /// Emits whether a value is the same in all active invocations.
    fn emit_vote_equal(&mut self, inst: Inst, def: Def, class: Class, compare: Op) -> Result<(), SpirvError> {
        let source = self.body.src(inst, 0);
        let components = self.body.num_components(source);
        let (class, compare) =
            if self.body.bit_size(source) == 1 { (Class::Bool, Op::LogicalEqual) } else { (class, compare) };
        let id = if self.module.at_least(1, 3) && !self.options.portable {
            self.module.need(Capability::GroupNonUniformVote);
            let value = self.value(source, class)?;
            self.subgroup_operation(Op::GroupNonUniformAllEqual, ValueType::BOOL, &[value])
        } else {
            let value = self.value(source, class)?;
            let first = self.read_lane(inst, source, class, None)?;
            let equal = self.pure_of(compare, ValueType::new(Class::Bool, 1, components), &[value, first]);
            let equal = if components > 1 { self.pure_of(Op::All, ValueType::BOOL, &[equal]) } else { equal };
            self.vote(true, equal)
        };
        self.define(def, id, Class::Bool);
        Ok(())
    }

    /// Reads a value of another invocation: of the given lane, or of the first active one.
    fn read_lane(&mut self, inst: Inst, source: Def, class: Class, lane: Option<Id>) -> Result<Id, SpirvError> {
        let ty = self.type_of(source, class);
        let value = self.value(source, class)?;
        let extension = !self.module.at_least(1, 3);
        if class == Class::Bool && (extension || self.options.portable) {
            // Booleans are read as words.
            let words = ValueType::new(Class::Uint, 32, ty.components);
            let (ones, zeros) = (self.module.splat(words, 1), self.module.splat(words, 0));
            let word = self.pure_of(Op::Select, words, &[value, ones, zeros]);
            let read = self.read_lane_of(inst, word, words, lane)?;
            return Ok(self.pure_of(Op::INotEqual, ty, &[read, zeros]));
        }
        self.read_lane_of(inst, value, ty, lane)
    }

    fn read_lane_of(&mut self, inst: Inst, value: Id, ty: ValueType, lane: Option<Id>) -> Result<Id, SpirvError> {
        if self.module.at_least(1, 3) {
            return Ok(match lane {
                Some(lane) => {
                    self.module.need(Capability::GroupNonUniformShuffle);
                    self.subgroup_operation(Op::GroupNonUniformShuffle, ty, &[value, lane])
                }
                None => {
                    self.module.need(Capability::GroupNonUniformBallot);
                    self.subgroup_operation(Op::GroupNonUniformBroadcastFirst, ty, &[value])
                }
            });
        }
        if ty.bits != 32 {
            return Err(SpirvError::Unsupported { inst, what: "the extension reads 32 bits of other invocations" });
        }
        self.module.need(Capability::SubgroupBallotKHR);
        self.module.need_extension(SHADER_BALLOT, None);
        let scalar = self.module.value_type(ty.scalar());
        let mut parts: SmallVec<[u32; 4]> = SmallVec::new();
        for component in 0..ty.components {
            let part = self.take(value, ty, Swizzle::replicate(component), 1);
            parts.push(match lane {
                Some(lane) => self.result(Op::SubgroupReadInvocationKHR, scalar, &[part.0, lane.0]).0,
                None => self.result(Op::SubgroupFirstInvocationKHR, scalar, &[part.0]).0,
            });
        }
        if let &[part] = parts.as_slice() {
            return Ok(Id(part));
        }
        let ty = self.module.value_type(ty);
        Ok(self.result(Op::CompositeConstruct, ty, &parts))
    }

    /// Emits `barrier`: a control barrier where invocations run in workgroups, otherwise a memory barrier.
    fn emit_barrier(&mut self, inst: Inst) {
        let body = self.body;
        let scope = |kind| IrScope::from_i32(body.index(inst, kind)).unwrap_or(IrScope::None);
        let semantics = Semantics::from_i32(body.index(inst, IndexKind::MemorySemantics));
        let modes = VariableModes(body.index(inst, IndexKind::MemoryModes) as u32);
        let (execution, memory) = (scope(IndexKind::ExecutionScope), scope(IndexKind::MemoryScope));
        let stage = self.shader.stage;
        let has_workgroups = stage == ShaderStage::Compute;
        let mut bits = MemorySemantics::RELAXED;
        if modes.intersects(VariableModes(
            VariableModes::MEM_SSBO.0
                | VariableModes::MEM_UBO.0
                | VariableModes::MEM_GLOBAL.0
                | VariableModes::UNIFORM.0,
        )) {
            bits |= MemorySemantics::UNIFORM_MEMORY;
        }
        if modes.intersects(VariableModes::MEM_SHARED) && has_workgroups {
            bits |= MemorySemantics::WORKGROUP_MEMORY;
        }
        if modes.intersects(VariableModes::IMAGE) {
            bits |= MemorySemantics::IMAGE_MEMORY;
        }
        let order = match (semantics.contains(Semantics::ACQUIRE), semantics.contains(Semantics::RELEASE)) {
            (true, true) => MemorySemantics::ACQUIRE_RELEASE,
            (true, false) => MemorySemantics::ACQUIRE,
            (false, true) => MemorySemantics::RELEASE,
            (false, false) => MemorySemantics::RELAXED,
        };
        // Memory semantics need both an order and a storage class.
        let orders_memory = memory != IrScope::None && !bits.is_empty() && !order.is_empty();
        let memory_scope = match memory {
            // Outside of workgroups, this scope contains only one invocation.
            IrScope::Invocation => None,
            IrScope::Workgroup if !has_workgroups && stage != ShaderStage::TessCtrl => None,
            IrScope::None => None,
            IrScope::Subgroup | IrScope::ShaderCall => Some(Scope::Subgroup),
            IrScope::Workgroup => Some(Scope::Workgroup),
            IrScope::QueueFamily => Some(Scope::QueueFamily),
            IrScope::Device => Some(Scope::Device),
        };
        let ordered = memory_scope.filter(|_| orders_memory).map(|scope| (scope, order | bits));
        let execution_scope = match execution {
            IrScope::Workgroup | IrScope::QueueFamily | IrScope::Device
                if has_workgroups || stage == ShaderStage::TessCtrl =>
            {
                Some(Scope::Workgroup)
            }
            IrScope::Subgroup => Some(Scope::Subgroup),
            _ => None,
        };
        let Some(execution_scope) = execution_scope else {
            if let Some((scope, semantics)) = ordered {
                let (scope, semantics) = (self.known_scope(scope), self.with_visibility(semantics));
                let (scope, semantics) = (self.module.uint(scope as u32), self.module.uint(semantics.bits()));
                self.push(Op::MemoryBarrier, &[scope.0, semantics.0]);
            }
            return;
        };
        let (scope, semantics) = match ordered {
            // Invocations expect to see all writes made before the barrier.
            _ if has_workgroups => {
                let all = MemorySemantics::ACQUIRE_RELEASE
                    | MemorySemantics::WORKGROUP_MEMORY
                    | MemorySemantics::UNIFORM_MEMORY
                    | MemorySemantics::IMAGE_MEMORY;
                let scope = ordered.map_or(Scope::Workgroup, |(scope, _)| scope);
                (if scope == Scope::Subgroup { Scope::Workgroup } else { scope }, all)
            }
            Some(ordered) => ordered,
            None if stage == ShaderStage::TessCtrl && self.options.vulkan_memory_model => {
                (Scope::Workgroup, MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::OUTPUT_MEMORY)
            }
            // Outputs of tessellation control shaders are visible after a barrier without memory semantics.
            None => (Scope::Invocation, MemorySemantics::RELAXED),
        };
        let execution = self.module.uint(execution_scope as u32);
        let (scope, semantics) = (self.known_scope(scope), self.with_visibility(semantics));
        let (scope, semantics) = (self.module.uint(scope as u32), self.module.uint(semantics.bits()));
        self.push(Op::ControlBarrier, &[execution.0, scope.0, semantics.0]);
    }
}
