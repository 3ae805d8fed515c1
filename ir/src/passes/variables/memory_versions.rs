//! When places were last touched, and what was noted of them when: what the passes over variables know while they walk
//! along the text.
//!
//! What "touched" means is up to the pass: written for one that walks forward, read for one that walks backward. Time
//! only grows. A fact that was noted of a place holds as long as nothing that may overlap the place was touched since;
//! so nothing has to be searched and removed when something is touched, and both touching and asking cost as much as
//! the path is long.
//!
//! All is words in one vector; a change within a scope is logged, and the end of the scope takes it back. Scopes are
//! the sides of ifs and the bodies of loops, whose effects on later code are a [`TouchSet`]: a bounded list of
//! places, gathered beforehand by [`TouchSets`], that grows coarser rather than long.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, CfNode, CfParent};
use crate::entities::{Block, Def, If, Inst, Loop};
use crate::passes::variables::deref_tree::{COMPONENT_WORDS, DerefTree, NODE_WORDS};
use crate::variable::VariableModes;

/// Words of everything and of modes.
pub(crate) const FIRST_WORD: u32 = 2;
const EVERYTHING: u32 = 0;
const GLOBALS: u32 = 1;
/// Of a node: when it was touched as a whole; the same on its widened path; when something on the widened path or below
/// it was touched; a fact.
const TOUCHED: u32 = 0;
const TOUCHED_WIDE: u32 = 1;
const TOUCHED_BELOW: u32 = 2;
const FACT_TIME: u32 = 3;
const FACT: u32 = 4;
/// Of a component: when it was touched; the same on the widened path; a fact.
const COMPONENT_FACT_TIME: u32 = 2;
const COMPONENT_FACT: u32 = 3;

/// Modes that calls touch.
const GLOBAL_MODES: VariableModes = VariableModes(VariableModes::SHADER_TEMP.0 | VariableModes::SHADER_OUT.0);
/// Places of a set beyond which it says variables, and variables beyond which it says everything.
const MAX_TOUCHES: usize = 32;
/// All components, and all below.
pub(crate) const ALL: u32 = u32::MAX;

/// See the [module](self).
pub(crate) struct AccessTimes {
    words: Vec<u32>,
    log: Vec<(u32, u32)>,
    scopes: Vec<usize>,
    now: u32,
}

impl AccessTimes {
    pub fn new(tree: &DerefTree) -> AccessTimes {
        AccessTimes { words: vec![0; tree.num_words as usize], log: Vec::new(), scopes: Vec::new(), now: 0 }
    }

    fn get(&self, word: u32) -> u32 {
        self.words.get(word as usize).copied().unwrap_or(0)
    }

    fn set(&mut self, word: u32, value: u32) {
        if self.words.len() <= word as usize {
            // Nodes that were made since.
            self.words.resize(word as usize + 64, 0);
        }
        if !self.scopes.is_empty() {
            self.log.push((word, self.words[word as usize]));
        }
        self.words[word as usize] = value;
    }

