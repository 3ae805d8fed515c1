//! Results of vertex programs.

use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::vertex::{
    Address, Boolean, Branch, ConditionWrite, Part, ScaOp, Slot, Source, Unit, VecOp, encode,
};
use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};
use tgsi_driver_nv40::simulator::{Rules, Trap, VertexInputs, VertexResult, VertexSimulator};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn simulator(slots: &[Slot], chip: Chip) -> VertexSimulator {
    let words: Vec<_> = slots.iter().map(|slot| encode(slot, chip).unwrap()).collect();
    VertexSimulator::new(&words, chip).unwrap()
}

/// Runs a program, the last instruction of which has the end bit.
fn run_on(chip: Chip, slots: &[Slot], inputs: &VertexInputs<'_>) -> Result<VertexResult, Trap> {
    let mut slots = slots.to_vec();
    slots.last_mut().unwrap().end = true;
    simulator(&slots, chip).run(inputs)
}

fn run(slots: &[Slot], inputs: &VertexInputs<'_>) -> Result<VertexResult, Trap> {
    run_on(Chip::Nv40, slots, inputs)
}

fn temporary(number: u8) -> Option<Source> {
    Some(Source::temporary(number))
}

/// Loads an input into a temporary.
fn load(register: u8, input: u8) -> Slot {
    Slot {
        vec: Some(Part::to_register(VecOp::Mov, register, Mask::ALL)),
        sources: [Some(Source::input()), None, None],
        input: Some(input),
        ..Slot::default()
    }
}

/// A vector operation on R1, R2, R3 to R0.
fn vec(op: VecOp) -> Slot {
    let mut slot = Slot { vec: Some(Part::to_register(op, 0, Mask::ALL)), ..Slot::default() };
    for at in (0..3).filter(|at| op.row().sources >> at & 1 != 0) {
        slot.sources[at] = temporary(at as u8 + 1);
    }
    slot
}

/// A scalar operation on R3 to R0.
fn sca(op: ScaOp) -> Slot {
    let s2 = (op.row().sources != 0).then(|| Source::temporary(3));
    Slot { sca: Some(Part::to_register(op, 0, Mask::ALL)), sources: [None, None, s2], ..Slot::default() }
}

/// The result of an operation on operands in R1 to R3.
fn evaluate(slot: Slot, operands: [[f32; 4]; 3], rules: Rules) -> [f32; 4] {
    let inputs = VertexInputs { inputs: &operands, rules, ..VertexInputs::default() };
    run(&[load(1, 0), load(2, 1), load(3, 2), slot], &inputs).unwrap().temporaries[0]
}

/// Compares bits, except those of NaN.
#[track_caller]
fn assert_same(actual: [f32; 4], expected: [f32; 4], what: &str) {
    let bits = |values: [f32; 4]| values.map(|value| if value.is_nan() { NAN.to_bits() } else { value.to_bits() });
    assert_eq!(bits(actual), bits(expected), "{what}: {actual:?} {expected:?}");
}

#[test]
fn vector_opcodes() {
    let (a, b, c) = ([1.5, -2.0, 0.0, 4.0], [2.0, -2.0, 1.0, -0.5], [0.25, 1.0, -1.0, 8.0]);
    let table = [
        (VecOp::Nop, [0.0; 4]),
        (VecOp::Mov, a),
        (VecOp::Mul, [3.0, 4.0, 0.0, -2.0]),
        (VecOp::Add, [1.75, -1.0, -1.0, 12.0]),
        (VecOp::Mad, [3.25, 5.0, -1.0, 6.0]),
        (VecOp::Dp3, [7.0; 4]),
        (VecOp::Dph, [6.5; 4]),
        (VecOp::Dp4, [5.0; 4]),
        (VecOp::Dst, [1.0, 4.0, 0.0, -0.5]),
        (VecOp::Min, [1.5, -2.0, 0.0, -0.5]),
        (VecOp::Max, [2.0, -2.0, 1.0, 4.0]),
        (VecOp::Slt, [1.0, 0.0, 1.0, 0.0]),
        (VecOp::Sge, [0.0, 1.0, 0.0, 1.0]),
        (VecOp::Seq, [0.0, 1.0, 0.0, 0.0]),
        (VecOp::Sfl, [0.0; 4]),
        (VecOp::Sgt, [0.0, 0.0, 0.0, 1.0]),
        (VecOp::Sle, [1.0, 1.0, 1.0, 0.0]),
        (VecOp::Sne, [1.0, 0.0, 1.0, 1.0]),
        (VecOp::Str, [1.0; 4]),
        (VecOp::Frc, [0.5, 0.0, 0.0, 0.0]),
        (VecOp::Flr, [1.0, -2.0, 0.0, 4.0]),
        (VecOp::Ssg, [1.0, -1.0, 0.0, 1.0]),
    ];
    for (op, expected) in table {
        for rules in [Rules::Ieee, Rules::Hardware] {
            assert_same(evaluate(vec(op), [a, b, c], rules), expected, op.row().name);
        }
    }
    let tested = table.map(|(op, _)| op);
    let others: Vec<_> = VecOp::table().iter().map(|row| row.op).filter(|op| !tested.contains(op)).collect();
    assert_eq!(others, [VecOp::Arl, VecOp::Arr, VecOp::Ara, VecOp::Txl]);
}

