//! The enumerations of TGSI, each defined once: numbers of the token stream, text names, lookups in both directions.
//!
//! A row is `Variant = number "TEXT_NAME"`; the macro generates the enum, the ordered list, `name`, `value`,
//! `from_value` and the case-insensitive `from_name`. Opcodes ([`Opcode`]) and pixel formats ([`PixelFormat`]) have
//! their own tables because they have more columns or many more rows. A number outside a table is not representable:
//! decoding it is an error.

#[macro_use]
mod token_enum;

pub(crate) mod lookup;
mod opcode;
mod opcode_info;
mod property;

pub use opcode::Opcode;
#[doc(hidden)]
pub use opcode_info::Class;
pub use opcode_info::{BlockPart, OpcodeInfo, OperandType, OutputMode};
pub use property::{CoordOrigin, PixelCenter, Primitive, PropertyName};
pub use tgsi_environment::PixelFormat;
use tgsi_environment::SamplerDim;
use tgsi_environment::SystemValue;

token_enum! {
    /// The shader stage, as named in the header of a text.
    #[derive(Default)]
    Processor: u8 {
        #[default]
        Vertex = 0 "VERT",
        TessControl = 1 "TESS_CTRL",
        TessEval = 2 "TESS_EVAL",
        Geometry = 3 "GEOM",
        Fragment = 4 "FRAG",
        Compute = 5 "COMP",
        Task = 6 "TASK",
        Mesh = 7 "MESH",
    }
}

impl Processor {
    /// Whether the stage addresses the registers of a file by vertex.
    pub const fn has_vertices(self, file: File) -> bool {
        match self {
            Processor::Geometry | Processor::TessEval => matches!(file, File::Input),
            Processor::TessControl => matches!(file, File::Input | File::Output),
            Processor::Vertex | Processor::Fragment | Processor::Compute | Processor::Task | Processor::Mesh => false,
        }
    }
}

token_enum! {
    /// Register files.
    File: u8 {
        Null = 0 "NULL",
        Constant = 1 "CONST",
        Input = 2 "IN",
        Output = 3 "OUT",
        Temporary = 4 "TEMP",
        Sampler = 5 "SAMP",
        Address = 6 "ADDR",
        Immediate = 7 "IMM",
        SystemValue = 8 "SV",
        Image = 9 "IMAGE",
        SamplerView = 10 "SVIEW",
        Buffer = 11 "BUFFER",
        Memory = 12 "MEMORY",
        ConstantBuffer = 13 "CONSTBUF",
        HwAtomic = 14 "HWATOMIC",
    }
}

impl File {
    /// Whether registers of the file denote a resource (and have no value).
    pub const fn is_resource(self) -> bool {
        matches!(
            self,
            File::Sampler
                | File::Image
                | File::SamplerView
                | File::Buffer
                | File::Memory
                | File::ConstantBuffer
                | File::HwAtomic
        )
    }
}

