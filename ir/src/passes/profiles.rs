//! Profiles: lists of passes for kinds of targets, run on optimised SSA by the `lower` method of a driver.
//!
//! A driver runs the profiles of its target with [`Profile::run`], in the order of [`PROFILES`], and then its own
//! lowering passes. The options also select the lowerings: a pass leaves operations alone that the target supports.

use crate::options::{CompilerOptions, DoubleOps, Fp16Casts, Int64Ops};
use crate::passes::pass_manager::Passes;
use crate::passes::table::Pass;
use crate::passes::table::rows::*;
use crate::shader::Shader;

/// A list of passes for a kind of target.
#[derive(Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Describes the target in one sentence.
    pub about: &'static str,
    /// Its passes in order.
    pub passes: &'static [Pass],
    /// Sets the options that the profile implies.
    pub set: fn(&mut CompilerOptions),
}

impl Profile {
    /// Runs the passes for a target with the options of the profile. Returns whether anything changed.
    pub fn run(&self, shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
        let mut options = options.clone();
        (self.set)(&mut options);
        self.passes.iter().fold(false, |progress, &pass| passes.run(shader, pass, &options) | progress)
    }

    /// Returns the profile of a name.
    pub fn from_name(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}

/// All profiles.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "resources",
        about: "Uniforms and atomic counters are buffers, as in Vulkan.",
        passes: &[lower_system_values, lower_uniforms_to_ubo, lower_atomics_to_ssbo, opt_copy_prop, opt_dce],
        set: |_| {},
    },
    Profile {
        name: "narrow",
        about: "There are no 64-bit numbers, as in portable SPIR-V.",
        passes: &[
            lower_doubles,
            lower_int64,
            lower_pack,
            opt_copy_prop,
            opt_constant_folding,
            opt_algebraic,
            opt_cse,
            opt_dce,
        ],
        set: |options| {
            options.lower_doubles = DoubleOps::ALL;
            options.software_doubles = true;
            options.lower_int64 = Int64Ops::ALL;
        },
    },
    Profile {
        name: "scalar",
        about: "Operations are scalar, as on a CPU with one invocation per vector lane.",
        passes: &[
            opt_licm,
            opt_large_constants,
            opt_load_store_vectorize,
            opt_idiv_const,
            lower_idiv,
            lower_frexp,
            lower_fp16_casts,
            lower_alu,
            lower_alu_to_scalar,
            lower_phis_to_scalar,
            lower_load_const_to_scalar,
            opt_copy_prop,
            opt_constant_folding,
            opt_cse,
            opt_dce,
        ],
        set: |options| {
            options.vector_target = false;
            options.lower_mul_high = true;
            options.lower_bit_count = true;
            options.lower_bitfield_reverse = true;
            options.lower_fp16_casts = Fp16Casts::PLAIN;
        },
    },
];
