//! Values of source operands.
//!
//! A fetched operand is an [`AluSrc`]: the loaded value of the register with the operand's swizzle, through which the
//! consumer reads. Modifiers are instructions on the components that are read. A register is loaded once per
//! instruction, however often it occurs; constants and inputs are mostly loaded once per block.

use tgsi_environment::SystemValue;
use tgsi_ir::alu::{AluOp, AluType};
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::{Block, Def};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{AluFlags, Cursor, InstData, Swizzle};

use super::computed_lanes::Lanes;
use super::control_flow::{KNOWN_WORDS, Translator};
use tgsi::shader::{Indirect, Register, Src};
use tgsi::tables::{File, OperandType, Processor, Semantic};

/// A loaded register: component c of the register is component `components.get(c)` of the value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) def: Def,
    pub(super) components: Swizzle,
}

/// The most recent load of a register that never changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnchangingLoad {
    register: Register,
    operand: OperandType,
    block: Block,
    loaded: Loaded,
}

impl From<Def> for Loaded {
    fn from(def: Def) -> Loaded {
        Loaded { def, components: Swizzle::IDENTITY }
    }
}

impl Translator<'_, '_> {
    /// Marks the end of the top of the function; constants are inserted here.
    pub(super) fn end_of_top(&mut self) {
        let start = self.b.body.start_block();
        if let Some(last) = self.b.body.last_inst(start) {
            self.top = Some(last);
        }
    }

    /// Returns a constant at the top of the function, without duplicates.
    pub(super) fn constant_of(&mut self, bit_size: u8, values: &[u64]) -> Def {
        let key = (bit_size, values.iter().copied().collect());
        if let Some(&def) = self.constants.get(&key) {
            return def;
        }
        let start = self.b.body.push_constants(values);
        let shape = Shape::new(values.len() as u8, bit_size);
        let inst = self.b.body.create_inst(InstData::LoadConst { start }, &[], Some(shape));
        let cursor = match self.top {
            Some(top) => Cursor::After(top),
            None => Cursor::BlockStart(self.b.body.start_block()),
        };
        self.b.body.insert_inst(cursor, inst);
        self.top = Some(inst);
        // A load_const always has a value; the fallback is an undefined one.
        let def = self.b.body.inst_def(inst).unwrap_or_else(|| self.b.undef(shape.num_components, bit_size));
        self.constants.insert(key, def);
        def
    }

    /// A 32-bit constant.
    pub(super) fn constant(&mut self, value: u32) -> Def {
        let position = (value.wrapping_mul(0x9e37_79b1) >> 16) as usize % KNOWN_WORDS;
        match self.words[position] {
            Some((known, def)) if known == value => def,
            _ => {
                let def = self.constant_of(32, &[u64::from(value)]);
                self.words[position] = Some((value, def));
                def
            }
        }
    }

    /// A 32-bit float constant.
    pub(super) fn float(&mut self, value: f32) -> Def {
        self.constant(value.to_bits())
    }

    /// A vector constant.
    pub(super) fn constant_vector(&mut self, words: &[u32; 4]) -> Def {
        self.constant_of(32, &words.map(u64::from))
    }

    /// Returns the immediate with this number, or 0 if it does not exist.
    pub(super) fn immediate(&mut self, index: i32) -> Def {
        if self.immediates.is_empty() {
            self.immediates.resize(self.context.shader.immediates.len(), None);
        }
        let position = usize::try_from(index).ok();
        if let Some(&Some(def)) = position.and_then(|position| self.immediates.get(position)) {
            return def;
        }
        let words = self.immediate_words(index);
        let def = self.constant_vector(&words);
        if let Some(known) = position.and_then(|position| self.immediates.get_mut(position)) {
            *known = Some(def);
        }
        def
    }

