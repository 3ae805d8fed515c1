//! Collects the declarations of the finished shader: the resources, system values and constants that are used, and the
//! inputs and outputs.
//!
//! The declarations are emitted later, as they depend on the final instructions, too.

use hashbrown::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tgsi::limits::MAX_OPERAND_INDEX;
use tgsi::shader::Register;
use tgsi::tables::{File, MemoryType, PixelFormat, ReturnType, Semantic, TextureTarget};
use tgsi_ir::passes::lower_indirects::lower_indirect_io::{MAX_CONSTANTS, block_sizes};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_to_ir::slots::{processor_of, semantic_of};

/// The number of counters declared where the reach of an index is unknown.
const ALL_COUNTERS: i32 = 256;

/// The maximum number of input or output registers that operands can address.
const MAX_IO_REGISTERS: u32 = 0x8000;

/// The maximum number of constant buffers that a dimension can address.
const MAX_BUFFERS: u32 = 0x8000;

/// Inputs or outputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum IoFile {
    Input,
    Output,
}

impl IoFile {
    pub(crate) const fn tgsi(self) -> File {
        match self {
            IoFile::Input => File::Input,
            IoFile::Output => File::Output,
        }
    }

    const fn mode(self) -> VariableModes {
        match self {
            IoFile::Input => VariableModes::SHADER_IN,
            IoFile::Output => VariableModes::SHADER_OUT,
        }
    }
}

/// The number of an array of counters in operands before finishing: the array that contains the operand's counter.
pub(crate) const OWN_ARRAY: u16 = 1;

/// An array of inputs or outputs, by its first register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ArrayKey {
    pub(crate) file: IoFile,
    pub(crate) first: u32,
}

/// The uses of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ImageUse {
    pub(crate) target: TextureTarget,
    pub(crate) format: PixelFormat,
    pub(crate) writable: bool,
}

/// The registers of a variable.
#[derive(Clone, Debug)]
pub(crate) struct IoVariable {
    pub(crate) data: VariableData,
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) is_array: bool,
}

/// A range that a run-time index may reach, to declare it only once: it may have tens of thousands of units, and every
/// instruction may reach all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ReachableRange {
    Samplers(u32, u32),
    Views(u32, u32, TextureTarget, ReturnType),
    AnyViews(u32, u32),
    Images(u32, u32, ImageUse),
    Buffers(u32, bool),
    ConstantBuffers(Option<(u32, u32)>),
    Counters(i32),
}

/// Declarations under construction.
#[derive(Debug, Default)]
pub(crate) struct ShaderDeclarations {
    pub(crate) system_values: Vec<Semantic>,
    pub(crate) constants: BTreeMap<u32, BTreeSet<(u32, u32)>>,
    pub(crate) constant_buffers: BTreeSet<u32>,
    pub(crate) samplers: BTreeSet<u32>,
    pub(crate) views: BTreeMap<u32, (TextureTarget, ReturnType)>,
    pub(crate) images: BTreeMap<u32, ImageUse>,
    pub(crate) buffers: BTreeMap<u32, bool>,
    pub(crate) memories: BTreeSet<MemoryType>,
    pub(crate) counters: BTreeMap<i32, BTreeSet<(i32, i32)>>,
    /// Declared sizes of constant buffers.
    buffer_sizes: BTreeMap<u32, u32>,
    /// Size of constant buffer 0, if it is declared otherwise; else 0.
    default_size: u32,
    /// Declared ranges of counters by buffer: first and last.
    counter_ranges: BTreeMap<i32, Vec<(i32, i32)>>,
    /// Arrays that are addressed indirectly: array `n` has number `n + 1` in operands before finishing.
    pub(crate) arrays: Vec<ArrayKey>,
    array_numbers: HashMap<ArrayKey, u16>,
    pub(crate) variables: BTreeMap<(IoFile, u32), IoVariable>,
    reached: HashSet<ReachableRange>,
}

/// The number under which to declare a resource: 0 for one that operands can reach through an address only.
fn declarable(number: u32) -> u32 {
    if i64::from(number) <= MAX_OPERAND_INDEX { number } else { 0 }
}

