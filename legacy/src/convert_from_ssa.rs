//! Out of SSA: phis become registers.
//!
//! ```text
//! block b3: // preds: b1 b2                      block b1:  ...  @store_reg (%4, %r)
//! 32 %9 = phi b1: %4, b2: %7             =>      block b2:  ...  @store_reg (%7, %r)
//! 32 %10 = iadd %9, %9                           block b3:  32 %11 = @load_reg (%r)
//!                                                           32 %10 = iadd %11, %11
//! ```
//!
//! After Boissinot, Darte, Rastello, Dupont de Dinechin, Guillon: "Revisiting Out-of-SSA Translation for Correctness,
//! Code Quality, and Efficiency" (2009), except that the copies that isolate phis are inserted only once they are known
//! to be needed:
//!
//! 1. A phi and each of its sources in turn are merged into a *web* if no two values of the union interfere (a linear
//!    walk in dominance order).
//! 2. A source that is not merged is copied into the web at the end of its predecessor. Such a block has no other
//!    successor, and no value of the web is live there: it would be live at the phi. Only in unstructured control flow
//!    can the block have other successors. The phis of its successors are then *isolated*: they are read as soon as
//!    they are defined, and all their sources are copied.
//! 3. A web becomes a register; each use of one of its values becomes a `load_reg` right before the user, each
//!    definition a `store_reg` right after it.
//! 4. The copies at the end of a block form a parallel copy. They are sequentialised; cycles need one more register.
//!
//! Only values connected to phis become registers; the others stay SSA. No phi and no parallel copy is left. Undefined
//! phi sources get no copy. A constant is never part of a web: it is stored.
//!
//! # Divergence
//!
//! A value counts as uniform if [`analyze_divergence`](mod@tgsi_ir::analysis::divergence) visited it, found it uniform,
//! and it has no use after a loop that invocations leave at different times. Constants and undefined values are uniform
//! as well. All others count as divergent, including those created after the analysis, or without one.
//!
//! 1. A register is declared uniform only if everything it ever holds is uniform: the values of its web, the values
//!    copied into it, and the content of registers copied into it.
//! 2. With [`ConvertFromSsaOptions::consider_divergence`] a web holds either uniform values only or divergent values
//!    only. A copy connects the two.
//! 3. A uniform register is then never filled from a divergent one, even if the content has been copied there: hardware
//!    that separates the two cannot move data back.

mod sequentialize;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cranelift_entity::EntitySet;
use log::trace;
use tgsi_ir::analysis::LoopTree;
use tgsi_ir::analysis::divergence::is_use_divergent;
use tgsi_ir::body::{CfNode, CopyEntry};
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Block, Body, Builder, Cursor, Def, Inst, InstData, Shader, Use, User};

use crate::merge_sets::{MergeSets, Webs};
use sequentialize::sequentialize;

/// A backend's requirements on the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConvertFromSsaOptions {
    /// No register holds both uniform and divergent values. Divergence must have been analysed, preferably on
    /// loop-closed SSA; without the analysis all values are divergent.
    pub consider_divergence: bool,
}

/// Turns the phis of all functions into registers. Returns whether there were any.
pub fn convert_from_ssa(shader: &mut Shader, options: ConvertFromSsaOptions) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= convert_body(body, options);
    }
    progress
}

fn convert_body(body: &mut Body, options: ConvertFromSsaOptions) -> bool {
    if is_out_of_ssa(body) {
        return false;
    }
    let mut out_of_phis = Copies::default();
    let uniform = uniform_values(body);
    let apart = options.consider_divergence.then_some(&uniform);
    let webs = merge_sets(body, &mut out_of_phis, apart).finish();
    let divergent = divergent_webs(body, &webs, &out_of_phis.copies, &uniform);
    let (handles, positions) = (vec![None; webs.count], vec![0; webs.count]);
    let apart = options.consider_divergence;
    let mut registers = Registers { webs, handles, divergent, apart, others: HashMap::new(), positions };
    let Copies { mut copies, isolated } = out_of_phis;
    for phi in isolated {
        read_isolated(body, &mut registers, phi);
    }
    copies.sort_by_key(|copy| copy.block);
    let mut cycles = 0;
    for of_block in copies.chunk_by(|a, b| a.block == b.block) {
        cycles += sequentialize(body, &mut registers, Cursor::before_jump(body, of_block[0].block), of_block);
    }
    drop(copies);
    cycles += resolve(body, &mut registers);
    trace!(
        "convert_from_ssa: {} registers, {cycles} of them for cycles of copies",
        registers.handles.iter().flatten().count()
    );
    true
}

