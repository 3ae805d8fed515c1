//! Texture functions of 1.30, ES 3.00 and later versions, which are overloaded over the types of samplers.

use tgsi_ir::body::TexOp;

use super::{Row, V130};
use crate::builtins::stages::Stages;
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

/// Gathers of one component.
const GATHER: Since = Since::new(400, 310).or(&[E::ARBTextureGather, E::ARBGpuShader5]);
/// Gathers of any component, and with comparison.
const GATHER_ANY: Since = Since::new(400, 310).or(&[E::ARBGpuShader5]);
const GATHER_OFFSETS: Since = Since::new(400, 320).or(&[E::ARBGpuShader5, E::EXTGpuShader5, E::OESGpuShader5]);
const QUERY_LOD: Since = Since::new(400, NEVER);
const QUERY_LOD_ARB: Since = Since::new(NEVER, NEVER).or(&[E::ARBTextureQueryLod, E::EXTTextureQueryLod]);
const QUERY_LOD_COMPUTE: Since = Since::new(NEVER, NEVER).or(&[E::NVComputeShaderDerivatives]);
const QUERY_LEVELS: Since = Since::new(430, NEVER).or(&[E::ARBTextureQueryLevels]);
const SAMPLES: Since = Since::new(450, NEVER).or(&[E::ARBShaderTextureImageSamples]);
const CUBE_ARRAY: Since =
    Since::new(400, 320).or(&[E::ARBTextureCubeMapArray, E::OESTextureCubeMapArray, E::EXTTextureCubeMapArray]);
const MULTISAMPLE: Since = Since::new(150, 310).or(&[E::ARBTextureMultisample, E::OESTextureStorageMultisample2dArray]);
/// Biases and levels of all comparing samplers.
const SHADOW_LOD: Since = Since::new(NEVER, NEVER).or(&[E::EXTTextureShadowLod]);
const BUFFER: Since = Since::new(140, 320).or(&[E::ARBTextureBufferObject, E::EXTTextureBuffer, E::OESTextureBuffer]);

const QUERY_LOD_SIGNATURES: &[&str] = &[
    "f2 g:1D|2D|3D|Cube|1DArray|2DArray|CubeArray Pl",
    "f2 s:1DShadow|2DShadow|CubeShadow|1DArrayShadow|2DArrayShadow|CubeArrayShadow Pl",
];

