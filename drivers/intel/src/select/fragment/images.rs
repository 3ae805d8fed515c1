//! Images in fragment programs, which are surfaces with a format.
//!
//! The hardware reads surfaces with one number of 32 bits for each texel; it writes all formats.

use arrayvec::ArrayVec;
use tgsi_environment::{PixelFormat, SamplerDim};
use tgsi_ir::body::DerefKind;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst, InstData};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::super::buffers::atomic_number;
use super::super::operands::lane;
use super::super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{MathFunction, Opcode, Type};
use crate::machine::{Alu, Op};
use crate::program::{Texture, TextureKind};
use crate::scalar::{FragmentOp, Lookup, TypedAccess, TypedMessage};
use crate::simulator::SampleOp;

/// The surface of an image, and a run-time index that is added.
type Surface = (u8, Option<Source>);

impl Selector<'_> {
    /// Selects an access to an image. `None`: it is another operation.
    pub(super) fn select_image(&mut self, inst: Inst, op: IntrinsicOp) -> Option<Result<(), IntelError>> {
        use IntrinsicOp as I;
        Some(match op {
            I::ImageDerefLoad => self.load_image(inst),
            I::ImageDerefStore => self.store_image(inst),
            I::ImageDerefAtomic | I::ImageDerefAtomicSwap => self.select_image_atomic(inst),
            I::ImageDerefSize | I::ImageDerefSamples => self.query_image(inst, op),
            _ => return None,
        })
    }

    fn image_surface(&mut self, inst: Inst) -> Result<Surface, IntelError> {
        let body = self.body;
        let (mut at, mut base, mut dynamic) = (body.src(inst, 0), 0u32, None);
        for _ in 0..16 {
            let producer = body.def_inst(at);
            match *body.inst(producer) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                    let number = base.wrapping_add(self.shader.variables[variable].binding);
                    let surface = number.saturating_add(self.bindings.images_start.into());
                    let surface = u8::try_from(surface).ok().filter(|&surface| surface < 240);
                    let surface = surface.ok_or_else(|| self.lacks(inst, "images beyond the last one"))?;
                    self.note_image(inst, number, dynamic.is_some())?;
                    return Ok((surface, dynamic));
                }
                InstData::Deref { kind: DerefKind::Array, .. } => {
                    let stride = body.deref_type(at).map_or(1, |ty| self.shader.types.array_elements(ty).max(1));
                    let index = body.src(producer, 1);
                    match body.constant_component(index, 0) {
                        Some(index) => base = base.wrapping_add((index as u32).wrapping_mul(stride)),
                        None => {
                            let index = lane(self.loaded_value(index), 0);
                            let words = self.word(stride);
                            let mut sum = self.computed(alu(Opcode::Mul, Type::D), 1, [index, words]);
                            if let Some(outer) = dynamic {
                                sum = self.computed(alu(Opcode::Add, Type::D), 1, [lane(sum, 0), outer]);
                            }
                            dynamic = Some(lane(sum, 0));
                        }
                    }
                    at = body.src(producer, 0);
                }
                _ => break,
            }
        }
        Err(self.lacks(inst, "reference to images of this kind"))
    }

    /// Records the kind of the images that an instruction accesses.
    fn note_image(&mut self, inst: Inst, first: u32, is_indexed: bool) -> Result<(), IntelError> {
        let dim = SamplerDim::from_i32(self.body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let kind = TextureKind::of(dim).ok_or_else(|| self.lacks(inst, "images of this dimension"))?;
        let is_array = self.body.index(inst, IndexKind::ImageArray) != 0;
        let count = if is_indexed { u32::from(self.bindings.images).saturating_sub(first) } else { 1 };
        let images = &mut self.fragment.parts.images;
        for number in first..first.saturating_add(count) {
            let Ok(unit) = u8::try_from(number) else { break };
            if !images.iter().any(|known| known.unit == unit) {
                images.push(Texture { unit, kind, is_array });
            }
        }
        Ok(())
    }

    /// The coordinates of a texel: u, v, r, sample.
    fn image_coordinates(&mut self, inst: Inst) -> ArrayVec<Source, 12> {
        let body = self.body;
        let dim = SamplerDim::from_i32(body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = body.index(inst, IndexKind::ImageArray) != 0;
        let count = (dim.num_coords() + u8::from(is_array)).min(3);
        let coordinates = self.source_of(body.source(inst, 1));
        let zero = self.word(0);
        let mut parameters: ArrayVec<Source, 12> =
            (0..3).map(|c| if c < count { lane(coordinates, c) } else { zero }).collect();
        let is_multisampled = matches!(dim, SamplerDim::Ms);
        parameters.push(if is_multisampled { lane(self.source_of(body.source(inst, 2)), 0) } else { zero });
        parameters
    }

    /// Appends a message to an image.
    fn send_typed(&mut self, access: TypedAccess, surface: Surface, to: Option<Source>, parameters: &[Source]) {
        let index = surface.1.map(|index| self.in_x(index));
        let mut sources = self.load_parameters(parameters);
        let _ = index.map(|index| sources.try_push(index));
        let is_indexed = surface.1.is_some();
        let message = TypedMessage { access, surface: surface.0, parameters: parameters.len() as u8, is_indexed };
        let to = to.map(|to| Destination::new(File::Temporary, to.index, 15));
        self.push(Instruction::new(Op::Fragment(FragmentOp::Typed(message)), to, sources));
    }

    fn load_image(&mut self, inst: Inst) -> Result<(), IntelError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        if self.body.bit_size(def) != 32 || self.body.num_components(def) > 4 {
            return Err(self.lacks(inst, "loads from images of this size"));
        }
        let format = u32::try_from(self.body.index(inst, IndexKind::Format)).ok().and_then(PixelFormat::from_value);
        let name = format.map_or("none", PixelFormat::short_name);
        if !matches!(name, "R32_FLOAT" | "R32_UINT" | "R32_SINT" | "r32f" | "r32ui" | "r32i") {
            return Err(self.lacks(inst, &format!("loads from images of the format {name}")));
        }
        let surface = self.image_surface(inst)?;
        let parameters = self.image_coordinates(inst);
        let temp = self.new_temp();
        self.send_typed(TypedAccess::Read, surface, Some(temp), &parameters);
        let target = self.target(def);
        self.copy(target, temp);
        Ok(())
    }

    fn store_image(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let value: Def = body.src(inst, 3);
        if body.bit_size(value) != 32 {
            return Err(self.lacks(inst, "stores to images of this size"));
        }
        self.fragment.parts.has_stores = true;
        let surface = self.image_surface(inst)?;
        let mut parameters = self.image_coordinates(inst);
        let count = body.num_components(value);
        let value = self.source_of(body.source(inst, 3));
        parameters.extend((0..4).map(|c| lane(value, c.min(count - 1))));
        self.send_typed(TypedAccess::Write, surface, None, &parameters);
        Ok(())
    }

    fn select_image_atomic(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let number = atomic_number(body.index(inst, IndexKind::AtomicOp));
        let op = number.ok_or_else(|| self.lacks(inst, "atomic operation of this kind"))?;
        if body.bit_size(body.src(inst, 3)) != 32 {
            return Err(self.lacks(inst, "atomic operation of this size"));
        }
        self.fragment.parts.has_stores = true;
        let surface = self.image_surface(inst)?;
        let mut parameters = self.image_coordinates(inst);
        for number in 3..body.num_sources(inst) {
            let operand = self.source_of(body.source(inst, number));
            parameters.push(lane(operand, 0));
        }
        let def = body.inst_def(inst).filter(|&def| !body.is_unused(def));
        let value = def.map(|_| self.new_temp());
        self.send_typed(TypedAccess::Atomic { op, returns: def.is_some() }, surface, value, &parameters);
        if let (Some(def), Some(value)) = (def, value) {
            let target = self.target(def);
            self.copy(target, lane(value, 0));
        }
        Ok(())
    }

    /// The size of an image, or its number of samples.
    fn query_image(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let (surface, index) = self.image_surface(inst)?;
        let is_samples = op == IntrinsicOp::ImageDerefSamples;
        let op = if is_samples { SampleOp::SampleInfo } else { SampleOp::ResourceInfo };
        let (header, has_sampler, is_indexed) = (is_samples.then_some(0), false, index.is_some());
        let lookup = Lookup { op, surface, sampler: 0, header, parameters: 0, is_indexed, has_sampler };
        let level = [self.word(0)];
        let value = self.send_lookup(lookup, index, if is_samples { &[] } else { &level });
        let is_cube = body.index(inst, IndexKind::ImageDim) == SamplerDim::Cube.to_i32();
        let target = self.target(def);
        if is_samples || !(is_cube && body.index(inst, IndexKind::ImageArray) != 0) {
            self.copy(target, value);
            return Ok(());
        }
        // The hardware counts faces.
        let six = self.word(6);
        let layers = self.computed(Alu::math(MathFunction::IntDiv, Type::Ud), 1, [lane(value, 2), six]);
        let parts = [Some(lane(value, 0)), Some(lane(value, 1)), Some(lane(layers, 0)), None];
        let value = self.packed(parts);
        self.copy(target, value);
        Ok(())
    }
}
