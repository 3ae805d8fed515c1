//! Limits the operands of each kind that one instruction reads to those the hardware can fetch at once.
//!
//! ```text
//! %1 and %2 are uniforms, of which an instruction can read one:
//!                                         32x4 %5 = mov %2
//! 32x4 %4 = ffma %1, %2, %3        =>     32x4 %4 = ffma %1, %5, %3
//! ```
//!
//! Old hardware has few read ports: one constant per instruction, one input, a relative address in one operand only,
//! constants in the second operand only. [`OperandLimits`] defines which operands count and how many there may be. Must
//! run after [`legacy_trivialize`](crate::legacy_trivialize()) with the same policy; the [checker](crate::check::check)
//! accepts the result if it accepted the input.
//!
//! 1. An operand is the result of [`chase_alu_src`](crate::chase::chase_alu_src), without modifiers and swizzle. The
//!    same operand read twice counts once; [`OperandLimits::reads`] may count several constants once.
//! 2. The operand that most sources read is kept first; ties go to the first in order. Operands beyond a limit, or in a
//!    source that does not support their class, are copied by a `mov` before the instruction.
//! 3. The sources of a commutative operation are exchanged if that saves a `mov` and all modifiers still fold.
//! 4. Modifiers stay at the instruction: `fneg` and `fabs` on the path to the operand are recreated after the `mov` and
//!    fold as before.
//! 5. A `mov` of an SSA value serves the rest of its block. A `mov` of a register serves its instruction only.
//! 6. A `mov` may read anything, and folded instructions are not changed. The operands of non-ALU instructions are not
//!    counted: they go through a `mov` where [`OperandLimits::takes`] returns false.
//! 7. A load with a run-time index is already read through its own `mov`, unless the user is the instruction right
//!    after it; then a `mov` is inserted between the two.
//!
//! One walk; each source is visited once for each limit.

use hashbrown::HashMap;

use arrayvec::ArrayVec;
use log::trace;
use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::{IntrinsicKind, IntrinsicOp};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, InstData, Shader, Use};

use crate::chase::{accessed_register, is_folded, is_register_access, load_reg_for_def};
use crate::modifiers::ModifierPolicy;

/// The maximum number of sources of an ALU instruction.
const MAX_SOURCES: usize = 16;

/// A set of kinds of operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandClasses(pub u8);

impl OperandClasses {
    /// None of the others: a temporary.
    pub const NONE: OperandClasses = OperandClasses(0);
    /// Constants in the code.
    pub const CONSTANT: OperandClasses = OperandClasses(1);
    /// Uniforms and uniform buffers.
    pub const UNIFORM: OperandClasses = OperandClasses(2);
    /// Inputs of the stage.
    pub const INPUT: OperandClasses = OperandClasses(4);
    /// Anything accessed through a run-time index.
    pub const INDEXED: OperandClasses = OperandClasses(8);
    /// Everything except temporaries.
    pub const ALL: OperandClasses = OperandClasses(15);

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: OperandClasses) -> OperandClasses {
        OperandClasses(self.0 | other.0)
    }

    /// Whether the sets intersect.
    pub const fn intersects(self, other: OperandClasses) -> bool {
        self.0 & other.0 != 0
    }
}

/// The number of operands of some kinds that one instruction can read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandLimit {
    /// The kinds that are counted together.
    pub classes: OperandClasses,
    /// The maximum number of different operands.
    pub most: u8,
}

/// The operand restrictions of a target.
#[derive(Clone, Copy)]
pub struct OperandLimits<'a> {
    /// The limits, all of which hold.
    pub limits: &'a [OperandLimit],
    /// Whether a source can read an operand of these kinds at all.
    pub takes: &'a dyn Fn(&Body, Use, OperandClasses) -> bool,
    /// The kinds of a value that is not a register load. Most targets use [`classes_of`].
    pub classify: &'a dyn Fn(&Body, Def) -> OperandClasses,
    /// The number of reads that different operands of one limit need. Most targets read each alone ([`each_alone`]);
    /// [`rows_of_words`] is for constants that are packed into rows.
    pub reads: &'a dyn Fn(&Body, &[Def]) -> usize,
}

