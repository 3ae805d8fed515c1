//! Translations of single constructs: TGSI through the IR and back, compared as text.

use crate::compile::{compile, lower, translate, translate_lowered};
use pretty_assertions::assert_eq;
use tgsi::tables::Opcode;
use tgsi_compiler::Target;
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_ir::passes::pipeline::OptLevel;

/// The declarations and instructions of the translation, without numbers and properties.
fn translated_with(text: &str, options: &TgsiOptions) -> Vec<String> {
    let source = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let mut ir = tgsi_to_ir::to_ir(&source, &tgsi_to_ir::ToIrOptions::default()).unwrap();
    tgsi_ir::passes::pipeline::into_ssa(&mut ir);
    let compiler_options = options.compiler_options(ir.stage);
    tgsi_ir::passes::pipeline::finish(&mut ir, &compiler_options);
    let shader = translate(&ir, options).unwrap();
    let findings = tgsi::check::check(&shader).diagnostics;
    assert!(findings.iter().all(|d| !d.is_error()), "{findings:?}");
    tgsi::text::print(&shader, tgsi::text::PrintOptions::default())
        .lines()
        .filter_map(|line| line.split_once(": ").map(|(_, rest)| rest.trim().to_string()))
        .collect()
}

fn translated(text: &str) -> Vec<String> {
    translated_with(text, &TgsiOptions::default())
}

fn fragment(body: &str) -> Vec<String> {
    translated(&format!(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\n\
         DCL SVIEW[0], 2D, FLOAT\nDCL CONST[0][0..7]\nDCL CONST[1][0..7]\nDCL TEMP[0..7]\nDCL ADDR[0..1]\n\
         IMM[0] FLT32 {{0.0, 1.0, 0.5, 2.0}}\nIMM[1] UINT32 {{0, 1, 4294967295, 32}}\n{body}\nEND\n"
    ))
}

#[test]
fn results_are_made_where_they_are_wanted() {
    let code = fragment("MUL TEMP[0], IN[0], IN[1]\nADD TEMP[1], TEMP[0], CONST[0][1]\nMOV_SAT OUT[0], TEMP[1]");
    assert_eq!(code, ["MAD_SAT OUT[0], IN[0], IN[1], CONST[0][1]", "END"]);
}

#[test]
fn modifiers_are_operands() {
    let code = fragment("MOV TEMP[0], -|IN[0].wzyx|\nADD OUT[0], TEMP[0], -CONST[1][2]");
    assert_eq!(code, ["ADD OUT[0], -|IN[0].wzyx|, -CONST[1][2]", "END"]);
}

#[test]
fn scalar_results_are_written_once_to_every_component() {
    let code = fragment("RCP TEMP[0].x, IN[0].yyyy\nMOV OUT[0], TEMP[0].xxxx");
    assert_eq!(code, ["RCP OUT[0], IN[0].yyyy", "END"]);
}

#[test]
fn comparisons_combine() {
    let code = fragment("FSLT TEMP[0], IN[0], IMM[0].xxxx\nUCMP OUT[0], TEMP[0], IN[1], CONST[0][0]");
    assert_eq!(code, ["CMP OUT[0], IN[0], IN[1], CONST[0][0]", "END"]);
    let code = fragment("FSLT TEMP[0], IN[0], IN[1]\nAND OUT[0], TEMP[0], IMM[0].yyyy");
    assert_eq!(code, ["SLT OUT[0], IN[0], IN[1]", "END"]);
    let code =
        fragment("USNE TEMP[0].x, CONST[0][0].xxxx, IMM[1].xxxx\nUIF TEMP[0].xxxx\nKILL\nENDIF\nMOV OUT[0], IN[0]");
    assert_eq!(code, ["UIF CONST[0][0].xxxx :2", "KILL", "ENDIF", "MOV OUT[0], IN[0]", "END"]);
}

#[test]
fn kill_if_is_direct() {
    let code = fragment("KILL_IF -IN[0].xyyy\nMOV OUT[0], IN[0]");
    assert_eq!(code, ["KILL_IF -IN[0].xyxx", "MOV OUT[0], IN[0]", "END"]);
}

