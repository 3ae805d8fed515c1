//! Words that other assemblers make.

use pretty_assertions::assert_eq;
use tgsi_driver_nv40::isa::fragment::{self, Clamp, Flow, FragmentOp, Instruction, Precision, Register};
use tgsi_driver_nv40::isa::vertex::{self, Address, Branch, ConditionWrite, Part, ScaOp, Slot, Source, Unit, VecOp};
use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};

/// Vertex instructions of NV40 and their text.
pub const VERTEX: [(&str, [u32; 4]); 8] = [
    ("DP4 o[HPOS].x, c[0], v[0];", [0x401f_9c6c, 0x01c0_000d, 0x8186_c083, 0x6041_1f80]),
    ("MOVC RC.x, R0;", [0x201f_dc6c, 0x0040_000d, 0x8086_c083, 0x6041_1ffc]),
    ("MAD R0.xyz, v[2], c[3].x, -|R1.wzyx|;", [0x0080_1c6c, 0x0100_320d, 0x8100_00fc, 0x80a1_dffc]),
    ("RCP R1.w, R0.x;", [0x001f_9c6c, 0x1000_000d, 0x8106_c080, 0x0022_00fc]),
    ("MOV R1.x(GT.x), c[2];", [0x0000_b000, 0x0040_200d, 0x8186_c083, 0x6041_1ffc]),
    ("ARL A0.x, R0.x;", [0x0000_1c6c, 0x0340_0000, 0x0086_c083, 0x6041_1ffc]),
    ("BRA BB1(NE.x);", [0x001f_b400, 0x4800_000d, 0x8106_c081, 0x605e_1ffc]),
    ("EX2_SAT o[FOGC].x, -R1.w;", [0x041f_9c6c, 0x7000_000d, 0x8106_c0bf, 0xe0b0_1f94]),
];

/// Fragment instructions of NV40 and their text. `c` is a constant slot.
pub const FRAGMENT: [(&str, &[u32]); 6] = [
    ("TEX R0, f[TEX0], TEX0, 2D;", &[0x1700_9e00, 0x1c9d_c801, 0x0001_c800, 0x3fe1_c800]),
    ("KIL (LT);", &[0x5200_1e7e, 0x1c85_c800, 0x0001_c800, 0x0001_c800]),
    (
        "MULR R1.xyz, R0, {1, 2, 3, 4};",
        &[0x0200_0e02, 0x1c9d_c800, 0x0001_c802, 0x0001_c800, 0x3f80_0000, 0x4000_0000, 0x4040_0000, 0x4080_0000],
    ),
    ("NRMH H6.xyz, R0;", &[0x3940_0e8c, 0x1c9d_c800, 0x0001_c800, 0x0001_c800]),
    ("ADDH H4, R1, {0.5, 0, 0, 0}.x;", &[0x0340_1e88, 0x1c9d_c804, 0x0000_0002, 0x0001_c800, 0x3f00_0000, 0, 0, 0]),
    ("IF (NE.x);", &[0x4240_0000, 0x0014_0000, 0x8000_002c, 0x0000_0034]),
];

fn not_equal_x() -> Predicate {
    Predicate { register: 0, condition: Condition::NE, swizzle: Swizzle::replicate(0) }
}

fn slots() -> [Slot; 8] {
    let replicate = Swizzle::replicate;
    [
        Slot {
            vec: Some(Part::to_output(VecOp::Dp4, Mask::X)),
            sources: [Some(Source::constant()), Some(Source::input()), None],
            constant: Some(0),
            input: Some(0),
            output: Some(0),
            ..Slot::default()
        },
        Slot {
            vec: Some(Part::to_condition(VecOp::Mov, Mask::X)),
            sources: [Some(Source::temporary(0)), None, None],
            writes_condition: Some(ConditionWrite { unit: Unit::Vec, register: 0 }),
            ..Slot::default()
        },
        Slot {
            vec: Some(Part::to_register(VecOp::Mad, 0, Mask(7))),
            sources: [
                Some(Source::input()),
                Some(Source::constant().swizzled(replicate(0))),
                Some(Source { abs: true, negate: true, ..Source::temporary(1).swizzled(Swizzle([3, 2, 1, 0])) }),
            ],
            input: Some(2),
            constant: Some(3),
            ..Slot::default()
        },
        Slot {
            sca: Some(Part::to_register(ScaOp::Rcp, 1, Mask(8))),
            sources: [None, None, Some(Source::temporary(0).swizzled(replicate(0)))],
            ..Slot::default()
        },
        Slot {
            vec: Some(Part::to_register(VecOp::Mov, 1, Mask::X)),
            sources: [Some(Source::constant()), None, None],
            constant: Some(2),
            predicate: Some(Predicate { condition: Condition::GT, ..not_equal_x() }),
            ..Slot::default()
        },
        Slot {
            vec: Some(Part::to_register(VecOp::Arl, 0, Mask::X)),
            sources: [Some(Source::temporary(0).swizzled(replicate(0))), None, None],
            ..Slot::default()
        },
        Slot {
            sca: Some(Part::to_condition(ScaOp::Bra, Mask::ALL)),
            branch: Some(Branch { target: 11, boolean: None }),
            predicate: Some(not_equal_x()),
            ..Slot::default()
        },
        Slot {
            sca: Some(Part::to_output(ScaOp::Ex2, Mask::X)),
            sources: [None, None, Some(Source { negate: true, ..Source::temporary(1).swizzled(replicate(3)) })],
            output: Some(5),
            saturate: true,
            ..Slot::default()
        },
    ]
}

