//! Values of constant indices of intrinsics.
//!
//! Every constant index of an intrinsic is stored as an `i32`. The types in this module define the meaning of these
//! numbers and their names in the text form.

use std::fmt;

use crate::alu::AluType;
use tgsi_environment::named_enum;

/// Declares a [`named_enum`] with values that are stored in indices.
macro_rules! index_enum {
    ($(#[$attribute:meta])* $enum:ident { $($variant:ident = $number:literal $name:literal $meaning:literal,)* }) => {
        named_enum! { $(#[$attribute])* $enum { $($variant = $number $name $meaning,)* } }

        impl $enum {
            /// The number stored in the index.
            pub const fn to_i32(self) -> i32 {
                self as i32
            }

            /// The value with this number.
            pub const fn from_i32(number: i32) -> Option<$enum> {
                match number {
                    $($number => Some($enum::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

index_enum! {
    /// Operation of an atomic read-modify-write (`atomic_op`).
    AtomicOp {
        Iadd = 0 "iadd" "Integer addition.",
        Imin = 1 "imin" "Signed minimum.",
        Umin = 2 "umin" "Unsigned minimum.",
        Imax = 3 "imax" "Signed maximum.",
        Umax = 4 "umax" "Unsigned maximum.",
        Iand = 5 "iand" "Bitwise and.",
        Ior = 6 "ior" "Bitwise or.",
        Ixor = 7 "ixor" "Bitwise exclusive or.",
        Xchg = 8 "xchg" "Exchange.",
        Fadd = 9 "fadd" "Float addition.",
        Fmin = 10 "fmin" "Float minimum.",
        Fmax = 11 "fmax" "Float maximum.",
        Cmpxchg = 12 "cmpxchg" "Store the new value if the old one equals the comparand.",
        Fcmpxchg = 13 "fcmpxchg" "As `cmpxchg`, compared as floats.",
        IncWrap = 14 "inc_wrap" "`old >= data ? 0 : old + 1`.",
        DecWrap = 15 "dec_wrap" "`old == 0 || old > data ? data : old - 1`.",
    }
}

impl AtomicOp {
    /// Type of the data: unsized `int`, `uint` or `float`.
    pub const fn data_type(self) -> AluType {
        match self {
            AtomicOp::Imin | AtomicOp::Imax => AluType::INT,
            AtomicOp::Fadd | AtomicOp::Fmin | AtomicOp::Fmax | AtomicOp::Fcmpxchg => AluType::FLOAT,
            AtomicOp::Iadd | AtomicOp::Umin | AtomicOp::Umax | AtomicOp::Iand | AtomicOp::Ior | AtomicOp::Ixor => {
                AluType::UINT
            }
            AtomicOp::Xchg | AtomicOp::Cmpxchg | AtomicOp::IncWrap | AtomicOp::DecWrap => AluType::UINT,
        }
    }

    /// Whether the operation belongs to the `_swap` intrinsics, which take a comparand.
    pub const fn is_swap(self) -> bool {
        matches!(self, AtomicOp::Cmpxchg | AtomicOp::Fcmpxchg)
    }
}

index_enum! {
    /// Scope of a barrier (`execution_scope`, `memory_scope`).
    Scope {
        None = 0 "NONE" "No barrier of this kind.",
        Invocation = 1 "INVOCATION" "The invocation itself.",
        Subgroup = 2 "SUBGROUP" "The subgroup.",
        ShaderCall = 3 "SHADER_CALL" "The shader call.",
        Workgroup = 4 "WORKGROUP" "The workgroup.",
        QueueFamily = 5 "QUEUE_FAMILY" "The queue family.",
        Device = 6 "DEVICE" "The device.",
    }
}

index_enum! {
    /// Interpolation of a fragment input.
    InterpMode {
        None = 0 "NONE" "Unspecified: smooth, or according to API state for colours.",
        Smooth = 1 "SMOOTH" "Perspective.",
        Flat = 2 "FLAT" "Value of the provoking vertex.",
        NoPerspective = 3 "NOPERSPECTIVE" "Linear in window space.",
        Explicit = 4 "EXPLICIT" "Weights given by the shader.",
    }
}

impl InterpMode {
    /// Prefix of the name of an `interp_mode` index in the text form (`interp_mode=INTERP_MODE_SMOOTH`).
    pub const PRINT_PREFIX: &'static str = "INTERP_MODE_";
}

index_enum! {
    /// Rounding of `convert_alu_types` (`rounding_mode`).
    RoundingMode {
        Undef = 0 "undef" "Unspecified.",
        Rtne = 1 "rtne" "To nearest, ties to even.",
        Ru = 2 "ru" "Up.",
        Rd = 3 "rd" "Down.",
        Rtz = 4 "rtz" "Toward zero.",
    }
}

index_enum! {
    /// Kind of a descriptor (`desc_type`); the numbers are specific to this project.
    DescType {
        Ubo = 0 "UBO" "Uniform buffer.",
        Ssbo = 1 "SSBO" "Storage buffer.",
        Texture = 2 "texture" "Sampled image.",
        Sampler = 3 "sampler" "Sampler.",
        TextureSampler = 4 "texture+sampler" "Combined image and sampler.",
        Image = 5 "image" "Storage image.",
        TextureBuffer = 6 "texture-buffer" "Uniform texel buffer.",
        ImageBuffer = 7 "image-buffer" "Storage texel buffer.",
        InputAttachment = 8 "input-att" "Input attachment.",
        InlineUbo = 9 "inline-UBO" "Inline uniform block.",
        AccelStruct = 10 "accel-struct" "Acceleration structure.",
        Unknown = 11 "unknown" "Anything else.",
    }
}

/// Memory access flags (`access`, `dst_access`, `src_access`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AccessFlags(pub u32);

macro_rules! access_flags {
    ($($constant:ident = $bit:literal $name:literal $meaning:literal;)*) => {
        impl AccessFlags {
            $(
                #[doc = $meaning]
                pub const $constant: AccessFlags = AccessFlags(1 << $bit);
            )*

            /// All flags with their names, in print order.
            pub const FLAGS: &'static [(AccessFlags, &'static str)] = &[$((AccessFlags::$constant, $name)),*];
        }
    };
}

// The rows are in print order, which differs from the order of the bits.
access_flags! {
    COHERENT = 0 "coherent" "Visible to other invocations.";
    RESTRICT = 1 "restrict" "No other pointer to the same memory is used.";
    VOLATILE = 2 "volatile" "May change at any time; forbids reordering.";
    NON_WRITEABLE = 4 "readonly" "Is not written.";
    NON_READABLE = 3 "writeonly" "Is not read.";
    NON_UNIFORM = 5 "non-uniform" "The resource may differ between invocations.";
    CAN_REORDER = 6 "reorderable" "The access may be moved.";
    NON_TEMPORAL = 7 "non-temporal" "The data will not be used again soon.";
    INCLUDE_HELPERS = 8 "include-helpers" "Helper invocations take part.";
    IS_SWIZZLED_AMD = 9 "is-swizzled-amd" "Vendor flag.";
    USES_FORMAT_AMD = 10 "uses-format-amd" "Vendor flag.";
    FMASK_LOWERED_AMD = 11 "fmask-lowered-amd" "Vendor flag.";
    CAN_SPECULATE = 12 "speculatable" "The access may be executed even where the program would not.";
    CP_GE_COHERENT_AMD = 13 "cp-ge-coherent-amd" "Vendor flag.";
    IN_BOUNDS_AGX = 14 "in-bounds-agx" "Vendor flag.";
    KEEP_SCALAR = 15 "keep-scalar" "Not to be vectorised.";
    SMEM_AMD = 16 "smem-amd" "Vendor flag.";
}

impl AccessFlags {
    /// No flags.
    pub const NONE: AccessFlags = AccessFlags(0);

    /// Whether all of `flags` are set.
    pub const fn contains(self, flags: AccessFlags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The union of both sets.
    pub const fn union(self, flags: AccessFlags) -> AccessFlags {
        AccessFlags(self.0 | flags.0)
    }

    /// Returns the flag with this name.
    pub fn from_name(name: &str) -> Option<AccessFlags> {
        AccessFlags::FLAGS.iter().find(|(_, word)| *word == name).map(|&(flag, _)| flag)
    }

    /// Parses the output of [`Display`](fmt::Display): names joined by `|`, or `none`.
    pub fn parse(text: &str) -> Option<AccessFlags> {
        if text == "none" {
            return Some(AccessFlags::NONE);
        }
        text.split('|').try_fold(AccessFlags::NONE, |access, word| Some(access.union(AccessFlags::from_name(word)?)))
    }

    /// The number stored in the index.
    pub const fn to_i32(self) -> i32 {
        self.0 as i32
    }

    /// The flags with this number.
    pub const fn from_i32(number: i32) -> AccessFlags {
        AccessFlags(number as u32)
    }
}

impl fmt::Display for AccessFlags {
    /// Writes the names joined by `|`, or `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for &(flag, name) in AccessFlags::FLAGS {
            if self.contains(flag) {
                write!(f, "{separator}{name}")?;
                separator = "|";
            }
        }
        if separator.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

/// Kind of a memory barrier (`memory_semantics`), a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemorySemantics(pub u32);

impl MemorySemantics {
    /// No constraint.
    pub const NONE: MemorySemantics = MemorySemantics(0);
    /// Later accesses stay after the barrier.
    pub const ACQUIRE: MemorySemantics = MemorySemantics(1);
    /// Earlier accesses stay before the barrier.
    pub const RELEASE: MemorySemantics = MemorySemantics(2);
    /// Acquire and release.
    pub const ACQ_REL: MemorySemantics = MemorySemantics(3);
    /// Writes are made available to the scope.
    pub const MAKE_AVAILABLE: MemorySemantics = MemorySemantics(4);
    /// Writes that are available are made visible.
    pub const MAKE_VISIBLE: MemorySemantics = MemorySemantics(8);

    /// Whether all of `bits` are set.
    pub const fn contains(self, bits: MemorySemantics) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<MemorySemantics> {
        text.split('|').try_fold(MemorySemantics::NONE, |bits, word| {
            let bit = match word {
                "NONE" => MemorySemantics::NONE,
                "ACQ" => MemorySemantics::ACQUIRE,
                "REL" => MemorySemantics::RELEASE,
                "AVAILABLE" => MemorySemantics::MAKE_AVAILABLE,
                "VISIBLE" => MemorySemantics::MAKE_VISIBLE,
                _ => return None,
            };
            Some(MemorySemantics(bits.0 | bit.0))
        })
    }

    /// The number stored in the index.
    pub const fn to_i32(self) -> i32 {
        self.0 as i32
    }

    /// The bits with this number.
    pub const fn from_i32(number: i32) -> MemorySemantics {
        MemorySemantics(number as u32)
    }
}

impl fmt::Display for MemorySemantics {
    /// Writes `NONE`, `ACQ`, `REL` or `ACQ|REL`, followed by `|AVAILABLE` and `|VISIBLE`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 & 3 {
            0 => "NONE",
            1 => "ACQ",
            2 => "REL",
            _ => "ACQ|REL",
        })?;
        if self.contains(MemorySemantics::MAKE_AVAILABLE) {
            f.write_str("|AVAILABLE")?;
        }
        if self.contains(MemorySemantics::MAKE_VISIBLE) {
            f.write_str("|VISIBLE")?;
        }
        Ok(())
    }
}

macro_rules! io_semantics {
    ($(#[$attribute:meta])* $struct:ident { $($field:ident = $bit:literal $name:literal $meaning:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $struct {
            /// Slot, interpreted according to stage and direction. 7 bits.
            pub location: u8,
            /// Number of consecutive slots that an indirect access may reach. 6 bits.
            pub num_slots: u8,
            /// Vertex stream of each component of a geometry shader output, two bits per component, x in the lowest
            /// bits.
            pub gs_streams: u8,
            $(#[doc = $meaning] pub $field: bool,)*
        }

        impl $struct {
            /// The number stored in the index; fields that are too large lose their upper bits.
            pub const fn to_i32(self) -> i32 {
                let numbers = self.location as u32 & 0x7f | (self.num_slots as u32 & 0x3f) << 7;
                (numbers | (self.gs_streams as u32) << 13 $(| (self.$field as u32) << $bit)*) as i32
            }

            /// Inverse of [`IoSemantics::to_i32`].
            pub const fn from_i32(number: i32) -> $struct {
                let bits = number as u32;
                $struct {
                    location: (bits & 0x7f) as u8,
                    num_slots: (bits >> 7 & 0x3f) as u8,
                    gs_streams: (bits >> 13 & 0xff) as u8,
                    $($field: bits >> $bit & 1 != 0,)*
                }
            }

            /// The names of the set flags, in print order.
            pub fn flag_names(self) -> impl Iterator<Item = &'static str> {
                [$((self.$field, $name)),*].into_iter().filter_map(|(set, name)| set.then_some(name))
            }

            /// Sets the flag with this name. Returns whether it exists.
            pub fn set_flag(&mut self, name: &str) -> bool {
                match name {
                    $($name => self.$field = true,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

// The rows are in print order.
io_semantics! {
    /// Semantics of a shader input or output (`io_semantics`).
    ///
    /// Packed into the 32 bits of the index, starting at bit 0: `location` 7 bits, `num_slots` 6, `gs_streams` 8, then
    /// one bit for each flag.
    IoSemantics {
        interp_explicit_strict = 31 "explicit_strict" "Explicit interpolation with the vertex order kept.",
        dual_source_blend_index = 21 "dualsrc" "Second colour of dual source blending.",
        fb_fetch_output = 22 "fbfetch" "The output is read back (framebuffer fetch).",
        fb_fetch_output_coherent = 23 "coherent" "The read back is coherent.",
        per_view = 24 "perview" "Per view.",
        medium_precision = 25 "mediump" "Medium precision suffices.",
        high_16bits = 26 "high_16bits" "The upper half of a slot of two 16-bit values.",
        invariant = 27 "invariant" "Invariant.",
        high_dvec2 = 28 "high_dvec2" "The second slot of a 64-bit vector of 3 or 4 components.",
        no_varying = 29 "no_varying" "Not an input of the next stage; only fixed function reads it.",
        no_sysval_output = 30 "no_sysval_output" "Fixed function does not read it; only the next stage does.",
    }
}

impl IoSemantics {
    /// One slot, no flags.
    pub const fn new(location: u8, num_slots: u8) -> IoSemantics {
        let mut semantics = IoSemantics::from_i32(0);
        semantics.location = location;
        semantics.num_slots = num_slots;
        semantics
    }
}

/// Transform feedback of one component of an output, part of [`IoXfb`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct IoXfbOut {
    /// Number of consecutive components, from this one on, that are captured; 0 = none. 4 bits.
    pub num_components: u8,
    /// Transform feedback buffer. 4 bits.
    pub buffer: u8,
    /// Offset in the buffer in 32-bit words; the text form shows bytes.
    pub offset: u8,
}

/// Transform feedback of two components of an output (`io_xfb` for components 0 and 1, `io_xfb2` for 2 and 3).
///
/// Packed into the index: 16 bits for each component, the first one low; of these `num_components` 4 bits, `buffer` 4,
/// `offset` 8, from the lowest on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct IoXfb {
    /// The two components.
    pub out: [IoXfbOut; 2],
}

impl IoXfb {
    /// The number stored in the index; fields that are too large lose their upper bits.
    pub const fn to_i32(self) -> i32 {
        const fn pack(out: IoXfbOut) -> u32 {
            (out.num_components as u32 & 15) | (out.buffer as u32 & 15) << 4 | (out.offset as u32) << 8
        }
        (pack(self.out[0]) | pack(self.out[1]) << 16) as i32
    }

    /// Inverse of [`IoXfb::to_i32`].
    pub const fn from_i32(number: i32) -> IoXfb {
        const fn unpack(bits: u32) -> IoXfbOut {
            IoXfbOut {
                num_components: (bits & 15) as u8,
                buffer: (bits >> 4 & 15) as u8,
                offset: (bits >> 8 & 0xff) as u8,
            }
        }
        let bits = number as u32;
        IoXfb { out: [unpack(bits), unpack(bits >> 16)] }
    }
}
