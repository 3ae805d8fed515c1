//! The interface for hosts: blocks of many lanes have the results of few lanes, workgroups see each other's writes,
//! runs terminate, and no memory outside of buffers is accessed.

use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{BLOCK_LANES, NoResources, Options, Program, RunError, compile};
use tgsi_environment::{Inputs, LaneRegisters, Outputs, RunLimits};

fn program(text: &str) -> Program {
    let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let lowered = compiler.ir_at(Stage::Registers, &shader).expect("it is lowered");
    compile(&lowered, Options::default()).expect("it is compiled")
}

fn lanes(count: usize) -> Inputs {
    let mut inputs = Inputs { lanes: count, inputs: LaneRegisters::new(count, 1), ..Inputs::default() };
    for component in 0..4 {
        for (lane, word) in inputs.inputs.component_mut(0, component).iter_mut().enumerate() {
            *word = ((lane * lane) as f32 + component as f32).to_bits();
        }
    }
    inputs
}

fn float(inputs: &LaneRegisters, component: usize, lane: usize) -> f32 {
    f32::from_bits(inputs.get(0, component, lane))
}

#[test]
fn quads_in_blocks_are_whole() {
    let program = program(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\nDDX TEMP[0], IN[0]\n\
         MOV OUT[0], TEMP[0]\nEND\n",
    );
    // Several blocks, one of which is not full.
    let count = 3 * BLOCK_LANES + 8;
    let outputs = program.run_quads(&lanes(count), &NoResources, RunLimits::default()).expect("it runs");
    assert_eq!(outputs.outputs.lanes(), count);
    for lane in 0..count {
        let quad = lane & !3;
        let expected = ((quad + 3) * (quad + 3)) as f32 - ((quad + 2) * (quad + 2)) as f32;
        assert_eq!(float(&outputs.outputs, 1, lane), expected, "lane {lane}");
    }
}

/// A last block that is not full, and contains an incomplete quad: each vertex has the result of a separate run.
#[test]
fn any_number_of_vertices_is_run() {
    let program = program(
        "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL CONST[0][0]\nDCL TEMP[0]\n\
         MUL TEMP[0], IN[0], IN[0].yzwx\nADD TEMP[0], TEMP[0], IN[0]\nMOV OUT[0], TEMP[0]\n\
         ADD OUT[1], TEMP[0].wzyx, CONST[0][0]\nEND\n",
    );
    let mut inputs = lanes(BLOCK_LANES + 6);
    inputs.constants = vec![[1.5f32, 2.5].map(f32::to_bits).to_vec()];
    let all = program.run_vertices(&inputs, &NoResources, RunLimits::default()).expect("it runs");
    for lane in 0..inputs.lanes {
        let mut one = Inputs { lanes: 1, inputs: LaneRegisters::new(1, 1), ..inputs.clone() };
        for component in 0..4 {
            one.inputs.set(0, component, 0, inputs.inputs.get(0, component, lane));
        }
        let one = program.run_vertices(&one, &NoResources, RunLimits::default()).expect("it runs");
        for (register, component) in (0..2).flat_map(|register| (0..4).map(move |component| (register, component))) {
            let (a, b) = (one.outputs.get(register, component, 0), all.outputs.get(register, component, lane));
            assert_eq!(a, b, "lane {lane} output {register} component {component}");
        }
    }
    assert_eq!(float(&all.outputs, 0, 2), 4.0 * 5.0 + 4.0);
}

#[test]
fn killed_lanes_are_reported_in_all_blocks() {
    let program = program(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\nIMM[0] FLT32 {100.5, 1, 0, 0}\n\
         ADD TEMP[0].x, IN[0].xxxx, -IMM[0].xxxx\nKILL_IF TEMP[0].xxxx\nMOV OUT[0], IMM[0].yyyy\nEND\n",
    );
    let count = 2 * BLOCK_LANES;
    let outputs = program.run_quads(&lanes(count), &NoResources, RunLimits::default()).expect("it runs");
    for lane in 0..count {
        assert_eq!(outputs.live[lane], (lane * lane) as f32 > 100.5, "lane {lane}");
    }
}

/// The loop has no end for lanes that are killed before it, in the same region or in an earlier one.
#[test]
fn killed_quads_leave_loops() {
    for between in ["", "ATOMUADD TEMP[1].x, BUFFER[0], IMM[0].zzzz, IMM[0].zzzz\n"] {
        let program = program(&format!(
            "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL BUFFER[0]\nDCL TEMP[0..1]\n\
             IMM[0] FLT32 {{7.5, 1, 0, 0}}\nADD TEMP[0].x, IN[0].xxxx, -IMM[0].xxxx\nKILL_IF TEMP[0].xxxx\n{between}\
             BGNLOOP\nFSGE TEMP[0].y, TEMP[0].xxxx, IMM[0].zzzz\nUIF TEMP[0].yyyy\nBRK\nENDIF\nENDLOOP\n\
             MOV OUT[0], IMM[0].yyyy\nEND\n",
        ));
        let mut inputs = lanes(16);
        for lane in 0..16 {
            // Whole quads.
            inputs.inputs.set(0, 0, lane, (((lane / 4) * 4) as f32).to_bits());
        }
        let outputs = program.run_quads(&inputs, &NoResources, RunLimits::default()).expect("it runs");
        for lane in 0..16 {
            assert_eq!(outputs.live[lane], lane >= 8, "lane {lane}");
        }
        assert_eq!(float(&outputs.outputs, 0, 12), 1.0);
    }
}

