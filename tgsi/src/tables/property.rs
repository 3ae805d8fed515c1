//! Properties and the enumerations of their values.

use super::Processor;

token_enum! {
    /// Properties of a whole shader.
    PropertyName: u8 {
        GsInputPrimitive = 0 "GS_INPUT_PRIMITIVE",
        GsOutputPrimitive = 1 "GS_OUTPUT_PRIMITIVE",
        GsMaxOutputVertices = 2 "GS_MAX_OUTPUT_VERTICES",
        FsCoordOrigin = 3 "FS_COORD_ORIGIN",
        FsCoordPixelCenter = 4 "FS_COORD_PIXEL_CENTER",
        FsColor0WritesAllCbufs = 5 "FS_COLOR0_WRITES_ALL_CBUFS",
        FsDepthLayout = 6 "FS_DEPTH_LAYOUT",
        VsProhibitUcps = 7 "VS_PROHIBIT_UCPS",
        GsInvocations = 8 "GS_INVOCATIONS",
        VsWindowSpacePosition = 9 "VS_WINDOW_SPACE_POSITION",
        TcsVerticesOut = 10 "TCS_VERTICES_OUT",
        TesPrimMode = 11 "TES_PRIM_MODE",
        TesSpacing = 12 "TES_SPACING",
        TesVertexOrderCw = 13 "TES_VERTEX_ORDER_CW",
        TesPointMode = 14 "TES_POINT_MODE",
        NumClipdistEnabled = 15 "NUM_CLIPDIST_ENABLED",
        NumCulldistEnabled = 16 "NUM_CULLDIST_ENABLED",
        FsEarlyDepthStencil = 17 "FS_EARLY_DEPTH_STENCIL",
        FsPostDepthCoverage = 18 "FS_POST_DEPTH_COVERAGE",
        NextShader = 19 "NEXT_SHADER",
        CsFixedBlockWidth = 20 "CS_FIXED_BLOCK_WIDTH",
        CsFixedBlockHeight = 21 "CS_FIXED_BLOCK_HEIGHT",
        CsFixedBlockDepth = 22 "CS_FIXED_BLOCK_DEPTH",
        LegacyMathRules = 23 "LEGACY_MATH_RULES",
        VsBlitSgprsAmd = 24 "VS_BLIT_SGPRS_AMD",
        CsUserDataComponentsAmd = 25 "CS_USER_DATA_COMPONENTS_AMD",
        LayerViewportRelative = 26 "LAYER_VIEWPORT_RELATIVE",
        FsBlendEquationAdvanced = 27 "FS_BLEND_EQUATION_ADVANCED",
        SeparableProgram = 28 "SEPARABLE_PROGRAM",
    }
}

impl PropertyName {
    /// Returns the names of the values of a property that is an enumeration, by value.
    pub const fn value_names(self) -> Option<&'static [&'static str]> {
        use PropertyName::*;
        match self {
            GsInputPrimitive | GsOutputPrimitive => Some(Primitive::NAMES),
            FsCoordOrigin => Some(CoordOrigin::NAMES),
            FsCoordPixelCenter => Some(PixelCenter::NAMES),
            NextShader => Some(Processor::NAMES),
            GsMaxOutputVertices
            | FsColor0WritesAllCbufs
            | FsDepthLayout
            | VsProhibitUcps
            | GsInvocations
            | VsWindowSpacePosition
            | TcsVerticesOut
            | TesPrimMode
            | TesSpacing
            | TesVertexOrderCw
            | TesPointMode
            | NumClipdistEnabled
            | NumCulldistEnabled
            | FsEarlyDepthStencil
            | FsPostDepthCoverage
            | CsFixedBlockWidth
            | CsFixedBlockHeight
            | CsFixedBlockDepth
            | LegacyMathRules
            | VsBlitSgprsAmd
            | CsUserDataComponentsAmd
            | LayerViewportRelative
            | FsBlendEquationAdvanced
            | SeparableProgram => None,
        }
    }
}

token_enum! {
    /// Primitive types of geometry shaders.
    Primitive: u8 {
        Points = 0 "POINTS",
        Lines = 1 "LINES",
        LineLoop = 2 "LINE_LOOP",
        LineStrip = 3 "LINE_STRIP",
        Triangles = 4 "TRIANGLES",
        TriangleStrip = 5 "TRIANGLE_STRIP",
        TriangleFan = 6 "TRIANGLE_FAN",
        Quads = 7 "QUADS",
        QuadStrip = 8 "QUAD_STRIP",
        Polygon = 9 "POLYGON",
        LinesAdjacency = 10 "LINES_ADJACENCY",
        LineStripAdjacency = 11 "LINE_STRIP_ADJACENCY",
        TrianglesAdjacency = 12 "TRIANGLES_ADJACENCY",
        TriangleStripAdjacency = 13 "TRIANGLE_STRIP_ADJACENCY",
        Patches = 14 "PATCHES",
    }
}

impl Primitive {
    /// Returns the number of vertices that a geometry shader gets of one primitive.
    pub const fn input_vertices(self) -> u8 {
        use Primitive::*;
        match self {
            Points => 1,
            Lines | LineLoop | LineStrip => 2,
            Triangles | TriangleStrip | TriangleFan | Polygon | Patches => 3,
            Quads | QuadStrip | LinesAdjacency | LineStripAdjacency => 4,
            TrianglesAdjacency | TriangleStripAdjacency => 6,
        }
    }
}

token_enum! {
    /// Origin of the fragment position (property `FS_COORD_ORIGIN`).
    CoordOrigin: u8 { UpperLeft = 0 "UPPER_LEFT", LowerLeft = 1 "LOWER_LEFT" }
}

token_enum! {
    /// The position of pixel centres (property `FS_COORD_PIXEL_CENTER`).
    PixelCenter: u8 { HalfInteger = 0 "HALF_INTEGER", Integer = 1 "INTEGER" }
}
