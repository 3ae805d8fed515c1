//! Accesses of small components in memory that is addressed in bytes.

use arrayvec::ArrayVec;

use super::integers::side_by_side;
use super::values::{Form, Lowering};
use crate::body::{InstData, Shape, SourceSpec};
use crate::entities::{Def, Inst};
use crate::intrinsics::indices::AtomicOp;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// The most words of one access.
const MAX_WORDS: u32 = 4;

/// Returns whether an intrinsic loads from memory that is addressed in bytes.
pub(super) fn is_load(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    matches!(op, I::LoadUbo | I::LoadSsbo | I::LoadShared | I::LoadTaskPayload | I::LoadPushConstant)
        || matches!(op, I::LoadConstant | I::LoadKernelInput | I::LoadScratch)
}

/// Returns whether an intrinsic stores to memory that is addressed in bytes.
pub(super) fn is_store(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    matches!(op, I::StoreSsbo | I::StoreShared | I::StoreTaskPayload | I::StoreScratch)
}

/// An access of small components.
struct Access<'a> {
    m: Arithmetic<'a>,
    inst: Inst,
    op: IntrinsicOp,
    /// The sources, with the offset last.
    sources: ArrayVec<Def, 4>,
    /// Bytes of a component.
    size: u32,
    align_mul: u32,
    align_offset: u32,
    /// The offset with the base, if it is not aligned to words.
    place: Option<Def>,
}

