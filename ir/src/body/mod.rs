//! The code of a function: arenas of instructions, values, uses, blocks, ifs and loops, and all functions that edit
//! them.
//!
//! # Shape
//!
//! - A **body** is a tree. Each of its lists (the body itself, a side of an `if`, the body of a loop) begins and ends
//!   with a block, and blocks alternate with ifs and loops. The lists are doubly linked through their nodes.
//! - A **block** holds a doubly linked list of instructions; phis come first, a jump last.
//! - Every **source** is a [`Use`]: a node in the doubly linked list of uses of the value it reads. The sources of an
//!   instruction are a contiguous range of uses, so that finding a source by number, and the number of a use, takes
//!   O(1). Further data of a source (swizzle of an ALU source, predecessor of a phi source, kind of a texture source)
//!   is stored in 64 bits next to it.
//! - **Edges** between blocks are derived from the tree: the editing functions of [`Body`] maintain successors and
//!   predecessors (and remove the phi sources of removed edges); no other code may change them.
//! - Nodes do not own heap memory: an instruction of any kind fits [`InstData`], and large payloads are in side arenas.
//!   Cloning a body copies a dozen flat vectors.
//!
//! # Epochs
//!
//! [`Body::cfg_epoch`] advances with every change of the control flow, [`Body::inst_epoch`] with every change of
//! instructions, sources or control flow. Analyses record the epochs at which they were computed, and
//! [`crate::analysis`] recomputes outdated ones; passes do not declare preserved analyses.

mod clone;
mod compact;
mod control_flow;
mod details;
mod dot;
mod edit;
mod events;
mod inspect;
mod inst_data;
mod instructions;
mod queries;
mod restructure;
mod swizzle;
mod uses;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, ListPool, PrimaryMap};

use crate::analysis::AnalysisCache;
use crate::entities::{Block, Copies, Def, If, Inst, Loop, Tex, Use, User, Variable};

#[doc(hidden)]
pub use clone::{ListTemplate, Remap};
pub use control_flow::{CfList, CfNode, CfParent};
#[doc(hidden)]
pub use details::Indices;
pub use events::CfEvent;
pub use inst_data::{
    CastLayout, CopyEntry, DEFAULT_TG4_OFFSETS, DerefKind, InstData, JumpKind, TexData, TexOp, TexSrcKind,
};
pub use instructions::{Shape, SourceSpec};
pub use swizzle::{AluFlags, MAX_COMPONENTS, Swizzle};

/// Maximum number of constant indices of an intrinsic.
#[doc(hidden)]
pub const MAX_INDICES: usize = 8;

/// Rare kinds of instructions, each a bit of a set. Passes about them skip bodies without any, and a pass that removes
/// all of a kind records that with [`Body::set_has_none`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RareInst {
    /// An undefined value.
    Undef = 1,
    /// `copy_deref`.
    Copy = 2,
    /// `decl_reg`, the declaration of a register.
    Register = 4,
    /// A deref of an element or component.
    ArrayDeref = 8,
}

/// An instruction in the arena.
#[derive(Clone, Copy, Debug)]
struct InstNode {
    data: InstData,
    block: PackedOption<Block>,
    prev: PackedOption<Inst>,
    next: PackedOption<Inst>,
    def: PackedOption<Def>,
    first_source: u32,
    num_sources: u32,
    /// Scratch bits for passes.
    pass_flags: u8,
    /// See [`Body::origin`], stored plus 1; 0 if unknown.
    origin: u16,
}

/// A value in the arena.
#[derive(Clone, Copy, Debug)]
struct DefNode {
    /// The defining instruction; none in a gap of the numbering.
    inst: PackedOption<Inst>,
    first_use: PackedOption<Use>,
    num_components: u8,
    bit_size: u8,
    divergence: Divergence,
    loop_invariant: bool,
}

/// Result of divergence analysis for a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Divergence {
    /// The value was created after the analysis, or the analysis never ran.
    #[default]
    Unknown,
    Uniform,
    Divergent,
}

