//! The table of passes. A row is all there is to say about a pass outside of its file: pipelines, `--skip`, `--after`,
//! `--passes`, `--time-passes`, fixtures and the manual take names and functions from here.
//!
//! A row says which changes give the pass nothing new to do, so that pipelines do not run it again needlessly:
//!
//! - `once` or `loops` or `again`: whether it leaves anything to itself. A pass that is `once` changes nothing if it
//!   runs again at once; one that is `loops` may, in shaders with loops. One that is `first` has nothing to do after
//!   its first run, whatever others change.
//! - The list: passes that leave nothing to this one when they change something. What [`opt_dce`](PassId::opt_dce)
//!   removes, for example, concerns passes that count uses or effects, and no others.
//!
//! - `if`: pipelines run the pass only in such shaders. By its name it runs anywhere.
//!
//! If in doubt, write `again []`: the pass then runs whenever anything has changed. A list that is too long costs
//! optimisation, not correctness.

use crate::body::Body;
use crate::options::CompilerOptions;
use crate::shader::Shader;
use crate::variable::VariableModes;

/// Variables that only the shader itself sees.
const TEMPORARIES: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

/// Runs a pass for a target; whether it changed anything.
pub type PassFn = fn(&mut Shader, &CompilerOptions) -> bool;

/// A row of the table.
#[derive(Debug)]
pub struct PassInfo {
    /// Its number.
    pub id: PassId,
    /// Its name, the same as that of its function and its file.
    pub name: &'static str,
    /// The folder of its file, which is a section of the manual too.
    pub room: &'static str,
    /// Describes it in one sentence.
    pub about: &'static str,
    /// Runs it, with the most usual choice where its function takes more than a target.
    pub run: PassFn,
    repeats: Repeats,
    /// In which shaders pipelines run it at all.
    when: fn(&Shader) -> bool,
    /// Passes that leave nothing to it when they change something.
    ignored: PassSet,
}

/// A pass as lists have it: its row. What is only compiled by lists is linked with the passes in them, and not with all
/// of [`PASSES`], which are for those who look passes up by name.
pub type Pass = &'static PassInfo;

/// Whether a pass leaves anything to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "as the table writes it")]
enum Repeats {
    first,
    once,
    loops,
    again,
}

/// A set of passes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PassSet(u128);

impl PassSet {
    /// The set of these passes.
    pub const fn of(passes: &[PassId]) -> PassSet {
        let mut set = 0;
        let mut number = 0;
        while number < passes.len() {
            set |= 1 << passes[number] as u32;
            number += 1;
        }
        PassSet(set)
    }

    /// Whether a pass is among them.
    pub fn contains(self, pass: PassId) -> bool {
        self.0 >> pass as u32 & 1 != 0
    }

    /// Adds a pass. Returns whether it was not there.
    pub(super) fn insert(&mut self, pass: PassId) -> bool {
        let is_new = !self.contains(pass);
        self.0 |= 1 << pass as u32;
        is_new
    }

    pub(super) fn remove_all(&mut self, others: PassSet) {
        self.0 &= !others.0;
    }
}

impl PassId {
    /// The row of the pass.
    pub fn info(self) -> Pass {
        PASSES[self as usize]
    }

    /// The pass of a name.
    pub fn from_name(name: &str) -> Option<PassId> {
        PASSES.iter().find(|pass| pass.name == name).map(|pass| pass.id)
    }
}

impl PassInfo {
    /// Whether pipelines run it in a shader.
    pub(super) fn applies(&self, shader: &Shader) -> bool {
        (self.when)(shader)
    }

    /// The passes to which its changes may leave something, itself among them or not.
    pub(super) fn enables(&self, shader: &Shader) -> PassSet {
        let itself = match self.repeats {
            Repeats::first | Repeats::once => false,
            Repeats::again => true,
            Repeats::loops => bodies(shader).any(|body| body.num_loops() > 0),
        };
        PassSet(ENABLED[self.id as usize].0 | u128::from(itself) << self.id as u32)
    }
}

