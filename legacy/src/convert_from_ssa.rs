//! Out of SSA: phis become registers.
//!
//! ```text
//! block b3: // preds: b1 b2                      block b1:  ...  @store_reg (%4, %r)
//! 32 %9 = phi b1: %4, b2: %7             =>      block b2:  ...  @store_reg (%7, %r)
//! 32 %10 = iadd %9, %9                           block b3:  32 %11 = @load_reg (%r)
//!                                                           32 %10 = iadd %11, %11
//! ```
//!
//! After Boissinot, Darte, Rastello, Dupont de Dinechin, Guillon: "Revisiting Out-of-SSA Translation for Correctness, Code Quality, and
//! Efficiency" (2009), as NIR applies it:
//!
//! 1. every phi is *isolated*: parallel copies at the end of the predecessors and at the start of its block give it values of its own;
//! 2. the values of a phi then cannot interfere and form a *web*; copies are removed by merging the sets of source and destination where no two values of
//!    the union interfere (a linear walk in dominance order);
//! 3. a web becomes a register; each reading of one of its values a `load_reg` right before the reader, each definition a `store_reg` right behind;
//! 4. the copies that remain are put in sequence, a cycle with the help of one more register.
//!
//! Only values connected to phis become registers; the others stay SSA. No phi and no parallel copy is left. Phi sources that are undefined get no
//! copy. A constant is never part of a web: it is stored.

use cranelift_entity::SecondaryMap;
use log::trace;
use tgsi_ir::body::CfNode;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Block, Body, Builder, Cursor, Def, Inst, InstData, Shader, Use, User};

use crate::merge_sets::{MergeSets, Webs};

/// Turns the phis of all functions into registers. Returns whether there were any.
pub fn convert_from_ssa(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= convert_body(body);
    }
    progress
}

fn convert_body(body: &mut Body) -> bool {
    if body.blocks().all(|b| body.phis(b).next().is_none()) {
        return false;
    }
    body.release_spare();
    let copies = isolate_phis(body);
    let webs = merge_sets(body, &copies).finish();
    let registers = Registers { handles: vec![None; webs.count], places: vec![0; webs.count], webs };
    resolve(body, registers, &copies);
    true
}

/// The sets of values that share registers.
fn merge_sets(body: &Body, copies: &BlockCopies) -> MergeSets {
    let mut sets = MergeSets::new(body);
    collect_phi_webs(body, &mut sets);
    coalesce(body, &mut sets, copies);
    sets
}

/// Puts the values of each phi into one set, which will be a register.
fn collect_phi_webs(body: &Body, sets: &mut MergeSets) {
    for block in body.blocks() {
        for phi in body.phis(block) {
            let Some(def) = body.inst_def(phi) else { continue };
            sets.make_web(def);
            for source in body.sources(phi) {
                let value = body.src_def(source);
                if !is_undef(body, value) {
                    sets.merge(def, value);
                }
            }
        }
    }
}

/// Merges the sets of source and destination of every copy where no two values of the union interfere.
fn coalesce(body: &Body, sets: &mut MergeSets, copies: &BlockCopies) {
    for &block in &copies.blocks {
        for copy in [copies.start[block], copies.end[block]].into_iter().flatten() {
            for entry in body.copies(copy).into_iter().flatten() {
                let Some(dest) = entry.dest.expand() else { continue };
                let source = body.src(copy, entry.source as usize);
                if !sets.interfere(dest, source) {
                    sets.merge(dest, source);
                }
            }
        }
    }
}

/// The parallel copies of each block: (at its start, at its end).
struct BlockCopies {
    blocks: Vec<Block>,
    start: SecondaryMap<Block, Option<Inst>>,
    end: SecondaryMap<Block, Option<Inst>>,
}

