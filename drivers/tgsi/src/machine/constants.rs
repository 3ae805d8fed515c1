//! Copies of immediates.

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_vec4::HoistConstants;

use super::operands::immediate_words;
use super::{Immediates, Tgsi};

impl HoistConstants for Tgsi {
    #[inline]
    fn constant_copy(&self, immediates: &Immediates, copy: &Instruction) -> Option<[u32; 4]> {
        if copy.saturate {
            return None;
        }
        immediate_words(immediates, copy.src.first()?)
    }

    fn new_constant_copy(&self, immediates: &mut Immediates, temp: u32, mask: u8, words: [u32; 4]) -> Instruction {
        let row = Register::new(File::Immediate, immediates.intern(words));
        let mut copy = Instruction::new(Opcode::Mov);
        copy.dst.push(Dst::new(Register::new(File::Temporary, temp as i32)).masked(mask));
        copy.src.push(Src::new(row));
        copy
    }
}
