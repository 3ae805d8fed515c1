//! Lowers arithmetic on 1-bit numbers to selections.
//!
//! ```text
//! 1  %3 = iadd %1, %2             1  %4 = bcsel %2, false, true
//!                           =>    1  %5 = bcsel %2, true, false
//!                                 1  %6 = bcsel %1, %4, %5
//! 32 %7 = u2u32 %3                32 %8 = bcsel %6, 0x1, 0x0
//! ```
//!
//! Such arithmetic must be removed before booleans become words or floats: 1 + 1 is 0 in one bit, but the sum of two
//! values of all ones is not a boolean, and an unsigned 1 is not all ones. Logic, comparisons, selections and sign
//! extension have the same meaning on 0 and all ones and are kept. Opcodes have at most three operands, so a table of
//! the results is small.

use crate::alu::{AluOp, BaseType, ExecutionMode, evaluate};
use crate::body::{AluFlags, Body};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};

/// Lowers all such arithmetic in a body. Returns whether there was any.
pub(super) fn lower(body: &mut Body) -> bool {
    body.visit_insts(lower_inst)
}

fn lower_inst(body: &mut Body, inst: Inst) -> bool {
    let Some(op) = body.alu_op(inst) else { return false };
    // Nearly all instructions have no boolean operands.
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
        // Shifts and rotations of one bit have no effect: the distance counts modulo the size.
        table.builder.alu_sized(AluOp::Mov, shape.num_components, &[first])
    };
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// Returns whether the opcode has another meaning on 1-bit numbers than on 0 and all ones.
fn calculates(op: AluOp) -> bool {
    use AluOp as O;
    let info = op.info();
    let numbers = info.input_types.first().is_some_and(|ty| {
        ty.is_unsized() && matches!(ty.base, BaseType::Int | BaseType::Uint) && info.bit_sizes.contains(&1)
    });
    let same = matches!(op, O::Mov | O::Iand | O::Ior | O::Ixor | O::Inot | O::BitfieldSelect | O::IcselEqz)
        || info.output_type.base == BaseType::Bool
        || info.numeric_conversion && info.input_types[0].base == BaseType::Int
        || op == O::U2u1;
    numbers && op.is_componentwise() && !same
}

/// The results of an opcode for all combinations of operands.
struct Table<'a> {
    op: AluOp,
    count: u8,
    bit_size: u8,
    builder: Builder<'a>,
}

/// A result: constant, or selected at run time.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Constant(u64),
    Value(Def),
}

impl Table<'_> {
    /// Returns the result where the operands before `sources` are known.
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
