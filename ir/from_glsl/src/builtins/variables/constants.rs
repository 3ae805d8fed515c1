//! Constants: the limits of an implementation.
//!
//! The values are the minima of the specification for each version. Where the minimum is less than any driver offers,
//! and shaders rely on that, it is what drivers offer: eight texture coordinates, draw buffers, lights and clip planes.

use super::{Row, RowRole, Values};
use crate::builtins::stages::Stages;
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

/// A constant that exists from the first version that has a value.
const fn limit(name: &'static str, desktop: Values, es: Values) -> Row {
    const fn first(values: Values) -> u16 {
        match values {
            [(first, _), ..] => *first,
            [] => NEVER,
        }
    }
    let ty = match (desktop, es) {
        ([(_, [_, _, _]), ..], _) | (_, [(_, [_, _, _]), ..]) => "i3",
        _ => "i",
    };
    let row = Row::new(name, ty, super::Role::State, Since::new(first(desktop), first(es)), Stages::ALL);
    Row { role: RowRole::Limit(desktop, es), ..row }
}

/// Also with extensions.
const fn or(row: Row, extensions: &'static [crate::extension::Extension]) -> Row {
    Row { since: row.since.or(extensions), ..row }
}

/// Of the compatibility profile.
const fn fixed(name: &'static str, desktop: Values) -> Row {
    Row { is_fixed_function: true, ..limit(name, desktop, &[]) }
}

const GEOMETRY: &[crate::extension::Extension] = &[E::OESGeometryShader, E::EXTGeometryShader];
const TESSELLATION: &[crate::extension::Extension] =
    &[E::ARBTessellationShader, E::OESTessellationShader, E::EXTTessellationShader];
const COMPUTE: &[crate::extension::Extension] = &[E::ARBComputeShader];
const IMAGES: &[crate::extension::Extension] = &[E::ARBShaderImageLoadStore];
const COUNTERS: &[crate::extension::Extension] = &[E::ARBShaderAtomicCounters];

