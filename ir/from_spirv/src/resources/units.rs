//! Texture units, and storage images.
//!
//! A texture with its own sampler has a unit; arrays have consecutive ones. A separate texture has a unit for each
//! sampler that it meets, and comparing and ordinary lookups have different ones. Where the element of an array is
//! known when the shader is compiled, the pair is that of the element; otherwise all elements have units. Fetches take
//! a unit that the texture has.

use smallvec::SmallVec;
use tgsi_ir::entities::{Def, Type as IrType, Variable as IrVariable};
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::types::{ScalarType, TypeData as IrTypeData};
use tgsi_ir::variable::{VariableData, VariableModes};

use super::paths::OpaquePath;
use super::{Image, Slot};
use crate::emit::pointer::{Pointer, Step};
use crate::emit::value::Value;
use crate::emit::{Context, Emitter};
use crate::error::SpirvError;
use crate::options::Environment;
use crate::types::{ImageType, TypeData};

/// The most units for all pairs of two arrays.
const MAX_PAIRS: u64 = 32;

/// Descriptors: one, or all elements of an array.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Descriptors {
    pub(super) slot: Slot,
    pub(super) fields: SmallVec<[u32; 2]>,
    /// The first element.
    pub(super) first: u32,
    /// Number of elements, if a run-time index selects one.
    pub(super) length: Option<u32>,
}

impl Descriptors {
    pub(super) fn count(&self) -> u32 {
        self.length.unwrap_or(1)
    }
}

/// What units with one type are for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct UnitKey {
    pub(super) texture: Descriptors,
    /// A separate sampler.
    pub(super) sampler: Option<Descriptors>,
    /// Whether the texture has its own sampler.
    pub(super) is_combined: bool,
    ty: IrType,
}

/// The units of a texture, a sampler, or of pairs.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) key: UnitKey,
    pub(super) global: u32,
    pub(super) variable: IrVariable,
    /// Number of units.
    pub(super) length: u32,
    pub(super) register: u32,
    pub(super) is_subpass: bool,
    pub(super) is_fetched: bool,
    pub(super) is_sampled: bool,
}

/// The derefs of a lookup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitAccess {
    pub(crate) texture: Def,
    pub(crate) sampler: Option<Def>,
    pub(crate) image: ImageType,
}

/// The use of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnitUse {
    /// Lookups with a sampler, which may compare.
    Sample { compares: bool },
    /// Queries of levels, with a sampler of either kind.
    QueryLevel,
    /// Fetches of texels.
    Fetch,
    /// Queries of sizes.
    Query,
}

/// A storage image that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageAccess {
    pub(crate) deref: Def,
    pub(crate) image: ImageType,
    pub(crate) access: AccessFlags,
}

impl UnitUse {
    fn needs_sampler(self) -> bool {
        matches!(self, UnitUse::Sample { .. } | UnitUse::QueryLevel)
    }
}

impl Context<'_> {
    fn sampler_type(&mut self, image: &ImageType, shadow: bool) -> IrType {
        let result = if shadow { ScalarType::Float } else { image.sampled };
        self.shader.types.intern(IrTypeData::Sampler { dim: Some(image.dim), array: image.is_array, shadow, result })
    }

    /// Whether textures and samplers have separate units.
    pub(super) fn has_separate_units(&self) -> bool {
        self.options.separate || self.environment == Environment::Tgsic
    }

    fn descriptor_name(&self, path: &OpaquePath) -> String {
        let mut name = self.resource_name(path.global);
        let mut ty = self.module.globals.get(path.global as usize).map(|global| global.ty);
        for &field in &path.fields {
            let inner = ty.map(|ty| self.module.types.without_arrays(ty));
            let Some(TypeData::Struct { id, members }) = inner.map(|ty| self.module.types.get(ty)) else { break };
            let part = self.module.member_names.get(&(*id, field));
            name.push('.');
            name.push_str(&part.map_or_else(|| format!("member_{field}"), Clone::clone));
            ty = members.get(field as usize).map(|member| member.ty);
        }
        name
    }

    /// Creates a variable of descriptors.
    fn descriptor_variable(
        &mut self,
        path: &OpaquePath,
        element: IrType,
        length: Option<u32>,
        mode: VariableModes,
    ) -> IrVariable {
        let ty = match length {
            Some(length) => self.shader.types.array(element, length),
            None => element,
        };
        let name = self.descriptor_name(path);
        let mut data = VariableData::new(name, ty, mode);
        data.location = -1;
        data.descriptor_set = self.slot(path.global).set;
        self.shader.add_variable(data)
    }
}

