//! Copies an operand with an unsupported swizzle once, where the target would copy it for each instruction.
//!
//! ```text
//!                                               MAX TEMP[2].xyz, IN[0].yzwy, IN[0].yzwy
//! DP3 TEMP[0].x, IN[0].yzwy, IN[0].yzwy         DP3 TEMP[0].x, TEMP[2], TEMP[2]
//! MUL TEMP[1].xyz, IN[0].yzwy, TEMP[0].xxxx =>  MUL TEMP[1].xyz, TEMP[2], TEMP[0].xxxx
//! ```
//!
//! Mesa's r300 splits operations and inserts copies where R300 does not support a swizzle. It would first propagate a
//! `MOV` into its uses, but not the maximum of a value and itself. Copies inputs and constants, and components of
//! temporaries with a single write.

use arrayvec::ArrayVec;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_vec4::blocks::block_from;
use tgsi_vec4::{AccessCounts, Traits};

use crate::consumers::fit::r300::{copies_of_swizzle, is_in_place};
use crate::machine::{Program, RegisterAccess, virtual_temp};

/// The maximum number of different operands considered in a block.
const MAX_OPERANDS: usize = 64;

/// Components of a register in some order.
struct Operand {
    register: Register,
    swizzle: [u8; 4],
    /// The channels for which the swizzle is known.
    channels: u8,
    /// The number of instructions saved.
    gain: u32,
    /// The uses: instruction and source.
    uses: Vec<(usize, usize)>,
}

impl Operand {
    /// Whether another operand can read the same copy.
    fn fits(&self, register: &Register, swizzle: [u8; 4], channels: u8) -> bool {
        let common = self.channels & channels;
        self.register == *register && (0..4).all(|c| common >> c & 1 == 0 || self.swizzle[c] == swizzle[c])
    }

    fn copy(&self, temp: u32) -> Instruction {
        let src = Src { swizzle: self.swizzle, ..Src::new(self.register) };
        let dst = Dst::new(Register::new(File::Temporary, temp as i32)).masked(self.channels);
        Instruction::with_operands(Opcode::Max, dst, &[src, src])
    }
}

/// Shares copies. Returns whether anything changed.
pub(crate) fn share_swizzles(program: &mut Program) -> bool {
    let writes = writes(program);
    let mut copies: Vec<(usize, Instruction)> = Vec::new();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        let mut operands: Vec<Operand> = Vec::new();
        for index in block {
            note(program, &writes, index, &mut operands);
        }
        for operand in operands {
            let src = Src { swizzle: operand.swizzle, ..Src::new(operand.register) };
            if operand.gain <= copies_of_swizzle(&src, operand.channels).max(1) {
                continue;
            }
            let temp = program.new_temp();
            copies.push((operand.uses[0].0, operand.copy(temp)));
            for &(index, source) in &operand.uses {
                program.edit(index, |instruction| {
                    let src = &mut instruction.src[source];
                    src.register = Register::new(File::Temporary, temp as i32);
                    src.swizzle = [0, 1, 2, 3];
                });
            }
        }
    }
    if copies.is_empty() {
        return false;
    }
    program.remove_and_insert(&[], copies);
    true
}

/// The writes of the components of each virtual temporary.
fn writes(program: &Program) -> Vec<AccessCounts> {
    let mut writes = vec![AccessCounts::default(); program.temps()];
    for written in program.accesses().iter().filter_map(|access| access.written()) {
        if let Some(temp) = written.temp() {
            writes[temp].add(written.mask());
        }
    }
    writes
}

/// Whether components of a register hold a single value wherever they are read.
fn is_value(program: &Program, writes: &[AccessCounts], register: &Register, components: u8) -> bool {
    if register.indirect.is_some() || register.dimension.is_some_and(|d| d.indirect.is_some()) {
        return false;
    }
    match register.file {
        File::Input | File::Constant => true,
        File::Temporary => virtual_temp(File::Temporary, register.index, program.first_temp())
            .and_then(|temp| writes.get(temp))
            .is_some_and(|writes| writes.are_one(components)),
        _ => false,
    }
}

/// The number of instructions that an operand costs besides its user.
fn cost(access: &RegisterAccess, src: &Src, channels: u8) -> u32 {
    let copies = copies_of_swizzle(src, channels);
    if access.opcode.info().is_tex {
        return if is_in_place(src, channels) { 0 } else { copies.max(1) };
    }
    // Componentwise operations are split instead.
    if access.traits.any(Traits::COMPONENTWISE) { copies.saturating_sub(1) } else { copies }
}

/// Records the operands of an instruction that would be copied.
fn note(program: &Program, writes: &[AccessCounts], index: usize, operands: &mut Vec<Operand>) {
    let (access, instruction) = (&program.accesses()[index], &program.instructions()[index]);
    let is_tex = access.opcode.info().is_tex;
    let costs: ArrayVec<(usize, u32), 4> = (0..instruction.src.len().min(if is_tex { 1 } else { 4 }))
        .map(|source| (source, cost(access, &instruction.src[source], access.channels(source))))
        .filter(|&(_, cost)| cost > 0)
        .collect();
    // Splitting because of one operand serves another one, too.
    if access.traits.any(Traits::COMPONENTWISE) && costs.len() > 1 {
        return;
    }
    for (source, cost) in costs {
        let (src, channels) = (&instruction.src[source], access.channels(source));
        if !is_value(program, writes, &src.register, access.mask(source)) {
            continue;
        }
        let known = operands.iter_mut().find(|known| known.fits(&src.register, src.swizzle, channels));
        let Some(operand) = known else {
            if operands.len() < MAX_OPERANDS {
                let (register, swizzle, uses) = (src.register, src.swizzle, vec![(index, source)]);
                operands.push(Operand { register, swizzle, channels, gain: cost, uses });
            }
            continue;
        };
        for c in (0..4).filter(|c| channels >> c & 1 != 0) {
            operand.swizzle[c] = src.swizzle[c];
        }
        operand.channels |= channels;
        operand.gain += cost;
        operand.uses.push((index, source));
    }
}
