//! Inputs, outputs, system values and stage modes: checks the code of each, and that `spirv-val` accepts it for every
//! version.

use std::process::Command;

use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Compiler, Driver};

const TARGETS: &[&str] = &["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"];

fn tool(name: &str, arguments: &[&str], module: &[u8]) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("module.spv");
    std::fs::write(&path, module).expect("a file");
    let output = Command::new(name).args(arguments).arg(&path).output().expect("SPIRV-Tools");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Returns the assembly of a shader for a target with options, after validating it.
fn assembly(source: &str, environment: &str, options: &[&str]) -> String {
    let options: Vec<&str> = [environment].iter().chain(options).copied().collect();
    let compiler = Compiler::for_target(tgsi_driver_spirv::DRIVER.target(&options).expect("options").into());
    let Reading { source: read, findings, .. } = compiler.read(&TGSI_TEXT, source.as_bytes());
    let code = compiler.compile(read.unwrap_or_else(|| panic!("{source}{findings:?}"))).expect("code");
    let module = code.into_bytes();
    let (_, text) = tool("spirv-dis", &["--no-header", "--no-indent"], &module);
    let (valid, why) = tool("spirv-val", &["--target-env", environment], &module);
    assert!(valid, "{environment}: {why}\n{source}\n{text}");
    text
}

/// Checks for every target that the assembly of a shader contains each of the texts.
fn check(source: &str, options: &[&str], wanted: &[&str]) {
    for target in TARGETS {
        let text = assembly(source, target, options);
        for wanted in wanted {
            assert!(text.contains(wanted), "{target}: no {wanted}\n{source}\n{text}");
        }
    }
}

fn vertex(declarations: &str, code: &str) -> String {
    format!("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\n{declarations}MOV OUT[0], IN[0]\n{code}END\n")
}

fn fragment(declarations: &str, code: &str) -> String {
    format!("FRAG\nDCL OUT[0], COLOR\n{declarations}{code}END\n")
}

#[test]
fn outputs_of_vertices_are_built_ins_or_have_locations() {
    for (semantic, wanted) in [
        ("PSIZE", "BuiltIn PointSize"),
        ("LAYER", "BuiltIn Layer"),
        ("VIEWPORT_INDEX", "BuiltIn ViewportIndex"),
        ("CLIPDIST", "BuiltIn ClipDistance"),
        ("GENERIC[3]", "Location 3"),
        ("GENERIC[18]", "Location 18"),
        ("TEXCOORD[2]", "Location 21"),
        ("TEXCOORD[7]", "Location 26"),
        ("COLOR[1]", "Location 28"),
        ("BCOLOR", "Location 29"),
        ("FOG", "Location 31"),
        ("CLIPVERTEX", "Location 30"),
        ("GENERIC[19]", "Location 19"),
        ("GENERIC[31]", "Location 31"),
        ("EDGEFLAG", "BuiltIn Position"),
    ] {
        check(&vertex(&format!("DCL OUT[1], {semantic}\n"), "MOV OUT[1], IN[0]\n"), &[], &[wanted, "Invariant"]);
    }
}

#[test]
fn clip_and_cull_distances_are_arrays() {
    let source = "VERT\nPROPERTY NUM_CLIPDIST_ENABLED 1\nPROPERTY NUM_CULLDIST_ENABLED 2\nDCL IN[0]\nDCL OUT[0], \
                  POSITION\nDCL OUT[1], CLIPDIST\nMOV OUT[0], IN[0]\nMOV OUT[1], IN[0]\nEND\n";
    check(source, &[], &["OpCapability ClipDistance", "OpCapability CullDistance", "BuiltIn CullDistance"]);
}

#[test]
fn inputs_of_fragments_have_decorations() {
    for (declaration, wanted) in [
        ("GENERIC[0], CONSTANT", "Flat"),
        ("GENERIC[0], LINEAR", "NoPerspective"),
        ("GENERIC[0], PERSPECTIVE, CENTROID", "Centroid"),
        ("GENERIC[0], PERSPECTIVE, SAMPLE", "OpCapability SampleRateShading"),
        ("POSITION, LINEAR", "BuiltIn FragCoord"),
        ("FACE, CONSTANT", "BuiltIn FrontFacing"),
        ("PCOORD, LINEAR", "BuiltIn PointCoord"),
        ("PRIMID, CONSTANT", "BuiltIn PrimitiveId"),
        ("LAYER, CONSTANT", "BuiltIn Layer"),
        ("VIEWPORT_INDEX, CONSTANT", "BuiltIn ViewportIndex"),
    ] {
        check(
            &fragment(&format!("DCL IN[0], {declaration}\n"), "MOV OUT[0], IN[0]\n"),
            &[],
            &[wanted, "OriginUpperLeft"],
        );
    }
}

