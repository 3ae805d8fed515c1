//! Instructions: creation, placement, moving, removal, queries.

mod definitions;
mod placement;

use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::PackedOption;
use prefetch_index::prefetch_index;

use super::{
    AluFlags, Body, CopyEntry, DefNode, DerefKind, Divergence, InstData, InstNode, JumpKind, RareInst, Swizzle,
    TexData, TexSrcKind,
};
use crate::alu::AluOp;
use crate::entities::{Block, Copies, Def, Inst, Tex, Use, User};
use crate::intrinsics::IntrinsicOp;

/// Prefetch distance, in instructions, of walks over a body that exceeds the caches: far enough to hide the memory
/// latency.
const AHEAD: usize = 16;

/// Components and bit size of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// 1, 2, 3, 4, 5, 8 or 16.
    pub num_components: u8,
    /// 1, 8, 16, 32 or 64.
    pub bit_size: u8,
}

impl Shape {
    /// `num_components` values of `bit_size` bits.
    pub const fn new(num_components: u8, bit_size: u8) -> Shape {
        Shape { num_components, bit_size }
    }
}

/// A source of an instruction to be created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceSpec {
    /// The value that is read.
    pub def: Def,
    /// Swizzle, phi predecessor or texture source kind, as 64 bits.
    pub(crate) payload: u64,
}

impl SourceSpec {
    /// A plain source (of an intrinsic, deref, call, jump).
    pub const fn plain(def: Def) -> SourceSpec {
        SourceSpec { def, payload: 0 }
    }

    /// An ALU source.
    pub const fn alu(def: Def, swizzle: Swizzle) -> SourceSpec {
        SourceSpec { def, payload: swizzle.0 }
    }

    /// A phi source.
    pub fn phi(predecessor: Block, def: Def) -> SourceSpec {
        SourceSpec { def, payload: u64::from(predecessor.as_u32()) }
    }

    /// A texture source.
    pub const fn tex(kind: TexSrcKind, def: Def) -> SourceSpec {
        SourceSpec { def, payload: kind as u64 }
    }
}

impl Body {
    #[inline]
    fn note_kind(&mut self, data: &InstData) {
        let kind = match data {
            InstData::Undef => RareInst::Undef,
            InstData::Intrinsic { op: IntrinsicOp::CopyDeref, .. } => RareInst::Copy,
            InstData::Intrinsic { op: IntrinsicOp::DeclReg, .. } => RareInst::Register,
            InstData::Deref { kind: DerefKind::Array, .. } => RareInst::ArrayDeref,
            _ => return,
        };
        self.may_have |= kind as u8;
    }

    /// Kind and payload of an instruction.
    #[inline]
    pub fn inst(&self, inst: Inst) -> &InstData {
        #[cfg(test)]
        crate::work::step();
        &self.insts[inst].data
    }

    /// Replaces the kind and payload of an instruction; its sources and value stay the same and must fit.
    pub fn set_inst(&mut self, inst: Inst, data: InstData) {
        self.note_kind(&data);
        self.insts[inst].data = data;
        self.changed_insts();
    }

    /// The value that an instruction defines. (A parallel copy defines several: [`Body::copies`].)
    #[inline]
    pub fn inst_def(&self, inst: Inst) -> Option<Def> {
        self.insts[inst].def.expand()
    }

    /// The block that contains an instruction; `None` if it is not placed.
    #[inline]
    pub fn inst_block(&self, inst: Inst) -> Option<Block> {
        #[cfg(test)]
        crate::work::step();
        self.insts[inst].block.expand()
    }

    /// The previous instruction in the same block.
    #[inline]
    pub fn prev_inst(&self, inst: Inst) -> Option<Inst> {
        prefetch_index(self.insts.as_values_slice(), inst.index().wrapping_sub(AHEAD));
        self.insts[inst].prev.expand()
    }

    /// The next instruction in the same block.
    #[inline]
    pub fn next_inst(&self, inst: Inst) -> Option<Inst> {
        #[cfg(test)]
        crate::work::step();
        prefetch_index(self.insts.as_values_slice(), inst.index() + AHEAD);
        self.insts[inst].next.expand()
    }

    /// Number of sources.
    #[inline]
    pub fn num_sources(&self, inst: Inst) -> usize {
        self.insts[inst].num_sources as usize
    }

