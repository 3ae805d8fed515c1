//! The table of machine passes. The [pipeline](crate::pipeline) and [`run_machine_pass`](super::named) take names and
//! functions from here; its form is that of [`tgsi_ir::pass_table!`].

use tgsi_ir::passes::pass_table::PassInfo;
use tgsi_ir::shader::ShaderStage;
use tgsi_vec4::allocate;
use tgsi_vec4::allocate::AllocationMode;
use tgsi_vec4::{dead_code, hoist_constants, merge, propagate_backward, propagate_copies, vectorize};

use super::choose_components::{self, SplitScope};
use super::{
    combine, group_addresses, group_lookups, legalize_virgl, lower_continues, share_constants, share_swizzles,
    simplify_cfg,
};
use crate::consumers::options::TgsiOptions;
use crate::consumers::virgl::rules::Rules;
use crate::machine::Program;

/// The target and the shader that passes run for.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) stage: ShaderStage,
    /// The options, which fit the stage.
    pub(crate) options: TgsiOptions,
    /// What hosts of virgl accept in this shader; other dialects accept everything.
    pub(crate) rules: Rules,
}

/// A pass as lists have it: its row.
pub(crate) type Pass = &'static PassInfo<Program, Context>;

tgsi_ir::pass_table! {
    Program, Context, "tgsi:":
    lowering {
        lower_continues once [] "Replaces `CONT` by a loop in the loop." |p, c| {
            lower_continues::lower_continues(p, c.options.native_integers)
        };
        legalize_virgl once [] "Rewrites instructions that hosts of virgl do not accept." |p, c| {
            legalize_virgl::legalize(p, c.stage, c.rules.clone())
        };
    }
    optimization {
        simplify_cfg again
            [propagate_copies combine remove_dead_code propagate_backward merge_instructions vectorize group_addresses]
            "Simplifies branches and loops." |p, c| simplify_cfg::simplify_cfg(p, &c.options);
        propagate_copies again [remove_dead_code propagate_backward merge_instructions vectorize group_addresses]
            "Replaces operands by the sources of copies." |p, _| propagate_copies::propagate_copies(p);
        combine again [remove_dead_code propagate_backward merge_instructions vectorize group_addresses]
            "Combines instructions with the producers of their operands." |p, c| combine::combine(p, &c.options);
        remove_dead_code once [propagate_backward merge_instructions group_addresses]
            "Removes instructions and components without uses." |p, _| dead_code::remove_dead_code(p);
        propagate_backward again [propagate_copies combine remove_dead_code merge_instructions group_addresses]
            "Writes results to the destinations of their copies." |p, _| propagate_backward::propagate_backward(p);
        merge_instructions once [propagate_copies combine remove_dead_code group_addresses]
            "Merges equal operations on components of one register." |p, _| merge::merge_instructions(p);
        vectorize again [propagate_copies combine remove_dead_code group_addresses]
            "Merges equal operations on different registers." |p, _| vectorize::vectorize(p);
        group_addresses once
            [propagate_copies combine remove_dead_code propagate_backward merge_instructions vectorize]
            "Groups loads of address registers that can share one." |p, _| group_addresses::group_addresses(p);
    }
    allocation {
        group_lookups once [] "Groups lookups into fewer phases." |p, _| {
            replace(p, |program| group_lookups::group_lookups(program))
        };
        hoist_constants once [] "Hoists copies of constants in branches to one before them." |p, _| {
            replace(p, |program| Some(hoist_constants::hoist_constants(program)?.0))
        };
        share_constants once [] "Shares copies of constants between instructions." |p, c| {
            share_constants::share_constants(p, c.options.inline_zero_and_one)
        };
        coalesce_copies once [] "Coalesces the temporaries of copies." |p, _| {
            allocate::coalesce_copies(p);
            true
        };
        allocate once [] "Assigns registers to temporaries." |p, c| {
            // Others see outputs of these stages before the end, or repeatedly.
            let outputs_wait = matches!(c.stage, ShaderStage::Geometry | ShaderStage::TessCtrl);
            allocate::allocate(p, extent(&c.options), !outputs_wait && !c.options.unoptimized);
            true
        };
        choose_components once [] "Moves values to the components that operands read." |p, _| {
            choose_components::choose_components(p, SplitScope::Values)
        };
        share_swizzles once [] "Shares copies with other orders of components between instructions." |p, _| {
            share_swizzles::share_swizzles(p)
        };
    }
}

fn replace(program: &mut Program, pass: impl FnOnce(&mut Program) -> Option<Program>) -> bool {
    let replacement = pass(program);
    let changed = replacement.is_some();
    if let Some(replacement) = replacement {
        *program = replacement;
    }
    changed
}

/// The part of allocation that the target leaves to the driver.
fn extent(options: &TgsiOptions) -> AllocationMode {
    match options.unoptimized_ra {
        true if !options.unoptimized => {
            AllocationMode::Coalesce { once: options.pairing_scheduler, joined: options.merges_copies }
        }
        true => AllocationMode::Number,
        false => AllocationMode::Pack,
    }
}
