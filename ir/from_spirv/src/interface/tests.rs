//! Tests of locations, built-ins, modes and the function that stores outputs.

use pretty_assertions::assert_eq;
use tgsi_ir::shader::ShaderStage::{Compute, Fragment, Geometry, TessCtrl, TessEval, Vertex};
use tgsi_ir::slots::{FragResult, VaryingSlot};
use tgsi_ir::text::print;
use tgsi_ir::variable::VariableModes;

use crate::compile::Module;
use crate::options::{Depth, Environment, SpirvOptions};
use crate::tests::entries::{codes, entry, read, read_with};

/// Inputs or outputs: name, location, register.
fn variables(module: &Module, mode: VariableModes) -> Vec<(String, i32, u32)> {
    let mut found: Vec<_> = module
        .shader
        .globals_with(mode)
        .map(|(_, data)| (data.name.clone(), data.location, data.driver_location))
        .collect();
    found.sort_by_key(|(name, location, _)| (*location, name.clone()));
    found
}

fn outputs(module: &Module) -> Vec<(String, i32, u32)> {
    variables(module, VariableModes::SHADER_OUT)
}

/// `gl_PerVertex`, with two clip and three cull distances.
const PER_VERTEX: &str = "OpName %block \"gl_PerVertex\"
    OpMemberName %block 0 \"gl_Position\"
    OpMemberDecorate %block 0 BuiltIn Position
    OpMemberDecorate %block 1 BuiltIn PointSize
    OpMemberDecorate %block 2 BuiltIn ClipDistance
    OpMemberDecorate %block 3 BuiltIn CullDistance
    OpDecorate %block Block
    %clip = OpTypeArray %float %2
    %cull = OpTypeArray %float %3
    %block = OpTypeStruct %v4 %float %clip %cull
    %to_block = OpTypePointer Output %block
    %to_v4 = OpTypePointer Output %v4
    %to_float = OpTypePointer Output %float
    %out = OpVariable %to_block Output";

const POSITION: &str = "%position = OpAccessChain %to_v4 %out %0
    OpStore %position %ones";

#[test]
fn members_that_are_not_written_are_not_outputs() {
    let module = read(&entry(Vertex, "%out", PER_VERTEX, POSITION));
    assert_eq!(outputs(&module), [("gl_Position".to_owned(), 0, 0)]);
    assert_eq!(module.shader.info.outputs_written, 1);
    assert_eq!(module.shader.info.clip_distance_array_size, 0);
    assert_eq!(module.interface.outputs.len(), 1);
    assert_eq!(module.interface.outputs[0].ty, "vec4");
}

#[test]
fn cull_distances_follow_clip_distances_that_are_used() {
    let cull = "%last = OpAccessChain %to_float %out %3 %2
        OpStore %last %f1";
    let alone = read(&entry(Vertex, "%out", PER_VERTEX, cull));
    let slot = i32::from(VaryingSlot::CLIP_DIST0);
    assert_eq!(outputs(&alone), [("clip_distances_0".to_owned(), slot, 0)]);
    assert_eq!((alone.shader.info.clip_distance_array_size, alone.shader.info.cull_distance_array_size), (0, 3));
    let clip = "%first = OpAccessChain %to_float %out %2 %0
        OpStore %first %f1";
    let both = read(&entry(Vertex, "%out", PER_VERTEX, &format!("{cull}\n{clip}")));
    assert_eq!((both.shader.info.clip_distance_array_size, both.shader.info.cull_distance_array_size), (2, 3));
    assert_eq!(outputs(&both).len(), 2);
    let text = print(&both.shader);
    // The last cull distance is the first component of the second vector.
    assert!(text.contains("clip_distances_1") && text.contains("wrmask=x,"), "{text}");
}

