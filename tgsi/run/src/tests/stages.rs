//! Geometry and tessellation shaders.

use pretty_assertions::assert_eq;
use tgsi_environment::SystemValue;
use tgsi_environment::{AnalyticResources, RunLimits, Vec4};

use super::{execute, lanes, out, parse};
use crate::{Program, RunError, run};

#[test]
fn geometry_lanes_emit_one_after_the_other() {
    let text = "GEOM
PROPERTY GS_INPUT_PRIMITIVE POINTS
PROPERTY GS_OUTPUT_PRIMITIVE POINTS
PROPERTY GS_MAX_OUTPUT_VERTICES 2
DCL IN[][0], GENERIC[0]
DCL OUT[0], GENERIC[0]
DCL SV[0], INVOCATIONID
DCL TEMP[0]
IMM[0] UINT32 {0, 1, 2, 9}
UIF SV[0].xxxx
MOV OUT[0], IN[1][0]
EMIT IMM[0].yyyy
ENDIF
MOV OUT[0].x, SV[0].xxxx
EMIT IMM[0].xxxx
EMIT IMM[0].xxxx
EMIT IMM[0].xxxx
ENDPRIM IMM[0].xxxx
ENDPRIM IMM[0].xxxx
EMIT IMM[0].wwww
END
";
    let mut inputs = lanes(2);
    inputs.vertices = vec![vec![[1, 2, 3, 4]], vec![[5, 6, 7, 8]]];
    inputs.system_values.insert(SystemValue::InvocationId, vec![vec![0, 1]]);
    let outputs = execute(text, &inputs);
    let vertex = |x| vec![[x, 0, 0, 0]];
    // Two vertices fit; the second has zeros because EMIT clears the outputs; an empty primitive is kept.
    assert_eq!(outputs.emitted[0], [vec![vertex(0), vertex(0)], vec![], vec![vertex(1), vertex(0)], vec![]]);
    assert_eq!(outputs.emitted[1], [vec![vec![[5, 6, 7, 8]]]]);
}

#[test]
fn emission_without_end_is_an_error() {
    let text =
        "GEOM\nDCL OUT[0..63], GENERIC[0]\nIMM[0] UINT32 {0, 0, 0, 0}\nBGNLOOP\nEMIT IMM[0].xxxx\nENDLOOP\nEND\n";
    let program = Program::new(&parse(text)).unwrap();
    let error = run(&program, &lanes(4), &mut AnalyticResources::default(), RunLimits::default()).unwrap_err();
    assert_eq!(error.code().name, "too-much-output");
    assert_eq!(error, RunError::TooMuchOutput { instruction: 1, span: Default::default() });
}

#[test]
fn tessellation_control_shares_its_outputs() {
    // Every invocation writes its vertex, then reads its neighbour's; patch outputs are shared by all.
    let text = "TESS_CTRL
PROPERTY TCS_VERTICES_OUT 4
DCL IN[][0], GENERIC[0]
DCL OUT[][0], GENERIC[0]
DCL OUT[1], PATCH[0]
DCL SV[0], INVOCATIONID
DCL TEMP[0]
DCL ADDR[0..1]
IMM[0] UINT32 {1, 3, 100, 0}
UARL ADDR[0].x, SV[0].xxxx
MOV TEMP[0], IN[ADDR[0].x][0]
MOV OUT[ADDR[0].x][0].x, TEMP[0].xxxx
BARRIER
UADD TEMP[0].x, SV[0].xxxx, IMM[0].xxxx
AND TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy
UARL ADDR[1].x, TEMP[0].xxxx
MOV TEMP[0].x, OUT[ADDR[1].x][0].xxxx
MOV OUT[ADDR[0].x][0].y, TEMP[0].xxxx
UADD OUT[1].x, SV[0].xxxx, IMM[0].zzzz
MOV OUT[1].y, OUT[1].xxxx
END
";
    let mut inputs = lanes(4);
    inputs.vertices = (0..4).map(|vertex| vec![[10 * vertex, 0, 0, 0]]).collect();
    inputs.system_values.insert(SystemValue::InvocationId, vec![vec![0, 1, 2, 3]]);
    let outputs = execute(text, &inputs);
    let vertices: Vec<Vec4> = outputs.vertices.iter().map(|registers| registers[0]).collect();
    assert_eq!(vertices, [[0, 10, 0, 0], [10, 20, 0, 0], [20, 30, 0, 0], [30, 0, 0, 0]]);
    // The last lane's store takes effect, and all lanes read it.
    assert_eq!(outputs.outputs.component(1, 0), [103; 4]);
    assert_eq!(outputs.outputs.component(1, 1), [103; 4]);
}

#[test]
fn tessellation_evaluation_reads_vertices_and_the_patch() {
    let text = "TESS_EVAL
DCL IN[][0], GENERIC[0]
DCL IN[1], PATCH[0]
DCL OUT[0], GENERIC[0]
DCL SV[0], TESSCOORD
DCL SV[1], TESSOUTER
MOV OUT[0].x, IN[1][0].yyyy
MOV OUT[0].y, IN[1].xxxx
MOV OUT[0].z, SV[0].zzzz
MOV OUT[0].w, SV[1].wwww
END
";
    let mut inputs = lanes(2);
    inputs.vertices = vec![vec![[1, 2, 3, 4]], vec![[5, 6, 7, 8]]];
    for lane in 0..2 {
        inputs.inputs.set(1, 0, lane, 42);
    }
    inputs.system_values.insert(SystemValue::TessCoord, vec![vec![0; 2], vec![0; 2], vec![7, 8]]);
    inputs.system_values.insert(SystemValue::TessLevelOuter, vec![vec![0; 2], vec![0; 2], vec![0; 2], vec![9, 9]]);
    let outputs = execute(text, &inputs);
    assert_eq!(out(&outputs, 0), [6, 42, 7, 9]);
    assert_eq!(out(&outputs, 1), [6, 42, 8, 9]);
}
