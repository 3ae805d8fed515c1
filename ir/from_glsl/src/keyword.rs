//! Words that are keywords or reserved in some version.
//!
//! A row has the word; in parentheses the desktop and ES versions from which it is a keyword (`to`: the ES version that
//! removes it) and the extensions that add it; in brackets the versions from which it is reserved, those from which it is
//! an identifier again, and the extensions that use it as one. Elsewhere it is an identifier.

use crate::extension::{Extension, Extensions};
use crate::version::{NEVER, Since, Version};

/// Meaning of a word in a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// A keyword.
    Keyword,
    /// An error if used.
    Reserved,
    /// A name.
    Identifier,
}

macro_rules! keywords {
    ($(
        $variant:ident $name:literal ($desktop:tt, $es:tt $(to $end_es:tt)? $(, $extension:ident)*)
        [$($reserved:tt, $reserved_es:tt $(; $until:tt, $until_es:tt $(; $free:ident)*)?)?];
    )+) => {
        /// A word that is a keyword or reserved in some version.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u16)]
        pub(crate) enum Keyword { $(#[doc = concat!("`", $name, "`")] $variant,)+ }

        impl Keyword {
            /// All, in the order of their numbers.
            pub(crate) const ALL: &'static [Keyword] = &[$(Keyword::$variant,)+];

            /// The spelling.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Keyword::$variant => $name,)+ }
            }

            /// The versions and extensions in which it is a keyword.
            pub(crate) const fn since(self) -> Since {
                match self {
                    $(Keyword::$variant => Since::new($desktop, $es).or(&[$(Extension::$extension),*]),)+
                }
            }

            /// The ES version from which it is a keyword no more.
            const fn end_es(self) -> u16 {
                match self {
                    $($(Keyword::$variant => $end_es,)?)+
                    _ => NEVER,
                }
            }

            /// The versions in which it is reserved if it is not a keyword.
            const fn reserved(self) -> Reserved {
                match self {
                    $($(Keyword::$variant => Reserved {
                        from: ($reserved, $reserved_es),
                        until: keywords!(@until $($until, $until_es)?),
                        except: &[$($(Extension::$free,)*)?],
                    },)?)+
                    _ => Reserved::NEVER,
                }
            }
        }
    };
    (@until) => { (NEVER, NEVER) };
    (@until $desktop:tt, $es:tt) => { ($desktop, $es) };
}

/// Versions in which a word is reserved: desktop and ES.
struct Reserved {
    /// The first ones.
    from: (u16, u16),
    /// Those in which it is a name again.
    until: (u16, u16),
    /// Extensions that use it as a name.
    except: &'static [Extension],
}

impl Reserved {
    const NEVER: Reserved = Reserved { from: (NEVER, NEVER), until: (NEVER, NEVER), except: &[] };
}

impl Keyword {
    /// The meaning of the word in a version with these extensions enabled.
    pub(crate) fn meaning(self, version: Version, enabled: &Extensions) -> Meaning {
        let has_ended = version.is_es() && version.number >= self.end_es();
        if self.since().holds(version, enabled) && !has_ended {
            return Meaning::Keyword;
        }
        let Reserved { from, until, except } = self.reserved();
        let is_reserved = version.is_at_least(from.0, from.1)
            && !version.is_at_least(until.0, until.1)
            && !except.iter().any(|&extension| enabled.contains(extension));
        if is_reserved { Meaning::Reserved } else { Meaning::Identifier }
    }
}

keywords! {
    Attribute "attribute" (110, 100 to 300) [NEVER, 300];
    Const "const" (110, 100) [];
    Uniform "uniform" (110, 100) [];
    Varying "varying" (110, 100 to 300) [NEVER, 300];
    Break "break" (110, 100) [];
    Continue "continue" (110, 100) [];
    Do "do" (110, 100) [];
    For "for" (110, 100) [];
    While "while" (110, 100) [];
    If "if" (110, 100) [];
    Else "else" (110, 100) [];
    In "in" (110, 100) [];
    Out "out" (110, 100) [];
    Inout "inout" (110, 100) [];
    Float "float" (110, 100) [];
    Int "int" (110, 100) [];
    Void "void" (110, 100) [];
    Bool "bool" (110, 100) [];
    True "true" (110, 100) [];
    False "false" (110, 100) [];
    Discard "discard" (110, 100) [];
    Return "return" (110, 100) [];
    Struct "struct" (110, 100) [];
    Mat2 "mat2" (110, 100) [];
    Mat3 "mat3" (110, 100) [];
    Mat4 "mat4" (110, 100) [];
    Vec2 "vec2" (110, 100) [];
    Vec3 "vec3" (110, 100) [];
    Vec4 "vec4" (110, 100) [];
    Ivec2 "ivec2" (110, 100) [];
    Ivec3 "ivec3" (110, 100) [];
    Ivec4 "ivec4" (110, 100) [];
    Bvec2 "bvec2" (110, 100) [];
    Bvec3 "bvec3" (110, 100) [];
    Bvec4 "bvec4" (110, 100) [];
    Sampler2D "sampler2D" (110, 100) [];
    SamplerCube "samplerCube" (110, 100) [];
    Sampler1D "sampler1D" (110, NEVER) [NEVER, 100];
    Sampler1DShadow "sampler1DShadow" (110, NEVER) [NEVER, 100];
    Sampler3D "sampler3D" (110, 300, OESTexture3D) [NEVER, 100];
    Sampler2DShadow "sampler2DShadow" (110, 300, EXTShadowSamplers) [NEVER, 100];
    Centroid "centroid" (120, 300, EXTGpuShader4) [];
    Invariant "invariant" (120, 100) [];
    Mat2x2 "mat2x2" (120, 300) [];
    Mat2x3 "mat2x3" (120, 300) [];
    Mat2x4 "mat2x4" (120, 300) [];
    Mat3x2 "mat3x2" (120, 300) [];
    Mat3x3 "mat3x3" (120, 300) [];
    Mat3x4 "mat3x4" (120, 300) [];
    Mat4x2 "mat4x2" (120, 300) [];
    Mat4x3 "mat4x3" (120, 300) [];
    Mat4x4 "mat4x4" (120, 300) [];
    Lowp "lowp" (130, 100) [120, NEVER];
    Mediump "mediump" (130, 100) [120, NEVER];
    Highp "highp" (130, 100) [120, NEVER];
    Precision "precision" (130, 100) [120, NEVER];
    Flat "flat" (130, 300, EXTGpuShader4) [NEVER, 100];
    Smooth "smooth" (130, 300) [NEVER, 300];
    Noperspective "noperspective" (130, NEVER, EXTGpuShader4, NVShaderNoperspectiveInterpolation) [NEVER, 300];
    Switch "switch" (130, 300) [110, 100];
    Default "default" (130, 300) [110, 100];
    Case "case" (130, 300) [130, 300];
    Uint "uint" (130, 300) [];
    Uvec2 "uvec2" (130, 300, EXTGpuShader4) [];
    Uvec3 "uvec3" (130, 300, EXTGpuShader4) [];
    Uvec4 "uvec4" (130, 300, EXTGpuShader4) [];
    Isampler2D "isampler2D" (130, 300, EXTGpuShader4) [];
    Isampler3D "isampler3D" (130, 300, EXTGpuShader4) [];
    IsamplerCube "isamplerCube" (130, 300, EXTGpuShader4) [];
    Isampler2DArray "isampler2DArray" (130, 300, EXTGpuShader4) [];
    Usampler2D "usampler2D" (130, 300, EXTGpuShader4) [];
    Usampler3D "usampler3D" (130, 300, EXTGpuShader4) [];
    UsamplerCube "usamplerCube" (130, 300, EXTGpuShader4) [];
    Usampler2DArray "usampler2DArray" (130, 300, EXTGpuShader4) [];
    Isampler1D "isampler1D" (130, NEVER, EXTGpuShader4) [NEVER, 300];
    Isampler1DArray "isampler1DArray" (130, NEVER, EXTGpuShader4) [NEVER, 300];
    Usampler1D "usampler1D" (130, NEVER, EXTGpuShader4) [NEVER, 300];
    Usampler1DArray "usampler1DArray" (130, NEVER, EXTGpuShader4) [NEVER, 300];
    Sampler2DArray "sampler2DArray" (130, 300, EXTTextureArray, EXTGpuShader4) [];
    Sampler2DArrayShadow "sampler2DArrayShadow" (130, 300, EXTTextureArray, EXTGpuShader4) [];
    Sampler1DArray "sampler1DArray" (130, NEVER, EXTTextureArray, EXTGpuShader4) [NEVER, 300];
    Sampler1DArrayShadow "sampler1DArrayShadow" (130, NEVER, EXTTextureArray, EXTGpuShader4) [NEVER, 300];
    SamplerCubeShadow "samplerCubeShadow" (130, 300, EXTGpuShader4) [];
    Sampler2DRect "sampler2DRect" (140, NEVER, ARBTextureRectangle) [110, 100];
    Sampler2DRectShadow "sampler2DRectShadow" (140, NEVER, ARBTextureRectangle) [110, 100];
    Isampler2DRect "isampler2DRect" (140, NEVER, EXTGpuShader4) [NEVER, 300];
    Usampler2DRect "usampler2DRect" (140, NEVER, EXTGpuShader4) [NEVER, 300];
    SamplerBuffer "samplerBuffer" (140, 320, EXTGpuShader4, ARBTextureBufferObject, EXTTextureBuffer, OESTextureBuffer) [130, 300];
    IsamplerBuffer "isamplerBuffer" (140, 320, EXTGpuShader4, ARBTextureBufferObject, EXTTextureBuffer, OESTextureBuffer) [NEVER, 300];
    UsamplerBuffer "usamplerBuffer" (140, 320, EXTGpuShader4, ARBTextureBufferObject, EXTTextureBuffer, OESTextureBuffer) [NEVER, 300];
    Layout "layout" (140, 300, ARBExplicitAttribLocation, ARBExplicitUniformLocation, ARBFragmentCoordConventions, ARBUniformBufferObject, ARBShadingLanguage420pack, ARBConservativeDepth, AMDConservativeDepth, ARBSeparateShaderObjects, ARBComputeShader, ARBShaderImageLoadStore, ARBShaderStorageBufferObject, ARBShaderAtomicCounters, ARBEnhancedLayouts, ARBTessellationShader, ARBGpuShader5, ARBFragmentShaderInterlock, ARBPostDepthCoverage, EXTShaderImageLoadStore, EXTSeparateShaderObjects, EXTShaderFramebufferFetchNonCoherent, EXTBlendFuncExtended, KHRBlendEquationAdvanced, NVFragmentShaderInterlock, NVViewportArray2) [];
    SamplerExternalOES "samplerExternalOES" (NEVER, NEVER, OESEGLImageExternal, OESEGLImageExternalEssl3) [];
    Sampler2DMS "sampler2DMS" (150, 310, ARBTextureMultisample) [NEVER, 300];
    Isampler2DMS "isampler2DMS" (150, 310, ARBTextureMultisample) [NEVER, 300];
    Usampler2DMS "usampler2DMS" (150, 310, ARBTextureMultisample) [NEVER, 300];
    Sampler2DMSArray "sampler2DMSArray" (150, 320, ARBTextureMultisample, OESTextureStorageMultisample2dArray) [NEVER, 300];
    Isampler2DMSArray "isampler2DMSArray" (150, 320, ARBTextureMultisample, OESTextureStorageMultisample2dArray) [NEVER, 300];
    Usampler2DMSArray "usampler2DMSArray" (150, 320, ARBTextureMultisample, OESTextureStorageMultisample2dArray) [NEVER, 300];
    SamplerCubeArray "samplerCubeArray" (400, 320, ARBTextureCubeMapArray, OESTextureCubeMapArray, EXTTextureCubeMapArray) [NEVER, 310];
    SamplerCubeArrayShadow "samplerCubeArrayShadow" (400, 320, ARBTextureCubeMapArray, OESTextureCubeMapArray, EXTTextureCubeMapArray) [NEVER, 310];
    IsamplerCubeArray "isamplerCubeArray" (400, 320, ARBTextureCubeMapArray, OESTextureCubeMapArray, EXTTextureCubeMapArray) [NEVER, 310];
    UsamplerCubeArray "usamplerCubeArray" (400, 320, ARBTextureCubeMapArray, OESTextureCubeMapArray, EXTTextureCubeMapArray) [NEVER, 310];
    Double "double" (400, NEVER, ARBGpuShaderFp64) [110, 100];
    Dvec2 "dvec2" (400, NEVER, ARBGpuShaderFp64) [110, 100];
    Dvec3 "dvec3" (400, NEVER, ARBGpuShaderFp64) [110, 100];
    Dvec4 "dvec4" (400, NEVER, ARBGpuShaderFp64) [110, 100];
    Dmat2 "dmat2" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat3 "dmat3" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat4 "dmat4" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat2x2 "dmat2x2" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat2x3 "dmat2x3" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat2x4 "dmat2x4" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat3x2 "dmat3x2" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat3x3 "dmat3x3" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat3x4 "dmat3x4" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat4x2 "dmat4x2" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat4x3 "dmat4x3" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Dmat4x4 "dmat4x4" (400, NEVER, ARBGpuShaderFp64) [NEVER, 300];
    Int64T "int64_t" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    I64vec2 "i64vec2" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    I64vec3 "i64vec3" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    I64vec4 "i64vec4" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    Uint64T "uint64_t" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    U64vec2 "u64vec2" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    U64vec3 "u64vec3" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    U64vec4 "u64vec4" (NEVER, NEVER, ARBGpuShaderInt64, AMDGpuShaderInt64) [];
    Patch "patch" (400, 320, ARBTessellationShader, OESTessellationShader, EXTTessellationShader) [NEVER, 300];
    Sample "sample" (400, 320, ARBGpuShader5, OESShaderMultisampleInterpolation) [NEVER, 300];
    Subroutine "subroutine" (400, NEVER, ARBShaderSubroutine) [NEVER, 300];
    Precise "precise" (400, 320, ARBGpuShader5, EXTGpuShader5, OESGpuShader5) [NEVER, 310];
    Coherent "coherent" (420, 310, ARBShaderImageLoadStore, ARBShaderStorageBufferObject, EXTShaderImageLoadStore) [420, 300];
    Volatile "volatile" (420, 310, ARBShaderImageLoadStore, ARBShaderStorageBufferObject, EXTShaderImageLoadStore) [110, 100];
    Restrict "restrict" (420, 310, ARBShaderImageLoadStore, ARBShaderStorageBufferObject, EXTShaderImageLoadStore) [420, 300];
    Readonly "readonly" (420, 310, ARBShaderImageLoadStore, ARBShaderStorageBufferObject, EXTShaderImageLoadStore) [420, 300];
    Writeonly "writeonly" (420, 310, ARBShaderImageLoadStore, ARBShaderStorageBufferObject, EXTShaderImageLoadStore) [420, 300];
    AtomicUint "atomic_uint" (420, 310, ARBShaderAtomicCounters) [NEVER, 300];
    Shared "shared" (430, 310, ARBComputeShader) [];
    Buffer "buffer" (430, 310, ARBShaderStorageBufferObject) [];
    Image1D "image1D" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Iimage1D "iimage1D" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Uimage1D "uimage1D" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Image1DArray "image1DArray" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Iimage1DArray "iimage1DArray" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Uimage1DArray "uimage1DArray" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Image2DRect "image2DRect" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Iimage2DRect "iimage2DRect" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Uimage2DRect "uimage2DRect" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Image2D "image2D" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Iimage2D "iimage2D" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Uimage2D "uimage2D" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Image3D "image3D" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Iimage3D "iimage3D" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Uimage3D "uimage3D" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    ImageCube "imageCube" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    IimageCube "iimageCube" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    UimageCube "uimageCube" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Image2DArray "image2DArray" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Iimage2DArray "iimage2DArray" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    Uimage2DArray "uimage2DArray" (420, 310, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [130, 300];
    ImageBuffer "imageBuffer" (420, 320, ARBShaderImageLoadStore, EXTShaderImageLoadStore, OESTextureBuffer, EXTTextureBuffer) [130, 300];
    IimageBuffer "iimageBuffer" (420, 320, ARBShaderImageLoadStore, EXTShaderImageLoadStore, OESTextureBuffer, EXTTextureBuffer) [130, 300];
    UimageBuffer "uimageBuffer" (420, 320, ARBShaderImageLoadStore, EXTShaderImageLoadStore, OESTextureBuffer, EXTTextureBuffer) [130, 300];
    ImageCubeArray "imageCubeArray" (420, 320, ARBShaderImageLoadStore, EXTShaderImageLoadStore, OESTextureCubeMapArray, EXTTextureCubeMapArray) [NEVER, 310];
    IimageCubeArray "iimageCubeArray" (420, 320, ARBShaderImageLoadStore, EXTShaderImageLoadStore, OESTextureCubeMapArray, EXTTextureCubeMapArray) [NEVER, 310];
    UimageCubeArray "uimageCubeArray" (420, 320, ARBShaderImageLoadStore, EXTShaderImageLoadStore, OESTextureCubeMapArray, EXTTextureCubeMapArray) [NEVER, 310];
    Image2DMS "image2DMS" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Iimage2DMS "iimage2DMS" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Uimage2DMS "uimage2DMS" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Image2DMSArray "image2DMSArray" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Iimage2DMSArray "iimage2DMSArray" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Uimage2DMSArray "uimage2DMSArray" (420, NEVER, ARBShaderImageLoadStore, EXTShaderImageLoadStore) [NEVER, 310];
    Asm "asm" (NEVER, NEVER) [110, 100];
    Class "class" (NEVER, NEVER) [110, 100];
    Union "union" (NEVER, NEVER) [110, 100];
    Enum "enum" (NEVER, NEVER) [110, 100];
    Typedef "typedef" (NEVER, NEVER) [110, 100];
    Template "template" (NEVER, NEVER) [110, 100];
    This "this" (NEVER, NEVER) [110, 100];
    Goto "goto" (NEVER, NEVER) [110, 100];
    Inline "inline" (NEVER, NEVER) [110, 100];
    Noinline "noinline" (NEVER, NEVER) [110, 100];
    Public "public" (NEVER, NEVER) [110, 100];
    Static "static" (NEVER, NEVER) [110, 100];
    Extern "extern" (NEVER, NEVER) [110, 100];
    External "external" (NEVER, NEVER) [110, 100];
    Interface "interface" (NEVER, NEVER) [110, 100];
    Long "long" (NEVER, NEVER) [110, 100];
    Short "short" (NEVER, NEVER) [110, 100];
    Half "half" (NEVER, NEVER) [110, 100];
    Fixed "fixed" (NEVER, NEVER) [110, 100];
    Unsigned "unsigned" (NEVER, NEVER, EXTGpuShader4) [110, 100];
    Input "input" (NEVER, NEVER) [110, 100];
    Output "output" (NEVER, NEVER) [110, 100];
    Hvec2 "hvec2" (NEVER, NEVER) [110, 100];
    Hvec3 "hvec3" (NEVER, NEVER) [110, 100];
    Hvec4 "hvec4" (NEVER, NEVER) [110, 100];
    Fvec2 "fvec2" (NEVER, NEVER) [110, 100];
    Fvec3 "fvec3" (NEVER, NEVER) [110, 100];
    Fvec4 "fvec4" (NEVER, NEVER) [110, 100];
    Sampler3DRect "sampler3DRect" (NEVER, NEVER) [110, 100];
    Sizeof "sizeof" (NEVER, NEVER) [110, 100];
    Cast "cast" (NEVER, NEVER) [110, 100];
    Namespace "namespace" (NEVER, NEVER) [110, 100];
    Using "using" (NEVER, NEVER) [110, 100];
    Packed "packed" (NEVER, NEVER) [110, 100; 140, 300; ARBUniformBufferObject];
    RowMajor "row_major" (NEVER, NEVER) [130, NEVER; 140, NEVER; ARBUniformBufferObject];
    Image1DShadow "image1DShadow" (NEVER, NEVER) [130, NEVER; 420, NEVER];
    Image2DShadow "image2DShadow" (NEVER, NEVER) [130, NEVER; 420, NEVER];
    Image1DArrayShadow "image1DArrayShadow" (NEVER, NEVER) [130, NEVER; 420, NEVER];
    Image2DArrayShadow "image2DArrayShadow" (NEVER, NEVER) [130, NEVER; 420, NEVER];
    Demote "demote" (NEVER, NEVER, EXTDemoteToHelperInvocation) [];
    Superp "superp" (NEVER, NEVER) [130, 100];
    Common "common" (NEVER, NEVER) [130, 300];
    Partition "partition" (NEVER, NEVER) [130, 300];
    Active "active" (NEVER, NEVER) [130, 300];
    Filter "filter" (NEVER, NEVER) [130, 300];
    Resource "resource" (NEVER, NEVER) [420, 300];
}
