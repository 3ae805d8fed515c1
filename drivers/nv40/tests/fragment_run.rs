//! Results of fragment programs.

use crate::support::Choice;
use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::fragment::{
    Clamp, Class, FragmentOp, Instruction, Precision, Read, Register, Scale, Source, encode,
};
use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};
use tgsi_driver_nv40::simulator::{FragmentResult, FragmentSimulator, Lookup, QuadInputs, Rules, TextureFetch, Trap};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// Runs a program, the last instruction of which has the end bit.
pub fn run(instructions: &[Instruction], inputs: &QuadInputs<'_>, chip: Chip) -> Result<FragmentResult, Trap> {
    let mut words = Vec::new();
    for (at, instruction) in instructions.iter().enumerate() {
        let end = at + 1 == instructions.len();
        encode(&Instruction { end, ..*instruction }, chip, &mut words).unwrap();
    }
    FragmentSimulator::new(&words, chip).unwrap().run(inputs)
}

/// Loads a constant.
pub fn load(register: Register, value: [f32; 4]) -> Instruction {
    Instruction {
        destination: Some(register),
        sources: [Source::constant(), Source::default(), Source::default()],
        constant: Some(value.map(f32::to_bits)),
        ..Instruction::new(FragmentOp::Mov)
    }
}

/// An operation on R1, R2, R3 to R0.
pub fn op(op: FragmentOp) -> Instruction {
    Instruction {
        destination: Some(Register::R(0)),
        sources: [Source::full(1), Source::full(2), Source::full(3)],
        ..Instruction::new(op)
    }
}

fn chip_of(op: FragmentOp) -> Chip {
    if Chip::Nv40.is_in(op.row().chips) { Chip::Nv40 } else { Chip::Nv30 }
}

/// The result of an operation on operands in R1 to R3.
fn evaluate_with(instruction: Instruction, operands: [[f32; 4]; 3], rules: Rules) -> [f32; 4] {
    let [a, b, c] = [0, 1, 2].map(|number| load(Register::R(number as u8 + 1), operands[number]));
    let inputs = QuadInputs { rules, ..QuadInputs::default() };
    let result = run(&[a, b, c, instruction], &inputs, chip_of(instruction.op)).unwrap();
    result.registers[0].get(instruction.destination.unwrap())
}

fn evaluate(instruction: Instruction, operands: [[f32; 4]; 3]) -> [f32; 4] {
    evaluate_with(instruction, operands, Rules::Ieee)
}

/// Compares bits, except those of NaN.
#[track_caller]
fn assert_same(actual: [f32; 4], expected: [f32; 4], what: &str) {
    let bits = |values: [f32; 4]| values.map(|value| if value.is_nan() { NAN.to_bits() } else { value.to_bits() });
    assert_eq!(bits(actual), bits(expected), "{what}: {actual:?} {expected:?}");
}

