//! Texture instructions.
//!
//! TGSI has coordinate, reference value, bias or level, divisor and sample in one vector, and further operands in the
//! first channels of a second one. If the parts are already in one register, a swizzle suffices.

mod operands;

use arrayvec::ArrayVec;
use tgsi::shader::{Dst, Instruction, InstructionTexture, Register, Sources, Src, TextureOffset};
use tgsi::tables::{File, Opcode, ReturnType, TextureTarget};
use tgsi_environment::SamplerDim;
use tgsi_ir::alu::{AluOp, AluType, BaseType};
use tgsi_ir::body::{TexData, TexOp, TexSrcKind};
use tgsi_ir::types::TypeData;
use tgsi_ir::{Def, Inst, ShaderStage, User};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;

use super::address::AddressUse;
use super::{Selector, Unit, Value};
use crate::DriverError;

/// A component of a packed operand.
type PackedComponent = Option<(Value, u8)>;

/// The operand that selects a texture or a sampler.
#[derive(Clone, Copy)]
enum Named {
    Unit(Unit),
    /// A unit number and a run-time offset.
    Number(u32, Option<Value>),
    Handle(Value),
}

fn target(dim: SamplerDim, array: bool, shadow: bool) -> TextureTarget {
    use TextureTarget::*;
    match (dim, array, shadow) {
        (SamplerDim::Buf, ..) => Buffer,
        (SamplerDim::Dim1D, false, false) => Texture1D,
        (SamplerDim::Dim1D, false, true) => Shadow1D,
        (SamplerDim::Dim1D, true, false) => Texture1DArray,
        (SamplerDim::Dim1D, true, true) => Shadow1DArray,
        (SamplerDim::Dim3D, ..) => Texture3D,
        (SamplerDim::Cube, false, false) => Cube,
        (SamplerDim::Cube, false, true) => ShadowCube,
        (SamplerDim::Cube, true, false) => CubeArray,
        (SamplerDim::Cube, true, true) => ShadowCubeArray,
        (SamplerDim::Rect, _, false) => Rect,
        (SamplerDim::Rect, _, true) => ShadowRect,
        (SamplerDim::Ms | SamplerDim::SubpassMs, false, _) => Texture2DMsaa,
        (SamplerDim::Ms | SamplerDim::SubpassMs, true, _) => Texture2DArrayMsaa,
        (SamplerDim::Dim2D | SamplerDim::External | SamplerDim::Subpass, array, shadow) => match (array, shadow) {
            (false, false) => Texture2D,
            (false, true) => Shadow2D,
            (true, false) => Texture2DArray,
            (true, true) => Shadow2DArray,
        },
    }
}

fn return_type(ty: AluType) -> ReturnType {
    match ty.base {
        BaseType::Int => ReturnType::Sint,
        BaseType::Uint => ReturnType::Uint,
        _ => ReturnType::Float,
    }
}