pub(super) const ROWS: &[Row] = &[
    fixed("gl_MaxLights", &[(110, &[8])]),
    fixed("gl_MaxClipPlanes", &[(110, &[8])]),
    fixed("gl_MaxTextureUnits", &[(110, &[8])]),
    fixed("gl_MaxTextureCoords", &[(110, &[8])]),
    limit("gl_MaxVertexAttribs", &[(110, &[16])], &[(100, &[8]), (300, &[16])]),
    limit("gl_MaxVertexUniformComponents", &[(110, &[512]), (140, &[1024])], &[]),
    limit("gl_MaxVaryingFloats", &[(110, &[32]), (130, &[64]), (400, &[60])], &[]).until(NEVER, 420, NEVER),
    limit("gl_MaxVaryingComponents", &[(130, &[64]), (400, &[60])], &[]),
    limit("gl_MaxVertexTextureImageUnits", &[(110, &[0]), (130, &[16])], &[(100, &[0]), (300, &[16])]),
    limit(
        "gl_MaxCombinedTextureImageUnits",
        &[(110, &[2]), (130, &[16]), (150, &[48]), (400, &[80]), (430, &[96])],
        &[(100, &[8]), (300, &[32]), (310, &[48]), (320, &[96])],
    ),
    limit("gl_MaxTextureImageUnits", &[(110, &[2]), (130, &[16])], &[(100, &[8]), (300, &[16])]),
    limit("gl_MaxFragmentUniformComponents", &[(110, &[64]), (130, &[1024])], &[]),
    Row {
        since: Since::new(110, 300).or(&[E::EXTDrawBuffers]),
        ..limit("gl_MaxDrawBuffers", &[(110, &[8])], &[(100, &[8]), (300, &[4])])
    },
    limit("gl_MaxDrawBuffers", &[(110, &[8])], &[(100, &[1]), (300, &[4])]),
    limit("gl_MaxVertexUniformVectors", &[(410, &[256])], &[(100, &[128]), (300, &[256])]),
    limit("gl_MaxFragmentUniformVectors", &[(410, &[256])], &[(100, &[16]), (300, &[224]), (320, &[256])]),
    limit("gl_MaxVaryingVectors", &[(410, &[15])], &[(100, &[8])]).until(NEVER, NEVER, 300),
    limit("gl_MaxVertexOutputVectors", &[], &[(300, &[16])]),
    limit("gl_MaxFragmentInputVectors", &[], &[(300, &[15])]),
    or(limit("gl_MaxClipDistances", &[(130, &[8])], &[(100, &[8])]), &[E::EXTClipCullDistance]).es_by_extension(),
    or(limit("gl_MaxCullDistances", &[(450, &[8])], &[(100, &[8])]), &[E::ARBCullDistance, E::EXTClipCullDistance])
        .es_by_extension(),
    or(
        limit("gl_MaxCombinedClipAndCullDistances", &[(450, &[8])], &[(100, &[8])]),
        &[E::ARBCullDistance, E::EXTClipCullDistance],
    )
    .es_by_extension(),
    limit("gl_MinProgramTexelOffset", &[(130, &[-8])], &[(300, &[-8])]),
    limit("gl_MaxProgramTexelOffset", &[(130, &[7])], &[(300, &[7])]),
    limit("gl_MaxVertexOutputComponents", &[(150, &[64])], &[]),
    limit("gl_MaxFragmentInputComponents", &[(150, &[128])], &[]),
    or(limit("gl_MaxGeometryInputComponents", &[(150, &[64])], &[(320, &[64])]), GEOMETRY),
    or(limit("gl_MaxGeometryOutputComponents", &[(150, &[128])], &[(320, &[64])]), GEOMETRY),
    or(limit("gl_MaxGeometryTextureImageUnits", &[(150, &[16])], &[(320, &[16])]), GEOMETRY),
    or(limit("gl_MaxGeometryOutputVertices", &[(150, &[256])], &[(320, &[256])]), GEOMETRY),
    or(limit("gl_MaxGeometryTotalOutputComponents", &[(150, &[1024])], &[(320, &[1024])]), GEOMETRY),
    or(limit("gl_MaxGeometryUniformComponents", &[(150, &[1024])], &[(320, &[1024])]), GEOMETRY),
    limit("gl_MaxGeometryVaryingComponents", &[(150, &[64])], &[]),
    or(limit("gl_MaxTessControlInputComponents", &[(400, &[128])], &[(320, &[64])]), TESSELLATION),
    or(limit("gl_MaxTessControlOutputComponents", &[(400, &[128])], &[(320, &[64])]), TESSELLATION),
    or(limit("gl_MaxTessControlTextureImageUnits", &[(400, &[16])], &[(320, &[16])]), TESSELLATION),
    or(limit("gl_MaxTessControlUniformComponents", &[(400, &[1024])], &[(320, &[1024])]), TESSELLATION),
    or(limit("gl_MaxTessControlTotalOutputComponents", &[(400, &[4096])], &[(320, &[2048])]), TESSELLATION),
    or(limit("gl_MaxTessEvaluationInputComponents", &[(400, &[128])], &[(320, &[64])]), TESSELLATION),
    or(limit("gl_MaxTessEvaluationOutputComponents", &[(400, &[128])], &[(320, &[64])]), TESSELLATION),
    or(limit("gl_MaxTessEvaluationTextureImageUnits", &[(400, &[16])], &[(320, &[16])]), TESSELLATION),
    or(limit("gl_MaxTessEvaluationUniformComponents", &[(400, &[1024])], &[(320, &[1024])]), TESSELLATION),
    or(limit("gl_MaxTessPatchComponents", &[(400, &[120])], &[(320, &[120])]), TESSELLATION),
    or(limit("gl_MaxPatchVertices", &[(400, &[32])], &[(320, &[32])]), TESSELLATION),
    or(limit("gl_MaxTessGenLevel", &[(400, &[64])], &[(320, &[64])]), TESSELLATION),
    or(limit("gl_MaxViewports", &[(410, &[16])], &[]), &[E::ARBViewportArray, E::OESViewportArray]),
    or(limit("gl_MaxImageUnits", &[(420, &[8])], &[(310, &[4])]), IMAGES),
    or(limit("gl_MaxCombinedImageUnitsAndFragmentOutputs", &[(420, &[8])], &[]), IMAGES),
    limit("gl_MaxCombinedShaderOutputResources", &[(430, &[16])], &[(310, &[4])]),
    or(limit("gl_MaxImageSamples", &[(420, &[0])], &[]), IMAGES),
    or(limit("gl_MaxVertexImageUniforms", &[(420, &[0])], &[(310, &[0])]), IMAGES),
    or(limit("gl_MaxTessControlImageUniforms", &[(420, &[0])], &[(320, &[0])]), IMAGES),
    or(limit("gl_MaxTessEvaluationImageUniforms", &[(420, &[0])], &[(320, &[0])]), IMAGES),
    or(limit("gl_MaxGeometryImageUniforms", &[(420, &[0])], &[(320, &[0])]), IMAGES),
    or(limit("gl_MaxFragmentImageUniforms", &[(420, &[8])], &[(310, &[0])]), IMAGES),
    or(limit("gl_MaxCombinedImageUniforms", &[(420, &[8])], &[(310, &[4])]), IMAGES),
    or(limit("gl_MaxVertexAtomicCounters", &[(420, &[0])], &[(310, &[0])]), COUNTERS),
    or(limit("gl_MaxTessControlAtomicCounters", &[(420, &[0])], &[(320, &[0])]), COUNTERS),
    or(limit("gl_MaxTessEvaluationAtomicCounters", &[(420, &[0])], &[(320, &[0])]), COUNTERS),
    or(limit("gl_MaxGeometryAtomicCounters", &[(420, &[0])], &[(320, &[0])]), COUNTERS),
    or(limit("gl_MaxFragmentAtomicCounters", &[(420, &[8])], &[(310, &[0])]), COUNTERS),
    or(limit("gl_MaxCombinedAtomicCounters", &[(420, &[8])], &[(310, &[8])]), COUNTERS),
    or(limit("gl_MaxAtomicCounterBindings", &[(420, &[1])], &[(310, &[1])]), COUNTERS),
    limit("gl_MaxVertexAtomicCounterBuffers", &[(420, &[0])], &[(310, &[0])]),
    limit("gl_MaxTessControlAtomicCounterBuffers", &[(420, &[0])], &[(320, &[0])]),
    limit("gl_MaxTessEvaluationAtomicCounterBuffers", &[(420, &[0])], &[(320, &[0])]),
    limit("gl_MaxGeometryAtomicCounterBuffers", &[(420, &[0])], &[(320, &[0])]),
    limit("gl_MaxFragmentAtomicCounterBuffers", &[(420, &[1])], &[(310, &[0])]),
    limit("gl_MaxCombinedAtomicCounterBuffers", &[(420, &[1])], &[(310, &[1])]),
    limit("gl_MaxAtomicCounterBufferSize", &[(420, &[32])], &[(310, &[32])]),
    or(
        limit("gl_MaxComputeWorkGroupCount", &[(430, &[65535, 65535, 65535])], &[(310, &[65535, 65535, 65535])]),
        COMPUTE,
    ),
    or(limit("gl_MaxComputeWorkGroupSize", &[(430, &[1024, 1024, 64])], &[(310, &[128, 128, 64])]), COMPUTE),
    or(limit("gl_MaxComputeUniformComponents", &[(430, &[1024])], &[(310, &[512])]), COMPUTE),
    or(limit("gl_MaxComputeTextureImageUnits", &[(430, &[16])], &[(310, &[16])]), COMPUTE),
    or(limit("gl_MaxComputeImageUniforms", &[(430, &[8])], &[(310, &[4])]), COMPUTE),
    or(limit("gl_MaxComputeAtomicCounters", &[(430, &[8])], &[(310, &[8])]), COMPUTE),
    or(limit("gl_MaxComputeAtomicCounterBuffers", &[(430, &[8])], &[(310, &[1])]), COMPUTE),
    or(limit("gl_MaxSamples", &[(450, &[4])], &[(320, &[4])]), &[E::OESSampleVariables]),
    or(limit("gl_MaxDualSourceDrawBuffersEXT", &[], &[(100, &[1])]), &[E::EXTBlendFuncExtended]).es_by_extension(),
    or(limit("gl_MaxTransformFeedbackBuffers", &[(440, &[4])], &[]), &[E::ARBEnhancedLayouts]),
    or(limit("gl_MaxTransformFeedbackInterleavedComponents", &[(440, &[64])], &[]), &[E::ARBEnhancedLayouts]),
];

impl Row {
    /// In the ES language only with an extension.
    const fn es_by_extension(self) -> Row {
        Row { since: Since { es: NEVER, ..self.since }, ..self }
    }
}