impl OperandLimits<'static> {
    /// No limits.
    pub const NONE: OperandLimits<'static> =
        OperandLimits { limits: &[], takes: &|_, _, _| true, classify: &classes_of, reads: &each_alone };

    /// Constants and uniforms in one file with one read port, one input, one relative address: D3D9 vertex shader model
    /// 2, nv30 vertex programs; etnaviv has the first limit only.
    pub const ONE_OF_EACH: OperandLimits<'static> = OperandLimits {
        limits: &[
            OperandLimit { classes: OperandClasses::CONSTANT.union(OperandClasses::UNIFORM), most: 1 },
            OperandLimit { classes: OperandClasses::INPUT, most: 1 },
            OperandLimit { classes: OperandClasses::INDEXED, most: 1 },
        ],
        ..OperandLimits::NONE
    };

    /// One operand other than a temporary (PICA200).
    pub const ONE_WIDE: OperandLimits<'static> = OperandLimits {
        limits: &[OperandLimit { classes: OperandClasses::ALL, most: 1 }],
        ..OperandLimits::ONE_OF_EACH
    };
}

impl OperandLimits<'_> {
    /// Whether an ALU instruction is within all limits.
    pub fn allow(&self, body: &Body, inst: Inst, policy: ModifierPolicy<'_>) -> bool {
        let operands = Operands::of(body, inst, self, policy);
        operands.list.iter().all(|operand| self.takes_all(body, inst, operand))
            && self.limits.iter().all(|limit| {
                let counted = operands.list.iter().filter(|operand| operand.classes.intersects(limit.classes));
                let values: ArrayVec<Def, MAX_SOURCES> = counted.map(|operand| operand.value).collect();
                (self.reads)(body, &values) <= usize::from(limit.most)
            })
    }

    /// Whether all sources that read an operand support it.
    fn takes_all(&self, body: &Body, inst: Inst, operand: &Operand) -> bool {
        operand.sources().all(|number| (self.takes)(body, body.source(inst, number), operand.classes))
    }
}

/// The kinds of a value: constants, loads of uniforms, buffers and inputs, with a run-time index or not.
pub fn classes_of(body: &Body, def: Def) -> OperandClasses {
    let inst = body.def_inst(def);
    if matches!(body.inst(inst), InstData::LoadConst { .. }) {
        return OperandClasses::CONSTANT;
    }
    let Some(op) = body.intrinsic(inst) else { return OperandClasses::NONE };
    let modes = match op {
        IntrinsicOp::LoadDeref => body.deref_modes(body.src(inst, 0)),
        _ => VariableModes::NONE,
    };
    let class = match op {
        IntrinsicOp::LoadUniform | IntrinsicOp::LoadUbo | IntrinsicOp::LoadUboVec4 => OperandClasses::UNIFORM,
        IntrinsicOp::LoadDeref if modes == VariableModes::UNIFORM || modes == VariableModes::MEM_UBO => {
            OperandClasses::UNIFORM
        }
        IntrinsicOp::LoadDeref if modes == VariableModes::SHADER_IN => OperandClasses::INPUT,
        _ if op.info().kind == IntrinsicKind::Io && op.info().has_dest() && op != IntrinsicOp::LoadOutput => {
            OperandClasses::INPUT
        }
        _ => return OperandClasses::NONE,
    };
    let is_indexed = body.sources(inst).any(|source| {
        let value = body.src_def(source);
        match body.inst(body.def_inst(value)) {
            InstData::Deref { .. } => has_run_time_index(body, value),
            _ => body.def_constant(value).is_none(),
        }
    });
    if is_indexed { class.union(OperandClasses::INDEXED) } else { class }
}

/// Each operand needs a separate read.
pub fn each_alone(_: &Body, values: &[Def]) -> usize {
    values.len()
}

/// Constants in the code are read as rows of four words, and every constant is in one row: the number of rows, and of
/// other values. The code must then place the constants of an instruction together.
pub fn rows_of_words(body: &Body, values: &[Def]) -> usize {
    let mut rows: ArrayVec<ArrayVec<u32, 4>, MAX_SOURCES> = ArrayVec::new();
    let mut others = 0;
    for &value in values {
        let words: Option<ArrayVec<u32, MAX_SOURCES>> =
            body.def_constant(value).map(|words| words.iter().map(|&word| word as u32).take(MAX_SOURCES).collect());
        let Some(words) = words else {
            others += 1;
            continue;
        };
        let with_words = |row: &ArrayVec<u32, 4>| {
            let mut row = row.clone();
            words.iter().all(|word| row.contains(word) || row.try_push(*word).is_ok()).then_some(row)
        };
        if let Some((row, extended)) = rows.iter_mut().find_map(|row| with_words(row).map(|extended| (row, extended))) {
            *row = extended;
        } else if let Some(row) = with_words(&ArrayVec::new()) {
            let _ = rows.try_push(row);
        } else {
            others += 1;
        }
    }
    rows.len() + others
}

