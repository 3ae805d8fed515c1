//! Flow of fragment programs.

use crate::fragment_run::{load, op, run};
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::fragment::{Flow, FragmentOp, Instruction, Register, Source};
use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};
use tgsi_driver_nv40::simulator::{QuadInputs, Trap};

fn flow(op: FragmentOp, condition: Condition, flow: Option<Flow>) -> Instruction {
    let predicate = Predicate { register: 0, condition, swizzle: Swizzle::replicate(0) };
    Instruction { mask: Mask::NONE, predicate, flow, ..Instruction::new(op) }
}

/// Updates the condition register by the position.
fn test_position() -> Instruction {
    Instruction {
        destination: None,
        writes_condition: Some(0),
        sources: [Source::input(), Source::default(), Source::default()],
        input: Some(0),
        ..Instruction::new(FragmentOp::Mov)
    }
}

/// Adds R1 to R0.
fn add() -> Instruction {
    Instruction { sources: [Source::full(0), Source::full(1), Source::default()], ..op(FragmentOp::Add) }
}

/// R0.x of each lane of a quad, with x of the position -1, 0, 1 and 2.
fn lanes(program: &[Instruction]) -> Result<[f32; 4], Trap> {
    let data = [-1.0, 0.0, 1.0, 2.0].map(|x| [[x, 0.0, 0.0, 1.0]]);
    let inputs = data.each_ref().map(|lane| &lane[..]);
    let result = run(program, &QuadInputs { inputs, steps: 10_000, ..QuadInputs::default() }, Chip::Nv40)?;
    Ok(result.registers.map(|registers| registers.get(Register::R(0))[0]))
}

/// Slots: 0 test, 1 and 2 load, 3 if, 4 and 5 the then part, 6 and 7 the else part, 8 add.
#[test]
fn if_and_else() {
    let program = |condition, otherwise| {
        [
            test_position(),
            load(Register::R(1), [1.0; 4]),
            flow(FragmentOp::If, condition, Some(Flow::If { otherwise, end: 8 })),
            load(Register::R(0), [10.0; 4]),
            load(Register::R(0), [20.0; 4]),
            add(),
        ]
    };
    assert_eq!(lanes(&program(Condition::GT, 6)), Ok([21.0, 21.0, 11.0, 11.0]));
    assert_eq!(lanes(&program(Condition::EQ, 6)), Ok([21.0, 11.0, 21.0, 21.0]));
    assert_eq!(lanes(&program(Condition::FL, 6)), Ok([21.0; 4]));
    // Without an else part.
    assert_eq!(lanes(&program(Condition::GT, 8)), Ok([1.0, 1.0, 21.0, 21.0]));
}

/// The inner construct ends where the then part of the outer one ends.
#[test]
fn nested_ifs_end_together() {
    let program = [
        test_position(),
        flow(FragmentOp::If, Condition::GE, Some(Flow::If { otherwise: 7, end: 9 })),
        flow(FragmentOp::If, Condition::GT, Some(Flow::If { otherwise: 5, end: 7 })),
        load(Register::R(0), [1.0; 4]),
        load(Register::R(0), [2.0; 4]),
        load(Register::R(0), [3.0; 4]),
        Instruction::new(FragmentOp::Nop),
    ];
    assert_eq!(lanes(&program), Ok([3.0, 2.0, 1.0, 1.0]));
}

fn repeat(op: FragmentOp, count: u8, start: u8, step: u8, end: u32) -> Instruction {
    flow(op, Condition::TR, Some(Flow::Repeat { count, start, step, end }))
}

#[test]
fn loops() {
    let program = |count, inner: u8| {
        [
            load(Register::R(1), [1.0; 4]),
            repeat(FragmentOp::Rep, count, count, count, 6),
            repeat(FragmentOp::Rep, inner, inner, inner, 5),
            add(),
            add(),
            Instruction::new(FragmentOp::Nop),
        ]
    };
    // Slots: 0 and 1 load, 2 outer, 3 inner, 4 add, 5 add, 6 end.
    assert_eq!(lanes(&program(3, 4)), Ok([3.0 * 5.0; 4]));
    assert_eq!(lanes(&program(0, 4)), Ok([0.0; 4]));
    assert_eq!(lanes(&program(255, 0)), Ok([255.0; 4]));
    assert_eq!(lanes(&program(255, 255)), Err(Trap::Steps));
}

/// Lanes leave the loop at different iterations.
#[test]
fn breaks_depend_on_the_lane() {
    // R0 += 1; R2 = position - R0; the loop ends if R2 <= 0.
    let difference = Instruction {
        destination: Some(Register::R(2)),
        input: Some(0),
        sources: [Source::input(), Source { negate: true, ..Source::full(0) }, Source::default()],
        writes_condition: Some(0),
        ..op(FragmentOp::Add)
    };
    let program = [
        load(Register::R(1), [1.0; 4]),
        repeat(FragmentOp::Rep, 9, 9, 9, 7),
        add(),
        difference,
        flow(FragmentOp::If, Condition::LE, Some(Flow::If { otherwise: 7, end: 7 })),
        flow(FragmentOp::Brk, Condition::TR, None),
        Instruction::new(FragmentOp::Nop),
    ];
    assert_eq!(lanes(&program), Ok([1.0, 1.0, 1.0, 2.0]));
    let alone = [flow(FragmentOp::Brk, Condition::TR, None)];
    assert_eq!(lanes(&alone), Err(Trap::Stack(0)));
}

/// `LOOP` counts from its start by its step; an indexed input is the coordinate with that number.
#[test]
fn the_counter_selects_inputs() {
    let indexed = Instruction {
        sources: [Source::full(0), Source::input(), Source::default()],
        input: Some(4),
        input_offset: 1,
        indexes_input: true,
        ..op(FragmentOp::Add)
    };
    let program = [repeat(FragmentOp::Loop, 3, 1, 2, 2), indexed, Instruction::new(FragmentOp::Nop)];
    let inputs: Vec<_> = (0..14).map(|number| [(number * number) as f32; 4]).collect();
    let quad = QuadInputs { inputs: [&inputs[..]; 4], ..QuadInputs::default() };
    let result = run(&program, &quad, Chip::Nv40).unwrap();
    // Coordinates 2, 4, 6 are inputs 6, 8, 10.
    assert_eq!(result.registers[0].get(Register::R(0)), [36.0 + 64.0 + 100.0; 4]);
}

#[test]
fn calls() {
    let program = [
        load(Register::R(1), [1.0; 4]),
        flow(FragmentOp::Cal, Condition::TR, Some(Flow::Call { target: 5 })),
        flow(FragmentOp::Cal, Condition::TR, Some(Flow::Call { target: 5 })),
        flow(FragmentOp::Ret, Condition::TR, None),
        add(),
        flow(FragmentOp::Ret, Condition::TR, None),
        Instruction::new(FragmentOp::Nop),
    ];
    assert_eq!(lanes(&program), Ok([2.0; 4]));
    let recursive = [flow(FragmentOp::Cal, Condition::TR, Some(Flow::Call { target: 0 }))];
    assert_eq!(lanes(&recursive), Err(Trap::Stack(0)));
}

#[test]
fn targets_are_instructions() {
    // Slot 1 is a constant, slot 3 does not exist.
    for (target, trap) in [(1, 1), (3, 3)] {
        let program = [
            load(Register::R(0), [1.0; 4]),
            flow(FragmentOp::If, Condition::FL, Some(Flow::If { otherwise: target, end: target })),
        ];
        assert_eq!(lanes(&program), Err(Trap::Slot(trap)));
    }
}
