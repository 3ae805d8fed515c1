//! The first pass over a module: types, constants, variables, decorations, functions and their blocks.
//!
//! Ids are dense numbers, so facts about them are in vectors. Instructions of functions are not copied: a block has the
//! positions of its words.

mod declare;
mod function;
mod image_type;

#[cfg(test)]
pub(crate) use declare::REFUSED;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use spirv::{Decoration, StorageClass};
use tgsi_diagnostics::Span;
use tgsi_ir::types::ScalarType;

use crate::constants::{Constants, Known};
use crate::decorations::Decorations;
use crate::error::{Findings, SpirvError};
use crate::grammar::{self, form};
use crate::options::SpirvOptions;
use crate::types::{TypeData, TypeId, Types};
use crate::words::{Inst, Words};

/// What an id is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Id {
    /// Not defined.
    None,
    Type(TypeId),
    Constant(Known),
    /// A variable of the module, by its number in `globals`.
    Variable(u32),
    /// By its number in `functions`.
    Function(u32),
    /// A block, by its number in the function that has it.
    Label {
        function: u32,
        block: u32,
    },
    /// The result of an instruction in a function, with its type.
    Value(TypeId),
    String,
    Set(Set),
    Group,
}

impl Id {
    /// A name for messages.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Id::None => "not defined",
            Id::Type(_) => "a type",
            Id::Constant(_) => "a constant",
            Id::Variable(_) => "a variable",
            Id::Function(_) => "a function",
            Id::Label { .. } => "a block",
            Id::Value(_) => "a value",
            Id::String => "a string",
            Id::Set(_) => "a set of instructions",
            Id::Group => "a group of decorations",
        }
    }
}

/// A set of extended instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Set {
    /// `GLSL.std.450`.
    Glsl,
    /// `SPV_AMD_shader_trinary_minmax`.
    AmdTrinaryMinMax,
    /// `NonSemantic.Shader.DebugInfo.100`.
    DebugInfo,
    /// Without effect on results.
    NonSemantic,
    /// Any other.
    Other,
}

/// A variable of the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global {
    pub(crate) id: u32,
    /// The storage class.
    pub(crate) class: u32,
    /// The type of the memory.
    pub(crate) ty: TypeId,
    pub(crate) initializer: Option<Known>,
    pub(crate) span: Span,
}

/// The merge instruction of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merge {
    None,
    Selection { merge: u32 },
    Loop { merge: u32, target: u32 },
}

/// A block of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The id of its label.
    pub(crate) label: u32,
    /// Position and number of its first instruction after the label.
    pub(crate) first: (u32, u32),
    /// Position and number of its last instruction, which ends it.
    pub(crate) last: (u32, u32),
    /// Blocks of the merge instruction.
    pub(crate) merge: Merge,
    /// Whether it begins with phis.
    pub(crate) has_phis: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) id: u32,
    pub(crate) result: TypeId,
    /// The function type.
    pub(crate) ty: TypeId,
    /// Ids and types.
    pub(crate) parameters: Vec<(u32, TypeId)>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) span: Span,
}

/// An entry point.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub(crate) model: u32,
    pub(crate) function: u32,
    pub(crate) name: String,
    pub(crate) interface: Vec<u32>,
    pub(crate) span: Span,
}

/// An execution mode of an entry point.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub(crate) entry: u32,
    pub(crate) mode: u32,
    pub(crate) operands: Vec<u32>,
    /// Whether the operands are ids.
    pub(crate) has_ids: bool,
    pub(crate) span: Span,
}

/// A specialisation constant.
#[derive(Clone, Debug)]
pub(crate) struct SpecConstant {
    pub(crate) id: u32,
    pub(crate) number: u32,
    pub(crate) ty: TypeId,
    pub(crate) default: u64,
    pub(crate) value: u64,
}

/// The place in the source that instructions from a number on have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineStart {
    /// Number of the first instruction.
    pub(crate) number: u32,
    /// File name: the id of a string; 0 for none.
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) words: Rc<Words>,
    pub(crate) ids: Vec<Id>,
    /// By id: the position of its definition, 0 without one.
    pub(crate) positions: Vec<u32>,
    pub(crate) names: FxHashMap<u32, String>,
    pub(crate) member_names: FxHashMap<(u32, u32), String>,
    pub(crate) strings: FxHashMap<u32, String>,
    pub(crate) decorations: Decorations,
    pub(crate) types: Types,
    pub(crate) constants: Constants,
    pub(crate) globals: Vec<Global>,
    pub(crate) functions: Vec<Function>,
    pub(crate) entry_points: Vec<EntryPoint>,
    pub(crate) modes: Vec<Mode>,
    pub(crate) specialization: Vec<SpecConstant>,
    pub(crate) lines: Vec<LineStart>,
    /// Capabilities, by number.
    pub(crate) capabilities: Vec<u32>,
    /// Whether the source is HLSL, whose `discard` keeps derivatives alive.
    pub(crate) is_hlsl: bool,
    /// The types of scalars and vectors.
    vectors: FxHashMap<(ScalarType, u8), TypeId>,
}

