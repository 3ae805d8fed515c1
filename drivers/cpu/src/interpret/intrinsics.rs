//! Intrinsics: which does what, and the system values.

use tgsi_ir::intrinsics::{DestComponents, IndexKind, IntrinsicKind, IntrinsicOp};
use tgsi_ir::run::SUBGROUP_SIZE;
use tgsi_ir::system_value::SystemValue;

use super::memory::component_bytes;
use super::texture::ImageAccess;
use super::{Run, truth};
use crate::error::RunError;
use crate::program::{Intrinsic, Value};

/// Whether the interpreter executes an intrinsic.
pub(crate) fn knows(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    match op {
        I::LoadReg | I::LoadRegIndirect | I::StoreReg | I::StoreRegIndirect | I::LoadDeref | I::StoreDeref => true,
        I::VulkanResourceIndex | I::LoadVulkanDescriptor | I::LoadUniform | I::LoadUbo | I::LoadUboVec4 => true,
        I::LoadConstant | I::LoadSsbo | I::LoadShared | I::LoadScratch => true,
        I::StoreSsbo | I::StoreShared | I::StoreScratch | I::GetSsboSize | I::GetUboSize => true,
        I::SsboAtomic | I::SsboAtomicSwap | I::SharedAtomic | I::SharedAtomicSwap => true,
        I::LoadInput | I::LoadPerVertexInput | I::LoadInterpolatedInput | I::LoadPerPrimitiveInput => true,
        I::LoadOutput | I::LoadPerVertexOutput | I::StoreOutput | I::StorePerVertexOutput => true,
        I::LoadBarycentricPixel | I::LoadBarycentricCentroid | I::LoadBarycentricSample => true,
        I::LoadBarycentricAtSample | I::LoadBarycentricAtOffset => true,
        I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse => true,
        I::Terminate | I::Demote | I::TerminateIf | I::DemoteIf | I::IsHelperInvocation => true,
        I::Barrier | I::BeginInvocationInterlock | I::EndInvocationInterlock => true,
        I::IsSparseTexelsResident | I::SparseResidencyCodeAnd | I::LoadTextureScale => true,
        I::EmitVertex | I::EndPrimitive | I::ShaderClock => true,
        I::Reduce | I::InclusiveScan | I::ExclusiveScan => true,
        I::VoteAny | I::VoteAll | I::QuadVoteAny | I::QuadVoteAll | I::VoteFeq | I::VoteIeq => true,
        I::Ballot | I::BallotRelaxed | I::Elect | I::FirstInvocation | I::LastInvocation | I::InverseBallot => true,
        I::BallotBitfieldExtract | I::BallotBitCountReduce | I::BallotBitCountInclusive => true,
        I::BallotBitCountExclusive | I::BallotFindLsb | I::BallotFindMsb => true,
        I::ReadFirstInvocation | I::AsUniform | I::ReadInvocation | I::Shuffle | I::QuadBroadcast => true,
        I::ShuffleXor | I::ShuffleUp | I::ShuffleDown | I::Rotate => true,
        I::QuadSwapHorizontal | I::QuadSwapVertical | I::QuadSwapDiagonal => true,
        op => match op.info().kind {
            IntrinsicKind::Image => ImageAccess::new(op).is_some(),
            IntrinsicKind::AtomicCounter => true,
            IntrinsicKind::Sysval => is_computed(op) || SystemValue::loaded_by(op).is_some(),
            _ => false,
        },
    }
}

/// System values that follow from others.
fn is_computed(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    matches!(
        op,
        I::LoadFragCoordZw
            | I::LoadPixelCoord
            | I::LoadFrontFaceFsign
            | I::LoadWorkgroupIndex
            | I::LoadGlobalSize
            | I::LoadGlobalInvocationIndex
            | I::LoadIsIndexedDraw
            | I::LoadBaseWorkgroupId
            | I::LoadBaseGlobalInvocationId
            | I::LoadNumSubgroups
            | I::LoadSubgroupId
    )
}

/// Whether an intrinsic may change what other blocks see.
pub(crate) fn writes_memory(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    let info = op.info();
    match info.kind {
        IntrinsicKind::AtomicCounter => true,
        // Loads and questions about the size change nothing.
        IntrinsicKind::Image => info.dest_components == DestComponents::None || !info.can_eliminate,
        _ => matches!(op, I::StoreSsbo | I::SsboAtomic | I::SsboAtomicSwap),
    }
}