    /// A new point in time.
    pub fn tick(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    pub fn begin_scope(&mut self) {
        self.scopes.push(self.log.len());
    }

    /// Forgets what happened in the scope.
    pub fn end_scope(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for (word, value) in self.log.drain(start..).rev() {
            self.words[word as usize] = value;
        }
    }

    // ---- touching
    // -----------------------------------------------------------------------------------------------------

    /// Touches components of a place, or all of it.
    pub fn touch(&mut self, tree: &DerefTree, node: u32, mask: u32) {
        let now = self.tick();
        self.touch_at(tree, node, mask, now);
    }

    fn touch_at(&mut self, tree: &DerefTree, node: u32, mask: u32, now: u32) {
        let (merged, widened) = (tree.node(node).merged, tree.node(node).widened);
        let components = u32::from(tree.node(node).components);
        if components == 0 || mask == ALL {
            self.set(tree.node(merged).words + TOUCHED, now);
            self.set(tree.node(widened).words + TOUCHED_WIDE, now);
        } else {
            for c in (0..components).filter(|c| mask >> c & 1 != 0) {
                self.set(component_word(tree, merged, c), now);
                self.set(component_word(tree, widened, c) + 1, now);
            }
        }
        let mut above = Some(widened);
        while let Some(id) = above {
            self.set(tree.node(id).words + TOUCHED_BELOW, now);
            above = tree.node(id).parent;
        }
    }

    pub fn touch_everything(&mut self) {
        let now = self.tick();
        self.set(EVERYTHING, now);
    }

    /// Touches all variables of these modes that other functions or stages see.
    pub fn touch_modes(&mut self, modes: VariableModes) {
        if modes.intersects(GLOBAL_MODES) {
            let now = self.tick();
            self.set(GLOBALS, now);
        }
    }

    pub fn touch_set(&mut self, tree: &DerefTree, set: &TouchSet) {
        let now = self.tick();
        if set.everything {
            self.set(EVERYTHING, now);
            return;
        }
        if set.globals {
            self.set(GLOBALS, now);
        }
        for &(node, mask) in &set.touches {
            self.touch_at(tree, node, mask, now);
        }
    }

    // ---- asking
    // -------------------------------------------------------------------------------------------------------

    /// When one of these components of the place, or something that may overlap them, was last touched; 0 if it never
    /// was.
    pub fn last_touch(&self, tree: &DerefTree, node: u32, mask: u32) -> u32 {
        let data = tree.node(node);
        let mut last = self.get(EVERYTHING);
        if data.mode.intersects(GLOBAL_MODES) {
            last = last.max(self.get(GLOBALS));
        }
        let of_components = |id: u32, word: u32| {
            let components = u32::from(tree.node(id).components);
            (0..components)
                .filter(|c| mask >> c & 1 != 0)
                .map(|c| self.get(component_word(tree, id, c) + word))
                .max()
                .unwrap_or(0)
        };
        if data.is_exact && data.components > 0 {
            if let Some(root) = tree.root(data.root) {
                tree.overlapping(&tree.path(node), root, |id, is_leaf| {
                    last = last.max(self.get(tree.node(id).words + TOUCHED));
                    if is_leaf {
                        last = last.max(of_components(id, 0));
                    }
                });
            }
            return last;
        }
        let leaf = data.widened;
        last = last.max(if data.components > 0 {
            of_components(leaf, 1)
        } else {
            self.get(tree.node(leaf).words + TOUCHED_BELOW)
        });
        let mut above = Some(leaf);
        while let Some(id) = above {
            last = last.max(self.get(tree.node(id).words + TOUCHED_WIDE));
            above = tree.node(id).parent;
        }
        last
    }

    // ---- facts
    // --------------------------------------------------------------------------------------------------------

    /// Notes something of a component: a value and a component of it.
    pub fn note_component(&mut self, tree: &DerefTree, node: u32, component: u8, fact: (Def, u8)) {
        let word = component_word(tree, node, component.into());
        let now = self.tick();
        self.set(word + COMPONENT_FACT_TIME, now);
        self.set(word + COMPONENT_FACT, fact.0.as_u32());
        self.set(word + COMPONENT_FACT + 1, fact.1.into());
    }

    /// What was last noted of a component, if nothing touched it since.
    pub fn component_fact(&self, tree: &DerefTree, node: u32, component: u8) -> Option<(Def, u8)> {
        let word = component_word(tree, node, component.into());
        let time = self.get(word + COMPONENT_FACT_TIME);
        (time != 0 && time > self.last_touch(tree, node, 1 << component))
            .then(|| (Def::from_u32(self.get(word + COMPONENT_FACT)), self.get(word + COMPONENT_FACT + 1) as u8))
    }

    /// When something was noted of a component, if nothing touched it since.
    pub fn component_fact_time(&self, tree: &DerefTree, node: u32, component: u8) -> Option<u32> {
        let time = self.get(component_word(tree, node, component.into()) + COMPONENT_FACT_TIME);
        (time != 0 && time > self.last_touch(tree, node, 1 << component)).then_some(time)
    }

    /// Notes something of a whole place: a number.
    pub fn note(&mut self, tree: &DerefTree, node: u32, fact: u32) {
        let now = self.tick();
        self.set(tree.node(node).words + FACT_TIME, now);
        self.set(tree.node(node).words + FACT, fact);
    }

    /// What was last noted of a whole place, and when, whatever happened since.
    pub fn fact(&self, tree: &DerefTree, node: u32) -> Option<(u32, u32)> {
        let time = self.get(tree.node(node).words + FACT_TIME);
        (time != 0).then(|| (time, self.get(tree.node(node).words + FACT)))
    }
}

fn component_word(tree: &DerefTree, node: u32, component: u32) -> u32 {
    tree.node(node).words + NODE_WORDS + COMPONENT_WORDS * component
}

/// Places that are touched somewhere within an `if` or loop.
#[derive(Clone, Default, Debug)]
pub(crate) struct TouchSet {
    /// Nodes and components, sorted.
    touches: Vec<(u32, u32)>,
    globals: bool,
    everything: bool,
}

impl TouchSet {
    pub fn touch(&mut self, tree: &DerefTree, node: u32, mask: u32) {
        // What overlaps a node overlaps the merged one.
        self.insert(tree.node(node).merged, if tree.node(node).components == 0 { ALL } else { mask });
        self.bound(tree);
    }

