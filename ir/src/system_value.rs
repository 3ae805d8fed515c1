//! System values: what a shader learns from its surroundings without anybody storing it.
//!
//! One row a value: variant, the name that prints use for a `system_value` variable, components, bit size.

use crate::intrinsics::IntrinsicOp;

macro_rules! system_values {
    ($($(#[$meta:meta])* $variant:ident $name:literal $components:literal x $bits:literal;)+) => {
        /// A system value.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum SystemValue { $($(#[$meta])* #[doc = concat!("`SYSTEM_VALUE_", $name, "`, ", stringify!($components), " x ", stringify!($bits), " bits.")] $variant),+ }

        impl SystemValue {
            /// All values; the place is the number.
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
        }
    };
}

system_values! {
    VertexId "VERTEX_ID" 1 x 32;
    VertexIdZeroBase "VERTEX_ID_ZERO_BASE" 1 x 32;
    BaseVertex "BASE_VERTEX" 1 x 32;
    FirstVertex "FIRST_VERTEX" 1 x 32;
    InstanceId "INSTANCE_ID" 1 x 32;
    BaseInstance "BASE_INSTANCE" 1 x 32;
    DrawId "DRAW_ID" 1 x 32;
    InvocationId "INVOCATION_ID" 1 x 32;
    FragCoord "FRAG_COORD" 4 x 32;
    PointCoord "POINT_COORD" 2 x 32;
    FrontFace "FRONT_FACE" 1 x 1;
    SampleId "SAMPLE_ID" 1 x 32;
    SamplePos "SAMPLE_POS" 2 x 32;
    SampleMaskIn "SAMPLE_MASK_IN" 1 x 32;
    HelperInvocation "HELPER_INVOCATION" 1 x 1;
    TessCoord "TESS_COORD" 3 x 32;
    VerticesIn "VERTICES_IN" 1 x 32;
    PrimitiveId "PRIMITIVE_ID" 1 x 32;
    TessLevelOuter "TESS_LEVEL_OUTER" 4 x 32;
    TessLevelInner "TESS_LEVEL_INNER" 2 x 32;
    TessLevelOuterDefault "TESS_LEVEL_OUTER_DEFAULT" 4 x 32;
    TessLevelInnerDefault "TESS_LEVEL_INNER_DEFAULT" 2 x 32;
    LocalInvocationId "LOCAL_INVOCATION_ID" 3 x 32;
    LocalInvocationIndex "LOCAL_INVOCATION_INDEX" 1 x 32;
    GlobalInvocationId "GLOBAL_INVOCATION_ID" 3 x 32;
    WorkgroupId "WORKGROUP_ID" 3 x 32;
    WorkgroupSize "WORKGROUP_SIZE" 3 x 32;
    NumWorkgroups "NUM_WORKGROUPS" 3 x 32;
    WorkDim "WORK_DIM" 1 x 32;
    UserDataAmd "USER_DATA_AMD" 8 x 32;
    SubgroupSize "SUBGROUP_SIZE" 1 x 32;
    SubgroupInvocation "SUBGROUP_INVOCATION" 1 x 32;
    SubgroupEqMask "SUBGROUP_EQ_MASK" 1 x 64;
    SubgroupGeMask "SUBGROUP_GE_MASK" 1 x 64;
    SubgroupGtMask "SUBGROUP_GT_MASK" 1 x 64;
    SubgroupLeMask "SUBGROUP_LE_MASK" 1 x 64;
    SubgroupLtMask "SUBGROUP_LT_MASK" 1 x 64;
}

impl SystemValue {
    /// The system value that an intrinsic loads as it is.
    pub const fn loaded_by(op: IntrinsicOp) -> Option<SystemValue> {
        use IntrinsicOp as I;
        use SystemValue as S;
        Some(match op {
            I::LoadVertexId => S::VertexId,
            I::LoadVertexIdZeroBase => S::VertexIdZeroBase,
            I::LoadBaseVertex => S::BaseVertex,
            I::LoadFirstVertex => S::FirstVertex,
            I::LoadInstanceId => S::InstanceId,
            I::LoadBaseInstance => S::BaseInstance,
            I::LoadDrawId => S::DrawId,
            I::LoadInvocationId => S::InvocationId,
            I::LoadFragCoord => S::FragCoord,
            I::LoadPointCoord => S::PointCoord,
            I::LoadFrontFace => S::FrontFace,
            I::LoadSampleId | I::LoadSampleIdNoPerSample => S::SampleId,
            I::LoadSamplePos | I::LoadSamplePosOrCenter => S::SamplePos,
            I::LoadSampleMaskIn => S::SampleMaskIn,
            I::LoadHelperInvocation => S::HelperInvocation,
            I::LoadTessCoord | I::LoadTessCoordXy => S::TessCoord,
            I::LoadPatchVerticesIn => S::VerticesIn,
            I::LoadPrimitiveId => S::PrimitiveId,
            I::LoadTessLevelOuter => S::TessLevelOuter,
            I::LoadTessLevelInner => S::TessLevelInner,
            I::LoadTessLevelOuterDefault => S::TessLevelOuterDefault,
            I::LoadTessLevelInnerDefault => S::TessLevelInnerDefault,
            I::LoadLocalInvocationId => S::LocalInvocationId,
            I::LoadLocalInvocationIndex => S::LocalInvocationIndex,
            I::LoadGlobalInvocationId => S::GlobalInvocationId,
            I::LoadWorkgroupId => S::WorkgroupId,
            I::LoadWorkgroupSize => S::WorkgroupSize,
            I::LoadNumWorkgroups => S::NumWorkgroups,
            I::LoadWorkDim => S::WorkDim,
            I::LoadUserDataAmd => S::UserDataAmd,
            I::LoadSubgroupSize => S::SubgroupSize,
            I::LoadSubgroupInvocation => S::SubgroupInvocation,
            I::LoadSubgroupEqMask => S::SubgroupEqMask,
            I::LoadSubgroupGeMask => S::SubgroupGeMask,
            I::LoadSubgroupGtMask => S::SubgroupGtMask,
            I::LoadSubgroupLeMask => S::SubgroupLeMask,
            I::LoadSubgroupLtMask => S::SubgroupLtMask,
            _ => return None,
        })
    }

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
