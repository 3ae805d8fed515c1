//! The class in which every value is made.
//!
//! Operations with a type make their results in it. What only moves bits (`mov`, `vec`, `bcsel`, phis, loads) takes the
//! class that most of its readers want: such values that pass on to each other are joined (union-find) and vote
//! together, so that a chain of phis and selections needs no casts. A tie, or no vote, is unsigned, but float where any
//! reader is a float. Operations on integers that do not depend on the sign are unsigned.

use cranelift_entity::{EntityRef, SecondaryMap};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{DerefKind, TexSrcKind};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Body, Def, Inst, InstData};

use crate::module::Class;

/// The classes of the values of a body.
#[derive(Debug)]
pub struct Classes {
    classes: SecondaryMap<Def, Option<Class>>,
}

impl Classes {
    /// Decides for all values.
    pub fn of(body: &Body) -> Classes {
        let mut votes = Votes {
            parents: (0..body.num_defs() as u32).collect(),
            floats: vec![0; body.num_defs()],
            signed: vec![0; body.num_defs()],
            unsigned: vec![0; body.num_defs()],
        };
        for block in body.blocks() {
            for inst in body.insts(block) {
                votes.visit(body, inst);
            }
        }
        let mut classes = SecondaryMap::with_capacity(body.num_defs());
        for block in body.blocks() {
            for inst in body.insts(block) {
                if let Some(def) = body.inst_def(inst) {
                    let class = result_class(body, inst, def).unwrap_or_else(|| votes.winner(body, def));
                    classes[def] = Some(class);
                }
            }
        }
        Classes { classes }
    }

    /// The class that a value is best made in.
    pub fn get(&self, def: Def) -> Class {
        self.classes[def].unwrap_or(Class::Uint)
    }
}

struct Votes {
    parents: Vec<u32>,
    floats: Vec<u32>,
    signed: Vec<u32>,
    unsigned: Vec<u32>,
}

impl Votes {
    fn root(&mut self, def: Def) -> usize {
        let mut at = def.index();
        while self.parents[at] as usize != at {
            // Path halving: no recursion, and linear in all but name.
            let grandparent = self.parents[self.parents[at] as usize];
            self.parents[at] = grandparent;
            at = grandparent as usize;
        }
        at
    }

    fn join(&mut self, a: Def, b: Def) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        self.parents[b] = a as u32;
        self.floats[a] += self.floats[b];
        self.signed[a] += self.signed[b];
        self.unsigned[a] += self.unsigned[b];
    }

    fn vote(&mut self, def: Def, class: Class) {
        let root = self.root(def);
        match class {
            Class::Float => self.floats[root] += 1,
            Class::Int => self.signed[root] += 1,
            Class::Uint => self.unsigned[root] += 1,
            Class::Bool => {}
        }
    }

    fn winner(&mut self, body: &Body, def: Def) -> Class {
        if body.bit_size(def) == 1 {
            return Class::Bool;
        }
        let root = self.root(def);
        let (floats, signed, unsigned) = (self.floats[root], self.signed[root], self.unsigned[root]);
        if floats > 0 && floats >= signed.max(unsigned) {
            Class::Float
        } else if signed > unsigned {
            Class::Int
        } else {
            Class::Uint
        }
    }

    fn visit(&mut self, body: &Body, inst: Inst) {
        let def = body.inst_def(inst);
        for (number, source) in body.sources(inst).enumerate() {
            let read = body.src_def(source);
            // Constants are made in every class in which they are read.
            if body.def_constant(read).is_some() || body.bit_size(read) == 1 {
                continue;
            }
            match (source_class(body, inst, number), def) {
                (Some(class), _) => {
                    // A value with a type of its own does not vote; who passes it on hears of it below.
                    self.vote(read, class);
                }
                (None, Some(def)) if passes_on(body, inst) => match result_class(body, body.def_inst(read), read) {
                    Some(class) => self.vote(def, class),
                    None => self.join(def, read),
                },
                (None, _) => {}
            }
        }
    }
}

/// Whether an instruction hands the bits of its sources on as its result.
fn passes_on(body: &Body, inst: Inst) -> bool {
    match body.inst(inst) {
        InstData::Phi => true,
        InstData::Alu { op, .. } => op.is_vec_or_mov() || *op == AluOp::Bcsel,
        InstData::Intrinsic { op: IntrinsicOp::ReadInvocation | IntrinsicOp::ReadFirstInvocation, .. } => true,
        _ => false,
    }
}

