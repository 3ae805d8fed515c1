//! Rewrites stores as Mesa's interpreter executes them.

use tgsi_run::as_mesa_stores;

fn lines(body: &str) -> Vec<String> {
    let text = format!(
        "COMP\nDCL SV[0], THREAD_ID\nDCL BUFFER[0]\nDCL MEMORY[0], SHARED\n\
         DCL IMAGE[0], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL TEMP[0..3]\n{body}\nEND\n"
    );
    let shader = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let printed = tgsi::text::print(&as_mesa_stores(&shader), tgsi::text::PrintOptions::default());
    let code = printed.lines().filter_map(|line| line.trim().split_once(": "));
    code.map(|(_, code)| code.trim().to_owned()).take_while(|code| code != "END").collect()
}

#[test]
fn atomics_on_memory_forget_their_mask() {
    let of = |code: &str| lines(code).join("; ");
    assert_eq!(of("ATOMUADD TEMP[0].x, BUFFER[0], TEMP[1], TEMP[2]"), "ATOMUADD TEMP[0], BUFFER[0], TEMP[1], TEMP[2]");
    assert_eq!(of("ATOMXCHG TEMP[0].xz, MEMORY[0], TEMP[1], TEMP[2]"), "ATOMXCHG TEMP[0], MEMORY[0], TEMP[1], TEMP[2]");
    assert_eq!(of("ATOMOR TEMP[0].y, MEMORY[0], TEMP[1], TEMP[2]"), "NOP");
    for kept in [
        "ATOMUADD TEMP[0].x, IMAGE[0], TEMP[1], TEMP[2], 2D, PIPE_FORMAT_R32_UINT",
        "LOAD TEMP[0].x, BUFFER[0], TEMP[1]",
        "STORE BUFFER[0].y, TEMP[1], TEMP[2]",
        "MOV TEMP[0].x, TEMP[1]",
    ] {
        assert_eq!(of(kept), kept);
    }
}

#[test]
fn the_first_half_comes_first() {
    assert_eq!(
        lines("DADD TEMP[0], TEMP[0].zwxy, TEMP[1]"),
        ["DADD TEMP[0].xy, TEMP[0].zwxy, TEMP[1]", "DADD TEMP[0].zw, TEMP[0].zwxy, TEMP[1]"]
    );
    assert_eq!(lines("I2D TEMP[0], TEMP[0]"), ["I2D TEMP[0].xy, TEMP[0]", "I2D TEMP[0].zw, TEMP[0]"]);
    assert_eq!(
        lines("DSLT TEMP[0].xz, TEMP[0], TEMP[1]"),
        ["DSLT TEMP[0].x, TEMP[0], TEMP[1]", "DSLT TEMP[0].z, TEMP[0], TEMP[1]"]
    );
    // The single component of the mask is computed from x and y.
    assert_eq!(lines("D2F TEMP[0].yw, TEMP[0]"), ["D2F TEMP[0].y, TEMP[0]", "D2F TEMP[0].w, TEMP[0].zwxy"]);
    for one in ["DADD TEMP[0].xy, TEMP[0].zwxy, TEMP[1]", "D2I TEMP[0].x, TEMP[0]", "UADD TEMP[0], TEMP[1], TEMP[0]"] {
        assert_eq!(lines(one), [one]);
    }
}

#[test]
fn labels_follow() {
    let code = lines("UIF TEMP[0].xxxx :4\nDADD TEMP[0], TEMP[0].zwxy, TEMP[1]\nELSE :4\nMOV TEMP[0], TEMP[1]\nENDIF");
    assert_eq!(code[0], "UIF TEMP[0].xxxx :5");
    assert_eq!(code[3], "ELSE :5");
}
