//! The writer of a module: one vector of words for each section of a SPIR-V module, concatenated at the end.
//!
//! Types and constants are unique: the key is their words. For types with decorations (arrays with a stride, blocks)
//! the key includes the decorations, since a decorated and an undecorated array are two types.

mod constants;
mod types;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, MemoryModel, Op, SourceLanguage,
    StorageClass,
};

pub use constants::is_plain_float;
pub use types::{Class, TypeDecoration, ValueType};

use crate::error::SpirvError;

/// A result id, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub u32);

/// Most words of a module: 32-bit offsets of readers can hold them, and drivers accept far fewer.
pub const MAX_WORDS: u32 = 1 << 28;

/// Most bytes of a literal string: an instruction counts its words in 16 bits.
const MAX_STRING: usize = 4 * 0xfff0;

/// The words of a key: an opcode and its operands.
type Key = SmallVec<[u32; 8]>;

/// A module that is being written.
#[derive(Debug)]
pub struct Module {
    version: u32,
    next_id: u32,
    capabilities: BTreeSet<Capability>,
    extensions: BTreeSet<&'static str>,
    memory_model: MemoryModel,
    glsl: Option<Id>,
    interface: Vec<(Id, StorageClass)>,
    execution_modes: Vec<u32>,
    strings: Vec<u32>,
    /// The name and text of the source.
    source: Option<(Id, String)>,
    names: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    types: FxHashMap<Key, Id>,
    constants: FxHashMap<Key, Id>,
    built_in_inputs: FxHashMap<u32, Id>,
}

/// Appends an instruction to a section.
pub fn push(out: &mut Vec<u32>, op: Op, operands: &[u32]) {
    out.push(((operands.len() as u32 + 1) << 16) | op as u32);
    out.extend_from_slice(operands);
}

/// Returns the words of a literal string: UTF-8, little-endian, terminated by zero.
pub fn string_words(text: &str) -> impl Iterator<Item = u32> + '_ {
    let bytes = text.as_bytes();
    (0..=bytes.len() / 4).map(move |word| {
        (0..4).fold(0, |value, byte| value | u32::from(bytes.get(4 * word + byte).copied().unwrap_or(0)) << (8 * byte))
    })
}

/// Splits a string into a part that fits into a literal string, and the rest.
fn split_string(text: &str) -> (&str, &str) {
    let end = (0..=text.len().min(MAX_STRING)).rev().find(|&end| text.is_char_boundary(end));
    text.split_at(end.unwrap_or(0))
}

impl Module {
    /// Creates an empty module for a version of SPIR-V, as (major, minor).
    pub fn new(version: (u8, u8)) -> Module {
        Module {
            version: u32::from(version.0) << 16 | u32::from(version.1) << 8,
            next_id: 1,
            capabilities: BTreeSet::from([Capability::Shader]),
            extensions: BTreeSet::new(),
            memory_model: MemoryModel::GLSL450,
            glsl: None,
            interface: Vec::new(),
            execution_modes: Vec::new(),
            strings: Vec::new(),
            source: None,
            names: Vec::new(),
            annotations: Vec::new(),
            globals: Vec::new(),
            types: FxHashMap::default(),
            constants: FxHashMap::default(),
            built_in_inputs: FxHashMap::default(),
        }
    }

    /// Returns whether the version is at least this one.
    pub fn at_least(&self, major: u8, minor: u8) -> bool {
        self.version >= u32::from(major) << 16 | u32::from(minor) << 8
    }

    /// Allocates an id.
    pub fn id(&mut self) -> Id {
        let id = Id(self.next_id);
        self.next_id += 1;
        id
    }

    /// Declares a capability.
    pub fn need(&mut self, capability: Capability) {
        self.capabilities.insert(capability);
    }

    /// Selects Vulkan's memory model.
    pub fn use_vulkan_memory_model(&mut self) {
        self.memory_model = MemoryModel::Vulkan;
        self.need(Capability::VulkanMemoryModel);
        self.need_extension("SPV_KHR_vulkan_memory_model", Some((1, 5)));
    }

    /// Declares an extension, unless it is part of the version.
    pub fn need_extension(&mut self, name: &'static str, core_since: Option<(u8, u8)>) {
        if !core_since.is_some_and(|(major, minor)| self.at_least(major, minor)) {
            self.extensions.insert(name);
        }
    }

    /// Returns the id of the instruction set `GLSL.std.450`.
    pub fn glsl(&mut self) -> Id {
        if let Some(id) = self.glsl {
            return id;
        }
        let id = self.id();
        self.glsl = Some(id);
        id
    }

