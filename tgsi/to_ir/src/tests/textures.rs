//! Textures: lookups, gathers, queries, samplers by index and by handle.

use super::*;

#[test]
fn sampler_era_opcodes() {
    let views = "DCL SAMP[0..3]\nDCL SVIEW[0], 2D, FLOAT\nDCL SVIEW[1], CUBEARRAY, FLOAT\nDCL SVIEW[2], 1D_ARRAY, FLOAT\nDCL SVIEW[3], 3D, UINT";
    for code in [
        "SAMPLE OUT[0], IN[0], SVIEW[0].wzyx, SAMP[1]",
        "SAMPLE_B OUT[0].xz, IN[0], SVIEW[1], SAMP[1], IN[1].yyyy",
        "SAMPLE_L OUT[0], IN[0], SVIEW[2].xxyy, SAMP[1], IN[1].yyyy",
        "SAMPLE_C OUT[0], IN[0], SVIEW[0], SAMP[2], IN[1].zzzz",
        "SAMPLE_C_LZ OUT[0], IN[0], SVIEW[2], SAMP[0], IN[1].zzzz",
        "SAMPLE_D OUT[0], IN[0], SVIEW[3], SAMP[0], IN[1], IN[2]",
        "SAMPLE_I OUT[0], IN[0], SVIEW[3].yxwz",
        "GATHER4 OUT[0], IN[0], SVIEW[0], SAMP[1]",
        "LOD OUT[0], IN[0], SVIEW[0].yxzw, SAMP[1]",
        "SVIEWINFO OUT[0], IN[0].xxxx, SVIEW[3]",
        "SAMPLE_INFO OUT[0], SVIEW[0], IN[0]",
        "SAMPLE_POS OUT[0], SVIEW[0], IN[0].yyyy",
        "SAMPLE_POS OUT[0].y, TEMP[0], IN[0].yyyy",
    ] {
        agree_in("FRAG", views, code);
    }
}

#[test]
fn lookups_of_every_target() {
    for (target, views) in [
        ("1D", "1D"),
        ("2D", "2D"),
        ("3D", "3D"),
        ("CUBE", "CUBE"),
        ("RECT", "RECT"),
        ("1D_ARRAY", "1D_ARRAY"),
        ("2D_ARRAY", "2D_ARRAY"),
        ("CUBEARRAY", "CUBEARRAY"),
        ("SHADOW1D", "SHADOW1D"),
        ("SHADOW2D", "SHADOW2D"),
        ("SHADOWRECT", "SHADOWRECT"),
        ("SHADOWCUBE", "SHADOWCUBE"),
        ("SHADOW1D_ARRAY", "SHADOW1D_ARRAY"),
        ("SHADOW2D_ARRAY", "SHADOW2D_ARRAY"),
        ("SHADOWCUBEARRAY", "SHADOWCUBEARRAY"),
    ] {
        let declarations = format!("DCL SAMP[0..1]\nDCL SVIEW[0..1], {views}, FLOAT");
        for code in [
            "TEX OUT[0], IN[0], SAMP[0]",
            "TXP OUT[0], IN[0], SAMP[1]",
            "TXB OUT[0], IN[0], SAMP[0]",
            "TXL OUT[0], IN[0], SAMP[0]",
            "TEX_LZ OUT[0], IN[0], SAMP[0]",
            "TEX2 OUT[0], IN[0], IN[1], SAMP[0]",
            "TXB2 OUT[0], IN[0], IN[1], SAMP[0]",
            "TXL2 OUT[0], IN[0], IN[1], SAMP[0]",
            "TXD OUT[0], IN[0], IN[1], IN[2], SAMP[0]",
            "TXF OUT[0], IN[0], SAMP[0]",
            "TXF_LZ OUT[0], IN[0], SAMP[0]",
            "TG4 OUT[0], IN[0], IMM[0].zzzz, SAMP[0]",
            "LODQ OUT[0], IN[0], SAMP[0]",
            "TXQS OUT[0], SAMP[0]",
        ] {
            // There is no comparator where TEX has none.
            if target == "SHADOWCUBEARRAY" && (code.starts_with("TXD") || code.starts_with("TXP")) {
                continue;
            }
            agree_in("FRAG", &declarations, &format!("{code}, {target}"));
        }
        agree_in("FRAG", &declarations, &format!("TXQ OUT[0].xw, IN[0].xxxx, SAMP[0], {target}"));
    }
    agree_in("FRAG", "DCL SAMP[0]\nDCL SVIEW[0], 2D_MSAA, SINT", "TXF OUT[0], IN[0], SAMP[0], 2D_MSAA");
    agree_in("FRAG", "DCL SAMP[0]\nDCL SVIEW[0], BUFFER, UINT", "TXF OUT[0], IN[0], SAMP[0], BUFFER");
}

#[test]
fn texel_offsets_and_gathers() {
    let views = "DCL SAMP[0..1]\nDCL SVIEW[0..1], 2D, FLOAT";
    for code in [
        "TEX OUT[0], IN[0], SAMP[0], 2D, IMM[0].yzw",
        "TXL OUT[0], IN[0], SAMP[0], 2D, TEMP[0].yzw",
        "TG4 OUT[0], IN[0], IMM[0].yyyy, SAMP[0], 2D, IMM[0].yzw, IMM[0].xyz, IMM[2].xyz, IMM[2].zwx",
        "MOV TEMP[0], IN[1]\nTG4 OUT[0], IN[0], IMM[0].yyyy, SAMP[0], 2D, TEMP[0].yzw, IMM[0].xyz, IMM[2].xyz, IMM[2].zwx",
        "TG4 OUT[0], IN[0], IN[1].xxxx, SAMP[0], 2D",
        "TG4 OUT[0], IN[0], IMM[0].xxxx, SAMP[0].zzzz, 2D",
    ] {
        agree_in("FRAG", views, code);
    }
}

#[test]
fn an_indirect_sampler_is_an_array() {
    let ir = agree_in(
        "FRAG",
        "DCL SAMP[0..3]\nDCL SVIEW[0..3], 2D, FLOAT",
        "MOV ADDR[0].x, CONST[0][0].xxxx
         TEX OUT[0], IN[0], SAMP[ADDR[0].x+1], 2D
         TEX OUT[1], IN[0], SAMP[2], 2D",
    );
    let samplers = ir.globals_with(VariableModes::UNIFORM).count();
    assert_eq!(samplers, 1);
}

#[test]
fn handles_name_textures_and_images() {
    agree_in(
        "FRAG",
        "DCL SAMP[0..1]\nDCL SVIEW[0..1], 2D, FLOAT\nDCL IMAGE[0..2], 2D, PIPE_FORMAT_R32G32B32A32_FLOAT, WR",
        "SAMP2HND TEMP[0].xy, SAMP[1], 2D
         TEX OUT[0], IN[0], TEMP[0], 2D
         IMG2HND TEMP[1].xy, IMAGE[2]
         LOAD OUT[1], TEMP[1], IN[0], 2D, PIPE_FORMAT_R32G32B32A32_FLOAT
         IMG2HND OUT[2], IMAGE[1]",
    );
}
