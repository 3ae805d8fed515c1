//! Inputs, outputs and system values.

use tgsi_environment::SystemValue as S;
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};

use super::{Role, Row};
use crate::builtins::stages::Stages;
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

const V: Stages = Stages::VERTEX;
const F: Stages = Stages::FRAGMENT;
const G: Stages = Stages::GEOMETRY;
const C: Stages = Stages::COMPUTE;
const CONTROL: Stages = Stages::CONTROL;
const EVALUATION: Stages = Stages::EVALUATION;
/// Stages whose outputs are the vertices of primitives.
const BEFORE_RASTER: Stages = V.or(EVALUATION).or(G);

const ALWAYS: Since = Since::ALWAYS;
const INSTANCES: Since = Since::new(140, 300).or(&[E::ARBDrawInstanced, E::EXTGpuShader4]);
const DRAW_PARAMETERS: Since = Since::new(460, NEVER);
const CLIP_DISTANCES: Since = Since::new(130, NEVER).or(&[E::EXTClipCullDistance]);
const CULL_DISTANCES: Since = Since::new(450, NEVER).or(&[E::ARBCullDistance, E::EXTClipCullDistance]);
const GEOMETRY: Since = Since::new(150, 320).or(&[E::OESGeometryShader, E::EXTGeometryShader]);
const TESSELLATION: Since =
    Since::new(400, 320).or(&[E::ARBTessellationShader, E::OESTessellationShader, E::EXTTessellationShader]);
const LAYER: Since =
    Since::new(430, 320).or(&[E::ARBFragmentLayerViewport, E::OESGeometryShader, E::EXTGeometryShader]);
const VIEWPORT: Since = Since::new(430, NEVER).or(&[E::ARBFragmentLayerViewport, E::OESViewportArray]);
const VIEWPORT_LAYERS: Since = ext(&[E::ARBShaderViewportLayerArray]);
const FETCH: Since = ext(&[E::EXTShaderFramebufferFetch, E::EXTShaderFramebufferFetchNonCoherent]);
const DUAL_SOURCE: Since = ext(&[E::EXTBlendFuncExtended]);
const VIEWPORT_ARRAY2: Since = ext(&[E::NVViewportArray2]);
const BALLOT: Since = ext(&[E::ARBShaderBallot]);
const BOUNDING_BOX: Since = Since::new(NEVER, 320);
const SAMPLES: Since = Since::new(400, 320).or(&[E::ARBSampleShading, E::OESSampleVariables]);
const SAMPLE_MASK_IN: Since = Since::new(400, 320).or(&[E::ARBGpuShader5, E::OESSampleVariables]);
const VARIABLE_SIZE: Since = ext(&[E::ARBComputeVariableGroupSize]);
const COMPUTE: Since = Since::new(430, 310).or(&[E::ARBComputeShader]);

const fn ext(extensions: &'static [crate::extension::Extension]) -> Since {
    Since::new(NEVER, NEVER).or(extensions)
}

const fn tex_coord(number: u8) -> Role {
    Role::Input(VertAttrib::TEX0 + number)
}

