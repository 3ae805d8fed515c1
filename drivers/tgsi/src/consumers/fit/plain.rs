//! Consumers that use TGSI one to one: Mesa's interpreter, virgl hosts, and VGPU10 (with a translation that adds few
//! instructions).

use tgsi::Shader;
use tgsi::tables::Opcode;

use super::registers::{Numbering, RegisterCount, count_nesting};
use super::usage::{Resource, Usage};
use crate::consumers::opcodes::has_wide_integers;

/// Whether no consumer has an opcode: neither `tgsi_exec.c` nor `svga_tgsi_vgpu10.c` implements it. Most were added
/// late; no front end ever emitted `SAMPLE_POS` and `SAMPLE_INFO`.
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

/// Counts the instructions, registers and blocks of the shader. Reports opcodes that `takes` rejects.
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
