//! Tests the declarations, bindings and names in texts of GLSL and ESSL.
#![cfg(feature = "spirv-cross")]

use std::collections::BTreeSet;

use tgsi_compiler::{Compiler, Driver, Source};
use tgsi_driver_spirv_text::{ESSL, GLSL, MSL, Text};
use tgsi_ir::passes::linking::LinkOptions;

fn compiler(driver: &Text, options: &[&str]) -> Compiler {
    Compiler::for_target(driver.target(options).expect("known options").into())
}

fn parse(text: &str) -> tgsi::Shader {
    tgsi::text::parse(text.as_bytes()).unwrap_or_else(|findings| panic!("{findings:?}\n{text}")).shader
}

fn translate(driver: &Text, options: &[&str], text: &str) -> String {
    let code = compiler(driver, options).compile(parse(text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    String::from_utf8(code.into_bytes()).expect("a text")
}

/// Links the shaders of a program.
fn link(driver: &Text, texts: &[&str]) -> Vec<String> {
    let shaders: Vec<tgsi::Shader> = texts.iter().map(|text| parse(text)).collect();
    let sources = shaders.iter().map(Source::from).collect();
    let program = compiler(driver, &[]).link(sources, &LinkOptions::default()).expect("a program");
    program.shaders.into_iter().map(|shader| String::from_utf8(shader.code.into_bytes()).expect("a text")).collect()
}

/// Returns the sorted bindings in declarations that contain `word`.
fn bindings(text: &str, word: &str) -> Vec<u32> {
    let of = |line: &str| {
        let (_, rest) = line.split_once("binding = ")?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let mut numbers: Vec<u32> =
        text.lines().filter(|line| line.starts_with("layout(") && line.contains(word)).filter_map(of).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn every_kind_of_resource_is_numbered() {
    let text = "FRAG\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SAMP[3]\nDCL SVIEW[2], 2D, FLOAT\nDCL SVIEW[3], 2D_MSAA, FLOAT\n\
        DCL SVIEW[4], 3D, FLOAT\nDCL SVIEW[5], BUFFER, SINT\nDCL SVIEW[6], BUFFER, FLOAT\nDCL CONST[1][0..1]\n\
        DCL CONST[4][0..1]\nDCL BUFFER[1]\nDCL BUFFER[3]\nDCL HWATOMIC[0][0]\nDCL IMAGE[2], 2D, PIPE_FORMAT_R32_FLOAT, WR\n\
        DCL IMAGE[5], BUFFER, PIPE_FORMAT_R32_FLOAT, WR\nDCL TEMP[0..9]\nIMM[0] INT32 {0, 0, 0, 0}\n\
        GATHER4 TEMP[0], IMM[0], SVIEW[2], SAMP[0]\nSAMPLE_I_MS TEMP[1], IMM[0], SVIEW[3], IMM[0]\n\
        SAMPLE TEMP[2], IMM[0], SVIEW[4], SAMP[3]\nSAMPLE_I TEMP[3], IMM[0], SVIEW[5]\nSAMPLE_I TEMP[4], IMM[0], SVIEW[6]\n\
        LOAD TEMP[5], IMAGE[2], IMM[0], 2D, PIPE_FORMAT_R32_FLOAT\nLOAD TEMP[6], IMAGE[5], IMM[0], BUFFER, PIPE_FORMAT_R32_FLOAT\n\
        LOAD TEMP[7].x, BUFFER[1], IMM[0].xxxx\nLOAD TEMP[8].x, BUFFER[3], IMM[0].xxxx\n\
        ATOMUADD TEMP[9].x, HWATOMIC[0], IMM[0].xxxx, IMM[0].xxxx\nADD TEMP[0], TEMP[0], TEMP[1]\nADD TEMP[0], TEMP[0], TEMP[2]\n\
        ADD TEMP[0], TEMP[0], TEMP[3]\nADD TEMP[0], TEMP[0], TEMP[4]\nADD TEMP[0], TEMP[0], TEMP[5]\n\
        ADD TEMP[0], TEMP[0], TEMP[6]\nADD TEMP[0], TEMP[0], TEMP[7].xxxx\nADD TEMP[0], TEMP[0], TEMP[8].xxxx\n\
        ADD TEMP[0], TEMP[0], TEMP[9].xxxx\nADD TEMP[0], TEMP[0], CONST[1][0]\nADD OUT[0], TEMP[0], CONST[4][1]\nEND\n";
    for driver in [&GLSL, &ESSL] {
        let text = translate(driver, &[], text);
        let name = driver.name();
        assert_eq!(bindings(&text, "uniform fs_const"), [0, 1], "{name}: {text}");
        assert_eq!(bindings(&text, "buffer fs_"), [0, 1, 2], "{name}: {text}");
        assert_eq!(bindings(&text, "ampler"), [0, 1, 2, 3, 4], "{name}: {text}");
        assert_eq!(bindings(&text, "image"), [0, 1], "{name}: {text}");
        let listed = text.lines().filter(|line| line.starts_with("// ")).count();
        assert_eq!(listed, 12, "{name}: {text}");
    }
}

const TWO_STAGES: [&str; 2] = [
    "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL CONST[0][0..9]\nDCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\n\
     IMM[0] FLT32 {0.0, 0.0, 0.0, 0.0}\nMOV OUT[0], IN[0]\nDCL TEMP[0]\nTXL TEMP[0], IMM[0], SAMP[0], 2D\n\
     ADD OUT[1], CONST[0][9], TEMP[0]\nEND\n",
    "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL OUT[0], COLOR\nDCL CONST[0][0..1]\nDCL CONST[2][0]\nDCL SAMP[0]\n\
     DCL SVIEW[0], 3D, FLOAT\nDCL TEMP[0]\nTEX TEMP[0], IN[0], SAMP[0], 3D\nADD TEMP[0], TEMP[0], CONST[2][0]\n\
     ADD OUT[0], CONST[0][1], TEMP[0]\nEND\n",
];

/// In a program, resources with the same name are one resource, and all stages share the bindings.
#[test]
fn stages_of_a_program_have_resources_of_their_own() {
    for driver in [&GLSL, &ESSL] {
        let name = driver.name();
        let [vertex, fragment] = TWO_STAGES.map(|text| translate(driver, &[], text));
        for (text, prefix) in [(&vertex, "vs_"), (&fragment, "fs_")] {
            assert!(text.contains(&format!("uniform {prefix}const0")), "{name}: {text}");
            assert!(text.contains(&format!(" {prefix}samp0;")), "{name}: {text}");
        }
        let linked = link(driver, &TWO_STAGES);
        assert_eq!(bindings(&linked[0], "uniform vs_const"), [0], "{name}: {}", linked[0]);
        assert_eq!(bindings(&linked[1], "uniform fs_const"), [1, 2], "{name}: {}", linked[1]);
        assert_eq!(bindings(&linked[0], "sampler"), [0], "{name}: {}", linked[0]);
        assert_eq!(bindings(&linked[1], "sampler"), [1], "{name}: {}", linked[1]);
        assert!(linked[1].contains("// uniform buffer 2: set 0, binding 130"), "{name}: {}", linked[1]);
        // Resources keep their names without the option for names of variables.
        let text = translate(driver, &["no_names"], TWO_STAGES[1]);
        assert!(text.contains("uniform fs_uniform_buffer0") && text.contains(" fs_texture0;"), "{name}: {text}");
    }
}

/// ESSL compares the interpolation of both sides.
#[test]
fn linked_outputs_are_interpolated_as_they_are_read() {
    for driver in [&GLSL, &ESSL] {
        let linked = link(driver, &TWO_STAGES);
        assert!(linked[0].contains("flat out vec4"), "{}", linked[0]);
        assert!(linked[1].contains("flat in vec4"), "{}", linked[1]);
        // The interpolation of the source's output applies if nothing else is known.
        let declared = TWO_STAGES[0].replace("DCL OUT[1], GENERIC[0]", "DCL OUT[1], GENERIC[0], CONSTANT");
        assert!(translate(driver, &[], &declared).contains("flat out vec4"));
        assert!(!translate(driver, &[], TWO_STAGES[0]).contains("flat out vec4"));
    }
}

#[test]
fn inputs_at_samples_are_declared_as_their_outputs() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE, SAMPLE\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0]\nEND\n";
    for (driver, options) in [(&GLSL, &[][..]), (&ESSL, &[]), (&ESSL, &["essl310"])] {
        let text = translate(driver, options, text);
        assert!(!text.contains("sample in") && text.contains("interpolateAtSample(in_0, gl_SampleID)"), "{text}");
    }
}

/// Slots that form an array on one side only are variables on both.
#[test]
fn arrays_between_stages_are_variables() {
    let fragment = "FRAG\nDCL IN[0..2], ARRAY(1), GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0]\nDCL ADDR[0]\n\
        UARL ADDR[0].x, CONST[0][0].xxxx\nMOV OUT[0], IN[ADDR[0].x](1)\nEND\n";
    for options in [&[][..], &["robust"]] {
        for driver in [&GLSL, &ESSL] {
            let text = translate(driver, options, fragment);
            for location in 0..3 {
                assert!(text.contains(&format!("layout(location = {location}) in vec4 in_0")), "{text}");
            }
            // A dynamic index is compared on robust devices, too.
            for element in ["== 0u", "== 1u", "== 2u"] {
                assert!(text.contains(element), "{options:?}: {text}");
            }
        }
    }
}

#[test]
fn slots_of_patches_are_found_by_name() {
    let text = "TESS_EVAL\nPROPERTY TES_PRIM_MODE 4\nDCL IN[][0], GENERIC[3]\nDCL IN[1], PATCH[0]\nDCL OUT[0], POSITION\n\
        ADD OUT[0], IN[0][0], IN[1]\nEND\n";
    for driver in [&GLSL, &ESSL] {
        let text = translate(driver, &[], text);
        assert!(text.contains("\npatch in vec4 patch24;") && text.contains("layout(location = 3) in vec4"), "{text}");
    }
}

/// The lengths of arrays of distances follow from their constant indices, so that both sides agree.
#[test]
fn distances_are_declared_by_their_writers_alone() {
    let inputs = "DCL IN[][0], CLIPDIST[0]\nDCL OUT[0], POSITION\n";
    let evaluation = format!("TESS_EVAL\nPROPERTY TES_PRIM_MODE 4\n{inputs}MOV OUT[0], IN[0][0]\nEND\n");
    let control = "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 3\nDCL SV[0], INVOCATIONID\nDCL OUT[][0], POSITION\n\
        DCL OUT[][1], CLIPDIST[0]\nDCL CONST[0][0]\nDCL ADDR[0]\nUARL ADDR[0].x, SV[0].xxxx\n\
        MOV OUT[ADDR[0].x][0], CONST[0][0]\nMOV OUT[ADDR[0].x][1], CONST[0][0]\nEND\n";
    for driver in [&GLSL, &ESSL] {
        let text = translate(driver, &[], &evaluation);
        assert!(text.contains("gl_in[0u].gl_ClipDistance[3u]") && !text.contains("out float"), "{text}");
        let text = translate(driver, &[], control);
        assert!(text.contains("].gl_ClipDistance[3u] =") && !text.contains("gl_PerVertex"), "{text}");
    }
}

/// The bounds of a fetch are computed from the queries that ESSL has.
#[test]
fn fetches_of_essl() {
    let fetch = |target: &str, coordinate: &str| {
        let text = format!(
            "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], {target}, FLOAT\n\
             TXF OUT[0], {coordinate}, SAMP[0], {target}\nEND\n"
        );
        translate(&ESSL, &[], &text)
    };
    let levels: BTreeSet<&str> = ["2D", "3D", "2D_ARRAY", "1D", "RECT"].into();
    for target in ["2D", "3D", "2D_ARRAY", "1D", "RECT", "2D_MSAA", "2D_ARRAY_MSAA", "BUFFER"] {
        let text = fetch(target, "IN[0]");
        assert!(text.contains("texelFetch("), "{target}: {text}");
        assert!(!levels.contains(target) || text.contains("textureSize("), "{target}: {text}");
    }
    let text = fetch("2D_ARRAY", "IN[0]");
    // All levels have the same number of layers.
    assert!(text.contains("findMSB(max(_") && !text.contains(".z)"), "{text}");
}

#[test]
fn large_arrays_are_cleared_by_a_loop() {
    let text = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL TEMP[0..1999], ARRAY(1)\nDCL ADDR[0..1]\nUARL ADDR[0].x, IN[0].xxxx\n\
        UARL ADDR[1].x, IN[0].yyyy\nMOV TEMP[ADDR[0].x](1), IN[0]\nMOV TEMP[ADDR[1].x](1), IN[0].yyyy\n\
        MOV OUT[0], TEMP[ADDR[0].x+7](1)\nEND\n";
    for driver in [&GLSL, &ESSL] {
        let text = translate(driver, &[], text);
        assert!(text.len() < 2000 && text.contains("] = uvec4(0u);"), "{text}");
    }
}

/// In Metal, images with atomics have an additional buffer for their texels.
#[test]
fn buffers_of_metal_have_different_numbers() {
    let text = "FRAG\nDCL OUT[0], COLOR\nDCL CONST[0][0..1]\nDCL BUFFER[0]\nDCL IMAGE[0], 2D, PIPE_FORMAT_R32_UINT, WR\n\
        DCL IMAGE[1], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL TEMP[0..3]\n\
        ATOMUADD TEMP[0].x, IMAGE[0], CONST[0][0], CONST[0][1].xxxx, 2D, PIPE_FORMAT_R32_UINT\n\
        ATOMUADD TEMP[1].x, IMAGE[1], CONST[0][0], CONST[0][1].xxxx, 2D, PIPE_FORMAT_R32_UINT\nRESQ TEMP[2].x, BUFFER[0]\n\
        UADD TEMP[0].x, TEMP[0].xxxx, TEMP[1].xxxx\nUADD OUT[0], TEMP[0].xxxx, TEMP[2].xxxx\nEND\n";
    let text = translate(&MSL, &[], text);
    let number = |part: &str| part.split(')').next().and_then(|number| number.parse().ok());
    let numbers: Vec<u32> = text.split("[[buffer(").skip(1).filter_map(number).collect();
    let different: BTreeSet<u32> = numbers.iter().copied().collect();
    assert_eq!((numbers.len(), different), (5, (0..5).collect()), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("// buffer ")).count(), 5, "{text}");
}