#[test]
fn integer_division_keeps_its_own_rule() {
    let code = fragment("UDIV TEMP[0], CONST[0][0], CONST[0][1]\nU2F OUT[0], TEMP[0]");
    assert_eq!(code, ["UDIV TEMP[0], CONST[0][0], CONST[0][1]", "U2F OUT[0], TEMP[0]", "END"]);
    let code = fragment("UMOD TEMP[0], CONST[0][0], CONST[0][1].yyyy\nU2F OUT[0], TEMP[0]");
    assert_eq!(code, ["UMOD TEMP[0], CONST[0][0], CONST[0][1].yyyy", "U2F OUT[0], TEMP[0]", "END"]);
}

#[test]
fn bit_fields_keep_their_own_rule() {
    let code = fragment("UBFE TEMP[0], CONST[0][0], CONST[0][1], CONST[0][2]\nU2F OUT[0], TEMP[0]");
    assert_eq!(code, ["UBFE TEMP[0], CONST[0][0], CONST[0][1], CONST[0][2]", "U2F OUT[0], TEMP[0]", "END"]);
    let code = fragment("BFI TEMP[0], CONST[0][0], CONST[0][1], CONST[0][2], CONST[0][3]\nU2F OUT[0], TEMP[0]");
    assert_eq!(code, ["BFI TEMP[0], CONST[0][0], CONST[0][1], CONST[0][2], CONST[0][3]", "U2F OUT[0], TEMP[0]", "END"]);
}

#[test]
fn an_index_is_loaded_once() {
    let code = fragment(
        "ARL ADDR[0].x, IN[0].xxxx\nMOV TEMP[0], CONST[ADDR[0].x+1]\nADD TEMP[0], TEMP[0], CONST[1][ADDR[0].x+2]\n\
         MOV OUT[0], TEMP[0]",
    );
    assert_eq!(code, ["ARL ADDR[0].x, IN[0].xxxx", "ADD OUT[0], CONST[0][ADDR[0].x+1], CONST[1][ADDR[0].x+2]", "END"]);
}

#[test]
fn texture_operands_are_swizzles() {
    let code = fragment("TXB OUT[0], IN[0], SAMP[0], 2D");
    assert_eq!(code, ["TXB OUT[0], IN[0], SAMP[0], 2D", "END"]);
    let code = fragment("TEX TEMP[0].xy, IN[0], SAMP[0], 2D\nTEX OUT[0], TEMP[0], SAMP[0], 2D");
    assert_eq!(code, ["TEX TEMP[0].xy, IN[0], SAMP[0], 2D", "TEX OUT[0], TEMP[0], SAMP[0], 2D", "END"]);
}

#[test]
fn branches_write_outputs_themselves() {
    let code = fragment(
        "FSLT TEMP[0].x, IN[0].xxxx, IN[0].yyyy\nUIF TEMP[0].xxxx\nMUL TEMP[1], IN[1], IMM[0].wwww\nELSE\n\
         MOV TEMP[1], CONST[0][0]\nENDIF\nMOV OUT[0], TEMP[1]",
    );
    assert_eq!(
        code,
        [
            "FSLT TEMP[0].x, IN[0].xxxx, IN[0].yyyy",
            "UIF TEMP[0].xxxx :3",
            "ADD OUT[0], IN[1], IN[1]",
            "ELSE :5",
            "MOV OUT[0], CONST[0][0]",
            "ENDIF",
            "END"
        ]
    );
}

#[test]
fn an_output_that_is_written_elsewhere_too_is_not_taken_over() {
    let code = fragment(
        "MOV TEMP[1], IN[0]\nUIF CONST[0][0].xxxx\nMOV TEMP[1], IN[1]\nENDIF\nMOV OUT[0], TEMP[1]\nADD OUT[0].x, TEMP[1], TEMP[1]",
    );
    // x of the output is the sum; the other components may be copied.
    assert!(code.iter().any(|line| line.starts_with("ADD OUT[0].x")), "{code:#?}");
}

