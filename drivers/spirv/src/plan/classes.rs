//! The class of every value.
//!
//! Typed operations define their results in the class of the operation. Instructions that only move bits (`mov`, `vec`,
//! `bcsel`, phis, loads) take the class of most of their uses: values connected by such instructions are joined
//! (union-find) and vote together, so that a chain of phis and selections needs no casts. Values stored to a local
//! variable or register vote together with the values loaded from it. A tie gives floats. Without votes varyings are
//! floats, other values unsigned.
//!
//! Integer operations that do not depend on the sign (sums, logic) are signed or unsigned like their operands and uses.
//! They are joined with each other and with instructions that move integers, too.

use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{DerefKind, TexSrcKind};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, Inst, InstData, Variable};

use crate::module::Class;

/// The classes of the values of a body.
#[derive(Debug)]
pub struct Classes {
    classes: SecondaryMap<Def, Option<Class>>,
}

impl Classes {
    /// Computes the classes of all values.
    pub fn of(body: &Body) -> Classes {
        let mut votes =
            Votes { kinds: Groups::new(body.num_defs()), signs: Groups::new(body.num_defs()), ..Votes::default() };
        for block in body.blocks() {
            for inst in body.insts(block) {
                votes.visit(body, inst);
            }
        }
        let mut classes = SecondaryMap::with_capacity(body.num_defs());
        for block in body.blocks() {
            for inst in body.insts(block) {
                if let Some(def) = body.inst_def(inst) {
                    classes[def] = Some(match result(body, inst, def) {
                        ClassRequirement::Of(class) => class,
                        ClassRequirement::Integer => votes.sign(def),
                        ClassRequirement::Any => votes.kind(def),
                    });
                }
            }
        }
        Classes { classes }
    }

    /// Returns the preferred class of a value.
    pub fn get(&self, def: Def) -> Class {
        self.classes[def].unwrap_or(Class::Uint)
    }
}

/// The class requirement of an instruction's source or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClassRequirement {
    /// This class.
    Of(Class),
    /// Integers, signed or unsigned.
    Integer,
    /// Any class: the bits are moved unchanged.
    Any,
}

/// Sets of values (union-find), with vote counts for each.
#[derive(Default)]
struct Groups {
    parents: Vec<u32>,
    /// Votes for option 0, for option 1, and for option 0 as the default without other votes.
    votes: Vec<[u32; 3]>,
}

impl Groups {
    fn new(count: usize) -> Groups {
        Groups { parents: (0..count as u32).collect(), votes: vec![[0; 3]; count] }
    }

    fn root(&mut self, def: Def) -> usize {
        let mut at = def.index();
        while self.parents[at] as usize != at {
            // Path halving: no recursion, and nearly linear.
            let grandparent = self.parents[self.parents[at] as usize];
            self.parents[at] = grandparent;
            at = grandparent as usize;
        }
        at
    }

    fn join(&mut self, a: Def, b: Def) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parents[b] = a as u32;
            for option in 0..3 {
                self.votes[a][option] += self.votes[b][option];
            }
        }
    }

    fn vote(&mut self, def: Def, option: usize) {
        let root = self.root(def);
        self.votes[root][option] += 1;
    }

    fn votes(&mut self, def: Def) -> [u32; 3] {
        let root = self.root(def);
        self.votes[root]
    }
}

#[derive(Default)]
struct Votes {
    /// Instructions that move bits: float (0) or integer (1).
    kinds: Groups,
    /// Instructions that move bits or compute with integers: unsigned (0) or signed (1).
    signs: Groups,
    /// The value that represents a variable in the votes: its first deref.
    variables: FxHashMap<Variable, Def>,
}

impl Votes {
    fn vote(&mut self, def: Def, kind: ClassRequirement) {
        match kind {
            ClassRequirement::Of(Class::Float) => self.kinds.vote(def, 0),
            ClassRequirement::Of(Class::Int) => {
                self.kinds.vote(def, 1);
                self.signs.vote(def, 1);
            }
            ClassRequirement::Of(Class::Uint) => {
                self.kinds.vote(def, 1);
                self.signs.vote(def, 0);
            }
            ClassRequirement::Integer => self.kinds.vote(def, 1),
            ClassRequirement::Of(Class::Bool) | ClassRequirement::Any => {}
        }
    }

    fn sign(&mut self, def: Def) -> Class {
        let [unsigned, signed, _] = self.signs.votes(def);
        if signed > unsigned { Class::Int } else { Class::Uint }
    }

    fn kind(&mut self, def: Def) -> Class {
        let [floats, integers, hints] = self.kinds.votes(def);
        if floats > 0 && floats >= integers || hints > 0 && integers == 0 { Class::Float } else { self.sign(def) }
    }