impl ShaderDeclarations {
    pub(crate) fn of(shader: &Shader) -> ShaderDeclarations {
        let first = shader.info.first_ubo_buffer();
        let buffer_sizes =
            block_sizes(shader).into_iter().map(|(block, size)| (block.saturating_add(first), size)).collect();
        let default_size = shader.num_uniforms;
        let mut declared = ShaderDeclarations { buffer_sizes, default_size, ..ShaderDeclarations::default() };
        for (_, data) in shader.globals_with(VariableModes::UNIFORM) {
            if matches!(shader.types.get(shader.types.without_arrays(data.ty)), TypeData::AtomicCounter) {
                let first = data.driver_location.min(0x7fff) as i32;
                let count = shader.types.array_elements(data.ty).clamp(1, 0x8000) as i32;
                let range = (first, (first + count - 1).min(0x7fff));
                declared.counter_ranges.entry(data.binding as i32).or_default().push(range);
            }
        }
        for file in [IoFile::Input, IoFile::Output] {
            for (_, data) in shader.globals_with(file.mode()) {
                let mut ty = data.ty;
                if data.per_vertex
                    && let Some((element, _)) = element_of(shader, ty)
                {
                    ty = element;
                }
                let is_array = shader.types.as_vector(ty).is_none();
                let count = shader.types.slots(ty).max(1);
                let variable = IoVariable { data: data.clone(), first: data.driver_location, count, is_array };
                declared
                    .variables
                    .entry((file, data.driver_location))
                    .and_modify(|known| {
                        if known.count < variable.count {
                            *known = variable.clone();
                        }
                    })
                    .or_insert(variable);
            }
        }
        declared
    }

    /// The first register of the array that contains a register; the register itself if none does.
    pub(crate) fn array_of(&self, file: IoFile, register: u32) -> u32 {
        self.variable(file, register).map_or(register, |v| v.first)
    }

    /// The range of offsets from a register to the registers of its variable.
    pub(crate) fn offsets_within(&self, file: IoFile, register: i32) -> Range<i64> {
        let variable = u32::try_from(register).ok().and_then(|r| self.variable(file, r));
        let register = i64::from(register);
        variable.map_or(0..1, |v| i64::from(v.first) - register..i64::from(v.first) + i64::from(v.count) - register)
    }

    /// Whether a variable holds a register.
    pub(crate) fn has_register(&self, file: IoFile, register: u32) -> bool {
        self.variable(file, register).is_some()
    }

    pub(crate) fn variable(&self, file: IoFile, register: u32) -> Option<&IoVariable> {
        self.variables
            .range((file, 0)..=(file, register))
            .next_back()
            .map(|(_, v)| v)
            .filter(|v| register - v.first < v.count)
    }

    /// Whether an access from a register, over a range, exceeds its variable.
    pub(crate) fn reaches_others(&self, file: IoFile, register: i32, range: i32) -> bool {
        let (Ok(register), Ok(range)) = (u32::try_from(register), u32::try_from(range)) else { return false };
        range > self.variable(file, register).map_or(1, |v| v.count)
    }

    /// Whether an input register belongs to a vertex rather than to the patch.
    pub(crate) fn is_by_vertex(&self, stage: ShaderStage, register: i32) -> bool {
        if !matches!(stage, ShaderStage::Geometry | ShaderStage::TessCtrl | ShaderStage::TessEval) {
            return false;
        }
        let variable = u32::try_from(register).ok().and_then(|r| self.variable(IoFile::Input, r));
        variable
            .and_then(|v| semantic_of(processor_of(stage), File::Input, v.data.location))
            .is_some_and(|(semantic, _)| !semantic.is_patch())
    }

    /// The semantic of a register of a variable.
    pub(crate) fn semantic(&self, stage: ShaderStage, file: IoFile, register: Register) -> Option<Semantic> {
        let variable = self.variable(file, u32::try_from(register.index).ok()?)?;
        let is_attribute = stage == ShaderStage::Vertex && file == IoFile::Input;
        let semantic = semantic_of(processor_of(stage), file.tgsi(), variable.data.location);
        semantic.filter(|_| !is_attribute).map(|(semantic, _)| semantic)
    }

