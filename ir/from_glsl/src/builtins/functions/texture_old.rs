//! Texture functions named by dimension: those of 1.10 and of ES 1.00, and of the extensions to them.

use tgsi_ir::body::TexOp;

use super::{Row, V110};
use crate::builtins::stages::Stages;
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

const DESKTOP: Since = Since::new(110, NEVER);
/// Lookups with a level in other stages than the vertex stage.
const LOD: Since = Since::new(130, NEVER).or(&[E::ARBShaderTextureLod]);
const GRADIENTS: Since = ext(&[E::ARBShaderTextureLod]);
const ES_LOD: Since = ext(&[E::EXTShaderTextureLod]);
const SHADOW: Since = ext(&[E::EXTShadowSamplers]);
const RECT: Since = ext(&[E::ARBTextureRectangle]);
const ARRAY: Since = ext(&[E::EXTTextureArray, E::EXTGpuShader4]);
const THREE: Since = Since::new(110, NEVER).or(&[E::OESTexture3D]);
const SHADER4: Since = ext(&[E::EXTGpuShader4]);
const EXTERNAL: Since = ext(&[E::OESEGLImageExternal]);

const fn ext(extensions: &'static [crate::extension::Extension]) -> Since {
    Since::new(NEVER, NEVER).or(extensions)
}