pub(super) const VERTEX: &[Row] = &[
    Row::fixed("gl_Vertex", "f4", Role::Input(VertAttrib::POS), V),
    Row::fixed("gl_Normal", "f3", Role::Input(VertAttrib::NORMAL), V),
    Row::fixed("gl_Color", "f4", Role::Input(VertAttrib::COLOR0), V),
    Row::fixed("gl_SecondaryColor", "f4", Role::Input(VertAttrib::COLOR1), V),
    Row::fixed("gl_FogCoord", "f", Role::Input(VertAttrib::FOG), V),
    Row::fixed("gl_MultiTexCoord0", "f4", tex_coord(0), V),
    Row::fixed("gl_MultiTexCoord1", "f4", tex_coord(1), V),
    Row::fixed("gl_MultiTexCoord2", "f4", tex_coord(2), V),
    Row::fixed("gl_MultiTexCoord3", "f4", tex_coord(3), V),
    Row::fixed("gl_MultiTexCoord4", "f4", tex_coord(4), V),
    Row::fixed("gl_MultiTexCoord5", "f4", tex_coord(5), V),
    Row::fixed("gl_MultiTexCoord6", "f4", tex_coord(6), V),
    Row::fixed("gl_MultiTexCoord7", "f4", tex_coord(7), V),
    Row::new("gl_VertexID", "i", Role::SystemValue(S::VertexId), Since::new(130, 300).or(&[E::EXTGpuShader4]), V),
    Row::new("gl_InstanceID", "i", Role::SystemValue(S::InstanceId), INSTANCES, V),
    Row::new("gl_InstanceIDARB", "i", Role::SystemValue(S::InstanceId), ext(&[E::ARBDrawInstanced]), V),
    Row::new("gl_BaseVertex", "i", Role::SystemValue(S::BaseVertex), DRAW_PARAMETERS, V),
    Row::new("gl_BaseInstance", "i", Role::SystemValue(S::BaseInstance), DRAW_PARAMETERS, V),
    Row::new("gl_DrawID", "i", Role::SystemValue(S::DrawId), DRAW_PARAMETERS, V),
    Row::new("gl_BaseVertexARB", "i", Role::SystemValue(S::BaseVertex), ext(&[E::ARBShaderDrawParameters]), V),
    Row::new("gl_BaseInstanceARB", "i", Role::SystemValue(S::BaseInstance), ext(&[E::ARBShaderDrawParameters]), V),
    Row::new("gl_DrawIDARB", "i", Role::SystemValue(S::DrawId), ext(&[E::ARBShaderDrawParameters]), V),
    Row::new("gl_Position", "f4", Role::Output(VaryingSlot::POS), ALWAYS, BEFORE_RASTER).redeclarable(),
    Row::new("gl_PointSize", "f", Role::Output(VaryingSlot::PSIZ), ALWAYS, V).redeclarable(),
    Row::new(
        "gl_PointSize",
        "f",
        Role::Output(VaryingSlot::PSIZ),
        Since::new(110, NEVER).or(&[E::OESGeometryPointSize]),
        G,
    )
    .redeclarable(),
    Row::new(
        "gl_PointSize",
        "f",
        Role::Output(VaryingSlot::PSIZ),
        Since::new(110, NEVER).or(&[E::OESTessellationPointSize]),
        EVALUATION,
    )
    .redeclarable(),
    Row::new(
        "gl_ClipDistance",
        "f[<gl_MaxClipDistances]",
        Role::Output(VaryingSlot::CLIP_DIST0),
        CLIP_DISTANCES,
        BEFORE_RASTER,
    )
    .redeclarable()
    .compact(),
    Row::new(
        "gl_CullDistance",
        "f[<gl_MaxCullDistances]",
        Role::Output(VaryingSlot::CULL_DIST0),
        CULL_DISTANCES,
        BEFORE_RASTER,
    )
    .redeclarable()
    .compact(),
    Row::fixed("gl_ClipVertex", "f4", Role::Output(VaryingSlot::CLIP_VERTEX), BEFORE_RASTER).redeclarable(),
    Row::fixed("gl_FrontColor", "f4", Role::Output(VaryingSlot::COL0), BEFORE_RASTER).redeclarable(),
    Row::fixed("gl_BackColor", "f4", Role::Output(VaryingSlot::BFC0), BEFORE_RASTER).redeclarable(),
    Row::fixed("gl_FrontSecondaryColor", "f4", Role::Output(VaryingSlot::COL1), BEFORE_RASTER).redeclarable(),
    Row::fixed("gl_BackSecondaryColor", "f4", Role::Output(VaryingSlot::BFC1), BEFORE_RASTER).redeclarable(),
    Row::fixed("gl_TexCoord", "f4[<gl_MaxTextureCoords]", Role::Output(VaryingSlot::TEX0), BEFORE_RASTER)
        .redeclarable(),
    Row::fixed("gl_FogFragCoord", "f", Role::Output(VaryingSlot::FOGC), BEFORE_RASTER).redeclarable(),
    Row::new("gl_Layer", "i", Role::Output(VaryingSlot::LAYER), VIEWPORT_ARRAY2, BEFORE_RASTER).redeclarable(),
    Row::new("gl_Layer", "i", Role::Output(VaryingSlot::LAYER), ext(&[E::AMDVertexShaderLayer]), V),
    Row::new("gl_Layer", "i", Role::Output(VaryingSlot::LAYER), VIEWPORT_LAYERS, V.or(EVALUATION)),
    Row::new("gl_ViewportMask", "i[1]", Role::Output(VaryingSlot::VIEWPORT_MASK), VIEWPORT_ARRAY2, BEFORE_RASTER)
        .redeclarable(),
    Row::new("gl_ViewportIndex", "i", Role::Output(VaryingSlot::VIEWPORT), VIEWPORT_ARRAY2, BEFORE_RASTER)
        .redeclarable(),
    // The evaluation shader after it determines the outputs of the primitive.
    Row::new("gl_Layer", "i", Role::Private, VIEWPORT_ARRAY2, CONTROL).redeclarable(),
    Row::new("gl_ViewportMask", "i[1]", Role::Private, VIEWPORT_ARRAY2, CONTROL).redeclarable(),
    Row::new("gl_ViewportIndex", "i", Role::Private, VIEWPORT_ARRAY2, CONTROL).redeclarable(),
    Row::new("gl_ViewportIndex", "i", Role::Output(VaryingSlot::VIEWPORT), ext(&[E::AMDVertexShaderViewportIndex]), V)
        .redeclarable(),
    Row::new("gl_ViewportIndex", "i", Role::Output(VaryingSlot::VIEWPORT), VIEWPORT_LAYERS, V.or(EVALUATION))
        .redeclarable(),
];

