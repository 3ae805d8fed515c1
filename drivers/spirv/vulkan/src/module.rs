//! The parts of a module needed to run it: its bindings, the position of its workgroup size, its layout.

use std::collections::HashMap;

use tgsi_spirv_harness::Layout;

use crate::code::DeviceProperties;

/// Words before the first instruction.
const HEADER: usize = 5;
/// The magic number of SPIR-V.
const MAGIC: u32 = 0x0723_0203;

// SPIR-V's numbers of opcodes, modes, decorations etc.
const OP_STRING: u32 = 7;
const OP_EXTENSION: u32 = 10;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_POINTER: u32 = 32;
const OP_CONSTANT: u32 = 43;
const OP_VARIABLE: u32 = 59;
const OP_DECORATE: u32 = 71;
const MODE_LOCAL_SIZE: u32 = 17;
const MODE_KEEPS_DENORMALS: u32 = 4459;
const MODE_KEEPS_SPECIAL: u32 = 4461;
const CAPABILITY_KEEPS_DENORMALS: u32 = 4464;
const CAPABILITY_KEEPS_SPECIAL: u32 = 4466;
const FLOAT_CONTROLS: &str = "SPV_KHR_float_controls";
const DECORATION_BUFFER_BLOCK: u32 = 3;
const DECORATION_BINDING: u32 = 33;
const DECORATION_SET: u32 = 34;
const CLASS_UNIFORM_CONSTANT: u32 = 0;
const CLASS_UNIFORM: u32 = 2;
const CLASS_STORAGE_BUFFER: u32 = 12;

/// Most descriptors of one binding.
const MAX_COUNT: u32 = 64;

/// The kind of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BindingKind {
    /// A constant buffer.
    Constant,
    /// A storage buffer.
    Storage,
}

/// A binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// The number in the set.
    pub binding: u32,
    /// The number of descriptors.
    pub count: u32,
    /// Their kind.
    pub kind: BindingKind,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    words: Vec<u32>,
    /// Its bindings.
    pub bindings: Vec<Binding>,
    /// The layout of its harness buffer.
    pub layout: Layout,
}

#[derive(Default)]
struct Ids {
    sets: HashMap<u32, u32>,
    bindings: HashMap<u32, u32>,
    buffer_blocks: Vec<u32>,
    pointers: HashMap<u32, (u32, u32)>,
    arrays: HashMap<u32, (u32, u32)>,
    constants: HashMap<u32, u32>,
    variables: Vec<(u32, u32)>,
}

impl Module {
    /// Parses code.
    ///
    /// # Errors
    /// The code is not SPIR-V of the harness.
    pub fn new(bytes: &[u8]) -> Result<Module, String> {
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        if words.first() != Some(&MAGIC) {
            return Err("the code is not SPIR-V".to_owned());
        }
        let (mut ids, mut has_size, mut found) = (Ids::default(), false, None);
        let mut at = HEADER;
        while let Some(&word) = words.get(at) {
            let length = (word >> 16).max(1) as usize;
            let operands = words.get(at + 1..at + length).ok_or("the code ends within an instruction")?;
            match (word & 0xffff, operands) {
                (OP_STRING, [_, text @ ..]) => {
                    if let Some(layout) = Layout::from_json(&string(text)) {
                        found = Some(layout?);
                    }
                }
                (OP_EXECUTION_MODE, [_, MODE_LOCAL_SIZE, _, _, _]) => has_size = true,
                (_, operands) => ids.note(word & 0xffff, operands),
            }
            at += length;
        }
        let layout = found.ok_or("the code has no layout of the harness: it is not that of a target for runs")?;
        if !has_size {
            return Err("the code has no workgroup size".to_owned());
        }
        Ok(Module { bindings: ids.all()?, layout, words })
    }

    /// Returns the code for workgroups with this number of invocations, without float controls that the device does not
    /// support.
    pub fn with_invocations(&self, invocations: u32, properties: &DeviceProperties) -> Vec<u32> {
        let (keeps_special, keeps_denormals) = (properties.keeps_special, properties.keeps_denormals);
        let (header, mut rest) = self.words.split_at(HEADER.min(self.words.len()));
        let mut words = header.to_vec();
        while let Some(&first) = rest.first() {
            let (instruction, others) = rest.split_at((first >> 16).max(1) as usize);
            rest = others;
            match (first & 0xffff, &instruction[1..]) {
                (OP_EXECUTION_MODE, &[main, MODE_LOCAL_SIZE, ..]) => {
                    words.extend([first, main, MODE_LOCAL_SIZE, invocations, 1, 1]);
                }
                (OP_CAPABILITY, [CAPABILITY_KEEPS_SPECIAL]) if !keeps_special => {}
                (OP_EXECUTION_MODE, [_, MODE_KEEPS_SPECIAL, ..]) if !keeps_special => {}
                (OP_CAPABILITY, [CAPABILITY_KEEPS_DENORMALS]) if !keeps_denormals => {}
                (OP_EXECUTION_MODE, [_, MODE_KEEPS_DENORMALS, ..]) if !keeps_denormals => {}
                (OP_EXTENSION, name) if !keeps_special && !keeps_denormals && string(name) == FLOAT_CONTROLS => {}
                _ => words.extend_from_slice(instruction),
            }
        }
        words
    }
}

