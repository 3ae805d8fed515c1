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
use tgsi_ir::analysis::{Dominance, InstOrder, Liveness};
use tgsi_ir::body::CfNode;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Block, Body, Builder, Cursor, Def, Inst, InstData, Shader, Use, User};

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
    let copies = isolate_phis(body);
    let mut sets = MergeSets::new(body);
    sets.collect_phi_webs();
    sets.coalesce(&copies);
    let MergeSets { set_of, sets, .. } = sets;
    let registers = Registers { set_of, handles: sets.into_iter().map(|s| (s.is_web, None)).collect() };
    resolve(body, registers, &copies);
    true
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
    let mut at_end: SecondaryMap<Block, Vec<Use>> = SecondaryMap::new();
    for &block in &copies.blocks {
        for phi in body.phis(block) {
            for (pred, source) in body.phi_sources(phi) {
                if !is_undef(body, body.src_def(source)) {
                    at_end[pred].push(source);
                }
            }
        }
    }
    for &block in &copies.blocks {
        let sources = std::mem::take(&mut at_end[block]);
        if sources.is_empty() {
            continue;
        }
        let values: Vec<Def> = sources.iter().map(|&s| body.src_def(s)).collect();
        let (copy, dests) = body.create_parallel_copy_of(&values);
        body.insert_inst(Cursor::before_jump(body, block), copy);
        for (source, dest) in sources.into_iter().zip(dests) {
            body.set_src(source, dest);
        }
        copies.end[block] = Some(copy);
    }
    for &block in &copies.blocks {
        let phis: Vec<Def> = body.phis(block).filter_map(|phi| body.inst_def(phi)).collect();
        let Some(last) = body.phis(block).last() else { continue };
        let readers: Vec<Vec<Use>> = phis.iter().map(|&phi| body.uses_vec(phi)).collect();
        let (copy, dests) = body.create_parallel_copy_of(&phis);
        body.insert_inst(Cursor::After(last), copy);
        for (readers, dest) in readers.into_iter().zip(dests) {
            for reader in readers {
                body.set_src(reader, dest);
            }
        }
        copies.start[block] = Some(copy);
    }
    copies
}

fn is_undef(body: &Body, def: Def) -> bool {
    matches!(body.inst(body.def_inst(def)), InstData::Undef)
}

/// A set of values that will share a register, in dominance order.
#[derive(Default)]
struct MergeSet {
    defs: Vec<Def>,
    /// Holds a phi or was merged: becomes a register.
    is_web: bool,
}

struct MergeSets<'a> {
    body: &'a Body,
    dominance: std::sync::Arc<Dominance>,
    liveness: std::sync::Arc<Liveness>,
    order: std::sync::Arc<InstOrder>,
    /// Number of the set of a value, plus one; 0 = none yet.
    set_of: SecondaryMap<Def, u32>,
    sets: Vec<MergeSet>,
}

impl<'a> MergeSets<'a> {
    fn new(body: &'a Body) -> Self {
        MergeSets {
            body,
            dominance: body.dominance(),
            liveness: body.liveness(),
            order: body.inst_order(),
            set_of: SecondaryMap::new(),
            sets: Vec::new(),
        }
    }

    fn set(&mut self, def: Def) -> usize {
        if self.set_of[def] == 0 {
            self.sets.push(MergeSet { defs: vec![def], is_web: false });
            self.set_of[def] = self.sets.len() as u32;
        }
        self.set_of[def] as usize - 1
    }

    /// Key of the dominance order: undefined values first, then by block in pre-order of the dominator tree, then by instruction.
    fn key(&self, def: Def) -> (u32, u32, u32) {
        let inst = self.body.def_inst(def);
        if is_undef(self.body, def) {
            return (0, 0, def.as_u32());
        }
        let block = self.body.inst_block(inst).map_or(0, |b| self.dominance.pre_index(b));
        (block + 1, self.order.index(inst), def.as_u32())
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (into, from) = if self.sets[a].defs.len() >= self.sets[b].defs.len() { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.sets[from].defs);
        for &def in &moved {
            self.set_of[def] = into as u32 + 1;
        }
        let kept = std::mem::take(&mut self.sets[into].defs);
        self.sets[into].defs = self.merged(&kept, &moved);
        self.sets[into].is_web |= self.sets[from].is_web;
    }

