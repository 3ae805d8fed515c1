//! A module as lists of instructions, functions and blocks.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

use crate::operands::{Results, id_places, shape};

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;
/// Most ids of a module.
const MAX_BOUND: u32 = 0x3f_ffff;

/// Why a module is not changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MutateError {
    /// The words are not a module: the place of the first wrong word.
    Words(usize),
    /// An opcode whose operands are unknown.
    Opcode(u32),
    /// Instructions are not ordered as functions of blocks.
    Order(Op),
}

impl fmt::Display for MutateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MutateError::Words(word) => write!(f, "not a SPIR-V module: word {word}"),
            MutateError::Opcode(number) => write!(f, "opcode {number} has unknown operands"),
            MutateError::Order(op) => write!(f, "Op{op:?} is at a wrong place"),
        }
    }
}

impl std::error::Error for MutateError {}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// Opcode.
    pub op: Op,
    /// The words behind the first one.
    pub words: Vec<u32>,
    /// Whether it is a switch with literals of 64 bits.
    pub wide: bool,
}

impl Inst {
    /// Makes an instruction.
    pub fn new(op: Op, words: impl Into<Vec<u32>>) -> Inst {
        Inst { op, words: words.into(), wide: false }
    }

    fn results(&self) -> Results {
        shape(self.op).map_or(Results::None, |shape| shape.results)
    }

    /// The number of words before the operands.
    fn prefix(&self) -> usize {
        match self.results() {
            Results::None => 0,
            Results::Id => 1,
            Results::Typed => 2,
        }
    }

    /// The result.
    pub fn result(&self) -> Option<u32> {
        self.prefix().checked_sub(1).and_then(|place| self.words.get(place)).copied()
    }

    /// The type of the result.
    pub fn ty(&self) -> Option<u32> {
        self.words.first().copied().filter(|_| self.prefix() == 2)
    }

    /// The operands.
    pub fn operands(&self) -> &[u32] {
        self.words.get(self.prefix()..).unwrap_or_default()
    }

    /// The places of ids among the words, without type and result.
    pub fn id_places(&self) -> Vec<usize> {
        let Some(shape) = shape(self.op) else { return Vec::new() };
        let prefix = self.prefix();
        let mut places = id_places(shape.operands, self.operands(), self.wide);
        places.iter_mut().for_each(|place| *place += prefix);
        places
    }

    /// The ids that it uses, without the type.
    pub fn uses(&self) -> Vec<u32> {
        self.id_places().into_iter().map(|place| self.words[place]).collect()
    }

    /// Replaces ids among the operands.
    pub fn rename(&mut self, name: impl Fn(u32) -> u32) {
        for place in self.id_places() {
            self.words[place] = name(self.words[place]);
        }
    }

    /// Whether it ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self.op,
            Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::Kill
                | Op::Return
                | Op::ReturnValue
                | Op::Unreachable
                | Op::TerminateInvocation
        )
    }

    /// Whether it names a merge block.
    pub fn is_merge(&self) -> bool {
        matches!(self.op, Op::SelectionMerge | Op::LoopMerge)
    }

    /// The places of target labels of a terminator among the words.
    pub fn target_places(&self) -> Vec<usize> {
        let places = self.id_places();
        match self.op {
            Op::Branch => places,
            Op::BranchConditional | Op::Switch => places[1.min(places.len())..].to_vec(),
            _ => Vec::new(),
        }
    }

    fn write(&self, to: &mut Vec<u32>) {
        to.push(((self.words.len() as u32 + 1) << 16) | self.op as u32);
        to.extend(&self.words);
    }
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Label.
    pub label: u32,
    /// Instructions, the terminator last.
    pub body: Vec<Inst>,
}

impl Block {
    /// The number of phis and variables at the start.
    pub fn start(&self) -> usize {
        self.body.iter().take_while(|inst| matches!(inst.op, Op::Phi | Op::Variable)).count()
    }

