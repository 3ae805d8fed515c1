//! The bits of each field, from the description of the words: changes of an instruction set exactly these bits.

use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::fragment::{
    self, Clamp, Flow, FragmentOp, Instruction, Precision, Register, Scale, Source as FragmentSource,
};
use tgsi_driver_nv40::isa::vertex::{
    self, Address, Boolean, Branch, ConditionWrite, Part, ScaOp, Slot, Source, Unit, VecOp,
};
use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};

/// Bits `low..` of a word with a value.
type Bits = (usize, u32, u32);

fn set(bits: &[Bits]) -> [u32; 4] {
    let mut words = [0; 4];
    for &(word, low, value) in bits {
        words[word] |= value << low;
    }
    words
}

fn difference(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
    [0, 1, 2, 3].map(|word| a[word] ^ b[word])
}

/// A slot with both operations, a register of each file, and all masks empty.
fn slot() -> Slot {
    Slot {
        vec: Some(Part::to_register(VecOp::Mad, 0, Mask::NONE)),
        sca: Some(Part::to_register(ScaOp::Rcp, 0, Mask::NONE)),
        sources: [Some(Source::input()), Some(Source::constant()), Some(Source::temporary(0))],
        input: Some(0),
        constant: Some(0),
        output: Some(0),
        ..Slot::default()
    }
}

#[expect(clippy::type_complexity, reason = "a table of changes")]
fn check_vertex(chip: Chip, table: &[(&str, &dyn Fn(&mut Slot), &[Bits])]) {
    let base = vertex::encode(&slot(), chip).unwrap();
    for (what, change, bits) in table {
        let mut changed = slot();
        change(&mut changed);
        let words = vertex::encode(&changed, chip).unwrap_or_else(|error| panic!("{what}: {error}"));
        let expected = set(bits);
        assert_eq!(
            difference(words, base).map(|word| format!("{word:08x}")),
            expected.map(|word| format!("{word:08x}")),
            "{what}"
        );
    }
}

fn address(register: u8, component: u8) -> Option<Address> {
    Some(Address { register, component })
}

fn source(slot: &mut Slot, at: usize, change: impl Fn(&mut Source)) {
    change(slot.sources[at].as_mut().unwrap());
}

/// The reverse of the identity differs from it in all bits of the swizzle.
const REVERSED: Swizzle = Swizzle([3, 2, 1, 0]);

