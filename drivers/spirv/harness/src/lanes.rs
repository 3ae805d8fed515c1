//! Kills, derivatives and barriers.

use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::{MemorySemantics, Scope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::variable::VariableModes;

use crate::Replacement;
use crate::code::Code;
use crate::layout::Header;

impl Code<'_> {
    /// Emits a value of a lane of the quad.
    fn of_quad(&mut self, value: Def, lane: u32) -> Def {
        let (number, shape) = (self.word(lane), self.b.body.shape(value));
        self.b.intrinsic_def(IntrinsicOp::ReadInvocation, &[value, number], &[], shape)
    }

    /// Emits the difference between two lanes of the quad.
    fn difference(&mut self, value: Def, plus: u32, minus: u32) -> Def {
        let (plus, minus) = (self.of_quad(value, plus), self.of_quad(value, minus));
        self.op2(AluOp::Fsub, plus, minus)
    }
}

impl Replacement<'_> {
    pub(crate) fn lift_lanes(&mut self) -> Result<(), &'static str> {
        use IntrinsicOp as I;
        match self.op {
            I::Terminate | I::Demote => self.kill(None),
            I::TerminateIf | I::DemoteIf => {
                let condition = self.source(0);
                self.kill(Some(condition));
            }
            I::IsHelperInvocation => {
                let shape = self.shape();
                let mut code = self.code();
                let may_write = code.may_write();
                let helper = code.op1(AluOp::Inot, may_write);
                let value = if shape.bit_size == 1 {
                    helper
                } else {
                    let one = code.op1(AluOp::B2i32, helper);
                    code.op1(AluOp::Ineg, one)
                };
                self.replace(value);
            }
            I::Ddx | I::DdxCoarse | I::DdxFine | I::Ddy | I::DdyCoarse | I::DdyFine => self.derivative(),
            I::Barrier => self.barrier(),
            I::BeginInvocationInterlock | I::EndInvocationInterlock => self.remove(),
            op => return Err(op.name()),
        }
        Ok(())
    }

    fn kill(&mut self, condition: Option<Def>) {
        let mut code = self.code();
        let zero = code.word(0);
        for place in [Header::Live, Header::MayWrite] {
            let address = code.lane_address(place);
            let address = code.write_if(condition, address);
            code.store(address, zero);
        }
        self.remove();
    }

    /// Replaces a derivative. The coarse forms are the differences in the bottom row and the left column.
    fn derivative(&mut self) {
        use IntrinsicOp as I;
        let (op, value) = (self.op, self.source(0));
        let mut code = self.code();
        let result = match op {
            I::Ddx | I::DdxCoarse => code.difference(value, 3, 2),
            I::Ddy | I::DdyCoarse => code.difference(value, 2, 0),
            fine => {
                let (bit, first, second) = match fine {
                    I::DdxFine => (2, (1, 0), (3, 2)),
                    _ => (1, (2, 0), (3, 1)),
                };
                let first = code.difference(value, first.0, first.1);
                let second = code.difference(value, second.0, second.1);
                let (lane, bit, zero) = (code.frame.lane, code.word(bit), code.word(0));
                let bit = code.op2(AluOp::Iand, lane, bit);
                let is_first = code.op2(AluOp::Ieq, bit, zero);
                let count = code.b.body.num_components(value);
                let components: Vec<Def> = (0..count)
                    .map(|component| {
                        let (first, second) = (code.b.channel(first, component), code.b.channel(second, component));
                        code.select(is_first, first, second)
                    })
                    .collect();
                code.b.vec_of(&components)
            }
        };
        self.replace(result);
    }

    /// Adapts a barrier: outputs and images are in a storage buffer.
    fn barrier(&mut self) {
        let inst = self.inst;
        let body = self.shader.main_mut();
        let modes = VariableModes(body.index(inst, IndexKind::MemoryModes) as u32);
        let moved = VariableModes(VariableModes::SHADER_OUT.0 | VariableModes::IMAGE.0);
        if modes.intersects(moved) {
            let modes = modes.0 & !moved.0 | VariableModes::MEM_SSBO.0;
            body.set_index(inst, IndexKind::MemoryModes, modes as i32);
            body.set_index(inst, IndexKind::MemorySemantics, MemorySemantics::ACQ_REL.to_i32());
            if body.index(inst, IndexKind::MemoryScope) == Scope::None.to_i32() {
                body.set_index(inst, IndexKind::MemoryScope, Scope::Workgroup.to_i32());
            }
        }
    }
}