    /// The place of the merge instruction, or else of the terminator.
    pub fn end(&self) -> usize {
        let last = self.body.len().saturating_sub(1);
        last - usize::from(last > 0 && self.body[last - 1].is_merge())
    }

    /// The merge instruction.
    pub fn merge(&self) -> Option<&Inst> {
        self.body.get(self.end()).filter(|inst| inst.is_merge())
    }

    /// The terminator.
    pub fn terminator(&self) -> Option<&Inst> {
        self.body.last()
    }

    /// The targets of the terminator.
    pub fn targets(&self) -> Vec<u32> {
        let Some(last) = self.body.last() else { return Vec::new() };
        last.target_places().into_iter().map(|place| last.words[place]).collect()
    }

    /// The target of an unconditional branch.
    pub fn branch(&self) -> Option<u32> {
        self.body.last().filter(|inst| inst.op == Op::Branch).and_then(|inst| inst.words.first()).copied()
    }

    /// Replaces targets of the terminator, and a continue target.
    pub fn retarget(&mut self, from: u32, to: u32) {
        let end = self.end();
        if let Some(merge) = self.body.get_mut(end).filter(|inst| inst.op == Op::LoopMerge)
            && merge.words[1] == from
        {
            merge.words[1] = to;
        }
        if let Some(last) = self.body.last_mut() {
            for place in last.target_places() {
                if last.words[place] == from {
                    last.words[place] = to;
                }
            }
        }
    }

    /// Replaces a predecessor in phis.
    pub fn rename_predecessor(&mut self, from: u32, to: u32) {
        for phi in self.body.iter_mut().take_while(|inst| inst.op == Op::Phi) {
            for place in (3..phi.words.len()).step_by(2).filter(|&place| place < phi.words.len()).collect::<Vec<_>>() {
                if phi.words[place] == from {
                    phi.words[place] = to;
                }
            }
        }
    }
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// `OpFunction`: type, id, control, function type.
    pub definition: Inst,
    /// Parameters.
    pub parameters: Vec<Inst>,
    /// Blocks, the entry first.
    pub blocks: Vec<Block>,
}

impl Function {
    /// Its id.
    pub fn id(&self) -> u32 {
        self.definition.words.get(1).copied().unwrap_or_default()
    }

    /// The number of a block.
    pub fn block(&self, label: u32) -> Option<usize> {
        self.blocks.iter().position(|block| block.label == label)
    }
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    header: [u32; HEADER],
    /// Instructions before types.
    pub preamble: Vec<Inst>,
    /// Types, constants and variables.
    pub globals: Vec<Inst>,
    /// Functions.
    pub functions: Vec<Function>,
    /// The places of results among `globals`.
    index: FxHashMap<u32, usize>,
}

/// Whether an instruction precedes types.
fn is_preamble(op: Op) -> bool {
    matches!(
        op,
        Op::Capability
            | Op::Extension
            | Op::ExtInstImport
            | Op::MemoryModel
            | Op::EntryPoint
            | Op::ExecutionMode
            | Op::ExecutionModeId
            | Op::String
            | Op::SourceExtension
            | Op::Source
            | Op::SourceContinued
            | Op::Name
            | Op::MemberName
            | Op::ModuleProcessed
            | Op::Decorate
            | Op::MemberDecorate
            | Op::DecorationGroup
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
    )
}

