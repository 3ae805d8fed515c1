//! Rewrites a module so that naga translates it correctly.
//!
//! | module | rewritten as | because naga |
//! |---|---|---|
//! | `OpFMul` with `NoContraction` | `Fma(a, b, -0)` | drops the decoration; a product by `fma` is not part of a sum |
//! | `OpSNegate` of unsigned integers | `0 - a` | rejects it |
//! | `OpLogicalOr`, `OpLogicalAnd` of vectors | `OpSelect` | supports them for scalars only |
//! | `OpImageQuerySize`, `OpImageQuerySizeLod` of an image with layers | the size without them, and `OpImageQuerySamples` | has one query for both; [`rewrite_queries`] turns queries of the number of samples, which images with layers lack, into queries of layers |
//! | a workgroup size of specialization constants | a value computed at the start | does not support composites of them |
//! | `SampleMask` | an unsigned integer instead of an array of one | expects WGSL's type |
//! | `Coherent`, `Volatile` of images | removed | applies them to buffers |
//! | an initializer of an output | a store at the start | does not support those of built-ins |
//!
//! `fma(a, b, -0)` is the product, rounded once, with its sign, whether a device fuses it or not.

use std::collections::{HashMap, HashSet};

use naga::{Expression, ImageClass, ImageQuery, Module, TypeInner};
use spirv::{BuiltIn, Decoration, GlslStd450Op, Op, StorageClass};

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

/// The declarations of the module so far.
#[derive(Debug, Default)]
struct Rewriter {
    bound: u32,
    /// Types by id: opcode, and operands after the id.
    types: HashMap<u32, (u32, Vec<u32>)>,
    /// Types of loaded images, by their ids.
    images: HashMap<u32, u32>,
    /// Sample masks.
    masks: HashSet<u32>,
    /// Pointers to the only element of a sample mask, and the variable.
    mask_pointers: HashMap<u32, u32>,
    exact: HashSet<u32>,
    glsl: Option<u32>,
    /// Constants that are added before the function.
    added: Vec<Instruction>,
    constants: HashMap<(u32, u32), u32>,
}

impl Rewriter {
    fn id(&mut self) -> u32 {
        let id = self.bound;
        self.bound += 1;
        id
    }

    fn is_type(&self, id: u32, op: Op) -> bool {
        self.types.get(&id).is_some_and(|(opcode, _)| *opcode == op as u32)
    }

    /// Returns the type of a component, and the number of components.
    fn scalar(&self, ty: u32) -> (u32, u32) {
        match self.types.get(&ty) {
            Some((opcode, operands)) if *opcode == Op::TypeVector as u32 && operands.len() == 2 => {
                (operands[0], operands[1])
            }
            _ => (ty, 1),
        }
    }

    /// Returns a constant with these bits in every component. Booleans are true or false.
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

    /// Returns a type with these operands, existing or new.
    fn type_of(&mut self, op: Op, operands: &[u32]) -> u32 {
        let found = self.types.iter().find(|(_, (opcode, own))| *opcode == op as u32 && own == operands);
        if let Some((&id, _)) = found {
            return id;
        }
        let id = self.id();
        self.types.insert(id, (op as u32, operands.to_vec()));
        let all: Vec<u32> = [id].into_iter().chain(operands.iter().copied()).collect();
        self.added.push(Instruction::new(op, &all));
        id
    }

