//! Tests `verify` for targets without integers: integers at the interface are floats there, and only results that
//! floats cannot represent are left open.

use crate::common::tgsic;
use pretty_assertions::assert_eq;

const TARGETS: [&str; 6] = ["nv30", "nv40", "i915", "r300", "r500", "vgpu9"];

/// Integers as constants, attributes, system values, outputs, vertices and indices.
const SHADERS: [(&str, &str); 6] = [
    (
        "indices",
        "VERT\nDCL IN[0]\nDCL SV[0], INSTANCEID\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL CONST[0..8]\n\
         DCL TEMP[0]\nDCL ADDR[0]\nUARL ADDR[0].x, SV[0].xxxx\nMOV OUT[0], CONST[ADDR[0].x+1]\n\
         UARL ADDR[0].x, CONST[8].xxxx\nMOV OUT[1], CONST[ADDR[0].x]\nEND\n",
    ),
    (
        "outputs",
        "VERT\nDCL IN[0]\nDCL SV[0], VERTEXID\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL CONST[0]\nDCL TEMP[0]\n\
         MOV OUT[0], IN[0]\nUADD OUT[1].x, SV[0].xxxx, CONST[0].xxxx\nMOV OUT[1].y, CONST[0].xxxx\nF2I OUT[1].z, IN[0].xxxx\n\
         IDIV OUT[1].w, CONST[0].xxxx, CONST[0].yyyy\nEND\n",
    ),
    (
        "numbers that floats do not hold",
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0..1]\nIMM[0] UINT32 {1, 3, 0, 0}\n\
         F2I TEMP[0], IN[0]\nUMOD TEMP[1].x, TEMP[0].xxxx, IMM[0].yyyy\nAND TEMP[1].y, TEMP[0].yyyy, IMM[0].xxxx\n\
         USNE TEMP[1].x, TEMP[1].xxxx, TEMP[1].yyyy\nUMUL TEMP[0].z, TEMP[0].zzzz, TEMP[0].zzzz\nI2F OUT[0].y, TEMP[0].zzzz\n\
         AND OUT[0].x, TEMP[1].xxxx, IMM[0].zzzz\nMOV OUT[0].zw, IN[0]\nEND\n",
    ),
    (
        "infinities that are not selected",
        "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL TEMP[0]\nIMM[0] FLT32 {0.0, 1.0, 0.0, 0.0}\nRCP TEMP[0].x, IN[0].xxxx\n\
         FSEQ TEMP[0].y, IN[0].xxxx, IMM[0].xxxx\nUCMP OUT[0].x, TEMP[0].yyyy, IMM[0].yyyy, TEMP[0].xxxx\n\
         MOV OUT[0].yzw, IN[0]\nEND\n",
    ),
    (
        "vertices",
        "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 3\nDCL IN[][0], POSITION\nDCL OUT[][0], POSITION\nDCL OUT[][3], GENERIC[0]\n\
         DCL OUT[1], TESSOUTER\nDCL OUT[2], TESSINNER\nDCL SV[0], INVOCATIONID\nDCL ADDR[0]\nIMM[0] FLT32 {1.0, 1.0, 1.0, 1.0}\n\
         UARL ADDR[0].x, SV[0]\nMOV OUT[SV[0].x][0], IN[SV[0].x][0]\nMOV OUT[ADDR[0].x][3], IMM[0]\nMOV OUT[1], IMM[0]\n\
         MOV OUT[2], IMM[0]\nBARRIER\nEND\n",
    ),
    (
        "a constant that an index may lead to",
        "FRAG\nDCL OUT[0], COLOR\nDCL CONST[0..4]\nDCL ADDR[0]\nUARL ADDR[0].x, CONST[4].xxxx\nMOV OUT[0], CONST[ADDR[0].x]\nEND\n",
    ),
];

#[test]
fn integers_at_the_interface_are_floats() {
    let mut wrong = Vec::new();
    let mut equal = 0;
    for (name, shader) in SHADERS {
        for target in TARGETS {
            let output = tgsic(&["verify", "--target", target, "--seeds", "30"], shader);
            let text = output.text();
            match output.status {
                0 => equal += 1,
                // Features that the target lacks besides integers.
                1 if text.contains("has no TGSI form") => {}
                _ => wrong.push(format!("{name} for {target}: {text}{}", output.stderr)),
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(equal > 20, "{equal}");
}

/// The interpreter of the lowered shader takes and returns the integers of the source.
#[test]
fn runs_have_the_integers_of_the_source() {
    let (_, shader) = SHADERS[1];
    let run = |via: &str| {
        let output = tgsic(&["run", "--target", "nv30", "--seed", "1", "--via", via], shader);
        assert_eq!(output.status, 0, "{}", output.stderr);
        output
            .text()
            .lines()
            .filter(|line| line.starts_with("OUT[1].x") || line.starts_with("OUT[1].y"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(run("registers"), run("tgsi"));
    assert_eq!(run("driver:tgsi"), run("tgsi"));
}
