//! Sources and lists of uses. Every operation takes O(1), except walks over a list and removing one of many sources of
//! an instruction.

use cranelift_entity::packed_option::{PackedOption, ReservedValue};

use super::{Body, SourceSpec, Swizzle, TexSrcKind, USER_IF, UseNode};
use crate::entities::{Block, Def, If, Inst, Use, User};

/// Number of sources from which on a growing instruction reserves space for more, and a shrinking one shifts the
/// sources before the gap if they are fewer.
const MANY_SOURCES: u32 = 8;

impl Body {
    /// The value that a source reads.
    ///
    /// Must not be called for a source of a removed instruction.
    #[inline]
    pub fn src_def(&self, source: Use) -> Def {
        #[cfg(test)]
        crate::work::step();
        self.uses[source].def.expand().unwrap_or_else(Def::reserved_value)
    }

    /// The instruction or `if` that the source belongs to.
    #[inline]
    pub fn user(&self, source: Use) -> User {
        self.uses[source].user()
    }

    /// Number of the source in its instruction; 0 for the condition of an `if`.
    #[inline]
    pub fn source_number(&self, source: Use) -> usize {
        match self.user(source) {
            User::Inst(inst) => (source.as_u32() - self.insts[inst].first_source) as usize,
            User::If(_) => 0,
        }
    }