#[test]
fn outputs_of_fragments() {
    let value = "DCL CONST[0]\n";
    for (semantic, code, wanted) in [
        ("POSITION", "MOV OUT[1].z, CONST[0]\n", "DepthReplacing"),
        ("STENCIL", "MOV OUT[1].y, CONST[0]\n", "StencilRefReplacingEXT"),
        ("SAMPLEMASK", "MOV OUT[1].x, CONST[0]\n", "BuiltIn SampleMask"),
        ("COLOR[1]", "MOV OUT[1], CONST[0]\n", "Location 1"),
    ] {
        let source = fragment(&format!("DCL OUT[1], {semantic}\n{value}"), &format!("MOV OUT[0], CONST[0]\n{code}"));
        check(&source, &[], &[wanted]);
    }
    let two = fragment("DCL OUT[1], COLOR[1]\nDCL CONST[0]\n", "MOV OUT[0], CONST[0]\nMOV OUT[1], CONST[0]\n");
    check(&two, &["dual_source"], &["Index 0", "Index 1"]);
    let all = "FRAG\nPROPERTY FS_COLOR0_WRITES_ALL_CBUFS 1\nDCL OUT[0], COLOR\nDCL CONST[0]\nMOV OUT[0], \
               CONST[0]\nEND\n";
    check(all, &["eight_color_buffers"], &["Location 7"]);
}

#[test]
fn system_values() {
    for (semantic, wanted) in [
        ("VERTEXID", "BuiltIn VertexIndex"),
        ("VERTEXID_NOBASE", "BuiltIn BaseVertex"),
        ("INSTANCEID", "BuiltIn BaseInstance"),
        ("BASEVERTEX", "PushConstant"),
        ("DRAWID", "BuiltIn DrawIndex"),
    ] {
        let source = vertex(&format!("DCL SV[0], {semantic}\n"), "MOV OUT[0].x, SV[0].xxxx\n");
        check(&source, &[], &[wanted]);
    }
    for (semantic, wanted) in [
        ("SAMPLEID", "BuiltIn SampleId"),
        ("SAMPLEPOS", "BuiltIn SamplePosition"),
        ("SAMPLEMASK", "BuiltIn SampleMask"),
        ("FACE", "BuiltIn FrontFacing"),
        ("HELPER_INVOCATION", "BuiltIn HelperInvocation"),
    ] {
        check(&fragment(&format!("DCL SV[0], {semantic}\n"), "MOV OUT[0], SV[0].xxxx\n"), &[], &[wanted]);
    }
}

#[test]
fn conventions_are_options() {
    let plain = vertex("", "");
    check(&plain, &["flip_y"], &["OpFNegate"]);
    check(&plain, &["depth_minus_one_to_one"], &["OpFAdd"]);
    check(&plain, &["point_size"], &["BuiltIn PointSize"]);
    check(&plain, &["user_clip_planes"], &["OpDot", "PushConstant"]);
    let color = fragment("DCL IN[0], COLOR, COLOR\n", "MOV OUT[0], IN[0]\n");
    check(&color, &["two_sided"], &["Location 29", "BuiltIn FrontFacing"]);
    check(&color, &["flat_shading"], &["Flat"]);
    let lower = "FRAG\nPROPERTY FS_COORD_ORIGIN LOWER_LEFT\nPROPERTY FS_COORD_PIXEL_CENTER INTEGER\nDCL IN[0], \
                 POSITION, LINEAR\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0]\nEND\n";
    check(lower, &[], &["PushConstant", "OpFSub"]);
}

#[test]
fn stages_have_modes() {
    let geometry = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE TRIANGLES\nPROPERTY GS_OUTPUT_PRIMITIVE \
                    TRIANGLE_STRIP\nPROPERTY GS_MAX_OUTPUT_VERTICES 3\nPROPERTY GS_INVOCATIONS 2\nDCL IN[][0], \
                    POSITION\nDCL OUT[0], POSITION\nIMM[0] UINT32 {0, 0, 0, 0}\nMOV OUT[0], IN[1][0]\nEMIT \
                    IMM[0].xxxx\nENDPRIM IMM[0].xxxx\nEND\n";
    check(geometry, &[], &["Triangles", "OutputTriangleStrip", "OutputVertices 3", "Invocations 2", "OpEmitVertex"]);
    let kill = fragment("DCL IN[0], GENERIC[0], LINEAR\n", "KILL_IF IN[0]\nMOV OUT[0], IN[0]\n");
    assert!(assembly(&kill, "vulkan1.1", &[]).contains("OpKill"));
    assert!(assembly(&kill, "vulkan1.3", &[]).contains("OpTerminateInvocation"));
}