/// A copy, executed in parallel with all others of its block.
#[derive(Clone, Copy)]
struct Copy {
    block: Block,
    source: Use,
    /// A value of the web that is written, or a value that stays SSA.
    dest: Def,
    /// Whether they are handles of registers that existed before the pass.
    source_is_register: bool,
    dest_is_register: bool,
}

/// The copies and isolated phis that webs do not cover.
#[derive(Default)]
struct Copies {
    copies: Vec<Copy>,
    /// Phis that are read from the web only where they are defined.
    isolated: BTreeSet<Def>,
}

/// The values that are the same in all invocations that run together, at all their uses.
fn uniform_values(body: &Body) -> EntitySet<Def> {
    let mut uniform = EntitySet::with_capacity(body.num_defs());
    let loops = body.loop_tree();
    for block in body.blocks() {
        for inst in body.insts(block) {
            uniform.extend(made_by(body, inst).filter(|&def| is_uniform(body, &loops, inst, def)));
        }
    }
    uniform
}

/// The values that an instruction defines: several only for parallel copies.
fn made_by(body: &Body, inst: Inst) -> impl Iterator<Item = Def> + '_ {
    let copies = body.copies(inst).unwrap_or(&[]).iter().filter_map(|copy| copy.dest.expand());
    body.inst_def(inst).into_iter().chain(copies)
}

fn is_uniform(body: &Body, loops: &LoopTree, inst: Inst, def: Def) -> bool {
    match body.inst(inst) {
        InstData::LoadConst { .. } | InstData::Undef => true,
        _ => body.is_known_uniform(def) && !body.uses_of(def).any(|source| is_use_divergent(body, loops, source)),
    }
}

/// For each set of values, whether anything in its register is divergent: its values, and values copied in.
fn divergent_webs(body: &Body, webs: &Webs, copies: &[Copy], uniform: &EntitySet<Def>) -> Vec<bool> {
    let mut divergent = vec![false; webs.count];
    for block in body.blocks() {
        for def in body.insts(block).flat_map(|inst| made_by(body, inst)) {
            if let Some(set) = webs.get(def) {
                divergent[set] |= !uniform.contains(def);
            }
        }
    }
    // The registers that each register is copied to.
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for copy in copies {
        let source = body.src_def(copy.source);
        let Some(to) = webs.get(copy.dest) else { continue };
        match webs.get(source) {
            Some(from) => edges.push((from, to)),
            None => divergent[to] |= !uniform.contains(source),
        }
    }
    edges.sort_unstable();
    let mut work: Vec<usize> = (0..webs.count).filter(|&set| divergent[set]).collect();
    while let Some(set) = work.pop() {
        let first = edges.partition_point(|edge| edge.0 < set);
        for &(_, to) in edges[first..].iter().take_while(|edge| edge.0 == set) {
            if !std::mem::replace(&mut divergent[to], true) {
                work.push(to);
            }
        }
    }
    divergent
}

/// The sets of values that share registers. Values in `apart` are not merged with others.
fn merge_sets(body: &Body, copies: &mut Copies, apart: Option<&EntitySet<Def>>) -> MergeSets {
    let mut sets = MergeSets::new(body);
    // Structured control flow has no such edges.
    for block in body.blocks().filter(|&block| !body.structured && has_critical_edge(body, block)) {
        copies.isolated.extend(body.phis(block).filter_map(|phi| body.inst_def(phi)));
    }
    let dominance = body.dominance();
    // Back edges of loops come last, when the sets of the values are known.
    let mut brought_back: BTreeMap<Block, Vec<Copy>> = BTreeMap::new();
    let coalesce = |sets: &mut MergeSets, copies: &mut Copies, copy: Copy| {
        let source = body.src_def(copy.source);
        let is_isolated = [copy.dest, source].iter().any(|def| copies.isolated.contains(def));
        let differ = apart.is_some_and(|uniform| uniform.contains(copy.dest) != uniform.contains(source));
        if is_isolated || differ || !sets.coalesce(copy.dest, source) {
            copies.copies.push(copy);
        }
    };
    for block in body.blocks() {
        for phi in body.phis(block) {
            let Some(dest) = body.inst_def(phi) else { continue };
            sets.make_web(dest);
            for (pred, source) in body.phi_sources(phi) {
                let copy = Copy { block: pred, source, dest, source_is_register: false, dest_is_register: false };
                if is_undef(body, body.src_def(source)) {
                    continue;
                }
                if dominance.is_reachable(pred) && dominance.dominates(block, pred) {
                    brought_back.entry(pred).or_default().push(copy);
                } else {
                    coalesce(&mut sets, copies, copy);
                }
            }
        }
        for copy in brought_back.remove(&block).unwrap_or_default() {
            coalesce(&mut sets, copies, copy);
        }
    }
    sets
}