/// Steps 1 and 2 of the module documentation's first point: copies for every phi.
fn isolate_phis(body: &mut Body) -> BlockCopies {
    let blocks = body.blocks_vec();
    let mut copies = BlockCopies { blocks, start: SecondaryMap::new(), end: SecondaryMap::new() };
    // First what every predecessor copies, so that each parallel copy is made in one go.
    let mut at_end: Vec<(Block, Use)> = Vec::new();
    for &block in &copies.blocks {
        for phi in body.phis(block) {
            at_end.extend(body.phi_sources(phi).filter(|&(_, source)| !is_undef(body, body.src_def(source))));
        }
    }
    at_end.sort_by_key(|&(pred, _)| pred);
    for sources in at_end.chunk_by(|a, b| a.0 == b.0) {
        let block = sources[0].0;
        let values: Vec<Def> = sources.iter().map(|&(_, source)| body.src_def(source)).collect();
        let (copy, dests) = body.create_parallel_copy_of(&values);
        body.insert_inst(Cursor::before_jump(body, block), copy);
        for (&(_, source), dest) in sources.iter().zip(dests) {
            body.set_src(source, dest);
        }
        copies.end[block] = Some(copy);
    }
    for &block in &copies.blocks {
        let phis: Vec<Def> = body.phis(block).filter_map(|phi| body.inst_def(phi)).collect();
        let Some(last) = body.phis(block).last() else { continue };
        let (copy, dests) = body.create_parallel_copy_of(&phis);
        body.insert_inst(Cursor::After(last), copy);
        for (number, (&phi, dest)) in phis.iter().zip(dests).enumerate() {
            // Whole lists of readers, the copy among them.
            body.replace_all_uses(phi, dest);
            body.set_src(body.source(copy, number), phi);
        }
        copies.start[block] = Some(copy);
    }
    copies
}

fn is_undef(body: &Body, def: Def) -> bool {
    matches!(body.inst(body.def_inst(def)), InstData::Undef)
}

/// The registers of the webs, declared on first need.
struct Registers {
    webs: Webs,
    /// Handle of the register of each set.
    handles: Vec<Option<Def>>,
    /// Place of each register in the list of a parallel copy, plus one; all 0 between copies.
    places: Vec<u32>,
}

impl Registers {
    /// Handle of the register of a value, none if the value stays SSA.
    fn handle(&mut self, body: &mut Body, def: Def) -> Option<Def> {
        self.register(body, def).map(|register| register.1)
    }

    /// The same with the number of the register.
    fn register(&mut self, body: &mut Body, def: Def) -> Option<(usize, Def)> {
        let set = self.webs.get(def)?;
        let handle = *self.handles[set].get_or_insert_with(|| declare(body, def));
        Some((set, handle))
    }
}

/// A register of the shape of a value.
fn declare(body: &mut Body, like: Def) -> Def {
    let shape = body.shape(like);
    let divergent = i32::from(body.is_divergent(like));
    let mut builder = Builder::at_start(body);
    let handle = builder.decl_reg(shape, 0);
    body.set_index(body.def_inst(handle), IndexKind::Divergent, divergent);
    handle
}

/// Steps 3 and 4: loads, stores, sequential copies.
fn resolve(body: &mut Body, mut registers: Registers, copies: &BlockCopies) {
    let mut registers_made = 0usize;
    for &block in copies.blocks.iter().rev() {
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
            // Instructions made below stand behind `current` or right before it; what comes next is what stands before now.
            inst = body.prev_inst(current);
            if body.is_phi(current) {
                continue;
            }
            if body.copies(current).is_some() {
                registers_made += sequentialize(body, &mut registers, current);
                continue;
            }
            if let Some(def) = body.inst_def(current)
                && let Some(handle) = registers.handle(body, def)
            {
                let mask = (1 << body.num_components(def)) - 1;
                Builder::new(body, Cursor::After(current)).store_reg(def, handle, 0, mask);
            }
            load_sources(body, &mut registers, current);
        }
    }
    // Phis are left for last: until now other blocks' copies could be asked for their sets.
    for &block in &copies.blocks {
        let phis: Vec<Inst> = body.phis(block).collect();
        for phi in phis {
            let count = body.num_sources(phi);
            for number in (0..count).rev() {
                body.remove_source(phi, number);
            }
        }
    }
    for &block in &copies.blocks {
        let phis: Vec<Inst> = body.phis(block).collect();
        for phi in phis {
            body.remove_inst_with_undef(phi);
        }
    }
    trace!(
        "convert_from_ssa: {} registers, {registers_made} of them for cycles of copies",
        registers.handles.iter().flatten().count()
    );
}