#[test]
fn scalar_opcodes() {
    let x = [4.0, 3.0, -2.0, 2.0];
    let table = [
        (ScaOp::Nop, [0.0; 4]),
        (ScaOp::Mov, x),
        (ScaOp::Rcp, [0.25; 4]),
        (ScaOp::Rcc, [0.25; 4]),
        (ScaOp::Rsq, [0.5; 4]),
        (ScaOp::Exp, [16.0, 0.0, 16.0, 1.0]),
        (ScaOp::Log, [2.0, 1.0, 2.0, 1.0]),
        (ScaOp::Lit, [1.0, 4.0, 9.0, 1.0]),
        (ScaOp::Lg2, [2.0; 4]),
        (ScaOp::Ex2, [16.0; 4]),
        (ScaOp::Sin, [4f64.sin() as f32; 4]),
        (ScaOp::Cos, [4f64.cos() as f32; 4]),
    ];
    for (op, expected) in table {
        for rules in [Rules::Ieee, Rules::Hardware] {
            assert_same(evaluate(sca(op), [[0.0; 4], [0.0; 4], x], rules), expected, op.row().name);
        }
    }
}

#[test]
fn special_values_of_scalar_opcodes() {
    let table = [
        (ScaOp::Rcp, 0.0, [INF; 4]),
        (ScaOp::Rcp, -0.0, [-INF; 4]),
        (ScaOp::Rcp, -INF, [-0.0; 4]),
        (ScaOp::Rcc, 0.0, [2f32.powi(64); 4]),
        (ScaOp::Rcc, -INF, [-2f32.powi(-64); 4]),
        (ScaOp::Rsq, -0.0, [-INF; 4]),
        (ScaOp::Rsq, -4.0, [NAN; 4]),
        (ScaOp::Lg2, 0.0, [-INF; 4]),
        (ScaOp::Lg2, -1.0, [NAN; 4]),
        (ScaOp::Ex2, 200.0, [INF; 4]),
        (ScaOp::Ex2, -200.0, [0.0; 4]),
        (ScaOp::Log, 0.0, [-INF, 1.0, -INF, 1.0]),
        (ScaOp::Log, -6.0, [2.0, 1.5, 6f64.log2() as f32, 1.0]),
        (ScaOp::Exp, -1.5, [0.25, 0.5, 2f64.powf(-1.5) as f32, 1.0]),
    ];
    for (op, x, expected) in table {
        let result = evaluate(sca(op), [[0.0; 4], [0.0; 4], [x; 4]], Rules::Ieee);
        assert_same(result, expected, op.row().name);
    }
    let lit = |operand| evaluate(sca(ScaOp::Lit), [[0.0; 4], [0.0; 4], operand], Rules::Ieee);
    assert_same(lit([-1.0, 2.0, 0.0, 1.0]), [1.0, 0.0, 0.0, 1.0], "x below zero");
    assert_same(lit([2.0, -3.0, 0.0, 0.0]), [1.0, 2.0, 1.0, 1.0], "0^0");
    assert_same(lit([1.0, 2.0, 0.0, 1000.0]), [1.0, 1.0, INF, 1.0], "clamped exponent");
}

