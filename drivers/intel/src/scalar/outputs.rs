//! The end of a fragment program: messages to render targets.

use super::emit::{Emitter, LIVE, dword, flag_word, lanes, word};
use super::layout::TargetWrite;
use crate::isa::{
    AccessMode, Chip, Destination, HorizontalStride, Immediate, Instruction, Opcode, Operand, Predicate, Region,
    Register, SharedFunction, Type, VerticalStride, Width, descriptor,
};

/// The kind of a message that writes to a render target.
const WRITE: u32 = 12 << 14;
/// One colour for eight lanes.
const SINGLE_COLOUR: u32 = 4 << 8;
/// Two colours for eight lanes.
const TWO_COLOURS: u32 = 2 << 8;
/// The last render target.
const LAST: u32 = 1 << 12;

/// A copy of eight words for all lanes.
pub(super) fn copy_register(to: u8, from: u8) -> Instruction {
    let (to, from) = (Destination::general(to, Type::Ud), Operand::linear(from, Type::Ud));
    lanes(Opcode::Mov, to, [from.into()]).with_no_mask()
}

impl Emitter<'_> {
    pub(super) fn write_targets(&mut self) {
        if self.interface.kills {
            self.push(self.halt());
        }
        let writes = self.operands.layout.writes.clone();
        for (number, write) in writes.iter().enumerate() {
            self.write_target(write, number == 0, number + 1 == writes.len());
        }
    }

    fn write_target(&mut self, write: &TargetWrite, is_first: bool, is_last: bool) {
        if write.has_header {
            self.push(copy_register(write.first, 0));
            self.push(copy_register(write.first + 1, 1));
            if write.target != 0 {
                let target = Immediate::Ud(write.target.into());
                self.push(word(Opcode::Mov, dword(write.first, 2, Type::Ud), [target.into()]));
            }
            if self.interface.kills {
                let live = Operand::new(flag_word(LIVE), Type::Uw, Region::SCALAR);
                let to = Destination::new(Register::general(write.first + 1).at(28), Type::Uw);
                self.push(word(Opcode::Mov, to, [live.into()]));
            }
        }
        if let (true, Some(mask)) = (write.has_mask, self.operands.layout.sample_mask) {
            // The lower words.
            let region = Region::align1(VerticalStride::S16, Width::W8, HorizontalStride::S2);
            let words = Operand::new(Register::general(mask), Type::Uw, region);
            let to = Destination::general(write.mask(), Type::Uw);
            self.push(lanes(Opcode::Mov, to, [words.into()]).with_no_mask());
        }
        if write.has_depth && !is_first {
            let first = self.operands.layout.writes.first().map_or(write.depth(), TargetWrite::depth);
            self.push(copy_register(write.depth(), first));
        }
        let last = if is_last { LAST } else { 0 };
        let colours = if write.has_second { TWO_COLOURS } else { SINGLE_COLOUR };
        let bits = u32::from(write.target) | colours | last | WRITE;
        let bits = descriptor(bits, write.has_header, 0, write.length().into());
        let payload = Operand::linear(write.first, Type::F);
        let to = Destination::null(Type::Uw);
        let mut send = Instruction::send(SharedFunction::RenderCache, bits, AccessMode::Align1, to, payload);
        send.opcode = Opcode::Sendc;
        if self.interface.kills && self.chip == Chip::Gen75 {
            send = send.with_predicate(Predicate::NORMAL).with_flag(LIVE);
        }
        self.push(if is_last { send.with_end_of_thread() } else { send });
    }
}
