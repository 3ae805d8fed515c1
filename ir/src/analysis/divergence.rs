//! Finds divergent values: those that may differ between invocations that execute together. All other values are
//! uniform.
//!
//! Every value starts as uniform and becomes divergent if
//! 1. its instruction makes it so: most instructions are divergent if a source is; inputs, invocation ids, atomics and
//!    others are divergent with any sources;
//! 2. it is a phi selected by divergent control flow: after an `if` with a divergent condition; in the header of a loop
//!    in which some invocations `continue` while others do not, if the values from the latches differ; after a loop
//!    that invocations leave at different times, if its values differ;
//! 3. it is used after a loop that invocations leave at different times (the *use* is divergent), unless it is
//!    invariant in the loop.
//!
//! The results are stored in the body: [`Body::is_divergent`], [`Body::is_loop_invariant`], [`Body::loop_divergence`];
//! [`is_use_divergent`] evaluates them for a source; the text form shows them as `div` and `con`. They describe the
//! code at the time of the analysis: values created later are unknown ([`Body::is_known_uniform`]), and
//! [`Body::is_divergent`] returns false for them, so the analysis must run again before that query.
//!
//! Values only ever change from uniform to divergent, and a worklist holds the changes: each value, block and `if`
//! notifies its neighbours once, so that the cost is linear in sources and blocks (a value that leaves several loops at
//! once counts once per loop). The result is most precise on loop-closed SSA
//! ([`convert_to_lcssa`](mod@crate::passes::into_ssa::convert_to_lcssa)), for structured code without `return`.

mod rules;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

use super::LoopTree;
use crate::body::{Body, CfNode, CfParent, InstData, JumpKind};
use crate::entities::{Block, Def, If, Inst, Loop, Use, User};
use crate::shader::Shader;
use rules::Rules;

/// Guarantees of the target.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DivergenceOptions {
    /// Find divergence between the vertices of a primitive instead of the invocations of a subgroup.
    pub between_vertices: bool,
    /// All invocations of a subgroup belong to one primitive.
    pub single_primitive_per_subgroup: bool,
    /// All invocations of a subgroup of a tessellation control shader belong to one patch.
    pub single_patch_per_tcs_subgroup: bool,
    /// All invocations of a subgroup of a tessellation evaluation shader belong to one patch.
    pub single_patch_per_tes_subgroup: bool,
    /// All invocations have the same view.
    pub view_index_uniform: bool,
    /// All fragments of a subgroup have the same shading rate.
    pub single_shading_rate_per_subgroup: bool,
    /// A subgroup may contain invocations of several workgroups.
    pub multiple_workgroups_per_subgroup: bool,
    /// A load from one address may give different values to different invocations if another one writes there.
    pub uniform_load_tears: bool,
    /// A phi of one value and undefined values counts as that value.
    pub ignore_undef_in_phis: bool,
}

/// Computes the divergence of all values of a shader; see the [module](self). Returns whether the results changed.
pub fn analyze_divergence(shader: &mut Shader, options: &DivergenceOptions) -> bool {
    let mut progress = !std::mem::replace(&mut shader.info.divergence_analysis_run, true);
    let Shader { stage, functions, variables, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()).filter(|body| body.structured) {
        let loops = body.loop_tree();
        let mut analysis = Analysis::new(body, &loops, Rules { stage: *stage, options, variables });
        analysis.find_invariants(body);
        analysis.find_escapes(body);
        analysis.solve(body);
        progress |= analysis.write(body);
    }
    progress
}

/// Whether the value of a source may differ between invocations, according to [`analyze_divergence`]: the value is
/// divergent, or it is used after a loop that invocations leave at different times. (A value that is uniform at its
/// definition may be divergent at such a use.) Linear in the number of loops that the value leaves.
pub fn is_use_divergent(body: &Body, loops: &LoopTree, source: Use) -> bool {
    let def = body.src_def(source);
    body.is_divergent(def)
        || leaves_divergent_loop(body, loops, source, body.is_loop_invariant(def), |id| body.loop_divergence(id).1)
}