#[test]
fn rules_differ() {
    let both =
        |op, operands: [[f32; 4]; 3]| [Rules::Ieee, Rules::Hardware].map(|rules| evaluate(vec(op), operands, rules)[0]);
    let of = |a: f32, b: f32| [[a; 4], [b; 4], [0.0; 4]];
    // A product that rounds up to nearest.
    let [ieee, hardware] = both(VecOp::Mul, of(1.0 + 3.0 * 2f32.powi(-13), 1.0 + 2f32.powi(-11)));
    assert_eq!(ieee.to_bits(), hardware.to_bits() + 1);
    let zero = both(VecOp::Mul, of(-0.0, 2.0)).map(f32::to_bits);
    assert_eq!(zero, [0x8000_0000, 0]);
    assert!(both(VecOp::Mul, of(0.0, INF)).iter().all(|value| value.is_nan()));
    let denormal = f32::from_bits(1);
    assert_eq!(both(VecOp::Mul, of(denormal, 1.0)), [denormal, 0.0]);
    assert_eq!(both(VecOp::Slt, of(NAN, 1.0))[0], 0.0);
    assert!(both(VecOp::Slt, of(NAN, 1.0))[1].is_nan());
    assert_eq!(both(VecOp::Sne, of(NAN, 1.0))[0], 1.0);
    assert_eq!(both(VecOp::Min, of(NAN, 1.0))[0], 1.0);
    assert_eq!(both(VecOp::Max, of(1.0, NAN))[0], 1.0);
    assert!(both(VecOp::Max, of(1.0, NAN))[1].is_nan());
    assert_eq!(both(VecOp::Flr, of(-0.0, 0.0)).map(f32::to_bits), [0x8000_0000, 0]);
    // The sum of products has one rounding.
    let huge = [[1e30, 1.0, -1e30, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0; 4]];
    assert_eq!(both(VecOp::Dp3, huge), [0.0, 0.0]);
    let wide = [[1e8, 1.0, -1e8, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0; 4]];
    assert_eq!(both(VecOp::Dp3, wide), [0.0, 1.0]);
}

/// Both units read before they write, and two moves of a slot exchange registers.
#[test]
fn reads_precede_writes() {
    let exchange = Slot {
        vec: Some(Part::to_register(VecOp::Mov, 1, Mask::ALL)),
        sca: Some(Part::to_register(ScaOp::Mov, 2, Mask::ALL)),
        sources: [temporary(2), None, temporary(1)],
        ..Slot::default()
    };
    let inputs = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]];
    let result = run(&[load(1, 0), load(2, 1), exchange], &VertexInputs { inputs: &inputs, ..Default::default() });
    let temporaries = result.unwrap().temporaries;
    assert_eq!((temporaries[1], temporaries[2]), (inputs[1], inputs[0]));
}

