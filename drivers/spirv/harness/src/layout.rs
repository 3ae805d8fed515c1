//! The layout of the harness buffer.

use tgsi_environment::MAX_LANES;
use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableModes;

/// The number of the storage buffer that is the harness buffer; shaders do not use it.
pub const BUFFER: u32 = 31;

/// Most output registers, as in the interpreter.
const MAX_OUTPUT_REGISTERS: u32 = 4096;

/// Bit of `Header::Flags`: a loop exceeded the limit of iterations.
pub(crate) const FLAG_ENDLESS: u32 = 1;

macro_rules! header {
    ($($(#[$meta:meta])* $variant:ident,)*) => {
        /// The words of the header. Addresses are offsets in bytes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Header { $($(#[$meta])* $variant,)* }

        /// The number of words of the header.
        pub(crate) const HEADER_WORDS: usize = [$(Header::$variant),*].len();
    };
}

header! {
    /// Number of lanes.
    Lanes,
    /// Binary logarithm of the distance between the first invocations of two quads.
    QuadShift,
    /// Iterations after which a lane leaves all loops.
    Iterations,
    /// Set by the shader: [`FLAG_ENDLESS`].
    Flags,
    /// Per-lane inputs: `[register][component][lane]`.
    Inputs,
    /// Number of input registers.
    InputRegisters,
    /// Words of system values: `[word][lane]`.
    SystemValues,
    /// Inputs with a vertex: `[vertex][register][component]`.
    Vertices,
    /// Number of vertices.
    VertexCount,
    /// Number of registers of each vertex.
    VertexRegisters,
    /// Colours in the framebuffer: `[register][component][lane]`.
    Framebuffer,
    /// Number of framebuffer registers.
    FramebufferRegisters,
    /// Outputs: `[register][component][lane]`. All lanes of a tessellation control shader share them:
    /// `[register][component]`.
    Outputs,
    /// Outputs with a vertex: `[vertex][register][component]`.
    OutVertices,
    /// Number of output vertices.
    OutVertexCount,
    /// Whether a lane is alive.
    Live,
    /// Whether memory writes of a lane have an effect.
    MayWrite,
    /// Iterations of a lane, over all loops.
    Count,
    /// Words emitted by a lane to a stream: `[lane][stream]`. The first is the number of words used.
    Emissions,
    /// Bytes of each of these.
    EmissionBytes,
    /// The hash table of texels.
    Texels,
    /// The number of its slots minus one.
    TexelMask,
    /// Offset and number of words of each buffer of counters.
    Counters,
    /// Number of counter buffers.
    CounterBuffers,
    /// Shared memory after the run.
    Shared,
    /// Bytes of shared memory.
    SharedSize,
}

/// Words after the header that stay zero: the target of reads without effect.
pub(crate) const ABSENT_WORDS: usize = 16;
/// Words after these that are never read: the target of writes without effect.
pub(crate) const DROPPED_WORDS: usize = 16;

/// Words of a slot of the texel table.
pub(crate) const TEXEL_WORDS: u32 = 12;
/// The word of a slot with the texel's hash; 0 if the slot is empty.
pub(crate) const TEXEL_HASH: u32 = 0;
/// The words of a slot with the texel's key: unit, three coordinates, sample.
pub(crate) const TEXEL_KEY: u32 = 1;
/// The words of a slot with the texel's value.
pub(crate) const TEXEL_VALUE: u32 = 6;

/// Tag of an emitted vertex.
pub(crate) const TAG_VERTEX: u32 = 1;
/// Tag of the end of a primitive.
pub(crate) const TAG_END: u32 = 2;

/// A system value that the shader loads: [`words`](Self::words) consecutive words, component by component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SystemSlot {
    /// The intrinsic that loads it.
    pub op: IntrinsicOp,
    /// Its constant index `component`, if it has one.
    pub component: u32,
    /// Components of the value.
    pub components: u8,
    /// Bit size of the value.
    pub bit_size: u8,
}

impl SystemSlot {
    /// Returns the number of words of the slot for one lane.
    pub fn words(&self) -> u32 {
        u32::from(self.components) * if self.bit_size == 64 { 2 } else { 1 }
    }
}

/// The parts of the harness buffer that depend on the lifted shader rather than the inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// The original stage of the shader.
    pub(crate) stage: ShaderStage,
    /// Number of output registers.
    pub(crate) output_registers: u32,
    /// System values in the order of their words.
    pub(crate) system_values: Vec<SystemSlot>,
    /// Whether a geometry shader emits to each stream.
    pub(crate) streams: [bool; 4],
    /// Most vertices of a primitive, 0 if the shader does not declare it.
    pub(crate) vertices_out: u32,
    /// Number of output vertices of a tessellation control shader, 0 if one per lane.
    pub(crate) patch_vertices: u32,
    /// Whether the shader stores texels.
    pub(crate) stores_texels: bool,
    /// Whether lanes of a quad communicate.
    pub quads: bool,
    /// Whether there is shared memory.
    pub(crate) shared: bool,
}

