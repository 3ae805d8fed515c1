//! Unit tests of cases that the recorded results do not cover.

use pretty_assertions::assert_eq;
use tgsi_environment::SystemValue;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, Resources, RunLimits, Vec4};

use super::{Program, RunError, run};
use tgsi::shader::Shader;
use tgsi::tables::{Opcode, Processor, Semantic};

mod record;
mod stages;
mod texture;

fn parse(text: &str) -> Shader {
    tgsi::text::parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).shader
}

fn lanes(count: usize) -> Inputs {
    Inputs { lanes: count, inputs: LaneRegisters::new(count, 0), ..Inputs::default() }
}

/// Inputs with these x components in register 0.
fn with_x(words: &[u32]) -> Inputs {
    let mut inputs = lanes(words.len());
    for (lane, &word) in words.iter().enumerate() {
        inputs.inputs.set(0, 0, lane, word);
    }
    inputs
}

fn floats(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn run_with(text: &str, inputs: &Inputs, resources: &mut dyn Resources) -> Outputs {
    let program = Program::new(&parse(text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&program, inputs, resources, RunLimits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn execute(text: &str, inputs: &Inputs) -> Outputs {
    run_with(text, inputs, &mut AnalyticResources::default())
}

/// The words of `OUT[0]` for one lane.
fn out(outputs: &Outputs, lane: usize) -> Vec4 {
    std::array::from_fn(|component| outputs.outputs.get(0, component, lane))
}

/// `OUT[0].x` of every lane.
fn out_x(outputs: &Outputs) -> Vec<u32> {
    outputs.outputs.component(0, 0).to_vec()
}

/// A quad with `IN[0]` = (lane + 1) * (1, 2, 3, 4) in floats.
fn quad() -> Inputs {
    let mut inputs = lanes(4);
    for lane in 0..4 {
        for component in 0..4 {
            inputs.inputs.set(0, component, lane, ((lane + 1) as f32 * (component + 1) as f32).to_bits());
        }
    }
    inputs
}

/// A vertex shader with one input, one output, four temporaries, an address register and the immediates 0 to 7.
fn vertex(body: &str) -> String {
    format!(
        "VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nDCL TEMP[0..3]\nDCL ADDR[0]\n\
         IMM[0] UINT32 {{0, 1, 2, 3}}\nIMM[1] UINT32 {{4, 5, 6, 7}}\n{body}\nEND\n"
    )
}

#[test]
fn switch_has_the_meaning_of_c() {
    // DEFAULT comes first, a later CASE falls through to the next, and BRK in some lanes leaves for those lanes only.
    let text = vertex(
        "SWITCH IN[0].xxxx
         DEFAULT
         UADD TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy
         CASE IMM[0].yyyy
         UADD TEMP[0].y, TEMP[0].yyyy, IMM[0].yyyy
         USEQ TEMP[1].x, IN[0].xxxx, IMM[0].yyyy
         UIF TEMP[1].xxxx
         BRK
         ENDIF
         CASE IMM[0].zzzz
         UADD TEMP[0].z, TEMP[0].zzzz, IMM[0].yyyy
         BRK
         CASE IMM[0].wwww
         UADD TEMP[0].w, TEMP[0].wwww, IMM[0].yyyy
         ENDSWITCH
         MOV OUT[0], TEMP[0]",
    );
    let outputs = execute(&text, &with_x(&[1, 2, 3, 9]));
    assert_eq!(
        (0..4).map(|lane| out(&outputs, lane)).collect::<Vec<_>>(),
        [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 0],]
    );
}

#[test]
fn switch_inside_a_loop_continues_and_breaks() {
    // Lane n leaves the loop when the counter reaches n; CONT inside the switch skips the sum.
    let text = vertex(
        "BGNLOOP
         UADD TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy
         USGE TEMP[1].x, TEMP[0].xxxx, IMM[1].zzzz
         UIF TEMP[1].xxxx
         BRK
         ENDIF
         SWITCH TEMP[0].xxxx
         CASE IMM[0].zzzz
         CONT
         CASE IN[0].xxxx
         SWITCH IN[0].xxxx
         CASE IN[0].xxxx
         BRK
         ENDSWITCH
         UADD TEMP[0].z, TEMP[0].zzzz, IMM[0].yyyy
         BRK
         ENDSWITCH
         UADD TEMP[0].y, TEMP[0].yyyy, IMM[0].yyyy
         ENDLOOP
         MOV OUT[0], TEMP[0]",
    );
    let outputs = execute(&text, &with_x(&[1, 2, 3, 9]));
    // 5 rounds reach the switch, one of them continues.
    assert_eq!(
        (0..4).map(|lane| out(&outputs, lane)).collect::<Vec<_>>(),
        [[6, 4, 1, 0], [6, 4, 0, 0], [6, 4, 1, 0], [6, 4, 0, 0],]
    );
}

#[test]
fn subroutines_return_lane_by_lane() {
    let text = "VERT
DCL IN[0]
DCL OUT[0], GENERIC[0]
DCL TEMP[0..1]
IMM[0] UINT32 {0, 1, 2, 3}
  0: UIF IN[0].xxxx
  1: CAL :6
  2: ENDIF
  3: CAL :14
  4: MOV OUT[0], TEMP[0]
  5: END
  6: BGNSUB
  7: UADD TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy
  8: USEQ TEMP[1].x, IN[0].xxxx, IMM[0].zzzz
  9: UIF TEMP[1].xxxx
 10: RET
 11: ENDIF
 12: CAL :14
 13: ENDSUB
 14: BGNSUB
 15: UADD TEMP[0].y, TEMP[0].yyyy, IMM[0].yyyy
 16: BGNLOOP
 17: RET
 18: ENDLOOP
 19: ENDSUB
";
    let outputs = execute(text, &with_x(&[0, 1, 2, 3]));
    assert_eq!(
        (0..4).map(|lane| out(&outputs, lane)).collect::<Vec<_>>(),
        [[0, 1, 0, 0], [1, 2, 0, 0], [1, 1, 0, 0], [1, 2, 0, 0],]
    );
}

#[test]
fn return_in_main_stops_lanes_and_then_the_run() {
    let text = vertex(
        "MOV OUT[0].x, IMM[0].yyyy
         UIF IN[0].xxxx
         RET
         ENDIF
         MOV OUT[0].x, IMM[0].zzzz
         RET
         MOV OUT[0].x, IMM[0].wwww",
    );
    assert_eq!(out_x(&execute(&text, &with_x(&[0, 1]))), [2, 1]);
}

#[test]
fn endless_loops_end_at_the_step_limit() {
    let shader = parse(&vertex("BGNLOOP\nADD TEMP[0], TEMP[0], TEMP[0]\nENDLOOP"));
    let program = Program::new(&shader).unwrap();
    let error =
        run(&program, &lanes(4), &mut AnalyticResources::default(), RunLimits::of_steps(100)).map(|_| ()).unwrap_err();
    // BGNLOOP, then 49 rounds of two: the last step is ADD.
    assert_eq!(
        error,
        RunError::StepLimit { limit: 100, instruction: 2, opcode: Opcode::Endloop, span: Default::default() }
    );
    assert_eq!(error.code().name, "step-limit");
    assert_eq!(error.to_string(), "no end after 100 steps, at instruction 2 (ENDLOOP)");
}

#[test]
fn limits_of_a_run() {
    let program = Program::new(&parse("FRAG\nDCL OUT[0], COLOR\nEND\n")).unwrap();
    let run_lanes =
        |count| run(&program, &lanes(count), &mut AnalyticResources::default(), RunLimits::default()).map(|_| ());
    assert_eq!(run_lanes(6), Err(RunError::PartialQuad { lanes: 6 }));
    assert_eq!(run_lanes(1028), Err(RunError::TooManyLanes { lanes: 1028 }));
    let codes = [6, 1028].map(|count| run_lanes(count).map_err(|error| error.code().name));
    assert_eq!(codes, [Err("partial-quad"), Err("too-many-lanes")]);
    assert_eq!(run_lanes(0), Ok(()));
    let program = Program::new(&parse("COMP\nDCL TEMP[0..65535]\nEND\n")).unwrap();
    let error = run(&program, &lanes(1024), &mut AnalyticResources::default(), RunLimits::default()).unwrap_err();
    assert_eq!(error, RunError::TooManyRegisters { registers: 65536, lanes: 1024, limit: 1 << 28 });
    assert_eq!(error.code().name, "too-many-registers");
    let broken = Program::new(&parse("COMP\nDCL TEMP[0]\nIF TEMP[0]\nEND\n")).unwrap_err();
    assert_eq!((broken.code().name, broken.to_string().as_str()), ("structure", "IF is never closed"));
    let mut shader = tgsi::Shader::new(Processor::Compute);
    shader.push_instruction(tgsi::shader::Instruction::new(Opcode::Mov));
    assert_eq!(Program::new(&shader).map(|_| ()).map_err(|error| error.code().name), Err("operand-count"));
}

#[test]
fn masks_of_deep_nesting_are_bounded() {
    use tgsi::shader::{Declaration, Instruction, Register, Src};
    use tgsi::tables::File;
    let mut shader = Shader::new(Processor::Compute);
    shader.push_declaration(Declaration::new(File::Temporary, 0, 0));
    for _ in 0..70_000 {
        let mut instruction = Instruction::new(Opcode::Uif);
        // TEMP[0] is zero: all lanes take the ELSE.
        instruction.src.push(Src::new(Register::new(File::Temporary, 0)));
        shader.push_instruction(instruction);
        shader.push_instruction(Instruction::new(Opcode::Else));
    }
    for _ in 0..70_000 {
        shader.push_instruction(Instruction::new(Opcode::Endif));
    }
    let program = Program::new(&shader).unwrap();
    let go = |count| run(&program, &lanes(count), &mut AnalyticResources::default(), RunLimits::default());
    assert_eq!(go(1024).map_err(|error| error.code().name).err(), Some("nesting-too-deep"));
    assert_eq!(go(4).unwrap().steps, 210_000);
}

#[test]
fn an_empty_mask_writes_nothing() {
    let mut shader =
        parse("COMP\nDCL BUFFER[0]\nDCL OUT[0], GENERIC[0]\nDCL IN[0]\nLOAD OUT[0].x, BUFFER[0], IN[0].xxxx\nEND\n");
    shader.instructions[0].dst[0].write_mask = 0;
    let mut inputs = lanes(1);
    inputs.buffers = vec![vec![1; 4]];
    let program = Program::new(&shader).unwrap();
    let outputs = run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap();
    assert_eq!(out(&outputs, 0), [0; 4]);
}

#[test]
fn barrier_and_shared_memory_across_sixteen_lanes() {
    // Every lane stores its number and reads its neighbour's after the barrier.
    let text = "COMP
DCL SV[0], THREAD_ID
DCL MEMORY[0], SHARED
DCL BUFFER[0]
DCL TEMP[0..1]
IMM[0] UINT32 {1, 15, 2, 10}
SHL TEMP[0].x, SV[0].xxxx, IMM[0].zzzz
UMUL TEMP[0].y, SV[0].xxxx, IMM[0].wwww
STORE MEMORY[0].x, TEMP[0].xxxx, TEMP[0].yyyy
BARRIER
UADD TEMP[1].x, SV[0].xxxx, IMM[0].xxxx
AND TEMP[1].x, TEMP[1].xxxx, IMM[0].yyyy
SHL TEMP[1].x, TEMP[1].xxxx, IMM[0].zzzz
LOAD TEMP[1].x, MEMORY[0], TEMP[1].xxxx
STORE BUFFER[0].x, TEMP[0].xxxx, TEMP[1].xxxx
END
";
    let mut inputs = lanes(16);
    inputs.system_values.insert(SystemValue::LocalInvocationId, vec![(0..16).collect()]);
    inputs.shared_size = 64;
    inputs.buffers = vec![vec![0; 60]];
    let outputs = execute(text, &inputs);
    let words: Vec<u32> = outputs.buffers[0].chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    // The buffer has 15 words: the store of lane 15 is dropped.
    assert_eq!(words, (1..16).map(|lane| lane * 10).collect::<Vec<u32>>());
    assert_eq!(outputs.shared[60..], 150u32.to_le_bytes());
}

#[test]
fn loads_are_all_or_nothing_and_byte_addressed() {
    let text = "COMP
DCL BUFFER[0]
DCL CONST[0][0]
DCL OUT[0], GENERIC[0]
DCL TEMP[0..3]
IMM[0] UINT32 {1, 8, 12, 4294967292}
LOAD TEMP[0].xy, BUFFER[0], IMM[0].yyyy
LOAD TEMP[1].xy, BUFFER[0], IMM[0].zzzz
LOAD TEMP[2].x, BUFFER[0], IMM[0].xxxx
LOAD TEMP[3].x, BUFFER[0], IMM[0].wwww
MOV OUT[0].x, TEMP[0].yyyy
UADD OUT[0].y, TEMP[1].xxxx, TEMP[1].yyyy
MOV OUT[0].z, TEMP[2].xxxx
MOV OUT[0].w, TEMP[3].xxxx
RESQ OUT[0].w, BUFFER[0]
END
";
    let mut inputs = lanes(1);
    inputs.buffers = vec![(0..16).collect()];
    assert_eq!(out(&execute(text, &inputs), 0), [0x0f0e_0d0c, 0, 0x0403_0201, 0]);
}

#[test]
fn atomics_in_lane_order() {
    let body = |opcode: &str, value: &str| {
        format!(
            "COMP\nDCL SV[0], THREAD_ID\nDCL BUFFER[0]\nDCL OUT[0], GENERIC[0]\nDCL TEMP[0]\n\
             IMM[0] UINT32 {{0, 3, 5, 1065353216}}\n{opcode} OUT[0].x, BUFFER[0], IMM[0].xxxx, {value}\nEND\n"
        )
    };
    let go = |opcode: &str, value: &str, start: u32| {
        let mut inputs = lanes(4);
        inputs.system_values.insert(SystemValue::LocalInvocationId, vec![vec![1, 2, 3, 4]]);
        inputs.buffers = vec![start.to_le_bytes().to_vec()];
        let outputs = execute(&body(opcode, value), &inputs);
        (out_x(&outputs), u32::from_le_bytes(outputs.buffers[0][..4].try_into().unwrap()))
    };
    assert_eq!(go("ATOMUADD", "SV[0].xxxx", 10), (vec![10, 11, 13, 16], 20));
    assert_eq!(go("ATOMXCHG", "SV[0].xxxx", 10), (vec![10, 1, 2, 3], 4));
    assert_eq!(go("ATOMCAS", "SV[0].xxxx, IMM[0].zzzz", 2), (vec![2, 2, 5, 5], 5));
    assert_eq!(go("ATOMUMAX", "SV[0].xxxx", 3), (vec![3, 3, 3, 3], 4));
    assert_eq!(go("ATOMIMIN", "SV[0].xxxx", u32::MAX), (vec![u32::MAX; 4], u32::MAX));
    assert_eq!(go("ATOMUMIN", "SV[0].xxxx", u32::MAX), (vec![u32::MAX, 1, 1, 1], 1));
    assert_eq!(go("ATOMINC_WRAP", "IMM[0].yyyy", 2), (vec![2, 3, 0, 1], 2));
    assert_eq!(go("ATOMDEC_WRAP", "IMM[0].yyyy", 1), (vec![1, 0, 3, 2], 1));
    assert_eq!(go("ATOMDEC_WRAP", "IMM[0].yyyy", 9), (vec![9, 3, 2, 1], 0));
    let float = |value: f32| value.to_bits();
    assert_eq!(go("ATOMFADD", "IMM[0].wwww", float(0.5)), (floats(&[0.5, 1.5, 2.5, 3.5]), float(4.5)));
}

#[test]
fn hardware_counters() {
    let text = "FRAG
DCL OUT[0], COLOR
DCL HWATOMIC[1][2..4]
DCL TEMP[0]
IMM[0] UINT32 {0, 1, 9, 0}
ATOMUADD OUT[0].x, HWATOMIC[1][2], IMM[0].yyyy, IMM[0].yyyy
LOAD OUT[0].y, HWATOMIC[1][3], IMM[0].xxxx
LOAD OUT[0].z, HWATOMIC[1][3], IMM[0].zzzz
END
";
    let mut inputs = lanes(4);
    inputs.counters = vec![vec![], vec![0, 0, 0, 7, 0]];
    inputs.helpers = vec![false, true, false, false];
    let outputs = execute(text, &inputs);
    // The helper lane does not count; counter 3 is counter 2 and offset 1.
    assert_eq!(outputs.counters[1], [0, 0, 0, 10, 0]);
    assert_eq!(out_x(&outputs), [7, 0, 8, 9]);
    assert_eq!(out(&outputs, 0)[1..], [10, 0, 0]);
}

#[test]
fn demoted_killed_and_helper_lanes_write_no_memory() {
    let text = "FRAG
DCL IN[0], GENERIC[0], CONSTANT
DCL OUT[0], COLOR
DCL BUFFER[0]
DCL TEMP[0]
IMM[0] UINT32 {0, 1, 2, 3}
USEQ TEMP[0].x, IN[0].xxxx, IMM[0].yyyy
UIF TEMP[0].xxxx
DEMOTE
ENDIF
USEQ TEMP[0].x, IN[0].xxxx, IMM[0].zzzz
UIF TEMP[0].xxxx
KILL
ENDIF
READ_HELPER OUT[0].x
MOV OUT[0].y, IMM[0].yyyy
ATOMUADD TEMP[0].x, BUFFER[0], IMM[0].xxxx, IMM[0].yyyy
END
";
    let mut inputs = with_x(&[0, 1, 2, 3]);
    inputs.buffers = vec![vec![0; 4]];
    inputs.helpers = vec![false, false, false, true];
    let outputs = execute(text, &inputs);
    assert_eq!(out_x(&outputs), [0, u32::MAX, u32::MAX, u32::MAX]);
    assert_eq!(outputs.outputs.component(0, 1), [1; 4]);
    assert_eq!(outputs.live, [true, false, false, true]);
    assert_eq!(outputs.buffers[0], 1u32.to_le_bytes());
}

/// The loop has no end for the first quad, of which all lanes are killed before it; a killed lane of the second one
/// stays until the live ones leave.
#[test]
fn killed_quads_leave_loops() {
    let text = "FRAG
DCL IN[0], GENERIC[0], CONSTANT
DCL OUT[0], COLOR
DCL TEMP[0]
IMM[0] UINT32 {0, 1, 2, 3}
USLT TEMP[0].x, IN[0].xxxx, IMM[0].zzzz
UIF TEMP[0].xxxx
KILL
ENDIF
BGNLOOP
UADD OUT[0].x, OUT[0].xxxx, IMM[0].yyyy
USEQ TEMP[0].x, OUT[0].xxxx, IN[0].xxxx
UIF TEMP[0].xxxx
BRK
ENDIF
ENDLOOP
END
";
    let outputs = execute(text, &with_x(&[0, 0, 0, 0, 5, 1, 3, 4]));
    assert_eq!(outputs.live, [false, false, false, false, true, false, true, true]);
    assert_eq!(out_x(&outputs)[4..], [5, 1, 3, 4]);
}

#[test]
fn kill_if_looks_at_all_components() {
    let text = "FRAG\nDCL IN[0], GENERIC[0], LINEAR\nDCL OUT[0], COLOR\nKILL_IF IN[0].yyxx\nEND\n";
    let inputs = with_x(&floats(&[-0.0, -1.0, f32::NAN, 1.0]));
    assert_eq!(execute(text, &inputs).live, [true, false, true, true]);
}

#[test]
fn votes_and_reads_see_executing_lanes_of_the_subgroup() {
    let go = |operation: &str| {
        let text = vertex(&format!("USNE TEMP[0].x, IN[0].xxxx, IMM[1].yyyy\nUIF TEMP[0].xxxx\n{operation}\nENDIF"));
        // Lane 1 does not execute; lanes 4 and 5 are another subgroup.
        out_x(&execute(&text, &with_x(&[0, 5, 7, 7, 3, 3])))
    };
    let yes = u32::MAX;
    assert_eq!(go("VOTE_ANY OUT[0].x, IN[0].xxxx"), [yes, 0, yes, yes, yes, yes]);
    assert_eq!(go("VOTE_ALL OUT[0].x, IN[0].xxxx"), [0, 0, 0, 0, yes, yes]);
    assert_eq!(go("VOTE_EQ OUT[0].x, IN[0].xxxx"), [0, 0, 0, 0, yes, yes]);
    assert_eq!(go("BALLOT OUT[0].xy, IN[0].xxxx"), [0b1100, 0, 0b1100, 0b1100, 3, 3]);
    assert_eq!(go("READ_FIRST OUT[0].x, IN[0].xxxx"), [0, 0, 0, 0, 3, 3]);
    assert_eq!(go("READ_INVOC OUT[0].x, IN[0].xxxx, IMM[0].zzzz"), [7, 0, 7, 7, 0, 0]);
    assert_eq!(go("CLOCK OUT[0].xy"), [3, 0, 3, 3, 3, 3]);
}

#[test]
fn indirect_destinations_scatter_and_stay_in_their_array() {
    let text = "VERT
DCL IN[0]
DCL OUT[0..3], GENERIC[0]
DCL TEMP[0]
DCL TEMP[1..2], ARRAY(1)
DCL TEMP[3]
DCL ADDR[0]
IMM[0] UINT32 {0, 1, 2, 3}
UARL ADDR[0].x, IN[0].xxxx
MOV TEMP[ADDR[0].x+1](1).x, IMM[0].wwww
MOV OUT[0].x, TEMP[0].xxxx
MOV OUT[0].y, TEMP[1].xxxx
MOV OUT[0].z, TEMP[2].xxxx
MOV OUT[0].w, TEMP[3].xxxx
MOV OUT[1].x, TEMP[ADDR[0].x+1](1).xxxx
MOV TEMP[3].x, IMM[0].zzzz
MOV OUT[2].x, TEMP[ADDR[0].x+1].xxxx
MOV OUT[3].x, TEMP[IN[0].x+1].xxxx
END
";
    let outputs = execute(text, &with_x(&[0, 1, 2, u32::MAX]));
    assert_eq!(
        (0..4).map(|lane| out(&outputs, lane)).collect::<Vec<_>>(),
        [[0, 3, 0, 0], [0, 0, 3, 0], [0, 0, 0, 0], [0, 0, 0, 0],]
    );
    assert_eq!(outputs.outputs.component(1, 0), [3, 3, 0, 0]);
    // Without an array number the whole file is addressable, and the index register can be in any file.
    assert_eq!(outputs.outputs.component(2, 0), [3, 3, 2, 0]);
    assert_eq!(outputs.outputs.component(3, 0), [3, 3, 2, 0]);
}

#[test]
fn undeclared_registers_read_zero_and_drop_writes() {
    let text = "VERT
DCL OUT[0], GENERIC[0]
DCL TEMP[0]
DCL TEMP[2]
DCL CONST[1][0]
IMM[0] UINT32 {1, 2, 3, 4}
MOV TEMP[1], IMM[0]
MOV TEMP[5], IMM[0]
MOV OUT[0].x, TEMP[1].xxxx
MOV OUT[0].y, TEMP[5].xxxx
MOV OUT[0].z, CONST[1][0].zzzz
MOV OUT[0].w, CONST[1][1].xxxx
END
";
    let mut inputs = lanes(1);
    inputs.constants = vec![vec![], vec![5, 6, 7]];
    assert_eq!(out(&execute(text, &inputs), 0), [0, 0, 7, 0]);
}

#[test]
fn whole_instruction_is_evaluated_from_old_values() {
    // The second pair of a 64-bit source overlaps the first pair of the destination.
    let text = vertex(
        "MOV TEMP[0], IMM[0].yzyz
         U64ADD TEMP[0], TEMP[0], TEMP[0].zwxy
         MOV OUT[0], TEMP[0]",
    );
    assert_eq!(out(&execute(&text, &lanes(1)), 0), [2, 4, 2, 4]);
}

#[test]
fn saturate_and_modifiers() {
    let x = |operation: &str, value: f32| {
        f32::from_bits(out_x(&execute(&vertex(operation), &with_x(&[value.to_bits()])))[0])
    };
    assert_eq!(x("MOV_SAT OUT[0].x, IN[0].xxxx", -2.0).to_bits(), 0);
    assert_eq!(x("MOV_SAT OUT[0].x, IN[0].xxxx", -0.0).to_bits(), 0);
    assert_eq!(x("MOV_SAT OUT[0].x, IN[0].xxxx", f32::NAN).to_bits(), 0);
    assert_eq!(x("MOV_SAT OUT[0].x, IN[0].xxxx", 7.0), 1.0);
    assert_eq!(x("MOV_SAT OUT[0].x, IN[0].xxxx", 0.25), 0.25);
    assert_eq!(x("MOV OUT[0].x, -|IN[0].xxxx|", 3.0), -3.0);
    let word = |operation: &str, value: u32| out_x(&execute(&vertex(operation), &with_x(&[value])))[0];
    assert_eq!(word("UADD OUT[0].x, -IN[0].xxxx, IMM[0].yyyy", 3), 1u32.wrapping_sub(3));
    assert_eq!(word("UCMP OUT[0].x, -IN[0].xxxx, IMM[0].yyyy, IMM[0].zzzz", 0), 2);
    assert_eq!(word("LDEXP OUT[0].x, IMM[0].yyyy, -IN[0].xxxx", 0), 1);
    // Conversions saturate.
    assert_eq!(word("F2I OUT[0].x, IN[0].xxxx", 3e9f32.to_bits()), i32::MAX as u32);
    assert_eq!(word("F2U OUT[0].x, IN[0].xxxx", (-1f32).to_bits()), 0);
    assert_eq!(word("F2I OUT[0].x, IN[0].xxxx", f32::NAN.to_bits()), 0);
    // The only quotient that does not fit.
    assert_eq!(word("IDIV OUT[0].x, IN[0].xxxx, -IMM[0].yyyy", 0x8000_0000), 0x8000_0000);
    assert_eq!(word("MOD OUT[0].x, IN[0].xxxx, -IMM[0].yyyy", 0x8000_0000), 0);
}

#[test]
fn fused_multiply_add_rounds_once() {
    let text = |opcode: &str| vertex(&format!("{opcode} OUT[0].x, IN[0].xxxx, IN[0].xxxx, IN[0].yyyy"));
    let a = 1.0 + f32::EPSILON;
    let mut inputs = with_x(&[a.to_bits()]);
    inputs.inputs.set(0, 1, 0, (-(a * a)).to_bits());
    assert_eq!(out_x(&execute(&text("MAD"), &inputs)), [0]);
    assert_eq!(out_x(&execute(&text("FMA"), &inputs)), floats(&[f32::EPSILON * f32::EPSILON]));
}

#[test]
fn legacy_math_makes_zero_win() {
    let body = "DCL IN[0]\nDCL OUT[0], GENERIC[0]\nIMM[0] FLT32 {0, 1, 0, 0}\nMUL OUT[0].x, IN[0].xxxx, IMM[0].xxxx\n\
                DP2 OUT[0].y, IN[0].xxxx, IMM[0].xyxx\nMAD OUT[0].z, IN[0].xxxx, IMM[0].xxxx, IMM[0].yyyy\n\
                FMA OUT[0].w, IN[0].xxxx, IMM[0].xxxx, IMM[0].yyyy\nEND\n";
    let inputs = with_x(&floats(&[f32::INFINITY]));
    let legacy = execute(&format!("VERT\nPROPERTY LEGACY_MATH_RULES 1\n{body}"), &inputs);
    assert_eq!(out(&legacy, 0).map(f32::from_bits), [0.0, f32::INFINITY, 1.0, 1.0]);
    let ieee = execute(&format!("VERT\n{body}"), &inputs);
    assert!(out(&ieee, 0).iter().all(|&word| f32::from_bits(word).is_nan()));
}

#[test]
fn packs() {
    let go = |operation: &str, values: [f32; 4]| {
        let mut inputs = lanes(1);
        for (component, value) in values.iter().enumerate() {
            inputs.inputs.set(0, component, 0, value.to_bits());
        }
        out(&execute(&vertex(operation), &inputs), 0)
    };
    let values = [-2.0, -0.5, 0.5, 2.0];
    assert_eq!(go("PK4B OUT[0].xz, IN[0]", values), [0x7f40_c081, 0, 0x7f40_c081, 0]);
    assert_eq!(go("PK4UB OUT[0].x, IN[0]", values)[0], 0xff80_0000);
    assert_eq!(go("PK2US OUT[0].x, IN[0].zwzw", values)[0], 0xffff_8000);
    assert_eq!(go("PK2US OUT[0].x, IN[0]", [f32::NAN, 1.0, 0.0, 0.0])[0], 0xffff_0000);
    assert_eq!(go("PK2H OUT[0].x, IN[0]", [65519.0, 65520.0, 0.0, 0.0])[0], 0x7c00_7bff);
    assert_eq!(go("PK2H OUT[0].x, IN[0]", [5.960_464_5e-8, -2.980_232_2e-8, 0.0, 0.0])[0], 0x8000_0001);
    let unpack = |operation: &str, word: u32| go(operation, [f32::from_bits(word), 0.0, 0.0, 0.0]).map(f32::from_bits);
    assert_eq!(unpack("UP4B OUT[0], IN[0].xxxx", 0x7f00_8180), [-1.0, -1.0, 0.0, 1.0]);
    assert_eq!(unpack("UP4UB OUT[0], IN[0].xxxx", 0xff00_3300), [0.0, 0.2, 0.0, 1.0]);
    assert_eq!(unpack("UP2US OUT[0], IN[0].xxxx", 0xffff_0000), [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(unpack("UP2H OUT[0], IN[0].xxxx", 0x0001_3c00), [1.0, 5.960_464_5e-8, 1.0, 5.960_464_5e-8]);
}

#[test]
fn every_half_goes_to_float_and_back() {
    for half in 0..=0xffff_u32 {
        let back = super::packing::float_to_half(super::packing::half_to_float(half));
        let nan = half & 0x7fff > 0x7c00;
        assert!(if nan { back & 0x7fff > 0x7c00 } else { back == half }, "{half:04x} became {back:04x}");
    }
}

#[test]
fn doubles_that_the_reference_lacks() {
    let go = |operation: &str, value: f64| {
        let mut inputs = lanes(1);
        inputs.inputs.set(0, 0, 0, value.to_bits() as u32);
        inputs.inputs.set(0, 1, 0, (value.to_bits() >> 32) as u32);
        let [low, high, ..] = out(&execute(&vertex(operation), &inputs), 0);
        f64::from_bits(u64::from(high) << 32 | u64::from(low))
    };
    assert_eq!(go("DTRUNC OUT[0].xy, IN[0].xyxy", -2.7), -2.0);
    assert_eq!(go("DCEIL OUT[0].xy, IN[0].xyxy", 2.1), 3.0);
    assert_eq!(go("DROUND OUT[0].xy, IN[0].xyxy", 2.5), 2.0);
    assert_eq!(go("DSSG OUT[0].xy, IN[0].xyxy", -7.0), -1.0);
    assert_eq!(go("DSSG OUT[0].xy, IN[0].xyxy", 0.0), 0.0);
    let a = 1.0 + f64::EPSILON;
    assert_eq!(go("DFMA OUT[0].xy, IN[0].xyxy, IN[0].xyxy, IN[0].xyxy", a), a.mul_add(a, a));
    // 2^-1074 * 3 * 2^-1 ties to even.
    assert_eq!(go("DLDEXP OUT[0].xy, IN[0].xyxy, -IMM[0].yyyy", f64::from_bits(3)), f64::from_bits(2));
}

#[test]
fn images_keep_what_is_stored() {
    let text = "COMP
DCL IMAGE[0], 2D_ARRAY, PIPE_FORMAT_R32_UINT, WR
DCL IMAGE[1], 2D_MSAA, PIPE_FORMAT_R32G32B32A32_UINT, WR
DCL SV[0], THREAD_ID
DCL OUT[0..2], GENERIC[0]
DCL TEMP[0]
IMM[0] UINT32 {3, 4, 5, 6}
MOV TEMP[0], IMM[0]
MOV TEMP[0].x, SV[0].xxxx
STORE IMAGE[0].x, TEMP[0], TEMP[0].wwww, 2D_ARRAY, PIPE_FORMAT_R32_UINT
ATOMUADD OUT[0].x, IMAGE[0], IMM[0].xyzw, SV[0].xxxx, 2D_ARRAY, PIPE_FORMAT_R32_UINT
LOAD OUT[1], IMAGE[1], TEMP[0], 2D_MSAA, PIPE_FORMAT_R32G32B32A32_UINT
RESQ OUT[2].xyz, IMAGE[1], 2D_MSAA, PIPE_FORMAT_R32G32B32A32_UINT
END
";
    let mut inputs = lanes(2);
    inputs.system_values.insert(SystemValue::LocalInvocationId, vec![vec![1, 2]]);
    let mut resources = AnalyticResources::default();
    let outputs = run_with(text, &inputs, &mut resources);
    let stored = resources.stored_texels();
    assert_eq!(stored[&(0, [1, 4, 5], 0)], [6; 4]);
    assert_eq!(stored[&(0, [2, 4, 5], 0)], [6; 4]);
    // An image starts as its coordinates: x of (3, 4, 5) is 3.
    assert_eq!(out_x(&outputs), [3, 4]);
    assert_eq!(stored[&(0, [3, 4, 5], 0)][0], 6);
    // The sample is w plus the image number.
    assert_eq!((0..4).map(|c| outputs.outputs.get(1, c, 0)).collect::<Vec<_>>(), [1, 4, 0, 7]);
    assert_eq!((0..4).map(|c| outputs.outputs.get(2, c, 0)).collect::<Vec<_>>(), [64, 32, 0, 0]);
}

#[test]
fn derivatives_and_interpolation() {
    let go = |body: &str| {
        let text = format!(
            "FRAG\nDCL IN[0], GENERIC[0], LINEAR\nDCL OUT[0], COLOR\nIMM[0] FLT32 {{0.5, -0.25, 0, 0}}\n\
             IMM[1] UINT32 {{1, 0, 0, 0}}\n{body}\nEND\n"
        );
        let inputs = with_x(&floats(&[1.0, 3.0, 10.0, 20.0]));
        out_x(&execute(&text, &inputs)).into_iter().map(f32::from_bits).collect::<Vec<_>>()
    };
    assert_eq!(go("DDX OUT[0].x, IN[0].xxxx"), [10.0; 4]);
    assert_eq!(go("DDX_FINE OUT[0].x, IN[0].xxxx"), [2.0, 2.0, 10.0, 10.0]);
    assert_eq!(go("DDY OUT[0].x, IN[0].xxxx"), [9.0; 4]);
    assert_eq!(go("DDY_FINE OUT[0].x, IN[0].xxxx"), [9.0, 17.0, 9.0, 17.0]);
    assert_eq!(go("INTERP_CENTROID OUT[0].x, IN[0]"), [1.0, 3.0, 10.0, 20.0]);
    assert_eq!(go("INTERP_SAMPLE OUT[0].x, IN[0], IMM[1].xxxx"), [1.0, 3.0, 10.0, 20.0]);
    assert_eq!(go("INTERP_OFFSET OUT[0].x, IN[0], IMM[0]"), [3.75, 5.75, 12.75, 22.75]);
}

#[test]
fn framebuffer_fetch() {
    let text = "FRAG\nDCL OUT[0..1], COLOR\nFBFETCH OUT[0], OUT[1].wzyx\nEND\n";
    let mut inputs = lanes(4);
    inputs.framebuffer = LaneRegisters::new(4, 2);
    for component in 0..4 {
        inputs.framebuffer.set(1, component, 2, component as u32 + 1);
    }
    assert_eq!(out(&execute(text, &inputs), 2), [4, 3, 2, 1]);
}

#[test]
fn every_opcode_runs() {
    // Operands of any kind: nothing may panic, whatever the registers refer to.
    use tgsi::shader::{Declaration, Dst, Instruction, Register, Src};
    use tgsi::tables::File;
    let mut covered = 0;
    for &opcode in Opcode::ALL {
        let structural = matches!(
            opcode,
            Opcode::If
                | Opcode::Uif
                | Opcode::Else
                | Opcode::Endif
                | Opcode::Bgnloop
                | Opcode::Endloop
                | Opcode::Brk
                | Opcode::Cont
                | Opcode::Switch
                | Opcode::Case
                | Opcode::Default
                | Opcode::Endswitch
                | Opcode::Cal
                | Opcode::Bgnsub
                | Opcode::Endsub
        );
        if structural {
            continue;
        }
        for processor in [Processor::Fragment, Processor::Geometry, Processor::TessControl, Processor::Compute] {
            for file in [File::Temporary, File::Input, File::Sampler, File::SamplerView, File::Image, File::Buffer] {
                let mut shader = Shader::new(processor);
                shader.push_declaration(Declaration::new(File::Temporary, 0, 1));
                shader.push_declaration(Declaration::new(File::Input, 0, 1));
                shader.push_declaration(Declaration::new(File::Output, 0, 1));
                let mut instruction = Instruction::new(opcode);
                for _ in 0..opcode.info().num_dst {
                    instruction.dst.push(Dst::new(Register::new(File::Temporary, 1)));
                }
                for _ in 0..opcode.info().num_src {
                    instruction.src.push(Src::new(Register::new(file, 0)));
                }
                shader.push_instruction(instruction);
                let program = Program::new(&shader).unwrap();
                let outputs = run(&program, &quad(), &mut AnalyticResources::default(), RunLimits::default()).unwrap();
                assert_eq!(outputs.steps, 1, "{opcode}");
            }
        }
        covered += 1;
    }
    assert_eq!(covered + 15, Opcode::ALL.len());
}

#[test]
fn system_values_by_semantic() {
    assert_eq!(Semantic::ThreadId.system_value(), Some(SystemValue::LocalInvocationId));
    assert_eq!(Semantic::Generic.system_value(), None);
    let of: std::collections::BTreeSet<SystemValue> =
        Semantic::ALL.iter().filter_map(|&semantic| semantic.system_value()).collect();
    // No two semantics share a value.
    assert_eq!(of.len(), Semantic::ALL.iter().filter(|&&s| s.system_value().is_some()).count());
}