impl Run<'_> {
    /// Executes an intrinsic.
    pub(super) fn run_intrinsic(&mut self, number: u32) -> Result<(), RunError> {
        use IntrinsicOp as I;
        let program = self.program;
        let intrinsic = &program.intrinsics[number as usize];
        match intrinsic.op {
            I::LoadReg | I::LoadRegIndirect => self.load_register(intrinsic),
            I::StoreReg | I::StoreRegIndirect => self.store_register(intrinsic),
            I::LoadDeref => self.load_cells(intrinsic),
            I::StoreDeref => self.store_cells(intrinsic),
            // A unit by its number, and its handle.
            I::VulkanResourceIndex => {
                let (index, binding) = (intrinsic.sources()[0], intrinsic.index(IndexKind::Binding) as u32);
                self.set_lanes(intrinsic.dest, 0, |run, lane| {
                    u64::from(binding.wrapping_add(run.block.get(index, 0, lane) as u32))
                });
            }
            I::LoadVulkanDescriptor => {
                let unit = intrinsic.sources()[0];
                self.set_lanes(intrinsic.dest, 0, |run, lane| {
                    let unit = run.block.get(unit, 0, lane) as u32;
                    run.resources.handle(unit)
                });
            }
            I::LoadUbo => self.load_ubo(intrinsic),
            I::LoadUniform | I::LoadUboVec4 => self.load_vectors(intrinsic),
            I::LoadConstant => self.load_constant_data(intrinsic),
            I::LoadSsbo | I::LoadShared | I::LoadScratch => self.load_memory(intrinsic),
            I::StoreSsbo | I::StoreShared | I::StoreScratch => self.store_memory(intrinsic),
            I::GetSsboSize | I::GetUboSize => self.buffer_size(intrinsic),
            I::SsboAtomic | I::SsboAtomicSwap | I::SharedAtomic | I::SharedAtomicSwap => self.atomic(intrinsic),
            I::LoadInput | I::LoadPerVertexInput | I::LoadInterpolatedInput | I::LoadPerPrimitiveInput => {
                self.load_input(intrinsic);
            }
            I::LoadOutput | I::LoadPerVertexOutput => self.load_output(intrinsic),
            I::StoreOutput | I::StorePerVertexOutput => self.store_output(intrinsic),
            // A barycentric is where it is, relative to the centre of the pixel.
            I::LoadBarycentricPixel
            | I::LoadBarycentricCentroid
            | I::LoadBarycentricSample
            | I::LoadBarycentricAtSample => self.zero(intrinsic.dest),
            I::LoadBarycentricAtOffset => self.copy_value(intrinsic.dest, intrinsic.sources()[0]),
            I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse => self.derivative(intrinsic),
            I::Terminate | I::Demote => self.kill(None),
            I::TerminateIf | I::DemoteIf => self.kill(Some(intrinsic.sources()[0])),
            I::IsHelperInvocation => {
                // A lane that was terminated and still runs does so only for the derivatives of the others.
                self.set_lanes(intrinsic.dest, 0, |run, lane| truth(!run.may_write(lane)));
            }
            // Lanes run in lock-step and memory is one: nothing to wait for.
            I::Barrier | I::BeginInvocationInterlock | I::EndInvocationInterlock => {}
            I::IsSparseTexelsResident => {
                let code = intrinsic.sources()[0];
                self.set_lanes(intrinsic.dest, 0, |run, lane| truth(run.block.get(code, 0, lane) != 0));
            }
            I::SparseResidencyCodeAnd => {
                let sources = intrinsic.sources();
                self.set_lanes(intrinsic.dest, 0, |run, lane| {
                    run.block.get(sources[0], 0, lane) & run.block.get(sources[1], 0, lane)
                });
            }
            I::LoadTextureScale => self.texture_scale(intrinsic),
            I::EmitVertex => self.emit_vertex(intrinsic.index(IndexKind::StreamId) as u32)?,
            I::EndPrimitive => self.end_primitive(intrinsic.index(IndexKind::StreamId) as u32)?,
            I::ShaderClock => {
                let steps = self.block.steps;
                self.set_lanes(intrinsic.dest, 0, |_, _| steps & 0xffff_ffff);
                self.set_lanes(intrinsic.dest, 1, |_, _| steps >> 32);
            }
            I::Reduce | I::InclusiveScan | I::ExclusiveScan => self.reduce(intrinsic),
            op => match op.info().kind {
                IntrinsicKind::Image => {
                    if let Some(access) = ImageAccess::new(op) {
                        self.run_image(intrinsic, access);
                    }
                }
                IntrinsicKind::AtomicCounter => self.atomic_counter(intrinsic),
                IntrinsicKind::Subgroup => {
                    if !self.subgroup(intrinsic) {
                        self.shuffle(intrinsic);
                    }
                }
                _ => {
                    self.load_system_value(intrinsic);
                }
            },
        }
        Ok(())
    }

    fn zero(&mut self, dest: Value) {
        for component in 0..usize::from(dest.components) {
            self.set_lanes(dest, component, |_, _| 0);
        }
    }

    fn copy_value(&mut self, dest: Value, source: Value) {
        for component in 0..usize::from(dest.components) {
            self.set_lanes(dest, component, |run, lane| run.block.get(source, component, lane));
        }
    }

    /// Makes the active lanes (with a condition, those where it holds) helpers.
    fn kill(&mut self, condition: Option<Value>) {
        for lane in 0..self.block.lanes {
            if self.block.active[lane] != 0 && condition.is_none_or(|value| self.block.get(value, 0, lane) != 0) {
                self.outputs.live[lane] = false;
            }
        }
    }

    /// Invocations of the dispatch in a dimension.
    fn global_size(&self, dimension: usize, lane: usize) -> u32 {
        let count = self.system_value_word(SystemValue::NumWorkgroups, dimension, lane);
        count.wrapping_mul(self.system_value_word(SystemValue::WorkgroupSize, dimension, lane))
    }

    /// Loads a system value; false if the environment has none that corresponds.
    fn load_system_value(&mut self, intrinsic: &Intrinsic) -> bool {
        use IntrinsicOp as I;
        let dest = intrinsic.dest;
        match intrinsic.op {
            I::LoadFragCoordZw => {
                let component = intrinsic.index(IndexKind::Component) as usize & 3;
                self.set_lanes(dest, 0, |run, lane| {
                    run.system_value_word(SystemValue::FragCoord, component, lane).into()
                });
                return true;
            }
            I::LoadPixelCoord => {
                for component in 0..2 {
                    self.set_lanes(dest, component, |run, lane| {
                        let word = run.system_value_word(SystemValue::FragCoord, component, lane);
                        u64::from(f32::from_bits(word) as u16)
                    });
                }
                return true;
            }
            I::LoadFrontFaceFsign => {
                self.set_lanes(dest, 0, |run, lane| {
                    let front = run.system_value_word(SystemValue::FrontFace, 0, lane) != 0;
                    (if front { 1f32 } else { -1f32 }).to_bits().into()
                });
                return true;
            }
            I::LoadWorkgroupIndex => {
                self.set_lanes(dest, 0, |run, lane| {
                    let id = |word| run.system_value_word(SystemValue::WorkgroupId, word, lane);
                    let count = |word| run.system_value_word(SystemValue::NumWorkgroups, word, lane);
                    let rows = id(2).wrapping_mul(count(1)).wrapping_add(id(1));
                    rows.wrapping_mul(count(0)).wrapping_add(id(0)).into()
                });
                return true;
            }
            I::LoadGlobalSize => {
                for component in 0..3 {
                    self.set_lanes(dest, component, |run, lane| run.global_size(component, lane).into());
                }
                return true;
            }
            I::LoadGlobalInvocationIndex => {
                self.set_lanes(dest, 0, |run, lane| {
                    let id = |word| u64::from(run.system_value_word(SystemValue::GlobalInvocationId, word, lane));
                    let size = |word| u64::from(run.global_size(word, lane));
                    let rows = id(2).wrapping_mul(size(1)).wrapping_add(id(1));
                    rows.wrapping_mul(size(0)).wrapping_add(id(0))
                });
                return true;
            }
            // Then the base vertex is the first vertex, else 0.
            I::LoadIsIndexedDraw => {
                self.set_lanes(dest, 0, |run, lane| {
                    let word = |value| run.system_value_word(value, 0, lane);
                    let is_indexed = word(SystemValue::BaseVertex) == word(SystemValue::FirstVertex);
                    if is_indexed { u64::from(u32::MAX) } else { 0 }
                });
                return true;
            }
            // The workgroup is not cut off from the start of the grid.
            I::LoadBaseWorkgroupId | I::LoadBaseGlobalInvocationId => {
                self.zero(dest);
                return true;
            }
            I::LoadNumSubgroups => {
                let count = self.block.lanes.div_ceil(SUBGROUP_SIZE) as u64;
                self.set_lanes(dest, 0, |_, _| count);
                return true;
            }
            I::LoadSubgroupId => {
                self.set_lanes(dest, 0, |_, lane| (lane / SUBGROUP_SIZE) as u64);
                return true;
            }
            _ => {}
        }
        let Some(value) = SystemValue::loaded_by(intrinsic.op) else { return false };
        // Masks come in any shape, 64 bits of them count.
        let masks = matches!(
            value,
            SystemValue::SubgroupEqMask
                | SystemValue::SubgroupGeMask
                | SystemValue::SubgroupGtMask
                | SystemValue::SubgroupLeMask
                | SystemValue::SubgroupLtMask
        );
        let words_each = if dest.bits == 64 && (masks || component_bytes(value.bit_size()) == 8) { 2 } else { 1 };
        for component in 0..usize::from(dest.components) {
            self.set_lanes(dest, component, |run, lane| {
                let word = |word| u64::from(run.system_value_word(value, word, lane));
                let bits = word(component * words_each);
                match (words_each, value.bit_size()) {
                    (2, _) => bits | word(component * words_each + 1) << 32,
                    (_, 1) if bits != 0 => u64::MAX,
                    _ => bits,
                }
            });
        }
        true
    }
}
