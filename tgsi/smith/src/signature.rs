//! Operand types of the computing opcodes, more precise than those in the opcode table.

use super::registers::RegisterType;
use tgsi::tables::{Opcode, OperandType, OutputMode};

/// The types of the result and the operands of an opcode.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) dst: RegisterType,
    pub(super) src: Vec<RegisterType>,
    pub(super) rounding: Rounding,
}

/// How `precise` affects a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    /// It does not.
    Fixed,
    /// Without `precise`, the result may be rounded differently.
    Sum,
    /// Without `precise`, the result may differ if its operand is computed by an opcode of the same family.
    Root,
}

/// Returns the signature of a computing opcode, or none for other opcodes and those that depend on other lanes.
pub(super) fn signature(opcode: Opcode) -> Option<Signature> {
    use Opcode::*;
    use RegisterType::{Double, Float, Integer};
    let info = opcode.info();
    if matches!(info.output_mode, OutputMode::NoOutput | OutputMode::Other) || depends_on_lanes(opcode) {
        return None;
    }
    let mut dst = RegisterType::of(info.dst_type);
    let mut src: Vec<RegisterType> =
        (0..info.src_types.len()).map(|source| RegisterType::of(opcode.source_type(source))).collect();
    if matches!(opcode, D2i | D2u | Pk2h | Pk2us | Pk4b | Pk4ub) {
        dst = Integer;
    }
    // The half of a NaN has undefined bits.
    if opcode == Pk2h {
        src = vec![RegisterType::Small];
    }
    let rounding = match opcode {
        Add | Mul | Mad | Lrp | Fma | Dp2 | Dp3 | Dp4 | Dst => Rounding::Sum,
        Dadd | Dmul | Dmad | Dfma => Rounding::Sum,
        Rcp | Rsq | Sqrt | Ex2 | Lg2 | Pow | Sin | Cos | Exp | Log | Lit | Div => Rounding::Root,
        Drcp | Drsq | Dsqrt | Ddiv => Rounding::Root,
        _ => Rounding::Fixed,
    };
    debug_assert!(src.iter().all(|&kind| kind != Double || info.src_types.contains(&OperandType::Double)));
    debug_assert!(dst != Float || info.dst_type != OperandType::Int);
    Some(Signature { dst, src, rounding })
}

/// Whether an opcode accesses other lanes or the state of a lane.
pub(super) fn depends_on_lanes(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Ddx | Ddy | DdxFine | DdyFine | ReadHelper | VoteAny | VoteAll | VoteEq | Ballot | ReadFirst | ReadInvoc
    )
}

/// Whether the sign of a zero in a source affects the result (other than the sign of a zero).
pub(super) fn shows_sign_of_zero(opcode: Opcode, source: usize) -> bool {
    use Opcode::*;
    matches!((opcode, source), (Rcp | Rsq | Pow | Lit | Pk2h | Drcp | Drsq, 0) | (Div | Ddiv, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_as_many_as_the_table_says() {
        for &opcode in Opcode::ALL {
            if let Some(signature) = signature(opcode) {
                assert_eq!(signature.src.len(), usize::from(opcode.info().num_src), "{opcode}");
            }
        }
    }
}
