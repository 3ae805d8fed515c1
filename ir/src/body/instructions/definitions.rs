//! Values: their instructions, shapes and divergence.

use cranelift_entity::packed_option::{PackedOption, ReservedValue};

use super::Shape;
use crate::body::{Body, DefNode, Divergence};
use crate::entities::{Def, Inst};

impl Body {
    /// The instruction that defines a value.
    ///
    /// Every value used in code has one; numbers that a parsed text skips have none.
    #[inline]
    pub fn def_inst(&self, def: Def) -> Inst {
        self.defs[def].inst.expand().unwrap_or_else(ReservedValue::reserved_value)
    }

    /// Whether a value with this number was ever created or reserved.
    pub fn has_def(&self, def: Def) -> bool {
        self.defs.is_valid(def)
    }

    /// The instruction that defines a value, if it has one; accepts any number.
    pub fn try_def_inst(&self, def: Def) -> Option<Inst> {
        self.defs.get(def)?.inst.expand()
    }

    /// Sets the shape of a reserved number, so that code can use the value before its definition is created.
    pub fn set_reserved_shape(&mut self, def: Def, shape: Shape) {
        if let Some(node) = self.defs.get_mut(def) {
            node.num_components = shape.num_components;
            node.bit_size = shape.bit_size;
        }
    }

    /// Whether the defining instruction of a value is in a block.
    pub fn is_def_live(&self, def: Def) -> bool {
        self.defs.get(def).and_then(|d| d.inst.expand()).is_some_and(|i| self.insts[i].block.is_some())
    }

    /// Number of components of a value.
    #[inline]
    pub fn num_components(&self, def: Def) -> u8 {
        self.defs[def].num_components
    }

    /// Bit size of a component.
    #[inline]
    pub fn bit_size(&self, def: Def) -> u8 {
        self.defs[def].bit_size
    }

    /// Whether a value is a 1-bit boolean. Conditions can be wider after booleans were lowered; the representation of
    /// `true` then depends on the lowering, so passes that compute with booleans ignore them.
    #[inline]
    pub fn is_boolean(&self, def: Def) -> bool {
        self.bit_size(def) == 1
    }

    /// Shape of a value: components and bit size.
    #[inline]
    pub fn shape(&self, def: Def) -> Shape {
        let node = &self.defs[def];
        Shape { num_components: node.num_components, bit_size: node.bit_size }
    }

    /// Changes the shape of a value; its uses must fit it afterwards.
    pub fn set_shape(&mut self, def: Def, shape: Shape) {
        let node = &mut self.defs[def];
        node.num_components = shape.num_components;
        node.bit_size = shape.bit_size;
        self.changed_insts();
    }

    /// Whether divergence analysis found that the value differs between invocations. Returns false for values that the
    /// analysis has not visited; use [`Body::is_known_uniform`] where uniformity must be proven.
    pub fn is_divergent(&self, def: Def) -> bool {
        self.defs[def].divergence == Divergence::Divergent
    }

    /// Whether divergence analysis found that the value is the same in all invocations.
    pub fn is_known_uniform(&self, def: Def) -> bool {
        self.defs[def].divergence == Divergence::Uniform
    }

    /// Records whether the value differs between invocations.
    pub fn set_divergent(&mut self, def: Def, divergent: bool) {
        self.defs[def].divergence = if divergent { Divergence::Divergent } else { Divergence::Uniform };
    }

    /// Whether analysis found that the value is the same in every iteration of its loop.
    pub fn is_loop_invariant(&self, def: Def) -> bool {
        self.defs[def].loop_invariant
    }

    /// Records whether the value is the same in every iteration of its loop.
    pub fn set_loop_invariant(&mut self, def: Def, loop_invariant: bool) {
        self.defs[def].loop_invariant = loop_invariant;
    }

    /// Reserves the numbers below `count`, so that new values get greater ones (parsed text keeps its numbering this
    /// way).
    pub fn reserve_defs(&mut self, count: usize) {
        while self.defs.len() < count {
            self.defs.push(DefNode {
                inst: PackedOption::default(),
                first_use: PackedOption::default(),
                num_components: 0,
                bit_size: 0,
                divergence: Divergence::Unknown,
                loop_invariant: false,
            });
        }
    }
}
