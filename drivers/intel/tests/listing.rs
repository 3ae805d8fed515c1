//! Text and bytes of programs.

use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::{
    AccessMode, Branch, Chip, Condition, Destination, ExecutionSize, Immediate, Instruction, MathFunction, Opcode,
    Operand, Predicate, Region, SharedFunction, Source, Swizzle, Type, WriteMask, check_program, compact_program,
    decode_program, descriptor, encode_program, expand_restricted_float, find_end, restricted_float,
};
use tgsi_driver_intel::text::{Listing, assemble};

/// Lines of assembly with the bytes that Mesa's assembler gives them for Gen7.5.
const LINES: &[(&str, &str)] = &[
    (
        "mad.sat(8)      g116<1>.xyzF    -g95<4,4,1>.xyzzF g89.3<0,1,0>F (abs)g93<4,4,1>.zF { align16 NoDDClr 1Q };",
        "5b 05 60 80 20 01 0e 74 48 f1 25 c0 b2 50 45 17",
    ),
    (
        "(-f0.1.any4h) mov.nz.f0.1(8) g6.4<1>.xzF (abs)g5.4<0>.wzyxF     { align16 WE_all 2Q };",
        "01 13 76 02 bd 03 d5 20 bb 20 01 02 00 00 00 00",
    ),
    (
        "add.sat(16)     g10<2>W         -g12<16,8,2>UB  -3W             { align1 1H AccWrEnable };",
        "40 00 80 90 2d 3e 40 41 80 41 ae 00 fd ff fd ff",
    ),
    (
        "math pow(8)     g20<1>F         g14<8,8,1>F     g20<0,1,0>F     { align1 1Q };",
        "38 00 60 0a bd 77 80 22 c0 01 8d 00 80 02 00 00",
    ),
    (
        "dim(4)          g2<1>.xDF       0x3ff0000000000000F /* 1F */    { align16 WE_all 1N };",
        "0a 03 40 00 f9 73 41 20 00 00 00 00 00 00 f0 3f",
    ),
    (
        "mov(8)          g1<1>F          0x48403000VF    /* [0F, 1F, 2F, 3F]VF */ { align16 1Q };",
        "01 01 60 00 fd 52 2f 20 00 00 00 00 00 30 40 48",
    ),
    (
        "mov(8)          g2<1>UD         g[a0 32]<VxH,1,0>UD             { align1 2Q };",
        "01 10 60 00 21 00 40 20 20 80 e0 01 00 00 00 00",
    ),
];

