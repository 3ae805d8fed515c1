//! Tests 1-bit numbers, which become words or floats together with booleans.

use super::*;
use crate::passes::{lower_bool_to_float, lower_bool_to_int32};

/// Component-wise opcodes with operands of one size, if that can be one bit.
fn opcodes() -> impl Iterator<Item = AluOp> {
    AluOp::ALL.iter().copied().filter(|op| {
        let info = op.info();
        info.bit_sizes.contains(&1) && info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0)
    })
}

#[test]
fn every_opcode_on_one_bit() {
    let mut count = 0;
    for op in opcodes() {
        let types = op.info().input_types;
        let values = |number: usize| -> Vec<u64> {
            match types[number].bit_size {
                0 | 1 => vec![0, 1],
                // Booleans of other sizes, and numbers of bits.
                _ if types[number].base == BaseType::Bool => vec![0, mask(types[number].bit_size)],
                _ => vec![0, 1, 2, 31],
            }
        };
        let mut cases = vec![Vec::new()];
        for number in 0..types.len() {
            let longer = |case: &Vec<u64>| {
                values(number).into_iter().map(|value| [case.as_slice(), &[value]].concat()).collect::<Vec<_>>()
            };
            cases = cases.iter().flat_map(longer).collect();
        }
        for pass in [&lower_bool_to_int32 as Pass<'_>, &lower_bool_to_float] {
            // Some opcodes are unchanged for words.
            let mut shader = Check::new(op, 1, pass).shader(&[]);
            pass(&mut shader);
            validate(&shader).unwrap_or_else(|errors| panic!("{op}: {errors}\n{}", crate::text::print(&shader)));
            assert!(!pass(&mut shader), "{op}: lowering is not idempotent");
            let left = values_of_one_bit(&shader);
            assert_eq!(left, 0, "{op}: 1-bit values remain\n{}", crate::text::print(&shader));
            let program = Program::new(&shader).expect("a shader without control flow");
            Check::new(op, 1, pass).run_part(&program, &cases);
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

fn values_of_one_bit(shader: &Shader) -> usize {
    super::values(shader).into_iter().filter(|&def| shader.main().bit_size(def) == 1).count()
}
