//! Constant buffers.

use smallvec::SmallVec;
use spirv::{Capability, Decoration, GlslStd450Op, Op, StorageClass};
use tgsi_compiler::reflection::ResourceKind;
use tgsi_ir::body::Swizzle;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst, User};

use super::{ArrayIndex, BoundsCheck, ConstantVariable, LAST_BUFFER, Length, Memory, ResultVectors};
use crate::emit::Emitter;
use crate::emit::memory_model::Qualifiers;
use crate::error::SpirvError;
use crate::module::{Class, Id, TypeDecoration, ValueType};

/// The start of a load of constants.
#[derive(Clone, Copy, Debug)]
enum LoadStart {
    /// A component of a vec4.
    Slot(ArrayIndex, u8),
    /// A word of the buffer.
    Word(ArrayIndex),
}

/// The block that a load reads.
#[derive(Clone, Copy, Debug)]
struct Block {
    variable: ConstantVariable,
    /// The index in an array of blocks.
    index: Option<Id>,
    /// The number of vec4s of the block, if it differs from that of the type.
    slots: Option<Id>,
}

impl Emitter<'_> {
    pub(in crate::emit) fn emit_constant_buffer_access(
        &mut self,
        inst: Inst,
        op: IntrinsicOp,
    ) -> Result<(), SpirvError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let base = body.base(inst);
        match op {
            IntrinsicOp::LoadUniform => {
                let place = self.place(base, body.src(inst, 0), 0)?;
                self.load_constants(inst, def, None, LoadStart::Slot(place, 0))
            }
            IntrinsicOp::LoadUboVec4 => {
                let place = self.place(base, body.src(inst, 1), 0)?;
                let component = body.component(inst);
                self.load_constants(inst, def, Some(body.src(inst, 0)), LoadStart::Slot(place, component))
            }
            IntrinsicOp::LoadUbo => {
                let align = body.index(inst, IndexKind::AlignMul) as u32;
                let within = body.index(inst, IndexKind::AlignOffset) as u32 & 15;
                let bytes =
                    self.chunk_types(def, Class::Uint)?.iter().map(|ty| u32::from(ty.components) * 4).sum::<u32>();
                // Loads by vec4 slot give zero for the slots out of range only, other loads as a whole.
                let start = if align >= 16 && (within == 0 || within + bytes <= 16) {
                    LoadStart::Slot(self.place(0, body.src(inst, 1), 4)?, (within >> 2) as u8)
                } else {
                    LoadStart::Word(self.place(0, body.src(inst, 1), 2)?)
                };
                self.load_constants(inst, def, Some(body.src(inst, 0)), start)
            }
            IntrinsicOp::LoadPushConstant => {
                let place = self.word_place(inst, 0)?;
                let memory = self.push_constants();
                let types = self.chunk_types(def, memory.class)?;
                let chunks = self.load_words(&memory, place, &types)?;
                self.define_words(def, &chunks, memory.class)
            }
            _ => self.emit_constant_buffer_size(inst, def),
        }
    }

    fn push_constants(&mut self) -> Memory {
        if let Some(memory) = self.buffers.push_constants {
            return memory;
        }
        let length = self.buffers.plan.push_constants.div_ceil(4).max(1);
        let word = self.module.value_type(ValueType::UINT);
        let array = self.module.array_type(word, length, Some(4));
        let ty = self.block_type(array, Decoration::Block, &[]);
        let base = self.module.global_variable(ty, StorageClass::PushConstant, None);
        self.name_variable(base, "push_constants");
        let memory = Memory {
            base,
            storage: StorageClass::PushConstant,
            in_block: true,
            class: Class::Uint,
            length: Length::Known(length),
            qualifiers: Qualifiers::default(),
        };
        self.buffers.push_constants = Some(memory);
        memory
    }

    /// Creates a struct type with one member, at offset 0.
    pub(super) fn block_type(&mut self, member: Id, block: Decoration, qualifiers: &[Decoration]) -> Id {
        let mut decorations: SmallVec<[TypeDecoration<'_>; 6]> =
            smallvec::smallvec![(None, block, &[][..]), (Some(0), Decoration::Offset, &[0][..])];
        decorations.extend(qualifiers.iter().map(|&qualifier| (Some(0), qualifier, &[][..])));
        self.module.decorated_type(Op::TypeStruct, &[member.0], &decorations)
    }

    /// Creates the type of a block of vec4s.
    fn constant_block_type(&mut self, class: Class, slots: u32) -> Id {
        let vector = self.module.value_type(ValueType::new(class, 32, 4));
        let array = self.module.array_type(vector, slots, Some(16));
        self.block_type(array, Decoration::Block, &[])
    }

    /// Returns the variable of a constant buffer.
    fn constants_of(&mut self, buffer: u32) -> ConstantVariable {
        if let Some(&variable) = self.buffers.constants.get(&buffer) {
            return variable;
        }
        let found = self.buffers.plan.constants.get(&buffer).copied().unwrap_or_default();
        let (class, slots) = (found.class(), found.slots());
        let ty = self.constant_block_type(class, slots);
        let id = self.module.global_variable(ty, StorageClass::Uniform, None);
        self.name_variable(id, &format!("const{buffer}"));
        self.bind(id, ResourceKind::ConstantBuffer, buffer, 1, format!("{} bytes", slots * 16));
        let variable = ConstantVariable { id, class, slots };
        self.buffers.constants.insert(buffer, variable);
        variable
    }

    /// Returns the variable of all dynamically indexed constant buffers.
    fn constant_array(&mut self) -> ConstantVariable {
        if let Some(variable) = self.buffers.constant_array {
            return variable;
        }
        let buffers = self.buffers.plan.indexed_constants.clone();
        let (mut slots, mut floats) = (1, 0);
        for found in buffers.clone().filter_map(|buffer| self.buffers.plan.constants.get(&buffer)) {
            slots = slots.max(found.slots());
            floats += if found.class() == Class::Float { 1 } else { -1 };
        }
        let class = if floats > 0 { Class::Float } else { Class::Uint };
        let block = self.constant_block_type(class, slots);
        let count = buffers.len() as u32;
        let array = self.module.array_type(block, count, None);
        let id = self.module.global_variable(array, StorageClass::Uniform, None);
        self.name_variable(id, &format!("const{}", buffers.start));
        self.bind(id, ResourceKind::ConstantBuffer, buffers.start, count, format!("{} bytes each", slots * 16));
        self.module.need(Capability::UniformBufferArrayDynamicIndexing);
        let variable = ConstantVariable { id, class, slots };
        self.buffers.constant_array = Some(variable);
        variable
    }

    /// Loads a value from constant buffer 0, or from a block.
    fn load_constants(&mut self, inst: Inst, def: Def, block: Option<Def>, start: LoadStart) -> Result<(), SpirvError> {
        let first = self.shader.info.first_ubo_buffer();
        let types = self.chunk_types(def, Class::Uint)?;
        let known = match block {
            None => Some(0),
            Some(block) => self.body.constant_component(block, 0).map(|block| (block as u32).wrapping_add(first)),
        };
        let buffers = self.buffers.plan.indexed_constants.clone();
        let Some(buffer) = known else {
            let Some(block) = block else { return Ok(()) };
            return self.load_chosen_constants(inst, def, block, buffers, start, &types);
        };
        if buffer > LAST_BUFFER {
            let zeros = self.zeros(&types);
            return self.define_words(def, &zeros, Class::Uint);
        }
        let block = if buffers.contains(&buffer) && !self.options.portable {
            let variable = self.constant_array();
            Block { variable, index: Some(self.module.uint(buffer - buffers.start)), slots: None }
        } else {
            Block { variable: self.constants_of(buffer), index: None, slots: None }
        };
        if self.load_component(def, block, start)? {
            return Ok(());
        }
        let chunks = self.block_words(block, start, &types)?;
        self.define_words(def, &chunks, block.variable.class)
    }

    /// Loads a value from a block with a dynamic number.
    fn load_chosen_constants(
        &mut self,
        inst: Inst,
        def: Def,
        block: Def,
        buffers: std::ops::Range<u32>,
        start: LoadStart,
        types: &[ValueType],
    ) -> Result<(), SpirvError> {
        let first = self.shader.info.first_ubo_buffer();
        if buffers.is_empty() {
            return Err(SpirvError::Unsupported { inst, what: "a dynamic index without constant buffers" });
        }
        let place = self.place(0, block, 0)?;
        let index = self.place_id(place);
        let (mut chunks, mut class) = if self.options.portable {
            let mut result: Option<(ResultVectors, Class)> = None;
            for buffer in buffers {
                let source = Block { variable: self.constants_of(buffer), index: None, slots: None };
                result = Some(self.select_block(index, buffer.wrapping_sub(first), source, (start, types), result)?);
            }
            let Some(result) = result else { return Ok(()) };
            result
        } else {
            self.words_of_array(place, buffers, start, types)?
        };
        if self.buffers.plan.indexes_uniforms {
            let source = Block { variable: self.constants_of(0), index: None, slots: None };
            let others = Some((chunks, class));
            (chunks, class) = self.select_block(index, 0u32.wrapping_sub(first), source, (start, types), others)?;
        }
        self.define_words(def, &chunks, class)
    }

    /// Returns the words of `source` if `index` equals `number`, else `others`, or zeros if `others` is `None`.
    fn select_block(
        &mut self,
        index: Id,
        number: u32,
        source: Block,
        (start, types): (LoadStart, &[ValueType]),
        others: Option<(ResultVectors, Class)>,
    ) -> Result<(ResultVectors, Class), SpirvError> {
        let number = self.module.uint(number);
        let chosen = self.pure_of(Op::IEqual, ValueType::BOOL, &[index, number]);
        let own = self.block_words(source, start, types)?;
        let class = others.as_ref().map_or(source.variable.class, |&(_, class)| class);
        let mut words = ResultVectors::new();
        for (number, (&ty, &id)) in types.iter().zip(&own).enumerate() {
            let ty = ValueType { class, ..ty };
            let id = if class == source.variable.class { id } else { self.pure_of(Op::Bitcast, ty, &[id]) };
            let other = match &others {
                Some((others, _)) => others[number],
                None => {
                    let ty = self.module.value_type(ty);
                    self.module.null(ty)
                }
            };
            words.push(self.select(ty, chosen, id, other));
        }
        Ok((words, class))
    }

    /// Returns the words of the element of the block array that `place` selects; zeros if it is outside.
    fn words_of_array(
        &mut self,
        place: ArrayIndex,
        buffers: std::ops::Range<u32>,
        start: LoadStart,
        types: &[ValueType],
    ) -> Result<(ResultVectors, Class), SpirvError> {
        let index = self.place_id(place);
        let variable = self.constant_array();
        let count = buffers.len() as u32;
        let check = self.check(place, 1, count);
        let sizes: SmallVec<[u32; 32]> =
            buffers.map(|buffer| self.buffers.plan.constants.get(&buffer).map_or(1, |found| found.slots())).collect();
        let slots = if sizes.iter().all(|&size| size == variable.slots) || self.options.robust {
            None
        } else {
            // Selects the number of vec4s by the number of the buffer.
            let mut slots = self.module.uint(sizes[0]);
            for (number, &size) in sizes.iter().enumerate().skip(1) {
                let (number, size) = (self.module.uint(number as u32), self.module.uint(size));
                let chosen = self.pure_of(Op::IEqual, ValueType::BOOL, &[index, number]);
                slots = self.select(ValueType::UINT, chosen, size, slots);
            }
            Some(slots)
        };
        let index = match check {
            BoundsCheck::Always => index,
            _ => {
                let last = self.module.uint(count - 1);
                self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[index, last])
            }
        };
        let source = Block { variable, index: Some(index), slots };
        let mut chunks = self.block_words(source, start, types)?;
        if let BoundsCheck::If(condition) = check {
            for (&ty, id) in types.iter().zip(&mut chunks) {
                let ty = ValueType { class: variable.class, ..ty };
                let zero = self.module.value_type(ty);
                let zero = self.module.null(zero);
                *id = self.select(ty, condition, *id, zero);
            }
        }
        Ok((chunks, variable.class))
    }

    /// Emits a load of which only one component is used as a load of that component. Returns false if it is not such a
    /// load.
    fn load_component(&mut self, def: Def, block: Block, start: LoadStart) -> Result<bool, SpirvError> {
        let (place, first) = match start {
            LoadStart::Slot(place, first) => (place, first),
            LoadStart::Word(ArrayIndex::Constant(word)) => {
                let count = self.body.num_components(def).into();
                if block.slots.is_some()
                    || self.check(ArrayIndex::Constant(word), count, 4 * block.variable.slots) == BoundsCheck::Never
                {
                    return Ok(false);
                }
                (ArrayIndex::Constant(word >> 2), (word & 3) as u8)
            }
            LoadStart::Word(ArrayIndex::Dynamic { .. }) => return Ok(false),
        };
        let components = self.body.num_components(def);
        let read = self.components_read(def);
        if self.body.bit_size(def) != 32 || components < 2 || read.count_ones() != 1 {
            return Ok(false);
        }
        let component = first + read.trailing_zeros() as u8;
        let place = self.advance(place, u32::from(component >> 2));
        let ty = ValueType::new(block.variable.class, 32, 1);
        let id = self.slot_words(block, place, component & 3, ty)?;
        self.define_repeated(def, id, block.variable.class);
        Ok(true)
    }

    /// Returns a mask of the used components of a value; all, unless only ALU instructions use it.
    fn components_read(&self, def: Def) -> u32 {
        let body = self.body;
        let all = body.full_mask(def);
        body.uses_of(def).fold(0, |read, source| match body.user(source) {
            User::Inst(inst) if body.alu_op(inst).is_some() => {
                let count = body.alu_src_components(inst, body.source_number(source));
                body.swizzle(source).iter(count).fold(read, |read, component| read | 1 << component)
            }
            _ => all,
        })
    }

    /// Returns the words of a value in a block.
    fn block_words(
        &mut self,
        block: Block,
        start: LoadStart,
        types: &[ValueType],
    ) -> Result<ResultVectors, SpirvError> {
        let class = block.variable.class;
        let mut chunks = ResultVectors::new();
        let mut next = 0;
        let check = match start {
            LoadStart::Slot(..) => BoundsCheck::Always,
            LoadStart::Word(place) => {
                let count = types.iter().map(|ty| u32::from(ty.components)).sum();
                self.check_words_of(block, place, count)
            }
        };
        for &ty in types {
            let ty = ValueType { class, ..ty };
            chunks.push(match start {
                LoadStart::Slot(place, component) => {
                    let word = u32::from(component) + next;
                    let place = self.advance(place, word >> 2);
                    self.vector_of_slots(block, place, (word & 3) as u8, ty)?
                }
                LoadStart::Word(place) => {
                    let place = self.advance(place, next);
                    self.words_of_slots(block, place, check, ty)?
                }
            });
            next += u32::from(ty.components);
        }
        Ok(chunks)
    }

    /// Loads a vector that starts at component `component` of a vec4 and may extend into the next one.
    fn vector_of_slots(
        &mut self,
        block: Block,
        place: ArrayIndex,
        component: u8,
        ty: ValueType,
    ) -> Result<Id, SpirvError> {
        if component + ty.components <= 4 {
            return self.slot_words(block, place, component, ty);
        }
        let here = ty.with_components(4 - component);
        let there = ty.with_components(ty.components - here.components);
        let low = self.slot_words(block, place, component, here)?;
        let next = self.advance(place, 1);
        let high = self.slot_words(block, next, 0, there)?;
        let ty = self.module.value_type(ty);
        Ok(self.pure(Op::CompositeConstruct, ty, &[low.0, high.0]))
    }

    /// Loads components of one vec4; zeros if it is outside.
    fn slot_words(&mut self, block: Block, place: ArrayIndex, component: u8, ty: ValueType) -> Result<Id, SpirvError> {
        let variable = block.variable;
        let check = match block.slots {
            // The type has the length of the longest block.
            Some(slots) => {
                let index = self.place_id(place);
                BoundsCheck::If(self.is_below(index, slots))
            }
            None => self.check(place, 1, variable.slots),
        };
        let ty_id = self.module.value_type(ty);
        let index = match (check, place) {
            (BoundsCheck::Never, _) => return Ok(self.module.null(ty_id)),
            (BoundsCheck::If(_), ArrayIndex::Dynamic { index, .. }) => {
                let last = self.module.uint(variable.slots - 1);
                self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[index, last])
            }
            (_, ArrayIndex::Constant(slot)) => self.module.uint(slot.min(variable.slots - 1)),
            (_, place) => self.place_id(place),
        };
        let id = if ty.components == 1 {
            let component = self.module.uint(component.into());
            self.load_of_block(block, &[index, component], ty)
        } else {
            let whole = ty.with_components(4);
            let vector = self.load_of_block(block, &[index], whole);
            let selectors: SmallVec<[u8; 4]> = (component..component + ty.components).collect();
            self.take(vector, whole, Swizzle::new(&selectors), ty.components)
        };
        let BoundsCheck::If(condition) = check else { return Ok(id) };
        let zero = self.module.null(ty_id);
        Ok(self.select(ty, condition, id, zero))
    }

    /// Returns the bounds check of `count` words of a block.
    fn check_words_of(&mut self, block: Block, place: ArrayIndex, count: u32) -> BoundsCheck {
        let Some(slots) = block.slots else { return self.check(place, count, 4 * block.variable.slots) };
        let four = self.module.uint(4);
        let length = self.pure_of(Op::IMul, ValueType::UINT, &[slots, four]);
        let last = self.advance(place, count - 1);
        let last = self.place_id(last);
        BoundsCheck::If(self.is_below(last, length))
    }

    /// Loads words from a word on, each separately; zeros unless `check` holds.
    fn words_of_slots(
        &mut self,
        block: Block,
        place: ArrayIndex,
        check: BoundsCheck,
        ty: ValueType,
    ) -> Result<Id, SpirvError> {
        let variable = block.variable;
        let ty_id = self.module.value_type(ty);
        if check == BoundsCheck::Never {
            return Ok(self.module.null(ty_id));
        }
        if let ArrayIndex::Constant(word) = place {
            let slot = ArrayIndex::Constant(word >> 2);
            let id = self.vector_of_slots(Block { slots: None, ..block }, slot, (word & 3) as u8, ty)?;
            let BoundsCheck::If(condition) = check else { return Ok(id) };
            let zero = self.module.null(ty_id);
            return Ok(self.select(ty, condition, id, zero));
        }
        let count = u32::from(ty.components);
        let (two, three) = (self.module.uint(2), self.module.uint(3));
        let mut words: SmallVec<[u32; 4]> = SmallVec::new();
        for number in 0..count {
            let word = self.advance(place, number);
            let word = self.place_id(word);
            let mut slot = self.pure_of(Op::ShiftRightLogical, ValueType::UINT, &[word, two]);
            if let BoundsCheck::If(_) = check {
                let last = self.module.uint(variable.slots - 1);
                slot = self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[slot, last]);
            }
            let component = self.pure_of(Op::BitwiseAnd, ValueType::UINT, &[word, three]);
            words.push(self.load_of_block(block, &[slot, component], ty.scalar()).0);
        }
        let id = match words.as_slice() {
            &[word] => Id(word),
            words => self.pure(Op::CompositeConstruct, ty_id, words),
        };
        let BoundsCheck::If(condition) = check else { return Ok(id) };
        let zero = self.module.null(ty_id);
        Ok(self.select(ty, condition, id, zero))
    }

    /// Loads a vec4 of a block, or one component of it.
    fn load_of_block(&mut self, block: Block, place: &[Id], ty: ValueType) -> Id {
        let ty = self.module.value_type(ty);
        let pointer = self.module.pointer_type(StorageClass::Uniform, ty);
        let member = self.module.uint(0);
        let operands: SmallVec<[u32; 5]> = [block.variable.id]
            .into_iter()
            .chain(block.index)
            .chain([member])
            .chain(place.iter().copied())
            .map(|id| id.0)
            .collect();
        let pointer = self.pure(Op::AccessChain, pointer, &operands);
        // Constants do not change while a shader runs, so the load is pure.
        self.pure(Op::Load, ty, &[pointer.0])
    }

    /// Emits `get_ubo_size`: the declared size.
    fn emit_constant_buffer_size(&mut self, inst: Inst, def: Def) -> Result<(), SpirvError> {
        let first = self.shader.info.first_ubo_buffer();
        let Some(block) = self.body.constant_component(self.body.src(inst, 0), 0) else {
            return Err(SpirvError::Unsupported { inst, what: "the size of a constant buffer with a dynamic index" });
        };
        let buffer = (block as u32).wrapping_add(first);
        let bytes = self.buffers.plan.constants.get(&buffer).map_or(0, |found| found.slots() * 16);
        let id = self.module.uint(bytes);
        self.define(def, id, Class::Uint);
        Ok(())
    }
}
