//! Control flow, subroutines, malformed shaders.

use super::*;

#[test]
fn switch_falls_through_and_leaves() {
    agree_in(
        "VERT",
        "",
        "SWITCH IN[0].xxxx
         MOV OUT[3], IMM[1].yyyy
         CASE IMM[0].yyyy
         CASE IMM[0].zzzz
         UADD TEMP[0].x, TEMP[0], IMM[0].yyyy
         DEFAULT
         UADD TEMP[0].y, TEMP[0], IMM[0].yyyy
         UIF IN[1].xxxx
         BRK
         MOV OUT[2], IMM[1].yyyy
         ENDIF
         UADD TEMP[0].z, TEMP[0], IMM[0].yyyy
         CASE IMM[2].xxxx
         UADD TEMP[0].w, TEMP[0], IMM[0].yyyy
         BRK
         CASE IMM[0].wwww
         MOV TEMP[1], IN[2]
         ENDSWITCH
         MOV OUT[0], TEMP[0]
         MOV OUT[1], TEMP[1]",
    );
}

#[test]
fn switch_without_default_and_without_sections() {
    agree_in(
        "VERT",
        "",
        "SWITCH IN[0].xxxx
         CASE IMM[0].yyyy
         MOV OUT[0].x, IMM[1].yyyy
         ENDSWITCH
         SWITCH IN[0].yyyy
         ENDSWITCH
         SWITCH IN[0].yyyy
         CASE IMM[0].yyyy
         DEFAULT
         ENDSWITCH
         MOV OUT[0].y, IMM[1].wwww",
    );
}

#[test]
fn continue_through_nested_switches() {
    agree_in(
        "VERT",
        "",
        "BGNLOOP
         UADD TEMP[0].x, TEMP[0], IMM[0].yyyy
         USGE TEMP[0].y, TEMP[0].xxxx, IMM[2].zzzz
         UIF TEMP[0].yyyy
         BRK
         ENDIF
         AND TEMP[0].z, TEMP[0].xxxx, IMM[0].wwww
         SWITCH TEMP[0].zzzz
         CASE IMM[0].yyyy
         SWITCH IN[0].xxxx
         CASE IMM[0].xxxx
         CASE IMM[0].yyyy
         CONT
         DEFAULT
         UIF IN[0].yyyy
         CONT
         ENDIF
         UADD TEMP[1].x, TEMP[1], IMM[0].yyyy
         ENDSWITCH
         UADD TEMP[1].y, TEMP[1], IMM[0].yyyy
         BRK
         CASE IMM[0].zzzz
         BGNLOOP
         UADD TEMP[1].z, TEMP[1], IMM[0].yyyy
         USGE TEMP[0].w, TEMP[1].zzzz, IMM[2].yyyy
         UIF TEMP[0].wwww
         BRK
         ELSE
         CONT
         ENDIF
         ENDLOOP
         ENDSWITCH
         UADD TEMP[1].w, TEMP[1], IMM[0].yyyy
         ENDLOOP
         MOV OUT[0], TEMP[1]",
    );
}

#[test]
fn code_behind_jumps_is_skipped() {
    agree_in(
        "VERT",
        "",
        "BGNLOOP
         UIF IN[0].xxxx
         BRK
         MOV OUT[0], IN[0]
         BGNLOOP
         IF IN[0].xxxx
         ELSE
         BRK
         ENDIF
         ENDLOOP
         ELSE
         MOV OUT[1], IN[1]
         BRK
         ENDIF
         MOV OUT[2], IN[2]
         ENDLOOP
         MOV OUT[3], IN[3]",
    );
}

#[test]
fn return_from_main_keeps_the_outputs() {
    let ir = agree_in(
        "VERT",
        "",
        "MOV OUT[0], IN[0]
         UIF IN[1].xxxx
         MOV OUT[1], IN[1]
         RET
         ENDIF
         MOV OUT[1], IN[2]
         BGNLOOP
         UIF IN[1].yyyy
         RET
         ENDIF
         BRK
         ENDLOOP
         RET
         MOV OUT[0], IN[3]",
    );
    // Once for each output, at the end.
    assert_eq!(intrinsics(&ir, IntrinsicOp::StoreDeref).len(), 2);
}

#[test]
fn subroutines_share_all_state() {
    let ir = agree(
        "VERT\nDCL IN[0..1]\nDCL OUT[0..1], GENERIC[0]\nDCL TEMP[0..1]\nDCL TEMP[2..4], ARRAY(1)\nDCL ADDR[0]\n\
         IMM[0] UINT32 { 1, 2, 3, 4 }\n\
         0: MOV TEMP[0], IN[0]\n\
         1: AND ADDR[0].y, IN[1].yyyy, IMM[0].xxxx\n\
         2: CAL :9\n\
         3: UIF IN[1].xxxx\n\
         4: CAL :9\n\
         5: ENDIF\n\
         6: MOV OUT[1], TEMP[0]\n\
         7: MOV OUT[0].w, TEMP[3].xxxx\n\
         8: END\n\
         9: BGNSUB\n\
         10: UADD TEMP[0].x, TEMP[0], IMM[0].xxxx\n\
         11: UIF IN[1].zzzz\n\
         12: CAL :19\n\
         13: RET\n\
         14: ENDIF\n\
         15: UADD TEMP[0].y, TEMP[0], IMM[0].yyyy\n\
         16: MOV OUT[0].x, TEMP[0].yyyy\n\
         17: MOV TEMP[ADDR[0].y+2](1), TEMP[0].xxxx\n\
         18: ENDSUB\n\
         19: BGNSUB\n\
         20: UADD TEMP[0].z, TEMP[0], IMM[0].zzzz\n\
         21: MOV OUT[0].yz, TEMP[ADDR[0].y+2](1)\n\
         22: ENDSUB\n",
    );
    assert_eq!(ir.functions.len(), 3);
    assert!(intrinsics(&ir, IntrinsicOp::DeclReg).is_empty());
}

#[test]
fn a_subroutine_that_nobody_calls_is_dropped() {
    let ir = agree_in("VERT", "", "MOV OUT[0], IN[0]\nEND\nBGNSUB\nMOV OUT[0], IN[1]\nENDSUB");
    assert_eq!(ir.functions.len(), 1);
}

#[test]
fn broken_shaders_are_errors() {
    let mut shader = Shader::new(Processor::Fragment);
    shader.push_instruction(Instruction::new(Opcode::Endif));
    let error = to_ir(&shader, &ToIrOptions::default()).unwrap_err();
    assert!(matches!(error, MalformedShader::Structure(_)));
    assert_eq!(error.code().name, "structure");
    let mut shader = Shader::new(Processor::Fragment);
    shader.push_instruction(Instruction::new(Opcode::Mov));
    let error = to_ir(&shader, &ToIrOptions::default()).unwrap_err();
    assert_eq!(error.code().name, "operand-count");
    assert_eq!(error.to_string(), "MOV (instruction 0) needs 1 destinations and 1 sources");
}