#[test]
fn initialisers_write_outputs_of_the_interface() {
    let declarations = "OpDecorate %o Location 1
        OpDecorate %other Location 2
        %to_v4 = OpTypePointer Output %v4
        %o = OpVariable %to_v4 Output %ones
        %other = OpVariable %to_v4 Output %ones";
    let module = read(&entry(Fragment, "%o", declarations, ""));
    assert_eq!(outputs(&module), [("out_1".to_owned(), i32::from(FragResult::DATA0) + 1, 0)]);
}

#[test]
fn members_without_location_follow_the_one_before() {
    let declarations = "OpMemberName %block 3 \"last\"
        OpMemberDecorate %block 0 Location 2
        OpDecorate %block Block
        OpName %out \"v\"
        %array = OpTypeArray %v2 %3
        %block = OpTypeStruct %d3 %m2 %array %float
        %to_block = OpTypePointer Output %block
        %to_v2 = OpTypePointer Output %v2
        %to_float = OpTypePointer Output %float
        %ones2 = OpConstantComposite %v2 %f1 %f1
        %out = OpVariable %to_block Output";
    let code = "%a = OpAccessChain %to_float %out %3
        OpStore %a %f1
        %b = OpAccessChain %to_v2 %out %2 %1
        OpStore %b %ones2";
    let module = read(&entry(Vertex, "%out", declarations, code));
    // Two for the doubles, two for the matrix, three for the array, of which the second element is written.
    let first = i32::from(VaryingSlot::VAR0) + 2;
    assert_eq!(
        outputs(&module),
        [("v.member_2[1]".to_owned(), first + 5, 0), ("v.last".to_owned(), first + 7, 1)]
            .map(|(name, location, register)| (name.replace("member_2", "2"), location, register))
    );
}

#[test]
fn components_share_a_register() {
    let declarations = "OpDecorate %a Location 1
        OpDecorate %b Location 1
        OpDecorate %b Component 2
        OpDecorate %c Location 40
        %to_v2 = OpTypePointer Input %v2
        %a = OpVariable %to_v2 Input
        %b = OpVariable %to_v2 Input
        %c = OpVariable %to_v2 Input";
    let code = "%x = OpLoad %v2 %a
        %y = OpLoad %v2 %b
        %z = OpLoad %v2 %c";
    let module = read(&entry(Fragment, "%a %b %c", declarations, code));
    let slot = i32::from(VaryingSlot::VAR0) + 1;
    let found = variables(&module, VariableModes::SHADER_IN);
    assert_eq!(
        found.iter().map(|(_, location, register)| (*location, *register)).collect::<Vec<_>>(),
        [(slot, 0), (slot, 0), (0x1_0000 * 6 + 40, 1)]
    );
    let wide = declarations.replace("Component 2", "Component 3");
    assert_eq!(codes(&entry(Fragment, "%a %b %c", &wide, code)), ["T1519"]);
}

#[test]
fn damaged_interfaces_are_errors() {
    let input = |decorations: &str, ty: &str| {
        let declarations = format!(
            "{decorations}
            %to = OpTypePointer Input {ty}
            %a = OpVariable %to Input"
        );
        codes(&entry(Fragment, "%a", &declarations, &format!("%x = OpLoad {ty} %a")))
    };
    assert_eq!(input("OpDecorate %a Location 0", "%int"), ["T1534"]);
    assert_eq!(input("OpDecorate %a Location 0\nOpDecorate %a Flat", "%int"), [""; 0]);
    assert_eq!(input("", "%float"), ["T1530"]);
    assert_eq!(input("OpDecorate %a Location 70000", "%float"), ["T1519"]);
    assert_eq!(input("OpDecorate %a Location 0", "%bool"), ["T1524"]);
    assert_eq!(input("OpDecorate %a BuiltIn ViewIndex", "%int"), ["T1512"]);
    assert_eq!(input("OpDecorate %a BuiltIn FragCoord", "%v3"), ["T1524"]);
    assert_eq!(input("OpDecorate %a BuiltIn FragDepth", "%float"), ["T1512"]);
    let store = "OpDecorate %a Location 0
        %to = OpTypePointer Input %float
        %a = OpVariable %to Input";
    assert_eq!(codes(&entry(Fragment, "%a", store, "OpStore %a %f1")), ["T1524"]);
}