#[test]
fn opcodes() {
    let (a, b, c) = ([1.5, -2.0, 0.0, 4.0], [2.0, -2.0, 1.0, -0.5], [0.25, 1.0, -1.0, 8.0]);
    let table = [
        (FragmentOp::Mov, a),
        (FragmentOp::Mul, [3.0, 4.0, 0.0, -2.0]),
        (FragmentOp::Add, [3.5, -4.0, 1.0, 3.5]),
        (FragmentOp::Mad, [3.25, 5.0, -1.0, 6.0]),
        (FragmentOp::Dp2, [7.0; 4]),
        (FragmentOp::Dp2a, [7.25; 4]),
        (FragmentOp::Dp3, [7.0; 4]),
        (FragmentOp::Dp4, [5.0; 4]),
        (FragmentOp::Dst, [1.0, 4.0, 0.0, -0.5]),
        (FragmentOp::Min, [1.5, -2.0, 0.0, -0.5]),
        (FragmentOp::Max, [2.0, -2.0, 1.0, 4.0]),
        (FragmentOp::Slt, [1.0, 0.0, 1.0, 0.0]),
        (FragmentOp::Sge, [0.0, 1.0, 0.0, 1.0]),
        (FragmentOp::Sle, [1.0, 1.0, 1.0, 0.0]),
        (FragmentOp::Sgt, [0.0, 0.0, 0.0, 1.0]),
        (FragmentOp::Sne, [1.0, 0.0, 1.0, 1.0]),
        (FragmentOp::Seq, [0.0, 1.0, 0.0, 0.0]),
        (FragmentOp::Str, [1.0; 4]),
        (FragmentOp::Sfl, [0.0; 4]),
        (FragmentOp::Frc, [0.5, 0.0, 0.0, 0.0]),
        (FragmentOp::Flr, [1.0, -2.0, 0.0, 4.0]),
        (FragmentOp::Rcp, [(1.0f32 / 1.5); 4]),
        (FragmentOp::Rsq, [1.0 / 1.5f32.sqrt(); 4]),
        (FragmentOp::Ex2, [1.5f32.exp2(); 4]),
        (FragmentOp::Lg2, [1.5f32.log2(); 4]),
        (FragmentOp::Cos, [1.5f32.cos(); 4]),
        (FragmentOp::Sin, [1.5f32.sin(); 4]),
        (FragmentOp::Pow, [2.25; 4]),
        (FragmentOp::Lit, [1.0, 1.5, 0.0, 1.0]),
        (FragmentOp::Lif, [1.0, -2.0, 0.0, 1.0]),
        (FragmentOp::Lrp, [2.875, 7.0, -1.0, -26.0]),
        (FragmentOp::X2d, [1.5 + 0.5 - 2.0, -2.0 - 2.0 - 16.0, 0.0, -20.0]),
        (FragmentOp::Rfl, [1.36, -2.48, -1.0, NAN]),
        (FragmentOp::Nrm, [0.6, -0.8, 0.0, NAN]),
        (FragmentOp::Div, [0.75, -1.0, 0.0, 2.0]),
        (FragmentOp::Divsq, [1.5, -2.0, 0.0, 4.0].map(|value| value * (1.0 / 2f32.sqrt()))),
    ];
    for (opcode, expected) in table {
        for rules in [Rules::Ieee, Rules::Hardware] {
            let actual = evaluate_with(op(opcode), [a, b, c], rules);
            if opcode == FragmentOp::Rfl {
                for (actual, expected) in actual.into_iter().zip(expected) {
                    assert!((actual - expected).abs() < 1e-6 || actual.is_nan() && expected.is_nan(), "{actual}");
                }
            } else {
                assert_same(actual, expected, opcode.row().name);
            }
        }
    }
    let tested = table.map(|(op, _)| op);
    let others = FragmentOp::table().iter().filter(|row| !tested.contains(&row.op));
    assert!(
        others
            .clone()
            .all(|row| { row.class != Class::Arithmetic || matches!(row.op, FragmentOp::Ddx | FragmentOp::Ddy) })
    );
    assert!(others.filter(|row| row.reads[0] == Read::Scalar).all(|row| row.class == Class::Unpack));
}

