//! Intrinsics: their table and the kinds of their constant indices.
//!
//! `intrinsics/table.rs` declares the properties of each intrinsic; [`indices`] has the types of the values stored in
//! constant indices.

pub mod indices;
mod system_values;
mod table;

use hashbrown::HashMap;
use std::fmt;
use std::sync::LazyLock;

pub use table::IntrinsicOp;

macro_rules! index_kinds {
    ($($variant:ident $identifier:literal $name:literal $meaning:literal;)*) => {
        /// Kind of a constant index of an intrinsic; the value is an `i32`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum IndexKind {
            $(#[doc = $meaning] $variant,)*
        }

        impl IndexKind {
            /// All kinds.
            pub const ALL: &'static [IndexKind] = &[$(IndexKind::$variant),*];

            /// The name in the text form (`wrmask`, `base`). For `io_semantics`, `io_xfb` and `io_xfb2`, which are
            /// printed in a special form, the word at its start (`io`, `xfb`, `xfb2`).
            pub const fn name(self) -> &'static str {
                match self { $(IndexKind::$variant => $name,)* }
            }

            /// The name of the index in NIR (`write_mask`).
            pub const fn identifier(self) -> &'static str {
                match self { $(IndexKind::$variant => $identifier,)* }
            }

            /// Returns the kind with this [`name`](IndexKind::name).
            pub fn from_name(name: &str) -> Option<IndexKind> {
                match name {
                    $($name => Some(IndexKind::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

index_kinds! {
    Base "base" "base" "Constant part of an offset, or the number of a register element or slot.";
    WriteMask "write_mask" "wrmask" "Components that are written, one bit each.";
    Range "range" "range" "Extent that may be accessed from the base on; 0 = unknown.";
    RangeBase "range_base" "range_base" "Start of the extent that may be accessed.";
    Component "component" "component" "First component within a slot.";
    Access "access" "access" "Memory access flags ([`indices::AccessFlags`]).";
    DstAccess "dst_access" "dst_access" "Access flags of the destination of a copy.";
    SrcAccess "src_access" "src_access" "Access flags of the source of a copy.";
    AlignMul "align_mul" "align_mul" "The address is `align_offset` modulo this power of two.";
    AlignOffset "align_offset" "align_offset" "See `align_mul`.";
    AtomicOp "atomic_op" "atomic_op" "Operation of an atomic ([`indices::AtomicOp`]).";
    ImageDim "image_dim" "image_dim" "Dimensionality of an image ([`SamplerDim`](tgsi_environment::SamplerDim)).";
    ImageArray "image_array" "image_array" "Whether an image is an array (0/1).";
    Format "format" "format" "Format of an image (a number of the format table).";
    SrcType "src_type" "src_type" "Type of the data that is written ([`crate::alu::AluType`]).";
    DestType "dest_type" "dest_type" "Type of the data that is read ([`crate::alu::AluType`]).";
    IoSemantics "io_semantics" "io" "Semantics of a shader input or output ([`indices::IoSemantics`]).";
    IoXfb "io_xfb" "xfb" "Transform feedback of components 0 and 1 ([`indices::IoXfb`]).";
    IoXfb2 "io_xfb2" "xfb2" "Transform feedback of components 2 and 3 ([`indices::IoXfb`]).";
    InterpMode "interp_mode" "interp_mode" "Interpolation mode ([`indices::InterpMode`]).";
    StreamId "stream_id" "stream_id" "Vertex stream of a geometry shader.";
    MemoryModes "memory_modes" "mem_modes" "Set of variable modes, one bit each.";
    MemoryScope "memory_scope" "memory_scope" "Scope of a memory barrier ([`indices::Scope`]).";
    MemorySemantics "memory_semantics" "mem_semantics" "Kind of a memory barrier ([`indices::MemorySemantics`]).";
    ExecutionScope "execution_scope" "execution_scope" "Scope of a control barrier ([`indices::Scope`]).";
    DescType "desc_type" "desc_type" "Kind of a descriptor ([`indices::DescType`]).";
    DescSet "desc_set" "desc_set" "Descriptor set.";
    Binding "binding" "binding" "Binding within a descriptor set.";
    ReductionOp "reduction_op" "reduction_op" "Operation of a reduction, the number of an [`crate::alu::AluOp`].";
    ClusterSize "cluster_size" "cluster_size" "Invocations of a cluster; 0 = the whole subgroup.";
    LegacyFabs "legacy_fabs" "legacy_fabs" "Take the absolute value of the read value (0/1).";
    LegacyFneg "legacy_fneg" "legacy_fneg" "Negate the read value, after taking the absolute value (0/1).";
    LegacyFsat "legacy_fsat" "legacy_fsat" "Clamp the written value to [0, 1] (0/1).";
    NumComponents "num_components" "num_components" "Components of a register.";
    NumArrayElems "num_array_elems" "num_array_elems" "Elements of a register; 0 = not an array.";
    BitSize "bit_size" "bit_size" "Bit size of a register.";
    Divergent "divergent" "divergent" "Whether a register differs between invocations of a subgroup (0/1).";
    ParamIdx "param_idx" "param_idx" "Number of a parameter.";
    CallIdx "call_idx" "call_idx" "Number of a call site.";
    ValueId "value_id" "value_id" "Number of a value kept over a call.";
    UcpId "ucp_id" "ucp_id" "Number of a user clip plane.";
    RoundingMode "rounding_mode" "rounding_mode" "Rounding of a conversion ([`indices::RoundingMode`]).";
    Saturate "saturate" "saturate" "Whether a conversion clamps (0/1).";
}

impl fmt::Display for IndexKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! intrinsic_kinds {
    ($($variant:ident $name:literal $meaning:literal;)*) => {
        /// Family of an intrinsic.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum IntrinsicKind {
            $(#[doc = $meaning] $variant,)*
        }

        impl IntrinsicKind {
            /// All families.
            pub const ALL: &'static [IntrinsicKind] = &[$(IntrinsicKind::$variant),*];

            /// Name of the family.
            pub const fn name(self) -> &'static str {
                match self { $(IntrinsicKind::$variant => $name,)* }
            }
        }
    };
}

intrinsic_kinds! {
    Register "register" "Declaration, load and store of registers.";
    Deref "deref" "Access through typed pointers.";
    Function "function" "Parameters.";
    Memory "memory" "Access to uniforms, buffers, shared, global and scratch memory.";
    Io "io" "Shader inputs and outputs.";
    Interp "interp" "Interpolation of inputs.";
    Derivative "derivative" "Screen-space derivatives.";
    Fragment "fragment" "Discarding and helper invocations.";
    Atomic "atomic" "Atomics on memory.";
    AtomicCounter "atomic-counter" "Atomic counters.";
    Image "image" "Images.";
    Resource "resource" "Descriptors and sparse residency.";
    Barrier "barrier" "Barriers.";
    Subgroup "subgroup" "Communication within a subgroup.";
    Geometry "geometry" "Vertices and primitives of geometry shaders.";
    Sysval "sysval" "System values.";
    Mesh "mesh" "Task and mesh shaders.";
    Misc "misc" "Everything else.";
}

/// Number of components of a source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SrcComponents {
    /// This number of components.
    Fixed(u8),
    /// `num_components` of the instruction (`N`).
    NumComponents,
    /// Not checked.
    Any,
}

/// Number of components of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DestComponents {
    /// No result.
    None,
    /// This number of components.
    Fixed(u8),
    /// `num_components` of the instruction (`N`).
    NumComponents,
}

/// Bit size of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DestBits {
    /// Any size; also used if there is no result.
    Any,
    /// One of these.
    Sizes(&'static [u8]),
    /// The size of that source.
    SameAsSource(u8),
}

/// A row of the table of intrinsics.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IntrinsicInfo {
    /// Name in the text form (without `@`).
    pub name: &'static str,
    /// Family.
    pub kind: IntrinsicKind,
    /// Number of components of each source.
    pub src_components: &'static [SrcComponents],
    /// Role of each source.
    pub src_roles: &'static [&'static str],
    /// Number of components of the result.
    pub dest_components: DestComponents,
    /// Bit size of the result.
    pub dest_bits: DestBits,
    /// Constant indices in the order in which they are stored and printed; at most [`MAX_INDICES`](crate::body::MAX_INDICES).
    pub indices: &'static [IndexKind],
    /// Whether it may be removed if the result is unused.
    pub can_eliminate: bool,
    /// Whether the result depends on the sources only (unless an `access` index restricts reordering).
    pub can_reorder: bool,
    /// Whether it loads a system value.
    pub is_sysval: bool,
}

