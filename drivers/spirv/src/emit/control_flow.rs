//! Control flow: the tree of the IR is already the structured control flow that SPIR-V requires.
//!
//! | IR | SPIR-V |
//! |---|---|
//! | `if`, block M after it | `OpSelectionMerge M`, `OpBranchConditional`; both lists end with `OpBranch M`. A side that is one empty block is a direct branch to M |
//! | loop, block E after it | `OpBranch H`; H: phis, `OpLoopMerge E C`, `OpBranch B`; B: the body; C: phis of several back edges, `OpBranch H` |
//! | `break`, `continue` | `OpBranch E`, `OpBranch C` |
//!
//! A phi has an operand for each edge. The values of an edge are evaluated at its source, before the branch, so that
//! their casts are emitted there. Operands of back edges are patched in when the loop ends: their positions are known,
//! since the phis of H have two operands each, however many `continue`s there are.

use spirv::{LoopControl as SpirvLoopControl, Op, SelectionControl};
use tgsi_ir::body::{CfNode, CfParent, IfControl, JumpKind, LoopControl};
use tgsi_ir::{Block, Inst, Loop, ShaderStage};

use super::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id};

/// An edge to a block with phis: its source, and the values of the phis in order.
#[derive(Clone, Debug, Default)]
pub struct Edge {
    label: Option<Id>,
    values: Vec<Id>,
}

/// A loop that has not been closed yet.
#[derive(Clone, Debug)]
pub struct OpenLoop {
    header: Id,
    /// The label of the continue construct.
    continues: Id,
    /// For each phi, the position in the code of the two words (value, label) of the back edge.
    patches: Vec<usize>,
}

