//! Layouts: those of interface blocks and their members, of captured outputs, and of the shader as a whole.

use crate::program::{Storage, Traits, VariableId};
use crate::symbol::Symbol;
use crate::token::TokenRange;

/// The capture of an output by transform feedback.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Capture {
    /// `xfb_buffer`
    pub(crate) buffer: Option<u32>,
    /// `xfb_offset`
    pub(crate) offset: Option<u32>,
    /// `xfb_stride`
    pub(crate) stride: Option<u32>,
}

/// An interface block.
///
/// A block of uniforms or of a storage buffer is a variable of a struct type. Of a block of inputs or outputs each member
/// is a variable, with the dimensions of the block around its dimensions; the variable of the block is in no expression that
/// is emitted.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The name of the block, which is not in scope.
    pub(crate) name: Symbol,
    /// Where it is.
    pub(crate) storage: Storage,
    /// The layout of a block in memory.
    pub(crate) packing: Packing,
    /// The members in order.
    pub(crate) members: Vec<Member>,
    /// The variable of the block: of the struct type, or an array of it.
    pub(crate) variable: VariableId,
    /// Whether the block has an instance name, through which its members are accessed.
    pub(crate) has_instance: bool,
    /// Bytes of a block in memory, without an array at its end that has no length.
    pub(crate) size: u32,
    /// The qualifiers and name in its declaration.
    pub(crate) tokens: TokenRange,
}

impl Block {
    /// The rules by which members are placed: `shared` and `packed` storage blocks have those of `std430`.
    pub(crate) fn placement(&self) -> Packing {
        match self.packing {
            Packing::Shared | Packing::Packed if self.storage == Storage::Buffer => Packing::Std430,
            packing => packing,
        }
    }
}

/// A member of an interface block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// The variable of an input or output.
    pub(crate) variable: Option<VariableId>,
    /// Whether matrices in it are stored by rows.
    pub(crate) row_major: bool,
    /// The byte offset in a block in memory.
    pub(crate) offset: u32,
    /// Its qualifiers.
    pub(crate) traits: Traits,
}

/// The rules by which members of a block in memory are placed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) enum Packing {
    /// `shared`, the default.
    #[default]
    Shared,
    /// `packed`
    Packed,
    Std140,
    Std430,
}

/// Layouts of a shader as a whole.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Layout {
    /// `origin_upper_left` of `gl_FragCoord`.
    pub(crate) origin_upper_left: bool,
    /// `pixel_center_integer` of `gl_FragCoord`.
    pub(crate) pixel_center_integer: bool,
    /// `early_fragment_tests`
    pub(crate) early_fragment_tests: bool,
    /// The layout of `gl_FragDepth`, as [`tgsi_ir::shader`] numbers it: 1 to 4 for `any`, `greater`, `less`,
    /// `unchanged`.
    pub(crate) depth: u32,
    /// `post_depth_coverage`
    pub(crate) post_depth_coverage: bool,
    /// `inner_coverage`
    pub(crate) inner_coverage: bool,
    /// Whether `gl_Layer` is `viewport_relative`: declarations of several units agree.
    pub(crate) viewport_relative: Option<bool>,
    /// Primitives, vertices and sizes.
    pub(crate) stage: StageLayout,
}

/// A kind of primitives, of geometry shaders and tessellation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Primitive {
    Points,
    Lines,
    LinesAdjacency,
    Triangles,
    TrianglesAdjacency,
    LineStrip,
    TriangleStrip,
    Quads,
    Isolines,
}

/// Spacing of tessellation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spacing {
    Equal,
    FractionalEven,
    FractionalOdd,
}

/// The invocations of compute shaders among which derivatives are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DerivativeGroup {
    /// Two by two of the workgroup's plane.
    Quads,
    /// Four consecutive ones.
    Linear,
}

/// How invocations of a pixel or sample exclude each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interlock {
    /// Of a sample, not of a pixel.
    pub(crate) of_sample: bool,
    /// In the order of primitives.
    pub(crate) is_ordered: bool,
}

/// Layouts of `in;` and `out;`: primitives, numbers of vertices, the size of workgroups.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct StageLayout {
    /// Primitives that a geometry shader gets, or a tessellation evaluation shader makes.
    pub(crate) input: Option<Primitive>,
    /// Primitives that a geometry shader emits.
    pub(crate) output: Option<Primitive>,
    /// `max_vertices`
    pub(crate) max_vertices: Option<u32>,
    /// `invocations` of geometry shaders.
    pub(crate) invocations: Option<u32>,
    /// `vertices` of tessellation control shaders.
    pub(crate) vertices: Option<u32>,
    pub(crate) spacing: Option<Spacing>,
    /// Whether tessellated triangles are clockwise.
    pub(crate) is_clockwise: Option<bool>,
    pub(crate) point_mode: bool,
    /// `local_size_x`, `local_size_y`, `local_size_z`
    pub(crate) local_size: [Option<u32>; 3],
    /// `local_size_variable`: the size of workgroups is that of the dispatch.
    pub(crate) is_size_variable: bool,
    /// `derivative_group_quadsNV` or `derivative_group_linearNV`
    pub(crate) derivative_group: Option<DerivativeGroup>,
    /// `pixel_interlock_ordered` and its siblings.
    pub(crate) interlock: Option<Interlock>,
    /// The stream of outputs that state none.
    pub(crate) stream: Option<u32>,
}

impl Primitive {
    /// Vertices of an input primitive of geometry shaders; `None` for others.
    pub(crate) fn vertices(self) -> Option<u32> {
        Some(match self {
            Primitive::Points => 1,
            Primitive::Lines => 2,
            Primitive::Triangles => 3,
            Primitive::LinesAdjacency => 4,
            Primitive::TrianglesAdjacency => 6,
            _ => return None,
        })
    }
}
