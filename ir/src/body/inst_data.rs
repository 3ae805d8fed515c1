//! Kinds of instructions and their payload.

use cranelift_entity::packed_option::PackedOption;
use tgsi_environment::SamplerDim;
use tgsi_environment::named_enum;

use super::details::Indices;
use super::swizzle::AluFlags;
use crate::alu::{AluOp, AluType};
use crate::entities::{Block, Cast, Copies, Def, Function, Tex, Type, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::variable::VariableModes;

/// Kind of a deref instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DerefKind {
    /// A variable. No sources.
    Var(Variable),
    /// Element of an array, column of a matrix, component of a vector. Sources: parent, index.
    Array,
    /// All elements; only for copies. Source: parent.
    ArrayWildcard,
    /// Pointer arithmetic. Sources: parent, index.
    PtrAsArray,
    /// A field. Source: parent.
    Struct(u32),
    /// Any value interpreted as a pointer; see [`Body::cast`](super::Body::cast). Source: the value.
    Cast(Cast),
}

/// Known layout of the memory that a cast points to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[doc(hidden)]
pub struct CastLayout {
    /// Stride for pointer arithmetic, in bytes.
    pub ptr_stride: u32,
    /// Alignment, a power of two; 0 if unknown.
    pub align_mul: u32,
    /// Offset from that alignment.
    pub align_offset: u32,
}

/// Jumps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JumpKind {
    /// Leave the innermost loop.
    Break,
    /// Continue with the next iteration of the innermost loop.
    Continue,
    /// Leave the function.
    Return,
    /// End the invocation.
    Halt,
    /// Unstructured jump.
    Goto(Block),
    /// Unstructured conditional jump. Source: condition.
    GotoIf {
        /// Target for a true condition.
        then_block: Block,
        /// Target for a false condition.
        else_block: Block,
    },
}

named_enum! {
    /// Texture operations.
    TexOp {
        Tex = 0 "tex" "Lookup with implicit level.",
        Txb = 1 "txb" "With bias.",
        Txl = 2 "txl" "With explicit level.",
        Txd = 3 "txd" "With explicit gradients.",
        Txf = 4 "txf" "Texel fetch.",
        TxfMs = 5 "txf_ms" "Multisample texel fetch.",
        TxfMsFb = 6 "txf_ms_fb" "Framebuffer fetch.",
        Txs = 7 "txs" "Size query.",
        Lod = 8 "lod" "Level-of-detail query.",
        Tg4 = 9 "tg4" "Gather.",
        QueryLevels = 10 "query_levels" "Number of levels.",
        TextureSamples = 11 "texture_samples" "Number of samples.",
        SamplesIdentical = 12 "samples_identical" "Whether all samples are the same.",
        TexPrefetch = 13 "tex_prefetch" "Lookup hoisted before dispatch.",
        SamplePos = 14 "sample_pos" "Position of a sample in the pixel.",
    }
}

impl TexOp {
    /// Whether it queries sizes, levels or samples, without reading texels.
    pub const fn is_query(self) -> bool {
        matches!(self, TexOp::Txs | TexOp::Lod | TexOp::QueryLevels | TexOp::TextureSamples | TexOp::SamplePos)
    }

    /// Whether a sampler is needed.
    pub const fn needs_sampler(self) -> bool {
        !matches!(
            self,
            TexOp::Txf
                | TexOp::TxfMs
                | TexOp::Txs
                | TexOp::QueryLevels
                | TexOp::TextureSamples
                | TexOp::SamplesIdentical
                | TexOp::SamplePos
        )
    }
}

named_enum! {
    /// Kinds of texture sources.
    TexSrcKind {
        Coord = 0 "coord" "Coordinates, then the array layer.",
        Projector = 1 "projector" "Divisor of the coordinates.",
        Comparator = 2 "comparator" "Reference of a comparison.",
        Offset = 3 "offset" "Offset in texels.",
        Bias = 4 "bias" "Added to the level.",
        Lod = 5 "lod" "Level.",
        MinLod = 6 "min_lod" "Smallest level.",
        MsIndex = 7 "ms_index" "Sample.",
        Ddx = 8 "ddx" "Gradient along x.",
        Ddy = 9 "ddy" "Gradient along y.",
        TextureDeref = 10 "texture_deref" "Deref of the texture.",
        SamplerDeref = 11 "sampler_deref" "Deref of the sampler.",
        TextureOffset = 12 "texture_offset" "Added to the texture unit.",
        SamplerOffset = 13 "sampler_offset" "Added to the sampler unit.",
        TextureHandle = 14 "texture_handle" "Bindless handle of the texture.",
        SamplerHandle = 15 "sampler_handle" "Bindless handle of the sampler.",
        SamplerDerefIntrinsic = 16 "sampler_deref_intrinsic" "Result of `deref_texture_src` for the sampler.",
        TextureDerefIntrinsic = 17 "texture_deref_intrinsic" "Result of `deref_texture_src` for the texture.",
        Plane = 18 "plane" "Plane of a planar format.",
        Backend1 = 19 "backend1" "Opaque to the core.",
        Backend2 = 20 "backend2" "Opaque to the core.",
    }
}

