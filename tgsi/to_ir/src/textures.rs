//! Texture lookups, and the variables of samplers.
//!
//! A unit has a `uniform` variable of a combined sampler type, created on first use; another target on the same unit
//! gets another variable. If some access to the file is indirect, the units that it may address are one array variable.
//! A source that is not a sampler holds a bindless handle in xy.

use hashbrown::HashMap;

use tgsi_ir::Swizzle;
use tgsi_ir::alu::{AluOp, AluType};
use tgsi_ir::body::{DEFAULT_TG4_OFFSETS, TexData, TexOp, TexSrcKind};
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::{Def, Type, Variable};
use tgsi_ir::types::{ScalarType, TypeData};
use tgsi_ir::variable::{VariableData, VariableModes};

use super::control_flow::Translator;
use tgsi::shader::{Instruction, Register, Src, TextureOffset};
use tgsi::tables::{File, Opcode, OperandType, ReturnType, TextureTarget};

/// Variables of samplers and images: by type, first unit and whether they are an array.
#[derive(Debug, Default)]
pub(super) struct ResourceVariables {
    pub(super) by_type: HashMap<(Type, i32), Variable>,
}

/// The source of an intrinsic that refers to a texture or sampler.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    /// A deref of a sampler variable.
    Deref(Def),
    /// A 64-bit handle.
    Handle(Def),
}

const fn result_type(return_type: ReturnType) -> ScalarType {
    match return_type {
        ReturnType::Sint => ScalarType::Int,
        ReturnType::Uint => ScalarType::Uint,
        ReturnType::Unorm | ReturnType::Snorm | ReturnType::Float | ReturnType::Unknown => ScalarType::Float,
    }
}

/// Returns the 32-bit ALU type of this scalar type.
pub(super) const fn alu_type(scalar: ScalarType) -> AluType {
    match scalar {
        ScalarType::Int => AluType::INT32,
        ScalarType::Uint => AluType::UINT32,
        _ => AluType::FLOAT32,
    }
}

/// A lookup under construction.
pub(super) struct Lookup {
    pub(super) data: TexData,
    pub(super) sources: arrayvec::ArrayVec<(TexSrcKind, Def), 16>,
}

impl Lookup {
    pub(super) fn push(&mut self, kind: TexSrcKind, def: Def) {
        // The capacity is larger than the number of kinds of sources.
        let _ = self.sources.try_push((kind, def));
    }
}

impl Translator<'_, '_> {
    /// Returns the target of a lookup: that of the instruction, or that of the sampler view.
    pub(super) fn texture_target(&self, instruction: &Instruction, view: &Src) -> TextureTarget {
        let own = instruction.texture.as_ref().map_or(TextureTarget::Unknown, |texture| texture.target);
        if own != TextureTarget::Unknown {
            return own;
        }
        self.context
            .declaration_of(File::SamplerView, view.register.index)
            .and_then(|declaration| declaration.sampler_view)
            .map(|declared| declared.target)
            .filter(|&target| target != TextureTarget::Unknown)
            .unwrap_or(TextureTarget::Texture2D)
    }

    /// Returns the result type of a unit: that of the view's declaration, otherwise that of the instruction.
    pub(super) fn sampled_type(&self, instruction: &Instruction, view: &Src) -> ScalarType {
        let declared = self
            .context
            .declaration_of(File::SamplerView, view.register.index)
            .and_then(|declaration| declaration.sampler_view)
            .map(|declared| declared.return_types[0]);
        let own = instruction.texture.as_ref().map(|texture| texture.return_type);
        declared.or(own).map_or(ScalarType::Float, result_type)
    }

    /// Returns a variable of samplers or images for the units from `first` on, creating it if necessary.
    pub(super) fn resource_variable(&mut self, name: &str, ty: Type, mode: VariableModes, first: i32) -> Variable {
        if let Some(&variable) = self.context.resources.by_type.get(&(ty, first)) {
            return variable;
        }
        let mut data = VariableData::new(name, ty, mode);
        data.location = -1;
        data.driver_location = first as u32;
        data.binding = first as u32;
        let variable = self.context.ir.add_variable(data);
        self.context.resources.by_type.insert((ty, first), variable);
        variable
    }

    /// Returns a deref of a unit's variable with the given element type.
    pub(super) fn resource_deref(&mut self, name: &str, register: &Register, ty: Type, mode: VariableModes) -> Def {
        let file = register.file;
        let array = register.indirect.map_or(0, |indirect| indirect.array_id);
        let bounds = self.context.usage.any_indirect(file).then(|| self.context.bounds(file, array)).flatten();
        let Some((first, last)) =
            bounds.filter(|&(first, last)| register.indirect.is_some() || (first..=last).contains(&register.index))
        else {
            let variable = self.resource_variable(name, ty, mode, register.index);
            return self.b.deref_var(variable, mode, ty);
        };
        let array_type = self.context.ir.types.array(ty, (last - first) as u32 + 1);
        let variable = self.resource_variable(name, array_type, mode, first);
        let parent = self.b.deref_var(variable, mode, array_type);
        let index = self.index(register.index.wrapping_sub(first), register.indirect);
        self.b.deref_array(parent, index, ty)
    }

