//! Reductions end when nothing can be removed, and are deterministic.

use super::{Limits, reduce};
use crate::{Config, from_seed};
use tgsi::check::check;
use tgsi::shader::Shader;
use tgsi::tables::Opcode;
use tgsi::text::{parse, print};

fn shader(text: &str) -> Shader {
    parse(text.as_bytes()).expect("valid text").shader
}

fn reduced(text: &str, opcode: Opcode) -> String {
    let small = reduce(&shader(text), Limits::default(), &mut |s| s.instructions.iter().any(|i| i.opcode == opcode));
    print(&small, Default::default())
}

#[test]
fn blocks_around_go() {
    let text = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL TEMP[0..3]\nIMM[0] UINT32 {1, 2, 3, 4}\n\
        IMM[1] UINT32 {5, 6, 7, 8}\nIF IN[0].xxxx\nMOV TEMP[1], IN[0]\nELSE\nBGNLOOP\nSWITCH IMM[1].yyyy\nCASE IMM[0].xxxx\n\
        COS_SAT TEMP[2].xy, -|IN[0].yyyy|\nBRK\nDEFAULT\nMOV TEMP[1], IMM[1]\nENDSWITCH\nBRK\nENDLOOP\nENDIF\nCAL :16\nEND\n\
        BGNSUB\nMOV OUT[0], TEMP[2]\nRET\nENDSUB\n";
    let expected = "VERT\nDCL TEMP[0]\nIMM[0] UINT32 {0, 0, 0, 0}\n  0: COS TEMP[0].x, IMM[0]\n  1: END\n";
    let small = reduced(text, Opcode::Cos);
    // One component is left, no matter which.
    assert_eq!(small.replace(".w", ".x").replace(".y", ".x").replace("IMM[0].xxxx", "IMM[0]"), expected);
}

#[test]
fn calls_follow_their_subroutine() {
    let text = "VERT\nDCL OUT[0], POSITION\nNOP\nCAL :5\nCAL :5\nNOP\nEND\nBGNSUB\nMOV OUT[0].x, OUT[0].yyyy\nENDSUB\n";
    let calls = |s: &Shader| s.instructions.iter().filter(|i| i.opcode == Opcode::Cal).count() == 2;
    let small = reduce(&shader(text), Limits::default(), &mut |s| calls(s));
    assert!(!check(&small).has_errors());
    let opcodes: Vec<Opcode> = small.instructions.iter().map(|i| i.opcode).collect();
    assert_eq!(opcodes, [Opcode::Cal, Opcode::Cal, Opcode::End, Opcode::Bgnsub, Opcode::Endsub]);
}

#[test]
fn reductions_are_valid_minimal_and_the_same_again() {
    for seed in 0..12 {
        let shader = from_seed(seed, &Config::default()).expect("a shader");
        let Some(opcode) = shader.instructions.iter().map(|i| i.opcode).find(|&o| o != Opcode::Mov) else { continue };
        let run = |shader: &Shader| {
            let mut asked = 0;
            let small = reduce(shader, Limits::default(), &mut |s| {
                asked += 1;
                assert!(!check(s).has_errors());
                s.instructions.iter().any(|i| i.opcode == opcode)
            });
            (print(&small, Default::default()), asked, small)
        };
        let (text, _, small) = run(&shader);
        assert_eq!(text, run(&shader).0);
        assert_eq!(text, run(&small).0, "seed {seed} was not minimal");
    }
}

#[test]
fn a_limit_ends_it() {
    let shader = from_seed(1, &Config::default()).expect("a shader");
    let mut asked = 0;
    reduce(&shader, Limits { candidates: 5 }, &mut |_| {
        asked += 1;
        false
    });
    assert_eq!(asked, 5);
}
