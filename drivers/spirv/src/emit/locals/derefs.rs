//! Accesses to variables through derefs.

use smallvec::SmallVec;
use spirv::Op;
use tgsi_ir::body::DerefKind;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::types::TypeData;
use tgsi_ir::{Def, Inst, InstData};

use super::Pointer;
use super::types::scalar_of;
use crate::emit::Emitter;
use crate::emit::buffers::BoundsCheck;
use crate::error::SpirvError;
use crate::module::{Id, ValueType};

impl Emitter<'_> {
    /// Emits `load_deref`, `store_deref` of variables other than inputs and outputs.
    pub(in crate::emit) fn emit_local_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let (pointer, lengths) = self.pointer(inst, body.src(inst, 0))?;
        if op == IntrinsicOp::LoadDeref {
            let Some(def) = body.inst_def(inst) else { return Ok(()) };
            let class = pointer.ty.class;
            let id = self.load_at(pointer, &lengths);
            self.define(def, id, class);
            return Ok(());
        }
        let value = self.value(body.src(inst, 1), pointer.ty.class)?;
        self.store_at(&pointer, value, body.write_mask(inst))
    }

    /// Returns the pointer for a deref, and for each of its indices the length of the indexed array; 0 for fields.
    fn pointer(&mut self, inst: Inst, deref: Def) -> Result<(Pointer, SmallVec<[u32; 4]>), SpirvError> {
        let body = self.body;
        let mut steps: SmallVec<[(DerefKind, Inst); 4]> = SmallVec::new();
        let mut at = deref;
        let variable = loop {
            let step = body.def_inst(at);
            match *body.inst(step) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => break variable,
                InstData::Deref { kind: kind @ (DerefKind::Array | DerefKind::Struct(_)), .. } => {
                    steps.push((kind, step));
                    at = body.src(step, 0);
                }
                _ => return Err(SpirvError::NotLowered { inst, what: "a pointer that does not lead to a variable" }),
            }
        };
        let local = self.local(inst, variable)?;
        let types = &self.shader.types;
        let mut ty = self.shader.variables[variable].ty;
        let mut component_of = None;
        let (mut indices, mut lengths) = (SmallVec::new(), SmallVec::new());
        let mut conditions: SmallVec<[Id; 2]> = SmallVec::new();
        let mut outside = false;
        for &(kind, step) in steps.iter().rev() {
            let whole = SpirvError::NotLowered { inst, what: "an access of a whole array or struct" };
            let length = match (kind, types.get(ty)) {
                (DerefKind::Struct(field), TypeData::Struct { fields, .. }) => {
                    let Some(found) = fields.get(field as usize) else { return Err(whole) };
                    ty = found.ty;
                    indices.push(self.module.uint(field));
                    lengths.push(0);
                    continue;
                }
                (DerefKind::Array, &TypeData::Array { element, length, .. }) => {
                    ty = element;
                    length
                }
                (DerefKind::Array, &TypeData::Matrix { scalar, columns, rows, .. }) => {
                    component_of = Some((scalar, rows));
                    u32::from(columns)
                }
                (DerefKind::Array, &TypeData::Vector { scalar, components }) => {
                    let length = component_of.map_or(components, |(_, rows)| rows);
                    component_of = Some((component_of.map_or(scalar, |(scalar, _)| scalar), 1));
                    u32::from(length)
                }
                _ => return Err(whole),
            };
            let place = self.place(0, body.src(step, 1), 0)?;
            match self.check(place, 1, length) {
                BoundsCheck::Always => {}
                BoundsCheck::Never => outside = true,
                BoundsCheck::If(condition) => conditions.push(condition),
            }
            indices.push(self.place_id(place));
            lengths.push(length);
        }
        let vector = component_of.or_else(|| types.as_vector(ty));
        let value_type = vector.and_then(|(scalar, components)| scalar_of(scalar, components, local.class));
        let Some(value_type) = value_type else {
            return Err(SpirvError::NotLowered { inst, what: "an access of a whole array or struct" });
        };
        let check = if outside {
            BoundsCheck::Never
        } else {
            let all = conditions.into_iter().reduce(|a, b| self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[a, b]));
            all.map_or(BoundsCheck::Always, BoundsCheck::If)
        };
        Ok((Pointer { local, indices, check, ty: value_type }, lengths))
    }
}
