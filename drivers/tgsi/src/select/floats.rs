//! Targets without integers: removes conversions, and refuses operations that need integers.

use tgsi::tables::{Opcode, OperandType};
use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::passes::lower_numbers::lower_int_to_float::is_index;
use tgsi_ir::{Def, Inst, Use, User};

use super::Selector;
use crate::DriverError;
use tgsi_registers::lower::is_interface_load;

impl Selector<'_> {
    /// Whether a conversion is a no-op without integers: it converts a number to an index.
    pub(super) fn is_float_already(&self, def: Def, op: AluOp) -> bool {
        let body = self.body;
        op == AluOp::F2i32 && body.uses_of(def).all(|reader| is_index(body, reader))
    }

    /// Records whether an index is an integer although the target has none: only converted numbers and interface values
    /// may be indices there.
    pub(super) fn note_index(&mut self, index: Def) {
        if self.options.native_integers {
            return;
        }
        let body = self.body;
        let mut def = index;
        for _ in 0..16 {
            let producer = body.def_inst(def);
            match body.alu_op(producer) {
                Some(AluOp::F2i32) => return,
                Some(AluOp::Mov) => def = body.src(producer, 0),
                Some(AluOp::Iadd) => {
                    let number = usize::from(body.def_constant(body.src(producer, 0)).is_some());
                    def = body.src(producer, number);
                }
                _ => break,
            }
        }
        self.integer_index |= !body.intrinsic(body.def_inst(def)).is_some_and(is_interface_load);
    }

    /// Returns an error if the instructions selected from `first` on need integers that the target lacks.
    pub(super) fn refuse_integers(&self, inst: Inst, first: usize) -> Result<(), DriverError> {
        if self.options.native_integers {
            return Ok(());
        }
        let selected = self.program.instructions().get(first..).unwrap_or(&[]);
        if !self.integer_index && selected.iter().all(|i| is_float_opcode(i.opcode)) {
            return Ok(());
        }
        let body = self.body;
        let inst = self.culprit(inst);
        Err(match (body.alu_op(inst), body.intrinsic(inst)) {
            (Some(op), _) => DriverError::UnsupportedAlu { inst, op },
            (_, Some(op)) => DriverError::UnsupportedIntrinsic { inst, op },
            _ if body.tex(inst).is_some() => DriverError::UnsupportedTexture { inst, what: "integers" },
            _ => DriverError::NotLowered { inst, what: "an integer operation" },
        })
    }

    /// The instruction responsible for a conversion: the one that defined or uses an integer.
    fn culprit(&self, inst: Inst) -> Inst {
        let body = self.body;
        let is_no_alu = |inst: Inst| {
            body.tex(inst).is_some()
                || body.intrinsic(inst).is_some_and(|op| {
                    !matches!(op, IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect | IntrinsicOp::StoreReg)
                })
        };
        match (body.alu_op(inst), body.inst_def(inst)) {
            (Some(AluOp::I2f32 | AluOp::U2f32 | AluOp::B2f32 | AluOp::Fneu32), _) => {
                let producer = body.def_inst(body.src(inst, 0));
                if is_no_alu(producer) { producer } else { inst }
            }
            (Some(AluOp::F2i32 | AluOp::F2u32), Some(def)) => {
                let wants = |reader: Use| match body.user(reader) {
                    User::Inst(user) => (is_no_alu(user) && !is_index(body, reader)).then_some(user),
                    User::If(_) => None,
                };
                let through = |reader: Use| {
                    let User::Inst(vector) = body.user(reader) else { return None };
                    let result =
                        body.inst_def(vector).filter(|_| body.alu_op(vector).is_some_and(|op| op.is_vec_or_mov()))?;
                    body.uses_of(result).find_map(wants)
                };
                body.uses_of(def).find_map(|reader| wants(reader).or_else(|| through(reader))).unwrap_or(inst)
            }
            _ => inst,
        }
    }
}

/// Whether an opcode works on floats only.
fn is_float_opcode(opcode: Opcode) -> bool {
    // An address is an integer on every target with integers; the operands of selections by these opcodes have no type.
    match opcode {
        Opcode::Arl | Opcode::Arr => return true,
        Opcode::Ucmp | Opcode::Uif | Opcode::Uarl => return false,
        _ => {}
    }
    let info = opcode.info();
    let is_float = |ty: OperandType| matches!(ty, OperandType::None | OperandType::Untyped | OperandType::Float);
    is_float(info.dst_type) && info.src_types.iter().all(|&ty| is_float(ty))
}