#[test]
fn the_interface_says_what_was_assigned() {
    let source = vertex("DCL OUT[1], GENERIC[3]\nDCL SV[0], BASEVERTEX\n", "MOV OUT[1], SV[0].xxxx\n");
    let compiler = Compiler::for_target(tgsi_driver_spirv::DRIVER.target(&[]).expect("options").into());
    let Reading { source: read, .. } = compiler.read(&TGSI_TEXT, source.as_bytes());
    let lowered = compiler.ir_at(tgsi_compiler::Stage::Registers, read.expect("a shader")).expect("IR");
    let interface = compiler.target().reflect(&lowered).expect("one").expect("one");
    assert_eq!(interface.outputs.len(), 1);
    assert_eq!((interface.outputs[0].semantic.as_deref(), interface.outputs[0].index), (Some("GENERIC"), 3));
    assert_eq!(interface.outputs[0].location, 3);
    assert_eq!(interface.built_in_outputs, ["Position"]);
    assert_eq!(interface.driver_parameters[0].name, "is_indexed");
    assert!(interface.capabilities.iter().any(|need| need.vulkan == "shaderDrawParameters"));
}

#[test]
fn float_controls_are_declared_where_there_are_floats() {
    let declarations = "DCL IN[0], GENERIC[0], PERSPECTIVE\n";
    let mode = "SignedZeroInfNanPreserve 32";
    let sum = fragment(declarations, "ADD OUT[0], IN[0], IN[0]\n");
    check(&sum, &["float_controls"], &[mode]);
    assert!(!assembly(&sum, "vulkan1.1", &["float_controls"]).contains("DenormPreserve"));
    let buffers = "COMP\nDCL BUFFER[0]\nIMM[0] UINT32 {0, 1, 2, 3}\nSTORE BUFFER[0].x, IMM[0].xxxx, IMM[0].yyyy\nEND\n";
    for (source, options) in [(buffers, &["float_controls"][..]), (&fragment(declarations, "MOV OUT[0], IN[0]\n"), &[])]
    {
        let text = assembly(source, "vulkan1.1", options);
        assert!(!text.contains("SignedZeroInfNanPreserve") && !text.contains("float_controls"), "{text}");
    }
}

#[test]
fn conventions_of_points_windows_and_domains() {
    let point = fragment("DCL IN[0], PCOORD, LINEAR\n", "MOV OUT[0], IN[0]\n");
    check(&point, &["point_origin_lower_left"], &["OpFSub", "BuiltIn PointCoord"]);
    assert!(!assembly(&point, "vulkan1.1", &[]).contains("OpFSub"));
    let domain = |property: &str| {
        format!(
            "TESS_EVAL\nPROPERTY TES_VERTEX_ORDER_CW {property}\nDCL IN[][0], \
             POSITION\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0][0]\nEND\n"
        )
    };
    for (property, plain, other) in [("0", "VertexOrderCcw", "VertexOrderCw"), ("1", "VertexOrderCw", "VertexOrderCcw")]
    {
        check(&domain(property), &[], &[plain]);
        check(&domain(property), &["tess_origin_lower_left"], &[other]);
    }
    let window = format!("VERT\nPROPERTY VS_WINDOW_SPACE_POSITION 1\n{}", &vertex("", "")["VERT\n".len()..]);
    check(&window, &["user_clip_planes"], &["OpVectorTimesScalar", "OpFDiv", "window_scale", "window_offset"]);
}

/// Checks the decorations of stream output, and the number of outputs.
fn check_stream_output(source: &str, entries: &str, wanted: &[&str], outputs: usize) {
    let option = format!("stream_output={entries}");
    for target in TARGETS {
        let text = assembly(source, target, &[&option]);
        for wanted in ["OpCapability TransformFeedback", " Xfb\n"].iter().chain(wanted) {
            assert!(text.contains(wanted), "{target} {entries}: no {wanted}\n{text}");
        }
        let count = text.lines().filter(|line| line.contains("OpVariable") && line.contains(" Output")).count();
        assert_eq!(count, outputs, "{target} {entries}\n{text}");
    }
}

