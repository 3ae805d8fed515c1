//! Copies parts of the control tree: a part is recorded as a template, from this body or another one, and pasted any
//! number of times.
//!
//! A template does not refer to its source body, which may change or be the body that it is pasted into. Recording and
//! pasting cost time proportional to the part, not to the body; a [`Remap`] that is reused for several templates is
//! allocated only once.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use super::{
    BlockNode, Body, CastLayout, CfList, CfNode, CfParent, CopyEntry, DerefKind, Divergence, IfControl, IfNode,
    InstData, JumpKind, LoopControl, LoopNode, MAX_INDICES, Shape, SourceSpec, TexData,
};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, User};

/// The new ids of the parts of a pasted template.
#[derive(Clone, Debug, Default)]
pub struct Remap {
    /// Original value -> clone. Values from outside the template (parameters, for example) must be entered before
    /// pasting a part of another body.
    pub defs: SecondaryMap<Def, PackedOption<Def>>,
    /// Original block -> clone.
    pub blocks: SecondaryMap<Block, PackedOption<Block>>,
}

impl Remap {
    /// The clone of a value, or the value itself if it was not cloned.
    pub fn def(&self, def: Def) -> Def {
        self.defs.get(def).and_then(|d| d.expand()).unwrap_or(def)
    }

    /// The clone of a block, or the block itself if it was not cloned.
    pub fn block(&self, block: Block) -> Block {
        self.blocks.get(block).and_then(|b| b.expand()).unwrap_or(block)
    }
}

/// A list of the control tree with all its content, recorded for pasting.
#[derive(Clone, Debug)]
pub struct ListTemplate {
    list: CfList,
    blocks: Vec<BlockTemplate>,
    insts: Vec<InstTemplate>,
    sources: Vec<SourceSpec>,
    constants: Vec<u64>,
    nodes: Vec<NodeTemplate>,
}

/// The position of a block or node: in the list itself, or in a list of the node with this number.
#[derive(Clone, Copy, Debug)]
enum Position {
    Top,
    Then(usize),
    Else(usize),
    Body(usize),
    Continue(usize),
}

#[derive(Clone, Debug)]
struct BlockTemplate {
    block: Block,
    position: Position,
    num_insts: usize,
}

#[derive(Clone, Debug)]
struct InstTemplate {
    data: InstData,
    def: Option<Def>,
    shape: Option<Shape>,
    divergence: Divergence,
    loop_invariant: bool,
    num_sources: usize,
    origin: u16,
    bulk: InstPayload,
}

/// The parts of an instruction in the side arenas.
#[derive(Clone, Debug)]
enum InstPayload {
    None,
    /// Number of components in the pool of the template.
    Constants(usize),
    Indices([i32; MAX_INDICES]),
    Cast(CastLayout),
    Tex(TexData),
    Copies(Vec<CopyEntry>, Vec<(Def, Shape)>),
}

#[derive(Clone, Copy, Debug)]
struct NodeTemplate {
    position: Position,
    before: Block,
    after: Block,
    kind: NodeKind,
}

#[derive(Clone, Copy, Debug)]
enum NodeKind {
    If { condition: Def, then_list: CfList, else_list: CfList, control: IfControl },
    Loop { body: CfList, continue_list: Option<CfList>, control: LoopControl, divergence: (bool, bool) },
}

impl ListTemplate {
    /// Number of instructions.
    pub fn num_insts(&self) -> usize {
        self.insts.len()
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The first block of the recorded list.
    pub fn first_block(&self) -> Block {
        self.list.first
    }

    /// Removes the entries of the template from a map.
    pub fn forget(&self, remap: &mut Remap) {
        for block in &self.blocks {
            remap.blocks[block.block] = PackedOption::default();
        }
        for inst in &self.insts {
            for def in inst.defs() {
                remap.defs[def] = PackedOption::default();
            }
        }
    }
}

impl InstTemplate {
    fn defs(&self) -> impl Iterator<Item = Def> + '_ {
        let copies = match &self.bulk {
            InstPayload::Copies(_, defs) => defs.as_slice(),
            _ => &[],
        };
        self.def.into_iter().chain(copies.iter().map(|&(def, _)| def))
    }
}

