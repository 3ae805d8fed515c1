//! Memory versions of variables: the state of the passes over variables during their walk over the code.
//!
//! Each pass defines what clobbers memory: writes for one that walks forward, reads for one that walks backward.
//! Versions only grow. A fact recorded about a node holds until a node that may overlap it is clobbered; so clobbering
//! need not search for facts to remove, and both clobbering and queries have a constant cost, independent of the number
//! of facts.
//!
//! All state is words in one vector; a change within a scope is logged, and undone at the end of the scope. Scopes are
//! the sides of ifs and the bodies of loops. Their effects on later code are a [`ClobberSet`]: a bounded list of nodes,
//! collected beforehand by [`ClobberSets`], which gets coarser instead of longer.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, CfNode, CfParent};
use crate::entities::{Block, Def, If, Inst, Loop};
use crate::passes::variables::deref_tree::DerefTree;
use crate::variable::VariableModes;

/// Number of words for everything and for modes.
pub(crate) const FIRST_WORD: u32 = 2;
const EVERYTHING: u32 = 0;
const GLOBALS: u32 = 1;

/// Number of words of a node, without those of its components.
pub(crate) const NODE_WORDS: u32 = 3;
/// Index of the version in which an array was clobbered as a whole.
const CLOBBERED: u32 = 0;
const FACT_VERSION: u32 = 1;
const FACT: u32 = 2;

/// Number of words of a component.
pub(crate) const COMPONENT_WORDS: u32 = 5;
/// Indices of the versions in which it was clobbered through a merged path, and through a widened one.
const COMPONENT_CLOBBERED: u32 = 0;
const COMPONENT_CLOBBERED_WIDE: u32 = 1;
const COMPONENT_FACT_VERSION: u32 = 2;
const COMPONENT_FACT: u32 = 3;

/// Modes that calls clobber.
const GLOBAL_MODES: VariableModes = VariableModes(VariableModes::SHADER_TEMP.0 | VariableModes::SHADER_OUT.0);
/// Number of nodes beyond which a set contains variables instead, and number of variables beyond which it contains
/// everything.
const MAX_CLOBBERS: usize = 32;
/// All components.
pub(crate) const ALL: u32 = u32::MAX;

/// See the [module](self).
pub(crate) struct MemoryVersions {
    words: Vec<u32>,
    log: Vec<(u32, u32)>,
    scopes: Vec<usize>,
    now: u32,
}

impl MemoryVersions {
    pub fn new(tree: &DerefTree) -> MemoryVersions {
        MemoryVersions { words: vec![0; tree.num_words as usize], log: Vec::new(), scopes: Vec::new(), now: 0 }
    }

    fn get(&self, word: u32) -> u32 {
        self.words.get(word as usize).copied().unwrap_or(0)
    }

    fn set(&mut self, word: u32, value: u32) {
        if self.words.len() <= word as usize {
            // Nodes created since.
            self.words.resize(word as usize + 64, 0);
        }
        if !self.scopes.is_empty() {
            self.log.push((word, self.words[word as usize]));
        }
        self.words[word as usize] = value;
    }