impl Emitter<'_, '_, '_> {
    /// The descriptors that a path leads to. Separate ones are single if the element is known.
    fn descriptors(&self, path: &OpaquePath, is_whole: bool) -> Descriptors {
        let slot = self.context.slot(path.global);
        let (first, length) = match (path.element, path.length) {
            (_, None) => (0, None),
            (Step::Part(element), Some(_)) if !is_whole => (element, None),
            (_, Some(length)) => (0, Some(length)),
        };
        Descriptors { slot, fields: path.fields.clone(), first, length }
    }

    fn image_of(&self, path: &OpaquePath) -> Result<ImageType, SpirvError> {
        match *self.context.module.types.get(path.ty) {
            TypeData::Image(image) | TypeData::SampledImage(image) => Ok(image),
            _ => Err(SpirvError::WrongKind { id: 0, found: "a sampler", expected: "an image" }),
        }
    }

    /// The units of a texture that an instruction accesses.
    ///
    /// # Errors
    /// The value is not a texture, or lacks a sampler that the use needs; arrays of too many pairs.
    pub(crate) fn unit_access(&mut self, value: &Value, usage: UnitUse) -> Result<UnitAccess, SpirvError> {
        let (texture, sampler): (&Pointer, Option<&Pointer>) = match value {
            Value::Opaque(texture) => (texture, None),
            Value::Pair(pair) => (&pair.0, Some(&pair.1)),
            _ => return Err(SpirvError::WrongKind { id: 0, found: "another value", expected: "an image" }),
        };
        let path = self.opaque_path(texture)?;
        let image = self.image_of(&path)?;
        let is_combined = matches!(self.context.module.types.get(path.ty), TypeData::SampledImage(_));
        if image.is_storage {
            return Err(SpirvError::Types { op: "the lookup".to_owned(), why: "storage images are not looked up" });
        }
        let samples = usage.needs_sampler();
        let sampler = match sampler {
            Some(sampler) if samples => {
                let path = self.opaque_path(sampler)?;
                if !matches!(self.context.module.types.get(path.ty), TypeData::Sampler) {
                    return Err(SpirvError::WrongKind { id: 0, found: "an image", expected: "a sampler" });
                }
                Some(path)
            }
            _ => None,
        };
        if samples && sampler.is_none() && !is_combined {
            let why = "the image has no sampler";
            return Err(SpirvError::Types { op: "the lookup".to_owned(), why });
        }
        let shadow = usage == UnitUse::Sample { compares: true };
        if shadow && image.sampled != ScalarType::Float {
            return Err(SpirvError::Types { op: "the lookup".to_owned(), why: "only floats are compared" });
        }
        let ty = self.context.sampler_type(&image, shadow);
        if self.context.has_separate_units() {
            return Ok(self.separate_units(&path, sampler.as_ref(), ty, image, usage));
        }
        self.paired_unit(&path, sampler.as_ref(), ty, image, usage)
    }

    /// Units of a texture and of a sampler.
    fn separate_units(
        &mut self,
        texture: &OpaquePath,
        sampler: Option<&OpaquePath>,
        ty: IrType,
        image: ImageType,
        usage: UnitUse,
    ) -> UnitAccess {
        let is_combined = matches!(self.context.module.types.get(texture.ty), TypeData::SampledImage(_));
        let texture_deref = {
            let descriptors = self.descriptors(texture, true);
            let key = UnitKey { texture: descriptors, sampler: None, is_combined, ty };
            let number = self.context.find_or_add_unit(key, texture, image.is_subpass);
            self.note_unit(number, usage);
            self.unit_deref(number, ty, texture.element)
        };
        let sampler_deref = match (usage.needs_sampler(), sampler) {
            (true, Some(sampler)) => {
                let descriptors = self.descriptors(sampler, true);
                let key = UnitKey { texture: descriptors, sampler: None, is_combined: false, ty };
                let variable = self.context.sampler_variable(key, sampler);
                Some(self.deref_of(variable, ty, sampler.length, sampler.element))
            }
            (true, None) => Some(texture_deref),
            (false, _) => None,
        };
        UnitAccess { texture: texture_deref, sampler: sampler_deref, image }
    }

    /// The unit of a texture with a sampler.
    fn paired_unit(
        &mut self,
        texture: &OpaquePath,
        sampler: Option<&OpaquePath>,
        ty: IrType,
        image: ImageType,
        usage: UnitUse,
    ) -> Result<UnitAccess, SpirvError> {
        let is_sampled = matches!(self.context.module.types.get(texture.ty), TypeData::SampledImage(_));
        let is_combined = sampler.is_none() && is_sampled;
        let textures = self.descriptors(texture, is_combined);
        let samplers = sampler.map(|sampler| self.descriptors(sampler, false));
        if let (Some(first), Some(second)) = (textures.length, samplers.as_ref().and_then(|sampler| sampler.length)) {
            let count = u64::from(first) * u64::from(second);
            if count > MAX_PAIRS {
                return Err(SpirvError::Pairs { count, limit: MAX_PAIRS });
            }
        }
        let mut key = UnitKey { texture: textures, sampler: samplers, is_combined, ty };
        let is_sample = usage.needs_sampler();
        let mut known = self.known_unit(&key, &image, usage);
        if known.is_none() && key.texture.length.is_none() && texture.length.is_some() {
            // The elements may have units already.
            let whole = UnitKey { texture: self.descriptors(texture, true), ..key.clone() };
            known = self.known_unit(&whole, &image, usage);
        }
        let number = match known {
            Some(known) => known,
            None => {
                key.sampler = key.sampler.filter(|_| is_sample);
                self.context.find_or_add_unit(key, texture, image.is_subpass)
            }
        };
        self.note_unit(number, usage);
        let Some(key) = self.context.resources.units.get(number).map(|unit| unit.key.clone()) else {
            return Err(SpirvError::Pointer { id: 0 });
        };
        let element = match (key.texture.length, sampler.zip(key.sampler.as_ref().and_then(|sampler| sampler.length))) {
            (None, None) => Step::Part(0),
            (Some(_), None) => texture.element,
            (None, Some((sampler, _))) => sampler.element,
            (Some(_), Some((sampler, count))) => self.product(texture.element, sampler.element, count),
        };
        let deref = self.unit_deref(number, key.ty, element);
        let sampler = is_sample.then_some(deref);
        Ok(UnitAccess { texture: deref, sampler, image })
    }

    /// A unit that is known for a use: that of the pair, or for fetches and queries any of the texture.
    fn known_unit(&mut self, key: &UnitKey, image: &ImageType, usage: UnitUse) -> Option<usize> {
        let compared = self.context.sampler_type(image, true);
        let resources = &self.context.resources;
        if usage.needs_sampler() {
            let ordinary = resources.unit_numbers.get(key).copied();
            let other = UnitKey { ty: compared, ..key.clone() };
            let is_either = usage == UnitUse::QueryLevel;
            return ordinary.or_else(|| resources.unit_numbers.get(&other).copied().filter(|_| is_either));
        }
        let of_texture = resources.units_of.get(&key.texture)?;
        of_texture.iter().copied().find(|&number| {
            resources.units.get(number).is_some_and(|unit| {
                let is_one = unit.key.sampler.as_ref().is_none_or(|sampler| sampler.length.is_none());
                is_one && (unit.key.ty == key.ty || usage == UnitUse::Query && unit.key.ty == compared)
            })
        })
    }

    /// The number of a pair of elements.
    fn product(&mut self, texture: Step, sampler: Step, samplers: u32) -> Step {
        let as_def = |emitter: &mut Self, step| match step {
            Step::Part(number) => emitter.constant(32, &[number.into()]),
            Step::Index(index) => index,
        };
        let (texture, sampler) = (as_def(self, texture), as_def(self, sampler));
        let first = self.scaled(texture, samplers);
        Step::Index(self.sum(Some(first), sampler))
    }

    fn note_unit(&mut self, number: usize, usage: UnitUse) {
        if let Some(unit) = self.context.resources.units.get_mut(number) {
            unit.is_fetched |= usage == UnitUse::Fetch;
            unit.is_sampled |= usage.needs_sampler();
        }
    }

    fn unit_deref(&mut self, number: usize, ty: IrType, element: Step) -> Def {
        let unit = self.context.resources.units.get(number).map(|unit| (unit.variable, unit.length, unit.is_array()));
        match unit {
            Some((variable, length, is_array)) => self.deref_of(variable, ty, is_array.then_some(length), element),
            None => self.constant(32, &[0]),
        }
    }

    /// The deref of an element of a variable of descriptors.
    fn deref_of(&mut self, variable: IrVariable, ty: IrType, length: Option<u32>, element: Step) -> Def {
        let Some(data) = self.context.shader.variables.get(variable) else { return self.constant(32, &[0]) };
        let (mode, whole) = (data.mode, data.ty);
        let deref = self.b.deref_var(variable, mode, whole);
        if length.is_none() {
            return deref;
        }
        let index = match element {
            Step::Part(number) => self.constant(32, &[number.into()]),
            Step::Index(index) => index,
        };
        self.b.deref_array(deref, index, ty)
    }

    /// The storage image that a pointer leads to.
    ///
    /// # Errors
    /// It leads to something else.
    pub(crate) fn image_access(&mut self, pointer: &Pointer) -> Result<ImageAccess, SpirvError> {
        let path = self.opaque_path(pointer)?;
        let image = self.image_of(&path)?;
        let slot = self.context.slot(path.global);
        let access = pointer.access;
        let global = self.context.module.globals.get(path.global as usize).map_or(0, |global| global.id);
        let access_of_variable = self.context.access_of(global, None);
        let ty = self.context.shader.types.intern(IrTypeData::Image {
            dim: image.dim,
            array: image.is_array,
            result: image.sampled,
        });
        let length = path.length.unwrap_or(1);
        let key = (path.global, path.fields.clone(), image);
        let known = self.context.resources.image_numbers.get(&key);
        let variable = match known.and_then(|&known| self.context.resources.images.get(known)) {
            Some(known) => known.variable,
            None => {
                let variable = self.context.descriptor_variable(&path, ty, path.length, VariableModes::IMAGE);
                let fields = path.fields.clone();
                let new = Image { slot, fields, ty: image, length, global: path.global, variable, register: 0 };
                self.context.resources.image_numbers.insert(key, self.context.resources.images.len());
                self.context.resources.images.push(new);
                variable
            }
        };
        if let Some(data) = self.context.shader.variables.get_mut(variable) {
            data.image_format = image.format;
            data.access = access_of_variable;
        }
        let deref = self.deref_of(variable, ty, path.length, path.element);
        Ok(ImageAccess { deref, image, access })
    }
}