impl Module {
    /// Reads a module. Lines and instructions of non-semantic sets are dropped from functions.
    ///
    /// # Errors
    /// [`MutateError`].
    pub fn read(words: &[u32]) -> Result<Module, MutateError> {
        let header: [u32; HEADER] =
            words.get(..HEADER).and_then(|words| words.try_into().ok()).ok_or(MutateError::Words(words.len()))?;
        if header[0] != MAGIC || header[3] > MAX_BOUND {
            return Err(MutateError::Words(0));
        }
        let mut module = Module {
            header,
            preamble: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            index: FxHashMap::default(),
        };
        let mut reading = Reading::default();
        let mut at = HEADER;
        while let Some(&first) = words.get(at) {
            let length = (first >> 16) as usize;
            let operands = words.get(at + 1..at + length).filter(|_| length > 0).ok_or(MutateError::Words(at))?;
            let op = Op::from_u32(first & 0xffff).ok_or(MutateError::Opcode(first & 0xffff))?;
            reading.add(&mut module, Inst::new(op, operands)).map_err(|error| match error {
                MutateError::Words(_) => MutateError::Words(at),
                other => other,
            })?;
            at += length;
        }
        if reading.function.is_some() {
            return Err(MutateError::Words(words.len()));
        }
        let dropped = reading.dropped;
        module.preamble.retain(|inst| {
            !(matches!(inst.op, Op::Name | Op::Decorate) && inst.words.first().is_some_and(|id| dropped.contains(id)))
        });
        Ok(module)
    }

    /// Writes it.
    pub fn words(&self) -> Vec<u32> {
        let mut words = self.header.to_vec();
        self.preamble.iter().chain(&self.globals).for_each(|inst| inst.write(&mut words));
        for function in &self.functions {
            function.definition.write(&mut words);
            function.parameters.iter().for_each(|inst| inst.write(&mut words));
            for block in &function.blocks {
                Inst::new(Op::Label, [block.label]).write(&mut words);
                block.body.iter().for_each(|inst| inst.write(&mut words));
            }
            Inst::new(Op::FunctionEnd, []).write(&mut words);
        }
        words
    }

    /// The version: 0x10600 is 1.6.
    pub fn version(&self) -> u32 {
        self.header[1]
    }

    /// Returns a new id; the last one repeatedly if there are no more.
    pub fn fresh(&mut self) -> u32 {
        let id = self.header[3];
        self.header[3] = (id + 1).min(MAX_BOUND);
        id
    }

    /// Whether ids are left.
    pub fn has_ids(&self) -> bool {
        self.header[3] < MAX_BOUND
    }

    /// Adds a type, constant or variable.
    pub fn add_global(&mut self, inst: Inst) {
        if let Some(id) = global_result(&inst) {
            self.index.insert(id, self.globals.len());
        }
        self.globals.push(inst);
    }

    /// Replaces all types, constants and variables.
    pub fn set_globals(&mut self, globals: Vec<Inst>) {
        self.index.clear();
        self.globals.clear();
        globals.into_iter().for_each(|inst| self.add_global(inst));
    }

    /// Returns a type, constant or variable.
    pub fn global(&self, id: u32) -> Option<&Inst> {
        self.index.get(&id).and_then(|&place| self.globals.get(place))
    }

    /// Returns the types of all typed results.
    pub fn value_types(&self) -> FxHashMap<u32, u32> {
        let mut types = FxHashMap::default();
        let mut note = |inst: &Inst| {
            if let (Some(id), Some(ty)) = (inst.result(), inst.ty()) {
                types.insert(id, ty);
            }
        };
        for function in &self.functions {
            function.parameters.iter().for_each(&mut note);
            function.blocks.iter().flat_map(|block| &block.body).for_each(&mut note);
        }
        for inst in self.globals.iter().filter(|inst| !is_type(inst.op)) {
            if let [ty, id, ..] = inst.words[..] {
                types.insert(id, ty);
            }
        }
        types
    }
}

/// The least number of words, without the first, of instructions whose words are read by their place.
fn least_words(op: Op) -> usize {
    match op {
        Op::TypeVoid | Op::TypeBool | Op::TypeStruct | Op::Decorate | Op::EntryPoint => 1,
        Op::TypeFloat | Op::TypeRuntimeArray => 2,
        Op::TypeInt | Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypePointer => 3,
        Op::Constant | Op::FunctionCall | Op::AccessChain | Op::InBoundsAccessChain => 3,
        Op::VectorExtractDynamic | Op::VectorInsertDynamic => 4,
        op if is_type(op) => 1,
        op if matches!(op as u32, 109..=215) => 3,
        _ => 0,
    }
}