    /// Adds an execution mode to the entry point `main`.
    pub fn execution_mode(&mut self, main: Id, mode: ExecutionMode, operands: &[u32]) {
        let words: Key = [main.0, mode as u32].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.execution_modes, Op::ExecutionMode, &words);
    }

    /// Names an id.
    pub fn name(&mut self, id: Id, name: &str) {
        if !name.is_empty() {
            let words: Vec<u32> = [id.0].into_iter().chain(string_words(name)).collect();
            push(&mut self.names, Op::Name, &words);
        }
    }

    /// Adds a string, for debug instructions to refer to, or as an embedded note.
    pub fn string(&mut self, text: &str) -> Id {
        let id = self.id();
        let words: Vec<u32> = [id.0].into_iter().chain(string_words(text)).collect();
        push(&mut self.strings, Op::String, &words);
        id
    }

    /// Sets the text of the source, and the string with its file name.
    pub fn source(&mut self, file: Id, text: String) {
        self.source = Some((file, text));
    }

    /// Names a member of a struct.
    pub fn name_member(&mut self, id: Id, member: u32, name: &str) {
        let words: Vec<u32> = [id.0, member].into_iter().chain(string_words(name)).collect();
        push(&mut self.names, Op::MemberName, &words);
    }

    /// Decorates an id.
    pub fn decorate(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let words: Key = [id.0, decoration as u32].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.annotations, Op::Decorate, &words);
    }

    /// Decorates a member of a struct.
    pub fn decorate_member(&mut self, id: Id, member: u32, decoration: Decoration, operands: &[u32]) {
        let words: Key = [id.0, member, decoration as u32].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.annotations, Op::MemberDecorate, &words);
    }

    /// Declares a variable outside of functions; `ty` is the type of its value. It is listed in the interface of the
    /// entry point where the version requires that.
    pub fn global_variable(&mut self, ty: Id, class: StorageClass, initializer: Option<Id>) -> Id {
        let id = self.id();
        self.declare_variable(id, ty, class, initializer);
        id
    }

    /// Declares a variable with an id that code already refers to.
    pub fn declare_variable(&mut self, id: Id, ty: Id, class: StorageClass, initializer: Option<Id>) {
        let pointer = self.pointer_type(class, ty);
        let words: Key = [pointer.0, id.0, class as u32].into_iter().chain(initializer.map(|id| id.0)).collect();
        push(&mut self.globals, Op::Variable, &words);
        self.interface.push((id, class));
    }

    /// Declares a specialization constant, which is therefore not merged with others.
    pub fn specialization_constant(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        let words: Key = [ty.0, id.0].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.globals, op, &words);
        id
    }

    /// Returns the capabilities, ordered by number.
    pub fn capabilities(&self) -> impl Iterator<Item = Capability> + '_ {
        self.capabilities.iter().copied()
    }

    /// Returns the extensions, ordered by name.
    pub fn extensions(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.extensions.iter().copied()
    }

    /// Returns the input variable of a scalar or vector built-in, declaring it if needed: an entry point may have each
    /// built-in only once.
    pub fn built_in_input(&mut self, built_in: BuiltIn, ty: ValueType) -> Id {
        if let Some(&id) = self.built_in_inputs.get(&(built_in as u32)) {
            return id;
        }
        let ty = self.value_type(ty);
        let id = self.global_variable(ty, StorageClass::Input, None);
        self.decorate(id, Decoration::BuiltIn, &[built_in as u32]);
        self.built_in_inputs.insert(built_in as u32, id);
        id
    }

    /// Returns the built-ins that are inputs.
    pub fn built_ins(&self) -> impl Iterator<Item = BuiltIn> + '_ {
        self.built_in_inputs.keys().filter_map(|&number| BuiltIn::from_u32(number))
    }

    /// Concatenates the sections. `function` is the only function of the module, from `OpFunction` to `OpFunctionEnd`.
    ///
    /// # Errors
    /// [`SpirvError::TooLarge`].
    pub fn finish(mut self, model: ExecutionModel, main: Id, function: &[u32]) -> Result<Vec<u32>, SpirvError> {
        let mut words = vec![spirv::MAGIC_NUMBER, self.version, 0, 0, 0];
        for &capability in &self.capabilities {
            push(&mut words, Op::Capability, &[capability as u32]);
        }
        for extension in &self.extensions {
            push(&mut words, Op::Extension, &string_words(extension).collect::<Vec<_>>());
        }
        if let Some(glsl) = self.glsl {
            let operands: Vec<u32> = [glsl.0].into_iter().chain(string_words("GLSL.std.450")).collect();
            push(&mut words, Op::ExtInstImport, &operands);
        }
        push(&mut words, Op::MemoryModel, &[AddressingModel::Logical as u32, self.memory_model as u32]);
        let all = self.at_least(1, 4);
        let listed =
            |&&(_, class): &&(Id, StorageClass)| all || matches!(class, StorageClass::Input | StorageClass::Output);
        let operands: Vec<u32> = [model as u32, main.0]
            .into_iter()
            .chain(string_words("main"))
            .chain(self.interface.iter().filter(listed).map(|&(id, _)| id.0))
            .collect();
        push(&mut words, Op::EntryPoint, &operands);
        words.append(&mut self.execution_modes);
        words.append(&mut self.strings);
        let mut operands = vec![SourceLanguage::Unknown as u32, 0];
        let mut rest = "";
        if let Some((file, text)) = &self.source {
            let (start, end) = split_string(text);
            operands.push(file.0);
            operands.extend(string_words(start));
            rest = end;
        }
        push(&mut words, Op::Source, &operands);
        while !rest.is_empty() {
            let (start, end) = split_string(rest);
            push(&mut words, Op::SourceContinued, &string_words(start).collect::<Vec<_>>());
            rest = end;
        }
        words.append(&mut self.names);
        words.append(&mut self.annotations);
        words.append(&mut self.globals);
        words.extend_from_slice(function);
        words[3] = self.next_id;
        if words.len() > MAX_WORDS as usize || self.next_id > MAX_WORDS {
            return Err(SpirvError::TooLarge(MAX_WORDS));
        }
        Ok(words)
    }
}