#[test]
fn stream_output_decorates_or_copies() {
    let source = vertex("DCL OUT[1], GENERIC[3]\n", "ADD OUT[1], IN[0], IN[0]\n");
    // A whole output is captured without a copy.
    check_stream_output(&source, "OUT[1]->1@16/32", &["XfbBuffer 1", "XfbStride 32", "Offset 16", "Location 3"], 2);
    // A part, a built-in, or an output captured before is copied to a separate variable.
    check_stream_output(&source, "OUT[1].yz->0@0/8", &["Location 4", "Offset 0", "XfbStride 8"], 3);
    check_stream_output(&source, "OUT[0]->0@0/16", &["Location 4"], 3);
    check_stream_output(&source, "OUT[1]->0@0/16,OUT[1]->1@0/16", &["XfbBuffer 0", "XfbBuffer 1", "Location 4"], 3);
    // An output that is declared but not written is zero.
    let unwritten = vertex("DCL OUT[1], GENERIC[3]\nDCL OUT[5], GENERIC[7]\n", "ADD OUT[1], IN[0], IN[0]\n");
    check_stream_output(&unwritten, "OUT[5].x->0@0/4", &["Offset 0", "XfbStride 4"], 4);
    // A position is captured before it is transformed for the rasteriser.
    let text = assembly(&source, "vulkan1.1", &["flip_y", "stream_output=OUT[0].y->0@0/4"]);
    let stores = text.lines().filter(|line| line.starts_with("OpStore")).count();
    assert_eq!(stores, 3, "{text}");
    assert!(text.find("OpStore %stream_output0").expect("a copy") < text.find("OpFNegate").expect("a move"), "{text}");
}

#[test]
fn stream_output_of_geometry_shaders_comes_before_each_vertex() {
    let source = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\nPROPERTY \
                  GS_MAX_OUTPUT_VERTICES 2\nDCL IN[][0], POSITION\nDCL OUT[0], POSITION\nDCL OUT[1], \
                  GENERIC[0], STREAM(1,1,1,1)\nIMM[0] UINT32 {0, 1, 0, 0}\nMOV OUT[0], IN[0][0]\nEMIT \
                  IMM[0].xxxx\nMOV OUT[1], IN[0][0].yxzw\nEMIT IMM[0].yyyy\nEND\n";
    check_stream_output(source, "OUT[0].xy->0@0/8,OUT[1]->1@0/16:1", &["Stream 1", "OpEmitStreamVertex"], 3);
    let text = assembly(source, "vulkan1.1", &["stream_output=OUT[0].xy->0@0/8"]);
    assert_eq!(text.matches("OpStore %stream_output0").count(), 2, "{text}");
}

