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

/// Returns a module whose first vertex shader stores its outputs in a storage buffer: a struct of vectors of four
/// components for each vertex. Outputs that do not have 32 bits are not stored. Other modules are returned unchanged.
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
        let vectors: Vec<(u32, u32)> = parts
            .iter()
            .map(|part| {
                let component = self.vector(part.ty).map_or(uint, |(component, _)| component);
                (component, self.vector_type(component, 4))
            })
            .collect();
        // A struct for each vertex.
        let members: Vec<u32> = vectors.iter().map(|&(_, vector)| vector).collect();
        let element = self.struct_type(&members);
        let array = self.fresh();
        self.module.add_global(Inst::new(Op::TypeRuntimeArray, [array, element]));
        let block = self.struct_type(&[array]);
        for (of, count) in [(element, parts.len() as u32), (block, 1)] {
            let offsets =
                (0..count).map(|at| Inst::new(Op::MemberDecorate, [of, at, Decoration::Offset as u32, 16 * at]));
            self.module.preamble.extend(offsets);
        }
        self.decorate(array, Decoration::ArrayStride, Some(16 * parts.len() as u32));
        let (class, decoration) = match self.module.version() {
            0x10300.. => (StorageClass::StorageBuffer, Decoration::Block),
            _ => (StorageClass::Uniform, Decoration::BufferBlock),
        };
        self.decorate(block, decoration, None);
        let pointer = self.pointer_type(class, block);
        let buffer = self.fresh();
        self.module.add_global(Inst::new(Op::Variable, [pointer, buffer, class as u32]));
        self.decorate(buffer, Decoration::DescriptorSet, Some(set));
        self.decorate(buffer, Decoration::Binding, Some(binding));
        let (index, index_type) = self.vertex_index(entry);
        if self.module.version() >= 0x10400 {
            self.module.preamble[entry].words.push(buffer);
        }
        let first = self.int_constant(int, 0);
        for block in 0..self.module.functions[function].blocks.len() {
            let body = &self.module.functions[function].blocks[block].body;
            if body.last().is_none_or(|inst| inst.op != Op::Return) {
                continue;
            }
            let at = body.len() - 1;
            let number = self.fresh();
            let mut insts = vec![Inst::new(Op::Load, [index_type, number, index])];
            for (slot, (part, &(component, vector))) in (0..).zip(parts.iter().zip(&vectors)) {
                let value = self.padded(part, component, vector, &mut insts);
                let slot = self.int_constant(int, slot);
                let (to, pointer) = (self.fresh(), self.pointer_type(class, vector));
                insts.push(Inst::new(Op::AccessChain, [pointer, to, buffer, first, number, slot]));
                insts.push(Inst::new(Op::Store, [to, value]));
            }
            self.insert(function, block, at, insts);
        }
    }

    /// Loads a part, with zeros up to four components.
    fn padded(&mut self, part: &Part, component: u32, vector: u32, to: &mut Vec<Inst>) -> u32 {
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
        if part.ty == vector {
            return loaded;
        }
        let count = self.vector(part.ty).map_or(1, |(_, count)| count);
        let zero = self.int_constant(component, 0);
        let mut words = vec![vector, self.fresh(), loaded];
        words.extend(std::iter::repeat_n(zero, 4usize.saturating_sub(count as usize)));
        let result = words[1];
        to.push(Inst::new(Op::CompositeConstruct, words));
        result
    }
}