    /// The registers of input or output variables, each with its semantic.
    pub(crate) fn semantics(&self, stage: ShaderStage, file: IoFile) -> Vec<(u32, Semantic)> {
        let ends = |v: &IoVariable| (v.first, v.first.saturating_add(v.count).min(MAX_IO_REGISTERS));
        let variables = self.variables.range((file, 0)..=(file, u32::MAX)).map(|(_, v)| ends(v));
        let registers = variables.flat_map(|(first, end)| first..end);
        let meaning = |r: u32| Some((r, self.semantic(stage, file, Register::new(file.tgsi(), r as i32))?));
        registers.filter_map(meaning).collect()
    }

    /// The semantics of the system values so far, by register.
    pub(crate) fn system_values(&self) -> &[Semantic] {
        &self.system_values
    }

    /// The first declared constant buffer from `first` on, or `first` itself.
    pub(crate) fn first_block(&self, first: u32) -> u32 {
        self.buffer_sizes.range(first..).next().map_or(first, |(&block, _)| block)
    }

    /// The provisional number of an array.
    pub(crate) fn array_number(&mut self, key: ArrayKey) -> u16 {
        let next = self.arrays.len() as u16 + 1;
        let number = *self.array_numbers.entry(key).or_insert(next);
        if number == next {
            self.arrays.push(key);
        }
        number
    }

    pub(crate) fn system_value(&mut self, semantic: Semantic) -> i32 {
        let slot = self.system_values.iter().position(|&s| s == semantic).unwrap_or_else(|| {
            self.system_values.push(semantic);
            self.system_values.len() - 1
        });
        slot as i32
    }

    /// Declares constants that a run-time index, or a run-time buffer number, may reach. Direct accesses are declared
    /// without this.
    pub(crate) fn indirect_constants(&mut self, buffer: u32, first: u32, last: u32) {
        self.constants.entry(declarable(buffer)).or_default().insert((first, last.max(first)));
    }

    pub(crate) fn constant_buffer(&mut self, buffer: u32) {
        self.constant_buffers.insert(declarable(buffer));
    }

    pub(crate) fn sampler(&mut self, unit: u32) {
        self.samplers.insert(declarable(unit));
    }

    pub(crate) fn view(&mut self, unit: u32, target: TextureTarget, returns: ReturnType) {
        self.views.insert(declarable(unit), (target, returns));
    }

    pub(crate) fn view_if_absent(&mut self, unit: u32, target: TextureTarget, returns: ReturnType) {
        self.views.entry(declarable(unit)).or_insert((target, returns));
    }

    pub(crate) fn image(&mut self, unit: u32, usage: ImageUse) {
        let unit = declarable(unit);
        let writable = self.images.get(&unit).is_some_and(|known| known.writable);
        self.images.insert(unit, ImageUse { writable: usage.writable || writable, ..usage });
    }

    /// Declares `count` samplers from `first` on.
    pub(crate) fn samplers(&mut self, first: u32, count: u32) {
        if count == 1 || self.reached.insert(ReachableRange::Samplers(first, count)) {
            (first..first.saturating_add(count)).for_each(|unit| self.sampler(unit));
        }
    }

    /// Declares `count` views from `first` on.
    pub(crate) fn views(&mut self, first: u32, count: u32, target: TextureTarget, returns: ReturnType) {
        if count == 1 || self.reached.insert(ReachableRange::Views(first, count, target, returns)) {
            (first..first.saturating_add(count)).for_each(|unit| self.view(unit, target, returns));
        }
    }

    /// Declares `count` views from `first` on that have no other declaration.
    pub(crate) fn views_if_absent(&mut self, first: u32, count: u32, target: TextureTarget, returns: ReturnType) {
        // They exist after the first time.
        if count == 1 || self.reached.insert(ReachableRange::AnyViews(first, count)) {
            (first..first.saturating_add(count)).for_each(|unit| self.view_if_absent(unit, target, returns));
        }
    }