token_enum! {
    /// The meaning of an input, output or system value.
    Semantic: u8 {
        Position = 0 "POSITION",
        Color = 1 "COLOR",
        BackColor = 2 "BCOLOR",
        Fog = 3 "FOG",
        PointSize = 4 "PSIZE",
        Generic = 5 "GENERIC",
        Normal = 6 "NORMAL",
        Face = 7 "FACE",
        EdgeFlag = 8 "EDGEFLAG",
        PrimitiveId = 9 "PRIM_ID",
        InstanceId = 10 "INSTANCEID",
        VertexId = 11 "VERTEXID",
        Stencil = 12 "STENCIL",
        ClipDistance = 13 "CLIPDIST",
        ClipVertex = 14 "CLIPVERTEX",
        GridSize = 15 "GRID_SIZE",
        BlockId = 16 "BLOCK_ID",
        BlockSize = 17 "BLOCK_SIZE",
        ThreadId = 18 "THREAD_ID",
        TexCoord = 19 "TEXCOORD",
        PointCoord = 20 "PCOORD",
        ViewportIndex = 21 "VIEWPORT_INDEX",
        Layer = 22 "LAYER",
        SampleId = 23 "SAMPLEID",
        SamplePosition = 24 "SAMPLEPOS",
        SampleMask = 25 "SAMPLEMASK",
        InvocationId = 26 "INVOCATIONID",
        VertexIdNoBase = 27 "VERTEXID_NOBASE",
        BaseVertex = 28 "BASEVERTEX",
        Patch = 29 "PATCH",
        TessCoord = 30 "TESSCOORD",
        TessOuter = 31 "TESSOUTER",
        TessInner = 32 "TESSINNER",
        VerticesIn = 33 "VERTICESIN",
        HelperInvocation = 34 "HELPER_INVOCATION",
        BaseInstance = 35 "BASEINSTANCE",
        DrawId = 36 "DRAWID",
        WorkDim = 37 "WORK_DIM",
        SubgroupSize = 38 "SUBGROUP_SIZE",
        SubgroupInvocation = 39 "SUBGROUP_INVOCATION",
        SubgroupEqMask = 40 "SUBGROUP_EQ_MASK",
        SubgroupGeMask = 41 "SUBGROUP_GE_MASK",
        SubgroupGtMask = 42 "SUBGROUP_GT_MASK",
        SubgroupLeMask = 43 "SUBGROUP_LE_MASK",
        SubgroupLtMask = 44 "SUBGROUP_LT_MASK",
        CsUserDataAmd = 45 "CS_USER_DATA_AMD",
        ViewportMask = 46 "VIEWPORT_MASK",
        /// Mesa prints `(null)`; our text has a name so that it can be read back.
        TessDefaultOuterLevel = 47 "TESS_DEFAULT_OUTER_LEVEL",
        /// Mesa prints `(null)`; our text has a name so that it can be read back.
        TessDefaultInnerLevel = 48 "TESS_DEFAULT_INNER_LEVEL",
    }
}

impl Semantic {
    /// Whether registers with this semantic are per patch, not per vertex, in the tessellation stages.
    pub const fn is_patch(self) -> bool {
        matches!(self, Semantic::Patch | Semantic::TessInner | Semantic::TessOuter | Semantic::PrimitiveId)
    }

    /// Returns the system value of a register of file `SV` with this semantic, or none if the semantic is not a system
    /// value.
    pub const fn system_value(self) -> Option<SystemValue> {
        Some(match self {
            Semantic::Position => SystemValue::FragCoord,
            Semantic::Face => SystemValue::FrontFace,
            Semantic::PrimitiveId => SystemValue::PrimitiveId,
            Semantic::InstanceId => SystemValue::InstanceId,
            Semantic::VertexId => SystemValue::VertexId,
            Semantic::VertexIdNoBase => SystemValue::VertexIdZeroBase,
            Semantic::BaseVertex => SystemValue::BaseVertex,
            Semantic::BaseInstance => SystemValue::BaseInstance,
            Semantic::DrawId => SystemValue::DrawId,
            Semantic::InvocationId => SystemValue::InvocationId,
            Semantic::GridSize => SystemValue::NumWorkgroups,
            Semantic::BlockId => SystemValue::WorkgroupId,
            Semantic::BlockSize => SystemValue::WorkgroupSize,
            Semantic::ThreadId => SystemValue::LocalInvocationId,
            Semantic::WorkDim => SystemValue::WorkDim,
            Semantic::PointCoord => SystemValue::PointCoord,
            Semantic::SampleId => SystemValue::SampleId,
            Semantic::SamplePosition => SystemValue::SamplePos,
            Semantic::SampleMask => SystemValue::SampleMaskIn,
            Semantic::HelperInvocation => SystemValue::HelperInvocation,
            Semantic::TessCoord => SystemValue::TessCoord,
            Semantic::TessOuter => SystemValue::TessLevelOuter,
            Semantic::TessInner => SystemValue::TessLevelInner,
            Semantic::TessDefaultOuterLevel => SystemValue::TessLevelOuterDefault,
            Semantic::TessDefaultInnerLevel => SystemValue::TessLevelInnerDefault,
            Semantic::VerticesIn => SystemValue::VerticesIn,
            Semantic::SubgroupSize => SystemValue::SubgroupSize,
            Semantic::SubgroupInvocation => SystemValue::SubgroupInvocation,
            Semantic::SubgroupEqMask => SystemValue::SubgroupEqMask,
            Semantic::SubgroupGeMask => SystemValue::SubgroupGeMask,
            Semantic::SubgroupGtMask => SystemValue::SubgroupGtMask,
            Semantic::SubgroupLeMask => SystemValue::SubgroupLeMask,
            Semantic::SubgroupLtMask => SystemValue::SubgroupLtMask,
            Semantic::CsUserDataAmd => SystemValue::UserDataAmd,
            Semantic::Color
            | Semantic::BackColor
            | Semantic::Fog
            | Semantic::PointSize
            | Semantic::Generic
            | Semantic::Normal
            | Semantic::EdgeFlag
            | Semantic::Stencil
            | Semantic::ClipDistance
            | Semantic::ClipVertex
            | Semantic::TexCoord
            | Semantic::ViewportIndex
            | Semantic::Layer
            | Semantic::Patch
            | Semantic::ViewportMask => return None,
        })
    }
}