    /// Records an access to memory: whether it is to a varying, or to which variable or register.
    fn visit_access(&mut self, body: &Body, inst: Inst) {
        use IntrinsicOp::*;
        let Some(op) = body.intrinsic(inst) else { return };
        let (memory, value) = match op {
            LoadInput
            | LoadPerVertexInput
            | LoadOutput
            | LoadPerVertexOutput
            | InterpDerefAtCentroid
            | InterpDerefAtSample
            | InterpDerefAtOffset => {
                if let Some(def) = body.inst_def(inst) {
                    self.kinds.vote(def, 2);
                }
                return;
            }
            LoadDeref => {
                let (root, modes) = root(body, body.src(inst, 0));
                let Some(def) = body.inst_def(inst) else { return };
                if modes.intersects(VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT)) {
                    self.kinds.vote(def, 2);
                    return;
                }
                (self.memory(root), def)
            }
            StoreDeref => (self.memory(root(body, body.src(inst, 0)).0), body.src(inst, 1)),
            LoadReg | LoadRegIndirect => (Some(body.src(inst, 0)), body.inst_def(inst).unwrap_or(body.src(inst, 0))),
            StoreReg | StoreRegIndirect => (Some(body.src(inst, 1)), body.src(inst, 0)),
            _ => return,
        };
        let Some(memory) = memory else { return };
        if body.def_constant(value).is_some() || body.bit_size(value) == 1 {
            return;
        }
        match result(body, body.def_inst(value), value) {
            given @ ClassRequirement::Of(_) => self.vote(memory, given),
            ClassRequirement::Integer => {
                self.vote(memory, ClassRequirement::Integer);
                self.signs.join(memory, value);
            }
            ClassRequirement::Any => {
                self.kinds.join(memory, value);
                self.signs.join(memory, value);
            }
        }
    }

    /// Returns the value that represents a variable in the votes.
    fn memory(&mut self, root: Option<(Variable, Def)>) -> Option<Def> {
        let (variable, def) = root?;
        Some(*self.variables.entry(variable).or_insert(def))
    }

    fn visit(&mut self, body: &Body, inst: Inst) {
        self.visit_access(body, inst);
        let def = body.inst_def(inst);
        let made = def.map(|def| result(body, inst, def));
        for (number, source) in body.sources(inst).enumerate() {
            let read = body.src_def(source);
            // Constants are emitted in every class in which they are used.
            if body.def_constant(read).is_some() || body.bit_size(read) == 1 {
                continue;
            }
            let wanted = source_kind(body, inst, number);
            let given = result(body, body.def_inst(read), read);
            self.vote(read, wanted);
            let Some((def, made)) = def.zip(made) else { continue };
            // Instructions that forward their operands, or compute with integers of either sign, join them.
            let passes = match wanted {
                ClassRequirement::Any => made == ClassRequirement::Any && passes_on(body, inst),
                ClassRequirement::Integer => made == ClassRequirement::Integer,
                ClassRequirement::Of(_) => false,
            };
            if passes && body.bit_size(def) == body.bit_size(read) {
                match given {
                    ClassRequirement::Of(_) => self.vote(def, given),
                    ClassRequirement::Integer if made == ClassRequirement::Any => {
                        self.vote(def, given);
                        self.signs.join(def, read);
                    }
                    ClassRequirement::Any if made == ClassRequirement::Any => {
                        self.kinds.join(def, read);
                        self.signs.join(def, read);
                    }
                    ClassRequirement::Integer | ClassRequirement::Any => self.signs.join(def, read),
                }
            }
        }
    }
}

/// Returns the variable of a deref with the variable's deref, and its modes.
fn root(body: &Body, mut def: Def) -> (Option<(Variable, Def)>, VariableModes) {
    loop {
        match *body.inst(body.def_inst(def)) {
            InstData::Deref { kind: DerefKind::Var(variable), modes, .. } => {
                let is_local = modes.intersects(VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP));
                return (is_local.then_some((variable, def)), modes);
            }
            InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. } => {
                def = body.src(body.def_inst(def), 0);
            }
            _ => return (None, VariableModes(0)),
        }
    }
}

/// Returns whether an instruction forwards the bits of its sources as its result.
fn passes_on(body: &Body, inst: Inst) -> bool {
    match body.inst(inst) {
        InstData::Phi => true,
        InstData::Alu { op, .. } => moves(*op, None),
        InstData::Intrinsic { op: IntrinsicOp::ReadInvocation | IntrinsicOp::ReadFirstInvocation, .. } => true,
        _ => false,
    }
}

/// Returns the class requirement of an instruction's result.
fn result(body: &Body, inst: Inst, def: Def) -> ClassRequirement {
    if body.bit_size(def) == 1 {
        return ClassRequirement::Of(Class::Bool);
    }
    match body.inst(inst) {
        InstData::Alu { op, .. } => {
            if moves(*op, None) {
                ClassRequirement::Any
            } else {
                alu_kind(*op, op.info().output_type.base)
            }
        }
        InstData::Tex(_) => {
            body.tex(inst).map_or(ClassRequirement::Any, |tex| ClassRequirement::Of(class_of_base(tex.dest_type.base)))
        }
        _ => ClassRequirement::Any,
    }
}