impl<'a> Access<'a> {
    fn new(lowering: &'a mut Lowering<'_>, inst: Inst, op: IntrinsicOp, bits: u8) -> Access<'a> {
        let body = &*lowering.body;
        let sources = body.sources(inst).take(4).map(|source| body.src_def(source)).collect();
        let align_mul = (body.index(inst, IndexKind::AlignMul) as u32).max(1);
        let align_offset = body.index(inst, IndexKind::AlignOffset) as u32;
        let mut m = lowering.arithmetic(inst, 1);
        m.builder.flags = crate::body::AluFlags::NONE;
        Access { m, inst, op, sources, size: u32::from(bits) / 8, align_mul, align_offset, place: None }
    }

    /// The byte of a word at which the access starts, if it is known.
    fn lead(&self) -> Option<u32> {
        self.align_mul.is_multiple_of(4).then_some(self.align_offset & 3)
    }

    fn offset(&self) -> Option<Def> {
        self.sources.last().copied()
    }

    /// Returns the address of a byte of the access; the offset and the base.
    fn byte(&mut self, byte: u32) -> Option<Def> {
        let place = match self.place {
            Some(place) => place,
            None => {
                let base = self.m.builder.body.index(self.inst, IndexKind::Base);
                let offset = self.offset()?;
                self.m.iadd_imm(offset, u64::from(base as u32))
            }
        };
        self.place = Some(place);
        Some(self.m.iadd_imm(place, byte.into()))
    }

    /// Emits an intrinsic on words like the access: at an offset without the base if `place` is known, otherwise a
    /// number of bytes behind the offset of the access. `align_offset` is that of the new address.
    fn emit(&mut self, op: IntrinsicOp, data: &[Def], at: Place, shape: Option<Shape>) -> Option<Def> {
        let old = self.inst;
        let (offset, align_mul, align_offset) = match at {
            Place::Behind(bytes) => {
                let offset = self.offset()?;
                let offset = self.m.iadd_imm(offset, u64::from(bytes as u32));
                (offset, self.align_mul, self.align_offset.wrapping_add(bytes as u32) & (self.align_mul - 1))
            }
            Place::Word(offset) => (offset, 4, 0),
        };
        let is_atomic =
            matches!(op, IntrinsicOp::SsboAtomic | IntrinsicOp::SharedAtomic | IntrinsicOp::TaskPayloadAtomic);
        let first = usize::from(is_store(self.op));
        let resources = self.sources.get(first..self.sources.len().saturating_sub(1)).unwrap_or(&[]);
        let mut sources: ArrayVec<SourceSpec, 8> = ArrayVec::new();
        if !is_atomic {
            sources.extend(data.iter().map(|&def| SourceSpec::plain(def)));
        }
        sources.extend(resources.iter().chain([&offset]).map(|&def| SourceSpec::plain(def)));
        if is_atomic {
            sources.extend(data.iter().map(|&def| SourceSpec::plain(def)));
        }
        let body = &mut *self.m.builder.body;
        let kinds = [IndexKind::Base, IndexKind::Access, IndexKind::Range, IndexKind::RangeBase];
        let mut indices: ArrayVec<(IndexKind, i32), 8> = ArrayVec::new();
        for kind in kinds.into_iter().filter(|&kind| op.info().index_slot(kind).is_some()) {
            let value = body.index(old, kind);
            indices.push((
                kind,
                match kind {
                    IndexKind::Base if matches!(at, Place::Word(_)) => 0,
                    // Whole words.
                    IndexKind::RangeBase => value & !3,
                    IndexKind::Range if value > 0 => {
                        let start = body.index(old, IndexKind::RangeBase) & 3;
                        value.saturating_add(start).saturating_add(3) & !3
                    }
                    _ => value,
                },
            ));
        }
        if op.info().index_slot(IndexKind::AlignMul).is_some() {
            indices.push((IndexKind::AlignMul, align_mul as i32));
            indices.push((IndexKind::AlignOffset, align_offset as i32));
        }
        let indices = body.push_indices(crate::body::Body::indices(op, &indices));
        let num_components = match (op.info().is_vectorized(), shape, data.first()) {
            (false, ..) => 0,
            (_, Some(shape), _) => shape.num_components,
            (_, None, Some(&value)) => body.num_components(value),
            _ => 0,
        };
        let inst = self.m.builder.build(InstData::Intrinsic { op, num_components, indices }, &sources, shape);
        let body = &*self.m.builder.body;
        body.inst_def(inst).or(data.first().copied())
    }

    /// Loads consecutive words.
    fn load_words(&mut self, op: IntrinsicOp, at: Place, count: u32) -> Option<Def> {
        self.emit(op, &[], at, Some(Shape::new(count as u8, 32)))
    }

    /// Returns the address of the word that contains a byte, and the place of the byte in it in bits.
    fn split(&mut self, byte: Def) -> (Def, Def) {
        let word = self.m.iand_imm(byte, u64::from(!3u32));
        let place = self.m.iand_imm(byte, 3);
        (word, self.m.ishl_imm(place, 3))
    }

    /// Loads the components, as words.
    fn load(&mut self, count: u32) -> Option<ArrayVec<Def, 16>> {
        let bytes = count * self.size;
        let mut components: ArrayVec<Def, 16> = ArrayVec::new();
        if let Some(lead) = self.lead() {
            let total = (lead + bytes).div_ceil(4);
            let mut words: ArrayVec<Def, 16> = ArrayVec::new();
            for first in (0..total).step_by(MAX_WORDS as usize) {
                let part = (total - first).min(MAX_WORDS);
                let at = Place::Behind((4 * first) as i32 - lead as i32);
                let loaded = self.load_words(self.op, at, part)?;
                for component in 0..part {
                    words.push(self.m.builder.channel(loaded, component as u8));
                }
            }
            for number in 0..count {
                let byte = lead + number * self.size;
                let (&word, shift) = (words.get((byte / 4) as usize)?, byte % 4 * 8);
                let mut value = self.m.ushr_imm(word, shift);
                if shift + 8 * self.size > 32 {
                    let next = self.m.ishl_imm(*words.get((byte / 4 + 1) as usize)?, 32 - shift);
                    value = self.m.ior(value, next);
                }
                components.push(value);
            }
            return Some(components);
        }
        // The places of the bytes in their words are unknown.
        if self.align_offset % self.align_mul + bytes <= self.align_mul {
            let byte = self.byte(0)?;
            let (word, place) = self.split(byte);
            let word = self.load_words(self.op, Place::Word(word), 1)?;
            let shifted = self.m.ushr(word, place);
            components.extend((0..count).map(|number| self.m.ushr_imm(shifted, 8 * self.size * number)));
            return Some(components);
        }
        for number in 0..count {
            let byte = self.byte(number * self.size)?;
            let value = self.load_at(byte)?;
            if self.is_whole() {
                components.push(value);
            } else {
                let next = self.m.iadd_imm(byte, 1);
                let next = self.load_at(next)?;
                let low = self.m.iand_imm(value, 0xff);
                let high = self.m.ishl_imm(next, 8);
                components.push(self.m.ior(low, high));
            }
        }
        Some(components)
    }

    /// Whether no component extends over two words.
    fn is_whole(&self) -> bool {
        self.size == 1 || self.align_mul.is_multiple_of(2) && self.align_offset.is_multiple_of(2)
    }

    /// Loads the word that contains a byte, shifted so that the byte is lowest.
    fn load_at(&mut self, byte: Def) -> Option<Def> {
        let (word, place) = self.split(byte);
        let word = self.load_words(self.op, Place::Word(word), 1)?;
        Some(self.m.ushr(word, place))
    }

    /// Replaces bits of a word in memory: `keep` has ones where bits remain, `bits` has zeros there.
    fn replace_bits(&mut self, at: Place, keep: Def, bits: Def) -> Option<()> {
        let atomic = match self.op {
            IntrinsicOp::StoreSsbo => IntrinsicOp::SsboAtomic,
            IntrinsicOp::StoreShared => IntrinsicOp::SharedAtomic,
            IntrinsicOp::StoreTaskPayload => IntrinsicOp::TaskPayloadAtomic,
            _ => {
                // Scratch memory has no other users.
                let old = self.load_words(IntrinsicOp::LoadScratch, at, 1)?;
                let old = self.m.iand(old, keep);
                let new = self.m.ior(old, bits);
                return self.store_words(at, new, 1);
            }
        };
        for (op, data) in [(AtomicOp::Iand, keep), (AtomicOp::Ior, bits)] {
            let result = self.emit(atomic, &[data], at, Some(Shape::new(1, 32)))?;
            let body = &mut *self.m.builder.body;
            let inst = body.def_inst(result);
            body.set_index(inst, IndexKind::AtomicOp, op as i32);
        }
        Some(())
    }

    fn store_words(&mut self, at: Place, value: Def, mask: u32) -> Option<()> {
        self.emit(self.op, &[value], at, None)?;
        // The new instruction is before the old one.
        let body = &mut *self.m.builder.body;
        let inst = body.prev_inst(self.inst)?;
        body.set_index(inst, IndexKind::WriteMask, mask as i32);
        Some(())
    }

    /// Stores components, given as words.
    fn store(&mut self, components: &[Def], mask: u32) -> Option<()> {
        let written = |number: usize| mask >> number & 1 != 0;
        let Some(lead) = self.lead() else {
            for (number, &component) in components.iter().enumerate().filter(|&(number, _)| written(number)) {
                let byte = self.byte(number as u32 * self.size)?;
                if self.is_whole() {
                    self.store_at(byte, component, self.size)?;
                } else {
                    let (next, high) = (self.m.iadd_imm(byte, 1), self.m.ushr_imm(component, 8));
                    self.store_at(byte, component, 1)?;
                    self.store_at(next, high, 1)?;
                }
            }
            return Some(());
        };
        // The bytes of each word.
        let total = ((lead + components.len() as u32 * self.size).div_ceil(4)) as usize;
        let mut bytes: ArrayVec<[Option<Def>; 4], 16> = (0..total.min(16)).map(|_| [None; 4]).collect();
        let is_halves = self.size == 2 && lead.is_multiple_of(2);
        for (number, &component) in components.iter().enumerate().filter(|&(number, _)| written(number)) {
            let first = lead as usize + number * self.size as usize;
            for part in 0..self.size as usize {
                let at = first + part;
                // A component of two aligned bytes is handled as a whole.
                let value = if part == 0 || is_halves { component } else { self.m.ushr_imm(component, 8) };
                *bytes.get_mut(at / 4)?.get_mut(at % 4)? = Some(value);
            }
        }
        for first in (0..total).step_by(MAX_WORDS as usize) {
            let group = &bytes[first..total.min(first + MAX_WORDS as usize)].to_vec();
            let mut words: ArrayVec<Def, 4> = ArrayVec::new();
            let mut whole = 0;
            for (number, parts) in group.iter().enumerate() {
                let word = self.combined(parts, is_halves);
                words.push(word);
                let keep = parts.iter().zip(0..).filter(|(part, _)| part.is_none());
                let keep = keep.fold(0u32, |mask, (_, byte)| mask | 0xff << (8 * byte));
                let at = Place::Behind((4 * (first + number)) as i32 - lead as i32);
                match keep {
                    0 => whole |= 1 << number,
                    u32::MAX => {}
                    _ => {
                        let keep = self.m.int(keep);
                        self.replace_bits(at, keep, word)?;
                    }
                }
            }
            if whole != 0 {
                let vector = self.m.builder.vec_of(&words);
                self.store_words(Place::Behind((4 * first) as i32 - lead as i32), vector, whole)?;
            }
        }
        Some(())
    }

    /// Combines the bytes or the halves of a word; missing ones are 0.
    fn combined(&mut self, bytes: &[Option<Def>; 4], is_halves: bool) -> Def {
        let step = if is_halves { 2 } else { 1 };
        let zero = self.m.int(0);
        let parts: ArrayVec<Def, 4> = bytes.iter().step_by(step).map(|part| part.unwrap_or(zero)).collect();
        side_by_side(&mut self.m, &parts, 8 * step as u32)
    }

    /// Stores the low bytes of a value at a byte.
    fn store_at(&mut self, byte: Def, value: Def, size: u32) -> Option<()> {
        let (word, place) = self.split(byte);
        let mask = (1 << (8 * size)) - 1;
        let (ones, value) = (self.m.int(mask), self.m.iand_imm(value, mask.into()));
        let (ones, bits) = (self.m.ishl(ones, place), self.m.ishl(value, place));
        let keep = self.m.inot(ones);
        self.replace_bits(Place::Word(word), keep, bits)
    }
}

