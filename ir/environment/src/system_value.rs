//! System values: built-in inputs of a shader that no earlier stage writes.
//!
//! Each row is a variant, the name in prints of a `system_value` variable, components and bit size.

macro_rules! system_values {
    ($($(#[$meta:meta])* $variant:ident $name:literal $components:literal x $bits:literal;)+) => {
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
    /// The value with this print name (without prefix).
    pub fn from_name(name: &str) -> Option<SystemValue> {
        Self::ALL.iter().copied().find(|v| v.name() == name)
    }
}