    /// Declares `count` images from `first` on.
    pub(crate) fn images(&mut self, first: u32, count: u32, usage: ImageUse) {
        if self.reached.insert(ReachableRange::Images(first, count, usage)) {
            (first..first.saturating_add(count)).for_each(|unit| self.image(unit, usage));
        }
    }

    /// Declares `count` storage buffers.
    pub(crate) fn buffers(&mut self, count: u32, atomic: bool) {
        if self.reached.insert(ReachableRange::Buffers(count, atomic)) {
            (0..count).for_each(|number| self.buffer(number, atomic));
        }
    }

    pub(crate) fn image_if_absent(&mut self, unit: u32, usage: ImageUse) {
        self.images.entry(declarable(unit)).or_insert(usage);
    }

    pub(crate) fn buffer(&mut self, number: u32, atomic: bool) {
        *self.buffers.entry(declarable(number)).or_insert(atomic) &= atomic;
    }

    pub(crate) fn memory(&mut self, memory: MemoryType) {
        self.memories.insert(memory);
    }

    /// Declares the constants of a buffer that a run-time index may reach: all that are declared, or the maximum of a
    /// buffer.
    pub(crate) fn all_constants(&mut self, buffer: u32) {
        let default = Some(self.default_size).filter(|&size| buffer == 0 && size > 0);
        let size = self.buffer_sizes.get(&buffer).copied().or(default).unwrap_or(MAX_CONSTANTS);
        if size > 0 {
            self.indirect_constants(buffer, 0, size - 1);
        }
    }

    /// Declares the constants of every buffer, for a run-time buffer number.
    pub(crate) fn all_buffers(&mut self, shader: &Shader, reach: Option<(u32, u32)>) {
        let known = !self.buffer_sizes.is_empty();
        if !self.reached.insert(ReachableRange::ConstantBuffers(reach.filter(|_| !known))) {
            return;
        }
        let end = shader.info.num_ubos.saturating_add(shader.info.first_ubo_buffer());
        let buffers: BTreeSet<u32> =
            (0..end).chain(self.buffer_sizes.keys().copied()).take(MAX_BUFFERS as usize).collect();
        for buffer in buffers {
            if buffer == 0 && !self.buffer_sizes.contains_key(&0) && (known || shader.num_uniforms > 0) {
                if shader.num_uniforms > 0 {
                    self.indirect_constants(0, 0, shader.num_uniforms - 1);
                }
            } else if self.buffer_sizes.contains_key(&buffer) || (!known && reach.is_none()) {
                self.all_constants(buffer);
            } else if let (false, Some((first, last))) = (known, reach) {
                self.indirect_constants(buffer, first, last);
            }
        }
    }

    /// The first and the last counter of the array that contains a counter.
    pub(crate) fn counter_array(&self, buffer: i32, counter: i32) -> (i32, i32) {
        let ranges = self.counter_ranges.get(&buffer).map_or(&[][..], |r| &r[..]);
        ranges.iter().find(|r| (r.0..=r.1).contains(&counter)).copied().unwrap_or((counter, counter))
    }

    /// Declares a counter, or all that a run-time index starting at `first` may reach.
    pub(crate) fn counters(&mut self, buffer: i32, first: i32, dynamic: bool) {
        let is_known = self.counter_ranges.contains_key(&buffer);
        if dynamic && is_known && !self.reached.insert(ReachableRange::Counters(buffer)) {
            return;
        }
        let array = self.counter_array(buffer, first);
        let used = self.counters.entry(buffer).or_default();
        match self.counter_ranges.get(&buffer) {
            _ if !dynamic => {
                used.insert(array);
            }
            Some(ranges) => used.extend(ranges),
            None => {
                used.insert((0, first.saturating_add(ALL_COUNTERS - 1)));
            }
        }
    }
}

fn element_of(shader: &Shader, ty: tgsi_ir::Type) -> Option<(tgsi_ir::Type, u32)> {
    match *shader.types.get(ty) {
        tgsi_ir::types::TypeData::Array { element, length, .. } => Some((element, length)),
        _ => None,
    }
}