impl Selector<'_> {
    pub(super) fn select_texture(&mut self, inst: Inst) -> Result<(), DriverError> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else { return Ok(()) };
        if data.is_sparse {
            return Err(DriverError::UnsupportedTexture { inst, what: "sparse residency" });
        }
        let has_level = !matches!(data.op, TexOp::Tex | TexOp::Txb | TexOp::Lod);
        if !has_level && self.shader.stage == ShaderStage::Compute && self.shader.info.derivative_group != 0 {
            return Err(DriverError::UnsupportedTexture { inst, what: "derivatives in a compute shader" });
        }
        let texture = self.named(inst, &data, true)?;
        let shadow = match &texture {
            Named::Unit(unit) => {
                let ty = self.shader.types.without_arrays(self.shader.variables[unit.variable].ty);
                matches!(self.shader.types.get(ty), TypeData::Sampler { shadow: true, .. })
            }
            _ => false,
        };
        let target = target(data.dim, data.is_array, data.is_shadow || shadow);
        let returns = return_type(data.dest_type);
        match data.op {
            TexOp::Txs | TexOp::QueryLevels => {
                let level = match body.tex_src(inst, TexSrcKind::Lod) {
                    Some(source) => self.operand(source).lane(0),
                    None => self.word(0),
                };
                let sampler = self.sampler(&data, texture, target);
                if data.op == TexOp::Txs {
                    let register = self.destination(def);
                    let dst = Dst::new(register).masked(self.full_lanes(def));
                    self.emit_texture(Opcode::Txq, dst, target, returns, &[], &[level, sampler]);
                    let stays = matches!(chase::chase_dest(body, def), Operand::Ssa(_));
                    if stays && sampler.register.file == File::Sampler && sampler.register.indirect.is_none() {
                        self.size_query = Some((body.inst_block(inst), self.program.instructions().len() - 1));
                    }
                } else if let Some((block, index)) = self.size_query
                    && block == body.inst_block(inst)
                    && let Some(query) = self.program.instructions().get(index)
                    && query.src.get(1) == Some(&sampler)
                    && query.texture.as_ref().is_some_and(|texture| texture.target == target)
                {
                    // The query of the sizes also returns the levels, in a channel that sizes never need.
                    let register = query.dst[0].register;
                    self.program.edit(index, |query| query.dst[0].write_mask |= 8);
                    self.bind_or_move(def, Value { lanes: [3; 4], ..Value::new(register) });
                } else {
                    let temp = self.temp();
                    let dst = Dst::new(temp).masked(8);
                    self.emit_texture(Opcode::Txq, dst, target, returns, &[], &[level, sampler]);
                    self.bind_or_move(def, Value { lanes: [3; 4], ..Value::new(temp) });
                }
                return Ok(());
            }
            // Uses as a float only: selected at the conversion.
            TexOp::TextureSamples if self.is_float_count(inst) => return Ok(()),
            TexOp::TextureSamples => {
                let sampler = self.sampler(&data, texture, target);
                let register = self.destination(def);
                self.emit_texture(Opcode::Txqs, Dst::new(register).masked(1), target, returns, &[], &[sampler]);
                return Ok(());
            }
            TexOp::SamplePos => {
                let number = match body.tex_src(inst, TexSrcKind::MsIndex) {
                    Some(source) => self.operand(source).lane(0),
                    None => self.word(0),
                };
                let view = self.view(inst, &data, texture, target)?;
                let dst = Dst::new(self.destination(def)).masked(self.full_lanes(def));
                self.emit(Opcode::SamplePos, dst, &[view, number]);
                return Ok(());
            }
            _ => {}
        }
        self.select_lookup(inst, def, &data, texture, target)
    }

    /// Whether a sample count can be `SAMPLE_INFO`: all its uses convert it to a float, and its texture operand does
    /// not change.
    fn is_float_count(&self, inst: Inst) -> bool {
        use TexSrcKind::{TextureDeref, TextureHandle, TextureOffset};
        let body = self.body;
        let (Some(tex), Some(def)) = (body.tex(inst), body.inst_def(inst)) else { return false };
        self.options.has_sample_queries()
            && tex.op == TexOp::TextureSamples
            && [TextureHandle, TextureOffset].into_iter().all(|kind| body.tex_src(inst, kind).is_none())
            && body
                .tex_src(inst, TextureDeref)
                .is_none_or(|source| self.units[body.src_def(source)].is_some_and(|unit| unit.dynamic.is_none()))
            && body.uses_of(def).all(|reader| match body.user(reader) {
                User::Inst(user) => matches!(body.alu_op(user), Some(AluOp::U2f32 | AluOp::I2f32)),
                User::If(_) => false,
            })
    }

    /// Emits the conversion of a sample count, if one opcode returns it as a float.
    pub(super) fn float_count(&mut self, inst: Inst) -> Result<bool, DriverError> {
        let body = self.body;
        let query = body.def_inst(body.src(inst, 0));
        if !self.is_float_count(query) {
            return Ok(false);
        }
        let (Some(&data), Some(def)) = (body.tex(query), body.inst_def(inst)) else { return Ok(false) };
        let texture = self.named(query, &data, true)?;
        let view = self.view(query, &data, texture, target(data.dim, data.is_array, false))?;
        // The second operand is not read.
        let unread = self.word(0);
        let samples = self.computed(Opcode::SampleInfo, 1, &[view, unread]);
        let (dst, saturate) = self.alu_destination(def);
        self.emit_saturated(Opcode::Mov, dst, &[samples.swizzled([0; 4])], saturate);
        Ok(true)
    }

    fn select_lookup(
        &mut self,
        inst: Inst,
        def: Def,
        data: &TexData,
        texture: Named,
        target: TextureTarget,
    ) -> Result<(), DriverError> {
        let body = self.body;
        let returns = return_type(data.dest_type);
        let part = |s: &mut Self, kind: TexSrcKind| body.tex_src(inst, kind).map(|source| (s.operand(source), 0u8));
        let coordinate = body
            .tex_src(inst, TexSrcKind::Coord)
            .ok_or(DriverError::UnsupportedTexture { inst, what: "no coordinate" })?;
        let count = usize::from(data.coord_components.min(4));
        let mut coordinate = self.operand(coordinate);
        let mut comparator = part(self, TexSrcKind::Comparator);
        let (bias, mut lod) = (part(self, TexSrcKind::Bias), part(self, TexSrcKind::Lod));
        let mut projector = part(self, TexSrcKind::Projector);
        let sample = part(self, TexSrcKind::MsIndex);
        if body.tex_src(inst, TexSrcKind::MinLod).is_some() {
            return Err(DriverError::UnsupportedTexture { inst, what: "a minimum level" });
        }

        // Only TXP divides, and its operand cannot hold a divisor, a third coordinate and a reference value.
        if let Some((by, lane)) = projector
            && (data.op != TexOp::Tex || data.is_array || count > 3 || (count == 3 && comparator.is_some()))
        {
            let by = by.lane(lane);
            let divided = self.computed(Opcode::Div, (1 << count) - 1, &[coordinate.source([0, 1, 2, 3]), by]);
            coordinate = Value::new(divided.register);
            if let Some((value, lane)) = comparator {
                let divided = self.computed(Opcode::Div, 1, &[value.lane(lane), by]);
                comparator = Some((Value::new(divided.register), 0));
            }
            projector = None;
        }

        // The level of a fetch is an integer, with only one zero.
        let sign = if data.op == TexOp::Txf { 0 } else { 1 << 31 };
        let mut zero_level = body.tex_src(inst, TexSrcKind::Lod).is_some_and(|source| {
            body.constant_component(body.src_def(source), 0).is_some_and(|word| word & !sign == 0)
        });
        if data.op == TexOp::Txf && lod.is_none() {
            // The default is level 0, which must be explicit: consumers read a level from the last coordinate for every
            // target.
            zero_level = true;
            lod = Some((self.immediate([0; 4]), 0));
        }
        let mut parts: ArrayVec<PackedComponent, 8> = ArrayVec::new();
        for c in 0..count {
            parts.push(Some((coordinate, c as u8)));
        }
        let cube_array_compare = comparator.is_some() && count == 4;
        let explicit = bias.or(lod);
        if cube_array_compare && explicit.is_some() && matches!(data.op, TexOp::Txb | TexOp::Txl) {
            // Both do not fit in order: the second operand has bias or level first.
            parts.push(explicit);
            parts.push(comparator);
        } else {
            if comparator.is_some() {
                while parts.len() < 2 {
                    parts.push(None);
                }
                parts.push(comparator);
            }
            while parts.len() < 3 {
                parts.push(None);
            }
            // Level 0 is implicit where there is an opcode for it.
            let drop_level = (data.op == TexOp::Txf && zero_level && self.options.has_lz)
                || (data.op == TexOp::Txl && zero_level && self.options.has_lz && parts.len() <= 3)
                // A fetch from a cube array has its level in the channel of the layer.
                || (data.op == TexOp::Txf
                    && count == 4
                    && lod.is_some_and(|(level, lane)| level.lane(lane) == coordinate.lane(3)));
            if data.op == TexOp::Txf && count == 4 && !drop_level {
                return Err(DriverError::UnsupportedTexture { inst, what: "four coordinates and a level" });
            }
            for extra in [bias, if drop_level { None } else { lod }, projector, sample].into_iter().flatten() {
                let _ = parts.try_push(Some(extra));
            }
        }
        while parts.last().is_some_and(Option::is_none) {
            parts.pop();
        }

        let mut sources: ArrayVec<Src, 5> = ArrayVec::new();
        let second = parts.len() > 4;
        let first_half: ArrayVec<PackedComponent, 4> = parts.iter().take(4).copied().collect();
        let second_half: ArrayVec<PackedComponent, 4> = parts.iter().skip(4).copied().collect();
        let coordinates = self.pack(&first_half);
        sources.push(self.unswizzled_coordinates(coordinates, first_half.len()));
        let opcode = match data.op {
            TexOp::Tex if projector.is_some() => Opcode::Txp,
            TexOp::Tex if second => Opcode::Tex2,
            TexOp::Tex => Opcode::Tex,
            TexOp::Txb if second => Opcode::Txb2,
            TexOp::Txb => Opcode::Txb,
            TexOp::Txl if second => Opcode::Txl2,
            TexOp::Txl if zero_level && self.options.has_lz && parts.len() <= 3 => Opcode::TexLz,
            TexOp::Txl => Opcode::Txl,
            TexOp::Txd => Opcode::Txd,
            TexOp::Txf if zero_level && self.options.has_lz => Opcode::TxfLz,
            TexOp::Txf | TexOp::TxfMs => Opcode::Txf,
            TexOp::Tg4 => Opcode::Tg4,
            TexOp::Lod => Opcode::Lodq,
            _ => return Err(DriverError::UnsupportedTexture { inst, what: data.op.name() }),
        };
        if data.op == TexOp::Txd {
            for kind in [TexSrcKind::Ddx, TexSrcKind::Ddy] {
                let source = body
                    .tex_src(inst, kind)
                    .ok_or(DriverError::UnsupportedTexture { inst, what: "missing gradients" })?;
                let size = usize::from(body.num_components(body.src_def(source))).min(4);
                let value = self.operand(source);
                sources.push(value.source([0, 1, 2, 3].map(|c: usize| if c < size { c as u8 } else { 0 })));
            }
            if second {
                return Err(DriverError::UnsupportedTexture { inst, what: "five operands and gradients" });
            }
        } else if data.op == TexOp::Tg4 {
            if second {
                sources.push(self.pack(&second_half));
            } else {
                let component = if self.options.tg4_swizzle { 0 } else { u32::from(data.component) };
                sources.push(self.word(component));
            }
        } else if second {
            sources.push(self.pack(&second_half));
        }

        let offsets = self.offsets(inst, data)?;
        if let Some(units) = self.separate_units(inst, data, texture)? {
            let register = self.destination(def);
            let dst = Dst::new(register).masked(self.full_lanes(def));
            return self.select_sample(inst, data, dst, units, &parts, &offsets, &sources);
        }
        let mut sampler = self.sampler(data, texture, target);
        if data.op == TexOp::Tg4 && self.options.tg4_swizzle {
            sampler.swizzle = [data.component & 3; 4];
        }
        sources.push(sampler);
        let register = self.destination(def);
        let dst = Dst::new(register).masked(self.full_lanes(def));
        self.emit_texture(opcode, dst, target, returns, &offsets, &sources);
        Ok(())
    }

    /// The texture and sampler if they need separate units, which only the `SAMPLE` family supports.
    fn separate_units(
        &mut self,
        inst: Inst,
        data: &TexData,
        texture: Named,
    ) -> Result<Option<(Named, Named)>, DriverError> {
        if !data.op.needs_sampler() {
            return Ok(None);
        }
        let sampler = self.named(inst, data, false)?;
        // The other family has no shadow target of this dimensionality.
        let alone = data.is_shadow && data.dim == SamplerDim::Dim3D;
        let same = match (texture, sampler) {
            (Named::Unit(a), Named::Unit(b)) => a.base == b.base && a.dynamic == b.dynamic,
            (Named::Number(a, by), Named::Number(b, other)) => a == b && by == other,
            (Named::Handle(a), Named::Handle(b)) => a == b,
            _ => false,
        };
        Ok((!same || alone).then_some((texture, sampler)))
    }

    /// The register of a texture or a sampler, and the first and the number of units that it may be.
    fn unit_register(&mut self, inst: Inst, file: File, named: Named) -> Result<(Register, u32, u32), DriverError> {
        let (base, dynamic, first, count) = match named {
            Named::Unit(Unit { base, dynamic: None, .. }) | Named::Number(base, None) => (base, None, base, 1),
            Named::Unit(unit) => {
                let variable = &self.shader.variables[unit.variable];
                let count = self.shader.types.array_elements(variable.ty);
                (unit.base, unit.dynamic, variable.binding, count)
            }
            Named::Number(base, dynamic) => (base, dynamic, base, self.shader.info.num_textures),
            Named::Handle(_) => return Err(DriverError::UnsupportedTexture { inst, what: "separate handles" }),
        };
        let register = Register::new(file, base as i32);
        let register = match dynamic {
            None => register,
            Some(index) => {
                let slot = self.load_value(index.lane(0), AddressUse::Resource);
                register.indexed_by(slot.0, slot.1, 0)
            }
        };
        Ok((register, first, count.max(1)))
    }

    /// Emits a lookup with separate units.
    #[expect(clippy::too_many_arguments, reason = "the operands collected by `lookup`")]
    fn select_sample(
        &mut self,
        inst: Inst,
        data: &TexData,
        dst: Dst,
        (texture, sampler): (Named, Named),
        parts: &[PackedComponent],
        offsets: &[TextureOffset],
        packed: &[Src],
    ) -> Result<(), DriverError> {
        let body = self.body;
        let coordinates: ArrayVec<PackedComponent, 4> =
            parts.iter().take(usize::from(data.coord_components.min(4))).copied().collect();
        let coordinate = self.pack(&coordinates);
        let extra = |s: &mut Self, kind: TexSrcKind| body.tex_src(inst, kind).map(|source| s.operand(source).lane(0));
        let (view, first_view, num_views) = self.unit_register(inst, File::SamplerView, texture)?;
        let (sampler, first_sampler, num_samplers) = self.unit_register(inst, File::Sampler, sampler)?;
        let mut sources = Sources::new();
        sources.extend([coordinate, Src::new(view), Src::new(sampler)]);
        let comparator = extra(self, TexSrcKind::Comparator);
        let zero_level = body.tex_src(inst, TexSrcKind::Lod).is_some_and(|source| {
            body.constant_component(body.src_def(source), 0).is_some_and(|word| word & 0x7fff_ffff == 0)
        });
        let opcode = match (data.op, comparator) {
            (TexOp::Tex, None) => Opcode::Sample,
            (TexOp::Tex, Some(_)) => Opcode::SampleC,
            (TexOp::Txl, Some(_)) if zero_level => Opcode::SampleCLz,
            (TexOp::Txb, None) => Opcode::SampleB,
            (TexOp::Txl, None) => Opcode::SampleL,
            (TexOp::Txd, None) => Opcode::SampleD,
            (TexOp::Tg4, None) => Opcode::Gather4,
            (TexOp::Lod, None) => Opcode::Lod,
            _ => return Err(DriverError::UnsupportedTexture { inst, what: "separate units" }),
        };
        match opcode {
            Opcode::SampleC | Opcode::SampleCLz => sources.extend(comparator),
            Opcode::SampleB => sources.extend(extra(self, TexSrcKind::Bias)),
            Opcode::SampleL => sources.extend(extra(self, TexSrcKind::Lod)),
            Opcode::SampleD => sources.extend(packed.iter().skip(1).take(2).copied()),
            Opcode::Gather4 => sources[1].swizzle = [0, 1, 2, 3],
            _ => {}
        }
        // The opcode determines whether it compares, not the view.
        let target = target(data.dim, data.is_array, false);
        self.declared.samplers(first_sampler, num_samplers);
        self.declared.views(first_view, num_views, target, return_type(data.dest_type));
        let mut instruction = Instruction::new(opcode);
        if !offsets.is_empty() || opcode != Opcode::Lod {
            instruction.texture = Some(Box::new(InstructionTexture {
                target: TextureTarget::Unknown,
                return_type: ReturnType::Unknown,
                offsets: offsets.iter().copied().take(4).collect(),
            }));
        }
        instruction.dst.push(dst);
        instruction.src = sources;
        self.emit_instruction(instruction);
        Ok(())
    }

    fn emit_texture(
        &mut self,
        opcode: Opcode,
        dst: Dst,
        target: TextureTarget,
        return_type: ReturnType,
        offsets: &[TextureOffset],
        sources: &[Src],
    ) {
        let mut instruction = Instruction::new(opcode);
        let return_type = if self.options.return_types { return_type } else { ReturnType::Unknown };
        instruction.texture = Some(Box::new(InstructionTexture {
            target,
            return_type,
            offsets: offsets.iter().copied().take(4).collect(),
        }));
        instruction.dst.push(dst);
        instruction.src.extend(sources.iter().copied().take(5));
        self.emit_instruction(instruction);
    }
}