    /// The uses of a value, newest first. The list must not change during the walk: see [`Body::uses_vec`].
    pub fn uses_of(&self, def: Def) -> UseIter<'_> {
        UseIter { body: self, next: self.defs[def].first_use }
    }

    /// The next use of the same value.
    #[inline]
    pub(crate) fn next_use(&self, source: Use) -> Option<Use> {
        self.uses[source].next.expand()
    }

    /// The uses of a value as a snapshot.
    pub fn uses_vec(&self, def: Def) -> Vec<Use> {
        self.uses_of(def).collect()
    }

    /// Whether a value has no uses.
    #[inline]
    pub fn is_unused(&self, def: Def) -> bool {
        self.defs[def].first_use.is_none()
    }

    /// The only use of a value; `None` if it has no use or more than one.
    #[inline]
    pub fn single_use(&self, def: Def) -> Option<Use> {
        let first = self.defs[def].first_use.expand()?;
        self.uses[first].next.is_none().then_some(first)
    }

    /// Whether a source is the only use of its value.
    #[inline]
    pub fn is_single_use(&self, source: Use) -> bool {
        let node = &self.uses[source];
        node.prev.is_none() && node.next.is_none()
    }

    /// Whether the value is the condition of an `if`.
    pub fn is_used_by_if(&self, def: Def) -> bool {
        self.uses_of(def).any(|u| matches!(self.user(u), User::If(_)))
    }

    /// Swizzle of an ALU source.
    #[inline]
    pub fn swizzle(&self, source: Use) -> Swizzle {
        Swizzle(self.uses[source].payload)
    }

    /// Sets the swizzle of an ALU source.
    #[inline]
    pub fn set_swizzle(&mut self, source: Use, swizzle: Swizzle) {
        self.uses[source].payload = swizzle.0;
        self.changed_insts();
    }

    /// Predecessor of a phi source.
    #[inline]
    pub fn phi_predecessor(&self, source: Use) -> Block {
        Block::from_u32(self.uses[source].payload as u32)
    }

    /// Sets the predecessor of a phi source.
    pub fn set_phi_predecessor(&mut self, source: Use, block: Block) {
        self.uses[source].payload = u64::from(block.as_u32());
        self.changed_insts();
    }

    /// Kind of a texture source.
    #[inline]
    pub fn tex_src_kind(&self, source: Use) -> TexSrcKind {
        TexSrcKind::ALL[self.uses[source].payload as usize]
    }

    /// The 64 bits stored with a source: swizzle, predecessor or kind.
    pub(crate) fn payload(&self, source: Use) -> u64 {
        self.uses[source].payload
    }

    /// Makes a source read another value.
    #[inline]
    pub fn set_src(&mut self, source: Use, def: Def) {
        if self.uses[source].def.expand() == Some(def) {
            return;
        }
        self.unlink_use(source);
        self.link_use(source, def);
        self.changed_insts();
    }

    /// Makes every use of `def` read `replacement` instead.
    #[inline]
    pub fn replace_all_uses(&mut self, def: Def, replacement: Def) {
        if def == replacement {
            return;
        }
        let Some(first) = self.defs[def].first_use.expand() else { return };
        let others = self.defs[replacement].first_use;
        let mut last = first;
        loop {
            self.uses[last].def = replacement.into();
            let node = &self.uses[last];
            match node.next.expand() {
                Some(next) => last = next,
                None => break,
            }
        }
        // The uses are prepended to those of the replacement.
        self.uses[last].next = others;
        if let Some(other) = others.expand() {
            self.uses[other].prev = last.into();
        }
        self.defs[replacement].first_use = first.into();
        self.defs[def].first_use = PackedOption::default();
        self.changed_insts();
    }

    /// Makes every use of `def`, except those by `except`, read `replacement` instead.
    pub fn replace_uses_except(&mut self, def: Def, replacement: Def, except: Inst) {
        for source in self.uses_vec(def) {
            if self.user(source) != User::Inst(except) {
                self.set_src(source, replacement);
            }
        }
    }

    /// Creates a source of `user` that reads `def`.
    #[inline]
    pub(super) fn push_use(&mut self, user: User, def: Def, payload: u64) -> Use {
        let user = match user {
            User::Inst(inst) => inst.as_u32(),
            User::If(id) => id.as_u32() | USER_IF,
        };
        let source = self.uses.next_key();
        let head = std::mem::replace(&mut self.defs[def].first_use, source.into());
        if let Some(head) = head.expand() {
            self.uses[head].prev = source.into();
        }
        self.uses.push(UseNode { payload, def: def.into(), prev: PackedOption::default(), next: head, user });
        source
    }

    /// Adds a free slot for one more source of an instruction.
    pub(super) fn reserve_source(&mut self, inst: Inst) {
        self.uses.push(UseNode {
            payload: 0,
            def: PackedOption::default(),
            prev: PackedOption::default(),
            next: PackedOption::default(),
            user: inst.as_u32(),
        });
    }

    /// Adds a source at the head of the list of uses of `def`.
    #[inline]
    pub(super) fn link_use(&mut self, source: Use, def: Def) {
        let head = self.defs[def].first_use;
        if let Some(head) = head.expand() {
            self.uses[head].prev = source.into();
        }
        let node = &mut self.uses[source];
        node.def = def.into();
        node.prev = PackedOption::default();
        node.next = head;
        self.defs[def].first_use = source.into();
    }

    /// Removes a source from the list of uses of its value.
    #[inline(always)]
    pub(super) fn unlink_use(&mut self, source: Use) {
        let UseNode { def, prev, next, .. } = self.uses[source];
        let Some(def) = def.expand() else { return };
        match prev.expand() {
            Some(prev) => self.uses[prev].next = next,
            None => self.defs[def].first_use = next,
        }
        if let Some(next) = next.expand() {
            self.uses[next].prev = prev;
        }
        let node = &mut self.uses[source];
        node.def = PackedOption::default();
        node.prev = PackedOption::default();
        node.next = PackedOption::default();
    }

    /// The source of the condition of an `if`.
    pub fn if_condition(&self, id: If) -> Use {
        self.ifs[id].condition
    }

    /// Appends a source to an instruction (phi, call, texture, parallel copy) and returns its number.
    ///
    /// Sources of an instruction are contiguous. Unless there is a free slot after them, or they are already at the end
    /// of the arena, they move there, which invalidates earlier [`Use`] ids of the instruction. When many sources move,
    /// as many slots are reserved after them, so that n sources cost O(n) in whatever order instructions grow.
    pub fn push_source(&mut self, inst: Inst, source: SourceSpec) -> u32 {
        let node = &self.insts[inst];
        let after = Use::from_u32(node.first_source + node.num_sources);
        // Slots that an instruction moved away from precede its current ones, so a slot after these that it owns is
        // free.
        let is_reserved = |node: &UseNode| node.def.is_none() && node.user() == User::Inst(inst);
        if self.uses.get(after).is_some_and(is_reserved) {
            self.uses[after].payload = source.payload;
            self.link_use(after, source.def);
        } else if after.as_u32() as usize == self.uses.len() {
            self.push_use(User::Inst(inst), source.def, source.payload);
        } else {
            self.move_sources_to_end(inst);
            self.push_use(User::Inst(inst), source.def, source.payload);
            let count = self.insts[inst].num_sources;
            if count >= MANY_SOURCES {
                for _ in 0..count {
                    self.reserve_source(inst);
                }
            }
        }
        let node = &mut self.insts[inst];
        node.num_sources += 1;
        let number = node.num_sources - 1;
        self.changed_insts();
        number
    }

    /// Removes source `number` of an instruction (phi, texture); the others keep their order. Invalidates [`Use`] ids
    /// of the instruction. The cost is the number of sources after this one, or before it if there are fewer.
    pub fn remove_source(&mut self, inst: Inst, number: usize) {
        let count = self.num_sources(inst);
        debug_assert!(number < count);
        let after = count - 1 - number;
        if after > MANY_SOURCES as usize && number < after {
            for i in (0..number).rev() {
                self.shift_source(inst, i, i + 1);
            }
            self.unlink_use(self.source(inst, 0));
            self.insts[inst].first_source += 1;
        } else {
            for i in number..count - 1 {
                self.shift_source(inst, i + 1, i);
            }
            self.unlink_use(self.source(inst, count - 1));
        }
        self.insts[inst].num_sources -= 1;
        self.changed_insts();
    }

    /// Makes source `to` of an instruction read the value of source `from`.
    fn shift_source(&mut self, inst: Inst, from: usize, to: usize) {
        let (from, to) = (self.source(inst, from), self.source(inst, to));
        let (def, payload) = (self.src_def(from), self.uses[from].payload);
        self.unlink_use(to);
        self.link_use(to, def);
        self.uses[to].payload = payload;
    }

    fn move_sources_to_end(&mut self, inst: Inst) {
        let node = &self.insts[inst];
        let (first, count) = (node.first_source, node.num_sources);
        let start = self.uses.len() as u32;
        for i in 0..count {
            let old = Use::from_u32(first + i);
            let (def, payload) = (self.src_def(old), self.uses[old].payload);
            self.unlink_use(old);
            self.push_use(User::Inst(inst), def, payload);
        }
        self.insts[inst].first_source = start;
    }

    /// Adds a source for a predecessor to a phi.
    pub fn add_phi_source(&mut self, phi: Inst, predecessor: Block, def: Def) {
        self.push_source(phi, SourceSpec::phi(predecessor, def));
    }
}

