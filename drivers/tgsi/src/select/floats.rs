//! Targets without integers: conversions that are none there, and the refusal of what needs integers.

use tgsi::tables::{Opcode, OperandType};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::InstData;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Def, Inst, User};
use tgsi_legacy::chase;

use super::{Selector, system_values};
use crate::DriverError;

impl Selector<'_> {
    /// Whether a conversion converts nothing where there are no integers: of a number that becomes an index, or of a system value.
    pub(super) fn is_float_already(&self, inst: Inst, def: Def, op: AluOp) -> bool {
        let body = self.body;
        match op {
            AluOp::F2i32 => body.uses_vec(def).into_iter().all(|reader| match body.user(reader) {
                User::If(_) => false,
                User::Inst(user) => match (body.inst(user), body.intrinsic(user)) {
                    (InstData::Deref { .. }, _) => true,
                    (_, Some(IntrinsicOp::StoreOutput | IntrinsicOp::StorePerVertexOutput)) => {
                        body.source_number(reader) != 0
                    }
                    (_, Some(IntrinsicOp::StoreRegIndirect)) => body.source_number(reader) == 2,
                    (
                        _,
                        Some(
                            IntrinsicOp::LoadRegIndirect
                            | IntrinsicOp::LoadUniform
                            | IntrinsicOp::LoadUbo
                            | IntrinsicOp::LoadUboVec4
                            | IntrinsicOp::LoadInput
                            | IntrinsicOp::LoadOutput
                            | IntrinsicOp::LoadInterpolatedInput
                            | IntrinsicOp::LoadPerVertexInput
                            | IntrinsicOp::LoadPerVertexOutput,
                        ),
                    ) => true,
                    _ => false,
                },
            }),
            AluOp::I2f32 | AluOp::U2f32 => {
                let source = body.src(inst, 0);
                chase::load_reg_for_def(body, source).is_none()
                    && body.intrinsic(body.def_inst(source)).is_some_and(|op| system_values::semantic(op).is_some())
            }
            _ => false,
        }
    }

    /// Remembers an index that is an integer where the target has none: only converted numbers and system values may be indices there.
    pub(super) fn note_index(&mut self, index: Def) {
        if self.options.native_integers {
            return;
        }
        let body = self.body;
        let mut def = index;
        for _ in 0..16 {
            let maker = body.def_inst(def);
            match body.alu_op(maker) {
                Some(AluOp::F2i32) => return,
                Some(AluOp::Mov) => def = body.src(maker, 0),
                Some(AluOp::Iadd) => {
                    let number = usize::from(body.def_constant(body.src(maker, 0)).is_some());
                    def = body.src(maker, number);
                }
                _ => break,
            }
        }
        let system = body.intrinsic(body.def_inst(def)).is_some_and(|op| system_values::semantic(op).is_some());
        self.integer_index |= !system;
    }

    /// An error if what was selected for an instruction, from instruction `first` on, needs integers that the target has not.
    pub(super) fn refuse_integers(&self, inst: Inst, first: usize) -> Result<(), DriverError> {
        if self.options.native_integers {
            return Ok(());
        }
        let selected = self.program.instructions.get(first..).unwrap_or(&[]);
        if !self.integer_index && selected.iter().all(|i| is_float_opcode(i.opcode)) {
            return Ok(());
        }
        let body = self.body;
        Err(match (body.alu_op(inst), body.intrinsic(inst)) {
            (Some(op), _) => DriverError::UnsupportedAlu { inst, op },
            (_, Some(op)) => DriverError::UnsupportedIntrinsic { inst, op },
            _ if body.tex(inst).is_some() => DriverError::UnsupportedTexture { inst, what: "integers" },
            _ => DriverError::NotLowered { inst, what: "an integer operation" },
        })
    }
}

/// Whether an opcode works on floats only.
fn is_float_opcode(opcode: Opcode) -> bool {
    // An address is an integer wherever there are any; what these two select and pass on has no type.
    match opcode {
        Opcode::Arl => return true,
        Opcode::Ucmp | Opcode::Uif | Opcode::Uarl => return false,
        _ => {}
    }
    let info = opcode.info();
    let is_float = |ty: OperandType| matches!(ty, OperandType::None | OperandType::Untyped | OperandType::Float);
    is_float(info.dst_type) && info.src_types.iter().all(|&ty| is_float(ty))
}