#[test]
fn special_values() {
    let scalar = |opcode, x: f32| evaluate(op(opcode), [[x; 4], [0.0; 4], [0.0; 4]])[0];
    assert_eq!(scalar(FragmentOp::Rcp, 0.0), INF);
    assert_eq!(scalar(FragmentOp::Rsq, -4.0), 0.5);
    assert_eq!(scalar(FragmentOp::Rsq, 0.0), INF);
    assert_eq!(scalar(FragmentOp::Lg2, 0.0), -INF);
    assert_eq!(scalar(FragmentOp::Flr, -0.0).to_bits(), 0x8000_0000);
    assert_eq!(scalar(FragmentOp::Nrm, 0.0), 0.0);
    assert_eq!(scalar(FragmentOp::Divsq, 0.0), 0.0);
    assert!(scalar(FragmentOp::Div, 0.0).is_nan());
    assert_eq!(scalar(FragmentOp::Slt, NAN), 0.0);
    assert_eq!(scalar(FragmentOp::Sne, NAN), 1.0);
    let product = |rules| evaluate_with(op(FragmentOp::Mul), [[-0.0; 4], [1.0; 4], [0.0; 4]], rules)[0].to_bits();
    assert_eq!((product(Rules::Ieee), product(Rules::Hardware)), (0x8000_0000, 0x8000_0000));
    let denormal = [f32::from_bits(1); 4];
    let product = |rules| evaluate_with(op(FragmentOp::Mul), [denormal, [1.0; 4], [0.0; 4]], rules)[0];
    assert_eq!((product(Rules::Ieee), product(Rules::Hardware)), (denormal[0], 0.0));
    let lif = evaluate(op(FragmentOp::Lif), [[9.0, 2.0, 9.0, 3.0], [0.0; 4], [0.0; 4]]);
    assert_eq!(lif, [1.0, 2.0, 8.0, 1.0]);
}

#[test]
fn packed_numbers() {
    let table = [
        (FragmentOp::Pk4ub, FragmentOp::Up4ub, [0.0, 1.0, 0.2, 2.0], 0xff33_ff00, [0.0, 1.0, 0.2, 1.0]),
        (FragmentOp::Pk4b, FragmentOp::Up4b, [0.0, 1.0, -1.0, -2.0], 0x0001_ff80, [0.0, 1.0, -1.0, -128.0 / 127.0]),
        (FragmentOp::Pk2h, FragmentOp::Up2h, [1.0, -2.0, 0.0, 0.0], 0xc000_3c00, [1.0, -2.0, 1.0, -2.0]),
        (FragmentOp::Pk2us, FragmentOp::Up2us, [1.0, -2.0, 0.0, 0.0], 0x0000_ffff, [1.0, 0.0, 1.0, 0.0]),
    ];
    for (pack, unpack, value, bits, expected) in table {
        let packed = evaluate(op(pack), [value, [0.0; 4], [0.0; 4]]);
        assert_eq!(packed.map(f32::to_bits), [bits; 4], "{}", pack.row().name);
        let unpacked = evaluate(op(unpack), [[f32::from_bits(bits); 4], [0.0; 4], [0.0; 4]]);
        assert_eq!(unpacked, expected, "{}", unpack.row().name);
    }
    let unknown = run(&[op(FragmentOp::Pkg)], &QuadInputs::default(), Chip::Nv40);
    assert_eq!(unknown, Err(Trap::Undefined(0, "PKG")));
}

/// An H register is half of an R register.
#[test]
fn registers_share_bits() {
    let program = [
        load(Register::H(2), [1.0, 2.0, 3.0, 4.0]),
        load(Register::H(3), [5.0, 6.0, 7.0, 8.0]),
        Instruction { mask: Mask(2), ..load(Register::R(1), [0.0; 4]) },
    ];
    let registers = |count: usize| {
        let result = run(&program[..count], &QuadInputs::default(), Chip::Nv40).unwrap();
        result.registers[3].clone()
    };
    // 1, 2, ..., 8 as 16-bit floats, the first of a pair in the low half.
    assert_eq!(registers(2).bits(1), [0x4000_3c00, 0x4400_4200, 0x4600_4500, 0x4800_4700]);
    assert_eq!(registers(3).get(Register::H(2)), [1.0, 2.0, 0.0, 0.0]);
    assert_eq!(registers(3).get(Register::H(3)), [5.0, 6.0, 7.0, 8.0]);
    let last = [load(Register::H(63), [1.0; 4])];
    let result = run(&last, &QuadInputs::default(), Chip::Nv30).unwrap();
    assert_eq!(result.registers[0].bits(31), [0, 0, 0x3c00_3c00, 0x3c00_3c00]);
}