#[test]
fn loops_keep_their_counter_in_one_register() {
    let code = fragment(
        "MOV TEMP[0].x, IMM[1].xxxx\nMOV TEMP[1], IN[0]\nBGNLOOP\nUSGE TEMP[2].x, TEMP[0].xxxx, CONST[0][0].xxxx\n\
         UIF TEMP[2].xxxx\nBRK\nENDIF\nMUL TEMP[1], TEMP[1], IN[1]\nUADD TEMP[0].x, TEMP[0].xxxx, IMM[1].yyyy\nENDLOOP\n\
         MOV OUT[0], TEMP[1]",
    );
    let movs = code.iter().filter(|line| line.starts_with("MOV")).count();
    // The initial values of both variables, and the copy of the value that the loop still reads.
    assert_eq!(movs, 3, "{code:#?}");
    assert_eq!(code.len(), 12, "{code:#?}");
}

#[test]
fn doubles_stay_in_pairs() {
    let code = fragment("DADD TEMP[0], CONST[0][0], CONST[0][1].zwxy\nD2F OUT[0].xy, TEMP[0]");
    assert_eq!(code, ["DADD TEMP[0], CONST[0][0], CONST[0][1].zwxy", "D2F OUT[0].xy, TEMP[0]", "END"]);
    let code = fragment("DSLT TEMP[0].xz, CONST[0][0], CONST[0][1]\nAND OUT[0], TEMP[0].xxzz, IMM[0].yyyy");
    assert_eq!(code.len(), 3, "{code:#?}");
}

#[test]
fn absolute_values_without_the_modifier() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nADD OUT[0], |IN[0]|, IN[0].wzyx\nEND\n";
    let code = translated_with(text, &TgsiOptions::default().with(|o| o.fuse_fabs = false));
    assert_eq!(code, ["MAX TEMP[0], IN[0], -IN[0]", "ADD OUT[0], TEMP[0], IN[0].wzyx", "END"]);
}

#[test]
fn geometry_outputs_are_written_before_each_vertex() {
    let code = translated(
        "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\nPROPERTY GS_MAX_OUTPUT_VERTICES 2\n\
         DCL IN[][0], POSITION\nDCL OUT[0], POSITION\nIMM[0] UINT32 {0, 0, 0, 0}\nMOV OUT[0], IN[0][0]\nEMIT IMM[0].xxxx\n\
         ADD OUT[0], IN[0][0], IN[0][0].yxzw\nEMIT IMM[0].xxxx\nEND\n",
    );
    assert_eq!(
        code,
        ["MOV OUT[0], IN[0][0]", "EMIT IMM[0].xxxx", "ADD OUT[0], IN[0][0], IN[0][0].yxzw", "EMIT IMM[0].xxxx", "END"]
    );
}

#[test]
fn compute_memory() {
    let code = translated(
        "COMP\nDCL BUFFER[1]\nDCL MEMORY[0], SHARED\nDCL SV[0], THREAD_ID\nDCL TEMP[0..2]\nIMM[0] UINT32 {4, 16, 1, 0}\n\
         UMUL TEMP[0].x, SV[0].xxxx, IMM[0].yyyy\nLOAD TEMP[1], BUFFER[1], TEMP[0].xxxx, COHERENT\n\
         STORE MEMORY[0].xy, TEMP[0].xxxx, TEMP[1]\nBARRIER\n\
         ATOMUADD TEMP[2].x, BUFFER[1], IMM[0].wwww, IMM[0].zzzz\nSTORE BUFFER[1].x, TEMP[0].xxxx, TEMP[2]\nEND\n",
    );
    let opcodes: Vec<&str> = code.iter().filter_map(|line| line.split([' ', ',']).next()).collect();
    assert_eq!(opcodes, ["UMUL", "LOAD", "STORE", "BARRIER", "ATOMUADD", "STORE", "END"]);
    assert!(code[1].contains("BUFFER[1]") && code[1].contains("COHERENT"), "{code:#?}");
    assert!(code[2].starts_with("STORE MEMORY[1].xy") || code[2].starts_with("STORE MEMORY[0].xy"), "{code:#?}");
}

#[test]
fn equal_work_on_components_is_put_together() {
    let code = fragment(
        "UADD TEMP[0].x, CONST[0][0].xxxx, IMM[1].yyyy\nI2F TEMP[1].x, TEMP[0].xxxx\nUADD TEMP[2].x, CONST[0][0].yyyy, IMM[1].wwww\n\
         I2F TEMP[3].x, TEMP[2].xxxx\nMUL OUT[0], TEMP[1].xxxx, TEMP[3].xxxx",
    );
    assert_eq!(
        code,
        [
            "UADD TEMP[0].xy, CONST[0][0], IMM[0]",
            "I2F TEMP[0].xy, TEMP[0]",
            "MUL OUT[0], TEMP[0].xxxx, TEMP[0].yyyy",
            "END"
        ]
    );
}

