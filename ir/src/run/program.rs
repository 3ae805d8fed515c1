//! A shader in executable form: one flat list of operations for all functions.
//!
//! Control flow is flattened with explicit ends: every list of the tree is followed by an operation that closes it
//! (`Else`, `EndIf`, `Continue`, `EndLoop`, `End`). A jump only clears lanes of the mask and continues there. Phis
//! become copies on the edges.

use std::ops::Range;
use std::sync::Arc;

use cranelift_entity::PrimaryMap;

use super::error::RunError;
use super::layout::{Layout, NULL};
use super::native::NativeCode;
use super::ops::{Alu, AluSource, Call, Copy, Intrinsic, Op, Origin, Register, Routine, Texture, Value};
use super::plans::{CopyPlan, DerefStep, ImagePlan, IoPlan};
use crate::alu::ExecutionMode;
use crate::body::TexSrcKind;
use crate::entities::Function;
use crate::intrinsics::{DestComponents, IntrinsicKind, IntrinsicOp};
use crate::shader::ShaderStage;

/// Properties of a shader outside of its code.
#[derive(Clone, Debug)]
pub(super) struct ShaderProperties {
    pub stage: ShaderStage,
    pub float_controls_execution_mode: ExecutionMode,
    pub scratch_size: u32,
    pub constant_data: Vec<u8>,
    pub first_ubo_buffer: u32,
    /// Whether it has variables in memory that is visible to other invocations.
    pub has_memory_variables: bool,
    /// Maximum number of vertices that a geometry shader emits; 0 if unlimited.
    pub vertices_out: u32,
    /// Number of vertices of the output patch of a tessellation control shader; 0 means the number of lanes.
    pub patch_vertices: u32,
    /// Function names, for errors.
    pub functions: PrimaryMap<Function, String>,
}

/// Whether an intrinsic may have an effect that is visible to other blocks of lanes.
fn writes_memory(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    let info = op.info();
    match info.kind {
        IntrinsicKind::AtomicCounter => true,
        // Loads and size queries have no effects.
        IntrinsicKind::Image => info.dest_components == DestComponents::None || !info.can_eliminate,
        _ => matches!(op, I::StoreSsbo | I::SsboAtomic | I::SsboAtomicSwap),
    }
}

/// A shader prepared for execution. It is immutable data, and may be used by several threads at once.
#[derive(Debug)]
pub struct Program {
    /// Properties of the shader outside of its code.
    pub(super) properties: ShaderProperties,
    pub(super) ops: Vec<Op>,
    pub(super) alus: Vec<Alu>,
    pub(super) alu_sources: Vec<AluSource>,
    /// Lane vectors of the components of sources of ALU instructions.
    pub(super) source_vectors: Vec<u32>,
    pub(super) intrinsics: Vec<Intrinsic>,
    pub(super) operands: Vec<Value>,
    pub(super) derefs: Vec<DerefStep>,
    pub(super) textures: Vec<Texture>,
    pub(super) copies: Vec<Copy>,
    pub(super) calls: Vec<Call>,
    pub(super) registers: Vec<Register>,
    pub(super) copy_plans: Vec<CopyPlan>,
    pub(super) images: Vec<ImagePlan>,
    /// Constant lane vectors: lane vector, word.
    pub(super) constants: Vec<(u32, u32)>,
    /// Lane vectors that derivatives and textures read in inactive lanes.
    pub(super) read_inactive: Vec<u32>,
    pub(super) always_stored: Vec<bool>,
    pub(super) needs_lane_vectors: bool,
    /// By lane vector of values: whether inactive lanes must keep their words, because the value is used outside of the
    /// loop that defines it.
    pub(super) kept: Vec<bool>,
    pub(super) functions: Vec<Routine>,
    pub(super) layout: Layout,
    pub(super) io: IoPlan,
    pub(super) num_value_vectors: u32,
    pub(super) num_register_vectors: u32,
    pub(super) native: Option<Arc<dyn NativeCode>>,
}

/// Access for generators of machine code.
#[doc(hidden)]
impl Program {
    /// All operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// ALU instructions, indexed by [`Op::Alu`].
    pub fn alus(&self) -> &[Alu] {
        &self.alus
    }

    /// Intrinsics, indexed by [`Op::Intrinsic`].
    pub fn intrinsics(&self) -> &[Intrinsic] {
        &self.intrinsics
    }

    /// Whether an instruction kills or demotes invocations.
    pub fn has_kills(&self) -> bool {
        use IntrinsicOp as I;
        let is_kill = |op: I| matches!(op, I::Terminate | I::TerminateIf | I::Demote | I::DemoteIf);
        self.intrinsics.iter().any(|intrinsic| is_kill(intrinsic.op))
    }

    /// Texture instructions, indexed by [`Op::Texture`].
    pub fn textures(&self) -> &[Texture] {
        &self.textures
    }

    /// Copies; [`Op::Copies`] is a range of them.
    pub fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// Registers.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// Constant lane vectors of values, ascending: lane vector, word.
    pub fn constants(&self) -> &[(u32, u32)] {
        &self.constants
    }

    /// By lane vector of values: whether inactive lanes must keep their words, because the value is used outside of the
    /// loop that defines it.
    pub fn kept(&self) -> &[bool] {
        &self.kept
    }

    /// Number of lane vectors of values.
    pub fn num_value_vectors(&self) -> u32 {
        self.num_value_vectors
    }

    /// Number of lane vectors of registers.
    pub fn num_register_vectors(&self) -> u32 {
        self.num_register_vectors
    }

    /// The stage of the shader.
    pub fn stage(&self) -> ShaderStage {
        self.properties.stage
    }

    /// Rounding and denormal handling of floats.
    pub fn execution_mode(&self) -> ExecutionMode {
        self.properties.float_controls_execution_mode
    }

