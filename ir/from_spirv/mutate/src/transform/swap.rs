//! Swaps operands.

use spirv::Op;

use crate::editor::Editor;

/// Returns the opcode that computes the same with its first two operands swapped.
fn swapped(op: Op) -> Option<Op> {
    Some(match op {
        Op::IAdd
        | Op::FAdd
        | Op::IMul
        | Op::FMul
        | Op::Dot
        | Op::IAddCarry
        | Op::UMulExtended
        | Op::SMulExtended
        | Op::BitwiseAnd
        | Op::BitwiseOr
        | Op::BitwiseXor
        | Op::LogicalAnd
        | Op::LogicalOr
        | Op::LogicalEqual
        | Op::LogicalNotEqual
        | Op::IEqual
        | Op::INotEqual
        | Op::FOrdEqual
        | Op::FOrdNotEqual
        | Op::FUnordEqual
        | Op::FUnordNotEqual
        | Op::SDot
        | Op::UDot => op,
        Op::UGreaterThan => Op::ULessThan,
        Op::ULessThan => Op::UGreaterThan,
        Op::SGreaterThan => Op::SLessThan,
        Op::SLessThan => Op::SGreaterThan,
        Op::UGreaterThanEqual => Op::ULessThanEqual,
        Op::ULessThanEqual => Op::UGreaterThanEqual,
        Op::SGreaterThanEqual => Op::SLessThanEqual,
        Op::SLessThanEqual => Op::SGreaterThanEqual,
        Op::FOrdGreaterThan => Op::FOrdLessThan,
        Op::FOrdLessThan => Op::FOrdGreaterThan,
        Op::FOrdGreaterThanEqual => Op::FOrdLessThanEqual,
        Op::FOrdLessThanEqual => Op::FOrdGreaterThanEqual,
        Op::FUnordGreaterThan => Op::FUnordLessThan,
        Op::FUnordLessThan => Op::FUnordGreaterThan,
        Op::FUnordGreaterThanEqual => Op::FUnordLessThanEqual,
        Op::FUnordLessThanEqual => Op::FUnordGreaterThanEqual,
        _ => return None,
    })
}

/// Swaps the operands of up to four instructions.
pub fn swap_operands(editor: &mut Editor, function: usize) -> Option<()> {
    let mut places = Vec::new();
    for (number, block) in editor.module.functions[function].blocks.iter().enumerate() {
        let found =
            block.body.iter().enumerate().filter(|(_, inst)| swapped(inst.op).is_some() && inst.words.len() > 3);
        places.extend(found.map(|(at, _)| (number, at)));
    }
    for _ in 0..1 + editor.random.below(4) {
        let (block, at) = editor.random.choose(&places)?;
        let inst = &mut editor.module.functions[function].blocks[block].body[at];
        inst.op = swapped(inst.op)?;
        inst.words.swap(2, 3);
    }
    Some(())
}