impl Module {
    /// Reads a module.
    pub(crate) fn read(words: Words, options: &SpirvOptions, findings: &mut Findings) -> Module {
        let bound = words.bound as usize;
        let mut module = Module {
            ids: vec![Id::None; bound],
            positions: vec![0; bound],
            names: FxHashMap::default(),
            member_names: FxHashMap::default(),
            strings: FxHashMap::default(),
            decorations: Decorations::default(),
            types: Types::default(),
            constants: Constants::default(),
            globals: Vec::new(),
            functions: Vec::new(),
            entry_points: Vec::new(),
            modes: Vec::new(),
            specialization: Vec::new(),
            lines: Vec::new(),
            capabilities: Vec::new(),
            is_hlsl: false,
            vectors: FxHashMap::default(),
            words: Rc::new(words),
        };
        declare::declare(&mut module, options, findings);
        module
    }

    /// What an id is.
    pub(crate) fn id(&self, id: u32) -> Id {
        self.ids.get(id as usize).copied().unwrap_or(Id::None)
    }

    /// The type with an id.
    pub(crate) fn type_of_id(&self, id: u32) -> Option<TypeId> {
        match self.id(id) {
            Id::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// The constant with an id.
    pub(crate) fn constant(&self, id: u32) -> Option<Known> {
        match self.id(id) {
            Id::Constant(known) => Some(known),
            _ => None,
        }
    }

    /// The value of an integer constant with an id.
    pub(crate) fn integer(&self, id: u32) -> Option<u64> {
        self.constants.bits(&self.types, self.constant(id)?)?.first().copied()
    }

    /// Whether the module may have operations of subgroups.
    pub(crate) fn has_subgroups(&self) -> bool {
        use spirv::Capability as C;
        let is_one = |capability| {
            matches!(
                capability,
                C::GroupNonUniformVote
                    | C::GroupNonUniformArithmetic
                    | C::GroupNonUniformBallot
                    | C::GroupNonUniformShuffle
                    | C::GroupNonUniformShuffleRelative
                    | C::GroupNonUniformClustered
                    | C::GroupNonUniformQuad
                    | C::SubgroupBallotKHR
                    | C::SubgroupVoteKHR
            )
        };
        self.capabilities.iter().any(|&number| C::from_u32(number).is_some_and(is_one))
    }

    /// Whether a variable is the outputs of fragment shaders in old GLSL, which have no location.
    pub(crate) fn is_fragment_data(&self, global: &Global) -> bool {
        global.class == StorageClass::Output as u32
            && matches!(self.name(global.id), "gl_FragColor" | "gl_FragData")
            && !self.decorations.has(global.id, Decoration::Location)
            && !self.decorations.has(global.id, Decoration::BuiltIn)
    }

    /// The name of an id; empty without one.
    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// The instruction that ends a block.
    pub(crate) fn terminator(&self, block: &Block) -> Option<Inst<'_>> {
        self.words.at(block.last.0, block.last.1)
    }

    /// The instructions of a block, without its label.
    pub(crate) fn instructions(&self, block: &Block) -> impl Iterator<Item = Inst<'_>> {
        let (mut at, mut number) = block.first;
        let last = block.last.0;
        std::iter::from_fn(move || {
            if at > last || at == 0 {
                return None;
            }
            let inst = self.words.at(at, number)?;
            at += inst.words.len() as u32 + 1;
            number += 1;
            Some(inst)
        })
    }

    /// The type of a value, constant or variable.
    pub(crate) fn type_of(&self, id: u32) -> TypeId {
        match self.id(id) {
            Id::Value(ty) => ty,
            Id::Constant(known) => self.constants.type_of(known),
            // The result type of the definition.
            Id::Variable(_) => {
                let position = self.positions.get(id as usize).copied().unwrap_or(0);
                self.words.at(position, 0).map_or(TypeId::ERROR, |inst| self.result_type(&inst))
            }
            _ => TypeId::ERROR,
        }
    }

    /// The type of the result of an instruction.
    pub(crate) fn result_type(&self, inst: &Inst<'_>) -> TypeId {
        self.type_of_id(inst.word(0)).unwrap_or(TypeId::ERROR)
    }

    /// The type of a scalar or vector.
    pub(crate) fn vector_type(&mut self, scalar: ScalarType, count: u8) -> TypeId {
        let types = &mut self.types;
        *self.vectors.entry((scalar, count)).or_insert_with(|| types.push(TypeData::Vector { scalar, count }))
    }

    /// Defines an id.
    fn define(&mut self, id: u32, what: Id, inst: &Inst<'_>, findings: &mut Findings) {
        let bound = self.words.bound;
        match (self.ids.get_mut(id as usize), self.positions.get_mut(id as usize)) {
            (Some(place), Some(position)) if id != 0 => {
                if *place != Id::None {
                    findings.add(SpirvError::Redefined { id }, inst.span());
                    return;
                }
                *place = what;
                *position = inst.at;
            }
            _ => findings.add(SpirvError::BadId { id, bound }, inst.span()),
        }
    }

    /// Checks the number of words.
    fn has_operands(inst: &Inst<'_>, findings: &mut Findings) -> bool {
        let Some(form) = form(inst.op) else {
            findings.add(SpirvError::UnknownOpcode { op: inst.op }, inst.span());
            return false;
        };
        let expected = usize::from(form.min_words);
        if inst.words.len() < expected {
            let op = grammar::name(inst.op);
            findings.add(SpirvError::OperandCount { op, found: inst.words.len(), expected }, inst.span());
            return false;
        }
        true
    }
}
