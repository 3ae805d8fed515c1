//! Variables: named storage that derefs point to.

use crate::entities::{Type, Variable};
use crate::intrinsics::indices::{AccessFlags, InterpMode};
use tgsi_environment::PixelFormat;

/// A set of variable modes, one bit for each mode, in print order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct VariableModes(pub u32);

macro_rules! modes {
    ($($constant:ident = $bit:literal $name:literal $declaration:literal;)+) => {
        impl VariableModes {
            $(#[doc = concat!("`", $name, "`.")] pub const $constant: VariableModes = VariableModes(1 << $bit);)+
            /// Every mode with its name in derefs and its name in declarations (empty for temporaries), in print order.
            pub const ALL: &'static [(VariableModes, &'static str, &'static str)] =
                &[$((VariableModes::$constant, $name, $declaration)),+];
        }
    };
}

modes! {
    SYSTEM_VALUE = 0 "system" "system";
    UNIFORM = 1 "uniform" "uniform";
    SHADER_IN = 2 "shader_in" "shader_in";
    SHADER_OUT = 3 "shader_out" "shader_out";
    IMAGE = 4 "image" "image";
    SHADER_CALL_DATA = 5 "shader_call_data" "shader_call_data";
    RAY_HIT_ATTRIB = 6 "ray_hit_attrib" "ray_hit_attrib";
    MEM_UBO = 7 "ubo" "ubo";
    MEM_PUSH_CONST = 8 "push_const" "push_const";
    MEM_SSBO = 9 "ssbo" "ssbo";
    MEM_CONSTANT = 10 "constant" "constant";
    MEM_TASK_PAYLOAD = 11 "task_payload" "task_payload";
    MEM_NODE_PAYLOAD = 12 "node_payload" "node_payload";
    MEM_NODE_PAYLOAD_IN = 13 "node_payload_in" "node_payload_in";
    FUNCTION_IN = 14 "function_in" "function_in";
    FUNCTION_OUT = 15 "function_out" "function_out";
    FUNCTION_INOUT = 16 "function_inout" "function_inout";
    SHADER_TEMP = 17 "shader_temp" "";
    FUNCTION_TEMP = 18 "function_temp" "";
    MEM_SHARED = 19 "shared" "shared";
    MEM_GLOBAL = 20 "global" "global";
}

impl VariableModes {
    /// No mode.
    pub const NONE: VariableModes = VariableModes(0);
    /// Modes that shaders cannot write.
    pub const READ_ONLY: VariableModes = VariableModes(
        Self::SHADER_IN.0 | Self::UNIFORM.0 | Self::SYSTEM_VALUE.0 | Self::MEM_CONSTANT.0 | Self::MEM_UBO.0,
    );
    /// Modes in which an array deref may index a vector.
    pub const VECTOR_INDEXABLE: VariableModes = VariableModes(
        Self::SHADER_TEMP.0
            | Self::FUNCTION_TEMP.0
            | Self::MEM_UBO.0
            | Self::MEM_SSBO.0
            | Self::MEM_SHARED.0
            | Self::MEM_GLOBAL.0
            | Self::MEM_PUSH_CONST.0
            | Self::MEM_TASK_PAYLOAD.0
            | Self::SHADER_OUT.0
            | Self::SYSTEM_VALUE.0,
    );

    /// Modes of a generic pointer.
    pub const GENERIC: VariableModes =
        VariableModes(Self::SHADER_TEMP.0 | Self::FUNCTION_TEMP.0 | Self::MEM_SHARED.0 | Self::MEM_GLOBAL.0);

    /// Whether the sets have a mode in common.
    pub const fn intersects(self, other: VariableModes) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set contains all modes of `other`.
    pub const fn contains(self, other: VariableModes) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets.
    pub const fn union(self, other: VariableModes) -> VariableModes {
        VariableModes(self.0 | other.0)
    }

    /// Whether exactly one mode is in the set.
    pub const fn is_single(self) -> bool {
        self.0.count_ones() == 1
    }

    /// Names of the modes, in print order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().filter(move |(m, _, _)| self.intersects(*m)).map(|&(_, name, _)| name)
    }
}

/// A constant initialiser.
#[derive(Clone, PartialEq, Debug)]
pub enum Initializer {
    /// All zeros (`null`).
    Null,
    /// Values of a scalar or vector, as bits.
    Vector(Vec<u64>),
    /// Initialisers of the columns, elements or fields.
    Elements(Vec<Initializer>),
    /// Address of another variable.
    Pointer(Variable),
}

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct VariableData {
    /// Name, empty if unnamed.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Exactly one mode; [`VariableModes::NONE`] after the variable was removed.
    pub mode: VariableModes,
    /// Access flags.
    pub access: AccessFlags,
    /// Interpolation of a fragment input.
    pub interpolation: InterpMode,
    /// Interpolated at the centroid.
    pub centroid: bool,
    /// Interpolated per sample.
    pub sample: bool,
    /// Per patch.
    pub patch: bool,
    /// Must be computed invariantly.
    pub invariant: bool,
    /// Different per view.
    pub per_view: bool,
    /// Different per primitive.
    pub per_primitive: bool,
    /// Ray query.
    pub ray_query: bool,
    /// Named by a handle.
    pub bindless: bool,
    /// An array of scalars packed into vec4 slots.
    pub compact: bool,
    /// Output that the shader also reads from the framebuffer.
    pub fb_fetch_output: bool,
    /// Arrayed per vertex (geometry and tessellation inputs, tessellation control outputs).
    pub per_vertex: bool,
    /// Slot ([`crate::slots`]), or uniform location; -1 = none.
    pub location: i32,
    /// First component within the slot.
    pub location_frac: u8,
    /// Number used by drivers: the register index in TGSI.
    pub driver_location: u32,
    /// Resource binding.
    pub binding: u32,
    /// Descriptor set.
    pub descriptor_set: u32,
    /// Dual-source index of a fragment output.
    pub index: u32,
    /// Vertex streams of the components of a geometry output, two bits per component.
    pub streams: u8,
    /// Format of an image.
    pub image_format: PixelFormat,
    /// Initialiser.
    pub initializer: Option<Initializer>,
}

impl VariableData {
    /// A variable of this mode with default values in all other fields.
    pub fn new(name: impl Into<String>, ty: Type, mode: VariableModes) -> VariableData {
        VariableData {
            name: name.into(),
            ty,
            mode,
            access: AccessFlags::NONE,
            interpolation: InterpMode::None,
            centroid: false,
            sample: false,
            patch: false,
            invariant: false,
            per_view: false,
            per_primitive: false,
            ray_query: false,
            bindless: false,
            compact: false,
            fb_fetch_output: false,
            per_vertex: false,
            location: 0,
            location_frac: 0,
            driver_location: 0,
            binding: 0,
            descriptor_set: 0,
            index: 0,
            streams: 0,
            image_format: PixelFormat::NONE,
            initializer: None,
        }
    }
}