    /// Starts a new version.
    pub fn advance(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    pub fn begin_scope(&mut self) {
        self.scopes.push(self.log.len());
    }

    /// Undoes the changes made in the scope.
    pub fn end_scope(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for (word, value) in self.log.drain(start..).rev() {
            self.words[word as usize] = value;
        }
    }

    /// Clobbers components of a node.
    pub fn clobber(&mut self, tree: &DerefTree, node: u32, mask: u32) {
        let now = self.advance();
        self.clobber_at(tree, node, mask, now);
    }

    fn clobber_at(&mut self, tree: &DerefTree, node: u32, mask: u32, now: u32) {
        let data = *tree.node(node);
        if data.components == 0 {
            return self.set(data.words + CLOBBERED, now);
        }
        for c in (0..data.components.into()).filter(|c| mask >> c & 1 != 0) {
            self.set(component_word(tree, data.merged, c) + COMPONENT_CLOBBERED, now);
            self.set(component_word(tree, data.widened, c) + COMPONENT_CLOBBERED_WIDE, now);
        }
    }

    pub fn clobber_everything(&mut self) {
        let now = self.advance();
        self.set(EVERYTHING, now);
    }

    /// Clobbers all variables of these modes that other functions or stages access.
    pub fn clobber_modes(&mut self, modes: VariableModes) {
        if modes.intersects(GLOBAL_MODES) {
            let now = self.advance();
            self.set(GLOBALS, now);
        }
    }

    pub fn clobber_set(&mut self, tree: &DerefTree, set: &ClobberSet) {
        let now = self.advance();
        if set.everything {
            self.set(EVERYTHING, now);
            return;
        }
        if set.globals {
            self.set(GLOBALS, now);
        }
        for &(node, mask) in &set.clobbers {
            self.clobber_at(tree, node, mask, now);
        }
    }

    /// Returns the version in which one of these components of a writable vector, or memory that may overlap it, was
    /// last clobbered; 0 if it never was.
    pub fn last_clobber(&self, tree: &DerefTree, node: u32, mask: u32) -> u32 {
        let data = tree.node(node);
        let mut last = self.get(EVERYTHING);
        if data.mode.intersects(GLOBAL_MODES) {
            last = last.max(self.get(GLOBALS));
        }
        if let Some(array) = data.parent {
            last = last.max(self.get(tree.node(array).words + CLOBBERED));
        }
        for c in (0..data.components.into()).filter(|c| mask >> c & 1 != 0) {
            let wide = component_word(tree, data.widened, c);
            last = last.max(if data.has_index || data.has_wildcard {
                self.get(wide + COMPONENT_CLOBBERED_WIDE)
            } else {
                let exact = component_word(tree, node, c) + COMPONENT_CLOBBERED;
                self.get(exact).max(self.get(wide + COMPONENT_CLOBBERED))
            });
        }
        last
    }

    /// Records a fact about a component: a value and a component of it.
    pub fn note_component(&mut self, tree: &DerefTree, node: u32, component: u8, fact: (Def, u8)) {
        let word = component_word(tree, node, component.into());
        let now = self.advance();
        self.set(word + COMPONENT_FACT_VERSION, now);
        self.set(word + COMPONENT_FACT, fact.0.as_u32());
        self.set(word + COMPONENT_FACT + 1, fact.1.into());
    }

    /// Returns the last fact about a component, unless it was clobbered since.
    pub fn component_fact(&self, tree: &DerefTree, node: u32, component: u8) -> Option<(Def, u8)> {
        self.component_fact_version(tree, node, component)?;
        let word = component_word(tree, node, component.into()) + COMPONENT_FACT;
        Some((Def::from_u32(self.get(word)), self.get(word + 1) as u8))
    }

    /// Returns the version of the last fact about a component, unless it was clobbered since.
    pub fn component_fact_version(&self, tree: &DerefTree, node: u32, component: u8) -> Option<u32> {
        let version = self.get(component_word(tree, node, component.into()) + COMPONENT_FACT_VERSION);
        (version != 0 && version > self.last_clobber(tree, node, 1 << component)).then_some(version)
    }

    /// Records a number as the fact about a whole node.
    pub fn note(&mut self, tree: &DerefTree, node: u32, fact: u32) {
        let now = self.advance();
        self.set(tree.node(node).words + FACT_VERSION, now);
        self.set(tree.node(node).words + FACT, fact);
    }

    /// Returns the version and the last fact about a whole node, even if it was clobbered since.
    pub fn fact(&self, tree: &DerefTree, node: u32) -> Option<(u32, u32)> {
        let version = self.get(tree.node(node).words + FACT_VERSION);
        (version != 0).then(|| (version, self.get(tree.node(node).words + FACT)))
    }
}

fn component_word(tree: &DerefTree, node: u32, component: u32) -> u32 {
    tree.node(node).words + NODE_WORDS + COMPONENT_WORDS * component
}

/// Nodes that are clobbered within an `if` or loop.
#[derive(Clone, Default, Debug)]
pub(crate) struct ClobberSet {
    /// Nodes and components, sorted.
    clobbers: Vec<(u32, u32)>,
    globals: bool,
    everything: bool,
}

impl ClobberSet {
    pub fn clobber(&mut self, tree: &DerefTree, node: u32, mask: u32) {
        // A node that overlaps another also overlaps the merged one.
        self.insert(tree.node(node).merged, mask);
        self.bound(tree);
    }

