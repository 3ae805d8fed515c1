//! Old dialects: their rewritten form, and that rewritten instructions have the results of the original ones.

use pretty_assertions::assert_eq;
use tgsi::shader::Shader;
use tgsi::text::{PrintOptions, parse, print};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_run::{Program, run};

fn read(text: &str) -> Shader {
    parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).shader
}

/// Returns the lines of the print of `text`, without stage, declarations of inputs and outputs, and numbers.
fn becomes(text: &str) -> Vec<String> {
    let text = print(&read(text), PrintOptions::default());
    text.lines()
        .skip(1)
        .filter(|line| !line.starts_with("DCL IN") && !line.starts_with("DCL OUT"))
        .map(|line| match line.split_once(": ") {
            Some((number, rest)) if number.trim().parse::<u32>().is_ok() => rest.to_owned(),
            _ => line.to_owned(),
        })
        .collect()
}

/// Runs `body` on the words of IN[0], IN[1], IN[2] in lane 0; returns the words of OUT[0].
fn compute(body: &str, inputs: [[u32; 4]; 3]) -> [u32; 4] {
    let head = "FRAG\nDCL IN[0..2], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL OUT[1], COLOR[1]\n";
    let program = Program::new(&read(&format!("{head}{body}\nEND\n"))).expect("a program");
    let mut registers = LaneRegisters::new(4, 3);
    for (register, words) in inputs.into_iter().enumerate() {
        for (component, word) in words.into_iter().enumerate() {
            (0..4).for_each(|lane| registers.set(register, component, lane, word));
        }
    }
    let inputs = Inputs { lanes: 4, inputs: registers, ..Inputs::default() };
    let outputs = run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("an end");
    [0, 1, 2, 3].map(|component| outputs.outputs.get(0, component, 0))
}

const A: [f32; 4] = [1.5, -2.0, 0.25, 3.0];
const B: [f32; 4] = [-0.5, 4.0, 8.0, 0.5];
const C: [f32; 4] = [0.75, 0.5, -1.0, 2.0];

fn floats(body: &str) -> [f32; 4] {
    compute(body, [A, B, C].map(|v| v.map(f32::to_bits))).map(f32::from_bits)
}