    /// Looks up the view or sampler that an operand refers to.
    pub(super) fn texture_unit(&mut self, src: &Src, target: TextureTarget, shadow: bool, result: ScalarType) -> Unit {
        if !matches!(src.register.file, File::Sampler | File::SamplerView) {
            let words = self.vector(src, OperandType::Uint, 2);
            return Unit::Handle(self.b.alu(AluOp::Pack642x32, &[words]));
        }
        let result = if shadow { ScalarType::Float } else { result };
        let ty = self.context.ir.types.intern(TypeData::Sampler {
            dim: Some(target.sampler_dim()),
            array: target.is_array(),
            shadow,
            result,
        });
        Unit::Deref(self.resource_deref("sampler", &src.register, ty, VariableModes::UNIFORM))
    }

    /// Starts a lookup, without coordinates and other arguments.
    pub(super) fn start_lookup(
        &mut self,
        instruction: &Instruction,
        op: TexOp,
        target: TextureTarget,
        compares: bool,
    ) -> Option<Lookup> {
        let (view_place, sampler_place) = instruction.opcode.texture_operands();
        let view = *instruction.src.get(view_place)?;
        let result = self.sampled_type(instruction, &view);
        let shadow_type = compares || target.is_shadow();
        let dest_type = match op {
            TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples => AluType::INT32,
            TexOp::Lod | TexOp::SamplePos => AluType::FLOAT32,
            _ if shadow_type => AluType::FLOAT32,
            _ => alu_type(result),
        };
        let mut data = TexData::new(op, target.sampler_dim(), dest_type);
        data.is_array = target.is_array();
        let mut lookup = Lookup { data, sources: arrayvec::ArrayVec::new() };
        match self.texture_unit(&view, target, shadow_type, result) {
            Unit::Deref(deref) => lookup.push(TexSrcKind::TextureDeref, deref),
            Unit::Handle(handle) => lookup.push(TexSrcKind::TextureHandle, handle),
        }
        if op.needs_sampler() {
            let sampler = sampler_place.and_then(|position| instruction.src.get(position)).copied().unwrap_or(view);
            let unit = if sampler_place == Some(view_place) {
                match lookup.sources.first() {
                    Some(&(TexSrcKind::TextureHandle, handle)) => Unit::Handle(handle),
                    Some(&(_, deref)) => Unit::Deref(deref),
                    None => return None,
                }
            } else {
                self.texture_unit(&sampler, target, shadow_type, result)
            };
            match unit {
                Unit::Deref(deref) => lookup.push(TexSrcKind::SamplerDeref, deref),
                Unit::Handle(handle) => lookup.push(TexSrcKind::SamplerHandle, handle),
            }
        }
        self.note_texture(instruction, op);
        Some(lookup)
    }

    /// Records the units of a lookup in the shader's information.
    fn note_texture(&mut self, instruction: &Instruction, op: TexOp) {
        let (view, sampler) = instruction.opcode.texture_operands();
        let units = |position: usize| {
            let register = instruction.src.get(position)?.register;
            if !matches!(register.file, File::Sampler | File::SamplerView) {
                return None;
            }
            match register.indirect {
                Some(indirect) => self.context.bounds(register.file, indirect.array_id),
                None => Some((register.index, register.index)),
            }
        };
        let bits =
            |(first, last): (i32, i32)| (first.max(0)..=last.min(127)).fold(0u128, |bits, unit| bits | 1 << unit);
        let textures = units(view).map_or(0, bits);
        let samplers = sampler.and_then(units).map_or(0, bits);
        let info = &mut self.context.ir.info;
        info.textures_used |= textures;
        if matches!(op, TexOp::Txf | TexOp::TxfMs) {
            info.textures_used_by_txf |= textures;
        }
        if op.needs_sampler() {
            info.samplers_used |= samplers as u32;
        }
        info.uses_texture_gather |= op == TexOp::Tg4;
        info.uses_resource_info_query |= op.is_query() && op != TexOp::Lod;
    }