#[test]
fn stream_output_that_there_is_not_is_an_error() {
    let error = tgsi_driver_spirv::DRIVER.target(&["stream_output=OUT[0]->9@0/16"]).expect_err("an error");
    assert!(error.to_string().contains("numbered 0 to 3"), "{error}");
    let source = vertex("", "");
    for (option, wanted) in
        [("OUT[0]->0@0/16:1", "only geometry shaders"), ("OUT[5].x->0@0/4", "OUT[5] is not declared")]
    {
        let target = tgsi_driver_spirv::DRIVER.target(&[&format!("stream_output={option}")]).expect("options");
        let compiler = Compiler::for_target(target.into());
        let Reading { source: read, .. } = compiler.read(&TGSI_TEXT, source.as_bytes());
        let error = compiler.compile(read.expect("a shader")).expect_err("an error");
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn the_memory_model_of_vulkan_speaks_of_accesses() {
    let model = |source: &str, environment: &str| assembly(source, environment, &["vulkan_memory_model"]);
    let compute = |qualifiers: &str, barrier: &str| {
        format!(
            "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 4\nDCL BUFFER[0]\nDCL IMAGE[0], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL \
             MEMORY[0], SHARED\nDCL TEMP[0..1]\nIMM[0] UINT32 {{0, 4, 8, 12}}\nLOAD TEMP[0].x, BUFFER[0], \
             IMM[0].xxxx{qualifiers}\nSTORE MEMORY[0].x, IMM[0].xxxx, TEMP[0].xxxx\n{barrier}LOAD TEMP[1].x, MEMORY[0], \
             IMM[0].yyyy\nSTORE BUFFER[0].x, IMM[0].zzzz, TEMP[1].xxxx{qualifiers}\nLOAD TEMP[1], IMAGE[0], \
             IMM[0].xyyy, 2D, PIPE_FORMAT_R32_UINT\nSTORE IMAGE[0].x, IMM[0].xyyy, TEMP[1].xxxx, 2D, \
             PIPE_FORMAT_R32_UINT\nATOMUADD TEMP[0].x, BUFFER[0], IMM[0].wwww, TEMP[1].xxxx\nEND\n"
        )
    };
    for environment in ["vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        let text = model(&compute(", COHERENT", "BARRIER\n"), environment);
        for wanted in [
            "OpMemoryModel Logical Vulkan",
            "OpCapability VulkanMemoryModel",
            "MakePointerVisible|NonPrivatePointer",
            "MakePointerAvailable|NonPrivatePointer",
            " NonPrivateTexel",
        ] {
            assert!(text.contains(wanted), "{environment}: no {wanted}\n{text}");
        }
        assert!(!text.contains(" Coherent") && !text.contains("DeviceScope"), "{text}");
        let text = model(&compute(", VOLATILE", ""), environment);
        assert!(text.contains("Volatile|MakePointerVisible|NonPrivatePointer"), "{text}");
    }
    let text = assembly(&compute(", COHERENT", "BARRIER\n"), "vulkan1.2", &[]);
    assert!(text.contains("Logical GLSL450") && text.contains(" Coherent") && !text.contains("NonPrivate"), "{text}");
    // Outputs of a patch are visible after a barrier.
    let control = "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 3\nDCL IN[][0], POSITION\nDCL OUT[][0], POSITION\nDCL SV[0], \
                   INVOCATIONID\nDCL ADDR[0]\nUARL ADDR[0].x, SV[0].xxxx\nMOV OUT[ADDR[0].x][0], \
                   IN[ADDR[0].x][0]\nBARRIER\nEND\n";
    // AcquireRelease, OutputMemory, MakeAvailable and MakeVisible.
    let semantics = 0x8 | 0x1000 | 0x2000 | 0x4000;
    let text = model(control, "vulkan1.2");
    assert!(text.contains(&format!("OpConstant %uint {semantics}")), "{text}");
}

/// Too many slots are an error, rather than two variables at one location.
#[test]
fn two_slots_at_one_location_are_an_error() {
    let error = |options: &[&str], source: &str| {
        let compiler = Compiler::for_target(tgsi_driver_spirv::DRIVER.target(options).expect("options").into());
        let Reading { source: read, .. } = compiler.read(&TGSI_TEXT, source.as_bytes());
        compiler.compile(read.expect("a shader")).map(|_| ()).map_err(|error| error.to_string())
    };
    let vertex = |slots: [&str; 2]| {
        vertex(
            &format!("DCL OUT[1], {}\nDCL OUT[2], {}\n", slots[0], slots[1]),
            "MOV OUT[1], IN[0]\nMOV OUT[2], IN[0]\n",
        )
    };
    assert_eq!(error(&[], &vertex(["GENERIC[18]", "TEXCOORD[0]"])), Ok(()));
    let said = error(&[], &vertex(["GENERIC[19]", "TEXCOORD[0]"])).expect_err("one location");
    assert_eq!(said, "GENERIC[19] and TEXCOORD[0] are both at location 19, unless the shader is linked");
    let control = "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 1\nDCL OUT[][0], GENERIC[24]\nDCL OUT[1], PATCH[0]\nDCL CONST[0][0]\n\
                   MOV OUT[0][0], CONST[0][0]\nMOV OUT[1], CONST[0][0]\nEND\n";
    assert!(error(&[], control).is_err());
    assert_eq!(error(&["glsl"], control), Ok(()));
    let evaluation = "TESS_EVAL\nPROPERTY TES_PRIM_MODE 4\nDCL IN[][0], GENERIC[24]\nDCL IN[1], PATCH[0]\nDCL OUT[0], POSITION\n\
                      ADD OUT[0], IN[0][0], IN[1]\nEND\n";
    assert!(error(&[], evaluation).is_err());
    assert_eq!(error(&["glsl"], evaluation), Ok(()));
    let back = "FRAG\nDCL IN[0], COLOR, COLOR\nDCL IN[1], GENERIC[29], PERSPECTIVE\nDCL OUT[0], COLOR\nADD OUT[0], IN[0], IN[1]\nEND\n";
    assert_eq!(error(&[], back), Ok(()));
    assert!(error(&["two_sided"], back).is_err());
}

/// A dynamic index into several inputs is compared on robust devices, too.
#[test]
fn an_input_at_a_run_time_index_is_selected() {
    let source = "FRAG\nDCL IN[0..1], ARRAY(1), GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0]\nDCL ADDR[0]\n\
                  UARL ADDR[0].x, CONST[0][0].xxxx\nMOV OUT[0], IN[ADDR[0].x](1)\nEND\n";
    let selections = |options: &[&str]| {
        let text = assembly(source, "vulkan1.1", options);
        text.lines().filter(|line| line.contains("OpSelect ")).count()
    };
    assert_eq!([selections(&["portable"]), selections(&["portable", "robust"])], [2, 2]);
}
