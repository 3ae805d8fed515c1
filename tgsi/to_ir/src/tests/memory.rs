//! Memory, counters, and cross-lane operations.

use super::*;

#[test]
fn counters_of_every_operation() {
    let counters = "DCL HWATOMIC[0][0..3], ARRAY(1)\nDCL HWATOMIC[1][2]\nDCL BUFFER[0]";
    for opcode in [
        "ATOMUADD",
        "ATOMXCHG",
        "ATOMAND",
        "ATOMOR",
        "ATOMXOR",
        "ATOMUMIN",
        "ATOMUMAX",
        "ATOMIMIN",
        "ATOMIMAX",
        "ATOMINC_WRAP",
        "ATOMDEC_WRAP",
        "ATOMFADD",
    ] {
        agree_in(
            "VERT",
            counters,
            &format!(
                "{opcode} TEMP[0].x, HWATOMIC[0][1], IMM[0].xxxx, IN[0]\nMOV OUT[0], TEMP[0]\n{opcode} OUT[1].x, HWATOMIC[1][2], IMM[0].yyyy, IN[1]"
            ),
        );
    }
    agree_in(
        "VERT",
        counters,
        "ATOMCAS OUT[0].x, HWATOMIC[0][1], IMM[0].xxxx, IN[0], IN[1]
         LOAD OUT[1].x, HWATOMIC[0][3], IMM[0].xxxx
         AND ADDR[0].x, IN[0].xxxx, IMM[0].wwww
         LOAD OUT[2].x, HWATOMIC[0][ADDR[0].x](1), IMM[0].yyyy
         ATOMUADD OUT[3].x, HWATOMIC[0][ADDR[0].x+1](1), IMM[0].xxxx, IMM[0].yyyy",
    );
}

#[test]
fn memory_of_every_kind() {
    let files =
        "DCL BUFFER[0..1]\nDCL MEMORY[0], SHARED\nDCL IMAGE[0..1], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL SV[0], THREAD_ID";
    for code in [
        "LOAD TEMP[0].xyz, BUFFER[0], SV[0].xxxx\nSTORE BUFFER[1].xz, SV[0].yyyy, TEMP[0]",
        "STORE MEMORY[0].yw, SV[0].xxxx, SV[0]\nLOAD TEMP[0], MEMORY[0], SV[0].yyyy\nSTORE BUFFER[1], SV[0].zzzz, TEMP[0]",
        "ATOMUADD TEMP[0].x, BUFFER[0], SV[0].xxxx, SV[0].yyyy\nATOMCAS TEMP[0].y, MEMORY[0], SV[0].xxxx, IMM[0].xxxx, SV[0].zzzz\nSTORE BUFFER[1], SV[0].zzzz, TEMP[0]",
        "ATOMFADD TEMP[0].x, MEMORY[0], SV[0].xxxx, IMM[1].yyyy\nATOMINC_WRAP TEMP[0].x, BUFFER[0], IMM[0].xxxx, IMM[2].xxxx",
        "LOAD TEMP[0], IMAGE[0].wzyx, SV[0], 2D, PIPE_FORMAT_R32_UINT\nSTORE IMAGE[1], SV[0], TEMP[0], 2D, PIPE_FORMAT_R32_UINT\nATOMIMAX TEMP[0].x, IMAGE[1], SV[0], SV[0].yyyy, 2D, PIPE_FORMAT_R32_UINT\nRESQ TEMP[1], IMAGE[0], 2D\nSTORE BUFFER[0], IMM[0].xxxx, TEMP[1]",
        "AND ADDR[0].x, SV[0].xxxx, IMM[0].yyyy\nSTORE BUFFER[ADDR[0].x], SV[0].yyyy, SV[0]\nSTORE IMAGE[ADDR[0].x], SV[0], SV[0], 2D, PIPE_FORMAT_R32_UINT\nRESQ TEMP[0], BUFFER[1]\nMEMBAR IMM[0].wwww\nBARRIER\nSTORE BUFFER[0], SV[0].xxxx, TEMP[0]",
        "LOAD TEMP[0].xy, CONST[1], IMM[2].xxxx\nLOAD TEMP[1], CONST[0], SV[0].xxxx\nSTORE BUFFER[0], IMM[0].xxxx, TEMP[0]\nSTORE BUFFER[1], SV[0].xxxx, TEMP[1]",
    ] {
        agree_in("COMP", files, code);
    }
}

#[test]
fn lanes_know_of_each_other() {
    for code in [
        "VOTE_ANY OUT[0], IN[0]",
        "VOTE_ALL OUT[0].xz, IN[0].yxyx",
        "VOTE_EQ OUT[0], IN[0]",
        "BALLOT OUT[0], IN[0].yyyy",
        "READ_FIRST OUT[0].yz, -IN[0]",
        "READ_INVOC OUT[0], IN[0].wzyx, IMM[0].zzzz",
        "DDX OUT[0], IN[0]\nDDY_FINE OUT[1].y, IN[1].wzyx",
        "KILL_IF -IN[0].xxyz\nREAD_HELPER OUT[0], \nMOV OUT[1], IN[1]",
        "UIF IN[0].xxxx\nKILL\nENDIF\nDDX_FINE OUT[0], IN[1]",
        "UIF IN[0].xxxx\nDEMOTE\nENDIF\nDDY OUT[0], IN[1]",
        "FBFETCH OUT[0], OUT[0].yxzw",
        "INTERP_SAMPLE OUT[0].xw, IN[1].wzyx, IMM[0].yyyy\nINTERP_OFFSET OUT[1], IN[2].zwxy, IN[3]",
        "UIF IN[0].xxxx\nVOTE_ANY OUT[0].x, IN[1]\nBALLOT OUT[1].xy, IN[1]\nREAD_FIRST OUT[2], IN[1]\nENDIF",
    ] {
        agree_in("FRAG", "", &code.replace("READ_HELPER OUT[0], ", "READ_HELPER OUT[0]"));
    }
    let text = with_registers("FRAG", "", "KILL\nKILL_IF IN[0]");
    let options = ToIrOptions { kill_is_demote: true, ..ToIrOptions::default() };
    let ir = to_ir(&parse(&text), &options).unwrap();
    assert_eq!(intrinsics(&ir, IntrinsicOp::Demote).len() + intrinsics(&ir, IntrinsicOp::DemoteIf).len(), 2);
    assert!(ir.info.fs.uses_discard);
}

#[test]
fn system_values_have_no_more_components_than_they_have() {
    agree_in(
        "COMP",
        "DCL SV[0], THREAD_ID\nDCL SV[1], BLOCK_ID\nDCL SV[2], GRID_SIZE\nDCL BUFFER[0]",
        "UADD TEMP[0], SV[0], SV[1]\nUADD TEMP[0], TEMP[0], SV[2].wzyx\nSTORE BUFFER[0], IMM[0].xxxx, TEMP[0]",
    );
    agree_in(
        "FRAG",
        "DCL SV[0], FACE\nDCL SV[1], SAMPLEPOS\nDCL SV[2], SUBGROUP_GE_MASK",
        "MOV OUT[0], SV[0]\nMOV OUT[1], SV[1]\nMOV OUT[2], SV[2].yxwz",
    );
}
