//! Rules of hardware: each rule with instructions that break it alone, and valid instructions.

use pretty_assertions::assert_eq;
use std::collections::BTreeSet;
use tgsi_driver_intel::isa::{AccessMode, Chip, Instruction};
use tgsi_driver_intel::text::assemble;
use tgsi_driver_intel::validate::{rules, validate, validate_program};

/// A rule, the generations on which the instruction breaks it, the instruction.
type Row = (&'static str, &'static [Chip], &'static str);

const BOTH: &[Chip] = &Chip::ALL;

const BROKEN: &[Row] = &[
    ("illegal", BOTH, "illegal(1) { align1 1N };"),
    ("null-first-source", BOTH, "mov(8) g1<1>F null<8,8,1>F { align1 1Q };"),
    ("null-second-source", BOTH, "add(8) g1<1>F g2<8,8,1>F null<8,8,1>F { align1 1Q };"),
    ("null-second-source", BOTH, "math pow(8) g1<1>F g2<8,8,1>F null<8,8,1>F { align1 1Q };"),
    ("packed-bytes", BOTH, "add(8) g1<1>B g2<8,8,1>B g3<8,8,1>B { align1 1Q };"),
    ("packed-bytes", BOTH, "mov.sat(8) g1<1>B g2<8,8,1>B { align1 1Q };"),
    ("byte-double-conversion", BOTH, "mov(4) g1<1>DF g2<4,4,1>B { align1 1N };"),
    ("destination-stride-ratio", BOTH, "mov(8) g1<1>W g2<8,8,1>D { align1 1Q };"),
    ("destination-stride-ratio", &[Chip::Gen75], "mov(4) g1<1>F g2<4,4,1>DF { align1 1N };"),
    ("destination-alignment", BOTH, "mov(8) g1.1<2>W g2<8,8,1>D { align1 1Q };"),
    ("destination-alignment", BOTH, "mov(4) g1.2<4>UB g2<4,4,1>D { align1 1N };"),
    ("vector-constant-alignment", BOTH, "mov(4) g1.2<1>F 0x30303030VF { align1 1N };"),
    ("vf-constant-stride", BOTH, "mov(4) g1<2>F 0x30303030VF { align1 1N };"),
    ("v-constant-stride", BOTH, "mov(8) g1<1>D 0x76543210V { align1 1Q };"),
    ("v-constant-stride", BOTH, "mov(8) g1<1>D 0x76543210UV { align1 1Q };"),
    ("align16-vertical-stride", &[Chip::Gen7], "mov(8) g1<1>F g2<2>F { align16 1Q };"),
    ("align16-vertical-stride", BOTH, "add(8) g1<1>F g2<4>F g2<1>F { align16 1Q };"),
    ("width-within-size", BOTH, "mov(4) g1<1>F g2<8,8,1>F { align1 1N };"),
    ("single-row-stride", BOTH, "mov(8) g1<1>F g2<4,8,1>F { align1 1Q };"),
    ("width-1-stride", BOTH, "mov(8) g1<1>F g2<1,1,1>F { align1 1Q };"),
    ("single-channel-strides", BOTH, "mov(1) g1<1>F g2<1,1,0>F { align1 1N };"),
    ("scalar-width", BOTH, "mov(8) g1<1>F g2<0,4,0>F { align1 1Q };"),
    ("row-within-register", BOTH, "mov(8) g1<1>F g2.1<8,8,1>F { align1 1Q };"),
    ("destination-stride-0", BOTH, "mov(1) g1<0>F g2<0,1,0>F { align1 1N };"),
    ("source-two-registers", BOTH, "mov(8) g1<1>F g2<16,4,1>F { align1 1Q };"),
    ("destination-two-registers", BOTH, "mov(16) g1<2>F g2<0,1,0>F { align1 1H };"),
    ("destination-owords", BOTH, "add(8) g1.6<1>W g2.12<8,4,1>W g4<0,1,0>W { align1 1Q };"),
    ("destination-even", BOTH, "mov(8) g1.2<1>F g2<0,1,0>F { align1 1Q };"),
    ("source-register-match", BOTH, "mov(8) g1<2>F g2.2<2,2,1>F { align1 1Q };"),
    ("source-offset-match", BOTH, "add(8) g1<2>F g2.4<4,4,1>F g4<0,1,0>F { align1 1Q };"),
    ("source-spans-two", BOTH, "add(16) g1<1>F g2<1,4,0>F g4<0,1,0>F { align1 1H };"),
    ("source-spans-two", BOTH, "add(16) g1<1>D g4<0,1,0>D g2<8,8,1>W { align1 1H };"),
    ("cmp-accumulator", BOTH, "cmp.z.f0.0(8) acc0<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("cmp-null-switch", BOTH, "cmp.z.f0.0(8) null<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("cmp-condition", BOTH, "cmp(8) g1<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("sel-condition", BOTH, "sel(8) g1<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("sel-condition", BOTH, "(+f0.0) sel.ge(8) g1<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("mul-dword-first", BOTH, "mul(8) g1<1>D g2<8,8,1>W g3<8,8,1>D { align1 1Q };"),
    ("mul-accumulator", BOTH, "mul(8) g1<1>F acc0<8,8,1>F g3<8,8,1>F { align1 1Q };"),
    ("mul-float-destination", BOTH, "mul(8) g1<1>F g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("mul-dword-flags", BOTH, "mul.sat(8) g1<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("mul-dword-flags", BOTH, "mul.z.f0.0(8) g1<1>D g2<8,8,1>D g3<8,8,1>W { align1 1Q };"),
    ("division-modifiers", BOTH, "math intdiv(8) g1<1>D -g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("logic-condition", BOTH, "and.o.f0.0(8) g1<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };"),
    ("bfi2-condition", BOTH, "bfi2.z.f0.0(8) g1<1>D g2<4,4,1>D g3<4,4,1>D g4<4,4,1>D { align16 1Q };"),
    ("bfi2-saturate", BOTH, "bfi2.sat(8) g1<1>D g2<4,4,1>D g3<4,4,1>D g4<4,4,1>D { align16 1Q };"),
    ("bfi2-type", BOTH, "bfi2(8) g1<1>F g2<4,4,1>F g3<4,4,1>F g4<4,4,1>F { align16 1Q };"),
    ("bfi2-source-type", BOTH, "bfi2(8) g1<1>D g2<4,4,1>UD g3<4,4,1>UD g4<4,4,1>UD { align16 1Q };"),
    ("send-indirect", BOTH, "send(8) g1<1>UW g[a0]<8,8,1>F 0x02420001 sampler MsgDesc: { align1 1Q };"),
    ("send-general-register", BOTH, "send(8) g1<1>UW acc0<8,8,1>F 0x02420001 sampler MsgDesc: { align1 1Q };"),
    ("send-end-register", BOTH, "sendc(8) null<1>UW g12<8,8,1>F 0x08031400 render MsgDesc: { align1 1Q EOT };"),
    ("urb-header", BOTH, "send(8) null<1>F g113<4>F 0x0600c000 urb MsgDesc: { align16 1Q };"),
    ("urb-atomic-add", &[Chip::Gen7], "send(8) null<1>F g113<4>F 0x0608c006 urb MsgDesc: { align16 1Q };"),
    ("urb-simd8", BOTH, "send(8) null<1>F g113<4>F 0x0608c007 urb MsgDesc: { align16 1Q };"),
];

const VALID: &str = "
    add(8)          g1<1>F          g2<8,8,1>F      g3<0,1,0>F      { align1 1Q };
    add(16)         g1<1>F          g4<8,8,1>F      g3<0,1,0>F      { align1 1H };
    mov(16)         g1<1>D          g4<8,8,1>W                      { align1 1H };
    mov(8)          g1<4>UB         g2<8,4,1>D                      { align1 1N };
    mov(8)          g1<1>B          g2<8,8,1>UB                     { align1 1Q };
    mov(4)          g1<1>F          0x30303030VF                    { align1 1N };
    mov(8)          g1<1>UW         0x76543210UV                    { align1 1Q };
    mov(8)          g1<1>.xyF       g2<0>.yxzwF                     { align16 1Q };
    mad(8)          g1<1>F          g2<4,4,1>F      g3.1<0,1,0>F    g4<4,4,1>.xF { align16 1Q };
    math inv(8)     g1<1>F          g2<8,8,1>F      null<8,8,1>F    { align1 1Q };
    math intmod(8)  g1<1>D          g2<8,8,1>D      g3<8,8,1>D      { align1 1Q };
    cmp.z.f0.0(8)   null<1>D        g2<8,8,1>D      g3<8,8,1>D      { align1 1Q switch };
    (+f0.0) sel(8)  g1<1>D          g2<8,8,1>D      g3<8,8,1>D      { align1 1Q };
    sel.ge(8)       g1<1>D          g2<8,8,1>D      g3<8,8,1>D      { align1 1Q };
    mul(8)          acc0<1>D        g2<8,8,1>D      g3<8,8,1>D      { align1 1Q };
    mov(8)          g1<1>F          g[a0.2 32]<VxH,1,0>F            { align1 1Q };
    send(8) null<1>F g113<4>F 0x8608c000 urb MsgDesc: { align16 1Q EOT };
    (+f0.0) if(8)   JIP: A          UIP: A                          { align1 1Q };
A:  endif(8)        JIP: B                                          { align1 1Q };
B:  nop;
";

fn names(instruction: &Instruction, chip: Chip) -> Vec<&'static str> {
    validate(instruction, chip).iter().map(|rule| rule.name).collect()
}

#[test]
fn broken_rules() {
    for &(rule, chips, text) in BROKEN {
        for chip in Chip::ALL {
            let program = assemble(text, chip).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let expected = if chips.contains(&chip) { vec![rule] } else { vec![] };
            assert_eq!(names(&program[0], chip), expected, "{chip:?}: {text}");
        }
    }
}

#[test]
fn rules_that_text_cannot_break() {
    let mad = "mad(8) g1<1>F g2.0<0,1,0>F g3.0<0,1,0>F g4.0<0,1,0>F { align16 1Q };";
    let mut instruction = assemble(mad, Chip::Gen7).unwrap().remove(0);
    instruction.access = AccessMode::Align1;
    assert_eq!(names(&instruction, Chip::Gen7), ["three-sources-align1"]);
    let mov = "mov(8) g1<1>F g2<4>F { align16 1Q };";
    let mut instruction = assemble(mov, Chip::Gen7).unwrap().remove(0);
    if let Some(destination) = &mut instruction.destination {
        destination.stride = tgsi_driver_intel::isa::HorizontalStride::S2;
    }
    assert_eq!(names(&instruction, Chip::Gen7), ["align16-destination-stride"]);
}

#[test]
fn valid_instructions() {
    for chip in Chip::ALL {
        let program = assemble(VALID, chip).unwrap();
        assert_eq!(validate_program(&program, chip).iter().map(|(index, rule)| (index, rule.name)).next(), None);
    }
}

#[test]
fn names_are_unique_and_tested() {
    let all: Vec<_> = rules().map(|rule| rule.name).collect();
    let set: BTreeSet<_> = all.iter().copied().collect();
    assert_eq!(set.len(), all.len());
    let mut tested: BTreeSet<_> = BROKEN.iter().map(|(name, ..)| *name).collect();
    tested.extend(["three-sources-align1", "align16-destination-stride"]);
    assert_eq!(tested, set);
}
