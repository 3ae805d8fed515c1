//! Memory as an array of 32-bit words: shared code for storage buffers, counters, shared memory, push constants,
//! scratch memory and constant data.
//!
//! A load that is partly out of bounds gives zeros; a store writes the components that are in bounds.

use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::integer_range::integer_range;
use tgsi_ir::body::Swizzle;
use tgsi_ir::{Def, Inst};

use crate::emit::Emitter;
use crate::emit::memory_model::Qualifiers;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// The number of words of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// This number, fixed by the type.
    Known(u32),
    /// Determined by the bound buffer, but at least this number.
    Bound(u32),
}

/// An array of words: the variable itself, or the only member of a block.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The variable, or a pointer to the block.
    pub base: Id,
    /// Its storage class.
    pub storage: StorageClass,
    /// The array is a member of a block.
    pub in_block: bool,
    /// The class of the words.
    pub class: Class,
    /// The number of words.
    pub length: Length,
    /// How it is declared.
    pub qualifiers: Qualifiers,
}

/// An index into an array.
#[derive(Clone, Copy, Debug)]
pub enum ArrayIndex {
    /// A constant index.
    Constant(u32),
    /// A dynamic index.
    Dynamic {
        /// The index, unsigned.
        index: Id,
        /// An upper bound of the index.
        most: u32,
    },
}

/// The bounds check of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoundsCheck {
    /// Proven to be inside.
    Always,
    /// Proven to be outside.
    Never,
    /// Inside if this condition holds.
    If(Id),
}

/// The ids of a result: one vector for every four words.
pub type ResultVectors = SmallVec<[Id; 2]>;

