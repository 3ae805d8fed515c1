//! The table of machine passes. The [pipeline](crate::pipeline) and [`run_machine_pass`](super::named) take names and
//! functions from here; its form is that of [`tgsi_ir::pass_table!`].

use tgsi_ir::passes::pass_table::PassInfo;
use tgsi_ir::shader::ShaderStage;
use tgsi_vec4::allocate;
use tgsi_vec4::allocate::Extent;
use tgsi_vec4::{dead_code, hoist_constants, merge, propagate_backward, propagate_copies, vectorize};

use super::choose_components::{self, Divides};
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
        lower_continues once [] "CONT becomes a loop in the loop." |p, c| {
            lower_continues::lower_continues(p, c.options.native_integers)
        };
        legalize_virgl once [] "Instructions that hosts of virgl do not accept are rewritten." |p, c| {
            legalize_virgl::legalize(p, c.stage, c.rules.clone())
        };
    }
    optimization {
        simplify_cfg again
            [propagate_copies combine remove_dead_code propagate_backward merge_instructions vectorize group_addresses]
            "Branches and loops become simpler." |p, c| simplify_cfg::simplify_cfg(p, &c.options);
        propagate_copies again [remove_dead_code propagate_backward merge_instructions vectorize group_addresses]
            "Operands read the sources of copies." |p, _| propagate_copies::propagate_copies(p);
        combine again [remove_dead_code propagate_backward merge_instructions vectorize group_addresses]
            "Instructions and the operands they read become one." |p, c| combine::combine(p, &c.options);
        remove_dead_code once [propagate_backward merge_instructions group_addresses]
            "Instructions and components without uses are removed." |p, _| dead_code::remove_dead_code(p);
        propagate_backward again [propagate_copies combine remove_dead_code merge_instructions group_addresses]
            "Results are written where copies put them." |p, _| propagate_backward::propagate_backward(p);
        merge_instructions once [propagate_copies combine remove_dead_code group_addresses]
            "Equal operations on components of one register become one." |p, _| merge::merge_instructions(p);
        vectorize again [propagate_copies combine remove_dead_code group_addresses]
            "Equal operations on different registers become one." |p, _| vectorize::vectorize(p);
        group_addresses once
            [propagate_copies combine remove_dead_code propagate_backward merge_instructions vectorize]
            "Loads of address registers share them." |p, _| group_addresses::group_addresses(p);
    }
    allocation {
        group_lookups once [] "Lookups are grouped into fewer phases." |p, _| {
            replace(p, |program| group_lookups::group_lookups(program))
        };
        hoist_constants once [] "Copies of constants in branches become one before them." |p, _| {
            replace(p, |program| Some(hoist_constants::hoist_constants(program)?.0))
        };
        share_constants once [] "Instructions share copies of constants." |p, c| {
            share_constants::share_constants(p, c.options.free_zero_and_one)
        };
        coalesce_copies once [] "Temporaries of copies become one." |p, _| {
            allocate::coalesce_copies(p);
            true
        };
        allocate once [] "Temporaries get registers." |p, c| {
            // Others see outputs of these stages before the end, or repeatedly.
            let outputs_wait = matches!(c.stage, ShaderStage::Geometry | ShaderStage::TessCtrl);
            allocate::allocate(p, extent(&c.options), !outputs_wait && !c.options.plain);
            true
        };
        choose_components once [] "Values are in the components that operands read." |p, _| {
            choose_components::choose_components(p, Divides::Values)
        };
        share_swizzles once [] "Instructions share copies with other orders of components." |p, _| {
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
fn extent(options: &TgsiOptions) -> Extent {
    match options.unoptimized_ra {
        true if !options.plain => Extent::Coalesce { once: options.schedules, joined: options.joined_copies },
        true => Extent::Number,
        false => Extent::Pack,
    }
}
