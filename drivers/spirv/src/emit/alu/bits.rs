//! Bit fields, bit counts and bit searches.

use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op};
use tgsi_ir::alu::AluOp;

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Emits operations on bits.
    pub(super) fn bitfield(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        match alu.op {
            BitfieldSelect if self.body.bit_size(alu.def) == 1 => self.logic(alu),
            BitfieldSelect => {
                let ty = self.type_of(alu.def, Class::Uint);
                let [a, b, c] = [0, 1, 2].map(|number| self.source(alu, number, Class::Uint));
                let (a, b, c) = (a?, b?, c?);
                let (chosen, not) = (self.pure_of(Op::BitwiseAnd, ty, &[a, b]), self.pure_of(Op::Not, ty, &[a]));
                let other = self.pure_of(Op::BitwiseAnd, ty, &[not, c]);
                Ok((self.pure_of(Op::BitwiseOr, ty, &[chosen, other]), Class::Uint))
            }
            BitfieldReverse => {
                let a = self.source(alu, 0, Class::Uint)?;
                Ok((self.pure_of(Op::BitReverse, self.type_of(alu.def, Class::Uint), &[a]), Class::Uint))
            }
            BitCount | UfindMsb | UfindMsbRev | FindLsb => self.search(alu),
            Uclz | IfindMsb | IfindMsbRev => self.search_of_word(alu),
            Shfr => {
                let ty = self.type_of(alu.def, Class::Uint);
                let (a, b) = (self.source(alu, 0, Class::Uint)?, self.source(alu, 1, Class::Uint)?);
                let count = self.shift_count(alu, 2, 32)?;
                // Shifts by `32 - count` in two steps, since `count` may be 0.
                let (one, most) = (self.splat(ty, 1), self.splat(ty, 31));
                let rest = self.pure_of(Op::BitwiseXor, ty, &[count, most]);
                let low = self.pure_of(Op::ShiftRightLogical, ty, &[b, count]);
                let high = self.pure_of(Op::ShiftLeftLogical, ty, &[a, one]);
                let high = self.pure_of(Op::ShiftLeftLogical, ty, &[high, rest]);
                Ok((self.pure_of(Op::BitwiseOr, ty, &[high, low]), Class::Uint))
            }
            Bfm => {
                let ty = self.type_of(alu.def, Class::Uint);
                let (width, offset) = (self.shift_count(alu, 0, 32)?, self.shift_count(alu, 1, 32)?);
                let one = self.splat(ty, 1);
                let mask = self.pure_of(Op::ShiftLeftLogical, ty, &[one, width]);
                let mask = self.pure_of(Op::ISub, ty, &[mask, one]);
                Ok((self.pure_of(Op::ShiftLeftLogical, ty, &[mask, offset]), Class::Uint))
            }
            Bfi => self.masked_insert(alu),
            Ubfe => self.extract(alu, Class::Uint),
            Ibfe => self.extract(alu, Class::Int),
            UbitfieldExtract => self.extract_within(alu, Class::Uint),
            IbitfieldExtract => self.extract_within(alu, Class::Int),
            BitfieldInsert => self.insert_within(alu),
            _ => Err(self.no_form(alu)),
        }
    }

    /// Emits bit counts and bit searches of 1, 32 or 64 bits. The instructions of SPIR-V take 32 bits only.
    fn search(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let ty = self.source_type(alu, 0, Class::Uint);
        let result = ValueType::UINT.with_components(ty.components);
        let a = self.source(alu, 0, Class::Uint)?;
        let minus_one = self.splat(result, u64::MAX);
        let id = match ty.bits {
            1 => {
                let (zero, one) = (self.splat(result, 0), self.splat(result, 1));
                let (found, none) = if alu.op == AluOp::BitCount { (one, zero) } else { (zero, minus_one) };
                self.pure_of(Op::Select, result, &[a, found, none])
            }
            64 => {
                let (low, high) = self.words(a, ty);
                self.search_of_words(alu, result, low, high)
            }
            _ => match alu.op {
                AluOp::BitCount => self.pure_of(Op::BitCount, result, &[a]),
                AluOp::FindLsb => self.glsl(GlslStd450Op::FindILsb, result, &[a]),
                _ => self.glsl(GlslStd450Op::FindUMsb, result, &[a]),
            },
        };
        let id =
            if alu.op == AluOp::UfindMsbRev && ty.bits > 1 { self.counted_from_top(id, result, ty.bits) } else { id };
        Ok((id, Class::Uint))
    }

    /// Combines the searches of the two words of a 64-bit number.
    fn search_of_words(&mut self, alu: &Alu, ty: ValueType, low: Id, high: Id) -> Id {
        if alu.op == AluOp::BitCount {
            let (low, high) = (self.pure_of(Op::BitCount, ty, &[low]), self.pure_of(Op::BitCount, ty, &[high]));
            return self.pure_of(Op::IAdd, ty, &[low, high]);
        }
        let op = if alu.op == AluOp::FindLsb { GlslStd450Op::FindILsb } else { GlslStd450Op::FindUMsb };
        let in_low = self.glsl(op, ty, &[low]);
        let in_high = self.glsl(op, ty, &[high]);
        // -1, for a bit that was not found, is unaffected.
        let thirty_two = self.splat(ty, 32);
        let in_high = self.pure_of(Op::BitwiseOr, ty, &[in_high, thirty_two]);
        let zero = self.splat(ty, 0);
        let (asked, found, other) =
            if alu.op == AluOp::FindLsb { (low, in_low, in_high) } else { (high, in_high, in_low) };
        let is_there = self.pure_of(Op::INotEqual, Self::truths(ty), &[asked, zero]);
        self.pure_of(Op::Select, ty, &[is_there, found, other])
    }

    /// Splits 64-bit integers into low and high words.
    fn words(&mut self, id: Id, ty: ValueType) -> (Id, Id) {
        let words = ValueType { bits: 32, ..ty };
        let count = self.splat(words, 32);
        let low = self.pure_of(Op::UConvert, words, &[id]);
        let high = self.pure_of(Op::ShiftRightLogical, ty, &[id, count]);
        (low, self.pure_of(Op::UConvert, words, &[high]))
    }

    fn search_of_word(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let class = if alu.op == AluOp::Uclz { Class::Uint } else { Class::Int };
        let ty = self.type_of(alu.def, class);
        let a = self.source(alu, 0, class)?;
        let op = if class == Class::Uint { GlslStd450Op::FindUMsb } else { GlslStd450Op::FindSMsb };
        let bit = self.glsl(op, ty, &[a]);
        let id = match alu.op {
            AluOp::Uclz => {
                let top = self.splat(ty, 31);
                self.pure_of(Op::ISub, ty, &[top, bit])
            }
            AluOp::IfindMsbRev => self.counted_from_top(bit, ty, 32),
            _ => bit,
        };
        Ok((id, class))
    }

    /// Converts a bit number to one counted from the top; keeps -1.
    fn counted_from_top(&mut self, bit: Id, ty: ValueType, bits: u8) -> Id {
        let (top, minus_one) = (self.splat(ty, u64::from(bits) - 1), self.splat(ty, u64::MAX));
        let is_none = self.pure_of(Op::IEqual, Self::truths(ty), &[bit, minus_one]);
        let id = self.pure_of(Op::ISub, ty, &[top, bit]);
        self.pure_of(Op::Select, ty, &[is_none, bit, id])
    }

    /// Builds the result component by component: SPIR-V takes offset and size of a field as scalars.
    fn by_component(&mut self, ty: ValueType, mut make: impl FnMut(&mut Self, u8) -> Id) -> Id {
        let parts: SmallVec<[Id; 4]> = (0..ty.components).map(|number| make(self, number)).collect();
        self.construct(ty.scalar(), &parts)
    }

    /// Emits `ubfe`, `ibfe`: offset and size are taken modulo 32, and a field ends with the number, since SPIR-V leaves
    /// fields that exceed it undefined.
    fn extract(&mut self, alu: &Alu, class: Class) -> Result<TypedId, SpirvError> {
        let ty = self.type_of(alu.def, class);
        let counts = ValueType { class: Class::Uint, ..ty };
        let a = self.source(alu, 0, class)?;
        let (offset, size) = (self.shift_count(alu, 1, 32)?, self.shift_count(alu, 2, 32)?);
        let size = if self.options.unguarded { size } else { self.size_within(alu, counts, (1, offset), (2, size)) };
        let op = if class == Class::Int { Op::BitFieldSExtract } else { Op::BitFieldUExtract };
        let id = self.by_component(ty, |e, number| {
            let a = e.part(a, ty, number);
            let (offset, size) = (e.part(offset, counts, number), e.part(size, counts, number));
            e.pure_of(op, ty.scalar(), &[a, offset, size])
        });
        Ok((id, class))
    }

    /// Returns the size of a field, limited to the bits from the offset on. The sources given by number are shift
    /// counts below 32.
    fn size_within(
        &mut self,
        alu: &Alu,
        ty: ValueType,
        (offset_number, offset): (usize, Id),
        (size_number, size): (usize, Id),
    ) -> Id {
        let offsets = self.source_constant(alu, offset_number);
        if let (Some(offsets), Some(sizes)) = (&offsets, self.source_constant(alu, size_number)) {
            let sizes: SmallVec<[u64; 4]> =
                offsets.iter().zip(&sizes).map(|(offset, size)| (size & 31).min(32 - (offset & 31))).collect();
            return self.constant(ty, &sizes);
        }
        if offsets.is_some_and(|offsets| offsets.iter().all(|offset| offset & 31 <= 1)) {
            return size;
        }
        let all = self.splat(ty, 32);
        let left = self.pure_of(Op::ISub, ty, &[all, offset]);
        self.glsl(GlslStd450Op::UMin, ty, &[size, left])
    }

    /// Returns whether sources `offset` and `size` form a field within 32 bits; `None` if this is proven.
    fn is_field(&mut self, alu: &Alu, ty: ValueType, (offset, size): (usize, usize)) -> Result<Option<Id>, SpirvError> {
        if let (Some(offsets), Some(sizes)) = (self.source_constant(alu, offset), self.source_constant(alu, size)) {
            let fits = |(&offset, &size): (&u64, &u64)| offset <= 32 && size <= 32 && offset + size <= 32;
            if offsets.iter().zip(&sizes).all(fits) {
                return Ok(None);
            }
        }
        let (offset, size) = (self.source(alu, offset, Class::Uint)?, self.source(alu, size, Class::Uint)?);
        let (truths, all) = (Self::truths(ty), self.splat(ty, 32));
        let starts = self.pure_of(Op::ULessThanEqual, truths, &[offset, all]);
        let left = self.pure_of(Op::ISub, ty, &[all, offset]);
        let ends = self.pure_of(Op::ULessThanEqual, truths, &[size, left]);
        Ok(Some(self.pure_of(Op::LogicalAnd, truths, &[starts, ends])))
    }

    /// Replaces `id` by zero where the field is invalid, so that the bit field instructions are defined.
    fn zero_if_invalid(&mut self, ty: ValueType, is_field: Option<Id>, id: Id) -> Id {
        let Some(is_field) = is_field else { return id };
        let zero = self.splat(ty, 0);
        self.pure_of(Op::Select, ty, &[is_field, id, zero])
    }

    /// Emits `ubitfield_extract`, `ibitfield_extract`: an invalid field gives 0, as does an empty one.
    fn extract_within(&mut self, alu: &Alu, class: Class) -> Result<TypedId, SpirvError> {
        let ty = self.type_of(alu.def, class);
        let counts = ValueType { class: Class::Uint, ..ty };
        let a = self.source(alu, 0, class)?;
        let is_field = self.is_field(alu, counts, (1, 2))?;
        let (offset, size) = (self.source(alu, 1, Class::Uint)?, self.source(alu, 2, Class::Uint)?);
        let (offset, size) =
            (self.zero_if_invalid(counts, is_field, offset), self.zero_if_invalid(counts, is_field, size));
        let op = if class == Class::Int { Op::BitFieldSExtract } else { Op::BitFieldUExtract };
        let id = self.by_component(ty, |e, number| {
            let a = e.part(a, ty, number);
            let (offset, size) = (e.part(offset, counts, number), e.part(size, counts, number));
            e.pure_of(op, ty.scalar(), &[a, offset, size])
        });
        Ok((id, class))
    }

    /// Emits `bitfield_insert`: an invalid field gives 0; an empty one gives the base, at any offset.
    fn insert_within(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let ty = self.type_of(alu.def, Class::Uint);
        let (base, insert) = (self.source(alu, 0, Class::Uint)?, self.source(alu, 1, Class::Uint)?);
        let is_field = self.is_field(alu, ty, (2, 3))?;
        let (offset, size) = (self.source(alu, 2, Class::Uint)?, self.source(alu, 3, Class::Uint)?);
        let (valid_offset, valid_size) =
            (self.zero_if_invalid(ty, is_field, offset), self.zero_if_invalid(ty, is_field, size));
        let id = self.by_component(ty, |e, number| {
            let operands = [base, insert, valid_offset, valid_size].map(|id| e.part(id, ty, number));
            e.pure_of(Op::BitFieldInsert, ty.scalar(), &operands)
        });
        let Some(is_field) = is_field else { return Ok((id, Class::Uint)) };
        let (truths, zero) = (Self::truths(ty), self.splat(ty, 0));
        let is_empty = self.pure_of(Op::IEqual, truths, &[size, zero]);
        let holds = self.pure_of(Op::LogicalOr, truths, &[is_field, is_empty]);
        Ok((self.pure_of(Op::Select, ty, &[holds, id, zero]), Class::Uint))
    }

    /// Emits `bfi`: if the mask is a single run of bits, as the insertion of a field.
    fn masked_insert(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let ty = self.type_of(alu.def, Class::Uint);
        let (insert, base) = (self.source(alu, 1, Class::Uint)?, self.source(alu, 2, Class::Uint)?);
        if let Some(masks) = self.source_constant(alu, 0).filter(|masks| masks.iter().all(|&mask| is_run(mask as u32)))
        {
            let id = self.by_component(ty, |e, number| {
                let mask = masks.get(usize::from(number)).map_or(0, |&mask| mask as u32);
                let offset = e.module.uint(mask.trailing_zeros() & 31);
                let size = e.module.uint(mask.count_ones());
                let (base, insert) = (e.part(base, ty, number), e.part(insert, ty, number));
                e.pure_of(Op::BitFieldInsert, ty.scalar(), &[base, insert, offset, size])
            });
            return Ok((id, Class::Uint));
        }
        // For an empty mask the position of its first bit does not matter.
        let mask = self.source(alu, 0, Class::Uint)?;
        let count = match self.source_constant(alu, 0) {
            Some(masks) => {
                let counts: SmallVec<[u64; 4]> =
                    masks.iter().map(|&mask| u64::from((mask as u32).trailing_zeros() & 31)).collect();
                self.constant(ty, &counts)
            }
            None => {
                let first = self.glsl(GlslStd450Op::FindILsb, ty, &[mask]);
                let most = self.splat(ty, 31);
                self.pure_of(Op::BitwiseAnd, ty, &[first, most])
            }
        };
        let moved = self.pure_of(Op::ShiftLeftLogical, ty, &[insert, count]);
        let moved = self.pure_of(Op::BitwiseAnd, ty, &[moved, mask]);
        let not = self.pure_of(Op::Not, ty, &[mask]);
        let kept = self.pure_of(Op::BitwiseAnd, ty, &[base, not]);
        Ok((self.pure_of(Op::BitwiseOr, ty, &[kept, moved]), Class::Uint))
    }
}

/// Returns whether the mask is one run of bits, or empty.
fn is_run(mask: u32) -> bool {
    mask == 0 || (u64::from(mask >> mask.trailing_zeros()) + 1).is_power_of_two()
}