    pub fn clobber_modes(&mut self, modes: VariableModes) {
        self.globals |= modes.intersects(GLOBAL_MODES);
    }

    fn clobber_everything(&mut self) {
        *self = ClobberSet { everything: true, ..ClobberSet::default() };
    }

    fn insert(&mut self, node: u32, mask: u32) {
        if self.everything {
            return;
        }
        match self.clobbers.binary_search_by_key(&node, |&(n, _)| n) {
            Ok(at) => self.clobbers[at].1 |= mask,
            Err(at) => self.clobbers.insert(at, (node, mask)),
        }
    }

    fn merge(&mut self, tree: &DerefTree, other: &ClobberSet) {
        if other.everything {
            self.clobber_everything();
            return;
        }
        self.globals |= other.globals;
        for &(node, mask) in &other.clobbers {
            self.insert(node, mask);
        }
        self.bound(tree);
    }

    fn bound(&mut self, tree: &DerefTree) {
        if self.clobbers.len() <= MAX_CLOBBERS {
            return;
        }
        let mut roots: Vec<(u32, u32)> =
            self.clobbers.iter().filter_map(|&(node, _)| Some((tree.root(tree.node(node).root)?, ALL))).collect();
        roots.sort_unstable();
        roots.dedup();
        self.clobbers = roots;
        if self.clobbers.len() > MAX_CLOBBERS {
            self.clobber_everything();
        }
    }
}

/// The clobber sets of ifs and loops.
#[derive(Default)]
pub(crate) struct ClobberSets {
    /// Of the sides of an `if` that do not end in a jump.
    pub ifs: SecondaryMap<If, ClobberSet>,
    pub loops: SecondaryMap<Loop, ClobberSet>,
}

impl ClobberSets {
    /// Collects the clobbers that `clobbers` reports for each instruction.
    pub fn new(body: &Body, tree: &DerefTree, clobbers: impl Fn(Inst, &mut ClobberSet)) -> ClobberSets {
        let mut sets = ClobberSets::default();
        let mut open = vec![ClobberSet::default()];
        for block in body.blocks() {
            if list_begun(body, block).is_some() {
                open.push(ClobberSet::default());
            }
            if let Some(top) = open.last_mut() {
                body.insts(block).for_each(|inst| clobbers(inst, top));
            }
            let Some(list) = list_ended(body, block) else { continue };
            let Some(set) = open.pop() else { continue };
            match list {
                CfParent::Then(id) | CfParent::Else(id) => {
                    if body.block_jump(block).is_none() {
                        sets.ifs[id].merge(tree, &set);
                    }
                }
                CfParent::Body(id) | CfParent::Continue(id) => sets.loops[id].merge(tree, &set),
                CfParent::Function => {}
            }
            if let Some(around) = open.last_mut() {
                around.merge(tree, &set);
            }
        }
        sets
    }
}

/// Returns the list that starts with a block, unless it is the function's.
pub(crate) fn list_begun(body: &Body, block: Block) -> Option<CfParent> {
    body.block_parent(block).filter(|&parent| parent != CfParent::Function && body.node_before(block).is_none())
}

/// Returns the list that ends with a block, unless it is the function's.
pub(crate) fn list_ended(body: &Body, block: Block) -> Option<CfParent> {
    let is_last = !matches!(body.node_after(block), Some(CfNode::If(_) | CfNode::Loop(_)));
    body.block_parent(block).filter(|&parent| parent != CfParent::Function && is_last)
}
