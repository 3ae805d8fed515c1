//! Arithmetic: fields, divisions, 64-bit pairs, the rules of legacy targets, exactness.

use super::*;

#[test]
fn fields_and_divisions_of_every_kind() {
    for (opcode, sources) in [
        ("UBFE", "IN[0], IN[1], IN[2]"),
        ("IBFE", "IN[0], IN[1], IN[2]"),
        ("BFI", "IN[0], IN[1], IN[2], IN[3]"),
        ("UDIV", "IN[0], IN[1]"),
        ("UMOD", "IN[0], IN[1]"),
        ("MOD", "IN[0], IN[1]"),
        ("IDIV", "IN[0], IN[1]"),
        ("ARR", "IN[0]"),
        ("PK2H", "IN[0].yxzw"),
        ("PK2US", "IN[0].zyyy"),
        ("PK4B", "IN[0].wzyx"),
        ("PK4UB", "-IN[0]"),
        ("UP2H", "IN[0].yyyy"),
        ("UP2US", "IN[0].yyyy"),
        ("UP4B", "IN[0].zzzz"),
        ("UP4UB", "IN[0].zzzz"),
        ("FMA", "IN[0], IN[1], IN[2]"),
        ("LDEXP", "IN[0], IN[1]"),
        ("LRP", "IN[0], IN[1], IN[2]"),
        ("SGT", "IN[0], IN[1]"),
        ("SLE", "|IN[0]|, -IN[1]"),
        ("DST", "IN[0], IN[1]"),
    ] {
        for mask in ["", ".x", ".yw", ".zw"] {
            agree_in(
                "VERT",
                "",
                &format!(
                    "{opcode} OUT[0]{mask}, {sources}\n{opcode}_SAT TEMP[1]{mask}, {sources}\nMOV OUT[1], TEMP[1]"
                ),
            );
        }
    }
    // Widths and offsets at their ends.
    for (offset, width) in [(0, 32), (31, 1), (32, 32), (5, 0), (30, 8), (33, 33), (1, 32)] {
        let text = with_registers(
            "VERT",
            &format!("IMM[0] UINT32 {{ {offset}, {width}, 0, 0 }}"),
            "UBFE OUT[0], IN[0], IMM[0].xxxx, IMM[0].yyyy
             NOT TEMP[0], IN[0]
             IBFE OUT[1], TEMP[0], IMM[0].xxxx, IMM[0].yyyy
             BFI OUT[2], TEMP[0], IN[0], IMM[0].xxxx, IMM[0].yyyy
             UADD TEMP[1], IMM[0], CONST[1][9]
             BFI OUT[3], TEMP[0], IN[0], TEMP[1].xxxx, TEMP[1].yyyy",
        );
        agree(&text.replace("IMM[0] UINT32 { 0, 1, 2, 3 }\n", ""));
    }
}

#[test]
fn pairs_of_every_mask() {
    for (opcode, sources) in [
        ("DADD", "TEMP[0], TEMP[1]"),
        ("DMAD", "TEMP[0].zwxy, TEMP[1], TEMP[0].xyxy"),
        ("DFMA", "TEMP[0], TEMP[1], TEMP[1]"),
        ("DSLT", "TEMP[0], TEMP[1]"),
        ("U64SNE", "TEMP[0], TEMP[1].zwxy"),
        ("D2F", "TEMP[0]"),
        ("I642F", "IN[0]"),
        ("F2D", "IN[1].wzyx"),
        ("U2I64", "IN[0]"),
        ("I64MOD", "IN[0], IN[1]"),
        ("U64DIV", "IN[0], IN[1]"),
        ("I64DIV", "IN[0], IN[1]"),
        ("U64MOD", "IN[0], IN[1]"),
        ("U64SHL", "IN[0], IN[1]"),
        ("I64SHR", "IN[0], IN[1].wwzz"),
        ("DSSG", "TEMP[0]"),
        ("DROUND", "TEMP[0]"),
        ("DLDEXP", "TEMP[0], IN[1]"),
        ("I64ABS", "IN[0]"),
        ("D2U64", "TEMP[0]"),
    ] {
        for mask in ["", ".xy", ".zw", ".x", ".z", ".xz", ".yw", ".xyz"] {
            agree_in(
                "VERT",
                "",
                &format!(
                    "F2D TEMP[0], IN[0]\nF2D TEMP[1], IN[1]\nMOV TEMP[2], IN[3]\n{opcode} TEMP[2]{mask}, {sources}\nMOV OUT[0], TEMP[2]"
                ),
            );
        }
    }
    agree_in("VERT", "", "F2D TEMP[0], IN[0]\nDMUL_SAT TEMP[0], TEMP[0], TEMP[0].zwxy\nMOV OUT[0], TEMP[0]");
}

#[test]
fn legacy_rules_make_zero_of_zero() {
    let text = with_registers(
        "VERT",
        "",
        "RCP TEMP[0].x, CONST[2].wwww
         MUL OUT[0], IN[0], TEMP[0].xxxx
         MAD OUT[1], IN[0], TEMP[0].xxxx, IN[1]
         DP4 OUT[2].x, IN[0], TEMP[0].xxxx
         FMA OUT[2].y, IN[0], TEMP[0].xxxx, IN[1]
         LRP OUT[3], IN[0], TEMP[0].xxxx, IN[1]
         DST OUT[2].zw, IN[0], TEMP[0]",
    );
    let ir = agree(&text.replace("VERT\n", "VERT\nPROPERTY LEGACY_MATH_RULES 1\n"));
    assert!(ir.info.use_legacy_math_rules);
    assert_eq!(count_alu(&ir, AluOp::Fmul), 0);
}

#[test]
fn precise_is_exact_and_swizzles_need_no_instruction() {
    let ir = agree_in("VERT", "", "MUL_PRECISE OUT[0], IN[0].wzyx, IN[1]\nADD OUT[1], IN[0].xxxx, IN[1].yzwx");
    let exact = insts(&ir)
        .into_iter()
        .filter_map(|inst| ir.main().alu(inst))
        .map(|(op, flags)| (op, flags.is_exact()))
        .collect::<Vec<_>>();
    assert_eq!(exact, [(AluOp::Fmul, true), (AluOp::Fadd, false)]);
}

#[test]
fn precise_dot_products_add_in_order() {
    let ir = agree_in("VERT", "", "DP4_PRECISE OUT[0], IN[0], IN[1]\nDP3_PRECISE OUT[1].y, IN[0], IN[1]");
    assert_eq!(count_alu(&ir, AluOp::Fdot4), 0);
}
