//! Computes booleans needed as 1.0 or 0.0 in that form, where it takes no more instructions than all ones and a
//! conversion.
//!
//! ```text
//! 32 %4 = flt32 %0, %1                  32 %4 = slt %0, %1
//! 32 %5 = feq32 %2, %3                  32 %5 = seq %2, %3
//! 32 %6 = iand %4, %5            =>     32 %6 = fmul %4, %5
//! 32 %7 = b2f32 %6
//! if %5 {                               if %5 {           (also b32csel; %6 for %7)
//! ```
//!
//! Must run after `lower_bool_to_int32`; `iand %6, 1.0` and `b32csel %6, 1.0, 0.0` count as `b2f32 %6` too. Booleans
//! combined with each other (`iand`, `ior`, `ixor`, `inot`, phis, selections, vectors) form a class with one form. As
//! words, each `b2f32` and each `terminate_if` of them costs an instruction. As floats, each comparison of integers
//! does, and each value with a bitwise use; comparisons of floats can give either form, and conditions and selections
//! test for non-zero, which 1.0 is. On targets that compare to words only, each comparison that gives a float costs one
//! more.
//!
//! To find values computed from booleans only, it assumes that all are, and withdraws those with another operand and
//! their users: linear.

use cranelift_entity::SecondaryMap;
use tgsi_ir::alu::{AluOp, AluType};
use tgsi_ir::body::InstData;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{AluFlags, Body, Builder, Cursor, Def, Inst, Shader, Use, User};

const ONES: u64 = 0xffff_ffff;
const ONE: u64 = 0x3f80_0000;

/// Chooses the forms. With `comparisons_return_masks` a comparison that gives a float takes two instructions. Returns
/// whether anything changed.
pub(crate) fn choose_boolean_form(shader: &mut Shader, comparisons_return_masks: bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        let numbers_wanted = body
            .blocks_vec()
            .into_iter()
            .any(|block| body.insts(block).any(|inst| wanted_number(body, inst).is_some()));
        if numbers_wanted {
            progress |= choose(body, comparisons_return_masks);
        }
    }
    progress
}

/// The form in which a boolean is defined.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum BooleanDefinition {
    /// Not a boolean, or a constant, which has any form.
    #[default]
    None,
    /// A comparison of floats that TGSI can do in both forms; as a float by this opcode.
    Either(AluOp),
    /// A comparison that gives a word.
    Word,
    /// A combination of other booleans.
    Join,
}

/// A class of booleans: its representative, and the cost of each form in instructions.
#[derive(Clone, Copy, Default)]
struct Class {
    parent: Option<Def>,
    words: u32,
    floats: u32,
    /// Whether one of them has a bitwise use, or a kill that may need no comparison.
    has_other_readers: bool,
}

struct Booleans {
    kinds: SecondaryMap<Def, BooleanDefinition>,
    classes: SecondaryMap<Def, Class>,
    /// The booleans in program order.
    defs: Vec<Def>,
}

/// The operand that an instruction needs as a number, if it is a boolean.
fn wanted_number(body: &Body, inst: Inst) -> Option<usize> {
    let is_all = |number: usize, word: u64| {
        let source = body.source(inst, number);
        (0..body.alu_src_components(inst, number)).all(|c| {
            body.constant_component(body.src_def(source), usize::from(body.swizzle(source).get(c))) == Some(word)
        })
    };
    match body.alu_op(inst) {
        Some(AluOp::B2f32) => Some(0),
        Some(AluOp::B32csel) => (body.bit_size(body.src(inst, 1)) == 32 && is_all(1, ONE) && is_all(2, 0)).then_some(0),
        Some(AluOp::Iand) if body.bit_size(body.src(inst, 0)) == 32 => [0, 1].into_iter().find(|&n| is_all(1 - n, ONE)),
        _ => (body.intrinsic(inst) == Some(IntrinsicOp::TerminateIf)).then_some(0),
    }
}

fn kind(body: &Body, inst: Inst, def: Def) -> BooleanDefinition {
    if body.bit_size(def) != 32 {
        return BooleanDefinition::None;
    }
    if body.is_phi(inst) {
        return BooleanDefinition::Join;
    }
    match body.alu_op(inst) {
        Some(op @ (AluOp::Flt32 | AluOp::Fge32 | AluOp::Feq32 | AluOp::Fneu32)) => {
            if body.bit_size(body.src(inst, 0)) != 32 {
                return BooleanDefinition::Word;
            }
            BooleanDefinition::Either(match op {
                AluOp::Flt32 => AluOp::Slt,
                AluOp::Fge32 => AluOp::Sge,
                AluOp::Feq32 => AluOp::Seq,
                _ => AluOp::Sne,
            })
        }
        Some(AluOp::Iand | AluOp::Ior | AluOp::Ixor | AluOp::Inot | AluOp::B32csel) => BooleanDefinition::Join,
        Some(op) if op.is_vec_or_mov() => BooleanDefinition::Join,
        Some(op) if op.info().output_type == AluType::BOOL32 => BooleanDefinition::Word,
        _ => BooleanDefinition::None,
    }
}

