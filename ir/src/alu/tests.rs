//! Tests of the opcode table and of constant evaluation.

use std::fs;
use std::path::PathBuf;

use super::*;

/// The rows of a CSV file of the reference data, without the header.
pub(crate) fn shared_csv(file: &str) -> Vec<Vec<String>> {
    let folder = std::env::var_os("TGSIC_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let text = fs::read_to_string(folder.join("spec").join(file)).expect("a file of the specification");
    text.lines().skip(1).map(split_csv).collect()
}

/// Splits a line at commas; fields may be quoted, with doubled quotes inside.
fn split_csv(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut().expect("one field at least");
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => field.push(character),
        }
    }
    fields
}

fn evaluate_one(op: AluOp, bit_size: u8, sources: &[u64]) -> u64 {
    evaluate_mode(op, bit_size, sources, ExecutionMode::DEFAULT)
}

fn evaluate_mode(op: AluOp, bit_size: u8, sources: &[u64], mode: ExecutionMode) -> u64 {
    let sources: Vec<&[u64]> = sources.iter().map(std::slice::from_ref).collect();
    let mut dest = [0];
    evaluate(op, bit_size, 1, &sources, mode, &mut dest);
    dest[0]
}

/// Converts the bits of a float type to a number.
fn float_value(bits: u64, bit_size: u8) -> Option<f64> {
    match bit_size {
        16 => Some(half::to_f32(bits as u16).into()),
        32 => Some(f32::from_bits(bits as u32).into()),
        64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn table_agrees_with_the_specification() {
    let rows = shared_csv("ir-alu.csv");
    // The reference data does not have the TGSI opcodes.
    let specified = || AluOp::ALL.iter().filter(|op| op.info().group != "tgsi");
    assert_eq!(rows.len(), specified().count());
    for (row, &op) in rows.iter().zip(specified()) {
        let info = op.info();
        let join = |words: Vec<String>| words.join(" ");
        let mut properties = Vec::new();
        for (set, word) in
            [(info.commutative01, "commutative01"), (info.associative, "associative"), (info.selection, "selection")]
        {
            if set {
                properties.push(word.to_owned());
            }
        }
        let found = [
            info.name.to_owned(),
            info.group.to_owned(),
            info.num_inputs.to_string(),
            info.output_size.to_string(),
            info.output_type.to_string(),
            join(info.input_sizes.iter().map(u8::to_string).collect()),
            join(info.input_types.iter().map(AluType::to_string).collect()),
            if info.bit_sizes.is_empty() {
                "fixed".to_owned()
            } else {
                join(info.bit_sizes.iter().map(u8::to_string).collect())
            },
            join(properties),
            if info.numeric_conversion { "yes" } else { "no" }.to_owned(),
            op.formula().to_owned(),
        ];
        pretty_assertions::assert_eq!(row[..11], found);
    }
}

/// Library functions may differ in the last bits: results within 2^-20 of each other, relative to the expected one,
/// count as equal, and so do neighbouring 16-bit floats.
fn approximately_equal(expected: u64, found: u64, bit_size: u8) -> bool {
    if bit_size == 16 && expected.abs_diff(found) <= 1 {
        return true;
    }
    match (float_value(expected, bit_size), float_value(found, bit_size)) {
        (Some(expected), Some(found)) if expected.is_finite() && found.is_finite() => {
            (expected - found).abs() <= expected.abs() / 1048576.0
        }
        _ => false,
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn evaluation_agrees_with_the_reference() {
    let rows = shared_csv("ir-alu-vectors.csv");
    let mut failures = Vec::new();
    for row in &rows {
        let [op, bit_size, num_components, mode, inputs, outputs, compare] = &row[..] else {
            panic!("row of {} fields", row.len());
        };
        let op = AluOp::from_name(op).expect("opcode of the table");
        let bit_size: u8 = if bit_size == "fixed" { 32 } else { bit_size.parse().expect("bit size") };
        let num_components: u8 = num_components.parse().expect("component count");
        let mode = ExecutionMode(u32::from_str_radix(&mode[2..], 16).expect("mode"));
        let words = |text: &str| -> Vec<u64> {
            text.split_whitespace().map(|word| u64::from_str_radix(word, 16).expect("hexadecimal")).collect()
        };
        let inputs: Vec<Vec<u64>> = inputs.split('|').map(words).collect();
        let sources: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
        let outputs: Vec<&str> = outputs.split_whitespace().collect();
        let mut dest = [0xdead; 16];
        // For opcodes with a result of fixed size, the reference data gives the size of the result.
        let num_components = num_components.max(outputs.len() as u8);
        evaluate(op, bit_size, num_components, &sources, mode, &mut dest);
        let output_type = op.info().output_type;
        let output_size = if output_type.is_unsized() { bit_size } else { output_type.bit_size };
        let equal = outputs.iter().zip(dest).all(|(&expected, found)| {
            if expected == "nan" {
                return float_value(found, output_size).is_some_and(f64::is_nan);
            }
            let expected = u64::from_str_radix(expected, 16).expect("hexadecimal");
            expected == found || compare == "approx" && approximately_equal(expected, found, output_size)
        });
        if !equal {
            failures.push(format!("{} -> {:x?}", row.join(","), &dest[..outputs.len()]));
        }
    }
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

#[test]
fn names_and_numbers_round_trip() {
    for (number, &op) in AluOp::ALL.iter().enumerate() {
        assert_eq!(op as usize, number);
        assert_eq!(AluOp::from_name(op.name()), Some(op));
    }
    assert_eq!(AluOp::from_name("fadd"), Some(AluOp::Fadd));
    assert_eq!(AluOp::from_name("f2f16_rtz"), Some(AluOp::F2f16Rtz));
    assert_eq!(AluOp::from_name("Fadd"), None);
    for &ty in AluType::ALL {
        assert_eq!(AluType::from_name(ty.name()), Some(ty));
        assert_eq!(AluType::from_i32(ty.to_i32()), ty);
    }
    assert_eq!(AluType::from_name("float7"), None);
    assert_eq!(AluType::FLOAT32.to_string(), "float32");
    // Every number decodes to a type that exists.
    for number in (-1000..3000).chain([i32::MIN, i32::MAX]) {
        assert!(AluType::ALL.contains(&AluType::from_i32(number)));
    }
}

#[test]
fn properties_of_opcodes() {
    assert_eq!(AluOp::vec(1), Some(AluOp::Mov));
    assert_eq!(AluOp::vec(4), Some(AluOp::Vec4));
    assert_eq!(AluOp::vec(6), None);
    assert!(AluOp::Vec5.is_vec() && !AluOp::Mov.is_vec() && AluOp::Mov.is_vec_or_mov());
    assert!(AluOp::Flt32.is_comparison() && AluOp::Bitz.is_comparison() && !AluOp::Slt.is_comparison());
    assert!(AluOp::F2i32.is_conversion() && !AluOp::Fadd.is_conversion());
    assert!(AluOp::Fadd.is_commutative01() && !AluOp::Fsub.is_commutative01());
    assert!(AluOp::Iadd.info().associative && AluOp::Bcsel.is_selection());
    assert_eq!(AluOp::Fdph.input_components(0, 1), 3);
    assert_eq!(AluOp::Fdph.input_components(1, 1), 4);
    assert_eq!(AluOp::Fadd.input_components(1, 2), 2);
    assert_eq!(AluOp::Fadd.input_components(2, 2), 0);
}

/// `evaluate` returns for any input: all opcodes, invalid sizes and counts, missing sources, extreme operands, all
/// modes. Results have no bits beyond their size.
#[test]
fn evaluation_survives_everything() {
    let words =
        [0, 1, 2, 31, 32, 63, 64, 0x7f, 0x80, 0x8000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, !(1 << 63), !0];
    let mut dest = [0; 17];
    for &op in AluOp::ALL {
        let inputs = usize::from(op.info().num_inputs);
        for bit_size in [0, 1, 3, 8, 16, 32, 64, 128, 255] {
            for num_components in [0, 1, 4, 16, 17, 255] {
                let mode = ExecutionMode(if num_components == 4 { !0 } else { 0 });
                evaluate(op, bit_size, num_components, &[], mode, &mut dest);
                for offset in 0..words.len() {
                    let sources: Vec<&[u64]> =
                        (0..inputs).map(|i| &words[(offset * (i + 1) + i) % words.len()..]).collect();
                    dest.fill(0x5555);
                    evaluate(op, bit_size, num_components, &sources, mode, &mut dest);
                    let size = match op.info().output_type.bit_size {
                        0 if op.info().bit_sizes.contains(&bit_size) => bit_size,
                        // A bit size that the opcode does not support.
                        0 => 0,
                        size => size,
                    };
                    let written = usize::from(num_components).min(dest.len());
                    for &value in &dest[..written] {
                        assert_eq!(value & !evaluate::mask(size.into()), 0, "{op} {bit_size} {sources:x?}");
                    }
                    assert!(dest[written..].iter().all(|&value| value == 0x5555));
                }
                evaluate(op, bit_size, num_components, &[&words], mode, &mut []);
            }
        }
    }
}

#[test]
fn signed_corner_cases() {
    let min = 1 << 31;
    assert_eq!(evaluate_one(AluOp::Idiv, 32, &[min, 0xffff_ffff]), min);
    assert_eq!(evaluate_one(AluOp::Irem, 32, &[min, 0xffff_ffff]), 0);
    assert_eq!(evaluate_one(AluOp::Idiv, 64, &[1 << 63, !0]), 1 << 63);
    assert_eq!(evaluate_one(AluOp::Idiv, 32, &[7, 0]), 0);
    assert_eq!(evaluate_one(AluOp::Imod, 32, &[0xffff_fff9, 4]), 1);
    assert_eq!(evaluate_one(AluOp::Iabs, 64, &[1 << 63]), 1 << 63);
    assert_eq!(evaluate_one(AluOp::IaddSat, 8, &[0x7f, 1]), 0x7f);
    assert_eq!(evaluate_one(AluOp::IaddSat, 64, &[1 << 63, !0]), 1 << 63);
    assert_eq!(evaluate_one(AluOp::UaddSat, 16, &[0xffff, 1]), 0xffff);
    assert_eq!(evaluate_one(AluOp::UaddCarry, 64, &[!0, 1]), 1);
    assert_eq!(evaluate_one(AluOp::ImulHigh, 64, &[!0, !0]), 0);
    assert_eq!(evaluate_one(AluOp::Ishr, 32, &[min, 63]), 0xffff_ffff);
    assert_eq!(evaluate_one(AluOp::Urol, 8, &[0x81, 0]), 0x81);
    assert_eq!(evaluate_one(AluOp::Uror, 64, &[1, 1]), 1 << 63);
    assert_eq!(evaluate_one(AluOp::UfindMsbRev, 64, &[1]), 63);
    assert_eq!(evaluate_one(AluOp::Udot4x8UaddSat, 32, &[0, 0, 0xffff_ffff]), 0xffff_ffff);
    // As an integer, a 1-bit true is -1.
    assert_eq!(evaluate_one(AluOp::I2i32, 1, &[1]), 0xffff_ffff);
    assert_eq!(evaluate_one(AluOp::B2i32, 1, &[1]), 1);
}

#[test]
fn conversions_saturate_and_nan_is_zero() {
    let single = |value: f32| u64::from(value.to_bits());
    assert_eq!(evaluate_one(AluOp::F2i32, 32, &[single(3e9)]), 0x7fff_ffff);
    assert_eq!(evaluate_one(AluOp::F2i32, 32, &[single(f32::NAN)]), 0);
    assert_eq!(evaluate_one(AluOp::F2u32, 32, &[single(-1.0)]), 0);
    assert_eq!(evaluate_one(AluOp::F2u8, 32, &[single(300.0)]), 0xff);
    // 64 to 16 bits rounds once: through 32 bits this would be a tie, which rounds down to even.
    let above_tie = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    assert_eq!(evaluate_one(AluOp::F2f16, 64, &[above_tie.to_bits()]), 0x3c01);
    assert_eq!(evaluate_one(AluOp::F2f16, 64, &[1e300f64.to_bits()]), 0x7c00);
}

#[test]
fn halves_are_exact() {
    for bits in 0..=u16::MAX {
        let value = half::to_f32(bits);
        if value.is_nan() {
            assert!(bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0);
            assert!(half::to_f32(half::from_f64(value.into(), false)).is_nan());
            continue;
        }
        assert_eq!(half::from_f64(value.into(), false), bits);
        assert_eq!(half::from_f64(value.into(), true), bits);
        // Two values between this float and the next one away from zero, on both sides of the middle.
        if bits & 0x7fff < 0x7bff {
            let (low, high) = (f64::from(value), f64::from(half::to_f32(bits + 1)));
            let middle = (low + high) / 2.0;
            let even = bits + (bits & 1);
            assert_eq!(half::from_f64(middle, false), even);
            assert_eq!(half::from_f64(middle + (low - middle) / 1e6, false), bits);
            assert_eq!(half::from_f64(middle + (high - middle) / 1e6, false), bits + 1);
            assert_eq!(half::from_f64(high + (low - high) / 1e6, true), bits);
        }
    }
    assert_eq!(half::from_f64(65519.0, false), 0x7bff);
    assert_eq!(half::from_f64(65520.0, false), 0x7c00);
    assert_eq!(half::from_f64(65520.0, true), 0x7bff);
    assert_eq!(half::from_f64(-f64::INFINITY, true), 0xfc00);
}

#[test]
fn rounding_toward_zero_is_exact() {
    let tiny = f64::from_bits(1);
    let below_one = f64::from_bits(1f64.to_bits() - 1);
    assert_eq!(half::fma_toward_zero(1.0, 1.0, -tiny), below_one);
    assert_eq!(half::fma_toward_zero(1.0, 1.0, tiny), 1.0);
    assert_eq!(half::fma_toward_zero(-1.0, 1.0, tiny), -below_one);
    assert_eq!(half::fma_toward_zero(f64::MAX, 2.0, 0.0), f64::MAX);
    assert_eq!(half::fma_toward_zero(f64::MAX, 2.0, -f64::MAX), f64::MAX);
    assert_eq!(half::fma_toward_zero(f64::INFINITY, 1.0, 1.0), f64::INFINITY);
    assert_eq!(half::mul_toward_zero(-tiny, 0.5).to_bits(), (-0.0f64).to_bits());
    assert_eq!(half::mul_toward_zero(tiny, 1.5), tiny);
    assert_eq!(half::mul_toward_zero(f64::MIN_POSITIVE, below_one), f64::from_bits(f64::MIN_POSITIVE.to_bits() - 1));
    // Compare with rounding to nearest: equal if that is exact or closer to zero, otherwise one step closer to zero.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |exponents: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from_bits(state & !(0x7ff << 52) | (1023 - exponents / 2 + state % exponents) << 52)
    };
    for _ in 0..20_000 {
        let (a, b) = (random(60), random(60));
        let product = a * b;
        let error = a.mul_add(b, -product);
        let away = error != 0.0 && (error > 0.0) != (product > 0.0);
        let expected = f64::from_bits(product.to_bits() - u64::from(away));
        assert_eq!(half::mul_toward_zero(a, b).to_bits(), expected.to_bits());
        let sum = a + b;
        let virtual_b = sum - a;
        let error = (a - (sum - virtual_b)) + (b - virtual_b);
        let away = error != 0.0 && (error > 0.0) != (sum > 0.0);
        let expected = f64::from_bits(sum.to_bits() - u64::from(away));
        assert_eq!(half::fma_toward_zero(a, 1.0, b).to_bits(), expected.to_bits(), "{a:e} + {b:e}");
    }
}

#[test]
fn execution_mode_rounds_and_flushes_its_own_size() {
    let (rtz16, rtz32, rtz64) = (ExecutionMode(1 << 18), ExecutionMode(1 << 19), ExecutionMode(1 << 20));
    let third = u64::from((1f32 / 3.0).to_bits());
    let nearest = evaluate_one(AluOp::Fadd, 32, &[third, 0x3f80_0000]);
    assert_eq!(evaluate_mode(AluOp::Fadd, 32, &[third, 0x3f80_0000], rtz32), nearest - 1);
    assert_eq!(evaluate_mode(AluOp::Fadd, 32, &[third, 0x3f80_0000], rtz64), nearest);
    assert_eq!(evaluate_mode(AluOp::F2f16, 32, &[u64::from(65535f32.to_bits())], rtz16), 0x7bff);
    assert_eq!(evaluate_mode(AluOp::F2f16, 32, &[u64::from(65535f32.to_bits())], rtz32), 0x7c00);
    let flush32 = ExecutionMode(1 << 13);
    assert_eq!(evaluate_mode(AluOp::Fneg, 32, &[1], flush32), 0x8000_0000);
    assert_eq!(evaluate_mode(AluOp::Mov, 32, &[1], flush32), 1);
    assert_eq!(evaluate_mode(AluOp::Fneg, 16, &[1], flush32), 0x8001);
    assert_eq!(evaluate_mode(AluOp::UnpackHalf2x16SplitX, 32, &[0x8001], ExecutionMode(1 << 12)), 0x8000_0000);
}

#[test]
fn scaling_by_powers_of_two() {
    let double = |value: f64| value.to_bits();
    assert_eq!(evaluate_one(AluOp::Ldexp, 64, &[double(1.5), 10]), double(1536.0));
    assert_eq!(evaluate_one(AluOp::Ldexp, 64, &[double(f64::from_bits(3)), 2000]), double(3.0 * 2f64.powi(926)));
    assert_eq!(evaluate_one(AluOp::Ldexp, 64, &[double(-1.0), 5000]), double(-0.0));
    assert_eq!(evaluate_one(AluOp::Ldexp, 64, &[double(1.0), 0x8000_0000]), 0);
    assert_eq!(evaluate_one(AluOp::FrexpExp, 64, &[1]), 0xffff_ffff & (-1073i64) as u64);
    assert_eq!(evaluate_one(AluOp::FrexpSig, 64, &[double(-12.0)]), double(-0.75));
    assert_eq!(evaluate_one(AluOp::FrexpExp, 32, &[u64::from(12f32.to_bits())]), 4);
}

#[test]
fn fused_multiply_add_rounds_once() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let special =
        [0.0, -0.0, 1.0, -1.0, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::INFINITY, f32::NAN, f32::EPSILON];
    for round in 0..200_000u32 {
        let word = random();
        let mut operands = [word as u32, (word >> 32) as u32, random() as u32].map(f32::from_bits);
        match round % 4 {
            // Similar exponents, so that all three operands affect the result.
            0 | 1 => operands = operands.map(|x| f32::from_bits(x.to_bits() & 0x87ff_ffff | 0x3800_0000)),
            2 => operands[(word % 3) as usize] = special[(word >> 8) as usize % special.len()],
            // The sum cancels.
            _ => operands[2] = -(operands[0] * operands[1]),
        }
        let [a, b, c] = operands;
        let (expected, found) = (a.mul_add(b, c), half::fma_single(a, b, c));
        assert!(expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan(), "{a:e} * {b:e} + {c:e}");
    }
}
