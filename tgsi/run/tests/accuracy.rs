//! The error bounds in the manual (`manual/opcodes.md`) for functions that the interpreter computes in its own way, as
//! the recorded results are computed: compared with 64-bit floats, over a sample of the 32-bit operands. `TGSIC_EVERY=1
//! cargo test --release -p tgsi --test all accuracy -- --nocapture` tests all 2^32, and prints the figures.

#[path = "../../../ir/tests/support/accuracy.rs"]
mod measured;

use measured::{check, table};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_run::{Program, run};

const PAGE: &str = include_str!("../../manual/opcodes.md");

type Exact = fn(f64) -> f64;

#[test]
fn functions_are_as_accurate_as_stated() {
    // EXP and LOG call the same two functions.
    let functions: [(&str, Exact); 2] = [("EX2", f64::exp2), ("LG2", f64::log2)];
    let rows = table(PAGE, "| Function | Error in ulp | Absolute error | Greatest at |");
    let mut wrong = Vec::new();
    for (opcode, exact) in functions {
        let text = format!("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\n{opcode} OUT[0], IN[0].xxxx\nEND\n");
        let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
        let program = Program::new(&shader).expect("a program");
        let evaluate = |operands: &[u32], results: &mut [u32]| {
            let mut inputs = Inputs { lanes: operands.len(), ..Inputs::default() };
            inputs.inputs = LaneRegisters::new(operands.len(), 1);
            inputs.inputs.component_mut(0, 0).copy_from_slice(operands);
            let outputs = run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default());
            results.copy_from_slice(outputs.expect("it runs").outputs.component(0, 0));
        };
        let row = rows.iter().find(|row| row[0] == opcode).cloned().unwrap_or(vec![opcode.to_owned()]);
        wrong.extend(check(&row, evaluate, |a| exact(a.into())).err());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(rows.len(), functions.len(), "a row for each");
}
