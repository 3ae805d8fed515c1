//! Instructions that do the same to values of their own are put into one, their values into one temporary.
//!
//! ```text
//! UADD TEMP[4].x, CONST[0][0].xxxx, IMM[0].xxxx        UADD TEMP[4].xy, CONST[0][0].xxxx, IMM[0].xyxx
//! I2F TEMP[5].x, TEMP[4].xxxx                    =>    I2F TEMP[5].xy, TEMP[4].xyxx
//! UADD TEMP[6].x, CONST[0][0].xxxx, IMM[0].yyyy        ... TEMP[4].yyyy for TEMP[6].xxxx, TEMP[5].yyyy for TEMP[7].xxxx
//! I2F TEMP[7].x, TEMP[6].xxxx
//! ```
//!
//! Only temporaries that one instruction writes take part, and whose components may stand anywhere. Operands must be the same registers (or constants),
//! so that what is put together are components of vectors that something took apart. The later instruction moves up to the earlier one.

use std::collections::HashMap;

use arrayvec::ArrayVec;
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use super::Program;
use super::allocate::{Freedom, freedoms};
use super::flow::{Numbering, blocks};
use super::merge::{merged, with_new_rows};
use super::operands::{is_componentwise, written};
use super::tracker::Tracker;

/// How far an instruction may move.
const WINDOW: usize = 48;

/// An opcode with its operands, up to swizzles and the words of immediates.
#[derive(PartialEq, Eq, Hash)]
struct Operation {
    opcode: Opcode,
    flags: [bool; 2],
    operands: ArrayVec<Operand, 5>,
}

#[derive(PartialEq, Eq, Hash)]
enum Operand {
    Immediate,
    Other(Register, [bool; 2]),
}

impl Operation {
    fn of(instruction: &Instruction) -> Operation {
        let operand = |src: &Src| match src.register.file {
            File::Immediate => Operand::Immediate,
            _ => Operand::Other(src.register, [src.absolute, src.negate]),
        };
        Operation {
            opcode: instruction.opcode,
            flags: [instruction.saturate, instruction.precise],
            operands: instruction.src.iter().map(operand).collect(),
        }
    }
}

/// Where the components of a temporary have gone.
type Renames = Vec<Option<(i32, [u8; 4])>>;

/// Puts instructions together. Returns whether anything changed.
pub(crate) fn vectorize(program: &mut Program) -> bool {
    let numbering = Numbering::of(program);
    let freedom = freedoms(program, numbering);
    let mut writers = vec![0u32; numbering.len()];
    for instruction in &program.instructions {
        if let Some((file, index, _)) = written(instruction)
            && let Some(register) = numbering.number(file, index)
        {
            writers[register] += 1;
        }
    }
    let own = |instruction: &Instruction| {
        let (file, index, mask) = written(instruction)?;
        let temp = numbering.number(file, index).filter(|&t| t < numbering.temps())?;
        (writers[temp] == 1 && freedom[temp] == Freedom::Any && is_componentwise(instruction.opcode))
            .then_some((temp, mask))
    };
    let mut renames: Renames = vec![None; numbering.temps()];
    let mut dead = vec![false; program.instructions.len()];
    let mut changed = false;
    let mut tracker = Tracker::new(program);
    // The last place with an operation on certain operands, and for each place the one before.
    let mut last: HashMap<Operation, usize> = HashMap::new();
    let mut before = vec![None; program.instructions.len()];
    for block in blocks(&program.instructions) {
        last.clear();
        for place in block.start..block.end {
            rename(&mut program.instructions[place], numbering, &renames);
            let Some((temp, mask)) = own(&program.instructions[place]) else {
                tracker.record(&program.instructions[place], place);
                continue;
            };
            let operation = Operation::of(&program.instructions[place]);
            let limit = tracker.limit(&program.instructions[place]).max(place.saturating_sub(WINDOW));
            let mut candidate = last.get(&operation).copied();
            while let Some(earlier) = candidate.filter(|&c| c >= limit) {
                candidate = before[earlier];
                let (a, b) = (&program.instructions[earlier], &program.instructions[place]);
                let Some((into, taken)) = own(a) else { continue };
                if into == temp || taken.count_ones() + mask.count_ones() > 4 {
                    continue;
                }
                let (moved, places) = moved_to(b, a.dst[0].register, taken, mask);
                let Some(both) = merged(&program.immediates, a, &moved) else { continue };
                let both = with_new_rows(&mut program.immediates, both);
                tracker.record(&moved, earlier);
                renames[temp] = Some((both.dst[0].register.index, places));
                program.instructions[earlier] = both;
                dead[place] = true;
                changed = true;
                break;
            }
            if !dead[place] {
                tracker.record(&program.instructions[place], place);
                before[place] = last.insert(operation, place);
            }
        }
    }
    if changed {
        // Readers that stand before, in loops.
        for instruction in &mut program.instructions {
            rename(instruction, numbering, &renames);
        }
        program.remove(&dead);
    }
    changed
}

/// An instruction with its result in free components of another temporary, and where each component went.
fn moved_to(instruction: &Instruction, register: Register, taken: u8, mask: u8) -> (Instruction, [u8; 4]) {
    let mut places = [0u8; 4];
    let mut from = [0u8; 4];
    let mut new_mask = 0u8;
    let mut free = (0..4u8).filter(|c| taken & 1 << c == 0);
    for c in (0..4u8).filter(|c| mask & 1 << c != 0) {
        if let Some(place) = free.next() {
            places[usize::from(c)] = place;
            from[usize::from(place)] = c;
            new_mask |= 1 << place;
        }
    }
    let mut moved = instruction.clone();
    super::operands::permute(&mut moved, new_mask, from);
    moved.dst[0].register = register;
    (moved, places)
}

fn rename(instruction: &mut Instruction, numbering: Numbering, renames: &Renames) {
    let new = |file: File, index: i32| {
        let temp = numbering.number(file, index).filter(|_| file == File::Temporary)?;
        renames.get(temp).copied().flatten()
    };
    for src in &mut instruction.src {
        if src.register.indirect.is_none()
            && let Some((index, places)) = new(src.register.file, src.register.index)
        {
            src.register.index = index;
            src.swizzle = src.swizzle.map(|c| places[usize::from(c & 3)]);
        }
    }
    for offset in instruction.texture.iter_mut().flat_map(|t| &mut t.offsets) {
        if let Some((index, places)) = new(offset.file, offset.index) {
            offset.index = index;
            offset.swizzle = offset.swizzle.map(|c| places[usize::from(c & 3)]);
        }
    }
}