    /// Translates a lookup or a query.
    pub(super) fn texture(&mut self, instruction: &Instruction) {
        use Opcode::*;
        let opcode = instruction.opcode;
        let mut op = match opcode {
            Tex | Tex2 | Txp | Sample | SampleC => TexOp::Tex,
            Txb | Txb2 | SampleB => TexOp::Txb,
            Txl | Txl2 | TexLz | SampleL | SampleCLz => TexOp::Txl,
            Txd | SampleD => TexOp::Txd,
            Txf | TxfLz | SampleI | SampleIMs => TexOp::Txf,
            Tg4 | Gather4 => TexOp::Tg4,
            Lodq | Lod => TexOp::Lod,
            _ => return self.texture_query(instruction),
        };
        let (view_place, _) = opcode.texture_operands();
        let Some(&view) = instruction.src.get(view_place) else { return };
        let Some(&coordinates) = instruction.src.first() else { return };
        let target = self.texture_target(instruction, &view);
        let fetches = op == TexOp::Txf;
        if fetches && target.is_msaa() {
            op = TexOp::TxfMs;
        }
        let compares = matches!(opcode, SampleC | SampleCLz);
        let is_shadow = compares || (target.is_shadow() && !fetches && op != TexOp::Lod);
        let Some(mut lookup) = self.start_lookup(instruction, op, target, compares) else { return };
        lookup.data.is_shadow = is_shadow;

        // Coordinates, and the other values that the projective divide applies to.
        let count = target.coordinate_components().max(1);
        lookup.data.coord_components = count;
        let coordinate_type = if fetches { OperandType::Uint } else { OperandType::Float };
        let mut coordinate = self.vector(&coordinates, coordinate_type, count);
        let mut comparator = is_shadow.then(|| self.comparator(instruction, target, compares));
        if opcode == Txp {
            let divisor = self.scalar(&coordinates, OperandType::Float, 3);
            if target.is_array() {
                // A projector does not divide the layer, but TXP divides all components.
                let by = AluSrc::component(divisor, 0);
                coordinate = self.b.alu_sized(AluOp::Fdiv, count, &[coordinate.into(), by]);
                comparator = comparator.map(|value| self.b.alu(AluOp::Fdiv, &[value, divisor]));
                lookup.push(TexSrcKind::Coord, coordinate);
            } else {
                lookup.push(TexSrcKind::Coord, coordinate);
                lookup.push(TexSrcKind::Projector, divisor);
            }
        } else {
            lookup.push(TexSrcKind::Coord, coordinate);
        }

        self.level(instruction, &coordinates, &mut lookup);
        if op == TexOp::Txd {
            let first = if opcode == Txd { 1 } else { 3 };
            let size = lookup.data.dim.num_coords();
            for (kind, position) in [(TexSrcKind::Ddx, first), (TexSrcKind::Ddy, first + 1)] {
                if let Some(&src) = instruction.src.get(position) {
                    let gradient = self.vector(&src, OperandType::Float, size);
                    lookup.push(kind, gradient);
                }
            }
        }
        if let Some(comparator) = comparator {
            lookup.push(TexSrcKind::Comparator, comparator);
        }
        let offsets = instruction.texture.as_ref().map(|texture| texture.offsets.as_slice()).unwrap_or_default();
        if let &[offset] = offsets {
            let size = lookup.data.dim.num_coords();
            let offset = self.texel_offset(&offset, size);
            lookup.push(TexSrcKind::Offset, offset);
        }
        let result = match op {
            TexOp::Tg4 => self.gather(instruction, &lookup, offsets),
            _ => self.b.texture(lookup.data, &lookup.sources),
        };

        // Two components for a level query, four otherwise.
        let components = self.b.body.num_components(result);
        let by_view = opcode.info().is_sample_family || opcode == Lod;
        let swizzle = if by_view { view.swizzle } else { [0, 1, 2, 3] };
        if components == 4 {
            self.write(instruction, AluSrc::new(result, Swizzle::new(&swizzle.map(|component| component & 3))));
        } else {
            let zero = AluSrc::component(self.constant(0), 0);
            self.write_channels(instruction, |_, channel| {
                let component = swizzle[usize::from(channel)] & 3;
                if component < components { AluSrc::component(result, component) } else { zero }
            });
        }
    }

    /// Returns the reference value of a comparing lookup.
    fn comparator(&mut self, instruction: &Instruction, target: TextureTarget, compares: bool) -> Def {
        let (position, channel) = match target.comparator_position() {
            _ if compares => (3, 0),
            // If a second operand has both the bias or level and the reference value, the latter is in y.
            Some(4) if matches!(instruction.opcode, Opcode::Txb2 | Opcode::Txl2) => (1, 1),
            Some(4) if matches!(instruction.opcode, Opcode::Tex2 | Opcode::Tg4) => (1, 0),
            Some(channel @ 0..4) => (0, channel),
            _ => return self.constant(0),
        };
        match instruction.src.get(position) {
            Some(src) => self.scalar(src, OperandType::Float, channel),
            None => self.constant(0),
        }
    }