impl IntrinsicInfo {
    /// Number of sources.
    pub const fn num_srcs(&self) -> usize {
        self.src_components.len()
    }

    /// Whether there is a result.
    pub const fn has_dest(&self) -> bool {
        !matches!(self.dest_components, DestComponents::None)
    }

    /// Whether `num_components` of the instruction is meaningful: the number of components of the result or of a
    /// source.
    pub fn is_vectorized(&self) -> bool {
        self.dest_components == DestComponents::NumComponents
            || self.src_components.contains(&SrcComponents::NumComponents)
    }

    /// Position of a constant index in `indices`.
    #[inline]
    pub fn index_slot(&self, kind: IndexKind) -> Option<usize> {
        self.indices.iter().position(|&index| index == kind)
    }
}

const CAN_ELIMINATE: u8 = 1;
const CAN_REORDER: u8 = 2;
const IS_SYSVAL: u8 = 4;

macro_rules! src_components {
    (N) => {
        SrcComponents::NumComponents
    };
    (any) => {
        SrcComponents::Any
    };
    ($count:literal) => {
        SrcComponents::Fixed($count)
    };
}

macro_rules! dest_components {
    (none) => {
        DestComponents::None
    };
    (N) => {
        DestComponents::NumComponents
    };
    ($count:literal) => {
        DestComponents::Fixed($count)
    };
}

macro_rules! dest_bits {
    () => {
        DestBits::Any
    };
    (any) => {
        DestBits::Any
    };
    (src $source:literal) => {
        DestBits::SameAsSource($source)
    };
    ($($size:literal)+) => {
        DestBits::Sizes(&[$($size),+])
    };
}