#[test]
fn results_round_to_their_precision() {
    let third = [1.0 / 3.0, -1e6, 1e-7, NAN];
    let round = |precision, destination| {
        let mov = Instruction { precision, destination: Some(destination), ..op(FragmentOp::Mov) };
        evaluate(mov, [third, [0.0; 4], [0.0; 4]])
    };
    let half = [0.333_251_95, -INF, 1.192_092_9e-7, NAN];
    assert_same(round(Precision::Fp32, Register::R(0)), third, "fp32");
    assert_same(round(Precision::Fp16, Register::R(0)), half, "fp16 in R");
    assert_same(round(Precision::Fp32, Register::H(0)), half, "fp32 in H");
    assert_same(round(Precision::Fx12, Register::R(0)), [341.0 / 1024.0, -2.0, 0.0, 0.0], "fx12");
    assert_same(round(Precision::Fx9, Register::R(0)), [85.0 / 256.0, -1.0, 0.0, 0.0], "fx9");
}

#[test]
fn operands_and_results_are_modified() {
    let value = [-3.0, 0.5, 1.5, -0.25];
    let mov =
        |source: Source| Instruction { sources: [source, Source::default(), Source::default()], ..op(FragmentOp::Mov) };
    let read = |clamp, abs, negate| {
        evaluate(mov(Source { clamp, abs, negate, ..Source::full(1) }), [value, [0.0; 4], [0.0; 4]])
    };
    let below = 1.0 - 1.0 / 256.0;
    assert_eq!(read(Clamp::None, true, true), [-3.0, -0.5, -1.5, -0.25]);
    assert_eq!(read(Clamp::Two, false, true), [2.0, -0.5, -1.5, 0.25]);
    assert_eq!(read(Clamp::One, false, false), [-1.0, 0.5, below, -0.25]);
    assert_eq!(read(Clamp::Unit, true, false), [1.0, 0.5, 1.0, 0.25]);
    assert_eq!(read(Clamp::Five, false, false), value);
    assert_eq!(read(Clamp::Fp16, false, false), value);
    let unit = |number| Source { clamp: Clamp::Unit, ..Source::full(number) };
    let mad = Instruction { sources: [unit(1), unit(2), unit(3)], ..op(FragmentOp::Mad) };
    assert_eq!(evaluate(mad, [[2.0; 4], [3.0; 4], [4.0; 4]]), [7.0; 4]);
    let scales = [
        (Scale::One, 1.0),
        (Scale::Two, 2.0),
        (Scale::Four, 4.0),
        (Scale::Eight, 8.0),
        (Scale::Half, 0.5),
        (Scale::Quarter, 0.25),
        (Scale::Eighth, 0.125),
    ];
    for (scale, factor) in scales {
        let scaled = Instruction { scale, ..op(FragmentOp::Mov) };
        assert_eq!(evaluate(scaled, [value, [0.0; 4], [0.0; 4]]), value.map(|value| value * factor));
    }
    let saturated = Instruction { scale: Scale::Two, saturate: true, ..op(FragmentOp::Mov) };
    assert_eq!(evaluate(saturated, [[0.25, 0.75, -1.0, NAN], [0.0; 4], [0.0; 4]]), [0.5, 1.0, 0.0, 0.0]);
}