impl Ids {
    fn note(&mut self, op: u32, operands: &[u32]) {
        match (op, operands) {
            (OP_DECORATE, &[id, DECORATION_SET, set]) => {
                self.sets.insert(id, set);
            }
            (OP_DECORATE, &[id, DECORATION_BINDING, binding]) => {
                self.bindings.insert(id, binding);
            }
            (OP_DECORATE, &[id, DECORATION_BUFFER_BLOCK]) => self.buffer_blocks.push(id),
            (OP_TYPE_POINTER, &[id, class, ty]) => {
                self.pointers.insert(id, (class, ty));
            }
            (OP_TYPE_ARRAY, &[id, element, length]) => {
                self.arrays.insert(id, (element, length));
            }
            (OP_CONSTANT, &[_, id, word, ..]) => {
                self.constants.insert(id, word);
            }
            (OP_VARIABLE, &[ty, id, ..]) => self.variables.push((ty, id)),
            _ => {}
        }
    }

    fn all(&self) -> Result<Vec<Binding>, String> {
        let mut all: Vec<Binding> = Vec::new();
        for (pointer, id) in &self.variables {
            let (Some(&set), Some(&binding)) = (self.sets.get(id), self.bindings.get(id)) else { continue };
            let &(class, mut ty) = self.pointers.get(pointer).ok_or("a variable without a type")?;
            let mut count = 1;
            if let Some(&(element, length)) = self.arrays.get(&ty) {
                ty = element;
                count = self.constants.get(&length).copied().unwrap_or(1).clamp(1, MAX_COUNT);
            }
            let kind = match class {
                CLASS_STORAGE_BUFFER => BindingKind::Storage,
                CLASS_UNIFORM if self.buffer_blocks.contains(&ty) => BindingKind::Storage,
                CLASS_UNIFORM => BindingKind::Constant,
                CLASS_UNIFORM_CONSTANT => return Err("the code has textures or images".to_owned()),
                _ => continue,
            };
            // Several variables may be views of one binding.
            match all.iter_mut().find(|other| (other.set, other.binding) == (set, binding)) {
                Some(other) => other.count = other.count.max(count),
                None => all.push(Binding { set, binding, count, kind }),
            }
        }
        all.sort_by_key(|binding| (binding.set, binding.binding));
        Ok(all)
    }
}

/// Decodes a literal string.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use tgsi_compiler::Compiler;
    use tgsi_compiler::front_end::TGSI_TEXT;
    use tgsi_driver_spirv::SpirvOptions;

    use super::*;

    #[test]
    fn code_asks_for_what_the_device_keeps() {
        let source = "FRAG\nDCL IN[0], GENERIC[0], LINEAR\nDCL OUT[0], COLOR\nADD OUT[0], IN[0], IN[0]\nEND\n";
        let target = crate::run_target(&SpirvOptions::default()).expect("a target");
        let compiler = Compiler::for_target(target.into());
        let shader = compiler.read(&TGSI_TEXT, source.as_bytes()).source;
        let code = compiler.compile(shader.expect("a shader")).expect("code");
        let module = Module::new(&code.into_bytes()).expect("a module");
        for (keeps_special, keeps_denormals) in [(false, false), (false, true), (true, false), (true, true)] {
            let properties = DeviceProperties {
                name: String::new(),
                subgroup_size: 4,
                max_invocations: 128,
                max_uniform_bytes: 1 << 14,
                keeps_special,
                keeps_denormals,
            };
            let words = module.with_invocations(8, &properties);
            let (mut capabilities, mut modes, mut has_extension) = (Vec::new(), Vec::new(), false);
            let mut rest = &words[HEADER..];
            while let Some(&first) = rest.first() {
                let (instruction, others) = rest.split_at((first >> 16) as usize);
                rest = others;
                match (first & 0xffff, &instruction[1..]) {
                    (OP_CAPABILITY, &[capability]) => capabilities.push(capability),
                    (OP_EXECUTION_MODE, [_, mode @ ..]) => modes.push(mode.to_vec()),
                    (OP_EXTENSION, name) => has_extension |= string(name) == FLOAT_CONTROLS,
                    _ => {}
                }
            }
            assert!(modes.contains(&vec![MODE_LOCAL_SIZE, 8, 1, 1]));
            assert_eq!(has_extension, keeps_special || keeps_denormals);
            for (keeps, capability, mode) in [
                (keeps_special, CAPABILITY_KEEPS_SPECIAL, MODE_KEEPS_SPECIAL),
                (keeps_denormals, CAPABILITY_KEEPS_DENORMALS, MODE_KEEPS_DENORMALS),
            ] {
                assert_eq!(capabilities.contains(&capability), keeps);
                assert_eq!(modes.contains(&vec![mode, 32]), keeps);
            }
        }
    }
}