#[test]
fn vertex_words_decode_and_encode() {
    for ((text, words), slot) in VERTEX.iter().zip(slots()) {
        assert_eq!(vertex::decode(words, Chip::Nv40), Ok(slot), "{text}");
        assert_eq!(vertex::encode(&slot, Chip::Rsx), Ok(*words), "{text}");
    }
}

fn instructions() -> [Instruction; 6] {
    let full = fragment::Source::full;
    let constant = fragment::Source::constant;
    let new = Instruction::new;
    [
        Instruction {
            destination: Some(Register::R(0)),
            sources: [fragment::Source::input(), full(0), full(0)],
            input: Some(4),
            input_offset: 0x7fc,
            texture: Some(0),
            ..new(FragmentOp::Tex)
        },
        Instruction { predicate: Predicate { condition: Condition::LT, ..Predicate::ALWAYS }, ..new(FragmentOp::Kil) },
        Instruction {
            destination: Some(Register::R(1)),
            mask: Mask(7),
            sources: [full(0), constant(), full(0)],
            constant: Some([1.0f32, 2.0, 3.0, 4.0].map(f32::to_bits)),
            ..new(FragmentOp::Mul)
        },
        Instruction {
            destination: Some(Register::H(6)),
            mask: Mask(7),
            precision: Precision::Fp16,
            ..new(FragmentOp::Nrm)
        },
        Instruction {
            destination: Some(Register::H(4)),
            precision: Precision::Fp16,
            sources: [full(1), constant().swizzled(Swizzle::replicate(0)), full(0)],
            constant: Some([0.5f32, 0.0, 0.0, 0.0].map(f32::to_bits)),
            ..new(FragmentOp::Add)
        },
        Instruction {
            mask: Mask::NONE,
            precision: Precision::Fp16,
            predicate: not_equal_x(),
            flow: Some(Flow::If { otherwise: 11, end: 13 }),
            ..new(FragmentOp::If)
        },
    ]
}

#[test]
fn fragment_words_decode_and_encode() {
    for ((text, words), instruction) in FRAGMENT.iter().zip(instructions()) {
        assert_eq!(fragment::decode(words, Chip::Nv40), Ok(instruction), "{text}");
        let mut encoded = Vec::new();
        fragment::encode(&instruction, Chip::Rsx, &mut encoded).unwrap();
        assert_eq!(&encoded, words, "{text}");
    }
}

/// GeForce FX has the fields elsewhere: the positions by hand.
#[test]
fn fields_of_geforce_fx() {
    let [dp4, ..] = slots();
    // Operation 7, S0 of type constant, S1 of type input, output 0 with its enabling bit, vector mask x of the output.
    let s0 = 3 | 0x1b << 6;
    let s1 = 2 | 0x1b << 6;
    let words = [
        0x1f << 16 | 7 << 11 | 0x1b << 3,
        7 << 23 | s0 >> 6,
        (s0 & 0x3f) << 26 | s1 << 11 | s1 >> 4,
        (s1 & 15) << 28 | 8 << 12 | 1 << 11,
    ];
    let slot = Slot { vec: Some(Part { mask: Mask::NONE, ..dp4.vec.unwrap() }), ..dp4 };
    assert_eq!(vertex::encode(&slot, Chip::Nv30), Ok(words));
    assert_eq!(vertex::encode(&dp4, Chip::Nv30), Ok(words));
    assert_eq!(vertex::decode(&words, Chip::Nv30), Ok(slot));
}

#[test]
fn bytes_in_memory() {
    assert_eq!(fragment::pc_bytes(&[0x0102_0304]), [4, 3, 2, 1]);
    assert_eq!(fragment::ps3_bytes(&[0x0102_0304]), [3, 4, 1, 2]);
    assert_eq!(fragment::swap_halves(0x0102_0304), 0x0304_0102);
}

#[test]
fn patches_by_number() {
    let [_, kil, mul, ..] = instructions();
    let mut program = fragment::Program::default();
    program.push(&mul, Some(7), Chip::Nv40).unwrap();
    program.push(&kil, None, Chip::Nv40).unwrap();
    program.push(&mul, None, Chip::Nv40).unwrap();
    program.push(&mul, Some(7), Chip::Nv40).unwrap();
    assert_eq!(program.slots(), 7);
    assert_eq!(program.offsets(7).collect::<Vec<_>>(), [16, 96]);
    program.set_constant(7, [9; 4]);
    assert_eq!(program.words[4..8], [9; 4]);
    assert_ne!(program.words[16..20], [9; 4]);
    assert_eq!(program.words[24..], [9; 4]);
    assert!(program.push(&kil, Some(1), Chip::Nv40).is_err());
}

/// An address component belongs to an index, and only one constant can be named.
#[test]
fn an_index_needs_its_address() {
    let [dp4, ..] = slots();
    let address = Some(Address { register: 1, component: 2 });
    let indexed = Slot { indexes_constant: true, address, ..dp4 };
    let words = vertex::encode(&indexed, Chip::Nv40).unwrap();
    assert_eq!(vertex::decode(&words, Chip::Nv40), Ok(indexed));
    assert!(vertex::encode(&Slot { address, ..dp4 }, Chip::Nv40).is_err());
    assert!(vertex::encode(&Slot { indexes_constant: true, ..dp4 }, Chip::Nv40).is_err());
    assert!(vertex::encode(&Slot { constant: None, ..dp4 }, Chip::Nv40).is_err());
    let clamp = fragment::Source { clamp: Clamp::Unit, ..fragment::Source::full(1) };
    let mov = Instruction { sources: [clamp; 3], ..Instruction::new(FragmentOp::Mov) };
    let mut words = Vec::new();
    fragment::encode(&mov, Chip::Nv40, &mut words).unwrap();
    assert_eq!(words[2] >> 19 & 0x1ff, 0o444);
}
