//! Conditions with a known value that readers do not know, or not at once.

use spirv::{Decoration, Op, StorageClass};

use crate::editor::Editor;
use crate::module::Inst;

/// A value, and the instructions that compute it.
#[derive(Debug)]
pub struct Computed {
    /// Instructions.
    pub insts: Vec<Inst>,
    /// The value.
    pub id: u32,
}

impl Editor {
    /// Returns a condition that is `value`. It may use integers that are defined in the block.
    pub fn condition(&mut self, value: bool, function: usize, block: usize) -> Computed {
        let ty = self.bool_type();
        match self.random.below(7) {
            0 => Computed { insts: Vec::new(), id: self.bool_constant(value) },
            1 => Computed { insts: Vec::new(), id: self.spec_constant(value) },
            2 => {
                let initial = self.bool_constant(value);
                let variable = self.private_variable(ty, initial);
                self.loaded(ty, variable)
            }
            3 => {
                let initial = self.bool_constant(!value);
                let Some(variable) = self.local_variable(function, ty, Some(initial)) else {
                    return Computed { insts: Vec::new(), id: self.bool_constant(value) };
                };
                let mut loaded = self.loaded(ty, variable);
                let id = self.fresh();
                loaded.insts.push(Inst::new(Op::LogicalNot, [ty, id, loaded.id]));
                Computed { insts: loaded.insts, id }
            }
            kind => self.comparison(value, kind, function, block),
        }
    }

    fn loaded(&mut self, ty: u32, variable: u32) -> Computed {
        let id = self.fresh();
        Computed { insts: vec![Inst::new(Op::Load, [ty, id, variable])], id }
    }

    fn spec_constant(&mut self, value: bool) -> u32 {
        let ty = self.bool_type();
        let id = self.fresh();
        let op = if value { Op::SpecConstantTrue } else { Op::SpecConstantFalse };
        self.module.add_global(Inst::new(op, [ty, id]));
        if self.random.one_in(2) {
            let number = 1_000_000 + id;
            self.decorate(id, Decoration::SpecId, Some(number));
        }
        id
    }

    /// A comparison of an integer with itself.
    fn comparison(&mut self, value: bool, kind: usize, function: usize, block: usize) -> Computed {
        let bool_type = self.bool_type();
        let mut integers = Vec::new();
        for inst in &self.module.functions[function].blocks[block].body {
            if let (Some(ty), Some(id)) = (inst.ty(), inst.result())
                && inst.op != Op::Undef
                && self.module.global(ty).is_some_and(|ty| ty.op == Op::TypeInt)
            {
                integers.push((ty, id));
            }
        }
        let mut insts = Vec::new();
        let (ty, operand) = match self.random.choose(&integers) {
            Some(found) => found,
            None => {
                let ty = self.int_type(true);
                let initial = self.random.bits() as u32;
                let initial = self.int_constant(ty, initial);
                let variable = self.private_variable(ty, initial);
                let loaded = self.loaded(ty, variable);
                insts = loaded.insts;
                (ty, loaded.id)
            }
        };
        let (left, op) = match kind {
            4 => (operand, if value { Op::IEqual } else { Op::INotEqual }),
            5 => (operand, if value { Op::UGreaterThanEqual } else { Op::SLessThan }),
            _ => {
                // x & x == x.
                let id = self.fresh();
                insts.push(Inst::new(Op::BitwiseAnd, [ty, id, operand, operand]));
                (id, if value { Op::IEqual } else { Op::INotEqual })
            }
        };
        let id = self.fresh();
        insts.push(Inst::new(op, [bool_type, id, left, operand]));
        Computed { insts, id }
    }

    /// Returns an integer of 32 bits with a known value.
    pub fn selector(&mut self, value: u32, function: usize) -> Computed {
        let is_signed = self.random.one_in(2);
        let ty = self.int_type(is_signed);
        let constant = self.int_constant(ty, value);
        match self.random.below(4) {
            0 => Computed { insts: Vec::new(), id: constant },
            1 => {
                let id = self.fresh();
                self.module.add_global(Inst::new(Op::SpecConstant, [ty, id, value]));
                Computed { insts: Vec::new(), id }
            }
            2 => {
                let variable = self.private_variable(ty, constant);
                self.loaded(ty, variable)
            }
            _ => match self.local_variable(function, ty, None) {
                Some(variable) => {
                    let mut loaded = self.loaded(ty, variable);
                    loaded.insts.insert(0, Inst::new(Op::Store, [variable, constant]));
                    loaded
                }
                None => Computed { insts: Vec::new(), id: constant },
            },
        }
    }

    /// Returns whether a pointer is to memory of the invocation: function or private variables.
    pub fn is_own_memory(&self, pointer_type: u32) -> bool {
        self.module.global(pointer_type).is_some_and(|inst| {
            inst.op == Op::TypePointer
                && [StorageClass::Function as u32, StorageClass::Private as u32].contains(&inst.words[1])
        })
    }
}