impl Body {
    /// Records a list, or the part of a list between two of its blocks.
    pub fn template(&self, list: CfList) -> ListTemplate {
        self.template_without(list, |_| false)
    }

    /// Like [`template`](Self::template), but without some instructions. (If the jump at the end of the list is left
    /// out, the clone continues with the code that follows it.)
    pub fn template_without(&self, list: CfList, leave_out: impl Fn(Inst) -> bool) -> ListTemplate {
        let mut template = ListTemplate {
            list,
            blocks: Vec::new(),
            insts: Vec::new(),
            sources: Vec::new(),
            constants: Vec::new(),
            nodes: Vec::new(),
        };
        let mut positions = self.take_down_nodes(list, &mut template.nodes);
        positions.sort_unstable_by_key(|&(block, _)| block);
        for block in self.blocks_in(list) {
            let before = template.insts.len();
            for inst in self.insts(block).filter(|&inst| !leave_out(inst)) {
                let taken = self.take_down_inst(inst, &mut template);
                template.insts.push(taken);
            }
            let num_insts = template.insts.len() - before;
            let position =
                positions.binary_search_by_key(&block, |&(b, _)| b).map_or(Position::Top, |at| positions[at].1);
            template.blocks.push(BlockTemplate { block, position, num_insts });
        }
        template
    }

    /// The nodes of a list, outer before inner, and the positions of all blocks.
    fn take_down_nodes(&self, list: CfList, nodes: &mut Vec<NodeTemplate>) -> Vec<(Block, Position)> {
        let mut positions = Vec::new();
        let mut pending: Vec<(CfList, Position)> = vec![(list, Position::Top)];
        while let Some((list, position)) = pending.pop() {
            let mut block = list.first;
            loop {
                positions.push((block, position));
                let number = nodes.len();
                let (after, kind) = match self.node_after(block) {
                    _ if block == list.last => break,
                    Some(CfNode::If(id)) => {
                        let (then_list, else_list) = (self.then_list(id), self.else_list(id));
                        pending.extend([(then_list, Position::Then(number)), (else_list, Position::Else(number))]);
                        let condition = self.src_def(self.if_condition(id));
                        let kind = NodeKind::If { condition, then_list, else_list, control: self.if_control(id) };
                        (self.block_after_if(id), kind)
                    }
                    Some(CfNode::Loop(id)) => {
                        let (body, continue_list) = (self.loop_body(id), self.loop_continue_list(id));
                        pending.push((body, Position::Body(number)));
                        pending.extend(continue_list.map(|list| (list, Position::Continue(number))));
                        let (control, divergence) = (self.loop_control(id), self.loop_divergence(id));
                        (self.block_after_loop(id), NodeKind::Loop { body, continue_list, control, divergence })
                    }
                    Some(CfNode::Block(_)) | None => break,
                };
                nodes.push(NodeTemplate { position, before: block, after, kind });
                block = after;
            }
        }
        positions
    }