    /// Returns whether an id is a loaded image with layers and without samples.
    fn has_layers(&self, image: u32) -> bool {
        // Texel, dimensionality, depth, layers, samples, ...
        let ty = self.images.get(&image).and_then(|ty| self.types.get(ty));
        ty.is_some_and(|(_, operands)| operands.get(3) == Some(&1) && operands.get(4) == Some(&0))
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

    /// Rewrites an instruction for naga. With `fuses`, products may be part of sums.
    fn rewrite(&mut self, instruction: Instruction, fuses: bool, out: &mut Vec<Instruction>) {
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
            [_, _, variable, ..] if is(Op::AccessChain) && self.masks.contains(&variable) => {
                self.mask_pointers.insert(id, variable);
            }
            [pointer, value, ..] if is(Op::Store) && self.mask_pointers.contains_key(&pointer) => {
                let variable = self.mask_pointers.get(&pointer).copied().unwrap_or(pointer);
                let uint = self.type_of(Op::TypeInt, &[32, 0]);
                let word = self.id();
                out.push(Instruction::new(Op::Bitcast, &[uint, word, value]));
                out.push(Instruction::new(Op::Store, &[variable, word]));
            }
            [_, _, pointer, ..] if is(Op::Load) && self.mask_pointers.contains_key(&pointer) => {
                let variable = self.mask_pointers.get(&pointer).copied().unwrap_or(pointer);
                let uint = self.type_of(Op::TypeInt, &[32, 0]);
                if uint == ty {
                    return out.push(Instruction::new(Op::Load, &[ty, id, variable]));
                }
                let word = self.id();
                out.push(Instruction::new(Op::Load, &[uint, word, variable]));
                out.push(Instruction::new(Op::Bitcast, &[ty, id, word]));
            }
            [_, _, ..] if is(Op::Load) && self.is_type(ty, Op::TypeImage) => {
                self.images.insert(id, ty);
                out.push(instruction);
            }
            [_, _, image, ..] if (is(Op::ImageQuerySize) || is(Op::ImageQuerySizeLod)) && self.has_layers(image) => {
                let (scalar, count) = self.scalar(ty);
                let plain = if count > 2 { self.type_of(Op::TypeVector, &[scalar, count - 1]) } else { scalar };
                let (size, layers) = (self.id(), self.id());
                let mut query = instruction.clone();
                query.operands[0] = plain;
                query.operands[1] = size;
                out.push(query);
                out.push(Instruction::new(Op::ImageQuerySamples, &[scalar, layers, image]));
                out.push(Instruction::new(Op::CompositeConstruct, &[ty, id, size, layers]));
            }
            _ => out.push(instruction),
        }
    }
}

/// Replaces queries of the number of samples by queries of layers, for images with layers and therefore without
/// samples.
pub fn rewrite_queries(module: &mut Module) {
    let has_layers = |ty| {
        let TypeInner::Image { arrayed, class, .. } = module.types[ty].inner else { return false };
        let has_samples = matches!(class, ImageClass::Sampled { multi: true, .. } | ImageClass::Depth { multi: true });
        arrayed && !has_samples
    };
    let variables: HashSet<_> =
        module.global_variables.iter().filter(|(_, data)| has_layers(data.ty)).map(|(variable, _)| variable).collect();
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        let images: HashSet<_> = function
            .expressions
            .iter()
            .filter(|(_, expression)| matches!(expression, Expression::GlobalVariable(own) if variables.contains(own)))
            .map(|(expression, _)| expression)
            .collect();
        for (_, expression) in function.expressions.iter_mut() {
            if let Expression::ImageQuery { image, query: query @ ImageQuery::NumSamples } = expression
                && images.contains(image)
            {
                *query = ImageQuery::NumLayers;
            }
        }
    }
}

/// Returns whether an instruction of a function precedes the first one with an effect.
fn is_before_code(instruction: &Instruction) -> bool {
    [Op::Function, Op::FunctionParameter, Op::Label, Op::Variable, Op::Line, Op::NoLine]
        .iter()
        .any(|&op| instruction.is(op))
}

