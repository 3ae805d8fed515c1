//! The operations of the machine, its limits, and instruction selection.

use serde::{Deserialize, Serialize};
use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst};
use tgsi_registers::select::{SelectError, Selection, Selector, interface_operand};
use tgsi_vec4::Flow;
use tgsi_vec4::simple::{Destination, File, Info, Instruction, Relative, SimpleMachine, Source};

/// The operands of an instruction after swizzles and modifiers.
pub(crate) type Operands = [[f32; 4]; 3];

/// Declares operations, one in a row: the dependencies of the result, the operations of the IR that select it, and
/// component `c` of the result.
macro_rules! operations {
    ($($Op:ident $info:expr, [$($alu:ident)*] |$s:ident, $c:ident| $value:expr;)*) => {
        /// An operation.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        pub(crate) enum Op { $($Op,)* Arl, Kil, Brz, Bra, Flow(Flow) }

        impl Op {
            /// The operation that computes one of the IR.
            pub(crate) fn of(op: AluOp) -> Option<Op> {
                match op { $($(AluOp::$alu => Some(Op::$Op),)*)* _ => None }
            }

            /// A component of the result.
            pub(crate) fn compute(self, operands: &Operands, component: usize) -> f32 {
                match self {
                    $(Op::$Op => { let ($s, $c) = (operands, component); let _ = $c; $value })*
                    Op::Arl => operands[0][component].floor(),
                    Op::Kil | Op::Brz | Op::Bra | Op::Flow(_) => 0.0,
                }
            }

            /// The dependencies of the result.
            pub(crate) fn info(self) -> Info {
                match self {
                    $(Op::$Op => $info,)*
                    Op::Arl => EACH,
                    Op::Kil | Op::Brz | Op::Bra => Info { has_effect: true, ..SCALAR },
                    Op::Flow(flow) => Info { reads: SCALAR.reads, ..Info::flow(flow) },
                }
            }
        }
    };
}

const EACH: Info = Info::COMPONENTWISE;
/// The scalar unit.
pub(crate) const SCALAR: Info = Info::replicated([0b0001; 4]);

operations! {
    Mov EACH, [Mov F2i32] |s, c| s[0][c];
    Add EACH, [Fadd] |s, c| s[0][c] + s[1][c];
    Mul EACH, [Fmul] |s, c| s[0][c] * s[1][c];
    Mad EACH, [Fmad] |s, c| s[0][c] * s[1][c] + s[2][c];
    Min EACH, [Fmin] |s, c| s[0][c].min(s[1][c]);
    Max EACH, [Fmax] |s, c| s[0][c].max(s[1][c]);
    Slt EACH, [Slt] |s, c| f32::from(s[0][c] < s[1][c]);
    Sge EACH, [Sge] |s, c| f32::from(s[0][c] >= s[1][c]);
    Seq EACH, [Seq] |s, c| f32::from(s[0][c] == s[1][c]);
    Sne EACH, [Sne] |s, c| f32::from(s[0][c] != s[1][c]);
    Frc EACH, [Ffract] |s, c| s[0][c] - s[0][c].floor();
    Flr EACH, [Ffloor] |s, c| s[0][c].floor();
    Trc EACH, [Ftrunc] |s, c| s[0][c].trunc();
    Cgt EACH, [FcselGt] |s, c| if s[0][c] > 0.0 { s[1][c] } else { s[2][c] };
    Cge EACH, [FcselGe] |s, c| if s[0][c] >= 0.0 { s[1][c] } else { s[2][c] };
    Cne EACH, [Fcsel] |s, c| if s[0][c] != 0.0 { s[1][c] } else { s[2][c] };
    Dp2 Info::replicated([0b0011; 4]), [Fdot2MadReplicated] |s, c| dot(s, 2);
    Dp3 Info::replicated([0b0111; 4]), [Fdot3MadReplicated] |s, c| dot(s, 3);
    Dp4 Info::replicated([0b1111; 4]), [Fdot4MadReplicated] |s, c| dot(s, 4);
    Rcp SCALAR, [Frcp] |s, c| 1.0 / s[0][0];
    Rsq SCALAR, [Frsq] |s, c| 1.0 / s[0][0].sqrt();
    Ex2 SCALAR, [Fexp2] |s, c| s[0][0].exp2();
    Lg2 SCALAR, [Flog2] |s, c| s[0][0].log2();
    Pow SCALAR, [Fpow] |s, c| s[0][0].powf(s[1][0]);
}

fn dot(s: &Operands, count: usize) -> f32 {
    (1..count).fold(s[0][0] * s[1][0], |sum, c| s[0][c] * s[1][c] + sum)
}

/// The machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine;

impl SimpleMachine for Machine {
    type Op = Op;
    const COPY: Op = Op::Mov;

    fn info(op: Op) -> Info {
        op.info()
    }

    fn accepts(&self, instruction: &Instruction<Op>) -> bool {
        let to_address = instruction.destination.is_some_and(|to| to.file == File::Special);
        instruction.registers_of(|source| source.file == File::Input) <= 1
            && instruction.registers_of(|source| matches!(source.file, File::Uniform | File::Constant)) <= 1
            && instruction.sources.iter().all(|source| !matches!(source.file, File::Special | File::Output))
            && to_address == (instruction.op == Op::Arl)
    }
}

impl Selection for Machine {
    fn alu(&self, op: AluOp) -> Option<Op> {
        Op::of(op)
    }

    fn flow(&self, flow: Flow) -> Op {
        Op::Flow(flow)
    }

    fn operand(&self, body: &Body, def: Def) -> Option<Source> {
        let load = body.def_inst(def);
        match body.intrinsic(load)? {
            IntrinsicOp::LoadInput => interface_operand(body, load, File::Input),
            IntrinsicOp::LoadUniform => interface_operand(body, load, File::Uniform),
            _ => None,
        }
    }

    fn select(selector: &mut Selector<'_, Self>, inst: Inst) -> Result<(), SelectError> {
        let body = selector.body;
        let Some(op) = body.intrinsic(inst) else {
            return Err(SelectError::Missing { inst, what: "such instruction" });
        };
        match op {
            IntrinsicOp::StoreOutput => return selector.store_output(inst),
            IntrinsicOp::DemoteIf | IntrinsicOp::TerminateIf => {
                let condition = selector.source(body.source(inst, 0));
                selector.push(Instruction::new(Op::Kil, None, [condition]));
            }
            IntrinsicOp::Demote | IntrinsicOp::Terminate => {
                let one = selector.constant([1.0f32.to_bits(); 4]);
                selector.push(Instruction::new(Op::Kil, None, [one]));
            }
            IntrinsicOp::LoadUniform => {
                let to = body.inst_def(inst).map(|def| selector.destination(def));
                let index = selector.source(body.source(inst, 0));
                let index = index.swizzled([index.swizzle[0]; 4]);
                selector.push(Instruction::new(Op::Arl, Some(Destination::new(File::Special, 0, 1)), [index]));
                let uniform = Source::new(File::Uniform, body.index(inst, IndexKind::Base));
                let relative = Some(Relative { register: 0, component: 0 });
                selector.push(Instruction::new(Op::Mov, to, [Source { relative, ..uniform }]));
            }
            _ => return Err(SelectError::Missing { inst, what: op.name() }),
        }
        Ok(())
    }
}