impl Unit {
    fn is_array(&self) -> bool {
        self.key.texture.length.is_some() || self.key.sampler.as_ref().is_some_and(|sampler| sampler.length.is_some())
    }
}

impl Context<'_> {
    fn find_or_add_unit(&mut self, key: UnitKey, path: &OpaquePath, is_subpass: bool) -> usize {
        if let Some(&known) = self.resources.unit_numbers.get(&key) {
            return known;
        }
        // A unit whose sampler did not matter so far takes the sampler.
        let takes_one = key.sampler.as_ref().is_some_and(|sampler| sampler.length.is_none());
        let alone = UnitKey { sampler: None, is_combined: false, ..key.clone() };
        if takes_one && let Some(number) = self.resources.unit_numbers.remove(&alone) {
            if let Some(unit) = self.resources.units.get_mut(number) {
                unit.key = key.clone();
            }
            self.resources.unit_numbers.insert(key, number);
            return number;
        }
        let samplers = key.sampler.as_ref().map_or(1, Descriptors::count);
        let length = key.texture.count().saturating_mul(samplers);
        let number = self.resources.units.len();
        let mut unit = Unit {
            key: key.clone(),
            global: path.global,
            variable: IrVariable::from_u32(0),
            length,
            register: 0,
            is_subpass,
            is_fetched: false,
            is_sampled: false,
        };
        let array = unit.is_array().then_some(length);
        unit.variable = self.descriptor_variable(path, key.ty, array, VariableModes::UNIFORM);
        self.resources.units.push(unit);
        self.resources.units_of.entry(key.texture.clone()).or_default().push(number);
        self.resources.unit_numbers.insert(key, number);
        number
    }

    /// The variable of a separate sampler. It has the type of the textures that it is used with.
    fn sampler_variable(&mut self, key: UnitKey, path: &OpaquePath) -> IrVariable {
        let known = self.resources.sampler_numbers.get(&key);
        if let Some(known) = known.and_then(|&known| self.resources.samplers.get(known)) {
            return known.variable;
        }
        self.resources.sampler_numbers.insert(key.clone(), self.resources.samplers.len());
        let variable = self.descriptor_variable(path, key.ty, path.length, VariableModes::UNIFORM);
        self.resources.samplers.push(Unit {
            length: key.texture.count(),
            key,
            global: path.global,
            variable,
            register: 0,
            is_subpass: false,
            is_fetched: false,
            is_sampled: true,
        });
        variable
    }
}