/// A fetch from a buffer has its level in the last coordinate like any other: the translation must not have an
/// undefined value there.
#[test]
fn fetches_from_buffers_keep_their_level() {
    let fetch = |fetch: &str, options: &TgsiOptions| {
        let text = format!(
            "FRAG\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], BUFFER, FLOAT\nDCL CONST[0][0..1]\nDCL TEMP[0]\nMOV TEMP[0].x, CONST[0][1].yyyy\n\
             {fetch}, SAMP[0], BUFFER\nEND\n"
        );
        translated_with(&text, options)
    };
    let plain = TgsiOptions::default();
    assert_eq!(fetch("TXF_LZ OUT[0], TEMP[0]", &plain), ["TXF_LZ OUT[0], CONST[0][1].yyyy, SAMP[0], BUFFER", "END"]);
    // The component of TEMP[0] that was not written is 0.
    assert_eq!(fetch("TXF OUT[0], TEMP[0]", &plain), ["TXF_LZ OUT[0], CONST[0][1].yyyy, SAMP[0], BUFFER", "END"]);
    assert_eq!(fetch("TXF OUT[0], TEMP[0].xxxx", &plain), ["TXF OUT[0], CONST[0][1].yyyy, SAMP[0], BUFFER", "END"]);
    assert_eq!(fetch("TXF OUT[0], CONST[0][0]", &plain), ["TXF OUT[0], CONST[0][0], SAMP[0], BUFFER", "END"]);
    let without = plain.with(|o| o.has_lz = false);
    let code = fetch("TXF_LZ OUT[0], TEMP[0]", &without);
    assert_eq!(
        code.last_chunk::<2>().unwrap(),
        &["TXF OUT[0], TEMP[0], SAMP[0], BUFFER".to_string(), "END".to_string()],
        "{code:?}"
    );
    assert!(code.contains(&"MOV TEMP[0].w, IMM[0].xxxx".to_string()), "{code:?}");
}

/// A geometry shader that declares no number of vertices may emit any number.
#[test]
fn no_number_of_vertices_stays_none() {
    let text = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\n{}DCL IN[][0], POSITION\nDCL OUT[0], POSITION\n\
                IMM[0] UINT32 {0, 0, 0, 0}\nMOV OUT[0], IN[0][0]\nEMIT IMM[0].xxxx\nEND\n";
    for property in ["", "PROPERTY GS_MAX_OUTPUT_VERTICES 5\n"] {
        let source = tgsi::text::parse(text.replace("{}", property).as_bytes()).unwrap().shader;
        let mut ir = tgsi_to_ir::to_ir(&source, &tgsi_to_ir::ToIrOptions::default()).unwrap();
        tgsi_ir::passes::pipeline::into_ssa(&mut ir);
        let shader = translate(&ir, &TgsiOptions::default()).unwrap();
        let name = tgsi::tables::PropertyName::GsMaxOutputVertices;
        assert_eq!(shader.property(name), source.property(name));
    }
}

/// Many values in many blocks: the steps after lowering must not take time proportional to their product.
#[test]
fn many_blocks_take_linear_time() {
    let backend = |count: usize| {
        let mut text = String::from(
            "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0..3]\nDCL TEMP[0..1]\nMOV TEMP[0], IN[0]\n",
        );
        for number in 0..count {
            let (c, k) = (["x", "y", "z", "w"][number % 4], number % 4);
            text.push_str(&format!(
                "FSLT TEMP[1].{c}, TEMP[0].{c}{c}{c}{c}, CONST[0][{k}].xxxx\nUIF TEMP[1].{c}{c}{c}{c}\n"
            ));
            text.push_str(&format!("MAD TEMP[0].{c}, TEMP[0], TEMP[0].yzwx, IN[0]\nENDIF\n"));
        }
        text.push_str("MOV OUT[0], TEMP[0]\nEND\n");
        let source = tgsi::text::parse(text.as_bytes()).unwrap().shader;
        let mut ir = tgsi_to_ir::to_ir(&source, &tgsi_to_ir::ToIrOptions::default()).unwrap();
        tgsi_ir::passes::pipeline::into_ssa(&mut ir);
        lower(&mut ir, &TgsiOptions::default()).unwrap();
        let start = std::time::Instant::now();
        let shader = translate_lowered(&ir, &TgsiOptions::default()).unwrap();
        assert!(shader.instructions.len() <= 4 * count + 8, "{} instructions", shader.instructions.len());
        start.elapsed()
    };
    let (once, eight) = (backend(125), backend(1000));
    assert!(eight < once * 30 + std::time::Duration::from_secs(1), "{once:?} for 125 branches, {eight:?} for 1000");
}

