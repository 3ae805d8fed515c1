//! Regions of blocks with one entry and one exit.

use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

use crate::editor::Editor;
use crate::graph::Graph;
use crate::module::{Block, Function, Inst};

/// Blocks with one entry and one exit: `before` branches to `entry`, `last` to `exit`. Neither `entry` nor `exit` has
/// phis or other predecessors.
#[derive(Clone, Debug)]
pub struct Region {
    /// The block before the region.
    pub before: u32,
    /// The first block.
    pub entry: u32,
    /// The block that branches to the exit.
    pub last: u32,
    /// The block behind the region.
    pub exit: u32,
    /// Labels of all blocks in the region.
    pub inside: FxHashSet<u32>,
    /// Other targets outside of the region: those of breaks and continues.
    pub others: Vec<u32>,
    /// Whether it contains returns.
    pub has_returns: bool,
}

/// A value that is defined in a region and used outside.
#[derive(Clone, Copy, Debug)]
pub struct Escape {
    /// The value.
    pub id: u32,
    /// Its type.
    pub ty: u32,
}

/// Returns the positions at which a block may be split.
pub fn split_positions(block: &Block) -> Vec<usize> {
    let (start, end) = (block.start(), block.end());
    // The result of OpSampledImage is used in its own block.
    let mut lasts: FxHashMap<u32, usize> = FxHashMap::default();
    let mut is_open = vec![false; block.body.len() + 1];
    for (at, inst) in block.body.iter().enumerate() {
        if inst.op == Op::SampledImage {
            lasts.extend(inst.result().map(|id| (id, at)));
            continue;
        }
        for id in inst.uses() {
            if let Some(&from) = lasts.get(&id) {
                is_open[from + 1..=at].fill(true);
            }
        }
    }
    (start..=end).filter(|&at| !is_open[at]).collect()
}

/// Splits a block at a position. Returns the label of the second part.
pub fn split(function: &mut Function, number: usize, at: usize, label: u32) -> Option<u32> {
    let block = function.blocks.get_mut(number)?;
    if !split_positions(block).contains(&at) {
        return None;
    }
    let old = block.label;
    let mut rest = block.body.split_off(at);
    if let Some(place) = rest.iter().position(|inst| inst.op == Op::LoopMerge) {
        let mut merge = rest.remove(place);
        let targets = Block { label, body: rest.clone() }.targets();
        let is_exit = targets.iter().any(|target| merge.words[..2].contains(target));
        match rest.last()?.op {
            Op::Branch => {}
            Op::BranchConditional if is_exit => {}
            _ => return None,
        }
        // The only block of a loop becomes a header and a continue construct.
        if merge.words[1] == old {
            if !targets.contains(&old) {
                return None;
            }
            merge.words[1] = label;
        }
        block.body.push(merge);
    }
    block.body.push(Inst::new(Op::Branch, [label]));
    let second = Block { label, body: rest };
    let targets = second.targets();
    function.blocks.insert(number + 1, second);
    for block in function.blocks.iter_mut().filter(|block| targets.contains(&block.label)) {
        block.rename_predecessor(old, label);
    }
    Some(label)
}

impl Editor {
    /// Splits a block at a random position. Returns the label of the second part.
    pub fn split_somewhere(&mut self, function: usize, block: usize) -> Option<u32> {
        let positions = split_positions(self.module.functions[function].blocks.get(block)?);
        let at = self.random.choose(&positions)?;
        let label = self.fresh();
        split(&mut self.module.functions[function], block, at, label)
    }

    /// Chooses a reachable block.
    pub fn choose_block(&mut self, function: usize) -> Option<usize> {
        let graph = Graph::new(&self.module.functions[function])?;
        let reachable: Vec<usize> = (0..graph.successors.len()).filter(|&block| graph.is_reachable(block)).collect();
        self.random.choose(&reachable)
    }