/// Rewrites the words of a module. With `fuses`, products may be part of sums.
pub fn rewrite_words(words: &[u32], fuses: bool) -> Vec<u32> {
    let mut instructions = Vec::new();
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let length = (first >> 16).max(1) as usize;
        let operands = words.get(at + 1..at + length).unwrap_or_default().to_vec();
        instructions.push(Instruction { opcode: first & 0xffff, operands });
        at += length;
    }
    let mut rewriter = Rewriter { bound: words.get(3).copied().unwrap_or(1), ..Rewriter::default() };
    let mut masks = HashSet::new();
    let mut sizes = HashSet::new();
    let mut descriptors = HashSet::new();
    // The elements of constant one-element arrays.
    let mut elements = HashMap::new();
    for instruction in &instructions {
        let operands = &instruction.operands;
        match operands.as_slice() {
            [id, rest @ ..] if (Op::TypeVoid as u32..=Op::TypePointer as u32).contains(&instruction.opcode) => {
                rewriter.types.insert(*id, (instruction.opcode, rest.to_vec()));
            }
            [id, decoration, ..] if instruction.is(Op::Decorate) && *decoration == Decoration::NoContraction as u32 => {
                rewriter.exact.insert(*id);
            }
            [id, ..] if instruction.is(Op::ExtInstImport) => rewriter.glsl = Some(*id),
            [id, decoration, built_in] if instruction.is(Op::Decorate) && *decoration == Decoration::BuiltIn as u32 => {
                if *built_in == BuiltIn::SampleMask as u32 {
                    masks.insert(*id);
                } else if *built_in == BuiltIn::WorkgroupSize as u32 {
                    sizes.insert(*id);
                }
            }
            [_, id, first] if instruction.is(Op::ConstantComposite) => {
                elements.insert(*id, *first);
            }
            [_, id, storage, ..] if instruction.is(Op::Variable) => {
                if *storage == StorageClass::UniformConstant as u32 {
                    descriptors.insert(*id);
                } else if masks.contains(id) {
                    rewriter.masks.insert(*id);
                }
            }
            _ => {}
        }
    }
    let imports = rewriter.glsl.is_none() && !rewriter.exact.is_empty();
    if imports {
        rewriter.glsl = Some(rewriter.id());
    }
    let mut rewritten = Vec::with_capacity(instructions.len());
    let mut function = None;
    let mut stores = Vec::new();
    for instruction in instructions {
        if imports && instruction.is(Op::MemoryModel) {
            let mut operands = vec![rewriter.glsl.unwrap_or_default()];
            operands
                .extend(b"GLSL.std.450\0\0\0\0".chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
            rewritten.push(Instruction::new(Op::ExtInstImport, &operands));
        }
        if instruction.is(Op::Function) && function.is_none() {
            function = Some(rewritten.len());
        }
        if function.is_some() {
            // Variables of a function precede all other instructions of its first block.
            if !stores.is_empty() && !is_before_code(&instruction) {
                rewritten.append(&mut stores);
            }
            rewriter.rewrite(instruction, fuses, &mut rewritten);
        } else if let (true, Some(id)) = (instruction.is(Op::SpecConstantComposite), instruction.operands.get(1))
            && sizes.contains(id)
        {
            stores.push(Instruction::new(Op::CompositeConstruct, &instruction.operands));
        } else if let (true, &[_, id, storage, ref value @ ..]) =
            (instruction.is(Op::Variable), instruction.operands.as_slice())
            && rewriter.masks.contains(&id)
        {
            // naga itself initialises outputs to zero.
            let uint = rewriter.type_of(Op::TypeInt, &[32, 0]);
            let pointer = rewriter.type_of(Op::TypePointer, &[storage, uint]);
            rewritten.append(&mut rewriter.added);
            rewritten.push(Instruction::new(Op::Variable, &[pointer, id, storage]));
            if let Some(first) = value.first().and_then(|value| elements.get(value)) {
                let word = rewriter.id();
                stores.push(Instruction::new(Op::Bitcast, &[uint, word, *first]));
                stores.push(Instruction::new(Op::Store, &[id, word]));
            }
        } else if let (true, &[ty, id, storage, value]) =
            (instruction.is(Op::Variable), instruction.operands.as_slice())
            && storage == StorageClass::Output as u32
        {
            rewritten.push(Instruction::new(Op::Variable, &[ty, id, storage]));
            stores.push(Instruction::new(Op::Store, &[id, value]));
        } else {
            let dropped = match instruction.operands.as_slice() {
                &[id, decoration, ..] if instruction.is(Op::Decorate) => {
                    let is = |wanted: Decoration| decoration == wanted as u32;
                    is(Decoration::NoContraction)
                        || sizes.contains(&id)
                        || descriptors.contains(&id) && (is(Decoration::Coherent) || is(Decoration::Volatile))
                }
                _ => false,
            };
            if !dropped {
                rewritten.push(instruction);
            }
        }
    }
    let function = function.unwrap_or(rewritten.len());
    rewritten.splice(function..function, std::mem::take(&mut rewriter.added));
    let mut out = words.get(..5).unwrap_or_default().to_vec();
    if let Some(bound) = out.get_mut(3) {
        *bound = rewriter.bound;
    }
    for Instruction { opcode, operands } in rewritten {
        out.push(((operands.len() as u32 + 1) << 16) | opcode);
        out.extend(operands);
    }
    out
}
