//! Locations: of variables, of members of blocks, and the slots of the IR that they are.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use spirv::{BuiltIn, Decoration, StorageClass};
use tgsi::tables::Semantic;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};
use tgsi_ir::types::ScalarType;

use crate::emit::Context;
use crate::error::SpirvError;
use crate::interface::WHOLE;
use crate::options::Environment;
use crate::types::{TypeData, TypeId};

/// Locations are below it: registers of TGSI have 15 bits, and no device has more than 128 locations.
const MAX_LOCATIONS: u32 = 1 << 12;

/// The first location of the IR that is not a slot. Those of a semantic begin at `EXTENDED * (1 + semantic)`.
const EXTENDED: i32 = 0x1_0000;

/// Vertices of a patch.
const PATCH_VERTICES: u32 = 32;

/// A variable, or a member of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) ty: TypeId,
    pub(super) location: Option<u32>,
    pub(super) built_in: Option<BuiltIn>,
}

/// The places of the parts of a variable.
#[derive(Debug)]
pub(super) struct Layout {
    /// The length of the outermost dimension, if it is that of vertices.
    pub(super) vertices: Option<u32>,
    pub(super) is_patch: bool,
    /// The struct whose members are the parts; else the whole is the only part.
    pub(super) block: Option<u32>,
    parts: Vec<Part>,
}

impl Layout {
    /// The part with the number of a member.
    pub(super) fn part(&self, member: u32) -> Option<&Part> {
        self.parts.get(if member == WHOLE { 0 } else { member as usize })
    }

    /// The built-in that a part is.
    pub(super) fn built_in(&self, member: u32) -> Option<BuiltIn> {
        self.part(member)?.built_in
    }

    /// The parts, with the numbers of their members.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u32, &Part)> {
        let is_block = self.block.is_some();
        self.parts.iter().enumerate().map(move |(number, part)| (if is_block { number as u32 } else { WHOLE }, part))
    }
}

/// The decorations of a part: those of the variable and of the member.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartDecorations<'m> {
    decorations: &'m crate::decorations::Decorations,
    variable: u32,
    block: u32,
    member: u32,
}

impl PartDecorations<'_> {
    /// The operand of a decoration.
    pub(super) fn value(&self, kind: Decoration) -> Option<u32> {
        let of_member = self.decorations.member(self.block, self.member, kind);
        of_member.or_else(|| self.decorations.value(self.variable, kind))
    }

    /// Whether the part has a decoration.
    pub(super) fn has(&self, kind: Decoration) -> bool {
        self.value(kind).is_some()
    }
}