/// A source in the arena.
#[derive(Clone, Copy, Debug)]
struct UseNode {
    /// Swizzle, phi predecessor or texture source kind.
    payload: u64,
    /// None if the source was removed.
    def: PackedOption<Def>,
    prev: PackedOption<Use>,
    next: PackedOption<Use>,
    /// Number of the instruction, or number of the `if` with the top bit set.
    user: u32,
}

const USER_IF: u32 = 1 << 31;

impl UseNode {
    fn user(&self) -> User {
        if self.user & USER_IF == 0 {
            User::Inst(Inst::from_u32(self.user))
        } else {
            User::If(If::from_u32(self.user & !USER_IF))
        }
    }
}

/// A block in the arena.
#[derive(Clone, Debug, Default)]
struct BlockNode {
    parent: Option<CfParent>,
    prev: Option<CfNode>,
    next: Option<CfNode>,
    first_inst: PackedOption<Inst>,
    last_inst: PackedOption<Inst>,
    successors: [PackedOption<Block>; 2],
    predecessors: EntityList<Block>,
}

/// Hint on how to compile an `if`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum IfControl {
    /// No hint.
    #[default]
    None,
    /// Turn into selections.
    Flatten,
    /// Keep as a branch.
    DontFlatten,
    /// Divergent, and always taken by some invocation.
    DivergentAlwaysTaken,
}

/// Hint on how to compile a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LoopControl {
    /// No hint.
    #[default]
    None,
    /// Unroll.
    Unroll,
    /// Keep as a loop.
    DontUnroll,
}

/// An `if` in the arena.
#[derive(Clone, Debug)]
struct IfNode {
    parent: Option<CfParent>,
    prev: PackedOption<Block>,
    next: PackedOption<Block>,
    condition: Use,
    then_list: CfList,
    else_list: CfList,
    control: IfControl,
}

/// A loop in the arena.
#[derive(Clone, Debug)]
struct LoopNode {
    parent: Option<CfParent>,
    prev: PackedOption<Block>,
    next: PackedOption<Block>,
    body: CfList,
    continue_list: Option<CfList>,
    control: LoopControl,
    divergent_continue: bool,
    divergent_break: bool,
}

/// The code of a function.
#[derive(Clone, Debug)]
pub struct Body {
    insts: PrimaryMap<Inst, InstNode>,
    defs: PrimaryMap<Def, DefNode>,
    uses: PrimaryMap<Use, UseNode>,
    details: details::Details,
    blocks: PrimaryMap<Block, BlockNode>,
    ifs: PrimaryMap<If, IfNode>,
    loops: PrimaryMap<Loop, LoopNode>,
    texs: PrimaryMap<Tex, TexData>,
    copies: PrimaryMap<Copies, Vec<CopyEntry>>,
    constants: Vec<u64>,
    block_lists: ListPool<Block>,
    list: CfList,
    end_block: Block,
    /// `function_temp` variables.
    pub locals: Vec<Variable>,
    /// Whether control flow is a tree; false if there are `goto`s.
    pub structured: bool,
    cfg_epoch: u64,
    inst_epoch: u64,
    /// A bit for each [`RareInst`] that was created since a pass removed all of them.
    may_have: u8,
    analyses: AnalysisCache,
    /// The origin for new instructions, plus 1; 0 means the origin of the neighbour.
    origin: u16,
}

impl Default for Body {
    fn default() -> Self {
        Self::new()
    }
}

impl Body {
    /// An empty body: one block with an edge to the end block.
    pub fn new() -> Body {
        let mut blocks = PrimaryMap::new();
        let start = blocks.push(BlockNode { parent: Some(CfParent::Function), ..BlockNode::default() });
        let end_block = blocks.push(BlockNode::default());
        let mut body = Body {
            insts: PrimaryMap::new(),
            defs: PrimaryMap::new(),
            uses: PrimaryMap::new(),
            details: details::Details::default(),
            blocks,
            ifs: PrimaryMap::new(),
            loops: PrimaryMap::new(),
            texs: PrimaryMap::new(),
            copies: PrimaryMap::new(),
            constants: Vec::new(),
            block_lists: ListPool::new(),
            list: CfList { first: start, last: start },
            end_block,
            locals: Vec::new(),
            structured: true,
            cfg_epoch: 1,
            inst_epoch: 1,
            may_have: 0,
            analyses: AnalysisCache::default(),
            origin: 0,
        };
        body.update_successors(start);
        body
    }