pub(super) const ROWS: &[Row] = &[
    Row::texture(
        "texture",
        TexOp::Tex,
        &[
            "g4 g:1D|2D|3D|Cube|1DArray|2DArray|CubeArray P ~bias",
            "g4 g:2DRect P",
            "g4 s:ExternalOES P",
            "f s:1DShadow|2DShadow|CubeShadow|1DArrayShadow P ~bias",
            "f s:2DArrayShadow|2DRectShadow P",
        ],
        V130,
    ),
    Row::texture("texture", TexOp::Tex, &["f s:CubeArrayShadow Pf cmp"], CUBE_ARRAY),
    Row::texture("texture", TexOp::Tex, &["f s:2DArrayShadow P ~bias", "f s:CubeArrayShadow Pf cmp ~bias"], SHADOW_LOD),
    Row::texture(
        "textureProj",
        TexOp::Tex,
        &[
            "g4 g:1D|2D|3D Q ~bias",
            "g4 g:1D|2D Q4 ~bias",
            "g4 g:2DRect Q",
            "g4 g:2DRect Q4",
            "g4 s:ExternalOES Q",
            "g4 s:ExternalOES Q4",
            "f s:1DShadow|2DShadow Q ~bias",
            "f s:2DRectShadow Q",
        ],
        V130,
    ),
    Row::texture(
        "textureLod",
        TexOp::Txl,
        &["g4 g:1D|2D|3D|Cube|1DArray|2DArray|CubeArray P lod", "f s:1DShadow|2DShadow|1DArrayShadow P lod"],
        V130,
    ),
    Row::texture(
        "textureLod",
        TexOp::Txl,
        &["f s:2DArrayShadow|CubeShadow P lod", "f s:CubeArrayShadow Pf cmp lod"],
        SHADOW_LOD,
    ),
    Row::texture(
        "textureOffset",
        TexOp::Tex,
        &[
            "g4 g:1D|2D|3D|1DArray|2DArray P off ~bias",
            "g4 g:2DRect P off",
            "f s:1DShadow|2DShadow|1DArrayShadow P off ~bias",
            "f s:2DRectShadow P off",
        ],
        V130,
    ),
    Row::texture("textureOffset", TexOp::Tex, &["f s:2DArrayShadow P off"], Since::new(130, NEVER)),
    Row::texture("textureOffset", TexOp::Tex, &["f s:2DArrayShadow P off ~bias"], SHADOW_LOD),
    Row::texture(
        "textureProjOffset",
        TexOp::Tex,
        &[
            "g4 g:1D|2D|3D Q off ~bias",
            "g4 g:1D|2D Q4 off ~bias",
            "g4 g:2DRect Q off",
            "g4 g:2DRect Q4 off",
            "f s:1DShadow|2DShadow Q off ~bias",
            "f s:2DRectShadow Q off",
        ],
        V130,
    ),
    Row::texture(
        "textureLodOffset",
        TexOp::Txl,
        &["g4 g:1D|2D|3D|1DArray|2DArray P lod off", "f s:1DShadow|2DShadow|1DArrayShadow P lod off"],
        V130,
    ),
    Row::texture("textureLodOffset", TexOp::Txl, &["f s:2DArrayShadow P lod off"], SHADOW_LOD),
    Row::texture(
        "textureProjLod",
        TexOp::Txl,
        &["g4 g:1D|2D|3D Q lod", "g4 g:1D|2D Q4 lod", "f s:1DShadow|2DShadow Q lod"],
        V130,
    ),
    Row::texture(
        "textureProjLodOffset",
        TexOp::Txl,
        &["g4 g:1D|2D|3D Q lod off", "g4 g:1D|2D Q4 lod off", "f s:1DShadow|2DShadow Q lod off"],
        V130,
    ),
    Row::texture(
        "textureGrad",
        TexOp::Txd,
        &[
            "g4 g:1D|2D|3D|Cube|2DRect|1DArray|2DArray|CubeArray P dx dy",
            "f s:1DShadow|2DShadow|CubeShadow|2DRectShadow|1DArrayShadow|2DArrayShadow P dx dy",
        ],
        V130,
    ),
    Row::texture(
        "textureGradOffset",
        TexOp::Txd,
        &[
            "g4 g:1D|2D|3D|2DRect|1DArray|2DArray P dx dy off",
            "f s:1DShadow|2DShadow|2DRectShadow|1DArrayShadow|2DArrayShadow P dx dy off",
        ],
        V130,
    ),
    Row::texture(
        "textureProjGrad",
        TexOp::Txd,
        &["g4 g:1D|2D|3D|2DRect Q dx dy", "g4 g:1D|2D|2DRect Q4 dx dy", "f s:1DShadow|2DShadow|2DRectShadow Q dx dy"],
        V130,
    ),
    Row::texture(
        "textureProjGradOffset",
        TexOp::Txd,
        &[
            "g4 g:1D|2D|3D|2DRect Q dx dy off",
            "g4 g:1D|2D|2DRect Q4 dx dy off",
            "f s:1DShadow|2DShadow|2DRectShadow Q dx dy off",
        ],
        V130,
    ),
    Row::texture("texelFetch", TexOp::Txf, &["g4 g:1D|2D|3D|1DArray|2DArray Pi level", "g4 g:2DRect Pi"], V130),
    Row::texture("texelFetch", TexOp::Txf, &["g4 g:Buffer Pi"], BUFFER),
    Row::texture("texelFetch", TexOp::TxfMs, &["g4 g:2DMS|2DMSArray Pi sample"], MULTISAMPLE),
    Row::texture(
        "texelFetchOffset",
        TexOp::Txf,
        &["g4 g:1D|2D|3D|1DArray|2DArray Pi level off", "g4 g:2DRect Pi off"],
        V130,
    ),
    Row::texture(
        "textureSize",
        TexOp::Txs,
        &[
            "size g:1D|2D|3D|Cube|1DArray|2DArray|CubeArray level",
            "size s:1DShadow|2DShadow|CubeShadow|1DArrayShadow|2DArrayShadow|CubeArrayShadow level",
            "size g:2DRect",
            "size s:2DRectShadow",
        ],
        V130,
    ),
    Row::texture("textureSize", TexOp::Txs, &["size g:Buffer"], BUFFER),
    Row::texture("textureSize", TexOp::Txs, &["size g:2DMS|2DMSArray"], MULTISAMPLE),
    Row::texture("textureGather", TexOp::Tg4, &["g4 g:2D|2DArray|Cube|CubeArray Pf"], GATHER),
    Row::texture(
        "textureGather",
        TexOp::Tg4,
        &[
            "g4 g:2D|2DArray|Cube|CubeArray Pf comp",
            "g4 g:2DRect Pf",
            "g4 g:2DRect Pf comp",
            "f4 s:2DShadow|2DArrayShadow|CubeShadow|CubeArrayShadow|2DRectShadow Pf cmp",
        ],
        GATHER_ANY,
    ),
    Row::texture("textureGatherOffset", TexOp::Tg4, &["g4 g:2D|2DArray Pf off"], GATHER),
    Row::texture(
        "textureGatherOffset",
        TexOp::Tg4,
        &[
            "g4 g:2D|2DArray Pf off comp",
            "g4 g:2DRect Pf off",
            "g4 g:2DRect Pf off comp",
            "f4 s:2DShadow|2DArrayShadow|2DRectShadow Pf cmp off",
        ],
        GATHER_ANY,
    ),
    Row::texture(
        "textureGatherOffsets",
        TexOp::Tg4,
        &[
            "g4 g:2D|2DArray|2DRect Pf offs",
            "g4 g:2D|2DArray|2DRect Pf offs comp",
            "f4 s:2DShadow|2DArrayShadow|2DRectShadow Pf cmp offs",
        ],
        GATHER_OFFSETS,
    ),
    Row::texture("textureQueryLod", TexOp::Lod, QUERY_LOD_SIGNATURES, QUERY_LOD).only(Stages::FRAGMENT),
    Row::texture("textureQueryLOD", TexOp::Lod, QUERY_LOD_SIGNATURES, QUERY_LOD_ARB).only(Stages::FRAGMENT),
    Row::texture("textureQueryLod", TexOp::Lod, QUERY_LOD_SIGNATURES, QUERY_LOD_COMPUTE).only(Stages::COMPUTE),
    Row::texture(
        "textureQueryLevels",
        TexOp::QueryLevels,
        &[
            "i g:1D|2D|3D|Cube|1DArray|2DArray|CubeArray",
            "i s:1DShadow|2DShadow|CubeShadow|1DArrayShadow|2DArrayShadow|CubeArrayShadow",
        ],
        QUERY_LEVELS,
    ),
    Row::texture(
        "textureSamplesIdenticalEXT",
        TexOp::SamplesIdentical,
        &["b g:2DMS|2DMSArray Pi"],
        Since::new(NEVER, NEVER).or(&[E::EXTShaderSamplesIdentical]),
    ),
    Row::texture("textureSamples", TexOp::TextureSamples, &["i g:2DMS|2DMSArray"], SAMPLES),
];