    /// The sources of an instruction.
    #[inline]
    pub fn sources(&self, inst: Inst) -> impl DoubleEndedIterator<Item = Use> + ExactSizeIterator + use<> {
        let node = &self.insts[inst];
        let first = node.first_source;
        (first..first + node.num_sources).map(Use::from_u32)
    }

    /// Source `number` of an instruction, which must exist.
    #[inline]
    pub fn source(&self, inst: Inst, number: usize) -> Use {
        debug_assert!(number < self.num_sources(inst));
        Use::from_u32(self.insts[inst].first_source + number as u32)
    }

    /// The value that source `number` reads. The source must exist.
    #[inline]
    pub fn src(&self, inst: Inst, number: usize) -> Def {
        self.src_def(self.source(inst, number))
    }

    /// The instruction that defines the value of a source.
    #[inline]
    pub fn src_inst(&self, source: Use) -> Inst {
        self.def_inst(self.src_def(source))
    }

    /// Opcode and flags of an ALU instruction.
    #[inline]
    pub fn alu(&self, inst: Inst) -> Option<(AluOp, AluFlags)> {
        match self.insts[inst].data {
            InstData::Alu { op, flags } => Some((op, flags)),
            _ => None,
        }
    }

    /// Opcode of an ALU instruction.
    #[inline]
    pub fn alu_op(&self, inst: Inst) -> Option<AluOp> {
        self.alu(inst).map(|(op, _)| op)
    }

    /// Number of components that an ALU source reads, which is the number of used entries of its swizzle.
    pub fn alu_src_components(&self, inst: Inst, number: usize) -> usize {
        let (Some(op), Some(def)) = (self.alu_op(inst), self.inst_def(inst)) else { return 0 };
        usize::from(op.input_components(number, self.num_components(def)))
    }

    /// The channels of source `number` (components before its swizzle) that an ALU instruction reads to compute the
    /// components of `mask`: the same ones for sources that are read component by component, all for sources of a fixed
    /// width.
    pub fn alu_src_channels(&self, inst: Inst, number: usize, mask: u32) -> u32 {
        match self.alu_op(inst).and_then(|op| op.info().input_sizes.get(number).copied()) {
            Some(0) => mask,
            Some(size) => (1 << size) - 1,
            None => 0,
        }
    }

    /// The mask of all components of a value.
    #[inline]
    pub fn full_mask(&self, def: Def) -> u32 {
        (1 << self.num_components(def)) - 1
    }

    /// The bit size of the unsized types in an ALU instruction: that of the first such source or else of the result; 32
    /// if all types are sized.
    pub fn alu_bit_size(&self, inst: Inst) -> u8 {
        let Some(op) = self.alu_op(inst) else { return 32 };
        let info = op.info();
        match info.input_types.iter().position(|t| t.is_unsized()) {
            Some(number) => self.bit_size(self.src(inst, number)),
            None if info.output_type.is_unsized() => self.inst_def(inst).map_or(32, |def| self.bit_size(def)),
            None => 32,
        }
    }

    /// Opcode of an intrinsic.
    #[inline]
    pub fn intrinsic(&self, inst: Inst) -> Option<IntrinsicOp> {
        match self.insts[inst].data {
            InstData::Intrinsic { op, .. } => Some(op),
            _ => None,
        }
    }

    /// Payload of a texture instruction.
    pub fn tex(&self, inst: Inst) -> Option<&TexData> {
        match self.insts[inst].data {
            InstData::Tex(id) => Some(&self.texs[id]),
            _ => None,
        }
    }

    /// Like [`tex`](Self::tex), but mutable.
    pub fn tex_mut(&mut self, inst: Inst) -> Option<&mut TexData> {
        self.changed_insts();
        match self.insts[inst].data {
            InstData::Tex(id) => Some(&mut self.texs[id]),
            _ => None,
        }
    }

    /// The source of a texture instruction with this kind.
    pub fn tex_src(&self, inst: Inst, kind: TexSrcKind) -> Option<Use> {
        self.sources(inst).find(|&s| self.tex_src_kind(s) == kind)
    }