    fn immediate_words(&self, index: i32) -> [u32; 4] {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.context.shader.immediates.get(index))
            .map_or([0; 4], |immediate| std::array::from_fn(|component| immediate.word(component)))
    }

    /// Returns the word in a channel of an operand, if it is known, that is, an immediate.
    pub(super) fn known_word(&self, src: &Src, channel: usize) -> Option<u32> {
        let register = &src.register;
        (register.file == File::Immediate && register.indirect.is_none() && !src.absolute && !src.negate)
            .then(|| self.immediate_words(register.index)[usize::from(src.swizzle[channel & 3] & 3)])
    }

    /// Builds instructions with other flags than those of the TGSI instruction.
    pub(super) fn with_flags<T>(&mut self, flags: AluFlags, build: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.b.flags, flags);
        let result = build(self);
        self.b.flags = before;
        result
    }

    /// `value + constant` as integers.
    pub(super) fn add_constant(&mut self, value: Def, constant: i32) -> Def {
        if constant == 0 {
            return value;
        }
        let constant = self.constant(constant as u32);
        self.with_flags(AluFlags::NONE, |t| t.b.alu(AluOp::Iadd, &[value, constant]))
    }

    /// Returns an operand as the channels of `lanes` read it.
    pub(super) fn fetch(&mut self, src: &Src, operand: OperandType, lanes: Lanes) -> AluSrc {
        let mut selectors = lanes.channel.map(|channel| src.swizzle[usize::from(channel & 3)] & 3);
        // Components beyond the lanes are not read; the first selector is a valid one for them.
        for position in 1..4 {
            if position >= usize::from(lanes.count) {
                selectors[position] = selectors[0];
            }
        }
        let [x, y, z, w] = selectors;
        let loaded = self.load(&src.register, 1 << x | 1 << y | 1 << z | 1 << w, operand);
        let [x, y, z, w] = selectors.map(|selector| loaded.components.get(usize::from(selector)));
        let swizzle = Swizzle::replicate(x).with(1, y).with(2, z).with(3, w);
        self.modified(AluSrc::new(loaded.def, swizzle), lanes.count, src, operand)
    }

    /// Returns one channel of an operand.
    pub(super) fn fetch_channel(&mut self, src: &Src, operand: OperandType, channel: u8) -> AluSrc {
        self.fetch(src, operand, Lanes::one(channel))
    }

    /// Returns one channel of an operand as a scalar value.
    pub(super) fn scalar(&mut self, src: &Src, operand: OperandType, channel: u8) -> Def {
        let value = self.fetch_channel(src, operand, channel);
        self.b.mov(value, 1)
    }

    /// Returns the first `count` channels of an operand as a vector.
    pub(super) fn vector(&mut self, src: &Src, operand: OperandType, count: u8) -> Def {
        let value = self.fetch(src, operand, Lanes::first(count));
        self.b.mov(value, count)
    }

    pub(super) fn modified(&mut self, mut value: AluSrc, count: u8, src: &Src, operand: OperandType) -> AluSrc {
        if operand.is_64bit() || !(src.absolute || src.negate) {
            return value;
        }
        let mut ops = [None; 2];
        if src.absolute {
            ops[0] = Some(AluOp::Fabs);
        }
        if src.negate {
            ops[1] = Some(if operand.is_float() { AluOp::Fneg } else { AluOp::Ineg });
        }
        for op in ops.into_iter().flatten() {
            let def = self.b.alu_sized(op, count, &[value]);
            value = if count == 1 { AluSrc::component(def, 0) } else { def.into() };
        }
        value
    }

    /// Returns the run-time part of an index.
    pub(super) fn index_value(&mut self, indirect: Indirect) -> Def {
        let component = indirect.component & 3;
        let register = Register::new(indirect.file, indirect.index);
        let loaded = self.load(&register, 1 << component, OperandType::Int);
        self.b.mov(AluSrc::component(loaded.def, loaded.components.get(usize::from(component))), 1)
    }

    /// Returns an index with its run-time part, if it has one.
    pub(super) fn index(&mut self, index: i32, indirect: Option<Indirect>) -> Def {
        match indirect {
            Some(indirect) => {
                let offset = self.index_value(indirect);
                self.add_constant(offset, index)
            }
            None => self.constant(index as u32),
        }
    }

    /// Loads a register; only the components of `needed` will be read.
    pub(super) fn load(&mut self, register: &Register, needed: u8, operand: OperandType) -> Loaded {
        match register.file {
            File::Address => return self.load_address(register, needed),
            File::SystemValue => return self.load_system_values(register, needed),
            _ => {}
        }
        if Self::never_changes(register) {
            return self.load_unchanging(register, operand);
        }
        if let Some((_, loaded)) = self.loaded.iter().find(|(known, _)| known == register) {
            return *loaded;
        }
        let loaded = self.load_uncached(register, operand);
        // If the cache is full, the register is loaded again.
        let _ = self.loaded.try_push((*register, loaded));
        loaded
    }

    /// Whether a register has the same value throughout the shader.
    fn never_changes(register: &Register) -> bool {
        matches!(register.file, File::Constant | File::ConstantBuffer | File::Input)
            && register.indirect.is_none()
            && register.dimension.is_none_or(|outer| outer.indirect.is_none())
    }

    /// Loads a register that never changes, reusing an earlier load in the same block or in the first one.
    fn load_unchanging(&mut self, register: &Register, operand: OperandType) -> Loaded {
        let block = self.b.block();
        let position = register.index as usize % self.unchanging.len();
        if let Some(known) = &self.unchanging[position]
            && known.register == *register
            && known.operand == operand
            && (known.block == block || known.block == self.b.body.start_block())
        {
            return known.loaded;
        }
        let loaded = self.load_uncached(register, operand);
        self.unchanging[position] = Some(UnchangingLoad { register: *register, operand, block, loaded });
        loaded
    }

    fn zero(&mut self) -> Loaded {
        self.constant_vector(&[0; 4]).into()
    }

    fn load_uncached(&mut self, register: &Register, operand: OperandType) -> Loaded {
        match register.file {
            File::Immediate => self.load_immediate(register),
            File::Temporary => self.load_from_bank(register),
            File::Output if self.context.shader.processor != Processor::TessControl => self.load_from_bank(register),
            File::Input | File::Output => match self.load_io(register) {
                Some(def) => def.into(),
                None => self.zero(),
            },
            File::Constant | File::ConstantBuffer => self.load_constant_register(register, operand),
            // The first two are loaded component by component; the others have no value.
            File::Address
            | File::SystemValue
            | File::Null
            | File::Sampler
            | File::SamplerView
            | File::Image
            | File::Buffer
            | File::Memory
            | File::HwAtomic => self.zero(),
        }
    }

    fn load_immediate(&mut self, register: &Register) -> Loaded {
        let Some(indirect) = register.indirect else { return self.immediate(register.index).into() };
        let Some(array) = self.context.immediate_array else { return self.zero() };
        let index = self.index(register.index, Some(indirect));
        let deref = self.element_deref(&array, index);
        self.b.load_deref(deref, Shape::new(4, 32)).into()
    }

    /// Whether the operand has an outer index although its file has only one buffer.
    fn is_elsewhere(register: &Register) -> bool {
        register.dimension.is_some_and(|dimension| dimension.indirect.is_none() && dimension.index != 0)
    }

    fn load_from_bank(&mut self, register: &Register) -> Loaded {
        if Self::is_elsewhere(register) {
            return self.zero();
        }
        if let Some(indirect) = register.indirect {
            let Some((array, bounds)) = self.indirect_array(register.file, indirect) else { return self.zero() };
            let offset = self.index_value(indirect);
            let index = self.element_index(array.first, array.length, register.index, offset, bounds);
            let deref = self.element_deref(&array, index);
            return self.b.load_deref(deref, Shape::new(4, 32)).into();
        }
        match self.load_register(register.file, register.index) {
            Some(def) => def.into(),
            None => self.zero(),
        }
    }

    /// Returns the array variable of an indirect access, and the registers that it may address.
    pub(super) fn indirect_array(
        &self,
        file: File,
        indirect: Indirect,
    ) -> Option<(super::declarations::Array, (i32, i32))> {
        let bounds = self.context.bounds(file, indirect.array_id)?;
        let array = self.context.bank(file).array_at(bounds.0)?;
        Some((array, bounds))
    }

    fn load_address(&mut self, register: &Register, needed: u8) -> Loaded {
        let scalar = |t: &mut Self, component: u8| match t.context.address.get(&(register.index, component)).copied() {
            Some(single) => t.load_single(single),
            None => t.constant(0),
        };
        if needed.count_ones() == 1 {
            let def = scalar(self, needed.trailing_zeros() as u8);
            return Loaded { def, components: Swizzle::replicate(0) };
        }
        let mut components = [0; 4].map(|_: u8| None);
        for component in (0..4u8).filter(|component| needed >> component & 1 != 0) {
            components[usize::from(component)] = Some(scalar(self, component));
        }
        let Some(first) = components.iter().flatten().next().copied() else { return self.zero() };
        let scalars = components.map(|component| component.unwrap_or(first));
        self.b.vec_of(&scalars).into()
    }

    fn load_constant_register(&mut self, register: &Register, operand: OperandType) -> Loaded {
        let outer = register.dimension;
        let shape = Shape::new(4, 32);
        let is_first = outer.is_none_or(|outer| outer.indirect.is_none() && outer.index == 0);
        if is_first {
            let size = self.context.ir.num_uniforms as i32;
            let (offset, range) = match register.indirect {
                Some(indirect) => (self.index_value(indirect), (size - register.index).max(1)),
                // A negative register number is out of bounds.
                None if register.index < 0 => return self.zero(),
                None => (self.constant(0), 1),
            };
            let dest_type = match operand {
                OperandType::Int => AluType::INT32,
                OperandType::Uint => AluType::UINT32,
                _ => AluType::FLOAT32,
            };
            let indices = [
                (IndexKind::Base, register.index),
                (IndexKind::Range, range),
                (IndexKind::DestType, dest_type.to_i32()),
            ];
            return self.b.intrinsic_def(IntrinsicOp::LoadUniform, &[offset], &indices, shape).into();
        }
        // Block k is constant buffer k + 1.
        let block = match outer {
            Some(outer) if outer.indirect.is_none() && outer.index < 0 => return self.zero(),
            Some(outer) => self.index(outer.index.wrapping_sub(1), outer.indirect),
            None => self.constant(0),
        };
        let mut range_base = 0;
        let mut range = -1;
        let offset = match register.indirect {
            Some(indirect) => {
                let index = self.index(register.index, Some(indirect));
                // Clamp the index, so that the byte offset cannot wrap around; the result is beyond every buffer.
                let most = self.constant(u32::MAX >> 4);
                let index = self.b.alu(AluOp::Umin, &[index, most]);
                let four = self.constant(4);
                self.b.alu(AluOp::Ishl, &[index, four])
            }
            None if register.index < 0 => return self.zero(),
            None => {
                range_base = register.index << 4;
                range = 16;
                self.constant((register.index as u32) << 4)
            }
        };
        let indices = [
            (IndexKind::AlignMul, 16),
            (IndexKind::AlignOffset, 0),
            (IndexKind::RangeBase, range_base),
            (IndexKind::Range, range),
        ];
        self.b.intrinsic_def(IntrinsicOp::LoadUbo, &[block, offset], &indices, shape).into()
    }

    /// Returns a system value of fewer than four components; the others, if they are read, are 0.
    fn padded(&mut self, def: Def, components: u8, needed: u8) -> Loaded {
        let swizzle: [u8; 4] = std::array::from_fn(|position| (position as u8).min(components.saturating_sub(1)));
        if needed >> components == 0 {
            return Loaded { def, components: Swizzle::new(&swizzle) };
        }
        let zero = AluSrc::component(self.constant(0), 0);
        let sources: [AluSrc; 4] = std::array::from_fn(|position| {
            if (position as u8) < components { AluSrc::component(def, position as u8) } else { zero }
        });
        self.b.vec(&sources).into()
    }

    fn load_system_values(&mut self, register: &Register, needed: u8) -> Loaded {
        let Some(indirect) = register.indirect else { return self.load_system_value(register.index, needed) };
        let Some(bounds) = self.context.bounds(File::SystemValue, indirect.array_id) else { return self.zero() };
        let index = self.index(register.index, Some(indirect));
        let mut value = self.zero().def;
        for candidate in bounds.0..=bounds.1 {
            if self.context.declaration_of(File::SystemValue, candidate).is_none() {
                continue;
            }
            let own = self.load_system_value(candidate, 0xf);
            let number = self.constant(candidate as u32);
            let chosen = self.b.alu(AluOp::Ieq, &[index, number]);
            let sources = [AluSrc::component(chosen, 0), AluSrc::new(own.def, own.components), value.into()];
            value = self.b.alu_sized(AluOp::Bcsel, 4, &sources);
        }
        value.into()
    }

    fn load_system_value(&mut self, index: i32, needed: u8) -> Loaded {
        let semantic = self.context.declaration_of(File::SystemValue, index).and_then(|d| d.semantic).map(|s| s.name);
        let Some(value) = semantic.and_then(Semantic::system_value) else { return self.zero() };
        let Some(op) = IntrinsicOp::load_of(value) else { return self.zero() };
        if matches!(value, SystemValue::SampleId | SystemValue::SamplePos) {
            self.context.ir.info.fs.uses_sample_shading = true;
        }
        let (components, bit_size) = (value.num_components(), value.bit_size());
        let def = self.b.intrinsic_def(op, &[], &[], Shape::new(components, bit_size));
        match bit_size {
            // All ones or 0.
            1 => {
                let truth = self.truth(def.into(), components);
                self.padded(truth, components, needed)
            }
            // The low word, the high word.
            64 => {
                let words = self.b.alu(AluOp::Unpack642x32, &[def]);
                self.padded(words, 2, needed)
            }
            // A value may have more words than the four of a register.
            _ => self.padded(def, components.min(4), needed),
        }
    }
}
