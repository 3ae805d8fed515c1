//! Arithmetic: bit fields, divisions, 64-bit pairs, the rules of legacy targets, exactness.

use super::*;
use tgsi_environment::special;

#[test]
fn fields_and_divisions_of_every_kind() {
    for (opcode, sources) in [
        ("UBFE", "IN[0], IN[1], IN[2]"),
        ("IBFE", "IN[0], IN[1], IN[2]"),
        ("BFI", "IN[0], IN[1], IN[2], IN[3]"),
        ("UDIV", "IN[0], IN[1]"),
        ("UMOD", "IN[0], IN[1]"),
        ("MOD", "IN[0], IN[1]"),
        ("IDIV", "IN[0], IN[1]"),
        ("ARR", "IN[0]"),
        ("PK2H", "IN[0].yxzw"),
        ("PK2US", "IN[0].zyyy"),
        ("PK4B", "IN[0].wzyx"),
        ("PK4UB", "-IN[0]"),
        ("UP2H", "IN[0].yyyy"),
        ("UP2US", "IN[0].yyyy"),
        ("UP4B", "IN[0].zzzz"),
        ("UP4UB", "IN[0].zzzz"),
        ("FMA", "IN[0], IN[1], IN[2]"),
        ("LDEXP", "IN[0], IN[1]"),
        ("LRP", "IN[0], IN[1], IN[2]"),
        ("SGT", "IN[0], IN[1]"),
        ("SLE", "|IN[0]|, -IN[1]"),
        ("DST", "IN[0], IN[1]"),
    ] {
        for mask in ["", ".x", ".yw", ".zw"] {
            agree_in(
                "VERT",
                "",
                &format!(
                    "{opcode} OUT[0]{mask}, {sources}\n{opcode}_SAT TEMP[1]{mask}, {sources}\nMOV OUT[1], TEMP[1]"
                ),
            );
        }
    }
    // Minimum and maximum widths and offsets.
    for (offset, width) in [(0, 32), (31, 1), (32, 32), (5, 0), (30, 8), (33, 33), (1, 32)] {
        let text = with_registers(
            "VERT",
            &format!("IMM[0] UINT32 {{ {offset}, {width}, 0, 0 }}"),
            "UBFE OUT[0], IN[0], IMM[0].xxxx, IMM[0].yyyy
             NOT TEMP[0], IN[0]
             IBFE OUT[1], TEMP[0], IMM[0].xxxx, IMM[0].yyyy
             BFI OUT[2], TEMP[0], IN[0], IMM[0].xxxx, IMM[0].yyyy
             UADD TEMP[1], IMM[0], CONST[1][9]
             BFI OUT[3], TEMP[0], IN[0], TEMP[1].xxxx, TEMP[1].yyyy",
        );
        agree(&text.replace("IMM[0] UINT32 { 0, 1, 2, 3 }\n", ""));
    }
}

#[test]
fn pairs_of_every_mask() {
    for (opcode, sources) in [
        ("DADD", "TEMP[0], TEMP[1]"),
        ("DMAD", "TEMP[0].zwxy, TEMP[1], TEMP[0].xyxy"),
        ("DFMA", "TEMP[0], TEMP[1], TEMP[1]"),
        ("DSLT", "TEMP[0], TEMP[1]"),
        ("U64SNE", "TEMP[0], TEMP[1].zwxy"),
        ("D2F", "TEMP[0]"),
        ("I642F", "IN[0]"),
        ("F2D", "IN[1].wzyx"),
        ("U2I64", "IN[0]"),
        ("I64MOD", "IN[0], IN[1]"),
        ("U64DIV", "IN[0], IN[1]"),
        ("I64DIV", "IN[0], IN[1]"),
        ("U64MOD", "IN[0], IN[1]"),
        ("U64SHL", "IN[0], IN[1]"),
        ("I64SHR", "IN[0], IN[1].wwzz"),
        ("DSSG", "TEMP[0]"),
        ("DROUND", "TEMP[0]"),
        ("DLDEXP", "TEMP[0], IN[1]"),
        ("I64ABS", "IN[0]"),
        ("D2U64", "TEMP[0]"),
    ] {
        for mask in ["", ".xy", ".zw", ".x", ".z", ".xz", ".yw", ".xyz"] {
            agree_in(
                "VERT",
                "",
                &format!(
                    "F2D TEMP[0], IN[0]\nF2D TEMP[1], IN[1]\nMOV TEMP[2], IN[3]\n{opcode} TEMP[2]{mask}, {sources}\nMOV OUT[0], TEMP[2]"
                ),
            );
        }
    }
    agree_in("VERT", "", "F2D TEMP[0], IN[0]\nDMUL_SAT TEMP[0], TEMP[0], TEMP[0].zwxy\nMOV OUT[0], TEMP[0]");
}

#[test]
fn legacy_rules_make_zero_of_zero() {
    let text = with_registers(
        "VERT",
        "",
        "RCP TEMP[0].x, CONST[2].wwww
         MUL OUT[0], IN[0], TEMP[0].xxxx
         MAD OUT[1], IN[0], TEMP[0].xxxx, IN[1]
         DP4 OUT[2].x, IN[0], TEMP[0].xxxx
         FMA OUT[2].y, IN[0], TEMP[0].xxxx, IN[1]
         LRP OUT[3], IN[0], TEMP[0].xxxx, IN[1]
         DST OUT[2].zw, IN[0], TEMP[0]",
    );
    let ir = agree(&text.replace("VERT\n", "VERT\nPROPERTY LEGACY_MATH_RULES 1\n"));
    assert!(ir.info.use_legacy_math_rules);
    assert_eq!(count_alu(&ir, AluOp::Fmul), 0);
}

