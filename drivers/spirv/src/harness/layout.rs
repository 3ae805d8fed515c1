//! The words of the harness buffer.

use std::fmt::Write as _;

use tgsi_environment::MAX_LANES;
use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use tgsi_ir::shader::{Shader, Stage};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableModes;

/// The number of the storage buffer that is the harness buffer: beyond those that shaders have.
pub const BUFFER: u32 = 31;

/// Most output registers, as in the interpreter.
const MAX_OUTPUT_REGISTERS: u32 = 4096;

/// Bit of `Header::Flags`: a loop was left because it had run too long.
pub const FLAG_ENDLESS: u32 = 1;

macro_rules! header {
    ($($(#[$meta:meta])* $variant:ident,)*) => {
        /// The words at the start of the buffer. Places are offsets in bytes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Header { $($(#[$meta])* $variant,)* }

        /// Number of words at the start of the buffer.
        pub(super) const HEADER_WORDS: usize = [$(Header::$variant),*].len();
    };
}

header! {
    /// Lanes.
    Lanes,
    /// Binary logarithm of the distance between the first invocations of two quads.
    QuadShift,
    /// Iterations after which a lane leaves all loops.
    Iterations,
    /// Set by the shader: [`FLAG_ENDLESS`].
    Flags,
    /// Per-lane inputs: `[register][component][lane]`.
    Inputs,
    /// Registers there.
    InputRegisters,
    /// Words of system values: `[word][lane]`.
    SystemValues,
    /// Inputs with a vertex: `[vertex][register][component]`.
    Vertices,
    /// Vertices there.
    VertexCount,
    /// Registers of each.
    VertexRegisters,
    /// Colours in the framebuffer: `[register][component][lane]`.
    Framebuffer,
    /// Registers there.
    FramebufferRegisters,
    /// Outputs: `[register][component][lane]`; of a tessellation control shader, which all lanes share,
    /// `[register][component]`.
    Outputs,
    /// Outputs with a vertex: `[vertex][register][component]`.
    OutVertices,
    /// Vertices there.
    OutVertexCount,
    /// Whether a lane is alive.
    Live,
    /// Whether memory writes of a lane have an effect.
    MayWrite,
    /// Iterations of a lane in all loops.
    Count,
    /// Words of the emissions of a lane to a stream: `[lane][stream]`. The first is the number of words used.
    Emissions,
    /// Bytes of each.
    EmissionBytes,
    /// The table of texels.
    Texels,
    /// Number of its slots less one.
    TexelMask,
    /// Offset and number of words of each buffer of counters.
    Counters,
    /// Buffers of counters.
    CounterBuffers,
    /// Shared memory after the run.
    Shared,
    /// Bytes of shared memory.
    SharedSize,
}

/// Words after those at the start that stay zero: what is read in place of a word that is not there.
pub(super) const ABSENT_WORDS: usize = 16;
/// Words after those that nobody reads: what is written in place of a word that is not there.
pub(super) const DROPPED_WORDS: usize = 16;

/// Words of a slot of the table of texels.
pub(super) const TEXEL_WORDS: u32 = 12;
/// The word of a slot that says which texel it has; 0 if none.
pub(super) const TEXEL_HASH: u32 = 0;
/// The words of a slot that name the texel: unit, three coordinates, sample.
pub(super) const TEXEL_KEY: u32 = 1;
/// The words of a slot that have the texel's value.
pub(super) const TEXEL_VALUE: u32 = 6;

/// Tags of emissions.
pub(super) const TAG_VERTEX: u32 = 1;
/// See [`TAG_VERTEX`].
pub(super) const TAG_END: u32 = 2;

/// A system value that the shader loads: so many words from the next on, component after component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SystemSlot {
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
    /// Words of the slot for one lane.
    pub fn words(&self) -> u32 {
        u32::from(self.components) * if self.bit_size == 64 { 2 } else { 1 }
    }
}

/// What a lifted shader puts into the harness buffer, besides what the inputs say.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// The stage that the shader was of.
    pub stage: Stage,
    /// Registers of the outputs.
    pub output_registers: u32,
    /// System values in the order of their words.
    pub system_values: Vec<SystemSlot>,
    /// Whether a geometry shader emits to each stream.
    pub streams: [bool; 4],
    /// Most vertices of a primitive, 0 if the shader does not say.
    pub vertices_out: u32,
    /// Vertices of the outputs of a tessellation control shader, 0 if there are as many as lanes.
    pub patch_vertices: u32,
    /// Whether it stores texels.
    pub stores_texels: bool,
    /// Whether lanes of a quad communicate.
    pub quads: bool,
    /// Whether there is shared memory.
    pub shared: bool,
}

impl Layout {
    /// That of a shader with lowered inputs and outputs. [`super::lift`] adds system values as it finds them.
    pub(super) fn of(shader: &Shader) -> Layout {
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

    /// Words of all system values for one lane.
    pub fn system_words(&self) -> u32 {
        self.system_values.iter().map(SystemSlot::words).sum()
    }

    /// The number of the first word of a system value, which is added if it is new.
    pub(super) fn system_word(&mut self, slot: SystemSlot) -> u32 {
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

    /// The layout as JSON, from which a program that only has the code can run it.
    pub fn to_json(&self) -> String {
        let mut json = format!(
            "{{\"tgsic_harness\":1,\"buffer\":{BUFFER},\"stage\":\"{}\",\"outputs\":{},\"streams\":[{}],\
             \"vertices_out\":{},\"patch_vertices\":{},\"stores_texels\":{},\"quads\":{},\"shared\":{},\
             \"system_values\":[",
            self.stage.name(),
            self.output_registers,
            self.streams.map(|stream| stream.to_string()).join(","),
            self.vertices_out,
            self.patch_vertices,
            self.stores_texels,
            self.quads,
            self.shared,
        );
        for (number, slot) in self.system_values.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let SystemSlot { op, component, components, bit_size } = slot;
            let _ = write!(json, "{comma}[\"{}\",{component},{components},{bit_size}]", op.name());
        }
        json.push_str("]}");
        json
    }
}

/// Registers of the outputs, as the interpreter counts them.
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
