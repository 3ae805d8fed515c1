//! What transformations share: a module with random choices, types and constants.

use rustc_hash::FxHashMap;
use spirv::{Decoration, Op, StorageClass};

use crate::module::{Inst, Module};
use crate::random::Random;

/// Deepest nesting of types that is followed.
const DEPTH: usize = 64;

/// A module in change.
#[derive(Debug)]
pub struct Editor {
    /// The module.
    pub module: Module,
    /// Choices.
    pub random: Random,
}

/// How a value of a type can be handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeClass {
    /// Numbers and booleans: scalars and vectors.
    Vector,
    /// Matrices, arrays, structs without layout.
    Composite,
    /// The same with offsets or strides, which variables of functions must not have.
    LaidOut,
    /// Pointers.
    Pointer,
    /// Images, samplers, and all others.
    Other,
}

impl TypeClass {
    /// Whether it consists of numbers and booleans.
    pub fn is_data(self) -> bool {
        matches!(self, TypeClass::Vector | TypeClass::Composite | TypeClass::LaidOut)
    }
}

impl Editor {
    /// Returns a new id.
    pub fn fresh(&mut self) -> u32 {
        self.module.fresh()
    }

    /// Returns a type or constant with these words behind its result, which is added if missing.
    pub fn find_or_add(&mut self, op: Op, ty: Option<u32>, operands: &[u32]) -> u32 {
        let before = usize::from(ty.is_some());
        let is_same = |inst: &&Inst| {
            inst.op == op && inst.words.get(before + 1..) == Some(operands) && ty.is_none_or(|ty| inst.words[0] == ty)
        };
        let found = self.module.globals.iter().filter(is_same).map(|inst| inst.words[before]);
        let found: Vec<u32> = found.filter(|&id| !self.is_decorated(id)).collect();
        if let Some(&id) = found.first() {
            return id;
        }
        let id = self.fresh();
        let words: Vec<u32> = ty.into_iter().chain([id]).chain(operands.iter().copied()).collect();
        self.module.add_global(Inst::new(op, words));
        id
    }

    /// Whether an id has decorations that change its meaning.
    pub fn is_decorated(&self, id: u32) -> bool {
        self.module.preamble.iter().any(|inst| {
            matches!(inst.op, Op::Decorate | Op::MemberDecorate | Op::DecorateId | Op::GroupDecorate)
                && (inst.words.first() == Some(&id) || inst.op == Op::GroupDecorate && inst.words.contains(&id))
                && inst.words.get(1) != Some(&(Decoration::RelaxedPrecision as u32))
        })
    }

    /// Returns the type of booleans.
    pub fn bool_type(&mut self) -> u32 {
        self.find_or_add(Op::TypeBool, None, &[])
    }

    /// Returns the type of 32-bit integers.
    pub fn int_type(&mut self, is_signed: bool) -> u32 {
        self.find_or_add(Op::TypeInt, None, &[32, u32::from(is_signed)])
    }

    /// Returns a vector type.
    pub fn vector_type(&mut self, component: u32, count: u32) -> u32 {
        self.find_or_add(Op::TypeVector, None, &[component, count])
    }

    /// Returns a pointer type.
    pub fn pointer_type(&mut self, class: StorageClass, to: u32) -> u32 {
        self.find_or_add(Op::TypePointer, None, &[class as u32, to])
    }

    /// Returns a function type.
    pub fn function_type(&mut self, result: u32, parameters: &[u32]) -> u32 {
        let words: Vec<u32> = [result].into_iter().chain(parameters.iter().copied()).collect();
        self.find_or_add(Op::TypeFunction, None, &words)
    }

    /// Returns the type of functions without result.
    pub fn void_type(&mut self) -> u32 {
        self.find_or_add(Op::TypeVoid, None, &[])
    }

    /// Returns a new struct type.
    pub fn struct_type(&mut self, members: &[u32]) -> u32 {
        let id = self.fresh();
        let words: Vec<u32> = [id].into_iter().chain(members.iter().copied()).collect();
        self.module.add_global(Inst::new(Op::TypeStruct, words));
        id
    }

    /// Returns a 32-bit integer constant.
    pub fn int_constant(&mut self, ty: u32, value: u32) -> u32 {
        self.find_or_add(Op::Constant, Some(ty), &[value])
    }