#[test]
fn vertex_fields_of_nv40() {
    let predicate = Predicate { register: 1, condition: Condition::LT, swizzle: REVERSED };
    check_vertex(
        Chip::Nv40,
        &[
            (
                "address component",
                &|s| (s.indexes_constant, s.address) = (true, address(0, 2)),
                &[(3, 1, 1), (0, 0, 2)],
            ),
            (
                "address register",
                &|s| (s.indexes_constant, s.address) = (true, address(1, 0)),
                &[(3, 1, 1), (0, 24, 1)],
            ),
            ("index of input", &|s| (s.indexes_input, s.address) = (true, address(0, 0)), &[(0, 27, 1)]),
            ("index of output", &|s| (s.indexes_output, s.address) = (true, address(0, 0)), &[(0, 28, 1)]),
            // The condition was TR, and becomes LT.
            ("predicate", &|s| s.predicate = Some(predicate), &[(0, 2, 0xff), (0, 10, 6), (0, 13, 1), (0, 25, 1)]),
            (
                "condition by vector unit",
                &|s| s.writes_condition = Some(ConditionWrite { unit: Unit::Vec, register: 0 }),
                &[(0, 14, 1), (0, 29, 1)],
            ),
            (
                "condition by scalar unit",
                &|s| s.writes_condition = Some(ConditionWrite { unit: Unit::Sca, register: 1 }),
                &[(0, 14, 1), (0, 25, 1)],
            ),
            ("vector register", &|s| s.vec.as_mut().unwrap().register = Some(37), &[(0, 15, 37)]),
            ("no vector register", &|s| s.vec.as_mut().unwrap().register = None, &[(0, 15, 63)]),
            ("scalar register", &|s| s.sca.as_mut().unwrap().register = Some(37), &[(3, 7, 37)]),
            ("no scalar register", &|s| s.sca.as_mut().unwrap().register = None, &[(3, 7, 63)]),
            ("vector mask", &|s| s.vec.as_mut().unwrap().mask = Mask(1), &[(3, 13, 8)]),
            ("scalar mask", &|s| s.sca.as_mut().unwrap().mask = Mask(2), &[(3, 17, 4)]),
            (
                "vector output",
                &|s| s.vec = Some(Part { output_mask: Mask(8), mask: Mask(8), ..s.vec.unwrap() }),
                &[(3, 13, 1), (0, 30, 1)],
            ),
            ("scalar output", &|s| s.sca = Some(Part::to_output(ScaOp::Rcp, Mask(1))), &[(3, 17, 8), (3, 7, 63)]),
            ("abs S0", &|s| source(s, 0, |source| source.abs = true), &[(0, 21, 1)]),
            ("abs S1", &|s| source(s, 1, |source| source.abs = true), &[(0, 22, 1)]),
            ("abs S2", &|s| source(s, 2, |source| source.abs = true), &[(0, 23, 1)]),
            ("saturate", &|s| s.saturate = true, &[(0, 26, 1)]),
            ("constant", &|s| s.constant = Some(0x155), &[(1, 12, 0x155)]),
            ("input", &|s| s.input = Some(15), &[(1, 8, 15)]),
            ("output", &|s| s.output = Some(9), &[(3, 2, 9)]),
            ("no output", &|s| s.output = None, &[(3, 2, 31)]),
            ("end", &|s| s.end = true, &[(3, 0, 1)]),
            // From type 2 to type 1; the low 9 bits of S0 are in word 2.
            ("S0", &|s| (s.sources[0], s.input) = (Some(Source::temporary(0)), None), &[(2, 23, 3)]),
            ("swizzle S0", &|s| source(s, 0, |source| source.swizzle = REVERSED), &[(1, 0, 0x7f), (2, 31, 1)]),
            ("negate S0", &|s| source(s, 0, |source| source.negate = true), &[(1, 7, 1)]),
            ("S1", &|s| (s.sources[1], s.constant) = (Some(Source::temporary(0)), None), &[(2, 6, 2)]),
            ("swizzle S1", &|s| source(s, 1, |source| source.swizzle = REVERSED), &[(2, 14, 0xff)]),
            ("negate S1", &|s| source(s, 1, |source| source.negate = true), &[(2, 22, 1)]),
            ("register S2", &|s| s.sources[2] = Some(Source::temporary(37)), &[(3, 23, 37)]),
            ("swizzle S2", &|s| source(s, 2, |source| source.swizzle = REVERSED), &[(3, 29, 7), (2, 0, 0x1f)]),
            ("negate S2", &|s| source(s, 2, |source| source.negate = true), &[(2, 5, 1)]),
            // Opcodes 4 and 2 become 9 and 15.
            ("opcodes", &|s| s.sca.as_mut().unwrap().op = ScaOp::Sin, &[(1, 27, 13)]),
        ],
    );
}

#[test]
fn vertex_fields_of_nv30() {
    let predicate = Predicate { register: 0, condition: Condition::LT, swizzle: REVERSED };
    let vec_writes = |register, mask: u8| Some(Part::to_register(VecOp::Mad, register, Mask(mask)));
    check_vertex(
        Chip::Nv30,
        &[
            (
                "address component",
                &|s| (s.indexes_constant, s.address) = (true, address(0, 2)),
                &[(3, 1, 1), (0, 1, 2)],
            ),
            (
                "address register",
                &|s| (s.indexes_constant, s.address) = (true, address(1, 0)),
                &[(3, 1, 1), (0, 24, 1)],
            ),
            ("predicate", &|s| s.predicate = Some(predicate), &[(0, 3, 0xff), (0, 11, 6), (0, 14, 1)]),
            (
                "condition",
                &|s| s.writes_condition = Some(ConditionWrite { unit: Unit::Vec, register: 0 }),
                &[(0, 15, 1)],
            ),
            // The base has no written component, thus no register: all ones.
            ("vector register", &|s| s.vec = vec_writes(13, 1), &[(0, 16, 31 ^ 13), (3, 20, 8)]),
            (
                "scalar register",
                &|s| s.sca = Some(Part::to_register(ScaOp::Rcp, 13, Mask(2))),
                &[(0, 16, 31 ^ 13), (3, 24, 4)],
            ),
            ("vector output mask", &|s| s.vec.as_mut().unwrap().output_mask = Mask(8), &[(3, 12, 1)]),
            ("scalar output mask", &|s| s.sca.as_mut().unwrap().output_mask = Mask(1), &[(3, 16, 8)]),
            ("abs S0", &|s| source(s, 0, |source| source.abs = true), &[(0, 21, 1)]),
            ("abs S1", &|s| source(s, 1, |source| source.abs = true), &[(0, 22, 1)]),
            ("abs S2", &|s| source(s, 2, |source| source.abs = true), &[(0, 23, 1)]),
            ("constant", &|s| s.constant = Some(0x55), &[(1, 14, 0x55)]),
            ("input", &|s| s.input = Some(15), &[(1, 9, 15)]),
            ("output", &|s| s.output = Some(9), &[(3, 2, 9)]),
            ("no output", &|s| s.output = None, &[(3, 11, 1)]),
            ("end", &|s| s.end = true, &[(3, 0, 1)]),
            ("S0", &|s| (s.sources[0], s.input) = (Some(Source::temporary(0)), None), &[(2, 26, 3)]),
            ("swizzle S0", &|s| source(s, 0, |source| source.swizzle = REVERSED), &[(1, 0, 0xff)]),
            ("negate S0", &|s| source(s, 0, |source| source.negate = true), &[(1, 8, 1)]),
            ("swizzle S1", &|s| source(s, 1, |source| source.swizzle = REVERSED), &[(2, 17, 0xff)]),
            ("negate S1", &|s| source(s, 1, |source| source.negate = true), &[(2, 25, 1)]),
            ("register S2", &|s| s.sources[2] = Some(Source::temporary(13)), &[(3, 30, 1), (2, 0, 3)]),
            ("swizzle S2", &|s| source(s, 2, |source| source.swizzle = REVERSED), &[(2, 2, 0xff)]),
            ("negate S2", &|s| source(s, 2, |source| source.negate = true), &[(2, 10, 1)]),
            // Opcode 2 becomes 16: the high bit is in word 0.
            ("scalar opcode", &|s| s.sca.as_mut().unwrap().op = ScaOp::Cos, &[(1, 28, 2), (0, 0, 1)]),
        ],
    );
}