pub(super) const FRAGMENT: &[Row] = &[
    Row::new("gl_FragCoord", "f4", Role::Input(VaryingSlot::POS), ALWAYS, F).redeclarable(),
    Row::new("gl_FrontFacing", "b", Role::SystemValue(S::FrontFace), ALWAYS, F).redeclarable(),
    Row::new("gl_PointCoord", "f2", Role::SystemValue(S::PointCoord), Since::new(120, 100), F).redeclarable(),
    Row::fixed("gl_Color", "f4", Role::Input(VaryingSlot::COL0), F).redeclarable(),
    Row::fixed("gl_SecondaryColor", "f4", Role::Input(VaryingSlot::COL1), F).redeclarable(),
    Row::fixed("gl_TexCoord", "f4[<gl_MaxTextureCoords]", Role::Input(VaryingSlot::TEX0), F).redeclarable(),
    Row::fixed("gl_FogFragCoord", "f", Role::Input(VaryingSlot::FOGC), F).redeclarable(),
    Row::new("gl_ClipDistance", "f[<gl_MaxClipDistances]", Role::Input(VaryingSlot::CLIP_DIST0), CLIP_DISTANCES, F)
        .redeclarable()
        .compact(),
    Row::new("gl_CullDistance", "f[<gl_MaxCullDistances]", Role::Input(VaryingSlot::CULL_DIST0), CULL_DISTANCES, F)
        .redeclarable()
        .compact(),
    Row::new(
        "gl_PrimitiveID",
        "i",
        Role::Input(VaryingSlot::PRIMITIVE_ID),
        Since::new(150, 320).or(&[E::OESGeometryShader, E::EXTGeometryShader, E::EXTGpuShader4]),
        F,
    )
    .redeclarable(),
    Row::new("gl_Layer", "i", Role::Input(VaryingSlot::LAYER), LAYER, F).redeclarable(),
    Row::new("gl_ViewportIndex", "i", Role::Input(VaryingSlot::VIEWPORT), VIEWPORT, F).redeclarable(),
    Row::new("gl_SampleID", "i", Role::SystemValue(S::SampleId), SAMPLES, F),
    Row::new("gl_SamplePosition", "f2", Role::SystemValue(S::SamplePos), SAMPLES, F),
    Row::new("gl_SampleMaskIn", "i[1]", Role::SystemValue(S::SampleMaskIn), SAMPLE_MASK_IN, F),
    Row::new("gl_HelperInvocation", "b", Role::SystemValue(S::HelperInvocation), Since::new(450, 310), F),
    Row::new("gl_FragColor", "f4", Role::Output(FragResult::COLOR), ALWAYS, F).until(140, 420, 300).redeclarable(),
    Row::new("gl_FragData", "f4[gl_MaxDrawBuffers]", Role::Output(FragResult::DATA0), ALWAYS, F)
        .until(140, 420, 300)
        .redeclarable(),
    // The value of the framebuffer: an output that is only read.
    Row::new("gl_LastFragData", "f4[<gl_MaxDrawBuffers]", Role::Framebuffer, FETCH, F)
        .until(130, 130, 300)
        .redeclarable(),
    Row::new("gl_SecondaryFragColorEXT", "f4", Role::Output(FragResult::COLOR), DUAL_SOURCE, F)
        .until(NEVER, NEVER, 300),
    Row::new(
        "gl_SecondaryFragDataEXT",
        "f4[gl_MaxDualSourceDrawBuffersEXT]",
        Role::Output(FragResult::DATA0),
        DUAL_SOURCE,
        F,
    )
    .until(NEVER, NEVER, 300),
    Row::new("gl_FragDepth", "f", Role::Output(FragResult::DEPTH), Since::new(110, 300), F).redeclarable(),
    Row::new("gl_FragDepthEXT", "f", Role::Output(FragResult::DEPTH), ext(&[E::EXTFragDepth]), F),
    Row::new("gl_FragStencilRefARB", "i", Role::Output(FragResult::STENCIL), ext(&[E::ARBShaderStencilExport]), F),
    Row::new("gl_FragStencilRefAMD", "i", Role::Output(FragResult::STENCIL), ext(&[E::AMDShaderStencilExport]), F),
    Row::new("gl_SampleMask", "i[1]", Role::Output(FragResult::SAMPLE_MASK), SAMPLES, F).redeclarable(),
];