/// Whether an instruction declares a type.
fn is_type(op: Op) -> bool {
    matches!(op as u32, 19..=39) || format!("{op:?}").starts_with("Type")
}

fn global_result(inst: &Inst) -> Option<u32> {
    inst.words.get(usize::from(!is_type(inst.op))).copied().filter(|_| inst.op != Op::TypeForwardPointer)
}

/// What reading remembers.
#[derive(Default)]
struct Reading {
    function: Option<Function>,
    /// Types of values, for switches.
    types: FxHashMap<u32, u32>,
    /// Sets of non-semantic instructions.
    sets: FxHashSet<u32>,
    /// Results that were dropped.
    dropped: FxHashSet<u32>,
    is_done: bool,
}

impl Reading {
    fn add(&mut self, module: &mut Module, mut inst: Inst) -> Result<(), MutateError> {
        let op = inst.op;
        if inst.words.len() < least_words(op) {
            return Err(MutateError::Words(0));
        }
        if matches!(op, Op::Line | Op::NoLine) {
            return Ok(());
        }
        if op == Op::ExtInstImport {
            let bytes: Vec<u8> = inst.words.iter().skip(1).flat_map(|word| word.to_le_bytes()).collect();
            if bytes.starts_with(b"NonSemantic.") {
                self.sets.extend(inst.words.first());
            }
        }
        if op == Op::Function {
            if inst.words.len() != 4 || self.function.is_some() {
                return Err(MutateError::Order(op));
            }
            self.is_done = true;
            self.function = Some(Function { definition: inst, parameters: Vec::new(), blocks: Vec::new() });
            return Ok(());
        }
        let Some(function) = &mut self.function else {
            if is_preamble(op) && module.globals.is_empty() {
                module.preamble.push(inst);
            } else if self.is_done {
                // Instructions of debugging information may follow functions; nothing else.
                if op != Op::ExtInst {
                    return Err(MutateError::Order(op));
                }
            } else {
                if !is_type(op) && inst.words.len() < 2 {
                    return Err(MutateError::Words(0));
                }
                if let [ty, id, ..] = inst.words[..]
                    && !is_type(op)
                {
                    self.types.insert(id, ty);
                }
                module.add_global(inst);
            }
            return Ok(());
        };
        let shape = shape(op).ok_or(MutateError::Opcode(op as u32))?;
        if op == Op::ExtInst && inst.words.get(2).is_some_and(|set| self.sets.contains(set)) {
            self.dropped.extend(inst.words.get(1));
            return Ok(());
        }
        let least = inst.prefix() + shape.operands.bytes().filter(u8::is_ascii_lowercase).count();
        if inst.words.len() < least {
            return Err(MutateError::Words(0));
        }
        if let (Some(id), Some(ty)) = (inst.result(), inst.ty()) {
            self.types.insert(id, ty);
        }
        if op == Op::Switch {
            let ty = self.types.get(&inst.words[0]).and_then(|&ty| module.global(ty));
            inst.wide = ty.is_some_and(|ty| ty.words.get(1) == Some(&64));
        }
        let is_open = function.blocks.last().is_some_and(|block| !block.body.last().is_some_and(Inst::is_terminator));
        match op {
            Op::FunctionParameter if function.blocks.is_empty() => function.parameters.push(inst),
            Op::Label if !is_open => function.blocks.push(Block { label: inst.words[0], body: Vec::new() }),
            Op::FunctionEnd if !is_open => module.functions.extend(self.function.take()),
            Op::FunctionParameter | Op::Label | Op::FunctionEnd => return Err(MutateError::Order(op)),
            _ if !is_open => return Err(MutateError::Order(op)),
            _ => function.blocks.iter_mut().last().into_iter().for_each(|block| block.body.push(inst.clone())),
        }
        Ok(())
    }
}