/// Worklist entries: changes to divergent that still have to be propagated.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A value.
    Def(Def),
    /// The condition of an `if`, at the `if`.
    Condition(If),
    /// Control flow of a block: some invocations in the innermost loop may be in another block.
    Block(Block),
    /// Invocations leave a loop at different times.
    Break(Loop),
    /// Invocations start an iteration of a loop at different times.
    Continue(Loop),
}

struct Analysis<'a> {
    loops: &'a LoopTree,
    rules: Rules<'a>,
    divergent: EntitySet<Def>,
    invariant: EntitySet<Def>,
    conditions: EntitySet<If>,
    blocks: EntitySet<Block>,
    breaks: EntitySet<Loop>,
    continues: EntitySet<Loop>,
    /// Ifs with a divergent `continue` inside.
    left: EntitySet<If>,
    /// Uses outside of a loop of values defined inside it.
    escapes: SecondaryMap<Loop, Vec<Use>>,
    work: Vec<Event>,
}

impl<'a> Analysis<'a> {
    fn new(body: &Body, loops: &'a LoopTree, rules: Rules<'a>) -> Analysis<'a> {
        Analysis {
            loops,
            rules,
            divergent: EntitySet::with_capacity(body.num_defs()),
            invariant: EntitySet::with_capacity(body.num_defs()),
            conditions: EntitySet::new(),
            blocks: EntitySet::with_capacity(body.num_blocks()),
            breaks: EntitySet::new(),
            continues: EntitySet::new(),
            left: EntitySet::new(),
            escapes: SecondaryMap::new(),
            work: Vec::new(),
        }
    }

    /// Finds values that are the same in each iteration of their innermost loop.
    fn find_invariants(&mut self, body: &Body) {
        for block in body.blocks() {
            let Some(id) = self.loops.innermost(block) else { continue };
            let repeats = !self.loops.info(id).latches.is_empty();
            for inst in body.insts(block) {
                let Some(def) = body.inst_def(inst) else { continue };
                let settled = |def: Def| {
                    let outside = body.inst_block(body.def_inst(def)).is_none_or(|made| !self.loops.contains(id, made));
                    // A value of an inner loop may be invariant only there.
                    let here =
                        body.inst_block(body.def_inst(def)).and_then(|made| self.loops.innermost(made)) == Some(id);
                    outside || here && self.invariant.contains(def)
                };
                let is_movable = match *body.inst(inst) {
                    InstData::LoadConst { .. }
                    | InstData::Undef
                    | InstData::Alu { .. }
                    | InstData::Deref { .. }
                    | InstData::Tex(_) => true,
                    InstData::Intrinsic { op, .. } => body.can_reorder(inst, op),
                    InstData::Phi => match body.node_before(block) {
                        Some(CfNode::If(node)) => settled(body.src_def(body.if_condition(node))),
                        _ => false,
                    },
                    InstData::Call { .. } | InstData::Jump(_) | InstData::ParallelCopy(_) => false,
                };
                if !repeats || is_movable && body.sources(inst).all(|s| settled(body.src_def(s))) {
                    self.invariant.insert(def);
                }
            }
        }
    }

    fn find_escapes(&mut self, body: &Body) {
        for block in body.blocks() {
            let Some(inner) = self.loops.innermost(block) else { continue };
            for def in body.insts(block).filter_map(|inst| body.inst_def(inst)) {
                for source in body.uses_of(def) {
                    let Some(user) = reading_block(body, source) else { continue };
                    let mut around = Some(inner);
                    while let Some(id) = around.filter(|&id| !self.loops.contains(id, user)) {
                        self.escapes[id].push(source);
                        around = self.loops.info(id).parent.expand();
                    }
                }
            }
        }
    }

    /// Whether a value is divergent at a use.
    fn reads_divergent(&self, body: &Body, source: Use) -> bool {
        let def = body.src_def(source);
        if self.divergent.contains(def) {
            return true;
        }
        let invariant = self.invariant.contains(def);
        leaves_divergent_loop(body, self.loops, source, invariant, |id| self.breaks.contains(id))
    }

    fn solve(&mut self, body: &Body) {
        for block in body.blocks() {
            for inst in body.insts(block) {
                self.visit(body, inst);
            }
        }
        while let Some(event) = self.work.pop() {
            match event {
                Event::Def(def) => {
                    for source in body.uses_of(def) {
                        self.visit_user(body, source);
                    }
                }
                Event::Condition(id) => {
                    self.reach(body.then_list(id).first);
                    self.reach(body.else_list(id).first);
                    self.visit_phis(body, body.block_after_if(id));
                }
                Event::Block(block) => self.propagate(body, block),
                Event::Continue(id) => self.visit_phis(body, body.loop_body(id).first),
                Event::Break(id) => {
                    self.visit_phis(body, body.block_after_loop(id));
                    for source in std::mem::take(&mut self.escapes[id]) {
                        if self.reads_divergent(body, source) {
                            self.visit_user(body, source);
                        }
                    }
                }
            }
        }
    }

    /// Revisits the user of a source that has become divergent.
    fn visit_user(&mut self, body: &Body, source: Use) {
        match body.user(source) {
            User::Inst(inst) => self.visit(body, inst),
            User::If(id) => {
                if self.conditions.insert(id) {
                    self.work.push(Event::Condition(id));
                }
            }
        }
    }

    fn reach(&mut self, block: Block) {
        if self.blocks.insert(block) {
            self.work.push(Event::Block(block));
        }
    }

    /// Control flow in a block is divergent: propagates this to the following blocks of its list, to the sides of an
    /// `if`, and to the target of its jump.
    fn propagate(&mut self, body: &Body, block: Block) {
        match body.node_after(block) {
            Some(CfNode::If(id)) => {
                self.reach(body.then_list(id).first);
                self.reach(body.else_list(id).first);
                self.reach(body.block_after_if(id));
            }
            Some(CfNode::Loop(id)) => self.reach(body.block_after_loop(id)),
            Some(CfNode::Block(_)) | None => {}
        }
        let Some((_, kind)) = body.block_jump(block) else { return };
        let Some(id) = self.loops.innermost(block) else { return };
        if kind == JumpKind::Break && self.breaks.insert(id) {
            self.work.push(Event::Break(id));
        }
        if kind == JumpKind::Continue {
            if self.continues.insert(id) {
                self.work.push(Event::Continue(id));
            }
            // Invocations that continued do not execute the rest of the body.
            let mut parent = body.block_parent(block);
            while let Some(CfParent::Then(node) | CfParent::Else(node)) = parent {
                if !self.left.insert(node) {
                    break;
                }
                self.reach(body.block_after_if(node));
                parent = body.if_parent(node);
            }
        }
    }

    fn visit_phis(&mut self, body: &Body, block: Block) {
        for phi in body.phis(block) {
            self.visit(body, phi);
        }
    }

    fn visit(&mut self, body: &Body, inst: Inst) {
        let Some(def) = body.inst_def(inst).filter(|&def| !self.divergent.contains(def)) else { return };
        let divergent = if body.is_phi(inst) {
            self.is_phi_divergent(body, inst)
        } else {
            self.rules.inst(body, inst, |number| self.reads_divergent(body, body.source(inst, number)))
        };
        if divergent {
            self.divergent.insert(def);
            self.work.push(Event::Def(def));
        }
    }

    fn is_phi_divergent(&self, body: &Body, phi: Inst) -> bool {
        let Some(block) = body.inst_block(phi) else { return false };
        let chosen = match (body.node_before(block), body.block_parent(block)) {
            (Some(CfNode::If(id)), _) => {
                let defined = || {
                    let is_undef = |source: Use| matches!(body.inst(body.src_inst(source)), InstData::Undef);
                    body.sources(phi).filter(|&s| !is_undef(s)).count()
                };
                self.conditions.contains(id) && !(self.rules.options.ignore_undef_in_phis && defined() <= 1)
            }
            (Some(CfNode::Loop(id)), _) => self.breaks.contains(id) && differ(body, phi, None),
            (None, Some(CfParent::Body(id))) => {
                self.continues.contains(id) && differ(body, phi, Some(body.block_before_loop(id)))
            }
            _ => false,
        };
        chosen || body.sources(phi).any(|source| self.reads_divergent(body, source))
    }

    fn write(&self, body: &mut Body) -> bool {
        let mut progress = false;
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let Some(def) = body.inst_def(inst) else { continue };
                let (divergent, invariant) = (self.divergent.contains(def), self.invariant.contains(def));
                progress |= (body.is_divergent(def), body.is_loop_invariant(def)) != (divergent, invariant);
                body.set_divergent(def, divergent);
                body.set_loop_invariant(def, invariant);
            }
        }
        for &id in &self.loops.loops {
            let found = (self.continues.contains(id), self.breaks.contains(id));
            progress |= body.loop_divergence(id) != found;
            body.set_loop_divergence(id, found.0, found.1);
        }
        progress
    }
}