    fn take_down_inst(&self, inst: Inst, template: &mut ListTemplate) -> InstTemplate {
        let before = template.sources.len();
        template
            .sources
            .extend(self.sources(inst).map(|s| SourceSpec { def: self.src_def(s), payload: self.payload(s) }));
        let data = *self.inst(inst);
        let bulk = match data {
            InstData::LoadConst { .. } => {
                let values = self.constant(inst).unwrap_or(&[]);
                template.constants.extend(values);
                InstPayload::Constants(values.len())
            }
            InstData::Tex(id) => InstPayload::Tex(self.texs[id]),
            InstData::Intrinsic { .. } => InstPayload::Indices(*self.inst_indices(inst)),
            InstData::Deref { kind: DerefKind::Cast(cast), .. } => InstPayload::Cast(self.cast(cast)),
            InstData::ParallelCopy(id) => {
                let entries = self.copies[id].clone();
                let defs = entries.iter().filter_map(|e| e.dest.expand()).map(|d| (d, self.shape(d))).collect();
                InstPayload::Copies(entries, defs)
            }
            _ => InstPayload::None,
        };
        let def = self.inst_def(inst);
        InstTemplate {
            data,
            def,
            shape: def.map(|d| self.shape(d)),
            divergence: def.map_or(Divergence::Unknown, |d| self.defs[d].divergence),
            loop_invariant: def.is_some_and(|d| self.is_loop_invariant(d)),
            num_sources: template.sources.len() - before,
            origin: self.insts[inst].origin,
            bulk,
        }
    }

    /// Makes a clone of a template. The clone is detached; insert it with [`Body::insert_list`]. Values from outside
    /// the list are replaced according to `remap`, or kept if they are not in it. Phis keep their sources, with
    /// predecessors inside the list renamed.
    pub fn paste(&mut self, template: &ListTemplate, remap: &mut Remap) -> CfList {
        // Number all values first: a phi may read a later one.
        let mut insts = template.insts.iter();
        for block in &template.blocks {
            let clone = self.blocks.push(BlockNode::default());
            remap.blocks[block.block] = clone.into();
            for def in insts.by_ref().take(block.num_insts).flat_map(InstTemplate::defs) {
                let number = self.defs.len();
                self.reserve_defs(number + 1);
                remap.defs[def] = Def::from_u32(number as u32).into();
            }
        }
        let mut insts = template.insts.iter();
        let (mut sources, mut constants) = (template.sources.as_slice(), template.constants.as_slice());
        let mut specs: Vec<SourceSpec> = Vec::new();
        for block in &template.blocks {
            let clone = remap.block(block.block);
            for inst in insts.by_ref().take(block.num_insts) {
                let (own, rest) = sources.split_at(inst.num_sources);
                sources = rest;
                specs.clear();
                specs.extend(own.iter().map(|source| match inst.data {
                    InstData::Phi => {
                        let pred = Block::from_u32(source.payload as u32);
                        SourceSpec::phi(remap.block(pred), remap.def(source.def))
                    }
                    _ => SourceSpec { def: remap.def(source.def), payload: source.payload },
                }));
                self.paste_inst(inst, &specs, &mut constants, remap, clone);
            }
        }
        self.paste_nodes(template, remap);
        // Edges between the clones. Edges that leave the list are added when it is inserted.
        for block in &template.blocks {
            if block.block != template.list.last {
                self.update_successors(remap.block(block.block));
            }
        }
        self.changed_cfg();
        CfList { first: remap.block(template.list.first), last: remap.block(template.list.last) }
    }

