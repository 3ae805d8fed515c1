//! Operands of texture instructions: coordinates, offsets, samplers and views.

use arrayvec::ArrayVec;
use tgsi::shader::{Dst, Register, Src, TextureOffset};
use tgsi::tables::{File, Opcode, TextureTarget};
use tgsi_diagnostics::Span;
use tgsi_ir::Inst;
use tgsi_ir::alu::AluType;
use tgsi_ir::body::{DEFAULT_TG4_OFFSETS, TexData, TexOp, TexSrcKind};

use super::{Named, PackedComponent, return_type};
use crate::DriverError;
use crate::select::address::AddressUse;
use crate::select::{Component, PackedVector, Selector, Value};

impl Selector<'_> {
    /// Moves coordinates to x and following, where the target requires it. Lookups of a block share copies of inputs,
    /// which do not change.
    pub(super) fn unswizzled_coordinates(&mut self, src: Src, count: usize) -> Src {
        let moves = |c: usize| usize::from(src.swizzle[c]) != c;
        let is_plain = !src.negate && !src.absolute && src.register.file != File::Constant;
        if !self.options.unswizzled_coordinates || is_plain && !(0..count.min(4)).any(moves) {
            return src;
        }
        let known = self.coordinates.iter().find(|(of, components, _)| *of == src && *components >= count);
        if let Some((.., copy)) = known {
            return *copy;
        }
        let copy = self.computed(Opcode::Mov, (1 << count.min(4)) - 1, &[src]);
        if src.register.file == File::Input && src.register.indirect.is_none() && src.register.dimension.is_none() {
            if self.coordinates.is_full() {
                self.coordinates.remove(0);
            }
            self.coordinates.push((src, count, copy));
        }
        copy
    }

    /// Discards packed vectors with a component of a register that is about to be written.
    pub(in crate::select) fn forget_packed_of(&mut self, register: &Register) {
        if self.packed.is_empty() {
            return;
        }
        let changes = |part: &Component| {
            part.register.file == register.file
                && (part.register.index == register.index || register.indirect.is_some())
        };
        self.packed.retain(|(parts, _)| !parts.iter().flatten().any(changes));
    }

    /// Returns a vector of parts: a swizzle if they are in one register, else a new register, which is shared with
    /// later lookups of the block with the same parts.
    pub(super) fn pack(&mut self, parts: &[PackedComponent]) -> Src {
        let Some((first, lane)) = parts.iter().flatten().next().copied() else { return self.word(0) };
        let together = parts.iter().flatten().all(|(value, _)| {
            value.register == first.register && value.absolute == first.absolute && value.negate == first.negate
        });
        let constants = parts.iter().flatten().all(|(value, _)| value.register.file == File::Immediate);
        if constants && !together {
            let mut words = [0; 4];
            for (word, part) in words.iter_mut().zip(parts) {
                if let Some((value, lane)) = part {
                    let row = self.program.constants.row(value.register.index);
                    *word = row[usize::from(value.lanes[usize::from(*lane & 3)] & 3)];
                }
            }
            return self.immediate(words).source([0, 1, 2, 3]);
        }
        if together {
            let mut channels = [first.lanes[usize::from(lane & 3)]; 4];
            for (channel, part) in channels.iter_mut().zip(parts) {
                if let Some((value, lane)) = part {
                    *channel = value.lanes[usize::from(*lane & 3)];
                }
            }
            let unswizzled = Value { lanes: [0, 1, 2, 3], ..first };
            return unswizzled.source(channels);
        }
        let key: PackedVector = parts
            .iter()
            .map(|part| {
                part.map(|(value, lane)| Component {
                    register: value.register,
                    component: value.lanes[usize::from(lane & 3)],
                    absolute: value.absolute,
                    negate: value.negate,
                })
            })
            .collect();
        if let Some((_, packed)) = self.packed.iter().find(|(parts, _)| *parts == key) {
            return *packed;
        }
        let temp = self.temp();
        let mut done = 0u8;
        for channel in 0..parts.len() {
            let Some((value, _)) = parts[channel] else { continue };
            if done & 1 << channel != 0 {
                continue;
            }
            let mut channels = [0; 4];
            let mut mask = 0u8;
            for (other, part) in parts.iter().enumerate() {
                if let Some((candidate, lane)) = part
                    && candidate.register == value.register
                    && candidate.absolute == value.absolute
                    && candidate.negate == value.negate
                {
                    channels[other] = candidate.lanes[usize::from(*lane & 3)];
                    mask |= 1 << other;
                }
            }
            done |= mask;
            let first = channels[mask.trailing_zeros() as usize & 3];
            for (channel, lane) in channels.iter_mut().enumerate() {
                if mask & 1 << channel == 0 {
                    *lane = first;
                }
            }
            let unswizzled = Value { lanes: [0, 1, 2, 3], ..value };
            self.emit(Opcode::Mov, Dst::new(temp).masked(mask), &[unswizzled.source(channels)]);
        }
        // Unused channels in between are still part of the swizzle.
        let mut source = Value::new(temp).source([0, 1, 2, 3]);
        let first = done.trailing_zeros() as u8 & 3;
        for c in 0..4u8 {
            if done & 1 << c == 0 {
                source.swizzle[usize::from(c)] = first;
            }
        }
        // The register that a run-time index refers to may change with the index.
        let is_direct = |part: &Component| {
            part.register.indirect.is_none() && part.register.dimension.is_none_or(|d| d.indirect.is_none())
        };
        if key.iter().flatten().all(is_direct) {
            if self.packed.is_full() {
                self.packed.remove(0);
            }
            self.packed.push((key, source));
        }
        source
    }

    pub(super) fn offsets(&mut self, inst: Inst, data: &TexData) -> Result<ArrayVec<TextureOffset, 4>, DriverError> {
        let body = self.body;
        let mut offsets = ArrayVec::new();
        if data.op == TexOp::Tg4 && data.tg4_offsets != DEFAULT_TG4_OFFSETS {
            for [x, y] in data.tg4_offsets {
                let value = self.immediate([i32::from(x) as u32, i32::from(y) as u32, 0, 0]);
                offsets.push(offset(value, 2));
            }
            return Ok(offsets);
        }
        let Some(source) = body.tex_src(inst, TexSrcKind::Offset) else { return Ok(offsets) };
        let size = body.num_components(body.src_def(source));
        let mut value = self.operand(source);
        let plain = matches!(value.register.file, File::Immediate | File::Temporary)
            && value.register.indirect.is_none()
            && !value.negate
            && !value.absolute;
        if !plain {
            let mask = ((1u32 << size) - 1) as u8;
            value = Value::new(self.computed(Opcode::Mov, mask, &[value.source([0, 1, 2, 3])]).register);
        }
        offsets.push(offset(value, size));
        Ok(offsets)
    }

    /// Finds the operand that selects the texture (or the sampler) of an instruction.
    pub(super) fn named(&mut self, inst: Inst, data: &TexData, texture: bool) -> Result<Named, DriverError> {
        let body = self.body;
        let (deref, handle, offset, index) = if texture {
            (TexSrcKind::TextureDeref, TexSrcKind::TextureHandle, TexSrcKind::TextureOffset, data.texture_index)
        } else {
            (TexSrcKind::SamplerDeref, TexSrcKind::SamplerHandle, TexSrcKind::SamplerOffset, data.sampler_index)
        };
        if let Some(source) = body.tex_src(inst, deref) {
            return Ok(Named::Unit(self.unit(inst, body.src_def(source))?));
        }
        if let Some(source) = body.tex_src(inst, handle) {
            return Ok(Named::Handle(self.operand(source)));
        }
        let dynamic = body.tex_src(inst, offset).map(|source| self.operand(source));
        Ok(Named::Number(index, dynamic))
    }

    /// The sampler operand; declares it.
    pub(super) fn sampler(&mut self, data: &TexData, texture: Named, target: TextureTarget) -> Src {
        self.resource(File::Sampler, data, texture, target)
    }

    /// The operand that selects a sampler or a view; declares it.
    fn resource(&mut self, file: File, data: &TexData, texture: Named, target: TextureTarget) -> Src {
        let is_query = data.op.is_query();
        // Queries do not determine the type of the texture.
        let returns = return_type(if is_query { AluType::FLOAT32 } else { data.dest_type });
        let declare = |s: &mut Self, number: u32, count: u32| {
            let count = count.max(1);
            if file == File::Sampler {
                s.declared.samplers(number, count);
            }
            if is_query {
                s.declared.views_if_absent(number, count, target, returns)
            } else {
                s.declared.views(number, count, target, returns)
            }
        };
        let (base, dynamic) = match texture {
            Named::Handle(value) => return value.source([0, 1, 0, 1]),
            Named::Unit(unit) => {
                match unit.dynamic {
                    None => declare(self, unit.base, 1),
                    Some(_) => {
                        let variable = &self.shader.variables[unit.variable];
                        let count = self.shader.types.array_elements(variable.ty);
                        let binding = variable.binding;
                        declare(self, binding, count);
                    }
                }
                (unit.base, unit.dynamic)
            }
            Named::Number(number, dynamic) => {
                declare(self, number, if dynamic.is_some() { self.shader.info.num_textures.max(1) } else { 1 });
                (number, dynamic)
            }
        };
        let register = Register::new(file, base as i32);
        Src::new(match dynamic {
            None => register,
            Some(index) => {
                let slot = self.load_value(index.lane(0), AddressUse::Resource);
                register.indexed_by(slot.0, slot.1, 0)
            }
        })
    }

    /// The view operand; declares it.
    pub(super) fn view(
        &mut self,
        inst: Inst,
        data: &TexData,
        texture: Named,
        target: TextureTarget,
    ) -> Result<Src, DriverError> {
        match texture {
            Named::Handle(_) => Err(DriverError::UnsupportedTexture { inst, what: "a handle for a view" }),
            Named::Unit(_) | Named::Number(..) => Ok(self.resource(File::SamplerView, data, texture, target)),
        }
    }
}

/// The first components of a value as a texel offset.
pub(super) fn offset(value: Value, size: u8) -> TextureOffset {
    let lane = |c: u8| value.lanes[usize::from(c.min(size.max(1) - 1))];
    TextureOffset {
        file: value.register.file,
        index: value.register.index,
        swizzle: [lane(0), lane(1), lane(2)],
        span: Span::default(),
    }
}
