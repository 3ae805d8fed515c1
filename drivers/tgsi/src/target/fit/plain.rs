//! Consumers that take TGSI one to one: Mesa's interpreter, hosts of virgl, VGPU10 (whose translation adds few
//! instructions to those of TGSI).

use tgsi::Shader;
use tgsi::tables::Opcode;

use super::registers::{Numbering, RegisterCount, count_nesting};
use super::usage::{Resource, Usage};
use crate::target::opcodes::has_wide_integers;

/// Whether no consumer has an opcode: neither `tgsi_exec.c` nor `svga_tgsi_vgpu10.c` does anything for it. Most came
/// late; `SAMPLE_POS` and `SAMPLE_INFO` were never made by a front end.
fn is_unknown(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        TexLz
            | TxfLz
            | Txqs
            | SamplePos
            | SampleInfo
            | Demote
            | Clock
            | ReadHelper
            | Fbfetch
            | ReadInvoc
            | ReadFirst
            | Ballot
            | VoteAny
            | VoteAll
            | VoteEq
            | Img2hnd
            | Samp2hnd
            | AtomincWrap
            | AtomdecWrap
    )
}

/// Whether `tgsi_exec.c` has a case for an opcode.
pub(crate) fn is_interpreted(opcode: Opcode) -> bool {
    use Opcode::*;
    !is_unknown(opcode) && !matches!(opcode, Fma | Dfma | Dtrunc | Dceil | Dround | Dssg)
}

/// Whether `svga_tgsi_vgpu10.c` has a case for an opcode.
pub(crate) fn is_of_vgpu10(opcode: Opcode) -> bool {
    use Opcode::*;
    !is_unknown(opcode)
        && !has_wide_integers(opcode)
        && (!opcode.info().is_sample_family || opcode == Sample)
        && !matches!(opcode, Arr | DdxFine | DdyFine | Lod | Sviewinfo | Atomfadd)
        && !matches!(opcode, Pk2h | Pk2us | Pk4b | Pk4ub | Up2h | Up2us | Up4b | Up4ub)
}

/// Counts instructions, registers and blocks as the shader has them. Whatever opcode `takes` denies is not taken.
pub(crate) fn count(shader: &Shader, takes: impl Fn(Opcode) -> bool, usage: &mut Usage) {
    let registers = RegisterCount::new(shader, Numbering::default());
    for instruction in &shader.instructions {
        usage.add(Resource::Instructions, 1, instruction.span);
        if !takes(instruction.opcode) {
            usage.not_taken(instruction.span, instruction.opcode.name());
        }
        registers.instruction(instruction, usage);
    }
    registers.declarations(shader, usage);
    count_nesting(shader, usage);
}