#[test]
fn conditions_guard_writes() {
    let update = Instruction { destination: None, writes_condition: Some(1), ..op(FragmentOp::Mov) };
    let passes = [0b0000, 0b0001, 0b0010, 0b0011, 0b0100, 0b1101, 0b0110, 0b1111];
    for (condition, mask) in passes.into_iter().enumerate() {
        let predicate = Predicate { register: 1, condition: Condition(condition as u8), swizzle: Swizzle::IDENTITY };
        let guarded = Instruction { predicate, ..op(FragmentOp::Str) };
        let program = [load(Register::R(1), [-1.0, 0.0, 2.0, NAN]), update, guarded];
        let result = run(&program, &QuadInputs::default(), Chip::Nv40).unwrap();
        let expected = [0, 1, 2, 3].map(|component| f32::from(mask >> component & 1u8));
        assert_eq!(result.registers[0].get(Register::R(0)), expected);
    }
    // The class is that of the stored result: zero after the conversion to 16 bits.
    let tiny = Instruction { destination: Some(Register::H(8)), writes_condition: Some(0), ..op(FragmentOp::Mov) };
    let predicate = Predicate { condition: Condition::EQ, ..Predicate::ALWAYS };
    let guarded = Instruction { predicate, ..op(FragmentOp::Str) };
    let program = [load(Register::R(1), [1e-9, 1.0, 1e-9, 1.0]), tiny, guarded];
    let result = run(&program, &QuadInputs::default(), Chip::Nv40).unwrap();
    assert_eq!(result.registers[0].get(Register::R(0)), [1.0, 0.0, 1.0, 0.0]);
}

/// Lanes with inputs: the position (x, y, z, 1 / w), colours, fog, texture coordinates.
fn quad() -> [Vec<[f32; 4]>; 4] {
    [0, 1, 2, 3].map(|lane| {
        let (x, y) = ((lane % 2) as f32, (lane / 2) as f32);
        let mut inputs = vec![[0.0; 4]; 15];
        inputs[0] = [x, y, 0.5, 0.25];
        inputs[4] = [x * 8.0, y * 4.0, x, 2.0];
        inputs[5] = [x * y, 16.0, 32.0, 64.0];
        inputs[14] = [1.0, 0.0, 0.0, 0.0];
        inputs
    })
}

fn read(input: u8, opcode: FragmentOp) -> Instruction {
    Instruction { sources: [Source::input(), Source::default(), Source::default()], input: Some(input), ..op(opcode) }
}

#[test]
fn derivatives_and_kill() {
    let data = quad();
    let inputs = QuadInputs {
        inputs: [0, 1, 2, 3].map(|lane| &data[lane][..]),
        rules: Rules::Hardware,
        ..QuadInputs::default()
    };
    let ddx = run(&[read(5, FragmentOp::Ddx)], &inputs, Chip::Nv40).unwrap();
    let ddy = run(&[read(4, FragmentOp::Ddy)], &inputs, Chip::Nv30).unwrap();
    for lane in 0..4 {
        let [x, y, z, w] = ddx.registers[lane].get(Register::R(0));
        assert_eq!((x, y), (if lane < 2 { 0.0 } else { 1.0 }, 0.0));
        assert!(z.is_nan() && w.is_nan());
        assert_eq!(ddy.registers[lane].get(Register::R(0))[..2], [0.0, 4.0]);
    }
    let update = Instruction { destination: None, writes_condition: Some(0), ..read(0, FragmentOp::Mov) };
    let predicate = Predicate { register: 0, condition: Condition::GT, swizzle: Swizzle([0, 0, 1, 1]) };
    let kill = Instruction { predicate, ..Instruction::new(FragmentOp::Kil) };
    let result = run(&[update, kill], &inputs, Chip::Nv40).unwrap();
    assert_eq!(result.killed, [false, true, true, true]);
}

