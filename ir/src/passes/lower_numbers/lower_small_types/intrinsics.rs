//! Intrinsics and texture instructions with small operands or results.

use super::memory::{is_load, is_store};
use super::values::{Form, Lowering, pack, pack_pairs};
use super::variables::in_words;
use crate::alu::{AluOp, AluType, BaseType};
use crate::body::{AluFlags, InstData, Shape, TexOp, TexSrcKind};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::types::{ScalarType, TypeTable};
use crate::variable::VariableModes;

/// Returns the form of a value of a type.
const fn form_of(base: BaseType) -> Form {
    match base {
        BaseType::Float => Form::Float,
        BaseType::Int => Form::Sign,
        BaseType::Uint | BaseType::Bool => Form::Zero,
        BaseType::Invalid => Form::Word,
    }
}

/// Returns the operation of a reduction.
fn reduction(lowering: &Lowering<'_>, inst: Inst) -> Option<AluOp> {
    AluOp::ALL.get(lowering.body.index(inst, IndexKind::ReductionOp) as usize).copied()
}

/// Returns whether an intrinsic moves values between invocations.
fn is_shuffle(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    matches!(op, I::ReadInvocation | I::ReadFirstInvocation | I::AsUniform | I::Shuffle | I::ShuffleXor)
        || matches!(op, I::ShuffleUp | I::ShuffleDown | I::Rotate | I::QuadBroadcast)
        || matches!(op, I::QuadSwapHorizontal | I::QuadSwapVertical | I::QuadSwapDiagonal)
}

fn is_derivative(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    matches!(op, I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse)
}

/// Returns whether an intrinsic loads an input, an output, a uniform or a texel of a stated type.
fn is_typed_load(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    matches!(op, I::LoadInput | I::LoadInputVertex | I::LoadPerVertexInput | I::LoadInterpolatedInput | I::LoadUniform)
        || matches!(op, I::LoadPerPrimitiveInput | I::LoadOutput | I::LoadPerVertexOutput | I::LoadPerViewOutput)
        || matches!(op, I::LoadPerPrimitiveOutput | I::ImageDerefLoad | I::ImageLoad | I::BindlessImageLoad)
}

/// Returns the number of the stored value of an intrinsic that stores an output or a texel.
fn typed_store(op: IntrinsicOp) -> Option<usize> {
    use IntrinsicOp as I;
    match op {
        I::StoreOutput | I::StorePerVertexOutput | I::StorePerViewOutput | I::StorePerPrimitiveOutput => Some(0),
        I::ImageDerefStore | I::ImageStore | I::BindlessImageStore => Some(3),
        _ => None,
    }
}

fn is_interpolation(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    matches!(op, I::InterpDerefAtCentroid | I::InterpDerefAtSample | I::InterpDerefAtOffset | I::InterpDerefAtVertex)
}

