//! Parsing, running and comparing recorded results, and rewriting the shaders for them.

use pretty_assertions::assert_eq;
use tgsi_environment::{AnalyticResources, RunLimits};

use super::parse;
use crate::vectors::{Agreement, Vector, as_recorded};
use crate::{Program, run};

#[test]
fn vectors_read_run_and_compare() {
    let zeros = "0".repeat(8 * 12);
    let line = format!(
        r#"{{"f":"a.tgsi","seed":4,"in":{{"0":"3f8000004000000040400000408000003f8000004000000040400000408000003f80000040000000404000004080000000000000000000000000000000000000"}},"sv":{{}},"const":{{"1":"00000007"}},"out":{{"0":"3f800000400000004040000000000000{zeros}"}},"live":7}}"#
    );
    let vector = Vector::parse(&line).unwrap();
    assert!(vector.has_special_values());
    let shader = parse("VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nMOV OUT[0].x, IN[0].yyyy\nEND\n");
    let inputs = vector.inputs(&shader);
    assert_eq!(inputs.constants, [vec![], vec![7]]);
    let program = Program::new(&shader).unwrap();
    let mut outputs = run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap();
    // Lane 3 is not live in the record, but is in ours.
    let comparison = vector.compare(&outputs);
    assert_eq!((comparison.exact, comparison.close, comparison.different.len()), (12, 0, 1));
    outputs.live[3] = false;
    assert_eq!(vector.compare(&outputs).verdict(), Agreement::Exact);
    outputs.outputs.set(0, 0, 1, 2.001f32.to_bits());
    assert_eq!(vector.compare(&outputs).verdict(), Agreement::Close);
    outputs.outputs.set(0, 0, 1, 1);
    assert_eq!(vector.compare(&outputs).verdict(), Agreement::Different);
    assert_eq!(vector.compare(&outputs).different[0].position, "OUT[0].x lane 1");
    assert!(Vector::parse("{}").is_err());
    assert!(Vector::parse(r#"{"f":"a","seed":0,"live":1,"in":{"0":"12345"}}"#).is_err());
}

#[test]
fn agreement_of_words() {
    let of = |a: f32, b: f32| Agreement::of(a.to_bits(), b.to_bits());
    assert_eq!(of(1.0, 1.0), Agreement::Exact);
    assert_eq!(of(f32::NAN, -f32::NAN), Agreement::Close);
    assert_eq!(of(0.0, -0.0), Agreement::Close);
    assert_eq!(of(1000.0, 1000.9), Agreement::Close);
    assert_eq!(of(1000.0, 1002.0), Agreement::Different);
    assert_eq!(of(0.0, 9e-6), Agreement::Close);
    assert_eq!(of(f32::INFINITY, f32::MAX), Agreement::Different);
    // Small integers are denormals.
    assert_eq!(Agreement::of(1, 2), Agreement::Different);
    assert_eq!(Agreement::of(0, 1), Agreement::Different);
}

#[test]
fn shaders_as_the_recording_interpreter_took_them() {
    let shader = parse(
        "FRAG
DCL IN[0], GENERIC[0], LINEAR
DCL OUT[0], COLOR
DCL SAMP[0]
DCL BUFFER[0]
DCL TEMP[0..2]
IMM[0] INT32 {1, 0, 0, 0}
  0: MOV TEMP[0], TEMP[TEMP[1].x]
  1: UIF TEMP[0].xxxx :4
  2: ATOMUADD TEMP[0].x, BUFFER[0], TEMP[0].xxxx, TEMP[0].xxxx
  3: I2D TEMP[0].xy, -TEMP[0].xxxx
  4: ENDIF
  5: TXD OUT[0], TEMP[0], TEMP[0], TEMP[0], SAMP[0], SHADOW1D
  6: TXP OUT[0], TEMP[0], SAMP[0], 2D, IMM[0].xyx
  7: TEX OUT[0], TEMP[0], SAMP[0], 2D, IMM[0].xyy
  8: END
",
    );
    let printed = tgsi::text::print(&as_recorded(&shader), Default::default());
    for line in [
        "DCL ADDR[1]",
        "DCL TEMP[10]",
        "DCL TEMP[18]",
        "  0: MOV TEMP[0], TEMP[ADDR[1].x]",
        "  1: UIF TEMP[0].xxxx :5",
        "  2:   ATOMUADD TEMP[0], BUFFER[0], TEMP[0].xxxx, TEMP[0].xxxx",
        "  3:   MOV TEMP[18], -TEMP[0].xxxx",
        "  4:   I2D TEMP[0].xy, TEMP[18]",
        "  6: MOV TEMP[10].xyz, TEMP[0]",
        "  7: TXD OUT[0], TEMP[10], TEMP[0], TEMP[0], SAMP[0], 3D",
        "  8: DIV TEMP[6].xy, TEMP[0], TEMP[0].wwww",
        "  9: TEX OUT[0], TEMP[6], SAMP[0], 3D, IMM[0].xyx",
        " 10: TEX OUT[0], TEMP[0], SAMP[0], 2D, IMM[0].xyy",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}\nis not in\n{printed}");
    }
}
