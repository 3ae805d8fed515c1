//! The intrinsics that load system values.

use tgsi_environment::SystemValue;

use crate::intrinsics::IntrinsicOp;

macro_rules! loaders {
    (first $first:ident $($rest:ident)*) => { IntrinsicOp::$first };
    ($($value:ident [$($loader:ident)+];)+) => {
        impl IntrinsicOp {
            /// Returns the system value that the intrinsic loads unchanged.
            pub const fn system_value(self) -> Option<SystemValue> {
                Some(match self {
                    $($(IntrinsicOp::$loader)|+ => SystemValue::$value,)+
                    _ => return None,
                })
            }

            /// Returns the intrinsic that loads a system value.
            #[doc(hidden)]
            pub const fn loading(value: SystemValue) -> Option<IntrinsicOp> {
                Some(match value {
                    $(SystemValue::$value => loaders!(first $($loader)+),)+
                    #[expect(clippy::allow_attributes, reason = "needed once every value has a loader")]
                    #[allow(unreachable_patterns)]
                    _ => return None,
                })
            }
        }
    };
}

loaders! {
    VertexId [LoadVertexId];
    VertexIdZeroBase [LoadVertexIdZeroBase];
    BaseVertex [LoadBaseVertex];
    FirstVertex [LoadFirstVertex];
    InstanceId [LoadInstanceId];
    BaseInstance [LoadBaseInstance];
    DrawId [LoadDrawId];
    InvocationId [LoadInvocationId];
    FragCoord [LoadFragCoord];
    PointCoord [LoadPointCoord];
    FrontFace [LoadFrontFace];
    SampleId [LoadSampleId LoadSampleIdNoPerSample];
    SamplePos [LoadSamplePos LoadSamplePosOrCenter];
    SampleMaskIn [LoadSampleMaskIn];
    HelperInvocation [LoadHelperInvocation];
    TessCoord [LoadTessCoord LoadTessCoordXy];
    VerticesIn [LoadPatchVerticesIn];
    PrimitiveId [LoadPrimitiveId];
    TessLevelOuter [LoadTessLevelOuter];
    TessLevelInner [LoadTessLevelInner];
    TessLevelOuterDefault [LoadTessLevelOuterDefault];
    TessLevelInnerDefault [LoadTessLevelInnerDefault];
    LocalInvocationId [LoadLocalInvocationId];
    LocalInvocationIndex [LoadLocalInvocationIndex];
    GlobalInvocationId [LoadGlobalInvocationId];
    WorkgroupId [LoadWorkgroupId];
    WorkgroupSize [LoadWorkgroupSize];
    NumWorkgroups [LoadNumWorkgroups];
    WorkDim [LoadWorkDim];
    UserDataAmd [LoadUserDataAmd];
    SubgroupSize [LoadSubgroupSize];
    SubgroupInvocation [LoadSubgroupInvocation];
    SubgroupEqMask [LoadSubgroupEqMask];
    SubgroupGeMask [LoadSubgroupGeMask];
    SubgroupGtMask [LoadSubgroupGtMask];
    SubgroupLeMask [LoadSubgroupLeMask];
    SubgroupLtMask [LoadSubgroupLtMask];
}

impl IntrinsicOp {
    /// Returns the intrinsic that loads a system value unchanged.
    pub fn load_of(value: SystemValue) -> Option<IntrinsicOp> {
        // The most general of several loaders precedes the others in the table.
        IntrinsicOp::ALL.iter().copied().find(|&op| op.info().is_sysval && op.system_value() == Some(value))
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
            let Some(op) = IntrinsicOp::load_of(value) else { continue };
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
