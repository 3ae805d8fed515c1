//! Shaders that load and store with dynamic indices: constants, buffers, shared memory and arrays. Each is listed with
//! the names of the operations that the interpreter executes.

fn vertex(declarations: &str, body: &str) -> String {
    format!("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\n{declarations}\n{body}\nEND\n")
}

const COMPONENTS: [&str; 4] = ["xxxx", "yyyy", "zzzz", "wwww"];

pub type Interpreted = &'static [&'static str];

pub fn constants() -> Vec<(String, Interpreted)> {
    let mut shaders = Vec::new();
    let files = [("CONST[0]", "DCL CONST[0][0..15]"), ("CONST[1]", "DCL CONST[0][0]\nDCL CONST[1][0..15]")];
    for component in COMPONENTS {
        for (file, buffers) in files {
            let address = format!("UARL ADDR[0].x, IN[0].{component}\n");
            for (mask, swizzle) in [("xyzw", "xyzw"), ("xy", "zwzw"), ("xyz", "yzwx"), ("x", "wwww")] {
                let body = format!(
                    "{address}MOV OUT[0], IN[0]\nMOV OUT[1], CONST[0][0]\n\
                     MOV OUT[1].{mask}, {file}[ADDR[0].x+1].{swizzle}"
                );
                shaders.push((vertex(&format!("{buffers}\nDCL ADDR[0]"), &body), &[][..]));
            }
            let body = format!("{address}DADD TEMP[0], {file}[ADDR[0].x], {file}[ADDR[0].x+1]\nMOV OUT[0], TEMP[0]");
            shaders.push((vertex(&format!("{buffers}\nDCL ADDR[0]\nDCL TEMP[0]"), &body), &[][..]));
        }
    }
    shaders
}

pub fn inputs() -> Vec<(String, Interpreted)> {
    let mut shaders = Vec::new();
    for component in COMPONENTS {
        for (mask, swizzle) in [("xyzw", "xyzw"), ("xy", "yzwx"), ("x", "wwww")] {
            let text = format!(
                "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL IN[1..5], ARRAY(1), GENERIC[1], CONSTANT\nDCL OUT[0], COLOR\n\
                 DCL ADDR[0]\nUARL ADDR[0].x, IN[0].{component}\nMOV OUT[0], IN[0]\n\
                 MOV OUT[0].{mask}, IN[ADDR[0].x+1](1).{swizzle}\nEND\n"
            );
            shaders.push((text, &[][..]));
        }
    }
    shaders
}

pub fn buffers() -> Vec<(String, Interpreted)> {
    let mut shaders = Vec::new();
    for component in COMPONENTS {
        for mask in ["x", "xy", "xyz", "xyzw"] {
            let body = format!(
                "USHR TEMP[0].x, IN[0].{component}, IMM[0].xxxx\nSHL TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy\n\
                 MOV TEMP[1], IMM[0]\nLOAD TEMP[1].{mask}, BUFFER[1], TEMP[0].xxxx\nMOV OUT[1], TEMP[1]\n\
                 LOAD TEMP[1].{mask}, BUFFER[0], IN[0].{component}\nMOV OUT[0], TEMP[1]"
            );
            let declarations = "DCL BUFFER[0]\nDCL BUFFER[1]\nDCL TEMP[0..1]\nIMM[0] UINT32 {0, 2, 7, 9}";
            shaders.push((vertex(declarations, &body), &[][..]));
        }
    }
    shaders
}

pub fn shared_memory() -> Vec<(String, Interpreted)> {
    let text = "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 72\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\n\
        PROPERTY CS_FIXED_BLOCK_DEPTH 1\nDCL SV[0], THREAD_ID\nDCL MEMORY[0], SHARED\nDCL BUFFER[0]\nDCL TEMP[0..2]\n\
        IMM[0] UINT32 {2, 5, 92, 0}\nSHL TEMP[0].x, SV[0].xxxx, IMM[0].xxxx\nUMUL TEMP[1].x, SV[0].xxxx, IMM[0].yyyy\n\
        STORE MEMORY[0].x, TEMP[0].xxxx, TEMP[1].xxxx\nBARRIER\nLOAD TEMP[1], MEMORY[0], TEMP[0].xxxx\n\
        UADD TEMP[1], TEMP[1], TEMP[1].wzyx\nLOAD TEMP[2].xy, MEMORY[0], IMM[0].zzzz\n\
        UADD TEMP[1].xy, TEMP[1], TEMP[2]\nSTORE BUFFER[0].xyzw, TEMP[0].xxxx, TEMP[1]\nEND\n";
    vec![(text.to_owned(), &["load_local_invocation_id", "store_shared", "barrier", "store_ssbo"])]
}

pub fn arrays() -> Vec<(String, Interpreted)> {
    let declarations = "DCL TEMP[0..6], ARRAY(1)\nDCL TEMP[7..9]\nDCL ADDR[0..1]\nIMM[0] UINT32 {0, 1, 6, 4}";
    let fill: String =
        (0..7).map(|number| format!("UADD TEMP[{number}], IN[0], IMM[0].{}\n", ["xyzw", "wzyx"][number % 2])).collect();
    let mut shaders = Vec::new();
    for component in COMPONENTS {
        let body = format!(
            "{fill}UARL ADDR[0].x, IN[0].{component}\nUARL ADDR[1].x, IN[0].xxxx\n\
             MOV TEMP[ADDR[0].x](1).xz, IN[0].zzzz\nMOV TEMP[2], TEMP[ADDR[1].x](1)\n\
             MOV OUT[0], TEMP[ADDR[0].x](1)\nUADD OUT[1], TEMP[ADDR[1].x](1), TEMP[2]"
        );
        shaders.push((vertex(declarations, &body), &[][..]));
        // Lanes diverge, and leave the loop at different times.
        let body = format!(
            "{fill}MOV TEMP[7], IMM[0].xxxx\nBGNLOOP\nUSGE TEMP[8].x, TEMP[7].xxxx, IMM[0].zzzz\nUIF TEMP[8].xxxx\nBRK\n\
             ENDIF\nUSGE TEMP[8].x, TEMP[7].xxxx, IN[0].xxxx\nUIF TEMP[8].xxxx\nBRK\nENDIF\n\
             UADD TEMP[7].x, TEMP[7].xxxx, IMM[0].yyyy\nUARL ADDR[0].x, TEMP[7].xxxx\nUARL ADDR[1].x, IN[0].{component}\n\
             AND TEMP[8].x, IN[0].{component}, IMM[0].yyyy\nUIF TEMP[8].xxxx\n\
             UADD TEMP[ADDR[0].x](1).yw, TEMP[ADDR[1].x](1), TEMP[7].xxxx\nELSE\n\
             UADD TEMP[ADDR[1].x](1).x, TEMP[ADDR[0].x](1), TEMP[7].xxxx\nENDIF\nENDLOOP\nUARL ADDR[0].x, IN[0].xxxx\n\
             MOV OUT[0], TEMP[ADDR[0].x](1)\nMOV OUT[1], TEMP[ADDR[1].x](1)"
        );
        shaders.push((vertex(declarations, &body), &[][..]));
    }
    shaders
}
