//! Tests the places of errors for features that languages lack: the part of the source that needs them.
#![cfg(feature = "spirv-cross")]

use tgsi_compiler::{Compiler, Driver};
use tgsi_driver_spirv_text::{ESSL, HLSL, MSL, Text, WGSL};

/// Returns the error of a driver for an unsupported shader, and the line that it concerns.
fn refused(driver: &Text, text: &str) -> (String, String) {
    let source = tgsi::text::parse(text.as_bytes()).unwrap_or_else(|findings| panic!("{findings:?}\n{text}")).shader;
    let compiler = Compiler::for_target(driver.target(&[]).expect("no options").into());
    let error = match compiler.compile(source) {
        Err(error) if error.code().id == "T2101" => error,
        other => return (format!("{other:?}\n{text}"), String::new()),
    };
    let start = error.span().expect("a place").start as usize;
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    (error.to_string(), text[line..].lines().next().unwrap_or_default().to_owned())
}

#[test]
fn what_needs_it_is_named() {
    let image = |target: &str, format: &str, code: &str| {
        format!(
            "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL OUT[0], COLOR\nDCL IMAGE[0], {target}, {format}, WR\nDCL TEMP[0]\n\
             MOV TEMP[0], IN[0]\n{code}\nMOV OUT[0], TEMP[0]\nEND\n"
        )
    };
    let load = |target: &str, format: &str| format!("LOAD TEMP[0], IMAGE[0], TEMP[0], {target}, {format}");
    let of_image = |target: &str, format: &str| image(target, format, &load(target, format));
    let lookup = |declarations: &str, code: &str| {
        format!(
            "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\n{declarations}\nDCL TEMP[0]\nMOV TEMP[0], IN[0]\n\
             {code}\nADD OUT[0], TEMP[0], IN[0]\nEND\n"
        )
    };
    let written = |stage: &str, declaration: &str, code: &str| {
        format!(
            "{stage}\nDCL IN[0]\nDCL OUT[0], POSITION\n{declaration}\nDCL TEMP[0]\nMOV OUT[0], IN[0]\n{code}\nEND\n"
        )
    };
    let fragment = |declaration: &str, code: &str| {
        format!("FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\n{declaration}\n{code}\nEND\n")
    };
    let geometry = |declarations: &str, code: &str| {
        format!(
            "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\n\
             PROPERTY GS_MAX_OUTPUT_VERTICES 2\n{declarations}\nDCL OUT[0], POSITION\nIMM[0] UINT32 {{0, 1, 0, 0}}\n\
             {code}\nEMIT IMM[0].xxxx\nEND\n"
        )
    };
    let multisampled = "DCL SAMP[0]\nDCL SVIEW[0], 2D_MSAA, FLOAT";
    let cases: Vec<(&Text, String, &str, &str)> = vec![
        (&ESSL, lookup(multisampled, "TXQS TEMP[0].x, SAMP[0], 2D_MSAA"), "number of samples", "TXQS TEMP[0].x"),
        (
            &ESSL,
            lookup(multisampled, "SAMPLE_POS TEMP[0].xy, SVIEW[0], TEMP[0].xxxx"),
            "number of samples",
            "SAMPLE_POS",
        ),
        (&ESSL, lookup("DCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT", "TXQ TEMP[0].w, TEMP[0], SAMP[0], 2D"), "levels", "TXQ"),
        (&ESSL, lookup("", "DDX_FINE TEMP[0], TEMP[0]"), "fine derivatives", "DDX_FINE"),
        (&ESSL, lookup("", "CLOCK TEMP[0].xy"), "clocks", "CLOCK"),
        (&ESSL, of_image("2D_MSAA", "PIPE_FORMAT_R32_FLOAT"), "multisampled images", "LOAD"),
        (&ESSL, of_image("2D", "PIPE_FORMAT_R8_UNORM"), "images of the format R8", "LOAD"),
        (
            &ESSL,
            image(
                "2D",
                "PIPE_FORMAT_R32G32B32A32_FLOAT",
                "LOAD TEMP[0], IMAGE[0], TEMP[0], 2D, PIPE_FORMAT_R32G32B32A32_FLOAT\n\
                 STORE IMAGE[0], TEMP[0], TEMP[0], 2D, PIPE_FORMAT_R32G32B32A32_FLOAT",
            ),
            "both read and written",
            "LOAD",
        ),
        (
            &ESSL,
            geometry(
                "DCL IN[][0], POSITION\nDCL OUT[1], GENERIC[0], STREAM(1, 1, 1, 1)",
                "MOV OUT[0], IN[0][0]\nMOV OUT[1], IN[0][0]\nEMIT IMM[0].yyyy",
            ),
            "streams of vertices",
            "EMIT IMM[0].yyyy",
        ),
        (&ESSL, written("VERT", "DCL OUT[1], VIEWPORT_INDEX", "F2U OUT[1].x, IN[0].xxxx"), "viewports", "DCL OUT[1]"),
        (&ESSL, fragment("DCL OUT[1], STENCIL", "MOV OUT[0], IN[0]\nF2U OUT[1].y, IN[0].xxxx"), "stencil", "DCL OUT[1]"),
        (
            &ESSL,
            fragment(
                "PROPERTY FS_EARLY_DEPTH_STENCIL 1\nDCL OUT[1], POSITION",
                "MOV OUT[0], IN[0]\nMOV OUT[1].z, IN[0].xxxx",
            ),
            "depth after the depth test",
            "DCL OUT[1]",
        ),
        (&WGSL, written("VERT", "DCL OUT[1], PSIZE", "MOV OUT[1].x, IN[0].xxxx"), "point sizes", "DCL OUT[1]"),
        (
            &WGSL,
            written("VERT\nPROPERTY NUM_CULLDIST_ENABLED 4", "DCL OUT[1], CLIPDIST", "MOV OUT[1], IN[0]"),
            "cull distances",
            "PROPERTY NUM_CULLDIST_ENABLED",
        ),
        (&WGSL, fragment("DCL IN[1], PCOORD, LINEAR", "ADD OUT[0], IN[0], IN[1]"), "point coordinates", "DCL IN[1]"),
        (&WGSL, fragment("DCL IN[1], CLIPDIST, LINEAR", "ADD OUT[0], IN[0], IN[1]"), "clip distances", "DCL IN[1]"),
        (&WGSL, lookup("", "INTERP_CENTROID TEMP[0], IN[0]"), "interpolation at a position", "INTERP_CENTROID"),
        (&WGSL, lookup("", "READ_HELPER TEMP[0].x"), "helper invocations", "READ_HELPER"),
        (
            &WGSL,
            lookup("DCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT", "LODQ TEMP[0], TEMP[0], SAMP[0], 2D"),
            "queries of the level",
            "LODQ",
        ),
        (
            &WGSL,
            lookup("DCL SAMP[0]\nDCL SVIEW[0], SHADOW2D, FLOAT", "TXB TEMP[0], TEMP[0], SAMP[0], SHADOW2D"),
            "comparing lookups",
            "TXB",
        ),
        (
            &WGSL,
            lookup("DCL SAMP[0]\nDCL SVIEW[0], 2D, UINT", "TEX TEMP[0], TEMP[0], SAMP[0], 2D"),
            "integer textures",
            "TEX",
        ),
        (
            &WGSL,
            lookup("DCL SAMP[0]\nDCL SVIEW[0], 2D_ARRAY_MSAA, FLOAT", "TXF TEMP[0], TEMP[0], SAMP[0], 2D_ARRAY_MSAA"),
            "multisampled textures with layers",
            "TXF",
        ),
        (&WGSL, of_image("2D_MSAA", "PIPE_FORMAT_R32_FLOAT"), "multisampled images", "LOAD"),
        (
            &WGSL,
            image(
                "2D",
                "PIPE_FORMAT_R32_UINT",
                "ATOMUADD TEMP[0].x, IMAGE[0], TEMP[0], TEMP[0].xxxx, 2D, PIPE_FORMAT_R32_UINT",
            ),
            "atomics on images",
            "ATOMUADD",
        ),
        (&WGSL, written("VERT", "DCL BUFFER[0]", "STORE BUFFER[0].x, IN[0].xxxx, IN[0]"), "writes to memory", "STORE"),
        (&WGSL, written("VERT", "", "VOTE_ANY TEMP[0].x, IN[0].xxxx\nMOV OUT[0].x, TEMP[0]"), "subgroups", "VOTE_ANY"),
        (
            &WGSL,
            fragment("PROPERTY FS_POST_DEPTH_COVERAGE 1\nDCL SV[0], SAMPLEMASK", "U2F OUT[0], SV[0].xxxx"),
            "sample masks after the depth test",
            "PROPERTY FS_POST_DEPTH_COVERAGE",
        ),
        (&WGSL, lookup("", "FBFETCH TEMP[0], OUT[0]"), "framebuffer fetch", "FBFETCH"),
        (&HLSL, fragment("DCL SV[0], SAMPLEPOS", "ADD OUT[0], IN[0], SV[0]"), "positions of samples", "DCL SV[0]"),
        (
            &HLSL,
            geometry("PROPERTY GS_INVOCATIONS 4\nDCL IN[][0], POSITION", "MOV OUT[0], IN[0][0]"),
            "invocations of geometry shaders",
            "PROPERTY GS_INVOCATIONS",
        ),
        (&HLSL, geometry("DCL IN[][0], PSIZE", "MOV OUT[0], IN[0][0].xxxx"), "point sizes as inputs", "DCL IN[][0]"),
        (&HLSL, geometry("", "MOV OUT[0], IMM[0]"), "geometry shaders without inputs", "GEOM"),
        (
            &MSL,
            "TESS_EVAL\nPROPERTY TES_PRIM_MODE 1\nDCL IN[][0], POSITION\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0][0]\nEND\n"
                .to_owned(),
            "isolines",
            "PROPERTY TES_PRIM_MODE",
        ),
    ];
    let mut wrong = Vec::new();
    for (driver, text, what, place) in cases {
        let (message, line) = refused(driver, &text);
        if !message.contains(what) || !line.starts_with(place) {
            wrong.push(format!("{}: {message}: at {line}, should be {what} at {place}", driver.name()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The error is at the innermost of too many nested blocks.
#[test]
fn blocks_that_are_too_deep() {
    let mut text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0]\nDCL TEMP[0]\n\
        MOV TEMP[0], IN[0]\n"
        .to_owned();
    for _ in 0..140 {
        text += "FSLT TEMP[0].x, TEMP[0].xxxx, CONST[0].xxxx\nUIF TEMP[0].xxxx\nADD TEMP[0], TEMP[0], IN[0].yzwx\n";
    }
    text += &"ENDIF\n".repeat(140);
    text += "MOV OUT[0], TEMP[0]\nEND\n";
    let (message, line) = refused(&WGSL, &text);
    assert!(message.contains("blocks of 127 levels"), "{message}");
    assert_eq!(line, "FSLT TEMP[0].x, TEMP[0].xxxx, CONST[0].xxxx");
}