    /// Inserts a block before a loop header, which receives all entering edges. Returns its label.
    fn add_preheader(&mut self, function: usize, header: usize) -> Option<u32> {
        let graph = Graph::new(&self.module.functions[function])?;
        let old = self.module.functions[function].blocks[header].label;
        let outer: Vec<usize> =
            graph.predecessors[header].iter().copied().filter(|&from| !graph.encloses(header, from)).collect();
        if outer.is_empty() {
            return None;
        }
        let label = self.fresh();
        let outer_labels: Vec<u32> =
            outer.iter().map(|&from| self.module.functions[function].blocks[from].label).collect();
        // Operands of several entering edges meet in the new block.
        let mut phis = Vec::new();
        let count = self.module.functions[function].blocks[header].body.iter().take_while(|i| i.op == Op::Phi).count();
        for at in 0..count {
            let id = self.fresh();
            let phi = &mut self.module.functions[function].blocks[header].body[at];
            let pairs: Vec<(u32, u32)> = phi.words[2..].chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let (entering, rest): (Vec<_>, Vec<_>) =
                pairs.into_iter().partition(|(_, from)| outer_labels.contains(from));
            let value = match entering[..] {
                [] => return None,
                [(value, _)] => value,
                _ => {
                    let words = [phi.words[0], id].into_iter().chain(entering.iter().flat_map(|&(v, from)| [v, from]));
                    phis.push(Inst::new(Op::Phi, words.collect::<Vec<_>>()));
                    id
                }
            };
            phi.words.truncate(2);
            phi.words.extend([(value, label)].into_iter().chain(rest).flat_map(|(value, from)| [value, from]));
        }
        let blocks = &mut self.module.functions[function].blocks;
        for &from in &outer {
            blocks[from].retarget(old, label);
        }
        for (number, block) in blocks.iter_mut().enumerate().filter(|&(number, _)| number != header) {
            let end = block.end();
            if let Some(merge) = block.body.get_mut(end).filter(|inst| inst.is_merge()) {
                let is_inner = graph.encloses(header, number);
                let labels = if merge.op == Op::LoopMerge { 2 } else { 1 };
                for word in merge.words.iter_mut().take(labels).filter(|word| **word == old && !is_inner) {
                    *word = label;
                }
            }
        }
        phis.push(Inst::new(Op::Branch, [old]));
        blocks.insert(header, Block { label, body: phis });
        Some(label)
    }

    /// Cuts a random region out of a function, by splitting its first and last block.
    pub fn carve(&mut self, function: usize) -> Option<Region> {
        let block = self.choose_block(function)?;
        let before = self.module.functions[function].blocks[block].label;
        let entry = self.split_somewhere(function, block)?;
        let graph = Graph::new(&self.module.functions[function])?;
        let mut chain = vec![graph.numbers[&entry]];
        loop {
            let &at = chain.last()?;
            let next = match graph.merges[at] {
                Some((merge, _)) => Some(merge),
                None => match graph.successors[at][..] {
                    [next] => Some(next),
                    _ => None,
                },
            };
            let is_next = |&next: &usize| graph.is_reachable(next) && graph.parent(next) == Some(at);
            match next.filter(is_next) {
                Some(next) if !chain.contains(&next) => chain.push(next),
                _ => break,
            }
        }
        // Short regions are as useful as long ones.
        let length = if self.random.one_in(2) { chain.len().min(2) } else { chain.len() };
        let &end = chain.get(self.random.below(length))?;
        let label = self.module.functions[function].blocks[end].label;
        let is_loop = self.module.functions[function].blocks[end].merge().is_some_and(|inst| inst.op == Op::LoopMerge);
        let last = if is_loop { self.add_preheader(function, end)? } else { label };
        let number = self.module.functions[function].block(last)?;
        let exit = self.split_somewhere(function, number)?;
        self.region(function, before, entry, last, exit)
    }

    fn region(&self, function: usize, before: u32, entry: u32, last: u32, exit: u32) -> Option<Region> {
        let function = &self.module.functions[function];
        let graph = Graph::new(function)?;
        let (first, behind) = (*graph.numbers.get(&entry)?, *graph.numbers.get(&exit)?);
        let is_inside = |block: usize| graph.encloses(first, block) && !graph.encloses(behind, block);
        let mut region =
            Region { before, entry, last, exit, inside: FxHashSet::default(), others: Vec::new(), has_returns: false };
        for (number, block) in function.blocks.iter().enumerate().filter(|&(number, _)| is_inside(number)) {
            region.inside.insert(block.label);
            let others = graph.successors[number].iter().copied().filter(|&to| !is_inside(to) && to != behind);
            region.others.extend(others.map(|to| function.blocks[to].label));
            region.has_returns |=
                block.terminator().is_some_and(|inst| matches!(inst.op, Op::Return | Op::ReturnValue));
        }
        (region.inside.contains(&last) && graph.predecessors[behind].len() == 1).then_some(region)
    }