/// A function of the first versions: removed from 1.40 and ES 3.00; compilers accept it up to 4.10.
const fn old(name: &'static str, op: TexOp, signatures: &'static [&'static str], since: Since) -> Row {
    Row::texture(name, op, signatures, since).until(140, 420, 300)
}

const VERTEX: Stages = Stages::VERTEX;
const FRAGMENT: Stages = Stages::FRAGMENT;
const REST: Stages =
    Stages::FRAGMENT.or(Stages::GEOMETRY).or(Stages::CONTROL).or(Stages::EVALUATION).or(Stages::COMPUTE);

pub(super) const ROWS: &[Row] = &[
    old("texture1D", TexOp::Tex, &["g4 s:1D P ~bias"], DESKTOP),
    old("texture1DProj", TexOp::Tex, &["g4 s:1D Q ~bias", "g4 s:1D Q4 ~bias"], DESKTOP),
    old("texture1DLod", TexOp::Txl, &["g4 s:1D P lod"], DESKTOP).only(VERTEX),
    old("texture1DLod", TexOp::Txl, &["g4 s:1D P lod"], LOD).only(REST),
    old("texture1DProjLod", TexOp::Txl, &["g4 s:1D Q lod", "g4 s:1D Q4 lod"], DESKTOP).only(VERTEX),
    old("texture1DProjLod", TexOp::Txl, &["g4 s:1D Q lod", "g4 s:1D Q4 lod"], LOD).only(REST),
    old("texture2D", TexOp::Tex, &["g4 s:2D P ~bias"], V110),
    old("texture2D", TexOp::Tex, &["g4 s:ExternalOES P"], EXTERNAL),
    old("texture2DProj", TexOp::Tex, &["g4 s:2D Q ~bias", "g4 s:2D Q4 ~bias"], V110),
    old("texture2DProj", TexOp::Tex, &["g4 s:ExternalOES Q", "g4 s:ExternalOES Q4"], EXTERNAL),
    old("texture2DLod", TexOp::Txl, &["g4 s:2D P lod"], V110).only(VERTEX),
    old("texture2DLod", TexOp::Txl, &["g4 s:2D P lod"], LOD).only(REST),
    old("texture2DProjLod", TexOp::Txl, &["g4 s:2D Q lod", "g4 s:2D Q4 lod"], V110).only(VERTEX),
    old("texture2DProjLod", TexOp::Txl, &["g4 s:2D Q lod", "g4 s:2D Q4 lod"], LOD).only(REST),
    old("texture3D", TexOp::Tex, &["g4 s:3D P ~bias"], THREE),
    old("texture3DProj", TexOp::Tex, &["g4 s:3D Q ~bias"], THREE),
    old("texture3DLod", TexOp::Txl, &["g4 s:3D P lod"], THREE).only(VERTEX),
    old("texture3DLod", TexOp::Txl, &["g4 s:3D P lod"], LOD).only(REST),
    old("texture3DProjLod", TexOp::Txl, &["g4 s:3D Q lod"], THREE).only(VERTEX),
    old("texture3DProjLod", TexOp::Txl, &["g4 s:3D Q lod"], LOD).only(REST),
    old("textureCube", TexOp::Tex, &["g4 s:Cube P ~bias"], V110),
    old("textureCubeLod", TexOp::Txl, &["g4 s:Cube P lod"], V110).only(VERTEX),
    old("textureCubeLod", TexOp::Txl, &["g4 s:Cube P lod"], LOD).only(REST),
    old("shadow1D", TexOp::Tex, &["f4 s:1DShadow P ~bias"], DESKTOP),
    old("shadow1DProj", TexOp::Tex, &["f4 s:1DShadow Q ~bias"], DESKTOP),
    old("shadow1DLod", TexOp::Txl, &["f4 s:1DShadow P lod"], DESKTOP).only(VERTEX),
    old("shadow1DLod", TexOp::Txl, &["f4 s:1DShadow P lod"], LOD).only(REST),
    old("shadow1DProjLod", TexOp::Txl, &["f4 s:1DShadow Q lod"], DESKTOP).only(VERTEX),
    old("shadow1DProjLod", TexOp::Txl, &["f4 s:1DShadow Q lod"], LOD).only(REST),
    old("shadow2D", TexOp::Tex, &["f4 s:2DShadow P ~bias"], DESKTOP),
    old("shadow2DProj", TexOp::Tex, &["f4 s:2DShadow Q ~bias"], DESKTOP),
    old("shadow2DLod", TexOp::Txl, &["f4 s:2DShadow P lod"], DESKTOP).only(VERTEX),
    old("shadow2DLod", TexOp::Txl, &["f4 s:2DShadow P lod"], LOD).only(REST),
    old("shadow2DProjLod", TexOp::Txl, &["f4 s:2DShadow Q lod"], DESKTOP).only(VERTEX),
    old("shadow2DProjLod", TexOp::Txl, &["f4 s:2DShadow Q lod"], LOD).only(REST),
    // ARB_shader_texture_lod.
    old("texture1DGradARB", TexOp::Txd, &["g4 s:1D P dx dy"], GRADIENTS),
    old("texture1DProjGradARB", TexOp::Txd, &["g4 s:1D Q dx dy", "g4 s:1D Q4 dx dy"], GRADIENTS),
    old("texture2DGradARB", TexOp::Txd, &["g4 s:2D P dx dy"], GRADIENTS),
    old("texture2DProjGradARB", TexOp::Txd, &["g4 s:2D Q dx dy", "g4 s:2D Q4 dx dy"], GRADIENTS),
    old("texture3DGradARB", TexOp::Txd, &["g4 s:3D P dx dy"], GRADIENTS),
    old("texture3DProjGradARB", TexOp::Txd, &["g4 s:3D Q dx dy"], GRADIENTS),
    old("textureCubeGradARB", TexOp::Txd, &["g4 s:Cube P dx dy"], GRADIENTS),
    old("shadow1DGradARB", TexOp::Txd, &["f4 s:1DShadow P dx dy"], GRADIENTS),
    old("shadow1DProjGradARB", TexOp::Txd, &["f4 s:1DShadow Q dx dy"], GRADIENTS),
    old("shadow2DGradARB", TexOp::Txd, &["f4 s:2DShadow P dx dy"], GRADIENTS),
    old("shadow2DProjGradARB", TexOp::Txd, &["f4 s:2DShadow Q dx dy"], GRADIENTS),
    old("texture2DRectGradARB", TexOp::Txd, &["g4 s:2DRect P dx dy"], GRADIENTS),
    old("texture2DRectProjGradARB", TexOp::Txd, &["g4 s:2DRect Q dx dy", "g4 s:2DRect Q4 dx dy"], GRADIENTS),
    old("shadow2DRectGradARB", TexOp::Txd, &["f4 s:2DRectShadow P dx dy"], GRADIENTS),
    old("shadow2DRectProjGradARB", TexOp::Txd, &["f4 s:2DRectShadow Q dx dy"], GRADIENTS),
    // EXT_shader_texture_lod.
    old("texture2DLodEXT", TexOp::Txl, &["g4 s:2D P lod"], ES_LOD).only(FRAGMENT),
    old("texture2DProjLodEXT", TexOp::Txl, &["g4 s:2D Q lod", "g4 s:2D Q4 lod"], ES_LOD).only(FRAGMENT),
    old("textureCubeLodEXT", TexOp::Txl, &["g4 s:Cube P lod"], ES_LOD).only(FRAGMENT),
    old("texture2DGradEXT", TexOp::Txd, &["g4 s:2D P dx dy"], ES_LOD),
    old("texture2DProjGradEXT", TexOp::Txd, &["g4 s:2D Q dx dy", "g4 s:2D Q4 dx dy"], ES_LOD),
    old("textureCubeGradEXT", TexOp::Txd, &["g4 s:Cube P dx dy"], ES_LOD),
    // EXT_shadow_samplers.
    old("shadow2DEXT", TexOp::Tex, &["f s:2DShadow P"], SHADOW),
    old("shadow2DProjEXT", TexOp::Tex, &["f s:2DShadow Q"], SHADOW),
    // ARB_texture_rectangle.
    old("texture2DRect", TexOp::Tex, &["g4 s:2DRect P"], RECT),
    old("texture2DRectProj", TexOp::Tex, &["g4 s:2DRect Q", "g4 s:2DRect Q4"], RECT),
    old("shadow2DRect", TexOp::Tex, &["f4 s:2DRectShadow P"], RECT),
    old("shadow2DRectProj", TexOp::Tex, &["f4 s:2DRectShadow Q"], RECT),
    // AMD_texture_texture4.
    old("texture4", TexOp::Tg4, &["g4 s:2D P"], ext(&[E::AMDTextureTexture4])),
    // EXT_texture_array and EXT_gpu_shader4.
    old("texture1DArray", TexOp::Tex, &["g4 s:1DArray P ~bias"], ARRAY),
    old("texture1DArrayLod", TexOp::Txl, &["g4 s:1DArray P lod"], ARRAY),
    old("texture2DArray", TexOp::Tex, &["g4 s:2DArray P ~bias"], ARRAY),
    old("texture2DArrayLod", TexOp::Txl, &["g4 s:2DArray P lod"], ARRAY),
    old("shadow1DArray", TexOp::Tex, &["f4 s:1DArrayShadow P ~bias"], ARRAY),
    old("shadow1DArrayLod", TexOp::Txl, &["f4 s:1DArrayShadow P lod"], ARRAY),
    old("shadow2DArray", TexOp::Tex, &["f4 s:2DArrayShadow P"], ARRAY),
    // EXT_gpu_shader4: integer samplers.
    old("texture1D", TexOp::Tex, &["g4 g:1D P ~bias"], SHADER4),
    old("texture2D", TexOp::Tex, &["g4 g:2D P ~bias"], SHADER4),
    old("texture3D", TexOp::Tex, &["g4 g:3D P ~bias"], SHADER4),
    old("textureCube", TexOp::Tex, &["g4 g:Cube P ~bias"], SHADER4),
    old("texture1DArray", TexOp::Tex, &["g4 g:1DArray P ~bias"], SHADER4),
    old("texture2DArray", TexOp::Tex, &["g4 g:2DArray P ~bias"], SHADER4),
    old("texture2DRect", TexOp::Tex, &["g4 g:2DRect P"], SHADER4),
    old("texture1DProj", TexOp::Tex, &["g4 g:1D Q ~bias", "g4 g:1D Q4 ~bias"], SHADER4),
    old("texture2DProj", TexOp::Tex, &["g4 g:2D Q ~bias", "g4 g:2D Q4 ~bias"], SHADER4),
    old("texture3DProj", TexOp::Tex, &["g4 g:3D Q ~bias"], SHADER4),
    old("texture2DRectProj", TexOp::Tex, &["g4 g:2DRect Q", "g4 g:2DRect Q4"], SHADER4),
    old("texture1DLod", TexOp::Txl, &["g4 g:1D P lod"], SHADER4),
    old("texture2DLod", TexOp::Txl, &["g4 g:2D P lod"], SHADER4),
    old("texture3DLod", TexOp::Txl, &["g4 g:3D P lod"], SHADER4),
    old("textureCubeLod", TexOp::Txl, &["g4 g:Cube P lod"], SHADER4),
    old("texture1DArrayLod", TexOp::Txl, &["g4 g:1DArray P lod"], SHADER4),
    old("texture2DArrayLod", TexOp::Txl, &["g4 g:2DArray P lod"], SHADER4),
    old("texture1DProjLod", TexOp::Txl, &["g4 g:1D Q lod", "g4 g:1D Q4 lod"], SHADER4),
    old("texture2DProjLod", TexOp::Txl, &["g4 g:2D Q lod", "g4 g:2D Q4 lod"], SHADER4),
    old("texture3DProjLod", TexOp::Txl, &["g4 g:3D Q lod"], SHADER4),
    old("shadow1DLod", TexOp::Txl, &["f4 s:1DShadow P lod"], SHADER4),
    old("shadow2DLod", TexOp::Txl, &["f4 s:2DShadow P lod"], SHADER4),
    old("shadow1DProjLod", TexOp::Txl, &["f4 s:1DShadow Q lod"], SHADER4),
    old("shadow2DProjLod", TexOp::Txl, &["f4 s:2DShadow Q lod"], SHADER4),
    old("shadowCube", TexOp::Tex, &["f4 s:CubeShadow P ~bias"], SHADER4),
    // EXT_gpu_shader4: offsets.
    old("texture1DOffset", TexOp::Tex, &["g4 g:1D P off ~bias"], SHADER4),
    old("texture2DOffset", TexOp::Tex, &["g4 g:2D P off ~bias"], SHADER4),
    old("texture3DOffset", TexOp::Tex, &["g4 g:3D P off ~bias"], SHADER4),
    old("texture1DArrayOffset", TexOp::Tex, &["g4 g:1DArray P off ~bias"], SHADER4),
    old("texture2DArrayOffset", TexOp::Tex, &["g4 g:2DArray P off ~bias"], SHADER4),
    old("texture2DRectOffset", TexOp::Tex, &["g4 g:2DRect P off"], SHADER4),
    old("texture1DProjOffset", TexOp::Tex, &["g4 g:1D Q off ~bias", "g4 g:1D Q4 off ~bias"], SHADER4),
    old("texture2DProjOffset", TexOp::Tex, &["g4 g:2D Q off ~bias", "g4 g:2D Q4 off ~bias"], SHADER4),
    old("texture3DProjOffset", TexOp::Tex, &["g4 g:3D Q off ~bias"], SHADER4),
    old("texture2DRectProjOffset", TexOp::Tex, &["g4 g:2DRect Q off", "g4 g:2DRect Q4 off"], SHADER4),
    old("shadow1DOffset", TexOp::Tex, &["f4 s:1DShadow P off ~bias"], SHADER4),
    old("shadow2DOffset", TexOp::Tex, &["f4 s:2DShadow P off ~bias"], SHADER4),
    old("shadow1DArrayOffset", TexOp::Tex, &["f4 s:1DArrayShadow P off ~bias"], SHADER4),
    old("shadow2DArrayOffset", TexOp::Tex, &["f4 s:2DArrayShadow P off"], SHADER4),
    old("shadow2DRectOffset", TexOp::Tex, &["f4 s:2DRectShadow P off"], SHADER4),
    old("shadow1DProjOffset", TexOp::Tex, &["f4 s:1DShadow Q off ~bias"], SHADER4),
    old("shadow2DProjOffset", TexOp::Tex, &["f4 s:2DShadow Q off ~bias"], SHADER4),
    old("shadow2DRectProjOffset", TexOp::Tex, &["f4 s:2DRectShadow Q off"], SHADER4),
    old("texture1DLodOffset", TexOp::Txl, &["g4 g:1D P lod off"], SHADER4),
    old("texture2DLodOffset", TexOp::Txl, &["g4 g:2D P lod off"], SHADER4),
    old("texture3DLodOffset", TexOp::Txl, &["g4 g:3D P lod off"], SHADER4),
    old("texture1DArrayLodOffset", TexOp::Txl, &["g4 g:1DArray P lod off"], SHADER4),
    old("texture2DArrayLodOffset", TexOp::Txl, &["g4 g:2DArray P lod off"], SHADER4),
    old("texture1DProjLodOffset", TexOp::Txl, &["g4 g:1D Q lod off", "g4 g:1D Q4 lod off"], SHADER4),
    old("texture2DProjLodOffset", TexOp::Txl, &["g4 g:2D Q lod off", "g4 g:2D Q4 lod off"], SHADER4),
    old("texture3DProjLodOffset", TexOp::Txl, &["g4 g:3D Q lod off"], SHADER4),
    old("shadow1DLodOffset", TexOp::Txl, &["f4 s:1DShadow P lod off"], SHADER4),
    old("shadow2DLodOffset", TexOp::Txl, &["f4 s:2DShadow P lod off"], SHADER4),
    old("shadow1DArrayLodOffset", TexOp::Txl, &["f4 s:1DArrayShadow P lod off"], SHADER4),
    old("shadow1DProjLodOffset", TexOp::Txl, &["f4 s:1DShadow Q lod off"], SHADER4),
    old("shadow2DProjLodOffset", TexOp::Txl, &["f4 s:2DShadow Q lod off"], SHADER4),
    // EXT_gpu_shader4: gradients.
    old("texture1DGrad", TexOp::Txd, &["g4 g:1D P dx dy"], SHADER4),
    old("texture2DGrad", TexOp::Txd, &["g4 g:2D P dx dy"], SHADER4),
    old("texture3DGrad", TexOp::Txd, &["g4 g:3D P dx dy"], SHADER4),
    old("textureCubeGrad", TexOp::Txd, &["g4 g:Cube P dx dy"], SHADER4),
    old("texture1DArrayGrad", TexOp::Txd, &["g4 g:1DArray P dx dy"], SHADER4),
    old("texture2DArrayGrad", TexOp::Txd, &["g4 g:2DArray P dx dy"], SHADER4),
    old("texture2DRectGrad", TexOp::Txd, &["g4 g:2DRect P dx dy"], SHADER4),
    old("texture1DProjGrad", TexOp::Txd, &["g4 g:1D Q dx dy", "g4 g:1D Q4 dx dy"], SHADER4),
    old("texture2DProjGrad", TexOp::Txd, &["g4 g:2D Q dx dy", "g4 g:2D Q4 dx dy"], SHADER4),
    old("texture3DProjGrad", TexOp::Txd, &["g4 g:3D Q dx dy"], SHADER4),
    old("texture2DRectProjGrad", TexOp::Txd, &["g4 g:2DRect Q dx dy", "g4 g:2DRect Q4 dx dy"], SHADER4),
    old("shadow1DGrad", TexOp::Txd, &["f4 s:1DShadow P dx dy"], SHADER4),
    old("shadow2DGrad", TexOp::Txd, &["f4 s:2DShadow P dx dy"], SHADER4),
    old("shadowCubeGrad", TexOp::Txd, &["f4 s:CubeShadow P dx dy"], SHADER4),
    old("shadow1DArrayGrad", TexOp::Txd, &["f4 s:1DArrayShadow P dx dy"], SHADER4),
    old("shadow2DArrayGrad", TexOp::Txd, &["f4 s:2DArrayShadow P dx dy"], SHADER4),
    old("shadow2DRectGrad", TexOp::Txd, &["f4 s:2DRectShadow P dx dy"], SHADER4),
    old("shadow1DProjGrad", TexOp::Txd, &["f4 s:1DShadow Q dx dy"], SHADER4),
    old("shadow2DProjGrad", TexOp::Txd, &["f4 s:2DShadow Q dx dy"], SHADER4),
    old("shadow2DRectProjGrad", TexOp::Txd, &["f4 s:2DRectShadow Q dx dy"], SHADER4),
    old("texture1DGradOffset", TexOp::Txd, &["g4 g:1D P dx dy off"], SHADER4),
    old("texture2DGradOffset", TexOp::Txd, &["g4 g:2D P dx dy off"], SHADER4),
    old("texture3DGradOffset", TexOp::Txd, &["g4 g:3D P dx dy off"], SHADER4),
    old("texture1DArrayGradOffset", TexOp::Txd, &["g4 g:1DArray P dx dy off"], SHADER4),
    old("texture2DArrayGradOffset", TexOp::Txd, &["g4 g:2DArray P dx dy off"], SHADER4),
    old("texture2DRectGradOffset", TexOp::Txd, &["g4 g:2DRect P dx dy off"], SHADER4),
    old("texture1DProjGradOffset", TexOp::Txd, &["g4 g:1D Q dx dy off", "g4 g:1D Q4 dx dy off"], SHADER4),
    old("texture2DProjGradOffset", TexOp::Txd, &["g4 g:2D Q dx dy off", "g4 g:2D Q4 dx dy off"], SHADER4),
    old("texture3DProjGradOffset", TexOp::Txd, &["g4 g:3D Q dx dy off"], SHADER4),
    old("texture2DRectProjGradOffset", TexOp::Txd, &["g4 g:2DRect Q dx dy off", "g4 g:2DRect Q4 dx dy off"], SHADER4),
    old("shadow1DGradOffset", TexOp::Txd, &["f4 s:1DShadow P dx dy off"], SHADER4),
    old("shadow2DGradOffset", TexOp::Txd, &["f4 s:2DShadow P dx dy off"], SHADER4),
    old("shadow1DArrayGradOffset", TexOp::Txd, &["f4 s:1DArrayShadow P dx dy off"], SHADER4),
    old("shadow2DArrayGradOffset", TexOp::Txd, &["f4 s:2DArrayShadow P dx dy off"], SHADER4),
    old("shadow2DRectGradOffset", TexOp::Txd, &["f4 s:2DRectShadow P dx dy off"], SHADER4),
    old("shadow1DProjGradOffset", TexOp::Txd, &["f4 s:1DShadow Q dx dy off"], SHADER4),
    old("shadow2DProjGradOffset", TexOp::Txd, &["f4 s:2DShadow Q dx dy off"], SHADER4),
    old("shadow2DRectProjGradOffset", TexOp::Txd, &["f4 s:2DRectShadow Q dx dy off"], SHADER4),
    // EXT_gpu_shader4: fetches and sizes.
    old("texelFetch1D", TexOp::Txf, &["g4 g:1D Pi level"], SHADER4),
    old("texelFetch2D", TexOp::Txf, &["g4 g:2D Pi level"], SHADER4),
    old("texelFetch3D", TexOp::Txf, &["g4 g:3D Pi level"], SHADER4),
    old("texelFetch1DArray", TexOp::Txf, &["g4 g:1DArray Pi level"], SHADER4),
    old("texelFetch2DArray", TexOp::Txf, &["g4 g:2DArray Pi level"], SHADER4),
    old("texelFetch2DRect", TexOp::Txf, &["g4 g:2DRect Pi"], SHADER4),
    old("texelFetchBuffer", TexOp::Txf, &["g4 g:Buffer Pi"], SHADER4),
    old("texelFetch1DOffset", TexOp::Txf, &["g4 g:1D Pi level off"], SHADER4),
    old("texelFetch2DOffset", TexOp::Txf, &["g4 g:2D Pi level off"], SHADER4),
    old("texelFetch3DOffset", TexOp::Txf, &["g4 g:3D Pi level off"], SHADER4),
    old("texelFetch1DArrayOffset", TexOp::Txf, &["g4 g:1DArray Pi level off"], SHADER4),
    old("texelFetch2DArrayOffset", TexOp::Txf, &["g4 g:2DArray Pi level off"], SHADER4),
    old("texelFetch2DRectOffset", TexOp::Txf, &["g4 g:2DRect Pi off"], SHADER4),
    old("textureSize1D", TexOp::Txs, &["size g:1D level"], SHADER4),
    old("textureSize2D", TexOp::Txs, &["size g:2D level"], SHADER4),
    old("textureSize3D", TexOp::Txs, &["size g:3D level"], SHADER4),
    old("textureSizeCube", TexOp::Txs, &["size g:Cube level"], SHADER4),
    old("textureSize1DArray", TexOp::Txs, &["size g:1DArray level"], SHADER4),
    old("textureSize2DArray", TexOp::Txs, &["size g:2DArray level"], SHADER4),
    old("textureSize2DRect", TexOp::Txs, &["size g:2DRect"], SHADER4),
    old("textureSizeBuffer", TexOp::Txs, &["size g:Buffer"], SHADER4),
];
