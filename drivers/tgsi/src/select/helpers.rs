//! Helper invocations, where the target reports only those that are helpers from the start (in the dialect of virgl).
//!
//! A killed invocation is a helper, too. If the shader queries helpers, a temporary records kills.
//!
//! ```text
//!                                 MOV TEMP[9].x, 0
//! KILL                     =>     MOV TEMP[9].x, -1     KILL
//! READ_HELPER TEMP[0].x           MOV TEMP[0].x, SV[0].xxxx
//!                                 USNE TEMP[0].x, TEMP[0].xxxx, 0
//!                                 OR TEMP[0].x, TEMP[0].xxxx, TEMP[9].xxxx
//! ```

use tgsi::shader::{Dst, Register, Src};
use tgsi::tables::{File, Opcode, Semantic};
use tgsi_ir::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::{Selector, Value};

impl Selector<'_> {
    /// Initialises the record of kills.
    pub(super) fn begin_helpers(&mut self) {
        if self.reads_helper() {
            return;
        }
        let body = self.body;
        let ops = || body.blocks().flat_map(|block| body.insts(block)).filter_map(|inst| body.intrinsic(inst));
        if ops().any(|op| op == IntrinsicOp::IsHelperInvocation) && ops().any(is_kill) {
            let (killed, zero) = (self.temp(), self.word(0));
            self.emit(Opcode::Mov, Dst::new(killed).masked(1), &[zero]);
            self.killed = Some(killed);
        }
    }

    /// Whether `READ_HELPER` tells helpers apart. The replacement needs integers.
    fn reads_helper(&self) -> bool {
        self.options.has_demote || !self.options.native_integers
    }

    /// Records that the invocation is about to be killed.
    pub(super) fn note_kill(&mut self) {
        if let Some(killed) = self.killed {
            let ones = self.word(u32::MAX);
            self.emit(Opcode::Mov, Dst::new(killed).masked(1), &[ones]);
        }
    }

    /// Records a kill under the condition of the instruction.
    pub(super) fn note_kill_if(&mut self, inst: Inst) {
        if let Some(killed) = self.killed {
            let condition = self.source(inst, 0).lane(0);
            self.emit(Opcode::Or, Dst::new(killed).masked(1), &[Value::new(killed).lane(0), condition]);
        }
    }

    /// Emits whether the invocation is a helper. The system value is non-zero in helpers, but not a boolean.
    pub(super) fn emit_is_helper(&mut self, register: Register) {
        let dst = Dst::new(register).masked(1);
        if self.reads_helper() {
            return self.emit(Opcode::ReadHelper, dst, &[]);
        }
        let index = self.declared.system_value(Semantic::HelperInvocation);
        self.emit(Opcode::Mov, dst, &[Src::new(Register::new(File::SystemValue, index)).swizzled([0; 4])]);
        let zero = self.word(0);
        self.emit(Opcode::Usne, dst, &[Value::new(register).lane(0), zero]);
        if let Some(killed) = self.killed {
            self.emit(Opcode::Or, dst, &[Value::new(register).lane(0), Value::new(killed).lane(0)]);
        }
    }
}

/// Returns whether an intrinsic may end an invocation or make it a helper.
fn is_kill(op: IntrinsicOp) -> bool {
    use IntrinsicOp::{Demote, DemoteIf, Terminate, TerminateIf};
    matches!(op, Terminate | TerminateIf | Demote | DemoteIf)
}
