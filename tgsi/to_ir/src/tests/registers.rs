//! Register files: indices, arrays, inputs, outputs.

use super::*;

#[test]
fn address_components_are_scalars() {
    let ir = agree_in(
        "VERT",
        "DCL TEMP[8..11], ARRAY(1)",
        "AND ADDR[0].xz, IN[0], IMM[0].wwww
         ARL ADDR[1].y, IMM[1].wwww
         MOV TEMP[ADDR[0].z+8](1), IN[1]
         MOV TEMP[ADDR[0].x+9](1).xw, IN[2]
         UADD OUT[0], ADDR[0].xzzx, ADDR[1].yyyy
         MOV OUT[1], TEMP[ADDR[1].y+8](1)
         MOV OUT[2], TEMP[ADDR[0].x+8](1)
         MOV OUT[3], -TEMP[9]",
    );
    let shapes: Vec<i32> = intrinsics(&ir, IntrinsicOp::DeclReg)
        .into_iter()
        .map(|inst| ir.main().index(inst, IndexKind::NumComponents))
        .collect();
    assert_eq!(shapes, [1, 1, 1, 4, 4, 4, 4]);
    assert_eq!(variable(&ir, "arr_1").mode, VariableModes::SHADER_TEMP);
}

#[test]
fn indices_outside_of_their_array_read_nothing() {
    agree_in(
        "VERT",
        "DCL TEMP[8..9], ARRAY(1)\nDCL TEMP[10..11], ARRAY(2)\nDCL TEMP[11..12], ARRAY(3)",
        "MOV ADDR[0].x, IN[0].xxxx
         MOV TEMP[8], IN[0]
         MOV TEMP[10], IN[1]
         MOV TEMP[ADDR[0].x+8](1).xy, IN[2]
         MOV TEMP[ADDR[0].x+10](2).zw, IN[3]
         MOV TEMP[ADDR[0].x+9](3).x, IN[3]
         MOV OUT[0], TEMP[9]
         MOV OUT[1], TEMP[11]
         MOV OUT[2], TEMP[ADDR[0].x+7](1)
         MOV OUT[3], TEMP[ADDR[0].x+11](3)",
    );
}

#[test]
fn an_index_without_array_takes_all_temporaries() {
    let ir = agree_in(
        "VERT",
        "",
        "AND ADDR[0].x, IN[0].xxxx, IMM[0].wwww
         MOV TEMP[2], IN[1]
         MOV TEMP[ADDR[0].x+2], IN[2]
         UADD OUT[0], TEMP[2], TEMP[ADDR[0].x+1]
         MOV OUT[1], TEMP[4]",
    );
    assert!(matches!(ir.types.get(variable(&ir, "temps").ty), TypeData::Array { length: 8, .. }));
}

#[test]
fn index_registers_of_every_file() {
    agree_in(
        "VERT",
        "DCL SV[0], VERTEXID\nDCL SV[1], INSTANCEID",
        "MOV TEMP[0].x, IN[0].xxxx
         MOV OUT[0].x, CONST[0][TEMP[0].x+1].yyyy
         MOV OUT[0].y, CONST[1][IN[0].y].xxxx
         MOV OUT[0].z, CONST[IMM[0].y][2].zzzz
         MOV OUT[0].w, CONST[SV[0].x][SV[1].x].wwww
         MOV OUT[1].x, IMM[IN[0].x].yyyy
         MOV OUT[1].y, SV[IN[0].y].xxxx
         MOV OUT[1].z, IN[IN[0].z].zzzz
         MOV OUT[1].w, SV[0].xyzw
         MOV OUT[2], CONST[0][CONST[0].x]
         MOV OUT[IN[1].x+2].yz, IN[1].xxyy",
    );
}

#[test]
fn inputs_of_different_meaning_are_found_by_comparison() {
    agree(
        "FRAG\nDCL IN[0], GENERIC[3], LINEAR\nDCL IN[1], COLOR, COLOR\nDCL IN[2..3], GENERIC[9], CONSTANT\nDCL OUT[0..1], COLOR\n\
         MOV OUT[0], IN[IN[0].x]\nINTERP_CENTROID OUT[1], IN[IN[0].y].wzyx\nEND\n",
    );
}

