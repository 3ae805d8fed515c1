//! Several small numbers in one word.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;

use super::computed_lanes::Lanes;
use super::control_flow::Translator;
use super::opcodes::{OperandForm, into_ir};
use tgsi::shader::Instruction;
use tgsi::tables::{Opcode, OperandType};

impl Translator<'_, '_> {
    /// Translates a packing opcode.
    pub(super) fn packing(&mut self, instruction: &Instruction) {
        let Some((OperandForm::Horizontal(_), op)) = into_ir(instruction.opcode) else {
            return instruction.opcode.lacks_code();
        };
        let has_two = matches!(instruction.opcode, Opcode::Pk2h | Opcode::Pk2us | Opcode::Up2h | Opcode::Up2us);
        let components = if has_two { 2 } else { 4 };
        let Some(src) = instruction.src.first() else { return };
        match instruction.opcode {
            Opcode::Pk2h | Opcode::Pk2us | Opcode::Pk4b | Opcode::Pk4ub => {
                let mut value = self.fetch(src, OperandType::Float, Lanes::first(components));
                if instruction.opcode == Opcode::Pk4b {
                    // NaN packs as 0, whereas clamping alone would give the minimum.
                    let ordered = self.b.alu_sized(AluOp::Feq, components, &[value, value]);
                    let zero = AluSrc::new(self.constant(0), tgsi_ir::Swizzle::replicate(0));
                    value = self.b.alu_sized(AluOp::Bcsel, components, &[ordered.into(), value, zero]).into();
                }
                let word = self.b.alu_sized(op, 1, &[value]);
                self.write_scalar(instruction, word);
            }
            _ => {
                let word = self.fetch_channel(src, OperandType::Uint, 0);
                let value = self.b.alu_sized(op, components, &[word]);
                // Two values are repeated: z is x, w is y.
                let swizzle = tgsi_ir::Swizzle::new(if components == 2 { &[0, 1, 0, 1] } else { &[0, 1, 2, 3] });
                self.write(instruction, AluSrc::new(value, swizzle));
            }
        }
    }
}
