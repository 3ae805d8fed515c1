//! The place of an input or output slot in SPIR-V: a location, or a built-in of another shape.
//!
//! A slot has four components, like TGSI's registers. Locations follow from the slot alone, so that separately
//! translated shaders agree on them:
//!
//! | slot | location |
//! |---|---|
//! | `GENERIC[i]` | i, below 32 |
//! | `TEXCOORD[i]` | 19 + i, below 27 |
//! | `COLOR[i]`, `BCOLOR[i]`, `FOG`, `CLIPVERTEX` | 27 + i, 29 + i, 31, 30 |
//! | `PATCH[i]` | 24 + i, below 32, then i - 8 |
//! | any other semantic, or a greater index | 128 + 32 times the semantic + index |
//! | inputs of vertex shaders, outputs of fragment shaders | their number |
//!
//! Devices have at most 32 locations between stages (`maxVertexOutputComponents` / 4 and similar; Vulkan guarantees
//! 16), and may fail silently if a shader uses one beyond. Therefore the common slots have the first 32, and slots that
//! are rarely used together share some. A shader that does use them together is an error. The names of variables of the
//! less common ones state the semantic. Shaders that are linked get locations from 0 on without gaps instead.

use spirv::BuiltIn;
use tgsi_ir::slots::{FragResult, VaryingSlot};
use tgsi_ir::{Shader, ShaderStage};

use crate::module::{Class, ValueType};

/// The first location after those of slots with a name.
const EXTENDED: u32 = 128;
/// The first location of texture coordinates; shaders that use them have few generic slots.
pub const TEXCOORD: u32 = 19;
/// The first location of colours.
const COLOR: u32 = TEXCOORD + 8;
/// The location of the first patch slot. Patch and vertex slots share locations, and tessellated vertices have few
/// slots beyond the first.
const PATCH: u32 = 24;
/// The number of patch slots.
const PATCHES: u32 = 32;

/// The kinds of variables that hold slots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// One per invocation.
    Single,
    /// One per vertex.
    Vertex,
    /// One per patch.
    Patch,
}

/// A slot of a shader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot {
    /// Whether it is an output.
    pub is_output: bool,
    /// The kind of its variable.
    pub space: Space,
    /// The slot, or an extended location (see [`tgsi_to_ir::slots`]).
    pub location: i32,
}

/// The place of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotLocation {
    /// A vec4 at a location.
    Located {
        /// The location.
        location: u32,
        /// The index of the blending source, for fragment outputs.
        source: u32,
    },
    /// All colour outputs.
    AllColors,
    /// The first components are this vector.
    Vector(BuiltIn, ValueType),
    /// One component is this scalar.
    Scalar(BuiltIn, ValueType, u8),
    /// The components are elements of an array of this length.
    Elements(BuiltIn, ValueType, u32),
    /// The components are clip distances, then cull distances, starting with this one.
    Distances(u32),
    /// The API has no equivalent: reads give zero, and writes are dropped.
    Nothing,
}

/// The built-in of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltInComponent {
    /// The built-in.
    pub built_in: BuiltIn,
    /// The type of the component.
    pub ty: ValueType,
    /// The length of the built-in's array, and the element.
    pub element: Option<(u32, u32)>,
}

/// The numbers of clip and cull distances.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Distances {
    /// Clip distances.
    pub clip: u32,
    /// Cull distances.
    pub cull: u32,
}

impl Distances {
    /// Returns the numbers that a shader declares; without a declaration, all components of its slots are clip
    /// distances.
    pub fn of(shader: &Shader, slots: u32) -> Distances {
        let (clip, cull) = (shader.info.clip_distance_array_size, shader.info.cull_distance_array_size);
        if clip == 0 && cull == 0 {
            return Distances { clip: 4 * slots.min(2), cull: 0 };
        }
        let clip = clip.min(8);
        Distances { clip, cull: cull.min(8 - clip) }
    }
}