#[test]
fn modifiers_and_masks() {
    let mov = Slot {
        vec: Some(Part { op: VecOp::Mov, register: Some(0), mask: Mask(5), output_mask: Mask(5) }),
        sources: [
            Some(Source { abs: true, negate: true, ..Source::input().swizzled(Swizzle([3, 2, 1, 0])) }),
            None,
            None,
        ],
        input: Some(1),
        output: Some(3),
        ..Slot::default()
    };
    let inputs = [[0.0; 4], [1.0, -2.0, 3.0, -4.0]];
    let result = run(&[mov], &VertexInputs { inputs: &inputs, ..Default::default() }).unwrap();
    assert_eq!(result.temporaries[0], [-4.0, 0.0, -2.0, 0.0]);
    assert_eq!(result.outputs[3], [-4.0, 0.0, -2.0, 1.0]);
    assert_eq!(result.outputs[4], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!((result.written[3], result.written[4]), (Mask(5), Mask::NONE));
    let saturated = Slot { saturate: true, ..load(0, 1) };
    let inputs = [[0.0; 4], [0.5, -2.0, 3.0, NAN]];
    let result = run(&[saturated], &VertexInputs { inputs: &inputs, ..Default::default() }).unwrap();
    assert_eq!(result.temporaries[0], [0.5, 0.0, 1.0, 0.0]);
}

/// GeForce FX: both units write one register and one output with four masks.
#[test]
fn four_masks_of_geforce_fx() {
    let slot = Slot {
        vec: Some(Part { op: VecOp::Mov, register: Some(3), mask: Mask(1), output_mask: Mask(2) }),
        sca: Some(Part { op: ScaOp::Mov, register: Some(3), mask: Mask(4), output_mask: Mask(8) }),
        sources: [Some(Source::input()), None, Some(Source { negate: true, ..Source::input() })],
        input: Some(0),
        output: Some(22),
        ..Slot::default()
    };
    let inputs = VertexInputs { inputs: &[[1.0, 2.0, 3.0, 4.0]], ..Default::default() };
    let result = run_on(Chip::Nv30, &[slot], &inputs).unwrap();
    assert_eq!(result.temporaries[3], [1.0, 0.0, -3.0, 0.0]);
    assert_eq!(result.outputs[22], [0.0, 2.0, 0.0, -4.0]);
}

fn predicate(condition: Condition, swizzle: Swizzle) -> Option<Predicate> {
    Some(Predicate { register: 0, condition, swizzle })
}

#[test]
fn predicates_guard_both_units() {
    let compare = Slot {
        vec: Some(Part::to_condition(VecOp::Mov, Mask::ALL)),
        sources: [Some(Source::input()), None, None],
        input: Some(0),
        writes_condition: Some(ConditionWrite { unit: Unit::Vec, register: 0 }),
        ..Slot::default()
    };
    let inputs = VertexInputs { inputs: &[[-1.0, 0.0, 2.0, NAN]], ..Default::default() };
    // Bits: less, equal, greater, NaN.
    let passes = [0b0000, 0b0001, 0b0010, 0b0011, 0b0100, 0b1101, 0b0110, 0b1111];
    for (condition, mask) in passes.into_iter().enumerate() {
        let guarded = Slot {
            vec: Some(Part::to_register(VecOp::Str, 1, Mask::ALL)),
            sca: Some(Part::to_register(ScaOp::Ex2, 2, Mask::ALL)),
            sources: [None, None, temporary(0)],
            predicate: predicate(Condition(condition as u8), Swizzle::IDENTITY),
            ..Slot::default()
        };
        let result = run(&[compare, guarded], &inputs).unwrap();
        let expected = [0, 1, 2, 3].map(|component| f32::from(mask >> component & 1u8));
        assert_eq!(result.temporaries[1], expected, "{condition}");
        assert_eq!(result.temporaries[2], expected, "{condition}");
    }
    let swizzled = Slot { predicate: predicate(Condition::GT, Swizzle([2, 0, 2, 1])), ..vec(VecOp::Str) };
    assert_eq!(run(&[compare, swizzled], &inputs).unwrap().temporaries[0], [1.0, 0.0, 1.0, 0.0]);
    // A guarded update keeps the other components: y is 0, and remains so.
    let update = Slot {
        vec: Some(Part::to_condition(VecOp::Str, Mask::ALL)),
        predicate: predicate(Condition::LT, Swizzle::IDENTITY),
        sources: [None; 3],
        ..compare
    };
    let update = Slot { input: None, ..update };
    let greater = Slot { predicate: predicate(Condition::GT, Swizzle::IDENTITY), ..vec(VecOp::Str) };
    assert_eq!(run(&[compare, update, greater], &inputs).unwrap().temporaries[0], [1.0, 0.0, 1.0, 0.0]);
}

/// The scalar unit writes the second condition register, after saturation.
#[test]
fn scalar_unit_writes_conditions() {
    let update = Slot {
        sca: Some(Part::to_condition(ScaOp::Mov, Mask(3))),
        sources: [None, None, Some(Source::input())],
        input: Some(0),
        saturate: true,
        writes_condition: Some(ConditionWrite { unit: Unit::Sca, register: 1 }),
        ..Slot::default()
    };
    let guarded = Slot {
        predicate: Some(Predicate { register: 1, condition: Condition::EQ, swizzle: Swizzle::IDENTITY }),
        ..vec(VecOp::Str)
    };
    let inputs = VertexInputs { inputs: &[[-1.0, 1.0, 1.0, 1.0]], ..Default::default() };
    let result = run(&[update, guarded], &inputs).unwrap();
    assert_eq!(result.temporaries[0], [1.0, 0.0, 1.0, 1.0]);
}

fn branch(op: ScaOp, target: u16, predicate: Option<Predicate>) -> Slot {
    Slot {
        sca: Some(Part::to_condition(op, Mask::ALL)),
        branch: (op.row().branch != tgsi_driver_nv40::isa::vertex::BranchFields::None)
            .then_some(Branch { target, boolean: None }),
        predicate,
        ..Slot::default()
    }
}

/// Adds R1 to R0 in a loop until R2.x, the count, is zero.
#[test]
fn a_loop() {
    let constant = |register, op| Slot { vec: Some(Part::to_register(op, register, Mask::ALL)), ..Slot::default() };
    let add = Slot { sources: [temporary(0), None, temporary(1)], ..vec(VecOp::Add) };
    let decrement = Slot {
        vec: Some(Part::to_register(VecOp::Add, 2, Mask::ALL)),
        sources: [temporary(2), None, Some(Source { negate: true, ..Source::temporary(1) })],
        writes_condition: Some(ConditionWrite { unit: Unit::Vec, register: 0 }),
        ..Slot::default()
    };
    let program = [
        constant(1, VecOp::Str),
        load(2, 0),
        add,
        decrement,
        branch(ScaOp::Bra, 2, predicate(Condition::GT, Swizzle::replicate(0))),
        Slot::default(),
    ];
    for chip in Chip::ALL {
        let inputs = VertexInputs { inputs: &[[7.0; 4]], ..Default::default() };
        let result = run_on(chip, &program, &inputs).unwrap();
        assert_eq!((result.temporaries[0], result.steps), ([7.0; 4], 2 + 3 * 7 + 1));
        let endless = VertexInputs { inputs: &[[INF; 4]], steps: u32::MAX, ..Default::default() };
        assert_eq!(run_on(chip, &program, &endless), Err(Trap::Steps));
    }
}

#[test]
fn calls_and_booleans() {
    let program = |taken_if| {
        [
            Slot {
                branch: Some(Branch { target: 3, boolean: Some(Boolean { number: 5, taken_if }) }),
                sca: Some(Part::to_condition(ScaOp::Clb, Mask::ALL)),
                ..Slot::default()
            },
            branch(ScaOp::Cal, 4, None),
            branch(ScaOp::Bra, 6, None),
            vec(VecOp::Str),
            Slot { vec: Some(Part::to_register(VecOp::Str, 1, Mask::ALL)), ..Slot::default() },
            branch(ScaOp::Ret, 0, None),
            Slot::default(),
        ]
    };
    let run = |taken_if| {
        run(&program(taken_if), &VertexInputs { booleans: 1 << 5, ..Default::default() }).unwrap().temporaries
    };
    assert_eq!((run(true)[0], run(true)[1]), ([1.0; 4], [1.0; 4]));
    assert_eq!((run(false)[0], run(false)[1]), ([0.0; 4], [1.0; 4]));
    let recursive = [branch(ScaOp::Cal, 0, None), Slot::default()];
    assert_eq!(super::vertex_run::run(&recursive, &VertexInputs::default()), Err(Trap::Stack(0)));
}

#[test]
fn address_registers() {
    let arl = |op, register| Slot {
        vec: Some(Part::to_register(op, register, Mask::ALL)),
        sources: [Some(Source::input()), None, None],
        input: Some(0),
        ..Slot::default()
    };
    let indexed = |register, component| Slot {
        vec: Some(Part::to_register(VecOp::Mov, 0, Mask::ALL)),
        sources: [Some(Source::constant()), None, None],
        constant: Some(2),
        indexes_constant: true,
        address: Some(Address { register, component }),
        ..Slot::default()
    };
    let constants: Vec<_> = (0..8).map(|number| [number as f32; 4]).collect();
    let inputs = VertexInputs { inputs: &[[1.5, -1.5, 2.5, 1e9]], constants: &constants, ..VertexInputs::default() };
    let first = |program: &[Slot]| run(program, &inputs).unwrap().temporaries[0][0];
    assert_eq!(first(&[arl(VecOp::Arl, 0), indexed(0, 0)]), 3.0);
    assert_eq!(first(&[arl(VecOp::Arl, 1), indexed(1, 1)]), 0.0);
    assert_eq!(first(&[arl(VecOp::Arr, 1), indexed(1, 0)]), 4.0);
    assert_eq!(first(&[arl(VecOp::Arr, 1), indexed(1, 2)]), 4.0);
    // Out of range: clamped in the register, zero from the constants.
    assert_eq!(first(&[arl(VecOp::Arl, 0), indexed(0, 3)]), 0.0);
    // A sum of components: 1 + 2.
    let ara = Slot {
        vec: Some(Part::to_register(VecOp::Ara, 1, Mask::ALL)),
        address: Some(Address { register: 0, component: 0 }),
        ..Slot::default()
    };
    assert_eq!(first(&[arl(VecOp::Arl, 0), ara, indexed(1, 2)]), 5.0);
    // A saved register.
    let stack = |op| Slot {
        sca: Some(Part::to_condition(op, Mask::ALL)),
        address: Some(Address { register: 0, component: 0 }),
        ..Slot::default()
    };
    let saved = [arl(VecOp::Arl, 0), stack(ScaOp::Pusha), arl(VecOp::Arr, 0), stack(ScaOp::Popa), indexed(0, 0)];
    assert_eq!(first(&saved), 3.0);
    // An indexed output, and a branch to the slot of a register.
    let output = Slot {
        vec: Some(Part::to_output(VecOp::Str, Mask::X)),
        output: Some(7),
        indexes_output: true,
        address: Some(Address { register: 0, component: 2 }),
        ..Slot::default()
    };
    let result = run(&[arl(VecOp::Arl, 0), output], &inputs).unwrap();
    assert_eq!(result.outputs[9][0], 1.0);
    let jump = Slot {
        sca: Some(Part::to_condition(ScaOp::BraA, Mask::ALL)),
        address: Some(Address { register: 0, component: 2 }),
        ..Slot::default()
    };
    let inputs = VertexInputs { inputs: &[[0.0, 0.0, 3.0, 0.0]], ..VertexInputs::default() };
    let result = run(&[arl(VecOp::Arl, 0), jump, vec(VecOp::Str), Slot::default()], &inputs).unwrap();
    assert_eq!((result.temporaries[0], result.steps), ([0.0; 4], 3));
}

#[test]
fn texture_fetch() {
    let fetch = Slot { texture: Some(3), ..vec(VecOp::Txl) };
    let texture = |unit: u8, [x, y, z, level]: [f32; 4]| [f32::from(unit), x + y, z, level];
    let inputs = VertexInputs { inputs: &[[1.0, 2.0, 3.0, 4.0]], texture: &texture, ..VertexInputs::default() };
    let fetch = [load(1, 0), fetch];
    assert_eq!(run(&fetch, &inputs).unwrap().temporaries[0], [3.0, 3.0, 3.0, 4.0]);
}

#[test]
fn a_program_needs_its_end() {
    let simulator = simulator(&[vec(VecOp::Str)], Chip::Nv40);
    assert_eq!(simulator.run(&VertexInputs::default()), Err(Trap::Slot(1)));
    assert_eq!(simulator.slots().len(), 1);
}

/// Any decodable words run to an end or a trap.
#[test]
fn any_words_run() {
    let mut choice = Choice::new(4);
    let mut runs = 0;
    for _ in 0..100_000 {
        let chip = choice.chip();
        let words: Vec<_> = (0..1 + choice.below(2))
            .map(|_| {
                let mut words = choice.words();
                // Branches near the program, and valid bits more often.
                words[0] &= 0x7fff_ffff;
                words[2] &= !0x3f;
                words
            })
            .collect();
        let Ok(simulator) = VertexSimulator::new(&words, chip) else { continue };
        runs += 1;
        let rules = choice.of(&[Rules::Ieee, Rules::Hardware]);
        let _ = simulator.run(&VertexInputs { inputs: &[[NAN, INF, -0.0, 1.0]], rules, ..Default::default() });
    }
    assert!(runs > 500, "{runs}");
}