/// Whether an instruction compares a value with 0 by less-than.
fn is_sign(body: &Body, inst: Inst) -> bool {
    matches!(body.alu_op(inst), Some(AluOp::Flt32 | AluOp::Slt))
        && body.sources(inst).any(|s| {
            let component = usize::from(body.swizzle(s).get(0));
            body.constant_component(body.src_def(s), component).is_some_and(|word| word & 0x7fff_ffff == 0)
        })
}

/// The number of the first boolean operand of a combination: those before it are conditions.
fn first_value(body: &Body, inst: Inst) -> usize {
    usize::from(body.alu_op(inst) == Some(AluOp::B32csel))
}

/// The components of a constant that can be a boolean in any form.
fn constant(body: &Body, def: Def) -> Option<&[u64]> {
    body.def_constant(def).filter(|words| words.iter().all(|&word| word == 0 || word == ONES))
}

impl Booleans {
    fn new(body: &Body) -> Booleans {
        let mut booleans = Booleans {
            kinds: SecondaryMap::with_capacity(body.num_defs()),
            classes: SecondaryMap::with_capacity(body.num_defs()),
            defs: Vec::new(),
        };
        let mut joins = Vec::new();
        for block in body.blocks_vec() {
            for inst in body.insts(block) {
                let Some(def) = body.inst_def(inst) else { continue };
                let kind = kind(body, inst, def);
                if kind == BooleanDefinition::None {
                    continue;
                }
                booleans.kinds[def] = kind;
                booleans.defs.push(def);
                if kind == BooleanDefinition::Join {
                    joins.push(def);
                }
            }
        }
        while let Some(def) = joins.pop() {
            let inst = body.def_inst(def);
            if booleans.kinds[def] != BooleanDefinition::Join
                || body.sources(inst).skip(first_value(body, inst)).all(|s| booleans.may_be(body, body.src_def(s)))
            {
                continue;
            }
            booleans.kinds[def] = BooleanDefinition::None;
            let users = body.uses_of(def).filter_map(|s| match body.user(s) {
                User::Inst(user) => body.inst_def(user),
                User::If(_) => None,
            });
            joins.extend(users.filter(|&user| booleans.kinds[user] == BooleanDefinition::Join));
        }
        booleans.defs.retain(|&def| booleans.kinds[def] != BooleanDefinition::None);
        booleans
    }

    fn may_be(&self, body: &Body, def: Def) -> bool {
        self.kinds[def] != BooleanDefinition::None
            || constant(body, def).is_some()
            || matches!(body.inst(body.def_inst(def)), InstData::Undef)
    }

    /// Returns the representative of a value's class.
    fn find(&mut self, def: Def) -> Def {
        let mut root = def;
        while let Some(parent) = self.classes[root].parent {
            root = parent;
        }
        let mut at = def;
        while let Some(parent) = self.classes[at].parent {
            self.classes[at].parent = Some(root);
            at = parent;
        }
        root
    }

    fn join(&mut self, body: &Body) {
        for index in 0..self.defs.len() {
            let def = self.defs[index];
            if self.kinds[def] != BooleanDefinition::Join {
                continue;
            }
            let inst = body.def_inst(def);
            for source in body.sources(inst).skip(first_value(body, inst)) {
                let operand = body.src_def(source);
                let (a, b) = (self.find(def), self.find(operand));
                if self.kinds[operand] != BooleanDefinition::None && a != b {
                    self.classes[a].parent = Some(b);
                }
            }
        }
    }

    /// Classifies a use of a boolean.
    fn reader(&self, body: &Body, source: Use) -> Reader {
        let User::Inst(user) = body.user(source) else { return Reader::Tests };
        if wanted_number(body, user) == Some(body.source_number(source)) {
            // A kill by a comparison with 0 tests the sign of the value itself.
            let kills = body.intrinsic(user).is_some() && is_sign(body, body.def_inst(body.src_def(source)));
            return if kills { Reader::Tests } else { Reader::Number(user) };
        }
        let is_condition = body.alu_op(user) == Some(AluOp::B32csel) && body.source_number(source) == 0;
        match body.inst_def(user) {
            _ if is_condition => Reader::Tests,
            Some(def) if self.kinds[def] == BooleanDefinition::Join => Reader::Joins,
            _ => Reader::Word,
        }
    }