impl SlotLocation {
    /// Returns the built-in of a component; `None` if the slot is a vector or at a location.
    pub fn part(self, component: u8, distances: Distances) -> Option<BuiltInComponent> {
        let number = u32::from(component);
        match self {
            SlotLocation::Scalar(built_in, ty, own) if own == component => {
                Some(BuiltInComponent { built_in, ty, element: None })
            }
            SlotLocation::Elements(built_in, ty, length) if number < length => {
                Some(BuiltInComponent { built_in, ty, element: Some((length, number)) })
            }
            SlotLocation::Distances(first) => {
                let (number, Distances { clip, cull }) = (first + number, distances);
                let (built_in, length, element) = if number < clip {
                    (BuiltIn::ClipDistance, clip, number)
                } else {
                    (BuiltIn::CullDistance, cull, number - clip)
                };
                (element < length).then_some(BuiltInComponent {
                    built_in,
                    ty: ValueType::FLOAT,
                    element: Some((length, element)),
                })
            }
            _ => None,
        }
    }

    /// Returns the value of a component that the built-in lacks: TGSI's point coordinate and face have four components.
    pub fn missing(self, component: u8) -> f32 {
        match self {
            SlotLocation::Vector(BuiltIn::PointCoord, _) | SlotLocation::Scalar(BuiltIn::FrontFacing, ..)
                if component == 3 =>
            {
                1.0
            }
            _ => 0.0,
        }
    }
}

impl Slot {
    /// Returns the slot of the back colour for a colour input.
    pub fn back_color(self) -> Option<Slot> {
        let location = match u8::try_from(self.location) {
            Ok(VaryingSlot::COL0) if !self.is_output => VaryingSlot::BFC0,
            Ok(VaryingSlot::COL1) if !self.is_output => VaryingSlot::BFC1,
            _ => return None,
        };
        Some(Slot { location: i32::from(location), ..self })
    }

    /// Returns the place of the slot. `register` is its number, `source` the index of the blending source.
    pub fn place(self, stage: ShaderStage, register: u32, source: u32) -> SlotLocation {
        if stage == ShaderStage::Vertex && !self.is_output {
            return SlotLocation::Located { location: register, source: 0 };
        }
        let Ok(slot) = u8::try_from(self.location) else {
            let (semantic, index) = ((self.location >> 16) as u32, (self.location & 0xffff) as u32);
            if self.location < 0 || (stage == ShaderStage::Fragment && self.is_output) {
                return SlotLocation::Nothing;
            }
            return SlotLocation::Located { location: EXTENDED + 32 * semantic + index, source: 0 };
        };
        if stage == ShaderStage::Fragment && self.is_output {
            return fragment_result(slot, source);
        }
        match built_in(stage, self, slot) {
            Some(place) => place,
            None => varying_location(self.space, slot)
                .map_or(SlotLocation::Nothing, |location| SlotLocation::Located { location, source: 0 }),
        }
    }
}

fn fragment_result(slot: u8, source: u32) -> SlotLocation {
    match slot {
        FragResult::DEPTH => SlotLocation::Scalar(BuiltIn::FragDepth, ValueType::FLOAT, 2),
        FragResult::STENCIL => SlotLocation::Scalar(BuiltIn::FragStencilRefEXT, ValueType::INT, 1),
        FragResult::SAMPLE_MASK => SlotLocation::Elements(BuiltIn::SampleMask, ValueType::INT, 1),
        FragResult::COLOR => SlotLocation::AllColors,
        slot if slot >= FragResult::DATA0 => {
            SlotLocation::Located { location: u32::from(slot - FragResult::DATA0), source }
        }
        _ => SlotLocation::Nothing,
    }
}

/// Returns the location of a slot between stages.
fn varying_location(space: Space, slot: u8) -> Option<u32> {
    let number = u32::from(slot);
    if space == Space::Patch && slot >= VaryingSlot::PATCH0 {
        return Some((PATCH + number - u32::from(VaryingSlot::PATCH0)) % PATCHES);
    }
    match slot {
        VaryingSlot::VAR0..=63 => Some(number - u32::from(VaryingSlot::VAR0)),
        VaryingSlot::TEX0..=11 => Some(TEXCOORD + number - u32::from(VaryingSlot::TEX0)),
        VaryingSlot::COL0 | VaryingSlot::COL1 => Some(COLOR + number - u32::from(VaryingSlot::COL0)),
        VaryingSlot::BFC0 | VaryingSlot::BFC1 => Some(COLOR + 2 + number - u32::from(VaryingSlot::BFC0)),
        VaryingSlot::FOGC => Some(COLOR + 4),
        // All 32 locations are taken; a second back colour is the least used of them.
        VaryingSlot::CLIP_VERTEX => Some(COLOR + 3),
        // 16-bit slots.
        64.. => Some(number),
        _ => None,
    }
}