impl Emitter<'_> {
    /// Returns the index `(base + offset) >> shift`. If the offset is itself a number shifted left, uses that number.
    pub fn place(&mut self, base: u32, offset: Def, shift: u32) -> Result<ArrayIndex, SpirvError> {
        let body = self.body;
        if let Some(offset) = body.constant_component(offset, 0) {
            return Ok(ArrayIndex::Constant(base.wrapping_add(offset as u32) >> shift));
        }
        let limit = u32::MAX >> shift;
        let inst = body.def_inst(offset);
        if body.bit_size(offset) != 32 {
            return Err(SpirvError::Unsupported { inst, what: "an address of other than 32 bits" });
        }
        let shifted = (shift > 0 && body.alu_op(inst) == Some(AluOp::Ishl) && base & ((1 << shift) - 1) == 0)
            .then(|| (body.source(inst, 0), body.source(inst, 1)))
            .filter(|&(_, count)| {
                self.constant_operand(count, 1).is_some_and(|count| count[0] & 31 == u64::from(shift))
            });
        if let Some((number, _)) = shifted {
            let range = integer_range(body, body.src_def(number), usize::from(body.swizzle(number).get(0)));
            if range.low >= 0 && range.high + i64::from(base >> shift) <= i64::from(limit) {
                let index = self.operand(number, Class::Uint)?;
                return Ok(self.advance(ArrayIndex::Dynamic { index, most: range.high as u32 }, base >> shift));
            }
        }
        let range = integer_range(body, offset, 0);
        let most = if range.low >= 0 { range.high as u32 } else { u32::MAX };
        let index = self.component(offset, 0, Class::Uint)?;
        let ArrayIndex::Dynamic { index, most } = self.advance(ArrayIndex::Dynamic { index, most }, base) else {
            return Ok(ArrayIndex::Constant(0));
        };
        if shift == 0 {
            return Ok(ArrayIndex::Dynamic { index, most });
        }
        let count = self.module.uint(shift);
        let index = self.pure_of(Op::ShiftRightLogical, ValueType::UINT, &[index, count]);
        Ok(ArrayIndex::Dynamic { index, most: most >> shift })
    }

    /// Adds `count` to an index.
    pub fn advance(&mut self, place: ArrayIndex, count: u32) -> ArrayIndex {
        match place {
            ArrayIndex::Constant(number) => ArrayIndex::Constant(number.wrapping_add(count)),
            ArrayIndex::Dynamic { .. } if count == 0 => place,
            ArrayIndex::Dynamic { index, most } => {
                let count_id = self.module.uint(count);
                let index = self.pure_of(Op::IAdd, ValueType::UINT, &[index, count_id]);
                ArrayIndex::Dynamic { index, most: most.saturating_add(count) }
            }
        }
    }

    /// Returns the id of an index.
    pub fn place_id(&mut self, place: ArrayIndex) -> Id {
        match place {
            ArrayIndex::Constant(number) => self.module.uint(number),
            ArrayIndex::Dynamic { index, .. } => index,
        }
    }

    /// Checks that `count` elements from an index on are below `length`.
    pub fn check(&mut self, place: ArrayIndex, count: u32, length: u32) -> BoundsCheck {
        match place {
            ArrayIndex::Constant(number) if number.checked_add(count).is_some_and(|end| end <= length) => {
                BoundsCheck::Always
            }
            ArrayIndex::Constant(_) => BoundsCheck::Never,
            ArrayIndex::Dynamic { .. } if length < count => BoundsCheck::Never,
            ArrayIndex::Dynamic { most, .. } if self.options.robust || most <= length - count => BoundsCheck::Always,
            ArrayIndex::Dynamic { index, .. } => {
                let limit = self.module.uint(length - count + 1);
                BoundsCheck::If(self.is_below(index, limit))
            }
        }
    }

    /// Checks that `count` words from an index on are inside.
    fn check_words(&mut self, memory: &Memory, place: ArrayIndex, count: u32) -> BoundsCheck {
        let known = match memory.length {
            Length::Known(length) => return self.check(place, count, length),
            Length::Bound(known) => known,
        };
        if self.options.robust {
            return BoundsCheck::Always;
        }
        let (ArrayIndex::Constant(most) | ArrayIndex::Dynamic { most, .. }) = place;
        let last = most.saturating_add(count - 1);
        if last < known {
            return BoundsCheck::Always;
        }
        // Word indices have 30 bits, so adding to one does not wrap around.
        let length = self.length(memory);
        let last = match place {
            ArrayIndex::Constant(_) => ArrayIndex::Constant(last),
            place => self.advance(place, count - 1),
        };
        let last = self.place_id(last);
        BoundsCheck::If(self.is_below(last, length))
    }

    /// Returns the number of words of a memory.
    pub fn length(&mut self, memory: &Memory) -> Id {
        match memory.length {
            Length::Known(length) => self.module.uint(length),
            Length::Bound(_) => {
                let ty = self.module.value_type(ValueType::UINT);
                self.pure(Op::ArrayLength, ty, &[memory.base.0, 0])
            }
        }
    }

    /// Emits a pointer to a word.
    fn word_pointer(&mut self, memory: &Memory, place: ArrayIndex) -> Id {
        let element = self.module.value_type(ValueType::new(memory.class, 32, 1));
        let ty = self.module.pointer_type(memory.storage, element);
        let index = self.place_id(place);
        if memory.in_block {
            let member = self.module.uint(0);
            return self.pure(Op::AccessChain, ty, &[memory.base.0, member.0, index.0]);
        }
        self.pure(Op::AccessChain, ty, &[memory.base.0, index.0])
    }

    /// Returns the types of the vectors that hold the words of a value.
    pub fn chunk_types(&self, def: Def, class: Class) -> Result<SmallVec<[ValueType; 2]>, SpirvError> {
        let each = self.words_each(def)?;
        let words = u32::from(self.body.num_components(def)) * each;
        let chunks = (0..words.div_ceil(4)).map(|chunk| ValueType::new(class, 32, (words - 4 * chunk).min(4) as u8));
        Ok(chunks.collect())
    }

    /// Returns the number of words of a component of a value in memory.
    fn words_each(&self, def: Def) -> Result<u32, SpirvError> {
        match self.body.bit_size(def) {
            32 => Ok(1),
            64 => Ok(2),
            _ => {
                let inst = self.body.def_inst(def);
                Err(SpirvError::Unsupported { inst, what: "a memory access with fewer than 32 bits" })
            }
        }
    }

    /// Loads the words of a value from an index on; zeros if not all are inside.
    pub fn load_words(
        &mut self,
        memory: &Memory,
        place: ArrayIndex,
        types: &[ValueType],
    ) -> Result<ResultVectors, SpirvError> {
        let count = types.iter().map(|ty| u32::from(ty.components)).sum();
        match self.check_words(memory, place, count) {
            BoundsCheck::Never => Ok(self.zeros(types)),
            BoundsCheck::Always => Ok(self.words_inside(memory, place, types)),
            BoundsCheck::If(condition) => {
                self.if_then_values(condition, types, |e| Ok(e.words_inside(memory, place, types)))
            }
        }
    }

    pub fn zeros(&mut self, types: &[ValueType]) -> ResultVectors {
        types
            .iter()
            .map(|&ty| {
                let ty = self.module.value_type(ty);
                self.module.null(ty)
            })
            .collect()
    }

    fn words_inside(&mut self, memory: &Memory, place: ArrayIndex, types: &[ValueType]) -> ResultVectors {
        let mut next = 0;
        let mut chunks = ResultVectors::new();
        for ty in types {
            let scalar = self.module.value_type(ty.scalar());
            let mut words: SmallVec<[u32; 4]> = SmallVec::new();
            for _ in 0..ty.components {
                let place = self.advance(place, next);
                let pointer = self.word_pointer(memory, place);
                words.push(self.load_shared(scalar, pointer, memory.storage, memory.qualifiers).0);
                next += 1;
            }
            chunks.push(match words.as_slice() {
                &[word] => Id(word),
                words => {
                    let ty = self.module.value_type(*ty);
                    self.result(Op::CompositeConstruct, ty, words)
                }
            });
        }
        chunks
    }

    /// Defines the result of a load from its words.
    pub fn define_words(&mut self, def: Def, chunks: &[Id], class: Class) -> Result<(), SpirvError> {
        let (bits, components) = (self.body.bit_size(def), self.body.num_components(def));
        let types = self.chunk_types(def, class)?;
        let wanted = self.classes.get(def);
        match bits {
            64 => {
                let mut parts: SmallVec<[u32; 4]> = SmallVec::new();
                let scalar = ValueType::new(wanted, 64, 1);
                for (&id, &ty) in chunks.iter().zip(&types) {
                    // Pair by pair: translators to other languages do not support casts between vectors of different
                    // lengths.
                    for pair in 0..ty.components / 2 {
                        let words = self.take(id, ty, Swizzle::new(&[2 * pair, 2 * pair + 1]), 2);
                        parts.push(self.pure_of(Op::Bitcast, scalar, &[words]).0);
                    }
                }
                let id = match parts.as_slice() {
                    &[part] => Id(part),
                    parts => {
                        let ty = self.module.value_type(ValueType::new(wanted, 64, components));
                        self.pure(Op::CompositeConstruct, ty, parts)
                    }
                };
                self.define(def, id, wanted);
            }
            _ => {
                let Some((&id, &ty)) = chunks.first().zip(types.first()) else { return Ok(()) };
                let id = if class == wanted {
                    id
                } else {
                    self.pure_of(Op::Bitcast, ValueType { class: wanted, ..ty }, &[id])
                };
                self.define(def, id, wanted);
            }
        }
        Ok(())
    }

    /// Returns the words of each component of a value.
    fn components_as_words(
        &mut self,
        value: Def,
        component: u8,
        class: Class,
    ) -> Result<SmallVec<[Id; 2]>, SpirvError> {
        let scalar = ValueType::new(class, 32, 1);
        match self.body.bit_size(value) {
            64 => {
                let wide = self.component(value, component, self.classes.get(value))?;
                let pair = scalar.with_components(2);
                let pair_id = self.pure_of(Op::Bitcast, pair, &[wide]);
                let words = [0, 1].map(|word| self.take(pair_id, pair, Swizzle::replicate(word), 1));
                Ok(SmallVec::from_slice(&words))
            }
            _ => Ok(smallvec::smallvec![self.component(value, component, class)?]),
        }
    }

    /// Stores the components of a mask that are inside, from an index on.
    pub fn store_words(&mut self, memory: &Memory, place: ArrayIndex, value: Def, mask: u32) -> Result<(), SpirvError> {
        let each = self.words_each(value)?;
        for component in (0..self.body.num_components(value)).filter(|c| mask >> c & 1 != 0) {
            let place = self.advance(place, u32::from(component) * each);
            let store = |e: &mut Self| {
                for (number, word) in e.components_as_words(value, component, memory.class)?.into_iter().enumerate() {
                    let place = e.advance(place, number as u32);
                    let pointer = e.word_pointer(memory, place);
                    e.store_shared(pointer, word, memory.storage, memory.qualifiers);
                }
                Ok(())
            };
            match self.check_words(memory, place, each) {
                BoundsCheck::Never => {}
                BoundsCheck::Always => store(self)?,
                BoundsCheck::If(condition) => self.if_then(condition, store)?,
            }
        }
        Ok(())
    }

    /// Applies `access` to the pointer to a word; the result is zero if the word is not inside.
    pub fn on_word(
        &mut self,
        memory: &Memory,
        place: ArrayIndex,
        access: impl FnOnce(&mut Self, Id) -> Result<Id, SpirvError>,
    ) -> Result<Id, SpirvError> {
        let ty = ValueType::new(memory.class, 32, 1);
        let inside = |e: &mut Self| {
            let pointer = e.word_pointer(memory, place);
            access(e, pointer)
        };
        match self.check_words(memory, place, 1) {
            BoundsCheck::Never => Ok(self.module.splat(ty, 0)),
            BoundsCheck::Always => inside(self),
            BoundsCheck::If(condition) => self.if_then_value(condition, ty, inside),
        }
    }

    /// Returns the word index of an access from its byte offset, source `number`, and its base.
    pub fn word_place(&mut self, inst: Inst, number: usize) -> Result<ArrayIndex, SpirvError> {
        let base = self.body.base(inst);
        self.place(base, self.body.src(inst, number), 2)
    }
}