/// Whether a predecessor of a block has other successors.
fn has_critical_edge(body: &Body, block: Block) -> bool {
    body.predecessors(block).iter().any(|&pred| body.successors(pred).nth(1).is_some())
}

/// Replaces all uses of an isolated phi by a copy made after the phis.
fn read_isolated(body: &mut Body, registers: &mut Registers, phi: Def) {
    let (Some(block), Some(handle)) = (body.inst_block(body.def_inst(phi)), registers.handle(body, phi)) else {
        return;
    };
    let cursor = Cursor::after_phis(body, block);
    let value = Builder::new(body, cursor).load_reg(handle, 0);
    body.replace_all_uses(phi, value);
}

fn is_undef(body: &Body, def: Def) -> bool {
    matches!(body.inst(body.def_inst(def)), InstData::Undef)
}

/// The registers of the webs, declared on first use.
struct Registers {
    webs: Webs,
    /// Handle of the register of each set.
    handles: Vec<Option<Def>>,
    /// By set: whether anything in the register is divergent.
    divergent: Vec<bool>,
    /// Whether uniform and divergent registers are kept apart.
    apart: bool,
    /// Numbers, above those of sets, for registers that existed before the pass and occur in parallel copies.
    others: HashMap<Def, usize>,
    /// By number: the position of the register in the list of a parallel copy, plus one; all 0 between copies.
    positions: Vec<u32>,
}

impl Registers {
    /// Returns the handle of a value's register, or none if the value stays SSA.
    fn handle(&mut self, body: &mut Body, def: Def) -> Option<Def> {
        self.register(body, def).map(|register| register.1)
    }

    /// Like `handle`, with the number of the register.
    fn register(&mut self, body: &mut Body, def: Def) -> Option<(usize, Def)> {
        let set = self.webs.get(def)?;
        let handle = *self.handles[set].get_or_insert_with(|| declare(body, def, self.divergent[set]));
        Some((set, handle))
    }

    /// Number and handle of a register that existed before the pass.
    fn named(&mut self, handle: Def) -> (usize, Def) {
        let number = *self.others.entry(handle).or_insert_with(|| {
            self.positions.push(0);
            self.positions.len() - 1
        });
        (number, handle)
    }
}

/// Declares a register with the shape of a value.
fn declare(body: &mut Body, like: Def, divergent: bool) -> Def {
    let shape = body.shape(like);
    let mut builder = Builder::at_start(body);
    let handle = builder.decl_reg(shape, 0);
    body.set_index(body.def_inst(handle), IndexKind::Divergent, i32::from(divergent));
    handle
}

/// Step 3: inserts loads and stores, and sequentialises existing parallel copies. Returns the number of extra registers
/// for cycles.
fn resolve(body: &mut Body, registers: &mut Registers) -> usize {
    let mut cycles = 0;
    let blocks = body.blocks_vec();
    for &block in blocks.iter().rev() {
        let mut inst = body.last_inst(block);
        if let Some(CfNode::If(id)) = body.node_after(block) {
            let condition = body.if_condition(id);
            if let Some(handle) = registers.handle(body, body.src_def(condition)) {
                let cursor = Cursor::BlockEnd(block);
                let value = Builder::new(body, cursor).load_reg(handle, 0);
                body.set_src(condition, value);
            }
        }
        while let Some(current) = inst {
            // Instructions inserted below are after `current` or right before it; continue with the present
            // predecessor.
            inst = body.prev_inst(current);
            if body.is_phi(current) {
                for number in (0..body.num_sources(current)).rev() {
                    body.remove_source(current, number);
                }
                continue;
            }
            if let Some(entries) = body.copies(current) {
                let copy = |entry: &CopyEntry| Copy {
                    block,
                    source: body.source(current, entry.source as usize),
                    dest: entry.dest.expand().unwrap_or_else(|| body.src(current, entry.dest_register as usize)),
                    source_is_register: entry.source_is_register,
                    dest_is_register: entry.dest.is_none(),
                };
                let copies: Vec<Copy> = entries.iter().map(copy).collect();
                cycles += sequentialize(body, registers, Cursor::Before(current), &copies);
                remove_copy(body, current);
                continue;
            }
            if let Some(def) = body.inst_def(current)
                && let Some(handle) = registers.handle(body, def)
            {
                let mask = body.full_mask(def);
                Builder::new(body, Cursor::After(current)).store_reg(def, handle, 0, mask);
            }
            load_sources(body, registers, current);
        }
    }
    // Phis are needed until here to look up their sets.
    for block in blocks {
        for phi in body.phis(block).collect::<Vec<_>>() {
            body.remove_inst_with_undef(phi);
        }
    }
    cycles
}