#[test]
fn positions_follow_the_conventions_of_the_consumer() {
    let text = entry(Vertex, "%out", PER_VERTEX, POSITION);
    let options = SpirvOptions { flip_y: true, depth: Depth::MinusOneToOne, ..SpirvOptions::default() };
    let has_code = |text: &str| {
        let module = read_with(text, &options).module.expect("no errors");
        let text = print(&module.shader);
        text.contains("fneg") && text.contains("fsub")
    };
    assert!(has_code(&text));
    // The positions of a vertex shader before a geometry shader are not those of the rasteriser.
    let both = format!("OpEntryPoint Geometry %main \"other\"\n{text}");
    let options = SpirvOptions { entry: Some("main".to_owned()), ..options.clone() };
    let module = read_with(&both, &options).module.expect("no errors");
    assert!(!print(&module.shader).contains("fneg"));
    assert_eq!(module.shader.info.next_stage, Some(Geometry));
}

#[test]
fn vertices_are_those_of_the_primitive() {
    let declarations = "OpExecutionMode %main Triangles
        OpExecutionMode %main OutputTriangleStrip
        OpExecutionMode %main OutputVertices 4
        OpDecorate %a Location 0
        %array = OpTypeArray %v4 %3
        %to_array = OpTypePointer Input %array
        %to_v4 = OpTypePointer Input %v4
        %a = OpVariable %to_array Input";
    let code = "%p = OpAccessChain %to_v4 %a %2
        %x = OpLoad %v4 %p";
    let module = read(&entry(Geometry, "%a", declarations, code));
    let info = &module.shader.info.gs;
    assert_eq!((info.input_primitive.as_str(), info.vertices_in, info.vertices_out), ("TRIANGLES", 3, 4));
    assert!(module.shader.globals_with(VariableModes::SHADER_IN).all(|(_, data)| data.per_vertex));
    let few = declarations.replace("Triangles\n", "InputLines\n");
    assert_eq!(codes(&entry(Geometry, "%a", &few, code)), ["T1524"]);
}

#[test]
fn outputs_of_tessellation_control_are_stored_at_once() {
    let declarations = "OpExecutionMode %main OutputVertices 3
        OpDecorate %a Location 0
        OpDecorate %levels BuiltIn TessLevelOuter
        OpDecorate %levels Patch
        %array = OpTypeArray %v4 %3
        %outer = OpTypeArray %float %4
        %to_array = OpTypePointer Output %array
        %to_outer = OpTypePointer Output %outer
        %to_v4 = OpTypePointer Output %v4
        %to_float = OpTypePointer Output %float
        %a = OpVariable %to_array Output
        %levels = OpVariable %to_outer Output";
    let code = "%p = OpAccessChain %to_v4 %a %2
        OpStore %p %ones
        %q = OpAccessChain %to_float %levels %1
        OpStore %q %f1";
    let module = read(&entry(TessCtrl, "%a %levels", declarations, code));
    let slot = i32::from(VaryingSlot::TESS_LEVEL_OUTER);
    assert_eq!(
        outputs(&module),
        [("gl_TessLevelOuter".to_owned(), slot, 0), ("out_0".to_owned(), i32::from(VaryingSlot::VAR0), 1)]
    );
    assert!(module.shader.globals_with(VariableModes::SHADER_TEMP).next().is_none());
}

#[test]
fn stages_of_tessellation_share_modes() {
    let control = "OpEntryPoint TessellationControl %control \"control\"
        OpExecutionMode %control Isolines
        OpExecutionMode %control SpacingFractionalOdd
        OpExecutionMode %control OutputVertices 3
        OpExecutionMode %main VertexOrderCw
        %control = OpFunction %void 0 %fn
        %block = OpLabel
        OpReturn
        OpFunctionEnd";
    let text = entry(TessEval, "", control, "");
    let options = SpirvOptions { entry: Some("main".to_owned()), ..SpirvOptions::default() };
    let tess = read_with(&text, &options).module.expect("no errors").shader.info.tess;
    assert_eq!((tess.primitive_mode, tess.spacing, tess.ccw, tess.tcs_vertices_out), (3, 2, false, 3));
}