#[test]
fn perspective_is_left_out() {
    let data = quad();
    let inputs = QuadInputs { inputs: [0, 1, 2, 3].map(|lane| &data[lane][..]), ..QuadInputs::default() };
    let value = |input, disables_perspective| {
        let mov = Instruction { disables_perspective, ..read(input, FragmentOp::Mov) };
        run(&[mov], &inputs, Chip::Nv40).unwrap().registers[1].get(Register::R(0))
    };
    assert_eq!(value(5, false), [0.0, 16.0, 32.0, 64.0]);
    assert_eq!(value(5, true), [0.0, 4.0, 8.0, 16.0]);
    assert_eq!(value(14, true), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(value(0, true), [1.0, 0.0, 0.5, 0.25]);
}

#[test]
fn texture_fetches() {
    let data = quad();
    let texture = |fetch: &TextureFetch| {
        let [x, y, _, w] = fetch.coordinate;
        let third = match fetch.lookup {
            Lookup::Implicit { ddx, ddy, bias } => ddx[0] + 100.0 * ddy[1] + 1000.0 * bias,
            Lookup::Level(level) => -level,
            Lookup::Gradient { ddx, ddy } => ddx[0] * ddy[1],
        };
        [x, y, third, w + f32::from(fetch.unit)]
    };
    let inputs =
        QuadInputs { inputs: [0, 1, 2, 3].map(|lane| &data[lane][..]), texture: &texture, ..QuadInputs::default() };
    let fetch = |opcode, s1, s2| {
        let fetch = Instruction {
            sources: [Source::input(), Source::constant().swizzled(s1), Source::constant().swizzled(s2)],
            constant: Some([3.0f32, 5.0, 7.0, 11.0].map(f32::to_bits)),
            texture: Some(9),
            ..read(4, opcode)
        };
        run(&[fetch], &inputs, Chip::Nv40).unwrap().registers[3].get(Register::R(0))
    };
    let (x, y) = (Swizzle::replicate(0), Swizzle::replicate(1));
    assert_eq!(fetch(FragmentOp::Tex, x, y), [8.0, 4.0, 408.0, 11.0]);
    assert_eq!(fetch(FragmentOp::Txb, x, y), [8.0, 4.0, 3408.0, 11.0]);
    assert_eq!(fetch(FragmentOp::Txl, y, x), [8.0, 4.0, -5.0, 11.0]);
    assert_eq!(fetch(FragmentOp::Txd, x, y), [8.0, 4.0, 15.0, 11.0]);
    assert_eq!(fetch(FragmentOp::Txp, x, y), [4.0, 2.0, 204.0, 10.0]);
    let expanded = Instruction { expands: true, texture: Some(0), ..read(4, FragmentOp::Tex) };
    let result = run(&[expanded], &inputs, Chip::Nv40).unwrap();
    assert_eq!(result.registers[3].get(Register::R(0)), [15.0, 7.0, 815.0, 3.0]);
}

#[test]
fn outputs() {
    let program = [
        load(Register::H(0), [1.0; 4]),
        load(Register::R(1), [0.0, 0.0, 0.75, 0.0]),
        load(Register::H(4), [2.0; 4]),
        load(Register::R(3), [3.0; 4]),
    ];
    let result = run(&program, &QuadInputs::default(), Chip::Rsx).unwrap();
    assert_eq!(result.colour(2, 0, false), [1.0; 4]);
    assert_eq!(result.colour(2, 1, false), [2.0; 4]);
    assert_eq!(result.colour(2, 2, true), [3.0; 4]);
    assert_eq!(result.depth(2), 0.75);
}

/// Any decodable words run to an end or a trap.
#[test]
fn any_words_run() {
    let mut choice = Choice::new(5);
    let mut runs = 0;
    let data = quad();
    for _ in 0..60_000 {
        let chip = choice.chip();
        let mut words = [choice.words(), choice.words()].concat();
        words.truncate(4 + 4 * choice.below(2));
        for slot in words.chunks_mut(4) {
            // Valid clamps and scales, and flow near the program, are rare in random words.
            slot[2] &= 0x8007_ffff;
            if slot[2] >> 31 != 0 && choice.is() {
                (slot[2], slot[3]) = (slot[2] & 0x8000_003c, slot[3] & 0x0000_000c);
            }
        }
        let Ok(simulator) = FragmentSimulator::new(&words, chip) else { continue };
        runs += 1;
        let rules = choice.of(&[Rules::Ieee, Rules::Hardware]);
        let inputs = [0, 1, 2, 3].map(|lane| &data[lane][..]);
        let _ = simulator.run(&QuadInputs { inputs, rules, steps: 1000, ..QuadInputs::default() });
    }
    assert!(runs > 500, "{runs}");
}