#[test]
fn undeclared_registers_are_nothing() {
    agree_in(
        "VERT",
        "",
        "MOV OUT[9], IN[0]\nMOV TEMP[30], IN[0]\nUADD OUT[0], TEMP[30], IN[7]\nMOV OUT[1], IMM[9]\nMOV OUT[2], CONST[0][-3]",
    );
}

#[test]
fn outputs_have_the_shape_of_what_is_written() {
    let ir = agree(
        "FRAG\nDCL IN[0], GENERIC[0], LINEAR\nDCL OUT[0], POSITION\nDCL OUT[1], STENCIL\nDCL OUT[2], SAMPLEMASK\nDCL OUT[3], COLOR[1]\n\
         MOV OUT[0].z, IN[0].xxxx\nMOV OUT[1].y, IN[0].yyyy\nMOV OUT[2].x, IN[0].zzzz\nMOV_SAT OUT[3].xw, IN[0]\nEND\n",
    );
    let shape = |name: &str| {
        let data = variable(&ir, name);
        (ir.types.as_vector(data.ty).map(|(_, n)| n), data.location, data.location_frac, data.driver_location)
    };
    assert_eq!(shape("out_0"), (Some(1), 0, 2, 0));
    assert_eq!(shape("out_1"), (Some(1), 1, 1, 1));
    assert_eq!(shape("out_2"), (Some(1), 3, 0, 2));
    assert_eq!(shape("out_3"), (Some(4), 5, 0, 3));
    let ir = agree("FRAG\nDCL IN[0], GENERIC[0], LINEAR\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0]\nEND\n");
    assert_eq!(ir.types.as_vector(variable(&ir, "out_0").ty).map(|(_, n)| n), Some(4));
}

#[test]
fn geometry_outputs_start_anew_with_each_vertex() {
    agree(
        "GEOM\nPROPERTY GS_INPUT_PRIMITIVE TRIANGLES\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\nPROPERTY GS_MAX_OUTPUT_VERTICES 5\n\
         DCL IN[][0], GENERIC[0]\nDCL IN[][1], GENERIC[1]\nDCL IN[2], PRIM_ID\nDCL OUT[0], POSITION\nDCL OUT[1..2], ARRAY(1), GENERIC[0]\nDCL ADDR[0..1]\n\
         IMM[0] UINT32 { 0, 1, 2, 3 }\n\
         MOV OUT[0], IN[1][0]\nAND ADDR[0].x, IN[0][0].xxxx, IMM[0].yyyy\nMOV OUT[ADDR[0].x+1](1).yw, IN[ADDR[0].x][1]\nEMIT IMM[0].xxxx\n\
         MOV OUT[0].x, IN[2].xxxx\nEMIT IMM[0].xxxx\nENDPRIM IMM[0].xxxx\nMOV OUT[2], OUT[1]\nEMIT IMM[0].yyyy\nEND\n",
    );
}

#[test]
fn tessellation_control_writes_at_once() {
    let ir = agree(
        "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 4\nDCL IN[][0], GENERIC[0]\nDCL OUT[][0], GENERIC[0]\nDCL OUT[][1..3], ARRAY(1), GENERIC[1]\n\
         DCL OUT[4], TESSOUTER\nDCL OUT[5..6], PATCH\nDCL SV[0], INVOCATIONID\nDCL TEMP[0]\nDCL ADDR[0..1]\nIMM[0] UINT32 { 0, 1, 2, 3 }\n\
         AND ADDR[0].x, SV[0].xxxx, IMM[0].wwww\nMOV OUT[ADDR[0].x][0], IN[0][0]\nAND ADDR[1].x, IN[1][0].xxxx, IMM[0].yyyy\n\
         MOV OUT[ADDR[0].x][ADDR[1].x+1](1).yz, IN[2][0]\nMOV OUT[ADDR[1].x+5].x, IN[0][0]\nMOV OUT[4].xy, IN[1][0]\n\
         BARRIER\nMOV TEMP[0], OUT[1][0]\nUADD OUT[ADDR[0].x][3].w, TEMP[0], OUT[ADDR[1].x+5].xxxx\nEND\n",
    );
    assert!(variable(&ir, "out_5").patch && variable(&ir, "out_0").per_vertex);
}
