//! Rules 5 to 7: ALU instructions against their table.

use super::{Checker, ValidationErrorKind};
use crate::alu::{AluOp, BaseType};
use crate::entities::Inst;

impl Checker<'_> {
    pub(super) fn check_alu(&mut self, inst: Inst, op: AluOp) {
        let info = op.info();
        let dest = self.def_shape(inst);
        // The size of the first operand of open size, which all others must match.
        let mut open = None;
        let mut no_float = false;
        for (number, (ty, size)) in info.input_types.iter().zip(info.input_sizes).enumerate() {
            let shape = self.src_shape(inst, number);
            let found = shape.bit_size;
            if !ty.is_unsized() {
                let kind = ValidationErrorKind::AluSourceBits { number, expected: ty.bit_size, found };
                self.expect(inst, found == ty.bit_size, kind);
            } else {
                let expected = *open.get_or_insert(found);
                let kind = ValidationErrorKind::AluSizesDiffer { number, expected, found };
                self.expect(inst, found == expected, kind);
            }
            if ty.base == BaseType::Float && !matches!(found, 16 | 32 | 64) {
                no_float = true;
                self.report_inst(inst, ValidationErrorKind::AluFloatBits { found });
            }
            let read = if *size == 0 { dest.num_components } else { *size };
            let swizzle = self.body.swizzle(self.body.source(inst, number));
            if let Some(channel) = swizzle.iter(usize::from(read)).position(|c| c >= shape.num_components) {
                self.report_inst(inst, ValidationErrorKind::AluSwizzle { number, channel });
            }
        }
        let found = dest.bit_size;
        if !info.output_type.is_unsized() {
            let expected = info.output_type.bit_size;
            self.expect(inst, found == expected, ValidationErrorKind::AluDestBits { expected, found });
        } else if let Some(expected) = open {
            self.expect(inst, found == expected, ValidationErrorKind::AluDestBits { expected, found });
        }
        if info.output_type.base == BaseType::Float && !matches!(found, 16 | 32 | 64) {
            no_float = true;
            self.report_inst(inst, ValidationErrorKind::AluFloatBits { found });
        }
        if let Some(found) = open.or(info.output_type.is_unsized().then_some(found)) {
            // A size that no float has is already reported as such.
            let exists = info.bit_sizes.contains(&found) || no_float;
            self.expect(inst, exists, ValidationErrorKind::AluOpenBits { found });
        }
        if info.output_size != 0 && dest.num_components != info.output_size {
            let (expected, found) = (info.output_size, dest.num_components);
            self.report_inst(inst, ValidationErrorKind::AluDestComponents { expected, found });
        }
    }
}