/// Branch fields are in the bits of S2; those of a slot without one are the identity: type 2, swizzle 0x1b.
#[test]
fn vertex_branches() {
    let words = |chip, op, target, boolean| {
        let slot = Slot {
            sca: Some(Part::to_condition(op, Mask::NONE)),
            branch: Some(Branch { target, boolean }),
            ..Slot::default()
        };
        vertex::encode(&slot, chip).unwrap()
    };
    let zero = words(Chip::Rsx, ScaOp::Bra, 0, None);
    let far = difference(words(Chip::Rsx, ScaOp::Bra, 0x215, None), zero);
    assert_eq!(far, set(&[(3, 29, 5), (2, 0, 2), (0, 23, 1)]));
    let zero = words(Chip::Nv30, ScaOp::Bra, 0, None);
    assert_eq!(difference(words(Chip::Nv30, ScaOp::Bra, 0xd5, None), zero), set(&[(2, 2, 0xd5)]));
    let boolean = |number, taken_if| words(Chip::Nv40, ScaOp::Brb, 0, Some(Boolean { number, taken_if }));
    assert_eq!(difference(boolean(21, true), boolean(0, false)), set(&[(3, 23, 21), (3, 28, 1)]));
    let fetch = |unit| {
        let slot = Slot {
            vec: Some(Part::to_register(VecOp::Txl, 0, Mask::ALL)),
            sources: [Some(Source::temporary(0)), None, None],
            texture: Some(unit),
            ..Slot::default()
        };
        vertex::encode(&slot, Chip::Nv40).unwrap()
    };
    assert_eq!(difference(fetch(3), fetch(0)), set(&[(2, 8, 3)]));
}

