//! The 32-bit forms of small values.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::alu::{AluOp, ExecutionMode, half, sign_extend};
use crate::body::{Body, InstData};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// How a 32-bit value represents a small one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// The value is in the low bits; the others are unspecified.
    Word,
    /// Zero-extended.
    Zero,
    /// Sign-extended.
    Sign,
    /// A 32-bit float with the value of a 16-bit float.
    Float,
}

/// The forms of a value that exist so far.
#[derive(Clone, Copy, Default)]
struct Forms {
    /// Size of the value in the source; 0 if the value is not small.
    bits: u8,
    /// The value keeps its size: an instruction that is not lowered defines it.
    is_kept: bool,
    /// The word is a vector by [`pack_pairs`].
    is_paired: bool,
    forms: [PackedOption<Def>; 4],
}

/// The state of the pass in one body.
pub(super) struct Lowering<'a> {
    pub body: &'a mut Body,
    pub mode: ExecutionMode,
    pub progress: bool,
    values: SecondaryMap<Def, Forms>,
    dead: Vec<Inst>,
}

impl<'a> Lowering<'a> {
    /// Finds the small values of a body.
    pub fn new(body: &'a mut Body, mode: ExecutionMode) -> Lowering<'a> {
        let mut values: SecondaryMap<Def, Forms> = SecondaryMap::new();
        for block in body.blocks() {
            for inst in body.insts(block) {
                let copies = body.copies(inst).unwrap_or(&[]).iter().filter_map(|entry| entry.dest.expand());
                for def in body.inst_def(inst).into_iter().chain(copies) {
                    let bits = body.bit_size(def);
                    if matches!(bits, 8 | 16) {
                        values[def].bits = bits;
                    }
                }
            }
        }
        Lowering { body, mode, progress: false, values, dead: Vec::new() }
    }

    /// Returns the size of a small value, or 0.
    pub fn bits(&self, def: Def) -> u8 {
        self.values[def].bits
    }

    pub fn is_small(&self, def: Def) -> bool {
        self.bits(def) != 0
    }

    /// Records that the instruction that defines a value is not lowered.
    pub fn keep(&mut self, def: Def) {
        self.values[def].is_kept = true;
    }

    pub fn is_kept(&self, def: Def) -> bool {
        self.values[def].is_kept
    }

    /// Records a form of a value. A word that is extended is also a word.
    pub fn set(&mut self, def: Def, form: Form, value: Def) {
        let forms = &mut self.values[def].forms;
        forms[form as usize] = value.into();
        if matches!(form, Form::Zero | Form::Sign) {
            forms[Form::Word as usize] = value.into();
        }
    }

    /// Records that the word of a value is a vector by [`pack_pairs`].
    pub fn set_paired(&mut self, def: Def) {
        self.values[def].is_paired = true;
    }

    /// Records that a new instruction computes the value of an old one.
    pub fn replace(&mut self, inst: Inst, form: Form, value: Def) {
        if let Some(def) = self.body.inst_def(inst) {
            self.set(def, form, value);
        }
        self.remove_later(inst);
    }

    /// Removes an instruction at the end, when its uses read other values.
    pub fn remove_later(&mut self, inst: Inst) {
        self.progress = true;
        self.dead.push(inst);
    }

    /// Makes the result of an instruction a word of this form.
    pub fn widen(&mut self, def: Def, form: Form) {
        let shape = self.body.shape(def);
        self.body.set_shape(def, crate::body::Shape { bit_size: 32, ..shape });
        self.set(def, form, def);
        self.progress = true;
    }

    /// Removes the instructions whose values have been replaced.
    pub fn finish(self) -> bool {
        for &inst in self.dead.iter().rev() {
            if self.body.inst_def(inst).is_none_or(|def| self.body.is_unused(def)) {
                self.body.remove_inst(inst);
            }
        }
        self.progress
    }

    /// Returns a form of a small value, which is emitted once, behind the definition.
    pub fn form(&mut self, def: Def, form: Form) -> Def {
        if let Some(value) = self.existing(def, form) {
            return value;
        }
        let value = self.emit_form(def, form);
        self.set(def, form, value);
        value
    }

    fn existing(&self, def: Def, form: Form) -> Option<Def> {
        self.values[def].forms[form as usize].expand()
    }

    /// Returns whether a value is at hand as a float, but not as a word.
    pub fn is_float(&self, def: Def) -> bool {
        self.existing(def, Form::Float).is_some() && self.existing(def, Form::Word).is_none()
    }

    /// Returns whether a value is a constant other than NaN.
    pub fn is_number(&self, def: Def) -> bool {
        self.body.def_constant(def).is_some_and(|words| words.iter().all(|word| word & 0x7fff <= 0x7c00))
    }

    fn emit_form(&mut self, def: Def, form: Form) -> Def {
        let bits = self.bits(def);
        let inst = self.body.def_inst(def);
        let components = self.body.num_components(def);
        if let Some(words) = self.body.def_constant(def).filter(|_| self.body.bit_size(def) == bits) {
            let words: arrayvec::ArrayVec<u64, 16> =
                words.iter().take(components.into()).map(|&word| constant(word, bits, form)).collect();
            return Builder::new(self.body, Cursor::After(inst)).constant(32, &words);
        }
        if matches!(self.body.inst(inst), InstData::Undef) {
            let undef = Builder::new(self.body, Cursor::After(inst)).undef(components, 32);
            for form in [Form::Zero, Form::Sign, Form::Float] {
                self.set(def, form, undef);
            }
            return undef;
        }
        let base = match (self.existing(def, Form::Word), self.existing(def, Form::Float)) {
            (Some(word), _) => word,
            (None, Some(float)) => {
                let cursor = Cursor::after_inst(self.body, self.body.def_inst(float));
                let word = pack(&mut Builder::new(self.body, cursor), float);
                self.set(def, Form::Zero, word);
                word
            }
            (None, None) => {
                // The instruction that defines it remains.
                let cursor = Cursor::after_inst(self.body, inst);
                let word = Builder::new(self.body, cursor).alu(AluOp::U2u32, &[def]);
                self.set(def, Form::Zero, word);
                word
            }
        };
        if let Some(value) = self.existing(def, form) {
            return value;
        }
        let producer = self.body.def_inst(base);
        let cursor = Cursor::after_inst(self.body, producer);
        if form == Form::Float && self.values[def].is_paired {
            return unpack_pairs(&mut Builder::new(self.body, cursor), producer);
        }
        extended(&mut Builder::new(self.body, cursor), base, bits, form)
    }

    /// Returns a source of an ALU instruction with its swizzle, a small one in a form.
    pub fn operand(&mut self, inst: Inst, number: usize, form: Form) -> Def {
        let source = self.body.source(inst, number);
        let (def, swizzle) = (self.body.src_def(source), self.body.swizzle(source));
        let components = self.body.alu_src_components(inst, number) as u8;
        let value = if self.is_small(def) { self.form(def, form) } else { def };
        Builder::new(self.body, Cursor::Before(inst)).mov(AluSrc::new(value, swizzle), components)
    }

    /// Returns a source of an instruction other than an ALU instruction, a small one in a form.
    pub fn source(&mut self, inst: Inst, number: usize, form: Form) -> Def {
        let def = self.body.src(inst, number);
        if self.is_small(def) { self.form(def, form) } else { def }
    }

    /// Makes a source read a form of its value. Returns whether the value was small.
    pub fn set_source(&mut self, inst: Inst, number: usize, form: Form) -> bool {
        let source = self.body.source(inst, number);
        let def = self.body.src_def(source);
        if !self.is_small(def) {
            return false;
        }
        let value = self.form(def, form);
        self.body.set_src(source, value);
        self.progress = true;
        true
    }

    /// Returns a helper that emits code before an instruction.
    pub fn arithmetic(&mut self, inst: Inst, components: u8) -> Arithmetic<'_> {
        Arithmetic::before(self.body, inst, components)
    }
}

