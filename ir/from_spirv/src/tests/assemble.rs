//! A small assembler: opcodes by name, results and operands by name, all other operands as numbers.

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rustc_hash::FxHashMap;

/// Assembles a module. Floats are of 32 bits and have a point; strings are in single quotes.
pub(crate) fn assemble(text: &str) -> Vec<u8> {
    let mut ids: FxHashMap<&str, u32> = FxHashMap::default();
    let mut words = vec![0x0723_0203, 0x0001_0500, 0, 0, 0];
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut id = |name| {
            let next = ids.len() as u32 + 1;
            *ids.entry(name).or_insert(next)
        };
        let mut tokens = line.split_whitespace().peekable();
        let result = tokens.next_if(|token| token.starts_with('%')).map(&mut id);
        assert!(result.is_none() || tokens.next() == Some("="), "{line}");
        let name = tokens.next().and_then(|name| name.strip_prefix("Op")).expect(line);
        let inst = INSTRUCTION_TABLE.iter().find(|inst| inst.opname == name).expect(line);
        let has_type = inst.operands.iter().any(|operand| operand.kind == OperandKind::IdResultType);
        let mut operands = Vec::new();
        if has_type {
            operands.push(id(tokens.next().expect(line)));
        }
        operands.extend(result);
        for token in tokens {
            match token.trim_matches('\'') {
                name if name.starts_with('%') => operands.push(id(name)),
                string if string.len() < token.len() => {
                    let bytes: Vec<u8> = string.bytes().chain([0; 4]).collect();
                    operands.extend(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())));
                }
                number => operands.push(literal(number)),
            }
        }
        words.push((operands.len() as u32 + 1) << 16 | inst.opcode as u32);
        words.extend(operands);
    }
    words[3] = ids.len() as u32 + 1;
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A number, or the number of an opcode in `OpSpecConstantOp`.
fn literal(text: &str) -> u32 {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).expect(text);
    }
    if let Some(inst) = INSTRUCTION_TABLE.iter().find(|inst| inst.opname == text) {
        return inst.opcode as u32;
    }
    if text.contains('.') {
        text.parse::<f32>().expect(text).to_bits()
    } else {
        text.parse::<i64>().expect(text) as u32
    }
}
