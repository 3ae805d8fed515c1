//! Replaces a value by another one that is equal.

use rustc_hash::FxHashMap;
use spirv::{Decoration, Op};

use crate::editor::{Editor, TypeClass};
use crate::module::{Block, Inst};
use crate::regions::split;

/// Most members of a composite that is taken apart.
const MAX_MEMBERS: usize = 16;

/// A value, and the position where instructions that use it can be inserted.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The value.
    pub id: u32,
    /// Its type.
    pub ty: u32,
    /// Its block.
    pub block: usize,
    /// The position behind it, and behind phis and variables.
    pub at: usize,
}

impl Editor {
    /// Chooses a value that is used and has a type of a suitable class.
    pub fn choose_value(&mut self, function: usize, is_suitable: impl Fn(TypeClass) -> bool) -> Option<Value> {
        let mut values = Vec::new();
        for (number, block) in self.module.functions[function].blocks.iter().enumerate() {
            let start = block.start();
            for (at, inst) in block.body.iter().enumerate() {
                let (Some(id), Some(ty)) = (inst.result(), inst.ty()) else { continue };
                let is_changeable = !matches!(inst.op, Op::Undef | Op::Variable | Op::SampledImage);
                if is_changeable && is_suitable(self.class(ty)) {
                    values.push(Value { id, ty, block: number, at: start.max(at + 1) });
                }
            }
        }
        let value = self.random.choose(&values)?;
        let is_non_uniform = self.module.preamble.iter().any(|inst| {
            inst.op == Op::Decorate && inst.words.get(..2) == Some(&[value.id, Decoration::NonUniform as u32])
        });
        let mut code = self.module.functions[function].blocks.iter().flat_map(|block| &block.body);
        (!is_non_uniform && code.any(|inst| inst.uses().contains(&value.id))).then_some(value)
    }

    /// Returns the types of the members of a struct, array, matrix or vector; `None` if they are too many.
    pub fn members(&self, ty: u32) -> Option<Vec<u32>> {
        let inst = self.module.global(ty)?;
        let count = match inst.op {
            Op::TypeStruct => {
                return Some(inst.words[1..].to_vec()).filter(|members| (1..=MAX_MEMBERS).contains(&members.len()));
            }
            Op::TypeVector | Op::TypeMatrix => inst.words[2] as usize,
            Op::TypeArray => {
                let length = self.module.global(inst.words[2]).filter(|inst| inst.op == Op::Constant)?;
                length.words[2] as usize
            }
            _ => return None,
        };
        (1..=MAX_MEMBERS).contains(&count).then(|| vec![inst.words[1]; count])
    }

    /// Inserts instructions behind a value, the last of which computes it again, and uses that result.
    fn replace(&mut self, function: usize, value: Value, insts: Vec<Inst>) -> Option<()> {
        let new = insts.last()?.result()?;
        self.replace_uses(function, &FxHashMap::from_iter([(value.id, new)]), |_| false);
        self.insert(function, value.block, value.at, insts);
        Some(())
    }
}

/// `v` becomes `copy v`; also for pointers to an invocation's own memory, in loads, stores and access chains.
pub fn copy_value(editor: &mut Editor, function: usize) -> Option<()> {
    let value = editor.choose_value(function, |class| class.is_data() || class == TypeClass::Pointer)?;
    let new = editor.fresh();
    let copy = Inst::new(Op::CopyObject, [value.ty, new, value.id]);
    if editor.class(value.ty) != TypeClass::Pointer {
        return editor.replace(function, value, vec![copy]);
    }
    if !editor.is_own_memory(value.ty) {
        return None;
    }
    let names = FxHashMap::from_iter([(value.id, new)]);
    let is_access = |inst: &Inst| {
        matches!(inst.op, Op::Load | Op::Store | Op::AccessChain | Op::InBoundsAccessChain | Op::CopyMemory)
    };
    editor.replace_uses(function, &names, |inst| !is_access(inst));
    editor.insert(function, value.block, value.at, vec![copy]);
    Some(())
}

/// `v` becomes `true ? v : v`, or `true ? v : other`.
pub fn select_value(editor: &mut Editor, function: usize) -> Option<()> {
    let value = editor.choose_value(function, |class| class == TypeClass::Vector)?;
    let (_, count) = editor.vector(value.ty)?;
    let is_true = editor.random.one_in(2);
    let mut condition = editor.condition(is_true, function, value.block);
    // Integers of the block may be defined behind the value; the entry may have got a variable.
    let at = place_of(editor, function, value)?;
    let block = &editor.module.functions[function].blocks[value.block];
    let is_early = |id: u32| block.body[at..].iter().all(|inst| inst.result() != Some(id));
    if !condition.insts.iter().flat_map(Inst::uses).chain([condition.id]).all(is_early) {
        return None;
    }
    if count > 1 {
        let bool_type = editor.bool_type();
        let vector = editor.vector_type(bool_type, count);
        let id = editor.fresh();
        let parts = std::iter::repeat_n(condition.id, count as usize);
        let words: Vec<u32> = [vector, id].into_iter().chain(parts).collect();
        condition.insts.push(Inst::new(Op::CompositeConstruct, words));
        condition.id = id;
    }
    let other = if editor.random.one_in(2) { value.id } else { editor.any_value(value.ty) };
    let new = editor.fresh();
    let (a, b) = if is_true { (value.id, other) } else { (other, value.id) };
    condition.insts.push(Inst::new(Op::Select, [value.ty, new, condition.id, a, b]));
    editor.replace(function, Value { at, ..value }, condition.insts)
}