token_enum! {
    /// The interpolation of an input of a fragment shader.
    Interpolation: u8 {
        Constant = 0 "CONSTANT",
        Linear = 1 "LINEAR",
        Perspective = 2 "PERSPECTIVE",
        Color = 3 "COLOR",
    }
}

token_enum! {
    /// The point within the pixel at which an input is interpolated.
    InterpolationLocation: u8 {
        Center = 0 "CENTER",
        Centroid = 1 "CENTROID",
        Sample = 2 "SAMPLE",
    }
}

token_enum! {
    /// Texture targets (dimensionality, arrayness, comparison).
    TextureTarget: u8 {
        Buffer = 0 "BUFFER",
        Texture1D = 1 "1D",
        Texture2D = 2 "2D",
        Texture3D = 3 "3D",
        Cube = 4 "CUBE",
        Rect = 5 "RECT",
        Shadow1D = 6 "SHADOW1D",
        Shadow2D = 7 "SHADOW2D",
        ShadowRect = 8 "SHADOWRECT",
        Texture1DArray = 9 "1D_ARRAY",
        Texture2DArray = 10 "2D_ARRAY",
        Shadow1DArray = 11 "SHADOW1D_ARRAY",
        Shadow2DArray = 12 "SHADOW2D_ARRAY",
        ShadowCube = 13 "SHADOWCUBE",
        Texture2DMsaa = 14 "2D_MSAA",
        Texture2DArrayMsaa = 15 "2D_ARRAY_MSAA",
        CubeArray = 16 "CUBEARRAY",
        ShadowCubeArray = 17 "SHADOWCUBEARRAY",
        Unknown = 18 "UNKNOWN",
    }
}

impl TextureTarget {
    /// Returns the number of coordinate components, the array layer included. `UNKNOWN` has none.
    pub const fn coordinate_components(self) -> u8 {
        use TextureTarget::*;
        match self {
            Unknown => 0,
            Buffer | Texture1D | Shadow1D => 1,
            Texture2D | Rect | Texture1DArray | Shadow2D | ShadowRect | Shadow1DArray | Texture2DMsaa => 2,
            Texture3D | Cube | Texture2DArray | ShadowCube | Shadow2DArray | Texture2DArrayMsaa => 3,
            CubeArray | ShadowCubeArray => 4,
        }
    }