fn bytes(words: &[u32]) -> String {
    let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

#[test]
fn lines() {
    for (text, expected) in LINES {
        let program = assemble(text, Chip::Gen75).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(Listing(&program).to_string(), format!("{text}\n"));
        assert_eq!(bytes(&encode_program(&program, Chip::Gen75).unwrap()), *expected, "{text}");
    }
}

/// A fragment program that discards, samples, and writes a color, from constructors.
fn program() -> Vec<Instruction> {
    let align1 = AccessMode::Align1;
    let general = |number| Destination::general(number, Type::F);
    let linear = |number| Operand::linear(number, Type::F);
    let cmp = Instruction::new(
        Opcode::Cmp,
        align1,
        Destination::null(Type::F),
        [linear(2).abs().into(), Immediate::float(0.5).into()],
    );
    let cmp = cmp.with_condition(Condition::L);
    let cmp = Instruction { thread: tgsi_driver_intel::isa::ThreadControl::Switch, ..cmp };
    let branch = |opcode, jip, uip| Instruction::branch_to(opcode, align1, Branch { jip, uip });
    let sample = descriptor(2 << 17 | 1, false, 8, 4);
    let end = descriptor(12 << 14 | 1 << 12 | 4 << 8, false, 0, 4);
    vec![
        cmp,
        branch(Opcode::If, 6, 8).with_predicate(Predicate::NORMAL),
        Instruction::math(MathFunction::Rsq, align1, general(3), linear(2), None),
        branch(Opcode::Else, 4, 0),
        Instruction::new(Opcode::Mov, align1, general(3), [linear(2).negated().into()]),
        branch(Opcode::Endif, 2, 0),
        Instruction::send(SharedFunction::Sampler, sample, align1, Destination::general(124, Type::Uw), linear(3))
            .with_size(ExecutionSize::X16),
        Instruction::send(SharedFunction::RenderCache, end, align1, Destination::null(Type::Uw), linear(124))
            .with_end_of_thread(),
    ]
}

const PROGRAM: &str = "\
cmp.l.f0.0(8)   null<1>F        (abs)g2<8,8,1>F 0x3f000000F  /* 0.5F */ { align1 1Q switch };
(+f0.0) if(8)   JIP:  LABEL1          UIP:  LABEL0              { align1 1Q };
math rsq(8)     g3<1>F          g2<8,8,1>F      null<8,8,1>F    { align1 1Q };
else(8)         JIP:  LABEL0                                    { align1 1Q };

LABEL1:
mov(8)          g3<1>F          -g2<8,8,1>F                     { align1 1Q };

LABEL0:
endif(8)        JIP:  LABEL2                                    { align1 1Q };

LABEL2:
send(16)        g124<1>UW       g3<8,8,1>F      0x08840001
                            sampler MsgDesc: sample SIMD16 Surface = 1 Sampler = 0  mlen 4 rlen 8 { align1 1H };
send(8)         null<1>UW       g124<8,8,1>F    0x88031400
                            render MsgDesc: RT write SIMD8 LastRT Surface = 0  mlen 4 rlen 0 { align1 1Q EOT };
";

#[test]
fn whole_program() {
    let program = program();
    assert_eq!(check_program(&program), Ok(()));
    assert_eq!(Listing(&program).to_string(), PROGRAM);
    assert_eq!(assemble(PROGRAM, Chip::Gen7).as_deref(), Ok(&program[..]));
    let mut words = encode_program(&program, Chip::Gen7).unwrap();
    assert_eq!(decode_program(&words, Chip::Gen7).as_deref(), Ok(&program[..]));
    let length = words.len();
    words.extend([0x7f; 4]);
    assert_eq!(find_end(&words, Chip::Gen7), Ok(length));
}

#[test]
fn compacted_program() {
    let program = program();
    let short = compact_program(&program, Chip::Gen7).unwrap();
    let compacted: Vec<_> = short.iter().map(|instruction| instruction.compacted).collect();
    assert_eq!(compacted, [false, false, true, false, true, false, false, false]);
    assert_eq!(short[1].branch(), Some(Branch { jip: 5, uip: 6 }));
    assert_eq!(short[3].branch(), Some(Branch { jip: 3, uip: 0 }));
    assert_eq!(check_program(&short), Ok(()));
    let words = encode_program(&short, Chip::Gen7).unwrap();
    assert_eq!(words.len(), 6 * 4 + 2 * 2);
    assert_eq!(decode_program(&words, Chip::Gen7).as_deref(), Ok(&short[..]));
    let text = Listing(&short).to_string();
    assert_eq!(assemble(&text, Chip::Gen7).as_deref(), Ok(&short[..]), "{text}");
}

#[test]
fn targets_without_instructions() {
    let text = "while(8) JIP: -7 { align1 1Q };";
    let program = assemble(text, Chip::Gen7).unwrap();
    assert_eq!(program[0].branch(), Some(Branch { jip: -7, uip: 0 }));
    assert_eq!(
        Listing(&program).to_string(),
        "while(8)        JIP:  -7                                        { align1 1Q };\n"
    );
}

#[test]
fn vec4_constructors() {
    let product = Instruction::vector(
        Opcode::Dp4,
        Destination::vectors(1, Type::F, WriteMask(1)),
        [
            Operand::vectors(2, Type::F, Swizzle::IDENTITY).into(),
            Source::Register(Operand::new(
                tgsi_driver_intel::isa::Register::general(3).at(16),
                Type::F,
                Region::UNIFORM,
            )),
        ],
    );
    assert_eq!(product.to_string(), "dp4(8)          g1<1>.xF        g2<4>F          g3.4<0>F        { align16 1Q };");
}

#[test]
fn restricted_floats() {
    for bits in 0..=255 {
        assert_eq!(restricted_float(expand_restricted_float(bits)), Some(bits));
    }
    for value in [0.125, 0.1, 32.0, f32::INFINITY, f32::NAN, 1.03125] {
        assert_eq!(restricted_float(value), None, "{value}");
    }
    assert_eq!(Immediate::vector([0.0, 1.0, 2.0, 3.0]), Some(Immediate::Vf(0x4840_3000)));
}