    fn paste_inst(
        &mut self,
        inst: &InstTemplate,
        sources: &[SourceSpec],
        constants: &mut &[u64],
        remap: &Remap,
        block: Block,
    ) {
        let data = match (&inst.bulk, inst.data) {
            (&InstPayload::Constants(count), _) => {
                let (values, rest) = constants.split_at(count);
                *constants = rest;
                InstData::LoadConst { start: self.push_constants(values) }
            }
            (&InstPayload::Tex(tex), _) => InstData::Tex(self.push_tex(tex)),
            (&InstPayload::Indices(indices), InstData::Intrinsic { op, num_components, .. }) => {
                InstData::Intrinsic { op, num_components, indices: self.push_indices(indices) }
            }
            (&InstPayload::Cast(layout), InstData::Deref { modes, ty, .. }) => {
                InstData::Deref { kind: DerefKind::Cast(self.push_cast(layout)), modes, ty }
            }
            (InstPayload::Copies(entries, _), _) => {
                let mut entries = entries.clone();
                for entry in &mut entries {
                    entry.dest = entry.dest.expand().map(|d| remap.def(d)).into();
                }
                InstData::ParallelCopy(self.copies.push(entries))
            }
            (InstPayload::None, InstData::Jump(JumpKind::Goto(target))) => {
                InstData::Jump(JumpKind::Goto(remap.block(target)))
            }
            (InstPayload::None, InstData::Jump(JumpKind::GotoIf { then_block, else_block })) => {
                InstData::Jump(JumpKind::GotoIf {
                    then_block: remap.block(then_block),
                    else_block: remap.block(else_block),
                })
            }
            (InstPayload::None | InstPayload::Indices(_) | InstPayload::Cast(_), data) => data,
        };
        let def = inst.def.map(|d| remap.def(d));
        let clone = self.create_inst_with_def(data, sources, inst.shape, def);
        if let Some(def) = def {
            let node = &mut self.defs[def];
            node.divergence = inst.divergence;
            node.loop_invariant = inst.loop_invariant;
        }
        if let InstPayload::Copies(_, defs) = &inst.bulk {
            for &(def, shape) in defs {
                let node = &mut self.defs[remap.def(def)];
                node.inst = clone.into();
                node.num_components = shape.num_components;
                node.bit_size = shape.bit_size;
            }
        }
        self.link_inst(Cursor::BlockEnd(block), clone);
        self.insts[clone].origin = inst.origin;
    }

    /// Rebuilds the nodes of a list around the cloned blocks.
    fn paste_nodes(&mut self, template: &ListTemplate, remap: &Remap) {
        let map_list = |list: CfList| CfList { first: remap.block(list.first), last: remap.block(list.last) };
        let mut made: Vec<CfNode> = Vec::with_capacity(template.nodes.len());
        let parent_of = |made: &[CfNode], position: Position| match position {
            Position::Top => None,
            Position::Then(n) | Position::Else(n) | Position::Body(n) | Position::Continue(n) => {
                match (made.get(n)?, position) {
                    (&CfNode::If(id), Position::Then(_)) => Some(CfParent::Then(id)),
                    (&CfNode::If(id), _) => Some(CfParent::Else(id)),
                    (&CfNode::Loop(id), Position::Continue(_)) => Some(CfParent::Continue(id)),
                    (&CfNode::Loop(id), _) => Some(CfParent::Body(id)),
                    (&CfNode::Block(_), _) => None,
                }
            }
        };
        for node in &template.nodes {
            let parent = parent_of(&made, node.position);
            let (before, after) = (remap.block(node.before), remap.block(node.after));
            let clone = match node.kind {
                NodeKind::If { condition, then_list, else_list, control } => {
                    let id: If = self.ifs.next_key();
                    let condition = self.push_use(User::If(id), remap.def(condition), 0);
                    CfNode::If(self.ifs.push(IfNode {
                        parent,
                        prev: before.into(),
                        next: after.into(),
                        condition,
                        then_list: map_list(then_list),
                        else_list: map_list(else_list),
                        control,
                    }))
                }
                NodeKind::Loop { body, continue_list, control, divergence } => {
                    CfNode::Loop(self.loops.push(LoopNode {
                        parent,
                        prev: before.into(),
                        next: after.into(),
                        body: map_list(body),
                        continue_list: continue_list.map(map_list),
                        control,
                        divergent_continue: divergence.0,
                        divergent_break: divergence.1,
                    }))
                }
            };
            self.blocks[before].next = Some(clone);
            self.blocks[after].prev = Some(clone);
            made.push(clone);
        }
        for block in &template.blocks {
            let parent = parent_of(&made, block.position);
            self.blocks[remap.block(block.block)].parent = parent;
        }
    }

    /// Clones a list of `source` (which may be a clone of this body) into this body, with [`Body::template`] and
    /// [`Body::paste`].
    pub fn clone_list(&mut self, source: &Body, list: CfList, remap: &mut Remap) -> CfList {
        self.paste(&source.template(list), remap)
    }
}
