//! Spells a module so that naga says the same in every language.
//!
//! | module | spelt | because naga |
//! |---|---|---|
//! | `OpFMul` that is `NoContraction` | `Fma(a, b, -0)` | drops the decoration; a product by `fma` is not part of a sum |
//! | `OpSNegate` of unsigned integers | `0 - a` | refuses it |
//! | `OpLogicalOr`, `OpLogicalAnd` of vectors | `OpSelect` | knows them of scalars only |
//!
//! `fma(a, b, -0)` is the product, rounded once, with the sign that it has, whether a device fuses it or not.

use std::collections::{HashMap, HashSet};

use spirv::{Decoration, GlslStd450Op, Op};

/// An instruction: its opcode and its operands.
#[derive(Clone, Debug)]
struct Instruction {
    opcode: u32,
    operands: Vec<u32>,
}

impl Instruction {
    fn new(op: Op, operands: &[u32]) -> Instruction {
        Instruction { opcode: op as u32, operands: operands.to_vec() }
    }

    fn is(&self, op: Op) -> bool {
        self.opcode == op as u32
    }
}

/// What is known of the module.
#[derive(Debug, Default)]
struct Known {
    bound: u32,
    /// Types by id: opcode and operands behind the id.
    types: HashMap<u32, (u32, Vec<u32>)>,
    exact: HashSet<u32>,
    glsl: Option<u32>,
    /// Constants that are added before the function.
    added: Vec<Instruction>,
    constants: HashMap<(u32, u32), u32>,
}

impl Known {
    fn id(&mut self) -> u32 {
        let id = self.bound;
        self.bound += 1;
        id
    }

    fn is_type(&self, id: u32, op: Op) -> bool {
        self.types.get(&id).is_some_and(|(opcode, _)| *opcode == op as u32)
    }

    /// Type of a component, and the number of components.
    fn scalar(&self, ty: u32) -> (u32, u32) {
        match self.types.get(&ty) {
            Some((opcode, operands)) if *opcode == Op::TypeVector as u32 && operands.len() == 2 => {
                (operands[0], operands[1])
            }
            _ => (ty, 1),
        }
    }

    /// A constant of the bits in every component. Booleans are true or false.
    fn constant(&mut self, ty: u32, bits: u32) -> u32 {
        if let Some(&id) = self.constants.get(&(ty, bits)) {
            return id;
        }
        let (scalar, count) = self.scalar(ty);
        let id = if count > 1 {
            let part = self.constant(scalar, bits);
            let id = self.id();
            let mut operands = vec![ty, id];
            operands.extend((0..count).map(|_| part));
            self.added.push(Instruction::new(Op::ConstantComposite, &operands));
            id
        } else {
            let id = self.id();
            let instruction = match (self.is_type(scalar, Op::TypeBool), bits) {
                (true, 0) => Instruction::new(Op::ConstantFalse, &[scalar, id]),
                (true, _) => Instruction::new(Op::ConstantTrue, &[scalar, id]),
                (false, _) => Instruction::new(Op::Constant, &[scalar, id, bits]),
            };
            self.added.push(instruction);
            id
        };
        self.constants.insert((ty, bits), id);
        id
    }

    fn is_boolean_vector(&self, ty: u32) -> bool {
        let (scalar, count) = self.scalar(ty);
        count > 1 && self.is_type(scalar, Op::TypeBool)
    }

    fn is_unsigned(&self, ty: u32) -> bool {
        let (scalar, _) = self.scalar(ty);
        self.types
            .get(&scalar)
            .is_some_and(|(opcode, operands)| *opcode == Op::TypeInt as u32 && operands.get(1) == Some(&0))
    }