/// The address of an access to words.
#[derive(Clone, Copy)]
enum Place {
    /// A number of bytes behind the offset of the old access.
    Behind(i32),
    /// A byte offset that includes the base.
    Word(Def),
}

impl Lowering<'_> {
    /// Lowers a load of small components. Returns whether it could.
    pub fn lower_load(&mut self, inst: Inst, op: IntrinsicOp) -> bool {
        let Some(def) = self.body.inst_def(inst) else { return false };
        let bits = self.bits(def);
        let count = self.body.num_components(def);
        let mut access = Access::new(self, inst, op, bits);
        let Some(components) = access.load(count.into()) else { return false };
        let value = access.m.builder.vec_of(&components);
        self.replace(inst, Form::Word, value);
        true
    }

    /// Lowers a store of small components. Returns whether it could.
    pub fn lower_store(&mut self, inst: Inst, op: IntrinsicOp) -> bool {
        let bits = self.bits(self.body.src(inst, 0));
        let value = self.source(inst, 0, Form::Word);
        let mask = self.body.write_mask(inst);
        let count = self.body.num_components(value);
        let mut access = Access::new(self, inst, op, bits);
        let components: ArrayVec<Def, 16> = (0..count).map(|c| access.m.builder.channel(value, c)).collect();
        if access.store(&components, mask).is_none() {
            return false;
        }
        self.body.remove_inst(inst);
        self.progress = true;
        true
    }

    /// Lowers a load of small components from a vec4 of a uniform buffer.
    pub fn lower_load_vec4(&mut self, inst: Inst) {
        let Some(def) = self.body.inst_def(inst) else { return };
        let (bits, count) = (u32::from(self.bits(def)), u32::from(self.body.num_components(def)));
        let first = u32::from(self.body.component(inst)) * bits;
        let last = (first + count * bits - 1).min(127);
        let sources: ArrayVec<SourceSpec, 4> =
            self.body.sources(inst).take(4).map(|source| SourceSpec::plain(self.body.src_def(source))).collect();
        let words = (last / 32 - first / 32 + 1) as u8;
        let indices = *self.body.inst_indices(inst);
        let indices = self.body.push_indices(indices);
        let mut m = self.arithmetic(inst, 1);
        let data = InstData::Intrinsic { op: IntrinsicOp::LoadUboVec4, num_components: words, indices };
        let new = m.builder.build(data, &sources, Some(Shape::new(words, 32)));
        m.builder.body.set_index(new, IndexKind::Component, (first / 32) as i32);
        let Some(loaded) = m.builder.body.inst_def(new) else { return };
        let places = (0..count).map(|number| first % 32 + number * bits);
        let components: ArrayVec<Def, 16> = places
            .map(|place| {
                let word = m.builder.channel(loaded, (place / 32) as u8);
                m.ushr_imm(word, place % 32)
            })
            .collect();
        let value = m.builder.vec_of(&components);
        self.replace(inst, Form::Word, value);
    }
}
