//! Syntax that not all versions have.

use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident ($desktop:expr, $es:expr $(, $extension:ident)*) $message:literal;)+) => {
        /// Syntax that not all versions have.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum Feature {
            $($(#[$doc])* $variant,)+
        }

        impl Feature {
            /// The versions and extensions that have it.
            pub(crate) const fn since(self) -> Since {
                match self {
                    $(Feature::$variant => Since::new($desktop, $es).or(&[$(E::$extension),*]),)+
                }
            }

            /// The message about a version that lacks it.
            pub(crate) const fn message(self) -> &'static str {
                match self {
                    $(Feature::$variant => $message,)+
                }
            }
        }
    };
}

features! {
    /// `%` and `%=`.
    Remainder (130, 300, EXTGpuShader4) "there is no operator `%`";
    /// `&`, `|`, `^`, `~` and their assignments.
    Bits (130, 300, EXTGpuShader4) "there are no operators on bits";
    /// `<<`, `>>` and their assignments.
    Shifts (130, 300, EXTGpuShader4) "there are no shifts";
    /// `float[2](...)`.
    ArrayConstructors (120, 300) "there are no array constructors";
    /// `float[2] name`.
    ArrayTypes (120, 300) "there are no array types";
    /// Several dimensions.
    ArraysOfArrays (430, 310, ARBArraysOfArrays) "there are no arrays of arrays";
    /// `array.length()`.
    Methods (120, 300) "there are no methods";
    /// `{ ... }` as an initialiser.
    InitializerLists (420, NEVER, ARBShadingLanguage420pack) "there are no initialiser lists";
    /// `in` and `out` of the shader.
    ShaderInOut (130, 300, EXTGpuShader4, ARBExplicitAttribLocation, ARBSeparateShaderObjects,
        ARBFragmentCoordConventions)
        "`in` and `out` are qualifiers of parameters only";
    /// Calls of elements of arrays.
    Subroutines (400, NEVER, ARBShaderSubroutine) "there are no subroutines";
    /// Blocks of uniforms.
    UniformBlocks (140, 300, ARBUniformBufferObject) "there are no uniform blocks";
    /// Blocks of inputs and outputs.
    InOutBlocks (150, 320, OESShaderIoBlocks, EXTShaderIoBlocks, OESGeometryShader, EXTGeometryShader,
        OESTessellationShader, EXTTessellationShader) "there are no blocks of inputs or outputs";
    /// A name after the members of a block.
    BlockInstances (150, 300) "blocks have no instance names";
}