#[test]
fn arithmetic() {
    let dot = |a: [f32; 4], b: [f32; 4], n: usize| (0..n).map(|i| a[i] * b[i]).sum::<f32>();
    assert_eq!(floats("SUB OUT[0], IN[0], IN[1]"), [2.0, -6.0, -7.75, 2.5]);
    assert_eq!(floats("SUB OUT[0], IN[0], -IN[1]"), [1.0, 2.0, 8.25, 3.5]);
    assert_eq!(floats("ABS OUT[0], -IN[0]"), [1.5, 2.0, 0.25, 3.0]);
    assert_eq!(floats("NEGATE OUT[0], |IN[0]|"), [-1.5, -2.0, -0.25, -3.0]);
    assert_eq!(floats("CLAMP OUT[0], IN[0], -IN[1].wwww, IN[1].wwww"), [0.5, -0.5, 0.25, 0.5]);
    let cross = [A[1] * B[2] - A[2] * B[1], A[2] * B[0] - A[0] * B[2], A[0] * B[1] - A[1] * B[0], 1.0];
    assert_eq!(floats("XPD OUT[0], IN[0], IN[1]"), cross);
    assert_eq!(floats("DP2A OUT[0], IN[0], IN[1], IN[2]"), [dot(A, B, 2) + C[0]; 4]);
    assert_eq!(floats("DPH OUT[0], IN[0], IN[1]"), [dot(A, B, 3) + B[3]; 4]);
    assert_eq!(floats("SCS OUT[0], IN[0].yyyy"), [(-2f32).cos(), (-2f32).sin(), 0.0, 1.0]);
    assert_eq!(floats("CND OUT[0], IN[0], IN[1], IN[2]"), [1.5, 4.0, 8.0, 3.0]);
    assert_eq!(floats("CND0 OUT[0], IN[0], IN[1], IN[2]"), [1.5, -2.0, 8.0, 3.0]);
    let close = |found: [f32; 4], expected: [f32; 4]| {
        let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= e.abs() * 1e-6);
        assert!(near, "{found:?} {expected:?}");
    };
    let length = dot(A, A, 3).sqrt();
    close(floats("NRM OUT[0], IN[0]"), [A[0] / length, A[1] / length, A[2] / length, 1.0]);
    close(floats("NRM4 OUT[0], IN[0]"), A.map(|a| a / dot(A, A, 4).sqrt()));
    let factor = 2.0 * dot(A, B, 3) / dot(A, A, 3);
    close(floats("RFL OUT[0], IN[0], IN[1]"), [factor * A[0] - B[0], factor * A[1] - B[1], factor * A[2] - B[2], 1.0]);
    assert_eq!(floats("RCC OUT[0], IN[0].yyyy"), [-0.5; 4]);
    assert_eq!(floats("SUB OUT[0], IN[0], IN[0]\nRCC OUT[0], OUT[0]"), [64f32.exp2(); 4]);
    let x2d = [A[0] + B[0] * C[0] + B[1] * C[1], A[1] + B[0] * C[2] + B[1] * C[3]];
    assert_eq!(floats("X2D OUT[0], IN[0], IN[1], IN[2]"), [x2d[0], x2d[1], x2d[0], x2d[1]]);
    assert_eq!(floats("SFL OUT[0], IN[0], IN[0]\nSTR OUT[0].yw, IN[0], IN[0]"), [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(floats("SUB_SAT OUT[0], IN[0], IN[1]"), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats("MOV_SATNV OUT[0], IN[0]"), [1.0, -1.0, 0.25, 1.0]);
    // Operands may overlap, and components outside the mask are unchanged.
    assert_eq!(floats("MOV OUT[0], IN[0]\nXPD OUT[0].xy, OUT[0], IN[1]"), [cross[0], cross[1], A[2], A[3]]);
    assert_eq!(floats("MOV OUT[0], IN[0]\nDP2A OUT[0].z, OUT[0], IN[1], IN[2]")[2], dot(A, B, 2) + C[0]);
}

#[test]
fn integers_and_control() {
    let integers = [[5, 1, 2, 0], [9, 1, 0, 7], [100, 200, 300, 400]];
    assert_eq!(compute("SAD OUT[0], IN[0], IN[1], IN[2]", integers), [104, 200, 302, 407]);
    let loops = "DCL TEMP[0]\nIMM INT32 {1, 10, 0, 0}\nBGNLOOP2\nUADD TEMP[0].x, TEMP[0].xxxx, IMM[0].xxxx\n\
                 USGE TEMP[0].y, TEMP[0].xxxx, IMM[0].yyyy\nBREAKC TEMP[0].yyyy\nENDLOOP2\nMOV OUT[0], TEMP[0].xxxx";
    assert_eq!(compute(loops, integers), [10; 4]);
    let calls = "CALLNZ IN[0].yyyy :4\nCALLNZ IN[0].wwww :6\nEND\nNOP\nBGNSUB\nMOV OUT[0].xy, IN[0]\nBGNSUB\n";
    let calls = calls.replace(
        "MOV OUT[0].xy, IN[0]\nBGNSUB\n",
        "MOV OUT[0].xy, IN[0]\nENDSUB\nBGNSUB\nMOV OUT[0].zw, IN[0]\nENDSUB",
    );
    let calls = calls.replace(":6", ":7");
    assert_eq!(compute(&calls, integers), [5, 1, 0, 0]);
    let conditional = "IFC IN[0].yyyy\nMOV OUT[0], IN[1]\nENDIF";
    assert_eq!(compute(conditional, integers), [9, 1, 0, 7]);
}

#[test]
fn significand_and_exponent_of_doubles() {
    let values = [
        1.0,
        -1.0,
        0.5,
        0.75,
        3.0,
        -1e300,
        1e-300,
        f64::MIN_POSITIVE,
        f64::MIN_POSITIVE / 4.0,
        -5e-324,
        f64::MAX,
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    for value in values {
        let bits = value.to_bits();
        let input = [[bits as u32, (bits >> 32) as u32, 0, 0], [0; 4], [0; 4]];
        let body = "DCL TEMP[0]\nDFRACEXP OUT[0].xy, TEMP[0].x, IN[0].xyxy\nMOV OUT[0].z, TEMP[0].xxxx";
        let [low, high, exponent, _] = compute(body, input);
        let significand = f64::from_bits((high as u64) << 32 | low as u64);
        if value == 0.0 || value.is_infinite() {
            assert_eq!((significand.to_bits(), exponent), (bits, 0), "{value}");
        } else {
            assert!((0.5..1.0).contains(&significand.abs()), "{value}: {significand}");
            let (half, rest) = (exponent as i32 / 2, exponent as i32 - exponent as i32 / 2);
            assert_eq!(significand * (half as f64).exp2() * (rest as f64).exp2(), value, "{value}");
        }
    }
    // Both pairs of the destination; a modifier of a double has no effect.
    let bits = 12.0f64.to_bits();
    let input = [[bits as u32, (bits >> 32) as u32, 0, 0], [0; 4], [0; 4]];
    let words = compute("DFRACEXP OUT[0], OUT[1], -IN[0].xyxy", input);
    let expected = 0.75f64.to_bits();
    assert_eq!(words, [expected as u32, (expected >> 32) as u32, expected as u32, (expected >> 32) as u32]);
}

#[test]
fn predicates() {
    let head = "DCL PRED[0]\nSLT PRED[0], IN[0], IN[1]\nMOV OUT[0], IN[2]\n";
    assert_eq!(floats(&format!("{head}(PRED[0]) MOV OUT[0], IN[0]")), [C[0], A[1], A[2], C[3]]);
    assert_eq!(floats(&format!("{head}  3: (!PRED[0].wzyx) MOV OUT[0], IN[0]")), [A[0], C[1], C[2], A[3]]);
    assert_eq!(
        floats(&format!("{head}(PRED[0].yyyy) SUB OUT[0].xw, OUT[0].wzyx, IN[0]")),
        [C[3] - A[0], C[1], C[2], C[0] - A[3]]
    );
}

#[test]
fn files_of_old_texts() {
    assert_eq!(
        becomes(
            "FRAG\nDCL IMMX[0..1] {{ 0.5, 1 }, { 2, 3, 4, 5 }}\nDCL TEMPX[0][0..1]\nDCL TEMP[0]\nIMM FLT32 {7, 0, 0, 0}\nMOV TEMPX[0][1], IMMX[1]\nADD TEMP[0], IMM[0], IMMX[0]\nEND\n"
        ),
        [
            "DCL TEMP[0]",
            "IMM[0] FLT32 {    7.0000,     0.0000,     0.0000,     0.0000}",
            "IMM[1] FLT32 {    0.5000,     1.0000}",
            "IMM[2] FLT32 {    2.0000,     3.0000,     4.0000,     5.0000}",
            "DCL TEMP[1..2]",
            "MOV TEMP[2], IMM[2]",
            "ADD TEMP[0], IMM[0], IMM[1]",
            "END",
        ]
    );
    assert_eq!(
        becomes(
            "FRAG\nDCL RES[0], 2D, FLOAT\nDCL RES[1], BUFFER, RAW, WR\nDCL RES[2], 2D, RAW, WR\nDCL TEMP[0]\nDCL SAMP[0]\n\
             SAMPLE TEMP[0], TEMP[0], RES[0], SAMP[0]\nLOAD TEMP[0], RES[1], TEMP[0]\nSTORE RES[2], TEMP[0], TEMP[0]\n\
             STORE RLOCAL.x, TEMP[0], TEMP[0]\nLOAD TEMP[0], RES[32764], TEMP[0]\nMFENCE RES[2]\nEND\n"
        ),
        [
            "DCL SVIEW[0], 2D, FLOAT",
            "DCL BUFFER[1]",
            "DCL IMAGE[2], 2D, PIPE_FORMAT_NONE, WR, RAW",
            "DCL TEMP[0]",
            "DCL SAMP[0]",
            "IMM[0] UINT32 {4, 4, 4, 4}",
            "DCL MEMORY[1], SHARED",
            "DCL MEMORY[3], INPUT",
            "SAMPLE TEMP[0], TEMP[0], SVIEW[0], SAMP[0]",
            "LOAD TEMP[0], BUFFER[1], TEMP[0]",
            "STORE IMAGE[2], TEMP[0], TEMP[0], 2D",
            "STORE MEMORY[1].x, TEMP[0], TEMP[0]",
            "LOAD TEMP[0], MEMORY[3], TEMP[0]",
            "MEMBAR IMM[0]",
            "END",
        ]
    );
    assert_eq!(
        becomes("FRAG\nDCL TEMP[0]\nDCL SAMP[0]\nTXQ_LZ TEMP[0].xy, SAMP[0], 2D\nKILP\nKIL TEMP[0]\nEND"),
        [
            "DCL TEMP[0]",
            "DCL SAMP[0]",
            "IMM[0] UINT32 {0, 0, 0, 0}",
            "TXQ TEMP[0].xy, IMM[0], SAMP[0], 2D",
            "KILL",
            "KILL_IF TEMP[0]",
            "END"
        ]
    );
}

#[test]
fn emission_without_operand() {
    let text = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nIMM UINT32 { 0, 0, 0, 0 }\nEMIT\nENDPRIM :3\nEMIT IMM[0].xxxx\n0:EMIT\n1:END\n";
    assert_eq!(
        becomes(text),
        [
            "PROPERTY GS_INPUT_PRIMITIVE POINTS",
            "IMM[0] UINT32 {0, 0, 0, 0}",
            "EMIT IMM[0].xxxx",
            "ENDPRIM IMM[0].xxxx :3",
            "EMIT IMM[0].xxxx",
            "EMIT IMM[0].xxxx",
            "END"
        ]
    );
    // An immediate on the next line is not its operand.
    assert_eq!(
        becomes("GEOM\nEMIT\nIMM[0] FLT32 {1, 1, 1, 1}\nEND")[0..2],
        ["EMIT IMM[1].xxxx".to_owned(), "IMM[0] FLT32 {    1.0000,     1.0000,     1.0000,     1.0000}".to_owned()]
    );
}

#[test]
fn labels_follow_their_instructions() {
    assert_eq!(
        becomes(
            "FRAG\nDCL TEMP[0]\nNRM TEMP[0], TEMP[0]\nIF TEMP[0].xxxx :3\nCLAMP TEMP[0], TEMP[0], TEMP[0], TEMP[0]\nELSE :5\nXPD TEMP[0], TEMP[0], TEMP[0]\nENDIF\nCAL :8\nEND\nBGNSUB\nENDSUB\nUIF TEMP[0] :10\nENDIF"
        ),
        [
            "DCL TEMP[0]",
            "IMM[0] FLT32 {    1.0000,     1.0000,     1.0000,     1.0000}",
            "DCL TEMP[1]",
            "DP3 TEMP[1].x, TEMP[0], TEMP[0]",
            "RSQ TEMP[1].x, TEMP[1].xxxx",
            "MUL TEMP[0].xyz, TEMP[0], TEMP[1].xxxx",
            "MOV TEMP[0].w, IMM[0]",
            "IF TEMP[0].xxxx :7",
            "  MAX TEMP[1], TEMP[0], TEMP[0]",
            "  MIN TEMP[0], TEMP[1], TEMP[0]",
            "ELSE :11",
            "  MUL TEMP[1].xyz, TEMP[0].zxyw, TEMP[0].yzxw",
            "  MAD TEMP[0].xyz, TEMP[0].yzxw, TEMP[0].zxyw, -TEMP[1]",
            "  MOV TEMP[0].w, IMM[0]",
            "ENDIF",
            "CAL :14",
            "END",
            "BGNSUB",
            "ENDSUB",
            "UIF TEMP[0] :16",
            "  ENDIF",
        ]
        .map(|line| line.strip_suffix("  ENDIF").map_or(line.to_owned(), |_| "ENDIF".to_owned()))
    );
}

#[test]
fn preprocessed_texts() {
    let text = "COMP\n#ifdef A\nBOGUS\n#else\n#define k IMM[0].yyyy\n#endif\n#define t TEMP[0]\n#define u t\n#ifndef A\nDCL t, LOCAL\n#endif\nIMM UINT32 {1, 2, 3, 4}\n\
                # else is no directive here\nMOV u.x, -|k| ; comment\nMOV u, k.xyzw // comment\nEND # comment";
    assert_eq!(
        becomes(text),
        [
            "DCL TEMP[0], LOCAL",
            "IMM[0] UINT32 {1, 2, 3, 4}",
            "MOV TEMP[0].x, -|IMM[0].yyyy|",
            "MOV TEMP[0], IMM[0].yyyy",
            "END"
        ]
    );
}

#[test]
fn forms_of_today_that_mesa_reads_or_should() {
    assert_eq!(
        becomes(
            "\u{feff}frag\r\ndcl in[0], generic[0], perspective\r\nDCL CONST[0..4]\r\nDCL CONST[1][0..7]\r\nDCL TEMP[4].xy\r\nDCL ADDR[0]\r\n\
             imm int32 { -1,2 , 3,4 }IMM[1]  FLT32 {0x3f800000,0x1.8p1, 1e10, -nan}\r\nIMM[2] FLT64 {0x00000000, 0x3ff80000, 0x00000000, 0xc0020000}\r\n"
                .replace("}IMM", "} IMM")
                .as_str()
        ),
        [
            "DCL CONST[0..4]",
            "DCL CONST[1][0..7]",
            "DCL TEMP[4].xy",
            "DCL ADDR[0]",
            "IMM[0] INT32 {-1, 2, 3, 4}",
            "IMM[1] FLT32 {    1.0000,     3.0000, 10000000000.0000,       -nan}",
            "IMM[2] FLT64 {1.50000000, -2.25000000}",
        ]
    );
    assert_eq!(
        becomes(
            "VERT\nARL ADDR[0] . x,IN[1]\n5:MOV TEMP[ADDR[0]+1](1) , - |CONST [1] [ADDR[0].x + 3] .wzyx|  2 : MOV NULL[0]., IN[0]\ntex_sat_precise TEMP[4], IN[0].xyyy, SAMP[0], 2d, IMM[1].xyz\nmov TEMP[NULL[0].x+2], TEMP[-1]"
        ),
        [
            "ARL ADDR[0].x, IN[1]",
            "MOV TEMP[ADDR[0].x+1](1), -|CONST[1][ADDR[0].x+3].wzyx|",
            "MOV NULL[0]., IN[0]",
            "TEX_SAT_PRECISE TEMP[4], IN[0].xyyy, SAMP[0], 2D, IMM[1].xyz",
            "MOV TEMP[2], TEMP[-1]",
        ]
    );
    assert_eq!(
        becomes(
            "COMP\nDCL IMAGE[0], 2D, PIPE_FORMAT_ASTC_4x4, RAW, wr\nDCL IMAGE[1], BUFFER, PIPE_FORMAT_G16R16_SINT\nDCL SVIEW[0], 2DARRAY, UINT, FLOAT\nDCL SV[0], INSTANCE_ID\nPROPERTY MUL_ZERO_WINS 1\nATOMINC_WRAP TEMP[0].x, IMAGE[0], TEMP[0], TEMP[0], 1D, PIPE_FORMAT_R32_UINT"
        ),
        [
            "DCL IMAGE[0], 2D, PIPE_FORMAT_ASTC_4x4, WR, RAW",
            "DCL IMAGE[1], BUFFER, PIPE_FORMAT_G16R16_SINT",
            "DCL SVIEW[0], 2D_ARRAY, UINT",
            "DCL SV[0], INSTANCEID",
            "PROPERTY LEGACY_MATH_RULES 1",
            "ATOMINC_WRAP TEMP[0].x, IMAGE[0], TEMP[0], TEMP[0], 1D, PIPE_FORMAT_R32_UINT",
        ]
    );
    assert_eq!(
        becomes(
            "TESS_CTRL\nDCL IN[]\nDCL OUT[3][1], GENERIC\nDCL OUT[2], PATCH[1]\nDCL SVIEW[0], 2D, UNORM, SNORM, SINT, UINT"
        ),
        ["DCL SVIEW[0], 2D, UNORM, SNORM, SINT, UINT"]
    );
}