impl Lowering<'_> {
    /// Returns the type of the scalars that a deref points to; `None` for memory that is addressed in bytes.
    fn scalar_of(&self, types: &TypeTable, deref: Def) -> Option<(ScalarType, VariableModes)> {
        match *self.body.inst(self.body.def_inst(deref)) {
            InstData::Deref { modes, ty, .. } if in_words(modes) => Some((types.as_vector(ty)?.0, modes)),
            _ => None,
        }
    }

    /// Returns whether the pass has a form of an intrinsic with small operands or results.
    fn lowers(&self, types: &TypeTable, inst: Inst, op: IntrinsicOp) -> bool {
        use IntrinsicOp as I;
        match op {
            I::LoadReg | I::LoadRegIndirect | I::StoreReg | I::StoreRegIndirect | I::LoadParam | I::Use => true,
            I::LoadUboVec4 | I::LoadPixelCoord | I::VoteIeq | I::VoteFeq => true,
            I::LoadDeref | I::StoreDeref => self.scalar_of(types, self.body.src(inst, 0)).is_some(),
            I::Reduce | I::InclusiveScan | I::ExclusiveScan => matches!(
                reduction(self, inst),
                Some(
                    AluOp::Iadd
                        | AluOp::Imul
                        | AluOp::Iand
                        | AluOp::Ior
                        | AluOp::Ixor
                        | AluOp::Umin
                        | AluOp::Umax
                        | AluOp::Imin
                        | AluOp::Imax
                        | AluOp::Fmin
                        | AluOp::Fmax
                )
            ),
            _ if is_interpolation(op) => self.scalar_of(types, self.body.src(inst, 0)).is_some(),
            _ => {
                is_load(op)
                    || is_store(op)
                    || is_shuffle(op)
                    || is_derivative(op)
                    || is_typed_load(op)
                    || typed_store(op).is_some()
            }
        }
    }

    /// Finds the values of instructions that are not lowered, and conversions to small values for them.
    pub fn find_kept(&mut self, types: &TypeTable, inst: Inst) {
        let is_kept = match *self.body.inst(inst) {
            InstData::Intrinsic { op, .. } => !self.lowers(types, inst, op),
            InstData::Deref { .. } => true,
            _ => false,
        };
        if !is_kept {
            return;
        }
        if let Some(def) = self.body.inst_def(inst).filter(|&def| self.is_small(def)) {
            self.keep(def);
        }
        for source in self.body.sources(inst) {
            let def = self.body.src_def(source);
            let producer = self.body.def_inst(def);
            if matches!(self.body.alu_op(producer), Some(AluOp::U2u8 | AluOp::U2u16))
                && self.body.bit_size(self.body.src(producer, 0)) == 32
            {
                self.keep(def);
            }
        }
    }

    /// Makes a result one of 32 bits.
    fn resize(&mut self, def: Def) {
        let shape = self.body.shape(def);
        self.body.set_shape(def, Shape { bit_size: 32, ..shape });
        self.progress = true;
    }

    /// Makes a result a 32-bit number, which is rounded or truncated to a small one.
    fn narrow(&mut self, inst: Inst, def: Def, is_float: bool) {
        self.resize(def);
        if !is_float {
            return self.set(def, Form::Word, def);
        }
        let is_vector = self.body.num_components(def) > 1;
        let mut b = Builder::new(self.body, Cursor::After(inst));
        if is_vector {
            let word = pack_pairs(&mut b, def);
            self.set_paired(def);
            self.set(def, Form::Word, word);
        } else {
            let word = pack(&mut b, def);
            self.set(def, Form::Zero, word);
        }
    }

    /// Lowers an intrinsic.
    pub fn lower_intrinsic(&mut self, types: &TypeTable, inst: Inst, op: IntrinsicOp) {
        use IntrinsicOp as I;
        if op == I::DeclReg {
            if matches!(self.body.index(inst, IndexKind::BitSize), 8 | 16) {
                self.body.set_index(inst, IndexKind::BitSize, 32);
                self.progress = true;
            }
            return;
        }
        let result = self.body.inst_def(inst).filter(|&def| self.is_small(def));
        let takes = self.body.sources(inst).any(|source| self.is_small(self.body.src_def(source)));
        if result.is_none() && !takes {
            return;
        }
        if !self.lowers(types, inst, op) {
            return self.keep_sources(inst);
        }
        match op {
            I::StoreReg | I::StoreRegIndirect => self.lower_store_reg(inst),
            I::StoreDeref => {
                let Some((scalar, modes)) = self.scalar_of(types, self.body.src(inst, 0)) else { return };
                let form = match scalar {
                    ScalarType::Float16 => Form::Float,
                    _ if !modes.intersects(VariableModes::SHADER_OUT) => Form::Word,
                    ScalarType::Int8 | ScalarType::Int16 => Form::Sign,
                    _ => Form::Zero,
                };
                self.set_source(inst, 1, form);
            }
            I::VoteIeq => {
                self.set_source(inst, 0, Form::Zero);
            }
            I::VoteFeq => {
                self.set_source(inst, 0, Form::Float);
            }
            I::Use => {
                self.set_source(inst, 0, Form::Word);
            }
            _ if is_store(op) => {
                self.index_sources(inst, 1);
                if self.is_small(self.body.src(inst, 0)) && !self.lower_store(inst, op) {
                    self.keep_sources(inst);
                }
            }
            _ if typed_store(op).is_some() => self.lower_typed_store(inst, typed_store(op).unwrap_or(0)),
            _ => self.lower_result(types, inst, op, result),
        }
    }

    /// Lowers an intrinsic with a result.
    fn lower_result(&mut self, types: &TypeTable, inst: Inst, op: IntrinsicOp, result: Option<Def>) {
        use IntrinsicOp as I;
        if is_interpolation(op) && op == I::InterpDerefAtOffset {
            self.set_source(inst, 1, Form::Float);
        }
        let data = is_derivative(op) || is_shuffle(op) || matches!(op, I::Reduce | I::InclusiveScan | I::ExclusiveScan);
        if op == I::LoadInterpolatedInput {
            self.set_source(inst, 0, Form::Float);
        }
        self.index_sources(inst, usize::from(data));
        let Some(def) = result else { return };
        match op {
            I::LoadReg | I::LoadRegIndirect => self.lower_load_reg(inst, def),
            I::LoadUboVec4 => self.lower_load_vec4(inst),
            I::LoadPixelCoord => {
                let cursor = Cursor::Before(inst);
                let mut b = Builder::new(self.body, cursor);
                let place = b.intrinsic_def(I::LoadFragCoord, &[], &[], Shape::new(4, 32));
                let value = b.alu_sized(AluOp::F2u32, 2, &[place.into()]);
                self.replace(inst, Form::Zero, value);
            }
            I::LoadDeref => {
                let Some((scalar, modes)) = self.scalar_of(types, self.body.src(inst, 0)) else { return };
                let is_private = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
                if scalar == ScalarType::Float16 && is_private.intersects(modes) {
                    // Stores have rounded the value.
                    self.resize(def);
                    self.set(def, Form::Float, def);
                } else {
                    self.narrow(inst, def, scalar == ScalarType::Float16);
                }
            }
            I::Reduce | I::InclusiveScan | I::ExclusiveScan => self.lower_reduction(inst, op, def),
            _ if is_load(op) => {
                if !self.lower_load(inst, op) {
                    self.keep(def);
                }
            }
            _ if is_typed_load(op) => {
                let ty = AluType::from_i32(self.body.index(inst, IndexKind::DestType));
                if ty.base != BaseType::Invalid {
                    let wide = AluType::new(ty.base, 32);
                    self.body.set_index(inst, IndexKind::DestType, wide.to_i32());
                }
                self.narrow(inst, def, ty.base == BaseType::Float);
            }
            _ if is_derivative(op) || is_interpolation(op) => {
                if is_derivative(op) {
                    self.set_source(inst, 0, Form::Float);
                    self.narrow(inst, def, true);
                } else {
                    let scalar = self.scalar_of(types, self.body.src(inst, 0));
                    self.narrow(inst, def, scalar.is_some_and(|(scalar, _)| scalar == ScalarType::Float16));
                }
            }
            // Parameters, values of other invocations.
            _ => {
                if is_shuffle(op) {
                    self.set_source(inst, 0, Form::Word);
                }
                self.widen(def, Form::Word);
            }
        }
    }

    /// Extends the small operands from a number on, which are numbers of invocations, resources or vertices, and
    /// coordinates of images, which are signed.
    fn index_sources(&mut self, inst: Inst, first: usize) {
        let is_image = self.body.intrinsic(inst).is_some_and(|op| op.info().index_slot(IndexKind::ImageDim).is_some());
        for number in first..self.body.num_sources(inst) {
            self.set_source(inst, number, if is_image && number == 1 { Form::Sign } else { Form::Zero });
        }
    }

    fn lower_typed_store(&mut self, inst: Inst, value: usize) {
        if self.is_small(self.body.src(inst, value)) {
            let ty = AluType::from_i32(self.body.index(inst, IndexKind::SrcType));
            self.set_source(inst, value, form_of(ty.base));
            let wide = AluType::new(ty.base, 32);
            self.body.set_index(inst, IndexKind::SrcType, wide.to_i32());
        }
        self.index_sources(inst, 0);
    }

    fn lower_load_reg(&mut self, inst: Inst, def: Def) {
        let is_set = |kind| self.body.index(inst, kind) != 0;
        let (abs, neg) = (is_set(IndexKind::LegacyFabs), is_set(IndexKind::LegacyFneg));
        let bits = self.bits(def);
        self.widen(def, Form::Word);
        for kind in [IndexKind::LegacyFabs, IndexKind::LegacyFneg] {
            self.body.set_index(inst, kind, 0);
        }
        let sign = 1 << (bits - 1);
        let mut word = def;
        for (op, constant, _) in [(AluOp::Iand, sign - 1, abs), (AluOp::Ixor, sign, neg)].iter().filter(|op| op.2) {
            let components = self.body.num_components(def);
            let after = self.body.def_inst(word);
            let mut b = Builder::new(self.body, Cursor::After(after));
            let constant = b.u32_const(*constant);
            word = b.alu_sized(*op, components, &[word.into(), AluSrc::component(constant, 0)]);
        }
        self.set(def, Form::Word, word);
    }

    fn lower_store_reg(&mut self, inst: Inst) {
        if self.body.index(inst, IndexKind::LegacyFsat) == 0 {
            self.set_source(inst, 0, Form::Word);
        } else if self.is_small(self.body.src(inst, 0)) {
            let value = self.source(inst, 0, Form::Float);
            let mut b = Builder::new(self.body, Cursor::Before(inst));
            b.flags = AluFlags::EXACT;
            let value = b.alu(AluOp::Fsat, &[value]);
            let word = pack(&mut b, value);
            let source = self.body.source(inst, 0);
            self.body.set_src(source, word);
            self.body.set_index(inst, IndexKind::LegacyFsat, 0);
            self.progress = true;
        }
        self.index_sources(inst, 1);
    }

    fn lower_reduction(&mut self, inst: Inst, op: IntrinsicOp, def: Def) {
        let bits = self.bits(def);
        let operation = reduction(self, inst);
        let form = match operation {
            Some(AluOp::Fmin | AluOp::Fmax) => Form::Float,
            Some(AluOp::Imin | AluOp::Imax) => Form::Sign,
            Some(AluOp::Umin | AluOp::Umax) => Form::Zero,
            _ => Form::Word,
        };
        self.set_source(inst, 0, form);
        self.resize(def);
        // The first invocation has the neutral element; that of the unsigned minimum has ones in the low bits, too.
        let limit = match operation {
            Some(AluOp::Imin) => Some((AluOp::Imin, (1 << (bits - 1)) - 1)),
            Some(AluOp::Imax) => Some((AluOp::Imax, !0u32 << (bits - 1))),
            _ => None,
        };
        let (Some((min, limit)), IntrinsicOp::ExclusiveScan) = (limit, op) else {
            return self.set(def, if form == Form::Float { form } else { Form::Word }, def);
        };
        let components = self.body.num_components(def);
        let mut b = Builder::new(self.body, Cursor::After(inst));
        let limit = b.u32_const(limit);
        let value = b.alu_sized(min, components, &[def.into(), AluSrc::component(limit, 0)]);
        self.set(def, Form::Sign, value);
    }

    /// Lowers a texture instruction.
    pub fn lower_texture(&mut self, inst: Inst) {
        let Some(&data) = self.body.tex(inst) else { return };
        for number in 0..self.body.num_sources(inst) {
            let kind = self.body.tex_src_kind(self.body.source(inst, number));
            let is_fetch = matches!(data.op, TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb | TexOp::SamplesIdentical);
            let is_float = match kind {
                TexSrcKind::Coord => !is_fetch,
                TexSrcKind::Lod => !is_fetch && data.op != TexOp::Txs,
                TexSrcKind::Projector | TexSrcKind::Comparator | TexSrcKind::Bias | TexSrcKind::MinLod => true,
                TexSrcKind::Ddx | TexSrcKind::Ddy | TexSrcKind::Backend1 | TexSrcKind::Backend2 => true,
                _ => false,
            };
            self.set_source(inst, number, if is_float { Form::Float } else { Form::Sign });
        }
        let Some(def) = self.body.inst_def(inst).filter(|&def| self.is_small(def)) else { return };
        let base = data.dest_type.base;
        if let Some(data) = self.body.tex_mut(inst) {
            data.dest_type = AluType::new(base, 32);
        }
        self.narrow(inst, def, base == BaseType::Float);
    }
}