/// Returns the built-in of a slot between stages, `Nothing` if the API has none; `None` if it is at a location.
fn built_in(stage: ShaderStage, slot: Slot, number: u8) -> Option<SlotLocation> {
    use ShaderStage::{Fragment, Geometry, TessCtrl, TessEval, Vertex};
    let Slot { is_output, space, .. } = slot;
    let is_fragment = stage == Fragment;
    // Outputs for the rasteriser.
    let to_rasterizer = is_output && matches!(stage, Vertex | TessEval | Geometry);
    let scalar = |exists: bool, built_in: BuiltIn, ty: ValueType| match exists {
        true => SlotLocation::Scalar(built_in, ty, 0),
        false => SlotLocation::Nothing,
    };
    let vec4 = ValueType::FLOAT.with_components(4);
    // Not available to patches.
    let exists = space != Space::Patch;
    Some(match number {
        VaryingSlot::POS if is_fragment => SlotLocation::Vector(BuiltIn::FragCoord, vec4),
        VaryingSlot::POS if exists => SlotLocation::Vector(BuiltIn::Position, vec4),
        VaryingSlot::PSIZ => scalar(!is_fragment && exists, BuiltIn::PointSize, ValueType::FLOAT),
        VaryingSlot::CLIP_DIST0 | VaryingSlot::CLIP_DIST1 if exists => {
            SlotLocation::Distances(4 * u32::from(number - VaryingSlot::CLIP_DIST0))
        }
        VaryingSlot::PRIMITIVE_ID => {
            let reads = !is_output && stage != Vertex;
            scalar(reads || (is_output && stage == Geometry), BuiltIn::PrimitiveId, ValueType::INT)
        }
        VaryingSlot::LAYER => scalar(to_rasterizer || is_fragment, BuiltIn::Layer, ValueType::INT),
        VaryingSlot::VIEWPORT => scalar(to_rasterizer || is_fragment, BuiltIn::ViewportIndex, ValueType::INT),
        VaryingSlot::VIEWPORT_MASK if to_rasterizer => {
            SlotLocation::Elements(BuiltIn::ViewportMaskNV, ValueType::INT, 1)
        }
        VaryingSlot::FACE => scalar(is_fragment, BuiltIn::FrontFacing, ValueType::BOOL),
        VaryingSlot::PNTC if is_fragment => {
            SlotLocation::Vector(BuiltIn::PointCoord, ValueType::FLOAT.with_components(2))
        }
        VaryingSlot::TESS_LEVEL_OUTER | VaryingSlot::TESS_LEVEL_INNER => {
            let exists = (stage == TessCtrl && is_output) || (stage == TessEval && !is_output);
            let (built_in, length) = match number {
                VaryingSlot::TESS_LEVEL_OUTER => (BuiltIn::TessLevelOuter, 4),
                _ => (BuiltIn::TessLevelInner, 2),
            };
            if exists { SlotLocation::Elements(built_in, ValueType::FLOAT, length) } else { SlotLocation::Nothing }
        }
        VaryingSlot::POS
        | VaryingSlot::CLIP_DIST0
        | VaryingSlot::CLIP_DIST1
        | VaryingSlot::EDGE
        | VaryingSlot::VIEWPORT_MASK
        | VaryingSlot::PNTC
        | VaryingSlot::CULL_DIST0
        | VaryingSlot::CULL_DIST1
        | VaryingSlot::BOUNDING_BOX0
        | VaryingSlot::BOUNDING_BOX1
        | VaryingSlot::VIEW_INDEX => SlotLocation::Nothing,
        _ => return None,
    })
}

/// The default class of a slot: varyings are floats, so that both sides agree.
pub const VARYING_CLASS: Class = Class::Float;
