//! Sources and lists of uses: every operation is O(1) but for the walks over a list.

use cranelift_entity::packed_option::{PackedOption, ReservedValue};

use super::{Body, Swizzle, TexSrcKind, USER_IF, UseNode};
use crate::entities::{Block, Def, If, Inst, Use, User};

impl Body {
    /// The value that a source reads.
    ///
    /// A source of a removed instruction reads nothing and must not be asked.
    #[inline]
    pub fn src_def(&self, source: Use) -> Def {
        self.uses[source].def.expand().unwrap_or_else(Def::reserved_value)
    }

    /// Who reads through this source.
    #[inline]
    pub fn user(&self, source: Use) -> User {
        self.uses[source].user()
    }

    /// Which source of its instruction this is; 0 for the condition of an `if`.
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

    /// The use of the same value that comes after this one in its list.
    #[inline]
    pub(crate) fn next_use(&self, source: Use) -> Option<Use> {
        self.uses[source].next.expand()
    }

    /// The uses of a value as a snapshot.
    pub fn uses_vec(&self, def: Def) -> Vec<Use> {
        self.uses_of(def).collect()
    }

    /// Whether nothing reads the value.
    #[inline]
    pub fn is_unused(&self, def: Def) -> bool {
        self.defs[def].first_use.is_none()
    }

    /// The only use of a value; none if there is no use or more than one.
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
        self.touch_user(source);
        self.changed_insts();
    }

    /// Predecessor that a phi source belongs to.
    #[inline]
    pub fn phi_predecessor(&self, source: Use) -> Block {
        Block::from_u32(self.uses[source].payload as u32)
    }

    /// Sets the predecessor that a phi source belongs to.
    pub fn set_phi_predecessor(&mut self, source: Use, block: Block) {
        self.uses[source].payload = u64::from(block.as_u32());
        self.changed_insts();
    }

    /// Kind of a texture source.
    #[inline]
    pub fn tex_src_kind(&self, source: Use) -> TexSrcKind {
        TexSrcKind::NAMES[self.uses[source].payload as usize].0
    }

    /// Raw 64 bits beside a source: swizzle, predecessor or kind.
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
        self.touch_user(source);
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
            self.touch_user(last);
            let node = &mut self.uses[last];
            node.def = replacement.into();
            match node.next.expand() {
                Some(next) => last = next,
                None => break,
            }
        }
        // The list goes before that of the other value.
        self.uses[last].next = others;
        if let Some(other) = others.expand() {
            self.uses[other].prev = last.into();
        }
        self.defs[replacement].first_use = first.into();
        self.defs[def].first_use = PackedOption::default();
        self.note_unused(def);
        self.changed_insts();
    }

    /// Makes every use of `def` but those by `except` read `replacement` instead.
    pub fn replace_uses_except(&mut self, def: Def, replacement: Def, except: Inst) {
        for source in self.uses_vec(def) {
            if self.user(source) != User::Inst(except) {
                self.set_src(source, replacement);
            }
        }
    }

    /// A new source for `user`, reading `def`.
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

    #[inline]
    fn touch_user(&mut self, source: Use) {
        if let User::Inst(inst) = self.uses[source].user() {
            self.touch(inst);
        }
    }

    /// Enters a source at the head of the list of uses of `def`.
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

    /// Takes a source out of its value's list of uses.
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
        match self.defs[def].first_use.expand() {
            None => self.note_unused(def),
            Some(only) if self.simplified_for.is_some() && self.uses[only].next.is_none() => self.touch_user(only),
            Some(_) => {}
        }
        let node = &mut self.uses[source];
        node.def = PackedOption::default();
        node.prev = PackedOption::default();
        node.next = PackedOption::default();
    }

    /// The source of an `if`'s condition.
    pub fn if_condition(&self, id: If) -> Use {
        self.ifs[id].condition
    }
}

/// Walk over the uses of a value.
pub struct UseIter<'a> {
    body: &'a Body,
    next: PackedOption<Use>,
}

impl Iterator for UseIter<'_> {
    type Item = Use;

    fn next(&mut self) -> Option<Use> {
        let current = self.next.expand()?;
        self.next = self.body.uses[current].next;
        Some(current)
    }
}