    /// Returns the dimensionality in the IR.
    pub const fn sampler_dim(self) -> SamplerDim {
        use TextureTarget::*;
        match self {
            Buffer => SamplerDim::Buf,
            Texture1D | Shadow1D | Texture1DArray | Shadow1DArray => SamplerDim::Dim1D,
            Texture2D | Shadow2D | Texture2DArray | Shadow2DArray | Unknown => SamplerDim::Dim2D,
            Texture3D => SamplerDim::Dim3D,
            Cube | ShadowCube | CubeArray | ShadowCubeArray => SamplerDim::Cube,
            Rect | ShadowRect => SamplerDim::Rect,
            Texture2DMsaa | Texture2DArrayMsaa => SamplerDim::Ms,
        }
    }

    /// Returns the number of components of the size of a texture or image.
    pub const fn size_components(self) -> u8 {
        let dimensions = match self.sampler_dim() {
            SamplerDim::Dim1D | SamplerDim::Buf => 1,
            SamplerDim::Dim3D => 3,
            _ => 2,
        };
        dimensions + self.is_array() as u8
    }

    /// Whether the last coordinate component is an array layer.
    pub const fn is_array(self) -> bool {
        use TextureTarget::*;
        matches!(
            self,
            Texture1DArray
                | Texture2DArray
                | Shadow1DArray
                | Shadow2DArray
                | Texture2DArrayMsaa
                | CubeArray
                | ShadowCubeArray
        )
    }

    /// Whether a lookup compares with a reference value.
    pub const fn is_shadow(self) -> bool {
        self.comparator_position().is_some()
    }

    /// Whether the target is multisampled.
    pub const fn is_msaa(self) -> bool {
        matches!(self, TextureTarget::Texture2DMsaa | TextureTarget::Texture2DArrayMsaa)
    }

    /// Returns the component of source 0 with the reference value of a shadow target; 4 denotes component x of source
    /// 1.
    pub const fn comparator_position(self) -> Option<u8> {
        use TextureTarget::*;
        match self {
            Shadow1D | Shadow2D | ShadowRect | Shadow1DArray => Some(2),
            ShadowCube | Shadow2DArray => Some(3),
            ShadowCubeArray => Some(4),
            _ => None,
        }
    }
}

token_enum! {
    /// The component type that a texture returns.
    ReturnType: u8 {
        Unorm = 0 "UNORM",
        Snorm = 1 "SNORM",
        Sint = 2 "SINT",
        Uint = 3 "UINT",
        Float = 4 "FLOAT",
        Unknown = 5 "UNKNOWN",
    }
}

token_enum! {
    /// Type of the values of an immediate; it only matters for printing.
    ImmediateType: u8 {
        Float32 = 0 "FLT32",
        Uint32 = 1 "UINT32",
        Int32 = 2 "INT32",
        Float64 = 3 "FLT64",
        Uint64 = 4 "UINT64",
        Int64 = 5 "INT64",
    }
}

impl ImmediateType {
    /// Whether a value takes two words.
    pub const fn is_64bit(self) -> bool {
        matches!(self, ImmediateType::Float64 | ImmediateType::Uint64 | ImmediateType::Int64)
    }
}

token_enum! {
    /// Kinds of memory in a `MEMORY` declaration.
    MemoryType: u8 {
        Global = 0 "GLOBAL",
        Shared = 1 "SHARED",
        Private = 2 "PRIVATE",
        Input = 3 "INPUT",
    }
}

/// Memory qualifiers of an instruction: a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemoryQualifiers(pub u8);

impl MemoryQualifiers {
    /// `COHERENT`.
    pub const COHERENT: Self = Self(1);
    /// `RESTRICT`.
    pub const RESTRICT: Self = Self(2);
    /// `VOLATILE`.
    pub const VOLATILE: Self = Self(4);
    /// `STREAM_CACHE_POLICY`: the data will not be used again soon.
    pub const STREAM_CACHE_POLICY: Self = Self(8);
    /// Bits with their text names, in print order.
    pub const NAMES: [(Self, &'static str); 4] = [
        (Self::COHERENT, "COHERENT"),
        (Self::RESTRICT, "RESTRICT"),
        (Self::VOLATILE, "VOLATILE"),
        (Self::STREAM_CACHE_POLICY, "STREAM_CACHE_POLICY"),
    ];

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
