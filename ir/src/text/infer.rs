//! Infers which values are floats and which are integers. This only affects how constants are printed.

use bitvec::vec::BitVec;

use super::type_names::type_data;
use crate::alu::{AluOp, AluType, BaseType};
use crate::body::{Body, InstData, TexOp, TexSrcKind};
use crate::entities::{Def, Inst, User};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;
use crate::types::{ScalarType, TypeData};

/// The inferred types of the values of a body.
#[derive(Default)]
pub(super) struct ValueTypes {
    floats: BitVec,
    ints: BitVec,
}

const FLOAT: u8 = 1;
const INT: u8 = 2;

fn base_flags(base: BaseType) -> u8 {
    match base {
        BaseType::Float => FLOAT,
        BaseType::Int | BaseType::Uint | BaseType::Bool => INT,
        BaseType::Invalid => 0,
    }
}

impl ValueTypes {
    fn get(&self, def: Def) -> u8 {
        let i = def.as_u32() as usize;
        let has = |set: &BitVec| set.get(i).is_some_and(|b| *b);
        (if has(&self.floats) { FLOAT } else { 0 }) | (if has(&self.ints) { INT } else { 0 })
    }

    /// Whether all definitions and uses of the value are floats.
    pub(super) fn is_float_only(&self, def: Def) -> bool {
        self.get(def) == FLOAT
    }

    /// Whether all definitions and uses of the value are integers.
    pub(super) fn is_int_only(&self, def: Def) -> bool {
        self.get(def) == INT
    }

    fn add(&mut self, def: Def, flags: u8) -> bool {
        let i = def.as_u32() as usize;
        if i >= self.floats.len() || self.get(def) | flags == self.get(def) {
            return false;
        }
        if flags & FLOAT != 0 {
            self.floats.set(i, true);
        }
        if flags & INT != 0 {
            self.ints.set(i, true);
        }
        true
    }

    /// Infers the types of all values. Each value is revisited at most twice, so time is linear in the size of the
    /// body.
    pub(super) fn infer(shader: &Shader, body: &Body) -> ValueTypes {
        let count = body.num_defs();
        let mut types = ValueTypes { floats: BitVec::repeat(false, count), ints: BitVec::repeat(false, count) };
        let mut pending: Vec<Def> = Vec::new();
        for block in body.blocks() {
            for inst in body.insts(block) {
                types.add_declared(shader, body, inst, &mut pending);
            }
        }
        while let Some(def) = pending.pop() {
            types.propagate(body, def, &mut pending);
        }
        types
    }

    /// Adds the types of the operands of one instruction according to the tables.
    fn add_declared(&mut self, shader: &Shader, body: &Body, inst: Inst, pending: &mut Vec<Def>) {
        let mut add = |def: Def, base: BaseType| {
            if self.add(def, base_flags(base)) {
                pending.push(def);
            }
        };
        let def = body.inst_def(inst);
        match *body.inst(inst) {
            InstData::Alu { op, .. } => {
                let info = op.info();
                for (i, source) in body.sources(inst).enumerate() {
                    if !copies_source(op, i)
                        && let Some(ty) = info.input_types.get(i)
                    {
                        add(body.src_def(source), ty.base);
                    }
                }
                if !is_copy(op)
                    && let Some(def) = def
                {
                    add(def, info.output_type.base);
                }
            }
            InstData::Tex(_) => {
                let Some(tex) = body.tex(inst) else { return };
                for source in body.sources(inst) {
                    add(body.src_def(source), tex_source_type(tex.op, body.tex_src_kind(source)));
                }
                if let Some(def) = def {
                    add(def, tex.dest_type.base);
                }
            }
            InstData::Intrinsic { op, .. } => {
                for (i, source) in body.sources(inst).enumerate() {
                    add(body.src_def(source), intrinsic_source_type(shader, body, inst, op, i));
                }
                if let Some(def) = def {
                    let base = match op {
                        IntrinsicOp::LoadDeref => deref_base(shader, body, inst),
                        IntrinsicOp::LoadInput | IntrinsicOp::LoadPerPrimitiveInput | IntrinsicOp::LoadUniform => {
                            AluType::from_i32(body.index(inst, IndexKind::DestType)).base
                        }
                        _ => BaseType::Invalid,
                    };
                    add(def, base);
                }
            }
            _ => {}
        }
    }

