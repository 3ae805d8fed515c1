//! The masks of a region's code: the active lanes, and those left in loops.

use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{Block, Value as Ir};
use cranelift_frontend::{FunctionBuilder, Variable};

/// An open construct.
pub(super) enum OpenConstruct {
    If { outer: Ir, otherwise: Ir, else_block: Block, merge: Block, in_else: bool },
    Loop { outer: Ir, outer_iteration: Option<Ir>, outer_in_loop: Option<Ir>, head: Block, exit: Block, start: usize },
}

/// The variables of the masks, and the open constructs.
pub(super) struct Masks {
    pub active: Variable,
    pub iteration: Variable,
    pub in_loop: Variable,
    /// The lanes that were killed, in programs with kills.
    pub killed: Option<Variable>,
    /// The number of operations that the quad has executed in loops.
    pub steps: Variable,
    pub open: Vec<OpenConstruct>,
    /// The number of loops among them.
    pub open_loops: usize,
    pub has_loops: bool,
}

impl Masks {
    pub fn new(builder: &mut FunctionBuilder<'_>, has_kills: bool) -> Masks {
        let [active, iteration, in_loop] = [I32X4; 3].map(|ty| builder.declare_var(ty));
        let killed = has_kills.then(|| builder.declare_var(I32X4));
        let steps = builder.declare_var(I64);
        Masks { active, iteration, in_loop, killed, steps, open: Vec::new(), open_loops: 0, has_loops: false }
    }
}
