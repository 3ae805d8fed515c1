//! The transformations, one file each, and their table.

mod dead_exits;
mod duplicate;
mod equal_targets;
mod outline;
mod permute;
mod premerge;
mod split;
mod swap;
mod values;
mod variables;
mod wrap_if;
mod wrap_loop;
mod wrap_switch;

use crate::editor::Editor;

pub use permute::restore_order;

/// A transformation.
pub struct Transformation {
    /// Its name.
    pub name: &'static str,
    /// Changes the function of this number, or returns `None`; the module may then be changed in part.
    pub run: fn(&mut Editor, usize) -> Option<()>,
}

/// Writes the table of transformations.
macro_rules! transformations {
    ($($name:ident $run:path;)*) => {
        /// All transformations.
        pub const TRANSFORMATIONS: &[Transformation] = &[
            $(Transformation { name: stringify!($name), run: $run },)*
        ];
    };
}

transformations! {
    split_block split::split_block;
    wrap_if wrap_if::wrap_if;
    wrap_loop wrap_loop::wrap_loop;
    wrap_switch wrap_switch::wrap_switch;
    dead_exit dead_exits::dead_exit;
    premerge premerge::premerge;
    equal_targets equal_targets::equal_targets;
    permute_blocks permute::permute_blocks;
    outline outline::outline;
    duplicate_function duplicate::duplicate_function;
    copy_value values::copy_value;
    select_value values::select_value;
    wrap_value values::wrap_value;
    compute_value values::compute_value;
    phi_value values::phi_value;
    store_and_load variables::store_and_load;
    swap_operands swap::swap_operands;
}
