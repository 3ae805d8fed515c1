//! Makes a vertex shader store its outputs in a buffer.

use spirv::{BuiltIn, Decoration, ExecutionModel, Op, StorageClass};

use crate::editor::Editor;
use crate::module::{Inst, Module, MutateError};
use crate::random::Random;

/// Most vectors that are stored for a vertex.
const MAX_SLOTS: usize = 64;

/// A vector or scalar of an output.
struct Part {
    variable: u32,
    /// Constant indices.
    path: Vec<u32>,
    ty: u32,
}

/// Returns a module whose first vertex shader stores its outputs in a storage buffer: vectors of four words, those of
/// vertex i from i times their number on. Outputs that do not have 32 bits are not stored. Other modules are returned
/// unchanged.
///
/// # Errors
/// The module has unknown opcodes, or is not a module.
pub fn capture(words: &[u32], set: u32, binding: u32) -> Result<Vec<u32>, MutateError> {
    let mut editor = Editor { module: Module::read(words)?, random: Random::new(0) };
    let is_vertex = |inst: &&Inst| {
        inst.op == Op::EntryPoint
            && inst.words.first() == Some(&(ExecutionModel::Vertex as u32))
            && inst.words.len() > 2
    };
    let Some(entry) = editor.module.preamble.iter().position(|inst| is_vertex(&inst)) else {
        return Ok(words.to_vec());
    };
    let function = editor.module.preamble[entry].words[1];
    let function = editor.module.functions.iter().position(|other| other.id() == function);
    let parts = editor.output_parts(entry);
    match function {
        Some(function) if !parts.is_empty() => editor.store_parts(entry, function, &parts, set, binding),
        _ => {}
    }
    Ok(editor.module.words())
}

impl Editor {
    /// The variables that an entry point lists.
    fn listed(&self, entry: usize) -> Vec<u32> {
        let words = &self.module.preamble[entry].words;
        let end = words.iter().skip(2).position(|word| word.to_le_bytes().contains(&0));
        end.and_then(|end| words.get(3 + end..)).unwrap_or_default().to_vec()
    }

    fn output_parts(&mut self, entry: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        for variable in self.listed(entry) {
            let Some(inst) = self.module.global(variable).filter(|inst| inst.op == Op::Variable) else { continue };
            if inst.words.get(2) != Some(&(StorageClass::Output as u32)) {
                continue;
            }
            let Some(ty) = self.module.global(inst.words[0]).and_then(|pointer| pointer.words.get(2)).copied() else {
                continue;
            };
            // The first part is the last of the stack.
            let mut pending = vec![Part { variable, path: Vec::new(), ty }];
            while let Some(part) = pending.pop() {
                if let Some((component, _)) = self.vector(part.ty) {
                    let scalar = self.module.global(component);
                    let is_word = scalar.is_some_and(|ty| ty.op != Op::TypeBool && ty.words.get(1) == Some(&32));
                    if is_word && parts.len() < MAX_SLOTS {
                        parts.push(part);
                    }
                } else if let Some(members) = self.members(part.ty) {
                    for (number, &ty) in members.iter().enumerate().rev() {
                        let path = part.path.iter().copied().chain([number as u32]).collect();
                        pending.push(Part { variable, path, ty });
                    }
                }
            }
        }
        parts
    }

    /// The built-in for the number of the vertex, and its type.
    fn vertex_index(&mut self, entry: usize) -> (u32, u32) {
        let is_index = |inst: &&Inst| {
            inst.op == Op::Decorate && inst.words[1..] == [Decoration::BuiltIn as u32, BuiltIn::VertexIndex as u32]
        };
        let found = self.module.preamble.iter().find(|inst| is_index(inst)).map(|inst| inst.words[0]);
        let pointer = found.and_then(|id| self.module.global(id)).filter(|inst| inst.op == Op::Variable);
        let ty = pointer.and_then(|inst| self.module.global(inst.words[0])).and_then(|ty| ty.words.get(2)).copied();
        let (id, ty) = match (found, ty) {
            (Some(id), Some(ty)) => (id, ty),
            _ => {
                let ty = self.int_type(true);
                let pointer = self.pointer_type(StorageClass::Input, ty);
                let id = self.fresh();
                self.module.add_global(Inst::new(Op::Variable, [pointer, id, StorageClass::Input as u32]));
                self.decorate(id, Decoration::BuiltIn, Some(BuiltIn::VertexIndex as u32));
                (id, ty)
            }
        };
        if !self.listed(entry).contains(&id) {
            self.module.preamble[entry].words.push(id);
        }
        (id, ty)
    }

