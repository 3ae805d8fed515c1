//! Arithmetic on numbers of one bit, as selections.
//!
//! ```text
//! 1  %3 = iadd %1, %2             1  %4 = bcsel %2, false, true
//!                           =>    1  %5 = bcsel %2, true, false
//!                                 1  %6 = bcsel %1, %4, %5
//! 32 %7 = u2u32 %3                32 %8 = bcsel %6, 0x1, 0x0
//! ```
//!
//! Where booleans become words or floats, what calculates with them must be gone: 1 + 1 is 0 in one bit, but all ones
//! and all ones are no boolean at all, and an unsigned one is not all ones. Logic, comparisons, selections and what
//! extends the sign mean the same of 0 and all ones, and stay. There are at most three operands, so that a table of the
//! results is small.

use crate::alu::{AluOp, BaseType, ExecutionMode, evaluate};
use crate::body::{AluFlags, Body};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};

/// Lowers all of a body. Returns whether there was any.
pub(super) fn lower(body: &mut Body) -> bool {
    let mut progress = false;
    for block in body.blocks_vec() {
        let mut next = body.first_inst(block);
        while let Some(inst) = next {
            next = body.next_inst(inst);
            progress |= lower_inst(body, inst);
        }
    }
    progress
}

fn lower_inst(body: &mut Body, inst: Inst) -> bool {
    let Some(op) = body.alu_op(inst) else { return false };
    // Nearly all instructions read no boolean.
    if body.num_sources(inst) == 0 || body.bit_size(body.src(inst, 0)) != 1 || !calculates(op) {
        return false;
    }
    let Some(def) = body.inst_def(inst) else { return false };
    let sources: arrayvec::ArrayVec<AluSrc, 3> =
        body.sources(inst).take(3).map(|s| AluSrc::new(body.src_def(s), body.swizzle(s))).collect();
    let shape = body.shape(def);
    let Some(&first) = sources.first() else { return false };
    let mut table = Table {
        op,
        count: shape.num_components,
        bit_size: shape.bit_size,
        builder: Builder::new(body, Cursor::Before(inst)),
    };
    let new = if table.op.info().input_types.iter().all(|ty| ty.is_unsized()) {
        let result = table.result(&sources, &mut arrayvec::ArrayVec::new());
        table.value(result)
    } else {
        // Shifted and rotated by nothing: a number of bits counts modulo the size.
        table.builder.alu_sized(AluOp::Mov, shape.num_components, &[first])
    };
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// Whether the opcode, on numbers of one bit, means something else than on 0 and all ones.
fn calculates(op: AluOp) -> bool {
    use AluOp as O;
    let info = op.info();
    let numbers = info.input_types.first().is_some_and(|ty| {
        ty.is_unsized() && matches!(ty.base, BaseType::Int | BaseType::Uint) && info.bit_sizes.contains(&1)
    });
    let by_component = info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0);
    let same = matches!(op, O::Mov | O::Iand | O::Ior | O::Ixor | O::Inot | O::BitfieldSelect | O::IcselEqz)
        || info.output_type.base == BaseType::Bool
        || info.numeric_conversion && info.input_types[0].base == BaseType::Int
        || op == O::U2u1;
    numbers && by_component && !same
}

/// The results of an opcode for every combination of operands.
struct Table<'a> {
    op: AluOp,
    count: u8,
    bit_size: u8,
    builder: Builder<'a>,
}

/// A result: known, or chosen at run time.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Constant(u64),
    Value(Def),
}

impl Table<'_> {
    /// The result where the operands in front of `sources` are known.
    fn result(&mut self, sources: &[AluSrc], known: &mut arrayvec::ArrayVec<u64, 3>) -> Cell {
        let Some((&source, others)) = sources.split_first() else {
            let operands: arrayvec::ArrayVec<&[u64], 3> = known.iter().map(std::slice::from_ref).collect();
            let mut result = [0];
            evaluate(self.op, 1, 1, &operands, ExecutionMode::DEFAULT, &mut result);
            return Cell::Constant(result[0]);
        };
        let [no, yes] = [0, 1].map(|bit| {
            known.push(bit);
            let result = self.result(others, known);
            known.pop();
            result
        });
        if no == yes {
            return no;
        }
        let (yes, no) = (self.value(yes), self.value(no));
        self.builder.flags = AluFlags::NONE;
        Cell::Value(self.builder.alu_sized(AluOp::Bcsel, self.count, &[source, yes.into(), no.into()]))
    }

    fn value(&mut self, cell: Cell) -> Def {
        match cell {
            Cell::Value(def) => def,
            Cell::Constant(bits) => self.builder.constant(self.bit_size, &vec![bits; usize::from(self.count)]),
        }
    }
}