impl Layout {
    /// Returns the layout of a shader with lowered inputs and outputs. [`lift`](crate::lift) adds system values as it
    /// finds them.
    pub(crate) fn of(shader: &Shader) -> Layout {
        let body = shader.main();
        let mut layout = Layout {
            stage: shader.stage,
            output_registers: output_registers(shader),
            system_values: Vec::new(),
            streams: [false; 4],
            vertices_out: shader.info.gs.vertices_out,
            patch_vertices: shader.info.tess.tcs_vertices_out.min(MAX_LANES as u32),
            stores_texels: false,
            quads: false,
            shared: false,
        };
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            use IntrinsicOp as I;
            layout.quads |= body.tex(inst).is_some();
            let Some(op) = body.intrinsic(inst) else { continue };
            if matches!(op, I::EmitVertex | I::EndPrimitive)
                && let Some(stream) = layout.streams.get_mut(body.index(inst, IndexKind::StreamId) as usize)
            {
                *stream = true;
            }
            layout.quads |= matches!(op.info().kind, IntrinsicKind::Subgroup | IntrinsicKind::Derivative);
            layout.stores_texels |= op.info().kind == IntrinsicKind::Image
                && (op.info().index_slot(IndexKind::SrcType).is_some()
                    || op.info().index_slot(IndexKind::AtomicOp).is_some());
            layout.shared |= matches!(op, I::LoadShared | I::StoreShared | I::SharedAtomic | I::SharedAtomicSwap);
        }
        layout
    }

    /// Returns the index of the first word of a system value, which is added if it is new.
    pub(crate) fn system_word(&mut self, slot: SystemSlot) -> u32 {
        let mut first = 0;
        for other in &self.system_values {
            if *other == slot {
                return first;
            }
            first += other.words();
        }
        self.system_values.push(slot);
        first
    }
}

/// Returns a word of the header; 0 beyond the end of the buffer.
pub(crate) fn header_word(words: &[u32], word: Header) -> usize {
    words.get(word as usize).map_or(0, |&word| word as usize)
}

/// Returns the number of output registers, counted as in the interpreter.
fn output_registers(shader: &Shader) -> u32 {
    let mut count = shader.num_outputs;
    for (_, data) in shader.globals_with(VariableModes::SHADER_OUT) {
        let ty = match *shader.types.get(data.ty) {
            TypeData::Array { element, .. } if data.per_vertex => element,
            _ => data.ty,
        };
        let slots = if data.compact { shader.types.array_elements(ty).div_ceil(4) } else { shader.types.slots(ty) };
        count = count.max(data.driver_location.saturating_add(slots));
    }
    let body = shader.main();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        let Some(IntrinsicOp::StoreOutput | IntrinsicOp::StorePerVertexOutput) = body.intrinsic(inst) else { continue };
        let value = body.shape(body.src(inst, 0));
        let words = u32::from(value.num_components) * if value.bit_size == 64 { 2 } else { 1 };
        let index = |kind| body.index(inst, kind) as u32;
        let width = (words + index(IndexKind::Component) % 4).div_ceil(4);
        let slots = u32::from(IoSemantics::from_i32(index(IndexKind::IoSemantics) as i32).num_slots);
        let slots = slots.max(index(IndexKind::Range)).max(width);
        count = count.max(index(IndexKind::Base).saturating_add(slots));
    }
    count.min(MAX_OUTPUT_REGISTERS)
}