#[expect(clippy::type_complexity, reason = "a table of changes")]
#[test]
fn fragment_fields() {
    let base = || Instruction {
        destination: Some(Register::R(0)),
        mask: Mask::NONE,
        writes_condition: Some(0),
        sources: [FragmentSource::input(), FragmentSource::full(0), FragmentSource::full(0)],
        input: Some(0),
        texture: Some(0),
        ..Instruction::new(FragmentOp::Txd)
    };
    let words = |instruction: &Instruction| {
        let mut words = Vec::new();
        fragment::encode(instruction, Chip::Nv40, &mut words).unwrap();
        <[u32; 4]>::try_from(&words[..4]).unwrap()
    };
    let table: &[(&str, &dyn Fn(&mut Instruction), &[Bits])] = &[
        ("end", &|i| i.end = true, &[(0, 0, 1)]),
        ("destination", &|i| i.destination = Some(Register::R(37)), &[(0, 1, 37)]),
        ("half destination", &|i| i.destination = Some(Register::H(37)), &[(0, 1, 37), (0, 7, 1)]),
        ("no destination", &|i| i.destination = None, &[(0, 1, 63), (0, 30, 1)]),
        ("no condition", &|i| i.writes_condition = None, &[(0, 8, 1)]),
        ("mask x", &|i| i.mask = Mask(1), &[(0, 9, 1)]),
        ("mask w", &|i| i.mask = Mask(8), &[(0, 12, 1)]),
        ("input", &|i| i.input = Some(14), &[(0, 13, 14)]),
        ("texture", &|i| i.texture = Some(15), &[(0, 17, 15)]),
        ("expands", &|i| i.expands = true, &[(0, 21, 1)]),
        ("precision", &|i| i.precision = Precision::Fx9, &[(0, 22, 3)]),
        ("opcode", &|i| (i.op, i.texture) = (FragmentOp::Fencb, None), &[(0, 24, 0x19 ^ 0x3e)]),
        ("saturate", &|i| i.saturate = true, &[(0, 31, 1)]),
        ("condition", &|i| i.predicate.condition = Condition::LT, &[(1, 18, 6)]),
        ("condition swizzle", &|i| i.predicate.swizzle = REVERSED, &[(1, 21, 0xff)]),
        ("condition swizzle x", &|i| i.predicate.swizzle = Swizzle([2, 1, 2, 3]), &[(1, 21, 2)]),
        ("abs S0", &|i| i.sources[0].abs = true, &[(1, 29, 1)]),
        ("abs S1", &|i| i.sources[1].abs = true, &[(2, 18, 1)]),
        ("abs S2", &|i| i.sources[2].abs = true, &[(3, 18, 1)]),
        ("written condition", &|i| i.writes_condition = Some(1), &[(1, 30, 1)]),
        ("tested condition", &|i| i.predicate.register = 1, &[(1, 31, 1)]),
        ("S1", &|i| i.sources[1] = FragmentSource::full(37), &[(2, 2, 37)]),
        ("half S2", &|i| i.sources[2] = FragmentSource::half(37), &[(3, 2, 37), (3, 8, 1)]),
        ("constant S1", &|i| (i.sources[1], i.constant) = (FragmentSource::constant(), Some([0; 4])), &[(2, 0, 2)]),
        ("swizzle S0", &|i| i.sources[0].swizzle = REVERSED, &[(1, 9, 0xff)]),
        ("swizzle S1.x", &|i| i.sources[1].swizzle = Swizzle([2, 1, 2, 3]), &[(2, 9, 2)]),
        ("negate S2", &|i| i.sources[2].negate = true, &[(3, 17, 1)]),
        ("clamp S0", &|i| i.sources[0].clamp = Clamp::Five, &[(2, 19, 5)]),
        ("clamp S1", &|i| i.sources[1].clamp = Clamp::One, &[(2, 22, 3)]),
        ("clamp S2", &|i| i.sources[2].clamp = Clamp::Two, &[(2, 25, 2)]),
        ("scale", &|i| i.scale = Scale::Half, &[(2, 28, 5)]),
        ("scale", &|i| i.scale = Scale::Eight, &[(2, 28, 3)]),
        ("input offset", &|i| i.input_offset = 0x555, &[(3, 19, 0x555)]),
        ("index of input", &|i| i.indexes_input = true, &[(3, 30, 1)]),
        ("perspective", &|i| i.disables_perspective = true, &[(3, 31, 1)]),
    ];
    for (what, change, bits) in table {
        let mut changed = base();
        change(&mut changed);
        assert_eq!(difference(words(&changed), words(&base())), set(bits), "{what}");
    }
    let flow =
        |op, flow| words(&Instruction { mask: Mask::NONE, precision: Precision::Fp16, flow, ..Instruction::new(op) });
    let idle = 7 << 18 | 0xe4 << 21;
    let repeat = Flow::Repeat { count: 3, start: 4, step: 5, end: 6 };
    let w2 = 3 << 2 | 4 << 10 | 5 << 19 | 1 << 31;
    assert_eq!(flow(FragmentOp::Loop, Some(repeat)), [0x4340_0000, idle, w2, 24]);
    assert_eq!(flow(FragmentOp::Rep, Some(repeat)), [0x4440_0000, idle, w2, 24]);
    assert_eq!(flow(FragmentOp::Cal, Some(Flow::Call { target: 9 })), [0x4140_0000, idle, 1 << 31 | 36, 0]);
    assert_eq!(flow(FragmentOp::Brk, None), [0x4040_0000, idle, 1 << 31, 0]);
    assert_eq!(flow(FragmentOp::Ret, None), [0x4540_0000, idle, 1 << 31, 0]);
}
