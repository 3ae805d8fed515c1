//! System values: what a shader learns from its surroundings without anybody storing it.
//!
//! Each row is a variant, the name that prints use for a `system_value` variable, components, bit size, and the
//! intrinsics that load the value as it is.

use crate::intrinsics::IntrinsicOp;

macro_rules! system_values {
    ($($(#[$meta:meta])* $variant:ident $name:literal $components:literal x $bits:literal [$($loader:ident)+];)+) => {
        /// A system value.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum SystemValue { $($(#[$meta])* #[doc = concat!("`SYSTEM_VALUE_", $name, "`, ", stringify!($components), " x ", stringify!($bits), " bits.")] $variant),+ }

        impl SystemValue {
            /// All values; the index is the number.
            pub const ALL: &'static [SystemValue] = &[$(SystemValue::$variant),+];

            /// Name in prints, without the prefix `SYSTEM_VALUE_`.
            pub const fn name(self) -> &'static str {
                match self { $(SystemValue::$variant => $name),+ }
            }

            /// Number of components.
            pub const fn num_components(self) -> u8 {
                match self { $(SystemValue::$variant => $components),+ }
            }

            /// Bit size of a component; 1 for booleans.
            pub const fn bit_size(self) -> u8 {
                match self { $(SystemValue::$variant => $bits),+ }
            }

            /// The system value that an intrinsic loads as it is.
            pub const fn loaded_by(op: IntrinsicOp) -> Option<SystemValue> {
                Some(match op {
                    $($(IntrinsicOp::$loader)|+ => SystemValue::$variant,)+
                    _ => return None,
                })
            }
        }
    };
}

system_values! {
    VertexId "VERTEX_ID" 1 x 32 [LoadVertexId];
    VertexIdZeroBase "VERTEX_ID_ZERO_BASE" 1 x 32 [LoadVertexIdZeroBase];
    BaseVertex "BASE_VERTEX" 1 x 32 [LoadBaseVertex];
    FirstVertex "FIRST_VERTEX" 1 x 32 [LoadFirstVertex];
    InstanceId "INSTANCE_ID" 1 x 32 [LoadInstanceId];
    BaseInstance "BASE_INSTANCE" 1 x 32 [LoadBaseInstance];
    DrawId "DRAW_ID" 1 x 32 [LoadDrawId];
    InvocationId "INVOCATION_ID" 1 x 32 [LoadInvocationId];
    FragCoord "FRAG_COORD" 4 x 32 [LoadFragCoord];
    PointCoord "POINT_COORD" 2 x 32 [LoadPointCoord];
    FrontFace "FRONT_FACE" 1 x 1 [LoadFrontFace];
    SampleId "SAMPLE_ID" 1 x 32 [LoadSampleId LoadSampleIdNoPerSample];
    SamplePos "SAMPLE_POS" 2 x 32 [LoadSamplePos LoadSamplePosOrCenter];
    SampleMaskIn "SAMPLE_MASK_IN" 1 x 32 [LoadSampleMaskIn];
    HelperInvocation "HELPER_INVOCATION" 1 x 1 [LoadHelperInvocation];
    TessCoord "TESS_COORD" 3 x 32 [LoadTessCoord LoadTessCoordXy];
    VerticesIn "VERTICES_IN" 1 x 32 [LoadPatchVerticesIn];
    PrimitiveId "PRIMITIVE_ID" 1 x 32 [LoadPrimitiveId];
    TessLevelOuter "TESS_LEVEL_OUTER" 4 x 32 [LoadTessLevelOuter];
    TessLevelInner "TESS_LEVEL_INNER" 2 x 32 [LoadTessLevelInner];
    TessLevelOuterDefault "TESS_LEVEL_OUTER_DEFAULT" 4 x 32 [LoadTessLevelOuterDefault];
    TessLevelInnerDefault "TESS_LEVEL_INNER_DEFAULT" 2 x 32 [LoadTessLevelInnerDefault];
    LocalInvocationId "LOCAL_INVOCATION_ID" 3 x 32 [LoadLocalInvocationId];
    LocalInvocationIndex "LOCAL_INVOCATION_INDEX" 1 x 32 [LoadLocalInvocationIndex];
    GlobalInvocationId "GLOBAL_INVOCATION_ID" 3 x 32 [LoadGlobalInvocationId];
    WorkgroupId "WORKGROUP_ID" 3 x 32 [LoadWorkgroupId];
    WorkgroupSize "WORKGROUP_SIZE" 3 x 32 [LoadWorkgroupSize];
    NumWorkgroups "NUM_WORKGROUPS" 3 x 32 [LoadNumWorkgroups];
    WorkDim "WORK_DIM" 1 x 32 [LoadWorkDim];
    UserDataAmd "USER_DATA_AMD" 8 x 32 [LoadUserDataAmd];
    SubgroupSize "SUBGROUP_SIZE" 1 x 32 [LoadSubgroupSize];
    SubgroupInvocation "SUBGROUP_INVOCATION" 1 x 32 [LoadSubgroupInvocation];
    SubgroupEqMask "SUBGROUP_EQ_MASK" 1 x 64 [LoadSubgroupEqMask];
    SubgroupGeMask "SUBGROUP_GE_MASK" 1 x 64 [LoadSubgroupGeMask];
    SubgroupGtMask "SUBGROUP_GT_MASK" 1 x 64 [LoadSubgroupGtMask];
    SubgroupLeMask "SUBGROUP_LE_MASK" 1 x 64 [LoadSubgroupLeMask];
    SubgroupLtMask "SUBGROUP_LT_MASK" 1 x 64 [LoadSubgroupLtMask];
}

impl SystemValue {
    /// The intrinsic that loads it as it is.
    pub fn intrinsic(self) -> Option<IntrinsicOp> {
        // Of those that load the same the most general stands first in the table.
        IntrinsicOp::ALL.iter().copied().find(|&op| op.info().is_sysval && Self::loaded_by(op) == Some(self))
    }

    /// The value with this print name (without prefix).
    pub fn from_name(name: &str) -> Option<SystemValue> {
        Self::ALL.iter().copied().find(|v| v.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intrinsics::{DestBits, DestComponents};

    /// A variable of a value and the intrinsic that loads it must be of the same shape.
    #[test]
    fn values_have_the_shape_of_their_intrinsics() {
        for &value in SystemValue::ALL {
            let Some(op) = value.intrinsic() else { continue };
            let info = op.info();
            if let DestComponents::Fixed(components) = info.dest_components {
                assert_eq!(value.num_components(), components, "{}", value.name());
            }
            if let DestBits::Sizes(sizes) = info.dest_bits {
                assert!(sizes.contains(&value.bit_size()), "{}", value.name());
            }
        }
    }
}