/// Whether a deref path has an index that is not constant.
fn has_run_time_index(body: &Body, deref: Def) -> bool {
    let mut next = Some(deref);
    while let Some(deref) = next {
        let inst = body.def_inst(deref);
        if !matches!(body.inst(inst), InstData::Deref { .. }) {
            return true;
        }
        if body.num_sources(inst) > 1 && body.def_constant(body.src(inst, 1)).is_none() {
            return true;
        }
        next = (body.num_sources(inst) > 0).then(|| body.src(inst, 0));
    }
    false
}

/// Legalises all instructions, see the [module](self). Returns whether anything changed.
pub fn legalize_operands(shader: &mut Shader, limits: &OperandLimits<'_>, policy: ModifierPolicy<'_>) -> bool {
    let mut movs = 0;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            let mut moved: HashMap<Def, Def> = HashMap::new();
            for inst in body.insts_vec(block) {
                movs += match body.alu_op(inst) {
                    Some(AluOp::Mov) => 0,
                    Some(_) if is_folded(body, inst, policy) => 0,
                    Some(op) => legalize_alu(body, inst, op, limits, policy, &mut moved),
                    None if is_register_access(body, inst) || body.is_phi(inst) => 0,
                    None => legalize_plain(body, inst, limits, &mut moved),
                };
            }
        }
    }
    trace!("legalize_operands: {movs} movs and exchanges");
    movs > 0
}

/// An operand of one or more sources, without modifiers and swizzle.
struct Operand {
    /// The value, or the value of the load of a register.
    value: Def,
    classes: OperandClasses,
    /// The sources that read it, as a bit mask.
    readers: u32,
}

impl Operand {
    fn sources(&self) -> impl Iterator<Item = usize> + use<> {
        let readers = self.readers;
        (0..MAX_SOURCES).filter(move |number| readers & 1 << number != 0)
    }
}

/// The operands of an instruction that are not temporaries.
struct Operands {
    list: ArrayVec<Operand, MAX_SOURCES>,
}

impl Operands {
    fn of(body: &Body, inst: Inst, limits: &OperandLimits<'_>, policy: ModifierPolicy<'_>) -> Operands {
        let mut list: ArrayVec<Operand, MAX_SOURCES> = ArrayVec::new();
        for number in 0..body.num_sources(inst).min(MAX_SOURCES) {
            let (value, _) = behind_modifiers(body, inst, number, policy);
            let classes = match load_reg_for_def(body, value).and_then(|load| accessed_register(body, load)) {
                Some(register) if register.indirect.is_some() => OperandClasses::INDEXED,
                Some(_) => OperandClasses::NONE,
                None => (limits.classify)(body, value),
            };
            if classes == OperandClasses::NONE {
                continue;
            }
            match list.iter_mut().find(|operand| operand.value == value) {
                Some(operand) => operand.readers |= 1 << number,
                None => list.push(Operand { value, classes, readers: 1 << number }),
            }
        }
        Operands { list }
    }

    /// The operands that must go through a `mov`.
    fn excess(&self, body: &Body, inst: Inst, limits: &OperandLimits<'_>) -> ArrayVec<usize, MAX_SOURCES> {
        let mut order: ArrayVec<usize, MAX_SOURCES> = (0..self.list.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(self.list[i].readers.count_ones()));
        let mut kept: Vec<ArrayVec<Def, MAX_SOURCES>> = vec![ArrayVec::new(); limits.limits.len()];
        let mut excess = ArrayVec::new();
        for i in order {
            let operand = &self.list[i];
            let counted = |limit: &OperandLimit| operand.classes.intersects(limit.classes);
            let fits = limits.limits.iter().zip(&kept).all(|(limit, kept)| {
                let mut values = kept.clone();
                values.push(operand.value);
                !counted(limit) || (limits.reads)(body, &values) <= usize::from(limit.most)
            });
            if !fits || !limits.takes_all(body, inst, operand) {
                excess.push(i);
                continue;
            }
            for (_, kept) in limits.limits.iter().zip(&mut kept).filter(|(limit, _)| counted(limit)) {
                kept.push(operand.value);
            }
        }
        excess
    }
}

