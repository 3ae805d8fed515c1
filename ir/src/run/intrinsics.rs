//! Dispatch of intrinsics, and system values.

use super::error::RunError;
use super::layout::component_bytes;
use super::machine::{Machine, truth};
use super::ops::{Intrinsic, Value};
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use tgsi_environment::SUBGROUP_SIZE;
use tgsi_environment::SystemValue;

impl Machine<'_, '_> {
    /// Executes an intrinsic.
    pub fn run_intrinsic(&mut self, number: u32) -> Result<(), RunError> {
        use IntrinsicOp as I;
        let program = self.program;
        let intrinsic = &program.intrinsics[number as usize];
        if let Some(&plan) = program.images.get(intrinsic.extra as usize)
            && intrinsic.op.info().kind == IntrinsicKind::Image
        {
            self.run_image(intrinsic, plan);
            return Ok(());
        }
        match intrinsic.op {
            I::LoadReg | I::LoadRegIndirect => self.load_register(intrinsic),
            I::StoreReg | I::StoreRegIndirect => self.store_register(intrinsic),
            I::LoadDeref => self.load_pointer(intrinsic.dest, self.sources(intrinsic)[0], intrinsic.extra),
            I::StoreDeref => {
                let sources = self.sources(intrinsic);
                self.store_pointer(sources[0], sources[1], intrinsic.write_mask, intrinsic.extra);
            }
            I::CopyDeref => self.copy_deref(intrinsic),
            I::DerefBufferArrayLength => {
                let pointer = self.sources(intrinsic)[0];
                self.set_lanes(intrinsic.dest, 0, |machine, lane| {
                    let bytes = machine.buffer_bytes_behind(machine.get(pointer, 0, lane) as u32);
                    bytes.checked_div(intrinsic.extra).unwrap_or(0).into()
                });
            }
            // The handle of a unit, given by its number.
            I::VulkanResourceIndex => {
                let (index, binding) = (self.sources(intrinsic)[0], intrinsic.index(IndexKind::Binding) as u32);
                self.set_lanes(intrinsic.dest, 0, |machine, lane| {
                    u64::from(binding.wrapping_add(machine.get(index, 0, lane) as u32))
                });
            }
            I::LoadVulkanDescriptor => {
                let unit = self.sources(intrinsic)[0];
                self.set_lanes(intrinsic.dest, 0, |machine, lane| {
                    let unit = machine.get(unit, 0, lane) as u32;
                    machine.resources.handle(unit)
                });
            }
            I::LoadUniform => self.load_uniform(intrinsic),
            I::LoadUbo => self.load_ubo(intrinsic),
            I::LoadUboVec4 => self.load_ubo_vec4(intrinsic),
            I::LoadConstant => self.load_constant_data(intrinsic),
            I::LoadSsbo | I::LoadShared | I::LoadScratch => self.load_memory(intrinsic),
            I::StoreSsbo | I::StoreShared | I::StoreScratch => self.store_memory(intrinsic),
            I::GetSsboSize | I::GetUboSize => self.buffer_size(intrinsic),
            I::SsboAtomic | I::SsboAtomicSwap | I::SharedAtomic | I::SharedAtomicSwap => self.atomic(intrinsic),
            I::DerefAtomic | I::DerefAtomicSwap => self.atomic_deref(intrinsic),
            I::LoadInput | I::LoadPerVertexInput | I::LoadInterpolatedInput | I::LoadPerPrimitiveInput => {
                self.load_input(intrinsic);
            }
            I::LoadOutput | I::LoadPerVertexOutput => self.load_output(intrinsic),
            I::StoreOutput | I::StorePerVertexOutput => self.store_output(intrinsic),
            I::InterpDerefAtCentroid | I::InterpDerefAtSample | I::InterpDerefAtOffset => {
                self.interpolate_deref(intrinsic);
            }
            // A barycentric value is the offset from the centre of the pixel.
            I::LoadBarycentricPixel
            | I::LoadBarycentricCentroid
            | I::LoadBarycentricSample
            | I::LoadBarycentricAtSample => self.zero(intrinsic.dest),
            I::LoadBarycentricAtOffset => self.copy_value(intrinsic.dest, self.sources(intrinsic)[0]),
            I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse => self.derivative(intrinsic),
            I::Terminate | I::Demote => self.kill(None),
            I::TerminateIf | I::DemoteIf => self.kill(Some(self.sources(intrinsic)[0])),
            I::IsHelperInvocation => {
                // A terminated lane only continues for the derivatives of the others.
                self.set_lanes(intrinsic.dest, 0, |machine, lane| truth(!machine.may_write(lane)));
            }
            // Lanes execute in lock-step on the same memory, so a barrier has no effect.
            I::Barrier | I::BeginInvocationInterlock | I::EndInvocationInterlock => {}
            I::IsSparseTexelsResident => {
                let code = self.sources(intrinsic)[0];
                self.set_lanes(intrinsic.dest, 0, |machine, lane| truth(machine.get(code, 0, lane) != 0));
            }
            I::SparseResidencyCodeAnd => {
                let sources = self.sources(intrinsic);
                self.set_lanes(intrinsic.dest, 0, |machine, lane| {
                    machine.get(sources[0], 0, lane) & machine.get(sources[1], 0, lane)
                });
            }
            I::LoadTextureScale => self.texture_scale(intrinsic),
            I::EmitVertex => self.emit_vertex(intrinsic.index(IndexKind::StreamId) as u32)?,
            I::EndPrimitive => self.end_primitive(intrinsic.index(IndexKind::StreamId) as u32)?,
            I::ShaderClock => {
                let steps = self.steps;
                self.set_lanes(intrinsic.dest, 0, |_, _| steps & 0xffff_ffff);
                self.set_lanes(intrinsic.dest, 1, |_, _| steps >> 32);
            }
            I::Reduce | I::InclusiveScan | I::ExclusiveScan => self.reduce(intrinsic),
            op => match op.info().kind {
                IntrinsicKind::AtomicCounter => self.atomic_counter(intrinsic),
                IntrinsicKind::Subgroup if self.subgroup(intrinsic) || self.shuffle(intrinsic) => {}
                IntrinsicKind::Sysval if self.load_system_value(intrinsic) => {}
                _ if !self.any => {}
                _ => return Err(program.unsupported(intrinsic.origin, op.name())),
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
            self.set_lanes(dest, component, |machine, lane| machine.get(source, component, lane));
        }
    }

    /// Turns the active lanes (with a condition, those where it holds) into helpers.
    fn kill(&mut self, condition: Option<Value>) {
        for lane in 0..self.lanes {
            if self.active[lane] != 0 && condition.is_none_or(|value| self.get(value, 0, lane) != 0) {
                let lane = self.output_lane(lane);
                self.outputs.live[lane] = false;
            }
        }
    }

    /// A word of a system value according to the inputs; 0 if it is not given. Values that no front end provides are
    /// derived from others.
    pub fn system_value_word(&self, value: SystemValue, word: usize, lane: usize) -> u32 {
        use SystemValue as S;
        if let Some(given) = self.inputs.system_values.get(&value) {
            return given.get(word).and_then(|lanes| lanes.get(self.first + lane)).copied().unwrap_or(0);
        }
        let other = |value: SystemValue, word: usize| {
            let given = self.inputs.system_values.get(&value);
            given.and_then(|words| words.get(word)).and_then(|lanes| lanes.get(self.first + lane)).copied().unwrap_or(0)
        };
        match (value, word) {
            (S::LocalInvocationIndex, 0) => {
                let (size, id) = (|word| other(S::WorkgroupSize, word), |word| other(S::LocalInvocationId, word));
                let rows = id(2).wrapping_mul(size(1)).wrapping_add(id(1));
                rows.wrapping_mul(size(0)).wrapping_add(id(0))
            }
            (S::GlobalInvocationId, 0..=2) => {
                let groups = other(S::WorkgroupId, word).wrapping_mul(other(S::WorkgroupSize, word));
                groups.wrapping_add(other(S::LocalInvocationId, word))
            }
            _ => 0,
        }
    }

    /// Number of invocations of the dispatch in a dimension.
    fn global_size(&self, dimension: usize, lane: usize) -> u32 {
        let count = self.system_value_word(SystemValue::NumWorkgroups, dimension, lane);
        count.wrapping_mul(self.system_value_word(SystemValue::WorkgroupSize, dimension, lane))
    }

    /// Loads a system value; false if the environment has no corresponding value.
    fn load_system_value(&mut self, intrinsic: &Intrinsic) -> bool {
        use IntrinsicOp as I;
        let dest = intrinsic.dest;
        match intrinsic.op {
            I::LoadFragCoordZw => {
                let component = usize::from(intrinsic.first_component());
                self.set_lanes(dest, 0, |machine, lane| {
                    machine.system_value_word(SystemValue::FragCoord, component, lane).into()
                });
                return true;
            }
            I::LoadPixelCoord => {
                for component in 0..2 {
                    self.set_lanes(dest, component, |machine, lane| {
                        let word = machine.system_value_word(SystemValue::FragCoord, component, lane);
                        u64::from(f32::from_bits(word) as u16)
                    });
                }
                return true;
            }
            I::LoadFrontFaceFsign => {
                self.set_lanes(dest, 0, |machine, lane| {
                    let front = machine.system_value_word(SystemValue::FrontFace, 0, lane) != 0;
                    (if front { 1f32 } else { -1f32 }).to_bits().into()
                });
                return true;
            }
            I::LoadWorkgroupIndex => {
                self.set_lanes(dest, 0, |machine, lane| {
                    let id = |word| machine.system_value_word(SystemValue::WorkgroupId, word, lane);
                    let count = |word| machine.system_value_word(SystemValue::NumWorkgroups, word, lane);
                    let rows = id(2).wrapping_mul(count(1)).wrapping_add(id(1));
                    rows.wrapping_mul(count(0)).wrapping_add(id(0)).into()
                });
                return true;
            }
            I::LoadGlobalSize => {
                for component in 0..3 {
                    self.set_lanes(dest, component, |machine, lane| machine.global_size(component, lane).into());
                }
                return true;
            }
            I::LoadGlobalInvocationIndex => {
                self.set_lanes(dest, 0, |machine, lane| {
                    let id = |word| u64::from(machine.system_value_word(SystemValue::GlobalInvocationId, word, lane));
                    let size = |word| u64::from(machine.global_size(word, lane));
                    let rows = id(2).wrapping_mul(size(1)).wrapping_add(id(1));
                    rows.wrapping_mul(size(0)).wrapping_add(id(0))
                });
                return true;
            }
            // In an indexed draw, the base vertex is the first vertex; otherwise it is 0.
            I::LoadIsIndexedDraw => {
                self.set_lanes(dest, 0, |machine, lane| {
                    let word = |value| machine.system_value_word(value, 0, lane);
                    let is_indexed = word(SystemValue::BaseVertex) == word(SystemValue::FirstVertex);
                    if is_indexed { u64::from(u32::MAX) } else { 0 }
                });
                return true;
            }
            // The dispatch starts at the origin of the grid.
            I::LoadBaseWorkgroupId | I::LoadBaseGlobalInvocationId => {
                self.zero(dest);
                return true;
            }
            I::LoadNumSubgroups => {
                let count = self.lanes.div_ceil(SUBGROUP_SIZE) as u64;
                self.set_lanes(dest, 0, |_, _| count);
                return true;
            }
            I::LoadSubgroupId => {
                self.set_lanes(dest, 0, |_, lane| (lane / SUBGROUP_SIZE) as u64);
                return true;
            }
            _ => {}
        }
        let Some(value) = intrinsic.op.system_value() else { return false };
        // Masks may have any shape; their low 64 bits count.
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
            self.set_lanes(dest, component, |machine, lane| {
                let word = |word| u64::from(machine.system_value_word(value, word, lane));
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