    /// Returns the values that leave a region, all of which are used only where the exit dominates.
    pub fn escapes(&self, function: usize, region: &Region) -> Option<Vec<Escape>> {
        let function = &self.module.functions[function];
        let graph = Graph::new(function)?;
        let &exit = graph.numbers.get(&region.exit)?;
        let mut types = FxHashMap::default();
        for block in function.blocks.iter().filter(|block| region.inside.contains(&block.label)) {
            types.extend(block.body.iter().filter_map(|inst| Some((inst.result()?, inst.ty()?))));
        }
        let mut found: Vec<Escape> = Vec::new();
        for (number, block) in function.blocks.iter().enumerate() {
            for inst in &block.body {
                for place in inst.id_places() {
                    let id = inst.words[place];
                    let Some(&ty) = types.get(&id) else { continue };
                    // A phi uses its operand at the end of the predecessor.
                    let from = match inst.op {
                        Op::Phi => *graph.numbers.get(inst.words.get(place + 1)?)?,
                        _ => number,
                    };
                    if region.inside.contains(&function.blocks[from].label) {
                        continue;
                    }
                    if !graph.dominates(exit, from) {
                        return None;
                    }
                    if found.iter().all(|escape| escape.id != id) {
                        found.push(Escape { id, ty });
                    }
                }
            }
        }
        Some(found)
    }

    /// Replaces values of a region behind it.
    pub fn rename_outside(&mut self, function: usize, region: &Region, names: &FxHashMap<u32, u32>) {
        for block in &mut self.module.functions[function].blocks {
            let is_inside = region.inside.contains(&block.label);
            for inst in &mut block.body {
                if inst.op == Op::Phi {
                    for place in (2..inst.words.len().saturating_sub(1)).step_by(2) {
                        if !region.inside.contains(&inst.words[place + 1]) {
                            inst.words[place] = names.get(&inst.words[place]).copied().unwrap_or(inst.words[place]);
                        }
                    }
                } else if !is_inside {
                    inst.rename(|id| names.get(&id).copied().unwrap_or(id));
                }
            }
        }
    }

    /// Adds phis to the exit for values that leave a region, which other edges to the exit now bypass.
    pub fn add_bypass(&mut self, function: usize, region: &Region, from: &[u32]) -> Option<()> {
        let mut names = FxHashMap::default();
        let mut phis = Vec::new();
        for Escape { id, ty } in self.escapes(function, region)? {
            if !self.class(ty).is_data() {
                return None;
            }
            let phi = self.fresh();
            let mut words = vec![ty, phi, id, region.last];
            for &label in from {
                words.extend([self.any_value(ty), label]);
            }
            phis.push(Inst::new(Op::Phi, words));
            names.insert(id, phi);
        }
        self.rename_outside(function, region, &names);
        let exit = self.module.functions[function].block(region.exit)?;
        self.insert(function, exit, 0, phis);
        Some(())
    }

    /// Returns the block that enters a region, for a new terminator: `before` or a new block. Its branch is removed.
    pub fn head(&mut self, function: usize, region: &Region) -> Option<usize> {
        let before = self.module.functions[function].block(region.before)?;
        let block = &mut self.module.functions[function].blocks[before];
        let is_header = block.merge().is_some();
        if !is_header && self.random.one_in(2) {
            block.body.pop();
            return Some(before);
        }
        let label = self.fresh();
        let blocks = &mut self.module.functions[function].blocks;
        blocks[before].retarget(region.entry, label);
        blocks.insert(before + 1, Block { label, body: Vec::new() });
        Some(before + 1)
    }

    /// Appends a block behind another one.
    pub fn add_block(&mut self, function: usize, behind: usize, label: u32, body: Vec<Inst>) {
        self.module.functions[function].blocks.insert(behind + 1, Block { label, body });
    }
}