/// Whether a value is used after a loop that invocations leave at different times, so that their values may come from
/// different iterations.
fn leaves_divergent_loop(
    body: &Body,
    loops: &LoopTree,
    source: Use,
    is_invariant: bool,
    is_left_divergently: impl Fn(Loop) -> bool,
) -> bool {
    let made = body.inst_block(body.src_inst(source));
    let (Some(made), Some(user)) = (made, reading_block(body, source)) else { return false };
    let inner = loops.innermost(made);
    let mut around = inner;
    while let Some(id) = around.filter(|&id| !loops.contains(id, user)) {
        // Invariance is only known for the innermost loop.
        if is_left_divergently(id) && !(around == inner && is_invariant) {
            return true;
        }
        around = loops.info(id).parent.expand();
    }
    false
}

/// The block that reads a source. For a phi, this is the block of the phi instead of the predecessor, so that loops
/// left on the edge count.
fn reading_block(body: &Body, source: Use) -> Option<Block> {
    match body.user(source) {
        User::Inst(inst) => body.inst_block(inst),
        User::If(_) => body.use_block(source),
    }
}

/// Whether the sources of a phi, except the source of one predecessor, are different values.
fn differ(body: &Body, phi: Inst, except: Option<Block>) -> bool {
    let mut first: PackedOption<Def> = None.into();
    for (block, source) in body.phi_sources(phi) {
        if Some(block) == except {
            continue;
        }
        match first.expand() {
            None => first = body.src_def(source).into(),
            Some(def) if def != body.src_def(source) => return true,
            Some(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    /// A counter is uniform in a loop that invocations leave at different times, but not after it; an invariant value
    /// is uniform in both places.
    #[test]
    fn uses_behind_a_loop() {
        let text = "shader: MESA_SHADER_VERTEX
decl_var shader_in INTERP_MODE_NONE none vec4 in_0 (VERT_ATTRIB_GENERIC0.xyzw, 0, 0)
decl_function main () (entrypoint)

impl main {
    block b0:
    32 %1 = deref_var &in_0 (shader_in vec4)
    32x4 %2 = @load_deref (%1) (access=none)
    32 %3 = load_const (0x00000000)
    32 %4 = load_const (0x00000001)
    loop {
        block b1:
        32 %5 = phi b0: %3, b4: %7
        32 %6 = iadd %4, %4
        32 %7 = iadd %5, %6
        1 %8 = uge %5, %2.x
        if %8 {
            block b2:
            break
        } else {
            block b3:
        }
        block b4:
    }
    block b5:
    32 %9 = ineg %5
    32 %10 = ineg %6
    block b6:
}
";
        let mut shader = parse(text).unwrap();
        assert!(analyze_divergence(&mut shader, &DivergenceOptions::default()));
        let body = shader.main();
        let loops = body.loop_tree();
        let negated: Vec<Inst> = body
            .blocks()
            .flat_map(|block| body.insts(block))
            .filter(|&inst| body.alu_op(inst) == Some(crate::alu::AluOp::Ineg))
            .collect();
        let found = negated.iter().map(|&inst| {
            let source = body.source(inst, 0);
            (body.is_divergent(body.src_def(source)), is_use_divergent(body, &loops, source))
        });
        assert_eq!(found.collect::<Vec<_>>(), [(false, true), (false, false)]);
        let phi = body.phis(body.loop_body(loops.loops[0]).first).next().unwrap();
        assert!((0..2).all(|number| !is_use_divergent(body, &loops, body.source(phi, number))));
    }
}