macro_rules! intrinsic_table {
    ($(
        $variant:ident $name:literal $kind:ident: ($($components:tt $role:literal),*) -> $dest:tt $([$($bits:tt)*])?,
            [$($index:ident)*], [$($flag:ident)*], $meaning:literal;
    )*) => {
        use super::{
            CAN_ELIMINATE, CAN_REORDER, DestBits, DestComponents, IS_SYSVAL, IndexKind, IntrinsicInfo, IntrinsicKind,
            SrcComponents, dest_bits, dest_components, src_components,
        };

        /// Opcode of an intrinsic instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum IntrinsicOp {
            $(
                #[doc = concat!("`", $name, "`:\n\n```text\n", $meaning, "\n```")]
                $variant,
            )*
        }

        impl IntrinsicOp {
            /// All intrinsics, in the order of the table; `ALL[op as usize] == op`.
            pub const ALL: &'static [IntrinsicOp] = &[$(IntrinsicOp::$variant),*];
        }

        pub(super) static INFO: [IntrinsicInfo; IntrinsicOp::COUNT] = [$(
            IntrinsicInfo {
                name: $name,
                kind: IntrinsicKind::$kind,
                src_components: &[$(src_components!($components)),*],
                src_roles: &[$($role),*],
                dest_components: dest_components!($dest),
                dest_bits: dest_bits!($($($bits)*)?),
                indices: &[$(IndexKind::$index),*],
                can_eliminate: (0 $(| $flag)*) & CAN_ELIMINATE != 0,
                can_reorder: (0 $(| $flag)*) & CAN_REORDER != 0,
                is_sysval: (0 $(| $flag)*) & IS_SYSVAL != 0,
            }
        ),*];

        pub(super) static MEANINGS: [&str; IntrinsicOp::COUNT] = [$($meaning),*];
    };
}

use {dest_bits, dest_components, intrinsic_table, src_components};

static BY_NAME: LazyLock<HashMap<&'static str, IntrinsicOp>> =
    LazyLock::new(|| IntrinsicOp::ALL.iter().map(|&op| (op.name(), op)).collect());

impl IntrinsicOp {
    /// Number of intrinsics.
    pub const COUNT: usize = IntrinsicOp::ALL.len();

    /// Whether its first source is a deref and it loads, stores or interpolates the variable that the deref points to.
    pub fn is_deref_access(self) -> bool {
        matches!(
            self,
            IntrinsicOp::LoadDeref
                | IntrinsicOp::StoreDeref
                | IntrinsicOp::InterpDerefAtCentroid
                | IntrinsicOp::InterpDerefAtSample
                | IntrinsicOp::InterpDerefAtOffset
        )
    }

    /// Whether it reads or modifies an atomic counter in a buffer.
    pub fn is_atomic_counter(self) -> bool {
        use IntrinsicOp::*;
        matches!(
            self,
            AtomicCounterRead
                | AtomicCounterInc
                | AtomicCounterPreDec
                | AtomicCounterPostDec
                | AtomicCounterAdd
                | AtomicCounterMin
                | AtomicCounterMax
                | AtomicCounterAnd
                | AtomicCounterOr
                | AtomicCounterXor
                | AtomicCounterExchange
                | AtomicCounterCompSwap
        )
    }

    /// Whether its first source is an image, as a deref or as a bindless handle, which it loads from, stores to,
    /// modifies or queries for its size or samples.
    pub fn is_image_access(self) -> bool {
        use IntrinsicOp::*;
        self.is_bindless_image_access()
            || self.is_image_atomic()
            || matches!(self, ImageDerefLoad | ImageDerefStore | ImageDerefSize | ImageDerefSamples)
    }

    /// Whether it is an [image access](Self::is_image_access) through a bindless handle.
    pub fn is_bindless_image_access(self) -> bool {
        use IntrinsicOp::*;
        matches!(
            self,
            BindlessImageLoad
                | BindlessImageStore
                | BindlessImageAtomic
                | BindlessImageAtomicSwap
                | BindlessImageSize
                | BindlessImageSamples
        )
    }

    /// Whether it is an [image access](Self::is_image_access) that modifies a texel atomically.
    pub fn is_image_atomic(self) -> bool {
        use IntrinsicOp::*;
        matches!(self, ImageDerefAtomic | ImageDerefAtomicSwap | BindlessImageAtomic | BindlessImageAtomicSwap)
    }

    /// The row of the table.
    #[inline]
    pub fn info(self) -> &'static IntrinsicInfo {
        &table::INFO[self as usize]
    }

    /// Meaning, in a sentence. It is not part of [`IntrinsicInfo`] because only manuals need it.
    pub fn meaning(self) -> &'static str {
        table::MEANINGS[self as usize]
    }

    /// Name in the text form (without `@`).
    #[inline]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the intrinsic with this name (without `@`).
    pub fn from_name(name: &str) -> Option<IntrinsicOp> {
        BY_NAME.get(name).copied()
    }
}

impl fmt::Display for IntrinsicOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests;