#[test]
fn decorated_constants_take_precedence_over_local_size() {
    let size = |declarations: &str| read(&entry(Compute, "", declarations, "")).shader.info.workgroup_size;
    let local = "OpExecutionMode %main LocalSize 8 4 2";
    assert_eq!(size(local), [8, 4, 2]);
    let ids = "OpExecutionModeId %main LocalSizeId %8 %2 %1";
    assert_eq!(size(ids), [8, 2, 1]);
    let decorated = "OpDecorate %size BuiltIn WorkgroupSize\n%size = OpConstantComposite %u3 %3 %2 %1";
    assert_eq!(size(&format!("{local}\n{decorated}")), [3, 2, 1]);
    assert_eq!(codes(&entry(Compute, "", "OpExecutionMode %main LocalSize 8 0 2", "")), ["T1519"]);
}

#[test]
fn float_modes_are_bits_with_warnings() {
    let modes = "OpExecutionMode %main SignedZeroInfNanPreserve 32
        OpExecutionMode %main DenormFlushToZero 16";
    let text = entry(Compute, "", modes, "");
    assert_eq!(codes(&text), ["T1533"]);
    assert_eq!(read(&text).shader.info.float_controls_execution_mode.0, 1 << 1 | 1 << 4 | 1 << 7 | 1 << 12);
}

#[test]
fn locations_of_our_own_modules_name_semantics() {
    let declarations = "OpDecorate %a Location 20
        OpDecorate %b Location 28
        %to_v4 = OpTypePointer Output %v4
        %a = OpVariable %to_v4 Output
        %b = OpVariable %to_v4 Output";
    let text = entry(Vertex, "%a %b", declarations, "OpStore %a %ones\nOpStore %b %ones");
    let options = SpirvOptions { environment: Some(Environment::Tgsic), ..SpirvOptions::default() };
    let module = read_with(&text, &options).module.expect("no errors");
    let found: Vec<i32> = outputs(&module).into_iter().map(|(_, location, _)| location).collect();
    assert_eq!(found, [i32::from(VaryingSlot::COL0) + 1, i32::from(VaryingSlot::TEX0) + 1]);
}

#[test]
fn stream_output_is_described() {
    let declarations = "OpExecutionMode %main Xfb
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %out XfbBuffer 1
        OpDecorate %out XfbStride 64
        OpDecorate %a Location 2
        OpDecorate %a Component 1
        OpDecorate %a Offset 16
        OpDecorate %a XfbBuffer 1
        OpDecorate %a XfbStride 64
        OpDecorate %m Location 3
        OpDecorate %m Offset 24
        OpDecorate %m XfbBuffer 1
        OpDecorate %m XfbStride 64
        %to_v2 = OpTypePointer Output %v2
        %to_m2 = OpTypePointer Output %m2
        %ones2 = OpConstantComposite %v2 %f1 %f1
        %unit = OpConstantComposite %m2 %ones2 %ones2
        %a = OpVariable %to_v2 Output
        %m = OpVariable %to_m2 Output";
    let code = format!("{POSITION}\nOpStore %a %ones2\nOpStore %m %unit");
    let module = read(&entry(Vertex, "%out %a %m", &format!("{PER_VERTEX}\n{declarations}"), &code));
    assert_eq!(module.shader.info.xfb_stride, [0, 16, 0, 0]);
    assert_eq!(
        module.interface.stream_output,
        "OUT[0].xyzw->1@0/64,OUT[1].yz->1@16/64,OUT[2].xy->1@24/64,OUT[3].xy->1@32/64"
    );
}