/// Makes each source that belongs to a web read a load right before the instruction. Two sources that read the same register share it.
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

/// What a parallel copy transfers.
#[derive(Clone, Copy)]
enum Value {
    Ssa(Def),
    Register(Def),
}

/// The values of a parallel copy, and for each (register) the one that it is to receive.
struct Transfer {
    values: Vec<Value>,
    wanted: Vec<Option<usize>>,
    /// Registers that have a place in [`Registers::places`].
    numbered: Vec<usize>,
}

impl Transfer {
    fn add(&mut self, value: Value) -> usize {
        self.values.push(value);
        self.wanted.push(None);
        self.values.len() - 1
    }

    /// Place of a register; a new one when it comes first.
    fn register(&mut self, registers: &mut Registers, (number, handle): (usize, Def)) -> usize {
        if registers.places[number] == 0 {
            self.add(Value::Register(handle));
            registers.places[number] = self.values.len() as u32;
            self.numbered.push(number);
        }
        registers.places[number] as usize - 1
    }
}

/// Replaces a parallel copy by loads and stores in an order that loses nothing. Returns how many extra registers cycles needed.
///
/// Destinations that stay SSA values are read first of all: nothing of the sequence has been written then. Between registers it is the shell game: `location[v]` is where the
/// content of `v` is now, a destination is ready when nobody needs what it holds any more.
fn sequentialize(body: &mut Body, registers: &mut Registers, copy: Inst) -> usize {
    let entries = body.copies(copy).unwrap_or(&[]).to_vec();
    let mut transfer = Transfer { values: Vec::new(), wanted: Vec::new(), numbered: Vec::new() };
    let mut destinations: Vec<usize> = Vec::new();
    let mut cursor = Cursor::Before(copy);

    for entry in &entries {
        let source = body.src(copy, entry.source as usize);
        let from = registers.register(body, source);
        let Some(dest) = entry.dest.expand() else { continue };
        match registers.register(body, dest) {
            None => {
                let value = match from {
                    None => source,
                    Some((_, handle)) => {
                        let mut builder = Builder::new(body, cursor);
                        let value = builder.load_reg(handle, 0);
                        cursor = builder.cursor;
                        value
                    }
                };
                body.replace_all_uses(dest, value);
            }
            Some(to) => {
                if from.is_some_and(|from| from.0 == to.0) {
                    continue;
                }
                let a = match from {
                    None => transfer.add(Value::Ssa(source)),
                    Some(from) => transfer.register(registers, from),
                };
                let b = transfer.register(registers, to);
                transfer.wanted[b] = Some(a);
                destinations.push(b);
            }
        }
    }
    for &set in &transfer.numbered {
        registers.places[set] = 0;
    }
    let Transfer { mut values, mut wanted, .. } = transfer;

    let mut emit = |body: &mut Body, from: Value, to: Def| {
        let mut builder = Builder::new(body, cursor);
        let value = match from {
            Value::Ssa(value) => value,
            Value::Register(handle) => builder.load_reg(handle, 0),
        };
        let mask = (1 << builder.body.num_components(value)) - 1;
        builder.store_reg(value, to, 0, mask);
        cursor = builder.cursor;
    };

    let count = values.len();
    let mut location: Vec<Option<usize>> = vec![None; count];
    for &b in &destinations {
        if let Some(a) = wanted[b] {
            location[a] = Some(a);
        }
    }
    // Ready: a destination whose present content nobody wants.
    let mut ready: Vec<usize> = destinations.iter().copied().filter(|&b| location[b].is_none()).collect();
    let mut to_do = destinations.clone();
    let mut extra = 0;
    while let Some(start) = to_do.pop() {
        if wanted[start].is_some() && ready.is_empty() {
            // Only cycles are left: move the content of one member aside.
            if let Value::Register(handle) = values[start] {
                let aside = declare_like_register(body, handle);
                emit(body, values[start], aside);
                values.push(Value::Register(aside));
                wanted.push(None);
                location.push(None);
                location[start] = Some(values.len() - 1);
                ready.push(start);
                extra += 1;
            }
        }
        while let Some(b) = ready.pop() {
            let Some(a) = wanted[b].take() else { continue };
            let from = location[a].unwrap_or(a);
            if let Value::Register(to) = values[b] {
                emit(body, values[from], to);
            }
            // The content of `a` is in `b` now too; if `a` itself waits for something, it may be overwritten.
            if from == a && wanted[a].is_some() {
                ready.push(a);
            }
            location[a] = Some(b);
        }
        if wanted[start].is_some() {
            to_do.push(start);
        }
    }
    remove_copy(body, copy);
    extra
}

