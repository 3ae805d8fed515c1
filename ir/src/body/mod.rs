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
mod inspect;
mod instructions;
mod queries;
mod restructure;
mod uses;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, ListPool, PrimaryMap};

use crate::alu::{AluOp, AluType};
use crate::analysis::AnalysisCache;
use crate::entities::{Block, Cast, Copies, Def, Function, If, Inst, Loop, Tex, Type, Use, User, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::variable::VariableModes;
use tgsi_environment::SamplerDim;
use tgsi_environment::named_enum;

#[doc(hidden)]
pub use clone::{ListTemplate, Remap};
pub use control_flow::{CfList, CfNode, CfParent};
#[doc(hidden)]
pub use details::Indices;
pub use instructions::{Shape, SourceSpec};

/// Maximum number of components of a value.
pub const MAX_COMPONENTS: usize = 16;
/// Maximum number of constant indices of an intrinsic.
#[doc(hidden)]
pub const MAX_INDICES: usize = 8;

/// Component selectors of an ALU source, four bits each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle(pub u64);

impl Swizzle {
    /// Selects every component in place.
    pub const IDENTITY: Swizzle = Swizzle(0xfedc_ba98_7654_3210);

    /// Selects `component` for every result component.
    pub const fn replicate(component: u8) -> Swizzle {
        Swizzle((component as u64 & 15) * 0x1111_1111_1111_1111)
    }

    /// Makes a swizzle from a list of selectors; further components select component 0.
    pub fn new(selectors: &[u8]) -> Swizzle {
        selectors.iter().take(MAX_COMPONENTS).enumerate().fold(Swizzle(0), |s, (i, &c)| s.with(i, c))
    }

    /// The selector for component `index`.
    pub const fn get(self, index: usize) -> u8 {
        (self.0 >> (4 * (index & 15))) as u8 & 15
    }

    /// Returns the swizzle with another selector for component `index`.
    #[must_use]
    pub const fn with(self, index: usize, selector: u8) -> Swizzle {
        let shift = 4 * (index & 15);
        Swizzle(self.0 & !(15 << shift) | (selector as u64 & 15) << shift)
    }

    /// The selectors for the first `count` components, followed by zeros.
    pub const fn first(self, count: usize) -> u64 {
        if count >= MAX_COMPONENTS { self.0 } else { self.0 & ((1 << (4 * count)) - 1) }
    }

    /// Composes swizzles: applies `self` to a value that `inner` has swizzled, `result[i] = inner[self[i]]`.
    #[must_use]
    pub fn compose(self, inner: Swizzle) -> Swizzle {
        if self == Self::IDENTITY {
            return inner;
        }
        if inner == Self::IDENTITY {
            return self;
        }
        (0..MAX_COMPONENTS).fold(Swizzle(0), |s, i| s.with(i, inner.get(self.get(i) as usize)))
    }

    /// Whether the first `count` components are selected in place.
    pub const fn is_identity(self, count: usize) -> bool {
        let mask = if count >= 16 { u64::MAX } else { (1 << (4 * count)) - 1 };
        (self.0 ^ Self::IDENTITY.0) & mask == 0
    }

    /// The first `count` selectors.
    pub fn iter(self, count: usize) -> impl Iterator<Item = u8> {
        (0..count).map(move |i| self.get(i))
    }
}

impl std::fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Swizzle({:016x})", self.0)
    }
}

/// Flags of an ALU instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AluFlags(pub u16);

impl AluFlags {
    /// No flags.
    pub const NONE: AluFlags = AluFlags(0);
    /// The value must be reproduced bit for bit.
    pub const EXACT: AluFlags = AluFlags(1);
    /// The signed operation does not overflow.
    pub const NO_SIGNED_WRAP: AluFlags = AluFlags(2);
    /// The unsigned operation does not overflow.
    pub const NO_UNSIGNED_WRAP: AluFlags = AluFlags(4);
    /// Shift of the nine fast-math bits (signed zero, infinity, NaN to be preserved for 16, 32, 64 bits each).
    pub const FAST_MATH_SHIFT: u32 = 3;

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: AluFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: AluFlags) -> AluFlags {
        AluFlags(self.0 | other.0)
    }

    /// Whether the value must be reproduced bit for bit.
    pub const fn is_exact(self) -> bool {
        self.contains(Self::EXACT)
    }
}

/// Kind of a deref instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DerefKind {
    /// A variable. No sources.
    Var(Variable),
    /// Element of an array, column of a matrix, component of a vector. Sources: parent, index.
    Array,
    /// All elements; only for copies. Source: parent.
    ArrayWildcard,
    /// Pointer arithmetic. Sources: parent, index.
    PtrAsArray,
    /// A field. Source: parent.
    Struct(u32),
    /// Any value interpreted as a pointer; see [`Body::cast`]. Source: the value.
    Cast(Cast),
}