/// The position behind a value, after variables were added.
fn place_of(editor: &Editor, function: usize, value: Value) -> Option<usize> {
    let block = editor.module.functions[function].blocks.get(value.block)?;
    let at = block.body.iter().position(|inst| inst.result() == Some(value.id))?;
    Some(block.start().max(at + 1))
}

/// `v` becomes a member of a composite of it, or a composite of its members, or a shuffle.
pub fn wrap_value(editor: &mut Editor, function: usize) -> Option<()> {
    let value = editor.choose_value(function, TypeClass::is_data)?;
    let mut insts = Vec::new();
    let (composite, new) = (editor.fresh(), editor.fresh());
    let members = editor.members(value.ty);
    match (editor.random.below(3), members) {
        (0, Some(members)) => {
            let mut words = vec![value.ty, new];
            for (number, ty) in members.into_iter().enumerate() {
                let part = editor.fresh();
                insts.push(Inst::new(Op::CompositeExtract, [ty, part, value.id, number as u32]));
                words.push(part);
            }
            insts.push(Inst::new(Op::CompositeConstruct, words));
        }
        (1, Some(members)) => {
            // One member is replaced by the same value.
            let number = editor.random.below(members.len());
            insts.push(Inst::new(Op::CompositeExtract, [members[number], composite, value.id, number as u32]));
            insts.push(Inst::new(Op::CompositeInsert, [value.ty, new, composite, value.id, number as u32]));
        }
        _ => match editor.vector(value.ty) {
            Some((component, count)) if count > 1 => {
                // Twice reversed.
                let vector = editor.vector_type(component, count);
                let order = (0..count).rev().map(|at| at + count * editor.random.below(2) as u32).collect::<Vec<_>>();
                for (result, from) in [(composite, value.id), (new, composite)] {
                    let words: Vec<u32> =
                        [vector, result, from, from].into_iter().chain(order.iter().copied()).collect();
                    insts.push(Inst::new(Op::VectorShuffle, words));
                }
            }
            _ => {
                let ty = editor.struct_type(&[value.ty, value.ty]);
                let number = editor.random.below(2) as u32;
                insts.push(Inst::new(Op::CompositeConstruct, [ty, composite, value.id, value.id]));
                insts.push(Inst::new(Op::CompositeExtract, [value.ty, new, composite, number]));
            }
        },
    }
    editor.replace(function, value, insts)
}

/// An integer becomes `~~v`, `v ^ 0`, `v + 0`, `v * 1`; a boolean `!!v`; a float of 32 bits its bits and back.
pub fn compute_value(editor: &mut Editor, function: usize) -> Option<()> {
    let value = editor.choose_value(function, |class| class == TypeClass::Vector)?;
    let (component, count) = editor.vector(value.ty)?;
    let (middle, new) = (editor.fresh(), editor.fresh());
    let kind = editor.module.global(component)?.clone();
    let twice = |op| vec![Inst::new(op, [value.ty, middle, value.id]), Inst::new(op, [value.ty, new, middle])];
    let insts = match kind.op {
        Op::TypeBool => twice(Op::LogicalNot),
        Op::TypeInt if kind.words[1] != 32 || editor.random.one_in(3) => {
            let op = if editor.random.one_in(2) { Op::Not } else { Op::SNegate };
            twice(op)
        }
        Op::TypeInt => {
            let (op, neutral) = match editor.random.below(5) {
                0 => (Op::IAdd, 0),
                1 => (Op::BitwiseXor, 0),
                2 => (Op::IMul, 1),
                3 => (Op::ShiftLeftLogical, 0),
                _ => (Op::BitwiseAnd, u32::MAX),
            };
            let mut constant = editor.int_constant(component, neutral);
            if count > 1 {
                constant = editor.composite_constant(value.ty, &vec![constant; count as usize]);
            }
            vec![Inst::new(op, [value.ty, new, value.id, constant])]
        }
        Op::TypeFloat if kind.words[1] == 32 => {
            let is_signed = editor.random.one_in(2);
            let mut ty = editor.int_type(is_signed);
            if count > 1 {
                ty = editor.vector_type(ty, count);
            }
            vec![Inst::new(Op::Bitcast, [ty, middle, value.id]), Inst::new(Op::Bitcast, [value.ty, new, middle])]
        }
        _ => return None,
    };
    editor.replace(function, value, insts)
}

/// `v` becomes a phi of itself and a copy of itself, behind a selection.
pub fn phi_value(editor: &mut Editor, function: usize) -> Option<()> {
    let value = editor.choose_value(function, TypeClass::is_data)?;
    let rest = editor.fresh();
    split(&mut editor.module.functions[function], value.block, value.at, rest)?;
    let is_taken = editor.random.one_in(2);
    let condition = editor.condition(is_taken, function, value.block);
    let (side, copy, new) = (editor.fresh(), editor.fresh(), editor.fresh());
    editor.replace_uses(function, &FxHashMap::from_iter([(value.id, new)]), |_| false);
    let block = &mut editor.module.functions[function].blocks[value.block];
    if block.merge().is_some() {
        return None;
    }
    let label = block.label;
    block.body.pop();
    block.body.extend(condition.insts);
    block.body.push(Inst::new(Op::SelectionMerge, [rest, 0]));
    block.body.push(Inst::new(Op::BranchConditional, [condition.id, side, rest]));
    let body = vec![Inst::new(Op::CopyObject, [value.ty, copy, value.id]), Inst::new(Op::Branch, [rest])];
    editor.module.functions[function].blocks.insert(value.block + 1, Block { label: side, body });
    let number = editor.module.functions[function].block(rest)?;
    let phi = Inst::new(Op::Phi, [value.ty, new, value.id, label, copy, side]);
    editor.insert(function, number, 0, vec![phi]);
    Some(())
}