impl Emitter<'_> {
    /// Emits all blocks. `first` is the label of the first one, already emitted before the variables.
    pub(super) fn walk(&mut self, first: Id) -> Result<(), SpirvError> {
        let body = self.body;
        self.label = Some(first);
        self.value_numbers.enter();
        self.at_start()?;
        self.buffers_at_start()?;
        for block in body.blocks() {
            self.emit_block(block)?;
        }
        self.value_numbers.leave();
        Ok(())
    }

    /// Returns the label of a block as a branch target.
    fn label_of(&mut self, block: Block) -> Id {
        if let Some(label) = self.labels[block] {
            return label;
        }
        let label = self.module.id();
        self.labels[block] = Some(label);
        label
    }

    /// Opens a block with a label. The previous block must have ended.
    pub fn open(&mut self, label: Id) {
        self.push(Op::Label, &[label.0]);
        self.label = Some(label);
    }

    /// Ends the open block.
    pub fn end(&mut self, op: Op, operands: &[u32]) {
        if self.label.take().is_some() {
            self.push(op, operands);
        }
        self.forget_line();
    }

    fn emit_block(&mut self, block: Block) -> Result<(), SpirvError> {
        let body = self.body;
        let parent = body.block_parent(block);
        if let Some(CfNode::Loop(id)) = body.node_before(block) {
            self.finish_loop(id)?;
        }
        let starts_list = parent.is_some_and(|parent| body.list(parent).first == block);
        if starts_list && parent != Some(CfParent::Function) {
            self.value_numbers.enter();
        }
        match parent {
            Some(CfParent::Body(id)) if starts_list => self.start_loop(id, block)?,
            Some(CfParent::Function) if starts_list => {}
            Some(CfParent::Then(_) | CfParent::Else(_)) if starts_list && self.is_direct(block) => {
                // The edge was recorded at the `if`.
                self.value_numbers.leave();
                return Ok(());
            }
            _ => {
                let label = self.label_of(block);
                self.open(label);
                self.emit_phis(block)?;
            }
        }
        for inst in body.insts(block) {
            if !body.is_phi(inst) {
                self.emit_instruction(inst)?;
            }
        }
        self.emit_terminator(block)?;
        let ends_list = parent.is_some_and(|parent| body.list(parent).last == block);
        if ends_list && parent != Some(CfParent::Function) {
            self.value_numbers.leave();
        }
        Ok(())
    }

    /// Returns whether a side of an `if` is a single block without instructions, for which nothing is emitted. If both
    /// sides are, only the first counts.
    fn is_direct(&self, block: Block) -> bool {
        let body = self.body;
        let is_empty = |block: Block| body.first_inst(block).is_none();
        match body.block_parent(block) {
            Some(CfParent::Then(id)) => body.then_list(id).single_block() == Some(block) && is_empty(block),
            Some(CfParent::Else(id)) => {
                body.else_list(id).single_block() == Some(block)
                    && is_empty(block)
                    && !self.is_direct(body.then_list(id).first)
            }
            _ => false,
        }
    }

    fn emit_terminator(&mut self, block: Block) -> Result<(), SpirvError> {
        let body = self.body;
        if let Some((inst, kind)) = body.block_jump(block) {
            return self.emit_jump(block, inst, kind);
        }
        match body.node_after(block) {
            Some(CfNode::If(id)) => {
                let condition = self.value(body.src_def(body.if_condition(id)), Class::Bool)?;
                let merge_block = body.block_after_if(id);
                let merge = self.label_of(merge_block);
                let mut targets = [merge; 2];
                let sides = [body.then_list(id).first, body.else_list(id).first];
                for (target, side) in targets.iter_mut().zip(sides) {
                    if self.is_direct(side) {
                        self.emit_edge(side, merge_block)?;
                    } else {
                        *target = self.label_of(side);
                    }
                }
                let control = match body.if_control(id) {
                    IfControl::None => SelectionControl::NONE,
                    IfControl::Flatten => SelectionControl::FLATTEN,
                    IfControl::DontFlatten | IfControl::DivergentAlwaysTaken => SelectionControl::DONT_FLATTEN,
                };
                self.push(Op::SelectionMerge, &[merge.0, control.bits()]);
                self.end(Op::BranchConditional, &[condition.0, targets[0].0, targets[1].0]);
            }
            Some(CfNode::Loop(id)) => {
                let head = body.loop_body(id).first;
                self.emit_edge(block, head)?;
                let header = self.module.id();
                self.labels[head] = Some(header);
                self.end(Op::Branch, &[header.0]);
            }
            Some(CfNode::Block(_)) | None => match body.block_parent(block) {
                Some(CfParent::Then(id) | CfParent::Else(id)) => self.emit_branch(block, body.block_after_if(id))?,
                Some(CfParent::Body(id)) => self.emit_back_edge(block, id)?,
                Some(CfParent::Continue(id)) => {
                    let head = body.loop_body(id).first;
                    self.emit_edge(block, head)?;
                    let header = self.label_of(head);
                    self.end(Op::Branch, &[header.0]);
                }
                Some(CfParent::Function) | None => self.leave()?,
            },
        }
        Ok(())
    }

    fn emit_jump(&mut self, block: Block, inst: Inst, kind: JumpKind) -> Result<(), SpirvError> {
        let body = self.body;
        let innermost = |parent: Option<CfParent>| parent.and_then(|parent| body.innermost_loop(parent));
        match kind {
            JumpKind::Break => match innermost(body.block_parent(block)) {
                Some(id) => self.emit_branch(block, body.block_after_loop(id)),
                None => Err(SpirvError::NotLowered { inst, what: "a break outside of loops" }),
            },
            JumpKind::Continue => match innermost(body.block_parent(block)) {
                Some(id) => self.emit_back_edge(block, id),
                None => Err(SpirvError::NotLowered { inst, what: "a continue outside of loops" }),
            },
            JumpKind::Return => self.leave(),
            JumpKind::Halt if self.shader.stage == ShaderStage::Fragment => {
                self.end_invocation();
                Ok(())
            }
            JumpKind::Halt => self.leave(),
            JumpKind::Goto(_) | JumpKind::GotoIf { .. } => {
                Err(SpirvError::NotLowered { inst, what: "an unstructured jump" })
            }
        }
    }

    /// Ends the function.
    fn leave(&mut self) -> Result<(), SpirvError> {
        self.at_end()?;
        self.end(Op::Return, &[]);
        Ok(())
    }

    fn emit_branch(&mut self, from: Block, to: Block) -> Result<(), SpirvError> {
        self.emit_edge(from, to)?;
        let label = self.label_of(to);
        self.end(Op::Branch, &[label.0]);
        Ok(())
    }

    /// Branches to the continue construct of a loop.
    fn emit_back_edge(&mut self, from: Block, id: Loop) -> Result<(), SpirvError> {
        let to = self.body.continue_target(id);
        self.emit_edge(from, to)?;
        if let Some(open) = &self.loops[id] {
            let continues = open.continues;
            self.end(Op::Branch, &[continues.0]);
        }
        Ok(())
    }

    /// Records an edge from the open block, which is the end of `from`, and evaluates the phi operands.
    fn emit_edge(&mut self, from: Block, to: Block) -> Result<(), SpirvError> {
        let body = self.body;
        if self.label.is_none() {
            return Ok(());
        }
        let mut values = Vec::new();
        for phi in body.phis(to) {
            let (Some(source), Some(def)) = (body.phi_source_for(phi, from), body.inst_def(phi)) else {
                return Err(SpirvError::NotLowered { inst: phi, what: "a phi without a value for an edge" });
            };
            values.push(self.value(body.src_def(source), self.classes.get(def))?);
        }
        // Casts do not end blocks, so the label is unchanged.
        self.edges[to].push(Edge { label: self.label, values });
        Ok(())
    }

    /// Emits the phis of a block other than a loop header, from its recorded edges.
    fn emit_phis(&mut self, block: Block) -> Result<(), SpirvError> {
        let body = self.body;
        let edges = std::mem::take(&mut self.edges[block]);
        for (number, phi) in body.phis(block).enumerate() {
            let Some(def) = body.inst_def(phi) else { continue };
            let class = self.classes.get(def);
            let ty = self.type_of(def, class);
            let ty = self.module.value_type(ty);
            let id = self.phi(ty, &edges, number);
            self.define(def, id, class);
        }
        Ok(())
    }

    fn phi(&mut self, ty: Id, edges: &[Edge], number: usize) -> Id {
        let operands: Vec<u32> =
            edges.iter().filter_map(|edge| Some([edge.values.get(number)?.0, edge.label?.0])).flatten().collect();
        // The block is unreachable.
        if operands.is_empty() { self.module.null(ty) } else { self.result(Op::Phi, ty, &operands) }
    }

    fn start_loop(&mut self, id: Loop, head: Block) -> Result<(), SpirvError> {
        let body = self.body;
        let header = self.label_of(head);
        let continues = match body.loop_continue_list(id) {
            Some(list) => self.label_of(list.first),
            None => self.module.id(),
        };
        let merge = self.label_of(body.block_after_loop(id));
        self.open(header);
        let entries = std::mem::take(&mut self.edges[head]);
        let entry = entries.first().cloned().unwrap_or_default();
        let mut patches = Vec::new();
        for (number, phi) in body.phis(head).enumerate() {
            let Some(def) = body.inst_def(phi) else { continue };
            let class = self.classes.get(def);
            let ty = self.type_of(def, class);
            let ty = self.module.value_type(ty);
            let null = self.module.null(ty);
            let value = entry.values.get(number).copied().unwrap_or(null);
            let phi = match entry.label {
                Some(label) => self.result(Op::Phi, ty, &[value.0, label.0, null.0, continues.0]),
                // The loop is unreachable.
                None => self.result(Op::Phi, ty, &[null.0, continues.0]),
            };
            patches.push(self.code.len() - 2);
            self.define(def, phi, class);
        }
        self.loops[id] = Some(OpenLoop { header, continues, patches });
        let control = match body.loop_control(id) {
            LoopControl::None => SpirvLoopControl::NONE,
            LoopControl::Unroll => SpirvLoopControl::UNROLL,
            LoopControl::DontUnroll => SpirvLoopControl::DONT_UNROLL,
        };
        self.push(Op::LoopMerge, &[merge.0, continues.0, control.bits()]);
        let first = self.module.id();
        self.end(Op::Branch, &[first.0]);
        self.open(first);
        Ok(())
    }

    /// Emits the continue construct, if the IR has none, and patches the operands of the back edge.
    fn finish_loop(&mut self, id: Loop) -> Result<(), SpirvError> {
        let body = self.body;
        let Some(open) = self.loops[id].take() else { return Ok(()) };
        let head = body.loop_body(id).first;
        let edges = std::mem::take(&mut self.edges[head]);
        let mut back = match edges.as_slice() {
            [single] if body.loop_continue_list(id).is_some() => single.clone(),
            _ => Edge { label: Some(open.continues), values: Vec::new() },
        };
        if body.loop_continue_list(id).is_none() {
            self.open(open.continues);
            match edges.as_slice() {
                [] => {}
                [single] => back.values.clone_from(&single.values),
                _ => {
                    for (number, phi) in body.phis(head).enumerate() {
                        let Some(def) = body.inst_def(phi) else { continue };
                        let ty = self.type_of(def, self.classes.get(def));
                        let ty = self.module.value_type(ty);
                        let value = self.phi(ty, &edges, number);
                        back.values.push(value);
                    }
                }
            }
            self.end(Op::Branch, &[open.header.0]);
        }
        for (&position, value) in open.patches.iter().zip(&back.values) {
            self.code[position] = value.0;
        }
        if let Some(label) = back.label {
            for &position in &open.patches {
                self.code[position + 1] = label.0;
            }
        }
        Ok(())
    }
}
