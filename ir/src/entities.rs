//! Entity names: 32-bit ids into the arenas of a shader or of a function body.
//!
//! Ids are never reused within a body. Removing an entity leaves its slot in the arena unused; the id must not be used
//! any more.

use cranelift_entity::entity_impl;

macro_rules! entities {
    ($($(#[$meta:meta])* $name:ident $prefix:literal;)+) => {
        $($(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);)+
    };
}

entities! {
    /// An SSA value. The text form shows its number.
    Def "%";
    /// An instruction.
    Inst "inst";
    /// A source: one read of a [`Def`], a node in that value's list of uses.
    Use "use";
    /// A basic block.
    Block "b";
    /// An `if` of the control tree.
    If "if";
    /// A loop of the control tree.
    Loop "loop";
    /// The payload of a texture instruction.
    Tex "tex";
    /// The payload of a parallel copy.
    Copies "copies";
    /// The layout of a cast.
    Cast "cast";
    /// A variable of a shader.
    Variable "var";
    /// A function of a shader.
    Function "fn";
    /// An interned type of a shader.
    Type "type";
}

/// The user of a source: an instruction, or the condition of an `if`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum User {
    /// An instruction.
    Inst(Inst),
    /// The condition of an `if`.
    If(If),
}

impl User {
    /// The instruction, or `None` for an `if`.
    pub fn inst(self) -> Option<Inst> {
        match self {
            User::Inst(inst) => Some(inst),
            User::If(_) => None,
        }
    }
}