/// Known layout of the memory that a cast points to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[doc(hidden)]
pub struct CastLayout {
    /// Stride for pointer arithmetic, in bytes.
    pub ptr_stride: u32,
    /// Alignment, a power of two; 0 if unknown.
    pub align_mul: u32,
    /// Offset from that alignment.
    pub align_offset: u32,
}

/// Jumps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JumpKind {
    /// Leave the innermost loop.
    Break,
    /// Continue with the next iteration of the innermost loop.
    Continue,
    /// Leave the function.
    Return,
    /// End the invocation.
    Halt,
    /// Unstructured jump.
    Goto(Block),
    /// Unstructured conditional jump. Source: condition.
    GotoIf {
        /// Target for a true condition.
        then_block: Block,
        /// Target for a false condition.
        else_block: Block,
    },
}

named_enum! {
    /// Texture operations.
    TexOp {
        Tex = 0 "tex" "Lookup with implicit level.",
        Txb = 1 "txb" "With bias.",
        Txl = 2 "txl" "With explicit level.",
        Txd = 3 "txd" "With explicit gradients.",
        Txf = 4 "txf" "Texel fetch.",
        TxfMs = 5 "txf_ms" "Multisample texel fetch.",
        TxfMsFb = 6 "txf_ms_fb" "Framebuffer fetch.",
        Txs = 7 "txs" "Size query.",
        Lod = 8 "lod" "Level-of-detail query.",
        Tg4 = 9 "tg4" "Gather.",
        QueryLevels = 10 "query_levels" "Number of levels.",
        TextureSamples = 11 "texture_samples" "Number of samples.",
        SamplesIdentical = 12 "samples_identical" "Whether all samples are the same.",
        TexPrefetch = 13 "tex_prefetch" "Lookup hoisted before dispatch.",
        SamplePos = 14 "sample_pos" "Position of a sample in the pixel.",
    }
}

impl TexOp {
    /// Whether it queries sizes, levels or samples, without reading texels.
    pub const fn is_query(self) -> bool {
        matches!(self, TexOp::Txs | TexOp::Lod | TexOp::QueryLevels | TexOp::TextureSamples | TexOp::SamplePos)
    }

    /// Whether a sampler is needed.
    pub const fn needs_sampler(self) -> bool {
        !matches!(
            self,
            TexOp::Txf
                | TexOp::TxfMs
                | TexOp::Txs
                | TexOp::QueryLevels
                | TexOp::TextureSamples
                | TexOp::SamplesIdentical
                | TexOp::SamplePos
        )
    }
}

named_enum! {
    /// Kinds of texture sources.
    TexSrcKind {
        Coord = 0 "coord" "Coordinates, then the array layer.",
        Projector = 1 "projector" "Divisor of the coordinates.",
        Comparator = 2 "comparator" "Reference of a comparison.",
        Offset = 3 "offset" "Offset in texels.",
        Bias = 4 "bias" "Added to the level.",
        Lod = 5 "lod" "Level.",
        MinLod = 6 "min_lod" "Smallest level.",
        MsIndex = 7 "ms_index" "Sample.",
        Ddx = 8 "ddx" "Gradient along x.",
        Ddy = 9 "ddy" "Gradient along y.",
        TextureDeref = 10 "texture_deref" "Deref of the texture.",
        SamplerDeref = 11 "sampler_deref" "Deref of the sampler.",
        TextureOffset = 12 "texture_offset" "Added to the texture unit.",
        SamplerOffset = 13 "sampler_offset" "Added to the sampler unit.",
        TextureHandle = 14 "texture_handle" "Bindless handle of the texture.",
        SamplerHandle = 15 "sampler_handle" "Bindless handle of the sampler.",
        SamplerDerefIntrinsic = 16 "sampler_deref_intrinsic" "Result of `deref_texture_src` for the sampler.",
        TextureDerefIntrinsic = 17 "texture_deref_intrinsic" "Result of `deref_texture_src` for the texture.",
        Plane = 18 "plane" "Plane of a planar format.",
        Backend1 = 19 "backend1" "Opaque to the core.",
        Backend2 = 20 "backend2" "Opaque to the core.",
    }
}