/// Returns all lines of the translation that declare a register of the file.
fn declarations(text: &str, file: &str) -> Vec<String> {
    let source = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let mut ir = tgsi_to_ir::to_ir(&source, &tgsi_to_ir::ToIrOptions::default()).unwrap();
    tgsi_ir::passes::pipeline::into_ssa(&mut ir);
    let shader = translate(&ir, &TgsiOptions::default()).unwrap();
    let findings = tgsi::check::check(&shader).diagnostics;
    assert!(findings.iter().all(|d| !d.is_error()), "{findings:?}");
    let text = tgsi::text::print(&shader, tgsi::text::PrintOptions::default());
    let start = format!("DCL {file}[");
    text.lines().filter(|line| line.starts_with(&start)).map(str::to_owned).collect()
}

#[test]
fn constant_buffers_keep_their_declared_size() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[1][0..6]\nDCL CONST[3][0..41]\n\
                DCL TEMP[0]\nDCL ADDR[0]\nARL ADDR[0].x, IN[0].xxxx\nMOV TEMP[0], CONST[1][ADDR[0].x+2]\n\
                ADD OUT[0], TEMP[0], CONST[3][ADDR[0].x]\nEND\n";
    assert_eq!(declarations(text, "CONST"), ["DCL CONST[1][0..6]", "DCL CONST[3][0..41]"]);
    // The buffer is unknown: all are declared.
    let text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[1][0..6]\nDCL CONST[2][0..2]\n\
                DCL ADDR[0]\nARL ADDR[0].x, IN[0].xxxx\nMOV OUT[0], CONST[ADDR[0].x+1][2]\nEND\n";
    assert_eq!(declarations(text, "CONST"), ["DCL CONST[1][0..6]", "DCL CONST[2][0..2]"]);
}

#[test]
fn counters_keep_their_declared_ranges() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL OUT[0], COLOR\nDCL HWATOMIC[0][0..3]\nDCL HWATOMIC[0][6]\n\
                DCL HWATOMIC[2][5..8]\nDCL ADDR[0]\nDCL TEMP[0..1]\nIMM[0] UINT32 {1, 0, 0, 0}\n\
                UARL ADDR[0].x, IN[0].xxxx\nATOMUADD TEMP[0].x, HWATOMIC[0][1], IMM[0].xxxx, IMM[0].xxxx\n\
                ATOMUADD TEMP[1].x, HWATOMIC[2][ADDR[0].x+5], IMM[0].yyyy, IMM[0].xxxx\n\
                UADD TEMP[0].x, TEMP[0].xxxx, TEMP[1].xxxx\nU2F OUT[0], TEMP[0].xxxx\nEND\n";
    assert_eq!(declarations(text, "HWATOMIC"), ["DCL HWATOMIC[0][0..3], ARRAY(1)", "DCL HWATOMIC[2][5..8], ARRAY(2)"]);
}