/// Stages whose inputs have an element for each vertex.
const ARRAYED: Stages = G.or(CONTROL).or(EVALUATION);
const VERTEX_ARRAYS: Since = Since::new(150, 320).or(&[
    E::OESGeometryShader,
    E::EXTGeometryShader,
    E::ARBTessellationShader,
    E::OESTessellationShader,
    E::EXTTessellationShader,
]);
const POINT_SIZES: Since =
    Since::new(150, NEVER).or(&[E::OESGeometryPointSize, E::OESTessellationPointSize, E::ARBTessellationShader]);

pub(super) const OTHER: &[Row] = &[
    Row::new("gl_in.gl_Position", "f4", Role::Input(VaryingSlot::POS), VERTEX_ARRAYS, ARRAYED),
    Row::new("gl_in.gl_PointSize", "f", Role::Input(VaryingSlot::PSIZ), POINT_SIZES, ARRAYED),
    Row::new(
        "gl_in.gl_ClipDistance",
        "f[<gl_MaxClipDistances]",
        Role::Input(VaryingSlot::CLIP_DIST0),
        CLIP_DISTANCES,
        ARRAYED,
    )
    .compact(),
    Row::new(
        "gl_in.gl_CullDistance",
        "f[<gl_MaxCullDistances]",
        Role::Input(VaryingSlot::CULL_DIST0),
        CULL_DISTANCES,
        ARRAYED,
    )
    .compact(),
    Row::fixed("gl_in.gl_ClipVertex", "f4", Role::Input(VaryingSlot::CLIP_VERTEX), ARRAYED),
    Row::fixed("gl_in.gl_FrontColor", "f4", Role::Input(VaryingSlot::COL0), ARRAYED),
    Row::fixed("gl_in.gl_BackColor", "f4", Role::Input(VaryingSlot::BFC0), ARRAYED),
    Row::fixed("gl_in.gl_FrontSecondaryColor", "f4", Role::Input(VaryingSlot::COL1), ARRAYED),
    Row::fixed("gl_in.gl_BackSecondaryColor", "f4", Role::Input(VaryingSlot::BFC1), ARRAYED),
    Row::fixed("gl_in.gl_TexCoord", "f4[<gl_MaxTextureCoords]", Role::Input(VaryingSlot::TEX0), ARRAYED),
    Row::fixed("gl_in.gl_FogFragCoord", "f", Role::Input(VaryingSlot::FOGC), ARRAYED),
    Row::new("gl_out.gl_Position", "f4", Role::Output(VaryingSlot::POS), VERTEX_ARRAYS, CONTROL),
    Row::new("gl_out.gl_PointSize", "f", Role::Output(VaryingSlot::PSIZ), POINT_SIZES, CONTROL),
    Row::new(
        "gl_out.gl_ClipDistance",
        "f[<gl_MaxClipDistances]",
        Role::Output(VaryingSlot::CLIP_DIST0),
        CLIP_DISTANCES,
        CONTROL,
    )
    .compact(),
    Row::new(
        "gl_out.gl_CullDistance",
        "f[<gl_MaxCullDistances]",
        Role::Output(VaryingSlot::CULL_DIST0),
        CULL_DISTANCES,
        CONTROL,
    )
    .compact(),
    Row::fixed("gl_out.gl_ClipVertex", "f4", Role::Output(VaryingSlot::CLIP_VERTEX), CONTROL),
    Row::fixed("gl_out.gl_FrontColor", "f4", Role::Output(VaryingSlot::COL0), CONTROL),
    Row::fixed("gl_out.gl_BackColor", "f4", Role::Output(VaryingSlot::BFC0), CONTROL),
    Row::fixed("gl_out.gl_FrontSecondaryColor", "f4", Role::Output(VaryingSlot::COL1), CONTROL),
    Row::fixed("gl_out.gl_BackSecondaryColor", "f4", Role::Output(VaryingSlot::BFC1), CONTROL),
    Row::fixed("gl_out.gl_TexCoord", "f4[<gl_MaxTextureCoords]", Role::Output(VaryingSlot::TEX0), CONTROL),
    Row::fixed("gl_out.gl_FogFragCoord", "f", Role::Output(VaryingSlot::FOGC), CONTROL),
    Row::new("gl_PrimitiveIDIn", "i", Role::SystemValue(S::PrimitiveId), GEOMETRY, G),
    Row::new("gl_PrimitiveID", "i", Role::Output(VaryingSlot::PRIMITIVE_ID), GEOMETRY, G).redeclarable(),
    Row::new("gl_Layer", "i", Role::Output(VaryingSlot::LAYER), GEOMETRY, G),
    Row::new(
        "gl_ViewportIndex",
        "i",
        Role::Output(VaryingSlot::VIEWPORT),
        Since::new(410, NEVER).or(&[E::ARBViewportArray, E::OESViewportArray]),
        G,
    )
    .redeclarable(),
    Row::new(
        "gl_InvocationID",
        "i",
        Role::SystemValue(S::InvocationId),
        Since::new(400, 320).or(&[E::ARBGpuShader5, E::OESGeometryShader, E::EXTGeometryShader]),
        G,
    ),
    Row::new("gl_InvocationID", "i", Role::SystemValue(S::InvocationId), TESSELLATION, CONTROL),
    Row::new("gl_PrimitiveID", "i", Role::SystemValue(S::PrimitiveId), TESSELLATION, CONTROL.or(EVALUATION)),
    Row::new("gl_PatchVerticesIn", "i", Role::SystemValue(S::VerticesIn), TESSELLATION, CONTROL.or(EVALUATION)),
    Row::new("gl_TessCoord", "f3", Role::SystemValue(S::TessCoord), TESSELLATION, EVALUATION),
    Row::new("gl_TessLevelOuter", "f[4]", Role::Output(VaryingSlot::TESS_LEVEL_OUTER), TESSELLATION, CONTROL).compact(),
    Row::new("gl_TessLevelInner", "f[2]", Role::Output(VaryingSlot::TESS_LEVEL_INNER), TESSELLATION, CONTROL).compact(),
    Row::new("gl_TessLevelOuter", "f[4]", Role::Input(VaryingSlot::TESS_LEVEL_OUTER), TESSELLATION, EVALUATION)
        .compact(),
    Row::new("gl_TessLevelInner", "f[2]", Role::Input(VaryingSlot::TESS_LEVEL_INNER), TESSELLATION, EVALUATION)
        .compact(),
    Row::new("gl_NumWorkGroups", "u3", Role::SystemValue(S::NumWorkgroups), COMPUTE, C),
    Row::new("gl_WorkGroupSize", "u3", Role::SystemValue(S::WorkgroupSize), COMPUTE, C),
    Row::new("gl_LocalGroupSizeARB", "u3", Role::SystemValue(S::WorkgroupSize), VARIABLE_SIZE, C),
    Row::new("gl_WorkGroupID", "u3", Role::SystemValue(S::WorkgroupId), COMPUTE, C),
    Row::new("gl_LocalInvocationID", "u3", Role::SystemValue(S::LocalInvocationId), COMPUTE, C),
    Row::new("gl_GlobalInvocationID", "u3", Role::SystemValue(S::GlobalInvocationId), COMPUTE, C),
    Row::new("gl_LocalInvocationIndex", "u", Role::SystemValue(S::LocalInvocationIndex), COMPUTE, C),
    Row::new("gl_BoundingBox", "f4[2]", Role::Private, BOUNDING_BOX, CONTROL),
    Row::new("gl_BoundingBoxEXT", "f4[2]", Role::Private, ext(&[E::EXTPrimitiveBoundingBox]), CONTROL),
    Row::new("gl_BoundingBoxOES", "f4[2]", Role::Private, ext(&[E::OESPrimitiveBoundingBox]), CONTROL),
    Row::new("gl_SubGroupSizeARB", "u", Role::SystemValue(S::SubgroupSize), BALLOT, Stages::ALL),
    Row::new("gl_SubGroupInvocationARB", "u", Role::SystemValue(S::SubgroupInvocation), BALLOT, Stages::ALL),
    Row::new("gl_SubGroupEqMaskARB", "k", Role::SystemValue(S::SubgroupEqMask), BALLOT, Stages::ALL),
    Row::new("gl_SubGroupGeMaskARB", "k", Role::SystemValue(S::SubgroupGeMask), BALLOT, Stages::ALL),
    Row::new("gl_SubGroupGtMaskARB", "k", Role::SystemValue(S::SubgroupGtMask), BALLOT, Stages::ALL),
    Row::new("gl_SubGroupLeMaskARB", "k", Role::SystemValue(S::SubgroupLeMask), BALLOT, Stages::ALL),
    Row::new("gl_SubGroupLtMaskARB", "k", Role::SystemValue(S::SubgroupLtMask), BALLOT, Stages::ALL),
];