/// Texel offsets of a gather without explicit offsets.
pub const DEFAULT_TG4_OFFSETS: [[i8; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];

/// Payload of a texture instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexData {
    /// Operation.
    pub op: TexOp,
    /// Dimensionality.
    pub dim: SamplerDim,
    /// Type of the result.
    pub dest_type: AluType,
    /// Array texture.
    pub is_array: bool,
    /// Compares.
    pub is_shadow: bool,
    /// A comparison has one result component instead of four.
    pub is_new_style_shadow: bool,
    /// The result has one more component: residency.
    pub is_sparse: bool,
    /// Gather with implicit level.
    pub is_gather_implicit_lod: bool,
    /// Cube lowered to an array.
    pub array_is_lowered_cube: bool,
    /// The texture index may diverge.
    pub texture_non_uniform: bool,
    /// The sampler index may diverge.
    pub sampler_non_uniform: bool,
    /// Number of coordinate components, including the layer.
    pub coord_components: u8,
    /// Gathered component.
    pub component: u8,
    /// Texel offsets of the four gathered texels.
    pub tg4_offsets: [[i8; 2]; 4],
    /// Texture unit, if no source gives it.
    pub texture_index: u32,
    /// Sampler unit, if no source gives it.
    pub sampler_index: u32,
    /// Opaque to the core.
    pub backend_flags: u32,
}

impl TexData {
    /// A texture instruction with default values in all other fields.
    pub fn new(op: TexOp, dim: SamplerDim, dest_type: AluType) -> TexData {
        TexData {
            op,
            dim,
            dest_type,
            is_array: false,
            is_shadow: false,
            is_new_style_shadow: false,
            is_sparse: false,
            is_gather_implicit_lod: false,
            array_is_lowered_cube: false,
            texture_non_uniform: false,
            sampler_non_uniform: false,
            coord_components: 0,
            component: 0,
            tg4_offsets: DEFAULT_TG4_OFFSETS,
            texture_index: 0,
            sampler_index: 0,
            backend_flags: 0,
        }
    }

    /// Number of result components, including residency.
    pub fn dest_components(&self) -> u8 {
        let size = match self.op {
            TexOp::Txs => {
                let size = match self.dim {
                    SamplerDim::Dim1D | SamplerDim::Buf => 1,
                    SamplerDim::Dim3D => 3,
                    _ => 2,
                };
                size + u8::from(self.is_array)
            }
            TexOp::Lod | TexOp::SamplePos => 2,
            TexOp::QueryLevels | TexOp::TextureSamples | TexOp::SamplesIdentical => 1,
            TexOp::Tg4 => 4,
            TexOp::Tex
            | TexOp::Txb
            | TexOp::Txl
            | TexOp::Txd
            | TexOp::Txf
            | TexOp::TxfMs
            | TexOp::TxfMsFb
            | TexOp::TexPrefetch => {
                if self.is_shadow && self.is_new_style_shadow {
                    1
                } else {
                    4
                }
            }
        };
        size + u8::from(self.is_sparse)
    }
}

/// An entry of a parallel copy: `dest = source`, executed for all entries at once. A register operand is represented by
/// the register's handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub struct CopyEntry {
    /// The defined value; none if a register is written.
    pub dest: PackedOption<Def>,
    /// Number of the source that holds the handle of the written register, if there is no `dest`.
    pub dest_register: u32,
    /// Number of the source that is copied.
    pub source: u32,
    /// The source is the handle of a register: copy its content.
    pub source_is_register: bool,
    /// The destination value differs between invocations.
    pub dest_divergent: bool,
}

/// Kind and payload of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InstData {
    /// An arithmetic operation.
    Alu {
        /// Opcode.
        op: AluOp,
        /// Flags.
        flags: AluFlags,
    },
    /// A pointer.
    Deref {
        /// Kind.
        kind: DerefKind,
        /// Modes of the memory it points to.
        modes: VariableModes,
        /// Type of the value it points to.
        ty: Type,
    },
    /// A call. Sources: the callee if `indirect`, then the parameters.
    Call {
        /// The function.
        callee: Function,
        /// Called through a pointer, which is source 0.
        indirect: bool,
    },
    /// A texture operation; see [`Body::tex`](super::Body::tex).
    Tex(Tex),
    /// An intrinsic; see [`Body::index`](super::Body::index) for its constant indices.
    Intrinsic {
        /// Opcode.
        op: IntrinsicOp,
        /// Number of components of vectorised intrinsics; otherwise 0.
        num_components: u8,
        /// Constant indices; see [`Body::inst_indices`](super::Body::inst_indices).
        indices: Indices,
    },
    /// A constant; see [`Body::constant`](super::Body::constant).
    LoadConst {
        /// Index in the pool of constants.
        start: u32,
    },
    /// A jump.
    Jump(JumpKind),
    /// An undefined value.
    Undef,
    /// A selection by predecessor; see [`Body::phi_sources`](super::Body::phi_sources).
    Phi,
    /// Copies that execute at once; only used during out-of-SSA.
    ParallelCopy(Copies),
}