/// The class of the result of an instruction that has a type; `None` if it only moves bits.
fn result_class(body: &Body, inst: Inst, def: Def) -> Option<Class> {
    if body.bit_size(def) == 1 {
        return Some(Class::Bool);
    }
    match body.inst(inst) {
        InstData::Alu { op, .. } => alu_result_class(*op),
        InstData::Tex(_) => body.tex(inst).map(|tex| class_of_base(tex.dest_type.base)),
        _ => None,
    }
}

/// The class of the result of an opcode; `None` if it only moves bits.
pub fn alu_result_class(op: AluOp) -> Option<Class> {
    if op.is_vec_or_mov() || op == AluOp::Bcsel {
        return None;
    }
    match op.info().output_type.base {
        BaseType::Int if depends_on_sign(op) => Some(Class::Int),
        base => Some(class_of_base(match base {
            BaseType::Int => BaseType::Uint,
            base => base,
        })),
    }
}

/// The class in which an opcode reads a source; `None` if it only moves bits.
pub fn alu_source_class(op: AluOp, number: usize) -> Option<Class> {
    if op.is_vec_or_mov() || op == AluOp::Bcsel && number > 0 {
        return None;
    }
    match op.info().input_types.get(number).map(|ty| ty.base) {
        Some(BaseType::Int) if depends_on_sign(op) => Some(Class::Int),
        Some(BaseType::Int) => Some(Class::Uint),
        Some(base) => Some(class_of_base(base)),
        None => None,
    }
}

/// Whether the result of an operation on signed integers is another one on unsigned ones of the same bits.
pub fn depends_on_sign(op: AluOp) -> bool {
    use AluOp::*;
    !matches!(
        op,
        Iadd | Isub
            | Imul
            | Ineg
            | Inot
            | Iand
            | Ior
            | Ixor
            | Ishl
            | Ieq
            | Ine
            | BallIequal2
            | BallIequal3
            | BallIequal4
            | BanyInequal2
            | BanyInequal3
            | BanyInequal4
            | FindLsb
            | BitCount
            | BitfieldReverse
            | Bfi
            | Bfm
    )
}

fn class_of_base(base: BaseType) -> Class {
    match base {
        BaseType::Float => Class::Float,
        BaseType::Int => Class::Int,
        BaseType::Bool => Class::Bool,
        BaseType::Uint | BaseType::Invalid => Class::Uint,
    }
}

/// The class in which an instruction reads a source; `None` if it takes any.
fn source_class(body: &Body, inst: Inst, number: usize) -> Option<Class> {
    match body.inst(inst) {
        InstData::Alu { op, .. } => alu_source_class(*op, number),
        InstData::Tex(_) => {
            let source = body.source(inst, number);
            match body.tex_src_kind(source) {
                TexSrcKind::Coord => {
                    let fetches = body.tex(inst).is_some_and(|tex| {
                        use tgsi_ir::body::TexOp::*;
                        matches!(tex.op, Txf | TxfMs | TxfMsFb)
                    });
                    Some(if fetches { Class::Int } else { Class::Float })
                }
                TexSrcKind::Lod => {
                    let integer = body.tex(inst).is_some_and(|tex| {
                        use tgsi_ir::body::TexOp::*;
                        matches!(tex.op, Txf | Txs)
                    });
                    Some(if integer { Class::Int } else { Class::Float })
                }
                TexSrcKind::Projector
                | TexSrcKind::Comparator
                | TexSrcKind::Bias
                | TexSrcKind::MinLod
                | TexSrcKind::Ddx
                | TexSrcKind::Ddy => Some(Class::Float),
                TexSrcKind::Offset | TexSrcKind::MsIndex => Some(Class::Int),
                _ => None,
            }
        }
        InstData::Deref { kind: DerefKind::Array, .. } if number == 1 => Some(Class::Uint),
        InstData::Intrinsic { op, .. } => intrinsic_source_class(*op, number),
        _ => None,
    }
}

fn intrinsic_source_class(op: IntrinsicOp, number: usize) -> Option<Class> {
    use IntrinsicOp::*;
    match (op, number) {
        // Varyings are floats; what goes through other memory are words.
        (StoreDeref, 1) | (StoreOutput | StorePerVertexOutput, 0) => Some(Class::Float),
        (Ddx | Ddy | DdxFine | DdyFine | DdxCoarse | DdyCoarse, 0) => Some(Class::Float),
        (StoreSsbo | StoreShared, _) | (LoadSsbo | LoadShared | LoadUniform | LoadUbo, _) => Some(Class::Uint),
        (ImageDerefLoad | ImageDerefStore | ImageDerefAtomic | ImageDerefAtomicSwap, 1 | 2) => Some(Class::Int),
        _ => None,
    }
}