    /// Adds the bias, level of detail or sample of a lookup.
    fn level(&mut self, instruction: &Instruction, coordinates: &Src, lookup: &mut Lookup) {
        use Opcode::*;
        let kind = match lookup.data.op {
            TexOp::Txb => TexSrcKind::Bias,
            TexOp::TxfMs => TexSrcKind::MsIndex,
            TexOp::Txl | TexOp::Txf => TexSrcKind::Lod,
            _ => return,
        };
        let multisampled = lookup.data.op == TexOp::TxfMs;
        let operand = match instruction.opcode {
            Txb | Txl => Some((*coordinates, 3, OperandType::Float)),
            Txb2 | Txl2 => instruction.src.get(1).map(|&src| (src, 0, OperandType::Float)),
            SampleB | SampleL => instruction.src.get(3).map(|&src| (src, 0, OperandType::Float)),
            Txf | SampleI => Some((*coordinates, 3, OperandType::Uint)),
            // Level 0, but the sample is in its usual place.
            TxfLz if multisampled => Some((*coordinates, 3, OperandType::Uint)),
            SampleIMs => instruction.src.get(2).map(|&src| (src, 0, OperandType::Uint)),
            _ => None,
        };
        let value = match operand {
            Some((src, channel, operand)) => self.scalar(&src, operand, channel),
            None => self.constant(0),
        };
        lookup.push(kind, value);
    }

    /// Returns a texel offset of `size` components.
    fn texel_offset(&mut self, offset: &TextureOffset, size: u8) -> Def {
        let [x, y, z] = offset.swizzle.map(|component| component & 3);
        let src = Src::new(Register::new(offset.file, offset.index)).swizzled([x, y, z, z]);
        self.vector(&src, OperandType::Int, size)
    }

    fn gather(&mut self, instruction: &Instruction, lookup: &Lookup, offsets: &[TextureOffset]) -> Def {
        let component = self.gather_component(instruction, lookup);
        match component {
            Ok(component) => self.gather_of(lookup, component, offsets),
            // The component is only known at run time: gather all and select one.
            Err(number) => {
                let three = self.constant(3);
                let number = self.b.alu(AluOp::Iand, &[number, three]);
                let mut result = self.gather_of(lookup, 0, offsets);
                for component in 1..4 {
                    let other = self.gather_of(lookup, component, offsets);
                    let own = self.constant(u32::from(component));
                    let chosen = self.b.alu(AluOp::Ieq, &[number, own]);
                    let sources = [AluSrc::component(chosen, 0), other.into(), result.into()];
                    result = self.b.alu_sized(AluOp::Bcsel, 4, &sources);
                }
                result
            }
        }
    }

    /// Returns the component that `TG4` gathers, or the value that specifies it: the sampler's swizzle if the producer
    /// set one, otherwise the second operand.
    fn gather_component(&mut self, instruction: &Instruction, lookup: &Lookup) -> Result<u8, Def> {
        if lookup.data.is_shadow || instruction.opcode != Opcode::Tg4 {
            return Ok(0);
        }
        let swizzle = instruction.src.get(2).map_or(0, |sampler| sampler.swizzle[0] & 3);
        if swizzle != 0 {
            return Ok(swizzle);
        }
        let Some(src) = instruction.src.get(1) else { return Ok(0) };
        match self.known_word(src, 0) {
            Some(component) => Ok((component & 3) as u8),
            None => Err(self.scalar(src, OperandType::Uint, 0)),
        }
    }

    fn gather_of(&mut self, lookup: &Lookup, component: u8, offsets: &[TextureOffset]) -> Def {
        let mut data = lookup.data;
        data.component = component;
        let &[_, _, _, _] = offsets else { return self.b.texture(data, &lookup.sources) };
        let mut known = DEFAULT_TG4_OFFSETS;
        let mut all_known = true;
        for (texel, offset) in known.iter_mut().zip(offsets) {
            for (value, &component) in texel.iter_mut().zip(&offset.swizzle) {
                let src = Src::new(Register::new(offset.file, offset.index)).swizzled([component & 3; 4]);
                match self.known_word(&src, 0) {
                    Some(word) if i8::try_from(word as i32).is_ok() => *value = word as i8,
                    _ => all_known = false,
                }
            }
        }
        if all_known {
            data.tg4_offsets = known;
            return self.b.texture(data, &lookup.sources);
        }
        // Each texel is the base texel (w) of a gather at its offset.
        let size = data.dim.num_coords();
        let mut texels: arrayvec::ArrayVec<AluSrc, 4> = arrayvec::ArrayVec::new();
        for offset in offsets.iter().take(4) {
            let offset = self.texel_offset(offset, size);
            let mut sources = lookup.sources.clone();
            let _ = sources.try_push((TexSrcKind::Offset, offset));
            let gathered = self.b.texture(data, &sources);
            texels.push(AluSrc::component(gathered, 3));
        }
        self.b.vec(&texels)
    }
}