#[test]
fn precise_is_exact_and_swizzles_need_no_instruction() {
    let ir = agree_in("VERT", "", "MUL_PRECISE OUT[0], IN[0].wzyx, IN[1]\nADD OUT[1], IN[0].xxxx, IN[1].yzwx");
    let exact = insts(&ir)
        .into_iter()
        .filter_map(|inst| ir.main().alu(inst))
        .map(|(op, flags)| (op, flags.is_exact()))
        .collect::<Vec<_>>();
    assert_eq!(exact, [(AluOp::Fmul, true), (AluOp::Fadd, false)]);
}

#[test]
fn precise_dot_products_add_in_order() {
    let ir = agree_in("VERT", "", "DP4_PRECISE OUT[0], IN[0], IN[1]\nDP3_PRECISE OUT[1].y, IN[0], IN[1]");
    assert_eq!(count_alu(&ir, AluOp::Fdot4), 0);
}

/// Whether the results of an arithmetic opcode must have the same bits in both interpreters: false if they depend on a
/// math library or the sign of a zero.
fn is_defined_to_the_bit(opcode: Opcode) -> bool {
    use Opcode::*;
    use tgsi::tables::Class::{Float, Integer, Packing, Wide};
    matches!(opcode.class(), Float | Integer | Packing | Wide)
        && !matches!(opcode, Lg2 | Log | Lit | Min | Max | Dmin | Dmax)
}

/// 64-bit integers, and NaN with a payload.
const INTEGER_PAIRS: [u64; 6] = [1, 63, 64, 0x000f_ffff_ffff_ffff, 0xfff8_0000_0000_0001, 0xffff_ffff_ffff_ffff];

/// Whether the bits are the same, or both are NaN, which has undefined bits.
fn same_number(is_pair: bool, a: &[u32], b: &[u32]) -> bool {
    let double = |words: &[u32]| f64::from_bits(u64::from(words[1]) << 32 | u64::from(words[0]));
    let both_nan = match is_pair {
        true => double(a).is_nan() && double(b).is_nan(),
        false => a.iter().zip(b).all(|(&a, &b)| a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()),
    };
    a == b || both_nan
}

#[test]
fn special_values_mean_the_same() {
    const LANES: usize = 64;
    let mut different = Vec::new();
    let arithmetic = Opcode::ALL.iter().filter(|opcode| is_defined_to_the_bit(**opcode));
    for (opcode, rules) in
        arithmetic.flat_map(|&opcode| ["", "PROPERTY LEGACY_MATH_RULES 1\n"].map(|rules| (opcode, rules)))
    {
        let info = opcode.info();
        let sources = ["IN[0]", "IN[1]", "IN[2]", "IN[3]"][..usize::from(info.num_src)].join(", ");
        let text = with_registers("VERT", "", &format!("{opcode} OUT[0], {sources}"));
        let text = text.replace("VERT\n", &format!("VERT\n{rules}"));
        let shader = parse(&text);
        let (program, ir) = (Program::new(&shader).unwrap(), convert(&text));
        let mut computes = false;
        for seed in 0..16 {
            let mut random = tgsi_environment::Random::new(seed);
            let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 4), ..Inputs::default() };
            for (register, ty) in info.src_types.iter().enumerate() {
                for (pair, lane) in (0..2).flat_map(|pair| (0..LANES).map(move |lane| (pair, lane))) {
                    let mut pick = |count: usize| random.bits() as usize % count;
                    let (low, high) = if ty.is_64bit() {
                        let value = match pick(4) {
                            0 => INTEGER_PAIRS[pick(INTEGER_PAIRS.len())],
                            _ => special::DOUBLES[pick(special::DOUBLES.len())].to_bits(),
                        };
                        (value as u32, (value >> 32) as u32)
                    } else {
                        (special::word(pick(1 << 16)), special::word(pick(1 << 16)))
                    };
                    inputs.inputs.set(register, 2 * pair, lane, low);
                    inputs.inputs.set(register, 2 * pair + 1, lane, high);
                }
            }
            let mut resources = AnalyticResources::default();
            let expected = run(&program, &inputs, &mut resources, RunLimits::default()).unwrap();
            let found = tgsi_ir::run::run(&ir, &inputs, &mut resources, RunLimits::default()).unwrap();
            for (lane, pair) in (0..LANES).flat_map(|lane| [(lane, 0), (lane, 1)]) {
                let words = |outputs: &Outputs| [0, 1].map(|c| outputs.outputs.get(0, 2 * pair + c, lane));
                let (a, b) = (words(&expected), words(&found));
                computes |= a != [0, 0];
                if !same_number(info.dst_type.is_64bit(), &a, &b) {
                    let operands: Vec<_> = (0..usize::from(info.num_src))
                        .map(|source| [0, 1, 2, 3].map(|c| inputs.inputs.get(source, c, lane)))
                        .collect();
                    different.push(format!(
                        "{opcode} {rules:?} pair {pair} of {operands:08x?}: {a:08x?}, through the IR {b:08x?}"
                    ));
                }
            }
        }
        assert!(computes, "{opcode} computes nothing: it needs an arm in tgsi/run/src and one in tgsi/to_ir/src");
    }
    let hint = "where only the sign of a zero differs, the opcode joins the exceptions in is_defined_to_the_bit";
    assert!(different.is_empty(), "{}: {:#?}; {hint}", different.len(), different);
}