/// By pass: the others to which its changes may leave something.
static ENABLED: [PassSet; ROWS.len()] = {
    let mut enabled = [PassSet(0); ROWS.len()];
    let mut changed = 0;
    while changed < ROWS.len() {
        let mut other = 0;
        while other < ROWS.len() {
            let is_first = matches!(ROWS[other].repeats, Repeats::first);
            if other != changed && !is_first && ROWS[other].ignored.0 >> changed & 1 == 0 {
                enabled[changed].0 |= 1 << other;
            }
            other += 1;
        }
        changed += 1;
    }
    enabled
};

macro_rules! passes {
    ($($room:ident { $($name:ident $repeats:ident [$($ignored:ident)*] $(if $when:ident)? $about:literal $run:expr;)+ })+) => {
        /// The passes.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(non_camel_case_types, reason = "as they are called")]
        pub enum PassId { $($(#[doc = $about] $name,)+)+ }

        impl PassId {
            /// All passes in the order of the table.
            pub const ALL: &'static [PassId] = &[$($(PassId::$name,)+)+];
        }

        $($(
            #[allow(non_upper_case_globals, reason = "as they are called")]
            const $name: Pass = &PassInfo {
                id: PassId::$name,
                name: stringify!($name),
                room: stringify!($room),
                about: $about,
                run: $run,
                repeats: Repeats::$repeats,
                when: [always as fn(&Shader) -> bool $(, $when)?][[always as fn(&Shader) -> bool $(, $when)?].len() - 1],
                ignored: PassSet::of(&[$(PassId::$ignored),*]),
            };
        )+)+

        /// The rows by the names of the passes, for lists.
        #[allow(non_upper_case_globals, reason = "as they are called")]
        pub mod rows {
            use super::Pass;
            $($(#[doc = $about] pub const $name: Pass = super::$name;)+)+
        }

        const ROWS: [Pass; PassId::ALL.len()] = [$($($name,)+)+];

        /// All passes.
        pub static PASSES: &[Pass] = &ROWS;
    };
}

passes! {
    into_ssa {
        inline_functions again [] "Calls become the code of what they call." |s, _| super::inline_functions(s);
        lower_returns again [] "Code after a return runs only where there was none." |s, _| super::lower_returns(s);
        lower_global_vars_to_local again [] "Variables that one function uses become its own."
            |s, _| super::lower_global_vars_to_local(s);
        lower_vars_to_ssa once [] "Variables without run-time indices become SSA values." |s, _| super::lower_vars_to_ssa(s);
        lower_reg_intrinsics_to_ssa once [] "Registers become SSA values." |s, _| super::lower_reg_intrinsics_to_ssa(s);
        repair_ssa again [] "Values whose definition no longer dominates a use get phis." |s, _| super::repair_ssa(s);
        convert_to_lcssa again [] "Values that leave a loop do so through phis." |s, _| super::convert_to_lcssa(s);
        rematerialize_derefs_in_use_blocks again [] "Derefs are made in the blocks that use them."
            |s, _| super::rematerialize_derefs_in_use_blocks(s);
        opt_unwritten_outputs again [] "Outputs that nothing writes read as zero." |s, _| super::opt_unwritten_outputs(s);
    }
    scalar {
        opt_algebraic once [] "Algebraic rules." super::opt_algebraic;
        opt_algebraic_late again [] "Algebraic rules that undo the normal form of the others." super::opt_algebraic_late;
        opt_algebraic_lower again [] "The algebraic rules that lower what the target lacks, and no others."
            super::opt_algebraic_lower;
        opt_algebraic_distribute_src_mods again [] "Negation and absolute value move to where they are modifiers."
            |s, o| o.source_modifiers && super::opt_algebraic_distribute_src_mods(s, o);
        opt_constant_folding once [opt_dce remove_dead_variables opt_cse opt_shrink_vectors]
            "Instructions on constants become constants." |s, _| super::opt_constant_folding(s);
        opt_copy_prop once [opt_dce remove_dead_variables opt_cse opt_constant_folding opt_algebraic]
            "Sources read through moves and vectors." |s, _| super::opt_copy_prop(s);
        opt_cse loops [opt_dce remove_dead_variables] "Equal instructions become one." |s, _| super::opt_cse(s);
        opt_dce once [opt_cse] "Instructions without uses or effects go." |s, _| super::opt_dce(s);
        opt_undef again [opt_dce remove_dead_variables opt_cse opt_constant_folding]
            "What reads undefined values is chosen so that it goes." |s, _| super::opt_undef(s);
        opt_remove_phis again [opt_dce remove_dead_variables] "Phis of one value go." |s, _| super::opt_remove_phis(s);
        opt_shrink_vectors once [opt_dce remove_dead_variables opt_cse] "Components that nothing reads go."
            |s, _| super::opt_shrink_vectors(s);
        opt_reuse_components once [opt_dce remove_dead_variables]
            "Scalars that are components of vectors elsewhere read those." |s, _| super::opt_reuse_components(s);
        opt_narrow_selects again [] "Selections between vectors that share components become narrower."
            |s, _| super::opt_narrow_selects(s);
        opt_phi_precision again [opt_dce remove_dead_variables] "Conversions move through phis."
            |s, _| super::opt_phi_precision(s);
        opt_comparison_pre again [] "Comparisons read a difference that is computed anyway."
            |s, _| super::opt_comparison_pre(s);
        opt_rematerialize_compares again [] "Comparisons are computed anew where they are read."
            |s, _| super::opt_rematerialize_compares(s);
        opt_idiv_const again [] "Divisions by constants become multiplications." |s, _| super::opt_idiv_const(s);
    }
    control_flow {
        opt_dead_cf again [opt_cse] "Branches that are never taken, and loops without effect, go." |s, _| super::opt_dead_cf(s);
        opt_if again [] "Branches that follow from each other are merged." |s, _| super::opt_if(s);
        opt_peephole_select again [] "Small branches become selections." super::opt_peephole_select;
        opt_conditional_discard again [] "Branches that only discard become conditional discards."
            |s, _| super::opt_conditional_discard(s);
    }
    loops {
        lower_loop_jumps again [] "Nested jumps of loops become flags." |s, _| super::lower_loop_jumps(s);
        opt_loop again [] "Exits of loops are simplified." super::opt_loop;
        opt_loop_unroll again [] "Loops of few known iterations become straight code." super::opt_loop_unroll;
        opt_licm again [] "What does not change in a loop moves before it." super::opt_licm;
    }
    variables {
        lower_var_copies first [] "Copies of variables become loads and stores."
            |s, _| super::lower_var_copies(s);
        opt_copy_prop_vars again [] if have_variables "Loads read what was stored or loaded before."
            super::opt_copy_prop_vars;
        opt_dead_write_vars again [] if have_variables "Stores that are overwritten before they are read go."
            |s, _| super::opt_dead_write_vars(s);
        opt_find_array_copies first [] if have_variables "Copies of arrays, element by element, become one."
            |s, _| super::opt_find_array_copies(s);
        opt_large_constants again [] "Arrays that hold constants become data of the shader."
            |s, _| super::opt_large_constants(s);
        opt_load_store_vectorize again [] "Accesses to neighbouring memory become one."
            |s, _| super::opt_load_store_vectorize(s);
        shrink_vec_array_vars again [] if have_variables "Components and elements of arrays that nothing uses go."
            |s, _| super::shrink_vec_array_vars(s);
        remove_dead_variables once [] "Variables that nothing reads go." |s, _| super::remove_dead_variables(s, TEMPORARIES);
    }
    lower_indirects {
        lower_indirect_derefs again [] "Run-time indices of variables become branches."
            |s, _| super::lower_indirect_derefs(s, VariableModes(u32::MAX), u32::MAX);
        lower_indirect_io again [] "Run-time indices of inputs, outputs and constants become branches."
            |s, _| super::lower_indirect_io(s, VariableModes(u32::MAX));
        lower_indirect_registers again [] "Run-time indices of registers become branches."
            |s, _| super::lower_indirect_registers(s);
    }
    lower_numbers {
        lower_alu again [] "Bit counts, reversals and high products, where the target lacks them." super::lower_alu;
        lower_alu_to_scalar again [] "Vector operations become scalar ones."
            super::lower_alu_to_scalar;
        lower_doubles again [] "Operations on 64-bit floats that the target lacks." super::lower_doubles;
        lower_fp16_casts again [] "Conversions to 16-bit floats that the target lacks." super::lower_fp16_casts;
        lower_frexp again [] "Fractions and exponents, where the target lacks them." super::lower_frexp;
        lower_idiv again [] "Integer divisions, where the target lacks them." super::lower_idiv;
        lower_int64 again [] "Operations on 64-bit integers that the target lacks." super::lower_int64;
        lower_int_to_float again [] "Integers become floats, for targets without integers."
            |s, o| super::lower_int_to_float(s, o).unwrap_or(false);
        lower_load_const_to_scalar again [] "Vector constants become scalar ones."
            |s, _| super::lower_load_const_to_scalar(s);
        lower_pack again [] "Packing and unpacking that the target lacks." super::lower_pack;
        lower_phis_to_scalar again [] "Vector phis become scalar ones." |s, _| super::lower_phis_to_scalar(s);
    }
    lower_booleans {
        lower_bool_to_float again [] "Booleans become 0.0 and 1.0." |s, _| super::lower_bool_to_float(s);
        lower_bool_to_int32 again [] "Booleans become 0 and -1." |s, _| super::lower_bool_to_int32(s);
    }
    lower_resources {
        lower_io again [] "Inputs and outputs are accessed by slot." |s, _| {
            super::lower_io(s, VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0))
        };
        lower_sample_positions again [] "Positions of samples are computed from the number of samples."
            |s, _| super::lower_sample_positions(s);
        lower_system_values again [] "System values that follow from the size of the workgroup are computed."
            |s, _| super::lower_system_values(s);
        lower_uniforms_to_ubo again [] "Uniforms become loads from a uniform buffer."
            |s, _| super::lower_uniforms_to_ubo(s);
        lower_atomics_to_ssbo again [] "Atomic counters become atomics on storage buffers."
            |s, _| super::lower_atomics_to_ssbo(s);
    }
}

// A set has a bit for each.
const _: () = assert!(PassId::ALL.len() <= 128);

fn bodies(shader: &Shader) -> impl Iterator<Item = &Body> {
    shader.functions.values().filter_map(|function| function.body.as_ref())
}

fn always(_: &Shader) -> bool {
    true
}

/// Whether functions share variables.
fn have_shared_variables(shader: &Shader) -> bool {
    shader.globals_with(VariableModes::SHADER_TEMP).next().is_some()
}

/// Whether there are variables that only the shader sees: most shaders have none left in SSA form.
fn have_variables(shader: &Shader) -> bool {
    bodies(shader).any(|body| !body.locals.is_empty()) || shader.functions.len() > 1 && have_shared_variables(shader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_stands_in_its_room() {
        let passes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/passes");
        for info in PASSES {
            // Some files have several passes that share their work.
            let text = |path: &str| std::fs::read_to_string(passes.join(info.room).join(path)).unwrap_or_default();
            let in_own_file = text(&format!("{}.rs", info.name)) + &text(&format!("{}/mod.rs", info.name));
            let function = format!("pub fn {}(", info.name);
            let in_room = std::fs::read_dir(passes.join(info.room)).is_ok_and(|files| {
                let mut files = files.flatten().filter_map(|file| std::fs::read_to_string(file.path()).ok());
                files.any(|text| text.contains(&function))
            });
            assert!(in_own_file.contains(&function) || in_room, "{} is not in {}", info.name, info.room);
            assert!(info.about.ends_with('.') && info.about.len() < 80, "{}: {}", info.name, info.about);
        }
    }

    #[test]
    fn changes_enable_what_does_not_ignore_them() {
        let shader = Shader::without_functions(crate::shader::Stage::Vertex);
        let enabled = rows::opt_dce.enables(&shader);
        assert!(!enabled.contains(PassId::opt_remove_phis) && enabled.contains(PassId::opt_algebraic));
        assert!(!enabled.contains(PassId::opt_dce) && rows::opt_if.enables(&shader).contains(PassId::opt_if));
        assert!(!rows::opt_if.enables(&shader).contains(PassId::opt_find_array_copies), "first");
    }
}
