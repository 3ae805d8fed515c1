//! Barriers, and the order of memory accesses that instructions state.

use spirv::{MemorySemantics, Op, Scope};
use tgsi_ir::intrinsics::indices::{AccessFlags, MemorySemantics as IrSemantics, Scope as IrScope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::variable::VariableModes;

use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::error::SpirvError;
use crate::words::Inst;

/// The tool that wrote a module is glslang.
const GLSLANG: u32 = 8;

/// From this version on, glslang gives barriers their semantics.
const GLSLANG_WITH_SEMANTICS: u32 = 3;

/// The order of memory accesses.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Order {
    semantics: IrSemantics,
    modes: VariableModes,
}

impl Order {
    fn new(bits: MemorySemantics) -> Order {
        use MemorySemantics as S;
        let both = bits.intersects(S::ACQUIRE_RELEASE | S::SEQUENTIALLY_CONSISTENT);
        let mut semantics = 0;
        for (is_set, bit) in [
            (both || bits.contains(S::ACQUIRE), IrSemantics::ACQUIRE),
            (both || bits.contains(S::RELEASE), IrSemantics::RELEASE),
            (bits.contains(S::MAKE_AVAILABLE), IrSemantics::MAKE_AVAILABLE),
            (bits.contains(S::MAKE_VISIBLE), IrSemantics::MAKE_VISIBLE),
        ] {
            semantics |= if is_set { bit.0 } else { 0 };
        }
        let mut modes = VariableModes::NONE;
        for (bit, mode) in [
            (S::UNIFORM_MEMORY, VariableModes::MEM_SSBO),
            (S::WORKGROUP_MEMORY, VariableModes::MEM_SHARED),
            (S::ATOMIC_COUNTER_MEMORY, VariableModes::MEM_SSBO),
            (S::IMAGE_MEMORY, VariableModes::IMAGE),
            (S::OUTPUT_MEMORY, VariableModes::SHADER_OUT),
        ] {
            if bits.contains(bit) {
                modes = modes.union(mode);
            }
        }
        Order { semantics: IrSemantics(semantics), modes }
    }

    /// Whether nothing is ordered.
    fn is_relaxed(self) -> bool {
        self.semantics.0 & IrSemantics::ACQ_REL.0 == 0 || self.modes == VariableModes::NONE
    }

    /// The part of the order that some bits of the semantics state.
    fn only(self, semantics: IrSemantics) -> Order {
        Order { semantics: IrSemantics(self.semantics.0 & semantics.0), ..self }
    }
}

/// The order around an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fences {
    scope: IrScope,
    order: Order,
    /// The flags of the access: volatile, or none.
    pub(super) access: AccessFlags,
}