/// Returns the word of a form of a constant.
fn constant(word: u64, bits: u8, form: Form) -> u64 {
    match form {
        Form::Word | Form::Zero => word,
        Form::Sign => sign_extend(word, bits.into()) as u64 & 0xffff_ffff,
        Form::Float => half::to_f32(word as u16).to_bits().into(),
    }
}

/// Packs 32-bit floats that are 16-bit floats, or rounds other floats to the nearest. The upper halves are 0.
pub(super) fn pack(b: &mut Builder<'_>, float: Def) -> Def {
    let count = b.body.num_components(float);
    let zero = b.f32_const(0.0);
    let halves: arrayvec::ArrayVec<AluSrc, 16> = (0..count)
        .map(|c| {
            let sources = [AluSrc::component(float, c), AluSrc::component(zero, 0)];
            AluSrc::component(b.alu_sized(AluOp::PackHalf2x16Split, 1, &sources), 0)
        })
        .collect();
    b.vec(&halves)
}

/// Rounds the components of a vector of 32-bit floats to the nearest 16-bit floats, two at a time. The upper halves of
/// the resulting words are unspecified.
pub(super) fn pack_pairs(b: &mut Builder<'_>, float: Def) -> Def {
    let count = b.body.num_components(float);
    let (zero, distance) = (b.f32_const(0.0), b.u32_const(16));
    let mut words: arrayvec::ArrayVec<Def, 16> = arrayvec::ArrayVec::new();
    for c in (0..count).step_by(2) {
        let second = if c + 1 < count { AluSrc::component(float, c + 1) } else { AluSrc::component(zero, 0) };
        let pair = b.alu_sized(AluOp::PackHalf2x16Split, 1, &[AluSrc::component(float, c), second]);
        words.push(pair);
        if c + 1 < count {
            words.push(b.alu(AluOp::Ushr, &[pair, distance]));
        }
    }
    b.vec_of(&words)
}

/// Unpacks the pairs of the vector that [`pack_pairs`] has emitted.
fn unpack_pairs(b: &mut Builder<'_>, vector: Inst) -> Def {
    let floats: arrayvec::ArrayVec<Def, 16> = (0..b.body.num_sources(vector).min(16))
        .map(|number| {
            let pair = b.body.src(vector, number & !1);
            let op = [AluOp::UnpackHalf2x16SplitX, AluOp::UnpackHalf2x16SplitY][number & 1];
            b.alu(op, &[pair])
        })
        .collect();
    b.vec_of(&floats)
}

/// Converts a word to another form.
fn extended(b: &mut Builder<'_>, word: Def, bits: u8, form: Form) -> Def {
    let components = b.body.num_components(word);
    let mut by_constant = |op, a: Def, constant| {
        let constant = b.u32_const(constant);
        b.alu_sized(op, components, &[a.into(), AluSrc::component(constant, 0)])
    };
    match form {
        Form::Word => word,
        Form::Zero => by_constant(AluOp::Iand, word, (1 << bits) - 1),
        Form::Sign => {
            let top = by_constant(AluOp::Ishl, word, 32 - u32::from(bits));
            by_constant(AluOp::Ishr, top, 32 - u32::from(bits))
        }
        Form::Float => b.alu(AluOp::UnpackHalf2x16SplitX, &[word]),
    }
}