    /// The constant buffer that is uniform buffer 0.
    pub fn first_ubo_buffer(&self) -> u32 {
        self.properties.first_ubo_buffer
    }

    /// Number of output registers.
    pub fn output_registers(&self) -> usize {
        self.io.output_registers as usize
    }

    /// By component of the outputs: whether one operation stores it in all lanes, so that it need not be cleared
    /// before.
    pub fn always_stored(&self) -> &[bool] {
        &self.always_stored
    }

    /// Whether a run may change buffers, counters or images.
    pub fn writes_memory(&self) -> bool {
        self.properties.has_memory_variables || self.intrinsics.iter().any(|intrinsic| writes_memory(intrinsic.op))
    }

    /// The lane vectors of source `number` of an ALU instruction, after swizzling.
    pub fn alu_source_vectors(&self, alu: &Alu, number: usize) -> &[u32] {
        let source = self.alu_sources[alu.sources as usize + number];
        &self.source_vectors[source.start as usize..source.start as usize + usize::from(source.components)]
    }

    /// For source `number` of an ALU instruction, the distance from the lane vector of a component's low word to the
    /// lane vector of its high word; 0 if there are no high words.
    pub fn alu_source_high(&self, alu: &Alu, number: usize) -> u8 {
        self.alu_sources[alu.sources as usize + number].high
    }

    /// The operands and the result of a deref.
    pub fn deref_values(&self, number: u32) -> [Value; 3] {
        let step = self.derefs[number as usize];
        [step.dest, step.parent, step.index]
    }

    /// The arguments of a call.
    pub fn call_values(&self, number: u32) -> &[Value] {
        let call = self.calls[number as usize];
        let first = call.arguments as usize;
        &self.operands[first..first + usize::from(call.num_arguments)]
    }

    /// The sources of an intrinsic.
    pub fn sources_of(&self, intrinsic: &Intrinsic) -> &[Value] {
        let start = intrinsic.sources as usize;
        &self.operands[start..start + usize::from(intrinsic.num_sources)]
    }

    /// The texture and sampler units of an instruction if they are constant.
    pub fn constant_units(&self, texture: &Texture) -> Option<(u32, u32)> {
        use TexSrcKind as K;
        let unit = |[deref, handle, offset]: [K; 3], index: u32| {
            if texture.source(handle).is_some() {
                return None;
            }
            let unit = match texture.source(deref) {
                Some(deref) => self.constant(deref).filter(|&unit| unit != NULL)?,
                None => index,
            };
            let offset = texture.source(offset).map_or(Some(0), |offset| self.constant(offset))?;
            Some(unit.wrapping_add(offset))
        };
        let sampler = unit([K::SamplerDeref, K::SamplerHandle, K::SamplerOffset], texture.data.sampler_index);
        Some((unit([K::TextureDeref, K::TextureHandle, K::TextureOffset], texture.data.texture_index)?, sampler?))
    }

    /// The word in the first component of a value if it is constant.
    pub fn constant(&self, value: Value) -> Option<u32> {
        let at = self.constants.partition_point(|&(vector, _)| vector < value.vector);
        self.constants.get(at).filter(|&&(vector, _)| vector == value.vector).map(|&(_, word)| word)
    }

    /// The lane vectors and output components that a store with a constant location writes, without components out of
    /// range.
    pub fn stored(&self, intrinsic: &Intrinsic) -> impl Iterator<Item = (u32, u32)> {
        let value = self.sources_of(intrinsic).first().copied();
        let (vector, bits, components) = value.map_or((0, 0, 0), |value| (value.vector, value.bits, value.components));
        let vectors = value.map_or(0, |value| value.vectors());
        let end = self.output_registers() as u32 * 4;
        // Both words of a component are adjacent in outputs, while a value has all lane vectors of low words first.
        let (each, components) = (u32::from(bits / 32).max(1), u32::from(components));
        (0..vectors).filter(move |word| intrinsic.write_mask >> (word / each) & 1 != 0).filter_map(move |word| {
            let at = intrinsic.component(word).filter(|&at| at < end)?;
            Some((vector + word / each + word % each * components, at))
        })
    }

    /// Lets `code` execute regions, which are ranges of [`ops`](Self::ops) in ascending order; the code identifies a
    /// region by its position in the list. Overlapping and empty ranges are ignored.
    pub fn set_native(&mut self, regions: &[Range<u32>], code: Arc<dyn NativeCode>) {
        let mut last = 0;
        for (region, range) in (0u32..).zip(regions) {
            if range.start < last || range.is_empty() {
                continue;
            }
            if let Some(op) = self.ops.get_mut(range.start as usize) {
                *op = Op::Native { region, end: range.end };
                last = range.end;
            }
        }
        let mut at = 0;
        while let Some(&Op::Native { end, .. }) = self.ops.get(at) {
            at = end as usize;
        }
        let is_interpreted = !matches!(self.ops.get(at..), Some([Op::End]));
        self.needs_lane_vectors = is_interpreted || code.uses_lane_vectors();
        self.native = Some(code);
    }

    /// Whether executing needs lane vectors. Without them, larger blocks are cheaper, because only inputs and outputs
    /// occupy the cache.
    pub fn needs_lane_vectors(&self) -> bool {
        self.needs_lane_vectors
    }
}

impl Program {
    pub(super) fn function_name(&self, function: Function) -> String {
        self.properties.functions.get(function).cloned().unwrap_or_default()
    }

    /// The error for an instruction without a counterpart in the environment.
    pub(super) fn unsupported(&self, origin: Origin, name: &'static str) -> RunError {
        RunError::Unsupported { function: self.function_name(origin.function), inst: origin.inst, name }
    }
}