/// Reuses outputs of more lanes, of fewer, of another shader with as many outputs or others.
#[test]
fn outputs_in_the_memory_of_earlier_ones_are_the_same() {
    let kills = program(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\nIMM[0] FLT32 {100.5, 1, 0, 0}\n\
         ADD TEMP[0].x, IN[0].xxxx, -IMM[0].xxxx\nKILL_IF TEMP[0].xxxx\nMOV OUT[0].xz, IMM[0].yyyy\nEND\n",
    );
    let copies = program(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL OUT[1], COLOR[1]\n\
         MOV OUT[0], IN[0].wzyx\nMOV OUT[1], IN[0]\nEND\n",
    );
    let writes_all =
        program("FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0].wzyx\nEND\n");
    // Some lanes store one component, half of them another one, twice.
    let branches = program(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0]\nDCL TEMP[0]\n\
         IMM[0] FLT32 {100.5, 1, 3, 0}\nMOV OUT[0].x, IN[0].xxxx\nSLT TEMP[0].x, IN[0].xxxx, IMM[0].xxxx\n\
         IF TEMP[0].xxxx\nMOV OUT[0].y, IMM[0].yyyy\nMOV OUT[0].z, IMM[0].zzzz\nENDIF\nEX2 TEMP[0].y, CONST[0][0].xxxx\n\
         MOV OUT[0].w, TEMP[0].yyyy\nEND\n",
    );
    let runs = [
        (&copies, 30_000),
        (&writes_all, 30_000),
        (&branches, 30_000),
        (&kills, 30_000),
        (&kills, 300),
        (&writes_all, 3_001),
        (&branches, 3_001),
        (&kills, 3_001),
        (&copies, 4),
        (&kills, 20_000),
    ];
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut outputs = Outputs::default();
        for (program, count) in runs {
            let inputs = lanes(count);
            let fresh =
                pool.install(|| program.run_quads(&inputs, &NoResources, RunLimits::default())).expect("it runs");
            let run = || program.run_into(&inputs, &NoResources, RunLimits::default(), &mut outputs);
            pool.install(run).expect("it runs");
            assert_eq!(outputs, fresh, "{threads} threads, {count} lanes");
        }
    }
}

#[test]
fn a_shader_that_does_not_end_is_given_up() {
    let program = program("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nBGNLOOP\nMOV OUT[0], IN[0]\nENDLOOP\nEND\n");
    let limits = RunLimits { steps: 10_000, ..RunLimits::default() };
    let error = program.run_vertices(&lanes(4), &NoResources, limits).expect_err("it does not end");
    assert_eq!(error, RunError::StepLimit { limit: 10_000 });
}

/// Each workgroup adds one to the first word, so the last sees all others; stores beyond the end are dropped.
#[test]
fn workgroups_change_buffers_and_nothing_else() {
    let program = program(
        "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 4\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\nPROPERTY CS_FIXED_BLOCK_DEPTH 1\n\
         DCL BUFFER[0]\nDCL TEMP[0]\nIMM[0] UINT32 {0, 1, 4, 4096}\nATOMUADD TEMP[0].x, BUFFER[0], IMM[0].xxxx, \
         IMM[0].yyyy\nSTORE BUFFER[0].x, IMM[0].zzzz, IMM[0].wwww\nSTORE BUFFER[0].x, IMM[0].wwww, IMM[0].yyyy\nEND\n",
    );
    assert!(program.writes_memory());
    let mut inputs = Inputs { buffers: vec![vec![0; 8]], ..Inputs::default() };
    program.dispatch([3, 2, 1], [4, 1, 1], &mut inputs, &NoResources, RunLimits::default()).expect("it runs");
    assert_eq!(inputs.buffers, [[24, 0, 0, 0, 0, 16, 0, 0]]);
}

#[test]
fn a_workgroup_of_too_many_lanes_is_refused() {
    let program = program("COMP\nEND\n");
    let error = program.dispatch([1; 3], [64, 64, 1], &mut Inputs::default(), &NoResources, RunLimits::default());
    assert_eq!(error, Err(RunError::TooManyLanes { lanes: 4096 }));
}

/// Straight-line code, branches and loops without side effects are machine code, in one function.
#[test]
#[cfg(feature = "machine-code")]
fn arithmetic_becomes_one_function() {
    let program = program(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0]\nDCL TEMP[0..1]\n\
         IMM[0] FLT32 {1, 10, 0, 0}\nMOV TEMP[0], IN[0]\nMOV TEMP[1].x, IMM[0].zzzz\nBGNLOOP\n\
         SGE TEMP[1].y, TEMP[1].xxxx, CONST[0][0].xxxx\nIF TEMP[1].yyyy\nBRK\nENDIF\nMUL TEMP[0], TEMP[0], IN[0].yzwx\n\
         EX2 TEMP[0].x, TEMP[0].xxxx\nADD TEMP[1].x, TEMP[1].xxxx, IMM[0].xxxx\nENDLOOP\nMOV OUT[0], TEMP[0]\nEND\n",
    );
    let report = program.report();
    assert_eq!(report.refused, None);
    assert_eq!(report.functions, 1, "{report:?}");
    assert!(report.operations + 5 >= report.total, "{report:?}");
    assert!(report.bytes > 0);
}