    fn count(&mut self, body: &Body, comparisons_return_masks: bool) {
        for index in 0..self.defs.len() {
            let def = self.defs[index];
            let is_second_step = match self.kinds[def] {
                BooleanDefinition::Word => true,
                BooleanDefinition::Either(_) => comparisons_return_masks,
                BooleanDefinition::Join | BooleanDefinition::None => false,
            };
            let (mut words, mut floats) = (0, u32::from(is_second_step));
            let (mut read_as_word, mut kills) = (false, false);
            for source in body.uses_of(def) {
                match self.reader(body, source) {
                    Reader::Number(user) => {
                        words += 1;
                        kills |= body.inst_def(user).is_none();
                    }
                    // An integer comparison computes the word in any case.
                    Reader::Word => read_as_word = self.kinds[def] != BooleanDefinition::Word,
                    Reader::Tests | Reader::Joins => {}
                }
            }
            floats += u32::from(read_as_word);
            let root = self.find(def);
            self.classes[root].has_other_readers |= read_as_word || kills && self.kinds[def] == BooleanDefinition::Word;
            self.classes[root].words += words;
            self.classes[root].floats += floats;
        }
    }
}

/// The kinds of uses of a boolean.
enum Reader {
    /// Needs 1.0 or 0.0.
    Number(Inst),
    /// Tests for non-zero.
    Tests,
    /// Combines it to another boolean.
    Joins,
    /// Any other use.
    Word,
}

fn choose(body: &mut Body, comparisons_return_masks: bool) -> bool {
    let mut booleans = Booleans::new(body);
    booleans.join(body);
    booleans.count(body, comparisons_return_masks);
    let mut progress = false;
    for index in 0..booleans.defs.len() {
        let def = booleans.defs[index];
        let root = booleans.find(def);
        let class = booleans.classes[root];
        // Conversions right after comparisons need no vector of words.
        let is_tie = class.floats == class.words && class.words > 0 && !class.has_other_readers;
        if class.floats < class.words || is_tie {
            make_float(body, &booleans, def);
            progress = true;
        }
    }
    progress
}

/// Converts one boolean of a class to a float.
fn make_float(body: &mut Body, booleans: &Booleans, def: Def) {
    let kind = booleans.kinds[def];
    let inst = body.def_inst(def);
    let uses = body.uses_vec(def);
    let count = body.num_components(def);
    let mut value = def;
    match kind {
        BooleanDefinition::Either(op) => {
            // The result is never rounded, so it need not be precise.
            body.set_inst(inst, InstData::Alu { op, flags: AluFlags::NONE });
        }
        BooleanDefinition::Word => value = after(body, inst).alu_sized(AluOp::B2f32, count, &[def.into()]),
        BooleanDefinition::Join => value = join_floats(body, inst, def),
        BooleanDefinition::None => return,
    }
    let mut word = (kind == BooleanDefinition::Word).then_some(def);
    for source in uses {
        match booleans.reader(body, source) {
            Reader::Number(user) => match body.inst_def(user) {
                Some(number) => {
                    let selected = AluSrc::new(value, body.swizzle(source));
                    let count = body.num_components(number);
                    let copy = Builder::new(body, Cursor::Before(user)).mov(selected, count);
                    body.replace_all_uses(number, copy);
                }
                None => {
                    let mut b = Builder::new(body, Cursor::Before(user));
                    let zero = b.f32_const(0.0);
                    let kills = b.alu(AluOp::Flt32, &[zero, value]);
                    body.set_src(source, kills);
                }
            },
            Reader::Tests | Reader::Joins => body.set_src(source, value),
            Reader::Word => {
                let word = *word.get_or_insert_with(|| {
                    let mut b = after(body, body.def_inst(value));
                    let zero = b.constant(32, &[0; 16][..usize::from(count)]);
                    b.alu_sized(AluOp::Ine32, count, &[value.into(), zero.into()])
                });
                body.set_src(source, word);
            }
        }
    }
}

fn after(body: &mut Body, inst: Inst) -> Builder<'_> {
    let cursor = Cursor::after_inst(body, inst);
    Builder::new(body, cursor)
}

/// Combines operands as floats. The operands may still be words, except constants.
fn join_floats(body: &mut Body, inst: Inst, def: Def) -> Def {
    for source in body.sources(inst).skip(first_value(body, inst)) {
        let operand = body.src_def(source);
        let Some(words) = constant(body, operand) else { continue };
        let floats: Vec<u64> = words.iter().map(|&word| if word == 0 { 0 } else { ONE }).collect();
        let cursor = Cursor::before_use(body, source);
        let floats = Builder::new(body, cursor).constant(32, &floats);
        body.set_src(source, floats);
    }
    let Some((op, flags)) = body.alu(inst) else { return def };
    let op = match op {
        AluOp::Iand => AluOp::Fmul,
        AluOp::Ior => AluOp::Fmax,
        AluOp::Ixor => AluOp::Sne,
        AluOp::Inot => {
            let source = body.source(inst, 0);
            let operand = AluSrc::new(body.src_def(source), body.swizzle(source));
            let count = body.num_components(def);
            let mut b = Builder::new(body, Cursor::Before(inst));
            let one = b.f32_const(1.0);
            let negative = b.alu_sized(AluOp::Fneg, count, &[operand]);
            return b.alu_sized(AluOp::Fadd, count, &[AluSrc::component(one, 0), negative.into()]);
        }
        _ => return def,
    };
    body.set_inst(inst, InstData::Alu { op, flags });
    def
}