/// The value below the modifiers that a source looks through, and these modifiers, the outermost first.
fn behind_modifiers(body: &Body, inst: Inst, number: usize, policy: ModifierPolicy<'_>) -> (Def, ArrayVec<Inst, 2>) {
    let mut value = body.src(inst, number);
    let mut modifiers = ArrayVec::new();
    for op in [AluOp::Fneg, AluOp::Fabs] {
        let producer = body.def_inst(value);
        if body.alu_op(producer) == Some(op) && policy.folds_source(body, producer) {
            modifiers.push(producer);
            value = body.src(producer, 0);
        }
    }
    (value, modifiers)
}

/// Legalises an ALU instruction. Returns the number of changes.
fn legalize_alu(
    body: &mut Body,
    inst: Inst,
    op: AluOp,
    limits: &OperandLimits<'_>,
    policy: ModifierPolicy<'_>,
    moved: &mut HashMap<Def, Def>,
) -> usize {
    let operands = Operands::of(body, inst, limits, policy);
    let mut excess = operands.excess(body, inst, limits);
    if excess.is_empty() {
        return 0;
    }
    let mut operands = operands;
    let mut changes = 0;
    if op.is_commutative01() {
        let read = [0, 1].map(|number| behind_modifiers(body, inst, number, policy));
        exchange(body, inst);
        // One source may support a modifier that the other does not.
        let same_modifiers = [1, 0].map(|number| behind_modifiers(body, inst, number, policy)) == read;
        let other = Operands::of(body, inst, limits, policy);
        let other_excess = other.excess(body, inst, limits);
        if same_modifiers && other_excess.len() < excess.len() {
            (operands, excess, changes) = (other, other_excess, 1);
        } else {
            exchange(body, inst);
        }
    }
    for i in excess {
        let operand = &operands.list[i];
        let copy = copy_of(body, inst, operand.value, moved);
        for number in operand.sources() {
            read_copy(body, inst, number, copy, policy);
        }
        changes += 1;
    }
    changes
}

/// Exchanges the first two sources.
fn exchange(body: &mut Body, inst: Inst) {
    let (a, b) = (body.source(inst, 0), body.source(inst, 1));
    let (x, y) = ((body.src_def(a), body.swizzle(a)), (body.src_def(b), body.swizzle(b)));
    for (source, (def, swizzle)) in [(a, y), (b, x)] {
        body.set_src(source, def);
        body.set_swizzle(source, swizzle);
    }
}

/// Returns a `mov` of a value that an instruction can read.
fn copy_of(body: &mut Body, inst: Inst, value: Def, moved: &mut HashMap<Def, Def>) -> Def {
    // The content of a register may have changed at the next instruction.
    if load_reg_for_def(body, value).is_some() {
        return Builder::new(body, Cursor::Before(inst)).copy(value);
    }
    *moved.entry(value).or_insert_with(|| Builder::new(body, Cursor::Before(inst)).copy(value))
}

/// Replaces the operand of a source by a copy, through the same modifiers as before.
fn read_copy(body: &mut Body, inst: Inst, number: usize, copy: Def, policy: ModifierPolicy<'_>) {
    let (_, modifiers) = behind_modifiers(body, inst, number, policy);
    let mut value = copy;
    for &modifier in modifiers.iter().rev() {
        let clone = body.clone_inst_before(modifier);
        body.move_inst(Cursor::Before(inst), clone);
        let source = body.source(clone, 0);
        body.set_src(source, value);
        let Some(def) = body.inst_def(clone) else { return };
        value = def;
    }
    let source = body.source(inst, number);
    body.set_src(source, value);
    for modifier in modifiers {
        if body.inst_def(modifier).is_some_and(|def| body.is_unused(def)) {
            body.remove_inst(modifier);
        }
    }
}

/// Legalises a non-ALU instruction. Returns the number of changes.
fn legalize_plain(body: &mut Body, inst: Inst, limits: &OperandLimits<'_>, moved: &mut HashMap<Def, Def>) -> usize {
    let mut changes = 0;
    for source in body.sources(inst) {
        let value = body.src_def(source);
        let classes = match load_reg_for_def(body, value) {
            Some(_) => OperandClasses::NONE,
            None => (limits.classify)(body, value),
        };
        if classes != OperandClasses::NONE && !(limits.takes)(body, source, classes) {
            let copy = copy_of(body, inst, value, moved);
            body.set_src(source, copy);
            changes += 1;
        }
    }
    changes
}