impl<'m> Context<'m> {
    /// The decorations of a part.
    pub(super) fn part_decorations(&self, number: u32, member: u32, layout: &Layout) -> PartDecorations<'_> {
        let global = self.module.globals.get(number as usize);
        // Members of arrays of blocks have equal decorations.
        let (block, member) = match (layout.block, layout.part(member)) {
            (Some(block), _) => (block, member),
            (None, Some(part)) => match self.module.types.get(self.module.types.without_arrays(part.ty)) {
                TypeData::Struct { id, .. } => (*id, 0),
                _ => (0, WHOLE),
            },
            (None, None) => (0, WHOLE),
        };
        let variable = global.map_or(0, |global| global.id);
        PartDecorations { decorations: &self.module.decorations, variable, block, member }
    }

    /// The layout of a variable; `None` if an error was reported.
    pub(super) fn layout(&mut self, number: u32) -> Option<Rc<Layout>> {
        if let Some(known) = self.interface.layouts.get(&number) {
            return known.clone();
        }
        let layout = self.find_layout(number).map(Rc::new);
        let layout = layout.map_err(|error| self.report_at(number, error)).ok();
        self.interface.layouts.insert(number, layout.clone());
        layout
    }

    fn find_layout(&mut self, number: u32) -> Result<Layout, SpirvError> {
        let error = |why| SpirvError::Types { op: "the interface".to_owned(), why };
        let Some(global) = self.module.globals.get(number as usize).copied() else {
            return Err(error("the variable does not exist"));
        };
        let is_output = global.class == StorageClass::Output as u32;
        let mut ty = global.ty;
        let decorations = &self.module.decorations;
        let inner = self.module.types.without_arrays(ty);
        let built_in =
            |operand: u32| BuiltIn::from_u32(operand).ok_or(SpirvError::BuiltIn { name: operand.to_string() });
        let own = decorations.value(global.id, Decoration::BuiltIn).map(built_in).transpose()?;
        let is_patch_struct = match self.module.types.get(inner) {
            TypeData::Struct { id, .. } => decorations.member_has(*id, 0, Decoration::Patch),
            _ => false,
        };
        let is_patch = is_patch_struct || decorations.has(global.id, Decoration::Patch) || own.is_some_and(is_of_patch);
        let mut vertices = None;
        if self.has_vertices(is_output) && !is_patch && own.is_none_or(is_of_vertex) {
            let TypeData::Array { element, length, .. } = *self.module.types.get(ty) else {
                return Err(error("inputs and outputs of this stage are arrays of vertices"));
            };
            let most = self.vertices(is_output);
            if length == 0 || length > most {
                return Err(error("the length of the array is not the number of vertices"));
            }
            vertices = Some(most);
            ty = element;
        }
        let location = decorations.value(global.id, Decoration::Location);
        if let TypeData::Struct { id, members } = self.module.types.get(ty).clone() {
            let parts = self.member_parts(id, &members, location)?;
            return Ok(Layout { vertices, is_patch, block: Some(id), parts });
        }
        let mut part = Part { ty, location, built_in: own };
        if let TypeData::Struct { id, members } = self.module.types.get(inner).clone()
            && own.is_none()
        {
            // An array of blocks is one variable, whose slots are consecutive.
            let parts = self.member_parts(id, &members, location)?;
            if parts.iter().any(|part| part.built_in.is_some()) {
                return Err(error("a block of built-ins is not an array"));
            }
            part.location = parts.first().and_then(|part| part.location);
            let mut next = part.location;
            for part in parts {
                if part.location != next {
                    return Err(error("the locations of the members of an array of blocks are not consecutive"));
                }
                let slots = self.slots(part.ty);
                next = next.map(|next| next.saturating_add(slots));
            }
            let decorations = &self.module.decorations;
            let kinds = [Decoration::Flat, Decoration::NoPerspective, Decoration::Centroid, Decoration::Sample];
            let differ = |kind| {
                let first = decorations.member_has(id, 0, kind);
                (1..members.len() as u32).any(|member| decorations.member_has(id, member, kind) != first)
            };
            if self.stage == ShaderStage::Fragment && kinds.into_iter().any(differ) {
                return Err(error("the members of an array of blocks are interpolated in different ways"));
            }
        }
        Ok(Layout { vertices, is_patch, block: None, parts: vec![part] })
    }

    /// The parts that are members of a struct: their own locations, or the first one behind the member before.
    fn member_parts(
        &mut self,
        id: u32,
        members: &[crate::types::Member],
        first: Option<u32>,
    ) -> Result<Vec<Part>, SpirvError> {
        let mut next = first;
        let mut parts = Vec::with_capacity(members.len());
        for (member, data) in members.iter().enumerate() {
            let member = member as u32;
            let decorations = &self.module.decorations;
            if let Some(operand) = decorations.member(id, member, Decoration::BuiltIn) {
                let built_in = BuiltIn::from_u32(operand);
                let built_in = built_in.ok_or(SpirvError::BuiltIn { name: operand.to_string() })?;
                parts.push(Part { ty: data.ty, location: None, built_in: Some(built_in) });
                continue;
            }
            let location = decorations.member(id, member, Decoration::Location).or(next);
            let slots = self.slots(data.ty);
            next = location.map(|location| location.saturating_add(slots));
            parts.push(Part { ty: data.ty, location, built_in: None });
        }
        Ok(parts)
    }

    fn slots(&mut self, ty: TypeId) -> u32 {
        let ty = self.ir_type(ty);
        self.shader.types.slots(ty)
    }

    /// Whether variables of the stage are arrays of vertices.
    fn has_vertices(&self, is_output: bool) -> bool {
        match self.stage {
            ShaderStage::TessCtrl => true,
            ShaderStage::TessEval | ShaderStage::Geometry => !is_output,
            _ => false,
        }
    }

    /// The vertices of the stage.
    fn vertices(&self, is_output: bool) -> u32 {
        let info = &self.shader.info;
        let known = match self.stage {
            ShaderStage::Geometry => info.gs.vertices_in,
            ShaderStage::TessCtrl if is_output => info.tess.tcs_vertices_out,
            _ => PATCH_VERTICES,
        };
        if known == 0 { PATCH_VERTICES } else { known }
    }

    /// Checks that a type is one of inputs and outputs. Returns its slots.
    pub(super) fn check_interface_type(&mut self, ty: TypeId) -> Result<u32, SpirvError> {
        let error = |why| SpirvError::Types { op: "the interface".to_owned(), why };
        let mut seen = FxHashSet::default();
        let mut pending = vec![ty];
        while let Some(ty) = pending.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match self.module.types.get(ty) {
                TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. } => {
                    if *scalar == ScalarType::Bool {
                        return Err(error("inputs and outputs are not booleans"));
                    }
                }
                TypeData::Array { element, length, .. } => {
                    if *length == 0 {
                        return Err(error("arrays of inputs and outputs have a length"));
                    }
                    pending.push(*element);
                }
                TypeData::Struct { members, .. } => pending.extend(members.iter().map(|member| member.ty)),
                _ => return Err(error("inputs and outputs are numbers")),
            }
        }
        let slots = self.slots(ty);
        if slots > MAX_LOCATIONS {
            let (count, limit) = (slots.into(), MAX_LOCATIONS.into());
            return Err(SpirvError::TooLarge { what: "locations", count, limit });
        }
        Ok(slots)
    }

    /// Whether a type has components that are not interpolated.
    pub(super) fn must_be_flat(&self, ty: TypeId) -> bool {
        let mut seen = FxHashSet::default();
        let mut pending = vec![ty];
        while let Some(ty) = pending.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match self.module.types.get(ty) {
                TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. }
                    if !scalar.is_float() || scalar.bit_size() == 64 =>
                {
                    return true;
                }
                TypeData::Array { element, .. } => pending.push(*element),
                TypeData::Struct { members, .. } => pending.extend(members.iter().map(|member| member.ty)),
                _ => {}
            }
        }
        false
    }

    /// The first component of a part in its slot.
    pub(super) fn component(&self, decorations: &PartDecorations<'_>, ty: TypeId) -> Result<u8, SpirvError> {
        let Some(component) = decorations.value(Decoration::Component).filter(|&component| component != 0) else {
            return Ok(0);
        };
        let words = match *self.module.types.get(self.module.types.without_arrays(ty)) {
            TypeData::Vector { scalar, count } => u32::from(count) * if scalar.bit_size() == 64 { 2 } else { 1 },
            _ => 4,
        };
        if component.saturating_add(words) > 4 {
            return Err(SpirvError::Value { what: "Component", value: component.into() });
        }
        Ok(component as u8)
    }

    /// The streams of the components of an output.
    pub(super) fn streams(&self, decorations: &PartDecorations<'_>) -> Result<u8, SpirvError> {
        match decorations.value(Decoration::Stream) {
            None => Ok(0),
            Some(stream @ 0..=3) => Ok(stream as u8 * 0x55),
            Some(stream) => Err(SpirvError::Value { what: "Stream", value: stream.into() }),
        }
    }

    /// The slot of a location, or an extended location if its slots are not all in the table. `name` is that of the
    /// variable.
    ///
    /// # Errors
    /// The location is too large.
    pub(super) fn slot_of(
        &self,
        (is_output, is_patch): (bool, bool),
        name: &str,
        location: u32,
        slots: u32,
    ) -> Result<i32, SpirvError> {
        if location.saturating_add(slots) > MAX_LOCATIONS {
            return Err(SpirvError::Value { what: "Location", value: location.into() });
        }
        let (semantic, first, count) = match (self.stage, is_output) {
            (ShaderStage::Vertex, false) => (Semantic::Generic, VertAttrib::GENERIC0, 16),
            (ShaderStage::Fragment, true) => (Semantic::Color, FragResult::DATA0, 8),
            _ if self.environment == Environment::Tgsic => return Ok(own_slot(is_patch, name, location)),
            _ if is_patch => (Semantic::Patch, VaryingSlot::PATCH0, 32),
            _ => (Semantic::Generic, VaryingSlot::VAR0, 32),
        };
        if location + slots.max(1) <= count {
            return Ok(i32::from(first) + location as i32);
        }
        Ok(EXTENDED * (1 + i32::from(semantic.value())) + location as i32)
    }
}