    /// Propagates the types of `def` through movs, selections and phis.
    fn propagate(&mut self, body: &Body, def: Def, pending: &mut Vec<Def>) {
        let flags = self.get(def);
        let Some(inst) = body.try_def_inst(def) else { return };
        for (i, source) in body.sources(inst).enumerate() {
            if copied(body, inst, i) && self.add(body.src_def(source), flags) {
                pending.push(body.src_def(source));
            }
        }
        // A constant may be used with different types.
        if matches!(body.inst(inst), InstData::LoadConst { .. } | InstData::Undef) {
            return;
        }
        for source in body.uses_of(def) {
            if let User::Inst(user) = body.user(source)
                && copied(body, user, body.source_number(source))
                && let Some(result) = body.inst_def(user)
                && self.add(result, flags)
            {
                pending.push(result);
            }
        }
    }
}

fn is_copy(op: AluOp) -> bool {
    op.is_vec_or_mov() || matches!(op, AluOp::Bcsel | AluOp::B32csel)
}

fn copies_source(op: AluOp, source: usize) -> bool {
    op.is_vec_or_mov() || matches!(op, AluOp::Bcsel | AluOp::B32csel) && source > 0
}

/// Whether source `number` of the instruction is copied to (part of) its result.
fn copied(body: &Body, inst: Inst, number: usize) -> bool {
    match *body.inst(inst) {
        InstData::Alu { op, .. } => copies_source(op, number),
        InstData::Phi => true,
        _ => false,
    }
}

/// Type of a texture source.
pub(super) fn tex_source_type(op: TexOp, kind: TexSrcKind) -> BaseType {
    use TexSrcKind as K;
    match kind {
        K::Coord => match op {
            TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb | TexOp::SamplesIdentical => BaseType::Int,
            _ => BaseType::Float,
        },
        K::Lod => match op {
            TexOp::Txs | TexOp::Txf | TexOp::TxfMs => BaseType::Int,
            _ => BaseType::Float,
        },
        K::Projector | K::Comparator | K::Bias | K::MinLod | K::Ddx | K::Ddy | K::Backend1 | K::Backend2 => {
            BaseType::Float
        }
        K::Offset | K::MsIndex | K::Plane => BaseType::Int,
        K::TextureDeref
        | K::SamplerDeref
        | K::TextureOffset
        | K::SamplerOffset
        | K::TextureHandle
        | K::SamplerHandle
        | K::SamplerDerefIntrinsic
        | K::TextureDerefIntrinsic => BaseType::Uint,
    }
}

/// Base type of the value that the deref in source 0 points to.
fn deref_base(shader: &Shader, body: &Body, inst: Inst) -> BaseType {
    if body.num_sources(inst) == 0 {
        return BaseType::Invalid;
    }
    let Some(deref) = body.try_def_inst(body.src(inst, 0)) else { return BaseType::Invalid };
    let InstData::Deref { ty, .. } = *body.inst(deref) else { return BaseType::Invalid };
    match type_data(&shader.types, ty) {
        Some(TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. }) => match scalar {
            ScalarType::Bool => BaseType::Bool,
            ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int | ScalarType::Int64 => BaseType::Int,
            ScalarType::Uint8 | ScalarType::Uint16 | ScalarType::Uint | ScalarType::Uint64 => BaseType::Uint,
            ScalarType::Float16 | ScalarType::Float | ScalarType::Double => BaseType::Float,
            ScalarType::Void => BaseType::Invalid,
        },
        _ => BaseType::Invalid,
    }
}

/// Type of source `number` of an intrinsic, if known.
pub(super) fn intrinsic_source_type(
    shader: &Shader,
    body: &Body,
    inst: Inst,
    op: IntrinsicOp,
    number: usize,
) -> BaseType {
    match (op, number) {
        (IntrinsicOp::StoreDeref, 1) => deref_base(shader, body, inst),
        (IntrinsicOp::StoreOutput, 0) => AluType::from_i32(body.index(inst, IndexKind::SrcType)).base,
        _ if matches!(op.info().src_roles.get(number), Some(&("offset" | "byte offset" | "vec4 offset"))) => {
            BaseType::Int
        }
        _ => BaseType::Invalid,
    }
}