/// Texel offsets of a gather without explicit offsets.
pub const DEFAULT_TG4_OFFSETS: [[i8; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];

/// Payload of a texture instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexData {
    /// Operation.
    pub op: TexOp,
    /// Dimensionality.
    pub dim: SamplerDim,
    /// Type of the result.
    pub dest_type: AluType,
    /// Array texture.
    pub is_array: bool,
    /// Compares.
    pub is_shadow: bool,
    /// A comparison has one result component instead of four.
    pub is_new_style_shadow: bool,
    /// The result has one more component: residency.
    pub is_sparse: bool,
    /// Gather with implicit level.
    pub is_gather_implicit_lod: bool,
    /// Cube lowered to an array.
    pub array_is_lowered_cube: bool,
    /// The texture index may diverge.
    pub texture_non_uniform: bool,
    /// The sampler index may diverge.
    pub sampler_non_uniform: bool,
    /// Number of coordinate components, including the layer.
    pub coord_components: u8,
    /// Gathered component.
    pub component: u8,
    /// Texel offsets of the four gathered texels.
    pub tg4_offsets: [[i8; 2]; 4],
    /// Texture unit, if no source gives it.
    pub texture_index: u32,
    /// Sampler unit, if no source gives it.
    pub sampler_index: u32,
    /// Opaque to the core.
    pub backend_flags: u32,
}

impl TexData {
    /// A texture instruction with default values in all other fields.
    pub fn new(op: TexOp, dim: SamplerDim, dest_type: AluType) -> TexData {
        TexData {
            op,
            dim,
            dest_type,
            is_array: false,
            is_shadow: false,
            is_new_style_shadow: false,
            is_sparse: false,
            is_gather_implicit_lod: false,
            array_is_lowered_cube: false,
            texture_non_uniform: false,
            sampler_non_uniform: false,
            coord_components: 0,
            component: 0,
            tg4_offsets: DEFAULT_TG4_OFFSETS,
            texture_index: 0,
            sampler_index: 0,
            backend_flags: 0,
        }
    }

    /// Number of result components, including residency.
    pub fn dest_components(&self) -> u8 {
        let size = match self.op {
            TexOp::Txs => {
                let size = match self.dim {
                    SamplerDim::Dim1D | SamplerDim::Buf => 1,
                    SamplerDim::Dim3D => 3,
                    _ => 2,
                };
                size + u8::from(self.is_array)
            }
            TexOp::Lod | TexOp::SamplePos => 2,
            TexOp::QueryLevels | TexOp::TextureSamples | TexOp::SamplesIdentical => 1,
            TexOp::Tg4 => 4,
            TexOp::Tex
            | TexOp::Txb
            | TexOp::Txl
            | TexOp::Txd
            | TexOp::Txf
            | TexOp::TxfMs
            | TexOp::TxfMsFb
            | TexOp::TexPrefetch => {
                if self.is_shadow && self.is_new_style_shadow {
                    1
                } else {
                    4
                }
            }
        };
        size + u8::from(self.is_sparse)
    }
}

/// An entry of a parallel copy: `dest = source`, executed for all entries at once. A register operand is represented by
/// the register's handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub struct CopyEntry {
    /// The defined value; none if a register is written.
    pub dest: PackedOption<Def>,
    /// Number of the source that holds the handle of the written register, if there is no `dest`.
    pub dest_register: u32,
    /// Number of the source that is copied.
    pub source: u32,
    /// The source is the handle of a register: copy its content.
    pub source_is_register: bool,
    /// The destination value differs between invocations.
    pub dest_divergent: bool,
}

/// Kind and payload of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InstData {
    /// An arithmetic operation.
    Alu {
        /// Opcode.
        op: AluOp,
        /// Flags.
        flags: AluFlags,
    },
    /// A pointer.
    Deref {
        /// Kind.
        kind: DerefKind,
        /// Modes of the memory it points to.
        modes: VariableModes,
        /// Type of the value it points to.
        ty: Type,
    },
    /// A call. Sources: the callee if `indirect`, then the parameters.
    Call {
        /// The function.
        callee: Function,
        /// Called through a pointer, which is source 0.
        indirect: bool,
    },
    /// A texture operation; see [`Body::tex`].
    Tex(Tex),
    /// An intrinsic; see [`Body::index`] for its constant indices.
    Intrinsic {
        /// Opcode.
        op: IntrinsicOp,
        /// Number of components of vectorised intrinsics; otherwise 0.
        num_components: u8,
        /// Constant indices; see [`Body::inst_indices`].
        indices: Indices,
    },
    /// A constant; see [`Body::constant`].
    LoadConst {
        /// Index in the pool of constants.
        start: u32,
    },
    /// A jump.
    Jump(JumpKind),
    /// An undefined value.
    Undef,
    /// A selection by predecessor; see [`Body::phi_sources`].
    Phi,
    /// Copies that execute at once; only used during out-of-SSA.
    ParallelCopy(Copies),
}

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
}