impl Emitter<'_, '_, '_> {
    pub(super) fn barrier(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        match op {
            Op::ControlBarrier => self.control_barrier(inst)?,
            Op::MemoryBarrier => {
                let scope = self.scope(inst.word(0))?;
                let semantics = self.semantics(inst.word(1))?;
                self.build_barrier(IrScope::None, scope, Order::new(semantics));
            }
            _ => return Ok(Outcome::Other),
        }
        Ok(Outcome::Effect)
    }

    /// The scope with an id.
    pub(super) fn scope(&self, id: u32) -> Result<IrScope, SpirvError> {
        let number = self.integer(id)?;
        Ok(match Scope::from_u32(number) {
            Some(Scope::CrossDevice | Scope::Device) => IrScope::Device,
            Some(Scope::Workgroup) => IrScope::Workgroup,
            Some(Scope::Subgroup) => IrScope::Subgroup,
            Some(Scope::Invocation) => IrScope::Invocation,
            // Targets know no smaller scope that contains a queue family.
            Some(Scope::QueueFamily) => IrScope::Device,
            Some(Scope::ShaderCallKHR) => IrScope::ShaderCall,
            None => return Err(SpirvError::Value { what: "the scope", value: number.into() }),
        })
    }

    fn semantics(&self, id: u32) -> Result<MemorySemantics, SpirvError> {
        Ok(MemorySemantics::from_bits_truncate(self.integer(id)?))
    }

    /// The order around an access, from the scope and the semantics.
    pub(super) fn fences(&self, scope: u32, semantics: &[u32]) -> Result<Fences, SpirvError> {
        let scope = self.scope(scope)?;
        let mut all = MemorySemantics::empty();
        for &id in semantics {
            all |= self.semantics(id)?;
        }
        let is_volatile = all.contains(MemorySemantics::VOLATILE);
        let access = if is_volatile { AccessFlags::VOLATILE } else { AccessFlags::NONE };
        Ok(Fences { scope, order: Order::new(all), access })
    }

    /// Emits the barrier before an access.
    pub(super) fn fence_before(&mut self, fences: &Fences) {
        let order = fences.order.only(IrSemantics(IrSemantics::RELEASE.0 | IrSemantics::MAKE_AVAILABLE.0));
        self.build_barrier(IrScope::None, fences.scope, order);
    }

    /// Emits the barrier after an access.
    pub(super) fn fence_after(&mut self, fences: &Fences) {
        let order = fences.order.only(IrSemantics(IrSemantics::ACQUIRE.0 | IrSemantics::MAKE_VISIBLE.0));
        self.build_barrier(IrScope::None, fences.scope, order);
    }

    fn control_barrier(&mut self, inst: &Inst<'_>) -> Result<(), SpirvError> {
        use MemorySemantics as S;
        let execution = match self.scope(inst.word(0))? {
            IrScope::Device => IrScope::Workgroup,
            IrScope::Invocation => IrScope::None,
            scope => scope,
        };
        let mut memory = self.scope(inst.word(1))?;
        let mut semantics = self.semantics(inst.word(2))?;
        let stage = self.context.stage;
        let generator = self.context.module.words.generator;
        let is_old_glslang = generator >> 16 == GLSLANG && generator & 0xffff < GLSLANG_WITH_SEMANTICS;
        if is_old_glslang && stage == ShaderStage::Compute && execution == IrScope::Workgroup && semantics.is_empty() {
            memory = IrScope::Workgroup;
            semantics = S::ACQUIRE_RELEASE | S::WORKGROUP_MEMORY;
        }
        // The barrier orders outputs, whatever its semantics are.
        if stage == ShaderStage::TessCtrl {
            semantics |= S::ACQUIRE_RELEASE | S::OUTPUT_MEMORY;
            if matches!(memory, IrScope::Subgroup | IrScope::Invocation) {
                memory = IrScope::Workgroup;
            }
        }
        self.build_barrier(execution, memory, Order::new(semantics));
        Ok(())
    }

    /// A barrier of the workgroup and its memory.
    pub(crate) fn workgroup_barrier(&mut self) {
        let order = Order { semantics: IrSemantics::ACQ_REL, modes: VariableModes::MEM_SHARED };
        self.build_barrier(IrScope::Workgroup, IrScope::Workgroup, order);
    }

    /// Builds a barrier, unless it has no effect.
    fn build_barrier(&mut self, execution: IrScope, memory: IrScope, order: Order) {
        let (memory, order) = match memory {
            IrScope::None | IrScope::Invocation => (IrScope::None, Order::default()),
            _ if order.is_relaxed() => (IrScope::None, Order::default()),
            scope => (scope, order),
        };
        if execution == IrScope::None && memory == IrScope::None {
            return;
        }
        let indices = [
            (IndexKind::ExecutionScope, execution.to_i32()),
            (IndexKind::MemoryScope, memory.to_i32()),
            (IndexKind::MemorySemantics, order.semantics.to_i32()),
            (IndexKind::MemoryModes, order.modes.0 as i32),
        ];
        self.b.intrinsic(IntrinsicOp::Barrier, &[], &indices, None);
    }
}