fn declare_like_register(body: &mut Body, handle: Def) -> Def {
    let shape = body.register_shape(handle);
    let divergent = body.index(body.def_inst(handle), IndexKind::Divergent);
    let handle = Builder::at_start(body).decl_reg(shape, 0);
    body.set_index(body.def_inst(handle), IndexKind::Divergent, divergent);
    handle
}

/// Removes a parallel copy whose register destinations are still read as phi sources or by loads to come: their readers are rewritten when their own
/// turn comes, so the values must stay readable by name until then.
fn remove_copy(body: &mut Body, copy: Inst) {
    let dests: Vec<Def> = body.copies(copy).unwrap_or(&[]).iter().filter_map(|e| e.dest.expand()).collect();
    debug_assert!(
        dests.iter().all(|&d| body.uses_of(d).all(|u| match body.user(u) {
            User::Inst(i) => body.is_phi(i),
            User::If(_) => false,
        })),
        "what reads the copy's values stands behind it and was rewritten"
    );
    for dest in dests {
        // Only phis read these; their sources go with them.
        for source in body.uses_vec(dest) {
            if let User::Inst(phi) = body.user(source) {
                body.remove_source(phi, body.source_number(source));
            }
        }
    }
    body.remove_inst(copy);
}

/// Whether a shader has neither phis nor parallel copies.
pub fn is_out_of_ssa(body: &Body) -> bool {
    body.blocks().all(|b| body.insts(b).all(|i| !matches!(body.inst(i), InstData::Phi | InstData::ParallelCopy(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tgsi_ir::alu::AluOp;
    use tgsi_ir::body::JumpKind;
    use tgsi_ir::intrinsics::IntrinsicOp;
    use tgsi_ir::passes::lower_reg_intrinsics_to_ssa;
    use tgsi_ir::shader::Stage;
    use tgsi_ir::{Shape, validate::validate};

    const WORD: Shape = Shape::new(1, 32);

    /// A loop of as many exits, each of which leaves with values of its own, with one that all have in common, and with one that changes all along.
    fn many_exits(count: u32) -> Shader {
        let mut shader = Shader::new(Stage::Compute);
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

    /// Neither readers nor members of a set are gone through again for each copy.
    #[test]
    fn merging_is_linear_in_exits() {
        let steps = |count: u32| {
            let mut shader = many_exits(count);
            let body = shader.main_mut();
            let copies = isolate_phis(body);
            merge_sets(body, &copies).steps()
        };
        let (few, many) = (steps(200), steps(1600));
        assert!(few >= 200 && many <= 9 * few, "{few} {many}");
        let mut shader = many_exits(50);
        assert!(convert_from_ssa(&mut shader));
        assert!(is_out_of_ssa(shader.main()));
        validate(&shader).unwrap();
    }
}