    /// A counter that advances with every change of the control flow.
    pub fn cfg_epoch(&self) -> u64 {
        self.cfg_epoch
    }

    /// A counter that advances with every change of instructions, sources or control flow.
    pub fn inst_epoch(&self) -> u64 {
        self.inst_epoch
    }

    /// The cache of analyses.
    pub(crate) fn analyses(&self) -> &AnalysisCache {
        &self.analyses
    }

    fn changed_cfg(&mut self) {
        self.cfg_epoch += 1;
        self.changed_insts();
    }

    fn changed_insts(&mut self) {
        self.inst_epoch += 1;
    }

    /// The first block.
    pub fn start_block(&self) -> Block {
        self.list.first
    }

    /// The target of every return. It is empty and not in the tree.
    pub fn end_block(&self) -> Block {
        self.end_block
    }

    /// Number of values ever created: every [`Def`] is below it. It determines the width of value numbers in the text
    /// form.
    pub fn num_defs(&self) -> usize {
        self.defs.len()
    }

    /// Number of instructions ever created: every [`Inst`] is below it.
    pub fn num_insts(&self) -> usize {
        self.insts.len()
    }

    /// Number of blocks ever created, including the end block.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Whether no `if` or loop was ever created: all code is in one block.
    pub fn is_one_block(&self) -> bool {
        self.ifs.is_empty() && self.loops.is_empty()
    }

    /// Whether there may be instructions of a rare kind; conservatively true.
    pub(crate) fn may_have(&self, kind: RareInst) -> bool {
        self.may_have & kind as u8 != 0
    }

    /// Records that the body has no instructions of a rare kind.
    pub(crate) fn set_has_none(&mut self, kind: RareInst) {
        self.may_have &= !(kind as u8);
    }

    /// Whether a parallel copy was ever created.
    pub fn has_parallel_copies(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Reserves memory for `count` more instructions, with one value each and five sources for every two of them.
    pub fn reserve_insts(&mut self, count: usize) {
        self.insts.reserve(count);
        self.defs.reserve(count);
        self.uses.reserve(5 * count / 2);
    }

    /// Number of loops ever created; if it is 0, there is no loop.
    pub fn num_loops(&self) -> usize {
        self.loops.len()
    }

    /// Number of uses ever created.
    pub fn num_uses(&self) -> usize {
        self.uses.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_memory() {
        assert_eq!(size_of::<InstNode>(), 44);
        assert_eq!(size_of::<InstData>(), 16);
        assert_eq!(size_of::<UseNode>(), 24);
        assert_eq!(size_of::<DefNode>(), 12);
    }

    #[test]
    fn swizzles() {
        let s = Swizzle::new(&[3, 2, 1, 0]);
        assert_eq!(s.compose(s).iter(4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(Swizzle::IDENTITY.is_identity(16) && Swizzle::new(&[0, 1]).is_identity(2));
        assert!(!s.is_identity(1));
        assert_eq!(Swizzle::replicate(2).get(9), 2);
    }

    #[test]
    fn channels_of_sources() {
        use crate::alu::AluOp;
        let mut body = Body::new();
        let mut b = crate::builder::Builder::at_end(&mut body);
        let scalar = b.constant(32, &[1]);
        let vector = b.vec_of(&[scalar; 4]);
        let sum = b.alu(AluOp::Fadd, &[vector, vector]);
        let dot = b.alu(AluOp::Fdot3, &[vector, vector]);
        let [sum, dot, vec] = [sum, dot, vector].map(|def| body.def_inst(def));
        assert_eq!(body.alu_src_channels(sum, 0, 0b1010), 0b1010);
        assert_eq!(body.alu_src_channels(dot, 1, 1), 0b111);
        assert_eq!(body.alu_src_channels(vec, 3, 0b0001), 1);
        assert_eq!((body.alu_src_channels(sum, 2, 1), body.full_mask(vector)), (0, 0xf));
        assert!(AluOp::Fadd.is_componentwise() && !AluOp::Fdot3.is_componentwise() && !AluOp::Vec4.is_componentwise());
    }
}