    /// Components of a constant as bit patterns, zero-extended.
    pub fn constant(&self, inst: Inst) -> Option<&[u64]> {
        let InstData::LoadConst { start } = self.insts[inst].data else { return None };
        let count = usize::from(self.num_components(self.insts[inst].def.expand()?));
        self.constants.get(start as usize..start as usize + count)
    }

    /// Components of a value if it is a constant.
    #[inline]
    pub fn def_constant(&self, def: Def) -> Option<&[u64]> {
        self.constant(self.try_def_inst(def)?)
    }

    /// The value of a component if it is constant.
    pub fn constant_component(&self, def: Def, component: usize) -> Option<u64> {
        self.def_constant(def)?.get(component).copied()
    }

    /// The kind of jump, if an instruction is a jump.
    pub fn jump(&self, inst: Inst) -> Option<JumpKind> {
        match self.insts[inst].data {
            InstData::Jump(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether an instruction is a phi.
    #[inline]
    pub fn is_phi(&self, inst: Inst) -> bool {
        matches!(self.insts[inst].data, InstData::Phi)
    }

    /// Entries of a parallel copy.
    pub fn copies(&self, inst: Inst) -> Option<&[CopyEntry]> {
        match self.insts[inst].data {
            InstData::ParallelCopy(id) => Some(&self.copies[id]),
            _ => None,
        }
    }

    /// Sources of a phi, as (predecessor, source).
    pub fn phi_sources(&self, inst: Inst) -> impl Iterator<Item = (Block, Use)> + '_ {
        self.sources(inst).map(|s| (self.phi_predecessor(s), s))
    }

    /// The phi source for a predecessor. Searches from both ends, so that finding and removing the sources of many
    /// predecessors in order, forward or backward, takes linear time.
    pub fn phi_source_for(&self, inst: Inst, predecessor: Block) -> Option<Use> {
        let mut sources = self.sources(inst);
        while let Some(source) = sources.next() {
            if self.phi_predecessor(source) == predecessor {
                return Some(source);
            }
            let source = sources.next_back()?;
            if self.phi_predecessor(source) == predecessor {
                return Some(source);
            }
        }
        None
    }

    /// Scratch bits of passes.
    pub fn pass_flags(&self, inst: Inst) -> u8 {
        self.insts[inst].pass_flags
    }

    /// Sets the scratch bits of passes.
    pub fn set_pass_flags(&mut self, inst: Inst, flags: u8) {
        self.insts[inst].pass_flags = flags;
    }

    /// Creates an instruction, not in any block yet. With a shape, it defines a value with the next free number.
    #[inline]
    pub fn create_inst(&mut self, data: InstData, sources: &[SourceSpec], shape: Option<Shape>) -> Inst {
        let number = self.insts.next_key();
        let def = shape.map(|shape| {
            self.defs.push(DefNode {
                inst: number.into(),
                first_use: PackedOption::default(),
                num_components: shape.num_components,
                bit_size: shape.bit_size,
                divergence: Divergence::Unknown,
                loop_invariant: false,
            })
        });
        self.create_inst_for(data, sources, def)
    }

    /// Creates an instruction that defines the value with a given number, which must be reserved
    /// ([`Body::reserve_defs`]) and free.
    pub fn create_inst_with_def(
        &mut self,
        data: InstData,
        sources: &[SourceSpec],
        shape: Option<Shape>,
        def: Option<Def>,
    ) -> Inst {
        let number = self.insts.next_key();
        if let (Some(def), Some(shape)) = (def, shape) {
            let node = &mut self.defs[def];
            node.inst = number.into();
            node.num_components = shape.num_components;
            node.bit_size = shape.bit_size;
        }
        self.create_inst_for(data, sources, def)
    }

    /// Creates the instruction for a value that already refers to it.
    #[inline(always)]
    fn create_inst_for(&mut self, data: InstData, sources: &[SourceSpec], def: Option<Def>) -> Inst {
        self.note_kind(&data);
        let inst = self.insts.push(InstNode {
            data,
            block: PackedOption::default(),
            prev: PackedOption::default(),
            next: PackedOption::default(),
            def: def.into(),
            first_source: self.uses.len() as u32,
            num_sources: sources.len() as u32,
            pass_flags: 0,
            origin: 0,
        });
        for source in sources {
            self.push_use(User::Inst(inst), source.def, source.payload);
        }
        self.changed_insts();
        inst
    }

    /// Adds constants to the pool, for use in [`InstData::LoadConst`].
    pub fn push_constants(&mut self, values: &[u64]) -> u32 {
        let start = self.constants.len() as u32;
        self.constants.extend_from_slice(values);
        start
    }

    /// Adds the payload of a texture instruction to the arena, for use in [`InstData::Tex`].
    pub fn push_tex(&mut self, data: TexData) -> Tex {
        self.texs.push(data)
    }

    /// Creates an empty parallel copy, not in any block yet.
    pub fn create_parallel_copy(&mut self) -> Inst {
        let id = self.copies.push(Vec::new());
        self.create_inst(InstData::ParallelCopy(id), &[], None)
    }

    fn copies_id(&self, inst: Inst) -> Option<Copies> {
        match self.insts[inst].data {
            InstData::ParallelCopy(id) => Some(id),
            _ => None,
        }
    }

    /// Adds `new value = source` to a parallel copy and returns the new value, which has the shape of `source`.
    pub fn add_copy(&mut self, inst: Inst, source: Def) -> Def {
        let dest = Def::from_u32(self.defs.len() as u32);
        self.reserve_defs(dest.as_u32() as usize + 1);
        self.add_copy_to(inst, source, dest, self.shape(source));
        dest
    }

    /// Adds `dest = source` to a parallel copy, where `dest` is a reserved number (given by parsed text).
    pub fn add_copy_to(&mut self, inst: Inst, source: Def, dest: Def, shape: Shape) {
        let Some(id) = self.copies_id(inst) else { return };
        let node = &mut self.defs[dest];
        node.inst = inst.into();
        node.num_components = shape.num_components;
        node.bit_size = shape.bit_size;
        let number = self.push_source(inst, SourceSpec::plain(source));
        self.copies[id].push(CopyEntry {
            dest: dest.into(),
            dest_register: 0,
            source: number,
            source_is_register: false,
            dest_divergent: false,
        });
    }

    /// Adds `register = source` to a parallel copy; the register is given by its handle.
    pub fn add_copy_to_register(&mut self, inst: Inst, source: Def, handle: Def) {
        let Some(id) = self.copies_id(inst) else { return };
        let source = self.push_source(inst, SourceSpec::plain(source));
        let dest_register = self.push_source(inst, SourceSpec::plain(handle));
        self.copies[id].push(CopyEntry {
            dest: PackedOption::default(),
            dest_register,
            source,
            source_is_register: false,
            dest_divergent: false,
        });
    }

    /// Replaces the destination of an entry of a parallel copy by a register, given by its handle. The former value
    /// loses its definition.
    pub fn set_copy_dest_register(&mut self, inst: Inst, entry: usize, handle: Def) {
        let Some(id) = self.copies_id(inst) else { return };
        let number = self.push_source(inst, SourceSpec::plain(handle));
        let entry = &mut self.copies[id][entry];
        if let Some(old) = entry.dest.take() {
            self.defs[old].inst = PackedOption::default();
        }
        entry.dest_register = number;
    }

    /// Replaces the source of an entry of a parallel copy by a register, given by its handle.
    pub fn set_copy_source_register(&mut self, inst: Inst, entry: usize, handle: Def) {
        let Some(id) = self.copies_id(inst) else { return };
        self.copies[id][entry].source_is_register = true;
        let source = self.source(inst, self.copies[id][entry].source as usize);
        self.set_src(source, handle);
    }

    /// The number, from 0, of the source instruction that an instruction was created for, if known. Instructions
    /// created by a pass inherit the origin of the instruction next to them.
    pub fn origin(&self, inst: Inst) -> Option<u32> {
        u32::from(self.insts[inst].origin).checked_sub(1)
    }

    /// Sets the origin of all instructions placed from now on; with `None`, they inherit it from their neighbour.
    /// Numbers that exceed 16 bits count as unknown.
    pub fn set_origin(&mut self, number: Option<u32>) {
        self.origin = number.and_then(|number| u16::try_from(number.checked_add(1)?).ok()).unwrap_or(0);
    }

    /// Sets the origin of an instruction. Numbers beyond 16 bits count as unknown.
    pub fn set_inst_origin(&mut self, inst: Inst, number: u32) {
        self.insts[inst].origin = u16::try_from(number.saturating_add(1)).unwrap_or(0);
    }
}