/// For every target of a view: a shader that passes the check is translated to one that passes it, in either family.
#[test]
fn all_opcodes_with_all_targets() {
    let mut counts = [0; 3];
    for target in tgsi::tables::TextureTarget::ALL.iter().filter(|t| t.name() != "UNKNOWN").map(|t| t.name()) {
        let sampled = ["SAMPLE", "SAMPLE_B", "SAMPLE_C", "SAMPLE_C_LZ", "SAMPLE_D", "SAMPLE_L", "GATHER4", "LOD"];
        let sampled = sampled.iter().flat_map(|opcode| {
            let more = match *opcode {
                "SAMPLE" | "GATHER4" | "LOD" => "",
                "SAMPLE_D" => ", IN[0], IN[0]",
                _ => ", IN[0].xxxx",
            };
            [0, 1].map(|sampler| format!("{opcode} OUT[0], IN[0], SVIEW[0].yzwx, SAMP[{sampler}]{more}"))
        });
        let fetched = ["SAMPLE_I OUT[0], IN[0], SVIEW[0]", "SAMPLE_I_MS OUT[0], IN[0], SVIEW[0], IN[0].xxxx"];
        let more = ["", "IN[0].xxxx, "];
        let looked_up = ["TEX", "TXP", "TXB", "TXL", "TXF", "TEX_LZ", "TXF_LZ", "LODQ"].iter().map(|o| (o, ""));
        let looked_up = looked_up.chain(["TEX2", "TXB2", "TXL2", "TG4"].iter().map(|o| (o, more[1])));
        let looked_up = looked_up.chain([(&"TXD", "IN[0], IN[0], ")]);
        let looked_up = looked_up.map(|(opcode, more)| format!("{opcode} OUT[0], IN[0], {more}SAMP[0], {target}"));
        for instruction in sampled.chain(fetched.map(str::to_owned)).chain(looked_up) {
            let text = format!(
                "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0..1]\nDCL SVIEW[0], {target}, FLOAT\n{instruction}\nEND\n"
            );
            let source = tgsi::text::parse(text.as_bytes()).unwrap().shader;
            if tgsi::check::check(&source).has_errors() {
                counts[0] += 1;
                continue;
            }
            let mut ir = tgsi_to_ir::to_ir(&source, &tgsi_to_ir::ToIrOptions::default()).unwrap();
            tgsi_ir::passes::pipeline::into_ssa(&mut ir);
            let options = TgsiOptions::default();
            let compiler_options = options.compiler_options(ir.stage);
            tgsi_ir::passes::pipeline::finish(&mut ir, &compiler_options);
            match translate(&ir, &options) {
                Ok(shader) => {
                    let report = tgsi::check::check(&shader);
                    assert!(!report.has_errors(), "{target}, {instruction}: {:?}", report.diagnostics);
                    counts[1] += 1;
                }
                // There is no form for a reference value with separate units, nor for a level of cube arrays.
                Err(error) => {
                    let formless = target.starts_with("SHADOW") || target == "CUBEARRAY";
                    assert!(formless, "{target}, {instruction}: {error}");
                    counts[2] += 1;
                }
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
}

#[test]
fn short_sides_are_both_computed_where_branches_cost_much() {
    let source = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0..1]\n\
                  IMM[0] FLT32 {0.5, 1.0, 2.0, 0.0}\nSLT TEMP[0].x, IN[0].xxxx, IMM[0].xxxx\nIF TEMP[0].xxxx\n\
                  MUL TEMP[1], IN[0].xxxx, IN[0].wzyx\nMAX TEMP[1], TEMP[1], IN[0].yyyy\n\
                  MUL TEMP[1], TEMP[1], TEMP[1]\nMIN TEMP[1], TEMP[1], IN[0].zzzz\nMUL TEMP[1], TEMP[1], IN[0]\nELSE\n\
                  ADD TEMP[1], IMM[0].yyyy, -IN[0].xxxx\nMUL TEMP[1], TEMP[1], IN[0].wzyx\n\
                  MAX TEMP[1], TEMP[1], IN[0]\nMUL TEMP[1], TEMP[1], TEMP[1]\nMIN TEMP[1], TEMP[1], IN[0].yyyy\nENDIF\n\
                  MOV OUT[0], TEMP[1]\nEND\n";
    let source = tgsi::text::parse(source.as_bytes()).unwrap().shader;
    let branches = |option: &str| {
        let mut options = TgsiOptions::default();
        options.set(option).unwrap();
        let code = compile(&source, &options, OptLevel::Full).unwrap();
        code.instructions.iter().filter(|i| matches!(i.opcode, Opcode::If | Opcode::Uif)).count()
    };
    assert_eq!(branches("generic"), 1);
    assert_eq!(branches("r500"), 0);
}