    /// Returns a boolean constant.
    pub fn bool_constant(&mut self, value: bool) -> u32 {
        let ty = self.bool_type();
        self.find_or_add(if value { Op::ConstantTrue } else { Op::ConstantFalse }, Some(ty), &[])
    }

    /// Returns a constant of several constants.
    pub fn composite_constant(&mut self, ty: u32, parts: &[u32]) -> u32 {
        self.find_or_add(Op::ConstantComposite, Some(ty), parts)
    }

    /// Returns some value of a type of data.
    pub fn any_value(&mut self, ty: u32) -> u32 {
        let op = if self.random.one_in(2) { Op::Undef } else { Op::ConstantNull };
        self.find_or_add(op, Some(ty), &[])
    }

    /// Adds a decoration without operands, or with one.
    pub fn decorate(&mut self, id: u32, decoration: Decoration, operand: Option<u32>) {
        let words: Vec<u32> = [id, decoration as u32].into_iter().chain(operand).collect();
        self.module.preamble.push(Inst::new(Op::Decorate, words));
    }

    /// Adds a variable with a value, private to an invocation.
    pub fn private_variable(&mut self, ty: u32, initial: u32) -> u32 {
        let pointer = self.pointer_type(StorageClass::Private, ty);
        let id = self.fresh();
        self.module.add_global(Inst::new(Op::Variable, [pointer, id, StorageClass::Private as u32, initial]));
        // From 1.4 on, entry points list all variables.
        if self.module.version() >= 0x10400 {
            let entries = self.module.preamble.iter_mut().filter(|inst| inst.op == Op::EntryPoint);
            entries.for_each(|inst| inst.words.push(id));
        }
        id
    }

    /// Adds a variable to a function.
    pub fn local_variable(&mut self, function: usize, ty: u32, initial: Option<u32>) -> Option<u32> {
        let pointer = self.pointer_type(StorageClass::Function, ty);
        let id = self.fresh();
        let words: Vec<u32> = [pointer, id, StorageClass::Function as u32].into_iter().chain(initial).collect();
        self.module.functions[function].blocks.first_mut()?.body.insert(0, Inst::new(Op::Variable, words));
        Some(id)
    }

    /// Returns how values of a type are handled.
    pub fn class(&self, ty: u32) -> TypeClass {
        let Some(inst) = self.module.global(ty) else { return TypeClass::Other };
        match inst.op {
            Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector => TypeClass::Vector,
            Op::TypePointer => TypeClass::Pointer,
            Op::TypeMatrix | Op::TypeArray | Op::TypeStruct => self.composite_class(ty),
            _ => TypeClass::Other,
        }
    }

    fn composite_class(&self, ty: u32) -> TypeClass {
        let mut class = TypeClass::Composite;
        let mut types = vec![(ty, 0)];
        while let Some((ty, depth)) = types.pop() {
            let Some(inst) = self.module.global(ty).filter(|_| depth < DEPTH) else { return TypeClass::Other };
            match inst.op {
                Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix => {}
                Op::TypeArray => types.push((inst.words[1], depth + 1)),
                Op::TypeStruct => types.extend(inst.words[1..].iter().map(|&member| (member, depth + 1))),
                _ => return TypeClass::Other,
            }
            if matches!(inst.op, Op::TypeArray | Op::TypeStruct) && self.is_decorated(ty) {
                class = TypeClass::LaidOut;
            }
        }
        class
    }

    /// Returns the component type and count of a scalar or vector type.
    pub fn vector(&self, ty: u32) -> Option<(u32, u32)> {
        let inst = self.module.global(ty)?;
        match inst.op {
            Op::TypeVector => Some((inst.words[1], inst.words[2])),
            Op::TypeBool | Op::TypeInt | Op::TypeFloat => Some((ty, 1)),
            _ => None,
        }
    }

    /// Inserts instructions behind phis and variables, or elsewhere.
    pub fn insert(&mut self, function: usize, block: usize, at: usize, insts: Vec<Inst>) {
        self.module.functions[function].blocks[block].body.splice(at..at, insts);
    }

    /// Replaces uses of values in a function, except by instructions with these results and `except` itself.
    pub fn replace_uses(&mut self, function: usize, names: &FxHashMap<u32, u32>, except: impl Fn(&Inst) -> bool) {
        for inst in self.module.functions[function].blocks.iter_mut().flat_map(|block| &mut block.body) {
            if !except(inst) {
                inst.rename(|id| names.get(&id).copied().unwrap_or(id));
            }
        }
    }
}