    fn store_parts(&mut self, entry: usize, function: usize, parts: &[Part], set: u32, binding: u32) {
        let (uint, int) = (self.int_type(false), self.int_type(true));
        let vector = self.vector_type(uint, 4);
        let array = self.fresh();
        self.module.add_global(Inst::new(Op::TypeRuntimeArray, [array, vector]));
        self.decorate(array, Decoration::ArrayStride, Some(16));
        let block = self.struct_type(&[array]);
        let offset = [block, 0, Decoration::Offset as u32, 0];
        self.module.preamble.push(Inst::new(Op::MemberDecorate, offset));
        let (class, decoration) = match self.module.version() {
            0x10300.. => (StorageClass::StorageBuffer, Decoration::Block),
            _ => (StorageClass::Uniform, Decoration::BufferBlock),
        };
        self.decorate(block, decoration, None);
        let pointer = self.pointer_type(class, block);
        let element = self.pointer_type(class, vector);
        let buffer = self.fresh();
        self.module.add_global(Inst::new(Op::Variable, [pointer, buffer, class as u32]));
        self.decorate(buffer, Decoration::DescriptorSet, Some(set));
        self.decorate(buffer, Decoration::Binding, Some(binding));
        let (index, index_type) = self.vertex_index(entry);
        if self.module.version() >= 0x10400 {
            self.module.preamble[entry].words.push(buffer);
        }
        let (first, zero) = (self.int_constant(int, 0), self.int_constant(uint, 0));
        let count = self.int_constant(uint, parts.len() as u32);
        for block in 0..self.module.functions[function].blocks.len() {
            let body = &self.module.functions[function].blocks[block].body;
            if body.last().is_none_or(|inst| inst.op != Op::Return) {
                continue;
            }
            let at = body.len() - 1;
            let [loaded, number, start] = [(); 3].map(|()| self.fresh());
            let mut insts = vec![
                Inst::new(Op::Load, [index_type, loaded, index]),
                Inst::new(Op::Bitcast, [uint, number, loaded]),
                Inst::new(Op::IMul, [uint, start, number, count]),
            ];
            if index_type == uint {
                insts[1].op = Op::CopyObject;
            }
            for (slot, part) in (0..).zip(parts) {
                let value = self.words_of(part, uint, vector, zero, &mut insts);
                let slot = self.int_constant(uint, slot);
                let [place, to] = [(); 2].map(|()| self.fresh());
                insts.push(Inst::new(Op::IAdd, [uint, place, start, slot]));
                insts.push(Inst::new(Op::AccessChain, [element, to, buffer, first, place]));
                insts.push(Inst::new(Op::Store, [to, value]));
            }
            self.insert(function, block, at, insts);
        }
    }

    /// Loads a part as four words.
    fn words_of(&mut self, part: &Part, uint: u32, vector: u32, zero: u32, to: &mut Vec<Inst>) -> u32 {
        let Some((component, count)) = self.vector(part.ty) else { return zero };
        let mut from = part.variable;
        if !part.path.is_empty() {
            let pointer = self.pointer_type(StorageClass::Output, part.ty);
            let int = self.int_type(true);
            let id = self.fresh();
            let path = part.path.iter().map(|&index| self.int_constant(int, index)).collect::<Vec<_>>();
            to.push(Inst::new(Op::AccessChain, [&[pointer, id, from], &path[..]].concat()));
            from = id;
        }
        let loaded = self.fresh();
        to.push(Inst::new(Op::Load, [part.ty, loaded, from]));
        let mut words = vec![loaded];
        if count > 1 {
            words = (0..count).map(|_| self.fresh()).collect();
            let extracts = (0..count).zip(&words);
            to.extend(extracts.map(|(at, &id)| Inst::new(Op::CompositeExtract, [component, id, loaded, at])));
        }
        if component != uint {
            for word in &mut words {
                let id = self.fresh();
                to.push(Inst::new(Op::Bitcast, [uint, id, *word]));
                *word = id;
            }
        }
        words.resize(4, zero);
        let result = self.fresh();
        to.push(Inst::new(Op::CompositeConstruct, [&[vector, result], &words[..]].concat()));
        result
    }
}