    fn merged(&self, a: &[Def], b: &[Def]) -> Vec<Def> {
        let mut result = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut k) = (0, 0);
        while i < a.len() || k < b.len() {
            let take_a = k == b.len() || (i < a.len() && self.key(a[i]) <= self.key(b[k]));
            if take_a {
                result.push(a[i]);
                i += 1;
            } else {
                result.push(b[k]);
                k += 1;
            }
        }
        result
    }

    fn collect_phi_webs(&mut self) {
        for block in self.body.blocks() {
            for phi in self.body.phis(block) {
                let Some(def) = self.body.inst_def(phi) else { continue };
                let set = self.set(def);
                self.sets[set].is_web = true;
                for source in self.body.sources(phi) {
                    let value = self.body.src_def(source);
                    if is_undef(self.body, value) {
                        continue;
                    }
                    let (a, b) = (self.set(def), self.set(value));
                    if a != b {
                        self.merge(a, b);
                    }
                }
            }
        }
    }

    fn coalesce(&mut self, copies: &BlockCopies) {
        for &block in &copies.blocks {
            for copy in [copies.start[block], copies.end[block]].into_iter().flatten() {
                for entry in self.body.copies(copy).into_iter().flatten() {
                    let Some(dest) = entry.dest.expand() else { continue };
                    let source = self.body.src(copy, usize::from(entry.source));
                    if matches!(self.body.inst(self.body.def_inst(source)), InstData::LoadConst { .. }) {
                        continue;
                    }
                    let (a, b) = (self.set(dest), self.set(source));
                    if a != b && !self.interfere(a, b) {
                        self.merge(a, b);
                    }
                }
            }
        }
    }

    fn dominates(&self, a: Def, b: Def) -> bool {
        if is_undef(self.body, a) {
            return true;
        }
        let (x, y) = (self.body.def_inst(a), self.body.def_inst(b));
        match (self.body.inst_block(x), self.body.inst_block(y)) {
            (Some(from), Some(to)) if from == to => self.order.index(x) <= self.order.index(y),
            (Some(from), Some(to)) => self.dominance.dominates(from, to),
            _ => false,
        }
    }

    /// Whether two values, of which `a` comes first, hold different things at the same time.
    fn defs_interfere(&self, a: Def, b: Def) -> bool {
        let (x, y) = (self.body.def_inst(a), self.body.def_inst(b));
        if x == y {
            return true;
        }
        if is_undef(self.body, a) || is_undef(self.body, b) {
            return false;
        }
        if self.order.index(x) < self.order.index(y) {
            self.liveness.is_live_after(self.body, a, y)
        } else {
            self.liveness.is_live_after(self.body, b, x)
        }
    }

    /// Whether a value of one set interferes with a value of the other: one walk over both in dominance order, with the stack of values that dominate the
    /// current one.
    fn interfere(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.sets[a].defs, &self.sets[b].defs);
        let mut stack: Vec<(Def, bool)> = Vec::new();
        let (mut i, mut k) = (0, 0);
        while i < x.len() || k < y.len() {
            let from_a = k == y.len() || (i < x.len() && self.key(x[i]) <= self.key(y[k]));
            let current = if from_a { x[i] } else { y[k] };
            if from_a {
                i += 1;
            } else {
                k += 1;
            }
            while stack.last().is_some_and(|&(top, _)| !self.dominates(top, current)) {
                stack.pop();
            }
            if let Some(&(top, top_from_a)) = stack.last()
                && top_from_a != from_a
                && self.defs_interfere(top, current)
            {
                return true;
            }
            stack.push((current, from_a));
        }
        false
    }
}

/// The registers of the webs, declared on first need.
struct Registers {
    set_of: SecondaryMap<Def, u32>,
    /// Whether the set becomes a register, and its handle once it has one.
    handles: Vec<(bool, Option<Def>)>,
}

impl Registers {
    /// Handle of the register of a value, none if the value stays SSA.
    fn handle(&mut self, body: &mut Body, def: Def) -> Option<Def> {
        let set = (self.set_of[def] as usize).checked_sub(1)?;
        let (is_web, handle) = self.handles[set];
        if !is_web {
            return None;
        }
        if handle.is_some() {
            return handle;
        }
        let handle = declare(body, def);
        self.handles[set].1 = Some(handle);
        Some(handle)
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
        registers.handles.iter().filter(|h| h.1.is_some()).count()
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

/// Replaces a parallel copy by loads and stores in an order that loses nothing. Returns how many extra registers cycles needed.
///
/// Destinations that stay SSA values are read first of all: nothing of the sequence has been written then. Between registers it is the shell game: `location[v]` is where the
/// content of `v` is now, a destination is ready when nobody needs what it holds any more.
fn sequentialize(body: &mut Body, registers: &mut Registers, copy: Inst) -> usize {
    #[derive(Clone, Copy)]
    enum Value {
        Ssa(Def),
        Register(Def),
    }
    let entries = body.copies(copy).unwrap_or(&[]).to_vec();
    let mut values: Vec<Value> = Vec::new();
    let mut value_of_register: SecondaryMap<Def, u32> = SecondaryMap::new();
    // For each value (register): which value it is to receive.
    let mut wanted: Vec<Option<usize>> = Vec::new();
    let mut destinations: Vec<usize> = Vec::new();
    let mut cursor = Cursor::Before(copy);

    let mut number_of = |values: &mut Vec<Value>, wanted: &mut Vec<Option<usize>>, value: Value| match value {
        Value::Register(handle) => {
            if value_of_register[handle] == 0 {
                values.push(value);
                wanted.push(None);
                value_of_register[handle] = values.len() as u32;
            }
            value_of_register[handle] as usize - 1
        }
        Value::Ssa(_) => {
            values.push(value);
            wanted.push(None);
            values.len() - 1
        }
    };

    for entry in &entries {
        let source = body.src(copy, usize::from(entry.source));
        let from = match registers.handle(body, source) {
            Some(handle) => Value::Register(handle),
            None => Value::Ssa(source),
        };
        let Some(dest) = entry.dest.expand() else { continue };
        match registers.handle(body, dest) {
            None => {
                let value = match from {
                    Value::Ssa(value) => value,
                    Value::Register(handle) => {
                        let mut builder = Builder::new(body, cursor);
                        let value = builder.load_reg(handle, 0);
                        cursor = builder.cursor;
                        value
                    }
                };
                body.replace_all_uses(dest, value);
            }
            Some(handle) => {
                if matches!(from, Value::Register(source) if source == handle) {
                    continue;
                }
                let a = number_of(&mut values, &mut wanted, from);
                let b = number_of(&mut values, &mut wanted, Value::Register(handle));
                wanted[b] = Some(a);
                destinations.push(b);
            }
        }
    }

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