/// Makes each source that belongs to a web read a load right before the instruction. Two sources that read the same
/// register share it.
fn load_sources(body: &mut Body, registers: &mut Registers, inst: Inst) {
    let mut loaded: arrayvec::ArrayVec<(Def, Def), 8> = arrayvec::ArrayVec::new();
    for source in body.sources(inst) {
        let value = body.src_def(source);
        let Some(handle) = registers.handle(body, value) else { continue };
        let value = match loaded.iter().find(|(h, _)| *h == handle) {
            Some(&(_, value)) => value,
            None => {
                let value = Builder::new(body, Cursor::Before(inst)).load_reg(handle, 0);
                let _ = loaded.try_push((handle, value));
                value
            }
        };
        body.set_src(source, value);
    }
}

/// Removes a parallel copy with register destinations that are still used by phis or by later loads: those users are
/// rewritten when the walk reaches them, so the values must exist until then.
fn remove_copy(body: &mut Body, copy: Inst) {
    let dests: Vec<Def> = body.copies(copy).unwrap_or(&[]).iter().filter_map(|e| e.dest.expand()).collect();
    debug_assert!(
        dests.iter().all(|&d| body.uses_of(d).all(|u| match body.user(u) {
            User::Inst(i) => body.is_phi(i),
            User::If(_) => false,
        })),
        "the users of the copy's values follow it and were rewritten"
    );
    for dest in dests {
        // Only phis use these; their sources are removed with them.
        for source in body.uses_vec(dest) {
            if let User::Inst(phi) = body.user(source) {
                body.remove_source(phi, body.source_number(source));
            }
        }
    }
    body.remove_inst(copy);
}

/// Whether a body has neither phis nor parallel copies.
pub(crate) fn is_out_of_ssa(body: &Body) -> bool {
    let is_copy = |inst: Inst| matches!(body.inst(inst), InstData::ParallelCopy(_));
    body.blocks().all(|b| body.phis(b).next().is_none())
        && (!body.has_parallel_copies() || body.blocks().all(|b| !body.insts(b).any(is_copy)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tgsi_ir::alu::AluOp;
    use tgsi_ir::body::JumpKind;
    use tgsi_ir::intrinsics::IntrinsicOp;
    use tgsi_ir::passes::lower_reg_intrinsics_to_ssa;
    use tgsi_ir::shader::ShaderStage;
    use tgsi_ir::{Shape, validate::validate};

    const WORD: Shape = Shape::new(1, 32);

    /// A loop with `count` exits; each leaves with its own value, with one common to all exits, and with one that
    /// changes in every iteration.
    fn many_exits(count: u32) -> Shader {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let registers = [(); 4].map(|()| b.decl_reg(WORD, 0));
        let [changing, own, common, swapped] = registers;
        let one = b.u32_const(1);
        let first = b.intrinsic_def(IntrinsicOp::LoadPreamble, &[], &[], WORD);
        for register in registers {
            b.store_reg(first, register, 0, 1);
        }
        let id = b.push_loop();
        for number in 0..count {
            let old = b.load_reg(changing, 0);
            let new = b.alu(AluOp::Iadd, &[old, one]);
            b.store_reg(new, changing, 0, 1);
            let bound = b.u32_const(number);
            let test = b.alu(AluOp::Ult, &[new, bound]);
            let exit = b.push_if(test);
            let value = b.alu(AluOp::Imul, &[old, new]);
            b.store_reg(value, own, 0, 1);
            b.store_reg(first, common, 0, 1);
            let other = b.load_reg(changing, 0);
            b.store_reg(other, swapped, 0, 1);
            b.jump(JumpKind::Break);
            b.end_if(exit);
        }
        b.end_loop(id);
        for register in registers {
            let value = b.load_reg(register, 0);
            b.intrinsic(IntrinsicOp::StorePreamble, &[value], &[], None);
        }
        assert!(lower_reg_intrinsics_to_ssa(&mut shader));
        validate(&shader).unwrap();
        shader
    }

    /// Uses and members of a set are not walked again for each copy.
    #[test]
    fn merging_is_linear_in_exits() {
        let steps = |count: u32| {
            let mut shader = many_exits(count);
            merge_sets(shader.main_mut(), &mut Copies::default(), None).steps()
        };
        let (few, many) = (steps(200), steps(1600));
        assert!(few >= 200 && many <= 9 * few, "{few} {many}");
        let mut shader = many_exits(50);
        assert!(convert_from_ssa(&mut shader, ConvertFromSsaOptions::default()));
        assert!(is_out_of_ssa(shader.main()));
        validate(&shader).unwrap();
    }
}
