//! Interprets text as virgl's client writes it and its hosts understand it, where that differs from TGSI.
//!
//! ```text
//! DADD TEMP[4].zw, TEMP[8], TEMP[9]         =>     DADD TEMP[4].zw, TEMP[8].xyxy, TEMP[9].xyxy    (they read x and y)
//!
//! MOV TEMP[ADDR[1].x][29].x, a              =>     MOV TEMP[29].x, a
//! MOV OUT[0], TEMP[29]                             MOV OUT[ADDR[1].x][0], TEMP[29]
//! ```
//!
//! ```text
//! ATOMUADD a, HWATOMIC[0][1], IMM[0].yyyy (4), b     =>     ATOMUADD a, HWATOMIC[0][1], IMM[0].xxxx (0), b
//! ```
//!
//! Counters are selected by their registers alone: the next operand repeats the register's offset in bytes. They are
//! unsigned: `ATOMIMIN` and `ATOMIMAX` on them, as clients write, are `ATOMUMIN` and `ATOMUMAX`.
//!
//! The second defect occurs in tessellation control shaders that collect an output in a temporary: the vertex index
//! stays with the temporary that replaces the output, and the stored output lacks it.

use std::collections::BTreeMap;

use tgsi::shader::{Dimension, Immediate, Instruction, Register, Shader, Src};
use tgsi::tables::{File, ImmediateType, Opcode, OperandType, Processor};

use crate::consumers::options::Dialect;

/// Converts the instructions of a parsed shader from their meaning in a dialect to TGSI's. Must be called before the
/// shader is checked.
pub fn read_dialect(shader: &mut Shader, dialect: Dialect) {
    if dialect == Dialect::Mesa {
        return;
    }
    let mut changed = false;
    for instruction in &mut shader.instructions {
        changed |= doubles(instruction);
    }
    if shader.processor == Processor::TessControl {
        changed |= vertices(shader);
    }
    changed |= counters(shader);
    if changed {
        shader.forget_encoding();
    }
}

/// Converts operands of opcodes with doubles. For a single result, x and y are read; for two, the syntax is unused by
/// clients, and TGSI's meaning is kept. A swizzle applies to all results.
fn doubles(instruction: &mut Instruction) -> bool {
    let info = instruction.opcode.info();
    let widens = matches!(instruction.opcode, Opcode::F2d | Opcode::I2d | Opcode::U2d);
    let mask = instruction.dst.first().map_or(0, |d| d.write_mask);
    let is_one =
        if info.dst_type == OperandType::Double { matches!(mask, 0b0011 | 0b1100) } else { mask.count_ones() == 1 };
    if !is_one {
        return false;
    }
    let before = instruction.src.clone();
    for (number, src) in instruction.src.iter_mut().enumerate() {
        if info.src_types.get(number) == Some(&OperandType::Double) {
            if src.swizzle == [0, 1, 2, 3] {
                src.swizzle = [0, 1, 0, 1];
            }
        } else if widens {
            src.swizzle = [src.swizzle[0]; 4];
        }
    }
    before != instruction.src
}

/// Removes offsets added to the counter of a register, and signed operations on counters.
fn counters(shader: &mut Shader) -> bool {
    let is_counter =
        |i: &Instruction| i.src.first().is_some_and(|s| s.register.file == File::HwAtomic) && i.src.len() > 1;
    if !shader.instructions.iter().any(is_counter) {
        return false;
    }
    let zeros = shader.immediates.iter().enumerate().find_map(|(number, immediate)| {
        let component = immediate.words.iter().position(|&word| word == 0)?;
        Some((number, component as u8))
    });
    let (number, component) = zeros.unwrap_or_else(|| {
        shader.push_immediate(Immediate::new(ImmediateType::Uint32, [0; 4]));
        (shader.immediates.len() - 1, 0)
    });
    for instruction in shader.instructions.iter_mut().filter(|i| is_counter(i)) {
        instruction.opcode = match instruction.opcode {
            Opcode::Atomimin => Opcode::Atomumin,
            Opcode::Atomimax => Opcode::Atomumax,
            other => other,
        };
        let span = instruction.src[1].span;
        let zero = Src::new(Register::new(File::Immediate, number as i32)).swizzled([component; 4]);
        instruction.src[1] = Src { span, ..zero };
    }
    true
}

/// Moves vertex indices from temporaries back to the outputs that these are stored to.
fn vertices(shader: &mut Shader) -> bool {
    let by_vertex = |register: i32| {
        let holds = |r: u16, first: u16, last: u16| (first..=last).contains(&r);
        u16::try_from(register).is_ok_and(|r| {
            let declaration = shader.declarations.iter().find(|d| d.file == File::Output && holds(r, d.first, d.last));
            declaration.and_then(|d| d.semantic).is_some_and(|s| !s.name.is_patch())
        })
    };
    let mut names: BTreeMap<i32, Dimension> = BTreeMap::new();
    let mut changed = false;
    for instruction in &mut shader.instructions {
        let Instruction { opcode, dst, src, .. } = instruction;
        let from = src.first().map(|s| s.register);
        for src in src.iter_mut().filter(|s| s.register.file == File::Temporary) {
            changed |= src.register.dimension.take().is_some();
        }
        for dst in dst.iter_mut() {
            let register = &mut dst.register;
            match register.file {
                File::Temporary => {
                    if let Some(dimension) = register.dimension.take() {
                        names.insert(register.index, dimension);
                        changed = true;
                    }
                }
                File::Output if *opcode == Opcode::Mov && register.dimension.is_none() && by_vertex(register.index) => {
                    let stored = from.filter(|f| f.file == File::Temporary && f.indirect.is_none());
                    if let Some(&dimension) = stored.and_then(|f| names.get(&f.index)) {
                        register.dimension = Some(dimension);
                        changed = true;
                    }
                }
                _ => {}
            }
        }
    }
    changed
}
