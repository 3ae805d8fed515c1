//! Instructions: making, placing, moving, removing, asking.

use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use prefetch_index::prefetch_index;

use super::{
    AluFlags, Body, CopyEntry, DefNode, Divergence, InstData, InstNode, JumpKind, Swizzle, TexData, TexSrcKind,
};
use crate::alu::AluOp;
use crate::cursor::Cursor;
use crate::entities::{Block, Copies, Def, Inst, Tex, Use, User};
use crate::intrinsics::IntrinsicOp;

/// Distance at which walks along the instructions prefetch: far enough for memory to answer, where a body is
/// larger than the caches.
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

/// A source of an instruction to be made.
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
    // ---- values

    /// The instruction that makes a value.
    ///
    /// Every value that can be reached from code has one; numbers that a parsed text left out have none.
    #[inline]
    pub fn def_inst(&self, def: Def) -> Inst {
        self.defs[def].inst.expand().unwrap_or_else(ReservedValue::reserved_value)
    }

    /// Whether a value of this number was ever made or reserved.
    pub fn has_def(&self, def: Def) -> bool {
        self.defs.is_valid(def)
    }

    /// The instruction that makes a value; none for a number that nothing makes, of whatever origin.
    pub fn try_def_inst(&self, def: Def) -> Option<Inst> {
        self.defs.get(def)?.inst.expand()
    }

    /// Gives a reserved number the shape that its value will have, so that code can read it before it is made.
    pub fn set_reserved_shape(&mut self, def: Def, shape: Shape) {
        if let Some(node) = self.defs.get_mut(def) {
            node.num_components = shape.num_components;
            node.bit_size = shape.bit_size;
        }
    }

    /// Whether the value is made by an instruction that is in a block.
    pub fn is_def_live(&self, def: Def) -> bool {
        self.defs.get(def).and_then(|d| d.inst.expand()).is_some_and(|i| self.insts[i].block.is_some())
    }

    /// Components of a value.
    #[inline]
    pub fn num_components(&self, def: Def) -> u8 {
        self.defs[def].num_components
    }

    /// Bits of a component.
    #[inline]
    pub fn bit_size(&self, def: Def) -> u8 {
        self.defs[def].bit_size
    }

    /// Whether a value is a boolean of 1 bit. Conditions may have more, of which passes that compute with them know
    /// nothing: `true` is a matter of the lowering then.
    #[inline]
    pub fn is_boolean(&self, def: Def) -> bool {
        self.bit_size(def) == 1
    }

    /// Components and bits.
    #[inline]
    pub fn shape(&self, def: Def) -> Shape {
        let node = &self.defs[def];
        Shape { num_components: node.num_components, bit_size: node.bit_size }
    }

    /// Changes the shape of a value; what reads it must fit afterwards.
    pub fn set_shape(&mut self, def: Def, shape: Shape) {
        let node = &mut self.defs[def];
        node.num_components = shape.num_components;
        node.bit_size = shape.bit_size;
        if let Some(inst) = node.inst.expand() {
            self.touch(inst);
        }
        self.changed_insts();
    }

    /// Whether divergence analysis found the value to differ between invocations. False for what it has not seen: who
    /// has to be sure that a value is the same in all of them asks [`Body::is_known_uniform`].
    pub fn is_divergent(&self, def: Def) -> bool {
        self.defs[def].divergence == Divergence::Divergent
    }

    /// Whether divergence analysis saw the value and found it to be the same in all invocations.
    pub fn is_known_uniform(&self, def: Def) -> bool {
        self.defs[def].divergence == Divergence::Uniform
    }

    /// Records whether the value differs between invocations.
    pub fn set_divergent(&mut self, def: Def, divergent: bool) {
        self.defs[def].divergence = if divergent { Divergence::Divergent } else { Divergence::Uniform };
    }

    /// Whether analysis found the value to be the same in every iteration of its loop.
    pub fn is_loop_invariant(&self, def: Def) -> bool {
        self.defs[def].loop_invariant
    }

    /// Records whether the value is the same in every iteration of its loop.
    pub fn set_loop_invariant(&mut self, def: Def, loop_invariant: bool) {
        self.defs[def].loop_invariant = loop_invariant;
    }

    /// Makes sure that numbers below `count` exist, so that new values get greater ones (a parsed print keeps its
    /// numbering this way).
    pub fn reserve_defs(&mut self, count: usize) {
        while self.defs.len() < count {
            self.defs.push(DefNode {
                inst: PackedOption::default(),
                first_use: PackedOption::default(),
                num_components: 0,
                bit_size: 0,
                divergence: Divergence::Unknown,
                loop_invariant: false,
            });
        }
    }

    // ---- what changed

    #[inline]
    fn note_kind(&mut self, data: &InstData) {
        match data {
            InstData::Undef => self.made_undef = true,
            InstData::Intrinsic { op: IntrinsicOp::CopyDeref, .. } => self.made_copy = true,
            InstData::Intrinsic { op: IntrinsicOp::DeclReg, .. } => self.made_register = true,
            _ => {}
        }
    }

    // ---- asking

    /// Kind and payload of an instruction.
    #[inline]
    pub fn inst(&self, inst: Inst) -> &InstData {
        #[cfg(test)]
        crate::work::step();
        &self.insts[inst].data
    }

    /// Replaces what an instruction is, its sources and value staying as they are. The new kind must fit them.
    pub fn set_inst(&mut self, inst: Inst, data: InstData) {
        self.note_kind(&data);
        self.insts[inst].data = data;
        self.touch(inst);
        self.changed_insts();
    }

    /// The value that an instruction makes. (A parallel copy makes several: [`Body::copies`].)
    #[inline]
    pub fn inst_def(&self, inst: Inst) -> Option<Def> {
        self.insts[inst].def.expand()
    }

    /// The block that an instruction is in; none if it is not placed.
    #[inline]
    pub fn inst_block(&self, inst: Inst) -> Option<Block> {
        #[cfg(test)]
        crate::work::step();
        self.insts[inst].block.expand()
    }

    /// The instruction before, in the same block.
    #[inline]
    pub fn prev_inst(&self, inst: Inst) -> Option<Inst> {
        prefetch_index(self.insts.as_values_slice(), inst.index().wrapping_sub(AHEAD));
        self.insts[inst].prev.expand()
    }

    /// The instruction after, in the same block.
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

    /// Source `number` of an instruction. It must exist.
    #[inline]
    pub fn source(&self, inst: Inst, number: usize) -> Use {
        debug_assert!(number < self.num_sources(inst));
        Use::from_u32(self.insts[inst].first_source + number as u32)
    }

    /// The value that source `number` reads. It must exist.
    #[inline]
    pub fn src(&self, inst: Inst, number: usize) -> Def {
        self.src_def(self.source(inst, number))
    }

    /// The producer of a source: the instruction that makes the value it reads.
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

    /// Components that an ALU source reads: how many entries of its swizzle count.
    pub fn alu_src_components(&self, inst: Inst, number: usize) -> usize {
        let (Some(op), Some(def)) = (self.alu_op(inst), self.inst_def(inst)) else { return 0 };
        usize::from(op.input_components(number, self.num_components(def)))
    }

    /// The bit size of the unsized types in an ALU instruction: that of the first such source, else of the
    /// result; 32 if none is open.
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

    /// Payload of a texture instruction, to be changed.
    pub fn tex_mut(&mut self, inst: Inst) -> Option<&mut TexData> {
        self.changed_insts();
        match self.insts[inst].data {
            InstData::Tex(id) => Some(&mut self.texs[id]),
            _ => None,
        }
    }

    /// The source of a texture instruction that has this kind.
    pub fn tex_src(&self, inst: Inst, kind: TexSrcKind) -> Option<Use> {
        self.sources(inst).find(|&s| self.tex_src_kind(s) == kind)
    }

    /// Components of a constant: the bits of each, zero beyond the bit size.
    pub fn constant(&self, inst: Inst) -> Option<&[u64]> {
        let InstData::LoadConst { start } = self.insts[inst].data else { return None };
        let count = usize::from(self.num_components(self.insts[inst].def.expand()?));
        self.constants.get(start as usize..start as usize + count)
    }

    /// Components of a value, if it is a constant.
    #[inline]
    pub fn def_constant(&self, def: Def) -> Option<&[u64]> {
        self.constant(self.try_def_inst(def)?)
    }

    /// The constant that component `component` of a value is.
    pub fn constant_component(&self, def: Def, component: usize) -> Option<u64> {
        self.def_constant(def)?.get(component).copied()
    }

    /// The jump that an instruction is.
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

    /// The phi source of a predecessor. It is looked for from both ends: who goes through many predecessors in order,
    /// forward or backward, and removes their sources, finds each at once.
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

    // ---- making

    /// Makes an instruction that is in no block yet. With a shape it makes a value, numbered next.
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

    /// Makes an instruction whose value has a given number; the number must be reserved ([`Body::reserve_defs`]) and
    /// free.
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

    /// The instruction for a value that knows of it already.
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
            touched: false,
        });
        self.touch(inst);
        for source in sources {
            self.push_use(User::Inst(inst), source.def, source.payload);
        }
        self.changed_insts();
        inst
    }

    /// Puts constants into the pool; the result goes into [`InstData::LoadConst`].
    pub fn push_constants(&mut self, values: &[u64]) -> u32 {
        let start = self.constants.len() as u32;
        self.constants.extend_from_slice(values);
        start
    }

    /// Puts the payload of a texture instruction into the arena; the result goes into [`InstData::Tex`].
    pub fn push_tex(&mut self, data: TexData) -> Tex {
        self.texs.push(data)
    }

    /// An empty parallel copy, in no block yet.
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

    /// Adds `new value = source` to a parallel copy and returns the new value, of the shape of `source`.
    pub fn add_copy(&mut self, inst: Inst, source: Def) -> Def {
        let dest = Def::from_u32(self.defs.len() as u32);
        self.reserve_defs(dest.as_u32() as usize + 1);
        self.add_copy_to(inst, source, dest, self.shape(source));
        dest
    }

    /// Adds `dest = source` to a parallel copy, for a value with a reserved number (which a parsed text gives).
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

    /// Adds `register = source` to a parallel copy; the register is named by its handle.
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

    /// Turns the destination of an entry of a parallel copy into a register, named by its handle. Its former value has
    /// no producer any more.
    pub fn set_copy_dest_register(&mut self, inst: Inst, entry: usize, handle: Def) {
        let Some(id) = self.copies_id(inst) else { return };
        let number = self.push_source(inst, SourceSpec::plain(handle));
        let entry = &mut self.copies[id][entry];
        if let Some(old) = entry.dest.take() {
            self.defs[old].inst = PackedOption::default();
        }
        entry.dest_register = number;
    }

    /// Turns the source of an entry of a parallel copy into a register, named by its handle.
    pub fn set_copy_source_register(&mut self, inst: Inst, entry: usize, handle: Def) {
        let Some(id) = self.copies_id(inst) else { return };
        self.copies[id][entry].source_is_register = true;
        let source = self.source(inst, self.copies[id][entry].source as usize);
        self.set_src(source, handle);
    }

    // ---- origins

    /// The number of the instruction of the source, from 0, that an instruction was made for, as far as it is known.
    /// What a pass makes has the origin of the instruction that it is placed next to.
    pub fn origin(&self, inst: Inst) -> Option<u32> {
        u32::from(self.insts[inst].origin).checked_sub(1)
    }

    /// States the origin of all that is placed from here on; with `None` it is that of the neighbour again. Numbers
    /// beyond what 16 bits hold count as unknown.
    pub fn set_origin(&mut self, number: Option<u32>) {
        self.origin = number.and_then(|number| u16::try_from(number.checked_add(1)?).ok()).unwrap_or(0);
    }

    /// Sets the origin of an instruction. Numbers beyond 16 bits count as unknown.
    pub fn set_inst_origin(&mut self, inst: Inst, number: u32) {
        self.insts[inst].origin = u16::try_from(number.saturating_add(1)).unwrap_or(0);
    }

    // ---- placing

    /// Places an instruction that is in no block. A jump must be placed with [`Body::insert_jump`].
    #[inline]
    pub fn insert_inst(&mut self, cursor: Cursor, inst: Inst) {
        debug_assert!(self.insts[inst].block.is_none() && self.jump(inst).is_none());
        let origin = match cursor {
            _ if self.origin != 0 => self.origin,
            Cursor::Before(other) | Cursor::After(other) => self.insts[other].origin,
            Cursor::BlockStart(_) | Cursor::BlockEnd(_) => 0,
        };
        self.link_inst(cursor, inst);
        let node = &mut self.insts[inst];
        if node.origin == 0 {
            node.origin = origin;
        }
        self.changed_insts();
    }

    #[inline(always)]
    pub(super) fn link_inst(&mut self, cursor: Cursor, inst: Inst) {
        let (block, prev, next) = match cursor {
            Cursor::BlockStart(block) => (block, None, self.blocks[block].first_inst.expand()),
            Cursor::BlockEnd(block) => (block, self.blocks[block].last_inst.expand(), None),
            Cursor::Before(other) => (self.placed_block(other), self.insts[other].prev.expand(), Some(other)),
            Cursor::After(other) => (self.placed_block(other), Some(other), self.insts[other].next.expand()),
        };
        match prev {
            Some(prev) => self.insts[prev].next = inst.into(),
            None => self.blocks[block].first_inst = inst.into(),
        }
        match next {
            Some(next) => self.insts[next].prev = inst.into(),
            None => self.blocks[block].last_inst = inst.into(),
        }
        let node = &mut self.insts[inst];
        node.block = block.into();
        node.prev = prev.into();
        node.next = next.into();
    }

    fn placed_block(&self, inst: Inst) -> Block {
        self.insts[inst].block.expect("the cursor is at a placed instruction")
    }

    #[inline]
    pub(super) fn unlink_inst(&mut self, inst: Inst) {
        let InstNode { block, prev, next, .. } = self.insts[inst];
        let Some(block) = block.expand() else { return };
        match prev.expand() {
            Some(prev) => self.insts[prev].next = next,
            None => self.blocks[block].first_inst = next,
        }
        match next.expand() {
            Some(next) => self.insts[next].prev = prev,
            None => self.blocks[block].last_inst = prev,
        }
        let node = &mut self.insts[inst];
        node.block = PackedOption::default();
        node.prev = PackedOption::default();
        node.next = PackedOption::default();
    }

    /// Moves a placed instruction (no jump) elsewhere.
    pub fn move_inst(&mut self, cursor: Cursor, inst: Inst) {
        debug_assert!(self.jump(inst).is_none());
        debug_assert!(!matches!(cursor, Cursor::Before(other) | Cursor::After(other) if other == inst));
        self.unlink_inst(inst);
        self.link_inst(cursor, inst);
        self.touch(inst);
        self.changed_insts();
    }

    /// Removes an instruction: out of its block, its sources out of their lists. Its value must be unused. Removing a
    /// jump re-derives the edges.
    #[inline]
    pub fn remove_inst(&mut self, inst: Inst) {
        debug_assert!(self.insts[inst].def.expand().is_none_or(|d| self.is_unused(d)), "a removed value is still used");
        for source in self.sources(inst) {
            self.unlink_use(source);
        }
        let block = self.insts[inst].block.expand();
        let was_jump = self.jump(inst).is_some();
        self.unlink_inst(inst);
        self.changed_insts();
        if was_jump && let Some(block) = block {
            self.update_successors(block);
            self.changed_cfg();
        }
    }

    /// Removes an instruction whatever uses its value: the uses read an undefined value, made at the top of the body,
    /// instead.
    pub fn remove_inst_with_undef(&mut self, inst: Inst) {
        let mut values: Vec<Def> = self.inst_def(inst).into_iter().collect();
        values.extend(self.copies(inst).into_iter().flatten().filter_map(|e| e.dest.expand()));
        for def in values {
            if !self.is_unused(def) {
                let undef = self.create_inst(InstData::Undef, &[], Some(self.shape(def)));
                self.insert_inst(Cursor::BlockStart(self.start_block()), undef);
                if let Some(undef) = self.inst_def(undef) {
                    self.replace_all_uses(def, undef);
                }
            }
        }
        self.remove_inst(inst);
    }

    // ---- walking

    /// First instruction of a block.
    #[inline]
    pub fn first_inst(&self, block: Block) -> Option<Inst> {
        self.blocks[block].first_inst.expand()
    }

    /// Last instruction of a block.
    #[inline]
    pub fn last_inst(&self, block: Block) -> Option<Inst> {
        self.blocks[block].last_inst.expand()
    }

    /// The instructions of a block in order. The list must not change during the walk: see [`Body::insts_vec`].
    pub fn insts(&self, block: Block) -> impl Iterator<Item = Inst> + '_ {
        std::iter::successors(self.first_inst(block), |&i| self.next_inst(i))
    }

    /// Calls something for every instruction in program order, and returns whether it was true for one. What is
    /// called may remove the instruction at hand and make others before it; the next instruction must stay.
    pub fn visit_insts(&mut self, mut visit: impl FnMut(&mut Body, Inst) -> bool) -> bool {
        let mut progress = false;
        let mut next_block = Some(self.start_block());
        while let Some(block) = next_block {
            next_block = self.next_block(block);
            let mut next = self.first_inst(block);
            while let Some(inst) = next {
                next = self.next_inst(inst);
                progress |= visit(self, inst);
            }
        }
        progress
    }

    /// The instructions of a block as a snapshot.
    pub fn insts_vec(&self, block: Block) -> Vec<Inst> {
        let mut insts = Vec::with_capacity(32);
        insts.extend(self.insts(block));
        insts
    }

    /// The phis of a block.
    pub fn phis(&self, block: Block) -> impl Iterator<Item = Inst> + '_ {
        self.insts(block).take_while(|&i| self.is_phi(i))
    }

    /// The jump at the end of a block.
    pub fn block_jump(&self, block: Block) -> Option<(Inst, JumpKind)> {
        let last = self.last_inst(block)?;
        self.jump(last).map(|kind| (last, kind))
    }
}