/// Returns whether an opcode moves the bits of source `number`, or of its result, unchanged.
fn moves(op: AluOp, number: Option<usize>) -> bool {
    use AluOp::*;
    op.is_vec_or_mov()
        || match op {
            Bcsel | B32csel | B32fcselMdg | Fcsel | FcselGt | FcselGe | IcselEqz | I32cselGt | I32cselGe => {
                number != Some(0)
            }
            // A cast to or from a vector of words.
            Pack642x32 | Pack642x32Split | Unpack642x32 | Unpack642x32SplitX | Unpack642x32SplitY => true,
            _ => false,
        }
}

fn alu_kind(op: AluOp, base: BaseType) -> ClassRequirement {
    match base {
        // Bit searches are unsigned instructions.
        BaseType::Int if matches!(op, AluOp::UfindMsb | AluOp::UfindMsbRev | AluOp::FindLsb | AluOp::Bfm) => {
            ClassRequirement::Of(Class::Uint)
        }
        BaseType::Int | BaseType::Uint if !depends_on_sign(op) => ClassRequirement::Integer,
        base => ClassRequirement::Of(class_of_base(base)),
    }
}

/// Returns whether a signed integer operation differs from the unsigned one on the same bits, or has to be emitted as
/// if it did.
fn depends_on_sign(op: AluOp) -> bool {
    use AluOp::*;
    !matches!(
        op,
        Iadd | Isub
            | Imul
            | Amul
            | Imul24Relaxed
            | Umul24Relaxed
            | Umul24
            | Imul24
            | Umad24
            | Umad24Relaxed
            | UmulLow
            | Umul32x16
            | Imul32x16
            | Iadd3
            | Imad
            | Ineg
            | Inot
            | Iand
            | Ior
            | Ixor
            | Ishl
            | Ieq
            | Ieq32
            | Ine
            | Ine32
            | BallIequal2
            | BallIequal3
            | BallIequal4
            | BanyInequal2
            | BanyInequal3
            | BanyInequal4
            | B2i32
            | B2i64
            | IcselEqz
    )
}

fn class_of_base(base: BaseType) -> Class {
    match base {
        BaseType::Float => Class::Float,
        BaseType::Int => Class::Int,
        // 1-bit values have no other class.
        BaseType::Bool | BaseType::Uint | BaseType::Invalid => Class::Uint,
    }
}

/// Returns the class requirement of a source.
fn source_kind(body: &Body, inst: Inst, number: usize) -> ClassRequirement {
    match body.inst(inst) {
        InstData::Alu { op, .. } => alu_source_kind(*op, number),
        _ => source_class(body, inst, number).map_or(ClassRequirement::Any, ClassRequirement::Of),
    }
}

fn alu_source_kind(op: AluOp, number: usize) -> ClassRequirement {
    use AluOp::*;
    if moves(op, Some(number)) {
        return ClassRequirement::Any;
    }
    match op {
        // Shift counts; bit searches.
        Ishl | Ishr | Ushr | Urol | Uror | Bitnz | Bitz | Bitnz32 | Bitz32 if number == 1 => {
            ClassRequirement::Of(Class::Uint)
        }
        BitCount | FindLsb | UfindMsb | UfindMsbRev | Bfm | Ubfe | UbitfieldExtract | BitfieldInsert => {
            ClassRequirement::Of(Class::Uint)
        }
        IbitfieldExtract if number > 0 => ClassRequirement::Of(Class::Uint),
        ExtractI8 | ExtractI16 if number == 1 => ClassRequirement::Of(Class::Uint),
        _ => op.info().input_types.get(number).map_or(ClassRequirement::Any, |ty| alu_kind(op, ty.base)),
    }
}

/// Returns the class in which a non-ALU instruction reads a source; `None` if it accepts any.
fn source_class(body: &Body, inst: Inst, number: usize) -> Option<Class> {
    match body.inst(inst) {
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
        // Local variables have the class of the stored values.
        InstData::Intrinsic { op: IntrinsicOp::StoreDeref, .. } if !is_output(body, inst) => None,
        InstData::Intrinsic { op, .. } => intrinsic_source_class(*op, number),
        _ => None,
    }
}

/// Returns whether an access through a deref is to an output.
fn is_output(body: &Body, inst: Inst) -> bool {
    match body.inst(body.def_inst(body.src(inst, 0))) {
        InstData::Deref { modes, .. } => modes.intersects(VariableModes::SHADER_OUT),
        _ => false,
    }
}

fn intrinsic_source_class(op: IntrinsicOp, number: usize) -> Option<Class> {
    use IntrinsicOp::*;
    match (op, number) {
        // Varyings are floats; other memory holds words.
        (StoreDeref, 1) | (StoreOutput | StorePerVertexOutput, 0) => Some(Class::Float),
        (Ddx | Ddy | DdxFine | DdyFine | DdxCoarse | DdyCoarse, 0) => Some(Class::Float),
        (SsboAtomic | SsboAtomicSwap | SharedAtomic | SharedAtomicSwap, _) => Some(Class::Uint),
        (StoreSsbo | StoreShared | StoreScratch, _) | (LoadSsbo | LoadShared | LoadUniform | LoadUbo, _) => {
            Some(Class::Uint)
        }
        (ImageDerefLoad | ImageDerefStore | ImageDerefAtomic | ImageDerefAtomicSwap, 1 | 2) => Some(Class::Int),
        _ => None,
    }
}