/// The slot of a location in modules of the SPIR-V driver. Of slots that share a location, those of texture coordinates
/// and colours are more common than generic ones from the nineteenth on, which the names of variables state.
fn own_slot(is_patch: bool, name: &str, location: u32) -> i32 {
    let number = location as i32;
    let semantic = ["in_", "out_"].into_iter().find_map(|direction| name.strip_prefix(direction)).unwrap_or_default();
    match semantic.rsplit_once('_') {
        Some(("GENERIC", index)) if !is_patch && location < 32 && index.parse() == Ok(location) => {
            return i32::from(VaryingSlot::VAR0) + number;
        }
        Some(("CLIPVERTEX", "0")) if !is_patch && location == 30 => return i32::from(VaryingSlot::CLIP_VERTEX),
        _ => {}
    }
    if location >= 128 {
        let (semantic, index) = ((number - 128) / 32, (number - 128) % 32);
        return EXTENDED * semantic.max(1) + index;
    }
    if is_patch {
        return i32::from(VaryingSlot::PATCH0) + (number + 8) % 32;
    }
    match location {
        19..=26 => i32::from(VaryingSlot::TEX0) + number - 19,
        27 | 28 => i32::from(VaryingSlot::COL0) + number - 27,
        29 | 30 => i32::from(VaryingSlot::BFC0) + number - 29,
        31 => i32::from(VaryingSlot::FOGC),
        32..=63 => EXTENDED * (1 + i32::from(Semantic::Generic.value())) + number,
        64..=127 => number,
        _ => i32::from(VaryingSlot::VAR0) + number,
    }
}

/// Whether a built-in belongs to patches.
fn is_of_patch(built_in: BuiltIn) -> bool {
    matches!(built_in, BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner)
}

/// Whether a built-in of a stage with vertices exists for each of them.
fn is_of_vertex(built_in: BuiltIn) -> bool {
    matches!(
        built_in,
        BuiltIn::Position
            | BuiltIn::PointSize
            | BuiltIn::ClipDistance
            | BuiltIn::CullDistance
            | BuiltIn::Layer
            | BuiltIn::ViewportIndex
    )
}