/// Iterator over the uses of a value.
pub struct UseIter<'a> {
    body: &'a Body,
    next: PackedOption<Use>,
}

impl Iterator for UseIter<'_> {
    type Item = Use;

    fn next(&mut self) -> Option<Use> {
        #[cfg(test)]
        crate::work::step();
        let current = self.next.expand()?;
        self.next = self.body.uses[current].next;
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::body::Shape;
    use crate::shader::{Shader, ShaderStage};

    fn read(body: &Body, phi: Inst) -> Vec<(u32, Def)> {
        body.phi_sources(phi).map(|(pred, source)| (pred.as_u32(), body.src_def(source))).collect()
    }

    /// Two phis that grow alternately and shrink in several orders.
    #[test]
    fn sources_take_space_in_proportion() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y) = (b.u32_const(1), b.u32_const(2));
        let phis = [(); 2].map(|()| b.phi(Shape::new(1, 32), &[])).map(|phi| b.body.def_inst(phi));
        let body = b.body;
        let count = 4096;
        let start = body.num_uses();
        for pred in 0..count {
            body.add_phi_source(phis[0], Block::from_u32(pred), x);
            body.add_phi_source(phis[1], Block::from_u32(pred), if pred % 3 == 0 { x } else { y });
        }
        assert!(body.num_uses() - start <= 8 * count as usize, "{}", body.num_uses());
        for (phi, step) in [(phis[0], 1), (phis[1], 3)] {
            assert!(
                read(body, phi)
                    .iter()
                    .zip(0..)
                    .all(|(&(pred, def), i)| { pred == i && def == if step == 1 || i % 3 == 0 { x } else { y } })
            );
        }
        // Removing from the front, the back and the middle keeps the order of the others, and the lists of uses of
        // their values.
        let mut left: Vec<(u32, Def)> = read(body, phis[1]);
        for round in 0..3000usize {
            let number = [0, left.len() - 1, left.len() / 2, 2, left.len() - 3][round % 5];
            let (pred, def) = left.remove(number);
            let source = body.phi_source_for(phis[1], Block::from_u32(pred)).unwrap();
            assert_eq!((body.source_number(source), body.src_def(source)), (number, def));
            body.remove_source(phis[1], number);
            assert!(body.phi_source_for(phis[1], Block::from_u32(pred)).is_none());
        }
        assert_eq!(read(body, phis[1]), left);
        assert_eq!(body.uses_of(y).count(), left.iter().filter(|&&(_, def)| def == y).count());
        // The slots after the last source are reused.
        let before = body.num_uses();
        body.add_phi_source(phis[1], Block::from_u32(count), y);
        left.push((count, y));
        assert_eq!((read(body, phis[1]), body.num_uses()), (left, before));
    }

    #[test]
    fn more_sources_than_16_bits_count() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.u32_const(1);
        let count = 70_000;
        let sources: Vec<(Block, Def)> = (0..count).map(|pred| (Block::from_u32(pred), x)).collect();
        let phi = b.phi(Shape::new(1, 32), &sources);
        let (phi, body) = (b.body.def_inst(phi), b.body);
        body.add_phi_source(phi, Block::from_u32(count), x);
        assert_eq!(body.num_sources(phi), count as usize + 1);
        assert_eq!(body.sources(phi).last().map(|s| body.phi_predecessor(s)), Some(Block::from_u32(count)));
    }
}