    pub fn touch_modes(&mut self, modes: VariableModes) {
        self.globals |= modes.intersects(GLOBAL_MODES);
    }

    pub fn touch_everything(&mut self) {
        *self = TouchSet { everything: true, ..TouchSet::default() };
    }

    fn insert(&mut self, node: u32, mask: u32) {
        if self.everything {
            return;
        }
        match self.touches.binary_search_by_key(&node, |&(n, _)| n) {
            Ok(at) => self.touches[at].1 |= mask,
            Err(at) => self.touches.insert(at, (node, mask)),
        }
    }

    fn merge(&mut self, tree: &DerefTree, other: &TouchSet) {
        if other.everything {
            self.touch_everything();
            return;
        }
        self.globals |= other.globals;
        for &(node, mask) in &other.touches {
            self.insert(node, mask);
        }
        self.bound(tree);
    }

    fn bound(&mut self, tree: &DerefTree) {
        if self.touches.len() <= MAX_TOUCHES {
            return;
        }
        let mut roots: Vec<(u32, u32)> =
            self.touches.iter().filter_map(|&(node, _)| Some((tree.root(tree.node(node).root)?, ALL))).collect();
        roots.sort_unstable();
        roots.dedup();
        self.touches = roots;
        if self.touches.len() > MAX_TOUCHES {
            self.touch_everything();
        }
    }
}

/// What is touched within ifs and loops.
#[derive(Default)]
pub(crate) struct TouchSets {
    /// On the ways through an `if` that come out behind it.
    pub ifs: SecondaryMap<If, TouchSet>,
    pub loops: SecondaryMap<Loop, TouchSet>,
}

impl TouchSets {
    /// Gathers what `touches` says of each instruction.
    pub fn new(body: &Body, tree: &DerefTree, touches: impl Fn(Inst, &mut TouchSet)) -> TouchSets {
        let mut sets = TouchSets::default();
        let mut open = vec![TouchSet::default()];
        for block in body.blocks() {
            if list_begun(body, block).is_some() {
                open.push(TouchSet::default());
            }
            if let Some(top) = open.last_mut() {
                body.insts(block).for_each(|inst| touches(inst, top));
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

/// The list that begins with a block, unless it is that of the function.
pub(crate) fn list_begun(body: &Body, block: Block) -> Option<CfParent> {
    body.block_parent(block).filter(|&parent| parent != CfParent::Function && body.node_before(block).is_none())
}

/// The list that ends with a block, unless it is that of the function.
pub(crate) fn list_ended(body: &Body, block: Block) -> Option<CfParent> {
    let is_last = !matches!(body.node_after(block), Some(CfNode::If(_) | CfNode::Loop(_)));
    body.block_parent(block).filter(|&parent| parent != CfParent::Function && is_last)
}