    /// An instruction as naga takes it. `fuses`: products may be part of sums.
    fn spell(&mut self, instruction: Instruction, fuses: bool, out: &mut Vec<Instruction>) {
        let Instruction { opcode, operands } = &instruction;
        let (Some(&ty), Some(&id)) = (operands.first(), operands.get(1)) else { return out.push(instruction) };
        let is = |op: Op| *opcode == op as u32;
        match *operands.as_slice() {
            [_, _, a, b] if is(Op::FMul) && !fuses && self.exact.contains(&id) => {
                let Some(set) = self.glsl else { return out.push(instruction) };
                let zero = self.constant(ty, 0x8000_0000);
                let fma = [ty, id, set, GlslStd450Op::Fma as u32, a, b, zero];
                out.push(Instruction::new(Op::ExtInst, &fma));
            }
            [_, _, a] if is(Op::SNegate) && self.is_unsigned(ty) => {
                let zero = self.constant(ty, 0);
                out.push(Instruction::new(Op::ISub, &[ty, id, zero, a]));
            }
            [_, _, a, b] if is(Op::LogicalOr) && self.is_boolean_vector(ty) => {
                let all = self.constant(ty, 1);
                out.push(Instruction::new(Op::Select, &[ty, id, a, all, b]));
            }
            [_, _, a, b] if is(Op::LogicalAnd) && self.is_boolean_vector(ty) => {
                let none = self.constant(ty, 0);
                out.push(Instruction::new(Op::Select, &[ty, id, a, b, none]));
            }
            _ => out.push(instruction),
        }
    }
}

/// The words of a module, spelt. `fuses`: products may be part of sums.
pub fn spell(module: &[u8], fuses: bool) -> Vec<u32> {
    let words: Vec<u32> =
        module.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let mut instructions = Vec::new();
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let length = (first >> 16).max(1) as usize;
        let operands = words.get(at + 1..at + length).unwrap_or_default().to_vec();
        instructions.push(Instruction { opcode: first & 0xffff, operands });
        at += length;
    }
    let mut known = Known { bound: words.get(3).copied().unwrap_or(1), ..Known::default() };
    for instruction in &instructions {
        let operands = &instruction.operands;
        match operands.as_slice() {
            [id, rest @ ..] if (Op::TypeVoid as u32..=Op::TypePointer as u32).contains(&instruction.opcode) => {
                known.types.insert(*id, (instruction.opcode, rest.to_vec()));
            }
            [id, decoration, ..] if instruction.is(Op::Decorate) && *decoration == Decoration::NoContraction as u32 => {
                known.exact.insert(*id);
            }
            [id, ..] if instruction.is(Op::ExtInstImport) => known.glsl = Some(*id),
            _ => {}
        }
    }
    let imports = known.glsl.is_none() && !known.exact.is_empty();
    if imports {
        known.glsl = Some(known.id());
    }
    let mut spelt = Vec::with_capacity(instructions.len());
    let mut function = None;
    for instruction in instructions {
        if imports && instruction.is(Op::MemoryModel) {
            let mut operands = vec![known.glsl.unwrap_or_default()];
            operands
                .extend(b"GLSL.std.450\0\0\0\0".chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
            spelt.push(Instruction::new(Op::ExtInstImport, &operands));
        }
        if instruction.is(Op::Function) && function.is_none() {
            function = Some(spelt.len());
        }
        if function.is_some() {
            known.spell(instruction, fuses, &mut spelt);
        } else {
            let is_exact = instruction.is(Op::Decorate)
                && instruction.operands.get(1) == Some(&(Decoration::NoContraction as u32));
            if !is_exact {
                spelt.push(instruction);
            }
        }
    }
    let function = function.unwrap_or(spelt.len());
    spelt.splice(function..function, std::mem::take(&mut known.added));
    let mut out = words.get(..5).unwrap_or_default().to_vec();
    if let Some(bound) = out.get_mut(3) {
        *bound = known.bound;
    }
    for Instruction { opcode, operands } in spelt {
        out.push(((operands.len() as u32 + 1) << 16) | opcode);
        out.extend(operands);
    }
    out
}
